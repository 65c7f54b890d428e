/* Copies between CTAs, and protocols made by hand: their text has barriers, their meaning is a plain loop. */
#include "generate.h"

static const Expr *next_rank(Gen *g)
{
    int c = g->p->cluster;
    return x_op(g, X_MOD, x_op(g, X_ADD, x_ref(g, X_RANK, 0), x_num(g, rng_in(&g->rng, 1, c - 1))), x_num(g, c));
}

/* A few elements written in another CTA. */
static void peer_fill(Gen *g)
{
    Shape s = {.type = (tile_type)PICK(g, TILE_U32, TILE_S32, TILE_U64, TILE_F32), .rank = 1, .small = true};
    s.dim[0] = (Dim){-1, 16 / type_size(s.type)};
    if (!fits(g, &s)) return;
    int t = new_tile(g, &s, 0);
    Stmt *f = emit(g, S_FILL);
    f->dst = tile_region(t);
    f->dst.peer = next_rank(g);
    f->value = rng_in(&g->rng, 0, 8);
    store(g, t, &s);
}

void peer_unit(Gen *g)
{
    Shape s;
    if (g->all && rng_odds(&g->rng, 4)) {
        peer_fill(g);
        return;
    }
    if (!new_shape(g, &s) || g->bytes + 2 * shape_bytes(&s) > SHARED_BYTES) return;
    int mine = new_tile(g, &s, 0), theirs = new_tile(g, &s, 0);
    g->sent = !g->all;
    load(g, mine, &s);
    g->sent = false;
    bool sum = g->all && (s.type == TILE_U32 || s.type == TILE_S32) && rng_odds(&g->rng, 10);
    if (sum) load(g, theirs, &s);
    Region to = tile_region(theirs);
    to.peer = next_rank(g);
    emit_move(g, tile_region(mine), to, "")->reduce = sum ? R_ADD : R_NONE;
    if (sum) s.small = false;
    store(g, theirs, &s);
    if (rng_odds(&g->rng, 25)) store(g, mine, &s);
}

/* ---- barriers by hand ---- */
static const Expr *replace(Gen *g, const Expr *e, int var, const Expr *by)
{
    if (!e) return NULL;
    if (e->kind == X_VAR && e->n == var) return by;
    Expr *c = keep(g->p, sizeof *c);
    *c = *e;
    c->a = replace(g, e->a, var, by);
    c->b = replace(g, e->b, var, by);
    return c;
}

static Region moved(Gen *g, Region r, int var, const Expr *by)
{
    r.slot = replace(g, r.slot, var, by);
    for (int d = 0; d < r.nsubs; d++) {
        r.sub[d].at = replace(g, r.sub[d].at, var, by);
        if (r.sub[d].kind == SUB_LIST)
            for (int64_t i = 0; i < r.sub[d].n; i++) r.sub[d].list[i] = replace(g, r.sub[d].list[i], var, by);
    }
    return r;
}

static void single_barrier(Gen *g, const Shape *s)
{
    const char *in, *out;
    int n = (int)rng_in(&g->rng, 1, 2), tile[2];
    Region src[2], dst[2];
    const char *via[2][2];
    for (int i = 0; i < n; i++) {
        tile[i] = new_tile(g, s, 0);
        src[i] = region_of(g, s, USE_READ, &in);
        dst[i] = region_of(g, s, USE_WRITE, &out);
        via[i][0] = in, via[i][1] = out;
    }
    Stmt *twin = emit(g, S_TWIN), **tail = g->tail;
    int b = g->maps++;
    g->tail = &twin->body;
    emit_text(g, keep_text(g->p, "barrier b%d;", b));
    for (int i = 0; i < n; i++)
        emit_move(g, src[i], tile_region(tile[i]), keep_text(g->p, "%s commit b%d", via[i][0], b));
    emit_text(g, keep_text(g->p, "wait b%d;", b));
    bool group = n > 1 && rng_odds(&g->rng, 50);
    if (group) emit_text(g, "group {");
    for (int i = 0; i < n; i++)
        emit_move(g, tile_region(tile[i]), dst[i], group ? via[i][1] : keep_text(g->p, "%s commit group", via[i][1]));
    if (group) emit_text(g, "}");
    emit_text(g, rng_odds(&g->rng, 50) ? "wait group;" : "wait group read;");
    g->tail = &twin->other;
    for (int i = 0; i < n; i++) {
        emit_move(g, src[i], tile_region(tile[i]), "");
        emit_move(g, tile_region(tile[i]), dst[i], "");
    }
    g->tail = tail;
}

void explicit_unit(Gen *g)
{
    int grid = 0;
    Shape s;
    while (grid < 3 && g->p->grid[grid]) grid++;
    if (g->naxes != grid || !new_shape(g, &s) || g->bytes + 2 * shape_bytes(&s) > SHARED_BYTES) unit(g);
    else single_barrier(g, &s);
}

typedef struct Ring {
    Gen *g;
    int slots, tile, changed; /* changed: tiles that threads write, or -1 */
    int k;                    /* index in which the regions are given */
    const Expr *n, *from;     /* turns, and the first index of the loops: NULL: 0 */
    const char *count; /* name of n */
    Region src, dst[2], other;
    const char *in, *out[2];
    ExprKind holds; /* of a turn, or it does nothing: its index and `by`; X_NUM: all do */
    int64_t by;
} Ring;

static Region slot_of(Gen *g, int tile, const Expr *k)
{
    Region r = tile_region(tile);
    r.slot = x_op(g, X_MOD, k, x_num(g, g->p->tile[tile].count));
    return r;
}

static Stmt **open_loop(Ring *r, const Expr *n, int *var)
{
    Gen *g = r->g;
    Stmt *l = emit(g, S_FOR), **tail = g->tail;
    *var = new_var(g, "k");
    l->ref = 1;
    l->range[0] = n;
    l->from[0] = r->from;
    l->index[0] = *var;
    g->tail = &l->body;
    return tail;
}

/* What roles do in a turn, under the same condition each. */
static void open_turn(Ring *r, const Expr *k)
{
    Gen *g = r->g;
    if (r->holds == X_NUM) return;
    Stmt *c = emit(g, S_IF);
    const Expr *left = r->holds == X_EQ ? x_op(g, X_MOD, k, x_num(g, 2)) : k;
    c->e = x_op(g, r->holds, left, x_num(g, r->by));
    bool other = rng_odds(&g->rng, 25);
    if (other) c->e = x_op(g, X_NOT, c->e, NULL);
    g->tail = other ? &c->other : &c->body;
}

static void say(Ring *r, const char *what, const char *barrier, int var, int slots)
{
    Gen *g = r->g;
    emit_text(g, keep_text(g->p, "%s %s[%s %% %d];", what, barrier, g->p->var[var].name, slots));
}

static Stmt **open_role(Gen *g, const char *name, int threads)
{
    Stmt *role = emit(g, S_ROLE), **tail = g->tail;
    role->text = name;
    role->ref = threads;
    g->tail = &role->body;
    return tail;
}

static void load_role(Ring *r)
{
    Gen *g = r->g;
    int k;
    Stmt **outer = open_role(g, "load", 0), **tail = open_loop(r, r->n, &k);
    const Expr *i = x_ref(g, X_VAR, k);
    open_turn(r, i);
    say(r, "wait", "empty", k, r->slots);
    emit_move(g, moved(g, r->src, r->k, counted_from(g, i, r->from)), slot_of(g, r->tile, i),
              keep_text(g->p, "%s commit full[%s %% %d]", r->in, g->p->var[k].name, r->slots));
    g->tail = tail;
    g->tail = outer;
}

static void store_role(Ring *r, int which, bool threads)
{
    Gen *g = r->g;
    int k;
    Stmt **outer = open_role(g, which ? "store2" : "store1", threads ? (int)PICK(g, 32, 64, 128) : 0);
    (void)open_loop(r, r->n, &k);
    const Expr *i = x_ref(g, X_VAR, k);
    open_turn(r, i);
    Region from = slot_of(g, r->tile, i);
    say(r, "wait", "full", k, r->slots);
    bool early = threads && rng_odds(&g->rng, 50);
    if (threads) {
        emit_move(g, from, tile_region(r->changed), " via threads");
        from = tile_region(r->changed);
    }
    if (early) say(r, "arrive", "empty", k, r->slots);
    emit_move(g, from, moved(g, r->dst[which], r->k, counted_from(g, i, r->from)), keep_text(g->p, "%s commit group", r->out[which]));
    emit_text(g, rng_odds(&g->rng, 70) ? "wait group read;" : "wait group 0;");
    if (!early) say(r, "arrive", "empty", k, r->slots);
    g->tail = outer;
}

/* load -> threads -> store, with a ring between each two */
static void chain_roles(Ring *r)
{
    Gen *g = r->g;
    int k, slots = g->p->tile[r->changed].count;
    Stmt **outer = open_role(g, "work", (int)PICK(g, 32, 64, 128));
    (void)open_loop(r, r->n, &k);
    const Expr *i = x_ref(g, X_VAR, k);
    open_turn(r, i);
    say(r, "wait", "full", k, r->slots);
    say(r, "wait", "gone", k, slots);
    emit_move(g, slot_of(g, r->tile, i), slot_of(g, r->changed, i), " via threads");
    say(r, "arrive", "empty", k, r->slots);
    say(r, "arrive", "ready", k, slots);
    g->tail = outer;
    outer = open_role(g, "store", 0);
    (void)open_loop(r, r->n, &k);
    i = x_ref(g, X_VAR, k);
    open_turn(r, i);
    say(r, "wait", "ready", k, slots);
    emit_move(g, slot_of(g, r->changed, i), moved(g, r->dst[0], r->k, counted_from(g, i, r->from)),
              keep_text(g->p, "%s commit group", r->out[0]));
    emit_text(g, "wait group read;");
    say(r, "arrive", "gone", k, slots);
    g->tail = outer;
}

/* One thread, `ahead` loads in front; as many stores may be pending as slots are left. */
static void one_thread(Ring *r)
{
    Gen *g = r->g;
    int k, ahead = (int)rng_in(&g->rng, 1, r->slots);
    Stmt **tail = open_loop(r, x_op(g, X_MIN, r->n, x_num(g, ahead)), &k);
    const Expr *i = x_ref(g, X_VAR, k);
    emit_move(g, moved(g, r->src, r->k, counted_from(g, i, r->from)), slot_of(g, r->tile, i),
              keep_text(g->p, "%s commit full[%s %% %d]", r->in, g->p->var[k].name, r->slots));
    g->tail = tail;
    tail = open_loop(r, r->n, &k);
    i = x_ref(g, X_VAR, k);
    say(r, "wait", "full", k, r->slots);
    emit_move(g, slot_of(g, r->tile, i), moved(g, r->dst[0], r->k, counted_from(g, i, r->from)), keep_text(g->p, "%s commit group", r->out[0]));
    Stmt *more = emit(g, S_IF);
    const Expr *later = x_op(g, X_ADD, i, x_num(g, ahead));
    more->e = x_op(g, X_LT, later, r->from ? x_op(g, X_ADD, r->from, r->n) : r->n);
    g->tail = &more->body;
    emit_text(g, keep_text(g->p, "wait group %d read;", r->slots - ahead));
    emit_move(g, moved(g, r->src, r->k, counted_from(g, later, r->from)), slot_of(g, r->tile, later),
              keep_text(g->p, "%s commit full[(%s + %d) %% %d]", r->in, g->p->var[k].name, ahead, r->slots));
    g->tail = tail;
    emit_text(g, rng_odds(&g->rng, 50) ? "wait group 0;" : "wait group;");
}

static void ring_meaning(Ring *r, bool threads, int stores)
{
    Gen *g = r->g;
    Stmt *l = emit(g, S_FOR);
    l->ref = 1;
    l->range[0] = r->n;
    l->index[0] = r->k;
    g->tail = &l->body;
    const Expr *i = x_ref(g, X_VAR, r->k);
    open_turn(r, r->from ? x_op(g, X_ADD, i, r->from) : i);
    Region slot = slot_of(g, r->tile, i), from = slot;
    emit_move(g, r->src, slot, "");
    if (threads) {
        from = g->p->tile[r->changed].count ? slot_of(g, r->changed, i) : tile_region(r->changed);
        emit_move(g, slot, from, "");
    }
    for (int s = 0; s < stores; s++) emit_move(g, s ? slot : from, r->dst[s], "");
}

static void ring_text(Ring *r, int kind, int stores)
{
    Gen *g = r->g;
    emit_text(g, keep_text(g->p, "barrier full[%d];", r->slots));
    if (kind == 0) {
        one_thread(r);
        return;
    }
    emit_text(g, keep_text(g->p, "barrier empty[%d] free;", r->slots));
    if (kind == 3) {
        emit_text(g, keep_text(g->p, "barrier ready[%d];", g->p->tile[r->changed].count));
        emit_text(g, keep_text(g->p, "barrier gone[%d] free;", g->p->tile[r->changed].count));
    }
    Stmt *roles = emit(g, S_ROLES);
    g->tail = &roles->body;
    load_role(r);
    if (kind == 3) chain_roles(r);
    for (int s = 0; kind != 3 && s < stores; s++) store_role(r, s, kind == 2 && !s);
}

void ring_kernel(Gen *g)
{
    g->hand = true;
    int kind = (int)(rng_odds(&g->rng, 96) ? rng_in(&g->rng, 0, 1) : rng_in(&g->rng, 2, 3)),
        stores = kind == 1 || kind == 2 ? (int)rng_in(&g->rng, 1, 2) : 1;
    Ring r = {.g = g, .slots = (int)rng_in(&g->rng, 2, 5), .changed = -1};
    for (int d = 0; d < (int)rng_in(&g->rng, 1, 2); d++) {
        Axis a = new_axis(g, PICK(g, 1, 8, 16, 32), rng_in(&g->rng, 1, 3), 1);
        a.index = x_ref(g, X_CTA, d);
        g->p->grid[d] = axis_range(g, &a, 1);
        g->axis[g->naxes++] = a;
    }
    Axis a = new_axis(g, PICK(g, 1, 3, 4, 8, 16), rng_in(&g->rng, 1, 8), 1);
    r.k = new_var(g, "k");
    a.index = x_ref(g, X_VAR, r.k);
    g->axis[g->naxes++] = a;
    Shape s;
    while (!new_shape(g, &s) || shape_bytes(&s) > 2048) continue;
    Stmt *let = emit(g, S_LET);
    let->ref = new_var(g, "n");
    let->e = axis_range(g, &a, 1);
    r.n = x_ref(g, X_VAR, let->ref);
    r.tile = new_tile(g, &s, r.slots);
    if (kind >= 2) r.changed = new_tile(g, &s, kind == 3 ? (int)rng_in(&g->rng, 1, 3) : 0);
    r.src = region_of(g, &s, USE_READ, &r.in);
    for (int i = 0; i < stores; i++) r.dst[i] = region_of(g, &s, USE_WRITE, &r.out[i]);
    if (rng_odds(&g->rng, 30)) r.from = x_num(g, rng_in(&g->rng, -3, 5));
    if (kind && rng_odds(&g->rng, 30)) {
        r.holds = (ExprKind)PICK(g, X_LT, X_GE, X_NE, X_EQ);
        r.by = r.holds == X_EQ ? rng_in(&g->rng, 0, 1) : rng_in(&g->rng, 0, 4);
    }
    Stmt *twin = emit(g, S_TWIN);
    g->tail = &twin->body;
    ring_text(&r, kind, stores);
    g->tail = &twin->other;
    ring_meaning(&r, kind >= 2, stores);
}
