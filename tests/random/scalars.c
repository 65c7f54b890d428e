/* Scalars and conditions of every kind, and what must not happen where they are false. */
#include "generate.h"

/* One that has the same value in all CTAs of a cluster. */
static const Expr *leaf(Gen *g)
{
    int kind = (int)rng_in(&g->rng, 0, 9), a = g->naxes ? (int)rng_in(&g->rng, 0, g->naxes - 1) : -1;
    if (kind < 3 && a >= 0 && g->axis[a].uniform) return g->axis[a].index;
    if (kind < 5 && g->nlets) return x_ref(g, X_VAR, g->let[rng_in(&g->rng, 0, g->nlets - 1)]);
    if (kind == 5 && g->p->grid[0]) return rng_odds(&g->rng, 50) ? x_ref(g, X_GRID, rng_in(&g->rng, 0, 2)) : x_ref(g, X_CTA, rng_in(&g->rng, 1, 2));
    if (kind == 6 && g->p->grid[0] && !g->p->cluster) return x_ref(g, X_CTA, 0);
    if (kind == 7 && g->p->nsizes < SIZES_MAX - 16)
        return x_ref(g, X_SIZE, new_size(g, rng_in(&g->rng, 0, 4), true));
    if (kind == 8 && a >= 0 && g->axis[a].uniform && rng_odds(&g->rng, 40)) return table(g, a, -2, 5);
    return x_num(g, rng_in(&g->rng, rng_odds(&g->rng, 20) ? -3 : 0, 9));
}

const Expr *some_scalar(Gen *g, int depth)
{
    if (!depth || rng_odds(&g->rng, 35)) return leaf(g);
    const Expr *a = some_scalar(g, depth - 1);
    ExprKind op = (ExprKind)rng_in(&g->rng, X_ADD, X_INV);
    switch (op) {
    case X_MUL: return x_op(g, op, a, x_num(g, rng_in(&g->rng, -2, 3)));
    case X_DIV:
    case X_MOD:
    case X_CEIL: {
        const Expr *by = x_num(g, rng_in(&g->rng, 1, 5));
        if (rng_odds(&g->rng, 30)) by = x_op(g, X_MAX, leaf(g), by);
        return x_op(g, op, a, by);
    }
    case X_SHL: return x_op(g, op, a, x_num(g, rng_in(&g->rng, 0, 3)));
    case X_SHR: return x_op(g, op, a, x_num(g, rng_in(&g->rng, 0, 5)));
    case X_NEG:
    case X_INV: return x_op(g, op, a, NULL);
    default: return x_op(g, op, a, some_scalar(g, depth - 1));
    }
}

/* Numbers alone: they become constants and compile-time parameters when printed. */
static const Expr *constant_condition(Gen *g)
{
    int64_t n = rng_in(&g->rng, 0, 4);
    return x_op(g, (ExprKind)rng_in(&g->rng, X_LT, X_NE), x_num(g, n),
                x_num(g, rng_odds(&g->rng, 50) ? n : rng_in(&g->rng, 0, 4)));
}

/* What the ranges of indices and sizes decide. */
static const Expr *ranged_condition(Gen *g)
{
    const Expr *i, *end;
    int a = g->naxes ? (int)rng_in(&g->rng, 0, g->naxes - 1) : -1;
    if (a >= 0 && g->axis[a].uniform) {
        i = g->axis[a].index;
        end = x_num(g, rng_odds(&g->rng, 50) ? 0 : g->axis[a].count);
    } else if (g->p->cluster && g->p->grid[0]) {
        i = x_op(g, X_MOD, x_ref(g, X_CTA, 1), x_num(g, 4));
        end = x_num(g, rng_odds(&g->rng, 50) ? 0 : 4);
    } else {
        i = x_ref(g, X_SIZE, new_size(g, rng_in(&g->rng, 0, 4), true));
        i = x_op(g, X_MOD, i, x_num(g, 3));
        end = x_num(g, rng_odds(&g->rng, 50) ? 0 : 3);
    }
    return x_op(g, rng_odds(&g->rng, 50) ? X_LT : X_GE, i, end);
}

/* What the rank decides, perhaps for all CTAs alike. */
static const Expr *ranked_by(Gen *g)
{
    const Expr *n = x_num(g, rng_in(&g->rng, 0, g->p->cluster)), *rank = x_ref(g, X_RANK, 0);
    if (rng_odds(&g->rng, 30)) rank = x_op(g, X_BXOR, rank, x_num(g, 1));
    return x_op(g, (ExprKind)rng_in(&g->rng, X_LT, X_NE), rank, n);
}

const Expr *some_condition(Gen *g, int depth)
{
    int kind = (int)rng_in(&g->rng, 0, 9);
    if (g->ranked && rng_odds(&g->rng, 60)) return ranked_by(g);
    if (g->nlets && rng_odds(&g->rng, 25))
        return x_op(g, (ExprKind)rng_in(&g->rng, X_LT, X_NE), x_ref(g, X_VAR, g->let[rng_in(&g->rng, 0, g->nlets - 1)]), some_scalar(g, 0));
    if (kind < 2) return constant_condition(g);
    if (kind < 4) return ranged_condition(g);
    if (kind == 4 && depth) return x_op(g, X_NOT, some_condition(g, depth - 1), NULL);
    if (kind < 7 && depth)
        return x_op(g, kind == 5 ? X_AND : X_OR, some_condition(g, depth - 1), some_condition(g, depth - 1));
    return x_op(g, (ExprKind)rng_in(&g->rng, X_LT, X_NE), some_scalar(g, 2), some_scalar(g, 1));
}

/* `let` and `var`, which conditions behind them use. */
void some_scalars(Gen *g)
{
    if (g->nlets == LETS_MAX || g->p->nvars > VARS_MAX - 8) return;
    bool var = rng_odds(&g->rng, 40);
    Stmt *s = emit(g, var ? S_VAR : S_LET);
    s->e = some_scalar(g, 2);
    s->ref = new_var(g, var ? "w" : "q");
    s->fixed = true;
    if (var && rng_odds(&g->rng, 60)) {
        Stmt *c = emit(g, S_IF), **tail = g->tail;
        c->e = some_condition(g, 1);
        g->tail = &c->body;
        Stmt *set = emit(g, S_ASSIGN);
        set->ref = s->ref;
        set->e = some_scalar(g, 2);
        g->tail = tail;
    }
    g->let[g->nlets++] = s->ref;
}

/* Work that leaves the tile other than it is, in a branch that may never be taken. */
static void damage(Gen *g, int tile, const Shape *s, int depth)
{
    Stmt **tail = g->tail, *c = emit(g, S_IF);
    tail = g->tail;
    c->e = some_condition(g, 2);
    g->tail = &c->body;
    if (depth && rng_odds(&g->rng, 20)) damage(g, tile, s, depth - 1);
    else fill_some(g, tile, s);
    if (rng_odds(&g->rng, 50)) {
        g->tail = &c->other;
        if (depth && rng_odds(&g->rng, 50)) damage(g, tile, s, depth - 1);
        else fill_some(g, tile, s);
    }
    g->tail = tail;
}

void maybe_damage(Gen *g, int tile, const Shape *s)
{
    if (rng_odds(&g->rng, 30)) some_scalars(g);
    damage(g, tile, s, 2);
}
