/* The walk over the program: each move by its agent, and what hands slots from agent to agent. */
#include "lower/schedule/schedule.h"
#include "lower/schedule/written/sync.h"

enum { CHAIN_MAX = 63 };

void sched_as(Lower *L, Agent a)
{
    Sched *s = L->sched;
    s->role = a;
    s->now = &s->state[a];
    L->values->lanes = s->shape[a] == SHAPE_LANES;
    L->agent = 0;
    if (a == AG_NONE || s->planning) return;
    for (int i = 0; i <= (int)a; i++) L->agent += s->used[i];
}

/* ---- turns ---- */

static void take_ring(Lower *L, Ring *r)
{
    Sched *s = L->sched;
    if (r->kept) {
        kept_begin(L, r);
        return;
    }
    if (r->filler != s->role) {
        ring_wait_full(L, r);
        if (r->summed && s->role == AG_SEND) remote_ready(L, r);
        else if (r->summed) ring_await(L, r, r->sum, true);
        if (r->generic && s->role == AG_WORK) emit_fence(L, IRS_CLUSTER);
        return;
    }
    ring_acquire(L, r);
    r->filled = 0;
    bool batch = r->pipe && r->pipe->batch > 1 && r->filler == AG_LOAD;
    if (batch) ring_announce(L, IR_BAR_ARRIVE_EXPECT, r->full, ring_slot(r), opnd_imm(r->bytes * r->pipe->batch));
}

static void ring_begin(Lower *L, Ring *r)
{
    take_ring(L, r);
    device_ring(L, r);
}

static bool of_tile(const Sched *s, const Ring *r) /* ids: deal_ways.c */
{
    return r->tile && ring_uses(r, s->role);
}

void walk_begin(Lower *L, const PBlock *b)
{
    FOR_AGENTS(L, a)
        FOR_RINGS_AT(L, b, AG_NONE, r)
            if (of_tile(L->sched, r)) ring_begin(L, r);
}

/* Stores of a turn are one group, however many of them loops in it have: those are committed with the turn's own. Unless
 * something in the loop, which may come before them in its next turn, waits for all. */
static bool ordered_within(Lower *L, const PBlock *b)
{
    const Sched *s = L->sched;
    const Link *at = &s->chain[s->depth];
    bool ordered = false;
    uint32_t from = at->loop ? loop_use(L, at->loop)->from : 0, end = at->loop ? loop_use(L, at->loop)->end : s->moves.n;
    for (uint32_t i = from; i < end && at->block == b; i++) ordered |= s->moves.v[i]->ordered; /* nothing in a batch is */
    return ordered;
}

static void agent_end(Lower *L, const PBlock *b)
{
    Sched *s = L->sched;
    bool stored = false, released = false, looped = false;
    uint32_t lag = 0;
    L->stmt = NULL;
    if (s->role == AG_WORK) kept_arrive(L, NULL);
    tmem_settle(L);
    FOR_RINGS_AT(L, b, AG_NONE, r) {
        if (!r->tile && ring_uses(r, s->role) && r->filler != s->role) released = true; /* ids, by deal.c */
        if (!of_tile(s, r)) continue;
        looped |= r->looped;
        if (r->stored && s->role == AG_WORK) {
            if (!stored || r->lag < lag) lag = r->lag;
            stored = true;
        }
        released |= (r->empty != BAR_NONE && r->filler != s->role) || (r->kept && r->filled_by_copies && s->role == AG_WORK);
    }
    s->now->pending |= stored && lag > 0; /* loops in the turn that store its tiles may have no turns */
    if (s->now->pending && (stored || ordered_within(L, b))) agent_commit(L);
    if (agent_readers_end(L, b) && s->shape[s->role] == SHAPE_LANES) released = true; /* each lane has waited for its own */
    if (stored && looped) emit_grp_wait(L, lag, IRH_READ);
    if (s->shape[s->role] == SHAPE_LANES) s->now->dirty = true;
    if (released) agent_store_sync(L);
    agent_fence(L); /* the next turn, and what stands behind the loop, take it for done */
    FOR_RINGS_AT(L, b, AG_NONE, r) {
        if (!of_tile(s, r)) continue;
        if (r->filler != s->role || (r->across && r->looped)) ring_release(L, r);
        ring_advance(L, r);
    }
    s->now->dirty = s->shape[s->role] == SHAPE_THREADS;
}

void walk_end(Lower *L, const PBlock *b)
{
    FOR_AGENTS(L, a) agent_end(L, b);
}

/* ---- statements ---- */

/* Under conditions on the rank alone: through a loop whose tiles are sent, or sent to, all CTAs go as often, and what stands in it has the
 * conditions. */
static bool in_step(Lower *L, const PStmt *st)
{
    const Sched *s = L->sched;
    const LoopUse *use = loop_use(L, st);
    bool shared = false;
    if (!L->derived || s->planning || L->cluster_size == 1 || !opnd_is(s->open, 1)) return false;
    for (uint32_t i = use->from; i < use->end && !shared; i++) {
        const Planned *p = s->moves.v[i];
        for (uint32_t k = 0; k < s->moves.n && !shared; k++) {
            const Planned *q = s->moves.v[k];
            if (q->st->move->dst.peer || q->st->move->cast == CAST_MASK) shared = (p->dst && (p->dst == q->src || p->dst == q->dst)) || (p->src && p->src == q->dst);
        }
    }
    return shared;
}

/* Bounds are worked out once, in front: the body may change variables in them. */
void walk_loop(Lower *L, const PStmt *st, Pipe *p)
{
    const PStmt *index = p ? p->index : st;
    int n = p ? st->pipe->n : 1;
    Opnd from[PIPE_INDICES], to[PIPE_INDICES], guard = L->guard, followed = L->sync->guard;
    uint32_t block = L->sync->block, turn = L->sync->turn;
    bool all = !opnd_is(guard, 1) && in_step(L, st);
    sync_in(L, ++L->sync->nblocks, 0);
    for (int i = 0; i < n; i++) {
        LoopState *s = &L->scalars->loops[index[i].id];
        from[i] = lower_bound(L, index[i].lo, s->wide);
        to[i] = lower_bound(L, index[i].value, s->wide);
        if (!all) to[i] = emit_sel(L, s->wide ? IR_I64 : IR_I32, guard, to[i], from[i]);
    }
    if (!all) L->guard = opnd_imm(1);
    L->sync->guard = opnd_imm(1);
    for (int i = 0; i < n; i++) {
        LoopState *s = &L->scalars->loops[index[i].id];
        loop_open(L, &index[i]);
        s->value = emit_loop(L, s->wide ? IR_I64 : IR_I32, from[i], to[i]);
        vars_forget(L, st, POINT_IN);
    }
    walk_turn(L, st, p, NULL);
    for (int i = n; i-- > 0;) {
        emit_end(L);
        vars_forget(L, st, POINT_BEHIND);
        loop_close(L, &index[i]);
    }
    L->guard = guard;
    L->sync->guard = followed;
    sync_in(L, block, turn);
}

static void statements(Lower *L, const PBlock *b, const BodyPart *part);

static void branch_body(Lower *L, const PStmt *st, Opnd outer, Opnd cond, bool other)
{
    Sched *s = L->sched;
    bool followed = L->derived ? cluster_decides(L, st->value) : sync_follows(L, st->value);
    int now = L->derived && followed ? cond_now(L, st->value) : -1;
    if (now >= 0) cond = opnd_imm(now); /* who is left out, and what bytes are announced, goes by what is known */
    Opnd open = s->open, sync = L->sync->guard, holds = other ? emit_not(L, cond) : cond;
    if (L->derived) L->sync->block = s->depth;
    around_enter(L, st, other, followed);
    if (!L->derived && followed) L->sync->guard = emit_logic(L, IR_AND, sync, holds);
    L->guard = emit_logic(L, IR_AND, outer, holds);
    if (L->derived && !followed) s->open = emit_logic(L, IR_AND, open, holds);
    uint32_t around = conditions_open(L, st->value, !other);
    statements(L, other ? &st->other : &st->body, NULL);
    L->scalars->conditions.n = around;
    L->sync->naround--;
    s->open = open;
    L->sync->guard = sync;
    L->guard = outer;
    vars_forget(L, st, other || !st->has_else ? POINT_BEHIND : POINT_OTHER);
}

static void branches(Lower *L, const PStmt *st, Opnd cond)
{
    Opnd outer = L->guard;
    branch_body(L, st, outer, cond, false);
    if (st->has_else) branch_body(L, st, outer, cond, true);
}

static void branch(Lower *L, const PStmt *st)
{
    const Sched *s = L->sched;
    Opnd cond = value_pred(L, st->value);
    if (s->planning || !uses_apart(s, st)) branches(L, st, cond);
    else FOR_AGENTS_APART(L, a) {
        vars_forget(L, st, POINT_IN); /* as the agent before found them */
        branches(L, st, cond);
    }
}

static void refuse(Lower *L, const PStmt *st, const char *what)
{
    if (!L->sched->planning || !L->derived) return;
    cannot(L, NULL, E0748, st->span, agents_wanted(L->k)->span, "because of this",
           "leave it out: what it orders is ordered; or write the whole protocol by hand in `roles`", "%s in a kernel whose schedule is derived", what);
}

bool walk_enter(const Lower *L, const PStmt *st, int agent)
{
    const LoopUse *use = loop_use(L, st);
    return use->sets || use->agents >> agent & 1;
}

/* from, nvars, set: what there was in front of it. */
static void note_loop(Lower *L, const PStmt *st, uint32_t from, uint32_t nvars, uint32_t set)
{
    Sched *s = L->sched;
    LoopUse *in = loop_use(L, st);
    in->sets = s->set < nvars;
    if (set < s->set) s->set = set;
    in->from = from;
    in->end = s->moves.n;
    if (st->kind == P_PIPELINE && st->pipe->deal != DEAL_NONE) in->agents |= 1u << AG_LOAD; /* tickets are drawn there */
    if (!L->derived) in->agents |= 1u << AG_WORK; /* what the program waits for */
    for (uint32_t i = from; i < s->moves.n; i++) {
        const Planned *p = s->moves.v[i];
        in->agents |= (uint8_t)(1u << p->agent);
        /* A loaded tile that nobody reads is still waited for by the working role. */
        if (p->dst && p->agent != AG_WORK) in->agents |= 1u << AG_WORK;
    }
}

/* A loop: its body may run never, or again. False: for nobody. */
static bool enter(Lower *L, const PStmt *st)
{
    Sched *s = L->sched;
    uint8_t outer = s->active;
    for (int a = 0; a < AG_COUNT; a++)
        if (!walk_enter(L, st, a)) s->active &= (uint8_t)~(1u << a);
    FOR_AGENTS(L, a)
    {
        if (a == AG_WORK) kept_arrive(L, NULL);
        agent_fence(L);
        agent_commit(L);
        tmem_settle(L);
    }
    if (s->active) return true;
    s->active = outer;
    return false;
}

static void statement(Lower *L, const PStmt *st)
{
    Sched *s = L->sched;
    uint32_t from = s->moves.n, nvars = s->nvars, set = s->set;
    uint8_t outer = s->active;
    bool loop = st->kind == P_FOR || st->kind == P_PIPELINE;
    L->stmt = st;
    if (loop && !s->planning && !enter(L, st)) return;
    if (loop) s->set = UINT32_MAX;
    switch (st->kind) {
    case P_LET: lower_let(L, st); break;
    case P_VIEW:
        if (s->planning) device_view(L, st);
        else FOR_AGENTS(L, a) device_view(L, st);
        break;
    case P_VAR:
    case P_SET:
        if (st->kind == P_VAR) s->nvars = st->id + 1;
        else if (st->id < s->set) s->set = st->id;
        lower_assign(L, st);
        break;
    case P_FOR: walk_loop(L, st, NULL); break;
    case P_IF: branch(L, st); break;
    case P_MOVE:
        if (st->move->commit != COMMIT_DERIVED) refuse(L, st, "an explicit commit");
        if (s->planning) plan_move(L, st);
        else agent_move(L, s->moves.v[st->id]);
        break;
    case P_PIPELINE: deal_walk(L, pipe_of(L, st)); break;
    case P_GROUP:
        refuse(L, st, "an explicit group");
        statements(L, &st->body, NULL);
        L->stmt = st;
        if (!L->derived) written_sync(L, st);
        break;
    case P_WAIT:
    case P_WAIT_GROUP:
    case P_ARRIVE:
    case P_EXPECT:
        refuse(L, st, "an explicit wait or arrival");
        if (!L->derived) written_sync(L, st);
        break;
    case P_ROLES: written_roles(L, st); break; /* stands alone: the front end refuses pipelines and moves beside it */
    }
    if (loop && s->planning) note_loop(L, st, from, nvars, set);
    s->active = outer;
}

/* Slots are taken at the first statement of the turn that uses them, on every way (behind it by who only awaits that they are filled);
 * they are given back at its end. */
static void take_slots(Lower *L, const PStmt *st, bool behind)
{
    Sched *s = L->sched;
    Opnd guard = L->guard;
    uint32_t around = L->sync->naround;
    L->guard = opnd_imm(1);
    L->sync->naround = 0;
    FOR_AGENTS(L, a)
    {
        FOR_RINGS_AT(L, st, a, r) {
            if (r->turn != s->chain[s->depth].block || behind != (r->unread && a == AG_WORK)) continue;
            L->stmt = st;
            ring_begin(L, r);
        }
    }
    L->guard = guard;
    L->sync->naround = around;
}

static void statements(Lower *L, const PBlock *b, const BodyPart *part)
{
    Sched *s = L->sched;
    bool inside = part == NULL;
    for (const PStmt *st = b->first; st; st = st->next) {
        if (part && st == part->first) inside = true;
        if (part && st == part->end) inside = false;
        if (st->kind == P_MOVE ? !inside : part && part->together) continue;
        if (b == &L->k->body && L->k->roles_span.hi && st->kind != P_ROLES) continue; /* their scalars are made in each of them */
        if (!s->planning && !part) take_slots(L, st, false);
        statement(L, st);
        if (!s->planning && !part) take_slots(L, st, true);
    }
}

static void open_turn(Lower *L, const PStmt *loop, Pipe *pipe)
{
    Sched *s = L->sched;
    bool dealt = pipe && pipe->across;
    if (s->depth + 1 >= CHAIN_MAX) lower_error(L, E0106, L->stmt->span, "loops and pipelines nest more than %d deep", CHAIN_MAX);
    else s->depth++;
    Link *chain = arena_array(L->a, Link, s->depth + 1), *last = &chain[s->depth];
    memcpy(chain, s->chain, s->depth * sizeof *chain);
    *last = chain[s->depth - 1];
    if (dealt) last->across = pipe;
    last->looped |= !dealt || pipe->deal != DEAL_LAUNCH;
    last->block = &loop->body;
    last->loop = loop;
    last->pipe = pipe;
    s->chain = chain;
    if (last->looped) FOR_AGENTS(L, a) s->now->dirty = s->shape[a] == SHAPE_THREADS;
}

typedef struct Before { /* a loop, which may not run */
    const Link *chain;
    uint32_t depth;
    AgentState agent[AG_COUNT];
    Ring **readers;
    uint32_t n;
} Before;

static Before before_turn(Lower *L, const PStmt *loop)
{
    Sched *s = L->sched;
    Before before = {.chain = s->chain, .depth = s->depth, .readers = arena_array(L->a, Ring *, s->readers.n), .n = s->readers.n};
    memcpy(before.agent, s->state, sizeof before.agent);
    for (uint32_t i = 0; i < before.n; i++) before.readers[i] = s->readers.v[i];
    if (!L->derived && !s->planning) written_turn(L, loop);
    agent_readers_youngest(L);
    return before;
}

static void close_turn(Lower *L, const Before *before, bool ids)
{
    Sched *s = L->sched;
    s->chain = before->chain;
    s->depth = before->depth;
    for (uint32_t i = 0; i < before->n; i++) agent_reads(L, before->readers[i]);
    agent_readers_youngest(L);
    FOR_AGENTS(L, a)
    {
        const AgentState *was = &before->agent[a];
        s->now->id_read |= ids && was->id_read;
        s->now->unfenced |= was->unfenced;
        s->now->stored |= was->stored;
        s->now->unread |= was->unread;
        s->now->unwritten |= was->unwritten;
        s->now->unseen |= was->unseen;
    }
}

void walk_turn(Lower *L, const PStmt *st, Pipe *p, const BodyPart *part)
{
    Sched *s = L->sched;
    Opnd open = s->open;
    s->open = opnd_imm(1);
    Before before = before_turn(L, st);
    open_turn(L, st, p);
    if (part && p->whole) FOR_AGENTS(L, a) s->now->dirty = before.agent[a].dirty; /* no turn but a piece of one */
    statements(L, &st->body, part);
    if (!s->planning && !part) walk_end(L, &st->body);
    close_turn(L, &before, !(p && p->across));
    s->open = open;
}

void walk_block(Lower *L, const PBlock *b)
{
    Sched *s = L->sched;
    s->depth = 0;
    s->open = opnd_imm(1);
    Link *chain = arena_new(L->a, Link);
    *chain = (Link){.block = b};
    s->chain = chain;
    for (int a = 0; a < AG_COUNT; a++) s->state[a] = (AgentState){0};
    statements(L, b, NULL);
    if (!s->planning) walk_end(L, b);
}
