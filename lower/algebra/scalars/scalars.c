#include "lower/algebra/scalars/scalars.h"
#include "lower/kernel/report.h"

/* ---- nodes ---- */

uint64_t loop_bit(int64_t k)
{
    return UINT64_C(1) << (k < 63 ? k : 63);
}

static void use(Lower *L, Scalar *s, const Sx *x)
{
    if (x == NULL) return;
    Scalar *part = scalar_of(L, x);
    s->uses |= part->uses;
    s->loops |= part->loops;
}

static void find_uses(Lower *L, Scalar *s)
{
    const Sx *x = s->x;
    switch ((SxOp)x->op) {
    case SX_CONST: break;
    case SX_SYM: s->uses = USE_LAUNCH; break;
    case SX_CTA: s->uses = USE_CTA; break;
    case SX_CLUSTER:
    case SX_RANK: s->uses = USE_RANK; break;
    case SX_INDEX:
        s->uses = USE_INDEX;
        s->loops = loop_bit(x->k);
        break;
    case SX_VAR: s->uses = USE_VAR; break;
    case SX_LOAD:
        for (int i = 0; i < x->tensor->rank; i++) use(L, s, x->idx[i]);
        for (int i = 0; x->tensor->run_time && i < x->tensor->rank; i++) use(L, s, x->tensor->extent[i]);
        if (x->tensor->run_time) use(L, s, x->tensor->offset); /* which element it is */
        s->uses |= USE_LOAD;
        break;
    case SX_LET: use(L, s, x->a); break;
    default: use(L, s, x->a); use(L, s, x->b);
    }
}

/* What the key is the name of; NULL: nothing yet. */
static Scalar **named(Lower *L, const void *key, size_t size)
{
    struct Scalars *s = L->scalars;
    Name n = names_intern(s->nodes, key, size);
    while (s->of.n < n) vec_push(L->a, &s->of, NULL);
    return &s->of.v[n - 1];
}

/* Equal nodes are one: a value of which nothing is known, `idx[i]` or `i ^ 1`, is then the same wherever it is written out. (A tensor that is
 * read as a scalar is not written; what reads a variable is made anew when that changes.) So a node is found by where it is, and by what it is
 * made of. */
Scalar *scalar_of(Lower *L, const Sx *x)
{
    Scalar *is = *named(L, &x, sizeof x);
    if (is) return is;
    const Sx *parts[2 + P_RANK] = {x->a, x->b};
    uint64_t form[3 + 2 + P_RANK] = {x->op, (uint64_t)x->k, (uintptr_t)x->tensor};
    int rank = x->op == SX_LOAD ? x->tensor->rank : 0;
    for (int i = 0; i < rank; i++) parts[2 + i] = x->idx[i];
    for (int i = 0; i < 2 + rank; i++) form[3 + i] = parts[i] ? (uintptr_t)scalar_of(L, parts[i]) : 0;
    Scalar **same = named(L, form, (size_t)(3 + 2 + rank) * sizeof *form);
    bool is_new = *same == NULL;
    if (is_new) {
        *same = arena_new(L->a, Scalar);
        **same = (Scalar){.x = x};
        vec_push(L->a, &L->scalars->all, *same);
    }
    is = *same;
    *named(L, &x, sizeof x) = is;
    if (is_new) find_uses(L, is);
    return is;
}

uint8_t scalar_uses(Lower *L, const Sx *x)
{
    return scalar_of(L, x)->uses;
}

/* ---- normal forms ---- */

static unsigned depends_of(uint8_t uses)
{
    return (uses & USE_LAUNCH ? DEP_LAUNCH : 0u) | (uses & USE_TEAM ? DEP_TEAM : 0u) |
           (uses & (USE_INDEX | USE_VAR) ? DEP_LOOP : 0u) | (uses & (USE_VAR | USE_LOAD) ? DEP_DATA : 0u);
}

static Poly opaque(Lower *L, const Sx *x, const char *name)
{
    int64_t mod, rem;
    Interval range = scalar_range(L, x);
    scalar_residue(L, x, &mod, &rem);
    return poly_atom(L->d, domain_opaque(L->d, name, range.lo, range.hi, mod, rem, depends_of(scalar_uses(L, x))));
}

/* Where it reads a variable, what that held then. */
static Poly poly_let(Lower *L, const Sx *x)
{
    const LetState *s = &L->scalars->lets[x->k];
    if (!s->has_poly) return scalar_poly(L, x->a);
    if (L->scalars->at_rank < 0) return s->poly;
    if (s->by_rank) return s->by_rank[L->scalars->at_rank];
    return scalar_uses(L, x->a) & USE_VAR ? s->poly : scalar_poly(L, x->a);
}

static Poly poly_node(Lower *L, const Sx *x)
{
    Domain *d = L->d;
    switch ((SxOp)x->op) {
    case SX_SYM: return L->scalars->sym[x->k];
    case SX_CTA: return L->scalars->cta[x->k];
    case SX_CLUSTER: return L->scalars->cluster[x->k];
    case SX_RANK: return L->scalars->rank;
    case SX_INDEX: return loop_state(L, x->k)->index;
    case SX_LET: return poly_let(L, x);
    case SX_VAR: return L->scalars->at_rank < 0 ? L->scalars->vars[x->k].poly : cluster_var(L, (uint32_t)x->k);
    case SX_LOAD: return opaque(L, x, source_text(L, x->span));
    default: break;
    }
    if (sx_is_bool(x)) return opaque(L, x, "condition");
    Poly a = scalar_poly(L, x->a), b = x->b ? scalar_poly(L, x->b) : poly_const(d, 0), p;
    int64_t k;
    bool numbers = poly_is_const(a, &k) && poly_is_const(b, &k); /* which may be those of one rank */
    if (!numbers && !scalar_exact(L, x)) return opaque(L, x, arena_printf(L->a, "(%s)", source_text(L, x->span)));
    exact_note(L, x);
    if (x->op == SX_NEG) return poly_sub(d, b, a);
    if (x->op == SX_INV) return poly_sub(d, poly_const(d, -1), a);
    return poly_op(d, sx_launch_op((SxOp)x->op), a, b, &p) ? p : opaque(L, x, "bits");
}

Poly scalar_poly(Lower *L, const Sx *x)
{
    if (x->op == SX_CONST) return poly_const(L->d, x->k);
    Scalar *s = scalar_of(L, x);
    const struct Scalars *now = L->scalars;
    bool of_one = now->at_rank >= 0 && s->uses & now->by_rank;
    Made *m = &s->made[of_one];
    if (m->set && m->facts == now->facts && (!(s->uses & USE_VAR) || m->epoch == now->epoch) && (!of_one || m->ranks == now->ranks)) return m->poly;
    Poly p = poly_node(L, x);
    *m = (Made){p, true, now->epoch, now->ranks, now->facts};
    return p;
}

void scalar_let(Lower *L, const PStmt *st)
{
    LetState *s = &L->scalars->lets[st->id];
    s->name = name_text(L, st->name);
    s->poly = scalar_poly(L, st->value);
    s->has_poly = true;
    cluster_let(L, st->id, st->value);
}

void scalar_assign(Lower *L, const PStmt *st)
{
    Poly p = scalar_poly(L, st->value);
    cluster_assign(L, st->id, st->value, p);
    L->scalars->vars[st->id].poly = p;
    L->scalars->epoch++;
}

/* ---- launch expressions ---- */

Lx scalar_lx(Lower *L, const Sx *x)
{
    LxPool *p = &L->ir->mf.lx;
    if (x->op == SX_CONST) return lx_const(L->a, p, x->k);
    Scalar *s = scalar_of(L, x);
    if (s->uses & ~USE_LAUNCH) return 0;
    if (s->lx) return s->lx;
    switch ((SxOp)x->op) {
    case SX_SYM: s->lx = lx_sym(L->a, p, (uint32_t)x->k); break;
    case SX_LET: s->lx = scalar_lx(L, x->a); break;
    case SX_NEG:
    case SX_INV: {
        bool minus = x->op == SX_NEG;
        Lx a = scalar_lx(L, x->a);
        s->lx = lx_op(L->a, p, minus ? LX_SUB : LX_XOR, lx_const(L->a, p, minus ? 0 : -1), a);
        break;
    }
    case SX_NOT: s->lx = lx_op(L->a, p, LX_NOT, scalar_lx(L, x->a), 0); break;
    default: {
        Lx a = scalar_lx(L, x->a), b = scalar_lx(L, x->b);
        bool swap = x->op == SX_GT || x->op == SX_GE;
        s->lx = lx_op(L->a, p, sx_launch_op(x->op), swap ? b : a, swap ? a : b);
    }
    }
    return s->lx;
}

/* ---- the environment ---- */

static void assume(Lower *L, const Sx *x)
{
    Domain *d = L->d;
    uint32_t around = conditions_open(L, x, true);
    for (uint32_t i = around; i < L->scalars->conditions.n; i++) {
        const Condition *c = &L->scalars->conditions.v[i];
        if (c->b == NULL) continue;
        Poly a = scalar_poly(L, c->a), b = scalar_poly(L, c->b);
        if (c->kind == COND_ORDER) domain_assume_le(d, poly_add(d, a, poly_const(d, c->less)), b);
        else if (c->kind == COND_EQUAL) domain_assume_eq(d, a, b);
    }
    L->scalars->conditions.n = around;
}

static void facts(Lower *L)
{
    for (uint32_t i = 0; i < L->k->facts.n; i++) {
        const PFact *f = &L->k->facts.v[i];
        Lx cond = scalar_lx(L, f->cond);
        if (f->why && cond_now(L, f->cond) == 1) continue;
        const char *text = f->why ? lx_text(L, cond) : source_text(L, f->span);
        launch_check(L, E1101, cond, f->span, text, f->why ? f->why : "a fact of the kernel's `where`");
        assume(L, f->cond);
        for (uint32_t s = 0; s < L->k->syms.n; s++) L->scalars->sym[s] = poly_atom(L->d, L->scalars->sym_atom[s]);
        L->scalars->facts++; /* a normal form made before the fact was known would miss it */
    }
}

/* Made of sizes; positive: of those that are known to be at least 1, so that all of it is. */
static bool of_sizes(const Lower *L, const Sx *x, bool positive, int *fuel)
{
    if (--*fuel < 0) return false;
    switch ((SxOp)x->op) {
    case SX_CONST: return x->k >= positive;
    case SX_SYM: return positive ? L->scalars->positive[x->k] : L->k->syms.v[x->k].kind == MF_SIZE;
    case SX_LET: return of_sizes(L, x->a, positive, fuel);
    case SX_DIV:
    case SX_CEIL: return !(positive && x->op == SX_DIV) && of_sizes(L, x->a, positive, fuel) && x->b->op == SX_CONST && x->b->k >= 1;
    case SX_ADD:
    case SX_MUL: return of_sizes(L, x->a, positive, fuel) && of_sizes(L, x->b, positive, fuel);
    default: return false;
    }
}

bool scalar_of_sizes(const Lower *L, const Sx *x)
{
    int fuel = 64;
    return of_sizes(L, x, false, &fuel);
}

/* Counts the sizes and scalar parameters that are at least 1 where x is; each once. */
static void factors(const Lower *L, const Sx *x, uint8_t *seen, uint32_t *count, int *fuel)
{
    const PKernel *k = L->k;
    if (--*fuel < 0) return;
    switch ((SxOp)x->op) {
    case SX_SYM:
        if ((k->syms.v[x->k].kind == MF_SIZE || k->syms.v[x->k].kind == MF_SCALAR) && !seen[x->k]++) count[x->k]++;
        return;
    case SX_LET: factors(L, x->a, seen, count, fuel); return;
    case SX_MUL: /* a * b >= 1 and a >= 0: both are at least 1 */
        if (!of_sizes(L, x->a, false, fuel) && !of_sizes(L, x->b, false, fuel)) return;
        factors(L, x->a, seen, count, fuel);
        factors(L, x->b, seen, count, fuel);
        return;
    case SX_DIV:
    case SX_CEIL:
        if (x->b->op == SX_CONST && x->b->k >= 1) factors(L, x->a, seen, count, fuel);
        return;
    default: return;
    }
}

bool has_across(const PKernel *k)
{
    for (const PStmt *s = k->body.first; s; s = s->next)
        if (s->kind == P_PIPELINE && s->pipe->deal != DEAL_NONE) return true;
    return false;
}

const PStmt *only_across(const PKernel *k)
{
    const PStmt *found = NULL;
    for (const PStmt *s = k->body.first; s; s = s->next) {
        if (s->kind != P_PIPELINE || s->pipe->deal == DEAL_NONE) continue;
        if (found) return NULL;
        found = s;
    }
    return found;
}

static void find_written(const PBlock *b, bool *written)
{
    for (const PStmt *s = b->first; s; s = s->next) {
        if (s->kind == P_MOVE && s->move->kind == MOVE_STORE) written[base_of(s->move->dst.tensor)->index] = true;
        find_written(&s->body, written);
        find_written(&s->other, written);
        for (uint32_t i = 0; i < s->roles.n; i++) find_written(&s->roles.v[i].body, written);
    }
}

/* `NPQ == N * P * Q` with NPQ >= 1: so are its factors. */
static bool positive_by_fact(Lower *L, const Sx *cond)
{
    uint32_t *count = arena_array(L->a, uint32_t, L->k->syms.n);
    uint8_t *seen = arena_array(L->a, uint8_t, L->k->syms.n);
    bool more = false;
    int fuel = 64;
    if (cond->op == SX_LAND) {
        more = positive_by_fact(L, cond->a);
        return positive_by_fact(L, cond->b) || more;
    }
    if (cond->op != SX_EQ) return false;
    if (of_sizes(L, cond->a, true, &fuel)) factors(L, cond->b, seen, count, &fuel);
    if (of_sizes(L, cond->b, true, &fuel)) factors(L, cond->a, seen, count, &fuel);
    for (uint32_t i = 0; i < L->k->syms.n; i++) {
        more |= count[i] && !L->scalars->positive[i];
        L->scalars->positive[i] |= count[i] > 0;
    }
    return more;
}

/* A tensor may be empty. But a CTA only runs where no extent of the grid is 0 and some written tensor has elements:
 * that makes the grid's sizes, and those that all written tensors have, at least 1. */
static void find_positive(Lower *L)
{
    const PKernel *k = L->k;
    uint32_t nwritten = 0, *count = arena_array(L->a, uint32_t, k->syms.n);
    L->scalars->positive = arena_array(L->a, bool, k->syms.n);
    for (int i = 0; i < 3; i++) {
        int fuel = 64;
        factors(L, k->grid[i], arena_array(L->a, uint8_t, k->syms.n), count, &fuel);
    }
    const PStmt *only = only_across(k);
    for (int i = 0; only && i < only->pipe->n; i++) { /* .. or no iteration is dealt */
        int fuel = 64;
        const Sx *lo = only->pipe->v[i].lo;
        if (lo->op != SX_CONST || lo->k < 0) continue;
        factors(L, only->pipe->v[i].hi, arena_array(L->a, uint8_t, k->syms.n), count, &fuel);
    }
    for (uint32_t i = 0; i < k->syms.n; i++) {
        L->scalars->positive[i] = count[i] > 0;
        count[i] = 0;
    }
    bool *written = arena_array(L->a, bool, k->tensors.n);
    find_written(&k->body, written);
    for (uint32_t t = 0; t < k->tensors.n; t++) {
        if (!written[t]) continue;
        uint8_t *seen = arena_array(L->a, uint8_t, k->syms.n);
        int fuel = 64;
        for (int d = 0; d < k->tensors.v[t]->rank; d++) factors(L, k->tensors.v[t]->extent[d], seen, count, &fuel);
        nwritten++;
    }
    for (uint32_t i = 0; i < k->syms.n; i++) L->scalars->positive[i] |= nwritten > 0 && count[i] == nwritten;
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < k->facts.n; i++) more |= positive_by_fact(L, k->facts.v[i].cond);
    }
}

static Atom sym_atom(Lower *L, uint32_t i)
{
    const PSym *s = &L->k->syms.v[i];
    const char *name = name_text(L, s->name);
    Interval r = s->kind == MF_SCALAR ? ir_range_of_type(s->type) : (Interval){0, INT64_MAX};
    if (L->scalars->positive[i] && r.lo < 1) r.lo = 1;
    return domain_param(L->d, name, i, r.lo, r.hi);
}

/* .. where a CTA runs. */
static void at_least_one(Lower *L, Poly count)
{
    Poly one = poly_const(L->d, 1);
    if (!domain_le(L->d, one, count)) domain_assume_le(L->d, one, count);
}

void scalars_begin(Lower *L)
{
    static const char *const CTA[] = {"cta.x", "cta.y", "cta.z"};
    const PKernel *k = L->k;
    Domain *d = L->d = domain_new(L->a);
    L->scalars->nodes = names_new(L->a);
    L->scalars->statements = names_new(L->a);
    L->scalars->sym = arena_array(L->a, Poly, k->syms.n);
    L->scalars->sym_atom = arena_array(L->a, Atom, k->syms.n);
    L->scalars->lets = arena_array(L->a, LetState, k->nlets);
    L->scalars->vars = arena_array(L->a, VarState, k->nvars);
    L->scalars->nloops = k->nloops;
    L->scalars->loops = arena_array(L->a, LoopState, k->nloops);
    for (uint32_t i = 0; i < k->nloops; i++) L->scalars->loops[i] = (LoopState){.range = UNBOUNDED};
    L->scalars->by_rank = USE_TEAM;
    for (uint32_t i = 0; i < k->nvars; i++) L->scalars->by_rank |= k->var_dims[i] ? USE_VAR : 0;
    find_positive(L);
    for (uint32_t i = 0; i < k->syms.n; i++) {
        L->scalars->sym_atom[i] = sym_atom(L, i);
        L->scalars->sym[i] = poly_atom(d, L->scalars->sym_atom[i]);
    }
    facts(L);
    const PStmt *only = only_across(k);
    for (int i = 0; only && i < only->pipe->n; i++) { /* or no iteration is dealt */
        const PStmt x = pipe_index(only->pipe, i);
        if ((scalar_uses(L, x.lo) | scalar_uses(L, x.value)) & ~USE_LAUNCH) continue;
        Poly lo = scalar_poly(L, x.lo);
        at_least_one(L, poly_sub(d, scalar_poly(L, x.value), lo));
    }
    L->cluster_size = k->cluster[0] * k->cluster[1] * k->cluster[2];
    L->scalars->rank = poly_const(d, 0);
    int64_t scale = 1;
    for (int i = 0; i < 3; i++) {
        Poly count = scalar_poly(L, k->grid[i]);
        int64_t n;
        at_least_one(L, count);
        if (poly_is_const(count, &n) && n == 1) {
            L->scalars->cta[i] = poly_const(d, 0);
        } else {
            Atom t = domain_index(d, CTA[i], poly_const(d, 0), count, DEP_TEAM);
            domain_at_most(d, t, i == 0 ? INT32_MAX - 1 : 65534); /* gridDim limits: the launch checks them */
            L->scalars->cta[i] = poly_atom(d, t);
            L->scalars->team[L->scalars->nteam++] = t;
        }
        if (k->cluster[i] == 1) {
            L->scalars->cluster[i] = poly_const(d, 0);
        } else if (has_across(k)) {
            static const char *const NAMES[] = {"cluster.x", "cluster.y", "cluster.z"};
            L->scalars->cluster_atom[i] = domain_index(d, NAMES[i], poly_const(d, 0), poly_const(d, k->cluster[i]), DEP_TEAM);
            L->scalars->cluster[i] = poly_atom(d, L->scalars->cluster_atom[i]);
        } else {
            L->scalars->cluster[i] = poly_mod(d, L->scalars->cta[i], poly_const(d, k->cluster[i]));
        }
        L->scalars->rank = poly_add(d, L->scalars->rank, poly_mul(d, L->scalars->cluster[i], poly_const(d, scale)));
        scale *= k->cluster[i];
    }
    if (has_across(k)) {
        L->scalars->any_team = domain_index(d, "team", poly_const(d, 0), poly_const(d, INT32_MAX), DEP_TEAM);
        teams_beside(L);
    }
    vars_infer(L);
}

/* What stands beside pipelines across the grid is done by every team: no place that is named there depends on which. */
void teams_beside(Lower *L)
{
    L->scalars->nteam = 0;
    L->scalars->team[L->scalars->nteam++] = L->scalars->any_team;
    for (int i = 0; i < 3; i++)
        if (L->scalars->cluster_atom[i]) L->scalars->team[L->scalars->nteam++] = L->scalars->cluster_atom[i];
}
