/* An access as intervals on axes (apart.h). What is new about a kind of access is said here and nowhere else.
 *
 *   every access      its places in the dimensions of the tensor; with a step in their quotients and residues, too
 *   elements          x[n, idx[n] + i]: the places counted from idx[n] mean the same to those that agree in n
 *   through a view    the view's own bounds: outside of them nothing is touched. Where the view moves or has a shape of its own, the
 *                     places counted from where it begins mean the same to those that agree in what moves it
 *   sorted            x[idx[a] +: idx[b] - idx[a]] with `trust sorted(idx)`: the places a .. b - 1 of idx. What is cut to the tensor
 *                     stays in order. An element outside idx is -1 at both ends, or in front of all: such a view is
 *                     empty, or ends at the first element
 *                     So do the turns of a loop over idx[a] .. idx[b] in which every `unit` places are those of one turn
 *   rows by index     with `trust distinct(idx)`: the places in idx, by dimension. A part of idx is distinct as well: the place counts
 *                     in the whole
 *   im2col stores     pixels by number and channels
 */
#include "lower/apart/apart.h"
#include "lower/kernel/report.h"
#include "lower/plan/copies.h"

enum { AGREE_FUEL = 256 };

bool trusts(const Lower *L, const PTensor *idx, Trust fact)
{
    for (uint32_t i = 0; i < L->k->trusts.n; i++)
        if (L->k->trusts.v[i].tensor == idx && L->k->trusts.v[i].fact == fact) return true;
    return false;
}

const PTensor *row_numbers(const Sx *start, const PRows *rows)
{
    if (rows) return rows->tensor;
    start = sx_through_lets(start);
    return start && start->op == SX_LOAD ? start->tensor : NULL;
}

/* ---- what numbers depend on ---- */

static void agree_in(Agree *g, Atom x)
{
    for (int i = 0; i < g->n; i++)
        if (g->index[i] == x) return;
    if (x == 0) return;
    if (g->n == AGREE_MAX) g->unknown = true;
    else g->index[g->n++] = x;
}

static void agree_on_cluster(Lower *L, Agree *g, int axis)
{
    const struct Scalars *s = L->scalars;
    if (L->k->cluster[axis] == 1) return;
    agree_in(g, s->cluster_atom[axis]);
    Poly p = s->cta[axis];
    if (s->cluster_atom[axis] == 0 && p.n) agree_in(g, p.terms[0].atoms[0]);
}

/* The indices that x is made of. Tensors that are read as scalars are not written: their elements are functions of the place. */
static void agree_on(Lower *L, Agree *g, const Sx *x, int *fuel)
{
    if (x == NULL || g->unknown) return;
    if (--*fuel < 0) {
        g->unknown = true;
        return;
    }
    switch ((SxOp)x->op) {
    case SX_CONST:
    case SX_SYM: break;
    case SX_CTA:
        if (L->scalars->cta[x->k].n) agree_in(g, L->scalars->cta[x->k].terms[0].atoms[0]);
        break;
    case SX_CLUSTER: agree_on_cluster(L, g, (int)x->k); break;
    case SX_RANK:
        for (int i = 0; i < 3; i++) agree_on_cluster(L, g, i);
        break;
    case SX_INDEX: agree_in(g, loop_state(L, x->k)->atoms.index); break;
    case SX_VAR: g->unknown = true; break;
    case SX_LET: agree_on(L, g, x->a, fuel); break;
    case SX_LOAD:
        for (int i = 0; i < x->tensor->rank; i++) agree_on(L, g, x->idx[i], fuel);
        if (x->tensor->base) agree_on(L, g, x->tensor->offset, fuel);
        for (int i = 0; i < x->tensor->rank; i++) agree_on(L, g, x->tensor->extent[i], fuel);
        break;
    default: agree_on(L, g, x->a, fuel); agree_on(L, g, x->b, fuel);
    }
}

/* What says where dimension d of the view begins: of one with a shape of its own, all that is known of it. */
static const Agree *counted_from(Lower *L, const PTensor *v, int d)
{
    Agree *g = arena_new(L->a, Agree);
    int fuel = AGREE_FUEL;
    *g = (Agree){0};
    if (v->reshaped) {
        agree_on(L, g, v->offset, &fuel);
        for (int i = 0; i < v->rank; i++) {
            agree_on(L, g, v->extent[i], &fuel);
            agree_on(L, g, v->stride[i], &fuel);
        }
    } else {
        agree_on(L, g, v->start[v->dim_of[d]], &fuel);
    }
    return g->n || g->unknown ? g : NULL;
}

/* ---- axes ---- */

static void add(Lower *L, TensorAccess *a, Axis x)
{
    const PTensor *base = base_of(a->info->tensor);
    if (x.kind == AXIS_ELEMENT && x.space == base) x.size = scalar_poly(L, base->extent[x.dim]);
    x.start = domain_straight(L->d, x.start);
    if (a->axes.n < AXES_MAX) vec_push(L->a, &a->axes, x);
}

static Axis element(Lower *L, const PTensor *of, int dim, Poly start, Poly extent)
{
    const char *name = of->base ? arena_printf(L->a, "dimension %d of `%s`", dim, name_text(L, of->name))
                                : arena_printf(L->a, "dimension %d", dim);
    return (Axis){.kind = AXIS_ELEMENT, .space = of, .dim = dim, .name = name, .start = start, .extent = extent};
}

/* Every `unit`-th place: those of one access have one residue, and quotients that follow one another. */
static void stepped(Lower *L, TensorAccess *a, const Axis *e, int64_t unit, int64_t count)
{
    Axis x = *e;
    x.kind = AXIS_RESIDUE;
    x.name = arena_printf(L->a, "%s modulo %lld", e->name, (long long)unit);
    x.unit = poly_const(L->d, unit);
    x.start = poly_mod(L->d, e->start, x.unit);
    x.extent = poly_const(L->d, 1);
    add(L, a, x);
    x.kind = AXIS_QUOTIENT;
    x.name = arena_printf(L->a, "%s over %lld", e->name, (long long)unit);
    x.start = poly_div(L->d, e->start, x.unit);
    x.extent = poly_const(L->d, count);
    add(L, a, x);
}

/* Copies touch nothing beside the tensor: loads bring zeros from there. */
static bool outside(Lower *L, const PTensor *base, const DomBox *box)
{
    bool out = false;
    for (int b = 0; b < box->rank && b < base->rank; b++) {
        out |= domain_le(L->d, scalar_poly(L, base->extent[b]), box->start[b]);
        out |= domain_le(L->d, poly_add(L->d, box->start[b], box->extent[b]), poly_const(L->d, 0));
    }
    return out;
}

/* Where the places of all turns of the team's loops begin and end. */
static bool over_loops(Lower *L, const TensorAccess *a, Poly *begin, Poly *end)
{
    bool straight = true;
    for (uint32_t i = a->loops.n; i-- > 0 && straight;) {
        Atom x = a->loops.v[i].index;
        Poly first, last, of[2];
        int64_t step[2];
        bool team = !(domain_mentions(L->d, *begin, x) || domain_mentions(L->d, *end, x));
        for (int t = 0; t < a->nteam; t++) team |= a->team[t] == x;
        if (team) continue;
        straight = domain_range(L->d, x, &first, &last) && domain_linear(L->d, *begin, x, &step[0], &of[0]) && domain_linear(L->d, *end, x, &step[1], &of[1]) &&
                   step[0] > 0 && step[0] == step[1];
        if (!straight) break;
        *begin = of[0];
        *end = poly_add(L->d, of[1], poly_mul(L->d, last, poly_const(L->d, step[1])));
    }
    return straight;
}

const Sx *next_element(Lower *L, Poly p, uint32_t *i, Atom *atom)
{
    struct Scalars *s = L->scalars;
    while (*i < s->all.n) {
        const Scalar *x = s->all.v[(*i)++];
        const Made *m = &x->made[0];
        if (x->x->op != SX_LOAD || !m->set || m->facts != s->facts || x->uses & USE_VAR || m->poly.n != 1) continue;
        *atom = m->poly.terms[0].atoms[0];
        if (domain_mentions(L->d, p, *atom)) return x->x;
    }
    return NULL;
}

/* Of a start that elements say, what is added to them: `h` of out[n, oy[n] + h, :]; also where it goes round, of one place: `h` of
 * out[n, (oy[n] + h) % c, :] for h below c. */
static void counted_axis(Lower *L, TensorAccess *a, Axis x)
{
    Poly start = x.start, rest;
    bool round = domain_remainder(L->d, x.start, &start, &x.unit);
    if (round && (!poly_same(x.extent, poly_const(L->d, 1)) || domain_depends(L->d, x.unit) & ~(unsigned)DEP_LAUNCH)) return;
    x.start = start;
    Agree *g = arena_new(L->a, Agree);
    const Sx *element;
    Atom read;
    int64_t times;
    int fuel = AGREE_FUEL;
    *g = (Agree){0};
    for (uint32_t i = 0; (element = next_element(L, x.start, &i, &read)); x.start = rest) {
        if (!domain_linear(L->d, x.start, read, &times, &rest)) return;
        agree_on(L, g, element, &fuel);
    }
    if (poly_same(x.start, start) || domain_depends(L->d, x.start) & DEP_DATA) return;
    if (round && !(domain_le(L->d, poly_const(L->d, 0), x.start) && domain_lt(L->d, x.start, x.unit))) return;
    x.kind = AXIS_COUNTED;
    x.from = poly_sub(L->d, start, x.start);
    if (g->n || g->unknown) x.agree = g;
    add(L, a, x);
}

static void looped_axis(Lower *L, TensorAccess *a, Axis x)
{
    Poly begin = x.start, end = poly_add(L->d, x.start, x.extent), rest;
    const Sx *lo, *hi;
    Atom first, last;
    int64_t unit;
    if (L->k->trusts.n == 0 || !over_loops(L, a, &begin, &end)) return;
    for (uint32_t i = 0; (lo = next_element(L, begin, &i, &first));) {
        if (lo->tensor->rank != 1 || !trusts(L, lo->tensor, TRUST_SORTED)) continue;
        if (!domain_linear(L->d, begin, first, &unit, &rest) || unit < 1 || !domain_le(L->d, poly_const(L->d, 0), rest)) continue;
        for (uint32_t j = 0; (hi = next_element(L, end, &j, &last));) {
            x.unit = poly_const(L->d, unit);
            if (hi->tensor != lo->tensor || !domain_le(L->d, end, poly_mul(L->d, poly_atom(L->d, last), x.unit))) continue;
            x.start = scalar_poly(L, lo->idx[0]);
            x.extent = poly_sub(L->d, scalar_poly(L, hi->idx[0]), x.start);
            if (!domain_le(L->d, poly_const(L->d, 0), x.extent)) continue;
            x.kind = AXIS_SORTED;
            x.of = lo->tensor;
            x.name = arena_printf(L->a, "the places in `%s`", name_text(L, lo->tensor->name));
            x.bound = true;
            add(L, a, x);
            return;
        }
    }
}

static void base_axes(Lower *L, TensorAccess *a)
{
    DomBox box;
    const MoveInfo *m = a->info;
    const PTensor *t = m->tensor, *base = base_of(t);
    if (!region_box(L, m, &box)) return;
    a->never |= outside(L, base, &box);
    for (int b = 0; b < box.rank; b++) {
        add(L, a, element(L, base, b, box.start[b], box.extent[b]));
        looped_axis(L, a, element(L, base, b, box.start[b], box.extent[b]));
        counted_axis(L, a, element(L, base, b, box.start[b], box.extent[b]));
    }
    for (int d = 0; d < m->rank; d++) {
        int b = t->base ? t->dim_of[d] : d;
        const PDim *p = &m->g->dim[d];
        if (p->rows || p->open || p->extent < 2 || move_step(m, d) == 1) continue;
        Axis e = element(L, base, b, box.start[b], box.extent[b]);
        stepped(L, a, &e, move_step(m, d), p->extent);
    }
}

/* A view touches nothing outside of its bounds. */
static void bound_axes(Lower *L, TensorAccess *a)
{
    const PTensor *v = a->info->tensor;
    for (int d = 0; v->base && !v->run_time && !v->reshaped && d < v->rank; d++) {
        int b = v->dim_of[d];
        Poly extent = scalar_poly(L, v->extent[d]);
        Axis x = element(L, v->base, b, scalar_poly(L, v->start[b]), extent);
        x.bound = true;
        add(L, a, x);
    }
    for (int b = 0; v->run_time && b < v->base->rank; b++) {
        const struct PPlace *p = &v->place[b];
        if (!p->lo || !p->hi || (p->idx && !trusts(L, p->idx, TRUST_SORTED))) continue;
        if ((scalar_uses(L, p->lo) | scalar_uses(L, p->hi)) & USE_VAR) continue; /* what it held where the view was declared */
        Poly lo = scalar_poly(L, p->lo), count = poly_sub(L->d, scalar_poly(L, p->hi), lo);
        if (!domain_le(L->d, poly_const(L->d, 0), count)) continue;
        Axis x = element(L, v->base, b, lo, count);
        x.bound = true;
        if (p->idx) {
            x.kind = AXIS_SORTED;
            x.of = p->idx;
            x.name = arena_printf(L->a, "the places in `%s`", name_text(L, p->idx->name));
            x.unit = p->by ? scalar_poly(L, p->by) : poly_const(L->d, 1);
        }
        add(L, a, x);
    }
}

/* Places counted from where a view begins. */
static void own_axes(Lower *L, TensorAccess *a)
{
    const MoveInfo *m = a->info;
    const PTensor *v = m->tensor;
    for (int d = 0; v->base && (v->reshaped || v->run_time) && d < v->rank; d++) {
        if (m->g->dim[d].rows || m->g->dim[d].open) continue;
        Axis x = element(L, v, d, m->start[d], poly_const(L->d, move_width(m, d)));
        x.agree = counted_from(L, v, d);
        add(L, a, x);
    }
}

/* Rows of dimension d that elements of a trusted tensor pick: no two of them are equal, so a row has one place in each of its
 * dimensions, j being one. */
static void distinct_axis(Lower *L, TensorAccess *a, int d, const PTensor *idx, int j, const Sx *at, int64_t extent)
{
    const PTensor *t = a->info->tensor;
    if (scalar_uses(L, at) & USE_VAR) return; /* what it held where the move is */
    Axis x = element(L, base_of(t), d, scalar_poly(L, at), poly_const(L->d, extent));
    x.kind = AXIS_DISTINCT;
    x.of = &base_of(idx)->extent[j];
    x.name = arena_printf(L->a, "the places in `%s`", name_text(L, base_of(idx)->name));
    if (idx->base) x.start = poly_add(L->d, x.start, scalar_poly(L, idx->start[j]));
    if (t->base) { /* counted from where the view begins */
        Axis own = x;
        own.space = t;
        own.name = element(L, t, d, x.start, x.extent).name;
        own.agree = counted_from(L, t, d);
        if (t->reshaped || t->run_time) add(L, a, own);
        if (t->reshaped || scalar_uses(L, t->start[t->dim_of[d]]) & (USE_TEAM | USE_INDEX | USE_VAR)) return;
        x.dim = t->dim_of[d];
        x.from = scalar_poly(L, t->start[x.dim]);
    }
    add(L, a, x);
}

static void distinct_axes(Lower *L, TensorAccess *a)
{
    const MoveInfo *m = a->info;
    for (int d = 0; d < m->rank && !is_im2col(m->mv); d++) {
        const PDim *p = &m->g->dim[d];
        const Sx *start = p->start;
        const PTensor *idx = p->rows || p->extent == 1 ? row_numbers(start, p->rows) : NULL;
        if (!idx || idx->reshaped || base_of(idx)->rank != idx->rank || !trusts(L, base_of(idx), TRUST_DISTINCT)) continue;
        if (!p->rows) start = sx_through_lets(start);
        for (int j = 0; j < idx->rank; j++)
            distinct_axis(L, a, d, idx, j, p->rows ? p->rows->at[j] : start->idx[j], p->rows && p->rows->dim == j ? p->extent : 1);
    }
}

static void pixel_axes(Lower *L, TensorAccess *a)
{
    DomBox box;
    static const char *const NAMES[] = {"the numbers of pixels", "the channels"};
    if (!im2col_numbers(L, a->info, &box)) return;
    for (int i = 0; i < 2; i++)
        add(L, a, (Axis){.kind = AXIS_PIXEL, .space = a->info->mv->map, .dim = i, .name = NAMES[i], .start = box.start[i], .extent = box.extent[i]});
}

void axes_of(Lower *L, TensorAccess *a)
{
    Axis all[AXES_MAX];
    a->axes.v = all;
    a->axes.cap = AXES_MAX;
    if (a->info->g) { /* else nothing is known but the view */
        pixel_axes(L, a);
        base_axes(L, a);
        distinct_axes(L, a);
        own_axes(L, a);
    }
    bound_axes(L, a);
    a->axes.v = arena_array(L->a, Axis, a->axes.cap = a->axes.n);
    memcpy(a->axes.v, all, a->axes.n * sizeof *all);
}
