/* The domain against brute force: random expressions are built twice, as normal forms and as trees, and every statement
 * that the domain proves must hold for every valuation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lower/algebra/domain/inside.h"

static jmp_buf out_of_memory;
static Mem memory = {NULL, NULL, &out_of_memory};

#define K(k) poly_const(d, (k))
#define A(x) poly_atom(d, (x))
#define ADD(a, b) poly_add(d, (a), (b))
#define SUB(a, b) poly_sub(d, (a), (b))
#define MUL(a, b) poly_mul(d, (a), (b))
#define DIV(a, b) poly_div(d, (a), (b))
#define MOD(a, b) poly_mod(d, (a), (b))
#define CEIL(a, b) poly_ceil(d, (a), (b))

enum { NODES_MAX = 160, BASES_MAX = 6, CLAIMS_MAX = 40 };

typedef enum Op { OP_BASE, OP_CONST, OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_MOD, OP_CEIL, OP_MIN, OP_MAX, OP_COUNT } Op;
typedef struct Node {
    Op op;
    int a, b;
    int64_t k;
    Poly poly;
} Node;
typedef struct Base {
    Atom atom;
    bool index;
    int count;        /* a node, for an index */
    int64_t from, to; /* otherwise */
    int at;           /* its node */
} Base;
typedef enum ClaimKind { CLAIM_LE, CLAIM_LT, CLAIM_EQ, CLAIM_DIVIDES, CLAIM_MAX, CLAIM_MIN } ClaimKind;
typedef struct Claim {
    ClaimKind kind;
    int a, b;
    int64_t m;
    Poly bound;
} Claim;
typedef struct Case {
    Domain *d;
    Node nodes[NODES_MAX];
    int nnodes;
    Base bases[BASES_MAX];
    int nbases;
    Claim claims[CLAIMS_MAX];
    int nclaims;
    Claim facts[4];
    int nfacts;
    Poly straight[NODES_MAX];
    int64_t value[NODES_MAX];
    bool defined[NODES_MAX];
    int64_t base_value[BASES_MAX];
    int checked; /* nodes below it are compared with their normal forms */
} Case;

static uint64_t seed = 0x243f6a8885a308d3u;

static int pick(int n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (int)((seed >> 20) % (uint64_t)n);
}

static int64_t floor_div(int64_t a, int64_t b)
{
    int64_t q = a / b;
    return q - (q * b != a && (a < 0) != (b < 0));
}

static bool apply(Op op, int64_t a, int64_t b, int64_t *out)
{
    switch (op) {
    case OP_ADD: *out = a + b; return true;
    case OP_SUB: *out = a - b; return true;
    case OP_MUL: *out = a * b; return true;
    case OP_MIN: *out = a < b ? a : b; return true;
    case OP_MAX: *out = a > b ? a : b; return true;
    default: break;
    }
    if (b == 0) return false;
    int64_t q = floor_div(a, b);
    *out = op == OP_DIV ? q : op == OP_MOD ? a - q * b : -floor_div(-a, b);
    return true;
}

static int add_node(Case *c, Op op, int a, int b, int64_t k)
{
    Domain *d = c->d;
    Poly x = op > OP_CONST ? c->nodes[a].poly : K(k), y = op > OP_CONST ? c->nodes[b].poly : x;
    switch (op) {
    case OP_BASE: x = A(c->bases[k].atom); break;
    case OP_CONST: break;
    case OP_ADD: x = ADD(x, y); break;
    case OP_SUB: x = SUB(x, y); break;
    case OP_MUL: x = MUL(x, y); break;
    case OP_DIV: x = DIV(x, y); break;
    case OP_MOD: x = MOD(x, y); break;
    case OP_CEIL: x = CEIL(x, y); break;
    case OP_MIN: x = poly_min(d, x, y); break;
    default: x = poly_max(d, x, y); break;
    }
    c->nodes[c->nnodes] = (Node){op, a, b, k, x};
    return c->nnodes++;
}

static void eval_nodes(Case *c, int from, int to)
{
    for (int i = from; i < to; i++) {
        const Node *n = &c->nodes[i];
        c->defined[i] = true;
        if (n->op == OP_CONST) c->value[i] = n->k;
        else if (n->op == OP_BASE) c->value[i] = c->base_value[n->k];
        else
            c->defined[i] = c->defined[n->a] && c->defined[n->b] &&
                            apply(n->op, c->value[n->a], c->value[n->b], &c->value[i]);
    }
}

/* Of a normal form, by its atoms. */
static int64_t eval_poly(Case *c, Poly p);

static int64_t eval_atom(Case *c, Atom x)
{
    const AtomInfo *info = atom_info(c->d, x);
    for (int i = 0; i < c->nbases; i++) {
        if (c->bases[i].atom == x) return c->base_value[i];
    }
    if (info->parent) {
        int64_t v = eval_atom(c, info->parent) - eval_poly(c, info->b), s = eval_poly(c, info->a);
        assert_int_equal(v % s, 0);
        assert_true(v / s >= info->lo && v / s <= info->hi);
        return v / s;
    }
    int64_t a = eval_poly(c, info->a), b = eval_poly(c, info->b), out = 0;
    if (!apply(info->kind == ATOM_DIV ? OP_DIV : info->kind == ATOM_MIN ? OP_MIN : OP_MAX, a, b, &out))
        return INT64_MIN / 2;
    assert_true(out >= info->lo && out <= info->hi);
    return out;
}

static int64_t eval_poly(Case *c, Poly p)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < p.n; i++) {
        int64_t product = p.terms[i].coef;
        for (uint8_t k = 0; k < p.terms[i].natoms; k++) product *= eval_atom(c, p.terms[i].atoms[k]);
        sum += product;
    }
    return sum;
}

static bool claim_holds(Case *c, const Claim *k)
{
    int64_t a = c->value[k->a], b = c->value[k->b];
    if (!c->defined[k->a] || !c->defined[k->b]) return true;
    switch (k->kind) {
    case CLAIM_LE: return a <= b;
    case CLAIM_LT: return a < b;
    case CLAIM_EQ: return a == b;
    case CLAIM_DIVIDES: return a % k->m == 0;
    case CLAIM_MAX: return a <= eval_poly(c, k->bound);
    default: return a >= eval_poly(c, k->bound);
    }
}

static void explain(Case *c, const char *what, int a, int b)
{
    static const char *const names[] = {"?", "?", "+", "-", "*", "/", "%", "ceil", "min", "max"};
    print_message("%s fails: node %d (= %lld), node %d (= %lld)\n", what, a, (long long)c->value[a], b,
                  (long long)c->value[b]);
    for (int i = 0; i < c->nnodes; i++) {
        const Node *n = &c->nodes[i];
        if (n->op == OP_CONST) print_message("  %d: %lld\n", i, (long long)n->k);
        else if (n->op == OP_BASE)
            print_message("  %d: base %lld = %lld\n", i, (long long)n->k, (long long)c->value[i]);
        else
            print_message("  %d: %d %s %d = %lld   %s\n", i, n->a, names[n->op], n->b, (long long)c->value[i],
                          domain_text(c->d, c->d->arena, n->poly));
    }
    for (int i = 0; i < c->nfacts; i++)
        print_message("  fact %d: %d %d m %lld\n", (int)c->facts[i].kind, c->facts[i].a, c->facts[i].b,
                      (long long)c->facts[i].m);
    fail();
}

static void check_valuation(Case *c)
{
    eval_nodes(c, 0, c->nnodes);
    for (int i = 0; i < c->nfacts; i++) {
        const Claim *f = &c->facts[i];
        if (!c->defined[f->a] || !c->defined[f->b] || !claim_holds(c, f)) return;
    }
    for (int i = 0; i < c->nclaims; i++) {
        if (!claim_holds(c, &c->claims[i])) {
            static const char *const kinds[] = {"<=", "<", "==", "divides", "max", "min"};
            explain(c, kinds[c->claims[i].kind], c->claims[i].a, c->claims[i].b);
        }
    }
    for (int i = c->checked; i < c->nnodes; i++) {
        if (c->nodes[i].op <= OP_CONST || c->nodes[i].poly.bad || !c->defined[i]) continue;
        if (eval_poly(c, c->nodes[i].poly) != c->value[i]) explain(c, "the normal form", i, i);
        if (!c->straight[i].bad && eval_poly(c, c->straight[i]) != c->value[i]) explain(c, "the straight form", i, i);
    }
}

static void each_valuation(Case *c, int base)
{
    if (base == c->nbases) {
        check_valuation(c);
        return;
    }
    Base *b = &c->bases[base];
    int64_t from = b->from, to = b->to;
    if (b->index) {
        eval_nodes(c, 0, b->at);
        if (!c->defined[b->count]) return;
        from = 0;
        to = c->value[b->count] - 1;
        if (to > 5) to = 5; /* some of a long range */
    }
    for (int64_t v = from; v <= to; v++) {
        c->base_value[base] = v;
        each_valuation(c, base + 1);
    }
}

static int add_base(Case *c, Atom atom, bool index, int count, int64_t from, int64_t to)
{
    c->bases[c->nbases] = (Base){atom, index, count, from, to, 0};
    int at = add_node(c, OP_BASE, 0, 0, c->nbases);
    c->bases[c->nbases++].at = at;
    return at;
}

/* A size of the launch: from 1 to so many. */
static int add_size(Case *c, const char *name, uint32_t sym, int most)
{
    return add_base(c, domain_param(c->d, name, sym, 1, INT64_MAX), false, 0, 1, most);
}

/* An index that counts from what a node says. */
static int add_index(Case *c, Atom *x, int from, int count, unsigned depends)
{
    *x = domain_index(c->d, "i", c->nodes[from].poly, c->nodes[count].poly, depends);
    return add_node(c, OP_ADD, add_base(c, *x, true, count, 0, 0), from, 0);
}

static int random_node(Case *c)
{
    static const Op ops[] = {OP_ADD, OP_ADD, OP_SUB, OP_MUL,  OP_MUL, OP_DIV,
                             OP_MOD, OP_DIV, OP_MOD, OP_CEIL, OP_MIN, OP_MAX};
    static const int64_t constants[] = {1, 2, 3, 4, 6, 8, -1, -2, 0, 5};
    int a = pick(c->nnodes);
    int b = pick(3) ? pick(c->nnodes) : add_node(c, OP_CONST, 0, 0, constants[pick(10)]);
    if (pick(12) == 0) { /* (a ^ 1) * b */
        int two = add_node(c, OP_CONST, 0, 0, 2), one = add_node(c, OP_CONST, 0, 0, 1), low = add_node(c, OP_MOD, a, two, 0);
        int turned = add_node(c, OP_ADD, add_node(c, OP_SUB, a, low, 0), add_node(c, OP_SUB, one, low, 0), 0);
        return add_node(c, OP_MUL, turned, b, 0);
    }
    if (pick(12) == 0) { /* min(n, a + b) - a, as loops that are clipped count */
        int ahead = add_node(c, OP_ADD, a, b, 0);
        return add_node(c, OP_SUB, add_node(c, pick(2) ? OP_MIN : OP_MAX, pick(c->nnodes), ahead, 0), pick(3) ? a : ahead, 0);
    }
    return add_node(c, ops[pick(12)], a, b, 0);
}

static void random_fact(Case *c)
{
    Domain *d = c->d;
    int a = pick(c->nnodes), b = pick(c->nnodes);
    Poly x = c->nodes[a].poly, y = c->nodes[b].poly;
    Claim f = {.a = a, .b = b, .m = pick(4) + 1};
    switch (pick(4)) {
    case 0:
        f.kind = CLAIM_EQ;
        domain_assume_eq(d, x, y);
        break;
    case 1:
        f.kind = CLAIM_LE;
        domain_assume_le(d, x, y);
        break;
    case 2:
        f.kind = CLAIM_DIVIDES;
        f.b = a;
        domain_assume_divides(d, K(f.m), x);
        break;
    default: {
        /* node a modulo node b is 0 */
        int zero = add_node(c, OP_CONST, 0, 0, 0), r = add_node(c, OP_MOD, a, b, 0);
        f = (Claim){.kind = CLAIM_EQ, .a = r, .b = zero};
        domain_assume_divides(d, y, x);
        break;
    }
    }
    c->facts[c->nfacts++] = f;
}

static void add_claim(Case *c, Claim k)
{
    if (c->nclaims < CLAIMS_MAX) c->claims[c->nclaims++] = k;
}

static long proved_total, long_total, straight_total;

/* Also where the form has lost it: then its ranges would have to be looked at. */
static bool uses_index(const Case *c, int node)
{
    const Node *n = &c->nodes[node];
    if (n->op == OP_BASE) return c->bases[n->k].index;
    return n->op != OP_CONST && (uses_index(c, n->a) || uses_index(c, n->b));
}

static void random_case(Arena *arena, int number)
{
    Case c = {0};
    Domain *d = c.d = domain_new(arena);
    bool two = number & 1;
    int n = add_size(&c, "N", 0, 6);
    if (two || pick(2)) add_size(&c, "M", 1, 6);
    if (!two && pick(3) == 0) add_base(&c, domain_param(d, "p", 2, -2, 3), false, 0, -2, 3);
    int nfacts = pick(3);
    for (int i = 0; i < nfacts; i++) {
        if (pick(2)) random_node(&c);
        random_fact(&c);
    }
    for (int i = two ? 1 : 2; i > 0; i--) {
        int zero = pick(3) ? add_node(&c, OP_CONST, 0, 0, 0) : pick(c.nnodes), count = pick(2) ? n : random_node(&c);
        Atom x;
        add_index(&c, &x, zero, count, pick(2) ? DEP_LOOP : DEP_TEAM);
    }
    c.checked = c.nnodes;
    for (int i = 0; i < 6; i++) random_node(&c);
    for (int i = 0; i < 5; i++) {
        int a = c.nnodes - 1 - pick(8), b = pick(2) ? pick(c.nnodes) : c.nnodes - 1 - pick(8);
        Poly x = c.nodes[a].poly, y = c.nodes[b].poly, bound;
        int64_t m = pick(5) + 1;
        long_total++;
        if (domain_le(d, x, y)) add_claim(&c, (Claim){.kind = CLAIM_LE, .a = a, .b = b});
        if (domain_lt(d, y, x)) add_claim(&c, (Claim){.kind = CLAIM_LT, .a = b, .b = a});
        if (domain_eq(d, x, y)) add_claim(&c, (Claim){.kind = CLAIM_EQ, .a = a, .b = b});
        if (domain_divides(d, m, x)) add_claim(&c, (Claim){.kind = CLAIM_DIVIDES, .a = a, .b = a, .m = m});
        if (domain_max(d, x, &bound)) add_claim(&c, (Claim){.kind = CLAIM_MAX, .a = a, .b = a, .bound = bound});
        if (domain_min(d, x, &bound)) add_claim(&c, (Claim){.kind = CLAIM_MIN, .a = a, .b = a, .bound = bound});
    }
    for (int i = c.checked; i < c.nnodes; i++) {
        c.straight[i] = domain_straight(d, c.nodes[i].poly);
        straight_total += !poly_same(c.straight[i], poly_now(d, c.nodes[i].poly));
    }
    proved_total += c.nclaims;
    each_valuation(&c, 0);
    /* Launch expressions */
    LxPool pool = {0};
    Lx lx[NODES_MAX] = {0};
    int64_t values[512];
    uint8_t status[512];
    for (int i = c.checked; i < c.nnodes; i++) {
        Lx x;
        if (domain_lx(d, arena, &pool, c.nodes[i].poly, &x)) lx[i] = x;
        domain_text(d, arena, c.nodes[i].poly);
    }
    if (pool.nodes.n == 0 || pool.nodes.n > 512) return;
    for (int64_t v = 1; v <= 6; v++) {
        for (int64_t w = 1; w <= 6; w++) {
            int64_t syms[3] = {v, w, (v + w) % 6 - 2};
            for (int i = 0; i < c.nbases; i++) c.base_value[i] = 0;
            for (int i = 0; i < c.nbases; i++) {
                const AtomInfo *info = atom_info(d, c.bases[i].atom);
                if (!c.bases[i].index) c.base_value[i] = syms[info->sym];
            }
            eval_nodes(&c, 0, c.nnodes);
            bool skip = false;
            for (int i = 0; i < c.nfacts; i++) {
                const Claim *f = &c.facts[i];
                skip = skip || !c.defined[f->a] || !c.defined[f->b] || !claim_holds(&c, f);
            }
            if (skip) continue;
            lx_eval(pool.nodes.v, pool.nodes.n, syms, values, status);
            for (int i = c.checked; i < c.nnodes; i++) {
                if (lx[i] == 0 || !c.defined[i] || uses_index(&c, i)) continue;
                Poly p = poly_now(d, c.nodes[i].poly);
                if (status[lx[i] - 1] != LX_OK || values[lx[i] - 1] != eval_poly(&c, p)) explain(&c, "domain_lx", i, i);
            }
        }
    }
}

static void random_statements(void **state)
{
    (void)state;
    Arena arena;
    arena_init(&arena, &memory);
    for (int i = 0; i < 20000; i++) {
        ArenaMark m = arena_mark(&arena);
        random_case(&arena, i);
        arena_release(&arena, m);
    }
    arena_free(&arena);
    if (getenv("DOMAIN_TEST_STATISTICS"))
        print_message("%ld statements proved of %ld rounds, %ld forms made straight\n", proved_total, long_total, straight_total);
    assert_true(proved_total > long_total / 2);
}

/* Boxes: every pair of teams and of loop indices, sizes 1..4. */
enum { HOLDS = 2 };
typedef struct BoxCase {
    int start[2], extent[2];
    int holds[HOLDS]; /* >= 0 where it is touched */
    int nholds;
} BoxCase;

/* Within 0 .. size - 1 of each dimension; size 0: of all numbers. */
static bool apart_within(const Case *c, Arena *arena, const DomBox box[2], const BoxCase b[2], const int64_t *size, const Atom *team, bool *here)
{
    const char *why;
    Poly holds[2][HOLDS];
    Domain *d = c->d;
    DomPair p = {.naxes = box[0].rank, .team = team, .nteam = 2};
    DomAxis axis[2];
    for (int i = 0; i < box[0].rank; i++)
        axis[i] = (DomAxis){.name = "a dimension", .start = {box[0].start[i], box[1].start[i]}, .extent = {box[0].extent[i], box[1].extent[i]}, .size = K(size[i])};
    p.axis = axis;
    for (int s = 0; s < 2; s++) {
        for (int i = 0; i < b[s].nholds; i++) holds[s][i] = c->nodes[b[s].holds[i]].poly;
        p.holds[s] = holds[s];
        p.nholds[s] = b[s].nholds;
    }
    *here = domain_apart(d, &p);
    return domain_apart_teams(d, arena, &p, &why);
}

static int step_node(Case *c, int n, int m)
{
    static const int64_t constants[] = {1, 2, 3, 4, 4, 6, 8, 12};
    if (pick(3)) return add_node(c, OP_CONST, 0, 0, constants[pick(8)]);
    return pick(2) ? n : add_node(c, OP_MUL, n, m, 0);
}

/* (k * G + t) * s and the like: a loop over a grid that is smaller than the work. */
static int grid_stride(Case *c, const int *teams, int loop, const int *counts)
{
    int x = pick(2), stride = pick(4) ? counts[x] : step_node(c, counts[0], counts[1]);
    int t = add_node(c, OP_ADD, add_node(c, OP_MUL, loop, stride, 0), teams[x], 0);
    if (pick(3) == 0) { /* the other team index below it */
        int low = add_node(c, OP_MUL, t, pick(3) ? counts[!x] : stride, 0);
        t = add_node(c, OP_ADD, low, teams[!x], 0);
    }
    return add_node(c, OP_MUL, t, step_node(c, counts[0], counts[1]), 0);
}

static int random_start(Case *c, const int *teams, int loop, int n, int m)
{
    int sum = -1;
    for (int i = 0; i < 3; i++) {
        if (pick(3) == 0) continue;
        int x = i < 2 ? teams[i] : loop;
        if (i < 2 && pick(2)) {
            int by = pick(2) ? n : add_node(c, OP_CONST, 0, 0, 2);
            if (pick(3) == 0) x = add_node(c, OP_ADD, x, add_node(c, OP_CONST, 0, 0, pick(5) - 1), 0);
            x = add_node(c, pick(2) ? OP_DIV : OP_MOD, x, by, 0);
        }
        int t = add_node(c, OP_MUL, x, step_node(c, n, m), 0);
        if (pick(8) == 0) t = add_node(c, pick(2) ? OP_MAX : OP_MUL, t, x, 0);
        sum = sum < 0 ? t : add_node(c, OP_ADD, sum, t, 0);
    }
    return sum < 0 ? loop : sum;
}

/* (x + k) % n, or x ^ 1 */
static int turned(Case *c, int x, int n)
{
    int one = add_node(c, OP_CONST, 0, 0, 1), two = add_node(c, OP_CONST, 0, 0, 2);
    if (pick(2)) return add_node(c, OP_MOD, add_node(c, OP_ADD, x, pick(2) ? one : two, 0), n, 0);
    int low = add_node(c, OP_MOD, x, two, 0), rest = add_node(c, OP_SUB, x, low, 0);
    return add_node(c, OP_ADD, rest, add_node(c, OP_SUB, one, low, 0), 0);
}

/* Quotient and remainder of one number, as if tiles were counted row by row. */
static void counted(Case *c, BoxCase *b, const int *teams, int loop, const int *counts, int n, int m)
{
    static const int64_t by[] = {2, 3, 4, 6};
    int stride = pick(4) ? counts[0] : step_node(c, n, m), at = add_node(c, OP_ADD, add_node(c, OP_MUL, loop, stride, 0), teams[0], 0);
    if (pick(2)) at = add_node(c, OP_ADD, add_node(c, OP_MUL, at, counts[1], 0), teams[1], 0);
    if (pick(4) == 0) at = add_node(c, OP_ADD, at, add_node(c, OP_CONST, 0, 0, pick(4)), 0);
    int den = pick(2) ? n : add_node(c, OP_CONST, 0, 0, by[pick(4)]), s = step_node(c, n, m);
    b->start[0] = add_node(c, OP_MUL, add_node(c, OP_DIV, at, den, 0), s, 0);
    b->start[1] = add_node(c, OP_MUL, add_node(c, OP_MOD, at, den, 0), pick(4) ? s : step_node(c, n, m), 0);
}

/* Two of the indices, one at most, or less than, the other. */
static void add_condition(Case *c, BoxCase *b, const int *nodes)
{
    int x = pick(3), y = (x + 1 + pick(2)) % 3, less = add_node(c, OP_SUB, nodes[x], nodes[y], 0);
    b->holds[b->nholds++] = pick(2) ? less : add_node(c, OP_ADD, less, add_node(c, OP_CONST, 0, 0, pick(2) ? -1 : 1), 0);
}

/* i, j and j, i, by steps; or by what one of them and an index from there make. */
static void swapped(Case *c, BoxCase *b, const int *nodes, int n, int m)
{
    int x = nodes[pick(3)], y = nodes[pick(3)], s = step_node(c, n, m);
    if (pick(4) == 0) y = add_node(c, OP_ADD, x, y, 0);
    x = add_node(c, OP_MUL, x, s, 0);
    y = add_node(c, OP_MUL, y, s, 0);
    b[0].start[0] = b[1].start[1] = x;
    b[0].start[1] = b[1].start[0] = y;
    for (int k = 0; k < 4; k++) b[k / 2].extent[k % 2] = pick(2) ? s : add_node(c, OP_CONST, 0, 0, 1);
}

typedef struct Touched {
    bool holds;
    int64_t team[2];
    int64_t lo[2], hi[2];
} Touched;

static size_t touched_by(Case *c, const BoxCase *b, int rank, Touched *out, size_t max)
{
    size_t n = 0;
    for (int64_t i = 0;; i++) {
        int64_t v = i;
        bool first_out = false;
        for (int k = 4; k >= 2; k--) {
            eval_nodes(c, 0, c->bases[2].at);
            int64_t count = c->value[c->bases[k].count];
            if (k == 2) first_out = v >= count;
            c->base_value[k] = v % count;
            v /= count;
        }
        if (first_out || n == max) return n;
        eval_nodes(c, 0, c->nnodes);
        Touched *t = &out[n++];
        t->holds = true;
        for (int k = 0; k < b->nholds; k++) t->holds = t->holds && c->value[b->holds[k]] >= 0;
        for (int k = 0; k < 2; k++) t->team[k] = c->base_value[2 + k];
        for (int k = 0; k < rank; k++) {
            t->lo[k] = c->value[b->start[k]];
            t->hi[k] = t->lo[k] + c->value[b->extent[k]];
        }
    }
}

/* Each case counts where it is proved that the two never meet. */
static void draw(void (*one)(Arena *), int cases, const int *apart, const char *what)
{
    Arena arena;
    arena_init(&arena, &memory);
    for (int i = 0; i < cases; i++) {
        ArenaMark m = arena_mark(&arena);
        one(&arena);
        arena_release(&arena, m);
    }
    arena_free(&arena);
    if (getenv("DOMAIN_TEST_STATISTICS")) print_message("%d %s apart\n", *apart, what);
}

static int apart_total;

static void random_boxes_case(Arena *arena)
{
    Case c = {.d = domain_new(arena)};
    int n = add_size(&c, "N", 0, 4);
    int m = add_size(&c, "M", 1, 3);
    int zero = add_node(&c, OP_CONST, 0, 0, 0), four = add_node(&c, OP_CONST, 0, 0, 4),
        two = add_node(&c, OP_CONST, 0, 0, 2);
    int counts[] = {n, m, four, two}, starts[] = {two, m, add_node(&c, OP_CONST, 0, 0, -3)};
    int nodes[3], grid[3];
    Atom atoms[3];
    for (int i = 0; i < 3; i++) {
        int count = grid[i] = counts[pick(4)];
        nodes[i] = add_index(&c, &atoms[i], pick(3) ? zero : starts[pick(3)], count, i < 2 ? DEP_TEAM : DEP_LOOP);
    }
    for (int i = 0; i < 3; i++)
        if (pick(4) == 0) nodes[i] = turned(&c, nodes[i], grid[i]);
    BoxCase b[2] = {{.nholds = 0}, {.nholds = 0}};
    DomBox box[2];
    int rank = 1 + pick(2);
    box[0].rank = box[1].rank = rank;
    for (int k = 0; k < rank; k++) {
        b[0].start[k] = pick(3) ? random_start(&c, nodes, nodes[2], n, m) : grid_stride(&c, nodes, nodes[2], grid);
        b[0].extent[k] = pick(2) ? add_node(&c, OP_CONST, 0, 0, 1) : step_node(&c, n, m);
        b[1] = pick(3) || k ? b[0] : b[1];
    }
    b[1] = b[0];
    if (pick(2)) {
        b[1].start[0] = add_node(&c, OP_ADD, b[0].start[0], pick(2) ? two : four, 0);
    }
    for (int k = 0; k < rank; k++) { /* in ways of their own */
        if (pick(4)) continue;
        int s = pick(2);
        b[s].start[k] = pick(2) ? zero : random_start(&c, nodes, nodes[2], n, m);
    }
    if (rank == 2 && pick(3) == 0) {
        counted(&c, &b[0], nodes, nodes[2], grid, n, m);
        if (pick(4)) memcpy(b[1].start, b[0].start, sizeof b[1].start);
    } else if (rank == 2 && pick(3) == 0) {
        swapped(&c, b, nodes, n, m);
    }
    for (int s = 0; s < 2; s++)
        while (b[s].nholds < HOLDS && pick(3) == 0) add_condition(&c, &b[s], nodes);
    if (pick(3) == 0 && b[0].nholds) b[1].holds[0] = b[0].holds[0], b[1].nholds = b[1].nholds ? b[1].nholds : 1;
    for (int s = 0; s < 2; s++) {
        for (int k = 0; k < rank; k++) {
            box[s].start[k] = c.nodes[b[s].start[k]].poly;
            box[s].extent[k] = c.nodes[b[s].extent[k]].poly;
        }
    }
    const int64_t size[2] = {pick(2) ? pick(12) : 0, pick(2) ? pick(6) : 0};
    bool apart, teams_apart = apart_within(&c, arena, box, b, size, atoms, &apart);
    apart_total += teams_apart;
    if (!teams_apart && !apart) return;
    static Touched x[256], y[256];
    for (c.base_value[0] = 1; c.base_value[0] <= 4; c.base_value[0]++) {
        for (c.base_value[1] = 1; c.base_value[1] <= 3; c.base_value[1]++) {
            size_t nx = touched_by(&c, &b[0], rank, x, 256), ny = touched_by(&c, &b[1], rank, y, 256);
            for (size_t i = 0; i < nx; i++) {
                for (size_t j = 0; j < ny; j++) {
                    bool same = memcmp(x[i].team, y[j].team, sizeof x[i].team) == 0;
                    bool overlap = x[i].holds && y[j].holds;
                    bool inside = true;
                    for (int k = 0; k < rank; k++) {
                        int64_t lo = x[i].lo[k] > y[j].lo[k] ? x[i].lo[k] : y[j].lo[k], hi = x[i].hi[k] < y[j].hi[k] ? x[i].hi[k] : y[j].hi[k];
                        overlap = overlap && lo < hi;
                        inside = inside && (size[k] == 0 || (lo < size[k] && hi > 0));
                    }
                    if (overlap && inside && !same && teams_apart)
                        explain(&c, "domain_apart_teams", b[0].start[0], b[1].start[0]);
                    if (overlap && i == j && apart) explain(&c, "domain_apart", b[0].start[0], b[1].start[0]);
                }
            }
        }
    }
}

static void random_boxes(void **state)
{
    (void)state;
    draw(random_boxes_case, 8000, &apart_total, "boxes");
    assert_true(apart_total > 300);
}

/* Chunks: turns i from f(t) to f(t + 1), or nearly so, of rows that begin at s * i. */
typedef struct Bound { /* f */
    int shape, k, add;
} Bound;

static int bound_node(Case *c, Bound f, int x, int n, int m)
{
    int k = add_node(c, OP_CONST, 0, 0, f.k), by = f.shape & 1 ? k : n, one = add_node(c, OP_CONST, 0, 0, 1), y;
    switch (f.shape / 2) {
    case 0: y = add_node(c, OP_DIV, add_node(c, OP_MUL, x, m, 0), by, 0); break;
    case 1: y = add_node(c, OP_DIV, add_node(c, OP_MUL, x, add_node(c, OP_ADD, x, one, 0), 0), by, 0); break;
    case 2: y = add_node(c, OP_MIN, add_node(c, OP_MUL, x, k, 0), m, 0); break;
    case 3: y = add_node(c, OP_MUL, add_node(c, OP_CEIL, m, by, 0), x, 0); break;
    case 4: y = add_node(c, OP_MUL, add_node(c, OP_DIV, x, by, 0), m, 0); break;
    default: y = add_node(c, OP_MOD, add_node(c, OP_MUL, x, m, 0), by, 0); break; /* not in order */
    }
    if (f.shape & 16) y = add_node(c, OP_SUB, m, y, 0);
    return add_node(c, OP_ADD, y, add_node(c, OP_CONST, 0, 0, f.add), 0);
}

static Bound random_bound(void)
{
    return (Bound){pick(12) | (pick(6) == 0 ? 16 : 0), 1 + pick(4), pick(6) == 0 ? pick(3) - 1 : 0};
}

typedef struct Chunks {
    Case c;
    int n, m, team, lane, lanes, zero;
    BoxCase box[2];
    int turn[2], from[2], to[2]; /* nodes */
} Chunks;

static void add_chunk(Chunks *h, int side, Bound first, Bound end, int step, int wide)
{
    Case *c = &h->c;
    int next = add_node(c, OP_ADD, h->team, add_node(c, OP_CONST, 0, 0, 1), 0);
    h->from[side] = bound_node(c, first, h->team, h->n, h->m);
    h->to[side] = bound_node(c, end, next, h->n, h->m);
    Atom turn;
    h->turn[side] = add_index(c, &turn, h->from[side], add_node(c, OP_SUB, h->to[side], h->from[side], 0), DEP_LOOP);
    int at = add_node(c, OP_MUL, h->turn[side], add_node(c, OP_CONST, 0, 0, step), 0);
    if (pick(4) == 0) at = add_node(c, OP_ADD, at, h->lane, 0);
    h->box[side] = (BoxCase){.start = {at}, .extent = {add_node(c, OP_CONST, 0, 0, wide)}};
}

/* One turn of each team, of all that there are. */
static size_t chunks_touched(Chunks *h, int side, Touched *out, size_t max)
{
    Case *c = &h->c;
    size_t n = 0;
    int turn = side + 4; /* behind n, m, team, lane */
    for (int64_t t = 0; t < c->base_value[0]; t++) {
        for (int64_t u = 0; u < 2; u++) {
            c->base_value[2] = t;
            c->base_value[3] = u;
            for (c->base_value[turn] = 0;; c->base_value[turn]++) {
                eval_nodes(c, 0, c->nnodes);
                if (c->base_value[turn] >= c->value[h->to[side]] - c->value[h->from[side]] || n == max) break;
                int64_t lo = c->value[h->box[side].start[0]];
                out[n++] = (Touched){.holds = true, .team = {t, u}, .lo = {lo}, .hi = {lo + c->value[h->box[side].extent[0]]}};
            }
        }
    }
    return n;
}

static int chunks_apart;

static void random_chunks_case(Arena *arena)
{
    static Chunks chunks;
    static Touched x[512], y[512];
    Chunks *h = &chunks;
    *h = (Chunks){.c = {.d = domain_new(arena)}};
    Case *c = &h->c;
    Atom team[2], any;
    h->n = add_size(c, "N", 0, 4);
    h->m = add_size(c, "M", 1, 6);
    h->zero = add_node(c, OP_CONST, 0, 0, 0);
    h->team = add_index(c, &team[0], h->zero, h->n, DEP_TEAM);
    h->lane = add_index(c, &any, h->zero, add_node(c, OP_CONST, 0, 0, 2), pick(2) ? DEP_TEAM : DEP_LOOP);
    Bound first = random_bound(), end = pick(4) ? first : random_bound();
    int step = 1 + pick(3), wide = pick(3) ? step : 1 + pick(3);
    add_chunk(h, 0, first, end, step, wide);
    if (pick(3) == 0) first = random_bound(), end = pick(3) ? first : random_bound();
    if (pick(3) == 0) step = 1 + pick(3);
    add_chunk(h, 1, first, end, step, pick(3) ? step : 1 + pick(3));
    DomAxis axis = {.name = "a dimension"};
    for (int side = 0; side < 2; side++) {
        axis.start[side] = c->nodes[h->box[side].start[0]].poly;
        axis.extent[side] = c->nodes[h->box[side].extent[0]].poly;
    }
    const char *why;
    if (!domain_apart_teams(c->d, arena, &(DomPair){.axis = &axis, .naxes = 1, .team = team, .nteam = 1}, &why)) return;
    chunks_apart++;
    for (int64_t n = 1; n <= 4; n++) {
        for (int64_t m = 1; m <= 6; m++) {
            c->base_value[0] = n;
            c->base_value[1] = m;
            size_t nx = chunks_touched(h, 0, x, 512), ny = chunks_touched(h, 1, y, 512);
            for (size_t i = 0; i < nx; i++)
                for (size_t j = 0; j < ny; j++)
                    if (x[i].team[0] != y[j].team[0] && x[i].lo[0] < y[j].hi[0] && y[j].lo[0] < x[i].hi[0])
                        explain(c, "domain_apart_teams of chunks", h->box[0].start[0], h->box[1].start[0]);
        }
    }
}

static void random_chunks(void **state)
{
    (void)state;
    draw(random_chunks_case, 4000, &chunks_apart, "chunks");
    assert_true(chunks_apart > 300);
}

/* Tiles in groups of k rows, of which the last one may have fewer: what is divided by is another number for each group. */
static int groups_apart;

static int nearly(Case *c, int x)
{
    return pick(12) ? x : add_node(c, OP_ADD, x, add_node(c, OP_CONST, 0, 0, pick(2) ? 1 : -1), 0);
}

static void random_groups_case(Arena *arena)
{
    Case all = {.d = domain_new(arena)}, *c = &all;
    Atom team;
    int n = add_size(c, "N", 0, 4), m = add_size(c, "M", 1, 5);
    int zero = add_node(c, OP_CONST, 0, 0, 0), k = add_node(c, OP_CONST, 0, 0, 1 + pick(3));
    int x = add_index(c, &team, zero, nearly(c, add_node(c, OP_MUL, n, m, 0)), DEP_TEAM), per = nearly(c, add_node(c, OP_MUL, k, n, 0));
    int group = add_node(c, OP_DIV, x, per, 0), first = add_node(c, OP_MUL, group, nearly(c, k), 0);
    int size = nearly(c, add_node(c, OP_MIN, nearly(c, add_node(c, OP_SUB, m, first, 0)), k, 0));
    int in = nearly(c, add_node(c, OP_MOD, x, per, 0)), at[2], extent[2];
    at[0] = add_node(c, OP_ADD, first, add_node(c, OP_MOD, in, nearly(c, size), 0), 0);
    at[1] = add_node(c, OP_DIV, in, nearly(c, size), 0);
    DomAxis axis[2];
    for (int i = 0; i < 2; i++) {
        int step = add_node(c, OP_CONST, 0, 0, 1 + pick(3));
        at[i] = add_node(c, OP_MUL, at[i], step, 0);
        extent[i] = pick(6) ? step : nearly(c, step);
        axis[i] = (DomAxis){.name = "a dimension"};
        for (int side = 0; side < 2; side++) axis[i].start[side] = c->nodes[at[i]].poly, axis[i].extent[side] = c->nodes[extent[i]].poly;
    }
    const char *why;
    if (!domain_apart_teams(c->d, arena, &(DomPair){.axis = axis, .naxes = 2, .team = &team, .nteam = 1}, &why)) return;
    groups_apart++;
    for (c->base_value[0] = 1; c->base_value[0] <= 4; c->base_value[0]++) {
        for (c->base_value[1] = 1; c->base_value[1] <= 5; c->base_value[1]++) {
            int64_t lo[2][32], hi[2][32];
            int ctas = 0;
            for (c->base_value[2] = 0;; c->base_value[2]++) {
                eval_nodes(c, 0, c->nnodes);
                if (c->base_value[2] >= c->value[c->bases[2].count]) break;
                bool known = c->defined[at[0]] && c->defined[at[1]]; /* else it is divided by 0 */
                for (int i = 0; i < 2; i++) lo[i][ctas] = known ? c->value[at[i]] : 1000 + ctas, hi[i][ctas] = lo[i][ctas] + c->value[extent[i]];
                for (int j = 0; j < ctas; j++)
                    if (lo[0][j] < hi[0][ctas] && lo[0][ctas] < hi[0][j] && lo[1][j] < hi[1][ctas] && lo[1][ctas] < hi[1][j])
                        explain(c, "domain_apart_teams of groups", at[0], at[1]);
                ctas++;
            }
        }
    }
}

static void random_groups(void **state)
{
    (void)state;
    draw(random_groups_case, 2000, &groups_apart, "groups");
    assert_true(groups_apart > 200);
}

/* Rows of m that are gone through in chunks of k, of which the last one may have fewer: how many one index counts depends on another one. */
typedef struct Place {
    int64_t row, chunk, lo, hi;
} Place;

static int rows_apart;

static void random_rows_case(Arena *arena)
{
    Case all = {.d = domain_new(arena)}, *c = &all;
    Atom team[2], turn;
    int n = add_size(c, "N", 0, 3), m = add_size(c, "M", 1, 6);
    int zero = add_node(c, OP_CONST, 0, 0, 0), k = add_node(c, OP_CONST, 0, 0, 1 + pick(4)), step = add_node(c, OP_CONST, 0, 0, 1 + pick(3));
    int row = add_index(c, &team[0], zero, nearly(c, n), DEP_TEAM);
    int chunk = add_index(c, &team[1], zero, nearly(c, add_node(c, pick(6) ? OP_CEIL : OP_DIV, m, nearly(c, k), 0)), DEP_TEAM);
    int first = add_node(c, OP_MUL, chunk, nearly(c, k), 0), left = add_node(c, OP_SUB, nearly(c, m), first, 0);
    int in = add_index(c, &turn, zero, nearly(c, pick(6) ? add_node(c, OP_MIN, nearly(c, k), left, 0) : k), DEP_LOOP);
    int at = add_node(c, OP_ADD, first, pick(6) ? in : add_node(c, OP_SUB, left, in, 0), 0), extent = pick(6) ? step : nearly(c, step);
    at = add_node(c, OP_MUL, add_node(c, OP_ADD, add_node(c, OP_MUL, row, nearly(c, m), 0), at, 0), step, 0);
    Poly start = c->nodes[at].poly, wide = c->nodes[extent].poly;
    DomAxis axis = {.name = "a dimension", .start = {start, start}, .extent = {wide, wide}};
    const char *why;
    if (!domain_apart_teams(c->d, arena, &(DomPair){.axis = &axis, .naxes = 1, .team = team, .nteam = 2}, &why)) return;
    rows_apart++;
    for (c->base_value[0] = 1; c->base_value[0] <= 3; c->base_value[0]++) {
        for (c->base_value[1] = 1; c->base_value[1] <= 6; c->base_value[1]++) {
            Place seen[5 * 9 * 9];
            int places = 0;
            for (int of = 0; of < 5 * 9 * 9; of++) {
                c->base_value[2] = of / 81;
                c->base_value[3] = of / 9 % 9;
                c->base_value[4] = of % 9;
                eval_nodes(c, 0, c->nnodes);
                bool runs = true;
                for (int i = 2; i < 5; i++) runs = runs && c->base_value[i] < c->value[c->bases[i].count];
                if (!runs) continue;
                Place p = {c->base_value[2], c->base_value[3], c->value[at], c->value[at] + c->value[extent]};
                for (int j = 0; j < places; j++)
                    if ((seen[j].row != p.row || seen[j].chunk != p.chunk) && p.lo < seen[j].hi && seen[j].lo < p.hi)
                        explain(c, "domain_apart_teams of rows", at, extent);
                seen[places++] = p;
            }
        }
    }
}

static void random_rows(void **state)
{
    (void)state;
    draw(random_rows_case, 2000, &rows_apart, "rows");
    assert_true(rows_apart > 200);
}

int main(void)
{
    if (setjmp(out_of_memory)) return 70;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_statements),
        cmocka_unit_test(random_boxes),
        cmocka_unit_test(random_chunks),
        cmocka_unit_test(random_groups),
        cmocka_unit_test(random_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
