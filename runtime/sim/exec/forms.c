/* The instructions of lang/instructions.def, one case per row: operands are fetched here, what they do is done by
 * barrier.c, sync.c, collective.c, async.c and watch.c.
 */
#include <inttypes.h>
#include <string.h>

#include "runtime/sim/copies/async.h"
#include "runtime/sim/copies/map_change.h"
#include "runtime/sim/copies/maps.h"
#include "runtime/sim/machine.h"
#include "runtime/sim/tmem/tmem.h"
#include "runtime/sim/trace/trace.h"
#include "runtime/sim/watch/watch.h"

#define SPURIOUS 8u /* one poll in so many fails without need */

static ExecResult done(bool ok)
{
    return ok ? EXEC_BUDGET : EXEC_FAILED;
}

static ExecResult not_yet(SimMachine *m, SimThread *t, const FormOp *f)
{
    Text name;
    text_init(&name, &m->mem);
    sim_describe_op(m, t->at, &name);
    sim_fail(m, E1351, t, "%s is not in the simulator yet (%s)", name.s ? name.s : "?", form_info(f->form)->section);
    text_free(&name);
    return EXEC_FAILED;
}

static uint64_t value(const SimThread *t, const FormOp *f, uint32_t i, uint64_t otherwise)
{
    return i < f->nvalues && f->value[i] != NO_SLOT ? t->slot[f->value[i]] : otherwise;
}

static void set(SimThread *t, const FormOp *f, uint32_t i, uint64_t v)
{
    if (i < f->nvalues && f->value[i] != NO_SLOT) t->slot[f->value[i]] = v;
}

/* ---- mbarriers ---- */
/* Forms of the shared state space that are written without a state space have generic addresses. */
static uint64_t shared_address(uint64_t a)
{
    return a >= SIM_SHARED_BASE && a - SIM_SHARED_BASE < SIM_WINDOW ? a - SIM_SHARED_BASE : a;
}

static bool mbar_at(SimMachine *m, SimThread *t, const FormOp *f, bool peer, SimLoc *at)
{
    return sim_locate_shared(m, t, shared_address(t->slot[f->mbar] + (uint64_t)f->mbar_off), 8, 8, !peer, "mbarrier",
                             at);
}

enum { /* what a form of the arrive family adds to a plain arrival */
       PEER = 1,
       COUNT = 2, /* value[1] is the count; else it is the bytes of EXPECT */
       EXPECT = 4,
       DROP = 8,
       NO_COMPLETE = 16,
       NO_ARRIVAL = 32, /* expect_tx alone: value[0] are the bytes */
       CLUSTER = 64     /* .cluster by the form itself */
};

static ExecResult arrive(SimMachine *m, SimThread *t, const FormOp *f, unsigned kind)
{
    SimLoc at;
    uint64_t state = 0, bytes = 0;
    uint32_t count = kind & NO_ARRIVAL ? 0 : 1;
    if (!mbar_at(m, t, f, kind & PEER, &at)) return EXEC_FAILED;
    if (kind & COUNT) {
        count = (uint32_t)value(t, f, 1, 1);
        if (count == 0 || count > SIM_MBAR_COUNT_MAX)
            return done(sim_fail(m, E1325, t, "an arrival with a count of %" PRIu32 "; 1 .. %u is allowed", count,
                                 SIM_MBAR_COUNT_MAX));
    }
    if (kind & EXPECT) bytes = (uint32_t)value(t, f, kind & NO_ARRIVAL ? 0 : 1, 0);
    const SimBarrier *b = mbar_find(at.cta, (uint32_t)at.offset);
    uint64_t phase = b ? b->phase : 0;
    if (!mbar_arrive(m, t, &at, count, bytes, kind & EXPECT, f->relaxed, f->cluster || kind & CLUSTER, kind & DROP,
                     &state))
        return EXEC_FAILED;
    if (kind & NO_COMPLETE && b && b->phase != phase)
        return done(
            sim_fail(m, E1325, t, "an arrival with .noComplete completes the phase of smem+%" PRIu64, at.offset));
    if (!(kind & (NO_ARRIVAL | PEER))) set(t, f, 0, state);
    return EXEC_BUDGET;
}

static ExecResult complete(SimMachine *m, SimThread *t, const FormOp *f, bool peer)
{
    SimLoc at;
    if (!mbar_at(m, t, f, peer, &at)) return EXEC_FAILED;
    return done(mbar_complete(m, t, NULL, at.cta, (uint32_t)at.offset, (uint32_t)value(t, f, 0, 0)));
}

/* A failed poll gives the thread's turn away until the phase changes: it goes on behind the instruction with false. */
static ExecResult park(SimMachine *m, SimThread *t, SimBarrier *b)
{
    t->on = b;
    t->on_phase = b->phase + 1;
    t->on_pc = t->at;
    t->polled_at = m->progress;
    t->pc = t->at + 1;
    sim_block(m, t, WAIT_MBARRIER);
    return EXEC_BLOCKED;
}

static ExecResult wait(SimMachine *m, SimThread *t, const FormOp *f, bool may_fail)
{
    SimLoc at;
    SimBarrier *b = NULL;
    if (!mbar_at(m, t, f, false, &at)) return EXEC_FAILED;
    if (may_fail && m->checking && mbar_find(at.cta, (uint32_t)at.offset) && rng_one_in(&m->rng, SPURIOUS)) {
        set(t, f, 0, 0); /* PTX ISA, mbarrier.try_wait: "OR before the phase completes following a .. time limit" */
        return EXEC_BUDGET;
    }
    bool by_state = f->nvalues > 2 && f->value[2] != NO_SLOT;
    MbarTest r = by_state ? mbar_test_state(m, t, &at, value(t, f, 2, 0), f->relaxed, f->cluster, &b)
                          : mbar_test_parity(m, t, &at, (uint32_t)value(t, f, 1, 0) & 1, f->relaxed, f->cluster, &b);
    if (r == MBAR_FAILED) return EXEC_FAILED;
    set(t, f, 0, r == MBAR_YES);
    return r == MBAR_YES ? EXEC_BUDGET : park(m, t, b);
}

static ExecResult exec_mbarrier(SimMachine *m, SimThread *t, const FormOp *f)
{
    SimLoc at;
    switch (f->form) {
    case FORM_MBAR_INIT: return done(mbar_at(m, t, f, false, &at) && mbar_init(m, t, &at, (uint32_t)value(t, f, 0, 0)));
    case FORM_MBAR_INVAL: return done(mbar_at(m, t, f, false, &at) && mbar_inval(m, t, &at));
    case FORM_MBAR_ARRIVE: return arrive(m, t, f, f->nvalues > 1 && f->value[1] != NO_SLOT ? COUNT : 0);
    case FORM_MBAR_ARRIVE_STATE: return arrive(m, t, f, 0);
    case FORM_MBAR_ARRIVE_COUNT: return arrive(m, t, f, COUNT);
    case FORM_MBAR_ARRIVE_NOCOMPLETE: return arrive(m, t, f, COUNT | NO_COMPLETE);
    case FORM_MBAR_ARRIVE_PEER: return arrive(m, t, f, PEER | CLUSTER | COUNT);
    case FORM_MBAR_ARRIVE_PEER_ANY: return arrive(m, t, f, PEER);
    case FORM_MBAR_ARRIVE_PEER_COUNT: return arrive(m, t, f, PEER | COUNT);
    case FORM_MBAR_ARRIVE_EXPECT:
    case FORM_MBAR_ARRIVE_EXPECT_STATE: return arrive(m, t, f, EXPECT);
    case FORM_MBAR_ARRIVE_EXPECT_PEER: return arrive(m, t, f, EXPECT | PEER | CLUSTER);
    case FORM_MBAR_ARRIVE_EXPECT_PEER_ANY: return arrive(m, t, f, EXPECT | PEER);
    case FORM_MBAR_DROP: return arrive(m, t, f, DROP);
    case FORM_MBAR_DROP_COUNT: return arrive(m, t, f, DROP | COUNT);
    case FORM_MBAR_DROP_PEER: return arrive(m, t, f, DROP | PEER);
    case FORM_MBAR_DROP_PEER_COUNT: return arrive(m, t, f, DROP | PEER | COUNT);
    case FORM_MBAR_DROP_NOCOMPLETE: return arrive(m, t, f, DROP | COUNT | NO_COMPLETE);
    case FORM_MBAR_DROP_EXPECT: return arrive(m, t, f, DROP | EXPECT);
    case FORM_MBAR_DROP_EXPECT_PEER: return arrive(m, t, f, DROP | EXPECT | PEER);
    case FORM_MBAR_EXPECT:
    case FORM_MBAR_EXPECT_ANY: return arrive(m, t, f, EXPECT | NO_ARRIVAL);
    case FORM_MBAR_EXPECT_PEER_ANY: return arrive(m, t, f, EXPECT | NO_ARRIVAL | PEER);
    case FORM_MBAR_COMPLETE:
    case FORM_MBAR_COMPLETE_ANY: return complete(m, t, f, false);
    case FORM_MBAR_COMPLETE_PEER:
    case FORM_MBAR_COMPLETE_PEER_ANY: return complete(m, t, f, true);
    case FORM_MBAR_TRY_WAIT:
    case FORM_MBAR_TRY_WAIT_HINT:
    case FORM_MBAR_TRY_WAIT_STATE:
    case FORM_MBAR_TRY_WAIT_STATE_HINT: return wait(m, t, f, true);
    case FORM_MBAR_TEST_WAIT:
    case FORM_MBAR_TEST_WAIT_STATE: return wait(m, t, f, false);
    case FORM_MBAR_PENDING_COUNT: set(t, f, 0, mbar_state_pending(value(t, f, 1, 0))); return EXEC_BUDGET;
    default: return not_yet(m, t, f);
    }
}

/* ---- bulk groups ---- */
static ExecResult group_commit(SimMachine *m, SimThread *t)
{
    t->committed++;
    t->open_copies = 0;
    if (m->watch) watch_group_commit(m, t);
    return EXEC_BUDGET;
}

static ExecResult group_wait(SimMachine *m, SimThread *t, const FormOp *f, bool read)
{
    uint32_t n = (uint32_t)value(t, f, 0, 0);
    if (async_groups_left(t, m, read) > n) {
        t->group_target = n;
        t->group_read = read;
        t->pc = t->at;
        sim_block(m, t, WAIT_GROUP);
        return EXEC_BLOCKED;
    }
    uint64_t group = t->committed > n ? t->committed - n : 0;
    if (m->trace) trace_groups(m, t, read ? t->waited_read : t->waited, group, read);
    if (!read && group > t->waited) t->waited = group;
    if (group > t->waited_read) t->waited_read = group;
    if (m->watch) watch_group_wait(m, t, group, read);
    return EXEC_BUDGET;
}

/* ---- addresses in a cluster: PTX ISA, mapa, getctarank ---- */
#define RANK_OFFSET ((UINT64_C(1) << SIM_SMEM_RANK) - 1)

static uint64_t cluster_address(const SimThread *t, const FormOp *f)
{
    uint64_t a = f->src != NO_SLOT ? t->slot[f->src] + (uint64_t)f->src_off : value(t, f, 1, 0);
    return f->type == PTX_U64 || f->type == PTX_B64 ? a : (uint32_t)a;
}

/* The window's base and the rank of the address; false: it is none of the cluster's shared memory. */
static bool split_address(SimMachine *m, SimThread *t, const FormOp *f, const char *what, uint64_t *base,
                          uint64_t *inside)
{
    uint64_t a = cluster_address(t, f);
    *base = f->cluster ? 0 : SIM_SHARED_BASE;
    *inside = a - *base;
    if (a >= *base && *inside < SIM_WINDOW) return true;
    return sim_fail(m, E1313, t, "%s: 0x%" PRIx64 " is no %s address of shared memory", what, a,
                    f->cluster ? ".shared::cluster" : "generic");
}

static ExecResult mapa(SimMachine *m, SimThread *t, const FormOp *f)
{
    uint64_t base, inside;
    uint32_t rank = f->rank != NO_SLOT ? (uint32_t)t->slot[f->rank] : 0;
    if (!split_address(m, t, f, "mapa", &base, &inside)) return EXEC_FAILED;
    if (sim_peer(t, rank) == NULL)
        return done(sim_fail(m, E1327, t, "mapa to rank %" PRIu32 " in a cluster of %" PRIu32 " CTAs", rank,
                             t->cta->cluster->nctas));
    set(t, f, 0, base + ((uint64_t)rank << SIM_SMEM_RANK | (inside & RANK_OFFSET)));
    return EXEC_BUDGET;
}

static ExecResult getctarank(SimMachine *m, SimThread *t, const FormOp *f)
{
    uint64_t base, inside;
    if (!split_address(m, t, f, "getctarank", &base, &inside)) return EXEC_FAILED;
    uint32_t rank = (uint32_t)(inside >> SIM_SMEM_RANK);
    if (sim_peer(t, rank) == NULL)
        return done(sim_fail(m, E1327, t,
                             "getctarank of an address of rank %" PRIu32 " in a cluster of %" PRIu32 " CTAs", rank,
                             t->cta->cluster->nctas));
    set(t, f, 0, rank);
    return EXEC_BUDGET;
}

/* ---- the rest ---- */
static ExecResult prefetch_map(SimMachine *m, SimThread *t, const FormOp *f, PtxSpace space)
{
    SimLoc at;
    MapDesc map;
    char why[200] = "";
    if (!sim_locate(m, t, space, t->slot[f->map] + (uint64_t)f->map_off, SIM_MAP_BYTES, 64, false, "prefetch.tensormap",
                    &at))
        return EXEC_FAILED;
    if (!sim_map_decode(at.data, &map, why, sizeof why))
        return done(sim_fail(m, E1324, t, "prefetch.tensormap: %s", why));
    return EXEC_BUDGET;
}

/* st.bulk: generic-proxy zeros. */
static ExecResult store_bulk(SimMachine *m, SimThread *t, const FormOp *f)
{
    SimLoc at;
    uint64_t size = t->slot[f->size];
    if (size % 8) return done(sim_fail(m, E1318, t, "st.bulk of %" PRIu64 " bytes, which is no multiple of 8", size));
    if (size == 0) return EXEC_BUDGET;
    if (!sim_locate_shared(m, t, shared_address(t->slot[f->dst] + (uint64_t)f->dst_off), size, 8, true, "st.bulk", &at))
        return EXEC_FAILED;
    if (m->watch && !watch_write(m, t, &at, (uint32_t)size, ACCESS_WEAK, 0, false)) return EXEC_FAILED;
    memset(at.data, 0, (size_t)size);
    return EXEC_BUDGET;
}

/* st.async.release and red.async.release to global memory: done at once, which is one of the times that they may have. */
static bool release_to_global(SimMachine *m, SimThread *t, const FormOp *f, bool reduce)
{
    SimLoc at;
    uint32_t size = (uint32_t)ptx_type_bytes(f->type);
    uint64_t address = t->slot[f->gaddr] + (uint64_t)f->gaddr_off, v = value(t, f, 0, 0);
    const char *what = reduce ? "red.async" : "st.async";
    if (!sim_locate(m, t, PTX_SPACE_GLOBAL, address, size, size, true, what, &at)) return false;
    if (m->watch) {
        if (!watch_write(m, t, &at, size, ACCESS_RELEASE, f->fence, reduce)) return false;
        watch_atomic(m, t, &at, reduce ? WATCH_RED : WATCH_ST, ACCESS_RELEASE, f->fence);
    }
    if (reduce) sim_atomic(at.data, (RedOp)f->op, f->type, v, 0, true);
    else memcpy(at.data, &v, size);
    m->progress++;
    return true;
}

static ExecResult fence(SimMachine *m, SimThread *t, const FormOp *f)
{
    if (m->watch == NULL) return EXEC_BUDGET;
    switch (f->form) {
    case FORM_FENCE_MBAR_INIT: watch_fence_init(m, t); break;
    case FORM_FENCE_ACQ_REL:
    case FORM_FENCE_SC:
    case FORM_FENCE_ACQUIRE:
    case FORM_FENCE_RELEASE: watch_fence(m, t, f->fence, f->form == FORM_FENCE_SC); break;
    case FORM_FENCE_ACQUIRE_RESTRICT:
    case FORM_FENCE_RELEASE_RESTRICT: watch_fence(m, t, 1, false); break;
    default: watch_fence_proxy(m, t, f->form); break;
    }
    return EXEC_BUDGET;
}

/* The answer to a request for a cluster is opaque; here: bit 0 of the first half says that there is one, x and y of its
 * first CTA stand in the second half, z above bit 32 of the first. */
static ExecResult query_cancel(SimThread *t, const FormOp *f)
{
    Slot answer = f->value[f->nvalues - 1];
    uint64_t low = t->slot[answer], high = t->slot[answer + 1];
    uint64_t dim[] = {high & UINT32_MAX, high >> 32, low >> 32, 0};
    if (f->form == FORM_CLC_IS_CANCELED) {
        set(t, f, 0, low & 1);
        if (!(low & 1)) t->cta->none_left = true;
    } else if (f->form == FORM_CLC_FIRST_CTA) {
        for (uint32_t i = 0; i + 1 < f->nvalues && i < 4; i++) set(t, f, i, dim[i]);
    } else {
        set(t, f, 0, dim[f->axis]);
    }
    return EXEC_BUDGET;
}

static ExecResult exec_other(SimMachine *m, SimThread *t, const FormOp *f)
{
    switch (f->form) {
    case FORM_GROUP_COMMIT: return group_commit(m, t);
    case FORM_GROUP_WAIT: return group_wait(m, t, f, false);
    case FORM_GROUP_WAIT_READ: return group_wait(m, t, f, true);
    case FORM_ST_ASYNC:
    case FORM_RED_ASYNC: return done(async_store(m, t, f));
    case FORM_ST_ASYNC_RELEASE:
    case FORM_ST_ASYNC_MMIO: return done(release_to_global(m, t, f, false));
    case FORM_RED_ASYNC_RELEASE:
    case FORM_RED_ASYNC_MMIO: return done(release_to_global(m, t, f, true));
    case FORM_CLC_TRY_CANCEL:
    case FORM_CLC_TRY_CANCEL_MULTICAST: return done(async_cancel(m, t, f));
    case FORM_CLC_IS_CANCELED:
    case FORM_CLC_FIRST_CTA:
    case FORM_CLC_FIRST_CTA_DIM: return query_cancel(t, f);
    case FORM_ST_BULK: return store_bulk(m, t, f);
    case FORM_FENCE_MBAR_INIT:
    case FORM_FENCE_ASYNC:
    case FORM_FENCE_ASYNC_SHARED:
    case FORM_FENCE_ASYNC_CLUSTER:
    case FORM_FENCE_ASYNC_GLOBAL:
    case FORM_FENCE_ACQ_REL:
    case FORM_FENCE_SC:
    case FORM_FENCE_ACQUIRE:
    case FORM_FENCE_RELEASE:
    case FORM_FENCE_ACQUIRE_RESTRICT:
    case FORM_FENCE_RELEASE_RESTRICT:
    case FORM_FENCE_GENERIC_ACQUIRE:
    case FORM_FENCE_GENERIC_RELEASE:
    case FORM_FENCE_ALIAS: return fence(m, t, f);
    case FORM_MAP_ACQUIRE:
    case FORM_MAP_ACQUIRE_SCOPE:
    case FORM_MAP_RELEASE: return done(m->watch == NULL || sim_map_fence(m, t, f));
    case FORM_MAP_REPLACE:
    case FORM_MAP_REPLACE_GLOBAL: return done(sim_map_change(m, t, f));
    case FORM_MAP_PREFETCH: return prefetch_map(m, t, f, PTX_SPACE_REG);
    case FORM_MAP_PREFETCH_PARAM: return prefetch_map(m, t, f, PTX_SPACE_PARAM);
    case FORM_MAP_PREFETCH_CONST: return prefetch_map(m, t, f, PTX_SPACE_CONST);
    case FORM_CLUSTER_ARRIVE: return sim_cluster_arrive(m, t, f->relaxed, f->aligned);
    case FORM_CLUSTER_WAIT: return sim_cluster_wait(m, t, f->aligned);
    case FORM_ELECT:
    case FORM_ELECT_ANY: return sim_collective(m, t, (uint32_t)value(t, f, 1, UINT32_MAX));
    case FORM_MAP_PUBLISH:
    case FORM_MAP_PUBLISH_SCOPE:
    case FORM_LDMATRIX:
    case FORM_LDMATRIX_TRANS:
    case FORM_LDMATRIX_B8:
    case FORM_LDMATRIX_B8_WIDEN:
    case FORM_LDMATRIX_ROWS_WIDEN:
    case FORM_STMATRIX:
    case FORM_STMATRIX_TRANS:
    case FORM_STMATRIX_B8: return sim_collective(m, t, UINT32_MAX);
    case FORM_MAPA:
    case FORM_MAPA_64:
    case FORM_MAPA_GENERIC: return mapa(m, t, f);
    case FORM_GETCTARANK:
    case FORM_GETCTARANK_64:
    case FORM_GETCTARANK_GENERIC: return getctarank(m, t, f);
    case FORM_SETMAXNREG_INC:
    case FORM_SETMAXNREG_DEC:
    case FORM_GRIDDEP_LAUNCH: return EXEC_BUDGET; /* one launch after the other */
    case FORM_GRIDDEP_WAIT: watch_launches_over(m, t); return EXEC_BUDGET;
    case FORM_POLICY_CREATE:
    case FORM_POLICY_CREATE_ALL:
    case FORM_POLICY_RANGE:
    case FORM_POLICY_CONVERT: set(t, f, 0, UINT64_C(0x1000000000000000)); return EXEC_BUDGET; /* opaque */
    default: return not_yet(m, t, f);
    }
}

ExecResult sim_exec_form(SimMachine *m, SimThread *t, const FormOp *f)
{
    if (f->form <= FORM_BULK_PREFETCH) return done(async_issue(m, t, f));
    if (f->form >= FORM_MBAR_INIT && f->form < FORM_FENCE_MBAR_INIT) return exec_mbarrier(m, t, f);
    if (f->form >= FORM_TC_ALLOC && f->form <= FORM_TC_ST_SPLIT_UNPACK) return tmem_exec(m, t, f);
    return exec_other(m, t, f);
}
