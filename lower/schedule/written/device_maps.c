/* Maps that roles of the source make. Such a role is run by all its threads (threads.c): the first warp makes a map, the
 * elected thread copies. Which of the source's waits say that a slot is free nobody knows here, so the map of a slot is made in
 * front of each copy, where what is waited for has been waited for; what that leaves open the verifier finds. */
#include "lower/emit/values.h"
#include "lower/plan/device_maps.h"
#include "lower/schedule/written/sync.h"

#include "lang/lang.h"

static const PTensor *run_time_view(const PStmt *s)
{
    const PMove *m = s->kind == P_MOVE ? s->move : NULL;
    if (m == NULL || m->via == VIA_BULK || (m->kind != MOVE_LOAD && m->kind != MOVE_STORE)) return NULL;
    const PTensor *t = m->kind == MOVE_LOAD ? m->src.tensor : m->dst.tensor;
    return t && t->run_time ? t : NULL;
}

bool device_wanted(const Lower *L, const PBlock *b)
{
    if (!target_has(L->c->target, form_info(FORM_MAP_REPLACE)->feature)) return false;
    for (const PStmt *s = b->first; s; s = s->next)
        if (run_time_view(s) || device_wanted(L, &s->body) || device_wanted(L, &s->other)) return true;
    return false;
}

static void declare(Lower *L, const PStmt *st, const PBlock *b)
{
    for (const PStmt *s = b->first; s; s = s->next) {
        declare(L, st, &s->body);
        declare(L, st, &s->other);
        if (run_time_view(s) != st->view) continue;
        const PTile *t = s->move->kind == MOVE_LOAD ? s->move->dst.tile : s->move->src.tile;
        DeviceMap m = {.map = UINT32_MAX, .view = st->view, .tile = t->index, .move = s, .fresh = L->ir->vars.n};
        vec_push(L->a, &L->ir->vars, ((IrVar){arena_printf(L->a, "%s.fresh", name_text(L, st->view->name)), IR_I64}));
        emit_set(L, IR_VAR, m.fresh, opnd_imm(0));
        if (L->device->cell == 0) L->device->cell = device_cell(L, "role");
        m.cell = L->device->cell;
        m.buf = device_buffer(L, &m, t->slots < 64 ? (uint32_t)t->slots : 64);
        device_values(L, &m);
        vec_push(L->a, &L->device->maps, m);
    }
}

void device_declare(Lower *L, const PStmt *st)
{
    if (L->device->body) declare(L, st, L->device->body);
}

void device_copy(Lower *L, const MoveInfo *mi, TensorPlan *t)
{
    for (uint32_t i = L->device->maps.n; i-- > 0;) {
        DeviceMap *m = &L->device->maps.v[i];
        if (m->move != mi->stmt) continue;
        m->map = t->map;
        t->device = i + 1;
        device_make(L, m, t->slot);
        return;
    }
}
