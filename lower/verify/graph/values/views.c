/* Copies by maps that the kernel makes: where the last map.set of a slot put its map, and whether two such views are apart.
 *
 * lower/ir/check_maps.c has shown that a slot holds the map that map.set would make now. Where each pitch has room for all that the
 * pitches behind it reach (a chain), different coordinates within the map are different bytes, and all of them lie in
 * as many rows of the first pitch as the first extent says. Copies touch nothing outside their map, and a map that is not
 * empty lies in its tensor, so that no product of its extents and pitches leaves 64 bits.
 */
#include <string.h>

#include "lang/checked.h"
#include "lang/lang.h"
#include "lang/map_rules.h"
#include "lower/verify/graph/unroll/unroll.h"
#include "lower/verify/graph/values/values.h"

enum { LOADS = 8, LOADS_DEPTH = 8, SPLITS = 2, FACTORS = 6, PAIR_SLOTS = 1024 };

typedef struct Placed { /* a slot of a buffer of maps, and what was put there last */
    uint32_t rank, buf;
    int64_t slot;
    View *view;
} Placed;
typedef struct ViewPair { /* two views that are not empty; a 0: none */
    uint32_t a, b;
    Form first, second; /* where in a sorted tensor the elements are by which they begin */
    bool ordered;       /* in every graph: if those are different elements, the views are apart */
    uint32_t graph;     /* apart: in this one */
    bool apart;
} ViewPair;
struct Views {
    VEC(Placed) slots; /* of this run */
    VEC(View *) each;  /* view i has id i + 1 */
    ViewPair pair[PAIR_SLOTS];
};

/* ---- what is known ---- */

typedef struct Mark { /* before something is assumed */
    uint32_t known, facts, from;
    Form *hidden;
} Mark;

static Mark mark(const Verifier *v)
{
    return (Mark){v->f.known.n, v->f.facts.n, v->f.known_from, NULL};
}

/* What is shown from here on holds in every graph. */
static Mark hide(Verifier *v)
{
    Mark m = mark(v);
    v->f.known_from = m.known;
    if (m.facts) m.hidden = arena_array(&v->run, Form, m.facts);
    if (m.facts) memcpy(m.hidden, v->f.facts.v, m.facts * sizeof(Form));
    v->f.facts.n = 0;
    return m;
}

static void back_to(Verifier *v, Mark m)
{
    v->f.known.n = m.known;
    v->f.known_from = m.from;
    if (m.hidden) memcpy(v->f.facts.v, m.hidden, m.facts * sizeof(Form));
    v->f.facts.n = m.facts;
}

/* ---- products ---- */

typedef struct Product { /* k times them all */
    int64_t k;
    uint32_t n;
    Form by[FACTORS];
} Product;

static bool is_product(const FormAtom *a)
{
    return a->kind == ATOM_OP && a->sub == IR_MUL && a->type == IR_I64;
}

static bool multiply(Forms *f, Form x, Product *out)
{
    const FormData *d = x ? form_data(f, x) : NULL;
    if (d == NULL) return false;
    if (d->n == 0) return mul_s64(out->k, d->k, &out->k);
    const FormAtom *a = d->n == 1 && d->k == 0 ? atom_data(f, d->t[0].atom) : NULL;
    if (a && is_product(a)) return mul_s64(out->k, d->t[0].c, &out->k) && multiply(f, a->a, out) && multiply(f, a->b, out);
    if (out->n == FACTORS || (a && !mul_s64(out->k, d->t[0].c, &out->k))) return false;
    out->by[out->n++] = a ? form_of_atom(f, d->t[0].atom) : x;
    return true;
}

/* Takes the factors of y out of x. */
static bool divide(Product *x, const Product *y)
{
    bool ok = y->k > 0 && x->k % y->k == 0;
    for (uint32_t i = 0; i < y->n && ok; i++) {
        uint32_t at = 0;
        while (at < x->n && x->by[at] != y->by[i]) at++;
        ok = at < x->n;
        if (ok) x->by[at] = x->by[--x->n];
    }
    if (ok) x->k /= y->k;
    return ok;
}

/* x / y, where that is a form; 0: it is not. */
static Form quotient(Verifier *v, Form x, Form y)
{
    Product all = {.k = 1}, by = {.k = 1};
    if (!multiply(&v->f, x, &all) || !multiply(&v->f, y, &by) || !divide(&all, &by) || all.n > 1) return 0;
    return all.n ? form_add(&v->f, form_const(&v->f, 0), all.k, all.by[0]) : form_const(&v->f, all.k);
}

/* x * y is no more than z. */
static bool fits(Verifier *v, Form x, Form y, Form z)
{
    Forms *f = &v->f;
    int64_t k;
    Form most = quotient(v, z, y);
    if (most) return x && form_nonneg_in_cases(f, form_add(f, most, -1, x), SPLITS);
    Form reach = x && y && form_is_const(f, y, &k) ? form_add(f, form_const(f, 0), k, x) : 0;
    return reach && z && form_nonneg_in_cases(f, form_add(f, z, -1, reach), SPLITS);
}

/* No turn of a loop over copies has one of its own. */
static bool shallow(const Verifier *v, const View *w)
{
    uint32_t deep = form_data(&v->f, w->from)->depth + form_data(&v->f, w->some)->depth;
    for (uint32_t i = 0; i < w->n; i++) deep += form_data(&v->f, w->dim[i])->depth + form_data(&v->f, w->pitch[i])->depth;
    return deep == 0;
}

/* Different coordinates are different bytes. */
static bool chain(Verifier *v, const View *w)
{
    Forms *f = &v->f;
    bool ok = form_data(f, w->pitch[w->n - 1])->k > 0;
    for (uint32_t i = w->n; ok && i-- > 1;)
        ok = fits(v, form_simplify(f, w->dim[i]), form_simplify(f, w->pitch[i]), form_simplify(f, w->pitch[i - 1]));
    return ok;
}

/* ---- where maps lie ---- */

static View **slot_of(const Verifier *v, const Bytes *at)
{
    for (uint32_t i = 0; v->views && i < v->views->slots.n; i++) {
        Placed *p = &v->views->slots.v[i];
        if (p->rank == at->rank && p->buf == at->buf && p->slot == at->slot) return &p->view;
    }
    return NULL;
}

View *view_at(const Verifier *v, const Bytes *at)
{
    View **slot = slot_of(v, at);
    return slot && (*slot)->n ? *slot : NULL;
}

static bool same_map(const View *a, const View *b)
{
    bool same = a->tensor == b->tensor && a->n == b->n && a->from == b->from && a->some == b->some;
    for (uint32_t i = 0; same && i < a->n; i++) same = a->dim[i] == b->dim[i] && a->pitch[i] == b->pitch[i];
    return same;
}

static View *one_of(Verifier *v, const View *w)
{
    for (uint32_t i = v->views->each.n; i-- > 0;)
        if (same_map(v->views->each.v[i], w)) return v->views->each.v[i];
    View *made = arena_new(v->arena, View);
    *made = *w;
    made->id = v->views->each.n + 1;
    Mark m = hide(v);
    form_assume(&v->f, w->some);
    made->chain = w->n && shallow(v, w) && chain(v, w);
    back_to(v, m);
    vec_push(v->arena, &v->views->each, made);
    return made;
}

/* Where an operand has no form the view is not known. */
static View *view_of(Verifier *v, uint32_t op)
{
    const MfMap *m = &v->k->mf.maps.v[verify_arg(v, op, IRK_MAP)->id];
    const IrOp *from = verify_def(v, verify_arg(v, op, IRK_FROM));
    const IrArg *dim, *pitch;
    unsigned n = ir_list(v->ops[op], IRK_DIMS, &dim), pitches = ir_list(v->ops[op], IRK_PITCHES, &pitch);
    View w = {.tensor = m->tensor};
    if (from && from->op == IR_GADDR && ir_find(from, IRK_TENSOR)->id == m->tensor && n <= MAP_RANK && pitches + 1 == n) {
        const IrArg *byte = ir_find(from, IRK_BYTE);
        const IrOp *sel = verify_def(v, byte);
        w.from = run_value(v, byte);
        w.some = sel && sel->op == IR_SEL ? run_value(v, ir_find(sel, IRK_COND)) : form_const(&v->f, 1);
        bool known = w.from && w.some;
        for (unsigned i = 0; i < n; i++) known = (w.dim[i] = run_value(v, &dim[i])) && known;
        for (unsigned i = 0; i + 1 < n; i++) known = (w.pitch[i] = run_value(v, &pitch[i])) && known;
        w.pitch[n - 1] = form_const(&v->f, map_global_bits(m->type) / 8);
        w.n = known ? n : 0;
    }
    return one_of(v, &w);
}

void views_clear(Verifier *v)
{
    if (v->views) memset(&v->views->slots, 0, sizeof v->views->slots);
}

void view_set(Verifier *v, uint32_t op, const Bytes *at)
{
    if (v->views == NULL) v->views = arena_new(v->arena, struct Views);
    View **slot = slot_of(v, at), *w = view_of(v, op);
    if (slot) *slot = w;
    else vec_push(&v->run, &v->views->slots, ((Placed){at->rank, at->buf, at->slot, w}));
}

void view_note(Verifier *v, uint32_t op, const View *w)
{
    alike_note(v, op, w->from);
    for (uint32_t i = 0; i < w->n; i++) {
        alike_note(v, op, w->dim[i]);
        alike_note(v, op, w->pitch[i]);
    }
}

/* ---- where a view is not empty ---- */

/* Where its pred does not hold a copy through the view does not happen, or lies outside of the map. */
static bool nothing_without(Verifier *v, const Region *r)
{
    Forms *f = &v->f;
    const View *w = r->view;
    Mark m = mark(v);
    form_assume(f, form_not(f, w->some));
    bool nothing = form_is(f, form_simplify(f, w->some), 0) && form_is(f, form_simplify(f, r->cond), 0);
    for (uint32_t i = 0; i < r->n && !nothing; i++)
        nothing = form_is(f, form_simplify(f, w->some), 0) && form_le(f, form_simplify(f, w->dim[i]), form_simplify(f, r->lo[i]));
    back_to(v, m);
    return nothing;
}

void view_prepare(Verifier *v, Region *r)
{
    r->within = form_is(&v->f, r->view->some, 1) || nothing_without(v, r);
}

bool views_same(const Region *a, const Region *b)
{
    return a->view == b->view && a->view->chain && a->within && b->within;
}

/* ---- views by elements of a sorted tensor ---- */

typedef struct Loads { /* elements of one sorted tensor that a view is made of */
    uint32_t n, tensor;
    Form value[LOADS], byte[LOADS];
} Loads;

static bool sorted(const Verifier *v, uint32_t tensor)
{
    ElemType type = (ElemType)v->k->mf.tensors.v[tensor].type;
    bool exact = elem_info(type)->kind == ELEM_SINT || elem_info(type)->global_bits < 64; /* as 64 bits with a sign */
    return exact && tensor_trusted(v, TRUST_SORTED, tensor);
}

/* Elements that are not in the tensor are -1 and in no order. */
static void find_loads(Verifier *v, Form x, Loads *out, int depth)
{
    Forms *f = &v->f;
    for (uint32_t i = 0; x && depth && i < form_data(f, x)->n; i++) {
        uint32_t atom = form_data(f, x)->t[i].atom;
        FormAtom a = *atom_data(f, atom);
        if (a.kind == ATOM_LOAD && form_is(f, form_simplify(f, a.c), 1) && (out->n ? a.a == out->tensor : sorted(v, a.a))) {
            Form value = form_of_atom(f, atom);
            bool there = out->n == LOADS;
            for (uint32_t j = 0; j < out->n && !there; j++) there = out->value[j] == value;
            if (there) continue;
            out->tensor = a.a;
            out->value[out->n] = value;
            out->byte[out->n++] = a.b;
        } else if (a.kind == ATOM_SEL || (a.kind == ATOM_OP && a.type != IR_PRED)) {
            if (a.kind == ATOM_OP) find_loads(v, a.a, out, depth - 1);
            find_loads(v, a.b, out, depth - 1);
            if (a.kind == ATOM_SEL) find_loads(v, a.c, out, depth - 1);
        }
    }
}

/* How many rows of the first pitch lie in front of it, where it begins at a row; 0: not known. */
static Form first_row(Verifier *v, const View *w)
{
    Forms *f = &v->f;
    Form from = form_simplify(f, w->from), pitch = form_simplify(f, w->pitch[0]);
    int64_t k;
    const FormData *d = form_data(f, from);
    if (form_is_const(f, pitch, &k)) {
        bool all = k > 0 && d->k % k == 0;
        for (uint32_t i = 0; i < d->n && all; i++) all = d->t[i].c % k == 0;
        return all ? form_divided(f, from, k, d->k / k) : 0;
    }
    return quotient(v, from, pitch);
}

/* Elements behind others in a sorted tensor are not less. */
static void assume_sorted(Verifier *v, const Loads *low, const Loads *high)
{
    Forms *f = &v->f;
    for (uint32_t i = 0; i < low->n; i++) {
        for (uint32_t j = 0; j < high->n; j++) {
            if (!form_nonneg(f, form_add(f, high->byte[j], -1, low->byte[i]))) continue;
            Form fact = form_add(f, high->value[j], -1, low->value[i]);
            if (fact) vec_push(v->arena, &f->facts, fact);
        }
    }
}

/* Where the element of `low` lies in front of that of `high`, by a whole element, its rows end where those of `high` begin, or
 * before. */
static bool below(Verifier *v, const View *low, const View *high, const Loads *l, const Loads *h)
{
    Forms *f = &v->f;
    int64_t size = elem_info((ElemType)v->k->mf.tensors.v[l->tensor].type)->global_bits / 8;
    Form far = form_add(f, form_add(f, h->byte[0], -1, l->byte[0]), -1, form_const(f, size));
    if (far == 0) return false;
    if (form_data(f, far)->hi < 0) return true; /* nowhere */
    Mark m = mark(v);
    vec_push(v->arena, &f->facts, far);
    assume_sorted(v, l, h);
    Form end = form_add(f, first_row(v, low), 1, form_simplify(f, low->dim[0])), begin = first_row(v, high);
    bool ok = end && begin && form_nonneg(f, form_add(f, begin, -1, end));
    back_to(v, m);
    return ok;
}

static bool by_elements(const Verifier *v, const Loads *l)
{
    int64_t size = elem_info((ElemType)v->k->mf.tensors.v[l->tensor].type)->global_bits / 8;
    const FormData *d = form_data(&v->f, l->byte[0]);
    bool all = d->k % size == 0;
    for (uint32_t i = 0; i < d->n && all; i++) all = d->t[i].c % size == 0;
    return all;
}

static void find_all_loads(Verifier *v, const View *w, Loads *out)
{
    find_loads(v, form_simplify(&v->f, w->from), out, LOADS_DEPTH);
    if (out->n) find_loads(v, form_simplify(&v->f, w->dim[0]), out, LOADS_DEPTH);
}

static bool exact_bytes(Verifier *v, Loads *l)
{
    bool ok = l->n > 0;
    for (uint32_t i = 0; i < l->n; i++) ok = (l->byte[i] = exact_sum(v, l->byte[i], false)) && ok;
    return ok && by_elements(v, l);
}

static void assume_both(Verifier *v, const View *a, const View *b)
{
    form_assume(&v->f, a->some);
    form_assume(&v->f, b->some);
}

/* Both begin at elements of one sorted tensor: whichever lies in front, if they are not one, its view ends first. What exact_sum
 * finds is kept, so only what is known goes into it. */
static void find_order(Verifier *v, const View *a, const View *b, ViewPair *p)
{
    Loads x = {0}, y = {0};
    if (a == b || a->tensor != b->tensor || a->n < 2 || b->n < 2 || !a->chain || !b->chain) return;
    Mark all = hide(v), none = mark(v);
    assume_both(v, a, b);
    bool rows = form_simplify(&v->f, a->pitch[0]) == form_simplify(&v->f, b->pitch[0]);
    find_all_loads(v, a, &x);
    find_all_loads(v, b, &y);
    back_to(v, none);
    if (rows && exact_bytes(v, &x) && exact_bytes(v, &y) && x.tensor == y.tensor) {
        assume_both(v, a, b);
        p->ordered = below(v, a, b, &x, &y) && below(v, b, a, &y, &x);
        p->first = x.byte[0];
        p->second = y.byte[0];
    }
    back_to(v, all);
}

bool views_apart(Verifier *v, const Region *a, const Region *b)
{
    if (a->view == NULL || b->view == NULL || !a->within || !b->within) return false;
    uint32_t x = a->view->id, y = b->view->id;
    ViewPair *p = &v->views->pair[(x * UINT32_C(0x9E3779B1) + y) % PAIR_SLOTS];
    if (p->a != x || p->b != y) {
        *p = (ViewPair){.a = x, .b = y, .graph = UINT32_MAX};
        find_order(v, a->view, b->view, p);
    }
    if (p->ordered && p->graph != v->runs) {
        p->graph = v->runs;
        p->apart = numbers_unequal(v, p->first, p->second);
    }
    return p->ordered && p->apart;
}
