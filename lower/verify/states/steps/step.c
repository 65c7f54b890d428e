/* An op of an agent. */
#include <stdarg.h>

#include "lower/verify/states/say/report.h"

/* ---- ways out ---- */

void stop_at(Checker *c, int why)
{
    c->stop = why;
    if (why == STOP_FORK) {
        if (c->forks == NULL) c->forks = arena_array(c->arena, uint32_t, c->nops + 1);
        c->forks[code_of(c)->first + c->pc]++;
    }
    longjmp(c->out, 1);
}

void refuse(Checker *c, ErrorCode code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    tell(c, code, c->st ? code_of(c)->first + c->pc : c->nops, "%s", arena_vprintf(c->arena, fmt, ap));
    va_end(ap);
    refuse_told(c);
}

void lost(Checker *c, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    tell(c, E0660, c->st ? code_of(c)->first + c->pc : c->nops, "%s", arena_vprintf(c->arena, fmt, ap));
    va_end(ap);
    stop_at(c, STOP_LOST);
}

/* ---- conditions ---- */

static Val guard_val(Checker *c, const IrOp *op)
{
    return val_of_arg(c, &(IrArg){.kind = IRA_VAL, .id = op->guard.pred});
}

static Num contrary(Checker *c, Num x)
{
    return num_add(&c->n, num_k(c, 1), -1, x);
}

static bool is_contrary(Checker *c, Num x)
{
    const NumData *d = num_data(&c->n, x);
    return d->n && d->t[0].c < 0;
}

/* By those of which none is a contrary, so that what holds and what does not make one. */
Num both_of(Checker *c, Num x, Num y)
{
    int64_t what = -4;
    Num no = num_k(c, 0), yes = num_k(c, 1);
    if (x == 0 || x == yes || x == y) return y;
    if (y == 0 || y == yes) return x;
    if (x == no || y == no || x == contrary(c, y)) return no;
    if (is_contrary(c, x)) return num_add(&c->n, y, -1, both_of(c, contrary(c, x), y));
    if (is_contrary(c, y)) return num_add(&c->n, x, -1, both_of(c, x, contrary(c, y)));
    bool first = num_compare(&c->n, x, y) < 0;
    Num key[] = {first ? x : y, first ? y : x}, both = name_number(c, class_of(c, &what, sizeof what), key, 2, (Interval){0, 1});
    for (int i = 0; i < 2; i++) facts_add(&c->n, &c->st->arena, &c->st->facts, num_add(&c->n, key[i], -1, both));
    facts_add(&c->n, &c->st->arena, &c->st->facts, num_plus(&c->n, num_add(&c->n, num_add(&c->n, both, -1, x), -1, y), 1));
    return both;
}

Num only_if(Checker *c, Val v)
{
    int r = c->tells ? val_truth(c, v) : val_try(c, v);
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
    uint32_t slot = op->dst ? code_of(c)->slot[op->dst - 1] : 0;
    if (slot) c->st->env[c->place[c->agent].env + slot - 1] = v;
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
    c->any_turns = true;
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
        acts |= g == IRG_GROUP && c->st->agents[c->agent].ngroups != 0; /* it has what to wait for */
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
        bool inner = a->depth && end->kind == IRA_VAL && steps && !c->narrow && !(c->exact && turns);
        hi = inner ? num_add(&c->n, lo, 1, inner_turns(c, op, lo)) : val_force(c, val_of_arg(c, end));
    }
    Num far = num_add(&c->n, hi, -1, lo);
    bool any = ask(c, num_plus(&c->n, far, -1));
    if (!any) {
        a->pc = b->partner[c->pc] + 1;
        return steps;
    }
    int64_t k;
    if (!steps && each_begin(c, c->pc, lo, hi)) lo = c->st->each[c->st->neach - 1].at;
    else if (!steps && !num_is(&c->n, far, &k)) lost(c, "how often this loop over copies turns");
    c->st->frames[a->frames + a->depth++] = (Frame){.op = c->pc, .at = lo, .end = hi};
    c->st->turns++;
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
    if (c->st->neach && c->st->each[c->st->neach - 1].op == begin) {
        each_end(c);
    } else if (op->op == IR_LOOP || op->op == IR_LANES) {
        Num next = num_plus(&c->n, f->at, 1);
        more = ask(c, num_plus(&c->n, num_add(&c->n, f->end, -1, next), -1));
        if (more) f->at = next;
        if (more) set_value(c, op, val_num(c, next));
    }
    if (more) f->turn++, c->st->turns++;
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
        c->st->frames[a->frames + a->depth++] = (Frame){.op = c->pc, .at = num_k(c, 0)};
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

/* Where it is known; 0: all is asked. */
static Num remainder_of(Checker *c, Num x, int64_t by)
{
    Num q = by ? num_div(&c->n, x, by) : 0;
    return q ? num_add(&c->n, x, -by, q) : x;
}

static void variable_step(Checker *c, const IrOp *op)
{
    const IrArg *var = ir_find(op, IRK_VAR);
    const Code *b = code_of(c);
    if (b->var_slot[var->id] == 0 || (op->op == IR_VAR && b->var_begun[var->id]) || (op->guard.when == IRW_IF && !val_truth(c, guard_val(c, op)))) return;
    Val v = val_of_arg(c, ir_find(op, IRK_A));
    bool pred = c->k->vars.v[var->id].type == IR_PRED;
    c->st->env[c->place[c->agent].env + b->var_slot[var->id] - 1] = pred || v == 0 ? v : val_num(c, remainder_of(c, val_force(c, v), c->modulus[var->id]));
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
    uint64_t *was = arena_array(&s->arena, uint64_t, s->words);
    memcpy(was, each, s->words * sizeof *was);
    for (uint32_t i = 0; i < s->items.n; i++)
        if (s->items.v[i].core) set_drop(mine, 2 * i + 1);
    set_join(one, each, s->words);
    set_join(one, mine, s->words);
    memcpy(each, one, s->words * sizeof *one);
    for (uint32_t i = 0; i < s->items.n; i++) /* a fence of the tensor core is its thread's */
        if (s->items.v[i].core && !set_has(was, 2 * i + 1)) set_drop(each, 2 * i + 1);
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
    c->nsteps++;
    a->blocked = false;
    if (a->pc == b->role->ops.n) {
        a->done = true;
        return true;
    }
    begin_values(c);
    const IrOp *op = op_now(c);
    IrGroup group = (IrGroup)ir_op_info(op->op)->group;
    c->st->burst += group != IRG_CONTROL && group != IRG_SCALAR && group != IRG_COPY;
    switch (group) {
    case IRG_CONTROL: return block_step(c, op);
    case IRG_SCALAR: scalar_step(c, op); break;
    case IRG_BARRIER:
        if (op->op == IR_TC_COMMIT) {
            if (happens(c, op)) step_core(c, op);
        } else if (op->op != IR_BAR_INIT && happens(c, op) && step_bar(c, op)) {
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
