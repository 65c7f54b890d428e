/* Views whose place or extents the kernel itself makes: of data, the CTA, loops. What nobody can check at launch is cut: such
 * a view is the part of the elements that it names which its tensor has. */
#include <string.h>

#include "frontend/check/check.h"

bool view_dim_known(const PTensor *from, int d, const PDim *p)
{
    return p->whole || (p->start->launch && (!p->count || p->count->launch) && from->extent[d]->launch);
}

const Sx *view_keep(Env *e, const Stmt *s, const char *what, const Sx *x)
{
    if (!x || x->launch || x->op == SX_LET) return x;
    const char *name = arena_printf(e->c->arena, "%s.%s", name_of(e, s->id.name), what);
    PStmt *let = emit_stmt(e, P_LET, s->span);
    let->id = e->kernel->nlets++;
    let->name = names_intern(e->c->names, name, strlen(name));
    let->value = x;
    return sx_new(e, SX_LET, s->span, let->id, x, NULL);
}

/* What a sorted tensor says of places: an element of a tensor of integers of one dimension, or by as many times as much:
 * a constant or a size, and then no more than 32 bits, so that the product is in the same order. */
typedef struct Element {
    const Sx *load, *by; /* by: NULL: once */
} Element;

static bool scales(const Env *e, const Sx *by)
{
    return by && ((by->op == SX_CONST && by->k >= 1 && by->k <= INT32_MAX) ||
                  (by->op == SX_SYM && e->kernel->syms.v[by->k].kind == MF_SIZE));
}

static bool element(const Env *e, const Sx *x, Element *out)
{
    x = sx_through_lets(x);
    *out = (Element){x, NULL};
    if (x && x->op == SX_MUL) {
        const Sx *a = sx_through_lets(x->a), *b = sx_through_lets(x->b);
        *out = scales(e, b) ? (Element){a, b} : (Element){b, a};
    }
    if (!out->load || out->load->op != SX_LOAD || out->load->tensor->rank != 1) return false;
    return !out->by || (scales(e, out->by) && elem_info(out->load->tensor->type)->global_bits <= 32);
}

static bool same_scale(const Element *a, const Element *b)
{
    return a->by && b->by ? sx_same(a->by, b->by) : a->by == b->by;
}

static bool same_element(const Element *a, const Element *b)
{
    return a->load->tensor == b->load->tensor && sx_same(a->load->idx[0], b->load->idx[0]) && same_scale(a, b);
}

/* `x[idx[g] +: idx[g + 1] - idx[g]]`: the end, where it stands in the source; `x[idx[g] * 8 +: (idx[g + 1] - idx[g]) * 8]`. */
static const Sx *end_of(Env *e, const Sx *start, const Sx *count)
{
    Element first, from, by;
    count = sx_through_lets(count);
    if (!count) return NULL;
    if (count->op == SX_SUB) {
        bool same = sx_same(count->b, start) || sx_same(sx_through_lets(count->b), sx_through_lets(start)) ||
                    (element(e, count->b, &from) && element(e, start, &first) && same_element(&from, &first));
        return same ? count->a : NULL;
    }
    if (count->op != SX_MUL || !element(e, start, &first) || !first.by) return NULL;
    const Sx *a = sx_through_lets(count->a), *b = sx_through_lets(count->b), *n = sx_same(b, first.by) ? a : sx_same(a, first.by) ? b : NULL;
    bool same = n && n->op == SX_SUB && element(e, n->b, &by) && !by.by && same_element(&by, &(Element){first.load, NULL});
    return same ? sx_op(e, SX_MUL, n->a, first.by, count->span) : NULL;
}

/* `x[idx[g] +: min(idx[g + 1] - idx[g], n)]`, or fewer by a constant: the end of the group that the view is a part of. */
static const Sx *end_behind(Env *e, const Sx *start, const Sx *count)
{
    const Sx *end = end_of(e, start, count);
    count = sx_through_lets(count);
    if (end || !count) return end;
    if (count->op == SX_MIN) {
        end = end_behind(e, start, count->a);
        return end ? end : end_behind(e, start, count->b);
    }
    bool fewer = count->op == SX_SUB && count->b->op == SX_CONST && count->b->k >= 0;
    return fewer ? end_behind(e, start, count->a) : NULL;
}

bool view_dim_cut(Env *e, const Stmt *s, PTensor *from, int d, const PDim *p, PTensor *v, const Sx **start,
                  const Sx **extent)
{
    const Sx *zero = sx_const(e, 0, p->span), *size = from->extent[d], *first = view_keep(e, s, "first", p->start);
    const Sx *count = p->count ? p->count : sx_const(e, 1, p->span), *end = end_of(e, p->start, count);
    const Sx *behind = end ? end : end_behind(e, p->start, count);
    Element lo, hi;
    bool sorted = element(e, p->start, &lo) && element(e, behind, &hi) && lo.load->tensor == hi.load->tensor && same_scale(&lo, &hi);
    if (!end) {
        end = sx_op(e, SX_ADD, first, count, p->span);
        if (sorted) end = sx_op(e, SX_MIN, end, behind, p->span); /* whatever leaves 64 bits */
    }
    if (!first || !(end = view_keep(e, s, "end", end))) return false;
    const Sx *last = end;
    v->run_time = true;
    *start = sx_op(e, SX_MAX, first, zero, p->span); /* beyond the end the view is empty, wherever it starts */
    if (!p->marked) *start = sx_op(e, SX_MIN, *start, size, p->span); /* whether it is there is multiplied with an extent: a small number */
    *start = view_keep(e, s, "start", *start);
    end = sx_op(e, SX_MAX, sx_op(e, SX_MIN, end, size, p->span), *start, p->span);
    *extent = view_keep(e, s, "extent", sx_op(e, SX_SUB, end, *start, p->span));
    if (!from->base) /* else it lies where that view lies */
        v->place[d] = sorted ? (struct PPlace){lo.load->tensor, lo.load->idx[0], hi.load->idx[0], lo.by} : (struct PPlace){NULL, first, last, NULL};
    return *start && *extent;
}

/* From the inside out: as many rows as n elements give. A row that is longer than all of them leaves none. */
bool view_shape_cut(Env *e, const Stmt *s, PTensor *v, const Sx *n)
{
    const Sx *one = sx_const(e, 1, s->span), *zero = sx_const(e, 0, s->span), *rest = n, *stride = one;
    for (int d = v->rank - 1; d >= 0; d--) {
        const Sx *x = sx_op(e, SX_MAX, v->extent[d], zero, s->span);
        if (d == 0) x = sx_op(e, SX_MIN, x, sx_op(e, SX_MAX, rest, zero, s->span), s->span);
        v->extent[d] = x = view_keep(e, s, "extent", x);
        v->stride[d] = stride = view_keep(e, s, "stride", stride);
        if (d == 0) break;
        rest = sx_op(e, SX_DIV, rest, sx_op(e, SX_MAX, x, one, s->span), s->span);
        stride = sx_op(e, SX_MUL, stride, x, s->span);
        if (!rest || !stride) return false;
    }
    v->offset = view_keep(e, s, "offset", v->offset);
    return true;
}

void view_made(Env *e, const Stmt *s, PTensor *v)
{
    emit_stmt(e, P_VIEW, s->span)->view = v;
}
