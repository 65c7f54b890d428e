/* What a kernel's moves touch in global memory, and what the conditions around them say of the indices. */
#include "lower/apart/apart.h"
#include "lower/kernel/report.h"

/* ---- conditions ---- */

static const Sx *through_lets(const Sx *x)
{
    while (x->op == SX_LET) x = x->a;
    return x;
}

static void know(Lower *L, TensorAccess *a, OpenLoop atoms, int64_t modulus, Poly value)
{
    if (atoms.index && a->known.n < KNOWN_MAX) vec_push(L->a, &a->known, ((Known){atoms.index, atoms.turn, modulus, value}));
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

/* Of two values the other one. */
static bool other_of_two(Lower *L, const Sx *x, Poly value, Poly *other)
{
    int64_t k;
    x = through_lets(x);
    int64_t n = x->op == SX_RANK ? L->cluster_size : x->op == SX_CLUSTER ? L->k->cluster[x->k]
              : x->op == SX_MOD && through_lets(x->b)->op == SX_CONST ? through_lets(x->b)->k : 0;
    if (n != 2 || !poly_is_const(value, &k) || k < 0 || k > 1) return false;
    *other = poly_const(L->d, 1 - k);
    return true;
}

/* x <= most, or x >= least: an index may have one value left. */
static void know_bound(Lower *L, TensorAccess *a, const Sx *x, Poly bound, bool below)
{
    OpenLoop atoms = index_of(L, through_lets(x));
    Poly first, last;
    if (!atoms.index || !domain_range(L->d, atoms.index, &first, &last)) return;
    Poly end = below ? first : last;
    bool left = below ? domain_le(L->d, bound, end) : domain_le(L->d, end, bound);
    if (left && !(domain_depends(L->d, end) & ~(unsigned)DEP_LAUNCH)) know(L, a, atoms, 0, end);
}

/* What variables held where the condition stands nobody knows here. */
static void know_order(Lower *L, TensorAccess *a, const Condition *c)
{
    if ((scalar_uses(L, c->a) | scalar_uses(L, c->b)) & USE_VAR) return;
    Poly less = poly_const(L->d, c->less), lo = scalar_poly(L, c->a), hi = scalar_poly(L, c->b);
    a->never |= domain_lt(L->d, hi, poly_add(L->d, lo, less));
    if (!(scalar_uses(L, c->b) & ~USE_LAUNCH)) know_bound(L, a, c->a, poly_sub(L->d, hi, less), true);
    if (!(scalar_uses(L, c->a) & ~USE_LAUNCH)) know_bound(L, a, c->b, poly_add(L->d, lo, less), false);
}

static void know_condition(Lower *L, TensorAccess *a, const Condition *c)
{
    if (c->kind == COND_ORDER) {
        know_order(L, a, c);
        return;
    }
    if (c->b == NULL) return;
    bool right = !(scalar_uses(L, c->b) & ~USE_LAUNCH);
    const Sx *x = right ? c->a : c->b, *of = right ? c->b : c->a;
    if (scalar_uses(L, of) & ~USE_LAUNCH) return;
    Poly value = scalar_poly(L, of);
    if (c->kind == COND_EQUAL || other_of_two(L, x, value, &value)) know_equal(L, a, x, value);
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
