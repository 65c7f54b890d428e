/* Rule G: accesses of different CTAs to one tensor, one of them a write, touch different elements; and what is read
 * as a scalar is not written at all. Different parameters don't overlap: the launch checks that.
 *
 * Where roles run side by side, the same goes for the accesses of one team: nothing makes a load wait for the writes of
 * a store, or one store for those of another. A store behind a load is in order if the working role has waited for it. */
#include <stdlib.h>
#include <string.h>

#include "lang/lang.h"
#include "lower/apart/apart.h"
#include "lower/emit/values.h"

bool accesses_commute(const TensorAccess *a, const TensorAccess *b)
{
    if (a->reduce < 0 || a->reduce != b->reduce) return false;
    const char *op = reduce_word(a->reduce);
    if (!reduction_commutes(op)) return false;
    if (a->info->tensor->type == b->info->tensor->type) return true;
    const ElemInfo *x = elem_info(a->info->tensor->type), *y = elem_info(b->info->tensor->type);
    bool whole = (x->kind == ELEM_UINT || x->kind == ELEM_SINT) && (y->kind == ELEM_UINT || y->kind == ELEM_SINT);
    return whole && x->global_bits == y->global_bits && strcmp(op, "min") != 0 && strcmp(op, "max") != 0;
}

/* ---- different teams ---- */

/* The places in the tensor's own dimensions; false where nothing tells them. */
static bool places_of(const TensorAccess *a, DomBox *box)
{
    box->rank = 0;
    for (uint32_t i = 0; i < a->axes.n && box->rank < MAP_RANK_MAX; i++) {
        const Axis *x = &a->axes.v[i];
        if (x->kind != AXIS_ELEMENT || x->space != base_of(a->info->tensor) || x->bound) continue;
        box->start[box->rank] = x->start;
        box->extent[box->rank++] = x->extent;
    }
    return box->rank > 0;
}

static bool has_extent(const DomBox *b, Poly extent)
{
    for (int d = 0; d < b->rank; d++)
        if (poly_same(b->extent[d], extent)) return true;
    return false;
}

/* Parts of one shape, each of them another one for every team: what the teams write is what they read, elsewhere. */
static bool permutes(Lower *L, const TensorAccess *a, const TensorAccess *b)
{
    DomBox x, y;
    if (a->write == b->write || a->pipe != b->pipe || !places_of(a, &x) || !places_of(b, &y)) return false;
    for (int d = 0; d < x.rank; d++)
        if (!has_extent(&y, x.extent[d]) || !has_extent(&x, y.extent[d])) return false;
    return accesses_apart(L, a, a, APART_TEAMS, NULL) && accesses_apart(L, b, b, APART_TEAMS, NULL);
}

static bool teams_apart(Lower *L, const TensorAccess *a, const TensorAccess *b, const char **why)
{
    if ((a->nteam == 0 && one_pipe(a, b)) || accesses_commute(a, b)) return true;
    if (a->waived || b->waived) { /* between teams; the CTAs of a cluster are one */
        bool ordered = L->cluster_size > 1 && a->write != b->write && one_pipe(a, b);
        return !ordered || accesses_apart(L, a, b, APART_CTAS, why);
    }
    return accesses_apart(L, a, b, one_pipe(a, b) ? APART_TEAMS : APART_PIPELINES, why);
}

static bool check_teams(Lower *L, const TensorAccess *a, const TensorAccess *b)
{
    const char *why = "";
    if (teams_apart(L, a, b, &why)) return true;
    const TensorAccess *w = a->write ? a : b, *o = a->write ? b : a;
    L->stmt = w->info->stmt;
    if (!w->waived && permutes(L, a, b)) refuse_permuted(L, w, o, why);
    else refuse_unproved(L, w, o, why);
    return false;
}

/* As often as there are teams, which nobody says beside a pipeline across the grid. */
static void check_repeated(Lower *L, const TensorAccess *a)
{
    if (a->pipe || a->waived || a->reduce < 0 || reduction_repeats(reduce_word(a->reduce))) return;
    refuse_repeated(L, a, reduce_word(a->reduce));
}

/* ---- one team ---- */

bool stores_meet(Lower *L, const TensorAccess *a, const TensorAccess *b)
{
    if (base_of(a->info->tensor) != base_of(b->info->tensor) || a->waived || b->waived || accesses_commute(a, b)) return false;
    if (!one_pipe(a, b)) return false; /* rule G has proved more */
    if (a != b && !accesses_apart(L, a, b, APART_HERE, NULL)) return true;
    return !accesses_apart(L, a, b, APART_ANY_TURN, NULL);
}

bool store_overtakes(Lower *L, const TensorAccess *load, const TensorAccess *store)
{
    if (base_of(load->info->tensor) != base_of(store->info->tensor) || !one_pipe(load, store)) return false;
    return !accesses_apart(L, load, store, APART_HERE, NULL);
}

bool load_waited_for(const TensorAccess *load, const TensorAccess *store)
{
    return load->taken != UINT32_MAX && load->taken <= store->planned;
}

/* Stores of two roles of the source: those of one are in order with the waits for its groups. */
static bool beside(const TensorAccess *a, const TensorAccess *b)
{
    return a->role != b->role && a->write && b->write && !a->waived && !b->waived && !accesses_commute(a, b);
}

bool accesses_cross(Lower *L, const TensorAccess *first, const TensorAccess *second, bool waited)
{
    if (base_of(first->info->tensor) != base_of(second->info->tensor) || !one_pipe(first, second)) return false;
    if (first->waived && second->waived) return false;
    if (first != second && !waited && !accesses_apart(L, first, second, APART_HERE, NULL)) return true;
    return !accesses_apart(L, first, second, first->waived || second->waived ? APART_TURNS : APART_ANY_TURN, NULL);
}

bool accesses_refused(Lower *L, const TensorAccess *a, const TensorAccess *b)
{
    const char *why;
    return !teams_apart(L, a, b, &why);
}

/* Loads run ahead of what the program stores: a load and a store of one team that may meet have no order, unless the store
 * puts back what was made of the load's tile, or one role does both. */
static bool in_order(Lower *L, const TensorAccess *a, const TensorAccess *b)
{
    const TensorAccess *load = a->write ? b : a, *store = a->write ? a : b;
    if (a->behind || b->behind) return true;
    return !accesses_cross(L, a, b, !load->write && load_waited_for(load, store));
}

/* ---- one move ---- */

static bool differ(Lower *L, const Sx *a, const Sx *b)
{
    Poly one = poly_const(L->d, 1), second = scalar_poly(L, b), d = poly_sub(L->d, scalar_poly(L, a), second);
    bool held = ((scalar_uses(L, a) | scalar_uses(L, b)) & USE_VAR) != 0; /* what a variable holds where the move is */
    return !held && (domain_le(L->d, one, d) || domain_le(L->d, one, poly_sub(L->d, poly_const(L->d, 0), d)));
}

static bool rows_differ(Lower *L, const PRows *r, int64_t n)
{
    if (r->tensor) return trusts(L, base_of(r->tensor), TRUST_DISTINCT);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++)
            if (!differ(L, r->list[i], r->list[j])) return false;
    return true;
}

/* The copies of one move have no order: no row is written twice. */
static void check_rows(Lower *L, const TensorAccess *w)
{
    if (!w->write || w->waived || accesses_commute(w, w)) return;
    for (int d = 0; d < w->info->rank; d++) {
        const PDim *p = &w->info->g->dim[d];
        if (p->rows == NULL || p->extent < 2 || rows_differ(L, p->rows, p->extent)) continue;
        refuse_rows(L, p);
        return;
    }
}

/* Roles run side by side, and nothing else orders the two; what a derived schedule orders is not known where an error came before it. */
static bool asks_for_order(const Lower *L, const TensorAccess *a, const TensorAccess *b)
{
    return (L->derived && !L->failed && one_pipe(a, b) && a->write != b->write) || beside(a, b);
}

static bool is_wrong(Lower *L, const TensorAccess *a, const TensorAccess *b)
{
    if (!(a->write || b->write)) return false;
    return !teams_apart(L, a, b, NULL) || (asks_for_order(L, a, b) && !in_order(L, a, b));
}

typedef struct WrongPair {
    uint32_t a, b;
} WrongPair;
typedef VEC(WrongPair) WrongPairs;
enum { WRONG_MAX = 1000 }; /* more than anybody is told */

static bool add_wrong(Lower *L, void *to, uint32_t a, uint32_t b)
{
    WrongPairs *all = to;
    vec_push(L->a, all, ((WrongPair){a, b}));
    return all->n < WRONG_MAX;
}

static int by_number(const void *a, const void *b)
{
    const WrongPair *x = a, *y = b;
    return x->a != y->a ? (x->a > y->a) - (x->a < y->a) : (x->b > y->b) - (x->b < y->b);
}

void independence_check(Lower *L)
{
    WrongPairs wrong = {0};
    bool across = has_across(L->k);
    accesses_meeting(L, &(AccessSearch){.pairs = PAIRS_MIXED | PAIRS_STORES, .meet = is_wrong, .found = add_wrong, .to = &wrong});
    if (wrong.n) qsort(wrong.v, wrong.n, sizeof *wrong.v, by_number);
    for (uint32_t i = 0, j = 0; i < L->accesses->all.n; i++) {
        const TensorAccess *a = L->accesses->all.v[i];
        L->stmt = a->info->stmt;
        if (a->write && L->values->scalar_reads[base_of(a->info->tensor)->index].hi) refuse_scalars(L, a);
        check_rows(L, a);
        if (across) check_repeated(L, a);
        for (; j < wrong.n && wrong.v[j].a == i; j++) {
            const TensorAccess *b = L->accesses->all.v[wrong.v[j].b];
            if (!check_teams(L, a, b)) continue;
            L->stmt = b->info->stmt;
            refuse_order(L, a, b);
        }
    }
    L->stmt = NULL;
}
