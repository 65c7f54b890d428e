/* Teams of several CTAs: what differs by rank is worked out for each of the at most 16 ranks. */
#include "lower/parts.h"

static int64_t width(const Lower *L, int axis)
{
    return L->k->cluster[axis];
}

/* The CTA of a rank, in a cluster that may be any. */
static void set_rank(Lower *L, int rank)
{
    Domain *d = L->d;
    L->rank = poly_const(d, rank);
    for (int i = 0; i < 3; rank /= (int)width(L, i), i++) {
        Poly n = poly_const(d, width(L, i));
        L->cluster[i] = poly_const(d, rank % width(L, i));
        if (width(L, i) > 1) L->cta[i] = poly_add(d, poly_mul(d, poly_div(d, L->any_cta[i], n), n), L->cluster[i]);
    }
}

void cluster_rank(Lower *L, int rank)
{
    if (L->at_rank < 0) {
        memcpy(L->any_cta, L->cta, sizeof L->cta);
        memcpy(L->any_cluster, L->cluster, sizeof L->cluster);
        L->any_rank = L->rank;
    }
    L->at_rank = rank;
    if (rank < 0) {
        memcpy(L->cta, L->any_cta, sizeof L->cta);
        memcpy(L->cluster, L->any_cluster, sizeof L->cluster);
        L->rank = L->any_rank;
    } else {
        set_rank(L, rank);
    }
    scalars_forget(L, USE_TEAM);
}

static bool along(PCast cast, int axis)
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
            in = in && (along(cast, i) || r / scale % width(L, i) == rank / scale % width(L, i));
            scale *= width(L, i);
        }
        if (in) set |= UINT32_C(1) << r;
    }
    return set;
}

uint32_t cluster_size_of(const Lower *L, PCast cast)
{
    return (uint32_t)__builtin_popcount(cluster_set(L, cast, 0));
}

static Opnd coordinate_value(Lower *L, int axis)
{
    return width(L, axis) == 1 ? opnd_imm(0) : emit_sreg(L, (IrReg)(IRR_CLUSTER_CTAID_X + axis));
}

Opnd cluster_share(Lower *L, PCast cast)
{
    Opnd at = opnd_imm(0);
    int64_t scale = 1;
    for (int i = 0; i < 3; i++) {
        if (!along(cast, i)) continue;
        at = emit_op(L, IR_ADD, IR_I32, at, emit_op(L, IR_MUL, IR_I32, coordinate_value(L, i), opnd_imm(scale)));
        scale *= width(L, i);
    }
    return at;
}

/* The set's rank of least number: this CTA's with the coordinates along the set at 0. */
static Opnd first_member(Lower *L, PCast cast)
{
    Opnd at = opnd_imm(0);
    int64_t scale = 1;
    for (int i = 0; i < 3; scale *= width(L, i), i++) {
        if (along(cast, i)) continue;
        at = emit_op(L, IR_ADD, IR_I32, at, emit_op(L, IR_MUL, IR_I32, coordinate_value(L, i), opnd_imm(scale)));
    }
    return at;
}

static int nth(uint32_t set, uint32_t i)
{
    while (i--) set &= set - 1;
    return __builtin_ctz(set);
}

Opnd cluster_member(Lower *L, PCast cast, uint32_t i)
{
    return emit_op(L, IR_ADD, IR_I32, first_member(L, cast), opnd_imm(nth(cluster_set(L, cast, 0), i)));
}

Opnd cluster_mask(Lower *L, PCast cast)
{
    return emit_op(L, IR_SHL, IR_I32, opnd_imm(cluster_set(L, cast, 0)), first_member(L, cast));
}

bool cluster_equal(Lower *L, const PMove *mv, PCast cast)
{
    const PRegion *g = &mv->src;
    bool same = true;
    for (int d = 0; d < g->rank && same; d++) {
        Poly at[16];
        for (int r = 0; r < L->cluster_size; r++) {
            cluster_rank(L, r);
            at[r] = scalar_poly(L, g->dim[d].start);
        }
        cluster_rank(L, -1);
        for (int r = 0; r < L->cluster_size && same; r++)
            same = domain_eq(L->d, at[r], at[__builtin_ctz(cluster_set(L, cast, r))]);
        if (same) continue;
        Diag *e = lower_error(L, E0620, g->dim[d].span,
                              "this start, %s, is not proved to be the same in all CTAs of the multicast",
                              poly_text(L, scalar_poly(L, g->dim[d].start)));
        diag_label(L->c->diags, e, mv->cast_span, "each of them brings a part of one box");
        diag_fix(L->c->diags, e, "let the start depend on nothing that differs between them, or leave the multicast out");
    }
    return same;
}

/* The front end has refused what it could; here are the ranks that only normal forms tell. */
static bool ranks_named(Lower *L, const Sx *peer, Span at, bool copy, int target[16])
{
    for (int r = 0; r < L->cluster_size; r++) {
        int64_t k;
        target[r] = -1;
        if (sync_left_out(L, r)) continue;
        cluster_rank(L, r);
        Poly p = scalar_poly(L, peer);
        cluster_rank(L, -1);
        if (!poly_is_const(p, &k)) {
            Diag *g = lower_error(L, E0742, at, "the rank %s is not known for each CTA of the cluster", poly_text(L, p));
            diag_fix(L->c->diags, g, "compute it from cluster.rank: `(cluster.rank + 1) %% cluster.size`");
            return false;
        }
        if (k < 0 || k >= L->cluster_size) {
            lower_error(L, E0531, at, "rank %lld of a cluster of %lld, at rank %d", (long long)k, (long long)L->cluster_size, r);
            return false;
        }
        if (copy && k == r) {
            Diag *g = lower_error(L, E0618, at, "at rank %d the peer is the CTA itself", r);
            diag_fix(L->c->diags, g, "name another rank: `(cluster.rank + 1) %% cluster.size`");
            return false;
        }
        target[r] = (int)k;
    }
    return true;
}

bool cluster_peers(Lower *L, const Sx *peer, Span at, int target[16])
{
    return ranks_named(L, peer, at, true, target);
}

bool cluster_named(Lower *L, const Sx *peer, Span at, int target[16])
{
    return ranks_named(L, peer, at, false, target);
}
