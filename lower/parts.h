/* What the rooms of lower/ share while one kernel is lowered: private to this folder.
 *
 * lower.c walks the statements in order and is the only caller of the rooms. Per move: regions.c takes the region
 * apart; tensor.c or bulk.c plans the copies (a plan may be refused, nothing is emitted before it stands); sync.c
 * places what must be waited for; then the plan is emitted. Ops whose operands are the same in the whole kernel go to
 * the prologue (`pre`), the others to `body`; both are joined at the end.
 */
#ifndef LOWER_PARTS_H
#define LOWER_PARTS_H

#include <string.h>

#include "lower/lower.h"

#define SMEM_TMA_ALIGN 128 /* CUDA guide: shared address of a tensor copy */
#define SMEM_BULK_ALIGN 16
#define PIECES_MAX 256                    /* copies that one move may become */
#define COPIES_UNROLLED 8                 /* bulk copies of one move above this number become a loop over its rows */
#define TX_LIMIT ((INT64_C(1) << 20) - 1) /* PTX ISA, mbarrier: range of the tx-count */

/* ---- values: scalars.c ---- */
/* What an expression is made of; from the graph alone. */
enum { USE_LAUNCH = 1, USE_TEAM = 2, USE_INDEX = 4, USE_VAR = 8, USE_LOAD = 16 };

typedef struct Opnd { /* an operand: a value, or an immediate where v == 0 */
    IrVal v;
    int64_t k;
} Opnd;
static inline Opnd opnd_imm(int64_t k)
{
    return (Opnd){.k = k};
}
static inline bool opnd_is(Opnd o, int64_t k)
{
    return o.v == 0 && o.k == k;
}

typedef struct Extremes { /* over all indices, at launch; 0: unknown */
    Lx lo, hi;
} Extremes;

typedef struct Cached { /* a value of a node, reusable while its scope is open and no variable changed */
    Opnd o;
    uint32_t scope, epoch;
    bool set;
} Cached;
typedef struct Scalar { /* what is known of one node of an expression graph */
    const Sx *x;
    uint8_t uses;
    uint64_t loops; /* whose indices it uses; bit 63: some with a higher number */
    bool has_range, has_extremes;
    bool wraps;        /* exact.c: may leave 64 bits, and the launch can't tell */
    bool in_parts;     /* a ceil: made of quotient and remainder, since (a + b - 1) / b might leave 64 bits or b be below 1 */
    uint8_t unbounded; /* sides of the range that the launch must check */
    bool noted, covered; /* for that check; a greater expression's check implies it */
    int64_t lo, hi; /* INT64_MIN / MAX: none */
    Extremes extremes;
    Poly poly;
    bool has_poly;
    uint32_t poly_epoch, poly_ranks;
    Lx lx;
    Cached low, wide, pred;
} Scalar;

typedef struct LetState { /* defined: a value of its own, because it reads a variable or memory */
    const char *name;
    Poly poly;
    bool has_poly;
    const Poly *by_rank; /* of what reads variables, where CTAs of the cluster may differ; NULL elsewhere */
    Opnd value;
    bool has_value;
} LetState;
typedef struct VarState {
    Poly poly;            /* what it holds now */
    const Poly *by_rank;  /* of one in which CTAs of the cluster may differ, if poly is still that of .. */
    Poly ranked;          /* .. then */
    uint32_t ir;          /* IrVar */
    int64_t mod, rem, lo, hi; /* hold for every value that it ever has */
    Extremes extremes;
    Name name;
} VarState;
typedef struct OpenLoop {
    Atom index;
    Atom turn; /* the same, where turns of the loop are told apart as if they were teams */
    Atom of;   /* the loop's own index, where index counts those of its turns in which a condition holds; 0 */
} OpenLoop;
typedef struct LoopState {
    const PStmt *stmt;
    OpenLoop atoms; /* made once: what is known of a store is compared with it when the loop is open */
    Poly index;
    Opnd value;
    bool wide;
    int64_t lo, hi; /* of the index */
} LoopState;

typedef struct Numbered { /* one op already emitted, by its operands */
    uint64_t key[4];
    IrVal value;
    uint32_t scope;
} Numbered;

/* ---- regions ---- */
typedef struct Pair { /* a dimension of the tile that is moved, innermost last */
    int tensor_dim, tile_dim;
    int64_t extent;
} Pair;
typedef enum Hint { HINT_NONE, HINT_LAST, HINT_FIRST } Hint; /* derived cache policies */
typedef struct MoveInfo {
    const PMove *mv;
    const PStmt *stmt;
    PTensor *tensor;
    PTile *tile;
    const PRegion *g, *s; /* the tensor's side, the tile's side */
    bool load;
    int bits;           /* of an element in global memory; packed types are the only ones below 8 */
    int sbits;          /* in shared memory */
    int rank;           /* of the tensor */
    Poly start[P_RANK]; /* elements */
    int64_t extent[P_RANK], step[P_RANK];
    Pair pair[P_RANK];
    int npairs;
    /* the tile's side */
    int64_t span;               /* of the swizzle in bytes, 0 without */
    int64_t rows;               /* of a panel */
    int64_t pitch_bits[P_RANK]; /* from neighbour to neighbour per dimension of the tile */
    Poly offset;                /* bytes from the slot's start */
    Opnd offset_value, slot_value;
    int64_t slot_const; /* -1: not a constant */
    bool sliced;        /* begins within a panel's row, at a multiple of 16 bytes: tcgen05.cp alone reads that */
    int64_t bytes;      /* that the move puts into, or takes out of, the tile */
    DomBox gbox, sbox;  /* elements touched; gbox in the base tensor's dimensions where has_gbox */
    bool has_gbox;
    bool prefetch;
    Hint hint;
    Opnd bytes_of;      /* by a byte mask: which of each 16 bytes are stored */
    Opnd mask;          /* multicast: of the CTAs that get it; 0: none */
    bool open_mask;     /* it is known only at run time */
    uint8_t from[16];   /* multicast by a mask: how many CTAs send to each rank */
    bool to_peer;       /* a load into the tile of the CTA of rank `peer` */
    Opnd peer;
    bool in_pair;       /* the barrier is that of the CTA `bar_rank` of the pair: .cta_group::2 */
    Opnd bar_rank;
    int share_dim;      /* multicast: this CTA brings a part that begins share_at elements further in this dimension */
    Opnd share_at, share_byte; /* of the tensor, and bytes of the tile */
    int64_t past[P_RANK]; /* the most that share_at can be in this dimension: extent is that of one part */
} MoveInfo;

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

typedef struct Piece {  /* one tensor copy of a move */
    int64_t at[P_RANK]; /* elements from the move's start, per dimension of the tensor */
    int64_t offset;     /* bytes from the sub-tile's start */
} Piece;
typedef struct TensorPlan {
    uint32_t map;
    Piece *pieces;
    uint32_t npieces;
    int64_t piece_bytes; /* what one copy adds to its barrier; at most, where halo_bytes is not 0: */
    int64_t halo_bytes;  /* by each pixel of a wHalo that is known only at run time */
    uint8_t mode;  /* MapMode: im2col copies are one piece, gather4 and scatter4 have one per four rows */
    Opnd info[3];  /* im2col: offsets, outermost first; w modes: wHalo, wOffset */
    int ninfo;
    bool clamp[P_RANK];                   /* load coordinates that data decides */
    bool negative[P_RANK];                /* store starts that may be below 0: left out then */
    bool huge[P_RANK];                    /* .. or above 32 bits, beyond every tensor */
    Opnd start[P_RANK], slot, offset, ok, bytes; /* made by tensor_values; bytes: of one copy */
    uint32_t device;                      /* through a view that is made at run time: its DeviceMap + 1 once that is known */
} TensorPlan;
typedef struct DeviceMap { /* copies of a map that a role makes anew for each run of a view's declaration, one per slot of a tile */
    uint32_t map;              /* MfMap: box and layout */
    const PTensor *view;
    uint32_t tile, agent;      /* whose ring has the slots; which role */
    const PStmt *move;         /* in roles of the source: it alone copies by them */
    uint32_t buf, cell, fresh; /* IrBuf of maps, IrBuf where they are made, IrVar: slots that need not be made */
    bool made, begun;          /* in the role's walk: its values are there; the turn of the ring has begun */
    Opnd from, dim[P_RANK], pitch[P_RANK];
} DeviceMap;
typedef struct BulkRow { /* a dimension whose elements are runs of their own */
    int dim;
    int64_t extent;
    int64_t pitch;  /* bytes in the tile from one to the next */
    bool low, high; /* may lie below, beyond the tensor: guarded */
    const PRows *rows; /* by index */
} BulkRow;
typedef struct BulkPlan {
    int fold;          /* outermost dimension of a run; those further in are taken whole */
    int64_t unit, run; /* bytes of one element of `fold` with all inside it, and of the run */
    int64_t nruns;
    bool loop;           /* over the rows */
    BulkRow row[P_RANK]; /* outermost first */
    int nrows;
    bool low, high;                    /* the run may begin before, end after the tensor: clipped */
    Opnd start[P_RANK], pitch[P_RANK]; /* made by bulk_values, i64; pitch in bytes */
    Opnd byte;                         /* i64: from the tensor's address */
    Opnd slot, offset;                 /* in the tile */
    Opnd lo, hi;                       /* i32: bytes of the run that lie in the tensor */
} BulkPlan;

typedef struct Shares { /* of a multicast */
    int64_t n;           /* CTAs that bring a part each; 1: one brings all */
    int64_t step, bytes; /* elements and bytes from share to share, in the outermost dimension */
    int dim;             /* of the tensor */
} Shares;

/* ---- synchronisation: sync.c ---- */
typedef struct PendingLoad { /* a load that nobody waited for yet */
    MoveInfo info;
    const PBarrier *barrier; /* NULL: derived, of the tile */
    int64_t slot;
} PendingLoad;
typedef struct PendingStore {
    const PStmt *stmt;
    const PTile *tile;
    const MoveInfo *info; /* shared by the copies of the list that blocks keep */
    bool known;           /* info's boxes hold */
    uint32_t turn;        /* 0; else of an earlier turn of the loop that is the turn-th open one */
    bool is_explicit;
    bool read_done, full_done, fenced;
    bool committed;
    uint32_t seq; /* number of its group */
} PendingStore;
typedef struct Phase {  /* of a barrier slot */
    uint32_t arrive_op; /* op number + 1 of the last arrival in this phase, 0: none */
    uint32_t waits;     /* phases that were waited for */
    int64_t bytes;
} Phase;
typedef struct TileSync {   /* a tile with derived loads */
    bool derived, in_block; /* in_block: one of them stands in a loop or if, so the phase is a variable */
    uint32_t bar;           /* IrBar */
    uint32_t phase_var;     /* IrVar, where in_block */
    Phase phase;
} TileSync;
typedef struct Explicit { /* a barrier of the source, in the role at hand */
    bool looped;   /* used in loops, or at slots picked at run time: then */
    uint32_t bits; /* this IrVar has the phase of each slot; otherwise */
    Phase *slot;   /* phases are counted here */
} Explicit;
typedef struct Commit { /* commits of one block to one phase of a looped barrier */
    const PBarrier *barrier;
    const Sx *peer; /* of another CTA */
    Poly slot;
    Phase phase;
    Opnd guard; /* of the arrival */
} Commit;
enum { RANKS_MAX = 16 };
typedef struct Around { /* an `if` around a statement */
    const PStmt *branch;
    bool other;     /* in its else */
    bool followed;  /* synchronisation in it happens where the condition holds; otherwise always */
    uint32_t block; /* in which it stands */
} Around;
typedef struct Note { /* counts.c: arrivals, or a wait, of one statement */
    uint32_t bar, role, block;
    uint8_t weight[RANKS_MAX]; /* at the barrier of each rank */
    Span span;
    Opnd slot;
    bool wait;
    const Around *around; /* outermost first */
    uint32_t naround;
} Note;
typedef struct Sync {
    VEC(Note) notes;
    uint32_t role, block, nblocks; /* at hand; nblocks: opened so far */
    TileSync *tiles; /* by PTile.index */
    Explicit *bars;  /* by PBarrier.index */
    bool *far;       /* by PBarrier.index: other CTAs arrive or write there */
    bool *generic;   /* by PBarrier.index: fills by other CTAs complete there */
    Opnd guard;      /* the conditions that synchronisation follows, inside the innermost loop */
    VEC(Around) around;
    uint32_t threads, id; /* of a role whose threads work together: how many, their cta.sync; 0: one thread */
    bool worked, waited, unfenced; /* since the last cta.sync: threads wrote or read tiles, passed a wait; wrote since a fence */
    VEC(Commit) commits;
    bool tensor;     /* the role works on tensor memory */
    bool many;       /* roles side by side */
    VEC(PendingLoad) loads;
    VEC(PendingStore) stores;
    uint32_t groups; /* committed here: never more than were committed since an entry's seq */
    uint32_t depth;  /* of loops and ifs */
} Sync;
typedef struct SyncMark { /* state at the entry of a block */
    PendingStore *stores;
    uint32_t nstores, ncarried, groups, block;
} SyncMark;

/* ---- rule G ---- */
typedef struct Access {
    MoveInfo info;
    bool write, waived;
    int reduce;          /* WORDS_REDUCE, -1: none */
    uint32_t role;       /* of the roles of the source: its number, from 1; 0: none */
    const void *pipe;    /* the across-grid pipeline around it */
    Atom team[8 + 3];    /* indices by which different CTAs or iterations differ */
    int nteam;
    VEC(OpenLoop) loops; /* around it */
} Access;

/* ---- --explain-plan ---- */
typedef struct PlanMove {
    const PStmt *stmt;
    const char *lines; /* complete, indented */
} PlanMove;

typedef struct Bound { /* an answer of needs.c: starts are asked about by every move that uses them */
    const Term *terms;
    uint32_t n;
    bool least;
    uint8_t need;
    int64_t limit;
    Lx cond;
} Bound;

typedef struct Lower {
    Compilation *c;
    Arena *a; /* c->scratch */
    Domain *d;
    const PKernel *k;
    IrKernel *ir;
    IrRole pre, body, post; /* before all roles, the one at hand, after all */
    Text *plan;
    bool failed;
    const PStmt *stmt; /* that is being lowered: place of ops and call frames */
    Opnd guard;        /* a pred: the conditions around it, inside the innermost loop */
    Opnd inside;       /* a pred: false where a batch, or what is `ahead`, has no such iteration. Loads bring zeros then */
    bool no_hoist;     /* nothing goes to the prologue */
    bool lanes;        /* the role at hand is a whole warp that may deal copies to its lanes */
    bool in_lanes;     /* inside a `lanes` block */
    bool remote;       /* CTAs of the cluster reach into each other's shared memory */
    struct Sched *sched; /* NULL: one thread, or the roles of the source */
    bool fresh_lets;   /* normal forms of lets are made anew: an index stands for something else */
    VEC(const Sx *) conditions; /* that hold where the statement at hand does something */
    int at_rank;       /* cluster.c: values are those of this rank; -1: of any */

    /* scalars.c */
    Scalar **scalars; /* open addressing by node */
    uint32_t nscalars, cap_scalars;
    Numbered *numbers; /* open addressing by op and operands */
    uint32_t nnumbers, cap_numbers;
    VEC(uint8_t) live;    /* by scope: still open */
    VEC(uint8_t) hoisted; /* by value: defined in the prologue */
    VEC(uint32_t) scopes; /* open, innermost last; number 0 is the whole kernel */
    uint32_t epoch;       /* counts changes of variables */
    uint32_t ranks;       /* counts changes of at_rank */
    uint8_t by_rank;      /* uses of what differs from rank to rank */
    Atom *sym_atom;
    bool *positive; /* by symbol: a size that is at least 1 wherever a CTA runs */
    Poly *sym, cta[3], cluster[3], rank;
    Poly any_cta[3], any_cluster[3], any_rank; /* while the values are those of one rank */
    Atom team[8 + 3];
    int nteam;
    Atom any_team; /* of kernels with pipelines across the grid: teams_beside */
    LetState *lets;
    VarState *vars;
    LoopState *loops;
    VEC(LoopState) more_loops; /* of numbers from k->nloops on: rows of a copy */
    uint32_t nloops;
    VEC(OpenLoop) open_loops; /* outermost first */
    uint64_t open_mask;
    int64_t cluster_size;
    VEC(Bound) bounds;
    VEC(const Sx *) wide_scalars; /* exact.c: whose extremes the launch evaluates */

    /* maps.c */
    uint32_t *map_of;           /* by PMap.index: MfMap + 1 */
    VEC(MapDesc) descs;         /* by MfMap */
    VEC(PTensor *) map_tensors; /* by MfMap: parameter or view */
    uint32_t *pol_of;           /* by PPolicy.index: IrPolicy + 1 */
    uint32_t hint_pol[3];       /* by Hint: the same */
    const void *across; /* across-grid pipeline that is open */
    bool team_atoms;    /* its indices are being opened: by them teams differ */
    Atom cluster_atom[3]; /* in kernels with such pipelines: cluster.x, y, z where there are several */
    Sync sync;
    VEC(Access) accesses;
    VEC(DeviceMap) device_maps;
    const PBlock *device_body; /* of the role of the source whose warp makes maps; NULL: none does */
    uint32_t device_cell;      /* of that role: IrBuf, 0: not there yet (a tile has number 0) */
    VEC(struct Declared { const PTensor *view; uint32_t depth; Span span; }) views; /* made at run time: blocks around it that are turns */
    Span *scalar_reads; /* by tensor index: where one was read as a scalar */
    VEC(PlanMove) plan_moves;
} Lower;

/* ---- report.c ---- */
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
Diag *lower_not_yet(Lower *L, Span span, NotYet what);
void lower_refuse(Lower *L, const Refusal *r);
/* A condition that the launch must meet. False where it can't hold for any launch (then nothing is added). */
bool launch_check(Lower *L, ErrorCode code, Lx cond, Span span, const char *text, const char *why);
bool launch_checked(Lower *L, ErrorCode code, Lx cond); /* already: its text need not be made */

/* ---- scalars.c: environment and normal forms ---- */
void scalars_forget(Lower *L, uint8_t uses); /* normal forms of what has such uses (0: all) are made anew */
bool has_across(const PKernel *k); /* pipelines dealt across the grid: such a kernel has no cta.x, y, z */
void scalars_begin(Lower *L); /* symbols, facts, grid, variables */
void teams_beside(Lower *L);  /* rule G, beside pipelines across the grid */
Poly scalar_poly(Lower *L, const Sx *x);
uint8_t scalar_uses(Lower *L, const Sx *x);
/* Has it the same meaning here as where it stands: no variables, no indices of loops that are not open? */
bool scalar_known_here(Lower *L, const Sx *x);
uint64_t loop_bit(int64_t k);
Lx scalar_lx(Lower *L, const Sx *x); /* launch expression; 0 where it depends on more */
Scalar *scalar_of(Lower *L, const Sx *x);

/* ---- ranges.c ---- */
void scalar_range(Lower *L, const Sx *x, int64_t *lo, int64_t *hi);
void loop_range(Lower *L, const PStmt *st); /* of its index */
/* The i-th index of a pipeline as the loop that it is. */
static inline PStmt pipe_index(const PPipe *p, int i)
{
    return (PStmt){.kind = P_FOR, .span = p->v[i].span, .id = p->v[i].loop, .name = p->v[i].name, .lo = p->v[i].lo,
                   .value = p->v[i].hi};
}
bool scalar_positive(Lower *L, const Sx *x); /* at least 1: by its range, or by facts about sizes */
void sym_range(const Lower *L, uint32_t sym, int64_t *lo, int64_t *hi);

/* ---- exact.c ---- */
Extremes scalar_extremes(Lower *L, const Sx *x);
Lx lx_known(Lower *L, LxOp op, Lx a, Lx b); /* 0 where an operand is unknown or constants overflow */
bool scalar_fits_at_launch(Lower *L, const Sx *x);
bool scalar_exact(Lower *L, const Sx *x); /* its value is what integers give */
void exact_note(Lower *L, const Sx *x);   /* x is used */
void exact_check(Lower *L);               /* at the end: checks for what was used */

/* ---- variables.c ---- */
/* x % *mod == *rem, also where x wraps around. */
void scalar_residue(Lower *L, const Sx *x, int64_t *mod, int64_t *rem);
void vars_infer(Lower *L);
void vars_forget(Lower *L, const PBlock *b); /* variables that the block assigns hold unknown values from here on */
Poly var_unknown(Lower *L, uint32_t v);

/* ---- values.c: IR values ---- */
Opnd value_low(Lower *L, const Sx *x);  /* low 32 bits, i32 */
Opnd value_wide(Lower *L, const Sx *x); /* exact, i64 */
Opnd value_pred(Lower *L, const Sx *x); /* immediate 0 / 1, or a pred */
Opnd emit_op(Lower *L, IrOpcode op, IrType t, Opnd a, Opnd b);
Opnd emit_cmp(Lower *L, IrRel rel, Opnd a, Opnd b);
Opnd emit_logic(Lower *L, IrOpcode op, Opnd a, Opnd b); /* and, or of preds */
Opnd emit_sel(Lower *L, IrType t, Opnd cond, Opnd a, Opnd b);
Opnd emit_get(Lower *L, uint32_t var); /* of a variable of the IR */
IrOp *emit_set(Lower *L, IrOpcode code, uint32_t var, Opnd x); /* IR_VAR begins it, IR_SET changes it */
void emit_grp_wait(Lower *L, int64_t groups, IrHow how);
Opnd emit_not(Lower *L, Opnd a);
Opnd emit_cvt(Lower *L, IrType t, Opnd a);
Opnd emit_sreg(Lower *L, IrReg r);
Opnd emit_param(Lower *L, Lx x);                    /* i64 */
IrVal emit_materialize(Lower *L, IrType t, Opnd o); /* an immediate becomes a const op */
IrOp *emit_new(Lower *L, IrOpcode op);              /* in body, at the current statement */
void emit_if(IrOp *op, Opnd cond);                  /* the op happens where cond holds */
void put_opnd(Lower *L, IrOp *op, IrKey key, Opnd o);
Opnd emit_zeros(Lower *L); /* address of the block of zeros */
Opnd emit_gaddr(Lower *L, uint32_t tensor, Opnd byte);
Opnd emit_descriptor(Lower *L, uint32_t buf, uint32_t lead, uint32_t stride, uint8_t swizzle); /* tc.desc, once for all who ask for it */
Opnd emit_lanes(Lower *L, int64_t n); /* opens a `lanes` block; closed by emit_end and in_lanes = false */
typedef struct RowShare { /* of the rows of a move: */
    Opnd first;           /* this CTA takes those from here on, i32: 0, or a multiple of */
    int64_t rows;         /* so many */
} RowShare;
/* Number of the row of the tensor that row `index` of the share is, of n in all: -1 where there is none. i64. */
Opnd row_index(Lower *L, const PRows *rows, int64_t n, RowShare s, Opnd index);
Opnd emit_loop(Lower *L, IrType t, Opnd a, Opnd b); /* opens the block and its scope; the index */
void emit_end(Lower *L);
void values_forget(Lower *L, uint8_t uses); /* values of what has such uses are made anew */
void scope_open(Lower *L);
void scope_close(Lower *L);
uint32_t param_add(Lower *L, MfParamKind kind, uint32_t index);

/* ---- cluster.c ---- */
/* Values as the CTA of that rank has them; -1: of any rank again. */
void cluster_rank(Lower *L, int rank);
uint32_t cluster_set(const Lower *L, PCast cast, int rank); /* bit set of the CTAs that a multicast of it reaches */
bool cluster_named(Lower *L, const Sx *peer, Span at, int target[16]); /* by rank; perhaps the own */
bool cluster_peers(Lower *L, const Sx *peer, Span at, int target[16]); /* by rank; never the own; -1: left out */
bool cluster_same(Lower *L, const Sx *x);                              /* equal in all CTAs */
bool cluster_equal(Lower *L, const PMove *mv, PCast cast);             /* coordinates equal in each set */
bool cluster_pairs(Lower *L, const Sx *x);                             /* the same in both CTAs of each pair; NULL is */
/* Before it gets x, whose normal form is `of`. */
void cluster_assign(Lower *L, uint32_t var, const Sx *x, Poly of);
void cluster_let(Lower *L, uint32_t let, const Sx *x);
Poly cluster_var(Lower *L, uint32_t var); /* at the rank that is set */
Opnd cluster_member(Lower *L, PCast cast, uint32_t i);                 /* rank of the i-th CTA of the own set */
Opnd cluster_share(Lower *L, PCast cast);                              /* which of them this CTA is */
uint32_t cluster_size_of(const Lower *L, PCast cast);
Opnd cluster_mask(Lower *L, PCast cast);

/* ---- plan_moves.c ---- */
/* Each CTA of a multicast brings a part where the layout's pattern stays whole: mi becomes that part. False after an
 * error. */
bool plan_multicast(Lower *L, MoveInfo *mi, Shares *shares);
Opnd multicast_values(Lower *L, MoveInfo *mi, PCast cast, const Shares *p); /* a pred: does this CTA bring anything? */

/* ---- regions.c ---- */
bool region_tile(Lower *L, const PStmt *st, const PRegion *s, MoveInfo *mi); /* the tile's side alone */
void region_boxes(Lower *L, MoveInfo *mi); /* starts and boxes anew */
bool region_resolve(Lower *L, const PStmt *st, MoveInfo *mi); /* false after an error */
Opnd region_offset(Lower *L, MoveInfo *mi);
Opnd region_slot(Lower *L, MoveInfo *mi);
Opnd sched_slot(Lower *L, const MoveInfo *mi); /* ring_ops.c: of the ring's turn */
Opnd sched_inner(Lower *L, const MoveInfo *mi);
bool regions_disjoint(Lower *L, const MoveInfo *a, const MoveInfo *b); /* of one tensor, same team and iteration */
bool views_disjoint(Lower *L, const PTensor *a, const PTensor *b);
bool subtiles_disjoint(Lower *L, const MoveInfo *a, const MoveInfo *b); /* of one tile */

static inline LoopState *loop_state(Lower *L, int64_t k)
{
    return k < L->k->nloops ? &L->loops[k] : &L->more_loops.v[k - L->k->nloops];
}

/* ---- needs.c ---- */
typedef enum Need { NEED_PROVED, NEED_CHECK, NEED_NEVER, NEED_UNKNOWN } Need;
/* x % m == 0 for all indices: proved, left to launch checks (added to cond), impossible, or undecidable. */
Need need_multiple(Lower *L, Poly x, int64_t m, Lx *cond);
Need need_at_least(Lower *L, Poly x, int64_t limit, Lx *cond);
Need need_at_most(Lower *L, Poly x, int64_t limit, Lx *cond);
Need need_equal(Lower *L, Poly x, int64_t k, Lx *cond);

/* ---- maps.c ---- */
/* The map of the source; breaches are reported at its clauses. False after an error. */
bool map_explicit(Lower *L, PMap *m, uint32_t *index);
/* A map with this box, shared with equal ones; refused where a rule is broken. */
bool map_inferred(Lower *L, const MoveInfo *mi, const int64_t *box, const int64_t *elem_stride, uint32_t *index,
                  Refusal *why);
/* Do elements of a tensor that is stored to share memory? Says so in why. */
bool map_overlaps(Lower *L, const MoveInfo *mi, Refusal *why);
int64_t map_bytes(Lower *L, uint32_t index, int64_t halo); /* that one copy adds to its barrier */
uint32_t policy_index(Lower *L, PPolicy *p);

void policy_operand(Lower *L, IrOp *op, const MoveInfo *mi); /* the move's, or the derived one */

/* ---- slices.c: interleaved layouts ---- */
bool slices_map(Lower *L, const PMap *m, Refusal *why);
bool slices_fit(Lower *L, const MoveInfo *mi, Refusal *why);
bool slices_whole(const MoveInfo *mi, Refusal *why); /* the part of the innermost dimension is all of it */
/* ---- device_maps.c: tensor copies through views that are made at run time ---- */
bool device_allowed(Lower *L, const MoveInfo *mi, Refusal *why);
/* The place of such a view is a multiple of 16 bytes: proved, or a launch check. */
bool device_aligned(Lower *L, const MoveInfo *mi, ErrorCode code, Refusal *why);
bool device_same_team(Lower *L, const MoveInfo *mi, Refusal *why); /* a multicast: one view for all CTAs of the cluster */
void device_template(Lower *L, const PTensor *t, const MapDesc *d, MfMap *m); /* a map that can be encoded at launch */
Poly device_extent(Lower *L, const PTensor *t, int d); /* no less than any extent that it may have */
Opnd device_some(Lower *L, const PTensor *t);          /* a pred: the view has elements */
bool device_find(Lower *L);    /* when rings are known; false after an error */
void device_buffers(Lower *L); /* when their slots are */
void device_role(Lower *L);
void device_view(Lower *L, const PStmt *st);
void device_ring(Lower *L, uint32_t ring); /* its slot is free, or full */
void device_values(Lower *L, DeviceMap *m); /* what the maps are made of, where the view is declared */
void device_make(Lower *L, const DeviceMap *m, Opnd slot);
uint32_t device_buffer(Lower *L, const DeviceMap *m, uint32_t slots); /* of maps */
uint32_t device_cell(Lower *L, const char *role);
void device_place(Lower *L); /* the room for all of them */
/* device_roles.c: in roles of the source */
bool device_wanted(const Lower *L, const PBlock *b);
void device_declare(Lower *L, const PStmt *st);
void device_copy(Lower *L, const MoveInfo *mi, TensorPlan *t); /* before its arrival */
void device_plan(Lower *L, uint32_t map);
bool device_makes(const Lower *L, uint32_t agent); /* maps */
/* ---- view_places.c: rule G through such views ---- */
/* Different teams, or turns: nothing in common, whatever the data. loops: also turns of the loops around both. */
bool view_places_apart(Lower *L, const Access *a, const Access *b, bool loops, bool same_turn);
bool view_fixed(Lower *L, const PTensor *t); /* in every CTA and turn the same elements have the same indices */
bool place_fixed(Lower *L, const Sx *start);
int64_t move_width(const MoveInfo *mi, int d); /* how far apart the first and the last element in a dimension are, and 1 */
bool view_trusts(const Lower *L, const PTensor *idx, int64_t fact);

/* ---- tensor.c, bulk.c ---- */
bool tensor_plan(Lower *L, MoveInfo *mi, TensorPlan *out, Refusal *why);
Opnd tensor_bytes(Lower *L, const MoveInfo *mi, const TensorPlan *p); /* of all copies of the move */
void tensor_values(Lower *L, MoveInfo *mi, TensorPlan *p); /* before the arrival, so that the copies follow it */
void tensor_emit(Lower *L, const MoveInfo *mi, const TensorPlan *p, uint32_t bar, Opnd bar_slot);
/* What copies of all modes share. */
bool tensor_layout(Lower *L, const MoveInfo *mi, Refusal *why);       /* the map's is the tile's */
bool tensor_contiguous(Lower *L, const MoveInfo *mi, Refusal *why);   /* the innermost dimension; and whole bytes */
bool tensor_in_tile(Lower *L, const MoveInfo *mi, Refusal *why);      /* the part's start */
bool tensor_one_piece(Lower *L, const MoveInfo *mi, Refusal *why);    /* the part is contiguous, one panel wide */
bool tensor_inner_start(Lower *L, const MoveInfo *mi, Refusal *why);
bool tensor_stored_extent(Lower *L, const MoveInfo *mi, Refusal *why);
bool tensor_before_far(Lower *L, const MoveInfo *mi, int d, Refusal *why);
/* One that fits 32 bits; `last`: what is added to it at most. */
bool tensor_coordinate(Lower *L, const MoveInfo *mi, int d, int64_t last, TensorPlan *out, Refusal *why);
void tensor_op(Lower *L, const MoveInfo *mi, const TensorPlan *p, const Opnd *at, int n, Opnd byte, uint32_t bar, Opnd bar_slot);
/* im2col.c: copies from a base pixel on; gather.c: of four rows by index */
bool im2col_plan(Lower *L, const MoveInfo *mi, TensorPlan *out, Refusal *why);
void im2col_values(Lower *L, const MoveInfo *mi, TensorPlan *p);
Opnd im2col_bytes(Lower *L, const MoveInfo *mi, const TensorPlan *p); /* where halo_bytes is not 0 */
int64_t im2col_pixels(const PMove *mv); /* of the tile */
/* Where both go through one im2col map without offsets: pixels by number, and channels. */
bool im2col_boxes(Lower *L, const MoveInfo *a, const MoveInfo *b, DomBox *x, DomBox *y);
bool gather_plan(Lower *L, const MoveInfo *mi, TensorPlan *out, Refusal *why);
void gather_emit(Lower *L, const MoveInfo *mi, const TensorPlan *p, uint32_t bar, Opnd bar_slot);
/* pair.c */
bool mode_known_view(Lower *L, const MoveInfo *mi, Refusal *why);
bool target_copies(Lower *L, const MoveInfo *mi, Refusal *why); /* the target has the map's mode for this move */
bool pair_plan(Lower *L, MoveInfo *mi); /* a barrier of another CTA than the tile: the other one of its pair; false after an error */
static inline bool is_im2col(const PMove *mv)
{
    return mv->map && (mv->map->mode == MAP_IM2COL || mv->map->mode == MAP_IM2COL_W || mv->map->mode == MAP_IM2COL_W128);
}
static inline bool is_rows4(const PMove *mv)
{
    return mv->map && (mv->map->mode == MAP_GATHER4 || mv->map->mode == MAP_SCATTER4);
}
bool bulk_plan(Lower *L, MoveInfo *mi, BulkPlan *out, Refusal *why);
void bulk_values(Lower *L, MoveInfo *mi, BulkPlan *p);
void bulk_emit(Lower *L, const MoveInfo *mi, const BulkPlan *p, uint32_t bar, Opnd bar_slot);

/* ---- lower.c ---- */
bool choose_copy(Lower *L, MoveInfo *mi, bool *tensor, TensorPlan *t, BulkPlan *b, Refusal *no_tensor);
void access_note(Lower *L, const MoveInfo *mi);
IrRole *role_end(Lower *L, const char *name, uint32_t warps, bool elect); /* the ops so far are its body */
void lower_let(Lower *L, const PStmt *st);
void lower_assign(Lower *L, const PStmt *st);
Opnd lower_bound(Lower *L, const Sx *x, bool wide);
void loop_atoms(Lower *L, const PStmt *st, LoopState *s);
void loop_open(Lower *L, const PStmt *st); /* its index may be used from here on */
void loop_close(Lower *L, const PStmt *st);

/* ---- sync.c ---- */
enum { TURNS_MAX = 32 };
Poly poly_by_turn(Lower *L, Poly p, const OpenLoop *loops, uint32_t turns);
void sync_begin(Lower *L);
/* State and variables of one role's body; the same for the only one. */
void sync_role(Lower *L, const PBlock *body, bool many);
void sync_before(Lower *L, const MoveInfo *mi);
void sync_before_read(Lower *L, const MoveInfo *mi); /* of a tile, by a copy within the cluster */
/* The arrival on which a load's copies complete; says where they add their bytes. each: what it announces, at most
 * `bytes`. False after an error. */
bool sync_arrive(Lower *L, const MoveInfo *mi, Opnd each, int64_t bytes, uint32_t *bar, Opnd *slot);
void sync_after(Lower *L, const MoveInfo *mi);
void sync_wait(Lower *L, const PStmt *st);
void sync_arrive_stmt(Lower *L, const PStmt *st);
void sync_expect(Lower *L, const PStmt *st);
/* Counts one arrival of a move's commit, by what the tensor core did: at this slot. False after an error. */
bool sync_commit_slot(Lower *L, const PStmt *st, Opnd *slot);
void sync_wait_group(Lower *L, const PStmt *st);
void sync_group_end(Lower *L);
void sync_flush_loads(Lower *L);
/* A loop's body; the caller flushes the loads at its borders. */
SyncMark sync_enter(Lower *L, const PBlock *body);
void sync_leave(Lower *L, const SyncMark *m);
void sync_end(Lower *L);
void sync_init_ops(Lower *L, uint32_t threads); /* into the prologue; threads: of all roles together */

/* ---- sync_cond.c ---- */
typedef struct SyncBranch { /* what was before an `if` */
    Opnd guard;
} SyncBranch;
SyncBranch sync_branch(Lower *L, const PStmt *st, Opnd cond);
void sync_branch_else(Lower *L, const PStmt *st, Opnd cond, const SyncBranch *b);
void sync_branch_end(Lower *L, const SyncBranch *b);
int cond_now(Lower *L, const Sx *x); /* at the rank that is set: 0, 1, or -1: not known */
/* Surely not done at this rank: a condition around the statement, which synchronisation follows, is false there. */
bool sync_left_out(Lower *L, int rank);

bool remote_left_out(Lower *L, int rank); /* remote.c: the same, in derived schedules */

/* ---- role_moves.c: between CTAs, in roles of the source ---- */
bool role_committed(Lower *L, const PStmt *st); /* to a barrier of the program; false after an error */
void role_send(Lower *L, const PStmt *st);
void role_fill_peer(Lower *L, const PStmt *st); /* fill_peer.c */
/* multicast (mask): to whom, at each rank; false after an error. What reaches the own tile, of copies of so many bytes. */
bool role_mask(Lower *L, MoveInfo *mi);
Opnd role_mask_bytes(Lower *L, const MoveInfo *mi, Opnd bytes);

/* ---- role_threads.c: roles of the source whose threads work together ---- */
void role_begin(Lower *L, const PRole *r, uint32_t number);
IrRole *role_finish(Lower *L, const PRole *r);
/* Before the elected thread does something: all threads have done, and made visible, what they were at. also_waits: have
 * passed their waits, too. */
void role_sync(Lower *L, bool also_waits);
void role_loop(Lower *L);  /* at a loop's head, and behind its end */
void role_fence(Lower *L); /* what threads wrote so far the copies see, behind a cta.sync */
void role_work(Lower *L, const PStmt *st);
/* Loads without a commit into these tiles have arrived, stores without one have read the second. Either may be NULL. */
void role_before_work(Lower *L, const MoveInfo *from, const MoveInfo *to);

/* ---- counts.c ---- */
/* peer: the rank whose barrier it is; NULL: the own. */
void counts_note(Lower *L, uint32_t bar, Opnd slot, bool wait, const Sx *peer);
/* Commits of one block to one phase arrive together, where one of them happens: first or a further one. */
void counts_commit(Lower *L, uint32_t bar, Opnd slot, bool first, const Sx *peer);
void counts_pair(Lower *L); /* the last one is by the even CTA of a pair, and arrives in both */
void counts_set(Lower *L);

/* ---- memory.c, independence.c, plan.c ---- */
void memory_buffers(Lower *L); /* IrBuf per tile */
void memory_place(Lower *L);
void independence_check(Lower *L);
/* May the two stores, of one turn or of different ones of a team, write the same place? */
bool stores_meet(Lower *L, const Access *a, const Access *b);
void plan_tensor(Lower *L, const MoveInfo *mi, const TensorPlan *p);
void plan_bulk(Lower *L, const MoveInfo *mi, const BulkPlan *p, const Refusal *tensor);
void plan_join(Lower *L, const PStmt *st, const char *lines); /* what is said about a move */
void plan_print(Lower *L);
void plan_schedule(Lower *L); /* plan_schedule.c: head of a scheduled kernel */
const char *sched_completes(Lower *L, const MoveInfo *mi);

#endif
