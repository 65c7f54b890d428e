/* A state that is an earlier one, moved on: each atom by a number, so that all that was known there is known here, and what the code can
 * still ask comes to the same (moves.c). Then what follows there follows here, in each launch, by induction on rounds. */
#include "tests/states/moves.h"

/* ---- by how much atoms move ---- */

typedef struct Equation { /* sum of c * v = k */
    const NumData *terms;
    int64_t k;
} Equation;

/* From what is known of the same sums there and here, and has changed. Where one equation says how two atoms move together, it is one of
 * them that does: which, is tried (way). */
static void find_moves(Checker *c, const Facts *here, const Facts *there, int64_t *v, uint32_t natoms, int way)
{
    Equation *e = arena_array(&c->st->arena, Equation, here->n + 1);
    bool *solved = arena_array(&c->st->arena, bool, natoms);
    uint32_t n = 0;
    for (uint32_t i = 0; i < here->n; i++)
        for (uint32_t j = 0; j < there->n; j++) {
            const NumData *f = num_data(&c->n, here->v[i]), *g = num_data(&c->n, there->v[j]);
            if ((f->k != g->k || f->n > 1) && num_same_terms(f, g)) e[n++] = (Equation){f, g->k - f->k};
        }
    for (uint32_t most = 1; most <= 4; most++)
        for (uint32_t i = 0; i < n; i++) {
            const NumData *t = e[i].terms;
            uint32_t open[4], u = 0;
            int64_t k = e[i].k;
            for (uint32_t j = 0; j < t->n; j++) {
                k -= t->t[j].c * v[t->t[j].atom];
                if (!solved[t->t[j].atom] && u++ < 4) open[u - 1] = j;
            }
            if (u == 0 || u > most || (u > 1 && k == 0)) continue;
            const NumTerm *x = &t->t[open[way & 1 ? 0 : u - 1]];
            for (uint32_t j = 0; j < u; j++) solved[t->t[open[j]].atom] = true;
            if (k % x->c == 0) v[x->atom] = k / x->c;
            most = 1; /* what is open in the others has become less */
            i = UINT32_MAX;
        }
}

/* x, of the atoms there, by those here. */
static Num moved(Checker *c, Num x, const int64_t *v)
{
    int64_t k = 0;
    const NumData *d = num_data(&c->n, x);
    for (uint32_t i = 0; i < d->n; i++) k += d->t[i].c * v[d->t[i].atom];
    return k == 0 ? x : num_plus(&c->n, x, -k);
}

static bool covers(Checker *c, const Sig *sig, const Node *there, const int64_t *v, Cover *cover)
{
    State *s = c->st;
    Delta *d = arena_array(&s->arena, Delta, sig->cells.n + 1);
    for (uint32_t i = 0; i < there->facts.n; i++)
        if (!facts_imply(&c->n, &s->facts, moved(c, there->facts.v[i], v))) {
            c->why = "what is known";
            return false;
        }
    for (uint32_t i = 0; i < sig->cells.n; i++) {
        const NumData *x = num_data(&c->n, sig->cells.v[i]), *y = num_data(&c->n, there->cells[i]);
        d[i] = x->k - y->k;
        for (uint32_t j = 0; j < x->n; j++) d[i] += x->t[j].c * v[x->t[j].atom];
    }
    return moves_fit(c, cover, d);
}

static void reached(const Checker *c, uint32_t from, bool *seen, uint32_t *stack)
{
    uint32_t n = 0;
    memset(seen, 0, c->nodes.n * sizeof *seen);
    stack[n++] = from;
    seen[from] = true;
    while (n > 0) {
        const Node *x = &c->nodes.v[stack[--n]];
        for (uint32_t i = 0; i < x->next.n; i++)
            if (!seen[x->next.v[i]]) {
                seen[x->next.v[i]] = true;
                stack[n++] = x->next.v[i];
            }
    }
}

/* As far as it has been gone on from. */
static bool holds(Checker *c, Arena *a, const Cover *x)
{
    if (x->sites.n == 0) return true;
    bool *seen = arena_array(a, bool, c->nodes.n + 1);
    reached(c, x->by, seen, arena_array(a, uint32_t, c->nodes.n + 1));
    for (uint32_t j = 0; j < c->nodes.n; j++)
        for (uint32_t k = 0; k < x->sites.n && seen[j]; k++)
            if (c->nodes.v[j].outs[x->sites.v[k].site] & ~x->sites.v[k].side) {
                c->why = c->trace ? arena_printf(c->arena, "comparison %u, in state %u", x->sites.v[k].site, j) : "a comparison";
                return false;
            }
    return true;
}

static bool banned(const Checker *c, uint32_t node, uint32_t by)
{
    for (uint32_t i = 0; i < c->bans.n; i++)
        if (c->bans.v[i].node == node && c->bans.v[i].by == by) return true;
    return false;
}

static bool covered_by(Checker *c, uint32_t node, uint32_t by, const Sig *sig)
{
    const Node *there = &c->nodes.v[by];
    State *s = c->st;
    uint32_t natoms = c->natoms + s->fresh + 1;
    int64_t *v = arena_array(&s->arena, int64_t, natoms);
    if (sig->cells.n != there->ncells) return false;
    for (uint32_t i = 0; i < sig->cells.n; i++)
        if (!num_same_terms(num_data(&c->n, sig->cells.v[i]), num_data(&c->n, there->cells[i]))) return false;
    for (uint32_t i = 0; i < there->facts.n; i++) /* of atoms that nothing here has nothing is known here */
        for (uint32_t j = 0; j < num_data(&c->n, there->facts.v[i])->n; j++)
            if (num_data(&c->n, there->facts.v[i])->t[j].atom >= natoms) return false;
    for (int way = 0; way <= 2; way++) { /* last of all nothing moves */
        Cover cover = {.node = node, .by = by};
        if (way && c->trace) text_printf(c->trace, "    by way %d: %s\n", way - 1, c->why ? c->why : "");
        memset(v, 0, natoms * sizeof *v);
        if (way < 2) find_moves(c, &s->facts, &there->facts, v, natoms, way);
        if (covers(c, sig, there, v, &cover)) {
            if (!holds(c, &s->arena, &cover)) continue;
            vec_push(c->arena, &c->covers, cover);
            return true;
        }
    }
    return false;
}

enum { TRIED = 40, TRYING = 500 };

bool covered(Checker *c, uint32_t node)
{
    Sig sig = {.arena = &c->st->arena};
    uint32_t tried = 0;
    states_write(c, c->st, &sig);
    for (uint32_t by = c->nodes.v[node].same; by && tried < TRIED; by = c->nodes.v[by - 1].same, tried++) {
        c->why = "other numbers";
        c->n.work += TRYING;
        bool is = !banned(c, node, by - 1) && covered_by(c, node, by - 1, &sig);
        trace_cover(c, by - 1, is);
        if (!is) continue;
        vec_push(c->arena, &c->nodes.v[node].next, by - 1);
        return true;
    }
    return false;
}

/* ---- what was taken for granted ---- */

bool covers_hold(Checker *c)
{
    bool all = true;
    for (uint32_t i = 0; i < c->covers.n; i++) {
        const Cover *x = &c->covers.v[i];
        bool ok = holds(c, c->arena, x);
        for (uint32_t j = 0; j < x->classes.n; j++) ok &= !c->used[x->classes.v[j]];
        if (!ok) vec_push(c->arena, &c->bans, ((Ban){x->node, x->by}));
        all &= ok;
    }
    return all;
}
