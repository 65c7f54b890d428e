/* The planning walk's part per move: its regions, its copies and what they need, who issues it, what it touches. */
#include "lower/schedule.h"
#include "lower/threads.h"

/* ---- multicast: each CTA of the set brings a part where the layout's pattern stays whole ---- */

static bool splits(Lower *L, const MoveInfo *mi, PCast cast, int64_t *n)
{
    *n = cluster_size_of(L, cast);
    bool rows = is_rows4(mi->mv); /* four at a time */
    if (mi->npairs == 0 || (mi->mv->via == VIA_MAP && !rows)) return false;
    const Pair *p = &mi->pair[0];
    if (rows && p->extent / *n % 4 != 0) return false;
    int64_t atom = mi->span ? mi->span * 8 : SMEM_TMA_ALIGN;
    return p->extent % *n == 0 && p->tile_dim == 0 && p->extent / *n * mi->pitch_bits[0] / 8 % atom == 0 &&
           mi->step[p->tensor_dim] == 1 && (mi->tile->rank > 1 || mi->span == 0);
}

static void split(Lower *L, MoveInfo *mi, Shares *p, int64_t n)
{
    Pair *pair = &mi->pair[0];
    PRegion *g = arena_new(L->a, PRegion), *s = arena_new(L->a, PRegion);
    *g = *mi->g;
    *s = *mi->s;
    p->n = n;
    p->dim = pair->tensor_dim;
    pair->extent /= n;
    g->dim[pair->tensor_dim].extent = s->dim[pair->tile_dim].extent = mi->extent[pair->tensor_dim] = pair->extent;
    g->dim[pair->tensor_dim].whole = false;
    mi->bytes /= n;
    mi->g = g;
    mi->s = s;
    p->step = pair->extent;
    mi->past[p->dim] = (n - 1) * p->step;
    p->bytes = pair->extent * mi->pitch_bits[0] / 8;
}

bool plan_multicast(Lower *L, MoveInfo *mi, Shares *shares)
{
    const PMove *mv = mi->mv;
    int64_t n;
    *shares = (Shares){.n = 1, .dim = -1};
    if (mv->cast == CAST_NONE || cluster_size_of(L, mv->cast) == 1) return true;
    if (!cluster_equal(L, mv, mv->cast)) return false;
    L->remote = true;
    if (splits(L, mi, mv->cast, &n)) split(L, mi, shares, n);
    return true;
}

Opnd multicast_values(Lower *L, MoveInfo *mi, PCast cast, const Shares *p)
{
    Opnd share = cluster_share(L, cast);
    mi->mask = cluster_mask(L, cast);
    if (p->n == 1) return emit_cmp(L, IRL_EQ, share, opnd_imm(0)); /* one brings all */
    mi->share_dim = p->dim;
    mi->share_at = emit_op(L, IR_MUL, IR_I32, share, opnd_imm(p->step));
    mi->share_byte = emit_op(L, IR_MUL, IR_I32, share, opnd_imm(p->bytes));
    return opnd_imm(1);
}

/* ---- copies ---- */

static bool plan_copy(Lower *L, Planned *p)
{
    const PMove *mv = p->st->move;
    if (!region_resolve(L, p->st, &p->mi)) return false;
    if (!p->mi.prefetch) p->access = L->accesses.n;
    access_note(L, &p->mi);
    if (mv->dst.peer || (mv->cast == CAST_MASK && L->cluster_size > 1)) {
        p->by_rank = true;
        if (!remote_plan(L, p)) return false;
    } else if (mv->kind == MOVE_LOAD && !plan_multicast(L, &p->mi, &p->shares)) {
        return false;
    }
    if (!choose_copy(L, &p->mi, &p->tensor, &p->t, &p->b, &p->no_tensor)) return false;
    p->bytes = p->tensor ? p->t.piece_bytes * p->t.npieces : p->b.run * p->b.nruns;
    if (!p->mi.prefetch) *(p->mi.load ? &p->dst : &p->src) = p->mi.tile->index;
    p->agent = p->mi.load ? AG_LOAD : AG_WORK;
    return true;
}

/* A part of a tile that is one run of bytes. */
bool plan_one_run(const MoveInfo *mi)
{
    const PTile *t = mi->tile;
    bool whole = true, panels = mi->span && t->extent[t->rank - 1] * mi->sbits / 8 > mi->span;
    for (int i = t->rank - 1; i >= 0; i--) {
        if (!whole && (panels || mi->s->dim[i].extent != 1)) return false; /* panels lie one behind the other */
        bool all = mi->s->dim[i].extent == t->extent[i];
        if (i == t->rank - 1 && mi->span && !all) return false;
        whole = whole && all;
    }
    return whole || !panels;
}

/* The swizzle's pattern repeats itself: what is copied keeps its place in it. */
static bool same_phase(Lower *L, const PStmt *st, const MoveInfo *a, const MoveInfo *b)
{
    int64_t period = swizzle_align(a->tile->swizzle);
    if (!swizzle_span(a->tile->swizzle) || domain_divides(L->d, period, poly_sub(L->d, a->offset, b->offset))) return true;
    Diag *g = lower_error(L, E0536, st->span, "the parts lie at different places of the swizzle's pattern, which repeats itself every %lld bytes",
                          (long long)period);
    diag_label(L->c->diags, g, a->s->span, "from byte %s", poly_text(L, a->offset));
    diag_label(L->c->diags, g, b->s->span, "from byte %s", poly_text(L, b->offset));
    diag_fix(L->c->diags, g, "shift by a multiple of %lld bytes, or by threads first", (long long)period);
    return false;
}

bool plan_runs(Lower *L, const PStmt *st, const MoveInfo *a, const MoveInfo *b)
{
    if (plan_one_run(a) && plan_one_run(b) && a->tile->swizzle == b->tile->swizzle && a->bytes == b->bytes &&
        a->bytes % SMEM_BULK_ALIGN == 0)
        return same_phase(L, st, a, b);
    Diag *g = lower_error(L, E0505, st->span,
                          "a copy between CTAs moves one run of bytes, a multiple of 16, between tiles of one layout");
    diag_label(L->c->diags, g, a->tile->span, "the source");
    diag_label(L->c->diags, g, b->tile->span, "the destination");
    return false;
}

/* A copy, or a fill: that has no source. */
static bool plan_peer(Lower *L, Planned *p)
{
    const PMove *mv = p->st->move;
    bool fill = mv->kind == MOVE_FILL;
    if (!fill && !region_tile(L, p->st, &mv->src, &p->mi)) return false;
    if (!region_tile(L, p->st, &mv->dst, &p->other)) return false;
    if (fill) p->mi = p->other;
    const MoveInfo *a = &p->mi, *b = &p->other;
    if (!remote_plan(L, p)) return false;
    bool any = false;
    for (int r = 0; r < L->cluster_size; r++) any |= p->to[r] != 0;
    if (!any) return true; /* the condition holds at no rank */
    p->by_rank = mv->reduce >= 0;
    if (fill ? !fill_peer_plan(L, p->st, b) : !plan_runs(L, p->st, a, b)) return false;
    p->bytes = b->bytes;
    if (!fill) p->src = a->tile->index;
    p->dst = b->tile->index;
    p->agent = AG_SEND;
    return true;
}

/* ---- work by threads ---- */

/* What is known of the part's first byte: 0 where it is the slot's. */
static uint32_t align_of(Lower *L, const MoveInfo *mi)
{
    int64_t k;
    if (poly_is_const(mi->offset, &k) && k == 0) return 0;
    uint32_t a = 1024;
    while (a > 1 && !domain_divides(L->d, a, mi->offset)) a /= 2;
    return a;
}

static void side_of(Lower *L, const MoveInfo *mi, IrPlan *q, IrSide *s)
{
    const PTile *t = mi->tile;
    s->type = (uint8_t)t->type;
    s->swizzle = (uint8_t)t->swizzle;
    s->align = (uint16_t)align_of(L, mi);
    s->span = (uint32_t)mi->span;
    s->panel = mi->span ? (uint32_t)(mi->span * mi->rows) : 0;
    int n = 0;
    for (int i = 0; i < t->rank; i++) {
        if (!mi->s->dim[i].marked) continue;
        bool inner = i == t->rank - 1;
        s->pitch[n++] = (uint32_t)((inner && mi->span ? mi->sbits : mi->pitch_bits[i]) / 8);
    }
    q->rank = (uint8_t)n;
}

static void extents_of(const MoveInfo *mi, IrPlan *q)
{
    int n = 0;
    for (int i = 0; i < mi->tile->rank; i++)
        if (mi->s->dim[i].marked) q->extent[n++] = (uint32_t)mi->s->dim[i].extent;
}

static bool plan_threads(Lower *L, Planned *p)
{
    const PMove *mv = p->st->move;
    if (mv->kind == MOVE_SHARED && !region_tile(L, p->st, &mv->src, &p->mi)) return false;
    if (!region_tile(L, p->st, &mv->dst, &p->other)) return false;
    p->agent = AG_WORK;
    p->dst = p->other.tile->index;
    if (mv->kind == MOVE_SHARED) p->src = p->mi.tile->index;
    else p->mi = p->other;
    return true;
}

static bool plan_tmem(Lower *L, Planned *p)
{
    const PMove *mv = p->st->move;
    p->tm = arena_new(L->a, TmemPlan);
    p->agent = AG_WORK;
    if (L->ir->pair && move_by_tensor_core(mv) && !tmem_paired(L, p)) return false;
    if (!tmem_plan(L, p->st, p->tm)) return false;
    p->mi = mv->kind == MOVE_SHIFT ? p->tm->tensor : p->tm->shared;
    if (mv->kind == MOVE_TMEM_LD) p->dst = p->mi.tile->index;
    else if (mv->kind != MOVE_SHIFT) p->src = p->mi.tile->index;
    return true;
}

enum { WAYS_ONE = 16, WAYS_NOTED = 2 * WAYS_ONE }; /* of read_ways and write_ways */

/* one: of a batch; where rows of neighbouring tiles meet, the program can do nothing about it. */
static void note_banks(Lower *L, const PStmt *st, const IrPlan *q, IrPlan *one)
{
    const char *why;
    bool writes = q->write_ways > q->read_ways || q->xform == IRX_FILL;
    unsigned worst = writes ? q->write_ways : q->read_ways;
    if (worst < WAYS_NOTED) return;
    if (one) {
        if (threads_plan(L->a, one, &why)) note_banks(L, st, one, NULL);
        return;
    }
    Diag *g = diag_at(L->c->diags, P0002, st->span, "threads of a warp meet in banks of shared memory: %u.%02u times the passes, %s",
                      worst / WAYS_ONE, worst % WAYS_ONE * 100 / WAYS_ONE, writes ? "writing" : "reading");
    diag_fix(L->c->diags, g, "`swizzle 128` (64, 32) on the tile, if its rows are at least that many bytes");
}

/* In front: from tile to tile. */
static void add_batch(IrPlan *q, Workers by)
{
    uint32_t rest = q->rank++;
    memmove(q->extent + 1, q->extent, rest * sizeof *q->extent);
    memmove(q->src.pitch + 1, q->src.pitch, rest * sizeof *q->src.pitch);
    memmove(q->dst.pitch + 1, q->dst.pitch, rest * sizeof *q->dst.pitch);
    q->extent[0] = (uint32_t)by.batch;
    q->src.pitch[0] = by.pitch_from;
    q->dst.pitch[0] = by.pitch_to;
}

bool plan_work(Lower *L, const PStmt *st, const MoveInfo *from, const MoveInfo *to, Workers by, uint32_t *plan)
{
    const PMove *mv = st->move;
    const char *why = "";
    bool fill = mv->kind == MOVE_FILL;
    IrPlan q = {.name = arena_printf(L->a, "work%u", L->ir->plans.n),
                .xform = fill ? IRX_FILL : mv->transpose ? IRX_TRANSPOSE : IRX_COPY,
                .add = !fill && mv->reduce >= 0,
                .sat = mv->sat,
                .value = mv->value,
                .threads = by.threads};
    if (!fill) side_of(L, from, &q, &q.src);
    side_of(L, to, &q, &q.dst);
    extents_of(fill ? to : from, &q);
    IrPlan one = q;
    if (by.batch > 1) add_batch(&q, by);
    if (!threads_plan(L->a, &q, &why)) {
        lower_error(L, E0520, st->span, "threads can't do this move: %s", why);
        return false;
    }
    if (mv->kind != MOVE_TMEM_LD && mv->kind != MOVE_TMEM_ST) note_banks(L, st, &q, by.batch > 1 ? &one : NULL);
    *plan = L->ir->plans.n;
    vec_push(L->a, &L->ir->plans, q);
    return true;
}

enum { ZEROS_MIN = 1024, ZEROS_MAX = 1 << 24, ZEROS_UNIT = 8 };

/* st.bulk is one instruction of one thread for any number of bytes; small tiles are as soon done by threads that are there
 * anyhow. */
int64_t plan_zeros(Lower *L, const PStmt *st, const MoveInfo *to, Workers by)
{
    int64_t bytes = to->bytes * by.batch;
    bool fill = st->move->kind == MOVE_FILL && st->move->value == 0;
    if (!fill || !target_has(L->c->target, form_info(FORM_ST_BULK)->feature)) return 0;
    if (!plan_one_run(to) || (by.batch > 1 && by.pitch_to != to->bytes)) return 0;
    if (bytes < ZEROS_MIN || bytes > ZEROS_MAX || bytes % ZEROS_UNIT) return 0;
    return domain_divides(L->d, ZEROS_UNIT, to->offset) ? bytes : 0;
}

/* When the number of threads is known. */
static void finish_threads(Lower *L, Planned *p)
{
    const Sched *s = L->sched;
    Workers by = {.threads = s->warps[AG_WORK] * 32, .batch = 1};
    if (p->across && p->across->whole) {
        by.batch = p->across->batch;
        by.pitch_from = batch_pitch(L, p->across, p->mi.tile);
        by.pitch_to = batch_pitch(L, p->across, p->other.tile);
    }
    if (p->tm) {
        tmem_threads(L, p->tm, by.threads, &p->plan);
    } else {
        p->zeros = plan_zeros(L, p->st, &p->other, by);
        if (p->zeros == 0) plan_work(L, p->st, &p->mi, &p->other, by, &p->plan);
    }
}

void plan_threads_all(Lower *L)
{
    for (uint32_t i = 0; i < L->sched->moves.n; i++) {
        Planned *p = L->sched->moves.v[i];
        if (move_by_threads(p->st->move)) finish_threads(L, p);
    }
}

/* Bulk groups complete in any order: a store that may write what an earlier one writes comes behind its completion. */
void plan_order(Lower *L)
{
    Sched *s = L->sched;
    for (uint32_t i = 0; i < s->moves.n; i++) {
        Planned *p = s->moves.v[i];
        if (p->st->move->kind != MOVE_STORE) continue;
        for (uint32_t j = 0; j < s->moves.n && !p->ordered; j++) {
            const Planned *q = s->moves.v[j];
            if (q->st->move->kind != MOVE_STORE || (j > i && p->depth == 0 && q->depth == 0)) continue;
            p->ordered = stores_meet(L, &L->accesses.v[q->access], &L->accesses.v[p->access]);
        }
    }
}

bool plan_move(Lower *L, const PStmt *st)
{
    Sched *s = L->sched;
    Planned *p = arena_new(L->a, Planned);
    *p = (Planned){.st = st, .src = RING_NONE, .dst = RING_NONE, .shares = {.n = 1, .dim = -1}, .agent = AG_NONE};
    vec_push(L->a, &s->moves, p);
    p->chain = arena_array(L->a, Link, s->depth + 1);
    p->depth = s->depth;
    p->across = s->across;
    p->conditional = s->conditions > 0;
    memcpy(p->chain, s->chain, (s->depth + 1) * sizeof *p->chain);
    switch (st->move->kind) {
    case MOVE_LOAD:
    case MOVE_STORE:
    case MOVE_PREFETCH: return plan_copy(L, p);
    case MOVE_SHARED: return plan_threads(L, p);
    case MOVE_FILL: return st->move->dst.peer ? plan_peer(L, p) : plan_threads(L, p);
    case MOVE_PEER: return plan_peer(L, p);
    case MOVE_TMEM_CP:
    case MOVE_TMEM_LD:
    case MOVE_TMEM_ST:
    case MOVE_SHIFT: return plan_tmem(L, p);
    }
    return false;
}
