/* Copies to and from global memory that nothing orders: are they apart in all turns? A run shows the places of a few turns; in longer
 * loops what one role writes may be what another one reads many turns away.
 *
 * What the runs do show is the order, by how far apart the turns are: two copies are k turns apart in the outermost loop in which they are not
 * of one turn, the loop of one role and that of the other which runs side by side with it. The farthest turns of a run that tells of
 * longer ones stand for all that are farther: what is in order there stays so, since a role passes its turns one after the other. So of each
 * two that are not in order this is asked, of their places as polynomials over the turns (values/polys.c): so many turns apart,
 * whichever turns these are, or at least so many, do they never meet? Where loops have nothing to do with each other: in
 * any two of their turns. */
#include <string.h>

#include "lower/ir/ops.h"
#include "lower/verify/graph/judge/judge.h"
#include "lower/verify/graph/tries/tries.h"
#include "lower/verify/graph/unroll/unroll.h"
#include "lower/verify/graph/values/polys.h"

/* ---- what is asked ---- */

static bool in_full(const Verifier *v, const TurnAt *x)
{
    return loop_fixed(v->ops[x->op]);
}

/* The next loop around it, from number i on, that the runs don't pass in full. */
static uint32_t next_open(const Verifier *v, const Transfer *t, uint32_t i)
{
    while (i < t->naround && in_full(v, &t->around[i])) i++;
    return i;
}

static Asked question(Verifier *v, const Transfer *a, const Transfer *b)
{
    Asked q = {.a = a, .b = b};
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
        const TurnAt *first = q.by > 0 ? x : y, *last = q.by > 0 ? y : x;
        bool tells = last->turns > 2 * (int64_t)v->ring && first->at == 0 && last->at == last->turns - 1;
        q.how = tells || v->ops[x->op]->op == IR_REPEAT ? OR_MORE : SO_MANY;
        return q;
    }
}

static bool same_numbers(const Verifier *v, const Transfer *a, const Transfer *b)
{
    if (a->op != b->op || a->rank != b->rank || a->naround != b->naround) return false;
    for (uint32_t i = 0; i < a->naround; i++)
        if (a->around[i].op != b->around[i].op || (in_full(v, &a->around[i]) && a->around[i].at != b->around[i].at)) return false;
    return true;
}

static bool asked_before(const Verifier *v, const Asked *x, const Asked *y)
{
    return x->level == y->level && x->by == y->by && x->how == y->how && same_numbers(v, x->a, y->a) &&
           same_numbers(v, x->b, y->b);
}

/* ---- the answer ---- */

typedef struct Two {
    PolyPlace w[2];
    Atom turn[FRAMES]; /* of loops in which both are of one turn, then of the one in which they are not */
} Two;

static Atom any_turn(PolyPlace *w, uint32_t i, unsigned depends)
{
    Domain *d = polys_domain(w->p);
    uint32_t op = w->around[i].op;
    if (w->v->ops[op]->op == IR_REPEAT) return domain_opaque(d, "a turn", 0, INT64_MAX, 1, 0, depends);
    return domain_index(d, "a turn", poly_const(d, 0), poly_turns(w, op), depends);
}

/* The loops from i on that run in full, up to the next that does not. */
static uint32_t pass(PolyPlace *w, const Transfer *t, uint32_t i)
{
    uint32_t end = next_open(w->v, t, i);
    for (; i < end; i++) w->turn[i] = poly_const(polys_domain(w->p), t->around[i].at);
    return end;
}

/* later and earlier are of turns that are so many apart, or more. */
static void set_apart(PolyPlace *later, uint32_t i, PolyPlace *earlier, uint32_t j, int64_t by, bool more)
{
    Domain *d = polys_domain(later->p);
    Poly turns = poly_turns(later, later->around[i].op), far = poly_const(d, by);
    if (more) far = poly_add(d, far, poly_atom(d, domain_index(d, "turns between", poly_const(d, 0), poly_sub(d, turns, far), DEP_LOOP)));
    later->turn[i] = poly_atom(d, any_turn(later, i, DEP_LOOP));
    earlier->turn[j] = poly_sub(d, later->turn[i], far);
}

static void rest_of_turns(PolyPlace *w, const Transfer *t, uint32_t i)
{
    for (i = pass(w, t, i); i < t->naround; i = pass(w, t, i + 1))
        w->turn[i] = poly_atom(polys_domain(w->p), any_turn(w, i, DEP_LOOP));
}

/* differ: of different turns of that loop, however far apart. */
static Two places(Verifier *v, const Asked *q, bool differ)
{
    Two two = {.w = {poly_place(v, v->polys, q->a), poly_place(v, v->polys, q->b)}};
    PolyPlace *a = &two.w[0], *b = &two.w[1];
    Domain *d = polys_domain(v->polys);
    uint32_t i = pass(a, q->a, 0), j = pass(b, q->b, 0);
    for (uint32_t k = 0; k < q->level + differ; k++) {
        two.turn[k] = any_turn(a, i, k == q->level ? DEP_TEAM : DEP_LOOP);
        a->turn[i] = b->turn[j] = poly_atom(d, two.turn[k]);
        i = pass(a, q->a, i + 1);
        j = pass(b, q->b, j + 1);
    }
    if (!differ && (q->how == SO_MANY || q->how == OR_MORE) && v->ops[q->a->around[i].op]->op != IR_REPEAT) {
        if (q->by > 0) set_apart(b, j, a, i, q->by, q->how == OR_MORE);
        else set_apart(a, i, b, j, -q->by, q->how == OR_MORE);
        i++, j++;
    }
    rest_of_turns(a, q->a, i);
    rest_of_turns(b, q->b, j);
    return two;
}

/* Of maps that take every n-th element, equally, what a start leaves over, too. */
static uint32_t number_of_axes(const Verifier *v, const Asked *q)
{
    const Region *a = q->a->region, *b = q->b->region;
    if (a->map == UINT32_MAX) return 1;
    const MfMap *x = &v->k->mf.maps.v[a->map], *y = &v->k->mf.maps.v[b->map];
    return a->n * (memcmp(x->elem_stride, y->elem_stride, sizeof x->elem_stride) ? 1 : 2);
}

static bool apart_as(Verifier *v, const Asked *q, bool differ)
{
    Two two = places(v, q, differ);
    Domain *d = polys_domain(v->polys);
    DomAxis axis[2 * MAP_RANK] = {0};
    DomKnown known[FRAMES];
    DomPair pair = {.axis = axis, .naxes = (int)number_of_axes(v, q), .known = known};
    const Transfer *side[2] = {q->a, q->b};
    for (int k = 0; k < 2; k++) {
        const IrArg *at;
        uint32_t op = side[k]->op;
        if (side[k]->region->map == UINT32_MAX) {
            const IrArg *address = verify_arg(v, op, side[k]->write ? IRK_TO : IRK_FROM);
            axis[0].start[k] = poly_of(&two.w[k], ir_find(verify_def(v, address), IRK_BYTE));
            axis[0].extent[k] = poly_of(&two.w[k], verify_arg(v, op, IRK_BYTES));
            continue;
        }
        const MfMap *map = &v->k->mf.maps.v[side[k]->region->map];
        ir_list(v->ops[op], IRK_COORDS, &at);
        for (uint32_t i = 0; i < map->rank; i++) {
            Poly step = poly_const(d, map->elem_stride[i]); /* every step-th element of the box */
            axis[i].start[k] = poly_of(&two.w[k], &at[i]);
            axis[i].extent[k] = poly_const(d, (map->box[i] - 1) / map->elem_stride[i] * map->elem_stride[i] + 1);
            axis[map->rank + i].start[k] = poly_mod(d, axis[i].start[k], step);
            axis[map->rank + i].extent[k] = poly_const(d, 1);
        }
    }
    if (!differ) return domain_apart(d, &pair);
    const char *why;
    for (uint32_t i = 0; i < q->level; i++) known[pair.nknown++] = (DomKnown){.index = two.turn[i]};
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

static const Transfer *kept(Verifier *v, const Transfer *t)
{
    Transfer *copy = arena_new(v->arena, Transfer);
    TurnAt *around = arena_array(v->arena, TurnAt, t->naround + 1);
    for (uint32_t i = 0; i < t->naround; i++) around[i] = t->around[i];
    *copy = *t;
    copy->around = around;
    return copy;
}

bool always_apart(Verifier *v, const Transfer *a, const Transfer *b)
{
    if (v->asked_of == NULL) v->asked_of = arena_array(v->arena, Asked *, v->nops);
    Asked q = question(v, a, b), **of = &v->asked_of[a->op];
    for (const Asked *x = *of; x; x = x->next)
        if (asked_before(v, x, &q)) return x->apart;
    Asked *x = arena_new(v->arena, Asked);
    *x = q;
    x->apart = answer(v, &q);
    x->a = kept(v, a);
    x->b = kept(v, b);
    x->next = *of;
    return (*of = x)->apart;
}
