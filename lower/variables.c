/* Variables. What a variable holds is known exactly after an assignment in straight line; at the head of a loop, and
 * after a loop or if that assigns it, it is an unknown value of which only what all assignments keep is known: its
 * residue (`off = 0; off = off + 64` stays a multiple of 64) and its least value. Both are found from the graphs. */
#include "lower/parts.h"

typedef struct Residue { /* value == rem mod mod; mod 0: exactly rem */
    int64_t mod, rem;
} Residue;

static int64_t gcd(int64_t a, int64_t b)
{
    if (a < 0) a = a == INT64_MIN ? INT64_MAX : -a;
    if (b < 0) b = b == INT64_MIN ? INT64_MAX : -b;
    while (b) {
        int64_t t = a % b;
        a = b;
        b = t;
    }
    return a;
}

static const Residue ANY = {1, 0};
enum { RESIDUE_LIMIT = 1 << 30 }; /* products of two stay in 64 bits */

static Residue normal(int64_t mod, int64_t rem)
{
    if (mod < 0) mod = -mod;
    if (mod >= RESIDUE_LIMIT || rem >= RESIDUE_LIMIT || rem <= -RESIDUE_LIMIT) return ANY;
    if (mod > 0) rem = (rem % mod + mod) % mod;
    return (Residue){mod, rem};
}

static Residue residue(const Sx *x)
{
    Residue a, b;
    switch ((SxOp)x->op) {
    case SX_CONST: return normal(0, x->k);
    case SX_LET: return residue(x->a);
    case SX_NEG: a = residue(x->a); return normal(a.mod, -a.rem);
    case SX_ADD:
        a = residue(x->a);
        b = residue(x->b);
        return normal(gcd(a.mod, b.mod), a.rem + b.rem);
    case SX_SUB:
        a = residue(x->a);
        b = residue(x->b);
        return normal(gcd(a.mod, b.mod), a.rem - b.rem);
    case SX_MUL:
        a = residue(x->a);
        b = residue(x->b);
        return normal(gcd(gcd(a.mod * b.mod, a.mod * b.rem), b.mod * a.rem), a.rem * b.rem);
    case SX_SHL:
        a = residue(x->a);
        if (x->b->op != SX_CONST || x->b->k < 0 || x->b->k > 20) return ANY;
        return normal(a.mod << x->b->k, a.rem * (INT64_C(1) << x->b->k));
    default: return ANY;
    }
}

static Residue join(Residue a, Residue b)
{
    return normal(gcd(gcd(a.mod, b.mod), a.rem - b.rem), a.rem);
}

typedef struct Seen {
    bool any;
    Residue r;
    int64_t lo;
} Seen;

/* v + step or v - step */
static bool own_step(const Sx *x, uint32_t v, const Sx **step, bool *minus)
{
    if (x->op == SX_LET) return own_step(x->a, v, step, minus);
    if (x->op != SX_ADD && x->op != SX_SUB) return false;
    *minus = x->op == SX_SUB;
    if (x->a->op == SX_VAR && x->a->k == v) {
        *step = x->b;
        return true;
    }
    if (x->op == SX_ADD && x->b->op == SX_VAR && x->b->k == v) {
        *step = x->a;
        return true;
    }
    return false;
}

static void see(Lower *L, Seen *s, uint32_t v, const Sx *x)
{
    const Sx *step;
    bool minus;
    int64_t lo, hi;
    if (own_step(x, v, &step, &minus)) {
        Residue r = residue(step);
        int64_t m = gcd(r.mod, r.rem);
        s->r = normal(gcd(s->r.mod, m), s->r.rem);
        scalar_range(L, step, &lo, &hi);
        if (minus ? hi > 0 : lo < 0) s->lo = INT64_MIN;
        return;
    }
    Residue r = residue(x);
    s->r = s->any ? join(s->r, r) : r;
    scalar_range(L, x, &lo, &hi);
    if (!s->any || lo < s->lo) s->lo = lo;
    s->any = true;
}

static void walk(Lower *L, Seen *seen, const PBlock *b)
{
    for (const PStmt *s = b->first; s; s = s->next) {
        if (s->kind == P_VAR) L->vars[s->id].name = s->name;
        if (s->kind == P_VAR || s->kind == P_SET) see(L, &seen[s->id], s->id, s->value);
        walk(L, seen, &s->body);
        walk(L, seen, &s->other);
    }
}

void vars_infer(Lower *L)
{
    uint32_t n = L->k->nvars;
    if (n == 0) return;
    Seen *seen = arena_array(L->a, Seen, n);
    for (uint32_t i = 0; i < n; i++) L->vars[i].lo = INT64_MIN; /* what the ranges of steps may rely on */
    walk(L, seen, &L->k->body);
    for (uint32_t i = 0; i < n; i++) {
        VarState *v = &L->vars[i];
        v->mod = seen[i].any && seen[i].r.mod > 0 ? seen[i].r.mod : 1;
        v->rem = v->mod > 1 ? seen[i].r.rem : 0;
        v->lo = seen[i].any ? seen[i].lo : INT64_MIN;
        v->poly = var_unknown(L, i);
    }
    for (uint32_t i = 0; i < L->cap_scalars; i++) /* ranges found before the bounds were known */
        if (L->scalars[i] && (L->scalars[i]->uses & (USE_VAR | USE_INDEX))) L->scalars[i]->has_range = false;
}

Poly var_unknown(Lower *L, uint32_t i)
{
    VarState *v = &L->vars[i];
    const char *name = name_text(L, v->name);
    return poly_atom(L->d, domain_opaque(L->d, name, v->lo, INT64_MAX, v->mod, v->rem, DEP_DATA));
}

void vars_forget(Lower *L, const PBlock *b)
{
    for (const PStmt *s = b->first; s; s = s->next) {
        if (s->kind == P_SET) {
            L->vars[s->id].poly = var_unknown(L, s->id);
            L->epoch++;
        }
        vars_forget(L, &s->body);
        vars_forget(L, &s->other);
    }
}
