/* Maps that the kernel makes: equal ones are one, in all runs. lower/ir/check_maps.c has shown that a slot holds the
 * map that map.set would make now.
 */
#include <string.h>

#include "lang/maps/rules.h"
#include "lower/verify/graph/unroll/unroll.h"
#include "lower/verify/graph/values/values.h"

static bool same_map(const View *a, const View *b)
{
    bool same = a->tensor == b->tensor && a->n == b->n && a->from == b->from && a->some == b->some;
    for (uint32_t i = 0; same && i < a->n; i++) same = a->dim[i] == b->dim[i] && a->pitch[i] == b->pitch[i];
    return same;
}

static const View *one_of(Verifier *v, const View *w)
{
    for (uint32_t i = v->views.n; i-- > 0;)
        if (same_map(v->views.v[i], w)) return v->views.v[i];
    View *made = arena_new(v->arena, View);
    *made = *w;
    vec_push(v->arena, &v->views, made);
    return made;
}

const View *view_of_map(Verifier *v, uint32_t op)
{
    const MfMap *m = &v->k->mf.maps.v[verify_arg(v, op, IRK_MAP)->id];
    const IrOp *from = verify_def(v, verify_arg(v, op, IRK_FROM));
    const IrArg *dim, *pitch;
    unsigned n = ir_list(v->ops[op], IRK_DIMS, &dim);
    ir_list(v->ops[op], IRK_PITCHES, &pitch);
    if (from == NULL || from->op != IR_GADDR || ir_find(from, IRK_TENSOR)->id != m->tensor) return NULL;
    const IrArg *byte = ir_find(from, IRK_BYTE);
    const IrOp *sel = verify_def(v, byte);
    View w = {.tensor = m->tensor, .n = n, .from = run_value(v, byte)};
    w.some = sel && sel->op == IR_SEL ? run_value(v, ir_find(sel, IRK_COND)) : form_const(&v->f, 1);
    for (unsigned i = 0; i < n; i++) w.dim[i] = run_value(v, &dim[i]);
    for (unsigned i = 0; i + 1 < n; i++) w.pitch[i] = run_value(v, &pitch[i]);
    w.pitch[n - 1] = form_const(&v->f, map_global_bits(m->type) / 8);
    return one_of(v, &w);
}
