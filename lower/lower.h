/* lower: checked program -> async IR. README.md names the rooms; lower.c is the table of contents. */
#ifndef LOWER_LOWER_H
#define LOWER_LOWER_H

#include "frontend/prog.h"
#include "lower/ir/ir.h"

/* Lowers one kernel into c->scratch, everything explicit, memory allocated, well-formed, not yet verified.
 * NULL after an error. plan: receives the text of --explain-plan, may be NULL. */
IrKernel *lower_kernel(Compilation *c, const PKernel *k, Text *plan);

/* For the plan: the checks of the launch from that one on, which verification has added. */
void lower_explain_checks(const MfKernel *mf, uint32_t from, Text *plan);

#endif
