/* Whether parts of a tensor are apart that begin where numbers of run time say: in some dimension the difference of their starts never
 * lies within their widths, whatever multiples of one of its coefficients it has.
 *
 * Coordinates are exact: a launch in which one leaves 32 bits, or what it is made from 64, is refused (E1122, E1117).
 * Coordinates from AWAY on name no place:
 * loads of iterations that are none go there.
 */
#include "lang/checked.h"
#include "lower/verify/graph/values/values.h"

enum { AWAY = INT32_MAX - INT16_MAX, PEEL = 6, COORDINATE_MAX = 1 << 30 };

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

/* x by exact sums. */
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

void regions_prepare(Verifier *v)
{
    for (uint32_t i = 0; i < v->transfers.n; i++) {
        Region *r = v->transfers.v[i].region;
        for (unsigned d = 0; r && d < r->n; d++) r->exact[d] = exact(v, r->lo[d], r->map != UINT32_MAX, PEEL);
    }
}

/* ---- parts ---- */

typedef struct Difference {
    int64_t k;
    uint32_t n;
    FormTerm t[2 * FORM_TERMS];
} Difference;

/* Adds c times x: an index of a loop over copies is another one in each of the two parts, so it stays. */
static bool gather(const Verifier *v, Difference *d, Form x, int64_t c)
{
    const FormData *data = form_data(&v->f, x);
    for (uint32_t i = 0; i < data->n; i++) {
        FormTerm t = data->t[i];
        uint32_t at = 0;
        while (at < d->n && (d->t[at].atom != t.atom || atom_data(&v->f, t.atom)->depth)) at++;
        if (at == d->n) d->t[d->n++] = (FormTerm){0, t.atom};
        if (!mul_s64(t.c, c, &t.c) || !add_s64(d->t[at].c, t.c, &d->t[at].c)) return false;
    }
    return true;
}

static bool add_range(const Verifier *v, FormTerm t, int64_t *lo, int64_t *hi)
{
    const FormAtom *a = atom_data(&v->f, t.atom);
    int64_t x, y;
    if (t.c == 0) return true;
    if (a->lo == INT64_MIN || a->hi == INT64_MAX || !mul_s64(t.c, a->lo, &x) || !mul_s64(t.c, a->hi, &y)) return false;
    return add_s64(*lo, x < y ? x : y, lo) && add_s64(*hi, x < y ? y : x, hi);
}

/* It is never above `from` and below `past`, whatever multiples of g it has; g 0: whatever its terms are. */
static bool beside(const Verifier *v, const Difference *d, int64_t g, int64_t from, int64_t past)
{
    int64_t lo = d->k, hi = d->k, first;
    for (uint32_t i = 0; i < d->n; i++)
        if ((g == 0 || d->t[i].c % g) && !add_range(v, d->t[i], &lo, &hi)) return false;
    if (!sub_s64(from, hi, &from) || !sub_s64(past, lo, &past)) return false;
    if (g == 0) return from >= 0 || past <= 0;
    return floor_div_s64(from, g, &first) && add_s64(first, 1, &first) && mul_s64(first, g, &first) && first >= past;
}

static bool small(int64_t x)
{
    return x > -COORDINATE_MAX && x < COORDINATE_MAX;
}

static bool dimension(const Verifier *v, const Region *a, const Region *b, unsigned dim)
{
    Form x = a->exact[dim], y = b->exact[dim];
    Difference d = {0};
    if (x == 0 || y == 0 || !sub_s64(form_data(&v->f, y)->k, form_data(&v->f, x)->k, &d.k)) return false;
    if (!small(a->wide[dim]) || !small(b->wide[dim]) || !gather(v, &d, y, 1) || !gather(v, &d, x, -1)) return false;
    if (beside(v, &d, 0, -b->wide[dim], a->wide[dim])) return true;
    for (uint32_t i = 0; i < d.n; i++) {
        int64_t g = d.t[i].c < 0 ? -d.t[i].c : d.t[i].c;
        if (g > 1 && small(g) && beside(v, &d, g, -b->wide[dim], a->wide[dim])) return true;
    }
    return false;
}

bool regions_apart(const Verifier *v, const Region *a, const Region *b)
{
    for (unsigned i = 0; i < a->n; i++)
        if (dimension(v, a, b, i)) return true;
    return false;
}
