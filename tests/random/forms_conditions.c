/* Conditions of every source, that never, always and sometimes hold, with `else` and without: row k of a tile is filled where
 * condition k says so. */
#include "forms.h"

enum { TURNS = 4, WIDTH = 4 };

typedef struct Scene {
    const Expr *size, *index, *cta, *rank, *let, *var, *data;
} Scene;

/* 0: never, 1: always, 2: sometimes */
static const Expr *condition_of(Gen *g, const Scene *s, int source, int often)
{
    const Expr *values[] = {x_num(g, 1), s->size, s->index, s->cta, s->rank, s->let, s->var, s->data}, *v = values[source];
    if (rng_odds(&g->rng, 30)) v = x_op(g, X_ADD, v, x_num(g, 0));
    if (often == 2) return rng_odds(&g->rng, 50) ? x_op(g, X_LT, v, x_num(g, 1)) : x_op(g, X_NE, x_num(g, 0), v);
    const Expr *holds = rng_odds(&g->rng, 50) ? x_op(g, X_LE, v, x_num(g, 9)) : x_op(g, X_GT, v, x_num(g, -9));
    const Expr *not = rng_odds(&g->rng, 50) ? x_op(g, X_EQ, v, x_num(g, 77)) : x_op(g, X_GE, v, x_num(g, 50));
    if (rng_odds(&g->rng, 20)) return x_op(g, X_NOT, often ? not : holds, NULL);
    if (rng_odds(&g->rng, 20)) return x_op(g, often ? X_OR : X_AND, x_op(g, X_EQ, x_num(g, 1), x_num(g, often ? 2 : 1)), often ? holds : not);
    return often ? holds : not;
}

static void fill_row(Gen *g, int tile, int row, int64_t value)
{
    Stmt *f = emit(g, S_FILL);
    f->dst = tile_region(tile);
    f->dst.nsubs = 2;
    f->dst.sub[0] = (Sub){.kind = SUB_SPAN, .at = x_num(g, row), .n = 1, .by = 1};
    f->dst.sub[1] = (Sub){.kind = SUB_ALL};
    f->value = value;
}

static int named(Gen *g, StmtKind kind, const char *prefix, const Expr *value)
{
    Stmt *s = emit(g, kind);
    s->e = value;
    s->fixed = true;
    return s->ref = new_var(g, prefix);
}

/* which: in a loop, in a pipeline, in one of a cluster */
void form_conditions(Gen *g, int which)
{
    int ctas = which == 2 ? 2 : 1;
    if (which == 2) g->p->cluster = 2;
    g->p->grid[0] = x_num(g, 2);
    g->axis[g->naxes++] = (Axis){.index = x_ref(g, X_CTA, 0), .bound = x_num(g, 2), .step = 1, .extent = 2, .count = 2, .uniform = ctas == 1};
    Stmt *l = emit(g, which ? S_PIPELINE : S_FOR);
    l->ref = 1;
    l->range[0] = x_num(g, TURNS);
    l->index[0] = new_var(g, "i");
    g->tail = &l->body;
    const Expr *i = x_ref(g, X_VAR, l->index[0]);
    g->axis[g->naxes++] = (Axis){.index = i, .bound = x_num(g, TURNS), .step = 1, .extent = TURNS, .count = TURNS, .uniform = true};
    Scene s = {.size = x_ref(g, X_SIZE, new_size(g, rng_in(&g->rng, 0, 1), true)), .index = i, .cta = x_ref(g, X_CTA, 0), .rank = x_ref(g, X_RANK, 0)};
    s.let = x_ref(g, X_VAR, named(g, S_LET, "q", x_op(g, X_SUB, i, x_num(g, 0))));
    s.data = x_op(g, X_MAX, table(g, 1, 0, 2), x_num(g, 0));
    int var = named(g, S_VAR, "w", x_num(g, 3));
    Stmt *set = emit(g, S_ASSIGN);
    set->ref = var;
    set->e = x_op(g, X_MOD, i, x_num(g, 2));
    set->fixed = true;
    s.var = x_ref(g, X_VAR, var);
    Shape shape = {.type = TILE_S32, .rank = 2, .dim = {{-1, 48}, {-1, WIDTH}}};
    int tile = new_tile(g, &shape, 0), row = 0;
    const char *via;
    emit_move(g, region_of(g, &shape, USE_READ, &via), tile_region(tile), "");
    for (int k = 0; k < 48; k++) {
        int source = k / 6, often = k % 3;
        if ((source == 4 && ctas == 1) || (source < 2 && often == 2)) continue;
        Stmt *c = emit(g, S_IF), **tail = g->tail;
        c->e = condition_of(g, &s, source, often);
        g->tail = &c->body;
        fill_row(g, tile, row++, rng_in(&g->rng, -9, 9));
        g->tail = &c->other;
        if (k / 3 % 2) fill_row(g, tile, row - 1, rng_in(&g->rng, -9, 9));
        g->tail = tail;
    }
    const Expr *const starts[] = {i, s.data, x_num(g, -2)};
    for (int k = 0; k < 2; k++) { /* a size that is 0 */
        Stmt *never = emit(g, k ? S_PIPELINE : S_FOR), **tail = g->tail;
        never->ref = 1;
        never->from[0] = starts[(which + k) % 3];
        never->range[0] = x_ref(g, X_SIZE, new_size(g, 0, true));
        never->index[0] = new_var(g, "i");
        g->tail = &never->body;
        fill_row(g, tile, 0, 99);
        g->tail = tail;
    }
    emit_move(g, tile_region(tile), region_of(g, &shape, USE_WRITE, &via), "");
}
