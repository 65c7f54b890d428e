/* Ranks that moves between CTAs name, and those that the conditions around a statement leave out. */
#include "lower/emit/values.h"
#include "lower/kernel/report.h"
#include "lower/schedule/peers.h"
#include "lower/schedule/written/sync.h"

/* ---- conditions around ---- */

void cluster_may(Lower *L, const Sx *cond, uint16_t *may, uint16_t *may_not)
{
    bool differs = L->cluster_size > 1 && scalar_uses(L, cond) & L->scalars->by_rank;
    int now = cond_now(L, cond);
    *may = *may_not = 0;
    for (int r = 0; r < L->cluster_size; r++) {
        if (differs) {
            cluster_rank(L, r);
            now = cond_now(L, cond);
        }
        if (now != 0) *may |= (uint16_t)(1u << r);
        if (now != 1) *may_not |= (uint16_t)(1u << r);
    }
    if (differs) cluster_rank(L, -1);
}

bool cluster_decides(Lower *L, const Sx *cond)
{
    uint16_t may, may_not;
    if (L->cluster_size == 1) return false;
    cluster_may(L, cond, &may, &may_not);
    return !(may & may_not);
}

void around_enter(Lower *L, const PStmt *branch, bool other, bool followed)
{
    Sync *s = L->sync;
    uint16_t may, may_not;
    Around a = {.branch = branch, .other = other, .followed = followed, .block = s->block};
    if (followed) {
        cluster_may(L, branch->value, &may, &may_not);
        a.out = (uint16_t)~(other ? may_not : may);
    }
    Around *all = arena_array(L->a, Around, s->naround + 1);
    for (uint32_t i = 0; i < s->naround; i++) all[i] = s->around[i];
    all[s->naround++] = a;
    s->around = all;
}

bool left_out_at(const Lower *L, int rank)
{
    bool out = false;
    for (uint32_t i = 0; i < L->sync->naround; i++) out |= L->sync->around[i].out >> rank & 1;
    return out;
}

/* ---- ranks that are named ---- */

bool cluster_named_in(Lower *L, const Sx *peer, Span at, bool others, const PeerTurns *t, int target[RANKS_MAX])
{
    for (int r = 0; r < L->cluster_size; r++) {
        int64_t k, any;
        target[r] = -1;
        if (left_out_at(L, r)) continue;
        Poly p = scalar_at_rank(L, peer, r);
        bool by_turn = !poly_is_const(p, &any);
        const char *in = by_turn ? " in a turn of the loop" : "";
        for (int i = 0; t && i < t->n; i++) p = domain_with(L->d, p, t->index[i], poly_const(L->d, t->at[i]));
        if (!poly_is_const(p, &k))
            return cannot(L, NULL, E0742, at, (Span){0, 0}, NULL,
                          "make it of cluster.rank, constants and indices of loops between constants: `(cluster.rank + 1) % cluster.size`",
                          "the rank `%s` is not known for each CTA of the cluster", source_text(L, peer->span));
        if (k < 0 || k >= L->cluster_size) {
            const char *fix = by_turn                ? "count round: `.. % cluster.size`"
                              : peer->op == SX_CONST ? arena_printf(L->a, "name a rank that there is: 0 to %lld", (long long)L->cluster_size - 1)
                                                     : arena_printf(L->a, "leave that rank out, `if cluster.rank != %d { .. }`, or count round: `.. %% cluster.size`", r);
            return cannot(L, NULL, E0531, at, (Span){0, 0}, NULL, fix, "rank %lld of a cluster of %lld, at rank %d%s", (long long)k, (long long)L->cluster_size, r, in);
        }
        if (others && k == r) {
            const char *fix = by_turn               ? "leave that turn out by the loop's bounds, such as `1 .. cluster.size`"
                              : peer->op == SX_RANK ? "name another rank: `(cluster.rank + 1) % cluster.size`"
                                                    : arena_printf(L->a, "leave that rank out: `if cluster.rank != %d { .. }`", r);
            return cannot(L, NULL, E0618, at, (Span){0, 0}, NULL, fix, "at rank %d the peer is the CTA itself%s", r, in);
        }
        target[r] = (int)k;
    }
    return true;
}

uint32_t peers_filled(const Lower *L, const MoveInfo *mi, int rank)
{
    const Peers *peers = move_peers(mi);
    PCast cast = mi->mv->cast;
    if (peers->open_mask) return (1u << L->cluster_size) - 1;
    if (mi->mv->dst.peer || cast == CAST_MASK) return peers->to[rank];
    return cast != CAST_NONE ? cluster_set(L, cast, rank) : 1u << rank;
}

/* ---- multicast (mask) ---- */

/* Known only at run time: `expect` says what arrives, and here no more than that it names CTAs of the cluster. */
static bool open_mask(Lower *L, MoveInfo *mi)
{
    const Sx *x = mi->mv->mask;
    int64_t most = (INT64_C(1) << L->cluster_size) - 1;
    peers_new(L, mi)->open_mask = true;
    L->remote = true;
    if (need_within(L, scalar_poly(L, x), most, E1142, mi->mv->cast_span, "the mask names CTAs of the cluster")) return true;
    const char *mask = source_text(L, x->span), *fix = arena_printf(L->a, "multicast ((%s) & %lld)", mask, (long long)most);
    return cannot(L, NULL, E0532, mi->mv->cast_span, (Span){0, 0}, NULL, fix, "the mask `%s` is not proved to be 0 to %lld", mask, (long long)most);
}

Opnd mask_value(Lower *L, const MoveInfo *mi)
{
    int64_t most = (INT64_C(1) << L->cluster_size) - 1;
    Opnd mask = value_low(L, mi->mv->mask);
    bool within = !move_peers(mi)->open_mask || interval_within(scalar_range(L, mi->mv->mask), 0, most);
    return within ? mask : emit_op(L, IR_AND, IR_I32, mask, opnd_imm(most)); /* to be seen in the value itself */
}

bool mask_plan(Lower *L, MoveInfo *mi)
{
    Peers *peers = peers_new(L, mi);
    const PMove *mv = mi->mv;
    int64_t mask;
    for (int r = 0; r < L->cluster_size; r++) {
        if (left_out_at(L, r)) continue;
        Poly p = scalar_at_rank(L, mv->mask, r);
        if (!poly_is_const(p, &mask)) {
            if (mv->commit == COMMIT_BARRIER) return open_mask(L, mi);
            return cannot(L, NULL, E0621, mv->cast_span, (Span){0, 0}, NULL, "in `roles`, `commit b`, and `expect b, bytes;` in each CTA that waits",
                          "how many bytes each CTA gets is only known at run time");
        }
        if (mask < 1 || mask >= INT64_C(1) << L->cluster_size)
            return cannot(L, NULL, E0532, mv->cast_span, (Span){0, 0}, NULL, NULL, "the mask is %lld at rank %d; of a cluster of %lld it is 1 to %lld",
                          (long long)mask, r, (long long)L->cluster_size, (long long)((INT64_C(1) << L->cluster_size) - 1));
        peers->to[r] = (uint16_t)mask;
        for (int i = 0; i < L->cluster_size; i++) peers->from[i] += (uint8_t)(mask >> i & 1);
    }
    L->remote = true;
    return true;
}

Opnd mask_bytes(Lower *L, const MoveInfo *mi, Opnd bytes)
{
    const uint8_t *from = move_peers(mi)->from;
    Opnd all = emit_op(L, IR_MUL, IR_I32, bytes, opnd_imm(from[0])), rank = opnd_imm(0);
    bool same = true;
    for (int r = 1; r < L->cluster_size; r++) same = same && from[r] == from[0];
    if (!same) rank = emit_sreg(L, IRR_CLUSTER_CTARANK);
    for (int r = 1; r < L->cluster_size && !same; r++) {
        Opnd its = emit_op(L, IR_MUL, IR_I32, bytes, opnd_imm(from[r]));
        all = emit_sel(L, IR_I32, emit_cmp(L, IRL_EQ, rank, opnd_imm(r)), its, all);
    }
    return all;
}
