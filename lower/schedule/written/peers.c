/* Moves between the CTAs of a cluster in the roles of the source: their protocol is the program's.
 *
 * `commit b` announces a multicast's bytes on the own b, on which the parts that the CTAs bring all complete; `commit
 * peer(b, r)` announces and arrives at CTA r, like the own one does for a load.
 */
#include "lower/emit/values.h"
#include "lower/schedule/written/sync.h"

/* What other CTAs write needs a barrier that both sides know. */
bool role_committed(Lower *L, const PStmt *st)
{
    const PMove *mv = st->move;
    if (mv->commit == COMMIT_BARRIER) return true;
    Diag *g = lower_error(L, E0771, st->span, "in `roles` nothing says when this has arrived in the other CTAs");
    diag_fix(L->c->diags, g, mv->cast != CAST_NONE ? "`commit` a barrier, and `wait` for it in every CTA that it reaches"
                                                   : "`commit peer(b, rank)`, and `wait b` in the CTA that it reaches");
    return false;
}

/* ---- multicast (mask) ---- */

/* Known only at run time: `expect` says what arrives, and here no more than that it names CTAs of the cluster. */
static bool open_mask(Lower *L, MoveInfo *mi)
{
    const Sx *x = mi->mv->mask;
    int64_t lo, hi, most = (INT64_C(1) << L->cluster_size) - 1;
    Lx cond = 0;
    mi->open_mask = true;
    L->remote = true;
    scalar_range(L, x, &lo, &hi);
    if (lo >= 0 && hi <= most) return true;
    Poly p = scalar_poly(L, x);
    Need low = need_at_least(L, p, 0, &cond), high = need_at_most(L, p, most, &cond);
    const char *text = arena_printf(L->a, "0 <= %s <= %lld", poly_text(L, p), (long long)most);
    if (low <= NEED_CHECK && high <= NEED_CHECK &&
        (cond == 0 || launch_check(L, E1142, cond, mi->mv->cast_span, text, "the mask names CTAs of the cluster")))
        return true;
    Diag *g = lower_error(L, E0532, mi->mv->cast_span, "the mask `%s` is not proved to be 0 to %lld",
                          source_text(L, x->span), (long long)most);
    diag_fix(L->c->diags, g, "multicast ((%s) & %lld)", source_text(L, x->span), (long long)most);
    return false;
}

void role_mask_value(Lower *L, MoveInfo *mi)
{
    int64_t lo, hi, most = (INT64_C(1) << L->cluster_size) - 1;
    mi->mask = value_low(L, mi->mv->mask);
    if (!mi->open_mask) return;
    scalar_range(L, mi->mv->mask, &lo, &hi);
    if (lo < 0 || hi > most) mi->mask = emit_op(L, IR_AND, IR_I32, mi->mask, opnd_imm(most)); /* to be seen in the value itself */
}

bool role_mask(Lower *L, MoveInfo *mi)
{
    const PMove *mv = mi->mv;
    int64_t mask;
    for (int r = 0; r < L->cluster_size; r++) {
        if (left_out_at(L, r)) continue;
        Poly p = scalar_at_rank(L, mv->mask, r);
        if (!poly_is_const(p, &mask)) {
            if (mv->commit == COMMIT_BARRIER) return open_mask(L, mi);
            Diag *g = lower_error(L, E0772, mv->cast_span, "the mask %s is not known at rank %d", poly_text(L, p), r);
            diag_fix(L->c->diags, g, "compute it from cluster.rank, or put moves with constant masks under `if`");
            return false;
        }
        if (mask < 1 || mask >= INT64_C(1) << L->cluster_size) {
            lower_error(L, E0532, mv->cast_span, "the mask is %lld at rank %d; of a cluster of %lld it is 1 to %lld",
                        (long long)mask, r, (long long)L->cluster_size, (long long)((INT64_C(1) << L->cluster_size) - 1));
            return false;
        }
        for (int to = 0; to < L->cluster_size; to++) mi->from[to] += (uint8_t)(mask >> to & 1);
    }
    L->remote = true;
    return true;
}

static Opnd times(Lower *L, Opnd bytes, int64_t n)
{
    return emit_op(L, IR_MUL, IR_I32, bytes, opnd_imm(n));
}

Opnd role_mask_bytes(Lower *L, const MoveInfo *mi, Opnd bytes)
{
    Opnd all = times(L, bytes, mi->from[0]), rank = opnd_imm(0);
    bool same = true;
    for (int r = 1; r < L->cluster_size; r++) same = same && mi->from[r] == mi->from[0];
    if (!same) rank = emit_sreg(L, IRR_CLUSTER_CTARANK);
    for (int r = 1; r < L->cluster_size && !same; r++)
        all = emit_sel(L, IR_I32, emit_cmp(L, IRL_EQ, rank, opnd_imm(r)), times(L, bytes, mi->from[r]), all);
    return all;
}
