/* Cases of the im2col mode: loads, multicast, stores and reductions through maps of three to five dimensions. */
#include <stdio.h>
#include <string.h>

#include "tests/calibrate/draw.h"

static void ignore(void *user, const MapBreach *b)
{
    (void)user;
    (void)b;
}

/* Interleaved maps have one slice per pixel: how several would lie is not known. */
static bool draw_map_once(Draw *d, Case *c, int type, bool interleave, bool is_store)
{
    static const int64_t corner[] = {0, 0, 0, 30, 12, 5};
    MapDesc m = {.mode = MAP_IM2COL, .type = type, .sm = 90, .is_store = is_store, .is_load = !is_store};
    int bytes = TYPES[type].bytes, first = interleave ? 2 : 1, align = interleave ? 32 : 16;
    m.rank = 3 + (int)draw_below(d, 3);
    m.interleave = interleave ? 1 + (int)draw_below(d, 2) : 0;
    m.swizzle = m.interleave == 2 ? MAP_SWIZZLE_32B : m.interleave == 1 ? 0 : (int)draw_below(d, 4);
    m.l2 = (int)draw_below(d, 4);
    m.fill = !is_store && TYPES[type].is_float && one_in(d, 3) ? MAP_FILL_NAN : MAP_FILL_ZERO;
    int slice = m.interleave == 2 ? 32 : 16, inner = m.rank - 1;
    for (int i = 0; i < m.rank; i++) {
        m.dim[i] = one_in(d, 5) ? between(d, 1, 3) : between(d, 1, 12);
        m.elem_stride[i] = one_in(d, 3) ? 1 + draw_below(d, one_in(d, 3) ? 8 : 3) : 1;
    }
    int64_t span = swizzle_span(m.swizzle) ? swizzle_span(m.swizzle) : 256;
    m.channels = interleave ? slice / bytes : (between(d, 1, span) + 15) / 16 * 16 / bytes;
    if (m.channels > 256) m.channels = 256;
    if (!interleave) {
        m.elem_stride[inner] = 1;
        m.dim[inner] = between(d, 1, 90);
        if (is_store) m.dim[inner] = (m.dim[inner] * bytes + 15) / 16 * 16 / bytes;
    }
    m.pixels = between(d, 1, one_in(d, 3) ? 200 : 40);
    for (int i = 0; i < m.rank - 2; i++) {
        m.lower[i] = is_store ? between(d, 0, 2) : between(d, -corner[m.rank], 3);
        m.upper[i] = is_store ? between(d, -2, 0) : between(d, -3, corner[m.rank]);
        if (m.dim[first + i] - 1 + m.upper[i] < m.lower[i]) return false;
    }
    draw_pitches(d, &m, interleave ? slice : bytes, align);
    for (int i = 0; i < inner && is_store; i++) /* overlapping rows: who wins is open */
        if (m.pitch[i] == 0) return false;
    m.address = align * (int64_t)draw_below(d, 8);
    int64_t end = span_of(&m, interleave ? slice : bytes) + m.address;
    if (end > TENSOR_MAX - 4096 || map_smem_bytes(&m) > REGION_MAX - 8192 || map_check(&m, ignore, NULL)) return false;
    c->map = m;
    c->has_map = true;
    c->tensor_bytes = (uint32_t)((end + 2048) / 1024 * 1024);
    return true;
}

/* The base within its pixel box, but for one in 40; N and C also outside. */
static void draw_base(Draw *d, Case *c, bool is_store)
{
    const MapDesc *m = &c->map;
    int bytes = TYPES[m->type].bytes, first = m->interleave ? 2 : 1, inner = m->rank - 1, unit = 16 / bytes;
    bool outside = one_in(d, 40);
    for (int i = 0; i < m->rank - 2; i++) {
        int64_t low = m->lower[i], high = m->dim[first + i] - 1 + m->upper[i];
        int64_t at = one_in(d, 3) ? low : between(d, low, high);
        if (outside && i == 0) at = is_store || one_in(d, 2) ? high + 1 : low - 1;
        c->args[ARG_COORD + inner - (first + i)] = (int32_t)at;
    }
    c->args[ARG_COORD + inner] = (int32_t)between(d, is_store ? 0 : -1, one_in(d, 3) ? m->dim[0] : m->dim[0] - 1);
    int64_t channel = between(d, is_store || !one_in(d, 3) ? 0 : -2, (m->dim[inner] * bytes + 15) / 16) * unit;
    if (m->interleave) c->args[ARG_COORD + inner - 1] = (int32_t)between(d, is_store ? 0 : -1, m->dim[1]);
    else c->args[ARG_COORD] = (int32_t)channel;
    for (int i = 0; i < m->rank - 2 && !is_store; i++) {
        static const int64_t most[] = {0, 0, 0, 300, 200, 31};
        c->args[ARG_INFO + i] = (int32_t)between(d, 0, one_in(d, 6) ? most[m->rank] : 3);
    }
}

static void name_case(Case *c, const char *what)
{
    const MapDesc *m = &c->map;
    int n = snprintf(c->name, sizeof c->name, "%s %s swz %d il %d fill %d c %d px %d", what, TYPES[m->type].name,
                     m->swizzle, m->interleave, m->fill, (int)m->channels, (int)m->pixels);
    for (int i = 0; i < m->rank && n > 0 && (size_t)n < sizeof c->name; i++) {
        int corner = i - (m->interleave ? 2 : 1);
        n += snprintf(c->name + n, sizeof c->name - (size_t)n, " [%d/%d@%d", (int)m->dim[i], (int)m->elem_stride[i],
                      c->args[ARG_COORD + m->rank - 1 - i]);
        if (corner >= 0 && corner < m->rank - 2 && n > 0 && (size_t)n < sizeof c->name)
            n += snprintf(c->name + n, sizeof c->name - (size_t)n, ":%d,%d+%d", (int)m->lower[corner],
                          (int)m->upper[corner], c->args[ARG_INFO + m->rank - 3 - corner]);
        if (n > 0 && (size_t)n < sizeof c->name) n += snprintf(c->name + n, sizeof c->name - (size_t)n, "]");
    }
}

static void draw_case_of(Draw *d, Case *c, int type, bool interleave, bool is_store)
{
    while (!draw_map_once(d, c, type, interleave, is_store)) {
    }
    draw_base(d, c, is_store);
    uint32_t at = 128 * draw_below(d, 12);
    c->args[ARG_OFF] = (int32_t)at;
    set_region(c, (uint32_t)map_smem_bytes(&c->map) + at + 1024);
}

void draw_im2col_load(Draw *d, Case *c, bool interleave, bool multicast)
{
    static const char *const info[] = {"{%h1}", "{%h1, %h2}", "{%h1, %h2, %h3}"};
    draw_case_of(d, c, (int)draw_below(d, TYPE_WORDS), interleave, false);
    const char *space = multicast || one_in(d, 2) ? "cluster" : "cta";
    int32_t tx = (int32_t)map_tx_bytes(&c->map);
    c->args[ARG_TX] = tx;
    if (multicast) {
        c->cluster = 4;
        c->args[ARG_MASK] = 1 + (int32_t)(c->number % 15);
        c->args[ARG_ISSUER] = (int32_t)draw_below(d, 4);
        for (int r = 0; r < RANKS; r++) c->args[ARG_TX + r] = c->args[ARG_MASK] >> r & 1 ? tx : 0;
    }
    snprintf(c->core, sizeof c->core,
             "ld.global.u32 %%r1, [%%args+80];\nld.global.u32 %%r2, [%%args+84];\nld.global.u32 %%r3, [%%args+88];\n"
             "cvt.u16.u32 %%h1, %%r1;\ncvt.u16.u32 %%h2, %%r2;\ncvt.u16.u32 %%h3, %%r3;\n"
             "cp.async.bulk.tensor.%dd.shared::%s.global.im2col.mbarrier::complete_tx::bytes%s [%%off], [%%map, %s], "
             "[%%bar], %s%s;\n",
             c->map.rank, space, multicast ? ".multicast::cluster" : "", coords_of(c->map.rank), info[c->map.rank - 3],
             multicast ? ", %h0" : "");
    name_case(c, multicast ? "im2col multicast" : "im2col load");
    fill_random(d, c->tensor, c->tensor_bytes);
}

void draw_im2col_store(Draw *d, Case *c, bool reduce)
{
    const TensorReduction *r = &TENSOR_REDUCTIONS[c->number % TENSOR_REDUCTION_COUNT];
    int type = reduce ? r->type : (int)draw_below(d, TYPE_WORDS);
    draw_case_of(d, c, type, !reduce && one_in(d, 5), true);
    snprintf(c->core, sizeof c->core,
             "cp%s.async.bulk.tensor.%dd.global.shared::cta%s%s.im2col_no_offs.bulk_group [%%map, %s], [%%off];\n"
             "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n",
             reduce ? ".reduce" : "", c->map.rank, reduce ? "." : "", reduce ? r->op : "", coords_of(c->map.rank));
    name_case(c, reduce ? r->op : "im2col store");
    fill_random(d, c->tensor, c->tensor_bytes);
    if (!reduce) return;
    fill_values(d, c->tensor, c->tensor_bytes, values_of_map(type), TYPES[type].bytes);
    fill_values(d, c->fill, c->region, values_of_map(type), TYPES[type].bytes);
}
