/* The end of a kernel: nothing is on its way, and no CTA leaves while others have to do with its shared memory. */
#include "lower/verify/graph/judge/judge.h"
#include "lower/verify/graph/unroll/unroll.h"

/* All that comes before the end of some thread, by CTA: joined, as a clock has the newest event of each thread. */
static uint32_t **clocks_at_end(Verifier *v)
{
    uint32_t **end = arena_array(&v->run, uint32_t *, v->nranks);
    for (uint32_t r = 0; r < v->nranks; r++) end[r] = verify_clock_copy(v, NULL);
    for (uint32_t i = 0; i < v->threads.n; i++) {
        const Thread *t = &v->threads.v[i];
        verify_clock_join(v, end[t->rank], v->events.v[t->last - 1].clock);
    }
    return end;
}

static bool copy_before(const Verifier *v, const Access *a, const uint32_t *clock)
{
    if (a->also && phase_in(v, a->also, clock)) return true;
    return a->phase ? phase_in(v, a->phase, clock) : a->end && event_in(v, a->end, clock);
}

static void in_flight(Verifier *v, const Access *a)
{
    const char *name = v->k->bufs.v[a->at.buf].name;
    Diag *g = NULL;
    if (event_thread(v, a->start)->rank != a->at.rank)
        verify_refuse(v, E0625, a->op, "CTA %u may end while this copy still accesses its %s", a->at.rank, name);
    else if (a->phase)
        g = verify_refuse(v, E0650, a->op,
                          "the kernel ends while this copy may still be %s %s: nothing waits for barrier %s",
                          a->write ? "writing" : "reading", name, verify_bar_name(v, a->phase->slot));
    else
        g = verify_refuse(v, E0624, a->op, "the kernel ends while this store may still read %s: %s", name,
                          a->group ? "no grp.wait covers its group" : "it is not even committed to a group");
    tell_in_flight(v, g, a);
}

void check_end(Verifier *v)
{
    uint32_t **end = clocks_at_end(v);
    for (uint32_t i = 0; i < v->accesses.n && !v->failed; i++) {
        const Access *a = &v->accesses.v[i];
        if (a->async && !copy_before(v, a, end[a->at.rank])) in_flight(v, a);
    }
    for (uint32_t i = 0; i < v->phases.n && !v->failed; i++) {
        const Phase *p = v->phases.v[i];
        uint32_t rank = p->slot / v->nslots;
        Form open = p->complete ? form_const(&v->f, 0) : form_add(&v->f, p->expected, -1, p->delivered);
        if (!form_is(&v->f, form_simplify(&v->f, open), 0))
            verify_refuse(v, E0605, p->op, "the kernel ends while barrier %s expects %s bytes and the copies on it bring %s",
                          verify_bar_name(v, p->slot), verify_form_text(v, p->expected), verify_form_text(v, p->delivered));
        if (!p->complete && p->arrivals && p->arrivals < v->bars[p->slot].count) {
            Diag *g = verify_refuse(v, E0604, p->op, "the kernel ends when barrier %s has %u of the %u arrivals of its phase",
                                    verify_bar_name(v, p->slot), p->arrivals, v->bars[p->slot].count);
            tell_arrivals(v, g, verify_bar(v, p->slot));
        }
        for (uint32_t j = 0; j < p->parts.n && !v->failed; j++) {
            const Part *x = &p->parts.v[j];
            if (event_thread(v, x->event)->rank == rank || x->copies || event_in(v, x->event, end[rank])) continue;
            verify_refuse(v, E0625, x->op, "CTA %u may end before this counts on its barrier %s", rank,
                          verify_bar_name(v, p->slot));
        }
    }
    for (uint32_t i = 0; i < v->threads.n && !v->failed; i++)
        if (v->threads.v[i].at[OF_CLUSTER])
            verify_refuse(v, E0671, v->nops, "the kernel ends after a cluster.arrive without its cluster.wait");
}
