/* What the files of synchronisation share; the others use parts.h.
 *
 *   sync.c          moves, bulk groups, blocks: what must be over before a move
 *   sync_begin.c    barriers there are, their phases in each role, their initialisation
 *   sync_barrier.c  arrivals and waits
 *   sync_cond.c     conditions around them
 *   counts.c        arrivals per phase
 */
#ifndef LOWER_SYNC_H
#define LOWER_SYNC_H

#include "lower/parts.h"

void sync_wait_derived(Lower *L, const PTile *tile);
void sync_wait_store(Lower *L, uint32_t i, IrHow how);
void sync_close_commits(Lower *L, const PBarrier *b); /* NULL: all */

#endif
