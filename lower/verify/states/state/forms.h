/* What the files do with states: made, told apart, brought into one form, compared. */
#ifndef LOWER_VERIFY_STATES_FORMS_H
#define LOWER_VERIFY_STATES_FORMS_H

#include "lower/verify/states/checker.h"

/* ---- state.c and tidy.c ---- */

typedef struct Turn { /* a cell that is a loop's index */
    uint32_t cell, op;
    bool inner, ends; /* of a loop that stands in the one before; the next cell is its end */
} Turn;
typedef struct Sig {
    Arena *arena;
    VEC(uint32_t) words;
    VEC(Num) cells;
    VEC(Turn) turns;
    VEC(uint32_t) ranges; /* cells that are turns of items */
    const Num *put; /* NULL, or cells to put in the place of these, */
    uint32_t at;    /* .. so many of them so far */
} Sig;
State *states_new(Checker *c);
State *states_copy(Checker *c, const State *s);
void states_free(Checker *c, State *s);
void states_free_all(Checker *c);
bool states_assume(Checker *c, State *s, Num x);        /* x >= 0; false: it can't be */
void states_map(Checker *c, State *s, const NumMap *m); /* all of its numbers but for facts */
bool states_split(Checker *c, State *s, uint32_t atom, int64_t by, int64_t rest);
void states_tidy(Checker *c, State *s);                 /* forgets what nobody asks any more, and numbers the rest anew */
void states_write(Checker *c, State *s, Sig *to);       /* states in which the same happens have the same signature, and numbers in the same places */

static inline uint32_t first_ahead(const State *s, uint32_t agent) /* the first op that it may come to */
{
    const Agent *x = &s->agents[agent];
    return x->depth ? s->frames[x->frames].op : x->pc;
}

static inline uint64_t *set_of(const Checker *c, const State *s, uint32_t agent, uint32_t kind)
{
    return s->sets + (size_t)(c->place[agent].sets + kind) * s->words;
}
static inline Bar *bar_in(const State *s, uint32_t slot) /* of one of which there is something to say */
{
    return &s->bars.v[s->bar_at[slot] - 1];
}
static inline Awaited *awaited_in(const Checker *c, const State *s, uint32_t slot, uint32_t role)
{
    return &s->awaited[(s->bar_at[slot] - 1) * c->nroles + role];
}
static inline uint64_t *bar_row(const Checker *c, const State *s, uint32_t at, uint32_t kind) /* at: in State.bars */
{
    return s->sets + (size_t)(c->bar_sets + at * BAR_SETS + kind) * s->words;
}
static inline uint64_t *bar_set(const Checker *c, const State *s, uint32_t slot, uint32_t kind)
{
    return bar_row(c, s, s->bar_at[slot] - 1, kind);
}
static inline uint32_t all_sets(const Checker *c, const State *s)
{
    return c->bar_sets + s->bars.n * BAR_SETS;
}
static inline bool is_knowledge(const Checker *c, uint32_t set) /* who knows more may do what others may */
{
    return set < c->bar_sets ? !c->mine[set] : (set - c->bar_sets) % BAR_SETS == HEARD || (set - c->bar_sets) % BAR_SETS == LAST;
}
void bar_begin(Checker *c, uint32_t slot); /* from now on there is something to say of it */
static inline bool set_has(const uint64_t *s, uint32_t bit)
{
    return s[bit / 64] >> bit % 64 & 1;
}
static inline void set_add(uint64_t *s, uint32_t bit)
{
    s[bit / 64] |= UINT64_C(1) << bit % 64;
}
static inline void set_drop(uint64_t *s, uint32_t bit)
{
    s[bit / 64] &= ~(UINT64_C(1) << bit % 64);
}
static inline void set_join(uint64_t *s, const uint64_t *t, uint32_t words)
{
    for (uint32_t i = 0; i < words; i++) s[i] |= t[i];
}
uint32_t item_new(Checker *c, Item x);
void item_known(const Checker *c, const State *s, uint32_t agent, uint32_t i, bool *over, bool *fenced); /* what each thread of its role knows of the item */
void place_in_run(Checker *c, Item *x); /* for reports: now */
bool item_counts(const Checker *c, const State *s, uint32_t i); /* on a phase of a barrier, or did on the one before */
void item_over(State *s, uint32_t i, bool counts); /* nobody asks what it did; who counts behind it on a barrier has to know it as long as that may be */

/* ---- cover.c ---- */

bool example_of(Checker *c, const Node *x, uint32_t node); /* with other numbers in the place of its atoms */
void overtake(Checker *c, uint32_t node); /* those of before that are examples of it need not be asked any more */
bool covered(Checker *c, const Node *x, uint32_t name); /* c->st is an example of one of before */
uint32_t banned(const Checker *c, uint32_t node, uint32_t by);
void bounded(Checker *c, const Node *x, uint32_t by, Node *guess); /* as far as what was so until now has been so one step before */
bool joined(Checker *c, const Node *x, uint32_t name, uint32_t from, uint32_t *by); /* c->st, made what it has in common with one that it comes from */
bool widened(Checker *c, const Sig *sig, uint32_t name, uint32_t from, uint32_t *by); /* c->st, made one of which it is an example, and what follows in a like way */

#endif
