/* Operands of moves: tensors, views, tiles, arrays of tiles, barriers, and their subscripts. */
#include <string.h>

#include "frontend/check/check.h"

void not_yet(Env *e, Span span, NotYet what)
{
    const NotYetInfo *n = not_yet_info(what);
    diag_at(e->c->diags, n->code, span, "%s %s not supported yet", n->what, n->verb);
}

static const Entity *operand(Env *e, const Expr *x, const char *what)
{
    if (x->kind == EX_PEER) {
        Diag *g = diag_at(e->c->diags, E0306, x->span, "`peer(..)` is not %s of this CTA", what);
        diag_fix(e->c->diags, g, "a part of a peer's tile, one of its barriers: peer(t[..], rank)");
        return NULL;
    }
    if (x->kind == EX_ERROR) return NULL;
    if (x->kind != EX_NAME) {
        const Entity *called = x->kind == EX_CALL ? env_find(e, x->id.name) : NULL;
        if (computes_with_data(e, x)) return NULL;
        Diag *g = diag_at(e->c->diags, E0306, x->span, "this is not %s", what);
        if (called && (called->kind == ENT_TENSOR || called->kind == ENT_TILE)) diag_fix(e->c->diags, g, "subscripts stand in brackets: `%s[..]`", name_of(e, x->id.name));
        return NULL;
    }
    const Entity *ent = env_find(e, x->id.name);
    if (!ent) {
        unknown_name(e, x->id, "name");
        return NULL;
    }
    return ent->kind == ENT_BAD ? NULL : ent;
}

static void wrong_operand(Env *e, const Expr *x, const Entity *ent, const char *what)
{
    Diag *g = diag_at(e->c->diags, E0306, x->span, "`%s` is not %s", name_of(e, ent->name), what);
    if (ent->span.hi) diag_label(e->c->diags, g, ent->span, "declared here");
}

/* ---- one subscript ---- */

static bool step(Env *e, const Expr *x, int64_t *out)
{
    int64_t most = e->in_tmem ? 32 : 8;
    if (!constant(e, x, INT64_MIN, INT64_MAX, "the step", out)) return false;
    if (*out >= 1 && *out <= most) return true;
    diag_at(e->c->diags, E0513, x->span, "the step is %lld; it must be 1 to %lld", (long long)*out, (long long)most);
    return false;
}

static bool subscript(Env *e, const Sub *s, PDim *d)
{
    d->span = s->span;
    d->step = 1;
    if (is_index_rows(s)) return index_rows(e, s, d);
    switch (s->kind) {
    case SUB_AT:
        d->extent = 1;
        return (d->start = scalar(e, s->a)) != NULL;
    case SUB_ALL:
        d->marked = d->whole = true;
        d->start = sx_const(e, 0, s->span);
        return true;
    case SUB_SPAN:
        d->marked = true;
        d->start = scalar(e, s->a);
        if (e->in_view) d->count = scalar(e, s->b);
        if (e->in_view ? !d->count : !constant(e, s->b, 1, 1 << 24, "the extent of the region", &d->extent)) return false;
        if (s->c && !step(e, s->c, &d->step)) return false;
        return d->start != NULL;
    case SUB_ROWS: break;
    }
    return false;
}

static bool subscripts(Env *e, const Expr *x, int rank, Name name, Span declared, PRegion *r)
{
    if (x->subs.n != (uint32_t)rank) {
        Diag *g = diag_at(e->c->diags, E0311, x->span, "%u subscript%s for `%s`, which has rank %d", x->subs.n,
                          x->subs.n == 1 ? "" : "s", name_of(e, name), rank);
        diag_label(e->c->diags, g, declared, "declared here");
        return false;
    }
    bool ok = true, marked = false;
    const Sub *rows = NULL;
    r->dim = arena_array(e->c->scratch, PDim, (size_t)rank);
    for (const Sub *s = x->subs.first; s; s = s->next) {
        PDim *d = &r->dim[r->rank++];
        ok = subscript(e, s, d) && ok;
        marked = marked || d->marked;
        if (!is_index_rows(s)) continue;
        if (rows) {
            Diag *g = diag_at(e->c->diags, E0511, s->span, "rows by index in a second dimension");
            diag_label(e->c->diags, g, rows->span, "the first one");
            ok = false;
        }
        rows = s;
    }
    if (!marked) /* all plain: starts; the extents come from the tile */
        for (int d = 0; d < r->rank; d++) {
            r->dim[d].marked = true;
            r->dim[d].extent = 0;
        }
    return ok;
}

static void whole(Env *e, int rank, Span span, PRegion *r)
{
    r->rank = rank;
    r->dim = arena_array(e->c->scratch, PDim, (size_t)rank);
    for (int d = 0; d < rank; d++)
        r->dim[d] = (PDim){.start = sx_const(e, 0, span), .step = 1, .marked = true, .whole = true, .span = span};
}

/* ---- tiles ---- */

static bool tile_bounds(Env *e, PRegion *r)
{
    PTile *t = r->tile;
    for (int d = 0; d < r->rank; d++) {
        PDim *dim = &r->dim[d];
        int64_t k;
        if (dim->whole) dim->extent = t->extent[d];
        if (dim->rows) {
            Diag *g = diag_at(e->c->diags, E0511, dim->span, "rows by index of a shared tile");
            diag_label(e->c->diags, g, t->span, "`%s` is a tile", name_of(e, t->name));
            diag_fix(e->c->diags, g, "pick them in global memory, on the other side of the move");
            return false;
        }
        if (dim->extent == 0) {
            Diag *g = diag_at(e->c->diags, E0320, dim->span, "the extent of this part of `%s` is not given",
                              name_of(e, t->name));
            diag_fix(e->c->diags, g, "write `start +: extent`");
            return false;
        }
        bool known = sx_is_const(dim->start, &k);
        int64_t reach = t->tensor && d == 0 ? tmem_reach_of(dim) : (dim->extent - 1) * dim->step + 1;
        if ((known && (k < 0 || k > t->extent[d] - reach)) || reach > t->extent[d]) {
            Diag *g;
            int64_t last = known && k <= INT64_MAX - reach ? k + reach - 1 : INT64_MAX;
            if (known && dim->step != 1)
                g = diag_at(e->c->diags, E0508, dim->span, "elements %lld to %lld, %lld apart, of a dimension of %lld", (long long)k,
                            (long long)last, (long long)dim->step, (long long)t->extent[d]);
            else if (known)
                g = diag_at(e->c->diags, E0508, dim->span, "elements %lld to %lld of a dimension of %lld", (long long)k,
                            (long long)last, (long long)t->extent[d]);
            else
                g = diag_at(e->c->diags, E0508, dim->span, "%lld elements of a dimension of %lld", (long long)dim->extent,
                            (long long)t->extent[d]);
            diag_label(e->c->diags, g, t->span, "`%s` is %s", name_of(e, t->name), shape_text(e, t->rank, t->extent));
            return false;
        }
    }
    return !t->tensor || tmem_region(e, r);
}

bool no_steps(Env *e, const PRegion *r)
{
    for (int d = 0; r->tile && !r->tile->tensor && d < r->rank; d++) {
        if (r->dim[d].step == 1) continue;
        not_yet(e, r->dim[d].span, NY_STEP_IN_TILE);
        return false;
    }
    return true;
}

static bool slot_of(Env *e, const Expr *x, int64_t slots, Name name, Span declared, const Sx **slot)
{
    int64_t k;
    if (x->subs.n != 1 || x->subs.first->kind != SUB_AT) {
        diag_at(e->c->diags, E0306, x->span, "the first bracket picks one of the array: `%s[k]`", name_of(e, name));
        return false;
    }
    if (!(*slot = scalar(e, x->subs.first->a))) return false;
    if (sx_is_const(*slot, &k) && (k < 0 || k >= slots)) {
        Diag *g = diag_at(e->c->diags, E0508, x->subs.first->span, "number %lld of an array of %lld", (long long)k,
                          (long long)slots);
        diag_label(e->c->diags, g, declared, "`%s` is declared here", name_of(e, name));
        return false;
    }
    return true;
}

static bool tile_region(Env *e, const Expr *x, const Expr *slot, PTile *t, PRegion *r)
{
    r->tile = t;
    if (t->is_array) {
        if (!slot) {
            Diag *g = diag_at(e->c->diags, E0306, r->span, "`%s` is an array of %lld tiles", name_of(e, t->name),
                              (long long)t->slots);
            diag_fix(e->c->diags, g, "pick one: `%s[0]`", name_of(e, t->name));
            diag_label(e->c->diags, g, t->span, "each of %s%s", shape_text(e, t->rank, t->extent), t->rank == 1 ? "; one tile of two dimensions is `[m, n]`" : "");
            return false;
        }
        if (!slot_of(e, slot, t->slots, t->name, t->span, &r->slot)) return false;
    }
    if (x) {
        e->in_tmem = t->tensor;
        bool ok = subscripts(e, x, t->rank, t->name, t->span, r);
        e->in_tmem = false;
        if (!ok) return false;
    } else {
        whole(e, t->rank, r->span, r);
    }
    return tile_bounds(e, r);
}

static bool one_tile(Env *e, const Expr *x, const Entity *ent)
{
    Diag *g = diag_at(e->c->diags, E0306, x->span, "`%s` is one tile, not an array of tiles", name_of(e, ent->name));
    diag_label(e->c->diags, g, ent->span, "declared here");
    return false;
}

/* ---- peers ---- */

/* The operand of `peer(.., rank)`; NULL after an error. */
static const Sx *peer_rank(Env *e, const Expr *x)
{
    const PKernel *k = e->kernel;
    const Sx *rank = scalar(e, x->rhs);
    if (!rank || k->cluster_span.hi) return rank;
    Diag *g = diag_at(e->c->diags, E0533, x->span, "`peer` in a kernel without a cluster");
    diag_fix(e->c->diags, g, "add `cluster (2)` to the kernel");
    return NULL;
}

static bool peer_region(Env *e, const Expr *x, PRegion *r)
{
    bool ok = region(e, x->lhs, r);
    const Sx *rank = peer_rank(e, x);
    if (!ok) return false;
    r->span = x->span;
    if (r->tensor || r->peer || r->tile->tensor) {
        Diag *g = diag_at(e->c->diags, E0306, x->span, "`peer` takes a shared tile or a barrier");
        if (r->tile && r->tile->tensor) diag_label(e->c->diags, g, r->tile->span, "`%s` is in tensor memory, which only its own CTA reaches", name_of(e, r->tile->name));
        if (r->tensor) diag_label(e->c->diags, g, r->tensor->span, "`%s` is in global memory, which all CTAs share", name_of(e, r->tensor->name));
        return false;
    }
    return (r->peer = rank) != NULL;
}

bool region(Env *e, const Expr *x, PRegion *r)
{
    memset(r, 0, sizeof *r);
    r->span = x->span;
    if (x->kind == EX_PEER) return peer_region(e, x, r);
    /* base, base[..], base[slot][..] */
    const Expr *inner = x, *outer = NULL;
    while (inner->kind == EX_INDEX && inner->base->kind == EX_INDEX) {
        if (outer) {
            diag_at(e->c->diags, E0306, x->span, "a region has one bracket, two for an array of tiles");
            return false;
        }
        outer = inner;
        inner = inner->base;
    }
    const Entity *ent = operand(e, inner->kind == EX_INDEX ? inner->base : inner, "a tensor or tile");
    if (!ent) return false;
    const Expr *first = inner->kind == EX_INDEX ? inner : NULL;
    if (ent->kind == ENT_TILE && e->in_view) {
        Diag *g = diag_at(e->c->diags, E0306, x->span, "a view is a part of a global tensor; a part of a tile is written where it is used");
        diag_label(e->c->diags, g, ent->span, "`%s` is a shared tile", name_of(e, ent->name));
        return false;
    }
    if (ent->kind == ENT_TILE)
        return ent->tile->is_array ? tile_region(e, outer, first, ent->tile, r)
               : outer             ? one_tile(e, x, ent)
                                   : tile_region(e, first, NULL, ent->tile, r);
    if (ent->kind != ENT_TENSOR) {
        wrong_operand(e, x, ent, "a tensor or tile");
        return false;
    }
    if (outer) {
        Diag *g = diag_at(e->c->diags, E0306, x->span, "`%s` is one tensor, not an array of tiles", name_of(e, ent->name));
        diag_label(e->c->diags, g, ent->span, "declared here");
        diag_fix(e->c->diags, g, "all subscripts stand in one bracket: `%s[a, b]`", name_of(e, ent->name));
        return false;
    }
    r->tensor = ent->tensor;
    if (first) return subscripts(e, first, ent->tensor->rank, ent->name, ent->span, r);
    whole(e, ent->tensor->rank, x->span, r);
    return true;
}

PBarrier *barrier_ref(Env *e, const Expr *x, const Sx **slot, const Sx **peer)
{
    *slot = NULL;
    if (peer) *peer = NULL;
    if (peer && x->kind == EX_PEER) {
        const Sx *rank = peer_rank(e, x);
        PBarrier *b = barrier_ref(e, x->lhs, slot, NULL);
        *peer = rank;
        return rank ? b : NULL;
    }
    const Expr *base = x->kind == EX_INDEX ? x->base : x;
    const Entity *ent = operand(e, base, "a barrier");
    if (!ent) return NULL;
    if (ent->kind != ENT_BARRIER) {
        wrong_operand(e, base, ent, "a barrier");
        return NULL;
    }
    PBarrier *b = ent->barrier;
    if (b->is_array != (x->kind == EX_INDEX)) {
        Diag *g = diag_at(e->c->diags, E0306, x->span, b->is_array ? "`%s` is an array of barriers" : "`%s` is one barrier",
                          name_of(e, b->name));
        diag_label(e->c->diags, g, b->span, "declared here");
        if (b->is_array) diag_fix(e->c->diags, g, "pick one: `%s[0]`", name_of(e, b->name));
        return NULL;
    }
    if (b->is_array && !slot_of(e, x, b->slots, b->name, b->span, slot)) return NULL;
    return b;
}

/* ---- views ---- */

static const char inside[] = "a view lies inside its tensor";

/* Constants are looked at, and sizes are bound by tensors. */
static bool never_negative(const Env *e, const Sx *x)
{
    return x->op == SX_CONST || (x->op == SX_SYM && e->kernel->syms.v[x->k].kind == MF_SIZE);
}

/* A dimension of a view that is known at launch: start >= 0 and start + extent <= the tensor's extent, at launch where it is
 * not a constant. */
static bool view_dim(Env *e, const PTensor *from, int d, const PDim *p, const Sx **extent)
{
    if (p->count && !never_negative(e, p->count))
        vec_push(e->c->scratch, &e->kernel->facts,
                 ((PFact){sx_op(e, SX_GE, p->count, sx_const(e, 0, p->span), p->span), p->span, inside}));
    *extent = p->whole ? from->extent[d] : p->count ? p->count : sx_const(e, p->extent, p->span);
    const Sx *zero = sx_const(e, 0, p->span);
    const Sx *end = sx_op(e, SX_ADD, p->start, *extent, p->span);
    int64_t ks, ke, kx;
    bool cs = sx_is_const(p->start, &ks), cx = sx_is_const(from->extent[d], &kx), ce = end && sx_is_const(end, &ke);
    if (!end) return false;
    if ((cs && ks < 0) || (cs && ce && cx && ke > kx)) {
        Diag *g = ks < 0 ? diag_at(e->c->diags, E0512, p->span, "the view starts at %lld", (long long)ks)
                         : diag_at(e->c->diags, E0512, p->span, "the view ends at %lld in a dimension of %lld", (long long)ke,
                                   (long long)kx);
        diag_label(e->c->diags, g, from->span, "`%s` is declared here", name_of(e, from->name));
        return false;
    }
    if (!cs) vec_push(e->c->scratch, &e->kernel->facts, ((PFact){sx_op(e, SX_GE, p->start, zero, p->span), p->span, inside}));
    if (!p->whole && !(ce && cx))
        vec_push(e->c->scratch, &e->kernel->facts, ((PFact){sx_op(e, SX_LE, end, from->extent[d], p->span), p->span, inside}));
    return true;
}

static bool view_syntax(Env *e, const PDim *p)
{
    int64_t count;
    if (p->step != 1) {
        Diag *g = diag_at(e->c->diags, E0513, p->span, "a view has no step; here it is %lld", (long long)p->step);
        diag_fix(e->c->diags, g, "leave `by` out here and write it where the view is moved");
        return false;
    }
    if (!sx_is_const(p->count, &count) || count >= 1) return true;
    Diag *g = diag_at(e->c->diags, E0308, p->count->span, "this view's extent is %lld; a constant one must be at least 1", (long long)count);
    diag_fix(e->c->diags, g, "declare the view, and move it, in an `if` that leaves this case out");
    return false;
}

/* A view with bounds of its own over the memory of `from`. */
static bool view_bounds(Env *e, const Stmt *s, PRegion *r, PTensor *v)
{
    PTensor *from = r->tensor;
    const Sx *offset = from->base ? from->offset : sx_const(e, 0, s->span), *present = NULL;
    v->base = from->base ? from->base : from;
    v->reshaped = from->reshaped;
    v->run_time = from->run_time;
    memcpy(v->place, from->place, sizeof v->place);
    for (int d = 0; d < v->base->rank; d++) v->start[d] = from->base ? from->start[d] : sx_const(e, 0, s->span);
    for (int d = 0; d < r->rank; d++) {
        PDim *p = &r->dim[d];
        const Sx *start = p->start, *extent;
        bool known = view_dim_known(from, d, p);
        if (!view_syntax(e, p)) return false;
        if (!(known ? view_dim(e, from, d, p, &extent) : view_dim_cut(e, s, from, d, p, v, &start, &extent))) return false;
        const Sx *at = sx_op(e, SX_MUL, start, from->stride[d], p->span);
        offset = at ? sx_op(e, SX_ADD, offset, at, p->span) : NULL;
        if (!offset) return false;
        int bd = from->base ? from->dim_of[d] : d;
        if (!v->reshaped && !(v->start[bd] = sx_op(e, SX_ADD, v->start[bd], start, p->span))) return false;
        if (!p->marked) {
            if (!known) present = present ? sx_op(e, SX_MUL, present, extent, p->span) : extent; /* 0 or 1 */
            continue;
        }
        v->dim_of[v->rank] = (int8_t)bd;
        v->extent[v->rank] = extent;
        v->stride[v->rank++] = from->stride[d];
    }
    if (present) v->extent[0] = view_keep(e, s, "extent", sx_op(e, SX_MUL, v->extent[0], present, s->span));
    v->offset = view_keep(e, s, "offset", offset);
    v->strided = true;
    return v->offset && v->extent[0];
}

static bool contiguous(Env *e, const PTensor *t)
{
    int64_t k;
    if (!t->strided) return true;
    if (!sx_is_const(t->stride[t->rank - 1], &k) || k != 1) return false;
    for (int d = t->rank - 1; d > 0; d--) {
        const Sx *rows = sx_op(e, SX_MUL, t->stride[d], t->extent[d], t->span);
        if (!rows || !sx_same(rows, t->stride[d - 1])) return false;
    }
    return true;
}

/* `view v = x : T[..]`: the same contiguous memory with another shape. */
static PTensor *view_shape(Env *e, const Stmt *s, PTensor *from)
{
    if (s->view.type->stride.n) {
        diag_at(e->c->diags, E0306, s->view.type->stride_span, "a view with a type is contiguous: it has no strides");
        return NULL;
    }
    e->in_view = true;
    PTensor *v = tensor_param(e, s->id, s->view.type, NULL, s->span);
    e->in_view = false;
    if (!v) return NULL;
    v->index = from->index;
    if (!contiguous(e, from)) {
        Diag *g = diag_at(e->c->diags, E0306, s->view.src->span, "a view with a type needs contiguous memory");
        const PTensor *whole = from->name == s->id.name ? from->base : from; /* the part of it that is given another shape has no name */
        diag_label(e->c->diags, g, whole->span, whole == from ? "`%s` has strides" : "a part of `%s` has gaps", name_of(e, whole->name));
        return NULL;
    }
    if (elem_info(v->type)->global_bits != elem_info(from->type)->global_bits) {
        Diag *g = diag_at(e->c->diags, E0305, s->view.type->elem.span, "elements of %s and of %s differ in size",
                          elem_info(v->type)->name, elem_info(from->type)->name);
        diag_label(e->c->diags, g, from->span, "`%s` is declared here", name_of(e, from->name));
        diag_fix(e->c->diags, g, "give it a type of %d bits", elem_info(from->type)->global_bits);
        return NULL;
    }
    const Sx *n = sx_const(e, 1, s->span), *m = n;
    for (int d = 0; n && d < v->rank; d++) n = sx_op(e, SX_MUL, n, v->extent[d], s->span);
    for (int d = 0; m && d < from->rank; d++) m = sx_op(e, SX_MUL, m, from->extent[d], s->span);
    int64_t kn, km;
    if (!n || !m) return NULL;
    v->base = from->base ? from->base : from;
    v->offset = from->base ? from->offset : sx_const(e, 0, s->span);
    v->reshaped = true;
    v->run_time = from->run_time || !n->launch;
    if (v->run_time) {
        memcpy(v->place, from->place, sizeof v->place);
        return view_shape_cut(e, s, v, m) ? v : NULL;
    }
    if (sx_is_const(n, &kn) && sx_is_const(m, &km)) {
        if (kn > km) {
            diag_at(e->c->diags, E0512, s->view.type->span, "the view has %lld elements, the tensor %lld", (long long)kn,
                    (long long)km);
            return NULL;
        }
    } else if (!sx_same(n, m)) {
        vec_push(e->c->scratch, &e->kernel->facts, ((PFact){sx_op(e, SX_LE, n, m, s->span), s->view.type->span, inside}));
    }
    return v;
}

PTensor *view_of(Env *e, const Stmt *s)
{
    PRegion r;
    e->in_view = true;
    bool ok = region(e, s->view.src, &r);
    e->in_view = false;
    if (!ok) return NULL;
    if (s->view.type && s->view.src->kind == EX_NAME) {
        PTensor *v = view_shape(e, s, r.tensor);
        if (v && v->run_time) view_made(e, s, v);
        return v;
    }
    bool any = false;
    for (int d = 0; d < r.rank; d++) any = any || r.dim[d].count || r.dim[d].whole;
    if (!any) {
        Diag *g = diag_at(e->c->diags, E0320, s->view.src->span, "the extents of the view are not given");
        diag_fix(e->c->diags, g, "mark them: `start +: extent`, or `:` for a whole dimension");
        return NULL;
    }
    PTensor *v = arena_new(e->c->scratch, PTensor);
    v->name = s->id.name;
    v->span = s->id.span;
    v->type = r.tensor->type;
    v->index = r.tensor->index;
    if (!view_bounds(e, s, &r, v)) return NULL;
    if (s->view.type) v = view_shape(e, s, v);
    if (v && v->run_time) view_made(e, s, v);
    return v;
}
