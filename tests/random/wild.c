/* Programs of statements as they come, on a few tensors and tiles that all of them share: tiles that are filled twice, by
 * copies and threads, in part, under conditions; several loops and pipelines, constant trip counts, arrays of tiles; tensors
 * that are read and written, at places that may meet. Whether such a program is correct is decided afterwards: conflicts.c. */
#include <string.h>

#include "generate.h"

enum { PLANES = 4, MEMORIES = 3, NODES = 10, PLACES = 8, FAR = 1 << 16, ELEMENTS_MOST = 1 << 16 };

typedef struct Place { /* [plane, row, column] of a tensor */
    const Expr *at[3];
} Place;

typedef struct Wild {
    Gen *g;
    tile_type type;
    int64_t rows, columns; /* of every tile */
    int swizzle, memory[MEMORIES], nmemories;
    int tile[NODES], ntiles; /* in scope, with a value */
    Place place[PLACES];     /* in scope, that something touched */
    int nplaces;
    bool threads; /* threads work somewhere */
    bool dealt;   /* places are made as layouts are */
} Wild;

static bool odds(Wild *w, int percent)
{
    return rng_odds(&w->g->rng, percent);
}

static int64_t some(Wild *w, int64_t low, int64_t high)
{
    return rng_in(&w->g->rng, low, high);
}

static const Expr *number(Wild *w, int64_t n)
{
    return x_num(w->g, n);
}

/* ---- places ---- */
static const Expr *radix(Wild *w, const Axis *a)
{
    return odds(w, 90) ? a->bound : number(w, a->count + (odds(w, 50) ? 0 : some(w, -1, 2)));
}

/* An index as it stands, or moved so that different ones mostly stay different. */
static const Expr *digit(Wild *w, const Axis *a)
{
    Gen *g = w->g;
    const Expr *i = a->index;
    switch (some(w, 0, 29)) {
    case 0: return x_op(g, X_SUB, x_op(g, X_SUB, a->bound, number(w, 1)), i);
    case 1: return x_op(g, X_MOD, x_op(g, X_ADD, i, number(w, some(w, 1, 2))), a->bound);
    case 2: return x_op(g, X_BXOR, i, number(w, 1));
    case 3: return x_op(g, X_ADD, x_op(g, X_MUL, x_op(g, X_DIV, i, number(w, 2)), number(w, 2)), x_op(g, X_MOD, i, number(w, 2)));
    case 4:
    case 5: return x_scaled(g, i, 2, some(w, 0, 1));
    case 6:
    case 7: return x_scaled(g, i, 1, some(w, 1, 2));
    default: return i;
    }
}

static Place new_place(Wild *w, bool same)
{
    Gen *g = w->g;
    Place p = {{NULL}};
    const int64_t size[3] = {1, w->rows, w->columns};
    if (w->dealt && g->naxes) {
        dealt_place(g, size, same, p.at);
        return p;
    }
    for (int k = 0, at = (int)some(w, 0, AXES_MAX); k < g->naxes; k++) {
        const Axis *a = &g->axis[(k + at) % g->naxes];
        int d = (int)some(w, 0, 2);
        if (odds(w, 7) || (same && !a->uniform)) continue;
        const Expr *i = digit(w, a);
        p.at[d] = p.at[d] ? x_op(g, X_ADD, x_op(g, X_MUL, p.at[d], radix(w, a)), i) : i;
    }
    for (int d = 0; d < 3; d++) {
        if (!p.at[d]) p.at[d] = number(w, d ? 0 : some(w, 0, PLANES - 1));
        else if (!d && odds(w, 30)) p.at[d] = x_scaled(g, p.at[d], 2, some(w, 0, 1));
        p.at[d] = p.at[d]->kind == X_NUM ? p.at[d] : x_scaled(g, p.at[d], size[d], 0);
        if (d == 1 && odds(w, 8)) p.at[d] = x_op(g, X_ADD, p.at[d], number(w, some(w, 1, w->rows)));
    }
    return p;
}

static Place some_place(Wild *w, bool same)
{
    if (!same && w->nplaces && odds(w, 45)) return w->place[some(w, 0, w->nplaces - 1)];
    Place p = new_place(w, same);
    if (w->nplaces < PLACES) w->place[w->nplaces++] = p;
    return p;
}

static int new_memory(Wild *w)
{
    Gen *g = w->g;
    int t = new_tensor(g, w->type, 3, true);
    Tensor *x = &g->p->tensor[t];
    for (int d = 0; d < 3; d++) x->extent[d] = new_extent(g, FAR); /* give_extents */
    return t;
}

static Region memory_region(Wild *w, int64_t rows, bool same)
{
    Region r = {.nsubs = 3};
    Place p = some_place(w, same);
    r.ref = w->memory[some(w, 0, w->nmemories - 1)];
    r.sub[0] = (Sub){.kind = SUB_AT, .at = p.at[0]};
    r.sub[1] = (Sub){.kind = SUB_SPAN, .at = p.at[1], .n = rows, .by = odds(w, 4) ? 2 : 1};
    r.sub[2] = (Sub){.kind = SUB_SPAN, .at = p.at[2], .n = w->columns, .by = 1};
    return r;
}

/* ---- tiles ---- */
static const Expr *some_slot(Wild *w, int tile)
{
    Gen *g = w->g;
    int count = g->p->tile[tile].count;
    if (!count) return NULL;
    if (g->naxes && odds(w, 50)) return x_op(g, X_MOD, g->axis[some(w, 0, g->naxes - 1)].index, number(w, count));
    return number(w, some(w, 0, count - 1));
}

static Region slot_region(int tile, const Expr *slot)
{
    Region r = tile_region(tile);
    r.slot = slot;
    return r;
}

static void take_rows(Wild *w, Region *r, int64_t from, int64_t n, int64_t by)
{
    r->nsubs = 2;
    r->sub[0] = (Sub){.kind = SUB_SPAN, .at = number(w, from), .n = n, .by = by};
    r->sub[1] = (Sub){.kind = SUB_ALL};
}

static const char *way(Wild *w)
{
    return !w->swizzle && odds(w, 20) ? " via bulk" : "";
}

static void load_into(Wild *w, Region to, int64_t rows)
{
    Gen *g = w->g;
    bool cast = g->p->cluster && !g->apart && rows == w->rows && odds(w, 30);
    Region from = memory_region(w, rows, cast);
    emit_move(g, from, to, cast ? keep_text(g->p, "%s%s", way(w), g->cast) : odds(w, 2) ? " via threads" : way(w));
}

static void fill_into(Wild *w, Region to)
{
    Stmt *f = emit(w->g, S_FILL);
    f->dst = to;
    f->value = some(w, 0, 8);
    w->threads = true;
}

static void write_whole(Wild *w, int tile, const Expr *slot)
{
    Region to = slot_region(tile, slot), low = to, high = to;
    int64_t half = w->rows / 2;
    take_rows(w, &low, 0, half, 1);
    take_rows(w, &high, half, half, 1);
    switch (some(w, 0, 9)) {
    case 0: fill_into(w, to); return;
    case 1: load_into(w, low, half), load_into(w, high, half); return;
    case 2: fill_into(w, to), load_into(w, odds(w, 50) ? low : high, half); return;
    default: load_into(w, to, w->rows); return;
    }
}

/* Opens a loop, or a pipeline; close_loop gets what this returns. */
static Stmt **open_loop(Wild *w, Stmt *s, int64_t count, bool constant, const Expr *from)
{
    Gen *g = w->g;
    Stmt **tail = g->tail;
    Axis a = {.step = 1, .extent = count, .count = count, .uniform = true};
    a.bound = constant ? number(w, count) : x_ref(g, X_SIZE, new_size(g, count, false));
    s->range[s->ref] = a.bound;
    s->index[s->ref] = new_var(g, "i");
    s->from[s->ref] = from;
    a.index = counted_from(g, x_ref(g, X_VAR, s->index[s->ref]), s->from[s->ref]);
    s->ref++;
    g->axis[g->naxes++] = a;
    g->tail = &s->body;
    return tail;
}

static void write_slots(Wild *w, int tile)
{
    Gen *g = w->g;
    Stmt **tail = open_loop(w, emit(g, S_FOR), g->p->tile[tile].count, true, NULL);
    int places = w->nplaces;
    write_whole(w, tile, g->axis[g->naxes - 1].index);
    w->nplaces = places;
    g->naxes--;
    g->tail = tail;
}

static void write_branches(Wild *w, int tile)
{
    Gen *g = w->g;
    Stmt *c = emit(g, S_IF), **tail = g->tail;
    bool apart = g->apart;
    g->apart = true; /* a multicast stands under no condition that its CTAs decide in different ways */
    c->e = some_condition(g, 1);
    g->tail = &c->body;
    write_whole(w, tile, NULL);
    g->tail = &c->other;
    write_whole(w, tile, NULL);
    g->tail = tail;
    g->apart = apart;
}

static void declare(Wild *w)
{
    Gen *g = w->g;
    Shape s = {.type = w->type, .rank = 2, .swizzle = w->swizzle, .dim = {{-1, w->rows}, {-1, w->columns}}};
    int count = odds(w, 20) ? (int)some(w, 2, 4) : 0;
    if (w->ntiles == NODES || g->bytes + shape_bytes(&s) * (count ? count : 1) > SHARED_BYTES || g->p->ntiles > TILES_MAX - 8) return;
    int t = new_tile(g, &s, count);
    if (count) write_slots(w, t);
    else if (odds(w, 8)) write_branches(w, t);
    else write_whole(w, t, NULL);
    w->tile[w->ntiles++] = t;
}

static int some_tile(Wild *w)
{
    return w->tile[some(w, 0, w->ntiles - 1)];
}

/* ---- statements ---- */
static void store_from(Wild *w, int tile)
{
    static const tile_type sums[] = {TILE_U32, TILE_S32, TILE_U64, TILE_F32};
    Region from = slot_region(tile, some_slot(w, tile));
    bool part = odds(w, 12), sum = false;
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) sum |= w->type == sums[i];
    if (part) take_rows(w, &from, odds(w, 50) ? 0 : w->rows / 2, w->rows / 2, 1);
    Region to = memory_region(w, part ? w->rows / 2 : w->rows, false);
    w->g->p->tensor[to.ref].written = true;
    Stmt *m = emit_move(w->g, from, to, odds(w, 4) ? " overlap any" : way(w));
    if (sum && odds(w, 15)) m->reduce = R_ADD;
}

static void thread_move(Wild *w)
{
    int a = some_tile(w), b = some_tile(w);
    if (a == b) return;
    Region from = slot_region(a, some_slot(w, a)), to = slot_region(b, some_slot(w, b));
    int64_t half = w->rows / 2;
    int kind = (int)some(w, 0, 9);
    if (kind == 0) take_rows(w, &from, some(w, 0, 1), half, 2), take_rows(w, &to, 0, half, 1);
    if (kind == 1) take_rows(w, &from, half, half, 1), take_rows(w, &to, 0, half, 1);
    Stmt *m = emit_move(w->g, from, to, " via threads");
    m->transpose = kind > 1 && w->rows == w->columns && odds(w, 20);
    if (!type_float(w->type) && odds(w, 30)) m->reduce = R_ADD;
    w->threads = true;
}

static void peer_move(Wild *w)
{
    Gen *g = w->g;
    int a = some_tile(w), b = some_tile(w), n = g->p->cluster;
    if (a == b) return;
    Region to = slot_region(b, some_slot(w, b));
    to.peer = odds(w, 50) ? x_op(g, X_BXOR, x_ref(g, X_RANK, 0), number(w, 1))
                          : x_op(g, X_MOD, x_op(g, X_ADD, x_ref(g, X_RANK, 0), number(w, some(w, 1, n - 1))), number(w, n));
    if (odds(w, 35)) emit_move(g, memory_region(w, w->rows, false), to, way(w));
    else emit_move(g, slot_region(a, some_slot(w, a)), to, "");
}

static void rewrite(Wild *w, int tile)
{
    write_whole(w, tile, some_slot(w, tile));
}

static void refill(Wild *w, int tile)
{
    Region to = slot_region(tile, some_slot(w, tile));
    int64_t half = w->rows / 2;
    if (odds(w, 50)) take_rows(w, &to, odds(w, 50) ? 0 : half, half, 1);
    fill_into(w, to);
}

static void statements(Wild *w, int depth);

static void condition(Wild *w, int depth)
{
    Gen *g = w->g;
    Stmt *c = emit(g, S_IF), **tail = g->tail;
    int ntiles = w->ntiles, nplaces = w->nplaces;
    bool peers = g->peers, apart = g->apart;
    g->ranked = g->p->cluster && odds(w, 40);
    c->e = some_condition(g, 1);
    g->peers &= g->ranked;
    g->ranked = false;
    g->apart = true;
    g->tail = &c->body;
    statements(w, depth + 1);
    if (odds(w, 30)) {
        w->ntiles = ntiles, w->nplaces = nplaces;
        g->tail = &c->other;
        statements(w, depth + 1);
    }
    g->tail = tail;
    g->peers = peers;
    g->apart = apart;
    w->ntiles = ntiles, w->nplaces = nplaces;
}

/* The indices of a loop; dealt across the grid to clusters, the first one picks a CTA with the rank. */
static void loop(Wild *w, int depth, bool across)
{
    Gen *g = w->g;
    Stmt *s = emit(g, across || odds(w, 45) ? S_PIPELINE : S_FOR), **tail = g->tail;
    int naxes = g->naxes, ntiles = w->ntiles, nplaces = w->nplaces, n = (int)some(w, 1, across ? 2 : 1);
    int64_t turns = g->turns;
    const Expr *from[2] = {some_start(g, across), some_start(g, across)}; /* no index of the loop stands there */
    for (int i = 0; i < n; i++) {
        int64_t most = g->turns < 5 ? g->turns : 5, count = some(w, 1, most > 1 ? most : 1);
        if (!across && odds(w, 8)) count = some(w, 6, 12);
        g->turns /= count;
        (void)open_loop(w, s, count, odds(w, 35), from[i]);
    }
    if (across && g->p->cluster) {
        Axis *a = &g->axis[naxes];
        Stmt *let = emit(g, S_LET);
        let->ref = new_var(g, "c");
        let->e = x_op(g, X_ADD, x_op(g, X_MUL, number(w, g->p->cluster), a->index), x_ref(g, X_RANK, 0));
        let->fixed = true;
        a->index = x_ref(g, X_VAR, let->ref);
        a->bound = x_op(g, X_MUL, a->bound, number(w, g->p->cluster));
        a->uniform = false;
    }
    statements(w, depth + 1);
    const char *stages = odds(w, 20) ? keep_text(g->p, " stages %d", (int)some(w, 1, 4)) : "";
    const char *dealt = !across ? "" : odds(w, 15) ? " across grid by static" : " across grid";
    if (s->kind == S_PIPELINE) s->text = keep_text(g->p, "%s%s", stages, dealt);
    g->naxes = naxes;
    g->turns = turns;
    g->tail = tail;
    w->ntiles = ntiles, w->nplaces = nplaces;
}

static void statement(Wild *w, int depth)
{
    Gen *g = w->g;
    int kind = (int)some(w, 0, 99);
    if (kind < 14 || !w->ntiles) declare(w);
    else if (kind < 24) rewrite(w, some_tile(w));
    else if (kind < 56) store_from(w, some_tile(w));
    else if (kind < 62) refill(w, some_tile(w));
    else if (kind < 68) thread_move(w);
    else if (kind < 76 && g->peers) peer_move(w);
    else if (kind < 88 && depth < 3 && g->naxes < 4) loop(w, depth, false);
    else if (kind < 96 && depth < 3) condition(w, depth);
    else store_from(w, some_tile(w));
}

static void statements(Wild *w, int depth)
{
    if (depth < 2 || odds(w, 25)) declare(w);
    for (int64_t n = some(w, 1, depth > 1 ? 2 : 4); n > 0; n--) statement(w, depth);
    if (w->ntiles && odds(w, 60)) store_from(w, some_tile(w));
}

static void grid(Wild *w)
{
    Gen *g = w->g;
    int n = (int)some(w, 1, 2);
    for (int d = 0; d < n; d++) {
        int64_t by = d || !g->p->cluster ? 1 : g->p->cluster, count = by * some(w, 1, 4);
        Axis a = {.step = 1, .extent = count, .count = count, .uniform = by == 1, .index = x_ref(g, X_CTA, d)};
        a.bound = odds(w, 35) ? number(w, count) : x_ref(g, X_SIZE, new_size(g, count, false));
        g->turns /= count;
        g->p->grid[d] = a.bound;
        g->axis[g->naxes++] = a;
    }
}

static void set_extent(Wild *w, const Expr **e, int64_t n)
{
    if ((*e)->kind == X_SIZE) w->g->p->size[(*e)->n].value = n;
    else *e = number(w, n);
}

/* Mostly such that nothing lies outside. */
static void give_extents(Wild *w, int memory)
{
    Tensor *x = &w->g->p->tensor[memory];
    int64_t unit = 16 / type_size(w->type), most = ELEMENTS_MOST;
    for (int d = 2; d >= 0; d--) {
        int64_t n = x->reach[d] ? x->reach[d] : 1, by = d == 2 ? unit : 1;
        if (d && odds(w, 10)) n += by * some(w, -1, 2);
        n = n < by ? by : (n + by - 1) / by * by;
        if (n > most) n = most / by * by;
        set_extent(w, &x->extent[d], n);
        most /= n;
    }
    fill_data(w->g, memory);
    x->data = keep(w->g->p, (size_t)tensor_elements(w->g->p, x) * 8);
}

/* Most trip counts are extents of a tensor, which are not negative; others stay scalars. */
static void name_sizes(Wild *w)
{
    Gen *g = w->g;
    for (int i = 0, n = g->p->nsizes; i < n; i++) {
        if (g->p->size[i].scalar || g->p->ntensors == TENSORS_MAX || odds(w, 25)) continue;
        int t = new_tensor(g, TILE_U8, 1, true);
        g->p->tensor[t].extent[0] = x_ref(g, X_SIZE, i);
        fill_data(g, t);
    }
}

void wild_kernel(Gen *g)
{
    static const tile_type types[] = {TILE_U8, TILE_U16, TILE_U32, TILE_S32, TILE_U64, TILE_F32, TILE_BF16};
    Wild w = {.g = g, .type = types[rng_in(&g->rng, 0, 6)]};
    g->turns = 60;
    w.rows = PICK(g, 4, 8, 8, 16);
    w.columns = PICK(g, 32, 64, 64, 128) / type_size(w.type);
    if (rng_odds(&g->rng, 15) && w.rows >= 8) w.swizzle = (int)(w.columns * type_size(w.type));
    if (rng_odds(&g->rng, 20)) g->p->cluster = (int)PICK(g, 2, 2, 4);
    g->peers = g->p->cluster != 0;
    w.dealt = rng_odds(&g->rng, 20);
    g->cast = rng_odds(&g->rng, 50) ? " multicast x" : " multicast all";
    for (w.nmemories = 0; w.nmemories < (int)rng_in(&g->rng, 2, MEMORIES);) w.memory[w.nmemories++] = new_memory(&w);
    if (rng_odds(&g->rng, 50)) {
        if (rng_odds(&g->rng, 12)) declare(&w);
        loop(&w, 0, true);
        if (rng_odds(&g->rng, 15)) loop(&w, 0, true);
    } else {
        if (g->p->cluster || rng_odds(&g->rng, 85)) grid(&w);
        statements(&w, 0);
    }
    bool conflict;
    for (int i = 0; i < g->p->ntensors; i++) {
        Tensor *t = &g->p->tensor[i];
        if (!t->data && t->first) t->data = keep(g->p, (size_t)tensor_elements(g->p, t) * 8);
    }
    (void)program_run_as(g->p, RUN_REACH, &conflict);
    for (int i = 0; i < w.nmemories; i++) give_extents(&w, w.memory[i]);
    name_sizes(&w);
}
