/* Nests of loops that have nothing in common: which of the trip counts need to be tried together.
 *
 * An item is an op or block of a body that stands in no other block. Items have
 * something in common where they name the same barrier, buffer or variable, draw tickets, arrive at the cluster's barrier or
 * at one of threads of several roles, touch a tensor that the kernel stores to, are left by what is known at run time alone,
 * or use a value of which a trip count may be made. A nest is what hangs together so; nests that one body has in another
 * order than others, or mixed, are one. Of two nests A and B, with a and b turns:
 * - Values, slots, parities and conditions in A don't depend on b: they come from A's own variables and values.
 * - Of two events of A, one comes before the other in the graph (a, b) if it does in (a, 0). Barriers and waits of A name
 *   events of A; groups that a wait of A leaves open are counted from the newest on, and those of B are all older or
 *   all newer. B's turns only put more events in between.
 * - What is proved is of two events or accesses of one nest (races, coverage, phases, who is first) or of one event and
 *   the kernel's end, and more order harms none of it. Accesses of A and B never meet, nor do their copies in global memory.
 * - Nobody waits in A for what happens in B, and all bodies come through A before B or all after: each of them gets to its
 *   end if it does without the other.
 * So the graphs (a, 0) and (0, b) tell all that those of (a, b) would.
 */
#include <string.h>

#include "lower/verify/graph/tries/tries.h"
#include "lower/verify/graph/unroll/unroll.h"

typedef struct Nests {
    uint32_t *parent; /* of things that items may have in common, and of items behind them */
    uint32_t *seen;   /* by value: the item that was last found to use it, + 1 */
    uint8_t *counts;  /* by launch expression: part of a trip count */
    uint32_t bufs, bars, vars, exprs, tensors, shared, first, item; /* first of each kind; then the item at hand */
    bool marking;                                                   /* fills counts */
} Nests;
enum { SHARED_REPEAT, SHARED_LONG, SHARED_CLUSTER, SHARED_SYNC, SHARED_GLOBAL, SHARED_THINGS = SHARED_GLOBAL + 64 };

static void has(Nests *n, uint32_t thing)
{
    if (!n->marking) n->parent[verify_root(n->parent, thing)] = verify_root(n->parent, n->item);
}

static void has_expression(const Verifier *v, Nests *n, uint32_t x)
{
    const LxNode *e = &v->k->mf.lx.nodes.v[x - 1];
    if (n->marking && n->counts[x - 1]) return;
    if (n->marking) n->counts[x - 1] = 1;
    else if (n->counts[x - 1]) has(n, n->exprs + x - 1);
    if (!lx_taken_apart(&v->k->mf.lx, x)) return;
    has_expression(v, n, e->a);
    has_expression(v, n, e->b);
}

static void has_operands(const Verifier *v, Nests *n, const IrOp *op);

static void has_value(const Verifier *v, Nests *n, IrVal x)
{
    if (n->seen[x - 1] == n->item + 1) return;
    n->seen[x - 1] = n->item + 1;
    has_operands(v, n, v->ops[v->def[x - 1]]);
}

static void has_operands(const Verifier *v, Nests *n, const IrOp *op)
{
    if (op->op == IR_REPEAT || op->op == IR_BREAK || op->op == IR_TICKET) has(n, n->shared + SHARED_REPEAT);
    if (op->op == IR_LOADS) has(n, n->tensors + ir_find(op, IRK_TENSOR)->id);
    for (uint32_t i = 0; i < op->nargs; i++) {
        const IrArg *a = &op->args[i];
        if (a->kind == IRA_VAL) has_value(v, n, a->id);
        else if (a->kind == IRA_BUF) has(n, n->bufs + a->id);
        else if (a->kind == IRA_BAR) has(n, n->bars + a->id);
        else if (a->kind == IRA_VAR) has(n, n->vars + a->id);
        else if (a->kind == IRA_LX) has_expression(v, n, a->id);
    }
    if (op->guard.pred) has_value(v, n, op->guard.pred);
}

static void has_op(const Verifier *v, Nests *n, const Body *b, uint32_t at)
{
    const IrOp *op = v->ops[at];
    has_operands(v, n, op);
    if (v->is_long[at]) has(n, n->shared + SHARED_LONG);
    if (op->op == IR_CLUSTER_ARRIVE || op->op == IR_CLUSTER_WAIT) has(n, n->shared + SHARED_CLUSTER);
    if (op->op == IR_CTA_SYNC && ir_find(op, IRK_THREADS)->imm != (int64_t)b->role->warps * 32)
        has(n, n->shared + SHARED_SYNC);
    uint64_t tensors = (copy_tensors(v, at, false) | copy_tensors(v, at, true)) & v->stored;
    for (uint32_t i = 0; i < 64; i++)
        if (tensors >> i & 1) has(n, n->shared + SHARED_GLOBAL + i);
}

/* The op behind the item that begins at op i. */
static uint32_t item_end(const Verifier *v, uint32_t i)
{
    if (!ir_opens_block((IrOpcode)v->ops[i]->op)) return i + 1;
    for (i = v->partner[i]; v->ops[i]->op == IR_ELSE;) i = v->partner[i];
    return i + 1;
}

/* A variable may hold what a loop runs to. */
static bool steers(const IrOp *op)
{
    return op->op == IR_LOOP || op->op == IR_BREAK || op->op == IR_VAR || op->op == IR_SET;
}

static void mark_counts(const Verifier *v, Nests *n)
{
    n->marking = true;
    n->item = n->first + v->nops; /* no item */
    for (uint32_t i = 0; i < v->nops; i++)
        if (steers(v->ops[i])) has_operands(v, n, v->ops[i]);
    n->marking = false;
}

static void find_item(Verifier *v, Nests *n, const Body *b, uint32_t from, uint32_t end, uint32_t *nest)
{
    n->item = n->first + from;
    if (end == from + 1 && v->operands[from].pure) return; /* counts where it is used */
    for (uint32_t i = from; i < end; i++) {
        has_op(v, n, b, i);
        nest[i] = n->item;
    }
}

typedef struct Step { /* a body comes to one nest after the other */
    uint32_t from, to;
} Step;

/* Nests that are left when those are taken away, again and again, to which no step leads from others, then those from
 * which none leads on: all that hang together in circles, and what lies between circles. */
static void unite_unordered(const Verifier *v, Nests *n, const uint32_t *nest)
{
    Step *steps = arena_array(v->arena, Step, v->nops);
    uint32_t *to = arena_array(v->arena, uint32_t, n->first + v->nops), *from = arena_array(v->arena, uint32_t, n->first + v->nops); /* by nest: how many */
    uint32_t count = 0, last = 0;
    for (uint32_t i = 1; i + 1 < v->bodies.n; i++, last = 0) { /* of roles */
        for (uint32_t j = v->bodies.v[i].first; j < v->bodies.v[i].end; j++) {
            if (nest[j] == 0 || v->group[j] == IRG_SCALAR || v->group[j] == IRG_CONTROL) continue;
            if (last && last != nest[j]) steps[count++] = (Step){last, nest[j]}, from[last]++, to[nest[j]]++;
            last = nest[j];
        }
    }
    for (bool less = true; less;) {
        less = false;
        for (uint32_t i = 0; i < count; i++) {
            Step s = steps[i];
            if (to[s.from] && from[s.to]) continue;
            from[s.from]--, to[s.to]--;
            steps[i--] = steps[--count];
            less = true;
        }
    }
    for (uint32_t i = 0; i < count; i++) n->parent[verify_root(n->parent, steps[i].from)] = verify_root(n->parent, steps[i].to);
}

static void find_items(Verifier *v, Nests *n, uint32_t *nest)
{
    for (uint32_t i = 0; i < n->first + v->nops; i++) n->parent[i] = i;
    for (uint32_t i = 0; i < v->bodies.n; i++) {
        const Body *b = &v->bodies.v[i];
        for (uint32_t j = b->first, end; j < b->end; j = end) find_item(v, n, b, j, end = item_end(v, j), nest);
    }
    for (uint32_t i = 0; i < v->nops; i++)
        if (nest[i]) nest[i] = verify_root(n->parent, nest[i]);
    unite_unordered(v, n, nest);
    for (uint32_t i = 0; i < v->nops; i++)
        if (nest[i]) nest[i] = verify_root(n->parent, nest[i]) + 1;
}

void nests_find(Verifier *v)
{
    const IrKernel *k = v->k;
    Nests n = {.bars = k->bufs.n};
    n.vars = n.bars + k->bars.n;
    n.exprs = n.vars + k->vars.n;
    n.tensors = n.exprs + k->mf.lx.nodes.n;
    n.shared = n.tensors + k->mf.tensors.n;
    n.first = n.shared + SHARED_THINGS;
    v->nest = arena_array(v->arena, uint32_t, v->nops);
    n.parent = arena_array(v->arena, uint32_t, n.first + v->nops);
    n.counts = arena_array(v->arena, uint8_t, k->mf.lx.nodes.n);
    n.seen = arena_array(v->arena, uint32_t, v->nvalues);
    mark_counts(v, &n);
    memset(n.seen, 0, v->nvalues * sizeof *n.seen);
    find_items(v, &n, v->nest);
}

bool nests_apart(const Verifier *v, const Choice *a, const Choice *b)
{
    uint32_t x = v->nest[a->op], y = v->nest[b->op];
    return a->own && b->own && x && y && x != y;
}

/* What depends on the CTA alone may be found anywhere. */
bool nests_own(const Verifier *v, Form of)
{
    const FormData *d = form_data(&v->f, of);
    bool own = false;
    for (uint32_t i = 0; i < d->n; i++) own |= atom_data(&v->f, d->t[i].atom)->kind != ATOM_SREG;
    return own;
}

/* ---- loops in loops whose turns differ ---- */

/* What its number of turns is made from. */
static Round turns_from(const Verifier *v, uint32_t loop)
{
    Round from = round_of_arg(v, v->operands[loop].a), to = round_of_arg(v, v->operands[loop].b);
    return (Round){.given = from.given | to.given, .loops = from.loops | to.loops};
}

bool nests_coupled(const Verifier *v, uint32_t loop)
{
    const Body *b = verify_body(v, loop);
    uint64_t given = turns_from(v, loop).given;
    bool inside = false, coupled = false;
    for (uint32_t i = 0; i < v->own.n; i++) {
        uint32_t other = v->own.v[i];
        if (other == loop || other < b->first || other >= b->end) continue;
        inside |= other > loop && other < v->partner[loop];
        Round from = turns_from(v, other);
        coupled |= (from.given & given) || (from.loops & v->loop_bit[loop]);
    }
    return inside && coupled;
}

/* How many loops of a number of turns that is chosen it is within, itself too; 0: it is none. */
static uint32_t depth_of(const Verifier *v, uint32_t loop)
{
    uint32_t depth = 0;
    if (!(v->block[loop] & BLOCK_EVENTS)) return 0;
    for (; loop < v->nops; loop = verify_around(v, loop)) depth++;
    return depth;
}

/* What tells turns of a loop apart. */
static void add_unlike(const Verifier *v, uint32_t loop, Unlike *all)
{
    const Unlike *u = &v->unlike[loop];
    if (v->ops[loop]->op != IR_LOOP) return;
    if (u->front > all->front) all->front = u->front;
    if (u->end > all->end) all->end = u->end;
    all->rounds |= u->rounds || period_steps(v, loop);
    if (period_mixed(v, loop)) all->front = 2 * v->ring + 1;
}

/* Where the turns of a loop differ by its index or by variables, it matters which of them those of a deeper loop are in, of its
 * role or another: of loops as deep as each other any may be in a turn at the same time. */
void nests_together(Verifier *v)
{
    Unlike *level = arena_array(v->arena, Unlike, v->deepest + 1);
    uint32_t deepest = 0;
    v->together = arena_array(v->arena, uint32_t, v->nops + 1);
    for (uint32_t i = 0; i < v->own.n; i++) {
        uint32_t depth = depth_of(v, v->own.v[i]);
        add_unlike(v, v->own.v[i], &level[depth]);
        if (depth > deepest) deepest = depth;
    }
    for (uint32_t i = 0; i < v->own.n; i++) {
        uint32_t depth = depth_of(v, v->own.v[i]);
        const Unlike *u = &level[depth];
        if (depth == 0) continue;
        if (depth < deepest && (u->front || u->end || u->rounds))
            v->together[v->own.v[i]] = u->front + u->end + (u->rounds ? (v->conditional ? 3 : 1) * v->joint : 1);
    }
}

/* ---- loops that turn more or less often from turn to turn of those around ---- */

typedef struct Touched { /* by some ops */
    uint64_t vars, sets, loops; /* variables that steer, indices of loops: a bit each */
} Touched;

static void touch(const Verifier *v, uint32_t op, Touched *t)
{
    const IrOp *o = v->ops[op];
    const Round *r = o->dst && v->cone[op] & (CONE_SYNC | CONE_PLACE | CONE_STEERS) ? &v->rounds[o->dst - 1] : NULL;
    if ((o->op == IR_SET || o->op == IR_VAR) && !v->parity[v->operands[op].var]) t->sets |= v->variable_bit[v->operands[op].var];
    if (r) t->vars |= r->vars, t->loops |= r->loops;
}

static bool is_anew(const Verifier *v, const IrArg *bound)
{
    Round r = round_of_arg(v, bound);
    return r.changes && r.given && (r.turns == 0 || r.given == ROUND_VARIABLE);
}

/* The runs have some sequences of such numbers, and no more: those of all turns equal, and some in which each two follow each other. They tell
 * of all where nothing but their sum counts for what the loop does, and nothing of it for the rest of its role: its turns are one after the other
 * those of one loop, if they differ by the index they step no variable, and what they step is their own. */
void nests_check(Verifier *v)
{
    for (uint32_t at = 0; at < v->own.n && !v->failed; at++) {
        uint32_t loop = v->own.v[at];
        Touched in = {0}, out = {0};
        uint64_t around = 0, parities = 0;
        if (v->ops[loop]->op != IR_LOOP || !(v->block[loop] & BLOCK_EVENTS) || verify_around(v, loop) == v->nops) continue;
        if (!is_anew(v, v->operands[loop].a) && !is_anew(v, v->operands[loop].b)) continue;
        const Body *b = verify_body(v, loop);
        uint32_t last = loop;
        for (uint32_t one = verify_around(v, loop); one < v->nops; one = verify_around(v, one)) around |= v->loop_bit[last = one];
        for (uint32_t i = 0; i < v->k->vars.n; i++) parities |= v->parity[i] ? v->variable_bit[i] : 0;
        for (uint32_t i = b->first; i < b->end; i++)
            if (i > loop && i < v->partner[loop]) touch(v, i, &in);
            else if (v->ops[i]->op != IR_VAR || (i > last && i < v->partner[last])) touch(v, i, &out);
        const char *why = in.loops & around                               ? "what it does there depends on which turn that is"
                          : in.sets && in.loops & v->loop_bit[loop]       ? "it steps variables, and its own turns are not all alike"
                          : ((in.vars | in.sets) & out.sets & ~parities) || (in.sets & out.vars) ? "variables that it steps or uses are stepped or used beside it, too"
                                                                          : NULL;
        if (why) verify_refuse(v, E0660, loop, "how often this loop turns is another number in each turn of the one around: %s", why);
    }
}
