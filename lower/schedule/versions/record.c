/* Boxes that have a value, by tile. Those of a scope, a branch or a loop's body, stand behind those of the scopes around it and
 * never change them; at its end they are taken out and go to the outer one, with the condition, or for all turns. */
#include "lower/schedule/versions/versions.h"

enum { RECENT = 8, GUARDED_MAX = 256, TURNS_MAX = 256 };

void record_begin(Versions *v, Scope *s)
{
    *s = (Scope){.id = ++v->nscopes, .outer = v->scope};
    v->scope = s;
}

static void lose(TileRecord *t, const Box *b, Lost why)
{
    t->lost = why;
    t->lost_at = b->at;
}

static bool same_guards(const Box *a, const Box *b)
{
    if (a->nguards != b->nguards) return false;
    for (int i = 0; i < a->nguards; i++)
        if (a->guard[i] != b->guard[i]) return false;
    return true;
}

/* The least start, or the greatest end, of two. */
static bool further(Versions *v, Poly *a, Poly b, bool end)
{
    if (end ? le_forms(v, *a, b) : le_forms(v, b, *a)) {
        *a = b;
        return true;
    }
    return end ? le_forms(v, b, *a) : le_forms(v, *a, b);
}

/* b and a differ in one dimension, where one goes on from the other: a becomes both. Either may be empty. */
static bool merge(Versions *v, Box *a, const Box *b)
{
    int dim = -1;
    for (uint32_t i = 0; i < a->part.n; i++) {
        if (poly_same(a->part.lo[i], b->part.lo[i]) && poly_same(a->part.hi[i], b->part.hi[i])) continue;
        if (dim >= 0) return false;
        dim = (int)i;
    }
    if (dim < 0) return true;
    Poly lo = a->part.lo[dim], hi = a->part.hi[dim], blo = b->part.lo[dim], bhi = b->part.hi[dim];
    if (!le_forms(v, blo, hi) || !le_forms(v, lo, bhi) || !further(v, &lo, blo, false) || !further(v, &hi, bhi, true)) return false;
    a->part.lo[dim] = lo;
    a->part.hi[dim] = hi;
    return true;
}

static bool all_of_tile(const TileRecord *t, const Box *b)
{
    int64_t lo, hi;
    for (uint32_t i = 0; i < b->part.n; i++) {
        int64_t extent = i ? t->tile->extent[i - 1] : t->tile->slots;
        if (!poly_is_const(b->part.lo[i], &lo) || !poly_is_const(b->part.hi[i], &hi) || lo > 0 || hi < extent) return false;
    }
    return b->nguards == 0;
}

static void drop_box(TileRecord *t, uint32_t i)
{
    memmove(&t->boxes.v[i], &t->boxes.v[i + 1], (t->boxes.n - i - 1) * sizeof *t->boxes.v);
    t->boxes.n--;
}

/* Of writes under conditions that nothing undid the latest ones are kept. */
static void drop_guarded(TileRecord *t)
{
    uint32_t n = 0, kept = t->from;
    for (uint32_t i = t->from; i < t->boxes.n; i++) n += t->boxes.v[i].nguards > 0;
    if (n <= GUARDED_MAX) return;
    uint32_t drop = n / 2;
    for (uint32_t i = t->from; i < t->boxes.n; i++) {
        bool out = t->boxes.v[i].nguards > 0 && drop > 0;
        if (out) {
            drop--;
            lose(t, &t->boxes.v[i], LOST_GUARDS);
        } else {
            t->boxes.v[kept++] = t->boxes.v[i];
        }
    }
    t->boxes.n = kept;
}

void version_add(Versions *v, uint32_t tile, const Box *add)
{
    TileRecord *t = &v->tiles[tile];
    Box b = *add;
    if (b.ranks == 0) return;
    for (uint32_t i = 0; i < b.part.n; i++)
        if (b.part.lo[i].bad || b.part.hi[i].bad) return;
    if (t->scope != v->scope->id) {
        vec_push(v->L->a, &v->scope->touched, ((Touched){tile, t->from, t->scope}));
        t->from = t->boxes.n;
        t->scope = v->scope->id;
    }
    if (all_of_tile(t, &b) && b.ranks == (1u << v->L->cluster_size) - 1) t->boxes.n = t->from;
    for (uint32_t i = t->boxes.n, looked = 0; i-- > t->from && looked < RECENT; looked++) {
        Box *o = &t->boxes.v[i];
        if (!same_guards(o, &b) || o->remote != b.remote) continue;
        if ((o->ranks & b.ranks) == b.ranks && part_inside(v, &b.part, &o->part)) return;
        bool outdone = (o->ranks & b.ranks) == o->ranks && part_inside(v, &o->part, &b.part);
        if (!outdone && (o->ranks != b.ranks || !merge(v, &b, o))) continue;
        drop_box(t, i);
        i = t->boxes.n; /* the greater one may go on from others */
        looked = 0;
    }
    vec_push(v->L->a, &t->boxes, b);
    if (b.nguards && t->boxes.n - t->from > GUARDED_MAX) drop_guarded(t);
}

void record_close(Versions *v, Scope *s)
{
    s->taken = arena_array(v->L->a, Boxes, s->touched.n);
    for (uint32_t i = 0; i < s->touched.n; i++) {
        TileRecord *t = &v->tiles[s->touched.v[i].tile];
        for (uint32_t k = t->from; k < t->boxes.n; k++) vec_push(v->L->a, &s->taken[i], t->boxes.v[k]);
        t->boxes.n = t->from;
        t->from = s->touched.v[i].from;
        t->scope = s->touched.v[i].scope;
    }
    v->scope = s->outer;
}

/* ---- branches ---- */

static void add_guarded(Versions *v, uint32_t tile, const Box *b, const Guard *g)
{
    Box c = *b;
    if (c.ranks == 0) return;
    if (g && c.nguards == GUARDS_MAX) {
        lose(&v->tiles[tile], b, LOST_GUARDS);
        return;
    }
    if (g) c.guard[c.nguards++] = g;
    version_add(v, tile, &c);
}

/* The other branch has written it, too. */
static bool in_both(Versions *v, const Box *b, const Boxes *other, uint32_t near)
{
    uint32_t from = near > RECENT / 2 ? near - RECENT / 2 : 0;
    for (uint32_t i = from; other && i < other->n && i < from + RECENT; i++) {
        const Box *o = &other->v[i];
        bool same = o->remote == b->remote && (o->ranks & b->ranks) == b->ranks && same_guards(o, b);
        if (same && part_inside(v, &b->part, &o->part)) return true;
    }
    return false;
}

static const Boxes *of_tile(const Scope *s, uint32_t tile, uint32_t near)
{
    for (uint32_t i = 0; i < s->touched.n && i < RECENT; i++) {
        uint32_t at = (near + i) % s->touched.n;
        if (s->touched.v[at].tile == tile) return &s->taken[at];
    }
    return NULL;
}

/* sure: where this way was taken without a condition, or not at all. */
static void join(Versions *v, const Scope *way, const Scope *other, const Guard *g, uint16_t sure)
{
    for (uint32_t i = 0; i < way->touched.n; i++) {
        uint32_t tile = way->touched.v[i].tile;
        const Boxes *o = g ? of_tile(other, tile, i) : NULL;
        for (uint32_t k = 0; k < way->taken[i].n; k++) {
            Box b = way->taken[i].v[k];
            bool both = in_both(v, &b, o, k);
            uint16_t ranks = b.ranks;
            b.ranks &= both ? UINT16_MAX : sure;
            add_guarded(v, tile, &b, NULL);
            b.ranks = ranks & (uint16_t)~b.ranks;
            add_guarded(v, tile, &b, g);
        }
    }
}

void record_join(Versions *v, const Scope *then, const Scope *other, const Guard *yes, uint16_t decided)
{
    join(v, then, other, yes, yes ? decided : UINT16_MAX);
    join(v, other, then, yes ? yes->otherwise : NULL, yes ? decided : UINT16_MAX);
}

/* ---- loops ---- */

/* Made while the loop's body ran: another one in each turn. Planning had made some by then, this walk others. */
static bool made_inside(Versions *v, const LoopFrame *f, Poly p)
{
    return domain_made(v->d, p, f->index, v->planned) || domain_made(v->d, p, f->before, UINT32_MAX);
}

static bool guards_mention(Versions *v, const Box *b, Atom x)
{
    bool any = false;
    for (int i = 0; i < b->nguards; i++) any |= domain_mentions(v->d, b->guard[i]->whole.p, x);
    return any;
}

static Lost lasts(Versions *v, const LoopFrame *f, const Box *b)
{
    if (!f->ranged) return LOST_VALUE;
    bool varies = b->remote && (domain_depends(v->d, f->first) | domain_depends(v->d, f->last)) & (DEP_TEAM | DEP_RANK);
    for (int i = 0; i < b->nguards && !varies; i++) varies = made_inside(v, f, b->guard[i]->whole.p);
    for (uint32_t i = 0; i < b->part.n && !varies; i++) varies = made_inside(v, f, b->part.lo[i]) || made_inside(v, f, b->part.hi[i]);
    return varies ? LOST_VALUE : LOST_NOT;
}

/* All turns together: one dimension moves with the index, by no more than it is wide. *runs: also where there is no turn. */
static bool swept(Versions *v, const LoopFrame *f, Box *b, bool *runs)
{
    Domain *d = v->d;
    int dim = -1;
    for (uint32_t i = 0; i < b->part.n; i++) {
        if (!domain_mentions(d, b->part.lo[i], f->index) && !domain_mentions(d, b->part.hi[i], f->index)) continue;
        if (dim >= 0) return false;
        dim = (int)i;
    }
    *runs = false;
    if (dim < 0) return true;
    int64_t k, j, w;
    Poly *lo = &b->part.lo[dim], *hi = &b->part.hi[dim], rest, end, width = poly_sub(d, *hi, *lo);
    if (!domain_linear(d, *lo, f->index, &k, &rest) || !domain_linear(d, *hi, f->index, &j, &end) || k != j || k == 0) return false;
    Poly step = poly_const(d, k < 0 ? -k : k), by = poly_const(d, k);
    if (!le_forms(v, step, width)) return false;
    *runs = poly_is_const(width, &w) && w == (k < 0 ? -k : k); /* without turns it is empty then */
    *lo = poly_add(d, rest, poly_mul(d, by, k > 0 ? f->first : f->last));
    *hi = poly_add(d, end, poly_mul(d, by, k > 0 ? f->last : f->first));
    return true;
}

static Lit lit_with(Versions *v, Lit l, Atom x, Poly value)
{
    l.p = domain_with(v->d, l.p, x, value);
    return l;
}

/* In the turn of that value. False: it never holds there. */
static bool guard_with(Versions *v, Box *b, Atom x, Poly value)
{
    int n = 0;
    for (int i = 0; i < b->nguards; i++) {
        Guard *g = arena_new(v->L->a, Guard), *no = arena_new(v->L->a, Guard);
        *g = *b->guard[i];
        *no = *g->otherwise;
        g->whole = lit_with(v, g->whole, x, value);
        no->whole = lit_with(v, no->whole, x, value);
        g->nparts = no->nparts = 0;
        g->otherwise = no;
        no->otherwise = g;
        if (lit_holds(v, no->whole)) return false;
        if (!lit_holds(v, g->whole)) b->guard[n++] = g;
    }
    b->nguards = (uint8_t)n;
    return true;
}

static bool each_turn(Versions *v, uint32_t tile, const LoopFrame *f, const Box *b, uint32_t *left)
{
    Domain *d = v->d;
    int64_t more;
    if (!poly_is_const(poly_sub(d, f->last, f->first), &more) || more < 0 || more >= *left) return false;
    *left -= (uint32_t)more + 1;
    for (int64_t i = 0; i <= more; i++) {
        Box c = *b;
        Poly at = poly_add(d, f->first, poly_const(d, i));
        if (!guard_with(v, &c, f->index, at)) continue;
        for (uint32_t k = 0; k < c.part.n; k++) {
            c.part.lo[k] = domain_with(d, c.part.lo[k], f->index, at);
            c.part.hi[k] = domain_with(d, c.part.hi[k], f->index, at);
        }
        version_add(v, tile, &c);
    }
    return true;
}

void record_turns(Versions *v, const Scope *s, const LoopFrame *f)
{
    for (uint32_t i = 0; i < s->touched.n; i++) {
        uint32_t tile = s->touched.v[i].tile, left = TURNS_MAX;
        TileRecord *t = &v->tiles[tile];
        for (uint32_t k = 0; k < s->taken[i].n; k++) {
            Box b = s->taken[i].v[k];
            bool empty_too;
            Lost lost = lasts(v, f, &b);
            if (lost != LOST_NOT) lose(t, &b, lost);
            else if (!guards_mention(v, &b, f->index) && swept(v, f, &b, &empty_too))
                add_guarded(v, tile, &b, empty_too || lit_holds(v, f->runs.whole) ? NULL : &f->runs);
            else if (!each_turn(v, tile, f, &s->taken[i].v[k], &left)) lose(t, &b, LOST_INDEX);
        }
    }
}
