/* Text to checked program: this file is the table of contents of the passes.
 *
 *   text -> tree         parse_unit   parse.c feeds the tokens of lex.re to parse.y, whose actions build (ast*.c); syntax.c says
 *                                     what is wrong, expected.c what could stand there
 *   trees -> Checked     check_unit   once a program: modules, names, constants, the target
 *   tree -> PKernel      check_kernel one kernel after the other, each in scratch memory; then check_unused, for those that got
 *                                     through lower/
 *
 * A pass reports what it finds and lets the next ones run. What could not be understood is silent from there on (ENT_BAD,
 * Module.broken); a kernel that comes out has no error.
 */
#include <string.h>

#include "frontend/check/check.h"

static Name word(Checked *ch, const char *s) { return names_intern(ch->c->names, s, strlen(s)); }

static Checked *begin(Compilation *c, Unit *unit)
{
    Checked *ch = arena_new(c->arena, Checked);
    ch->c = c;
    ch->n_cta = word(ch, "cta");
    ch->n_grid = word(ch, "grid");
    ch->n_cluster = word(ch, "cluster");
    ch->n_bulk = word(ch, "bulk");
    ch->n_ceil = word(ch, "ceil");
    ch->n_sizeof = word(ch, "sizeof");
    ch->n_min = word(ch, "min");
    ch->n_max = word(ch, "max");
    ch->main = ch->modules = arena_new(c->arena, Module);
    ch->main->name = "";
    ch->main->unit = unit;
    return ch;
}

static void constants(Checked *ch, Module *m)
{
    Env e = {.ch = ch, .c = ch->c, .module = m};
    env_begin(&e);
    for (Item *it = m->unit->first; it; it = it->next)
        if (it->kind == IT_CONST && module_item(m, it->name.name) == it) module_const(&e, m, it, it->name.span);
}

static void some_kernel(Checked *ch)
{
    uint32_t start = ch->main->unit->source->base;
    if (!ch->kernels.n && !ch->c->diags->errors) diag_at(ch->c->diags, E0216, (Span){start, start}, "the program has no kernel");
}

/* -D kernel=NAME: the others are looked at for their names only. Nothing else can be meant: `kernel` is a keyword. */
static void one_kernel(Checked *ch)
{
    const Define *one = NULL;
    for (size_t i = 0; i < ch->ndefines; i++) {
        if (strcmp(ch->defines[i].name, "kernel") != 0) continue;
        ch->defines[i].used = true;
        one = &ch->defines[i];
    }
    if (!one || !ch->kernels.n) return;
    const char *known = "";
    Item *found = NULL;
    for (uint32_t i = 0; i < ch->kernels.n; i++) {
        Item *it = ch->kernels.v[i];
        const char *name = names_text(ch->c->names, it->name.name);
        known = arena_printf(ch->c->scratch, "%s%s`%s`", known, i ? ", " : "", name);
        if (strcmp(name, one->value) == 0) found = it;
        for (const TParam *t = it->tparams; t; t = t->next) define_value(ch, it, t); /* -D may say what the others' are */
    }
    if (!found) diag_at(ch->c->diags, E0213, (Span){0, 0}, "the program has no kernel `%s`; it has %s", one->value, known);
    ch->kernels.v[0] = found;
    ch->kernels.n = found != NULL;
}

/* ---- once a program ---- */

Checked *check_unit(Compilation *c, Unit *unit, Define *defines, size_t ndefines, const ImportReader *reader,
                    const char *arch)
{
    Checked *ch = begin(c, unit);
    ch->defines = defines;
    ch->ndefines = ndefines;
    ch->reader = reader;
    modules_read(ch); /* modules.c: imports read, the items of each module by name */
    ch->newest = arena_array(c->arena, Entity *, names_count(c->names) + 1);
    target_pick(ch, arch); /* targets.c */
    for (Module *m = ch->modules; m; m = m->next)
        if (!m->broken) check_names(ch, m); /* names.c: also in what nobody calls */
    for (Module *m = ch->modules; m; m = m->next)
        if (!m->broken) constants(ch, m); /* scalars.c: each has a value */
    some_kernel(ch);
    one_kernel(ch);
    alternatives(ch); /* alternatives.c: which schedules each kernel has */
    ch->errors = c->diags->errors;
    return ch;
}

bool check_last_schedule(const Checked *ch, size_t i) { return ch->schedules.v[i].last; }

const Wish *check_wish(const Checked *ch, size_t i) { return ch->schedules.v[i].wish; }

size_t check_kernel_count(const Checked *ch) { return ch->schedules.n; }

/* ---- once a kernel ---- */

PKernel *check_kernel(Checked *ch, size_t i) { return check_kernel_as(ch, i, ch->schedules.v[i].wish); }

PKernel *check_kernel_as(Checked *ch, size_t i, const Wish *wish)
{
    Compilation *c = ch->c;
    const Schedule *schedule = &ch->schedules.v[i];
    const Item *item = schedule->kernel;
    uint32_t met = c->diags->met;
    Env e = {.ch = ch, .c = c, .module = ch->main};
    PKernel *k = kernel_new(&e, schedule, wish);
    ch->inlined = 0;
    env_begin(&e);
    bool ok = kernel_head(&e, item);       /* kernels.c: parameters, attributes; types in types.c */
    statements(&e, &item->body, &k->body); /* statements.c: and from there moves.c, regions.c, maps.c, loops.c, calls.c .. */
    env_leave(&e, NULL);
    if (!ok || ch->errors || c->diags->met != met) return NULL;
    if (!kernel_whole(&e)) return NULL; /* what only the whole kernel shows: of its grid, its roles, its tensor memory */
    drop_left_out(k);                   /* unused.c: what only branches that are left out use */
    check_collective(c, k);             /* collective.c: what CTAs of a cluster do together */
    check_protocols(c, k);              /* protocols.c: who completes a barrier */
    return c->diags->met == met ? k : NULL;
}
