/* Modules: imports, targets, the items of each module, and -D. */
#include <string.h>

#include "frontend/check.h"

const char *name_of(const Env *e, Name n) { return names_text(e->c->names, n); }

Item *module_item(const Module *m, Name n) { return n < m->nnames ? m->item_of[n] : NULL; }

static const char *join_path(Compilation *c, const IdentItem *path, uint32_t n)
{
    Text t;
    text_init(&t, c->arena->mem);
    for (uint32_t i = 0; path && i < n; i++, path = path->next) {
        if (i) text_char(&t, '.');
        text_str(&t, names_text(c->names, path->id.name));
    }
    const char *s = arena_strdup(c->arena, t.s ? t.s : "", t.n);
    text_free(&t);
    return s;
}

const char *path_text(Env *e, const IdentItem *path) { return join_path(e->c, path, UINT32_MAX); }

static bool path_matches(const IdentItem *import, const IdentItem *path, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++, import = import->next, path = path->next)
        if (!import || !path || import->id.name != path->id.name) return false;
    return import == NULL;
}

Module *module_by_path(Env *e, const IdentItem *path, uint32_t n)
{
    for (Import *i = e->module->imports; i; i = i->next)
        if (path_matches(i->path, path, n)) return i->module;
    return NULL;
}

static Span path_span(const IdentItem *p)
{
    Span s = p->id.span;
    for (; p; p = p->next) s = span_join(s, p->id.span);
    return s;
}

/* ---- items ---- */

static const char *item_kind(const Item *it)
{
    switch (it->kind) {
    case IT_CONST: return "constant";
    case IT_FN: return "function";
    case IT_KERNEL: return "kernel";
    default: return "item";
    }
}

static void index_items(Checked *ch, Module *m)
{
    Compilation *c = ch->c;
    m->nnames = names_count(c->names) + 1;
    m->item_of = arena_array(c->arena, Item *, m->nnames);
    m->const_of = arena_array(c->arena, const Sx *, m->nnames);
    for (Item *it = m->unit->first; it; it = it->next) {
        if (it->kind != IT_CONST && it->kind != IT_FN && it->kind != IT_KERNEL) continue;
        if (!it->name.name) continue;
        Item *old = m->item_of[it->name.name];
        if (old) {
            Diag *g = diag_at(c->diags, E0202, it->name.span, "`%s` is already the name of a %s of this file",
                              names_text(c->names, it->name.name), item_kind(old));
            diag_label(c->diags, g, old->name.span, "first declared here");
            continue;
        }
        ElemType t;
        if (elem_find(names_text(c->names, it->name.name), &t))
            diag_at(c->diags, E0108, it->name.span, "`%s` is an element type and can't name a %s",
                    names_text(c->names, it->name.name), item_kind(it));
        m->item_of[it->name.name] = it;
        if (it->kind == IT_KERNEL && m == ch->main) vec_push(c->arena, &ch->kernels, it);
    }
}

/* ---- imports ---- */

static Module *load_module(Checked *ch, const char *name, Span at, const char *from);

static void read_imports(Checked *ch, Module *m)
{
    for (Item *it = m->unit->first; it; it = it->next) {
        if (it->kind != IT_IMPORT || !it->path) continue;
        const char *name = join_path(ch->c, it->path, UINT32_MAX);
        bool repeated = false;
        for (Import *i = m->imports; i; i = i->next)
            if (i->module && strcmp(i->module->name, name) == 0) repeated = true;
        if (repeated) continue;
        Import *i = arena_new(ch->c->arena, Import);
        i->path = it->path;
        i->span = path_span(it->path);
        i->module = load_module(ch, name, i->span, m->unit->source->path);
        i->next = m->imports;
        m->imports = i;
    }
}

static Module *load_module(Checked *ch, const char *name, Span at, const char *from)
{
    Compilation *c = ch->c;
    for (Module *m = ch->modules; m; m = m->next)
        if (strcmp(m->name, name) == 0) return m;
    size_t size = 0;
    const char *path = name, *text = NULL;
    if (ch->reader) text = ch->reader->read(ch->reader->user, name, from, &size, &path);
    if (!text) {
        static const char *const known[] = {"std.tiles"};
        Diag *g = diag_at(c->diags, E0203, at, "there is no module `%s`", name);
        const char *near = spelling_nearest(name, known, 1);
        if (near) diag_fix(c->diags, g, "import %s;", near);
        else diag_note(c->diags, g, (Span){0, 0}, "looked in the import folders (-I) and in the standard library");
        return NULL;
    }
    Source *src = sources_add(c->sources, path, text, size);
    if (!src) {
        diag_at(c->diags, E0203, at, "module `%s` is too large", name);
        return NULL;
    }
    ParseContext pc = {c->arena, c->names, c->diags, c->sources};
    Module *m = arena_new(c->arena, Module);
    m->name = name;
    m->unit = parse_unit(&pc, src);
    Module **end = &ch->modules;
    while (*end) end = &(*end)->next;
    *end = m;
    read_imports(ch, m);
    for (Item *it = m->unit->first; it; it = it->next)
        if (it->kind == IT_TARGET)
            diag_at(c->diags, E0214, it->span, "`target` stands in a module that is imported; only the main file has one");
    return m;
}

/* ---- targets ---- */

static const TargetInfo *find_target(Checked *ch, const char *name, Span at)
{
    const TargetInfo *t = target_find(name);
    if (t) return t;
    const char *names[64];
    size_t n = target_count() < 64 ? target_count() : 64;
    for (size_t i = 0; i < n; i++) names[i] = target_at(i)->name;
    Diag *g = diag_at(ch->c->diags, E0802, at, "`%s` is not a target with asynchronous copies", name);
    const char *near = spelling_nearest(name, names, n);
    if (near) diag_fix(ch->c->diags, g, "did you mean `%s`?", near);
    return NULL;
}

static void pick_target(Checked *ch, const char *arch)
{
    const TargetInfo *first = NULL, *wanted = arch ? target_find(arch) : NULL;
    bool listed = false, any = false;
    Span where = {0, 0};
    for (Item *it = ch->main->unit->first; it; it = it->next) {
        if (it->kind != IT_TARGET) continue;
        for (IdentItem *p = it->path; p; p = p->next) {
            const TargetInfo *t = find_target(ch, names_text(ch->c->names, p->id.name), p->id.span);
            any = true;
            where = span_join(where, p->id.span);
            if (!first) first = t;
            if (t && t == wanted) listed = true;
        }
    }
    if (wanted && any && !listed && first)
        diag_at(ch->c->diags, E0803, where, "the program is for %s, not for %s", "the targets listed here", arch);
    ch->c->target = wanted ? wanted : first ? first : target_find("sm_90a");
}

/* ---- entry ---- */

static Name word(Checked *ch, const char *s) { return names_intern(ch->c->names, s, strlen(s)); }

Checked *check_unit(Compilation *c, Unit *unit, Define *defines, size_t ndefines, const ImportReader *reader,
                    const char *arch)
{
    Checked *ch = arena_new(c->arena, Checked);
    ch->c = c;
    ch->defines = defines;
    ch->ndefines = ndefines;
    ch->reader = reader;
    ch->n_cta = word(ch, "cta");
    ch->n_grid = word(ch, "grid");
    ch->n_cluster = word(ch, "cluster");
    ch->n_bulk = word(ch, "bulk");
    ch->n_ceil = word(ch, "ceil");
    ch->n_min = word(ch, "min");
    ch->n_max = word(ch, "max");
    ch->main = ch->modules = arena_new(c->arena, Module);
    ch->main->name = "";
    ch->main->unit = unit;
    read_imports(ch, ch->main);
    for (Module *m = ch->modules; m; m = m->next) index_items(ch, m);
    pick_target(ch, arch);
    for (Module *m = ch->modules; m; m = m->next) check_names(ch, m);
    if (!ch->kernels.n && !c->diags->errors)
        diag_at(c->diags, E0216, (Span){unit->source->base, unit->source->base}, "the program has no kernel");
    return ch;
}

size_t check_kernel_count(const Checked *ch) { return ch->kernels.n; }

PKernel *check_kernel(Checked *ch, size_t i) { return elaborate_kernel(ch, ch->kernels.v[i]); }
