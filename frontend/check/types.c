/* Types: elements, tiles and their layouts, tensor parameters. */
#include <string.h>

#include "frontend/check/arithmetic.h"
#include "frontend/check/check.h"
#include "lang/checked.h"

/* What other languages call them. */
static const char *foreign_type(const char *s)
{
    static const char *const words[][2] = {
        {"float", "f32"},  {"half", "f16"},   {"double", "f64"}, {"int", "s32"},    {"bfloat16", "bf16"}, {"int8", "s8"},
        {"int16", "s16"},  {"int32", "s32"},  {"int64", "s64"},  {"i8", "s8"},      {"i16", "s16"},       {"i32", "s32"},
        {"i64", "s64"},    {"uint8", "u8"},   {"uint16", "u16"}, {"uint32", "u32"}, {"uint64", "u64"},    {"fp16", "f16"},
        {"fp32", "f32"},   {"char", "u8"},    {"byte", "u8"},    {"float16", "f16"}, {"float32", "f32"},  {"float64", "f64"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(s, words[i][0]) == 0) return words[i][1];
    return NULL;
}

bool elem_type(Env *e, Ident id, ElemType *out)
{
    if (!id.name) return false;
    const Entity *ent = env_find(e, id.name);
    if (ent) {
        if (ent->kind == ENT_TYPE) {
            *out = ent->type;
            return true;
        }
        if (ent->kind != ENT_BAD) {
            Diag *g = diag_at(e->c->diags, E0304, id.span, "`%s` is %snot an element type", name_of(e, id.name),
                              ent->kind == ENT_SCALAR ? "a number, " : "");
            if (ent->span.hi) diag_label(e->c->diags, g, ent->span, "declared here");
        }
        return false;
    }
    if (elem_find(name_of(e, id.name), out)) return true;
    const Item *it = module_item(e->module, id.name);
    if (it) {
        Diag *g = diag_at(e->c->diags, E0304, id.span, "`%s` is a %s, not an element type", name_of(e, id.name), item_kind(it));
        diag_label(e->c->diags, g, it->name.span, "declared here");
        return false;
    }
    const char *names[TYPE_COUNT];
    for (int i = 0; i < TYPE_COUNT; i++) names[i] = elem_info((ElemType)i)->name;
    Diag *g = diag_at(e->c->diags, E0304, id.span, "unknown element type `%s`", name_of(e, id.name));
    const char *near = foreign_type(name_of(e, id.name));
    if (!near) near = spelling_nearest(name_of(e, id.name), names, TYPE_COUNT);
    if (near) diag_fix(e->c->diags, g, "did you mean `%s`?", near);
    else diag_fix(e->c->diags, g, "a kernel or function that is of any type has it as a compile-time parameter: `<%s = f32>`", name_of(e, id.name));
    return false;
}

bool scalar_type(Env *e, const Param *p, ElemType *out)
{
    *out = TYPE_S64;
    if (p->kind != PK_SCALAR) return true; /* a bare name: s64 */
    if (elem_find(name_of(e, p->type_name.name), out) && (*out == TYPE_S32 || *out == TYPE_U32 || *out == TYPE_S64)) return true;
    Diag *g = diag_at(e->c->diags, E0306, p->type_name.span, "a scalar parameter is s64, s32 or u32, not %s",
                      name_of(e, p->type_name.name));
    if (elem_find(name_of(e, p->type_name.name), out) && elem_info(*out)->kind == ELEM_FLOAT) arithmetic_notes(e->c->diags, g);
    else diag_fix(e->c->diags, g, "%s: s64", name_of(e, p->name.name));
    return false;
}

const char *shape_text(Env *e, int rank, const int64_t *extent)
{
    Text t;
    text_in(&t, e->c->scratch);
    text_char(&t, '[');
    for (int d = 0; d < rank; d++) {
        if (d) text_lit(&t, ", ");
        text_int(&t, extent[d]);
    }
    text_char(&t, ']');
    return text_end(&t);
}

/* An extent of a tile, or a number of tiles. */
static bool extent_of(Env *e, const Expr *x, int64_t most, const char *what, int64_t *out)
{
    if (!constant(e, x, INT64_MIN, INT64_MAX, what, out)) return false;
    if (*out >= 1 && *out <= most) return true;
    diag_at(e->c->diags, *out < 1 ? E0308 : E0318, x->span, "%s is %lld; it must be 1 to %lld", what, (long long)*out,
            (long long)most);
    return false;
}

/* ---- layouts ---- */

bool swizzle_of(Env *e, const Expr *swizzle, const Expr *atom, bool flip, Span span, int *out)
{
    int64_t bytes, a = 16;
    *out = MAP_SWIZZLE_NONE;
    if (!swizzle) return true;
    if (!constant(e, swizzle, INT64_MIN, INT64_MAX, "the swizzle span", &bytes)) return false;
    if (atom && !constant(e, atom, INT64_MIN, INT64_MAX, "the swizzle atom", &a)) return false;
    if (bytes != 32 && bytes != 64 && bytes != 128) {
        Diag *g = diag_at(e->c->diags, E0455, swizzle->span, "swizzle %lld does not exist", (long long)bytes);
        diag_fix(e->c->diags, g, "swizzle 32, 64 or 128 (bytes); leave it out for none");
        return false;
    }
    if (atom && (bytes != 128 || (a != 32 && a != 64))) {
        Diag *g = diag_at(e->c->diags, E0466, atom->span, "swizzle %lld atom %lld does not exist", (long long)bytes, (long long)a);
        diag_fix(e->c->diags, g, bytes != 128 ? "leave `atom` out, or write `swizzle 128`" : "atom 32 or 64 (bytes); leave it out for 16");
        return false;
    }
    if (flip && (!atom || a != 32)) {
        Diag *g = diag_at(e->c->diags, E0466, span, "`flip` goes with `atom 32` only");
        diag_fix(e->c->diags, g, "swizzle 128 atom 32 flip");
        return false;
    }
    if (atom) *out = a == 64 ? MAP_SWIZZLE_128B_ATOM_64B : flip ? MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B : MAP_SWIZZLE_128B_ATOM_32B;
    else *out = bytes == 32 ? MAP_SWIZZLE_32B : bytes == 64 ? MAP_SWIZZLE_64B : MAP_SWIZZLE_128B;
    return true;
}

bool interleave_of(Env *e, const Expr *x, int *out)
{
    int64_t bytes;
    *out = MAP_INTERLEAVE_NONE;
    if (!x) return true;
    if (!constant(e, x, INT64_MIN, INT64_MAX, "the interleave", &bytes)) return false;
    if (bytes != 16 && bytes != 32) {
        Diag *g = diag_at(e->c->diags, E0421, x->span, "interleave %lld does not exist", (long long)bytes);
        diag_fix(e->c->diags, g, "interleave 16 or 32 (bytes); leave it out for none");
        return false;
    }
    *out = bytes == 16 ? MAP_INTERLEAVE_16B : MAP_INTERLEAVE_32B;
    return true;
}

static void check_width(Env *e, const PTile *t, const TypeExpr *type)
{
    int span = swizzle_span(t->swizzle);
    int64_t bits = t->extent[t->rank - 1] * elem_info(t->type)->shared_bits;
    if (!span || t->interleave || bits % (span * 8) == 0) return;
    Diag *g;
    if (bits < span * 8) {
        g = diag_at(e->c->diags, E0460, type->swizzle_span, "the tile is %lld bytes wide, narrower than the swizzle span of %d",
                    (long long)(bits / 8), span);
        int fit = bits >= 512 ? 64 : bits >= 256 ? 32 : 0;
        if (fit) diag_fix(e->c->diags, g, "swizzle %d", fit);
        else diag_fix(e->c->diags, g, "leave the swizzle out");
    } else {
        g = diag_at(e->c->diags, E0460, type->swizzle_span,
                    "the tile is %lld bytes wide, which is not a whole number of panels of %d bytes", (long long)(bits / 8),
                    span);
    }
    diag_label(e->c->diags, g, t->span, "%s%s", elem_info(t->type)->name, shape_text(e, t->rank, t->extent));
}

/* More than any shared memory: said here, where the extents stand, and later sums of bytes can't overflow. */
static bool check_size(Env *e, const PTile *t, const TypeExpr *type)
{
    int64_t bits = elem_info(t->type)->shared_bits;
    bool over = !mul_s64(bits, t->slots, &bits);
    for (int d = 0; d < t->rank; d++) over = over || !mul_s64(bits, t->extent[d], &bits);
    int64_t most = e->c->target->smem_per_cta;
    if (!over && bits <= most * 8) return true;
    const char *bytes = over ? "more than 2^60" : arena_printf(e->c->scratch, "%lld", (long long)(bits / 8));
    Diag *g = diag_at(e->c->diags, E0901, type->span, "`%s` takes %s bytes; a CTA of %s has %lld", name_of(e, t->name), bytes,
                      e->c->target->name, (long long)most);
    const char *others = over ? NULL : smem_targets(e->c->scratch, bits / 8);
    if (others) diag_fix(e->c->diags, g, "targets that have as many: %s", others);
    return false;
}

PTile *tile_type(Env *e, Ident name, const TypeExpr *type, bool tensor)
{
    PTile *t = arena_new(e->c->scratch, PTile);
    bool ok = elem_type(e, type->elem, &t->type);
    t->name = name.name;
    t->span = name.span;
    t->slots = 1;
    t->tensor = tensor;
    uint32_t brackets = 0;
    for (const DimsList *d = type->brackets; d; d = d->next) brackets++;
    const DimsList *dims = type->brackets;
    if (brackets > 2) {
        diag_at(e->c->diags, E0306, type->span, "a tile has one bracket of extents, or two: [count][extents]; here are %u",
                brackets);
        return NULL;
    }
    if (brackets == 2) {
        t->is_array = true;
        if (dims->dims.n != 1) {
            diag_at(e->c->diags, E0306, dims->span, "the number of tiles in the array is one number");
            ok = false;
        } else {
            ok = extent_of(e, dims->dims.first, 1024, "the number of tiles in the array", &t->slots) && ok;
        }
        dims = dims->next;
    }
    if (!dims || dims->dims.n < 1 || dims->dims.n > P_RANK) {
        diag_at(e->c->diags, E0309, dims ? dims->span : type->span, "a tile has 1 to 5 dimensions, this one has %u",
                dims ? dims->dims.n : 0);
        return NULL;
    }
    for (const Expr *x = dims->dims.first; x; x = x->next)
        ok = extent_of(e, x, 1 << 24, "the extent of a tile", &t->extent[t->rank++]) && ok;
    if (type->stride.n) {
        diag_at(e->c->diags, E0306, type->stride_span, "`stride` belongs to global tensors; a tile's layout is its swizzle");
        ok = false;
    }
    ok = swizzle_of(e, type->swizzle, type->atom, type->flip, type->swizzle_span, &t->swizzle) && ok;
    ok = interleave_of(e, type->interleave, &t->interleave) && ok;
    if (!ok) return NULL;
    if (tensor) return tmem_type_fits(e, t, type) ? t : NULL;
    if (!check_size(e, t, type)) return NULL;
    check_width(e, t, type);
    return t;
}

/* ---- tensors ---- */

uint32_t kernel_sym(Env *e, Name name, MfSymKind kind, Span span, ElemType type)
{
    PKernel *k = e->kernel;
    vec_push(e->c->scratch, &k->syms, ((PSym){.name = name, .kind = (uint8_t)kind, .span = span, .type = type}));
    const Sx *x = sx_new(e, SX_SYM, span, k->syms.n - 1, NULL, NULL);
    env_add(e, (Entity){.kind = ENT_SCALAR, .name = name, .span = span, .sx = x});
    return k->syms.n - 1;
}

/* An extent of a fn's parameter: binds a new name, else must agree with the argument. */
static const Sx *bound_extent(Env *e, const Expr *x, const Sx *arg, int d, Ident name, Span arg_span)
{
    if (x->kind == EX_NAME && !env_find(e, x->id.name) && !module_item(e->module, x->id.name)) {
        env_add(e, (Entity){.kind = ENT_SCALAR, .name = x->id.name, .span = x->span, .sx = arg});
        return arg;
    }
    const Sx *want = scalar(e, x);
    if (!want || sx_same(want, arg)) return want;
    if (want->op == SX_CONST && arg->op == SX_CONST) {
        Diag *g = diag_at(e->c->diags, E0219, arg_span, "dimension %d of the argument is %lld, the parameter `%s` has %lld",
                          d, (long long)arg->k, name_of(e, name.name), (long long)want->k);
        diag_label(e->c->diags, g, x->span, "the parameter's extent");
        return NULL;
    }
    const Sx *eq = sx_op(e, SX_EQ, want, arg, x->span);
    if (eq && !eq->launch) { /* of a view that is made at run time */
        Diag *g = diag_at(e->c->diags, E0209, arg_span, "dimension %d of the argument is made at run time: no launch can compare it", d);
        diag_label(e->c->diags, g, x->span, "the extent of parameter `%s`", name_of(e, name.name));
        diag_fix(e->c->diags, g, "give the extent a name of its own, which stands for the argument's");
        return NULL;
    }
    vec_push(e->c->scratch, &e->kernel->facts, ((PFact){.cond = eq, .span = x->span, .why = "an argument has the extents of its parameter"}));
    return want;
}

static bool row_major(Env *e, PTensor *t)
{
    const Sx *s = sx_const(e, 1, t->span);
    for (int d = t->rank - 1; d >= 0; d--) {
        t->stride[d] = s;
        int64_t a, b, r;
        if (d && sx_is_const(s, &a) && sx_is_const(t->extent[d], &b) && !mul_s64(a, b, &r)) {
            diag_at(e->c->diags, E0303, t->extent[d]->span, "`%s` has 2^63 elements or more", name_of(e, t->name));
            return false;
        }
        if (d && !(s = sx_op(e, SX_MUL, s, t->extent[d], t->span))) return false;
    }
    return true;
}

static bool strides(Env *e, PTensor *t, const TypeExpr *type)
{
    int64_t k;
    if (type->stride.n != (uint32_t)t->rank) {
        Diag *g = diag_at(e->c->diags, E0311, type->stride_span, "%u stride%s for a tensor of rank %d", type->stride.n,
                          type->stride.n == 1 ? "" : "s", t->rank);
        diag_label(e->c->diags, g, type->brackets->span, "rank %d", t->rank);
        return false;
    }
    t->strided = true;
    int d = 0;
    for (const Expr *x = type->stride.first; x; x = x->next, d++) {
        if (!(t->stride[d] = scalar(e, x))) return false;
        if (!t->stride[d]->launch) {
            diag_at(e->c->diags, E0319, x->span, "a stride must be known at launch");
            return false;
        }
        if (sx_is_const(t->stride[d], &k) && k < 0) {
            Diag *g = diag_at(e->c->diags, E0416, x->span, "stride %lld is negative", (long long)k);
            diag_fix(e->c->diags, g, "a stride is 0 or more; count the index down in the program instead");
            return false;
        }
    }
    if (!sx_is_const(t->stride[t->rank - 1], &k) || k != 1) {
        Diag *g = diag_at(e->c->diags, E0467, type->stride.last->span, "the innermost stride is not 1");
        diag_fix(e->c->diags, g, "the innermost dimension is contiguous: end the list with 1");
        return false;
    }
    return true;
}

PTensor *tensor_param(Env *e, Ident name, const TypeExpr *type, const PTensor *arg, Span arg_span)
{
    PTensor *t = arena_new(e->c->scratch, PTensor);
    t->name = name.name;
    t->span = name.span;
    bool ok = elem_type(e, type->elem, &t->type);
    const DimsList *dims = type->brackets;
    if (!dims || dims->next || dims->dims.n < 1 || dims->dims.n > P_RANK) {
        if (dims && dims->next)
            diag_fix(e->c->diags, diag_at(e->c->diags, E0309, type->span, "a global tensor has one bracket of extents; arrays are of shared tiles"),
                     "write all extents there: `%s[M, N]`", name_of(e, type->elem.name));
        else
            diag_at(e->c->diags, E0309, dims ? dims->span : type->span, "a tensor has 1 to 5 dimensions, this one has %u",
                    dims ? dims->dims.n : 0);
        return NULL;
    }
    if (type->swizzle || type->interleave) {
        diag_at(e->c->diags, E0306, type->swizzle ? type->swizzle_span : type->interleave->span,
                "a layout in shared memory belongs to a tile or a map, not to a global tensor");
        ok = false;
    }
    for (const Expr *x = dims->dims.first; x; x = x->next) {
        int d = t->rank++;
        int64_t k;
        t->extent[d] = arg ? bound_extent(e, x, arg->extent[d], d, name, arg_span) : scalar(e, x);
        if (!t->extent[d]) ok = false;
        else if (sx_is_const(t->extent[d], &k) && k < 1) {
            diag_at(e->c->diags, E0308, x->span, "the extent is %lld; it must be at least 1", (long long)k);
            ok = false;
        } else if (!t->extent[d]->launch && !e->in_view && !(arg && arg->run_time)) {
            diag_at(e->c->diags, E0319, x->span, "an extent of a tensor must be known at launch");
            ok = false;
        }
    }
    if (!ok) return NULL;
    if (arg) return t; /* strides are the argument's */
    if (type->stride.n ? !strides(e, t, type) : !row_major(e, t)) return NULL;
    return t;
}
