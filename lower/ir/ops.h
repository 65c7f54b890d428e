/* The operand columns of ops.def: shared by the printer, the reader and the well-formedness check. */
#ifndef LOWER_IR_OPS_H
#define LOWER_IR_OPS_H

#include "lower/ir/ir.h"

enum { IR_OPERANDS_MAX = 12, IR_RESULT_ANY = 255 };

typedef struct IrOperand {
    uint8_t key; /* IrKey */
    char kind;   /* v p m b r t l x L i w: head of ops.def */
    uint8_t arg; /* IrArgKind of what is neither v nor p */
    bool list, optional;
    const char *before; /* NULL: as keys.def has it */
} IrOperand;
typedef struct IrSignature {
    uint8_t n;
    IrOperand v[IR_OPERANDS_MAX];
} IrSignature;
const IrSignature *ir_signature(IrOpcode op);

const char *ir_before(const IrSignature *sig, unsigned i); /* what stands before operand i in the text form */

/* The words of a `w` operand; NULL where the key has none. */
const char *const *ir_words(IrKey key, uint32_t *n);

/* ---- the manifest's words in the text form: table and count ---- */
typedef enum IrMapWord { IRM_MODE, IRM_TYPE, IRM_INTERLEAVE, IRM_SWIZZLE, IRM_L2, IRM_FILL } IrMapWord;
const char *const *ir_map_words(IrMapWord w, uint32_t *n);

#endif
