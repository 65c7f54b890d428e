/* Hand-written roles drawn from seeds, changed, and run: does the verifier accept what the simulator can break, does it refuse what is right?
 *
 *   text.c    a program as a tree of lines and blocks: that is all that changes and the shrinker know of it
 *   draw.c    a schedule (loops, conditions, turns of rings) and its projections: one for each role, in words of its own, and one for a
 *             kernel without roles, which is what it means
 *   change.c  one thing dropped, repeated, moved, renamed, or a number that is another one
 *   run.c     compiles, launches at several sizes in several schedules; also what the verifier refuses
 *   roles.c   the command; counts, tables, the shrinker
 */
#ifndef TESTS_ROLES_ROLES_H
#define TESTS_ROLES_ROLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- text.c ---- */

typedef struct Node { /* a line, or a block: `text { body }` */
    const char *text;
    bool block;
    struct Node *body, *next;
} Node;

typedef struct Links {
    Node **at[1024], **parent[1024]; /* parent: the block around; NULL: none */
    int n;
} Links;

void text_begin(uint64_t seed); /* forgets all nodes and texts; draws begin anew */
int some(int n);                /* 0 .. n - 1 */
bool odds(int percent);
#define PICK(...) ((const int[]){__VA_ARGS__})[some((int)(sizeof((const int[]){__VA_ARGS__}) / sizeof(int)))]
__attribute__((format(printf, 1, 2))) const char *text(const char *format, ...);
__attribute__((format(printf, 1, 2))) Node *line(const char *format, ...);
__attribute__((format(printf, 2, 3))) Node *braces(Node *body, const char *format, ...);
Node *seq(Node *a, Node *b);
Node *copy_node(const Node *n); /* without what is next */
bool in_text(const Node *n, const char *word); /* in it, or in what is next */
void links_of(Node **root, Links *l);
size_t print_node(const Node *n, char *out, size_t size);

/* ---- draw.c ---- */

/* What a program has: printed with how often, and how often accepted. */
#define ROLES_FORMS(X)                                                                                                          \
    X(LOOP, "loops") X(NESTED, "loops in loops") X(BEHIND, "one behind the other") X(DATA_TRIPS, "trip counts from memory")     \
    X(INDEX_TRIPS, "trip counts of an outer index") X(CTA_TRIPS, "trip counts of the CTA") X(PARITY, "turns where k % 2")       \
    X(BOUND, "turns where k < c") X(LAUNCH_IF, "turns under sizes") X(DATA_IF, "turns under data")                              \
    X(CTA_IF, "turns under the CTA") X(OTHER_ARM, "turns in both arms") X(SLOTS, "rings of several slots")                      \
    X(BY_INDEX, "slots by index") X(BY_VARIABLE, "slots by variable") X(QUOTIENT, "slots or places by quotients")               \
    X(STACKED, "slots that are rows of a tile") X(SEVERAL_RINGS, "several rings") X(SHARED_BARRIER, "two tiles on a barrier")   \
    X(TWO_FILL, "two roles fill") X(TWO_READ, "two roles read") X(MORE_ARRIVE, "one more role arrives")                         \
    X(CHAIN, "a ring fed by another") X(BY_THREADS, "threads load or store") X(FILLED, "filled tiles")                          \
    X(BY_BULK, "bulk copies") X(REDUCED, "reductions") X(IN_PARTS, "parts") X(LATE, "released a turn late")                     \
    X(ONE_ROLE, "one role fills and reads") X(CROSSED, "roles that feed each other") X(UNROLLED, "unrolled loops")              \
    X(SPLIT, "split loops") X(SHIFTED, "loops that begin elsewhere") X(VIEWED, "views") X(EXPECTED, "bytes expected by hand")   \
    X(CLUSTER, "clusters") X(MULTICAST, "multicasts") X(TO_PEER, "loads into peers") X(SENT, "copies between CTAs")             \
    X(CHANGED, "changed")
#define FORM(form, word) F_##form,
typedef enum Form { ROLES_FORMS(FORM) FORMS } Form;
#undef FORM

typedef struct Case {
    Node *kernel, *plain; /* plain: what it means */
    bool form[FORMS];
} Case;

void draw_case(Case *c);

/* ---- change.c ---- */

/* Returns what was done; NULL: nothing could be. *moves: what is moved may be another thing, so other bytes may be right. */
const char *change(Node **root, bool *moves);
/* A smaller program; false: there is no smaller one. Undone by another call with `undo`. */
bool shrink_step(Node **root, int step, bool undo);

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

void bench_open(uint64_t seed);
void bench_close(void);
/* plain: NULL: not known. */
void judge(const char *kernel, const char *plain, bool refused_too, Verdict *v);

#endif
