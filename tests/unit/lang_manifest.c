/* The launch manifest: round trips, files that carry it, and files that somebody damaged or made up. */
#include "tests/unit/lang_fixture.h"

#include <inttypes.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "lang/manifest/manifest.h"

static MfKernel copy_kernel(Arena *a)
{
    MfKernel k = {.name = "copy<64>", .entry = "copy_64", .cluster = {2, 1, 1}, .threads = 384, .smem = 98304};
    vec_push(a, &k.syms, ((MfSym){"M", MF_SIZE}));
    vec_push(a, &k.syms, ((MfSym){"n", MF_SCALAR}));
    Lx m = lx_sym(a, &k.lx, 0), n = lx_sym(a, &k.lx, 1), c = lx_const(a, &k.lx, INT64_MIN);
    Lx grid = lx_op(a, &k.lx, LX_CEIL, m, lx_const(a, &k.lx, 64)), one = lx_const(a, &k.lx, 1);
    Lx cond = lx_op(a, &k.lx, LX_NOT, lx_op(a, &k.lx, LX_LT, n, c), 0);
    MfTensor t = {.name = "src", .type = TYPE_BF16, .rank = 2, .read = true, .extent = {m, m}, .align = 16};
    MfTensor u = {.name = "dst",
                  .type = TYPE_F32,
                  .rank = 1,
                  .written = true,
                  .strided = true,
                  .extent = {m},
                  .stride = {one},
                  .align = 4};
    vec_push(a, &k.tensors, t);
    vec_push(a, &k.tensors, u);
    vec_push(a, &k.scalars, ((MfScalar){"n", TYPE_S64, 1}));
    vec_push(a, &k.args, ((struct MfArg){false, 0}));
    vec_push(a, &k.args, ((struct MfArg){true, 0}));
    vec_push(a, &k.args, ((struct MfArg){false, 1}));
    MfMap map = {.name = "src.map",
                 .tensor = 0,
                 .mode = MAP_IM2COL,
                 .swizzle = MAP_SWIZZLE_128B,
                 .l2 = MAP_L2_256B,
                 .fill = MAP_FILL_NAN,
                 .rank = 3,
                 .type = MAP_BF16,
                 .is_load = true,
                 .offset = c,
                 .dim = {m, m, one},
                 .pitch = {m, n, 0},
                 .box = {1, 256, 64},
                 .elem_stride = {1, 8, 1},
                 .lower = {-32768, -1, 2},
                 .upper = {32767, 1, -2},
                 .channels = 64,
                 .pixels = 1024};
    vec_push(a, &k.maps, map);
    vec_push(a, &k.params, ((MfParam){MF_PARAM_MAP, 0}));
    vec_push(a, &k.params, ((MfParam){MF_PARAM_ADDRESS, 1}));
    vec_push(a, &k.params, ((MfParam){MF_PARAM_VALUE, grid}));
    vec_push(a, &k.checks, ((MfCheck){E0415, cond, "N * 2 is a multiple of 16", "T07", "copy.tile:12:5"}));
    vec_push(a, &k.trusts, ((MfTrust){TRUST_SORTED, 1}));
    k.grid[0] = grid;
    k.grid[1] = k.grid[2] = one;
    return k;
}

static Manifest sample(Arena *a)
{
    Manifest m = {.compiler = "tilecc 0.1.0",
                  .target = "sm_90a",
                  .source = "copy.tile",
                  .source_hash = UINT64_C(0x123456789ABCDEF0)};
    vec_push(a, &m.kernels, copy_kernel(a));
    MfKernel small = copy_kernel(a);
    small.name = small.entry = "small";
    small.loads = 2048;
    vec_push(a, &m.kernels, small);
    for (uint8_t i = 0; i < 2; i++) {
        MfKernel *k = vec_add(a, &m.kernels);
        *k = copy_kernel(a);
        k->name = "several";
        k->entry = i ? "several$2" : "several";
        k->schedule = i;
        k->schedules = 2;
    }
    MfKernel *several = &m.kernels.v[2];
    vec_push(a, &several->picks, ((MfPick){"NVIDIA H200", 1, MF_BYTES, INT64_C(1) << 40}));
    vec_push(a, &several->picks, ((MfPick){"", 0, MF_L2, 2}));
    return m;
}

static void same_kernel(const MfKernel *a, const MfKernel *b)
{
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->entry, b->entry);
    assert_true(a->schedule == b->schedule && a->schedules == b->schedules);
    assert_true(a->deal == b->deal && a->per_sm == b->per_sm && a->loads == b->loads);
    assert_int_equal(a->picks.n, b->picks.n);
    for (uint32_t i = 0; i < a->picks.n; i++) {
        const MfPick *p = &a->picks.v[i], *q = &b->picks.v[i];
        assert_string_equal(p->gpu, q->gpu);
        assert_true(p->schedule == q->schedule && p->measure == q->measure && p->least == q->least);
    }
    assert_int_equal(a->syms.n, b->syms.n);
    assert_string_equal(a->syms.v[1].name, b->syms.v[1].name);
    assert_int_equal(a->syms.v[1].kind, b->syms.v[1].kind);
    assert_int_equal(a->lx.nodes.n, b->lx.nodes.n);
    for (uint32_t i = 0; i < a->lx.nodes.n; i++) {
        assert_int_equal(a->lx.nodes.v[i].op, b->lx.nodes.v[i].op);
        assert_int_equal(a->lx.nodes.v[i].a, b->lx.nodes.v[i].a);
        assert_int_equal(a->lx.nodes.v[i].b, b->lx.nodes.v[i].b);
        assert_true(a->lx.nodes.v[i].k == b->lx.nodes.v[i].k);
    }
    assert_int_equal(a->tensors.n, b->tensors.n);
    const MfTensor *t = &a->tensors.v[1], *u = &b->tensors.v[1];
    assert_string_equal(t->name, u->name);
    assert_int_equal(t->type, u->type);
    assert_true(t->strided == u->strided && t->read == u->read && t->written == u->written);
    assert_int_equal(t->stride[0], u->stride[0]);
    assert_int_equal(t->align, u->align);
    assert_int_equal(b->scalars.v[0].sym, 1);
    assert_int_equal(b->args.n, 3);
    assert_true(b->args.v[1].is_scalar && !b->args.v[2].is_scalar && b->args.v[2].index == 1);
    const MfMap *m = &a->maps.v[0], *w = &b->maps.v[0];
    assert_string_equal(m->name, w->name);
    assert_int_equal(w->mode, MAP_IM2COL);
    assert_int_equal(w->swizzle, MAP_SWIZZLE_128B);
    assert_int_equal(w->l2, MAP_L2_256B);
    assert_int_equal(w->fill, MAP_FILL_NAN);
    assert_true(w->is_load && !w->is_store);
    assert_int_equal(w->offset, m->offset);
    assert_memory_equal(w->dim, m->dim, sizeof w->dim);
    assert_memory_equal(w->pitch, m->pitch, sizeof w->pitch);
    assert_memory_equal(w->box, m->box, sizeof w->box);
    assert_memory_equal(w->elem_stride, m->elem_stride, sizeof w->elem_stride);
    assert_memory_equal(w->lower, m->lower, sizeof w->lower);
    assert_memory_equal(w->upper, m->upper, sizeof w->upper);
    assert_int_equal(w->channels, 64);
    assert_int_equal(w->pixels, 1024);
    MapDesc d = manifest_map(w);
    assert_true(d.mode == (MapMode)m->mode && d.rank == m->rank && d.box[1] == 256 && d.elem_stride[1] == 8);
    assert_true(d.lower[0] == -32768 && d.upper[2] == -2 && d.channels == 64 && d.pixels == 1024);
    assert_true(d.dim[0] == MAP_UNKNOWN && d.pitch[2] == MAP_UNKNOWN && d.address == MAP_UNKNOWN);
    assert_int_equal(b->params.v[2].index, a->params.v[2].index);
    assert_int_equal(b->checks.v[0].code, E0415);
    assert_string_equal(b->checks.v[0].place, "copy.tile:12:5");
    assert_int_equal(b->trusts.v[0].fact, a->trusts.v[0].fact);
    assert_int_equal(b->trusts.v[0].tensor, a->trusts.v[0].tensor);
    assert_memory_equal(a->grid, b->grid, sizeof a->grid);
    assert_memory_equal(a->cluster, b->cluster, sizeof a->cluster);
    assert_int_equal(b->threads, 384);
    assert_int_equal(b->smem, 98304);
}

static void same_as_sample(Arena *a, const Manifest *out)
{
    Manifest m = sample(a);
    assert_string_equal(out->compiler, m.compiler);
    assert_string_equal(out->target, m.target);
    assert_string_equal(out->source, m.source);
    assert_true(out->source_hash == m.source_hash);
    assert_int_equal(out->kernels.n, 4);
    for (uint32_t i = 0; i < 4; i++) same_kernel(&m.kernels.v[i], &out->kernels.v[i]);
}

static void what_is_encoded_is_decoded(void **state)
{
    Room *r = *state;
    Manifest m = sample(&r->arena), out;
    MfWords w = manifest_encode(&m, &r->arena), again = manifest_encode(&m, &r->arena);
    assert_true(w.w[0] == MANIFEST_MAGIC);
    assert_memory_equal(&w.w[0], "TILEMAN1", 8);
    assert_int_equal(w.n, again.n);
    assert_memory_equal(w.w, again.w, w.n * sizeof *w.w);
    assert_null(manifest_decode(w.w, w.n, &r->arena, &out));
    same_as_sample(&r->arena, &out);
}

static void an_empty_manifest_is_one(void **state)
{
    Room *r = *state;
    Manifest m = {.compiler = "c", .target = "t", .source = ""}, out;
    MfWords w = manifest_encode(&m, &r->arena);
    assert_null(manifest_decode(w.w, w.n, &r->arena, &out));
    assert_int_equal(out.kernels.n, 0);
}

static void mend_checksum(uint64_t *w, size_t n)
{
    if (n >= 4) w[3] = XXH64(w + 4, (n - 4) * 8, 0); /* little-endian machines only, like the test's images */
}

static void every_truncation_is_refused(void **state)
{
    Room *r = *state;
    Manifest m = sample(&r->arena), out;
    MfWords w = manifest_encode(&m, &r->arena);
    uint64_t *cut = arena_array(&r->arena, uint64_t, w.n);
    for (size_t n = 0; n < w.n; n++) {
        assert_non_null(manifest_decode(w.w, n, &r->arena, &out));
        memcpy(cut, w.w, n * 8);
        if (n > 2) cut[2] = n;
        mend_checksum(cut, n);
        assert_non_null(manifest_decode(cut, n, &r->arena, &out));
        assert_int_equal(out.kernels.n, 0);
    }
}

static void a_flipped_bit_is_noticed(void **state)
{
    Room *r = *state;
    Manifest m = sample(&r->arena), out;
    MfWords w = manifest_encode(&m, &r->arena);
    for (size_t i = 0; i < w.n; i++) {
        w.w[i] ^= UINT64_C(1) << (i * 7 % 64);
        assert_non_null(manifest_decode(w.w, w.n, &r->arena, &out));
        w.w[i] ^= UINT64_C(1) << (i * 7 % 64);
    }
    assert_null(manifest_decode(w.w, w.n, &r->arena, &out));
}

/* What a decoder let through must be safe to use: every index points into its list. */
static void indices_are_inside(const Manifest *m)
{
    for (uint32_t i = 0; i < m->kernels.n; i++) {
        const MfKernel *k = &m->kernels.v[i];
        uint32_t nodes = k->lx.nodes.n;
        for (uint32_t j = 0; j < nodes; j++) {
            const LxNode *n = &k->lx.nodes.v[j];
            assert_true(n->op < LX_OP_COUNT && n->a <= j && n->b <= j);
            if (n->op == LX_SYM) assert_true(n->k >= 0 && n->k < k->syms.n);
            else if (n->op != LX_CONST) assert_true(n->a > 0);
        }
        for (uint32_t j = 0; j < k->maps.n; j++) {
            const MfMap *map = &k->maps.v[j];
            assert_true(map->tensor < k->tensors.n && map->rank <= MAP_RANK && map->offset <= nodes);
            for (int d = 0; d < map->rank; d++)
                assert_true(map->dim[d] && map->dim[d] <= nodes && map->pitch[d] <= nodes);
        }
        for (uint32_t j = 0; j < k->picks.n; j++)
            assert_true(k->picks.v[j].schedule < k->schedules && k->picks.v[j].measure < MF_MEASURES && k->picks.v[j].least >= 0);
        for (uint32_t j = 0; j < k->trusts.n; j++)
            assert_true(k->trusts.v[j].fact < TRUST_COUNT && k->trusts.v[j].tensor < k->tensors.n);
        for (uint32_t j = 0; j < k->tensors.n; j++) {
            const MfTensor *t = &k->tensors.v[j];
            assert_true(t->rank <= MAP_RANK && t->type < TYPE_COUNT);
            for (int d = 0; d < t->rank; d++)
                assert_true(t->extent[d] && t->extent[d] <= nodes && t->stride[d] <= nodes);
        }
        for (uint32_t j = 0; j < k->args.n; j++)
            assert_true(k->args.v[j].index < (k->args.v[j].is_scalar ? k->scalars.n : k->tensors.n));
        for (uint32_t j = 0; j < k->checks.n; j++) {
            assert_true(k->checks.v[j].cond && k->checks.v[j].cond <= nodes);
            assert_true((int)k->checks.v[j].code < ERROR_COUNT);
            assert_true(strlen(k->checks.v[j].text) < 10000);
        }
        for (int d = 0; d < 3; d++) assert_true(k->grid[d] && k->grid[d] <= nodes && k->cluster[d]);
    }
}

static void made_up_words_never_get_out_of_bounds(void **state)
{
    Room *r = *state;
    Manifest m = sample(&r->arena), out;
    MfWords w = manifest_encode(&m, &r->arena);
    const uint64_t odd[] = {0, 1, 2, 63, 255, 256, UINT32_MAX, UINT64_MAX, UINT64_C(1) << 32, INT64_MAX, w.n, w.n - 1};
    uint64_t *bad = arena_array(&r->arena, uint64_t, w.n);
    unsigned accepted = 0;
    for (size_t i = 4; i < w.n; i++) {
        for (size_t j = 0; j < sizeof odd / sizeof *odd + 64; j++) {
            ArenaMark mark = arena_mark(&r->arena);
            memcpy(bad, w.w, w.n * 8);
            if (j < 64) bad[i] ^= UINT64_C(1) << j;
            else bad[i] = odd[j - 64];
            mend_checksum(bad, w.n);
            if (manifest_decode(bad, w.n, &r->arena, &out) == NULL) {
                indices_are_inside(&out);
                accepted++;
            }
            arena_release(&r->arena, mark);
        }
    }
    assert_true(accepted > 0); /* changes of names, constants and sizes are legal */
}

static void another_version_is_named(void **state)
{
    Room *r = *state;
    Manifest m = sample(&r->arena), out;
    MfWords w = manifest_encode(&m, &r->arena);
    w.w[1] = 7;
    assert_string_equal(manifest_decode(w.w, w.n, &r->arena, &out),
                        "the manifest has version 7, this library reads version 3");
}

/* ---- PTX ---- */

static char *as_ptx(Arena *a, MfWords w, const char *head, const char *type, const char *number, size_t *n)
{
    Text t;
    text_init(&t, a->mem);
    text_printf(&t, "%s.version 8.6\n.target sm_90a\n.visible .const .align 8 %s tile_manifest[%zu] = {\n", head, type,
                w.n);
    for (size_t i = 0; i < w.n; i++) {
        text_str(&t, i ? ", " : "");
        if (number[0] == 'x') text_printf(&t, "0x%" PRIx64, w.w[i]);
        else text_uint(&t, w.w[i]);
        text_str(&t, number + 1);
    }
    text_lit(&t, "\n};\n.visible .entry k() { ret; }\n");
    char *s = arena_strdup(a, t.s, t.n);
    *n = t.n;
    text_free(&t);
    return s;
}

static void ptx_carries_the_manifest(void **state)
{
    Room *r = *state;
    Manifest m = sample(&r->arena), out;
    MfWords w = manifest_encode(&m, &r->arena);
    const char *heads[] = {"", "// tile_manifest[2] = {1, 2}\n",
                           "// .b64 tile_manifest, and .b64\ttile_manifests[3]\n"};
    const char *numbers[] = {"d", "x", "xU"};
    for (int i = 0; i < 3; i++) {
        size_t n;
        char *ptx = as_ptx(&r->arena, w, heads[i], i ? ".u64" : ".b64", numbers[i], &n);
        assert_null(manifest_find(ptx, n, &r->arena, &out));
        same_as_sample(&r->arena, &out);
    }
}

static void damaged_ptx_is_refused(void **state)
{
    Room *r = *state;
    Manifest m = sample(&r->arena), out;
    MfWords w = manifest_encode(&m, &r->arena);
    size_t n;
    char *ptx = as_ptx(&r->arena, w, "", ".b64", "d", &n);
    size_t end = (size_t)(strstr(ptx, "};") - ptx);
    for (size_t cut = 0; cut <= end; cut++) {
        char *exact = test_malloc(cut + 1); /* so that a read behind the end is seen */
        memcpy(exact, ptx, cut);
        assert_non_null(manifest_find(exact, cut, &r->arena, &out));
        test_free(exact);
    }
    assert_non_null(manifest_find(NULL, 0, &r->arena, &out));
    const char *bad[] = {".b64 tile_manifest[1] = {18446744073709551616};",
                         ".b64 tile_manifest[2] = {1};",
                         ".b64 tile_manifest[1] = {0x};",
                         ".b64 tile_manifest[1] = {-1};",
                         ".b64 tile_manifest;",
                         ".b32 tile_manifest[1] = {1};",
                         ".b64 tile_manifest[] = {};",
                         "not PTX at all"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_non_null(manifest_find(bad[i], strlen(bad[i]), &r->arena, &out));
}

/* ---- ELF: null section, .data, .symtab, .strtab; 64-bit little-endian ---- */

typedef struct ElfFile {
    unsigned char *p;
    size_t n;
} ElfFile;

static void put(unsigned char *p, uint64_t v, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) p[i] = (unsigned char)(v >> 8 * i);
}

static void section(unsigned char *at, uint32_t type, uint64_t offset, uint64_t size, uint32_t link, uint64_t entry)
{
    put(at + 4, type, 4);
    put(at + 24, offset, 8);
    put(at + 32, size, 8);
    put(at + 40, link, 4);
    put(at + 56, entry, 8);
}

enum { DATA = 64, SYMBOLS_SIZE = 48, STRINGS_SIZE = 20 };

static ElfFile as_elf(Arena *a, MfWords w)
{
    size_t data = w.n * 8 + 8, symbols = DATA + data, strings = symbols + SYMBOLS_SIZE;
    size_t table = (strings + STRINGS_SIZE + 7) / 8 * 8;
    ElfFile e = {NULL, table + 4 * 64};
    e.p = arena_alloc(a, e.n);
    memcpy(e.p, "\177ELF\2\1\1", 7);
    put(e.p + 16, 2, 2);     /* e_type: executable, as cubins are */
    put(e.p + 40, table, 8); /* e_shoff */
    put(e.p + 58, 64, 2);
    put(e.p + 60, 4, 2);
    for (size_t i = 0; i < w.n; i++) put(e.p + DATA + 8 + i * 8, w.w[i], 8);
    unsigned char *sym = e.p + symbols + 24;
    put(sym, 3, 4); /* st_name */
    put(sym + 6, 1, 2);
    put(sym + 8, 8, 8); /* st_value: offset in the section */
    put(sym + 16, w.n * 8, 8);
    memcpy(e.p + strings, "\0ab" MANIFEST_SYMBOL, 17);
    section(e.p + table + 64, 1, DATA, data, 0, 0);
    section(e.p + table + 128, 2, symbols, SYMBOLS_SIZE, 3, 24);
    section(e.p + table + 192, 3, strings, STRINGS_SIZE, 0, 0);
    return e;
}

static void a_cubin_carries_the_manifest(void **state)
{
    Room *r = *state;
    Manifest m = sample(&r->arena), out;
    ElfFile e = as_elf(&r->arena, manifest_encode(&m, &r->arena));
    assert_null(manifest_find(e.p, e.n, &r->arena, &out));
    same_as_sample(&r->arena, &out);
}

static void damaged_elf_files_are_refused(void **state)
{
    Room *r = *state;
    Manifest m = {.compiler = "c", .target = "t", .source = ""}, out;
    ElfFile e = as_elf(&r->arena, manifest_encode(&m, &r->arena));
    for (size_t cut = 0; cut < e.n; cut++) {
        unsigned char *exact = test_malloc(cut + 1);
        memcpy(exact, e.p, cut);
        assert_non_null(manifest_find(exact, cut, &r->arena, &out));
        test_free(exact);
    }
    unsigned char *bad = arena_alloc(&r->arena, e.n);
    for (size_t i = 0; i < e.n; i++) { /* any outcome, but inside the image and an honest one */
        const unsigned char odd[] = {0x00, 0x01, 0x7F, 0x80, 0xFF};
        for (size_t j = 0; j < sizeof odd; j++) {
            ArenaMark mark = arena_mark(&r->arena);
            memcpy(bad, e.p, e.n);
            bad[i] = odd[j];
            if (manifest_find(bad, e.n, &r->arena, &out) == NULL) assert_string_equal(out.compiler, "c");
            arena_release(&r->arena, mark);
        }
    }
}

static void an_elf_file_without_the_symbol_says_so(void **state)
{
    Room *r = *state;
    Manifest m = {.compiler = "c", .target = "t", .source = ""}, out;
    ElfFile e = as_elf(&r->arena, manifest_encode(&m, &r->arena));
    unsigned char *name = e.p + e.n - 4 * 64;
    while (memcmp(name, MANIFEST_SYMBOL, sizeof MANIFEST_SYMBOL) != 0) name--;
    name[0] = 'T';
    assert_string_equal(manifest_find(e.p, e.n, &r->arena, &out), "this is no cubin that tilecc made: it has no symbol tile_manifest");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_room(what_is_encoded_is_decoded),
        in_room(an_empty_manifest_is_one),
        in_room(every_truncation_is_refused),
        in_room(a_flipped_bit_is_noticed),
        in_room(made_up_words_never_get_out_of_bounds),
        in_room(another_version_is_named),
        in_room(ptx_carries_the_manifest),
        in_room(damaged_ptx_is_refused),
        in_room(a_cubin_carries_the_manifest),
        in_room(damaged_elf_files_are_refused),
        in_room(an_elf_file_without_the_symbol_says_so),
    };
    return cmocka_run_group_tests_name("lang/manifest", tests, NULL, NULL);
}
