/* Parts of tiles: those that are one run of bytes, and those that the threads of a role move - an IrPlan, or one instruction
 * that clears. */
#include "lower/kernel/report.h"
#include "lower/plan/threads.h"
#include "lower/plan/work.h"

#include <string.h>

/* ---- runs ---- */

/* A part of a tile that is one run of bytes. */
bool plan_one_run(const MoveInfo *mi)
{
    const PTile *t = mi->tile;
    bool whole = true, panels = tile_span(mi->tile) && t->extent[t->rank - 1] * mi->sbits / 8 > tile_span(mi->tile);
    for (int i = t->rank - 1; i >= 0; i--) {
        if (!whole && (panels || mi->s->dim[i].extent != 1)) return false; /* panels lie one behind the other */
        bool all = mi->s->dim[i].extent == t->extent[i];
        if (mi->s->dim[i].step != 1 && mi->s->dim[i].extent > 1) return false;
        if (i == t->rank - 1 && tile_span(mi->tile) && !all) return false;
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
    s->span = (uint32_t)tile_span(mi->tile);
    s->panel = tile_span(mi->tile) ? (uint32_t)(tile_span(mi->tile) * tile_panel_rows(mi->tile)) : 0;
    int n = 0;
    for (int i = 0; i < t->rank; i++) {
        if (!mi->s->dim[i].marked) continue;
        bool inner = i == t->rank - 1;
        s->pitch[n++] = (uint32_t)((inner && tile_span(mi->tile) ? mi->sbits : tile_pitch_bits(mi->tile, i)) / 8 * mi->s->dim[i].step);
    }
    q->rank = (uint8_t)n;
}

static void extents_of(const MoveInfo *mi, IrPlan *q)
{
    int n = 0;
    for (int i = 0; i < mi->tile->rank; i++)
        if (mi->s->dim[i].marked) q->extent[n++] = (uint32_t)mi->s->dim[i].extent;
}

enum { WAYS_ONE = 16, WAYS_NOTED = 2 * WAYS_ONE }; /* of read_ways and write_ways */

static bool at_panel(const PRegion *r, const PTile *t, int64_t panel)
{
    if (r->tile != t) return true;
    const Sx *start = r->dim[t->rank - 1].start;
    return start->op == SX_CONST && start->k % panel == 0;
}

/* Do all parts of the tile begin where a panel of so many elements does? */
static bool all_at_panels(const PBlock *b, const PTile *t, int64_t panel)
{
    for (const PStmt *s = b->first; s; s = s->next) {
        if (s->kind == P_MOVE && !(at_panel(&s->move->src, t, panel) && at_panel(&s->move->dst, t, panel))) return false;
        if (!all_at_panels(&s->body, t, panel) || !all_at_panels(&s->other, t, panel)) return false;
    }
    return true;
}

static int64_t row_bytes(const PTile *t)
{
    return t->extent[t->rank - 1] * elem_info(t->type)->shared_bits / 8;
}

/* The widest that its rows have room for; 0: none. */
static int widest_swizzle(const PTile *t)
{
    int64_t row = row_bytes(t);
    return row % 128 == 0 ? 128 : row % 64 == 0 ? 64 : row % 32 == 0 ? 32 : 0;
}

static bool in_panels(Lower *L, const PTile *t)
{
    int best = widest_swizzle(t);
    return all_at_panels(&L->k->body, t, (best ? best : 128) * 8 / elem_info(t->type)->shared_bits);
}

static bool takes_swizzle(Lower *L, const PTile *t, int span)
{
    return t && !t->tensor && !t->interleave && widest_swizzle(t) == span && span > swizzle_span(t->swizzle) && in_panels(L, t);
}

/* The widest swizzle, on the other tile, too, where threads meet there as well; or rows with room for one; where parts begin within a
 * swizzle's panel, rows that begin in other banks. */
static void advise_banks(Lower *L, Diag *g, const PTile *t, const PTile *other)
{
    if (!t || t->tensor || t->interleave) return;
    const char *name = name_text(L, t->name);
    int best = widest_swizzle(t);
    int64_t row = row_bytes(t);
    if (!in_panels(L, t)) {
        if (t->swizzle == MAP_SWIZZLE_NONE && row % 32 == 0)
            diag_fix(L->c->diags, g, "rows of an odd number of 16 bytes, such as %lld: those of `%s` have %lld bytes", (long long)row + 16, name, (long long)row);
    } else if (best > swizzle_span(t->swizzle)) {
        bool two = other != t && takes_swizzle(L, other, best);
        diag_fix(L->c->diags, g, "`swizzle %d` on `%s`%s", best, name, two ? arena_printf(L->a, " and `%s`", name_text(L, other->name)) : "");
    } else if (best < 128) {
        diag_fix(L->c->diags, g, "rows of 128 bytes and `swizzle 128`: those of `%s` have %lld bytes", name, (long long)row);
    }
}

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
    bool both = q->xform != IRX_FILL && q->write_ways >= WAYS_NOTED && q->read_ways >= WAYS_NOTED;
    Diag *g = diag_at(L->c->diags, P0002, st->span, "threads of a warp meet in banks of shared memory: %u.%02u times the passes, %s",
                      worst / WAYS_ONE, worst % WAYS_ONE * 100 / WAYS_ONE, both ? "reading and writing" : writes ? "writing" : "reading");
    const PRegion *r = writes ? &st->move->dst : &st->move->src, *other = writes ? &st->move->src : &st->move->dst;
    bool steps = (r->rank && r->dim[r->rank - 1].step != 1) || (both && other->rank && other->dim[other->rank - 1].step != 1);
    if (!steps) advise_banks(L, g, r->tile, both ? other->tile : NULL); /* no steps in panels */
}

/* The source's first dimension is the one that is added along. */
static void take_parts(IrPlan *q)
{
    q->parts = q->extent[0];
    q->apart = q->src.pitch[0];
    memmove(q->extent, q->extent + 1, (q->rank - 1u) * sizeof *q->extent);
    memmove(q->src.pitch, q->src.pitch + 1, (q->rank - 1u) * sizeof *q->src.pitch);
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

static bool put_plan(Lower *L, const PStmt *st, IrPlan *q, uint32_t *plan)
{
    const char *why = "";
    if (!threads_plan(L->a, q, &why)) return cannot(L, NULL, E0520, st->span, (Span){0, 0}, NULL, NULL, "threads can't do this move: %s", why);
    *plan = L->ir->plans.n;
    vec_push(L->a, &L->ir->plans, *q);
    return true;
}

bool plan_work(Lower *L, const PStmt *st, const MoveInfo *from, const MoveInfo *to, Workers by, uint32_t *plan)
{
    const PMove *mv = st->move;
    bool fill = mv->kind == MOVE_FILL;
    IrPlan q = {.name = arena_printf(L->a, "work%u", L->ir->plans.n),
                .xform = fill ? IRX_FILL : mv->transpose ? IRX_TRANSPOSE : mv->reverse ? IRX_REVERSE : mv->sum ? IRX_SUM : IRX_COPY,
                .add = !fill && mv->reduce >= 0,
                .sat = mv->sat,
                .value = mv->value,
                .threads = by.threads};
    if (!fill) side_of(L, from, &q, &q.src);
    extents_of(fill ? to : from, &q);
    if (mv->sum) take_parts(&q);
    side_of(L, to, &q, &q.dst);
    IrPlan one = q;
    if (by.batch > 1) add_batch(&q, by);
    if (!put_plan(L, st, &q, plan)) return false;
    if (mv->kind != MOVE_TMEM_LD && mv->kind != MOVE_TMEM_ST) note_banks(L, st, &q, by.batch > 1 ? &one : NULL);
    return true;
}

bool plan_global_work(Lower *L, const MoveInfo *mi, const GlobalPart *g, uint32_t threads, uint32_t *plan)
{
    IrPlan q = {.name = arena_printf(L->a, "work%u", L->ir->plans.n), .xform = IRX_COPY, .threads = threads};
    side_of(L, mi, &q, mi->load ? &q.dst : &q.src);
    extents_of(mi, &q);
    global_side(mi, g, &q, mi->load ? &q.src : &q.dst);
    return put_plan(L, mi->stmt, &q, plan);
}

enum { ZEROS_MIN = 1024, ZEROS_MAX = 1 << 24, ZEROS_UNIT = 8 };

/* st.bulk is one instruction of one thread for any number of bytes; small tiles are as soon done by threads that are there
 * anyhow. */
int64_t plan_zeros(Lower *L, const PStmt *st, const MoveInfo *to, Workers by)
{
    int64_t bytes = to->bytes * by.batch;
    bool fill = st->move->kind == MOVE_FILL && st->move->value == 0 && !st->move->value_sx;
    if (!fill || !target_has(L->c->target, form_info(FORM_ST_BULK)->feature)) return 0;
    if (!plan_one_run(to) || (by.batch > 1 && by.pitch_to != to->bytes)) return 0;
    if (bytes < ZEROS_MIN || bytes > ZEROS_MAX || bytes % ZEROS_UNIT) return 0;
    return domain_divides(L->d, ZEROS_UNIT, to->offset) ? bytes : 0;
}
