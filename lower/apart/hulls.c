/* Which of many accesses may meet, without looking at each two: accesses that differ by constants alone are put in order, and what is
 * proved of the hull of a half of them is proved of each in it. Where they lie side by side this takes n log n.
 *
 * Those that stand in different loops of one range are alike, too: a hull of them has the indices of the first one's loops, and where
 * two hulls are compared, one of which is of several loops, the other one's indices are renamed, beyond the loops around all of both. So each
 * index of one is compared with each of the other: with more than ever come together. So are those in different pipelines across the grid:
 * what is proved of all of their iterations goes for those of one, too. */
#include <stdlib.h>
#include <string.h>

#include "lower/apart/apart.h"

typedef struct Hulls {
    Lower *L;
    const AccessSearch *search;
    bool stopped;
    const TensorAccess **sorted;
    /* By the place where the second half of a part begins: */
    const TensorAccess **of; /* its hull, where it was made */
    bool *settled;           /* all of it is */
    VEC(struct Renamed { Atom from; uint32_t n; OpenLoop to; }) renamed;
} Hulls;
typedef struct Part { /* of sorted: lo <= place < hi */
    uint32_t lo, hi;
} Part;

/* ---- order ---- */

static bool of_tensor(const TensorAccess *a, const TensorAccess *b)
{
    return base_of(a->info->tensor) == base_of(b->info->tensor);
}

static int order(int64_t x, int64_t y)
{
    return (x > y) - (x < y);
}

/* By tensor, loads in front of stores; of those that are alike by their pipeline, then by their constants. */
static int order_accesses(const void *a, const void *b)
{
    const TensorAccess *x = *(const TensorAccess *const *)a, *y = *(const TensorAccess *const *)b;
    int by = of_tensor(x, y) ? 0 : order(base_of(x->info->tensor)->index, base_of(y->info->tensor)->index);
    if (by == 0) by = order(x->write, y->write);
    if (by == 0) by = order(x->behind, y->behind);
    if (by == 0) by = order(x->kind, y->kind);
    if (by == 0) by = order(x->nth_pipe, y->nth_pipe);
    for (uint32_t i = 0; i < x->axes.n && by == 0; i++) by = order(poly_constant_term(x->axes.v[i].start), poly_constant_term(y->axes.v[i].start));
    return by ? by : order(x->number, y->number);
}

/* ---- hulls ---- */

/* Nothing but indices moves it, and what a launch knows: then other indices in their place say what other iterations do. */
static bool by_indices(Lower *L, const TensorAccess *a)
{
    unsigned depends = 0;
    for (uint32_t i = 0; i < a->axes.n; i++) {
        const Axis *x = &a->axes.v[i];
        depends |= domain_depends(L->d, x->unit) | domain_depends(L->d, x->from) | domain_depends(L->d, x->start) | domain_depends(L->d, x->extent);
    }
    return !(depends & DEP_DATA);
}

/* With those of `to` in the place of its loops from the n-th on, and of `team` in the place of its team's indices (NULL: they stay), which have the
 * same ranges. Nothing is known of them, and what the conditions around it say is left out. */
static bool with_loops(Lower *L, TensorAccess *x, uint32_t n, const OpenLoop *to, const Atom *team)
{
    Renaming other = {.n = 0};
    bool ok = true;
    if (x->loops.n - n > TURNS_MAX) return false;
    OpenLoop *loops = arena_array(L->a, OpenLoop, x->loops.n);
    for (uint32_t i = 0; i < x->loops.n; i++) {
        loops[i] = i < n ? x->loops.v[i] : to[i - n];
        if (i >= n) rename_index(&other, x->loops.v[i].index, loops[i].index);
    }
    for (int i = 0; team && i < x->nteam; i++) {
        if (x->team[i] != team[i]) rename_index(&other, x->team[i], team[i]);
        x->team[i] = team[i];
    }
    if (other.n == 0) return true;
    for (int i = 0; i < other.n; i++) {
        Poly from, was, is;
        bool known = domain_range(L->d, other.from[i], &from, &was);
        ok &= domain_range(L->d, other.to[i], &from, &is) == known && (!known || poly_same(is, renamed(L, &other, was)));
    }
    Axis *axes = arena_array(L->a, Axis, x->axes.n);
    uint32_t naxes = 0;
    for (uint32_t i = 0; i < x->axes.n; i++) {
        Axis *at = &axes[naxes];
        *at = x->axes.v[i];
        if (at->agree) continue; /* it may mean nothing where they differ */
        naxes++;
        Poly *of[] = {&at->unit, &at->from, &at->start, &at->extent};
        for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
            *of[k] = renamed(L, &other, *of[k]);
            ok &= !of[k]->bad;
        }
    }
    memset(&x->known, 0, sizeof x->known);
    memset(&x->holds, 0, sizeof x->holds);
    x->loops.v = loops;
    x->axes.v = axes;
    x->axes.n = naxes;
    return ok;
}

static bool same_agree(const Agree *x, const Agree *y)
{
    if (x == NULL || y == NULL) return x == y;
    return x->n == y->n && x->unknown == y->unknown && memcmp(x->index, y->index, (size_t)x->n * sizeof *x->index) == 0;
}

/* What goes for both of them goes for what lies in either. NULL: they differ by more than constants. */
static const TensorAccess *unite(Lower *L, const TensorAccess *a, const TensorAccess *second)
{
    TensorAccess *h = arena_new(L->a, TensorAccess), renamed = *second;
    const TensorAccess *b = &renamed;
    uint32_t same = loops_around(a, b);
    bool pipes = one_pipe(a, b) ? a->pipes || b->pipes : true;
    if (pipes && !(by_indices(L, a) && by_indices(L, b))) return NULL;
    if (!with_loops(L, &renamed, same, same < a->loops.n ? &a->loops.v[same] : NULL, pipes ? a->team : NULL) || a->axes.n != b->axes.n) return NULL;
    *h = *a;
    h->pipes = pipes;
    if (h->common > same) h->common = same;
    if (h->common > b->common) h->common = b->common;
    h->axes.v = arena_array(L->a, Axis, a->axes.n);
    for (uint32_t i = 0; i < a->axes.n; i++) {
        const Axis *x = &a->axes.v[i], *y = &b->axes.v[i];
        Poly ahead = poly_sub(L->d, y->start, x->start),
             more = poly_sub(L->d, poly_add(L->d, ahead, y->extent), x->extent);
        int64_t by = 0, longer = 0;
        bool known = axes_same(x, y) && x->bound == y->bound && same_agree(x->agree, y->agree) && poly_is_const(ahead, &by) && poly_is_const(more, &longer);
        h->axes.v[i] = *x;
        if (by < 0) h->axes.v[i].start = y->start;
        h->axes.v[i].extent = poly_add(L->d, x->extent,
                                       poly_const(L->d, (longer > 0 ? longer : 0) - (by < 0 ? by : 0)));
        if (!known) return NULL;
    }
    memset(&h->known, 0, sizeof h->known);
    for (uint32_t i = 0; i < a->known.n; i++) {
        bool both = false;
        const Known *x = &a->known.v[i];
        for (uint32_t j = 0; j < b->known.n && !both; j++) both = poly_same(x->number, b->known.v[j].number) && poly_same(x->value, b->known.v[j].value);
        if (both) vec_push(L->a, &h->known, *x);
    }
    memset(&h->holds, 0, sizeof h->holds);
    for (uint32_t i = 0; i < a->holds.n; i++) {
        bool both = false;
        for (uint32_t j = 0; j < b->holds.n; j++) both = both || poly_same(a->holds.v[i], b->holds.v[j]);
        if (both) vec_push(L->a, &h->holds, a->holds.v[i]);
    }
    if (b->planned < h->planned) h->planned = b->planned;
    if (b->taken > h->taken) h->taken = b->taken;
    return h;
}

/* But for their axes. */
static bool alike(const TensorAccess *x, const TensorAccess *y)
{
    return of_tensor(x, y) && x->write == y->write && x->info->tensor->type == y->info->tensor->type && x->waived == y->waived && x->never == y->never &&
           !x->pipe == !y->pipe && x->reduce == y->reduce && x->role == y->role && x->nteam == y->nteam && x->loops.n == y->loops.n &&
           (x->pipe || memcmp(x->team, y->team, (size_t)x->nteam * sizeof *x->team) == 0);
}

enum { KINDS = 64 }; /* of which it may be: the last ones of accesses like it */

void access_kind(Lower *L, TensorAccess *a)
{
    struct Accesses *all = L->accesses;
    uint32_t i = all->kinds.n, tried = 0;
    bool found = false;
    while (i-- > 0 && tried < KINDS && !found) {
        if (!alike(all->kinds.v[i], a)) continue;
        DomScratch scratch = domain_scratch(L->d);
        found = unite(L, all->kinds.v[i], a) != NULL;
        domain_release(L->d, scratch);
        a->kind = i;
        tried++;
    }
    if (found) return;
    a->kind = all->kinds.n;
    vec_push(L->a, &all->kinds, a);
}

static bool single(Part p)
{
    return p.hi - p.lo == 1;
}

static Part half(Part p, bool second)
{
    uint32_t mid = p.lo + (p.hi - p.lo) / 2;
    return second ? (Part){mid, p.hi} : (Part){p.lo, mid};
}

/* NULL: they have none. */
static const TensorAccess *hull(Hulls *h, Part p)
{
    if (single(p)) return h->sorted[p.lo];
    if (h->sorted[p.lo]->kind != h->sorted[p.hi - 1]->kind || h->sorted[p.lo]->behind != h->sorted[p.hi - 1]->behind) return NULL;
    const TensorAccess **made = &h->of[half(p, true).lo];
    if (*made) return *made;
    const TensorAccess *a = hull(h, half(p, false)), *b = hull(h, half(p, true));
    return *made = a && b ? unite(h->L, a, b) : NULL;
}

/* ---- pairs ---- */

static bool is_settled(Hulls *h, Part p)
{
    if (h->search->settled == NULL) return false;
    if (single(p)) return h->search->settled[h->sorted[p.lo]->number];
    bool *all = &h->settled[half(p, true).lo];
    return *all = *all || (is_settled(h, half(p, false)) && is_settled(h, half(p, true)));
}

static void look_at(Hulls *h, uint32_t i, uint32_t j)
{
    const AccessSearch *s = h->search;
    TensorAccess *const *all = h->L->accesses->all.v;
    if (i > j) look_at(h, j, i);
    else if (s->meet(h->L, all[i], all[j])) h->stopped = !s->found(h->L, s->to, i, j);
}

/* The index once more, where loops around its own have others from the n-th on. False: nothing is known of its range. */
static bool again(Hulls *h, OpenLoop loop, uint32_t n, const Renaming *other, OpenLoop *to)
{
    Lower *L = h->L;
    Poly zero, last;
    for (uint32_t i = 0; i < h->renamed.n; i++) {
        if (h->renamed.v[i].from != loop.index || h->renamed.v[i].n != n) continue;
        *to = h->renamed.v[i].to;
        return true;
    }
    if (!domain_range(L->d, loop.index, &zero, &last)) return false;
    zero = poly_const(L->d, 0);
    Poly count = poly_add(L->d, renamed(L, other, last), poly_const(L->d, 1));
    to->index = domain_index(L->d, "other", zero, count, DEP_LOOP);
    to->turn = domain_index(L->d, "other", zero, count, DEP_LOOP);
    vec_push(L->a, &h->renamed, ((struct Renamed){loop.index, n, *to}));
    return true;
}

static bool of_cluster(const Lower *L, Atom index)
{
    bool is = false;
    for (int i = 0; i < 3; i++) is |= L->scalars->cluster_atom[i] == index;
    return is;
}

/* Two parts by their hulls. Where one is of several loops, what both have in common are the loops around all of both: in one turn of
 * those each turn of the others meets each, so nothing has been waited for. Of several pipelines each iteration meets each. */
static bool may_meet(Hulls *h, const TensorAccess *a, const TensorAccess *b)
{
    OpenLoop to[TURNS_MAX];
    Renaming other = {.n = 0};
    Atom team[TEAM_MAX];
    TensorAccess x = *a, y = *b; /* two of one part are not the same access */
    Lower *L = h->L;
    bool pipes = a->pipes || b->pipes;
    uint32_t n = pipes ? 0 : loops_around(a, b);
    if (!pipes && a->common == a->loops.n && b->common == b->loops.n) return h->search->meet(L, &x, &y);
    if (pipes && !(by_indices(L, a) && by_indices(L, b))) return true;
    if (n > a->common) n = a->common;
    if (n > b->common) n = b->common;
    if (b->loops.n - n > TURNS_MAX) return true;
    for (int i = 0; pipes && i < b->nteam; i++) {
        OpenLoop one = {.index = b->team[i]};
        if (!of_cluster(L, one.index) && !again(h, one, n, &other, &one)) return true;
        rename_index(&other, b->team[i], team[i] = one.index);
    }
    for (uint32_t i = n; i < b->loops.n; i++) {
        if (!again(h, b->loops.v[i], n, &other, &to[i - n])) return true;
        rename_index(&other, b->loops.v[i].index, to[i - n].index);
    }
    x.taken = y.taken = UINT32_MAX;
    return !with_loops(L, &y, n, to, pipes ? team : NULL) || h->search->meet(L, &x, &y);
}

static void join(Hulls *h, Part p, Part q)
{
    if (h->stopped || (is_settled(h, p) && is_settled(h, q))) return;
    if (single(p) && single(q)) {
        look_at(h, h->sorted[p.lo]->number, h->sorted[q.lo]->number);
        return;
    }
    const TensorAccess *a = hull(h, p), *b = hull(h, q);
    if (a && b) {
        DomScratch scratch = domain_scratch(h->L->d);
        bool meet = may_meet(h, a, b);
        domain_release(h->L->d, scratch);
        if (!meet) return;
    }
    if (p.lo == q.lo && p.hi == q.hi) {
        join(h, half(p, false), half(p, false));
        join(h, half(p, false), half(p, true));
        join(h, half(p, true), half(p, true));
    } else if (p.hi - p.lo >= q.hi - q.lo) {
        join(h, half(p, false), q);
        join(h, half(p, true), q);
    } else {
        join(h, p, half(q, false));
        join(h, p, half(q, true));
    }
}

void accesses_meeting(Lower *L, const AccessSearch *search)
{
    uint32_t n = L->accesses->all.n;
    const TensorAccess **sorted = arena_array(L->a, const TensorAccess *, n);
    for (uint32_t i = 0; i < n; i++) sorted[i] = L->accesses->all.v[i];
    if (n) qsort(sorted, n, sizeof *sorted, order_accesses);
    Hulls h = {.L = L, .search = search, .sorted = sorted};
    h.of = arena_array(L->a, const TensorAccess *, n);
    h.settled = arena_array(L->a, bool, n);
    for (uint32_t lo = 0, mid, hi; lo < n; lo = hi) { /* of one tensor */
        for (mid = lo; mid < n && of_tensor(sorted[mid], sorted[lo]) && !sorted[mid]->write;) mid++;
        for (hi = mid; hi < n && of_tensor(sorted[hi], sorted[lo]);) hi++;
        if (search->pairs & PAIRS_MIXED && lo < mid && mid < hi) join(&h, (Part){lo, mid}, (Part){mid, hi});
        if (search->pairs & PAIRS_STORES && mid < hi) join(&h, (Part){mid, hi}, (Part){mid, hi});
    }
}
