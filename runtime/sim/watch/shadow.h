/* Shadow memory: for each byte who wrote it last and who has read it since.
 *
 * Memory is covered by pages: a page is one cell while its bytes are alike, as of a large copy, else it is split into
 * cells of 16 bytes. A cell whose bytes differ is split into four cells of a quarter of its size, and those again into
 * bytes; both are joined again when their parts are alike. A cell names records: who did an access, when, and how its end
 * is known. One record serves all bytes of an access; records that no cell names any more are swept from time to time.
 *
 * What an access does to a cell depends only on the cell, so a walk asks once for cells that are alike (ShadowMemo).
 *
 * Numbers of records start at 1; 0: none. Memory is the pool's Mem: a failed allocation jumps and leaves the shadows as
 * they were or partly walked.
 */
#ifndef SIM_SHADOW_H
#define SIM_SHADOW_H

#include "lang/arena.h"
#include "runtime/sim/report.h"

#define NO_AGENT UINT32_MAX
typedef enum RecordFlag {
    REC_WRITE = 1,       /* else a read */
    REC_ASYNC = 2,       /* over when its completion is known */
    REC_PROXY = 4,       /* through the async proxy */
    REC_STRONG = 8,      /* relaxed or stronger, or volatile */
    REC_REDUCE = 16,     /* red, atom, reductions of the copy engine */
    REC_SHARED = 32,     /* of shared memory */
    REC_MBAR = 64,       /* mbarrier.init: the bytes hold a live barrier */
    REC_GROUP = 128,     /* its completion is a bulk group */
    REC_INVAL = 256,     /* mbarrier.inval */
    REC_ANY_ORDER = 512, /* a write whose order among writes of global memory is declared open */
    REC_CONST = 4096,    /* ld.global.nc: its bytes are not written while the kernel runs */
    REC_GAP = 8192,      /* a copy leaves the bytes without a value: the gaps of packed types */
    REC_REACH = 3072     /* STRONG, REDUCE: whom its scope includes, REACH_.. << REC_REACH_SHIFT */
} RecordFlag;
enum { REC_REACH_SHIFT = 10 };

typedef struct Record {
    uint32_t agent, time;           /* the thread that did or issued it */
    uint32_t done_agent, done_time; /* REC_ASYNC: whose time `done_time` is its end; NO_AGENT: nobody has to know */
    uint32_t alt;                   /* another record: the same access with another completion that shows its end */
    uint32_t pins;                  /* holders outside the shadows */
    uint16_t flags;
    SimWho who;
} Record;

typedef struct Cell {
    uint32_t write;  /* record of the last write, or CELL_SPLIT | number of its four parts, or of the page's cells */
    uint32_t others; /* reads since, and writes that it is not ordered with but need not be: a record, or
                        CELL_LIST | number of a list */
} Cell;
#define CELL_SPLIT UINT32_C(0x80000000)
#define CELL_LIST UINT32_C(0x80000000)
enum {
    CELL_BYTES = 16,
    OTHERS_MAX = 64,
    OTHERS_PART = 8,
    OTHERS_RECENT = 1024,
    PAGE_BYTES = 4 * 1024,
    PAGE_CELLS = PAGE_BYTES / CELL_BYTES
};

typedef struct Others { /* a part of a list; not changed: those that are alike are one, mostly */
    uint32_t n;         /* 1 .. OTHERS_PART; in the free list the next one */
    uint32_t total;     /* with those before */
    uint32_t before;    /* the part with older ones, which is full; 0: none */
    uint32_t record[OTHERS_PART];
} Others;

struct Shadow;
typedef struct ShadowPool {
    Mem *mem;
    Record *record;
    Others *list;
    Cell (*part)[4];
    Cell **page;                                                                 /* cells of pages that are split */
    uint32_t nrecord, caprecord, nlist, caplist, npart, cappart, npage, cappage; /* used from 1 on */
    uint32_t freerecord, freelist, freepart, freepage;                           /* chains, 0: none */
    struct Shadow *first;
    uint32_t recent[OTHERS_RECENT]; /* lists by what they hold */
    uint64_t pages, split;          /* of all shadows, and those of them that are split */
    uint64_t made;
    uint64_t quota;  /* sweep when so many records and lists have been made */
    uint32_t sweeps; /* numbers that are kept outside without a pin are void when it has changed */
} ShadowPool;

typedef struct Shadow { /* of one CTA's shared memory, or of one allocation */
    struct Shadow *next, **link;
    ShadowPool *pool;
    void *owner;
    Mem mem;
    uint64_t bytes;
    uint32_t npages;
    Cell page[];
} Shadow;

void shadow_pool_init(ShadowPool *p, Mem *mem);
void shadow_pool_free(ShadowPool *p); /* and all its shadows */
Shadow *shadow_new(ShadowPool *p, void *owner, uint64_t bytes);
void shadow_free(Shadow *s);

/* Zeroed but for its pins: 1. May sweep. */
uint32_t record_new(ShadowPool *p);
void record_unpin(ShadowPool *p, uint32_t r);
/* The records in `others`: how many, and which. */
uint32_t others_get(const ShadowPool *p, uint32_t others, uint32_t out[OTHERS_MAX]);
uint32_t others_make(ShadowPool *p, const uint32_t *record, uint32_t n); /* n <= OTHERS_MAX */

typedef struct ShadowMemo { /* the last cell and what became of it */
    Cell in, out;
    uint32_t sweeps;
    bool valid;
} ShadowMemo;
/* What the access does to bytes that are alike; false: a conflict, the walk ends. */
typedef bool (*ShadowStep)(void *user, Cell in, Cell *out);
/* Applies it to [at, at + bytes), which lies inside. False: *failed is where. */
bool shadow_walk(Shadow *s, uint64_t at, uint64_t bytes, ShadowMemo *memo, ShadowStep step, void *user,
                 uint64_t *failed);
/* The cell of a byte, and the first byte behind it (a multiple of its size). Never split. */
Cell shadow_at(const Shadow *s, uint64_t at, uint64_t *end);

#endif
