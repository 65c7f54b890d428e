/* What the watch's files share: its records of threads, barriers, CTAs and clusters. */
#ifndef SIM_WATCH_INTERNAL_H
#define SIM_WATCH_INTERNAL_H

#include "runtime/sim/watch/clock.h"
#include "runtime/sim/watch/shadow.h"
#include "runtime/sim/watch/watch.h"

/* Whom an operation's scope includes: the device is all that there is. */
typedef enum Reach { REACH_CTA, REACH_CLUSTER, REACH_ALL, REACH_COUNT } Reach;
static inline Reach reach_of(uint32_t scope)
{
    return scope < REACH_ALL ? (Reach)scope : REACH_ALL;
}

struct Gather;
/* An address that atomics synchronise through; or what was released there for the threads of one CTA or one cluster
 * alone, by themselves. */
typedef struct Location {
    const void *owner; /* SimCta or SimBlock; NULL: a free slot */
    uint64_t offset;
    uint32_t part;   /* PART_ALL, PART_CLUSTER, or the rank of a CTA */
    uint32_t stores; /* ALL: plain stores, each of which ends what was released before; else: the last one then */
    uint32_t cluster, agent; /* ALL: whose store was the last one, if nobody else has changed it since */
    Foreign *released;       /* what an acquire there learns */
    bool narrow;             /* not ALL: has what is not in that of ALL */
    Foreign *fenced;         /* ALL: what was known at fence.sc of those CTAs whose values a read sees */
    struct Gather *executed; /* CLUSTER: E and M of those whose values a read sees */
} Location;
#define PART_ALL UINT32_MAX
#define PART_CLUSTER (UINT32_MAX - 1)
typedef struct Locations { /* open addressing */
    Location *v;
    uint32_t n, cap;
} Locations;

typedef struct Watch {
    Mem *mem;
    ClockPool clocks;
    ShadowPool shadows;
    Locations global; /* PART_ALL */
    Foreign *coarse;  /* all that was released at locations since memory became short */
    struct MapWatch *maps; /* NULL until a thread releases one */
} Watch;

typedef enum AgentKind {
    AGENT_LAUNCHES, /* those before this one: at time 1 they are over. The first agent of each cluster */
    AGENT_THREAD,
    AGENT_MBAR,
    AGENT_READS,
    AGENT_ALL,
    AGENT_TENSOR_LOADS,
    AGENT_TENSOR_STORES,
    AGENT_TENSOR_COMMITS
} AgentKind;
typedef struct Agent { /* what a number of a clock stands for */
    AgentKind kind;
    uint16_t rank;
    uint32_t thread; /* also of bulk groups */
    uint32_t offset; /* MBAR: byte from the first of the CTA's memory */
    uint32_t shift;  /* MBAR: time of the phase that messages call 0 */
} Agent;

/* Knowledge that is gathered from many before it is handed on. */
typedef struct Gather {
    Clock *k[KNOW_COUNT];
    Clock *last[KNOW_COUNT]; /* the clock that was taken in last: often the next one too */
    Foreign *foreign;
} Gather;
enum {
    MASK_EXEC = 1 << KNOW_E | 1 << KNOW_M | 1 << KNOW_B,
    MASK_ALL = (1 << KNOW_COUNT) - 1,
    MASK_ORDER = MASK_ALL & ~MASK_EXEC
};

typedef struct Meeting { /* a barrier of threads: those of one round may still leave when the next has begun */
    Gather in;
    Gather exited; /* cluster barrier: exited threads count as arrived */
    Clock *k[KNOW_COUNT];
    Foreign *foreign;
    uint32_t round;
    bool left; /* since the last round was forgotten */
} Meeting;

typedef struct ClusterWatch {
    SimCluster *cluster;
    Agent *agent;
    uint32_t nagents, capagents;
    Locations shared; /* PART_ALL of its memory */
    Locations parts;  /* what its own threads have released, of all memory */
    Meeting barrier;
    struct MapAcquire *acquire; /* of tensor maps that were written in this launch */
    uint32_t nacquire, capacquire;
} ClusterWatch;

typedef struct Pending { /* the last access to a CTA's memory that ends when an agent is at `time`; time 0: none */
    uint32_t time;
    uint32_t seen_of, seen; /* or when that agent, an mbarrier, is known by E to be at `seen`; 0: in no other way */
    SimWho who;
} Pending;
typedef enum End { END_ORDER, END_EXEC, END_COUNT } End; /* over by C, by E */
typedef struct Ending {                                  /* what must be over when a CTA has exited */
    Clock *exited;                                       /* knowledge of its exited threads */
    Clock *last;                                         /* as in Gather */
    Pending *pending;                                    /* by agent */
    uint32_t npending;
} Ending;
typedef struct CtaWatch {
    Shadow *shadow;
    Shadow *tensor; /* of its tensor memory, lane by lane; NULL: not used so far */
    Ending end[END_COUNT];
    uint32_t first_agent; /* of its threads */
    Meeting named[16];
    /* What was known at fence.sc of its threads, and of those before that strong reads of its threads have met. */
    Foreign *fenced, *fences_met, *last_met;
} CtaWatch;

typedef struct MbarWatch {
    uint32_t agent;
    uint32_t done; /* the agent's time: phases completed in all its lives */
    uint32_t init_agent, init_time;
    SimWho init;
    /* Of the phases so far: arrivals of threads of its CTA, of others at cluster scope. E and M are all in `local`. */
    Gather local, remote;
    SimWho far; /* of this phase: the last arrival of another CTA that releases at cluster scope, if has_far */
    bool has_far;
    struct {
        Clock *local[KNOW_COUNT], *remote[KNOW_COUNT];
        Foreign *local_foreign, *remote_foreign;
        SimWho far;
        bool has_far;
    } seen[2]; /* [0]: when the last phase completed, [1]: the one before */
} MbarWatch;

enum { THREAD_RECORDS = 8 };
typedef struct ThreadRecord { /* the record of an instruction, while it can serve for more */
    uint32_t record, pc, time, sweeps;
    uint16_t flags;
    ShadowMemo memo;
} ThreadRecord;

enum { LAST_WAITS = 8 };
typedef struct LastWait { /* of a thread on an mbarrier, for messages */
    uint32_t agent;       /* NO_AGENT: none */
    uint32_t shift;       /* of the agent then */
    uint32_t pc, seen;    /* phases that were complete when one returned true */
    int8_t parity;        /* -1: by a state */
    bool over;            /* it has returned true */
    bool late;            /* after polls that failed */
} LastWait;

typedef struct Snapshot { /* what a thread knew at a fence, own[] included */
    bool taken;
    uint32_t own[KNOW_COUNT];
    Clock *k[KNOW_COUNT];
    Foreign *foreign;
    Foreign *set;    /* all of it, made when first needed */
    uint32_t serial; /* snapshots of one fence are alike */
} Snapshot;
enum { TAKEN_SETS = 2 };

typedef enum TensorAgent { TENSOR_LOADS, TENSOR_STORES, TENSOR_COMMITS, TENSOR_AGENTS } TensorAgent;
typedef struct TensorTime { /* of a thread: waits for loads, for stores, commits */
    uint32_t agent;         /* NO_AGENT: none yet */
    uint32_t time;
} TensorTime;

typedef struct ThreadWatch {
    uint32_t agent, cluster;
    uint32_t reads_agent, all_agent; /* NO_AGENT: none yet */
    /* Knowledge: the clock, and of itself what stands in own[]. C, E: its time; P: the time that a proxy fence has
     * passed on; M: up to which its inits are visible. */
    uint32_t own[KNOW_COUNT];
    Clock *k[KNOW_COUNT];
    Foreign *foreign;
    uint64_t started;            /* CTAs known to run, by rank */
    Snapshot fence[REACH_COUNT]; /* at the last fence that reaches so far */
    /* What relaxed reads have met since the last fence: released for the own CTA, for the cluster, for all. */
    Foreign *heard[REACH_COUNT];
    Foreign *last_heard[REACH_COUNT]; /* the set that came last */
    Foreign *taken[TAKEN_SETS];       /* sets that were taken last: polls meet one again and again */
    uint32_t next_taken, fences;
    uint64_t group; /* of its last copy with one; 0: none */
    SimWho group_who;
    uint32_t cluster_round, named_round[16];
    ThreadRecord record[THREAD_RECORDS];
    LastWait last_wait[LAST_WAITS]; /* by agent; of several the last one */
    TensorTime tensor_time[TENSOR_AGENTS];
    Clock *tensor; /* tmem.h */
} ThreadWatch;

enum { LAUNCHES = 0 }; /* the number of that agent */

/* ---- watch.c ---- */
static inline Watch *watch_of(SimMachine *m)
{
    return m->watch;
}
uint32_t agent_new(Watch *w, ClusterWatch *c, Agent a);
/* The time up to which t knows an agent. */
uint32_t know_time(const ThreadWatch *t, KnowKind k, uint32_t cluster, uint32_t agent);
/* The CTA is t's own or known to run; else E1310. */
bool check_started(SimMachine *m, SimThread *t, SimCta *cta, const SimWho *who, const char *what);
void pending_note(Watch *w, SimCta *cta, End end, uint32_t agent, Pending p);

typedef enum Fault { FAULT_NONE, FAULT_UNWRITTEN, FAULT_MBAR, FAULT_ORDER, FAULT_PROXY, FAULT_CONST } Fault;
typedef struct Access { /* one that is being checked */
    SimMachine *m;
    Watch *w;
    ThreadWatch *t;
    ClusterWatch *cluster;
    SimCta *cta;     /* whose shared memory; NULL: global */
    SimBlock *block; /* global */
    SimWho who;
    uint32_t record;
    uint16_t flags;
    bool wants_data; /* reads: the bytes must have been written */
    bool of_mbar;    /* by mbarrier.init or inval: live barriers do not count */
    /* result */
    Fault fault;
    uint32_t other;
} Access;
/* Finds the shadow and checks and marks the bytes; false: the finding was filed. */
bool access_run(Access *a, const SimLoc *at, uint32_t bytes, ShadowMemo *memo);
Access access_of(SimMachine *m, SimThread *t, const SimLoc *at);
bool record_over(const ShadowPool *p, const ThreadWatch *t, KnowKind k, const Record *r);

/* ---- sync.c ---- */
void tick(ThreadWatch *t); /* later accesses are not covered by what was handed on before */
void gather_add(Watch *w, Gather *g, const ThreadWatch *t, unsigned mask);
void gather_clear(Watch *w, Gather *g);
void meeting_clear(Watch *w, Meeting *r);
void meeting_exit(Watch *w, ThreadWatch *t, Meeting *r);
void mbar_clear(Watch *w, MbarWatch *b);
void thread_clear(Watch *w, ThreadWatch *t);
void clocks_drop(Watch *w, Clock **k); /* all kinds; they become NULL */
/* t learns the clocks k of its cluster and the set f. */
void knowledge_take(Watch *w, ThreadWatch *t, Clock *const *k, Foreign *f, unsigned mask);

/* ---- copy.c ---- */
/* Its reads are over, too, when the agent is at that time. */
void watch_copy_until(WatchCopy *c, uint32_t agent, uint32_t time);
/* ---- map.c ---- */
void map_watch_free(Watch *w);
void map_watch_clear(Watch *w, ClusterWatch *c); /* the cluster is over */

/* ---- atomic.c ---- */
void locations_free(Watch *w, Locations *l);
/* A relaxed read has met this; a fence makes it known. */
void hear(Watch *w, ThreadWatch *t, Reach r, Foreign *set);

/* ---- findings.c ---- */
bool report_access(const Access *a, const Shadow *s, uint64_t failed, uint64_t end);
/* t acquires at .cta scope what `far`, a thread of another CTA, has released. */
bool report_scope(SimMachine *m, SimThread *t, const SimCta *cta, const SimBarrier *b, const SimWho *far);
bool report_init(SimMachine *m, SimThread *t, const SimCta *cta, const SimBarrier *b, bool copy);
bool report_exit(SimMachine *m, SimCta *cta, End end, uint32_t agent);

#endif
