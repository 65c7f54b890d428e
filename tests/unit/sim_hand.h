/* A machine made by hand: CTAs, threads and instructions without PTX, no watch, no schedule. Instructions are executed
 * one at a time by whom the test says.
 */
#ifndef TESTS_SIM_HAND_H
#define TESTS_SIM_HAND_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/sim/machine.h"

enum { HAND_OPS = 64, HAND_SLOTS = 64, HAND_CTAS = 4, HAND_SMEM = 16384 };

typedef struct Hand {
    SimMachine m;
    jmp_buf fail;
    SimOptions opt;
    SimModule module;
    SimProgram program;
    SimOp ops[HAND_OPS];
    SimPlace places[HAND_OPS];
    FormOp forms[HAND_OPS];
    SimCluster cluster;
    SimCta cta[HAND_CTAS];
    SimCta *ctas[HAND_CTAS];
} Hand;

static inline void hand_cta(Hand *h, uint32_t rank, uint32_t threads)
{
    SimCta *c = h->ctas[rank] = &h->cta[rank];
    Arena *a = &h->m.arena;
    *c = (SimCta){.cluster = &h->cluster, .rank = rank, .id = {rank, 0, 0}, .smem_bytes = HAND_SMEM};
    c->started = true;
    c->smem = arena_alloc(a, HAND_SMEM);
    c->nthreads = threads;
    c->nwarps = (threads + 31) / 32;
    c->threads = arena_array(a, SimThread, threads);
    c->warps = arena_array(a, SimWarp, c->nwarps);
    c->slots = arena_array(a, uint64_t, (size_t)threads * HAND_SLOTS);
    for (uint32_t i = 0; i < threads; i++)
        c->threads[i] = (SimThread){
            .cta = c, .slot = c->slots + (size_t)i * HAND_SLOTS, .id = (uint16_t)i, .lane = (uint8_t)(i % 32)};
    for (uint32_t w = 0; w < c->nwarps; w++)
        c->warps[w] = (SimWarp){.first = 32 * w, .n = threads - 32 * w < 32 ? threads - 32 * w : 32};
}

/* Makes (again) a cluster of CTAs; ops of earlier instructions are gone. */
static inline void hand_make(Hand *h, uint32_t nctas, uint32_t threads)
{
    h->opt = (SimOptions){.mode = SIM_FAST};
    h->program = (SimProgram){
        .name = "k", .ops = h->ops, .places = h->places, .forms = h->forms, .nops = HAND_OPS, .nslots = HAND_SLOTS};
    memset(h->ops, 0, sizeof h->ops);
    for (uint32_t i = 0; i < HAND_OPS; i++) {
        h->places[i] = (SimPlace){.ptx_line = 100 + i};
        h->ops[i] = (SimOp){.code = SIM_NOP, .p = NO_SLOT, .d = NO_SLOT, .a = NO_SLOT, .b = NO_SLOT, .c = NO_SLOT};
    }
    h->m.opt = &h->opt;
    h->m.launch = (SimLaunch){.module = &h->module,
                              .program = &h->program,
                              .grid = {nctas, 1, 1},
                              .cluster = {nctas, 1, 1},
                              .threads = threads};
    h->m.failed = false;
    h->cluster = (SimCluster){.ctas = h->ctas, .nctas = nctas};
    for (uint32_t r = 0; r < nctas; r++) hand_cta(h, r, threads);
}

static inline int hand_open(void **state)
{
    Hand *h = test_calloc(1, sizeof *h);
    h->m.mem.fail = &h->fail;
    if (setjmp(h->fail)) abort();
    arena_init(&h->m.arena, &h->m.mem);
    text_init(&h->m.finding, &h->m.mem);
    *state = h;
    return 0;
}

static inline int hand_close(void **state)
{
    Hand *h = *state;
    text_free(&h->m.finding);
    arena_free(&h->m.arena);
    test_free(h);
    return 0;
}
#define by_hand(test) cmocka_unit_test_setup_teardown(test, hand_open, hand_close)

/* Puts an instruction of instructions.def at `pc`; its operands are to be filled in. */
static inline FormOp *hand_form(Hand *h, uint32_t pc, InstrForm form, uint8_t nvalues)
{
    FormOp *f = &h->forms[pc];
    memset(f, 0, sizeof *f);
    f->form = form;
    f->nvalues = nvalues;
    f->dst = f->src = f->map = f->mbar = f->gaddr = f->size = NO_SLOT;
    f->mask = f->policy = f->rank = f->taddr = f->desc = NO_SLOT;
    f->half = NO_SLOT;
    f->value = arena_array(&h->m.arena, Slot, 16);
    for (int i = 0; i < 16; i++) f->value[i] = NO_SLOT;
    h->ops[pc].code = SIM_FORM;
    h->ops[pc].imm = pc;
    return f;
}

/* t executes the instruction at `pc`. */
static inline ExecResult hand_exec(Hand *h, SimThread *t, uint32_t pc)
{
    t->pc = pc;
    return sim_exec(&h->m, t, 1);
}

static inline void hand_exit(Hand *h, SimThread *t)
{
    t->wait = WAIT_EXITED;
    t->cta->nexited++;
    sim_collective_exit(&h->m, t);
    sim_sync_exit(&h->m, t);
}

static inline void expect_finding(Hand *h, ErrorCode code, const char *part)
{
    assert_true(h->m.failed);
    assert_string_equal(error_info(h->m.code)->code, error_info(code)->code);
    if (part && !strstr(h->m.finding.s, part)) fail_msg("no \"%s\" in: %s", part, h->m.finding.s);
    h->m.failed = false;
}

#endif
