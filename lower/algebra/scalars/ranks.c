/* Teams of several CTAs: what differs by rank is worked out for each of the at most 16 ranks. */
#include "lower/algebra/scalars/scalars.h"
#include "lower/kernel/report.h"

enum { SAME_FUEL = 64 };

/* The CTA of a rank, in a cluster that may be any. */
static void set_rank(Lower *L, int rank)
{
    Domain *d = L->d;
    struct Scalars *s = L->scalars;
    s->rank = poly_const(d, rank);
    for (int i = 0; i < 3; rank /= (int)L->k->cluster[i], i++) {
        Poly n = poly_const(d, L->k->cluster[i]);
        s->cluster[i] = poly_const(d, rank % L->k->cluster[i]);
        if (L->k->cluster[i] > 1) s->cta[i] = poly_add(d, poly_mul(d, poly_div(d, s->any_cta[i], n), n), s->cluster[i]);
    }
}

void cluster_rank(Lower *L, int rank)
{
    struct Scalars *s = L->scalars;
    if (s->at_rank < 0) {
        memcpy(s->any_cta, s->cta, sizeof s->cta);
        memcpy(s->any_cluster, s->cluster, sizeof s->cluster);
        s->any_rank = s->rank;
    }
    s->at_rank = rank;
    if (rank < 0) {
        memcpy(s->cta, s->any_cta, sizeof s->cta);
        memcpy(s->cluster, s->any_cluster, sizeof s->cluster);
        s->rank = s->any_rank;
    } else {
        set_rank(L, rank);
    }
    s->ranks++;
}

bool cluster_along(PCast cast, int axis)
{
    return cast == CAST_ALL || (cast == CAST_X && axis == 0) || (cast == CAST_Y && axis == 1) ||
           (cast == CAST_Z && axis == 2);
}

uint32_t cluster_set(const Lower *L, PCast cast, int rank)
{
    uint32_t set = 0;
    for (int r = 0; r < L->cluster_size; r++) {
        bool in = true;
        int64_t scale = 1;
        for (int i = 0; i < 3; i++) {
            in = in && (cluster_along(cast, i) || r / scale % L->k->cluster[i] == rank / scale % L->k->cluster[i]);
            scale *= L->k->cluster[i];
        }
        if (in) set |= UINT32_C(1) << r;
    }
    return set;
}

uint32_t cluster_size_of(const Lower *L, PCast cast)
{
    return (uint32_t)__builtin_popcount(cluster_set(L, cast, 0));
}

/* ---- what all CTAs of a set have ---- */

Poly scalar_at_rank(Lower *L, const Sx *x, int rank)
{
    cluster_rank(L, rank);
    Poly p = scalar_poly(L, x);
    cluster_rank(L, -1);
    return p;
}

static void at_ranks(Lower *L, const Sx *x, Poly at[RANKS_MAX])
{
    for (int r = 0; r < L->cluster_size; r++) at[r] = scalar_at_rank(L, x, r);
}

/* In the CTAs of each set of a multicast, or (cast: NULL) of each pair. By normal forms, or because it is made of what is the same: no tensor that is read as scalars is written. */
static bool same_in(Lower *L, const Sx *x, const PCast *cast, int *fuel)
{
    Poly at[RANKS_MAX];
    bool same = true;
    if (x == NULL) return true;
    if (--*fuel < 0) return false;
    at_ranks(L, x, at);
    for (int r = 0; r < L->cluster_size && same; r++)
        same = domain_eq(L->d, at[r], at[cast ? __builtin_ctz(cluster_set(L, *cast, r)) : r & ~1]); /* PTX ISA, CTA Pair: ranks that differ in the last bit */
    if (same || x->op == SX_VAR) return same;
    if (x->op == SX_LET) return !(scalar_uses(L, x) & USE_VAR) && same_in(L, x->a, cast, fuel);
    if (x->op != SX_LOAD) return x->a && same_in(L, x->a, cast, fuel) && same_in(L, x->b, cast, fuel);
    for (int d = 0; d < x->tensor->rank; d++)
        if (!same_in(L, x->idx[d], cast, fuel)) return false;
    return true;
}

static bool same_for(Lower *L, const Sx *x, PCast cast)
{
    int fuel = SAME_FUEL;
    return same_in(L, x, &cast, &fuel);
}

bool cluster_pairs(Lower *L, const Sx *x)
{
    int fuel = SAME_FUEL;
    return same_in(L, x, NULL, &fuel);
}

bool cluster_same(Lower *L, const Sx *x)
{
    return same_for(L, x, CAST_ALL);
}

/* The front end knows in which dimensions of the cluster a variable may differ. */
static int first_alike(const Lower *L, int rank, unsigned dims)
{
    int first = 0, scale = 1;
    for (int i = 0; i < 3; i++) {
        int n = (int)L->k->cluster[i];
        if (dims >> i & 1) first += rank / scale % n * scale;
        scale *= n;
    }
    return first;
}

void cluster_assign(Lower *L, uint32_t var, const Sx *x, Poly of)
{
    unsigned dims = L->k->var_dims[var];
    if (dims == 0) return;
    Poly *at = arena_array(L->a, Poly, (size_t)L->cluster_size);
    at_ranks(L, x, at);
    for (int r = 0; r < L->cluster_size; r++) at[r] = at[first_alike(L, r, dims)];
    L->scalars->vars[var].by_rank = at;
    L->scalars->vars[var].ranked = of;
}

void cluster_let(Lower *L, uint32_t let, const Sx *x)
{
    uint8_t uses = scalar_uses(L, x);
    L->scalars->lets[let].by_rank = NULL;
    bool differs = (uses & USE_TEAM) || (L->scalars->by_rank & USE_VAR);
    if (L->cluster_size == 1 || !(uses & USE_VAR) || !differs || same_for(L, x, CAST_ALL)) return;
    Poly *at = arena_array(L->a, Poly, (size_t)L->cluster_size);
    at_ranks(L, x, at);
    L->scalars->lets[let].by_rank = at;
}

/* After loops and branches that set it, anything of which only the CTAs that agree are known. */
Poly cluster_var(Lower *L, uint32_t var)
{
    VarState *s = &L->scalars->vars[var];
    unsigned dims = L->k->var_dims[var];
    if (dims == 0) return s->poly;
    if (s->by_rank == NULL || !poly_same(s->ranked, s->poly)) {
        Poly *at = arena_array(L->a, Poly, (size_t)L->cluster_size);
        for (int r = 0; r < L->cluster_size; r++) {
            int first = first_alike(L, r, dims);
            at[r] = first == r ? var_unknown(L, var) : at[first];
        }
        s->by_rank = at;
        s->ranked = s->poly;
    }
    return s->by_rank[L->scalars->at_rank];
}

static bool agreed(Lower *L, const PMove *mv, PCast cast, const Sx *x, Span at, const char *what)
{
    if (x == NULL || same_for(L, x, cast)) return true;
    Diag *e = lower_error(L, E0620, at, "this %s, %s, is not proved to be the same in all CTAs of the multicast", what,
                          poly_text(L, scalar_poly(L, x)));
    diag_label(L->c->diags, e, mv->cast_span, "each of them brings a part of one box");
    diag_fix(L->c->diags, e, "let the %s depend on nothing that differs between them, or leave the multicast out", what);
    return false;
}

static bool rows_agreed(Lower *L, const PMove *mv, PCast cast, const PDim *p)
{
    const PRows *rows = p->rows;
    for (int64_t i = 0; rows->tensor == NULL && i < p->extent; i++)
        if (!agreed(L, mv, cast, rows->list[i], rows->list[i]->span, "row")) return false;
    for (int d = 0; rows->tensor && d < rows->tensor->rank; d++)
        if (!agreed(L, mv, cast, rows->at[d], rows->at[d]->span, "place of the rows' numbers")) return false;
    return true;
}

bool cluster_equal(Lower *L, const PMove *mv, PCast cast)
{
    const PRegion *side[] = {&mv->src, &mv->dst};
    for (int i = 0; i < mv->noffset; i++)
        if (!agreed(L, mv, cast, mv->offset[i], mv->offset[i]->span, "offset")) return false;
    for (int i = 0; i < 2; i++)
        if (!agreed(L, mv, cast, mv->halo[i], mv->halo_at[i], "halo")) return false;
    for (int i = 0; i < 2; i++) {
        const PRegion *g = side[i];
        if (!agreed(L, mv, cast, g->slot, g->span, "slot")) return false;
        for (int d = 0; d < g->rank; d++) {
            const PDim *p = &g->dim[d];
            if (p->rows ? !rows_agreed(L, mv, cast, p) : !agreed(L, mv, cast, p->start, p->span, "start")) return false;
        }
    }
    return true;
}

/* ---- conditions ---- */

int cond_now(Lower *L, const Sx *x)
{
    int a, b;
    switch ((SxOp)x->op) {
    case SX_NOT: a = cond_now(L, x->a); return a < 0 ? a : !a;
    case SX_LAND:
    case SX_LOR:
        a = cond_now(L, x->a);
        b = cond_now(L, x->b);
        if (x->op == SX_LAND) return a == 0 || b == 0 ? 0 : a < 0 || b < 0 ? -1 : 1;
        return a == 1 || b == 1 ? 1 : a < 0 || b < 0 ? -1 : 0;
    default: break;
    }
    Poly p = scalar_poly(L, x->a), q = scalar_poly(L, x->b);
    bool less = domain_lt(L->d, p, q), more = domain_lt(L->d, q, p);
    switch ((SxOp)x->op) {
    case SX_EQ: return less || more ? 0 : domain_eq(L->d, p, q) ? 1 : -1;
    case SX_NE: return less || more ? 1 : domain_eq(L->d, p, q) ? 0 : -1;
    case SX_LT: return less ? 1 : domain_le(L->d, q, p) ? 0 : -1;
    case SX_GE: return less ? 0 : domain_le(L->d, q, p) ? 1 : -1;
    case SX_GT: return more ? 1 : domain_le(L->d, p, q) ? 0 : -1;
    default: return more ? 0 : domain_le(L->d, p, q) ? 1 : -1;
    }
}
