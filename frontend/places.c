/* Places: are two regions apart, are they one. What can't be decided counts as overlapping, as not the same. */
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
