/* Which form an instruction is, what it binds, and what is legal where. Expected values are those of the PTX ISA's
 * grammars, tables and target notes; tests/ptxas compares with an assembler. */
#include "tests/unit/lang_fixture.h"

#include "runtime/ptx/forms.h"
#include "tile.h"

/* ---- one instruction ---- */

typedef struct World {
    Mem mem;
    Arena arena;
    jmp_buf fail;
} World;

static void problem(void *user, uint32_t line, const char *text)
{
    (void)user;
    fail_msg("line %u: %s", (unsigned)line, text);
}

static const char DECLARATIONS[] = ".shared .align 128 .b8 buf[1024];\n.shared .align 8 .b64 bar;\n"
                                   ".global .align 128 .b8 glob[1024];\n.const .align 8 .b8 con[8];\n";
static const char REGISTERS[] = ".reg .pred %p<4>; .reg .b16 %h<8>; .reg .b32 %r<140>; .reg .b64 %d<8>;"
                                ".reg .f32 %f<4>; .reg .b128 %q<2>;";

static const PtxInstr *read_one(World *w, const char *instr)
{
    w->mem = (Mem){.fail = &w->fail};
    if (setjmp(w->fail)) fail_msg("out of memory");
    arena_init(&w->arena, &w->mem);
    char *text = arena_printf(&w->arena,
                              ".version 8.6\n.target sm_100a\n.address_size 64\n%s.entry k() {\n%s\n%s\nret;\n}\n",
                              DECLARATIONS, REGISTERS, instr);
    uint32_t problems = 0;
    const PtxModule *m = ptx_read(&w->arena, text, strlen(text), problem, NULL, &problems);
    assert_non_null(m);
    assert_int_equal(m->funcs.n, 1);
    assert_int_equal(m->funcs.v[0]->instrs.n, 2);
    return &m->funcs.v[0]->instrs.v[0];
}

static void is_form(const char *instr, InstrForm form, FormMatch *m, World *w)
{
    ErrorCode code;
    char why[256];
    const PtxInstr *i = read_one(w, instr);
    assert_true(form_family(i));
    if (!form_match(i, m, &code, why, sizeof why)) fail_msg("%s: %s", instr, why);
    if (m->form != form) fail_msg("%s is %s", instr, form_info(m->form)->ident);
}

static void matches(const char *instr, InstrForm form)
{
    World w;
    FormMatch m;
    is_form(instr, form, &m, &w);
    arena_free(&w.arena);
}

/* The code and text of the first error, or "". */
typedef struct Verdict {
    char code[8], text[512];
    unsigned errors, warnings;
} Verdict;

static void note(void *user, const tile_ptx_finding *f)
{
    Verdict *v = user;
    v->errors += f->is_error != 0;
    v->warnings += f->is_error == 0;
    if (v->code[0]) return;
    snprintf(v->code, sizeof v->code, "%s", f->code);
    snprintf(v->text, sizeof v->text, "%s", f->text);
}

static Verdict judge(const char *target, const char *version, const char *instr)
{
    char text[2000];
    Verdict v = {.code = ""};
    snprintf(text, sizeof text, ".version %s\n.target %s\n.address_size 64\n%s.entry k() {\n%s\n%s\nret;\n}\n", version,
             target, DECLARATIONS, REGISTERS, instr);
    tile_error e;
    tile_ptx_summary s;
    assert_int_equal(tile_check_ptx(text, strlen(text), NULL, NULL, note, &v, &s, &e), TILE_OK);
    assert_int_equal(s.errors, v.errors);
    return v;
}

static void verdict(const char *target, const char *version, const char *instr, const char *code)
{
    Verdict v = judge(target, version, instr);
    if (strcmp(v.code, code) != 0)
        fail_msg("%s, %s, .version %s: expected %s, not %s %s", instr, target, version, code[0] ? code : "no finding",
                 v.code, v.text);
}

static void legal(const char *instr)
{
    verdict("sm_100a", "9.0", instr, "");
}

static void refused(const char *instr, const char *code, const char *part)
{
    Verdict v = judge("sm_100a", "9.0", instr);
    if (strcmp(v.code, code) != 0) fail_msg("%s: expected %s, not %s %s", instr, code, v.code, v.text);
    if (part && !strstr(v.text, part)) fail_msg("%s: expected '%s' in: %s", instr, part, v.text);
}

#define LOAD "cp.async.bulk.tensor.2d.shared::cta.global"
#define LOAD_CLUSTER "cp.async.bulk.tensor.2d.shared::cluster.global"
#define MB ".mbarrier::complete_tx::bytes"
#define ARGS " [buf], [%d1, {%r1, %r2}], [bar]"
#define ROWS " [buf], [%d1, {%r1, %r2, %r3, %r4, %r5}], [bar]"

/* ---- matching ---- */

static void words_of_a_copy_stand_in_any_order(void **state)
{
    (void)state;
    matches(LOAD ".tile" MB ARGS ";", FORM_TMA_LOAD_TILE_CTA);
    matches(LOAD MB ARGS ";", FORM_TMA_LOAD_TILE_CTA);
    matches("cp.async.bulk.tensor.tile" MB ".shared::cta.2d.global" ARGS ";", FORM_TMA_LOAD_TILE_CTA);
    matches(LOAD_CLUSTER ".L2::cache_hint.multicast::cluster" MB ARGS ", %h1, %d5;", FORM_TMA_LOAD_TILE_MULTICAST);
    matches("cp.reduce.async.bulk.add.noftz.f16.bulk_group.global.shared::cta [%d1], [buf], 16;", FORM_BULK_REDUCE);
    matches("tcgen05.shift.down.cta_group::1 [%r1];", FORM_TC_SHIFT);
    /* the order of state spaces tells a store from a load */
    refused("cp.async.bulk.tensor.2d.global.shared::cta" MB ARGS ";", "E1406", "destination");
    refused("cp.async.bulk.global.shared::cluster" MB " [buf], [%d1], 16, [bar];", "E1406", NULL);
    refused("tcgen05.cp.cta_group::1.128x256b.b4x16_p64.b8x16 [%r1], %d1;", "E1406", "format");
    /* the name does not */
    refused("cp.async.bulk.2d.tensor.shared::cta.global" MB ARGS ";", "E1403", "in front");
    refused("mbarrier.b64.arrive _, [bar];", "E1403", "mbarrier.arrive");
}

static void operands_are_bound_by_name(void **state)
{
    (void)state;
    World w;
    FormMatch m;
    is_form("cp.async.bulk.tensor.3d.shared::cluster.global.im2col" MB
            ".multicast::cluster.cta_group::2.L2::cache_hint "
            "[buf+128], [%d1, {%r1, 7, %r3}], [bar], {%h1}, %h2, %d5;",
            FORM_TMA_LOAD_IM2COL_MULTICAST, &m, &w);
    assert_int_equal(m.dim, 3);
    assert_int_equal(m.opd[PH_DST]->value, 128);
    assert_string_equal(m.opd[PH_DST]->items[0].name, "buf");
    assert_string_equal(m.opd[PH_MAP]->name, "%d1");
    assert_int_equal(m.opd[PH_COORDS]->nitems, 3);
    assert_int_equal(m.opd[PH_COORDS]->items[1].value, 7);
    assert_int_equal(m.opd[PH_INFO]->nitems, 1);
    assert_string_equal(m.opd[PH_MASK]->name, "%h2");
    assert_string_equal(m.opd[PH_POLICY]->name, "%d5");
    assert_string_equal(m.word[PH_GROUP], "cta_group::2");
    assert_string_equal(m.word[PH_HINT], "L2::cache_hint");
    arena_free(&w.arena);

    is_form("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16 [%d1], [%r1], 32;", FORM_BULK_REDUCE, &m,
            &w);
    assert_string_equal(m.word[PH_OP], "add.noftz");
    assert_string_equal(m.word[PH_TYPE], "bf16");
    assert_null(m.word[PH_HINT]);
    assert_null(m.opd[PH_POLICY]);
    arena_free(&w.arena);

    is_form("tcgen05.cp.cta_group::2.64x128b.warpx2::02_13.b8x16.b6x16_p32 [%r1+4], %d1;", FORM_TC_CP_64X128B_02_13, &m,
            &w);
    assert_string_equal(m.word[PH_GROUP1], "2");
    assert_string_equal(m.word[PH_FMT], "b8x16.b6x16_p32");
    arena_free(&w.arena);

    is_form("tcgen05.ld.sync.aligned.16x128b.x2.b32 {%r1,%r2,%r3,%r4}, [%r5];", FORM_TC_LD, &m, &w);
    assert_string_equal(m.word[PH_OP], "16x128b");
    assert_string_equal(m.word[PH_N], "2");
    arena_free(&w.arena);

    is_form("createpolicy.fractional.L2::evict_last.L2::evict_first.b64 %d1, 0.5;", FORM_POLICY_CREATE, &m, &w);
    assert_string_equal(m.word[PH_OP], "evict_last");
    assert_string_equal(m.word[PH_ELSE], "evict_first");
    arena_free(&w.arena);

    is_form("cp.async.bulk.tensor.2d.shared::cta.global" MB " buf, [%d1, {0, 0}], [bar];", FORM_TMA_LOAD_TILE_CTA, &m,
            &w);
    assert_int_equal(m.opd[PH_DST]->kind, PTX_ADDRESS);
    assert_string_equal(m.opd[PH_DST]->items[0].name, "buf");
    arena_free(&w.arena);
}

static void defaults_of_the_isa_are_filled_in(void **state)
{
    (void)state;
    World w;
    FormMatch m;
    is_form("mbarrier.arrive.b64 %d1, [%d2];", FORM_MBAR_ARRIVE_STATE, &m, &w);
    assert_true(m.generic);
    assert_string_equal(m.word[PH_SEM], "release");
    assert_string_equal(m.word[PH_SCOPE], "cta");
    arena_free(&w.arena);
    is_form("mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;", FORM_MBAR_TRY_WAIT, &m, &w);
    assert_false(m.generic);
    assert_string_equal(m.word[PH_SEM], "acquire");
    assert_string_equal(m.word[PH_SCOPE], "cta");
    arena_free(&w.arena);
    is_form("mbarrier.expect_tx.relaxed.cluster.shared::cta.b64 [bar], 16;", FORM_MBAR_EXPECT_ANY, &m, &w);
    assert_string_equal(m.word[PH_SEM], "relaxed");
    assert_string_equal(m.word[PH_SCOPE], "cluster");
    arena_free(&w.arena);
    matches("mbarrier.arrive.shared::cta.b64 _, [bar];", FORM_MBAR_ARRIVE);
    matches("mbarrier.arrive.release.cta.shared.b64 _, [bar];", FORM_MBAR_ARRIVE);
    matches("mbarrier.arrive.shared::cta.b64 _, [bar], 3;", FORM_MBAR_ARRIVE_COUNT);
    matches("mbarrier.arrive.release.cluster.shared::cta.b64 _, [bar];", FORM_MBAR_ARRIVE_STATE);
    matches("mbarrier.arrive.shared::cluster.b64 _, [%r1];", FORM_MBAR_ARRIVE_PEER_ANY);
    matches("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1];", FORM_MBAR_ARRIVE_PEER);
    matches("mbarrier.arrive.shared::cluster.b64 _, [%r1], 2;", FORM_MBAR_ARRIVE_PEER_COUNT);
    matches("mbarrier.arrive.noComplete.shared.b64 %d1, [bar], 2;", FORM_MBAR_ARRIVE_NOCOMPLETE);
    matches("mbarrier.arrive.expect_tx.shared.b64 %d1, [bar], 16;", FORM_MBAR_ARRIVE_EXPECT_STATE);
    matches("mbarrier.arrive_drop.shared.b64 _, [bar];", FORM_MBAR_DROP);
    matches("mbarrier.expect_tx.shared.b64 [bar], 16;", FORM_MBAR_EXPECT);
    matches("mbarrier.try_wait.shared.b64 %p1, [bar], %d1, 1000;", FORM_MBAR_TRY_WAIT_STATE_HINT);
    matches("mbarrier.pending_count.b64 %r1, %d1;", FORM_MBAR_PENDING_COUNT);
    matches("fence.gpu;", FORM_FENCE_ACQ_REL);
    matches("fence.proxy.async.shared::cta;", FORM_FENCE_ASYNC_SHARED);
    matches("barrier.cluster.arrive;", FORM_CLUSTER_ARRIVE);
    matches("barrier.cluster.wait.aligned;", FORM_CLUSTER_WAIT);
    matches("elect.sync _|%p1, 0xffffffff;", FORM_ELECT);
    matches("elect.sync %r1|%p1, %r2;", FORM_ELECT_ANY);
    matches("mapa.shared::cluster.u32 %r1, buf, %r2;", FORM_MAPA);
    matches("mapa.u64 %d1, %d2, 1;", FORM_MAPA_GENERIC);
    matches("st.async.weak" MB ".shared::cluster.v4.b32 [%r1], {%r1,%r2,%r3,%r4}, [%r5];", FORM_ST_ASYNC);
    matches("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r1,%r2,%r3,%r4}, [%r5];", FORM_LDMATRIX_TRANS);
}

static void families(void **state)
{
    (void)state;
    static const struct {
        const char *instr;
        bool family;
    } rows[] = {{"cp.async.ca.shared.global [buf], [%d1], 16;", false},
                {"cp.async.commit_group;", false},
                {"cp.async.bulk.commit_group;", true},
                {"st.global.b32 [%d1], %r1;", false},
                {"st.bulk.weak.shared::cta [buf], 8, 0;", true},
                {"bar.sync 0;", false},
                {"barrier.sync 0;", false},
                {"bar.warp.sync 0xffffffff;", false},
                {"barrier.cluster.wait;", true},
                {"fence.sc.gpu;", true},
                {"prefetch.global.L2 [%d1];", false},
                {"prefetch.tensormap [%d1];", true},
                {"add.u32 %r1, %r2, %r3;", false}};
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        World w;
        const PtxInstr *i = read_one(&w, rows[k].instr);
        if (form_family(i) != rows[k].family) fail_msg("%s", rows[k].instr);
        arena_free(&w.arena);
    }
}

static void what_is_wrong_with_the_words(void **state)
{
    (void)state;
    refused(LOAD ".tilX" MB ARGS ";", "E1403", "did you mean `.tile`");
    refused(LOAD ARGS ";", "E1404", "`.mbarrier::complete_tx::bytes`");
    refused(LOAD MB MB ARGS ";", "E1405", "twice");
    refused(LOAD ".tile.im2col" MB ARGS ";", "E1405", NULL);
    refused(LOAD MB ".bulk_group" ARGS ";", "E1405", NULL);
    refused(LOAD MB ".cp_mask" ARGS ";", "E1403", "`.cp_mask`");
    refused(LOAD ".tile::scatter4" MB ROWS ";", "E1403", NULL);
    refused(LOAD MB ".multicast::cluster" ARGS ", %h1;", "E1403", NULL);
    refused("cp.async.bulk.tensor.2d.shared.global" MB ARGS ";", "E1403", "`.shared::c");
    refused("cp.async.bulk.shared::cta.global [buf], [%d1], 16, [bar];", "E1404", NULL);
    refused("cp.async.bulk.shared::cluster.shared::cta.L2::cache_hint" MB " [buf], [%r1], 16, [bar], %d1;", "E1403",
            "cache_hint");
    refused(
        "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile::scatter4.bulk_group [%d1, {0,1,2,3,4}], [buf];",
        "E1403", "scatter4");
    refused("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.u32.bulk_group [%d1, {0,1}], [buf];", "E1403",
            "`.u32`");
    refused("mbarrier.init.shared::cluster.b64 [%r1], 1;", "E1403", "shared::c");
    refused("mbarrier.try_wait.parity.acquire.shared.b64 %p1, [bar], 0;", "E1404", "`.cta` or `.cluster`");
    refused("mbarrier.try_wait.parity.acquire.gpu.shared.b64 %p1, [bar], 0;", "E1403", "`.cta` or `.cluster`");
    refused("tcgen05.cp.cta_group::1.64x128b [%r1], %d1;", "E1404", "warpx2");
    refused("tcgen05.cp.cta_group::1.128x256b.warpx4 [%r1], %d1;", "E1403", NULL);
    refused("tcgen05.cp.128x256b [%r1], %d1;", "E1404", "cta_group");
    refused("tcgen05.shift.cta_group::1.up [%r1];", "E1403", NULL);
    refused("fence.acq_rel;", "E1404", NULL);
    refused("mbarrier;", "E1404", NULL);
    refused("xorr.b32 %r1, %r2, %r3;", "E1402", "`xor`");
}

/* PTX ISA, tcgen05.cp: 2 groups, 3 formats, 6 shapes. */
static void all_copies_to_tensor_memory(void **state)
{
    (void)state;
    static const char *const groups[] = {"1", "2"}, *const formats[] = {"", ".b8x16.b6x16_p32", ".b8x16.b4x16_p64"};
    static const char *const shapes[] = {"128x256b", "4x256b", "128x128b", "64x128b", "32x128b"};
    static const char *const casts[] = {"", ".warpx2::02_13", ".warpx2::01_23", ".warpx4"};
    int n = 0;
    for (int g = 0; g < 2; g++)
        for (int f = 0; f < 3; f++)
            for (int s = 0; s < 5; s++)
                for (int c = 0; c < 4; c++) {
                    char text[200];
                    snprintf(text, sizeof text, "tcgen05.cp.cta_group::%s.%s%s%s [%%r1], %%d1;", groups[g], shapes[s],
                             casts[c], formats[f]);
                    bool ok = s < 3 ? c == 0 : s == 3 ? c == 1 || c == 2 : c == 3;
                    Verdict v = judge("sm_100f", "8.8", text);
                    if ((v.errors == 0) != ok) fail_msg("%s: %s %s", text, v.code, v.text);
                    n += ok;
                }
    assert_int_equal(n, 36);
}

/* ---- operands ---- */

static void operands_have_their_kinds_and_widths(void **state)
{
    (void)state;
    legal(LOAD MB " [%r1], [%d1, {%r1, -3}], [bar];");
    legal(LOAD MB " [%d2+16], [glob, {1, 2}], [%r3];");
    refused(LOAD MB " [%h1], [%d1, {0, 0}], [bar];", "E1408", "16");
    refused(LOAD MB " [0], [%d1, {0, 0}], [bar];", "E1408", NULL);
    refused(LOAD MB " [glob], [%d1, {0, 0}], [bar];", "E1408", ".global");
    refused(LOAD MB " [buf], [%r1, {0, 0}], [bar];", "E1408", "64 bits");
    refused(LOAD MB " [buf], [con, {0, 0}], [bar];", "E1408", ".const");
    refused(LOAD MB " [buf], [%d1, {%h1, 0}], [bar];", "E1408", "coordinate");
    refused(LOAD MB " [buf], [%d1, {%f1, 0}], [bar];", "E1408", "coordinate");
    refused(LOAD MB " [buf], [%d1, {0, 0}], %d2;", "E1408", "barrier");
    refused(LOAD MB " [buf], [%d1, {0, 0}];", "E1407", NULL);
    refused(LOAD MB " [buf], [%d1, {0, 0}], [bar], %d2;", "E1407", NULL);
    refused(LOAD MB ".L2::cache_hint [buf], [%d1, {0, 0}], [bar];", "E1407", "policy");
    refused(LOAD MB ".L2::cache_hint [buf], [%d1, {0, 0}], [bar], %r2;", "E1408", "policy");
    refused(LOAD_CLUSTER MB ".multicast::cluster" ARGS ", %r1;", "E1408", "mask");
    refused(LOAD_CLUSTER MB ".multicast::cluster" ARGS ", %d1;", "E1408", "mask");
    refused(LOAD_CLUSTER MB ".multicast::cluster" ARGS ", 65536;", "E1411", "65535");
    legal(LOAD_CLUSTER MB ".multicast::cluster" ARGS ", 3;");
    refused("cp.async.bulk.wait_group %r1;", "E1408", "constant");
    refused("setmaxnreg.inc.sync.aligned.u32 20;", "E1411", NULL);
    refused("setmaxnreg.inc.sync.aligned.u32 60;", "E1411", "multiple of 8");
    refused("mbarrier.try_wait.parity.shared.b64 %p1, [bar], 2;", "E1411", NULL);
    refused("mbarrier.try_wait.parity.shared.b64 %r1, [bar], 0;", "E1408", "predicate");
    refused("mbarrier.arrive.shared.b64 %d1, [bar], 0;", "E1411", NULL);
    refused("mbarrier.arrive.shared::cluster.b64 %d1, [%r1];", "E1408", "`_`");
    refused("tcgen05.shift.cta_group::1.down [0];", "E1414", NULL);
    refused("tcgen05.cp.cta_group::1.128x256b [0], %d1;", "E1414", NULL);
    refused("tcgen05.cp.cta_group::1.128x256b [%d1], %d1;", "E1408", "32-bit");
    refused("tcgen05.cp.cta_group::1.128x256b [%r1], %r2;", "E1408", "64-bit");
    refused("tcgen05.ld.sync.aligned.16x256b.x1.b32 {%r1}, [%r2];", "E1407", "4");
    refused("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [buf], 96;", "E1411", "power of 2");
    refused("st.bulk.weak.shared::cta [%r1], 12, 0;", "E1411", NULL);
    refused("st.bulk.weak.shared::cta [%r1], 16, 1;", "E1411", NULL);
    refused("st.async" MB ".shared::cluster.v4.b64 [%r1], {%d1,%d2,%d3,%d4}, [%r2];", "E1403", "16 bytes");
    refused("createpolicy.fractional.L2::evict_last.b64 %d1, 1.5;", "E1411", NULL);
    refused("elect.sync %r1|%r2, -1;", "E1408", "predicate");
}

static void coordinates_are_as_many_as_dimensions(void **state)
{
    (void)state;
    refused(LOAD MB " [buf], [%d1, {0}], [bar];", "E1417", "2");
    refused("cp.async.bulk.tensor.5d.shared::cta.global" MB ARGS ";", "E1417", "5");
    legal("cp.async.bulk.tensor.1d.shared::cta.global" MB " [buf], [%d1, {0}], [bar];");
    legal(LOAD ".tile::gather4" MB ROWS ";");
    refused(LOAD ".tile::gather4" MB ARGS ";", "E1417", "four rows");
    refused("cp.async.bulk.tensor.3d.shared::cta.global.tile::gather4" MB ROWS ";", "E1403", "`.2d`");
    legal("cp.async.bulk.tensor.4d.shared::cta.global.im2col" MB " [buf], [%d1, {0,0,0,0}], [bar], {1, %h1};");
    refused("cp.async.bulk.tensor.4d.shared::cta.global.im2col" MB " [buf], [%d1, {0,0,0,0}], [bar], {1};", "E1417",
            "2");
    refused("cp.async.bulk.tensor.4d.shared::cta.global.im2col" MB " [buf], [%d1, {0,0,0,0}], [bar];", "E1407", NULL);
    refused("cp.async.bulk.tensor.2d.shared::cta.global.im2col" MB " [buf], [%d1, {0,0}], [bar], {1};", "E1417",
            "3 to 5");
    legal("cp.async.bulk.tensor.4d.shared::cta.global.im2col::w" MB " [buf], [%d1, {0,0,0,0}], [bar], {511, 31};");
    refused("cp.async.bulk.tensor.4d.shared::cta.global.im2col::w" MB " [buf], [%d1, {0,0,0,0}], [bar], {512, 0};",
            "E1411", "wHalo");
    refused("cp.async.bulk.tensor.4d.shared::cta.global.im2col::w::128" MB " [buf], [%d1, {0,0,0,0}], [bar], {32, 0};",
            "E1411", "wHalo");
    refused("cp.async.bulk.tensor.4d.shared::cta.global.im2col::w" MB " [buf], [%d1, {0,0,0,0}], [bar], {1, 2, 3};",
            "E1417", NULL);
}

static void sizes_of_bulk_copies(void **state)
{
    (void)state;
    static const char *const bad[] = {"8", "-16", "1048576", "4294967296"}, *const good[] = {"0", "16", "1048560",
                                                                                             "%r1"};
    char text[200];
    for (size_t k = 0; k < 4; k++) {
        snprintf(text, sizeof text, "cp.async.bulk.prefetch.L2.global [%%d1], %s;", bad[k]);
        refused(text, "E1411", NULL);
        snprintf(text, sizeof text, "cp.async.bulk.prefetch.L2.global [%%d1], %s;", good[k]);
        legal(text);
    }
    refused("cp.async.bulk.prefetch.L2.global [%d1], %d2;", "E1408", "size");
}

/* PTX ISA, cp.reduce.async.bulk: the table of operations and types. */
static void reductions_have_types(void **state)
{
    (void)state;
    static const char *const types[] = {"u32", "s32", "u64", "s64", "b32", "b64", "f16", "bf16", "f32", "f64"};
    static const struct {
        const char *op, *global, *cluster;
    } rows[] = {{"add", "u32 s32 u64 f32 f64", "u32 s32 u64"},
                {"add.noftz", "f16 bf16", ""},
                {"min", "u32 s32 u64 s64 f16 bf16", "u32 s32"},
                {"max", "u32 s32 u64 s64 f16 bf16", "u32 s32"},
                {"inc", "u32", "u32"},
                {"dec", "u32", "u32"},
                {"and", "b32 b64", "b32"},
                {"or", "b32 b64", "b32"},
                {"xor", "b32 b64", "b32"}};
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
            char text[200], list[64], word[16];
            snprintf(word, sizeof word, " %s ", types[t]);
            snprintf(list, sizeof list, " %s ", rows[k].global);
            snprintf(text, sizeof text, "cp.reduce.async.bulk.global.shared::cta.bulk_group.%s.%s [%%d1], [buf], 16;",
                     rows[k].op, types[t]);
            bool later = strcmp(rows[k].op, "add.noftz") == 0 && strcmp(types[t], "f32") == 0; /* PTX ISA 9.4 */
            verdict("sm_90", "8.0", text, strstr(list, word) ? "" : later ? "E1410" : "E1412");
            if (later) verdict("sm_90", "9.4", text, "");
            snprintf(list, sizeof list, " %s ", rows[k].cluster);
            snprintf(text, sizeof text,
                     "cp.reduce.async.bulk.shared::cluster.shared::cta" MB ".%s.%s [%%r1], [buf], 16, [%%r2];",
                     rows[k].op, types[t]);
            verdict("sm_90", "8.0", text, strstr(list, word) ? "" : "E1412");
        }
    refused("cp.reduce.async.bulk.global.shared::cta.bulk_group.min.noftz.f16 [%d1], [buf], 16;", "E1403", ".noftz");
}

/* ---- targets and versions ---- */

static void what_each_class_of_targets_has(void **state)
{
    (void)state;
    static const struct {
        const char *target, *version;
    } classes[] = {{"sm_80", "8.6"},   {"sm_90", "8.0"},   {"sm_90a", "8.6"}, {"sm_100", "8.6"},
                   {"sm_120a", "8.7"}, {"sm_110f", "9.0"}, {"sm_103a", "8.8"}};
    static const struct {
        const char *instr, *codes[7]; /* in the order of the classes */
    } rows[] = {
        {LOAD_CLUSTER MB ARGS ";", {"E1409", "", "", "", "", "", ""}},
        {LOAD MB ARGS ";", {"E1409", "E1410", "", "", "", "", ""}},
        {LOAD ".tile::gather4" MB ROWS ";", {"E1409", "E1409", "E1409", "", "", "", ""}},
        {LOAD_CLUSTER ".tile::gather4" MB ROWS ";", {"E1409", "E1409", "E1409", "E1409", "E1409", "", ""}},
        {LOAD_CLUSTER MB ".cta_group::1" ARGS ";", {"E1409", "E1409", "E1409", "E1409", "E1409", "", ""}},
        {"cp.async.bulk.prefetch.tensor.2d.L2.global.tile::gather4 [%d1, {0,1,2,3,4}];",
         {"E1409", "E1409", "E1409", "E1409", "E1409", "", ""}},
        {"cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%d1, {0,1,2,3,4}], [buf];",
         {"E1409", "E1409", "E1409", "E1409", "E1409", "", ""}},
        {"cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%d1], [buf], 16, %h1;",
         {"E1409", "E1409", "E1409", "", "", "", ""}},
        {"tcgen05.cp.cta_group::1.128x256b [%r1], %d1;", {"E1409", "E1409", "E1409", "E1409", "E1409", "", ""}},
        {"tcgen05.shift.cta_group::1.down [%r1];", {"E1409", "E1409", "E1409", "E1409", "E1409", "E1409", ""}},
        {"setmaxnreg.inc.sync.aligned.u32 64;", {"E1409", "E1409", "", "E1409", "", "", ""}},
        {"st.bulk.weak.shared::cta [%r1], 16, 0;", {"E1409", "E1409", "E1409", "", "", "", ""}},
        {"st.async" MB ".shared::cluster.b32 [%r1], %r2, [%r3];", {"E1409", "E1410", "", "", "", "", ""}},
        {"fence.proxy.tensormap::generic.acquire.gpu [%d1], 128;", {"E1409", "E1410", "", "", "", "", ""}},
        {"mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [bar];", {"E1409", "E1410", "", "", "", "", ""}},
        {"mbarrier.init.shared::cta.b64 [bar], 1;", {"", "", "", "", "", "", ""}},
        {"mbarrier.test_wait.shared.b64 %p1, [bar], %d1;", {"", "", "", "", "", "", ""}},
        {"createpolicy.fractional.L2::evict_last.b64 %d1, 0.5;", {"", "", "", "", "", "", ""}},
    };
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        for (size_t c = 0; c < 7; c++) verdict(classes[c].target, classes[c].version, rows[k].instr, rows[k].codes[c]);
}

static void messages_name_targets_versions_and_what_would_do(void **state)
{
    (void)state;
    Verdict v = judge("sm_100", "8.6", LOAD_CLUSTER ".tile::gather4" MB ROWS ";");
    assert_non_null(strstr(v.text, "sm_100a (PTX 8.6)"));
    assert_non_null(strstr(v.text, "sm_110f (PTX 9.0)"));
    assert_non_null(strstr(v.text, ".shared::cta.global.tile::gather4"));
    v = judge("sm_90", "8.0", LOAD MB ARGS ";");
    assert_non_null(strstr(v.text, "8.6"));
    assert_non_null(strstr(v.text, ".shared::cluster.global.tile"));
    v = judge("sm_80", "8.6", "fence.proxy.async;");
    assert_non_null(strstr(v.text, "it needs sm_90 or newer, PTX 8.0"));
    assert_null(strstr(v.text, "alias")); /* another fence is for something else */
    refused("mbarrier.arive.shared.b64 _, [bar];", "E1403", "`mbarrier.arrive`");
    refused("cp.async.bulk.commit_grp;", "E1403", "`.commit_group`");
    refused("cp.async.bulk.tensor.6d.shared::cta.global" MB ARGS ";", "E1403", "`.1d` to `.5d`");
}

static void operands_that_no_place_takes(void **state)
{
    (void)state;
    refused(".reg .v2 .b32 v; " LOAD MB " [buf], [%d1, v], [bar];", "E1408", "in braces");
    refused(".reg .v2 .b32 v; tcgen05.ld.sync.aligned.32x32b.x2.b32 v, [%r1];", "E1408", "in braces");
    legal(".reg .v2 .b32 v; ldmatrix.sync.aligned.m8n8.x2.shared.b16 v, [buf];");
    refused("@%r1 mbarrier.init.shared.b64 [bar], 1;", "E1408", "no predicate");
    refused(LOAD MB " [buf], [%d1+0, {%r1, %r2}], [bar];", "E1408", "without an offset");
    refused(LOAD MB " [buf], [%d1, {%r1, _}], [bar];", "E1408", "`_`");
    refused("stmatrix.sync.aligned.m8n8.x2.shared.b16 [buf], {_, %r1};", "E1408", "`_`");
    refused("st.async" MB ".shared::cluster.v2.u32 [%r1], {_, %r1}, [bar];", "E1408", "`_`");
    refused("clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {_, _, _, _}, %q1;", "E1408", "`_`");
    legal("clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {_, _, %r1, _}, %q1;");
    refused("cp.reduce.async.bulk.tensor.1d.global.shared::cta.max.bulk_group [%d1, {%r1}], -%r1;", "E1408", "negated");
    refused("cp.reduce.async.bulk.tensor.1d.global.shared::cta.max.bulk_group [%d1, {%r1}], !%r1;", "E1408", "negated");
    refused("mbarrier.init.shared.b64 [k], 1;", "E1408", "a label or a function");
    refused("L: mbarrier.init.shared.b64 [L], 1;", "E1408", "a label or a function");
    refused("cp.async.bulk.prefetch.L2.global [k], 16;", "E1408", "a label or a function");
    refused("st.bulk.weak.shared::cta [buf], 16, 0;", "E1408", "a register");
    legal("st.bulk.weak [buf], 16, 0;");
    legal("st.async.mmio.release.sys.global.u8 [%d1], 3;");
    legal(".reg .b8 c; st.async.release.gpu.global.b8 [%d1], c;");
    legal("st.async.cluster" MB ".shared::cluster.u32 [%r1], %r1, [bar];");
    refused("st.async.weak.cluster" MB ".shared::cluster.u32 [%r1], %r1, [bar];", "E1403", NULL);
    legal("mbarrier.init.shared.b64 [bar], WARP_SZ;");
    Verdict v = judge("sm_100a", "9.0", "mbarrier.init.shared.b64 [nowhere], 1;"); /* nothing more is said of it */
    assert_string_equal(v.code, "E1416");
    assert_int_equal(v.errors, 1);
}

/* A name is one word to ptxas; its modifiers may stand apart. */
static void names_of_instructions_have_no_gaps(void **state)
{
    (void)state;
    refused("mbarrier .init.shared.b64 [bar], 1;", "E1403", "`.init`");
    refused("cp.async/*x*/.bulk.commit_group;", "E1403", "`.bulk`");
    refused("fence\n.proxy.async;", "E1403", "`.proxy`");
    refused("cp.async .commit_group;", "E1403", "`.commit_group`");
    legal("mbarrier.init .shared.b64 [bar], 1;");
    legal("fence.proxy .async;");
    legal("add .u32 %r1, %r1, %r1;");
}

/* One word tells what was meant, also where another is missing. */
static void near_misses_of_families(void **state)
{
    (void)state;
    refused("red.relaxed.cluster.shared::cluster" MB ".inc.u32 [%r1], %r1, [bar];", "E1403", "red.async");
    refused("st.shared::cluster" MB ".u32 [%r1], %r1, [bar];", "E1403", "st.async");
    refused("prefetch.tensor.1d.L2.global [%d1, {%r1}];", "E1403", NULL);
    refused("cp.async.swizzle_mode.commit_group;", "E1403", NULL);
    legal("cp.async.ca.shared::cta.global.L2::cache_hint.L2::128B [buf], [%d1], 16, %d2;");
    legal("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [bar];");
}

static void matrix_instructions_have_targets(void **state)
{
    (void)state;
    static const char mma[] = "tcgen05.mma.cta_group::1.kind::f16 [%r1], %d1, %d2, %r1, %p1;";
    legal(mma);
    verdict("sm_90a", "8.6", mma, "E1409");
    verdict("sm_120a", "8.7", mma, "E1409");
    verdict("sm_90a", "8.0", "wgmma.fence.sync.aligned;", "");
    refused("wgmma.fence.sync.aligned;", "E1409", "sm_90a");
    refused("tcgen05.mma.bogus [%r1];", "E1403", "`.bogus`");
}

static void multicast_is_a_warning_where_it_is_slow(void **state)
{
    (void)state;
    static const char instr[] = LOAD_CLUSTER MB ".multicast::cluster" ARGS ", %h1;";
    static const char *const slow[] = {"sm_90", "sm_100", "sm_103", "sm_110", "sm_120", "sm_120a", "sm_121f"};
    static const char *const fast[] = {"sm_90a", "sm_100a", "sm_100f", "sm_103a", "sm_110f"};
    for (size_t k = 0; k < sizeof slow / sizeof slow[0]; k++) {
        Verdict v = judge(slow[k], "9.0", instr);
        assert_int_equal(v.errors, 0);
        assert_int_equal(v.warnings, 1);
        assert_string_equal(v.code, "P0001");
    }
    for (size_t k = 0; k < sizeof fast / sizeof fast[0]; k++) verdict(fast[k], "9.0", instr, "");
}

static void modules_name_targets_and_versions(void **state)
{
    (void)state;
    static const struct {
        const char *target, *version, *code;
    } rows[] = {{"sm_90", "7.8", ""},        {"sm_90a", "7.8", "E1415"}, {"sm_100a", "8.5", "E1415"},
                {"sm_100f", "8.6", "E1415"}, {"sm_101a", "8.6", ""},     {"sm_101f", "8.6", "E1415"},
                {"sm_110a", "8.8", "E1415"}, {"sm_110", "9.0", ""},      {"sm_120", "8.6", "E1415"},
                {"sm_99", "8.6", "E1415"},   {"sm_80", "7.0", ""},       {"sm_100a", "8.9", "E1415"}};
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        char text[300];
        Verdict v = {.code = ""};
        tile_error e;
        snprintf(text, sizeof text, ".version %s\n.target %s\n.address_size 64\n.entry k() { ret; }\n", rows[k].version,
                 rows[k].target);
        assert_int_equal(tile_check_ptx(text, strlen(text), NULL, NULL, note, &v, NULL, &e), TILE_OK);
        if (strcmp(v.code, rows[k].code) != 0)
            fail_msg("%s %s: %s %s", rows[k].target, rows[k].version, v.code, v.text);
    }
    static const struct {
        const char *head, *code;
    } heads[] = {
        {".version 8.6\n.target sm_100a, debug\n", ""},
        {".version 8.6\n.target sm_100a, frobnicate\n", "E1415"},
        {".version 8.60\n.target sm_100a\n", "E1415"},
        {".target sm_100a\n.version 8.6\n", "E1415"},
        {".version 8.6\n.global .u32 x;\n.target sm_100a\n", "E1415"},
        {".version 8.6\n.target sm_100a\n.global .u32 x;\n.target sm_90\n", "E1415"},
        {".version 8.6\n.version 8.6\n.target sm_100a\n", "E1415"},
        {".version 8.6\n.target sm_100a\n.address_size 64\n.global .u32 x;\n.version 8.0\n", "E1415"},
        {".version 8.6\n.target sm_100a\n.address_size 64\n.address_size 64\n", "E1415"},
        {".version 8.6\n.target sm_100a\n;\n", "E1401"},
    };
    for (size_t k = 0; k < sizeof heads / sizeof heads[0]; k++) {
        Verdict v = {.code = ""};
        assert_int_equal(
            tile_check_ptx(heads[k].head, strlen(heads[k].head), NULL, NULL, note, &v, NULL, &(tile_error){0}),
            TILE_OK);
        if (strcmp(v.code, heads[k].code) != 0) fail_msg("%s: %s %s", heads[k].head, v.code, v.text);
    }
    tile_error e;
    assert_int_equal(tile_check_ptx("", 0, "sm_1", NULL, NULL, NULL, NULL, &e), TILE_ERROR_ARGUMENT);
    assert_int_equal(tile_check_ptx("", 0, NULL, "8.9", NULL, NULL, NULL, &e), TILE_ERROR_ARGUMENT);
    assert_int_equal(tile_check_ptx("", 0, NULL, "86", NULL, NULL, NULL, &e), TILE_ERROR_ARGUMENT);
}

static void one_group_of_ctas_in_a_function(void **state)
{
    (void)state;
    refused("tcgen05.shift.cta_group::1.down [%r1]; tcgen05.shift.cta_group::2.down [%r1];", "E1413", NULL);
    legal("tcgen05.shift.cta_group::1.down [%r1]; tcgen05.shift.cta_group::1.down [%r2];");
    /* that of a copy is another one */
    legal("tcgen05.shift.cta_group::1.down [%r1]; " LOAD_CLUSTER MB ".cta_group::2" ARGS ";");
}

/* Words without end, and operands of every kind in every place: an answer, never a crash. */
static void hostile_instructions_get_an_answer(void **state)
{
    (void)state;
    char text[1200] = "cp.async.bulk.tensor";
    for (int k = 0; k < 60; k++) strcat(text, ".tile");
    strcat(text, " [buf], [bar];");
    assert_true(judge("sm_100a", "9.0", text).errors > 0);
    static const char *const operands[] = {"%r1", "[%r1]",   "{}",           "{%r1}", "_",  "5",
                                           "1.0", "%r1|%p1", "[%d1, {%r1}]", "!%p1",  "buf"};
    for (int f = 0; f < FORM_COUNT; f++)
        for (size_t a = 0; a < sizeof operands / sizeof operands[0]; a++)
            for (size_t n = 0; n < 6; n++) {
                size_t at = (size_t)snprintf(text, sizeof text, "%.*s",
                                             (int)strcspn(form_info((InstrForm)f)->ptx, " ;{"),
                                             form_info((InstrForm)f)->ptx);
                for (size_t k = 0; k < n; k++)
                    at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", k ? ", " : " ",
                                           operands[(a + k * n) % 11]);
                snprintf(text + at, sizeof text - at, ";");
                judge("sm_100a", "9.0", text);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_of_a_copy_stand_in_any_order),
        cmocka_unit_test(operands_are_bound_by_name),
        cmocka_unit_test(defaults_of_the_isa_are_filled_in),
        cmocka_unit_test(families),
        cmocka_unit_test(what_is_wrong_with_the_words),
        cmocka_unit_test(all_copies_to_tensor_memory),
        cmocka_unit_test(operands_have_their_kinds_and_widths),
        cmocka_unit_test(coordinates_are_as_many_as_dimensions),
        cmocka_unit_test(sizes_of_bulk_copies),
        cmocka_unit_test(reductions_have_types),
        cmocka_unit_test(what_each_class_of_targets_has),
        cmocka_unit_test(messages_name_targets_versions_and_what_would_do),
        cmocka_unit_test(multicast_is_a_warning_where_it_is_slow),
        cmocka_unit_test(modules_name_targets_and_versions),
        cmocka_unit_test(one_group_of_ctas_in_a_function),
        cmocka_unit_test(operands_that_no_place_takes),
        cmocka_unit_test(names_of_instructions_have_no_gaps),
        cmocka_unit_test(near_misses_of_families),
        cmocka_unit_test(matrix_instructions_have_targets),
        cmocka_unit_test(hostile_instructions_get_an_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
