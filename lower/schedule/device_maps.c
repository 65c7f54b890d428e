/* Maps that agents make: which rings have them, when a slot's map is made. In roles of the source nobody knows here which of its waits say
 * that a slot is free: there it is made in front of each copy, where what is waited for has been waited for; what that leaves open
 * the verifier finds. */
#include "lower/plan/device_maps.h"
#include "lower/schedule/schedule.h"

static const struct Declared *declared(const Lower *L, const PTensor *view)
{
    for (uint32_t i = 0; i < L->device->views.n; i++)
        if (L->device->views.v[i].view == view) return &L->device->views.v[i];
    return NULL;
}

/* The view is the same one in all of a turn: it is made in a block around the turn's, or in that. */
static bool same_in_turn(Lower *L, const Planned *p, const PTensor *view)
{
    const Ring *r = p->mi.load ? p->dst : p->src;
    const struct Declared *at = declared(L, view);
    uint32_t turn = 0;
    while (turn < p->depth && p->chain[turn].block != r->turn) turn++;
    if (at && at->depth <= turn) return true;
    L->stmt = p->st;
    Diag *g = lower_error(L, E0496, p->st->span, "`%s` is made anew while copies by its last map may be on their way",
                          name_text(L, view->name));
    diag_label(L->c->diags, g, view->span, "made in a loop");
    diag_label(L->c->diags, g, r->tile->span, "the tile is used around it");
    diag_fix(L->c->diags, g, "declare the tile beside the view, or write `via bulk`");
    L->stmt = NULL;
    return false;
}

bool device_find(Lower *L)
{
    bool ok = true;
    FOR_MOVES(L->sched, p) {
        if (p->agent == AG_NONE || !p->copies.t || !p->copies.t->device) continue;
        uint32_t k = 0;
        for (; k < L->device->maps.n; k++) {
            const DeviceMap *m = &L->device->maps.v[k];
            if (L->derived && m->map == p->copies.t->map && m->tile == p->mi.tile->index && m->agent == p->agent) break;
        }
        p->copies.t->device = k + 1;
        if (k < L->device->maps.n) continue;
        ok &= !L->derived || same_in_turn(L, p, p->mi.tensor);
        vec_push(L->a, &L->device->maps,
                 ((DeviceMap){.map = p->copies.t->map, .view = p->mi.tensor, .tile = p->mi.tile->index, .agent = p->agent,
                              .source = p->role, .move = L->derived ? NULL : p->st}));
    }
    return ok;
}

static bool of_role(const DeviceMap *m, uint32_t agent, const char *source)
{
    return m->agent == agent && m->source == source;
}

static bool is_own(const Lower *L, const DeviceMap *m)
{
    return of_role(m, L->sched->role, L->sched->source);
}

bool device_makes(const Lower *L, uint32_t agent, const char *source)
{
    bool any = false;
    for (uint32_t i = 0; i < L->device->maps.n; i++) any |= of_role(&L->device->maps.v[i], agent, source);
    return any;
}

void device_buffers(Lower *L)
{
    for (uint32_t i = 0; i < L->device->maps.n; i++) {
        DeviceMap *m = &L->device->maps.v[i], *of = m;
        const Ring *r = &L->sched->rings[m->tile];
        uint32_t slots = L->derived ? r->slots : r->tile->slots < 64 ? (uint32_t)r->tile->slots : 64;
        for (uint32_t k = 0; k < i && of == m; k++)
            if (of_role(&L->device->maps.v[k], m->agent, m->source)) of = &L->device->maps.v[k];
        const char *view = name_text(L, m->view->name);
        m->buf = device_buffer(L, view, m, slots);
        if (L->derived) L->ir->bufs.v[m->buf].ring = (uint16_t)(r->ir + 1);
        m->fresh = ir_var(L->a, L->ir, IR_I64, arena_printf(L->a, "%s.fresh", view));
        m->cell = of == m ? device_buffer(L, L->derived ? AGENT_NAMES[m->agent] : "role", NULL, 1) : of->cell;
    }
    device_place(L);
}

void device_role(Lower *L)
{
    for (uint32_t i = 0; i < L->device->maps.n; i++) {
        const DeviceMap *m = &L->device->maps.v[i];
        if (is_own(L, m)) emit_set(L, IR_VAR, m->fresh, opnd_imm(0));
    }
}

void device_view(Lower *L, const PStmt *st)
{
    if (L->sched->planning) {
        if (!declared(L, st->view)) vec_push(L->a, &L->device->views, ((struct Declared){st->view, L->sched->depth, st->span}));
        return;
    }
    for (uint32_t i = 0; i < L->device->maps.n; i++) {
        DeviceMap *m = &L->device->maps.v[i];
        if (!is_own(L, m) || m->view != st->view) continue;
        emit_set(L, L->derived ? IR_SET : IR_VAR, m->fresh, opnd_imm(0));
        device_values(L, m);
        m->made = true;
        if (m->begun) device_make(L, m, ring_slot(&L->sched->rings[m->tile]));
    }
}

void device_ring(Lower *L, const Ring *r)
{
    for (uint32_t i = 0; i < L->device->maps.n; i++) {
        DeviceMap *m = &L->device->maps.v[i];
        if (!is_own(L, m) || r->tile == NULL || m->tile != r->tile->index) continue;
        m->begun = true;
        if (!m->made) continue;
        agent_store_sync(L); /* one thread makes it: loops that store the slot, where its threads come together, may have had no turns */
        device_make(L, m, ring_slot(r));
    }
}
