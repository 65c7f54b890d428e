/* Expressions -> scalars: integers of 64 bits by meaning, pure, folded where every operand is a constant. */
#include <string.h>

#include "frontend/check/check.h"
#include "frontend/parse/foreign.h"
#include "lang/checked.h"

static bool made_of_launch(SxOp op, const Sx *a, const Sx *b)
{
    switch (op) {
    case SX_CONST: case SX_SYM: return true;
    case SX_CTA: case SX_CLUSTER: case SX_RANK: case SX_INDEX: case SX_VAR: case SX_LOAD: return false;
    default: return a->launch && (!b || b->launch);
    }
}

Sx *sx_new(Env *e, SxOp op, Span span, int64_t k, const Sx *a, const Sx *b)
{
    Sx *x = arena_new(e->c->scratch, Sx);
    *x = (Sx){.op = (uint8_t)op, .span = span, .k = k, .a = a, .b = b, .launch = made_of_launch(op, a, b)};
    uint32_t h = (uint32_t)op * 0x9E3779B1u ^ (uint32_t)k ^ (uint32_t)((uint64_t)k >> 32) * 0x85EBCA77u;
    if (op != SX_LET) h = (h ^ (a ? a->hash : 0)) * 0xC2B2AE3Du + (b ? b->hash : 0) * 0x27D4EB2Fu;
    x->hash = h ^ h >> 15;
    if (e->frame) e->ch->inlined++;
    return x;
}

const Sx *sx_const(Env *e, int64_t k, Span span) { return sx_new(e, SX_CONST, span, k, NULL, NULL); }

bool sx_is_const(const Sx *x, int64_t *k)
{
    if (!x || x->op != SX_CONST) return false;
    if (k) *k = x->k;
    return true;
}

/* Nodes are shared: as trees two graphs may be too large to be compared. */
static bool same(const Sx *a, const Sx *b, int *fuel)
{
    if (a == b) return true;
    if (!a || !b || a->hash != b->hash || a->op != b->op || a->k != b->k || --*fuel < 0) return false;
    if (a->op == SX_LOAD || a->op == SX_VAR) return false;
    if (a->op == SX_LET) return true; /* same number: same definition */
    return same(a->a, b->a, fuel) && same(a->b, b->b, fuel);
}

bool sx_same(const Sx *a, const Sx *b)
{
    int fuel = 256;
    return same(a, b, &fuel);
}

/* ---- folding ---- */

LxOp sx_launch_op(SxOp op)
{
    switch (op) {
    case SX_ADD: return LX_ADD;
    case SX_SUB: return LX_SUB;
    case SX_MUL: return LX_MUL;
    case SX_DIV: return LX_DIV;
    case SX_MOD: return LX_MOD;
    case SX_CEIL: return LX_CEIL;
    case SX_MIN: return LX_MIN;
    case SX_MAX: return LX_MAX;
    case SX_SHL: return LX_SHL;
    case SX_SHR: return LX_SHR;
    case SX_AND: return LX_AND;
    case SX_OR: return LX_OR;
    case SX_XOR: return LX_XOR;
    case SX_EQ: return LX_EQ;
    case SX_NE: return LX_NE;
    case SX_LT:
    case SX_GT: return LX_LT;
    case SX_LE:
    case SX_GE: return LX_LE;
    case SX_LAND: return LX_LAND;
    case SX_LOR: return LX_LOR;
    default: return LX_NOT;
    }
}

static LxStatus fold(SxOp op, int64_t a, int64_t b, int64_t *r)
{
    switch (op) {
    case SX_NEG: return lx_apply(LX_SUB, 0, a, r);
    case SX_INV: return lx_apply(LX_XOR, a, -1, r);
    case SX_GT:
    case SX_GE: return lx_apply(sx_launch_op(op), b, a, r);
    default: return op < SX_ADD ? LX_OVERFLOW : lx_apply(sx_launch_op(op), a, b, r);
    }
}

bool sx_fold(SxOp op, int64_t a, int64_t b, int64_t *r) { return fold(op, a, b, r) == LX_OK; }

static const Sx *fold_error(Env *e, LxStatus f, SxOp op, Span span, int64_t a, int64_t b)
{
    static const char *const text[] = {[SX_ADD] = "+", [SX_SUB] = "-", [SX_MUL] = "*", [SX_DIV] = "/", [SX_SHL] = "<<"};
    switch (f) {
    case LX_DIV_ZERO: diag_at(e->c->diags, E0302, span, "division by zero"); break;
    case LX_BAD_SHIFT:
        diag_at(e->c->diags, E0307, span, "shift by %lld: the count must be 0 to 63", (long long)b);
        break;
    default:
        if (op == SX_NEG) diag_at(e->c->diags, E0303, span, "-(%lld) does not fit 64 bits", (long long)a);
        else if (op == SX_CEIL) diag_at(e->c->diags, E0303, span, "ceil(%lld, %lld) does not fit 64 bits", (long long)a, (long long)b);
        else diag_at(e->c->diags, E0303, span, "%lld %s %lld does not fit 64 bits", (long long)a, text[op], (long long)b);
    }
    return NULL;
}

const Sx *sx_op(Env *e, SxOp op, const Sx *a, const Sx *b, Span span)
{
    int64_t ka = 0, kb = 0, r;
    bool ca = sx_is_const(a, &ka), cb = b ? sx_is_const(b, &kb) : true;
    if (cb && b && kb == 0 && (op == SX_DIV || op == SX_MOD || op == SX_CEIL)) return fold_error(e, LX_DIV_ZERO, op, span, 0, 0);
    if (cb && b && (kb < 0 || kb > 63) && (op == SX_SHL || op == SX_SHR)) return fold_error(e, LX_BAD_SHIFT, op, span, 0, kb);
    if (ca && cb && op < SX_EQ) {
        LxStatus f = fold(op, ka, kb, &r);
        return f == LX_OK ? sx_const(e, r, span) : fold_error(e, f, op, span, ka, kb);
    }
    if (cb && b) {
        if (kb == 0 && (op == SX_ADD || op == SX_SUB || op == SX_SHL || op == SX_SHR)) return a;
        if (kb == 1 && (op == SX_MUL || op == SX_DIV || op == SX_CEIL)) return a;
    }
    if (((cb && b && kb == 0) || (ca && ka == 0)) && op == SX_MUL) return sx_const(e, 0, span);
    if (ca && ka == 0 && op == SX_ADD) return b;
    if (ca && ka == 1 && op == SX_MUL) return b;
    return sx_new(e, op, span, 0, a, b);
}

bool sx_decided(const Sx *x, bool *value)
{
    int64_t a, b, r;
    bool v, w, dv, dw;
    switch ((SxOp)x->op) {
    case SX_LET: return sx_decided(x->a, value);
    case SX_NOT:
        if (!sx_decided(x->a, &v)) return false;
        *value = !v;
        return true;
    case SX_LAND: case SX_LOR:
        dv = sx_decided(x->a, &v);
        dw = sx_decided(x->b, &w);
        *value = x->op == SX_LOR;
        if ((dv && v == *value) || (dw && w == *value)) return true;
        *value = !*value;
        return dv && dw;
    default:
        if (x->op < SX_EQ || !sx_is_const(x->a, &a) || !sx_is_const(x->b, &b) || fold((SxOp)x->op, a, b, &r) != LX_OK)
            return false;
        *value = r != 0;
        return true;
    }
}

/* ---- expressions ---- */

static SxOp binary_op(uint8_t op)
{
    static const uint8_t map[] = {
        [OP_ADD] = SX_ADD, [OP_SUB] = SX_SUB, [OP_MUL] = SX_MUL, [OP_DIV] = SX_DIV, [OP_MOD] = SX_MOD,
        [OP_SHL] = SX_SHL, [OP_SHR] = SX_SHR, [OP_AND] = SX_AND, [OP_OR] = SX_OR,   [OP_XOR] = SX_XOR,
        [OP_EQ] = SX_EQ,   [OP_NE] = SX_NE,   [OP_LT] = SX_LT,   [OP_GT] = SX_GT,   [OP_LE] = SX_LE,
        [OP_GE] = SX_GE,   [OP_LAND] = SX_LAND, [OP_LOR] = SX_LOR, [OP_NEG] = SX_NEG, [OP_NOT] = SX_NOT,
        [OP_INV] = SX_INV};
    return (SxOp)map[op];
}

static const Sx *expect_kind(Env *e, const Sx *x, bool want_bool, const Expr *at)
{
    /* No value only after an error, here or where what it uses is declared: nothing else stops what comes next. */
    if (!x && !e->c->diags->errors && !e->c->diags->excluded) diag_at(e->c->diags, E0662, at->span, "this has no value, and no error says why");
    if (!x || sx_is_bool(x) == want_bool) return x;
    if (want_bool) {
        Diag *g = diag_at(e->c->diags, E0313, at->span, "a condition is needed here, this is a number");
        diag_fix(e->c->diags, g, "compare it: `.. != 0`");
    } else {
        diag_at(e->c->diags, E0306, at->span, "a number is needed here, this is a condition");
    }
    return NULL;
}

static const Sx *any_scalar(Env *e, const Expr *x);

const Sx *scalar(Env *e, const Expr *x) { return expect_kind(e, any_scalar(e, x), false, x); }
const Sx *condition(Env *e, const Expr *x) { return expect_kind(e, any_scalar(e, x), true, x); }

static const Sx *unary(Env *e, const Expr *x)
{
    if (x->op == OP_NEG && x->lhs->kind == EX_INT) { /* -2^63 has no positive counterpart */
        uint64_t v = x->lhs->i;
        return sx_const(e, v == (uint64_t)INT64_MAX + 1 ? INT64_MIN : -(int64_t)v, x->span);
    }
    if (computes_with_data(e, x)) return NULL;
    const Sx *a = x->op == OP_NOT ? condition(e, x->lhs) : scalar(e, x->lhs);
    return a ? sx_op(e, binary_op(x->op), a, NULL, x->span) : NULL;
}

/* Where a constant on the left decides, the right side is excluded like a branch that is not taken. */
static const Sx *logic(Env *e, const Expr *x)
{
    bool holds;
    const Sx *a = condition(e, x->lhs);
    bool decides = a && sx_decided(a, &holds) && holds == (x->op == OP_LOR);
    e->c->diags->excluded += decides;
    const Sx *b = condition(e, x->rhs);
    e->c->diags->excluded -= decides;
    return decides ? a : a && b ? sx_op(e, binary_op(x->op), a, b, x->span) : NULL;
}

static const Sx *binary(Env *e, const Expr *x)
{
    if (x->op == OP_LAND || x->op == OP_LOR) return logic(e, x);
    if (computes_with_data(e, x)) return NULL;
    const Sx *a = scalar(e, x->lhs), *b = scalar(e, x->rhs);
    return a && b ? sx_op(e, binary_op(x->op), a, b, x->span) : NULL;
}

PTensor *element_tensor(Env *e, const Expr *x, const char *otherwise)
{
    const Entity *ent = x->base->kind == EX_NAME ? env_find(e, x->base->id.name) : NULL;
    if (!ent && x->base->kind == EX_NAME) {
        unknown_name(e, x->base->id, "tensor");
        return NULL;
    }
    if (ent && ent->kind == ENT_BAD) return NULL;
    if (ent && ent->kind == ENT_TENSOR) return ent->tensor;
    Diag *g = diag_at(e->c->diags, E0306, x->span, "%s", otherwise);
    if (ent && ent->span.hi) diag_label(e->c->diags, g, ent->span, "`%s` is declared here", name_of(e, ent->name));
    if (x->base->kind == EX_INDEX && x->base->base->kind == EX_NAME)
        diag_fix(e->c->diags, g, "all subscripts stand in one bracket: `%s[a, b]`", name_of(e, x->base->base->id.name));
    return NULL;
}

/* a[i, j] of a tensor: a scalar load. */
static const Sx *load(Env *e, const Expr *x)
{
    if (x->base->kind == EX_MEMBER && x->base->a->kind == EX_NAME && env_find(e, x->base->a->id.name)) return scalar(e, x->base); /* `x.shape[0]` */
    PTensor *t = element_tensor(e, x, "only an element of a global tensor can be read as a scalar");
    if (!t) return NULL;
    for (const Sub *s = x->subs.first; s; s = s->next)
        if (s->kind != SUB_AT) {
            diag_at(e->c->diags, E0306, s->span, "a region is not a scalar: a plain index is needed");
            return NULL;
        }
    if (x->subs.n != (uint32_t)t->rank) {
        Diag *g = diag_at(e->c->diags, E0311, x->span, "%u ind%s for a tensor of rank %d", x->subs.n,
                          x->subs.n == 1 ? "ex" : "ices", t->rank);
        diag_label(e->c->diags, g, t->span, "`%s` is declared here", name_of(e, t->name));
        return NULL;
    }
    const ElemInfo *info = elem_info(t->type);
    if (info->kind != ELEM_UINT && info->kind != ELEM_SINT) {
        Diag *g = diag_at(e->c->diags, E0306, x->span, "an element of type %s can't be used as a scalar", info->name);
        diag_label(e->c->diags, g, t->span, "`%s` is declared here", name_of(e, t->name));
        return NULL;
    }
    const Sx **idx = arena_array(e->c->scratch, const Sx *, (size_t)t->rank);
    bool ok = true;
    int d = 0;
    for (const Sub *s = x->subs.first; s; s = s->next, d++) ok = (idx[d] = scalar(e, s->a)) != NULL && ok;
    if (!ok) return NULL;
    Sx *r = sx_new(e, SX_LOAD, x->span, 0, NULL, NULL);
    r->tensor = t;
    r->idx = idx;
    return r;
}

/* Counts the levels of an expression that is worked out inside others: all are on the C stack at once. */
bool deeper(Env *e, const Expr *x, Span at)
{
    e->levels += x ? x->depth : 0;
    if (e->levels <= EXPR_DEPTH_MAX) return true;
    diag_at(e->c->diags, E0117, at, "with the expressions that it uses this one is more than %d levels deep", EXPR_DEPTH_MAX);
    return false;
}

static const Sx *builtin_call(Env *e, const Expr *x, SxOp op)
{
    const Expr *first = x->args.first;
    if (computes_with_data(e, x)) return NULL;
    if (x->args.n < 2 || (op == SX_CEIL && x->args.n != 2)) {
        diag_at(e->c->diags, E0207, x->span, "`%s` takes %s, %u given", name_of(e, x->id.name),
                op == SX_CEIL ? "two numbers: ceil(a, b) is a / b rounded up" : "two or more numbers", x->args.n);
        return NULL;
    }
    const Sx *r = scalar(e, first);
    for (const Expr *a = first->next; a; a = a->next) {
        const Sx *b = scalar(e, a);
        r = r && b ? sx_op(e, op, r, b, x->span) : NULL;
    }
    return r;
}

/* The bytes of an element in global memory. */
static const Sx *size_of(Env *e, const Expr *x)
{
    const Expr *of = x->args.first;
    ElemType type;
    if (x->args.n != 1 || of->kind != EX_NAME) {
        diag_at(e->c->diags, E0207, x->span, "`sizeof` takes one element type");
        return NULL;
    }
    if (!elem_type(e, of->id, &type)) return NULL;
    int bits = elem_info(type)->global_bits;
    if (bits % 8 == 0) return sx_const(e, bits / 8, x->span);
    diag_at(e->c->diags, E0306, x->span, "an element of type %s has %d bits, no whole number of bytes", elem_info(type)->name, bits);
    return NULL;
}

static const Sx *call(Env *e, const Expr *x)
{
    Checked *ch = e->ch;
    Item *it = module_item(e->module, x->id.name);
    if (it && it->kind == IT_FN) return call_expr_fn(e, e->module, it, &x->args, x->span);
    if (x->id.name == ch->n_ceil) return builtin_call(e, x, SX_CEIL);
    if (x->id.name == ch->n_min) return builtin_call(e, x, SX_MIN);
    if (x->id.name == ch->n_max) return builtin_call(e, x, SX_MAX);
    if (x->id.name == ch->n_sizeof) return size_of(e, x);
    const Entity *ent = env_find(e, x->id.name);
    if (ent && ent->kind == ENT_BAD) return NULL;
    if (it || ent) {
        Diag *g = diag_at(e->c->diags, E0206, x->id.span, "`%s` is not a function", name_of(e, x->id.name));
        if (it || ent->span.hi) diag_label(e->c->diags, g, it ? it->name.span : ent->span, "it is declared here");
    } else {
        unknown_name(e, x->id, "function");
    }
    return NULL;
}

/* ---- cta, grid, cluster ---- */

bool is_builtin_base(const Checked *ch, Name n) { return n == ch->n_cta || n == ch->n_grid || n == ch->n_cluster; }

bool is_builtin_function(const Checked *ch, Name n)
{
    return n == ch->n_ceil || n == ch->n_min || n == ch->n_max || n == ch->n_sizeof;
}

/* cta.x, grid.x, cluster.rank .. */
static const Sx *builtin_member(Env *e, const Expr *x)
{
    if (x->kind != EX_MEMBER || x->a->kind != EX_NAME) return NULL;
    Name base = x->a->id.name;
    bool cta = base == e->ch->n_cta, grid = base == e->ch->n_grid, cluster = base == e->ch->n_cluster;
    if (!is_builtin_base(e->ch, base) || env_find(e, base)) return NULL;
    const char *m = name_of(e, x->id.name);
    int axis = m[0] && !m[1] ? m[0] - 'x' : -1;
    if (!e->kernel || !e->kernel->grid[0]) {
        diag_at(e->c->diags, E0210, x->span, "`%s.%s` has no value here: it belongs to a kernel's body",
                name_of(e, base), m);
        return NULL;
    }
    if (axis >= 0 && axis < 3) {
        if (!cluster) grid_use(e, x->span);
        if (grid) return e->kernel->grid[axis];
        if (cluster && e->kernel->cluster[axis] == 1) return sx_const(e, 0, x->span);
        return sx_new(e, cta ? SX_CTA : SX_CLUSTER, x->span, axis, NULL, NULL);
    }
    int64_t size = e->kernel->cluster[0] * e->kernel->cluster[1] * e->kernel->cluster[2];
    if (cluster && strcmp(m, "size") == 0) return sx_const(e, size, x->span);
    if (cluster && strcmp(m, "rank") == 0) return size == 1 ? sx_const(e, 0, x->span) : sx_new(e, SX_RANK, x->span, 0, NULL, NULL);
    static const char *const members[] = {"x", "y", "z", "rank", "size"};
    Diag *g = diag_at(e->c->diags, E0210, x->id.span, "`%s` has no member `%s`", name_of(e, base), m);
    const char *near = spelling_nearest(m, members, cluster ? 5 : 3);
    diag_fix(e->c->diags, g, "%s.%s", name_of(e, base), near ? near : "x");
    return NULL;
}

/* ---- constants of modules ---- */

/* Marks: a value that is being worked out, and one that is wrong, which has been reported. */
static const Sx CONST_BUSY, CONST_BAD;

static const Sx *define_const(Env *e, const Item *it, const char *text)
{
    int64_t v;
    if (define_number(text, &v)) return sx_const(e, v, it->span);
    diag_at(e->c->diags, E0213, it->name.span, "-D gives `%s` to `%s`, which is a number", text, name_of(e, it->name.name));
    return NULL;
}

static const Sx *const_value(Env *e, Item *it)
{
    const char *defined = NULL;
    for (size_t i = 0; i < e->ch->ndefines; i++) {
        Define *d = &e->ch->defines[i];
        if (e->module != e->ch->main || strcmp(d->name, name_of(e, it->name.name)) != 0) continue;
        d->used = true;
        defined = d->value;
    }
    if (defined) return define_const(e, it, defined);
    return it->expr ? scalar(e, it->expr) : NULL;
}

const Sx *module_const(Env *e, Module *m, Item *it, Span at)
{
    const Sx **known = &m->const_of[it->name.name];
    if (*known == &CONST_BUSY) {
        Diag *g = diag_at(e->c->diags, E0218, at, "the value of `%s` depends on itself", name_of(e, it->name.name));
        diag_label(e->c->diags, g, it->name.span, "declared here");
        *known = &CONST_BAD;
        return NULL;
    }
    if (*known) return *known == &CONST_BAD ? NULL : *known;
    Compilation long_lived = *e->c; /* a constant outlives the kernel that used it first */
    long_lived.scratch = e->c->arena;
    Env inner = {.ch = e->ch, .c = &long_lived, .module = m, .levels = e->levels};
    env_begin(&inner);
    *known = &CONST_BUSY;
    const Sx *x = deeper(&inner, it->expr, at) ? const_value(&inner, it) : NULL;
    env_leave(&inner, NULL);
    *known = x ? x : &CONST_BAD;
    return x;
}

static const Sx *name_value(Env *e, const Expr *x)
{
    const Entity *ent = env_find(e, x->id.name);
    ElemType type;
    if (!ent) {
        Item *it = module_item(e->module, x->id.name);
        if (it && it->kind == IT_CONST) return module_const(e, e->module, it, x->span);
        if (it) {
            Diag *g = diag_at(e->c->diags, E0306, x->span, "`%s` is a %s, not a number", name_of(e, x->id.name),
                              it->kind == IT_FN ? "function" : "kernel");
            diag_label(e->c->diags, g, it->name.span, "declared here");
        } else if (is_builtin_base(e->ch, x->id.name)) {
            Diag *g = diag_at(e->c->diags, E0306, x->span, "`%s` needs a member", name_of(e, x->id.name));
            diag_fix(e->c->diags, g, "write `%s.x`", name_of(e, x->id.name));
        } else if (elem_find(name_of(e, x->id.name), &type)) {
            diag_at(e->c->diags, E0306, x->span, "`%s` is an element type, not a number", name_of(e, x->id.name));
        } else {
            unknown_name(e, x->id, "name");
        }
        return NULL;
    }
    switch (ent->kind) {
    case ENT_SCALAR: return ent->sx;
    case ENT_VAR: return sx_new(e, SX_VAR, x->span, ent->var, NULL, NULL);
    case ENT_BAD: return NULL;
    default: {
        static const char *const kinds[] = {[ENT_TYPE] = "an element type", [ENT_TENSOR] = "a tensor",
                                            [ENT_TILE] = "a tile", [ENT_BARRIER] = "a barrier",
                                            [ENT_MAP] = "a map", [ENT_POLICY] = "a policy"};
        Diag *g = diag_at(e->c->diags, E0306, x->span, "`%s` is %s, not a number", name_of(e, x->id.name),
                          kinds[ent->kind]);
        if (ent->span.hi) diag_label(e->c->diags, g, ent->span, "declared here");
        return NULL;
    }
    }
}

/* std.tiles.f(..) and std.tiles.C */
static uint32_t member_path(const Expr *x, IdentItem *items, uint32_t max)
{
    if (x->kind == EX_NAME) {
        items[0].id = x->id;
        return 1;
    }
    if (x->kind != EX_MEMBER) return 0;
    uint32_t n = member_path(x->a, items, max);
    if (n == 0 || n == max) return 0;
    items[n - 1].next = &items[n];
    items[n].id = x->id;
    items[n].next = NULL;
    return n + 1;
}

static void no_member(Env *e, const Expr *x, const IdentItem *path, uint32_t n)
{
    const Entity *ent = n ? env_find(e, path[0].id.name) : NULL;
    if (x->a->kind == EX_ERROR || (ent && ent->kind == ENT_BAD)) return;
    if (n && !ent && is_builtin_base(e->ch, path[0].id.name)) {
        if (x->kind == EX_METHOD) diag_at(e->c->diags, E0206, x->span, "`%s` is no function", name_of(e, x->id.name));
        else if (n > 1) diag_at(e->c->diags, E0210, x->span, "a number has no member `%s`", name_of(e, x->id.name));
        return; /* else builtin_member has reported it */
    }
    if (ent || n == 0) {
        Diag *g = ent ? diag_at(e->c->diags, E0210, x->span, "`%s` has no member `%s`", name_of(e, ent->name), name_of(e, x->id.name))
                      : diag_at(e->c->diags, E0210, x->span, "this has no member `%s`", name_of(e, x->id.name));
        if (ent && ent->span.hi) diag_label(e->c->diags, g, ent->span, "`%s` is declared here", name_of(e, ent->name));
        if (ent && ent->kind == ENT_TENSOR) diag_fix(e->c->diags, g, "%s", foreign_fix("len"));
        return;
    }
    for (const Import *i = e->module->imports; i; i = i->next)
        if (!i->module && i->path->id.name == path[0].id.name) return; /* the import has been reported */
    if (module_item(e->module, path[0].id.name)) {
        diag_at(e->c->diags, E0210, x->span, "`%s` has no members", name_of(e, path[0].id.name));
        return;
    }
    unknown_name(e, path[0].id, "name or module");
}

static const Sx *member(Env *e, const Expr *x)
{
    const Sx *b = builtin_member(e, x);
    if (b) return b;
    IdentItem path[8] = {{{0, {0, 0}}, NULL}};
    uint32_t n = member_path(x->a, path, 8);
    Module *m = n ? module_by_path(e, path, n) : NULL;
    if (!m) {
        no_member(e, x, path, n);
        return NULL;
    }
    bool value = x->kind == EX_MEMBER;
    Item *it = module_item(m, x->id.name);
    if (!it) {
        if (!m->broken) unknown_in_module(e, m, x->id, value ? IT_CONST : IT_FN);
        return NULL;
    }
    if (it->kind != (value ? IT_CONST : IT_FN)) {
        Diag *g = diag_at(e->c->diags, value ? E0306 : E0206, x->id.span, "`%s` is a %s, not a %s", name_of(e, x->id.name),
                          item_kind(it), value ? "number" : "function");
        diag_label(e->c->diags, g, it->name.span, "declared here");
        return NULL;
    }
    return value ? module_const(e, m, it, x->span) : call_expr_fn(e, m, it, &x->args, x->span);
}

static const Sx *any_scalar(Env *e, const Expr *x)
{
    switch ((ExprKind)x->kind) {
    case EX_INT: return sx_const(e, (int64_t)x->i, x->span);
    case EX_NAME: return name_value(e, x);
    case EX_UNARY: return unary(e, x);
    case EX_BINARY: return binary(e, x);
    case EX_INDEX: return load(e, x);
    case EX_CALL: return call(e, x);
    case EX_MEMBER: case EX_METHOD: return member(e, x);
    case EX_FLOAT: diag_at(e->c->diags, E0306, x->span, "scalars are integers; this is a decimal fraction"); return NULL;
    case EX_STRING: diag_at(e->c->diags, E0306, x->span, "scalars are integers; this is text"); return NULL;
    case EX_PEER: diag_at(e->c->diags, E0306, x->span, "`peer(..)` is a tile or barrier, not a number"); return NULL;
    case EX_ERROR: return NULL;
    }
    return NULL;
}

/* ---- what must be known ---- */

bool constant(Env *e, const Expr *x, int64_t lo, int64_t hi, const char *what, int64_t *out)
{
    const Sx *v = scalar(e, x);
    if (!v) return false;
    if (v->op != SX_CONST) {
        Diag *g = diag_at(e->c->diags, E0301, x->span, "%s must be known at compile time", what);
        if (v->op == SX_SYM) {
            const char *sym = name_of(e, e->kernel->syms.v[v->k].name);
            diag_fix(e->c->diags, g, "a launch gives `%s`: make it a parameter that -D sets, `kernel %s<%s = ..>`", sym, name_of(e, e->kernel->name), sym);
        }
        return false;
    }
    if (v->k < lo || v->k > hi) {
        if (hi == INT64_MAX)
            diag_at(e->c->diags, E0318, x->span, "%s is %lld; it must be at least %lld", what, (long long)v->k,
                    (long long)lo);
        else
            diag_at(e->c->diags, E0318, x->span, "%s is %lld; it must be %lld to %lld", what, (long long)v->k,
                    (long long)lo, (long long)hi);
        return false;
    }
    *out = v->k;
    return true;
}
