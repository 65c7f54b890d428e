/* Scalars as IR values: pure ops, numbered by what they compute. Inside a block an op whose operands stand in the
 * prologue goes there, too; at the top level it stays with its statement.
 *
 * Scalars are s64 by meaning. Ring ops wanted for their low half only, and everything whose operands are proved to
 * fit, are computed in 32 bits. */
#include <string.h>

#include "lower/emit/values.h"
#include "lower/kernel/report.h"

/* ---- scopes ---- */

void values_begin(Lower *L)
{
    L->values->numbers = names_new(L->a);
    vec_push(L->a, &L->values->live, 1);
    vec_push(L->a, &L->values->scopes, 0);
}

void scope_open(Lower *L)
{
    vec_push(L->a, &L->values->scopes, L->values->live.n);
    vec_push(L->a, &L->values->live, 1);
}

void scope_close(Lower *L)
{
    L->values->live.v[L->values->scopes.v[--L->values->scopes.n]] = 0;
}

static uint32_t scope_now(const Lower *L)
{
    return L->values->scopes.v[L->values->scopes.n - 1];
}

/* ---- ops ---- */

IrOp *emit_new(Lower *L, IrOpcode op)
{
    IrOp *o = ir_op(L->a, &L->body, op, L->stmt ? L->stmt->span : (Span){0, 0});
    o->call = call_here(L);
    o->agent = L->agent;
    return o;
}

void emit_if(IrOp *op, Opnd cond)
{
    if (cond.v) op->guard = ir_if(cond.v);
    else op->guard = (IrGuard){.when = cond.k ? IRW_ALWAYS : IRW_NEVER};
}

IrOp *emit_when(Lower *L, IrOpcode op, Opnd cond)
{
    IrOp *o = emit_new(L, op);
    emit_if(o, cond);
    return o;
}

void put_opnd(Lower *L, IrOp *op, IrKey key, Opnd o)
{
    if (o.turn) ir_ref(L->a, op, key, IRA_TURN, (uint32_t)o.k);
    else if (o.v) ir_ref(L->a, op, key, IRA_VAL, o.v);
    else ir_imm(L->a, op, key, o.k);
}

void put_buf(Lower *L, IrOp *op, IrKey key, uint32_t buf, Opnd slot, Opnd at)
{
    ir_ref(L->a, op, key, IRA_BUF, buf);
    if (!opnd_is(slot, 0)) put_opnd(L, op, IRK_SLOT, slot);
    if (!opnd_is(at, 0)) put_opnd(L, op, IRK_OFFSET, at);
}

void put_bar(Lower *L, IrOp *op, uint32_t bar, Opnd slot)
{
    ir_ref(L->a, op, IRK_BAR, IRA_BAR, bar);
    if (!opnd_is(slot, 0)) put_opnd(L, op, IRK_SLOT, slot);
}

IrOp *emit_at(Lower *L, IrOpcode op, uint32_t bar, Opnd slot)
{
    IrOp *o = emit_new(L, op);
    put_bar(L, o, bar, slot);
    return o;
}

void emit_fence(Lower *L, IrSpace space)
{
    ir_ref(L->a, emit_new(L, IR_FENCE_ASYNC), IRK_SPACE, IRA_WORD, space);
}

static bool is_hoisted(const Lower *L, Opnd o)
{
    return o.v == 0 || (o.v <= L->values->hoisted.n && L->values->hoisted.v[o.v - 1]);
}

/* Values that others make, such as what a role counts turns by, are not in the prologue. */
static IrVal new_value(Lower *L, IrType t, bool hoisted, const char *name)
{
    IrVal v = ir_value(L->a, L->ir, t, name);
    while (L->values->hoisted.n < v) vec_push(L->a, &L->values->hoisted, 0);
    L->values->hoisted.v[v - 1] = hoisted;
    return v;
}

IrOp *emit_value(Lower *L, IrOpcode op, IrType t, const char *name)
{
    IrVal v = new_value(L, t, false, name);
    IrOp *o = emit_new(L, op);
    o->type = (uint8_t)t;
    o->dst = v;
    return o;
}

/* The entry of an op with these operands: value 0 where there is none that may be used here, which is filled at once. */
static Numbered *number(Lower *L, const uint64_t key[4])
{
    struct Values *v = L->values;
    Name id = names_intern(v->numbers, (const char *)key, 4 * sizeof *key);
    while (v->numbered.n < id) vec_push(L->a, &v->numbered, (Numbered){0});
    Numbered *n = &v->numbered.v[id - 1];
    if (!v->live.v[n->scope]) n->value = 0;
    return n;
}

static IrArg opnd_arg(IrKey key, Opnd o)
{
    return o.v ? (IrArg){.key = (uint8_t)key, .kind = IRA_VAL, .id = o.v}
               : (IrArg){.key = (uint8_t)key, .kind = IRA_IMM, .imm = o.k};
}

/* Three operands at most, and a word; the same op with the same operands is the same value. */
static Opnd pure_op(Lower *L, IrOpcode op, IrType t, const IrArg *args, unsigned n, const char *name)
{
    uint64_t key[4] = {(uint64_t)op | (uint64_t)t << 8, 0, 0, 0};
    bool hoist = L->values->scopes.n > 1 && !L->values->no_hoist;
    for (unsigned i = 0, at = 1; i < n; i++) {
        if (args[i].kind == IRA_VAL) hoist &= is_hoisted(L, (Opnd){.v = args[i].id});
        if (args[i].kind == IRA_WORD) {
            key[0] |= (uint64_t)args[i].id << 16;
            continue;
        }
        key[0] |= (uint64_t)(args[i].kind == IRA_IMM) << (32 + i);
        key[at++] = args[i].kind == IRA_IMM ? (uint64_t)args[i].imm : args[i].id;
    }
    Numbered *at = number(L, key);
    if (at->value) return (Opnd){.v = at->value};
    IrVal v = new_value(L, t, hoist, name);
    at->value = v;
    at->scope = hoist ? 0 : scope_now(L);
    IrOp *o = ir_op(L->a, hoist ? &L->pre : &L->body, op, L->stmt ? L->stmt->span : (Span){0, 0});
    o->call = call_here(L);
    o->type = (uint8_t)t;
    o->dst = v;
    for (unsigned i = 0; i < n; i++) ir_put(L->a, o, args[i]);
    return (Opnd){.v = v};
}

static int64_t wrap32(int64_t k)
{
    uint64_t low = (uint64_t)k & UINT32_MAX;
    return low > INT32_MAX ? (int64_t)low - (INT64_C(1) << 32) : (int64_t)low;
}

Opnd emit_op(Lower *L, IrOpcode op, IrType t, Opnd a, Opnd b)
{
    int64_t r;
    if (a.v == 0 && b.v == 0 && IR_LX_OPS[op] && lx_apply((LxOp)IR_LX_OPS[op], a.k, b.k, &r) == LX_OK) return opnd_imm(t == IR_I32 ? wrap32(r) : r);
    bool commutes = op == IR_ADD || op == IR_MUL || op == IR_AND || op == IR_OR || op == IR_XOR || op == IR_MIN ||
                    op == IR_MAX;
    if (a.v == 0 && commutes) {
        Opnd s = a;
        a = b;
        b = s;
    }
    if ((op == IR_ADD || op == IR_SUB || op == IR_OR || op == IR_XOR || op == IR_SHL || op == IR_SHR) && opnd_is(b, 0))
        return a;
    if ((op == IR_MUL || op == IR_DIV) && opnd_is(b, 1)) return a;
    if ((op == IR_MUL || op == IR_AND) && opnd_is(b, 0)) return opnd_imm(0);
    IrArg args[2] = {opnd_arg(IRK_A, a), opnd_arg(IRK_B, b)};
    return pure_op(L, op, t, args, 2, NULL);
}

Opnd emit_by_recip(Lower *L, IrOpcode op, Opnd a, Opnd b, Lx recip)
{
    IrArg args[3] = {opnd_arg(IRK_A, a), opnd_arg(IRK_B, b), opnd_arg(IRK_RECIP, emit_param(L, recip))};
    return pure_op(L, op, IR_I64, args, 3, NULL);
}

static Opnd emit_unary(Lower *L, IrOpcode op, IrType t, Opnd a)
{
    IrArg arg = opnd_arg(IRK_A, a);
    return pure_op(L, op, t, &arg, 1, NULL);
}

Opnd emit_cmp(Lower *L, IrRel rel, Opnd a, Opnd b)
{
    if (a.v == 0 && b.v == 0) {
        bool r[] = {a.k == b.k, a.k != b.k, a.k<b.k, a.k <= b.k, a.k> b.k, a.k >= b.k};
        return opnd_imm(r[rel]);
    }
    if (a.v == 0) { /* the value first: the emitter takes its type from it */
        static const IrRel SWAP[] = {IRL_EQ, IRL_NE, IRL_GT, IRL_GE, IRL_LT, IRL_LE};
        Opnd s = a;
        a = b;
        b = s;
        rel = SWAP[rel];
    }
    IrArg args[3] = {{.key = IRK_REL, .kind = IRA_WORD, .id = rel}, opnd_arg(IRK_A, a), opnd_arg(IRK_B, b)};
    return pure_op(L, IR_CMP, IR_PRED, args, 3, NULL);
}

/* cond ? a : b */
Opnd emit_sel(Lower *L, IrType t, Opnd cond, Opnd a, Opnd b)
{
    if (cond.v == 0) return cond.k ? a : b;
    if (a.v == b.v && (a.v || a.k == b.k)) return a;
    IrArg args[3] = {opnd_arg(IRK_COND, cond), opnd_arg(IRK_A, a), opnd_arg(IRK_B, b)};
    return pure_op(L, IR_SEL, t, args, 3, NULL);
}

Opnd emit_not(Lower *L, Opnd a)
{
    return a.v ? emit_unary(L, IR_NOT, IR_PRED, a) : opnd_imm(!a.k);
}

Opnd emit_logic(Lower *L, IrOpcode op, Opnd a, Opnd b)
{
    if (a.v == 0 || b.v == 0) {
        Opnd value = a.v ? a : b, known = a.v ? b : a;
        return (op == IR_AND) == (known.k != 0) ? value : known;
    }
    return emit_op(L, op, IR_PRED, a, b);
}

Opnd emit_cvt(Lower *L, IrType t, Opnd a)
{
    if (a.v == 0) return opnd_imm(t == IR_I32 ? wrap32(a.k) : a.k);
    if (L->ir->value_types.v[a.v - 1] == t) return a;
    return emit_unary(L, IR_CVT, t, a);
}

uint32_t param_add(Lower *L, MfParamKind kind, uint32_t index)
{
    MfKernel *mf = &L->ir->mf;
    for (uint32_t i = 0; i < mf->params.n; i++)
        if (mf->params.v[i].kind == kind && mf->params.v[i].index == index) return i;
    MfParam *p = vec_add(L->a, &mf->params);
    *p = (MfParam){(uint8_t)kind, index};
    return mf->params.n - 1;
}

Opnd emit_param(Lower *L, Lx x)
{
    int64_t k;
    if (lx_is_const(&L->ir->mf.lx, x, &k)) return opnd_imm(k);
    param_add(L, MF_PARAM_VALUE, x);
    IrArg arg = {.key = IRK_EXPR, .kind = IRA_LX, .id = x};
    return pure_op(L, IR_PARAM, IR_I64, &arg, 1, NULL);
}

Opnd emit_sreg(Lower *L, IrReg r)
{
    static const char *const NAMES[IRR_COUNT] = {
        [IRR_CTAID_X] = "ctaid.x", [IRR_CTAID_Y] = "ctaid.y", [IRR_CTAID_Z] = "ctaid.z"};
    IrArg arg = {.key = IRK_REG, .kind = IRA_WORD, .id = r};
    return pure_op(L, IR_SREG, IR_I32, &arg, 1, NAMES[r]);
}

Opnd emit_zeros(Lower *L)
{
    return pure_op(L, IR_ZADDR, IR_I64, NULL, 0, NULL);
}

Opnd emit_gaddr(Lower *L, uint32_t tensor, Opnd byte)
{
    param_add(L, MF_PARAM_ADDRESS, tensor);
    IrArg args[2] = {{.key = IRK_TENSOR, .kind = IRA_TENSOR, .id = tensor}, opnd_arg(IRK_BYTE, byte)};
    return pure_op(L, IR_GADDR, IR_I64, args, 2, NULL);
}

Opnd emit_descriptor(Lower *L, uint32_t buf, uint32_t lead, uint32_t stride, uint8_t swizzle)
{
    IrArg args[4] = {{.key = IRK_SRC, .kind = IRA_BUF, .id = buf},
                     opnd_arg(IRK_LEAD, opnd_imm(lead)),
                     opnd_arg(IRK_STRIDE, opnd_imm(stride)),
                     {.key = IRK_LAYOUT, .kind = IRA_WORD, .id = swizzle}};
    return pure_op(L, IR_TC_DESC, IR_I64, args, 4, arena_printf(L->a, "%s.desc", L->ir->bufs.v[buf].name));
}

Opnd emit_loop(Lower *L, IrType t, Opnd a, Opnd b)
{
    IrOp *op = emit_value(L, IR_LOOP, t, NULL);
    op->agent = 0;
    put_opnd(L, op, IRK_A, a);
    put_opnd(L, op, IRK_B, b);
    scope_open(L);
    return (Opnd){.v = op->dst};
}

Opnd emit_each(Lower *L, int64_t n)
{
    if (!L->values->lanes || L->values->in_lanes) return emit_loop(L, IR_I32, opnd_imm(0), opnd_imm(n));
    IrOp *op = emit_value(L, IR_LANES, IR_I32, "lane");
    ir_imm(L->a, op, IRK_N, n);
    scope_open(L);
    L->values->in_lanes = scope_now(L);
    return (Opnd){.v = op->dst};
}

/* An index that stands for itself: as of a loop whose value is known. */
static const Sx *index_sx(Lower *L, int64_t n, Opnd value)
{
    Sx *x = arena_new(L->a, Sx);
    *x = (Sx){.op = value.v ? SX_INDEX : SX_CONST, .k = value.v ? L->scalars->nloops : value.k};
    if (value.v == 0) return x;
    Atom atom = domain_index(L->d, "row", poly_const(L->d, 0), poly_const(L->d, n), DEP_LOOP);
    LoopState *s = vec_add(L->a, &L->scalars->more_loops);
    *s = (LoopState){.index = poly_atom(L->d, atom), .value = value, .range = {0, n - 1}};
    L->scalars->nloops++;
    return x;
}

/* Of n numbers in a list, `step` apart from `first` on: which one `at` says, by halves, so that no value is as deep as the list is long. */
static Opnd listed_row(Lower *L, const Sx *const *first, int64_t n, int64_t step, Opnd at, int64_t k)
{
    int64_t half = n / 2 * step;
    if (n == 1) return value_wide(L, *first);
    Opnd low = listed_row(L, first, n / 2, step, at, k), high = listed_row(L, first + half, n - n / 2, step, at, k + half);
    return emit_sel(L, IR_I64, emit_cmp(L, IRL_LT, at, opnd_imm(k + half)), low, high);
}

Opnd row_index(Lower *L, const PRows *rows, int64_t n, Opnd first, int64_t share, Opnd index)
{
    if (rows->tensor == NULL && index.v == 0) return listed_row(L, rows->list + index.k, n / share, share, first, 0); /* the others lie a share apart */
    index = emit_op(L, IR_ADD, IR_I32, first, index);
    if (rows->tensor == NULL) return listed_row(L, rows->list, n, 1, index, 0);
    const Sx **at = arena_array(L->a, const Sx *, P_RANK);
    for (int d = 0; d < rows->tensor->rank; d++) at[d] = rows->at[d];
    Sx *sum = arena_new(L->a, Sx), *load = arena_new(L->a, Sx);
    *sum = (Sx){.op = SX_ADD, .span = at[rows->dim]->span, .a = at[rows->dim], .b = index_sx(L, n, index)};
    at[rows->dim] = sum;
    *load = (Sx){.op = SX_LOAD, .span = sum->span, .tensor = rows->tensor, .idx = at};
    return value_wide(L, load);
}

void emit_end(Lower *L)
{
    emit_new(L, IR_END);
    if (L->values->in_lanes == scope_now(L)) L->values->in_lanes = 0;
    scope_close(L);
}

/* ---- leaves ---- */

static Opnd load_scalar(Lower *L, const Sx *x)
{
    const PTensor *t = x->tensor, *base = base_of(t);
    Domain *d = L->d;
    int64_t size = elem_info(t->type)->global_bits / 8;
    Opnd byte = t->base ? emit_op(L, IR_MUL, IR_I64, value_wide(L, t->offset), opnd_imm(size)) : opnd_imm(0);
    Opnd ok = L->inside;
    for (int i = 0; i < t->rank; i++) {
        Poly p = scalar_poly(L, x->idx[i]), n = scalar_poly(L, t->extent[i]);
        Opnd v = value_wide(L, x->idx[i]);
        Need low = need_at_least(L, p, 0), high = need_at_most(L, poly_sub(d, p, n), -1), both = need_both(L, low, high);
        bool checked = both.is == NEED_PROVED;
        if (both.is == NEED_CHECK && !(scalar_uses(L, x->idx[i]) & (uint8_t)~USE_LAUNCH))
            checked = need_met(L, both, E1126, x->span, "a scalar is read from this place of the tensor", "0 <= %s < %s", poly_text(L, p), poly_text(L, n));
        if (!checked && low.is != NEED_PROVED) ok = emit_logic(L, IR_AND, ok, emit_cmp(L, IRL_GE, v, opnd_imm(0)));
        if (!checked && high.is != NEED_PROVED)
            ok = emit_logic(L, IR_AND, ok, emit_cmp(L, IRL_LT, v, value_wide(L, t->extent[i])));
        Opnd stride = emit_op(L, IR_MUL, IR_I64, value_wide(L, t->stride[i]), opnd_imm(size));
        byte = emit_op(L, IR_ADD, IR_I64, byte, emit_op(L, IR_MUL, IR_I64, v, stride));
    }
    L->ir->mf.tensors.v[base->index].read = true;
    if (L->values->scalar_reads[base->index].hi == 0) L->values->scalar_reads[base->index] = x->span;
    param_add(L, MF_PARAM_ADDRESS, base->index);
    IrOp *op = emit_value(L, IR_LOADS, IR_I64, NULL);
    emit_if(op, ok);
    ir_ref(L->a, op, IRK_TENSOR, IRA_TENSOR, base->index);
    put_opnd(L, op, IRK_BYTE, byte);
    return (Opnd){.v = op->dst};
}

Opnd emit_get(Lower *L, uint32_t var)
{
    IrOp *op = emit_value(L, IR_GET, L->ir->vars.v[var].type, NULL);
    ir_ref(L->a, op, IRK_VAR, IRA_VAR, var);
    return (Opnd){.v = op->dst};
}

/* ---- expressions ---- */

static bool fits32(Lower *L, const Sx *x)
{
    return interval_within(scalar_range(L, x), INT32_MIN, INT32_MAX);
}

static bool is_ring(SxOp op)
{
    return op == SX_ADD || op == SX_SUB || op == SX_MUL || op == SX_NEG || op == SX_INV || op == SX_AND ||
           op == SX_OR || op == SX_XOR;
}

/* Is a ceil made of quotient and remainder? Its range says so. */
static bool in_parts(Lower *L, const Sx *x)
{
    scalar_range(L, x);
    return scalar_of(L, x)->in_parts;
}

/* Does the op's 32-bit form, given the low halves of its operands, make the low half of its value? */
static bool made_in_32(Lower *L, const Sx *x)
{
    int64_t count = -1;
    if (is_ring(x->op)) return true;
    if ((x->op == SX_SHL || x->op == SX_SHR) && x->b->op == SX_CONST) count = x->b->k;
    if (x->op == SX_SHL) return count >= 0 && count < 32;
    if (!fits32(L, x->a) || (x->b && !fits32(L, x->b))) return false;
    if (x->op == SX_SHR) return count >= 0 && count < 32;
    if (x->op != SX_CEIL || in_parts(L, x)) return true;
    return scalar_range(L, x->a).hi + scalar_range(L, x->b).hi <= INT32_MAX; /* a + b - 1 */
}

/* Is the value best made in 32 bits, all its parts being so? */
static bool narrow(Lower *L, const Sx *x)
{
    if (x->op == SX_CONST) return fits32(L, x);
    if (!fits32(L, x)) return false;
    switch ((SxOp)x->op) {
    case SX_CTA:
    case SX_CLUSTER:
    case SX_RANK: return true;
    case SX_INDEX: return !loop_state(L, x->k)->wide;
    case SX_LET: return !L->scalars->lets[x->k].has_value && narrow(L, x->a);
    case SX_SYM:
    case SX_VAR:
    case SX_LOAD: return false;
    default:
        return !(scalar_uses(L, x) == USE_LAUNCH) && made_in_32(L, x) && narrow(L, x->a) &&
               (x->b == NULL || narrow(L, x->b));
    }
}

static Opnd value_op(Lower *L, const Sx *x, IrType t, Opnd a, Opnd b)
{
    static const uint8_t OPS[] = {
        [SX_ADD] = IR_ADD, [SX_SUB] = IR_SUB, [SX_MUL] = IR_MUL, [SX_DIV] = IR_DIV, [SX_MOD] = IR_MOD, [SX_MIN] = IR_MIN,
        [SX_MAX] = IR_MAX, [SX_SHL] = IR_SHL, [SX_SHR] = IR_SHR, [SX_AND] = IR_AND, [SX_OR] = IR_OR,   [SX_XOR] = IR_XOR,
    };
    switch ((SxOp)x->op) {
    case SX_NEG: return emit_op(L, IR_SUB, t, opnd_imm(0), a);
    case SX_INV: return emit_op(L, IR_XOR, t, a, opnd_imm(-1));
    case SX_CEIL:
        if (in_parts(L, x)) { /* holds for every a and b whose quotient fits */
            Opnd more = emit_cvt(L, t, emit_cmp(L, IRL_NE, emit_op(L, IR_MOD, t, a, b), opnd_imm(0)));
            return emit_op(L, IR_ADD, t, emit_op(L, IR_DIV, t, a, b), more);
        }
        return emit_op(L, IR_DIV, t, emit_op(L, IR_ADD, t, a, emit_op(L, IR_SUB, t, b, opnd_imm(1))), b);
    default: return emit_op(L, (IrOpcode)OPS[x->op], t, a, b);
    }
}

/* A value that a `let` names first is printed under that name. */
static Opnd named(Lower *L, const Sx *let, Opnd o)
{
    if (o.v && L->ir->value_names.v[o.v - 1] == NULL) L->ir->value_names.v[o.v - 1] = L->scalars->lets[let->k].name;
    return o;
}

/* What was made of it before, where that may still be used, or it is made now. */
static Opnd made_once(Lower *L, const Sx *x, const Scalar *s, Cached *c, Opnd (*make)(Lower *, const Sx *))
{
    if (c->set && L->values->live.v[c->scope] && (!(s->uses & USE_VAR) || c->epoch == L->scalars->epoch)) return c->o;
    Opnd o = make(L, x);
    *c = (Cached){o, is_hoisted(L, o) ? 0 : scope_now(L), L->scalars->epoch, true};
    return o;
}

void values_forget(Lower *L, uint8_t uses)
{
    for (uint32_t i = 0; i < L->scalars->all.n; i++) {
        Scalar *s = L->scalars->all.v[i];
        if (s->uses & uses) s->low.set = s->wide.set = s->pred.set = false;
    }
}

static Opnd low_node(Lower *L, const Sx *x)
{
    int64_t k;
    if (poly_is_const(scalar_poly(L, x), &k)) return opnd_imm(wrap32(k));
    switch ((SxOp)x->op) {
    case SX_CTA: return emit_sreg(L, (IrReg)(IRR_CTAID_X + x->k));
    case SX_CLUSTER: return emit_sreg(L, (IrReg)(IRR_CLUSTER_CTAID_X + x->k));
    case SX_RANK: return emit_sreg(L, IRR_CLUSTER_CTARANK);
    case SX_INDEX: return emit_cvt(L, IR_I32, loop_state(L, x->k)->value);
    case SX_LET:
        return L->scalars->lets[x->k].has_value ? emit_cvt(L, IR_I32, L->scalars->lets[x->k].value) : named(L, x, value_low(L, x->a));
    case SX_SYM:
    case SX_VAR:
    case SX_LOAD: return emit_cvt(L, IR_I32, value_wide(L, x));
    default: break;
    }
    if (scalar_uses(L, x) == USE_LAUNCH) return emit_cvt(L, IR_I32, value_wide(L, x));
    if (!made_in_32(L, x)) return emit_cvt(L, IR_I32, value_wide(L, x));
    Opnd a = value_low(L, x->a), b = x->b ? value_low(L, x->b) : opnd_imm(0);
    return value_op(L, x, IR_I32, a, b);
}

Opnd value_low(Lower *L, const Sx *x)
{
    if (x->op == SX_CONST) return opnd_imm(wrap32(x->k));
    Scalar *s = scalar_of(L, x);
    return made_once(L, x, s, &s->low, low_node);
}

static Opnd wide_node(Lower *L, const Sx *x)
{
    int64_t k;
    if (poly_is_const(scalar_poly(L, x), &k)) return opnd_imm(k);
    if (scalar_uses(L, x) == USE_LAUNCH) return emit_param(L, scalar_lx(L, x));
    if (narrow(L, x)) return emit_cvt(L, IR_I64, value_low(L, x));
    switch ((SxOp)x->op) {
    case SX_INDEX: return emit_cvt(L, IR_I64, loop_state(L, x->k)->value);
    case SX_LET:
        return L->scalars->lets[x->k].has_value ? emit_cvt(L, IR_I64, L->scalars->lets[x->k].value) : named(L, x, value_wide(L, x->a));
    case SX_VAR: return emit_get(L, L->scalars->vars[x->k].ir);
    case SX_LOAD: return load_scalar(L, x);
    default: break;
    }
    Opnd a = value_wide(L, x->a), b = x->b ? value_wide(L, x->b) : opnd_imm(0);
    return value_op(L, x, IR_I64, a, b);
}

Opnd value_wide(Lower *L, const Sx *x)
{
    if (x->op == SX_CONST) return opnd_imm(x->k);
    Scalar *s = scalar_of(L, x);
    return made_once(L, x, s, &s->wide, wide_node);
}

static Opnd pred_node(Lower *L, const Sx *x)
{
    if (scalar_uses(L, x) == USE_LAUNCH) return emit_cmp(L, IRL_NE, emit_param(L, scalar_lx(L, x)), opnd_imm(0));
    static const IrRel REL[] = {IRL_EQ, IRL_NE, IRL_LT, IRL_LE, IRL_GT, IRL_GE};
    switch ((SxOp)x->op) {
    case SX_LAND:
    case SX_LOR: {
        Opnd b = value_pred(L, x->b);
        return emit_logic(L, x->op == SX_LAND ? IR_AND : IR_OR, value_pred(L, x->a), b);
    }
    case SX_NOT: return emit_not(L, value_pred(L, x->a));
    default: break;
    }
    IrRel rel = REL[x->op - SX_EQ];
    bool low = narrow(L, x->a) && narrow(L, x->b);
    Opnd b = low ? value_low(L, x->b) : value_wide(L, x->b);
    return emit_cmp(L, rel, low ? value_low(L, x->a) : value_wide(L, x->a), b);
}

Opnd value_pred(Lower *L, const Sx *x)
{
    Scalar *s = scalar_of(L, x);
    return made_once(L, x, s, &s->pred, pred_node);
}
