/* Which bytes of a buffer an access touches: all of lo .. hi, or pieces of one width that begin one step after the other. */
#include "lang/checked.h"
#include "lower/verify/graph/values/values.h"

bool conds_exclusive(Verifier *v, Form a, Form b)
{
    Forms *f = &v->f;
    if (form_is(f, a, 1) || form_is(f, b, 1)) return form_is(f, a, 0) || form_is(f, b, 0);
    if (form_is(f, form_guard(f, a, b), 0)) return true;
    a = form_simplify(f, a);
    b = form_simplify(f, b);
    if (a == 0 || b == 0) return form_is(f, a, 0) || form_is(f, b, 0);
    return form_is(f, form_guard(f, a, b), 0);
}

bool bytes_same_place(const Bytes *a, const Bytes *b)
{
    return a->rank == b->rank && a->buf == b->buf && a->slot == b->slot;
}

bool bytes_equal(const Bytes *a, const Bytes *b)
{
    return a->lo == b->lo && a->hi == b->hi && a->step == b->step && a->width == b->width;
}

static bool width_of(Verifier *v, const Bytes *at, int64_t *width)
{
    if (at->step) *width = at->width;
    return at->step || form_is_const(&v->f, form_add(&v->f, at->hi, -1, at->lo), width);
}

/* All pieces of a begin at lo modulo g, all of b's at another place: apart if they are within one such period. */
static bool in_gaps(Verifier *v, const Bytes *a, const Bytes *b)
{
    int64_t wa, wb, far, g = gcd_s64(a->step, b->step);
    if (g == 0 || !width_of(v, a, &wa) || !width_of(v, b, &wb)) return false;
    if (!form_is_const(&v->f, form_add(&v->f, b->lo, -1, a->lo), &far)) return false;
    far = floor_mod_s64(far, g);
    return wa >= 0 && wb >= 0 && far >= wa && wb <= g - far;
}

bool bytes_overlap(Verifier *v, const Bytes *a, const Bytes *b)
{
    if (!bytes_same_place(a, b)) return false;
    return !form_le(&v->f, a->hi, b->lo) && !form_le(&v->f, b->hi, a->lo) && !in_gaps(v, a, b);
}

bool bytes_join(Bytes *a, const Bytes *b)
{
    if (a->step || b->step) return false;
    if (a->hi == b->lo) a->hi = b->hi;
    else if (b->hi == a->lo) a->lo = b->lo;
    else return false;
    return true;
}

/* ---- loops ---- */

/* From the first byte to the last one, where that is a number. */
static bool reach(Verifier *v, const Bytes *at, int64_t *bytes)
{
    return form_is_const(&v->f, form_add(&v->f, at->hi, -1, at->lo), bytes) && *bytes > 0;
}

/* The turns fill the gaps between the pieces of the first one. */
static bool interleaved(Verifier *v, const Bytes *at, int64_t c, Form turns, int64_t *all)
{
    int64_t n;
    return at->step && c >= at->width && form_is_const(&v->f, turns, &n) && n > 0 && mul_s64(n - 1, c, all) &&
           add_s64(*all, at->width, all) && *all <= at->step;
}

bool bytes_apart_by(Verifier *v, const Bytes *at, int64_t c, Form turns)
{
    int64_t bytes, all;
    if (c < 0) c = -c;
    return reach(v, at, &bytes) && (c >= bytes || interleaved(v, at, c, turns, &all));
}

bool bytes_repeat(Verifier *v, Bytes *at, Form lo, Form hi, int64_t c, Form turns)
{
    int64_t bytes, all;
    if (c < 0) c = -c;
    if (!reach(v, at, &bytes)) return false;
    if (at->step == 0) {
        bool gaps = c > bytes;
        *at = (Bytes){at->rank, at->buf, at->slot, lo, hi, gaps ? c : 0, gaps ? bytes : 0};
        return true;
    }
    if (interleaved(v, at, c, turns, &all) && c == at->width) {
        at->width = all;
    } else if (c != bytes - at->width + at->step) { /* nor does the next turn go on where this one ends */
        return false;
    }
    at->lo = lo;
    at->hi = hi;
    if (at->width == at->step) at->step = at->width = 0;
    return true;
}
