/* Moves from tile to tile as ops: work by threads in one CTA, copies and fills of tiles of other CTAs. Who synchronises with whom
 * is the caller's: agents of derived schedules, and roles of the source. */
#ifndef LOWER_SCHEDULE_BETWEEN_H
#define LOWER_SCHEDULE_BETWEEN_H

#include "lower/kernel/kernel.h"
#include "lower/plan/move.h"

typedef struct Between {
    const PStmt *st;
    const MoveInfo *from, *to; /* from: NULL where it is a fill */
    Opnd from_slot, from_at, to_slot, to_at;
    Opnd rank; /* of the CTA that has the second tile, if that is another one */
} Between;

/* Its tiles: of a fill the first is the second, too. False after an error. */
bool between_tiles(Lower *L, const PStmt *st, MoveInfo *from, MoveInfo *to);
bool between_plan(Lower *L, const PStmt *st, const MoveInfo *from, const MoveInfo *to); /* to another CTA; false after an error */
Between between_values(Lower *L, const PStmt *st, MoveInfo *from, MoveInfo *to);
void between_work(Lower *L, const Between *b, uint32_t plan, int64_t zeros); /* by threads; zeros: bytes that one of them clears */
void between_send(Lower *L, const Between *b, uint32_t bar, Opnd bar_slot);  /* completes on this barrier, there */
const char *between_text(Lower *L, const PStmt *st, const MoveInfo *to);     /* --explain-plan: to another CTA; without the line's end */

#endif
