/* Is a part covered? By one box, proved by inequalities; or by several, cut out of it in numbers: in each dimension the distance
 * from the part's own start, or, where the start is none, all places where the part may be. Conditions that are open
 * are tried both ways. */
#include "lower/schedule/versions/versions.h"

enum { SPLITS = 4, FUEL = 4096, SYMBOLIC_MAX = 3, LATEST = 4 };

/* ---- conditions ---- */

static Poly negative(Versions *v, Poly p)
{
    return poly_sub(v->d, poly_const(v->d, 0), p);
}

Lit lit_not(Versions *v, Lit l)
{
    if (l.eq) return (Lit){.p = l.p, .eq = true, .not = !l.not};
    return (Lit){.p = poly_sub(v->d, poly_const(v->d, -1), l.p)};
}

Lit lit_ordered(Versions *v, Lit l)
{
    Domain *d = v->d;
    Poly zero = poly_const(d, 0), minus = negative(v, l.p);
    if (!l.eq || l.p.bad) return l;
    if (domain_le(d, zero, l.p)) return (Lit){.p = l.not ? poly_sub(d, l.p, poly_const(d, 1)) : minus};
    if (domain_le(d, l.p, zero)) return (Lit){.p = l.not ? poly_sub(d, minus, poly_const(d, 1)) : l.p};
    return l;
}

/* p - q >= least, where that is a number. */
static bool apart(Versions *v, Poly p, Poly q, int64_t least)
{
    int64_t k;
    return poly_apart(v->d, p, q, &k) && k >= least;
}

/* Does l follow from k? */
static bool follows(Versions *v, Lit l, Lit k)
{
    Poly minus;
    if (l.eq == k.eq && l.not == k.not && poly_same(l.p, k.p)) return !l.p.bad;
    if (l.p.bad || k.p.bad || (k.eq && k.not && !(l.eq && l.not))) return false;
    if (l.eq && k.eq) return l.not == k.not && poly_same(l.p, negative(v, k.p));
    if (l.eq && !l.not) return false;
    if (!l.eq) return apart(v, l.p, k.p, 0) || (k.eq && apart(v, l.p, negative(v, k.p), 0));
    minus = negative(v, l.p);
    return apart(v, l.p, k.p, 1) || apart(v, minus, k.p, 1);
}

static bool lit_known(Versions *v, Lit l)
{
    for (uint32_t i = v->known.n; i-- > 0;)
        if (follows(v, l, v->known.v[i])) return true;
    return v->carried && !l.eq && !l.p.bad && le_forms(v, poly_const(v->d, 0), l.p);
}

bool lit_holds(Versions *v, Lit l)
{
    Domain *d = v->d;
    Poly zero = poly_const(d, 0);
    if (l.eq ? l.not ? domain_lt(d, zero, l.p) || domain_lt(d, l.p, zero) : domain_eq(d, l.p, zero) : domain_le(d, zero, l.p)) return true;
    return lit_known(v, l);
}

Guard *guard_new(Versions *v, const PStmt *st, bool other, Lit whole)
{
    Guard *g = arena_new(v->L->a, Guard), *no = arena_new(v->L->a, Guard);
    *g = (Guard){.whole = whole, .otherwise = no, .st = st, .other = other};
    *no = (Guard){.whole = lit_not(v, whole), .otherwise = g, .st = st, .other = !other};
    return g;
}

void guard_assume(Versions *v, const Guard *g)
{
    vec_push(v->L->a, &v->known, g->whole);
    for (uint32_t i = 0; i < g->nparts; i++) vec_push(v->L->a, &v->known, g->parts[i]);
}

/* It is known, or all that it is made of, or that something is not of which its opposite is made. */
static bool guard_known(Versions *v, const Guard *g)
{
    const Guard *no = g->otherwise;
    bool all = g->nparts > 0, denied = false;
    if (lit_known(v, g->whole)) return true;
    for (uint32_t i = 0; i < g->nparts && all; i++) all = lit_known(v, g->parts[i]);
    for (uint32_t i = 0; i < no->nparts && !denied; i++) denied = lit_known(v, lit_not(v, no->parts[i]));
    return all || denied;
}

/* What is not known of an open condition, to be tried both ways; what lets it hold, or helps to, is tried first. */
static Lit open_lit(Versions *v, const Guard *g)
{
    bool opposite = g->otherwise->nparts > g->nparts;
    const Guard *of = opposite ? g->otherwise : g;
    for (uint32_t i = 0; i < of->nparts; i++) {
        Lit l = opposite ? lit_not(v, of->parts[i]) : of->parts[i];
        if (!lit_known(v, l) && !lit_known(v, lit_not(v, l))) return l;
    }
    return g->whole;
}

typedef enum Happened { HAPPENED, NEVER, OPEN } Happened;

static Happened happened(Versions *v, const Box *b, const Guard **open)
{
    Happened all = HAPPENED;
    for (int i = 0; i < b->nguards; i++) {
        if (guard_known(v, b->guard[i])) continue;
        if (guard_known(v, b->guard[i]->otherwise)) return NEVER;
        all = OPEN;
        *open = b->guard[i];
    }
    return all;
}

/* ---- one box ---- */

/* Also by the conditions that were known last. */
bool le_forms(Versions *v, Poly a, Poly b)
{
    int64_t k;
    if (poly_apart(v->d, b, a, &k)) return k >= 0;
    bool le = domain_le(v->d, a, b);
    Poly holds[LATEST];
    int n = 0;
    for (uint32_t i = v->known.n; i-- > 0 && n < LATEST && !le;) {
        if (v->known.v[i].eq || v->known.v[i].p.bad) continue;
        holds[n++] = v->known.v[i].p;
        le = domain_le(v->d, poly_add(v->d, a, holds[n - 1]), b);
    }
    return le || (n && domain_le_where(v->d, holds, n, a, b));
}

bool parts_apart(const Part *a, const Part *b)
{
    int64_t x, y;
    for (uint32_t i = 0; i < a->n; i++) {
        if (poly_is_const(a->hi[i], &x) && poly_is_const(b->lo[i], &y) && x <= y) return true;
        if (poly_is_const(b->hi[i], &x) && poly_is_const(a->lo[i], &y) && x <= y) return true;
    }
    return false;
}

/* Each place of the part is one that the step of `of` comes to, if it is between its ends. */
static bool in_step(Versions *v, const Part *part, const Part *of, uint32_t i)
{
    int64_t from, width;
    if (of->step[i] == 1) return true;
    bool one = poly_apart(v->d, part->hi[i], part->lo[i], &width) && width == 1;
    return poly_apart(v->d, part->lo[i], of->lo[i], &from) && from % of->step[i] == 0 && (one || part->step[i] % of->step[i] == 0);
}

bool part_inside(Versions *v, const Part *part, const Part *of)
{
    bool in = !parts_apart(part, of);
    for (uint32_t i = 0; i < part->n && in; i++) in = in_step(v, part, of, i) && le_forms(v, of->lo[i], part->lo[i]) && le_forms(v, part->hi[i], of->hi[i]);
    return in;
}

/* ---- several ---- */

typedef struct Cut {
    const Cells *box;
    uint32_t n, dims;
    int fuel;
    Cells missing;
} Cut;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The first place at `from` or behind it of those that go on from lo by that step. */
static int64_t next_place(int64_t lo, int64_t step, int64_t from)
{
    return from <= lo ? lo : lo + (from - lo + step - 1) / step * step;
}

/* The first place that both have in a dimension, of which the step of one is a multiple of the other's. */
static bool meet(const Cells *c, const Cells *w, uint32_t d, int64_t *first)
{
    const Cells *wide = c->step[d] < w->step[d] ? w : c, *fine = wide == c ? w : c;
    if ((wide->lo[d] - fine->lo[d]) % fine->step[d]) return false;
    *first = next_place(wide->lo[d], wide->step[d], fine->lo[d]);
    return *first < least(c->hi[d], w->hi[d]);
}

static bool cut(Cut *t, uint32_t from, Cells c);

/* What of c lies in that dimension in front of w, between its steps (gap by gap, or step by step, whichever are fewer), and behind it; c becomes
 * the rest. */
static bool cut_off(Cut *t, uint32_t from, Cells *c, const Cells *w, uint32_t d, int64_t first)
{
    Cells part = *c;
    int64_t end = least(c->hi[d], w->hi[d]), step = w->step[d], n = (end - first - 1) / step + 1, wide = step / c->step[d];
    t->fuel--;
    part.hi[d] = first;
    if (c->lo[d] < first && !cut(t, from, part)) return false;
    c->lo[d] = first;
    part = *c;
    if (n < wide) {
        for (int64_t at = first; at < end; at += step, t->fuel--) {
            part.lo[d] = at + c->step[d];
            part.hi[d] = at + step < end ? at + step : c->hi[d];
            if (part.lo[d] < part.hi[d] && !cut(t, from, part)) return false;
        }
        c->hi[d] = end;
    } else {
        part.step[d] = step;
        for (int64_t i = 1; i < wide; i++, t->fuel--) {
            part.lo[d] = first + i * c->step[d];
            if (part.lo[d] < c->hi[d] && !cut(t, from, part)) return false;
        }
    }
    if (wide > 1) c->step[d] = step;
    part = *c;
    part.lo[d] = next_place(first, c->step[d], w->hi[d]);
    if (part.lo[d] < c->hi[d] && !cut(t, from, part)) return false;
    c->hi[d] = end;
    return true;
}

/* One place of the dimension after the other. */
static bool singly(Cut *t, uint32_t from, Cells c, uint32_t d)
{
    Cells one = c;
    one.step[d] = 1;
    for (; one.lo[d] < c.hi[d]; one.lo[d] += c.step[d], t->fuel--) {
        one.hi[d] = one.lo[d] + 1;
        if (!cut(t, from, one)) return false;
    }
    return true;
}

/* Cuts c around the first box that meets it. */
static bool cut(Cut *t, uint32_t from, Cells c)
{
    for (uint32_t i = from; i < t->n && t->fuel > 0; i++) {
        const Cells *w = &t->box[i];
        int64_t first[VERSION_DIMS];
        bool meets = true;
        for (uint32_t d = 0; d < t->dims; d++)
            if (w->step[d] % c.step[d] && c.step[d] % w->step[d]) return singly(t, i, c, d);
        for (uint32_t d = 0; d < t->dims && meets; d++) meets = meet(&c, w, d, &first[d]);
        if (!meets) continue;
        for (uint32_t d = 0; d < t->dims; d++)
            if (!cut_off(t, i + 1, &c, w, d, first[d])) return false;
        if (w->hides) break;
        return true;
    }
    t->missing = c;
    return false;
}

typedef struct Frame { /* where numbers count from, and how many there are of them */
    Poly from[VERSION_DIMS], to[VERSION_DIMS];
    int64_t width[VERSION_DIMS], step[VERSION_DIMS];
} Frame;

void hull_dim(Versions *v, const PTile *t, const Part *part, uint32_t dim, int64_t *lo, int64_t *hi)
{
    Poly p;
    int64_t k;
    *lo = 0;
    *hi = dim ? t->extent[dim - 1] : t->slots;
    if (domain_min(v->d, part->lo[dim], &p) && poly_is_const(p, &k) && k > *lo) *lo = k;
    if (domain_max(v->d, part->hi[dim], &p) && poly_is_const(p, &k) && k < *hi) *hi = k;
}

/* Of dimensions in `wide` all places where the part may be. */
static bool frame_of(Versions *v, const TileRecord *t, const Part *part, unsigned wide, Frame *f)
{
    for (uint32_t i = 0; i < part->n; i++) {
        f->from[i] = part->lo[i];
        f->to[i] = part->hi[i];
        f->step[i] = wide >> i & 1 ? 1 : part->step[i];
        if (wide >> i & 1) {
            int64_t lo, hi;
            hull_dim(v, t->tile, part, i, &lo, &hi);
            f->from[i] = poly_const(v->d, lo);
            f->to[i] = poly_const(v->d, hi);
        }
        if (!poly_apart(v->d, f->to[i], f->from[i], &f->width[i])) return false;
    }
    return true;
}

/* Where the box begins and ends is a number, or surely beyond the part; one without a value may be, and that of a step begins at a number. */
static bool cells_of(Versions *v, const Frame *f, const Box *box, Cells *c)
{
    const Part *b = &box->part;
    c->hides = box->across != NULL;
    for (uint32_t i = 0; i < b->n; i++) {
        c->step[i] = b->step[i];
        if (!poly_apart(v->d, b->lo[i], f->from[i], &c->lo[i])) {
            if (b->step[i] > 1) return false;
            if (!c->hides && !le_forms(v, b->lo[i], f->from[i])) return false;
            c->lo[i] = 0;
        }
        if (!poly_apart(v->d, b->hi[i], f->from[i], &c->hi[i])) {
            if (!c->hides && !le_forms(v, f->to[i], b->hi[i])) return false;
            c->hi[i] = f->width[i];
        }
    }
    return true;
}

static bool covered_wide(Versions *v, const TileRecord *t, const Part *part, unsigned wide)
{
    Frame f;
    Cells want = {.hides = false};
    if (!frame_of(v, t, part, wide, &f)) return false;
    v->cells.n = 0;
    for (uint32_t i = 0; i < v->sure.n; i++) {
        Cells c;
        if (cells_of(v, &f, v->sure.v[i], &c)) vec_push(v->L->a, &v->cells, c);
    }
    Cut c = {.box = v->cells.v, .n = v->cells.n, .dims = part->n, .fuel = FUEL};
    memcpy(want.hi, f.width, sizeof want.hi);
    memcpy(want.step, f.step, sizeof want.step);
    if (cut(&c, 0, want)) return true;
    if (wide) return false;
    v->missing.part.n = part->n;
    for (uint32_t i = 0; i < part->n; i++) {
        v->missing.part.lo[i] = poly_add(v->d, f.from[i], poly_const(v->d, c.missing.lo[i]));
        v->missing.part.hi[i] = poly_add(v->d, f.from[i], poly_const(v->d, c.missing.hi[i]));
        v->missing.part.step[i] = c.missing.step[i];
    }
    return false;
}

/* Each subset of the dimensions whose start is no number. */
static bool covered_together(Versions *v, const TileRecord *t, const Part *part)
{
    unsigned dim[SYMBOLIC_MAX], symbolic = 0;
    int64_t k;
    if (covered_wide(v, t, part, 0)) return true;
    for (uint32_t i = 0; v->sure.n && i < part->n && symbolic < SYMBOLIC_MAX; i++)
        if (!poly_is_const(part->lo[i], &k)) dim[symbolic++] = i;
    for (unsigned set = 1; set < 1u << symbolic; set++) {
        unsigned wide = 0;
        for (unsigned i = 0; i < symbolic; i++) wide |= (set >> i & 1) << dim[i];
        if (covered_wide(v, t, part, wide)) return true;
    }
    return false;
}

/* ---- in cases ---- */

/* asked: a box that would have helped, of which it was supposed that its condition does not hold. */
static bool in_cases(Versions *v, const TileRecord *t, const Part *part, int rank, int splits, const Box *asked, const Guard *asked_of)
{
    const Box *open = NULL;
    const Guard *of = NULL;
    bool whole = false, hidden = false;
    v->sure.n = 0;
    FOR_BOXES(v, t, b) {
        const Guard *g = NULL;
        if (!(b->ranks >> rank & 1) || (b->earlier && !v->carried) || parts_apart(part, &b->part)) continue;
        Happened how = happened(v, b, &g);
        hidden |= how != NEVER && b->across;
        if (how == NEVER || (how == OPEN && open && whole && !b->across)) continue;
        bool in = !hidden && part_inside(v, part, &b->part);
        if (how == HAPPENED && in) return true;
        if (how == HAPPENED || b->across) vec_push(v->L->a, &v->sure, b);
        if (how != OPEN || (open && !in)) continue;
        open = b;
        of = g;
        whole = in;
    }
    bool first = !v->missing.set;
    struct Missing kept = v->missing;
    if (covered_together(v, t, part)) {
        v->missing = kept;
        return true;
    }
    if (open == NULL || splits == 0) {
        if (!first) v->missing = kept;
        else v->missing = (struct Missing){true, v->missing.part, open && !open->across ? open : asked, open && !open->across ? of : asked_of};
        return false;
    }
    uint32_t known = v->known.n;
    bool all = true;
    Lit l = open_lit(v, of);
    for (int way = 0; way < 2 && all; way++) {
        vec_push(v->L->a, &v->known, way ? lit_not(v, l) : l);
        all = in_cases(v, t, part, rank, splits - 1, way ? open : asked, way ? of : asked_of);
        v->known.n = known;
    }
    return all;
}

bool part_covered(Versions *v, const TileRecord *t, const Part *part, int rank)
{
    v->missing = (struct Missing){.part = *part};
    if (in_cases(v, t, part, rank, SPLITS, NULL, NULL)) return true;
    struct Missing kept = v->missing;
    const PStmt *loop = NULL;
    FOR_BOXES(v, t, b)
        if (b->earlier) loop = b->earlier; /* the outermost */
    v->carried = loop != NULL;
    bool all = loop && in_cases(v, t, part, rank, SPLITS, NULL, NULL);
    v->carried = false;
    if (all) v->L->sched->rings[t->tile->index].carried = loop;
    v->missing = kept;
    return all;
}
