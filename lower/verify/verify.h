/* The verifier: reads the final IR and trusts nothing else. */
#ifndef LOWER_VERIFY_VERIFY_H
#define LOWER_VERIFY_VERIFY_H

#include "lower/ir/ir.h"

/* Proves from the final IR alone that the kernel never hangs, races or reads what has not arrived; what it can't
 * prove is reported with both places. Returns whether all was proved. */
bool ir_verify(Arena *a, Diags *d, const IrModule *m, const IrKernel *k, Text *certificate);

#endif
