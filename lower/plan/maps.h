/* Tensor maps and cache policies: one for all copies that want the same. */
#ifndef LOWER_PLAN_MAPS_H
#define LOWER_PLAN_MAPS_H

#include "lower/ir/ir.h"
#include "lower/kernel/kernel.h"
#include "lower/kernel/report.h"
#include "lower/plan/move.h"

struct Maps {
    uint32_t *map_of;           /* by PMap.index: MfMap + 1 */
    VEC(MapDesc) descs;         /* by MfMap */
    VEC(PTensor *) map_tensors; /* by MfMap: parameter or view */
    uint32_t *pol_of;           /* by PPolicy.index: IrPolicy + 1 */
    uint32_t hint_pol[3];       /* by Hint: the same */
};

/* ---- maps.c ---- */
/* The map of the source; breaches are reported at its clauses. False after an error: nothing is left for why to say. */
bool map_explicit(Lower *L, PMap *m, uint32_t *index, Refusal *why);
typedef struct FirstBreach {
    Lower *L;
    Refusal *why; /* without a text */
} FirstBreach;
void map_refuses(void *first, const MapBreach *b); /* of several the first one becomes the refusal */
/* A map with this box, shared with equal ones; refused where a rule is broken. */
bool map_inferred(Lower *L, const MoveInfo *mi, const int64_t *box, const int64_t *elem_stride, uint32_t *index,
                  Refusal *why);
/* Do elements of a tensor that is stored to share memory? Says so in why. */
bool map_overlaps(Lower *L, const MoveInfo *mi, Refusal *why);
int64_t map_bytes(Lower *L, uint32_t index, int64_t halo); /* that one copy adds to its barrier */
void policy_operand(Lower *L, IrOp *op, const MoveInfo *mi); /* the move's, or the derived one */

/* ---- slices.c: interleaved layouts ---- */
bool slices_map(Lower *L, const PMap *m, Refusal *why);
bool slices_fit(Lower *L, const MoveInfo *mi, Refusal *why);
bool slices_whole(Lower *L, const MoveInfo *mi, Refusal *why); /* the part of the innermost dimension is all of it */

#endif
