/* lower: checked program -> async IR.
 *
 * lower.c is the table of contents. Scalars: scalars (normal forms, launch expressions), variables (what is known of
 * them), values (IR values), needs (proved, checked at launch, or neither). Moves: regions (the parts that move), maps,
 * tensor and bulk (the two kinds of copies), sync (arrival and reuse made explicit). The kernel: memory (shared
 * memory), independence (rule G), plan (--explain-plan), report (diagnostics, launch checks).
 */
#ifndef LOWER_LOWER_H
#define LOWER_LOWER_H

#include "frontend/prog.h"
#include "lower/algebra/domain/domain.h"
#include "lower/ir/ir.h"

/* Lowers one kernel into c->scratch, everything explicit, memory allocated, well-formed, not yet verified.
 * NULL after an error. plan: receives the text of --explain-plan, may be NULL. */
IrKernel *lower_kernel(Compilation *c, const PKernel *k, Text *plan);

#endif
