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

/* `trust distinct(idx)`: different elements of idx pick different rows, so the place in idx stands for the row. */
static bool trusted_rows(Lower *L, const Sx *start, const PRows *rows, Poly *place)
{
    const PTensor *t = rows ? rows->tensor : NULL;
    if (rows == NULL) {
        while (start && start->op == SX_LET) start = start->a;
        if (start == NULL || start->op != SX_LOAD) return false;
        t = start->tensor;
    }
    if (t == NULL) return false;
    bool trusted = false;
    for (uint32_t i = 0; i < L->k->trusts.n; i++) trusted |= L->k->trusts.v[i].cond->tensor == t;
    if (!trusted || t->rank != 1) return false;
    *place = scalar_poly(L, rows ? rows->at[0] : start->idx[0]);
    return true;
}

static bool trusted_boxes(Lower *L, const Access *a, const Access *b, DomBox *x, DomBox *y)
{
    const Access *both[2] = {a, b};
    DomBox *out[2] = {x, y};
    bool any = false;
    for (int d = 0; d < a->info.rank && a->info.tensor == b->info.tensor && !a->info.tensor->base; d++) {
        Poly place[2];
        bool ok = true;
        for (int i = 0; i < 2; i++) {
            const PDim *p = &both[i]->info.g->dim[d];
            ok = ok && (p->rows || p->extent == 1) && trusted_rows(L, p->start, p->rows, &place[i]);
        }
        if (!ok) continue;
        for (int i = 0; i < 2; i++) {
            out[i]->start[d] = place[i];
            out[i]->extent[d] = poly_const(L->d, both[i]->info.g->dim[d].extent);
        }
        any = true;
    }
    return any;
}

/* Different parts of the base tensor where they can be compared, else of the view that both go through. */
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

/* Teams of one pipeline differ in its indices; of different pipelines in nothing that is known. */
static bool apart(Lower *L, const Access *a, const Access *b, const DomBox *x, const DomBox *y, const char **why)
{
    if (a->pipe != b->pipe) {
        *why = "different pipelines run side by side";
        return domain_disjoint(L->d, x, y);
    }
    return domain_disjoint_teams(L->d, L->a, x, y, a->team, a->nteam, why);
}

static bool boxes_apart(Lower *L, const Access *a, const Access *b, DomBox x, DomBox y)
{
    const char *why;
    Atom index[8 + 3 + TURNS_MAX];
    int n = 0;
    uint32_t common = 0;
    while (common < a->loops.n && common < b->loops.n && common < TURNS_MAX &&
           a->loops.v[common].index == b->loops.v[common].index)
        common++;
    if (a != b && !domain_disjoint(L->d, &x, &y)) return false; /* one turn */
    for (int i = 0; i < a->nteam; i++) index[n++] = a->team[i];
    for (uint32_t i = 0; i < common; i++) index[n++] = a->loops.v[i].turn;
    if (n == 0) return true;
    for (int i = 0; i < x.rank; i++) {
        x.start[i] = poly_by_turn(L, x.start[i], a->loops.v, common);
        y.start[i] = poly_by_turn(L, y.start[i], a->loops.v, common);
    }
    return domain_disjoint_teams(L->d, L->a, &x, &y, index, n, &why);
}

bool stores_meet(Lower *L, const Access *a, const Access *b)
{
    DomBox x, y;
    if (base_of(a->info.tensor) != base_of(b->info.tensor) || views_disjoint(L, a->info.tensor, b->info.tensor)) return false;
    if (a->waived || b->waived || (a->reduce >= 0 && a->reduce == b->reduce)) return false;
    if (a->pipe != b->pipe) return false; /* rule G has proved more */
    if (!comparable(a, b, &x, &y, L)) return true;
    if (boxes_apart(L, a, b, x, y)) return false;
    return !trusted_boxes(L, a, b, &x, &y) || !boxes_apart(L, a, b, x, y);
}

static void check_pair(Lower *L, const Access *a, const Access *b)
{
    DomBox x, y;
    const char *why = "";
    if (views_disjoint(L, a->info.tensor, b->info.tensor)) return;
    if (comparable(a, b, &x, &y, L)) {
        const char *unused;
        if (apart(L, a, b, &x, &y, &why)) return;
        if (trusted_boxes(L, a, b, &x, &y) && apart(L, a, b, &x, &y, &unused)) return;
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
        for (uint32_t j = i; j < L->accesses.n; j++) {
            const Access *b = &L->accesses.v[j];
            if (base_of(a->info.tensor) != base_of(b->info.tensor) || !(a->write || b->write)) continue;
            if (a->waived || b->waived || (a->nteam == 0 && a->pipe == b->pipe)) continue;
            if (a->reduce >= 0 && a->reduce == b->reduce) continue; /* they commute */
            check_pair(L, a, b);
        }
    }
}
