/* Copies to and from one place in global memory, by one cluster: ordered, and with a fence where a load reads what a store
 * has written. That stores in flight to places that are neither certainly equal nor certainly different do not collide
 * is rule G's business, which sees the program. */
#include "lower/verify_parts.h"

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

static int64_t step_of(const Verifier *v, const Region *r, unsigned i)
{
    return r->map == UINT32_MAX ? 1 : v->k->mf.maps.v[r->map].elem_stride[i];
}

/* Certain to touch the same place. What is neither certain nor excluded is for rule G, which knows the program. */
static bool collide(Verifier *v, const Region *a, const Region *b)
{
    if (!comparable(v, a, b)) return false;
    for (unsigned i = 0; i < a->n; i++) {
        int64_t x, y;
        if (!form_is_const(&v->f, form_add(&v->f, a->hi[i], -1, b->lo[i]), &x) || x <= 0) return false;
        if (!form_is_const(&v->f, form_add(&v->f, b->hi[i], -1, a->lo[i]), &y) || y <= 0) return false;
        int64_t s = step_of(v, a, i), t = step_of(v, b, i), apart;
        if (s == 1 && t == 1) continue;
        if (s != t || !form_is_const(&v->f, form_add(&v->f, b->lo[i], -1, a->lo[i]), &apart) || apart % s) return false;
    }
    return true;
}

static bool same_reduction(const Verifier *v, const Transfer *a, const Transfer *b)
{
    if (!a->reduce || !b->reduce) return false;
    const IrArg *x = ir_find(v->ops[a->op], IRK_ROP), *y = ir_find(v->ops[b->op], IRK_ROP);
    return x->id == y->id;
}

static bool fence_between(const Verifier *v, EventId a, EventId b)
{
    for (uint32_t i = 0; i < v->global_fences.n; i++)
        if (event_before(v, a, v->global_fences.v[i]) && event_before(v, v->global_fences.v[i], b)) return true;
    return false;
}

static void load_after_store(Verifier *v, const Transfer *s, const Transfer *l)
{
    if (s->full && event_before(v, s->full, l->start)) {
        Diag *g = verify_refuse(
            v, E0654, l->op,
            "this copy reads global memory written by a finished store, with no fence.async global in between");
        verify_also(v, g, s->op, "the store");
        return;
    }
    Diag *g = verify_refuse(v, E0654, l->op, "this copy reads global memory that a store may still be writing");
    verify_also(v, g, s->op,
                s->group ? "the store, not waited for with grp.wait full" : "the store, not even committed to a group");
}

/* a begins first. Order is looked at before places: it is cheaper. */
static void check_transfers(Verifier *v, const Transfer *a, const Transfer *b)
{
    bool over = a->write ? a->full && event_before(v, a->full, b->start) : a->phase && phase_before(v, a->phase, b->start);
    if (over && (!a->write || b->write || fence_between(v, a->full, b->start))) return;
    if (a->write && b->write) {
        if (a->any_order || b->any_order || !collide(v, a->region, b->region)) return;
        Diag *g = verify_refuse(
            v, E0661, b->op,
            "this store writes the place that another store in flight writes: which comes last is open");
        verify_also(v, g, a->op, "the other store, not waited for with grp.wait full");
        return;
    }
    if (disjoint(v, a->region, b->region)) return;
    if (a->write) {
        load_after_store(v, a, b);
        return;
    }
    Diag *g = verify_refuse(v, E0661, b->op, "this store writes global memory that a load in flight may still read");
    verify_also(v, g, a->op, "the load");
}

void check_global(Verifier *v)
{
    for (uint32_t i = 0; i < v->transfers.n; i++) {
        for (uint32_t j = 0; j < i && !v->failed; j++) {
            const Transfer *a = &v->transfers.v[j], *b = &v->transfers.v[i];
            if ((a->tensors & b->tensors) == 0 || !(a->write || b->write)) continue;
            if (a->reduce && b->reduce && same_reduction(v, a, b)) continue;
            bool back = event_before(v, b->start, a->start) && b->start != a->start;
            check_transfers(v, back ? b : a, back ? a : b);
        }
    }
}
