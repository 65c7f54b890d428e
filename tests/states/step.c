/* An op of an agent. */
#include <stdarg.h>

#include "tests/states/checker.h"

/* ---- ways out ---- */

void stop_at(Checker *c, int why)
{
    c->stop = why;
    longjmp(c->out, 1);
}

void refuse(Checker *c, ErrorCode code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    c->why = arena_vprintf(c->arena, fmt, ap);
    va_end(ap);
    c->error = code;
    c->why_op = c->st ? code_of(c)->first + c->pc : c->nops;
    stop_at(c, STOP_REFUSED);
}

void lost(Checker *c, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    c->why = arena_vprintf(c->arena, fmt, ap);
    va_end(ap);
    c->why_op = c->st ? code_of(c)->first + c->pc : c->nops;
    stop_at(c, STOP_LOST);
}

/* ---- conditions ---- */

static Val guard_val(Checker *c, const IrOp *op)
{
    return val_of_arg(c, &(IrArg){.kind = IRA_VAL, .id = op->guard.pred});
}

Num both_of(Checker *c, Num x, Num y)
{
    int64_t what = -4;
    Num no = num_k(c, 0), yes = num_k(c, 1);
    if (x == 0 || x == yes) return y;
    if (y == 0 || y == yes) return x;
    if (x == no || y == no) return no;
    Num key[] = {x, y}, both = name_number(c, class_of(c, &what, sizeof what), key, 2, (Interval){0, 1});
    for (int i = 0; i < 2; i++) facts_add(&c->n, &c->st->arena, &c->st->facts, num_add(&c->n, key[i], -1, both));
    return both;
}

Num only_if(Checker *c, Val v)
{
    int r = val_try(c, v);
    return r < 0 ? val_soft(c, v) : num_k(c, r);
}

/* By the conditions of the blocks around it, too: what they hold may happen or not. */
Num only_now(Checker *c, const IrOp *op)
{
    const Code *b = code_of(c);
    Num only = op->guard.when == IRW_IF ? only_if(c, guard_val(c, op)) : 0;
    for (uint32_t i = b->around[c->pc]; i; i = b->around[i - 1]) {
        const IrOp *o = &b->role->ops.v[i - 1];
        if (o->op == IR_LOOP || o->op == IR_REPEAT || o->op == IR_LANES) continue;
        bool other = o->op == IR_ELSE;
        Num cond = only_if(c, val_of_arg(c, ir_find(other ? &b->role->ops.v[b->begin[i - 1]] : o, IRK_COND)));
        only = both_of(c, only, other ? num_add(&c->n, num_k(c, 1), -1, cond) : cond);
    }
    return only == num_k(c, 1) ? 0 : only;
}

/* ---- blocks ---- */

static void set_value(Checker *c, const IrOp *op, Val v)
{
    uint16_t slot = op->dst ? code_of(c)->slot[op->dst - 1] : 0;
    if (slot) c->st->env[c->place[c->agent].env + slot - 1u] = v;
}

/* How often a loop in a loop turns is told by nothing but its range: one number for all who come to it by equal numbers. */
static Num inner_turns(Checker *c, const IrOp *op, Num lo)
{
    const Agent *a = &c->st->agents[c->agent];
    const IrArg *end = ir_find(op, IRK_B), *from = ir_find(op, IRK_A);
    int64_t what = -5;
    Num key[KEYS] = {num_add(&c->n, val_soft(c, val_of_arg(c, end)), -1, lo)};
    uint32_t n = 1;
    int64_t k;
    if (num_is(&c->n, key[0], &k) && k <= 0) return num_k(c, 0);
    for (uint32_t i = 0; i < a->depth && n < KEYS; i++) key[n++] = c->st->frames[a->frames + i].at;
    Interval x = end->kind == IRA_IMM ? interval_at(end->imm) : c->range[end->id - 1], y = from->kind == IRA_IMM ? interval_at(from->imm) : c->range[from->id - 1];
    Interval r = interval_add(x, interval_neg(y));
    return name_number(c, class_of(c, &what, sizeof what), key, n, (Interval){r.lo > 0 ? r.lo : 0, r.hi > 0 ? r.hi : 0});
}

static bool never(Checker *c, uint32_t loop, uint32_t pred)
{
    const Code *b = code_of(c);
    const IrOp *op = c->op[c->def[pred - 1]];
    const IrArg *x = ir_find(op, IRK_A), *y = ir_find(op, IRK_B);
    if (c->def[pred - 1] < b->first + loop || c->def[pred - 1] >= b->first + b->role->ops.n) return val_is_false(c, guard_val(c, &(IrOp){.guard = ir_if(pred)}));
    return op->op == IR_AND && ((x->kind == IRA_VAL && never(c, loop, x->id)) || (y->kind == IRA_VAL && never(c, loop, y->id)));
}

/* By conditions that stay as they are the agent has nothing to do in the loop. */
static bool is_idle(Checker *c, uint32_t loop)
{
    const Code *b = code_of(c);
    for (uint32_t i = loop + 1; i < b->partner[loop]; i++) {
        const IrOp *op = &b->role->ops.v[i];
        IrGroup g = (IrGroup)ir_op_info(op->op)->group;
        bool acts = g == IRG_BARRIER || g == IRG_COPY || g == IRG_THREAD || op->op == IR_TICKET || op->op == IR_BREAK;
        if (op->op == IR_SET) acts = c->needed_var[ir_find(op, IRK_VAR)->id];
        if (acts && !(op->guard.when == IRW_IF && never(c, loop, op->guard.pred))) return false;
    }
    return true;
}

static bool enter_loop(Checker *c, const IrOp *op)
{
    const Code *b = code_of(c);
    Agent *a = &c->st->agents[c->agent];
    bool lanes = op->op == IR_LANES, steps = b->steps[c->pc];
    if (steps && is_idle(c, c->pc)) {
        a->pc = b->partner[c->pc] + 1;
        return true;
    }
    Num lo = num_k(c, 0), hi;
    if (lanes) {
        hi = num_k(c, ir_find(op, IRK_N)->imm);
    } else {
        const IrArg *end = ir_find(op, IRK_B);
        lo = val_force(c, val_of_arg(c, ir_find(op, IRK_A)));
        Val turns = val_of_arg(c, end);
        bool inner = a->depth && end->kind == IRA_VAL && steps && !(c->exact && turns && val_data(c, turns)->op == IR_CONST);
        hi = inner ? num_add(&c->n, lo, 1, inner_turns(c, op, lo)) : val_force(c, val_of_arg(c, end));
    }
    Num far = num_add(&c->n, hi, -1, lo);
    int64_t k;
    if (!steps && !num_is(&c->n, far, &k)) lost(c, "how often this loop over copies turns");
    bool any = ask(c, num_plus(&c->n, far, -1));
    if (!any) {
        a->pc = b->partner[c->pc] + 1;
        return steps;
    }
    c->st->frames[a->frames + a->depth++] = (Frame){c->pc, lo, hi};
    set_value(c, op, val_num(c, lo));
    a->pc = c->pc + 1;
    return false;
}

/* Whether the turn is over. */
static bool at_end(Checker *c)
{
    const Code *b = code_of(c);
    Agent *a = &c->st->agents[c->agent];
    uint32_t begin = b->begin[c->pc];
    const IrOp *op = &b->role->ops.v[begin];
    Frame *f = a->depth ? &c->st->frames[a->frames + a->depth - 1] : NULL;
    bool more = op->op == IR_REPEAT;
    if (op->op == IR_LOOP || op->op == IR_LANES) {
        Num next = num_plus(&c->n, f->at, 1);
        more = ask(c, num_plus(&c->n, num_add(&c->n, f->end, -1, next), -1));
        if (more) f->at = next;
        if (more) set_value(c, op, val_num(c, next));
    }
    a->depth -= !more && op->op != IR_IF;
    a->pc = more ? begin + 1 : c->pc + 1;
    return op->op != IR_IF && b->steps[begin];
}

static bool block_step(Checker *c, const IrOp *op)
{
    const Code *b = code_of(c);
    Agent *a = &c->st->agents[c->agent];
    switch ((IrOpcode)op->op) {
    case IR_LOOP:
    case IR_LANES: return enter_loop(c, op);
    case IR_REPEAT:
        c->st->frames[a->frames + a->depth++] = (Frame){c->pc, num_k(c, 0), 0};
        a->pc = c->pc + 1;
        return false;
    case IR_BREAK:
        if (!val_truth(c, val_of_arg(c, ir_find(op, IRK_COND)))) {
            a->pc = c->pc + 1;
            return false;
        }
        a->depth--;
        a->pc = b->partner[c->st->frames[a->frames + a->depth].op] + 1;
        return true;
    case IR_IF: {
        Val v = val_of_arg(c, ir_find(op, IRK_COND));
        int r = b->steps[c->pc] ? val_truth(c, v) : val_try(c, v);
        a->pc = r == 0 ? b->partner[c->pc] + 1 : c->pc + 1;
        return false;
    }
    case IR_ELSE: {
        int r = val_try(c, val_of_arg(c, ir_find(&b->role->ops.v[b->begin[c->pc]], IRK_COND)));
        a->pc = r == 1 ? b->partner[c->pc] + 1 : c->pc + 1;
        return false;
    }
    default: return at_end(c);
    }
}

/* ---- scalars ---- */

static void variable_step(Checker *c, const IrOp *op)
{
    const IrArg *var = ir_find(op, IRK_VAR);
    if (!c->needed_var[var->id] || (op->guard.when == IRW_IF && !val_truth(c, guard_val(c, op)))) return;
    Val v = val_of_arg(c, ir_find(op, IRK_A));
    bool pred = c->k->vars.v[var->id].type == IR_PRED;
    c->st->vars[c->place[c->agent].vars + var->id] = pred || v == 0 ? v : val_num(c, val_force(c, v));
}

static void scalar_step(Checker *c, const IrOp *op)
{
    if (op->op == IR_SET || op->op == IR_VAR) {
        variable_step(c, op);
        return;
    }
    if (op->dst == 0 || !c->needed[op->dst - 1] || of_launch(op)) return;
    Val v = val_of_op(c, code_of(c)->first + c->pc);
    if (op->guard.when == IRW_IF) /* -1 where it does not hold */
        v = val_make(c, (ValData){.op = IR_SEL, .a = v, .b = val_num(c, num_k(c, -1)), .c = guard_val(c, op), .imm = -1, .range = c->range[op->dst - 1]});
    set_value(c, op, v);
}

/* ---- threads come together ---- */

static void sync_step(Checker *c, const IrOp *op)
{
    State *s = c->st;
    bool role = op->op == IR_WARP_SYNC ? code_of(c)->role->warps == 1 : op->op == IR_CTA_SYNC && ir_find(op, IRK_THREADS)->imm == 32 * (int64_t)code_of(c)->role->warps;
    if (op->op == IR_WARP_SYNC && !role) return; /* each warp for itself */
    if (!role) lost(c, "threads of several roles come together");
    uint64_t *one = set_of(c, s, c->agent, KNOWN_ONE), *each = set_of(c, s, c->agent, KNOWN_EACH), *mine = set_of(c, s, c->agent, MINE);
    set_join(one, each, s->words);
    set_join(one, mine, s->words);
    memcpy(each, one, s->words * sizeof *one);
    memset(mine, 0, s->words * sizeof *mine);
}

/* ---- all ---- */

/* Whether it happens; what orders something happens or not in each state. */
static bool happens(Checker *c, const IrOp *op)
{
    return op->guard.when != IRW_IF || val_truth(c, guard_val(c, op));
}

bool step(Checker *c)
{
    Agent *a = &c->st->agents[c->agent];
    const Code *b = code_of(c);
    c->pc = a->pc;
    a->blocked = false;
    if (a->pc == b->role->ops.n) {
        a->done = true;
        return true;
    }
    const IrOp *op = op_now(c);
    switch ((IrGroup)ir_op_info(op->op)->group) {
    case IRG_CONTROL: return block_step(c, op);
    case IRG_SCALAR: scalar_step(c, op); break;
    case IRG_BARRIER:
        if (op->op == IR_TC_COMMIT) {
            if (happens(c, op)) step_core(c, op);
        } else if (happens(c, op) && step_bar(c, op)) {
            a->blocked = true;
            return true;
        }
        break;
    case IRG_SYNC: sync_step(c, op); break;
    case IRG_GROUP:
    case IRG_FENCE:
        if (!happens(c, op)) break;
        if (op->op == IR_TC_FENCE) step_core(c, op);
        else step_group(c, op);
        break;
    case IRG_COPY:
        if (op->op == IR_TC_CP || op->op == IR_TC_SHIFT) step_core(c, op);
        else step_copy(c, op);
        break;
    case IRG_THREAD: step_threads(c, op); break;
    default: break;
    }
    a->pc = c->pc + 1;
    return false;
}
