/* What a kernel's moves touch in global memory, and what the conditions around them say of the indices. */
#include "lower/apart/apart.h"
#include "lower/kernel/report.h"

/* ---- conditions ---- */

/* p == 0: what moves in it is a number that has a value. */
static void know(Lower *L, TensorAccess *a, Poly p)
{
    Poly number, value;
    domain_split(L->d, p, DEP_TEAM | DEP_RANK | DEP_LOOP | DEP_DATA, &number, &value);
    if (number.n == 0 || number.bad || value.bad || a->known.n == KNOWN_MAX) return;
    Poly zero = poly_const(L->d, 0);
    bool down = number.terms[0].coef < 0; /* a number is written in one way */
    vec_push(L->a, &a->known, ((Known){down ? poly_sub(L->d, zero, number) : number, down ? value : poly_sub(L->d, zero, value)}));
}

/* p >= 0, which may say more than what was noted */
static void hold(Lower *L, TensorAccess *a, Poly p)
{
    Poly number, value;
    int64_t less;
    domain_split(L->d, p, DEP_TEAM | DEP_RANK | DEP_LOOP | DEP_DATA, &number, &value);
    if (number.n == 0 || number.bad) return;
    for (uint32_t i = 0; i < a->holds.n; i++) {
        if (!poly_is_const(poly_sub(L->d, a->holds.v[i], p), &less)) continue;
        if (less > 0) a->holds.v[i] = p;
        return;
    }
    if (a->holds.n < KNOWN_MAX) vec_push(L->a, &a->holds, p);
}

enum { UNEQUAL_MAX = 256 };
typedef struct Unequal { /* not 0 */
    Poly p[UNEQUAL_MAX];
    int n;
} Unequal;

/* What variables held where the condition stands nobody knows here. */
static void know_condition(Lower *L, TensorAccess *a, Unequal *unequal, const Condition *c)
{
    Domain *d = L->d;
    if (c->b == NULL || (scalar_uses(L, c->a) | scalar_uses(L, c->b)) & USE_VAR) return;
    Poly x = scalar_poly(L, c->a), y = scalar_poly(L, c->b), p = condition_room(L, c);
    bool less = domain_lt(d, x, y), more = domain_lt(d, p, poly_const(d, 0));
    a->never |= c->kind == COND_ORDER ? more : c->kind == COND_EQUAL ? less || more : domain_eq(d, x, y);
    if (c->kind == COND_ORDER) hold(L, a, p);
    else if (c->kind == COND_EQUAL) know(L, a, p);
    else if (unequal->n < UNEQUAL_MAX) unequal->p[unequal->n++] = p;
}

/* Is p at most 0, where all that holds does? */
static bool at_most_0(Lower *L, const TensorAccess *a, Poly p)
{
    return domain_le_where(L->d, a->holds.v, (int)a->holds.n, p, poly_const(L->d, 0));
}

/* What is not 0 and on one side of it is beyond: of 0 .. 2 without 0 and 1 one value is left. What is at least 0 and at most 0 has a value. */
static void know_ends(Lower *L, TensorAccess *a, Unequal *u)
{
    Poly one = poly_const(L->d, 1);
    for (int i = 0; i < u->n; i++) {
        Poly p = u->p[i], minus = poly_sub(L->d, poly_const(L->d, 0), p);
        bool below = at_most_0(L, a, p);
        if (!below && !at_most_0(L, a, minus)) continue;
        hold(L, a, poly_sub(L->d, below ? minus : p, one));
        memmove(&u->p[i], &u->p[i + 1], (size_t)(--u->n - i) * sizeof *u->p);
        i = -1; /* by that others may be on one side */
    }
    for (uint32_t i = 0; i < a->holds.n; i++)
        if (at_most_0(L, a, a->holds.v[i])) know(L, a, a->holds.v[i]);
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
    Unequal unequal = {.n = 0};
    for (uint32_t i = 0; i < s->conditions.n; i++) know_condition(L, a, &unequal, &s->conditions.v[i]);
    know_ends(L, a, &unequal);
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
    access_kind(L, a);
    vec_push(L->a, &all->all, a);
}
