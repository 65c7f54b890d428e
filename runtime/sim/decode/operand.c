/* Operands: what a register, constant, special register or variable is where an operation reads or writes it. */
#include "runtime/sim/decode/decode.h"

#include <inttypes.h>
#include <string.h>

/* ---- special registers ---- */
#define XYZ(name, id, sizes)                                                                                           \
    {name ".x", SPECIAL_##id##_X, WHOLE, sizes}, {name ".y", SPECIAL_##id##_Y, WHOLE, sizes},                          \
    {                                                                                                                  \
        name ".z", SPECIAL_##id##_Z, WHOLE, sizes                                                                      \
    }
enum { WHOLE, LOW, HIGH }; /* what is taken of the 64 bits */
enum { PREDICATE = 1, BITS8 = 2, BITS16 = 4, BITS32 = 8, BITS64 = 16 }; /* the sizes that it is read with */
/* PTX ISA, "Special Registers"; those that were once of 16 bits are still read with 16, %gridid also with 64. */
static const struct {
    const char *name;
    uint8_t special, part, sizes;
} specials[] = {
    XYZ("%tid", TID, BITS16 | BITS32),
    XYZ("%ntid", NTID, BITS16 | BITS32),
    XYZ("%ctaid", CTAID, BITS16 | BITS32),
    XYZ("%nctaid", NCTAID, BITS16 | BITS32),
    XYZ("%clusterid", CLUSTERID, BITS32),
    XYZ("%nclusterid", NCLUSTERID, BITS32),
    XYZ("%cluster_ctaid", CLUSTER_CTAID, BITS32),
    XYZ("%cluster_nctaid", CLUSTER_NCTAID, BITS32),
    {"%cluster_ctarank", SPECIAL_CLUSTER_CTARANK, WHOLE, BITS32},
    {"%cluster_nctarank", SPECIAL_CLUSTER_NCTARANK, WHOLE, BITS32},
    {"%is_explicit_cluster", SPECIAL_IS_EXPLICIT_CLUSTER, WHOLE, PREDICATE},
    {"%laneid", SPECIAL_LANEID, WHOLE, BITS32},
    {"%warpid", SPECIAL_WARPID, WHOLE, BITS32},
    {"%nwarpid", SPECIAL_NWARPID, WHOLE, BITS32},
    {"%smid", SPECIAL_SMID, WHOLE, BITS32},
    {"%nsmid", SPECIAL_NSMID, WHOLE, BITS32},
    {"%gridid", SPECIAL_GRIDID, WHOLE, BITS16 | BITS32 | BITS64},
    {"%lanemask_eq", SPECIAL_LANEMASK_EQ, WHOLE, BITS32},
    {"%lanemask_lt", SPECIAL_LANEMASK_LT, WHOLE, BITS32},
    {"%lanemask_le", SPECIAL_LANEMASK_LE, WHOLE, BITS32},
    {"%lanemask_gt", SPECIAL_LANEMASK_GT, WHOLE, BITS32},
    {"%lanemask_ge", SPECIAL_LANEMASK_GE, WHOLE, BITS32},
    {"%clock", SPECIAL_CLOCK, WHOLE, BITS32},
    {"%clock64", SPECIAL_CLOCK64, WHOLE, BITS64},
    {"%clock_hi", SPECIAL_CLOCK64, HIGH, BITS32},
    {"%globaltimer", SPECIAL_GLOBALTIMER, WHOLE, BITS64},
    {"%globaltimer_lo", SPECIAL_GLOBALTIMER, LOW, BITS32},
    {"%globaltimer_hi", SPECIAL_GLOBALTIMER, HIGH, BITS32},
    {"%dynamic_smem_size", SPECIAL_DYNAMIC_SMEM_SIZE, WHOLE, BITS32},
    {"%total_smem_size", SPECIAL_TOTAL_SMEM_SIZE, WHOLE, BITS32},
};
#undef XYZ

/* wider: in a part of it, too (PTX ISA, cvt). */
static bool reads(uint8_t sizes, int type, bool wider)
{
    bool is_float = type >= PTX_F16 && type <= PTX_F64;
    if (type == PTX_PRED) return sizes & PREDICATE;
    uint32_t bytes = decode_bytes(type);
    uint8_t size = bytes == 1 ? BITS8 : bytes == 2 ? BITS16 : bytes == 4 ? BITS32 : bytes == 8 ? BITS64 : 0;
    return !is_float && size && (wider ? sizes >= size : sizes & size);
}

static void part_of(Decoder *d, Slot to, uint8_t from, uint8_t bits)
{
    SimOp *op = decode_emit(d, SIM_UNPACK);
    op->d = op->a = to;
    op->n = from;
    op->extra = bits;
}

bool decode_special(Decoder *d, const char *name, int type, bool wider, Slot to)
{
    for (size_t i = 0; i < sizeof specials / sizeof specials[0]; i++) {
        if (strcmp(specials[i].name, name)) continue;
        if (!reads(specials[i].sizes, type, wider))
            decode_problem(d, "`%s` is not read with %s", name, decode_type_name(type));
        SimOp *op = decode_emit(d, SIM_SPECIAL);
        op->d = to;
        op->imm = specials[i].special;
        if (specials[i].part != WHOLE) part_of(d, to, specials[i].part == HIGH ? 32 : 0, 32);
        if (decode_bytes(type) == 2 && !wider) part_of(d, to, 0, 16);
        return true;
    }
    decode_problem(d, "the simulator has no special register `%s`", name);
    return false;
}

static Slot special(Decoder *d, const PtxOperand *o, int type, bool wider)
{
    Slot s = decode_temp(d);
    decode_special(d, o->name, type, wider, s);
    return s;
}

/* ---- variables ---- */
/* PtxVar.index of variables that are no registers: 1 where they have an address; user: the address, or the global's
 * index. */
static const char *space_name(PtxSpace s)
{
    static const char *const names[] = {"a register", ".param", ".global", ".const", ".shared", ".local"};
    return (size_t)s < sizeof names / sizeof names[0] ? names[s] : "?";
}

static Slot variable(Decoder *d, const PtxVar *v, int64_t offset)
{
    if (!v->index) {
        decode_problem(d, "`%s` has no memory in this kernel%s", v->name,
                       v->space == PTX_SPACE_PARAM ? ": calls are not in the simulator" : "");
        return decode_value(d, 0);
    }
    if (v->nrelocs) decode_problem(d, "`%s` has addresses in its initial values: not in the simulator", v->name);
    uint64_t by = (uint64_t)offset;
    switch (v->space) {
    case PTX_SPACE_SHARED: return decode_const(d, CONST_SMEM, v->user + by);
    case PTX_SPACE_LOCAL: return decode_const(d, CONST_LOCAL, v->user + by);
    case PTX_SPACE_PARAM: return decode_const(d, CONST_PARAM, v->user + by);
    default: break;
    }
    Slot base = decode_const(d, CONST_GLOBAL, v->user);
    if (!offset) return base;
    Slot sum = decode_temp(d), b = decode_value(d, by);
    SimOp *op = decode_emit(d, SIM_ADD_U64);
    op->d = sum;
    op->a = base;
    op->b = b;
    return sum;
}

/* ---- operands ---- */
static bool is_bits(int type)
{
    return type >= PTX_B8 && type <= PTX_B128;
}

/* PTX ISA, "Operand Type Checking": untyped bits go with everything of the size, integers with integers, all other
 * types with their own. */
static bool same_kind(PtxType reg, int type)
{
    if (is_bits((int)reg) || is_bits(type)) return true;
    return type >= PTX_U8 && type <= PTX_S64 ? reg >= PTX_U8 && reg <= PTX_S64 : (int)reg == type;
}

static Slot read_register(Decoder *d, const PtxOperand *o, int type, bool wider)
{
    Slot s = decode_reg(d, o->var);
    if (d->bad) return s;
    PtxType t = o->var->type;
    uint32_t has = (uint32_t)ptx_type_bytes(t), needs = decode_bytes(type);
    if (o->value) decode_problem(d, "`%s+%" PRId64 "` does not belong here", o->name, o->value);
    else if ((t == PTX_PRED) != (type == PTX_PRED) || (wider ? has < needs : has != needs))
        decode_problem(d, "`%s` is %s, where %s belongs", o->name, decode_type_name((int)t), decode_type_name(type));
    else if (type != PTX_PRED && !same_kind(t, type))
        decode_problem(d, "`%s` is %s, which %s does not go with", o->name, decode_type_name((int)t), decode_type_name(type));
    if (!o->negated) return s;
    if (type != PTX_PRED) {
        decode_problem(d, "`-%s` does not belong here", o->name);
        return s;
    }
    Slot n = decode_temp(d);
    SimOp *op = decode_emit(d, SIM_NOT_PRED);
    op->d = n;
    op->a = s;
    return n;
}

static Slot immediate(Decoder *d, const PtxOperand *o, int type)
{
    uint32_t bytes = decode_bytes(type);
    bool is_float = (type >= PTX_F16 && type <= PTX_F64) || type > PTX_NO_TYPE;
    uint64_t value = (uint64_t)o->value;
    if (type == PTX_PRED && o->kind == PTX_INT) return decode_value(d, (value != 0) != o->negated);
    if (o->negated) decode_problem(d, "a negated constant does not belong here");
    if (o->kind == PTX_INT && !is_float && bytes && bytes <= 8)
        return decode_value(d, bytes == 8 ? value : value & ((UINT64_C(1) << (8 * bytes)) - 1));
    if (o->kind == PTX_F32_BITS && (type == PTX_F32 || type == PTX_B32))
        return decode_value(d, (uint32_t)value);
    if (o->kind == PTX_F64_BITS && (type == PTX_F64 || type == PTX_B64)) return decode_value(d, value);
    if (o->kind == PTX_F32_BITS && type == PTX_F64) return decode_value(d, alu_f64_bits((double)alu_f32(value)));
    if (o->kind == PTX_F64_BITS && type == PTX_F32) return decode_value(d, alu_f32_bits((float)alu_f64(value)));
    decode_problem(d, "this constant does not belong where %s does", decode_type_name(type));
    return decode_value(d, 0);
}

/* A variable's address: of 64 bits, or of 32 in the spaces that have no more; 16 are its low ones, as for ptxas. */
static Slot address(Decoder *d, const PtxOperand *o, int type)
{
    bool wide = o->var->space == PTX_SPACE_GLOBAL || o->var->space == PTX_SPACE_CONST;
    uint32_t bytes = decode_bytes(type);
    if ((type >= PTX_F16 && type <= PTX_F64) || (bytes != 2 && bytes != 8 && (wide || bytes != 4)))
        decode_problem(d, "the address `%s` does not fit %s", o->name, decode_type_name(type));
    Slot whole = variable(d, o->var, o->value);
    if (bytes != 2) return whole;
    Slot low = decode_temp(d);
    SimOp *op = decode_emit(d, SIM_ZEXT16);
    op->d = low;
    op->a = whole;
    return low;
}

Slot decode_source(Decoder *d, const PtxOperand *o, int type, bool wider)
{
    switch (o->kind) {
    case PTX_REG: return read_register(d, o, type, wider);
    case PTX_INT:
    case PTX_F32_BITS:
    case PTX_F64_BITS: return immediate(d, o, type);
    case PTX_SPECIAL: return special(d, o, type, wider);
    case PTX_SYMBOL:
        if (o->var != NULL) return address(d, o, type);
        decode_problem(d, "`%s` is no variable: addresses of code are not in the simulator", o->name);
        return decode_value(d, 0);
    default:
        decode_problem(d, "a register, a constant or a variable's address belongs here (%s)", decode_type_name(type));
        return decode_value(d, 0);
    }
}

Slot decode_result(Decoder *d, const PtxOperand *o, int type, bool wider)
{
    if (o->kind == PTX_SINK) return decode_sink(d);
    if (o->kind != PTX_REG || o->negated) {
        decode_problem(d, "a result belongs into a register");
        return decode_sink(d);
    }
    return read_register(d, o, type, wider);
}

/* A symbol's place: a constant base, so that one slot serves all its offsets. */
static Slot symbol_base(Decoder *d, const PtxOperand *o, PtxSpace space)
{
    if (o->var == NULL) {
        decode_problem(d, "`%s` is no variable", o->name);
        return decode_value(d, 0);
    }
    PtxSpace is = o->var->space;
    bool fits = space == PTX_SPACE_REG ? is == PTX_SPACE_GLOBAL || is == PTX_SPACE_CONST : is == space;
    if (!fits)
        decode_problem(d, "`%s` lies in %s, the address is %s%s", o->name, space_name(is),
                       space == PTX_SPACE_REG ? "generic" : "in ", space == PTX_SPACE_REG ? "" : space_name(space));
    return variable(d, o->var, 0);
}

Slot decode_address(Decoder *d, const PtxOperand *o, PtxSpace space, bool narrow, int64_t *offset)
{
    const PtxOperand *base = o;
    *offset = o->kind == PTX_INT ? 0 : o->value;
    if (o->kind == PTX_ADDRESS || o->kind == PTX_MAP) {
        if (!o->nitems) {
            decode_problem(d, "an address belongs here");
            return decode_value(d, 0);
        }
        base = &o->items[0];
        if (base->kind != PTX_INT) *offset = (int64_t)((uint64_t)*offset + (uint64_t)base->value);
    }
    if (base->kind == PTX_INT) return decode_value(d, (uint64_t)base->value);
    if (base->kind == PTX_SYMBOL) return symbol_base(d, base, space);
    if (base->kind != PTX_REG || base->negated) {
        decode_problem(d, "an address is a register or a variable with an offset");
        return decode_value(d, 0);
    }
    Slot s = decode_reg(d, base->var);
    int bytes = d->bad ? 8 : ptx_type_bytes(base->var->type);
    if (bytes != 8 && (bytes != 4 || !narrow))
        decode_problem(d, "the address `%s` has %d bits, not 64%s", base->name, 8 * bytes, narrow ? " or 32" : "");
    return s;
}
