/* The tables of the language: element types, targets, instruction forms, words, codes. */
#include "tests/unit/lang_fixture.h"

#include <ctype.h>

#include "lang/lang.h"
#include "lang/maps/rules.h"

static void element_types_are_found_by_name(void **state)
{
    (void)state;
    ElemType t;
    for (int i = 0; i < TYPE_COUNT; i++) {
        assert_true(elem_find(elem_info((ElemType)i)->name, &t));
        assert_int_equal(t, i);
    }
    assert_false(elem_find("int", &t));
    assert_false(elem_find("", &t));
}

static void sizes_of_element_types(void **state)
{
    (void)state;
    for (int i = 0; i < TYPE_COUNT; i++) {
        const ElemInfo *e = elem_info((ElemType)i);
        assert_int_equal(e->global_bits, map_global_bits(e->map_type)); /* the map that moves it sees the same bits */
        assert_int_equal(e->shared_bits, map_shared_bits(e->map_type));
        if (e->kind == ELEM_PACKED) continue;
        assert_int_equal(e->global_bits, e->shared_bits);
        assert_int_equal((e->npy[2] - '0') * 8, e->global_bits);
    }
    assert_int_equal(elem_info(TYPE_B4A8)->shared_bits, 4);
    assert_int_equal(elem_info(TYPE_B4A16)->shared_bits, 8);
    assert_int_equal(elem_info(TYPE_B6A16)->global_bits, 6);
}

static void targets_are_found_by_name_and_by_older_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < target_count(); i++) assert_ptr_equal(target_find(target_at(i)->name), target_at(i));
    assert_ptr_equal(target_today(target_find("sm_101a")), target_find("sm_110a"));
    assert_ptr_equal(target_today(target_find("sm_90a")), target_find("sm_90a"));
    assert_int_equal(target_find("sm_101a")->min_version, 86); /* PTX ISA, .target: sm_101a from 8.6, sm_110a from 9.0 */
    assert_int_equal(target_find("sm_110a")->min_version, 90);
    assert_null(target_find("sm_80"));
    assert_int_equal(older_target_find("sm_80")->min_version, 70);
    assert_null(older_target_find("sm_100"));
    assert_string_equal(target_nearest("sm_100x"), "sm_100");
    assert_null(target_find(""));
    assert_null(target_find("sm_90A"));
}

static void names_of_targets_say_what_they_are(void **state)
{
    (void)state;
    for (size_t i = 0; i < target_count(); i++) {
        const TargetInfo *t = target_at(i);
        char name[16];
        snprintf(name, sizeof name, t->suffix ? "sm_%u%c" : "sm_%u", (unsigned)t->sm, t->suffix);
        assert_string_equal(t->name, name);
        assert_true(target_has(t, FEAT_BULK));
        assert_int_equal(target_has(t, FEAT_ARCH), t->suffix != 0);
        assert_int_equal(t->tmem_columns, target_has(t, FEAT_BLK) ? 512 : 0);
        assert_int_equal(t->smem_per_cta, t->sm >= 120 ? 101376 : 232448);
        const TargetInfo *today = target_today(t);
        assert_int_equal(today->features, t->features);
        assert_true(today == t || (today->suffix == t->suffix && today->min_version > t->min_version));
    }
}

/* PTX ISA, Release Notes, PTX Release History */
static void versions_are_those_of_the_release_notes(void **state)
{
    (void)state;
    static const uint8_t there[] = {10, 15, 23, 32, 43, 50, 65, 78, 80, 88, 90, 94}, not_there[] = {0, 9, 16, 24, 51, 66, 79, 89, 99};
    for (size_t i = 0; i < sizeof there; i++) assert_true(ptx_version_exists(there[i]));
    for (size_t i = 0; i < sizeof not_there; i++) assert_false(ptx_version_exists(not_there[i]));
    assert_true(ptx_version_exists(ptx_version_newest()));
    assert_false(ptx_version_exists(ptx_version_newest() + 1));
}

/* facts of the PTX ISA's Target ISA Notes */
static void what_is_legal_where(void **state)
{
    (void)state;
    const TargetInfo *h = target_find("sm_90"), *b = target_find("sm_100"), *ba = target_find("sm_100a"),
                     *bf = target_find("sm_100f"), *g = target_find("sm_120a");
    assert_true(form_legal(FORM_TMA_LOAD_TILE_CLUSTER, h, 80));
    assert_false(form_legal(FORM_TMA_LOAD_TILE_CTA, h, 85));
    assert_true(form_legal(FORM_TMA_LOAD_TILE_CTA, h, 86));
    assert_false(form_legal(FORM_TMA_LOAD_GATHER4_CTA, h, 90));
    assert_true(form_legal(FORM_TMA_LOAD_GATHER4_CTA, b, 86));
    assert_false(form_legal(FORM_TMA_LOAD_GATHER4_CLUSTER, b, 90));
    assert_true(form_legal(FORM_TMA_LOAD_GATHER4_CLUSTER, ba, 86));
    assert_false(form_legal(FORM_TMA_STORE_SCATTER4, g, 90));
    assert_true(form_legal(FORM_TC_SHIFT, ba, 86));
    assert_false(form_legal(FORM_TC_SHIFT, bf, 90));
    assert_false(form_legal(FORM_TC_CP_128X256B, bf, 86)); /* the target itself needs 8.8 */
    assert_true(form_legal(FORM_TC_CP_128X256B, bf, 88));
    assert_true(form_legal(FORM_BULK_STORE_MASK, g, 87));
    assert_false(form_legal(FORM_BULK_STORE_MASK, h, 90));
    assert_true(form_legal(FORM_MAP_REPLACE, target_find("sm_90a"), 83));
    assert_false(form_legal(FORM_MAP_REPLACE, h, 90));
}

static void check_placeholders(const char *ptx)
{
    static const char *const known[] = {"dim",   "coords", "map",  "dst",    "src",     "mbar",   "gaddr", "size",
                                        "bytes", "count",  "n",    "parity", "value",   "field",  "rank",  "type",
                                        "op",    "scope",  "sem",  "id",     "threads", "pred",   "reg",   "regs",
                                        "state", "taddr",  "desc", "info",   "mask",    "group1", "hint",  "policy",
                                        "group", "fmt",    "vec",  "else",   "ordinal"};
    for (const char *p = ptx; (p = strchr(p, '{')) != NULL;) {
        size_t len = strcspn(++p, "}"), i = 0;
        assert_int_equal(p[len], '}');
        while (i < sizeof known / sizeof *known && (strlen(known[i]) != len || memcmp(known[i], p, len) != 0)) i++;
        if (i == sizeof known / sizeof *known) fail_msg("%.*s is not in the list of placeholders", (int)len, p);
    }
}

static void templates_are_well_formed(void **state)
{
    (void)state;
    for (int f = 0; f < FORM_COUNT; f++) {
        const FormInfo *i = form_info((InstrForm)f);
        size_t n = strlen(i->ptx);
        assert_int_equal(i->ptx[n - 1], ';');
        check_placeholders(i->ptx);
        assert_int_equal(strstr(i->ptx, "{hint}") != NULL, strstr(i->ptx, "{policy}") != NULL);
        assert_true(i->min_version >= 80 && i->min_version <= 90);
        assert_non_null(strstr(i->section, "PTX ISA, "));
    }
}

/* The columns agree with what the text of the instruction says. */
static void columns_follow_the_instruction(void **state)
{
    (void)state;
    for (int f = 0; f < FORM_COUNT; f++) {
        const FormInfo *i = form_info((InstrForm)f);
        bool async = strncmp(i->ptx, "cp.", 3) == 0 && i->src_space != FS_NONE;
        if (async) {
            assert_int_equal(i->proxy, PROXY_ASYNC);
            assert_int_equal(i->completion == COMP_BULK_GROUP, strstr(i->ptx, ".bulk_group") != NULL);
        }
        assert_int_equal(i->completion == COMP_MBARRIER, strstr(i->ptx, "::complete_tx") != NULL);
        bool tensor = strstr(i->ptx, ".tensor.") != NULL;
        if (async && i->dst_space != FS_NONE)
            assert_int_equal((i->traps & TRAP_SHARED_128) != 0, tensor); /* bulk copies need 16 only */
        if (tensor && i->dst_space == FS_GLOBAL) assert_true(i->traps & TRAP_NEGATIVE);
        if (strstr(i->ptx, ".im2col")) assert_true(i->traps & TRAP_IM2COL_BASE);
    }
}

static void words_are_found_at_the_place_of_their_enum(void **state)
{
    (void)state;
    assert_int_equal(word_find(WORDS_MODE, "tiled"), MAP_TILED);
    assert_int_equal(word_find(WORDS_MODE, "im2col"), MAP_IM2COL);
    assert_int_equal(word_find(WORDS_MODE, "im2col_w"), MAP_IM2COL_W);
    assert_int_equal(word_find(WORDS_MODE, "im2col_w128"), MAP_IM2COL_W128);
    assert_int_equal(word_find(WORDS_MODE, "gather4"), MAP_GATHER4);
    assert_int_equal(word_find(WORDS_MODE, "scatter4"), MAP_SCATTER4);
    assert_int_equal(word_find(WORDS_FILL, "nan"), MAP_FILL_NAN);
    assert_int_equal(word_find(WORDS_TYPE, "bf16"), TYPE_BF16);
    assert_int_equal(word_find(WORDS_MAP_TYPE, "u6_align16"), MAP_U6_ALIGN16);
    assert_int_equal(word_find(WORDS_SWIZZLE, "128B_atom_64B"), MAP_SWIZZLE_128B_ATOM_64B);
    assert_int_equal(word_find(WORDS_L2, "256B"), MAP_L2_256B);
    assert_int_equal(word_find(WORDS_REDUCE, "mul"), -1);
    for (int w = WORDS_TYPE; w <= WORDS_CLUSTER_MEMBER; w++) {
        size_t n;
        const char *const *v = word_list((WordList)w, &n);
        assert_true(n > 0);
        for (size_t i = 0; i < n; i++) assert_int_equal(word_find((WordList)w, v[i]), i);
    }
}

static void codes_are_unique_and_stand_in_their_range(void **state)
{
    (void)state;
    for (int i = 0; i < ERROR_COUNT; i++) {
        const char *code = error_info((ErrorCode)i)->code;
        assert_non_null(strchr("EWP", code[0]));
        for (int k = 1; k < 5; k++) assert_true(isdigit((unsigned char)code[k]));
        for (int j = 0; j < i; j++) assert_string_not_equal(error_info((ErrorCode)j)->code, code);
        if (i && error_info((ErrorCode)(i - 1))->code[0] == code[0])
            assert_true(strncmp(error_info((ErrorCode)(i - 1))->code, code, 3) <= 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(element_types_are_found_by_name),
        cmocka_unit_test(sizes_of_element_types),
        cmocka_unit_test(targets_are_found_by_name_and_by_older_name),
        cmocka_unit_test(names_of_targets_say_what_they_are),
        cmocka_unit_test(versions_are_those_of_the_release_notes),
        cmocka_unit_test(what_is_legal_where),
        cmocka_unit_test(templates_are_well_formed),
        cmocka_unit_test(columns_follow_the_instruction),
        cmocka_unit_test(words_are_found_at_the_place_of_their_enum),
        cmocka_unit_test(codes_are_unique_and_stand_in_their_range),
    };
    return cmocka_run_group_tests_name("lang/tables", tests, NULL, NULL);
}
