/* Tensor memory: allocation, and the collectives of a warp. PTX ISA, tcgen05.alloc, Issue Granularity. */
#include "runtime/sim/tmem/tmem.h"

#include <inttypes.h>
#include <string.h>

#include "runtime/sim/watch/tmem.h"

static ExecResult done(bool ok)
{
    return ok ? EXEC_BUDGET : EXEC_FAILED;
}

/* ---- state ---- */
SimTmem *tmem_of(SimMachine *m, SimCta *cta)
{
    if (cta->tmem) return cta->tmem;
    size_t cells = (size_t)TMEM_LANES * TMEM_COLUMNS * sizeof(uint32_t);
    SimTmem *x = mem_resize(&m->mem, NULL, sizeof *x);
    *x = (SimTmem){0};
    cta->tmem = x;
    x->cell = mem_resize(&m->mem, NULL, cells);
    if (m->checking) sim_noise(m, (uint8_t *)x->cell, cells);
    else memset(x->cell, 0xA5, cells);
    return x;
}

void tmem_cta_free(SimMachine *m, SimCta *cta)
{
    SimTmem *x = cta->tmem;
    if (x == NULL) return;
    cta->tmem = NULL;
    if (x->cell) mem_free(&m->mem, x->cell);
    if (x->unwaited) mem_free(&m->mem, x->unwaited);
    mem_free(&m->mem, x);
}

uint64_t tmem_bytes(const SimMachine *m)
{
    const SimProgram *p = m->launch.program;
    for (uint32_t i = 0; i < p->nforms; i++)
        if (p->forms[i].form == FORM_TC_ALLOC) return (uint64_t)TMEM_LANES * TMEM_COLUMNS * sizeof(uint32_t);
    return 0;
}

static uint32_t columns_of(const SimMachine *m)
{
    const TargetInfo *t = m->launch.module->target;
    return t ? t->tmem_columns : TMEM_COLUMNS;
}

SimCta *tmem_peer(SimMachine *m, SimThread *t)
{
    SimCta *peer = sim_peer(t, t->cta->rank ^ 1);
    if (peer) return peer;
    sim_fail(m, E1327, t, ".cta_group::2 where the CTA has no peer: rank %" PRIu32 " of a cluster of %" PRIu32 " CTAs",
             t->cta->rank, t->cta->cluster->nctas);
    return NULL;
}

/* PTX ISA: all tcgen05 instructions of a kernel have one .cta_group. */
static bool check_group(SimMachine *m, SimThread *t, const FormOp *f)
{
    SimTmem *x = tmem_of(m, t->cta);
    uint8_t group = f->group2 ? 2 : 1;
    SimWho who = sim_who(t);
    if (x->group == 0) {
        x->group = group;
        x->group_who = who;
    }
    if (x->group == group) return true;
    return sim_fail_at(m, E1318, &who, &x->group_who,
                       ".cta_group::%u, where another tcgen05 instruction of the kernel has .cta_group::%u: all have "
                       "the same",
                       (unsigned)group, (unsigned)x->group);
}

bool tmem_check(SimMachine *m, SimThread *t, const SimCta *cta, uint32_t lane, uint32_t lanes, uint32_t column,
                uint32_t n, const char *what)
{
    const SimTmem *x = cta->tmem;
    if (lane >= TMEM_LANES || lanes > TMEM_LANES - lane)
        return sim_fail(m, E1360, t, "%s: lanes %" PRIu32 " .. %" PRIu32 " of tensor memory, which has %d", what, lane,
                        lane + lanes - 1, TMEM_LANES);
    for (uint32_t c = column; c - column < n; c++) {
        if (c < TMEM_COLUMNS && x && x->used >> c / TMEM_UNIT & 1) continue;
        return sim_fail(m, E1360, t,
                        "%s: columns %" PRIu32 " .. %" PRIu32 " of the tensor memory of CTA (%" PRIu32 ",%" PRIu32
                        ",%" PRIu32 "), where column %" PRIu32 " is not allocated%s",
                        what, column, column + n - 1, cta->id[0], cta->id[1], cta->id[2], c,
                        x && x->last ? "" : ", nor is anything else so far");
    }
    return true;
}

/* Threads of the CTA that wait for tensor memory look again. */
static void wake(SimMachine *m, SimCta *cta)
{
    m->progress++;
    for (uint32_t i = 0; i < cta->nthreads; i++)
        if (cta->threads[i].wait == WAIT_TMEM) sim_wake(m, &cta->threads[i]);
}

static ExecResult block(SimMachine *m, SimThread *t)
{
    t->pc = t->at;
    sim_block(m, t, WAIT_TMEM);
    return EXEC_BLOCKED;
}

/* ---- allocation ---- */
static uint32_t units_mask(uint32_t columns, uint32_t column)
{
    uint32_t n = columns / TMEM_UNIT;
    return ((UINT32_C(1) << n) - 1) << column / TMEM_UNIT;
}

/* A free place for so many columns, at a multiple of them: sizes that do not grow never leave gaps then. Which one it
 * is, is open: any of them in check mode. UINT32_MAX: there is none. */
static uint32_t find_room(SimMachine *m, uint32_t used, uint32_t columns)
{
    uint32_t found = UINT32_MAX, n = 0;
    for (uint32_t c = 0; c + columns <= columns_of(m); c += columns) {
        if (used & units_mask(columns, c)) continue;
        if (found == UINT32_MAX || (m->checking && rng_one_in(&m->rng, n + 1))) found = c;
        n++;
    }
    return found;
}

static bool touch_columns(SimMachine *m, SimThread *t, uint32_t column, uint32_t columns, TensorOp op)
{
    WatchTensor w;
    watch_tensor_begin(m, t, op, false, &w);
    for (uint32_t lane = 0; lane < TMEM_LANES; lane++)
        if (!watch_tensor_touch(m, &w, t->cta, lane, column, columns, true)) return false;
    watch_tensor_end(m, &w);
    return true;
}

static void take(SimTmem *x, uint32_t column, uint32_t columns, const SimWho *who)
{
    x->used |= units_mask(columns, column);
    x->start[column / TMEM_UNIT] = (uint16_t)columns;
    x->who[column / TMEM_UNIT] = *who;
    x->last = columns;
}

/* All lanes name the same number of columns: a power of two, 32 .. 512. */
static bool same_columns(SimMachine *m, SimThread *t, const FormOp *f, uint32_t *columns)
{
    const SimWarp *w = &t->cta->warps[t->id / 32];
    uint32_t n = *columns = (uint32_t)t->slot[f->value[0]];
    for (uint32_t i = 0; i < w->n; i++) {
        const SimThread *x = &t->cta->threads[w->first + i];
        if (x->wait == WAIT_EXITED || (uint32_t)x->slot[f->value[0]] == n) continue;
        return sim_fail(m, E1318, t, "lane %u names %" PRIu32 " columns, lane %u %" PRIu32, (unsigned)t->lane, n,
                        (unsigned)x->lane, (uint32_t)x->slot[f->value[0]]);
    }
    if (n >= TMEM_UNIT && n <= TMEM_COLUMNS && (n & (n - 1)) == 0) return true;
    return sim_fail(m, E1318, t, "%" PRIu32 " columns; a power of two from 32 to 512 is allowed", n);
}

static bool may_allocate(SimMachine *m, SimThread *t, uint32_t columns)
{
    const SimTmem *x = t->cta->tmem;
    SimWho who = sim_who(t);
    if (x->relinquished)
        return sim_fail_at(m, E1364, &who, &x->relinquisher,
                           "tcgen05.alloc after tcgen05.relinquish_alloc_permit of the same CTA");
    if (columns > columns_of(m))
        return sim_fail(m, E1364, t, "%" PRIu32 " columns, where the target has %" PRIu32, columns, columns_of(m));
    if (x->last && columns > x->last)
        return sim_fail(m, E1364, t,
                        "%" PRIu32 " columns after an allocation of %" PRIu32
                        ": the number of columns must not grow from one allocation of a CTA to the next",
                        columns, x->last);
    return true;
}

/* The allocation starts there and has so many columns. */
static bool is_allocation(SimMachine *m, SimThread *t, const SimCta *cta, uint32_t address, uint32_t columns)
{
    const SimTmem *x = cta->tmem;
    uint32_t column = address & 0xFFFF;
    bool start = address >> 16 == 0 && column < TMEM_COLUMNS && column % TMEM_UNIT == 0 && x &&
                 x->start[column / TMEM_UNIT];
    if (!start) return sim_fail(m, E1363, t, "tcgen05.dealloc of 0x%08" PRIx32 ", where no allocation starts", address);
    if (x->start[column / TMEM_UNIT] == columns) return true;
    SimWho who = sim_who(t);
    return sim_fail_at(m, E1363, &who, &x->who[column / TMEM_UNIT],
                       "tcgen05.dealloc of %" PRIu32 " columns at 0x%08" PRIx32 ", where %u were allocated", columns,
                       address, (unsigned)x->start[column / TMEM_UNIT]);
}

static void drop(SimTmem *x, uint32_t column, uint32_t columns)
{
    x->used &= ~units_mask(columns, column);
    x->start[column / TMEM_UNIT] = 0;
}

/* The warp's own: the offer that it has made, or NULL. */
static TmemOffer *own_offer(SimThread *t)
{
    TmemOffer *o = &t->cta->tmem->offer;
    return o->made && o->warp == t->id / 32u ? o : NULL;
}

/* The warp of the peer CTA does the same thing, or the two disagree. */
static bool agrees(SimMachine *m, SimThread *t, const TmemOffer *o, InstrForm form, uint32_t columns, uint32_t address)
{
    SimWho who = sim_who(t);
    if (o->form == form && o->columns == columns && (form == FORM_TC_ALLOC || o->address == address)) return true;
    return sim_fail_at(m, E1323, &who, &o->who,
                       "the warps of a CTA pair %s %" PRIu32 " columns of tensor memory and %s %" PRIu32
                       "; they do the same thing collectively",
                       form == FORM_TC_ALLOC ? "allocate" : "deallocate", columns,
                       o->form == FORM_TC_ALLOC ? "allocate" : "deallocate", o->columns);
}

/* .cta_group::2. EXEC_BUDGET: both warps are there, and the columns are taken or given back in both CTAs. */
static ExecResult with_peer(SimMachine *m, SimThread *t, const FormOp *f, uint32_t columns, uint32_t address)
{
    SimCta *peer = tmem_peer(m, t);
    if (peer == NULL) return EXEC_FAILED;
    SimTmem *x = t->cta->tmem, *y = tmem_of(m, peer);
    SimWho who = sim_who(t);
    TmemOffer *mine = own_offer(t);
    if (mine && !mine->done) return block(m, t);
    if (mine) {
        x->ready = mine->address;
        *mine = (TmemOffer){0};
        wake(m, t->cta);
        return EXEC_BUDGET;
    }
    if (!y->offer.made || y->offer.done) { /* nobody there, or one that another warp has met */
        if (x->offer.made) return block(m, t);
        x->offer = (TmemOffer){
            .made = true, .form = f->form, .warp = t->id / 32u, .columns = columns, .address = address, .who = who};
        return block(m, t);
    }
    TmemOffer *o = &y->offer;
    if (!agrees(m, t, o, f->form, columns, address)) return EXEC_FAILED;
    if (f->form == FORM_TC_ALLOC) {
        uint32_t column = find_room(m, x->used | y->used, columns);
        if (column == UINT32_MAX) return block(m, t);
        take(x, column, columns, &who);
        take(y, column, columns, &o->who);
        x->ready = o->address = column;
    } else {
        drop(x, address & 0xFFFF, columns);
        drop(y, address & 0xFFFF, columns);
        wake(m, t->cta);
    }
    o->done = true;
    wake(m, peer);
    return EXEC_BUDGET;
}

static ExecResult allocate(SimMachine *m, SimThread *t, const FormOp *f)
{
    uint32_t columns;
    if (!same_columns(m, t, f, &columns)) return EXEC_FAILED;
    bool again = f->group2 && own_offer(t);
    if (!again && !may_allocate(m, t, columns)) return EXEC_FAILED;
    if (f->group2) return with_peer(m, t, f, columns, 0);
    SimTmem *x = t->cta->tmem;
    SimWho who = sim_who(t);
    uint32_t column = find_room(m, x->used, columns);
    if (column == UINT32_MAX) return block(m, t);
    take(x, column, columns, &who);
    x->ready = column;
    return EXEC_BUDGET;
}

static ExecResult deallocate(SimMachine *m, SimThread *t, const FormOp *f)
{
    uint32_t columns, address = tmem_address(t, f);
    if (!same_columns(m, t, f, &columns)) return EXEC_FAILED;
    if (f->group2 && own_offer(t)) return with_peer(m, t, f, columns, address);
    if (!is_allocation(m, t, t->cta, address, columns)) return EXEC_FAILED;
    if (!touch_columns(m, t, address & 0xFFFF, columns, TENSOR_DEALLOC)) return EXEC_FAILED;
    if (f->group2) return with_peer(m, t, f, columns, address);
    drop(t->cta->tmem, address & 0xFFFF, columns);
    wake(m, t->cta);
    return EXEC_BUDGET;
}

/* The address goes to shared memory: a weak write of the warp. It keeps the order of its lanes' accesses to the same
 * address (PTX ISA, Asynchronous Operations), so that they read it without more ado (tcgen05.alloc, example 1). */
static bool write_address(SimMachine *m, SimThread *const *lane, const FormOp *f)
{
    SimThread *t = lane[0];
    SimTmem *x = t->cta->tmem;
    uint64_t a = t->slot[f->dst] + (uint64_t)f->dst_off;
    if (a >= SIM_SHARED_BASE && a - SIM_SHARED_BASE < SIM_WINDOW) a -= SIM_SHARED_BASE;
    SimLoc at;
    if (!sim_locate_shared(m, t, a, 4, 4, true, "tcgen05.alloc", &at)) return false;
    if (m->watch) watch_warp(m, lane, TMEM_WARP_LANES, true);
    if (m->watch && !watch_write(m, t, &at, 4, ACCESS_WEAK, 0, false)) return false;
    if (!touch_columns(m, t, x->ready, (uint32_t)t->slot[f->value[0]], TENSOR_ALLOC)) return false;
    memcpy(at.data, &x->ready, 4);
    if (m->watch) watch_warp(m, lane, TMEM_WARP_LANES, true);
    m->progress++;
    return true;
}

static bool relinquish(SimMachine *m, SimThread *t)
{
    SimTmem *x = t->cta->tmem;
    if (x->relinquished) return true;
    x->relinquished = true;
    x->relinquisher = sim_who(t);
    m->progress++;
    return true;
}

/* ---- instructions ---- */
bool tmem_is_collective(InstrForm f)
{
    switch (f) {
    case FORM_TC_ALLOC:
    case FORM_TC_DEALLOC:
    case FORM_TC_RELINQUISH:
    case FORM_TC_LD:
    case FORM_TC_LD_PACK:
    case FORM_TC_LD_SPLIT:
    case FORM_TC_LD_SPLIT_PACK:
    case FORM_TC_ST:
    case FORM_TC_ST_UNPACK:
    case FORM_TC_ST_SPLIT:
    case FORM_TC_ST_SPLIT_UNPACK:
    case FORM_TC_WAIT_LD:
    case FORM_TC_WAIT_ST: return true;
    default: return false;
    }
}

/* The base address is the warp's, not a lane's. */
static bool same_address(SimMachine *m, SimThread *const *lane, const FormOp *f)
{
    for (uint32_t i = 1; i < TMEM_WARP_LANES; i++) {
        uint32_t a = tmem_address(lane[0], f), b = tmem_address(lane[i], f);
        if (a == b) continue;
        return sim_fail(m, E1318, lane[i],
                        "lane %" PRIu32 " names the tensor memory address 0x%08" PRIx32 ", lane 0 0x%08" PRIx32
                        ": the base address is one for the warp",
                        i, b, a);
    }
    return true;
}

bool tmem_perform(SimMachine *m, SimThread *const *lane, const FormOp *f)
{
    if (f->taddr != NO_SLOT && !same_address(m, lane, f)) return false;
    switch (f->form) {
    case FORM_TC_ALLOC: return write_address(m, lane, f);
    case FORM_TC_DEALLOC: return true; /* the last lane did it when it came */
    case FORM_TC_RELINQUISH: return relinquish(m, lane[0]);
    case FORM_TC_WAIT_LD: tmem_waited(m, lane, false); return true;
    case FORM_TC_WAIT_ST: tmem_waited(m, lane, true); return true;
    case FORM_TC_LD:
    case FORM_TC_LD_PACK:
    case FORM_TC_LD_SPLIT:
    case FORM_TC_LD_SPLIT_PACK: return tmem_load(m, lane, f);
    default: return tmem_store(m, lane, f);
    }
}

/* What may block is done by the last lane that comes, before all perform: it may have to come again. */
static ExecResult collective(SimMachine *m, SimThread *t, const FormOp *f)
{
    tmem_of(m, t->cta);
    bool group = f->form == FORM_TC_ALLOC || f->form == FORM_TC_DEALLOC || f->form == FORM_TC_RELINQUISH;
    if (group && !check_group(m, t, f)) return EXEC_FAILED;
    if (group && f->form != FORM_TC_RELINQUISH && sim_collective_last(m, t)) {
        ExecResult r = f->form == FORM_TC_ALLOC ? allocate(m, t, f) : deallocate(m, t, f);
        if (r != EXEC_BUDGET) return r;
    }
    return sim_collective(m, t, UINT32_MAX);
}

ExecResult tmem_exec(SimMachine *m, SimThread *t, const FormOp *f)
{
    if (tmem_is_collective(f->form)) return collective(m, t, f);
    switch (f->form) {
    case FORM_TC_FENCE_BEFORE:
    case FORM_TC_FENCE_AFTER: watch_tensor_fence(m, t, f->form == FORM_TC_FENCE_AFTER); return EXEC_BUDGET;
    default: break;
    }
    if (!check_group(m, t, f)) return EXEC_FAILED;
    switch (f->form) {
    case FORM_TC_COMMIT:
    case FORM_TC_COMMIT_MULTICAST: return done(tmem_commit(m, t, f));
    case FORM_TC_SHIFT: return done(tmem_shift(m, t, f));
    default: return done(tmem_copy(m, t, f));
    }
}

/* ---- ends and reports ---- */
bool tmem_cta_exit(SimMachine *m, SimCta *cta)
{
    const SimTmem *x = cta->tmem;
    if (x == NULL || x->used == 0) return true;
    uint32_t u = 0;
    while (x->start[u] == 0) u++;
    return sim_fail_at(m, E1363, &x->who[u], NULL,
                       "CTA (%" PRIu32 ",%" PRIu32 ",%" PRIu32
                       ") exits with %u columns of tensor memory at column %" PRIu32 " that nothing has deallocated",
                       cta->id[0], cta->id[1], cta->id[2], (unsigned)x->start[u], u * TMEM_UNIT);
}

void tmem_describe_wait(const SimMachine *m, const SimThread *t, Text *out)
{
    const FormOp *f = &m->launch.program->forms[m->launch.program->ops[t->at].imm];
    const SimTmem *x = t->cta->tmem;
    if (x && x->offer.made && x->offer.warp == t->id / 32u) {
        const SimCta *peer = sim_peer(t, t->cta->rank ^ 1);
        text_printf(out, "for a warp of the peer CTA, rank %" PRIu32 "%s, to do the same", t->cta->rank ^ 1,
                    peer && peer->exited ? ", which has exited" : "");
        return;
    }
    uint32_t units = 0;
    for (uint32_t used = x ? x->used : 0; used; used &= used - 1) units++;
    text_printf(out, "for %" PRIu32 " columns of tensor memory, of which %" PRIu32 " of %" PRIu32 " are allocated",
                (uint32_t)t->slot[f->value[0]], units * TMEM_UNIT, columns_of(m));
}
