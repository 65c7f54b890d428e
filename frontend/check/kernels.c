/* Heads of kernels: compile-time parameters, parameters, attributes. */
#include <string.h>

#include "frontend/check/check.h"
#include "lang/limits.h"

/* ---- compile-time parameters ---- */

const char *define_value(Checked *ch, const Item *k, const TParam *t)
{
    const char *value = NULL, *kernel = names_text(ch->c->names, k->name.name), *param = names_text(ch->c->names, t->name.name);
    size_t n = strlen(kernel);
    for (size_t i = 0; i < ch->ndefines; i++) {
        Define *d = &ch->defines[i];
        const char *dot = strchr(d->name, '.');
        bool match = dot ? (size_t)(dot - d->name) == n && strncmp(d->name, kernel, n) == 0 && strcmp(dot + 1, param) == 0
                         : strcmp(d->name, param) == 0;
        if (!match) continue;
        d->used = true;
        value = d->value;
    }
    return value;
}

static bool define_entity(Env *e, const TParam *t, const char *value, Entity *ent)
{
    int64_t v;
    if (define_number(value, &v)) {
        ent->kind = ENT_SCALAR;
        ent->sx = sx_const(e, v, t->name.span);
        return true;
    }
    if (elem_find(value, &ent->type)) {
        ent->kind = ENT_TYPE;
        return true;
    }
    diag_at(e->c->diags, E0213, t->name.span, "-D gives `%s` to `%s`: neither a 64-bit number nor an element type", value,
            name_of(e, t->name.name));
    return false;
}

static const char *wished(const Env *e, const TParam *t)
{
    const Wish *w = e->kernel->wish;
    for (uint32_t i = 0; w && i < w->values.n; i++)
        if (strcmp(w->values.v[i].name, name_of(e, t->name.name)) == 0) return w->values.v[i].value;
    return NULL;
}

static const char *value_text(const Env *e, const Entity *ent)
{
    return ent->kind == ENT_TYPE ? elem_info(ent->type)->name : arena_printf(e->c->scratch, "%lld", (long long)ent->sx->k);
}

static bool tparams(Env *e, const Item *k)
{
    bool ok = true;
    for (const TParam *t = k->tparams; t; t = t->next) {
        Entity ent = {.kind = ENT_BAD, .name = t->name.name, .span = t->name.span};
        const char *value = define_value(e->ch, k, t);
        const Expr *given = t->value;
        int64_t n;
        e->kernel->alternatives |= given && given->next;
        bool several = (value && strchr(value, '|')) || (given && given->next);
        if (value) value = alternative_of(e->c->arena, value, e->kernel->alternative);
        if (wished(e, t)) value = wished(e, t), several = true;
        for (uint32_t i = 0; given && given->next && i < e->kernel->alternative; i++) given = given->next;
        if (value) {
            ok = define_entity(e, t, value, &ent) && ok;
        } else if (!given) {
            Diag *g = diag_at(e->c->diags, E0212, t->name.span, "the compile-time parameter `%s` has no value",
                              name_of(e, t->name.name));
            diag_fix(e->c->diags, g, "give it a default here, or -D %s.%s=..", name_of(e, k->name.name),
                     name_of(e, t->name.name));
            ok = false;
        } else if (given->kind == EX_NAME && !env_find(e, given->id.name) &&
                   !module_item(e->module, given->id.name) && elem_find(name_of(e, given->id.name), &ent.type)) {
            ent.kind = ENT_TYPE;
        } else if (constant(e, given, INT64_MIN, INT64_MAX, "a compile-time parameter", &n)) {
            ent.kind = ENT_SCALAR;
            ent.sx = sx_const(e, n, given->span);
        } else {
            ok = false;
        }
        env_add(e, ent);
        if (several && ent.kind != ENT_BAD) vec_push(e->c->scratch, &e->kernel->values, ((WishValue){name_of(e, t->name.name), value_text(e, &ent)}));
    }
    return ok;
}

/* ---- parameters ---- */

/* A bare name in an extent or stride that nothing else declares is a symbolic size. */
static void declare_sizes(Env *e, const ExprList *l, MfSymKind kind)
{
    for (const Expr *x = l->first; x; x = x->next) {
        if (x->kind != EX_NAME || !x->id.name || env_find(e, x->id.name) || module_item(e->module, x->id.name)) continue;
        if (is_builtin_base(e->ch, x->id.name)) continue;
        kernel_sym(e, x->id.name, kind, x->span, TYPE_S64);
    }
}

static bool scalar_param(Env *e, const Param *p, PParam *out)
{
    out->is_scalar = true;
    if (p->kind == PK_BARE) {
        Diag *g = diag_at(e->c->diags, E0306, p->span, "a kernel's parameter needs a type");
        diag_fix(e->c->diags, g, "%s: s64, or %s: global ..", name_of(e, p->name.name), name_of(e, p->name.name));
        return false;
    }
    if (!scalar_type(e, p, &out->type)) return false;
    /* declared before the tensors: the declaration that stands at this place */
    for (uint32_t i = 0; i < e->kernel->syms.n; i++)
        if (e->kernel->syms.v[i].kind == MF_SCALAR && e->kernel->syms.v[i].span.lo == p->name.span.lo) out->sym = i;
    return true;
}

static bool param(Env *e, const Param *p)
{
    PKernel *k = e->kernel;
    PParam out = {.name = p->name.name, .span = p->name.span};
    switch (p->kind) {
    case PK_BARE: case PK_SCALAR:
        if (!scalar_param(e, p, &out)) return false;
        break;
    case PK_TENSOR:
        if (p->space != SPACE_GLOBAL) {
            Diag *g = diag_at(e->c->diags, E0306, p->span, "a kernel's parameters are global tensors and scalars");
            diag_fix(e->c->diags, g, "declare the tile in the body");
            return false;
        }
        if (!(out.tensor = tensor_param(e, p->name, p->type, NULL, p->span))) return false;
        out.tensor->index = k->tensors.n;
        vec_push(e->c->scratch, &k->tensors, out.tensor);
        env_add(e, (Entity){.kind = ENT_TENSOR, .name = p->name.name, .span = p->name.span, .tensor = out.tensor});
        break;
    default:
        diag_at(e->c->diags, E0306, p->span, "a kernel's parameters are global tensors and scalars; barriers, maps and policies are declared in the body");
        return false;
    }
    vec_push(e->c->scratch, &k->params, out);
    return true;
}

static bool params(Env *e, const Item *item)
{
    bool ok = true;
    ElemType type;
    /* Scalars first: extents and strides may mention them. */
    for (const Param *p = item->params; p; p = p->next)
        if (p->kind == PK_SCALAR && p->name.name && scalar_type(e, p, &type)) kernel_sym(e, p->name.name, MF_SCALAR, p->name.span, type);
    for (const Param *p = item->params; p; p = p->next) {
        if (p->kind != PK_TENSOR || p->space != SPACE_GLOBAL) continue;
        for (const DimsList *d = p->type->brackets; d; d = d->next) declare_sizes(e, &d->dims, MF_SIZE);
    }
    for (const Param *p = item->params; p; p = p->next)
        if (p->kind == PK_TENSOR && p->space == SPACE_GLOBAL) declare_sizes(e, &p->type->stride, MF_STRIDE);
    for (const Param *p = item->params; p; p = p->next)
        if (!param(e, p)) {
            ok = false;
            if (!env_find(e, p->name.name))
                env_add(e, (Entity){.kind = ENT_BAD, .name = p->name.name, .span = p->name.span});
        }
    return ok;
}

/* ---- attributes ---- */

static bool unique(Env *e, const Item *item, const Attr *a)
{
    for (const Attr *p = item->attrs; p != a; p = p->next)
        if (p->kind == a->kind && a->kind != AT_WHERE && a->kind != AT_TRUST) {
            Diag *g = diag_at(e->c->diags, E0110, a->span, "this attribute stands twice");
            diag_label(e->c->diags, g, p->span, "first here");
            return false;
        }
    return true;
}

static bool grid_attr(Env *e, const Attr *a, const Sx *grid[3])
{
    PKernel *k = e->kernel;
    k->grid_span = a->span;
    if (a->exprs.n < 1 || a->exprs.n > 3) {
        diag_at(e->c->diags, E0318, a->span, "a grid has one to three dimensions (x, y, z), here are %u", a->exprs.n);
        return false;
    }
    int d = 0;
    bool ok = true;
    for (const Expr *x = a->exprs.first; x; x = x->next, d++) {
        int64_t n;
        if (!(grid[d] = scalar(e, x))) {
            ok = false;
        } else if (!grid[d]->launch) {
            diag_at(e->c->diags, E0319, x->span, "the grid must be known at launch");
            ok = false;
        } else if (sx_is_const(grid[d], &n) && (n < 1 || n > grid_most(d))) {
            diag_at(e->c->diags, E0903, x->span, "grid.%c is %lld; it must be 1 to %lld", 'x' + d, (long long)n,
                    (long long)grid_most(d));
            ok = false;
        }
    }
    return ok;
}

static bool cluster_attr(Env *e, const Attr *a)
{
    PKernel *k = e->kernel;
    k->cluster_span = a->span;
    if (a->exprs.n < 1 || a->exprs.n > 3) {
        diag_at(e->c->diags, E0318, a->span, "a cluster has one to three dimensions (x, y, z), here are %u", a->exprs.n);
        return false;
    }
    int d = 0;
    bool ok = true;
    for (const Expr *x = a->exprs.first; x; x = x->next, d++)
        ok = constant(e, x, 1, 1024, "a dimension of the cluster", &k->cluster[d]) && ok;
    int64_t size = k->cluster[0] * k->cluster[1] * k->cluster[2];
    const TargetInfo *t = e->c->target;
    if (ok && size > t->widest_cluster) {
        Diag *g = diag_at(e->c->diags, E0904, a->span, "the cluster has %lld CTAs; %s takes at most %d", (long long)size, t->name,
                          t->widest_cluster);
        const char *others = cluster_targets(e->c->scratch, size);
        if (others) diag_fix(e->c->diags, g, "targets that take as many: %s", others);
        return false;
    }
    if (ok && size > t->max_cluster)
        diag_at(e->c->diags, P0003, a->span, "clusters of %lld CTAs fit only some GPUs with %s, and parts of them", (long long)size, t->name);
    return ok;
}

static bool trust_attr(Env *e, const Attr *a)
{
    bool ok = true;
    for (const Expr *x = a->exprs.first; x; x = x->next) {
        const char *fact = x->kind == EX_CALL && x->args.n == 1 ? name_of(e, x->id.name) : "";
        int trust = word_find(WORDS_TRUST, fact);
        const Expr *arg = trust >= 0 ? x->args.first : NULL;
        const Entity *ent = arg && arg->kind == EX_NAME ? env_find(e, arg->id.name) : NULL;
        ElemKind kind = ent && ent->kind == ENT_TENSOR ? elem_info(ent->tensor->type)->kind : ELEM_FLOAT;
        if (arg && arg->kind == EX_NAME && !ent) {
            unknown_name(e, arg->id, "tensor");
            ok = false;
        } else if (ent && ent->kind == ENT_BAD) {
            ok = false;
        } else if (kind != ELEM_UINT && kind != ELEM_SINT) {
            Diag *g = diag_at(e->c->diags, E0705, x->span,
                              arg ? "`%s` is about a global tensor of integers" : "this can't be trusted", fact);
            if (ent && ent->span.hi) diag_label(e->c->diags, g, ent->span, "`%s` is declared here", name_of(e, ent->name));
            if (!arg) diag_fix(e->c->diags, g, "distinct(idx): no two elements of `idx` are equal; sorted(idx): none is less than the one before; what a launch can check belongs into `where`");
            ok = false;
        } else {
            vec_push(e->c->scratch, &e->kernel->trusts, ((PTrusted){(Trust)trust, ent->tensor, x->span}));
        }
    }
    return ok;
}

/* "B is 48, T is 16": the constants that x names, each once. */
static const char *values_of(Env *e, const Expr *x, const char *known)
{
    if (x->kind == EX_UNARY || x->kind == EX_BINARY) known = values_of(e, x->lhs, known);
    if (x->kind == EX_BINARY) return values_of(e, x->rhs, known);
    for (const Expr *a = x->kind == EX_CALL ? x->args.first : NULL; a; a = a->next) known = values_of(e, a, known);
    e->c->diags->excluded++; /* a side that nothing depends on may be wrong */
    const Sx *v = x->kind == EX_NAME ? scalar(e, x) : NULL;
    e->c->diags->excluded--;
    int64_t k;
    if (!v || !sx_is_const(v, &k)) return known;
    const char *one = arena_printf(e->c->scratch, "`%s` is %lld", name_of(e, x->id.name), (long long)k);
    return strstr(known, one) ? known : arena_printf(e->c->scratch, "%s%s%s", known, *known ? ", " : "", one);
}

static bool where_attr(Env *e, const Attr *a)
{
    bool ok = true;
    for (const Expr *x = a->exprs.first; x; x = x->next) {
        const Sx *c = condition(e, x);
        bool value;
        if (!c) {
            ok = false;
        } else if (sx_decided(c, &value) && !value) {
            const char *values = values_of(e, x, "");
            diag_at(e->c->diags, E0318, x->span, "this fact is about constants, and it is false%s%s", *values ? ": " : "", values);
            ok = false;
        } else if (!c->launch) {
            diag_at(e->c->diags, E0319, x->span, "a `where` fact is checked at launch, so it must be known then");
            ok = false;
        } else {
            vec_push(e->c->scratch, &e->kernel->facts, ((PFact){.cond = c, .span = x->span}));
        }
    }
    return ok;
}

static bool cluster_divides_grid(Env *e)
{
    PKernel *k = e->kernel;
    bool ok = true;
    if (k->across_span.hi) return true; /* the compiler chooses whole clusters */
    for (int d = 0; d < 3; d++) {
        int64_t n;
        if (k->cluster[d] == 1 || !sx_is_const(k->grid[d], &n) || n % k->cluster[d] == 0) continue;
        bool grid = k->grid_span.hi != 0;
        Diag *g = diag_at(e->c->diags, E0905, grid ? k->grid_span : k->cluster_span,
                          "grid.%c is %lld%s, which is not a multiple of the cluster's %lld", 'x' + d, (long long)n,
                          grid ? "" : " where no `grid` is given", (long long)k->cluster[d]);
        if (grid) diag_label(e->c->diags, g, k->cluster_span, "the cluster");
        else diag_fix(e->c->diags, g, "say how many CTAs, of all clusters together: `grid (%lld, %lld, %lld)`", (long long)k->cluster[0], (long long)k->cluster[1], (long long)k->cluster[2]);
        ok = false;
    }
    return ok;
}

static bool attributes(Env *e, const Item *item)
{
    PKernel *k = e->kernel;
    const Sx *grid[3] = {NULL, NULL, NULL};
    bool ok = true;
    for (const Attr *a = item->attrs; a; a = a->next) {
        if (!unique(e, item, a)) {
            ok = false;
            continue;
        }
        switch (a->kind) {
        case AT_GRID: ok = grid_attr(e, a, grid) && ok; break;
        case AT_CLUSTER: ok = cluster_attr(e, a) && ok; break;
        case AT_THREADS:
            k->threads_span = a->span;
            ok = thread_count(e, a->exprs.first, &k->threads) && ok;
            break;
        case AT_WHERE: ok = where_attr(e, a) && ok; break;
        case AT_TRUST: ok = trust_attr(e, a) && ok; break;
        case AT_PAIR:
            k->pair = true;
            k->pair_span = a->span;
            break;
        }
    }
    for (int d = 0; d < 3; d++) k->grid[d] = grid[d] ? grid[d] : sx_const(e, 1, item->span);
    return ok && (!k->grid_span.hi || cluster_divides_grid(e));
}

/* ---- the kernel ---- */

PKernel *kernel_new(Env *e, const Schedule *schedule, const Wish *wish)
{
    const Item *item = schedule->kernel;
    PKernel *k = e->kernel = arena_new(e->c->scratch, PKernel);
    k->name = item->name.name;
    k->span = item->name.span;
    k->entry = names_text(e->c->names, k->name);
    k->cluster[0] = k->cluster[1] = k->cluster[2] = 1;
    k->threads = 32;
    k->alternative = schedule->alternative;
    k->wish = wish;
    k->hints = wish && wish->hints != HINTS_OPEN ? wish->hints : k->alternative && e->c->hints == 0 ? -1 : e->c->hints;
    for (uint32_t i = 0; i < schedule->picks.n; i++) vec_push(e->c->scratch, &k->picks, schedule->picks.v[i]);
    return k;
}

static bool has_value(const Env *e, const WishValue *v)
{
    const Entity *ent = env_find(e, names_intern(e->c->names, v->name, strlen(v->name)));
    int64_t n;
    ElemType type;
    if (ent && ent->kind == ENT_SCALAR) return define_number(v->value, &n) && n == ent->sx->k;
    return ent && ent->kind == ENT_TYPE && elem_find(v->value, &type) && type == ent->type;
}

/* The compile-time parameters of a schedule alone. What is wrong with them is said where it is built. */
static Env begin_values(Checked *ch, const Schedule *s, bool *ok)
{
    Env e = {.ch = ch, .c = ch->c, .module = ch->main};
    bool quiet = ch->c->diags->quiet;
    ch->c->diags->quiet = true;
    kernel_new(&e, s, s->wish);
    env_begin(&e);
    *ok = tparams(&e, s->kernel);
    ch->c->diags->quiet = quiet;
    return e;
}

bool alternative_is(Checked *ch, const Item *k, uint32_t i, const Wish *w)
{
    bool same;
    Env e = begin_values(ch, &(Schedule){.kernel = k, .alternative = i}, &same);
    for (uint32_t v = 0; same && v < w->values.n; v++) same = has_value(&e, &w->values.v[v]);
    env_leave(&e, NULL);
    return same;
}

const char *schedule_value(Checked *ch, const Schedule *s, const TParam *t)
{
    bool all;
    Env e = begin_values(ch, s, &all);
    const Entity *ent = env_find(&e, t->name.name);
    const char *text = ent->kind == ENT_BAD ? NULL : value_text(&e, ent);
    env_leave(&e, NULL);
    return text;
}

bool kernel_head(Env *e, const Item *item)
{
    bool ok = tparams(e, item);
    ok = params(e, item) && ok;
    return attributes(e, item) && ok;
}

bool kernel_whole(Env *e) { return cluster_divides_grid(e) && roles_alone(e) && tmem_kernel(e); }
