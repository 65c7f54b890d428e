/* The walk of tensor copies against the definition, byte by byte: which byte of shared memory belongs to which byte of
 * global memory, is filled, or stays (PTX ISA, Tensors: bounding box, traversal stride, out of bounds, swizzling modes;
 * measured rules on an H200). Descriptors are random. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/sim/copies/maps.h"

static uint64_t seed;

static uint32_t below(uint32_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((seed >> 33) % n);
}

enum { UNTOUCHED = -2, FILLED = -1, SHARED_MAX = 240 * 1024 };

typedef struct Case {
    MapDesc d;
    bool load;
    uint32_t shared;
    int64_t start[5]; /* innermost first */
} Case;

static int64_t plan[SHARED_MAX]; /* per byte of the box's memory: address in global memory, FILLED or UNTOUCHED */

static const int TYPES[] = {MAP_U8, MAP_U16, MAP_F16, MAP_F32, MAP_BF16, MAP_U32, MAP_F64, MAP_S64};

static void draw(Case *c)
{
    static const int64_t spans[] = {0, 32, 64, 128};
    MapDesc *d = &c->d;
    *c = (Case){.load = below(2)};
    d->rank = 1 + (int)below(5);
    d->type = TYPES[below(8)];
    d->swizzle = (int)below(4);
    d->fill = below(2) && (d->type == MAP_F16 || d->type == MAP_F32 || d->type == MAP_F64 || d->type == MAP_BF16);
    d->address = 0x100000000000 + 16 * below(1000);
    int inner = d->rank - 1, size = map_global_bits(d->type) / 8;
    uint32_t most = spans[d->swizzle]                ? (uint32_t)spans[d->swizzle] / 16
                    : 256 * (uint32_t)size / 16 > 40 ? 40
                                                     : 256 * (uint32_t)size / 16;
    if (d->rank >= 3 && below(4) == 0) {
        d->interleave = below(2) ? MAP_INTERLEAVE_16B : MAP_INTERLEAVE_32B;
        if (d->interleave == MAP_INTERLEAVE_32B) d->swizzle = MAP_SWIZZLE_32B;
    }
    if (d->interleave) most = 3;
    int64_t left = 100; /* rows: all of them fit shared memory */
    for (int i = 0; i < d->rank; i++) {
        d->elem_stride[i] = (i == inner && !d->interleave) || below(3) ? 1 : 1 + below(8);
        d->box[i] = i == inner ? 16 * (1 + (int64_t)below(most)) / size : 1 + below(below(4) ? 6 : 100);
        while (i != inner && left / d->box[i] == 0) d->box[i] /= 2;
        if (i != inner) left /= d->box[i];
        d->dim[i] = 1 + below(below(2) ? 10 : 300);
        d->pitch[i] = i == inner ? 0 : 16 * (int64_t)below(5000);
    }
    c->shared = 1024 + 128 * below(64);
    for (int i = 0; i < d->rank; i++) { /* innermost first */
        int64_t n = d->dim[inner - i], b = d->box[inner - i];
        int64_t s = (int64_t)below((uint32_t)(n + 2 * b)) - b;
        if (below(40) == 0) s = below(2) ? INT32_MAX : INT32_MIN;
        if (i == 0 && !d->interleave) s = s * size / 16 * 16 / size;
        if (i == 0 && s > INT32_MAX - 64) s -= s % 16;
        if (!c->load && s < 0) s = 0;
        c->start[i] = s;
    }
}

/* PTX ISA, Swizzling modes: 16-byte chunks of 128 bytes are exchanged by the number of the 128-byte line. */
static uint64_t swizzled(uint64_t address, int swizzle)
{
    uint64_t line = address / 128, chunk = address / 16 % 8;
    if (swizzle == MAP_SWIZZLE_128B) chunk ^= line % 8;
    if (swizzle == MAP_SWIZZLE_64B) chunk ^= line % 4;
    if (swizzle == MAP_SWIZZLE_32B) chunk ^= line % 2;
    return line * 128 + chunk * 16 + address % 16;
}

/* Fills `plan`; returns the bytes of the box. Interleaved, as measured: the innermost dimension counts slices of 16 or
 * 32 bytes, the second outermost numbers slices, of which the copy takes one. */
static uint32_t define(const Case *c)
{
    const MapDesc *d = &c->d;
    int inner = d->rank - 1, size = map_global_bits(d->type) / 8, slices = d->interleave ? d->rank - 2 : 0;
    int64_t n[5] = {1, 1, 1, 1, 1}, span[] = {0, 32, 64, 128}, row = 0;
    if (d->interleave) size = d->interleave == MAP_INTERLEAVE_16B ? 16 : 32;
    for (int i = 0; i < d->rank; i++)
        n[i] = (d->box[inner - i] + d->elem_stride[inner - i] - 1) / d->elem_stride[inner - i];
    if (slices) n[slices] = 1;
    int64_t pitch = n[0] * size < span[d->swizzle] && !d->interleave ? span[d->swizzle] : n[0] * size;
    int64_t end = d->dim[inner] * size;
    if (!c->load) end = (end + 15) / 16 * 16;
    for (int i = 0; i < SHARED_MAX; i++) plan[i] = UNTOUCHED;
    for (int64_t e = 0; e < n[4]; e++)
        for (int64_t f = 0; f < n[3]; f++)
            for (int64_t g = 0; g < n[2]; g++)
                for (int64_t h = 0; h < n[1]; h++, row++)
                    for (int64_t b = 0; b < n[0] * size; b++) {
                        const int64_t index[5] = {0, h, g, f, e};
                        int64_t byte = (c->start[0] + b / size * d->elem_stride[inner]) * size + b % size;
                        int64_t address = d->address + byte;
                        bool inside = byte >= 0 && byte < end;
                        for (int i = 1; i < d->rank; i++) {
                            int64_t at = c->start[i] + index[i] * d->elem_stride[inner - i];
                            inside = inside && at >= 0 && at < d->dim[inner - i];
                            address += at * d->pitch[inner - i];
                        }
                        uint64_t to = swizzled(c->shared + (uint64_t)(row * pitch + b), d->swizzle) - c->shared;
                        plan[to] = inside ? address : FILLED;
                    }
    return (uint32_t)(row * n[0] * size);
}

static bool begin(BoxWalk *w, const Case *c)
{
    int rule;
    char text[300];
    if (box_begin(w, &c->d, c->load, false, c->shared, c->start, c->d.rank, NULL, 0, &rule, text, sizeof text))
        return true;
    printf("refused: %s\n", text);
    return false;
}

static int64_t seen[SHARED_MAX];

static void see(uint32_t shared, uint64_t global, uint32_t bytes, bool inside)
{
    for (uint32_t i = 0; i < bytes; i++) {
        assert_true(shared + i < SHARED_MAX);
        assert_int_equal(seen[shared + i], UNTOUCHED); /* once only */
        seen[shared + i] = inside ? (int64_t)(global + i) : FILLED;
    }
}

static void forget(void)
{
    for (int i = 0; i < SHARED_MAX; i++) seen[i] = UNTOUCHED;
}

static void same(uint32_t n)
{
    assert_memory_equal(seen, plan, n * sizeof *seen);
}

static uint64_t global_bytes, lowest, highest;

static bool shared_range(void *user, uint32_t offset, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++) {
        assert_int_equal(seen[offset + i], UNTOUCHED);
        seen[offset + i] = *(int *)user;
    }
    return true;
}

static bool global_range(void *user, uint64_t address, uint64_t bytes)
{
    (void)user;
    assert_true(bytes > 0);
    global_bytes += bytes;
    if (address < lowest) lowest = address;
    if (address + bytes > highest) highest = address + bytes;
    return true;
}

static void check_ranges(const BoxWalk *w)
{
    int mark = 1;
    uint64_t inside = 0, at, bytes;
    forget();
    assert_true(box_shared_ranges(w, false, shared_range, &mark));
    for (uint32_t i = 0; i < w->span_bytes; i++) assert_int_equal(seen[i] == 1, plan[i] != UNTOUCHED);
    forget();
    assert_true(box_shared_ranges(w, true, shared_range, &mark));
    for (uint32_t i = 0; i < w->span_bytes; i++) {
        assert_int_equal(seen[i] == 1, plan[i] >= 0);
        inside += plan[i] >= 0;
    }
    global_bytes = highest = 0;
    lowest = UINT64_MAX;
    assert_true(box_global_ranges(w, global_range, NULL));
    assert_int_equal(global_bytes, inside);
    assert_int_equal(box_hull(w, &at, &bytes), inside != 0);
    if (inside) {
        assert_int_equal(at, lowest);
        assert_int_equal(at + bytes, highest);
    }
}

static void check(const Case *c)
{
    BoxWalk w;
    uint32_t bytes = define(c), last = 0;
    assert_true(begin(&w, c));
    assert_int_equal(w.box_bytes, bytes);
    for (uint32_t i = 0; i < SHARED_MAX; i++)
        if (plan[i] != UNTOUCHED) last = i;
    assert_int_equal(w.span_bytes, last + 1);
    if (!c->d.interleave) {
        assert_true(w.span_bytes <= map_smem_bytes(&c->d));
        assert_int_equal(w.box_bytes, map_tx_bytes(&c->d));
    }
    forget();
    BoxPiece *p = malloc(w.npieces * sizeof *p);
    assert_non_null(p);
    box_pieces(&w, p);
    for (uint64_t k = w.npieces; k-- > 0;) {
        assert_in_range(p[k].bytes, 1, 16);
        see(p[k].shared, p[k].global, p[k].bytes, p[k].inside);
    }
    free(p);
    same(w.span_bytes);
    check_ranges(&w);
}

static void random_boxes_are_walked_as_defined(void **state)
{
    (void)state;
    for (uint32_t round = 1; round <= 2000; round++) {
        Case c;
        seed = round;
        below(10);
        draw(&c);
        check(&c);
    }
}

static void rows_say_where_their_inside_is(void **state)
{
    (void)state;
    Case c = {.load = true, .shared = 1024, .start = {-16, -1}};
    c.d = (MapDesc){.rank = 2,
                    .type = MAP_U8,
                    .address = 0x100000000000,
                    .dim = {2, 40},
                    .pitch = {64},
                    .box = {4, 64},
                    .elem_stride = {1, 1}};
    BoxWalk w;
    assert_true(begin(&w, &c));
    assert_int_equal(w.rows, 4);
    for (uint32_t r = 0; r < 4; r++) {
        BoxRow row;
        box_row(&w, r, &row);
        assert_int_equal(row.shared, r * 64);
        assert_int_equal(row.from, r == 1 || r == 2 ? 16 : 0);
        assert_int_equal(row.to, r == 1 || r == 2 ? 56 : 0);
        if (row.to) assert_int_equal(row.global + row.from, 0x100000000000 + (r - 1) * 64);
    }
    assert_int_equal(w.row_pieces, 5); /* 64 bytes, one chunk cut at byte 56 */
}

static void nan_fill_is_the_measured_pattern(void **state)
{
    (void)state;
    Case c = {.load = true, .shared = 1024};
    c.d = (MapDesc){.rank = 1, .type = MAP_F32, .dim = {8}, .box = {8}, .elem_stride = {1}, .fill = MAP_FILL_NAN};
    BoxWalk w;
    assert_true(begin(&w, &c));
    assert_int_equal(w.fill, 0x7FF77FF77FF77FF7);
    c.d.fill = MAP_FILL_ZERO;
    assert_true(begin(&w, &c));
    assert_int_equal(w.fill, 0);
}

static int refusal(const Case *c)
{
    BoxWalk w;
    int rule = 0;
    char text[300] = "";
    bool ok = box_begin(&w, &c->d, c->load, false, c->shared, c->start, c->d.rank, NULL, 0, &rule, text, sizeof text);
    assert_int_equal(ok, text[0] == 0);
    return rule;
}

static void operands_are_checked(void **state)
{
    (void)state;
    Case good = {.load = true, .shared = 1024};
    good.d = (MapDesc){.rank = 2,
                       .type = MAP_BF16,
                       .address = 0x100000000000,
                       .dim = {64, 64},
                       .pitch = {128},
                       .box = {8, 64},
                       .elem_stride = {1, 1}};
    assert_int_equal(refusal(&good), 0);
    Case c = good;
    c.start[0] = 4; /* measured: 715 (M2) */
    assert_int_equal(refusal(&c), E1318);
    c.start[0] = -8;
    assert_int_equal(refusal(&c), 0);
    c.load = false; /* measured: 715 (M1) */
    assert_int_equal(refusal(&c), E1318);
    c = good;
    c.load = false;
    c.start[1] = -1;
    assert_int_equal(refusal(&c), E1318);
    c.start[1] = 1000;
    assert_int_equal(refusal(&c), 0);
    c = good;
    c.shared = 1024 + 64;
    assert_int_equal(refusal(&c), E1314);
    c = good;
    c.d.mode = MAP_GATHER4; /* has five coordinates */
    assert_int_equal(refusal(&c), E1318);
    c = good;
    c.d.swizzle = MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B;
    assert_int_equal(refusal(&c), E1352);
    BoxWalk w;
    int rule;
    char text[200];
    assert_false(box_begin(&w, &good.d, true, false, 1024, good.start, 3, NULL, 0, &rule, text, sizeof text));
    assert_int_equal(rule, E1318);
}

static uint32_t converted(int type, uint32_t bits)
{
    Case c = {.load = true, .shared = 1024};
    c.d = (MapDesc){.rank = 1, .type = type, .dim = {8}, .box = {8}, .elem_stride = {1}};
    BoxWalk w;
    assert_true(begin(&w, &c));
    if (box_converts(&w)) box_convert((uint8_t *)&bits, 4);
    return bits;
}

static void some_types_are_converted(void **state)
{
    (void)state;
    assert_int_equal(converted(MAP_F32, 0x00000001), 0x00000001);
    assert_int_equal(converted(MAP_F32_FTZ, 0x80000001), 0x80000001);
    assert_int_equal(converted(MAP_F32_FTZ, 0x3F800001), 0x3F800001);
    assert_int_equal(converted(MAP_TF32, 0x3F801FFF), 0x3F802000);
    assert_int_equal(converted(MAP_TF32, 0x3F800FFF), 0x3F800000);
    assert_int_equal(converted(MAP_TF32_FTZ, 0x007FFFFF), 0x00800000);
}

/* ---- the 128 bytes ---- */

static void maps_come_back_as_they_were(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 500; i++) {
        Case c;
        seed = i;
        draw(&c);
        c.d.sm = 90;
        c.d.is_load = c.load;
        c.d.l2 = (int)below(4);
        if (below(10) == 0) c.d.dim[0] = INT64_C(1) << 31;
        uint8_t map[SIM_MAP_BYTES];
        MapDesc back;
        char text[300] = "";
        if (map_check(&c.d, NULL, NULL) != 0) continue;
        sim_map_encode(&c.d, map);
        assert_true(sim_map_decode(map, &back, text, sizeof text));
        assert_memory_equal(back.dim, c.d.dim, sizeof back.dim);
        assert_memory_equal(back.pitch, c.d.pitch, sizeof back.pitch);
        assert_memory_equal(back.box, c.d.box, sizeof back.box);
        assert_memory_equal(back.elem_stride, c.d.elem_stride, sizeof back.elem_stride);
        assert_int_equal(back.address, c.d.address);
        assert_int_equal(back.type, c.d.type);
        assert_int_equal(back.rank, c.d.rank);
        assert_int_equal(back.swizzle, c.d.swizzle);
        assert_int_equal(back.fill, c.d.fill);
        assert_int_equal(back.l2, c.d.l2);
        assert_int_equal(back.sm, 90);
        assert_int_equal(back.is_load, c.d.is_load);
        assert_false(back.is_store);
    }
}

static void im2col_maps_keep_their_corners(void **state)
{
    (void)state;
    MapDesc d = {.mode = MAP_IM2COL,
                 .rank = 4,
                 .type = MAP_F16,
                 .address = 4096,
                 .dim = {2, 32, 32, 64},
                 .pitch = {65536, 4096, 128},
                 .box = {MAP_UNKNOWN, MAP_UNKNOWN, MAP_UNKNOWN, MAP_UNKNOWN},
                 .elem_stride = {1, 1, 1, 1},
                 .lower = {-1, -128},
                 .upper = {127, -1},
                 .channels = 64,
                 .pixels = 1024};
    uint8_t map[SIM_MAP_BYTES];
    MapDesc back;
    char text[300] = "";
    sim_map_encode(&d, map);
    sim_map_decode(map, &back, text, sizeof text);
    assert_int_equal(back.lower[1], -128);
    assert_int_equal(back.upper[0], 127);
    assert_int_equal(back.upper[1], -1);
    assert_int_equal(back.channels, 64);
    assert_int_equal(back.pixels, 1024);
}

static void other_bytes_are_no_map(void **state)
{
    (void)state;
    MapDesc d = {.rank = 1, .type = MAP_U8, .address = 4096, .dim = {64}, .box = {64}, .elem_stride = {1}}, back;
    uint8_t map[SIM_MAP_BYTES], changed[SIM_MAP_BYTES] = {0};
    char text[300];
    assert_false(sim_map_decode(changed, &back, text, sizeof text));
    assert_non_null(strstr(text, "no tensor map"));
    sim_map_encode(&d, map);
    assert_true(sim_map_decode(map, &back, text, sizeof text));
    for (int i = 0; i < SIM_MAP_BYTES; i++) {
        memcpy(changed, map, sizeof map);
        changed[i] ^= 0x10;
        assert_false(sim_map_decode(changed, &back, text, sizeof text));
    }
    d.box[0] = 8; /* not a multiple of 16 bytes: encoded by somebody who did not check */
    sim_map_encode(&d, map);
    assert_false(sim_map_decode(map, &back, text, sizeof text));
    assert_non_null(strstr(text, "rule"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_boxes_are_walked_as_defined), cmocka_unit_test(rows_say_where_their_inside_is),
        cmocka_unit_test(nan_fill_is_the_measured_pattern),   cmocka_unit_test(operands_are_checked),
        cmocka_unit_test(some_types_are_converted),           cmocka_unit_test(maps_come_back_as_they_were),
        cmocka_unit_test(im2col_maps_keep_their_corners),     cmocka_unit_test(other_bytes_are_no_map),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
