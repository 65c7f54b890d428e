/* The pieces of a plan: boxes of units, addresses as digit x step. */
#include <string.h>

#include "lang/checked.h"
#include "lang/limits.h"
#include "lower/ir/thread_work.h"

enum { LEVELS = 5, RUN_DIGITS = 6, RUNS = 8, NO_GRID = 1, UNITS_MAX = 1 << 24, BOX_BYTES = 1 << 30 };

/* One dimension, and what it is cut into, larger ones first: panels of both sides, as many units as take part in the skew, units, elements. */
typedef struct Axis {
    uint32_t extent, width; /* elements: all, of a unit */
    int64_t pitch[THR_SIDES];
    uint32_t cut[THR_SIDES]; /* elements of a panel's row; 0: no panels */
    int64_t panel[THR_SIDES];
    uint32_t level[LEVELS], nlevels, npanels;
} Axis;

/* A part of a dimension without a ragged end: the first digit counts units of `width` elements. */
typedef struct Run {
    int64_t start[THR_SIDES];
    uint32_t width;
    bool grid; /* the first digit is that of the skew */
    uint32_t n;
    ThrDigit digit[RUN_DIGITS];
} Run;
typedef struct Runs {
    uint32_t n;
    bool full; /* there were more */
    Run v[RUNS];
} Runs;

uint32_t thr_element_bytes(const IrSide *s)
{
    return elem_info((ElemType)s->type)->shared_bits / 8u;
}

ThrSide thr_side(const IrPlan *p, bool source)
{
    ThrSide x = {.s = source ? &p->src : &p->dst};
    if (p->xform == IRX_SUM && source) {
        x.extent[0] = p->parts;
        x.pitch[0] = p->apart;
        x.rank = 1;
    }
    for (uint32_t d = 0; d < p->rank; d++, x.rank++) {
        x.extent[x.rank] = p->extent[d];
        x.pitch[x.rank] = x.s->pitch[d];
    }
    if (p->xform != IRX_TRANSPOSE || source) return x;
    x.extent[p->rank - 2] = p->extent[p->rank - 1];
    x.extent[p->rank - 1] = p->extent[p->rank - 2];
    return x;
}

int64_t thr_side_bytes(const ThrSide *x)
{
    int64_t end = thr_element_bytes(x->s);
    for (uint32_t d = 0; d < x->rank; d++) {
        int64_t last = (int64_t)x->extent[d] - 1, per = INT64_MAX;
        if (d + 1 == x->rank && x->s->span) per = x->s->span / x->pitch[d];
        end += last / per * x->s->panel + (last < per ? last : per - 1) * x->pitch[d];
    }
    return end;
}

uint32_t thr_swizzle_mask(uint8_t swizzle)
{
    uint32_t span = (uint32_t)swizzle_span(swizzle);
    return span ? span - 16 : 0;
}

/* ---- axes ---- */

/* Where element `at` of the axis lies on a side, given that it starts a part of `level`. */
static int64_t advance(const Axis *x, int side, uint32_t at, uint32_t level)
{
    uint32_t cut = x->cut[side];
    for (uint32_t l = 0; l < level && cut; l++)
        if (x->level[l] == cut) cut = 0; /* inside one of its panels */
    return cut ? at / cut * x->panel[side] + at % cut * x->pitch[side] : at * x->pitch[side];
}

/* grid: units that take part in the skew together, or NO_GRID. */
static void axis_init(Axis *x, const IrPlan *p, uint32_t dim, uint32_t dst_dim, uint32_t width, uint32_t grid)
{
    *x = (Axis){.extent = p->extent[dim], .width = width};
    const IrSide *side[THR_SIDES] = {&p->src, &p->dst};
    for (int s = 0; s < THR_SIDES; s++) {
        uint32_t d = s == THR_SRC ? dim : dst_dim;
        x->pitch[s] = side[s]->pitch[d];
        if (d != p->rank - 1u || side[s]->span == 0 || (s == THR_SRC && p->xform == IRX_FILL)) continue;
        uint32_t cut = side[s]->span / (uint32_t)x->pitch[s];
        if (cut >= x->extent) continue;
        x->cut[s] = cut;
        x->panel[s] = side[s]->panel;
    }
    uint32_t a = x->cut[THR_SRC], b = x->cut[THR_DST];
    if (a || b) x->level[x->nlevels++] = a > b ? a : b;
    if (a && b && a != b) x->level[x->nlevels++] = a < b ? a : b;
    x->npanels = x->nlevels;
    if (grid != NO_GRID) x->level[x->nlevels++] = grid * width;
    x->level[x->nlevels++] = width;
    if (width > 1) x->level[x->nlevels++] = 1;
}

static void push_run(Runs *out, const Run *r)
{
    if (out->n == RUNS) out->full = true;
    else out->v[out->n++] = *r;
}

static void put_digit(Run *r, uint32_t n, int64_t src, int64_t dst)
{
    memmove(r->digit + 1, r->digit, r->n * sizeof r->digit[0]);
    r->digit[0] = (ThrDigit){n, {src, dst}};
    r->n++;
}

static void move_on(Run *r, const Axis *x, uint32_t at, uint32_t level)
{
    for (int s = 0; s < THR_SIDES; s++) r->start[s] += advance(x, s, at, level);
}

/* n elements, from a place on that begins a part of `level`. */
static void axis_runs(const Axis *x, uint32_t level, uint32_t n, Run r, Runs *out)
{
    uint32_t size = x->level[level], whole = n / size;
    bool unit = level >= x->npanels && size <= x->width, grid = level >= x->npanels && !unit;
    if (whole) {
        Run in = r;
        in.grid |= grid;
        if (unit) in.width = size;
        if (whole > 1 || unit) put_digit(&in, whole, advance(x, THR_SRC, size, level), advance(x, THR_DST, size, level));
        if (unit) push_run(out, &in);
        else axis_runs(x, level + 1, size, in, out);
    }
    if (n % size == 0) return;
    move_on(&r, x, whole * size, level);
    axis_runs(x, level + 1, n % size, r, out);
}

/* ---- pieces ---- */

static void add_digit(ThrPiece *q, const ThrDigit *d)
{
    if (q->ndigits < THR_DIGITS) q->digit[q->ndigits] = *d;
    q->ndigits++;
}

static void add_run(ThrPiece *q, const Run *r, uint32_t from)
{
    for (uint32_t i = from; i < r->n; i++) add_digit(q, &r->digit[i]);
}

/* Digits that go on where the one before ends are one. The first `keep` have a meaning of their own. */
static void merge_digits(ThrPiece *q, uint32_t keep)
{
    uint32_t n = keep;
    for (uint32_t i = keep; i < q->ndigits; i++) {
        ThrDigit *d = &q->digit[i], *last = n > keep ? &q->digit[n - 1] : NULL;
        if (d->n == 1) continue;
        if (last && d->step[THR_SRC] == last->n * last->step[THR_SRC] &&
            d->step[THR_DST] == last->n * last->step[THR_DST])
            last->n *= d->n;
        else q->digit[n++] = *d;
    }
    q->ndigits = n;
}

/* Bytes per access: as many as the addresses are aligned to, at most 16. */
static bool set_access(ThrPiece *q, const IrSide *s, int side, uint32_t elements)
{
    uint32_t row = elements * thr_element_bytes(s), bytes = row < 16 ? row : 16;
    uint32_t align = s->align ? s->align : 128;
    if (row % bytes || (bytes & (bytes - 1))) return false;
    q->bytes[side] = (uint8_t)bytes;
    q->access[side] = (uint8_t)(row / bytes);
    if (align % bytes || q->start[side] % bytes || (q->rows[side] > 1 && q->row_step[side] % bytes)) return false;
    for (uint32_t i = 0; i < q->ndigits; i++)
        if (q->digit[i].n > 1 && q->digit[i].step[side] % bytes) return false;
    return true;
}

static bool few_words(const ThrPiece *q, int side)
{
    uint32_t words = q->bytes[side] < 4 ? 1 : q->bytes[side] / 4;
    return q->rows[side] * q->access[side] * words <= THR_WORDS;
}

/* In memory words, or elements of those that are cut; in the tile elements, as nothing is known of a word's place there. */
static bool rotated_access(const IrPlan *p, ThrPiece *q)
{
    for (int s = 0; s < THR_SIDES; s++) {
        const IrSide *side = s == THR_SRC ? &p->src : &p->dst;
        q->bytes[s] = (uint8_t)(thr_element_bytes(side) * (side->global ? q->wide : 1));
        q->access[s] = side->global ? 1 : q->wide;
        q->rows[s] = 1;
    }
    return true;
}

static bool finish(const IrPlan *p, ThrPiece *q, uint32_t keep)
{
    if (q->ndigits > THR_DIGITS) return false;
    merge_digits(q, keep);
    q->units = 1;
    for (uint32_t i = 0; i < q->ndigits; i++) q->units *= q->digit[i].n;
    if (q->method == THR_ROTATED) return rotated_access(p, q);
    if (q->method == THR_MATRIX) { /* every unit is one row of 16 bytes on both sides */
        uint32_t blocks = q->units / 8;
        q->matrices = blocks % 4 == 0 ? 4 : blocks % 2 == 0 ? 2 : 1;
        q->rows[THR_SRC] = q->rows[THR_DST] = 1;
        return set_access(q, &p->src, THR_SRC, 16 / thr_element_bytes(&p->src)) &&
               set_access(q, &p->dst, THR_DST, 16 / thr_element_bytes(&p->dst));
    }
    bool crossed = q->method == THR_BLOCK;
    if (p->xform == IRX_SUM && p->apart % (q->wide * thr_element_bytes(&p->src) < 16 ? q->wide * thr_element_bytes(&p->src) : 16)) return false;
    q->rows[THR_SRC] = crossed ? q->tall : 1;
    q->rows[THR_DST] = crossed ? q->wide : 1;
    return (p->xform == IRX_FILL || set_access(q, &p->src, THR_SRC, q->wide)) &&
           set_access(q, &p->dst, THR_DST, crossed ? q->tall : q->wide) && few_words(q, THR_SRC) &&
           few_words(q, THR_DST);
}

/* The dimensions outside of those that a method works on. */
static void outer_digits(const IrPlan *p, ThrPiece *q, uint32_t inner)
{
    for (uint32_t d = p->rank - inner; d-- > 0;) {
        int64_t src = p->xform == IRX_FILL ? 0 : p->src.pitch[d];
        add_digit(q, &(ThrDigit){p->extent[d], {src, p->dst.pitch[d]}});
    }
}

/* The order: digit `deal` comes first, the others keep theirs. */
static void rotate(ThrPiece *q, uint32_t deal)
{
    if (deal >= q->ndigits) return;
    ThrDigit d = q->digit[deal];
    memmove(q->digit + 1, q->digit, deal * sizeof d);
    q->digit[0] = d;
}

/* Rows that lie one behind the other on both sides are one row. */
static IrPlan flatten(const IrPlan *plan)
{
    IrPlan p = *plan;
    IrSide *side[THR_SIDES] = {&p.src, &p.dst};
    if (p.src.global || p.dst.global) return p; /* how its rows lie there is not known */
    if (p.xform == IRX_REVERSE) return p;
    for (;; p.rank--) {
        uint32_t last = p.rank - 1u;
        for (int s = p.xform == IRX_FILL ? THR_DST : THR_SRC; s < THR_SIDES; s++) {
            if (side[s]->span && p.extent[last] * side[s]->pitch[last] > side[s]->span) return p;
            side[s]->span = 0;
            if (last == 0 || side[s]->pitch[last - 1] != p.extent[last] * side[s]->pitch[last]) return p;
        }
        for (int s = 0; s < THR_SIDES; s++) side[s]->pitch[last - 1] = side[s]->pitch[last];
        p.extent[last - 1] *= p.extent[last];
    }
}

/* The elements of words that are cut. */
static bool cut_piece(const IrPlan *p, const ThrPiece *words, ThrPiece *q)
{
    int64_t size = thr_element_bytes(&p->src);
    *q = (ThrPiece){.method = THR_ROTATED, .wide = 1, .tall = 1, .skew_by = -1, .skewed = -1, .run = words->run};
    add_digit(q, &(ThrDigit){THR_CUTS * p->wide, {size, size}});
    outer_digits(p, q, 1);
    return finish(p, q, 0);
}

static bool vector_pieces(const IrPlan *plan, ThrWork *out)
{
    Axis x;
    Runs runs = {.n = 0};
    IrPlan flat = flatten(plan);
    const IrPlan *p = &flat;
    axis_init(&x, p, p->rank - 1u, p->rank - 1u, p->wide, NO_GRID);
    int64_t back = p->xform == IRX_REVERSE ? x.pitch[THR_SRC] : 0; /* the source's units come from the end of its row */
    if (back) x.pitch[THR_SRC] = -back;
    if (back && x.cut[THR_SRC]) return false;
    axis_runs(&x, 0, x.extent, (Run){.n = 0}, &runs);
    if (runs.full) return false;
    bool rotated = p->method == THR_ROTATED;
    for (uint32_t i = 0; i < runs.n; i++) {
        ThrPiece *q = &out->piece[out->n++];
        *q = (ThrPiece){.method = THR_VECTOR, .wide = (uint8_t)runs.v[i].width, .tall = 1, .skew_by = -1, .skewed = -1};
        if (rotated && q->wide == p->wide) q->method = THR_ROTATED, q->run = runs.v[i].digit[0].n * p->wide * thr_element_bytes(&p->src);
        memcpy(q->start, runs.v[i].start, sizeof q->start);
        q->start[THR_SRC] += (x.extent - runs.v[i].width) * back;
        add_run(q, &runs.v[i], 0);
        outer_digits(p, q, 1);
        if (q->ndigits > THR_DIGITS) return false;
        merge_digits(q, 0);
        rotate(q, p->deal);
        if (!finish(p, q, q->ndigits)) return false;
    }
    return !rotated || p->wide == 1 || cut_piece(p, &out->piece[0], &out->piece[out->n++]);
}

/* A run of single elements in place of wider units. */
static void narrow(Run *r, const Axis *x)
{
    if (r->width == 1) return;
    put_digit(r, r->width, x->pitch[THR_SRC], x->pitch[THR_DST]);
    r->width = 1;
    r->grid = false;
}

/* The rows whose addresses 8 (2-byte elements) or 16 (1-byte) lanes give. Bytes are moved in pairs: of the 16 rows of a
 * block each matrix takes eight that differ modulo 8, so that no bank of a swizzled tile is met twice. With r = lane % 8
 * and a = lane / 8 % 2: source row r0 + 2 (a ^ r2) + 4 r1 + 8 r2, destination row (a ^ r2) + 2 r0 + 4 r1 + 8 r2. */
static uint32_t matrix_rows(ThrPiece *q, int64_t src, int64_t dst, bool bytes)
{
    if (!bytes) {
        add_digit(q, &(ThrDigit){8, {src, dst}});
        return 1;
    }
    add_digit(q, &(ThrDigit){2, {src, 2 * dst}});
    add_digit(q, &(ThrDigit){2, {4 * src, 4 * dst}});
    add_digit(q, &(ThrDigit){2, {8 * src, 8 * dst}});
    add_digit(q, &(ThrDigit){2, {2 * src, dst}});
    q->skew_by = 2;
    q->skewed = 3;
    return 4;
}

/* row: a run of the source's rows (the destination's columns), col: one of its columns. */
static bool transpose_piece(const IrPlan *p, const Axis x[2], Run row, Run col, ThrPiece *q)
{
    bool whole = row.width == p->tall && col.width == p->wide, matrix = whole && p->method == THR_MATRIX;
    if (!whole) {
        narrow(&row, &x[0]);
        narrow(&col, &x[1]);
    }
    *q = (ThrPiece){.method = matrix ? THR_MATRIX : THR_BLOCK,
                    .wide = (uint8_t)col.width,
                    .tall = (uint8_t)row.width,
                    .skew_by = -1,
                    .skewed = -1};
    for (int s = 0; s < THR_SIDES; s++) q->start[s] = row.start[s] + col.start[s];
    q->row_step[THR_SRC] = x[0].pitch[THR_SRC];
    q->row_step[THR_DST] = x[1].pitch[THR_DST];
    uint32_t keep = matrix ? matrix_rows(q, x[0].pitch[THR_SRC], x[1].pitch[THR_DST], row.width == 16) : 0;
    bool skew = row.grid && col.grid;
    if (skew) {
        q->skew_by = 0;
        q->skewed = 1;
        keep = 2;
        add_digit(q, &row.digit[0]);
        add_digit(q, &col.digit[0]);
    }
    if (p->deal == 1) add_run(q, &row, skew);
    add_run(q, &col, skew);
    if (p->deal != 1) add_run(q, &row, skew);
    outer_digits(p, q, 2);
    return finish(p, q, keep);
}

/* deal: 0: lanes along the source's rows, 1: along its columns, else diagonals of blocks of so many units. */
static bool transpose_pieces(const IrPlan *p, ThrWork *out)
{
    Axis x[2];
    Runs rows = {.n = 0}, cols = {.n = 0};
    uint32_t i = p->rank - 2u, j = p->rank - 1u, grid = p->deal > 1 ? p->deal : NO_GRID;
    axis_init(&x[0], p, i, j, p->tall, grid);
    axis_init(&x[1], p, j, i, p->wide, grid);
    axis_runs(&x[0], 0, x[0].extent, (Run){.n = 0}, &rows);
    axis_runs(&x[1], 0, x[1].extent, (Run){.n = 0}, &cols);
    if (rows.full || cols.full || rows.n * cols.n > THR_PIECES) return false;
    for (uint32_t r = 0; r < rows.n; r++)
        for (uint32_t c = 0; c < cols.n; c++)
            if (!transpose_piece(p, x, rows.v[r], cols.v[c], &out->piece[out->n++])) return false;
    return true;
}

/* Blocks that the emitter can turn: what it does with parts of words, it does with all of a word's. */
static bool block_fits(const IrPlan *p)
{
    uint32_t size = thr_element_bytes(&p->src), least = size >= 4 ? 1 : 4 / size;
    bool same = p->src.type == p->dst.type, one = p->wide == 1 && p->tall == 1;
    if (p->deal > 32 || !power_of_two(p->deal > 1 ? p->deal : 1)) return false;
    if (p->method == THR_MATRIX)
        return same && p->deal <= 1 && size <= 2 && p->wide == 16 / size && p->tall == 16 / size;
    if (p->method != THR_BLOCK || p->wide * p->tall > 2 * THR_WORDS) return false;
    return !same || one || (p->wide >= least && p->tall >= least) || (size == 1 && p->wide == 2 && p->tall == 2);
}

/* Each dimension has bits of its own in the places of the box. */
static bool box_sane(const IrPlan *p, const IrSide *s)
{
    uint32_t least = thr_element_bytes(s);
    if (s->span || s->swizzle || s->align == 0 || p->xform != IRX_COPY || p->add) return false;
    for (uint32_t d = p->rank; d-- > 0; least = s->pitch[d] * p->extent[d]) {
        if (!power_of_two(s->pitch[d]) || s->pitch[d] < least || p->extent[d] > BOX_BYTES / s->pitch[d]) return false;
    }
    return true;
}

/* The tile's rows lie as they are, and there are elements of a row for all that may be cut. */
static bool rotated_fits(const IrPlan *p)
{
    const IrSide *far = p->src.global ? &p->src : &p->dst, *near = p->src.global ? &p->dst : &p->src;
    uint32_t size = thr_element_bytes(far), row = p->extent[p->rank - 1];
    return far->rows && far->global && !near->global && far->type == near->type && p->wide == thr_word_elements(size) && row / p->wide >= THR_CUTS &&
           p->tall == 1 && p->deal == 0 && near->pitch[p->rank - 1] == size && !near->swizzle && (near->span == 0 || row * size <= near->span);
}

static bool side_sane(const IrPlan *p, const IrSide *s, uint32_t row)
{
    uint32_t pitch = s->pitch[p->rank - 1];
    if (s->global && !box_sane(p, s)) return false;
    if (s->type >= TYPE_COUNT || thr_element_bytes(s) == 0 || s->swizzle > MAP_SWIZZLE_128B) return false;
    if (pitch != thr_element_bytes(s) && (s->span || row > 1)) return false;
    return s->span == 0 || (s->span % pitch == 0 && s->span >= pitch);
}

static bool sane(const IrPlan *p)
{
    bool crossed = p->xform == IRX_TRANSPOSE, fill = p->xform == IRX_FILL;
    uint64_t elements = 1;
    if (p->rank == 0 || p->rank > MAP_RANK || (crossed && p->rank < 2)) return false;
    if (!whole_warps(p->threads)) return false;
    if (!power_of_two(p->wide) || !power_of_two(p->tall)) return false;
    for (uint32_t d = 0; d < p->rank; d++) {
        if (p->extent[d] == 0 || p->extent[d] > UNITS_MAX) return false;
        elements *= p->extent[d];
        if (elements > UNITS_MAX) return false;
    }
    if (p->xform == IRX_REVERSE && (p->src.global || p->dst.global || p->src.type != p->dst.type)) return false;
    if (p->xform == IRX_REVERSE && p->wide > 1 && p->wide * thr_element_bytes(&p->src) < 4) return false; /* words are turned */
    if (p->xform == IRX_SUM && (p->src.global || p->dst.global || p->method != THR_VECTOR || p->parts == 0 || p->parts > THR_PARTS)) return false;
    if (!fill && !side_sane(p, &p->src, p->wide)) return false;
    if (!side_sane(p, &p->dst, crossed ? p->tall : p->wide)) return false;
    if (p->method == THR_ROTATED) return rotated_fits(p);
    return crossed ? block_fits(p) : p->method == THR_VECTOR && p->tall == 1 && p->wide <= 2 * THR_WORDS;
}

bool threads_work(const IrPlan *p, ThrWork *out)
{
    out->n = 0;
    if (!sane(p)) return false;
    return p->xform == IRX_TRANSPOSE ? transpose_pieces(p, out) : vector_pieces(p, out);
}

int64_t thr_offset(const ThrPiece *q, uint32_t unit, int side)
{
    uint32_t v[THR_DIGITS];
    for (uint32_t i = 0; i < q->ndigits; i++) {
        v[i] = unit % q->digit[i].n;
        unit /= q->digit[i].n;
    }
    if (q->skewed >= 0) v[q->skewed] ^= v[q->skew_by];
    int64_t at = q->start[side];
    for (uint32_t i = 0; i < q->ndigits; i++) at += v[i] * q->digit[i].step[side];
    return at;
}
