/* Where synchronisation starts: which barriers there are, what each role keeps of their phases. */
#include "lower/schedule/written/sync.h"

/* Barriers at which other CTAs arrive. */
static void find_far(Lower *L, const PBlock *b)
{
    for (const PStmt *s = b->first; s; s = s->next) {
        if (s->kind == P_ARRIVE && s->peer) L->remote = L->sync->far[s->barrier->index] = true;
        if (s->kind == P_MOVE && s->move->barrier && L->cluster_size > 1 && (s->move->cast || s->move->barrier_peer))
            L->remote = L->sync->far[s->move->barrier->index] = true;
        if (s->kind == P_MOVE && s->move->barrier && L->k->pair && move_by_tensor_core(s->move))
            L->remote = L->sync->far[s->move->barrier->index] = true;
        if (s->kind == P_MOVE && s->move->kind == MOVE_FILL && s->move->dst.peer && s->move->barrier)
            L->sync->generic[s->move->barrier->index] = true;
        find_far(L, &s->body);
        find_far(L, &s->other);
        for (uint32_t i = 0; i < s->roles.n; i++) find_far(L, &s->roles.v[i].body);
    }
}

void sync_begin(Lower *L)
{
    const PKernel *k = L->k;
    Sync *s = L->sync;
    s->guard = opnd_imm(1);
    s->many = k->roles_span.hi != 0;
    s->bars = arena_array(L->a, Explicit, k->barriers.n);
    s->far = arena_array(L->a, bool, k->barriers.n);
    s->generic = arena_array(L->a, bool, k->barriers.n);
    for (uint32_t i = 0; i < k->barriers.n; i++) {
        const PBarrier *p = k->barriers.v[i];
        IrBar *b = vec_add(L->a, &L->ir->bars);
        *b = (IrBar){.name = name_text(L, p->name), .slots = (uint32_t)p->slots, .count = 1, .span = p->span};
    }
    find_far(L, &k->body);
}

static uint32_t phase_var(Lower *L, const char *name, int64_t first, Span span)
{
    uint32_t v = L->ir->vars.n;
    IrVar *var = vec_add(L->a, &L->ir->vars);
    *var = (IrVar){name, IR_I32};
    IrOp *op = ir_op(L->a, &L->body, IR_VAR, span);
    ir_ref(L->a, op, IRK_VAR, IRA_VAR, v);
    ir_imm(L->a, op, IRK_A, first);
    return v;
}

/* What of b's body is used in loops, or at slots that are not constant. */
static void find_looped(Lower *L, const PBlock *b, bool inside)
{
    for (const PStmt *s = b->first; s; s = s->next) {
        bool commit = s->kind == P_MOVE && s->move->commit == COMMIT_BARRIER;
        const PBarrier *bar = commit ? s->move->barrier : s->barrier;
        const Sx *slot = commit ? s->move->barrier_slot : s->value;
        if (commit || s->kind == P_WAIT || s->kind == P_ARRIVE)
            L->sync->bars[bar->index].looped |= inside || (slot && slot->op != SX_CONST);
        find_looped(L, &s->body, inside || s->kind == P_FOR);
        find_looped(L, &s->other, inside);
    }
}

/* One variable holds the phases of all slots of a barrier, a bit each: it is right for any order of the slots. */
void sync_role(Lower *L, const PBlock *body)
{
    Sync *s = L->sync;
    s->commits.n = s->around.n = 0;
    for (uint32_t i = 0; i < L->k->barriers.n; i++) {
        s->bars[i] = (Explicit){.waits = arena_array(L->a, uint32_t, (size_t)L->k->barriers.v[i]->slots)};
        s->bars[i].looped = s->many;
    }
    find_looped(L, body, false);
    for (uint32_t i = 0; i < L->k->barriers.n; i++) {
        const PBarrier *b = L->k->barriers.v[i];
        if (!s->bars[i].looped) continue;
        if (b->slots > 32) {
            Diag *g = lower_error(L, E0712, b->span, "barrier `%s` has %lld slots; in loops and roles it has at most 32",
                                  name_text(L, b->name), (long long)b->slots);
            diag_fix(L->c->diags, g, "use several barriers, or a shorter ring");
        }
        int64_t all = b->slots >= 32 ? -1 : (INT64_C(1) << b->slots) - 1;
        s->bars[i].bits = phase_var(L, arena_printf(L->a, "%s.phase", name_text(L, b->name)), b->is_free ? all : 0,
                                    b->span);
    }
}
