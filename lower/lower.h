/* lower: checked program -> async IR.
 *
 * Each step is one file: scalars (expressions to values and normal forms), regions (moves to copies), maps (inferred
 * tensor maps, map rules), guards (clipped bulk copies), sync (derived arrival and reuse made explicit), memory
 * (shared memory), independence (rule G), plan (--explain-plan).
 */
#ifndef LOWER_LOWER_H
#define LOWER_LOWER_H

#include "frontend/prog.h"
#include "lower/domain.h"
#include "lower/ir.h"

/* Lowers one kernel into c->scratch, everything explicit, memory allocated, well-formed, not yet verified.
 * NULL after an error. plan: receives the text of --explain-plan, may be NULL. */
IrKernel *lower_kernel(Compilation *c, const PKernel *k, Text *plan);

#endif
