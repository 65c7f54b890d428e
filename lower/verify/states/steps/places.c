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
typedef struct Algebra {
    Domain *d;
    Atom *syms; /* by symbol; 0: not asked for */
    VEC(Kept) kept;
} Algebra;
typedef struct Shape { /* where an op touches, by a CTA: of one name if that is so many further on each axis in equal turns */
    Name name;         /* 0: not looked at */
    uint32_t view;     /* 0: it is not known where that lies */
    int64_t at[MAP_RANK];
} Shape;
struct Places {
    Algebra one, all, *now; /* of one question, as a domain has room for so much; of shapes */
    Atom turn[LOOPS];       /* .. by how many loops are around it; 0: not asked for */
    Shape **shapes;         /* by op, then by CTA */
    VEC(uint32_t) first;    /* by view, from 1: an op that has it */
    VEC(int64_t) form;
    Names *forms, *asked;
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
    return w->c->places->now->d;
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
    Algebra *p = w->c->places->now;
    for (uint32_t i = 0; i < p->kept.n; i++) {
        const Kept *x = &p->kept.v[i];
        if (x->kind == what.kind && x->of == what.of && x->type == what.type && poly_same(x->x, what.x)) return poly_atom(p->d, x->atom);
    }
    what.atom = domain_opaque(p->d, "a value", lo, hi, 1, 0, depends);
    vec_push(w->c->arena, &p->kept, what);
    return poly_atom(p->d, what.atom);
}

static Algebra algebra(const Checker *c)
{
    return (Algebra){.d = domain_new(c->arena), .syms = arena_array(c->arena, Atom, c->k->mf.syms.n + 1)};
}

static ArenaMark question_begin(Checker *c)
{
    ArenaMark mark = arena_mark(c->arena);
    c->places->one = algebra(c);
    c->places->now = &c->places->one;
    return mark;
}

/* ---- values ---- */

static Poly of_expr(const Site *w, Lx x, int depth)
{
    Algebra *p = w->c->places->now;
    const LxNode *n = &w->c->k->mf.lx.nodes.v[x - 1];
    if (n->op == LX_CONST) return number(w, n->k);
    if (n->op == LX_SYM) {
        Interval size = w->c->launch[x - 1];
        if (p->syms[n->k] == 0) p->syms[n->k] = domain_param(p->d, "a size", (uint32_t)n->k, size.lo >= 1 ? 1 : size.lo, size.lo >= 1 ? NO_HI : size.hi);
        return poly_atom(p->d, p->syms[n->k]);
    }
    if (depth > 0 && n->b) {
        Poly b = of_expr(w, n->b, depth - 1), a = of_expr(w, n->a, depth - 1), both;
        if (poly_op(p->d, (LxOp)n->op, a, b, &both)) return both;
    }
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
static bool has_view(const Checker *c, uint32_t op)
{
    bool known = !ir_find(c->op[op], IRK_DESC) && !ir_by_plan((IrOpcode)c->op[op]->op);
    return known && (map_of(c, op) || address_of(c, op));
}

static bool comparable(const Checker *c, uint32_t x, uint32_t y)
{
    const MfMap *a = map_of(c, x), *b = map_of(c, y);
    if (!has_view(c, x) || !has_view(c, y) || !a != !b) return false;
    return a ? same_view(a, b) : ir_find(address_of(c, x), IRK_TENSOR)->id == ir_find(address_of(c, y), IRK_TENSOR)->id;
}

static uint32_t view_of(Checker *c, uint32_t op)
{
    struct Places *p = c->places;
    if (!comparable(c, op, op)) return 0;
    for (uint32_t i = 0; i < p->first.n; i++)
        if (comparable(c, p->first.v[i], op)) return i + 1;
    vec_push(c->arena, &p->first, op);
    return p->first.n;
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
    Domain *d = c->places->now->d;
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

/* ---- shapes ---- */

static void write_form(Checker *c, Poly x, bool whole)
{
    struct Places *p = c->places;
    for (uint32_t i = 0; i < x.n; i++) {
        const Term *t = &x.terms[i];
        if (t->natoms == 0 && !whole) continue;
        vec_push(c->arena, &p->form, t->coef);
        vec_push(c->arena, &p->form, t->natoms);
        for (uint8_t k = 0; k < t->natoms; k++) vec_push(c->arena, &p->form, t->atoms[k]);
    }
    vec_push(c->arena, &p->form, x.bad ? -2 : -1); /* no number of atoms */
    vec_push(c->arena, &p->form, -1);
}

static bool write_turns(Site *w)
{
    struct Places *p = w->c->places;
    bool bad = false;
    for (uint32_t i = 0; i < w->nloops; i++) {
        Poly count, lo = of_bounds(w, w->loop[i], DEPTH, &count);
        if (p->turn[i] == 0) p->turn[i] = domain_opaque(domain(w), "a turn", INT64_MIN, INT64_MAX, 1, 0, DEP_LOOP);
        vec_push(w->c->arena, &p->form, w->c->op[w->loop[i]]->op);
        write_form(w->c, lo, true);
        write_form(w->c, count, true);
        bad |= lo.bad || count.bad;
        turn_is(w, poly_atom(domain(w), p->turn[i]));
    }
    return !bad;
}

/* False: it has one of its own. */
static bool write_shape(Checker *c, uint32_t op, uint32_t cta, Shape *s)
{
    struct Places *p = c->places;
    DomAxis axis[2 * MAP_RANK] = {0};
    const MfMap *m = map_of(c, op);
    p->now = &p->all;
    Site w = site_of(c, op, cta);
    vec_push(c->arena, &p->form, m ? (int64_t)ir_find(c->op[op], IRK_MAP)->id : -1);
    vec_push(c->arena, &p->form, s->view);
    vec_push(c->arena, &p->form, w.nloops);
    bool known = write_turns(&w);
    int n = axes_of(&w, 0, axis) / (m ? 2 : 1); /* without remainders: those of equal ones are equal */
    for (int i = 0; i < n; i++) {
        s->at[i] = poly_constant_term(axis[i].start[0]);
        write_form(c, axis[i].start[0], false);
        write_form(c, axis[i].extent[0], true);
        known &= !axis[i].start[0].bad && !axis[i].extent[0].bad;
    }
    return known;
}

/* What two copies of one shape touch is equal in equal turns of the loops around them, but for where it begins: whether they are apart from others in
 * all launches is asked of one of them. */
static const Shape *shape_of(Checker *c, uint32_t op, uint32_t cta)
{
    struct Places *p = c->places;
    if (p->shapes[op] == NULL) p->shapes[op] = arena_array(c->arena, Shape, c->nctas);
    Shape *s = &p->shapes[op][cta];
    if (s->name) return s;
    s->view = view_of(c, op);
    p->form.n = 0;
    if (s->view == 0 || !write_shape(c, op, cta, s)) { /* its own */
        p->form.n = 0;
        vec_push(c->arena, &p->form, -2);
        vec_push(c->arena, &p->form, op);
        vec_push(c->arena, &p->form, cta);
    }
    s->name = names_intern(p->forms, (const char *)p->form.v, p->form.n * sizeof *p->form.v);
    return s;
}

/* ---- between which numbers ---- */

static void find_reach(Checker *c, uint32_t op, Reach *r)
{
    DomAxis axis[2 * MAP_RANK] = {0};
    const MfMap *m = map_of(c, op);
    r->naxes = m ? m->rank : 1;
    for (uint32_t cta = 0; cta < c->nctas; cta++) {
        Site w = site_of(c, op, cta);
        rest_of_turns(&w);
        axes_of(&w, 0, axis);
        for (uint32_t i = 0; i < r->naxes; i++) {
            Interval from = domain_interval(c->places->now->d, axis[i].start[0]), room = domain_interval(c->places->now->d, axis[i].extent[0]);
            room.hi = room.hi < 0 ? 0 : room.hi;
            Interval all = {from.lo, interval_add(from, room).hi};
            r->at[i] = cta ? interval_hull(r->at[i], all) : all;
        }
    }
}

Reach tensor_reach(Checker *c, uint32_t op)
{
    Reach r = {0};
    r.view = shape_of(c, op, 0)->view;
    if (r.view == 0) return r;
    ArenaMark mark = question_begin(c);
    find_reach(c, op, &r);
    arena_release(c->arena, mark);
    return r;
}

/* ---- the answers ---- */

static bool apart(Checker *c, const Asked *q)
{
    DomAxis axis[2 * MAP_RANK] = {0};
    DomPair pair = {.axis = axis};
    Site w[2];
    sites(c, q, q->n, w);
    pair.naxes = both_axes(c, q, w, axis);
    return domain_apart(c->places->now->d, &pair) || apart_differing(c, q);
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
        bool numbers = poly_is_const(poly_sub(c->places->now->d, axis[i].start[0], axis[i].start[1]), &far);
        for (int k = 0; k < 2; k++) numbers = poly_is_const(axis[i].extent[k], &room[k]) && numbers;
        if (!numbers || far >= room[1] || -far >= room[0] || (m && far % m->elem_stride[i])) return false;
    }
    return equal_steps(c, q);
}

bool ask_places(Checker *c, const Asked *q, bool sure)
{
    enum { LEVEL = 3 + MAP_RANK };
    int64_t key[LEVEL + 2 * LEVELS];
    struct Places *p = c->places;
    const Shape *x = shape_of(c, q->op[0], q->cta[0]), *y = shape_of(c, q->op[1], q->cta[1]);
    if (x->view == 0 || x->view != y->view) return !sure;
    key[0] = sure, key[1] = x->name, key[2] = y->name;
    for (uint32_t i = 0; i < MAP_RANK; i++) key[3 + i] = y->at[i] - x->at[i]; /* of polynomials: they fit */
    for (uint32_t i = 0; i < q->n; i++) key[LEVEL + 2 * i] = q->least[i], key[LEVEL + 1 + 2 * i] = q->most[i];
    Name name = names_intern(p->asked, (const char *)key, (LEVEL + 2 * q->n) * sizeof *key);
    if (name <= p->answers.n) return p->answers.v[name - 1];
    c->n.work += WORK_ASKED;
    vec_push(c->arena, &p->answers, true);
    ArenaMark mark = question_begin(c);
    bool is = sure ? surely(c, q) : !apart(c, q);
    arena_release(c->arena, mark);
    p->answers.v[name - 1] = is;
    return is;
}

void places_prepare(Checker *c)
{
    struct Places *p = c->places = arena_new(c->arena, struct Places);
    p->all = algebra(c);
    p->shapes = arena_array(c->arena, Shape *, c->nops + 1);
    p->forms = names_new(c->arena);
    p->asked = names_new(c->arena);
}
