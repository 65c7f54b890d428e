/* The simulated GPU: threads, warps, CTAs, clusters, their scheduler, and what one launch is.
 *
 *   program + launch -> machine: admit clusters -> pick a thread or an asynchronous step -> .. -> all have exited
 *
 * Each thread has its own program counter and register file. A seeded scheduler picks who runs and for how many
 * instructions; in fast mode it is round robin and a thread runs until it blocks. Copies are tasks of copies/async.h that the
 * scheduler advances like threads. Collective instructions (shuffle, vote, elect, bar.warp.sync) wait until all lanes
 * of their mask that have not exited stand at the same instruction.
 *
 * A launch ends when all threads have exited and all tasks are done, or at the first finding (report.h), or at a limit
 * of steps, memory or time.
 *
 * Rooms: exec (what threads do), copies, tmem (tensor memory), watch (the rules that only show in check mode), trace; here are machine.c
 * (launch, scheduler), cta.c (clusters, CTAs, threads), budget.c (the launch's host memory), idle.c (loops without an
 * end), deadlock.c (who waits for what), device.c (libtile's device).
 *
 * Glossary: agent - whoever has a time of its own for the watch: a thread, an mbarrier, the bulk groups of a thread;
 * resident - a cluster that has been admitted and not all of whose CTAs have exited.
 */
#ifndef SIM_MACHINE_H
#define SIM_MACHINE_H

#include "lang/manifest/manifest.h"
#include "runtime/sim/copies/maps.h"
#include "runtime/sim/decode/program.h"
#include "runtime/sim/memory.h"
#include "runtime/sim/report.h"

typedef enum SimMode { SIM_FAST, SIM_CHECK, SIM_FUZZ } SimMode;
typedef struct SimOptions {
    SimMode mode;
    uint64_t seed;
    uint32_t schedules; /* of SIM_FUZZ, each with a seed of its own made from `seed` */
    uint64_t max_steps; /* thread instructions of a launch */
    uint64_t max_bytes; /* global memory */
    double max_seconds; /* of one launch's schedule */
    const char *trace;  /* path, or NULL */
    bool check_trust;   /* the order of writes is open nowhere */
    const Host *host;   /* whose memory it is; NULL: the C library's */
} SimOptions;

typedef struct Rng {
    uint64_t s;
} Rng;
uint64_t rng_next(Rng *r);              /* splitmix64 */
uint32_t rng_below(Rng *r, uint32_t n); /* n > 0 */
static inline bool rng_one_in(Rng *r, uint32_t n)
{
    return rng_below(r, n) == 0;
}
enum { NOISE_WORDS = 1024 };

/* ---- mbarriers: exec/barrier.c ---- */
/* The 8 bytes in shared memory: bits 0..19 arrivals expected per phase, 20..39 arrivals still pending, 40..61 bytes
 * still expected (signed, 22 bits), 62 parity of the current phase, 63 set: a live mbarrier. The record is the
 * watch's and the report's; in fast mode only phase and waiters of it are used. */
/* PTX ISA, "Valid range of tx-count / arrival counts": 2^20 - 1. Its own number on purpose, not lang/limits.h: an oracle. */
#define SIM_MBAR_COUNT_MAX 1048575u
typedef struct SimBarrier {
    uint32_t offset;              /* as SimLoc's: from the first byte of its CTA's smem */
    uint64_t phase;               /* completed phases */
    uint64_t mirror;              /* what the 8 bytes must hold */
    uint64_t expected, delivered; /* bytes of the current phase, for messages */
    uint64_t last_copy;           /* number of the phase (from 1) that the last copy completed in, 0: none */
    uint64_t observed;            /* highest completed phase that a wait has seen */
    SimWho init;
    SimWho last;            /* the last arrival, expect_tx or bytes of the open phase; else of the one before */
    uint64_t last_expected; /* bytes that the phase before expected at its end, which `last_end` brought */
    SimWho last_end;
    const char *name; /* a name for messages ("smem+32768"), made when first needed */
    void *watch;      /* watch.c's */
} SimBarrier;

struct SimCta;
struct SimThread;
struct SimMachine;

typedef enum WaitKind {
    WAIT_NONE,
    WAIT_MBARRIER,
    WAIT_GROUP,
    WAIT_NAMED,
    WAIT_CLUSTER,
    WAIT_COLLECTIVE,
    WAIT_TMEM, /* columns of tensor memory, or the warp of the peer CTA */
    WAIT_EXITED
} WaitKind;

typedef struct SimThread {
    struct SimCta *cta;
    uint64_t *slot;
    uint8_t *local;
    uint32_t pc;
    uint16_t id; /* linear in the CTA */
    uint8_t lane;
    WaitKind wait;
    /* what it waits for */
    SimBarrier *on;         /* MBARRIER */
    uint64_t on_phase;      /* MBARRIER: the phase (from 1) whose completion is waited for */
    uint32_t on_pc;         /* where the wait stands */
    uint32_t named;         /* NAMED: which */
    uint32_t cluster_at;    /* CLUSTER: where it arrived */
    uint64_t cluster_phase; /* CLUSTER: 1 + generation that it has arrived in and not waited for; 0: none */
    uint32_t mask;          /* COLLECTIVE: lanes */
    uint64_t polled_at;     /* machine's progress counter at its last failed poll, for deadlock detection */
    /* bulk groups: numbered from 1; the open one is committed + 1 */
    uint64_t committed, open_copies;
    uint64_t waited, waited_read; /* highest group that a wait has covered */
    uint32_t group_target;        /* GROUP: leave at most so many */
    bool group_read;
    uint64_t steps;
    const char *role; /* of the last place with one */
    void *watch;
    const uint32_t *unwaited;   /* bits of the slots that tcgen05.ld has not brought yet for sure; NULL: none */
    uint32_t at;                /* op that it executes, or waits in, wherever the pc goes on */
    uint32_t ready_at;          /* index in the machine's `ready` + 1; 0: not there */
    uint64_t since;             /* step at which its wait began */
    struct {                    /* idle.c's */
        uint32_t turns, lo, hi; /* turns; least and greatest pc at their ends since they were a power of two */
        uint32_t again;         /* how often it was in the state again, without progress of the machine */
        uint64_t state, progress;
    } loop;
} SimThread;

typedef struct SimWarp {
    uint32_t first, n; /* threads of the CTA */
    uint32_t leader;   /* lane that elect.sync favours under this seed */
    uint32_t waiting;  /* lanes that wait in a collective */
} SimWarp;

typedef struct SimNamed {     /* bar.sync 0 .. 15 */
    uint32_t arrived, needed; /* threads; needed 0: nobody has arrived */
    uint64_t generation;
    uint32_t red_and, red_or, red_popc; /* bar.red */
    bool all;                           /* made without a thread count: threads that exit release it (PTX ISA, exit) */
    bool red;                           /* by bar.red */
    uint32_t lanes[32];                 /* per warp: who has arrived */
    uint32_t at[32];                    /* per warp: the op of the first of them */
    void *watch;
} SimNamed;

typedef struct SimCta {
    struct SimCluster *cluster;
    uint32_t rank;
    uint32_t id[3];
    uint8_t *smem;       /* smem_bytes from SIM_SMEM_BASE on */
    uint32_t smem_bytes; /* static and dynamic */
    SimThread *threads;
    SimWarp *warps;
    uint32_t nthreads, nwarps, nexited;
    bool started, exited; /* a CTA of a cluster may start later than its peers */
    bool none_left;       /* a thread has seen that no cluster is left to be cancelled */
    SimNamed named[16];
    VEC(SimBarrier *) barriers; /* live and dead, unordered; found by offset through a small table */
    void *barrier_table;
    uint64_t *slots; /* of all threads, in one block */
    uint8_t *locals;
    uint32_t copies;      /* tasks in flight that read or write this CTA's memory */
    void *shadow;         /* watch.c's */
    struct SimTmem *tmem; /* tmem.c's; NULL: not used so far */
    struct SimCta *spare; /* cta.c's: the next of those that are over */
} SimCta;

typedef struct SimCluster {
    uint32_t number; /* linear in the grid */
    uint32_t id[3];
    SimCta **ctas;
    uint32_t nctas, nexited;
    uint32_t arrived; /* barrier.cluster: threads */
    uint64_t generation;
    void *barrier_watch; /* of the cluster barrier */
    void *watch;         /* watch.c's, of the cluster */
} SimCluster;

typedef struct SimLaunch {
    const SimModule *module;
    const SimProgram *program;
    uint32_t grid[3], cluster[3], threads, smem; /* smem: dynamic bytes */
    bool dependent;                              /* launches before it may still run */
    const uint8_t *params;                       /* program->param_bytes */
    SimBlock **globals;                          /* of the module's variables */
    const MfKernel *kernel;                      /* its names, for messages; NULL: no manifest */
} SimLaunch;

typedef struct SimStats {
    uint64_t steps, copies, copy_bytes, clusters;
} SimStats;

typedef struct SimMachine {
    Mem mem;     /* of everything below; its `fail` point is sim_run's */
    Arena arena; /* lives as long as the run */
    const SimOptions *opt;
    SimLaunch launch;
    const SimOp *ops; /* the program's, or with SIM_UNWRITTEN in them; NULL: the program's */
    SimMemory *memory;
    Rng rng;
    bool checking; /* not fast: watch and poison */
    /* clusters */
    SimCluster **resident;
    uint32_t nresident, resident_cap, max_resident, most_resident; /* most: what max_resident may grow to */
    uint32_t nover; /* of the resident: all of their threads have exited */
    uint64_t next_cluster, nclusters;
    SimBlock *hints[16]; /* allocations that accesses hit last, by pc */
    uint8_t *params;     /* the launch's, copied */
    SimCta *spare;       /* CTAs that are over, with their memory: all CTAs of a launch are alike */
    uint64_t noise[NOISE_WORDS];
    /* runnable threads: indices maintained by machine.c */
    VEC(SimThread *) ready;
    uint64_t progress; /* goes up when something happens that could end a wait */
    /* finding */
    bool failed;
    ErrorCode code;
    Text finding;
    bool idle;  /* nothing has changed for a while: idle.c looks at states */
    bool found; /* by `finder` */
    SimWho finder;
    void *watch, *async, *trace, *tmem; /* of those modules; watch and trace NULL: off */
    void *barrier_pool;                 /* barrier.c's: records of CTAs that have exited, to be used again */
    SimStats stats;
    double started; /* seconds */
} SimMachine;

typedef struct SimOutcome {
    bool ok;
    ErrorCode code;  /* E13xx */
    char text[3800]; /* the finding; if ok: why the trace could not be written, or nothing */
    SimStats stats;
} SimOutcome;

/* Runs one launch under one seed to its end. Never crashes on hostile programs; host memory is bounded by what the
 * kernel touches and the limits. */
void sim_run(const SimLaunch *launch, SimMemory *memory, const SimOptions *opt, uint64_t seed, SimOutcome *out);

/* ---- machine.c: for the modules ---- */
SimWho sim_who(const SimThread *t);
/* Makes a thread runnable again; nothing if it is, or has exited. */
void sim_wake(SimMachine *m, SimThread *t);
/* Blocks the running thread: it will be woken, or counts for a deadlock. */
void sim_block(SimMachine *m, SimThread *t, WaitKind why);
SimCta *sim_peer(const SimThread *t, uint32_t rank); /* NULL: no such CTA in the cluster */
/* Fills n bytes with what nobody can rely on, other bytes each time. */
void sim_noise(SimMachine *m, uint8_t *p, uint64_t n);

/* ---- cta.c: what a cluster is made of ---- */
/* Makes cluster m->next_cluster and puts it among the resident ones; none of its CTAs has started. */
SimCluster *sim_cluster_make(SimMachine *m);
/* Bytes that a cluster takes, without the watch's. */
uint64_t sim_cluster_bytes(const SimMachine *m);
/* Frees resident cluster i; its CTAs are kept to be used again until sim_spare_free. */
void sim_cluster_free(SimMachine *m, uint32_t i);
void sim_spare_free(SimMachine *m);
/* Its threads become ready. */
void sim_cta_start(SimMachine *m, SimCta *cta);
/* Coordinates of a CTA of the grid by its cluster's number and its rank. */
void sim_cta_id(const SimLaunch *l, uint32_t cluster, uint32_t rank, uint32_t id[3]);

/* ---- exec/exec.c ---- */
typedef enum ExecResult { EXEC_BUDGET, EXEC_BLOCKED, EXEC_EXITED, EXEC_FAILED } ExecResult;
ExecResult sim_exec(SimMachine *m, SimThread *t, uint32_t budget);
void sim_exec_begin(SimMachine *m); /* before the first one */
/* exec/forms.c: one instruction of instructions.def. EXEC_BUDGET: done, go on behind it. EXEC_BLOCKED: the thread
 * was blocked, and the pc says whether the instruction is executed again when it wakes. */
ExecResult sim_exec_form(SimMachine *m, SimThread *t, const FormOp *f);

/* ---- exec/access.c: addresses to bytes ---- */
typedef enum AccessKind {
    ACCESS_WEAK,
    ACCESS_VOLATILE,
    ACCESS_RELAXED,
    ACCESS_ACQUIRE,
    ACCESS_RELEASE,
    ACCESS_ACQ_REL
} AccessKind;
typedef struct SimLoc { /* where an address leads */
    PtxSpace space;     /* SHARED, GLOBAL, PARAM, LOCAL, CONST */
    SimCta *cta;        /* SHARED: whose */
    SimBlock *block;    /* GLOBAL */
    uint64_t offset;    /* byte in the CTA's smem (from its first byte), in the block, .. */
    uint8_t *data;
} SimLoc;
/* Bounds, alignment, live CTAs and windows are checked here; false: a finding was filed. space PTX_SPACE_REG: generic
 * address. `what`: "ld", "st", "atom", "mbarrier", .. for messages. */
bool sim_locate(SimMachine *m, SimThread *t, PtxSpace space, uint64_t address, uint64_t bytes, uint32_t align,
                bool write, const char *what, SimLoc *out);
/* As the former for a shared address of the form rank << 24 | byte; own window if `cta_only`. */
bool sim_locate_shared(SimMachine *m, SimThread *t, uint64_t address, uint64_t bytes, uint32_t align, bool cta_only,
                       const char *what, SimLoc *out);

/* ---- exec/collective.c ---- */
/* Rendezvous of the lanes in `mask`; when the last one comes it performs `op` for all and wakes them behind it. */
ExecResult sim_collective(SimMachine *m, SimThread *t, uint32_t mask);
/* All other live lanes of t's warp wait at t's instruction. */
bool sim_collective_last(const SimMachine *m, SimThread *t);
/* Re-examines a warp's waiting lanes after one of them exited. */
void sim_collective_exit(SimMachine *m, SimThread *t);
/* exec/matrix.c: ldmatrix and stmatrix of all 32 lanes of a warp. False: a finding was filed. */
bool sim_is_matrix(InstrForm f);
bool sim_matrices(SimMachine *m, SimThread *const *lane, const FormOp *f);

/* ---- exec/sync.c ---- */
ExecResult sim_named_barrier(SimMachine *m, SimThread *t, uint32_t id, uint32_t threads, bool wait);
/* aligned: by all lanes of the warp at one place. */
ExecResult sim_cluster_arrive(SimMachine *m, SimThread *t, bool relaxed, bool aligned);
ExecResult sim_cluster_wait(SimMachine *m, SimThread *t, bool aligned);
/* A thread has exited: may end barriers that count live threads (cluster barrier: exited threads count as arrived). */
void sim_sync_exit(SimMachine *m, SimThread *t);

/* ---- exec/barrier.c: mbarriers ---- */
SimBarrier *mbar_find(SimCta *cta, uint32_t offset); /* NULL: none was ever made there */
bool mbar_init(SimMachine *m, SimThread *t, const SimLoc *at, uint32_t count);
bool mbar_inval(SimMachine *m, SimThread *t, const SimLoc *at);
/* Adds `bytes` to what the current phase expects, then makes `arrivals` arrivals (0: expect_tx alone). `state`: where
 * the phase before goes (may be NULL). noComplete arrivals are not distinguished. */
bool mbar_arrive(SimMachine *m, SimThread *t, const SimLoc *at, uint32_t arrivals, uint64_t bytes, bool expect,
                 bool relaxed, bool cluster_scope, bool drop, uint64_t *state);
/* complete_tx by a thread (t) or by a copy (who; t NULL). */
bool mbar_complete(SimMachine *m, SimThread *t, const SimWho *who, SimCta *cta, uint32_t offset, uint64_t bytes);
/* Has the phase with this parity completed (try_wait.parity: the phase that precedes the current one has it)? */
typedef enum MbarTest { MBAR_NO, MBAR_YES, MBAR_FAILED } MbarTest;
MbarTest mbar_test_parity(SimMachine *m, SimThread *t, const SimLoc *at, uint32_t parity, bool relaxed,
                          bool cluster_scope, SimBarrier **b);
MbarTest mbar_test_state(SimMachine *m, SimThread *t, const SimLoc *at, uint64_t state, bool relaxed,
                         bool cluster_scope, SimBarrier **b);
/* mbarrier.pending_count: what a state of mbar_arrive says of its barrier before that arrival. */
uint32_t mbar_state_pending(uint64_t state);
/* The arrival of tcgen05.commit when what it tracks is over. agent, number: the commit, for the watch. */
bool mbar_arrive_async(SimMachine *m, const SimWho *who, SimCta *cta, uint32_t offset, uint32_t agent, uint32_t number);
/* When all of a CTA's threads have exited. */
bool mbar_cta_exit(SimMachine *m, SimCta *cta);
/* "for phase 0 (parity 0) of the barrier at smem+32768 (init x.tile:5:3), which needs 1 of 1 arrivals" */
void mbar_describe_wait(SimMachine *m, const SimCta *cta, const SimBarrier *b, uint64_t phase, Text *out);
/* "\n    phase 0 ended with 0 bytes expected: CTA ..": the last one that is over, if any is. */
void mbar_describe_end(SimMachine *m, const SimBarrier *b, Text *out);
/* Files E1307: there is none. use: " .." behind the address, or "". */
bool mbar_missing(SimMachine *m, const SimWho *who, SimCta *cta, uint32_t offset, const char *use);

/* ---- idle.c: loops ---- */
typedef struct SimLoop { /* ops from the target of a branch back to that branch */
    uint32_t first, last;
} SimLoop;
/* Notes where a turn of t has ended, and whether it has been in this very state before. */
void sim_idle_turn(SimMachine *m, SimThread *t);
/* No thread can get on: those that run, or poll, come back to where they were and nothing changes. */
bool sim_idle_for_ever(const SimMachine *m);
/* The innermost loop that t has not left for a while. still: nothing that it does there changes anything. */
bool sim_loop_of(const SimMachine *m, const SimThread *t, SimLoop *out, bool *still);

/* ---- deadlock.c ---- */
/* Nothing can run, or nothing that does changes anything: files E1301 with who waits for what. */
void sim_deadlock(SimMachine *m);
/* The waits of all threads, grouped, a line each ("\n    32 threads of CTA .."), at most `lines` of them. */
void sim_waits(SimMachine *m, uint32_t lines, Text *out);

#endif
