/* Loops in loops: which turns of those around those inside are to be met in, and what numbers of turns that differ from turn to turn tell. */
#include "lower/verify/graph/tries/tries.h"
#include "lower/verify/graph/unroll/unroll.h"

/* What its number of turns is made from. */
static Round turns_from(const Verifier *v, uint32_t loop)
{
    Round from = round_of_arg(v, v->operands[loop].a), to = round_of_arg(v, v->operands[loop].b);
    return (Round){.given = from.given | to.given, .loops = from.loops | to.loops};
}

bool nests_coupled(const Verifier *v, uint32_t loop)
{
    const Body *b = verify_body(v, loop);
    uint64_t given = turns_from(v, loop).given;
    bool inside = false, coupled = false;
    for (uint32_t i = 0; i < v->own.n; i++) {
        uint32_t other = v->own.v[i];
        if (other == loop || other < b->first || other >= b->end) continue;
        inside |= other > loop && other < v->partner[loop];
        Round from = turns_from(v, other);
        coupled |= (from.given & given) || (from.loops & v->loop_bit[loop]);
    }
    return inside && coupled;
}

/* How many loops of a number of turns that is chosen it is within, itself too; 0: it is none. */
static uint32_t depth_of(const Verifier *v, uint32_t loop)
{
    uint32_t depth = 0;
    if (!(v->block[loop] & BLOCK_EVENTS)) return 0;
    for (; loop < v->nops; loop = verify_around(v, loop)) depth++;
    return depth;
}

/* What tells turns of a loop apart. */
static void add_unlike(const Verifier *v, uint32_t loop, Unlike *all)
{
    const Unlike *u = &v->unlike[loop];
    if (v->ops[loop]->op != IR_LOOP) return;
    if (u->front > all->front) all->front = u->front;
    if (u->end > all->end) all->end = u->end;
    all->rounds |= u->rounds || period_steps(v, loop);
    if (period_mixed(v, loop)) all->front = 2 * v->ring + 1;
}

/* Where the turns of a loop differ by its index or by variables, it matters which of them those of a deeper loop are in, of its
 * role or another: of loops as deep as each other any may be in a turn at the same time. */
void nests_together(Verifier *v)
{
    Unlike *level = arena_array(v->arena, Unlike, v->deepest + 1);
    uint32_t deepest = 0;
    v->together = arena_array(v->arena, uint32_t, v->nops + 1);
    for (uint32_t i = 0; i < v->own.n; i++) {
        uint32_t depth = depth_of(v, v->own.v[i]);
        add_unlike(v, v->own.v[i], &level[depth]);
        if (depth > deepest) deepest = depth;
    }
    for (uint32_t i = 0; i < v->own.n; i++) {
        uint32_t depth = depth_of(v, v->own.v[i]);
        const Unlike *u = &level[depth];
        if (depth == 0) continue;
        if (depth < deepest && (u->front || u->end || u->rounds))
            v->together[v->own.v[i]] = u->front + u->end + (u->rounds ? (v->conditional ? 3 : 1) * v->joint : 1);
    }
}

/* ---- loops that turn more or less often from turn to turn of those around ---- */

typedef struct Touched { /* by some ops */
    uint64_t vars, sets, loops; /* variables that steer, indices of loops: a bit each */
} Touched;

static void touch(const Verifier *v, uint32_t op, Touched *t)
{
    const IrOp *o = v->ops[op];
    const Round *r = o->dst && v->cone[op] & (CONE_SYNC | CONE_PLACE | CONE_STEERS) ? &v->rounds[o->dst - 1] : NULL;
    if ((o->op == IR_SET || o->op == IR_VAR) && !v->parity[v->operands[op].var]) t->sets |= v->variable_bit[v->operands[op].var];
    if (r) t->vars |= r->vars, t->loops |= r->loops;
}

static bool is_anew(const Verifier *v, const IrArg *bound)
{
    Round r = round_of_arg(v, bound);
    return r.changes && r.given && (r.turns == 0 || r.given == ROUND_VARIABLE);
}

/* The runs have some sequences of such numbers, and no more: those of all turns equal, and some in which each two follow each other. They tell
 * of all where nothing but their sum counts for what the loop does, and nothing of it for the rest of its role: its turns are one after the other
 * those of one loop, if they differ by the index they step no variable, and what they step is their own. */
void nests_check(Verifier *v)
{
    for (uint32_t at = 0; at < v->own.n && !v->failed; at++) {
        uint32_t loop = v->own.v[at];
        Touched in = {0}, out = {0};
        uint64_t around = 0, parities = 0;
        if (v->ops[loop]->op != IR_LOOP || !(v->block[loop] & BLOCK_EVENTS) || verify_around(v, loop) == v->nops) continue;
        if (!is_anew(v, v->operands[loop].a) && !is_anew(v, v->operands[loop].b)) continue;
        const Body *b = verify_body(v, loop);
        uint32_t last = loop;
        for (uint32_t one = verify_around(v, loop); one < v->nops; one = verify_around(v, one)) around |= v->loop_bit[last = one];
        for (uint32_t i = 0; i < v->k->vars.n; i++) parities |= v->parity[i] ? v->variable_bit[i] : 0;
        for (uint32_t i = b->first; i < b->end; i++)
            if (i > loop && i < v->partner[loop]) touch(v, i, &in);
            else if (v->ops[i]->op != IR_VAR || (i > last && i < v->partner[last])) touch(v, i, &out);
        const char *why = in.loops & around                               ? "what it does there depends on which turn that is"
                          : in.sets && in.loops & v->loop_bit[loop]       ? "it steps variables, and its own turns are not all alike"
                          : ((in.vars | in.sets) & out.sets & ~parities) || (in.sets & out.vars) ? "variables that it steps or uses are stepped or used beside it, too"
                                                                          : NULL;
        if (why) verify_refuse(v, E0660, loop, "how often this loop turns is another number in each turn of the one around: %s", why);
    }
}
