/* The record that the checker of trees carries from op to op: for each ring the last S generations, for each agent what it does
 * not know to be over there. Rings are shared between records until one of them changes. */
#ifndef LOWER_VERIFY_TREE_STATE_H
#define LOWER_VERIFY_TREE_STATE_H

#include "lower/verify/tree/facts.h"

/* What is not known to be over: of access x 2 x + 2, that it is visible to the async proxy 2 x + 3; 0: that the generation has
 * begun. Reads come behind all that writes: they meet nothing but that. */
typedef uint32_t Key;
#define KEY_BEGIN ((Key)0)
#define KEY_READS ((Key)1 << 31)
static inline Key key_access(const TreeFacts *f, uint32_t x)
{
    return (2 * x + 2) | (f->access.v[x].write ? 0 : KEY_READS);
}
static inline Key key_fence(uint32_t x)
{
    return 2 * x + 3;
}
static inline bool key_is_fence(Key k)
{
    return k & 1;
}
static inline uint32_t key_number(Key k) /* of the access */
{
    return ((k & ~KEY_READS) - 2) / 2;
}
/* NULL: of none. */
static inline const TreeAccess *key_of(const TreeFacts *f, Key k)
{
    return k == KEY_BEGIN ? NULL : &f->access.v[key_number(k)];
}

typedef struct Keys { /* in order */
    Key *v;
    uint32_t n, cap;
} Keys;
void keys_add(Arena *a, Keys *s, Key k);
void keys_drop(Keys *s, Key k);
bool keys_have(const Keys *s, Key k);
void keys_unite(Arena *a, Keys *s, const Keys *t);
void keys_meet(Keys *s, const Keys *t); /* what both have */
bool keys_same(const Keys *s, const Keys *t);

enum { THE_ONE, ALL_THREADS, KNOWERS, THERE = KNOWERS, KINDS }; /* of an agent: its elected thread, every thread of it; of those CTAs to which it copies */

typedef struct RingState RingState;
typedef struct Out { /* an asynchronous read that its agent waits for: groups, or tc.commits, since */
    Key key;
    uint8_t agent;
    bool one;
    int32_t age; /* -1: none */
} Out;
typedef struct TreeEvent {
    bool silent;        /* nobody has said anything */
    Keys unheard;       /* what who awaits it does not hear of */
    Keys part;          /* .. by what some CTAs alone have been told: of these who said it last */
    uint32_t told;
    uint16_t few[TREE_RANKS], most[TREE_RANKS]; /* arrivals, by CTA */
    uint8_t arrived, expects; /* agents, on some path: have arrived; have announced bytes and not arrived since */
} TreeEvent;
typedef struct Generation {
    Keys unknown[TREE_AGENTS][KINDS], said[TREE_AGENTS];
    uint16_t freed[TREE_RANKS]; /* arrivals at the free barrier, by CTA: the fewest */
    uint8_t released, held; /* agents: on some path, not on some path */
    uint8_t apart;          /* agents: it has begun for them when their threads have come together */
    uint8_t late;           /* agents: a thread may not have passed a wait */
    uint8_t done, busy;     /* agents: are done with it, on some path; are not, on some path */
    uint8_t awaited[TREE_AGENTS]; /* events */
    TreeEvent *event; /* of the ring */
    VEC(Out) outs; /* by key */
} Generation;
struct RingState {
    uint32_t users;  /* records that have it */
    bool begun;
    uint32_t now;    /* of gen: generation n; n - k is (now + k) mod slots */
    Generation gen[];
};

typedef struct AgentState {
    Keys touched;  /* rings: by its threads, since they last came together */
    Keys unfenced; /* rings: where threads wrote, for all that it has fenced */
    Keys out;      /* rings: with asynchronous reads of its */
} AgentState;
typedef struct State {
    RingState **ring;
    AgentState agent[TREE_AGENTS];
} State;

Out *outs_at(const TreeFacts *f, Generation *g, Key k, bool *is_new); /* the one with that key */
State *state_new(const TreeFacts *f);
State *state_copy(const TreeFacts *f, State *s);
void state_drop(const TreeFacts *f, State *s);
void state_meet(const TreeFacts *f, State *s, State *t); /* s: on either way; t is given up */
bool state_same(const TreeFacts *f, const State *s, const State *t);
RingState *state_ring(const TreeFacts *f, State *s, uint32_t ring); /* to be changed */
static inline Generation *generation(const TreeFacts *f, RingState *r, uint32_t ring, uint32_t back)
{
    return &r->gen[(r->now + back) % f->k->rings.v[ring].slots];
}

#endif
