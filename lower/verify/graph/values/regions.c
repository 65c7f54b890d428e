/* Whether parts of a tensor are apart that begin where numbers of run time say: where they met, their starts would be equal
 * in each dimension whose start goes in steps as large as the parts. Starts that are quotient and remainder of one number
 * are those of different numbers, then: of iterations that a team runs one after the other. Rows that two elements of a tensor
 * say, which is trusted to have no two equal ones, are those of one element.
 *
 * Coordinates are exact: a launch in which one leaves 32 bits, or what it is made from 64, is refused (E1122, E1117).
 * Coordinates from AWAY on name no place:
 * loads of iterations that are none go there.
 */
#include <string.h>

#include "lang/checked.h"
#include "lang/lang.h"
#include "lower/verify/graph/values/values.h"

enum { AWAY = INT32_MAX - INT16_MAX, PEEL = 6, PAIRS = 24 };

typedef struct Pair { /* equal where the parts meet */
    Form a, b;
} Pair;
typedef struct Pairs {
    Pair v[PAIRS];
    uint32_t n;
    bool away; /* of a map: coordinates from AWAY on name no place */
} Pairs;

/* ---- what was worked out ---- */

enum { EXACT_SLOTS = 1024, APART_SLOTS = 4096, REGION_SLOTS = 256 };

typedef struct Exact { /* x by exact sums is y; x 0: none */
    Form x, y;
    bool away;
    uint32_t graph; /* what is known in this one went into it; UINT32_MAX: nothing did */
} Exact;
typedef struct Parted { /* whether two regions are apart, whatever is known; a 0: none */
    uint32_t a, b;
    bool apart;
} Parted;
struct Regions {
    Exact exact[EXACT_SLOTS];
    Parted parted[APART_SLOTS];
    VEC(Region) each; /* region i has id i + 1 */
    uint32_t *slots, mask;
};

/* ---- coordinates ---- */

static Form exact(Verifier *v, Form x, bool away, int fuel);

static Form exact_atom(Verifier *v, uint32_t atom, bool away, int fuel)
{
    Forms *f = &v->f;
    FormAtom a = *atom_data(f, atom);
    int64_t k;
    if (fuel == 0) return form_of_atom(f, atom);
    if (a.kind == ATOM_SEL) {
        Form cond = form_simplify(f, a.a);
        v->by_known = true;
        if (form_is_const(f, cond, &k)) return exact(v, k ? a.b : a.c, away, fuel - 1);
        if (away && form_is_const(f, a.c, &k) && k >= AWAY) return exact(v, a.b, away, fuel - 1);
    }
    if (a.kind != ATOM_OP || a.type == IR_PRED) return form_of_atom(f, atom);
    Form x = exact(v, a.a, away, fuel - 1), y = exact(v, a.b, away, fuel - 1), zero = form_const(f, 0), r = 0;
    if (a.sub == IR_CVT) r = x;
    else if (a.sub == IR_ADD || a.sub == IR_SUB) r = form_add(f, x, a.sub == IR_ADD ? 1 : -1, y);
    else if (a.sub == IR_MUL && form_is_const(f, y, &k)) r = form_add(f, zero, k, x);
    else if (a.sub == IR_MUL && form_is_const(f, x, &k)) r = form_add(f, zero, k, y);
    else if (a.sub == IR_SHL && form_is_const(f, y, &k) && k >= 0 && k < 31) r = form_add(f, zero, INT64_C(1) << k, x);
    return r ? r : form_of_atom(f, atom);
}

static Form exact(Verifier *v, Form x, bool away, int fuel)
{
    Forms *f = &v->f;
    Form sum = x ? form_const(f, form_data(f, x)->k) : 0;
    for (uint32_t i = 0; x && sum && i < form_data(f, x)->n; i++) {
        FormTerm t = form_data(f, x)->t[i];
        sum = form_add(f, sum, t.c, exact_atom(v, t.atom, away, fuel));
    }
    return sum;
}

/* Of a finished graph: what is known does not change any more. */
Form exact_sum(Verifier *v, Form x, bool away)
{
    Exact *e = &v->regions->exact[(2 * x + away) % EXACT_SLOTS];
    if (x && e->x == x && e->away == away && (e->graph == UINT32_MAX || e->graph == v->runs)) {
        v->by_known |= e->graph != UINT32_MAX;
        return e->y;
    }
    bool before = v->by_known;
    v->by_known = false;
    Form y = exact(v, x, away, PEEL);
    *e = (Exact){x, y, away, v->by_known ? v->runs : UINT32_MAX};
    v->by_known |= before;
    return y;
}

/* ---- quotient and remainder ---- */

static const FormAtom *single(const Verifier *v, Form x, IrOpcode op)
{
    const FormData *d = form_data(&v->f, x);
    const FormAtom *a = d->n == 1 && d->k == 0 && d->t[0].c == 1 ? atom_data(&v->f, d->t[0].atom) : NULL;
    return a && a->kind == ATOM_OP && a->sub == op ? a : NULL;
}

/* x / n and y % n, where x and y have the same remainder: x is known with the two. */
static bool parts_of(Verifier *v, const FormAtom *x, const FormAtom *y)
{
    int64_t n;
    if (x == NULL || y == NULL || x->b != y->b || !divisor_not_zero(v, x->b)) return false;
    Form left = x->a, right = y->a;
    if (left == right) return true;
    bool number = form_is_const(&v->f, x->b, &n);
    Form far = form_add(&v->f, left, -1, right);
    if (far == 0 || !number || form_data(&v->f, far)->k % n) return false;
    for (uint32_t i = 0; i < form_data(&v->f, far)->n; i++)
        if (form_data(&v->f, far)->t[i].c % n) return false;
    return true;
}

static void add_pair(Pairs *p, Form a, Form b)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (p->v[i].a == a && p->v[i].b == b) return;
    if (a && b && p->n < PAIRS) p->v[p->n++] = (Pair){a, b};
}

static void put_together(Verifier *v, Pairs *p, Pair x, Pair y)
{
    const FormAtom *a = single(v, x.a, IR_DIV), *c = a ? single(v, y.a, IR_MOD) : NULL;
    if (c == NULL || !parts_of(v, a, c)) return;
    const FormAtom *b = single(v, x.b, IR_DIV), *d = single(v, y.b, IR_MOD);
    if (!parts_of(v, b, d) || a->b != b->b) return;
    Form left = a->a, right = b->a;
    add_pair(p, exact_sum(v, left, p->away), exact_sum(v, right, p->away));
}

/* ---- rows by index ---- */

bool tensor_trusted(const Verifier *v, Trust fact, uint32_t tensor)
{
    const MfKernel *mf = &v->k->mf;
    for (uint32_t i = 0; i < mf->trusts.n; i++)
        if (mf->trusts.v[i].fact == fact && mf->trusts.v[i].tensor == tensor) return true;
    return false;
}

/* Where the copy happens x is not below 0: it has been read then, as what is not in the tensor is -1. */
static bool has_been_read(Verifier *v, const Region *r, Form x)
{
    Forms *f = &v->f;
    uint32_t known = f->known.n, facts = f->facts.n;
    form_assume(f, r->cond);
    bool ok = form_nonneg(f, x);
    f->known.n = known;
    f->facts.n = facts;
    return ok;
}

/* Rows that fit 32 bits, as coordinates signed ones: what is made of them is exact. */
static bool small_numbers(const Verifier *v, uint32_t tensor, bool coordinate)
{
    const ElemInfo *e = elem_info((ElemType)v->k->mf.tensors.v[tensor].type);
    return e->global_bits < 32 || (e->global_bits == 32 && (e->kind == ELEM_SINT || !coordinate));
}

static void find_row(Verifier *v, Region *r, unsigned d)
{
    Forms *f = &v->f;
    const FormData *x = r->exact[d] ? form_data(f, r->exact[d]) : NULL;
    if (x == NULL || x->n != 1 || x->t[0].c < 1) return;
    FormAtom a = *atom_data(f, x->t[0].atom);
    FormTerm t = x->t[0];
    int64_t k = x->k;
    if (a.kind != ATOM_LOAD || !small_numbers(v, a.a, r->map != UINT32_MAX) || !tensor_trusted(v, TRUST_DISTINCT, a.a)) return;
    if (r->row == NULL) {
        r->row = arena_array(&v->run, Row, MAP_RANK);
        for (unsigned i = 0; i < MAP_RANK; i++) r->row[i].tensor = UINT32_MAX;
    }
    Row *row = &r->row[d];
    *row = (Row){.tensor = a.a, .scale = t.c, .k = k, .byte = exact_sum(v, a.b, false)};
    row->whole = row->byte && r->wide[d] <= t.c;
    row->read = has_been_read(v, r, form_of_atom(f, t.atom));
}

/* Rows of different elements. Were they equal, both would have been read where one of them was. */
static bool other_rows(Verifier *v, const Region *a, const Region *b)
{
    v->by_known |= a->row && b->row;
    for (unsigned d = 0; a->row && b->row && d < a->n; d++) {
        const Row *x = &a->row[d], *y = &b->row[d];
        if (x->tensor == UINT32_MAX || x->tensor != y->tensor || x->scale != y->scale || x->k != y->k) continue;
        if (x->whole && y->whole && (x->read || y->read) && numbers_unequal(v, x->byte, y->byte)) return true;
    }
    return false;
}

/* ---- parts ---- */

static int64_t gcd_of(const Forms *f, Form x, int64_t g)
{
    for (uint32_t i = 0; i < form_data(f, x)->n; i++) g = gcd_s64(g, form_data(f, x)->t[i].c);
    return g;
}

static bool small(int64_t x)
{
    return x > -COORDINATE_MAX && x < COORDINATE_MAX;
}

/* Dimension dim: whether it keeps the parts apart; otherwise what is equal where they meet. */
static bool dimension(Verifier *v, const Region *a, const Region *b, unsigned dim, Pairs *p)
{
    Forms *f = &v->f;
    Form x = a->exact[dim], y = b->exact[dim];
    int64_t wide_x = a->wide[dim], wide_y = b->wide[dim];
    if (x == 0 || y == 0) return false;
    int64_t g = gcd_of(f, x, gcd_of(f, y, 0)), k = form_data(f, x)->k, far = form_data(f, y)->k, lo, hi;
    if (!small(k) || !small(far) || !small(wide_x) || !small(wide_y) || !small(g)) return false;
    far -= k;
    if (g == 0) return far >= wide_x || -far >= wide_y;
    floor_div_s64(-wide_y - far, g, &lo); /* g times a difference, plus far, lies between -wide_y and wide_x */
    ceil_div_s64(wide_x - far, g, &hi);
    if (++lo > --hi) return true;
    if (lo == hi) add_pair(p, form_divided(f, x, g, lo), form_divided(f, y, g, 0));
    return false;
}

static uint32_t hash_region(const Region *r)
{
    uint32_t h = r->map;
    for (unsigned d = 0; d < r->n; d++) h = (h ^ r->lo[d]) * UINT32_C(0x9E3779B1) + r->exact[d];
    return h ^ h >> 16;
}

static bool same_region(const Region *a, const Region *b)
{
    bool same = a->map == b->map && a->tensor == b->tensor && a->n == b->n;
    for (unsigned d = 0; same && d < a->n; d++)
        same = a->lo[d] == b->lo[d] && a->exact[d] == b->exact[d] && a->wide[d] == b->wide[d];
    return same;
}

static void place_region(Verifier *v, uint32_t id)
{
    uint32_t i = hash_region(&v->regions->each.v[id - 1]) & v->regions->mask;
    while (v->regions->slots[i]) i = (i + 1) & v->regions->mask;
    v->regions->slots[i] = id;
}

static uint32_t region_id(Verifier *v, const Region *r)
{
    if (v->regions->each.n >= v->regions->mask / 2) {
        v->regions->mask = v->regions->mask ? v->regions->mask * 2 + 1 : REGION_SLOTS - 1;
        v->regions->slots = arena_array(v->arena, uint32_t, v->regions->mask + 1);
        for (uint32_t id = 1; id <= v->regions->each.n; id++) place_region(v, id);
    }
    uint32_t i = hash_region(r) & v->regions->mask;
    for (; v->regions->slots[i]; i = (i + 1) & v->regions->mask)
        if (same_region(&v->regions->each.v[v->regions->slots[i] - 1], r)) return v->regions->slots[i];
    vec_push(v->arena, &v->regions->each, *r);
    v->regions->each.v[v->regions->each.n - 1].row = NULL; /* of one graph */
    return v->regions->slots[i] = v->regions->each.n;
}

void regions_prepare(Verifier *v)
{
    const Forms *f = &v->f;
    if (v->transfers.n == 0) return;
    if (v->regions == NULL) v->regions = arena_new(v->arena, struct Regions);
    unequal_prepare(v);
    for (uint32_t i = 0; i < v->transfers.n; i++) {
        Region *r = v->transfers.v[i].region;
        for (unsigned d = 0; r && d < r->n; d++) {
            r->exact[d] = exact_sum(v, r->lo[d], r->map != UINT32_MAX);
            find_row(v, r, d);
        }
        if (r) r->id = region_id(v, r);
        if (r && r->view) view_prepare(v, r);
    }
    for (uint32_t i = 0; i < f->known.n; i++) {
        FormAtom k = *atom_data(f, f->known.v[i].atom);
        Form x = f->known.v[i].value && k.kind == ATOM_GT0 ? exact_sum(v, k.a, true) : 0;
        if (x) vec_push(&v->run, &v->positive, x);
    }
}

static bool find_apart(Verifier *v, const Region *a, const Region *b)
{
    Pairs p = {.away = a->map != UINT32_MAX};
    if (other_rows(v, a, b)) return true;
    for (unsigned i = 0; i < a->n; i++)
        if (dimension(v, a, b, i, &p)) return true;
    for (uint32_t i = 0; i < p.n; i++) {
        if (numbers_unequal(v, p.v[i].a, p.v[i].b)) return true;
        for (uint32_t j = 0; j <= i; j++) {
            put_together(v, &p, p.v[i], p.v[j]);
            put_together(v, &p, p.v[j], p.v[i]);
        }
    }
    return false;
}

/* What was worked out in one graph holds in others, unless what is known there went into it. */
bool regions_apart(Verifier *v, const Region *a, const Region *b)
{
    uint32_t h = (a->id * UINT32_C(0x9E3779B1) + b->id) * UINT32_C(0x85EBCA6B);
    Parted *m = &v->regions->parted[(h ^ h >> 16) % APART_SLOTS];
    if (m->a == a->id && m->b == b->id) return m->apart;
    v->by_known = false;
    bool apart = find_apart(v, a, b);
    if (!v->by_known) *m = (Parted){a->id, b->id, apart};
    return apart;
}
