/* Work by threads between a tensor and a tile, in the order of the program. */
#include "lower/apart/apart.h"
#include "lower/schedule/schedule.h"

/* Copies of the kernel may touch what threads store. */
static bool copied_too(const Sched *s, const PTensor *t)
{
    for (uint32_t i = 0; i < s->moves.n; i++) {
        const Planned *p = s->moves.v[i];
        if (!p->copies.g && p->mi.tensor && base_of(p->mi.tensor) == base_of(t)) return true;
    }
    return false;
}

/* Between a tensor and a tile. What is still on its way of what it touches, there or here, is waited for. */
void agent_global(Lower *L, Planned *p)
{
    Sched *s = L->sched;
    bool load = p->mi.load;
    kept_arrive(L, load ? p->dst : p->src);
    if (!load) kept_overwritten(L, p);
    if (p->ordered) agent_wait_stores(L, false);
    agent_before_work(L, p->dst);
    global_emit(L, &p->mi, p->copies.g, p->plan);
    s->now->dirty = true;
    s->now->unfenced |= load;
    s->now->stored |= !load && copied_too(s, p->mi.tensor);
}
