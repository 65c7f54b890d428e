/* Tiles as rings: how many slots there are, the buffers and barriers that they take. */
#include "lower/schedule/schedule.h"

enum {
    TURN_BYTES = 16 << 10,   /* less per turn and the counter of tickets limits */
    WIDE_TURN = 32 << 10,    /* from here on one CTA per SM is enough */
    LEAD_MAX = 8, /* that nobody asks for */
    THREAD_SLOTS = 2,
    CTAS_MAX = 4,
    GROUPS_DEALT = 8, /* copies of four rows each that the lanes share out better than iterations */
    IDS_MIN = 2,
    IDS_PITCH = 128 /* bytes from slot to slot */
};

/* ---- sizes ---- */

static bool batchable(Lower *L, const Pipe *p)
{
    if (!p->across || p->deal == DEAL_LAUNCH) return false;
    FOR_MOVES_OF(L->sched, p->use, m) {
        bool direct = planned_block(m) == &p->st->body;
        if (is_rows4(m->st->move) && m->copies.t && m->copies.t->npieces >= GROUPS_DEALT) return false;
        if (m->dst && (m->dst->kept || m->dst->turn != &p->st->body)) return false; /* the iterations share it */
        if (m->tm || m->copies.g || !direct || m->naround || m->ordered || (m->copies.t && m->copies.t->device) || m->agent == AG_SEND || m->by_rank || is_im2col(m->st->move) || m->st->move->cast != CAST_NONE || m->st->move->ahead > 0) return false;
    }
    FOR_RINGS_AT(L, &p->st->body, AG_NONE, r)
        if (r->tile->is_array) return false;
    return true;
}

/* Whether what is loaded stands in the order of memory, not where data says. */
static bool streams(Lower *L, const Pipe *p, bool *tensor)
{
    *tensor = false;
    FOR_MOVES_OF(L->sched, p->use, m) {
        if (m->st->move->kind != MOVE_LOAD) continue;
        *tensor |= m->copies.t != NULL;
        for (int d = 0; d < m->mi.rank; d++)
            if (m->mi.g->dim[d].rows || scalar_uses(L, m->mi.g->dim[d].start) & USE_LOAD) return false;
    }
    return true;
}

/* Neither work by threads nor reductions. */
static bool only_copies(const Sched *s, const Pipe *p)
{
    FOR_MOVES_OF(s, p->use, m)
        if (planned_by_threads(m) || move_by_tensor_core(m->st->move) || m->st->move->reduce >= 0) return false;
    return true;
}

/* Bytes that a turn should load, where an iteration has fewer; measured on the H200. The loads in flight are the same with
 * wide turns in one CTA per SM and with narrow ones in two, and the wide ones have fewer tickets and waits: better for what
 * is copied in order. Rows picked by data, and threads, who begin when a turn has arrived, want small turns; a tensor tile of
 * TURN_BYTES is as good alone, and pipelines that share the memory have none to give away. */
static int64_t wanted_turn(Lower *L, const Pipe *p, int64_t bytes)
{
    bool tensor;
    if (!streams(L, p, &tensor)) return TURN_BYTES;
    bool narrow = bytes >= TURN_BYTES || L->sched->nacross > 1 || !only_copies(L->sched, p);
    return tensor && narrow ? TURN_BYTES : WIDE_TURN;
}

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* Slots of a loaded tile: those that are on their way, and those that stores still read or threads work on. Tiles that are
 * stored seldom come free at once in the turns that do not. */
static void size_ring(Ring *r, int64_t lead, int64_t stages, int64_t batch)
{
    int64_t busy = r->stored_always && !r->thread_reads ? ceil_div(lead, 2) : lead > 2 ? 1 : 2;
    int64_t slots = stages ? ceil_div(stages, batch) : lead + busy;
    if (stages > 1 && batch > 1 && slots < 3) slots = 3;
    int64_t lag = stages ? (slots + 1) / 3 : busy;
    r->slots = (uint32_t)slots;
    r->lag = r->stored_always && lag < slots ? (uint32_t)lag : 0;
}

/* Small tiles take up more room than bytes; a batch leaves room for four of itself, in each pipeline. */
static int64_t batch_room(Lower *L, const Pipe *p)
{
    int64_t n = 0;
    FOR_RINGS_AT(L, &p->st->body, AG_NONE, r) n += (int64_t)r->pitch;
    return n > 0 ? L->c->target->smem_per_cta / (4 * n * L->sched->nacross) : BATCH_MAX;
}

static void size_pipe(Lower *L, Pipe *p)
{
    Sched *s = L->sched;
    int64_t bytes = 0, stages = p->st->pipe->stages, least = INT32_MAX;
    FOR_RINGS_AT(L, &p->st->body, AG_NONE, r)
        if (r->filler == AG_LOAD) bytes += r->bytes;
    if (bytes == 0 || p->deal == DEAL_LAUNCH) return; /* a team has one turn */
    int64_t turn = wanted_turn(L, p, bytes);
    if (batchable(L, p) && bytes < turn) {
        int64_t room = batch_room(L, p);
        p->batch = ceil_div(turn, bytes);
        while (p->batch > 1 && (p->batch > BATCH_MAX || p->batch > room || p->batch * bytes > MBARRIER_MOST)) p->batch--;
    }
    bytes *= p->batch;
    int64_t ctas = !p->across || bytes >= WIDE_TURN || L->cluster_size > 1 ? 1 : 2;
    int64_t lead = ceil_div(FLIGHT_BYTES, bytes * ctas);
    if (lead > LEAD_MAX) lead = LEAD_MAX;
    FOR_RINGS_AT(L, &p->st->body, AG_NONE, r) {
        if (r->kept) continue;
        r->inner = r->tile->is_array ? (uint32_t)r->tile->slots : (uint32_t)p->batch;
        if (r->filler == AG_WORK) {
            r->slots = THREAD_SLOTS;
            continue;
        }
        size_ring(r, lead, stages, p->batch);
        if (r->filler == AG_LOAD && r->slots - r->lag < least) least = r->slots - r->lag;
    }
    if (!p->across) return;
    if (stages && L->cluster_size == 1) { /* what one CTA may not have in flight, several have */
        int64_t more = ceil_div(FLIGHT_BYTES, bytes * least);
        if (more > ctas) ctas = more < CTAS_MAX ? more : CTAS_MAX;
    }
    if (s->per_sm == 0 || ctas < s->per_sm) s->per_sm = (uint32_t)ctas;
}

/* Its slots come free as late as its receivers say: see size_peers. */
static bool sent_on(const Ring *r)
{
    return ring_uses(r, AG_SEND) && r->filler != AG_SEND;
}

/* One group per turn of a block: what it stores is waited for together, so late by the same number of turns, or more. */
static bool agree_lag(Lower *L, const PBlock *b, bool again)
{
    uint32_t lag = UINT32_MAX;
    bool changed = false;
    FOR_RINGS_AT(L, b, AG_NONE, r) {
        if (!r->stored) continue;
        uint32_t mine = r->kept ? 0 : r->filler == AG_WORK && (!again || sent_on(r)) ? r->home->slots - 1 : r->home->lag;
        if (mine < lag) lag = mine;
    }
    FOR_RINGS_AT(L, b, AG_NONE, r) {
        if (!r->stored || sent_on(r)) continue;
        changed |= r->home->lag != lag;
        r->home->lag = lag;
    }
    return changed;
}

static void agree_lags(Lower *L)
{
    const Sched *s = L->sched;
    bool changed = true;
    for (bool again = false; changed; again = true) {
        changed = false;
        FOR_RINGS(s, r)
            if (r->turn && rings_at(L, r->turn, AG_NONE) == r) changed |= agree_lag(L, r->turn, again);
    }
}

static bool at_home(const Ring *r)
{
    return r->turn && r->home == r;
}

/* A tile that no move uses has its place, too. */
static bool takes_room(const Ring *r)
{
    return at_home(r) || (r->tile && !r->turn && !r->tile->tensor);
}

/* What barriers and ids (add_ids) take at most beside the tiles. */
static int64_t smem_beside(Lower *L)
{
    const Sched *s = L->sched;
    enum { USUAL = 1024, BAR_BYTES = 8 };
    int64_t n = 0;
    FOR_RINGS(s, r)
        if (at_home(r)) n += (r->summed ? 4 : 2) * BAR_BYTES * (int64_t)r->slots;
    for (uint32_t k = 0; k < s->pipes.n; k++) {
        const Pipe *p = s->pipes.v[k];
        int64_t lead = 1;
        if (!p->across || p->deal == DEAL_STATIC || p->deal == DEAL_LAUNCH) continue;
        FOR_RINGS_AT(L, &p->st->body, AG_NONE, r)
            if (r->slots > lead) lead = r->slots;
        n += (lead + IDS_MIN) * (IDS_PITCH + 2 * BAR_BYTES);
    }
    return n > USUAL ? n : USUAL;
}

int64_t rings_smem(Lower *L)
{
    int64_t n = smem_beside(L);
    FOR_RINGS(L->sched, r)
        if (takes_room(r)) n += r->room * r->slots;
    return n;
}

/* A source tile that is sent on comes free when its receiver has used what came: that shows a target's turn later. */
static uint32_t least_slots(const Ring *r)
{
    uint32_t least = 1;
    for (uint32_t i = 0; i < r->moves.n && r->looped; i++) {
        const Planned *p = r->moves.v[i];
        if (p->agent == AG_SEND && p->src == r && p->dst->slots >= least) least = p->dst->slots + 1;
    }
    return least;
}

/* Depth is the compiler's choice, unless the source says it. */
static bool may_shrink(const Ring *r)
{
    return r->turn && r->slots > least_slots(r) && !(r->pipe && r->pipe->st->pipe->stages && r->filler != AG_WORK);
}

/* The ring with most bytes gives a slot. */
static bool shrink(Lower *L)
{
    Ring *most = NULL;
    int64_t best = 0;
    FOR_RINGS(L->sched, r) {
        int64_t n = r->room * r->slots;
        if (!at_home(r) || !may_shrink(r) || n <= best) continue;
        most = r;
        best = n;
    }
    if (most == NULL) return false;
    most->slots--;
    return true;
}

/* One slot of each is too much: then slot by slot would take as long as there are many. */
static bool never_fits(Lower *L)
{
    int64_t n = 0;
    FOR_RINGS(L->sched, r)
        if (takes_room(r)) n += r->room;
    if (n <= L->c->target->smem_per_cta) return false;
    FOR_RINGS(L->sched, r)
        if (may_shrink(r)) r->slots = 1;
    return true;
}

static void size_peers(Lower *L)
{
    FOR_RINGS(L->sched, r) {
        uint32_t least = least_slots(r);
        if (r->lag + 1 < least) r->lag = least - 1;
        if (least > 1 && r->slots <= r->lag) r->slots = r->lag + 1;
    }
}

void rings_size(Lower *L)
{
    Sched *s = L->sched;
    FOR_RINGS(s, r) {
        r->slots = 1;
        r->inner = (uint32_t)r->tile->slots;
        r->home = r;
        r->buf = r->tile->index;
        r->pitch = L->ir->bufs.v[r->buf].pitch;
    }
    for (uint32_t i = 0; i < s->pipes.n; i++) size_pipe(L, s->pipes.v[i]);
    if (s->per_sm == 0) s->per_sm = 1;
    size_peers(L);
    FOR_RINGS(s, r) {
        r->room = (int64_t)r->pitch * r->inner;
        r->used = L->ir->bufs.v[r->buf].bytes + (int64_t)r->pitch * (r->inner - 1);
    }
    if (rings_smem(L) * s->per_sm > L->c->target->smem_per_cta) rings_share(L);
    bool never = never_fits(L); /* memory_place says so */
    while (!never && rings_smem(L) * s->per_sm > L->c->target->smem_per_cta) {
        if (s->per_sm > 1) s->per_sm--;
        else if (!shrink(L)) break;
    }
    FOR_RINGS(s, r)
        if (r->lag >= r->slots) r->lag = r->slots - 1;
    if (!never) agree_lags(L);
    FOR_RINGS(s, r) {
        r->slots = r->home->slots;
        r->lag = r->home->lag;
        r->lead = r->slots - r->lag;
    }
}

/* ---- buffers and barriers ---- */

void ring_new(Lower *L, Ring *r, const char *name)
{
    r->ir = L->ir->rings.n;
    vec_push(L->a, &L->ir->rings, ((IrRing){.name = name, .slots = r->slots, .lag = r->slots - r->lead, .free = IR_NO_BAR}));
}

uint32_t ring_bar(Lower *L, const Ring *r, const char *name, const char *what, uint32_t slots, uint32_t count)
{
    IrBar *b = vec_add(L->a, &L->ir->bars);
    *b = (IrBar){.name = arena_printf(L->a, "%s.%s", name, what),
                 .slots = slots,
                 .count = count,
                 .derived = true,
                 .ring = (uint16_t)(r->ir + 1),
                 .span = r->tile ? r->tile->span : (Span){0, 0}};
    return L->ir->bars.n - 1;
}

/* Those who use a slot after its filler, each with one arrival for its release. Ids that are handed over are read by the
 * role that asks for them, too. */
static uint32_t users(const Ring *r)
{
    uint32_t others = r->agents & (uint8_t)~(1u << r->filler);
    return (uint32_t)__builtin_popcount(r->handed ? r->agents : others);
}

static void free_bar(Lower *L, Ring *r, const char *name, uint32_t slots, uint32_t count)
{
    r->empty = ring_bar(L, r, name, "empty", slots, count);
    L->ir->bars.v[r->empty].ring = 0;
    L->ir->rings.v[r->ir].free = r->empty;
}

/* One agent needs no word of its own, but of other CTAs. */
static void kept_barriers(Lower *L, Ring *r, const char *name)
{
    if (!r->filled_by_copies) return;
    r->full = ring_bar(L, r, name, "full", 1, 1);
    if (!r->across) return;
    r->done = ring_bar(L, r, name, "done", 1, remote_arrivals(L, r->reach));
    free_bar(L, r, name, 1, remote_arrivals(L, r->reach));
}

static void barriers(Lower *L, Ring *r, const char *name)
{
    r->full = r->empty = r->done = BAR_NONE;
    ring_new(L, r, name);
    L->ir->bufs.v[r->buf].ring = (uint16_t)(r->ir + 1);
    if (r->kept) {
        kept_barriers(L, r, name);
        return;
    }
    if (users(r) == 0) return;
    uint32_t ctas = r->by_rank ? remote_arrivals(L, r->reach) : r->cast != CAST_NONE ? cluster_size_of(L, r->cast) : r->handed ? (uint32_t)L->cluster_size : 1;
    r->joined = r->cast != CAST_NONE && !r->by_rank && r->looped && !r->certain;
    r->full = ring_bar(L, r, name, "full", r->slots, 1 + (r->joined ? ctas : 0));
    if (r->summed) {
        r->ready = ring_bar(L, r, name, "ready", r->slots, remote_arrivals(L, r->adds_to));
        r->sum = ring_bar(L, r, name, "sum", r->slots, 1);
    }
    if (!r->looped) return;
    free_bar(L, r, name, r->lead, users(r) * ctas);
}

/* The roles that go into the pipeline: a bit each. */
static uint8_t entering(const Lower *L, const Pipe *p)
{
    unsigned agents = 0;
    for (int a = 0; a < AG_COUNT; a++)
        if (L->sched->used[a] && walk_enter(L, p->st, a)) agents |= 1u << a;
    return (uint8_t)agents;
}

/* The ids of an across-grid pipeline: written by the thread that draws them, read by the other roles; in a team of several
 * CTAs sent to each of them by the first one's thread. Answers of the hardware come to all in the same way. */
static void add_ids(Lower *L, Pipe *p)
{
    Sched *s = L->sched;
    uint32_t lead = 1;
    FOR_RINGS_AT(L, &p->st->body, AG_NONE, r)
        if (r->lead > lead) lead = r->lead;
    s->used[AG_LOAD] = true; /* that role draws, even if it loads nothing */
    Ring *r = p->ids = &s->rings[s->nrings++];
    *r = (Ring){.turn = &p->st->body, .pipe = p, .home = r, .looped = true, .agents = (uint8_t)(entering(L, p) | 1u << AG_LOAD), .filler = AG_LOAD};
    r->handed = p->deal == DEAL_CLC || L->cluster_size > 1;
    if (L->cluster_size > 1) L->remote = true;
    r->bytes = p->deal == DEAL_CLC ? (int64_t)IR_ANSWER_BYTES : (int64_t)IR_CELL_BYTES;
    r->slots = r->lead = lead + IDS_MIN;
    r->inner = 1;
    r->buf = L->ir->bufs.n;
    uint32_t bytes = (uint32_t)r->bytes;
    vec_push(L->a, &L->ir->bufs, ((IrBuf){.name = "ids", .bytes = bytes, .align = IDS_PITCH, .slots = r->slots, .pitch = IDS_PITCH}));
    barriers(L, r, "ids");
}

/* The one thread that draws the tickets is the only one that wants them. */
static bool draws_for_itself(const Lower *L, const Pipe *p)
{
    bool alone = L->cluster_size == 1 && L->sched->shape[AG_LOAD] == SHAPE_ELECT && entering(L, p) == 1u << AG_LOAD;
    return p->deal == DEAL_TICKET && alone;
}

void rings_barriers(Lower *L)
{
    Sched *s = L->sched;
    FOR_RINGS(s, r) {
        if (r->turn == NULL) continue;
        IrBuf *b = &L->ir->bufs.v[r->buf];
        b->slots = at_home(r) ? r->slots : 0;
        b->bytes = (uint32_t)r->used;
        b->pitch = (uint32_t)r->room;
        if (at_home(r)) barriers(L, r, name_text(L, r->tile->name));
    }
    rings_share_barriers(L);
    L->places = arena_array(L->a, RingPlace, L->k->tiles.n);
    for (uint32_t i = 0; i < L->k->tiles.n; i++)
        L->places[i] = (RingPlace){.slot = ring_slot(&s->rings[i]), .batch = s->rings[i].inner > 1, .pitch = s->rings[i].pitch};
    for (uint32_t i = 0; i < s->pipes.n; i++) {
        Pipe *p = s->pipes.v[i];
        if (p->across && (p->deal == DEAL_TICKET || p->deal == DEAL_CLC) && !draws_for_itself(L, p)) add_ids(L, p);
    }
    flight_tell(L);
}
