/* Which access has to wait for which, who makes them, and, where one thing plainly is missing, what would order them. */
#include "lower/verify/states/say/report.h"

typedef struct Pair { /* `then` has to wait for `first` */
    const Item *first, *then;
    uint32_t bar; /* that tells when first is over; NOWHERE: none does */
} Pair;

/* ---- what is known of an access ---- */

static const IrBuf *buf_of(const Checker *c, const Item *x)
{
    return &c->k->bufs.v[x->buf];
}

static const char *tile_name(const Checker *c, const Item *x)
{
    const char *name = buf_of(c, x)->name;
    return c->nctas == 1 ? name : arena_printf(c->arena, "%s of CTA %u", name, x->space % c->nctas);
}

static uint32_t body(const Checker *c, const Item *x)
{
    return c->place[x->agent].body;
}

/* Of a copy: the slot of a barrier on which it counts; NOWHERE: none. */
static uint32_t bar_that_tells(const Checker *c, const Item *x)
{
    const State *s = c->st;
    uint32_t i = (uint32_t)(x - s->items.v);
    if (!x->async || i >= s->items.n) return NOWHERE;
    const IrArg *own = ir_find(c->op[x->op], IRK_BAR); /* others may tell of it, too: who arrives there has waited for that one */
    for (uint32_t b = 0; b < s->bars.n; b++)
        for (uint32_t k = HEARD; k < BAR_SETS && (own == NULL || bar_number(c, s->bars.v[b].slot) == own->id); k++)
            if ((k != LAST || x->core) && set_has(bar_row(c, s, b, k), 2 * i)) return s->bars.v[b].slot;
    return NOWHERE;
}

static bool shifts(const Checker *c, const Item *x) /* it reads, too */
{
    return c->op[x->op]->op == IR_TC_SHIFT;
}

static bool has_barrier(const Checker *c, const Item *x)
{
    return x->async && (ir_find(c->op[x->op], IRK_BAR) || x->core);
}

/* What comes now is in none yet. */
static bool in_group(const Checker *c, const Item *x)
{
    const State *s = c->st;
    for (uint32_t i = 0; i < s->items.n; i++)
        if (&s->items.v[i] == x) return !set_has(set_of(c, s, x->agent, OPEN), 2 * i);
    return false;
}

/* The number of the barrier; NOWHERE: none, or the compiler's own. */
static uint32_t written_bar(const Checker *c, const Pair *p)
{
    const IrArg *bar = ir_find(c->op[p->first->op], IRK_BAR);
    uint32_t b = p->bar != NOWHERE ? bar_number(c, p->bar) : bar ? bar->id : NOWHERE;
    return b != NOWHERE && c->k->bars.v[b].derived ? NOWHERE : b;
}

static bool one_agent(const Pair *p)
{
    return p->first->agent == p->then->agent;
}

/* Something that its agent did behind it is known to the other one's. */
static bool issued_before(const Checker *c, const Pair *p)
{
    const State *s = c->st;
    const uint64_t *known = set_of(c, s, p->then->agent, KNOWN_ONE);
    bool any = one_agent(p);
    for (uint32_t i = 0; i < s->items.n && !any; i++) {
        const Item *x = &s->items.v[i];
        any = x->kind != ITEM_NONE && x->agent == p->first->agent && x->when > p->first->when && !x->async &&
              set_has(known, 2 * i);
    }
    return any;
}

/* ---- which of the two comes first in the meaning ---- */

static bool in_other_turns(const Item *x, const Item *y)
{
    return x->level == y->level && x->nth != y->nth;
}

/* In the order of the turns; in one turn what is written is read. An agent's own order is that of the run. */
static Pair meaning(const Checker *c, const Item *x, const Item *y)
{
    bool back = in_other_turns(x, y) ? y->nth < x->nth : !x->write && y->write;
    if (x->agent == y->agent || !back) return (Pair){x, y, bar_that_tells(c, x)};
    return (Pair){y, x, bar_that_tells(c, y)};
}

/* ---- what would order them ---- */

/* A barrier on which the role counts and that nobody waits for. */
static bool unwaited(Checker *c, const Pair *p, uint32_t role)
{
    for (uint32_t b = 0; b < c->k->bars.n; b++) {
        uint32_t op = unwaited_use(c, role, b);
        if (op == NOWHERE) continue;
        tell_also(c, op, "role `%s` counts on barrier %s here, which nothing waits for", c->code.v[role].role->name,
                  c->k->bars.v[b].name);
        tell_fix(c, "`wait %s;` in role `%s`, in front of what it does with %s", bar_text(c, b),
                 role_of(c, p->then->agent), buf_of(c, p->then)->name);
        return true;
    }
    return false;
}

/* A barrier on which the first one's role counts (`by`) and that nobody waits for, or one that the second's role waits for and on
 * which the first's does not count: if there is one such. */
static bool one_sided(Checker *c, const Pair *p, uint32_t by, uint32_t by_cta)
{
    uint32_t then = body(c, p->then);
    if (unwaited(c, p, by)) return true;
    for (uint32_t r = 1; r <= c->nroles; r++)
        if (r != then && unwaited(c, p, r)) return true;
    for (uint32_t b = 0; b < c->k->bars.n; b++) {
        uint32_t waits = use_of(c, then, b, true);
        if (c->k->bars.v[b].derived || waits == NOWHERE || use_of(c, by, b, false) != NOWHERE) continue;
        if (!p->then->write && has_barrier(c, p->first) && written_bar(c, p) != b) continue;
        tell_also(c, waits, "%s waits for barrier %s here, on which %s does not count", who(c, p->then->agent),
                  c->k->bars.v[b].name, who(c, by_cta * c->nroles + by - 1));
        tell_fix(c, "`arrive` at %s in role `%s`, when it is done with %s", c->k->bars.v[b].name,
                 c->code.v[by].role->name, buf_of(c, p->first)->name);
        return true;
    }
    return false;
}

/* A barrier at which the first one's role arrives too early, or for which the second's waits too late. */
static bool misplaced(Checker *c, const Pair *p)
{
    for (uint32_t b = 0; b < c->k->bars.n; b++) {
        uint32_t op = use_of(c, body(c, p->first), b, false), waits = use_of(c, body(c, p->then), b, true);
        if (c->k->bars.v[b].derived || op == NOWHERE || waits == NOWHERE) continue;
        bool early = op < p->first->op;
        if (!early && waits < p->then->op) continue;
        tell_also(c, early ? op : waits,
                  early ? "role `%s` counts on barrier %s before it" : "role `%s` waits for barrier %s after it",
                  role_of(c, early ? p->first->agent : p->then->agent), c->k->bars.v[b].name);
        tell_fix(c, early ? "move the arrival behind it" : "move the wait in front of it");
        return true;
    }
    return false;
}

/* The copy is issued before, but may not be over. */
static void fix_not_over(Checker *c, const Pair *p)
{
    const Item *a = p->first;
    uint32_t b = written_bar(c, p);
    if (has_barrier(c, a)) {
        if (b == NOWHERE)
            tell_fix(c, "`commit` the copy to a barrier, and `wait` for it in role `%s`", role_of(c, p->then->agent));
        else if (p->bar == NOWHERE || p->bar / c->nslots == c->place[p->then->agent].cta)
            tell_fix(c, "`wait %s;` between the two", bar_text(c, b));
        else
            tell_fix(c, "`wait %s;` in the CTA that it reaches, which then arrives at a barrier of this one",
                     bar_text(c, b));
        return;
    }
    const char *wait = in_group(c, a) ? "`wait group read;`" : "`commit group` the store, and `wait group read;`";
    if (body(c, a) == body(c, p->then)) tell_fix(c, "%s between the two", wait);
    else
        tell_fix(c, "%s in role `%s` after it, before the role says that it is done with %s", wait,
                 role_of(c, a->agent), buf_of(c, a)->name);
}

static void fix_arrival(Checker *c, const Pair *p)
{
    uint32_t b = written_bar(c, p), wait = b == NOWHERE ? b : use_of(c, body(c, p->then), b, true);
    if (b == NOWHERE)
        tell_fix(c, "`commit` the copy to a barrier, and `wait` for it in role `%s`", role_of(c, p->then->agent));
    else if (wait == NOWHERE)
        tell_fix(c, "`wait %s;` in role `%s`, in front of what it does with %s", bar_text(c, b),
                 role_of(c, p->then->agent), buf_of(c, p->first)->name);
    else
        tell_also(c, wait, "this wait for %s is for another phase or slot, comes too late, or under a condition",
                  c->k->bars.v[b].name);
}

static void tell_orders(Checker *c, const Pair *p)
{
    const Item *a = p->first;
    if (one_agent(p)) {
        uint32_t user = a->write && p->then->write && !shifts(c, p->then) ? other_user(c, body(c, p->then), a->buf) : 0;
        if (user && one_sided(c, p, user, a->space % c->nctas)) return;
        if (a->async) fix_not_over(c, p);
    } else if (a->async && issued_before(c, p)) {
        fix_not_over(c, p);
    } else if (a->write && has_barrier(c, a)) {
        fix_arrival(c, p);
    } else if (!one_sided(c, p, body(c, a), c->place[a->agent].cta) && !misplaced(c, p)) {
        tell_fix(c, "a barrier at which role `%s` arrives when it is done with %s, and for which role `%s` waits",
                 role_of(c, a->agent), buf_of(c, a)->name, role_of(c, p->then->agent));
    }
}

/* ---- races ---- */

static const char *does(const Item *x)
{
    return x->red ? "adds to" : x->write ? "writes" : "reads";
}

static void tell_between(Checker *c, const Pair *p)
{
    const Item *a = p->first, *b = p->then;
    bool near = c->place[a->agent].cta == c->place[b->agent].cta;
    tell(c, near ? E0612 : E0613, b->op, "%s %s %s here, and nothing makes it wait for %s, which %s it%s",
         who(c, b->agent), does(b), tile_name(c, b), who(c, a->agent), does(a),
         in_other_turns(a, b) && a->nth < b->nth ? " in an earlier turn" : "");
    uint32_t bar = written_bar(c, p);
    if (has_barrier(c, a) && bar != NOWHERE)
        tell_also(c, a->op, "%s %s it; barrier %s tells when that is over", who(c, a->agent), does(a),
                  p->bar == NOWHERE ? bar_text(c, bar) : bar_name(c, p->bar));
    else if (!a->async || has_barrier(c, a)) tell_also(c, a->op, "%s %s it", who(c, a->agent), does(a));
    else
        tell_also(c, a->op, "%s %s it, until %s", who(c, a->agent), does(a),
                  in_group(c, a) ? "a wait for its group says that this is over"
                                 : "the end: the store is not committed to a group");
}

static void tell_two_copies(Checker *c, const Pair *p)
{
    const Item *a = p->first, *b = p->then;
    uint32_t cta = c->place[b->agent].cta, user = a->space % c->nctas == cta ? other_user(c, body(c, b), a->buf) : 0;
    if (user)
        tell(c, E0657, b->op,
             "%s writes %s here, and nothing makes it wait for the copy before to be over, nor for role `%s` to be "
             "done with that",
             who(c, b->agent), buf_of(c, a)->name, c->code.v[user].role->name);
    else tell(c, E0657, b->op, "%s is written while another copy into it may be on its way", buf_of(c, a)->name);
    tell_also(c, a->op,
              a->op == b->op && a->nth != b->nth
                  ? "the other copy is that of an earlier turn: nothing has waited for it"
                  : "the other copy: nothing has waited for it");
}

static void tell_within(Checker *c, const Pair *p)
{
    const Item *a = p->first, *b = p->then;
    const char *name = buf_of(c, a)->name;
    if (!a->async) {
        tell(c, E0612, b->op, "nothing orders this access to %s and one by another thread of the role", name);
        tell_also(c, a->op, "the other access");
    } else if (a->write && b->write && b->async && !shifts(c, a) && !shifts(c, b)) {
        tell_two_copies(c, p);
    } else if (a->write && !shifts(c, a)) {
        tell(c, E0601, b->op, "%s is %s before what is written into it is certain to have arrived", name,
             b->write && !shifts(c, b) ? "written" : "read");
        if (p->bar == NOWHERE)
            tell_also(c, a->op,
                      has_barrier(c, a) ? "the copy into it: nothing has waited for it in between" : "the write");
        else tell_also(c, a->op, "the copy into it; its barrier %s is not waited for in between", bar_name(c, p->bar));
    } else {
        tell(c, E0602, b->op, "%s is written while a %s may still read it", name, has_barrier(c, a) ? "copy" : "store");
        tell_also(c, a->op,
                  has_barrier(c, a) ? "the copy out of it: nothing has waited for its end"
                  : in_group(c, a)  ? "the store: no `wait group` has covered its group"
                                    : "the store: not even committed to a group");
    }
}

void hold_unfenced(Checker *c, uint32_t i)
{
    const Item *y = &c->st->items.v[i];
    const char *name = buf_of(c, y)->name;
    uint32_t op = code_of(c)->first + c->pc;
    if (y->core) {
        tell(c, E0675, op,
             "this comes after another thread's access to %s with no tc.fence before and after between them", name);
        tell_also(c, y->op, y->async ? "begun here, and waited for" : "the other access");
    } else {
        tell(c, E0606, op,
             y->generic == FROM_AFAR ? "this copy comes after a fill of %s by another CTA, with no fence.async cluster "
                                       "in between by one who waited for it"
                                     : "this copy comes after threads wrote %s, with no fence.async in between, by "
                                       "them or by one who waited for them",
             name);
        tell_also(c, y->op, y->generic == FROM_AFAR ? "written by st.async or red.async" : "written by threads");
    }
    hold_told(c, HELD_RACE, 4);
}

void hold_race(Checker *c, const Item *x, uint32_t i)
{
    const Item *y = &c->st->items.v[i];
    Item now = *x;
    place_in_run(c, &now);
    if (y->core && !y->async &&
        issued_before(c, &(Pair){y, &now, NOWHERE})) { /* what is known of it a fence would tell */
        hold_unfenced(c, i);
        return;
    }
    Pair p = meaning(c, y, &now);
    if (one_agent(&p)) tell_within(c, &p);
    else tell_between(c, &p);
    tell_orders(c, &p);
    hold_told(c, HELD_RACE, x->op == y->op ? 1 : x->write && y->write && !shifts(c, x) && !shifts(c, y) ? 2 : 3);
}

/* ---- what is read, and at the end ---- */

enum { TOLD = 6 };

void tell_unwritten(Checker *c, const Where *w)
{
    const State *s = c->st;
    const IrBuf *b = &c->k->bufs.v[w->buf];
    bool apart = b->lanes || b->maps, any = false;
    int64_t lo, hi, base = apart ? (int64_t)(w->buf + 1) << 32 : b->offset, pitch = apart ? b->bytes : b->pitch;
    for (uint32_t i = 0; i < s->written.n && !any; i++) {
        const Piece *p = &s->written.v[i];
        bool before = facts_imply(&c->n, &s->facts, num_add(&c->n, w->lo, -1, p->hi)),
             behind = facts_imply(&c->n, &s->facts, num_add(&c->n, p->lo, -1, w->hi));
        any = p->space == w->space && !before && !behind;
    }
    bool known = num_is(&c->n, w->lo, &lo) && num_is(&c->n, w->hi, &hi);
    tell(c, E0610, code_of(c)->first + c->pc, "%s is read where %s: bytes %s .. %s", b->name,
         any ? "not every byte is certain to have been written" : "nothing has written it",
         known ? arena_printf(c->arena, "%lld", (long long)((lo - base) % pitch)) : "(known at run time)",
         known ? arena_printf(c->arena, "%lld", (long long)((lo - base) % pitch + hi - lo)) : "(known at run time)");
    for (uint32_t i = 0, told = 0; i < c->nops && any && told < TOLD; i++) {
        const IrArg *dst = ir_find(c->op[i], IRK_DST);
        if (dst == NULL || dst->kind != IRA_BUF || dst->id != w->buf) continue;
        tell_also(c, i, "writes a part of it, or under a condition, or not certainly before");
        told++;
    }
    tell_fix(c, any ? "write all that is read, on every way that leads here" : "move something into it before");
}

static void tell_freed(Checker *c, const Item *x)
{
    tell(c, E0674, x->op, "tensor memory may be freed while this still works on %s", buf_of(c, x)->name);
    for (uint32_t i = 0; i < c->nops; i++)
        if (c->op[i]->op == IR_TC_FREE) tell_also(c, i, "freed here");
}

static void tell_in_flight(Checker *c, uint32_t item)
{
    const Item *x = &c->st->items.v[item];
    Pair p = {x, x, bar_that_tells(c, x)};
    const char *name = buf_of(c, x)->name;
    uint32_t cta = x->space % c->nctas, b = written_bar(c, &p);
    bool counts_somewhere = has_barrier(c, x);
    if (c->place[x->agent].cta != cta)
        tell(c, E0625, x->op, "CTA %u may end while this copy still accesses its %s", cta, name);
    else if (x->core && p.bar == NOWHERE) tell(c, E0676, x->op, "no tc.commit behind this says when it is done");
    else if (x->core) tell_freed(c, x);
    else if (counts_somewhere)
        tell(c, E0650, x->op, "the kernel ends while this copy may still be %s %s: nothing waits for barrier %s",
             x->write ? "writing" : "reading", name,
             p.bar == NOWHERE ? c->k->bars.v[ir_find(c->op[x->op], IRK_BAR)->id].name : bar_name(c, p.bar));
    else
        tell(c, E0624, x->op, "the kernel ends while this store may still read %s: %s", name,
             in_group(c, x) ? "no grp.wait covers its group" : "it is not even committed to a group");
    if (!counts_somewhere)
        tell_fix(c, in_group(c, x) ? "`wait group read;` after it"
                                   : "`commit group` the store, and `wait group read;` after it");
    if (!counts_somewhere || b == NOWHERE) return;
    uint32_t user = other_user(c, body(c, x), x->buf);
    if (user == 0) tell_fix(c, "`wait %s;` after it%s", bar_text(c, b), c->nroles > 1 ? ", in some role" : "");
    else if (use_of(c, user, b, true) != NOWHERE) /* but in fewer turns */
        tell_fix(c, "let role `%s` wait for `%s` as often as this copies", c->code.v[user].role->name,
                 c->k->bars.v[b].name);
    else
        tell_fix(c, "`wait %s;` in role `%s`, in front of what it does with %s", bar_text(c, b),
                 c->code.v[user].role->name, name);
}

void refuse_in_flight(Checker *c, uint32_t item)
{
    tell_in_flight(c, item);
    refuse_told(c);
}

void refuse_freed(Checker *c, uint32_t item)
{
    tell_freed(c, &c->st->items.v[item]);
    refuse_told(c);
}

void refuse_far(Checker *c, uint32_t bar, uint32_t item)
{
    tell(c, E0625, c->st->items.v[item].op, "CTA %u may end before this counts on its barrier %s", bar / c->nslots,
         bar_name(c, bar));
    refuse_told(c);
}

/* ---- global memory ---- */

void tell_tensors(Checker *c, uint32_t op, bool write, uint32_t y, bool over)
{
    const Item *a = &c->st->items.v[y];
    const char *store = in_group(c, a) ? "the store, not waited for with grp.wait full" : "the store, not even committed to a group";
    if (!write && over) {
        tell(c, E0654, op, "this copy reads global memory written by a finished store, with no fence.async global in between");
        tell_also(c, a->op, "the store");
    } else if (!write) {
        tell(c, E0654, op, "this copy reads global memory that a store may still be writing");
        tell_also(c, a->op, "%s", store);
    } else if (a->write) {
        tell(c, E0661, op, "this store writes the place that another store in flight writes: which comes last is open");
        tell_also(c, a->op, "the other store, not waited for with grp.wait full");
    } else {
        tell(c, E0661, op, "this store writes global memory that a load in flight may still read");
        tell_also(c, a->op, "the load");
    }
}

/* ---- barriers ---- */

void also_unwaited(Checker *c)
{
    for (uint32_t b = 0; b < c->k->bars.n; b++) {
        uint32_t op = unwaited_use(c, 0, b);
        if (op == NOWHERE) continue;
        tell_also(c, op, "counts on barrier %s, which nothing waits for", c->k->bars.v[b].name);
        tell_fix(c, "`wait %s;` in front of what this says may be done", bar_text(c, b));
    }
}

/* How many a phase has is derived: they are shown. */
void also_arrivals(Checker *c, uint32_t b)
{
    uint32_t told = 0;
    for (uint32_t i = 0; i < c->nops && told < TOLD && !c->k->bars.v[b].derived; i++) {
        if (ir_op_info((IrOpcode)c->op[i]->op)->group != IRG_BARRIER || c->op[i]->op == IR_BAR_EXPECT ||
            !counts(c, i, b))
            continue;
        tell_also(c, i, "an arrival that each phase is to have");
        told++;
    }
    if (told > 1) tell_fix(c, "let each of these arrivals come once in every phase, or use a barrier for each");
}
