/* Where copies touch tensors: as polynomials over the launch's numbers and the turns of the loops around them (lower/algebra/domain). Coordinates are
 * exact: a launch in which one leaves 32 bits, or what it is made from 64, is refused (E1122, E1117). */
#include <string.h>

#include "lower/algebra/domain/domain.h"
#include "lower/ir/ops.h"
#include "lower/verify/states/steps/steps.h"

enum { DEPTH = 64, LOOPS = 16, AWAY = INT32_MAX - INT16_MAX, WORK_ASKED = 64 };

typedef struct Kept { /* what has one value in the whole kernel */
    uint32_t kind, of, type;
    Poly x; /* what it is made from */
    Atom atom;
} Kept;
enum { OF_EXPR, OF_REGISTER, OF_ELEMENT };
struct Places {
    Domain *d;
    Atom *syms; /* by symbol; 0: not asked for */
    VEC(Kept) kept;
    Names *asked;
    VEC(uint8_t) answers;
};
typedef struct Valued {
    IrVal value;
    Poly x;
} Valued;
typedef struct Site { /* an op, by a CTA, in turns of the loops around it */
    Checker *c;
    uint32_t op, cta, nloops, loop[LOOPS]; /* outermost first */
    Poly turn[LOOPS];                      /* their indices, of the first `nturns` */
    uint32_t nturns;
    VEC(Valued) values;
} Site;

static Domain *domain(const Site *w)
{
    return w->c->places->d;
}

static Poly number(const Site *w, int64_t k)
{
    return poly_const(domain(w), k);
}

static Poly anything(const Site *w)
{
    return poly_atom(domain(w), domain_opaque(domain(w), "a value", INT64_MIN, INT64_MAX, 1, 0, DEP_LOOP | DEP_DATA));
}

static Poly kept(const Site *w, Kept what, int64_t lo, int64_t hi, unsigned depends)
{
    struct Places *p = w->c->places;
    for (uint32_t i = 0; i < p->kept.n; i++) {
        const Kept *x = &p->kept.v[i];
        if (x->kind == what.kind && x->of == what.of && x->type == what.type && poly_same(x->x, what.x)) return poly_atom(p->d, x->atom);
    }
    what.atom = domain_opaque(p->d, "a value", lo, hi, 1, 0, depends);
    vec_push(w->c->arena, &p->kept, what);
    return poly_atom(p->d, what.atom);
}

/* ---- values ---- */

static Poly of_expr(const Site *w, Lx x, int depth)
{
    struct Places *p = w->c->places;
    const LxNode *n = &w->c->k->mf.lx.nodes.v[x - 1];
    if (n->op == LX_CONST) return number(w, n->k);
    if (n->op == LX_SYM) {
        Interval size = w->c->launch[x - 1];
        if (p->syms[n->k] == 0) p->syms[n->k] = domain_param(p->d, "a size", (uint32_t)n->k, size.lo >= 1 ? 1 : size.lo, size.lo >= 1 ? NO_HI : size.hi);
        return poly_atom(p->d, p->syms[n->k]);
    }
    Poly both;
    if (depth > 0 && n->b && poly_op(p->d, (LxOp)n->op, of_expr(w, n->a, depth - 1), of_expr(w, n->b, depth - 1), &both)) return both;
    return kept(w, (Kept){.kind = OF_EXPR, .of = x}, INT64_MIN, INT64_MAX, DEP_LAUNCH);
}

/* Both of two copies are of one cluster, so its place in the grid is one number. */
static Poly of_register(const Site *w, const IrOp *op)
{
    const uint32_t *n = w->c->k->mf.cluster, cta = w->cta, at[3] = {cta % n[0], cta / n[0] % n[1], cta / n[0] / n[1]};
    uint32_t reg = ir_find(op, IRK_REG)->id, i = reg % 3;
    Interval r = w->c->range[op->dst - 1];
    if (reg == IRR_CLUSTER_CTARANK) return number(w, cta);
    if (reg >= IRR_CLUSTER_CTAID_X && reg <= IRR_CLUSTER_CTAID_Z) return number(w, at[i]);
    if (interval_is(r)) return number(w, r.lo);
    Poly x = kept(w, (Kept){.kind = OF_REGISTER, .of = reg}, reg >= IRR_NCTAID_X, r.hi / n[i], DEP_LAUNCH);
    return poly_add(domain(w), poly_mul(domain(w), number(w, n[i]), x), number(w, reg >= IRR_NCTAID_X ? 0 : at[i]));
}

static Poly of_arg(Site *w, const IrArg *arg, int depth);

static Poly of_bounds(Site *w, uint32_t loop, int depth, Poly *count)
{
    const IrOp *op = w->c->op[loop];
    *count = number(w, op->op == IR_LANES ? ir_find(op, IRK_N)->imm : 1); /* of a repeat each turn is called 0 */
    if (op->op != IR_LOOP) return number(w, 0);
    Poly lo = of_arg(w, ir_find(op, IRK_A), depth);
    *count = poly_sub(domain(w), of_arg(w, ir_find(op, IRK_B), depth), lo);
    return lo;
}

static Poly any_turn(Site *w, uint32_t loop, int depth)
{
    Poly count, lo = of_bounds(w, loop, depth, &count);
    if (w->c->op[loop]->op == IR_REPEAT) return lo;
    return poly_add(domain(w), lo, poly_atom(domain(w), domain_index(domain(w), "a turn", lo, count, DEP_LOOP)));
}

static Poly of_index(Site *w, uint32_t loop, int depth)
{
    for (uint32_t i = 0; i < w->nturns; i++)
        if (w->loop[i] == loop) return w->turn[i];
    return any_turn(w, loop, depth);
}

/* Of a tensor that no copy writes (E0706). Under a condition it may be another value. */
static Poly of_element(Site *w, const IrOp *op, int depth)
{
    uint32_t tensor = ir_find(op, IRK_TENSOR)->id;
    if (op->guard.pred || w->c->k->mf.tensors.v[tensor].written) return anything(w);
    Kept what = {.kind = OF_ELEMENT, .of = tensor, .type = op->type, .x = of_arg(w, ir_find(op, IRK_BYTE), depth)};
    return kept(w, what, INT64_MIN, INT64_MAX, DEP_LOOP | DEP_DATA);
}

static Poly of_op(Site *w, uint32_t def, int depth)
{
    const IrOp *op = w->c->op[def];
    const IrArg *a = ir_find(op, IRK_A);
    if (IR_LX_OPS[op->op] && op->type != IR_PRED) {
        Poly x = of_arg(w, a, depth), both;
        return poly_op(domain(w), (LxOp)IR_LX_OPS[op->op], x, of_arg(w, ir_find(op, IRK_B), depth), &both) ? both : anything(w);
    }
    int64_t k;
    switch ((IrOpcode)op->op) {
    case IR_CONST: return number(w, a->imm);
    case IR_PARAM: return of_expr(w, ir_find(op, IRK_EXPR)->id, depth);
    case IR_SREG: return of_register(w, op);
    case IR_CVT: return of_arg(w, a, depth);
    case IR_SEL: /* where there is nothing to load: coordinates from AWAY on name no place */
        return poly_is_const(of_arg(w, ir_find(op, IRK_B), depth), &k) && k >= AWAY && ir_find(w->c->op[w->op], IRK_MAP) ? of_arg(w, a, depth) : anything(w);
    case IR_LOOP:
    case IR_LANES: return of_index(w, def, depth);
    case IR_LOADS: return of_element(w, op, depth);
    default: return anything(w);
    }
}

static Poly of_arg(Site *w, const IrArg *arg, int depth)
{
    if (arg->kind != IRA_VAL) return number(w, arg->imm);
    for (uint32_t i = 0; i < w->values.n; i++)
        if (w->values.v[i].value == arg->id) return w->values.v[i].x;
    Poly x = depth > 0 ? of_op(w, w->c->def[arg->id - 1], depth - 1) : anything(w);
    vec_push(w->c->arena, &w->values, ((Valued){arg->id, x}));
    return x;
}

/* ---- sites ---- */

static Site site_of(Checker *c, uint32_t op, uint32_t cta)
{
    Site w = {.c = c, .op = op, .cta = cta};
    const Code *b = &c->code.v[0];
    while (op >= b->first + b->role->ops.n) b++;
    uint32_t loops[LOOPS];
    for (uint32_t i = b->around[op - b->first]; i; i = b->around[i - 1]) {
        IrOpcode o = (IrOpcode)b->role->ops.v[i - 1].op;
        if (o != IR_LOOP && o != IR_LANES && o != IR_REPEAT) continue;
        if (w.nloops == LOOPS) lost(c, "too many loops in loops");
        loops[w.nloops++] = b->first + i - 1;
    }
    for (uint32_t i = 0; i < w.nloops; i++) w.loop[i] = loops[w.nloops - 1 - i];
    return w;
}

static void turn_is(Site *w, Poly index)
{
    w->turn[w->nturns++] = index;
}

static void rest_of_turns(Site *w)
{
    while (w->nturns < w->nloops) turn_is(w, any_turn(w, w->loop[w->nturns], DEPTH));
}

/* The later one's index is so much greater, of the loops that are next. */
static void set_apart(Site *later, Site *earlier, int64_t least, int64_t most)
{
    Domain *d = domain(later);
    Poly count, lo = of_bounds(later, later->loop[later->nturns], DEPTH, &count), none, from = of_bounds(earlier, earlier->loop[earlier->nturns], DEPTH, &none);
    Poly index = any_turn(later, later->loop[later->nturns], DEPTH), far = number(later, least);
    Poly room = most == NO_HI ? poly_sub(d, poly_sub(d, poly_add(d, lo, count), from), far) : number(later, most - least + 1);
    if (most != least) far = poly_add(d, far, poly_atom(d, domain_index(d, "turns between", poly_const(d, 0), room, DEP_LOOP)));
    turn_is(later, index);
    turn_is(earlier, poly_sub(d, index, far));
}

static void sites(Checker *c, const Asked *q, uint32_t n, Site w[2])
{
    for (int k = 0; k < 2; k++) w[k] = site_of(c, q->op[k], q->cta[k]);
    for (uint32_t i = 0; i < n; i++) {
        if (q->least[i] >= 0) set_apart(&w[1], &w[0], q->least[i], q->most[i]);
        else set_apart(&w[0], &w[1], -q->most[i], q->least[i] == NO_LO ? NO_HI : -q->least[i]);
    }
}

/* ---- what they touch ---- */

static const MfMap *map_of(const Checker *c, uint32_t op)
{
    const IrArg *map = ir_find(c->op[op], IRK_MAP);
    return map ? &c->k->mf.maps.v[map->id] : NULL;
}

static const IrOp *address_of(const Checker *c, uint32_t op)
{
    const IrArg *at = ir_find(c->op[op], IRK_TO) ? ir_find(c->op[op], IRK_TO) : ir_find(c->op[op], IRK_FROM);
    const IrOp *def = at && at->kind == IRA_VAL ? c->op[c->def[at->id - 1]] : NULL;
    return def && def->op == IR_GADDR ? def : NULL;
}

/* A tiled map of the same memory and shape: coordinates mean the same. */
static bool same_view(const MfMap *a, const MfMap *b)
{
    bool same = a->tensor == b->tensor && a->rank == b->rank && a->offset == b->offset && a->interleave == b->interleave && a->mode == MAP_TILED && b->mode == MAP_TILED;
    for (unsigned i = 0; same && i < a->rank; i++) same = a->dim[i] == b->dim[i] && a->pitch[i] == b->pitch[i];
    return same;
}

/* Of maps that the kernel makes, and of what threads touch one by one, it is not known where that lies. */
static bool comparable(const Checker *c, const Asked *q)
{
    const MfMap *a = map_of(c, q->op[0]), *b = map_of(c, q->op[1]);
    for (int k = 0; k < 2; k++)
        if (ir_find(c->op[q->op[k]], IRK_DESC) || ir_by_plan((IrOpcode)c->op[q->op[k]]->op)) return false;
    if (a && b) return same_view(a, b);
    const IrOp *x = address_of(c, q->op[0]), *y = address_of(c, q->op[1]);
    return !a && !b && x && y && ir_find(x, IRK_TENSOR)->id == ir_find(y, IRK_TENSOR)->id;
}

/* Side k of each axis; how many axes there are. */
static int axes_of(Site *w, int k, DomAxis *axis)
{
    Domain *d = domain(w);
    const MfMap *m = map_of(w->c, w->op);
    const IrArg *at;
    if (m == NULL) {
        axis->start[k] = of_arg(w, ir_find(address_of(w->c, w->op), IRK_BYTE), DEPTH);
        axis->extent[k] = of_arg(w, ir_find(w->c->op[w->op], IRK_BYTES), DEPTH);
        return 1;
    }
    ir_list(w->c->op[w->op], IRK_COORDS, &at);
    for (uint32_t i = 0; i < m->rank; i++) { /* every step-th element of the box */
        int64_t step = m->elem_stride[i];
        axis[i].start[k] = of_arg(w, &at[i], DEPTH);
        axis[i].extent[k] = poly_const(d, (m->box[i] - 1) / step * step + 1);
        axis[m->rank + i].start[k] = poly_mod(d, axis[i].start[k], poly_const(d, step));
        axis[m->rank + i].extent[k] = poly_const(d, 1);
    }
    return 2 * (int)m->rank;
}

/* Maps that take every n-th element have another remainder each only where n is the same. */
static bool equal_steps(const Checker *c, const Asked *q)
{
    const MfMap *a = map_of(c, q->op[0]), *b = map_of(c, q->op[1]);
    return a == NULL || memcmp(a->elem_stride, b->elem_stride, sizeof a->elem_stride) == 0;
}

/* How many axes there are. */
static int both_axes(Checker *c, const Asked *q, Site w[2], DomAxis *axis)
{
    int n = 0;
    for (int k = 0; k < 2; k++) {
        rest_of_turns(&w[k]);
        n = axes_of(&w[k], k, axis);
    }
    return equal_steps(c, q) ? n : n / 2;
}

/* In different turns, however far apart these are, of loops that have the same. */
static bool apart_differing(Checker *c, const Asked *q)
{
    DomAxis axis[2 * MAP_RANK + LEVELS] = {0};
    DomPair pair = {.axis = axis, .nteam = 1};
    Domain *d = c->places->d;
    Poly lo[2], count[2];
    Site w[2];
    const char *why;
    uint32_t level = 0;
    while (level < q->n && q->least[level] == 0) level++;
    if (level == q->n) return false;
    sites(c, q, level, w);
    for (int k = 0; k < 2; k++) lo[k] = of_bounds(&w[k], w[k].loop[level], DEPTH, &count[k]);
    if (!poly_same(lo[0], lo[1]) || !poly_same(count[0], count[1])) return false;
    Atom turn = domain_index(d, "a turn", lo[0], count[0], DEP_TEAM);
    for (int k = 0; k < 2; k++) turn_is(&w[k], poly_add(d, lo[0], poly_atom(d, turn)));
    pair.naxes = both_axes(c, q, w, axis);
    for (uint32_t i = 0; i < level; i++) axis[pair.naxes++] = domain_number(d, w[0].turn[i], w[1].turn[i]);
    pair.team = &turn;
    return domain_apart_teams(d, c->arena, &pair, &why);
}

/* ---- the answers ---- */

static bool apart(Checker *c, const Asked *q)
{
    DomAxis axis[2 * MAP_RANK] = {0};
    DomPair pair = {.axis = axis};
    Site w[2];
    sites(c, q, q->n, w);
    pair.naxes = both_axes(c, q, w, axis);
    return domain_apart(c->places->d, &pair) || apart_differing(c, q);
}

/* Their places are so far from each other in every launch that they meet. */
static bool surely(Checker *c, const Asked *q)
{
    DomAxis axis[2 * MAP_RANK] = {0};
    const MfMap *m = map_of(c, q->op[0]);
    Site w[2];
    int64_t far, room[2];
    sites(c, q, q->n, w);
    int n = both_axes(c, q, w, axis) / (m ? 2 : 1);
    for (int i = 0; i < n; i++) {
        bool numbers = poly_is_const(poly_sub(c->places->d, axis[i].start[0], axis[i].start[1]), &far);
        for (int k = 0; k < 2; k++) numbers = poly_is_const(axis[i].extent[k], &room[k]) && numbers;
        if (!numbers || far >= room[1] || -far >= room[0] || (m && far % m->elem_stride[i])) return false;
    }
    return equal_steps(c, q);
}

bool ask_places(Checker *c, const Asked *q, bool sure)
{
    int64_t key[5 + 2 * LEVELS] = {sure, q->op[0], q->op[1], q->cta[0], q->cta[1]};
    struct Places *p = c->places;
    for (uint32_t i = 0; i < q->n; i++) key[5 + 2 * i] = q->least[i], key[6 + 2 * i] = q->most[i];
    Name name = names_intern(p->asked, (const char *)key, (5 + 2 * q->n) * sizeof *key);
    if (name <= p->answers.n) return p->answers.v[name - 1];
    c->n.work += WORK_ASKED;
    vec_push(c->arena, &p->answers, true);
    p->answers.v[name - 1] = comparable(c, q) ? (sure ? surely(c, q) : !apart(c, q)) : !sure;
    return p->answers.v[name - 1];
}

void places_prepare(Checker *c)
{
    struct Places *p = c->places = arena_new(c->arena, struct Places);
    p->d = domain_new(c->arena);
    p->syms = arena_array(c->arena, Atom, c->k->mf.syms.n + 1);
    p->asked = names_new(c->arena);
}
