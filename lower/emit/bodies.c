/* A role's ops become its body. */
#include "lower/emit/values.h"

/* What an op gives whose guard is false: ops.def. */
static void instead(Lower *L, IrOp *op)
{
    IrOp none = {.op = IR_CONST, .type = op->type, .dst = op->dst, .span = op->span};
    ir_imm(L->a, &none, IRK_A, -1);
    *op = none;
}

void body_set(Lower *L, IrRole *to, IrRole *from)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < from->ops.n; i++) {
        IrOp *op = &from->ops.v[i];
        bool never = op->guard.when == IRW_NEVER;
        if (never && op->dst) instead(L, op);
        if (!never || op->dst) from->ops.v[n++] = *op;
    }
    to->ops.v = from->ops.v;
    to->ops.n = n;
    to->ops.cap = from->ops.cap;
    from->ops.v = NULL;
    from->ops.n = from->ops.cap = 0;
}

/* In a role of many threads, who does what: copies and arrivals by one thread, except copies dealt to lanes and their
 * groups. */
void body_elect(IrRole *r, uint8_t agent, Shape shape)
{
    uint32_t lanes = 0, depth = 0;
    for (uint32_t i = 0; i < r->ops.n; i++) {
        IrOp *op = &r->ops.v[i];
        if (op->op == IR_END && depth-- == lanes) lanes = 0;
        if (ir_opens_block(op->op) && op->op != IR_ELSE) {
            depth++;
            if (op->op == IR_LANES) lanes = depth;
        }
        if (op->agent != agent) continue;
        bool copy = ir_op_info(op->op)->group == IRG_COPY, group = ir_op_info(op->op)->group == IRG_GROUP;
        bool one = op->op == IR_TC_COMMIT || op->op == IR_RELEASE || op->op == IR_BAR_ARRIVE || op->op == IR_BAR_EXPECT || op->op == IR_BAR_ARRIVE_EXPECT ||
                   op->op == IR_STS || op->op == IR_ST_BULK || op->op == IR_TICKET || op->op == IR_MAP_SET || (copy && !lanes) || (group && shape == SHAPE_THREADS);
        if (one) op->elect = true;
    }
}
