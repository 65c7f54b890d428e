/* Compile-time parameters with alternatives, `BM = 64 | 8`: each makes one more schedule of the kernel, and the launch takes one of them. Where several
 * parameters have alternatives the first of each go together, the second of each, and so on, largest first. What -D gives to a parameter takes
 * the place of its default: alternatives too (-D BM=64|8), and one value stands in all schedules. */
#include "frontend/check.h"

#include <string.h>

static uint32_t of_source(const TParam *t)
{
    uint32_t n = 1;
    for (const Expr *x = t->value; x && x->next; x = x->next) n++;
    return n;
}

static uint32_t alternatives_of(Checked *ch, const Item *k, const TParam *t)
{
    const char *given = define_value(ch, k, t);
    if (given == NULL) return of_source(t);
    uint32_t n = 1;
    for (; (given = strchr(given, '|')) != NULL; given++) n++;
    return n;
}

const char *alternative_of(Arena *a, const char *given, uint32_t i)
{
    const char *end;
    for (; (end = strchr(given, '|')) != NULL && i > 0; i--) given = end + 1;
    while (*given == ' ') given++;
    size_t n = end ? (size_t)(end - given) : strlen(given);
    while (n > 0 && given[n - 1] == ' ') n--;
    return arena_strdup(a, given, n);
}

static uint32_t schedules_of(Checked *ch, const Item *k)
{
    const TParam *first = NULL;
    uint32_t all = 1;
    for (const TParam *t = k->tparams; t; t = t->next) {
        uint32_t n = alternatives_of(ch, k, t);
        if (n == 1) continue;
        if (first == NULL) first = t, all = n;
        if (all == n) continue;
        Diag *g = diag_at(ch->c->diags, E0220, t->name.span, "`%s` has %u alternatives, `%s` %u", names_text(ch->c->names, t->name.name), n,
                          names_text(ch->c->names, first->name.name), all);
        diag_label(ch->c->diags, g, first->name.span, "`%s`", names_text(ch->c->names, first->name.name));
    }
    if (all > MF_SCHEDULES_MAX) diag_at(ch->c->diags, E0220, first->name.span, "%u alternatives; a kernel has at most %d", all, MF_SCHEDULES_MAX);
    return all;
}

static void only_of_kernels(Checked *ch, const Item *fn)
{
    for (const TParam *t = fn->tparams; t; t = t->next)
        if (of_source(t) > 1)
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
