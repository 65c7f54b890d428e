/* Accesses that nothing orders: are they apart in all turns? A run shows the places of a few turns; in longer loops what one role writes
 * may be what another one reads many turns away.
 *
 * What the runs do show is the order, by how far apart the turns are: two accesses are k turns apart in the outermost loop in which they are
 * not of one turn, the loop of one role and that of the other which runs side by side with it. Turns that are farther apart than S, of the 2 S + 1
 * that tell of longer loops, stand for all that are farther: what is in order there stays so, since a role passes its turns one after the
 * other. So of each two that are not in order this is asked, of their places as polynomials over the turns (values/polys.c): so many
 * turns apart, whichever turns these are, or at least so many, do they never meet? Where loops have nothing to do with each other:
 * in any two of their turns. */
#include <string.h>

#include "lower/ir/ops.h"
#include "lower/verify/graph/judge/judge.h"
#include "lower/verify/graph/tries/tries.h"
#include "lower/verify/graph/values/values.h"

/* ---- what is asked ---- */

/* The next loop around it, from number i on, that the runs don't pass in full. */
static uint32_t next_open(const Verifier *v, const Site *t, uint32_t i)
{
    while (i < t->naround && loop_fixed(v, t->around[i].op)) i++;
    return i;
}

static Asked question(Verifier *v, const Site *a, const Site *b)
{
    Asked q = {.a = *a, .b = *b};
    for (uint32_t i = 0, j = 0;; i++, j++, q.level++) {
        i = next_open(v, a, i);
        j = next_open(v, b, j);
        if (i == a->naround && j == b->naround) return q;
        q.how = ANY;
        if (i == a->naround || j == b->naround || !verify_side_by_side(v, a->around[i].op, b->around[j].op)) return q;
        const TurnAt *x = &a->around[i], *y = &b->around[j];
        q.by = y->at - x->at;
        q.how = OF_ONE_TURN;
        if (q.by == 0) continue;
        bool far = q.by > (int64_t)v->ring || -q.by > (int64_t)v->ring;
        q.how = far || v->ops[x->op]->op == IR_REPEAT ? OR_MORE : SO_MANY;
        return q;
    }
}

static bool same_numbers(const Verifier *v, const Site *a, const Site *b)
{
    if (a->op != b->op || a->rank != b->rank || a->write != b->write || a->naround != b->naround) return false;
    for (uint32_t i = 0; i < a->naround; i++)
        if (a->around[i].op != b->around[i].op || (loop_fixed(v, a->around[i].op) && a->around[i].at != b->around[i].at))
            return false;
    return true;
}

static bool asked_before(const Verifier *v, const Asked *x, const Asked *y)
{
    return x->level == y->level && x->by == y->by && x->how == y->how && x->room[0] == y->room[0] &&
           x->room[1] == y->room[1] && x->buf[0] == y->buf[0] && x->buf[1] == y->buf[1] && same_numbers(v, &x->a, &y->a) && same_numbers(v, &x->b, &y->b);
}

/* ---- the answer ---- */

typedef struct Two {
    PolyPlace w[2];
    Atom turn[FRAMES]; /* of loops in which both are of one turn, then of the one in which they are not */
} Two;

static Atom any_turn(PolyPlace *w, uint32_t i, unsigned depends)
{
    Domain *d = polys_domain(w->p);
    uint32_t op = w->site->around[i].op;
    if (w->v->ops[op]->op == IR_REPEAT) return domain_opaque(d, "a turn", 0, INT64_MAX, 1, 0, depends);
    return domain_index(d, "a turn", poly_const(d, 0), poly_turns(w, op), depends);
}

/* The loops from i on that run in full, up to the next that does not. */
static uint32_t pass(PolyPlace *w, uint32_t i)
{
    uint32_t end = next_open(w->v, w->site, i);
    for (; i < end; i++) w->turn[i] = poly_const(polys_domain(w->p), w->site->around[i].at);
    return end;
}

/* later and earlier are of turns that are so many apart, or more. */
static void set_apart(PolyPlace *later, uint32_t i, PolyPlace *earlier, uint32_t j, int64_t by, bool more)
{
    Domain *d = polys_domain(later->p);
    Poly turns = poly_turns(later, later->site->around[i].op), far = poly_const(d, by);
    if (more)
        far = poly_add(
            d, far,
            poly_atom(d, domain_index(d, "turns between", poly_const(d, 0), poly_sub(d, turns, far), DEP_LOOP)));
    later->turn[i] = poly_atom(d, any_turn(later, i, DEP_LOOP));
    earlier->turn[j] = poly_sub(d, later->turn[i], far);
}

static void rest_of_turns(PolyPlace *w, uint32_t i)
{
    for (i = pass(w, i); i < w->site->naround; i = pass(w, i + 1))
        w->turn[i] = poly_atom(polys_domain(w->p), any_turn(w, i, DEP_LOOP));
}

/* differ: of different turns of that loop, however far apart. */
static Two places(Verifier *v, const Asked *q, bool differ)
{
    Two two = {.w = {poly_place(v, v->polys, &q->a), poly_place(v, v->polys, &q->b)}};
    PolyPlace *a = &two.w[0], *b = &two.w[1];
    Domain *d = polys_domain(v->polys);
    uint32_t i = pass(a, 0), j = pass(b, 0);
    for (uint32_t k = 0; k < q->level + differ; k++) {
        two.turn[k] = any_turn(a, i, k == q->level ? DEP_TEAM : DEP_LOOP);
        a->turn[i] = b->turn[j] = poly_atom(d, two.turn[k]);
        i = pass(a, i + 1);
        j = pass(b, j + 1);
    }
    if (!differ && (q->how == SO_MANY || q->how == OR_MORE) && v->ops[q->a.around[i].op]->op != IR_REPEAT) {
        if (q->by > 0) set_apart(b, j, a, i, q->by, q->how == OR_MORE);
        else set_apart(a, i, b, j, -q->by, q->how == OR_MORE);
        i++, j++;
    }
    rest_of_turns(a, i);
    rest_of_turns(b, j);
    return two;
}

/* Side k of each axis; how many axes there are. */
static int axes_of(Verifier *v, PolyPlace *w, const Asked *q, int k, DomAxis *axis)
{
    Domain *d = polys_domain(v->polys);
    const Site *t = w->site;
    const IrArg *map = verify_arg(v, t->op, IRK_MAP), *at;
    if (q->buf[k]) {
        const IrArg *byte = ir_part(v->ops[t->op], q->buf[k], IRK_OFFSET);
        axis->start[k] = byte ? poly_of(w, byte) : poly_const(d, 0);
        axis->extent[k] = poly_const(d, q->room[k]);
        return 1;
    }
    if (map == NULL) {
        const IrArg *address = verify_arg(v, t->op, t->write ? IRK_TO : IRK_FROM);
        axis->start[k] = poly_of(w, ir_find(verify_def(v, address), IRK_BYTE));
        axis->extent[k] = poly_of(w, verify_arg(v, t->op, IRK_BYTES));
        return 1;
    }
    const MfMap *m = &v->k->mf.maps.v[map->id];
    ir_list(v->ops[t->op], IRK_COORDS, &at);
    for (uint32_t i = 0; i < m->rank; i++) { /* every step-th element of the box */
        int64_t step = m->elem_stride[i];
        axis[i].start[k] = poly_of(w, &at[i]);
        axis[i].extent[k] = poly_const(d, (m->box[i] - 1) / step * step + 1);
        axis[m->rank + i].start[k] = poly_mod(d, axis[i].start[k], poly_const(d, step));
        axis[m->rank + i].extent[k] = poly_const(d, 1);
    }
    return 2 * (int)m->rank;
}

/* Maps that take every n-th element have another remainder each only where n is the same. */
static bool equal_steps(const Verifier *v, const Site *a, const Site *b)
{
    const IrArg *x = verify_arg(v, a->op, IRK_MAP), *y = verify_arg(v, b->op, IRK_MAP);
    const MfMap *maps = v->k->mf.maps.v;
    return x == NULL || memcmp(maps[x->id].elem_stride, maps[y->id].elem_stride, sizeof maps->elem_stride) == 0;
}

static bool apart_as(Verifier *v, const Asked *q, bool differ)
{
    Two two = places(v, q, differ);
    DomAxis axis[2 * MAP_RANK + FRAMES] = {0};
    DomPair pair = {.axis = axis};
    Domain *d = polys_domain(v->polys);
    for (int k = 0; k < 2; k++) pair.naxes = axes_of(v, &two.w[k], q, k, axis);
    if (q->buf[0] == NULL && !equal_steps(v, &q->a, &q->b)) pair.naxes /= 2;
    if (!differ) return domain_apart(d, &pair);
    const char *why;
    for (uint32_t i = 0; i < q->level; i++) axis[pair.naxes++] = domain_number(d, poly_atom(d, two.turn[i]), poly_atom(d, two.turn[i]));
    pair.team = &two.turn[q->level];
    pair.nteam = 1;
    return domain_apart_teams(d, v->arena, &pair, &why);
}

static bool answer(Verifier *v, const Asked *q)
{
    verify_spend(v, 256);
    if (v->polys == NULL) v->polys = polys_new(v);
    if ((q->how == SO_MANY || q->how == OR_MORE) && apart_as(v, q, true)) return true;
    return apart_as(v, q, false);
}

static Site kept(Verifier *v, Site s)
{
    TurnAt *around = arena_array(v->arena, TurnAt, s.naround + 1);
    for (uint32_t i = 0; i < s.naround; i++) around[i] = s.around[i];
    s.around = around;
    return s;
}

static bool ask(Verifier *v, Asked q)
{
    if (v->asked_of == NULL) v->asked_of = arena_array(v->arena, Asked *, v->nops);
    Asked **of = &v->asked_of[q.a.op], *x;
    for (x = *of; x; x = x->next)
        if (asked_before(v, x, &q)) return x->apart;
    x = arena_new(v->arena, Asked);
    *x = q;
    x->apart = answer(v, &q);
    x->a = kept(v, q.a);
    x->b = kept(v, q.b);
    x->next = *of;
    return (*of = x)->apart;
}

/* The operand that says where the bytes of an access lie: a reduction reads those that it writes, too. NULL: not known, of two
 * that are of one buffer. */
static const IrArg *operand_of(const Verifier *v, const Access *a)
{
    const IrOp *op = v->ops[a->op];
    const IrArg *of = NULL;
    for (uint32_t i = 0; i < op->nargs; i++) {
        const IrArg *x = &op->args[i];
        bool to = x->key == IRK_DST;
        if (x->kind != IRA_BUF || x->id != a->at.buf || (a->write ? !to : to && !a->reduce)) continue;
        if (of) return NULL;
        of = x;
    }
    return of;
}

/* Which bytes of which operand: false where it is not one number of them in each turn. */
static bool bytes_of(Verifier *v, const Access *a, Asked *q, int k)
{
    const IrArg *bytes = verify_arg(v, a->op, IRK_BYTES);
    int64_t n;
    q->buf[k] = operand_of(v, a);
    if (a->site.vague || a->site.around == NULL || q->buf[k] == NULL) return false;
    if (bytes && bytes->kind == IRA_VAL && !verify_number(v, bytes, &n)) return false;
    return form_is_const(&v->f, form_add(&v->f, a->at.hi, -1, a->at.lo), &q->room[k]) && q->room[k] > 0;
}

bool places_apart(Verifier *v, const Access *a, const Access *b)
{
    Asked q = question(v, &a->site, &b->site);
    return (a->tensors || (bytes_of(v, a, &q, 0) && bytes_of(v, b, &q, 1))) && ask(v, q);
}
