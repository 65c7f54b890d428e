/* The verifier: every kernel is proved before PTX is made of it. */
#ifndef LOWER_VERIFY_VERIFY_H
#define LOWER_VERIFY_VERIFY_H

#include "lower/ir/ir.h"

typedef struct Demands { /* of launches, so that what is proved of all holds of each: checks that mf gets, in the arena, which is not the one that proofs take */
    Arena *arena;
    MfKernel *mf;
} Demands;

/* Proves that the kernel never hangs, races or reads what has not arrived; what it can't prove is reported with its places, or demanded; to NULL:
 * nothing may be.
 * A derived schedule is proved on its tree, anything else by the states of the final IR. certificate: what these
 * prove, or, of a derived schedule, why they could not; NULL: not wanted. Returns whether all was proved. */
bool ir_verify(Arena *a, Diags *d, const IrKernel *k, const Demands *to, Text *certificate);

/* By states alone, from the final IR; trusts nothing else. */
bool ir_verify_states(Arena *a, Diags *d, const IrKernel *k, const Demands *to, Text *certificate);
bool ir_has_tree_proof(const IrKernel *k); /* its tree proves it */

#endif
