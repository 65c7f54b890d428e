/* Which copies a move becomes. */
#include "lower/plan/copies.h"
#include "lower/plan/maps.h"

typedef struct Saved { /* a plan that is refused leaves nothing behind */
    uint32_t maps, params, checks;
} Saved;

static Saved save(const Lower *L)
{
    return (Saved){L->ir->mf.maps.n, L->ir->mf.params.n, L->ir->mf.checks.n};
}

static void restore(Lower *L, Saved s)
{
    L->ir->mf.maps.n = L->maps->descs.n = L->maps->map_tensors.n = s.maps;
    L->ir->mf.params.n = s.params;
    L->ir->mf.checks.n = s.checks;
}

static void no_instruction(Lower *L, const MoveInfo *mi, const Refusal *tensor, const Refusal *bulk)
{
    ErrorCode code = tensor->code == E0801 ? E0801 : E0520; /* what the target lacks counts more */
    Diag *g = lower_error(L, code, mi->stmt->span, "no copy instruction fits this move");
    diag_note(L->c->diags, g, tensor->span, "tensor copy: %s", tensor->text);
    diag_note(L->c->diags, g, bulk->span, "bulk copy: %s", bulk->text);
    const char *other = tensor->by_bulk || !tensor->fix ? bulk->fix : NULL;
    if (tensor->fix && other) diag_fix(L->c->diags, g, "%s, or %s", tensor->fix, other);
    else if (tensor->fix || other) diag_fix(L->c->diags, g, "%s", tensor->fix ? tensor->fix : other);
}

/* `via` pins the instruction; otherwise the first that fits in the order tensor, bulk. */
bool choose_copy(Lower *L, MoveInfo *mi, bool *tensor, TensorPlan *t, BulkPlan *b, Refusal *no_tensor)
{
    Saved before = save(L);
    Refusal no_bulk;
    PVia via = mi->mv->via;
    *tensor = via != VIA_BULK;
    if (*tensor && tensor_plan(L, mi, t, no_tensor)) return true;
    if (via == VIA_MAP) {
        if (no_tensor->text) lower_refuse(L, no_tensor);
        return false;
    }
    restore(L, before);
    *tensor = false;
    if (bulk_plan(L, mi, b, &no_bulk)) return true;
    restore(L, before);
    if (via == VIA_BULK) lower_refuse(L, &no_bulk);
    else no_instruction(L, mi, no_tensor, &no_bulk);
    return false;
}
