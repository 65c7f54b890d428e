/* Copies to and from one place in global memory, by one cluster: ordered, and with a fence where a load reads what a store
 * has written. That stores in flight to places that are neither certainly equal nor certainly different do not collide
 * is rule G's business, which sees the program. */
#include "lang/lang.h"
#include "lower/verify/graph/judge/judge.h"
#include "lower/verify/graph/unroll/unroll.h"
#include "lower/verify/graph/values/values.h"

/* A tiled map (copies.c: region_of) of the same memory and shape: coordinates mean the same. */
static bool same_view(const MfMap *a, const MfMap *b)
{
    if (a == b) return true;
    bool same = a->tensor == b->tensor && a->rank == b->rank && a->offset == b->offset && a->interleave == b->interleave;
    for (unsigned i = 0; same && i < a->rank; i++) same = a->dim[i] == b->dim[i] && a->pitch[i] == b->pitch[i];
    return same;
}

/* Of maps that the kernel makes the launch knows boxes and elements alone. */
static bool comparable(const Verifier *v, const Region *a, const Region *b)
{
    const MfMap *maps = v->k->mf.maps.v;
    if (a == NULL || b == NULL || a->tensor != b->tensor || a->n != b->n) return false;
    if (a->view || b->view) return a->view == b->view && maps[a->map].type == maps[b->map].type;
    if (a->map == UINT32_MAX || b->map == UINT32_MAX) return a->map == b->map;
    return same_view(&maps[a->map], &maps[b->map]);
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

/* Different coordinates of a view may be one place. */
static bool apart(Verifier *v, const Access *a, const Access *b)
{
    return comparable(v, a->region, b->region) && !a->region->view && places_apart(v, a, b);
}

/* Certain to touch the same place: of loops over copies, where a thread names it by equal forms, in each turn; lanes share a
 * loop's turns. What is neither certain nor excluded is for rule G, which knows the program. */
static bool collide(Verifier *v, const Access *first, const Access *second)
{
    const Region *a = first->region, *b = second->region;
    if (!comparable(v, a, b)) return false;
    bool turns = moves(v, a) || moves(v, b);
    if (turns && (event_thread(v, first->start) != event_thread(v, second->start) || conds_exclusive(v, a->cond, b->cond))) return false;
    for (unsigned i = 0; i < a->n; i++) {
        int64_t x, y;
        if (turns && (a->lo[i] != b->lo[i] || a->hi[i] != b->hi[i])) return false;
        if (!same_steps(v, a, b, i)) return false;
        if (!form_is_const(&v->f, form_add(&v->f, a->hi[i], -1, b->lo[i]), &x) || x <= 0) return false;
        if (!form_is_const(&v->f, form_add(&v->f, b->hi[i], -1, a->lo[i]), &y) || y <= 0) return false;
    }
    return true;
}

static void farther_away(Verifier *v, Diag *g, const Access *a, const Access *b)
{
    if (g && a->site.naround && b->site.naround && !collide(v, a, b))
        diag_note(v->diags, g, (Span){0, 0}, "what is read in one turn of the loops may be what is written in another, many turns away");
}

static void load_after_store(Verifier *v, const Access *s, const Access *l)
{
    if (access_before(v, s, l->start)) {
        Diag *g = verify_refuse(
            v, E0654, l->op,
            "this copy reads global memory written by a finished store, with no fence.async global in between");
        verify_also(v, g, s->op, "the store");
        farther_away(v, g, s, l);
        return;
    }
    Diag *g = verify_refuse(v, E0654, l->op, "this copy reads global memory that a store may still be writing");
    verify_also(v, g, s->op,
                s->group ? "the store, not waited for with grp.wait full" : "the store, not even committed to a group");
    farther_away(v, g, s, l);
}

/* In derived schedules rule G has told which loads and stores may meet, by iterations that are dealt, too (verify/tree/PROOF.md,
 * Trusted): only what certainly does is refused. */
static bool meet(Verifier *v, const Place *p, uint32_t i, uint32_t j)
{
    const Access *a = &p->all[i], *b = &p->all[j];
    if ((a->tensors & b->tensors) == 0) return false;
    if ((a->write && b->write) || v->k->tree.ops.n) return !a->any_order && !b->any_order && collide(v, a, b);
    return !apart(v, a, b);
}

static void report(Verifier *v, const Access *a, const Access *b)
{
    Diag *g;
    if (a->write && b->write) {
        g = verify_refuse(v, E0661, b->op,
                          "this store writes the place that another store in flight writes: which comes last is open");
        verify_also(v, g, a->op, "the other store, not waited for with grp.wait full");
    } else if (a->write) {
        load_after_store(v, a, b);
    } else {
        g = verify_refuse(v, E0661, b->op, "this store writes global memory that a load in flight may still read");
        verify_also(v, g, a->op, "the load");
        farther_away(v, g, a, b);
    }
}

void check_global(Verifier *v)
{
    Place all = {.all = v->transfers.v, .n = v->transfers.n};
    accesses_sort(v->transfers.v, v->transfers.n);
    uint32_t i = pairs_wrong(v, &all, meet), j = 0;
    if (i == all.n || v->failed) return;
    while (pair_fine(v, &all.all[j], &all.all[i]) || !meet(v, &all, j, i)) j++;
    report(v, &all.all[j], &all.all[i]);
}
