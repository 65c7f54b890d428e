/* The operand columns of ops.def: shared by the printer, the reader and the well-formedness check. */
#ifndef LOWER_IR_OPS_H
#define LOWER_IR_OPS_H

#include "lower/ir/ir.h"

enum { IR_OPERANDS_MAX = 12, IR_RESULT_NUM = 254, IR_RESULT_ANY = 255 };
enum { IR_TYPE_OWN = IR_PRED + 1, IR_TYPE_STATED }; /* of an operand: that of the op; that which another operand says */

typedef struct IrOperand {
    uint8_t key;  /* IrKey */
    uint8_t arg;  /* IrArgKind; IRA_VAL: a value, or an immediate where it is no IR_PRED */
    uint8_t type; /* of IRA_VAL: IrType, or as above; IR_NONE: any integer */
    bool list, optional;
} IrOperand;
typedef struct IrSignature {
    uint8_t n;
    IrOperand v[IR_OPERANDS_MAX];
} IrSignature;
extern const IrSignature IR_SIGNATURES[];
static inline const IrSignature *ir_signature(IrOpcode op)
{
    return &IR_SIGNATURES[op];
}

const char *ir_before(const IrSignature *sig, unsigned i); /* what stands before operand i in the text form */

/* The words of a `w` operand; NULL where the key has none. */
const char *const *ir_words(IrKey key, uint32_t *n);

#endif
