/* Rule G: accesses of different CTAs to one tensor, one of them a write, touch different elements; and what is read
 * as a scalar is not written at all. Different parameters don't overlap: the launch checks that.
 *
 * Where roles run side by side, the same goes for the accesses of one team: nothing makes a load wait for the writes of
 * a store, or one store for those of another. A store behind a load is in order if the working role has waited for it. */
#include <string.h>

#include "lang/lang.h"
#include "lower/apart/apart.h"
#include "lower/emit/values.h"
#include "lower/plan/copies.h"

static const PTensor *base_of(const PTensor *t)
{
    return t->base ? t->base : t;
}

static void permuted(Lower *L, const TensorAccess *w, const TensorAccess *o, const char *why)
{
    L->stmt = w->info.stmt;
    const PTensor *t = base_of(w->info.tensor);
    Diag *g = lower_error(L, E0707, w->info.stmt->span,
                          "`%s` is permuted in place: other teams may still have to read what this overwrites",
                          name_text(L, t->name));
    diag_label(L->c->diags, g, o->info.stmt->span, "every team reads its own part here, but writes another one");
    if (why && *why) diag_note(L->c->diags, g, (Span){0, 0}, "%s", why);
    diag_note(L->c->diags, g, t->span, "the tensor");
    diag_fix(L->c->diags, g, "write to another tensor");
    L->stmt = NULL;
}

/* The tensor whose elements say which row: NULL where the source computes it. */
static const PTensor *index_of(const Sx *start, const PRows *rows)
{
    if (rows) return rows->tensor;
    while (start && start->op == SX_LET) start = start->a;
    return start && start->op == SX_LOAD ? start->tensor : NULL;
}

static bool trusted(const Lower *L, const PTensor *t)
{
    return view_trusts(L, t, TRUST_DISTINCT);
}

/* The tensor whose elements pick the rows of `acc[idx[r +: 8], :]`. */
static const PTensor *listed_by(const TensorAccess *a)
{
    for (int d = 0; d < a->info.rank; d++)
        if (a->info.g->dim[d].rows) return a->info.g->dim[d].rows->tensor;
    return NULL;
}

static void fix_overlap(Lower *L, Diag *g, const TensorAccess *w, const TensorAccess *o)
{
    const PTensor *index = NULL;
    for (int d = 0; d < w->info.rank && !index; d++) index = index_of(w->info.g->dim[d].start, w->info.g->dim[d].rows);
    const PTensor *offsets = NULL;
    for (int d = 0; d < P_RANK && w->info.tensor->run_time && !offsets; d++) offsets = w->info.tensor->place[d].idx;
    if (w->pipe != o->pipe)
        diag_fix(L->c->diags, g, "use two kernels, or another tensor");
    else if (offsets && !view_trusts(L, offsets, TRUST_SORTED) && o->info.tensor->run_time)
        diag_fix(L->c->diags, g, "state `trust sorted(%s)` if no element of it is less than the one before, or `overlap any` if any order will do",
                 name_text(L, offsets->name));
    else if (has_across(L->k) && !w->pipe && !o->pipe)
        diag_fix(L->c->diags, g, "what stands beside a pipeline across the grid is done by every team: put it into the pipeline, under a "
                                 "condition on its index, or into a kernel of its own");
    else if (w->reduce >= 0 || o->reduce >= 0)
        diag_fix(L->c->diags, g, "reductions go with the same reduction only: use it for both, or two kernels");
    else if (o->write && index && index->rank == 1 && !trusted(L, index))
        diag_fix(L->c->diags, g,
                 "state `trust distinct(%s)` if no two of its elements are equal, or `overlap any` if any order will do",
                 name_text(L, index->name));
    else if (o->write)
        diag_fix(L->c->diags, g, "let the start depend on every index of the %s, or write `overlap any` if any order will do",
                 !w->pipe ? "grid" : L->cluster_size > 1 ? "pipeline and on `cluster.rank`" : "pipeline");
    else
        diag_fix(L->c->diags, g, "write to another tensor, or write `overlap any` if any order will do");
}

static void unproved(Lower *L, const TensorAccess *w, const TensorAccess *o, const char *why)
{
    L->stmt = w->info.stmt;
    const PTensor *t = base_of(w->info.tensor);
    const char *name = name_text(L, t->name), *who = w->pipe != o->pipe ? "pipeline" : w->pipe ? "iteration" : "CTA";
    Diag *g = w == o ? lower_error(L, E0701, w->info.stmt->span, "different %ss may write the same elements of `%s`",
                                   who, name)
                     : lower_error(L, o->write ? E0701 : E0702, w->info.stmt->span,
                                   "this write of `%s` and the %s of it by another %s may overlap", name,
                                   o->write ? "write" : "read", who);
    if (w != o) diag_label(L->c->diags, g, o->info.stmt->span, "the other access");
    const PTensor *rows = listed_by(w) ? listed_by(w) : listed_by(o);
    if (w->pipe == o->pipe && rows && !trusted(L, base_of(rows)))
        diag_note(L->c->diags, g, (Span){0, 0}, "`%s` says which rows, and elements of it may be equal", name_text(L, rows->name));
    else if (why && *why) diag_note(L->c->diags, g, (Span){0, 0}, "%s", why);
    diag_note(L->c->diags, g, t->span, "the tensor");
    fix_overlap(L, g, w, o);
    L->stmt = NULL;
}

/* `trust distinct(idx)`: different elements of idx pick different rows, so the place in idx stands for the row. A part of
 * idx is distinct as well: the place is that in the whole. */
static const PTensor *trusted_rows(Lower *L, const Sx *start, const PRows *rows, Poly *place)
{
    const PTensor *t = index_of(start, rows);
    if (t == NULL || t->rank != 1 || t->reshaped || base_of(t)->rank != 1 || !trusted(L, base_of(t))) return NULL;
    while (rows == NULL && start->op == SX_LET) start = start->a;
    const Sx *at = rows ? rows->at[0] : start->idx[0];
    if (scalar_uses(L, at) & USE_VAR) return NULL; /* what it held where the move is */
    *place = scalar_poly(L, at);
    if (t->base) *place = poly_add(L->d, *place, scalar_poly(L, t->start[0]));
    return base_of(t);
}

/* Which dimension of the box is dimension d of what the access goes through, and from where it counts. */
static int box_dim(Lower *L, const TensorAccess *a, int d, bool in_base, Poly *from)
{
    const PTensor *t = a->info.tensor;
    *from = poly_const(L->d, 0);
    if (!in_base || t->base == NULL) return d;
    *from = scalar_poly(L, t->start[t->dim_of[d]]);
    return t->dim_of[d];
}

typedef struct Picked { /* rows of a dimension of the box by elements of `index` */
    const PTensor *index;
    Poly place, from;
    int64_t extent;
} Picked;

static void picked_rows(Lower *L, const TensorAccess *a, bool in_base, Picked out[P_RANK])
{
    const PTensor *t = a->info.tensor;
    for (int d = 0; d < P_RANK; d++) out[d].index = NULL;
    for (int d = 0; d < a->info.rank; d++) {
        Poly from;
        const PDim *p = &a->info.g->dim[d];
        Picked *q = &out[box_dim(L, a, d, in_base, &from)];
        q->from = from;
        q->extent = p->extent;
        if (in_base && t->base && !place_fixed(L, t->start[t->dim_of[d]])) continue;
        if (p->rows || p->extent == 1) q->index = trusted_rows(L, p->start, p->rows, &q->place);
    }
}

/* Rows counted from one place are apart where the elements of the trusted tensor that pick them are. */
static bool trusted_boxes(Lower *L, const TensorAccess *a, const TensorAccess *b, DomBox *x, DomBox *y)
{
    Picked p[P_RANK], q[P_RANK];
    bool any = false, in_base = a->info.has_gbox && b->info.has_gbox;
    if (!in_base && (a->info.tensor != b->info.tensor || !view_fixed(L, a->info.tensor))) return false;
    if (is_im2col(a->info.mv) || is_im2col(b->info.mv)) return false;
    picked_rows(L, a, in_base, p);
    picked_rows(L, b, in_base, q);
    for (int d = 0; d < x->rank; d++) {
        if (p[d].index == NULL || p[d].index != q[d].index || !poly_same(p[d].from, q[d].from)) continue;
        x->start[d] = p[d].place;
        y->start[d] = q[d].place;
        x->extent[d] = poly_const(L->d, p[d].extent);
        y->extent[d] = poly_const(L->d, q[d].extent);
        any = true;
    }
    return any;
}

/* Different parts of the base tensor where they can be compared, else of the view that both go through, if that is one for all. */
static bool comparable(const TensorAccess *a, const TensorAccess *b, DomBox *x, DomBox *y, Lower *L)
{
    if (im2col_boxes(L, &a->info, &b->info, x, y)) return true;
    if (a->info.has_gbox && b->info.has_gbox) {
        *x = a->info.gbox;
        *y = b->info.gbox;
        return true;
    }
    if (a->info.tensor != b->info.tensor || !view_fixed(L, a->info.tensor)) return false;
    const MoveInfo *m[2] = {&a->info, &b->info};
    DomBox *out[2] = {x, y};
    for (int i = 0; i < 2; i++) {
        out[i]->rank = m[i]->rank;
        for (int d = 0; d < m[i]->rank; d++) {
            const PDim *p = &m[i]->g->dim[d];
            if (p->rows || p->open) { /* anywhere */
                out[i]->start[d] = poly_const(L->d, 0);
                out[i]->extent[d] = scalar_poly(L, m[i]->tensor->extent[d]);
                continue;
            }
            out[i]->start[d] = m[i]->start[d];
            out[i]->extent[d] = poly_const(L->d, move_width(m[i], d));
        }
    }
    return true;
}

/* Teams of one pipeline differ in its indices; of different pipelines in nothing that is known. */
static bool apart(Lower *L, const TensorAccess *a, const TensorAccess *b, const DomBox *x, const DomBox *y, const char **why)
{
    if (a->pipe != b->pipe) {
        *why = "different pipelines run side by side";
        return domain_disjoint(L->d, x, y);
    }
    return domain_disjoint_teams(L->d, L->a, x, y, a->team, a->nteam, why);
}

/* same_turn: nothing is asked about the two in one turn. */
static bool boxes_apart(Lower *L, const TensorAccess *a, const TensorAccess *b, DomBox x, DomBox y, bool same_turn)
{
    const char *why;
    Atom index[8 + 3 + TURNS_MAX];
    int n = 0;
    uint32_t common = 0;
    while (common < a->loops.n && common < b->loops.n && common < TURNS_MAX &&
           a->loops.v[common].index == b->loops.v[common].index)
        common++;
    if (a != b && !same_turn && !domain_disjoint(L->d, &x, &y)) return false;
    for (int i = 0; i < a->nteam; i++) index[n++] = a->team[i];
    for (uint32_t i = 0; i < common; i++) index[n++] = a->loops.v[i].turn;
    if (n == 0) return true;
    for (int i = 0; i < x.rank; i++) {
        x.start[i] = poly_by_turn(L, x.start[i], a->loops.v, common);
        y.start[i] = poly_by_turn(L, y.start[i], a->loops.v, common);
    }
    return domain_disjoint_teams(L->d, L->a, &x, &y, index, n, &why);
}

/* The order of two reductions changes nothing: one operation on numbers of one kind. */
static bool commute(const TensorAccess *a, const TensorAccess *b)
{
    size_t n;
    if (a->reduce < 0 || a->reduce != b->reduce) return false;
    const char *op = word_list(WORDS_REDUCE, &n)[a->reduce];
    if (!reduction_commutes(op)) return false;
    if (a->info.tensor->type == b->info.tensor->type) return true;
    const ElemInfo *x = elem_info(a->info.tensor->type), *y = elem_info(b->info.tensor->type);
    bool whole = (x->kind == ELEM_UINT || x->kind == ELEM_SINT) && (y->kind == ELEM_UINT || y->kind == ELEM_SINT);
    return whole && x->global_bits == y->global_bits && strcmp(op, "min") != 0 && strcmp(op, "max") != 0;
}

bool stores_meet(Lower *L, const TensorAccess *a, const TensorAccess *b)
{
    DomBox x, y;
    if (base_of(a->info.tensor) != base_of(b->info.tensor) || views_disjoint(L, a->info.tensor, b->info.tensor)) return false;
    if (a->waived || b->waived || commute(a, b)) return false;
    if (a->pipe != b->pipe) return false; /* rule G has proved more */
    if (view_places_apart(L, a, b, true, false)) return false;
    if (!comparable(a, b, &x, &y, L)) return true;
    if (boxes_apart(L, a, b, x, y, false)) return false;
    return !trusted_boxes(L, a, b, &x, &y) || !boxes_apart(L, a, b, x, y, false);
}

static bool has_extent(const DomBox *b, Poly extent)
{
    for (int d = 0; d < b->rank; d++)
        if (poly_same(b->extent[d], extent)) return true;
    return false;
}

/* Parts of one shape, each of them another one for every team: what the teams write is what they read, elsewhere. */
static bool permutes(Lower *L, const TensorAccess *a, const TensorAccess *b, const DomBox *x, const DomBox *y)
{
    const char *unused;
    if (a->write == b->write || a->pipe != b->pipe || x->rank != y->rank) return false;
    for (int d = 0; d < x->rank; d++)
        if (!has_extent(y, x->extent[d]) || !has_extent(x, y->extent[d])) return false;
    return domain_disjoint_teams(L->d, L->a, x, x, a->team, a->nteam, &unused) &&
           domain_disjoint_teams(L->d, L->a, y, y, a->team, a->nteam, &unused);
}

static bool check_pair(Lower *L, const TensorAccess *a, const TensorAccess *b)
{
    DomBox x, y;
    const char *why = "";
    if (views_disjoint(L, a->info.tensor, b->info.tensor) || view_places_apart(L, a, b, false, false)) return true;
    if (comparable(a, b, &x, &y, L)) {
        if (apart(L, a, b, &x, &y, &why)) return true;
        bool moved = permutes(L, a, b, &x, &y);
        if (trusted_boxes(L, a, b, &x, &y) && apart(L, a, b, &x, &y, &why)) return true;
        if (moved) {
            permuted(L, a->write ? a : b, a->write ? b : a, why);
            return false;
        }
    } else {
        why = "one of them goes through a reshaped view, whose elements can't be compared with the other's";
    }
    unproved(L, a->write ? a : b, a->write ? b : a, why);
    return false;
}

/* As often as there are teams, which nobody says beside a pipeline across the grid. */
static void check_repeated(Lower *L, const TensorAccess *a)
{
    size_t n;
    if (!has_across(L->k) || a->pipe || a->waived || a->reduce < 0) return;
    const char *op = word_list(WORDS_REDUCE, &n)[a->reduce];
    if (reduction_repeats(op)) return;
    L->stmt = a->info.stmt;
    Diag *g = lower_error(L, E0701, a->info.stmt->span, "every team does this `reduce %s`, and how many there are is the launch's choice", op);
    diag_fix(L->c->diags, g, "put it into the pipeline, under a condition on its index, or into a kernel of its own");
    L->stmt = NULL;
}

static void check_scalars(Lower *L, const TensorAccess *w)
{
    const PTensor *t = base_of(w->info.tensor);
    if (L->values->scalar_reads[t->index].hi == 0) return;
    L->stmt = w->info.stmt;
    Diag *g = lower_error(L, E0706, w->info.stmt->span, "`%s` is written here and read as a scalar",
                          name_text(L, t->name));
    diag_label(L->c->diags, g, L->values->scalar_reads[t->index], "read as a scalar");
    L->stmt = NULL;
}

/* ---- one team, roles side by side ---- */

/* A load, and a store after it, in the same turn: has the working role waited for the load by then? */
static bool waited_for(const TensorAccess *load, const TensorAccess *store)
{
    return load->taken != UINT32_MAX && load->taken <= store->planned;
}

/* Stores of two roles of the source: those of one are in order with the waits for its groups. */
static bool beside(const TensorAccess *a, const TensorAccess *b)
{
    return a->role != b->role && a->write && b->write && !a->waived && !b->waived && !commute(a, b);
}

static bool in_order(Lower *L, const TensorAccess *a, const TensorAccess *b)
{
    DomBox x, y;
    bool same_turn = !a->write && b->write && waited_for(a, b);
    if (views_disjoint(L, a->info.tensor, b->info.tensor) || (a->waived && b->waived)) return true;
    if (view_places_apart(L, a, b, true, same_turn)) return true;
    if (!comparable(a, b, &x, &y, L)) return false;
    if (boxes_apart(L, a, b, x, y, same_turn)) return true;
    return trusted_boxes(L, a, b, &x, &y) && boxes_apart(L, a, b, x, y, same_turn);
}

/* Loads run ahead of what the program stores: a load and a store of one team that may meet have no order, unless the store
 * puts back what was made of the load's tile. */
static void check_order(Lower *L, const TensorAccess *a, const TensorAccess *b)
{
    if (in_order(L, a, b)) return;
    const PTensor *t = base_of(a->info.tensor);
    L->stmt = b->info.stmt;
    const char *name = name_text(L, t->name);
    Diag *g = lower_error(L, E0749, b->info.stmt->span,
                          "`%s` is %s here and %s by the same team, and nothing orders the two", name,
                          b->write ? "written" : "read", a->write ? "written" : "read");
    diag_label(L->c->diags, g, a->info.stmt->span, "the other access");
    diag_note(L->c->diags, g, t->span, "the tensor");
    diag_fix(L->c->diags, g, "keep the data in a tile, or put one of them into a second kernel");
    L->stmt = NULL;
}

static bool differ(Lower *L, const Sx *a, const Sx *b)
{
    Poly one = poly_const(L->d, 1), d = poly_sub(L->d, scalar_poly(L, a), scalar_poly(L, b));
    bool held = ((scalar_uses(L, a) | scalar_uses(L, b)) & USE_VAR) != 0; /* what a variable holds where the move is */
    return !held && (domain_le(L->d, one, d) || domain_le(L->d, one, poly_sub(L->d, poly_const(L->d, 0), d)));
}

static bool rows_differ(Lower *L, const PRows *r, int64_t n)
{
    if (r->tensor) return trusted(L, base_of(r->tensor));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++)
            if (!differ(L, r->list[i], r->list[j])) return false;
    return true;
}

/* The copies of one move have no order: no row is written twice. */
static void check_rows(Lower *L, const TensorAccess *w)
{
    if (!w->write || w->waived || commute(w, w)) return;
    for (int d = 0; d < w->info.rank; d++) {
        const PDim *p = &w->info.g->dim[d];
        if (p->rows == NULL || p->extent < 2 || rows_differ(L, p->rows, p->extent)) continue;
        L->stmt = w->info.stmt;
        Diag *g = lower_error(L, E0701, p->span, "two of these rows may be the same, and which is written last is open");
        if (p->rows->tensor)
            diag_fix(L->c->diags, g, "state `trust distinct(%s)` if no two of its elements are equal, or `overlap any` if any order will do",
                     name_text(L, base_of(p->rows->tensor)->name));
        else diag_fix(L->c->diags, g, "write `overlap any` if any order will do");
        L->stmt = NULL;
        return;
    }
}

void independence_check(Lower *L)
{
    for (uint32_t i = 0; i < L->accesses->all.n; i++) {
        const TensorAccess *a = &L->accesses->all.v[i];
        if (a->write) check_scalars(L, a);
        check_rows(L, a);
        check_repeated(L, a);
        for (uint32_t j = i; j < L->accesses->all.n; j++) {
            const TensorAccess *b = &L->accesses->all.v[j];
            if (base_of(a->info.tensor) != base_of(b->info.tensor) || !(a->write || b->write)) continue;
            bool teams = !a->waived && !b->waived && (a->nteam || a->pipe != b->pipe) &&
                         !commute(a, b);
            if (teams && !check_pair(L, a, b)) continue;
            if ((L->derived && a->pipe == b->pipe && a->write != b->write) || beside(a, b)) check_order(L, a, b);
        }
    }
}
