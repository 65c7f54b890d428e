/* Whether the runs gave each loop the turns that tell of longer ones. What one loop chooses decides the trip counts of
 * others, too: `n - 4` turns where `n` were chosen, or 2 .. k in turn k of a loop around. Where such a loop had too few, all choices get
 * values that are as much greater, and the runs are done again. After all of them every loop has had
 * 2 S + 1 turns in one, or as many as any launch has; and every op that does something has been reached.
 */
#include "lang/checked.h"
#include "lower/verify/graph/tries/tries.h"
#include "lower/verify/graph/unroll/unroll.h"

enum { TURNS_FUEL = 256, PARTS_FUEL = 32 };

void turns_prepare(Verifier *v)
{
    v->turns = arena_array(v->arena, Turns, v->nops + 1);
    v->reached = arena_array(v->arena, uint8_t, v->nops + 1);
}

void turns_begin(Verifier *v)
{
    for (uint32_t i = 0; i < v->nops; i++) {
        v->turns[i].now = 0;
        v->reached[i] &= REACHED;
    }
}

void turns_keep(Verifier *v)
{
    for (uint32_t i = 0; i < v->nops; i++) {
        Turns *t = &v->turns[i];
        if (t->now > t->most) t->most = t->now;
        if (v->reached[i] & REACHED_NOW) v->reached[i] |= REACHED;
    }
}

/* ---- a trip count without what was chosen ---- */

static Form unchosen(Verifier *v, const IrArg *arg, int *fuel);

static Form unchosen_op(Verifier *v, const IrOp *op, int *fuel)
{
    const IrArg *a = ir_find(op, IRK_A), *b = ir_find(op, IRK_B), *c = ir_find(op, IRK_COND);
    uint32_t leaves = v->f.leaves;
    Form fc = c ? unchosen(v, c, fuel) : 0, fa = a ? unchosen(v, a, fuel) : 0, fb = b ? unchosen(v, b, fuel) : 0;
    Form x = *fuel < 0 ? 0 : form_of_op(&v->f, v->k, op, fc, fa, fb);
    if (leaves != v->f.leaves) *fuel = -1; /* a new value */
    return *fuel < 0 ? 0 : x;
}

/* Any turn of the loop, the same all through the count. */
static Form unchosen_index(Verifier *v, uint32_t loop, int *fuel)
{
    const IrOp *op = v->ops[loop];
    Form lo = unchosen(v, ir_find(op, IRK_A), fuel), hi = unchosen(v, ir_find(op, IRK_B), fuel);
    if (*fuel < 0) return 0;
    const FormData *first = form_data(&v->f, lo), *past = form_data(&v->f, hi);
    bool endless = past->hi == INT64_MAX || past->hi == INT64_MIN;
    return form_atom(&v->f, (FormAtom){.kind = ATOM_OPEN,
                                       .sub = 1,
                                       .type = op->type,
                                       .a = loop,
                                       .b = lo,
                                       .c = hi,
                                       .lo = first->lo,
                                       .hi = endless ? INT64_MAX : past->hi - 1});
}

static Form unchosen(Verifier *v, const IrArg *arg, int *fuel)
{
    if (--*fuel < 0) return 0;
    if (arg->kind != IRA_VAL) return form_const(&v->f, arg->imm);
    uint32_t index = v->def[arg->id - 1];
    const IrOp *op = v->ops[index];
    if (op->op == IR_SREG) return form_of_op(&v->f, v->k, op, 0, 0, 0);
    if (run_pure(op)) return unchosen_op(v, op, fuel);
    Form x = 0;
    if (op->op == IR_LOOP) x = unchosen_index(v, index, fuel);
    else if (op->op != IR_GET && op->op != IR_LDS && op->op != IR_TICKET)
        x = v->now->loaded[arg->id - 1]; /* those differ */
    if (x == 0) *fuel = -1;
    return *fuel < 0 ? 0 : x;
}

/* No value of x is greater: `k + 1 - max(0, k - 3)` is at most k + 1 and at most 4. */
static int64_t upper_of(Verifier *v, Form x, int *fuel)
{
    if (x == 0 || --*fuel < 0) return INT64_MAX;
    int64_t upper = form_data(&v->f, x)->hi;
    if (upper == INT64_MIN) upper = INT64_MAX;
    for (uint32_t i = 0; i < form_data(&v->f, x)->n; i++) {
        FormTerm t = form_data(&v->f, x)->t[i];
        FormAtom a = *atom_data(&v->f, t.atom);
        if (!atom_extreme(&a)) continue;
        Form rest = form_add(&v->f, x, -t.c, form_of_atom(&v->f, t.atom));
        int64_t one = upper_of(v, rest ? form_add(&v->f, rest, t.c, a.a) : 0, fuel),
                other = upper_of(v, rest ? form_add(&v->f, rest, t.c, a.b) : 0, fuel);
        bool least = (a.sub == IR_MIN) == (t.c > 0), first = one < other;
        int64_t part = least == first ? one : other;
        if (part < upper) upper = part;
    }
    return upper;
}

static void look(Verifier *v, uint32_t op, Turns *t)
{
    int fuel = TURNS_FUEL, parts = PARTS_FUEL;
    Form lo = unchosen(v, v->operands[op].a, &fuel), hi = unchosen(v, v->operands[op].b, &fuel);
    int64_t upper = upper_of(v, fuel < 0 ? 0 : form_add(&v->f, hi, -1, lo), &parts);
    if (t->ranks == 0 || upper > t->upper) t->upper = upper;
    t->ranks |= UINT32_C(1) << v->now->rank;
}

void turns_loop(Verifier *v, uint32_t op, int64_t turns)
{
    Turns *t = &v->turns[op];
    if (turns > t->now) t->now = turns;
    if (!(t->ranks >> v->now->rank & 1)) look(v, op, t);
}

void turns_repeat(Verifier *v, uint32_t op, int64_t turns, bool certain)
{
    Turns *t = &v->turns[op];
    if (turns > t->now) t->now = turns;
    if (certain && v->now->depth == 1) t->upper = turns > t->upper ? turns : t->upper;
    else if (turns >= t->left) t->left = turns + 1;
}

/* ---- after all runs ---- */

static bool does_something(const Verifier *v, uint32_t op)
{
    return v->group[op] != IRG_SCALAR && v->group[op] != IRG_CONTROL;
}

/* A block that was come to is left out where its condition says so in all turns of every launch: those that trip counts decide
 * tell of longer loops or are held open (tries/compare.c). */
static bool left_out(const Verifier *v, const Body *b, uint32_t at)
{
    for (uint32_t i = 0; i < at; i++) {
        const IrOp *op = &b->role->ops.v[i];
        uint32_t end = b->partner[i];
        if (!ir_opens_block((IrOpcode)op->op) && op->op != IR_ELSE) continue;
        if (at < end && v->reached[b->base + i] & REACHED) return true;
    }
    return false;
}

static void check_reached(Verifier *v)
{
    for (uint32_t i = 0; i < v->nops && !v->failed; i++) {
        const Body *b = verify_body(v, i);
        if (!does_something(v, i) || v->reached[i] & REACHED || left_out(v, b, i - b->base)) continue;
        verify_refuse(v, E0660, i, "no run that was tried gets here");
    }
}

static bool too_few(const Verifier *v, uint32_t loop, int64_t *least)
{
    const Turns *t = &v->turns[loop];
    int64_t all = 2 * (int64_t)v->ring + 1;
    *least = t->upper < all && t->upper >= t->left ? t->upper : all;
    return v->chosen[loop] && t->most < *least;
}

bool turns_more(Verifier *v)
{
    int64_t least, lack = 0;
    for (uint32_t i = 0; i < v->nops && !v->failed; i++)
        if (too_few(v, i, &least) && least - v->turns[i].most > lack) lack = least - v->turns[i].most;
    return lack && choice_longer(v, lack);
}

void turns_check(Verifier *v)
{
    int64_t least;
    for (uint32_t i = 0; i < v->nops && !v->failed; i++) {
        if (!too_few(v, i, &least)) continue;
        Diag *g = verify_refuse(v, E0660, i,
                                "this loop has at most %lld turns in the runs that were tried; what longer loops do "
                                "shows after %lld",
                                (long long)v->turns[i].most, (long long)least);
        if (g)
            diag_note(
                v->diags, g, (Span){0, 0},
                "its trip count is made from that of another loop, or from its turns, and no run gives it as many");
    }
    if (!v->failed) check_reached(v);
}
