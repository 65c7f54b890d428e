/* Who writes and reads which bytes of which buffer, and in what order. */
#include "lower/verify_parts.h"

enum { SPLITS = 3 };

bool access_overlap(Verifier *v, const Bytes *a, const Bytes *b)
{
    Forms *f = &v->f;
    int64_t d;
    if (a->buf != b->buf) return false;
    if (a->slot && b->slot && a->slot != b->slot && form_is_const(f, form_add(f, a->slot, -1, b->slot), &d) && d != 0)
        return false;
    return !form_le(f, a->hi, b->lo) && !form_le(f, b->hi, a->lo);
}

/* Never both: the conditions exclude each other. */
static bool exclusive(Verifier *v, Form a, Form b)
{
    if (form_is(&v->f, a, 1) && form_is(&v->f, b, 1)) return false;
    a = form_simplify(&v->f, a);
    b = form_simplify(&v->f, b);
    if (a == 0 || b == 0) return form_is(&v->f, a, 0) || form_is(&v->f, b, 0);
    return form_is(&v->f, form_guard(&v->f, a, b), 0);
}

/* ---- coverage ---- */

static bool in_chain(Verifier *v, const Write *w, const Bytes *at, int32_t bar)
{
    return w->bar == bar && w->at.buf == at->buf && w->at.slot == at->slot && w->at.slot != 0 &&
           form_is(&v->f, form_simplify(&v->f, w->cond), 1);
}

/* From pos to at's end: a write that begins no later leads to its end, and so on. */
static bool chain_from(Verifier *v, Form pos, const Bytes *at, int32_t bar)
{
    Forms *f = &v->f;
    for (uint32_t step = 0; step <= v->s.writes.n; step++) {
        if (form_le(f, at->hi, pos)) return true;
        Form next = 0;
        for (uint32_t i = 0; i < v->s.writes.n; i++) {
            const Write *w = &v->s.writes.v[i];
            if (w->at.hi == pos || !in_chain(v, w, at, bar)) continue;
            if (!form_le(f, w->at.lo, pos) || !form_le(f, pos, w->at.hi)) continue;
            next = w->at.hi;
            if (form_le(f, at->hi, next)) return true;
        }
        if (next == 0) return false;
        pos = next;
    }
    return false;
}

enum { EARLIER = 8 };

/* Where a write ends within at, at a place known only at run time, the chain begins further in front. */
static bool chain(Verifier *v, const Bytes *at, int32_t bar)
{
    if (chain_from(v, at->lo, at, bar)) return true;
    uint32_t tried = 0;
    for (uint32_t i = 0; i < v->s.writes.n && tried < EARLIER; i++) {
        const Write *w = &v->s.writes.v[i];
        if (w->at.lo == at->lo || !in_chain(v, w, at, bar) || !form_le(&v->f, w->at.lo, at->lo)) continue;
        if (form_le(&v->f, w->at.hi, at->lo)) continue;
        tried++;
        if (chain_from(v, w->at.lo, at, bar)) return true;
    }
    return false;
}

/* A pred on which it depends whether some write of these bytes happened. */
static uint32_t open_condition(Verifier *v, const Bytes *at, int32_t bar)
{
    for (uint32_t i = 0; i < v->s.writes.n; i++) {
        const Write *w = &v->s.writes.v[i];
        int64_t k;
        Form cond = form_simplify(&v->f, w->cond);
        if (w->bar != bar || w->at.buf != at->buf || cond == 0 || form_is_const(&v->f, cond, &k)) continue;
        uint32_t atom = form_data(&v->f, cond)->t[0].atom;
        return atom_data(&v->f, atom)->kind == ATOM_PROD ? atom_data(&v->f, atom)->a : atom;
    }
    return 0;
}

static bool covered_in_cases(Verifier *v, const Bytes *at, int32_t bar, int splits)
{
    if (chain(v, at, bar)) return true;
    uint32_t atom = splits ? open_condition(v, at, bar) : 0;
    if (atom == 0) return false;
    bool all = true;
    for (int value = 0; value < 2 && all; value++) {
        vec_push(v->arena, &v->f.known, ((Known){atom, value == 1}));
        all = covered_in_cases(v, at, bar, splits - 1);
        v->f.known.n--;
    }
    return all;
}

bool access_covered(Verifier *v, const Bytes *at, int32_t bar)
{
    return covered_in_cases(v, at, bar, SPLITS);
}

/* ---- tensors ---- */

/* A tensor map of the same memory and shape: coordinates mean the same. */
static bool same_view(const MfMap *a, const MfMap *b)
{
    if (a == b) return true;
    bool same = a->tensor == b->tensor && a->rank == b->rank && a->offset == b->offset && a->mode == MAP_TILED &&
                b->mode == MAP_TILED;
    for (unsigned i = 0; same && i < a->rank; i++) same = a->dim[i] == b->dim[i] && a->pitch[i] == b->pitch[i];
    return same;
}

static bool comparable(const Verifier *v, const Region *a, const Region *b)
{
    if (a == NULL || b == NULL || a->tensor != b->tensor || a->n != b->n) return false;
    if (a->map == UINT32_MAX || b->map == UINT32_MAX) return a->map == b->map;
    return same_view(&v->k->mf.maps.v[a->map], &v->k->mf.maps.v[b->map]);
}

static bool disjoint(Verifier *v, const Region *a, const Region *b)
{
    if (!comparable(v, a, b)) return false;
    for (unsigned i = 0; i < a->n; i++)
        if (form_le(&v->f, a->hi[i], b->lo[i]) || form_le(&v->f, b->hi[i], a->lo[i])) return true;
    return false;
}

/* Certain to touch the same place. What is neither certain nor excluded is for rule G, which knows the program. */
static bool collide(Verifier *v, const Region *a, const Region *b)
{
    if (!comparable(v, a, b)) return false;
    for (unsigned i = 0; i < a->n; i++) {
        int64_t x, y;
        if (!form_is_const(&v->f, form_add(&v->f, a->hi[i], -1, b->lo[i]), &x) || x <= 0) return false;
        if (!form_is_const(&v->f, form_add(&v->f, b->hi[i], -1, a->lo[i]), &y) || y <= 0) return false;
    }
    return true;
}

static void check_load_source(Verifier *v, uint32_t op, uint64_t tensors, const Region *region)
{
    for (uint32_t i = 0; i < v->s.reads.n && tensors; i++) {
        const Read *r = &v->s.reads.v[i];
        if ((r->tensors & tensors) == 0 || disjoint(v, region, r->region)) continue;
        Diag *g = verify_refuse(v, E0654, op, "this copy reads global memory that a store may still be writing");
        verify_also(v, g, r->op,
                    r->age ? "the store, not waited for with grp.wait full"
                           : "the store, not even committed to a group");
        return;
    }
    if (v->s.unfenced & tensors)
        verify_refuse(
            v, E0654, op,
            "this copy reads global memory written by a finished store, with no fence.async global in between");
}

static void check_store_target(Verifier *v, uint32_t op, uint64_t tensors, const Region *region)
{
    for (uint32_t i = 0; i < v->s.writes.n && tensors; i++) {
        const Write *w = &v->s.writes.v[i];
        if (w->bar == ARRIVED || (w->tensors & tensors) == 0 || disjoint(v, region, w->region)) continue;
        Diag *g = verify_refuse(v, E0661, op, "this store writes global memory that a load in flight may still read");
        verify_also(v, g, w->op, "the load");
        return;
    }
    for (uint32_t i = 0; i < v->s.reads.n && tensors; i++) {
        const Read *r = &v->s.reads.v[i];
        if ((r->tensors & tensors) == 0 || !collide(v, region, r->region)) continue;
        Diag *g = verify_refuse(
            v, E0661, op, "this store writes the place that another store in flight writes: which comes last is open");
        verify_also(v, g, r->op, "the other store, not waited for with grp.wait full");
        return;
    }
}

/* ---- writes ---- */

static void add_piece(Verifier *v, Write w, Form lo, Form hi)
{
    if (lo == hi) return;
    w.at.lo = lo;
    w.at.hi = hi;
    vec_push(v->arena, &v->s.writes, w);
}

/* New bytes replace what had arrived: what is left of it is what lies certainly in front and behind. */
static void trim(Verifier *v, uint32_t i, const Bytes *at)
{
    Forms *f = &v->f;
    Write w = v->s.writes.v[i];
    v->s.writes.v[i] = v->s.writes.v[--v->s.writes.n];
    if (w.at.slot != at->slot || w.at.slot == 0) return;
    if (form_le(f, w.at.lo, at->lo) && form_le(f, at->lo, w.at.hi)) add_piece(v, w, w.at.lo, at->lo);
    if (form_le(f, w.at.lo, at->hi) && form_le(f, at->hi, w.at.hi)) add_piece(v, w, at->hi, w.at.hi);
}

static void check_write_after_write(Verifier *v, uint32_t op, const Bytes *at, Form cond)
{
    for (uint32_t i = v->s.writes.n; i-- > 0 && !v->failed;) {
        const Write *w = &v->s.writes.v[i];
        if (!access_overlap(v, &w->at, at) || exclusive(v, w->cond, cond)) continue;
        if (w->bar == ARRIVED) {
            trim(v, i, at);
            continue;
        }
        Diag *g = verify_refuse(v, E0657, op, "%s is written while another copy into it may be on its way",
                                v->k->bufs.v[at->buf].name);
        verify_also(v, g, w->op, "the other copy: nothing has waited for it");
    }
}

static void check_write_after_read(Verifier *v, uint32_t op, const Bytes *at)
{
    for (uint32_t i = 0; i < v->s.reads.n; i++) {
        const Read *r = &v->s.reads.v[i];
        if (!r->reading || !access_overlap(v, &r->at, at)) continue;
        Diag *g = verify_refuse(v, E0602, op, "%s is written while a store may still read it",
                                v->k->bufs.v[at->buf].name);
        verify_also(v, g, r->op,
                    r->age ? "the store: no grp.wait has covered its group"
                           : "the store: not even committed to a group");
        return;
    }
    for (uint32_t i = v->certificate ? v->retired.n : 0; i-- > 0;) {
        const Read *r = &v->retired.v[i];
        if (!access_overlap(v, &r->at, at)) continue;
        verify_proved(v, "%s: %s (%s) has read it before %s (%s) writes it: grp.wait", v->k->bufs.v[at->buf].name,
                      verify_op_text(v, r->op), verify_line(v, r->op), verify_op_text(v, op), verify_line(v, op));
        v->retired.v[i] = v->retired.v[--v->retired.n];
    }
}

/* The pieces of a tile, one behind the other on one barrier, count as one write: there may be hundreds. */
static bool extend(Verifier *v, const Write *more)
{
    int64_t lo;
    if (more->region || !form_is(&v->f, more->cond, 1) || !form_is_const(&v->f, more->at.lo, &lo)) return false;
    for (uint32_t i = v->s.writes.n; i-- > 0;) {
        Write *w = &v->s.writes.v[i];
        if (w->bar != more->bar || w->at.buf != more->at.buf || w->at.slot != more->at.slot || w->at.slot == 0)
            continue;
        if (w->region || w->cond != more->cond || w->at.hi != more->at.lo) continue;
        if (v->ops[w->op].span.lo != v->ops[more->op].span.lo) continue; /* the certificate names one place each */
        w->at.hi = more->at.hi;
        w->tensors |= more->tensors;
        return true;
    }
    return false;
}

void access_write(Verifier *v, uint32_t op, Bytes at, Form cond, uint32_t bar, uint64_t tensors, const Region *region)
{
    check_write_after_write(v, op, &at, cond);
    check_write_after_read(v, op, &at);
    check_load_source(v, op, tensors, region);
    for (uint32_t i = 0; i < v->s.writes.n; i++) { /* the same bytes under conditions that exclude each other */
        Write *w = &v->s.writes.v[i];
        if (w->bar != (int32_t)bar || !state_same_bytes(&w->at, &at)) continue;
        w->cond = form_add(&v->f, w->cond, 1, cond);
        w->tensors |= tensors;
        w->region = NULL;
        return;
    }
    Write more = {.at = at, .cond = cond, .bar = (int32_t)bar, .tensors = tensors, .region = region, .op = op};
    if (!extend(v, &more)) vec_push(v->arena, &v->s.writes, more);
}

/* ---- reads ---- */

static void certify_read(Verifier *v, uint32_t op, const Bytes *at)
{
    for (uint32_t i = 0; i < v->s.writes.n; i++) {
        const Write *w = &v->s.writes.v[i];
        if (w->bar != ARRIVED || !access_overlap(v, &w->at, at)) continue;
        verify_proved(v, "%s: written by %s (%s), arrived before %s (%s) reads it", v->k->bufs.v[at->buf].name,
                      verify_op_text(v, w->op), verify_line(v, w->op), verify_op_text(v, op), verify_line(v, op));
    }
}

void access_read(Verifier *v, uint32_t op, Bytes at, Form cond, uint64_t tensors, const Region *region)
{
    const char *name = v->k->bufs.v[at.buf].name;
    for (uint32_t i = 0; i < v->s.writes.n; i++) {
        const Write *w = &v->s.writes.v[i];
        if (w->bar == ARRIVED || !access_overlap(v, &w->at, &at) || exclusive(v, w->cond, cond)) continue;
        Diag *g = verify_refuse(v, E0601, op, "%s is read before what is written into it is certain to have arrived",
                                name);
        verify_also(v, g, w->op,
                    arena_printf(v->arena, "the copy into it; its barrier %s is not waited for in between",
                                 verify_bar_name(v, (uint32_t)w->bar)));
        return;
    }
    uint32_t known = v->f.known.n, facts = v->f.facts.n;
    form_assume(&v->f, cond);
    if (!access_covered(v, &at, ARRIVED)) {
        Diag *g = verify_refuse(v, E0610, op,
                                "%s is read where not every byte is certain to have been written: bytes %s .. %s", name,
                                verify_form_text(v, at.lo), verify_form_text(v, at.hi));
        for (uint32_t i = 0; i < v->s.writes.n; i++)
            if (v->s.writes.v[i].at.buf == at.buf)
                verify_also(v, g, v->s.writes.v[i].op, "writes a part of it, or under a condition");
    } else if (v->certificate) {
        certify_read(v, op, &at);
    }
    v->f.known.n = known;
    v->f.facts.n = facts;
    check_store_target(v, op, tensors, region);
    state_add_read(v->arena, &v->s, (Read){.at = at, .tensors = tensors, .region = region, .reading = true, .op = op});
}
