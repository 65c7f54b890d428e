/* Random correct programs: what the generator makes, and what is done with it.
 *
 *   generate.c, shapes.c, units.c, teams.c, scalars.c   draw a Program from a seed; it is correct by construction
 *   forms.c, forms_*.c              or one form of the language, drawn
 *   print.c      Program -> .tile text; dress.c: the same in other words
 *   wild.c, places.c                or statements as they come, which may be correct or not
 *   meaning.c    what the text means, executed one statement after the other on arrays in memory; it also tells when a
 *                Program is not correct (a tile read before it is written, places that two teams write), so that neither
 *                the generator nor the shrinker can blame the compiler for it
 *   conflicts.c  which pieces of work touch the same places; launches.c: other launches of a Program
 *   acceptance.c what of the correct programs the compiler refuses
 *   values.c     elements of every type, random numbers; round.c: conversions
 *   trial.c      compiles and launches a Program, compares with its meaning; workers.c: many, in several processes
 *   cover.c      counts what the programs reach
 *   random.c     the command; shrinks what fails
 *
 * Nothing here includes a part of the compiler: the reference is independent of what it tests.
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tile.h"

enum { RANK_MAX = 5, CTAS_MAX = 8, LIST_MAX = 8, TENSORS_MAX = 96, TILES_MAX = 64, VARS_MAX = 64, SIZES_MAX = 96, DEFINES_MAX = 32 };

/* ---- expressions: all values are 64-bit integers; conditions are 0 or 1 ---- */
typedef enum ExprKind {
    X_NUM,
    X_VAR,
    X_SIZE,
    X_CTA,
    X_RANK,
    X_ADD,
    X_SUB,
    X_MUL,
    X_DIV,
    X_MOD,
    X_CEIL,
    X_MIN,
    X_MAX,
    X_SHL,
    X_SHR,
    X_BAND,
    X_BOR,
    X_BXOR,
    X_NEG,
    X_INV,
    X_LT,
    X_GT,
    X_LE,
    X_GE,
    X_EQ,
    X_NE,
    X_AND,
    X_OR,
    X_NOT,
    X_GRID, /* CTAs along dimension n */
    X_LOAD /* element a of tensor n */
} ExprKind;
typedef struct Expr {
    ExprKind kind;
    int64_t n; /* number; index of variable, size, tensor; dimension of cta */
    const struct Expr *a, *b;
} Expr;

typedef struct Size { /* a symbolic extent or a scalar parameter */
    char name[16];
    int64_t value;
    bool scalar;
} Size;

/* What has touched an element of a tensor: units of work that nothing orders, see conflicts.c. */
typedef struct Mark {
    int32_t read, write, reduce, waived;
    int32_t stamp; /* the last execution of a statement that wrote it */
    uint8_t op;    /* of the reductions */
    bool open;     /* which value is the last one is left open */
    bool several;  /* by one unit, too: it was written more than once, under `overlap any` */
} Mark;

typedef struct Tensor { /* a parameter, or a view of one */
    char name[16];
    tile_type type;
    int rank;
    const Expr *extent[RANK_MAX]; /* a number or a size */
    bool written, dead, small;    /* small: integers from -8 to 8, or 0 to 8 */
    bool any_nan;                 /* a NaN is as good as another */
    tile_type packed;             /* u8: how the bytes are called in the text, if bits_packed */
    int bits_packed;              /* of an element of that type, 0: none */
    const char *layout;           /* printed behind the extents */
    uint8_t *data, *first;        /* contents before; contents that the meaning gives are in `data` */
    Mark *mark;                   /* by element, `marks` of them */
    size_t marks;
    int64_t reach[RANK_MAX];      /* of RUN_REACH: the extents that would hold all */
    bool index;                   /* read as scalars or for numbers of rows */
    int base;                     /* of a view, else -1 */
    const Expr *start[RANK_MAX];  /* of a view, by dimension of the base */
    int dim[RANK_MAX];            /* of a view: its dimension by dimension of the base, -1: dropped */
} Tensor;

typedef struct Tile {
    char name[16];
    tile_type type;
    int rank, swizzle, count; /* count: tiles of an array, 0: no array */
    int64_t extent[RANK_MAX];
    uint8_t *data[CTAS_MAX];
    struct Cell { /* of an element: who wrote it last, 0: nobody */
        int32_t unit, stamp;
    } *cell[CTAS_MAX];
} Tile;

typedef struct Var {
    char name[16];
    int64_t value[CTAS_MAX];
} Var;

typedef enum SubKind { SUB_AT, SUB_SPAN, SUB_ALL, SUB_ROWS, SUB_LIST } SubKind;
typedef struct Sub {
    SubKind kind;
    const Expr *at;
    int64_t n, by;
    int index; /* tensor of rows */
    const Expr *list[LIST_MAX];
} Sub;

typedef struct Region {
    bool shared;
    int ref;          /* tensor or tile */
    const Expr *slot; /* of an array of tiles */
    const Expr *peer; /* rank */
    int nsubs;        /* 0: the whole */
    Sub sub[RANK_MAX];
} Region;

typedef enum Reduce { R_NONE, R_ADD, R_MIN, R_MAX, R_AND, R_OR, R_XOR, R_INC, R_DEC } Reduce;
typedef enum StmtKind {
    S_BLOCK,
    S_LET,
    S_VAR,
    S_ASSIGN,
    S_TILE,
    S_VIEW,
    S_MAP,
    S_TEXT,
    S_FOR,
    S_PIPELINE,
    S_IF,
    S_MOVE,
    S_FILL,
    S_PREFETCH,
    S_ROLES,
    S_ROLE,
    S_TWIN, /* body is printed, other is what it means */
    S_COPY  /* of the meaning alone: element pairs[i][0] of tensor src.ref (-1: value) to element pairs[i][1] of dst.ref */
} StmtKind;

typedef struct Stmt {
    StmtKind kind;
    bool dead;        /* taken out by the shrinker */
    bool fixed;       /* the shrinker takes it out with what is around it only */
    bool silent;      /* not printed, but executed */
    int ref;          /* variable, tile, view, map; threads of a role or pipeline; dimensions of a loop's index */
    const char *text; /* of S_TEXT; clauses behind a statement; attributes of a loop; name of a role */
    const Expr *e, *range[4], *from[4]; /* value or condition; of a loop: how many turns, and its first index (NULL: 0) */
    int index[4];
    Region dst, src;
    bool transpose, convert, sat;
    Reduce reduce;
    int64_t value;         /* of fill */
    int64_t box[RANK_MAX]; /* of a map of tensor src.ref */
    int64_t (*pairs)[2], n, room;
    int forced;            /* an `if` that a launch takes whatever holds: 1 body, 2 other */
    long times[3];         /* how often an `if` did not hold and did; how often a loop had 0, 1, more turns */
    struct Stmt *body, *other, *next;
} Stmt;

typedef struct Program {
    Size size[SIZES_MAX];
    Tensor tensor[TENSORS_MAX];
    Tile tile[TILES_MAX];
    Var var[VARS_MAX];
    int nsizes, ntensors, ntiles, nvars;
    int cluster;            /* CTAs of a cluster, 0: none */
    const Expr *grid[3];    /* NULL: dealt across the grid */
    const char *attributes; /* printed behind the parameters */
    const char *trust;
    const char *arch;  /* target, NULL: the default */
    const char *items; /* printed in front of the kernel */
    unsigned version;  /* of PTX, 0: the least */
    bool unrun;        /* compiled and assembled only: the simulator does not have it */
    const char *where; /* facts */
    uint64_t dress;   /* seed of the words in which it is printed, 0: plain */
    const char *define[DEFINES_MAX][2]; /* of the last text */
    int ndefines;
    Stmt *body;
    struct Chunk {
        struct Chunk *next;
    } * memory;
} Program;

void *keep(Program *p, size_t bytes); /* zeroed; lives as long as p */
const char *keep_text(Program *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
void program_free(Program *p);

/* values.c */
typedef struct Rng {
    uint64_t s;
} Rng;
uint64_t rng_bits(Rng *r);
int64_t rng_in(Rng *r, int64_t low, int64_t high); /* both included */
bool rng_odds(Rng *r, int percent);
int type_size(tile_type t);
bool type_float(tile_type t);
bool type_signed(tile_type t);
void value_store(tile_type t, void *to, int64_t small);                      /* an integer that the type holds */
void value_convert(tile_type to, void *out, tile_type from, const void *in); /* exact ones */
void value_round(tile_type to, void *out, tile_type from, const void *in, bool sat); /* round.c */
bool value_nan(tile_type t, const void *in);
void value_reduce(tile_type t, Reduce op, void *place, const void *value);
void tensor_fill(Program *p, Tensor *t, Rng *r); /* `first`, new */
extern const char *const REDUCE_NAMES[];

/* generate.c */
/* all: also what the compiler does not support yet; wild: wild.c */
Program *generate(uint64_t seed, bool all, bool wild, const char *arch);
/* print.c */
char *program_text(Program *p, const char *head); /* malloc; sets define */
/* meaning.c: NULL, or why the program is not correct */
typedef enum Running {
    RUN_WHOLE,   /* data too: what the tensors hold afterwards */
    RUN_PLACES,  /* which places are touched, alone */
    RUN_REACH,   /* how far beyond its extents a tensor is touched */
    RUN_DEFINITE /* what surely has a value: neither conditions nor trip counts that the launch gives count */
} Running;
const char *program_run(Program *p);
const char *program_run_as(Program *p, Running how, bool *conflict);
int64_t extent_value(const Program *p, const Tensor *t, int d);
int64_t tensor_elements(const Program *p, const Tensor *t);

/* conflicts.c: NULL, or why the access conflicts with one that nothing orders with it (or, OPEN_READ, gets what is left open) */
extern const char OPEN_READ[];
enum { UNIT_EVERY = 1, UNIT_FIRST = 2 }; /* beside a pipeline across the grid: done by every team */
typedef struct Piece { /* who does it */
    int32_t unit, stamp;
} Piece;
const char *mark_read(Mark *m, const Piece *by);
const char *mark_write(Mark *m, const Piece *by, Reduce op, bool waived);
bool across_grid(const Stmt *s);
typedef enum Standing {
    ST_FREE,
    ST_CONFLICT,
    ST_ELSEWHERE, /* it conflicts at another launch */
    ST_DOUBTFUL,  /* it conflicts if a branch is taken that no launch took */
    ST_WRONG
} Standing;
Standing program_standing(Program *p, const char **why);

/* launches.c */
typedef struct Home { /* what a program was drawn with */
    Size size[SIZES_MAX];
    uint8_t *first[TENSORS_MAX], *data[TENSORS_MAX];
} Home;
int launches(const Program *p); /* how many other ones there are */
Home home_of(Program *p);
void go_home(Program *p, const Home *h);
bool take_launch(Program *p, const Home *h, int launch); /* false: a tensor would be too large */
void fill_anew(Program *p, int launch);                  /* tensors that fit the sizes, with new contents (but tables) */

/* trial.c */
typedef enum Verdict {
    V_RIGHT,
    V_REFUSED,
    V_COMPILE,
    V_LAUNCH,
    V_FINDING,
    V_WRONG,
    V_TIME,
    V_CRASH,
    V_INVALID,
    V_ASSEMBLER,
    V_UNSOUND, /* accepted, though it conflicts or reads what has no value */
    V_COUNT
} Verdict;
extern const char *const VERDICT_NAMES[V_COUNT];
typedef struct Outcome {
    Verdict verdict;
    Standing standing; /* if that is asked for */
    char code[8];
    char text[3000]; /* also of a check that refused another launch of an accepted program */
} Outcome;
enum { TRIAL_SECONDS = 60, TRIAL_CPU_SECONDS = 180 };
extern bool assembling; /* the PTX of each goes through an assembler, too */
extern bool judging;    /* programs may be incorrect; their standing is worked out */
void trial_here(Program *p, const char *device, Outcome *out);
void trial(Program *p, const char *device, Outcome *out); /* in a process of its own */
void trial_limit(const char *device); /* of this process, from now on */
bool trial_late(int status);          /* of a process that ended: by that limit */
bool read_all(int fd, void *to, size_t n);

/* workers.c: the trials of many seeds in several processes, each of which takes `BATCH` of them, one after the other. A program
 * that crashes or hangs ends its process; another one goes on behind it. `done` is called in the order in which they end. */
typedef struct Plan {
    uint64_t seed;
    int64_t count;
    int jobs;
    const char *device, *arch; /* NULL: the simulator in turns; the default */
    bool all, wild;
    void (*done)(const struct Plan *plan, uint64_t seed, const Outcome *o);
} Plan;
Program *program_of(const Plan *plan, uint64_t seed);
const char *device_of(const Plan *plan, uint64_t seed);
void workers(const Plan *plan);

#endif
