/* Which verifier proves a kernel. */
#include "lower/verify/verify.h"

#include "lower/verify/tree/check.h"

bool ir_has_tree_proof(const IrKernel *k)
{
    return k->tree.ops.n > 0;
}

/* Ops that the compiler adds stand nowhere in the source. */
static const IrOp *placed(const IrKernel *k, const IrOp *op)
{
    const IrOp *end = k->tree.ops.v + k->tree.ops.n;
    for (const IrOp *at = op; at && at < end; at++)
        if (at->span.hi) return at;
    return NULL;
}

/* It reads one part of a tile and writes another one. */
static bool within_tile(const TreeFault *f)
{
    if (f->condition != TREE_BESIDE || f->op == NULL || f->op != f->other) return false;
    const IrArg *src = ir_find(f->op, IRK_SRC), *dst = ir_find(f->op, IRK_DST);
    return src && dst && src->id == dst->id;
}

static void tell(Diags *d, const IrKernel *k, const TreeFault *f)
{
    const IrOp *at = placed(k, f->op);
    if (within_tile(f)) {
        Diag *g = diag_at(d, E0534, at->span, "the destination may overlap the source: each reaches from its first byte to its last");
        ir_call_notes(d, g, k, at->call);
        diag_fix(d, g, "move to another tile");
        return;
    }
    ErrorCode code = f->condition == TREE_INSIDE ? E0658 : f->most ? E0623 : E0660;
    Diag *g = diag_at(d, code, at ? at->span : k->span, "%s", f->text);
    if (at) ir_call_notes(d, g, k, at->call);
    if (f->condition == TREE_INSIDE) diag_fix(d, g, "keep the start itself between the ends of the tile: `min(max(start, 0), last)`; a condition around the statement does not count, even where it says the same");
    const IrArg *bar = f->most && f->op ? ir_find(f->op, IRK_BAR) : NULL;
    if (bar && k->bars.v[bar->id].span.hi) diag_label(d, g, k->bars.v[bar->id].span, "the tile");
    if (f->condition == TREE_COUNT) diag_fix(d, g, "let all CTAs of the cluster go through the loop as often, with the condition inside: `for .. { if .. { .. } }`");
    if (f->condition == TREE_ENDS) diag_fix(d, g, "divide by the maximum of that and 1, or let `where` say of a size that it is at least 1");
    if (f->other && f->other->span.hi) diag_label(d, g, f->other->span, "the other access");
}

/* What the states of its roles say, which is not asked when PTX is made. */
static void second_opinion(Arena *a, Sources *sources, const IrKernel *k, Text *certificate)
{
    Diags quiet;
    diags_init(&quiet, a, sources);
    if (ir_verify_states(a, &quiet, k, NULL, certificate)) return;
    text_printf(certificate, "; its roles are not followed: %s\n", quiet.first ? quiet.first->text : "");
}

bool ir_verify(Arena *a, Diags *d, const IrKernel *k, const Demands *to, Text *certificate)
{
    if (!ir_has_tree_proof(k)) return ir_verify_states(a, d, k, to, certificate);
    ArenaMark mark = arena_mark(a);
    const char *malformed = ir_check_tree(a, k);
    TreeFault fault;
    if (malformed) {
        diag_at(d, E0662, k->span, "%s", malformed);
        return false;
    }
    arena_release(a, mark);
    if (!tree_check(a, k, 0, &fault)) {
        tell(d, k, &fault);
        return false;
    }
    if (certificate) text_lit(certificate, "; proved: on its tree\n");
    if (certificate) second_opinion(a, d->sources, k, certificate);
    return true;
}
