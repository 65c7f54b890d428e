/* Asks the checker of states (../states.h) about a kernel, in memory of its own, and compares with what others say of it.
 *
 * Global memory, and which bytes the pieces of a packed type leave out, are not in its states: of what is refused or goes wrong for these it says nothing. */
#ifndef TESTS_STATES_TOOL_ASK_H
#define TESTS_STATES_TOOL_ASK_H

#include <stdbool.h>
#include <stdio.h>

typedef enum Opinion { STATES_SILENT, STATES_PROVED, STATES_REFUSED, STATES_LOST } Opinion; /* not asked; lost: it can't follow */
typedef struct StatesSaid {
    Opinion is;
    char kernel[64], why[400];
    unsigned states;
    double seconds;
} StatesSaid;
extern const char *const OPINION_WORD[]; /* .. LOST: "open" */

struct IrKernel;
bool states_concern(const struct IrKernel *k); /* it has barriers that stand in the program */
extern double states_seconds; /* of a question, at most: what takes longer is lost */
extern bool states_trace;     /* the states, to stdout */
void states_ask(const struct IrKernel *k, StatesSaid *to);

/* ---- beside a compiler's verdict, and launches ---- */

typedef enum Ran { RAN_RIGHT, RAN_WRONG, RAN_NOT } Ran; /* WRONG: it hung, or accesses met; NOT: it did not run, or that says nothing of the verifier */
typedef struct StatesTable {
    long asked, proved, refused, lost;
    long refused_right;         /* refused here alone, though nothing was seen to go wrong */
    long proved_refused;        /* by the compiler alone */
    long beyond;                /* .. or going wrong, for what is not in the states */
    long wrong;                 /* disagreements in which one of the two is wrong */
} StatesTable;
Ran states_ran(const char *found); /* of what a simulator says of an execution that is not right */
/* What is wrong, or NULL; code: of the compiler's refusal. */
const char *states_compare(StatesTable *t, const StatesSaid *s, bool accepted, const char *code, Ran ran);
void states_print(const StatesTable *t, FILE *to);

/* ---- wrapped.c: with -Wl,--wrap=ir_verify each kernel that tilecc_compile() verifies is asked about ---- */

enum { SAID_MOST = 64, SAID_BARS = 16 };
extern StatesSaid states_said[SAID_MOST]; /* of the kernels that it concerns */
extern bool states_accepted[SAID_MOST]; /* by the verifier */
extern int states_nsaid;                /* set it to 0 */
extern bool (*states_skips)(const char *kernel); /* NULL: none */
int states_count(const char *bar); /* arrivals of a phase, in the last of them; 0: there is no such barrier */

#endif
