/* Moves into and out of tensor memory: which instructions do them, and the proof that these are the move. */
#include "lower/ir/thread_work.h"
#include "lower/kernel/report.h"
#include "lower/plan/tensor_memory.h"
#include "lower/plan/work.h"

enum { QUARTER = 32, ROWS_4 = 4, PATTERN_ROWS = 8, WAYS_ONE = 16, CELL = 4 /* bytes of a column */ };

static bool refuse(Lower *L, const MoveInfo *mi, const char *why, const char *fix)
{
    return cannot(L, NULL, E0552, mi->s->span, mi->tile->span, "the tile", fix, "tcgen05.cp can't read this: %s", why);
}

/* ---- the source ---- */

typedef struct Rows { /* of the source's part: a lane gets a row, or the same row of several parts, one after the other */
    int64_t n, bytes, pitch; /* bytes of a row of one part; from row to row */
    int64_t parts, part[P_RANK], far[P_RANK]; /* all; how many and how far from each other, innermost first */
    int nparts;
    int64_t first; /* bytes from where its panel's row begins to the part, where it is in more than one panel */
    int64_t panel; /* from panel to panel of a swizzled tile */
    uint8_t swizzle;
    int64_t span;
} Rows;

static bool find_rows(Lower *L, const MoveInfo *mi, Rows *r)
{
    const PTile *t = mi->tile;
    int dim[P_RANK], n = 0;
    for (int i = 0; i < t->rank; i++)
        if (mi->s->dim[i].marked) dim[n++] = i;
    if (n < 2 || dim[n - 1] != t->rank - 1)
        return refuse(L, mi, "the elements of a row do not lie side by side", "let the innermost dimension be the elements");
    *r = (Rows){.n = mi->s->dim[dim[n - 2]].extent,
                .bytes = mi->s->dim[dim[n - 1]].extent * mi->sbits / 8,
                .pitch = tile_pitch_bits(mi->tile, dim[n - 2]) / 8,
                .parts = 1,
                .panel = tile_span(mi->tile) * tile_panel_rows(mi->tile),
                .swizzle = (uint8_t)t->swizzle,
                .span = tile_span(mi->tile)};
    for (int i = n - 3; i >= 0; i--) {
        r->part[r->nparts] = mi->s->dim[dim[i]].extent;
        r->far[r->nparts] = tile_pitch_bits(mi->tile, dim[i]) / 8;
        r->parts *= r->part[r->nparts++];
    }
    return true;
}

/* Where the part begins within its panel's row, if rows go on in the next panel. */
static bool find_first(Lower *L, const MoveInfo *mi, Rows *r)
{
    Poly start = mi->at[mi->tile->rank - 1];
    int64_t k, unit = TMEM_CHUNK;
    if (!mi->sliced) return true;
    if (poly_is_const(start, &k)) {
        r->first = k * mi->sbits / 8 % r->span;
        return true;
    }
    while (unit < r->bytes) unit *= 2;
    bool one_panel = mi->tile->extent[mi->tile->rank - 1] * mi->sbits / 8 <= r->span;
    if (one_panel || (unit <= r->span && domain_divides(L->d, unit * 8 / mi->sbits, start))) return true;
    return refuse(L, mi, arena_printf(L->a, "%lld bytes from %s are not proved to lie in one panel of %lld bytes", (long long)r->bytes, poly_text(L, start), (long long)r->span),
                  "begin at a multiple of as many bytes");
}

/* Where byte `x` of a lane lies, of row `row` of the source: bytes from the part's start, before the swizzle exchanges bits of
 * the address. Those are the same bits for the tile and for the instruction: of the absolute address, and the tile begins where
 * the pattern does, so its base offset is 0 wherever the part begins (PTX ISA, Shared memory descriptor). */
static int64_t byte_at(const Rows *r, int64_t row, int64_t x)
{
    int64_t at = row * r->pitch, part = x / r->bytes;
    x %= r->bytes;
    for (int i = 0; i < r->nparts; part /= r->part[i++]) at += part % r->part[i] * r->far[i];
    if (r->span == 0) return at + x;
    x += r->first;
    return at + x / r->span * r->panel + x % r->span - r->first;
}

/* The proof: each chunk that an instruction reads is the one that belongs where it goes. */
static bool agrees(const Rows *r, const CpPiece *p)
{
    const TmemShape *s = tmem_shape(p->cp.shape);
    unsigned chunks = s->columns / 4u;
    for (unsigned i = 0; i < p->cp.n; i++) {
        for (unsigned row = 0; row < s->rows; row++) {
            for (unsigned c = 0; c < chunks; c++) {
                int64_t x = p->byte + ((int64_t)i * chunks + c) * TMEM_CHUNK;
                if (p->from + tmem_linear(&p->cp, i, row, c) != byte_at(r, p->row + row, x)) return false;
            }
        }
    }
    return true;
}

static const char *wanted_swizzle(const Rows *r)
{
    return r->bytes % 128 == 0 ? "give the tile `swizzle 128`" : r->bytes % 64 == 0 ? "give the tile `swizzle 64`"
           : r->bytes % 32 == 0                             ? "give the tile `swizzle 32`"
                                                            : "rows of 16 bytes, or `via threads`";
}

/* ---- the instructions ---- */

/* Can chunks be taken in pairs? Their distance: without a swizzle it is the descriptor's leading dimension, else 16 bytes. */
static bool pairs(const Rows *r, uint32_t *lead)
{
    int64_t width = r->parts * r->bytes, apart = byte_at(r, 0, width > TMEM_CHUNK ? TMEM_CHUNK : 0);
    if (width % (2 * TMEM_CHUNK)) return false;
    for (int64_t x = 0; x < width; x += 2 * TMEM_CHUNK)
        if (byte_at(r, 0, x + TMEM_CHUNK) - byte_at(r, 0, x) != apart) return false;
    if (apart <= 0 || (r->span && apart != TMEM_CHUNK)) return false;
    *lead = (uint32_t)apart;
    return true;
}

static IrCpShape shape_of(const PMove *mv, const Rows *r, uint32_t *lead)
{
    *lead = TMEM_CHUNK;
    switch (mv->warps) {
    case WARPS_X4: return IRP_32X128B_X4;
    case WARPS_X2_02_13: return IRP_64X128B_02_13;
    case WARPS_X2_01_23: return IRP_64X128B_01_23;
    default: break;
    }
    bool wide = pairs(r, lead);
    if (mv->dst.dim[0].step != 1) return IRP_4X256B;
    return wide ? IRP_128X256B : IRP_128X128B;
}

static bool fits(Lower *L, const MoveInfo *mi, const Rows *r, IrCpShape shape)
{
    unsigned mode;
    uint32_t lead;
    int64_t unit = 4 * (int64_t)tmem_shape(shape)->columns, width = r->parts * r->bytes;
    if (mi->tile->interleave) return refuse(L, mi, "its tile is interleaved", "a tile without `interleave`");
    if (!tmem_swizzle(r->swizzle, &mode)) return refuse(L, mi, "its swizzle moves pieces of more than 16 bytes", "`swizzle 128` without `atom`");
    if (width % unit)
        return refuse(L, mi, arena_printf(L->a, "rows of %lld bytes, and %s takes %lld at a time", (long long)width, tmem_shape(shape)->text, (long long)unit),
                      shape == IRP_4X256B ? "rows of a multiple of 32 bytes" : "`via threads`"); /* threads have no steps of lanes */
    if (r->span == 0 && (r->pitch != TMEM_CHUNK || r->bytes != TMEM_CHUNK))
        return refuse(L, mi, arena_printf(L->a, "without a swizzle eight rows of 16 bytes lie in a row, here a row has %lld bytes and the next one begins %lld further",
                                          (long long)r->bytes, (long long)r->pitch),
                      shape == IRP_4X256B ? "give the tile `swizzle 32`" : wanted_swizzle(r));
    if (r->span && r->pitch != r->span)
        return refuse(L, mi, arena_printf(L->a, "rows %lld bytes apart, in a pattern of %lld", (long long)r->pitch, (long long)r->span), "let the rows be the last dimension but one");
    if (r->bytes % TMEM_CHUNK || r->first % TMEM_CHUNK || !domain_divides(L->d, TMEM_CHUNK, mi->offset))
        return refuse(L, mi, "it is not proved to begin and to end at multiples of 16 bytes", NULL);
    if (shape == IRP_4X256B && !pairs(r, &lead))
        return refuse(L, mi, "4x256b takes chunks of 16 bytes in pairs, and they do not all lie equally far apart", "begin at a multiple of 32 bytes");
    return true;
}

/* Instructions of one descriptor: as many as lie equally far from each other. */
static CpPiece piece(const Rows *r, IrCpShape shape, uint8_t format, uint32_t lead, int64_t row, int64_t byte)
{
    int64_t unit = 4 * (int64_t)tmem_shape(shape)->columns, width = r->parts * r->bytes, from = byte_at(r, row, byte), step = unit;
    uint32_t n = 1;
    if (byte + unit < width && byte_at(r, row, byte + unit) > from) step = byte_at(r, row, byte + unit) - from;
    while (byte + n * unit < width && byte_at(r, row, byte + n * unit) == from + n * step) n++;
    return (CpPiece){.cp = {.shape = (uint8_t)shape,
                            .format = format,
                            .swizzle = r->swizzle,
                            .lead = lead,
                            .stride = (uint32_t)(PATTERN_ROWS * r->pitch),
                            .step = (uint32_t)step,
                            .n = n},
                     .from = from,
                     .row = row,
                     .byte = byte};
}

/* Lanes with a step: four rows to every 32nd lane, the next four one lane further. */
static bool plan_cp(Lower *L, TmemPlan *p)
{
    Rows r = {0};
    const MoveInfo *mi = &p->shared;
    ElemType from = mi->tile->type;
    uint8_t format = from == TYPE_B4A16 ? IRF_B4 : from == TYPE_B6A16 ? IRF_B6 : IRF_PLAIN;
    uint32_t lead;
    if (!find_rows(L, mi, &r) || !find_first(L, mi, &r)) return false;
    IrCpShape shape = shape_of(mi->mv, &r, &lead);
    if (!fits(L, mi, &r, shape)) return false;
    int64_t rows = tmem_shape(shape)->rows, unit = 4 * (int64_t)tmem_shape(shape)->columns, width = r.parts * r.bytes;
    p->piece = arena_array(L->a, CpPiece, (size_t)(r.n / rows * (width / unit)));
    for (int64_t row = 0; row < r.n; row += rows) {
        for (int64_t x = 0; x < width;) {
            CpPiece *q = &p->piece[p->n++];
            *q = piece(&r, shape, format, lead, row, x);
            q->at = row / rows * CELL * L->ir->bufs.v[p->tensor.tile->index].columns + x;
            if (!agrees(&r, q)) return refuse(L, mi, "its rows lie otherwise than the descriptor says", "`via threads`");
            x += q->cp.n * unit;
        }
    }
    return true;
}

/* ---- by threads ---- */

bool tmem_threads(Lower *L, const TmemPlan *p, uint32_t threads, uint32_t *plan)
{
    const PMove *mv = p->tensor.mv;
    bool out = mv->kind == MOVE_TMEM_LD;
    const MoveInfo *from = out ? &p->tensor : &p->shared, *to = out ? &p->shared : &p->tensor;
    if (threads == 0 || threads % TMEM_LANES) {
        Diag *g = lower_error(L, E0553, p->tensor.stmt->span, "%u threads move this: their warps do not reach all lanes alike", threads);
        diag_fix(L->c->diags, g, L->derived ? "`threads 128` (or 256) on the kernel" : "`role .. threads 128 { .. }` (or 256)");
        return false;
    }
    if (!plan_work(L, p->tensor.stmt, from, to, (Workers){.threads = threads, .batch = 1}, plan)) return false;
    IrPlan *q = &L->ir->plans.v[*plan];
    const IrSide *s = out ? &q->dst : &q->src;
    const char *why = s->pitch[1] != (unsigned)p->tensor.sbits / 8          ? "the elements of a row do not lie side by side in shared memory"
                      : s->pitch[0] % 4 || (s->align % 4 && s->align < 128) ? "rows in shared memory do not begin at multiples of 4 bytes"
                                                                            : NULL;
    if (why) {
        lower_error(L, E0520, p->shared.s->span, "threads can't do this move: %s", why);
        return false;
    }
    tmem_banks(q, s, out);
    return true;
}

/* A lane of a warp has a row: its accesses meet in banks where rows lie. Wavefronts of a quarter of a warp's 16-byte accesses,
 * times 16. */
void tmem_banks(IrPlan *q, const IrSide *s, bool writes)
{
    enum { LANES = 8, BANKS = 32 };
    uint32_t most = 1, bytes = tmem_vector(q, s), per = bytes / 4, lanes = bytes == 16 ? LANES : bytes == 8 ? 2 * LANES : QUARTER;
    uint8_t seen[BANKS] = {0};
    for (uint32_t lane = 0; lane < lanes; lane++) {
        uint32_t at = (uint32_t)thr_swizzled(lane * s->pitch[0], thr_swizzle_mask(s->swizzle));
        for (uint32_t w = 0; w < per; w++) {
            uint32_t bank = (at / 4 + w) % BANKS;
            if (++seen[bank] > most) most = seen[bank];
        }
    }
    q->vector = (uint8_t)bytes;
    q->read_ways = (uint16_t)(writes ? WAYS_ONE : most * WAYS_ONE);
    q->write_ways = (uint16_t)(writes ? most * WAYS_ONE : WAYS_ONE);
}

/* ---- the place in tensor memory ---- */

/* Columns are known at run time, too, if they are proved to be where the instruction can begin. */
static bool find_place(Lower *L, TmemPlan *p)
{
    const MoveInfo *mi = &p->tensor;
    bool cp = mi->mv->kind == MOVE_TMEM_CP, shift = mi->mv->kind == MOVE_SHIFT;
    int64_t columns = cp ? TMEM_CHUNK / CELL : shift ? TMEM_SHIFT_COLUMNS : 1, elements = columns * CELL * 8 / mi->sbits, lane = 0;
    Poly start = mi->at[1];
    if (!domain_divides(L->d, elements ? elements : 1, start)) {
        bool known = poly_is_const(start, &lane);
        Diag *g = lower_error(L, E0559, mi->s->dim[1].span, "element %s of `%s` %s %s", poly_text(L, start), name_text(L, mi->tile->name),
                              known ? "does not begin" : "is not proved to begin",
                              cp      ? "at a multiple of 4 columns, 16 bytes"
                              : shift ? "at a multiple of 8 columns, 32 bytes"
                                      : "a column, 4 bytes");
        int wide = mi->sbits / (CELL * 8);
        if (wide) diag_label(L->c->diags, g, mi->tile->span, "an element has %d column%s", wide, wide == 1 ? "" : "s");
        else diag_label(L->c->diags, g, mi->tile->span, "a column has %d elements", CELL * 8 / mi->sbits);
        return false;
    }
    p->unit = columns * CELL;
    poly_is_const(mi->at[0], &lane);
    p->at = lane * tile_pitch_bits(mi->tile, 0) / 8;
    if (poly_is_const(mi->offset, &p->at)) return true;
    p->start = mi->s->dim[1].start;
    return true;
}

/* ---- the move ---- */

bool tmem_plan(Lower *L, const PStmt *st, TmemPlan *p)
{
    const PMove *mv = st->move;
    const PRegion *tensor = mv->kind == MOVE_TMEM_LD ? &mv->src : &mv->dst, *shared = mv->kind == MOVE_TMEM_LD ? &mv->dst : &mv->src;
    *p = (TmemPlan){0};
    if (!region_tile(L, st, tensor, &p->tensor) || !find_place(L, p)) return false;
    if (mv->kind == MOVE_SHIFT) p->n = (uint32_t)(p->tensor.s->dim[1].extent * p->tensor.sbits / 8 / (CELL * TMEM_SHIFT_COLUMNS));
    else if (!region_tile(L, st, shared, &p->shared)) return false;
    return mv->kind != MOVE_TMEM_CP || plan_cp(L, p);
}

const char *tmem_threads_text(Arena *a, const IrKernel *k, uint32_t plan, bool out)
{
    const IrPlan *q = &k->plans.v[plan];
    unsigned ways = out ? q->write_ways : q->read_ways;
    return arena_printf(a, "%s, each thread a lane; %u-byte accesses of shared memory, bank conflicts x%u.00 %s",
                        out ? "tcgen05.ld.32x32b, st.shared" : "ld.shared, tcgen05.st.32x32b", q->vector, ways / WAYS_ONE, out ? "writing" : "reading");
}

/* Lanes that are not simply those of the tile. */
static const char *lanes_text(Lower *L, const TmemPlan *p, const TmemShape *s, long long lane)
{
    long long lanes = p->tensor.tile->extent[0], fours = p->tensor.s->dim[0].extent / ROWS_4;
    if (p->piece[0].cp.shape != IRP_4X256B)
        return lanes < TMEM_LANES && s->copies > 1 ? arena_printf(L->a, "; lanes %lld .. %d of them are no tile's, and get copies", lanes, TMEM_LANES - 1) : "";
    if (fours > 1) return arena_printf(L->a, ", lanes %lld .. %lld of each 32", lane, lane + fours - 1);
    return arena_printf(L->a, ", lanes %lld, %lld, %lld, %lld", lane, lane + 32, lane + 64, lane + 96);
}

const char *tmem_text(Lower *L, const TmemPlan *p)
{
    static const char *const FORMATS[] = {[IRF_PLAIN] = "", [IRF_B6] = ".b8x16.b6x16_p32", [IRF_B4] = ".b8x16.b4x16_p64"};
    static const char *const SWIZZLES[] = {"none", "32", "64", "128"};
    const MoveInfo *mi = &p->tensor;
    const IrBuf *b = &L->ir->bufs.v[mi->tile->index];
    long long column = b->column + p->at % (CELL * b->columns) / CELL, lane = p->at / (CELL * b->columns);
    long long columns = mi->s->dim[1].extent * mi->sbits / (8 * CELL), all = b->columns;
    const char *place = p->start ? arena_printf(L->a, "%lld columns of %d .. %lld, from element %s on", columns, b->column, b->column + all - 1, poly_text(L, mi->at[1]))
                                 : arena_printf(L->a, "columns %lld .. %lld", column, column + columns - 1);
    if (mi->mv->kind == MOVE_SHIFT)
        return arena_printf(L->a, "    tcgen05.shift.down, %u instruction%s\n      lanes %lld .. %lld, %s\n", p->n, p->n == 1 ? "" : "s",
                            lane, lane + QUARTER - 1, place);
    const TmemCp *c = &p->piece[0].cp;
    const TmemShape *s = tmem_shape(c->shape);
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n; i++) n += p->piece[i].cp.n;
    int64_t from = -1;
    poly_is_const(p->shared.offset, &from);
    return arena_printf(L->a, "    tcgen05.cp.%s%s, shared -> tensor memory, %u instruction%s%s\n      descriptor of %s, made once: leading %u, stride %u bytes, swizzle %s%s%s\n"
                              "      %s%s\n",
                        s->text, FORMATS[c->format], n, n == 1 ? "" : "s", L->ir->pair ? ", by one CTA for both of the pair" : "",
                        name_text(L, p->shared.tile->name), c->lead, c->stride, SWIZZLES[c->swizzle < 4 ? c->swizzle : 0],
                        from ? arena_printf(L->a, "; plus %s bytes", poly_text(L, p->shared.offset)) : "",
                        c->n > 1 ? arena_printf(L->a, "; %u more for each instruction", c->step) : "", place, lanes_text(L, p, s, lane));
}
