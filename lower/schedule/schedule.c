/* Derived schedules: the table of contents of schedule.h's files. */
#include "lower/schedule/schedule.h"

#include "lang/limits.h"
#include "lower/emit/roles.h"
#include "lower/plan/work.h"
#include "lower/schedule/versions/versions.h"
#include "lower/schedule/written/sync.h"

enum { WORK_THREADS = 256, ONCE_THREADS = 128 }; /* a CTA that has one iteration makes room for the next one sooner */

const char *const AGENT_NAMES[AG_COUNT + 1] = {[AG_LOAD] = "load", [AG_SEND] = "send", [AG_WORK] = "work", [AG_NONE] = ""};

/* ---- planning ---- */

/* The planning walk makes normal forms, maps and checks; the ops that it emits on the way are thrown away. */
void schedule_plan(Lower *L)
{
    Sched *s = L->sched;
    MfKernel *mf = &L->ir->mf;
    s->planning = true;
    sched_as(L, AG_NONE);
    L->values->no_hoist = true;
    scope_open(L);
    walk_block(L, &L->k->body);
    scope_close(L);
    L->values->no_hoist = false;
    L->stmt = NULL;
    L->body.ops.n = 0;
    L->ir->vars.n = 0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < mf->params.n; i++)
        if (mf->params.v[i].kind == MF_PARAM_MAP) mf->params.v[kept++] = mf->params.v[i];
    mf->params.n = kept;
    s->planning = false;
}

/* Streaming: what one team loads once and stores once. Sums that reductions add to in L2 are to stay there instead; and pixels that im2col copies read again
 * for other taps are to go like what is stored, or they drive out lines that are half written. Of several schedules
 * the first one is for launches that move so much that hints pay; and where they are off, copies that carry none are faster. */
static void hints(Lower *L)
{
    Sched *s = L->sched;
    if (L->k->hints < 0 && L->c->hints == 0) return;
    FOR_MOVES(s, p)
        if (planned_across(p) && p->st->move->kind == MOVE_STORE && p->st->move->reduce >= 0) planned_across(p)->reduces = true;
    FOR_MOVES(s, p) {
        PMoveKind kind = p->st->move->kind;
        const Pipe *across = planned_across(p);
        bool direct = across && planned_block(p) == &across->st->body;
        if (!direct || p->by_rank || p->st->move->cast != CAST_NONE) continue;
        if (kind == MOVE_LOAD) p->mi.hint = across->reduces || is_im2col(p->st->move) ? HINT_FIRST : HINT_LAST;
        if (kind == MOVE_STORE && p->st->move->reduce < 0) p->mi.hint = HINT_FIRST;
    }
}

static bool dealt_to_lanes(const Planned *p)
{
    if (planned_across(p) && planned_across(p)->batch > 1) return true;
    const TensorPlan *t = p->copies.t;
    if (p->agent != AG_NONE && t) return t->device || (is_rows4(p->st->move) && t->npieces > 1); /* a warp makes maps */
    return p->agent != AG_NONE && p->copies.b && p->copies.b->loop;
}

/* A team for each iteration, and in that all loads in front of the stores: roles would overlap nothing. threads: those move from tile to tile in between. */
static bool once(Lower *L, bool threads)
{
    const Sched *s = L->sched;
    bool stored = false;
    if (s->pipes.n != 1 || !s->pipes.v[0]->across || s->pipes.v[0]->deal != DEAL_LAUNCH || L->cluster_size > 1) return false;
    FOR_MOVES(s, p) {
        PMoveKind kind = p->st->move->kind;
        if (threads && planned_by_threads(p) && !p->copies.g) continue;
        bool copy = (kind == MOVE_LOAD || kind == MOVE_STORE) && !planned_by_threads(p) && !dealt_to_lanes(p);
        if (!copy || planned_block(p) != &s->pipes.v[0]->st->body || (kind == MOVE_LOAD && stored)) return false;
        stored |= kind == MOVE_STORE && p->naround == 0;
    }
    return true;
}

/* at: where the program says it. */
static int64_t work_threads(const Lower *L, Span *at)
{
    const Sched *s = L->sched;
    int64_t threads = L->k->threads > 32 ? L->k->threads : 0;
    bool all = s->pipes.n > 0;
    *at = L->k->threads_span;
    for (uint32_t i = 0; i < s->pipes.n; i++) {
        const PPipe *p = s->pipes.v[i]->st->pipe;
        if (p->threads) threads = p->threads, *at = p->threads_span;
        all &= s->pipes.v[i]->across && s->pipes.v[i]->deal == DEAL_LAUNCH;
    }
    return threads ? threads : all ? ONCE_THREADS : WORK_THREADS;
}

/* One thread does all, unless there is something that only threads do; those of one warp load themselves what they work on once. */
static void alone(Lower *L)
{
    Sched *s = L->sched;
    Span at;
    s->alone |= once(L, false);
    FOR_MOVES(s, p) s->alone &= !p->copies.g;
    bool warp = !s->alone && work_threads(L, &at) == 32 && once(L, true);
    FOR_RINGS(s, r) r->kept = s->alone;
    FOR_MOVES(s, p) {
        if (s->alone || warp) p->agent = AG_WORK;
        if (warp && p->st->move->kind == MOVE_LOAD) s->rings[p->st->move->dst.tile->index].kept = true;
    }
}

/* ---- roles ---- */

static void shapes(Lower *L)
{
    Sched *s = L->sched;
    Span at;
    int64_t threads = work_threads(L, &at), beside = 0;
    for (int a = 0; a < AG_COUNT; a++) s->warps[a] = 1;
    FOR_MOVES(s, p) {
        if (planned_by_threads(p)) {
            s->shape[AG_WORK] = SHAPE_THREADS;
            s->warps[AG_WORK] = (uint32_t)threads / 32;
        } else if (s->shape[p->agent] == SHAPE_ELECT && dealt_to_lanes(p)) {
            s->shape[p->agent] = SHAPE_LANES;
        }
    }
    for (int a = 0; a < AG_COUNT; a++) beside += s->used[a] && a != AG_WORK ? 32 * s->warps[a] : 0;
    if (32 * s->warps[AG_WORK] + beside <= CTA_THREADS_MOST) return;
    const char *fix = arena_printf(L->a, "at most %lld threads", CTA_THREADS_MOST - (long long)beside);
    cannot(L, NULL, E0902, at, (Span){0, 0}, NULL, fix, "work has %lld threads, and the roles beside it %lld; a CTA has at most %d", (long long)threads,
           (long long)beside, CTA_THREADS_MOST);
}

static void agents(Lower *L)
{
    Sched *s = L->sched;
    for (int a = 0; a < AG_COUNT; a++) {
        if (!s->used[a]) continue;
        s->active |= (uint8_t)(1u << a);
        vec_push(L->a, &L->ir->roles, ((IrRole){.name = s->alone ? "main" : AGENT_NAMES[a], .warps = s->warps[a], .elect = s->shape[a] == SHAPE_ELECT}));
    }
}

/* The program in its order, with the ops of all agents. */
static void tree(Lower *L)
{
    Sched *s = L->sched;
    agents(L);
    sched_as(L, AG_NONE);
    L->scalars->epoch++;
    scope_open(L);
    FOR_AGENTS(L, a) device_role(L);
    walk_block(L, &L->k->body);
    FOR_AGENTS(L, a)
        if (s->now->unread) emit_grp_wait(L, 0, IRH_READ);
    scope_close(L);
    body_set(L, &L->ir->tree, &L->body);
    rings_share_buffers(L);
    for (int a = 0, n = 0; a < AG_COUNT; a++)
        if (s->used[a] && (n++, s->shape[a] != SHAPE_ELECT)) body_elect(&L->ir->tree, (uint8_t)n, s->shape[a]);
}

static void roles(Lower *L)
{
    Sched *s = L->sched;
    uint32_t n = 0;
    for (int a = 0; a < AG_COUNT; a++) {
        if (!s->used[a]) continue;
        IrRole *r = &L->ir->roles.v[n++];
        project(L->a, L->ir, n, r);
        count_turns(L->a, L->ir, r);
    }
}

void schedule_kernel(Lower *L)
{
    Sched *s = L->sched = arena_new(L->a, Sched);
    s->alone = L->derived && agents_wanted(L->k) == NULL;
    s->tensor = true;
    s->places = names_new(L->a);
    uint32_t tiles = L->k->tiles.n;
    s->rings = arena_array(L->a, Ring, tiles + L->k->nloops + 3);
    s->nrings = tiles;
    s->loops = arena_array(L->a, LoopUse, L->k->nloops);
    for (uint32_t i = 0; i < tiles; i++) s->rings[i].tile = L->k->tiles.v[i];

    if (!L->derived) {
        written_kernel(L);
        return;
    }
    schedule_plan(L);            /* regions, copies, checks */
    if (L->failed || !versions_check(L)) return; /* all that is read has a value */
    alone(L);
    rings_find(L);               /* who uses which tile */
    if (!device_find(L)) return;
    plan_order(L);               /* stores that wait for others */
    plan_overtaking(L);          /* .. and for loads of what they overwrite */
    rings_size(L);               /* slots, batches */
    batch_find(L);
    deal_launch(L);              /* grid */
    hints(L);
    shapes(L);                   /* threads of the roles */
    plan_threads_all(L);
    rings_barriers(L);
    rings_index(L);              /* with the rings of ids, and first uses as they are now */
    tmem_barriers(L);
    device_buffers(L);
    if (L->failed) return;
    tree(L);
    roles(L);
}
