/* How the roles of a run compare: how often each has used a barrier, up to each of its loops, less often, as often or more often than another
 * one, and by how much. Loops in one turn of the loops around go together; turns around are counted through all loops as deep as each other.
 * All that each does in the run is compared, too: one role may have loops in other turns than the other one, or waits and arrivals beside them.
 */
#include <stdlib.h>
#include <string.h>

#include "lang/checked.h"
#include "lower/verify/graph/tries/roles.h"
#include "lower/verify/graph/tries/tries.h"
#include "lower/verify/graph/unroll/unroll.h"

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

static uint32_t loop_around(const Verifier *v, uint32_t op)
{
    uint32_t at = v->around[op];
    while (at && v->ops[at - 1]->op == IR_IF) at = v->around[at - 1];
    return at ? at - 1 : v->nops;
}

/* How often a turn of the loop comes to the op; 0: that is up to a loop inside. */
static int64_t times_in_turn(const Verifier *v, uint32_t loop, uint32_t op)
{
    int64_t times = 1, turns;
    for (uint32_t at = loop_around(v, op); at != loop; at = loop_around(v, at)) {
        bool fixed = v->ops[at]->op == IR_LOOP && loop_fixed(v, at) && sub_s64(v->operands[at].b->imm, v->operands[at].a->imm, &turns);
        if (!fixed || !mul_s64(times, turns > 0 ? turns : 0, &times) || times > INT32_MAX) return 0;
    }
    return times;
}

static int64_t most_of(const Verifier *v, const int64_t *uses)
{
    int64_t arrivals = uses[ARRIVALS] + (uses[FAR] + v->nranks - 1) / v->nranks;
    return uses[WAITS] > arrivals ? uses[WAITS] : arrivals;
}

static Lx turns_of_loop(Verifier *v, Roles *r, uint32_t op)
{
    Lx lo = number_of(v, &r->pool, r->made, v->operands[op].a), hi = number_of(v, &r->pool, r->made, v->operands[op].b);
    if (v->ops[op]->op != IR_LOOP || lo == 0 || hi == 0) return 0;
    Lx zero = lx_const(v->arena, &r->pool, 0), turns = lx_op(v->arena, &r->pool, LX_SUB, hi, lo);
    return lx_op(v->arena, &r->pool, LX_MAX, turns, zero);
}

static int how_used(const Verifier *v, uint32_t op)
{
    if (v->ops[op]->op == IR_BAR_EXPECT || v->group[op] == IRG_COPY) return USES;
    return v->ops[op]->op == IR_BAR_WAIT ? WAITS : verify_arg(v, op, IRK_RANK) ? FAR : ARRIVALS;
}

/* Uses that are in no loop. */
static void find_plain(Verifier *v, Roles *r)
{
    r->plain = arena_alloc(v->arena, arena_bytes((size_t)v->bodies.n * v->k->bars.n + 1, sizeof *r->plain));
    for (uint32_t i = 0; i < v->bodies.n; i++) {
        for (uint32_t at = v->bodies.v[i].first; at < v->bodies.v[i].end; at++) {
            const IrArg *bar = verify_arg(v, at, IRK_BAR);
            int how = bar ? how_used(v, at) : USES;
            if (how != USES && loop_around(v, at) == v->nops) r->plain[(size_t)i * v->k->bars.n + bar->id][how]++;
        }
    }
}

static void find_loops(Verifier *v, Roles *r)
{
    uint32_t *use = arena_array(v->arena, uint32_t, v->k->bars.n + 1);
    for (uint32_t loop = 0; loop < v->nops; loop++) {
        if (v->ops[loop]->op != IR_LOOP || !(v->block[loop] & BLOCK_EVENTS)) continue;
        Loop *now = &r->loops[loop];
        uint32_t first = now->first = r->uses.n;
        for (uint32_t at = loop; at < v->partner[loop]; at++) {
            const IrArg *bar = verify_arg(v, at, IRK_BAR);
            if (bar == NULL) continue;
            if (use[bar->id] <= first) {
                vec_push(v->arena, &r->uses, ((Uses){.bar = bar->id}));
                use[bar->id] = r->uses.n;
            }
            int how = how_used(v, at);
            if (how == USES) continue;
            Uses *u = &r->uses.v[use[bar->id] - 1];
            u->own[how] += loop_around(v, at) == loop;
            u->all[how] += times_in_turn(v, loop, at);
        }
        now->end = r->uses.n;
        now->turns = turns_of_loop(v, r, loop);
        for (uint32_t around = verify_around(v, loop); around < v->nops; around = verify_around(v, around)) {
            Lx turns = turns_of_loop(v, r, around);
            if (turns) now->met = now->met ? lx_op(v->arena, &r->pool, LX_MIN, now->met, turns) : turns;
        }
    }
}

static Roles *prepare(Verifier *v)
{
    Roles *r = arena_new(v->arena, Roles);
    const LxPool *given = &v->k->mf.lx;
    for (uint32_t i = 0; i < given->nodes.n; i++) vec_push(v->arena, &r->pool.nodes, given->nodes.v[i]);
    r->made = expressions(v, &r->pool);
    r->loops = arena_array(v->arena, Loop, v->nops + 1);
    r->pairs = names_new(v->arena);
    find_loops(v, r);
    find_plain(v, r);
    vec_push(v->arena, &r->counts, ((Count){.x = form_const(&v->f, 0), .lx = lx_const(v->arena, &r->pool, 0), .op = v->nops}));
    while (r->count_of.n < r->counts.v[0].x) vec_push(v->arena, &r->count_of, 0);
    vec_push(v->arena, &r->count_of, NO_TURNS);
    return r;
}

/* ---- how the roles of a run compare ---- */

void roles_begin(Verifier *v)
{
    if (v->roles == NULL) v->roles = prepare(v);
    v->roles->marks.n = 0;
    v->roles->impossible = false;
}

/* Not below 0. */
static Form at_least_0(Verifier *v, Form x)
{
    if (x == 0 || form_data(&v->f, x)->lo >= 0) return x;
    return form_of_op(&v->f, v->k, &(IrOp){.op = IR_MAX, .type = IR_I64}, 0, x, form_const(&v->f, 0));
}

void roles_loop(Verifier *v, uint32_t op, Form turns, int64_t number)
{
    Roles *r = v->roles;
    const Thread *t = v->now;
    uint32_t depth = 0;
    int64_t turn = 0;
    if (v->few || t->rep) return;
    turns = at_least_0(v, turns);
    for (uint32_t i = 0; i < t->depth; i++) {
        if (!loop_own_count(v, t->frames[i].op)) continue;
        depth++;
        turn = t->frames[i].at;
    }
    bool own = loop_own_count(v, op);
    for (uint32_t i = r->loops[op].first; i < r->loops[op].end; i++) {
        const Uses *u = &r->uses.v[i];
        int64_t uses = most_of(v, own ? u->all : u->own);
        if (!own && uses == 0) continue;
        Mark m = {.bar = u->bar, .thread = t->id, .nth = r->marks.n, .depth = depth, .turn = turn, .op = op, .turns = turns, .number = number};
        m.uses = own || depth == 0 ? uses : 0;
        m.times = uses ? uses : 1;
        vec_push(v->arena, &r->marks, m);
    }
    r->impossible |= turns && number > form_data(&v->f, turns)->hi; /* fewer stand for as many as it has */
}

static int in_order(const int64_t *p, const int64_t *q, int n)
{
    for (int i = 0; i < n; i++)
        if (p[i] != q[i]) return p[i] < q[i] ? -1 : 1;
    return 0;
}

static int by_thread(const void *a, const void *b)
{
    const Mark *x = a, *y = b;
    const int64_t p[] = {x->bar, x->thread, x->nth}, q[] = {y->bar, y->thread, y->nth};
    return in_order(p, q, 3);
}

static int by_turn(const void *a, const void *b)
{
    const Mark *x = a, *y = b;
    const int64_t p[] = {x->bar, x->depth, x->pass, x->thread, x->nth}, q[] = {y->bar, y->depth, y->pass, y->thread, y->nth};
    return in_order(p, q, 5);
}

/* The count, + 1. before: the role's up to there; 0: none. */
static uint32_t count_of(Verifier *v, Roles *r, uint32_t before, uint32_t op, Form turns, int64_t times)
{
    Lx met = r->loops[op].met, lx = r->loops[op].turns;
    Form x = form_add(&v->f, before ? r->counts.v[before - 1].x : form_const(&v->f, 0), times, turns);
    int64_t k;
    if (x == 0) return 0;
    while (r->count_of.n <= x) vec_push(v->arena, &r->count_of, 0);
    if (r->count_of.v[x]) {
        Count *c = &r->counts.v[r->count_of.v[x] - 1];
        if (c->met != met) c->met = 0;
        return r->count_of.v[x];
    }
    if (form_is_const(&v->f, turns, &k)) lx = lx_const(v->arena, &r->pool, k);
    if (lx) lx = lx_op(v->arena, &r->pool, LX_MUL, lx, lx_const(v->arena, &r->pool, times));
    if (before && lx) lx = r->counts.v[before - 1].lx ? lx_op(v->arena, &r->pool, LX_ADD, r->counts.v[before - 1].lx, lx) : 0;
    bool several = times != 1 || (before && r->counts.v[before - 1].several);
    Count c = {.x = x, .lx = lx, .met = met, .op = op, .several = several};
    vec_push(v->arena, &r->counts, c);
    return r->count_of.v[x] = r->counts.n;
}

/* Behind `before`, which is known unless it is the first one: times in each of so many turns. */
static Counted counted(Verifier *v, Roles *r, Counted before, uint32_t op, Form turns, int64_t number, int64_t times)
{
    int64_t sum;
    if (!mul_s64(number, times, &sum) || !add_s64(before.turns, sum, &sum)) return (Counted){0};
    return (Counted){count_of(v, r, before.count, op, turns, times), sum};
}

static void compare_two(Verifier *v, Roles *r, Counted x, Counted y, uint8_t met)
{
    if (x.count == 0 || y.count == 0 || x.count == y.count) return;
    if (x.count < y.count) {
        Counted swap = x;
        x = y;
        y = swap;
    }
    Compared c = {x.count - 1, y.count - 1, x.turns < y.turns ? LESS : x.turns > y.turns ? MORE : EQUAL, met, ONE_FOR_ONE, 0};
    vec_push(v->arena, &r->now, c);
    vec_push(v->arena, &r->had, ((Had){x.turns, y.turns}));
}

static bool counted_alike(const Roles *r, const Passed *p, const Passed *q)
{
    bool alike = p->n == q->n;
    for (uint32_t i = 0; i < p->n && alike; i++) alike = r->counted.v[p->from + i].count == r->counted.v[q->from + i].count;
    return alike;
}

static void add_passed(Verifier *v, Roles *r, uint32_t first, uint32_t end)
{
    Passed p = {r->counted.n, 0};
    Counted now = {0}, before = {0};
    bool known = false;
    for (uint32_t i = first; i < end; i++, p.n++) {
        const Mark *m = &r->marks.v[i];
        Counted alone = counted(v, r, (Counted){0}, m->op, m->turns, m->number, m->times);
        if (i > first) compare_two(v, r, before, alone, 0); /* what one loop begins the next one goes on with */
        before = alone;
        now = i > first && now.count == 0 ? now : counted(v, r, now, m->op, m->turns, m->number, m->times);
        vec_push(v->arena, &r->counted, now);
    }
    for (uint32_t i = 0; i < r->passed.n && !known; i++) known = counted_alike(r, &r->passed.v[i], &p);
    if (!known) vec_push(v->arena, &r->passed, p);
}

static void compare(Verifier *v, Roles *r, Passed p, Passed q)
{
    const Counted *a = &r->counted.v[p.from], *b = &r->counted.v[q.from];
    uint32_t first = 0;
    while (first < p.n && first < q.n && a[first].count == b[first].count) first++; /* as many so far, in every launch */
    for (uint32_t i = first; i < p.n && a[i].count; i++)
        for (uint32_t j = first; j < q.n && b[j].count; j++) compare_two(v, r, a[i], b[j], MET);
}

/* Whether loops that use the barrier, and are no part of its turns, follow within it. */
static bool around(const Verifier *v, const Mark *m, const Mark *end)
{
    const Mark *next = m + 1;
    if (!loop_own_count(v, m->op)) return false;
    while (next < end && next->uses == 0 && !loop_own_count(v, next->op)) next++;
    return next < end && next->depth > m->depth;
}

/* What a thread does with a barrier in the whole run, in marks that are sorted by threads. Loops around others have as many turns as in this
 * run, where those inside are met in each of them. */
static Counted find_whole(Verifier *v, Roles *r, Mark *marks, const Mark *end)
{
    uint32_t role = 1 + v->threads.v[marks->thread].role;
    int64_t plain = most_of(v, r->plain[(size_t)role * v->k->bars.n + marks->bar]);
    int64_t begun[FRAMES + 1] = {0}, before[FRAMES + 1] = {0};
    Counted all = plain ? counted(v, r, (Counted){0}, marks->op, form_const(&v->f, plain), plain, 1) : (Counted){0};
    bool known = plain == 0 || all.count;
    for (Mark *m = marks; m < end; m++) {
        m->pass = before[m->depth] + m->turn;
        Form turns = around(v, m, end) ? form_const(&v->f, m->number) : m->turns;
        if (m->uses && known) all = counted(v, r, all, m->op, turns, m->number, m->uses);
        known = known && (m->uses == 0 || all.count);
        if (!loop_own_count(v, m->op) || m->depth == FRAMES) continue;
        before[m->depth + 1] = begun[m->depth];
        begun[m->depth] += m->number;
    }
    return known ? all : (Counted){0};
}

/* All that each does in the run. */
static void find_wholes(Verifier *v, Roles *r, bool whole)
{
    if (r->marks.n) qsort(r->marks.v, r->marks.n, sizeof *r->marks.v, by_thread);
    for (uint32_t i = 0, end; i < r->marks.n; i = end) {
        Mark *m = &r->marks.v[i];
        for (end = i; end < r->marks.n && r->marks.v[end].bar == m->bar && r->marks.v[end].thread == m->thread;) end++;
        if (i == 0 || m[-1].bar != m->bar) r->wholes.n = 0;
        Counted all = find_whole(v, r, m, &r->marks.v[end]);
        bool known = false;
        for (uint32_t j = 0; j < r->wholes.n && !known; j++) {
            known = all.count == r->wholes.v[j].count;
            if (whole) compare_two(v, r, all, r->wholes.v[j], MET);
        }
        if (!known) vec_push(v->arena, &r->wholes, all);
    }
}

static bool one_turn(const Mark *a, const Mark *b)
{
    return a->bar == b->bar && a->depth == b->depth && a->pass == b->pass;
}

void roles_compare(Verifier *v, bool whole)
{
    Roles *r = v->roles;
    r->now.n = r->had.n = 0;
    find_wholes(v, r, whole);
    if (r->marks.n) qsort(r->marks.v, r->marks.n, sizeof *r->marks.v, by_turn);
    for (uint32_t i = 0, end; i < r->marks.n; i = end) {
        const Mark *m = &r->marks.v[i];
        r->passed.n = r->counted.n = 0;
        for (uint32_t at = end = i; end < r->marks.n && one_turn(m, &r->marks.v[end]); at = end) {
            while (end < r->marks.n && one_turn(m, &r->marks.v[end]) && r->marks.v[end].thread == r->marks.v[at].thread) end++;
            add_passed(v, r, at, end);
        }
        for (uint32_t j = 0; j < r->counted.n; j++)
            compare_two(v, r, r->counted.v[j], (Counted){NO_TURNS, 0}, MET);
        for (uint32_t p = 0; p < r->passed.n; p++)
            for (uint32_t q = 0; q < p; q++) compare(v, r, r->passed.v[p], r->passed.v[q]);
    }
}
