/* --explain-plan: what was decided, per move and for the kernel. */
#ifndef LOWER_EXPLAIN_EXPLAIN_H
#define LOWER_EXPLAIN_EXPLAIN_H

#include "lower/kernel/kernel.h"
#include "lower/kernel/report.h"
#include "lower/plan/copies.h"
#include "lower/plan/move.h"

/* ---- kernel.c ---- */
void explain_copy(Lower *L, const MoveInfo *mi, const Copies *c);
void explain_global(Lower *L, const MoveInfo *mi, const GlobalPart *g, const IrPlan *q);
void explain_kernel(Lower *L);
void explain_checks(const MfKernel *mf, uint32_t from, Text *t); /* .. of the launch, from that one on */
void explain_head(Lower *L);

/* ---- schedule.c ---- */
void explain_schedule(Lower *L); /* of a scheduled kernel, before its moves */
void explain_moves(Lower *L);    /* what they became */
const char *explain_completes(Lower *L, const MoveInfo *mi);
void explain_device_map(Lower *L, uint32_t map);

#endif
