/* The accesses of a finished graph, sorted by place (slot of a buffer in a CTA) and, within one, in the order of the run.
 * Those of a place fall into ranges of equal bytes: which ranges meet is worked out once for each two of them, not for
 * each two accesses.
 */
#include <stdlib.h>
#include <string.h>

#include "lower/verify/graph/judge/judge.h"
#include "lower/verify/graph/values/values.h"

static uint32_t place_of(const Verifier *v, const Access *a)
{
    return a->at.rank * v->nplaces + v->place_base[a->at.buf] + (uint32_t)a->at.slot;
}

static bool earlier(const Access *a, const Access *b)
{
    return a->start != b->start ? a->start < b->start : a->op < b->op;
}

/* They come almost in order: of a place, only what a burst adds to its event stands too late. */
static void sort(Verifier *v, uint32_t *first, uint32_t nplaces)
{
    uint32_t n = v->accesses.n;
    Access *old = arena_array(&v->run, Access, n), *a = v->accesses.v;
    if (n) memcpy(old, a, n * sizeof *a);
    for (uint32_t i = 0; i < n; i++) first[place_of(v, &old[i]) + 1]++;
    for (uint32_t p = 0; p < nplaces; p++) first[p + 1] += first[p];
    uint32_t *end = arena_array(&v->run, uint32_t, nplaces);
    memcpy(end, first, nplaces * sizeof *end);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t p = place_of(v, &old[i]), at = end[p]++;
        for (; at > first[p] && earlier(&old[i], &a[at - 1]); at--) a[at] = a[at - 1];
        a[at] = old[i];
    }
}

/* ---- ranges of one place ---- */

typedef struct Overlap {      /* of ranges x and y */
    bool any, covers, within; /* x has all bytes of y; y those of x */
} Overlap;

static bool covers(Verifier *v, const ByteRange *x, const ByteRange *y)
{
    if (x->at.step) return false; /* another one's bytes may lie in its gaps */
    if (x->fixed && y->fixed) return x->from <= y->from && y->to <= x->to;
    return form_le(&v->f, x->at.lo, y->at.lo) && form_le(&v->f, y->at.hi, x->at.hi);
}

static Overlap overlap(Verifier *v, const ByteRange *x, const ByteRange *y)
{
    Overlap o = {true, true, true};
    if (x == y) {
        o.any = !form_le(&v->f, x->at.hi, x->at.lo);
        return o;
    }
    if (x->fixed && y->fixed && x->at.step == 0 && y->at.step == 0) o.any = x->to > y->from && y->to > x->from;
    else o.any = bytes_overlap(v, &x->at, &y->at);
    o.covers = o.any && covers(v, x, y);
    o.within = o.any && covers(v, y, x);
    return o;
}

static void meet(Verifier *v, Place *p, uint32_t i, uint32_t j)
{
    ByteRange *x = &p->ranges.v[i], *y = &p->ranges.v[j];
    Overlap o = overlap(v, x, y);
    verify_spend(v, x->fixed && y->fixed ? 0 : 1);
    if (!o.any) return;
    vec_push(&v->run, &x->meets, ((Meeting){.range = j, .covers = o.covers}));
    if (i != j) vec_push(&v->run, &y->meets, ((Meeting){.range = i, .covers = o.within}));
}

typedef struct Begin { /* a range lies within at .. to in every launch */
    int64_t at, to;
    uint32_t range;
} Begin;

static int by_begin(const void *x, const void *y)
{
    const Begin *a = x, *b = y;
    if (a->at != b->at) return a->at < b->at ? -1 : 1;
    return a->range < b->range ? -1 : a->range > b->range;
}

/* Only ranges that begin before another one's end can meet it. */
static void find_meetings(Verifier *v, Place *p)
{
    uint32_t n = p->ranges.n;
    Begin *begin = arena_array(&v->run, Begin, n);
    for (uint32_t i = 0; i < n; i++) {
        const Bytes *at = &p->ranges.v[i].at;
        begin[i] = (Begin){form_data(&v->f, at->lo)->lo, form_data(&v->f, at->hi)->hi, i};
    }
    if (n) qsort(begin, n, sizeof *begin, by_begin);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = i; j < n && (j == i || begin[j].at < begin[i].to); j++)
            meet(v, p, begin[i].range, begin[j].range);
}

static uint32_t range_of(Verifier *v, Place *p, uint32_t *slots, uint32_t mask, const Bytes *at)
{
    uint32_t h = (at->lo * UINT32_C(0x9E3779B1) + at->hi) * UINT32_C(0x85EBCA6B), i = (h ^ h >> 16) & mask;
    for (; slots[i]; i = (i + 1) & mask)
        if (bytes_equal(&p->ranges.v[slots[i] - 1].at, at)) return slots[i] - 1;
    ByteRange r = {.at = *at};
    r.fixed = form_is_const(&v->f, at->lo, &r.from) && form_is_const(&v->f, at->hi, &r.to);
    vec_push(&v->run, &p->ranges, r);
    slots[i] = p->ranges.n;
    return p->ranges.n - 1;
}

static void find_ranges(Verifier *v, Place *p)
{
    uint32_t mask = 7;
    while (mask < 2 * p->n) mask = mask * 2 + 1;
    uint32_t *slots = arena_array(&v->run, uint32_t, mask + 1);
    p->range = arena_array(&v->run, uint32_t, p->n);
    for (uint32_t i = 0; i < p->n; i++) p->range[i] = range_of(v, p, slots, mask, &p->all[i].at);
    find_meetings(v, p);
}

void places_find(Verifier *v)
{
    uint32_t n = v->nranks * v->nplaces, *first = arena_array(&v->run, uint32_t, n + 1);
    sort(v, first, n);
    for (uint32_t i = 0; i < n && !v->failed; i++) {
        if (first[i] == first[i + 1]) continue;
        Place *p = vec_add(&v->run, &v->places);
        *p = (Place){.all = v->accesses.v + first[i], .n = first[i + 1] - first[i]};
        find_ranges(v, p);
    }
}
