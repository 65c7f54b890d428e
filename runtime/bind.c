/* Arguments by name, and what they say about the symbols. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lang/names.h"
#include "runtime/module.h"

static unsigned char *align_map(unsigned char *p)
{
    return p + (MAP_ALIGN - (uintptr_t)p % MAP_ALIGN) % MAP_ALIGN;
}

/* What is bound, and what follows for the symbols, is the same for all schedules of a kernel: they have one signature. */
static void bound_values(tile_args *a, const tile_args *first)
{
    const MfKernel *mf = a->kernel->mf;
    Arena *ar = &a->heap->arena;
    a->tensors = first ? first->tensors : arena_array(ar, TensorArg, mf->tensors.n);
    a->scalars = first ? first->scalars : arena_array(ar, ScalarArg, mf->scalars.n);
    const tile_kernel *k = a->kernel;
    a->choice = first ? first->choice : arena_array(ar, int64_t, (size_t)k->choice.nodes.n + mf->syms.n + 1);
    a->syms = a->choice + 1;
    for (uint32_t i = mf->syms.n; !first && i < k->leaves; i++) a->choice[i + 1] = k->choice.nodes.v[i].k;
    a->sym_values = first ? first->sym_values : arena_array(ar, SymValue, mf->syms.n);
}

/* first: the arguments of the kernel's first schedule, NULL for those. False: out of memory. */
static bool build_args(tile_args *a, const tile_args *first)
{
    if (setjmp(a->heap->fail)) return false;
    a->heap->mem.fail = &a->heap->fail;
    const MfKernel *mf = a->kernel->mf;
    Arena *ar = &a->heap->arena;
    bound_values(a, first);
    a->values = arena_array(ar, int64_t, mf->lx.nodes.n);
    a->status = arena_array(ar, uint8_t, mf->lx.nodes.n);
    a->marks = arena_array(ar, uint8_t, mf->lx.nodes.n);
    a->maps = arena_array(ar, unsigned char *, mf->maps.n);
    a->slots = arena_array(ar, MapSlot, arena_bytes(mf->maps.n, MAP_WAYS));
    size_t nslots = (size_t)mf->maps.n * MAP_WAYS;
    unsigned char *bytes = align_map(arena_alloc(ar, arena_bytes(nslots, MAP_BYTES) + MAP_ALIGN));
    for (size_t i = 0; i < nslots; i++) a->slots[i].map = bytes + i * MAP_BYTES;
    a->words = arena_array(ar, uint64_t, mf->params.n);
    a->launch = (Launch){
        .function = a->kernel->function,
        .kernel = mf,
        .cluster = {mf->cluster[0], mf->cluster[1], mf->cluster[2]},
        .threads = mf->threads,
        .smem = a->kernel->smem,
        .dependent = mf->dependent,
        .params = arena_array(ar, void *, mf->params.n),
    };
    a->heap->mem.fail = NULL;
    return true;
}

tile_status tile_args_new(tile_kernel *k, tile_args **out, tile_error *err)
{
    if (!out) return fail_null(err, "out");
    *out = NULL;
    if (!k) return fail_null(err, "the kernel");
    tile_args *first = NULL, **link = &first;
    for (uint32_t i = 0; i == 0 || i < k->mf->schedules; i++) {
        const Host *host = &k->module->device->host;
        tile_args *a = *link = host_zeros(host, 1, sizeof *a);
        if (a) *a = (tile_args){.kernel = k + i, .heap = heap_new(host)};
        if (!a || !a->heap || !build_args(a, i ? first : NULL)) {
            tile_args_free(first);
            return fail(err, TILE_ERROR_MEMORY, "out of memory");
        }
        link = &a->next;
    }
    *out = first;
    return succeed(err);
}

void tile_args_free(tile_args *a)
{
    while (a) {
        tile_args *next = a->next;
        tile_device *d = a->kernel->module->device;
        if (a->dummy) d->ops->release(d, a->dummy, NULL);
        heap_free(a->heap);
        host_free(&d->host, a);
        a = next;
    }
}

static void list_params(const tile_kernel *k, char *buf, size_t size)
{
    size_t n = 0;
    buf[0] = 0;
    for (uint32_t i = 0; i < k->mf->args.n && n + 8 < size; i++) {
        int w = snprintf(buf + n, size - n, "%s%s", i ? ", " : "", k->param_names[i]);
        n += w > 0 ? (size_t)w : 0;
    }
}

/* The parameter's row, or NULL with the error filled. */
static const struct MfArg *find_param(const tile_args *a, const char *name, tile_error *err)
{
    const tile_kernel *k = a->kernel;
    for (uint32_t i = 0; i < k->mf->args.n; i++)
        if (strcmp(k->param_names[i], name) == 0) return &k->mf->args.v[i];
    const char *near = spelling_nearest(name, k->param_names, k->mf->args.n);
    char all[1024];
    list_params(k, all, sizeof all);
    fail_rule(err, TILE_ERROR_ARGUMENT, E1115, "kernel `%s` has no parameter `%s`%s%s%s (it has: %s)", k->mf->name,
              name, near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "", all);
    return NULL;
}

static const char *dim_text(int rank, int i, char *buf, size_t size)
{
    if (rank == 1) snprintf(buf, size, "extent");
    else snprintf(buf, size, "extent %d (of 0 .. %d, outermost first)", i, rank - 1);
    return buf;
}

/* Rank, extents and strides that hold whatever the other arguments are. Fills t's shape, strides, span and empty. */
static void take_shape(const tile_kernel *k, const MfTensor *p, TensorArg *t, const int64_t *shape,
                       const int64_t *strides, Report *r)
{
    const LxPool *lx = &k->mf->lx;
    char what[64];
    bool sane = true;
    for (int i = 0; i < p->rank; i++) {
        int64_t want;
        t->shape[i] = shape[i];
        if (shape[i] < 0) {
            report_rule(r, E1104, "`%s`: %s is %" PRId64, p->name, dim_text(p->rank, i, what, sizeof what), shape[i]);
            sane = false;
        } else if (shape[i] > MF_EXTENT_MAX) {
            report_rule(r, E1104, "`%s`: %s is %" PRId64 ", the limit is 2^40", p->name,
                        dim_text(p->rank, i, what, sizeof what), shape[i]);
            sane = false;
        } else if (lx_is_const(lx, p->extent[i], &want) && want != shape[i]) {
            report_rule(r, E1104, "`%s`: %s is %" PRId64 ", the kernel's is %" PRId64, p->name,
                        dim_text(p->rank, i, what, sizeof what), shape[i], want);
        }
        if (shape[i] == 0) t->empty = true;
    }
    int64_t dense = 1, last = 0; /* stride of a contiguous tensor; index of the last element */
    for (int i = p->rank - 1; sane && i >= 0; i--) {
        int64_t reach, want, s = strides ? strides[i] : dense, e = t->shape[i];
        t->stride[i] = s;
        if (s < 0) {
            report_rule(r, E1105, "`%s`: stride %d is %" PRId64 "; strides are 0 or more", p->name, i, s);
            sane = false;
        } else if (p->strided && s > MF_EXTENT_MAX) {
            report_rule(r, E1105, "`%s`: stride %d is %" PRId64 " elements, the limit is 2^40", p->name, i, s);
            sane = false;
        } else if (!p->strided && e > 1 && s != dense && !t->empty) {
            report_rule(r, E1105,
                        "`%s` has no `stride` clause, so it must be contiguous: stride %d is %" PRId64 ", not %" PRId64
                        " elements",
                        p->name, i, s, dense);
            r->fix = "fix: pass a contiguous copy, or say in the kernel that it has strides: `global f32[M, N] stride [S, 1]`";
        } else if (p->strided && e > 1 && p->stride[i] && lx_is_const(lx, p->stride[i], &want) && want != s) {
            report_rule(r, E1105, "`%s`: stride %d is %" PRId64 ", the kernel's is %" PRId64 " elements", p->name, i, s,
                        want);
        }
        if (sane && e > 0 && (!size_mul(e - 1, s, &reach) || !size_add(last, reach, &last))) sane = false;
        if (sane && (!size_mul(dense, e > 0 ? e : 1, &dense))) sane = false;
    }
    int64_t elements, bytes = 0;
    if (sane && !t->empty && (!size_add(last, 1, &elements) || !elem_bytes(p->type, elements, &bytes))) sane = false;
    if (!sane && r->lines == 0) report_rule(r, E1104, "`%s` is larger than 2^63 bytes", p->name);
    t->span = sane ? (uint64_t)bytes : 0;
}

static bool same_tensor(const TensorArg *x, const TensorArg *y, int rank, bool *same_shape)
{
    *same_shape = x->bound == y->bound;
    for (int i = 0; i < rank; i++)
        if (x->shape[i] != y->shape[i] || x->stride[i] != y->stride[i]) *same_shape = false;
    return *same_shape && x->address == y->address && x->bytes == y->bytes;
}

/* The launch is no longer what it was, nor, with other sizes, its schedule. What was ready of schedules that are not taken is no more when they are. */
static void changed(tile_args *a, bool sizes)
{
    if (a->taken) a->taken->ready = false;
    if (sizes) a->taken = NULL;
}

tile_status tile_bind(tile_args *a, const char *param, uint64_t address, size_t bytes, tile_type type, int rank,
                      const int64_t *shape, const int64_t *strides, tile_error *err)
{
    if (!a) return fail_null(err, "the tile_args");
    if (!param) return fail_null(err, "the parameter's name");
    const struct MfArg *arg = find_param(a, param, err);
    if (!arg) return TILE_ERROR_ARGUMENT;
    if (arg->is_scalar)
        return fail_rule(err, TILE_ERROR_ARGUMENT, E1115, "`%s` is a scalar parameter, not a tensor", param);
    const MfTensor *p = &a->kernel->mf->tensors.v[arg->index];
    TensorArg t = {.bound = true, .address = address, .bytes = bytes};
    Report r;
    report_begin(&r, err, TILE_ERROR_ARGUMENT);
    if ((unsigned)type != p->type)
        report_rule(&r, E1102, "`%s` has type %s, the kernel's is %s", param, tile_type_name(type),
                    tile_type_name((tile_type)p->type));
    if (!shape && rank == p->rank && rank > 0) report_rule(&r, E1103, "`%s`: the shape is NULL", param);
    else if (rank != p->rank)
        report_rule(&r, E1103, "`%s` has rank %d, the kernel's is %d: %s", param, rank, p->rank,
                    a->kernel->extent_texts[arg->index]);
    else take_shape(a->kernel, p, &t, shape, strides, &r);
    if (r.lines == 0 && !t.empty) {
        if (address == 0) report_rule(&r, E1106, "`%s` has address 0", param);
        else if (address > UINT64_MAX - t.span) report_rule(&r, E1106, "`%s` runs past the end of memory", param);
        if (bytes && t.span > bytes)
            report_rule(&r, E1104, "`%s` spans %" PRIu64 " bytes, but its memory has %zu", param, t.span, bytes);
    }
    tile_status s = report_end(&r);
    if (s != TILE_OK) return s;
    TensorArg *old = &a->tensors[arg->index];
    bool same_shape;
    if (same_tensor(old, &t, p->rank, &same_shape)) return TILE_OK;
    *old = t;
    changed(a, !same_shape);
    return TILE_OK;
}

static bool scalar_fits(unsigned type, int64_t v)
{
    const ElemInfo *e = elem_info((ElemType)type);
    if (e->kind == ELEM_UINT && v < 0) return false;
    if (e->global_bits >= 63) return true;
    int64_t half = INT64_C(1) << (e->global_bits - 1);
    return e->kind == ELEM_UINT ? v < half * 2 : v >= -half && v < half;
}

tile_status tile_bind_scalar(tile_args *a, const char *param, int64_t value, tile_error *err)
{
    if (!a) return fail_null(err, "the tile_args");
    if (!param) return fail_null(err, "the parameter's name");
    const struct MfArg *arg = find_param(a, param, err);
    if (!arg) return TILE_ERROR_ARGUMENT;
    if (!arg->is_scalar)
        return fail_rule(err, TILE_ERROR_ARGUMENT, E1115, "`%s` is a tensor parameter, not a scalar", param);
    unsigned type = a->kernel->mf->scalars.v[arg->index].type;
    if (!scalar_fits(type, value))
        return fail_rule(err, TILE_ERROR_ARGUMENT, E1109, "`%s` is %" PRId64 ", which does not fit %s", param, value,
                         tile_type_name((tile_type)type));
    ScalarArg *s = &a->scalars[arg->index];
    if (!s->bound || s->value != value) changed(a, true);
    *s = (ScalarArg){true, value};
    return succeed(err);
}

static tile_status place(tile_args *a, TensorArg *t, const char *param, uint64_t address, tile_error *err)
{
    if (t->address == address || !t->bound) return TILE_OK;
    if (!t->empty && address == 0) return fail_rule(err, TILE_ERROR_ARGUMENT, E1106, "`%s` has address 0", param);
    if (!t->empty && address > UINT64_MAX - t->span)
        return fail_rule(err, TILE_ERROR_ARGUMENT, E1106, "`%s` runs past the end of memory", param);
    t->address = address;
    changed(a, false);
    return TILE_OK;
}

tile_status args_place(tile_args *a, const int64_t *where, size_t n, tile_error *err)
{
    const tile_kernel *k = a->kernel;
    tile_status s = TILE_OK;
    if (n != k->mf->args.n)
        return fail(err, TILE_ERROR_ARGUMENT, "kernel `%s` has %u parameters, not %zu", k->mf->name, (unsigned)k->mf->args.n, n);
    for (size_t i = 0; i < n && s == TILE_OK; i++) {
        const struct MfArg *arg = &k->mf->args.v[i];
        if (!arg->is_scalar) s = place(a, &a->tensors[arg->index], k->param_names[i], (uint64_t)where[i], err);
        else if (!a->scalars[arg->index].bound || a->scalars[arg->index].value != where[i])
            s = tile_bind_scalar(a, k->param_names[i], where[i], err);
    }
    return s;
}

static bool is_symbol(const LxPool *p, Lx x, uint32_t *sym)
{
    if (!x || p->nodes.v[x - 1].op != LX_SYM) return false;
    *sym = (uint32_t)p->nodes.v[x - 1].k;
    return true;
}

static void give_symbol(tile_args *a, uint32_t sym, int64_t value, const char *param, Report *r)
{
    SymValue *v = &a->sym_values[sym];
    if (!v->known) {
        *v = (SymValue){true, param};
        a->syms[sym] = value;
    } else if (a->syms[sym] != value && r) {
        report_rule(r, E1104, "%s is %" PRId64 " from `%s` but %" PRId64 " from `%s`", a->kernel->mf->syms.v[sym].name,
                    a->syms[sym], v->param, value, param);
    }
}

/* Strides of dimensions with at most one index mean nothing; they give a symbol its value only where nothing else
 * does. */
static void collect_strides(tile_args *a, bool meaningful, Report *r)
{
    const MfKernel *mf = a->kernel->mf;
    for (uint32_t i = 0; i < mf->tensors.n; i++) {
        const TensorArg *t = &a->tensors[i];
        const MfTensor *p = &mf->tensors.v[i];
        uint32_t sym;
        for (int d = 0; t->bound && p->strided && d < p->rank; d++) {
            if (!is_symbol(&mf->lx, p->stride[d], &sym) || (t->shape[d] > 1) != meaningful) continue;
            if (meaningful || !a->sym_values[sym].known) give_symbol(a, sym, t->stride[d], p->name, r);
        }
    }
}

/* Symbols from what is bound so far; conflicts are reported. r == NULL: quietly. */
static void collect_symbols(tile_args *a, Report *r)
{
    const MfKernel *mf = a->kernel->mf;
    for (uint32_t i = 0; i < mf->syms.n; i++) {
        a->sym_values[i] = (SymValue){0};
        a->syms[i] = 0;
    }
    for (uint32_t i = 0; i < mf->scalars.n; i++)
        if (a->scalars[i].bound) give_symbol(a, mf->scalars.v[i].sym, a->scalars[i].value, mf->scalars.v[i].name, r);
    for (uint32_t i = 0; i < mf->tensors.n; i++) {
        const MfTensor *p = &mf->tensors.v[i];
        uint32_t sym;
        for (int d = 0; a->tensors[i].bound && d < p->rank; d++)
            if (is_symbol(&mf->lx, p->extent[d], &sym)) give_symbol(a, sym, a->tensors[i].shape[d], p->name, r);
    }
    collect_strides(a, true, r);
    collect_strides(a, false, r);
}

tile_status args_resolve(tile_args *a, tile_error *err)
{
    const MfKernel *mf = a->kernel->mf;
    Report r;
    report_begin(&r, err, TILE_ERROR_ARGUMENT);
    for (uint32_t i = 0; i < mf->args.n; i++) {
        uint32_t index = mf->args.v[i].index;
        bool bound = mf->args.v[i].is_scalar ? a->scalars[index].bound : a->tensors[index].bound;
        if (!bound)
            report_rule(&r, E1115, "argument `%s` of kernel `%s` is missing", a->kernel->param_names[i], mf->name);
    }
    collect_symbols(a, &r);
    for (uint32_t i = 0; r.lines == 0 && i < mf->syms.n; i++)
        if (!a->sym_values[i].known) report_rule(&r, E1104, "no argument gives %s a value", mf->syms.v[i].name);
    return report_end(&r);
}

void args_compare_shapes(tile_args *a, Report *r)
{
    const MfKernel *mf = a->kernel->mf;
    for (uint32_t i = 0; i < mf->tensors.n; i++) {
        const MfTensor *p = &mf->tensors.v[i];
        const TensorArg *t = &a->tensors[i];
        for (int d = 0; d < p->rank; d++) {
            int64_t want;
            uint32_t sym;
            char what[64], from[256];
            dim_text(p->rank, d, what, sizeof what);
            if (!is_symbol(&mf->lx, p->extent[d], &sym) &&
                args_value(a, p->extent[d], r, &want, "%s of `%s`", what, p->name) && want != t->shape[d])
                report_rule(r, E1104, "`%s`: %s is %" PRId64 ", not %" PRId64 " (%s: %s)", p->name, what, t->shape[d],
                            want, a->kernel->extent_texts[i], args_symbols_of(a, p->extent[d], from, sizeof from));
            bool any = !p->strided || !p->stride[d] || t->shape[d] <= 1 || t->empty;
            if (any || is_symbol(&mf->lx, p->stride[d], &sym)) continue;
            if (args_value(a, p->stride[d], r, &want, "stride %d of `%s`", d, p->name) && want != t->stride[d])
                report_rule(r, E1105, "`%s`: stride %d is %" PRId64 ", not %" PRId64 " elements", p->name, d,
                            t->stride[d], want);
        }
    }
}

tile_status tile_symbol(tile_args *a, const char *name, int64_t *value, tile_error *err)
{
    if (!a) return fail_null(err, "the tile_args");
    if (!name) return fail_null(err, "the name");
    if (!value) return fail_null(err, "value");
    collect_symbols(a, NULL);
    const MfKernel *mf = a->kernel->mf;
    for (uint32_t i = 0; i < mf->syms.n; i++) {
        if (strcmp(mf->syms.v[i].name, name) != 0) continue;
        if (!a->sym_values[i].known)
            return fail_rule(err, TILE_ERROR_ARGUMENT, E1104, "no argument bound so far gives %s a value", name);
        *value = a->syms[i];
        return succeed(err);
    }
    return fail_rule(err, TILE_ERROR_ARGUMENT, E1104, "kernel `%s` has no size, stride or scalar named %s", mf->name,
                     name);
}
