/* Draws the cases. What may be expected of a case is nowhere here: a GPU says it. */
#include <stdio.h>
#include <string.h>

#include "tests/calibrate/draw.h"

const char *const KIND_NAMES[KIND_COUNT] = {"load",
                                            "load_phase",
                                            "load_interleave",
                                            "store",
                                            "store_interleave",
                                            "reduce_tensor",
                                            "bulk",
                                            "reduce_bulk",
                                            "reduce_peer",
                                            "multicast",
                                            "peer",
                                            "barrier",
                                            "trap",
                                            "im2col_load",
                                            "im2col_interleave",
                                            "im2col_store",
                                            "im2col_reduce",
                                            "im2col_multicast"};

uint32_t draw_below(Draw *d, uint32_t n)
{
    return (uint32_t)(rng_next(d) % n);
}

int64_t between(Draw *d, int64_t lo, int64_t hi)
{
    return lo + (int64_t)(rng_next(d) % (uint64_t)(hi - lo + 1));
}

bool one_in(Draw *d, uint32_t n)
{
    return draw_below(d, n) == 0;
}

void fill_random(Draw *d, uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i += 8) {
        uint64_t v = rng_next(d);
        memcpy(p + i, &v, n - i < 8 ? n - i : 8);
    }
}

/* ---- values that matter to reductions ---- */

/* Sign, exponent and mantissa in the format, leaning towards the ends: zero, subnormal, large, infinite, NaN. */
static uint64_t draw_float(Draw *d, int exponent_bits, int mantissa_bits)
{
    uint64_t sign = rng_next(d) & 1, mantissa = rng_next(d) & ((UINT64_C(1) << mantissa_bits) - 1);
    uint64_t top = (UINT64_C(1) << exponent_bits) - 1, exponent;
    switch (draw_below(d, 10)) {
    case 0: exponent = 0; break;
    case 1: exponent = 0, mantissa = draw_below(d, 3); break;
    case 2: exponent = top; break;
    case 3: exponent = top, mantissa = 0; break;
    case 4: exponent = top - 1; break;
    case 5: exponent = 1 + draw_below(d, 3); break;
    default: exponent = top / 2 + draw_below(d, 12) - 6; break;
    }
    return ((sign << exponent_bits | exponent) << mantissa_bits) | mantissa;
}

void fill_values(Draw *d, uint8_t *p, size_t n, Values kind, int bytes)
{
    for (size_t i = 0; i + (size_t)bytes <= n; i += (size_t)bytes) {
        uint64_t v = rng_next(d);
        switch (kind) {
        case VALUES_F16: v = draw_float(d, 5, 10); break;
        case VALUES_BF16: v = draw_float(d, 8, 7); break;
        case VALUES_F32: v = draw_float(d, 8, 23); break;
        case VALUES_F64: v = draw_float(d, 11, 52); break;
        case VALUES_INT:
            if (one_in(d, 4)) v = draw_below(d, 4) - 2u;
            break;
        case VALUES_RAW: break;
        }
        memcpy(p + i, &v, (size_t)bytes);
    }
}

/* ---- maps ---- */

const TypeWord TYPES[TYPE_WORDS] = {{"u8", 1, false},     {"u16", 2, false}, {"u32", 4, false},    {"s32", 4, false},
                                    {"u64", 8, false},    {"s64", 8, false}, {"f16", 2, true},     {"f32", 4, true},
                                    {"f64", 8, true},     {"bf16", 2, true}, {"f32_ftz", 4, true}, {"tf32", 4, true},
                                    {"tf32_ftz", 4, true}};

static void ignore(void *user, const MapBreach *b)
{
    (void)user;
    (void)b;
}

/* Bytes from the first to behind the last unit: an element, or a slice of an interleaved tensor. */
int64_t span_of(const MapDesc *m, int bytes)
{
    int64_t n = m->dim[m->rank - 1] * bytes;
    for (int i = 0; i < m->rank - 1; i++) n += (m->dim[i] - 1) * m->pitch[i];
    return n;
}

void draw_pitches(Draw *d, MapDesc *m, int bytes, int unit)
{
    int64_t low = m->dim[m->rank - 1] * bytes;
    for (int i = m->rank - 2; i >= 0; i--) {
        low = (low + unit - 1) / unit * unit;
        if (one_in(d, 3)) low += unit * (int64_t)draw_below(d, 4);
        m->pitch[i] = one_in(d, 16) ? 0 : low; /* a stride of 0 repeats rows */
        low *= m->dim[i];
    }
}

static bool draw_map_once(Draw *d, Case *c, int type, bool interleave, bool is_store)
{
    MapDesc m = {.mode = MAP_TILED, .type = type, .sm = 90, .is_store = is_store, .is_load = !is_store};
    int bytes = TYPES[type].bytes, align = interleave ? 32 : 16;
    m.rank = interleave ? 3 + (int)draw_below(d, 3) : 1 + (int)draw_below(d, 5);
    m.interleave = interleave ? 1 + (int)draw_below(d, 2) : 0;
    m.swizzle = m.interleave == 2 ? MAP_SWIZZLE_32B : m.interleave == 1 ? 0 : (int)draw_below(d, 4);
    m.l2 = (int)draw_below(d, 4);
    m.fill = !is_store && TYPES[type].is_float && one_in(d, 3) ? MAP_FILL_NAN : MAP_FILL_ZERO;
    for (int i = m.rank - 1; i >= 0; i--) {
        bool inner = i == m.rank - 1;
        m.elem_stride[i] = (!inner || interleave) && one_in(d, 4) ? 1 + draw_below(d, 8) : 1;
        int64_t limit = inner ? (swizzle_span(m.swizzle) ? swizzle_span(m.swizzle) : 512) / bytes : 12;
        if (limit > 256) limit = 256;
        m.box[i] = between(d, 1, limit);
        if (inner) m.box[i] = (m.box[i] * bytes + 15) / 16 * 16 / bytes;
        if (m.box[i] > 256) m.box[i] = 256;
        m.dim[i] = one_in(d, 5) ? between(d, 1, 4) : between(d, 1, inner ? 90 : 14);
        if (inner && is_store) m.dim[i] = (m.dim[i] * bytes + 15) / 16 * 16 / bytes;
    }
    if (interleave) m.dim[m.rank - 1] = between(d, 1, 6) * (m.interleave == 1 ? 16 : 32) / bytes;
    m.pitch[m.rank - 1] = bytes;
    int unit = m.interleave == 2 ? 32 : m.interleave == 1 ? 16 : bytes;
    draw_pitches(d, &m, unit, align);
    m.address = align * (int64_t)draw_below(d, 8);
    if (is_store) /* overlapping rows: who wins is open */
        for (int i = 0; i < m.rank - 1; i++)
            if (m.pitch[i] == 0) return false;
    if (span_of(&m, unit) + m.address > TENSOR_MAX - 4096 || map_smem_bytes(&m) > REGION_MAX - 8192) return false;
    if (map_check(&m, ignore, NULL)) return false;
    c->map = m;
    c->has_map = true;
    c->tensor_bytes = (uint32_t)((span_of(&m, unit) + m.address + 2048) / 1024 * 1024);
    return true;
}

static void draw_map(Draw *d, Case *c, int type, bool interleave, bool is_store)
{
    while (!draw_map_once(d, c, type, interleave, is_store)) {
    }
}

/* Where the box lies: inside, over an edge, below 0, far outside. Outermost first in the map, innermost first in args. */
static void draw_coords(Draw *d, Case *c, bool negative)
{
    const MapDesc *m = &c->map;
    int bytes = TYPES[m->type].bytes, unit = bytes >= 16 ? 1 : 16 / bytes;
    for (int i = 0; i < m->rank; i++) {
        int dim = m->rank - 1 - i;
        int64_t n = m->dim[dim], box = m->box[dim], v;
        switch (draw_below(d, 8)) {
        case 0: v = negative ? -between(d, 1, box) : n - 1; break;
        case 1: v = n - between(d, 0, box < n ? box : n); break;
        case 2: v = one_in(d, 4) ? n + draw_below(d, 50) : 0; break;
        case 3:
            v = one_in(d, 12) ? (negative && one_in(d, 2) ? INT32_MIN : INT32_MAX - 255) : between(d, 0, n - 1);
            break;
        default: v = between(d, 0, n > box ? n - box : 0); break;
        }
        if (i == 0) v = v >= 0 ? v / unit * unit : -((-v + unit - 1) / unit * unit);
        if (!negative && v < 0) v = 0;
        c->args[ARG_COORD + i] = (int32_t)v;
    }
}

static uint32_t round_up(uint32_t v, uint32_t unit)
{
    return (v + unit - 1) / unit * unit;
}

void set_region(Case *c, uint32_t bytes)
{
    c->region = round_up(bytes + 256, 1024);
    c->args[ARG_REGION] = (int32_t)c->region;
}

const char *coords_of(int rank)
{
    static const char *const COORDS[] = {"{%c0}", "{%c0, %c1}", "{%c0, %c1, %c2}", "{%c0, %c1, %c2, %c3}",
                                         "{%c0, %c1, %c2, %c3, %c4}"};
    return COORDS[rank - 1];
}

static void name_map(Case *c, const char *what)
{
    const MapDesc *m = &c->map;
    int n = snprintf(c->name, sizeof c->name, "%s %s swizzle %d interleave %d fill %d", what, TYPES[m->type].name,
                     m->swizzle, m->interleave, m->fill);
    for (int i = 0; i < m->rank && n > 0 && (size_t)n < sizeof c->name; i++)
        n += snprintf(c->name + n, sizeof c->name - (size_t)n, " [%d:%d/%d@%d]", (int)m->dim[i], (int)m->box[i],
                      (int)m->elem_stride[i], c->args[ARG_COORD + m->rank - 1 - i]);
}

/* ---- tensor copies ---- */

static void draw_load(Draw *d, Case *c, bool interleave, bool phase)
{
    int type = (int)draw_below(d, TYPE_WORDS);
    draw_map(d, c, type, interleave, false);
    if (phase) {
        while (c->map.swizzle == 0) draw_map(d, c, type, false, false);
    }
    draw_coords(d, c, true);
    uint32_t at = phase || one_in(d, 2) ? 128 * draw_below(d, 12) : 1024 * draw_below(d, 3);
    set_region(c, (uint32_t)map_smem_bytes(&c->map) + at + 1024);
    c->args[ARG_OFF] = (int32_t)at;
    c->args[ARG_TX] = (int32_t)map_tx_bytes(&c->map);
    snprintf(c->core, sizeof c->core,
             "cp.async.bulk.tensor.%dd.shared::cta.global.tile.mbarrier::complete_tx::bytes [%%off], [%%map, %s], "
             "[%%bar];\n",
             c->map.rank, coords_of(c->map.rank));
    name_map(c, "load");
    fill_random(d, c->tensor, c->tensor_bytes);
}

static void put_store(Case *c, const char *op)
{
    snprintf(c->core, sizeof c->core,
             "cp%s.async.bulk.tensor.%dd.global.shared::cta%s%s.tile.bulk_group [%%map, %s], [%%off];\n"
             "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n",
             op ? ".reduce" : "", c->map.rank, op ? "." : "", op ? op : "", coords_of(c->map.rank));
}

static void draw_store(Draw *d, Case *c, bool interleave)
{
    draw_map(d, c, (int)draw_below(d, TYPE_WORDS), interleave, true);
    draw_coords(d, c, false);
    uint32_t at = 128 * draw_below(d, 12);
    set_region(c, (uint32_t)map_smem_bytes(&c->map) + at);
    c->args[ARG_OFF] = (int32_t)at;
    put_store(c, NULL);
    name_map(c, "store");
    fill_random(d, c->tensor, c->tensor_bytes);
}

Values values_of_map(int type)
{
    switch (type) {
    case MAP_F16: return VALUES_F16;
    case MAP_BF16: return VALUES_BF16;
    case MAP_F32:
    case MAP_F32_FTZ:
    case MAP_TF32:
    case MAP_TF32_FTZ: return VALUES_F32;
    case MAP_F64: return VALUES_F64;
    default: return VALUES_INT;
    }
}

/* Operations of tensor reductions and the map types on which they were found to work (others trap or do nothing
 * defined): add and min / max on 32- and 64-bit integers and 16-bit floats, add on f32. */
const TensorReduction TENSOR_REDUCTIONS[TENSOR_REDUCTION_COUNT] = {
    {"add", MAP_U32}, {"add", MAP_S32}, {"add", MAP_U64}, {"add", MAP_F16},     {"add", MAP_BF16}, {"add", MAP_F32},
    {"min", MAP_U32}, {"min", MAP_S32}, {"min", MAP_U64}, {"min", MAP_S64},     {"min", MAP_F16},  {"min", MAP_BF16},
    {"max", MAP_U32}, {"max", MAP_S32}, {"max", MAP_U64}, {"max", MAP_S64},     {"max", MAP_F16},  {"max", MAP_BF16},
    {"inc", MAP_U32}, {"dec", MAP_U32}, {"and", MAP_U32}, {"or", MAP_U32},      {"xor", MAP_U32},  {"and", MAP_S32},
    {"or", MAP_U64},  {"xor", MAP_U64}, {"and", MAP_U64}, {"add", MAP_F32_FTZ}, {"add", MAP_S64},  {"add", MAP_F64}};

static void draw_reduce_tensor(Draw *d, Case *c)
{
    uint32_t k = c->number % TENSOR_REDUCTION_COUNT;
    int type = TENSOR_REDUCTIONS[k].type;
    draw_map(d, c, type, false, true);
    draw_coords(d, c, false);
    uint32_t at = 128 * draw_below(d, 12);
    set_region(c, (uint32_t)map_smem_bytes(&c->map) + at);
    c->args[ARG_OFF] = (int32_t)at;
    put_store(c, TENSOR_REDUCTIONS[k].op);
    name_map(c, TENSOR_REDUCTIONS[k].op);
    fill_values(d, c->tensor, c->tensor_bytes, values_of_map(type), TYPES[type].bytes);
    fill_values(d, c->fill, c->region, values_of_map(type), TYPES[type].bytes);
}

/* ---- bulk copies ---- */

static void draw_linear(Draw *d, Case *c, uint32_t regions_used)
{
    uint32_t size = 16 * (one_in(d, 4) ? draw_below(d, 3) + 1 : 1 + draw_below(d, 512));
    uint32_t at = 16 * draw_below(d, 64), at2 = round_up(at + size, 16) + 16 * draw_below(d, 64);
    uint32_t g = 16 * draw_below(d, 256);
    c->args[ARG_SIZE] = (int32_t)size;
    c->args[ARG_OFF] = (int32_t)at;
    c->args[ARG_OFF2] = (int32_t)at2;
    c->args[ARG_GLOBAL] = (int32_t)g;
    c->tensor_bytes = round_up(g + size + 64, 1024);
    set_region(c, (regions_used > 1 ? at2 : at) + size);
}

static void draw_bulk(Draw *d, Case *c)
{
    draw_linear(d, c, 1);
    fill_random(d, c->tensor, c->tensor_bytes);
    if (c->number % 2) {
        c->args[ARG_TX] = c->args[ARG_SIZE];
        const char *space = one_in(d, 2) ? "cta" : "cluster";
        snprintf(c->core, sizeof c->core,
                 "cp.async.bulk.shared::%s.global.mbarrier::complete_tx::bytes [%%off], [%%g], %%size, [%%bar];\n",
                 space);
        snprintf(c->name, sizeof c->name, "bulk load ::%s %d bytes", space, c->args[ARG_SIZE]);
    } else {
        snprintf(c->core, sizeof c->core,
                 "cp.async.bulk.global.shared::cta.bulk_group [%%g], [%%off], %%size;\ncp.async.bulk.commit_group;\n"
                 "cp.async.bulk.wait_group 0;\n");
        snprintf(c->name, sizeof c->name, "bulk store %d bytes", c->args[ARG_SIZE]);
    }
}

typedef struct Reduction {
    const char *op, *type;
    int bytes;
    Values values;
} Reduction;
static const Reduction REDUCTIONS[] = {
    {"add", "u32", 4, VALUES_INT},         {"add", "s32", 4, VALUES_INT}, {"add", "u64", 8, VALUES_INT},
    {"add", "f32", 4, VALUES_F32},         {"add", "f64", 8, VALUES_F64}, {"add.noftz", "f16", 2, VALUES_F16},
    {"add.noftz", "bf16", 2, VALUES_BF16}, {"min", "u32", 4, VALUES_INT}, {"min", "s32", 4, VALUES_INT},
    {"min", "u64", 8, VALUES_INT},         {"min", "s64", 8, VALUES_INT}, {"min", "f16", 2, VALUES_F16},
    {"min", "bf16", 2, VALUES_BF16},       {"max", "u32", 4, VALUES_INT}, {"max", "s32", 4, VALUES_INT},
    {"max", "u64", 8, VALUES_INT},         {"max", "s64", 8, VALUES_INT}, {"max", "f16", 2, VALUES_F16},
    {"max", "bf16", 2, VALUES_BF16},       {"inc", "u32", 4, VALUES_INT}, {"dec", "u32", 4, VALUES_INT},
    {"and", "b32", 4, VALUES_RAW},         {"or", "b32", 4, VALUES_RAW},  {"xor", "b32", 4, VALUES_RAW},
    {"and", "b64", 8, VALUES_RAW},         {"or", "b64", 8, VALUES_RAW},  {"xor", "b64", 8, VALUES_RAW}};
static const Reduction PEER_REDUCTIONS[] = {
    {"add", "u32", 4, VALUES_INT}, {"add", "s32", 4, VALUES_INT}, {"add", "u64", 8, VALUES_INT},
    {"min", "u32", 4, VALUES_INT}, {"min", "s32", 4, VALUES_INT}, {"max", "u32", 4, VALUES_INT},
    {"max", "s32", 4, VALUES_INT}, {"inc", "u32", 4, VALUES_INT}, {"dec", "u32", 4, VALUES_INT},
    {"and", "b32", 4, VALUES_RAW}, {"or", "b32", 4, VALUES_RAW},  {"xor", "b32", 4, VALUES_RAW}};
#define COUNT(a) ((uint32_t)(sizeof(a) / sizeof(a)[0]))

static void draw_reduce_bulk(Draw *d, Case *c)
{
    const Reduction *r = &REDUCTIONS[c->number % COUNT(REDUCTIONS)];
    draw_linear(d, c, 1);
    fill_values(d, c->tensor, c->tensor_bytes, r->values, r->bytes);
    fill_values(d, c->fill, c->region, r->values, r->bytes);
    snprintf(c->core, sizeof c->core,
             "cp.reduce.async.bulk.global.shared::cta.bulk_group.%s.%s [%%g], [%%off], %%size;\n"
             "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n",
             r->op, r->type);
    snprintf(c->name, sizeof c->name, "reduce %s %s %d bytes", r->op, r->type, c->args[ARG_SIZE]);
}

/* From the issuer's off to off2 of the peer, which may be itself. */
static void draw_peer(Draw *d, Case *c, const Reduction *r)
{
    draw_linear(d, c, 2);
    c->cluster = one_in(d, 2) ? 4 : 2;
    uint32_t from = draw_below(d, c->cluster), to = draw_below(d, c->cluster);
    c->args[ARG_ISSUER] = (int32_t)from;
    c->args[ARG_PEER] = (int32_t)to;
    c->args[ARG_TX + to] = c->args[ARG_SIZE];
    if (r) fill_values(d, c->fill, (size_t)c->region * c->cluster, r->values, r->bytes);
    char words[32] = "";
    if (r) snprintf(words, sizeof words, ".%s.%s", r->op, r->type);
    snprintf(c->core, sizeof c->core,
             "mapa.shared::cluster.u32 %%r1, %%off2, %%peer;\nmapa.shared::cluster.u32 %%r2, %%bar, %%peer;\n"
             "cp%s.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes%s [%%r1], [%%off], %%size, "
             "[%%r2];\n",
             r ? ".reduce" : "", words);
    snprintf(c->name, sizeof c->name, "peer%s %u -> %u of %u, %d bytes", words, from, to, c->cluster,
             c->args[ARG_SIZE]);
}

static void draw_multicast(Draw *d, Case *c)
{
    c->cluster = 4;
    uint32_t mask = 1 + c->number % 15, issuer = draw_below(d, 4);
    c->args[ARG_MASK] = (int32_t)mask;
    c->args[ARG_ISSUER] = (int32_t)issuer;
    bool tensor = c->number / 15 % 2;
    if (tensor) {
        draw_map(d, c, (int)draw_below(d, TYPE_WORDS), false, false);
        draw_coords(d, c, true);
        uint32_t at = 128 * draw_below(d, 12);
        c->args[ARG_OFF] = (int32_t)at;
        set_region(c, (uint32_t)map_smem_bytes(&c->map) + at);
        snprintf(c->core, sizeof c->core,
                 "cp.async.bulk.tensor.%dd.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [%%off], [%%map, %s], [%%bar], %%h0;\n",
                 c->map.rank, coords_of(c->map.rank));
        name_map(c, "multicast");
    } else {
        draw_linear(d, c, 1);
        snprintf(c->core, sizeof c->core,
                 "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%%off], [%%g], "
                 "%%size, [%%bar], %%h0;\n");
        snprintf(c->name, sizeof c->name, "multicast bulk mask %u from %u, %d bytes", mask, issuer, c->args[ARG_SIZE]);
    }
    fill_random(d, c->tensor, c->tensor_bytes);
    for (uint32_t r = 0; r < 4; r++)
        if (mask >> r & 1) c->args[ARG_TX + r] = tensor ? (int32_t)map_tx_bytes(&c->map) : c->args[ARG_SIZE];
}

/* ---- mbarriers ---- */

/* A list of (operation, operand) in args, executed by a loop on a barrier of its own at off; after each the answers of
 * test_wait for both parities are stored behind the regions. Sums stay in range, arrivals never exceed what is pending:
 * what lies outside is undefined. */
static const char BARRIER_CORE[] =
    "add.s64 %rd2, %args, 128;\nmul.wide.u32 %rd3, %region, 1;\nadd.s64 %rd3, %out, %rd3;\nadd.s64 %rd3, %rd3, 64;\n"
    "mov.u32 %r3, 0;\n"
    "L_next:\nsetp.ge.u32 %p6, %r3, %size;\n@%p6 bra L_over;\n"
    "ld.global.u32 %r4, [%rd2];\nld.global.u32 %r5, [%rd2+4];\nmov.b64 %rd5, 0;\n"
    "setp.eq.u32 %p7, %r4, 0;\n@%p7 mbarrier.init.shared::cta.b64 [%off], %r5;\n"
    "setp.eq.u32 %p7, %r4, 1;\n@%p7 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%off], %r5;\n"
    "setp.eq.u32 %p7, %r4, 2;\n@%p7 mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%off], %r5;\n"
    "setp.ne.u32 %p7, %r4, 3;\n@%p7 bra L_not3;\nmbarrier.arrive.shared::cta.b64 %rd4, [%off], %r5;\n"
    "mbarrier.pending_count.b64 %r6, %rd4;\ncvt.u64.u32 %rd5, %r6;\n"
    "L_not3:\nsetp.ne.u32 %p7, %r4, 4;\n@%p7 bra L_not4;\n"
    "mbarrier.arrive.expect_tx.shared::cta.b64 %rd4, [%off], %r5;\n"
    "mbarrier.pending_count.b64 %r6, %rd4;\ncvt.u64.u32 %rd5, %r6;\n"
    "L_not4:\nsetp.eq.u32 %p7, %r4, 5;\n@%p7 mbarrier.inval.shared::cta.b64 [%off];\n@%p7 bra L_skip;\n"
    "setp.ne.u32 %p7, %r4, 6;\n@%p7 bra L_not6;\nmbarrier.arrive_drop.shared::cta.b64 %rd4, [%off];\n"
    "mbarrier.pending_count.b64 %r6, %rd4;\ncvt.u64.u32 %rd5, %r6;\n"
    "L_not6:\nmbarrier.test_wait.parity.shared::cta.b64 %p8, [%off], 0;\n"
    "mbarrier.test_wait.parity.shared::cta.b64 %p9, [%off], 1;\nselp.u32 %r7, 1, 0, %p8;\nselp.u32 %r8, 2, 0, %p9;\n"
    "or.b32 %r7, %r7, %r8;\nst.global.u32 [%rd3], %r7;\nst.global.u32 [%rd3+4], %rd5;\n"
    "L_skip:\nadd.s64 %rd2, %rd2, 8;\nadd.s64 %rd3, %rd3, 8;\nadd.u32 %r3, %r3, 1;\nbra L_next;\n"
    "L_over:\nmov.b64 %rd6, 0;\nst.shared.b64 [%off], %rd6;\n";

typedef struct Model { /* keeps the sequence within what is defined */
    int32_t count, pending, tx;
    bool live;
} Model;

static void settle(Model *m)
{
    if (m->pending == 0 && m->tx == 0) m->pending = m->count;
}

static void step(Draw *d, Model *m, int32_t *op, int32_t *operand)
{
    *operand = 0;
    if (!m->live) {
        *op = 0;
        *operand = m->count = m->pending = one_in(d, 6) ? 1048575 : (int32_t)(1 + draw_below(d, 5));
        m->live = true;
        m->tx = 0;
        return;
    }
    uint32_t what = draw_below(d, 12);
    int32_t room = 1048575 - (m->tx > 0 ? m->tx : 0);
    /* The last arrival comes only when no more bytes were completed than are expected: that would never balance. */
    uint32_t most = (uint32_t)(m->tx < 0 ? m->pending - 1 : m->pending);
    if (what < 3 && m->pending > 0 && most > 0) {
        *op = 3;
        *operand = 1 + (int32_t)draw_below(d, most);
        m->pending -= *operand;
    } else if (what < 5 && most > 0 && room > 4096) {
        *op = 4;
        *operand = one_in(d, 8) ? room : (int32_t)draw_below(d, 4096);
        m->tx += *operand;
        m->pending--;
    } else if (what < 7 && room > 4096 && m->pending > 0) {
        *op = 1;
        *operand = (int32_t)draw_below(d, 4096);
        m->tx += *operand;
    } else if (what == 11 && m->count > 1 && m->count < 100 && most > 0) {
        *op = 6;
        m->count--;
        m->pending--;
    } else if (what == 10 && one_in(d, 3)) {
        *op = 5;
        m->live = false;
    } else if (m->tx > 0 || (m->pending > 0 && m->tx > -8192)) {
        *op = 2;
        *operand = m->tx > 0 && one_in(d, 2) ? m->tx : (int32_t)draw_below(d, m->tx > 0 ? (uint32_t)m->tx : 4096u);
        m->tx -= *operand;
    } else {
        *op = 1;
        *operand = 0;
    }
    if (m->live) settle(m);
}

static void draw_barrier(Draw *d, Case *c)
{
    set_region(c, 1024);
    c->args[ARG_OFF] = 8 * (int32_t)draw_below(d, 64);
    int32_t n = 8 + (int32_t)draw_below(d, (ARGS - ARG_LIST) / 2 - 8);
    Model m = {.count = 1};
    for (int32_t i = 0; i < n; i++) step(d, &m, &c->args[ARG_LIST + 2 * i], &c->args[ARG_LIST + 2 * i + 1]);
    if (m.live) c->args[ARG_LIST + 2 * n] = 5, n++;
    c->args[ARG_SIZE] = n;
    snprintf(c->core, sizeof c->core, "%s", BARRIER_CORE);
    snprintf(c->name, sizeof c->name, "mbarrier, %d operations", n);
}

/* ---- what ends a kernel ---- */

static void draw_trap(Draw *d, Case *c)
{
    switch (c->number % 8) {
    case 0: /* innermost start not a multiple of 16 bytes */
        do draw_load(d, c, false, false);
        while (TYPES[c->map.type].bytes == 16);
        c->args[ARG_COORD] = c->args[ARG_COORD] / 16 * 16 + 1 +
                             (int32_t)draw_below(d, (uint32_t)(16 / TYPES[c->map.type].bytes) - 1);
        break;
    case 1: /* shared address not a multiple of 128 */
        draw_load(d, c, false, false);
        c->args[ARG_OFF] += 16 * (1 + (int32_t)draw_below(d, 7));
        break;
    case 2: /* a store that starts below 0 */
        draw_store(d, c, false);
        c->args[ARG_COORD + draw_below(d, (uint32_t)c->map.rank)] = -16 * (1 + (int32_t)draw_below(d, 4));
        break;
    case 3: /* a store from a shared address that is not a multiple of 128 */
        draw_store(d, c, false);
        c->args[ARG_OFF] += 16 * (1 + (int32_t)draw_below(d, 7));
        break;
    case 4: /* bulk sizes and addresses that are not multiples of 16 */
        draw_bulk(d, c);
        c->args[one_in(d, 2) ? ARG_GLOBAL : ARG_OFF] += 1 + (int32_t)draw_below(d, 15);
        break;
    case 5: /* a copy to itself without a cluster launch */
        draw_peer(d, c, NULL);
        c->cluster = 1;
        c->args[ARG_ISSUER] = c->args[ARG_PEER] = 0;
        memset(&c->args[ARG_TX], 0, RANKS * sizeof c->args[0]);
        c->args[ARG_TX] = c->args[ARG_SIZE];
        break;
    case 6: /* a store with an innermost start that is not a multiple of 16 bytes */
        draw_store(d, c, false);
        if (TYPES[c->map.type].bytes < 16)
            c->args[ARG_COORD] = c->args[ARG_COORD] / 16 * 16 + 1 +
                                 (int32_t)draw_below(d, (uint32_t)(16 / TYPES[c->map.type].bytes) - 1);
        break;
    default: /* a plain load at an address that is not a multiple of its size */
        draw_bulk(d, c);
        snprintf(c->core, sizeof c->core, "ld.shared.u32 %%r1, [%%off+%u];\nst.global.u32 [%%g], %%r1;\n",
                 1 + draw_below(d, 3));
        memset(&c->args[ARG_TX], 0, RANKS * sizeof c->args[0]);
        break;
    }
    char name[sizeof c->name];
    snprintf(name, sizeof name, "trap %u: %.120s", c->number % 8, c->name);
    memcpy(c->name, name, sizeof name);
}

void draw_case(Case *c, Kind kind, uint32_t number, uint64_t seed, uint8_t *fill, uint8_t *tensor)
{
    Draw d = {seed * 1000003 + (uint64_t)kind * 7919 + number};
    rng_next(&d);
    *c = (Case){.kind = kind, .number = number, .cluster = 1, .tensor_bytes = 1024, .fill = fill, .tensor = tensor};
    fill_random(&d, fill, (size_t)RANKS * REGION_MAX);
    switch (kind) {
    case KIND_LOAD: draw_load(&d, c, false, false); break;
    case KIND_LOAD_PHASE: draw_load(&d, c, false, true); break;
    case KIND_LOAD_INTERLEAVE: draw_load(&d, c, true, false); break;
    case KIND_STORE: draw_store(&d, c, false); break;
    case KIND_STORE_INTERLEAVE: draw_store(&d, c, true); break;
    case KIND_REDUCE_TENSOR: draw_reduce_tensor(&d, c); break;
    case KIND_BULK: draw_bulk(&d, c); break;
    case KIND_REDUCE_BULK: draw_reduce_bulk(&d, c); break;
    case KIND_REDUCE_PEER: draw_peer(&d, c, &PEER_REDUCTIONS[number % COUNT(PEER_REDUCTIONS)]); break;
    case KIND_MULTICAST: draw_multicast(&d, c); break;
    case KIND_PEER: draw_peer(&d, c, NULL); break;
    case KIND_BARRIER: draw_barrier(&d, c); break;
    case KIND_TRAP: draw_trap(&d, c); break;
    case KIND_IM2COL_LOAD: draw_im2col_load(&d, c, false, false); break;
    case KIND_IM2COL_INTERLEAVE: draw_im2col_load(&d, c, true, false); break;
    case KIND_IM2COL_STORE: draw_im2col_store(&d, c, false); break;
    case KIND_IM2COL_REDUCE: draw_im2col_store(&d, c, true); break;
    case KIND_IM2COL_MULTICAST: draw_im2col_load(&d, c, false, true); break;
    case KIND_COUNT: break;
    }
}
