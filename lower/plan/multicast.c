/* Each CTA of a multicast's set brings a part where the layout's pattern stays whole. */
#include "lower/emit/values.h"
#include "lower/plan/copies.h"

const Peers NO_PEERS = {.shares = {.n = 1, .dim = -1}};

Peers *peers_new(Lower *L, MoveInfo *mi)
{
    if (mi->peers == NULL) {
        mi->peers = arena_new(L->a, Peers);
        *mi->peers = NO_PEERS;
    }
    return mi->peers;
}

static bool splits(Lower *L, const MoveInfo *mi, PCast cast, int64_t *n)
{
    *n = cluster_size_of(L, cast);
    bool rows = is_rows4(mi->mv); /* four at a time */
    if (mi->npairs == 0 || (mi->mv->via == VIA_MAP && !rows)) return false;
    const PDim *d = &mi->g->dim[mi->pair[0].tensor_dim];
    int64_t span = tile_span(mi->tile);
    if (rows && d->extent / *n % 4 != 0) return false;
    int64_t atom = span ? span * 8 : SMEM_TMA_ALIGN;
    return d->extent % *n == 0 && mi->pair[0].tile_dim == 0 && d->extent / *n * tile_pitch_bits(mi->tile, 0) / 8 % atom == 0 && d->step == 1 &&
           (mi->tile->rank > 1 || span == 0);
}

static PRegion *copy_of(Lower *L, const PRegion *r)
{
    PRegion *copy = arena_new(L->a, PRegion);
    *copy = *r;
    copy->dim = arena_array(L->a, PDim, (size_t)r->rank);
    memcpy(copy->dim, r->dim, (size_t)r->rank * sizeof *r->dim);
    return copy;
}

static void split(Lower *L, MoveInfo *mi, int64_t n)
{
    const Pair *pair = &mi->pair[0];
    PRegion *g = copy_of(L, mi->g), *s = copy_of(L, mi->s);
    int64_t part = g->dim[pair->tensor_dim].extent / n;
    g->dim[pair->tensor_dim].extent = s->dim[pair->tile_dim].extent = part;
    g->dim[pair->tensor_dim].whole = false;
    mi->bytes /= n;
    mi->g = g;
    mi->s = s;
    peers_new(L, mi)->shares = (Shares){.n = n, .step = part, .bytes = part * tile_pitch_bits(mi->tile, 0) / 8, .dim = pair->tensor_dim};
}

bool plan_multicast(Lower *L, MoveInfo *mi)
{
    const PMove *mv = mi->mv;
    int64_t n;
    if (mv->cast == CAST_NONE || cluster_size_of(L, mv->cast) == 1) return true;
    if (!cluster_equal(L, mv, mv->cast)) return false;
    L->remote = true;
    if (splits(L, mi, mv->cast, &n)) split(L, mi, n);
    return true;
}

Opnd multicast_values(Lower *L, const MoveInfo *mi, CopyValues *v)
{
    const Shares *p = &move_peers(mi)->shares;
    Opnd share = cluster_share(L, mi->mv->cast);
    v->mask = cluster_mask(L, mi->mv->cast);
    if (p->n == 1) return emit_cmp(L, IRL_EQ, share, opnd_imm(0)); /* one brings all */
    v->share_at = emit_op(L, IR_MUL, IR_I32, share, opnd_imm(p->step));
    v->share_byte = emit_op(L, IR_MUL, IR_I32, share, opnd_imm(p->bytes));
    return opnd_imm(1);
}
