/* mbarriers: phases, arrivals, byte counts (PTX ISA, mbarrier).
 *
 * The state is the 8 bytes in shared memory (machine.h has the layout); a SimBarrier is what those bytes cannot hold:
 * how many phases are over, who made it, the ledger of the phase. A record is found by the byte offset in its CTA
 * through a table of open addressing. Invariant: while it lives, the bytes equal record->mirror unless something else
 * wrote there, and phase & 1 is their parity.
 *
 * A barrier that is made where one was invalidated takes over its record; the watch tells their phases apart.
 */
#include <inttypes.h>
#include <string.h>

#include "runtime/sim/machine.h"
#include "runtime/sim/trace/trace.h"
#include "runtime/sim/watch/watch.h"

#define TX_MAX ((int64_t)SIM_MBAR_COUNT_MAX)
#define LIVE (UINT64_C(1) << 63)
#define TABLE_FIRST 16u /* a power of 2 */

typedef struct Table {
    SimBarrier **slot; /* the newest record of an offset */
    uint32_t cap, n;
    struct Table *next; /* in the pool, with the record array of its CTA */
    SimBarrier **records;
    uint32_t nrecords, records_cap;
} Table;

typedef struct State {
    uint32_t count, pending;
    int64_t tx;
    uint32_t parity;
} State;

static uint64_t encode(const State *s)
{
    uint64_t tx = (uint64_t)s->tx & UINT64_C(0x3FFFFF);
    return LIVE | (uint64_t)s->parity << 62 | tx << 40 | (uint64_t)s->pending << 20 | s->count;
}

static State decode(uint64_t bits)
{
    int64_t tx = (int64_t)(bits >> 40 & 0x3FFFFF);
    return (State){.count = (uint32_t)(bits & SIM_MBAR_COUNT_MAX),
                   .pending = (uint32_t)(bits >> 20 & SIM_MBAR_COUNT_MAX),
                   .tx = tx >= 0x200000 ? tx - 0x400000 : tx,
                   .parity = (uint32_t)(bits >> 62 & 1)};
}

static uint64_t bytes_get(const uint8_t *p)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < 8; i++) v |= (uint64_t)p[i] << 8 * i;
    return v;
}

static void bytes_put(uint8_t *p, uint64_t v)
{
    for (unsigned i = 0; i < 8; i++) p[i] = (uint8_t)(v >> 8 * i);
}

/* ---- records ---- */
static uint32_t first_slot(const Table *t, uint32_t offset)
{
    return ((offset >> 3) * UINT32_C(2654435761) >> 7) & (t->cap - 1);
}

SimBarrier *mbar_find(SimCta *cta, uint32_t offset)
{
    const Table *t = cta->barrier_table;
    if (t == NULL) return NULL;
    for (uint32_t i = first_slot(t, offset);; i = (i + 1) & (t->cap - 1)) {
        SimBarrier *b = t->slot[i];
        if (b == NULL || b->offset == offset) return b;
    }
}

static void table_put(Table *t, SimBarrier *b)
{
    uint32_t i = first_slot(t, b->offset);
    while (t->slot[i] && t->slot[i]->offset != b->offset) i = (i + 1) & (t->cap - 1);
    if (t->slot[i] == NULL) t->n++;
    t->slot[i] = b;
}

static Table *table_new(SimMachine *m, SimCta *cta)
{
    Table *t = m->barrier_pool;
    if (t) {
        m->barrier_pool = t->next;
        cta->barriers.v = t->records;
        cta->barriers.cap = t->records_cap;
        memset(t->slot, 0, t->cap * sizeof *t->slot);
        t->n = 0;
    } else {
        t = arena_new(&m->arena, Table);
        t->cap = TABLE_FIRST;
        t->slot = arena_array(&m->arena, SimBarrier *, t->cap);
    }
    return t;
}

static Table *table_with_room(SimMachine *m, SimCta *cta)
{
    if (cta->barrier_table == NULL) cta->barrier_table = table_new(m, cta);
    Table *t = cta->barrier_table;
    if (t->n < t->cap / 2) return t;
    Table old = *t;
    t->cap *= 2;
    t->n = 0;
    t->slot = arena_array(&m->arena, SimBarrier *, t->cap);
    for (uint32_t i = 0; i < old.cap; i++)
        if (old.slot[i]) table_put(t, old.slot[i]);
    return t;
}

static SimBarrier *record_new(SimMachine *m, SimCta *cta, uint32_t offset)
{
    Table *t = table_with_room(m, cta);
    SimBarrier *b;
    if (cta->barriers.n < t->nrecords) { /* one of the CTA that had the table before */
        b = cta->barriers.v[cta->barriers.n++];
        memset(b, 0, sizeof *b);
    } else {
        b = arena_new(&m->arena, SimBarrier);
        vec_push(&m->arena, &cta->barriers, b);
    }
    b->offset = offset;
    table_put(t, b);
    return b;
}

/* Without a watch nobody asks for the records of a CTA once it has exited. */
static void recycle(SimMachine *m, SimCta *cta)
{
    Table *t = cta->barrier_table;
    if (t == NULL || m->watch) return;
    t->records = cta->barriers.v;
    t->records_cap = cta->barriers.cap;
    if (cta->barriers.n > t->nrecords) t->nrecords = cta->barriers.n;
    t->next = m->barrier_pool;
    m->barrier_pool = t;
    cta->barrier_table = NULL;
    cta->barriers.v = NULL;
    cta->barriers.n = cta->barriers.cap = 0;
}

static bool is_live(const SimBarrier *b)
{
    return b && (b->mirror & LIVE);
}

static const SimBarrier *nearest(const SimCta *cta, uint32_t offset)
{
    const SimBarrier *best = NULL;
    uint32_t best_gap = UINT32_MAX;
    for (uint32_t i = 0; i < cta->barriers.n; i++) {
        const SimBarrier *b = cta->barriers.v[i];
        uint32_t gap = b->offset > offset ? b->offset - offset : offset - b->offset;
        if (is_live(b) && gap < best_gap) best = b, best_gap = gap;
    }
    return best;
}

/* ---- texts ---- */
static void put_where(const SimCta *cta, uint32_t offset, Text *out)
{
    text_printf(out, "smem+%" PRIu32, offset);
    if (cta->cluster && cta->cluster->nctas > 1) text_printf(out, " of CTA rank %" PRIu32, cta->rank);
}

static void put_init_place(const SimMachine *m, const SimBarrier *b, Text *out)
{
    const SimProgram *p = m->launch.program;
    if (p == NULL || p->places == NULL || b->init.pc >= p->nops) return;
    const SimPlace *at = &p->places[b->init.pc];
    const SimModule *mod = m->launch.module;
    const char *file = mod && at->file < mod->nfiles ? mod->files[at->file] : NULL;
    if (at->line && file) text_printf(out, " (init %s:%" PRIu32 ":%" PRIu32 ")", file, at->line, at->column);
    else text_printf(out, " (init PTX line %" PRIu32 ")", at->ptx_line);
}

/* "barrier at smem+32768 (init x.tile:5:3): phase 0, 0 of 1 arrivals pending, 4096 of 32768 bytes missing" */
static void mbar_describe(SimMachine *m, const SimCta *cta, const SimBarrier *b, Text *out)
{
    State s = decode(b->mirror);
    text_lit(out, "barrier at ");
    put_where(cta, b->offset, out);
    put_init_place(m, b, out);
    if (!is_live(b)) {
        text_lit(out, ": invalidated");
        return;
    }
    text_printf(out, ": phase %" PRIu64 ", %" PRIu32 " of %" PRIu32 " arrivals pending", b->phase, s.pending, s.count);
    if (s.tx > 0) text_printf(out, ", %" PRId64 " of %" PRIu64 " bytes missing", s.tx, b->expected);
    if (s.tx < 0)
        text_printf(out, ", %" PRIu64 " bytes delivered where %" PRIu64 " are expected", b->delivered, b->expected);
}

void mbar_describe_wait(SimMachine *m, const SimCta *cta, const SimBarrier *b, uint64_t phase, Text *out)
{
    State s = decode(b->mirror);
    text_printf(out, "for phase %" PRIu64 " (parity %u) of the barrier at ", phase, (unsigned)(phase & 1));
    put_where(cta, b->offset, out);
    put_init_place(m, b, out);
    if (!is_live(b)) text_lit(out, ", which was invalidated");
    else if (b->phase != phase) text_lit(out, ", which is over");
    else {
        text_lit(out, ", which needs");
        if (s.pending) text_printf(out, " %" PRIu32 " of %" PRIu32 " arrivals", s.pending, s.count);
        if (s.tx) text_str(out, s.pending ? " and" : "");
        if (s.tx > 0) text_printf(out, " %" PRId64 " of %" PRIu64 " bytes", s.tx, b->expected);
        if (s.tx < 0) text_printf(out, " an expect_tx of %" PRId64 " bytes, which were delivered unexpectedly", -s.tx);
    }
}

void mbar_describe_end(SimMachine *m, const SimBarrier *b, Text *out)
{
    if (b->phase == 0) return;
    text_printf(out, "\n    phase %" PRIu64 " ended with %" PRIu64 " bytes expected: ", b->phase - 1, b->last_expected);
    sim_describe(m, b->last_end, out);
}

/* Files `code` with "<text>: <the barrier>". */
static bool fail_with(SimMachine *m, ErrorCode code, const SimWho *who, const SimWho *other, const SimCta *cta,
                      const SimBarrier *b, const char *text)
{
    Text out, notes;
    text_init(&out, &m->mem);
    text_init(&notes, &m->mem);
    text_printf(&out, "%s: ", text);
    mbar_describe(m, cta, b, &out);
    if (is_live(b) && decode(b->mirror).tx < 0) mbar_describe_end(m, b, &notes);
    sim_fail_notes(m, code, who, other, notes.s, "%s", out.s);
    text_free(&notes);
    text_free(&out);
    return false;
}

/* The first mbarrier.init that a thread at this op can still come to; the number of ops: none. */
static uint32_t init_ahead(SimMachine *m, uint32_t pc)
{
    const SimProgram *p = m->launch.program;
    bool *seen = arena_array(&m->arena, bool, p->nops);
    uint32_t *todo = arena_array(&m->arena, uint32_t, (size_t)p->nops + 1), n = 0, at = 0;
    if (pc < p->nops) todo[n++] = pc, seen[pc] = true;
    while (at < n) {
        const SimOp *op = &p->ops[todo[at]];
        if (op->code == SIM_FORM && p->forms[op->imm].form == FORM_MBAR_INIT) return todo[at];
        bool jumps = op->code == SIM_BRA || op->code == SIM_BRX, ends = op->code == SIM_EXIT;
        uint32_t ways = jumps ? (op->code == SIM_BRX ? op->extra : 1) : 0;
        uint32_t next = todo[at++] + 1;
        for (uint32_t i = 0; i <= ways; i++) {
            uint32_t to = i < ways ? (uint32_t)op->imm + i : next;
            if ((i == ways && (jumps || ends) && !op->guard) || to >= p->nops || seen[to]) continue;
            seen[to] = true;
            todo[n++] = to;
        }
    }
    return p->nops;
}

/* Who is still on the way to an init, which may be that of the barrier that is missed. */
static bool put_init_ahead(SimMachine *m, const SimCta *cta, Text *out)
{
    uint32_t none = m->launch.program->nops, last = none;
    for (uint32_t i = 0; i < cta->nthreads; i++) {
        const SimThread *x = &cta->threads[i];
        if (x->wait == WAIT_EXITED || x->pc == last) continue;
        last = x->pc;
        uint32_t init = init_ahead(m, x->pc);
        if (init == none) continue;
        text_printf(out, " yet: thread %" PRIu32 " may still come to the one at ", i);
        sim_describe_place(m, init, out);
        return true;
    }
    return false;
}

bool mbar_missing(SimMachine *m, const SimWho *who, SimCta *cta, uint32_t offset, const char *use)
{
    const SimBarrier *near = nearest(cta, offset), *dead = mbar_find(cta, offset);
    Text out;
    text_init(&out, &m->mem);
    text_str(&out, dead ? "there is no mbarrier at " : "no mbarrier is initialised at ");
    put_where(cta, offset, &out);
    text_str(&out, use);
    if (dead) text_lit(&out, ": it was invalidated");
    else if (!put_init_ahead(m, cta, &out)) {
        text_str(&out, near ? "; the nearest is the " : ", nor anywhere else in its CTA");
        if (near) mbar_describe(m, cta, near, &out);
    }
    sim_fail_at(m, E1307, who, dead ? &dead->init : NULL, "%s", out.s);
    text_free(&out);
    return false;
}

/* ---- state ---- */
/* The live barrier there with its state; NULL: a finding was filed. */
static SimBarrier *open_barrier(SimMachine *m, const SimWho *who, SimCta *cta, uint32_t offset, const uint8_t *data,
                                State *s)
{
    SimBarrier *b = mbar_find(cta, offset);
    if (!is_live(b)) {
        mbar_missing(m, who, cta, offset, "");
        return NULL;
    }
    uint64_t bits = bytes_get(data);
    if (bits != b->mirror) {
        fail_with(m, E1316, who, &b->init, cta, b, "the bytes of this mbarrier were overwritten");
        return NULL;
    }
    *s = decode(bits);
    return b;
}

static void store(SimMachine *m, SimBarrier *b, uint8_t *data, const State *s)
{
    b->mirror = encode(s);
    bytes_put(data, b->mirror);
    m->progress++;
}

static void wake_waiters(SimMachine *m, const SimCta *cta, const SimBarrier *b)
{
    for (uint32_t i = 0; i < cta->nthreads; i++) {
        SimThread *t = &cta->threads[i];
        if (t->wait == WAIT_MBARRIER && t->on == b) sim_wake(m, t);
    }
}

/* PTX ISA, "Phase Completion of the mbarrier object": both counts are zero. */
static bool phase_over(const State *s)
{
    return s->pending == 0 && s->tx == 0;
}

static bool next_phase(SimMachine *m, const SimWho *who, SimCta *cta, SimBarrier *b, uint8_t *data, State *s)
{
    if (s->count == 0)
        return fail_with(m, E1325, who, NULL, cta, b, "arrive_drop has left no arrival for the next phase");
    s->pending = s->count;
    s->parity ^= 1;
    b->phase++;
    b->last_end = *who;
    b->last_expected = b->expected;
    b->expected = b->delivered = 0;
    store(m, b, data, s);
    if (m->watch) watch_mbar_phase(m, cta, b);
    if (m->trace) trace_phase(m, cta, b->offset, b->phase);
    wake_waiters(m, cta, b);
    return true;
}

/* Everything has arrived but more bytes came than were expected: the phase can never end. */
static bool too_many_bytes(const State *s)
{
    return s->pending == 0 && s->tx < 0;
}
static const char *const TOO_MANY_BYTES = "more bytes were delivered than the phase expects";
static const char *const TX_RANGE = "the tx-count leaves the range of +-1048575";

/* ---- operations ---- */
bool mbar_init(SimMachine *m, SimThread *t, const SimLoc *at, uint32_t count)
{
    uint32_t offset = (uint32_t)at->offset;
    SimCta *cta = at->cta;
    SimWho who = sim_who(t);
    if (offset % 8) return sim_fail(m, E1314, t, "an mbarrier is aligned to 8 bytes; smem+%" PRIu32 " is not", offset);
    if (count == 0 || count > SIM_MBAR_COUNT_MAX)
        return sim_fail(m, E1325, t, "mbarrier.init with a count of %" PRIu32 "; 1 .. %u is allowed", count,
                        SIM_MBAR_COUNT_MAX);
    SimBarrier *b = mbar_find(cta, offset);
    if (is_live(b)) {
        Text out;
        text_init(&out, &m->mem);
        text_lit(&out, "mbarrier.init where one lives (mbarrier.inval ends it): ");
        mbar_describe(m, cta, b, &out);
        sim_fail_at(m, E1308, &who, &b->init, "%s", out.s);
        text_free(&out);
        return false;
    }
    if (b == NULL) b = record_new(m, cta, offset);
    b->phase = b->expected = b->delivered = b->last_copy = b->observed = 0;
    b->init = who;
    State s = {.count = count, .pending = count};
    if (m->watch && !watch_mbar_init(m, t, cta, b, at)) return false;
    store(m, b, at->data, &s);
    return true;
}

bool mbar_inval(SimMachine *m, SimThread *t, const SimLoc *at)
{
    State s;
    SimWho who = sim_who(t);
    SimBarrier *b = open_barrier(m, &who, at->cta, (uint32_t)at->offset, at->data, &s);
    if (b == NULL || (m->watch && !watch_mbar_inval(m, t, at->cta, b, at))) return false;
    b->mirror = 0;
    bytes_put(at->data, 0);
    m->progress++;
    return true;
}

/* What mbarrier.arrive returns: the phase before in the low 32 bits, the pending count behind. */
static uint64_t state_token(const SimBarrier *b, const State *s)
{
    return (b->phase & UINT32_MAX) | (uint64_t)s->pending << 32;
}

uint32_t mbar_state_pending(uint64_t state)
{
    return (uint32_t)(state >> 32 & SIM_MBAR_COUNT_MAX);
}

static bool too_many_arrivals(SimMachine *m, const SimWho *who, SimCta *cta, SimBarrier *b, const State *s,
                              uint32_t arrivals)
{
    Text out;
    text_init(&out, &m->mem);
    text_printf(&out, "%" PRIu32 " arrival%s where ", arrivals, arrivals == 1 ? "" : "s");
    if (s->pending) text_uint(&out, s->pending);
    text_printf(&out, "%s pending", s->pending == 0 ? "none is" : s->pending == 1 ? " is" : " are");
    fail_with(m, E1325, who, NULL, cta, b, out.s);
    text_free(&out);
    return false;
}

bool mbar_arrive(SimMachine *m, SimThread *t, const SimLoc *at, uint32_t arrivals, uint64_t bytes, bool expect,
                 bool relaxed, bool cluster_scope, bool drop, uint64_t *state)
{
    State s;
    SimCta *cta = at->cta;
    SimWho who = sim_who(t);
    SimBarrier *b = open_barrier(m, &who, cta, (uint32_t)at->offset, at->data, &s);
    if (b == NULL || (m->watch && !watch_mbar_use(m, t, cta, b))) return false;
    if (state) *state = state_token(b, &s);
    if (expect) {
        if (bytes > SIM_MBAR_COUNT_MAX || s.tx + (int64_t)bytes > TX_MAX)
            return fail_with(m, E1302, &who, NULL, cta, b, TX_RANGE);
        s.tx += (int64_t)bytes;
        b->expected += bytes;
    }
    if (arrivals > s.pending) return too_many_arrivals(m, &who, cta, b, &s, arrivals);
    if (drop && arrivals > s.count)
        return fail_with(m, E1325, &who, NULL, cta, b, "arrive_drop of more arrivals than a phase expects");
    if (arrivals && m->watch) watch_mbar_arrive(m, t, cta, b, relaxed, cluster_scope);
    s.pending -= arrivals;
    if (drop) s.count -= arrivals;
    b->last = who;
    if (phase_over(&s)) return next_phase(m, &who, cta, b, at->data, &s);
    store(m, b, at->data, &s);
    if (too_many_bytes(&s)) return fail_with(m, E1302, &who, NULL, cta, b, TOO_MANY_BYTES);
    return true;
}

bool mbar_arrive_async(SimMachine *m, const SimWho *who, SimCta *cta, uint32_t offset, uint32_t agent, uint32_t number)
{
    State s;
    uint8_t *data = cta->smem + offset;
    SimBarrier *b = open_barrier(m, who, cta, offset, data, &s);
    if (b == NULL) return false;
    if (s.pending == 0) return too_many_arrivals(m, who, cta, b, &s, 1);
    if (m->watch) watch_tensor_committed(m, b, agent, number);
    s.pending--;
    b->last = *who;
    if (phase_over(&s)) return next_phase(m, who, cta, b, data, &s);
    store(m, b, data, &s);
    if (too_many_bytes(&s)) return fail_with(m, E1302, who, NULL, cta, b, TOO_MANY_BYTES);
    return true;
}

bool mbar_complete(SimMachine *m, SimThread *t, const SimWho *who, SimCta *cta, uint32_t offset, uint64_t bytes)
{
    if (cta->smem == NULL || cta->smem_bytes < 8 || offset > cta->smem_bytes - 8) {
        const char *text = "bytes complete on an mbarrier outside the shared memory of its CTA";
        return t ? sim_fail(m, E1313, t, "%s", text) : sim_fail_at(m, E1313, who, NULL, "%s", text);
    }
    State s;
    uint8_t *data = cta->smem + offset;
    SimWho by = t ? sim_who(t) : *who;
    SimBarrier *b = open_barrier(m, &by, cta, offset, data, &s);
    if (b == NULL || (t && m->watch && !watch_mbar_use(m, t, cta, b))) return false;
    if (bytes > SIM_MBAR_COUNT_MAX || s.tx - (int64_t)bytes < -TX_MAX)
        return fail_with(m, E1302, &by, NULL, cta, b, TX_RANGE);
    s.tx -= (int64_t)bytes;
    b->delivered += bytes;
    b->last = by;
    if (phase_over(&s)) return next_phase(m, &by, cta, b, data, &s);
    store(m, b, data, &s);
    if (too_many_bytes(&s)) return fail_with(m, E1302, &by, NULL, cta, b, TOO_MANY_BYTES);
    return true;
}

/* ---- waits ---- */
static MbarTest answer(SimMachine *m, SimThread *t, SimCta *cta, SimBarrier *b, uint64_t seen, bool relaxed,
                       bool cluster_scope)
{
    if (seen > b->observed) b->observed = seen;
    if (m->watch && seen && !watch_mbar_seen(m, t, cta, b, seen, relaxed, cluster_scope)) return MBAR_FAILED;
    if (m->trace && seen) trace_seen(m, t, cta, b->offset, seen);
    return MBAR_YES;
}

static SimBarrier *open_wait(SimMachine *m, SimThread *t, const SimLoc *at, State *s)
{
    SimWho who = sim_who(t);
    SimBarrier *b = open_barrier(m, &who, at->cta, (uint32_t)at->offset, at->data, s);
    return b == NULL || (m->watch && !watch_mbar_use(m, t, at->cta, b)) ? NULL : b;
}

MbarTest mbar_test_parity(SimMachine *m, SimThread *t, const SimLoc *at, uint32_t parity, bool relaxed,
                          bool cluster_scope, SimBarrier **out)
{
    State s;
    SimBarrier *b = *out = open_wait(m, t, at, &s);
    if (b == NULL) return MBAR_FAILED;
    bool over = s.parity != (parity & 1);
    if (m->watch) watch_mbar_asked(m, t, b, (int)(parity & 1), over ? b->phase : 0, over);
    if (!over) return MBAR_NO;
    return answer(m, t, at->cta, b, b->phase, relaxed, cluster_scope);
}

MbarTest mbar_test_state(SimMachine *m, SimThread *t, const SimLoc *at, uint64_t state, bool relaxed,
                         bool cluster_scope, SimBarrier **out)
{
    State s;
    SimBarrier *b = *out = open_wait(m, t, at, &s);
    if (b == NULL) return MBAR_FAILED;
    uint32_t behind = (uint32_t)(b->phase & UINT32_MAX) - (uint32_t)(state & UINT32_MAX);
    bool over = behind != 0 && behind <= b->phase;
    uint64_t seen = over ? b->phase - behind + 1 : 0;
    if (m->watch) watch_mbar_asked(m, t, b, -1, seen, over);
    if (!over) return MBAR_NO;
    return answer(m, t, at->cta, b, seen, relaxed, cluster_scope);
}

/* ---- end ---- */
bool mbar_cta_exit(SimMachine *m, SimCta *cta)
{
    for (uint32_t i = 0; i < cta->barriers.n; i++) {
        SimBarrier *b = cta->barriers.v[i];
        if (!is_live(b) || b->offset + UINT64_C(8) > cta->smem_bytes) continue;
        if (bytes_get(cta->smem + b->offset) != b->mirror) {
            if (!m->checking) continue;
            return fail_with(m, E1316, &b->init, NULL, cta, b,
                             "the CTA exits, and the bytes of this mbarrier were overwritten");
        }
        State s = decode(b->mirror);
        if (s.pending != s.count || s.tx != 0)
            return fail_with(m, E1309, &b->last, &b->init, cta, b, "the CTA exits in the middle of a phase");
    }
    recycle(m, cta);
    return true;
}
