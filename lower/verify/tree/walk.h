/* Inside of the walk: what check.c and agents.c share. */
#ifndef LOWER_VERIFY_TREE_WALK_H
#define LOWER_VERIFY_TREE_WALK_H

#include "lower/verify/tree/check.h"
#include "lower/verify/tree/state.h"

typedef struct Check {
    TreeFacts f;
    States p;
    TreeFault *fault;
    bool failed;
    bool brief;
    uint32_t without;
    Set left;      /* by CTA, by who knows: at hand */
    Set fresh, own; /* accesses of the op at hand; .. known to be over by the one thread that did them */
    State **heads; /* by loop: the record at its head, from the last time */
    State *out;    /* of the repeat at hand: behind its breaks */
    uint32_t at;   /* op */
    uint32_t numbered; /* accesses that have had their numbers: tree_now */
} Check;

static inline bool alone(const Check *c, uint32_t agent) /* one thread */
{
    return c->f.k->roles.v[agent].elect;
}

static inline void touch(Check *c, State *s, uint32_t agent, uint32_t ring)
{
    if (!alone(c, agent)) set_add(rings_of(&c->p, s, agent, TOUCHED), ring);
}

/* ---- agents.c ---- */
/* The agent has waited for its groups, or for what the tensor core does for it: what is at least so old is over; one: its elected thread has. */
void walk_over(Check *c, State *s, uint32_t a, AccessHow how, int64_t age, bool one);
void walk_older(Check *c, State *s, uint32_t a, AccessHow how, bool one); /* a group is committed */
void walk_together(Check *c, State *s, uint32_t a);
void walk_fence(Check *c, State *s, uint32_t a, bool one, bool tensor, uint32_t space); /* tensor: tc.fence after */
/* What the CTAs of a pair tell each other of other rings, by the event of one of theirs. */
void walk_untold(Check *c, State *s, uint32_t ring); /* a generation begins */
void walk_tell(Check *c, State *s, uint32_t ring, uint32_t e, uint32_t a, uint32_t from, uint32_t to);
void walk_hear(Check *c, State *s, uint32_t ring, uint32_t e, uint32_t a, bool one);
void walk_sources(Check *c, State *s, uint32_t ring, uint32_t a, bool begins);

#endif
