/* Clusters, CTAs and threads: made when they are admitted, freed when all have exited. */
#include <string.h>

#include "runtime/sim/machine.h"
#include "runtime/sim/tmem/tmem.h"
#include "runtime/sim/watch/watch.h"

static void *make_raw(SimMachine *m, uint64_t n)
{
    return mem_resize(&m->mem, NULL, n == 0 ? 1 : n > SIZE_MAX ? SIZE_MAX : (size_t)n);
}

static void *make(SimMachine *m, uint64_t n)
{
    void *p = make_raw(m, n);
    memset(p, 0, (size_t)n);
    return p;
}

static uint64_t smem_bytes(const SimMachine *m)
{
    return (uint64_t)m->launch.program->static_smem + m->launch.smem;
}

static uint32_t ctas_of(const SimLaunch *l)
{
    return l->cluster[0] * l->cluster[1] * l->cluster[2];
}

uint64_t sim_cluster_bytes(const SimMachine *m)
{
    const SimProgram *p = m->launch.program;
    uint64_t thread = sizeof(SimThread) + UINT64_C(8) * p->nslots + p->local_bytes;
    return ctas_of(&m->launch) * (sizeof(SimCta) + smem_bytes(m) + tmem_bytes(m) + m->launch.threads * thread);
}

void sim_cta_id(const SimLaunch *l, uint32_t cluster, uint32_t rank, uint32_t id[3])
{
    for (int i = 0; i < 3; i++) {
        uint32_t across = l->grid[i] / l->cluster[i];
        id[i] = cluster % across * l->cluster[i] + rank % l->cluster[i];
        cluster /= across;
        rank /= l->cluster[i];
    }
}

/* What stands in memory that nobody has written: in checking modes anything, else a pattern that is easily seen. */
static void fill(SimMachine *m, uint8_t *p, uint64_t n)
{
    if (!m->checking) {
        if (n) memset(p, 0xA5, (size_t)n);
        return;
    }
    sim_noise(m, p, n);
}

static uint64_t constant(const SimMachine *m, const SimCta *cta, const SimConst *c)
{
    switch (c->kind) {
    case CONST_SMEM: return ((uint64_t)cta->rank << SIM_SMEM_RANK) + SIM_SMEM_BASE + c->value;
    case CONST_GLOBAL: return m->launch.globals[c->value]->address;
    case CONST_VALUE:
    case CONST_PARAM:
    case CONST_LOCAL: break;
    }
    return c->value;
}

static void fill_slots(SimMachine *m, SimCta *cta)
{
    const SimProgram *p = m->launch.program;
    uint64_t bytes = (uint64_t)cta->nthreads * p->nslots * 8;
    if (m->checking) fill(m, (uint8_t *)cta->slots, bytes);
    else memset(cta->slots, 0, (size_t)bytes);
    for (uint32_t k = 0; k < p->nconsts; k++) {
        uint64_t value = constant(m, cta, &p->consts[k]);
        for (uint32_t i = 0; i < cta->nthreads; i++) cta->threads[i].slot[p->consts[k].slot] = value;
    }
}

/* A CTA with room for its memory and threads; what stands there is anything. */
static SimCta *take_room(SimMachine *m, SimCta **place)
{
    const SimProgram *p = m->launch.program;
    uint32_t n = m->launch.threads;
    SimCta *cta = *place = m->spare;
    if (cta) {
        m->spare = cta->spare;
        *cta = (SimCta){.smem = cta->smem,
                        .threads = cta->threads,
                        .warps = cta->warps,
                        .slots = cta->slots,
                        .locals = cta->locals};
        memset(cta->threads, 0, n * sizeof *cta->threads);
        return cta;
    }
    cta = *place = make(m, sizeof *cta);
    cta->smem = make_raw(m, smem_bytes(m));
    cta->threads = make(m, n * sizeof *cta->threads);
    cta->warps = make_raw(m, (n + 31) / 32 * sizeof *cta->warps);
    cta->slots = make_raw(m, (uint64_t)n * p->nslots * 8);
    cta->locals = make_raw(m, (uint64_t)n * p->local_bytes);
    return cta;
}

static void make_threads(SimMachine *m, SimCta *cta)
{
    const SimProgram *p = m->launch.program;
    uint32_t n = m->launch.threads;
    fill(m, cta->locals, (uint64_t)n * p->local_bytes);
    cta->nthreads = n;
    cta->nwarps = (n + 31) / 32;
    for (uint32_t i = 0; i < n; i++) {
        SimThread *t = &cta->threads[i];
        t->cta = cta;
        t->slot = cta->slots + (size_t)i * p->nslots;
        t->local = cta->locals + (size_t)i * p->local_bytes;
        t->id = (uint16_t)i;
        t->lane = (uint8_t)(i % 32);
    }
    for (uint32_t w = 0; w < cta->nwarps; w++) {
        SimWarp *warp = &cta->warps[w];
        *warp = (SimWarp){.first = w * 32};
        warp->n = n - w * 32 < 32 ? n - w * 32 : 32;
        warp->leader = m->checking ? rng_below(&m->rng, warp->n) : 0;
    }
    fill_slots(m, cta);
}

SimCluster *sim_cluster_make(SimMachine *m)
{
    const SimLaunch *l = &m->launch;
    m->resident = mem_grow(&m->mem, m->resident, &m->resident_cap, m->nresident + 1, sizeof(SimCluster *));
    SimCluster *c = make(m, sizeof *c);
    m->resident[m->nresident++] = c; /* from here on it is freed whatever happens */
    c->number = (uint32_t)m->next_cluster++;
    sim_cta_id(l, c->number, 0, c->id);
    for (int i = 0; i < 3; i++) c->id[i] /= l->cluster[i];
    c->ctas = make(m, ctas_of(l) * sizeof(SimCta *));
    for (uint32_t r = 0; r < ctas_of(l); r++) {
        SimCta *cta = take_room(m, &c->ctas[c->nctas++]);
        cta->cluster = c;
        cta->rank = r;
        sim_cta_id(l, c->number, r, cta->id);
        cta->smem_bytes = (uint32_t)smem_bytes(m);
        fill(m, cta->smem, cta->smem_bytes);
        make_threads(m, cta);
    }
    if (m->watch) watch_cluster_start(m, c);
    m->stats.clusters++;
    return c;
}

void sim_cluster_free(SimMachine *m, uint32_t i)
{
    SimCluster *c = m->resident[i];
    m->resident[i] = m->resident[--m->nresident];
    for (uint32_t k = 0; k < c->nctas; k++) {
        SimCta *cta = c->ctas[k];
        if (cta == NULL) continue;
        tmem_cta_free(m, cta);
        cta->spare = m->spare;
        m->spare = cta;
    }
    mem_free(&m->mem, c->ctas);
    mem_free(&m->mem, c);
}

void sim_spare_free(SimMachine *m)
{
    while (m->spare) {
        SimCta *cta = m->spare;
        m->spare = cta->spare;
        mem_free(&m->mem, cta->smem);
        mem_free(&m->mem, cta->threads);
        mem_free(&m->mem, cta->warps);
        mem_free(&m->mem, cta->slots);
        mem_free(&m->mem, cta->locals);
        mem_free(&m->mem, cta);
    }
}

void sim_cta_start(SimMachine *m, SimCta *cta)
{
    cta->started = true;
    for (uint32_t i = 0; i < cta->nthreads; i++) sim_wake(m, &cta->threads[i]);
    m->progress++;
}
