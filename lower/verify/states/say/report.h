/* What is said of a kernel that is not proved: report.c makes refusals and writes them as diagnostics, tell.c says of two accesses which has to
 * wait for which, and what would order them, stuck.c who waits for whom. Nothing here decides whether a kernel is refused. */
#ifndef LOWER_VERIFY_STATES_REPORT_H
#define LOWER_VERIFY_STATES_REPORT_H

#include "lower/verify/states/steps/steps.h"

/* ---- report.c: a refusal is told, then it is the one that c->why is ---- */

#if defined(__GNUC__)
#define FORMAT(n) __attribute__((format(printf, n, n + 1)))
#else
#define FORMAT(n)
#endif
FORMAT(4) void tell(Checker *c, ErrorCode code, uint32_t op, const char *fmt, ...);
FORMAT(3) void tell_also(Checker *c, uint32_t op, const char *fmt, ...);
FORMAT(2) void tell_note(Checker *c, const char *fmt, ...);
FORMAT(2) void tell_fix(Checker *c, const char *fmt, ...); /* the first one counts */
NORETURN void refuse_told(Checker *c);
FORMAT(3) NORETURN void lost_as(Checker *c, ErrorCode code, const char *fmt, ...);
void hold_told(Checker *c, int sort, int plain); /* it goes on: what that comes to may say more. plain: of a race */
bool refusal_held(Checker *c);                   /* of the state at hand */
void refusal_comes_to(Checker *c);               /* of one that was held: the race, if the run comes to one */
void refusal_diag(const Checker *c, Diags *d, const Refusal *r);

/* ---- names ---- */

Span span_of_op(const Checker *c, uint32_t op); /* or of one near it; of the kernel */
const char *op_text(const Checker *c, uint32_t op); /* "bar.wait", with its role where there are several */
const char *who(const Checker *c, uint32_t agent);
const char *role_of(const Checker *c, uint32_t agent);
const char *bar_name(const Checker *c, uint32_t bar); /* with its slot and CTA where there are several */
const char *bar_text(const Checker *c, uint32_t b);   /* as one writes it: which slot it is, is not ours to say */
const char *num_shown(const Checker *c, Num x);

/* ---- what the program has ---- */

#define NOWHERE UINT32_MAX
static inline bool counts(const Checker *c, uint32_t op, uint32_t b) /* on barrier b */
{
    const IrArg *of = ir_find(c->op[op], IRK_BAR);
    return of && of->kind == IRA_BAR && of->id == b && c->op[op]->op != IR_BAR_WAIT && c->op[op]->op != IR_BAR_INIT;
}
static inline uint32_t bar_number(const Checker *c, uint32_t bar) /* of a slot */
{
    return (uint32_t)(bar_info(c, bar) - c->k->bars.v);
}
uint32_t use_of(const Checker *c, uint32_t body, uint32_t b,
                bool waits); /* an op that waits for it, or counts on it; body 0: of all roles. Or NOWHERE */
uint32_t last_use(const Checker *c, uint32_t body, uint32_t buf);
uint32_t other_user(const Checker *c, uint32_t but,
                    uint32_t buf); /* the one body but that which uses it; 0: none, or several */
uint32_t unwaited_use(const Checker *c, uint32_t body,
                      uint32_t b); /* where it counts on a barrier that nothing waits for, or NOWHERE */

/* ---- tell.c ---- */

void hold_race(Checker *c, const Item *x, uint32_t y); /* x comes now, item y came before, nothing orders them */
void hold_unfenced(Checker *c, uint32_t y);            /* item y is over, and what happens now does not see that */
void tell_tensors(Checker *c, uint32_t op, bool write, uint32_t y, bool over); /* in global memory, beside item y */
void tell_unwritten(Checker *c, const Where *w);
NORETURN void refuse_in_flight(Checker *c, uint32_t item); /* at the end */
NORETURN void refuse_freed(Checker *c, uint32_t item);
NORETURN void refuse_far(Checker *c, uint32_t bar, uint32_t item);
void also_unwaited(Checker *c); /* barriers that nothing waits for */
void also_arrivals(Checker *c, uint32_t b);

NORETURN void refuse_uninitialised(Checker *c, uint32_t bar, uint32_t op, bool fenced); /* ends.c */

/* ---- stuck.c ---- */

NORETURN void refuse_stuck(Checker *c);
NORETURN void refuse_unfinished(Checker *c, uint32_t bar); /* at the end */

#endif
