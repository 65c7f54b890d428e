/* Operands: what a register, constant, special register or variable is where an operation reads or writes it. */
#include "runtime/sim/decode.h"

#include <inttypes.h>
#include <string.h>

/* ---- special registers ---- */
#define XYZ(name, id)                                                                                                  \
    {name ".x", SPECIAL_##id##_X, 0}, {name ".y", SPECIAL_##id##_Y, 0},                                                \
    {                                                                                                                  \
        name ".z", SPECIAL_##id##_Z, 0                                                                                 \
    }
enum { WHOLE, LOW, HIGH }; /* what is taken of the 64 bits */
static const struct {
    const char *name;
    uint8_t special, part;
} specials[] = {
    XYZ("%tid", TID),
    XYZ("%ntid", NTID),
    XYZ("%ctaid", CTAID),
    XYZ("%nctaid", NCTAID),
    XYZ("%clusterid", CLUSTERID),
    XYZ("%nclusterid", NCLUSTERID),
    XYZ("%cluster_ctaid", CLUSTER_CTAID),
    XYZ("%cluster_nctaid", CLUSTER_NCTAID),
    {"%cluster_ctarank", SPECIAL_CLUSTER_CTARANK, WHOLE},
    {"%cluster_nctarank", SPECIAL_CLUSTER_NCTARANK, WHOLE},
    {"%is_explicit_cluster", SPECIAL_IS_EXPLICIT_CLUSTER, WHOLE},
    {"%laneid", SPECIAL_LANEID, WHOLE},
    {"%warpid", SPECIAL_WARPID, WHOLE},
    {"%nwarpid", SPECIAL_NWARPID, WHOLE},
    {"%smid", SPECIAL_SMID, WHOLE},
    {"%nsmid", SPECIAL_NSMID, WHOLE},
    {"%gridid", SPECIAL_GRIDID, WHOLE},
    {"%lanemask_eq", SPECIAL_LANEMASK_EQ, WHOLE},
    {"%lanemask_lt", SPECIAL_LANEMASK_LT, WHOLE},
    {"%lanemask_le", SPECIAL_LANEMASK_LE, WHOLE},
    {"%lanemask_gt", SPECIAL_LANEMASK_GT, WHOLE},
    {"%lanemask_ge", SPECIAL_LANEMASK_GE, WHOLE},
    {"%clock", SPECIAL_CLOCK, WHOLE},
    {"%clock64", SPECIAL_CLOCK64, WHOLE},
    {"%clock_hi", SPECIAL_CLOCK64, HIGH},
    {"%globaltimer", SPECIAL_GLOBALTIMER, WHOLE},
    {"%globaltimer_lo", SPECIAL_GLOBALTIMER, LOW},
    {"%globaltimer_hi", SPECIAL_GLOBALTIMER, HIGH},
    {"%dynamic_smem_size", SPECIAL_DYNAMIC_SMEM_SIZE, WHOLE},
    {"%total_smem_size", SPECIAL_TOTAL_SMEM_SIZE, WHOLE},
};
#undef XYZ

bool decode_special(Decoder *d, const char *name, Slot to)
{
    for (size_t i = 0; i < sizeof specials / sizeof specials[0]; i++) {
        if (strcmp(specials[i].name, name)) continue;
        SimOp *op = decode_emit(d, SIM_SPECIAL);
        op->d = to;
        op->imm = specials[i].special;
        if (specials[i].part != WHOLE) {
            op = decode_emit(d, SIM_UNPACK);
            op->d = op->a = to;
            op->n = specials[i].part == HIGH ? 32 : 0;
            op->extra = 32;
        }
        return true;
    }
    decode_problem(d, "the simulator has no special register `%s`", name);
    return false;
}

static Slot special(Decoder *d, const PtxOperand *o, int type)
{
    if ((type == PTX_PRED) != !strcmp(o->name, "%is_explicit_cluster"))
        decode_problem(d, "`%s` does not belong here", o->name);
    Slot s = decode_temp(d);
    decode_special(d, o->name, s);
    if (decode_bytes(type) < 4 && type != PTX_PRED) {
        SimOp *op = decode_emit(d, SIM_ZEXT16);
        op->d = op->a = s;
    }
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
    if (o->kind == PTX_F64_BITS && type == PTX_F32) return decode_value(d, alu_f32_bits((float)alu_f64(value)));
    decode_problem(d, "this constant does not belong where %s does", decode_type_name(type));
    return decode_value(d, 0);
}

Slot decode_source(Decoder *d, const PtxOperand *o, int type, bool wider)
{
    switch (o->kind) {
    case PTX_REG: return read_register(d, o, type, wider);
    case PTX_INT:
    case PTX_F32_BITS:
    case PTX_F64_BITS: return immediate(d, o, type);
    case PTX_SPECIAL: return special(d, o, type);
    case PTX_SYMBOL:
        if (o->var == NULL) {
            decode_problem(d, "`%s` is no variable: addresses of code are not in the simulator", o->name);
        } else {
            bool wide = o->var->space == PTX_SPACE_GLOBAL || o->var->space == PTX_SPACE_CONST;
            uint32_t bytes = decode_bytes(type);
            if ((type >= PTX_F16 && type <= PTX_F64) || (bytes != 8 && (wide || bytes != 4)))
                decode_problem(d, "the address `%s` does not fit %s", o->name, decode_type_name(type));
            return variable(d, o->var, o->value);
        }
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
