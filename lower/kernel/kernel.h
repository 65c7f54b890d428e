/* The kernel that is being lowered: what all rooms know of it. What belongs to one room stands in the header of that room,
 * behind a pointer that the rooms below it can't look through.
 *
 * Ops whose operands are the same in the whole kernel go to the prologue (`pre`), the others to `body`; both are joined at
 * the end.
 */
#ifndef LOWER_KERNEL_KERNEL_H
#define LOWER_KERNEL_KERNEL_H

#include <string.h>

#include "frontend/prog.h"
#include "lower/algebra/domain/domain.h"
#include "lower/ir/ir.h"

enum { RANKS_MAX = 16 };

typedef struct Opnd { /* an operand: a value, or an immediate where v == 0 */
    IrVal v;
    bool turn; /* the slot of ring k's generation at hand: of operands alone, nothing is made of it */
    int64_t k;
} Opnd;
static inline Opnd opnd_imm(int64_t k)
{
    return (Opnd){.k = k};
}
static inline Opnd opnd_turn(uint32_t ring)
{
    return (Opnd){.k = ring, .turn = true};
}
static inline bool opnd_is(Opnd o, int64_t k)
{
    return o.v == 0 && o.k == k && !o.turn;
}

typedef struct Lower {
    Compilation *c;
    Arena *a; /* c->scratch */
    Domain *d;
    const PKernel *k;
    IrKernel *ir;
    IrRole pre, body, post; /* before all roles, the one at hand, after all */
    Text *plan;             /* the text of --explain-plan, or NULL */
    bool failed;
    bool derived;           /* its agents are derived; otherwise one thread, or the roles of the source */
    bool remote;            /* CTAs of the cluster reach into each other's shared memory */
    int64_t cluster_size;
    uint8_t agent;          /* whose ops are emitted: IrOp.agent */
    const PStmt *stmt;      /* that is being lowered: place of ops and call frames */
    Opnd guard;             /* a pred: the conditions around it, inside the innermost loop */
    Opnd inside;            /* a pred: false where a batch, or what is `ahead`, has no such iteration. Loads bring zeros then */
    Opnd batch_index;       /* of the iteration in its batch; 0 outside */

    struct Explained *explained; /* kernel/report.h */
    struct Checks *checks;       /* .. too */
    struct Scalars *scalars;     /* algebra/scalars/scalars.h */
    struct Values *values;       /* emit/values.h */
    struct Maps *maps;           /* plan/maps.h */
    struct RingPlace *places;    /* plan/move.h: by tile; NULL where none is in a ring, or none yet */
    struct DeviceMaps *device;   /* plan/device_maps.h */
    struct Accesses *accesses;   /* apart/apart.h */
    struct Sync *sync;           /* schedule/written/sync.h */
    struct Sched *sched;         /* schedule/schedule.h */
} Lower;

#endif
