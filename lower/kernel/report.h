/* What is said: words for messages, errors and refusals, checks that the launch makes, notes for --explain-plan. */
#ifndef LOWER_KERNEL_REPORT_H
#define LOWER_KERNEL_REPORT_H

#include "lower/algebra/domain/domain.h"
#include "lower/kernel/kernel.h"

/* Why something is not possible: becomes a diagnostic, or a rejected alternative. */
typedef struct Refusal {
    ErrorCode code;
    Span span;
    const char *text;
    Span label_span;
    const char *label;
    const char *fix;
    bool by_bulk; /* a bulk copy would do */
} Refusal;

typedef struct MoveLines {
    const PStmt *stmt;
    const char *lines; /* complete, indented */
} MoveLines;
struct Checks { /* of the launch: numbers from 1, 0: none */
    VEC(uint32_t) last;   /* by condition: the last check that has it */
    VEC(uint32_t) before; /* by check: the one before it that has the same */
};
struct Explained {
    VEC(MoveLines) moves;
    const char **bufs, **bars, **maps; /* by number: names of their own */
};

/* Says why (NULL: as an error, at once); false. label: what stands at `cause`, NULL: nothing; fix: the same. */
#if defined(__GNUC__)
__attribute__((format(printf, 8, 9)))
#endif
bool
cannot(Lower *L, Refusal *why, ErrorCode code, Span at, Span cause, const char *label, const char *fix, const char *fmt, ...);

const char *source_text(Lower *L, Span s); /* the program's words, on one line */
const char *place_text(Lower *L, Span s);  /* "copy.tile:12:5" */
const char *name_text(Lower *L, Name n);
const char *poly_text(Lower *L, Poly p);
const char *bytes_text(Lower *L, Poly elements, int bits); /* "N * 2" */
const char *lx_text(Lower *L, Lx x);
const char *unproved_multiple(Poly x, int64_t m); /* "is not", or "is not proved to be" (a multiple) */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
Diag *
lower_error(Lower *L, ErrorCode code, Span span, const char *fmt, ...); /* with the call chain as notes */
void lower_refuse(Lower *L, const Refusal *r);
/* A condition that the launch must meet. False where it can't hold for any launch (then nothing is added). */
bool launch_check(Lower *L, ErrorCode code, Lx cond, Span span, const char *text, const char *why);
bool launch_checked(Lower *L, ErrorCode code, Lx cond); /* already: its text need not be made */
void launch_drop(Lower *L, uint32_t n); /* all but the first n */

/* For --explain-plan: what is said about a statement. */
void explain_move(Lower *L, const PStmt *st, const char *lines);

#endif
