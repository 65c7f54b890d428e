/* Shapes of tiles and the regions of tensors that they are moved to and from. */
#include <stdio.h>
#include <string.h>

#include "generate.h"

int64_t shape_bytes(const Shape *s)
{
    int64_t n = type_size(s->type);
    for (int d = 0; d < s->rank; d++) n *= s->dim[d].n;
    return n;
}

static bool along(const Shape *s, int axis)
{
    for (int d = 0; d < s->rank; d++)
        if (s->dim[d].axis == axis) return true;
    return false;
}

bool fits(const Gen *g, const Shape *s)
{
    int dims = s->rank;
    for (int a = 0; a < g->naxes; a++) dims += !along(s, a);
    return dims <= RANK_MAX;
}

static tile_type some_type(Gen *g)
{
    static const tile_type all[] = {TILE_U8,   TILE_U16,  TILE_U32, TILE_U64,  TILE_S8,  TILE_S16,
                                    TILE_S32,  TILE_S64,  TILE_F16, TILE_BF16, TILE_F32, TILE_F64,
                                    TILE_E4M3, TILE_E5M2, TILE_U32, TILE_S32,  TILE_BF16};
    return all[rng_in(&g->rng, 0, (int64_t)(sizeof all / sizeof *all) - 1)];
}

static bool draw_shape(Gen *g, Shape *s)
{
    *s = (Shape){.type = some_type(g), .rank = (int)PICK(g, 1, 2, 2, 2, 3, 3, 4, 5), .converts = true};
    s->small = type_float(s->type) || rng_odds(&g->rng, 30);
    int64_t unit = 16 / type_size(s->type);
    for (int d = s->rank; d-- > 0;) {
        bool inner = d == s->rank - 1;
        int a = g->naxes ? (int)rng_in(&g->rng, 0, g->naxes - 1) : -1;
        if (a >= 0 && rng_odds(&g->rng, 65) && !along(s, a) && (!inner || g->axis[a].step % unit == 0))
            s->dim[d] = (Dim){a, g->axis[a].step};
        else s->dim[d] = (Dim){-1, inner ? unit * PICK(g, 1, 2, 3, 4, 8, 8, 16) : PICK(g, 1, 2, 3, 4, 7, 8, 16)};
    }
    return shape_bytes(s) <= TILE_BYTES && fits(g, s);
}

void give_swizzle(Gen *g, Shape *s)
{
    int64_t row = s->dim[s->rank - 1].n * type_size(s->type), span = PICK(g, 0, 0, 32, 64, 128, 128);
    int64_t rows = shape_bytes(s) / row; /* panels start at multiples of the pattern */
    s->swizzle = span && s->rank > 1 && (row == span || (row % span == 0 && rows % 8 == 0)) ? (int)span : 0;
}

bool new_shape(Gen *g, Shape *s)
{
    for (int tries = 0; tries < 200; tries++)
        if (draw_shape(g, s)) {
            give_swizzle(g, s);
            return g->bytes + shape_bytes(s) <= SHARED_BYTES;
        }
    return false;
}

int new_tile(Gen *g, const Shape *s, int count)
{
    Program *p = g->p;
    Tile *t = &p->tile[p->ntiles];
    *t = (Tile){.type = s->type, .rank = s->rank, .swizzle = s->swizzle, .count = count};
    snprintf(t->name, sizeof t->name, "t%d", p->ntiles);
    for (int d = 0; d < s->rank; d++) t->extent[d] = s->dim[d].n;
    g->bytes += shape_bytes(s) * (count ? count : 1);
    emit(g, S_TILE)->ref = p->ntiles;
    return p->ntiles++;
}

Region tile_region(int tile)
{
    return (Region){.shared = true, .ref = tile};
}

/* tab[index]: `tab` has all rows that the axis reaches, since a scalar read outside is a launch error. */
const Expr *table(Gen *g, int axis, int64_t low, int64_t high)
{
    const Axis *a = &g->axis[axis];
    int t = new_tensor(g, (tile_type)PICK(g, TILE_S32, TILE_S64), 1, false);
    Tensor *tab = &g->p->tensor[t];
    int64_t n = a->count + rng_in(&g->rng, 0, 3);
    tab->index = true;
    tab->extent[0] = new_extent(g, n);
    tab->first = keep(g->p, (size_t)n * 8);
    for (int64_t i = 0; i < n; i++)
        value_store(tab->type, tab->first + i * type_size(tab->type), rng_in(&g->rng, low, high));
    Expr *e = keep(g->p, sizeof *e);
    *e = (Expr){.kind = X_LOAD, .n = t, .a = a->index};
    return e;
}

/* ---- regions ---- */
typedef struct Place { /* a dimension of a tensor that is made */
    Sub sub;
    int64_t natural; /* extent that would hold all */
    int64_t unit;    /* its extent is a multiple of that */
    const Expr *bound;
    bool exact;
} Place;

static const Expr *read_index(Gen *g, Use use, int64_t *count)
{
    int a = g->naxes ? (int)rng_in(&g->rng, 0, g->naxes - 1) : -1;
    if (a < 0 || rng_odds(&g->rng, 25) || (use == USE_SAME && !g->axis[a].uniform)) {
        *count = 4;
        return x_num(g, rng_in(&g->rng, 0, 3));
    }
    *count = g->axis[a].count;
    if (rng_odds(&g->rng, 20)) return table(g, a, -1, g->axis[a].count);
    if (rng_odds(&g->rng, 20)) return x_op(g, X_SUB, x_num(g, g->axis[a].count - 1), g->axis[a].index);
    return g->axis[a].index;
}

/* A plain dimension: for a write the index of an axis that no other dimension has. */
static Place plain_place(Gen *g, int axis, Use use)
{
    Place l = {.unit = 1, .sub = {.kind = SUB_AT}};
    if (axis >= 0) l.sub.at = g->axis[axis].index, l.natural = g->axis[axis].count;
    else l.sub.at = read_index(g, use, &l.natural);
    return l;
}

/* The table may end before the rows do, unless their numbers are constants: then the launch would be refused. */
static int rows_tensor(Gen *g, int64_t n, int64_t high, bool distinct, bool whole)
{
    int t = new_tensor(g, (tile_type)PICK(g, TILE_S32, TILE_S64), 1, false);
    Tensor *x = &g->p->tensor[t];
    if (!distinct && !whole && rng_odds(&g->rng, 30)) n = rng_in(&g->rng, 1, n);
    x->index = true;
    x->extent[0] = new_extent(g, n);
    x->first = keep(g->p, (size_t)n * 8);
    for (int64_t i = 0; i < n; i++)
        value_store(x->type, x->first + i * type_size(x->type),
                    distinct ? (i * 7 + 3) % 1009 - 2 : rng_in(&g->rng, -2, high + 2));
    return t;
}

static void make_rows(Gen *g, Place *l, int64_t n, int64_t total, Use use)
{
    l->natural = rng_in(&g->rng, 1, 20);
    if (use == USE_WRITE) {
        l->sub.index = rows_tensor(g, total, 0, true, true);
        const char *name = g->p->tensor[l->sub.index].name, *old = g->p->trust;
        g->p->trust = old ? keep_text(g->p, "%s, distinct(%s)", old, name) : keep_text(g->p, "distinct(%s)", name);
        l->natural = 40;
    } else {
        l->sub.index = rows_tensor(g, total, l->natural, false, l->sub.at->kind == X_NUM);
    }
    l->sub.kind = SUB_ROWS;
    l->sub.n = n;
}

static void make_list(Gen *g, Place *l, int64_t n, Use use)
{
    l->sub.kind = SUB_LIST;
    l->sub.n = n;
    l->natural = 8;
    for (int64_t i = 0; i < n; i++) {
        int64_t count;
        l->sub.list[i] = rng_odds(&g->rng, 50) ? read_index(g, use, &count) : x_num(g, rng_in(&g->rng, 0, 9));
    }
}

static Place span_place(Gen *g, const Dim *m, int64_t unit, bool inner, Use use, int merged)
{
    Place l = {.unit = inner ? unit : 1, .sub = {.kind = SUB_SPAN, .n = m->n, .by = 1}};
    bool reads = use == USE_READ || use == USE_SAME;
    const Axis *a = m->axis >= 0 ? &g->axis[m->axis] : merged >= 0 ? &g->axis[merged] : NULL;
    if (use == USE_SAME && a && !a->uniform) a = NULL;
    if (reads && rng_odds(&g->rng, 15)) a = NULL;
    if (!inner && rng_odds(&g->rng, 10)) l.sub.by = rng_in(&g->rng, 2, 3);
    int64_t step = m->n * l.sub.by, shift = 0;
    if (reads && rng_odds(&g->rng, 25)) shift = l.unit * rng_in(&g->rng, -2, 2);
    if (a) {
        l.sub.at = x_scaled(g, a->index, step, shift);
        l.natural = m->axis >= 0 ? a->extent * l.sub.by : a->count * step;
        if (m->axis >= 0 && l.sub.by == 1) l.bound = a->bound;
    } else if (l.sub.by == 1 && rng_odds(&g->rng, 50)) {
        l.sub.kind = SUB_ALL;
        l.natural = m->n;
        l.exact = true;
    } else {
        int64_t at = l.unit * rng_in(&g->rng, reads ? -1 : 0, 2);
        l.sub.at = x_num(g, at);
        l.natural = step + (at > 0 ? at : 0);
    }
    return l;
}

void fill_data(Gen *g, int tensor)
{
    tensor_fill(g->p, &g->p->tensor[tensor], &g->rng);
}

static const Expr *place_extent(Gen *g, const Place *l, int64_t most)
{
    const Program *p = g->p;
    if (l->exact) return x_num(g, l->natural);
    if (l->bound && rng_odds(&g->rng, 60)) {
        int64_t v = l->bound->kind == X_NUM ? l->bound->n : p->size[l->bound->n].value;
        if (v % l->unit == 0 && v <= most) return l->bound;
    }
    int64_t v = l->natural;
    if (rng_odds(&g->rng, 50)) v += rng_in(&g->rng, -(v / 3), 3);
    v = (v + l->unit - 1) / l->unit * l->unit;
    if (v > most) v = most / l->unit * l->unit;
    if (v < l->unit) v = l->unit;
    return new_extent(g, v);
}

/* A part of a larger tensor stands for the tensor, now and then. */
static int make_view(Gen *g, int tensor)
{
    Program *p = g->p;
    Tensor *b = &p->tensor[tensor];
    if (b->rank >= RANK_MAX || p->ntensors + 1 >= TENSORS_MAX) return tensor;
    int v = p->ntensors++;
    Tensor *view = &p->tensor[v];
    *view = *b;
    snprintf(view->name, sizeof view->name, "v%d", v);
    view->base = tensor;
    bool drop = rng_odds(&g->rng, 40);
    int to = 0;
    if (drop) {
        view->dim[0] = -1;
        view->start[0] = x_num(g, rng_in(&g->rng, 0, 1));
        b->extent[0] = new_extent(g, 2);
        to = 1;
    }
    for (int d = 0; d < view->rank; d++) {
        int64_t unit = d == view->rank - 1 ? 16 / type_size(b->type) : 1, room = unit * rng_in(&g->rng, 0, 3);
        int64_t at = unit * rng_in(&g->rng, 0, room / unit);
        view->dim[d + to] = d;
        view->start[d + to] = x_num(g, at);
        b->extent[d + to] = new_extent(g, extent_value(p, view, d) + room);
    }
    b->rank += to;
    emit(g, S_VIEW)->ref = v;
    return v;
}

static void give_map(Gen *g, const Shape *s, const Place *l, int n, int tensor, const char **via)
{
    int64_t row = s->dim[s->rank - 1].n * type_size(s->type);
    for (int d = 0; d < n; d++)
        if ((l[d].sub.kind != SUB_AT && l[d].sub.kind != SUB_SPAN && l[d].sub.kind != SUB_ALL) || l[d].sub.by > 1)
            return;
    if (s->swizzle ? row != s->swizzle : s->dim[s->rank - 1].n > 256) return;
    Stmt *m = emit(g, S_MAP);
    m->ref = g->maps++;
    m->src.ref = tensor;
    for (int d = 0; d < n; d++) m->box[d] = l[d].sub.kind == SUB_AT ? 1 : l[d].sub.n ? l[d].sub.n : l[d].natural;
    m->text = s->swizzle ? keep_text(g->p, " swizzle %d", s->swizzle) : rng_odds(&g->rng, 30) ? " l2 128" : "";
    *via = keep_text(g->p, " via m%d", m->ref);
}

static int lay_out(Gen *g, const Shape *s, Use use, Place *l)
{
    int left[AXES_MAX], nleft = 0, n = 0;
    bool reads = use == USE_READ || use == USE_SAME, rows = false;
    for (int a = 0; a < g->naxes; a++)
        if (!along(s, a) && (use == USE_WRITE || (use == USE_REDUCE && rng_odds(&g->rng, 50)))) left[nleft++] = a;
    int extra = reads && s->rank < RANK_MAX && rng_odds(&g->rng, 40) ? 1 : 0;
    for (int d = 0; d < s->rank; d++) {
        while (nleft && s->rank - d + nleft + n <= RANK_MAX && rng_odds(&g->rng, 40))
            l[n++] = plain_place(g, left[--nleft], use);
        if (extra && rng_odds(&g->rng, 50)) l[n++] = plain_place(g, -1, use), extra = 0;
        bool inner = d == s->rank - 1;
        if (inner)
            while (nleft) l[n++] = plain_place(g, left[--nleft], use);
        int merged = s->dim[d].axis < 0 && nleft && rng_odds(&g->rng, 30) ? left[--nleft] : -1;
        l[n] = span_place(g, &s->dim[d], 16 / type_size(s->type), inner, use, merged);
        Place *q = &l[n++];
        if (inner || rows || s->swizzle || g->hand || q->sub.kind != SUB_SPAN || q->sub.by != 1 || merged >= 0)
            continue;
        const Axis *a = s->dim[d].axis >= 0 ? &g->axis[s->dim[d].axis] : NULL;
        bool list = !a || use != USE_WRITE;
        if (rng_odds(&g->rng, 12) && q->sub.n <= 32 && (a || use != USE_WRITE)) {
            q->sub.at = a && !(use == USE_SAME && !a->uniform) ? x_scaled(g, a->index, a->step, 0) : x_num(g, 0);
            make_rows(g, q, q->sub.n, a ? a->count * a->step : q->sub.n, use);
            q->bound = NULL;
            rows = true;
        } else if (list && reads && q->sub.n <= LIST_MAX && rng_odds(&g->rng, 6)) {
            make_list(g, q, q->sub.n, use);
            q->bound = NULL;
            rows = true;
        }
    }
    return n;
}

Region region_of(Gen *g, const Shape *s, Use use, const char **via)
{
    Place l[RANK_MAX + 1];
    int n = lay_out(g, s, use, l);
    bool reads = use == USE_READ || use == USE_SAME;
    int t = new_tensor(g, s->type, n, s->small);
    Tensor *x = &g->p->tensor[t];
    int64_t most = 65536;
    Region r = {.ref = t, .nsubs = n};
    bool plain = n == s->rank && rng_odds(&g->rng, 50), all = n == s->rank;
    for (int d = n; d-- > 0;) {
        x->extent[d] = place_extent(g, &l[d], most);
        if (extent_value(g->p, x, d)) most /= extent_value(g->p, x, d);
        r.sub[d] = l[d].sub;
        if (l[d].sub.kind != SUB_SPAN || l[d].sub.by != 1) plain = false;
        if (l[d].sub.kind != SUB_ALL) all = false;
    }
    if (all) r.nsubs = 0;
    for (int d = 0; plain && d < n; d++) r.sub[d].kind = SUB_AT;
    x->written = !reads;
    bool trusted = false; /* a view hides what `trust` says */
    for (int d = 0; d < n; d++) trusted |= !reads && l[d].sub.kind == SUB_ROWS;
    if (!trusted && rng_odds(&g->rng, 12)) r.ref = make_view(g, t);
    fill_data(g, t);
    g->p->tensor[t].data = keep(g->p, (size_t)tensor_elements(g->p, &g->p->tensor[t]) * 8);
    *via = "";
    if (!s->swizzle && rng_odds(&g->rng, 25)) *via = " via bulk";
    else if (rng_odds(&g->rng, 15)) give_map(g, s, l, n, r.ref, via);
    return r;
}
