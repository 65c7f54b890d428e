/* Moves into and out of tensor memory: which instructions do them, and the proof that these are the move. */
#include "lang/checked.h"
#include "lower/schedule.h"
#include "lower/threads.h"
#include "lower/tmem_parts.h"

enum { QUARTER = 32, ROWS_4 = 4, PATTERN_ROWS = 8, WAYS_ONE = 16 };

static bool refuse(Lower *L, const MoveInfo *mi, const char *why, const char *fix)
{
    Diag *g = lower_error(L, E0552, mi->s->span, "tcgen05.cp can't read this: %s", why);
    diag_label(L->c->diags, g, mi->tile->span, "the tile");
    if (fix) diag_fix(L->c->diags, g, "%s", fix);
    return false;
}

/* ---- the source ---- */

typedef struct Rows { /* of the source's part */
    int64_t n, bytes, pitch; /* from row to row */
    int64_t panel;           /* from panel to panel of a swizzled tile */
    uint8_t swizzle;
    int64_t span;
} Rows;

static bool find_rows(Lower *L, const MoveInfo *mi, Rows *r)
{
    const PTile *t = mi->tile;
    int row = -1, elems = -1;
    for (int i = 0; i < t->rank; i++) {
        if (!mi->s->dim[i].marked) continue;
        if (row < 0) row = i;
        else elems = i;
    }
    if (elems != t->rank - 1) return refuse(L, mi, "the elements of a row do not lie side by side", "let the innermost dimension be the elements");
    int64_t bits = mi->s->dim[elems].extent * mi->sbits;
    *r = (Rows){.n = mi->s->dim[row].extent,
                .bytes = bits / 8,
                .pitch = mi->pitch_bits[row] / 8,
                .panel = mi->span * mi->rows,
                .swizzle = (uint8_t)t->swizzle,
                .span = mi->span};
    return true;
}

/* Where byte `x` of a row of the source lies: bytes from where the pattern begins; at: of the part's first row. */
static int64_t byte_at(const Rows *r, int64_t at, int64_t row, int64_t x)
{
    int64_t a = at + row * r->pitch + (r->span ? x / r->span * r->panel + x % r->span : x);
    return r->span ? a ^ ((a >> 3) & thr_swizzle_mask(r->swizzle)) : a;
}

/* The proof: each chunk that an instruction reads is the one that belongs where it goes. */
static bool agrees(const Rows *r, const CpPiece *p, int64_t at)
{
    const TmemShape *s = tmem_shape(p->cp.shape);
    unsigned chunks = s->columns / 4u;
    for (unsigned i = 0; i < p->cp.n; i++) {
        for (unsigned row = 0; row < s->rows; row++) {
            for (unsigned c = 0; c < chunks; c++) {
                int64_t from = at + p->from + tmem_source(&p->cp, at + p->from, i, row, c);
                int64_t x = p->at + ((int64_t)i * chunks + c) * TMEM_CHUNK; /* of the lanes that it goes to: of the row */
                if (from != byte_at(r, at, row, x)) return false;
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

static IrCpShape shape_of(const PMove *mv, const Rows *r)
{
    switch (mv->warps) {
    case WARPS_X4: return IRP_32X128B_X4;
    case WARPS_X2_02_13: return IRP_64X128B_02_13;
    case WARPS_X2_01_23: return IRP_64X128B_01_23;
    default: break;
    }
    if (mv->dst.dim[0].step != 1) return IRP_4X256B;
    return r->span && r->bytes % 32 == 0 ? IRP_128X256B : IRP_128X128B;
}

static bool fits(Lower *L, const MoveInfo *mi, const Rows *r, IrCpShape shape)
{
    unsigned mode;
    int64_t unit = 4 * (int64_t)tmem_shape(shape)->columns, align = r->span ? PATTERN_ROWS * r->span : TMEM_CHUNK;
    if (mi->tile->interleave) return refuse(L, mi, "its tile is interleaved", "a tile without `interleave`");
    if (!tmem_swizzle(r->swizzle, &mode)) return refuse(L, mi, "its swizzle moves pieces of more than 16 bytes", "`swizzle 128` without `atom`");
    if (r->bytes % unit)
        return refuse(L, mi, arena_printf(L->a, "rows of %lld bytes, and %s takes %lld at a time", (long long)r->bytes, tmem_shape(shape)->text, (long long)unit),
                      "`via threads`");
    if (r->span == 0 && (r->pitch != TMEM_CHUNK || r->bytes != TMEM_CHUNK))
        return refuse(L, mi, arena_printf(L->a, "without a swizzle eight rows of 16 bytes lie in a row, here a row has %lld bytes and the next one begins %lld further",
                                          (long long)r->bytes, (long long)r->pitch),
                      shape == IRP_4X256B ? "give the tile `swizzle 32`" : wanted_swizzle(r));
    if (r->span && r->pitch != r->span)
        return refuse(L, mi, arena_printf(L->a, "rows %lld bytes apart, in a pattern of %lld", (long long)r->pitch, (long long)r->span), "let the rows be the last dimension but one");
    if (!domain_divides(L->d, align, mi->offset))
        return refuse(L, mi, arena_printf(L->a, "it is not proved to begin at a multiple of %lld bytes%s", (long long)align, r->span ? ", eight rows" : ""), NULL);
    return true;
}

static CpPiece piece(const Rows *r, IrCpShape shape, uint8_t format, int64_t from, int64_t at, int64_t bytes)
{
    uint32_t unit = 4u * tmem_shape(shape)->columns;
    return (CpPiece){.cp = {.shape = (uint8_t)shape,
                            .format = format,
                            .swizzle = r->swizzle,
                            .lead = TMEM_CHUNK,
                            .stride = (uint32_t)(PATTERN_ROWS * r->pitch),
                            .step = unit,
                            .n = (uint32_t)(bytes / unit)},
                     .from = from,
                     .at = at};
}

/* One piece for each panel, or for all of what has no swizzle. */
static bool plan_cp(Lower *L, TmemPlan *p)
{
    Rows r = {0};
    const MoveInfo *mi = &p->shared;
    ElemType from = mi->tile->type;
    uint8_t format = from == TYPE_B4A16 ? IRF_B4 : from == TYPE_B6A16 ? IRF_B6 : IRF_PLAIN;
    if (!find_rows(L, mi, &r)) return false;
    IrCpShape shape = shape_of(mi->mv, &r);
    if (!fits(L, mi, &r, shape)) return false;
    int64_t width = r.span ? r.span : r.bytes, begin;
    p->n = (uint32_t)((r.bytes + width - 1) / width);
    p->piece = arena_array(L->a, CpPiece, p->n);
    if (!poly_is_const(mi->offset, &begin)) begin = 0; /* a multiple of the pattern */
    for (uint32_t i = 0; i < p->n; i++) {
        int64_t at = i * width, rest = r.bytes - at;
        p->piece[i] = piece(&r, shape, format, r.span ? i * r.panel : at, at, rest < width ? rest : width);
        if (!agrees(&r, &p->piece[i], begin)) return refuse(L, mi, "its rows lie otherwise than the descriptor says", "`via threads`");
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
        diag_fix(L->c->diags, g, L->sched ? "`threads 128` (or 256) on the kernel" : "`role .. threads 128 { .. }` (or 256)");
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
        uint32_t at = lane * s->pitch[0];
        at ^= (at >> 3) & thr_swizzle_mask(s->swizzle);
        for (uint32_t w = 0; w < per; w++) {
            uint32_t bank = (at / 4 + w) % BANKS;
            if (++seen[bank] > most) most = seen[bank];
        }
    }
    q->vector = (uint8_t)bytes;
    q->read_ways = (uint16_t)(writes ? WAYS_ONE : most * WAYS_ONE);
    q->write_ways = (uint16_t)(writes ? most * WAYS_ONE : WAYS_ONE);
}

/* ---- the move ---- */

static bool plan_shift(Lower *L, TmemPlan *p)
{
    int64_t bytes = p->tensor.s->dim[1].extent * p->tensor.sbits / 8;
    (void)L;
    p->n = (uint32_t)(bytes / (4 * TMEM_SHIFT_COLUMNS));
    return true;
}

bool tmem_plan(Lower *L, const PStmt *st, TmemPlan *p)
{
    const PMove *mv = st->move;
    const PRegion *tensor = mv->kind == MOVE_TMEM_LD ? &mv->src : &mv->dst, *shared = mv->kind == MOVE_TMEM_LD ? &mv->dst : &mv->src;
    *p = (TmemPlan){0};
    if (!region_tile(L, st, tensor, &p->tensor)) return false;
    if (mv->kind == MOVE_SHIFT) return plan_shift(L, p);
    if (!region_tile(L, st, shared, &p->shared)) return false;
    return mv->kind != MOVE_TMEM_CP || plan_cp(L, p);
}

const char *tmem_threads_text(Arena *a, const IrKernel *k, uint32_t plan, bool out)
{
    const IrPlan *q = &k->plans.v[plan];
    unsigned ways = out ? q->write_ways : q->read_ways;
    return arena_printf(a, "%s, each thread a lane; %u-byte accesses of shared memory, bank conflicts x%u.00 %s",
                        out ? "tcgen05.ld.32x32b, st.shared" : "ld.shared, tcgen05.st.32x32b", q->vector, ways / WAYS_ONE, out ? "writing" : "reading");
}

const char *tmem_text(Lower *L, const TmemPlan *p)
{
    const PMove *mv = p->tensor.mv;
    const IrBuf *b = &L->ir->bufs.v[p->tensor.tile->index];
    int64_t at = 0;
    poly_is_const(p->tensor.offset, &at);
    long long column = b->column + at % (4 * b->columns) / 4, lane = at / (4 * b->columns);
    if (mv->kind == MOVE_SHIFT)
        return arena_printf(L->a, "    tcgen05.shift.down, %u instruction%s\n      lanes %lld .. %lld, columns %lld .. %lld\n", p->n, p->n == 1 ? "" : "s",
                            lane, lane + QUARTER - 1, column, column + p->n * TMEM_SHIFT_COLUMNS - 1);
    static const char *const FORMATS[] = {[IRF_PLAIN] = "", [IRF_B6] = ".b8x16.b6x16_p32", [IRF_B4] = ".b8x16.b4x16_p64"};
    static const char *const SWIZZLES[] = {"none", "32", "64", "128"};
    const TmemCp *c = &p->piece[0].cp;
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n; i++) n += p->piece[i].cp.n;
    const TmemShape *s = tmem_shape(c->shape);
    return arena_printf(L->a, "    tcgen05.cp.%s%s, shared -> tensor memory, %u instruction%s%s\n      descriptor: leading %u, stride %u bytes, swizzle %s; %u bytes further each\n"
                              "      columns %lld .. %lld%s\n",
                        s->text, FORMATS[c->format], n, n == 1 ? "" : "s", L->ir->pair ? ", by one CTA for both of the pair" : "", c->lead, c->stride,
                        SWIZZLES[c->swizzle < 4 ? c->swizzle : 0], c->step, column, column + n * s->columns - 1,
                        c->shape == IRP_4X256B ? arena_printf(L->a, ", lanes %lld, %lld, %lld, %lld", lane, lane + 32, lane + 64, lane + 96) : "");
}
