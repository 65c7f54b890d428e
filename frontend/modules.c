/* Modules: imports, the items of each module, and -D. */
#include <string.h>

#include "frontend/check/check.h"
#include "lang/checked.h"

const char *name_of(const Env *e, Name n) { return names_text(e->c->names, n); }

Item *module_item(const Module *m, Name n) { return n < m->nnames ? m->item_of[n] : NULL; }

static const char *join_path(Compilation *c, const IdentItem *path, uint32_t n)
{
    Text t;
    text_in(&t, c->arena);
    for (uint32_t i = 0; path && i < n; i++, path = path->next) {
        if (i) text_char(&t, '.');
        text_str(&t, names_text(c->names, path->id.name));
    }
    return text_end(&t);
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

const char *item_kind(const Item *it)
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
        const char *text = names_text(c->names, it->name.name);
        bool word = is_builtin_base(ch, it->name.name) || is_builtin_function(ch, it->name.name);
        if (it->kind != IT_KERNEL && (word || elem_find(text, &t)))
            diag_at(c->diags, E0108, it->name.span, "`%s` is %s and can't name a %s", text,
                    word ? "a word of the language" : "an element type", item_kind(it));
        m->item_of[it->name.name] = it;
        if (it->kind == IT_KERNEL && m == ch->main) vec_push(c->arena, &ch->kernels, it);
    }
}

/* ---- imports ---- */

static Module *load_module(Checked *ch, const char *name, Span at, const char *from);

static bool same_folder(const char *a, const char *b)
{
    const char *ea = strrchr(a, '/'), *eb = strrchr(b, '/');
    size_t na = ea ? (size_t)(ea - a) + 1 : 0, nb = eb ? (size_t)(eb - b) + 1 : 0;
    return na == nb && memcmp(a, b, na) == 0;
}

/* What a file of the same folder has imported under this name: a name means a file together with the folder. */
static const Import *known_import(const Checked *ch, const char *name, const char *from)
{
    for (const Module *m = ch->modules; m; m = m->next) {
        if (!same_folder(m->unit->source->path, from)) continue;
        for (const Import *i = m->imports; i; i = i->next)
            if (strcmp(i->name, name) == 0) return i;
    }
    return NULL;
}

static void read_imports(Checked *ch, Module *m)
{
    m->loading = true;
    for (Item *it = m->unit->first; it; it = it->next) {
        if (it->kind != IT_IMPORT || !it->path) continue;
        const char *name = join_path(ch->c, it->path, UINT32_MAX);
        bool repeated = false;
        for (Import *i = m->imports; i; i = i->next) repeated = repeated || strcmp(i->name, name) == 0;
        if (repeated) continue;
        const Import *known = known_import(ch, name, m->unit->source->path);
        Import *i = arena_new(ch->c->arena, Import);
        i->path = it->path;
        i->name = name;
        i->span = path_span(it->path);
        i->module = known ? known->module : load_module(ch, name, i->span, m->unit->source->path);
        i->next = m->imports;
        m->imports = i;
    }
    m->loading = false;
}

static void import_cycle(Checked *ch, const Module *m, const char *name, Span at)
{
    Diag *g = diag_at(ch->c->diags, E0204, at, "`import %s` closes a cycle of imports", name);
    if (m->imported.hi) diag_label(ch->c->diags, g, m->imported, "`%s` is imported here and not read to its end yet", m->name);
    diag_fix(ch->c->diags, g, "move what both need into a third module");
}

static void no_module(Checked *ch, const char *name, Span at)
{
    static const char *const known[] = {"std.tiles"};
    Diag *g = diag_at(ch->c->diags, E0203, at, "there is no module `%s`", name);
    const char *near = spelling_nearest(name, known, 1);
    if (near) diag_fix(ch->c->diags, g, "import %s;", near);
    else
        diag_note(ch->c->diags, g, (Span){0, 0},
                  "looked in the import folders (-I), beside the importing file, and in the standard library");
}

static Module *load_module(Checked *ch, const char *name, Span at, const char *from)
{
    Compilation *c = ch->c;
    size_t size = 0;
    const char *path = name, *why = NULL;
    const char *text = ch->reader ? ch->reader->read(ch->reader->user, name, from, &size, &path, &why) : NULL;
    if (why) {
        diag_at(c->diags, E0203, at, "the module `%s` can't be read: %s %s", name, path, why);
        return NULL;
    }
    if (!text) {
        no_module(ch, name, at);
        return NULL;
    }
    for (Module *m = ch->modules; m; m = m->next) {
        if (strcmp(m->unit->source->path, path) != 0) continue;
        if (!m->loading) return m;
        import_cycle(ch, m, name, at);
        return NULL;
    }
    Source *src = sources_add(c->sources, path, text, size);
    if (!src) {
        diag_at(c->diags, E0109, at, "with module `%s` the source texts are too large", name);
        return NULL;
    }
    ParseContext pc = {c->arena, c->names, c->diags, c->sources};
    Module *m = arena_new(c->arena, Module);
    uint32_t met = c->diags->met;
    m->name = name;
    m->imported = at;
    m->unit = parse_unit(&pc, src);
    m->broken = c->diags->met != met;
    Module **end = &ch->modules;
    while (*end) end = &(*end)->next;
    *end = m;
    read_imports(ch, m);
    for (Item *it = m->unit->first; it; it = it->next)
        if (it->kind == IT_TARGET)
            diag_at(c->diags, E0214, it->span, "`target` stands in a module that is imported; only the main file has one");
    return m;
}

void modules_read(Checked *ch)
{
    read_imports(ch, ch->main);
    for (Module *m = ch->modules; m; m = m->next) index_items(ch, m);
}

/* ---- -D ---- */

bool define_number(const char *s, int64_t *out)
{
    bool negative = *s == '-';
    if (negative) s++;
    int base = s[0] == '0' && (s[1] == 'x' || s[1] == 'X') ? 16 : s[0] == '0' && (s[1] == 'b' || s[1] == 'B') ? 2 : 10;
    if (base != 10) s += 2;
    if (!*s) return false;
    int64_t v = 0;
    for (const char *from = s; *s; s++) {
        if (*s == '_' && s > from && s[-1] != '_' && s[1]) continue;
        static const char digits[] = "0123456789abcdef";
        char lower = *s >= 'A' && *s <= 'F' ? (char)(*s - 'A' + 'a') : *s;
        const char *d = strchr(digits, lower);
        if (!d || d - digits >= base) return false;
        int digit = (int)(d - digits);
        if (!mul_s64(v, base, &v) || !sub_s64(v, digit, &v)) return false; /* negative: reaches -2^63 */
    }
    return negative ? (*out = v, true) : sub_s64(0, v, out);
}

const char *module_of_const(const Checked *ch, const char *name)
{
    for (const Module *m = ch->modules->next; m; m = m->next) {
        size_t n = strlen(m->name);
        const char *own = strncmp(name, m->name, n) == 0 && name[n] == '.' ? name + n + 1 : name;
        for (const Item *it = m->unit->first; it; it = it->next)
            if (it->kind == IT_CONST && strcmp(names_text(ch->c->names, it->name.name), own) == 0) return m->name;
    }
    return NULL;
}
