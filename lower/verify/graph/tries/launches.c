/* Whether the runs show how loops compare whose numbers of turns the launch decides. Runs choose what these are made from: of `M` and
 * `max(M, m - M)` they may have equal ones alone, where launches have others. So the runs note which of two loops as deep as each
 * other has more turns, and the bounds themselves are worked out for launches with small and large numbers of many kinds: one with
 * more turns in a launch, and in no run, is tried with the numbers of that launch, too; where these are too large it is refused.
 */
#include "lang/checked.h"
#include "lower/verify/graph/tries/tries.h"

enum { LAUNCHES = 4096, DEPTH = 16 };
enum { OTHER = LX_BAD_SHIFT + 1 }; /* behind LxStatus: not made from what the launch has alone */
static const int64_t NUMBERS[] = {0, 1, 2, 3, 5, 8, 17, 100, 192, 1000, 4096, 1000000, -1, -9};
enum { NNUMBERS = sizeof NUMBERS / sizeof *NUMBERS };

typedef struct Counted { /* a loop whose bounds, and those of all loops around, the launch decides */
    uint32_t own, depth; /* own: its place in v->own */
    int64_t turns;       /* -1: it is not met, or has a bound that is no number */
} Counted;
typedef struct Launches {
    Verifier *v;
    VEC(Counted) loops;
    VEC(uint32_t) syms;   /* of which bounds are made */
    bool *used;           /* by expression: of bounds; from then on: made from these symbols alone */
    int64_t *sym, *value; /* of a launch: by symbol, by expression */
    uint8_t *status;
} Launches;

void launches_keep(Verifier *v)
{
    uint32_t n = v->own.n;
    if (v->more == NULL) v->more = arena_array(v->arena, bool, (size_t)n * n + 1);
    for (uint32_t i = 0; i < n * n; i++) {
        int64_t a = v->turns[v->own.v[i / n]].now, b = v->turns[v->own.v[i % n]].now;
        v->more[i] |= b >= 0 && a > b;
    }
}

/* ---- turns ---- */

/* A bound, or what it is made from. */
static int number_at(Launches *l, const IrArg *arg, int depth, int64_t *k)
{
    const IrOp *op = verify_def(l->v, arg);
    if (verify_number(l->v, arg, k)) return LX_OK;
    if (op == NULL || depth == 0) return OTHER;
    if (op->op == IR_CVT) return number_at(l, ir_find(op, IRK_A), depth - 1, k);
    if (op->op == IR_PARAM) {
        Lx x = ir_find(op, IRK_EXPR)->id;
        l->used[x] = true;
        *k = l->value[x - 1];
        return l->status[x - 1];
    }
    if (IR_LX_OPS[op->op] == 0) return OTHER;
    int64_t p = 0, q = 0;
    int a = number_at(l, ir_find(op, IRK_A), depth - 1, &p), b = number_at(l, ir_find(op, IRK_B), depth - 1, &q);
    return a || b ? (a > b ? a : b) : (int)lx_apply((LxOp)IR_LX_OPS[op->op], p, q, k);
}

/* Not where a condition decides whether it is met; of long loops the runs leave turns out. */
static int count(Launches *l, Counted *c)
{
    const Verifier *v = l->v;
    const Body *body = verify_body(v, v->own.v[c->own]);
    int status = v->is_long[v->own.v[c->own]] ? OTHER : LX_OK;
    c->depth = 0;
    for (uint32_t at = v->own.v[c->own] - body->base + 1; at && status != OTHER; at = body->around[at - 1]) {
        uint32_t op = body->base + at - 1;
        int64_t lo = 0, hi = 0;
        if (loop_fixed(v, op)) continue;
        if (v->ops[op]->op != IR_LOOP) return OTHER;
        int a = number_at(l, v->operands[op].a, DEPTH, &lo), b = number_at(l, v->operands[op].b, DEPTH, &hi);
        status = a > status ? a : status;
        status = b > status ? b : status;
        if (hi <= lo) c->turns = c->depth ? -1 : 0;
        else if (c->depth == 0 && !sub_s64(hi, lo, &c->turns)) c->turns = INT64_MAX;
        c->depth++;
    }
    if (status) c->turns = -1;
    return status;
}

/* ---- launches ---- */

static void find_used(Launches *l)
{
    Verifier *v = l->v;
    const LxPool *p = &v->k->mf.lx;
    bool *among = arena_array(v->arena, bool, v->k->mf.syms.n + 1);
    for (Counted c = {0}; c.own < v->own.n; c.own++)
        if (count(l, &c) != OTHER) vec_push(v->arena, &l->loops, c);
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

/* Of few symbols all combinations, of more some. False: the checks, as far as these symbols decide them, allow no such launch. */
static bool set_launch(Launches *l, uint32_t number)
{
    const MfKernel *mf = &l->v->k->mf;
    uint64_t all = 1, at = number;
    for (uint32_t i = 0; i < l->syms.n && all <= LAUNCHES; i++) all *= NNUMBERS;
    if (number >= all) return false;
    for (uint32_t i = 0; i < l->syms.n; i++, at /= NNUMBERS) {
        uint64_t drawn = ((uint64_t)number * l->syms.n + i + 1) * UINT64_C(0x9E3779B97F4A7C15) >> 33;
        l->sym[l->syms.v[i]] = NUMBERS[(all <= LAUNCHES ? at : drawn) % NNUMBERS];
    }
    lx_eval(mf->lx.nodes.v, mf->lx.nodes.n, l->sym, l->value, l->status);
    for (uint32_t x = 0; x < mf->lx.nodes.n; x++) {
        Interval r = l->v->f.launch[x];
        if (l->used[x + 1] && l->status[x] == LX_OK && (l->value[x] < r.lo || l->value[x] > r.hi)) return false;
    }
    for (uint32_t i = 0; i < mf->checks.n; i++) {
        Lx x = mf->checks.v[i].cond;
        if (l->used[x] && (l->status[x - 1] != LX_OK || l->value[x - 1] == 0)) return false;
    }
    return true;
}

static const char *launch_text(const Launches *l)
{
    const char *text = "";
    for (uint32_t i = 0; i < l->syms.n; i++) {
        uint32_t sym = l->syms.v[i];
        text = arena_printf(l->v->arena, "%s%s%s = %lld", text, i ? ", " : "", l->v->k->mf.syms.v[sym].name, (long long)l->sym[sym]);
    }
    return text;
}

/* a has more turns than b in this launch, and in no run. */
static bool unseen(const Launches *l, const Counted *a, const Counted *b)
{
    return b->turns >= 0 && a->turns > b->turns && a->depth == b->depth && !l->v->more[a->own * l->v->own.n + b->own];
}

static bool find_unseen(Launches *l, const Counted **a, const Counted **b)
{
    for (uint32_t i = 0; i < l->loops.n; i++) count(l, &l->loops.v[i]);
    for (uint32_t i = 0; i < l->loops.n * l->loops.n; i++) {
        *a = &l->loops.v[i / l->loops.n];
        *b = &l->loops.v[i % l->loops.n];
        if (unseen(l, *a, *b)) return true;
    }
    return false;
}

bool launches_more(Verifier *v)
{
    const MfKernel *mf = &v->k->mf;
    const Counted *a, *b;
    uint32_t n = mf->lx.nodes.n + 1;
    Launches l = {.v = v, .used = arena_array(v->arena, bool, n), .value = arena_array(v->arena, int64_t, n)};
    l.status = arena_array(v->arena, uint8_t, n);
    l.sym = arena_array(v->arena, int64_t, mf->syms.n + 1);
    find_used(&l);
    for (uint32_t at = 0; at < LAUNCHES && l.loops.n > 1 && !v->failed; at++) {
        if (!set_launch(&l, at) || !find_unseen(&l, &a, &b)) continue;
        bool more = false;
        for (uint32_t i = 0; i < l.syms.n; i++) more |= choice_beside(v, l.sym[l.syms.v[i]]);
        if (more) return true;
        Diag *g = verify_refuse(v, E0660, v->own.v[a->own],
                                "with %s this loop has more turns than another one (%lld, not %lld), and in none of the runs that were tried",
                                launch_text(&l), (long long)a->turns, (long long)b->turns);
        verify_also(v, g, v->own.v[b->own], "the other one");
    }
    return false;
}
