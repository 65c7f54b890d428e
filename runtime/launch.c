/* From bound arguments to a launch: the steps of module.h, each only when something that it depends on has changed. */
#include "runtime/module.h"

/* Nothing to write, or no CTA to run: the launch has no effect. */
static bool writes_nothing(const tile_args *a)
{
    const MfKernel *mf = a->kernel->mf;
    bool any = false;
    for (uint32_t i = 0; i < mf->tensors.n; i++) {
        if (!mf->tensors.v[i].written) continue;
        if (!a->tensors[i].empty) return false;
        any = true;
    }
    return any; /* a kernel that writes no tensor at all (prefetch only) still runs */
}

static void fill_params(tile_args *a, Report *r)
{
    const MfKernel *mf = a->kernel->mf;
    for (uint32_t i = 0; i < mf->params.n; i++) {
        uint32_t index = mf->params.v[i].index;
        int64_t v;
        switch ((MfParamKind)mf->params.v[i].kind) {
        case MF_PARAM_MAP: a->launch.params[i] = a->maps[index]; continue;
        case MF_PARAM_ADDRESS: a->words[i] = a->tensors[index].address; break;
        case MF_PARAM_VALUE:
            if (args_value(a, index, r, &v, "`%s`, which the kernel uses,", a->kernel->value_texts[i])) a->words[i] = (uint64_t)v;
            break;
        case MF_PARAM_COUNTER: break;
        case MF_PARAM_HINTS: a->words[i] = 0; break;
        }
        a->launch.params[i] = &a->words[i];
    }
}

static tile_status size_up(tile_args *a, Report *r, tile_error *err)
{
    tile_status s = args_resolve(a, err);
    if (s != TILE_OK) return s;
    a->nothing = writes_nothing(a);
    if (!a->nothing) {
        args_check_sizes(a, r);
        if (r->lines == 0 && (a->launch.grid[0] == 0 || a->launch.grid[1] == 0 || a->launch.grid[2] == 0))
            a->nothing = true;
    }
    a->sized = r->lines == 0;
    return TILE_OK;
}

/* All that is wrong with sizes, places and maps is listed together; the driver is called only when nothing is. */
static tile_status prepare(tile_args *a, tile_error *err)
{
    Report r;
    tile_status s = TILE_OK;
    report_begin(&r, err, TILE_ERROR_CHECK);
    if (!a->sized) s = size_up(a, &r, err);
    if (s != TILE_OK) return s;
    if (!a->nothing) {
        args_check_places(a, &r);
        s = args_encode_maps(a, &r, err);
        if (s != TILE_OK) return s;
        if (r.lines == 0) fill_params(a, &r);
    }
    s = report_end(&r);
    a->ready = s == TILE_OK;
    return s;
}

static tile_status launch(tile_args *a, void *stream, tile_error *err)
{
    tile_device *d = a->kernel->module->device;
    return a->nothing ? TILE_OK : d->ops->launch(d, &a->launch, stream, err);
}

tile_status tile_launch(tile_args *a, void *stream, tile_error *err)
{
    if (!a) return fail(err, TILE_ERROR_ARGUMENT, "the arguments are NULL");
    if (!a->ready) {
        tile_status s = prepare(a, err);
        if (s != TILE_OK) return s;
    }
    tile_status s = launch(a, stream, err);
    return s == TILE_OK ? succeed(err) : s;
}

tile_status tile_time(tile_args *a, void *stream, int repeats, double *milliseconds, tile_error *err)
{
    *milliseconds = 0;
    if (!a) return fail(err, TILE_ERROR_ARGUMENT, "the arguments are NULL");
    if (!a->ready) {
        tile_status s = prepare(a, err);
        if (s != TILE_OK) return s;
    }
    if (a->nothing || repeats <= 0) return succeed(err);
    tile_device *d = a->kernel->module->device;
    void *timer;
    tile_status s = d->ops->timer_start(d, stream, &timer, err);
    if (s != TILE_OK) return s;
    for (int i = 0; s == TILE_OK && i < repeats; i++) s = launch(a, stream, err);
    double ms = 0;
    tile_error e;
    tile_status stopped = d->ops->timer_stop(d, stream, timer, &ms, &e);
    if (s != TILE_OK) return s;
    if (stopped != TILE_OK) return fail(err, stopped, "%s", e.text);
    *milliseconds = ms;
    return succeed(err);
}
