/* Cycles that only a longer loop would close. In the longest run, events of a loop's turns are folded to one node for each
 * thread and op; an edge a -> b whose ends are turns i and j has weight j - i: b of turn k + (j - i) comes after a of turn
 * k, for every k. A cycle of weight 0 or less would be an event that waits for itself. Edges are the order of a thread's
 * ops and phases (from what counts on them to the waits); a barrier of a role's threads is one node. Edges that link different loops, or different
 * passes of one, lead forward and are left out. Test for a cycle of sum <= 0 over n nodes: weights t * (n + 1) - 1 have
 * a negative cycle (Bellman-Ford).
 */
#include "lower/verify/graph/judge/judge.h"
#include "lower/verify/graph/unroll/unroll.h"

typedef struct Edge {
    uint32_t from, to;
    uint32_t next; /* from the same node, + 1 */
    int64_t turns;
} Edge;
typedef struct Folded {
    VEC(EventId) nodes; /* any event of each */
    VEC(uint32_t) first; /* by node: the last edge from it, + 1 */
    uint32_t *node;     /* by thread and op, + 1; 0: none */
    uint32_t *of;       /* by event: its node; none where it is in no loop */
    VEC(Edge) edges;
} Folded;

static uint32_t node_of(Verifier *v, Folded *f, EventId e)
{
    const Event *x = &v->events.v[e - 1];
    uint32_t thread = x->thread;
    if (x->op < v->nops && ir_op_info(v->ops[x->op]->op)->group == IRG_SYNC) thread -= v->threads.v[thread].rep;
    uint32_t *n = &f->node[(size_t)thread * (v->nops + 1) + x->op];
    if (*n == 0) {
        vec_push(&v->run, &f->nodes, e);
        vec_push(&v->run, &f->first, 0);
        *n = f->nodes.n;
    }
    return *n - 1;
}

static void add_edge(Verifier *v, Folded *f, EventId a, EventId b)
{
    const Event *x = &v->events.v[a - 1], *y = &v->events.v[b - 1];
    if (x->level == 0 || x->level != y->level || x->pass != y->pass) return;
    if (x->thread == y->thread && x->loop != y->loop) return;
    if (x->op == y->op && x->turn == y->turn) return; /* before and after a barrier of threads: one node */
    Edge e = {.from = f->of[a - 1], .to = f->of[b - 1], .turns = (int64_t)y->turn - x->turn};
    for (uint32_t i = f->first.v[e.from]; i; i = f->edges.v[i - 1].next) {
        Edge *o = &f->edges.v[i - 1];
        if (o->to != e.to) continue;
        if (e.turns < o->turns) o->turns = e.turns;
        return;
    }
    e.next = f->first.v[e.from];
    vec_push(&v->run, &f->edges, e);
    f->first.v[e.from] = f->edges.n;
}

static void fold(Verifier *v, Folded *f)
{
    EventId *last = arena_array(&v->run, EventId, v->threads.n);
    f->of = arena_array(&v->run, uint32_t, v->events.n);
    for (EventId e = 1; e <= v->events.n; e++)
        if (v->events.v[e - 1].level) f->of[e - 1] = node_of(v, f, e);
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

/* Two of its loops don't turn one for one: they may well end, but edges between their turns have no weight that stays. */
static bool several_for_one(Verifier *v, const Folded *f, const uint32_t *before, uint32_t first)
{
    uint32_t at = first, one = v->events.v[f->nodes.v[first] - 1].loop;
    do {
        uint32_t other = v->events.v[f->nodes.v[at] - 1].loop;
        if (v->turns[other].now != v->turns[one].now) {
            if (v->turns[other].now < v->turns[one].now) {
                uint32_t more = one;
                one = other;
                other = more;
            }
            Diag *g = verify_refuse(v, E0660, one, "a turn of this loop does what several turns of another role's loop do: longer loops are followed turn by turn");
            verify_also(v, g, other, "the other one");
            if (g) diag_fix(v->diags, g, "let both loops do in a turn as many phases of each barrier");
            return true;
        }
        at = f->edges.v[before[at] - 1].from;
    } while (at != first);
    return false;
}

static void report(Verifier *v, const Folded *f, const uint32_t *before, uint32_t at)
{
    for (uint32_t i = 0; i < f->nodes.n; i++) at = f->edges.v[before[at] - 1].from; /* now on the cycle */
    uint32_t first = at;
    if (several_for_one(v, f, before, first)) return;
    Diag *g = verify_refuse(v, E0603, v->events.v[f->nodes.v[at] - 1].op,
                            "with more turns this would wait for itself: the kernel would hang");
    for (uint32_t i = 0; i < f->nodes.n; i++) {
        at = f->edges.v[before[at] - 1].from;
        if (at == first) break;
        verify_also(v, g, v->events.v[f->nodes.v[at] - 1].op, "comes before it on the cycle");
    }
}

void check_cycles(Verifier *v)
{
    if (v->own.n == 0) return; /* no loop is longer than in this run */
    Folded f = {.node = arena_alloc(&v->run, (size_t)v->threads.n * (v->nops + 1) * sizeof *f.node)};
    fold(v, &f);
    uint32_t n = f.nodes.n, *before = arena_array(&v->run, uint32_t, n), changed = UINT32_MAX;
    int64_t *d = arena_array(&v->run, int64_t, n);
    for (uint32_t round = 0; round <= n; round++) {
        changed = UINT32_MAX;
        verify_spend(v, f.edges.n / 16);
        if (v->failed) return;
        for (uint32_t node = 0; node < n; node++) { /* as they come in the run: what leads on takes one round */
            for (uint32_t i = f.first.v[node]; i; i = f.edges.v[i - 1].next) {
                const Edge *e = &f.edges.v[i - 1];
                int64_t far = d[node] + e->turns * ((int64_t)n + 1) - 1;
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
