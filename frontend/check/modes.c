/* Load modes: im2col maps and those of four rows by index; what their declarations must say, and what moves through them
 * look like. The numbers themselves are lang/map_rules' business. */
#include <string.h>

#include "frontend/check/check.h"

static const char *mode_name(MapMode m) { return map_mode(m)->word; }

/* ---- declarations ---- */

static const char *option_name(MapOptKind k)
{
    static const char *const names[] = {
        [MO_WORD] = "mode",         [MO_BOX] = "box",      [MO_STRIDE] = "stride",
        [MO_LOWER] = "lower",       [MO_UPPER] = "upper",  [MO_SWIZZLE] = "swizzle",
        [MO_FILL] = "fill",         [MO_L2] = "l2",        [MO_INTERLEAVE] = "interleave",
        [MO_CHANNELS] = "channels", [MO_PIXELS] = "pixels"};
    return names[k];
}

#define BIT(kind) (1u << (kind))

static unsigned needed(MapMode m)
{
    if (!map_is_im2col(m)) return BIT(MO_BOX);
    return BIT(MO_LOWER) | BIT(MO_UPPER) | BIT(MO_CHANNELS) | (map_mode(m)->pixels ? 0 : BIT(MO_PIXELS));
}

static unsigned allowed(MapMode m)
{
    unsigned all = needed(m) | BIT(MO_WORD) | BIT(MO_SWIZZLE) | BIT(MO_FILL) | BIT(MO_L2) | BIT(MO_INTERLEAVE);
    return map_is_rows4(m) ? all : all | BIT(MO_STRIDE);
}

static const char *form_of(MapMode m)
{
    switch (m) {
    case MAP_IM2COL: return "im2col lower (..) upper (..) channels c pixels p";
    case MAP_IM2COL_W: return "im2col_w lower (w) upper (w) channels c pixels p";
    case MAP_IM2COL_W128: return "im2col_w128 lower (w) upper (w) channels c";
    default: return m == MAP_GATHER4 ? "gather4 box [4, c]" : "scatter4 box [4, c]";
    }
}

bool mode_options(Env *e, const Stmt *s, const PMap *m)
{
    bool ok = true;
    unsigned has = 0;
    for (const MapOpt *o = s->map.opts.first; o; o = o->next) {
        has |= BIT(o->kind);
        if (allowed(m->mode) & BIT(o->kind)) continue;
        Diag *g;
        if (m->mode == MAP_TILED) {
            g = diag_at(e->c->diags, E0464, o->span, "this option belongs to im2col maps");
            diag_label(e->c->diags, g, m->span, "`%s` has a box", name_of(e, m->name));
        } else {
            g = diag_at(e->c->diags, E0464, o->span, "%s maps have no `%s`", mode_name(m->mode), option_name(o->kind));
            diag_fix(e->c->diags, g, "%s", form_of(m->mode));
        }
        ok = false;
    }
    unsigned missing = needed(m->mode) & ~has;
    for (int k = 0; missing && m->mode != MAP_TILED && k <= MO_PIXELS; k++) {
        if (!(missing & BIT(k))) continue;
        Diag *g = diag_at(e->c->diags, E0464, s->span, "%s maps need `%s`", mode_name(m->mode),
                          option_name((MapOptKind)k));
        diag_fix(e->c->diags, g, "%s", form_of(m->mode));
        missing = 0;
        ok = false;
    }
    return ok;
}

/* A corner has a number per spatial dimension; those of the w modes have W alone. */
bool mode_corner(Env *e, const MapOpt *o, const PMap *m, int64_t out[3])
{
    int spatial = map_spatial(m->tensor->rank, m->interleave);
    uint32_t n = m->mode == MAP_IM2COL && spatial > 1 ? (uint32_t)spatial : 1;
    const char *what = option_name(o->kind);
    bool ok = true;
    int d = 0;
    if (m->mode != MAP_TILED && o->exprs.n != n) {
        Diag *g = diag_at(e->c->diags, E0311, o->span, "%u number%s in `%s` of an %s map of rank %d", o->exprs.n,
                          o->exprs.n == 1 ? "" : "s", what, mode_name(m->mode), spatial + 2);
        diag_label(e->c->diags, g, m->tensor->span, "declared here");
        diag_fix(e->c->diags, g, n == 3 ? "%s (d, h, w)" : n == 2 ? "%s (h, w)" : "%s (w)", what);
        return false;
    }
    what = arena_printf(e->c->scratch, "a number in `%s`", what);
    for (const Expr *x = o->exprs.first; x && d < 3; x = x->next)
        ok = constant(e, x, -MAP_NUMBER_MAX, MAP_NUMBER_MAX, what, &out[d++]) && ok;
    return ok;
}

/* ---- clauses ---- */

bool offset_clause(Env *e, const Clause *c, PMove *m)
{
    bool ok = true;
    int n = 0;
    m->offset_span = c->span;
    for (const Expr *x = c->exprs.first; x; x = x->next) {
        const Sx *v = scalar(e, x);
        ok = v != NULL && ok;
        if (n < 3) m->offset[n] = v;
        n++;
    }
    m->noffset = n;
    return ok;
}

bool halo_clause(Env *e, const Clause *c, PMove *m)
{
    m->halo_span = c->span;
    if (c->exprs.n != 2) {
        Diag *g = diag_at(e->c->diags, E0469, c->span, "%u number%s in `halo`", c->exprs.n, c->exprs.n == 1 ? "" : "s");
        diag_fix(e->c->diags, g, "halo (wHalo, wOffset)");
        return false;
    }
    const Expr *x = c->exprs.first;
    m->halo[0] = scalar(e, x);
    m->halo[1] = scalar(e, x->next);
    m->halo_at[0] = x->span;
    m->halo_at[1] = x->next->span;
    return m->halo[0] && m->halo[1];
}

static void is_of_mode(Env *e, Diag *g, const PMove *m)
{
    if (m->map)
        diag_label(e->c->diags, g, m->map->span, "`%s` is %s map", name_of(e, m->map->name),
                   m->map->mode == MAP_TILED   ? "a tile-mode"
                   : map_is_im2col(m->map->mode) ? arena_printf(e->c->scratch, "an %s", mode_name(m->map->mode))
                                               : arena_printf(e->c->scratch, "a %s", mode_name(m->map->mode)));
}

/* `offset` and `halo` have a map that they belong to. */
bool mode_clauses(Env *e, const PMove *m)
{
    Diag *g;
    MapMode mode = m->map ? m->map->mode : MAP_TILED;
    if (m->offset_span.hi && mode != MAP_IM2COL) {
        g = diag_at(e->c->diags, E0469, m->offset_span, "`offset` belongs to moves through im2col maps");
        is_of_mode(e, g, m);
        if (map_is_wide(mode)) diag_fix(e->c->diags, g, "halo (wHalo, wOffset)");
        return false;
    }
    if (m->halo_span.hi && !map_is_wide(mode)) {
        g = diag_at(e->c->diags, E0469, m->halo_span, "`halo` belongs to moves through im2col_w and im2col_w128 maps");
        is_of_mode(e, g, m);
        if (mode == MAP_IM2COL) diag_fix(e->c->diags, g, "offset (..), one number per spatial dimension");
        return false;
    }
    int n = m->map ? map_spatial(m->map->tensor->rank, m->map->interleave) : 0;
    if (!m->offset_span.hi || m->noffset == n) return true;
    g = diag_at(e->c->diags, E0469, m->offset_span, "%d number%s in `offset`, the tensor has %d spatial dimension%s",
                m->noffset, m->noffset == 1 ? "" : "s", n, n == 1 ? "" : "s");
    diag_label(e->c->diags, g, m->map->tensor->span, "declared here");
    diag_fix(e->c->diags, g, n == 3 ? "offset (d, h, w)" : n == 2 ? "offset (h, w)" : "offset (w)");
    return false;
}

/* ---- moves ---- */

bool mode_direction(Env *e, const PMove *m)
{
    MapMode mode = m->map->mode;
    const MapModeInfo *i = map_mode(mode);
    bool stores = m->kind == MOVE_STORE;
    InstrForm form = !stores ? i->load[LOAD_CTA] : m->reduce < 0 ? i->store : i->reduce;
    if (form != FORM_COUNT) return true;
    Diag *g = diag_at(e->c->diags, E0465, m->via_span, "%s maps %s", mode_name(mode),
                      mode != MAP_SCATTER4 ? "only load"
                      : stores             ? "have no reductions"
                                           : "only store");
    is_of_mode(e, g, m);
    if (mode == MAP_GATHER4 && m->reduce < 0) diag_fix(e->c->diags, g, "declare a scatter4 map of the tensor");
    else if (mode == MAP_SCATTER4 && !stores) diag_fix(e->c->diags, g, "declare a gather4 map of the tensor");
    else if (map_is_rows4(mode)) diag_fix(e->c->diags, g, "via bulk");
    return false;
}

/* Rows of the tile. */
static int64_t pixels_of(const PMap *m, int64_t halo) { return map_pixels(m->mode, m->pixels, halo); }
static int64_t most_halo_of(const PMap *m) { return map_mode(m->mode)->halo_most; }

/* Of a wHalo that is known only at run time the tile says how large it may be. */
static bool halo_of_tile(const PMove *m, int64_t rows, int64_t *halo)
{
    int64_t none = pixels_of(m->map, 0), step = pixels_of(m->map, 1) - none;
    *halo = (rows - none) / step;
    return rows >= none && (rows - none) % step == 0 && *halo <= most_halo_of(m->map);
}

static bool plain_starts(Env *e, const PMove *m, const PRegion *g)
{
    for (int d = 0; d < g->rank; d++) {
        const PDim *p = &g->dim[d];
        if (p->marked && !p->whole && !p->rows && p->extent == 0) continue;
        Diag *x = diag_at(e->c->diags, E0470, g->dim[d].span, "a move through an %s map names where it starts, no part",
                          mode_name(m->map->mode));
        is_of_mode(e, x, m);
        diag_fix(e->c->diags, x, "write a start for each of the %d dimensions: %s", g->rank,
                 m->map->interleave ? "n, slice, .., w, 0" : "n, .., w, c");
        return false;
    }
    return true;
}

/* A number outside of its range is E0446, by lang/map_copy. */
static bool halo_in_range(PMove *m, int64_t *halo)
{
    int64_t most = most_halo_of(m->map);
    *halo = 0;
    bool known = m->halo[0] == NULL || sx_is_const(m->halo[0], halo), in = *halo >= 0 && *halo <= most;
    m->most_halo = known && in ? *halo : most;
    return in;
}

static bool of_shape(Env *e, PMove *m, const PRegion *s)
{
    int64_t halo, have[P_RANK] = {0}, channels = m->map->channels;
    if (!halo_in_range(m, &halo)) return true;
    bool known = m->halo[0] == NULL || sx_is_const(m->halo[0], &halo);
    int n = 0;
    for (int d = 0; d < s->rank; d++)
        if (s->dim[d].marked) have[n++] = s->dim[d].extent;
    int64_t want = pixels_of(m->map, halo), step = pixels_of(m->map, 1) - pixels_of(m->map, 0);
    if (n == 2 && have[1] == channels && (known ? have[0] == want : halo_of_tile(m, have[0], &m->most_halo))) return true;
    const char *more = known ? "" : step == 1 ? " and wHalo more" : " and four times wHalo more";
    Diag *g = diag_at(e->c->diags, n == 2 ? E0462 : E0320, m->via_span, "map `%s` moves %lld pixels%s of %lld channels, the tile is %s",
                      name_of(e, m->map->name), (long long)want, more, (long long)channels, shape_text(e, n, have));
    diag_label(e->c->diags, g, s->span, "the tile");
    diag_label(e->c->diags, g, m->map->span, "the map");
    if (known) diag_fix(e->c->diags, g, "a tile of [%lld, %lld]", (long long)want, (long long)channels);
    else
        diag_fix(e->c->diags, g, "a tile of [%lld + %sh, %lld], h the greatest wHalo, 0 .. %lld", (long long)want,
                 step == 1 ? "" : "4 * ", (long long)channels, (long long)most_halo_of(m->map));
    return false;
}

/* From a base pixel on: which pixels follow is the mode's business, so none of the dimensions is a tile's. Of an interleaved
 * tensor they are all of one slice. */
static bool im2col_part(Env *e, PMove *m, PRegion *g, const PRegion *s)
{
    int64_t halo;
    halo_in_range(m, &halo);
    if (!plain_starts(e, m, g) || (s && !of_shape(e, m, s))) return false;
    for (int d = 0; d < g->rank; d++) {
        g->dim[d].marked = false;
        g->dim[d].open = d < g->rank - 1 && !(d == 1 && m->map->interleave);
        g->dim[d].extent = d < g->rank - 1 ? 1 : m->map->channels;
    }
    return true;
}

static bool rows4_part(Env *e, const PMove *m, PRegion *g, const PRegion *s)
{
    const PDim *r = &g->dim[0], *c = &g->dim[1];
    Diag *x;
    if (g->rank == 2 && m->map->box[0] != 4) {
        x = diag_at(e->c->diags, E0464, m->map->box_span, "a %s map takes four rows at a time, not %lld",
                    mode_name(m->map->mode), (long long)m->map->box[0]);
        diag_fix(e->c->diags, x, "box [4, c]");
        return false;
    }
    if (g->rank == 2 && (!r->rows || !c->marked || c->rows || c->whole || c->step != 1)) {
        const PDim *at = r->rows ? c : r;
        x = diag_at(e->c->diags, E0472, at->span,
                    r->rows ? "the columns are not a start and a number of them" : "no rows by index");
        is_of_mode(e, x, m);
        diag_fix(e->c->diags, x, "x[idx[r +: n], c +: w] or x[{r0, r1, r2, r3}, c +: w]");
        return false;
    }
    int64_t rows = r->extent;
    if (g->rank != 2 || rows % 4 == 0) return true; /* other ranks are no rule of the move's: E0437 */
    x = diag_at(e->c->diags, E0474, r->span, "%lld rows are no multiple of 4", (long long)rows);
    is_of_mode(e, x, m);
    if (s) diag_label(e->c->diags, x, s->span, "the tile");
    diag_fix(e->c->diags, x, "move a multiple of four rows; numbers outside of the tensor stand for no row");
    return false;
}

bool mode_part(Env *e, PMove *m, PRegion *g, const PRegion *s)
{
    if (!m->map || m->map->tensor != g->tensor) return true;
    return map_is_im2col(m->map->mode)  ? im2col_part(e, m, g, s)
           : map_is_rows4(m->map->mode) ? rows4_part(e, m, g, s)
                                      : true;
}
