/* A state that is one of before with other numbers in the place of its atoms: all that is known there is so here, and what follows there follows
 * here. States that differ from an earlier one by numbers alone are made one: the numbers move on by t times as much, t a new atom, and
 * what is known moves with them. That is a guess at what comes next, and no more than the state that it is made of has to be one of it. */
#include "lang/checked.h"
#include "tests/states/checker.h"

/* ---- numbers for atoms ---- */

typedef struct Match {
    const Node *there;
    const Num *here; /* by cell */
    Num *to;         /* by atom of there; 0: not known yet */
} Match;

static Num image(Checker *c, const Match *m, Num x)
{
    const NumData *d = num_data(&c->n, x);
    if (d->n == 0) return x;
    bool is_atom = d->n == 1 && d->k == 0 && d->t[0].c == 1;
    Num out = is_atom ? m->to[d->t[0].atom] : num_const(&c->n, d->k);
    for (uint32_t i = 0; i < d->n && !is_atom; i++) out = num_add(&c->n, out, d->t[i].c, m->to[d->t[i].atom]);
    return out;
}

/* From a cell in which one atom is not known. Whether it is then; that it is no fraction, is seen when all are compared. */
static bool solve(Checker *c, Match *m, uint32_t cell)
{
    const NumData *d = num_data(&c->n, m->there->cells[cell]);
    uint32_t open = 0;
    int64_t by = 0;
    for (uint32_t i = 0; i < d->n; i++) {
        if (m->to[d->t[i].atom]) continue;
        if (open) return false;
        open = d->t[i].atom;
        by = d->t[i].c;
    }
    if (open == 0) return false;
    Num rest = num_plus(&c->n, m->here[cell], -d->k);
    for (uint32_t i = 0; i < d->n; i++)
        if (d->t[i].atom != open) rest = num_add(&c->n, rest, -d->t[i].c, m->to[d->t[i].atom]);
    if (rest == 0) return false;
    if (by < 0) rest = num_times(&c->n, -1, rest);
    m->to[open] = rest ? num_div(&c->n, rest, by < 0 ? -by : by) : 0;
    return m->to[open] != 0;
}

static bool find_numbers(Checker *c, Match *m, uint32_t natoms_here)
{
    uint32_t free = 1;
    for (;;) {
        bool more = false;
        for (uint32_t i = 0; i < m->there->ncells; i++)
            if (num_data(&c->n, m->there->cells[i])->n) more |= solve(c, m, i);
        if (more) continue;
        while (free <= m->there->natoms && m->to[free]) free++;
        if (free > m->there->natoms) return true;
        if (free > natoms_here) return false;
        m->to[free] = num_atom(&c->n, free); /* where several are open, one of them stays */
    }
}

/* Who is known there to know something knows it here. */
static bool knows_more(const Checker *c, const Node *here, const Node *there)
{
    for (uint32_t i = 0; i < c->nsets * here->words; i++)
        if (there->sets[i] & ~here->sets[i]) return false; /* those that must be the same are so in states of one signature */
    return true;
}

bool example_of(Checker *c, const Node *here, uint32_t node)
{
    const Node *there = &c->nodes.v[node];
    if (here->ncells != there->ncells || here->words != there->words) return false;
    for (uint32_t i = 0; i < there->ncells; i++)
        if (here->cells[i] != there->cells[i] && num_data(&c->n, there->cells[i])->n == 0) return false;
    if (!knows_more(c, here, there)) return false;
    Match m = {.there = there, .here = here->cells, .to = arena_array(&c->st->arena, Num, there->natoms + 1)};
    if (!find_numbers(c, &m, here->natoms)) return false;
    for (uint32_t i = 0; i < there->ncells; i++)
        if (image(c, &m, there->cells[i]) != here->cells[i]) return false;
    for (uint32_t i = 0; i < there->facts.n; i++)
        if (!facts_imply(&c->n, &here->facts, image(c, &m, there->facts.v[i]))) return false;
    return true;
}

enum { TRIED = 40, EXAMPLES = 1000 };

void overtake(Checker *c, uint32_t node)
{
    uint32_t tried = 0;
    for (uint32_t x = c->nodes.v[node].same; x && tried < EXAMPLES; x = c->nodes.v[x - 1].same) {
        Node *was = &c->nodes.v[x - 1];
        if (was->overtaken) continue;
        tried++;
        was->overtaken = example_of(c, was, node);
    }
}

bool covered(Checker *c, const Node *x, uint32_t name)
{
    uint32_t tried = 0;
    for (uint32_t by = name <= c->heads.n ? c->heads.v[name - 1] : 0; by && tried < EXAMPLES; by = c->nodes.v[by - 1].same) {
        if (c->nodes.v[by - 1].overtaken) continue;
        tried++;
        c->n.work += 1 + x->ncells / 4;
        if (!example_of(c, x, by - 1)) continue;
        trace_by(c, by - 1, "is a case of");
        return true;
    }
    return false;
}

/* ---- states that go on ---- */

static uint32_t banned(const Checker *c, uint32_t node, uint32_t by)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->bans.n; i++) n += c->bans.v[i].node == node && c->bans.v[i].by == by;
    return n;
}

/* Loops turn forwards, and one that stands in a loop is where it was, when that has turned. */
static bool turns_on(Checker *c, const Sig *sig, const Node *there)
{
    int64_t around = 0;
    for (uint32_t i = 0; i < sig->turns.n; i++) {
        uint32_t cell = sig->turns.v[i].cell;
        int64_t far;
        if (!sub_s64(num_data(&c->n, sig->cells.v[cell])->k, num_data(&c->n, there->cells[cell])->k, &far) || far < 0) return false;
        if (far % c->period[sig->turns.v[i].op]) return false;
        bool inner = sig->turns.v[i].inner;
        if (inner && around && far && far != around) return false;
        around = inner && around ? around : far;
    }
    return true;
}

/* Of states of one signature: knowledge comes again with slots and phases. */
static bool knows_as_much(const Checker *c, const uint64_t *sets, const Node *there)
{
    return memcmp(there->sets, sets, (size_t)c->nsets * there->words * sizeof *sets) == 0;
}

/* How many cells are others by a number; 0: none, or in another way. */
static uint32_t moving(Checker *c, const Sig *sig, const Node *there)
{
    uint32_t n = 0;
    if (sig->cells.n != there->ncells) return 0;
    for (uint32_t i = 0; i < there->ncells; i++) {
        const NumData *x = num_data(&c->n, sig->cells.v[i]), *y = num_data(&c->n, there->cells[i]);
        if (!num_same_terms(x, y)) return 0;
        n += x->k != y->k;
    }
    return turns_on(c, sig, there) ? n : 0;
}

static uint32_t indices(const Sig *sig, const Node *there)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < there->ncells; i++) {
        bool is = false;
        for (uint32_t j = 0; j < sig->turns.n && !is; j++)
            is = sig->cells.v[i] == sig->cells.v[sig->turns.v[j].cell] && there->cells[i] == there->cells[sig->turns.v[j].cell];
        n += is && sig->cells.v[i] != there->cells[i];
    }
    return n;
}

static bool comes_from(const Checker *c, uint32_t node, uint32_t by)
{
    while (node != UINT32_MAX && node > by) node = c->nodes.v[node].from;
    return node == by;
}

enum { STEPS = 3 };

/* By as much as last time, and the time before: what is no loop's index may come round. */
static bool steady(Checker *c, const Sig *sig, uint32_t by)
{
    const Num *cells = sig->cells.v;
    uint32_t steps = 1, last = by;
    for (uint32_t x = c->nodes.v[by].same; x && steps < STEPS; x = c->nodes.v[x - 1].same) {
        const Node *here = &c->nodes.v[last], *there = &c->nodes.v[x - 1];
        if (!comes_from(c, last, x - 1) || there->ncells != here->ncells || !knows_as_much(c, here->sets, there)) continue;
        for (uint32_t i = 0; i < here->ncells; i++)
            if (num_add(&c->n, cells[i], -1, here->cells[i]) != num_add(&c->n, here->cells[i], -1, there->cells[i])) return false;
        cells = here->cells;
        last = x - 1;
        steps++;
    }
    return steps == STEPS;
}

/* What all have moved by is several steps, if indices stay what they are by the numbers that they are divided by. */
static int64_t steps_of(Checker *c, const Sig *sig, const Node *there)
{
    int64_t g = 0, step = 1;
    for (uint32_t i = 0; i < there->ncells; i++) g = gcd_s64(g, num_data(&c->n, sig->cells.v[i])->k - num_data(&c->n, there->cells[i])->k);
    for (uint32_t i = 0; i < sig->turns.n; i++) {
        const Turn *x = &sig->turns.v[i];
        int64_t far = num_data(&c->n, sig->cells.v[x->cell])->k - num_data(&c->n, there->cells[x->cell])->k;
        while (far && step < g && (g % step || far / g * step % c->period[x->op])) step++;
    }
    return g / step;
}

/* False: in numbers that leave 64 bits. */
static bool go_on(Checker *c, const Sig *sig, const Node *there, int64_t steps)
{
    State *s = c->st;
    Numbers *n = &c->n;
    Num t = num_atom(n, c->natoms + ++s->fresh), *to = arena_array(&s->arena, Num, sig->cells.n + 1);
    Facts was = s->facts;
    for (uint32_t i = 0; i < there->ncells; i++) {
        int64_t far;
        bool fits = sub_s64(num_data(n, sig->cells.v[i])->k, num_data(n, there->cells[i])->k, &far);
        to[i] = fits ? num_add(n, sig->cells.v[i], far / steps, t) : 0;
        if (to[i] == 0) return false;
    }
    s->facts = (Facts){0};
    facts_add(n, &s->arena, &s->facts, t);
    for (uint32_t i = 0; i < sig->turns.n; i++) { /* a loop that an agent is in has not ended */
        uint32_t at = sig->turns.v[i].cell;
        if (sig->turns.v[i].ends && facts_imply(n, &was, num_plus(n, num_add(n, sig->cells.v[at + 1], -1, sig->cells.v[at]), -1)))
            facts_add(n, &s->arena, &s->facts, num_plus(n, num_add(n, to[at + 1], -1, to[at]), -1));
    }
    Facts first = facts_copy(&s->arena, &s->facts);
    facts_add(n, &s->arena, &first, num_times(n, -1, t));
    for (uint32_t i = 0; i < was.n; i++) {
        int64_t far = 0;
        uint32_t j = 0;
        while (j < there->facts.n && !num_same_terms(num_data(n, was.v[i]), num_data(n, there->facts.v[j]))) j++;
        if (facts_imply(n, &first, was.v[i])) continue;
        if (j < there->facts.n && !sub_s64(num_data(n, was.v[i])->k, num_data(n, there->facts.v[j])->k, &far)) continue;
        facts_add(n, &s->arena, &s->facts, num_add(n, was.v[i], far / steps, t));
    }
    Sig put = {.arena = &s->arena, .put = to};
    states_write(c, s, &put);
    return true;
}

bool widened(Checker *c, const Sig *sig, uint32_t name, uint32_t from, uint32_t *by)
{
    uint32_t tried = 0, least = 0;
    int64_t far = 1;
    for (uint32_t x = name <= c->heads.n ? c->heads.v[name - 1] : 0; x && tried < TRIED; x = c->nodes.v[x - 1].same) {
        const Node *there = &c->nodes.v[x - 1];
        if (!knows_as_much(c, c->st->sets, there)) continue;
        tried++;
        uint32_t n = moving(c, sig, there), bans = banned(c, c->nodes.n, x - 1);
        if (n == 0 || (least && n >= least) || bans > 1 || !comes_from(c, from, x - 1)) continue;
        if (n > indices(sig, there) && !steady(c, sig, x - 1)) continue;
        int64_t steps = steps_of(c, sig, there);
        if (bans && steps == 1) continue;
        far = bans ? 1 : steps;
        least = n;
        *by = x - 1;
    }
    return least && go_on(c, sig, &c->nodes.v[*by], far);
}
