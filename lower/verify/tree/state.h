/* The record that the checker of trees carries from op to op: for each ring the last S generations, for each agent what it does
 * not know to be over there. It is bits and numbers of which more say that less is known: where paths meet, the union and the greatest;
 * zero: of a generation that never was all is known. Rings are shared between records until one of them changes. */
#ifndef LOWER_VERIFY_TREE_STATE_H
#define LOWER_VERIFY_TREE_STATE_H

#include <string.h>

#include "lower/verify/tree/facts.h"

/* What an agent of a CTA does not know of a generation, in the slots of all CTAs, is a set. Of facts: free_bit(t), that what the slot of t
 * had before is over there; open_bit(e, t), that all have awaited its events there, those at which other CTAs arrive or those of its own;
 * begun_bit(t), that the generation has begun in t, so that all releases before have come there; passed_bit(t), that each thread has begun it that
 * begins it there. Behind them, of each access: that it is over, and that what it wrote is visible to the async proxy. SILENT and SPOKEN
 * are of parts alone (part_of). */
enum { SILENT, SPOKEN, FACTS, WORD = 64 };
typedef uint64_t *Set;
static inline bool set_has(const uint64_t *s, uint32_t bit)
{
    return s[bit / WORD] >> bit % WORD & 1;
}
static inline void set_add(Set s, uint32_t bit)
{
    s[bit / WORD] |= UINT64_C(1) << bit % WORD;
}
static inline void set_drop(Set s, uint32_t bit)
{
    s[bit / WORD] &= ~(UINT64_C(1) << bit % WORD);
}
/* The next member from `bit` on; UINT32_MAX: none. */
uint32_t set_next(const uint64_t *s, uint32_t words, uint32_t bit);

static inline uint32_t free_bit(uint32_t cta)
{
    return FACTS + cta;
}
static inline uint32_t open_bit(const TreeRing *r, uint32_t event, uint32_t cta)
{
    return FACTS + (1 + (r->remote >> event & 1)) * r->ctas + cta;
}
static inline uint32_t begun_bit(const TreeRing *r, uint32_t cta)
{
    return FACTS + 3 * r->ctas + cta;
}
static inline uint32_t passed_bit(const TreeRing *r, uint32_t cta)
{
    return FACTS + 4 * r->ctas + cta;
}
/* What must be known of generation n - S where a fact of n is. */
static inline uint64_t *needs_of(const TreeRing *r, uint32_t fact)
{
    return r->needs + fact * r->words;
}
static inline bool is_fence(const TreeRing *r, uint32_t bit)
{
    return set_has(r->fences, bit);
}

enum { THE_ONE, ALL_THREADS, KNOWERS }; /* of an agent: its elected thread, every thread of it */

/* Agents and events, on some path. All uint8_t: sets like the others. */
typedef struct Marks {
    uint8_t never;           /* no generation has begun */
    uint8_t apart;           /* agents: it has begun for them when their threads have come together */
    uint8_t done, busy;      /* agents: are done with it, are not */
    uint8_t expects[TREE_EVENTS], arrived[TREE_EVENTS + 1]; /* agents: have announced bytes and not arrived since; have arrived */
    uint8_t missed[TREE_AGENTS]; /* events that the agent has not awaited */
    uint8_t pad[7];
} Marks;
enum { MARKS = sizeof(Marks) / sizeof(uint64_t), FEW_MAX = UINT8_MAX };
_Static_assert(MARKS * sizeof(uint64_t) == sizeof(Marks), "whole words");

/* How old an asynchronous read is that its agent waits for. The younger the greater; 0: there is none. */
enum { OUT_WAITED = 1 /* each thread for its own */, OUT_OLD, OUT_NEW = UINT8_MAX - 1 /* groups, or tc.commits, since: none */, OUT_OPEN = UINT8_MAX /* not committed */ };

typedef struct Generation {
    const TreeRing *r;
    uint64_t *w;
} Generation;
static inline Marks *marks(Generation g)
{
    return (Marks *)g.w;
}
static inline int knowers_of(const TreeRing *r, uint32_t agent) /* of one thread that knows what all of them know */
{
    return r->alone & bit(agent) ? ALL_THREADS : KNOWERS;
}
static inline Set unknown_of(Generation g, uint32_t agent, uint32_t rank, int kind) /* of an agent that uses the ring */
{
    uint32_t i = g.r->alone & bit(agent) ? rank : rank * KNOWERS + (uint32_t)kind;
    return g.w + g.r->at_unknown[agent] + i * g.r->words;
}
static inline Set unheard_of(Generation g, uint32_t event, uint32_t cta) /* what who awaits the event there does not hear of */
{
    return g.w + g.r->at_unheard + (event * g.r->ctas + cta) * g.r->words;
}
static inline Set part_of(Generation g, uint32_t i) /* what the ring's i-th sender did not know when it copied, if it has (SPOKEN), as it may not have (SILENT) */
{
    return g.w + g.r->at_part + i * g.r->words;
}
static inline Set announced_of(Generation g) /* which of the ring's announcements may have been made */
{
    return g.w + g.r->at_announced;
}
/* Arrivals by CTA: FEW_MAX less the fewest, and the most. At `free` of those in that generation, which release an earlier one, by the ring's lag. */
static inline uint8_t *few_of(Generation g, uint32_t event)
{
    return (uint8_t *)(g.w + g.r->at_bytes) + event * 2 * g.r->ctas;
}
static inline uint8_t *most_of(Generation g, uint32_t event)
{
    return few_of(g, event) + g.r->ctas;
}
static inline uint8_t *outs_of(Generation g) /* by access that is waited for */
{
    return few_of(g, g.r->nevents + 1);
}

typedef struct RingState {
    uint32_t users; /* records that have it */
    struct RingState *next; /* of those that nobody has */
    uint64_t v[];
} RingState;
enum { TOUCHED /* by its threads, since they last came together */, UNFENCED /* where threads wrote, for all that it has fenced */, OUT /* with asynchronous reads of its */, AGENT_SETS };
typedef struct State {
    struct State *next;
    uint64_t *agents; /* sets of rings: behind the rings */
    RingState *ring[];
} State;
typedef struct States { /* memory to be used again */
    const TreeFacts *f;
    uint32_t words; /* of a set of rings */
    RingState **spare;
    State *spares;
} States;

void state_lay_out(Arena *a, TreeRing *r, uint32_t agents); /* where what stands in the record of a generation, and what it is when that begins */
void states_init(States *p, const TreeFacts *f);
State *state_new(States *p);
State *state_copy(States *p, State *s);
void state_drop(States *p, State *s);
bool state_meet(States *p, State *s, State *t); /* s: on either way; t is given up. Is less known than in s? */
void state_split(States *p, State *s, uint32_t ring); /* a ring of its own */
static inline void state_own(States *p, State *s, uint32_t ring) /* it is to be changed */
{
    if (s->ring[ring]->users > 1) state_split(p, s, ring);
}
void state_begin(States *p, State *s, uint32_t ring); /* a generation, of which nothing is known but what it needs; n - S is gone */
/* What a loop's record will be, of which s has two turns: where each begins one generation, earlier ones are as the last but one, and older. */
void state_guess(States *p, State *s, uint32_t loop);
static inline Set rings_of(const States *p, State *s, uint32_t agent, int kind)
{
    return s->agents + (agent * AGENT_SETS + (uint32_t)kind) * p->words;
}
/* Generation n - back. */
static inline Generation generation(const States *p, const State *s, uint32_t ring, uint32_t back)
{
    const TreeRing *r = &p->f->ring[ring];
    return (Generation){r, s->ring[ring]->v + (size_t)back * r->size};
}

#endif
