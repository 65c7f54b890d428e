/* How many threads stand for those of a role that are not elected: one, where that is enough, otherwise two.
 *
 * Let e be the elected thread, p and q any two others, and B an event of an op that all threads of the role do. One thread o
 * stands for p and q where in each graph o does what e does in such ops (the same ops on the same slots, phases, bytes and
 * conditions: alike_check), and where, in the role's body, e knows nothing that the others don't: behind each wait of e
 * alone all of them meet before the next op that all do (alike_prepare; fences of e alone are held to the same). Then
 * - an event of p or of another role that comes before e's B comes before q's B, too: the order enters e last with a wait
 *   that q does as well, or with a meeting, or with a wait of e alone, and from there it goes through a meeting to B;
 * - so what has to come before B of all threads is seen at e's: where p's A and q's B must be in order, o's A and e's B are
 *   looked at, and conditions, fences, phases, arrivals and the ends of copies go by the same order;
 * - a cycle through p and q is one through o.
 * Arrivals and bytes are counted as often as there are threads.
 */
#include <string.h>

#include "lower/verify/graph/unroll/unroll.h"

enum { FEW = 2, ALL = 3 };

/* The threads of the role wait for each other here, whatever happens. */
static bool meets(const IrRole *r, const IrOp *op)
{
    if (op->guard.pred) return false;
    return op->op == IR_CTA_SYNC || (op->op == IR_WARP_SYNC && r->warps == 1);
}

static bool told_to_all(const Verifier *v, const Body *b, uint32_t at)
{
    const IrRole *r = b->role;
    bool role = b != &v->bodies.v[0] && b != &v->bodies.v[v->bodies.n - 1];
    for (uint32_t i = at + 1; i < r->ops.n && role; i++) {
        const IrOp *op = &r->ops.v[i];
        if (meets(r, op)) return true;
        if (v->group[b->base + i] == IRG_CONTROL) return false;
        if (!op->elect && v->group[b->base + i] != IRG_SCALAR) return false;
    }
    return false;
}

void alike_prepare(Verifier *v)
{
    v->reps = FEW;
    for (uint32_t i = 0; i < v->bodies.n; i++) {
        const Body *b = &v->bodies.v[i];
        for (uint32_t j = 0; j < b->role->ops.n && !b->role->elect; j++) {
            const IrOp *op = &b->role->ops.v[j];
            if (op->elect && (op->op == IR_BAR_WAIT || op->op == IR_FENCE_ASYNC || op->op == IR_TC_FENCE) && !told_to_all(v, b, j))
                v->reps = ALL;
        }
    }
}

void alike_note_access(Verifier *v, const Access *a)
{
    const Bytes *at = &a->at;
    uint32_t what[] = {a->cond, a->write,           at->rank,
                       at->buf, (uint32_t)at->slot, at->lo,
                       at->hi,  (uint32_t)at->step, (uint32_t)at->width,
                       a->shape};
    if (v->ops[a->op]->elect) return;
    for (uint32_t i = 0; i < sizeof what / sizeof *what; i++) vec_push(&v->run, &v->now->trace, what[i]);
}

bool alike_check(Verifier *v)
{
    bool same = true;
    for (uint32_t i = 0; i < v->threads.n && same && v->reps == FEW; i++) {
        const Thread *o = &v->threads.v[i], *e = o - o->rep;
        if (o->rep == 0) continue;
        same = o->trace.n == e->trace.n;
        if (same && o->trace.n) same = memcmp(o->trace.v, e->trace.v, o->trace.n * sizeof *o->trace.v) == 0;
    }
    if (same) return true;
    v->reps = ALL;
    v->afresh = v->again = true;
    return false;
}
