/* By how much each value is another one is followed through the code that an agent can still reach. Slots, parities, conditions, CTAs, places
 * and bytes may not be others; where the two sides of a comparison move by different numbers it may come out one way alone in all that
 * follows, and the way to which they move. Of named numbers all names of a kind move alike, so that equal ones stay equal. */
#include "tests/states/moves.h"
#include "lang/checked.h"

#define NONE INT64_MIN  /* it has none yet */
#define OTHER INT64_MAX /* it moves, not by a number */

typedef struct Keys { /* of a class: by how much its names move */
    uint32_t n;
    Delta d[KEYS];
} Keys;
typedef struct Leaf { /* of a value that an agent has: where its numbers are among the cells */
    Val v;
    uint32_t at;
} Leaf;
typedef struct Moves {
    Checker *c;
    Cover *cover;
    const Delta *d; /* by cell */
    Keys keys[CLASSES];
    uint32_t agent, first; /* first: op that it may come to */
    const Code *code;
    Leaf *have; /* by slot */
    Delta *val; /* by slot, */
    Delta *var;
    bool wrong;
    const char *why;
} Moves;

static bool fails(Moves *m, const char *why)
{
    if (!m->wrong) m->why = why;
    m->wrong = true;
    return false;
}

/* ---- names ---- */

static void named(Moves *m, uint32_t class, const Delta *d, uint32_t n)
{
    Keys *k = &m->keys[class];
    bool same = k->n == 0 || k->n == n;
    for (uint32_t i = 0; i < n && same && k->n; i++) same = k->d[i] == d[i];
    for (uint32_t i = 0; i < n && k->n == 0; i++) k->d[i] = d[i];
    if (k->n == 0) k->n = n;
    if (same) return;
    if (m->c->used[class]) fails(m, "names of a kind that move by different numbers");
    else vec_push(m->c->arena, &m->cover->classes, class);
}

static uint32_t class_by(Moves *m, int64_t x, int64_t y, int64_t z, int64_t of, uint32_t n)
{
    int64_t what[] = {x, y, z, of};
    return class_of(m->c, what, n * sizeof *what);
}

/* ---- values that are named ---- */

typedef struct Parts { /* of an op, static or of a value: how its operands move */
    uint8_t op, rel;
    bool wraps;
    uint32_t of;
    int64_t imm; /* of b, if b_is */
    bool b_is;
    Delta a, b, c;
} Parts;

static int64_t divisor(const Parts *p)
{
    return p->b_is ? divisor_of(p->op, p->rel, p->imm) : 0;
}

static bool scaled(Delta d, int64_t k, Delta *out)
{
    return mul_s64(d, k, out) && *out != NONE && *out != OTHER;
}

/* Where a value is named rather than worked out. class_imm: of its class. */
static Delta soft_parts(Moves *m, const Parts *p, int64_t class_imm)
{
    Delta keys[3] = {p->a, p->b, p->c}, out = 0;
    uint32_t class = class_by(m, p->op, p->rel, class_imm, p->of, 4);
    if (m->wrong) return 0;
    if (p->wraps && (p->a || p->b || p->c)) { /* where it fits it is no name, and moves */
        uint32_t whole = class_of_exact(m->c, p->op, p->rel, class_imm, p->of);
        if (m->c->used[whole]) fails(m, "a number that wraps");
        vec_push(m->c->arena, &m->cover->classes, whole);
    }
    if (!p->wraps && (p->op == IR_ADD || p->op == IR_SUB)) return p->a + (p->op == IR_ADD ? p->b : -p->b);
    if (p->op == IR_CVT && !p->wraps) return p->a;
    if (!p->wraps && p->b_is && (p->op == IR_MUL || p->op == IR_SHL) && scaled(p->a, p->op == IR_MUL ? p->imm : INT64_C(1) << (p->imm & 62), &out)) return out;
    if (p->op == IR_NOT) return -p->a;
    if ((p->op == IR_AND || p->op == IR_OR) && p->rel) class = class_by(m, -4, 0, 0, 0, 1);
    int64_t by = class_imm == NO_LO && (p->op == IR_DIV || p->op == IR_MOD) ? 0 : divisor(p);
    if (by) {
        bool rest = p->op == IR_MOD || p->op == IR_AND;
        if (p->a % by) fails(m, "a quotient that moves");
        if (p->a && !rest) { /* where it is worked out */
            if (m->c->used[class]) fails(m, "a quotient that moves");
            vec_push(m->c->arena, &m->cover->classes, class);
            return p->a / by;
        }
        keys[1] = 0;
        named(m, class, keys, 2);
        return 0;
    }
    if (p->op == IR_SEL) {
        Delta k[] = {p->c, p->a, p->b};
        if (p->a || p->b) fails(m, "one of two numbers that move");
        named(m, class, k, 3);
        return 0;
    }
    bool always = p->op == IR_MIN || p->op == IR_MAX || p->op == IR_CMP || p->wraps || ((p->op == IR_DIV || p->op == IR_MOD) && class_imm == NO_LO);
    if (!always && (p->a || p->b)) fails(m, "a number that moves");
    named(m, class, keys, p->op == IR_CVT ? 1 : 2);
    return 0;
}

static bool constant(Checker *c, Val v, int64_t *k)
{
    return v && val_data(c, v)->op == IR_CONST && num_is(&c->n, val_data(c, v)->num, k);
}

/* Of a value that there is: its numbers are cells, one after the other. */
static Delta soft_val(Moves *m, Val v, uint32_t *at)
{
    Checker *c = m->c;
    if (v == 0) {
        fails(m, "a number that is not known");
        return 0;
    }
    ValData d = *val_data(c, v);
    if (d.op == IR_CONST) return m->d[(*at)++];
    Parts p = {.op = d.op, .rel = d.rel, .wraps = d.wraps, .of = d.of};
    p.a = soft_val(m, d.a, at);
    if (d.b) p.b = soft_val(m, d.b, at);
    uint32_t cond = *at;
    if (d.c) p.c = soft_val(m, d.c, at);
    for (; cond < *at; cond++)
        if (m->d[cond]) fails(m, "a condition");
    p.b_is = d.b && constant(c, d.b, &p.imm);
    if (d.op == IR_MUL && !p.b_is && constant(c, d.a, &p.imm)) {
        p.b_is = true;
        p.a = p.b;
    }
    return soft_parts(m, &p, d.imm);
}

static Delta soft(Moves *m, const IrArg *arg);
static Delta hard(const Moves *m, const IrArg *arg);

static Delta soft_op(Moves *m, const IrOp *op)
{
    Checker *c = m->c;
    const IrArg *a = ir_find(op, IRK_A), *b = ir_find(op, IRK_B), *cond = ir_find(op, IRK_COND), *rel = ir_find(op, IRK_REL);
    bool pred = op->type == IR_PRED && op->op != IR_CMP && op->op != IR_SEL;
    Parts p = {.op = op->op, .rel = (uint8_t)(rel ? rel->id : pred), .wraps = c->wraps[op->dst - 1], .of = launch_of(c, op)};
    p.a = a ? soft(m, a) : 0;
    p.b = b ? soft(m, b) : 0;
    p.c = cond ? soft(m, cond) : 0;
    if (cond && hard(m, cond) != 0) fails(m, "a condition");
    p.b_is = b && b->kind == IRA_IMM;
    p.imm = p.b_is ? b->imm : 0;
    if (op->op == IR_MUL && !p.b_is && a->kind == IRA_IMM) {
        p.b_is = true;
        p.imm = a->imm;
        p.a = p.b;
    }
    return soft_parts(m, &p, imm_of(op));
}

static Delta number(Moves *m, Delta d)
{
    if (d != NONE && d != OTHER) return d;
    fails(m, "a number that moves in another way");
    return 0;
}

static Delta soft(Moves *m, const IrArg *arg)
{
    Checker *c = m->c;
    if (arg->kind == IRA_IMM) return 0;
    uint32_t def = c->def[arg->id - 1], slot = m->code->slot[arg->id - 1];
    if (interval_is(c->range[arg->id - 1]) && !c->wraps[arg->id - 1]) return 0;
    bool here = def >= m->code->first && def < m->code->first + m->code->role->ops.n, ahead = here && def - m->code->first >= m->first && !of_launch(c->op[def]);
    bool now = slot && m->have[slot - 1].v;
    uint32_t at = now ? m->have[slot - 1].at : 0;
    if (!ahead && !now) fails(m, "a number that is not known");
    Delta it = now ? soft_val(m, m->have[slot - 1].v, &at) : 0;
    if (!ahead) return it;
    const IrOp *op = c->op[def];
    if (op->op == IR_CONST) return 0;
    if (op->op == IR_LOOP || op->op == IR_LANES || op->op == IR_GET || op->op == IR_LOADS || op->op == IR_LDS || op->op == IR_CLC_ID || op->op == IR_TICKET)
        return number(m, m->val[slot - 1]);
    Delta next = soft_op(m, op);
    if (now && next != it) fails(m, "a number that moves otherwise in this turn");
    return next;
}

/* ---- values that are worked out ---- */

static void oblige(Moves *m, uint32_t op, Delta by)
{
    uint32_t site = site_of(m->c, m->agent, op);
    for (uint32_t i = 0; i < m->cover->sites.n; i++) {
        Oblige *o = &m->cover->sites.v[i];
        if (o->site != site) continue;
        if (o->side != (by > 0 ? LESS : NOT_LESS)) o->side = 0;
        return;
    }
    vec_push(m->c->arena, &m->cover->sites, ((Oblige){site, by > 0 ? LESS : NOT_LESS}));
}

/* Nothing is decided by it, whichever way. */
static void undecided(Moves *m, uint32_t op)
{
    oblige(m, op, 1);
    oblige(m, op, -1);
}

static Delta hard(const Moves *m, const IrArg *arg)
{
    if (arg->kind == IRA_IMM) return 0;
    uint32_t slot = m->code->slot[arg->id - 1];
    return slot ? m->val[slot - 1] : NONE;
}

static Delta hard_op(Moves *m, uint32_t at)
{
    Checker *c = m->c;
    const IrOp *op = &m->code->role->ops.v[at];
    const IrArg *x = ir_find(op, IRK_A), *y = ir_find(op, IRK_B), *cond = ir_find(op, IRK_COND);
    uint32_t slot = m->code->slot[op->dst - 1];
    Delta out;
    switch ((IrOpcode)op->op) {
    case IR_CONST:
    case IR_LOADS:
    case IR_LDS:
    case IR_CLC_ID:
    case IR_TICKET:
    case IR_GADDR:
    case IR_ZADDR:
    case IR_TC_DESC:
    case IR_LANES: return 0;
    case IR_SREG:
    case IR_PARAM: return m->val[slot - 1];
    case IR_GET: return m->var[ir_find(op, IRK_VAR)->id];
    case IR_LOOP: return hard(m, x);
    default: break;
    }
    if (interval_is(c->range[op->dst - 1]) && !c->wraps[op->dst - 1]) return 0;
    Delta a = x ? hard(m, x) : 0, b = y ? hard(m, y) : 0, z = cond ? hard(m, cond) : 0;
    if (a == NONE || b == NONE || z == NONE) return m->val[slot - 1];
    if (op->op == IR_CMP && (a == OTHER || b == OTHER)) {
        undecided(m, m->code->first + at);
        return 0;
    }
    if (a == OTHER || b == OTHER || z == OTHER) return OTHER;
    Parts p = {.op = op->op, .rel = op->type == IR_PRED, .a = a, .b = b, .b_is = y && y->kind == IRA_IMM, .imm = y ? y->imm : 0};
    bool wraps = c->wraps[op->dst - 1];
    if (op->op == IR_CMP) {
        if (a != b) oblige(m, m->code->first + at, b - a);
        return 0;
    }
    if (op->op == IR_MIN || op->op == IR_MAX) {
        if (a == b) return a;
        oblige(m, m->code->first + at, b - a);
        return (b > a) == (op->op == IR_MIN) ? a : b;
    }
    if (op->op == IR_CVT) return a; /* of what wraps: its last bits */
    if (op->op == IR_ADD) return a + b;
    if (op->op == IR_SUB) return a - b;
    if (op->op == IR_MUL && p.b_is && scaled(a, p.imm, &out)) return out;
    if (op->op == IR_MUL && x->kind == IRA_IMM && scaled(b, x->imm, &out)) return out;
    if (op->op == IR_SHL && p.b_is && p.imm < 62 && scaled(a, INT64_C(1) << p.imm, &out)) return out;
    int64_t by = wraps ? 0 : divisor(&p);
    if (by && a % by == 0) return op->op == IR_DIV || op->op == IR_SHR ? a / by : 0;
    if (op->op == IR_SEL) return z == 0 && a == b ? a : OTHER;
    bool bits = op->type != IR_PRED && (op->op == IR_AND || op->op == IR_OR || op->op == IR_XOR) && p.b_is && p.imm >= 0 && p.imm < INT64_C(1) << 32;
    for (by = 1; bits && by <= p.imm;) by *= 2;
    if (bits && a % by == 0) return op->op == IR_AND ? 0 : a; /* bits above those of the number move */
    return a == 0 && b == 0 ? 0 : OTHER;
}

/* What wraps is not its exact number, which moves so: only the last bits of that may be asked for. */
static bool exact_here(const Moves *m, const IrOp *op, const IrArg *arg)
{
    const Checker *c = m->c;
    if (arg->kind != IRA_VAL || !c->wraps[arg->id - 1] || hard(m, arg) == 0) return true;
    const IrArg *b = ir_find(op, IRK_B);
    bool sum = c->wraps[op->dst ? op->dst - 1 : 0] && op->dst && (op->op == IR_ADD || op->op == IR_SUB || op->op == IR_MUL || op->op == IR_SHL || op->op == IR_CVT);
    bool low = (op->op == IR_MOD || op->op == IR_AND) && b && b->kind == IRA_IMM && b->imm > 0 &&
               (op->op == IR_AND ? b->imm < INT64_C(1) << 32 : power_of_two(b->imm) && b->imm <= INT64_C(1) << 31);
    return sum || low;
}

static bool put(Delta *to, Delta d)
{
    Delta was = *to;
    if (d == NONE || was == d || was == OTHER) return false;
    *to = was == NONE ? d : OTHER;
    return true;
}

static void follow(Moves *m)
{
    const IrRole *r = m->code->role;
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = m->first; i < r->ops.n; i++) {
            const IrOp *op = &r->ops.v[i];
            if (op->op == IR_SET || op->op == IR_VAR) {
                uint32_t var = ir_find(op, IRK_VAR)->id;
                if (m->c->needed_var[var]) more |= put(&m->var[var], hard(m, ir_find(op, IRK_A)));
            } else if (op->dst && m->code->slot[op->dst - 1]) {
                more |= put(&m->val[m->code->slot[op->dst - 1] - 1], hard_op(m, i));
            }
        }
    }
}

/* ---- what may not move ---- */

static void stays(Moves *m, const IrArg *arg, const char *what)
{
    Delta d = arg && arg->kind == IRA_VAL ? hard(m, arg) : 0;
    if (d != 0 && d != NONE) fails(m, what);
}

static void guard_stays(Moves *m, const IrArg *pred, bool softly)
{
    stays(m, pred, "a condition");
    if (softly && !m->wrong && soft(m, pred) != 0) fails(m, "a condition");
}

/* Of a copy (copies.c). */
static void copy_guard_stays(Moves *m, const IrOp *op, const IrArg *pred)
{
    const IrOp *def = m->c->op[m->c->def[pred->id - 1]];
    const IrArg *a = ir_find(def, IRK_A), *b = ir_find(def, IRK_B);
    if (asks_bytes(op, def)) return;
    if (!some_bytes(m->c->op, m->c->def, op, pred->id)) {
        guard_stays(m, pred, true);
        return;
    }
    bool both = def->op == IR_AND && a->kind == IRA_VAL && b->kind == IRA_VAL && def->guard.when == IRW_ALWAYS && hard(m, a) != NONE && hard(m, b) != NONE;
    if (both) {
        copy_guard_stays(m, op, a);
        copy_guard_stays(m, op, b);
    } else {
        guard_stays(m, pred, true);
    }
}

static void loop_stays(Moves *m, uint32_t i)
{
    const IrRole *r = m->code->role;
    const IrOp *op = &r->ops.v[i];
    const IrArg *lo = ir_find(op, IRK_A), *hi = ir_find(op, IRK_B);
    Delta keys[KEYS];
    uint32_t n = 1, around[16], depth = 0;
    for (uint32_t at = m->code->around[i]; at; at = m->code->around[at - 1])
        if ((r->ops.v[at - 1].op == IR_LOOP || r->ops.v[at - 1].op == IR_REPEAT) && depth < 16) around[depth++] = at - 1;
    if (depth == 0 || hi->kind == IRA_IMM || !m->code->steps[i]) {
        Delta a = hard(m, lo), b = hard(m, hi);
        if (a != b || a == OTHER) fails(m, "a later loop");
        return;
    }
    keys[0] = soft(m, hi) - number(m, hard(m, lo));
    for (uint32_t j = depth; j-- > 0 && n < KEYS;) {
        const IrOp *o = &r->ops.v[around[j]];
        uint32_t slot = o->dst ? m->code->slot[o->dst - 1] : 0;
        Delta d = o->op == IR_REPEAT ? 0 : slot ? m->val[slot - 1] : hard(m, ir_find(o, IRK_A));
        keys[n++] = number(m, d);
    }
    if (!m->wrong) named(m, class_by(m, -5, 0, 0, 0, 1), keys, n);
}

/* It holds in no turn. */
static bool is_never(const Moves *m, uint32_t pred)
{
    const Checker *c = m->c;
    uint32_t def = c->def[pred - 1], slot = m->code->slot[pred - 1];
    bool ahead = def >= m->code->first + m->first && def < m->code->first + m->code->role->ops.n;
    if (!ahead) return slot && val_is_false(m->c, m->have[slot - 1].v);
    const IrOp *op = c->op[def];
    const IrArg *a = ir_find(op, IRK_A), *b = ir_find(op, IRK_B);
    return op->op == IR_AND && ((a->kind == IRA_VAL && is_never(m, a->id)) || (b->kind == IRA_VAL && is_never(m, b->id)));
}

static void op_stays(Moves *m, uint32_t i)
{
    const IrOp *op = &m->code->role->ops.v[i];
    if (op->guard.when == IRW_IF && is_never(m, op->guard.pred)) return;
    IrGroup group = (IrGroup)ir_op_info(op->op)->group;
    bool copies = group == IRG_COPY || group == IRG_THREAD;
    bool sets = op->op == IR_SET || op->op == IR_VAR;
    if (group == IRG_SCALAR && !(sets ? m->c->needed_var[ir_find(op, IRK_VAR)->id] : op->dst && m->c->needed[op->dst - 1])) return;
    const IrArg guard = {.kind = IRA_VAL, .id = op->guard.pred};
    if (op->guard.when == IRW_IF && group == IRG_COPY) copy_guard_stays(m, op, &guard);
    else if (op->guard.when == IRW_IF) guard_stays(m, &guard, copies || (group == IRG_SCALAR && !sets));
    if (op->op == IR_LOOP) loop_stays(m, i);
    if (op->op == IR_IF || op->op == IR_BREAK) guard_stays(m, ir_find(op, IRK_COND), op->op == IR_IF && !m->code->steps[i]);
    if (op->op == IR_LOADS && !m->c->k->mf.tensors.v[ir_find(op, IRK_TENSOR)->id].written) {
        Delta d = soft(m, ir_find(op, IRK_BYTE));
        if (!m->wrong) named(m, class_by(m, -1, ir_find(op, IRK_TENSOR)->id, 0, 0, 2), &d, 1);
    }
    for (uint32_t j = 0; j < op->nargs && !m->wrong; j++) {
        const IrArg *arg = &op->args[j];
        if (arg->kind != IRA_VAL) continue;
        if ((group == IRG_SCALAR || op->op == IR_LOOP) && !exact_here(m, op, arg)) fails(m, "a number that wraps");
        switch ((IrKey)arg->key) {
        case IRK_SLOT: stays(m, arg, "a slot"); break;
        case IRK_RANK:
        case IRK_MASK:
        case IRK_BAR_RANK: stays(m, arg, "a CTA"); break;
        case IRK_PHASE: stays(m, arg, "a parity"); break;
        case IRK_OFFSET:
            if (soft(m, arg) != 0) fails(m, "a place");
            break;
        case IRK_BYTES:
        case IRK_ALONG:
        case IRK_INFO:
            if (soft(m, arg) != 0) fails(m, "bytes");
            break;
        case IRK_A:
            if (op->op == IR_STS || op->op == IR_ST_ASYNC) stays(m, arg, "what others read");
            break;
        default: break;
        }
    }
}

/* ---- a state and one before ---- */

static uint32_t leaves(Checker *c, Val v)
{
    if (v == 0) return 0;
    ValData d = *val_data(c, v);
    return d.op == IR_CONST ? 1 : leaves(c, d.a) + leaves(c, d.b) + leaves(c, d.c);
}

static Delta hard_val(Moves *m, Val v, uint32_t at)
{
    if (v == 0) return NONE;
    if (val_data(m->c, v)->op == IR_CONST) return m->d[at];
    for (uint32_t n = leaves(m->c, v); n-- > 0; at++)
        if (m->d[at]) return OTHER;
    return 0;
}

static void agent_moves(Moves *m, uint32_t a, uint32_t *at)
{
    Checker *c = m->c;
    const State *s = c->st;
    const Agent *x = &s->agents[a];
    m->agent = a;
    m->code = &c->code.v[x->body];
    m->first = x->depth ? s->frames[x->frames].op + 1 : x->pc;
    m->have = arena_array(&c->st->arena, Leaf, m->code->nvalues + 1);
    m->val = arena_array(&c->st->arena, Delta, m->code->nvalues + 1);
    m->var = arena_array(&c->st->arena, Delta, c->k->vars.n + 1);
    for (uint32_t i = 0; i < x->depth; i++) {
        const Frame *f = &s->frames[x->frames + i];
        Delta from = m->d[(*at)++], to = f->end ? m->d[(*at)++] : from;
        if (from != to) oblige(m, m->code->first + f->op, to - from);
    }
    for (uint32_t i = 0; i < m->code->nvalues; i++) {
        m->have[i] = (Leaf){s->env[x->env + i], *at};
        m->val[i] = hard_val(m, m->have[i].v, *at);
        *at += leaves(c, m->have[i].v);
    }
    for (uint32_t i = 0; i < c->k->vars.n; i++) {
        Val v = s->vars[x->vars + i];
        m->var[i] = hard_val(m, v, *at);
        *at += leaves(c, v);
    }
    if (x->done) return;
    for (uint32_t i = 0; i < x->depth; i++) { /* the index, also where it is not asked for again in this turn */
        const IrOp *op = &m->code->role->ops.v[s->frames[x->frames + i].op];
        uint32_t slot = op->dst ? m->code->slot[op->dst - 1] : 0;
        if (slot && m->val[slot - 1] == NONE) m->val[slot - 1] = OTHER;
    }
    follow(m);
    for (uint32_t i = m->first; i < m->code->role->ops.n && !m->wrong; i++) op_stays(m, i);
}

static void zero(Moves *m, uint32_t n, uint32_t *at, const char *why)
{
    while (n-- > 0)
        if (m->d[(*at)++]) fails(m, why);
}

static void rest_stays(Moves *m, uint32_t at)
{
    Checker *c = m->c;
    const State *s = c->st;
    for (uint32_t i = 0; i < c->nbars; i++) zero(m, s->bars[i].tx != 0, &at, "bytes of a barrier");
    for (uint32_t i = 0; i < s->items.n; i++) zero(m, 0u + (s->items.v[i].lo != 0) + (s->items.v[i].hi != 0) + (s->items.v[i].only != 0), &at, "a place that was touched");
    for (uint32_t i = 0; i < s->named.n; i++) {
        const Named *x = &s->named.v[i];
        Delta keys[KEYS] = {0};
        for (uint32_t j = 0; j < x->nkey; j++) keys[j] = x->key[j] ? m->d[at++] : 0;
        named(m, x->class, keys, x->nkey);
        zero(m, 1, &at, "a number that has a name");
    }
    for (uint32_t i = 0; i < s->written.n; i++) zero(m, 2u + (s->written.v[i].only != 0), &at, "a place that was written");
    for (uint32_t i = 0; i < s->cells.n; i++) zero(m, leaves(c, s->cells.v[i].val), &at, "what others read");
}

bool moves_fit(Checker *c, Cover *cover, const Delta *d)
{
    Moves *m = arena_new(&c->st->arena, Moves);
    *m = (Moves){.c = c, .cover = cover, .d = d};
    uint32_t at = 0;
    for (uint32_t a = 0; a < c->nagents && !m->wrong; a++) agent_moves(m, a, &at);
    if (!m->wrong) rest_stays(m, at);
    if (m->wrong) c->why = m->why;
    return !m->wrong;
}
