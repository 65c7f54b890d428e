/* Boxes that have a value: a log, in which those of a scope, a branch or a loop's body, stand behind those of the scopes around it and
 * never change them; at its end they are taken out and go to the outer one, with the condition, or for all turns. */
#include "lower/schedule/versions/versions.h"

enum { RECENT = 8, NEAR = 16, GUARDED_MAX = 256, TURNS_MAX = 256, EARLIER_MAX = 4 };
static const char TOO_MANY[] = "written here, under too many conditions";

void record_begin(Versions *v, Scope *s)
{
    *s = (Scope){.outer = v->scope};
    v->scope = v->log.n;
}

void version_lose(TileRecord *t, const PRegion *at, const char *why, const char *fix)
{
    t->lost = why;
    t->lost_at = at;
    t->lost_fix = fix;
}

static void lose(TileRecord *t, const Box *b, const char *why)
{
    version_lose(t, b->at, why, "read it in there, too, or write all that is read behind it");
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
        if (a->part.step[i] == b->part.step[i] && poly_same(a->part.lo[i], b->part.lo[i]) && poly_same(a->part.hi[i], b->part.hi[i])) continue;
        if (dim >= 0 || a->part.step[i] > 1 || b->part.step[i] > 1) return false;
        dim = (int)i;
    }
    if (dim < 0) return true;
    Poly lo = a->part.lo[dim], hi = a->part.hi[dim], blo = b->part.lo[dim], bhi = b->part.hi[dim];
    if (!le_forms(v, blo, hi) || !le_forms(v, lo, bhi) || !further(v, &lo, blo, false) || !further(v, &hi, bhi, true)) return false;
    a->part.lo[dim] = lo;
    a->part.hi[dim] = hi;
    return true;
}

static void drop(Box *b, uint32_t *link)
{
    b->ranks = 0;
    *link = b->before;
}

/* Of writes under conditions that nothing undid the latest ones are kept. */
static void drop_guarded(Versions *v, TileRecord *t)
{
    t->guarded = 0;
    for (uint32_t *link = &t->last; *link > v->scope;) {
        Box *b = box_at(v, *link);
        t->guarded += b->nguards > 0;
        if (b->nguards == 0 || t->guarded <= GUARDED_MAX / 2) {
            link = &b->before;
            continue;
        }
        lose(t, b, TOO_MANY);
        drop(b, link);
    }
}

void version_add(Versions *v, uint32_t tile, const Box *add)
{
    TileRecord *t = &v->tiles[tile];
    Box b = *add;
    uint32_t *link = &t->last, looked = 0;
    if (b.ranks == 0) return;
    for (uint32_t i = 0; i < b.part.n; i++)
        if (b.part.lo[i].bad || b.part.hi[i].bad) return;
    while (*link > v->scope && looked++ < RECENT) {
        Box *o = box_at(v, *link);
        if (o->across != b.across) break; /* one hides the other */
        bool alike = same_guards(o, &b) && o->remote == b.remote && o->earlier == b.earlier;
        if (alike && (o->ranks & b.ranks) == b.ranks && part_inside(v, &b.part, &o->part)) return;
        bool outdone = alike && (o->ranks & b.ranks) == o->ranks && part_inside(v, &o->part, &b.part);
        if (!outdone && !(alike && o->ranks == b.ranks && merge(v, &b, o))) {
            link = &o->before;
            continue;
        }
        drop(o, link);
        link = &t->last; /* the greater one may go on from others */
        looked = 0;
    }
    b.tile = tile;
    b.before = t->last;
    vec_push(v->L->a, &v->log, b);
    t->last = v->log.n;
    if (b.nguards && ++t->guarded > GUARDED_MAX) drop_guarded(v, t);
}

void record_close(Versions *v, Scope *s)
{
    for (uint32_t i = v->scope; i < v->log.n; i++)
        if (v->log.v[i].ranks) vec_push(v->L->a, &s->taken, v->log.v[i]);
    for (; v->log.n > v->scope; v->log.n--) {
        TileRecord *t = &v->tiles[v->log.v[v->log.n - 1].tile];
        if (t->last == v->log.n) t->last = v->log.v[v->log.n - 1].before;
    }
    v->scope = s->outer;
}

/* ---- branches ---- */

static void add_guarded(Versions *v, uint32_t tile, const Box *b, const Guard *g)
{
    Box c = *b;
    if (c.ranks == 0) return;
    if (g && c.nguards == GUARDS_MAX && c.across) g = NULL;
    if (g && c.nguards == GUARDS_MAX) {
        lose(&v->tiles[tile], b, TOO_MANY);
        return;
    }
    if (g) c.guard[c.nguards++] = g;
    version_add(v, tile, &c);
}

/* The other branch has written it, too. */
static bool in_both(Versions *v, const Box *b, const Boxes *other, uint32_t at)
{
    for (uint32_t i = at > NEAR ? at - NEAR : 0; i < other->n && i < at + NEAR; i++) {
        const Box *o = &other->v[i];
        bool same = o->tile == b->tile && o->remote == b->remote && o->across == b->across && (o->ranks & b->ranks) == b->ranks && same_guards(o, b);
        if (same && part_inside(v, &b->part, &o->part)) return true;
    }
    return false;
}

/* sure: where this way was taken without a condition, or not at all. */
static void join(Versions *v, const Scope *way, const Scope *other, const Guard *g, uint16_t sure)
{
    for (uint32_t i = 0; i < way->taken.n; i++) {
        Box b = way->taken.v[i];
        bool both = g && in_both(v, &b, &other->taken, i);
        uint16_t ranks = b.ranks;
        b.ranks &= both ? UINT16_MAX : sure;
        add_guarded(v, b.tile, &b, NULL);
        b.ranks = ranks & (uint16_t)~b.ranks;
        add_guarded(v, b.tile, &b, g);
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

static bool lasts(Versions *v, const LoopFrame *f, const Box *b)
{
    if (f->runs == NULL) return false;
    bool varies = b->remote && (domain_depends(v->d, f->from) | domain_depends(v->d, f->last)) & (DEP_TEAM | DEP_RANK);
    for (int i = 0; i < b->nguards && !varies; i++) varies = made_inside(v, f, b->guard[i]->whole.p);
    for (uint32_t i = 0; i < b->part.n && !varies; i++) varies = made_inside(v, f, b->part.lo[i]) || made_inside(v, f, b->part.hi[i]);
    return !varies;
}

/* All turns together: one dimension moves with the index, by no more than it is wide, or, of one with a step, by what fills the step up.
 * *runs: also where there is no turn. */
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
    int64_t k, j, w, turns, *step = &b->part.step[dim];
    Poly *lo = &b->part.lo[dim], *hi = &b->part.hi[dim], rest, end, width = poly_sub(d, *hi, *lo);
    if (!domain_linear(d, *lo, f->index, &k, &rest) || !domain_linear(d, *hi, f->index, &j, &end) || k != j || k == 0) return false;
    int64_t size = k < 0 ? -k : k;
    Poly by = poly_const(d, k);
    if (size < *step && *step % size == 0 && poly_is_const(f->last, &turns) && turns >= *step / size - 1) *step = size;
    else if (size % *step || !le_forms(v, poly_const(d, size - *step + 1), width)) return false;
    *runs = poly_is_const(width, &w) && w == size; /* without turns it is empty then */
    *lo = k > 0 ? rest : poly_add(d, rest, poly_mul(d, by, f->last));
    *hi = k > 0 ? poly_add(d, end, poly_mul(d, by, f->last)) : end;
    return true;
}

static Lit lit_with(Versions *v, Lit l, Atom x, Poly value)
{
    l.p = domain_with(v->d, l.p, x, value);
    return lit_ordered(v, l);
}

/* In the turn of that value. False: it never holds there. */
static bool guard_with(Versions *v, Box *b, Atom x, Poly value)
{
    int n = 0;
    for (int i = 0; i < b->nguards; i++) {
        const Guard *was = b->guard[i], *g = guard_new(v, was->st, was->other, lit_with(v, was->whole, x, value));
        if (lit_holds(v, g->otherwise->whole)) return false;
        if (!lit_holds(v, g->whole)) b->guard[n++] = g;
    }
    b->nguards = (uint8_t)n;
    return true;
}

/* The box as it is in that turn; false: never. */
static bool in_turn(Versions *v, const LoopFrame *f, Box *b, Poly at)
{
    if (!guard_with(v, b, f->index, at)) return false;
    for (uint32_t i = 0; i < b->part.n; i++) {
        b->part.lo[i] = domain_with(v->d, b->part.lo[i], f->index, at);
        b->part.hi[i] = domain_with(v->d, b->part.hi[i], f->index, at);
    }
    return true;
}

static bool each_turn(Versions *v, const LoopFrame *f, const Box *b)
{
    int64_t more;
    if (!poly_is_const(f->last, &more) || more < 0 || more >= TURNS_MAX) return false;
    for (int64_t i = 0; i <= more; i++) {
        Box c = *b;
        if (in_turn(v, f, &c, poly_const(v->d, i))) version_add(v, c.tile, &c);
    }
    return true;
}

/* One that stands so many turns before it had the index of that turn, if there was one. */
static void add_earlier(Versions *v, const LoopFrame *f, const Box *of, int64_t turns)
{
    Domain *d = v->d;
    Box b = *of;
    Poly at = poly_sub(d, poly_atom(d, f->index), poly_const(d, turns));
    if (!in_turn(v, f, &b, at)) return;
    const Guard *was = guard_new(v, f->st, false, (Lit){.p = at});
    b.earlier = f->st;
    if (b.nguards < GUARDS_MAX && !lit_holds(v, was->otherwise->whole)) add_guarded(v, b.tile, &b, was);
}

void record_earlier(Versions *v, const Scope *s, const LoopFrame *f, uint32_t loops)
{
    for (uint32_t i = 0; i < s->taken.n; i++) {
        const Box *b = &s->taken.v[i];
        const PTile *tile = v->tiles[b->tile].tile;
        int64_t turns = tile->slots < EARLIER_MAX ? tile->slots : EARLIER_MAX;
        if (b->across || tile->loops > loops || !lasts(v, f, b)) continue;
        for (int64_t k = turns; k >= 1; k--) add_earlier(v, f, b, k);
    }
}

void record_turns(Versions *v, const Scope *s, const LoopFrame *f)
{
    for (uint32_t i = 0; i < s->taken.n; i++) {
        Box b = s->taken.v[i];
        TileRecord *t = &v->tiles[b.tile];
        bool empty_too;
        if (b.across && (!lasts(v, f, &b) || guards_mention(v, &b, f->index))) b.nguards = 0; /* in some turn */
        if (b.across) add_guarded(v, b.tile, &b, f->runs);
        else if (!lasts(v, f, &b)) lose(t, &b, "written here, in a place that each turn of the loop works out");
        else if (!guards_mention(v, &b, f->index) && swept(v, f, &b, &empty_too))
            add_guarded(v, b.tile, &b, empty_too || lit_holds(v, f->runs->whole) ? NULL : f->runs);
        else if (!each_turn(v, f, &s->taken.v[i])) lose(t, &b, "written here, and what all turns of the loop write together is not known");
    }
}
