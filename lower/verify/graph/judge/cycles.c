/* Cycles that only a longer loop would close. In the longest run, events of a loop's turns are folded to one node for each
 * thread and op. Roles go on together, but one loop may turn several times for one turn of another: where an edge a -> b is seen first from turn i
 * to turn j, and last from i + m to j + n, m turns of the one go with n of the other, and a turn of each loop takes so much time, its rate, that both take as
 * long. The edge has weight t, the time from its turn to that of b: in longer loops it is met at any time, t later. A cycle of weight 0 or
 * less would be an event that waits for itself. Edges are the order of a thread's
 * ops and phases (from what counts on them to the waits); a barrier of a role's threads is one node. Edges that link different loops, or different
 * passes of one, lead forward and are left out. Test for a cycle of sum <= 0 over n nodes: weights t * (n + 1) - 1 have
 * a negative cycle (Bellman-Ford).
 */
#include "lower/verify/graph/judge/judge.h"
#include "lower/verify/graph/unroll/unroll.h"

enum { RATE = 27720 }; /* all numbers up to 12 divide it */

typedef struct Edge {
    uint32_t from, to;
    uint32_t next; /* from the same node, + 1 */
    int64_t time;  /* the least */
    uint32_t first[2], last[2]; /* turns of its ends */
} Edge;
typedef struct Node {
    EventId event;         /* any of them */
    uint32_t loop, within; /* its turns that one turn of the loop passes are told apart */
    uint32_t before;       /* of the same thread and op, + 1 */
    uint32_t edge;         /* the last one from it, + 1 */
} Node;
typedef struct Folded {
    VEC(Node) nodes;
    uint32_t *node;     /* by thread and op: the last one, + 1; 0: none */
    uint32_t *of;       /* by event: its node; none where it is in no loop */
    VEC(Edge) edges;
} Folded;

static uint32_t node_of(Verifier *v, Folded *f, EventId e)
{
    const Event *x = &v->events.v[e - 1];
    uint32_t thread = x->thread, last;
    if (x->op < v->nops && ir_op_info(v->ops[x->op]->op)->group == IRG_SYNC) thread -= v->threads.v[thread].rep;
    uint32_t *n = &f->node[(size_t)thread * (v->nops + 1) + x->op];
    for (last = *n; last; last = f->nodes.v[last - 1].before)
        if (f->nodes.v[last - 1].within == x->within) return last - 1;
    vec_push(&v->run, &f->nodes, ((Node){.event = e, .loop = x->open.loop, .within = x->within, .before = *n}));
    *n = f->nodes.n;
    return *n - 1;
}

static Edge *edge_of(Verifier *v, Folded *f, uint32_t from, uint32_t to)
{
    for (uint32_t i = f->nodes.v[from].edge; i; i = f->edges.v[i - 1].next)
        if (f->edges.v[i - 1].to == to) return &f->edges.v[i - 1];
    vec_push(&v->run, &f->edges, ((Edge){.from = from, .to = to, .next = f->nodes.v[from].edge, .time = INT64_MAX}));
    f->nodes.v[from].edge = f->edges.n;
    return &f->edges.v[f->edges.n - 1];
}

static void add_edge(Verifier *v, Folded *f, EventId a, EventId b)
{
    const InLoop *x = &v->events.v[a - 1].open, *y = &v->events.v[b - 1].open;
    if (x->level == 0 || x->level != y->level || x->pass != y->pass) return;
    if (v->events.v[a - 1].thread == v->events.v[b - 1].thread && x->loop != y->loop) return;
    if (f->of[a - 1] == f->of[b - 1] && x->turn == y->turn) return; /* before and after a barrier of threads: one node */
    int64_t time = y->turn * v->rate[y->loop] - x->turn * v->rate[x->loop];
    Edge *o = edge_of(v, f, f->of[a - 1], f->of[b - 1]);
    if (o->time == INT64_MAX) o->first[0] = x->turn, o->first[1] = y->turn;
    if (o->time == INT64_MAX || x->turn + y->turn > o->last[0] + o->last[1]) o->last[0] = x->turn, o->last[1] = y->turn;
    if (time < o->time) o->time = time;
}

static void fold(Verifier *v, Folded *f)
{
    EventId *last = arena_array(&v->run, EventId, v->threads.n);
    f->node = arena_alloc(&v->run, (size_t)v->threads.n * (v->nops + 1) * sizeof *f->node);
    f->of = arena_array(&v->run, uint32_t, v->events.n);
    for (EventId e = 1; e <= v->events.n; e++)
        if (v->events.v[e - 1].open.level) f->of[e - 1] = node_of(v, f, e);
    for (EventId e = 1; e <= v->events.n; e++) {
        uint32_t t = v->events.v[e - 1].thread;
        if (last[t]) add_edge(v, f, last[t], e);
        last[t] = e;
    }
    for (uint32_t i = 0; i < v->phases.n; i++) {
        const Phase *p = v->phases.v[i];
        for (uint32_t w = 0; w < p->waits.n; w++)
            for (uint32_t j = 0; j < p->parts.n; j++)
                if (event_before(v, p->parts.v[j].event, p->waits.v[w]))
                    add_edge(v, f, p->parts.v[j].event, p->waits.v[w]);
    }
}

/* ---- rates ---- */

/* How long a turn of the loop at its end `to` takes where one at the other end takes so long; 0: that is not known. */
static int64_t rate_by(const Edge *e, int to, int64_t rate)
{
    int64_t from = (int64_t)e->last[!to] - e->first[!to], turns = (int64_t)e->last[to] - e->first[to];
    return from > 0 && turns > 0 && rate * from % turns == 0 ? rate * from / turns : 0;
}

typedef struct Linked { /* loops of which edges may tell the rate of one by that of the other */
    uint32_t *parent, *first, *next; /* by loop; of those that hang together, by the one that stands for them: its edges in order, from 1 */
} Linked;

/* Of what hangs together one stands for all. */
static uint32_t root(uint32_t *parent, uint32_t x)
{
    while (parent[x] != x) x = parent[x] = parent[parent[x]];
    return x;
}

static Linked link_loops(Verifier *v, const Folded *f)
{
    uint32_t n = v->nops + 1;
    Linked l = {arena_array(&v->run, uint32_t, n), arena_array(&v->run, uint32_t, n), arena_array(&v->run, uint32_t, f->edges.n)};
    for (uint32_t i = 0; i < n; i++) l.parent[i] = i;
    for (int listing = 0; listing < 2; listing++) {
        for (uint32_t k = f->edges.n; k > 0; k--) {
            const Edge *e = &f->edges.v[k - 1];
            uint32_t from = f->nodes.v[e->from].loop, to = root(l.parent, f->nodes.v[e->to].loop);
            if (from == f->nodes.v[e->to].loop || e->last[0] == e->first[0] || e->last[1] == e->first[1]) continue;
            if (listing) l.next[k - 1] = l.first[to], l.first[to] = k;
            else l.parent[root(l.parent, from)] = to;
        }
    }
    return l;
}

/* From loop to loop; where nothing leads on, the next one's turns take as long as those of the first. */
static void rates_of(Verifier *v, const Folded *f)
{
    Linked l = link_loops(v, f);
    for (uint32_t i = 0; i < f->nodes.n; i++) v->rate[f->nodes.v[i].loop] = 0;
    for (uint32_t i = 0; i < f->nodes.n; i++) {
        int64_t *rate = &v->rate[f->nodes.v[i].loop];
        bool more = *rate == 0;
        if (more) *rate = RATE;
        while (more) {
            more = false;
            for (uint32_t k = l.first[root(l.parent, f->nodes.v[i].loop)]; k; k = l.next[k - 1]) {
                const Edge *e = &f->edges.v[k - 1];
                int64_t *ends[] = {&v->rate[f->nodes.v[e->from].loop], &v->rate[f->nodes.v[e->to].loop]};
                int to = *ends[0] != 0;
                if (*ends[to] || *ends[!to] == 0) continue;
                *ends[to] = rate_by(e, to, *ends[!to]);
                more |= *ends[to] != 0;
            }
        }
    }
}

void find_rates(Verifier *v)
{
    Folded f = {0};
    if (v->own.n == 0) return;
    fold(v, &f);
    rates_of(v, &f);
}

static void report(Verifier *v, const Folded *f, const uint32_t *before, uint32_t at)
{
    for (uint32_t i = 0; i < f->nodes.n; i++) at = f->edges.v[before[at] - 1].from; /* now on the cycle */
    uint32_t first = at;
    Diag *g = verify_refuse(v, E0603, v->events.v[f->nodes.v[at].event - 1].op,
                            "with more turns this may wait for itself: the kernel would hang");
    for (uint32_t i = 0; i < f->nodes.n; i++) {
        at = f->edges.v[before[at] - 1].from;
        if (at == first) break;
        verify_also(v, g, v->events.v[f->nodes.v[at].event - 1].op, "comes before it on the cycle");
    }
}

void check_cycles(Verifier *v)
{
    if (v->own.n == 0) return; /* no loop is longer than in this run */
    Folded f = {0};
    fold(v, &f);
    uint32_t n = f.nodes.n, *before = arena_array(&v->run, uint32_t, n), changed = UINT32_MAX;
    int64_t *d = arena_array(&v->run, int64_t, n);
    for (uint32_t round = 0; round <= n; round++) {
        changed = UINT32_MAX;
        verify_spend(v, f.edges.n / 16);
        if (v->failed) return;
        for (uint32_t node = 0; node < n; node++) { /* as they come in the run: what leads on takes one round */
            for (uint32_t i = f.nodes.v[node].edge; i; i = f.edges.v[i - 1].next) {
                const Edge *e = &f.edges.v[i - 1];
                int64_t far = d[node] + e->time * ((int64_t)n + 1) - 1;
                if (far >= d[e->to]) continue;
                d[e->to] = far;
                before[e->to] = i;
                changed = e->to;
            }
        }
        if (changed == UINT32_MAX) return;
    }
    report(v, &f, before, changed);
}
