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
static void put(const TreeFacts *f, DomAxis *axis, int k, const TreeAccess *x, uint32_t since)
{
    const TreePlace *p = &x->place;
    TreeView w = {x->rank, since, LOOK_WHOLE};
    axis->start[k] = sum_of(f, w, p->first, p->byte, p->slot, p->pitch);
    axis->extent[k] = sum_of(f, w, p->size, NULL, p->bytes, p->per);
}

/* Where it begins and ends, by what is known of the numbers that it is the sum of. */
static void find_ends(const TreeFacts *f, TreeAccess *x)
{
    const TreePlace *p = &x->place;
    Interval r = interval_at(p->first);
    if (p->byte) r = interval_add(r, tree_range(f, p->byte, x->rank));
    if (p->slot) r = interval_add(r, interval_mul(interval_at(p->pitch), tree_range(f, p->slot, x->rank)));
    x->begins = r;
    r = interval_add(r, interval_at(p->size));
    if (p->bytes) r = interval_add(r, interval_mul(interval_at(p->per), tree_range(f, p->bytes, x->rank)));
    x->ends = r;
}

/* .. and as the sums themselves, where that is not enough. */
static void add_up(const TreeFacts *f, TreeAccess *x)
{
    DomAxis at;
    if (x->summed) return;
    put(f, &at, 0, x, UINT32_MAX);
    Poly to = poly_add(f->domain, at.start[0], at.extent[0]);
    x->summed = true;
    x->start = at.start[0];
    x->extent = at.extent[0];
    x->lost |= to.bad;
    x->whole |= x->lost;
    x->begins = interval_meet(x->begins, domain_interval(f->domain, x->start));
    x->ends = interval_meet(x->ends, domain_interval(f->domain, to));
}

/* The number of the CTA to whose slot it goes; NULL: it is that of the slot. */
static const IrArg *target_of(const TreeFacts *f, const TreeAccess *x)
{
    return x->how == TO_EVENT ? ir_find(tree_op(f, x->op), IRK_RANK) : NULL;
}

enum { AXES = 2 };

static int axes_of(const TreeFacts *f, DomAxis axis[AXES], const TreeAccess *x, const TreeAccess *y, uint32_t since)
{
    const IrArg *to[] = {target_of(f, x), target_of(f, y)};
    const TreeAccess *of[] = {x, y};
    int n = to[0] || to[1] ? AXES : 1;
    Poly at[2];
    axis[0] = (DomAxis){.quiet = true};
    for (int k = 0; k < 2; k++) {
        TreeView w = {of[k]->rank, since, LOOK_WHOLE};
        if (since == UINT32_MAX) axis[0].start[k] = of[k]->start, axis[0].extent[k] = of[k]->extent;
        else put(f, &axis[0], k, of[k], since);
        if (n == AXES) at[k] = to[k] ? tree_value(f, w, to[k]) : poly_const(f->domain, of[k]->at);
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

/* Never both. */
static bool exclusive(const TreeFacts *f, const TreeAccess *x, const TreeAccess *y)
{
    int64_t k;
    IrVal a = tree_op(f, x->op)->guard.pred, b = tree_op(f, y->op)->guard.pred;
    return a && b && poly_is_const(tree_where(f, tree_where(f, poly_const(f->domain, 1), a, NULL, x->rank), b, NULL, y->rank), &k) && k == 0;
}

/* In the same iteration of all loops around both. */
static bool apart_at_once(const TreeFacts *f, const TreeAccess *x, const TreeAccess *y)
{
    DomAxis axis[AXES];
    if ((x->rank == y->rank && other_branch(f, x->op, y->op)) || exclusive(f, x, y)) return true;
    return domain_apart(f->domain, &(DomPair){.axis = axis, .naxes = axes_of(f, axis, x, y, UINT32_MAX)});
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
 * beginning moves. */
static bool widen(Domain *d, DomAxis *axis, int k, const Atom *team, int n)
{
    Poly moved, other, to = poly_add(d, axis->start[k], axis->extent[k]), from = without(d, axis->start[k], team, n, &moved);
    to = without(d, to, team, n, &other);
    if (!poly_same(moved, other) || !domain_min(d, from, &from) || !domain_max(d, to, &to)) return false;
    axis->start[k] = poly_add(d, moved, from);
    axis->extent[k] = poly_sub(d, to, from);
    return true;
}

/* In different ones. */
static bool always_apart(const TreeFacts *f, const TreeAccess *x, const TreeAccess *y, const IrVal *index, int n, uint32_t since)
{
    Atom team[LOOPS];
    const char *why;
    DomAxis axis[AXES];
    DomPair p = {.axis = axis, .naxes = axes_of(f, axis, x, y, since), .team = team, .nteam = n};
    for (int i = 0; i < n; i++) team[i] = tree_index(f, index[i], (TreeView){x->rank, since, LOOK_WHOLE});
    DomAxis as_found = axis[0];
    if (widen(f->domain, axis, 0, team, n) && widen(f->domain, axis, 1, team, n) && domain_apart_teams(f->domain, f->a, &p, &why)) return true;
    axis[0] = as_found;
    return domain_apart_teams(f->domain, f->a, &p, &why);
}
bool tree_conflict(const TreeFacts *f, TreeAccess *x, TreeAccess *y)
{
    IrVal index[LOOPS];
    int n = 0;
    uint32_t outer = 0;
    if (x->buf != y->buf || (!x->write && !y->write) || (x->adds && x->adds == y->adds)) return false;
    if (!x->whole && !y->whole && (x->ends.hi <= y->begins.lo || y->ends.hi <= x->begins.lo)) return false;
    if (f->k->bufs.v[x->buf].lanes && !(x->lanes[0] & y->lanes[0]) && !(x->lanes[1] & y->lanes[1])) return false;
    if (tree_in_order(f, x, y)) return false;
    if (x->whole || y->whole) return true;
    add_up(f, x);
    add_up(f, y);
    if (!find_turning(f, y, x, index, &n, &outer)) return true;
    bool again = y >= x; /* in another iteration, then: else x came first, and was asked about by y */
    return !((n == 0 || always_apart(f, x, y, index, n, outer - 1)) && (again || apart_at_once(f, x, y)));
}

/* It ends behind where it begins, under its conditions or not: what is announced counts on that, too (bytes.c). */
bool tree_inside(const TreeFacts *f, TreeAccess *x)
{
    const IrBuf *b = &f->k->bufs.v[x->buf];
    const TreePlace *p = &x->place;
    int64_t room = b->lanes ? 4 * (int64_t)tmem_width(b) : b->bytes;
    Domain *d = f->domain;
    find_ends(f, x);
    if (!x->lost && !x->whole && p->bytes == NULL && p->size >= 0 && x->begins.lo >= 0 && x->ends.hi <= room) return true;
    add_up(f, x);
    Poly zero = poly_const(d, 0), to = poly_add(d, x->start, x->extent);
    bool inside = !x->lost && (!x->whole || x->how == BY_COMMIT); /* what a descriptor leads to lies somewhere from there on */
    inside = inside && (x->whole || domain_le(d, zero, x->extent)) && (x->begins.lo >= 0 || domain_le(d, zero, x->start));
    return inside && (x->ends.hi <= room || domain_le(d, to, poly_const(d, room)));
}
