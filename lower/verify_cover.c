/* Coverage: every byte that is read has been written, by writes that are over when the read begins. */
#include "lower/verify_parts.h"

enum { SPLITS = 3, EARLIER = 8 };

typedef struct Writes { /* over before the read, each range and condition once */
    const Access **v;
    uint32_t n;
    uint32_t shape; /* of the read */
} Writes;

static bool in_chain(Verifier *v, const Access *w, const Bytes *at, const Writes *ws)
{
    if (w->shape && (w->shape != ws->shape || w->at.lo != at->lo || w->at.hi != at->hi)) return false;
    return form_is(&v->f, form_simplify(&v->f, w->cond), 1);
}

/* From pos to at's end: a write that begins no later leads to its end, and so on. */
static bool chain_from(Verifier *v, Form pos, const Bytes *at, const Writes *ws)
{
    Forms *f = &v->f;
    for (uint32_t step = 0; step <= ws->n; step++) {
        if (form_le(f, at->hi, pos)) return true;
        Form next = 0;
        for (uint32_t i = 0; i < ws->n; i++) {
            const Access *w = ws->v[i];
            if (w->at.hi == pos || !in_chain(v, w, at, ws)) continue;
            if (!form_le(f, w->at.lo, pos) || !form_le(f, pos, w->at.hi)) continue;
            next = w->at.hi;
            if (form_le(f, at->hi, next)) return true;
        }
        if (next == 0) return false;
        pos = next;
    }
    return false;
}

/* Where a write ends within at, at a place known only at run time, the chain begins further in front. */
static bool chain(Verifier *v, const Bytes *at, const Writes *ws)
{
    if (chain_from(v, at->lo, at, ws)) return true;
    uint32_t tried = 0;
    for (uint32_t i = 0; i < ws->n && tried < EARLIER; i++) {
        const Access *w = ws->v[i];
        if (w->at.lo == at->lo || !in_chain(v, w, at, ws) || !form_le(&v->f, w->at.lo, at->lo)) continue;
        if (form_le(&v->f, w->at.hi, at->lo)) continue;
        tried++;
        if (chain_from(v, w->at.lo, at, ws)) return true;
    }
    return false;
}

/* A pred on which it depends whether some write of these bytes happened. */
static uint32_t open_condition(Verifier *v, const Writes *ws)
{
    for (uint32_t i = 0; i < ws->n; i++) {
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
    if (chain(v, at, ws)) return true;
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

static bool same_place(const Access *a, const Access *b)
{
    return a->at.rank == b->at.rank && a->at.buf == b->at.buf && a->at.slot == b->at.slot;
}

static bool same_write(const Access *a, const Access *b)
{
    return a->at.lo == b->at.lo && a->at.hi == b->at.hi && a->cond == b->cond && a->shape == b->shape;
}

/* A write by all threads is over when all of them are through. */
static bool over(const Verifier *v, const Access *all, uint32_t n, const Access *w, EventId start)
{
    if (!access_before(v, w, start)) return false;
    for (uint32_t i = 0; w->act && i < n; i++)
        if (all[i].act == w->act && all[i].write && same_write(&all[i], w) && !access_before(v, &all[i], start))
            return false;
    return true;
}

static void gather(Verifier *v, const Access *all, uint32_t n, const Access *read, Writes *ws)
{
    ws->n = 0;
    ws->shape = read->shape;
    for (uint32_t i = 0; i < n; i++) {
        const Access *w = &all[i];
        if (!w->write || w->cond == 0 || !bytes_overlap(v, &w->at, &read->at)) continue;
        uint32_t j = 0;
        while (j < ws->n && !same_write(ws->v[j], w)) j++;
        if (j == ws->n && over(v, all, n, w, read->start)) ws->v[ws->n++] = w;
    }
}

static void check_read(Verifier *v, const Access *all, uint32_t n, const Access *r, Writes *ws)
{
    uint32_t known = v->f.known.n, facts = v->f.facts.n;
    gather(v, all, n, r, ws);
    if (r->cond) form_assume(&v->f, r->cond);
    bool ok = covered_in_cases(v, &r->at, ws, SPLITS);
    v->f.known.n = known;
    v->f.facts.n = facts;
    if (ok) {
        for (uint32_t i = 0; i < ws->n; i++) verify_depends(v, ws->v[i], r, false);
        return;
    }
    Diag *g = verify_refuse(v, E0610, r->op,
                            "%s is read where not every byte is certain to have been written: bytes %s .. %s",
                            v->k->bufs.v[r->at.buf].name, verify_form_text(v, r->at.lo), verify_form_text(v, r->at.hi));
    uint32_t said = UINT32_MAX;
    for (uint32_t i = 0; i < n; i++) {
        if (!all[i].write || all[i].op == said) continue;
        said = all[i].op;
        verify_also(v, g, said, "writes a part of it, or under a condition, or not certainly before");
    }
}

/* Accesses are sorted by place: check_races did that. */
void check_coverage(Verifier *v)
{
    const Access *a = v->accesses.v;
    Writes ws = {.v = arena_array(&v->run, const Access *, v->accesses.n)};
    for (uint32_t from = 0, to; from < v->accesses.n && !v->failed; from = to) {
        for (to = from + 1; to < v->accesses.n && same_place(&a[from], &a[to]);) to++;
        for (uint32_t i = from; i < to && !v->failed; i++)
            if (!a[i].write) check_read(v, a + from, to - from, &a[i], &ws);
    }
}
