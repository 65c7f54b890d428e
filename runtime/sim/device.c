/* The device behind the simulator: libtile's table of functions over sim_run. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "runtime/device.h"
#include "runtime/report.h"
#include "runtime/sim/device_options.h"
#include "runtime/sim/machine.h"
#include "runtime/sim/watch/watch.h"

typedef struct SimDevice {
    tile_device base;
    pthread_mutex_t lock; /* every function takes it: one launch at a time */
    SimMemory memory;
    SimOptions options;
    uint64_t steps; /* of all launches */
    char *trace;
    SimBlock *maps;     /* that kernels make, the same; */
    uint64_t maps_bytes;
    SimBlock *counters; /* of tickets, for all launches: they run one after the other. NULL: not needed yet */
} SimDevice;

enum { SIM_THREADS_PER_SM = 2048, COUNTER_BYTES = 4 * MF_COUNTERS };

typedef struct Loaded { /* a module */
    Mem mem;
    jmp_buf fail;
    Arena arena;
    char *text;
    const SimModule *module;
    SimBlock **globals;
} Loaded;

typedef struct Function {
    const Loaded *loaded;
    const SimProgram *program;
} Function;

static tile_status no_memory(tile_error *err)
{
    return fail(err, TILE_ERROR_MEMORY, "out of memory");
}

/* ---- memory ---- */

static tile_status sim_device_alloc(tile_device *d, size_t bytes, uint64_t *address, tile_error *err)
{
    SimDevice *s = (SimDevice *)d;
    pthread_mutex_lock(&s->lock);
    SimBlock *b = sim_alloc(&s->memory, bytes);
    if (b) *address = b->address;
    uint64_t used = s->memory.used, limit = s->memory.limit;
    pthread_mutex_unlock(&s->lock);
    if (b) return succeed(err);
    return fail_rule(err, TILE_ERROR_MEMORY, E1321,
                     "the simulator can't allocate %zu bytes: %" PRIu64 " of %" PRIu64 " are in use", bytes, used,
                     limit);
}

static tile_status sim_device_release(tile_device *d, uint64_t address, tile_error *err)
{
    SimDevice *s = (SimDevice *)d;
    pthread_mutex_lock(&s->lock);
    bool ok = sim_release(&s->memory, address);
    pthread_mutex_unlock(&s->lock);
    if (ok) return succeed(err);
    return fail_rule(err, TILE_ERROR_ARGUMENT, E1313, "no allocation of the simulator starts at 0x%" PRIx64, address);
}

static void sim_device_unread(tile_device *d, uint64_t address)
{
    SimDevice *s = (SimDevice *)d;
    pthread_mutex_lock(&s->lock);
    SimBlock *b = sim_find(&s->memory, address, 1, NULL);
    if (b) b->unread = address - b->address;
    pthread_mutex_unlock(&s->lock);
}

/* The bytes of a range that lies in one allocation; NULL after the error was filled. */
static uint8_t *host_bytes(SimDevice *s, uint64_t address, size_t bytes, tile_error *err)
{
    SimBlock *b = sim_find(&s->memory, address, bytes, NULL);
    if (b) return b->data + (address - b->address);
    fail_rule(err, TILE_ERROR_ARGUMENT, E1313, "%zu bytes at 0x%" PRIx64 " are in no allocation of the simulator",
              bytes, address);
    return NULL;
}

static tile_status sim_device_write(tile_device *d, uint64_t to, const void *from, size_t bytes, tile_error *err)
{
    SimDevice *s = (SimDevice *)d;
    pthread_mutex_lock(&s->lock);
    uint8_t *at = host_bytes(s, to, bytes, err);
    if (at) memcpy(at, from, bytes);
    pthread_mutex_unlock(&s->lock);
    return at ? succeed(err) : TILE_ERROR_ARGUMENT;
}

static tile_status sim_device_read(tile_device *d, void *to, uint64_t from, size_t bytes, tile_error *err)
{
    SimDevice *s = (SimDevice *)d;
    pthread_mutex_lock(&s->lock);
    const uint8_t *at = host_bytes(s, from, bytes, err);
    if (at) memcpy(to, at, bytes);
    pthread_mutex_unlock(&s->lock);
    return at ? succeed(err) : TILE_ERROR_ARGUMENT;
}

static tile_status sim_device_copy(tile_device *d, uint64_t to, uint64_t from, size_t bytes, void *stream, tile_error *err)
{
    SimDevice *s = (SimDevice *)d;
    (void)stream;
    pthread_mutex_lock(&s->lock);
    const uint8_t *source = host_bytes(s, from, bytes, err);
    uint8_t *at = source ? host_bytes(s, to, bytes, err) : NULL;
    if (at) memmove(at, source, bytes);
    pthread_mutex_unlock(&s->lock);
    return at ? succeed(err) : TILE_ERROR_ARGUMENT;
}

static tile_status sim_device_synchronize(tile_device *d, void *stream, tile_error *err)
{
    (void)d;
    (void)stream;
    return succeed(err); /* launches are over when they return */
}

/* ---- modules ---- */

typedef struct Problems { /* of a PTX text, on their way into the error */
    Report *report;
} Problems;

static void add_problem(void *user, uint32_t line, const char *text)
{
    report_rule(((Problems *)user)->report, E1418, "PTX line %" PRIu32 ": %s", line, text);
}

static void unload(SimDevice *s, Loaded *l)
{
    if (!l) return;
    for (uint32_t i = 0; l->globals && i < l->module->nglobals; i++)
        if (l->globals[i]) sim_release(&s->memory, l->globals[i]->address);
    l->mem.fail = NULL;
    arena_free(&l->arena);
    host_free(&s->base.host, l->text);
    host_free(&s->base.host, l);
}

static bool place_globals(SimDevice *s, Loaded *l)
{
    const SimModule *m = l->module;
    l->globals = arena_array(&l->arena, SimBlock *, m->nglobals);
    for (uint32_t i = 0; i < m->nglobals; i++) {
        const SimGlobal *g = &m->globals[i];
        SimBlock *b = sim_alloc(&s->memory, g->bytes ? g->bytes : 1);
        if (!b) return false;
        l->globals[i] = b;
        b->read_only = g->is_const;
        if (g->init) memcpy(b->data, g->init, g->bytes);
    }
    return true;
}

static tile_status read_module(SimDevice *s, Loaded *l, size_t size, tile_error *err)
{
    Report r;
    report_begin(&r, err, TILE_ERROR_MODULE);
    Problems p = {&r};
    l->mem.fail = &l->fail;
    if (setjmp(l->fail)) {
        l->mem.fail = NULL;
        return no_memory(err);
    }
    arena_init(&l->arena, &l->mem);
    uint32_t problems = 0;
    const PtxModule *ptx = ptx_read(&l->arena, l->text, size, add_problem, &p, &problems);
    if (ptx && problems == 0) l->module = sim_decode(&l->arena, ptx, add_problem, &p, &problems);
    bool placed = l->module && place_globals(s, l);
    l->mem.fail = NULL;
    if (l->module && placed) return succeed(err);
    if (l->module)
        return fail_rule(err, TILE_ERROR_MEMORY, E1321,
                         "the variables of the module do not fit: %" PRIu64 " of %" PRIu64 " bytes are in use",
                         s->memory.used, s->memory.limit);
    if (r.lines == 0) report_rule(&r, E1418, "the PTX can't be read");
    return report_end(&r);
}

static tile_status sim_device_load(tile_device *d, const void *image, bool is_ptx, void **module, tile_error *err)
{
    SimDevice *s = (SimDevice *)d;
    if (!is_ptx)
        return fail_rule(err, TILE_ERROR_MODULE, E1418,
                         "the simulator runs PTX, and this is machine code: give it the .tile source or the .ptx");
    size_t size = strlen(image);
    Loaded *l = host_zeros(&d->host, 1, sizeof *l);
    if (l) l->text = host_resize(&d->host, NULL, size + 1);
    if (!l || !l->text) {
        host_free(&d->host, l);
        return no_memory(err);
    }
    memcpy(l->text, image, size + 1);
    l->mem = host_mem(&d->host);
    pthread_mutex_lock(&s->lock);
    tile_status status = read_module(s, l, size, err);
    if (status == TILE_OK) *module = l;
    else unload(s, l);
    pthread_mutex_unlock(&s->lock);
    return status;
}

static void sim_device_unload(tile_device *d, void *module)
{
    SimDevice *s = (SimDevice *)d;
    pthread_mutex_lock(&s->lock);
    unload(s, module);
    pthread_mutex_unlock(&s->lock);
}

static tile_status sim_device_variable(tile_device *d, void *module, const char *name, size_t bytes, uint64_t *address,
                                       tile_error *err)
{
    (void)d;
    const Loaded *l = module;
    for (uint32_t i = 0; i < l->module->nglobals; i++) {
        const SimGlobal *g = &l->module->globals[i];
        if (strcmp(g->name, name) != 0 || g->bytes != bytes) continue;
        *address = l->globals[i]->address;
        return succeed(err);
    }
    return fail(err, TILE_ERROR_ARGUMENT, "the PTX has no variable `%s` of %zu bytes", name, bytes);
}

static tile_status sim_device_function(tile_device *d, void *module, const char *entry, uint32_t smem,
                                       uint32_t cluster_size, void **function, tile_error *err)
{
    SimDevice *s = (SimDevice *)d;
    Loaded *l = module;
    (void)cluster_size;
    const SimProgram *p = sim_program(l->module, entry);
    if (!p) return fail_rule(err, TILE_ERROR_MODULE, E1112, "the PTX has no entry `%s`", entry);
    uint64_t bytes = (uint64_t)p->static_smem + smem;
    if (bytes > l->module->target->smem_per_cta)
        return fail(err, TILE_ERROR_MODULE, "`%s` needs %" PRIu64 " bytes of shared memory, %s has %" PRIu32, entry,
                    bytes, l->module->target->name, l->module->target->smem_per_cta);
    pthread_mutex_lock(&s->lock);
    l->mem.fail = &l->fail;
    Function *volatile f = NULL;
    if (!setjmp(l->fail)) {
        Function *made = arena_new(&l->arena, Function);
        *made = (Function){l, p};
        f = made;
    }
    l->mem.fail = NULL;
    pthread_mutex_unlock(&s->lock);
    *function = f;
    return f ? succeed(err) : no_memory(err);
}

static tile_status sim_device_encode_map(tile_device *d, const MapDesc *desc, const MapMemory *memory, void *map,
                                         tile_error *err)
{
    (void)d;
    (void)memory;
    sim_map_encode(desc, map);
    return succeed(err);
}

/* Any cluster fits, and two of them meet, however few the SMs are. */
static tile_status sim_device_resident(tile_device *d, const Launch *l, uint32_t per_sm, uint32_t *teams,
                                       tile_error *err)
{
    const DeviceLimits *limits = &d->limits;
    uint32_t size = l->cluster[0] * l->cluster[1] * l->cluster[2], sms = (uint32_t)limits->sms, fit = per_sm;
    *teams = 0;
    if (l->threads > (uint32_t)limits->max_threads || l->smem > (uint32_t)limits->max_smem) return succeed(err);
    if (!fit || fit > SIM_THREADS_PER_SM / l->threads) fit = SIM_THREADS_PER_SM / l->threads;
    if (l->smem && fit > (uint32_t)limits->max_smem / l->smem) fit = (uint32_t)limits->max_smem / l->smem;
    uint32_t least = sms < 2 || size == 1 ? 1 : 2;
    *teams = sms * fit / size > least ? sms * fit / size : least;
    return succeed(err);
}

/* ---- launches ---- */

/* Do results depend on the order of additions, as they may on hardware? */
static bool order_matters(const SimProgram *p)
{
    for (uint32_t i = 0; i < p->nops; i++) {
        const SimOp *op = &p->ops[i];
        bool is_float = op->type == PTX_F16 || op->type == PTX_F16X2 || op->type == PTX_BF16 ||
                        op->type == PTX_BF16X2 || op->type == PTX_F32 || op->type == PTX_F64;
        if ((op->code == SIM_ATOM && is_float && op->n == RED_ADD) || (p->places && p->places[i].any_order)) return true;
    }
    for (uint32_t i = 0; i < p->nforms; i++) {
        const FormOp *f = &p->forms[i];
        if (f->form == FORM_TMA_REDUCE_TILE || f->form == FORM_TMA_REDUCE_IM2COL) return true;
        if (f->form == FORM_BULK_REDUCE && f->op == RED_ADD && f->type >= PTX_F16) return true;
    }
    return false;
}

typedef struct Snapshot { /* contents of all allocations, for schedules that start alike */
    uint8_t **bytes;
    uint32_t n;
} Snapshot;

static void snapshot_free(Snapshot *s, const Host *host)
{
    for (uint32_t i = 0; s->bytes && i < s->n; i++) host_free(host, s->bytes[i]);
    host_free(host, s->bytes);
    *s = (Snapshot){0};
}

static bool snapshot_take(Snapshot *s, const SimMemory *m)
{
    s->n = m->n;
    s->bytes = host_zeros(m->host, m->n + (size_t)1, sizeof *s->bytes);
    for (uint32_t i = 0; s->bytes && i < m->n; i++) {
        if (m->blocks[i]->read_only) continue;
        s->bytes[i] = host_resize(m->host, NULL, m->blocks[i]->bytes);
        if (!s->bytes[i]) {
            snapshot_free(s, m->host);
            return false;
        }
        memcpy(s->bytes[i], m->blocks[i]->data, m->blocks[i]->bytes);
    }
    return s->bytes != NULL;
}

static void snapshot_restore(const Snapshot *s, const SimMemory *m)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (s->bytes[i]) memcpy(m->blocks[i]->data, s->bytes[i], m->blocks[i]->bytes);
}

/* Which CTA makes which maps is a matter of the schedule. */
static uint64_t hash_memory(const SimDevice *s)
{
    const SimMemory *m = &s->memory;
    uint64_t h = 0;
    for (uint32_t i = 0; i < m->n; i++)
        if (!m->blocks[i]->read_only && m->blocks[i] != s->maps) h = XXH64(m->blocks[i]->data, m->blocks[i]->bytes, h);
    return h;
}

static tile_status report_outcome(const SimOutcome *o, bool replay, uint64_t seed, tile_error *err)
{
    if (o->ok && o->text[0]) return fail_rule(err, TILE_ERROR_ARGUMENT, E1202, "can't write the trace %s", o->text);
    if (o->ok) return TILE_OK;
    if (replay)
        return fail_rule(err, TILE_ERROR_KERNEL, o->code, "%s\n  replay: --sim=check --seed=%" PRIu64, o->text, seed);
    return fail_rule(err, TILE_ERROR_KERNEL, o->code, "%s", o->text);
}

/* Every schedule starts from the same memory; the last one's results stay. */
static tile_status fuzz(SimDevice *s, const SimLaunch *l, tile_error *err)
{
    Snapshot before = {0};
    if (!snapshot_take(&before, &s->memory)) return no_memory(err);
    tile_status status = TILE_OK;
    uint64_t first = 0;
    bool compare = !order_matters(l->program);
    for (uint32_t i = 0; status == TILE_OK && i < s->options.schedules; i++) {
        uint64_t seed = s->options.seed + i;
        SimOutcome o;
        if (i > 0) snapshot_restore(&before, &s->memory);
        sim_run(l, &s->memory, &s->options, seed, &o);
        s->steps += o.stats.steps;
        status = report_outcome(&o, true, seed, err);
        if (status != TILE_OK || !compare) continue;
        uint64_t hash = hash_memory(s);
        if (i == 0) first = hash;
        else if (hash != first)
            status = fail_rule(err, TILE_ERROR_KERNEL, E1326,
                               "kernel `%s` leaves other bytes in memory under --seed=%" PRIu64
                               " than under --seed=%" PRIu64,
                               sim_kernel_name(l), seed, s->options.seed);
    }
    snapshot_free(&before, &s->base.host);
    return status;
}

/* The text may be another one than its manifest was made with. */
static bool takes_params(const SimProgram *p, const MfKernel *k)
{
    bool same = !k || p->nparams == k->params.n;
    for (uint32_t i = 0; k && same && i < p->nparams; i++) same = p->params[i].bytes == (k->params.v[i].kind == MF_PARAM_MAP ? SIM_MAP_BYTES : 8);
    return same;
}

static tile_status run(SimDevice *s, const Launch *l, uint8_t *params, tile_error *err)
{
    const Function *f = l->function;
    const SimProgram *p = f->program;
    if (!takes_params(p, l->kernel))
        return fail_rule(err, TILE_ERROR_MODULE, E1112, "entry `%s` takes other parameters than the manifest says", p->name);
    for (uint32_t i = 0; i < p->nparams; i++) memcpy(params + p->params[i].offset, l->params[i], p->params[i].bytes);
    SimLaunch launch = {.module = f->loaded->module,
                        .program = p,
                        .threads = l->threads,
                        .smem = l->smem,
                        .dependent = l->dependent,
                        .params = params,
                        .kernel = l->kernel,
                        .globals = f->loaded->globals};
    for (int i = 0; i < 3; i++) {
        launch.grid[i] = l->grid[i];
        launch.cluster[i] = l->cluster[i] ? l->cluster[i] : 1;
    }
    if (s->options.mode == SIM_FUZZ) return fuzz(s, &launch, err);
    SimOutcome o;
    sim_run(&launch, &s->memory, &s->options, s->options.seed, &o);
    s->steps += o.stats.steps;
    return report_outcome(&o, s->options.mode == SIM_CHECK, s->options.seed, err);
}

static tile_status give_counters(SimDevice *s, const Launch *l, tile_error *err)
{
    if (!s->counters) s->counters = sim_alloc(&s->memory, COUNTER_BYTES);
    if (!s->counters) return fail_rule(err, TILE_ERROR_MEMORY, E1321, "the simulator has no memory left for counters");
    memset(s->counters->data, 0, COUNTER_BYTES); /* a kernel that failed may have left anything */
    for (uint32_t i = 0; i < l->ncounters; i++) *l->counters[i] = s->counters->address + 4 * i;
    return TILE_OK;
}

static tile_status give_maps(SimDevice *s, const Launch *l, tile_error *err)
{
    if (s->maps_bytes < l->maps_bytes) {
        s->maps = sim_alloc(&s->memory, l->maps_bytes);
        s->maps_bytes = s->maps ? l->maps_bytes : 0;
    }
    if (!s->maps) return fail_rule(err, TILE_ERROR_MEMORY, E1321, "the simulator has no memory left for maps");
    memset(s->maps->data, 0, s->maps_bytes); /* no map of another launch */
    *l->maps = s->maps->address;
    return TILE_OK;
}

static tile_status check_counters(const SimDevice *s, const Launch *l, tile_error *err)
{
    for (uint32_t i = 0; i < l->ncounters; i++) {
        uint32_t left;
        memcpy(&left, s->counters->data + 4 * i, sizeof left);
        if (left)
            return fail_rule(err, TILE_ERROR_KERNEL, E1138,
                             "kernel `%s` leaves %" PRIu32 " in the counter of its tickets, not 0",
                             l->kernel->name, left);
    }
    return TILE_OK;
}

static tile_status sim_device_launch(tile_device *d, const Launch *l, void *stream, tile_error *err)
{
    SimDevice *s = (SimDevice *)d;
    const Function *f = l->function;
    (void)stream;
    uint8_t *params = host_zeros(&d->host, 1, f->program->param_bytes + (size_t)1);
    if (!params) return no_memory(err);
    pthread_mutex_lock(&s->lock);
    tile_status status = l->ncounters ? give_counters(s, l, err) : TILE_OK;
    if (status == TILE_OK && l->maps) status = give_maps(s, l, err);
    if (status == TILE_OK) status = run(s, l, params, err);
    if (status == TILE_OK) status = check_counters(s, l, err);
    pthread_mutex_unlock(&s->lock);
    host_free(&d->host, params);
    return status;
}

/* ---- time: a nanosecond for each step, the same on every machine ---- */

static uint64_t steps_so_far(SimDevice *s)
{
    pthread_mutex_lock(&s->lock);
    uint64_t steps = s->steps;
    pthread_mutex_unlock(&s->lock);
    return steps;
}

static tile_status sim_timer_start(tile_device *d, void *stream, void **timer, tile_error *err)
{
    (void)stream;
    uint64_t *t = host_resize(&d->host, NULL, sizeof *t);
    if (!t) return no_memory(err);
    *t = steps_so_far((SimDevice *)d);
    *timer = t;
    return succeed(err);
}

static tile_status sim_timer_stop(tile_device *d, void *stream, void *timer, double *milliseconds, tile_error *err)
{
    (void)stream;
    *milliseconds = (double)(steps_so_far((SimDevice *)d) - *(uint64_t *)timer) * 1e-6;
    host_free(&d->host, timer);
    return succeed(err);
}

static void sim_device_close(tile_device *d)
{
    SimDevice *s = (SimDevice *)d;
    sim_memory_free(&s->memory);
    pthread_mutex_destroy(&s->lock);
    const Host host = d->host;
    host_free(&host, s->trace);
    host_free(&host, s);
}

static const DeviceOps SIM_OPS = {
    .close = sim_device_close,
    .alloc = sim_device_alloc,
    .release = sim_device_release,
    .write = sim_device_write,
    .read = sim_device_read,
    .copy = sim_device_copy,
    .unread = sim_device_unread,
    .synchronize = sim_device_synchronize,
    .load = sim_device_load,
    .unload = sim_device_unload,
    .function = sim_device_function,
    .variable = sim_device_variable,
    .resident = sim_device_resident,
    .encode_map = sim_device_encode_map,
    .launch = sim_device_launch,
    .timer_start = sim_timer_start,
    .timer_stop = sim_timer_stop,
};

static void name_device(SimDevice *s)
{
    const SimOptions *o = &s->options;
    char *name = s->base.name;
    size_t room = sizeof s->base.name;
    snprintf(s->base.gpu, sizeof s->base.gpu, "simulator");
    if (o->mode == SIM_FAST) snprintf(name, room, "simulator (fast)");
    else if (o->mode == SIM_CHECK) snprintf(name, room, "simulator (check, seed %" PRIu64 ")", o->seed);
    else snprintf(name, room, "simulator (fuzz, %" PRIu32 " schedules from seed %" PRIu64 ")", o->schedules, o->seed);
}

/* What libtile looks for in libtile_sim. */
TILE_API tile_status sim_device_open(const char *words, const Host *host, tile_device **out, tile_error *err)
{
    *out = NULL;
    SimDevice *s = host_zeros(host, 1, sizeof *s);
    if (!s) return no_memory(err);
    if (host) s->base.host = *host;
    DeviceWords w;
    tile_status status = sim_read_options(words, host, &w, &s->trace, err);
    if (status != TILE_OK || pthread_mutex_init(&s->lock, NULL) != 0) {
        host_free(host, s->trace);
        host_free(host, s);
        return status != TILE_OK ? status : no_memory(err);
    }
    s->options = w.options;
    s->options.trace = s->trace;
    s->options.host = &s->base.host;
    sim_memory_init(&s->memory, s->options.max_bytes);
    s->memory.host = &s->base.host;
    s->base.ops = &SIM_OPS;
    s->base.simulates = true;
    s->base.arch = w.target->name;
    s->base.limits = (DeviceLimits){w.target->sm, 1024, (int)w.target->smem_per_cta, w.sms, w.l2, 0};
    name_device(s);
    *out = &s->base;
    return succeed(err);
}
