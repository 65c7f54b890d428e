/* tensormap.replace on the simulator's maps: every field, the codes of the PTX ISA, and what is wrong afterwards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/sim/copies/maps.h"

/* PTX ISA, tensormap.replace: a map made out of zeros, field by field. */
static void replaced_fields_make_a_map(void **state)
{
    (void)state;
    static const struct {
        ReplaceField field;
        uint32_t ordinal;
        uint64_t value;
    } sets[] = {{REPLACE_ADDRESS, 0, 0x100000000400},
                {REPLACE_RANK, 0, 2 /* zero-based */},
                {REPLACE_DIM, 0, 100},
                {REPLACE_DIM, 1, 7},
                {REPLACE_DIM, 2, 5},
                {REPLACE_STRIDE, 0, 256},
                {REPLACE_STRIDE, 1, 4096},
                {REPLACE_BOX, 0, 64},
                {REPLACE_BOX, 1, 3},
                {REPLACE_BOX, 2, 2},
                {REPLACE_STEP, 0, 1},
                {REPLACE_STEP, 1, 2},
                {REPLACE_STEP, 2, 1},
                {REPLACE_TYPE, 0, 10 /* .bf16 */},
                {REPLACE_SWIZZLE, 0, 3},
                {REPLACE_ATOM, 0, 3},
                {REPLACE_FILL, 0, 1},
                {REPLACE_INTERLEAVE, 0, 0}};
    uint8_t map[SIM_MAP_BYTES] = {0};
    int rule;
    char text[300];
    MapDesc d;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        if (i < 13) assert_false(sim_map_decode(map, &d, text, sizeof text)); /* strides of 0 break a rule */
        assert_true(sim_map_replace(map, sets[i].field, sets[i].ordinal, sets[i].value, &rule, text, sizeof text));
    }
    assert_true(sim_map_decode(map, &d, text, sizeof text));
    assert_int_equal(d.mode, MAP_TILED);
    assert_int_equal(d.address, 0x100000000400);
    assert_int_equal(d.rank, 3);
    assert_int_equal(d.type, MAP_BF16);
    assert_int_equal(d.swizzle, MAP_SWIZZLE_128B_ATOM_64B);
    assert_int_equal(d.fill, MAP_FILL_NAN);
    static const int64_t dim[] = {5, 7, 100}, pitch[] = {4096, 256}, box[] = {2, 3, 64}, step[] = {1, 2, 1};
    assert_memory_equal(d.dim, dim, sizeof dim);
    assert_memory_equal(d.pitch, pitch, sizeof pitch);
    assert_memory_equal(d.box, box, sizeof box);
    assert_memory_equal(d.elem_stride, step, sizeof step);
}

/* PTX ISA, tensormap.replace, table of new_val for .elemtype. */
static void element_types_have_codes_of_their_own(void **state)
{
    (void)state;
    static const int types[] = {MAP_U8,  MAP_U16,     MAP_U32, MAP_S32,  MAP_U64,  MAP_S64,      MAP_F16,
                                MAP_F32, MAP_F32_FTZ, MAP_F64, MAP_BF16, MAP_TF32, MAP_TF32_FTZ, MAP_U4_ALIGN8};
    MapDesc d = {.rank = 1, .type = MAP_U8, .address = 4096, .dim = {64}, .box = {64}, .elem_stride = {1}}, back;
    uint8_t map[SIM_MAP_BYTES];
    int rule;
    char text[300];
    sim_map_encode(&d, map);
    for (uint64_t i = 0; i < sizeof types / sizeof *types; i++) {
        assert_true(sim_map_replace(map, REPLACE_TYPE, 0, i, &rule, text, sizeof text));
        assert_true(sim_map_decode(map, &back, text, sizeof text));
        assert_int_equal(back.type, types[i]);
    }
    assert_false(sim_map_replace(map, REPLACE_TYPE, 0, 16, &rule, text, sizeof text));
    assert_int_equal(rule, E1318);
}

static void wrong_replacements_are_found(void **state)
{
    (void)state;
    static const struct {
        ReplaceField field;
        uint32_t ordinal;
        uint64_t value;
        const char *said; /* when the map is decoded */
    } sets[] = {{REPLACE_STRIDE, 0, 264, "E0415"}, {REPLACE_STRIDE, 0, UINT64_C(1) << 41, "E0416"},
                {REPLACE_DIM, 1, 0, "E0412"},      {REPLACE_BOX, 1, 70000, "E0434"},
                {REPLACE_STEP, 1, 1000, "E0419"},  {REPLACE_RANK, 0, 7, "E0407"},
                {REPLACE_ADDRESS, 0, 8, "E0410"},  {REPLACE_FILL, 0, 1, "E0433"},
                {REPLACE_SWIZZLE, 0, 1, "E0425"}};
    MapDesc d = {.rank = 2,
                 .type = MAP_U8,
                 .address = 4096,
                 .dim = {8, 64},
                 .pitch = {64},
                 .box = {2, 64},
                 .elem_stride = {1, 1}},
            back;
    uint8_t map[SIM_MAP_BYTES];
    int rule;
    char text[300];
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        sim_map_encode(&d, map);
        assert_true(sim_map_replace(map, sets[i].field, sets[i].ordinal, sets[i].value, &rule, text, sizeof text));
        assert_false(sim_map_decode(map, &back, text, sizeof text));
        assert_non_null(strstr(text, sets[i].said));
    }
    sim_map_encode(&d, map);
    assert_true(sim_map_replace(map, REPLACE_SWIZZLE, 0, 2, &rule, text, sizeof text));
    assert_true(sim_map_replace(map, REPLACE_ATOM, 0, 1, &rule, text, sizeof text));
    assert_false(sim_map_decode(map, &back, text, sizeof text)); /* atoms of 32 bytes are of 128-byte swizzles */
    assert_non_null(strstr(text, "atomicity"));
    assert_false(sim_map_replace(map, REPLACE_STRIDE, 4, 64, &rule, text, sizeof text));
    assert_int_equal(rule, E1318);
    assert_false(sim_map_replace(map, REPLACE_SWIZZLE, 0, 4, &rule, text, sizeof text)); /* 96 bytes */
    assert_int_equal(rule, E1351);
    map[20] ^= 1;
    assert_false(sim_map_replace(map, REPLACE_BOX, 0, 32, &rule, text, sizeof text));
    assert_int_equal(rule, E1324);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replaced_fields_make_a_map),
        cmocka_unit_test(element_types_have_codes_of_their_own),
        cmocka_unit_test(wrong_replacements_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
