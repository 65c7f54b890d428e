/* `map` and `policy` declarations. The rules of tensor maps themselves are lang/map_rules; here stands what the
 * declaration must say, and that it says each thing once. */
#include <string.h>

#include "frontend/check/check.h"

static bool shape_list(Env *e, const ExprList *l, int rank, Span span, const char *what, int64_t lo, int64_t hi,
                       int64_t *out, Span declared)
{
    if (l->n != (uint32_t)rank) {
        Diag *g = diag_at(e->c->diags, E0311, span, "%u number%s in `%s` for a tensor of rank %d", l->n, l->n == 1 ? "" : "s", what,
                          rank);
        diag_label(e->c->diags, g, declared, "declared here");
        return false;
    }
    bool ok = true;
    int d = 0;
    const char *entry = arena_printf(e->c->scratch, "a number in `%s`", what);
    for (const Expr *x = l->first; x; x = x->next) ok = constant(e, x, lo, hi, entry, &out[d++]) && ok;
    return ok;
}

static bool mode_word(Env *e, const MapOpt *o, PMap *m)
{
    const char *w = name_of(e, o->id.name);
    int mode = word_find(WORDS_MODE, w);
    if (mode > MAP_TILED) { /* which is what a map is without a word */
        m->mode = (MapMode)mode;
        m->mode_span = o->span;
        return true;
    }
    Diag *g = diag_at(e->c->diags, E0205, o->id.span, "`%s` is no option of a map", w);
    static const char *const all[] = {"gather4", "scatter4", "im2col",     "im2col_w", "im2col_w128", "box",   "stride",
                                      "swizzle", "fill",     "interleave", "l2",       "lower",       "upper", "channels"};
    const char *near = spelling_nearest(w, all, sizeof all / sizeof *all);
    if (near) diag_fix(e->c->diags, g, "did you mean `%s`?", near);
    return false;
}

static bool fill_word(Env *e, const MapOpt *o, PMap *m)
{
    int i = word_find(WORDS_FILL, name_of(e, o->id.name));
    m->fill_span = o->span;
    if (i < 0) {
        Diag *g = diag_at(e->c->diags, E0432, o->id.span, "`fill %s` does not exist", name_of(e, o->id.name));
        diag_fix(e->c->diags, g, "fill zero, or fill nan for floating-point types");
        return false;
    }
    m->fill = strcmp(name_of(e, o->id.name), "nan") == 0 ? MAP_FILL_NAN : MAP_FILL_ZERO;
    return true;
}

static bool l2_bytes(Env *e, const MapOpt *o, PMap *m)
{
    int64_t k;
    if (!constant(e, o->expr, INT64_MIN, INT64_MAX, "the L2 promotion", &k)) return false;
    m->l2 = (int)map_l2(k);
    if (m->l2 != MAP_L2_NONE) return true;
    Diag *g = diag_at(e->c->diags, E0431, o->expr->span, "l2 %lld does not exist", (long long)k);
    diag_fix(e->c->diags, g, "l2 64, 128 or 256 (bytes); leave it out for none");
    return false;
}

static bool option(Env *e, const MapOpt *o, PMap *m)
{
    PTensor *t = m->tensor;
    switch (o->kind) {
    case MO_WORD:
    case MO_INTERLEAVE: return true;
    case MO_BOX:
        m->box_span = o->span;
        return shape_list(e, &o->exprs, t->rank, o->span, "box", -MAP_NUMBER_MAX, MAP_NUMBER_MAX, m->box, t->span);
    case MO_STRIDE:
        m->stride_span = o->span;
        return shape_list(e, &o->exprs, t->rank, o->span, "stride", -MAP_NUMBER_MAX, MAP_NUMBER_MAX, m->elem_stride, t->span);
    case MO_SWIZZLE:
        m->swizzle_span = o->span;
        return swizzle_of(e, o->expr, o->atom, o->flip, o->span, &m->swizzle);
    case MO_FILL: return fill_word(e, o, m);
    case MO_L2: return l2_bytes(e, o, m);
    case MO_LOWER: m->lower_span = o->span; return mode_corner(e, o, m, m->lower);
    case MO_UPPER: m->upper_span = o->span; return mode_corner(e, o, m, m->upper);
    case MO_CHANNELS:
        m->channels_span = o->span;
        return constant(e, o->expr, -MAP_NUMBER_MAX, MAP_NUMBER_MAX, "the number of channels", &m->channels);
    case MO_PIXELS:
        m->pixels_span = o->span;
        return constant(e, o->expr, -MAP_NUMBER_MAX, MAP_NUMBER_MAX, "the number of pixels", &m->pixels);
    }
    return false;
}

PMap *map_decl(Env *e, const Stmt *s)
{
    PRegion r;
    if (!region(e, s->map.src, &r)) return NULL;
    if (!r.tensor || s->map.src->kind != EX_NAME) {
        Diag *g = diag_at(e->c->diags, E0306, s->map.src->span, "a map describes a whole global tensor or view");
        if (r.tile) diag_label(e->c->diags, g, r.tile->span, "`%s` is a shared tile", name_of(e, r.tile->name));
        if (r.tensor) diag_fix(e->c->diags, g, "declare a view of this part and map the view");
        return NULL;
    }
    PMap *m = arena_new(e->c->scratch, PMap);
    m->name = s->id.name;
    m->span = s->id.span;
    m->tensor = r.tensor;
    m->mode = MAP_TILED;
    for (int d = 0; d < P_RANK; d++) m->elem_stride[d] = 1;
    bool ok = true;
    for (const MapOpt *o = s->map.opts.first; o; o = o->next) { /* the others depend on these */
        if (o->kind == MO_WORD && !mode_word(e, o, m)) return NULL;
        if (o->kind != MO_INTERLEAVE) continue;
        m->interleave_span = o->span;
        ok = interleave_of(e, o->expr, &m->interleave) && ok;
    }
    for (const MapOpt *o = s->map.opts.first; o; o = o->next) {
        for (const MapOpt *p = s->map.opts.first; p != o; p = p->next)
            if (p->kind == o->kind) {
                Diag *g = diag_at(e->c->diags, E0110, o->span, "this option stands twice");
                diag_label(e->c->diags, g, p->span, "first here");
                ok = false;
            }
        ok = option(e, o, m) && ok;
    }
    ok = mode_options(e, s, m) && ok;
    if (!m->box_span.hi && m->mode == MAP_TILED) {
        Diag *g = diag_at(e->c->diags, E0464, s->span, "a tile-mode map needs a box");
        diag_fix(e->c->diags, g, "add `box [..]` with %d extent%s", m->tensor->rank, m->tensor->rank == 1 ? "" : "s");
        ok = false;
    }
    if (!ok) return NULL;
    m->index = e->kernel->maps.n;
    vec_push(e->c->scratch, &e->kernel->maps, m);
    return m;
}

/* ---- policies ---- */

static int cache_word(Env *e, Ident id)
{
    int i = word_find(WORDS_CACHE, name_of(e, id.name));
    if (i >= 0) return i;
    size_t n;
    const char *const *words = word_list(WORDS_CACHE, &n);
    Diag *g = diag_at(e->c->diags, E0205, id.span, "`%s` is not a cache priority", name_of(e, id.name));
    const char *near = spelling_nearest(name_of(e, id.name), words, n);
    diag_fix(e->c->diags, g, "%s", near ? near : "evict_first, evict_last, evict_normal or evict_unchanged");
    return -1;
}

static bool once(Env *e, const Stmt *s, const PolicyOpt *o)
{
    for (const PolicyOpt *p = s->policy.opts.first; p != o; p = p->next) {
        if (p->is_else != o->is_else || p->id.name == 0 || (!o->is_else && p->id.name != o->id.name)) continue;
        Diag *g = diag_at(e->c->diags, E0110, o->span, "this option stands twice");
        diag_label(e->c->diags, g, p->span, "first here");
        return false;
    }
    return true;
}

static bool fraction(Env *e, const PolicyOpt *o, PPolicy *p)
{
    if (strcmp(name_of(e, o->id.name), "fraction") != 0) {
        Diag *g = diag_at(e->c->diags, E0205, o->id.span, "`%s` is no option of a policy", name_of(e, o->id.name));
        diag_fix(e->c->diags, g, "fraction 0.5, or else evict_first");
        return false;
    }
    double f = o->expr->kind == EX_FLOAT ? o->expr->f : o->expr->kind == EX_INT && o->expr->i <= 1 ? (double)o->expr->i : -1;
    if (f > 0 && f <= 1) {
        p->fraction = f;
        return true;
    }
    bool number = o->expr->kind == EX_INT || o->expr->kind == EX_FLOAT;
    if (!number) diag_at(e->c->diags, E0318, o->expr->span, "a fraction is written as a plain number above 0 and at most 1; this is an expression");
    else diag_at(e->c->diags, E0318, o->expr->span, "the fraction is %g; it must be above 0 and at most 1", o->expr->kind == EX_INT ? (double)o->expr->i : o->expr->f);
    return false;
}

PPolicy *policy_decl(Env *e, const Stmt *s)
{
    PPolicy *p = arena_new(e->c->scratch, PPolicy);
    p->name = s->id.name;
    p->span = s->id.span;
    p->fraction = 1.0;
    p->secondary = -1;
    p->primary = cache_word(e, s->policy.word);
    bool ok = p->primary >= 0;
    Span otherwise = {0, 0};
    for (const PolicyOpt *o = s->policy.opts.first; o; o = o->next) {
        if (!once(e, s, o)) {
            ok = false;
        } else if (o->is_else) {
            ok = (p->secondary = cache_word(e, o->id)) >= 0 && ok;
            otherwise = o->span;
        } else {
            ok = fraction(e, o, p) && ok;
        }
    }
    if (ok && p->secondary >= 0) { /* PTX ISA, createpolicy: secondary is evict_first or evict_unchanged */
        size_t n;
        const char *w = word_list(WORDS_CACHE, &n)[p->secondary];
        if (strcmp(w, "evict_first") != 0 && strcmp(w, "evict_unchanged") != 0) {
            diag_at(e->c->diags, E0468, otherwise, "`else %s` does not exist", w);
            ok = false;
        }
    }
    if (!ok) return NULL;
    p->index = e->kernel->policies.n;
    vec_push(e->c->scratch, &e->kernel->policies, p);
    return p;
}
