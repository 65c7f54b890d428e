/* Copies to and from one place in global memory, by one cluster: ordered, and with a fence where a load reads what a store
 * has written. That stores in flight to places that are neither certainly equal nor certainly different do not collide
 * is rule G's business, which sees the program. */
#include "lang/lang.h"
#include "lower/ir/ops.h"
#include "lower/verify/graph/judge/judge.h"
#include "lower/verify/graph/unroll/unroll.h"
#include "lower/verify/graph/values/values.h"

/* A tensor map of the same memory and shape: coordinates mean the same. */
static bool same_view(const MfMap *a, const MfMap *b)
{
    if (a == b) return true;
    bool same = a->tensor == b->tensor && a->rank == b->rank && a->offset == b->offset && a->mode == MAP_TILED &&
                b->mode == MAP_TILED && a->interleave == b->interleave;
    for (unsigned i = 0; same && i < a->rank; i++) same = a->dim[i] == b->dim[i] && a->pitch[i] == b->pitch[i];
    return same;
}

/* Of maps that the kernel makes the launch knows boxes and elements alone. */
static bool same_kind(const MfMap *a, const MfMap *b)
{
    return a->type == b->type && a->mode == MAP_TILED && b->mode == MAP_TILED && a->interleave == 0 &&
           b->interleave == 0;
}

static bool comparable(const Verifier *v, const Region *a, const Region *b)
{
    if (a == NULL || b == NULL || a->tensor != b->tensor || a->n != b->n) return false;
    if (a->view || b->view) return a->view == b->view && same_kind(&v->k->mf.maps.v[a->map], &v->k->mf.maps.v[b->map]);
    if (a->map == UINT32_MAX || b->map == UINT32_MAX) return a->map == b->map;
    return same_view(&v->k->mf.maps.v[a->map], &v->k->mf.maps.v[b->map]);
}

static int64_t step_of(const Verifier *v, const Region *r, unsigned dim)
{
    return r->map == UINT32_MAX ? 1 : v->k->mf.maps.v[r->map].elem_stride[dim];
}

/* Both take every n-th element of the dimension, and from the same one. */
static bool same_steps(Verifier *v, const Region *a, const Region *b, unsigned dim)
{
    int64_t step = step_of(v, a, dim), far;
    if (step != step_of(v, b, dim)) return false;
    return step == 1 || (form_is_const(&v->f, form_add(&v->f, b->lo[dim], -1, a->lo[dim]), &far) && far % step == 0);
}

/* It depends on the turn of a loop over copies: one region stands for those of all turns. */
static bool moves(const Verifier *v, const Region *r)
{
    for (unsigned i = 0; i < r->n; i++)
        if (form_data(&v->f, r->lo[i])->depth || form_data(&v->f, r->hi[i])->depth) return true;
    return false;
}

/* In this run, which is all there is of copies in no loop. */
static bool disjoint(Verifier *v, const Transfer *a, const Transfer *b)
{
    const Region *x = a->region, *y = b->region;
    if (a->site.naround || b->site.naround || moves(v, x) || moves(v, y)) return false;
    for (unsigned i = 0; i < x->n; i++)
        if (form_le(&v->f, x->hi[i], y->lo[i]) || form_le(&v->f, y->hi[i], x->lo[i])) return true;
    return false;
}

/* Different coordinates of a view may be one place. */
static bool apart(Verifier *v, const Transfer *a, const Transfer *b)
{
    if (!comparable(v, a->region, b->region) || a->region->view) return false;
    return disjoint(v, a, b) || transfers_apart(v, a, b);
}

static bool same_thread(const Verifier *v, const Transfer *a, const Transfer *b)
{
    return v->events.v[a->start - 1].thread == v->events.v[b->start - 1].thread;
}

/* Certain to touch the same place: of loops over copies, where a thread names it by equal forms, in each turn; lanes share a
 * loop's turns. What is neither certain nor excluded is for rule G, which knows the program. */
static bool collide(Verifier *v, const Transfer *first, const Transfer *second)
{
    const Region *a = first->region, *b = second->region;
    if (!comparable(v, a, b)) return false;
    bool turns = moves(v, a) || moves(v, b);
    if (turns && (!same_thread(v, first, second) || conds_exclusive(v, a->cond, b->cond))) return false;
    for (unsigned i = 0; i < a->n; i++) {
        int64_t x, y;
        if (turns && (a->lo[i] != b->lo[i] || a->hi[i] != b->hi[i])) return false;
        if (!same_steps(v, a, b, i)) return false;
        if (!form_is_const(&v->f, form_add(&v->f, a->hi[i], -1, b->lo[i]), &x) || x <= 0) return false;
        if (!form_is_const(&v->f, form_add(&v->f, b->hi[i], -1, a->lo[i]), &y) || y <= 0) return false;
    }
    return true;
}

bool verify_commutes(const Verifier *v, uint32_t op)
{
    uint32_t n;
    return reduction_commutes(ir_words(IRK_ROP, &n)[ir_find(v->ops[op], IRK_ROP)->id]);
}

static bool same_reduction(const Verifier *v, const Transfer *a, const Transfer *b)
{
    if (!a->reduce || !b->reduce) return false;
    const IrArg *x = ir_find(v->ops[a->site.op], IRK_ROP), *y = ir_find(v->ops[b->site.op], IRK_ROP);
    return x->id == y->id && verify_commutes(v, a->site.op);
}

static bool fence_between(const Verifier *v, EventId a, EventId b)
{
    for (uint32_t i = 0; i < v->global_fences.n; i++)
        if (event_before(v, a, v->global_fences.v[i]) && event_before(v, v->global_fences.v[i], b)) return true;
    return false;
}

static void farther_away(Verifier *v, Diag *g, const Transfer *a, const Transfer *b)
{
    if (g && a->site.naround && b->site.naround && !collide(v, a, b))
        diag_note(v->diags, g, (Span){0, 0}, "what is read in one turn of the loops may be what is written in another, many turns away");
}

static void load_after_store(Verifier *v, const Transfer *s, const Transfer *l)
{
    if (s->full && event_before(v, s->full, l->start)) {
        Diag *g = verify_refuse(
            v, E0654, l->site.op,
            "this copy reads global memory written by a finished store, with no fence.async global in between");
        verify_also(v, g, s->site.op, "the store");
        farther_away(v, g, s, l);
        return;
    }
    Diag *g = verify_refuse(v, E0654, l->site.op, "this copy reads global memory that a store may still be writing");
    verify_also(v, g, s->site.op,
                s->group ? "the store, not waited for with grp.wait full" : "the store, not even committed to a group");
    farther_away(v, g, s, l);
}

/* a begins first. Order is looked at before places: it is cheaper. In derived schedules rule G has told which loads and stores may
 * meet, by iterations that are dealt, too (verify/tree/PROOF.md, Trusted): only what certainly does is refused. */
static bool fine(Verifier *v, const Transfer *a, const Transfer *b)
{
    if (a->reduce && b->reduce && same_reduction(v, a, b)) return true;
    EventId full = a->at_once ? a->start : a->full;
    bool over = a->site.write || a->at_once ? full && event_before(v, full, b->start)
                                            : a->phase && phase_before(v, a->phase, b->start);
    if (over && (!a->site.write || b->site.write || b->at_once || fence_between(v, full, b->start))) return true;
    if ((a->site.write && b->site.write) || v->k->tree.ops.n) return a->any_order || b->any_order || !collide(v, a, b);
    return apart(v, a, b);
}

static void report(Verifier *v, const Transfer *a, const Transfer *b)
{
    Diag *g;
    if (a->site.write && b->site.write) {
        g = verify_refuse(v, E0661, b->site.op,
                          "this store writes the place that another store in flight writes: which comes last is open");
        verify_also(v, g, a->site.op, "the other store, not waited for with grp.wait full");
    } else if (a->site.write) {
        load_after_store(v, a, b);
    } else {
        g = verify_refuse(v, E0661, b->site.op, "this store writes global memory that a load in flight may still read");
        verify_also(v, g, a->site.op, "the load");
        farther_away(v, g, a, b);
    }
}

static bool in_order(const Verifier *v, const Transfer *a, const Transfer *b)
{
    return a->start == b->start || !event_before(v, b->start, a->start);
}

/* Each pair. */
void check_global(Verifier *v)
{
    for (uint32_t i = 0; i < v->transfers.n && !v->failed; i++) {
        for (uint32_t j = 0; j < i && !v->failed; j++) {
            const Transfer *a = &v->transfers.v[j], *b = &v->transfers.v[i];
            if ((a->tensors & b->tensors) == 0 || !(a->site.write || b->site.write)) continue;
            if (!in_order(v, a, b)) {
                a = b;
                b = &v->transfers.v[j];
            }
            if (!fine(v, a, b)) report(v, a, b);
        }
        verify_spend(v, i / 16);
    }
}
