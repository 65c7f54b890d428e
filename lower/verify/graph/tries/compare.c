/* Which comparisons, minima and maxima of a loop's index the runs decide. A run has few turns, so what comes out of a comparison in them tells
 * of longer loops only where it is
 * - the same in all turns, or made from the index modulo a small constant;
 * - `k < c`: the turn at which it changes is one of the first F;
 * - `k + c < n` with n the end of the loop, and c small: the last E turns of every run are those of a longer one;
 * Others are held open: of sizes alone, against another size, against twice the index, far from both ends, of two indices. Chosen trip
 * counts make them of two numbers, which don't tell of longer loops: they are what their operands make of them without what was
 * chosen, launch values as these stand and indices of which nothing is known but their bounds (unroll/run.c, unroll/blocks.c).
 *
 * Several comparisons may meet, of one loop or of loops that roles pass side by side, so F and E are the farthest of
 * all. Between them a loop of 2 S + 1 turns has as many as it has without such comparisons, in which nothing but the remainders of
 * joint moduli tells one turn from another: each remainder has a turn with the turns in front of it and behind it that it
 * reaches (the slots of a ring), so it meets every condition as it does in longer loops. Windows of those that begin
 * in the first F turns end before the last E.
 *
 * Where the turns of a loop around differ in this way, or by remainders, the loops inside have each number of turns in each
 * of those, and in one behind those: that takes F + E + 2 turns, and as many as there are remainders (v->together); three times those where barriers
 * are used under conditions: a barrier's phases may be one in each period, and the third tells what the next ones do.
 */
#include "lower/verify/graph/tries/tries.h"
#include "lower/verify/graph/values/values.h"

static void reaches(uint32_t *of_loop, uint32_t *of_all, int64_t turns)
{
    if (turns > *of_loop) *of_loop = (uint32_t)turns;
    if (turns > *of_all) *of_all = (uint32_t)turns;
}

/* c * turn - far, or far - c * turn, compared with 0: how many turns are not as those behind them. */
static int64_t turns_before(const IrOp *op, int64_t c, int64_t far)
{
    IrRel rel = op->op == IR_CMP ? (IrRel)ir_find(op, IRK_REL)->id : c < 0 ? IRL_LE : IRL_LT;
    bool from_there = c < 0 ? rel == IRL_LE || rel == IRL_GT : rel == IRL_LT || rel == IRL_GE;
    int64_t by = c < 0 ? -c : c;
    return far / by + (far % by || !from_there);
}

/* How far it goes to either side, whatever the indices of loops with a fixed number of turns are. */
static bool widest(Domain *d, Poly x, int64_t *most)
{
    Poly lo, hi;
    int64_t least, greatest;
    if (!domain_min(d, x, &lo) || !domain_max(d, x, &hi)) return false;
    if (!poly_is_const(lo, &least) || !poly_is_const(hi, &greatest)) return false;
    if (least <= INT32_MIN || greatest >= INT32_MAX) return false;
    *most = -least > greatest ? -least : greatest;
    return true;
}

/* What is compared is c times the loop's turn, from 0, and the rest, in which there is no other one. */
static bool against(Verifier *v, PolyPlace *w, uint32_t at, uint32_t loop, int64_t c, Poly rest)
{
    Domain *d = polys_domain(v->polys);
    Poly by = poly_const(d, c), lo = poly_of(w, v->operands[loop].a), end = poly_of(w, v->operands[loop].b);
    int64_t k, far;
    if (widest(d, rest, &far) || (domain_le(d, poly_const(d, 0), lo) && widest(d, poly_sub(d, rest, poly_mul(d, by, lo)), &far))) {
        bool early = far / (c < 0 ? -c : c) <= v->base;
        if (early) reaches(&v->unlike[loop].front, &v->front, turns_before(v->ops[at], c, far));
        if (early || !v->is_long[loop]) return early;
    }
    if ((c != 1 && c != -1) || (poly_is_const(end, &k) && !v->is_long[loop])) return false;
    if (!widest(d, poly_add(d, rest, poly_mul(d, by, poly_sub(d, end, lo))), &far) || far > (int64_t)v->base + 1) return false;
    reaches(&v->unlike[loop].end, &v->end, far);
    return true;
}

/* What comes round is a number in the runs, whatever it is made from: k - k / 2 * 2. */
static bool settled(const Verifier *v, uint32_t at)
{
    const Round *r = v->operands[at].pure ? &v->rounds[v->ops[at]->dst - 1] : NULL;
    return r && r->loops && !r->given && round_returns(r) && v->joint % r->turns == 0;
}

bool compare_known(Verifier *v, uint32_t at)
{
    const IrOp *op = v->ops[at];
    const Round *r = &v->rounds[op->dst - 1];
    if (r->loops == 0 && (!r->given || op->op != IR_CMP)) return true;
    if (r->loops && !r->given && round_returns(r)) return settled(v, at);
    Site here = {.op = at};
    if (v->polys == NULL) v->polys = polys_new(v);
    Domain *d = polys_domain(v->polys);
    PolyPlace w = poly_place(v, v->polys, &here);
    Poly b = poly_of(&w, v->operands[at].b), x = poly_sub(d, poly_of(&w, v->operands[at].a), b), rest;
    uint32_t loop = v->nops, loops = 0;
    Atom index = 0;
    int64_t c;
    for (uint32_t one = verify_around(v, at); one < v->nops; one = verify_around(v, one)) {
        if (v->ops[one]->op != IR_LOOP || !(r->loops & v->loop_bit[one])) continue;
        Poly first = poly_of(&w, v->operands[one].a);
        Poly turn = poly_sub(d, poly_of(&w, &(IrArg){.kind = IRA_VAL, .id = v->ops[one]->dst}), first);
        if (poly_is_const(turn, &c) || !domain_mentions(d, x, turn.terms[0].atoms[0])) continue;
        index = turn.terms[0].atoms[0];
        loop = one;
        loops++;
    }
    if (loops == 0) return poly_is_const(x, &c);
    if (loops != 1 || !domain_linear(d, x, index, &c, &rest) || c == INT64_MIN) return false;
    return against(v, &w, at, loop, c, rest);
}

static bool index_followed(const Verifier *v, uint32_t at)
{
    const Round *r = &v->rounds[v->ops[at]->dst - 1];
    return r->loops == 0 || (round_returns(r) && v->joint % r->turns == 0);
}

static bool followed(Verifier *v, uint32_t at)
{
    switch ((IrOpcode)v->ops[at]->op) {
    case IR_CMP:
    case IR_MIN:
    case IR_MAX: return compare_known(v, at);
    case IR_DIV:
    case IR_MOD:
    case IR_SHR:
    case IR_AND:
    case IR_OR:
    case IR_XOR: return v->ops[at]->type == IR_PRED || index_followed(v, at);
    default: return true;
    }
}

/* 2 S + 1 turns are at least the first F, the last E, and what loops without ends have between them. Where the order of
 * events is the same in all turns, only the copies and their bytes being under conditions, it is proved by any of
 * them: it is enough that both accesses of each pair lie between the ends. */
static void fit(Verifier *v)
{
    uint32_t least = v->slots > v->joint ? v->slots : v->joint;
    uint32_t plain = 2 * least + 1, reach = 2 * v->slots + v->joint;
    uint32_t between = !v->uneven ? v->slots + v->joint : plain > reach ? plain : reach;
    uint32_t all = v->front + v->end + between;
    if (!v->few && v->front + v->end && v->ring < all / 2) v->ring = all / 2;
}

/* By op: something uses it that is not settled. What a comparison comes to is asked of all that it compares. */
static bool *asked_for(const Verifier *v)
{
    bool *asked = arena_array(v->arena, bool, v->nops + 1);
    for (uint32_t i = v->nops; i-- > 0;) {
        const IrOp *op = v->ops[i];
        if (op->op == IR_CMP || settled(v, i) || (v->operands[i].pure && !asked[i])) continue;
        if (op->guard.pred) asked[v->def[op->guard.pred - 1]] = true;
        for (uint32_t j = 0; j < op->nargs; j++)
            if (op->args[j].kind == IRA_VAL && (v->operands[i].pure || cones_steers(op, (IrKey)op->args[j].key))) asked[v->def[op->args[j].id - 1]] = true;
    }
    return asked;
}

void compare_prepare(Verifier *v)
{
    const bool *asked = asked_for(v);
    v->open = arena_array(v->arena, bool, v->nops + 1);
    v->front = v->end = 0;
    for (uint32_t i = 0; i < v->nops; i++) v->unlike[i].front = v->unlike[i].end = 0;
    for (uint32_t i = 0; i < v->nops; i++) {
        v->open[i] = v->cone[i] & CONE_STEERS && asked[i] && !followed(v, i);
        if (v->ops[i]->op == IR_CMP && (v->cone[i] & (CONE_STEERS | CONE_SYNC)) == CONE_SYNC) compare_known(v, i); /* turns that it tells apart */
    }
    for (uint32_t i = 0; i < v->nops; i++) reaches(&v->unlike[i].front, &v->front, v->unlike[i].front + period_first(v, i));
    fit(v);
    nests_together(v);
}
