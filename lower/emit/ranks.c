/* Who this CTA is in its cluster, and the sets of CTAs that a multicast reaches, as values. */
#include "lower/emit/values.h"

/* Of the coordinates along the set, or of the others: its rank there; all: as all CTAs are counted. */
static Opnd rank_of(Lower *L, PCast cast, bool along, bool all)
{
    Opnd at = opnd_imm(0);
    int64_t scale = 1;
    for (int i = 0; i < 3; i++) {
        int64_t n = L->k->cluster[i];
        bool of = cluster_along(cast, i) == along;
        if (of && n > 1) at = emit_op(L, IR_ADD, IR_I32, at, emit_op(L, IR_MUL, IR_I32, emit_sreg(L, (IrReg)(IRR_CLUSTER_CTAID_X + i)), opnd_imm(scale)));
        if (of || all) scale *= n;
    }
    return at;
}

Opnd cluster_share(Lower *L, PCast cast)
{
    return rank_of(L, cast, true, false);
}

/* The set's rank of least number: this CTA's with the coordinates along the set at 0. */
static Opnd first_member(Lower *L, PCast cast)
{
    return rank_of(L, cast, false, true);
}

Opnd cluster_member(Lower *L, PCast cast, uint32_t i)
{
    uint32_t set = cluster_set(L, cast, 0);
    while (i--) set &= set - 1;
    return emit_op(L, IR_ADD, IR_I32, first_member(L, cast), opnd_imm(__builtin_ctz(set)));
}

Opnd cluster_mask(Lower *L, PCast cast)
{
    return emit_op(L, IR_SHL, IR_I32, opnd_imm(cluster_set(L, cast, 0)), first_member(L, cast));
}
