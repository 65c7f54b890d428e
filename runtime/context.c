/* Opening devices, and the public calls that go straight to the device's table. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/cuda_api.h"
#include "runtime/device.h"
#include "runtime/report.h"

#define TYPE(id, ...) _Static_assert((int)TILE_##id == (int)TYPE_##id, "tile_type has the order of types.def: " #id);
#include "lang/types.def"
#undef TYPE

const char *tile_status_text(tile_status s)
{
    switch (s) {
    case TILE_OK: return "ok";
    case TILE_ERROR_ARGUMENT: return "wrong argument";
    case TILE_ERROR_CHECK: return "launch check failed";
    case TILE_ERROR_MODULE: return "unusable module";
    case TILE_ERROR_SOURCE: return "errors in the source";
    case TILE_ERROR_NO_DEVICE: return "no device";
    case TILE_ERROR_DRIVER: return "driver call failed";
    case TILE_ERROR_MEMORY: return "out of memory";
    case TILE_ERROR_UNSUPPORTED: return "not supported";
    case TILE_ERROR_KERNEL: return "the kernel breaks a rule";
    }
    return "unknown status";
}

const char *tile_type_name(tile_type t)
{
    return (unsigned)t < TYPE_COUNT ? elem_info((ElemType)t)->name : "unknown type";
}

int tile_type_find(const char *name, tile_type *out)
{
    ElemType t;
    if (!name || !elem_find(name, &t)) return 0;
    if (out) *out = (tile_type)t;
    return 1;
}

int tile_type_bits(tile_type t)
{
    return (unsigned)t < TYPE_COUNT ? elem_info((ElemType)t)->global_bits : 0;
}

const char *tile_type_npy(tile_type t)
{
    return (unsigned)t < TYPE_COUNT ? elem_info((ElemType)t)->npy : "";
}

static tile_status open_cuda(const char *name, const Host *host, tile_device **out, tile_error *err)
{
    int ordinal = -1;
    if (strncmp(name, "cuda", 4) != 0 || (name[4] && name[4] != ':'))
        return fail(err, TILE_ERROR_ARGUMENT, "there is no device `%s`; devices are cuda, cuda:1, .. and sim", name);
    if (name[4]) {
        char *end;
        errno = 0;
        long n = strtol(name + 5, &end, 10);
        if (name[5] < '0' || name[5] > '9' || *end || errno || n > 1023)
            return fail(err, TILE_ERROR_ARGUMENT, "`%s` is no device number: write cuda:0, cuda:1, ..", name + 5);
        ordinal = (int)n;
    }
    CudaApi api;
    void *library = NULL;
    tile_status s = cuda_api_load(&api, &library, err);
    if (s != TILE_OK) return s;
    s = cuda_device_open(&api, library, ordinal, host, out, err);
    if (s != TILE_OK) cuda_api_unload(library);
    return s;
}

static tile_status open_named(const char *name, const Host *host, tile_device **out, tile_error *err)
{
    if (!name) {
        tile_status s = open_cuda("cuda", host, out, err);
        if (s != TILE_ERROR_NO_DEVICE) return s;
        if (err) host_log(host, "%s", err->text);
        return sim_device_open(NULL, host, out, err);
    }
    if (strcmp(name, "sim") == 0) return sim_device_open(NULL, host, out, err);
    if (strncmp(name, "sim:", 4) == 0) return sim_device_open(name + 4, host, out, err);
    return open_cuda(name, host, out, err);
}

tile_status tile_device_open_with(const char *name, const tile_options *opt, tile_device **out, tile_error *err)
{
    tile_options o = {.struct_size = 0};
    if (!out) return fail_null(err, "out");
    *out = NULL;
    if (opt && opt->struct_size < sizeof opt->struct_size)
        return fail(err, TILE_ERROR_ARGUMENT, "struct_size of the options is %zu: set it to sizeof(tile_options)", opt->struct_size);
    if (opt) memcpy(&o, opt, opt->struct_size < sizeof o ? opt->struct_size : sizeof o);
    const Host host = {o.realloc, o.log, o.user};
    tile_status s = open_named(name, &host, out, err);
    if (s == TILE_OK) host_log(&host, "opened %s", (*out)->name);
    return s;
}

tile_status tile_device_open(const char *name, tile_device **out, tile_error *err)
{
    return tile_device_open_with(name, NULL, out, err);
}

void tile_device_close(tile_device *d)
{
    if (d) d->ops->close(d);
}

const char *tile_device_name(const tile_device *d)
{
    return d ? d->name : "";
}

const char *tile_device_arch(const tile_device *d)
{
    return d ? d->arch : NULL;
}

const char *tile_device_gpu(const tile_device *d)
{
    return d ? d->gpu : "";
}

int tile_device_simulates(const tile_device *d)
{
    return d && d->simulates;
}

void tile_device_use_compiler(tile_device *d, const tile_compiler *compiler)
{
    if (d) d->compiler = compiler ? *compiler : (tile_compiler){0};
}

tile_status tile_alloc(tile_device *d, size_t bytes, uint64_t *address, tile_error *err)
{
    if (!address) return fail_null(err, "address");
    *address = 0;
    if (!d) return fail_null(err, "the device");
    return bytes ? d->ops->alloc(d, bytes, address, err) : succeed(err);
}

tile_status tile_release(tile_device *d, uint64_t address, tile_error *err)
{
    if (!d) return fail_null(err, "the device");
    return address ? d->ops->release(d, address, err) : succeed(err);
}

tile_status tile_write(tile_device *d, uint64_t to, const void *from, size_t bytes, tile_error *err)
{
    if (!d) return fail_null(err, "the device");
    if (!from && bytes) return fail_null(err, "from");
    return bytes ? d->ops->write(d, to, from, bytes, err) : succeed(err);
}

tile_status tile_read(tile_device *d, void *to, uint64_t from, size_t bytes, tile_error *err)
{
    if (!d) return fail_null(err, "the device");
    if (!to && bytes) return fail_null(err, "to");
    return bytes ? d->ops->read(d, to, from, bytes, err) : succeed(err);
}

tile_status tile_copy(tile_device *d, uint64_t to, uint64_t from, size_t bytes, void *stream, tile_error *err)
{
    if (!d) return fail_null(err, "the device");
    return bytes ? d->ops->copy(d, to, from, bytes, stream, err) : succeed(err);
}

tile_status tile_synchronize(tile_device *d, void *stream, tile_error *err)
{
    if (!d) return fail_null(err, "the device");
    return d->ops->synchronize(d, stream, err);
}

const char *device_best_arch(int sm)
{
    const TargetInfo *best = NULL;
    for (size_t i = 0; i < target_count(); i++) {
        const TargetInfo *t = target_at(i);
        if (t->suffix == 'a' && t->sm == sm) return t->name;
        if (t->suffix == 0 && t->sm <= sm && (!best || t->sm > best->sm)) best = t;
    }
    return best ? best->name : NULL;
}

const char *device_refuses(const tile_device *d, const TargetInfo *target, bool is_ptx, char *buf, size_t size)
{
    if (d->simulates) return NULL;
    int have = d->limits.sm, need = have == target->sm ? have : target_today(target)->sm;
    /* PTX ISA, ".target": code with suffix `a` runs on that architecture only, with `f` on later ones of its family,
     * without a suffix on all later ones; machine code of a base target stays within its major version. */
    bool family = have / 10 == need / 10 && have >= need;
    bool ok = target->suffix == 'a' ? have == need : target->suffix == 'f' || !is_ptx ? family : have >= need;
    if (ok) return NULL;
    const char *runs = target->suffix == 'a'              ? " only"
                       : target->suffix == 'f' || !is_ptx ? " and later of that family"
                                                          : " and later";
    snprintf(buf, size, "the module is for %s, which runs on compute capability %d.%d%s, but %s has %d.%d",
             target->name, need / 10, need % 10, runs, d->name, have / 10, have % 10);
    return buf;
}
