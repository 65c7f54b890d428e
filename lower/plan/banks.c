/* Wavefronts of shared memory that work by threads takes, counted access by access. */
#include "lower/plan/threads.h"

enum { BANKS = 32, WARP = 32 };

/* One instruction of a warp: a 16-byte access goes in quarter warps, an 8-byte one in half warps, smaller ones whole.
 * Each part takes as many wavefronts as the busiest bank has different words. */
static void access(const uint32_t *address, uint32_t active, uint32_t bytes, uint64_t *waves, uint64_t *least)
{
    uint32_t part = bytes == 16 ? 8 : bytes == 8 ? 16 : WARP, words = bytes < 4 ? 1 : bytes / 4;
    for (uint32_t first = 0; first < active; first += part) {
        uint32_t word[BANKS][WARP], n[BANKS] = {0}, most = 0;
        uint32_t end = first + part < active ? first + part : active;
        for (uint32_t l = first; l < end; l++) {
            for (uint32_t k = 0; k < words; k++) {
                uint32_t w = address[l] / 4 + k, b = w % BANKS, i = 0;
                while (i < n[b] && word[b][i] != w) i++;
                if (i < n[b]) continue;
                word[b][n[b]++] = w;
                if (n[b] > most) most = n[b];
            }
        }
        *waves += most;
        *least += 1;
    }
}

/* Of global memory: the lines that the lanes ask for, of a box in which each row begins a line of its own or shares one. */
static void lines(const uint32_t *address, uint32_t active, uint32_t bytes, uint64_t *waves, uint64_t *least)
{
    enum { LINE = 128 };
    uint32_t seen[WARP], n = 0;
    for (uint32_t l = 0; l < active; l++) {
        uint32_t i = 0;
        while (i < n && seen[i] != address[l] / LINE) i++;
        if (i == n) seen[n++] = address[l] / LINE;
    }
    *waves += n;
    *least += (active * bytes + LINE - 1) / LINE;
}

typedef struct Turn { /* of a warp on one side: where its lanes' units start, and what came of it */
    int64_t at[WARP];
    uint32_t n;
    uint64_t waves, least;
} Turn;

/* Is it one turn as much further as leaves banks, lines and the swizzle's pattern as they are? */
static bool is_repeated(const IrSide *s, const Turn *t, const Turn *last)
{
    bool same = t->n == last->n && (t->at[0] - last->at[0]) % (s->swizzle ? 1024 : 128) == 0;
    for (uint32_t l = 1; l < t->n && same; l++) same = t->at[l] - t->at[0] == last->at[l] - last->at[0];
    return same;
}

static void count_turn(const IrSide *s, const ThrPiece *q, int side, Turn *t)
{
    uint32_t mask = thr_swizzle_mask(s->swizzle);
    for (uint32_t r = 0; r < q->rows[side]; r++) {
        for (uint32_t a = 0; a < q->access[side]; a++) {
            uint32_t address[WARP];
            for (uint32_t l = 0; l < t->n; l++) address[l] = (uint32_t)thr_swizzled(t->at[l] + r * q->row_step[side] + a * q->bytes[side], mask);
            if (s->global) lines(address, t->n, q->bytes[side], &t->waves, &t->least);
            else access(address, t->n, q->bytes[side], &t->waves, &t->least);
        }
    }
}

static void count_side(const IrPlan *p, const ThrPiece *q, int side, uint32_t start, uint32_t first, uint32_t n, int kind, Turn *last, ThrWaves *out)
{
    const IrSide *s = side == THR_SRC ? &p->src : &p->dst;
    Turn t = {.n = n};
    for (uint32_t l = 0; l < n; l++) t.at[l] = start + thr_offset(q, first + l, side);
    if (!is_repeated(s, &t, last)) {
        count_turn(s, q, side, &t);
        *last = t;
    }
    uint32_t times = p->xform == IRX_SUM && side == THR_SRC ? p->parts : 1;
    out->waves[kind] += last->waves * times;
    out->least[kind] += last->least * times;
    out->instructions += (uint64_t)q->rows[side] * q->access[side] * times;
}

static void count_piece(const IrPlan *p, const ThrPiece *q, const uint32_t *start, unsigned sides, uint64_t limit, ThrWaves *out)
{
    uint32_t lanes = thr_lanes(q);
    Turn last[THR_SIDES] = {{.n = 0}, {.n = 0}};
    for (uint32_t first = 0; first < q->units; first += lanes) { /* a warp's turn: lanes units in a row */
        uint32_t n = lanes < q->units - first ? lanes : q->units - first;
        if (p->xform != IRX_FILL && sides >> THR_SRC & 1) count_side(p, q, THR_SRC, start[THR_SRC], first, n, THR_SRC, &last[THR_SRC], out);
        if (p->add && sides >> THR_DST & 1) count_side(p, q, THR_DST, start[THR_DST], first, n, THR_SRC, &last[THR_DST], out);
        if (sides >> THR_DST & 1) count_side(p, q, THR_DST, start[THR_DST], first, n, THR_DST, &last[THR_DST], out);
        if (out->waves[THR_SRC] + out->waves[THR_DST] > limit) return;
    }
}

void thr_count(const IrPlan *p, const ThrWork *work, const uint32_t start[THR_SIDES], unsigned sides, uint64_t limit, ThrWaves *out)
{
    *out = (ThrWaves){.instructions = 0};
    for (uint32_t i = 0; i < work->n && out->waves[THR_SRC] + out->waves[THR_DST] <= limit; i++)
        count_piece(p, &work->piece[i], start, sides, limit, out);
}
