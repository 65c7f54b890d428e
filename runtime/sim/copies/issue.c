/* Issuing copies: operands, what the row of the form traps on, and the task that comes of it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "runtime/sim/copies/task.h"
#include "runtime/sim/trace/trace.h"

typedef struct Issue {
    SimMachine *m;
    SimThread *t;
    const FormOp *f;
    const FormInfo *info;
    const char *what; /* for messages */
    Task k;
} Issue;

/* ---- operands ---- */

static uint64_t value_of(const SimThread *t, Slot s)
{
    return s == NO_SLOT ? 0 : t->slot[s];
}

static uint32_t shared_of(const SimThread *t, Slot s, int64_t offset)
{
    return (uint32_t)(value_of(t, s) + (uint64_t)offset);
}

static bool trap(Issue *is, ErrorCode code, const char *text)
{
    return sim_fail(is->m, code, is->t, "%s: %s", is->what, text);
}

/* ---- tensor maps ---- */

/* Not from lang/modes.def, as little else of what tensor copies do here: the simulator is there to contradict the compiler. */
static int form_mode(InstrForm f)
{
    switch (f) {
    case FORM_TMA_LOAD_TILE_CTA:
    case FORM_TMA_LOAD_TILE_CLUSTER:
    case FORM_TMA_LOAD_TILE_MULTICAST:
    case FORM_TMA_STORE_TILE:
    case FORM_TMA_REDUCE_TILE:
    case FORM_TMA_PREFETCH_TILE: return MAP_TILED;
    case FORM_TMA_LOAD_GATHER4_CTA:
    case FORM_TMA_LOAD_GATHER4_CLUSTER:
    case FORM_TMA_LOAD_GATHER4_MULTICAST:
    case FORM_TMA_PREFETCH_GATHER4: return MAP_GATHER4;
    case FORM_TMA_STORE_SCATTER4: return MAP_SCATTER4;
    case FORM_TMA_LOAD_IM2COL_CTA:
    case FORM_TMA_LOAD_IM2COL_CLUSTER:
    case FORM_TMA_LOAD_IM2COL_MULTICAST:
    case FORM_TMA_STORE_IM2COL:
    case FORM_TMA_REDUCE_IM2COL:
    case FORM_TMA_PREFETCH_IM2COL: return MAP_IM2COL;
    case FORM_TMA_LOAD_IM2COL_W_CTA:
    case FORM_TMA_LOAD_IM2COL_W_CLUSTER:
    case FORM_TMA_LOAD_IM2COL_W_MULTICAST:
    case FORM_TMA_PREFETCH_IM2COL_W: return MAP_IM2COL_W;
    case FORM_TMA_LOAD_IM2COL_W128_CTA:
    case FORM_TMA_LOAD_IM2COL_W128_CLUSTER:
    case FORM_TMA_LOAD_IM2COL_W128_MULTICAST:
    case FORM_TMA_PREFETCH_IM2COL_W128: return MAP_IM2COL_W128;
    default: return -1;
    }
}

/* Decoding is dear beside a small copy, and few maps are in use at a time. */
static const MapDesc *decode(Async *a, const Task *k, const uint8_t *map, char *text, size_t size)
{
    MapMemo *memo = &a->maps[((uintptr_t)k->map_at >> 6) % MAPS];
    if (memo->at == k->map_at && memcmp(memo->bytes, map, SIM_MAP_BYTES) == 0) return &memo->desc;
    memo->at = NULL;
    memcpy(memo->bytes, map, SIM_MAP_BYTES);
    if (!sim_map_decode(memo->bytes, &memo->desc, text, size)) return NULL;
    memo->at = k->map_at;
    return &memo->desc;
}

/* gather4 and scatter4 have no maps of their own: any tiled one with a box of one row does (PTX ISA, Tensors). */
static bool suits(const MapDesc *d, int mode)
{
    if (mode != MAP_GATHER4 && mode != MAP_SCATTER4) return (int)d->mode == mode;
    return d->mode == MAP_GATHER4 || d->mode == MAP_SCATTER4 ||
           (d->mode == MAP_TILED && d->rank == 2 && d->box[0] == 1);
}

bool task_bind_map(SimMachine *m, Task *k, const uint8_t *map, int *rule, char *text, size_t size)
{
    *rule = E1324;
    const MapDesc *d = decode(m->async, k, map, text, size);
    if (d == NULL) return false;
    memcpy(k->map, map, sizeof k->map);
    *rule = E1318;
    if (!suits(d, k->mode)) {
        size_t n;
        const char *const *words = word_list(WORDS_MODE, &n);
        snprintf(text, size, "the map is one of mode %s, the instruction one of mode %s",
                 (size_t)d->mode < n ? words[d->mode] : "?", (size_t)k->mode < n ? words[k->mode] : "?");
        return false;
    }
    int64_t start[5], offset[3];
    memcpy(start, k->walk.start, sizeof start);
    memcpy(offset, k->walk.offset, sizeof offset);
    bool load = k->kind == TASK_LOAD;
    MapDesc rows4;
    if ((int)d->mode != k->mode) {
        rows4 = *d;
        rows4.mode = (MapMode)k->mode;
        d = &rows4;
    }
    if (!box_begin(&k->walk, d, load, k->reduce, k->walk.shared, start, k->ncoords, offset, k->ninfo, rule, text, size))
        return false;
    if (k->reduce) {
        k->type = sim_reduce_type(d->type, k->op);
        k->ftz = d->type == MAP_F32_FTZ; /* measured: the copy engine flushes for these maps only */
        if (k->type == PTX_NO_TYPE) {
            *rule = E1318;
            snprintf(text, size, "the reduction does not work on elements of the map's type (number %d)", d->type);
            return false;
        }
    }
    return k->prefetch || task_in_memory(m, k, rule, text, size);
}

static bool plan_map(Issue *is, uint32_t shared)
{
    const FormOp *f = is->f;
    Task *k = &is->k;
    SimLoc at;
    uint64_t address = value_of(is->t, f->map) + (uint64_t)f->map_off;
    if (!sim_locate(is->m, is->t, PTX_SPACE_REG, address, SIM_MAP_BYTES, 64, false, "tensor map", &at)) return false;
    if (at.space == PTX_SPACE_SHARED || at.space == PTX_SPACE_LOCAL)
        return trap(is, E1318, "the tensor map must be in parameters, constant or global memory");
    k->tensor = true;
    k->mode = form_mode(f->form);
    k->map_at = at.data;
    k->ncoords = f->ncoords;
    k->walk.shared = shared;
    k->ninfo = f->ninfo;
    k->map_loc = at;
    for (int i = 0; i < f->ncoords && i < 5; i++) k->walk.start[i] = (int32_t)(uint32_t)value_of(is->t, f->coords[i]);
    for (int i = 0; i < f->ninfo && i < 3; i++) k->walk.offset[i] = (uint16_t)value_of(is->t, f->info[i]);
    int rule;
    char text[400];
    if (!task_bind_map(is->m, k, at.data, &rule, text, sizeof text)) return trap(is, (ErrorCode)rule, text);
    k->total = k->walk.box_bytes;
    k->per_dest = (uint32_t)k->walk.npieces;
    return true;
}

/* ---- shared memory and barriers ---- */

/* Bytes of shared memory from the address of dst or src on. */
static uint32_t extent(const Task *k)
{
    return k->tensor ? k->walk.span_bytes : k->total;
}

static bool plan_source(Issue *is)
{
    SimLoc at;
    uint32_t address = shared_of(is->t, is->f->src, is->f->src_off);
    if (!sim_locate_shared(is->m, is->t, address, extent(&is->k), is->k.tensor ? 128 : PIECE, true, is->what, &at))
        return false;
    is->k.src = at.cta;
    is->k.src_offset = (uint32_t)at.offset;
    return true;
}

static bool add_dest(Issue *is, const SimLoc *data, const SimLoc *barrier)
{
    Task *k = &is->k;
    if (k->ndest == DESTINATIONS) return trap(is, E1327, "more than 16 destinations");
    k->dest[k->ndest++] = (TaskDest){
        .cta = data->cta, .home = barrier->cta, .offset = (uint32_t)data->offset, .barrier = (uint32_t)barrier->offset};
    return true;
}

/* PTX ISA, cp.async.bulk.tensor, .cta_group: with ::1 the mbarrier is in the CTA of the data, with ::2 there or in the other
 * CTA of its pair (ranks 2k and 2k + 1); of a multicast each destination's signal goes to the CTA of its pair whose rank has
 * the parity of the one that `mbar` names. */
static uint32_t home_of(const Issue *is, uint32_t rank, const SimLoc *barrier)
{
    return is->f->group2 ? (rank & ~1u) | (barrier->cta->rank & 1) : rank;
}

static bool check_pair(Issue *is, const SimLoc *data, const SimLoc *barrier)
{
    uint32_t n = is->t->cta->cluster->nctas, rank = data->cta->rank, home = barrier->cta->rank;
    if (!is->f->group2)
        return rank == home || trap(is, E1318, "the mbarrier is not in the CTA of the destination");
    if (n % 2)
        return sim_fail(is->m, E1327, is->t,
                        "%s: .cta_group::2 needs pairs of CTAs; a launch with clusters of %" PRIu32 " has none for all",
                        is->what, n);
    if (rank / 2 == home / 2) return true;
    return sim_fail(is->m, E1318, is->t,
                    "%s: the mbarrier is in the CTA of rank %" PRIu32 ", the destination in that of rank %" PRIu32
                    ": they are no pair",
                    is->what, home, rank);
}

/* PTX ISA, cp.async.bulk, .multicast::cluster: data and mbarrier lie at the same offset in each CTA. */
static bool plan_multicast(Issue *is, const SimLoc *data, const SimLoc *barrier)
{
    uint32_t mask = (uint32_t)value_of(is->t, is->f->mask) & 0xFFFF, n = is->t->cta->cluster->nctas;
    if (is->f->form == FORM_CLC_TRY_CANCEL_MULTICAST) mask = (UINT32_C(1) << n) - 1;
    if (mask == 0) return trap(is, E1327, "the multicast mask is 0");
    if (mask >> n)
        return sim_fail(is->m, E1327, is->t, "%s: multicast mask 0x%" PRIx32 ", but the cluster has %" PRIu32 " CTAs",
                        is->what, mask, n);
    for (uint32_t r = 0; r < n; r++) {
        if (!(mask >> r & 1)) continue;
        SimLoc at, bar;
        uint32_t base = (r << SIM_SMEM_RANK) + SIM_SMEM_BASE;
        uint32_t home = (home_of(is, r, barrier) << SIM_SMEM_RANK) + SIM_SMEM_BASE;
        if (!sim_locate_shared(is->m, is->t, base + data->offset, extent(&is->k), 1, false, is->what, &at) ||
            !sim_locate_shared(is->m, is->t, home + barrier->offset, 8, 8, false, "mbarrier", &bar) ||
            !add_dest(is, &at, &bar))
            return false;
    }
    return true;
}

static bool is_multicast(InstrForm f)
{
    switch (f) {
    case FORM_TMA_LOAD_TILE_MULTICAST:
    case FORM_TMA_LOAD_GATHER4_MULTICAST:
    case FORM_TMA_LOAD_IM2COL_MULTICAST:
    case FORM_TMA_LOAD_IM2COL_W_MULTICAST:
    case FORM_TMA_LOAD_IM2COL_W128_MULTICAST:
    case FORM_BULK_LOAD_MULTICAST:
    case FORM_CLC_TRY_CANCEL_MULTICAST: return true;
    default: return false;
    }
}

static bool plan_destination(Issue *is, uint32_t align)
{
    SimLoc at, bar;
    bool cta_only = is->info->dst_space == FS_SHARED;
    uint32_t address = shared_of(is->t, is->f->dst, is->f->dst_off);
    uint32_t barrier = shared_of(is->t, is->f->mbar, is->f->mbar_off);
    if (!sim_locate_shared(is->m, is->t, address, extent(&is->k), align, cta_only, is->what, &at) ||
        !sim_locate_shared(is->m, is->t, barrier, 8, 8, cta_only && !is->f->group2, "mbarrier", &bar))
        return false;
    if (!check_pair(is, &at, &bar)) return false;
    if (is_multicast(is->f->form)) return plan_multicast(is, &at, &bar);
    return add_dest(is, &at, &bar);
}

/* ---- linear copies ---- */

static bool plan_linear(Issue *is)
{
    const FormOp *f = is->f;
    Task *k = &is->k;
    k->total = (uint32_t)value_of(is->t, f->size);
    if (k->total % PIECE != 0)
        return sim_fail(is->m, E1318, is->t, "%s: the size, %" PRIu32 " bytes, is not a multiple of 16", is->what,
                        k->total);
    k->per_dest = k->total / PIECE;
    if (f->gaddr == NO_SLOT) return true;
    SimLoc at;
    k->global = value_of(is->t, f->gaddr) + (uint64_t)f->gaddr_off;
    if (is->info->traps & TRAP_BOUNDS && k->total) {
        if (!sim_locate(is->m, is->t, PTX_SPACE_GLOBAL, k->global, k->total, PIECE, k->kind == TASK_STORE, is->what,
                        &at))
            return false;
        k->block = at.block;
        return true;
    }
    if (k->global % PIECE == 0) return true;
    return sim_fail(is->m, E1314, is->t, "%s: address 0x%" PRIx64 " is not a multiple of 16", is->what, k->global);
}

/* ---- forms ---- */

static bool unknown(Issue *is)
{
    Text name;
    text_init(&name, &is->m->mem);
    sim_describe_op(is->m, is->t->at, &name);
    sim_fail(is->m, E1351, is->t, "%s is not in the simulator yet", name.s ? name.s : "?");
    text_free(&name);
    return false;
}

static bool classify(Issue *is)
{
    const FormInfo *info = is->info;
    Task *k = &is->k;
    bool to_shared = info->dst_space == FS_SHARED || info->dst_space == FS_CLUSTER;
    k->mask = is->f->form == FORM_BULK_STORE_MASK ? (uint16_t)value_of(is->t, is->f->mask) : UINT16_MAX;
    if (info->src_space == FS_GLOBAL && to_shared) {
        k->kind = TASK_LOAD;
    } else if (info->src_space == FS_GLOBAL && info->dst_space == FS_NONE) {
        k->kind = TASK_LOAD;
        k->prefetch = true;
    } else if (info->src_space == FS_SHARED && info->dst_space == FS_GLOBAL) {
        k->kind = TASK_STORE;
    } else if (info->src_space == FS_SHARED && info->dst_space == FS_CLUSTER) {
        k->kind = TASK_PEER;
    } else {
        return unknown(is);
    }
    switch (is->f->form) {
    case FORM_TMA_REDUCE_TILE:
    case FORM_TMA_REDUCE_IM2COL:
    case FORM_BULK_REDUCE:
    case FORM_BULK_REDUCE_PEER: k->reduce = true; break;
    default: break;
    }
    k->op = (RedOp)is->f->op;
    k->type = is->f->type;
    return true;
}

/* What a row that two of a scatter4's indices name holds afterwards, nothing orders. */
static bool rows_differ(Issue *is)
{
    const BoxWalk *w = &is->k.walk;
    if (is->m->watch == NULL || w->map.mode != MAP_SCATTER4 || w->from == w->to || watch_any_order(is->m, sim_who(is->t).pc)) return true;
    for (int i = 2; i < 5; i++)
        for (int j = 1; j < i; j++)
            if (w->start[i] == w->start[j] && w->start[i] < w->extent[1])
                return sim_fail(is->m, E1315, is->t,
                                "%s: row %" PRId64 " stands in a scatter4 twice, and nothing orders its two writes",
                                is->what, w->start[i]);
    return true;
}

static bool plan(Issue *is)
{
    const FormOp *f = is->f;
    Task *k = &is->k;
    if (!classify(is)) return false;
    if (form_mode(f->form) >= 0) {
        uint32_t shared = k->prefetch            ? 0
                          : k->kind == TASK_LOAD ? shared_of(is->t, f->dst, f->dst_off)
                                                 : shared_of(is->t, f->src, f->src_off);
        if (!plan_map(is, shared) || !rows_differ(is)) return false;
    } else if (!plan_linear(is)) {
        return false;
    }
    if (k->prefetch) return true;
    if (k->kind != TASK_LOAD && !plan_source(is)) return false;
    if (k->kind == TASK_STORE) return true;
    if (!plan_destination(is, k->tensor ? 128 : PIECE)) return false;
    /* Measured: a copy from a CTA to itself works in a launch with a cluster and traps without. */
    if (k->kind == TASK_PEER && k->dest[0].cta == is->t->cta && task_clusterless(is->m))
        return trap(is, E1327, "a copy of a CTA to itself traps in a launch without a cluster");
    return true;
}

/* ---- tasks ---- */

static void trace_copy(Issue *is, uint64_t bytes)
{
    const Task *k = &is->k;
    TraceCopy c = {.task = k->number, .bytes = bytes, .group = k->group, .global = k->tensor ? 0 : k->global};
    c.verb = k->kind == TASK_VALUE       ? is->what
             : k->reduce                 ? "reduce"
             : k->kind == TASK_STORE     ? "store"
             : k->kind == TASK_PEER      ? "send"
             : is_multicast(is->f->form) ? "multicast"
                                         : "load";
    if (k->tensor) c.ncoords = k->ncoords > 5 ? 5 : (uint32_t)k->ncoords;
    for (uint32_t i = 0; i < c.ncoords; i++) c.coords[i] = k->walk.start[i];
    c.shared = k->kind == TASK_STORE ? k->src_offset : k->dest[0].offset;
    c.barrier = k->dest[0].barrier;
    trace_issue(is->m, is->t, &c);
}

static bool go(Issue *is)
{
    SimMachine *m = is->m;
    Task *k = &is->k;
    Async *a = m->async;
    uint64_t bytes = (uint64_t)k->total * (k->ndest ? k->ndest : 1);
    k->who = sim_who(is->t);
    k->who.async = true;
    k->number = ++a->issued;
    m->stats.copies++;
    m->stats.copy_bytes += bytes;
    if (is->info->completion == COMP_BULK_GROUP) {
        k->group = is->t->committed + 1;
        is->t->open_copies++;
    }
    if (m->trace) trace_copy(is, bytes);
    if (m->watch && !task_tell(m, is->t, k)) return false;
    if (k->total == 0) return true;
    if (!m->checking) return task_run(m, k);
    task_poison(m, k);
    return task_queue(m, k);
}

bool async_issue(SimMachine *m, SimThread *t, const FormOp *f)
{
    Issue is = {.m = m, .t = t, .f = f, .info = form_info(f->form)};
    is.what = form_mode(f->form) >= 0 ? (is.info->completion == COMP_NONE ? "tensor prefetch" : "tensor copy")
              : is.info->completion == COMP_NONE ? "bulk prefetch"
                                                 : "bulk copy";
    if (!plan(&is)) return false;
    if (!is.k.prefetch) return go(&is);
    return !is.k.tensor || m->watch == NULL || watch_map_use(m, t, &is.k.map_loc, true);
}

bool async_store(SimMachine *m, SimThread *t, const FormOp *f)
{
    Issue is = {.m = m, .t = t, .f = f, .info = form_info(f->form)};
    Task *k = &is.k;
    is.what = f->form == FORM_RED_ASYNC ? "red.async" : "st.async";
    uint32_t size = (uint32_t)ptx_type_bytes(f->type);
    k->mask = UINT16_MAX;
    if (size == 0 || size > 8 || f->nvalues == 0 || size * f->nvalues > sizeof k->value) return unknown(&is);
    k->kind = TASK_VALUE;
    k->reduce = f->form == FORM_RED_ASYNC;
    k->op = (RedOp)f->op;
    k->type = f->type;
    k->total = size * f->nvalues;
    k->per_dest = 1;
    for (uint32_t i = 0; i < f->nvalues; i++) {
        uint64_t v = value_of(t, f->value[i]);
        memcpy(k->value + i * size, &v, size);
    }
    return plan_destination(&is, k->total) && go(&is);
}

/* A cluster that has not been admitted is taken off the launch, or none is: also where some are left, for the hardware may
 * have its reasons. */
bool async_cancel(SimMachine *m, SimThread *t, const FormOp *f)
{
    Issue is = {.m = m, .t = t, .f = f, .info = form_info(f->form), .what = "clusterlaunchcontrol.try_cancel"};
    Task *k = &is.k;
    uint32_t id[3] = {0};
    if (t->cta->none_left)
        return trap(&is, E1318, "a CTA that has seen a request fail makes another one, which is undefined");
    bool got = m->next_cluster < m->nclusters && !(m->checking && rng_one_in(&m->rng, 8));
    if (got) sim_cta_id(&m->launch, (uint32_t)m->next_cluster++, 0, id);
    uint64_t answer[2] = {(uint64_t)id[2] << 32 | got, (uint64_t)id[1] << 32 | id[0]};
    memcpy(k->value, answer, sizeof answer);
    k->mask = UINT16_MAX;
    k->kind = TASK_VALUE;
    k->total = sizeof answer;
    k->per_dest = 1;
    if (got) m->progress++;
    return plan_destination(&is, sizeof answer) && go(&is);
}
