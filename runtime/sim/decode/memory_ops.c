/* Plain loads, stores, atomics and fences; operations of warps and of a CTA's threads. */
#include "runtime/sim/decode/decode.h"
#include "runtime/sim/machine.h"

#include <string.h>

static const PtxOperand *operand(Decoder *d, uint32_t i)
{
    return &d->instr->opd[i];
}

static bool count(Decoder *d, uint32_t least, uint32_t most)
{
    uint32_t n = d->instr->nopd;
    if (n < least || n > most) decode_problem(d, "`%s` does not have %u operands here", d->instr->opcode, n);
    return n >= least && n <= most;
}

/* ---- what loads, stores and atomics have in common ---- */
typedef struct Access {
    PtxSpace space;
    bool cluster;
    AccessKind kind;
    uint32_t scope;
} Access;

static Access access_of(const Mods *m, AccessKind otherwise, int scope)
{
    static const uint8_t spaces[] = {PTX_SPACE_GLOBAL, PTX_SPACE_SHARED, PTX_SPACE_SHARED,
                                     PTX_SPACE_LOCAL,  PTX_SPACE_CONST,  PTX_SPACE_PARAM};
    int space = mods_get(m, G_SPACE, -1);
    Access a = {.space = space < 0 ? PTX_SPACE_REG : (PtxSpace)spaces[space],
                .cluster = space == SPACE_SHARED_CLUSTER,
                .kind = (AccessKind)mods_get(m, G_SEM, (int)otherwise),
                .scope = (uint32_t)mods_get(m, G_SCOPE, scope)};
    if (a.kind == ACCESS_VOLATILE) a.scope = 3;
    return a;
}

/* Address operand i, with its space and kind; the rest of the operation is the caller's. */
static void put_access(SimOp *op, const Access *a, Slot address, int64_t offset)
{
    op->a = address;
    op->imm = offset;
    op->extra = (uint16_t)a->space;
    op->flags = (uint8_t)a->kind;
    op->b = a->cluster;
    op->c = a->scope;
}

static Slot address_of(Decoder *d, const PtxOperand *o, const Access *a, int64_t *offset)
{
    bool narrow = a->space == PTX_SPACE_SHARED || a->space == PTX_SPACE_LOCAL || a->space == PTX_SPACE_PARAM;
    return decode_address(d, o, a->space, narrow, offset);
}

static void put_operand(Decoder *d, Slot result, Slot a, Slot b)
{
    SimOp *op = decode_emit(d, SIM_OPERAND);
    op->d = result;
    op->a = a;
    op->b = b;
}

/* The elements of a scalar or `.v4` operand; how many. */
static uint32_t elements(Decoder *d, const Mods *m, const PtxOperand *o, const PtxOperand **out)
{
    uint32_t n = (uint32_t)mods_get(m, G_VEC, 1);
    bool vector = mods_has(m, G_VEC);
    *out = vector ? o->items : o;
    if (vector != (o->kind == PTX_VECTOR) || (vector && o->nitems != n)) {
        decode_problem(d, "a `.v2`, `.v4` or `.v8` access has a vector of so many registers, others have none");
        return 0;
    }
    return n;
}

/* ---- loads and stores ---- */
static int unsigned_of(int type)
{
    return type == PTX_S8 ? PTX_U8 : type == PTX_S16 ? PTX_U16 : type == PTX_S32 ? PTX_U32 : PTX_U64;
}

/* Into a register that is wider than the signed type: loaded without sign, then extended to the register. */
static void extend(Decoder *d, const PtxOperand *o, int type, Slot r)
{
    uint32_t bytes = o->kind == PTX_REG && o->var ? (uint32_t)ptx_type_bytes(o->var->type) : 0;
    SimOpcode code;
    if (bytes <= decode_bytes(type)) return;
    if (type == PTX_S8) code = bytes == 8 ? SIM_SEXT_8_64 : bytes == 4 ? SIM_SEXT_8_32 : SIM_SEXT_8_16;
    else if (type == PTX_S16) code = bytes == 8 ? SIM_SEXT_16_64 : SIM_SEXT_16_32;
    else code = SIM_SEXT_32_64;
    SimOp *op = decode_emit(d, code);
    op->d = op->a = r;
}

void decode_ld(Decoder *d, const Mods *m, const PlainRow *row)
{
    const PtxOperand *to;
    int type = m->type[0];
    bool sign = type >= PTX_S8 && type <= PTX_S64;
    if (!count(d, mods_has(m, G_HINT) ? 3 : 2, mods_has(m, G_HINT) ? 3 : 2)) return;
    Access a = access_of(m, ACCESS_WEAK, 3);
    uint32_t n = elements(d, m, operand(d, 0), &to);
    if (!n) return;
    Slot result[8], address;
    int64_t offset;
    address = address_of(d, operand(d, 1), &a, &offset);
    for (uint32_t i = 0; i < n; i++) result[i] = decode_result(d, &to[i], type, true);
    SimOp *op = decode_emit(d, row->code);
    put_access(op, &a, address, offset);
    op->b |= mods_has(m, G_NC) ? 2u : 0;
    op->type = (uint8_t)(sign ? unsigned_of(type) : type);
    op->n = (uint8_t)n;
    op->d = result[0];
    for (uint32_t i = 1; i < n; i++) put_operand(d, result[i], NO_SLOT, NO_SLOT);
    for (uint32_t i = 0; sign && i < n; i++) extend(d, &to[i], type, result[i]);
}

void decode_st(Decoder *d, const Mods *m, const PlainRow *row)
{
    const PtxOperand *from;
    if (!count(d, mods_has(m, G_HINT) ? 3 : 2, mods_has(m, G_HINT) ? 3 : 2)) return;
    Access a = access_of(m, ACCESS_WEAK, 3);
    uint32_t n = elements(d, m, operand(d, 1), &from);
    if (!n) return;
    Slot value[8], address;
    int64_t offset;
    address = address_of(d, operand(d, 0), &a, &offset);
    for (uint32_t i = 0; i < n; i++) value[i] = decode_source(d, &from[i], m->type[0], true);
    SimOp *op = decode_emit(d, row->code);
    put_access(op, &a, address, offset);
    op->type = m->type[0];
    op->n = (uint8_t)n;
    op->d = value[0];
    for (uint32_t i = 1; i < n; i++) put_operand(d, value[i], NO_SLOT, NO_SLOT);
}

/* ---- atomics and fences ---- */
void decode_atom(Decoder *d, const Mods *m, const PlainRow *row)
{
    bool atom = row->opcode[0] == 'a';
    int type = m->type[0], what = mods_get(m, G_REDOP, RED_ADD);
    uint32_t at = atom, n = at + 2 + (what == RED_CAS) + mods_has(m, G_HINT);
    if (!count(d, n, n)) return;
    Access a = access_of(m, ACCESS_RELAXED, 2);
    int64_t offset;
    Slot address = address_of(d, operand(d, at), &a, &offset);
    Slot x = decode_source(d, operand(d, at + 1), type, false);
    Slot y = what == RED_CAS ? decode_source(d, operand(d, at + 2), type, false) : NO_SLOT;
    Slot old = atom && operand(d, 0)->kind != PTX_SINK ? decode_result(d, operand(d, 0), type, false) : NO_SLOT;
    SimOp *op = decode_emit(d, row->code);
    put_access(op, &a, address, offset);
    op->type = (uint8_t)type;
    op->n = (uint8_t)what;
    op->d = old;
    put_operand(d, NO_SLOT, x, y);
}

/* membar.level is fence.sc of that scope (PTX ISA, membar). */
void decode_membar(Decoder *d, const Mods *m, const PlainRow *row)
{
    if (!count(d, 0, 0)) return;
    bool membar = mods_has(m, G_MEMSCOPE);
    int sem = mods_get(m, G_SEM, membar ? 6 : ACCESS_ACQ_REL);
    SimOp *op = decode_emit(d, row->code);
    op->n = (uint8_t)(membar ? mods_get(m, G_MEMSCOPE, 0) : mods_get(m, G_SCOPE, 0));
    op->flags = sem == 6;
}

/* ---- warps ---- */
static const PtxOperand *first_of_pair(const PtxOperand *o, const PtxOperand **second)
{
    bool pair = o->kind == PTX_PAIR && o->nitems == 2;
    *second = pair ? &o->items[1] : NULL;
    return pair ? &o->items[0] : o;
}

void decode_shfl(Decoder *d, const Mods *m, const PlainRow *row)
{
    if (!count(d, 5, 5)) return;
    const PtxOperand *p, *r = first_of_pair(operand(d, 0), &p);
    Slot a = decode_source(d, operand(d, 1), PTX_B32, false), b = decode_source(d, operand(d, 2), PTX_B32, false);
    Slot c = decode_source(d, operand(d, 3), PTX_B32, false), mask = decode_source(d, operand(d, 4), PTX_U32, false);
    Slot to = decode_result(d, r, PTX_B32, false);
    Slot inside = p && p->kind != PTX_SINK ? decode_result(d, p, PTX_PRED, false) : NO_SLOT;
    SimOp *op = decode_emit(d, row->code);
    op->type = m->type[0];
    op->n = (uint8_t)mods_get(m, G_SHFL, 0);
    op->d = to;
    op->a = a;
    op->b = b;
    put_operand(d, inside, c, mask);
}

/* A predicate whose `!` the operation applies. */
static Slot predicate(Decoder *d, const PtxOperand *o)
{
    PtxOperand plain = *o;
    plain.negated = false;
    return decode_source(d, &plain, PTX_PRED, false);
}

void decode_vote(Decoder *d, const Mods *m, const PlainRow *row)
{
    if (!count(d, 3, 3)) return;
    int mode = mods_get(m, G_VOTE, 0);
    Slot a = predicate(d, operand(d, 1)), mask = decode_source(d, operand(d, 2), PTX_U32, false);
    Slot r = decode_result(d, operand(d, 0), m->type[0], false);
    SimOp *op = decode_emit(d, row->code);
    op->n = (uint8_t)mode;
    op->flags = operand(d, 1)->negated;
    op->d = r;
    op->a = a;
    op->b = mask;
}

void decode_match(Decoder *d, const Mods *m, const PlainRow *row)
{
    if (!count(d, 3, 3)) return;
    int mode = mods_get(m, G_VOTE, 0);
    const PtxOperand *p, *r = first_of_pair(operand(d, 0), &p);
    if (p && mode != 0) decode_problem(d, "`match.any` gives no predicate");
    Slot a = decode_source(d, operand(d, 1), m->type[0], false), mask = decode_source(d, operand(d, 2), PTX_U32, false);
    Slot to = decode_result(d, r, PTX_U32, false);
    Slot all = p && p->kind != PTX_SINK ? decode_result(d, p, PTX_PRED, false) : NO_SLOT;
    SimOp *op = decode_emit(d, row->code);
    op->type = m->type[0];
    op->n = mode == 0;
    op->d = to;
    op->a = a;
    op->b = mask;
    op->c = all;
}

void decode_redux(Decoder *d, const Mods *m, const PlainRow *row)
{
    int what = mods_get(m, G_REDOP, 0);
    if (!count(d, 3, 3)) return;
    Slot a = decode_source(d, operand(d, 1), PTX_U32, false), mask = decode_source(d, operand(d, 2), PTX_U32, false);
    Slot r = decode_result(d, operand(d, 0), PTX_U32, false);
    SimOp *op = decode_emit(d, row->code);
    op->type = m->type[0];
    op->n = (uint8_t)what;
    op->d = r;
    op->a = a;
    op->b = mask;
}

void decode_activemask(Decoder *d, const Mods *m, const PlainRow *row)
{
    if (!count(d, 1, 1)) return;
    Slot r = decode_result(d, operand(d, 0), m->type[0], false);
    decode_emit(d, row->code)->d = r;
}

/* ---- the CTA ---- */
/* bar is barrier .aligned (PTX ISA, barrier). */
static bool is_aligned(const Decoder *d, const Mods *m)
{
    return strcmp(d->instr->opcode, "bar") == 0 || mods_has(m, G_ALIGNED);
}

/* bar.red, barrier.red: result, barrier, [threads], predicate */
static void reduce(Decoder *d, const Mods *m, const PlainRow *row)
{
    bool popc = mods_has(m, G_POPC), three = d->instr->nopd == 3;
    if (!count(d, 3, 4)) return;
    const PtxOperand *from = operand(d, three ? 2 : 3);
    Slot id = decode_source(d, operand(d, 1), PTX_U32, false);
    Slot threads = three ? NO_SLOT : decode_source(d, operand(d, 2), PTX_U32, false);
    Slot c = predicate(d, from), r = decode_result(d, operand(d, 0), m->type[0], false);
    SimOp *op = decode_emit(d, row->code);
    op->n = (uint8_t)(popc ? 2 : 3 + mods_get(m, G_BOOL, 0));
    op->extra = is_aligned(d, m);
    op->flags = from->negated;
    op->d = r;
    op->a = id;
    op->b = threads;
    op->c = c;
}

void decode_bar(Decoder *d, const Mods *m, const PlainRow *row)
{
    int what = mods_get(m, G_BAR, 0);
    if (mods_has(m, G_WARP)) {
        if (!count(d, 1, 1)) return;
        Slot mask = decode_source(d, operand(d, 0), PTX_B32, false);
        decode_emit(d, SIM_WARPSYNC)->a = mask;
        return;
    }
    if (what == 2) {
        reduce(d, m, row);
        return;
    }
    if (!count(d, what == 1 ? 2 : 1, 2)) return;
    Slot id = decode_source(d, operand(d, 0), PTX_U32, false);
    Slot threads = d->instr->nopd == 2 ? decode_source(d, operand(d, 1), PTX_U32, false) : NO_SLOT;
    SimOp *op = decode_emit(d, row->code);
    op->n = (uint8_t)what;
    op->extra = is_aligned(d, m);
    op->a = id;
    op->b = threads;
}
