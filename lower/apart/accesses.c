/* What a kernel's moves touch in global memory, and what the conditions around them say of the indices. */
#include "lower/apart/apart.h"
#include "lower/kernel/report.h"

/* ---- conditions ---- */

static void know(Lower *L, TensorAccess *a, Poly number, Poly value)
{
    bool known = number.n && !number.bad && !value.bad;
    if (known && a->known.n < KNOWN_MAX) vec_push(L->a, &a->known, ((Known){number, value}));
}

typedef struct Range { /* least <= number <= most, by the conditions so far (bad: nothing is said) */
    Poly number, least, most;
    bool raised; /* least is no more what it is by itself */
} Range;
typedef struct Ranges {
    Range v[KNOWN_MAX];
    struct Unequal {
        Range *range;
        Poly value;
    } unequal[KNOWN_MAX];
    int n, nunequal;
} Ranges;

static Range *range_of(Lower *L, Ranges *all, Poly number)
{
    for (int i = 0; i < all->n; i++)
        if (poly_same(all->v[i].number, number)) return &all->v[i];
    if (all->n == KNOWN_MAX || number.n == 0 || number.bad) return NULL;
    Range *r = &all->v[all->n++];
    *r = (Range){.number = number};
    r->least.bad = !domain_min(L->d, number, &r->least);
    r->most.bad = !domain_max(L->d, number, &r->most);
    return r;
}

static void raise_least(Range *r, Poly least)
{
    r->least = least;
    r->raised = true;
}

/* Ends that are not among the values are none: of 0 .. 2 without 0 and 1 one value is left. */
static bool cut_end(Lower *L, const struct Unequal *u)
{
    Range *r = u->range;
    if (domain_eq(L->d, u->value, r->least)) raise_least(r, poly_add(L->d, r->least, poly_const(L->d, 1)));
    else if (domain_eq(L->d, u->value, r->most)) r->most = poly_sub(L->d, r->most, poly_const(L->d, 1));
    else return false;
    return true;
}

static void know_ranges(Lower *L, TensorAccess *a, Ranges *all)
{
    for (bool cut = true; cut;) {
        cut = false;
        for (int i = 0; i < all->nunequal; i++) cut |= cut_end(L, &all->unequal[i]);
    }
    for (int i = 0; i < all->n; i++)
        if (domain_le(L->d, all->v[i].most, all->v[i].least))
            know(L, a, all->v[i].number, all->v[i].raised ? all->v[i].most : all->v[i].least);
}

/* Of x - y as a number that moves, and what a launch knows. What variables held where the condition stands nobody knows here. */
static void know_condition(Lower *L, TensorAccess *a, Ranges *all, const Condition *c)
{
    Domain *d = L->d;
    if (c->b == NULL || (scalar_uses(L, c->a) | scalar_uses(L, c->b)) & USE_VAR) return;
    Poly x = scalar_poly(L, c->a), y = scalar_poly(L, c->b), number, value;
    bool less = domain_lt(d, x, y), more = domain_lt(d, y, poly_add(d, x, poly_const(d, c->less))), down;
    a->never |= c->kind == COND_ORDER ? more : c->kind == COND_EQUAL ? less || more : domain_eq(d, x, y);
    domain_split(d, poly_sub(d, x, y), DEP_TEAM | DEP_RANK | DEP_LOOP | DEP_DATA, &number, &value);
    down = number.n && number.terms[0].coef < 0; /* a number is written in one way */
    if (down) number = poly_sub(d, poly_const(d, 0), number);
    else value = poly_sub(d, poly_const(d, 0), value);
    if (c->kind == COND_ORDER && number.n && !number.bad && a->holds.n < KNOWN_MAX)
        vec_push(L->a, &a->holds, poly_sub(d, poly_sub(d, y, x), poly_const(d, c->less)));
    if (c->kind == COND_EQUAL) know(L, a, number, value);
    Range *r = c->kind == COND_EQUAL ? NULL : range_of(L, all, number);
    if (r == NULL) return;
    if (c->kind == COND_UNEQUAL && all->nunequal < KNOWN_MAX) {
        all->unequal[all->nunequal++] = (struct Unequal){r, value};
    } else if (c->kind == COND_ORDER && down) {
        value = poly_add(d, value, poly_const(d, c->less));
        if (r->least.bad || domain_le(d, r->least, value)) raise_least(r, value);
    } else if (c->kind == COND_ORDER) {
        value = poly_sub(d, value, poly_const(d, c->less));
        if (r->most.bad || domain_le(d, value, r->most)) r->most = value;
    }
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
    Ranges ranges = {.n = 0};
    for (uint32_t i = 0; i < s->conditions.n; i++) know_condition(L, a, &ranges, &s->conditions.v[i]);
    know_ranges(L, a, &ranges);
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
