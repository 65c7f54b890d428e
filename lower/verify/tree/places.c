/* Places in a slot: what two accesses of one generation surely have not in common.
 *
 * Loops within a generation give an access many instances: two of them lie apart where those of different iterations do, whatever else
 * is another one there, and those of one iteration, where all that is made in front of either is one number for both, or only one of them happens. */
#include "lang/checked.h"
#include "lower/ir/tensor_memory.h"
#include "lower/verify/tree/state.h"

int64_t tree_trips(const IrOp *op)
{
    const IrArg *a = ir_find(op, IRK_A), *b = ir_find(op, IRK_B), *n = ir_find(op, IRK_N);
    if (op->op == IR_LANES) return n->imm;
    int64_t trips;
    if (op->op == IR_REPEAT || a->kind != IRA_IMM || b->kind != IRA_IMM || !sub_s64(b->imm, a->imm, &trips)) return TREE_TRIPS_OPEN;
    return trips > 0 ? trips : 0;
}

/* ---- loops within the generation ---- */

/* The loop around the op, from 1; 0: none more. */
static uint32_t loop_around(const TreeFacts *f, uint32_t op)
{
    uint32_t b = f->at[op].around;
    while (b && (tree_op(f, b - 1)->op == IR_IF || tree_op(f, b - 1)->op == IR_ELSE)) b = f->at[b - 1].around;
    return b;
}

/* Can op `to` meet the generation that op `from` has met in an earlier iteration of that loop, which is around both? Not if one surely
 * begins on the way: behind `from`, or in front of `to`, in a block around it. */
static bool turns_within(const TreeFacts *f, uint32_t ring, uint32_t from, uint32_t to, uint32_t loop)
{
    const TreeRing *r = &f->ring[ring];
    uint32_t end = f->at[loop - 1].end;
    for (uint32_t i = tree_not_before(r->begun.v, r->begun.n, loop); i < r->begun.n && r->begun.v[i] < end; i++) {
        uint32_t at = r->begun.v[i], in = f->at[at].around - 1;
        if (at > from && in < from && from < f->at[in].end) return false;
        if (at < to && to < f->at[in].end) return false;
    }
    return true;
}

/* The innermost loop around both, from 1, outside of `inner`, that turns within a generation from the one to the other; 0: none more. */
static uint32_t turning(const TreeFacts *f, uint32_t ring, uint32_t from, uint32_t to, uint32_t inner)
{
    uint32_t b = loop_around(f, inner ? inner - 1 : from);
    while (b && (b > to || f->at[b - 1].end < to || !turns_within(f, ring, from, to, b))) b = loop_around(f, b - 1);
    return b;
}

/* ---- places ---- */

static Poly sum_of(const TreeFacts *f, TreeView w, int64_t first, const IrArg *x, const IrArg *y, int64_t times)
{
    Poly p = poly_const(f->domain, first);
    if (x) p = poly_add(f->domain, p, tree_value(f, w, x));
    if (y) p = poly_add(f->domain, p, poly_mul(f->domain, tree_value(f, w, y), poly_const(f->domain, times)));
    return p;
}

/* Side k: what is made behind `since` is another number for each. */
static void put(const TreeFacts *f, DomAxis *axis, int k, const TreePlace *p, uint32_t since)
{
    TreeView w = {p->rank, since, LOOK_WHOLE};
    axis->start[k] = sum_of(f, w, p->first, p->byte, p->slot, p->pitch);
    axis->extent[k] = sum_of(f, w, p->size, NULL, p->bytes, p->per);
}

/* Where it begins and ends, by what is known of the numbers that it is the sum of. */
static void find_ends(const TreeFacts *f, TreePlace *p)
{
    Interval r = interval_at(p->first);
    if (p->found) return;
    if (p->byte) r = interval_add(r, tree_range(f, p->byte, p->rank));
    if (p->slot) r = interval_add(r, interval_mul(interval_at(p->pitch), tree_range(f, p->slot, p->rank)));
    p->begins = r;
    r = interval_add(r, interval_at(p->size));
    if (p->bytes) r = interval_add(r, interval_mul(interval_at(p->per), tree_range(f, p->bytes, p->rank)));
    p->ends = r;
    p->found = true;
}

/* .. and as the sums themselves, where that is not enough. */
static void add_up(const TreeFacts *f, TreePlace *p)
{
    DomAxis at;
    if (p->summed) return;
    put(f, &at, 0, p, UINT32_MAX);
    Poly to = poly_add(f->domain, at.start[0], at.extent[0]);
    p->summed = true;
    p->start = at.start[0];
    p->extent = at.extent[0];
    p->lost |= to.bad;
    p->whole |= p->lost;
    p->begins = interval_meet(p->begins, domain_interval(f->domain, p->start));
    p->ends = interval_meet(p->ends, domain_interval(f->domain, to));
}

/* Of two accesses that are done in one generation, y before x; their places: in their CTAs, or, of one CTA, in any. */
typedef struct Pair {
    const TreeAccess *of[2]; /* x, y */
    TreePlace *at[2];
} Pair;

enum { AXES = 2 };

static int axes_of(const TreeFacts *f, DomAxis axis[AXES], const Pair *p, uint32_t since)
{
    const IrArg *to[] = {p->at[0]->target, p->at[1]->target};
    int n = to[0] || to[1] ? AXES : 1;
    Poly at[2];
    axis[0] = (DomAxis){.quiet = true};
    for (int k = 0; k < 2; k++) {
        if (since == UINT32_MAX) axis[0].start[k] = p->at[k]->start, axis[0].extent[k] = p->at[k]->extent;
        else put(f, &axis[0], k, p->at[k], since);
        if (n == AXES) at[k] = to[k] ? tree_value(f, (TreeView){p->at[k]->rank, since, LOOK_WHOLE}, to[k]) : poly_const(f->domain, p->of[k]->at);
    }
    if (n == AXES) axis[1] = domain_number(f->domain, at[0], at[1]);
    return n;
}

/* ---- apart ---- */

/* In the two branches of one `if`. */
static bool other_branch(const TreeFacts *f, uint32_t a, uint32_t b)
{
    for (uint32_t x = f->at[a].around; x; x = f->at[x - 1].around)
        for (uint32_t y = f->at[b].around; y; y = f->at[y - 1].around)
            if ((tree_op(f, x - 1)->op == IR_IF && f->at[x - 1].end == y - 1) || (tree_op(f, y - 1)->op == IR_IF && f->at[y - 1].end == x - 1)) return true;
    return false;
}

/* What holds where the condition holds, and what does not: noted as that of the first of two, or found noted the other way round. */
static bool contradicts(const TreeFacts *f, IrVal v, bool first, bool same_cta)
{
    enum { PARTS = 512 };
    TreeAsked *q = f->asked;
    for (int n = 0; v && n < PARTS; n++) {
        const IrOp *op = tree_definition(f, v);
        const IrArg *a = op && (op->op == IR_AND || op->op == IR_NOT) ? ir_find(op, IRK_A) : NULL, *b = a ? ir_find(op, IRK_B) : NULL;
        if (b && b->kind == IRA_VAL && contradicts(f, b->id, first, same_cta)) return true;
        bool fails = a && !b && a->kind == IRA_VAL;
        if (!b && (same_cta || tree_same(f, fails ? a->id : v))) {
            uint32_t *held = &q->held[(fails ? a->id : v) - 1], is = 2 * q->pairs + fails;
            if (!first && *held == (is ^ 1)) return true;
            if (first) *held = is;
        }
        v = b && a->kind == IRA_VAL ? a->id : 0;
    }
    return false;
}

/* Never both. */
static bool exclusive(const TreeFacts *f, const Pair *p)
{
    int64_t k;
    IrVal a = tree_op(f, p->of[0]->op)->guard.pred, b = tree_op(f, p->of[1]->op)->guard.pred;
    uint32_t at[] = {p->at[0]->rank, p->at[1]->rank};
    if (a == 0 || b == 0) return false;
    if (f->asked->held == NULL) f->asked->held = arena_array(f->a, uint32_t, f->values);
    f->asked->pairs++;
    if (contradicts(f, a, true, at[0] == at[1]) || contradicts(f, b, false, at[0] == at[1])) return true;
    return poly_is_const(tree_where(f, tree_where(f, poly_const(f->domain, 1), a, NULL, at[0]), b, NULL, at[1]), &k) && k == 0;
}

/* In the same iteration of all loops around both. */
static bool apart_at_once(const TreeFacts *f, const Pair *p)
{
    DomAxis axis[AXES];
    if ((p->at[0]->rank == p->at[1]->rank && other_branch(f, p->of[0]->op, p->of[1]->op)) || exclusive(f, p)) return true;
    return domain_apart(f->domain, &(DomPair){.axis = axis, .naxes = axes_of(f, axis, p, UINT32_MAX)});
}

enum { LOOPS = 8 };

/* The loops around both that turn within the generation, from the one to the other, and the outermost. False: too many, or one that has no index. */
static bool find_turning(const TreeFacts *f, const TreeAccess *from, const TreeAccess *to, IrVal *index, int *n, uint32_t *outer)
{
    for (uint32_t b = turning(f, from->ring, from->op, to->op, 0); b; b = turning(f, from->ring, from->op, to->op, b)) {
        IrVal v = tree_op(f, b - 1)->dst;
        if (v == 0 || *n == LOOPS) return false;
        index[(*n)++] = v;
        *outer = b;
    }
    return true;
}

/* p less so many times what it has of the indices alone: those are added to *moved. */
static Poly without(Domain *d, Poly p, const Atom *team, int n, Poly *moved)
{
    *moved = poly_const(d, 0);
    for (uint32_t i = 0; i < p.n; i++)
        for (int k = 0; k < n; k++)
            if (p.terms[i].natoms == 1 && p.terms[i].atoms[0] == team[k]) *moved = poly_add(d, *moved, (Poly){&p.terms[i], 1, false});
    return poly_sub(d, p, *moved);
}

/* From the first byte of an iteration to the last, whatever else is another number: the end of a part may be where it is though its
 * beginning moves. Where the two move by other steps those count that are all that the index does: of 256 * i and 240 * i + 32 * (i / 2). */
static bool widen(Domain *d, DomAxis *axis, int k, const Atom *team, int n)
{
    Poly moved, other, to = poly_add(d, axis->start[k], axis->extent[k]), from = without(d, axis->start[k], team, n, &moved);
    bool mixed = false;
    without(d, to, team, n, &other);
    for (int i = 0; i < n; i++) mixed = mixed || domain_mentions(d, from, team[i]);
    if (mixed) from = poly_sub(d, axis->start[k], moved = other);
    to = poly_sub(d, to, moved);
    if (!domain_min(d, from, &from) || !domain_max(d, to, &to)) return false;
    axis->start[k] = poly_add(d, moved, from);
    axis->extent[k] = poly_sub(d, to, from);
    return true;
}

/* In different ones. */
static bool always_apart(const TreeFacts *f, const Pair *pair, const IrVal *index, int n, uint32_t since)
{
    Atom team[LOOPS];
    const char *why;
    DomAxis axis[AXES];
    DomPair p = {.axis = axis, .naxes = axes_of(f, axis, pair, since), .team = team, .nteam = n};
    for (int i = 0; i < n; i++) team[i] = tree_index(f, index[i], (TreeView){pair->at[0]->rank, since, LOOK_WHOLE});
    DomAxis as_found = axis[0];
    if (widen(f->domain, axis, 0, team, n) && widen(f->domain, axis, 1, team, n) && domain_apart_teams(f->domain, f->a, &p, &why)) return true;
    axis[0] = as_found;
    return domain_apart_teams(f->domain, f->a, &p, &why);
}

static bool is_beyond(const TreePlace *p, const TreePlace *q)
{
    return !p->whole && !q->whole && (p->ends.hi <= q->begins.lo || q->ends.hi <= p->begins.lo);
}

static bool meets(const TreeFacts *f, const Pair *p)
{
    IrVal index[LOOPS];
    int n = 0;
    uint32_t outer = 0;
    const TreeAccess *x = p->of[0], *y = p->of[1];
    for (int k = 0; k < 2; k++) find_ends(f, p->at[k]);
    if (is_beyond(p->at[0], p->at[1])) return false;
    if (p->at[0]->whole || p->at[1]->whole) return true;
    for (int k = 0; k < 2; k++) add_up(f, p->at[k]);
    if (!find_turning(f, y, x, index, &n, &outer)) return true;
    bool again = y >= x; /* in another iteration, then: else x came first, and was asked about by y */
    return !((n == 0 || always_apart(f, p, index, n, outer - 1)) && (again || apart_at_once(f, p)));
}

/* The same is asked of CTAs one after the other. */
static bool meets_again(const TreeFacts *f, const TreeAccess *x, const TreeAccess *y, TreePlace *at, TreePlace *before)
{
    if (before->beside != at) before->meets = meets(f, &(Pair){{x, y}, {at, before}});
    before->beside = at->target || before->target ? NULL : at; /* it is about CTAs, too */
    return before->meets;
}

bool tree_conflict(const TreeFacts *f, const TreeAccess *x, const TreeAccess *y)
{
    if (x->buf != y->buf || (!x->write && !y->write) || (x->adds && x->adds == y->adds) || is_beyond(x->any, y->any)) return false;
    if (f->k->bufs.v[x->buf].lanes && !(x->place->lanes[0] & y->place->lanes[0]) && !(x->place->lanes[1] & y->place->lanes[1])) return false;
    if (tree_in_order(f, x, y)) return false;
    bool any = x->rank == y->rank && !x->any->target && !y->any->target && (x->any != x->place || y->any != y->place);
    return (!any || meets_again(f, x, y, x->any, y->any)) && meets_again(f, x, y, x->place, y->place);
}

static bool inside(const TreeFacts *f, const TreeAccess *x, TreePlace *p)
{
    const IrBuf *b = &f->k->bufs.v[x->buf];
    int64_t room = b->lanes ? 4 * (int64_t)tmem_width(b) : b->bytes;
    Domain *d = f->domain;
    find_ends(f, p);
    if (!p->lost && !p->whole && p->bytes == NULL && p->size >= 0 && p->begins.lo >= 0 && p->ends.hi <= room) return true;
    add_up(f, p);
    Poly zero = poly_const(d, 0), to = poly_add(d, p->start, p->extent);
    bool known = !p->lost && (!p->whole || x->how == BY_COMMIT); /* what a descriptor leads to lies somewhere from there on */
    known = known && (p->whole || domain_le(d, zero, p->extent)) && (p->begins.lo >= 0 || domain_le(d, zero, p->start));
    return known && (p->ends.hi <= room || domain_le(d, to, poly_const(d, room)));
}

/* It ends behind where it begins, under its conditions or not: what is announced counts on that, too (bytes.c). */
bool tree_inside(const TreeFacts *f, const TreeAccess *x)
{
    if (!x->any->inside) x->any->inside = inside(f, x, x->any);
    return x->any->inside || inside(f, x, x->place);
}
