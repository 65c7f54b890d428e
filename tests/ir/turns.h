/* What `turns` is made of: numbers of a launch and programs whose roles count by them, drawn from seeds (turns_sum.c, turns_draw.c), their
 * text (turns_text.c), and a machine that runs the roles of one launch (turns_machine.c). The machine knows nothing of the compiler but how
 * many arrivals it gave a barrier's phase.
 */
#ifndef TESTS_IR_TURNS_H
#define TESTS_IR_TURNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- numbers ---- */

/* kind, its word, is it written as a call */
#define TURNS_KINDS(X)                                                                                                         \
    X(NUMBER, "number", 0) X(NAME, "name", 0) X(ADD, "+", 0) X(SUB, "-", 0) X(MUL, "*", 0) X(DIV, "/", 0) X(MOD, "%", 0)         \
    X(CEIL, "ceil", 1) X(MIN, "min", 1) X(MAX, "max", 1) X(SHL, "<<", 0) X(SHR, ">>", 0) X(AND, "&", 0) X(EQ, "==", 0)           \
    X(NE, "!=", 0) X(LT, "<", 0) X(GE, ">=", 0)
#define KIND(kind, word, call) kind,
typedef enum Kind { TURNS_KINDS(KIND) KINDS } Kind;
#undef KIND

enum { N, M, ROWS, LAUNCH_NAMES, K = LAUNCH_NAMES, I, J, Q, C, D, NAMES }; /* scalars of the launch, rows of a tensor; indices, variables */

typedef struct Sum {
    Kind kind;
    int64_t n; /* number; which name */
    const struct Sum *a, *b;
} Sum;

void sums_begin(uint64_t seed); /* forgets all that were made */
int64_t some(int64_t n);        /* 0 .. n - 1 */
int64_t pick(const int64_t *list, int64_t n);
#define PICK(...) pick((const int64_t[]){__VA_ARGS__}, (int64_t)(sizeof((const int64_t[]){__VA_ARGS__}) / 8))
const Sum *number(int64_t n);
const Sum *named(int name);
const Sum *op(Kind k, const Sum *a, const Sum *b);
const Sum *draw_sum(int depth); /* of the names of a launch */
int64_t value(const Sum *s, const int64_t *names);
void count_forms(const Sum *s, long *counts);
extern const char *const KIND_WORD[KINDS];

typedef struct Fact {
    const char *text;
    bool (*holds)(int64_t n, int64_t m);
} Fact;
enum { FACTS = 2 };
const Fact *fact(int i); /* the first: n >= 0 */
const Fact *draw_fact(void);
bool facts_hold(const Fact *const *fact, const int64_t *names);

/* ---- text ---- */

typedef struct Text {
    char s[16384];
    size_t n;
} Text;

void put(Text *t, const char *word);
void put_sum(Text *t, const Sum *s);

/* ---- programs ---- */

typedef enum Act { WAIT, ARRIVE, FILL, STORE, GROUP, FOR, IF, SET, ACTS } Act;

typedef struct Stmt {
    Act act;
    int bar;             /* that is waited for, arrived at, committed to */
    int name;            /* of the index or variable */
    const Sum *at;       /* slot; NULL: the only one */
    const Sum *a, *b;    /* from, to; what is compared; what is set; row */
    struct Stmt *body, *other, *next;
} Stmt;

enum { BARS = 6, ROLES = 4, SLOTS = 8 };

typedef struct Bar {
    const char *name;
    int slots;
    bool free;
    int per_phase[ROLES]; /* arrivals of each role, as they were meant */
} Bar;

typedef struct Role {
    const char *name;
    Stmt *body;
    int variable[2]; /* slots that C and D count; 0: there is none */
} Role;

/* What a program has: printed with how often. */
#define TURNS_FORMS(X)                                                                                                         \
    X(COPIES, "copies") X(TWO_SCALARS, "two scalars") X(SEVERAL_SLOTS, "rings of several slots") X(BY_VARIABLE, "slots by variable") \
    X(BY_INDEX, "slots by index") X(SEVERAL_ARRIVALS, "several arrivals of a role in a phase")                                   \
    X(SEVERAL_ARRIVE, "several roles arrive in a phase") X(SEVERAL_READ, "two roles wait for one phase")                         \
    X(CHAIN, "three roles in a chain") X(BOTH_ARMS, "uses in both arms") X(ONE_ARM, "uses in one arm")                            \
    X(TURN_CONDITION, "conditions of the turn: k % 2") X(BOUND_CONDITION, "conditions of the turn: k < c, k + c < n")            \
    X(LAUNCH_CONDITION, "conditions of the launch") X(UNROLLED, "unrolled loops") X(TAILS, "tails")                              \
    X(LATER_START, "starts that are not 0") X(NESTED, "loops in loops") X(BEHIND, "loops one behind the other")                  \
    X(AHEAD_BY, "a loop that begins in front of another") X(LATE_ARRIVAL, "arrivals a turn late")                                \
    X(THRESHOLD, "counts that deviate behind a threshold") X(DEVIATES, "counts that deviate otherwise")                          \
    X(REWRITTEN, "one count in two forms") X(CHANGED, "a statement more, less or elsewhere")
#define FORM(form, word) form,
typedef enum Form { TURNS_FORMS(FORM) FORMS } Form;
#undef FORM
extern const char *const FORM_WORD[FORMS];

typedef struct Program {
    Bar bar[BARS];
    Role role[ROLES];
    int bars, roles, slots; /* slots of the tile */
    const Fact *fact[FACTS];
    bool form[FORMS];
} Program;

void draw_program(Program *p, uint64_t seed);
void put_program(Text *t, const Program *p);
/* The numbers that stand in it: launches around them tell most. */
int numbers_of(const Program *p, int64_t *list, int most, bool *m); /* m: m counts, too */

/* ---- the machine ---- */

typedef enum Outcome { RIGHT, HANGS, GETS_AHEAD, ARRIVES_EARLY, NOT_WAITED, TOO_LONG, OUTCOMES } Outcome;
extern const char *const OUTCOME_WORD[OUTCOMES];

/* What can become of the launch, counts[] being the arrivals of a phase of each barrier. */
Outcome run_launch(const Program *p, const int64_t *names, const int *counts);

/* ---- the two kinds of programs ---- */

typedef struct tile_device tile_device;
int turns_roles(uint64_t seed, long count, long print, tile_device *d);

/* turns_verified.c: of a barrier of the kernel that was verified last, arrivals of a phase; 0: there is no such barrier */
int verified_count(const char *bar);
void verified_forget(void);

#endif
