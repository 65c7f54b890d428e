/* Draws programs: nests of loops with units of work in them (units.c, teams.c). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "forms.h"

const Expr *x_num(Gen *g, int64_t n)
{
    return x_ref(g, X_NUM, n);
}

const Expr *x_ref(Gen *g, ExprKind k, int64_t n)
{
    Expr *e = keep(g->p, sizeof *e);
    *e = (Expr){.kind = k, .n = n};
    return e;
}

const Expr *x_op(Gen *g, ExprKind k, const Expr *a, const Expr *b)
{
    Expr *e = keep(g->p, sizeof *e);
    *e = (Expr){.kind = k, .a = a, .b = b};
    return e;
}

const Expr *x_scaled(Gen *g, const Expr *a, int64_t by, int64_t plus)
{
    if (by != 1) a = x_op(g, X_MUL, a, x_num(g, by));
    if (plus > 0) a = x_op(g, X_ADD, a, x_num(g, plus));
    return plus < 0 ? x_op(g, X_SUB, a, x_num(g, -plus)) : a;
}

int64_t pick(Gen *g, const int64_t *list, int n)
{
    return list[rng_in(&g->rng, 0, n - 1)];
}

Stmt *emit(Gen *g, StmtKind k)
{
    Stmt *s = keep(g->p, sizeof *s);
    s->kind = k;
    *g->tail = s;
    g->tail = &s->next;
    return s;
}

Stmt *emit_text(Gen *g, const char *text)
{
    Stmt *s = emit(g, S_TEXT);
    s->text = text;
    return s;
}

int new_var(Gen *g, const char *prefix)
{
    Program *p = g->p;
    snprintf(p->var[p->nvars].name, sizeof p->var->name, "%s%d", prefix, p->nvars);
    return p->nvars++;
}

int new_size(Gen *g, int64_t value, bool scalar)
{
    Program *p = g->p;
    Size *s = &p->size[p->nsizes];
    snprintf(s->name, sizeof s->name, "%s%d", scalar ? "n" : "N", p->nsizes);
    s->value = value;
    s->scalar = scalar;
    return p->nsizes++;
}

const Expr *new_extent(Gen *g, int64_t value)
{
    if (value && (g->p->nsizes == SIZES_MAX || rng_odds(&g->rng, 45))) return x_num(g, value); /* no constant is 0 there */
    return x_ref(g, X_SIZE, new_size(g, value, false));
}

int new_tensor(Gen *g, tile_type t, int rank, bool small)
{
    Program *p = g->p;
    if (p->ntensors == TENSORS_MAX) abort();
    Tensor *x = &p->tensor[p->ntensors];
    *x = (Tensor){.type = t, .rank = rank, .small = small, .base = -1};
    snprintf(x->name, sizeof x->name, "x%d", p->ntensors);
    return p->ntensors++;
}

Axis new_axis(Gen *g, int64_t step, int64_t count, int64_t split)
{
    Axis a = {.step = step, .extent = count ? (count - 1) * step + rng_in(&g->rng, 1, step) : 0, .uniform = split == 1};
    if (rng_odds(&g->rng, 40)) a.extent = count * step;
    a.bound = count && rng_odds(&g->rng, 20) ? x_num(g, a.extent) : x_ref(g, X_SIZE, new_size(g, a.extent, false));
    a.count = (a.extent + split * step - 1) / (split * step) * split;
    return a;
}

const Expr *axis_range(Gen *g, const Axis *a, int64_t split)
{
    return a->step * split == 1 ? a->bound : x_op(g, X_CEIL, a->bound, x_num(g, a->step * split));
}

/* What is known at launch, where the loop is dealt. Data has bounds: of any number nothing is proved. */
const Expr *some_start(Gen *g, bool dealt)
{
    if (g->p->nsizes > SIZES_MAX - 16 || g->p->ntensors > TENSORS_MAX - 16 || !rng_odds(&g->rng, 40)) return NULL;
    int a = g->naxes && !dealt ? (int)rng_in(&g->rng, 0, g->naxes - 1) : -1, kind = (int)rng_in(&g->rng, 0, 9);
    if (a >= 0 && !g->axis[a].uniform) a = -1;
    if (a >= 0 && kind < 2) return kind ? g->axis[a].index : x_op(g, X_SUB, x_num(g, 1), g->axis[a].index);
    if (a >= 0 && kind < 5) return x_op(g, X_MAX, x_op(g, X_MIN, table(g, a, -3, 3), x_num(g, 3)), x_num(g, -3));
    if (kind < 7) return x_ref(g, X_SIZE, new_size(g, rng_in(&g->rng, -3, 4), true));
    return x_num(g, rng_in(&g->rng, -4, 4));
}

const Expr *counted_from(Gen *g, const Expr *index, const Expr *start)
{
    return start ? x_op(g, X_SUB, index, start) : index;
}

/* An axis whose index is still to be set; takes its share of the turns. */
static Axis draw_axis(Gen *g, int64_t split)
{
    int64_t most = g->turns < 5 ? g->turns : 5, count = rng_in(&g->rng, 1, most > 1 ? most : 1), nothing = rng_odds(&g->rng, 10);
    if (rng_odds(&g->rng, 10) && g->turns > 12) count = rng_in(&g->rng, 5, 12);
    if (nothing && !g->busy) count = 0;
    else g->turns /= count;
    return new_axis(g, PICK(g, 1, 1, 2, 3, 4, 8, 16, 16, 32, 64), count, split);
}

enum { INNER = 3 }; /* nests go no deeper by themselves */

static void nest(Gen *g, int depth, bool across);

static const char *loop_text(Gen *g, bool pipeline, bool across, bool threads)
{
    if (!pipeline) return NULL;
    static const char *const by[] = {"", "", " by static", " by ticket", " by launch"}; /* forms_tmem.c: by clc */
    char stages[24] = "";
    if (rng_odds(&g->rng, 50)) snprintf(stages, sizeof stages, " stages %d", (int)rng_in(&g->rng, 1, 6));
    const char *work = threads && rng_odds(&g->rng, 50) ? rng_odds(&g->rng, 50) ? " threads 64" : " threads 128" : "";
    int dealing = (int)rng_in(&g->rng, 0, 4);
    if (g->several && dealing > 2) dealing = (int)rng_in(&g->rng, 0, 2); /* one counter per launch */
    return keep_text(g->p, "%s%s%s%s", stages, work, across ? " across grid" : "", across ? by[dealing] : "");
}

/* Opens a loop over new axes, and what is in it. */
static void loop(Gen *g, int depth, bool across)
{
    Stmt *s = emit(g, across || (!g->plain && rng_odds(&g->rng, 60)) ? S_PIPELINE : S_FOR);
    Stmt **tail = g->tail;
    int naxes = g->naxes, nheld = g->nheld, nlets = g->nlets, left = 4 - naxes;
    int64_t turns = g->turns, bytes = g->bytes;
    bool threads = g->threads;
    g->threads = false;
    s->ref = (int)rng_in(&g->rng, 1, left < (across ? 3 : 2) ? left : across ? 3 : 2);
    for (int i = 0; i < s->ref; i++) s->from[i] = some_start(g, across); /* no index of the loop stands there */
    g->tail = &s->body;
    for (int i = 0; i < s->ref; i++) {
        int64_t split = across && !i && g->p->cluster ? g->p->cluster : 1;
        Axis a = draw_axis(g, split);
        s->range[i] = a.count || rng_odds(&g->rng, 30) ? axis_range(g, &a, split) : x_num(g, -rng_in(&g->rng, 0, 3)); /* no turn */
        s->index[i] = new_var(g, "i");
        a.index = counted_from(g, x_ref(g, X_VAR, s->index[i]), s->from[i]);
        if (split > 1) {
            Stmt *let = emit(g, S_LET);
            let->ref = new_var(g, "c");
            let->e = x_op(g, X_ADD, x_op(g, X_MUL, x_num(g, split), a.index), x_ref(g, X_RANK, 0));
            let->fixed = true;
            a.index = x_ref(g, X_VAR, let->ref);
        }
        g->axis[g->naxes++] = a;
    }
    nest(g, depth + 1, false);
    s->text = loop_text(g, s->kind == S_PIPELINE, across, g->threads);
    g->threads |= threads;
    g->naxes = naxes;
    g->nheld = nheld;
    g->nlets = nlets;
    g->turns = turns;
    g->bytes = across || depth == 0 ? bytes : g->bytes;
    g->tail = tail;
}

void inner_loop(Gen *g)
{
    loop(g, INNER, false);
}

/* A tile of this block for the loops in it. */
static void hold(Gen *g)
{
    Shape s;
    if (g->nheld == 4 || !new_shape(g, &s)) return;
    int t = new_tile(g, &s, 0);
    load(g, t, &s);
    g->held[g->nheld++] = (Held){t, s};
}

static void some_unit(Gen *g)
{
    if (g->peers && rng_odds(&g->rng, 40)) peer_unit(g);
    else if (!g->plain || rng_odds(&g->rng, 50)) unit(g);
    else explicit_unit(g);
}

static void nest(Gen *g, int depth, bool across)
{
    bool inner = g->naxes < 3 && depth < INNER && rng_odds(&g->rng, 35);
    if (!across && rng_odds(&g->rng, 12)) some_scalars(g);
    if (across) {
        g->several = rng_odds(&g->rng, 20);
        loop(g, depth, true);
        if (g->several) loop(g, depth, true);
        return;
    }
    if (!inner || rng_odds(&g->rng, 30)) some_unit(g);
    if (inner) {
        int held = g->nheld;
        if (rng_odds(&g->rng, 40)) hold(g);
        loop(g, depth, false);
        if (rng_odds(&g->rng, 20)) loop(g, depth, false);
        g->nheld = held;
    }
    if (rng_odds(&g->rng, 25)) some_unit(g);
}

/* The axes of a kernel with a grid: cta.x, cta.y, cta.z. */
static void grid_axes(Gen *g)
{
    int64_t split = g->p->cluster ? g->p->cluster : 1;
    int n = (int)rng_in(&g->rng, 1, 3);
    g->busy = true;
    for (int d = 0; d < n; d++) {
        int64_t by = d ? 1 : split;
        Axis a = draw_axis(g, by);
        a.index = x_ref(g, X_CTA, d);
        g->p->grid[d] = axis_range(g, &a, by);
        if (by > 1) g->p->grid[d] = x_op(g, X_MUL, g->p->grid[d], x_num(g, by));
        g->axis[g->naxes++] = a;
    }
    g->busy = false;
}

/* A size that no tensor tells is a scalar parameter. */
static void finish_sizes(Program *p)
{
    for (int i = 0; i < p->nsizes; i++) {
        bool told = false;
        for (int t = 0; t < p->ntensors; t++)
            for (int d = 0; d < p->tensor[t].rank; d++)
                told |= p->tensor[t].base < 0 && p->tensor[t].extent[d]->kind == X_SIZE &&
                        p->tensor[t].extent[d]->n == i;
        p->size[i].scalar = !told;
    }
}

static void finish_data(Gen *g)
{
    for (int i = 0; i < g->p->ntensors; i++) {
        Tensor *t = &g->p->tensor[i];
        if (t->base >= 0 || t->data) continue;
        t->data = keep(g->p, (size_t)tensor_elements(g->p, t) * 8);
    }
}

/* Facts about sizes, which are true. */
static void some_facts(Gen *g)
{
    Program *p = g->p;
    for (int i = 0; i < p->nsizes; i++) {
        if (!rng_odds(&g->rng, 15)) continue;
        const Size *s = &p->size[i];
        int64_t v = s->value, by = rng_in(&g->rng, 0, 2);
        const char *old = p->where ? keep_text(p, "%s, ", p->where) : "";
        switch (rng_in(&g->rng, 0, 3)) {
        case 0: p->where = keep_text(p, "%s%s <= %" PRId64, old, s->name, v + by); break;
        case 1: p->where = keep_text(p, "%s%s > %" PRId64 " - %" PRId64, old, s->name, v, by + 1); break;
        case 2: p->where = keep_text(p, "%s%s == %" PRId64, old, s->name, v); break;
        default: p->where = keep_text(p, "%s%s %% %d == %" PRId64, old, s->name, 4, v & 3); break;
        }
    }
}

Program *generate(uint64_t seed, bool all, bool wild, const char *arch)
{
    Program *p = calloc(1, sizeof *p);
    if (!p) abort();
    Gen g = {.p = p, .rng = {seed * 0x2545f4914f6cdd1du + 1}, .tail = &p->body, .turns = 40, .all = all};
    p->arch = arch;
    int kind = (int)rng_in(&g.rng, 0, 99);
    if (wild) {
        wild_kernel(&g);
    } else if (seed % 2) {
        form_kernel(&g, (int64_t)(seed / 2));
    } else if (kind >= 85) {
        ring_kernel(&g);
    } else {
        if (rng_odds(&g.rng, 25)) p->cluster = (int)PICK(&g, 2, 2, 4);
        g.peers = p->cluster != 0;
        g.plain = kind >= 55 && !p->cluster && rng_odds(&g.rng, 40);
        g.cast = rng_odds(&g.rng, 50) ? " multicast x" : " multicast all";
        if (kind < 55) {
            nest(&g, 0, true);
        } else {
            grid_axes(&g);
            nest(&g, 0, false);
            if (g.threads && rng_odds(&g.rng, 50))
                p->attributes = rng_odds(&g.rng, 50) ? " threads 64" : " threads 128";
        }
    }
    if (!wild && rng_odds(&g.rng, 30)) some_facts(&g);
    finish_sizes(p);
    finish_data(&g);
    if (!wild && rng_odds(&g.rng, 70)) p->dress = rng_bits(&g.rng) | 1;
    return p;
}
