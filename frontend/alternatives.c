/* Which schedules a kernel has. Compile-time parameters with alternatives, `BM = 64 | 8`: each makes one more schedule of
 * the kernel, and the launch takes one of them. Where several parameters have alternatives the first of each go together,
 * the second of each, and so on, largest first. What -D gives to a parameter takes the place of its default: alternatives
 * too (-D BM=64|8), and one value stands in all schedules. Behind those stand what a tune file asks for.
 * Also what -D can set (--emit=defines). */
#include <string.h>

#include "frontend/check/check.h"
#include "frontend/wish.h"

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

/* ---- tune files ---- */

static bool same_value(const char *a, const char *b)
{
    int64_t x, y;
    return define_number(a, &x) && define_number(b, &y) ? x == y : strcmp(a, b) == 0;
}

static const TParam *param_of(Checked *ch, const Item *k, const char *name)
{
    for (const TParam *t = k->tparams; t; t = t->next)
        if (strcmp(names_text(ch->c->names, t->name.name), name) == 0) return t;
    return NULL;
}

/* Of n alternatives the one that the wish counts, or the first that has its values; n: none has. */
static uint32_t alternative_with(Checked *ch, const Item *k, const Wish *w, uint32_t n)
{
    uint32_t i = 0;
    if (w->alternative) return (uint32_t)(w->alternative - 1);
    while (i < n && !alternative_is(ch, k, i, w)) i++;
    return i;
}

static bool has_clc(const Checked *ch)
{
    return ch->c->target && target_has(ch->c->target, form_info(FORM_CLC_TRY_CANCEL)->feature);
}

/* false: -D gives one of its parameters other values, or leaves fewer of n alternatives, or it is for other targets. */
static bool allowed(Checked *ch, const Item *k, const Wish *w, uint32_t n)
{
    if ((w->deal == DEAL_CLC && !has_clc(ch)) || w->alternative > n) return false;
    for (uint32_t v = 0; v < w->values.n; v++) {
        const TParam *t = param_of(ch, k, w->values.v[v].name);
        const char *given = t ? define_value(ch, k, t) : NULL;
        bool found = !given;
        for (uint32_t i = 0, of = given ? alternatives_of(ch, k, t) : 0; i < of; i++)
            found |= same_value(alternative_of(ch->c->arena, given, i), w->values.v[v].value);
        if (!found) return false;
    }
    return true;
}

static void unknown(Checked *ch, TuneLine *l, bool pin, Span at, const char *text)
{
    Diag *g = diag_at(ch->c->diags, pin ? E0221 : W0002, at, "%s", text);
    if (!pin) diag_fix(ch->c->diags, g, "measure again with `tilecc tune`, or take the line out");
    l->left = true;
}

static const Item *kernel_of(Checked *ch, const char *name)
{
    for (const Item *it = ch->main->unit->first; it; it = it->next)
        if (it->kind == IT_KERNEL && strcmp(names_text(ch->c->names, it->name.name), name) == 0) return it;
    return NULL;
}

/* What the program does not have. */
static void check_lines(Checked *ch, const TuneFile *f, bool pin)
{
    Arena *a = ch->c->arena;
    for (uint32_t i = 0; f && i < f->lines.n; i++) {
        TuneLine *l = &f->lines.v[i];
        const Item *k = kernel_of(ch, l->kernel);
        if (!k) unknown(ch, l, pin, l->kernel_span, arena_printf(a, "the program has no kernel `%s`", l->kernel));
        if (k && pin && l->wish->deal == DEAL_CLC && !has_clc(ch)) unknown(ch, l, pin, l->wish->span, arena_printf(a, "%s has no clusterlaunchcontrol", ch->c->target->name));
        for (uint32_t v = 0; k && !l->left && v < l->wish->values.n; v++)
            if (!param_of(ch, k, l->wish->values.v[v].name))
                unknown(ch, l, pin, l->wish->span,
                        arena_printf(a, "`%s` is no compile-time parameter of `%s`", l->wish->values.v[v].name, l->kernel));
        uint32_t most = 1;
        for (const TParam *t = k ? k->tparams : NULL; t; t = t->next)
            if (of_source(t) > most) most = of_source(t);
        if (k && !l->left && l->wish->alternative > most)
            unknown(ch, l, pin, l->wish->span, arena_printf(a, "`%s` has %u alternative%s", l->kernel, most, most == 1 ? "" : "s"));
    }
}

static bool same_wish(const Wish *a, const Wish *b)
{
    bool same = a->alternative == b->alternative && a->deal == b->deal && a->stages == b->stages && a->hints == b->hints && a->l2 == b->l2 && a->values.n == b->values.n;
    for (uint32_t i = 0; same && i < a->values.n; i++)
        same = strcmp(a->values.v[i].name, b->values.v[i].name) == 0 && same_value(a->values.v[i].value, b->values.v[i].value);
    return same;
}

/* Its number among the kernel's schedules, which begin at `from`; the first n are the source's. */
static uint32_t schedule_for(Checked *ch, const Item *k, const Wish *w, uint32_t from, uint32_t n)
{
    uint32_t like = alternative_with(ch, k, w, n);
    if (like < n && w->deal == DEAL_ANY && w->stages == 0 && w->hints == HINTS_OPEN && w->l2 == 0) return like;
    for (uint32_t i = from + n; i < ch->schedules.n; i++)
        if (same_wish(ch->schedules.v[i].wish, w)) return i - from;
    vec_push(ch->c->arena, &ch->schedules, ((Schedule){.kernel = k, .alternative = like < n ? like : 0, .wish = w}));
    return ch->schedules.n - 1 - from;
}

static bool of_gpu(const TuneLine *l, const char *kernel, const char *gpu)
{
    return strcmp(l->kernel, kernel) == 0 && strcmp(l->gpu, gpu) == 0;
}

/* Where one line of a kernel and GPU is left out they all are: of others it is not known what they would be worth without it. */
static void leave_out(Checked *ch, const Item *k, const TuneFile *f, uint32_t n)
{
    const char *name = names_text(ch->c->names, k->name.name);
    for (uint32_t i = 0; i < f->lines.n; i++) {
        TuneLine *l = &f->lines.v[i];
        if (strcmp(l->kernel, name) != 0) continue;
        if (!l->left && allowed(ch, k, l->wish, n)) continue;
        for (uint32_t o = 0; o < f->lines.n; o++)
            if (of_gpu(&f->lines.v[o], name, l->gpu)) f->lines.v[o].left = true;
    }
}

/* The largest first: a launch takes the first that it is large enough for. */
static void add_pick(Checked *ch, Schedule *first, MfPick p)
{
    vec_push(ch->c->arena, &first->picks, p);
    for (uint32_t i = first->picks.n - 1; i > 0 && first->picks.v[i - 1].least < p.least; i--) {
        first->picks.v[i] = first->picks.v[i - 1];
        first->picks.v[i - 1] = p;
    }
}

static void tuned(Checked *ch, const Item *k, uint32_t n)
{
    const TuneFile *f = ch->c->tune;
    const char *name = names_text(ch->c->names, k->name.name);
    uint32_t from = ch->schedules.n - n;
    if (!f) return;
    leave_out(ch, k, f, n);
    for (uint32_t i = 0; i < f->lines.n; i++) {
        const TuneLine *l = &f->lines.v[i];
        if (l->left || strcmp(l->kernel, name) != 0 || (ch->c->gpu && strcmp(l->gpu, ch->c->gpu) != 0)) continue;
        uint32_t s = schedule_for(ch, k, l->wish, from, n);
        if (s >= MF_SCHEDULES_MAX || ch->schedules.v[from].picks.n >= MF_PICKS_MAX / 2) {
            diag_at(ch->c->diags, E0221, l->wish->span, "with this schedule `%s` has more than %d, or more than %d lines", name, MF_SCHEDULES_MAX, MF_PICKS_MAX / 2);
            return;
        }
        add_pick(ch, &ch->schedules.v[from], (MfPick){l->gpu, (uint8_t)s, MF_BYTES, l->least});
    }
}

/* What --pin asks for, instead of all others. */
static bool pinned(Checked *ch, const Item *k, uint32_t n)
{
    const TuneFile *f = ch->c->pin;
    const char *name = names_text(ch->c->names, k->name.name);
    bool any = false;
    for (uint32_t i = 0; f && i < f->lines.n; i++) {
        TuneLine *l = &f->lines.v[i];
        if (l->left || strcmp(l->kernel, name) != 0) continue;
        if (l->wish->alternative > n) unknown(ch, l, true, l->wish->span, arena_printf(ch->c->arena, "of `%s` -D leaves %u alternative%s", name, n, n == 1 ? "" : "s"));
        uint32_t like = alternative_with(ch, k, l->wish, n);
        vec_push(ch->c->arena, &ch->schedules, ((Schedule){.kernel = k, .alternative = like < n ? like : 0, .wish = l->wish}));
        any = true;
        break;
    }
    return any;
}

/* ---- --emit=defines ---- */

/* As -D takes it; one that has no value is said to be empty, and nothing is said of those that follow from it. */
static void define_line(Checked *ch, size_t first, const TParam *t, Text *out)
{
    const Item *k = ch->schedules.v[first].kernel;
    const char *all = NULL;
    bool one = alternatives_of(ch, k, t) == 1; /* in all schedules */
    for (size_t i = first; i < ch->schedules.n && ch->schedules.v[i].kernel == k; i++) {
        const Schedule *s = &ch->schedules.v[i];
        if (i > first && s->wish) break; /* of a tune file */
        const char *value = schedule_value(ch, s, t);
        if (!value && (t->value || define_value(ch, k, t))) return;
        if (!value) value = "";
        all = all && !one ? arena_printf(ch->c->scratch, "%s|%s", all, value) : value;
    }
    text_printf(out, "%s.%s=%s\n", names_text(ch->c->names, k->name.name), names_text(ch->c->names, t->name.name), all);
}

void check_defines(Checked *ch, Text *out)
{
    Env e = {.ch = ch, .c = ch->c, .module = ch->main};
    env_begin(&e);
    for (Item *it = ch->main->unit->first; it; it = it->next) {
        const Sx *x = it->kind == IT_CONST && module_item(ch->main, it->name.name) == it ? module_const(&e, ch->main, it, it->name.span) : NULL;
        if (x) text_printf(out, "%s=%lld\n", names_text(ch->c->names, it->name.name), (long long)x->k);
    }
    env_leave(&e, NULL);
    for (size_t i = 0; i < ch->schedules.n; i++) {
        const Item *k = ch->schedules.v[i].kernel;
        if (i > 0 && ch->schedules.v[i - 1].kernel == k) continue;
        text_printf(out, "kernel=%s\n", names_text(ch->c->names, k->name.name));
        for (const TParam *t = k->tparams; t; t = t->next) {
            ArenaMark mark = arena_mark(ch->c->scratch);
            define_line(ch, i, t, out);
            arena_release(ch->c->scratch, mark);
        }
    }
}

const char *check_settable(Checked *ch, Arena *a)
{
    Text all, names;
    text_in(&all, a);
    check_defines(ch, &all);
    text_in(&names, a);
    size_t n = 0;
    for (const char *p = text_end(&all); *p; p += strcspn(p, "\n") + 1) {
        if (strncmp(p, "kernel=", 7) == 0) continue;
        if (n++ < 12) text_printf(&names, "%s%.*s", n > 1 ? ", " : "", (int)strcspn(p, "=\n"), p);
    }
    if (n > 12) text_str(&names, ", ..");
    return n ? text_end(&names) : "nothing";
}

/* ---- all of a program ---- */

void alternatives(Checked *ch)
{
    for (Module *m = ch->modules; m; m = m->next)
        for (const Item *it = m->broken ? NULL : m->unit->first; it; it = it->next)
            if (it->kind == IT_FN) only_of_kernels(ch, it);
    check_lines(ch, ch->c->tune, false);
    check_lines(ch, ch->c->pin, true);
    for (uint32_t i = 0; i < ch->kernels.n; i++) {
        const Item *k = ch->kernels.v[i];
        uint32_t n = schedules_of(ch, k);
        if (!pinned(ch, k, n)) {
            for (uint32_t v = 0; v < n; v++) vec_push(ch->c->arena, &ch->schedules, ((Schedule){.kernel = k, .alternative = v}));
            tuned(ch, k, n);
        }
        ch->schedules.v[ch->schedules.n - 1].last = true;
    }
}
