/* The walk: who of the cluster does a statement, under which conditions, what it reads and what it writes. */
#include "lower/schedule/versions/versions.h"

enum { PARTS_MAX = 8 };

static void walk(Versions *v, const PBlock *b);

static Poly form(Versions *v, const Sx *x)
{
    return scalar_poly(v->L, x);
}

static uint16_t all_ranks(const Lower *L)
{
    return (uint16_t)((1u << L->cluster_size) - 1);
}

static bool by_rank(Versions *v, const Sx *x)
{
    return x && v->L->cluster_size > 1 && scalar_uses(v->L, x) & v->L->scalars->by_rank;
}

/* ---- parts ---- */

/* im2col::w and ::w::128 bring as many rows more as the halo says; the tile may have room for more. */
static Poly halo_rows(Versions *v, const PMove *mv)
{
    Poly halo = form(v, mv->halo[0]);
    if (mv->map->mode == MAP_IM2COL_W128) halo = poly_mul(v->d, halo, poly_const(v->d, 4)); /* behind each 32 of 128 */
    return poly_add(v->d, halo, poly_const(v->d, mv->map->pixels ? mv->map->pixels : 128));
}

/* As the CTA of the rank at hand has it. */
static Part part_of(Versions *v, const PRegion *r, const PMove *mv)
{
    Domain *d = v->d;
    Part p = {.n = (uint32_t)r->rank + 1, .step = {1}};
    p.lo[0] = r->slot ? form(v, r->slot) : poly_const(d, 0);
    p.hi[0] = poly_add(d, p.lo[0], poly_const(d, 1));
    bool halo = mv->halo[0] && r == &mv->dst;
    for (int i = 0; i < r->rank; i++) {
        const PDim *x = &r->dim[i];
        p.lo[i + 1] = form(v, x->start);
        p.hi[i + 1] = poly_add(d, p.lo[i + 1], halo && x->marked ? halo_rows(v, mv) : poly_const(d, (x->extent - 1) * x->step + 1));
        p.step[i + 1] = x->extent > 1 ? x->step : 1;
        halo = halo && !x->marked;
    }
    return p;
}

static bool part_by_rank(Versions *v, const PRegion *r, const PMove *mv)
{
    bool any = by_rank(v, r->slot) || (r == &mv->dst && by_rank(v, mv->halo[0]));
    for (int i = 0; i < r->rank; i++) any = any || by_rank(v, r->dim[i].start);
    return any;
}

static Part part_at(Versions *v, const PRegion *r, const PMove *mv, int rank)
{
    cluster_rank(v->L, rank);
    Part p = part_of(v, r, mv);
    cluster_rank(v->L, -1);
    return p;
}

static void has_value(Versions *v, const PRegion *r, const Part *p, uint16_t ranks, bool remote)
{
    Box b = {.part = *p, .ranks = ranks, .remote = remote, .at = r};
    version_add(v, r->tile->index, &b);
}

/* ---- reads ---- */

/* By these CTAs: in their own tiles; or (to) what they add to in those of other CTAs. */
static void reads(Versions *v, const PStmt *st, const PRegion *r, uint16_t ranks, const uint16_t *to, bool adds)
{
    const PMove *mv = st->move;
    const TileRecord *t = &v->tiles[r->tile->index];
    bool differs = part_by_rank(v, r, mv);
    Part p = part_of(v, r, mv), own = p;
    for (int from = 0; from < v->L->cluster_size; from++) {
        if (!(ranks >> from & 1) || (!to && part_covered(v, t, &p, from))) continue;
        if (differs) own = part_at(v, r, mv, from);
        for (int rank = 0; rank < v->L->cluster_size; rank++) {
            if (!(to ? to[from] >> rank & 1 : rank == from) || part_covered(v, t, &own, rank)) continue;
            version_tell(v, st, r, rank, adds);
            has_value(v, r, to ? &own : &p, all_ranks(v->L), false); /* once is enough */
            return;
        }
    }
}

/* ---- writes ---- */

/* By these CTAs: into their own tiles, or (there) into those of other ones. */
static void writes(Versions *v, const PMove *mv, uint16_t ranks, const Peers *there)
{
    const PRegion *r = &mv->dst;
    bool differs = part_by_rank(v, r, mv), by_turn = there && there->by_turn;
    Part p = part_of(v, r, mv);
    uint16_t to = 0;
    if (!there) has_value(v, r, &p, ranks, false); /* and in numbers of each CTA's: */
    for (int rank = 0; rank < v->L->cluster_size; rank++) {
        if (by_turn) to |= (uint16_t)((there->from[rank] > 0) << rank); /* in each turn */
        if (by_turn || !(ranks >> rank & 1)) continue;
        uint16_t its = (uint16_t)(there ? there->to[rank] : 1u << rank);
        to |= its;
        if (!differs) continue;
        Part at = part_at(v, r, mv, rank);
        has_value(v, r, &at, its, there != NULL);
    }
    if (there && !differs) has_value(v, r, &p, to, true);
    else if (by_turn)
        version_lose(&v->tiles[r->tile->index], r, "written here, by another CTA in each turn, which says in which part",
                     "let the turn say in which part, not the rank of who writes it");
}

/* Of a multicast each CTA gets all when all of its set take part. */
static uint16_t whole_sets(const Lower *L, PCast cast, uint16_t ranks)
{
    uint16_t whole = 0;
    for (int r = 0; r < L->cluster_size; r++) {
        uint32_t set = cluster_set(L, cast, r);
        if ((set & ranks) == set) whole |= (uint16_t)(1u << r);
    }
    return whole;
}

/* Somewhere in the part that this is, a value is of another iteration. */
static void writes_in_other(Versions *v, const PMove *mv)
{
    const PTile *t = mv->dst.tile;
    Box b = {.part = part_of(v, &mv->dst, mv), .ranks = all_ranks(v->L), .at = &mv->dst, .across = v->across};
    for (uint32_t i = 0; i < b.part.n; i++) {
        int64_t lo, hi;
        hull_dim(v, t, &b.part, i, &lo, &hi);
        b.part.lo[i] = poly_const(v->d, lo);
        b.part.hi[i] = poly_const(v->d, hi);
        b.part.step[i] = 1;
    }
    if (t->pipe == NULL) version_add(v, t->index, &b);
}

static void move(Versions *v, const PStmt *st)
{
    Lower *L = v->L;
    const Planned *p = L->sched->moves.v[st->id];
    const PMove *mv = st->move;
    uint16_t ranks = v->ranks;
    bool there = mv->dst.tile && L->cluster_size > 1 && (mv->dst.peer || mv->cast == CAST_MASK);
    if (ranks == 0 || mv->kind == MOVE_PREFETCH) return;
    if (v->other) {
        if (mv->dst.tile) writes_in_other(v, mv);
        return;
    }
    if (mv->src.tile && !v->ahead) reads(v, st, &mv->src, ranks, NULL, false);
    if (mv->dst.tile == NULL) return;
    if (mv->reduce >= 0 && !v->ahead) reads(v, st, &mv->dst, ranks, there ? move_peers(&p->mi)->to : NULL, true);
    if (there) writes(v, mv, ranks, move_peers(&p->mi));
    else writes(v, mv, mv->cast != CAST_NONE && mv->cast != CAST_MASK ? whole_sets(L, mv->cast, ranks) : ranks, NULL);
}

/* ---- conditions ---- */

static Lit lit_of(Versions *v, const Condition *c)
{
    if (c->b == NULL) {
        Lit l = {.p = poly_sub(v->d, form(v, c->a), poly_const(v->d, 1))};
        return c->kind == COND_HOLDS ? l : lit_not(v, l);
    }
    Lit l = {.p = condition_room(v->L, c), .eq = c->kind != COND_ORDER, .not = c->kind == COND_UNEQUAL};
    return lit_ordered(v, l);
}

/* One way of an `if`. */
static void guard_parts(Versions *v, Guard *g, const Sx *x, bool holds)
{
    Lower *L = v->L;
    uint32_t around = conditions_open(L, x, holds), n = L->scalars->conditions.n - around;
    const Condition *c = &L->scalars->conditions.v[around];
    Lit *out = arena_array(L->a, Lit, PARTS_MAX);
    bool all = n <= PARTS_MAX;
    for (uint32_t i = 0; i < n && all; i++) out[i] = lit_of(v, &c[i]);
    L->scalars->conditions.n = around;
    g->parts = out;
    g->nparts = all ? n : 0;
    g->whole = all && n == 1 ? out[0] : lit_of(v, &(Condition){.kind = holds ? COND_HOLDS : COND_FAILS, .a = x});
}

static const Guard *guard_of(Versions *v, const PStmt *st)
{
    Guard *yes = guard_new(v, st, false, (Lit){.p = {.bad = true}}); /* what it is comes with its parts */
    guard_parts(v, yes, st->value, true);
    guard_parts(v, yes->otherwise, st->value, false);
    yes->otherwise->whole = lit_not(v, yes->whole);
    return yes;
}

/* ---- statements ---- */

static void way(Versions *v, const PStmt *st, bool other, uint16_t ranks, const Guard *g, Scope *s)
{
    uint32_t known = v->known.n;
    uint16_t before = v->ranks;
    record_begin(v, s);
    v->ranks &= ranks;
    if (g) guard_assume(v, g);
    walk(v, other ? &st->other : &st->body);
    vars_forget(v->L, st, other ? POINT_BEHIND : POINT_OTHER);
    v->known.n = known;
    v->ranks = before;
    record_close(v, s);
}

static void branch(Versions *v, const PStmt *st)
{
    uint16_t may, may_not;
    Scope then, other;
    cluster_may(v->L, st->value, &may, &may_not);
    const Guard *g = may & may_not ? guard_of(v, st) : NULL;
    if (g && lit_holds(v, g->whole)) may_not = 0; /* for all */
    else if (g && lit_holds(v, g->otherwise->whole)) may = 0;
    if ((may & may_not) == 0) g = NULL;
    way(v, st, false, may, g, &then);
    way(v, st, true, may_not, g ? g->otherwise : NULL, &other);
    record_join(v, &then, &other, g, (uint16_t)(may ^ may_not));
}

static LoopFrame *frame_of(Versions *v, const PStmt *st, uint32_t id)
{
    LoopFrame *f = arena_new(v->L->a, LoopFrame);
    *f = (LoopFrame){.st = st, .index = v->L->scalars->loops[id].atoms.index, .before = domain_newest(v->d)};
    if (f->index && domain_range(v->d, f->index, &f->from, &f->last)) f->runs = guard_new(v, st, false, (Lit){.p = f->last});
    return f;
}

static void pipeline(Versions *v, const PStmt *st, int i);

static void body(Versions *v, const PStmt *st, int i, const LoopFrame *f, Scope *s)
{
    uint32_t known = v->known.n;
    uint16_t ranks = v->ranks;
    vars_forget(v->L, st, POINT_IN);
    record_begin(v, s);
    if (f->runs && lit_holds(v, f->runs->otherwise->whole)) v->ranks = 0;
    if (f->runs) guard_assume(v, f->runs);
    if (st->kind == P_FOR) walk(v, &st->body);
    else pipeline(v, st, i + 1);
    v->known.n = known;
    v->ranks = ranks;
    vars_forget(v->L, st, POINT_BEHIND);
    record_close(v, s);
}

/* Does it move something into a tile around which no more than so many loops are? */
static bool writes_outside(const PBlock *b, uint32_t loops)
{
    bool any = false;
    for (const PStmt *st = b->first; st && !any; st = st->next) {
        any = st->kind == P_MOVE && st->move->dst.tile && st->move->dst.tile->loops <= loops;
        any = any || writes_outside(&st->body, loops) || writes_outside(&st->other, loops);
    }
    return any;
}

/* The body of the i-th index; of a `for` there is one. */
static void turns(Versions *v, const PStmt *st, uint32_t id, int i)
{
    Scope s, earlier;
    LoopFrame *f = NULL;
    uint32_t around = v->loops - (i > 0);
    bool carries = v->across != st && !v->ahead && !v->other && writes_outside(&st->body, around);
    vars_forget(v->L, st, POINT_IN);
    f = frame_of(v, st, id);
    if (carries) {
        v->ahead = true;
        body(v, st, i, f, &s);
        v->ahead = false;
        record_begin(v, &earlier);
        record_earlier(v, &s, f, around);
    }
    v->loops += i == 0;
    body(v, st, i, f, &s);
    v->loops -= i == 0;
    if (carries) record_close(v, &earlier);
    if (v->across != st || v->other) record_turns(v, &s, f);
}

static void pipeline(Versions *v, const PStmt *st, int i)
{
    if (i < st->pipe->n) turns(v, st, st->pipe->v[i].loop, i);
    else walk(v, &st->body);
}

/* Of tiles from outside that the body writes it is open which iteration was the last one, and in which CTA. */
static void across_grid(Versions *v, const PStmt *st)
{
    v->across = st;
    v->other = true;
    pipeline(v, st, 0);
    v->other = false;
    pipeline(v, st, 0);
    v->across = NULL;
}

static void walk(Versions *v, const PBlock *b)
{
    for (const PStmt *st = b->first; st; st = st->next) {
        switch (st->kind) {
        case P_LET: scalar_let(v->L, st); break;
        case P_VAR:
        case P_SET: scalar_assign(v->L, st); break;
        case P_MOVE: move(v, st); break;
        case P_IF: branch(v, st); break;
        case P_FOR: turns(v, st, st->id, 0); break;
        case P_PIPELINE:
            if (st->pipe->deal != DEAL_NONE) across_grid(v, st);
            else pipeline(v, st, 0);
            break;
        case P_GROUP: walk(v, &st->body); break;
        case P_VIEW:
        case P_WAIT:
        case P_WAIT_GROUP:
        case P_ARRIVE:
        case P_EXPECT:
        case P_ROLES: break;
        }
    }
}

bool versions_check(Lower *L)
{
    Versions v = {.L = L, .d = L->d, .ranks = all_ranks(L), .planned = domain_newest(L->d)};
    Scope all;
    v.tiles = arena_array(L->a, TileRecord, L->k->tiles.n);
    for (uint32_t i = 0; i < L->k->tiles.n; i++) v.tiles[i].tile = L->k->tiles.v[i];
    L->scalars->epoch++; /* what variables hold is told anew */
    record_begin(&v, &all);
    walk(&v, &L->k->body);
    L->stmt = NULL;
    return !L->failed;
}
