/* Two accesses that may meet, one of them a write, come one after the other in every schedule; and where what was written is seen only
 * behind a fence, that lies in between. Which pairs of a place are not so: what a thread comes after once, all that it does later comes
 * after, too, so each access is looked at by each thread until it is over, and no more.
 */
#include "lang/lang.h"
#include "lower/ir/ops.h"
#include "lower/verify/graph/judge/judge.h"
#include "lower/verify/graph/unroll/unroll.h"
#include "lower/verify/graph/values/values.h"

/* ---- fences ---- */

static bool by_proxy(const Access *a)
{
    return a->async && !a->generic;
}

static bool tensor_memory(const Verifier *v, const Access *a)
{
    return !a->tensors && v->k->bufs.v[a->at.buf].lanes != 0; /* of one proxy: unroll/tensor_memory.c */
}

/* What threads wrote copies see behind a fence; in global memory, what anybody wrote. */
static bool wants_fence(const Verifier *v, const Access *a)
{
    return a->write && (a->tensors || (!by_proxy(a) && !tensor_memory(v, a)));
}

static bool looks_for_fence(const Access *b)
{
    return by_proxy(b) && !(b->tensors && b->write);
}

static bool of_cluster(const Verifier *v, EventId fence)
{
    return verify_arg(v, v->events.v[fence - 1].op, IRK_SPACE)->id == IRS_CLUSTER;
}

/* For that access: of memory of its thread's CTA, and not of what st.async wrote, one of that CTA is enough. */
static bool serves(const Verifier *v, const Access *a, EventId fence)
{
    return a->tensors || of_cluster(v, fence) || (!a->generic && event_thread(v, fence)->rank == event_thread(v, a->start)->rank);
}

/* By one who wrote it, or has waited for it. */
static bool fenced_after(const Verifier *v, const Access *a, EventId b)
{
    for (uint32_t k = 0; k < v->threads.n; k++) {
        const Thread *t = &v->threads.v[k];
        Fence kind = a->tensors ? FENCE_GLOBAL : FENCE_ASYNC;
        uint32_t lo = 0, hi = t->fences[kind].n; /* from the first one on */
        while (lo < hi) {
            uint32_t middle = lo + (hi - lo) / 2;
            if (access_before(v, a, t->fences[kind].v[middle])) hi = middle;
            else lo = middle + 1;
        }
        while (lo < t->fences[kind].n && !serves(v, a, t->fences[kind].v[lo])) lo++;
        if (lo < t->fences[kind].n && event_before(v, t->fences[kind].v[lo], b)) return true;
    }
    return false;
}

/* PTX ISA, causality order: a proxy fence on the way from the one to the other, whoever's it is. The writer's own comes before what any other
 * one on the way comes before, mostly. */
bool pair_fenced(const Verifier *v, const Access *a, const Access *b)
{
    if (!wants_fence(v, a) || !looks_for_fence(b)) return true;
    EventId own = a->generic || a->tensors ? 0 : fence_behind(v, a->start, FENCE_ASYNC);
    return (own && event_before(v, own, b->start)) || fenced_after(v, a, b->start);
}

/* ---- order ---- */

/* A reduction, with others of its kind. */
static bool commutes(const Verifier *v, uint32_t op)
{
    uint32_t n;
    return reduction_commutes(ir_words(IRK_ROP, &n)[ir_find(v->ops[op], IRK_ROP)->id]);
}

bool pair_harmless(const Verifier *v, const Access *a, const Access *b)
{
    if (!(a->write || b->write)) return true;
    bool one_op = a->op == b->op && a->start == b->start && !(a->write && b->write); /* two writes: of turns with nothing in between */
    if (!a->tensors && ((a->act && a->act == b->act) || one_op)) return true;
    return a->reduce && a->reduce == b->reduce && commutes(v, a->op);
}

bool pair_fine(Verifier *v, const Access *a, const Access *b)
{
    if (pair_harmless(v, a, b) || (!a->tensors && tensor_in_order(v, a, b))) return true;
    if (!access_before(v, a, b->start)) return !a->tensors && conds_exclusive(v, a->only, b->only);
    return (a->tensors || tensor_fenced(v, a, b)) && pair_fenced(v, a, b);
}

static bool over(const Verifier *v, const Access *a, const Access *b)
{
    return access_before(v, a, b->start) && (a->tensors || (tensor_fenced(v, a, b) && !tensor_in_order(v, a, b)));
}

/* ---- all pairs ---- */

typedef VEC(uint32_t) Numbers; /* of accesses of a place */
typedef struct Pending {       /* for what a thread does next */
    uint32_t next;    /* it has not been compared with accesses from here on */
    Numbers open[2];  /* reads and writes that may still go on */
    Numbers unfenced; /* over, but copies may not touch what they wrote */
} Pending;

static bool compare(Verifier *v, const Place *p, Pending *t, Numbers *list, uint32_t at, PairMeets *meet)
{
    const Access *b = &p->all[at];
    uint32_t n = list->n, kept = 0;
    verify_spend(v, n / 16);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t x = list->v[i];
        const Access *a = &p->all[x];
        bool ended = list == &t->unfenced ? pair_fenced(v, a, b) : over(v, a, b);
        if (ended && list != &t->unfenced && wants_fence(v, a)) vec_push(&v->run, &t->unfenced, x);
        if (ended) continue;
        if (!pair_fine(v, a, b) && meet(v, p, x, at)) return false;
        list->v[kept++] = x;
    }
    list->n = kept;
    return true;
}

uint32_t pairs_wrong(Verifier *v, const Place *p, PairMeets *meet)
{
    Pending *of = arena_array(&v->run, Pending, v->threads.n);
    for (uint32_t i = 0; i < p->n && !v->failed; i++) {
        const Access *b = &p->all[i];
        Pending *t = &of[v->events.v[b->start - 1].thread];
        for (; t->next < i; t->next++) vec_push(&v->run, &t->open[p->all[t->next].write], t->next);
        if (!compare(v, p, t, &t->open[1], i, meet) || (b->write && !compare(v, p, t, &t->open[0], i, meet))) return i;
        if (looks_for_fence(b) && !compare(v, p, t, &t->unfenced, i, meet)) return i;
    }
    return p->n;
}
