/* Rule G: accesses of different CTAs to one tensor, one of them a write, touch different elements; and what is read
 * as a scalar is not written at all. Different parameters don't overlap: the launch checks that. */
#include "lower/parts.h"

static const PTensor *base_of(const PTensor *t)
{
    return t->base ? t->base : t;
}

static void unproved(Lower *L, const Access *w, const Access *o, const char *why)
{
    L->stmt = w->info.stmt;
    const PTensor *t = base_of(w->info.tensor);
    const char *name = name_text(L, t->name);
    Diag *g = w == o ? lower_error(L, E0701, w->info.stmt->span, "different CTAs may write the same elements of `%s`",
                                   name)
                     : lower_error(L, o->write ? E0701 : E0702, w->info.stmt->span,
                                   "this write of `%s` and the %s of it by another CTA may overlap", name,
                                   o->write ? "write" : "read");
    if (w != o) diag_label(L->c->diags, g, o->info.stmt->span, "the other access");
    if (why && *why) diag_note(L->c->diags, g, (Span){0, 0}, "%s", why);
    diag_note(L->c->diags, g, t->span, "the tensor");
    diag_fix(L->c->diags, g,
             o->write ? "let the start depend on every index of the grid, or write `overlap any` if any order will do"
                      : "write to another tensor, or write `overlap any` if any order will do");
    L->stmt = NULL;
}

static bool comparable(const Access *a, const Access *b, DomBox *x, DomBox *y, Lower *L)
{
    if (a->info.has_gbox && b->info.has_gbox) {
        *x = a->info.gbox;
        *y = b->info.gbox;
        return true;
    }
    if (a->info.tensor != b->info.tensor) return false;
    const MoveInfo *m[2] = {&a->info, &b->info};
    DomBox *out[2] = {x, y};
    for (int i = 0; i < 2; i++) {
        out[i]->rank = m[i]->rank;
        for (int d = 0; d < m[i]->rank; d++) {
            out[i]->start[d] = m[i]->start[d];
            out[i]->extent[d] = poly_const(L->d, (m[i]->extent[d] - 1) * m[i]->step[d] + 1);
        }
    }
    return true;
}

static void check_pair(Lower *L, const Access *a, const Access *b)
{
    DomBox x, y;
    const char *why = "";
    if (views_disjoint(L, a->info.tensor, b->info.tensor)) return;
    if (comparable(a, b, &x, &y, L)) {
        if (domain_disjoint_teams(L->d, L->a, &x, &y, L->team, L->nteam, &why)) return;
    } else {
        why = "one of them goes through a reshaped view, whose elements can't be compared with the other's";
    }
    unproved(L, a->write ? a : b, a->write ? b : a, why);
}

static void check_scalars(Lower *L, const Access *w)
{
    const PTensor *t = base_of(w->info.tensor);
    if (L->scalar_reads[t->index].hi == 0) return;
    L->stmt = w->info.stmt;
    Diag *g = lower_error(L, E0706, w->info.stmt->span, "`%s` is written here and read as a scalar",
                          name_text(L, t->name));
    diag_label(L->c->diags, g, L->scalar_reads[t->index], "read as a scalar");
    L->stmt = NULL;
}

void independence_check(Lower *L)
{
    for (uint32_t i = 0; i < L->accesses.n; i++) {
        const Access *a = &L->accesses.v[i];
        if (a->write) check_scalars(L, a);
        if (L->nteam == 0) continue;
        for (uint32_t j = i; j < L->accesses.n; j++) {
            const Access *b = &L->accesses.v[j];
            if (base_of(a->info.tensor) != base_of(b->info.tensor) || !(a->write || b->write)) continue;
            if (!a->waived && !b->waived) check_pair(L, a, b);
        }
    }
}
