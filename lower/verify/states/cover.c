/* A state that is one of before with other numbers in the place of its atoms: all that is known there is so here, and what follows there follows
 * here. States that differ from an earlier one by numbers alone are made one: the numbers move on by t times as much, t a new atom, and
 * what is known moves with them. That is a guess at what comes next, and no more than the state that it is made of has to be one of it. */
#include "lang/checked.h"
#include "lower/verify/states/steps/steps.h"

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
static bool knows_more(const Node *here, const Node *there)
{
    for (uint32_t i = 0; i < here->nsets * here->words; i++)
        if (there->sets[i] & ~here->sets[i]) return false; /* those that must be the same are so in states of one signature */
    return true;
}

/* Which numbers there are which here; false: they can't be. */
static bool matches(Checker *c, const Node *here, const Node *there, Match *m)
{
    if (here->ncells != there->ncells || here->words != there->words) return false;
    for (uint32_t i = 0; i < there->ncells; i++)
        if (here->cells[i] != there->cells[i] && num_data(&c->n, there->cells[i])->n == 0) return false;
    *m = (Match){.there = there, .here = here->cells, .to = arena_array(&c->st->arena, Num, there->natoms + 1)};
    if (!find_numbers(c, m, here->natoms)) return false;
    for (uint32_t i = 0; i < there->ncells; i++)
        if (image(c, m, there->cells[i]) != here->cells[i]) return false;
    return true;
}

bool example_of(Checker *c, const Node *here, uint32_t node)
{
    const Node *there = &c->nodes.v[node];
    Match m;
    if (here->words != there->words || here->nsets != there->nsets || !knows_more(here, there) || !matches(c, here, there, &m)) return false;
    for (uint32_t i = 0; i < there->facts.n; i++)
        if (!facts_imply(&c->n, &here->facts, image(c, &m, there->facts.v[i]))) return false;
    return true;
}

enum { TRIED = 40, EXAMPLES = 1000, LOST_FACT = 100 };

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

uint32_t banned(const Checker *c, uint32_t node, uint32_t by)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->bans.n; i++) n += c->bans.v[i].node == node && c->bans.v[i].by == by;
    return n;
}

static bool comes_from(const Checker *c, uint32_t node, uint32_t by)
{
    while (node != UINT32_MAX && node > by) node = c->nodes.v[node].from;
    return node == by;
}

/* What is known in both, by the numbers of there: without what takes from it where it is not. False: that a number is no less is not to be
 * forgotten; *lost: how much is. */
static bool add_common(Checker *c, const Node *here, const Match *m, Num x, Facts *to, uint32_t *lost)
{
    Num y = x;
    for (uint32_t i = 0; !facts_imply(&c->n, &here->facts, image(c, m, y)); i++, ++*lost) {
        const NumData *d = num_data(&c->n, x);
        while (i < d->n && d->t[i].c > 0) i++;
        if (i == d->n) {
            *lost += LOST_FACT;
            return d->n > 1 || d->t[0].c < 0;
        }
        y = num_add(&c->n, y, -d->t[i].c, num_atom(&c->n, d->t[i].atom));
    }
    facts_add(&c->n, &c->st->arena, to, y);
    return true;
}

/* What launch numbers are that nobody asks for any more, by atoms that will be others. */
static void forget_launch(const Checker *c, State *s)
{
    for (uint32_t i = 0; i < c->natoms; i++) {
        const NumData *d = s->launch[i] ? num_data(&c->n, s->launch[i]) : NULL;
        bool open = d && d->n && d->t[d->n - 1].atom > c->natoms;
        if (open && !launch_wanted(c, s, i + 1)) s->launch[i] = 0;
    }
}

/* c->st, an example of a guess that it comes from but for what is known: made what it has in common with that, as much as may be. */
bool joined(Checker *c, const Node *x, uint32_t name, uint32_t from, uint32_t *by)
{
    State *s = c->st;
    uint32_t tried = 0, least = UINT32_MAX;
    Facts common = {0};
    for (uint32_t i = name <= c->heads.n ? c->heads.v[name - 1] : 0; i && tried < TRIED; i = c->nodes.v[i - 1].same) {
        const Node *there = &c->nodes.v[i - 1];
        Match m;
        if (there->of == 0 || !comes_from(c, from, i - 1) || banned(c, c->nodes.n, i - 1)) continue;
        tried++;
        if (!matches(c, x, there, &m)) continue;
        Facts both = {0};
        uint32_t lost = 0;
        bool may = true;
        for (uint32_t j = 0; j < there->facts.n && may; j++) may = add_common(c, x, &m, there->facts.v[j], &both, &lost);
        if (!may || lost >= least) continue;
        least = lost;
        common = both;
        *by = i - 1;
    }
    if (least == UINT32_MAX) return false;
    const Node *there = &c->nodes.v[*by];
    for (uint32_t j = 0; j < there->nsets * s->words; j++) s->sets[j] &= there->sets[j];
    s->facts = common;
    s->fresh = there->natoms - c->natoms;
    forget_launch(c, s);
    Sig put = {.arena = &s->arena, .put = there->cells};
    states_write(c, s, &put);
    return true;
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
static bool knows_as_much(const uint64_t *sets, const Node *there)
{
    return memcmp(there->sets, sets, (size_t)there->nsets * there->words * sizeof *sets) == 0;
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
        for (uint32_t j = 0; j < sig->ranges.n && !is; j++) is = sig->ranges.v[j] == i;
        n += is && sig->cells.v[i] != there->cells[i];
    }
    return n;
}

enum { STEPS = 3 };

/* By as much as last time, and the time before: what is no loop's index may come round. */
static bool steady(Checker *c, const Sig *sig, uint32_t by)
{
    const Num *cells = sig->cells.v;
    uint32_t steps = 1, last = by;
    for (uint32_t x = c->nodes.v[by].same; x && steps < STEPS; x = c->nodes.v[x - 1].same) {
        const Node *here = &c->nodes.v[last], *there = &c->nodes.v[x - 1];
        if (!comes_from(c, last, x - 1) || there->ncells != here->ncells || !knows_as_much(here->sets, there)) continue;
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

/* What is known there and of the state at hand: by t steps more than there; of what is known of one alone, what follows in the other. */
static void known_between(Checker *c, const Facts *here, const Facts *there, const Facts *first, Num t, int64_t steps, Facts *to)
{
    Numbers *n = &c->n;
    Arena *a = &c->st->arena;
    for (uint32_t i = 0; i < here->n; i++) {
        int64_t far = 0;
        uint32_t j = 0;
        while (j < there->n && !num_same_terms(num_data(n, here->v[i]), num_data(n, there->v[j]))) j++;
        if (facts_imply(n, first, here->v[i])) continue;
        if (j == there->n && facts_imply(n, there, here->v[i])) facts_add(n, a, to, here->v[i]);
        if (j < there->n && sub_s64(num_data(n, here->v[i])->k, num_data(n, there->v[j])->k, &far) && far % steps == 0)
            facts_add(n, a, to, num_add(n, there->v[j], far / steps, t));
    }
    for (uint32_t j = 0; j < there->n; j++) {
        uint32_t i = 0;
        while (i < here->n && !num_same_terms(num_data(n, here->v[i]), num_data(n, there->v[j]))) i++;
        if (i == here->n && facts_imply(n, here, there->v[j])) facts_add(n, a, to, there->v[j]);
    }
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
        to[i] = fits ? num_add(n, there->cells[i], far / steps, t) : 0;
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
    facts_add(n, &s->arena, &first, num_add(n, num_k(c, steps), -1, t));
    facts_add(n, &s->arena, &first, num_plus(n, t, -steps));
    known_between(c, &was, &there->facts, &first, t, steps, &s->facts);
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
        if (!knows_as_much(c->st->sets, there)) continue;
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

void bounded(Checker *c, const Node *x, uint32_t by, Node *guess)
{
    State *s = c->st;
    Match here, there;
    if (c->bounds.n == 0 || !matches(c, x, guess, &here) || !matches(c, &c->nodes.v[by], guess, &there)) return;
    for (uint32_t i = 0; i < c->bounds.n; i++) {
        const Bound *b = &c->bounds.v[i];
        const NumData *asked = num_data(&c->n, b->fork);
        if (b->node != c->nodes.n || b->by != by || b->bans != banned(c, b->node, by) || asked->t[asked->n - 1].atom > guess->natoms) continue;
        for (int way = 0; way < 2; way++) {
            Num f = way ? num_contrary(&c->n, b->fork) : b->fork, now = image(c, &here, f);
            int64_t far;
            if (!now || !facts_imply(&c->n, &x->facts, now) || !num_is(&c->n, num_add(&c->n, now, -1, image(c, &there, f)), &far) || far >= 0) continue;
            facts_add(&c->n, &s->arena, &s->facts, num_plus(&c->n, f, -far));
        }
    }
    guess->facts = s->facts;
}
