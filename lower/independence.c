/* Rule G: accesses of different CTAs to one tensor, one of them a write, touch different elements; and what is read
 * as a scalar is not written at all. Different parameters don't overlap: the launch checks that.
 *
 * Where roles run side by side, the same goes for the accesses of one team: nothing makes a load wait for the writes of
 * a store, or one store for those of another. A store behind a load is in order if the working role has waited for it. */
#include "lower/schedule.h"

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

/* ---- one team, roles side by side ---- */

/* The boxes as they are in another turn of the loops around both accesses. */
static void other_turn(Lower *L, const Access *a, uint32_t n, DomBox *x)
{
    Domain *d = L->d;
    for (int i = 0; i < x->rank; i++) {
        Poly sum = poly_const(d, 0);
        sum.bad = x->start[i].bad;
        for (uint32_t t = 0; t < x->start[i].n; t++) {
            Poly product = poly_const(d, x->start[i].terms[t].coef);
            for (unsigned f = 0; f < x->start[i].terms[t].natoms; f++) {
                Atom at = x->start[i].terms[t].atoms[f];
                for (uint32_t k = 0; k < n; k++)
                    if (a->loops.v[k].index == at) at = a->loops.v[k].turn;
                product = poly_mul(d, product, poly_atom(d, at));
            }
            sum = poly_add(d, sum, product);
        }
        x->start[i] = sum;
    }
}

static uint32_t shared_loops(const Access *a, const Access *b)
{
    uint32_t n = 0;
    while (n < a->loops.n && n < b->loops.n && a->loops.v[n].index == b->loops.v[n].index) n++;
    return n;
}

static uint32_t planned_at(const Lower *L, const Access *a)
{
    uint32_t i = 0;
    while (i < L->sched->moves.n && L->sched->moves.v[i]->st != a->info.stmt) i++;
    return i;
}

/* A load, and a store after it, in the same turn: has the working role waited for the load by then? */
static bool waited_for(const Lower *L, const Access *load, const Access *store)
{
    const Sched *s = L->sched;
    uint32_t from = planned_at(L, load), to = planned_at(L, store);
    for (uint32_t i = from; i <= to && i < s->moves.n; i++)
        if (s->moves.v[i]->agent == AG_WORK && s->moves.v[i]->src == s->moves.v[from]->dst) return true;
    return false;
}

static bool turns_apart(Lower *L, const Access *a, uint32_t n, DomBox x, DomBox y)
{
    enum { INDICES = 11 + 32 };
    Atom index[INDICES];
    int count = 0;
    const char *why;
    if (n == 0) return true;
    if (n > 32) return false;
    for (int i = 0; i < a->nteam; i++) index[count++] = a->team[i];
    for (uint32_t i = 0; i < n; i++) index[count++] = a->loops.v[i].turn;
    other_turn(L, a, n, &x);
    other_turn(L, a, n, &y);
    return domain_disjoint_teams(L->d, L->a, &x, &y, index, count, &why);
}

static bool in_order(Lower *L, const Access *a, const Access *b)
{
    DomBox x, y, tx, ty;
    uint32_t n = shared_loops(a, b);
    bool same_turn = a == b || (!a->write && b->write && waited_for(L, a, b));
    if (views_disjoint(L, a->info.tensor, b->info.tensor)) return true;
    if (a->waived && b->waived) return true;
    if (a->reduce >= 0 && a->reduce == b->reduce) return true;
    if (!comparable(a, b, &x, &y, L)) return same_turn && n == 0;
    tx = x;
    ty = y;
    bool trusted = trusted_boxes(L, a, b, &tx, &ty);
    if (!same_turn && !domain_disjoint(L->d, &x, &y) && !(trusted && domain_disjoint(L->d, &tx, &ty))) return false;
    return turns_apart(L, a, n, x, y) || (trusted && turns_apart(L, a, n, tx, ty));
}

static void check_order(Lower *L, const Access *a, const Access *b)
{
    if (in_order(L, a, b)) return;
    const PTensor *t = base_of(a->info.tensor);
    L->stmt = b->info.stmt;
    const char *name = name_text(L, t->name);
    Diag *g = a == b ? lower_error(L, E0749, b->info.stmt->span,
                                   "this store may write the same elements of `%s` in several iterations, in any order", name)
                     : lower_error(L, E0749, b->info.stmt->span,
                                   "`%s` is %s here and %s by the same team, and nothing orders the two", name,
                                   b->write ? "written" : "read", a->write ? "written" : "read");
    if (a != b) diag_label(L->c->diags, g, a->info.stmt->span, "the other access");
    diag_note(L->c->diags, g, t->span, "the tensor");
    diag_fix(L->c->diags, g, b->write && a->write
                                 ? "write different elements, or write `overlap any` on each store if any order will do"
                                 : "keep the data in a tile, or put one of them into a second kernel");
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
            if (L->sched && a->pipe == b->pipe) check_order(L, a, b);
            if (a->waived || b->waived || (a->nteam == 0 && a->pipe == b->pipe)) continue;
            if (a->reduce >= 0 && a->reduce == b->reduce) continue; /* they commute */
            check_pair(L, a, b);
        }
    }
}
