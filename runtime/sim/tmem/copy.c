/* tcgen05.cp, tcgen05.shift, tcgen05.commit. In check mode they are tasks that the scheduler advances in any order but
 * that of the pipelines of the PTX ISA: shift -> cp.4x256b, and everything of a thread -> its commit. A copy reads its
 * source when it moves, in pieces of 16 bytes in any order. In fast mode all is done when it is issued.
 */
#include <inttypes.h>
#include <string.h>

#include "lang/checked.h"
#include "runtime/sim/tmem/tmem.h"
#include "runtime/sim/watch/tmem.h"

enum { CHUNK = 16, CHUNK_COLUMNS = 4, SHIFT_COLUMNS = 8, SHIFT_LANES = 32, CTAS = 16 };

typedef enum TensorTaskKind { TENSOR_TASK_COPY, TENSOR_TASK_SHIFT, TENSOR_TASK_COMMIT } TensorTaskKind;
typedef struct TensorTask {
    TensorTaskKind kind;
    InstrForm form;
    SimWho who;
    uint32_t delay;
    uint32_t ncta;
    SimCta *cta[CTAS]; /* whose tensor memory, or mbarrier */
    uint32_t lane, column;
    TmemDesc desc; /* COPY */
    int fmt;
    uint32_t pieces, stride, at, next; /* each piece is `stride` behind the one before, modulo their number */
    uint32_t offset, agent, number;    /* COMMIT */
} TensorTask;

typedef struct Queue { /* oldest first */
    TensorTask *v;
    uint32_t n, cap;
} Queue;

void tmem_init(SimMachine *m)
{
    Queue *q = mem_resize(&m->mem, NULL, sizeof *q);
    *q = (Queue){0};
    m->tmem = q;
}

void tmem_free(SimMachine *m)
{
    Queue *q = m->tmem;
    if (q == NULL) return;
    m->tmem = NULL;
    if (q->v) mem_free(&m->mem, q->v);
    mem_free(&m->mem, q);
}

uint32_t tmem_pending(const SimMachine *m)
{
    const Queue *q = m->tmem;
    return q ? q->n : 0;
}

/* ---- shapes: PTX ISA, tcgen05.cp ---- */
typedef struct CopyShape {
    InstrForm form;
    uint8_t rows, chunks;    /* of the source; 16 bytes each */
    uint8_t replicas, apart; /* lanes of a row: how many, and how far from each other */
    uint8_t step;            /* from the first lane of a block of 32 rows to that of the next; 4x256b: of a row */
} CopyShape;
static const CopyShape copy_shapes[] = {
    {FORM_TC_CP_128X256B, 128, 2, 1, 0, 32},      {FORM_TC_CP_4X256B, 4, 2, 1, 0, 32},
    {FORM_TC_CP_128X128B, 128, 1, 1, 0, 32},      {FORM_TC_CP_64X128B_02_13, 64, 1, 2, 64, 32},
    {FORM_TC_CP_64X128B_01_23, 64, 1, 2, 32, 64}, {FORM_TC_CP_32X128B_X4, 32, 1, 4, 32, 0},
};

static const CopyShape *shape_of(InstrForm f)
{
    size_t i = 0;
    while (i + 1 < sizeof copy_shapes / sizeof copy_shapes[0] && copy_shapes[i].form != f) i++;
    return &copy_shapes[i];
}

static uint32_t copy_lane(const CopyShape *s, uint32_t row, uint32_t replica)
{
    uint32_t first = s->form == FORM_TC_CP_4X256B ? row * s->step : row / 32 * s->step + row % 32;
    return first + replica * s->apart;
}

/* ---- work ---- */
static uint32_t *cell(const SimCta *cta, uint32_t lane, uint32_t column)
{
    return &cta->tmem->cell[lane * TMEM_COLUMNS + column];
}

/* A piece: one chunk of one row in one CTA, to all its lanes. */
static bool move_piece(SimMachine *m, const TensorTask *k, uint32_t piece)
{
    const CopyShape *s = shape_of(k->form);
    SimCta *cta = k->cta[piece % k->ncta];
    uint32_t row = piece / k->ncta / s->chunks, chunk = piece / k->ncta % s->chunks;
    if (cta->exited)
        return sim_fail_at(m, E1312, &k->who, NULL, "tcgen05.cp reads shared memory of a CTA that has exited");
    uint8_t out[CHUNK];
    uint32_t word[CHUNK_COLUMNS];
    tmem_decompress(cta->smem + (tmem_desc_chunk(&k->desc, row, chunk) - SIM_SMEM_BASE), k->fmt, out);
    for (uint32_t i = 0; i < CHUNK_COLUMNS; i++)
        word[i] = (uint32_t)out[4 * i] | (uint32_t)out[4 * i + 1] << 8 | (uint32_t)out[4 * i + 2] << 16 |
                  (uint32_t)out[4 * i + 3] << 24;
    for (uint32_t r = 0; r < s->replicas; r++)
        memcpy(cell(cta, k->lane + copy_lane(s, row, r), k->column + chunk * CHUNK_COLUMNS), word, sizeof word);
    return true;
}

static void shift_rows(const TensorTask *k)
{
    for (uint32_t i = 0; i < k->ncta; i++)
        for (uint32_t row = 0; row + 1 < SHIFT_LANES; row++)
            memcpy(cell(k->cta[i], k->lane + row, k->column), cell(k->cta[i], k->lane + row + 1, k->column),
                   SHIFT_COLUMNS * sizeof(uint32_t));
}

static bool arrive(SimMachine *m, const TensorTask *k)
{
    for (uint32_t i = 0; i < k->ncta; i++) {
        if (k->cta[i]->exited)
            return sim_fail_at(m, E1311, &k->who, NULL,
                               "tcgen05.commit arrives on an mbarrier of CTA (%" PRIu32 ",%" PRIu32 ",%" PRIu32
                               "), which has exited",
                               k->cta[i]->id[0], k->cta[i]->id[1], k->cta[i]->id[2]);
        if (!mbar_arrive_async(m, &k->who, k->cta[i], k->offset, k->agent, k->number)) return false;
    }
    return true;
}

/* What a copy is about to write says nothing once it has begun; before, a shift in front of it may still read it. */
static void poison(SimMachine *m, const TensorTask *k)
{
    const CopyShape *s = shape_of(k->form);
    for (uint32_t i = 0; i < k->ncta; i++)
        for (uint32_t p = 0; p < (uint32_t)s->rows * s->replicas; p++)
            sim_noise(m,
                      (uint8_t *)cell(k->cta[i], k->lane + copy_lane(s, p / s->replicas, p % s->replicas), k->column),
                      s->chunks * CHUNK_COLUMNS * sizeof(uint32_t));
}

/* The next n pieces. */
static bool advance(SimMachine *m, TensorTask *k, uint32_t n)
{
    if (k->kind == TENSOR_TASK_SHIFT) shift_rows(k);
    if (k->kind == TENSOR_TASK_COMMIT && !arrive(m, k)) return false;
    if (k->kind == TENSOR_TASK_COPY && k->next == 0 && m->checking) poison(m, k);
    if (k->kind != TENSOR_TASK_COPY) n = k->pieces - k->next;
    for (uint32_t i = 0; i < n && k->kind == TENSOR_TASK_COPY; i++, k->at = (k->at + k->stride) % k->pieces)
        if (!move_piece(m, k, k->at)) return false;
    k->next += n;
    return true;
}

/* ---- the queue ---- */
static bool same_thread(const SimWho *a, const SimWho *b)
{
    return a->cluster == b->cluster && a->rank == b->rank && a->thread == b->thread;
}

static bool share_cta(const TensorTask *a, const TensorTask *b)
{
    for (uint32_t i = 0; i < a->ncta; i++)
        for (uint32_t j = 0; j < b->ncta; j++)
            if (a->cta[i] == b->cta[j]) return true;
    return false;
}

/* Nothing that the PTX ISA executes before it is under way. */
static bool may_run(const Queue *q, uint32_t at)
{
    const TensorTask *k = &q->v[at];
    for (uint32_t i = 0; i < at; i++) {
        const TensorTask *o = &q->v[i];
        if (k->kind == TENSOR_TASK_COMMIT && o->kind != TENSOR_TASK_COMMIT && same_thread(&o->who, &k->who))
            return false;
        if (k->form == FORM_TC_CP_4X256B && o->kind == TENSOR_TASK_SHIFT && share_cta(o, k)) return false;
    }
    return true;
}

bool tmem_step(SimMachine *m)
{
    Queue *q = m->tmem;
    uint32_t at = rng_below(&m->rng, q->n);
    while (!may_run(q, at)) at = rng_below(&m->rng, at); /* the oldest one always may */
    TensorTask *k = &q->v[at];
    if (k->delay) {
        k->delay--;
        return true;
    }
    uint32_t left = k->pieces - k->next, n = rng_one_in(&m->rng, 2) ? left : 1 + rng_below(&m->rng, left);
    TensorTask now = *k; /* arriving may change the queue's memory */
    if (!advance(m, &now, n)) return false;
    q->v[at] = now;
    if (now.next < now.pieces) return true;
    for (uint32_t i = 0; i < now.ncta; i++) now.cta[i]->copies--;
    memmove(&q->v[at], &q->v[at + 1], (q->n - at - 1) * sizeof *q->v);
    q->n--;
    m->progress++;
    return true;
}

static bool start(SimMachine *m, TensorTask *k)
{
    Queue *q = m->tmem;
    if (!m->checking) return advance(m, k, k->pieces);
    k->delay = rng_one_in(&m->rng, 2) ? rng_below(&m->rng, 64) : 0;
    k->stride = 1;
    for (int tries = 0; tries < 8 && k->pieces > 2; tries++) {
        uint32_t n = 1 + rng_below(&m->rng, k->pieces - 1);
        if (gcd_s64(n, k->pieces) == 1) k->stride = n;
    }
    k->at = rng_below(&m->rng, k->pieces);
    q->v = mem_grow(&m->mem, q->v, &q->cap, q->n + 1, sizeof *q->v);
    q->v[q->n++] = *k;
    for (uint32_t i = 0; i < k->ncta; i++) k->cta[i]->copies++;
    return true;
}

/* ---- issue ---- */
static bool pair(SimMachine *m, SimThread *t, const FormOp *f, TensorTask *k)
{
    k->form = f->form;
    k->who = sim_who(t);
    k->who.async = true;
    k->cta[k->ncta++] = t->cta;
    k->pieces = k->stride = 1;
    if (!f->group2) return true;
    SimCta *peer = tmem_peer(m, t);
    if (peer == NULL) return false;
    if (peer->exited)
        return sim_fail(m, E1311, t, ".cta_group::2, but the peer CTA, rank %" PRIu32 ", has exited", peer->rank);
    tmem_of(m, peer);
    k->cta[k->ncta++] = peer;
    return true;
}

static bool check_source(SimMachine *m, SimThread *t, const TensorTask *k, const CopyShape *s)
{
    WatchCopy *c = watch_tensor_source(m, t);
    for (uint32_t i = 0; i < k->ncta; i++)
        for (uint32_t p = 0; p < (uint32_t)s->rows * s->chunks; p++) {
            SimLoc at;
            uint64_t address = (uint64_t)k->cta[i]->rank << SIM_SMEM_RANK;
            address += tmem_desc_chunk(&k->desc, p / s->chunks, p % s->chunks);
            if (!sim_locate_shared(m, t, address, CHUNK, CHUNK, false, "tcgen05.cp", &at)) return false;
            if (c && !watch_copy_read(m, t, c, &at, tmem_chunk_bytes(k->fmt))) return false;
        }
    watch_copy_issued(m, t, c);
    return true;
}

static bool check_target(SimMachine *m, SimThread *t, const TensorTask *k, const CopyShape *s)
{
    WatchTensor w;
    uint32_t columns = (uint32_t)s->chunks * CHUNK_COLUMNS, lanes = copy_lane(s, s->rows - 1u, s->replicas - 1u) + 1;
    if (k->column % CHUNK_COLUMNS)
        return sim_fail(m, E1367, t,
                        "tcgen05.cp to column %" PRIu32
                        ": what a copy of units of 128 bits does beside a multiple of 4 columns "
                        "the PTX ISA does not say",
                        k->column);
    for (uint32_t i = 0; i < k->ncta; i++)
        if (!tmem_check(m, t, k->cta[i], k->lane, lanes, k->column, columns, "tcgen05.cp")) return false;
    watch_tensor_begin(m, t, k->form == FORM_TC_CP_4X256B ? TENSOR_CP_4X256B : TENSOR_CP, false, &w);
    for (uint32_t i = 0; i < k->ncta; i++)
        for (uint32_t p = 0; p < (uint32_t)s->rows * s->replicas; p++) {
            uint32_t lane = k->lane + copy_lane(s, p / s->replicas, p % s->replicas);
            if (!watch_tensor_touch(m, &w, k->cta[i], lane, k->column, columns, true)) return false;
        }
    watch_tensor_end(m, &w);
    return true;
}

bool tmem_copy(SimMachine *m, SimThread *t, const FormOp *f)
{
    const CopyShape *s = shape_of(f->form);
    TensorTask k = {.kind = TENSOR_TASK_COPY, .fmt = f->fmt};
    bool open;
    char why[200];
    if (!tmem_desc_decode(t->slot[f->desc], &k.desc, &open, why, sizeof why))
        return sim_fail(m, open ? E1367 : E1318, t, "the shared memory descriptor 0x%016" PRIx64 ": %s",
                        t->slot[f->desc], why);
    if (!pair(m, t, f, &k)) return false;
    k.lane = tmem_address(t, f) >> 16;
    k.column = tmem_address(t, f) & 0xFFFF;
    k.pieces = (uint32_t)s->rows * s->chunks * k.ncta;
    return check_target(m, t, &k, s) && check_source(m, t, &k, s) && start(m, &k);
}

bool tmem_shift(SimMachine *m, SimThread *t, const FormOp *f)
{
    WatchTensor w;
    TensorTask k = {.kind = TENSOR_TASK_SHIFT};
    uint32_t address = tmem_address(t, f);
    k.lane = address >> 16;
    k.column = address & 0xFFFF;
    if (k.lane % SHIFT_LANES)
        return sim_fail(m, E1318, t, "tcgen05.shift: lane %" PRIu32 " of the address is no multiple of 32", k.lane);
    if (k.column % SHIFT_COLUMNS)
        return sim_fail(m, E1367, t,
                        "tcgen05.shift at column %" PRIu32
                        ": what becomes of elements of 32 bytes beside a multiple of 8 columns "
                        "the PTX ISA does not say",
                        k.column);
    if (!pair(m, t, f, &k)) return false;
    for (uint32_t i = 0; i < k.ncta; i++)
        if (!tmem_check(m, t, k.cta[i], k.lane, SHIFT_LANES, k.column, SHIFT_COLUMNS, "tcgen05.shift")) return false;
    watch_tensor_begin(m, t, TENSOR_SHIFT, false, &w);
    for (uint32_t i = 0; i < 2 * k.ncta; i++)
        for (uint32_t row = 0; row + 1 < SHIFT_LANES; row++) {
            bool write = i >= k.ncta; /* rows 1 .. 31 are read, rows 0 .. 30 written */
            uint32_t lane = k.lane + row + !write;
            if (!watch_tensor_touch(m, &w, k.cta[i % k.ncta], lane, k.column, SHIFT_COLUMNS, write)) return false;
        }
    watch_tensor_end(m, &w);
    return start(m, &k);
}

/* ---- commit ---- */
static bool add_barrier(SimMachine *m, SimThread *t, TensorTask *k, const SimLoc *at)
{
    SimBarrier *b = mbar_find(at->cta, (uint32_t)at->offset);
    if (b == NULL) return mbar_missing(m, &k->who, at->cta, (uint32_t)at->offset, ", on which tcgen05.commit arrives,");
    if (!watch_tensor_barrier(m, t, at->cta, b, k->agent, k->number)) return false;
    k->cta[k->ncta++] = at->cta;
    return true;
}

/* PTX ISA, tcgen05.commit: .multicast::cluster signals the same offset in each CTA of the mask. */
static bool add_barriers(SimMachine *m, SimThread *t, const FormOp *f, TensorTask *k, const SimLoc *at)
{
    if (f->form != FORM_TC_COMMIT_MULTICAST) return add_barrier(m, t, k, at);
    uint32_t mask = (uint32_t)t->slot[f->mask] & 0xFFFF, n = t->cta->cluster->nctas;
    if (mask == 0) return sim_fail(m, E1327, t, "tcgen05.commit: the multicast mask is 0");
    if (mask >> n)
        return sim_fail(m, E1327, t,
                        "tcgen05.commit: multicast mask 0x%" PRIx32 ", but the cluster has %" PRIu32 " CTAs", mask, n);
    for (uint32_t r = 0; r < n; r++) {
        SimLoc bar;
        uint64_t address = ((uint64_t)r << SIM_SMEM_RANK) + SIM_SMEM_BASE + at->offset;
        if (!(mask >> r & 1)) continue;
        if (!sim_locate_shared(m, t, address, 8, 8, false, "mbarrier", &bar) || !add_barrier(m, t, k, &bar))
            return false;
    }
    return true;
}

bool tmem_commit(SimMachine *m, SimThread *t, const FormOp *f)
{
    TensorTask k = {.kind = TENSOR_TASK_COMMIT, .form = f->form, .who = sim_who(t), .pieces = 1, .stride = 1};
    k.who.async = true;
    uint64_t a = t->slot[f->mbar] + (uint64_t)f->mbar_off;
    if (a >= SIM_SHARED_BASE && a - SIM_SHARED_BASE < SIM_WINDOW) a -= SIM_SHARED_BASE;
    SimLoc at;
    if (!sim_locate_shared(m, t, a, 8, 8, false, "mbarrier", &at)) return false;
    k.offset = (uint32_t)at.offset;
    watch_tensor_commit(m, t, &k.agent, &k.number);
    return add_barriers(m, t, f, &k, &at) && start(m, &k);
}

void tmem_describe(SimMachine *m, Text *out)
{
    static const char *const names[] = {"a tcgen05.cp", "a tcgen05.shift", "a tcgen05.commit"};
    const Queue *q = m->tmem;
    for (uint32_t i = 0; q && i < q->n && i < 20; i++) {
        text_printf(out, "\n    %s issued by ", names[q->v[i].kind]);
        sim_describe(m, q->v[i].who, out);
    }
}
