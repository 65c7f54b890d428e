/* Launch checks: every expression of the kernel evaluated in one pass, every failed check listed. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lang/limits.h"
#include "runtime/module.h"

const char *args_symbols_of(tile_args *a, Lx x, char *buf, size_t size)
{
    const MfKernel *mf = a->kernel->mf;
    const LxNode *nodes = mf->lx.nodes.v;
    size_t n = 0;
    buf[0] = 0;
    if (x == 0) return buf;
    memset(a->marks, 0, x);
    a->marks[x - 1] = 1;
    for (Lx i = x; i > 0; i--) { /* operands stand before their users */
        const LxNode *node = &nodes[i - 1];
        if (!a->marks[i - 1]) continue;
        if (node->a) a->marks[node->a - 1] = 1;
        if (node->b) a->marks[node->b - 1] = 1;
    }
    for (Lx i = 1; i <= x && n + 8 < size; i++) {
        if (!a->marks[i - 1] || nodes[i - 1].op != LX_SYM) continue;
        uint32_t sym = (uint32_t)nodes[i - 1].k;
        int w = snprintf(buf + n, size - n, "%s%s = %" PRId64, n ? ", " : "", mf->syms.v[sym].name, a->syms[sym]);
        if (w > 0) n += (size_t)w;
    }
    return buf;
}

static const char *status_text(uint8_t s)
{
    switch ((LxStatus)s) {
    case LX_OK: return "has a value";
    case LX_OVERFLOW: return "leaves 64 bits";
    case LX_DIV_ZERO: return "divides by 0";
    case LX_BAD_SHIFT: return "shifts by less than 0 or more than 63";
    }
    return "has no value";
}

bool args_value(tile_args *a, Lx x, Report *r, int64_t *value, const char *what, ...)
{
    *value = 0;
    if (x == 0) return true;
    uint8_t s = a->status[x - 1];
    if (s == LX_OK) {
        *value = a->values[x - 1];
        return true;
    }
    char name[256], from[256];
    va_list ap;
    va_start(ap, what);
    vsnprintf(name, sizeof name, what, ap);
    va_end(ap);
    report_rule(r, E1117, "%s %s (%s)", name, status_text(s), args_symbols_of(a, x, from, sizeof from));
    return false;
}

static void run_check(tile_args *a, const MfCheck *c, Report *r)
{
    char from[512];
    const char *symbols = args_symbols_of(a, c->cond, from, sizeof from);
    const char *open = symbols[0] ? " (" : "", *close = symbols[0] ? ")" : "";
    uint8_t s = a->status[c->cond - 1];
    if (s != LX_OK)
        report_rule(r, E1117, "can't be evaluated: %s: it %s%s%s%s; %s [%s]", c->text, status_text(s), open, symbols,
                    close, c->why, c->place);
    else if (a->values[c->cond - 1] == 0)
        report_rule(r, c->code, "does not hold: %s%s%s%s; %s [%s]", c->text, open, symbols, close, c->why, c->place);
    r->facts |= c->code == E1101 && (s != LX_OK || a->values[c->cond - 1] == 0);
    if (c->code == E1124 && s == LX_OK && a->values[c->cond - 1] == 0) report_rows(r);
    if (c->code == E1121 && s == LX_OK && a->values[c->cond - 1] == 0)
        r->fix = "fix: write `via threads` behind the move: threads begin at any place";
}

static void check_grid(tile_args *a, Report *r)
{
    const MfKernel *mf = a->kernel->mf;
    for (int i = 0; i < 3; i++) {
        int64_t v;
        char axis = "xyz"[i], from[256];
        if (!args_value(a, mf->grid[i], r, &v, "grid.%c", axis)) continue;
        args_symbols_of(a, mf->grid[i], from, sizeof from);
        if (v < 0 || v > grid_most(i))
            report_rule(r, E0903, "grid.%c is %" PRId64 ", the limit is %" PRId64 "%s%s%s", axis, v, grid_most(i),
                        from[0] ? " (" : "", from, from[0] ? ")" : "");
        else if (mf->cluster[i] > 1 && v % (int64_t)mf->cluster[i] != 0)
            report_rule(r, E0905, "grid.%c is %" PRId64 ", not a multiple of the cluster's %u%s%s%s", axis, v,
                        mf->cluster[i], from[0] ? " (" : "", from, from[0] ? ")" : "");
        else a->launch.grid[i] = (uint32_t)v;
    }
}

/* As many teams as run at once, and no more than there are iterations. */
static void deal_grid(tile_args *a, Report *r)
{
    const MfKernel *mf = a->kernel->mf;
    int64_t n;
    char from[256];
    for (int i = 0; i < 3; i++) a->launch.grid[i] = 0;
    if (!args_value(a, mf->teams, r, &n, "the number of iterations of kernel `%s`", mf->name) || n <= 0) return;
    args_symbols_of(a, mf->teams, from, sizeof from);
    if (mf->deal == MF_DEAL_TICKET && n > UINT32_MAX)
        report_rule(r, E1136, "kernel `%s` deals %" PRId64 " iterations by tickets, the limit is %" PRIu32 "%s%s%s",
                    mf->name, n, UINT32_MAX, from[0] ? " (" : "", from, from[0] ? ")" : "");
    uint32_t resident = a->kernel->resident, teams = n < resident ? (uint32_t)n : resident;
    a->launch.grid[0] = teams * mf->cluster[0];
    a->launch.grid[1] = mf->cluster[1];
    a->launch.grid[2] = mf->cluster[2];
}

/* What the driver said when the kernel was loaded; within the limits that check_device names. */
static void check_resident(const tile_args *a, Report *r)
{
    const MfKernel *mf = a->kernel->mf;
    const uint32_t *c = mf->cluster;
    const char *device = a->kernel->module->device->name;
    uint32_t size = c[0] * c[1] * c[2];
    if (a->kernel->resident > 0 || (mf->deal == MF_DEAL_NONE && size == 1)) return;
    if (size == 1)
        report_rule(r, E1137, "kernel `%s`: not one CTA of %u threads and %u bytes of shared memory fits %s", mf->name,
                    mf->threads, mf->smem, device);
    else
        report_rule(
            r, E1137,
            "kernel `%s`: not one cluster of %u x %u x %u CTAs, each of %u threads and %u bytes of shared memory, "
            "fits %s",
            mf->name, c[0], c[1], c[2], mf->threads, mf->smem, device);
}

static void check_device(const tile_args *a, Report *r)
{
    const MfKernel *mf = a->kernel->mf;
    const tile_device *d = a->kernel->module->device;
    const DeviceLimits *l = &d->limits;
    unsigned before = r->lines;
    if (mf->threads == 0 || mf->threads > (uint32_t)l->max_threads)
        report_rule(r, E0902, "kernel `%s` has %u threads per CTA, %s allows %d", mf->name, mf->threads, d->name,
                    l->max_threads);
    if (mf->smem > (uint32_t)l->max_smem)
        report_rule(r, E0901, "kernel `%s` needs %u bytes of shared memory per CTA, %s has %d", mf->name, mf->smem,
                    d->name, l->max_smem);
    uint64_t cluster = 1;
    for (int i = 0; i < 3; i++) cluster *= mf->cluster[i] <= CLUSTER_CTAS_MOST ? mf->cluster[i] : CLUSTER_CTAS_MOST + 1;
    if (cluster == 0 || cluster > CLUSTER_CTAS_MOST)
        report_rule(r, E0904, "kernel `%s` has clusters of %u x %u x %u CTAs; a cluster has 1 to %d", mf->name,
                    mf->cluster[0], mf->cluster[1], mf->cluster[2], CLUSTER_CTAS_MOST);
    if (r->lines == before) check_resident(a, r);
}

void args_check_sizes(tile_args *a, Report *r)
{
    const MfKernel *mf = a->kernel->mf;
    lx_eval(mf->lx.nodes.v, mf->lx.nodes.n, a->syms, a->values, a->status);
    args_compare_shapes(a, r);
    for (uint32_t i = 0; i < mf->checks.n; i++) run_check(a, &mf->checks.v[i], r);
    if (mf->deal == MF_DEAL_NONE) check_grid(a, r);
    else deal_grid(a, r);
    check_device(a, r);
}
