/* Places that are made from indices as layouts are: numbers of mixed radix, their quotients, remainders, rotations, put into the
 * dimensions of a tensor; each step is mostly right, at times off by a little. */
#include "generate.h"

enum { DIGITS = 3 * AXES_MAX };

typedef struct Number { /* below `count`, mostly */
    const Expr *e, *count;
} Number;

typedef struct Digits {
    Number of[DIGITS];
    int n;
} Digits;

static const Expr *some_number(Gen *g)
{
    return rng_odds(&g->rng, 70) ? x_num(g, rng_in(&g->rng, 2, 5)) : g->axis[rng_in(&g->rng, 0, g->naxes - 1)].bound;
}

static const Expr *nearly(Gen *g, const Expr *e, int percent)
{
    if (!rng_odds(&g->rng, percent)) return e;
    switch (rng_in(&g->rng, 0, 4)) {
    case 0: return x_scaled(g, e, 1, 1);
    case 1: return x_scaled(g, e, 1, -1);
    case 2: return x_scaled(g, e, 2, 0);
    case 3: return some_number(g);
    default: return x_num(g, rng_in(&g->rng, 1, 4));
    }
}

static Number joined(Gen *g, Number high, Number low)
{
    return (Number){x_op(g, X_ADD, x_op(g, X_MUL, high.e, nearly(g, low.count, 6)), low.e), x_op(g, X_MUL, high.count, low.count)};
}

static void add(Digits *to, const Expr *e, const Expr *count)
{
    if (to->n < DIGITS) to->of[to->n++] = (Number){e, count};
}

/* What a loop that stands around counts up to is at least 1. */
static const Expr *divisor(Gen *g, const Expr *e)
{
    return e->kind == X_SIZE || (e->kind == X_NUM && e->n > 0) ? e : x_op(g, X_MAX, e, x_num(g, 1));
}

static void split(Gen *g, Number x, Digits *to)
{
    const Expr *by = divisor(g, some_number(g)), *high = x_op(g, X_DIV, x.e, by), *count = x_op(g, X_CEIL, x.count, by);
    add(to, x_op(g, X_MOD, x.e, divisor(g, nearly(g, by, 6))), by);
    if (rng_odds(&g->rng, 20)) split(g, (Number){high, count}, to);
    else add(to, high, count);
}

static void digits_of(Gen *g, Number x, Digits *to)
{
    const Expr *count = divisor(g, nearly(g, x.count, 8));
    switch (rng_in(&g->rng, 0, 11)) {
    case 0:
    case 1:
    case 2:
    case 3: add(to, x.e, x.count); return;
    case 4: add(to, x_op(g, X_MOD, x_op(g, X_ADD, x.e, some_number(g)), count), x.count); return;
    case 5: add(to, x_op(g, X_SUB, x_scaled(g, count, 1, -1), x.e), x.count); return;
    case 6: add(to, x_op(g, X_MOD, x_scaled(g, x.e, rng_in(&g->rng, 2, 4), 0), count), x.count); return;
    case 7: add(to, x_op(g, rng_odds(&g->rng, 50) ? X_MIN : X_MAX, x.e, some_number(g)), x.count); return;
    default: split(g, x, to); return;
    }
}

/* The indices in some order, in groups: a number each. */
static Digits all_digits(Gen *g, bool same)
{
    Digits d = {.n = 0};
    Number x = {NULL, NULL};
    for (int k = 0, at = (int)rng_in(&g->rng, 0, AXES_MAX); k < g->naxes; k++) {
        const Axis *a = &g->axis[(k + at) % g->naxes];
        if (rng_odds(&g->rng, 6) || (same && !a->uniform)) continue;
        Number i = {a->index, a->bound};
        if (x.e && rng_odds(&g->rng, 55)) {
            x = joined(g, x, i);
            continue;
        }
        if (x.e) digits_of(g, x, &d);
        x = i;
    }
    if (x.e) digits_of(g, x, &d);
    return d;
}

void dealt_place(Gen *g, const int64_t size[3], bool same, const Expr *at[3])
{
    Digits d = all_digits(g, same);
    Number in[3] = {{NULL, NULL}};
    for (int i = 0; i < d.n; i++) {
        Number *x = &in[rng_in(&g->rng, 0, 2)];
        *x = x->e ? joined(g, *x, d.of[i]) : d.of[i];
    }
    for (int k = 0; k < 3; k++) {
        int64_t by = size[k] + (k < 2 && rng_odds(&g->rng, 10) ? rng_in(&g->rng, -1, 1) : 0);
        at[k] = in[k].e ? x_scaled(g, in[k].e, by, 0) : x_num(g, k ? 0 : rng_in(&g->rng, 0, 3));
        if (k < 2 && rng_odds(&g->rng, 8)) at[k] = x_scaled(g, at[k], 1, rng_in(&g->rng, -2, 3));
    }
}
