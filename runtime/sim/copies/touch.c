/* What a copy touches: told to the watch, looked up in global memory, filled with noise. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "runtime/sim/copies/task.h"

/* ---- the watch ---- */

typedef struct Tell {
    SimMachine *m;
    SimThread *t;
    WatchCopy *copy;
    Task *k;
    const TaskDest *dest; /* NULL: the source, in shared memory */
    SimBarrier *barrier;
} Tell;

static bool tell_shared(void *user, uint32_t offset, uint32_t bytes)
{
    Tell *u = user;
    SimCta *cta = u->dest ? u->dest->cta : u->k->src;
    uint64_t at = (uint64_t)offset + (u->dest ? u->dest->offset : u->k->src_offset);
    SimLoc loc = {.space = PTX_SPACE_SHARED, .cta = cta, .offset = at, .data = cta->smem + at};
    if (bytes == 0) return true;
    if (u->dest) return watch_copy_write(u->m, u->t, u->copy, &loc, bytes, u->barrier);
    return watch_copy_read(u->m, u->t, u->copy, &loc, bytes);
}

static bool tell_global(void *user, uint64_t address, uint64_t bytes)
{
    Tell *u = user;
    SimBlock *b = sim_find(u->m->memory, address, bytes, &u->k->block);
    if (b == NULL)
        return sim_fail(u->m, E1313, u->t, "the copy touches 0x%" PRIx64 ", which is in no allocation", address);
    SimLoc loc = {.space = PTX_SPACE_GLOBAL, .block = b, .offset = address - b->address};
    loc.data = b->data + loc.offset;
    if (u->k->kind == TASK_STORE) return watch_copy_write(u->m, u->t, u->copy, &loc, (uint32_t)bytes, NULL);
    return watch_copy_read(u->m, u->t, u->copy, &loc, (uint32_t)bytes);
}

/* Both sides of a linear store, as far as its mask goes: PTX ISA, cp.async.bulk, .cp_mask. */
static bool tell_masked(Tell *u, bool (*tell)(Tell *u, uint32_t offset, uint32_t bytes))
{
    const Task *k = u->k;
    uint32_t n = 0;
    if (k->mask == UINT16_MAX) return tell(u, 0, k->total);
    for (uint32_t b = 0; b < k->total; b += n) {
        for (n = 0; b + n < k->total && k->mask >> (b + n) % PIECE & 1; n++) {
        }
        if (n && !tell(u, b, n)) return false;
        if (n == 0) n = 1;
    }
    return true;
}

static bool tell_source_run(Tell *u, uint32_t offset, uint32_t bytes)
{
    return tell_shared(u, offset, bytes);
}

static bool tell_target_run(Tell *u, uint32_t offset, uint32_t bytes)
{
    return tell_global(u, u->k->global + offset, bytes);
}

static bool tell_gap(void *user, uint32_t offset, uint32_t bytes)
{
    Tell *u = user;
    uint64_t at = (uint64_t)offset + u->dest->offset;
    SimLoc loc = {.space = PTX_SPACE_SHARED, .cta = u->dest->cta, .offset = at, .data = u->dest->cta->smem + at};
    return watch_copy_gap(u->m, u->t, u->copy, &loc, bytes, u->barrier);
}

static bool tell_source(Tell *u)
{
    Task *k = u->k;
    u->dest = NULL;
    if (k->kind == TASK_VALUE || k->total == 0) return true;
    if (k->kind == TASK_LOAD)
        return k->tensor ? box_global_ranges(&k->walk, tell_global, u) : tell_global(u, k->global, k->total);
    return k->tensor ? box_shared_ranges(&k->walk, true, tell_shared, u) : tell_masked(u, tell_source_run);
}

static bool tell_barriers(Tell *u)
{
    for (uint32_t i = 0; i < u->k->ndest; i++) {
        const TaskDest *d = &u->k->dest[i];
        SimBarrier *b = mbar_find(d->home, d->barrier);
        if (b == NULL) {
            SimWho who = sim_who(u->t);
            return mbar_missing(u->m, &who, d->home, d->barrier, ", on which the copy completes,");
        }
        if (!watch_copy_barrier(u->m, u->t, u->copy, d->home, b)) return false;
        if (d->home != d->cta) watch_copy_home(u->m, u->copy, d->home, b);
    }
    return true;
}

static bool tell_destinations(Tell *u)
{
    Task *k = u->k;
    if (k->total == 0) return true;
    if (k->kind == TASK_STORE)
        return k->tensor ? box_global_ranges(&k->walk, tell_global, u) : tell_masked(u, tell_target_run);
    for (uint32_t i = 0; i < k->ndest; i++) {
        u->dest = &k->dest[i];
        u->barrier = mbar_find(u->dest->home, u->dest->barrier);
        if (k->tensor ? !box_shared_ranges(&k->walk, false, tell_shared, u) || !box_gaps(&k->walk, tell_gap, u)
                      : !tell_shared(u, 0, k->total))
            return false;
    }
    return true;
}

bool task_tell(SimMachine *m, SimThread *t, Task *k)
{
    Tell u = {.m = m, .t = t, .k = k, .copy = watch_copy(m, t, k->group != 0, k->reduce)};
    if (k->tensor && !watch_copy_map(m, t, u.copy, &k->map_loc)) return false;
    if (!tell_barriers(&u) || !tell_source(&u) || !tell_destinations(&u)) return false;
    watch_copy_issued(m, t, u.copy);
    return true;
}

/* ---- global memory ---- */

typedef struct Lookup {
    SimMachine *m;
    Task *k;
    uint64_t address, bytes; /* of the range that was not found */
    bool read_only;
} Lookup;

static bool lookup(void *user, uint64_t address, uint64_t bytes)
{
    Lookup *u = user;
    SimBlock *b = sim_find(u->m->memory, address, bytes, &u->k->block);
    u->address = address;
    u->bytes = bytes;
    u->read_only = b && b->read_only && u->k->kind == TASK_STORE;
    return b != NULL && !u->read_only;
}

/* Rows may lie in several allocations; a row lies in one. */
static bool lookup_rows(const BoxWalk *w, Lookup *u)
{
    for (uint32_t r = 0; r < w->rows; r++) {
        BoxRow row;
        box_row(w, r, &row);
        if (row.from < row.to && !lookup(u, row.global + row.from, row.to - row.from)) return false;
    }
    return true;
}

bool task_in_memory(SimMachine *m, Task *k, int *rule, char *text, size_t size)
{
    Lookup u = {.m = m, .k = k};
    uint64_t address, bytes;
    if (k->walk.from == k->walk.to) return true;
    if (box_hull(&k->walk, &address, &bytes) && lookup(&u, address, bytes)) return true;
    if (!u.read_only && lookup_rows(&k->walk, &u)) return true;
    const SimBlock *near = sim_nearest(m->memory, u.address);
    *rule = u.read_only ? E1328 : E1313;
    int n = snprintf(text, size, "the copy %s bytes 0x%" PRIx64 " to 0x%" PRIx64 ", which are %s",
                     k->kind == TASK_STORE ? "writes" : "reads", u.address, u.address + u.bytes - 1,
                     u.read_only ? "constant memory" : "in no allocation");
    if (near == NULL || u.read_only || n <= 0 || (size_t)n >= size) return false;
    Text of;
    text_init(&of, &m->mem);
    sim_describe_block(m, near, &of);
    snprintf(text + n, size - (size_t)n, "; the nearest is %s, 0x%" PRIx64 " to 0x%" PRIx64, of.s, near->address,
             near->address + near->bytes - 1);
    text_free(&of);
    return false;
}

/* ---- noise ---- */

typedef struct Noise {
    SimMachine *m;
    uint8_t *at;
} Noise;

static bool noise(void *user, uint32_t offset, uint32_t bytes)
{
    Noise *u = user;
    sim_noise(u->m, u->at + offset, bytes);
    return true;
}

/* What a copy is about to write says nothing from its issue on. */
void task_poison(SimMachine *m, Task *k)
{
    if (k->kind == TASK_STORE || k->reduce) return;
    for (uint32_t i = 0; i < k->ndest; i++) {
        Noise u = {.m = m, .at = k->dest[i].cta->smem + k->dest[i].offset};
        if (k->tensor) {
            box_shared_ranges(&k->walk, false, noise, &u);
            box_gaps(&k->walk, noise, &u);
        } else {
            noise(&u, 0, k->total);
        }
    }
}
