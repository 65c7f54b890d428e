/* Each CTA of a multicast's set brings a part where the layout's pattern stays whole. */
#include "lower/emit/values.h"
#include "lower/plan/copies.h"

static bool splits(Lower *L, const MoveInfo *mi, PCast cast, int64_t *n)
{
    *n = cluster_size_of(L, cast);
    bool rows = is_rows4(mi->mv); /* four at a time */
    if (mi->npairs == 0 || (mi->mv->via == VIA_MAP && !rows)) return false;
    const Pair *p = &mi->pair[0];
    if (rows && p->extent / *n % 4 != 0) return false;
    int64_t atom = mi->span ? mi->span * 8 : SMEM_TMA_ALIGN;
    return p->extent % *n == 0 && p->tile_dim == 0 && p->extent / *n * mi->pitch_bits[0] / 8 % atom == 0 &&
           mi->step[p->tensor_dim] == 1 && (mi->tile->rank > 1 || mi->span == 0);
}

static PRegion *copy_of(Lower *L, const PRegion *r)
{
    PRegion *copy = arena_new(L->a, PRegion);
    *copy = *r;
    copy->dim = arena_array(L->a, PDim, (size_t)r->rank);
    memcpy(copy->dim, r->dim, (size_t)r->rank * sizeof *r->dim);
    return copy;
}

static void split(Lower *L, MoveInfo *mi, Shares *p, int64_t n)
{
    Pair *pair = &mi->pair[0];
    PRegion *g = copy_of(L, mi->g), *s = copy_of(L, mi->s);
    p->n = n;
    p->dim = pair->tensor_dim;
    pair->extent /= n;
    g->dim[pair->tensor_dim].extent = s->dim[pair->tile_dim].extent = mi->extent[pair->tensor_dim] = pair->extent;
    g->dim[pair->tensor_dim].whole = false;
    mi->bytes /= n;
    mi->g = g;
    mi->s = s;
    p->step = pair->extent;
    mi->past[p->dim] = (n - 1) * p->step;
    p->bytes = pair->extent * mi->pitch_bits[0] / 8;
}

bool plan_multicast(Lower *L, MoveInfo *mi, Shares *shares)
{
    const PMove *mv = mi->mv;
    int64_t n;
    *shares = (Shares){.n = 1, .dim = -1};
    if (mv->cast == CAST_NONE || cluster_size_of(L, mv->cast) == 1) return true;
    if (!cluster_equal(L, mv, mv->cast)) return false;
    L->remote = true;
    if (splits(L, mi, mv->cast, &n)) split(L, mi, shares, n);
    return true;
}

Opnd multicast_values(Lower *L, MoveInfo *mi, PCast cast, const Shares *p)
{
    Opnd share = cluster_share(L, cast);
    mi->mask = cluster_mask(L, cast);
    if (p->n == 1) return emit_cmp(L, IRL_EQ, share, opnd_imm(0)); /* one brings all */
    mi->share_dim = p->dim;
    mi->share_at = emit_op(L, IR_MUL, IR_I32, share, opnd_imm(p->step));
    mi->share_byte = emit_op(L, IR_MUL, IR_I32, share, opnd_imm(p->bytes));
    return opnd_imm(1);
}
