/* Versions of tiles: what surely has a value where a statement reads, in the program's sequential meaning.
 *
 * One walk over the statements, in their order, beside the planned moves. Of each tile it keeps the boxes that writes have
 * given a value, in elements (an array's slot is one more dimension): for which CTAs of the cluster, and under which conditions. A read
 * asks that its part is covered by boxes whose conditions hold; what is open is tried both ways.
 *
 *   walk.c      statements: who takes part, what is read and written
 *   record.c    boxes, and what becomes of them where a branch or a loop ends
 *   cover.c     conditions that hold, parts that are covered
 *   tell.c      what is said of a part that is not
 *
 * A loop's body is walked once, with the index as a number of which only the range is known, from what has a value in front of
 * the loop; so that holds for each of its turns. At its end a box that moves with the index becomes the one that all turns
 * leave together; what can't be said without the index, or without values that the body makes, is forgotten.
 *
 * What earlier turns of a loop in one CTA wrote, into tiles from outside of it, stands in front of its body: as what one of so many turns before writes,
 * with the index of that turn, where there was one. It is asked only where a read finds nothing else; the tile is then one that the loop carries
 * on (uses.c).
 *
 * Iterations of a pipeline across the grid are other teams' business: what any of them writes into tiles from outside stands in front of
 * the first one as boxes without a value, which hide older ones; and nothing that is written in one counts in the next, or behind all.
 */
#ifndef LOWER_SCHEDULE_VERSIONS_VERSIONS_H
#define LOWER_SCHEDULE_VERSIONS_VERSIONS_H

#include "lower/schedule/schedule.h"

enum { VERSION_DIMS = P_RANK + 1, GUARDS_MAX = 4 };

/* p >= 0; or, eq: p == 0; not: != 0 */
typedef struct Lit {
    Poly p;
    bool eq, not;
} Lit;
typedef struct Guard { /* one way of an `if`; or, of a loop, that it has turns */
    Lit whole;
    const Lit *parts; /* what it is made of where it is `a && b`: together they say the same */
    uint32_t nparts;
    struct Guard *otherwise;
    const PStmt *st;
    bool other;       /* the `else` of it, or that the loop has no turn */
} Guard;
typedef struct Part { /* of a tile: lo, lo + step, .. hi - 1 in each dimension, that of the slots first */
    uint32_t n;
    Poly lo[VERSION_DIMS], hi[VERSION_DIMS];
    int64_t step[VERSION_DIMS];
} Part;
typedef struct Box {
    Part part;
    uint16_t ranks;   /* of the CTAs in whose tile it is */
    bool remote;      /* written by other CTAs */
    uint8_t nguards;
    const Guard *guard[GUARDS_MAX];
    const PRegion *at; /* the write */
    const PStmt *across; /* .. of the iterations of this one: what older boxes say of the part counts no more; NULL: it has a value */
    const PStmt *earlier; /* .. in an earlier turn of this loop; NULL: in none, or in the turn at hand */
    uint32_t tile, before; /* the box before it of the same tile: number from 1 in the log */
} Box;
typedef VEC(Box) Boxes;
typedef struct Cells { /* in numbers */
    int64_t lo[VERSION_DIMS], hi[VERSION_DIMS], step[VERSION_DIMS];
    bool hides; /* without a value */
} Cells;
typedef struct TileRecord {
    PTile *tile;
    uint32_t last; /* its latest box: number from 1 in the log; 0: none */
    uint32_t guarded; /* under conditions, since some were forgotten */
    const char *lost;     /* why the last box that was forgotten was; NULL: none was */
    const char *lost_fix;
    const PRegion *lost_at;
} TileRecord;
typedef struct LoopFrame { /* one index */
    const PStmt *st;
    Atom index, before; /* newest when its body began */
    Poly from, last;
    const Guard *runs; /* it has turns; NULL: nobody knows from where to where it goes */
} LoopFrame;
typedef struct Scope { /* a branch, or a loop's body */
    uint32_t outer; /* where the scope around it begins in the log */
    Boxes taken;    /* when it is closed: what it wrote */
} Scope;
typedef struct Versions {
    Lower *L;
    Domain *d;
    TileRecord *tiles;
    Boxes log;       /* of all tiles, those of scopes that are open */
    uint32_t scope;  /* those of the innermost one begin here */
    uint16_t ranks;  /* that do the statement at hand; 0: nobody ever does */
    VEC(Lit) known;  /* that hold there */
    const PStmt *across; /* the across-grid pipeline around it */
    bool other; /* .. of which this is any other iteration */
    uint32_t loops; /* around the statement at hand */
    bool ahead;     /* .. what a loop's body writes is found before it is walked */
    bool carried;   /* what earlier turns wrote counts */
    Atom planned;    /* newest when planning was over */
    VEC(const Box *) sure; /* cover.c: of the question at hand */
    VEC(Cells) cells;
    struct Missing { /* the part that the last question found nowhere */
        bool set;
        Part part;
        const Box *box; /* that would have it, if .. holds */
        const Guard *guard;
    } missing;
} Versions;

/* The boxes of a tile, latest first. */
#define FOR_BOXES(v, t, b) for (const Box *b = box_at(v, (t)->last); b; b = box_at(v, b->before))
static inline Box *box_at(const Versions *v, uint32_t number)
{
    return number ? &v->log.v[number - 1] : NULL;
}

/* ---- record.c ---- */
void record_begin(Versions *v, Scope *s);
void record_close(Versions *v, Scope *s); /* what it wrote counts no more, unless one of these says how: */
/* Branches; but for the ranks that the condition is decided at. NULL: it is for all. */
void record_join(Versions *v, const Scope *then, const Scope *other, const Guard *yes, uint16_t decided);
void record_turns(Versions *v, const Scope *s, const LoopFrame *f); /* a body */
void record_earlier(Versions *v, const Scope *s, const LoopFrame *f, uint32_t loops); /* in front of it: what some turns before wrote, with so many loops around */
void version_add(Versions *v, uint32_t tile, const Box *b);
void version_lose(TileRecord *t, const PRegion *at, const char *why, const char *fix);

/* ---- cover.c ---- */
Lit lit_not(Versions *v, Lit l);
Lit lit_ordered(Versions *v, Lit l); /* .. of what is never below 0, or never above it */
bool lit_holds(Versions *v, Lit l); /* by what is known */
Guard *guard_new(Versions *v, const PStmt *st, bool other, Lit whole); /* and its opposite */
void guard_assume(Versions *v, const Guard *g);
bool le_forms(Versions *v, Poly a, Poly b);
bool parts_apart(const Part *a, const Part *b); /* by numbers alone */
bool part_inside(Versions *v, const Part *part, const Part *of);
/* All that it may be, in numbers. */
void hull_dim(Versions *v, const PTile *t, const Part *part, uint32_t dim, int64_t *lo, int64_t *hi);
/* Does all of the part surely have a value in the tile of this CTA? Else v->missing says what has not. */
bool part_covered(Versions *v, const TileRecord *t, const Part *part, int rank);

/* ---- tell.c ---- */
void version_tell(Versions *v, const PStmt *st, const PRegion *r, int rank, bool adds);

/* ---- walk.c ---- */
bool versions_check(Lower *L); /* false after an error */

#endif
