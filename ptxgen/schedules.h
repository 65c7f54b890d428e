/* The schedules of one kernel of the source: made, proved, compared with each other, and what a launch takes them by. */
#ifndef PTXGEN_SCHEDULES_H
#define PTXGEN_SCHEDULES_H

#include "frontend/prog.h"
#include "lower/ir/ir.h"

typedef struct Built {
    VEC(IrKernel *) kernels; /* one for each schedule; none after an error */
    VEC(const PKernel *) programs;
    bool variant; /* the last one is for few iterations, and nobody has asked for it */
} Built;

/* Those of the kernel whose first schedule is the i-th; gives the number behind them. plan, certificate: receive the texts of --explain-plan and
 * of --emit=ir; may be NULL. What is built lives in c->scratch. */
size_t build_schedules(Compilation *c, Checked *ch, size_t i, Text *plan, Text *certificate, Built *out);

/* `KERNEL: SCHEDULE` for each schedule of all kernels that can be made and is like no other. */
void list_schedules(Compilation *c, Checked *ch, const IrModule *m, Text *out);

#endif
