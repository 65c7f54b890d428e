/* Rows of a region by index: `idx[r +: n]` and `{r0, r1, ..}`. */
#include "frontend/check/check.h"

bool is_index_rows(const Sub *s)
{
    if (s->kind == SUB_ROWS) return true;
    const Expr *x = s->kind == SUB_AT ? s->a : NULL;
    if (!x || x->kind != EX_INDEX) return false;
    for (const Sub *i = x->subs.first; i; i = i->next)
        if (i->kind != SUB_AT) return true;
    return false;
}

static bool listed(Env *e, const Sub *s, PRows *r, PDim *d)
{
    const Sx **list = arena_array(e->c->scratch, const Sx *, s->rows.n);
    bool ok = true;
    uint32_t n = 0;
    for (const Expr *x = s->rows.first; x; x = x->next) ok = (list[n++] = scalar(e, x)) != NULL && ok;
    r->list = list;
    d->extent = (int64_t)n;
    return ok;
}

static PTensor *index_tensor(Env *e, const Expr *x)
{
    PTensor *t = element_tensor(e, x, "the numbers of rows are elements of a global tensor");
    if (!t) return NULL;
    const ElemInfo *info = elem_info(t->type);
    if (info->kind == ELEM_UINT || info->kind == ELEM_SINT) return t;
    Diag *g = diag_at(e->c->diags, E0306, x->span, "elements of type %s can't be numbers of rows", info->name);
    diag_label(e->c->diags, g, t->span, "`%s` is declared here", name_of(e, t->name));
    return NULL;
}

/* The one marked dimension: its start and extent. */
static bool marked(Env *e, const Sub *s, const PTensor *t, PRows *r, PDim *d, int at)
{
    if (r->dim >= 0) {
        diag_at(e->c->diags, E0511, s->span, "a second dimension of numbers; rows are picked along one");
        return false;
    }
    r->dim = at;
    if (s->kind == SUB_ALL) {
        r->at[at] = sx_const(e, 0, s->span);
        if (sx_is_const(t->extent[at], &d->extent)) return true;
        Diag *g = diag_at(e->c->diags, E0320, s->span, "how many numbers these are is only known at launch");
        diag_fix(e->c->diags, g, "write `start +: extent`");
        return false;
    }
    if (s->kind != SUB_SPAN || s->c) {
        Diag *g = diag_at(e->c->diags, E0511, s->span, "numbers of rows lie one after the other");
        diag_fix(e->c->diags, g, "write `start +: extent`, without `by`");
        return false;
    }
    r->at[at] = scalar(e, s->a);
    return constant(e, s->b, 1, 1 << 24, "the extent of the region", &d->extent) && r->at[at];
}

static bool loaded(Env *e, const Expr *x, PRows *r, PDim *d)
{
    PTensor *t = index_tensor(e, x);
    if (!t) return false;
    if (x->subs.n != (uint32_t)t->rank) {
        Diag *g = diag_at(e->c->diags, E0311, x->span, "%u subscript%s for `%s`, which has rank %d", x->subs.n,
                          x->subs.n == 1 ? "" : "s", name_of(e, t->name), t->rank);
        diag_label(e->c->diags, g, t->span, "declared here");
        return false;
    }
    r->tensor = t;
    r->dim = -1;
    bool ok = true;
    int at = 0;
    for (const Sub *s = x->subs.first; s; s = s->next, at++) {
        if (s->kind == SUB_AT) ok = (r->at[at] = scalar(e, s->a)) != NULL && ok;
        else ok = marked(e, s, t, r, d, at) && ok;
    }
    return ok;
}

bool index_rows(Env *e, const Sub *s, PDim *d)
{
    if (e->in_view) {
        diag_at(e->c->diags, E0511, s->span, "a view has no rows by index; they are picked where it is moved");
        return false;
    }
    PRows *r = arena_new(e->c->scratch, PRows);
    d->rows = r;
    d->marked = true;
    d->start = sx_const(e, 0, s->span);
    return s->kind == SUB_ROWS ? listed(e, s, r, d) : loaded(e, s->a, r, d);
}
