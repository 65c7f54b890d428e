/* Rule G through views that are made at run time.
 *
 * `x[idx[g] +: idx[g + 1] - idx[g], ..]` with `trust sorted(idx)`: what is cut to the tensor is sorted, too, so that two such
 * views have nothing in common where their places in idx have nothing in common: [idx[a], idx[b]) is left of [idx[c], idx[d])
 * where b <= c. Indices that move the place in idx tell views apart, the others parts of one view. An element outside idx
 * is -1 at both ends, or in front of all: such a view is empty, or ends at the first element.
 * A view that indices and sizes alone place lies where they say, however it is cut.
 * A view whose place is made of sizes and elements at fixed places is one view for all. */
#include "lower/apart/apart.h"

bool view_trusts(const Lower *L, const PTensor *idx, int64_t fact)
{
    for (uint32_t i = 0; i < L->k->trusts.n; i++)
        if (L->k->trusts.v[i].cond->tensor == idx && L->k->trusts.v[i].cond->k == fact) return true;
    return false;
}

typedef struct Places { /* in the sorted tensor, or in a dimension of the viewed one */
    bool fixed;         /* one view */
    int dim;            /* of the base */
    Poly lo[2], count[2];
} Places;

bool place_fixed(Lower *L, const Sx *start)
{
    return !(scalar_uses(L, start) & (USE_TEAM | USE_INDEX | USE_VAR));
}

bool view_fixed(Lower *L, const PTensor *t)
{
    if (t->base == NULL) return true;
    bool same = place_fixed(L, t->offset);
    for (int d = 0; same && d < t->rank; d++) same = place_fixed(L, t->extent[d]) && place_fixed(L, t->stride[d]);
    return same;
}

static bool place_known(Lower *L, const Sx *x, Poly p)
{
    if (scalar_uses(L, x) & USE_VAR) return false; /* what it held where the view was declared */
    return !p.bad && !(domain_depends(L->d, p) & (DEP_DATA | DEP_RANK));
}

static bool places(Lower *L, const PTensor *a, const PTensor *b, Places *out)
{
    for (int d = 0; d < P_RANK; d++) {
        const struct PPlace *s[2] = {&a->place[d], &b->place[d]};
        if (!s[0]->lo || !s[1]->lo || s[0]->idx != s[1]->idx || (s[0]->idx && !view_trusts(L, s[0]->idx, TRUST_SORTED)))
            continue;
        if (!s[0]->by != !s[1]->by || (s[0]->by && !poly_same(scalar_poly(L, s[0]->by), scalar_poly(L, s[1]->by)))) continue;
        bool ok = true;
        for (int i = 0; i < 2; i++) {
            out->lo[i] = scalar_poly(L, s[i]->lo);
            out->count[i] = poly_sub(L->d, scalar_poly(L, s[i]->hi), out->lo[i]);
            ok = ok && place_known(L, s[i]->lo, out->lo[i]) && place_known(L, s[i]->hi, out->count[i]) &&
                 domain_le(L->d, poly_const(L->d, 0), out->count[i]);
        }
        out->dim = d;
        if (ok) return true;
    }
    return out->fixed = a == b && view_fixed(L, a);
}

static Poly by_turn(Lower *L, Poly p, const TensorAccess *a, uint32_t n)
{
    return n ? poly_by_turn(L, p, a->loops.v, n) : p;
}

/* Where dimension d of the view starts, but for what is the same in turns whose places are equal. */
static bool start_in_turn(Lower *L, const PTensor *v, int d, const Places *p, Poly *start)
{
    *start = poly_const(L->d, 0);
    if (p->fixed || v->reshaped || v->dim_of[d] == p->dim) return true;
    const Sx *x = v->start[v->dim_of[d]];
    if (place_fixed(L, x)) return true;
    *start = scalar_poly(L, x);
    return place_known(L, x, *start);
}

/* Shapes that are made up mean the same elements where they are the same, and nothing but the place says where they begin. */
static bool one_shape(Lower *L, const PTensor *v)
{
    bool same = !v->reshaped || v->base->rank == 1;
    for (int d = 0; same && v->reshaped && d < v->rank; d++) same = place_fixed(L, v->extent[d]) && place_fixed(L, v->stride[d]);
    return same;
}

static bool mentions(Lower *L, const Places *p, Atom x)
{
    bool any = false;
    for (int k = 0; k < 2 && !any && !p->fixed; k++) any = domain_mentions(L->d, p->lo[k], x) || domain_mentions(L->d, p->count[k], x);
    return any;
}

/* Loops around one of them whose turns nobody compares: does the place change with one? */
static bool moves_with(Lower *L, const Places *p, const TensorAccess *a, uint32_t from)
{
    bool moves = false;
    for (uint32_t i = from; i < a->loops.n && !moves; i++) moves = mentions(L, p, a->loops.v[i].index);
    return moves;
}

/* With a loop of which those turns are numbered in which a condition holds: the place says it in its own index. */
static bool renumbered(Lower *L, const PTensor *v, const Places *p, const TensorAccess *a)
{
    bool any = false;
    for (uint32_t i = 0; i < a->loops.n && !any; i++) {
        Atom of = a->loops.v[i].of;
        any = of && mentions(L, p, of);
        for (int d = 0; of && d < v->rank && !any && !p->fixed && !v->reshaped; d++)
            any = domain_mentions(L->d, scalar_poly(L, v->start[v->dim_of[d]]), of);
    }
    return any;
}

/* Parts of views at one place, for turns that differ in these indices: the other dimensions of the view may move with them. */
static bool parts_apart(Lower *L, const TensorAccess *a, const TensorAccess *b, const Places *p, uint32_t turns, const Atom *index, int n)
{
    DomBox box[2];
    const MoveInfo *m[2] = {&a->info, &b->info};
    const char *why;
    for (int i = 0; i < 2; i++) {
        box[i].rank = m[i]->rank;
        for (int d = 0; d < m[i]->rank; d++) {
            if (m[i]->g->dim[d].rows) return false;
            Poly start;
            if (n && !start_in_turn(L, m[i]->tensor, d, p, &start)) return false;
            box[i].start[d] = n ? by_turn(L, poly_add(L->d, start, m[i]->start[d]), a, turns) : m[i]->start[d];
            box[i].extent[d] = poly_const(L->d, move_width(m[i], d));
        }
    }
    return n == 0 || domain_disjoint_teams(L->d, L->a, &box[0], &box[1], index, n, &why);
}

bool view_places_apart(Lower *L, const TensorAccess *a, const TensorAccess *b, bool loops, bool same_turn)
{
    const PTensor *v = a->info.tensor, *w = b->info.tensor;
    Places p = {0};
    Atom tells[8 + 3 + TURNS_MAX], rest[8 + 3 + TURNS_MAX];
    int ntells = 0, nrest = 0;
    uint32_t common = 0;
    const char *why;
    if (!v->run_time || !w->run_time || a->pipe != b->pipe || !places(L, v, w, &p)) return false;
    if (renumbered(L, v, &p, a) || renumbered(L, w, &p, b)) return false;
    if (a != b && loops && !same_turn) return false; /* nothing is known of one turn's own */
    while (loops && common < a->loops.n && common < b->loops.n && common < TURNS_MAX &&
           a->loops.v[common].index == b->loops.v[common].index)
        common++;
    for (int k = 0; k < 2 && !p.fixed; k++) {
        p.lo[k] = by_turn(L, p.lo[k], a, common);
        p.count[k] = by_turn(L, p.count[k], a, common);
    }
    for (uint32_t i = 0; i < (uint32_t)a->nteam + common; i++) {
        Atom x = i < (uint32_t)a->nteam ? a->team[i] : a->loops.v[i - (uint32_t)a->nteam].turn;
        if (mentions(L, &p, x)) tells[ntells++] = x;
        else rest[nrest++] = x;
    }
    if (ntells) {
        DomBox x = {.rank = 1, .start = {p.lo[0]}, .extent = {p.count[0]}};
        DomBox y = {.rank = 1, .start = {p.lo[1]}, .extent = {p.count[1]}};
        if (!domain_disjoint_teams(L->d, L->a, &x, &y, tells, ntells, &why)) return false;
    }
    /* Equal places: the parts are comparable where the view is the same one. */
    if (nrest && v != w) return false;
    if (nrest && !p.fixed && (!one_shape(L, v) || moves_with(L, &p, a, common) || moves_with(L, &p, b, common))) return false;
    return parts_apart(L, a, b, &p, common, rest, nrest);
}
