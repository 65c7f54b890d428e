/* Names under which things are printed, and found when read. Printed ones are quoted where they are no identifiers, and numbered where two things
 * of a kind have the same one, so that the text reads back. */
#include <ctype.h>
#include <string.h>

#include "lower/ir/filter.h"

static bool is_identifier(const char *s)
{
    if (!isalpha((unsigned char)*s) && *s != '_') return false;
    if (strcmp(s, "_") == 0) return false; /* stands for an absent expression */
    while (isalnum((unsigned char)*s) || *s == '_' || *s == '.') s++;
    return *s == 0;
}

const char *filter_quoted(Filter *f, const char *s)
{
    size_t from = f->out->n; /* the output buffer serves as scratch */
    text_char(f->out, '"');
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\') text_char(f->out, '\\');
        if (c < 0x20 || c == 0x7F) text_printf(f->out, "\\x%02x", c);
        else text_char(f->out, (char)c);
    }
    text_char(f->out, '"');
    const char *quoted = arena_strdup(f->arena, f->out->s + from, f->out->n - from);
    f->out->n = from;
    f->out->s[from] = 0;
    return quoted;
}

static const char *displayed(Filter *f, const char *s)
{
    return is_identifier(s) ? s : filter_quoted(f, s);
}

/* ---- printing ---- */

typedef struct Things { /* of a kind: where their names are */
    const void *first;
    size_t stride;
    uint32_t n;
} Things;

static Things things(const IrKernel *k, unsigned kind)
{
#define OF(vec) (Things){(vec).v ? &(vec).v->name : NULL, sizeof *(vec).v, (vec).n}
    switch (kind) {
    case IRA_MAP: return OF(k->mf.maps);
    case IRA_BUF: return OF(k->bufs);
    case IRA_BAR: return OF(k->bars);
    case IRA_TENSOR: return OF(k->mf.tensors);
    case IRA_POL: return OF(k->pols);
    case IRA_VAR: return OF(k->vars);
    case IRA_PLAN: return OF(k->plans);
    case IRA_RING: return OF(k->rings);
    case NAME_SYM: return OF(k->mf.syms);
    case NAME_SCALAR: return OF(k->mf.scalars);
    case NAME_AGENT: return OF(k->roles);
    case IRA_VAL: return (Things){k->value_names.v, sizeof *k->value_names.v, k->value_names.n};
    default: return (Things){0};
    }
#undef OF
}

static const char *name_of(const Things *all, uint32_t i)
{
    const char *name;
    memcpy(&name, (const char *)all->first + i * all->stride, sizeof name);
    return name;
}

/* `used`, by number: which there are; NULL: all. What has no name stays without one if not all are used. */
static const char **distinct(Arena *a, const IrKernel *k, unsigned kind, const bool *used)
{
    Things all = things(k, kind);
    const char **shown = arena_array(a, const char *, all.n), **given = arena_array(a, const char *, all.n);
    Names *seen = names_new(a);
    VEC(uint32_t) next = {0}; /* by name: number to try for the next one of that name, 0 before the first */
    for (uint32_t i = 0; i < all.n; i++) {
        given[i] = used && !used[i] ? NULL : name_of(&all, i);
        if (given[i] == NULL) given[i] = "";
        names_intern(seen, given[i], strlen(given[i]));
    }
    for (uint32_t i = 0; i < names_count(seen); i++) vec_push(a, &next, 0);
    for (uint32_t i = 0; i < all.n; i++) {
        const char *name = given[i];
        if (*name == 0 && used) continue;
        Name id = names_find(seen, name, strlen(name));
        while (next.v[id - 1]) {
            const char *numbered = arena_printf(a, "%s.%u", name, next.v[id - 1]++);
            if (names_find(seen, numbered, strlen(numbered))) continue;
            names_intern(seen, numbered, strlen(numbered));
            name = numbered;
            break;
        }
        if (next.v[id - 1] == 0) next.v[id - 1] = 2;
        shown[i] = name;
    }
    return shown;
}

const char **ir_distinct_names(Arena *a, const IrKernel *k, IrArgKind kind)
{
    return distinct(a, k, kind, NULL);
}

static const char **made_unique(Filter *f, unsigned kind, const bool *used)
{
    const char **shown = distinct(f->arena, f->k, kind, used);
    for (uint32_t i = 0; i < things(f->k, kind).n; i++)
        if (shown[i]) shown[i] = displayed(f, shown[i]);
    return shown;
}

/* The bodies that are printed, in their order. */
static const IrRole *body_of(const Filter *f, uint32_t i)
{
    const IrKernel *k = f->k;
    if (!f->tree) return i < ir_bodies(k) ? ir_body(k, i) : NULL;
    return i == 0 ? &k->init : i == 1 ? &k->tree : i == 2 ? &k->exit : NULL;
}

/* Values and variables of the tree are none of the roles', and the other way round. Values without a name are numbered in the order of their definitions, which
 * reading back keeps. */
static void names_of_ops(Filter *f)
{
    const IrKernel *k = f->k;
    const IrRole *r;
    uint32_t count = 0;
    bool *defined = arena_array(f->arena, bool, k->value_names.n), *declared = arena_array(f->arena, bool, k->vars.n);
    for (uint32_t b = 0; (r = body_of(f, b)) != NULL; b++) {
        for (uint32_t j = 0; j < r->ops.n; j++) {
            const IrOp *op = &r->ops.v[j];
            const IrArg *var = op->op == IR_VAR ? ir_find(op, IRK_VAR) : NULL;
            if (op->dst && op->dst <= k->value_names.n) defined[op->dst - 1] = true;
            if (var && var->id < k->vars.n) declared[var->id] = true;
        }
    }
    const char **values = f->shown[IRA_VAL] = made_unique(f, IRA_VAL, defined);
    f->shown[IRA_VAR] = made_unique(f, IRA_VAR, declared);
    for (uint32_t b = 0; (r = body_of(f, b)) != NULL; b++) {
        for (uint32_t j = 0; j < r->ops.n; j++) {
            const IrOp *op = &r->ops.v[j];
            if (op->dst == 0 || op->dst > k->value_names.n) continue;
            count++;
            if (values[op->dst - 1] == NULL) values[op->dst - 1] = arena_printf(f->arena, "%u", count);
        }
    }
}

void filter_names(Filter *f)
{
    static const uint8_t KINDS[] = {NAME_SYM, IRA_TENSOR, NAME_SCALAR, IRA_MAP, IRA_BUF, IRA_BAR, IRA_POL, IRA_PLAN, IRA_RING};
    for (size_t i = 0; i < sizeof KINDS; i++) f->shown[KINDS[i]] = made_unique(f, KINDS[i], NULL);
    names_of_ops(f);
}

const char *filter_shown(Filter *f, unsigned kind, uint32_t index)
{
    Things all = things(f->k, kind);
    if (index >= all.n) return "?";
    const char *name = f->shown[kind] ? f->shown[kind][index] : name_of(&all, index);
    if (f->shown[kind]) return name ? name : "?";
    if (name == NULL && kind == IRA_VAL) return arena_printf(f->arena, "%u", index + 1);
    return displayed(f, name ? name : "");
}

/* ---- reading ---- */

void filter_read_names(Filter *f)
{
    f->words = names_new(f->arena);
    memset(f->scopes, 0, sizeof f->scopes);
}

void filter_enter(Filter *f, unsigned kind, const char *name, uint32_t index)
{
    if (f->failed) return;
    Scope *s = &f->scopes[kind];
    Name id = names_intern(f->words, name, strlen(name));
    while (s->n < id) vec_push(f->arena, s, 0);
    if (s->v[id - 1]) filter_error(f, E0691, "`%s` is declared twice", name);
    else s->v[id - 1] = index + 1;
}

uint32_t filter_look_up(Filter *f, unsigned kind, const char *name)
{
    static const char *const WHAT[NAME_KINDS] = {
        [NAME_SYM] = "symbol", [IRA_TENSOR] = "tensor", [NAME_SCALAR] = "scalar", [IRA_MAP] = "map",    [IRA_BUF] = "buffer", [IRA_BAR] = "barrier",
        [IRA_POL] = "policy",  [IRA_VAR] = "variable",  [IRA_PLAN] = "plan",      [IRA_VAL] = "value", [IRA_RING] = "ring",  [NAME_AGENT] = "agent"};
    Name id = f->failed ? 0 : names_find(f->words, name, strlen(name));
    const Scope *s = &f->scopes[kind];
    if (id && id <= s->n && s->v[id - 1]) return s->v[id - 1] - 1;
    filter_error(f, E0691, "no %s has the name `%s` here", WHAT[kind], name);
    return 0;
}

/* ---- both ---- */

const char *filter_name(Filter *f, const char *s)
{
    if (!f->reading) {
        filter_put(f, displayed(f, s ? s : ""));
        return s;
    }
    const char *text = f->tok.text;
    if (f->tok.kind != TOK_WORD && f->tok.kind != TOK_STRING) {
        filter_error(f, E0690, "%s where a name is due", filter_token(f));
        return "";
    }
    filter_next(f);
    return text;
}

const char *filter_declare(Filter *f, unsigned kind, const char *name, uint32_t index)
{
    if (f->reading) filter_enter(f, kind, name = filter_name(f, NULL), index);
    else filter_put(f, filter_shown(f, kind, index));
    return name;
}

uint32_t filter_object(Filter *f, unsigned kind, uint32_t index)
{
    if (f->reading) return filter_look_up(f, kind, filter_name(f, NULL));
    filter_put(f, filter_shown(f, kind, index));
    return index;
}

uint32_t filter_value(Filter *f, uint32_t v)
{
    if (!f->reading) {
        filter_put(f, "%");
        text_str(f->out, filter_shown(f, IRA_VAL, v - 1));
        return v;
    }
    if (f->tok.kind != TOK_VALUE) filter_error(f, E0690, "%s where a value is due", filter_token(f));
    v = filter_look_up(f, IRA_VAL, f->tok.text) + 1;
    filter_next(f);
    return v;
}
