/* The accesses of a finished graph, sorted by place (slot of a buffer in a CTA) and, within one, in the order of the run.
 * Those of a place fall into ranges of equal bytes. Which ranges meet is worked out where order does not settle it.
 */
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

/* They come almost in order: only what a burst adds to its event stands too late. */
void accesses_sort(Access *all, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        if (!earlier(&all[i], &all[i - 1])) continue;
        Access x = all[i];
        uint32_t at = i;
        for (; at > 0 && earlier(&x, &all[at - 1]); at--) all[at] = all[at - 1];
        all[at] = x;
    }
}

static void sort(Verifier *v, uint32_t *first, uint32_t nplaces)
{
    uint32_t n = v->accesses.n;
    Access *old = arena_array(&v->run, Access, n), *a = v->accesses.v;
    if (n) memcpy(old, a, n * sizeof *a);
    for (uint32_t i = 0; i < n; i++) first[place_of(v, &old[i]) + 1]++;
    for (uint32_t p = 0; p < nplaces; p++) first[p + 1] += first[p];
    uint32_t *end = arena_array(&v->run, uint32_t, nplaces);
    memcpy(end, first, nplaces * sizeof *end);
    for (uint32_t i = 0; i < n; i++) a[end[place_of(v, &old[i])]++] = old[i];
    for (uint32_t i = 0; i < nplaces; i++)
        if (first[i + 1] > first[i]) accesses_sort(a + first[i], first[i + 1] - first[i]);
}

/* ---- ranges of one place ---- */

static bool overlap(Verifier *v, const ByteRange *x, const ByteRange *y)
{
    if (x == y) return !form_le(&v->f, x->at.hi, x->at.lo);
    if (x->to <= y->from || y->to <= x->from) return false;
    return (x->fixed && y->fixed) || bytes_overlap(v, &x->at, &y->at);
}

bool ranges_meet(Verifier *v, const Place *p, uint32_t i, uint32_t j)
{
    return overlap(v, &p->ranges.v[p->range[i]], &p->ranges.v[p->range[j]]);
}

void range_meetings(Verifier *v, const Place *p, ByteRange *at)
{
    if (at->met) return;
    at->met = true;
    verify_spend(v, p->ranges.n / 16);
    for (uint32_t i = 0; i < p->ranges.n; i++)
        if (overlap(v, at, &p->ranges.v[i])) vec_push(&v->run, &at->meets, i);
}

static uint32_t range_of(Verifier *v, Place *p, uint32_t *slots, uint32_t mask, const Bytes *at)
{
    uint32_t h = (at->lo * UINT32_C(0x9E3779B1) + at->hi) * UINT32_C(0x85EBCA6B), i = (h ^ h >> 16) & mask;
    for (; slots[i]; i = (i + 1) & mask)
        if (bytes_equal(&p->ranges.v[slots[i] - 1].at, at)) return slots[i] - 1;
    const FormData *lo = form_data(&v->f, at->lo), *hi = form_data(&v->f, at->hi);
    ByteRange r = {.at = *at, .from = lo->lo, .to = hi->hi, .fixed = lo->n + hi->n == 0 && at->step == 0};
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
}

enum { LISTED_MAX = 4000000 };

static bool listed(Verifier *v, const Place *p)
{
    uint64_t pairs = (uint64_t)p->n * p->n / 2;
    if (v->certificate == NULL || v->listed + pairs > LISTED_MAX) return false;
    v->listed += pairs;
    return true;
}

void places_find(Verifier *v)
{
    uint32_t n = v->nranks * v->nplaces, *first = arena_array(&v->run, uint32_t, n + 1);
    sort(v, first, n);
    for (uint32_t i = 0; i < n && !v->failed; i++) {
        if (first[i] == first[i + 1]) continue;
        Place *p = vec_add(&v->run, &v->places);
        *p = (Place){.all = v->accesses.v + first[i], .n = first[i + 1] - first[i]};
        p->listed = listed(v, p);
        find_ranges(v, p);
    }
}
