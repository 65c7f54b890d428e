/* From bound arguments to a launch: the steps of module.h, each only when something that it depends on has changed. */
#include "runtime/module.h"

#include <string.h>

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

/* Measured on the H200: hints gain 1.5 % of a kernel's time, and the next kernel, which finds less of what this one
 * wrote in the L2, takes up to 1.5 us longer. They pay in kernels of 100 us or more; in that time 8 times what the L2
 * holds is moved. What can't be counted in 64 bits is more. */
static bool wants_hints(const tile_args *a)
{
    Lx x = a->kernel->mf->traffic;
    if (x == 0) return false;
    if (a->status[x - 1] != LX_OK) return a->status[x - 1] == LX_OVERFLOW;
    return a->values[x - 1] > 0 && (a->values[x - 1] - 1) / MF_HINTS_L2 >= a->kernel->module->device->limits.l2;
}

/* Shared memory of a CTA. Of a CTA for each iteration as many begin at once as an SM has room for: out of the L2 all of them load, then all store. Of
 * fewer, for which each asks for more memory, some load while others store; best are two turns. 8 and 16 MB take 0.83 to 1.01 of the time on the H100, in the
 * mean 0.92, on the H200 0.87 to 1.07, in the mean 0.98. Where one turn is enough no SM has more of them than its share, and those of the next launch come when
 * they leave: 4 MB take 0.93 to 1.01 of the time. What goes through DRAM gains nothing, and small launches lose. A CTA that has an SM for itself asks for
 * 32 KB: fewer of the next launch find room beside it, which takes 0.98 of the time from 4 to 256 KB, with 47 KB no less. */
static uint32_t room_of(const tile_args *a)
{
    enum { LEAST = 80 << 10, ALONE = 32 << 10 }; /* LEAST: bytes that the CTAs of an SM move together; below one and a half times that a turn is enough */
    const MfKernel *mf = a->kernel->mf;
    uint32_t own = a->kernel->smem;
    const DeviceLimits *l = &a->kernel->module->device->limits;
    const uint32_t *grid = a->launch.grid;
    Lx x = mf->traffic;
    int64_t ctas = (int64_t)grid[0] * grid[1] * grid[2];
    if (mf->deal != MF_DEAL_NONE || mf->cluster[0] * mf->cluster[1] * mf->cluster[2] > 1) return own;
    if (ctas <= l->sms) return own > ALONE || own == 0 ? own : ALONE;
    if (x == 0 || a->status[x - 1] != LX_OK) return own;
    int64_t moved = a->values[x - 1];
    if (moved < ctas || moved > l->l2 / 3 * 2) return own; /* a byte each, at least: no overflow below */
    int64_t share = moved / l->sms, few = ((share > 2 * LEAST ? share / 2 : LEAST) * ctas + moved - 1) / moved;
    if (share < LEAST / 2) return own;
    if (share < LEAST / 2 * 3) few = (ctas + l->sms - 1) / l->sms;
    int64_t room = device_room(l, few);
    return room > own && room <= UNASKED_SMEM ? (uint32_t)room : own;
}

static void fill_params(tile_args *a, Report *r)
{
    const MfKernel *mf = a->kernel->mf;
    a->launch.ncounters = 0;
    a->launch.maps = NULL;
    for (uint32_t i = 0; i < mf->params.n; i++) {
        uint32_t index = mf->params.v[i].index;
        int64_t v;
        switch ((MfParamKind)mf->params.v[i].kind) {
        case MF_PARAM_MAP: a->launch.params[i] = a->maps[index]; continue;
        case MF_PARAM_ADDRESS: a->words[i] = a->tensors[index].address; break;
        case MF_PARAM_VALUE:
            if (args_value(a, index, r, &v, "`%s`, which the kernel uses,", a->kernel->value_texts[i])) a->words[i] = (uint64_t)v;
            break;
        case MF_PARAM_COUNTER: a->launch.counters[a->launch.ncounters++] = &a->words[i]; break;
        case MF_PARAM_HINTS: a->words[i] = wants_hints(a); break;
        case MF_PARAM_MAPS:
            a->launch.maps = &a->words[i];
            a->launch.maps_bytes = (uint64_t)index * a->launch.grid[0] * a->launch.grid[1] * a->launch.grid[2];
            break;
        }
        a->launch.params[i] = &a->words[i];
    }
}

static tile_status size_up(tile_args *a, Report *r, tile_error *err)
{
    tile_status s = a->resolved ? TILE_OK : args_resolve(a, err);
    if (s != TILE_OK) return s;
    a->resolved = false;
    a->sizes++;
    a->nothing = writes_nothing(a);
    if (!a->nothing) {
        args_check_sizes(a, r);
        if (r->lines == 0 && (a->launch.grid[0] == 0 || a->launch.grid[1] == 0 || a->launch.grid[2] == 0))
            a->nothing = true;
    }
    a->sized = r->lines == 0;
    if (a->sized && !a->nothing) a->launch.smem = room_of(a);
    const uint32_t *grid = a->launch.grid;
    if (a->sized && a->nothing) host_log(&a->kernel->module->device->host, "%s: nothing to launch", a->kernel->mf->name);
    else if (a->sized)
        host_log(&a->kernel->module->device->host, "%s: %u x %u x %u CTAs of %u threads and %u bytes of shared memory", a->kernel->mf->name,
                 (unsigned)grid[0], (unsigned)grid[1], (unsigned)grid[2], (unsigned)a->launch.threads, (unsigned)a->launch.smem);
    return TILE_OK;
}

/* All that is wrong with sizes, and where facts hold with places and maps, is listed together; the driver is called only when nothing is. */
static tile_status prepare(tile_args *a, tile_error *err)
{
    Report r;
    tile_status s = TILE_OK;
    report_begin(&r, err, TILE_ERROR_CHECK);
    if (!a->sized) s = size_up(a, &r, err);
    if (s != TILE_OK) return s;
    if (!a->nothing && !r.facts) {
        args_check_places(a, &r);
        s = args_encode_maps(a, &r, err);
        if (s != TILE_OK) return s;
        if (r.lines == 0) fill_params(a, &r);
    }
    s = report_end(&r);
    a->ready = s == TILE_OK;
    return s;
}

/* *a becomes what is launched: the arguments of the schedule that this launch takes. */
static tile_status make_ready(tile_args **a, tile_error *err)
{
    tile_status s = args_take(*a, a, err);
    return s != TILE_OK || (*a)->ready ? s : prepare(*a, err);
}

static tile_status launch(tile_args *a, void *stream, tile_error *err)
{
    tile_device *d = a->kernel->module->device;
    if (a->nothing) return TILE_OK;
    tile_status s = d->simulates ? args_check_trusts(a, false, err) : TILE_OK; /* a GPU would have to be waited for */
    return s == TILE_OK ? d->ops->launch(d, &a->launch, stream, err) : s;
}

tile_status tile_launch(tile_args *a, void *stream, tile_error *err)
{
    if (!a) return fail_null(err, "the tile_args");
    tile_status s = make_ready(&a, err);
    if (s == TILE_OK) s = launch(a, stream, err);
    return s == TILE_OK ? succeed(err) : s;
}

tile_status tile_launch_at(tile_args *a, const int64_t *where, size_t n, void *stream, tile_error *err)
{
    if (!a) return fail_null(err, "the tile_args");
    if (!where && n > 0) return fail_null(err, "where the arguments are");
    tile_status s = args_place(a, where, n, err);
    return s == TILE_OK ? tile_launch(a, stream, err) : s;
}

tile_status tile_check_trusts(tile_args *a, int distinct, tile_error *err)
{
    if (!a) return fail_null(err, "the tile_args");
    tile_status s = make_ready(&a, err);
    if (s == TILE_OK && !a->nothing) s = args_check_trusts(a, distinct != 0, err);
    return s == TILE_OK ? succeed(err) : s;
}

static void tell_pick(const MfPick *p, tile_launch_facts *out)
{
    static const char *const MEASURES[MF_MEASURES] = {[MF_BYTES] = "bytes", [MF_L2] = "L2", [MF_CTAS] = "CTAs", [MF_SM_BYTES] = "bytes per SM"};
    if (!p) return;
    out->pick = MEASURES[p->measure];
    out->pick_least = p->least;
    out->picked_for_gpu = p->gpu[0] != 0;
}

tile_status tile_launch_info(tile_args *a, tile_launch_facts *out, tile_error *err)
{
    const tile_args *first = a;
    if (!out) return fail_null(err, "out");
    *out = (tile_launch_facts){.hints = -1};
    if (!a) return fail_null(err, "the tile_args");
    tile_status s = make_ready(&a, err);
    if (s != TILE_OK) return s;
    const MfKernel *mf = a->kernel->mf;
    if (a->nothing) return succeed(err);
    memcpy(out->grid, a->launch.grid, sizeof out->grid);
    out->schedule = mf->schedule;
    out->schedules = mf->schedules ? mf->schedules : 1;
    tell_pick(first->pick, out);
    out->threads = mf->threads;
    out->smem = a->launch.smem;
    if (mf->deal != MF_DEAL_NONE) {
        out->deal = mf->deal == MF_DEAL_TICKET ? "ticket" : "static";
        out->iterations = a->values[mf->teams - 1];
        out->teams = a->launch.grid[0] / mf->cluster[0];
        out->per_sm = mf->per_sm;
    }
    out->counters = (int)a->launch.ncounters;
    for (uint32_t i = 0; i < mf->params.n; i++)
        if (mf->params.v[i].kind == MF_PARAM_HINTS) out->hints = a->words[i] != 0;
    out->traffic = mf->traffic && a->status[mf->traffic - 1] == LX_OK ? a->values[mf->traffic - 1] : 0;
    out->l2 = a->kernel->module->device->limits.l2;
    return succeed(err);
}

tile_status tile_time(tile_args *a, void *stream, int repeats, double *milliseconds, tile_error *err)
{
    if (!milliseconds) return fail_null(err, "milliseconds");
    *milliseconds = 0;
    if (!a) return fail_null(err, "the tile_args");
    tile_status s = make_ready(&a, err);
    if (s != TILE_OK) return s;
    if (a->nothing || repeats <= 0) return succeed(err);
    tile_device *d = a->kernel->module->device;
    void *timer;
    s = d->ops->timer_start(d, stream, &timer, err);
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
