/* What launches have to do with the runs. Runs choose trip counts as if each were a number of its own, where a launch's sizes and scalars
 * decide them together. So the runs note how roles compare: how many turns each has had, up to each of its loops that use a barrier, fewer,
 * as many or more than another one. And of some thousand launches, with small and large numbers of many kinds, it is worked out how they
 * compare there.
 *
 * - A run that fails and compares as no such launch does refutes nothing: it is put aside.
 * - What no run has shown must not come in any launch: that is proved from the forms, or the launch checks it. Where one of those launches
 *   has it, its numbers are tried, too; where they are too large the kernel is refused, and so it is where data decide. So a run that was put
 *   aside is one that no launch comes to, unless it compares as others do that were proved.
 */
#include <stdlib.h>
#include <string.h>

#include "lang/checked.h"
#include "lower/verify/graph/tries/tries.h"
#include "lower/verify/graph/unroll/unroll.h"

enum { LAUNCHES = 4096, NEAR = 1024 };
static const int64_t NUMBERS[] = {0, 1, 2, 3, 5, 8, 17, 100, 192, 1000, 4096, 1000000, -1, -9};
enum { NNUMBERS = sizeof NUMBERS / sizeof *NUMBERS };
enum { LESS = 1, EQUAL = 2, MORE = 4, MET = 8 /* of two roles */ };

typedef struct Count { /* how often a role's loops use a barrier, from the first one up to `op`, in one turn of the loops around */
    Form x;
    Lx lx; /* 0: the launch does not decide it */
    Lx met; /* that of the loops around which has the fewest: where it has none nothing is counted; 0: there is none, or it is not known */
    uint32_t op; /* nops: it is the first one, no turns */
    uint8_t *how; /* by count before this one: LESS .. where this one was less, in runs that are proved */
} Count;
typedef struct Uses { /* of a barrier, in a turn of a loop: waits and arrivals that are in no loop inside */
    uint32_t bar, waits, arrivals;
} Uses;
typedef struct Mark { /* a loop was entered in this run: the order of the fields is that in which they are sorted */
    uint32_t bar, depth, pass, thread, nth;
    uint32_t op, times; /* in each turn */
    Form turns; /* 0: not known */
    int64_t number;
} Mark;
typedef struct Passed { /* a role's counts in one turn of the loops around */
    uint32_t from, n; /* of v->launches->counted */
} Passed;
typedef struct Counted {
    uint32_t count; /* + 1; 0: not known, like all behind it */
    int64_t turns;
} Counted;
typedef struct Compared { /* count `a` is LESS, EQUAL or MORE than `b`, which comes before it */
    uint32_t a, b;
    uint8_t how, met; /* MET, or 0: two loops of one role, one behind the other */
} Compared;
typedef VEC(Compared) Comparison;
typedef struct Had { /* turns in this run */
    int64_t a, b;
} Had;
typedef struct Aside { /* a run that failed, and compares as no launch does */
    Comparison all;
    VEC(Choice) choices;
} Aside;
struct Launches {
    VEC(Mark) marks; /* of this run */
    VEC(Passed) passed;
    VEC(Counted) counted;
    bool impossible; /* some loop has more turns than in any launch */
    int found;       /* of it: some_launch */
    Comparison now;
    VEC(Had) had; /* .. by comparison */
    VEC(Count) counts;
    VEC(uint32_t) count_of; /* by form: its count + 1 */
    VEC(Aside) aside;
    VEC(Compared) checked; /* what the launch has to check does not come */
    const Lx *made;    /* by value; 0: not made from what the launch has alone */
    uint32_t (*bars)[2]; /* by op that opens a loop: where its barriers are in uses, and behind it */
    VEC(Uses) uses;
    LxPool pool;       /* the launch's expressions, and, behind those, what counts are made from */
    uint32_t given;    /* how many the launch has */
    VEC(uint32_t) syms; /* that it has */
    int64_t *sym;      /* of a launch: by symbol */
    VEC(int64_t) value; /* .. by expression */
    VEC(uint8_t) status;
};

enum { NONE, FOUND, NO_LAUNCH /* none passes the checks */ };
enum { NO_TURNS = 1 /* that count, + 1 */ };

/* ---- loops, their barriers and bounds ---- */

static Lx number_of(Verifier *v, LxPool *p, const Lx *made, const IrArg *arg)
{
    int64_t k;
    if (verify_number(v, arg, &k)) return lx_const(v->arena, p, k);
    return arg && arg->kind == IRA_VAL ? made[arg->id - 1] : 0;
}

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

static uint32_t loop_around(const Verifier *v, const Body *b, uint32_t op)
{
    uint32_t at = b->around[op - b->base];
    while (at && v->ops[b->base + at - 1]->op == IR_IF) at = b->around[at - 1];
    return at ? b->base + at - 1 : v->nops;
}

static void find_bars(Verifier *v, struct Launches *l)
{
    uint32_t *use = arena_array(v->arena, uint32_t, v->k->bars.n + 1);
    l->bars = arena_alloc(v->arena, arena_bytes(v->nops + 1, sizeof *l->bars));
    for (uint32_t loop = 0; loop < v->nops; loop++) {
        const Body *b = verify_body(v, loop);
        if (v->ops[loop]->op != IR_LOOP || !(b->block[loop - b->base] & BLOCK_EVENTS)) continue;
        uint32_t first = l->bars[loop][0] = l->uses.n;
        for (uint32_t at = loop; at < b->base + b->partner[loop - b->base]; at++) {
            const IrArg *bar = verify_arg(v, at, IRK_BAR);
            if (bar == NULL) continue;
            if (use[bar->id] <= first) {
                vec_push(v->arena, &l->uses, ((Uses){.bar = bar->id}));
                use[bar->id] = l->uses.n;
            }
            if (loop_around(v, b, at) != loop || v->ops[at]->op == IR_BAR_EXPECT || v->group[at] == IRG_COPY) continue;
            Uses *u = &l->uses.v[use[bar->id] - 1];
            *(v->ops[at]->op == IR_BAR_WAIT ? &u->waits : &u->arrivals) += 1;
        }
        l->bars[loop][1] = l->uses.n;
    }
}

static struct Launches *prepare(Verifier *v)
{
    struct Launches *l = arena_new(v->arena, struct Launches);
    const MfKernel *mf = &v->k->mf;
    for (uint32_t i = 0; i < mf->lx.nodes.n; i++) vec_push(v->arena, &l->pool.nodes, mf->lx.nodes.v[i]);
    for (uint32_t i = 0; i < mf->lx.nodes.n; i++)
        if (mf->lx.nodes.v[i].op == LX_SYM) vec_push(v->arena, &l->syms, (uint32_t)mf->lx.nodes.v[i].k);
    l->given = mf->lx.nodes.n;
    l->made = expressions(v, &l->pool);
    l->sym = arena_array(v->arena, int64_t, mf->syms.n + 1);
    find_bars(v, l);
    vec_push(v->arena, &l->counts, ((Count){.x = form_const(&v->f, 0), .lx = lx_const(v->arena, &l->pool, 0), .op = v->nops}));
    while (l->count_of.n < l->counts.v[0].x) vec_push(v->arena, &l->count_of, 0);
    vec_push(v->arena, &l->count_of, NO_TURNS);
    return l;
}

/* ---- how the roles of a run compare ---- */

void launches_begin(Verifier *v)
{
    if (v->few) return;
    if (v->launches == NULL) v->launches = prepare(v);
    v->launches->marks.n = 0;
    v->launches->impossible = false;
}

/* Not below 0. */
static Form at_least_0(Verifier *v, Form x)
{
    if (x == 0 || form_data(&v->f, x)->lo >= 0) return x;
    return form_of_op(&v->f, v->k, &(IrOp){.op = IR_MAX, .type = IR_I64}, 0, x, form_const(&v->f, 0));
}

void launches_loop(Verifier *v, uint32_t op, Form turns, int64_t number)
{
    struct Launches *l = v->launches;
    const Thread *t = v->now;
    uint32_t depth = 0;
    if (v->few || t->rep) return;
    turns = at_least_0(v, turns);
    for (uint32_t i = 0; i < t->depth; i++) depth += loop_own_count(v, t->frames[i].op);
    for (uint32_t i = l->bars[op][0]; i < l->bars[op][1]; i++) {
        Uses u = l->uses.v[i];
        uint32_t times = u.waits > u.arrivals ? u.waits : u.arrivals;
        Mark m = {.bar = u.bar, .times = times ? times : 1, .depth = depth, .pass = t->times[op], .thread = t->id, .nth = l->marks.n, .op = op, .turns = turns, .number = number};
        vec_push(v->arena, &l->marks, m);
    }
    l->impossible |= turns && number > form_data(&v->f, turns)->hi; /* fewer stand for as many as it has */
}

static int by_order(const void *a, const void *b)
{
    const Mark *x = a, *y = b;
    const uint32_t p[] = {x->bar, x->depth, x->pass, x->thread, x->nth}, q[] = {y->bar, y->depth, y->pass, y->thread, y->nth};
    for (int i = 0; i < 5; i++)
        if (p[i] != q[i]) return p[i] < q[i] ? -1 : 1;
    return 0;
}

/* .. as an expression of the launch; 0: it is none. */
static Lx turns_of_loop(Verifier *v, struct Launches *l, uint32_t op)
{
    Lx lo = number_of(v, &l->pool, l->made, v->operands[op].a), hi = number_of(v, &l->pool, l->made, v->operands[op].b);
    if (v->ops[op]->op != IR_LOOP || lo == 0 || hi == 0) return 0;
    Lx zero = lx_const(v->arena, &l->pool, 0), turns = lx_op(v->arena, &l->pool, LX_SUB, hi, lo);
    return lx_op(v->arena, &l->pool, LX_MAX, turns, zero);
}

static Lx met_of(Verifier *v, struct Launches *l, uint32_t op)
{
    Lx least = 0;
    for (uint32_t around = verify_around(v, op); around < v->nops; around = verify_around(v, around)) {
        Lx turns = turns_of_loop(v, l, around);
        if (turns) least = least ? lx_op(v->arena, &l->pool, LX_MIN, least, turns) : turns;
    }
    return least;
}

/* The count, + 1. before: the role's up to the loop before; 0: none. */
static uint32_t count_of(Verifier *v, struct Launches *l, uint32_t before, const Mark *m)
{
    Form x = form_add(&v->f, before ? l->counts.v[before - 1].x : form_const(&v->f, 0), m->times, m->turns);
    if (x == 0) return 0;
    while (l->count_of.n <= x) vec_push(v->arena, &l->count_of, 0);
    Lx met = met_of(v, l, m->op);
    if (l->count_of.v[x]) {
        Count *c = &l->counts.v[l->count_of.v[x] - 1];
        if (c->met != met) c->met = 0;
        return l->count_of.v[x];
    }
    Lx lx = turns_of_loop(v, l, m->op);
    if (lx) lx = lx_op(v->arena, &l->pool, LX_MUL, lx, lx_const(v->arena, &l->pool, m->times));
    if (before && lx) lx = l->counts.v[before - 1].lx ? lx_op(v->arena, &l->pool, LX_ADD, l->counts.v[before - 1].lx, lx) : 0;
    Count c = {.x = x, .lx = lx, .met = met, .op = m->op, .how = arena_array(v->arena, uint8_t, l->counts.n + 1)};
    vec_push(v->arena, &l->counts, c);
    return l->count_of.v[x] = l->counts.n;
}

static void compare_two(Verifier *v, struct Launches *l, Counted x, Counted y, uint8_t met)
{
    if (x.count == 0 || y.count == 0 || x.count == y.count) return;
    if (x.count < y.count) {
        Counted swap = x;
        x = y;
        y = swap;
    }
    Compared c = {x.count - 1, y.count - 1, x.turns < y.turns ? LESS : x.turns > y.turns ? MORE : EQUAL, met};
    vec_push(v->arena, &l->now, c);
    vec_push(v->arena, &l->had, ((Had){x.turns, y.turns}));
}

/* Without those before it: what one loop begins the next one goes on with. */
static Counted turns_alone(Verifier *v, struct Launches *l, const Mark *m)
{
    return (Counted){count_of(v, l, 0, m), m->number * m->times};
}

static void add_passed(Verifier *v, struct Launches *l, uint32_t first, uint32_t end)
{
    Passed p = {l->counted.n, 0};
    int64_t turns = 0;
    uint32_t count = 0;
    for (uint32_t i = first; i < end; i++, p.n++) {
        const Mark *m = &l->marks.v[i];
        if (i > first) compare_two(v, l, turns_alone(v, l, m - 1), turns_alone(v, l, m), 0);
        count = i > first && count == 0 ? 0 : count_of(v, l, count, m);
        turns += m->number * m->times;
        vec_push(v->arena, &l->counted, ((Counted){count, turns}));
    }
    for (uint32_t i = 0; i < l->passed.n; i++) { /* as another one has */
        const Passed *o = &l->passed.v[i];
        bool same = o->n == p.n;
        for (uint32_t j = 0; j < p.n && same; j++) same = l->counted.v[o->from + j].count == l->counted.v[p.from + j].count;
        if (same) return;
    }
    vec_push(v->arena, &l->passed, p);
}

static void compare(Verifier *v, struct Launches *l, Passed p, Passed q)
{
    const Counted *a = &l->counted.v[p.from], *b = &l->counted.v[q.from];
    uint32_t first = 0;
    while (first < p.n && first < q.n && a[first].count == b[first].count) first++; /* as many so far, in every launch */
    for (uint32_t i = first; i < p.n && a[i].count; i++)
        for (uint32_t j = first; j < q.n && b[j].count; j++) compare_two(v, l, a[i], b[j], MET);
}

/* Of this run, in l->now. */
static void compare_all(Verifier *v, struct Launches *l)
{
    if (l->marks.n) qsort(l->marks.v, l->marks.n, sizeof *l->marks.v, by_order);
    l->now.n = l->had.n = 0;
    for (uint32_t i = 0, end; i < l->marks.n; i = end) {
        const Mark *m = &l->marks.v[i];
        l->passed.n = l->counted.n = 0;
        for (uint32_t at = end = i; end < l->marks.n; at = end) {
            const Mark *o = &l->marks.v[at];
            if (o->bar != m->bar || o->depth != m->depth || o->pass != m->pass) break;
            while (end < l->marks.n && l->marks.v[end].bar == m->bar && l->marks.v[end].depth == m->depth && l->marks.v[end].pass == m->pass &&
                   l->marks.v[end].thread == o->thread)
                end++;
            add_passed(v, l, at, end);
        }
        for (uint32_t j = 0; j < l->counted.n; j++)
            compare_two(v, l, l->counted.v[j], (Counted){NO_TURNS, 0}, MET);
        for (uint32_t p = 0; p < l->passed.n; p++)
            for (uint32_t q = 0; q < p; q++) compare(v, l, l->passed.v[p], l->passed.v[q]);
    }
}

/* What is compared has to be known of all launches; what a run shows that no launch comes to says nothing of them. */
static void note(Verifier *v, bool proved)
{
    struct Launches *l = v->launches;
    compare_all(v, l);
    for (uint32_t i = 0; i < l->now.n; i++) {
        const Compared *c = &l->now.v[i];
        l->counts.v[c->a].how[c->b] |= (uint8_t)(c->met | (proved && !l->impossible ? c->how : 0));
    }
}

void launches_keep(Verifier *v)
{
    if (!v->few) note(v, true);
}

/* ---- launches ---- */

/* With the numbers that its symbols have. */
static bool passes_checks(const Verifier *v, struct Launches *l)
{
    const MfKernel *mf = &v->k->mf;
    while (l->value.n < l->pool.nodes.n) {
        vec_push(v->arena, &l->value, 0);
        vec_push(v->arena, &l->status, 0);
    }
    lx_eval(l->pool.nodes.v, l->pool.nodes.n, l->sym, l->value.v, l->status.v);
    for (uint32_t x = 0; x < mf->lx.nodes.n; x++) {
        Interval r = v->f.launch[x];
        if (l->status.v[x] == LX_OK && (l->value.v[x] < r.lo || l->value.v[x] > r.hi)) return false;
    }
    for (uint32_t i = 0; i < mf->checks.n; i++) {
        Lx x = mf->checks.v[i].cond;
        if (l->status.v[x - 1] != LX_OK || l->value.v[x - 1] == 0) return false;
    }
    return true;
}

/* Of few symbols all combinations, of more some. False: there is no such launch. */
static bool set_launch(const Verifier *v, struct Launches *l, uint32_t number)
{
    uint64_t all = 1, at = number;
    for (uint32_t i = 0; i < l->syms.n && all <= LAUNCHES; i++) all *= NNUMBERS;
    if (number >= all) return false;
    for (uint32_t i = 0; i < l->syms.n; i++, at /= NNUMBERS) {
        uint64_t drawn = ((uint64_t)number * l->syms.n + i + 1) * UINT64_C(0x9E3779B97F4A7C15) >> 33;
        l->sym[l->syms.v[i]] = NUMBERS[(all <= LAUNCHES ? at : drawn) % NNUMBERS];
    }
    return passes_checks(v, l);
}

static bool decided(const struct Launches *l, const Compared *c)
{
    return l->counts.v[c->a].lx && l->counts.v[c->b].lx;
}

static bool is_met(const struct Launches *l, const Count *c)
{
    return c->met == 0 || l->status.v[c->met - 1] != LX_OK || l->value.v[c->met - 1] > 0;
}

/* In the launch at hand. */
static bool holds(const struct Launches *l, const Compared *c)
{
    if (!is_met(l, &l->counts.v[c->a]) || !is_met(l, &l->counts.v[c->b])) return false;
    Lx x = l->counts.v[c->a].lx, y = l->counts.v[c->b].lx;
    int64_t a = l->value.v[x - 1], b = l->value.v[y - 1];
    if (l->status.v[x - 1] != LX_OK || l->status.v[y - 1] != LX_OK) return false;
    return c->how & (a < b ? LESS : a > b ? MORE : EQUAL);
}

/* A launch in which all of them hold, as far as launches decide that; it is the one at hand when it is FOUND. */
static int some_launch(const Verifier *v, struct Launches *l, const Compared *all, uint32_t n)
{
    int met = NO_LAUNCH;
    for (uint32_t at = 0; at < LAUNCHES; at++) {
        if (!set_launch(v, l, at)) continue;
        bool found = true;
        for (uint32_t i = 0; i < n && found; i++) found = !decided(l, &all[i]) || holds(l, &all[i]);
        if (found) return FOUND;
        met = NONE;
    }
    return met;
}

static bool same(const Comparison *x, const Comparison *y)
{
    return x->n == y->n && (x->n == 0 || memcmp(x->v, y->v, x->n * sizeof *x->v) == 0);
}

bool launches_doubt(Verifier *v)
{
    struct Launches *l = v->launches;
    bool any = false, known = false;
    if (v->few) return false;
    l->found = NONE;
    if (v->again || v->trusting) return false;
    note(v, false);
    if (l->impossible) return true;
    for (uint32_t i = 0; i < l->now.n; i++) any |= decided(l, &l->now.v[i]);
    if (!any) return false;
    for (uint32_t i = 0; i < l->aside.n && !known; i++) known = same(&l->aside.v[i].all, &l->now);
    if (known) return true;
    l->found = some_launch(v, l, l->now.v, l->now.n);
    if (l->found != NONE) return false;
    Aside *a = vec_add(v->arena, &l->aside);
    *a = (Aside){0};
    for (uint32_t i = 0; i < l->now.n; i++) vec_push(v->arena, &a->all, l->now.v[i]);
    for (uint32_t i = 0; i < v->choices.n; i++) vec_push(v->arena, &a->choices, v->choices.v[i]);
    return true;
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

static const char *role_text(const Verifier *v, const Count *c)
{
    const char *role = verify_body(v, c->op)->role->name;
    return role ? role : "the kernel";
}

/* Loops that are compared turn in the launch at hand as in this run. */
static bool exact(const struct Launches *l)
{
    for (uint32_t i = 0; i < l->now.n; i++) {
        const Compared *c = &l->now.v[i];
        if (!decided(l, c) || c->b + 1 == NO_TURNS) continue;
        Lx a = l->counts.v[c->a].lx, b = l->counts.v[c->b].lx;
        bool known = l->status.v[a - 1] == LX_OK && l->status.v[b - 1] == LX_OK;
        if (!known || l->value.v[a - 1] != l->had.v[i].a || l->value.v[b - 1] != l->had.v[i].b) return false;
    }
    return true;
}

/* With another number for one of its symbols it is one whose loops turn as in this run. */
static bool make_exact(const Verifier *v, struct Launches *l)
{
    if (exact(l)) return true;
    for (uint32_t i = 0; i < l->syms.n; i++) {
        int64_t *sym = &l->sym[l->syms.v[i]], was = *sym;
        for (*sym = 0; *sym <= NEAR; ++*sym)
            if (passes_checks(v, l) && exact(l)) return true;
        *sym = was;
    }
    return false;
}

static const char *turns_text(const Verifier *v, int64_t n)
{
    return n == 1 ? "once" : arena_printf(v->arena, "%lld times", (long long)n);
}

const char *launches_example(const Verifier *v)
{
    struct Launches *l = v->launches;
    for (uint32_t i = 0; i < l->now.n && l->found == FOUND; i++) {
        const Compared *c = &l->now.v[i];
        const Count *a = &l->counts.v[c->a], *b = &l->counts.v[c->b];
        if (c->how == EQUAL || !c->met || b->op == v->nops || !decided(l, c) || l->syms.n == 0) continue;
        const char *turn = arena_printf(v->arena, "the loops of %s turn %s and those of %s %s", role_text(v, a), turns_text(v, l->had.v[i].a),
                                        role_text(v, b), turns_text(v, l->had.v[i].b));
        if (make_exact(v, l)) return arena_printf(v->arena, "as with %s, where %s", launch_text(v), turn);
        return arena_printf(v->arena, "where %s: which of two loops turns more often is followed, no more of how they depend on one another", turn);
    }
    return NULL;
}

/* ---- what no run has shown ---- */

/* The forms show that it never holds. */
static bool never(Verifier *v, const struct Launches *l, const Compared *c)
{
    Forms *f = &v->f;
    Form a = l->counts.v[c->a].x, b = l->counts.v[c->b].x;
    if (c->how == LESS) return form_le(f, b, a);
    if (c->how == MORE) return form_le(f, a, b);
    return form_le(f, form_add(f, a, 1, form_const(f, 1)), b) || form_le(f, form_add(f, b, 1, form_const(f, 1)), a);
}

/* Whether runs with the numbers of a launch that has it are to come. */
static bool look_into(Verifier *v, struct Launches *l, const Compared *c)
{
    bool more = false;
    const Count *a = &l->counts.v[c->a], *b = &l->counts.v[c->b];
    if (never(v, l, c)) return false;
    if (!decided(l, c)) {
        Diag *g = verify_refuse(v, E0660, a->op, "this loop may have %s another one, and in none of the runs that were tried",
                                c->how == LESS ? "fewer turns than" : c->how == MORE ? "more turns than" : "as many turns as");
        verify_also(v, g, b->op, "the other one");
    } else if (some_launch(v, l, c, 1) != FOUND) {
        vec_push(v->arena, &l->checked, *c);
    } else {
        for (uint32_t i = 0; i < l->syms.n; i++) more |= choice_beside(v, l->sym[l->syms.v[i]]);
        if (more) return true;
        Diag *g = verify_refuse(v, E0660, a->op, "with %s this loop has %lld turns and another one %lld: none of the runs that were tried compares so",
                                launch_text(v), (long long)l->value.v[a->lx - 1], (long long)l->value.v[b->lx - 1]);
        verify_also(v, g, b->op, "the other one");
    }
    return false;
}

static bool unseen(const struct Launches *l, const Compared *c)
{
    return !(l->counts.v[c->a].how[c->b] & c->how);
}

bool launches_more(Verifier *v)
{
    struct Launches *l = v->launches;
    l->checked.n = 0;
    for (uint32_t a = 0; a < l->counts.n; a++) {
        for (uint32_t b = 0; b < a; b++) {
            for (uint8_t how = LESS; how <= MORE && l->counts.v[a].how[b] & MET; how = (uint8_t)(how * 2)) {
                Compared c = {a, b, how, MET};
                if (unseen(l, &c) && look_into(v, l, &c)) return true;
                if (v->failed) return false;
            }
        }
    }
    return false;
}

/* No launch has it: no run that is proved does, and it is proved, or the launch checks it. */
static bool excluded(Verifier *v, struct Launches *l, const Compared *c)
{
    if (!unseen(l, c)) return false;
    if (c->met || never(v, l, c)) return true;
    if (!decided(l, c) || some_launch(v, l, c, 1) == FOUND) return false;
    vec_push(v->arena, &l->checked, *c);
    return true;
}

/* What compares as runs do that are proved, and failed: it is done again, and reported. */
void launches_check(Verifier *v)
{
    struct Launches *l = v->launches;
    for (uint32_t i = 0; i < l->aside.n && !v->failed; i++) {
        const Aside *a = &l->aside.v[i];
        bool out = false;
        for (uint32_t j = 0; j < a->all.n && !out; j++) out = excluded(v, l, &a->all.v[j]);
        if (out) continue;
        v->choices.n = 0;
        for (uint32_t j = 0; j < a->choices.n; j++) vec_push(v->arena, &v->choices, a->choices.v[j]);
        v->trusting = true;
        verify_run(v);
        v->trusting = false;
    }
}

/* ---- checks of the launch ---- */

/* As one of the launch's. */
static Lx given(const struct Launches *l, Arena *keep, LxPool *to, Lx x)
{
    const LxNode *n = &l->pool.nodes.v[x - 1];
    if (x <= l->given) return x;
    if (n->op == LX_CONST) return lx_const(keep, to, n->k);
    Lx a = given(l, keep, to, n->a), b = n->b ? given(l, keep, to, n->b) : 0;
    return lx_op(keep, to, (LxOp)n->op, a, b);
}

static const char *demanded(Verifier *v, Arena *keep, const Compared *c)
{
    const Count *a = &v->launches->counts.v[c->a], *b = &v->launches->counts.v[c->b];
    if (b->op == v->nops) return arena_printf(keep, "the loops of %s up to this one %s", role_text(v, a), c->how == EQUAL ? "turn" : "never turn");
    const char *how = c->how == LESS ? "no less often than" : c->how == MORE ? "no more often than" : "not as often as";
    return arena_printf(keep, "the loops of %s up to this one turn %s those of %s up to %s", role_text(v, a), how, role_text(v, b), verify_line(v, b->op));
}

static bool checked_already(const MfKernel *mf, Lx cond)
{
    bool found = false;
    for (uint32_t i = 0; i < mf->checks.n && !found; i++) found = mf->checks.v[i].cond == cond;
    return found;
}

void launches_demand(Verifier *v)
{
    Arena *keep = v->demands->arena;
    MfKernel *mf = v->demands->mf;
    const struct Launches *l = v->launches;
    for (uint32_t i = 0; i < l->checked.n; i++) {
        const Compared *c = &l->checked.v[i];
        Lx a = given(l, keep, &mf->lx, l->counts.v[c->a].lx), b = given(l, keep, &mf->lx, l->counts.v[c->b].lx);
        Lx cond = c->how == LESS ? lx_op(keep, &mf->lx, LX_LE, b, a) : lx_op(keep, &mf->lx, c->how == MORE ? LX_LE : LX_NE, a, b);
        if (l->counts.v[c->a].met) cond = lx_op(keep, &mf->lx, LX_LOR, cond, lx_op(keep, &mf->lx, LX_LE, given(l, keep, &mf->lx, l->counts.v[c->a].met), lx_const(keep, &mf->lx, 0)));
        if (checked_already(mf, cond)) continue;
        MfCheck check = {.code = E1143, .cond = cond, .text = demanded(v, keep, c), .why = "what one role waits for, the other one does as often"};
        check.place = verify_where(v, keep, l->counts.v[c->a].op);
        vec_push(keep, &mf->checks, check);
    }
}
