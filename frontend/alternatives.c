/* Compile-time parameters with alternatives, `BM = 64 | 8`: each makes one more schedule of the kernel, and the launch takes one of them. Where several
 * parameters have alternatives the first of each go together, the second of each, and so on, largest first. -D pins a parameter in all schedules;
 * where it pins all that have alternatives there is one. */
#include "frontend/check.h"

uint32_t alternatives_of(const TParam *t)
{
    uint32_t n = 1;
    for (const Expr *x = t->value; x && x->next; x = x->next) n++;
    return n;
}

static uint32_t schedules_of(Checked *ch, const Item *k)
{
    const TParam *first = NULL;
    bool pinned = true;
    for (const TParam *t = k->tparams; t; t = t->next) {
        uint32_t n = alternatives_of(t);
        if (n == 1) continue;
        if (define_value(ch, k, t) == NULL) pinned = false;
        if (first == NULL) first = t;
        if (alternatives_of(first) == n) continue;
        Diag *g = diag_at(ch->c->diags, E0220, t->name.span, "`%s` has %u alternatives, `%s` %u", names_text(ch->c->names, t->name.name), n,
                          names_text(ch->c->names, first->name.name), alternatives_of(first));
        diag_label(ch->c->diags, g, first->name.span, "`%s`", names_text(ch->c->names, first->name.name));
    }
    if (first && alternatives_of(first) > MF_SCHEDULES_MAX)
        diag_at(ch->c->diags, E0220, first->name.span, "%u alternatives; a kernel has at most %d", alternatives_of(first), MF_SCHEDULES_MAX);
    return pinned ? 1 : alternatives_of(first);
}

static void only_of_kernels(Checked *ch, const Item *fn)
{
    for (const TParam *t = fn->tparams; t; t = t->next)
        if (alternatives_of(t) > 1)
            diag_at(ch->c->diags, E0220, t->name.span, "`%s` is a parameter of a function: who calls it says one value", names_text(ch->c->names, t->name.name));
}

void alternatives(Checked *ch)
{
    for (Module *m = ch->modules; m; m = m->next)
        for (const Item *it = m->broken ? NULL : m->unit->first; it; it = it->next)
            if (it->kind == IT_FN) only_of_kernels(ch, it);
    for (uint32_t i = 0; i < ch->kernels.n; i++) {
        uint32_t n = schedules_of(ch, ch->kernels.v[i]);
        for (uint32_t v = 0; v < n; v++) vec_push(ch->c->arena, &ch->schedules, ((Schedule){ch->kernels.v[i], v, n}));
    }
}
