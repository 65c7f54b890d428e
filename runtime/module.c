/* Modules: the manifest is read and judged before the driver sees the image. */
#include "lang/file.h"
#include "runtime/module.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

Heap *heap_new(const Host *host)
{
    Heap *h = host_zeros(host, 1, sizeof *h);
    if (!h) return NULL;
    h->host = host;
    h->mem = host_mem(host);
    arena_init(&h->arena, &h->mem);
    return h;
}

void heap_free(Heap *h)
{
    if (!h) return;
    h->mem.fail = NULL;
    arena_free(&h->arena);
    host_free(h->host, h);
}

static void print_extents(Text *t, const MfKernel *mf, const MfTensor *tensor, const char *const *sym_names)
{
    text_char(t, '[');
    for (int i = 0; i < tensor->rank; i++) {
        if (i) text_lit(t, ", ");
        lx_print(t, &mf->lx, tensor->extent[i], sym_names);
    }
    text_char(t, ']');
}

static size_t param_of(const MfKernel *mf, uint32_t tensor)
{
    size_t i = 0;
    while (i < mf->args.n && (mf->args.v[i].is_scalar || mf->args.v[i].index != tensor)) i++;
    return i;
}

static void describe_kernel(Heap *h, tile_module *m, tile_kernel *k, const MfKernel *mf)
{
    Arena *a = &h->arena;
    k->module = m;
    k->mf = mf;
    k->param_names = arena_array(a, const char *, mf->args.n);
    for (uint32_t i = 0; i < mf->args.n; i++) {
        uint32_t index = mf->args.v[i].index;
        k->param_names[i] = mf->args.v[i].is_scalar ? mf->scalars.v[index].name : mf->tensors.v[index].name;
    }
    picks_of_device(a, m->device, k);
    k->trusts = arena_array(a, tile_trust, mf->trusts.n);
    for (uint32_t i = 0; i < mf->trusts.n; i++)
        k->trusts[i] = (tile_trust){(tile_trust_fact)mf->trusts.v[i].fact, param_of(mf, mf->trusts.v[i].tensor)};
    const char **sym_names = arena_array(a, const char *, mf->syms.n);
    for (uint32_t i = 0; i < mf->syms.n; i++) sym_names[i] = mf->syms.v[i].name;
    k->extent_texts = arena_array(a, const char *, mf->tensors.n);
    Text t;
    for (uint32_t i = 0; i < mf->tensors.n; i++) {
        text_in(&t, a);
        print_extents(&t, mf, &mf->tensors.v[i], sym_names);
        k->extent_texts[i] = text_end(&t);
    }
    k->value_texts = arena_array(a, const char *, mf->params.n);
    for (uint32_t i = 0; i < mf->params.n; i++) {
        if (mf->params.v[i].kind != MF_PARAM_VALUE) continue;
        text_in(&t, a);
        lx_print(&t, &mf->lx, mf->params.v[i].index, sym_names);
        k->value_texts[i] = text_end(&t);
    }
}

static bool looks_like_elf(const void *image, size_t size)
{
    return size >= 4 && memcmp(image, "\177ELF", 4) == 0;
}

static const char NO_MEMORY[] = "out of memory";

/* NULL, or a sentence. On success m->manifest and m->kernels are filled. */
static const char *read_manifest(tile_module *m, const void *image, size_t size)
{
    Heap *h = m->heap;
    h->mem.fail = &h->fail;
    if (setjmp(h->fail)) {
        h->mem.fail = NULL;
        return NO_MEMORY;
    }
    const char *wrong = manifest_find(image, size, &h->arena, &m->manifest);
    if (!wrong) {
        m->kernels = arena_array(&h->arena, tile_kernel, m->manifest.kernels.n);
        for (uint32_t i = 0; i < m->manifest.kernels.n; i++)
            describe_kernel(h, m, &m->kernels[i], &m->manifest.kernels.v[i]);
    }
    h->mem.fail = NULL;
    return wrong;
}

/* Of CTAs that load so many bytes each no more are on an SM than have MF_FLIGHT on their way together: of a memory as fast as the H100's, 25.4 GB/s for each
 * SM, and in proportion of a faster one. (An H200: columns rolled in 0.93 of the time, bytes transposed in 0.96.) One loads while another one works. */
static uint32_t smem_of(const MfKernel *mf, const DeviceLimits *l)
{
    enum { SM_BANDWIDTH = 25400 };
    if (mf->deal != MF_DEAL_NONE || mf->loads == 0) return mf->smem;
    int64_t few = (MF_FLIGHT + mf->loads - 1) / mf->loads, usual = (int64_t)SM_BANDWIDTH * l->sms;
    int64_t more = usual ? (MF_FLIGHT * l->bandwidth / usual + mf->loads / 2) / mf->loads : 0;
    if (more > few) few = more;
    int64_t room = device_room(l, few > 1 ? few : 2);
    return room > mf->smem ? (uint32_t)room : mf->smem;
}

static tile_status load_function(tile_module *m, tile_kernel *k, tile_error *err)
{
    const MfKernel *mf = k->mf;
    const DeviceOps *ops = m->device->ops;
    uint32_t size = mf->cluster[0] * mf->cluster[1] * mf->cluster[2];
    k->smem = smem_of(mf, &m->device->limits);
    tile_status s = ops->function(m->device, m->handle, mf->entry, k->smem, size, &k->function, err);
    if (s != TILE_OK || (mf->deal == MF_DEAL_NONE && size == 1)) return s;
    const Launch l = {.function = k->function,
                      .cluster = {mf->cluster[0], mf->cluster[1], mf->cluster[2]},
                      .threads = mf->threads,
                      .smem = k->smem};
    return ops->resident(m->device, &l, mf->deal == MF_DEAL_NONE ? 0 : mf->per_sm, &k->resident, err);
}

static tile_status load_functions(tile_module *m, tile_error *err)
{
    for (uint32_t i = 0; i < m->manifest.kernels.n; i++) {
        tile_status s = load_function(m, &m->kernels[i], err);
        if (s != TILE_OK) return s;
    }
    return TILE_OK;
}

static tile_status load_image(tile_module *m, const char *from, const void *image, size_t size, tile_error *err)
{
    const char *wrong = read_manifest(m, image, size);
    if (wrong == NO_MEMORY) return fail(err, TILE_ERROR_MEMORY, "out of memory loading %s", from);
    if (wrong) return fail_rule(err, TILE_ERROR_MODULE, E1112, "%s: %s", from, wrong);
    const TargetInfo *target = target_find(m->manifest.target);
    if (!target)
        return fail_rule(err, TILE_ERROR_MODULE, E1112,
                         "%s: the module is for `%s`, a target that this library doesn't know", from,
                         m->manifest.target);
    char buf[512];
    bool is_ptx = !looks_like_elf(image, size);
    const char *refused = device_refuses(m->device, target, is_ptx, buf, sizeof buf);
    if (refused) return fail_rule(err, TILE_ERROR_MODULE, E1111, "%s: %s", from, refused);

    char *copy = host_resize(&m->device->host, NULL, size + 1); /* PTX must end with a 0 byte */
    if (!copy) return fail(err, TILE_ERROR_MEMORY, "out of memory");
    memcpy(copy, image, size);
    copy[size] = 0;
    tile_status s = m->device->ops->load(m->device, copy, is_ptx, &m->handle, err);
    host_free(&m->device->host, copy);
    return s == TILE_OK ? load_functions(m, err) : s;
}

static tile_status module_load(tile_device *d, const char *from, const void *image, size_t size, tile_module **out,
                               tile_error *err)
{
    *out = NULL;
    if (!d) return fail_null(err, "the device");
    if (!image && size) return fail_null(err, "the image");
    if (size == 0) return fail_rule(err, TILE_ERROR_MODULE, E1112, "%s is empty: no module", from);
    if (size > SIZE_MAX - 1) return fail(err, TILE_ERROR_ARGUMENT, "%s is too large", from);
    tile_module *m = host_zeros(&d->host, 1, sizeof *m);
    Heap *h = heap_new(&d->host);
    if (!m || !h) {
        host_free(&d->host, m);
        heap_free(h);
        return fail(err, TILE_ERROR_MEMORY, "out of memory");
    }
    m->device = d;
    m->heap = h;
    tile_status s = load_image(m, from, image, size, err);
    if (s != TILE_OK) {
        tile_module_free(m);
        return s;
    }
    host_log(&d->host, "loaded %s: %s for %s by %s, %zu kernel%s", from, looks_like_elf(image, size) ? "a cubin" : "PTX", m->manifest.target,
             m->manifest.compiler, tile_kernel_count(m), tile_kernel_count(m) == 1 ? "" : "s");
    *out = m;
    return succeed(err);
}

int module_sm(const tile_module *m)
{
    return m->device->simulates ? target_find(m->manifest.target)->sm : m->device->limits.sm;
}

tile_status tile_module_load(tile_device *d, const void *image, size_t size, tile_module **out, tile_error *err)
{
    if (!out) return fail_null(err, "out");
    return module_load(d, "the image", image, size, out, err);
}

/* Grows with what is read: the file may be a pipe. */
static tile_status read_file(const Host *host, const char *path, char **text, size_t *size, tile_error *err)
{
    const char *refused = file_refused(path, true);
    if (refused) return fail_rule(err, TILE_ERROR_ARGUMENT, E1201, "%s %s", path, refused);
    FILE *f = fopen(path, "rb");
    if (!f) return fail_rule(err, TILE_ERROR_ARGUMENT, E1201, "%s can't be opened: %s", path, strerror(errno));
    size_t n = 0, cap = 1 << 16;
    char *s = host_resize(host, NULL, cap);
    while (s) {
        n += fread(s + n, 1, cap - n, f);
        if (n < cap || n > FILE_MOST) break;
        char *bigger = host_resize(host, s, cap * 2);
        if (!bigger) host_free(host, s);
        s = bigger;
        cap *= 2;
    }
    int wrong = ferror(f) ? (errno ? errno : EIO) : 0;
    fclose(f);
    if (!s) return fail(err, TILE_ERROR_MEMORY, "out of memory reading %s", path);
    if (wrong) {
        host_free(host, s);
        return fail_rule(err, TILE_ERROR_ARGUMENT, E1201, "%s can't be read: %s", path, strerror(wrong));
    }
    if (n > FILE_MOST) {
        host_free(host, s);
        return fail_rule(err, TILE_ERROR_ARGUMENT, E1201, "%s " FILE_TOO_LARGE, path);
    }
    *text = s;
    *size = n;
    return TILE_OK;
}

tile_status tile_module_load_file(tile_device *d, const char *path, tile_module **out, tile_error *err)
{
    char *text;
    size_t size;
    if (!out) return fail_null(err, "out");
    *out = NULL;
    if (!d) return fail_null(err, "the device");
    if (!path) return fail_null(err, "the path");
    tile_status s = read_file(&d->host, path, &text, &size, err);
    if (s != TILE_OK) return s;
    s = module_load(d, path, text, size, out, err);
    host_free(&d->host, text);
    return s;
}

static tile_status compile_and_load(tile_device *d, const char *path, const char *text, size_t size,
                                    const char *const *defines, size_t ndefines, tile_module **out, tile_error *err)
{
    void *image = NULL;
    size_t image_size = 0;
    const tile_compiler *c = &d->compiler;
    tile_status s = c->compile(c->user, d->arch, d->simulates, path, text, size, defines, ndefines, &image, &image_size, err);
    if (s != TILE_OK) return s;
    s = module_load(d, path ? path : "the source", image, image_size, out, err);
    if (c->release) c->release(c->user, image);
    return s;
}

tile_status tile_module_load_source(tile_device *d, const char *path, const char *text, size_t size,
                                    const char *const *defines, size_t ndefines, tile_module **out, tile_error *err)
{
    if (!out) return fail_null(err, "out");
    *out = NULL;
    if (!d) return fail_null(err, "the device");
    if (!defines && ndefines) return fail_null(err, "the list of definitions");
    for (size_t i = 0; i < ndefines; i++)
        if (!defines[i]) return fail(err, TILE_ERROR_ARGUMENT, "definition %zu is NULL", i);
    if (!d->compiler.compile)
        return fail(err, TILE_ERROR_UNSUPPORTED,
                    "this program has no compiler for .tile source: link libtile_source and call tile_use_compiler");
    if (text) return compile_and_load(d, path, text, size, defines, ndefines, out, err);
    if (!path) return fail(err, TILE_ERROR_ARGUMENT, "neither a path nor a source text was given");
    char *file;
    tile_status s = read_file(&d->host, path, &file, &size, err);
    if (s != TILE_OK) return s;
    s = compile_and_load(d, path, file, size, defines, ndefines, out, err);
    host_free(&d->host, file);
    return s;
}

void tile_module_free(tile_module *m)
{
    if (!m) return;
    if (m->handle) m->device->ops->unload(m->device, m->handle);
    heap_free(m->heap);
    host_free(&m->device->host, m);
}

/* The first schedules of kernels are what callers see. */
size_t tile_kernel_count(const tile_module *m)
{
    size_t n = 0;
    for (uint32_t i = 0; m && i < m->manifest.kernels.n; i++) n += m->kernels[i].mf->schedule == 0;
    return n;
}

tile_kernel *tile_kernel_at(tile_module *m, size_t i)
{
    for (uint32_t k = 0; m && k < m->manifest.kernels.n; k++)
        if (m->kernels[k].mf->schedule == 0 && i-- == 0) return &m->kernels[k];
    return NULL;
}

tile_kernel *tile_kernel_find(tile_module *m, const char *name)
{
    for (uint32_t i = 0; m && name && i < m->manifest.kernels.n; i++)
        if (strcmp(m->kernels[i].mf->name, name) == 0) return &m->kernels[i];
    return NULL;
}

const char *tile_kernel_name(const tile_kernel *k)
{
    return k ? k->mf->name : "";
}

void tile_kernel_info(const tile_kernel *k, tile_kernel_facts *out)
{
    if (!out) return;
    *out = (tile_kernel_facts){.compiler = "", .target = "", .source = ""};
    if (!k) return;
    const Manifest *m = &k->module->manifest;
    const MfKernel *mf = k->mf;
    *out = (tile_kernel_facts){m->compiler,
                               m->target,
                               m->source,
                               mf->threads,
                               {mf->cluster[0], mf->cluster[1], mf->cluster[2]},
                               mf->smem,
                               k->trusts,
                               mf->trusts.n};
}

size_t tile_param_count(const tile_kernel *k)
{
    return k ? k->mf->args.n : 0;
}

tile_status tile_param_info(const tile_kernel *k, size_t i, tile_param *out)
{
    if (!out) return TILE_ERROR_ARGUMENT;
    *out = (tile_param){.name = "", .extents = ""};
    if (!k) return TILE_ERROR_ARGUMENT;
    const MfKernel *mf = k->mf;
    if (i >= mf->args.n) return TILE_ERROR_ARGUMENT;
    uint32_t index = mf->args.v[i].index;
    if (mf->args.v[i].is_scalar) {
        const MfScalar *s = &mf->scalars.v[index];
        *out = (tile_param){s->name, 1, (tile_type)s->type, 0, "", 0, 1};
    } else {
        const MfTensor *t = &mf->tensors.v[index];
        *out = (tile_param){t->name, 0, (tile_type)t->type, t->rank, k->extent_texts[index], t->written, t->read};
    }
    return TILE_OK;
}
