/* Which of many accesses may meet, without looking at each two: accesses that differ by constants alone are put in order, and what is
 * proved of the hull of a half of them is proved of each in it. Where they lie side by side this takes n log n. */
#include <stdlib.h>

#include "lower/apart/apart.h"

typedef struct Hulls {
    Lower *L;
    const AccessSearch *search;
    bool stopped;
    const TensorAccess **sorted;
    const uint32_t *number; /* by place in sorted: number in Accesses.all */
    const uint32_t *like;   /* .. equal for those that differ by constants alone */
    /* By the place where the second half of a part begins: */
    const TensorAccess **of; /* its hull, where it was made */
    bool *settled;           /* all of it is */
} Hulls;
typedef struct Part { /* of sorted: lo <= place < hi */
    uint32_t lo, hi;
} Part;

/* ---- order ---- */

static int order(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int order_addresses(const void *a, const void *b) /* any order will do: what is found is sorted by numbers */
{
    return ((uintptr_t)a > (uintptr_t)b) - ((uintptr_t)a < (uintptr_t)b);
}

static int order_atoms(const Atom *a, const Atom *b, int n)
{
    int o = 0;
    for (int i = 0; i < n && o == 0; i++) o = order(a[i], b[i]);
    return o;
}

static bool ends_in_constant(Poly p)
{
    return p.n && p.terms[p.n - 1].natoms == 0;
}

static int64_t constant_of(Poly p)
{
    return ends_in_constant(p) ? p.terms[p.n - 1].coef : 0;
}

/* But for their constants. */
static int order_forms(Poly a, Poly b)
{
    uint32_t n = a.n - ends_in_constant(a);
    int o = order(n, b.n - ends_in_constant(b));
    for (uint32_t i = 0; i < n && o == 0; i++) {
        const Term *x = &a.terms[i], *y = &b.terms[i];
        o = order(x->coef, y->coef);
        if (o == 0) o = order(x->natoms, y->natoms);
        if (o == 0) o = order_atoms(x->atoms, y->atoms, x->natoms);
    }
    return o ? o : order(a.bad, b.bad);
}

static int order_agree(const Agree *a, const Agree *b)
{
    if (a == NULL || b == NULL) return order(a != NULL, b != NULL);
    int o = order(a->unknown, b->unknown);
    if (o == 0) o = order(a->n, b->n);
    return o ? o : order_atoms(a->index, b->index, a->n);
}

static int order_axes(const Axis *a, const Axis *b)
{
    int o = order(a->kind, b->kind);
    if (o == 0) o = order_addresses(a->space, b->space);
    if (o == 0) o = order_addresses(a->of, b->of);
    if (o == 0) o = order(a->dim, b->dim);
    if (o == 0) o = order(a->bound, b->bound);
    if (o == 0) o = order_forms(a->unit, b->unit);
    if (o == 0) o = order(constant_of(a->unit), constant_of(b->unit));
    if (o == 0) o = order_forms(a->from, b->from);
    if (o == 0) o = order(constant_of(a->from), constant_of(b->from));
    if (o == 0) o = order_forms(a->start, b->start);
    if (o == 0) o = order_forms(a->extent, b->extent);
    return o ? o : order_agree(a->agree, b->agree);
}

/* 0: they differ by constants alone, and by what the conditions around them say. */
static int order_kinds(const TensorAccess *a, const TensorAccess *b)
{
    int o = order(base_of(a->info->tensor)->index, base_of(b->info->tensor)->index);
    if (o == 0) o = order(a->info->tensor->type, b->info->tensor->type);
    if (o == 0) o = order(a->write, b->write);
    if (o == 0) o = order(a->waived, b->waived);
    if (o == 0) o = order(a->never, b->never);
    if (o == 0) o = order(a->behind, b->behind);
    if (o == 0) o = order(a->reduce, b->reduce);
    if (o == 0) o = order(a->role, b->role);
    if (o == 0) o = order_addresses(a->pipe, b->pipe);
    if (o == 0) o = order(a->nteam, b->nteam);
    if (o == 0) o = order_atoms(a->team, b->team, a->nteam);
    if (o == 0) o = order(a->loops.n, b->loops.n);
    for (uint32_t i = 0; i < a->loops.n && o == 0; i++) o = order(a->loops.v[i].index, b->loops.v[i].index);
    if (o == 0) o = order(a->axes.n, b->axes.n);
    for (uint32_t i = 0; i < a->axes.n && o == 0; i++) o = order_axes(&a->axes.v[i], &b->axes.v[i]);
    return o;
}

typedef struct Numbered {
    const TensorAccess *access;
    uint32_t number;
} Numbered;

static int order_numbered(const void *a, const void *b)
{
    const Numbered *s = a, *t = b;
    const TensorAccess *x = s->access, *y = t->access;
    int o = order_kinds(x, y);
    for (uint32_t i = 0; i < x->axes.n && o == 0; i++)
        o = order(constant_of(x->axes.v[i].start), constant_of(y->axes.v[i].start));
    return o ? o : order(s->number, t->number);
}

/* ---- hulls ---- */

static bool same_known(const Known *x, const Known *y)
{
    return x->index == y->index && x->turn == y->turn && x->modulus == y->modulus && poly_same(x->value, y->value);
}

/* What goes for both of them goes for what lies in either. */
static const TensorAccess *unite(Lower *L, const TensorAccess *a, const TensorAccess *b)
{
    TensorAccess *h = arena_new(L->a, TensorAccess);
    *h = *a;
    h->axes.v = arena_array(L->a, Axis, a->axes.n);
    for (uint32_t i = 0; i < a->axes.n; i++) {
        const Axis *x = &a->axes.v[i], *y = &b->axes.v[i];
        Poly ahead = poly_sub(L->d, y->start, x->start),
             more = poly_sub(L->d, poly_add(L->d, ahead, y->extent), x->extent);
        int64_t by = 0, longer = 0;
        bool known = poly_is_const(ahead, &by) && poly_is_const(more, &longer);
        h->axes.v[i] = *x;
        if (by < 0) h->axes.v[i].start = y->start;
        h->axes.v[i].extent = poly_add(L->d, x->extent,
                                       poly_const(L->d, (longer > 0 ? longer : 0) - (by < 0 ? by : 0)));
        if (!known) return NULL;
    }
    h->nknown = 0;
    for (int i = 0; i < a->nknown; i++) {
        bool both = false;
        for (int j = 0; j < b->nknown; j++) both = both || same_known(&a->known[i], &b->known[j]);
        if (both) h->known[h->nknown++] = a->known[i];
    }
    if (b->planned < h->planned) h->planned = b->planned;
    if (b->taken > h->taken) h->taken = b->taken;
    return h;
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
    if (h->like[p.lo] != h->like[p.hi - 1]) return NULL;
    const TensorAccess **made = &h->of[half(p, true).lo];
    if (*made) return *made;
    const TensorAccess *a = hull(h, half(p, false)), *b = hull(h, half(p, true));
    return *made = a && b ? unite(h->L, a, b) : NULL;
}

/* ---- pairs ---- */

static bool is_settled(Hulls *h, Part p)
{
    if (h->search->settled == NULL) return false;
    if (single(p)) return h->search->settled[h->number[p.lo]];
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

static void join(Hulls *h, Part p, Part q)
{
    if (h->stopped || (is_settled(h, p) && is_settled(h, q))) return;
    if (single(p) && single(q)) {
        look_at(h, h->number[p.lo], h->number[q.lo]);
        return;
    }
    const TensorAccess *a = hull(h, p), *b = hull(h, q);
    TensorAccess other; /* two of one part are not the same access */
    if (a && b) other = *b;
    if (a && b && !h->search->meet(h->L, a, &other)) return;
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

static bool has_bad(const TensorAccess *a)
{
    bool bad = false;
    for (uint32_t i = 0; i < a->axes.n; i++) bad |= a->axes.v[i].start.bad || a->axes.v[i].extent.bad;
    return bad;
}

void accesses_meeting(Lower *L, const AccessSearch *search)
{
    uint32_t n = L->accesses->all.n;
    Numbered *items = arena_array(L->a, Numbered, n);
    const TensorAccess **sorted = arena_array(L->a, const TensorAccess *, n);
    uint32_t *number = arena_array(L->a, uint32_t, n), *like = arena_array(L->a, uint32_t, n);
    for (uint32_t i = 0; i < n; i++) items[i] = (Numbered){L->accesses->all.v[i], i};
    if (n) qsort(items, n, sizeof *items, order_numbered);
    for (uint32_t i = 0; i < n; i++) {
        sorted[i] = items[i].access;
        number[i] = items[i].number;
        like[i] = i == 0 ? 0 : like[i - 1] + (has_bad(sorted[i]) || order_kinds(sorted[i - 1], sorted[i]) != 0);
    }
    Hulls h = {.L = L, .search = search, .sorted = sorted, .number = number, .like = like};
    h.of = arena_array(L->a, const TensorAccess *, n);
    h.settled = arena_array(L->a, bool, n);
    for (uint32_t lo = 0, hi; lo < n; lo = hi) { /* of one tensor */
        for (hi = lo + 1; hi < n && base_of(sorted[hi]->info->tensor) == base_of(sorted[lo]->info->tensor);) hi++;
        join(&h, (Part){lo, hi}, (Part){lo, hi});
    }
}
