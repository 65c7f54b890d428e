/* Coverage: every byte that is read has been written, by writes that are over when the read begins. */
#include <stdlib.h>

#include "lang/checked.h"
#include "lower/verify/graph/judge/judge.h"
#include "lower/verify/graph/unroll/unroll.h"
#include "lower/verify/graph/values/values.h"

enum { SPLITS = 3, EARLIER = 8, EACH = 512 };

typedef struct Writes { /* over before the read, each range and condition once */
    const Access **v;
    uint32_t n;
    uint32_t shape; /* of the read */
    Form cond;      /* of the read */
    bool pieces;    /* some writes have gaps */
} Writes;

/* What is read: the bytes from lo to hi, and as many every step on, the last of them `more` behind the first. */
typedef struct Want {
    Form lo, hi, more;
    int64_t step;
} Want;

static bool in_chain(Verifier *v, const Access *w, const Bytes *at, const Writes *ws)
{
    if (w->shape && (w->shape != ws->shape || !bytes_equal(&w->at, at))) return false;
    return form_is(&v->f, form_simplify(&v->f, w->cond), 1);
}

/* Where the bytes end that w has written from pos on, and from every step behind pos; 0 if it has not written pos. */
static Form written_to(Verifier *v, const Bytes *w, Form pos, const Want *want)
{
    Forms *f = &v->f;
    int64_t far, k;
    if (w->step == 0) {
        Form end = want->step ? form_add(f, w->hi, -1, want->more) : w->hi;
        return form_le(f, w->lo, pos) && form_le(f, pos, end) ? end : 0;
    }
    if (want->step % w->step || !form_is_const(f, form_add(f, pos, -1, w->lo), &far)) return 0;
    k = far - floor_mod_s64(far, w->step);
    if (k < 0 || far - k >= w->width) return 0;
    Form end = form_add(f, form_add(f, w->lo, 1, form_const(f, k)), 1, form_const(f, w->width));
    return form_le(f, form_add(f, end, 1, want->more), w->hi) ? end : 0;
}

enum { PIECES = 4096 };

/* From pos to the end: a write that begins no later leads to its own end, and so on. */
static bool chain_from(Verifier *v, Form pos, const Want *want, const Bytes *at, const Writes *ws)
{
    Forms *f = &v->f;
    uint32_t steps = ws->pieces ? PIECES : ws->n;
    for (uint32_t step = 0; step <= steps; step++) {
        if (form_le(f, want->hi, pos)) return true;
        Form next = 0;
        for (uint32_t i = 0; i < ws->n; i++) {
            const Access *w = ws->v[i];
            if (w->at.hi == pos || !in_chain(v, w, at, ws)) continue;
            Form end = written_to(v, &w->at, pos, want);
            if (end == 0 || end == pos) continue;
            next = end;
            if (form_le(f, want->hi, next)) return true;
        }
        if (next == 0) return false;
        pos = next;
    }
    return false;
}

/* Where a write ends within at, at a place known only at run time, the chain begins further in front. */
static bool chain_all(Verifier *v, const Bytes *at, const Writes *ws)
{
    Want want = {.lo = at->lo, .hi = at->hi, .more = form_const(&v->f, 0)};
    if (chain_from(v, at->lo, &want, at, ws)) return true;
    uint32_t tried = 0;
    for (uint32_t i = 0; i < ws->n && tried < EARLIER; i++) {
        const Access *w = ws->v[i];
        if (w->at.step || w->at.lo == at->lo || !in_chain(v, w, at, ws) || !form_le(&v->f, w->at.lo, at->lo)) continue;
        if (form_le(&v->f, w->at.hi, at->lo)) continue;
        tried++;
        if (chain_from(v, w->at.lo, &want, at, ws)) return true;
    }
    return false;
}

/* Pieces: what has written the first one has written each; or one after the other. */
static bool chain(Verifier *v, const Bytes *at, const Writes *ws)
{
    Forms *f = &v->f;
    int64_t more;
    if (at->step == 0) return chain_all(v, at, ws);
    Want want = {.lo = at->lo, .hi = form_add(f, at->lo, 1, form_const(f, at->width)), .step = at->step};
    want.more = form_add(f, at->hi, -1, want.hi);
    if (want.hi == 0 || want.more == 0) return false;
    if (chain_from(v, want.lo, &want, at, ws)) return true;
    if (!form_is_const(f, want.more, &more) || more < 0 || more / at->step > EACH) return false;
    for (int64_t k = 0; k <= more; k += at->step) {
        Bytes one = {at->rank, at->buf, at->slot, form_add(f, want.lo, 1, form_const(f, k)),
                     form_add(f, want.hi, 1, form_const(f, k)), 0, 0};
        if (one.lo == 0 || one.hi == 0 || !chain_all(v, &one, ws)) return false;
    }
    return true;
}

/* A pred on which it depends whether some write of these bytes happened, the latest first. */
static uint32_t open_condition(Verifier *v, const Writes *ws)
{
    for (uint32_t i = ws->n; i-- > 0;) {
        const Access *w = ws->v[i];
        int64_t k;
        Form cond = form_simplify(&v->f, w->cond);
        if (cond == 0 || form_is_const(&v->f, cond, &k)) continue;
        uint32_t atom = form_data(&v->f, cond)->t[0].atom;
        return atom_data(&v->f, atom)->kind == ATOM_PROD ? atom_data(&v->f, atom)->a : atom;
    }
    return 0;
}

static bool covered_in_cases(Verifier *v, const Bytes *at, const Writes *ws, int splits)
{
    if (form_is(&v->f, form_simplify(&v->f, ws->cond), 0) || chain(v, at, ws)) return true;
    uint32_t atom = splits ? open_condition(v, ws) : 0;
    if (atom == 0) return false;
    bool all = true;
    for (int value = 0; value < 2 && all; value++) {
        vec_push(v->arena, &v->f.known, ((Known){atom, value == 1}));
        all = covered_in_cases(v, at, ws, splits - 1);
        v->f.known.n--;
    }
    return all;
}

/* ---- all reads ---- */

/* A write by all threads is over when all of them are through. */
static bool over(const Verifier *v, const Writing *of, const Access *w, EventId start)
{
    if (!access_before(v, w, start)) return false;
    for (uint32_t i = 0; w->act && i < of->all.n; i++)
        if (of->all.v[i]->act == w->act && !access_before(v, of->all.v[i], start)) return false;
    return true;
}

/* The first that is over; what is over for an event of a thread is for those that follow. n: none is. */
static uint32_t first_over(Verifier *v, Writing *of, EventId start)
{
    const Event *e = &v->events.v[start - 1];
    Over *known = &of->over[e->thread];
    uint32_t end = known->at && known->pos <= e->pos ? known->at - 1 : of->all.n, j = 0;
    while (j < end && !over(v, of, of->all.v[j], start)) {
        verify_spend(v, of->all.v[j]->act ? of->all.n / 16 + 1 : 0);
        j++;
    }
    if (j < of->all.n) *known = (Over){e->pos, j + 1};
    return j;
}

static int in_order(const void *x, const void *y)
{
    const Access *const *a = x, *const *b = y;
    return *a < *b ? -1 : *a > *b;
}

/* Of equal writes in these ranges the first one that is over. */
static void gather(Verifier *v, const Place *p, const Access *read, const uint32_t *ranges, uint32_t n, Writes *ws)
{
    ws->n = 0;
    ws->pieces = false;
    ws->shape = read->shape;
    ws->cond = read->cond;
    for (uint32_t m = 0; m < n; m++) {
        const ByteRange *r = &p->ranges.v[ranges[m]];
        verify_spend(v, r->writings.n / 16 + 1);
        for (uint32_t i = 0; i < r->writings.n; i++) {
            Writing *of = &r->writings.v[i];
            uint32_t j = first_over(v, of, read->start);
            if (j == of->all.n) continue;
            ws->v[ws->n++] = of->all.v[j];
            ws->pieces |= of->all.v[j]->at.step != 0;
        }
    }
    if (ws->n > 1) qsort(ws->v, ws->n, sizeof *ws->v, in_order);
}

enum { LATEST = 4, BACK = 32 };

/* The ranges that were written last before access number `at`. */
static uint32_t latest(const Place *p, uint32_t at, uint32_t ranges[LATEST])
{
    uint32_t n = 0;
    for (uint32_t i = at; i-- > 0 && at - i <= BACK && n < LATEST;) {
        bool other = p->all[i].write;
        for (uint32_t j = 0; j < n; j++) other &= ranges[j] != p->range[i];
        if (other) ranges[n++] = p->range[i];
    }
    return n;
}

static bool same_write(const Access *a, const Access *b)
{
    return bytes_equal(&a->at, &b->at) && a->cond == b->cond && a->shape == b->shape;
}

/* Packed elements lie in shared memory with gaps behind them, which have no value: not even that of a write before
 * (PTX ISA, Sub-byte Types). What reads those may read the bytes at no time. */
static bool reads_gaps(Verifier *v, const Place *p, const Access *r, ByteRange *at)
{
    if (!p->gaps) return false;
    range_meetings(v, p, at);
    for (uint32_t i = 0; i < at->meets.n; i++) {
        const Access *w = p->ranges.v[at->meets.v[i]].gaps;
        if (w == NULL || w->gap <= r->gap) continue;
        Diag *g = verify_refuse(v, E0610, r->op,
                                "the elements of %s lie packed with gaps between them, which have no value: this reads those, too",
                                v->k->bufs.v[r->at.buf].name);
        verify_also(v, g, w->op, "brings the elements");
        if (g) diag_fix(v->diags, g, "let nothing but a move to tensor memory read them, in the format that they have");
        return true;
    }
    return false;
}

static bool covered(Verifier *v, const Place *p, const Access *r, const uint32_t *ranges, uint32_t n, Writes *ws)
{
    uint32_t known = v->f.known.n, facts = v->f.facts.n;
    gather(v, p, r, ranges, n, ws);
    if (r->cond) form_assume(&v->f, r->cond);
    bool ok = covered_in_cases(v, &r->at, ws, SPLITS);
    v->f.known.n = known;
    v->f.facts.n = facts;
    return ok;
}

/* Mostly by what was written last; the certificate names all that was written. */
static bool covered_by_any(Verifier *v, const Place *p, uint32_t j, ByteRange *at, Writes *ws)
{
    uint32_t ranges[LATEST];
    const Access *r = &p->all[j];
    if (!p->listed && covered(v, p, r, ranges, latest(p, j, ranges), ws)) return true;
    range_meetings(v, p, at);
    return covered(v, p, r, at->meets.v, at->meets.n, ws);
}

static void check_read(Verifier *v, const Place *p, uint32_t j, Writes *ws)
{
    const Access *r = &p->all[j];
    ByteRange *at = &p->ranges.v[p->range[j]];
    if (reads_gaps(v, p, r, at)) return;
    if (covered_by_any(v, p, j, at, ws)) {
        for (uint32_t i = 0; i < ws->n && p->listed; i++) verify_depends(v, ws->v[i], r, false);
        return;
    }
    bool any = false;
    for (uint32_t i = 0; i < p->n; i++) any |= p->all[i].write;
    Diag *g = verify_refuse(v, E0610, r->op, "%s is read where %s: bytes %s .. %s", v->k->bufs.v[r->at.buf].name,
                            any ? "not every byte is certain to have been written" : "nothing has written it",
                            verify_form_text(v, r->at.lo), verify_form_text(v, r->at.hi));
    uint32_t said = UINT32_MAX;
    for (uint32_t i = 0; i < p->n; i++) {
        if (!p->all[i].write || p->all[i].op == said) continue;
        said = p->all[i].op;
        verify_also(v, g, said, "writes a part of it, or under a condition, or not certainly before");
    }
    if (g) diag_fix(v->diags, g, any ? "write all that is read, on every way that leads here" : "move something into it before");
}

static void find_writings(Verifier *v, Place *p)
{
    for (uint32_t i = 0; i < p->n; i++) {
        const Access *w = &p->all[i];
        ByteRange *r = &p->ranges.v[p->range[i]];
        if (w->write && w->gap > (r->gaps ? r->gaps->gap : 0)) r->gaps = w, p->gaps = true;
        if (!w->write || w->cond == 0) continue;
        uint32_t j = r->writings.n;
        while (j > 0 && !same_write(r->writings.v[j - 1].all.v[0], w)) j--;
        if (j == 0) {
            *vec_add(&v->run, &r->writings) = (Writing){.over = arena_array(&v->run, Over, v->threads.n)};
            j = r->writings.n;
        }
        vec_push(&v->run, &r->writings.v[j - 1].all, w);
    }
}

void check_coverage(Verifier *v)
{
    Writes ws = {.v = arena_array(&v->run, const Access *, v->accesses.n)};
    for (uint32_t i = 0; i < v->places.n && !v->failed; i++) {
        Place *p = &v->places.v[i];
        find_writings(v, p);
        for (uint32_t j = 0; j < p->n && !v->failed; j++)
            if (!p->all[j].write) check_read(v, p, j, &ws);
    }
}
