/* Conditions that steer what happens: guards, branches, and choices between amounts of bytes. Where trip counts decide such a
 * condition, the runs must have had it both ways: longer loops could else reach what no run has seen. A comparison that
 * came out one way only is held open in another round of runs (tries/open.c). What is joined by and, or and not is
 * taken apart: each condition in it is looked at for itself, then how they came out together; one that only data decides is
 * tried both ways in every run.
 */
#include <string.h>

#include "lang/checked.h"
#include "lower/verify/graph/tries/tries.h"
#include "lower/verify/graph/unroll/unroll.h"

static void steer_by(Verifier *v, uint32_t by, const IrArg *cond)
{
    if (cond == NULL || cond->kind != IRA_VAL) return;
    uint32_t at = v->def[cond->id - 1];
    const IrOp *op = v->ops[at];
    if (v->steers[at]) return;
    v->steers[at] = by + 1;
    bool joins = op->op == IR_AND || op->op == IR_OR || op->op == IR_NOT || op->op == IR_SEL;
    if (op->type != IR_PRED || !joins) return;
    v->joins[at] = true;
    steer_by(v, by, ir_find(op, IRK_A));
    steer_by(v, by, ir_find(op, IRK_B));
    steer_by(v, by, ir_find(op, IRK_COND));
}

/* Minima, maxima and quotients in what decides are held open as comparisons are. */
static void open_amount(Verifier *v, uint32_t at)
{
    switch ((IrOpcode)v->ops[at]->op) {
    case IR_MIN:
    case IR_MAX:
        if (compare_followed(v, at)) return;
        break;
    case IR_DIV:
    case IR_MOD:
    case IR_SHR:
    case IR_AND:
    case IR_OR:
    case IR_XOR:
        if (index_followed(v, at)) return;
        break;
    default: return;
    }
    v->open[at] = OPEN_NUMBERS;
}

static void steer_amount(Verifier *v, uint32_t by, const IrArg *amount, uint32_t *stamp)
{
    if (amount == NULL || amount->kind != IRA_VAL || stamp[amount->id - 1] == by + 1) return;
    stamp[amount->id - 1] = by + 1;
    const IrOp *op = v->ops[v->def[amount->id - 1]];
    if (!run_pure(op)) return;
    if (op->type == IR_PRED) {
        steer_by(v, by, amount);
        return;
    }
    open_amount(v, v->def[amount->id - 1]);
    steer_by(v, by, ir_find(op, IRK_COND));
    steer_amount(v, by, ir_find(op, IRK_A), stamp);
    steer_amount(v, by, ir_find(op, IRK_B), stamp);
}

/* ---- loads under a condition ---- */

typedef struct Reached { /* what an operand is made from */
    bool *value, *var;
} Reached;

static void reach(Verifier *v, uint32_t by, const IrArg *arg, Reached *r);

static void reach_variable(Verifier *v, uint32_t by, uint32_t var, Reached *r)
{
    if (r->var[var]) return;
    r->var[var] = true;
    for (uint32_t i = 0; i < v->nops; i++)
        if ((v->ops[i]->op == IR_SET || v->ops[i]->op == IR_VAR) && ir_find(v->ops[i], IRK_VAR)->id == var)
            reach(v, by, ir_find(v->ops[i], IRK_A), r);
}

/* A load that is left out gives another value than the element: where that counts, its condition steers. */
static void reach(Verifier *v, uint32_t by, const IrArg *arg, Reached *r)
{
    if (arg == NULL || arg->kind != IRA_VAL || r->value[arg->id - 1]) return;
    r->value[arg->id - 1] = true;
    const IrOp *op = v->ops[v->def[arg->id - 1]];
    if (op->op == IR_LOADS && op->guard.pred) steer_by(v, by, &(IrArg){.kind = IRA_VAL, .id = op->guard.pred});
    if (op->op == IR_GET) reach_variable(v, by, ir_find(op, IRK_VAR)->id, r);
    if (op->guard.pred) reach(v, by, &(IrArg){.kind = IRA_VAL, .id = op->guard.pred}, r);
    for (uint32_t i = 0; i < op->nargs; i++) reach(v, by, &op->args[i], r);
}

/* Coordinates and addresses only tell places of tensors: they count where copies read what others write. */
static bool counts(const Verifier *v, const IrArg *arg)
{
    return (v->loaded & v->stored) != 0 || (arg->key != IRK_COORDS && arg->key != IRK_INFO && arg->key != IRK_FROM && arg->key != IRK_TO);
}

static void reach_operands(Verifier *v, uint32_t i, Reached *r)
{
    const IrOp *op = v->ops[i];
    if (op->guard.pred && op->op != IR_LOADS) reach(v, i, &(IrArg){.kind = IRA_VAL, .id = op->guard.pred}, r);
    if (ir_op_info(op->op)->group == IRG_SCALAR) return;
    for (uint32_t j = 0; j < op->nargs; j++)
        if (counts(v, &op->args[j])) reach(v, i, &op->args[j], r);
}

void steer_prepare(Verifier *v)
{
    uint32_t *stamp = arena_array(v->arena, uint32_t, v->nvalues);
    Reached r = {arena_array(v->arena, bool, v->nvalues), arena_array(v->arena, bool, v->k->vars.n)};
    v->steers = arena_array(v->arena, uint32_t, v->nops + 1);
    v->joins = arena_array(v->arena, bool, v->nops + 1);
    v->open = arena_array(v->arena, uint8_t, v->nops + 1);
    compare_begin(v);
    for (uint32_t i = 0; i < v->nops; i++) {
        const IrOp *op = v->ops[i];
        reach_operands(v, i, &r);
        if (op->guard.pred && op->op != IR_LOADS) steer_by(v, i, &(IrArg){.kind = IRA_VAL, .id = op->guard.pred});
        if (op->op == IR_IF) steer_by(v, i, ir_find(op, IRK_COND));
        if (op->op == IR_LOOP) {
            steer_amount(v, i, ir_find(op, IRK_A), stamp);
            steer_amount(v, i, ir_find(op, IRK_B), stamp);
        }
        for (uint32_t j = 0; !run_pure(op) && j < op->nargs; j++)
            if (op->args[j].key == IRK_BYTES || op->args[j].key == IRK_OFFSET) steer_amount(v, i, &op->args[j], stamp);
    }
    for (uint32_t i = 0; i < v->nops; i++) {
        if (!v->steers[i] || v->ops[i]->op != IR_CMP) continue;
        steer_amount(v, i, ir_find(v->ops[i], IRK_A), stamp);
        steer_amount(v, i, ir_find(v->ops[i], IRK_B), stamp);
    }
    for (uint32_t i = 0; i < v->nops; i++)
        if (v->steers[i] && v->ops[i]->op == IR_CMP && !compare_followed(v, i)) v->open[i] = OPEN_NUMBERS;
    compare_fit(v);
    nests_together(v);
}

void steer_see(Verifier *v, uint32_t at, Form x, bool trip)
{
    int64_t k;
    if (form_is_const(&v->f, x, &k)) v->seen[at] |= (uint8_t)((k ? SEEN_TRUE : SEEN_FALSE) | (trip ? SEEN_TRIP : 0));
    else v->seen[at] |= SEEN_TRUE | SEEN_FALSE;
}

/* ---- what holds for every index ---- */

typedef struct Bounds {
    int64_t lo, hi;
    bool known;
} Bounds;
enum { BOUNDS_DEPTH = 24 };

static Bounds bounds_of(Verifier *v, const IrArg *arg, int depth);

static Bounds form_bounds(Verifier *v, Form x)
{
    const FormData *d = x ? form_data(&v->f, x) : NULL;
    return d ? (Bounds){d->lo, d->hi, true} : (Bounds){0}; /* no bound: that of 64 bits */
}

static Bounds bounds_of_op(Verifier *v, const IrOp *op, int depth)
{
    const IrArg *x = ir_find(op, IRK_A), *y = ir_find(op, IRK_B);
    Bounds none = {0}, a = x ? bounds_of(v, x, depth) : none, b = y ? bounds_of(v, y, depth) : none, r = {0, 0, true};
    if (op->op == IR_CVT) return a;
    if (!a.known || !b.known) return none;
    if (op->op == IR_LOOP) return (Bounds){a.lo, b.hi - 1, b.hi > a.lo};
    if (op->op == IR_ADD && add_s64(a.lo, b.lo, &r.lo) && add_s64(a.hi, b.hi, &r.hi)) return r;
    if (op->op == IR_SUB && sub_s64(a.lo, b.hi, &r.lo) && sub_s64(a.hi, b.lo, &r.hi)) return r;
    if (op->op == IR_MUL && a.lo >= 0 && b.lo >= 0 && mul_s64(a.lo, b.lo, &r.lo) && mul_s64(a.hi, b.hi, &r.hi)) return r;
    if (op->op == IR_MOD && b.lo == b.hi && b.lo > 0) return (Bounds){0, b.lo - 1, true};
    if (op->op == IR_DIV && b.lo == b.hi && b.lo > 0 && a.lo >= 0) return (Bounds){a.lo / b.lo, a.hi / b.lo, true};
    return none;
}

/* Bounds of the value in every turn of every launch. */
static Bounds bounds_of(Verifier *v, const IrArg *arg, int depth)
{
    if (arg->kind != IRA_VAL) return (Bounds){arg->imm, arg->imm, true};
    const IrOp *op = v->ops[v->def[arg->id - 1]];
    if (depth == 0) return (Bounds){0};
    if (op->op == IR_CONST || op->op == IR_PARAM) return form_bounds(v, form_of_op(&v->f, v->k, op, 0, 0, 0));
    Bounds r = bounds_of_op(v, op, depth - 1);
    if (op->type == IR_I32 && (r.lo < INT32_MIN || r.hi > INT32_MAX)) return (Bounds){0};
    return r;
}

bool steer_not_negative(Verifier *v, const IrArg *arg)
{
    Bounds b = bounds_of(v, arg, BOUNDS_DEPTH);
    return b.known && b.lo >= 0;
}

/* The comparison came out as it always does. */
static bool always(Verifier *v, const IrOp *op)
{
    if (op->op != IR_CMP) return false;
    Bounds a = bounds_of(v, ir_find(op, IRK_A), BOUNDS_DEPTH), b = bounds_of(v, ir_find(op, IRK_B), BOUNDS_DEPTH);
    if (!a.known || !b.known) return false;
    switch ((IrRel)ir_find(op, IRK_REL)->id) {
    case IRL_LT:
    case IRL_GE: return a.hi < b.lo || a.lo >= b.hi;
    case IRL_LE:
    case IRL_GT: return a.hi <= b.lo || a.lo > b.hi;
    default: return a.hi < b.lo || a.lo > b.hi;
    }
}

/* It comes out this way in all turns of every launch. */
static bool settled(Verifier *v, const IrArg *arg, bool way, int depth)
{
    if (arg == NULL || arg->kind != IRA_VAL || depth == 0) return false;
    uint32_t i = v->def[arg->id - 1];
    const IrOp *op = v->ops[i];
    const IrArg *a = ir_find(op, IRK_A), *b = ir_find(op, IRK_B);
    uint8_t seen = v->seen[i] & (SEEN_TRUE | SEEN_FALSE);
    if (seen != (way ? SEEN_TRUE : SEEN_FALSE)) return false;
    if (!(v->seen[i] & SEEN_TRIP) || always(v, op)) return true;
    if (!v->joins[i] || op->op == IR_SEL) return false;
    if (op->op == IR_NOT) return settled(v, a, !way, depth - 1);
    bool both = way == (op->op == IR_AND), x = settled(v, a, way, depth - 1);
    return both ? x && settled(v, b, way, depth - 1) : x || settled(v, b, way, depth - 1);
}

static bool one_way(Verifier *v, uint32_t i);

static bool part_one_way(Verifier *v, const IrArg *arg, int depth)
{
    if (arg == NULL || arg->kind != IRA_VAL || depth == 0) return false;
    uint32_t i = v->def[arg->id - 1];
    if (!v->joins[i]) return one_way(v, i);
    const IrOp *op = v->ops[i];
    return part_one_way(v, ir_find(op, IRK_A), depth - 1) || part_one_way(v, ir_find(op, IRK_B), depth - 1) ||
           part_one_way(v, ir_find(op, IRK_COND), depth - 1);
}

/* Made from the index of one loop (its value; 0: none yet), constants, the CTA and the launch. */
static bool one_index(const Verifier *v, const IrArg *arg, uint32_t *loop, int depth)
{
    if (arg == NULL || arg->kind != IRA_VAL) return true;
    const IrOp *op = v->ops[v->def[arg->id - 1]];
    if (op->op == IR_LOOP && !loop_fixed(op)) {
        if (*loop == 0) *loop = arg->id;
        return *loop == arg->id;
    }
    if (!run_pure(op) || depth == 0) return op->op == IR_LOOP || op->op == IR_LANES;
    return one_index(v, ir_find(op, IRK_A), loop, depth - 1) && one_index(v, ir_find(op, IRK_B), loop, depth - 1) &&
           one_index(v, ir_find(op, IRK_COND), loop, depth - 1);
}

/* All conditions in it are followed, and of one loop: the turns of the longest run meet them in every way that there is
 * (tries/compare.c). */
static bool all_ways_seen(Verifier *v, const IrArg *arg, uint32_t *loop, int depth)
{
    if (arg == NULL) return true;
    if (arg->kind != IRA_VAL || depth == 0) return false;
    uint32_t i = v->def[arg->id - 1], own = 0;
    const IrOp *op = v->ops[i];
    if (v->joins[i])
        return all_ways_seen(v, ir_find(op, IRK_A), loop, depth - 1) &&
               all_ways_seen(v, ir_find(op, IRK_B), loop, depth - 1) &&
               all_ways_seen(v, ir_find(op, IRK_COND), loop, depth - 1);
    if (op->op != IR_CMP || v->open[i] || !one_index(v, arg, &own, BOUNDS_DEPTH)) return false;
    if (*loop == 0) *loop = own;
    return own ? own == *loop : !(v->seen[i] & SEEN_TRIP);
}

/* Conditions that are joined were seen each for itself; how they came out together is left to see: `a && b` may never have held
 * although a and b did, and `a || b` never have failed. Where one of them is held open now, the next runs show it. */
static bool joined_one_way(Verifier *v, uint32_t i)
{
    const IrOp *op = v->ops[i];
    const IrArg whole = {.kind = IRA_VAL, .id = op->dst};
    bool way = v->seen[i] & SEEN_TRUE;
    if (op->op == IR_NOT || (op->op == IR_AND && way) || (op->op == IR_OR && !way)) return false;
    uint32_t loop = 0;
    if (all_ways_seen(v, &whole, &loop, BOUNDS_DEPTH)) return false;
    return !part_one_way(v, &whole, BOUNDS_DEPTH) && !settled(v, &whole, way, BOUNDS_DEPTH);
}

static bool one_way(Verifier *v, uint32_t i)
{
    uint8_t seen = v->seen[i];
    if (!(seen & SEEN_TRIP) || (seen & SEEN_TRUE && seen & SEEN_FALSE)) return false;
    return v->joins[i] ? joined_one_way(v, i) : !always(v, v->ops[i]);
}

/* It can be held open: what it is made from is worked out anew. */
static bool opens(const Verifier *v, uint32_t i)
{
    return v->ops[i]->op == IR_CMP || v->joins[i];
}

bool steer_check(Verifier *v)
{
    bool more = false;
    uint32_t first = v->nops;
    for (uint32_t i = v->nops; i-- > 0;) {
        if (!one_way(v, i)) continue;
        first = i;
        more |= v->open[i] != OPEN_ALWAYS && opens(v, i);
        if (opens(v, i)) v->open[i] = OPEN_ALWAYS;
    }
    if (first == v->nops) return false;
    if (!v->opened) {
        v->opened = first + 1;
        v->opened_seen = v->seen[first];
    }
    if (!more) verify_refuse(v, E0660, first, "%s", ""); /* says what it says of all that is held open */
    memset(v->seen, 0, v->nops);
    return more;
}
