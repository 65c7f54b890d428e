/* The copy engine: tasks and their steps. */
#include "runtime/sim/copies/async.h"

#include <inttypes.h>
#include <string.h>

#include "lang/checked.h"
#include "runtime/sim/copies/task.h"
#include "runtime/sim/tmem/tmem.h"
#include "runtime/sim/trace/trace.h"

void async_init(SimMachine *m)
{
    Async *a = mem_resize(&m->mem, NULL, sizeof *a);
    memset(a, 0, sizeof *a);
    m->async = a;
}

static void task_free(SimMachine *m, Task *k)
{
    if (k->buffer) mem_free(&m->mem, k->buffer);
    if (k->table) mem_free(&m->mem, k->table);
    mem_free(&m->mem, k);
}

/* Tasks come and go by the thousand and are much alike: they keep their room. */
static Task *task_new(SimMachine *m, const Task *plan)
{
    Async *a = m->async;
    Task *k = a->spare;
    if (k == NULL) {
        k = mem_resize(&m->mem, NULL, sizeof *k);
        *k = *plan;
        return k;
    }
    a->spare = k->older;
    uint8_t *buffer = k->buffer;
    BoxPiece *table = k->table;
    uint32_t cap_buffer = k->cap_buffer, cap_table = k->cap_table;
    *k = *plan;
    k->buffer = buffer;
    k->table = table;
    k->cap_buffer = cap_buffer;
    k->cap_table = cap_table;
    return k;
}

void async_free(SimMachine *m)
{
    Async *a = m->async;
    if (a == NULL) return;
    for (uint32_t i = 0; i < a->n; i++) task_free(m, a->tasks[i]);
    for (Task *k = a->spare; k;) {
        Task *next = k->older;
        task_free(m, k);
        k = next;
    }
    if (a->tasks) mem_free(&m->mem, a->tasks);
    mem_free(&m->mem, a);
    m->async = NULL;
}

uint32_t async_pending(const SimMachine *m)
{
    const Async *a = m->async;
    return (a ? a->n : 0) + tmem_pending(m);
}

/* ---- bulk groups ---- */

static bool same_thread(const SimWho *a, const SimWho *b)
{
    return a->cluster == b->cluster && a->rank == b->rank && a->thread == b->thread;
}

static Task **bucket_of(Async *a, const SimWho *w)
{
    uint64_t h = ((uint64_t)w->cluster << 32 | (uint64_t)w->rank << 16 | w->thread) * UINT64_C(0x9E3779B97F4A7C15);
    return &a->bucket[h >> 54];
}

/* PTX ISA, cp.async.bulk.wait_group N: at most the N most recent groups are pending and all prior ones are complete, so
 * everything from the oldest that is not done counts. */
uint64_t async_groups_left(const SimThread *t, SimMachine *m, bool read)
{
    Async *a = m->async;
    if (a == NULL || a->n == 0) return 0;
    SimWho who = sim_who(t);
    uint64_t oldest = t->committed + 1;
    for (const Task *k = *bucket_of(a, &who); k; k = k->older)
        if (same_thread(&k->who, &who) && k->group < oldest && !(read && k->reads_done)) oldest = k->group;
    return t->committed + 1 - oldest;
}

/* The thread that issued a task, if its cluster is still there. */
static SimThread *issuer(SimMachine *m, const SimWho *w)
{
    for (uint32_t i = 0; i < m->nresident; i++) {
        SimCluster *c = m->resident[i];
        if (c->number != w->cluster) continue;
        if (w->rank >= c->nctas || c->ctas[w->rank]->threads == NULL || w->thread >= c->ctas[w->rank]->nthreads)
            return NULL;
        return &c->ctas[w->rank]->threads[w->thread];
    }
    return NULL;
}

static void group_moved(SimMachine *m, const SimWho *who)
{
    SimThread *t = issuer(m, who);
    m->progress++;
    if (t && t->wait == WAIT_GROUP && async_groups_left(t, m, t->group_read) <= t->group_target) sim_wake(m, t);
}

/* ---- the queue ---- */

static void shuffle(SimMachine *m, Task *k)
{
    static const uint32_t bursts[] = {8, 64, 0, 0, 0, 0, 0, 0};
    Rng *r = &m->rng;
    k->pieces = k->per_dest * (k->ndest ? k->ndest : 1);
    k->stride = 1;
    for (int tries = 0; tries < 8 && k->pieces > 2; tries++) {
        uint32_t n = 1 + rng_below(r, k->pieces - 1);
        if (gcd_s64(n, k->pieces) != 1) continue;
        k->stride = n;
        break;
    }
    k->at = k->at_write = rng_below(r, k->pieces);
    k->burst = bursts[rng_below(r, 8)];
    k->delay = rng_one_in(r, 4) ? rng_below(r, 64) : 0;
    k->eager = rng_one_in(r, 2);
}

static void hold(TaskDest *d, uint32_t n) /* 1: the copy is under way; -1: over */
{
    d->cta->copies += n;
    if (d->home != d->cta) d->home->copies += n;
}

bool task_queue(SimMachine *m, Task *plan)
{
    Async *a = m->async;
    a->tasks = mem_grow(&m->mem, a->tasks, &a->cap, a->n + 1, sizeof(Task *));
    Task *k = task_new(m, plan);
    k->slot = a->n;
    a->tasks[a->n++] = k;
    shuffle(m, k);
    for (uint32_t i = 0; i < k->ndest; i++) hold(&k->dest[i], 1);
    if (k->src) k->src->copies++;
    if (k->group) {
        Task **bucket = bucket_of(a, &k->who);
        k->older = *bucket;
        if (k->older) k->older->newer = k;
        *bucket = k;
    }
    return true;
}

static void finish(SimMachine *m, Task *k)
{
    Async *a = m->async;
    a->tasks[k->slot] = a->tasks[--a->n];
    a->tasks[k->slot]->slot = k->slot;
    if (k->group) {
        if (k->older) k->older->newer = k->newer;
        if (k->newer) k->newer->older = k->older;
        else *bucket_of(a, &k->who) = k->older;
    }
    SimWho who = k->who;
    bool group = k->group != 0;
    if (m->trace && group) trace_over(m, k->number, &who);
    k->older = a->spare;
    a->spare = k;
    if (group) group_moved(m, &who);
}

/* ---- pieces ---- */

static void reads_done(SimMachine *m, Task *k)
{
    k->reads_done = true;
    if (m->trace && k->group) trace_reads(m, k->number, &k->who);
    if (k->src == NULL) return;
    k->src->copies--;
    k->src = NULL;
    if (k->group) group_moved(m, &k->who);
}

static bool lost(SimMachine *m, const Task *k, const TaskDest *d)
{
    const SimCta *cta = d->cta->exited ? d->cta : d->home;
    bool own = k->who.cluster == cta->cluster->number && k->who.rank == cta->rank;
    return sim_fail_at(m, own ? E1317 : E1311, &k->who, NULL,
                       "%s of the copy arrives in the shared memory of CTA (%" PRIu32 ",%" PRIu32 ",%" PRIu32
                       "), rank %" PRIu32 ", which has exited",
                       cta == d->cta ? "data" : "the end", cta->id[0], cta->id[1], cta->id[2], cta->rank);
}

uint8_t *task_find_global(SimMachine *m, Task *k, uint64_t address, uint32_t n)
{
    SimBlock *b = sim_find(m->memory, address, n, &k->block);
    if (b) return b->data + (address - b->address);
    sim_fail_at(m, E1313, &k->who, NULL, "bytes 0x%" PRIx64 " to 0x%" PRIx64 " of global memory are in no allocation",
                address, address + n - 1);
    return NULL;
}

/* All of a linear copy's source as it is now. */
static const uint8_t *source_bytes(SimMachine *m, Task *k)
{
    if (k->kind == TASK_LOAD) return task_global(m, k, k->global, k->total);
    if (!k->src->exited) return k->src->smem + k->src_offset;
    sim_fail_at(m, E1312, &k->who, NULL, "the copy reads shared memory of a CTA that has exited");
    return NULL;
}

static void find_piece(const Task *k, uint32_t p, BoxPiece *out)
{
    if (k->tensor) {
        *out = k->table[p];
    } else {
        uint32_t n = k->kind == TASK_VALUE ? k->total : PIECE;
        *out = (BoxPiece){
            .shared = p * PIECE, .global = k->global + (uint64_t)p * PIECE, .bytes = (uint8_t)n, .inside = true};
    }
}

/* Bytes of a piece as they are at the source now. */
static bool read_piece(SimMachine *m, Task *k, const BoxPiece *p, uint8_t *out)
{
    if (k->kind == TASK_VALUE) {
        memcpy(out, k->value, p->bytes);
    } else if (k->kind == TASK_LOAD) {
        if (!p->inside) { /* the pattern begins anew at multiples of 8 bytes of the row; a piece starts at an element */
            for (uint32_t i = 0; i < p->bytes; i++) out[i] = (uint8_t)(k->walk.fill >> (i + p->shared) % 8 * 8);
            return true;
        }
        const uint8_t *from = task_global(m, k, p->global, p->bytes);
        if (from == NULL) return false;
        memcpy(out, from, p->bytes);
        if (k->tensor && box_converts(&k->walk)) box_convert(out, p->bytes);
    } else {
        if (k->src->exited)
            return sim_fail_at(m, E1312, &k->who, NULL, "the copy reads shared memory of a CTA that has exited");
        memcpy(out, k->src->smem + k->src_offset + p->shared, p->bytes);
    }
    return true;
}

void task_put(const Task *k, uint8_t *to, const uint8_t *from, uint32_t n)
{
    if (k->reduce) {
        sim_reduce(to, from, n, k->op, k->type, k->ftz);
    } else if (k->mask == UINT16_MAX) {
        memcpy(to, from, n);
    } else {
        for (uint32_t i = 0; i < n; i++) /* PTX ISA, cp.async.bulk, .cp_mask */
            if (k->mask >> i % PIECE & 1) to[i] = from[i];
    }
}

static uint32_t behind(const Task *k, uint32_t at) /* no sum overflows: pieces are of 16 bytes in 32-bit spaces */
{
    at += k->stride;
    return at < k->pieces ? at : at - k->pieces;
}

/* ---- steps ---- */

/* complete_tx for some of what has landed: engines report in portions of their own. */
static bool deliver(SimMachine *m, Task *k, TaskDest *d)
{
    uint32_t due = d->moved - d->completed;
    if (due == 0 || (d->moved < k->total && !rng_one_in(&m->rng, 4))) return true;
    if (d->cta->exited || d->home->exited) return lost(m, k, d);
    if (due > PIECE && rng_one_in(&m->rng, 4)) due = (1 + rng_below(&m->rng, due / PIECE)) * PIECE;
    d->completed += due;
    if (m->trace) {
        const SimBarrier *b = mbar_find(d->home, d->barrier);
        if (b) trace_task_phase(m, k->number, d->home, d->barrier, b->phase + 1);
        if (d->completed == k->total) trace_done(m, k->number, d->cta);
    }
    if (!mbar_complete(m, NULL, &k->who, d->home, d->barrier, due)) return false;
    if (d->completed == k->total) hold(d, UINT32_MAX);
    return true;
}

/* How many pieces a step moves at most: any power of two is as likely, so that steps are of all sizes and a copy has a
 * number of them that hardly grows with it. */
static uint32_t step_budget(SimMachine *m, const Task *k)
{
    if (k->burst) return 1 + rng_below(&m->rng, k->burst);
    uint32_t bits = 1;
    while (bits < 32 && k->pieces >> bits) bits++;
    uint32_t e = rng_below(&m->rng, bits + 1);
    return 1 + rng_below(&m->rng, e < 31 ? UINT32_C(1) << e : UINT32_MAX);
}

/* The pieces of a linear copy to one place: between two ranges of memory. */
static uint32_t move_plain(Task *k, uint8_t *to, const uint8_t *from, uint32_t n)
{
    uint32_t at = k->at;
    for (uint32_t i = 0; i < n; i++, at = behind(k, at))
        memmove(to + (size_t)at * PIECE, from + (size_t)at * PIECE, PIECE);
    k->at = at;
    k->next += n;
    return n * PIECE;
}

/* The next pieces of a tensor load to one place as long as they are plain: whole, inside, not converted. */
static uint32_t move_tensor(SimMachine *m, Task *k, uint8_t *to, uint32_t n)
{
    uint32_t i = 0, at = k->at;
    if (k->kind != TASK_LOAD || k->reduce || box_converts(&k->walk)) return 0;
    for (; i < n; i++, at = behind(k, at)) {
        const BoxPiece *p = &k->table[at];
        if (!p->inside || p->bytes != PIECE) break;
        const uint8_t *from = task_global(m, k, p->global, PIECE);
        if (from == NULL) break;
        memcpy(to + p->shared, from, PIECE);
    }
    k->at = at;
    k->next += i;
    return i;
}

static bool move_in(SimMachine *m, Task *k, uint32_t n)
{
    uint8_t data[2 * PIECE];
    TaskDest *d = &k->dest[0];
    if (k->ndest == 1 && !k->tensor && !k->reduce && k->kind != TASK_VALUE && n) {
        if (d->cta->exited) return lost(m, k, d);
        const uint8_t *from = source_bytes(m, k);
        if (from) d->moved += move_plain(k, d->cta->smem + d->offset, from, n);
        return from != NULL;
    }
    for (; n; n--, k->next++, k->at = behind(k, k->at)) {
        BoxPiece p;
        if (k->ndest == 1 && k->tensor && !d->cta->exited) {
            uint32_t moved = move_tensor(m, k, d->cta->smem + d->offset, n);
            d->moved += moved * PIECE;
            n -= moved;
            if (m->failed) return false;
            if (n == 0) break;
        }
        if (k->ndest == 1) {
            find_piece(k, k->at, &p);
        } else {
            d = &k->dest[k->at % k->ndest];
            find_piece(k, k->at / k->ndest, &p);
        }
        if (d->cta->exited) return lost(m, k, d);
        if (!read_piece(m, k, &p, data)) return false;
        task_put(k, d->cta->smem + d->offset + p.shared, data, p.bytes);
        d->moved += p.bytes;
    }
    return true;
}

static bool step_arrival(SimMachine *m, Task *k, uint32_t budget, bool *over)
{
    uint32_t left = k->pieces - k->next;
    if (!move_in(m, k, budget < left ? budget : left)) return false;
    if (k->next == k->pieces && !k->reads_done) reads_done(m, k);
    *over = true;
    for (uint32_t i = 0; i < k->ndest; i++) {
        TaskDest *d = &k->dest[i];
        if (d->completed == k->total) continue;
        if (!deliver(m, k, d)) return false;
        if (d->completed < k->total) *over = false;
    }
    return true;
}

static bool collect(SimMachine *m, Task *k, uint32_t n)
{
    uint8_t *out = k->buffer + (size_t)k->next * PIECE;
    if (!k->tensor && n) {
        const uint8_t *from = source_bytes(m, k);
        if (from == NULL) return false;
        for (k->next += n; n; n--, out += PIECE, k->at = behind(k, k->at))
            memcpy(out, from + (size_t)k->at * PIECE, PIECE);
        return true;
    }
    for (; n; n--, out += PIECE, k->next++, k->at = behind(k, k->at)) {
        const BoxPiece *p = &k->table[k->at];
        if (!p->inside) continue;
        if (k->src->exited) return source_bytes(m, k) != NULL;
        const uint8_t *from = k->src->smem + k->src_offset + p->shared;
        if (p->bytes == PIECE) memcpy(out, from, PIECE);
        else if (k->walk.packs) box_pack(out, from);
        else memcpy(out, from, p->bytes);
    }
    return true;
}

static bool move_out(SimMachine *m, Task *k, uint32_t n)
{
    const uint8_t *from = k->buffer + (size_t)k->next_write * PIECE;
    if (!k->tensor && n) {
        uint8_t *to = task_global(m, k, k->global, k->total);
        if (to == NULL) return false;
        for (k->next_write += n; n; n--, from += PIECE, k->at_write = behind(k, k->at_write))
            task_put(k, to + (size_t)k->at_write * PIECE, from, PIECE);
        return true;
    }
    for (; n; n--, from += PIECE, k->next_write++, k->at_write = behind(k, k->at_write)) {
        const BoxPiece *p = &k->table[k->at_write];
        if (!p->inside) continue;
        uint8_t *to = task_global(m, k, p->global, p->bytes);
        if (to == NULL) return false;
        if (p->bytes == PIECE && !k->reduce) memcpy(to, from, PIECE); /* no mask: it is a tensor's */
        else task_put(k, to, from, p->bytes);
    }
    return true;
}

static bool step_departure(SimMachine *m, Task *k, uint32_t budget, bool *over)
{
    uint32_t left = k->pieces - k->next;
    if (!collect(m, k, budget < left ? budget : left)) return false;
    if (!k->eager || k->next == k->pieces) {
        left = k->next - k->next_write;
        if (!move_out(m, k, budget < left ? budget : left)) return false;
    }
    *over = k->next_write == k->pieces;
    if (k->next == k->pieces && !k->reads_done) reads_done(m, k);
    return true;
}

/* The map is read when the copy starts, not when it is issued: a change in between that nothing orders counts. */
static bool start(SimMachine *m, Task *k)
{
    k->started = true;
    if (k->tensor && memcmp(k->map, k->map_at, sizeof k->map) != 0) {
        int rule;
        char text[400];
        uint32_t span = k->walk.span_bytes, pieces = k->per_dest;
        if (!task_bind_map(m, k, k->map_at, &rule, text, sizeof text))
            return sim_fail_at(m, (ErrorCode)rule, &k->who, NULL,
                               "the tensor map was changed after the copy was issued: %s", text);
        if (k->walk.box_bytes != k->total || k->walk.span_bytes > span || k->walk.npieces > pieces)
            return sim_fail_at(m, E1324, &k->who, NULL,
                               "the tensor map was changed after the copy was issued and has another box");
        k->per_dest = (uint32_t)k->walk.npieces;
        shuffle(m, k);
    }
    if (k->kind == TASK_STORE && k->cap_buffer < k->pieces) {
        k->buffer = mem_resize(&m->mem, k->buffer, (size_t)k->pieces * PIECE);
        k->cap_buffer = k->pieces;
    }
    if (k->tensor && k->cap_table < k->per_dest) {
        k->table = mem_resize(&m->mem, k->table, (size_t)k->per_dest * sizeof *k->table);
        k->cap_table = k->per_dest;
    }
    if (k->tensor) box_pieces(&k->walk, k->table);
    return true;
}

bool async_step(SimMachine *m)
{
    Async *a = m->async;
    uint32_t tensor = tmem_pending(m);
    if (tensor && rng_below(&m->rng, a->n + tensor) >= a->n) return tmem_step(m);
    if (a->n == 0) return true;
    Task *k = a->tasks[rng_below(&m->rng, a->n)];
    if (k->delay) {
        k->delay--;
        return true;
    }
    if (!k->started && !start(m, k)) return false;
    uint32_t budget = step_budget(m, k);
    bool over = false;
    if (k->kind == TASK_STORE ? !step_departure(m, k, budget, &over) : !step_arrival(m, k, budget, &over)) return false;
    if (over) finish(m, k);
    return true;
}

/* ---- for reports ---- */

void async_describe(SimMachine *m, Text *out)
{
    const Async *a = m->async;
    for (uint32_t i = 0; a && i < a->n && i < 20; i++) {
        const Task *k = a->tasks[i];
        text_printf(out, "\n    a copy of %" PRIu32 " bytes, %" PRIu32 " of %" PRIu32 " pieces moved, issued by ",
                    k->total, k->next, k->pieces);
        sim_describe(m, k->who, out);
    }
    if (a && a->n > 20) text_printf(out, "\n    and %" PRIu32 " more copies", a->n - 20);
    tmem_describe(m, out);
}
