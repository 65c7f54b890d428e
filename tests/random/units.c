/* Units of work: tiles that are loaded, changed by threads and stored. */
#include <string.h>

#include "generate.h"

Stmt *emit_move(Gen *g, Region src, Region dst, const char *clauses)
{
    Stmt *s = emit(g, S_MOVE);
    s->src = src;
    s->dst = dst;
    s->text = clauses;
    return s;
}

/* Rows of dimension 0 at which a part of a tile may start, so that tensor copies can reach it; 0: none. */
static int64_t part_unit(const Shape *s)
{
    int64_t row = shape_bytes(s) / s->dim[0].n, width = s->dim[s->rank - 1].n * type_size(s->type);
    if (s->rank < 2 || s->dim[0].n < 2) return 0;
    int64_t block = s->swizzle ? 8 * s->swizzle : 128;
    if (s->swizzle && width != s->swizzle) return 0;
    for (int64_t n = 1; n < s->dim[0].n; n++)
        if (n * row % block == 0) return n;
    return 0;
}

static Region part(Gen *g, int tile, const Shape *s, int64_t from, int64_t n)
{
    Region r = tile_region(tile);
    r.nsubs = s->rank;
    for (int d = 1; d < s->rank; d++) r.sub[d] = (Sub){.kind = SUB_ALL};
    r.sub[0] = (Sub){.kind = SUB_SPAN, .at = x_num(g, from), .n = n, .by = 1};
    return r;
}

static void load_parts(Gen *g, int tile, const Shape *s, int64_t cut)
{
    for (int i = 0; i < 2; i++) {
        const char *via;
        Shape h = *s;
        h.dim[0] = (Dim){-1, i ? s->dim[0].n - cut : cut};
        Region src = region_of(g, &h, USE_READ, &via);
        emit_move(g, src, part(g, tile, s, i ? cut : 0, h.dim[0].n), via);
    }
}

static int64_t fill_value(Gen *g, const Shape *s)
{
    return rng_in(&g->rng, type_signed(s->type) ? -8 : 0, 8);
}

static void load_whole(Gen *g, int tile, const Shape *s)
{
    const char *via;
    bool same = g->p->cluster && !g->apart && rng_odds(&g->rng, 45);
    Region src = region_of(g, s, same ? USE_SAME : USE_READ, &via);
    if (same) via = keep_text(g->p, "%s%s", via, g->cast);
    if (rng_odds(&g->rng, 10)) {
        Stmt *pre = emit(g, S_PREFETCH);
        pre->src = src;
        bool marked = src.nsubs == 0;
        for (int d = 0; d < src.nsubs; d++) marked |= src.sub[d].kind != SUB_AT;
        for (int d = 0; d < src.nsubs; d++) marked &= src.sub[d].kind == SUB_AT || src.sub[d].kind == SUB_SPAN;
        pre->dead = !marked;
    }
    emit_move(g, src, tile_region(tile), via);
}

static const Expr *condition(Gen *g)
{
    if (rng_odds(&g->rng, 50)) return some_condition(g, 2);
    int a = g->naxes ? (int)rng_in(&g->rng, 0, g->naxes - 1) : -1;
    if (a >= 0 && g->p->cluster && !g->axis[a].uniform) a = -1;
    int64_t count = a < 0 ? 4 : g->axis[a].count;
    const Expr *i = a < 0 ? x_ref(g, X_SIZE, new_size(g, rng_in(&g->rng, 0, 4), true)) : g->axis[a].index;
    if (a >= 0 && rng_odds(&g->rng, 30)) i = table(g, a, 0, count - 1);
    switch (rng_in(&g->rng, 0, 3)) {
    case 0: return x_op(g, X_EQ, x_op(g, X_MOD, i, x_num(g, 2)), x_num(g, rng_in(&g->rng, 0, 1)));
    case 1: return x_op(g, X_LT, i, x_num(g, rng_in(&g->rng, 0, count)));
    case 2: return x_op(g, X_LT, x_num(g, rng_in(&g->rng, 0, count - 1)), i);
    default: return x_op(g, X_NE, i, x_num(g, rng_in(&g->rng, 0, count - 1)));
    }
}

typedef void (*Body)(Gen *g, int tile, const Shape *s);

static void guarded(Gen *g, Stmt **to, Body body, int tile, const Shape *s)
{
    Stmt **tail = g->tail;
    bool peers = g->peers;
    int nlets = g->nlets;
    g->tail = to;
    g->peers = false;
    body(g, tile, s);
    g->peers = peers;
    g->nlets = nlets;
    g->tail = tail;
}

void load(Gen *g, int tile, const Shape *s)
{
    int64_t cut = part_unit(s);
    if (rng_odds(&g->rng, 8)) {
        Stmt *c = emit(g, S_IF);
        c->e = condition(g);
        bool apart = g->apart;
        g->apart = true; /* a tile is filled by multicasts or by plain loads */
        guarded(g, &c->body, load_whole, tile, s);
        guarded(g, &c->other, load_whole, tile, s);
        g->apart = apart;
    } else if (cut && rng_odds(&g->rng, 20)) {
        load_parts(g, tile, s, cut);
    } else if (!g->plain && !g->sent && rng_odds(&g->rng, 6)) {
        Stmt *f = emit(g, S_FILL);
        f->dst = tile_region(tile);
        f->value = fill_value(g, s);
        g->threads = true;
    } else {
        load_whole(g, tile, s);
    }
}

/* Reductions whose result does not depend on their order. */
static Reduce some_reduce(Gen *g, tile_type t)
{
    Reduce op = (Reduce)rng_in(&g->rng, R_ADD, R_XOR);
    switch ((int)t) {
    case TILE_U32:
    case TILE_U64: return op;
    case TILE_S32: return op;
    case TILE_S64: return op == R_ADD ? R_MAX : op;
    case TILE_F16: return op == R_ADD || op == R_MIN || op == R_MAX ? op : R_ADD;
    case TILE_F32:
    case TILE_F64: return R_ADD;
    default: return R_NONE;
    }
}

static void store_whole(Gen *g, int tile, const Shape *s)
{
    const char *via;
    Reduce op = rng_odds(&g->rng, 20) ? some_reduce(g, s->type) : R_NONE;
    Region dst = region_of(g, s, op ? USE_REDUCE : USE_WRITE, &via);
    if (s->type == TILE_S64 && op >= R_AND && !strncmp(via, " via m", 6)) via = ""; /* no such tensor reduction */
    if (rng_odds(&g->rng, 4)) via = keep_text(g->p, "%s overlap any", via);
    emit_move(g, tile_region(tile), dst, via)->reduce = op;
}

static void store_part(Gen *g, int tile, const Shape *s)
{
    const char *via;
    int64_t cut = part_unit(s);
    Shape h = *s;
    h.dim[0] = (Dim){-1, s->dim[0].n - cut};
    if (!fits(g, &h)) {
        store_whole(g, tile, s);
        return;
    }
    Region dst = region_of(g, &h, USE_WRITE, &via);
    emit_move(g, part(g, tile, s, cut, h.dim[0].n), dst, via);
}

void store(Gen *g, int tile, const Shape *s)
{
    Body body = part_unit(s) && rng_odds(&g->rng, 10) ? store_part : store_whole;
    if (rng_odds(&g->rng, g->p->cluster ? 30 : 12)) {
        Stmt *c = emit(g, S_IF);
        g->ranked = g->p->cluster != 0;
        c->e = g->ranked ? some_condition(g, 2) : condition(g);
        g->ranked = false;
        guarded(g, &c->body, body, tile, s);
        if (rng_odds(&g->rng, 30)) guarded(g, &c->other, store_whole, tile, s);
    } else {
        body(g, tile, s);
    }
}

/* ---- what threads do ---- */
static bool convert_shape(Gen *g, Shape *s)
{
    static const tile_type floats[] = {TILE_F16, TILE_BF16, TILE_F32, TILE_F64, TILE_E4M3, TILE_E5M2};
    static const tile_type ints[] = {TILE_U8, TILE_S8, TILE_U16, TILE_S16, TILE_U32, TILE_S32, TILE_U64, TILE_S64};
    tile_type to = rng_odds(&g->rng, 50) ? floats[rng_in(&g->rng, 0, 5)] : ints[rng_in(&g->rng, 0, 7)];
    bool from_float = type_float(s->type);
    if (to == s->type || !s->converts) return false;
    if (type_float(to) && !s->small) return false;
    if (from_float && !type_float(to) && !type_signed(to)) return false;
    if (s->dim[s->rank - 1].n * type_size(to) % 16) return false;
    if (!type_float(to) && !type_signed(to) && type_signed(s->type)) s->small = false;
    s->type = to;
    return true;
}

static bool transpose_shape(Shape *s)
{
    if (s->rank < 2 || s->dim[s->rank - 2].n * type_size(s->type) % 16) return false;
    Dim last = s->dim[s->rank - 1];
    s->dim[s->rank - 1] = s->dim[s->rank - 2];
    s->dim[s->rank - 2] = last;
    return true;
}

static int change(Gen *g, int tile, Shape *s)
{
    Shape to = *s;
    bool convert = rng_odds(&g->rng, 40) && convert_shape(g, &to),
         transpose = rng_odds(&g->rng, 40) && transpose_shape(&to);
    give_swizzle(g, &to);
    if (g->bytes + shape_bytes(&to) > SHARED_BYTES || shape_bytes(&to) > 2 * TILE_BYTES || !fits(g, &to)) return tile;
    int t = new_tile(g, &to, 0);
    bool add = !type_float(to.type) && rng_odds(&g->rng, 20);
    if (add) {
        load(g, t, &to);
        to.small = to.converts = false;
    }
    Stmt *m = emit_move(g, tile_region(tile), tile_region(t), " via threads");
    m->convert = convert;
    m->transpose = transpose;
    m->reduce = add ? R_ADD : R_NONE;
    g->threads = true;
    *s = to;
    return t;
}

void fill_some(Gen *g, int tile, const Shape *s)
{
    Stmt *f = emit(g, S_FILL);
    int64_t n = rng_in(&g->rng, 1, s->dim[0].n);
    f->dst = s->rank > 1 ? part(g, tile, s, rng_in(&g->rng, 0, s->dim[0].n - n), n) : tile_region(tile);
    f->value = fill_value(g, s);
    g->threads = true;
}

static void plain_unit(Gen *g)
{
    Shape s;
    if (!new_shape(g, &s)) return;
    int t = new_tile(g, &s, 0);
    Shape first = s;
    int tile = t;
    load(g, t, &s);
    while (!g->plain && rng_odds(&g->rng, 25)) tile = change(g, tile, &s);
    if (!g->plain && rng_odds(&g->rng, 6)) fill_some(g, tile, &s);
    if (!g->plain && rng_odds(&g->rng, 12)) maybe_damage(g, tile, &s);
    store(g, tile, &s);
    if (rng_odds(&g->rng, 15) && fits(g, &first)) store(g, t, &first);
    if (rng_odds(&g->rng, g->plain ? 15 : 0)) { /* the tile has a second life in the same turn: a pipeline's has not */
        load(g, t, &first);
        store(g, t, &first);
    }
}

/* A loop of 1 to `turns` turns, open: what is emitted next stands in its body, until close_loop is given the end of
   the statements around it, which this returns. */
static Stmt **open_loop(Gen *g, StmtKind kind, int turns)
{
    Stmt *l = emit(g, kind), **tail = g->tail;
    Axis a = new_axis(g, 1, rng_in(&g->rng, 1, turns), 1);
    l->ref = 1;
    l->range[0] = a.bound;
    l->from[0] = some_start(g, false);
    l->index[0] = new_var(g, "i");
    a.index = counted_from(g, x_ref(g, X_VAR, l->index[0]), l->from[0]);
    g->tail = &l->body;
    g->axis[g->naxes++] = a;
    return tail;
}

static void close_loop(Gen *g, Stmt **tail)
{
    g->naxes--;
    g->tail = tail;
}

/* A sum over the turns of a loop. */
static void sum_unit(Gen *g)
{
    Shape s;
    if (g->plain || !new_shape(g, &s) || type_float(s.type) || g->turns < 2 || g->naxes > 3) {
        plain_unit(g);
        return;
    }
    int sum = new_tile(g, &s, 0);
    load(g, sum, &s);
    Stmt **tail = open_loop(g, rng_odds(&g->rng, 60) ? S_PIPELINE : S_FOR, 5);
    int t = new_tile(g, &s, 0);
    load(g, t, &s);
    emit_move(g, tile_region(t), tile_region(sum), " via threads")->reduce = R_ADD;
    g->threads = true;
    close_loop(g, tail);
    store(g, sum, &s);
}

/* A variable that counts the turns of a loop, and picks what is loaded. */
static void variable_unit(Gen *g)
{
    if (g->naxes > 2) {
        plain_unit(g);
        return;
    }
    Stmt *v = emit(g, S_VAR);
    v->ref = new_var(g, "z");
    v->e = x_num(g, rng_in(&g->rng, -1, 2));
    Stmt **tail = open_loop(g, !g->plain && rng_odds(&g->rng, 50) ? S_PIPELINE : S_FOR, 4);
    Shape s;
    if (new_shape(g, &s)) {
        int t = new_tile(g, &s, 0);
        Axis by = g->axis[g->naxes - 1];
        g->axis[g->naxes - 1].index = x_ref(g, X_VAR, v->ref); /* loads may lie outside; that gives zeros */
        g->axis[g->naxes - 1].count += 4;
        load_whole(g, t, &s);
        g->axis[g->naxes - 1] = by;
        store(g, t, &s);
    }
    Stmt *next = emit(g, S_ASSIGN);
    next->ref = v->ref;
    next->e = x_op(g, X_ADD, x_ref(g, X_VAR, v->ref), x_num(g, rng_in(&g->rng, 1, 2)));
    close_loop(g, tail);
}

static Region slot_of(int tile, const Expr *slot)
{
    Region r = tile_region(tile);
    r.slot = slot;
    return r;
}

static void load_slot(Gen *g, const Shape *s, int tile, const Expr *slot)
{
    const char *via;
    Region src = region_of(g, s, USE_READ, &via);
    emit_move(g, src, slot_of(tile, slot), via);
}

static void store_slot(Gen *g, const Shape *s, int tile, const Expr *slot)
{
    const char *via;
    Region dst = region_of(g, s, USE_WRITE, &via);
    emit_move(g, slot_of(tile, slot), dst, via);
}

/* A shape for so many tiles that are used in a loop more than there are. */
static bool shape_within(Gen *g, Shape *s, int count)
{
    if (g->naxes > 2 || g->turns < 5 || g->p->ntiles > TILES_MAX - 8 || !new_shape(g, s)) return false;
    g->naxes++;
    bool fit = fits(g, s);
    g->naxes--;
    return fit && g->bytes + shape_bytes(s) * count <= SHARED_BYTES;
}

/* An array of tiles: loops of constant turns go through it, forwards or backwards; or one is picked by an index. */
static void array_unit(Gen *g)
{
    Shape s;
    int count = (int)rng_in(&g->rng, 2, 4);
    if (!shape_within(g, &s, count)) {
        plain_unit(g);
        return;
    }
    int t = new_tile(g, &s, count);
    const Expr *last = x_num(g, count - 1), *all = x_num(g, count);
    for (int uses = 0; uses < 2; uses++) {
        bool picked = uses && g->naxes && rng_odds(&g->rng, 40);
        if (picked) {
            const Expr *at = g->axis[rng_in(&g->rng, 0, g->naxes - 1)].index;
            at = x_op(g, X_ADD, at, x_num(g, rng_in(&g->rng, 0, 2)));
            store_slot(g, &s, t, x_op(g, X_MOD, at, all));
            continue;
        }
        Stmt *l = emit(g, S_FOR), **tail = g->tail;
        l->ref = 1;
        l->range[0] = all;
        l->index[0] = new_var(g, "s");
        const Expr *i = x_ref(g, X_VAR, l->index[0]);
        g->axis[g->naxes++] = (Axis){i, all, 1, count, count, true};
        g->tail = &l->body;
        if (rng_odds(&g->rng, 30)) i = x_op(g, X_SUB, last, i);
        if (uses) store_slot(g, &s, t, i);
        else load_slot(g, &s, t, i);
        close_loop(g, tail);
    }
}

/* A loop each turn of which loads what the next one stores: slots of an array, or two tiles, by turns. */
static void carried_unit(Gen *g)
{
    Shape s;
    int count = (int)rng_in(&g->rng, 1, 3), t[2]; /* 1: two tiles */
    if (!shape_within(g, &s, count > 1 ? count : 2)) {
        plain_unit(g);
        return;
    }
    t[0] = new_tile(g, &s, count > 1 ? count : 0);
    t[1] = count > 1 ? t[0] : new_tile(g, &s, 0);
    load_slot(g, &s, t[0], count > 1 ? x_num(g, 0) : NULL);
    Stmt **tail = open_loop(g, !g->plain && rng_odds(&g->rng, 30) ? S_PIPELINE : S_FOR, 5);
    Axis *a = &g->axis[g->naxes - 1];
    const Expr *next = x_op(g, X_ADD, a->index, x_num(g, 1));
    for (int way = 0; way < (count > 1 ? 1 : 2); way++) {
        Stmt *c = NULL, **end = g->tail;
        if (count == 1) {
            c = emit(g, S_IF);
            end = g->tail;
            c->e = x_op(g, X_EQ, x_op(g, X_MOD, a->index, x_num(g, 2)), x_num(g, way));
            g->tail = &c->body;
        }
        Stmt *more = rng_odds(&g->rng, 60) ? emit(g, S_IF) : NULL, **behind = g->tail;
        if (more) {
            more->e = x_op(g, X_LT, next, a->bound);
            g->tail = &more->body;
        }
        load_slot(g, &s, t[!way], count > 1 ? x_op(g, X_MOD, next, x_num(g, count)) : NULL);
        if (more) g->tail = behind;
        store_slot(g, &s, t[way], count > 1 ? x_op(g, X_MOD, a->index, x_num(g, count)) : NULL);
        g->tail = end;
    }
    close_loop(g, tail);
}

static void unit_body(Gen *g, int tile, const Shape *s)
{
    (void)tile;
    (void)s;
    if (rng_odds(&g->rng, 25)) some_scalars(g);
    if (g->naxes < 3 && rng_odds(&g->rng, 40)) inner_loop(g);
    else if (rng_odds(&g->rng, 20)) unit(g);
    else plain_unit(g);
}

void unit(Gen *g)
{
    if (g->nheld && rng_odds(&g->rng, 60)) {
        Held *h = &g->held[rng_in(&g->rng, 0, g->nheld - 1)];
        if (fits(g, &h->shape)) {
            store(g, h->tile, &h->shape);
            if (rng_odds(&g->rng, 50)) return;
        }
    }
    int kind = (int)rng_in(&g->rng, 0, 99);
    if (kind < 8) {
        Stmt *c = emit(g, S_IF);
        c->e = condition(g);
        guarded(g, &c->body, unit_body, 0, NULL);
        if (rng_odds(&g->rng, 40)) guarded(g, &c->other, unit_body, 0, NULL);
    } else if (kind < 13) {
        sum_unit(g);
    } else if (kind < 18) {
        variable_unit(g);
    } else if (kind < 23) {
        array_unit(g);
    } else if (kind < 26) {
        carried_unit(g);
    } else {
        plain_unit(g);
        if (rng_odds(&g->rng, 25)) plain_unit(g);
    }
}
