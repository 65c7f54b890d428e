/* Pipelines: which iterations a team runs, and in which batches. */
#ifndef LOWER_SCHEDULE_DEAL_H
#define LOWER_SCHEDULE_DEAL_H

#include "lower/kernel/kernel.h"

struct Planned; /* moves.h */

typedef struct LoopUse { /* what a loop holds */
    uint32_t from, end; /* its moves */
    uint8_t agents;     /* bits of Agent */
    bool sets;          /* variables from outside of it */
    struct Pipe *pipe;  /* that it is, once it was walked through */
} LoopUse;
typedef struct Pipe { /* a pipeline statement */
    const PStmt *st;
    const LoopUse *use;
    PStmt index[PIPE_INDICES];   /* as loops, for ranges and atoms */
    uint8_t order[PIPE_INDICES]; /* in which iterations are dealt: slowest index first */
    int64_t batch;
    bool across;
    bool whole;                /* a batch of it goes statement by statement: batch.c */
    bool reduces;              /* its working role reduces into global memory */
    PDeal deal;
    Lx total;                  /* iterations, where across */
    struct Ring *ids;          /* ring of ids (without tile), NULL: nobody passes them on */
} Pipe;

typedef struct BodyPart { /* statements of a body for a batch: from first up to end; NULL: the last one */
    const PStmt *first, *end;
    bool together; /* each for all iterations at once */
} BodyPart;

/* ---- deal.c ---- */
Pipe *pipe_of(Lower *L, const PStmt *st);
void deal_launch(Lower *L); /* the manifest's grid */
void deal_walk(Lower *L, Pipe *p);
void deal_turn(Lower *L, Pipe *p, Opnd id); /* a team's iteration, or batch of them */
void deal_indices(Lower *L, const Pipe *p, Opnd id); /* of the iteration with this number */

/* ---- batch.c ---- */
void batch_find(Lower *L);            /* which ones go statement by statement: when sizes are known */
uint32_t batch_pitch(const Lower *L, const Pipe *p, const PTile *tile); /* bytes from iteration to iteration */
void batch_turn(Lower *L, Pipe *p);

/* ---- deal_ways.c ---- */
void deal_by(Lower *L, Pipe *p, Opnd teams); /* all turns of this team; teams: turns of all teams */
typedef struct Ahead { /* what there is now, while indices are those of a later turn */
    const Pipe *pipe;
    Opnd value[PIPE_INDICES], guard, inside;
} Ahead;
/* Indices as this team will have them n turns later; false where that is not known. Closed by deal_now. */
bool deal_ahead(Lower *L, const struct Planned *p, int64_t n, Ahead *now);
void deal_now(Lower *L, const Ahead *now);

#endif
