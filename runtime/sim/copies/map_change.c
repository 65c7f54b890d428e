/* Tensor maps that a kernel changes: tensormap.replace, tensormap.cp_fenceproxy, and the fences of their proxy. */
#include <inttypes.h>
#include <string.h>

#include "runtime/sim/machine.h"
#include "runtime/sim/copies/map_change.h"
#include "runtime/sim/copies/maps.h"
#include "runtime/sim/watch/watch.h"

enum { MAP_ALIGN = 64, LANES = 32 };

/* A shared address, or a generic one where the state space is left out. */
static bool map_at(SimMachine *m, SimThread *t, uint64_t address, PtxSpace space, bool write, SimLoc *at)
{
    if (space == PTX_SPACE_GLOBAL)
        return sim_locate(m, t, space, address, SIM_MAP_BYTES, MAP_ALIGN, write, "tensor map", at);
    if (address - SIM_SHARED_BASE < SIM_WINDOW) address -= SIM_SHARED_BASE;
    if (address < SIM_WINDOW) return sim_locate_shared(m, t, address, SIM_MAP_BYTES, MAP_ALIGN, true, "tensor map", at);
    return sim_locate(m, t, PTX_SPACE_REG, address, SIM_MAP_BYTES, MAP_ALIGN, write, "tensor map", at);
}

static uint64_t value(const SimThread *t, const FormOp *f, uint32_t i)
{
    return i < f->nvalues && f->value[i] != NO_SLOT ? t->slot[f->value[i]] : 0;
}

/* PTX ISA, tensormap.replace: "treated as a weak memory operation, on the entire 1024-bit opaque tensor-map object". */
bool sim_map_change(SimMachine *m, SimThread *t, const FormOp *f)
{
    bool global = f->form == FORM_MAP_REPLACE_GLOBAL;
    uint64_t address = global ? t->slot[f->gaddr] + (uint64_t)f->gaddr_off : t->slot[f->dst] + (uint64_t)f->dst_off;
    SimLoc at;
    int rule;
    char text[200];
    if (!map_at(m, t, address, global ? PTX_SPACE_GLOBAL : PTX_SPACE_SHARED, true, &at)) return false;
    if (m->watch && (!watch_read(m, t, &at, SIM_MAP_BYTES, ACCESS_WEAK, 0) ||
                     !watch_write(m, t, &at, SIM_MAP_BYTES, ACCESS_WEAK, 0, false)))
        return false;
    if (sim_map_replace(at.data, (ReplaceField)f->field, (uint32_t)value(t, f, 1), value(t, f, 0), &rule, text,
                        sizeof text))
        return true;
    return sim_fail(m, (ErrorCode)rule, t, "tensormap.replace: %s", text);
}

static uint64_t target_address(const SimThread *t, const FormOp *f)
{
    return t->slot[f->gaddr] + (uint64_t)f->gaddr_off;
}

static uint64_t source_address(const SimThread *t, const FormOp *f)
{
    return t->slot[f->src] + (uint64_t)f->src_off;
}

/* The threads of a warp copy one map together, so all of them must see it as it is; what one of them writes is known to
 * all. */
bool sim_map_publish(SimMachine *m, SimThread *const *lane, const FormOp *const *form, uint32_t n)
{
    SimThread *t = lane[0];
    SimLoc from, to;
    for (uint32_t i = 1; i < n; i++)
        if (source_address(lane[i], form[i]) != source_address(t, form[0]) ||
            target_address(lane[i], form[i]) != target_address(t, form[0]))
            return sim_fail(
                m, E1352, lane[i],
                "tensormap.cp_fenceproxy: the threads of the warp name different maps: the PTX ISA does not "
                "say which one is copied");
    if (!map_at(m, t, source_address(t, form[0]), PTX_SPACE_SHARED, false, &from) ||
        !map_at(m, t, target_address(t, form[0]), PTX_SPACE_GLOBAL, true, &to))
        return false;
    for (uint32_t i = 0; m->watch && i < n; i++)
        if (!watch_read(m, lane[i], &from, SIM_MAP_BYTES, ACCESS_WEAK, 0)) return false;
    if (m->watch && !watch_write(m, t, &to, SIM_MAP_BYTES, ACCESS_WEAK, 0, false)) return false;
    memmove(to.data, from.data, SIM_MAP_BYTES);
    if (m->watch == NULL) return true;
    uint32_t scope = form[0]->form == FORM_MAP_PUBLISH ? 2 : form[0]->fence;
    watch_map_release(m, t, scope);
    watch_warp(m, lane, n, true);
    for (uint32_t i = 0; i < n; i++) watch_fence(m, lane[i], scope, false);
    return true;
}

bool sim_map_fence(SimMachine *m, SimThread *t, const FormOp *f)
{
    uint32_t scope = f->form == FORM_MAP_ACQUIRE ? 2 : f->fence;
    if (f->form == FORM_MAP_RELEASE) {
        watch_map_release(m, t, scope);
        watch_fence(m, t, scope, false);
        return true;
    }
    SimLoc at;
    if (!sim_locate(m, t, PTX_SPACE_REG, target_address(t, f), SIM_MAP_BYTES, MAP_ALIGN, false, "fence.proxy.tensormap",
                    &at))
        return false;
    watch_fence(m, t, scope, false);
    watch_map_acquire(m, t, &at, scope);
    return true;
}
