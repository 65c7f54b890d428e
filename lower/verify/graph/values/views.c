/* Copies by maps that the kernel makes: where the last map.set of a slot put its map. lower/ir/check_maps.c has shown that a slot holds the
 * map that map.set would make now.
 */
#include <string.h>

#include "lang/map_rules.h"
#include "lower/verify/graph/unroll/unroll.h"
#include "lower/verify/graph/values/values.h"

typedef struct Placed { /* a slot of a buffer of maps, and what was put there last */
    uint32_t rank, buf;
    int64_t slot;
    View *view;
} Placed;
struct Views {
    VEC(Placed) slots; /* of this run */
    VEC(View *) each;
};

static View **slot_of(const Verifier *v, const Bytes *at)
{
    for (uint32_t i = 0; v->views && i < v->views->slots.n; i++) {
        Placed *p = &v->views->slots.v[i];
        if (p->rank == at->rank && p->buf == at->buf && p->slot == at->slot) return &p->view;
    }
    return NULL;
}

View *view_at(const Verifier *v, const Bytes *at)
{
    View **slot = slot_of(v, at);
    return slot && (*slot)->n ? *slot : NULL;
}

static bool same_map(const View *a, const View *b)
{
    bool same = a->tensor == b->tensor && a->n == b->n && a->from == b->from && a->some == b->some;
    for (uint32_t i = 0; same && i < a->n; i++) same = a->dim[i] == b->dim[i] && a->pitch[i] == b->pitch[i];
    return same;
}

static View *one_of(Verifier *v, const View *w)
{
    for (uint32_t i = v->views->each.n; i-- > 0;)
        if (same_map(v->views->each.v[i], w)) return v->views->each.v[i];
    View *made = arena_new(v->arena, View);
    *made = *w;
    vec_push(v->arena, &v->views->each, made);
    return made;
}

/* Where an operand has no form the view is not known. */
static View *view_of(Verifier *v, uint32_t op)
{
    const MfMap *m = &v->k->mf.maps.v[verify_arg(v, op, IRK_MAP)->id];
    const IrOp *from = verify_def(v, verify_arg(v, op, IRK_FROM));
    const IrArg *dim, *pitch;
    unsigned n = ir_list(v->ops[op], IRK_DIMS, &dim), pitches = ir_list(v->ops[op], IRK_PITCHES, &pitch);
    View w = {.tensor = m->tensor};
    if (from && from->op == IR_GADDR && ir_find(from, IRK_TENSOR)->id == m->tensor && n <= MAP_RANK &&
        pitches + 1 == n) {
        const IrArg *byte = ir_find(from, IRK_BYTE);
        const IrOp *sel = verify_def(v, byte);
        w.from = run_value(v, byte);
        w.some = sel && sel->op == IR_SEL ? run_value(v, ir_find(sel, IRK_COND)) : form_const(&v->f, 1);
        bool known = w.from && w.some;
        for (unsigned i = 0; i < n; i++) known = (w.dim[i] = run_value(v, &dim[i])) && known;
        for (unsigned i = 0; i + 1 < n; i++) known = (w.pitch[i] = run_value(v, &pitch[i])) && known;
        w.pitch[n - 1] = form_const(&v->f, map_global_bits(m->type) / 8);
        w.n = known ? n : 0;
    }
    return one_of(v, &w);
}

void views_clear(Verifier *v)
{
    if (v->views) memset(&v->views->slots, 0, sizeof v->views->slots);
}

void view_set(Verifier *v, uint32_t op, const Bytes *at)
{
    if (v->views == NULL) v->views = arena_new(v->arena, struct Views);
    View **slot = slot_of(v, at), *w = view_of(v, op);
    if (slot) *slot = w;
    else vec_push(&v->run, &v->views->slots, ((Placed){at->rank, at->buf, at->slot, w}));
}
