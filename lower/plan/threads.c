/* Which way of moving a tile by threads keeps shared memory busy for the shortest time. */
#include "lang/limits.h"
#include "lower/plan/threads.h"

enum { DEALS = 8, BLOCK_BYTES = 128 }; /* of registers for a block, both sides together */

typedef struct Search {
    IrPlan *p;
    ThrWork work;
    bool found;
    uint64_t waves, instructions, ideal;
    IrPlan best;
} Search;

/* ---- what threads can do ---- */

static const char *side_fits(Arena *a, const IrPlan *p, const IrSide *s, const char *what)
{
    const ElemInfo *e = s->type < TYPE_COUNT ? elem_info((ElemType)s->type) : NULL;
    if (e == NULL || e->shared_bits % 8)
        return arena_printf(a, "threads can't address elements of %s", e ? e->name : "?");
    if (s->swizzle > MAP_SWIZZLE_128B)
        return arena_printf(a, "threads can't follow the %s's swizzle: its atom is larger than 16 bytes", what);
    uint32_t align = s->align ? s->align : 16, pitch = s->pitch[p->rank - 1];
    if (align & (align - 1)) return arena_printf(a, "threads can't rely on an alignment of %u bytes", align);
    if (align % thr_element_bytes(s)) return arena_printf(a, "threads can't access %s at multiples of %u bytes", e->name, align);
    for (uint32_t d = 0; d < p->rank; d++)
        if (s->pitch[d] % thr_element_bytes(s))
            return arena_printf(a, "threads can't access %s at a pitch of %u bytes", e->name, s->pitch[d]);
    if (s->span && (pitch != thr_element_bytes(s) || s->span % pitch || s->panel % thr_element_bytes(s)))
        return arena_printf(a, "threads can't take steps in panels of %u bytes", s->span);
    return NULL;
}

static const char *types_fit(Arena *a, const IrPlan *p)
{
    const ElemInfo *from = elem_info((ElemType)p->src.type), *to = elem_info((ElemType)p->dst.type);
    bool eight = to->kind == ELEM_FLOAT && to->shared_bits == 8;
    if (p->add && (eight || p->dst.type == TYPE_TF32 || to->kind == ELEM_PACKED))
        return arena_printf(a, "threads can't add in %s: there is no such instruction", to->name);
    if (p->xform == IRX_SUM && from->kind == ELEM_PACKED)
        return arena_printf(a, "threads can't add in %s: there is no such instruction", from->name);
    if (p->src.type != p->dst.type && (from->kind == ELEM_PACKED || to->kind == ELEM_PACKED))
        return arena_printf(a, "threads can't convert %s to %s", from->name, to->name);
    return NULL;
}

static const char *plan_fits(Arena *a, const IrPlan *p)
{
    uint32_t least = p->xform == IRX_TRANSPOSE ? 2 : 1;
    if (p->rank < least || p->rank > MAP_RANK)
        return arena_printf(a, "threads can't move tiles of rank %u so", p->rank);
    if (!whole_warps(p->threads))
        return arena_printf(a, "threads can't work in numbers like %u: whole warps do, up to %d threads", p->threads, CTA_THREADS_MOST);
    if (p->xform == IRX_SUM && p->parts > THR_PARTS)
        return arena_printf(a, "threads can't add %u parts at a time, but up to %d", p->parts, THR_PARTS);
    for (uint32_t d = 0; d < p->rank; d++)
        if (p->extent[d] == 0) return "threads can't move a part with nothing in it";
    const char *why = side_fits(a, p, &p->dst, "destination");
    if (why || p->xform == IRX_FILL) return why;
    why = side_fits(a, p, &p->src, "source");
    if (!why && p->xform == IRX_REVERSE && p->src.span && p->extent[p->rank - 1] * p->src.pitch[p->rank - 1] > p->src.span)
        why = arena_printf(a, "threads can't reverse rows that lie in several panels of %u bytes", p->src.span);
    return why ? why : types_fit(a, p);
}

/* ---- candidates ---- */

static void try_one(Search *s, ThrMethod method, uint32_t wide, uint32_t tall, uint32_t deal)
{
    static const uint32_t zero[THR_SIDES];
    if (s->found && s->waves <= s->ideal) return;
    s->p->method = (uint8_t)method;
    s->p->wide = (uint8_t)wide;
    s->p->tall = (uint8_t)tall;
    s->p->deal = (uint8_t)deal;
    if (!threads_work(s->p, &s->work)) return;
    if (method == THR_MATRIX) { /* the rests are moved one by one: without a whole block it is no matrix */
        bool any = false;
        for (uint32_t i = 0; i < s->work.n; i++) any |= s->work.piece[i].method == THR_MATRIX;
        if (!any) return;
    }
    ThrWaves w;
    thr_count(s->p, &s->work, zero, 1u << THR_SRC | 1u << THR_DST, s->found ? s->waves : UINT64_MAX, &w);
    uint64_t waves = w.waves[THR_SRC] + w.waves[THR_DST];
    if (s->found && (waves > s->waves || (waves == s->waves && w.instructions >= s->instructions))) return;
    s->found = true;
    s->waves = waves;
    s->instructions = w.instructions;
    s->best = *s->p;
}

/* Where no more than a word of it is known to be aligned. It makes words of smaller elements, and lets those of a warp lie in one line. */
static void try_rotated(Search *s)
{
    const IrSide *far = s->p->src.global ? &s->p->src : &s->p->dst;
    uint32_t size = thr_element_bytes(far), each = thr_word_elements(size);
    bool lines = size * s->p->extent[s->p->rank - 1] % THR_LINE == 0;
    if (far->rows && far->align <= thr_word_bytes(size) && (each > 1 || lines)) try_one(s, THR_ROTATED, each, 1, 0);
}

static void try_vectors(Search *s)
{
    try_rotated(s);
    uint32_t from = s->p->xform == IRX_FILL ? thr_element_bytes(&s->p->dst) : thr_element_bytes(&s->p->src), to = thr_element_bytes(&s->p->dst);
    uint32_t large = from > to ? from : to, small = from < to ? from : to;
    for (uint32_t wide = 16; wide; wide /= 2)
        for (uint32_t deal = 0; deal < DEALS && wide * large <= BLOCK_BYTES / 2 && wide * small <= 16; deal++)
            if (deal < s->p->rank + 2u) try_one(s, THR_VECTOR, wide, 1, deal);
}

static void try_transposes(Search *s)
{
    static const uint8_t deals[] = {8, 32, 16, 4, 2, 0, 1};
    uint32_t from = thr_element_bytes(&s->p->src), to = thr_element_bytes(&s->p->dst), last = 0;
    if (s->p->src.type == s->p->dst.type && from <= 2)
        for (uint32_t deal = 0; deal < 2; deal++) try_one(s, THR_MATRIX, 16 / from, 16 / from, 1 - deal);
    for (uint32_t bytes = 16; bytes; bytes /= 2) {
        uint32_t wide = bytes > from ? bytes / from : 1, tall = bytes > to ? bytes / to : 1;
        while (wide * tall * (from + to) > BLOCK_BYTES && tall > 1) tall /= 2;
        while (wide * tall * (from + to) > BLOCK_BYTES && wide > tall) wide /= 2;
        if (wide << 8 == (last & 0xff00) && tall == (last & 0xff)) continue;
        last = wide << 8 | tall;
        for (size_t i = 0; i < sizeof deals; i++) try_one(s, THR_BLOCK, wide, tall, deals[i]);
    }
}

/* ---- the plan ---- */

static uint16_t ways(uint64_t waves, uint64_t least)
{
    if (least == 0) return 0;
    uint64_t x = (waves * 16 + least - 1) / least;
    return (uint16_t)(x > UINT16_MAX ? UINT16_MAX : x);
}

/* Starts of a side that meet the banks differently: the swizzle's pattern, or a word. */
static uint32_t start_step(const IrSide *s, uint32_t *end)
{
    if (s->global) return *end = 128;
    bool swizzled = thr_swizzle_mask(s->swizzle) != 0;
    uint32_t pattern = (uint32_t)swizzle_align(s->swizzle), align = s->align ? s->align : pattern;
    *end = swizzled ? pattern : 4;
    return swizzled && align < 16 ? 16 : align;
}

/* The worst over where the parts may start. The sides are independent; an `add` reads the destination too. */
static void claim_ways(IrPlan *p, const ThrWork *work)
{
    IrPlan plain = *p;
    uint64_t worst[THR_SIDES] = {0}, least[THR_SIDES] = {0};
    plain.add = false;
    for (int side = p->xform == IRX_FILL ? THR_DST : THR_SRC; side < THR_SIDES; side++) {
        uint32_t end, step = start_step(side == THR_SRC ? &p->src : &p->dst, &end), start[THR_SIDES] = {0};
        for (; start[side] < end; start[side] += step) {
            ThrWaves w;
            thr_count(&plain, work, start, 1u << side, UINT64_MAX, &w);
            if (w.waves[side] > worst[side]) worst[side] = w.waves[side];
            least[side] = w.least[side];
        }
    }
    uint64_t again = p->add ? worst[THR_DST] : 0, again_least = p->add ? least[THR_DST] : 0;
    p->read_ways = ways(worst[THR_SRC] + again, least[THR_SRC] + again_least);
    p->write_ways = ways(worst[THR_DST], least[THR_DST]);
}

static uint64_t wavefronts_at_least(const IrPlan *p)
{
    uint64_t elements = 1, bytes;
    for (uint32_t d = 0; d < p->rank; d++) elements *= p->extent[d];
    bytes = elements * thr_element_bytes(&p->dst);
    uint64_t n = (bytes + 127) / 128 * (p->add ? 2 : 1);
    uint64_t parts = p->xform == IRX_SUM ? p->parts : 1;
    return p->xform == IRX_FILL ? n : n + (elements * thr_element_bytes(&p->src) + 127) / 128 * parts;
}

static bool search(Search *s, IrPlan *p, const char **why)
{
    *s = (Search){.p = p, .ideal = wavefronts_at_least(p)};
    if (p->xform == IRX_TRANSPOSE) try_transposes(s);
    else try_vectors(s);
    if (!s->found || (*p = s->best, !threads_work(p, &s->work))) {
        *why = "threads can't move tiles with so many edges of panels";
        return false;
    }
    uint32_t most = 0;
    for (uint32_t i = 0; i < s->work.n; i++)
        for (int side = 0; side < THR_SIDES; side++)
            if (s->work.piece[i].bytes[side] > most) most = s->work.piece[i].bytes[side];
    p->vector = (uint8_t)most;
    claim_ways(p, &s->work);
    return true;
}

bool threads_plan(Arena *a, IrPlan *p, const char **why)
{
    *why = plan_fits(a, p);
    if (*why) return false;
    ArenaMark scratch = arena_mark(a);
    bool found = search(arena_new(a, Search), p, why);
    arena_release(a, scratch);
    return found;
}

const char *threads_text(Arena *a, const IrPlan *p)
{
    const char *how = p->xform == IRX_REVERSE ? "rows, reversed" : "rows", *reads = "";
    if (p->xform == IRX_SUM) how = arena_printf(a, "rows, %u added in registers", p->parts);
    if (p->xform == IRX_TRANSPOSE)
        how = p->method == THR_MATRIX ? "ldmatrix and stmatrix"
                                      : arena_printf(a, "blocks of %u x %u in registers", p->wide, p->tall);
    if (p->src.global || p->dst.global)
        return arena_printf(a, "%u-byte accesses%s, bank conflicts x%u.%02u in the tile", p->vector, p->method == THR_ROTATED ? " of rows that begin anywhere" : "",
                            (p->src.global ? p->write_ways : p->read_ways) / 16u,
                            (p->src.global ? p->write_ways : p->read_ways) % 16u * 100 / 16);
    if (p->xform != IRX_FILL)
        reads = arena_printf(a, " x%u.%02u reading,", p->read_ways / 16u, p->read_ways % 16u * 100 / 16);
    return arena_printf(a, "%s, %u-byte accesses, bank conflicts%s x%u.%02u writing", how, p->vector, reads,
                        p->write_ways / 16u, p->write_ways % 16u * 100 / 16);
}
