/* Hand-written roles drawn from seeds, changed, and run: does the verifier accept what the simulator can break, does it refuse what is right?
 *
 *   tree.c    a program as a tree of the grammar's productions, which are read from the parser's own table
 *   text.c    lines and blocks, as draw.c writes them
 *   draw.c    a schedule (loops, conditions, turns of rings) and its projections: one for each role, in words of its own, and one for a
 *             kernel without roles, which is what it means
 *   change.c  one thing dropped, repeated, moved, renamed, made by another production, or a number that is another one
 *   run.c     compiles, launches at several sizes in several schedules; also what the verifier refuses
 *   roles.c   the command; processes, counts, tables, the shrinker
 */
#ifndef TESTS_ROLES_ROLES_H
#define TESTS_ROLES_ROLES_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>


/* ---- tree.c ---- */

void text_begin(uint64_t seed); /* forgets trees and texts but those that text_keep() kept; draws begin anew */
void text_keep(void);
int some(int n); /* 0 .. n - 1 */
bool odds(int percent);
#define PICK(...) ((const int[]){__VA_ARGS__})[some((int)(sizeof((const int[]){__VA_ARGS__}) / sizeof(int)))]
#define PICK_TEXT(list) (list)[some((int)(sizeof(list) / sizeof *(list)))]
__attribute__((format(printf, 1, 2))) const char *text(const char *format, ...);
const char *text_of(const char *format, va_list args);
const char *text_n(const char *s, size_t n);

enum { RULES = 400, WIDE = 10 };
typedef struct Rule { /* of the grammar, by the parser's number */
    int from, to[WIDE], n; /* symbols */
    bool broken;           /* it is for syntax errors */
} Rule;
extern Rule rules[RULES];
extern int nrules;
void grammar_read(void);
const char *symbol_text(int s); /* of terminals in quotes */
bool is_terminal(int s);

typedef struct Tree {
    int rule, kind;    /* rule -1: a token; symbol */
    const char *text;  /* of a token */
    struct Tree *kid[WIDE];
} Tree;
Tree *tree_make(int rule, int kind, const char *s);
Tree *tree_copy(const Tree *t);
Tree *tree_parse(const char *source); /* NULL: there is a syntax error */
Tree *tree_find(Tree *t, const char *kind); /* the first one, from the outside */
size_t tree_print(const Tree *t, char *out, size_t size);

/* ---- text.c ---- */

typedef struct Node { /* a line, or a block: `text { body }` */
    const char *text;
    bool block;
    struct Node *body, *next;
} Node;

void lines_begin(void);
__attribute__((format(printf, 1, 2))) Node *line(const char *format, ...);
__attribute__((format(printf, 2, 3))) Node *braces(Node *body, const char *format, ...);
Node *seq(Node *a, Node *b);
bool in_text(const Node *n, const char *word); /* in it, or in what is next */
size_t print_node(const Node *n, char *out, size_t size);

/* ---- draw.c ---- */

/* What a program has: printed with how often, and how often accepted. */
#define ROLES_FORMS(X)                                                                                                          \
    X(LOOP, "loops") X(NESTED, "loops in loops") X(BEHIND, "one behind the other") X(DATA_TRIPS, "trip counts from memory")     \
    X(INDEX_TRIPS, "trip counts of an outer index") X(CTA_TRIPS, "trip counts of the CTA") X(PARITY, "turns where k % 2")       \
    X(BOUND, "turns where k < c") X(LAUNCH_IF, "turns under sizes") X(DATA_IF, "turns under data")                              \
    X(CTA_IF, "turns under the CTA") X(OTHER_ARM, "turns in both arms") X(SLOTS, "rings of several slots")                      \
    X(BY_INDEX, "slots by index") X(BY_VARIABLE, "slots by variable") X(WRAPPED, "slots that a condition wraps")                 \
    X(QUOTIENT, "slots or places by quotients")                                                                                 \
    X(STACKED, "slots that are rows of a tile") X(SEVERAL_RINGS, "several rings") X(SHARED_BARRIER, "two tiles on a barrier")   \
    X(TWO_FILL, "two roles fill") X(TWO_READ, "two roles read") X(MORE_ARRIVE, "one more role arrives")                         \
    X(CHAIN, "a ring fed by another") X(BY_THREADS, "threads load or store") X(FILLED, "filled tiles")                          \
    X(BY_BULK, "bulk copies") X(CACHED, "hints for the cache") X(PREFETCHED, "prefetches") X(REDUCED, "reductions")             \
    X(IN_PARTS, "parts") X(LATE, "released a turn late") X(KEPT, "slots kept for later")                                         \
    X(ONE_ROLE, "one role fills and reads") X(CROSSED, "roles that feed each other") X(UNROLLED, "unrolled loops")              \
    X(SPLIT, "split loops") X(SHIFTED, "loops that begin elsewhere") X(VIEWED, "views") X(EXPECTED, "bytes expected by hand")   \
    X(CLUSTER, "clusters") X(MULTICAST, "multicasts") X(TO_PEER, "loads into peers") X(SENT, "copies between CTAs")             \
    X(ONCE, "waits for what comes once") X(CHANGED, "changed")
#define FORM(form, word) F_##form,
typedef enum Form { ROLES_FORMS(FORM) FORMS } Form;
#undef FORM

typedef struct Case {
    Node *kernel, *plain; /* plain: what it means */
    bool form[FORMS];
} Case;

void draw_case(Case *c);

/* ---- change.c ---- */

void change_begin(void);
void change_learn(const Tree *t); /* what stands where in programs: parts for others */
/* Returns what was done; NULL: nothing could be. *moves: what is moved may be another thing, so other bytes may be right. */
const char *change(Tree *root, bool *moves);
/* A smaller program; false: there is no smaller one. Undone by another call with `undo`. */
bool shrink_step(Tree *root, int step, bool undo);

/* ---- run.c ---- */

typedef enum Truth { RIGHT, OTHER_BYTES, WRONG, BEYOND, NOT_RUN } Truth; /* BEYOND: what is not the verifier's, or too long */

typedef struct Verdict {
    bool accepted;
    char code[8];     /* of the refusal */
    Truth truth;      /* of the launches that are made; of a refused one: with the verifier off */
    int launches, refused, refused_right; /* refused: by checks of the launch */
    char said[700];   /* by the compiler, or of the first launch that is not right */
    char at[80];      /* that launch */
} Verdict;

void bench_open(uint64_t seed, int most_seconds); /* of a launch: what takes longer tells nothing */
void bench_close(void);
extern bool bench_is_shut;       /* nothing runs */
void cover_begin(void);          /* roles.c: what is compiled from here on .. */
void cover_end(bool accepted);   /* .. up to here is one program */
/* plain: NULL: not known. */
bool is_program(const char *kernel); /* it compiles, but for the verifier */
void judge(const char *kernel, const char *plain, bool refused_too, Verdict *v);

#endif
