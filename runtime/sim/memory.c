#include "runtime/sim/memory.h"

#include <string.h>

/* Addresses are never given twice, so that a pointer to released memory leads nowhere; the gap lets an access that
 * runs some rows over an end miss the next allocation. */
#define ALIGN UINT64_C(256)
#define GAP UINT64_C(0x100000)
#define LAST UINT64_C(0x7f0000000000)

void sim_memory_init(SimMemory *m, uint64_t limit)
{
    *m = (SimMemory){.limit = limit, .next = SIM_GLOBAL_BASE};
}

static void block_free(const SimMemory *m, SimBlock *b)
{
    host_free(m->host, b->data);
    host_free(m->host, b);
}

void sim_memory_free(SimMemory *m)
{
    for (uint32_t i = 0; i < m->n; i++) block_free(m, m->blocks[i]);
    host_free(m->host, m->blocks);
    *m = (SimMemory){0};
}

static bool make_room(SimMemory *m)
{
    if (m->n < m->cap) return true;
    if (m->cap > UINT32_MAX / 4) return false;
    uint32_t cap = m->cap ? m->cap * 2 : 16;
    SimBlock **v = host_resize(m->host, m->blocks, cap * sizeof *v);
    if (v == NULL) return false;
    m->blocks = v;
    m->cap = cap;
    return true;
}

SimBlock *sim_alloc(SimMemory *m, uint64_t bytes)
{
    if (bytes > m->limit - m->used || m->next >= LAST || bytes > LAST - m->next || bytes > PTRDIFF_MAX || !make_room(m))
        return NULL;
    SimBlock *b = host_zeros(m->host, 1, sizeof *b);
    if (b == NULL) return NULL;
    b->data = host_zeros(m->host, 1, bytes ? (size_t)bytes : 1);
    if (b->data == NULL) {
        host_free(m->host, b);
        return NULL;
    }
    b->address = m->next;
    b->bytes = bytes;
    m->blocks[m->n++] = b;
    m->used += bytes;
    m->next += (bytes + ALIGN - 1) / ALIGN * ALIGN + GAP;
    if (m->next > LAST) m->next = LAST;
    return b;
}

/* How many allocations start at or below the address. */
static uint32_t count_to(const SimMemory *m, uint64_t address)
{
    uint32_t lo = 0, hi = m->n;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (m->blocks[mid]->address <= address) lo = mid + 1;
        else hi = mid;
    }
    return lo;
}

bool sim_release(SimMemory *m, uint64_t address)
{
    uint32_t n = count_to(m, address);
    if (n == 0 || m->blocks[n - 1]->address != address) return false;
    SimBlock *b = m->blocks[n - 1];
    m->used -= b->bytes;
    memmove(&m->blocks[n - 1], &m->blocks[n], (m->n - n) * sizeof *m->blocks);
    m->n--;
    block_free(m, b);
    return true;
}

static bool holds(const SimBlock *b, uint64_t address, uint64_t bytes)
{
    return address >= b->address && bytes <= b->bytes && address - b->address <= b->bytes - bytes;
}

SimBlock *sim_find(const SimMemory *m, uint64_t address, uint64_t bytes, SimBlock **hint)
{
    if (hint && *hint && holds(*hint, address, bytes)) return *hint;
    uint32_t n = count_to(m, address);
    if (n == 0 || !holds(m->blocks[n - 1], address, bytes)) return NULL;
    if (hint) *hint = m->blocks[n - 1];
    return m->blocks[n - 1];
}

const SimBlock *sim_nearest(const SimMemory *m, uint64_t address)
{
    uint32_t n = count_to(m, address);
    const SimBlock *below = n ? m->blocks[n - 1] : NULL, *above = n < m->n ? m->blocks[n] : NULL;
    if (below == NULL || above == NULL) return below ? below : above;
    uint64_t past = address - below->address < below->bytes ? 0 : address - below->address - below->bytes;
    return past <= above->address - address ? below : above;
}
