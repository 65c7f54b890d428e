/* Whether the runs show how loops compare whose numbers of turns the launch decides. Runs choose what these are made from: of `M` and
 * `max(M, m - M)` they may have equal ones alone, where launches have others. So the runs note which of two loops as deep as each
 * other has more turns, and the bounds themselves are worked out for launches with small and large numbers of many kinds: one with
 * more turns in a launch, and in no run, is tried with the numbers of that launch, too; where these are too large it is refused.
 */
#include "lang/checked.h"
#include "lower/verify/graph/tries/tries.h"

enum { LAUNCHES = 4096 };
static const int64_t NUMBERS[] = {0, 1, 2, 3, 5, 8, 17, 100, 192, 1000, 4096, 1000000, -1, -9};
enum { NNUMBERS = sizeof NUMBERS / sizeof *NUMBERS };

typedef struct Counted { /* loops that have as many turns as each other in every launch: their bounds are equal, and so are the loops around */
    Lx lo, hi;
    uint32_t around, depth; /* around: the loops right around, from 1 */
    uint32_t own;           /* the first of them whose turns are compared; nops: none */
    int64_t turns;          /* -1: they are not met, or have a bound that is no number */
} Counted;
struct Launches {
    VEC(Counted) loops;
    bool *more; /* by two of them: in some run the one had more turns than the other */
    LxPool pool; /* the launch's expressions, and those of bounds */
    VEC(uint32_t) syms; /* of which bounds are made */
    bool *used;         /* by expression: made from these symbols alone */
    int64_t *sym, *value; /* of a launch: by symbol, by expression */
    uint8_t *status;
};

/* ---- loops that the launch counts ---- */

static Lx number_of(Verifier *v, LxPool *p, const Lx *made, const IrArg *arg)
{
    int64_t k;
    if (verify_number(v, arg, &k)) return lx_const(v->arena, p, k);
    return arg && arg->kind == IRA_VAL ? made[arg->id - 1] : 0;
}

/* By value; 0: not made from what the launch has alone. */
static const Lx *expressions(Verifier *v, LxPool *p)
{
    Lx *made = arena_array(v->arena, Lx, v->nvalues + 1);
    for (uint32_t i = 0; i < v->nops; i++) {
        const IrOp *op = v->ops[i];
        bool known = op->op == IR_PARAM || op->op == IR_CVT || IR_LX_OPS[op->op];
        if (op->dst == 0 || !known) continue;
        Lx a = number_of(v, p, made, ir_find(op, IRK_A)), b = number_of(v, p, made, ir_find(op, IRK_B)), x = op->op == IR_PARAM ? ir_find(op, IRK_EXPR)->id : a;
        if (IR_LX_OPS[op->op]) x = a && b ? lx_op(v->arena, p, (LxOp)IR_LX_OPS[op->op], a, b) : 0;
        made[op->dst - 1] = x;
    }
    return made;
}

/* The place of the loop among those alike, from 1; 0: the launch does not decide its turns, or a condition whether it is met.
 * place: by op, plus 1, of those that were asked for. */
static uint32_t place_of(Verifier *v, struct Launches *l, const Lx *made, uint32_t *place, uint32_t loop)
{
    const Body *body = verify_body(v, loop);
    uint32_t at = body->around[loop - body->base];
    if (place[loop]) return place[loop] - 1;
    place[loop] = 1;
    while (at && loop_fixed(v, body->base + at - 1)) at = body->around[at - 1];
    bool counted = v->ops[loop]->op == IR_LOOP;
    Counted c = {.own = v->nops};
    if (counted && at) counted = (c.around = place_of(v, l, made, place, body->base + at - 1)) != 0;
    if (counted) counted = (c.lo = number_of(v, &l->pool, made, v->operands[loop].a)) && (c.hi = number_of(v, &l->pool, made, v->operands[loop].b));
    if (!counted) return 0;
    if (at) c.depth = l->loops.v[c.around - 1].depth + 1;
    uint32_t i = 0;
    while (i < l->loops.n && (l->loops.v[i].lo != c.lo || l->loops.v[i].hi != c.hi || l->loops.v[i].around != c.around)) i++;
    if (i == l->loops.n) vec_push(v->arena, &l->loops, c);
    place[loop] = i + 2;
    return i + 1;
}

static void find_symbols(Verifier *v, struct Launches *l)
{
    const LxPool *p = &l->pool;
    bool *among = arena_array(v->arena, bool, v->k->mf.syms.n + 1);
    l->used = arena_array(v->arena, bool, p->nodes.n + 1);
    for (uint32_t i = 0; i < l->loops.n; i++) l->used[l->loops.v[i].lo] = l->used[l->loops.v[i].hi] = true;
    for (uint32_t x = p->nodes.n; x > 0; x--) {
        const LxNode *n = &p->nodes.v[x - 1];
        if (!l->used[x] || n->op == LX_CONST) continue;
        if (n->op == LX_SYM) {
            among[n->k] = true;
            vec_push(v->arena, &l->syms, (uint32_t)n->k);
        } else {
            l->used[n->a] = l->used[n->b] = true;
        }
    }
    for (uint32_t x = 1; x <= p->nodes.n; x++) {
        const LxNode *n = &p->nodes.v[x - 1];
        l->used[x] = n->op == LX_CONST || (n->op == LX_SYM ? among[n->k] : l->used[n->a] && (n->b == 0 || l->used[n->b]));
    }
}

/* Of long loops the runs leave turns out: those are not compared. */
static struct Launches *find_loops(Verifier *v)
{
    struct Launches *l = arena_new(v->arena, struct Launches);
    const LxPool *p = &v->k->mf.lx;
    for (uint32_t i = 0; i < p->nodes.n; i++) vec_push(v->arena, &l->pool.nodes, p->nodes.v[i]);
    const Lx *made = expressions(v, &l->pool);
    uint32_t *place = arena_array(v->arena, uint32_t, v->nops + 1);
    for (uint32_t i = 0; i < v->own.n; i++) {
        uint32_t at = v->is_long[v->own.v[i]] ? 0 : place_of(v, l, made, place, v->own.v[i]);
        if (at && l->loops.v[at - 1].own == v->nops) l->loops.v[at - 1].own = v->own.v[i];
    }
    find_symbols(v, l);
    l->more = arena_array(v->arena, bool, (size_t)l->loops.n * l->loops.n + 1);
    l->sym = arena_array(v->arena, int64_t, v->k->mf.syms.n + 1);
    l->value = arena_array(v->arena, int64_t, l->pool.nodes.n + 1);
    l->status = arena_array(v->arena, uint8_t, l->pool.nodes.n + 1);
    return l;
}

static int64_t turns_in_run(const Verifier *v, const Counted *c)
{
    return c->own < v->nops ? v->turns[c->own].now : -1;
}

void launches_keep(Verifier *v)
{
    if (v->launches == NULL) v->launches = find_loops(v);
    const struct Launches *l = v->launches;
    for (uint32_t i = 0; i < l->loops.n; i++) {
        for (uint32_t j = 0; j < l->loops.n; j++) {
            int64_t a = turns_in_run(v, &l->loops.v[i]), b = turns_in_run(v, &l->loops.v[j]);
            l->more[i * l->loops.n + j] |= b >= 0 && a > b;
        }
    }
}

/* ---- launches ---- */

/* Of few symbols all combinations, of more some. False: the checks, as far as these symbols decide them, allow no such launch. */
static bool set_launch(const Verifier *v, struct Launches *l, uint32_t number)
{
    const MfKernel *mf = &v->k->mf;
    uint64_t all = 1, at = number;
    for (uint32_t i = 0; i < l->syms.n && all <= LAUNCHES; i++) all *= NNUMBERS;
    if (number >= all) return false;
    for (uint32_t i = 0; i < l->syms.n; i++, at /= NNUMBERS) {
        uint64_t drawn = ((uint64_t)number * l->syms.n + i + 1) * UINT64_C(0x9E3779B97F4A7C15) >> 33;
        l->sym[l->syms.v[i]] = NUMBERS[(all <= LAUNCHES ? at : drawn) % NNUMBERS];
    }
    lx_eval(l->pool.nodes.v, l->pool.nodes.n, l->sym, l->value, l->status);
    for (uint32_t x = 0; x < mf->lx.nodes.n; x++) {
        Interval r = v->f.launch[x];
        if (l->used[x + 1] && l->status[x] == LX_OK && (l->value[x] < r.lo || l->value[x] > r.hi)) return false;
    }
    for (uint32_t i = 0; i < mf->checks.n; i++) {
        Lx x = mf->checks.v[i].cond;
        if (l->used[x] && (l->status[x - 1] != LX_OK || l->value[x - 1] == 0)) return false;
    }
    return true;
}

/* Those around stand before what they are around of. */
static void count(struct Launches *l)
{
    for (uint32_t i = 0; i < l->loops.n; i++) {
        Counted *c = &l->loops.v[i];
        int64_t lo = l->value[c->lo - 1], hi = l->value[c->hi - 1];
        bool met = !c->around || l->loops.v[c->around - 1].turns > 0;
        if (!met || l->status[c->lo - 1] != LX_OK || l->status[c->hi - 1] != LX_OK) c->turns = -1;
        else if (hi <= lo) c->turns = 0;
        else if (!sub_s64(hi, lo, &c->turns)) c->turns = INT64_MAX;
    }
}

static const char *launch_text(const Verifier *v)
{
    const struct Launches *l = v->launches;
    const char *text = "";
    for (uint32_t i = 0; i < l->syms.n; i++) {
        uint32_t sym = l->syms.v[i];
        text = arena_printf(v->arena, "%s%s%s = %lld", text, i ? ", " : "", v->k->mf.syms.v[sym].name, (long long)l->sym[sym]);
    }
    return text;
}

/* Loops i have more turns than loops j in this launch, and in no run. */
static bool unseen(const Verifier *v, uint32_t i, uint32_t j)
{
    const struct Launches *l = v->launches;
    const Counted *a = &l->loops.v[i], *b = &l->loops.v[j];
    bool compared = a->own < v->nops && b->own < v->nops && a->depth == b->depth;
    return compared && b->turns >= 0 && a->turns > b->turns && !l->more[i * l->loops.n + j];
}

static bool find_unseen(const Verifier *v, const Counted **a, const Counted **b)
{
    const struct Launches *l = v->launches;
    for (uint32_t i = 0; i < l->loops.n; i++) {
        for (uint32_t j = 0; j < l->loops.n; j++) {
            *a = &l->loops.v[i];
            *b = &l->loops.v[j];
            if (unseen(v, i, j)) return true;
        }
    }
    return false;
}

bool launches_more(Verifier *v)
{
    struct Launches *l = v->launches;
    const Counted *a, *b;
    for (uint32_t at = 0; l && at < LAUNCHES && l->loops.n > 1 && !v->failed; at++) {
        if (!set_launch(v, l, at)) continue;
        count(l);
        if (!find_unseen(v, &a, &b)) continue;
        bool more = false;
        for (uint32_t i = 0; i < l->syms.n; i++) more |= choice_beside(v, l->sym[l->syms.v[i]]);
        if (more) return true;
        Diag *g = verify_refuse(v, E0660, a->own,
                                "with %s this loop has more turns than another one (%lld, not %lld), and in none of the runs that were tried",
                                launch_text(v), (long long)a->turns, (long long)b->turns);
        verify_also(v, g, b->own, "the other one");
    }
    return false;
}
