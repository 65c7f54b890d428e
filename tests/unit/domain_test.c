/* The domain: what must be provable, what must not, texts and launch expressions. Its soundness against brute force is
 * tests/unit/domain_random_test.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lower/algebra/domain/inside.h"

static jmp_buf out_of_memory;
static Mem memory = {NULL, NULL, &out_of_memory};

#define WITH_DOMAIN                                                                                                    \
    Arena arena;                                                                                                       \
    arena_init(&arena, &memory);                                                                                       \
    Domain *d = domain_new(&arena)
#define END_DOMAIN arena_free(&arena)

#define K(k) poly_const(d, (k))
#define A(x) poly_atom(d, (x))
#define ADD(a, b) poly_add(d, (a), (b))
#define SUB(a, b) poly_sub(d, (a), (b))
#define MUL(a, b) poly_mul(d, (a), (b))
#define DIV(a, b) poly_div(d, (a), (b))
#define MOD(a, b) poly_mod(d, (a), (b))
#define CEIL(a, b) poly_ceil(d, (a), (b))
#define SAME(a, b) assert_true(poly_same(poly_now(d, (a)), poly_now(d, (b))))
#define LE(a, b) assert_true(domain_le(d, (a), (b)))
#define NOT_LE(a, b) assert_false(domain_le(d, (a), (b)))
#define LT(a, b) assert_true(domain_lt(d, (a), (b)))
#define TEXT(p, s) assert_string_equal(domain_text(d, &arena, (p)), (s))

static Poly index_of(Domain *d, const char *name, Poly count, unsigned depends)
{
    return poly_atom(d, domain_index(d, name, poly_const(d, 0), count, depends));
}

static Poly size_of(Domain *d, const char *name, uint32_t sym)
{
    return poly_atom(d, domain_param(d, name, sym, 1, INT64_MAX));
}

/* ---- Hand-written ---- */

static void arithmetic(void **state)
{
    (void)state;
    WITH_DOMAIN;
    Poly n = size_of(d, "N", 0), m = size_of(d, "M", 1);
    SAME(MUL(ADD(n, m), SUB(n, m)), SUB(MUL(n, n), MUL(m, m)));
    SAME(SUB(ADD(n, m), n), m);
    SAME(MUL(ADD(n, K(1)), K(128)), ADD(MUL(K(128), n), K(128)));
    int64_t k = 1;
    assert_true(poly_is_const(SUB(n, n), &k) && k == 0);
    assert_false(poly_same(n, m));
    TEXT(ADD(MUL(K(64), n), K(16)), "64 * N + 16");
    TEXT(SUB(K(1), MUL(n, m)), "1 - N * M");
    TEXT(K(0), "0");
    END_DOMAIN;
}

static void limits(void **state)
{
    (void)state;
    WITH_DOMAIN;
    Poly n = size_of(d, "N", 0), p = n;
    assert_true(MUL(K(INT64_C(1) << 40), K(INT64_C(1) << 40)).bad);
    assert_true(K(INT64_MIN).bad);
    for (int i = 0; i < 4; i++) p = MUL(p, p);
    assert_true(p.bad);
    NOT_LE(p, p);
    assert_false(domain_eq(d, p, p));
    assert_false(domain_divides(d, 1, p));
    assert_true(DIV(n, K(0)).bad);
    assert_true(MOD(n, SUB(n, n)).bad);
    /* Sums of many products, towers of quotients, and long proofs end quickly, one way or another. */
    Poly x[24], sum = K(0);
    for (uint32_t i = 0; i < 24; i++) x[i] = size_of(d, "x", i + 1);
    for (int i = 0; i < 24; i++) {
        for (int j = 0; j < 24; j++) sum = ADD(sum, MUL(x[i], x[j]));
    }
    assert_true(sum.bad);
    p = n;
    for (uint32_t i = 0; i < 200; i++) p = DIV(ADD(MUL(p, K(3)), x[i % 24]), ADD(x[(i + 1) % 24], K(2)));
    p = n;
    for (uint32_t i = 0; i < 200; i++) p = poly_min(d, ADD(p, x[i % 24]), MUL(p, K(2)));
    Poly q = K(0);
    for (int i = 0; i < 12; i++) q = ADD(q, MUL(K(i % 2 ? -3 : 5), DIV(x[i], ADD(x[i + 1], K(1)))));
    domain_le(d, q, MUL(q, n));
    Poly out;
    domain_max(d, q, &out);
    END_DOMAIN;
}

static void quotients(void **state)
{
    (void)state;
    WITH_DOMAIN;
    Poly n = size_of(d, "N", 0), c = size_of(d, "C", 1), w = size_of(d, "W", 2), h = size_of(d, "H", 3);
    Poly q = index_of(d, "q", n, DEP_LOOP), r = index_of(d, "r", c, DEP_LOOP), s = index_of(d, "s", K(64), DEP_LOOP);
    SAME(DIV(ADD(MUL(q, c), r), c), q);
    SAME(MOD(ADD(MUL(q, c), r), c), r);
    SAME(DIV(ADD(MUL(q, K(64)), s), K(64)), q);
    SAME(MOD(ADD(MUL(q, K(64)), s), K(64)), s);
    SAME(DIV(SUB(MUL(q, K(64)), K(1)), K(64)), SUB(q, K(1)));
    SAME(DIV(DIV(q, K(4)), K(8)), DIV(q, K(32)));
    SAME(DIV(DIV(q, w), h), DIV(q, MUL(h, w)));
    SAME(CEIL(n, K(64)), DIV(ADD(n, K(63)), K(64)));
    SAME(CEIL(n, c), DIV(SUB(ADD(n, c), K(1)), c));
    SAME(DIV(MUL(K(6), n), MUL(K(4), c)), DIV(MUL(K(3), n), MUL(K(2), c)));
    SAME(DIV(MUL(n, w), MUL(c, w)), DIV(n, c));
    SAME(CEIL(MUL(n, w), MUL(c, w)), CEIL(n, c));
    SAME(MOD(MOD(q, c), c), MOD(q, c));
    SAME(MOD(MOD(q, K(8)), K(8)), MOD(q, K(8)));
    SAME(DIV(n, K(1)), n);
    SAME(DIV(K(-7), K(2)), K(-4));
    SAME(DIV(K(7), K(-2)), K(-4));
    SAME(CEIL(K(7), K(2)), K(4));
    Poly pix = MUL(index_of(d, "t", CEIL(MUL(MUL(n, h), w), K(128)), DEP_TEAM), K(128));
    Poly a = DIV(pix, MUL(h, w)), b = MOD(DIV(pix, w), h), e = MOD(pix, w);
    SAME(ADD(MUL(ADD(MUL(a, h), b), w), e), pix);
    SAME(ADD(MUL(a, MUL(h, w)), MOD(pix, MUL(h, w))), pix);
    LE(K(-1), SUB(e, K(1)));
    LT(e, w);
    LE(K(0), b);
    LT(b, h);
    LE(K(0), a);
    LT(a, n);
    /* What is a multiple is at least 0 where it is more than less than one below. */
    Poly turn = index_of(d, "u", n, DEP_LOOP), half = MOD(DIV(MUL(turn, K(16)), K(9)), K(2));
    LE(K(0), MUL(half, K(2)));
    LE(MUL(half, K(2)), K(3));
    NOT_LE(K(1), MUL(half, K(2)));
    NOT_LE(MUL(half, K(2)), K(1));
    Poly five = SUB(K(5), MUL(MOD(ADD(DIV(n, K(4)), MUL(DIV(c, K(4)), q)), K(3)), K(2)));
    LE(K(0), MUL(poly_min(d, five, K(2)), K(32)));
    NOT_LE(K(33), MUL(poly_min(d, five, K(2)), K(32)));
    /* A remainder of a quotient goes in whole numbers. */
    Poly lane = index_of(d, "lane", K(4), DEP_LOOP), slot = ADD(MUL(MOD(DIV(pix, c), K(3)), K(4)), lane);
    LE(K(0), slot);
    LE(slot, K(11));
    NOT_LE(slot, K(10));
    NOT_LE(K(1), slot);
    slot = ADD(MUL(MOD(ADD(DIV(pix, c), n), w), K(4)), lane);
    LE(slot, SUB(MUL(w, K(4)), K(1)));
    NOT_LE(slot, SUB(MUL(w, K(4)), K(2)));
    TEXT(e, "128 * t % W");
    TEXT(SUB(e, K(1)), "128 * t % W - 1");
    TEXT(CEIL(n, K(64)), "ceil(N, 64)");
    TEXT(MUL(K(2), MOD(q, K(4))), "2 * (q % 4)");
    END_DOMAIN;
}

static void bounds(void **state)
{
    (void)state;
    WITH_DOMAIN;
    Poly m = size_of(d, "M", 0), n = size_of(d, "N", 1), k = size_of(d, "K", 2), l = size_of(d, "L", 3);
    Poly x = index_of(d, "cta.x", CEIL(n, K(256)), DEP_TEAM), y = index_of(d, "cta.y", CEIL(m, K(64)), DEP_TEAM);
    Poly j = index_of(d, "j", CEIL(k, K(128)), DEP_LOOP);
    Poly out;
    LT(MUL(y, K(64)), m);
    LT(MUL(x, K(256)), n);
    LE(K(0), MUL(y, K(64)));
    LE(MUL(ADD(j, K(1)), K(128)), MUL(CEIL(k, K(128)), K(128)));
    LT(MUL(j, K(128)), k);
    NOT_LE(MUL(ADD(j, K(1)), K(128)), k);
    LE(MUL(ADD(j, K(1)), K(128)), ADD(k, K(127)));
    LE(n, MUL(CEIL(n, K(64)), K(64)));
    LT(MUL(CEIL(n, K(64)), K(64)), ADD(n, K(64)));
    LE(MUL(DIV(n, K(64)), K(64)), n);
    LE(CEIL(n, K(64)), n);
    LE(DIV(n, K(64)), DIV(n, K(32)));
    LE(n, MUL(CEIL(n, l), l));
    LE(K(1), CEIL(n, l));
    LE(ADD(n, m), ADD(MUL(n, m), K(1)));
    Poly mn = poly_min(d, n, m), mx = poly_max(d, n, m);
    LE(mn, n);
    LE(mn, m);
    LE(n, mx);
    LE(mn, mx);
    LE(K(1), mn);
    SAME(poly_min(d, n, ADD(n, K(1))), n);
    SAME(poly_max(d, m, n), mx);
    Poly i = index_of(d, "i", poly_min(d, n, K(3)), DEP_LOOP);
    LT(i, K(3));
    LT(i, n);
    Poly a = index_of(d, "a", n, DEP_LOOP);
    Poly tri = ADD(a, poly_atom(d, domain_index(d, "tri", a, SUB(n, a), DEP_LOOP)));
    LT(tri, n);
    LE(a, tri);
    assert_true(domain_max(d, tri, &out));
    SAME(out, SUB(n, K(1)));
    assert_true(domain_max(d, MUL(y, K(64)), &out));
    SAME(out, SUB(MUL(K(64), CEIL(m, K(64))), K(64)));
    assert_true(domain_min(d, SUB(MUL(y, K(64)), K(1)), &out));
    SAME(out, K(-1));
    assert_true(domain_max(d, MOD(a, K(4)), &out));
    SAME(out, K(3));
    assert_true(domain_min(d, MOD(a, l), &out));
    SAME(out, K(0));
    assert_true(domain_max(d, DIV(a, K(4)), &out));
    SAME(out, DIV(SUB(n, K(1)), K(4)));
    Poly pix = MUL(a, K(8));
    assert_true(domain_max(d, MOD(DIV(pix, k), l), &out));
    SAME(out, SUB(l, K(1)));
    assert_true(domain_max(d, MUL(a, SUB(l, K(1))), &out));
    assert_false(domain_max(d, MUL(a, SUB(l, m)), &out));
    Poly v = poly_atom(d, domain_opaque(d, "v", 0, INT64_MAX, 1, 0, DEP_DATA));
    LE(K(0), v);
    assert_false(domain_max(d, v, &out));
    assert_true(domain_min(d, v, &out));
    Poly p = poly_atom(d, domain_param(d, "p", 4, -4, 12));
    LE(p, K(12));
    LE(K(-12), MUL(p, K(3)));
    NOT_LE(K(0), p);
    assert_int_equal(domain_depends(d, ADD(p, MUL(a, v))), DEP_LAUNCH | DEP_LOOP | DEP_DATA);
    /* Inside the body of `for e in N / 64` N is at least 64. */
    Poly e = index_of(d, "e", DIV(n, K(64)), DEP_LOOP);
    LE(ADD(MUL(e, K(64)), K(64)), n);
    /* What a store at 4 * (turn - 1) leaves of 2 elements: the minimum that ends it is asked before the one that begins it, though that is deeper. */
    Poly given = poly_atom(d, domain_opaque(d, "given", INT32_MIN, INT32_MAX, 1, 0, DEP_DATA)), wide = poly_atom(d, domain_param(d, "D", 5, 8, INT32_MAX));
    Poly turn = index_of(d, "turn", ADD(poly_max(d, poly_min(d, given, K(3)), K(0)), K(1)), DEP_LOOP), at = MUL(SUB(turn, K(1)), K(4));
    Poly from = poly_min(d, poly_max(d, SUB(K(0), at), K(0)), K(2));
    LE(from, poly_min(d, SUB(wide, at), K(2)));
    LE(from, poly_min(d, poly_max(d, SUB(wide, at), from), K(2)));
    NOT_LE(K(1), SUB(poly_min(d, SUB(wide, at), K(2)), from));
    END_DOMAIN;
}

static void facts(void **state)
{
    (void)state;
    WITH_DOMAIN;
    Poly l = size_of(d, "L", 0), r = size_of(d, "R", 1), k = size_of(d, "K", 2), c = size_of(d, "C", 3);
    Poly npq = size_of(d, "NPQ", 4), n = size_of(d, "N", 5), p = size_of(d, "P", 6), q = size_of(d, "Q", 7);
    Poly early = DIV(l, K(16)), tn = size_of(d, "TN", 8), s = size_of(d, "S", 9), t = size_of(d, "T", 10);
    assert_true(domain_assume_divides(d, K(16), l));
    assert_true(domain_divides(d, 16, l));
    assert_true(domain_divides(d, 16, MUL(l, K(2))));
    assert_true(domain_divides(d, 32, MUL(l, K(2))));
    assert_false(domain_divides(d, 32, l));
    SAME(MOD(MUL(l, K(2)), K(16)), K(0));
    SAME(MUL(early, K(16)), l);
    LE(K(16), l);
    TEXT(l, "L");
    TEXT(DIV(l, K(16)), "L / 16");
    assert_true(domain_assume_eq(d, MOD(r, K(4)), K(0)));
    SAME(MUL(DIV(r, K(4)), K(4)), r);
    assert_true(domain_assume_eq(d, k, MUL(K(9), c)));
    SAME(DIV(k, c), K(9));
    assert_true(domain_assume_divides(d, K(64), c));
    assert_true(domain_divides(d, 64 * 9, k));
    SAME(DIV(k, K(64)), MUL(K(9), DIV(c, K(64))));
    assert_true(domain_assume_eq(d, npq, MUL(n, MUL(p, q))));
    SAME(DIV(npq, MUL(p, q)), n);
    LE(n, npq);
    assert_true(domain_assume_eq(d, tn, CEIL(n, K(128))));
    LE(n, MUL(tn, K(128)));
    assert_true(domain_assume_divides(d, p, s));
    SAME(MUL(DIV(s, p), p), s);
    TEXT(s, "S");
    SAME(MOD(s, p), K(0));
    assert_true(domain_assume_le(d, q, t));
    LE(SUB(q, K(3)), t);
    LE(MUL(q, K(2)), ADD(t, MUL(t, K(3))));
    assert_true(domain_assume_le(d, K(8), q));
    LE(K(8), t);
    assert_true(domain_assume_divides(d, K(16), MUL(n, p)));
    assert_true(domain_divides(d, 16, MUL(MUL(n, p), q)));
    SAME(MOD(MUL(n, p), K(8)), K(0));
    Poly u = size_of(d, "U", 11), v = size_of(d, "V", 12);
    assert_true(domain_assume_eq(d, MUL(u, K(2)), MUL(v, K(3))));
    assert_true(domain_divides(d, 3, u));
    LE(v, u);
    Poly w = size_of(d, "W", 13);
    assert_true(domain_assume_eq(d, MOD(w, K(8)), K(3)));
    SAME(MOD(w, K(8)), K(3));
    LE(K(3), w);
    TEXT(w, "W");
    Poly o = poly_atom(d, domain_opaque(d, "o", 0, 1000, 64, 0, DEP_DATA));
    assert_true(domain_divides(d, 64, o));
    LE(o, K(960));
    SAME(MUL(DIV(o, K(32)), K(32)), o);
    TEXT(o, "o");
    assert_true(domain_assume_eq(d, K(64), K(64)));
    assert_false(domain_assume_eq(d, K(64), K(63)));
    END_DOMAIN;
}

static void launch_expressions(void **state)
{
    (void)state;
    WITH_DOMAIN;
    LxPool pool = {0};
    Lx x = 0;
    Poly n = size_of(d, "N", 0), i = index_of(d, "i", n, DEP_LOOP);
    assert_true(domain_lx(d, &arena, &pool, CEIL(n, K(64)), &x));
    assert_int_equal(pool.nodes.v[x - 1].op, LX_CEIL);
    assert_true(domain_lx(d, &arena, &pool, MOD(n, K(64)), &x));
    assert_int_equal(pool.nodes.v[x - 1].op, LX_MOD);
    assert_true(domain_assume_divides(d, K(16), n));
    assert_true(domain_lx(d, &arena, &pool, n, &x));
    assert_int_equal(pool.nodes.v[x - 1].op, LX_SYM);
    assert_false(domain_lx(d, &arena, &pool, i, &x));
    END_DOMAIN;
}

/* ---- Rule G ---- */

static DomBox box1(Poly s, Poly e)
{
    return (DomBox){1, {s}, {e}};
}

static DomBox box2(Poly s0, Poly e0, Poly s1, Poly e1)
{
    return (DomBox){2, {s0, s1}, {e0, e1}};
}

static bool teams_apart(Domain *d, Arena *a, const DomBox *x, const DomBox *y, const Atom *team, int nteam,
                        const char **why)
{
    DomAxis axis[MAP_RANK_MAX];
    for (int i = 0; i < x->rank; i++)
        axis[i] = (DomAxis){.name = "a dimension", .start = {x->start[i], y->start[i]}, .extent = {x->extent[i], y->extent[i]}};
    return domain_apart_teams(d, a, &(DomPair){.axis = axis, .naxes = x->rank, .team = team, .nteam = nteam}, why);
}

#define APART(x, y) assert_true(teams_apart(d, &arena, &(x), &(y), team, 2, &why))
#define TOGETHER(x, y) assert_false(teams_apart(d, &arena, &(x), &(y), team, 2, &why))

static void teams(void **state)
{
    (void)state;
    WITH_DOMAIN;
    const char *why = NULL;
    Poly m = size_of(d, "M", 0), n = size_of(d, "N", 1), h = size_of(d, "H", 2);
    Atom team[3];
    team[0] = domain_index(d, "i", K(0), CEIL(m, K(64)), DEP_TEAM);
    team[1] = domain_index(d, "j", K(0), CEIL(n, K(64)), DEP_TEAM);
    Poly i = A(team[0]), j = A(team[1]);
    Poly k = index_of(d, "k", K(4), DEP_LOOP), l = index_of(d, "l", h, DEP_LOOP);
    DomBox a = box2(MUL(i, K(64)), K(64), MUL(j, K(64)), K(64));
    DomBox t = box2(MUL(j, K(64)), K(64), MUL(i, K(64)), K(64));
    APART(a, a);
    TOGETHER(a, t);
    assert_non_null(strstr(why, "teams with different"));
    DomBox wide = box2(MUL(i, K(64)), K(65), MUL(j, K(64)), K(64));
    TOGETHER(wide, wide);
    assert_non_null(strstr(why, "moves by 64 with i"));
    TOGETHER(a, wide);
    DomBox row = box2(ADD(MUL(i, K(64)), MUL(k, K(16))), K(16), MUL(j, K(64)), K(64));
    APART(row, row);
    APART(row, a);
    DomBox off = box2(ADD(MUL(i, K(64)), MUL(k, K(16))), K(17), MUL(j, K(64)), K(64));
    TOGETHER(off, off);
    /* One dimension for both, the loop index below: symbolic steps. */
    Poly cols = CEIL(n, K(64));
    DomBox lin = box1(ADD(MUL(ADD(MUL(i, cols), j), h), l), K(1));
    APART(lin, lin);
    DomBox bad = box1(ADD(MUL(ADD(MUL(i, cols), j), h), l), K(2));
    TOGETHER(bad, bad);
    DomBox first = box2(MUL(i, K(64)), K(64), MUL(k, K(16)), K(16));
    TOGETHER(first, first);
    /* Digits over several dimensions, constant and symbolic. */
    DomBox digits = box2(DIV(i, K(4)), K(1), ADD(MUL(MOD(i, K(4)), cols), j), K(1));
    APART(digits, digits);
    DomBox symbolic = {3, {DIV(i, h), MOD(i, h), MUL(j, K(8))}, {K(1), K(1), K(8)}};
    APART(symbolic, symbolic);
    DomBox lost = {3, {DIV(i, h), MOD(i, K(2)), MUL(j, K(8))}, {K(1), K(1), K(8)}};
    TOGETHER(lost, lost);
    DomBox three = {
        3, {DIV(i, MUL(h, K(2))), ADD(MUL(K(2), MOD(DIV(i, K(2)), h)), MOD(i, K(2))), j}, {K(1), K(1), K(1)}};
    APART(three, three);
    /* Different parts of the tensor. */
    DomBox upper = box2(ADD(m, MUL(k, K(8))), K(8), K(0), n), lower = box2(MUL(j, K(0)), m, K(0), n);
    APART(upper, lower);
    DomBox even = box1(MUL(i, K(2)), K(1)), odd = box1(ADD(MUL(j, K(2)), K(1)), K(1));
    APART(even, odd);
    DomBox clipped = box1(MUL(i, K(64)), poly_min(d, K(64), SUB(m, MUL(i, K(64)))));
    assert_true(teams_apart(d, &arena, &clipped, &clipped, team, 1, &why));
    /* i and j each above the other: neither dimension separates both. */
    DomBox knot = box2(ADD(i, MUL(j, K(2))), K(2), ADD(j, MUL(i, K(2))), K(2));
    TOGETHER(knot, knot);
    assert_true(teams_apart(d, &arena, &first, &first, team, 0, &why));
    /* Columns in groups of 64 of C, C % 64 == 0 (im2col). */
    Poly ch = size_of(d, "C", 3);
    assert_true(domain_assume_divides(d, K(64), ch));
    Atom rsc[2] = {domain_index(d, "rs", K(0), K(9), DEP_TEAM), domain_index(d, "c", K(0), DIV(ch, K(64)), DEP_TEAM)};
    DomBox im2col = box1(ADD(MUL(A(rsc[0]), ch), MUL(A(rsc[1]), K(64))), K(64));
    assert_true(teams_apart(d, &arena, &im2col, &im2col, rsc, 2, &why));
    LE(ADD(im2col.start[0], K(64)), MUL(K(9), ch));
    assert_true(domain_divides(d, 64, im2col.start[0]));
    /* The team's rows come from a loop with bounds of its own. */
    Poly in = ADD(MUL(i, K(8)), poly_atom(d, domain_index(d, "in", MUL(i, K(8)), K(8), DEP_LOOP)));
    DomBox rows = box2(in, K(1), j, K(1));
    APART(rows, rows);
    END_DOMAIN;
}

static void same_team(void **state)
{
    (void)state;
    WITH_DOMAIN;
    Poly n = size_of(d, "N", 0), k = index_of(d, "k", n, DEP_LOOP), s = index_of(d, "s", K(4), DEP_LOOP);
    DomBox a = box1(MUL(k, K(64)), K(64)), b = box1(ADD(MUL(k, K(64)), K(64)), K(64));
    assert_true(domain_disjoint(d, &a, &b));
    assert_false(domain_disjoint(d, &a, &a));
    DomBox slot = box1(MOD(k, K(4)), K(1)), next = box1(MOD(ADD(k, K(1)), K(4)), K(1));
    assert_true(domain_disjoint(d, &slot, &next));
    DomBox other = box1(MOD(ADD(k, s), K(4)), K(1));
    assert_false(domain_disjoint(d, &slot, &other));
    DomBox low = box2(K(0), K(8), K(0), n), high = box2(K(0), K(8), ADD(n, k), n);
    assert_true(domain_disjoint(d, &low, &high));
    END_DOMAIN;
}

/* An index replaced by a value, inside quotients too; linear forms; what was made when. */
static void loops(void **state)
{
    (void)state;
    WITH_DOMAIN;
    Poly n = A(domain_param(d, "N", 0, 1, INT64_MAX)), first, last, rest;
    int64_t k;
    Atom x = domain_index(d, "i", K(2), n, DEP_LOOP), outer = domain_newest(d);
    Poly i = A(x);
    assert_true(domain_range(d, x, &first, &last));
    SAME(first, K(2));
    SAME(last, SUB(n, K(1)));
    assert_string_equal(domain_text(d, &arena, MUL(ADD(i, K(2)), K(4))), "4 * i");
    SAME(domain_with(d, MOD(i, K(4)), x, K(7)), K(3));
    SAME(domain_with(d, DIV(ADD(MUL(i, n), K(5)), K(4)), x, K(0)), K(1));
    SAME(domain_with(d, poly_min(d, i, n), x, K(1)), K(1));
    SAME(domain_with(d, poly_max(d, MUL(K(2), i), n), x, n), MUL(K(2), n));
    SAME(domain_with(d, MUL(i, i), x, K(3)), K(9));
    SAME(domain_with(d, n, x, K(3)), n);
    assert_true(domain_linear(d, ADD(MUL(K(-3), i), n), x, &k, &rest) && k == -3);
    SAME(rest, n);
    assert_true(domain_linear(d, n, x, &k, &rest) && k == 0);
    assert_false(domain_linear(d, MUL(i, n), x, &k, &rest));
    assert_false(domain_linear(d, MUL(i, i), x, &k, &rest));
    assert_false(domain_linear(d, ADD(i, DIV(i, K(2))), x, &k, &rest));
    Poly v = A(domain_opaque(d, "v", 0, 9, 1, 0, DEP_DATA)), even = A(domain_opaque(d, "w", 0, 9, 2, 0, DEP_DATA));
    Atom all = domain_newest(d);
    assert_true(domain_made(d, v, outer, all));
    assert_true(domain_made(d, DIV(ADD(v, i), K(3)), outer, all));
    assert_true(domain_made(d, even, outer, all));
    assert_false(domain_made(d, i, outer, all));
    assert_false(domain_made(d, DIV(ADD(n, i), K(3)), outer, UINT32_MAX));
    assert_false(domain_made(d, v, all, UINT32_MAX));
    END_DOMAIN;
}

int main(void)
{
    if (setjmp(out_of_memory)) return 70;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic), cmocka_unit_test(limits),    cmocka_unit_test(quotients),
        cmocka_unit_test(bounds),     cmocka_unit_test(facts),     cmocka_unit_test(launch_expressions),
        cmocka_unit_test(teams),      cmocka_unit_test(same_team), cmocka_unit_test(loops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
