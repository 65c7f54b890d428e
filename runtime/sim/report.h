/* What the simulator finds: one sentence per finding, with kernel, CTA, role, place and the rule.
 *
 * A finding is a row of lang/errors.def (E13xx) and a text of a few lines: what happened, where (kernel, CTA, warp and
 * lane or role, .tile line through .loc, PTX line), and for conflicts the other access with the same facts. The first
 * finding of a launch stops it.
 */
#ifndef SIM_REPORT_H
#define SIM_REPORT_H

#include "lang/diag/diag.h"
#include "lang/text.h"

struct SimMachine;
struct SimThread;
struct SimBlock;
struct SimLaunch;

typedef struct SimWho { /* who did something: kept small, for shadow records */
    uint32_t cluster;   /* linear number in the grid */
    uint16_t rank;      /* CTA in the cluster */
    uint16_t thread;    /* in the CTA */
    uint32_t pc;        /* of the program */
    bool async;         /* by the copy engine, issued there */
} SimWho;

/* "CTA (3,0,0) thread 32 (role load), x.tile:12:5, PTX line 40: cp.async.bulk..." into out. */
void sim_describe(struct SimMachine *m, SimWho who, Text *out);
/* The place alone: "x.tile:12:5, PTX line 40: cp.async.bulk..". */
void sim_describe_place(struct SimMachine *m, uint32_t pc, Text *out);
/* The instruction as it is written, without its operands. */
void sim_describe_op(struct SimMachine *m, uint32_t pc, Text *out);
/* As written in the source where there is a manifest, else the entry's. */
const char *sim_kernel_name(const struct SimLaunch *l);
/* "the allocation of tensor `dst` (4096 bytes)": by the tensor, parameter or variable that leads there, if one does. */
void sim_describe_block(struct SimMachine *m, const struct SimBlock *b, Text *out);
/* The thread itself; NULL: its cluster is over. */
struct SimThread *sim_thread(const struct SimMachine *m, SimWho who);
/* The role that it had there, or NULL. */
const char *sim_role(const struct SimMachine *m, SimWho who);
/* Files a finding by `t` (NULL: none in particular) at its pc; later ones of the same launch are dropped. Always
 * returns false, for `return sim_fail(..)`. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
bool sim_fail(struct SimMachine *m, ErrorCode code, struct SimThread *t, const char *fmt, ...);
/* The same for a copy or another actor, with a second party that may be NULL. */
#if defined(__GNUC__)
__attribute__((format(printf, 5, 6)))
#endif
bool sim_fail_at(struct SimMachine *m, ErrorCode code, const SimWho *who, const SimWho *other, const char *fmt, ...);
/* The same with further lines, each of them "\n    .."; notes may be NULL. */
#if defined(__GNUC__)
__attribute__((format(printf, 6, 7)))
#endif
bool sim_fail_notes(struct SimMachine *m, ErrorCode code, const SimWho *who, const SimWho *other, const char *notes,
                    const char *fmt, ...);

#endif
