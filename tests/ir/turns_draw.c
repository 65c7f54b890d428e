/* Programs drawn from seeds: roles that pass through the elements 0, 1, .. of rings, in loops of many shapes.
 *
 * A ring has a barrier that says a slot is full and one that says it is free. Element e is in slot e % S; each role does with each element what is its
 * part: waits, a copy, arrivals. A walk is a loop, or several, that passes through all elements once and in order, if the number of elements is
 * the one of the other roles: mostly it is, in the same or another form, or it deviates from it behind a threshold.
 */
#include <stdlib.h>

#include "turns.h"

enum { STATEMENTS = 2048, RINGS = 2 };
static Stmt statement[STATEMENTS];
static int statements;

typedef struct Ring {
    int full, empty; /* barriers */
    int variable;    /* C or D */
    int slots;
} Ring;

typedef struct Part { /* what a role does with an element, of each ring */
    int fills, takes, frees; /* arrivals at full; waits for it; arrivals at empty */
    bool copies;             /* in (fills) or out (takes) */
} Part;

static Program *prog;
static Ring ring[RINGS];
static int rings;
static Part part[RINGS]; /* of the role at hand */
static bool by_variable;
static const Sum *before; /* elements of the turns of a loop around; NULL: there is none */

/* ---- statements ---- */

static Stmt *make(Act act, int bar, const Sum *at)
{
    if (statements == STATEMENTS) abort();
    statement[statements] = (Stmt){.act = act, .bar = bar, .at = at};
    return &statement[statements++];
}

static Stmt *seq(Stmt *a, Stmt *b)
{
    Stmt *last = a;
    if (!a) return b;
    while (last->next) last = last->next;
    last->next = b;
    return a;
}

static Stmt *loop(int name, const Sum *from, const Sum *to, Stmt *body)
{
    Stmt *s = make(FOR, 0, NULL);
    s->name = name, s->a = from, s->b = to, s->body = body;
    return s;
}

static Stmt *condition(const Sum *if_, Stmt *body, Stmt *other)
{
    Stmt *s = make(IF, 0, NULL);
    s->a = if_, s->body = body, s->other = other;
    return s;
}

static const Sum *with(Kind k, const Sum *a, int64_t n)
{
    bool nothing = ((k == ADD || k == SUB) && n == 0) || ((k == MUL || k == DIV) && n == 1);
    return nothing ? a : op(k, a, number(n));
}

static const Sum *add(const Sum *a, const Sum *b)
{
    if (a->kind == NUMBER && a->n == 0) return b;
    return b->kind == NUMBER ? with(ADD, a, b->n) : op(ADD, a, b);
}

static bool has(Form form)
{
    prog->form[form] = true;
    return true;
}

/* ---- numbers of elements ---- */

static int64_t threshold(void)
{
    return some(2) ? (has(THRESHOLD), PICK(20, 100, 190, 140, 1000)) : PICK(1, 2, 3, 4, 6, 9, 12);
}

static const Sum *above(const Sum *a, int64_t n) /* max(a - n, 0) */
{
    return op(MAX, with(SUB, a, n), number(0));
}

static const Sum *base(int r)
{
    const Sum *n = named(N), *m = named(M);
    switch (some(32)) {
    case 0: case 1: case 2: return with(MUL, n, r);
    case 3: return with(MUL, with(DIV, n, r), r);
    case 4: return op(SUB, n, with(MOD, n, r > 1 ? r : 2));
    case 5: return op(some(2) ? ADD : MAX, n, m);
    case 6: return op(MIN, n, m);
    case 7: return with(some(2) ? CEIL : DIV, n, PICK(2, 3));
    case 8: return above(n, PICK(1, 2, 5, 20));
    case 9: return with(MIN, n, PICK(1, 4, 5, 20));
    case 10: return with(ADD, with(MUL, n, PICK(1, 2)), PICK(1, 2, 6));
    case 11: return with(DIV, with(MUL, n, PICK(2, 3)), PICK(2, 3));
    case 12: return add(with(MUL, n, r), m);
    case 13: return with(some(2) ? MAX : MOD, n, PICK(1, 2, 3, 5));
    case 14: return number(PICK(0, 1, 2, 3, 5, 8, 20));
    case 15: return draw_sum((int)some(3));
    default: return n;
    }
}

static const Sum *rewritten(const Sum *a)
{
    int64_t c = PICK(2, 2, 3, 4, 5, 20);
    has(REWRITTEN);
    switch (some(7)) {
    case 0: return op(ADD, with(MUL, with(DIV, a, c), c), with(MOD, a, c));
    case 1: return op(ADD, op(MIN, a, number(c)), above(a, c));
    case 2: return op(ADD, with(DIV, a, 2), op(SUB, a, with(DIV, a, 2)));
    case 3: return op(ADD, with(DIV, a, 2), with(CEIL, a, 2));
    case 4: return with(MAX, a, 0);
    case 5: return op(SUB, op(ADD, a, named(M)), named(M));
    default: return op(SUB, op(MAX, a, number(c)), op(MAX, op(SUB, number(c), a), number(0)));
    }
}

static const Sum *deviation(int r)
{
    const Sum *n = named(some(5) ? N : M);
    int64_t far = threshold();
    if (!prog->form[THRESHOLD]) has(DEVIATES);
    switch (some(9)) {
    case 0: case 1: return above(n, far);
    case 2: return op(MIN, above(n, far), number(PICK(1, 2, r)));
    case 3: return with(DIV, above(n, far), PICK(2, 3, 9, r));
    case 4: return with(DIV, n, far);
    case 5: return op(MIN, op(SUB, number(far), n), number(0));
    case 6: return with(MOD, n, PICK(2, 3));
    case 7: return op(MUL, above(n, far), op(MIN, named(M), number(1)));
    default: return number(PICK(1, 1, 2, r));
    }
}

static const Sum *near_to(const Sum *a, int r, int exact)
{
    if (some(6) == 0) a = rewritten(a);
    if (some(100) < exact) return a;
    a = op(some(2) ? ADD : SUB, a, deviation(r));
    if (some(4) == 0) a = op(some(2) ? ADD : SUB, a, deviation(r));
    return some(6) ? a : op(MAX, a, number(0));
}

/* ---- elements ---- */

/* Of element e, `ahead` elements behind where the variables stand. */
static const Sum *slot(const Ring *r, const Sum *e, int ahead)
{
    if (r->slots == 1) return NULL;
    has(SEVERAL_SLOTS);
    if (ahead < 0) ahead += r->slots;
    if (by_variable) return has(BY_VARIABLE), with(MOD, with(ADD, named(r->variable), ahead), r->slots);
    has(BY_INDEX);
    return with(MOD, before ? add(before, e) : e, r->slots);
}

static Stmt *times(int many, int bar, const Sum *at)
{
    Stmt *all = NULL;
    if (many > 1 && some(4) == 0) return loop(Q, number(0), number(many), make(ARRIVE, bar, at));
    for (int i = 0; i < many; i++) all = seq(all, make(ARRIVE, bar, at));
    return all;
}

static Stmt *begin(const Sum *e, int ahead)
{
    Stmt *all = NULL;
    for (int r = 0; r < rings; r++) {
        const Sum *at = slot(&ring[r], e, ahead);
        if (part[r].takes) all = seq(all, make(WAIT, ring[r].full, at));
        if (!part[r].takes || !part[r].copies) continue;
        Stmt *s = make(STORE, 0, at);
        s->a = before ? add(before, e) : e;
        all = seq(all, s);
    }
    return all;
}

static Stmt *fill(const Sum *e, int ahead, bool waits)
{
    Stmt *all = NULL;
    for (int r = 0; r < rings; r++) {
        const Sum *at = slot(&ring[r], e, ahead);
        if (!part[r].fills) continue;
        if (waits) all = make(WAIT, ring[r].empty, at);
        if (part[r].copies) {
            Stmt *s = make(FILL, ring[r].full, at);
            s->a = before ? add(before, e) : e;
            all = seq(all, s);
        }
        all = seq(all, times(part[r].fills - part[r].copies, ring[r].full, at));
    }
    return all;
}

static Stmt *wait_empty(const Sum *e, int ahead)
{
    Stmt *all = NULL;
    for (int r = 0; r < rings; r++)
        if (part[r].fills) all = seq(all, make(WAIT, ring[r].empty, slot(&ring[r], e, ahead)));
    return all;
}

static Stmt *end(const Sum *e, int ahead)
{
    Stmt *all = NULL;
    for (int r = 0; r < rings; r++)
        if (part[r].frees) all = seq(all, times(part[r].frees, ring[r].empty, slot(&ring[r], e, ahead)));
    return all;
}

static Stmt *group(void)
{
    for (int r = 0; r < rings; r++)
        if (part[r].takes && part[r].copies) return make(GROUP, 0, NULL);
    return NULL;
}

static Stmt *advance(int by)
{
    Stmt *all = NULL;
    bool done[2] = {false, false};
    for (int r = 0; r < rings && by_variable; r++) {
        int v = ring[r].variable;
        if (ring[r].slots == 1 || done[v - C] || !(part[r].fills || part[r].takes || part[r].frees)) continue;
        Stmt *s = make(SET, 0, NULL);
        s->name = v, s->a = with(MOD, with(ADD, named(v), by), ring[r].slots);
        done[v - C] = true;
        all = seq(all, s);
    }
    return all;
}

static Stmt *whole(const Sum *e, int ahead)
{
    Stmt *s = seq(begin(e, ahead), fill(e, ahead, true));
    s = seq(s, group());
    return seq(s, end(e, ahead));
}

static Stmt *one(const Sum *e)
{
    Stmt *s = whole(e, 0);
    return seq(s, advance(1));
}

static Stmt *in_loop(int r, const Sum *e, Stmt *(*what)(const Sum *e, int ahead))
{
    Stmt *s = NULL;
    if (by_variable) { /* the slot is c + i */
        for (int i = 0; i < r; i++) s = seq(s, what(with(ADD, e, i), i));
        return s;
    }
    return loop(I, number(0), number(r), what(op(ADD, e, named(I)), 0));
}

/* r elements from e on */
static Stmt *block(const Sum *e, int r)
{
    Stmt *s = NULL;
    int64_t how = some(6);
    has(UNROLLED);
    if (how == 0) {
        has(NESTED);
            s = loop(I, number(0), number(r), one(op(ADD, e, named(I))));
            return s;
    }
    if (how == 1) s = has(NESTED) ? in_loop(r, e, whole) : NULL;
    else if (how < 4) { /* all waits, all uses, all arrivals */
        for (int i = 0; i < r; i++) s = seq(s, begin(with(ADD, e, i), i));
        for (int i = 0; i < r && how == 3; i++) s = seq(s, wait_empty(with(ADD, e, i), i));
        for (int i = 0; i < r; i++) s = seq(s, fill(with(ADD, e, i), i, how != 3));
        s = seq(s, group());
        for (int i = 0; i < r; i++) s = seq(s, end(with(ADD, e, i), i));
    } else
        for (int i = 0; i < r; i++) s = seq(s, whole(with(ADD, e, i), i));
    return seq(s, advance(r));
}

/* ---- walks ---- */

static const Sum *k(void)
{
    return named(K);
}

static const Sum *times_k(int r)
{
    return with(MUL, k(), r);
}

static const Sum *down(const Sum *p, int r) /* p / r * r */
{
    return with(MUL, with(DIV, p, r), r);
}

static Stmt *tail(const Sum *p, int r)
{
    Stmt *s = NULL;
    has(TAILS), has(BEHIND);
    switch (some(7)) {
    case 0: return loop(K, down(p, r), p, one(k()));
    case 1: case 2: return loop(K, number(0), with(MOD, p, r), one(op(ADD, down(p, r), k())));
    case 3: /* one condition for each that is left */
        has(LAUNCH_CONDITION);
        for (int i = 1; i < r; i++) s = seq(s, condition(with(GE, with(MOD, p, r), i), one(with(ADD, down(p, r), i - 1)), NULL));
        return s;
    case 4:
        has(LAUNCH_CONDITION);
        return condition(with(NE, with(MOD, p, r), 0), loop(K, number(0), with(MOD, p, r), one(op(ADD, down(p, r), k()))), NULL);
    case 5: return loop(K, number(0), op(SUB, p, down(p, r)), one(op(ADD, down(p, r), k())));
    default: return some(2) ? NULL : loop(K, number(0), with(MOD, named(M), r), one(op(ADD, down(p, r), k())));
    }
}

static Stmt *by_blocks(const Sum *p, int r)
{
    Stmt *s = NULL;
    int64_t q;
    switch (some(9)) {
    case 0: return loop(K, number(0), with(CEIL, p, r), block(times_k(r), r));
    case 1: /* some in front */
        q = PICK(1, r), has(BEHIND), has(AHEAD_BY);
        s = loop(K, number(0), op(MIN, p, number(q)), one(k()));
        s = seq(s, loop(K, number(0), with(DIV, above(p, q), r), block(with(ADD, times_k(r), q), r)));
        return seq(s, loop(K, number(0), with(MOD, above(p, q), r), one(op(ADD, with(ADD, down(above(p, q), r), q), k()))));
    case 2:
        has(TURN_CONDITION), has(ONE_ARM);
        return loop(K, number(0), p, condition(with(EQ, with(MOD, k(), r), 0), block(k(), r), NULL));
    case 3:
        has(TURN_CONDITION), has(ONE_ARM);
        s = loop(K, number(0), p, condition(with(EQ, with(MOD, k(), r), r - 1), block(with(SUB, k(), r - 1), r), NULL));
        return seq(s, tail(p, r));
    case 4:
        has(TURN_CONDITION), has(BOTH_ARMS);
        s = block(times_k(r), r);
        s = condition(with(EQ, with(MOD, k(), 2), 0), s, block(times_k(r), r));
        s = loop(K, number(0), with(DIV, p, r), s);
        return seq(s, tail(p, r));
    default:
        s = loop(K, number(0), with(DIV, p, r), block(times_k(r), r));
        return seq(s, tail(p, r));
    }
}

/* Arrivals come a turn late, the last one behind the loop or never. */
static Stmt *late(const Sum *p)
{
    has(LATE_ARRIVAL), has(BOUND_CONDITION), has(ONE_ARM);
    Stmt *s = begin(k(), 0);
    s = seq(s, fill(k(), 0, true));
    s = seq(s, group());
    Stmt *last = end(with(SUB, k(), 1), -1);
    s = seq(s, last ? condition(with(GE, k(), 1), last, NULL) : NULL);
    s = seq(s, advance(1));
    return loop(K, number(0), p, s);
}

static Stmt *by_ones(const Sum *p)
{
    Stmt *s;
    int64_t c = PICK(1, 1, 2, 3, 5, 20, 100);
    const Sum *at;
    switch (some(16)) {
    case 0:
        has(BEHIND), has(AHEAD_BY);
        s = loop(K, number(0), op(MIN, p, number(c)), one(k()));
        return seq(s, loop(K, number(c), p, one(k())));
    case 1: has(LATER_START); return loop(K, number(c), with(ADD, p, c), one(with(SUB, k(), c)));
    case 2:
        has(BOUND_CONDITION), has(ONE_ARM);
        return loop(K, number(0), with(ADD, p, c), condition(with(GE, k(), c), one(with(SUB, k(), c)), NULL));
    case 3:
        has(TURN_CONDITION), has(BOTH_ARMS);
        s = one(k());
        return loop(K, number(0), p, condition(with(EQ, with(MOD, k(), PICK(2, 3)), 0), s, one(k())));
    case 4:
        has(BEHIND);
        at = with(DIV, p, PICK(2, 3));
        s = loop(K, number(0), at, one(k()));
        return seq(s, loop(K, at, p, one(k())));
    case 5: /* some in front, and then as many ahead */
        has(BEHIND), has(BOUND_CONDITION), has(ONE_ARM), has(AHEAD_BY);
        s = loop(K, number(0), op(MIN, p, number(c)), one(k()));
        at = with(ADD, k(), c);
        return seq(s, loop(K, number(0), p, condition(op(LT, at, p), one(at), NULL)));
    case 6:
        has(TURN_CONDITION), has(ONE_ARM);
        return loop(K, number(0), with(MUL, p, 2), condition(with(EQ, with(MOD, k(), 2), some(2)), one(with(DIV, k(), 2)), NULL));
    case 7:
        has(BOUND_CONDITION), has(BOTH_ARMS);
        s = one(k());
        return loop(K, number(0), p, condition(with(LT, k(), c), s, one(k())));
    case 8:
        has(LAUNCH_CONDITION), has(BOTH_ARMS);
        at = some(2) ? with(LT, named(N), c) : op(LT, named(M), named(N));
        s = loop(K, number(0), p, one(k()));
        return condition(at, s, loop(K, number(0), near_to(p, 1, 95), one(k())));
    case 9:
        has(LAUNCH_CONDITION), has(BOTH_ARMS);
        at = some(2) ? with(LT, named(N), c) : op(LT, named(M), named(N));
        s = one(k());
        return loop(K, number(0), p, condition(at, s, one(k())));
    case 10: return late(p);
    case 11:
        if (!by_variable) return loop(K, number(0), p, one(k()));
        has(LATER_START);
        return loop(K, op(SUB, number(0), p), number(0), one(op(ADD, k(), p)));
    default: return loop(K, number(0), p, one(k()));
    }
}

static Stmt *walk(const Sum *p, int exact)
{
    int r = (int)PICK(1, 1, 1, 1, 2, 2, 3, 4);
    if (ring[0].slots == 1 && some(8)) r = 1; /* arrivals are counted by statements there */
    p = near_to(p, r, exact);
    return r == 1 ? by_ones(p) : by_blocks(p, r);
}

/* ---- roles ---- */

static int bar(const char *name, int slots, bool free)
{
    prog->bar[prog->bars] = (Bar){.name = name, .slots = slots, .free = free};
    return prog->bars++;
}

static void draw_rings(bool chain)
{
    rings = 1 + chain;
    for (int r = 0; r < rings; r++) {
        int slots = (int)PICK(1, 1, 2, 2, 3, 4, 6);
        ring[r] = (Ring){.slots = slots, .variable = r && slots != ring[0].slots ? D : C};
        ring[r].full = bar(r ? "mid" : "full", slots, false);
        ring[r].empty = bar(r ? "left" : "empty", slots, true);
    }
    prog->slots = ring[0].slots;
}

typedef struct Around { /* the loop around all walks, and the condition around all */
    const Sum *turns, *if_;
} Around;

static void add_role(const char *name, const Sum *p, int exact, Around a)
{
    Role *role = &prog->role[prog->roles];
    by_variable = some(10) < 7;
    before = a.turns && !by_variable ? op(MUL, named(J), p) : NULL;
    Stmt *s = walk(p, exact);
    if (a.turns) has(NESTED), s = loop(J, number(0), near_to(a.turns, 1, exact), s);
    if (a.if_) has(LAUNCH_CONDITION), has(ONE_ARM), s = condition(a.if_, s, NULL);
    *role = (Role){.name = name, .body = s};
    for (int r = 0; r < rings; r++) {
        if (by_variable && ring[r].slots > 1) role->variable[ring[r].variable - C] = ring[r].slots;
        prog->bar[ring[r].full].per_phase[prog->roles] = part[r].fills;
        prog->bar[ring[r].empty].per_phase[prog->roles] = part[r].frees;
        if (part[r].fills > 1 || part[r].frees > 1) has(SEVERAL_ARRIVALS);
    }
    prog->roles++;
}

static int many_arrivals(void)
{
    return (int)PICK(1, 1, 1, 1, 1, 1, 1, 1, 2, 3);
}

static void draw_roles(void)
{
    const Sum *p = base((int)PICK(1, 2, 3));
    int64_t shape = some(16);
    int exact = (int)PICK(30, 60, 90, 100, 100);
    bool chain = shape == 0, copies = some(5) < 2;
    Around a = {.turns = some(8) ? NULL : some(3) ? named(some(2) ? M : N) : number(PICK(1, 2, 3))};
    if (some(16) == 0) a.if_ = some(2) ? with(GE, named(N), threshold()) : op(LT, named(M), named(N));
    draw_rings(chain);
    if (copies) has(COPIES);
    part[0] = (Part){.fills = many_arrivals(), .copies = copies}, part[1] = (Part){0};
    if (part[0].fills > 1 && copies) part[0].fills = 1;
    add_role("load", p, exact, a);
    if (shape == 1) { /* another one fills, too */
        has(SEVERAL_ARRIVE);
        part[0] = (Part){.fills = many_arrivals()};
        add_role("also", p, exact, a);
    }
    if (chain) {
        bool frees = some(2);
        has(CHAIN);
        part[0] = (Part){.takes = 1, .frees = frees}, part[1] = (Part){.fills = many_arrivals()};
        add_role("work", p, exact, a);
        part[0] = (Part){.frees = !frees}, part[1] = (Part){.takes = 1, .frees = many_arrivals()};
        add_role("store", p, exact, a);
        return;
    }
    part[0] = (Part){.takes = 1, .frees = many_arrivals(), .copies = copies && some(2)};
    add_role("store", p, exact, a);
    if (shape != 2) return;
    has(SEVERAL_READ), has(SEVERAL_ARRIVE);
    part[0] = (Part){.takes = 1, .frees = many_arrivals(), .copies = false};
    add_role("count", p, exact, a);
}

/* ---- changes ---- */

static int all_of(Stmt *s, Stmt **list, int n)
{
    for (; s; s = s->next) {
        if (n < STATEMENTS) list[n++] = s;
        n = all_of(s->body, list, n), n = all_of(s->other, list, n);
    }
    return n;
}

static void change(void)
{
    static Stmt *list[STATEMENTS];
    int n = all_of(prog->role[some(prog->roles)].body, list, 0);
    Stmt *s = list[some(n)], *next = s->next, was;
    has(CHANGED);
    switch (some(4)) {
    case 0:
        if (next) *s = *next;
        return;
    case 1:
        if (s->act > FILL || !next) return;
        s->next = make(s->act, s->bar, s->at);
        *s->next = *s;
        s->next->next = next;
        return;
    case 2:
        if (!next) return;
        was = *s, *s = *next, *next = was;
        next->next = s->next, s->next = next;
        return;
    default:
        if (s->act == FOR) s->b = with(some(2) ? ADD : SUB, s->b, 1);
        else if (s->at && s->at->kind == MOD) s->at = with(MOD, with(ADD, s->at->a, 1), s->at->b->n);
    }
}

void draw_program(Program *p, uint64_t seed)
{
    sums_begin(seed);
    statements = 0;
    *p = (Program){0};
    prog = p;
    int facts = 0;
    if (some(10)) p->fact[facts++] = fact(0);
    if (some(3) == 0) p->fact[facts++] = draw_fact();
    draw_roles();
    if (some(8) == 0) change();
    int64_t list[1];
    numbers_of(p, list, 0, &p->form[TWO_SCALARS]);
}

/* ---- numbers ---- */

static int numbers_in(const Sum *s, int64_t *list, int n, int most, bool *m)
{
    if (!s) return n;
    if (s->kind == NAME && s->n == M) *m = true;
    if (s->kind == NUMBER && n < most) list[n++] = s->n;
    n = numbers_in(s->a, list, n, most, m);
    return numbers_in(s->b, list, n, most, m);
}

int numbers_of(const Program *p, int64_t *list, int most, bool *m)
{
    static Stmt *all[STATEMENTS];
    int n = 0;
    *m = false;
    for (int r = 0; r < p->roles; r++) {
        int many = all_of(p->role[r].body, all, 0);
        for (int i = 0; i < many; i++) {
            if (all[i]->act != FOR && all[i]->act != IF) continue;
            n = numbers_in(all[i]->a, list, n, most, m), n = numbers_in(all[i]->b, list, n, most, m);
        }
    }
    return n;
}
