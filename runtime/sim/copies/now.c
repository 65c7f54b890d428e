/* The copy engine of the fast mode: a task is done when it is issued. */
#include <string.h>

#include "runtime/sim/copies/task.h"
#include "runtime/sim/trace/trace.h"

static void fill(const BoxWalk *w, uint8_t *box, uint32_t shared, uint32_t lo, uint32_t hi)
{
    for (uint32_t b = lo; b < hi; b++) box[box_place(w, shared, b)] = (uint8_t)(w->fill >> b % 8 * 8);
}

/* Bytes from byte b of a row on that lie together on both sides. */
static uint32_t straight(const BoxWalk *w, const BoxRow *row, uint32_t b)
{
    if (w->swizzle_mask == 0 && w->unit == PIECE) return row->to - b;
    uint32_t n = w->unit - b % w->unit;
    return n < row->to - b ? n : row->to - b;
}

/* The inside part of a row between global memory (`g`: byte row->from) and the box. */
static void move_row(const Task *k, const BoxRow *row, uint8_t *g, uint8_t *box)
{
    const BoxWalk *w = &k->walk;
    bool store = k->kind == TASK_STORE;
    for (uint32_t b = row->from, n; b < row->to; b += n, g += n) {
        uint8_t *s = box + box_place(w, row->shared, b);
        n = straight(w, row, b);
        if (store && w->packs) {
            box_pack(g, s);
        } else if (store) {
            task_put(k, g, s, n);
        } else if (n == PIECE) {
            memcpy(s, g, PIECE);
        } else {
            memcpy(s, g, n);
        }
        if (!store && box_converts(w)) box_convert(s, n);
    }
}

static bool run_box(SimMachine *m, Task *k, uint8_t *box)
{
    const BoxWalk *w = &k->walk;
    for (uint32_t r = 0; r < w->rows; r++) {
        BoxRow row;
        box_row(w, r, &row);
        if (row.from < row.to) {
            uint8_t *g = task_global(m, k, row.global + row.from, row.to - row.from);
            if (g == NULL) return false;
            move_row(k, &row, g, box);
        }
        if (k->kind == TASK_STORE || row.to - row.from == w->row_bytes) continue;
        fill(w, box, row.shared, 0, row.from);
        fill(w, box, row.shared, row.to, w->row_bytes);
    }
    return true;
}

static bool run_linear(SimMachine *m, Task *k, uint8_t *to)
{
    uint8_t *from = k->kind == TASK_LOAD    ? task_global(m, k, k->global, k->total)
                    : k->kind == TASK_VALUE ? k->value
                                            : k->src->smem + k->src_offset;
    if (from == NULL) return false;
    if (!k->reduce && k->kind == TASK_PEER) memmove(to, from, k->total);
    else task_put(k, to, from, k->total);
    return true;
}

static bool run_store(SimMachine *m, Task *k)
{
    if (k->tensor) {
        if (!run_box(m, k, k->src->smem + k->src_offset)) return false;
    } else {
        uint8_t *to = task_global(m, k, k->global, k->total);
        if (to == NULL || !run_linear(m, k, to)) return false;
    }
    if (m->trace) {
        trace_reads(m, k->number, &k->who);
        trace_over(m, k->number, &k->who);
    }
    return true;
}

bool task_run(SimMachine *m, Task *k)
{
    if (k->kind == TASK_STORE) return run_store(m, k);
    for (uint32_t i = 0; i < k->ndest; i++) {
        uint8_t *to = k->dest[i].cta->smem + k->dest[i].offset;
        if (k->tensor ? !run_box(m, k, to) : !run_linear(m, k, to)) return false;
    }
    for (uint32_t i = 0; i < k->ndest; i++) {
        const TaskDest *d = &k->dest[i];
        if (m->trace) {
            const SimBarrier *b = mbar_find(d->home, d->barrier);
            if (b) trace_task_phase(m, k->number, d->home, d->barrier, b->phase + 1);
            trace_done(m, k->number, d->cta);
        }
        if (!mbar_complete(m, NULL, &k->who, d->home, d->barrier, k->total)) return false;
    }
    return true;
}
