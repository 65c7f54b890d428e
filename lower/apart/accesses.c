/* What a kernel's moves touch in global memory, and what the conditions around them say of the indices. */
#include "lower/apart/apart.h"
#include "lower/kernel/report.h"

/* ---- conditions ---- */

static const Sx *through_lets(const Sx *x)
{
    while (x->op == SX_LET) x = x->a;
    return x;
}

/* Of what goes by the index's name. A value that other indices move is another one on each side. */
static void know(Lower *L, TensorAccess *a, OpenLoop atoms, int64_t modulus, Poly value)
{
    Poly from, last;
    if (!atoms.index || a->known.n == KNOWN_MAX || !domain_range(L->d, atoms.index, &from, &last)) return;
    value = poly_sub(L->d, value, from);
    if (!(domain_depends(L->d, value) & ~(unsigned)DEP_LAUNCH)) vec_push(L->a, &a->known, ((Known){atoms.index, atoms.turn, modulus, value}));
}

/* The atom of a plain index; none of anything else. */
static OpenLoop index_of(Lower *L, const Sx *x)
{
    const struct Scalars *s = L->scalars;
    if (x->op == SX_INDEX) return loop_state(L, x->k)->atoms;
    Poly p = x->op == SX_CTA ? s->cta[x->k] : (Poly){0};
    return (OpenLoop){.index = poly_plain(p)};
}

static void know_cluster(Lower *L, TensorAccess *a, int axis, Poly value)
{
    if (L->k->cluster[axis] == 1) return;
    OpenLoop own = {.index = L->scalars->cluster_atom[axis]};
    if (own.index) know(L, a, own, 0, value);
    else know(L, a, index_of(L, &(Sx){.op = SX_CTA, .k = axis}), L->k->cluster[axis], value);
}

/* x == value */
static void know_equal(Lower *L, TensorAccess *a, const Sx *x, Poly value)
{
    int64_t r;
    x = through_lets(x);
    if (x->op == SX_CLUSTER) {
        know_cluster(L, a, (int)x->k, value);
    } else if (x->op == SX_RANK && poly_is_const(value, &r)) {
        for (int i = 0; i < 3 && r >= 0; r /= L->k->cluster[i], i++)
            know_cluster(L, a, i, poly_const(L->d, r % L->k->cluster[i]));
    } else if (x->op == SX_MOD && through_lets(x->b)->op == SX_CONST && through_lets(x->b)->k >= 2) {
        know(L, a, index_of(L, through_lets(x->a)), through_lets(x->b)->k, value);
    } else {
        know(L, a, index_of(L, x), 0, value);
    }
}

/* least <= x <= most, of the launch (bad: nothing is known): it may have one value left. */
static void know_between(Lower *L, TensorAccess *a, const Sx *x, Poly least, Poly most)
{
    Poly p = scalar_poly(L, x), lo, hi;
    if (poly_same(least, most)) know_equal(L, a, x, least);
    else if (domain_min(L->d, p, &lo) && domain_le(L->d, most, lo)) know_equal(L, a, x, lo);
    else if (domain_max(L->d, p, &hi) && domain_le(L->d, hi, least)) know_equal(L, a, x, hi);
}

/* x != value: it is above its least, or below its greatest. */
static void know_unequal(Lower *L, TensorAccess *a, const Sx *x, Poly value)
{
    Poly p = scalar_poly(L, x), one = poly_const(L->d, 1), bad = {.bad = true}, lo, hi;
    if (domain_min(L->d, p, &lo) && domain_eq(L->d, value, lo)) know_between(L, a, x, poly_add(L->d, value, one), bad);
    else if (domain_max(L->d, p, &hi) && domain_eq(L->d, value, hi)) know_between(L, a, x, bad, poly_sub(L->d, value, one));
}

/* x - y >= less, > 0, == 0 or != 0: what that says of x, where the launch knows y. */
static void know_side(Lower *L, TensorAccess *a, const Condition *c, const Sx *x, const Sx *y)
{
    Poly value = scalar_poly(L, y), less = poly_const(L->d, c->less), bad = {.bad = true};
    if (scalar_uses(L, y) & ~USE_LAUNCH) return;
    if (c->kind == COND_EQUAL) know_equal(L, a, x, value);
    else if (c->kind == COND_UNEQUAL) know_unequal(L, a, x, value);
    else if (x == c->a) know_between(L, a, x, bad, poly_sub(L->d, value, less));
    else know_between(L, a, x, poly_add(L->d, value, less), bad);
}

/* What variables held where the condition stands nobody knows here. */
static void know_condition(Lower *L, TensorAccess *a, const Condition *c)
{
    if (c->b == NULL || (scalar_uses(L, c->a) | scalar_uses(L, c->b)) & USE_VAR) return;
    Poly x = scalar_poly(L, c->a), y = scalar_poly(L, c->b);
    bool less = domain_lt(L->d, x, y), more = domain_lt(L->d, y, poly_add(L->d, x, poly_const(L->d, c->less)));
    a->never |= c->kind == COND_ORDER ? more : c->kind == COND_EQUAL ? less || more : domain_eq(L->d, x, y);
    know_side(L, a, c, c->a, c->b);
    know_side(L, a, c, c->b, c->a);
}

/* ---- accesses ---- */

TensorAccess *tensor_access(Lower *L, const MoveInfo *mi)
{
    const struct Scalars *s = L->scalars;
    TensorAccess *a = arena_new(L->a, TensorAccess);
    *a = (TensorAccess){.info = mi, .write = !mi->load, .reduce = -1, .planned = UINT32_MAX, .taken = UINT32_MAX,
                        .pipe = L->accesses->across, .role = L->accesses->role, .nteam = s->nteam};
    if (mi->mv && !mi->load) a->reduce = mi->mv->reduce;
    a->waived = mi->mv && mi->mv->overlap_any;
    memcpy(a->team, s->team, sizeof a->team);
    for (uint32_t i = 0; i < s->open_loops.n; i++) vec_push(L->a, &a->loops, s->open_loops.v[i]);
    a->common = a->loops.n;
    for (uint32_t i = 0; i < s->conditions.n; i++) know_condition(L, a, &s->conditions.v[i]);
    axes_of(L, a);
    return a;
}

void access_note(Lower *L, const MoveInfo *mi)
{
    MfTensor *t = &L->ir->mf.tensors.v[base_of(mi->tensor)->index];
    if (mi->load) t->read = true;
    else t->written = true;
    if (!mi->load && mi->mv->reduce >= 0) t->read = true; /* it is combined with what lies there */
    if (mi->prefetch) return;
    struct Accesses *all = L->accesses;
    const TensorAccess *last = all->all.n ? all->all.v[all->all.n - 1] : NULL;
    TensorAccess *a = tensor_access(L, mi);
    a->number = all->all.n;
    if (last) a->nth_pipe = last->nth_pipe + (a->pipe != last->pipe);
    a->form = access_form(L, a);
    vec_push(L->a, &all->all, a);
}
