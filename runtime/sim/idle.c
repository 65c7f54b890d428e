/* Loops that do not end: a thread whose registers and pc are what they were before, while nothing has changed in between,
 * will be there again. When that holds for every thread that could do something, the launch never ends.
 *
 * States are compared by a hash. A poll of an mbarrier may fail at random, so a state counts when it has come back often.
 * Counters, clocks and the like make states differ: such loops come to a limit of machine.c.
 */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "runtime/sim/machine.h"

enum { AGAIN = 32 }; /* times that a state has come back: polls fail at random, one in eight */

void sim_idle_turn(SimMachine *m, SimThread *t)
{
    uint32_t turns = ++t->loop.turns;
    bool renew = (turns & (turns - 1)) == 0;
    if (renew) t->loop.lo = t->loop.hi = t->pc;
    else if (t->pc < t->loop.lo) t->loop.lo = t->pc;
    else if (t->pc > t->loop.hi) t->loop.hi = t->pc;
    if (!m->idle) return;
    bool fresh = t->loop.progress != m->progress || t->loop.again == 0;
    const SimProgram *p = m->launch.program;
    uint64_t state = XXH3_64bits_withSeed(t->slot, (size_t)p->nslots * 8, t->pc);
    if (p->local_bytes) state = XXH3_64bits_withSeed(t->local, p->local_bytes, state);
    bool same = !fresh && state == t->loop.state;
    if (same) t->loop.again++;
    else if (fresh || renew) t->loop.state = state, t->loop.again = 1;
    t->loop.progress = m->progress;
}

static bool comes_back(const SimMachine *m, const SimThread *t)
{
    return t->loop.progress == m->progress && t->loop.again > AGAIN;
}

bool sim_idle_for_ever(const SimMachine *m)
{
    for (uint32_t i = 0; i < m->nresident; i++)
        for (uint32_t r = 0; r < m->resident[i]->nctas; r++) {
            const SimCta *cta = m->resident[i]->ctas[r];
            for (uint32_t k = 0; k < cta->nthreads; k++) {
                const SimThread *t = &cta->threads[k];
                if ((t->wait == WAIT_NONE || t->wait == WAIT_MBARRIER) && !comes_back(m, t)) return false;
            }
        }
    return true;
}

/* Ops that could change something for others, or wait. */
static bool acts(const SimOp *op)
{
    switch (op->code) {
    case SIM_ST: return op->extra != PTX_SPACE_LOCAL;
    case SIM_ATOM:
    case SIM_FORM:
    case SIM_BAR:
    case SIM_WARPSYNC:
    case SIM_SHFL:
    case SIM_VOTE:
    case SIM_MATCH:
    case SIM_REDUX:
    case SIM_TRAP: return true;
    default: return false;
    }
}

bool sim_loop_of(const SimMachine *m, const SimThread *t, SimLoop *out, bool *still)
{
    const SimProgram *p = m->launch.program;
    uint32_t lo = t->pc < t->loop.lo ? t->pc : t->loop.lo, hi = t->pc > t->loop.hi ? t->pc : t->loop.hi;
    bool found = false;
    for (uint32_t i = hi; t->loop.turns && i < p->nops; i++) {
        const SimOp *op = &p->ops[i];
        if (op->code != SIM_BRA || op->imm > lo || op->imm < 0) continue;
        if (found && out->last - out->first <= i - (uint32_t)op->imm) continue;
        *out = (SimLoop){(uint32_t)op->imm, i};
        found = true;
    }
    if (!found) return false;
    *still = true;
    for (uint32_t i = out->first; !comes_back(m, t) && i <= out->last; i++) *still = *still && !acts(&p->ops[i]);
    return true;
}
