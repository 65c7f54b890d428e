/* The checked program: what the checks make of the syntax tree and what lower/ reads.
 *
 * One PKernel per kernel: names resolved, functions inlined, compile-time parameters and constants replaced by their
 * values, types and ranks agreed. Scalars are expression graphs (shared, immutable); everything carries its place.
 * What only a size decides (alignment, bounds) is left to lower/, which proves it or makes it a launch check.
 */
#ifndef FRONTEND_PROG_H
#define FRONTEND_PROG_H

#include "frontend/parse/ast.h"
#include "lang/lang.h"
#include "lang/lx.h"
#include "lang/manifest/manifest.h"

#define P_RANK 5

typedef struct PTensor PTensor;

/* ---- scalars ---- */
typedef enum SxOp {
    SX_CONST,   /* k */
    SX_SYM,     /* launch symbol number k (size, stride, scalar parameter) */
    SX_CTA,     /* cta.x / y / z: k = 0, 1, 2 */
    SX_CLUSTER, /* cluster.x / y / z: k = 0, 1, 2 */
    SX_RANK,    /* cluster.rank */
    SX_INDEX,   /* loop index: loop number k */
    SX_LET,     /* let number k, defined by P_LET; a = its definition */
    SX_VAR,     /* variable number k, read where this stands; b == NULL */
    SX_LOAD,    /* tensor[idx..] : a scalar load, idx[0 .. tensor->rank - 1] */
    SX_ADD, SX_SUB, SX_MUL, SX_DIV, SX_MOD, SX_CEIL, SX_MIN, SX_MAX, SX_SHL, SX_SHR, SX_AND, SX_OR, SX_XOR,
    SX_NEG, SX_INV,                                  /* a */
    SX_EQ, SX_NE, SX_LT, SX_LE, SX_GT, SX_GE,        /* booleans from here on */
    SX_LAND, SX_LOR, SX_NOT
} SxOp;
typedef struct Sx Sx;
struct Sx {
    uint8_t op;
    bool launch;   /* made of sizes, scalar parameters and constants only */
    uint32_t hash; /* equal graphs have equal ones; graphs share nodes, so walks over them must be bounded */
    Span span;
    int64_t k;
    const Sx *a, *b;
    PTensor *tensor;
    const Sx *const *idx;
};
LxOp sx_launch_op(SxOp op); /* what launch expressions call it; SX_GT and SX_GE with their sides changed */
static inline bool sx_is_bool(const Sx *x) { return x->op >= SX_EQ; }
/* What `let`s name; NULL stays. */
static inline const Sx *sx_through_lets(const Sx *x)
{
    while (x && x->op == SX_LET) x = x->a;
    return x;
}

/* ---- what a kernel declares ---- */
struct PTensor { /* a `global` parameter, or a view of one */
    Name name;
    Span span;
    ElemType type;
    int rank;
    const Sx *extent[P_RANK]; /* elements, outermost first */
    const Sx *stride[P_RANK]; /* elements; always set */
    bool strided;             /* has a `stride` clause, or is a view that is not contiguous */
    uint32_t index;           /* of a parameter: its number among the tensors */
    /* views: */
    PTensor *base;            /* the parameter; NULL for a parameter itself */
    const Sx *offset;         /* elements from the base's address */
    bool reshaped;            /* `view v = x : T[..]`: dim_of and start are meaningless */
    int8_t dim_of[P_RANK];    /* dimension of the base that each dimension is */
    const Sx *start[P_RANK];  /* per dimension of the base: where the view starts (plain subscripts: fixed there) */
    bool run_time;            /* its place or extents are made while the kernel runs, by the P_VIEW that declares it */
    struct PPlace {           /* run_time, per dimension of the base: nothing outside lo .. hi, or, with idx, idx[lo] .. idx[hi], times by */
        PTensor *idx;
        const Sx *lo, *hi;    /* NULL: nothing is said */
        const Sx *by;         /* a constant or size; NULL: 1 */
    } place[P_RANK];
};
/* The parameter that it is, or of which it is a view. */
static inline const PTensor *base_of(const PTensor *t) { return t->base ? t->base : t; }

typedef struct PUsed { /* unused.c */
    bool read;  /* not only written, or named in a branch that constants exclude */
    bool named; /* in the program */
    bool out;   /* in a branch that constants exclude */
} PUsed;
typedef struct PTile { /* a tile or array of tiles, in shared or tensor memory */
    Name name;
    Span span;
    ElemType type;
    int rank;
    int64_t extent[P_RANK];
    int64_t slots;   /* 1 unless an array */
    bool is_array;
    int swizzle;     /* MapSwizzle */
    int interleave;  /* MapInterleave */
    bool tensor;     /* in tensor memory: extents are lanes and elements */
    uint32_t index;  /* number in the kernel */
    PUsed used;
    const struct PPipe *pipe; /* the innermost pipeline whose body declares it; NULL: none */
    uint32_t loops;           /* around that: P_FOR and P_PIPELINE */
} PTile;
typedef struct PBarrier {
    Name name;
    Span span;
    int64_t slots;
    bool is_array, is_free;
    uint32_t index;
    PUsed used;
} PBarrier;
typedef struct PMap {
    Name name;
    Span span;
    PTensor *tensor;
    MapMode mode;
    int64_t box[P_RANK];         /* elements, outermost first */
    int64_t elem_stride[P_RANK]; /* 1 where not given */
    int swizzle, interleave, l2, fill;
    int64_t lower[3], upper[3], channels, pixels; /* im2col modes; corners outermost first, those of the w modes for W alone */
    Span mode_span, lower_span, upper_span, channels_span, pixels_span;
    Span box_span, swizzle_span, fill_span, stride_span, interleave_span;
    uint32_t index;
    bool is_load, is_store; /* how moves use it */
    PUsed used;
    bool prefetched;        /* the descriptor itself, by `prefetch m` */
} PMap;
typedef struct PPolicy {
    Name name;
    Span span;
    int primary, secondary; /* indices in WORDS_CACHE; secondary -1: none */
    double fraction;
    uint32_t index;
    PUsed used;
} PPolicy;

/* ---- regions ---- */
typedef struct PRows { /* `extent` rows picked by numbers: row l of the part is row .. of the tensor */
    PTensor *tensor;   /* idx[r +: n]: element l of a part of an integer tensor, or */
    const Sx *at[P_RANK]; /* where the part starts, per dimension of `tensor`, */
    int dim;           /* and the dimension that it spans; */
    const Sx *const *list; /* {r0, r1, ..}: one scalar per row, tensor == NULL */
} PRows;
typedef struct PDim {
    const Sx *start;
    int64_t extent;  /* elements; 1 for plain subscripts beside marked ones */
    const Sx *count; /* views: the extent, known at launch; NULL elsewhere and for `:` */
    int64_t step;    /* `by`; 1 */
    const struct PRows *rows; /* rows by index: start is the constant 0; NULL elsewhere */
    bool marked;     /* a dimension of the tile (spanned, whole, by index, or all plain) */
    bool whole;      /* `:` : the tensor's extent must equal `extent`: proved or a launch check */
    bool open;       /* an im2col copy starts here, and goes on in its map's way: perhaps everywhere */
    Span span;
} PDim;
typedef struct PRegion {
    Span span;
    PTensor *tensor; /* either */
    PTile *tile;     /* or */
    const Sx *peer;  /* peer(tile, rank): whose tile of the cluster; NULL: the own */
    const Sx *slot;  /* of an array of tiles; NULL: slot 0 */
    int rank;        /* of the tensor or tile */
    PDim *dim;       /* so many */
} PRegion;

/* ---- statements ---- */
typedef enum PMoveKind {
    MOVE_LOAD,     /* global -> shared; or -> peer(shared) */
    MOVE_STORE,    /* shared -> global, with `reduce` too */
    MOVE_SHARED,   /* shared -> shared, via threads: copy, transpose, reverse, sum, convert, reduce add */
    MOVE_PEER,     /* shared -> peer(shared), with `reduce` too */
    MOVE_PREFETCH, /* src: a region of a tensor; no dst, no tile: extents stand in the region */
    MOVE_FILL,     /* dst: a tile, perhaps a peer's; no src */
    MOVE_TMEM_CP,  /* shared -> tmem, by tcgen05.cp */
    MOVE_TMEM_LD,  /* tmem -> shared, via threads */
    MOVE_TMEM_ST,  /* shared -> tmem, via threads */
    MOVE_SHIFT     /* src and dst: the same region of a tile in tensor memory */
} PMoveKind;
typedef enum PVia { VIA_INFERRED, VIA_MAP, VIA_BULK, VIA_THREADS } PVia;
typedef enum PCommit { COMMIT_DERIVED, COMMIT_BARRIER, COMMIT_GROUP } PCommit;
typedef enum PCast { CAST_NONE, CAST_X, CAST_Y, CAST_Z, CAST_ALL, CAST_MASK } PCast;
typedef enum PWarps { WARPS_ONE, WARPS_X4, WARPS_X2_02_13, WARPS_X2_01_23 } PWarps; /* multicast within tensor memory */
typedef struct PMove {
    PMoveKind kind;
    PRegion src, dst;
    bool is_load;     /* MOVE_LOAD */
    PVia via;
    PMap *map;
    Span via_span;
    PPolicy *cache;
    PCommit commit;
    PBarrier *barrier;
    const Sx *barrier_slot; /* NULL: slot 0 */
    const Sx *barrier_peer; /* commit peer(b, rank); NULL: the own */
    Span commit_span;
    bool in_group;    /* inside group { }: the block commits */
    bool overlap_any;
    PCast cast;       /* multicast */
    const Sx *mask;   /* CAST_MASK: bit r: CTA of rank r */
    Span cast_span;
    PWarps warps;
    int reduce;       /* index in WORDS_REDUCE, -1: none */
    const Sx *bytes;  /* stores: which bytes of each 16, a bit each; NULL: all */
    Span bytes_span;
    bool transpose, reverse, sum, convert, sat; /* reverse: the elements of each row in the opposite order; sum: along the source's first dimension */
    Span work_span;   /* of the first of transpose, reverse, sum, convert, reduce */
    int64_t ahead;    /* prefetch: turns of the innermost pipeline; 0: none */
    const Sx *offset[3]; /* im2col: noffset of them, outermost first; none: zeros */
    int noffset;
    const Sx *halo[2]; /* im2col_w, im2col_w128: wHalo, wOffset; NULL: zeros */
    int64_t most_halo; /* the greatest wHalo that the tile has room for; of a prefetch, that there is */
    Span offset_span, halo_span, halo_at[2]; /* hi == 0: not given */
    uint64_t value;   /* MOVE_FILL: bits of an element */
    const Sx *value_sx; /* MOVE_FILL of integers by a scalar that is no constant; NULL elsewhere */
} PMove;

/* Threads do it, not an engine. */
static inline bool move_by_threads(const PMove *m)
{
    return m->kind == MOVE_SHARED || m->via == VIA_THREADS || (m->kind == MOVE_FILL && m->dst.peer == NULL) || m->kind == MOVE_TMEM_LD ||
           m->kind == MOVE_TMEM_ST;
}
/* The tensor core does it: asynchronous, and told by a commit. */
static inline bool move_by_tensor_core(const PMove *m)
{
    return m->kind == MOVE_TMEM_CP || m->kind == MOVE_SHIFT;
}

typedef struct PStmt PStmt;
typedef struct PBlock {
    PStmt *first, *last;
} PBlock;
typedef enum PStmtKind {
    P_LET, P_VAR, P_SET, P_FOR, P_IF, P_GROUP, P_MOVE, P_WAIT, P_WAIT_GROUP,
    P_PIPELINE, P_ROLES, P_ARRIVE, P_EXPECT,
    P_VIEW /* one that is made at run time: from here on its extents and place have their values */
} PStmtKind;
typedef enum PDeal { DEAL_NONE, DEAL_ANY, DEAL_STATIC, DEAL_TICKET, DEAL_LAUNCH, DEAL_CLC } PDeal; /* across grid [by ..] */
enum { PIPE_INDICES = 8 };
typedef struct PPipe {
    int n; /* indices, outermost first */
    struct {
        uint32_t loop; /* loop number, as SX_INDEX has it */
        Name name;
        Span span;
        const Sx *lo, *hi; /* worked out once, in front of the pipeline; no index of the pipeline in them */
    } v[PIPE_INDICES];
    int64_t stages;  /* slots of loaded tiles; 0: the compiler's choice */
    int64_t threads; /* of the work role; 0: the compiler's choice */
    PDeal deal;      /* DEAL_NONE: not across grid */
    Span span, stages_span, threads_span, deal_span; /* of the head and its options */
} PPipe;
typedef struct PRole {
    Name name;
    Span span;
    int64_t threads; /* 32 unless given */
    PBlock body;
} PRole;
typedef struct CallFrame { /* an inlined call: call_notes() */
    Span call;
    Name fn;
    const struct CallFrame *outer;
} CallFrame;
struct PStmt {
    PStmtKind kind;
    Span span;
    const CallFrame *frame; /* NULL: in the kernel itself */
    PStmt *next;
    uint32_t id;        /* LET VAR SET MOVE: its number; FOR: loop number */
    Name name;
    const Sx *value;    /* LET VAR SET; IF: condition; FOR: end; WAIT: slot or NULL */
    const Sx *lo;       /* FOR: start */
    PBlock body, other; /* FOR, IF, GROUP, PIPELINE */
    bool has_else;
    PMove *move;
    PBarrier *barrier;  /* WAIT ARRIVE EXPECT; value: its slot or NULL */
    const Sx *peer;     /* ARRIVE: rank of the CTA whose barrier it is; NULL: the own */
    const Sx *bytes;    /* EXPECT */
    PTensor *view;      /* VIEW */
    PPipe *pipe;        /* PIPELINE; its body in `body` */
    VEC(PRole) roles;   /* ROLES */
    int64_t n;          /* WAIT_GROUP: groups that may still be pending */
    bool read;          /* WAIT_GROUP */
};

typedef struct PFact { /* one `where` expression, or what a view or a call needs */
    const Sx *cond;
    Span span;
    const char *why; /* NULL: the user's; otherwise the rule, and no check where it is proved */
} PFact;
typedef struct PTrusted { /* what no launch checks: of the elements of an index tensor */
    Trust fact;
    PTensor *tensor;
    Span span;
} PTrusted;
typedef struct PParam { /* in source order */
    bool is_scalar;
    Name name;
    Span span;
    PTensor *tensor;
    ElemType type; /* scalars: s32, u32, s64 */
    uint32_t sym;
} PParam;
typedef struct PSym {
    Name name;
    uint8_t kind; /* MfSymKind */
    Span span;    /* where it is first used */
    ElemType type; /* of a scalar parameter */
} PSym;

typedef struct PName {
    Name name;
    Span span;
} PName;

/* What a schedule of a kernel is to be, where the source leaves it open: `BM=64 by ticket stages 3 hints on` (wish.c reads and prints it). */
typedef struct WishValue { /* of a compile-time parameter */
    const char *name, *value;
} WishValue;
typedef struct Wish {
    VEC(WishValue) values;
    int64_t alternative; /* which of the source's, from 1 on, whatever its values are; 0: that with these values */
    PDeal deal;     /* DEAL_ANY: the compiler's choice */
    int64_t stages; /* 0: the same */
    int hints;      /* as Compilation.hints; HINTS_OPEN: that */
    MapL2 l2;       /* promotion, of maps that the compiler makes; MAP_L2_NONE: its choice */
    Span span;      /* where it is written; hi == 0: nowhere */
} Wish;
enum { HINTS_OPEN = 2 };

typedef struct PKernel {
    Name name;
    uint32_t alternative; /* of its compile-time parameters; beyond the first one the kernel is for less work */
    bool alternatives;    /* the source has some, or would without -D */
    uint32_t schedule;    /* from 0: which of those that the kernel has, as they are built */
    const Wish *wish;     /* NULL: none */
    VEC(WishValue) values; /* of what has alternatives, or values in `wish` */
    VEC(MfPick) picks;     /* of its schedules, those that a tune file asks for */
    int hints;             /* as Compilation.hints; for less work never, where that is open: less than the launches that they pay for */
    const char *entry; /* PTX name */
    Span span;
    VEC(PSym) syms;
    VEC(PParam) params;
    VEC(PTensor *) tensors; /* parameters only, by PTensor.index */
    VEC(PTile *) tiles;
    VEC(PBarrier *) barriers;
    VEC(PMap *) maps;
    VEC(PPolicy *) policies;
    VEC(PFact) facts;
    const Sx *grid[3]; /* x, y, z; constants 1 where not given */
    Span grid_span;
    int64_t cluster[3];
    Span cluster_span;
    bool pair;         /* tensor memory in pairs of CTAs: .cta_group::2 */
    Span pair_span;
    int64_t threads;   /* with roles: of all of them */
    Span threads_span; /* of the attribute; hi == 0: not given */
    Span across_span;  /* of the first `across grid`; hi == 0: no pipeline is */
    VEC(Span) grid_uses; /* where cta.* and grid.* are used, as long as nothing is across grid */
    Span roles_span;   /* of `roles`; hi == 0: none */
    VEC(PTrusted) trusts;
    VEC(PName) unused; /* names that `let` and `var` declare in the kernel itself, and that nothing looks up */
    uint32_t nlets, nvars, nloops, nmoves;
    uint8_t *var_dims; /* per variable: dimensions of the cluster in which its CTAs may have different values; a bit each */
    PBlock body;
} PKernel;

/* What the checks and the lowering share. */
typedef struct Compilation {
    Arena *arena;  /* lives as long as the compilation */
    Arena *scratch; /* one kernel's worth: released after each kernel */
    Arena *proof;   /* of one schedule */
    Names *names;
    Sources *sources;
    Diags *diags;
    const TargetInfo *target;
    const char *default_arch; /* for files without target line, or that list it; NULL: sm_90a, or the first of the list */
    unsigned ptx_version; /* 0: the least that is needed */
    int hints;            /* derived cache policies: 0: where the launch moves much more than L2 holds, 1 always, -1 never */
    bool no_dependent;    /* kernels are launched when those before them are over */
    bool no_variants;     /* no schedules but those that somebody asks for */
    const char *gpu;      /* the only one whose lines of tune files count; NULL: all */
    const struct TuneFile *tune, *pin; /* which schedules there are besides the source's; instead of them. NULL: none */
} Compilation;

/* ---- frontend/check: tree -> checked program ---- */
typedef struct Define { /* -D */
    const char *name, *value;
    bool used;
} Define;
typedef struct ImportReader { /* finds the text of a module: import folders first, then the embedded library */
    /* NULL if not found; then *why, NULL until now, says of a file *path that is there why it can't be read. *path: how it is
     * shown. */
    const char *(*read)(void *user, const char *module, const char *from, size_t *size, const char **path, const char **why);
    void *user;
} ImportReader;
typedef struct Checked Checked; /* resolved items: modules, constants, functions, kernels */
/* Resolves imports, targets, constants and all names; type-independent checks of every item, used or not. */
Checked *check_unit(Compilation *c, Unit *unit, Define *defines, size_t ndefines, const ImportReader *reader,
                    const char *arch);
/* Of each kernel of the source its schedules, one behind the other: what the alternatives of its compile-time parameters make, and what
 * tune_read() adds. */
bool check_last_schedule(const Checked *ch, size_t i); /* .. of its kernel of the source: the next one is of another */
const Wish *check_wish(const Checked *ch, size_t i);   /* NULL: none */
size_t check_kernel_count(const Checked *ch);
/* `NAME=VALUE`, a line for each thing that -D can set: the main file's constants, `kernel` for each kernel, and behind it its compile-time parameters. */
void check_defines(Checked *ch, Text *out);
const char *check_settable(Checked *ch, Arena *a); /* the first of these names: "k.BM, k.BN", or "nothing" */
/* The imported module that has this constant, `name` or `module.name`; NULL: none. */
const char *module_of_const(const Checked *ch, const char *name);
/* Elaborates one kernel into `c->scratch`; NULL after an error in it, or in check_unit: what is returned is whole. */
PKernel *check_kernel(Checked *ch, size_t i);
PKernel *check_kernel_as(Checked *ch, size_t i, const Wish *wish); /* .. with another wish */
/* Text of a file of `tilecc tune`, before check_unit: `KERNEL on "GPU" from BYTES: WISH`, a line each. pin: `KERNEL: WISH`, for schedules that
 * take the place of all others. Reports what can't be read. */
typedef struct TuneFile TuneFile;
TuneFile *tune_read(Compilation *c, const Source *text, bool pin);
/* What else a schedule of the kernel can be, without a change of what it means; to be tried. */
typedef VEC(Wish *) Wishes;
void wishes_for(Compilation *c, const PKernel *k, Wishes *out);
void wish_print(Text *out, const PKernel *k); /* as it is read; `default` where nothing is said */
/* Takes out of the kernel's lists what only branches that constants exclude use. */
void drop_left_out(PKernel *k);
/* The first statement that wants the kernel's schedule to be derived; NULL: it is one thread, or roles, that the program writes. */
const PStmt *derived_wanted(const PKernel *k);
/* The first statement that wants several agents; NULL: one thread does all, in the program's order. */
const PStmt *agents_wanted(const PKernel *k);
void call_notes(Compilation *c, Diag *g, const PStmt *s); /* the calls that the statement stands in */
/* Warnings for what the kernel declares and never uses; for kernels without errors. */
void check_unused(Compilation *c, const PKernel *k);

#endif
