#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lower/ir/checker.h"
#include "lower/ir/thread_work.h"
#include "lower/ir/tensor_memory.h"

enum { SLOTS_MAX = 1 << 16 };

void check_fail_kernel(Checker *c, const char *fmt, ...)
{
    if (c->error) return;
    va_list ap;
    va_start(ap, fmt);
    c->error = arena_printf(c->arena, "kernel %s: %s", c->k->mf.name, arena_vprintf(c->arena, fmt, ap));
    va_end(ap);
}

void check_fail(Checker *c, const char *what)
{
    if (c->error) return;
    const IrOp *op = &c->role->ops.v[c->at];
    const char *text = op->op < IR_OP_COUNT ? ir_op_info(op->op)->text : "?";
    const char *body = c->body == 0 ? "init" : c->body > c->k->roles.n ? "exit" : c->who->name ? c->who->name : "";
    bool is_role = c->body > 0 && c->body <= c->k->roles.n;
    c->error = arena_printf(c->arena, "kernel %s, %s%s, op %u (%s): %s", c->k->mf.name, is_role ? "role " : "", body, c->at, text, what);
}

void check_fail_operand(Checker *c, IrKey key, const char *what)
{
    if (c->error == NULL) check_fail(c, arena_printf(c->arena, "operand %s %s", ir_key_text(key), what));
}

COLD static IrType type_fails(Checker *c, IrVal v)
{
    bool there = v - 1 < c->k->value_types.n;
    check_fail(c, !there ? "a value that the kernel does not have" : c->defined[v - 1] ? "a value is used outside its block" : "a value is used before its definition");
    return there ? c->k->value_types.v[v - 1] : IR_NONE;
}

static inline IrType type_of(Checker *c, IrVal v)
{
    bool known = v - 1 < c->k->value_types.n && !c->closed.v[c->defined[v - 1]];
    return known ? c->k->value_types.v[v - 1] : type_fails(c, v);
}

/* ---- operands by kind ---- */

static void check_part(Checker *c, const IrArg *part)
{
    if (part->kind == IRA_VAL ? type_of(c, part->id) == IR_PRED : part->kind != IRA_IMM)
        check_fail_operand(c, part->key, part->kind == IRA_VAL ? "is a pred" : "is no value");
}

/* Its slot and byte offset, which stand behind it; returns how many they are. */
static uint32_t check_parts(Checker *c, const IrOp *op, const IrArg *obj, uint32_t slots, uint32_t bytes)
{
    const IrArg *end = op->args + op->nargs, *at = obj + 1;
    if (at < end && at->key == IRK_SLOT) {
        if (!c->tree || at->kind != IRA_TURN || at->id >= c->k->rings.n) check_part(c, at);
        if (at->kind == IRA_IMM && (at->imm < 0 || at->imm >= slots)) check_fail_operand(c, obj->key, "names a slot that it does not have");
        at++;
    }
    if (at < end && at->key == IRK_OFFSET) {
        check_part(c, at);
        if (obj->kind != IRA_BUF) check_fail_operand(c, obj->key, "is a barrier and has a byte offset");
        if (at->kind == IRA_IMM && (at->imm < 0 || at->imm > bytes)) check_fail_operand(c, obj->key, "starts outside its slot");
        at++;
    }
    return (uint32_t)(at - obj) - 1;
}

/* An element's, in a register. */
static IrType bits_of(uint32_t type)
{
    return elem_info((ElemType)type)->shared_bits == 64 ? IR_I64 : IR_I32;
}

/* What another operand says of its type; IR_NONE: any integer. */
static IrType stated_type(Checker *c, const IrOp *op, IrKey key, const IrArg *arg)
{
    const IrArg *other;
    switch ((IrOpcode)op->op) {
    case IR_VAR:
    case IR_SET: return c->k->vars.v[ir_find(op, IRK_VAR)->id].type;
    case IR_ST_FILL:
    case IR_RED_ASYNC: return bits_of(ir_find(op, IRK_ELEM)->id);
    case IR_THR_FILL: return bits_of(c->k->plans.v[ir_find(op, IRK_PLAN)->id].dst.type);
    case IR_CMP:
        other = ir_find(op, key == IRK_A ? IRK_B : IRK_A);
        return other && other->kind == IRA_VAL ? type_of(c, other->id) : IR_NONE;
    case IR_CVT: /* of any */
        if (arg->kind == IRA_VAL) return type_of(c, arg->id);
        check_fail_operand(c, key, "is no value");
        return IR_NONE;
    default: /* recip */
        if (op->type != IR_I64) check_fail_operand(c, key, "divides numbers of 64 bits");
        return IR_I64;
    }
}

static void check_value(Checker *c, const IrOp *op, const IrOperand *o, const IrArg *arg)
{
    IrType want = o->type == IR_TYPE_OWN ? op->type : o->type == IR_TYPE_STATED ? stated_type(c, op, o->key, arg) : o->type;
    if (arg->kind == IRA_VAL) {
        IrType t = type_of(c, arg->id);
        if (want != IR_NONE ? t != want : t != IR_I32 && t != IR_I64) check_fail_operand(c, o->key, o->type == IR_PRED ? "is no pred" : "has the wrong type");
    } else if (arg->kind != IRA_IMM || o->type == IR_PRED) {
        check_fail_operand(c, o->key, o->type == IR_PRED ? "is no pred" : "is no value");
    } else if (want == IR_I32 && (arg->imm < INT32_MIN || arg->imm > INT32_MAX)) {
        check_fail_operand(c, o->key, "does not fit i32");
    } else if (want == IR_PRED && (arg->imm & ~INT64_C(1))) {
        check_fail_operand(c, o->key, "is no truth value");
    }
}

static void count_objects(Checker *c)
{
    const IrKernel *k = c->k;
    for (int i = 0; i < IRA_TURN; i++) c->count[i] = UINT32_MAX;
    c->count[IRA_MAP] = k->mf.maps.n;
    c->count[IRA_BUF] = k->bufs.n;
    c->count[IRA_BAR] = k->bars.n;
    c->count[IRA_TENSOR] = k->mf.tensors.n;
    c->count[IRA_POL] = k->pols.n;
    c->count[IRA_VAR] = k->vars.n;
    c->count[IRA_LX] = k->mf.lx.nodes.n;
    c->count[IRA_PLAN] = k->plans.n;
    c->count[IRA_RING] = k->rings.n;
}

/* Returns how many it is: with its parts. */
static uint32_t check_object(Checker *c, const IrOp *op, const IrOperand *o, const IrArg *arg)
{
    uint32_t id = arg->id - (o->arg == IRA_LX), words; /* launch expressions count from 1 */
    if (arg->kind != o->arg || id >= c->count[o->arg]) {
        check_fail_operand(c, o->key, o->arg == IRA_IMM ? "is no number" : o->arg == IRA_WORD ? "is no word of its list" : "is not what it must be");
        return 1;
    }
    switch ((IrArgKind)o->arg) {
    case IRA_BUF: return 1 + check_parts(c, op, arg, c->k->bufs.v[id].slots, c->k->bufs.v[id].bytes);
    case IRA_BAR: return 1 + check_parts(c, op, arg, c->k->bars.v[id].slots, 0);
    case IRA_WORD:
        ir_words(o->key, &words);
        if (id >= words) check_fail_operand(c, o->key, "is no word of its list");
        return 1;
    case IRA_VAR:
        if (op->op != IR_VAR && c->closed.v[c->declared[id]]) check_fail(c, "the variable is not in scope");
        if (op->op == IR_GET && op->type != c->k->vars.v[id].type) check_fail(c, "the variable has another type");
        return 1;
    default: return 1;
    }
}

/* They stand in the order of the op's row. Returns the keys of those that are there. */
static uint64_t check_operands(Checker *c, const IrOp *op)
{
    const IrSignature *sig = ir_signature(op->op);
    const IrArg *at = op->args, *end = op->nargs ? at + op->nargs : at;
    uint64_t has = IR_OP_KEYS[op->op];
    for (const IrOperand *o = sig->v; o < sig->v + sig->n && c->error == NULL; o++) {
        if (at == end || at->key != o->key) {
            if (!o->optional && !o->list) check_fail_operand(c, o->key, "is missing");
            has &= ~IR_KEY(o->key);
            continue;
        }
        do {
            if (o->arg == IRA_VAL) check_value(c, op, o, at++);
            else at += check_object(c, op, o, at);
        } while (o->list && at < end && at->key == o->key);
    }
    if (at < end) check_fail(c, "operands that the op does not have");
    return has;
}

/* ---- ops ---- */

static void check_guard(Checker *c, const IrOp *op)
{
    if (op->guard.when == IRW_NEVER) check_fail(c, "an op that never happens");
    else if (type_of(c, op->guard.pred) != IR_PRED) check_fail(c, "the guard is no pred");
    else if (ir_op_info(op->op)->group == IRG_CONTROL || (op->dst && op->op != IR_LOADS && op->op != IR_TICKET)) check_fail(c, "an op that can't have a guard");
}

static void check_result(Checker *c, const IrOp *op)
{
    uint8_t result = ir_op_info(op->op)->result;
    if ((result == IR_NONE) != (op->dst == 0)) check_fail(c, op->dst ? "defines a value" : "defines no value");
    if (op->dst == 0) return;
    bool one = result == IR_RESULT_ANY ? op->type >= IR_I32 && op->type <= IR_PRED : result == IR_RESULT_NUM ? op->type == IR_I32 || op->type == IR_I64 : op->type == result;
    if (!one || op->dst > c->k->value_types.n || op->type != c->k->value_types.v[op->dst - 1]) check_fail(c, "the result has another type");
}

static void define(Checker *c, uint32_t *block, const char *twice)
{
    if (*block) check_fail(c, twice);
    *block = c->inner;
}

static void begin_block(Checker *c)
{
    c->inner = c->closed.n;
    vec_push(c->arena, &c->closed, false);
}

static void open_block(Checker *c, const IrOp *op)
{
    if (c->depth == IR_DEPTH_MAX) {
        check_fail(c, "blocks nested too deeply");
        return;
    }
    c->open[op->op]++;
    c->blocks[c->depth].op = op->op;
    c->blocks[c->depth++].outer = c->inner;
    begin_block(c);
}

static void close_block(Checker *c, const IrOp *op)
{
    if (c->depth == 0 || (op->op == IR_ELSE && c->blocks[c->depth - 1].op != IR_IF)) {
        check_fail(c, "no block is open that this belongs to");
        return;
    }
    c->closed.v[c->inner] = true;
    c->inner = c->blocks[--c->depth].outer;
    c->open[c->blocks[c->depth].op]--;
}

static void check_tree_op(Checker *c, const IrOp *op, uint64_t has)
{
    if (op->agent > c->k->roles.n) {
        check_fail(c, "an agent that is not there");
        return;
    }
    check_at(c, op);
    if (op->agent == 0 && has & (IR_KEY(IRK_RING) | IR_KEY(IRK_BAR))) check_fail(c, "what is done to rings and barriers some agent does");
    else if (op->op == IR_RELEASE && c->k->rings.v[ir_find(op, IRK_RING)->id].free == IR_NO_BAR) check_fail(c, "nobody waits until this ring is free");
    if (op->op != IR_AWAIT) return;
    const IrArg *bar = ir_find(op, IRK_BAR), *slot = ir_part(op, bar, IRK_SLOT);
    if (c->k->bars.v[bar->id].ring == 0 || slot == NULL || slot->kind != IRA_TURN) check_fail(c, "awaits what is no event of a ring");
}

static void check_op(Checker *c, const IrOp *op)
{
    if (op->op >= IR_OP_COUNT) {
        check_fail(c, "no such op");
        return;
    }
    if (op->op == IR_ELSE || op->op == IR_END) close_block(c, op);
    uint64_t has = check_operands(c, op);
    if (op->guard.when != IRW_ALWAYS) check_guard(c, op);
    check_result(c, op);
    if (c->error) return;
    if (c->tree) check_tree_op(c, op, has);
    else if (ir_op_info(op->op)->group == IRG_RING) check_fail(c, "rings are of trees");
    if (check_has_rules(c, op) && c->error == NULL) check_rules(c, op, has);
    if (ir_opens_block(op->op)) open_block(c, op);
    if (c->error) return;
    if (op->op == IR_VAR) {
        uint32_t var = ir_find(op, IRK_VAR)->id;
        define(c, &c->declared[var], "the variable is declared twice");
        c->depth_of[var] = c->depth;
    }
    if (op->dst) define(c, &c->defined[op->dst - 1], "the value is defined twice");
    if (op->elect ? op->dst || op->op == IR_VAR || op->op == IR_SET : c->tree && op->agent && op->op == IR_VAR) c->any_of_one = true;
}

static void count_inits(Checker *c)
{
    size_t slots = 0;
    for (uint32_t b = 0; b < c->k->bars.n; b++) slots += c->k->bars.v[b].slots;
    bool *at = arena_array(c->arena, bool, slots);
    c->inits = arena_array(c->arena, bool *, c->k->bars.n);
    for (uint32_t b = 0; b < c->k->bars.n; at += c->k->bars.v[b++].slots) c->inits[b] = at;
}

static void check_inits(Checker *c)
{
    for (uint32_t b = 0; b < c->k->bars.n; b++) {
        for (uint32_t i = 0; i < c->k->bars.v[b].slots && c->error == NULL; i++)
            if (!c->inits[b][i]) check_fail_kernel(c, "barrier %s[%u] has no bar.init", c->k->bars.v[b].name, i);
    }
}

/* ---- shared memory ---- */

typedef struct Place {
    uint64_t lo, hi;
    const char *name;
    uint32_t number;
} Place;
typedef VEC(Place) Places;

static void add_place(Checker *c, Places *all, const char *name, uint64_t lo, uint64_t bytes)
{
    Place p = {lo, lo + bytes, name, all->n};
    if (p.hi > c->k->mf.smem) check_fail_kernel(c, "%s lies outside the %u bytes of shared memory", name, c->k->mf.smem);
    if (bytes) vec_push(c->arena, all, p);
}

static int by_place(const void *a, const void *b)
{
    const Place *x = a, *y = b;
    return x->lo != y->lo ? (x->lo > y->lo) - (x->lo < y->lo) : (x->number > y->number) - (x->number < y->number);
}

/* Of places in order neighbours overlap if any do. */
static void check_overlaps(Checker *c, Places *all)
{
    bool in_order = true; /* as they mostly are */
    for (uint32_t i = 1; i < all->n && in_order; i++) in_order = by_place(&all->v[i - 1], &all->v[i]) < 0;
    if (!in_order) qsort(all->v, all->n, sizeof *all->v, by_place);
    for (uint32_t i = 1; i < all->n && c->error == NULL; i++) {
        const Place *p = &all->v[i - 1], *q = &all->v[i];
        bool later = p->number > q->number;
        if (q->lo < p->hi) check_fail_kernel(c, "%s and %s overlap in shared memory", later ? p->name : q->name, later ? q->name : p->name);
    }
}

static void check_layout(Checker *c)
{
    const IrKernel *k = c->k;
    Places all = {NULL, 0, 0};
    for (uint32_t i = 0; i < k->bufs.n && c->error == NULL; i++) {
        const IrBuf *b = &k->bufs.v[i];
        c->any_tensor |= b->lanes > 0;
        if (b->lanes) continue; /* tmem_check_kernel */
        if (b->slots == 0 || (b->slots > 1 && b->pitch < b->bytes) || b->align == 0 || b->offset % b->align ||
            b->pitch % b->align)
            check_fail_kernel(c, "buffer %s is misaligned or has slots that overlap", b->name);
        else if (k->mf.smem && !b->maps) add_place(c, &all, b->name, b->offset, (uint64_t)b->pitch * (b->slots - 1) + b->bytes);
    }
    for (uint32_t i = 0; i < k->bars.n && c->error == NULL; i++) {
        const IrBar *b = &k->bars.v[i];
        if (b->slots == 0 || b->slots > SLOTS_MAX || b->offset % 8)
            check_fail_kernel(c, "barrier %s is misaligned or has too few or too many slots", b->name);
        else if (k->mf.smem) add_place(c, &all, b->name, b->offset, (uint64_t)8 * b->slots);
    }
    if (c->error == NULL) check_overlaps(c, &all);
}

static void check_plans(Checker *c)
{
    ThrWork work;
    for (uint32_t i = 0; i < c->k->plans.n && c->error == NULL; i++)
        if (!threads_work(&c->k->plans.v[i], &work)) check_fail_kernel(c, "threads can't work by plan %u", i);
}

static void check_body(Checker *c, const IrRole *body)
{
    if (body->ops.n == 0) return;
    bool *by_init = c->created, of_init = c->any_of_one;
    c->role = c->who = body;
    c->declared = arena_array(c->arena, uint32_t, c->k->vars.n);
    begin_block(c);
    c->created = arena_array(c->arena, bool, c->k->pols.n);
    for (uint32_t i = 0; i < c->k->pols.n; i++) c->created[i] = by_init[i];
    c->depth = 0;
    memset(c->open, 0, sizeof c->open);
    for (c->at = 0; c->at < c->role->ops.n && c->error == NULL; c->at++) check_op(c, &c->role->ops.v[c->at]);
    if (c->error == NULL && c->any_of_one) check_owners(c);
    if (c->depth && c->error == NULL) {
        c->at = c->role->ops.n - 1;
        check_fail(c, "a block is not closed");
    }
    if (body == &c->k->init) return; /* what init defines outside of its blocks the other bodies see */
    c->closed.v[c->inner] = true;
    c->created = by_init;
    c->any_of_one = of_init;
}

static void fail_if(Checker *c, const char *wrong)
{
    if (wrong) check_fail_kernel(c, "%s", wrong);
}

static void check_bodies(Checker *c, bool roles)
{
    const IrKernel *k = c->k;
    check_body(c, &k->init);
    c->tree = true;
    if (k->tree.ops.n && c->error == NULL) check_body(c, &k->tree);
    c->tree = false;
    if (!roles && k->tree.ops.n && !c->own && !c->any_maps && (c->waited || !k->mf.dependent)) c->body = k->roles.n + 1;
    else c->body = 1;
    for (; c->body < ir_bodies(k) && c->error == NULL; c->body++) check_body(c, ir_body(k, c->body));
}

static const char *check(Arena *a, const IrKernel *k, bool roles)
{
    Checker *c = arena_new(a, Checker);
    c->arena = a;
    c->k = k;
    c->defined = arena_array(a, uint32_t, k->value_types.n);
    vec_push(a, &c->closed, true);
    c->created = arena_array(a, bool, k->pols.n);
    c->depth_of = arena_array(a, uint32_t, k->vars.n);
    if (k->value_names.n != k->value_types.n) return "values and their names differ in number";
    count_objects(c);
    check_layout(c);
    check_plans(c);
    if (c->error == NULL) count_inits(c);
    if (c->error == NULL) check_kernel_rules(c);
    if (c->error == NULL) fail_if(c, tmem_check_objects(a, k));
    if (c->error == NULL) check_map_buffers(c);
    if (c->error == NULL) check_bodies(c, roles);
    if (c->error == NULL) check_inits(c);
    bool roleless = k->tree.ops.n != 0; /* a tree, of which no role is made yet: the wait may come to stand in one */
    for (uint32_t i = 0; i < k->roles.n; i++) roleless &= k->roles.v[i].ops.n == 0;
    if (c->error == NULL && k->mf.dependent && !c->waited && !roleless) check_fail_kernel(c, "it is dependent, and has no dep.wait");
    if (c->error == NULL) fail_if(c, tmem_check_kernel(a, k));
    return c->error;
}

const char *ir_check(Arena *a, const IrKernel *k)
{
    return check(a, k, true);
}

const char *ir_check_tree(Arena *a, const IrKernel *k)
{
    return check(a, k, false);
}
