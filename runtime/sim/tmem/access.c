/* tcgen05.ld and tcgen05.st: a warp's registers and its 32 lanes of tensor memory. Both are done when they are issued;
 * what is not waited for is the watch's, and registers that are used too early are found here. PTX ISA, Access
 * restrictions; Data Movement Shape; Packing and Unpacking.
 */
#include <inttypes.h>
#include <string.h>

#include "runtime/sim/tmem/tmem.h"
#include "runtime/sim/watch/tmem.h"

/* ---- shapes: PTX ISA, figures of "Matrix fragments for shape ..": a register lies as written here ---- */
TmemPlace tmem_place(TmemShape shape, uint32_t i, uint32_t r, bool packed, uint32_t half)
{
    uint32_t wide = packed ? 2 : 1;
    TmemPlace p;
    switch (shape) {
    case TMEM_16X64B: /* threads 4k and 4k + 2 hold row k, the odd ones row k + 8 */
        p = (TmemPlace){i / 4 + 8 * (i % 2), i / 2 % 2 + 2 * r};
        break;
    case TMEM_16X128B: p = (TmemPlace){i / 4 + 8 * (r % 2), i % 4 + 4 * (r / 2)}; break;
    case TMEM_16X256B: p = (TmemPlace){i / 4 + 8 * (r / 2 % 2), 2 * (i % 4) + r % 2 + 8 * (r / 4)}; break;
    case TMEM_16X32BX2: return (TmemPlace){i % 16, r * wide + (i / 16) * half};
    default: p = (TmemPlace){i, r}; break;
    }
    p.column *= wide;
    return p;
}

static uint32_t lanes_of(TmemShape s)
{
    return s == TMEM_32X32B ? 32 : 16;
}

/* Columns from the base address on, of one access: the second one of 16x32bx2 has as many. */
static uint32_t columns_of(const FormOp *f, bool packed)
{
    static const uint8_t registers[] = {
        [TMEM_32X32B] = 1, [TMEM_16X64B] = 1, [TMEM_16X128B] = 2, [TMEM_16X256B] = 4, [TMEM_16X32BX2] = 1};
    static const uint8_t columns[] = {
        [TMEM_32X32B] = 1, [TMEM_16X64B] = 2, [TMEM_16X128B] = 4, [TMEM_16X256B] = 8, [TMEM_16X32BX2] = 1};
    uint32_t times = (f->nvalues + registers[f->shape] - 1u) / registers[f->shape];
    return times * columns[f->shape] * (packed ? 2u : 1u);
}

typedef struct Access {
    SimMachine *m;
    SimThread *const *lane;
    const FormOp *f;
    const char *what;
    bool store, packed;
    uint32_t base, column, half; /* first lane, first column, columns to the second access of 16x32bx2 */
} Access;

static bool is_packed(InstrForm f)
{
    return f == FORM_TC_LD_PACK || f == FORM_TC_LD_SPLIT_PACK || f == FORM_TC_ST_UNPACK || f == FORM_TC_ST_SPLIT_UNPACK;
}

/* Lanes that are the warp's, columns that are allocated. */
static bool begin(Access *a)
{
    SimThread *t = a->lane[0];
    uint32_t address = tmem_address(t, a->f), lanes = lanes_of((TmemShape)a->f->shape);
    uint32_t chunk = t->id / 32u % 4 * TMEM_WARP_LANES, n = columns_of(a->f, a->packed);
    a->base = address >> 16;
    a->column = address & 0xFFFF;
    a->half = a->f->half == NO_SLOT ? 0 : (uint32_t)t->slot[a->f->half];
    if (a->base < chunk || a->base + lanes > chunk + TMEM_WARP_LANES)
        return sim_fail(a->m, E1361, t,
                        "%s of lanes %" PRIu32 " .. %" PRIu32
                        " by warp %u, which is warp %u of its warpgroup: its lanes "
                        "are %" PRIu32 " .. %" PRIu32,
                        a->what, a->base, a->base + lanes - 1, (unsigned)t->id / 32, (unsigned)t->id / 32 % 4, chunk,
                        chunk + TMEM_WARP_LANES - 1);
    if (a->base % 16)
        return sim_fail(a->m, E1367, t,
                        "%s from lane %" PRIu32 " on: the PTX ISA describes shapes of 16 lanes at multiples of 16",
                        a->what, a->base);
    if (!tmem_check(a->m, t, t->cta, a->base, lanes, a->column, n, a->what)) return false;
    return a->f->shape != TMEM_16X32BX2 || tmem_check(a->m, t, t->cta, a->base, lanes, a->column + a->half, n, a->what);
}

/* The columns of a lane that a thread has, in runs: told to the watch. */
static bool tell_lane(Access *a, WatchTensor *w, uint32_t i)
{
    uint32_t wide = a->packed ? 2 : 1;
    for (uint32_t r = 0, next; r < a->f->nvalues; r = next) {
        TmemPlace p = tmem_place((TmemShape)a->f->shape, i, r, a->packed, a->half);
        for (next = r + 1; next < a->f->nvalues; next++) {
            TmemPlace q = tmem_place((TmemShape)a->f->shape, i, next, a->packed, a->half);
            if (q.lane != p.lane || q.column != p.column + (next - r) * wide) break;
        }
        if (!watch_tensor_touch(a->m, w, w->t->cta, a->base + p.lane, a->column + p.column, (next - r) * wide,
                                a->store))
            return false;
    }
    return true;
}

/* The operation is the warp's: its first thread stands for it. */
static bool tell(Access *a)
{
    WatchTensor w;
    watch_tensor_begin(a->m, a->lane[0], a->store ? TENSOR_ST : TENSOR_LD, a->packed, &w);
    for (uint32_t i = 0; i < TMEM_WARP_LANES && w.t; i++)
        if (!tell_lane(a, &w, i)) return false;
    watch_tensor_end(a->m, &w);
    return true;
}

static uint32_t *cells(const Access *a, uint32_t i, uint32_t r)
{
    TmemPlace p = tmem_place((TmemShape)a->f->shape, i, r, a->packed, a->half);
    return &a->lane[0]->cta->tmem->cell[(a->base + p.lane) * TMEM_COLUMNS + a->column + p.column];
}

/* ---- registers that a load brings ---- */
static uint32_t *bits_of(SimMachine *m, SimThread *t)
{
    SimTmem *x = t->cta->tmem;
    if (x->unwaited == NULL) {
        x->slot_words = (m->launch.program->nslots + 31) / 32;
        size_t n = (size_t)t->cta->nthreads * x->slot_words * sizeof(uint32_t);
        x->unwaited = mem_resize(&m->mem, NULL, n ? n : 1);
        memset(x->unwaited, 0, n);
    }
    return x->unwaited + (size_t)t->id * x->slot_words;
}

static void expect(SimMachine *m, SimThread *t, const FormOp *f)
{
    uint32_t *bits = bits_of(m, t);
    for (uint32_t r = 0; r < f->nvalues; r++)
        if (f->value[r] != NO_SLOT) bits[f->value[r] / 32] |= UINT32_C(1) << f->value[r] % 32;
    t->unwaited = bits;
}

void tmem_waited(SimMachine *m, SimThread *const *lane, bool store)
{
    watch_tensor_wait(m, lane, TMEM_WARP_LANES, store);
    for (uint32_t i = 0; i < TMEM_WARP_LANES; i++) {
        SimThread *t = lane[i];
        if (store || t->unwaited == NULL) continue;
        memset(bits_of(m, t), 0, t->cta->tmem->slot_words * sizeof(uint32_t));
        t->unwaited = NULL;
    }
}

static bool is_unwaited(const SimThread *t, Slot s)
{
    return s / 32 < t->cta->tmem->slot_words && t->unwaited[s / 32] >> s % 32 & 1;
}

static bool form_uses(const SimThread *t, const FormOp *f)
{
    const Slot own[] = {f->dst,  f->src,    f->map,  f->mbar,  f->gaddr, f->size,
                        f->mask, f->policy, f->rank, f->taddr, f->desc};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (is_unwaited(t, own[i])) return true;
    for (uint32_t i = 0; i < f->ncoords && i < 5; i++)
        if (is_unwaited(t, f->coords[i])) return true;
    for (uint32_t i = 0; i < f->ninfo && i < 3; i++)
        if (is_unwaited(t, f->info[i])) return true;
    for (uint32_t i = 0; i < f->nvalues; i++)
        if (is_unwaited(t, f->value[i])) return true;
    return false;
}

/* Slots of a plain operation: ops.def says which fields are none. */
static bool op_uses(const SimThread *t, const SimOp *op)
{
    switch (op->code) {
    case SIM_EXIT:
    case SIM_BRA:
    case SIM_TRAP:
    case SIM_NOP:
    case SIM_MEMBAR: return false;
    case SIM_BRX:
    case SIM_WARPSYNC: return is_unwaited(t, op->a);
    case SIM_SPECIAL:
    case SIM_ACTIVEMASK: return is_unwaited(t, op->d);
    case SIM_ISSPACEP:
    case SIM_CVTA:
    case SIM_CVTA_TO: return is_unwaited(t, op->d) || is_unwaited(t, op->a);
    case SIM_LD:
    case SIM_ST:
        for (uint32_t i = 0; i < (op->n ? op->n : 1u); i++)
            if (is_unwaited(t, op[i].d)) return true;
        return is_unwaited(t, op->a);
    case SIM_ATOM:
        return is_unwaited(t, op->d) || is_unwaited(t, op->a) || is_unwaited(t, op[1].a) || is_unwaited(t, op[1].b);
    case SIM_SHFL:
        if (is_unwaited(t, op[1].d) || is_unwaited(t, op[1].a) || is_unwaited(t, op[1].b)) return true;
        return is_unwaited(t, op->d) || is_unwaited(t, op->a) || is_unwaited(t, op->b);
    case SIM_VOTE:
    case SIM_REDUX: return is_unwaited(t, op->d) || is_unwaited(t, op->a) || is_unwaited(t, op->b);
    case SIM_BFI_B32:
    case SIM_BFI_B64:
        if (is_unwaited(t, (Slot)op->imm)) return true;
        /* fall through */
    default: return is_unwaited(t, op->d) || is_unwaited(t, op->a) || is_unwaited(t, op->b) || is_unwaited(t, op->c);
    }
}

bool tmem_uses_unwaited(SimMachine *m, SimThread *t, uint32_t pc)
{
    const SimOp *op = &m->launch.program->ops[pc];
    bool guard = op->guard && is_unwaited(t, op->p);
    if (!guard) {
        if (op->guard && (t->slot[op->p] & 1) != (op->guard == 1)) return false;
        if (!(op->code == SIM_FORM ? form_uses(t, &m->launch.program->forms[op->imm]) : op_uses(t, op))) return false;
    }
    t->at = pc;
    sim_fail(m, E1366, t,
             "the instruction uses a register of a tcgen05.ld that this thread has not waited for: "
             "tcgen05.wait::ld is missing between them");
    return true;
}

/* ---- the two instructions ---- */
bool tmem_load(SimMachine *m, SimThread *const *lane, const FormOp *f)
{
    Access a = {.m = m, .lane = lane, .f = f, .what = "tcgen05.ld", .packed = is_packed(f->form)};
    if (!begin(&a) || !tell(&a)) return false;
    for (uint32_t i = 0; i < TMEM_WARP_LANES; i++) {
        for (uint32_t r = 0; r < f->nvalues; r++) {
            const uint32_t *c = cells(&a, i, r);
            if (f->value[r] == NO_SLOT) continue;
            lane[i]->slot[f->value[r]] = a.packed ? (c[0] & 0xFFFF) | c[1] << 16 : c[0];
        }
        if (m->checking) expect(m, lane[i], f);
    }
    return true;
}

/* The upper halves of cells that are stored by .unpack::16b are left open by the PTX ISA: anything stands there. */
bool tmem_store(SimMachine *m, SimThread *const *lane, const FormOp *f)
{
    Access a = {.m = m, .lane = lane, .f = f, .what = "tcgen05.st", .store = true, .packed = is_packed(f->form)};
    if (!begin(&a) || !tell(&a)) return false;
    for (uint32_t i = 0; i < TMEM_WARP_LANES; i++) {
        for (uint32_t r = 0; r < f->nvalues; r++) {
            uint32_t v = (uint32_t)lane[i]->slot[f->value[r]], *c = cells(&a, i, r), noise = 0;
            if (a.packed && m->checking) noise = (uint32_t)rng_next(&m->rng) << 16;
            if (a.packed) c[0] = (v & 0xFFFF) | noise, c[1] = v >> 16 | noise;
            else c[0] = v;
        }
    }
    m->progress++;
    return true;
}
