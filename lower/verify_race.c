/* Races: two accesses to bytes of a buffer, one of them a write, come one after the other in every schedule; where
 * threads wrote and the async proxy reads or writes next, the writer's fence lies in between. */
#include <stdlib.h>

#include "lower/verify_parts.h"

/* ---- proxies ---- */

/* PTX ISA, async proxy: what a thread wrote is seen by copies after its fence.proxy.async. */
static bool fenced(const Verifier *v, const Access *a, EventId b)
{
    const Event *e = &v->events.v[a->start - 1];
    const Thread *t = &v->threads.v[e->thread];
    for (uint32_t i = 0; i < t->async_fences.n; i++) {
        EventId f = t->async_fences.v[i];
        if (v->events.v[f - 1].pos > e->pos && event_before(v, f, b)) return true;
    }
    return false;
}

static void check_proxy(Verifier *v, const Access *a, const Access *b)
{
    if (!a->write || a->async || !b->async || fenced(v, a, b->start)) return;
    Diag *g = verify_refuse(v, E0606, b->op,
                            "this copy comes after threads wrote %s, with no fence.async by them in between",
                            v->k->bufs.v[a->at.buf].name);
    verify_also(v, g, a->op, "written by threads");
}

/* ---- order ---- */

static void report(Verifier *v, const Access *a, const Access *b)
{
    const Event *x = &v->events.v[a->start - 1], *y = &v->events.v[b->start - 1];
    const Thread *s = &v->threads.v[x->thread], *t = &v->threads.v[y->thread];
    const char *name = v->k->bufs.v[a->at.buf].name;
    Diag *g;
    if (s->rank != t->rank) {
        g = verify_refuse(v, E0613, b->op, "nothing orders this access to %s of CTA %u and one by CTA %u", name,
                          a->at.rank, s->rank);
        verify_also(v, g, a->op, "the other access");
    } else if (a->write && b->write && a->async && b->async) {
        g = verify_refuse(v, E0657, b->op, "%s is written while another copy into it may be on its way", name);
        verify_also(v, g, a->op, "the other copy: nothing has waited for it");
    } else if (s != t && (s->role != t->role || !a->async)) {
        g = verify_refuse(v, E0612, b->op, "nothing orders this access to %s and one by %s", name,
                          s->role != t->role ? "another role" : "another thread of the role");
        verify_also(v, g, a->op, "the other access");
    } else if (a->write) {
        g = verify_refuse(v, E0601, b->op, "%s is %s before what is written into it is certain to have arrived", name,
                          b->write ? "written" : "read");
        verify_also(v, g, a->op,
                    a->phase ? arena_printf(&v->run, "the copy into it; its barrier %s is not waited for in between",
                                            verify_bar_name(v, a->phase->slot))
                             : "the write");
    } else {
        g = verify_refuse(v, E0602, b->op, "%s is written while a store may still read it", name);
        verify_also(v, g, a->op,
                    a->phase   ? "the copy out of it: nothing has waited for its end"
                    : a->group ? "the store: no grp.wait has covered its group"
                               : "the store: not even committed to a group");
    }
}

static void ordered(Verifier *v, const Access *a, const Access *b)
{
    check_proxy(v, a, b);
    if (!a->write) verify_depends(v, a, b, true);
}

static void check_pair(Verifier *v, const Access *a, const Access *b)
{
    if (!(a->write || b->write) || (a->act && a->act == b->act)) return;
    if (a->op == b->op && a->start == b->start) return;
    if (!bytes_overlap(v, &a->at, &b->at)) return;
    bool forth = access_before(v, a, b->start), back = !forth && access_before(v, b, a->start);
    if (!forth && !back && conds_exclusive(v, a->cond, b->cond)) return;
    if (forth) ordered(v, a, b);
    else if (back) ordered(v, b, a);
    else if (a->start <= b->start) report(v, a, b);
    else report(v, b, a);
}

static int by_place(const void *x, const void *y)
{
    const Access *a = x, *b = y;
    if (a->at.rank != b->at.rank) return a->at.rank < b->at.rank ? -1 : 1;
    if (a->at.buf != b->at.buf) return a->at.buf < b->at.buf ? -1 : 1;
    if (a->at.slot != b->at.slot) return a->at.slot < b->at.slot ? -1 : 1;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    return a->op < b->op ? -1 : a->op > b->op;
}

void check_races(Verifier *v)
{
    Access *a = v->accesses.v;
    if (v->accesses.n) qsort(a, v->accesses.n, sizeof *a, by_place);
    for (uint32_t i = 0; i < v->accesses.n; i++)
        for (uint32_t j = i + 1; j < v->accesses.n && bytes_same_place(&a[i].at, &a[j].at) && !v->failed; j++)
            check_pair(v, &a[i], &a[j]);
}
