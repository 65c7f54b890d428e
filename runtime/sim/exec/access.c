/* Addresses to bytes. What an address is checked for here holds in every mode: that it leads to memory of the kernel,
 * that it is aligned, and that a CTA whose memory it names is there. */
#include <inttypes.h>
#include <stdio.h>

#include "runtime/sim/machine.h"

#define LOW24 0xffffffu
#define FAR UINT64_C(0x1000000) /* from an allocation: it is no longer worth a word */

typedef struct Access { /* as asked for */
    SimMachine *m;
    SimThread *t;
    const char *what;
    uint64_t address, bytes;
    bool write;
} Access;

static const char *s_of(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static bool nowhere(const Access *a, const char *why)
{
    return sim_fail(a->m, E1313, a->t, "%s: %" PRIu64 " byte%s at address 0x%" PRIx64 ": %s", a->what, a->bytes,
                    s_of(a->bytes), a->address, why);
}

/* How the address lies to a range that does not hold all of the access. */
static bool beyond(const Access *a, const char *which, uint64_t from, uint64_t size, const char *of)
{
    uint64_t end = from + size, far = a->address < from ? from - a->address : a->address - end;
    char where[80];
    if (a->address >= from && a->address < end) snprintf(where, sizeof where, "over the end of");
    else if (far == 0) snprintf(where, sizeof where, "right behind the end of");
    else
        snprintf(where, sizeof where, "%" PRIu64 " byte%s %s", far, s_of(far),
                 a->address < from ? "before" : "behind the end of");
    return sim_fail(a->m, E1313, a->t, "%s: %" PRIu64 " byte%s at %saddress 0x%" PRIx64 ", %s %s", a->what, a->bytes,
                    s_of(a->bytes), which, a->address, where, of);
}

static bool beyond_window(const Access *a, const char *which, uint64_t from, uint64_t size, const char *of)
{
    char text[100];
    snprintf(text, sizeof text, "%s of %" PRIu64 " bytes", of, size);
    return beyond(a, which, from, size, text);
}

static bool aligned(const Access *a, uint32_t align)
{
    if (align <= 1 || a->address % align == 0) return true;
    return sim_fail(a->m, E1314, a->t,
                    "%s: address 0x%" PRIx64 " is not a multiple of %" PRIu32 " (%" PRIu64 " byte%s)", a->what,
                    a->address, align, a->bytes, s_of(a->bytes));
}

static bool read_only(const Access *a, const char *of)
{
    return sim_fail(a->m, E1328, a->t, "%s: write to address 0x%" PRIx64 ", which is in %s", a->what, a->address, of);
}

static bool global(const Access *a, bool is_const, SimLoc *out)
{
    SimMachine *m = a->m;
    SimBlock *b = sim_find(m->memory, a->address, a->bytes, &m->hints[(a->t ? a->t->at : 0) & 15]);
    if (b == NULL) {
        const SimBlock *near = sim_nearest(m->memory, a->address);
        if (near == NULL || (a->address < near->address && near->address - a->address > FAR) ||
            (a->address > near->address + near->bytes && a->address - near->address - near->bytes > FAR))
            return nowhere(a, "nothing is allocated there");
        Text of;
        text_init(&of, &m->mem);
        sim_describe_block(m, near, &of);
        beyond(a, "", near->address, near->bytes, of.s);
        text_free(&of);
        return false;
    }
    if (a->write && b->read_only) return read_only(a, "constant memory");
    if (is_const && !b->read_only) return nowhere(a, "not constant memory");
    *out = (SimLoc){.space = b->read_only ? PTX_SPACE_CONST : PTX_SPACE_GLOBAL,
                    .block = b,
                    .offset = a->address - b->address,
                    .data = b->data + (a->address - b->address)};
    return true;
}

/* Params and locals: small windows from 0 on. */
static bool window(const Access *a, PtxSpace space, uint8_t *data, uint64_t size, SimLoc *out)
{
    bool param = space == PTX_SPACE_PARAM;
    if (a->bytes > size || a->address > size - a->bytes)
        return beyond_window(a, param ? "param " : "local ", 0, size,
                             param ? "the kernel's parameters" : "the thread's local memory");
    if (param && a->write) return read_only(a, "the kernel's parameters");
    *out = (SimLoc){.space = space, .offset = a->address, .data = data + a->address};
    return true;
}

static bool live_peer(const Access *a, const SimCta *cta)
{
    if (cta == a->t->cta) return true;
    if (cta->exited)
        return sim_fail(a->m, E1311, a->t,
                        "%s: shared memory of CTA (%" PRIu32 ",%" PRIu32 ",%" PRIu32 "), rank %" PRIu32
                        " of the cluster, which has exited",
                        a->what, cta->id[0], cta->id[1], cta->id[2], cta->rank);
    if (!cta->started)
        return sim_fail(a->m, E1310, a->t,
                        "%s: shared memory of CTA (%" PRIu32 ",%" PRIu32 ",%" PRIu32 "), rank %" PRIu32
                        " of the cluster, which has not started yet",
                        a->what, cta->id[0], cta->id[1], cta->id[2], cta->rank);
    return true;
}

static bool shared(const Access *a, bool cta_only, SimLoc *out)
{
    if (a->address > UINT32_MAX) return nowhere(a, "shared addresses have 32 bits");
    uint32_t rank = (uint32_t)(a->address >> SIM_SMEM_RANK), byte = (uint32_t)a->address & LOW24;
    SimCta *cta = sim_peer(a->t, rank);
    if (cta == NULL) return nowhere(a, "not in the shared memory of the CTA or its cluster");
    if (cta_only && cta != a->t->cta)
        return nowhere(a, "in the shared memory of another CTA, but .shared::cta is the own one");
    if (byte < SIM_SMEM_BASE || a->bytes > cta->smem_bytes || byte - SIM_SMEM_BASE > cta->smem_bytes - a->bytes)
        return beyond_window(a, "shared ", ((uint64_t)rank << SIM_SMEM_RANK) + SIM_SMEM_BASE, cta->smem_bytes,
                             "the CTA's shared memory");
    if (!live_peer(a, cta)) return false;
    *out = (SimLoc){.space = PTX_SPACE_SHARED,
                    .cta = cta,
                    .offset = byte - SIM_SMEM_BASE,
                    .data = cta->smem + (byte - SIM_SMEM_BASE)};
    return true;
}

static bool in_window(uint64_t address, uint64_t base)
{
    return address >= base && address - base < SIM_WINDOW;
}

bool sim_locate(SimMachine *m, SimThread *t, PtxSpace space, uint64_t address, uint64_t bytes, uint32_t align,
                bool write, const char *what, SimLoc *out)
{
    Access a = {.m = m, .t = t, .what = what, .address = address, .bytes = bytes, .write = write};
    if (!aligned(&a, align)) return false;
    if (space ==
        PTX_SPACE_REG) { /* PTX ISA, Generic Addressing: windows of the other spaces, global memory elsewhere */
        space = PTX_SPACE_GLOBAL;
        if (in_window(address, SIM_SHARED_BASE)) {
            a.address -= SIM_SHARED_BASE;
            return shared(&a, false, out);
        }
        if (in_window(address, SIM_PARAM_BASE)) a.address -= SIM_PARAM_BASE, space = PTX_SPACE_PARAM;
        if (in_window(address, SIM_LOCAL_BASE)) a.address -= SIM_LOCAL_BASE, space = PTX_SPACE_LOCAL;
    }
    switch (space) {
    case PTX_SPACE_SHARED: return shared(&a, true, out);
    case PTX_SPACE_PARAM: return window(&a, space, m->params, m->launch.program->param_bytes, out);
    case PTX_SPACE_LOCAL: return window(&a, space, t->local, m->launch.program->local_bytes, out);
    case PTX_SPACE_CONST: return global(&a, true, out);
    default: return global(&a, false, out);
    }
}

bool sim_locate_shared(SimMachine *m, SimThread *t, uint64_t address, uint64_t bytes, uint32_t align, bool cta_only,
                       const char *what, SimLoc *out)
{
    Access a = {.m = m, .t = t, .what = what, .address = address, .bytes = bytes};
    return aligned(&a, align) && shared(&a, cta_only, out);
}
