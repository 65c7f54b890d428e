/* What launches have to do with the runs. Runs choose trip counts as if each were a number of its own, where a launch's sizes and scalars
 * decide them together. So the runs note how roles compare (roles.c), and of some thousand launches, with small and large numbers of many
 * kinds, it is worked out how they compare there.
 *
 * - A run that fails and compares as no such launch does refutes nothing: it is put aside.
 * - What no run has shown must not come in any launch: that is proved from the forms, or the launch checks it. Where one of those launches
 *   has it, its numbers are tried, too; where they are too large the kernel is refused, and so it is where data decide. So a run that was put
 *   aside is one that no launch comes to, unless it compares as others do that were proved.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lang/checked.h"
#include "lower/verify/graph/tries/roles.h"
#include "lower/verify/graph/tries/tries.h"

enum { LAUNCHES = 4096, NEAR = 1024 };
static const int64_t NUMBERS[] = {0, 1, 2, 3, 5, 8, 17, 100, 192, 1000, 4096, 1000000, -1, -9};
enum { NNUMBERS = sizeof NUMBERS / sizeof *NUMBERS };
static const uint8_t RATIO[RATIOS][2] = {{1, 1}, {1, 2}, {2, 1}, {1, 3}, {3, 1}, {1, 4}, {4, 1}, {2, 3}, {3, 2}, {3, 4}, {4, 3}, {1, 0}, {0, 1}};

typedef struct Aside { /* a run that failed, and compares as no launch does */
    Comparison all;
    VEC(Choice) choices;
} Aside;
struct Launches {
    Roles *roles;
    int found;          /* of this run: some_launch */
    VEC(Aside) aside;
    VEC(Compared) checked; /* what the launch has to check does not come */
    uint32_t given;     /* expressions of roles->pool that the launch has */
    VEC(uint32_t) syms; /* that it has */
    int64_t *sym;       /* of a launch: by symbol */
    VEC(int64_t) value; /* .. by expression */
    VEC(uint8_t) status;
};

enum { NONE, FOUND, NO_LAUNCH /* none passes the checks */ };

static struct Launches *prepare(Verifier *v)
{
    struct Launches *l = arena_new(v->arena, struct Launches);
    const MfKernel *mf = &v->k->mf;
    l->roles = v->roles;
    for (uint32_t i = 0; i < mf->lx.nodes.n; i++)
        if (mf->lx.nodes.v[i].op == LX_SYM) vec_push(v->arena, &l->syms, (uint32_t)mf->lx.nodes.v[i].k);
    l->given = mf->lx.nodes.n;
    l->sym = arena_array(v->arena, int64_t, mf->syms.n + 1);
    return l;
}

void launches_begin(Verifier *v)
{
    if (v->few) return;
    roles_begin(v);
    if (v->launches == NULL) v->launches = prepare(v);
}

static int16_t clipped(int64_t x)
{
    return x < INT16_MIN ? INT16_MIN : x > INT16_MAX ? INT16_MAX : (int16_t)x;
}

static void widen(Between *x, Had turns)
{
    bool first = !(x->how & (LESS | EQUAL | MORE));
    for (int i = 0; i < RATIOS; i++) {
        int64_t p = RATIO[i][0] * (int64_t)clipped(turns.a), q = RATIO[i][1] * (int64_t)clipped(turns.b);
        int16_t far = clipped(p - q);
        if (first || far < x->least[i]) x->least[i] = far;
        if (first || far > x->most[i]) x->most[i] = far;
    }
}

static Between *between(Verifier *v, uint32_t a, uint32_t b)
{
    Roles *r = v->roles;
    uint32_t pair[] = {a, b};
    Name name = names_intern(r->pairs, (const char *)pair, sizeof pair);
    if (name > r->between.n) vec_push(v->arena, &r->between, ((Between){.a = a, .b = b}));
    return &r->between.v[name - 1];
}

/* What is compared has to be known of all launches; what a run shows that no launch comes to says nothing of them. */
static void note(Verifier *v, bool proved)
{
    const Roles *r = v->roles;
    roles_compare(v, proved);
    for (uint32_t i = 0; i < r->now.n; i++) {
        const Compared *c = &r->now.v[i];
        Between *to = between(v, c->a, c->b);
        to->how |= c->met;
        if (!proved || r->impossible) continue;
        widen(to, r->had.v[i]);
        to->how |= c->how;
    }
}

void launches_keep(Verifier *v)
{
    if (!v->few) note(v, true);
}

/* ---- launches ---- */

/* With the numbers that its symbols have. */
static bool passes_checks(const Verifier *v, struct Launches *l)
{
    const MfKernel *mf = &v->k->mf;
    while (l->value.n < l->roles->pool.nodes.n) {
        vec_push(v->arena, &l->value, 0);
        vec_push(v->arena, &l->status, 0);
    }
    lx_eval(l->roles->pool.nodes.v, l->roles->pool.nodes.n, l->sym, l->value.v, l->status.v);
    for (uint32_t x = 0; x < mf->lx.nodes.n; x++) {
        Interval r = v->f.launch[x];
        if (l->status.v[x] == LX_OK && (l->value.v[x] < r.lo || l->value.v[x] > r.hi)) return false;
    }
    for (uint32_t i = 0; i < mf->checks.n; i++) {
        Lx x = mf->checks.v[i].cond;
        if (l->status.v[x - 1] != LX_OK || l->value.v[x - 1] == 0) return false;
    }
    return true;
}

/* Of few symbols all combinations, of more some. False: there is no such launch. */
static bool set_launch(const Verifier *v, struct Launches *l, uint32_t number)
{
    uint64_t all = 1, at = number;
    for (uint32_t i = 0; i < l->syms.n && all <= LAUNCHES; i++) all *= NNUMBERS;
    if (number >= all) return false;
    for (uint32_t i = 0; i < l->syms.n; i++, at /= NNUMBERS) {
        uint64_t drawn = ((uint64_t)number * l->syms.n + i + 1) * UINT64_C(0x9E3779B97F4A7C15) >> 33;
        l->sym[l->syms.v[i]] = NUMBERS[(all <= LAUNCHES ? at : drawn) % NNUMBERS];
    }
    return passes_checks(v, l);
}

static bool decided(const struct Launches *l, const Compared *c)
{
    return l->roles->counts.v[c->a].lx && l->roles->counts.v[c->b].lx;
}

static bool is_met(const struct Launches *l, const Count *c)
{
    return c->met == 0 || l->status.v[c->met - 1] != LX_OK || l->value.v[c->met - 1] > 0;
}

/* In the launch at hand. */
static bool holds(const struct Launches *l, const Compared *c)
{
    if (!is_met(l, &l->roles->counts.v[c->a]) || !is_met(l, &l->roles->counts.v[c->b])) return false;
    Lx x = l->roles->counts.v[c->a].lx, y = l->roles->counts.v[c->b].lx;
    int64_t a = l->value.v[x - 1], b = l->value.v[y - 1];
    if (l->status.v[x - 1] != LX_OK || l->status.v[y - 1] != LX_OK) return false;
    if (c->how == EQUAL) return a == b;
    bool known = mul_s64(a, RATIO[c->ratio][0], &a) && mul_s64(b, RATIO[c->ratio][1], &b) && add_s64(c->how == LESS ? a : b, c->by, c->how == LESS ? &a : &b);
    return !known || (c->how == LESS ? a < b : a > b);
}

/* A launch in which all of them hold, as far as launches decide that; it is the one at hand when it is FOUND. */
static int some_launch(const Verifier *v, struct Launches *l, const Compared *all, uint32_t n)
{
    int met = NO_LAUNCH;
    for (uint32_t at = 0; at < LAUNCHES; at++) {
        if (!set_launch(v, l, at)) continue;
        bool found = true;
        for (uint32_t i = 0; i < n && found; i++) found = !decided(l, &all[i]) || holds(l, &all[i]);
        if (found) return FOUND;
        met = NONE;
    }
    return met;
}

static bool same(const Comparison *x, const Comparison *y)
{
    return x->n == y->n && (x->n == 0 || memcmp(x->v, y->v, x->n * sizeof *x->v) == 0);
}

bool launches_doubt(Verifier *v)
{
    struct Launches *l = v->launches;
    bool any = false, known = false;
    if (v->few) return false;
    l->found = NONE;
    if (v->again || v->trusting) return false;
    note(v, false);
    if (l->roles->impossible) return true;
    for (uint32_t i = 0; i < l->roles->now.n; i++) any |= decided(l, &l->roles->now.v[i]);
    if (!any) return false;
    for (uint32_t i = 0; i < l->aside.n && !known; i++) known = same(&l->aside.v[i].all, &l->roles->now);
    if (known) return true;
    l->found = some_launch(v, l, l->roles->now.v, l->roles->now.n);
    if (l->found != NONE) return false;
    Aside *a = vec_add(v->arena, &l->aside);
    *a = (Aside){0};
    for (uint32_t i = 0; i < l->roles->now.n; i++) vec_push(v->arena, &a->all, l->roles->now.v[i]);
    for (uint32_t i = 0; i < v->choices.n; i++) vec_push(v->arena, &a->choices, v->choices.v[i]);
    return true;
}

static const char *launch_text(const Verifier *v)
{
    const struct Launches *l = v->launches;
    const char *text = "";
    for (uint32_t i = 0; i < l->syms.n; i++) {
        uint32_t sym = l->syms.v[i];
        text = arena_printf(v->arena, "%s%s%s = %lld", text, i ? ", " : "", v->k->mf.syms.v[sym].name, (long long)l->sym[sym]);
    }
    return text;
}

static const char *role_text(const Verifier *v, const Count *c)
{
    const char *role = verify_body(v, c->op)->role->name;
    return role ? role : "the kernel";
}

/* Loops that are compared, and those that use barriers, turn in the launch at hand as in this run. */
static bool exact(const struct Launches *l)
{
    for (uint32_t i = 0; i < l->roles->now.n; i++) {
        const Compared *c = &l->roles->now.v[i];
        if (!decided(l, c) || c->b + 1 == NO_TURNS) continue;
        Lx a = l->roles->counts.v[c->a].lx, b = l->roles->counts.v[c->b].lx;
        bool known = l->status.v[a - 1] == LX_OK && l->status.v[b - 1] == LX_OK;
        if (!known || l->value.v[a - 1] != l->roles->had.v[i].a || l->value.v[b - 1] != l->roles->had.v[i].b) return false;
    }
    for (uint32_t i = 0; i < l->roles->marks.n; i++) { /* those inside of others may be compared with none */
        const Mark *m = &l->roles->marks.v[i];
        Lx turns = l->roles->loops[m->op].turns;
        if (m->uses && turns && (l->status.v[turns - 1] != LX_OK || l->value.v[turns - 1] != m->number)) return false;
    }
    return true;
}

/* With another number for one of its symbols it is one whose loops turn as in this run. */
static bool make_exact(const Verifier *v, struct Launches *l)
{
    if (exact(l)) return true;
    for (uint32_t i = 0; i < l->syms.n; i++) {
        int64_t *sym = &l->sym[l->syms.v[i]], was = *sym;
        for (*sym = 0; *sym <= NEAR; ++*sym)
            if (passes_checks(v, l) && exact(l)) return true;
        *sym = was;
    }
    return false;
}

static const char *turns_text(const Verifier *v, int64_t n)
{
    return n == 1 ? "once" : arena_printf(v->arena, "%lld times", (long long)n);
}

const char *launches_example(const Verifier *v, bool *known)
{
    struct Launches *l = v->launches;
    for (uint32_t i = 0; i < l->roles->now.n && l->found == FOUND; i++) {
        const Compared *c = &l->roles->now.v[i];
        const Count *a = &l->roles->counts.v[c->a], *b = &l->roles->counts.v[c->b];
        if (c->how == EQUAL || !c->met || b->op == v->nops || a->several || b->several || !decided(l, c) || l->syms.n == 0) continue;
        const char *turn = arena_printf(v->arena, "the loops of %s turn %s and those of %s %s", role_text(v, a), turns_text(v, l->roles->had.v[i].a),
                                        role_text(v, b), turns_text(v, l->roles->had.v[i].b));
        *known = make_exact(v, l);
        if (*known) return arena_printf(v->arena, "as with %s, where %s", launch_text(v), turn);
        return arena_printf(v->arena, "where %s: which of two loops turns more often is followed, no more of how they depend on one another", turn);
    }
    return NULL;
}

/* ---- what no run has shown ---- */

enum { FUEL = 8 };

/* x >= y + more in every launch: d * (a / d) is a - a % d. */
static bool at_least(Verifier *v, Form x, Form y, int64_t more)
{
    Forms *f = &v->f;
    Form far = form_add(f, form_add(f, x, -1, y), -more, form_const(f, 1));
    if (far && form_nonneg(f, far)) return true;
    for (uint32_t i = 0, fuel = FUEL; far && fuel > 0 && i < form_data(f, far)->n; i++) {
        FormTerm t = form_data(f, far)->t[i];
        FormAtom a = *atom_data(f, t.atom);
        int64_t d, c;
        if (a.kind != ATOM_OP || a.sub != IR_DIV || a.wild || !form_is_const(f, a.b, &d) || d < 2 || !mul_s64(-d, t.c, &c)) continue;
        Form whole = form_add(f, a.a, -1, form_of_op(f, v->k, &(IrOp){.op = IR_MOD, .type = a.type}, 0, a.a, a.b));
        far = form_add(f, form_add(f, form_const(f, 0), d, far), c, form_of_atom(f, t.atom));
        far = form_add(f, far, t.c, whole);
        i = UINT32_MAX;
        fuel--;
    }
    return far && form_nonneg(f, far);
}

/* The forms show that it never holds. */
static bool never(Verifier *v, const struct Launches *l, const Compared *c)
{
    Form none = form_const(&v->f, 0), a = form_add(&v->f, none, RATIO[c->ratio][0], l->roles->counts.v[c->a].x),
         b = form_add(&v->f, none, RATIO[c->ratio][1], l->roles->counts.v[c->b].x);
    if (c->how == LESS) return at_least(v, a, b, -(int64_t)c->by);
    if (c->how == MORE) return at_least(v, b, a, -(int64_t)c->by);
    return at_least(v, b, a, 1) || at_least(v, a, b, 1);
}

/* Whether runs with the numbers of a launch that has it are to come. */
static bool look_into(Verifier *v, struct Launches *l, const Compared *c)
{
    bool more = false;
    const Count *a = &l->roles->counts.v[c->a], *b = &l->roles->counts.v[c->b];
    if (never(v, l, c)) return false;
    if (!decided(l, c)) {
        const char *how = c->how == LESS ? "may have fewer turns than" : c->how == MORE ? "may have more turns than" : "may have as many turns as";
        const char *by = c->by > 0 ? arena_printf(v->arena, " by more than %d", c->by) : "";
        if (c->ratio != ONE_FOR_ONE || c->by < 0) how = "may turn otherwise than together with", by = "";
        Diag *g = verify_refuse(v, E0660, a->op, "this loop %s another one%s, and in none of the runs that were tried", how, by);
        verify_also(v, g, b->op, "the other one");
    } else if (some_launch(v, l, c, 1) != FOUND) {
        vec_push(v->arena, &l->checked, *c);
    } else {
        for (uint32_t i = 0; i < l->syms.n; i++) more |= choice_beside(v, l->sym[l->syms.v[i]]);
        if (more) return true;
        Diag *g = verify_refuse(v, E0660, a->op, "with %s this loop has %lld turns and another one %lld: none of the runs that were tried compares so",
                                launch_text(v), (long long)l->value.v[a->lx - 1], (long long)l->value.v[b->lx - 1]);
        verify_also(v, g, b->op, "the other one");
    }
    return false;
}

static bool unseen(Verifier *v, const Compared *c)
{
    return !(between(v, c->a, c->b)->how & c->how);
}

/* The ratio at which they stay together in the runs; RATIOS: there is none, or too few turns show it. */
static int together(const Verifier *v, const Between *x)
{
    int best = RATIOS, least = INT_MAX;
    for (int i = 0; i < RATIO_A; i++) {
        int p = RATIO[i][0], q = RATIO[i][1], most = p > q ? p : q, spread = x->most[i] - x->least[i];
        bool long_enough = p * (x->most[RATIO_A] - x->least[RATIO_A]) >= 3 * most && q * (x->most[RATIO_B] - x->least[RATIO_B]) >= 3 * most;
        if (!long_enough || spread > (i == ONE_FOR_ONE ? (int)v->ring : most) || spread >= least) continue;
        best = i;
        least = spread;
    }
    return best;
}

/* What no run has shown. How far one was ahead: where that is no more than a ring's slots, or they stay together, no launch has more; what was
 * farther ahead may be any number ahead. */
static bool unseen_beyond(Verifier *v, Compared *c)
{
    const Between *x = between(v, c->a, c->b);
    int ring = (int)v->ring, ratio = together(v, x);
    if (c->how == EQUAL || c->b + 1 == NO_TURNS) return unseen(v, c);
    if (ratio < RATIOS) {
        c->ratio = (uint8_t)ratio;
        c->by = c->how == LESS ? -x->least[ratio] : x->most[ratio];
        return true;
    }
    c->by = c->how == LESS ? -x->least[ONE_FOR_ONE] : x->most[ONE_FOR_ONE];
    if (c->by < 0) c->by = 0;
    return c->by <= ring;
}

static int by_counts(const void *a, const void *b)
{
    const Between *x = a, *y = b;
    return x->a != y->a ? (x->a > y->a ? 1 : -1) : x->b > y->b ? 1 : -1;
}

bool launches_more(Verifier *v)
{
    struct Launches *l = v->launches;
    l->checked.n = 0;
    uint32_t n = v->roles->between.n;
    Between *all = arena_array(v->arena, Between, n);
    if (n) qsort(memcpy(all, v->roles->between.v, n * sizeof *all), n, sizeof *all, by_counts);
    for (uint32_t i = 0; i < n; i++) {
        Between x = all[i];
        for (uint8_t how = LESS; how <= MORE && x.how & MET; how = (uint8_t)(how * 2)) {
            Compared c = {x.a, x.b, how, MET, ONE_FOR_ONE, 0};
            if (unseen_beyond(v, &c) && look_into(v, l, &c)) return true;
            if (v->failed) return false;
        }
    }
    return false;
}

/* What compares as runs do that are proved, and failed: it is done again, and reported. */
void launches_check(Verifier *v)
{
    struct Launches *l = v->launches;
    for (uint32_t i = 0; i < l->aside.n && !v->failed; i++) {
        const Aside *a = &l->aside.v[i];
        bool out = false;
        for (uint32_t j = 0; j < a->all.n && !out; j++) { /* no launch has it: that is proved, or checked */
            const Compared *c = &a->all.v[j];
            out = unseen(v, c) && (c->met || never(v, l, c));
        }
        if (out) continue;
        v->choices.n = 0;
        for (uint32_t j = 0; j < a->choices.n; j++) vec_push(v->arena, &v->choices, a->choices.v[j]);
        v->trusting = true;
        verify_run(v);
        v->trusting = false;
    }
}

/* ---- checks of the launch ---- */

/* As one of the launch's. */
static Lx given(const struct Launches *l, Arena *keep, LxPool *to, Lx x)
{
    const LxNode *n = &l->roles->pool.nodes.v[x - 1];
    if (x <= l->given) return x;
    if (n->op == LX_CONST) return lx_const(keep, to, n->k);
    Lx a = given(l, keep, to, n->a), b = n->b ? given(l, keep, to, n->b) : 0;
    return lx_op(keep, to, (LxOp)n->op, a, b);
}

static const char *of_times(Arena *keep, int by, char what)
{
    return by == 1 ? arena_printf(keep, "%c", what) : arena_printf(keep, "%d * %c", by, what);
}

static const char *demanded(Verifier *v, Arena *keep, const Compared *c)
{
    const Count *a = &v->roles->counts.v[c->a], *b = &v->roles->counts.v[c->b];
    const char *up_to = arena_printf(keep, "the loops of %s up to this one", role_text(v, a)), *other = arena_printf(keep, "those of %s up to", role_text(v, b));
    if (b->op == v->nops) return arena_printf(keep, "%s %s", up_to, c->how == EQUAL ? "turn" : "never turn");
    if (c->ratio != ONE_FOR_ONE || c->by < 0) {
        const char *n = of_times(keep, RATIO[c->ratio][0], 'n'), *m = of_times(keep, RATIO[c->ratio][1], 'm');
        const char *by = c->by ? arena_printf(keep, " %c %d", c->by < 0 ? '-' : '+', c->by < 0 ? -c->by : c->by) : "";
        return arena_printf(keep, "%s turn n times, %s %s m times: %s <= %s%s", up_to, other, verify_line(v, b->op), c->how == LESS ? m : n, c->how == LESS ? n : m, by);
    }
    const char *how = c->how == LESS ? "turn no less often than" : c->how == MORE ? "turn no more often than" : "turn not as often as";
    if (c->by) how = arena_printf(keep, c->how == LESS ? "fall at most %d %s behind" : "get at most %d %s ahead of", c->by, c->by == 1 ? "turn" : "turns");
    return arena_printf(keep, "%s %s %s %s", up_to, how, other, verify_line(v, b->op));
}

static bool checked_already(const MfKernel *mf, Lx cond)
{
    bool found = false;
    for (uint32_t i = 0; i < mf->checks.n && !found; i++) found = mf->checks.v[i].cond == cond;
    return found;
}

void launches_demand(Verifier *v)
{
    Arena *keep = v->demands->arena;
    MfKernel *mf = v->demands->mf;
    const struct Launches *l = v->launches;
    for (uint32_t i = 0; i < l->checked.n; i++) {
        const Compared *c = &l->checked.v[i];
        const Count *of = &l->roles->counts.v[c->a];
        Lx a = given(l, keep, &mf->lx, of->lx), b = given(l, keep, &mf->lx, l->roles->counts.v[c->b].lx);
        a = lx_op(keep, &mf->lx, LX_MUL, a, lx_const(keep, &mf->lx, RATIO[c->ratio][0]));
        b = lx_op(keep, &mf->lx, LX_MUL, b, lx_const(keep, &mf->lx, RATIO[c->ratio][1]));
        Lx *less = c->how == LESS ? &a : &b;
        *less = lx_op(keep, &mf->lx, LX_ADD, *less, lx_const(keep, &mf->lx, c->by));
        Lx cond = c->how == LESS ? lx_op(keep, &mf->lx, LX_LE, b, a) : lx_op(keep, &mf->lx, c->how == MORE ? LX_LE : LX_NE, a, b);
        Lx met = of->met ? given(l, keep, &mf->lx, of->met) : 0;
        if (met) cond = lx_op(keep, &mf->lx, LX_LOR, cond, lx_op(keep, &mf->lx, LX_LE, met, lx_const(keep, &mf->lx, 0)));
        if (checked_already(mf, cond)) continue;
        MfCheck check = {.code = E1143, .cond = cond, .text = demanded(v, keep, c), .why = "what one role waits for, the other one does as often"};
        check.place = source_place_text(v->diags->sources, keep, verify_place(v, of->op), true);
        vec_push(keep, &mf->checks, check);
    }
}
