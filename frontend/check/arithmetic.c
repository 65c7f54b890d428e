/* Arithmetic on tiles and tensors, which people try and the language does not have: one error says so, and what there is. */
#include "frontend/check/arithmetic.h"

#include <string.h>

#include "frontend/check/check.h"

bool arithmetic_word(const char *word)
{
    static const char *const words[] = {
        "abs",  "add",  "argmax", "argmin", "cos",        "dot",        "einsum",     "erf",  "exp",   "exp2",    "fma",  "gelu",    "gemm",
        "log",  "log2", "matmul", "mean",   "maximum",    "minimum",    "mma",        "mul",  "norm",  "pow",     "prod", "relu",    "rsqrt",
        "silu", "sin",  "sub",    "sum",    "reduce_max", "reduce_min", "reduce_sum", "sqrt", "square", "sigmoid", "tanh", "softmax", "wgmma"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0) return true;
    return false;
}

void arithmetic_notes(Diags *d, Diag *g)
{
    for (const Diag *old = d->first; old; old = old->next)
        if (old->code == E0321 && old != g) return; /* once is enough */
    diag_note(d, g, (Span){0, 0}, "there are `move`, `fill`, `convert`, `transpose`, and sums of tiles by threads: "
                                  "`move u -> t reduce add via threads;`, along a dimension `move u -> t sum via threads;`");
    diag_note(d, g, (Span){0, 0}, "into memory a move reduces: `move t -> y[..] reduce add;`, min, max, and, or, xor, inc, dec");
    diag_note(d, g, (Span){0, 0}, "products and functions of elements are left to other kernels");
}

/* ---- of expressions that are checked ---- */
static const Entity *named_data(Env *e, const Expr *x)
{
    const Expr *name = x->kind == EX_INDEX ? x->base : x;
    while (name->kind == EX_INDEX) name = name->base;
    const Entity *ent = name->kind == EX_NAME ? env_find(e, name->id.name) : NULL;
    return ent && (ent->kind == ENT_TILE || ent->kind == ENT_TENSOR) ? ent : NULL;
}

/* Integers in memory can be read as scalars, one at a time. */
static const Entity *data_of(Env *e, const Expr *x)
{
    const Entity *ent = named_data(e, x);
    if (!ent || x->kind != EX_INDEX || ent->kind == ENT_TILE) return ent;
    const ElemInfo *info = elem_info(ent->tensor->type);
    if (info->kind != ELEM_UINT && info->kind != ELEM_SINT) return ent;
    for (const Sub *s = x->subs.first; s; s = s->next)
        if (s->kind != SUB_AT) return ent;
    return NULL;
}

static const Entity *data_in(Env *e, const Expr *x)
{
    const Entity *ent = NULL;
    switch ((ExprKind)x->kind) {
    case EX_UNARY: return data_in(e, x->lhs);
    case EX_BINARY: return (ent = data_in(e, x->lhs)) ? ent : data_in(e, x->rhs);
    case EX_CALL:
        for (const Expr *a = x->args.first; a && !ent; a = a->next) ent = data_in(e, a);
        return ent;
    default: return data_of(e, x);
    }
}

static Diag *refuse(Env *e, Span at, const Entity *ent)
{
    Diag *g = diag_at(e->c->diags, E0321, at, "`%s` is a %s: its elements are moved, not computed with", name_of(e, ent->name),
                      ent->kind == ENT_TILE ? "tile" : "tensor");
    if (ent->span.hi) diag_label(e->c->diags, g, ent->span, "declared here");
    return g;
}

bool computes_with_data(Env *e, const Expr *x)
{
    if ((x->kind != EX_UNARY || x->op == OP_NOT) && x->kind != EX_BINARY && x->kind != EX_CALL) return false;
    const Entity *ent = data_in(e, x);
    if (ent) arithmetic_notes(e->c->diags, refuse(e, x->span, ent));
    return ent != NULL;
}

bool unknown_arithmetic(Env *e, Ident id)
{
    if (!id.name || !arithmetic_word(name_of(e, id.name))) return false;
    Diag *g = diag_at(e->c->diags, E0321, id.span, "there is no function `%s`", name_of(e, id.name));
    arithmetic_notes(e->c->diags, g);
    return true;
}

/* t = t + u, where both are tiles */
static const Entity *added(Env *e, const Expr *x, const Entity *to)
{
    if (to->kind != ENT_TILE || x->kind != EX_BINARY || x->op != OP_ADD || x->lhs->kind != EX_NAME || x->rhs->kind != EX_NAME) return NULL;
    const Entity *a = named_data(e, x->lhs), *b = named_data(e, x->rhs);
    if (!a || !b || a->kind != ENT_TILE || b->kind != ENT_TILE || a == b) return NULL;
    return a == to ? b : b == to ? a : NULL;
}

bool assigns_data(Env *e, Ident id, const Expr *x)
{
    const Entity *to = env_find(e, id.name), *by;
    if (!to || (to->kind != ENT_TILE && to->kind != ENT_TENSOR)) return false;
    const char *name = name_of(e, id.name);
    if (x->kind == EX_BINARY || x->kind == EX_CALL || (x->kind == EX_UNARY && x->lhs->kind != EX_INT && x->lhs->kind != EX_FLOAT)) {
        Diag *g = refuse(e, id.span, to);
        arithmetic_notes(e->c->diags, g);
        if ((by = added(e, x, to))) diag_fix(e->c->diags, g, "`move %s -> %s reduce add via threads;`", name_of(e, by->name), name);
        return true;
    }
    Diag *g = diag_at(e->c->diags, E0211, id.span, "`%s` can't be assigned to", name);
    if (to->span.hi) diag_label(e->c->diags, g, to->span, "declared here");
    if (named_data(e, x)) diag_fix(e->c->diags, g, "`move .. -> %s;`", name);
    else diag_fix(e->c->diags, g, to->kind == ENT_TILE ? "`fill %s = ..;`" : "`move tile -> %s[..];`", name);
    return true;
}

/* ---- of text that is not read further ---- */
static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static const char *blank(const char *s)
{
    while (*s == ' ' || *s == '\t' || *s == '\n' || *s == '\r') s++;
    return s;
}

static bool word_is(const char *s, size_t n, const char *word)
{
    return strlen(word) == n && memcmp(s, word, n) == 0;
}

static bool is_space(const char *s, size_t n)
{
    return word_is(s, n, "shared") || word_is(s, n, "tmem") || word_is(s, n, "global") || word_is(s, n, "view");
}

const char *word_at(Arena *a, const char *at)
{
    const char *s = blank(at);
    size_t n = 0;
    while (is_letter(s[n])) n++;
    return arena_strdup(a, s, n);
}

bool declares_data(const char *text, const char *end, const char *name)
{
    const char *before = text;
    size_t n, length = 0;
    for (const char *s = text; s < end; s += n) {
        for (n = 0; s + n < end && is_letter(s[n]); n++) continue;
        if (n == 0) {
            n = 1;
            continue;
        }
        const char *behind = blank(s + n);
        if (word_is(s, n, name)) {
            if (is_space(before, length)) return true;
            const char *type = *behind == ':' ? blank(behind + 1) : behind;
            size_t m = 0;
            while (is_letter(type[m])) m++;
            if (*behind == ':' && is_space(type, m)) return true;
        }
        before = s;
        length = n;
    }
    return false;
}

/* An operator or a call, outside of brackets; `at` is behind the `=`. */
bool computes(const char *at)
{
    int depth = 0;
    bool operand = false;
    for (at = blank(at); *at && *at != ';' && *at != '}'; at = blank(at + 1)) {
        if (*at == '[') depth++;
        if (*at == ']') depth--;
        if (depth == 0 && operand && (strchr("+*/%@", *at) || (*at == '-' && at[1] != '>') || *at == '(')) return true;
        operand = is_letter(*at) || *at == ']' || *at == ')';
    }
    return false;
}

const char *behind_subscript(const char *at)
{
    int depth = 0;
    for (; *at && *at != ';'; at++) {
        if (*at == '[') depth++;
        if (*at == ']' && --depth == 0) return blank(at + 1);
    }
    return at;
}
