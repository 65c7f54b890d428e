/* Places: are two regions apart, does one cover another. What can't be decided counts as overlapping, as not covered. */
#include "frontend/check.h"
#include "lang/checked.h"

/* ---- differences of scalars ---- */

typedef struct Linear {
    const Sx *atom[16];
    int64_t coef[16];
    int n;
    int64_t k;
    int steps; /* graphs share nodes: as a tree one may be too large */
    bool bad;
} Linear;

static void linear_add(Linear *l, const Sx *x, int64_t c)
{
    int64_t k;
    if (l->bad || ++l->steps > 256) l->bad = true;
    if (l->bad) return;
    if (x->op == SX_LET) {
        linear_add(l, x->a, c);
    } else if (x->op == SX_CONST) {
        l->bad = !mul_s64(x->k, c, &k) || !add_s64(l->k, k, &l->k);
    } else if (c == INT64_MIN) {
        l->bad = true;
    } else if (x->op == SX_ADD || x->op == SX_SUB) {
        linear_add(l, x->a, c);
        linear_add(l, x->b, x->op == SX_ADD ? c : -c);
    } else if (x->op == SX_MUL && (sx_is_const(x->a, &k) || sx_is_const(x->b, &k))) {
        const Sx *other = sx_is_const(x->a, NULL) ? x->b : x->a;
        if (!mul_s64(k, c, &k)) l->bad = true;
        else linear_add(l, other, k);
    } else {
        for (int i = 0; i < l->n; i++)
            if (sx_same(l->atom[i], x)) {
                l->bad = !add_s64(l->coef[i], c, &l->coef[i]);
                return;
            }
        if (l->n == 16) {
            l->bad = true;
            return;
        }
        l->atom[l->n] = x;
        l->coef[l->n++] = c;
    }
}

/* b - a, where that is a constant */
static bool sx_difference(const Sx *a, const Sx *b, int64_t *k)
{
    Linear l = {.n = 0};
    linear_add(&l, b, 1);
    linear_add(&l, a, -1);
    for (int i = 0; i < l.n; i++)
        if (l.coef[i] != 0) return false;
    *k = l.k;
    return !l.bad;
}

/* ---- regions ---- */

/* Of one tensor or tile: some dimension keeps them apart. */
static bool starts_apart(const PRegion *a, const PRegion *b)
{
    int64_t k;
    for (int d = 0; d < a->rank; d++) /* extents and steps are below 2^24 */
        if (!a->dim[d].rows && !b->dim[d].rows && !a->dim[d].open && !b->dim[d].open && sx_difference(a->dim[d].start, b->dim[d].start, &k) &&
            (k >= a->dim[d].extent * a->dim[d].step || k <= -(b->dim[d].extent * b->dim[d].step)))
            return true;
    return false;
}

bool tiles_apart(const PRegion *a, const PRegion *b)
{
    int64_t k;
    if (a->tile != b->tile) return true;
    if (a->slot && b->slot && sx_difference(a->slot, b->slot, &k) && k != 0) return true;
    return starts_apart(a, b);
}

bool same_place(const PRegion *a, const PRegion *b)
{
    int64_t k;
    if (a->tensor != b->tensor) return false;
    for (int d = 0; d < a->rank; d++) {
        const PDim *x = &a->dim[d], *y = &b->dim[d];
        if (x->rows || y->rows || !sx_difference(x->start, y->start, &k) || k != 0 || x->extent != y->extent)
            return false;
    }
    return true;
}

typedef struct Cells {
    int rank;
    int64_t slot, lo[P_RANK], hi[P_RANK];
} Cells;

static bool cells_of(const PRegion *r, Cells *c)
{
    c->rank = r->rank;
    c->slot = 0;
    if (r->slot && !sx_is_const(r->slot, &c->slot)) return false;
    for (int d = 0; d < r->rank; d++) {
        if (!sx_is_const(r->dim[d].start, &c->lo[d]) || r->dim[d].step != 1) return false;
        c->hi[d] = c->lo[d] + r->dim[d].extent;
    }
    return true;
}

/* Is every cell of c in one of written[from ..]? Cuts c around the first region that meets it. */
static bool covered(const Regions *written, const PTile *tile, uint32_t from, Cells c, int *fuel)
{
    if (--*fuel < 0) return false;
    for (uint32_t i = from; i < written->n; i++) {
        Cells w;
        if (written->v[i]->tile != tile || !cells_of(written->v[i], &w) || w.slot != c.slot) continue;
        bool meets = true;
        for (int d = 0; d < c.rank; d++) meets = meets && w.lo[d] < c.hi[d] && c.lo[d] < w.hi[d];
        if (!meets) continue;
        for (int d = 0; d < c.rank; d++) {
            Cells part = c;
            if (c.lo[d] < w.lo[d]) {
                part.hi[d] = w.lo[d];
                if (!covered(written, tile, i + 1, part, fuel)) return false;
                c.lo[d] = w.lo[d];
            }
            part = c;
            if (w.hi[d] < c.hi[d]) {
                part.lo[d] = w.hi[d];
                if (!covered(written, tile, i + 1, part, fuel)) return false;
                c.hi[d] = w.hi[d];
            }
        }
        return true;
    }
    return false;
}

static int64_t reach_of(const PDim *d)
{
    return (d->extent - 1) * d->step + 1;
}

/* r begins k elements behind w. */
static bool inside(const PDim *w, const PDim *r, int64_t k)
{
    if (w->step != 1) return k == 0 && w->step == r->step && r->extent <= w->extent;
    return k >= 0 && k + reach_of(r) <= w->extent;
}

bool covers(const Regions *written, const PRegion *r)
{
    int64_t k;
    for (uint32_t i = 0; i < written->n; i++) { /* the same run-time place */
        const PRegion *w = written->v[i];
        bool in = w->tile == r->tile && !r->slot == !w->slot &&
                  (!r->slot || (sx_difference(r->slot, w->slot, &k) && k == 0));
        for (int d = 0; in && d < r->rank; d++)
            in = sx_difference(w->dim[d].start, r->dim[d].start, &k) && inside(&w->dim[d], &r->dim[d], k);
        if (in) return true;
    }
    Cells c = {.rank = r->rank};
    int64_t first = 0, last = r->slot ? r->tile->slots - 1 : 0;
    if (r->slot && sx_is_const(r->slot, &k)) first = last = k;
    for (int d = 0; d < r->rank; d++) { /* a start known only at run time may be anywhere in its dimension */
        bool known = sx_is_const(r->dim[d].start, &c.lo[d]);
        if (!known) c.lo[d] = 0;
        c.hi[d] = known ? c.lo[d] + reach_of(&r->dim[d]) : r->tile->extent[d];
    }
    int fuel = 4096;
    for (c.slot = first; c.slot <= last; c.slot++)
        if (!covered(written, r->tile, 0, c, &fuel)) return false;
    return true;
}
