/* --explain-plan: what was decided, per move and for the kernel. */
#include <string.h>

#include "lower/algebra/scalars/scalars.h"
#include "lower/explain/explain.h"
#include "lower/plan/maps.h"
#include "lower/plan/threads.h"
#include "lower/schedule/schedule.h"

static const char *how_it_completes(Lower *L, const MoveInfo *mi)
{
    const PMove *mv = mi->mv;
    if (mi->prefetch) return "nothing waits for it";
    if (L->derived) return explain_completes(L, mi);
    if (mv->is_load && mv->commit == COMMIT_BARRIER)
        return arena_printf(L->a, "barrier %s", name_text(L, mv->barrier->name));
    if (mi->load) {
        const Ring *r = &L->sched->rings[mi->tile->index];
        return arena_printf(L->a, "barrier %s (derived)", L->explained->bars[r->full]);
    }
    if (mv->in_group) return "bulk group of the `group` block";
    return mv->commit == COMMIT_GROUP ? "bulk group" : "bulk group (derived)";
}

static const char *layout_text(Lower *L, const MoveInfo *mi)
{
    int64_t span = tile_span(mi->tile);
    if (span == 0) return "row-major";
    int64_t panels = (mi->tile->extent[mi->tile->rank - 1] * mi->sbits / 8 + span - 1) / span;
    return arena_printf(L->a, "swizzle %lld, %lld panel%s of %lld bytes", (long long)span, (long long)panels,
                        panels == 1 ? "" : "s", (long long)(span * tile_panel_rows(mi->tile)));
}

static void policy_line(Lower *L, Text *t, const MoveInfo *mi)
{
    static const char *const DERIVED[] = {[HINT_LAST] = "evict_last", [HINT_FIRST] = "evict_first"};
    static const char *const WHEN[] = {"never: --hints=off", "where the launch moves more than 8 times what L2 holds",
                                       "always: --hints=on"};
    if (mi->mv->cache) text_printf(t, "      cache policy %s\n", name_text(L, mi->mv->cache->name));
    else if (mi->hint) text_printf(t, "      cache policy %s (derived), %s\n", DERIVED[mi->hint], WHEN[L->k->hints + 1]);
}

static const char *numbers(Lower *L, const int16_t *v, int n)
{
    if (n == 1) return arena_printf(L->a, "%d", v[0]);
    if (n == 2) return arena_printf(L->a, "%d, %d", v[0], v[1]);
    return arena_printf(L->a, "%d, %d, %d", v[0], v[1], v[2]);
}

/* What the map gives: its box, its pixels, or rows. */
static const char *box_text(Lower *L, const MfMap *m)
{
    if (map_is_im2col(m->mode)) {
        int n = map_is_wide(m->mode) ? 1 : m->rank - 2;
        return arena_printf(L->a, "%lld pixels of %u channels, lower (%s) upper (%s)", (long long)map_pixels(m->mode, m->pixels, 0),
                            m->channels, numbers(L, m->lower, n), numbers(L, m->upper, n));
    }
    Text t;
    text_in(&t, L->a);
    text_lit(&t, "box [");
    for (int d = 0; d < m->rank; d++) text_printf(&t, d ? ", %u" : "%u", m->box[d]);
    text_char(&t, ']');
    return text_end(&t);
}

static const char *mode_text(const MfMap *m) { return map_mode(m->mode)->ptx; }

static const char *number_text(Lower *L, const Sx *x)
{
    return x ? poly_text(L, scalar_poly(L, x)) : "0";
}

static void mode_lines(Lower *L, Text *t, const MoveInfo *mi, const TensorPlan *p)
{
    const PMove *mv = mi->mv;
    if (map_is_wide(p->mode))
        text_printf(t, "      halo (%s, %s): %s%lld rows of the tile\n", number_text(L, mv->halo[0]), number_text(L, mv->halo[1]),
                    p->halo_bytes ? "at most " : "", (long long)im2col_pixels(mv));
    if (is_rows4(mv))
        text_printf(t, "      four rows by instruction%s; a row outside of the tensor is %s\n",
                    L->derived && p->npieces > 1 ? ", one per lane where the role has them" : "",
                    mi->load ? "zeros" : "not written");
    if (move_peers(mi)->in_pair) text_lit(t, "      .cta_group::2: the barrier may be that of the other CTA of the pair\n");
}

/* tensor: ".tensor", or nothing. */
static void copy_line(Text *t, const MoveInfo *mi, const char *tensor)
{
    bool adds = !mi->load && mi->mv->reduce >= 0;
    text_printf(t, "    cp%s.async.bulk%s%s, %s", adds ? ".reduce" : "", mi->prefetch ? ".prefetch" : "", tensor,
                mi->prefetch ? "global -> L2" : mi->load ? "global -> shared" : "shared -> global");
}

static void explain_tensor(Lower *L, const MoveInfo *mi, const TensorPlan *p)
{
    const MfMap *m = &L->ir->mf.maps.v[p->map];
    Text t;
    text_in(&t, L->a);
    copy_line(&t, mi, ".tensor");
    text_printf(&t, "%s%s\n      %s", m->mode ? ", " : "", m->mode ? mode_text(m) + 1 : "", box_text(L, m));
    text_printf(&t, " of map %s%s, %s", L->explained->maps[p->map], mi->mv->via == VIA_MAP ? "" : " (inferred)", layout_text(L, mi));
    text_printf(&t, "\n      %lld bytes", (long long)(p->piece_bytes * p->npieces));
    if (p->npieces > 1) text_printf(&t, ": cut into %u copies of %lld", p->npieces, (long long)p->piece_bytes);
    text_printf(&t, ", %s\n", how_it_completes(L, mi));
    mode_lines(L, &t, mi, p);
    if (mi->load && m->type == MAP_TF32) text_lit(&t, "      rounded to 10 bits of mantissa on the way: its map is of tf32\n");
    policy_line(L, &t, mi);
    for (int d = 0; d < mi->rank; d++) {
        if (p->clamp[d]) text_printf(&t, "      coordinate %d is clamped to 32 bits\n", d);
        if (p->negative[d]) text_printf(&t, "      guard: left out where start %d is negative\n", d);
        if (p->huge[d]) text_printf(&t, "      guard: left out where start %d exceeds 32 bits\n", d);
    }
    if (mi->mv->via == VIA_INFERRED) text_lit(&t, "      first in the order tensor, bulk: bulk was not looked at\n");
    explain_move(L, mi->stmt, text_end(&t));
}

static void explain_bulk(Lower *L, const MoveInfo *mi, const BulkPlan *p, const Refusal *tensor)
{
    Text t;
    text_in(&t, L->a);
    copy_line(&t, mi, "");
    text_printf(&t, "\n      %lld bytes in %lld run%s of %lld, %s\n", (long long)(p->run * p->nruns), (long long)p->nruns,
                p->nruns == 1 ? "" : "s", (long long)p->run, how_it_completes(L, mi));
    if (p->loop) text_str(&t, L->derived ? "      a row per lane\n" : "      rows in a loop\n");
    if (p->low || p->high)
        text_printf(&t, "      guard: clipped at the tensor's %s%s%s\n", p->low ? "start" : "",
                    p->low && p->high ? " and " : "", p->high ? "end" : "");
    for (int i = 0; i < p->nrows; i++)
        if (p->row[i].low || p->row[i].high)
            text_printf(&t, "      guard: rows outside dimension %d %s\n", p->row[i].dim,
                        mi->load ? "are zeros" : "are left out");
    if (mi->mv->bytes) text_printf(&t, "      of each 16 bytes those of the mask %s\n", source_text(L, mi->mv->bytes->span));
    policy_line(L, &t, mi);
    if (tensor) text_printf(&t, "      rejected: tensor copy, %s\n", tensor->text);
    explain_move(L, mi->stmt, text_end(&t));
}

void explain_global(Lower *L, const MoveInfo *mi, const GlobalPart *g, const IrPlan *q)
{
    Text t;
    text_in(&t, L->a);
    text_printf(&t, "    threads, %s: %s\n      role work\n", mi->load ? "global -> shared" : "shared -> global", threads_text(L->a, q));
    for (int d = 0; d < mi->rank; d++)
        if (g->low[d] || g->high[d])
            text_printf(&t, "      guard: what lies %s the tensor in dimension %d %s\n", !g->low[d] ? "beyond" : !g->high[d] ? "below" : "outside of", d,
                        mi->load ? "is zeros" : "is left out");
    explain_move(L, mi->stmt, text_end(&t));
}

void explain_copy(Lower *L, const MoveInfo *mi, const Copies *c)
{
    if (c->t) explain_tensor(L, mi, c->t);
    else explain_bulk(L, mi, c->b, c->no_tensor);
}

static void print_memory(Lower *L)
{
    const IrKernel *k = L->ir;
    Text *t = L->plan;
    text_printf(t, "  shared memory: %u of %u bytes\n", k->mf.smem, L->c->target->smem_per_cta);
    for (uint32_t i = 0; i < k->bufs.n; i++) {
        const IrBuf *b = &k->bufs.v[i];
        if (b->lanes || b->maps) continue;
        text_printf(t, "    %6u  %s: %u bytes", b->offset, L->explained->bufs[i], b->bytes);
        if (b->slots > 1) text_printf(t, " x %u slots", b->slots);
        if (b->pitch != b->bytes) text_printf(t, " (padded to %u)", b->pitch);
        text_printf(t, ", aligned to %u\n", b->align);
    }
    for (uint32_t i = 0; i < k->bars.n; i++) {
        const IrBar *b = &k->bars.v[i];
        text_printf(t, "    %6u  barrier %s", b->offset, L->explained->bars[i]);
        if (b->slots > 1) text_printf(t, " x %u slots", b->slots);
        text_printf(t, ": %u arrival%s per phase%s\n", b->count, b->count == 1 ? "" : "s", b->derived ? ", derived" : "");
    }
}

static void print_columns(Lower *L)
{
    const IrKernel *k = L->ir;
    if (k->tmem == 0) return;
    text_printf(L->plan, "  tensor memory: %u of %u columns allocated%s\n", k->tmem, L->c->target->tmem_columns, k->pair ? ", in pairs of CTAs" : "");
    for (uint32_t i = 0; i < k->bufs.n; i++) {
        const IrBuf *b = &k->bufs.v[i];
        if (b->lanes == 0) continue;
        text_printf(L->plan, "    %6u  %s: %u lanes, %u column%s", b->column, L->explained->bufs[i], b->lanes, b->columns, b->columns == 1 ? "" : "s");
        if (b->slots > 1) text_printf(L->plan, " x %u tiles, %u apart", b->slots, b->column_pitch);
        text_char(L->plan, '\n');
    }
}

static bool is_one(const IrKernel *k, Lx x)
{
    const LxNode *n = &k->mf.lx.nodes.v[x - 1];
    return n->op == LX_CONST && n->k == 1;
}

static void print_grid(Lower *L)
{
    const MfKernel *mf = &L->ir->mf;
    if (mf->deal != MF_DEAL_NONE) return;
    if (is_one(L->ir, mf->grid[0]) && is_one(L->ir, mf->grid[1]) && is_one(L->ir, mf->grid[2])) {
        text_lit(L->plan, "  one CTA\n");
        return;
    }
    text_lit(L->plan, "  grid (");
    for (int i = 0; i < 3; i++) text_printf(L->plan, "%s%s", i ? ", " : "", lx_text(L, mf->grid[i]));
    text_lit(L->plan, ")\n");
}

/* Those of the n values that only the launch knows, as a list behind `what`; what else there is to say of them, behind that. */
static void print_unknown(Lower *L, const char *what, const Lx *values, int n, const char *rule)
{
    int shown = 0;
    for (int i = 0; i < n; i++)
        if (L->ir->mf.lx.nodes.v[values[i] - 1].op != LX_CONST)
            text_printf(L->plan, "%s %s", shown++ ? "," : what, lx_text(L, values[i]));
    if (shown) text_str(L->plan, rule);
}

/* What the launch makes sure of before it encodes the map: lang/maps/rules.h. */
static void print_map_rules(Lower *L, uint32_t map)
{
    const MfMap *m = &L->ir->mf.maps.v[map];
    int align = map_global_align(m->type, m->interleave);
    bool wide = align == 32;
    text_printf(L->plan, "    %s map %s: its address in `%s` is a multiple of %d", wide ? "E0411" : "E0410", L->explained->maps[map],
                L->ir->mf.tensors.v[m->tensor].name, align);
    print_unknown(L, "; E0412 extents", m->dim, m->rank, " at most 2^31");
    print_unknown(L, wide ? "; E0417, E0416 pitches" : "; E0415, E0416 pitches", m->pitch, m->rank - 1,
                  wide ? " (in bytes) multiples of 32 below 2^40" : " (in bytes) multiples of 16 below 2^40");
    text_char(L->plan, '\n');
}

void explain_head(Lower *L)
{
    text_printf(L->plan, "kernel %s", L->ir->mf.name);
    if (L->k->schedule) text_printf(L->plan, ", schedule %u", L->k->schedule + 1);
    text_lit(L->plan, ": ");
}

void explain_checks(const MfKernel *mf, uint32_t from, Text *t)
{
    for (uint32_t i = from; i < mf->checks.n; i++) {
        const MfCheck *c = &mf->checks.v[i];
        text_printf(t, "    %s %s: %s (%s)\n", error_info(c->code)->code, c->text, c->why, c->place);
    }
}

/* Of one name there may be several: the IR's names tell them apart. */
static void which_tile(Lower *L, const PTile *tile)
{
    const Ring *r = tile ? &L->sched->rings[tile->index] : NULL;
    if (r == NULL || r->tile == NULL || r->turn == NULL) return;
    const char *own = L->explained->bufs[r->buf], *name = L->ir->bufs.v[r->buf].name;
    if (strcmp(own, name) != 0) text_printf(L->plan, "    `%s` is %s\n", name_text(L, tile->name), own);
}

void explain_kernel(Lower *L)
{
    static const char *const L2[] = {"none", "64 bytes", "128 bytes", "256 bytes"};
    const IrKernel *k = L->ir;
    Text *t = L->plan;
    L->explained->bufs = ir_distinct_names(L->a, k, IRA_BUF);
    L->explained->bars = ir_distinct_names(L->a, k, IRA_BAR);
    L->explained->maps = ir_distinct_names(L->a, k, IRA_MAP);
    if (L->derived) {
        explain_schedule(L);
    } else if (k->roles.n == 1) {
        explain_head(L);
        text_lit(t, "one role, 1 elected thread\n");
    } else {
        explain_head(L);
        text_printf(t, "%u roles by hand, %u threads\n", k->roles.n, k->mf.threads);
        for (uint32_t i = 0; i < k->roles.n; i++)
            text_printf(t, "    %s: %s %u warp%s\n", k->roles.v[i].name,
                        k->roles.v[i].elect ? "1 elected thread of" : "all threads work, one issues copies:",
                        k->roles.v[i].warps, k->roles.v[i].warps == 1 ? "" : "s");
    }
    explain_moves(L);
    print_grid(L);
    print_memory(L);
    print_columns(L);
    if (k->mf.maps.n) text_lit(t, "  maps\n");
    for (uint32_t i = 0; i < k->mf.maps.n; i++) {
        const MfMap *m = &k->mf.maps.v[i];
        text_printf(t, "    %s: %s%s%s of %s, %s%s%s", L->explained->maps[i], m->is_load ? "load" : "",
                    m->is_load && m->is_store ? " and " : "", m->is_store ? "store" : "",
                    name_text(L, L->maps->map_tensors.v[i]->name), m->mode ? mode_text(m) + 1 : "", m->mode ? ", " : "", box_text(L, m));
        text_printf(t, ", swizzle %d, ", swizzle_span(m->swizzle));
        if (m->interleave) text_printf(t, "interleave %lld, ", (long long)map_slice_bytes(m->interleave));
        text_printf(t, "L2 promotion %s\n", m->l2 < 4 ? L2[m->l2] : "?");
        explain_device_map(L, i);
    }
    if (L->explained->moves.n) text_lit(t, "  moves\n");
    for (uint32_t i = 0; i < L->explained->moves.n; i++) {
        const MoveLines *m = &L->explained->moves.v[i];
        text_printf(t, "   %s  %s\n", place_text(L, m->stmt->span), source_text(L, m->stmt->span));
        for (const CallFrame *f = m->stmt->frame; f; f = f->outer) text_printf(t, "    in `%s`, called at %s\n", name_text(L, f->fn), place_text(L, f->call));
        which_tile(L, m->stmt->move->src.tile);
        if (m->stmt->move->dst.tile != m->stmt->move->src.tile) which_tile(L, m->stmt->move->dst.tile);
        text_str(t, m->lines);
    }
    if (k->mf.checks.n || k->mf.maps.n) text_lit(t, "  checked at launch\n");
    explain_checks(&k->mf, 0, t);
    for (uint32_t i = 0; i < k->mf.maps.n; i++) print_map_rules(L, i);
    if (k->zero_bytes) text_printf(t, "  block of zeros: %u bytes\n", k->zero_bytes);
}
