/* What a kernel's moves touch in global memory, and what the conditions around them say of the indices. */
#include "lower/apart/apart.h"
#include "lower/kernel/report.h"

/* ---- conditions ---- */

static void know(Lower *L, TensorAccess *a, Poly number, Poly value)
{
    bool known = number.n && !number.bad && !value.bad;
    if (known && a->known.n < KNOWN_MAX) vec_push(L->a, &a->known, ((Known){number, value}));
}

/* least <= number <= most (bad: nothing is said): it may have one value left. */
static void know_between(Lower *L, TensorAccess *a, Poly number, Poly least, Poly most)
{
    Poly lo, hi;
    if (poly_same(least, most)) know(L, a, number, least);
    else if (domain_min(L->d, number, &lo) && domain_le(L->d, most, lo)) know(L, a, number, lo);
    else if (domain_max(L->d, number, &hi) && domain_le(L->d, hi, least)) know(L, a, number, hi);
}

/* Of x - y as a number that moves, and what a launch knows. What variables held where the condition stands nobody knows here. */
static void know_condition(Lower *L, TensorAccess *a, const Condition *c)
{
    Domain *d = L->d;
    if (c->b == NULL || (scalar_uses(L, c->a) | scalar_uses(L, c->b)) & USE_VAR) return;
    Poly x = scalar_poly(L, c->a), y = scalar_poly(L, c->b), one = poly_const(d, 1), bad = {.bad = true}, number, value, lo, hi;
    bool less = domain_lt(d, x, y), more = domain_lt(d, y, poly_add(d, x, poly_const(d, c->less))), down;
    a->never |= c->kind == COND_ORDER ? more : c->kind == COND_EQUAL ? less || more : domain_eq(d, x, y);
    domain_split(d, poly_sub(d, x, y), DEP_TEAM | DEP_RANK | DEP_LOOP | DEP_DATA, &number, &value);
    down = number.n && number.terms[0].coef < 0; /* a number is written in one way */
    if (down) number = poly_sub(d, poly_const(d, 0), number);
    else value = poly_sub(d, poly_const(d, 0), value);
    if (c->kind == COND_ORDER && number.n && !number.bad && a->holds.n < KNOWN_MAX)
        vec_push(L->a, &a->holds, poly_sub(d, poly_sub(d, y, x), poly_const(d, c->less)));
    if (c->kind == COND_EQUAL) know(L, a, number, value);
    else if (c->kind == COND_ORDER && down) know_between(L, a, number, poly_add(d, value, poly_const(d, c->less)), bad);
    else if (c->kind == COND_ORDER) know_between(L, a, number, bad, poly_sub(d, value, poly_const(d, c->less)));
    else if (domain_min(d, number, &lo) && domain_eq(d, value, lo)) know_between(L, a, number, poly_add(d, lo, one), bad);
    else if (domain_max(d, number, &hi) && domain_eq(d, value, hi)) know_between(L, a, number, bad, poly_sub(d, hi, one));
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
