/* Rings that share storage are one ring: the turns of a loop go on where those of the loop before have ended. So the first tiles of the
 * second loop are loaded while the last ones of the first are still used, nothing is drained in between, and what makes one loop safe
 * makes both.
 *
 * Rings become one where the sum of them finds no room: their loops are different statements of the kernel's body, so their tiles
 * are never alive together but for the ring's own turns; the same roles fill and use them in the same way, so as many arrivals
 * free a slot, and what stores read is given back as late. A slot has room for the larger tile. */
#include "lower/plan/device_maps.h"
#include "lower/schedule/schedule.h"

static bool may_share(const Ring *r)
{
    bool own = r->peered || r->by_rank || r->summed || r->generic || r->across || r->cast != CAST_NONE;
    return r->tile && r->turn && r->looped && !r->kept && !own && !r->tile->tensor && !ring_uses(r, AG_SEND);
}

static int64_t stages(const Ring *r)
{
    return r->pipe ? r->pipe->st->pipe->stages : 0;
}

static bool alike(const Ring *a, const Ring *b)
{
    return a->filler == b->filler && a->agents == b->agents && a->stored == b->stored && stages(a) == stages(b) && a->unread == b->unread;
}

static int64_t slot_bytes(const Ring *r)
{
    return (int64_t)r->pitch * r->inner;
}

/* In slots of the larger tile the smaller one has at most half of the bytes on its way that it could have. */
static bool near(int64_t a, int64_t b)
{
    return a <= 2 * b && b <= 2 * a;
}

static void share(Lower *L, Ring *r, Ring *h)
{
    uint32_t align = L->ir->bufs.v[h->buf].align, other = L->ir->bufs.v[r->buf].align;
    r->home = h;
    if (r->slots > h->slots) h->slots = r->slots;
    if (r->lag < h->lag) h->lag = r->lag;
    if (slot_bytes(r) > h->room) h->room = slot_bytes(r);
    if (r->used > h->used) h->used = r->used;
    if (other > align) L->ir->bufs.v[h->buf].align = align = other;
    h->room = (h->room + align - 1) / align * align;
}

/* Loop by loop, in the program's order: each ring goes to the first one that is near to it in size, of those of loops before. */
void rings_share(Lower *L)
{
    typedef struct Home {
        Ring *ring;
        const PStmt *last; /* loop that uses it */
    } Home;
    VEC(Home) homes = {0};
    bool *seen = arena_array(L->a, bool, L->sched->nrings);
    if (L->device->maps.n) return; /* made for a slot of a tile */
    FOR_MOVES(L->sched, p) {
        Ring *r = p->dst;
        if (r == NULL || seen[r->tile->index] || !may_share(r)) continue;
        seen[r->tile->index] = true;
        const Planned *in = r->moves.v[0];
        const PStmt *loop = in->naround && in->around[0].block == 0 ? in->around[0].branch : in->chain[1].loop; /* of the kernel's body */
        Home *best = NULL;
        for (uint32_t k = 0; k < homes.n && !best; k++) {
            Home *h = &homes.v[k];
            if (h->last != loop && alike(h->ring, r) && near(h->ring->room, slot_bytes(r))) best = h;
        }
        if (best) share(L, r, best->ring);
        else best = vec_add(L->a, &homes);
        *best = (Home){r->home, loop};
    }
}

void rings_share_barriers(Lower *L)
{
    FOR_RINGS(L->sched, r) {
        r->ir = r->home->ir;
        r->full = r->home->full;
        r->empty = r->home->empty;
        r->done = r->home->done;
    }
}

void rings_share_buffers(Lower *L)
{
    Sched *s = L->sched;
    IrKernel *k = L->ir;
    uint32_t *becomes = arena_array(L->a, uint32_t, k->bufs.n), n = 0;
    for (uint32_t i = 0; i < k->bufs.n; i++) {
        bool shares = i < L->k->tiles.n && s->rings[i].turn && s->rings[i].home != &s->rings[i];
        becomes[i] = shares ? UINT32_MAX : n;
        if (!shares) k->bufs.v[n++] = k->bufs.v[i];
    }
    if (n == k->bufs.n) return;
    k->bufs.n = n;
    for (uint32_t i = 0; i < L->k->tiles.n; i++)
        if (becomes[i] == UINT32_MAX) becomes[i] = becomes[s->rings[i].home->buf];
    FOR_RINGS(s, r) r->buf = becomes[r->buf];
    for (uint32_t i = 0; i < k->tree.ops.n; i++) {
        const IrOp *op = &k->tree.ops.v[i];
        for (uint32_t j = 0; j < op->nargs; j++)
            if (op->args[j].kind == IRA_BUF) op->args[j].id = becomes[op->args[j].id];
    }
}
