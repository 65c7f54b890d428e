/* Work by threads, parts of tiles that are one run of bytes, and the room that tiles take. */
#ifndef LOWER_PLAN_WORK_H
#define LOWER_PLAN_WORK_H

#include "lower/kernel/kernel.h"
#include "lower/plan/copies.h"
#include "lower/plan/move.h"

bool plan_one_run(const MoveInfo *mi);     /* the part of the tile is one run of bytes */
/* Between CTAs: one run of bytes on each side. False after an error. */
bool plan_runs(Lower *L, const PStmt *st, const MoveInfo *from, const MoveInfo *to);

typedef struct Workers { /* who does work by threads, and on how many tiles */
    uint32_t threads;
    int64_t batch;                /* tiles in a row, at these pitches in bytes; 1: one */
    uint32_t pitch_from, pitch_to;
} Workers;
/* Both sides are known: of tiles, or of a tile and a tensor. False after an error. */
bool plan_work(Lower *L, const PStmt *st, const MoveInfo *from, const MoveInfo *to, Workers by, uint32_t *plan);
bool plan_global_work(Lower *L, const MoveInfo *mi, const GlobalPart *g, uint32_t threads, uint32_t *plan);
int64_t plan_zeros(Lower *L, const PStmt *st, const MoveInfo *to, Workers by); /* a fill by st.bulk: its bytes; 0: none */

/* ---- memory.c ---- */
void memory_buffers(Lower *L); /* IrBuf per tile */
void memory_place(Lower *L); /* where it does not, it says so */

#endif
