#include "runtime/sim/machine.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "runtime/sim/copies/async.h"
#include "runtime/sim/budget.h"
#include "runtime/sim/tmem/tmem.h"
#include "runtime/sim/trace/trace.h"
#include "runtime/sim/watch/watch.h"

/* ---- random numbers ---- */

uint64_t rng_next(Rng *r)
{
    uint64_t z = r->s += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

uint32_t rng_below(Rng *r, uint32_t n)
{
    return (uint32_t)(((rng_next(r) >> 32) * n) >> 32);
}

/* A table of random words from a random place on, with a random key: random words themselves would be dear. */
void sim_noise(SimMachine *m, uint8_t *p, uint64_t n)
{
    uint64_t key = rng_next(&m->rng), from = key >> 32;
    while (n) {
        from %= NOISE_WORDS;
        uint64_t words = NOISE_WORDS - from, left = (n + 7) / 8;
        if (words > left) words = left;
        for (uint64_t i = 0; i < words; i++, p += 8) {
            uint64_t bits = m->noise[from + i] ^ key;
            if (n < 8) {
                memcpy(p, &bits, (size_t)n);
                return;
            }
            memcpy(p, &bits, 8);
            n -= 8;
        }
        from = 0;
        key = key << 1 | key >> 63;
    }
}

/* ---- threads that can run ---- */

SimWho sim_who(const SimThread *t)
{
    return (SimWho){.cluster = t->cta->cluster->number, .rank = (uint16_t)t->cta->rank, .thread = t->id, .pc = t->at};
}

SimCta *sim_peer(const SimThread *t, uint32_t rank)
{
    const SimCluster *c = t->cta->cluster;
    return rank < c->nctas ? c->ctas[rank] : NULL;
}

static void unready(SimMachine *m, SimThread *t)
{
    if (t->ready_at == 0) return;
    SimThread *last = m->ready.v[--m->ready.n];
    m->ready.v[t->ready_at - 1] = last;
    last->ready_at = t->ready_at;
    t->ready_at = 0;
}

void sim_wake(SimMachine *m, SimThread *t)
{
    if (t->wait == WAIT_EXITED || t->ready_at != 0) return;
    if (m->trace && t->wait != WAIT_NONE) trace_wait(m, t, t->since, m->stats.steps, false);
    t->wait = WAIT_NONE;
    vec_push(&m->arena, &m->ready, t);
    t->ready_at = m->ready.n;
}

static void pass_role(const SimMachine *m, SimThread *t, uint32_t pc)
{
    const SimPlace *places = m->launch.program->places;
    if (places && places[pc].role) t->role = places[pc].role;
}

void sim_block(SimMachine *m, SimThread *t, WaitKind why)
{
    t->wait = why;
    t->since = m->stats.steps;
    pass_role(m, t, t->at);
    unready(m, t);
}

/* ---- the scheduler ---- */

/* Of what kind a schedule is: drawn from the seed, so that many seeds differ in more than noise. */
typedef struct Temper {
    uint32_t budget;   /* most instructions that a thread runs in one go */
    bool in_turn;      /* threads take turns, else any of them may be next */
    uint32_t stay;     /* not 0: the same thread goes on, but for one in so many turns */
    uint32_t slow;     /* not 0: warps whose number has this remainder by 4 (+ 1) are kept back */
    uint32_t copies;   /* one in so many turns is a step of a copy */
    bool copies_first; /* copies end before any thread goes on */
    uint32_t poll;     /* one in so many turns a failed poll is tried again */
    uint32_t start;    /* one in so many turns a CTA starts that may */
} Temper;

typedef struct Sched {
    SimMachine *m;
    Temper temper;
    uint32_t turn;      /* whose it is, of `ready` */
    SimThread *current; /* for `stay` */
    uint32_t unstarted; /* CTAs */
    uint64_t ticks, next_look;
    uint64_t seen, seen_at; /* progress, and the tick at which it was last seen to move */
    uint64_t admitted_at;
    uint64_t polled; /* progress when all polls were tried for nothing */
    uint32_t rounds; /* how often in a row */
    uint64_t patience;
    uint64_t copied_at;               /* tick of the last step of a copy, or when there was none to make */
    uint64_t sweep_at;                /* tick at which the sweep began; else from which on to count to the next */
    uint32_t sweep;                   /* turns that are left of it */
    uint64_t still_since, next_loops; /* step of the last progress; tick of the next look at loops */
    bool chance;                      /* what threads see may change with the schedule alone */
} Sched;

/* However uneven a schedule is, everyone gets on. A thread that polls may keep all others waiting for the one that would
 * end it: when nothing has moved for IDLE_TICKS, copies have every second turn and threads take turns. Each copy has a
 * chance to step after COPY_TICKS, and all ready threads run in a sweep after SWEEP_TICKS, whatever happens. */
enum { IDLE_TICKS = 4000, COPY_TICKS = 100000, SWEEP_TICKS = 1 << 19, SWEEP_BUDGET = 64, SWEEP_REST = 4 };
enum { LOOK_TICKS = 1 << 16, POLL_ROUNDS = 3, SMS = 132, STUCK_CTAS = 132 };
/* Clusters beyond the first few are for programs whose CTAs wait for each other: memory bounds them. */
#define RESIDENT_BYTES (UINT64_C(1) << 30)
#define STATE_BYTES (UINT64_C(2) << 30)
/* Steps without a change: from here on states are compared; so many are enough of a loop whose states differ, at least
 * and as a part of the limit of steps. */
#define STILL_STEPS UINT64_C(1000000)
#define FUTILE_STEPS UINT64_C(2000000000)
#define FUTILE_PART 500

static Temper temper_of(SimMachine *m)
{
    if (!m->checking) return (Temper){.budget = 4096, .in_turn = true, .copies = 1, .poll = 0, .start = 1};
    static const uint32_t budgets[] = {200, 200, 200, 64, 8, 2, 3000};
    static const uint32_t copies[] = {2, 2, 3, 16, 4, 1000};
    Rng *r = &m->rng;
    Temper t = {.budget = budgets[rng_below(r, 7)], .poll = 64, .start = 8};
    uint32_t pick = rng_below(r, 8);
    if (pick == 0) {
        t.in_turn = true;
        t.budget = 1; /* as near to lockstep as it gets */
    } else if (pick <= 2) {
        t.stay = 32;
    } else if (pick <= 4) {
        t.slow = 1 + rng_below(r, 4);
    }
    t.copies = copies[rng_below(r, 6)];
    t.copies_first = rng_one_in(r, 6);
    if (rng_one_in(r, 3)) t.start = 500;
    if (rng_one_in(r, 4)) t.poll = 4;
    return t;
}

static double now(void)
{
    struct timespec ts = {0};
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/* Admits the next cluster if there is room. */
static bool admit(Sched *s)
{
    SimMachine *m = s->m;
    if (m->next_cluster == m->nclusters || m->nresident >= m->max_resident) return false;
    SimCluster *c = sim_cluster_make(m);
    s->unstarted += c->nctas;
    s->admitted_at = s->ticks;
    if (!m->checking || c->nctas == 1)
        for (uint32_t r = 0; r < c->nctas; r++, s->unstarted--) sim_cta_start(m, c->ctas[r]);
    return true;
}

/* Room for more clusters than so far, for those that wait for a CTA which is not there yet. */
static bool widen(Sched *s, uint32_t most)
{
    SimMachine *m = s->m;
    if (most > m->most_resident) most = m->most_resident;
    if (m->next_cluster == m->nclusters || m->max_resident >= most) return false;
    m->max_resident = m->max_resident > most / 2 ? most : m->max_resident * 2;
    return true;
}

static bool start_one(Sched *s)
{
    SimMachine *m = s->m;
    uint32_t from = rng_below(&m->rng, m->nresident);
    for (uint32_t i = 0; i < m->nresident; i++) {
        SimCluster *c = m->resident[(from + i) % m->nresident];
        uint32_t first = rng_below(&m->rng, c->nctas);
        for (uint32_t r = 0; r < c->nctas; r++) {
            SimCta *cta = c->ctas[(first + r) % c->nctas];
            if (cta->started) continue;
            sim_cta_start(m, cta);
            s->unstarted--;
            return true;
        }
    }
    return false;
}

/* Clusters whose threads have all exited and whose memory no copy touches any more. */
static void retire(Sched *s)
{
    SimMachine *m = s->m;
    for (uint32_t i = m->nresident; m->nover && i-- > 0;) {
        SimCluster *c = m->resident[i];
        bool busy = c->nexited < c->nctas;
        for (uint32_t r = 0; r < c->nctas && !busy; r++) busy = c->ctas[r]->copies != 0;
        if (busy) continue;
        if (m->watch) watch_cluster_end(m, c);
        s->current = NULL;
        m->nover--;
        sim_cluster_free(m, i);
    }
}

static void cta_exited(SimMachine *m, SimCta *cta)
{
    if (m->watch && !watch_cta_exit(m, cta)) return;
    if (!tmem_cta_exit(m, cta) || !mbar_cta_exit(m, cta)) return;
    cta->exited = true;
    if (++cta->cluster->nexited == cta->cluster->nctas) m->nover++;
}

static void exited(SimMachine *m, SimThread *t)
{
    if (m->watch && !watch_thread_exit(m, t)) return;
    unready(m, t);
    t->wait = WAIT_EXITED;
    m->progress++;
    t->cta->nexited++;
    sim_collective_exit(m, t);
    sim_sync_exit(m, t);
    if (!m->failed && t->cta->nexited == t->cta->nthreads) cta_exited(m, t->cta);
}

static SimThread *pick(Sched *s)
{
    SimMachine *m = s->m;
    const Temper *k = &s->temper;
    if (k->in_turn || s->sweep) {
        if (s->turn >= m->ready.n) s->turn = 0;
        return m->ready.v[s->turn];
    }
    if (k->stay && s->current && s->current->ready_at && !rng_one_in(&m->rng, k->stay)) return s->current;
    SimThread *t = m->ready.v[rng_below(&m->rng, m->ready.n)];
    for (int tries = 0; tries < 6 && k->slow && (t->id / 32u + t->cta->rank) % 4 == k->slow - 1; tries++)
        t = m->ready.v[rng_below(&m->rng, m->ready.n)];
    return t;
}

/* A limit is reached: who runs, and who waits. */
static void stop(SimMachine *m, ErrorCode code, const char *limit)
{
    Text waits;
    text_init(&waits, &m->mem);
    sim_waits(m, 6, &waits);
    sim_fail(m, code, NULL, "%s%s", limit, waits.s ? waits.s : "");
    text_free(&waits);
}

static void run_thread(Sched *s)
{
    SimMachine *m = s->m;
    uint32_t budget = s->temper.budget;
    if (s->sweep && budget > SWEEP_BUDGET) budget = SWEEP_BUDGET;
    if (m->checking && budget > 1) budget = 1 + rng_below(&m->rng, budget);
    if (m->opt->max_steps && m->opt->max_steps - m->stats.steps < budget)
        budget = (uint32_t)(m->opt->max_steps - m->stats.steps);
    SimThread *t = pick(s);
    uint64_t before = m->stats.steps;
    s->current = t;
    ExecResult r = sim_exec(m, t, budget);
    s->ticks += m->stats.steps - before + 1;
    pass_role(m, t, t->pc);
    if (r != EXEC_EXITED) sim_idle_turn(m, t);
    if (r == EXEC_EXITED) exited(m, t);
    if (r == EXEC_BUDGET) s->turn++;
    if (s->sweep && --s->sweep == 0) s->sweep_at = s->ticks + SWEEP_REST * (s->ticks - s->sweep_at);
    if (m->nover) retire(s);
    if (m->failed || m->opt->max_steps == 0 || m->stats.steps < m->opt->max_steps || m->nresident == 0) return;
    char limit[100];
    snprintf(limit, sizeof limit, "the limit of %" PRIu64 " steps is reached", m->opt->max_steps);
    stop(m, E1319, limit);
}

/* One failed poll of an mbarrier is tried again: try_wait may give up before the phase is complete. */
static void poll_one(Sched *s)
{
    SimMachine *m = s->m;
    SimCluster *c = m->resident[rng_below(&m->rng, m->nresident)];
    SimCta *cta = c->ctas[rng_below(&m->rng, c->nctas)];
    SimThread *t = &cta->threads[rng_below(&m->rng, cta->nthreads)];
    if (t->wait == WAIT_MBARRIER) sim_wake(m, t);
}

static bool poll_all(SimMachine *m)
{
    for (uint32_t i = 0; i < m->nresident; i++)
        for (uint32_t r = 0; r < m->resident[i]->nctas; r++) {
            SimCta *cta = m->resident[i]->ctas[r];
            for (uint32_t k = 0; k < cta->nthreads; k++)
                if (cta->threads[k].wait == WAIT_MBARRIER) sim_wake(m, &cta->threads[k]);
        }
    return m->ready.n != 0;
}

/* No thread is ready and no copy is under way. */
static void stuck(Sched *s)
{
    SimMachine *m = s->m;
    if (s->unstarted && start_one(s)) return;
    if (m->progress != s->polled) s->rounds = 0;
    s->polled = m->progress;
    if (s->rounds++ < POLL_ROUNDS && poll_all(m)) return;
    uint32_t ctas = m->nresident ? m->resident[0]->nctas : 1;
    if (widen(s, STUCK_CTAS / ctas)) return;
    sim_deadlock(m);
}

/* Now and then: the clock, and whether all who run wait for somebody that is not resident yet. */
static void look(Sched *s)
{
    SimMachine *m = s->m;
    s->next_look = s->ticks + LOOK_TICKS;
    if (m->opt->max_seconds <= 0 || now() - m->started <= m->opt->max_seconds) return;
    char limit[100];
    snprintf(limit, sizeof limit, "the limit of %g seconds is reached after %" PRIu64 " steps", m->opt->max_seconds,
             m->stats.steps);
    stop(m, E1320, limit);
}

static bool idle(const Sched *s)
{
    return s->ticks - s->seen_at > IDLE_TICKS;
}

static bool copies_due(Sched *s)
{
    uint64_t since = s->ticks - s->copied_at;
    return since > COPY_TICKS || (idle(s) && rng_one_in(&s->m->rng, 2));
}

/* Waits that may time out do so too. */
static void sweep(Sched *s)
{
    SimMachine *m = s->m;
    uint64_t gap = idle(s) ? IDLE_TICKS : SWEEP_TICKS;
    if (s->sweep || s->ticks < s->sweep_at + gap) return;
    poll_all(m);
    s->turn = 0;
    s->sweep = m->ready.n;
    s->sweep_at = s->ticks;
}

/* Nothing has changed for long: will anything ever? */
static void look_for_loops(Sched *s)
{
    SimMachine *m = s->m;
    uint64_t since = m->stats.steps - s->still_since;
    uint64_t futile = m->opt->max_steps / FUTILE_PART;
    m->idle = since > STILL_STEPS;
    if (!m->idle || s->ticks < s->next_loops) return;
    s->next_loops = s->ticks + LOOK_TICKS;
    bool all = !s->chance && s->unstarted == 0 && async_pending(m) == 0 &&
               (m->next_cluster == m->nclusters || m->max_resident >= m->most_resident);
    if (all && sim_idle_for_ever(m)) sim_deadlock(m);
    if (since < FUTILE_STEPS || since < futile || m->failed) return;
    char limit[120];
    snprintf(limit, sizeof limit, "no thread has changed anything for %" PRIu64 " steps", since);
    stop(m, E1319, limit);
}

static void watch_progress(Sched *s)
{
    SimMachine *m = s->m;
    if (m->progress != s->seen) {
        s->seen = m->progress;
        s->seen_at = s->ticks;
        s->still_since = m->stats.steps;
    }
    look_for_loops(s);
    if (s->ticks - s->seen_at > s->patience || s->ticks - s->admitted_at > 32 * s->patience) {
        s->seen_at = s->admitted_at = s->ticks;
        widen(s, UINT32_MAX);
    }
}

static void turn(Sched *s)
{
    SimMachine *m = s->m;
    const Temper *k = &s->temper;
    while (admit(s)) {
    }
    uint32_t tasks = async_pending(m);
    if (m->ready.n == 0 && tasks == 0) {
        if (m->nresident) stuck(s);
        return;
    }
    if (m->checking) {
        if (s->unstarted && rng_one_in(&m->rng, k->start)) start_one(s);
        if (m->nresident && rng_one_in(&m->rng, k->poll)) poll_one(s);
    }
    if (tasks == 0) s->copied_at = s->ticks;
    if (tasks && (m->ready.n == 0 || k->copies_first || rng_one_in(&m->rng, k->copies) || copies_due(s))) {
        async_step(m);
        s->copied_at = ++s->ticks;
        if (m->nover) retire(s);
    } else {
        run_thread(s);
    }
    watch_progress(s);
    sweep(s);
    if (s->ticks >= s->next_look && !m->failed) look(s);
}

/* ---- a launch ---- */

static uint64_t product(const uint32_t v[3])
{
    return (uint64_t)v[0] * v[1] * v[2];
}

static bool bad(SimMachine *m, const char *what, uint64_t is, uint64_t should)
{
    return sim_fail(m, E1318, NULL,
                    "launch with %s %" PRIu64 ", where %" PRIu64 " is the limit or what the kernel asks for", what, is,
                    should);
}

/* What the driver refuses to launch (CUDA driver API, cuLaunchKernelEx; PTX ISA, performance-tuning directives). */
static bool check_launch(SimMachine *m)
{
    static const uint32_t most[3] = {INT32_MAX, 65535, 65535};
    SimLaunch *l = &m->launch;
    const SimProgram *p = l->program;
    for (int i = 0; i < 3; i++) {
        if (l->cluster[i] == 0) l->cluster[i] = 1;
        if (l->grid[i] == 0 || l->grid[i] > most[i]) return bad(m, "a grid dimension of", l->grid[i], most[i]);
        if (l->cluster[i] > 16) return bad(m, "a cluster dimension of", l->cluster[i], 16);
        if (l->grid[i] % l->cluster[i])
            return bad(m, "a grid that is no multiple of the cluster:", l->grid[i], l->cluster[i]);
        if (p->reqcluster[i] && p->reqcluster[i] != l->cluster[i])
            return bad(m, "a cluster dimension of", l->cluster[i], p->reqcluster[i]);
    }
    if (product(l->cluster) > 16) return bad(m, "CTAs per cluster:", product(l->cluster), 16);
    if (l->threads == 0 || l->threads > 1024) return bad(m, "threads per CTA:", l->threads, 1024);
    if (p->reqntid[0] && (p->reqntid[0] != l->threads || p->reqntid[1] > 1 || p->reqntid[2] > 1))
        return bad(m, "threads per CTA:", l->threads, product(p->reqntid));
    if (p->maxntid[0] && product((const uint32_t[3]){p->maxntid[0], p->maxntid[1] ? p->maxntid[1] : 1,
                                                     p->maxntid[2] ? p->maxntid[2] : 1}) < l->threads)
        return bad(m, "threads per CTA:", l->threads, p->maxntid[0]);
    uint64_t smem = (uint64_t)p->static_smem + l->smem;
    uint64_t limit = l->module->target ? l->module->target->smem_per_cta : 232448;
    if (smem > limit) return bad(m, "bytes of shared memory:", smem, limit);
    if (product(l->grid) / product(l->cluster) > UINT32_MAX)
        return bad(m, "clusters:", product(l->grid) / product(l->cluster), UINT32_MAX);
    return true;
}

/* As many clusters as a GPU would hold at most (registers aside), so that CTAs that wait for each other find the
 * others there; memory bounds them too. */
static uint32_t most_resident(const SimMachine *m)
{
    const SimLaunch *l = &m->launch;
    uint64_t warps = (l->threads + 31) / 32, smem = (uint64_t)l->program->static_smem + l->smem + SIM_SMEM_BASE;
    uint64_t per_sm = 64 / warps, by_smem = 233472 / smem;
    if (per_sm > by_smem) per_sm = by_smem;
    if (per_sm > 32) per_sm = 32;
    if (per_sm == 0) per_sm = 1;
    uint64_t n = SMS * per_sm / product(l->cluster), by_bytes = RESIDENT_BYTES / sim_cluster_bytes(m);
    if (m->checking) by_bytes /= 8; /* the watch's records */
    if (n > by_bytes) n = by_bytes;
    return n < 1 ? 1 : (uint32_t)n;
}

static void start(Sched *s)
{
    SimMachine *m = s->m;
    SimLaunch *l = &m->launch;
    arena_init(&m->arena, &m->mem);
    text_init(&m->finding, &m->mem);
    if (!check_launch(m)) return;
    if (sim_cluster_bytes(m) > STATE_BYTES) {
        sim_fail(m, E1321, NULL, "the threads of one cluster alone take %" PRIu64 " bytes", sim_cluster_bytes(m));
        return;
    }
    uint32_t bytes = l->program->param_bytes;
    m->params = arena_alloc(&m->arena, bytes);
    if (bytes && l->params) memcpy(m->params, l->params, bytes);
    for (int i = 0; m->checking && i < NOISE_WORDS; i++) m->noise[i] = rng_next(&m->rng);
    m->nclusters = product(l->grid) / product(l->cluster);
    m->most_resident = most_resident(m);
    uint64_t threads = l->threads * product(l->cluster);
    m->max_resident = m->checking ? 1 + rng_below(&m->rng, threads > 512 ? 2 : 6) : 2;
    if (m->max_resident > m->most_resident) m->max_resident = m->most_resident;
    s->temper = temper_of(m);
    for (uint32_t i = 0; i < l->program->nops; i++) s->chance |= l->program->ops[i].code == SIM_ACTIVEMASK;
    s->patience = m->checking ? 20000 : 200000;
    s->next_look = LOOK_TICKS;
    if (m->opt->trace) m->trace = trace_open(&m->mem);
    if (m->checking) watch_init(m);
    async_init(m);
    tmem_init(m);
    sim_exec_begin(m);
}

/* Runs until the end, a finding, or until memory runs out (false). */
static bool run_guarded(Sched *s)
{
    SimMachine *m = s->m;
    jmp_buf fail;
    m->mem.fail = &fail;
    if (setjmp(fail)) return false;
    start(s);
    while (!m->failed) {
        turn(s);
        if (m->nresident == 0 && m->next_cluster == m->nclusters && async_pending(m) == 0) break;
    }
    return true;
}

/* False: memory ran out. */
static bool write_trace(SimMachine *m, SimOutcome *out)
{
    jmp_buf fail;
    m->mem.fail = &fail;
    if (setjmp(fail)) return false;
    char why[300] = "";
    if (m->trace) trace_waits(m);
    if (m->trace && !trace_write(m, m->opt->trace, why, sizeof why) && out->ok) memcpy(out->text, why, sizeof why);
    return true;
}

static bool free_all(SimMachine *m)
{
    jmp_buf fail;
    m->mem.fail = &fail;
    if (setjmp(fail)) return false;
    if (m->async) async_free(m);
    tmem_free(m);
    if (m->watch) watch_free(m);
    if (m->trace) trace_close(m->trace);
    while (m->nresident) sim_cluster_free(m, m->nresident - 1);
    sim_spare_free(m);
    mem_free(&m->mem, m->resident);
    text_free(&m->finding);
    arena_free(&m->arena);
    return true;
}

static void outcome(const SimMachine *m, bool memory, SimOutcome *out)
{
    out->stats = m->stats;
    out->ok = memory && !m->failed;
    if (out->ok) return;
    out->code = m->failed ? m->code : E1321;
    const char *text = m->failed && m->finding.s ? m->finding.s : "";
    if (!m->failed)
        snprintf(out->text, sizeof out->text,
                 "kernel `%s`: the state of its threads and copies takes more memory than there is\n    rule: %s",
                 sim_kernel_name(&m->launch), error_info(E1321)->rule);
    else snprintf(out->text, sizeof out->text, "%s", text);
}

void sim_run(const SimLaunch *launch, SimMemory *memory, const SimOptions *opt, uint64_t seed, SimOutcome *out)
{
    *out = (SimOutcome){0};
    Budget budget = {.left = STATE_BYTES, .host = opt->host};
    SimMachine m = {.mem = {.realloc = budget_realloc, .user = &budget},
                    .opt = opt,
                    .launch = *launch,
                    .memory = memory,
                    .rng = {.s = seed},
                    .checking = opt->mode != SIM_FAST,
                    .started = now()};
    Sched s = {.m = &m};
    bool enough = run_guarded(&s);
    outcome(&m, enough, out);
    if (!write_trace(&m, out)) enough = false;
    if (!free_all(&m)) enough = false;
    if (!enough) budget_drop(&budget); /* what those held who were jumped over */
}
