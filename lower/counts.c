/* How many arrivals a phase of each barrier of the source has: those of one turn over the phases waited for in one.
 *
 * Notes are made where arrivals and waits are emitted. A role's arrivals of a turn are those in one block at one slot; the
 * block that has most stands for all (the verifier proves that the others agree). */
#include "lower/parts.h"

void counts_note(Lower *L, uint32_t bar, Opnd slot, bool wait, uint32_t weight)
{
    Sync *s = &L->sync;
    for (uint32_t i = 0; i < s->notes.n; i++) {
        Note *n = &s->notes.v[i];
        if (n->bar != bar || n->wait != wait || n->role != s->role || n->block != s->block || n->slot.v != slot.v ||
            n->slot.k != slot.k)
            continue;
        n->count += weight;
        return;
    }
    Note n = {.bar = bar, .wait = wait, .role = s->role, .block = s->block, .span = L->stmt->span, .slot = slot, .count = weight};
    vec_push(L->a, &s->notes, n);
}

static uint32_t most(const Sync *s, uint32_t bar, bool wait, uint32_t role)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->notes.n; i++) {
        const Note *x = &s->notes.v[i];
        if (x->bar == bar && x->wait == wait && x->role == role && x->count > n) n = x->count;
    }
    return n;
}

static void uneven(Lower *L, uint32_t bar, uint32_t arrivals, uint32_t waits)
{
    Sync *s = &L->sync;
    const IrBar *b = &L->ir->bars.v[bar];
    Diag *g = lower_error(L, E0713, b->span, "barrier `%s` gets %u arrivals where it is waited for %u times", b->name,
                          arrivals, waits);
    for (uint32_t i = 0; i < s->notes.n; i++) {
        const Note *x = &s->notes.v[i];
        if (x->bar == bar) diag_label(L->c->diags, g, x->span, "%u of the %s", x->count, x->wait ? "waits" : "arrivals");
    }
    diag_fix(L->c->diags, g, "let every phase have the same number of arrivals, or use another barrier");
}

static uint32_t count_of(Lower *L, uint32_t bar)
{
    Sync *s = &L->sync;
    uint32_t arrivals = 0, waits = 0;
    for (uint32_t r = 0; r <= s->role; r++) {
        uint32_t w = most(s, bar, true, r);
        arrivals += most(s, bar, false, r);
        if (w > waits) waits = w;
    }
    if (waits == 0) waits = 1;
    if (arrivals % waits == 0) return arrivals ? arrivals / waits : 1;
    uneven(L, bar, arrivals, waits);
    return 1;
}

void counts_set(Lower *L)
{
    for (uint32_t i = 0; i < L->k->barriers.n; i++) L->ir->bars.v[i].count = count_of(L, i);
}
