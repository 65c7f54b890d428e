/* What is wrong, in the words of who wrote the program: which access has to wait for which, who makes them, and, where one
 * thing plainly is missing, what would order them. Nothing here decides whether a kernel is refused.
 */
#include "lower/verify/graph/judge/judge.h"
#include "lower/verify/graph/tries/tries.h"
#include "lower/verify/graph/unroll/unroll.h"

typedef struct Pair { /* `then` has to wait for `first` */
    const Access *first, *then;
    const Thread *s, *t; /* who makes them */
} Pair;
typedef struct Told { /* what would order them */
    uint32_t op;      /* where the label stands; UINT32_MAX: nowhere */
    const char *label, *fix;
} Told;

static const Event *event_of(const Verifier *v, const Access *a)
{
    return &v->events.v[a->start - 1];
}

static const char *role_name(const Verifier *v, const Thread *t)
{
    return v->k->roles.v[t->role].name;
}

static const char *who(Verifier *v, const Thread *t)
{
    if (v->k->roles.n < 2) return arena_printf(v->arena, "CTA %u", t->rank);
    return v->nranks == 1 ? arena_printf(v->arena, "role `%s`", role_name(v, t))
                          : arena_printf(v->arena, "role `%s` of CTA %u", role_name(v, t), t->rank);
}

static const char *tile_name(Verifier *v, const Access *a)
{
    const char *name = v->k->bufs.v[a->at.buf].name;
    return v->nranks == 1 ? name : arena_printf(v->arena, "%s of CTA %u", name, a->at.rank);
}

/* ---- who counts on a barrier, and who waits for it ---- */

/* As one writes it: which slot it is, is not ours to say. */
static const char *bar_text(Verifier *v, uint32_t bar)
{
    const IrBar *b = &v->k->bars.v[bar];
    return b->slots == 1 ? b->name : arena_printf(v->arena, "%s[..]", b->name);
}

static const uint32_t ALL = UINT32_MAX; /* roles */

/* An op of the role that waits for the barrier, or counts on it; UINT32_MAX: none. */
static uint32_t use_of(const Verifier *v, uint32_t role, uint32_t bar, bool waits)
{
    const Body *b = &v->bodies.v[role == ALL ? 0 : 1 + role];
    for (uint32_t i = b->first; i < (role == ALL ? v->nops : b->end); i++) {
        bool wait = v->ops[i]->op == IR_BAR_WAIT && verify_arg(v, i, IRK_BAR)->id == bar;
        if (waits ? wait : verify_counts(v, i, bar)) return i;
    }
    return UINT32_MAX;
}

/* Where the role counts on a barrier of the program that nobody waits for. */
static uint32_t unwaited_use(const Verifier *v, uint32_t role, uint32_t bar)
{
    bool fine = v->k->bars.v[bar].derived || use_of(v, ALL, bar, true) != UINT32_MAX;
    return fine ? UINT32_MAX : use_of(v, role, bar, false);
}

void tell_unwaited(Verifier *v, Diag *g)
{
    for (uint32_t i = 0; i < v->k->bars.n; i++) {
        uint32_t counts = unwaited_use(v, ALL, i);
        if (counts == UINT32_MAX) continue;
        verify_also(v, g, counts,
                    arena_printf(v->arena, "counts on barrier %s, which nothing waits for", v->k->bars.v[i].name));
        if (g->fix == NULL) diag_fix(v->diags, g, "`wait %s;` in front of what this says may be done", bar_text(v, i));
    }
}

/* The last op of a role that uses the buffer; UINT32_MAX: none. */
static uint32_t last_use(const Verifier *v, uint32_t role, uint32_t buf)
{
    const Body *b = &v->bodies.v[1 + role];
    for (uint32_t i = b->end; i-- > b->first;)
        for (uint32_t j = 0; j < v->ops[i]->nargs; j++)
            if (v->ops[i]->args[j].kind == IRA_BUF && v->ops[i]->args[j].id == buf) return i;
    return UINT32_MAX;
}

/* The one role but `but` that uses the buffer; UINT32_MAX: none, or several. */
static uint32_t other_user(const Verifier *v, uint32_t but, uint32_t buf)
{
    uint32_t user = UINT32_MAX;
    for (uint32_t r = 0; r < v->k->roles.n; r++) {
        if (r == but || last_use(v, r, buf) == UINT32_MAX) continue;
        if (user != UINT32_MAX) return UINT32_MAX;
        user = r;
    }
    return user;
}

/* ---- which of the two comes first in the meaning ---- */

/* In the order of the turns; in one turn what is written is read. A role's own order is that of the run. */
static Pair meaning(const Verifier *v, const Race *r)
{
    Pair p = {r->a, r->b, event_thread(v, r->a->start), event_thread(v, r->b->start)}, back = {r->b, r->a, p.t, p.s};
    const Event *x = event_of(v, r->a), *y = event_of(v, r->b);
    if (p.s->role == p.t->role && p.s->rank == p.t->rank) return p;
    if (x->in.level == y->in.level && x->in.turn != y->in.turn) return x->in.turn < y->in.turn ? p : back;
    return !r->a->write && r->b->write ? back : p;
}

/* ---- what would order them ---- */

/* A barrier on which the role counts and that nobody waits for. */
static bool unwaited(Verifier *v, const Pair *p, uint32_t role, Told *out)
{
    for (uint32_t i = 0; i < v->k->bars.n; i++) {
        uint32_t counts = unwaited_use(v, role, i);
        if (counts == UINT32_MAX) continue;
        out->op = counts;
        out->label = arena_printf(v->arena, "role `%s` counts on barrier %s here, which nothing waits for",
                                  v->k->roles.v[role].name, v->k->bars.v[i].name);
        out->fix = arena_printf(v->arena, "`wait %s;` in role `%s`, in front of what it does with %s", bar_text(v, i),
                                role_name(v, p->t), v->k->bufs.v[p->then->at.buf].name);
        return true;
    }
    return false;
}

/* A barrier on which the first's role counts and that nobody waits for, or one that the second's role waits for and on
 * which the first's does not count: if there is one such. */
static bool one_sided(Verifier *v, const Pair *p, Told *out)
{
    if (unwaited(v, p, p->s->role, out)) return true;
    for (uint32_t r = 0; r < v->k->roles.n; r++)
        if (r != p->t->role && unwaited(v, p, r, out)) return true;
    for (uint32_t i = 0; i < v->k->bars.n; i++) {
        uint32_t waits = use_of(v, p->t->role, i, true);
        if (v->k->bars.v[i].derived || waits == UINT32_MAX || use_of(v, p->s->role, i, false) != UINT32_MAX) continue;
        if (p->then->write == false && p->first->phase && verify_bar(v, p->first->phase->slot) != i) continue;
        out->op = waits;
        out->label = arena_printf(v->arena, "%s waits for barrier %s here, on which %s does not count", who(v, p->t),
                                  v->k->bars.v[i].name, who(v, p->s));
        out->fix = arena_printf(v->arena, "`arrive` at %s in role `%s`, when it is done with %s", v->k->bars.v[i].name,
                                role_name(v, p->s), v->k->bufs.v[p->first->at.buf].name);
        return true;
    }
    return false;
}

/* A barrier at which the first's role arrives too early, or for which the second's waits too late. */
static bool misplaced(Verifier *v, const Pair *p, Told *out)
{
    for (uint32_t i = 0; i < v->k->bars.n; i++) {
        uint32_t counts = use_of(v, p->s->role, i, false), waits = use_of(v, p->t->role, i, true);
        if (v->k->bars.v[i].derived || counts == UINT32_MAX || waits == UINT32_MAX) continue;
        bool early = counts < p->first->op;
        if (!early && waits < p->then->op) continue;
        out->op = early ? counts : waits;
        out->label = early ? arena_printf(v->arena, "role `%s` counts on barrier %s before it", role_name(v, p->s),
                                          v->k->bars.v[i].name)
                           : arena_printf(v->arena, "role `%s` waits for barrier %s after it", role_name(v, p->t),
                                          v->k->bars.v[i].name);
        out->fix = early ? "move the arrival behind it" : "move the wait in front of it";
        return true;
    }
    return false;
}

/* The copy names no barrier: its own role waits for it where it uses the tile, and nobody else does. */
static const char *to_commit(Verifier *v, const Pair *p)
{
    return arena_printf(v->arena, "`commit` the copy to a barrier, and `wait` for it in role `%s`", role_name(v, p->t));
}

/* The copy is issued before, but may not be over. */
static Told not_over(Verifier *v, const Pair *p)
{
    const Access *a = p->first;
    Told out = {.op = UINT32_MAX};
    bool other = p->s->role != p->t->role && v->k->roles.n > 1;
    if (a->phase) {
        uint32_t bar = verify_bar(v, a->phase->slot);
        if (v->k->bars.v[bar].derived) out.fix = to_commit(v, p);
        else if (a->phase->slot / v->nslots == p->t->rank)
            out.fix = arena_printf(v->arena, "`wait %s;` between the two", bar_text(v, bar));
        else
            out.fix = arena_printf(v->arena,
                                   "`wait %s;` in the CTA that it reaches, which then arrives at a barrier of this one",
                                   bar_text(v, bar));
        return out;
    }
    const char *wait = a->group ? "`wait group read;`" : "`commit group` the store, and `wait group read;`";
    out.fix = other ? arena_printf(v->arena, "%s in role `%s` after it, before the role says that it is done with %s",
                                   wait, role_name(v, p->s), v->k->bufs.v[a->at.buf].name)
                    : arena_printf(v->arena, "%s between the two", wait);
    return out;
}

static Told what_orders(Verifier *v, const Pair *p)
{
    Told out = {.op = UINT32_MAX};
    const Access *a = p->first;
    bool one = p->s->role == p->t->role && p->s->rank == p->t->rank;
    if (a->async && !one && event_before(v, a->start, p->then->start)) return not_over(v, p);
    if (one) {
        uint32_t user = a->write && p->then->write ? other_user(v, p->t->role, a->at.buf) : UINT32_MAX;
        if (user == UINT32_MAX) return a->async ? not_over(v, p) : out;
        Pair q = *p;
        Thread by = {.role = user, .rank = a->at.rank};
        q.s = &by;
        return one_sided(v, &q, &out) ? out : not_over(v, p);
    }
    if (a->write && a->phase) {
        uint32_t bar = verify_bar(v, a->phase->slot), wait = use_of(v, p->t->role, bar, true);
        if (v->k->bars.v[bar].derived) {
            out.fix = to_commit(v, p);
        } else if (wait == UINT32_MAX) {
            out.fix = arena_printf(v->arena, "`wait %s;` in role `%s`, in front of what it does with %s",
                                   bar_text(v, bar), role_name(v, p->t), v->k->bufs.v[a->at.buf].name);
        } else {
            out.op = wait;
            out.label = arena_printf(
                v->arena, "this wait for %s is for another phase or slot, comes too late, or under a condition",
                v->k->bars.v[bar].name);
        }
        return out;
    }
    if (one_sided(v, p, &out) || misplaced(v, p, &out)) return out;
    out.fix = arena_printf(
        v->arena, "a barrier at which role `%s` arrives when it is done with %s, and for which role `%s` waits",
        role_name(v, p->s), v->k->bufs.v[a->at.buf].name, role_name(v, p->t));
    return out;
}

/* ---- the report ---- */

static const char *does(const Access *a)
{
    return a->reduce ? "adds to" : a->write ? "writes" : "reads";
}

static const char *first_label(Verifier *v, const Pair *p)
{
    const Access *a = p->first;
    if (a->phase && !v->k->bars.v[verify_bar(v, a->phase->slot)].derived)
        return arena_printf(v->arena, "%s %s it; barrier %s tells when that is over", who(v, p->s), does(a),
                            verify_bar_name(v, a->phase->slot));
    if (!a->async || a->phase) return arena_printf(v->arena, "%s %s it", who(v, p->s), does(a));
    return arena_printf(v->arena, "%s %s it, until %s", who(v, p->s), does(a),
                        a->group ? "a wait for its group says that this is over"
                                 : "the end: the store is not committed to a group");
}

static Diag *between_roles(Verifier *v, const Pair *p)
{
    Diag *g = verify_refuse(v, p->s->rank == p->t->rank ? E0612 : E0613, p->then->op,
                            "%s %s %s here, and nothing makes it wait for %s, which %s it%s", who(v, p->t),
                            does(p->then), tile_name(v, p->then), who(v, p->s), does(p->first),
                            event_of(v, p->first)->in.turn < event_of(v, p->then)->in.turn &&
                                    event_of(v, p->first)->in.level == event_of(v, p->then)->in.level
                                ? " in an earlier turn"
                                : "");
    verify_also(v, g, p->first->op, first_label(v, p));
    return g;
}

static Diag *in_one_role(Verifier *v, const Pair *p)
{
    const Access *a = p->first, *b = p->then;
    const char *name = v->k->bufs.v[a->at.buf].name;
    Diag *g;
    if (a->write && b->write && a->async && b->async) {
        uint32_t user = v->nranks == 1 || a->at.rank == p->t->rank ? other_user(v, p->t->role, a->at.buf) : UINT32_MAX;
        g = user == UINT32_MAX
                ? verify_refuse(v, E0657, b->op, "%s is written while another copy into it may be on its way", name)
                : verify_refuse(
                      v, E0657, b->op,
                      "%s writes %s here, and nothing makes it wait for the copy before to be over, nor for role `%s` "
                      "to be done with that",
                      who(v, p->t), name, v->k->roles.v[user].name);
        verify_also(v, g, a->op,
                    a->op == b->op ? "the other copy is that of an earlier turn: nothing has waited for it"
                                   : "the other copy: nothing has waited for it");
    } else if (p->s != p->t && !a->async) {
        g = verify_refuse(v, E0612, b->op, "nothing orders this access to %s and one by another thread of the role",
                          name);
        verify_also(v, g, a->op, "the other access");
    } else if (a->write) {
        g = verify_refuse(v, E0601, b->op, "%s is %s before what is written into it is certain to have arrived", name,
                          b->write ? "written" : "read");
        verify_also(v, g, a->op,
                    a->phase ? arena_printf(v->arena, "the copy into it; its barrier %s is not waited for in between",
                                            verify_bar_name(v, a->phase->slot))
                             : "the write");
    } else {
        g = verify_refuse(v, E0602, b->op, "%s is written while a %s may still read it", name,
                          a->phase ? "copy" : "store");
        verify_also(v, g, a->op,
                    a->phase   ? "the copy out of it: nothing has waited for its end"
                    : a->group ? "the store: no `wait group` has covered its group"
                               : "the store: not even committed to a group");
    }
    return g;
}

void tell_race(Verifier *v, const Race *r)
{
    Pair p = meaning(v, r);
    bool one = p.s->rank == p.t->rank && p.s->role == p.t->role;
    Diag *g = one ? in_one_role(v, &p) : between_roles(v, &p);
    if (g == NULL) return;
    Told told = what_orders(v, &p);
    if (told.op != UINT32_MAX) verify_also(v, g, told.op, told.label);
    if (told.fix) diag_fix(v->diags, g, "%s", told.fix);
}

enum { TOLD = 6 };

/* Launches may not have this run's conditions and trip counts together: those are tried each by itself. */
void tell_conditions(Verifier *v, Diag *g)
{
    bool loops = false, holds;
    uint32_t told = 0;
    for (uint32_t i = 0; i < v->choices.n; i++) loops |= !choice_condition(v, i, &holds);
    if (v->met_open || !loops) return;
    for (uint32_t i = 0; i < v->choices.n; i++) {
        if (!choice_condition(v, i, &holds) || told == TOLD) continue;
        verify_also(v, g, v->choices.v[i].op, holds ? "its condition is taken to hold" : "its condition is taken not to hold");
        told++;
    }
    if (told == 0) return;
    diag_note(v->diags, g, (Span){0, 0}, "a condition of sizes comes out either way, however often loops turn; a loop goes with those: `for k in min(n, c)`, not `if c < n`");
}

/* How many a phase has is derived: they are shown. */
void tell_arrivals(Verifier *v, Diag *g, uint32_t bar)
{
    uint32_t told = 0;
    if (g == NULL || v->k->bars.v[bar].derived) return;
    for (uint32_t i = 0; i < v->nops && told < TOLD; i++) {
        if (v->group[i] != IRG_BARRIER || v->ops[i]->op == IR_BAR_EXPECT || !verify_counts(v, i, bar)) continue;
        verify_also(v, g, i, "an arrival that each phase is to have");
        told++;
    }
    if (told > 1) diag_fix(v->diags, g, "let each of these arrivals come once in every phase, or use a barrier for each");
}

void tell_in_flight(Verifier *v, Diag *g, const Access *a)
{
    if (g == NULL) return;
    uint32_t bar = a->phase ? verify_bar(v, a->phase->slot) : 0;
    if (a->phase == NULL)
        diag_fix(v->diags, g,
                 a->group ? "`wait group read;` after it"
                          : "`commit group` the store, and `wait group read;` after it");
    if (a->phase == NULL || v->k->bars.v[bar].derived) return;
    uint32_t user = other_user(v, event_thread(v, a->start)->role, a->at.buf);
    if (user == UINT32_MAX) diag_fix(v->diags, g, "`wait %s;` after it%s", bar_text(v, bar), v->k->roles.n > 1 ? ", in some role" : "");
    else if (use_of(v, user, bar, true) != UINT32_MAX) /* but in fewer turns */
        diag_fix(v->diags, g, "let role `%s` wait for %s as often as this copies", v->k->roles.v[user].name, v->k->bars.v[bar].name);
    else
        diag_fix(v->diags, g, "`wait %s;` in role `%s`, in front of what it does with %s", bar_text(v, bar),
                 v->k->roles.v[user].name, v->k->bufs.v[a->at.buf].name);
}

/* ---- a wait that nobody ends ---- */

/* The buffer that the role uses next after the wait; UINT32_MAX: none. */
static uint32_t guarded_by(const Verifier *v, uint32_t wait)
{
    for (uint32_t i = wait + 1, end = verify_body(v, wait)->end; i < end; i++) {
        const IrArg *x = verify_arg(v, i, IRK_DST);
        if (x == NULL || x->kind != IRA_BUF) x = verify_arg(v, i, IRK_SRC);
        if (x && x->kind == IRA_BUF) return x->id;
    }
    return UINT32_MAX;
}

/* Of a copy that counts on a barrier: the role that waits for it; UINT32_MAX: none, or none that counts. */
static uint32_t who_knows(const Verifier *v, uint32_t copy)
{
    const IrArg *bar = verify_arg(v, copy, IRK_BAR);
    for (uint32_t r = 0; bar && r < v->k->roles.n; r++)
        if (use_of(v, r, bar->id, true) != UINT32_MAX) return r;
    return UINT32_MAX;
}

void tell_waiting(Verifier *v, Diag *g, uint32_t wait)
{
    uint32_t bar = verify_arg(v, wait, IRK_BAR)->id, buf = guarded_by(v, wait);
    if (g == NULL || v->k->bars.v[bar].derived || buf == UINT32_MAX || use_of(v, ALL, bar, false) != UINT32_MAX) return;
    uint32_t user = other_user(v, (uint32_t)(verify_body(v, wait) - v->bodies.v) - 1, buf);
    if (user == UINT32_MAX) return;
    const char *role = v->k->roles.v[user].name, *name = v->k->bufs.v[buf].name;
    uint32_t knows = who_knows(v, last_use(v, user, buf));
    if (knows != UINT32_MAX) {
        diag_fix(v->diags, g, "`arrive` at %s in role `%s`, when it has waited for %s", v->k->bars.v[bar].name,
                 v->k->roles.v[knows].name, v->k->bars.v[verify_arg(v, last_use(v, user, buf), IRK_BAR)->id].name);
        return;
    }
    verify_also(v, g, last_use(v, user, buf),
                arena_printf(v->arena, "role `%s` uses %s, and does not arrive at %s after it", role, name,
                             v->k->bars.v[bar].name));
    diag_fix(v->diags, g, "`arrive` at %s in role `%s`, when it is done with %s", v->k->bars.v[bar].name, role, name);
}
