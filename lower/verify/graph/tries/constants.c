/* Long loops of a constant number of turns: the kernel is proved as one of a family. Where `for k in 1000` stands, the member n has
 * `for k in n`, and so where 1000, or a number near it, is compared with. Members with few turns are other kernels,
 * and need not be right, nor need those that leave another remainder. So what is tried of n are counts above S that leave
 * the remainder of 1000 (modulo the joint period of all that steers: tries/moduli.c), two of them of at least 2 S + 1 turns:
 * from those the member 1000 differs by middle turns that were put in, whole periods of them (tries/period.c).
 *
 * A family that can't be proved says nothing of its member: that one is then unrolled as it stands (verify.c).
 */
#include <string.h>

#include "lang/checked.h"
#include "lower/verify/graph/tries/tries.h"
#include "lower/verify/graph/unroll/unroll.h"

enum {
    LONG = 64,
    NEAR = 16
}; /* turns of loops that are unrolled as they are; how far from a count a number is made from it */

static bool synchronises(const IrRole *r, uint32_t loop)
{
    uint32_t depth = 1;
    for (uint32_t i = loop + 1; i < r->ops.n && depth; i++) {
        const IrOp *op = &r->ops.v[i];
        IrGroup group = (IrGroup)ir_op_info(op->op)->group;
        if (group == IRG_BARRIER || group == IRG_SYNC || group == IRG_GROUP || group == IRG_FENCE) return true;
        depth += ir_opens_block((IrOpcode)op->op);
        depth -= op->op == IR_END;
    }
    return false;
}

static IrVal define(Arena *a, IrKernel *k, IrOpcode opcode, IrType type, IrArg x, IrArg y)
{
    IrOp *op = ir_op(a, &k->init, opcode, (Span){0, 0});
    ir_put(a, op, x);
    if (opcode == IR_ADD) ir_put(a, op, y);
    op->type = (uint8_t)type;
    return op->dst = ir_value(a, k, type, NULL);
}

static IrArg value_arg(IrVal x)
{
    return (IrArg){.key = IRK_A, .kind = IRA_VAL, .id = x};
}

/* What stands for a number near a count, made in init; 0: nothing does. */
static IrVal member(Arena *a, IrKernel *k, Family *y, int64_t number, IrType type)
{
    IrArg none = {0};
    for (uint32_t i = 0; i < y->members.n; i++)
        if (y->members.v[i].number == number && y->members.v[i].type == type) return y->members.v[i].value;
    for (uint32_t i = 0; i < y->counts.n; i++) {
        int64_t far = number - y->counts.v[i].k;
        if (far < -NEAR || far > NEAR) continue;
        IrVal x = define(a, k, IR_PARAM, IR_I32, (IrArg){.key = IRK_EXPR, .kind = IRA_LX, .id = y->counts.v[i].expr},
                         none);
        if (type == IR_I64) x = define(a, k, IR_CVT, type, value_arg(x), none);
        if (far) x = define(a, k, IR_ADD, type, value_arg(x), (IrArg){.key = IRK_B, .kind = IRA_IMM, .imm = far});
        vec_push(a, &y->members, ((Member){number, type, x}));
        return x;
    }
    return 0;
}

static void add_count(Arena *a, IrKernel *k, Family *y, int64_t count)
{
    for (uint32_t i = 0; i < y->counts.n; i++)
        if (y->counts.v[i].k == count) return;
    vec_push(a, &k->mf.syms, ((MfSym){"n", MF_SIZE}));
    vec_push(a, &k->mf.lx.nodes, ((LxNode){.op = LX_SYM, .k = k->mf.syms.n - 1}));
    vec_push(a, &y->counts, ((Count){count, k->mf.lx.nodes.n}));
}

static void find_counts(Arena *a, IrKernel *k, Family *y, const IrRole *r)
{
    for (uint32_t i = 0; i < r->ops.n; i++) {
        const IrOp *op = &r->ops.v[i];
        const IrArg *lo = ir_find(op, IRK_A), *hi = ir_find(op, IRK_B);
        bool fixed = op->op == IR_LOOP && lo->kind == IRA_IMM && hi->kind == IRA_IMM;
        int64_t turns;
        if (fixed && sub_s64(hi->imm, lo->imm, &turns) && turns > LONG && hi->imm <= INT32_MAX && synchronises(r, i))
            add_count(a, k, y, hi->imm);
    }
}

/* The type of the numbers that the op counts to or compares; IR_NONE: it does neither. */
static IrType counted(const IrKernel *k, const IrOp *op)
{
    const IrArg *x = ir_find(op, IRK_A), *y = ir_find(op, IRK_B);
    if (op->op == IR_LOOP) return (IrType)op->type;
    if (op->op != IR_CMP) return IR_NONE;
    if (x->kind == IRA_IMM) x = y;
    return x->kind == IRA_VAL ? (IrType)k->value_types.v[x->id - 1] : IR_NONE;
}

static void put_members(Arena *a, IrKernel *k, Family *y, IrRole *r)
{
    for (uint32_t i = 0; i < r->ops.n; i++) {
        IrOp *op = &r->ops.v[i];
        IrType type = counted(k, op);
        if (type != IR_I32 && type != IR_I64) continue;
        IrArg *args = arena_array(a, IrArg, op->nargs);
        memcpy(args, op->args, op->nargs * sizeof *args);
        for (uint32_t j = 0; j < op->nargs; j++) {
            bool number = args[j].kind == IRA_IMM && (args[j].key == IRK_A || args[j].key == IRK_B);
            IrVal x = number ? member(a, k, y, args[j].imm, type) : 0;
            if (x) args[j] = (IrArg){.key = args[j].key, .kind = IRA_VAL, .id = x};
        }
        op->args = args;
    }
}

#define COPY(a, vec, T)                                                                                                \
    do {                                                                                                               \
        T *all = arena_array((a), T, (vec).n);                                                                         \
        if ((vec).n) memcpy(all, (vec).v, (vec).n * sizeof *all);                                                      \
        (vec).v = all;                                                                                                 \
        (vec).cap = (vec).n;                                                                                           \
    } while (0)

const IrKernel *family_of(Arena *a, const IrKernel *k, Family *y)
{
    IrKernel *general = arena_new(a, IrKernel);
    *general = *k;
    COPY(a, general->mf.syms, MfSym);
    COPY(a, general->mf.lx.nodes, LxNode);
    COPY(a, general->value_types, uint8_t);
    COPY(a, general->value_names, const char *);
    COPY(a, general->roles, IrRole);
    COPY(a, general->init.ops, IrOp);
    for (uint32_t i = 0; i < k->roles.n; i++) find_counts(a, general, y, &k->roles.v[i]);
    for (uint32_t i = 0; i < k->roles.n && y->counts.n; i++) {
        COPY(a, general->roles.v[i].ops, IrOp);
        put_members(a, general, y, &general->roles.v[i]);
    }
    return y->counts.n ? general : NULL;
}

static bool reads_what_it_writes(const Verifier *v)
{
    uint64_t read = 0;
    for (uint32_t i = 0; i < v->nops; i++) {
        const IrArg *map = verify_arg(v, i, IRK_MAP), *from = verify_arg(v, i, IRK_FROM);
        uint32_t tensor = map ? v->k->mf.maps.v[map->id].tensor : 0;
        if (v->group[i] != IRG_COPY && v->ops[i]->op != IR_THR_LOAD) continue;
        if (map && v->ops[i]->op == IR_TMA_LOAD) read |= UINT64_C(1) << (tensor < 63 ? tensor : 63);
        if (from) read |= copy_address(v, from, 8);
    }
    return read & v->stored;
}

/* Turns far from each other meet in nothing but slots, which come round: so few turns show all that many do. Not so where one reads in
 * global memory what another one wrote, nor where places in a tile move with the index (tries/period.c). */
void family_prepare(Verifier *v)
{
    if (v->family && !v->few && reads_what_it_writes(v))
        verify_refuse(v, E0660, v->nops, "in many turns it may read what it wrote");
}

/* 0: the number of turns is none of a family. */
int64_t family_count(const Verifier *v, Form of)
{
    const FormData *d = form_data(&v->f, of);
    const FormAtom *a = d->n == 1 && d->t[0].c == 1 ? atom_data(&v->f, d->t[0].atom) : NULL;
    for (uint32_t i = 0; a && v->family && a->kind == ATOM_PARAM && i < v->family->counts.n; i++)
        if (v->family->counts.v[i].expr == a->a) return v->family->counts.v[i].k;
    return 0;
}
