/* The watch, driven by hand: a machine without a program.
 *
 * A cluster of two CTAs of 64 threads, a cluster of one, and an allocation. Steps do what the machine's modules do for
 * the instruction of their name. A case is a sequence that breaks a rule and the nearest one that keeps it; what is
 * expected comes from the PTX ISA: Memory Consistency Model, Async proxy, mbarrier, cp.async.bulk, fence.
 */
#ifndef TESTS_SIM_WATCH_WORLD_H
#define TESTS_SIM_WATCH_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/sim/watch/watch.h"

enum { THREADS = 64, SMEM = 128 * 1024, OPS = 256, GLOBAL = 1 << 20, BARRIERS = 8 };

typedef struct World {
    uint32_t left; /* allocations until memory runs out; 0: never */
    SimMachine m;
    jmp_buf fail;
    SimOptions opt;
    SimModule module;
    SimProgram program;
    SimOp ops[OPS];
    SimPlace places[OPS];
    FormOp forms[2]; /* st.async, red.async */
    const char *files[2];
    SimMemory memory;
    SimBlock block, *blocks[1];
    SimCluster cluster[2], *resident[2];
    SimCta cta[3], *of[2][2];
    SimThread threads[3][THREADS];
    SimBarrier barrier[BARRIERS], *barriers[3][BARRIERS];
    uint8_t *bytes;
    uint32_t nbarriers, pc;
} World;

static inline void make_cta(World *w, uint32_t i, SimCluster *c, uint32_t rank)
{
    SimCta *a = &w->cta[i];
    *a = (SimCta){
        .cluster = c, .rank = rank, .id = {i, 0, 0}, .smem = w->bytes, .smem_bytes = SMEM, .nthreads = THREADS};
    a->threads = w->threads[i];
    a->started = true;
    a->barriers.v = w->barriers[i];
    a->barriers.cap = BARRIERS;
    for (uint32_t k = 0; k < THREADS; k++) {
        a->threads[k] = (SimThread){.cta = a, .id = (uint16_t)k, .lane = (uint8_t)(k % 32)};
    }
    c->ctas[rank] = a;
}

static inline void *scarce(void *user, void *p, size_t n)
{
    World *w = user;
    if (n == 0) {
        free(p);
        return NULL;
    }
    if (w->left && --w->left == 0) {
        w->left = 1; /* stays short */
        return NULL;
    }
    return realloc(p, n);
}

/* What holds before the watch: all but its own start. */
static inline void set_up(World *w)
{
    memset(w, 0, sizeof *w);
    w->bytes = calloc(1, GLOBAL);
    w->m.mem = (Mem){scarce, w, &w->fail};
    arena_init(&w->m.arena, &w->m.mem);
    text_init(&w->m.finding, &w->m.mem);
    w->opt.mode = SIM_CHECK;
    w->m.opt = &w->opt;
    w->m.checking = true;
    w->program = (SimProgram){.name = "k", .ops = w->ops, .places = w->places, .nops = OPS};
    w->forms[0].form = FORM_ST_ASYNC;
    w->forms[1].form = FORM_RED_ASYNC;
    w->program.forms = w->forms;
    w->program.nforms = 2;
    w->module.files = w->files;
    w->m.launch = (SimLaunch){.module = &w->module, .grid = {4, 1, 1}, .cluster = {2, 1, 1}, .threads = THREADS};
    w->m.launch.program = &w->program;
    w->block = (SimBlock){.address = SIM_GLOBAL_BASE, .bytes = GLOBAL, .data = w->bytes};
    w->blocks[0] = &w->block;
    w->memory = (SimMemory){.blocks = w->blocks, .n = 1, .cap = 1};
    w->m.memory = &w->memory;
    for (uint32_t i = 0; i < 2; i++) {
        w->cluster[i] = (SimCluster){.number = i, .id = {i, 0, 0}, .ctas = w->of[i], .nctas = 2 - i};
        w->resident[i] = &w->cluster[i];
    }
    make_cta(w, 0, &w->cluster[0], 0);
    make_cta(w, 1, &w->cluster[0], 1);
    make_cta(w, 2, &w->cluster[1], 0);
    w->m.resident = w->resident;
    w->m.nresident = w->m.max_resident = 2;
}

static inline void start(World *w)
{
    watch_init(&w->m);
    watch_cluster_start(&w->m, &w->cluster[0]);
    watch_cluster_start(&w->m, &w->cluster[1]);
}

static inline void open_world(World *w)
{
    set_up(w);
    if (setjmp(w->fail)) abort();
    start(w);
}

static inline void tear_down(World *w)
{
    watch_free(&w->m);
    watch_forget(&w->memory);
    assert_null(w->block.shadow);
    assert_null(w->m.watch);
    text_free(&w->m.finding);
    arena_free(&w->m.arena);
    free(w->bytes);
}

static inline void close_world(World *w)
{
    watch_cluster_end(&w->m, &w->cluster[1]); /* the other one ends with the launch, as after a finding */
    tear_down(w);
}

/* ---- steps: thread i of CTA c (0 and 1: one cluster; 2: another) ---- */
static inline SimThread *at(World *w, uint32_t c, uint32_t i)
{
    SimThread *t = &w->threads[c][i];
    t->pc = t->at = ++w->pc % OPS;
    return t;
}

static inline SimLoc smem(World *w, uint32_t c, uint64_t offset)
{
    return (SimLoc){.space = PTX_SPACE_SHARED, .cta = &w->cta[c], .offset = offset, .data = w->bytes + offset};
}

static inline SimLoc gmem(World *w, uint64_t offset)
{
    return (SimLoc){.space = PTX_SPACE_GLOBAL, .block = &w->block, .offset = offset, .data = w->bytes + offset};
}

static inline void ld(World *w, SimThread *t, SimLoc l, uint32_t n)
{
    watch_read(&w->m, t, &l, n, ACCESS_WEAK, 0);
}

static inline void st(World *w, SimThread *t, SimLoc l, uint32_t n)
{
    watch_write(&w->m, t, &l, n, ACCESS_WEAK, 0, false);
}

enum { CTA, CLUSTER, GPU, SYS }; /* scopes */
static inline void atomic_of(World *w, SimThread *t, SimLoc l, WatchAtomic what, AccessKind kind, uint32_t scope)
{
    bool ok = what == WATCH_LD ? watch_read(&w->m, t, &l, 4, kind, scope)
                               : watch_write(&w->m, t, &l, 4, kind, scope, what != WATCH_ST);
    if (ok) watch_atomic(&w->m, t, &l, what, kind, scope);
}

static inline void atomic(World *w, SimThread *t, SimLoc l, bool reads, bool writes, AccessKind kind)
{
    atomic_of(w, t, l, !writes ? WATCH_LD : reads ? WATCH_ATOM : WATCH_ST, kind, GPU);
}

static inline void bar_sync(World *w, uint32_t c, uint32_t id, uint32_t first, uint32_t n)
{
    SimNamed *b = &w->cta[c].named[id];
    for (uint32_t i = 0; i < n; i++) watch_named_arrive(&w->m, at(w, c, first + i), b);
    for (uint32_t i = 0; i < n; i++) watch_named_leave(&w->m, at(w, c, first + i), b);
    watch_named_done(&w->m, b);
}

static inline void cluster_arrive(World *w, uint32_t c, bool relaxed)
{
    for (uint32_t i = 0; i < THREADS; i++) watch_cluster_arrive(&w->m, at(w, c, i), relaxed);
}

static inline void cluster_wait(World *w, uint32_t c)
{
    for (uint32_t i = 0; i < THREADS; i++) watch_cluster_leave(&w->m, at(w, c, i));
}

static inline void cluster_sync(World *w, bool relaxed)
{
    cluster_arrive(w, 0, relaxed);
    cluster_arrive(w, 1, relaxed);
    cluster_wait(w, 0);
    cluster_wait(w, 1);
}

static inline SimBarrier *init(World *w, SimThread *t, uint32_t offset)
{
    SimBarrier *b = &w->barrier[w->nbarriers++];
    SimCta *a = t->cta;
    b->offset = offset;
    a->barriers.v[a->barriers.n++] = b;
    SimLoc l = smem(w, (uint32_t)(a - w->cta), offset);
    watch_mbar_init(&w->m, t, a, b, &l);
    return b;
}

static inline void phase(World *w, uint32_t c, SimBarrier *b)
{
    b->phase++;
    watch_mbar_phase(&w->m, &w->cta[c], b);
}

typedef enum Sem { CTA_SCOPE, CLUSTER_SCOPE, RELAXED } Sem;
static inline void arrive(World *w, SimThread *t, uint32_t c, SimBarrier *b, Sem sem)
{
    if (watch_mbar_use(&w->m, t, &w->cta[c], b)) {
        watch_mbar_arrive(&w->m, t, &w->cta[c], b, sem == RELAXED, sem != CTA_SCOPE);
    }
}

static inline void wait(World *w, SimThread *t, SimBarrier *b, Sem sem)
{
    if (watch_mbar_use(&w->m, t, t->cta, b)) {
        watch_mbar_seen(&w->m, t, t->cta, b, b->phase, sem == RELAXED, sem != CTA_SCOPE);
    }
}

/* cp.async.bulk global -> shared memory of CTA c, in rows as the copy engine tells them */
static inline void load(World *w, SimThread *t, SimLoc from, uint32_t c, uint64_t to, uint32_t n, SimBarrier *b)
{
    SimLoc d = smem(w, c, to);
    WatchCopy *copy = watch_copy(&w->m, t, false, false);
    bool ok = watch_copy_barrier(&w->m, t, copy, &w->cta[c], b);
    for (uint32_t i = 0; ok && i < n; i += 128, from.offset += 128, d.offset += 128) {
        uint32_t row = n - i < 128 ? n - i : 128;
        ok = watch_copy_read(&w->m, t, copy, &from, row) && watch_copy_write(&w->m, t, copy, &d, row, b);
    }
    if (ok) watch_copy_issued(&w->m, t, copy);
}

static inline void peer(World *w, SimThread *t, uint64_t from, uint32_t c, uint64_t to, uint32_t n, SimBarrier *b)
{
    load(w, t, smem(w, (uint32_t)(t->cta - w->cta), from), c, to, n, b);
}

/* st.async, red.async */
static inline void async_store(World *w, SimThread *t, uint32_t c, uint64_t to, SimBarrier *b, bool reduce)
{
    SimLoc d = smem(w, c, to);
    w->ops[t->pc] = (SimOp){.code = SIM_FORM, .imm = reduce};
    WatchCopy *copy = watch_copy(&w->m, t, false, reduce);
    bool ok = watch_copy_barrier(&w->m, t, copy, &w->cta[c], b) && watch_copy_write(&w->m, t, copy, &d, 4, b);
    if (ok) watch_copy_issued(&w->m, t, copy);
}

static inline void store_as(World *w, SimThread *t, uint64_t from, uint64_t to, uint32_t n, bool reduce)
{
    SimLoc s = smem(w, (uint32_t)(t->cta - w->cta), from), d = gmem(w, to);
    WatchCopy *copy = watch_copy(&w->m, t, true, reduce);
    t->open_copies++;
    if (watch_copy_read(&w->m, t, copy, &s, n) && watch_copy_write(&w->m, t, copy, &d, n, NULL)) {
        watch_copy_issued(&w->m, t, copy);
    }
}

static inline void commit(World *w, SimThread *t)
{
    t->committed++;
    t->open_copies = 0;
    watch_group_commit(&w->m, t);
}

static inline void store(World *w, SimThread *t, uint64_t from, uint64_t to, uint32_t n)
{
    store_as(w, t, from, to, n, false);
    commit(w, t);
}

static inline void group_wait(World *w, SimThread *t, bool read)
{
    watch_group_wait(&w->m, t, t->committed, read);
}

static inline void fence(World *w, SimThread *t, InstrForm form)
{
    watch_fence_proxy(&w->m, t, form);
}

static inline void exit_cta(World *w, uint32_t c)
{
    for (uint32_t i = 0; i < THREADS; i++) {
        if (!watch_thread_exit(&w->m, at(w, c, i))) return;
    }
    watch_cta_exit(&w->m, &w->cta[c]);
}

/* A barrier of CTA c that all of the cluster may use. */
static inline SimBarrier *ready(World *w, uint32_t c, uint32_t offset)
{
    SimBarrier *b = init(w, at(w, c, 0), offset);
    watch_fence_init(&w->m, at(w, c, 0));
    if (c < 2) cluster_sync(w, true);
    bar_sync(w, c, 0, 0, THREADS);
    return b;
}

/* Bytes that the copy engine may read: written, passed on, and known to thread 0. */
static inline void prepare(World *w, uint32_t c, uint64_t offset, uint32_t n)
{
    st(w, at(w, c, 0), smem(w, c, offset), n);
    fence(w, at(w, c, 0), FORM_FENCE_ASYNC);
}

/* ---- cases ---- */
typedef struct Case {
    const char *name;
    void (*run)(World *w, bool bad);
    ErrorCode code;
} Case;
#define CASE(run, code)                                                                                                \
    {                                                                                                                  \
#run, run, code                                                                                                \
    }
static inline const char *text_of(const World *w)
{
    return w->m.finding.s ? w->m.finding.s : "";
}

static inline void run_case(void **state)
{
    const Case *c = *state;
    World *w = test_malloc(sizeof *w);
    open_world(w);
    c->run(w, false);
    if (w->m.failed) fail_msg("a finding in the correct sequence: %s", text_of(w));
    close_world(w);
    open_world(w);
    c->run(w, true);
    if (!w->m.failed) fail_msg("no finding");
    if (w->m.code != c->code) {
        fail_msg("%s instead of %s: %s", error_info(w->m.code)->code, error_info(c->code)->code, text_of(w));
    }
    close_world(w);
    test_free(w);
}

/* Runs the cases and `more` other tests. */
static inline int run_all(const Case *cases, size_t n, const struct CMUnitTest *more, size_t nmore)
{
    struct CMUnitTest *tests = calloc(n + nmore, sizeof *tests);
    Case *copy = calloc(n, sizeof *copy);
    for (size_t i = 0; i < n; i++) {
        copy[i] = cases[i];
        tests[i] = (struct CMUnitTest){cases[i].name, run_case, NULL, NULL, &copy[i]};
    }
    for (size_t i = 0; i < nmore; i++) tests[n + i] = more[i];
    int failed = _cmocka_run_group_tests("watch", tests, n + nmore, NULL, NULL);
    free(tests);
    free(copy);
    return failed;
}

#endif
