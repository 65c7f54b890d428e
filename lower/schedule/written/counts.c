/* How many arrivals a phase of each barrier of the source has: those of one turn over the phases waited for in one.
 *
 * Notes are made where arrivals and waits are emitted. A role's arrivals of a turn are those in one block at one slot; the
 * block that has most stands for all (the verifier proves that the others agree). What stands in both branches of an `if`
 * counts once, and so does what two roles do in turns of their own. All of it is counted for each rank; the CTAs that wait for the barrier have to agree.
 */
#include "lower/algebra/scalars/scalars.h"
#include "lower/schedule/written/sync.h"

enum { CORRESPOND_FUEL = 512, EXCLUDE_PAIRS = 4096 };

/* ---- notes ---- */

static void weigh_ranks(Lower *L, Note *n, const Sx *peer)
{
    int target[RANKS_MAX];
    if (L->cluster_size == 1 && peer == NULL) {
        n->weight[0] = 1;
        return;
    }
    if (peer && !cluster_named(L, peer, n->span, false, target)) return;
    for (int r = 0; r < L->cluster_size; r++)
        if (!left_out_at(L, r)) n->weight[peer ? target[r] : r]++;
}

void counts_note(Lower *L, uint32_t bar, Opnd slot, bool wait, const Sx *peer)
{
    Sync *s = L->sync;
    Note n = {.bar = bar, .wait = wait, .role = s->role, .block = s->block, .span = L->stmt->span, .slot = slot, .around = s->around, .naround = s->many ? s->naround : 0};
    weigh_ranks(L, &n, peer);
    vec_push(L->a, &s->notes, n);
}

void counts_pair(Lower *L)
{
    Note *n = &L->sync->notes.v[L->sync->notes.n - 1];
    for (int r = 0; r < L->cluster_size; r += 2) n->weight[r + 1] = n->weight[r];
}

/* A further commit may happen where the first one does not: it counts at ranks where none before it did. */
void counts_commit(Lower *L, uint32_t bar, Opnd slot, bool first, const Sx *peer)
{
    Sync *s = L->sync;
    uint32_t at = s->notes.n;
    counts_note(L, bar, slot, false, peer);
    if (first) return;
    Note *n = &s->notes.v[at];
    uint32_t left = 0;
    for (uint32_t i = 0; i < at; i++) {
        const Note *x = &s->notes.v[i];
        if (x->bar != bar || x->wait || x->role != n->role || x->block != n->block || x->slot.v != slot.v ||
            x->slot.k != slot.k)
            continue;
        for (int r = 0; r < RANKS_MAX; r++)
            if (x->weight[r]) n->weight[r] = 0;
    }
    for (int r = 0; r < RANKS_MAX; r++) left += n->weight[r];
    if (left == 0) s->notes.n = at;
}

/* ---- a turn ---- */

/* Those of the note's barrier, side and role; turn: of its block and slot, too. In the order of the program. */
static Turn *notes_like(Lower *L, const Note *x, bool turn)
{
    Sync *s = L->sync;
    const int64_t key[6] = {x->bar, x->wait, x->role, turn ? (int64_t)x->block + 1 : 0, turn ? x->slot.v : 0, turn ? x->slot.k : 0};
    Name n = names_intern(s->turns, (const char *)key, sizeof key);
    while (s->turn_of.n < n) vec_push(L->a, &s->turn_of, (Turn){0});
    return &s->turn_of.v[n - 1];
}

static Turn notes_of(Lower *L, uint32_t bar, bool wait, uint32_t role)
{
    return *notes_like(L, &(Note){.bar = bar, .wait = wait, .role = role}, false);
}

static uint32_t in_branches(Lower *L, const Turn *t, uint32_t from, uint32_t to, uint32_t depth, int rank);

/* Of one `if`: the branch that has more; both, where it is not followed, and where the rank decides: each counts for CTAs of its own. The notes
 * of a branch stand side by side. */
static uint32_t of_branch(Lower *L, const Turn *t, uint32_t from, uint32_t to, uint32_t depth, int rank)
{
    uint32_t middle = from;
    while (middle < to && !t->v[middle]->around[depth].other) middle++;
    uint32_t a = in_branches(L, t, from, middle, depth + 1, rank), b = in_branches(L, t, middle, to, depth + 1, rank);
    const Around *x = &t->v[from]->around[depth];
    if (!x->followed || scalar_uses(L, x->branch->value) == USE_RANK) return a + b;
    return a > b ? a : b;
}

static uint32_t in_branches(Lower *L, const Turn *t, uint32_t from, uint32_t to, uint32_t depth, int rank)
{
    uint32_t sum = 0;
    while (from < to) {
        uint32_t end = from + 1;
        if (t->v[from]->naround == depth) {
            sum += t->v[from++]->weight[rank];
            continue;
        }
        const PStmt *branch = t->v[from]->around[depth].branch;
        while (end < to && t->v[end]->naround > depth && t->v[end]->around[depth].branch == branch) end++;
        sum += of_branch(L, t, from, end, depth, rank);
        from = end;
    }
    return sum;
}

static uint32_t most(Lower *L, uint32_t bar, bool wait, uint32_t role, int rank)
{
    uint32_t best = 0;
    Turn all = notes_of(L, bar, wait, role);
    for (uint32_t i = 0; i < all.n; i++) {
        const Turn *t = notes_like(L, all.v[i], true);
        uint32_t n = t->v[0] == all.v[i] ? in_branches(L, t, 0, t->n, 0, rank) : 0; /* each once */
        if (n > best) best = n;
    }
    return best;
}

/* ---- two roles ---- */

typedef struct Pairs { /* loops of one side, and those of the other that stand for them */
    int64_t a[64], b[64];
    uint32_t n;
} Pairs;

static bool pair_up(Pairs *p, int64_t a, int64_t b)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (p->a[i] == a || p->b[i] == b) return p->a[i] == a && p->b[i] == b;
    if (p->n == sizeof p->a / sizeof *p->a) return false;
    p->a[p->n] = a;
    p->b[p->n++] = b;
    return true;
}

/* The same but for the loops whose indices stand in it. */
static bool corresponds(const Sx *a, const Sx *b, Pairs *p, int *fuel)
{
    a = sx_through_lets(a);
    b = sx_through_lets(b);
    if (a == b && a == NULL) return true;
    if (a == NULL || b == NULL || a->op != b->op || --*fuel < 0) return false;
    if (a->op == SX_INDEX) return pair_up(p, a->k, b->k);
    if (a->op == SX_LOAD) {
        if (a->tensor != b->tensor) return false;
        for (int d = 0; d < a->tensor->rank; d++)
            if (!corresponds(a->idx[d], b->idx[d], p, fuel)) return false;
        return true;
    }
    return a->k == b->k && corresponds(a->a, b->a, p, fuel) && corresponds(a->b, b->b, p, fuel);
}

/* What happens in a turn under the one does not in the same turn under the other: under `k % 2 == 0` and under `k % 2 == 1`. */
static bool excludes(Lower *L, const Around *a, const Around *b)
{
    Pairs loops = {.n = 0}, whole = {.n = 0};
    int fuel = CORRESPOND_FUEL;
    const Sx *x = sx_through_lets(a->branch->value), *y = sx_through_lets(b->branch->value);
    if (!a->followed || !b->followed || scalar_uses(L, x) & (USE_RANK | USE_VAR | USE_LOAD)) return false;
    if (corresponds(x, y, &whole, &fuel)) return whole.n && a->other != b->other;
    if (x->op != SX_EQ || y->op != SX_EQ || a->other || b->other) return false;
    const Sx *r = sx_through_lets(x->b), *s = sx_through_lets(y->b);
    return r->op == SX_CONST && s->op == SX_CONST && r->k != s->k && corresponds(x->a, y->a, &loops, &fuel) && loops.n;
}

/* Or one of them is at another slot. */
static bool note_excludes(Lower *L, const Note *a, const Note *b)
{
    if (a->slot.v == 0 && b->slot.v == 0 && a->slot.k != b->slot.k) return true;
    for (uint32_t i = 0; i < a->naround; i++)
        for (uint32_t j = 0; j < b->naround; j++)
            if (excludes(L, &a->around[i], &b->around[j])) return true;
    return false;
}

static bool role_excludes(Lower *L, uint32_t bar, uint32_t a, uint32_t b)
{
    Turn of = notes_of(L, bar, false, a), other = notes_of(L, bar, false, b);
    if ((uint64_t)of.n * other.n > EXCLUDE_PAIRS) return false;
    for (uint32_t i = 0; i < of.n; i++)
        for (uint32_t j = 0; j < other.n; j++)
            if (!note_excludes(L, of.v[i], other.v[j])) return false;
    return true;
}

/* The arrivals of all roles in a turn: of those that take turns, the most of one. */
static uint32_t of_roles(Lower *L, uint32_t bar, int rank)
{
    uint32_t sum = 0, n = L->sync->role + 1, *of = arena_array(L->a, uint32_t, n), *in = arena_array(L->a, uint32_t, n);
    for (uint32_t role = 0; role < n; role++) {
        of[role] = most(L, bar, false, role, rank);
        in[role] = role; /* the first one of those that it takes turns with */
        for (uint32_t first = 0; first < role && of[role] && in[role] == role; first++) {
            bool all = in[first] == first && of[first];
            for (uint32_t other = first; other < role && all; other++)
                all = in[other] != first || of[other] == 0 || role_excludes(L, bar, other, role);
            if (all) in[role] = first;
        }
    }
    for (uint32_t first = 0; first < n; first++) {
        uint32_t best = 0;
        for (uint32_t role = first; role < n; role++)
            if (in[role] == first && of[role] > best) best = of[role];
        sum += best;
    }
    return sum;
}

/* ---- a barrier ---- */

static void label_notes(Lower *L, Diag *g, uint32_t bar)
{
    Sync *s = L->sync;
    for (uint32_t i = 0; i < s->notes.n; i++)
        if (s->notes.v[i].bar == bar)
            diag_label(L->c->diags, g, s->notes.v[i].span, s->notes.v[i].wait ? "a wait" : "an arrival");
}

static void uneven(Lower *L, uint32_t bar, uint32_t arrivals, uint32_t waits)
{
    const IrBar *b = &L->ir->bars.v[bar];
    Diag *g = lower_error(L, E0713, b->span, "barrier `%s` gets %u arrival%s where it is waited for %u time%s", b->name,
                          arrivals, arrivals == 1 ? "" : "s", waits, waits == 1 ? "" : "s");
    label_notes(L, g, bar);
    diag_fix(L->c->diags, g, "let every phase have the same number of arrivals, or use another barrier");
}

static void uneven_ranks(Lower *L, uint32_t bar, int r, uint32_t n, int q, uint32_t m)
{
    const IrBar *b = &L->ir->bars.v[bar];
    Diag *g = lower_error(L, E0744, b->span, "a phase of `%s` has %u arrivals at rank %d, %u at rank %d", b->name, n, r,
                          m, q);
    label_notes(L, g, bar);
    int few = n < m ? r : q;
    diag_fix(L->c->diags, g, "%u more at rank %d: `arrive peer(%s, %d)` in another CTA, or `arrive %s` in that one; or name every CTA that waits "
                             "equally often, as `(cluster.rank + 1) %% cluster.size` does", n < m ? m - n : n - m, few, b->name, few, b->name);
}

static uint32_t count_of(Lower *L, uint32_t bar)
{
    uint32_t count = 0;
    int of = 0;
    bool waited = false;
    for (int pass = 0; pass < 2 && !waited; pass++) /* where nobody waits, all ranks count */
        for (int r = 0; r < L->cluster_size; r++) {
            uint32_t arrivals = of_roles(L, bar, r), waits = 0;
            for (uint32_t role = 0; role <= L->sync->role; role++) {
                uint32_t w = most(L, bar, true, role, r);
                if (w > waits) waits = w;
            }
            waited |= waits > 0;
            if (waits == 0 && pass == 0) continue;
            if (waits == 0) waits = 1;
            if (arrivals % waits) {
                uneven(L, bar, arrivals, waits);
                return 1;
            }
            if (count && arrivals && arrivals / waits != count) {
                uneven_ranks(L, bar, of, count, r, arrivals / waits);
                return 1;
            }
            if (arrivals == 0 || count) continue;
            count = arrivals / waits;
            of = r;
        }
    return count ? count : 1;
}

/* ---- conditions that synchronisation does not follow ---- */

static const Around *unfollowed(const Note *n, uint32_t *from)
{
    while (*from < n->naround) {
        const Around *x = &n->around[(*from)++];
        if (!x->followed && x->block == n->block) return x;
    }
    return NULL;
}

static bool same_conditions(const Note *a, const Note *b)
{
    uint32_t i = 0, j = 0;
    Pairs p = {.n = 0};
    for (;;) {
        int fuel = CORRESPOND_FUEL;
        const Around *x = unfollowed(a, &i), *y = unfollowed(b, &j);
        if (x == NULL || y == NULL) return x == y;
        if (x->other != y->other || !corresponds(x->branch->value, y->branch->value, &p, &fuel)) return false;
    }
}

/* One side under a condition that the other lacks: both happen always, which is not what the program says. */
static void check_conditions(Lower *L, const Note *n)
{
    const Sync *s = L->sync;
    for (uint32_t role = 0; role <= s->role; role++) {
        Turn others = notes_of(L, n->bar, !n->wait, role);
        bool met = others.n == 0;
        for (uint32_t i = 0; i < others.n && !met; i++) met = same_conditions(n, others.v[i]);
        if (met) continue;
        uint32_t from = 0;
        const Around *x = unfollowed(n, &from);
        if (x == NULL) return; /* the other one's condition, reported there */
        Diag *g = lower_error(L, E0770, n->span, "this %s depends on a condition of data or sizes that %s does not have",
                              n->wait ? "wait" : "arrival", n->wait ? "the arrival" : "the wait");
        diag_label(L->c->diags, g, x->branch->span, "the condition");
        diag_label(L->c->diags, g, others.v[0]->span, n->wait ? "an arrival" : "a wait");
        diag_fix(L->c->diags, g, "put both under the same condition, or neither: `if` around the moves alone");
        return;
    }
}

void counts_set(Lower *L)
{
    const Sync *s = L->sync;
    L->sync->turns = names_new(L->a);
    for (uint32_t i = 0; i < 2 * s->notes.n; i++) {
        Turn *t = notes_like(L, &s->notes.v[i / 2], i % 2);
        vec_push(L->a, t, &s->notes.v[i / 2]);
    }
    for (uint32_t i = 0; i < L->k->barriers.n; i++) L->ir->bars.v[i].count = count_of(L, i);
    for (uint32_t i = 0; s->many && i < s->notes.n; i++) check_conditions(L, &s->notes.v[i]);
}
