/* Parts of the generator. An axis is an index in scope with the extent that it walks: index k stands for the elements
 * k * step .. k * step + step - 1 of `extent`. Every write is told apart by all axes in scope, so writes are disjoint. */
#ifndef GENERATE_H
#define GENERATE_H

#include "program.h"

enum { AXES_MAX = 6, LETS_MAX = 8, TILE_BYTES = 4096, SHARED_BYTES = 24576 };

typedef struct Axis {
    const Expr *index, *bound;   /* bound: of the extent, a number or a size */
    int64_t step, extent, count; /* index < count */
    bool uniform;                /* the same in all CTAs of a cluster */
} Axis;

typedef struct Dim { /* of a tile: n elements along an axis, or along none (-1) */
    int axis;
    int64_t n;
} Dim;

typedef struct Shape {
    tile_type type;
    int rank, swizzle;
    Dim dim[RANK_MAX];
    bool small;    /* elements are small integers */
    bool converts; /* no conversion yet that could lose something */
} Shape;

typedef enum Use { USE_READ, USE_SAME, USE_WRITE, USE_REDUCE } Use; /* SAME: read at equal places in all CTAs */

typedef struct Held { /* a tile of an outer block, with a value */
    int tile;
    Shape shape;
} Held;

typedef struct Gen {
    Program *p;
    Rng rng;
    Stmt **tail; /* where the next statement goes */
    Stmt **top;  /* declarations of the kernel */
    Stmt **meaning; /* where that of a form goes */
    Axis axis[AXES_MAX];
    int naxes;
    int64_t turns;    /* iterations that may still multiply those in scope */
    int64_t bytes;    /* of shared memory so far */
    bool threads;     /* threads have moved something in this nest */
    bool apart;       /* no multicasts here */
    bool peers;       /* copies between CTAs may stand here */
    bool sent;        /* what is loaded goes to another CTA: threads don't write it */
    bool all;         /* also what is not supported yet */
    bool plain;       /* no pipelines, no work by threads: commits by hand are allowed */
    bool hand;        /* a protocol by hand: its stores are not told apart by trust */
    bool ranked;      /* conditions may depend on the rank */
    bool busy;        /* axes have at least one turn */
    bool several;     /* pipelines across the grid */
    const char *cast; /* how this kernel multicasts */
    int maps, variant;
    Held held[4];
    int nheld;
    int let[LETS_MAX]; /* scalars in scope */
    int nlets;
} Gen;

const Expr *x_num(Gen *g, int64_t n);
const Expr *x_ref(Gen *g, ExprKind k, int64_t n);
const Expr *x_op(Gen *g, ExprKind k, const Expr *a, const Expr *b);
const Expr *x_scaled(Gen *g, const Expr *a, int64_t by, int64_t plus);
Stmt *emit(Gen *g, StmtKind k);
Stmt *emit_text(Gen *g, const char *text);
int new_var(Gen *g, const char *prefix);
int new_size(Gen *g, int64_t value, bool scalar);
int new_tensor(Gen *g, tile_type t, int rank, bool small);
const Expr *new_extent(Gen *g, int64_t value);
int64_t pick(Gen *g, const int64_t *list, int n);
#define PICK(g, ...) pick((g), (const int64_t[]){__VA_ARGS__}, (int)(sizeof((const int64_t[]){__VA_ARGS__}) / 8))
Axis new_axis(Gen *g, int64_t step, int64_t count, int64_t split);
const Expr *axis_range(Gen *g, const Axis *a, int64_t split);
const Expr *some_start(Gen *g, bool dealt); /* of a loop's range; NULL: it has none */
const Expr *counted_from(Gen *g, const Expr *index, const Expr *start);

void inner_loop(Gen *g);

/* shapes.c */
bool new_shape(Gen *g, Shape *s);
bool fits(const Gen *g, const Shape *s); /* a tensor has room for all axes */
int new_tile(Gen *g, const Shape *s, int count);
void give_swizzle(Gen *g, Shape *s);
Region tile_region(int tile);
Region region_of(Gen *g, const Shape *s, Use use, const char **via); /* in a new tensor */
const Expr *table(Gen *g, int axis, int64_t low, int64_t high);      /* an element of a table of integers */
int64_t shape_bytes(const Shape *s);
void fill_data(Gen *g, int tensor);

/* scalars.c */
const Expr *some_scalar(Gen *g, int depth);
const Expr *some_condition(Gen *g, int depth);
void some_scalars(Gen *g);
void maybe_damage(Gen *g, int tile, const Shape *s);

/* units.c */
void fill_some(Gen *g, int tile, const Shape *s);
Stmt *emit_move(Gen *g, Region src, Region dst, const char *clauses);
void load(Gen *g, int tile, const Shape *s);
void store(Gen *g, int tile, const Shape *s);
void unit(Gen *g);

/* places.c: [plane, row, column] of a tensor; size: of what lies there; same: for all CTAs of a cluster */
void dealt_place(Gen *g, const int64_t size[3], bool same, const Expr *at[3]);

/* wild.c */
void wild_kernel(Gen *g);

/* teams.c */
void peer_unit(Gen *g);
void ring_kernel(Gen *g);
void explicit_unit(Gen *g);

#endif
