/* One thread's instructions: control, plain loads and stores, atomics, special registers. Arithmetic is alu.c's,
 * instructions of lang/instructions.def are forms.c's.
 *
 * pc is a local of the loop; whoever is called out sees it in t->pc and t->at.
 */
#include <string.h>

#include "runtime/sim/machine.h"
#include "runtime/sim/tmem/tmem.h"
#include "runtime/sim/watch/watch.h"

/* Ops that an instruction takes: some are followed by OPERAND ops, or by a table. */
static uint32_t length(const SimOp *op)
{
    switch (op->code) {
    case SIM_LD:
    case SIM_ST: return op->n ? op->n : 1;
    case SIM_ATOM:
    case SIM_SHFL: return 2;
    case SIM_BRX: return 1u + op->extra;
    case SIM_UNWRITTEN: return op->d;
    default: return 1;
    }
}

/* The program as it is run with checks: what reads a register before it is written says so. */
void sim_exec_begin(SimMachine *m)
{
    const SimProgram *p = m->launch.program;
    m->ops = p->ops;
    if (!m->checking || !p->nunwritten) return;
    SimOp *ops = arena_array(&m->arena, SimOp, p->nops);
    memcpy(ops, p->ops, p->nops * sizeof *ops);
    for (uint32_t i = 0; i < p->nunwritten; i++) {
        SimOp *op = &ops[p->unwritten[i].op];
        op->d = length(op);
        op->code = SIM_UNWRITTEN;
        op->imm = i;
        if (p->unwritten[i].guard) op->guard = 0;
    }
    m->ops = ops;
}

/* ---- loads and stores ---- */

static uint32_t element_bytes(const SimOp *op)
{
    return (uint32_t)ptx_type_bytes((PtxType)op->type);
}

static inline uint64_t get(const uint8_t *p, uint32_t type)
{
    uint16_t h;
    uint32_t w;
    uint64_t d;
    switch (type) {
    case PTX_B8:
    case PTX_U8: return *p;
    case PTX_S8: return (uint64_t)(int8_t)*p;
    case PTX_S16: memcpy(&h, p, 2); return (uint64_t)(int16_t)h;
    case PTX_B16:
    case PTX_U16:
    case PTX_F16:
    case PTX_BF16: memcpy(&h, p, 2); return h;
    case PTX_S32: memcpy(&w, p, 4); return (uint64_t)(int32_t)w;
    case PTX_B32:
    case PTX_U32:
    case PTX_F16X2:
    case PTX_BF16X2:
    case PTX_F32: memcpy(&w, p, 4); return w;
    default: memcpy(&d, p, 8); return d;
    }
}

static inline uint64_t address_of(const SimOp *op, const uint64_t *slot)
{
    return slot[op->a] + (uint64_t)op->imm;
}

/* Where an access that needs no second look leads; NULL: sim_locate has to look. */
static inline uint8_t *quick(SimMachine *m, const SimThread *t, const SimOp *op, uint64_t address, uint32_t bytes)
{
    if (address & (bytes - 1)) return NULL;
    if (op->extra == PTX_SPACE_SHARED) {
        const SimCta *cta = t->cta;
        uint64_t at = address - (((uint64_t)cta->rank << SIM_SMEM_RANK) + SIM_SMEM_BASE);
        return bytes <= cta->smem_bytes && at <= cta->smem_bytes - bytes ? cta->smem + at : NULL;
    }
    if (op->extra == PTX_SPACE_GLOBAL || op->extra == PTX_SPACE_REG) {
        const SimBlock *b = m->hints[t->at & 15];
        if (b == NULL || b->read_only || bytes > b->bytes || address - b->address > b->bytes - bytes) return NULL;
        return b->data + (address - b->address);
    }
    if (op->extra == PTX_SPACE_LOCAL) {
        uint32_t size = m->launch.program->local_bytes;
        return bytes <= size && address <= size - bytes ? t->local + address : NULL;
    }
    return NULL;
}

static bool locate(SimMachine *m, SimThread *t, const SimOp *op, uint32_t bytes, bool write, const char *what,
                   SimLoc *at)
{
    uint64_t address = address_of(op, t->slot);
    if (op->extra == PTX_SPACE_SHARED && op->b == 1)
        return sim_locate_shared(m, t, address, bytes, bytes, false, what, at);
    return sim_locate(m, t, (PtxSpace)op->extra, address, bytes, bytes, write, what, at);
}

static bool watched(const SimMachine *m, const SimLoc *at)
{
    return m->watch && (at->space == PTX_SPACE_SHARED || at->space == PTX_SPACE_GLOBAL);
}

static bool load(SimMachine *m, SimThread *t, const SimOp *op)
{
    uint32_t n = length(op), size = element_bytes(op);
    AccessKind kind = (AccessKind)op->flags;
    const uint8_t *p = m->checking ? NULL : quick(m, t, op, address_of(op, t->slot), n * size);
    if (p == NULL) {
        SimLoc at;
        if (!locate(m, t, op, n * size, false, "ld", &at)) return false;
        if (watched(m, &at)) {
            bool constant = op->b & 2; /* .nc */
            if (constant ? !watch_read_const(m, t, &at, n * size) : !watch_read(m, t, &at, n * size, kind, op->c))
                return false;
            if (kind != ACCESS_WEAK) watch_atomic(m, t, &at, WATCH_LD, kind, op->c);
        }
        p = at.data;
    }
    for (uint32_t i = 0; i < n; i++, p += size) {
        Slot d = op[i].d;
        if (d == NO_SLOT) continue;
        t->slot[d] = get(p, op->type);
        if (size == 16) t->slot[d + 1] = get(p + 8, PTX_B64);
    }
    return true;
}

static bool store(SimMachine *m, SimThread *t, const SimOp *op)
{
    uint32_t n = length(op), size = element_bytes(op);
    AccessKind kind = (AccessKind)op->flags;
    uint8_t *p = m->checking ? NULL : quick(m, t, op, address_of(op, t->slot), n * size);
    bool visible = op->extra != PTX_SPACE_LOCAL;
    if (p == NULL) {
        SimLoc at;
        if (!locate(m, t, op, n * size, true, "st", &at)) return false;
        visible = at.space != PTX_SPACE_LOCAL;
        if (watched(m, &at)) {
            if (!watch_write(m, t, &at, n * size, kind, op->c, false)) return false;
            if (kind != ACCESS_WEAK) watch_atomic(m, t, &at, WATCH_ST, kind, op->c);
        }
        p = at.data;
    }
    for (uint32_t i = 0; i < n; i++, p += size) {
        const uint64_t *from = &t->slot[op[i].d]; /* 16 bytes: two slots, the low half first */
        if (visible && memcmp(p, from, size) != 0) m->progress++;
        memcpy(p, from, size);
    }
    return true;
}

/* ---- atomics: PTX ISA, atom and red ---- */

/* Of 128 bits there are only exch and cas. */
static void exchange(uint8_t *p, const SimOp *op, const uint64_t *slot, uint32_t size)
{
    const uint64_t *a = &slot[op[1].a];
    if (op->n == RED_EXCH) memcpy(p, a, size);
    if (op->n == RED_CAS && memcmp(p, a, size) == 0) memcpy(p, &slot[op[1].b], size);
}

static bool atomic(SimMachine *m, SimThread *t, const SimOp *op)
{
    uint32_t size = element_bytes(op);
    AccessKind kind = op->flags == ACCESS_WEAK ? ACCESS_RELAXED : (AccessKind)op->flags;
    SimLoc at;
    if (!locate(m, t, op, size, true, op->d == NO_SLOT ? "red" : "atom", &at)) return false;
    if (at.space != PTX_SPACE_SHARED && at.space != PTX_SPACE_GLOBAL)
        return sim_fail(m, E1318, t, "an atomic operation works on global or shared memory only");
    if (watched(m, &at)) {
        if (!watch_write(m, t, &at, size, kind, op->c, true)) return false;
        WatchAtomic what = op->d == NO_SLOT ? WATCH_RED : WATCH_ATOM;
        if (op->n == RED_CAS && memcmp(at.data, &t->slot[op[1].a], size) != 0) { /* it only reads */
            what = WATCH_LD;
            if (kind == ACCESS_ACQ_REL) kind = ACCESS_ACQUIRE;
            if (kind == ACCESS_RELEASE) kind = ACCESS_RELAXED;
        }
        watch_atomic(m, t, &at, what, kind, op->c);
    }
    uint8_t before[16];
    memcpy(before, at.data, size);
    if (size == 16) {
        exchange(at.data, op, t->slot, size);
    } else { /* f32 add flushes subnormals in global memory only: PTX ISA, atom; measured */
        uint64_t b = op->n == RED_CAS ? t->slot[op[1].b] : 0;
        sim_atomic(at.data, (RedOp)op->n, (PtxType)op->type, t->slot[op[1].a], b, at.space == PTX_SPACE_GLOBAL);
    }
    if (memcmp(before, at.data, size) != 0) m->progress++;
    if (op->d == NO_SLOT) return true;
    t->slot[op->d] = size == 16 ? get(before, PTX_B64) : get(before, op->type);
    if (size == 16) t->slot[op->d + 1] = get(before + 8, PTX_B64);
    return true;
}

/* ---- addresses ---- */

static uint64_t base_of(uint32_t space)
{
    switch (space) {
    case PTX_SPACE_SHARED: return SIM_SHARED_BASE;
    case PTX_SPACE_PARAM: return SIM_PARAM_BASE;
    case PTX_SPACE_LOCAL: return SIM_LOCAL_BASE;
    default: return 0;
    }
}

static bool is_space(const SimMachine *m, const SimThread *t, const SimOp *op)
{
    uint64_t address = t->slot[op->a], base = base_of(op->extra);
    if (base) {
        if (address < base || address - base >= SIM_WINDOW) return false;
        if (op->extra != PTX_SPACE_SHARED) return true;
        uint64_t rank = (address - base) >> SIM_SMEM_RANK;
        return op->b == 1 ? rank < t->cta->cluster->nctas : rank == t->cta->rank;
    }
    const SimBlock *b = sim_find(m->memory, address, 1, NULL);
    if (op->extra == PTX_SPACE_CONST) return b && b->read_only;
    return b ? !b->read_only : address >= SIM_GLOBAL_BASE;
}

/* ---- special registers: PTX ISA, Special Registers ---- */

enum { SMS = 132 };

static uint32_t lane_mask(SpecialReg r, uint32_t lane)
{
    uint32_t eq = UINT32_C(1) << lane, lt = eq - 1;
    switch (r) {
    case SPECIAL_LANEMASK_EQ: return eq;
    case SPECIAL_LANEMASK_LT: return lt;
    case SPECIAL_LANEMASK_LE: return lt | eq;
    case SPECIAL_LANEMASK_GT: return ~(lt | eq);
    default: return ~lt;
    }
}

static uint64_t special(const SimMachine *m, const SimThread *t, SpecialReg r, uint64_t steps)
{
    const SimLaunch *l = &m->launch;
    const SimCta *cta = t->cta;
    const SimCluster *c = cta->cluster;
    uint64_t smem = (uint64_t)l->program->static_smem + l->smem;
    switch (r) {
    case SPECIAL_CLOCK: return (uint32_t)steps;
    case SPECIAL_CLOCK64:
    case SPECIAL_GLOBALTIMER: return steps;
    case SPECIAL_LANEMASK_EQ:
    case SPECIAL_LANEMASK_LT:
    case SPECIAL_LANEMASK_LE:
    case SPECIAL_LANEMASK_GT:
    case SPECIAL_LANEMASK_GE: return lane_mask(r, t->lane);
    case SPECIAL_TID_X: return t->id;
    case SPECIAL_NTID_X: return cta->nthreads;
    case SPECIAL_NTID_Y:
    case SPECIAL_NTID_Z: return 1;
    case SPECIAL_CTAID_X:
    case SPECIAL_CTAID_Y:
    case SPECIAL_CTAID_Z: return cta->id[r - SPECIAL_CTAID_X];
    case SPECIAL_NCTAID_X:
    case SPECIAL_NCTAID_Y:
    case SPECIAL_NCTAID_Z: return l->grid[r - SPECIAL_NCTAID_X];
    case SPECIAL_CLUSTERID_X:
    case SPECIAL_CLUSTERID_Y:
    case SPECIAL_CLUSTERID_Z: return c->id[r - SPECIAL_CLUSTERID_X];
    case SPECIAL_NCLUSTERID_X:
    case SPECIAL_NCLUSTERID_Y:
    case SPECIAL_NCLUSTERID_Z: return l->grid[r - SPECIAL_NCLUSTERID_X] / l->cluster[r - SPECIAL_NCLUSTERID_X];
    case SPECIAL_CLUSTER_CTAID_X:
    case SPECIAL_CLUSTER_CTAID_Y:
    case SPECIAL_CLUSTER_CTAID_Z: return cta->id[r - SPECIAL_CLUSTER_CTAID_X] % l->cluster[r - SPECIAL_CLUSTER_CTAID_X];
    case SPECIAL_CLUSTER_NCTAID_X:
    case SPECIAL_CLUSTER_NCTAID_Y:
    case SPECIAL_CLUSTER_NCTAID_Z: return l->cluster[r - SPECIAL_CLUSTER_NCTAID_X];
    case SPECIAL_CLUSTER_CTARANK: return cta->rank;
    case SPECIAL_CLUSTER_NCTARANK: return c->nctas;
    case SPECIAL_IS_EXPLICIT_CLUSTER: return c->nctas > 1 || l->program->reqcluster[0] != 0;
    case SPECIAL_LANEID: return t->lane;
    case SPECIAL_WARPID: return t->id / 32u;
    case SPECIAL_NWARPID: return 64;
    case SPECIAL_SMID: return ((uint64_t)c->number * c->nctas + cta->rank) % SMS;
    case SPECIAL_NSMID: return SMS;
    case SPECIAL_DYNAMIC_SMEM_SIZE: return l->smem;
    case SPECIAL_TOTAL_SMEM_SIZE: return (smem + SIM_SMEM_BASE + 127) / 128 * 128;
    default: return 0; /* tid.y and z, gridid */
    }
}

/* Would x execute the op at its pc? */
static bool guarded_in(const SimOp *op, const SimThread *x)
{
    return !op->guard || (x->slot[op->p] & 1) == (op->guard == 1);
}

/* Lanes that see each other active are executed together: whoever stands here now, all or some of them, gets the same
 * set as t and goes on behind the instruction (PTX ISA, activemask; which lanes are active is the machine's choice). */
static void active_mask(SimMachine *m, SimThread *t, const SimOp *op)
{
    const SimWarp *w = &t->cta->warps[t->id / 32u];
    uint32_t mask = UINT32_C(1) << t->lane;
    uint32_t some = m->checking && rng_one_in(&m->rng, 4) ? (uint32_t)rng_next(&m->rng) : UINT32_MAX;
    for (uint32_t i = 0; i < w->n && i < 32; i++) {
        const SimThread *x = &t->cta->threads[w->first + i];
        bool here = x->wait == WAIT_NONE && x->pc == t->pc && guarded_in(op, x);
        if (x != t && here && some >> i & 1) mask |= UINT32_C(1) << i;
    }
    for (uint32_t i = 0; i < w->n && i < 32; i++) {
        SimThread *x = &t->cta->threads[w->first + i];
        if (!(mask >> i & 1)) continue;
        x->slot[op->d] = mask;
        if (x != t) x->pc += length(op);
    }
}

/* ---- the rest of a thread's ops: those that look beyond its registers ---- */

static ExecResult branch_table(SimMachine *m, SimThread *t, const SimOp *op, uint32_t *pc)
{
    uint32_t index = (uint32_t)t->slot[op->a];
    if (index >= op->extra) {
        sim_fail(m, E1318, t, "brx.idx: index %u, but its table has %u targets", (unsigned)index, (unsigned)op->extra);
        return EXEC_FAILED;
    }
    *pc = (uint32_t)op->imm + index;
    return EXEC_BUDGET;
}

static ExecResult barrier(SimMachine *m, SimThread *t, const SimOp *op)
{
    const uint64_t *s = t->slot;
    uint32_t threads = op->b == NO_SLOT ? t->cta->nwarps * 32 : (uint32_t)s[op->b];
    return sim_named_barrier(m, t, (uint32_t)s[op->a], threads, op->n != 1);
}

static ExecResult done(bool ok)
{
    return ok ? EXEC_BUDGET : EXEC_FAILED;
}

/* What is not executed. */
static bool refused(SimMachine *m, SimThread *t, const SimOp *op)
{
    bool trap = op->code == SIM_TRAP;
    Text name;
    text_init(&name, &m->mem);
    sim_describe_op(m, t->at, &name);
    sim_fail(m, trap ? E1322 : E1351, t, trap ? "%s is executed" : "%s is not simulated", name.s ? name.s : "?");
    text_free(&name);
    return false;
}

/* EXEC_BUDGET: done, go on behind it. */
static ExecResult outside(SimMachine *m, SimThread *t, const SimOp *op, uint64_t steps)
{
    uint64_t *s = t->slot;
    switch (op->code) {
    case SIM_LD: return done(load(m, t, op));
    case SIM_ST: return done(store(m, t, op));
    case SIM_ATOM: return done(atomic(m, t, op));
    case SIM_FORM: return sim_exec_form(m, t, &m->launch.program->forms[op->imm]);
    case SIM_MEMBAR:
        if (m->watch) watch_fence(m, t, op->n, op->flags & 1);
        return EXEC_BUDGET;
    case SIM_ISSPACEP: s[op->d] = is_space(m, t, op); return EXEC_BUDGET;
    case SIM_SPECIAL: s[op->d] = special(m, t, (SpecialReg)op->imm, steps); return EXEC_BUDGET;
    case SIM_SHFL: return sim_collective(m, t, (uint32_t)s[op[1].b]);
    case SIM_VOTE:
    case SIM_MATCH:
    case SIM_REDUX: return sim_collective(m, t, (uint32_t)s[op->b]);
    case SIM_WARPSYNC: return sim_collective(m, t, (uint32_t)s[op->a]);
    case SIM_UNWRITTEN:
        return done(sim_fail(m, E1330, t, "`%s` is read, but nothing has written it on any way to this instruction",
                             m->launch.program->unwritten[op->imm].name));
    case SIM_ACTIVEMASK: active_mask(m, t, op); return EXEC_BUDGET;
    case SIM_BAR: return barrier(m, t, op);
    default: return done(refused(m, t, op));
    }
}

ExecResult sim_exec(SimMachine *m, SimThread *t, uint32_t budget)
{
    const SimOp *ops = m->ops ? m->ops : m->launch.program->ops;
    uint64_t *const s = t->slot;
    uint64_t before = m->stats.steps;
    uint32_t pc = t->pc, left = budget;
    ExecResult r = EXEC_BUDGET;
    while (left) {
        const SimOp *op = &ops[pc];
        left--;
        if (t->unwaited && tmem_uses_unwaited(m, t, pc)) {
            t->pc = t->at = pc;
            r = EXEC_FAILED;
            break;
        }
        if (op->guard && (s[op->p] & 1) != (op->guard == 1)) {
            pc += length(op);
            continue;
        }
        switch (op->code) {
        case SIM_BRA: pc = (uint32_t)op->imm; continue;
        case SIM_NOP: pc++; continue;
        case SIM_MOV: s[op->d] = s[op->a], pc++; continue;
        case SIM_CVTA:
            s[op->d] = s[op->a] + base_of(op->extra);
            pc++;
            continue;
        case SIM_CVTA_TO:
            s[op->d] = s[op->a] - base_of(op->extra);
            pc++;
            continue;
        case SIM_BRX:
            t->pc = t->at = pc;
            r = branch_table(m, t, op, &pc);
            break;
        case SIM_EXIT:
            t->pc = t->at = pc;
            r = EXEC_EXITED;
            break;
        default:
            if (sim_alu(op, s)) {
                pc++;
                continue;
            }
            /* fall through */
        case SIM_LD:
        case SIM_ST:
        case SIM_ATOM:
        case SIM_FORM:
        case SIM_SPECIAL:
        case SIM_TRAP:
            t->pc = t->at = pc;
            m->stats.steps = before + (budget - left);
            r = outside(m, t, op, m->stats.steps);
            if (r == EXEC_BUDGET) pc += length(op);
            break;
        }
        if (r != EXEC_BUDGET) break;
    }
    m->stats.steps = before + (budget - left);
    t->steps += budget - left;
    if (r == EXEC_BUDGET) t->pc = pc;
    return r;
}
