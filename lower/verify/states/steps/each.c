/* Loops over copies: nothing in them decides where an agent goes. One turn is run, of an index of which only the range is known, and what that does each
 * turn does: its copies are rows, one step apart. What depends on the index is forgotten behind the loop. Where that is not enough, or asks for what only
 * turns have that are told apart, the loop is run turn by turn. */
#include "lang/checked.h"
#include "lower/verify/states/steps/steps.h"

enum { EACH_LEAST = 4 };

static Each *innermost(const Checker *c)
{
    return &c->st->each[c->st->neach - 1];
}

/* It is not the same in all turns of that loop: what was made since the turn began, and not of what there was before. */
static bool by_turn_of(const Checker *c, const Each *e, Num x)
{
    const State *s = c->st;
    for (uint32_t i = 0; x && i < num_data(&c->n, x)->n; i++) {
        uint32_t atom = num_data(&c->n, x)->t[i].atom;
        if (atom <= c->natoms + e->fresh) continue;
        const Named *of = NULL;
        for (uint32_t j = 0; j < s->named.n && !of; j++) {
            const NumData *d = num_data(&c->n, s->named.v[j].num);
            if (d->n == 1 && d->k == 0 && d->t[0].c == 1 && d->t[0].atom == atom) of = &s->named.v[j];
        }
        if (of == NULL) return true;
        for (uint32_t j = 0; j < of->nkey; j++)
            if (by_turn_of(c, e, of->key[j])) return true;
    }
    return false;
}

static bool by_turn(const Checker *c, Num x)
{
    return by_turn_of(c, innermost(c), x);
}

/* Turn by turn, in the next run. */
static void singly(Checker *c)
{
    uint32_t op = code_of(c)->first + innermost(c)->op;
    if (c->singly[op]) lost(c, "how often this loop over copies turns");
    c->singly[op] = true;
    learn(c);
    lost(c, "what the turns of a loop over copies do");
}

bool each_tells_apart(Checker *c)
{
    const State *s = c->st;
    Num x = c->stop == STOP_FORK ? c->fork : num_atom(&c->n, c->split_atom);
    for (uint32_t i = s->neach; i-- > 0;) {
        if (!by_turn_of(c, &s->each[i], x)) continue;
        c->singly[code_of(c)->first + s->each[i].op] = true;
        learn(c);
        return true;
    }
    return false;
}

void each_fails(Checker *c)
{
    State *s = c->st;
    int64_t turns;
    for (uint32_t i = s->neach; i-- > 0;)
        if (num_is(&c->n, num_add(&c->n, s->each[i].end, -1, s->each[i].from), &turns)) {
            s->neach = i + 1;
            singly(c);
        }
}

bool each_begin(Checker *c, uint32_t loop, Num lo, Num hi)
{
    State *s = c->st;
    int64_t turns = 0;
    bool is = num_is(&c->n, num_add(&c->n, hi, -1, lo), &turns);
    if (s->neach == EACH_MOST || c->singly[code_of(c)->first + loop] || (is && turns < EACH_LEAST)) return false;
    uint32_t fresh = s->fresh;
    Num at = fresh_number(c, UNBOUNDED);
    facts_add(&c->n, &s->arena, &s->facts, num_add(&c->n, at, -1, lo));
    facts_add(&c->n, &s->arena, &s->facts, num_plus(&c->n, num_add(&c->n, hi, -1, at), -1));
    s->each[s->neach++] = (Each){.op = loop, .fresh = fresh, .at = at, .from = lo, .end = hi};
    return true;
}

/* ---- its end ---- */

static uint32_t index_of(Checker *c)
{
    const NumData *d = num_data(&c->n, innermost(c)->at);
    return d->n ? d->t[0].atom : 0;
}

/* No more, or no less, than x is in this turn, made of the index alone. */
static Num without_names(Checker *c, Num x, bool most)
{
    const State *s = c->st;
    const NumData *d = num_data(&c->n, x);
    uint32_t index = index_of(c);
    Num out = x;
    for (uint32_t i = 0; i < d->n; i++) {
        NumTerm t = d->t[i];
        Num atom = num_atom(&c->n, t.atom), bound = 0;
        if (t.atom == index || !by_turn(c, atom)) continue;
        for (uint32_t j = 0; j < s->facts.n && !bound; j++) {
            const NumData *f = num_data(&c->n, s->facts.v[j]);
            if (f->n == 1 && f->t[0].atom == t.atom && f->t[0].c == ((t.c > 0) == most ? -1 : 1)) bound = num_k(c, f->t[0].c < 0 ? f->k : -f->k);
        }
        if (bound == 0) singly(c);
        out = num_put(&c->n, out, t.atom, bound);
    }
    return out;
}

/* In the first turn or the last one, whatever is less, or more. */
static Num over_all(Checker *c, Num x, bool most)
{
    uint32_t index = index_of(c);
    bool last = (num_coefficient(&c->n, x, index) > 0) == most;
    return index ? num_put(&c->n, x, index, last ? num_plus(&c->n, innermost(c)->end, -1) : innermost(c)->from) : x;
}

static bool apart(Checker *c, const Facts *f, const Item *x, const Item *y)
{
    return facts_imply(&c->n, f, num_add(&c->n, y->lo, -1, x->hi)) || facts_imply(&c->n, f, num_add(&c->n, x->lo, -1, y->hi));
}

/* y in a later turn than x. */
static void check_turns(Checker *c, const Item *x, Item y)
{
    State *s = c->st;
    uint32_t index = index_of(c);
    if (index == 0 || x->space != y.space || !conflict(x, &y)) return;
    Facts f = facts_copy(&s->arena, &s->facts);
    Num later = num_atom(&c->n, c->natoms + s->fresh + 1);
    facts_add(&c->n, &s->arena, &f, num_plus(&c->n, num_add(&c->n, later, -1, innermost(c)->at), -1));
    facts_add(&c->n, &s->arena, &f, num_plus(&c->n, num_add(&c->n, innermost(c)->end, -1, later), -1));
    y.lo = num_put(&c->n, y.lo, index, later);
    y.hi = num_put(&c->n, y.hi, index, later);
    if (!apart(c, &f, x, &y)) singly(c);
}

/* Rows, one step apart. */
static void spread_item(Checker *c, Item *x)
{
    uint32_t index = index_of(c);
    int64_t width = 0, step = index ? num_coefficient(&c->n, x->lo, index) : 0;
    bool rows = x->step == 0 && num_is(&c->n, num_add(&c->n, x->hi, -1, x->lo), &width);
    x->lo = over_all(c, x->lo, false);
    x->hi = over_all(c, x->hi, true);
    if (step == 0) return;
    step = step < 0 ? -step : step;
    rows &= width < step && step <= UINT32_MAX;
    x->step = rows ? (uint32_t)step : 0;
    x->width = rows ? (uint32_t)width : 0;
}

/* The strongest condition from outside that holds if x does; 0: none is known. */
static Num in_all(Checker *c, Num x)
{
    const State *s = c->st;
    Num best = 0, no = num_k(c, 0), yes = num_k(c, 1);
    for (uint32_t i = 0; i < s->named.n; i++)
        for (uint32_t j = 0; j < 2 * s->named.v[i].nkey; j++) {
            Num y = s->named.v[i].key[j / 2];
            bool is = num_data(&c->n, y)->n && !by_turn_of(c, &s->each[0], y) && at_most(c, no, y) && at_most(c, y, yes);
            if (j % 2) y = num_add(&c->n, yes, -1, y);
            if (is && at_most(c, x, y) && (best == 0 || at_most(c, y, best))) best = y;
        }
    return best;
}

/* Of a tensor: in turns from .. to. What is stored in one turn, and what another one does there, is asked of each. */
static void spread_turns(Checker *c, Item *x)
{
    if (x->write) singly(c);
    for (uint32_t i = 0; i < LEVELS; i++)
        for (int k = 0; k < 2 && x->turn[i][0]; k++) x->turn[i][k] = over_all(c, x->turn[i][k], k == 1);
    x->each--;
}

static void end_items(Checker *c)
{
    State *s = c->st;
    uint32_t n = 0, *list = arena_array(&s->arena, uint32_t, s->items.n + 1);
    for (uint32_t i = 0; i < s->items.n; i++) {
        Item *x = &s->items.v[i];
        if (x->kind != ITEM_ACCESS || x->each != s->neach) continue;
        if (x->space == global_space(c)) spread_turns(c, x);
        else list[n++] = i;
    }
    for (uint32_t i = 0; i < n; i++) {
        Item *x = &s->items.v[list[i]];
        x->lo = without_names(c, x->lo, false);
        x->hi = without_names(c, x->hi, true);
        if (by_turn(c, x->only)) x->only = in_all(c, x->only);
    }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) check_turns(c, &s->items.v[list[i]], s->items.v[list[j]]);
    for (uint32_t i = 0; i < n; i++) {
        spread_item(c, &s->items.v[list[i]]);
        s->items.v[list[i]].each--;
    }
}

/* Rows one beside the other are one piece. */
static void spread_piece(Checker *c, Piece *p)
{
    int64_t step = num_coefficient(&c->n, p->lo, index_of(c)), width = 0;
    Num rest = num_add(&c->n, p->lo, -step, innermost(c)->at);
    bool rows = step && p->step == 0 && num_is(&c->n, num_add(&c->n, p->hi, -1, p->lo), &width) && width > 0;
    if (!rows || by_turn(c, rest) || by_turn(c, p->only)) singly(c);
    p->lo = over_all(c, p->lo, false);
    p->hi = over_all(c, p->hi, true);
    step = step < 0 ? -step : step;
    if (width >= step) return;
    if (step > UINT32_MAX) singly(c);
    p->step = (uint32_t)step;
    p->width = (uint32_t)width;
}

static void end_pieces(Checker *c)
{
    State *s = c->st;
    uint32_t n = 0, rows = 0;
    Piece *list = arena_array(&s->arena, Piece, s->written.n + 1);
    for (uint32_t i = 0; i < s->written.n; i++) {
        Piece *p = &s->written.v[i];
        if (by_turn(c, p->lo) || by_turn(c, p->hi)) {
            spread_piece(c, p);
            list[rows++] = *p;
        } else if (!by_turn(c, p->only)) {
            s->written.v[n++] = *p;
        }
    }
    s->written.n = n;
    for (uint32_t i = 0; i < rows; i++) written(c, list[i]);
}

static void end_names(Checker *c)
{
    State *s = c->st;
    uint32_t n = 0;
    bool *stays = arena_array(&s->arena, bool, s->named.n + 1);
    for (uint32_t i = 0; i < s->named.n; i++) stays[i] = !by_turn(c, s->named.v[i].num);
    for (uint32_t i = 0; i < s->named.n; i++)
        if (stays[i]) s->named.v[n++] = s->named.v[i];
    s->named.n = n;
}

/* Bytes of all turns: a phase is not over before the last of them. */
static void end_bytes(Checker *c)
{
    State *s = c->st;
    Num turns = num_add(&c->n, innermost(c)->end, -1, innermost(c)->from);
    int64_t k, n;
    for (uint32_t b = 0; b < s->bars.n; b++) {
        Bar *x = &s->bars.v[b];
        Num *all = &x->each[s->neach - 1], each = *all;
        if (each == 0) continue;
        if (by_turn(c, each)) singly(c);
        *all = num_is(&c->n, each, &k) ? num_times(&c->n, k, turns) : num_is(&c->n, turns, &n) ? num_times(&c->n, n, each) : 0;
        Num rest = num_add(&c->n, x->tx, 1, *all);
        if (*all == 0 || (s->neach == 1 && x->pending == 0 && !facts_imply(&c->n, &s->facts, rest))) singly(c);
    }
}

void each_end(Checker *c)
{
    State *s = c->st;
    end_items(c);
    end_pieces(c);
    end_bytes(c);
    end_names(c);
    s->neach--;
    for (uint32_t b = 0; b < s->bars.n; b++) {
        Bar *x = &s->bars.v[b];
        Num all = x->each[s->neach];
        x->each[s->neach] = 0;
        if (all == 0) continue;
        bar_bytes(c, x->slot, all, 1);
        bar_complete(c, x->slot);
    }
}
