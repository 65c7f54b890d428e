/* PTX text as data: each construct of the language, errors and where reading goes on, scopes, hostile bytes. */
#include <dirent.h>

#include "tests/unit/lang_fixture.h"

#include "lang/text.h"
#include "runtime/ptx/ptx.h"

enum { SAID = 4096 };

typedef struct Read {
    PtxModule *module;
    uint32_t problems;
    char said[SAID]; /* "LINE: TEXT\n" each */
} Read;

static void hear(void *user, uint32_t line, const char *text)
{
    Read *o = user;
    size_t at = strlen(o->said);
    snprintf(o->said + at, SAID - at, "%u: %s\n", (unsigned)line, text);
}

/* The text at its exact size, so that a sanitizer sees a read beyond it. */
static Read read_bytes(void **state, const char *text, size_t size)
{
    Room *room = *state;
    Read o = {.module = NULL};
    char *exact = malloc(size ? size : 1);
    assert_non_null(exact);
    memcpy(exact, text, size);
    o.module = ptx_read(&room->arena, exact, size, hear, &o, &o.problems);
    free(exact);
    return o;
}

static Read read_text(void **state, const char *text)
{
    return read_bytes(state, text, strlen(text));
}

/* The only function of a text without problems. */
static const PtxFunc *good(void **state, const char *text)
{
    Read o = read_text(state, text);
    assert_string_equal(o.said, "");
    assert_int_equal(o.problems, 0);
    assert_non_null(o.module);
    assert_int_equal(o.module->funcs.n, 1);
    return o.module->funcs.v[0];
}

static void says(void **state, const char *text, const char *expected)
{
    Read o = read_text(state, text);
    assert_string_equal(o.said, expected);
}

/* ---- operands and instructions as a text, to compare ---- */

static void put_operand(Text *t, const PtxOperand *o)
{
    static const char *const lists[] = {
        [PTX_ADDRESS] = "[]", [PTX_MAP] = "<>", [PTX_VECTOR] = "{}", [PTX_PAIR] = "||", [PTX_ARGS] = "()"};
    if (o->negated) text_str(t, "not ");
    switch (o->kind) {
    case PTX_REG: text_printf(t, "%s%s", o->name, o->var ? "" : "?"); break;
    case PTX_SPECIAL: text_printf(t, "special %s", o->name); break;
    case PTX_SYMBOL: text_printf(t, "%s %s", o->var ? "var" : "symbol", o->name); break;
    case PTX_INT: text_int(t, o->value); break;
    case PTX_F32_BITS: text_printf(t, "f32 %08llx", (unsigned long long)o->value); return;
    case PTX_F64_BITS: text_printf(t, "f64 %016llx", (unsigned long long)o->value); return;
    case PTX_SINK: text_str(t, "_"); break;
    default:
        text_char(t, lists[o->kind][0]);
        for (uint32_t i = 0; i < o->nitems; i++) {
            if (i > 0) text_str(t, " ");
            put_operand(t, &o->items[i]);
        }
        text_char(t, lists[o->kind][1]);
    }
    if (o->kind != PTX_INT && o->value) text_printf(t, "%+lld", (long long)o->value);
}

static void operands_are(void **state, const PtxInstr *in, const char *expected)
{
    Room *room = *state;
    Text t;
    text_init(&t, &room->mem);
    for (uint32_t i = 0; i < in->nopd; i++) {
        if (i > 0) text_str(&t, ", ");
        put_operand(&t, &in->opd[i]);
    }
    assert_string_equal(t.s ? t.s : "", expected);
    text_free(&t);
}

static void mnemonic_is(const PtxInstr *in, const char *expected)
{
    char buf[160];
    size_t at = (size_t)snprintf(buf, sizeof buf, "%s", in->opcode);
    for (uint32_t k = 0; k < in->nmods && at < sizeof buf; k++) at += (size_t)snprintf(buf + at, sizeof buf - at, "%s", in->mods[k]);
    assert_string_equal(buf, expected);
}

static const PtxFunc *func(const Read *o, const char *name)
{
    for (uint32_t i = 0; i < o->module->funcs.n; i++)
        if (strcmp(o->module->funcs.v[i]->name, name) == 0) return o->module->funcs.v[i];
    return NULL;
}

/* One instruction with its declarations. */
static void instr(void **state, const char *text, const char *mnemonic, const char *operands)
{
    char all[1024];
    snprintf(all, sizeof all,
             ".extern .shared .align 16 .b8 smem[];\n.global .align 4 .f32 table[8];\n.func f (.param .b32 x);\n"
             ".visible .entry k(.param .align 64 .b8 map[128])\n{\n.reg .b32 %%r<8>; .reg .b64 %%rd<4>; .reg .pred "
             "%%p<3>, q;"
             " .reg .v4 .f32 v; .reg .v2 .b32 w<2>;\n%s\n}",
             text);
    Read o = read_text(state, all);
    assert_string_equal(o.said, "");
    const PtxFunc *k = func(&o, "k");
    assert_non_null(k);
    assert_int_equal(k->instrs.n, 1);
    assert_int_equal(k->instrs.v[0].line, 7);
    assert_int_equal(k->instrs.v[0].column, 1);
    mnemonic_is(&k->instrs.v[0], mnemonic);
    operands_are(state, &k->instrs.v[0], operands);
}

static void modifiers(void **state)
{
    instr(state,
          "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r0], [%rd1, {%r2, 5}], "
          "[%r3+-8];",
          "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes",
          "[%r0], <%rd1 {%r2 5}>, [%r3]-8");
    instr(state, "tcgen05.cp.cta_group::1.64x128b.warpx2::02_13.b8x16.b6x16_p32 [%r1], %rd2;",
          "tcgen05.cp.cta_group::1.64x128b.warpx2::02_13.b8x16.b6x16_p32", "[%r1], %rd2");
    instr(state, "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0,%r1,_,%r3}, [%r4 + 4*4 - 1];",
          "ldmatrix.sync.aligned.m8n8.x4.shared.b16", "{%r0 %r1 _ %r3}, [%r4]+15");
    instr(state, "ld .global\n .v4 .f32 v, [table+4];", "ld.global.v4.f32", "{v.x v.y v.z v.w}, [var table]+4");
    instr(state, "ld.global.u32 %r1, [%rd0].unified, %rd1;", "ld.global.u32.unified", "%r1, [%rd0], %rd1");
    instr(state, "ret;", "ret", "");
    instr(state, "mov.b32 %r1, %tid.x;", "mov.b32", "%r1, special %tid.x");
}

static void operand_kinds(void **state)
{
    instr(state, "add.s32 %r1, -1, 0U;", "add.s32", "%r1, -1, 0");
    instr(state, "add.s32 %r1, 0x1F, 0b101;", "add.s32", "%r1, 31, 5");
    instr(state, "add.s32 %r1, 017, 0xFFFFFFFFFFFFFFFF;", "add.s32", "%r1, 15, -1");
    instr(state, "fma.rn.f32 v.x, 0f3F800000, 0d3FF0000000000000, 1.5;", "fma.rn.f32",
          "v.x, f32 3f800000, f64 3ff0000000000000, f64 3ff8000000000000");
    instr(state, "mov.f64 %rd0, -25e-1;", "mov.f64", "%rd0, f64 c004000000000000");
    instr(state, "mov.f32 v.y, -0f3F800000;", "mov.f32", "v.y, f32 bf800000");
    instr(state, "mov.b32 %r0, (1 + 2) * 3 << 4;", "mov.b32", "%r0, 144");
    instr(state, "mov.b32 %r0, (7 > 3 ? 10 - 2 - 3 : 1) | 8;", "mov.b32", "%r0, 13");
    instr(state, "mov.b32 %r0, -7 / 2 * 10 + -7 % 2;", "mov.b32", "%r0, -31");
    instr(state, "mov.b64 %rd0, (.s64)-1 < 0U ? 1 : 2;", "mov.b64", "%rd0, 2"); /* as unsigned, like C */
    instr(state, "mov.b64 %rd0, (3 <= 3) + 2 * (3 >= 4) + 4 * (3 == 3) + 8 * (3 != 3) + 16 * (2 && 1) + 32 * (0 || 0) + 64 * (6 & 3);", "mov.b64",
          "%rd0, 149");
    instr(state, "mov.b64 %rd0, (1.5 <= 1.5) + 2 * (1.5 >= 2) + 4 * (1.5 == 1.5) + 8 * (1.5 != 2) + 16 * (2.5 > 1) + 32 * (1.5 * 2 / 3 - 1 < 1);",
          "mov.b64", "%rd0, 61");
    instr(state, "mov.b64 %rd0, -8 >> 1;", "mov.b64", "%rd0, -4");
    instr(state, "mov.b64 %rd0, ~0 ^ !5;", "mov.b64", "%rd0, -1");
    instr(state, "setp.lt.and.s32 %p1|q, %r1, %r2, !%p2;", "setp.lt.and.s32", "|%p1 q|, %r1, %r2, not %p2");
    instr(state, "elect.sync _|%p0, 0xffffffff;", "elect.sync", "|_ %p0|, 4294967295");
    instr(state, "mov.b64 {%r0, %r1}, smem+16;", "mov.b64", "{%r0 %r1}, var smem+16");
    instr(state, "ld.shared.u32 %r1, smem;", "ld.shared.u32", "%r1, var smem");
    instr(state, "ld.shared.u32 %r1, [smem+8-4];", "ld.shared.u32", "%r1, [var smem]+4");
    instr(state, "ld.local.u32 %r1, [16+4];", "ld.local.u32", "%r1, [20]");
    instr(state, "mov.u64 %rd0, table[2];", "mov.u64", "%rd0, var table+8");
    instr(state, "mov.b32 %r0, WARP_SZ;", "mov.b32", "%r0, 32");
    instr(state, "mov.b64 %rd0, %clock64;", "mov.b64", "%rd0, special %clock64");
    instr(state, "mov.b32 %r0, %envreg31;", "mov.b32", "%r0, special %envreg31");
    instr(state, "mov.b32 v.w, w1.g;", "mov.b32", "v.w, w1.y");
    instr(state, "vadd.u32.u32.u32 %r0, %r1.b0, %r2.h1;", "vadd.u32.u32.u32", "%r0, %r1.b0, %r2.h1");
    instr(state, "tex.2d.v4.f32.f32 v, [%rd0, %rd1, w0];", "tex.2d.v4.f32.f32",
          "{v.x v.y v.z v.w}, <%rd0 %rd1 {w0.x w0.y}>");
    instr(state, "cp.async.bulk.prefetch.tensor.1d.L2.global [map, {0}];", "cp.async.bulk.prefetch.tensor.1d.L2.global",
          "<var map {0}>");
    instr(state, "call (%r0), f, (%r1, 5);", "call", "(%r0), symbol f, (%r1 5)");
    instr(state, "call.uni f, ();", "call.uni", "symbol f, ()");
    instr(state, "neg.s32 %r0, -%r1;", "neg.s32", "%r0, not %r1");
}

static void guards_and_lines(void **state)
{
    const PtxFunc *k = good(
        state, ".entry k()\r\n{\r\n.reg .pred %p<2>; .reg .b32 %r<3>;\r\n"
               "\t@!%p1 add.s32 /* a */ %r0, // b\r\n   %r1,\r\n  /*\n*/ %r2;\n  @ %p0 bra L; ret;\nL:\n}");
    assert_int_equal(k->instrs.n, 3);
    const PtxInstr *in = k->instrs.v;
    assert_string_equal(in[0].guard->name, "%p1");
    assert_true(in[0].guard_not);
    assert_int_equal(in[0].line, 4);
    assert_int_equal(in[0].column, 2);
    assert_string_equal(in[1].guard->name, "%p0");
    assert_false(in[1].guard_not);
    assert_int_equal(in[1].line, 8);
    assert_int_equal(in[2].line, 8);
    assert_int_equal(in[2].column, 16);
    assert_null(in[2].guard);
    assert_int_equal(ptx_find_label(k, 0, "L"), 3);
    assert_true(ptx_has_mod(&in[0], ".s32"));
    assert_false(ptx_has_mod(&in[0], ".s3"));
}

/* ---- directives ---- */

static void module_head(void **state)
{
    Read o = read_text(
        state,
        "\xef\xbb\xbf// by hand\n.version 8.6\n.target sm_90a, debug\n.address_size 64\n.file 2 \"a b.cu\", 12, 34\n"
        ".pragma \"x\", \"y\";\n");
    assert_string_equal(o.said, "");
    assert_int_equal(o.module->version, 86);
    assert_int_equal(o.module->version_line, 2);
    assert_string_equal(o.module->target, "sm_90a");
    assert_int_equal(o.module->target_line, 3);
    assert_int_equal(o.module->address_size, 64);
    assert_int_equal(o.module->files.n, 3);
    assert_null(o.module->files.v[0]);
    assert_string_equal(o.module->files.v[2], "a b.cu");
    o = read_text(state, ".version 9.0 .target sm_100a .address_size 64 .global .u32 x;"); /* lines are no matter */
    assert_string_equal(o.said, "");
    assert_int_equal(o.module->version, 90);
    assert_int_equal(o.module->vars.n, 1);
    o = read_text(state, "");
    assert_int_equal(o.problems, 0);
    assert_int_equal(o.module->version, 0);
    assert_null(o.module->target);
    assert_int_equal(o.module->funcs.n, 0);
}

static void places(void **state)
{
    const PtxFunc *k = good(
        state, ".entry k() {\nret;\n.loc 1 20 3\nret;\n"
               ".loc\t2 107 4, function_name $L__info_string0+4, inlined_at 1 32 5\nret;\n}\n"
               ".section .debug_str\n{\n$L__info_string0:\n.b8 95,90,0\n.b32 .debug_abbrev\n.b64 $L__tmp-4\n}\n");
    assert_int_equal(k->instrs.v[0].place.line, 0);
    assert_int_equal(k->instrs.v[1].place.file, 1);
    assert_int_equal(k->instrs.v[1].place.line, 20);
    assert_int_equal(k->instrs.v[1].place.column, 3);
    assert_int_equal(k->instrs.v[2].place.file, 2);
    assert_int_equal(k->instrs.v[2].place.line, 107);
}

static void init_is(const PtxVar *v, const char *bytes, size_t n)
{
    assert_int_equal(v->bytes, n);
    assert_non_null(v->init);
    assert_memory_equal(v->init, bytes, n);
}

static void variables(void **state)
{
    Read o = read_text(state,
                       ".extern .shared .align 1024 .b8 smem[];\n.extern .shared .align 1024 .b8 smem[];\n"
                       ".visible .global .align 32 .v4 .f32 g[3][2];\n.weak .const .u16 c;\n"
                       ".global .attribute(.managed) .u64 a, b[2];\n.common .global .attribute(.unified(1, 2)) .u8 d;\n"
                       ".global .texref t;");
    assert_string_equal(o.said, "");
    assert_int_equal(o.module->vars.n, 7);
    PtxVar **v = o.module->vars.v;
    assert_true(v[0]->is_extern && v[0]->is_array);
    assert_int_equal(v[0]->space, PTX_SPACE_SHARED);
    assert_int_equal(v[0]->bytes, 0);
    assert_int_equal(v[0]->align, 1024);
    assert_int_equal(v[1]->bytes, 16 * 6);
    assert_int_equal(v[1]->vec, 4);
    assert_int_equal(v[1]->type, PTX_F32);
    assert_true(v[1]->is_visible);
    assert_int_equal(v[1]->line, 3);
    assert_int_equal(v[2]->align, 2);
    assert_false(v[2]->is_array);
    assert_null(v[2]->init);
    assert_string_equal(v[4]->name, "b");
    assert_int_equal(v[4]->bytes, 16);
}

static void initial_values(void **state)
{
    Read o = read_text(
        state,
        ".const .align 4 .b8 a[6] = {1, 255, -1, 0x10};\n.global .u32 b = 0x11223344;\n"
        ".global .f32 c[2][2] = {{1}, {0f40000000, -2.5}};\n.const .s16 d[] = {1, -2, 3U};\n"
        ".global .f64 e = 0d40091EB851EB851F;\n.global .b32 f = 0f3F800000;\n.global .v2 .u8 g[2] = {{1,2},{3,4}};\n"
        ".global .b8 z[2] = {};");
    assert_string_equal(o.said, "");
    PtxVar **v = o.module->vars.v;
    init_is(v[0], "\x01\xff\xff\x10\0\0", 6);
    init_is(v[1], "\x44\x33\x22\x11", 4);
    init_is(v[2], "\0\0\x80\x3f\0\0\0\0\0\0\0\x40\0\0\x20\xc0", 16);
    init_is(v[3], "\x01\0\xfe\xff\x03\0", 6);
    init_is(v[4], "\x1f\x85\xeb\x51\xb8\x1e\x09\x40", 8);
    init_is(v[5], "\0\0\x80\x3f", 4);
    init_is(v[6], "\x01\x02\x03\x04", 4);
    init_is(v[7], "\0\0", 2);
}

static void initial_addresses(void **state)
{
    Read o = read_text(state, ".global .b8 a[8];\n.func f ();\n.global .u64 p[4] = {1, generic(a)+8, a+-4, f};");
    assert_string_equal(o.said, "");
    const PtxVar *p = o.module->vars.v[1];
    init_is(p, "\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 32);
    assert_int_equal(p->nrelocs, 3);
    assert_int_equal(p->relocs[0].offset, 8);
    assert_ptr_equal(p->relocs[0].var, o.module->vars.v[0]);
    assert_true(p->relocs[0].generic);
    assert_int_equal(p->relocs[0].addend, 8);
    assert_int_equal(p->relocs[1].addend, -4);
    assert_false(p->relocs[1].generic);
    assert_string_equal(p->relocs[2].name, "f");
    assert_null(p->relocs[2].var);
    says(state, ".global .u64 p = nothing;", "1: the name `nothing` is not declared\n");
    says(state, ".global .u64 p = (.u32)1;", "1: constants are cast to .s64 or .u64, not to `.u32`\n");
    says(state, ".global .f32 p = 1.5 & 2;", "1: this operator works on integers only\n");
    says(state, ".global .u16 p = 1.5;", "1: a floating-point constant does not fit the type of `p`\n");
    says(state, ".reg .b32 p = 1;", "1: a register has no initial value\n");
    says(state, ".global .b8 p[-2];", "1: the size of an array is negative\n");
    says(state, ".global .b8 p[2][];", "1: only the first dimension of an array may be open\n");
    says(state, ".global .b8 p<3>;", "1: only registers are declared with `<..>`\n");
    says(state, ".global .b8 p[2] = {{{1}}};", "1: more braces than the array has dimensions\n");
    says(state, ".global .b8 a[8];\n.global .u64 p = a+1.5;", "2: a fraction stands where only an integer has a meaning\n");
    o = read_text(state, ".global .b8 a[64];\n.global .u64 p = a+8+16-4;");
    assert_string_equal(o.said, "");
    assert_int_equal(o.module->vars.v[1]->relocs[0].addend, 20);
}

static void functions(void **state)
{
    Read o = read_text(
        state,
        ".func (.param .b32 ret) f (.param .b32 a) .noreturn;\n"
        ".extern .func (.param .b32 ret0) vprintf (.param .b64 x, .param .b64 y)\n;\n"
        ".visible .entry k(\n  .param .u64 .ptr .global .align 16 p0,\n  .param .align 64 .b8 p1[128] // map\n)\n"
        ".maxntid 256, 1, 1\n.minnctapersm 2\n.explicitcluster .reqnctapercluster 2\n.pragma \"nounroll\";\n{\n "
        "ret;\n}\n"
        ".entry r .reqntid 32, 4 { exit; }\n.entry s .reqntid 4294967297 { exit; }\n"
        ".func  (.param .b32 ret) f(.param .b32 a)\n{\n ret;\n}\n.alias g, f;\n"
        ".func (.reg .u32 out) h (.reg .u32 in) { mov.u32 out, in; }\n");
    assert_string_equal(o.said, "");
    assert_int_equal(o.module->funcs.n, 6);
    assert_int_equal(func(&o, "s")->reqntid[0], UINT32_MAX);
    const PtxFunc *f = func(&o, "f"), *k = func(&o, "k"),
                  *h = func(&o, "h");
    assert_true(f->has_body); /* the declaration gave way */
    assert_false(f->is_entry);
    assert_int_equal(f->results.n, 1);
    assert_false(func(&o, "vprintf")->has_body);
    assert_true(k->is_entry && k->has_body);
    assert_int_equal(k->line, 4);
    assert_int_equal(k->params.n, 2);
    assert_int_equal(k->params.v[0]->bytes, 8);
    assert_int_equal(k->params.v[0]->align, 8); /* .align 16 is that of the memory pointed to */
    assert_int_equal(k->params.v[1]->bytes, 128);
    assert_int_equal(k->params.v[1]->align, 64);
    assert_int_equal(k->maxntid[0], 256);
    assert_int_equal(k->reqntid[0], 0);
    assert_int_equal(k->reqnctapercluster[0], 2);
    assert_int_equal(k->reqnctapercluster[1], 1);
    const PtxFunc *q = func(&o, "r");
    assert_int_equal(q->reqntid[0], 32);
    assert_int_equal(q->reqntid[1], 4);
    assert_int_equal(q->reqntid[2], 1);
    assert_int_equal(h->nregs, 2);
    operands_are(state, &h->instrs.v[0], "out, in");
    assert_int_equal(h->instrs.v[0].opd[1].var->index, 1);
}

static void branch_targets(void **state)
{
    const PtxFunc *k = good(
        state, ".entry k() {\n.reg .b32 %r<2>;\nts: .branchtargets A, B, A;\nbrx.idx %r0, ts;\nA: ret;\nB: exit;\n}");
    assert_int_equal(k->instrs.n, 3);
    const PtxOperand *ts = &k->instrs.v[0].opd[1];
    assert_int_equal(ts->kind, PTX_SYMBOL);
    assert_int_equal(ts->nitems, 3);
    assert_string_equal(ts->items[1].name, "B");
    assert_int_equal(ptx_find_label(k, 0, "B"), 2);
    assert_int_equal(ptx_find_label(k, 0, "C"), -1);
    says(state, ".entry k() { .branchtargets A; A: ret; }",
         "1: a list of targets needs a label before it, by which it is named\n");
}

static void indirect_call(void **state)
{
    const PtxFunc *k = good(
        state,
        ".entry k() {\n.reg .b64 %rd<2>;\n{ // callseq 0, 0\n.param .b32 param0;\n.param .align 8 .b8 retval0[16];\n"
        "prototype_0 : .callprototype (.param .align 8 .b8 _[16]) _ (.param .b32 _, .param .b64 _) .noreturn;\n"
        "call (retval0), \n%rd1, \n(\nparam0\n)\n, prototype_0;\n}\n"
        "p1: .callprototype ()_ ();\n}");
    operands_are(state, &k->instrs.v[0], "(var retval0), %rd1, (var param0), symbol prototype_0");
    assert_int_equal(k->instrs.v[0].line, 7);
    assert_int_equal(k->vars.n, 3);
    assert_int_equal(k->vars.v[0]->space, PTX_SPACE_PARAM);
}

/* ---- names ---- */

static void scopes(void **state)
{
    const PtxFunc *k = good(state, ".entry k() {\n.reg .b32 %r<9>; .reg .pred p;\n"
                                   "{\n.reg .b32 %r<2>; .reg .b64 p;\nL: mov.b32 %r1, %r8;\nbra L;\nbra OUT;\n}\n"
                                   "{ L: bra L; mov.b32 %r1, p; }\nOUT: mov.b32 %r1, p;\n}");
    assert_int_equal(k->scope_parent.n, 3);
    assert_int_equal(k->nregs, 9 + 1 + 2 + 1);
    const PtxInstr *in = k->instrs.v;
    assert_int_equal(in[0].opd[0].var->index, 10 + 1);
    assert_int_equal(in[0].opd[1].var->index, 8); /* the inner range is too short */
    assert_int_equal(in[4].opd[0].var->index, 1);
    assert_int_equal(in[4].opd[1].var->type, PTX_PRED);
    assert_int_equal(in[0].scope, 1);
    assert_int_equal(in[3].scope, 2);
    assert_int_equal(ptx_find_label(k, in[1].scope, "L"), 0);
    assert_int_equal(ptx_find_label(k, in[3].scope, "L"), 3);
    assert_int_equal(ptx_find_label(k, in[2].scope, "OUT"), 5);
    assert_int_equal(ptx_find_label(k, 0, "L"), -1);
    assert_int_equal(ptx_find_label(k, 77, "L"), -1);
    assert_ptr_equal(in[4].opd[0].name, in[5].opd[0].name);
}

static void registers(void **state)
{
    const PtxFunc *k = good(state, ".entry k() {\n.reg .pred %p<2>, q;\n.reg .v4 .f32 v, r<2>;\n.reg .b16 h;\n"
                                   "mov.b16 h, h;\nmov.f32 v.z, r1.x;\n@q ret;\nmov.v4.f32 v, r0;\n}");
    const PtxInstr *in = k->instrs.v;
    assert_int_equal(k->nregs, 2 + 1 + 4 + 8 + 1);
    assert_int_equal(in[0].opd[0].var->index, 15);
    assert_int_equal(in[0].opd[0].var->bytes, 2);
    assert_int_equal(in[1].opd[0].var->index, 3 + 2);
    assert_int_equal(in[1].opd[0].var->vec, 1);
    assert_int_equal(in[1].opd[1].var->index, 7 + 4);
    assert_int_equal(in[2].guard->index, 2);
    assert_ptr_equal(in[3].opd[0].items[2].var, in[1].opd[0].var);
    assert_int_equal(in[3].opd[1].items[3].var->index, 7 + 3);
    for (uint32_t i = 0; i < k->vars.n; i++) assert_true(k->vars.v[i]->index < k->nregs);
}

static void undeclared(void **state)
{
    says(
        state,
        ".entry k() {\n.reg .b32 %r<2>;\nmov.b32 %r1, %r2;\nmov.b32 %r2, %r2;\nbra L;\nmov.b32 %r01, there;\n@%p ret;\n"
        "mov.b32 %r1, %tid.q;\n}",
        "3: the register `%r2` is not declared\n4: the register `%r2` is not declared\n5: the name `L` is not "
        "declared\n"
        "6: the register `%r01` is not declared\n6: the name `there` is not declared\n7: the register `%p` is not "
        "declared\n"
        "8: `.q` stands where `,` or `;` should be\n");
}

static void kept_without_variable(void **state)
{
    Read o = read_text(state, ".entry k() { mov.b32 %r1, far; @!%p ret; }");
    const PtxFunc *k = func(&o, "k");
    assert_int_equal(o.problems, 3);
    assert_int_equal(k->instrs.n, 2);
    operands_are(state, &k->instrs.v[0], "%r1?, symbol far");
    assert_non_null(k->instrs.v[1].guard); /* never an instruction without its guard */
    assert_true(k->instrs.v[1].guard->index < k->nregs);
}

static void twice(void **state)
{
    says(state,
         ".entry k(.param .u32 a) {\n.reg .b32 a;\n.reg .b32 %r<3>;\n.reg .b32 %r<4>;\n.reg .b32 %r2;\n.reg .b32 %r3;\n"
         ".reg .b32 %q1;\n.reg .b32 %q<2>;\nL:\nL: ret;\n{ .reg .b32 %r<9>, a; L: ret; }\n}\n.global .u32 k;\n.global "
         ".u32 x, x;\n"
         ".entry k() { ret; }",
         "2: `a` is declared twice, first in line 1\n4: `%r` is declared twice, first in line 3\n"
         "5: `%r2` is declared twice, first in line 3\n8: `%q` is declared twice\n"
         "10: the label `L` stands twice in this scope, first in line 9\n13: `k` is declared twice, first in line 1\n"
         "14: `x` is declared twice, first in line 14\n15: `k` is declared twice, first in line 1\n");
}

/* ---- bare lists of instructions ---- */

static void bare(void **state)
{
    const PtxFunc *f = good(state,
                            "// a snippet\nmbarrier.init.shared::cta.b64 [mbar], 1;\n@p bra L;\nL: ret;\n{ bra L; }\n");
    assert_string_equal(f->name, "");
    assert_true(f->has_body);
    assert_false(f->is_entry);
    assert_int_equal(f->instrs.n, 4);
    operands_are(state, &f->instrs.v[0], "[symbol mbar], 1");
    assert_int_equal(f->instrs.v[3].scope, 1);
    assert_int_equal(ptx_find_label(f, 1, "L"), 2);
    f = good(state, ".version 8.6\n.target sm_90a\n.reg .b32 %r<2>;\nmov.b32 %r1, %r0;\n");
    assert_int_equal(f->instrs.v[0].opd[0].var->index, 1);
    says(state, ".reg .b32 %r<2>;\nmov.b32 %r1, %r2;\n.entry k() {\nmov.b32 %r0, 1;\n}\nmov.b32 %r0, 1;",
         "2: the register `%r2` is not declared\n4: the register `%r0` is not declared\n");
}

/* ---- errors ---- */

#define BODY(text) ".entry k() {\n.reg .b32 %r<9>; .reg .pred %p<2>;\n" text "\nmov.b32 %r8, 99;\n}\n"

/* One error, in line 3 or where `said` says, and the instruction behind it is read. */
static void wrong_at(void **state, const char *text, const char *expected, int line)
{
    Read o = read_text(state, text);
    assert_string_equal(o.said, expected);
    assert_non_null(o.module);
    const PtxFunc *k = func(&o, "k");
    assert_non_null(k);
    assert_true(k->has_body);
    assert_true(k->instrs.n > 0);
    const PtxInstr *last = &k->instrs.v[k->instrs.n - 1];
    mnemonic_is(last, "mov.b32");
    assert_int_equal(last->opd[1].value, 99);
    assert_int_equal(last->line, line);
}

static void recovery(void **state)
{
    wrong_at(state, BODY("add.s32 %r1, %r2, %r3"), "3: the line ends where `,` or `;` is missing\n", 4);
    wrong_at(state, BODY("add.s32 %r1, %r2 %r3;"), "3: `%r3` stands where `,` or `;` should be\n", 4);
    wrong_at(state, BODY("add.s32 %r1, %r2,"), "3: the line ends where an operand is missing\n", 4);
    wrong_at(state, BODY("mov.b64 {%r0 %r1}, %r2;"), "3: `%r1` stands where `,` or `}` should be\n", 4);
    wrong_at(state, BODY("mov.b64 {%r0, %r1, %r2;"), "3: `;` stands where `,` or `}` should be\n", 4);
    wrong_at(state, BODY("ld.global.u32 %r1, [%r2;"), "3: `;` stands where `,` or `]` should be\n", 4);
    wrong_at(state, BODY("ld.global.u32 %r1, [%r2"), "3: the line ends where `,` or `]` is missing\n", 4);
    wrong_at(state, BODY("cp.async.bulk.tensor.2d.shared::cta.global\n [%r0], [%r1 {%r2, %r3}],\n {%r3};"),
             "4: `{` stands where `,` or `]` should be\n", 6);
    wrong_at(state, BODY("] add.s32;"), "3: `]` can't begin an instruction or a directive\n", 4);
    wrong_at(state, BODY(".foo 3;"), "3: `.foo` is no directive that stands here\n", 4);
    wrong_at(state, BODY("mov.b32 %r1, 12ab;"), "3: `12ab`: this is no number\n", 4);
    wrong_at(state, BODY("mov.f32 %r1, 0f12;"), "3: `0f12`: 0f takes 8 hexadecimal digits\n", 4);
    wrong_at(state, BODY("mov.b32 %r1, \"x;"), "3: this string is not closed on its line\n", 4);
    wrong_at(state, BODY("mov.b32 %r1, \xff\xfe;"), "3: the byte 0xff is not UTF-8 and has no meaning here\n", 4);
    wrong_at(state,
             BODY("mov.b32 %r1, \xe2\x88\x92"
                  "1;"),
             "3: `\xe2\x88\x92` has no meaning in PTX\n", 4);
    wrong_at(state, BODY(".reg .u33 z;"), "3: `.u33` stands where a name or a type should be\n", 4);
    wrong_at(state, BODY(".reg .b32 z\nadd.s32 %r1, %r2, 3;"), "3: the line ends where `,`, `;` or `=` is missing\n",
             5);
    wrong_at(state, BODY("@%p0 @%p1 ret;"), "3: `@` stands where a name should be\n", 4);
    wrong_at(state, BODY("{ mov.b32 %r1, 4 }"), "3: `}` stands where `,` or `;` should be\n", 4);
    wrong_at(state, BODY("mov.b32 %r1, /* never\nadd.s32 %r1, %r2, 3;"),
             "3: this comment is never closed\n"
             "3: the line ends where an operand is missing\n",
             5);
    wrong_at(state, BODY("# include <x>"), "3: preprocessor lines are not read: run the preprocessor first\n", 4);
    wrong_at(state, BODY("# 12 \"x.ptx\""), "", 4);
    wrong_at(state, BODY("mov.b32 %r1, 1 / 0;"), "3: a constant is divided by 0\n", 4);
    wrong_at(state, BODY("mov.b32 %r1, 18446744073709551616;"), "3: 18446744073709551616 is larger than 64 bits\n", 4);
    wrong_at(state, BODY("mov.b32 %r1 %r2; mov.b32 %r1, 98;"), "3: `%r2` stands where `,` or `;` should be\n", 4);
    wrong_at(state, BODY(".loc 1 2"), "3: the line ends where a number is missing\n", 4);
}

static void wrong_heads(void **state)
{
    wrong_at(state, ".entry k(.param .u64 a b,\n.param .u64 c)\n{\nmov.b32 c, 99;\n}",
             "1: `b` stands where `,` or `)` should be\n"
             "4: the name `c` is not declared\n",
             4);
    wrong_at(state, ".entry k(.param .u64 a\n.reg .b32 %r<9>;\nmov.b32 %r1, 99;\n}",
             "1: the line ends where `,` or `)` is missing\n", 3);
}

static void unclosed(void **state)
{
    wrong_at(state, ".entry k() {\n.reg .b32 %r<9>;\nmov.b32 %r1, 99;\n.visible .entry l() {\nret;\n}\n",
             "4: the body of `k` (line 1) is not closed before this\n", 3);
    says(state, ".entry k() {\nret;\n", "1: the body of `k` is not closed\n");
    says(state, "ret;\n}\nret;", "2: this `}` closes nothing\n");
    says(state, "ret;\n{\nret;", "2: this scope is not closed\n");
    says(state, ".section .debug_str {\n.b8 1", "1: this section is not closed\n");
    says(state, "add.s32 a, b", "1: the text ends where `,` or `;` is missing\n");
}

static void limits(void **state)
{
    enum { MANY = 20000 };
    char *text = malloc(MANY + 64);
    assert_non_null(text);
    memset(text, '{', MANY);
    Read o = read_bytes(state, text, MANY);
    assert_null(o.module);
    assert_string_equal(o.said, "1: more than 100 scopes are open; nothing behind this line is read\n");
    memcpy(text, "add.s32 a, ", 11);
    memset(text + 11, '(', MANY - 11);
    o = read_bytes(state, text, MANY);
    assert_string_equal(o.said, "1: more than 100 brackets are inside each other\n");
    memset(text + 11, '-', MANY - 11);
    o = read_bytes(state, text, MANY);
    assert_string_equal(o.said, "1: this is nested too deeply\n");
    free(text);
    says(state, ".entry k() { .reg .b32 %r<2000000>; }", "1: a function has more than 1048576 registers\n");
    says(state, ".global .b8 a[99999999999] = {1};", "1: the initial values of a module have at most 67108864 bytes\n");
    says(state, ".global .u64 a[4611686018427387904];", "1: `a` is larger than 64 bits can address\n");
    says(state, ".global .b8 a[2] = {1,2,3,4};", "1: more initial values than `a` has elements\n");
    says(state, ".global .b32 a[][1537228672809129301] = {{},{},{},1};", "1: the initial values of a module have at most 67108864 bytes\n");
    says(state, ".global .b32 a[][2305843009213693951] = {{},{},{},{},{1}};", "1: the initial values of a module have at most 67108864 bytes\n");
    says(state, ".file 70000 \"x\"", "1: the number of a .file is at most 65535\n");
}

/* ---- many texts ---- */

static char *load(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t cap = 1 << 16, n = 0, got;
    char *text = malloc(cap);
    assert_non_null(text);
    while ((got = fread(text + n, 1, cap - n, f)) > 0) {
        n += got;
        if (n < cap) continue;
        char *more = realloc(text, cap *= 2);
        assert_non_null(more);
        text = more;
    }
    fclose(f);
    *size = n;
    return text;
}

/* Lines that end with `;` and begin with no dot or brace: instructions of the compiler's PTX stand one a line. */
static uint32_t instructions_of(const char *text, size_t size)
{
    uint32_t n = 0;
    for (const char *p = text, *end; p < text + size; p = end + 1) {
        end = memchr(p, '\n', (size_t)(text + size - p));
        if (end == NULL) end = text + size;
        while (p < end && *p == ' ') p++;
        const char *semi = memchr(p, ';', (size_t)(end - p));
        n += p < end && semi && strchr("./}", *p) == NULL;
    }
    return n;
}

static uint32_t read_tree(void **state, const char *folder, char *some, size_t size)
{
    DIR *d = opendir(folder);
    uint32_t files = 0;
    assert_non_null(d);
    for (const struct dirent *e; (e = readdir(d)) != NULL;) {
        char path[1024];
        size_t n = strlen(e->d_name);
        if (e->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (strchr(e->d_name, '.') == NULL) {
            files += read_tree(state, path, some, size);
            continue;
        }
        if (n < 4 || strcmp(e->d_name + n - 4, ".ptx") != 0) continue;
        size_t bytes;
        char *text = load(path, &bytes);
        Read o = read_bytes(state, text, bytes);
        if (o.problems) print_message("%s:%s\n", path, o.said);
        assert_int_equal(o.problems, 0);
        uint32_t instrs = 0;
        for (uint32_t i = 0; i < o.module->funcs.n; i++) instrs += o.module->funcs.v[i]->instrs.n;
        assert_int_equal(instrs, instructions_of(text, bytes));
        assert_non_null(o.module->target);
        free(text);
        if (bytes > 2000 && bytes < 5000) snprintf(some, size, "%s", path);
        files++;
    }
    closedir(d);
    return files;
}

static void golden(void **state)
{
    const char *root = getenv("ROOT");
    char folder[900], some[1024] = "";
    if (root == NULL) skip();
    snprintf(folder, sizeof folder, "%s/tests/golden", root);
    assert_true(read_tree(state, folder, some, sizeof some) > 50);

    /* Cut at every byte: something comes out, and only what is cut is missing. */
    size_t size;
    assert_true(some[0]);
    char *text = load(some, &size);
    for (size_t n = 0; n < size; n++) {
        Room *room = *state;
        ArenaMark mark = arena_mark(&room->arena);
        Read o = read_bytes(state, text, n);
        assert_non_null(o.module);
        assert_true(o.problems <= 3);
        arena_release(&room->arena, mark);
    }
    free(text);
}

static void random_bytes(void **state)
{
    static const char *const pieces[] = {"{",
                                         "}",
                                         "[",
                                         "]",
                                         "(",
                                         ")",
                                         ";",
                                         ",",
                                         ":",
                                         "@%p ",
                                         "!",
                                         "-",
                                         "+ 1",
                                         "<5>",
                                         "=",
                                         "|",
                                         "_",
                                         "mov.b32 ",
                                         "call ",
                                         "%r1",
                                         "v.x",
                                         "L",
                                         ".reg ",
                                         ".b32 ",
                                         ".entry ",
                                         ".func ",
                                         ".param ",
                                         ".global ",
                                         ".v4 ",
                                         ".align 8 ",
                                         "\n",
                                         "\n",
                                         " ",
                                         "0x1F",
                                         "1.5",
                                         "\"s\"",
                                         "/*",
                                         "*/",
                                         "//",
                                         ".loc 1 2 3",
                                         ".version 8.6",
                                         ".target a",
                                         ".section ",
                                         ".branchtargets ",
                                         ".callprototype ",
                                         ".pragma ",
                                         ".reqntid ",
                                         ".extern ",
                                         "\xff",
                                         "#",
                                         ".shared::cta"};
    uint64_t seed = 12345;
    for (unsigned round = 0; round < 3000; round++) {
        Room *room = *state;
        ArenaMark mark = arena_mark(&room->arena);
        char text[600];
        size_t n = 0;
        while (n < 500) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            unsigned pick = (unsigned)(seed >> 33);
            if (round % 4 == 0) {
                text[n++] = (char)pick;
            } else {
                const char *piece = pieces[pick % (sizeof pieces / sizeof *pieces)];
                memcpy(text + n, piece, strlen(piece));
                n += strlen(piece);
            }
        }
        Read o = read_bytes(state, text, n);
        for (uint32_t i = 0; o.module && i < o.module->funcs.n; i++) {
            const PtxFunc *f = o.module->funcs.v[i];
            for (uint32_t k = 0; k < f->vars.n; k++)
                assert_true(f->vars.v[k]->space != PTX_SPACE_REG || f->vars.v[k]->index < f->nregs);
            for (uint32_t k = 0; k < f->instrs.n; k++) assert_true(f->instrs.v[k].scope < f->scope_parent.n);
        }
        arena_release(&room->arena, mark);
    }
}

static void initial_parts_of_addresses(void **state)
{
    Read o = read_text(state, ".global .u32 w;\n.global .u8 b[3] = {0xFF(w), 0xFF00(w+4), 1};\n.global .u64 p = w;");
    assert_string_equal(o.said, "");
    const PtxVar *b = o.module->vars.v[1];
    assert_int_equal(b->nrelocs, 2);
    assert_int_equal(b->relocs[0].byte, 0);
    assert_int_equal(b->relocs[1].byte, 1);
    assert_int_equal(b->relocs[1].offset, 1);
    assert_int_equal(b->relocs[1].addend, 4);
    assert_int_equal(o.module->vars.v[2]->relocs[0].byte, WHOLE_ADDRESS);
    says(state, ".global .u32 w;\n.global .u8 b = 0xFF0(w);",
         "2: a mask of an address is one byte of ones: 0xFF, 0xFF00, ..\n");
    says(state, ".global .u32 w;\n.global .u8 b = w;", "2: an address does not fit the type of `b`\n");
    says(state, ".global .u32 w;\n.global .u64 b = w-8;",
         "2: a name takes an offset by `+` alone: `name+-8` for `name-8`\n");
    says(state, ".global .texref t = {channel_data_type = 1, filter_mode = nearest};", "");
    says(state, ".global .u32 t = {filter_mode = nearest};",
         "1: only textures, samplers and surfaces have attributes\n");
}

static void marks_and_ends(void **state)
{
    says(state, "#line 5 \"x\"\n# line 6 \"x\" 3\nret;\n\x1a", "");
    says(state, "#line 5\nret;", "1: preprocessor lines are not read: run the preprocessor first\n");
    says(state, "ret;\n;", "2: this `;` ends nothing\n");
    says(state, ".entry k() {\n.reg .b32 %r<2>;\nld.shared.u32 %r1, [%r0-8];\n}",
         "3: a name takes an offset by `+` alone: `name+-8` for `name-8`\n");
}

/* A wrong declaration is one mistake, not one more for every use. */
static void wrong_declarations_declare(void **state)
{
    says(state, ".entry k() {\n.reg .u33 %r<9>;\n.shared .b32 a[x];\nst.shared.u32 [a], %r1;\n}",
         "2: `.u33` stands where a name or a type should be\n3: `x` stands where a number or `]` should be\n");
}

typedef struct Seen {
    char text[200];
} Seen;

static void see(void *user, const PtxDefect *d)
{
    Seen *s = user;
    size_t at = strlen(s->text);
    snprintf(s->text + at, sizeof s->text - at, "%u:%u:%d ", (unsigned)d->line, (unsigned)d->column, (int)d->kind);
}

static void columns(void **state)
{
    Room *room = *state;
    Seen s = {""};
    static const char text[] =
        ".target sm_90\n.version 8.0\n.entry k() {\n.reg .b32 r;\n@r mov.b32 u, v;\n add r r;\n}";
    assert_non_null(ptx_examine(&room->arena, text, sizeof text - 1, see, &s, NULL));
    assert_string_equal(s.text, "1:1:1 5:2:3 5:12:2 5:15:2 6:8:0 ");
}

static void glued(void **state)
{
    const PtxFunc *f = good(state,
                            "mbarrier.init .shared.b64 [mbar], 1;\nshf.r.wrap.b32 a, b, c, d;\nfence /**/.sc;\n");
    assert_int_equal(f->instrs.v[0].glued, 1);
    assert_int_equal(f->instrs.v[1].glued, 3);
    assert_int_equal(f->instrs.v[2].glued, 0);
    instr(state, "tex.2d.v4.f32.f32 {v.x, v.y, v.z, v.w}|%p1, [%rd0, w0];", "tex.2d.v4.f32.f32",
          "|{v.x v.y v.z v.w} %p1|, <%rd0 {w0.x w0.y}>");
}

static void types(void **state)
{
    (void)state;
    PtxType t;
    assert_true(ptx_type_find(".u32", &t));
    assert_int_equal(t, PTX_U32);
    assert_true(ptx_type_find(".bf16x2", &t));
    assert_int_equal(ptx_type_bytes(t), 4);
    assert_false(ptx_type_find("u32", &t));
    assert_false(ptx_type_find(".tf32", &t));
    assert_int_equal(ptx_type_bytes(PTX_PRED), 0);
    assert_int_equal(ptx_type_bytes(PTX_B128), 16);
    assert_int_equal(ptx_type_bytes(PTX_NO_TYPE), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_room(modifiers),
        in_room(operand_kinds),
        in_room(guards_and_lines),
        in_room(module_head),
        in_room(places),
        in_room(variables),
        in_room(initial_values),
        in_room(initial_addresses),
        in_room(functions),
        in_room(branch_targets),
        in_room(indirect_call),
        in_room(scopes),
        in_room(registers),
        in_room(undeclared),
        in_room(kept_without_variable),
        in_room(twice),
        in_room(bare),
        in_room(recovery),
        in_room(wrong_heads),
        in_room(unclosed),
        in_room(limits),
        in_room(golden),
        in_room(random_bytes),
        cmocka_unit_test(types),
        in_room(initial_parts_of_addresses),
        in_room(marks_and_ends),
        in_room(wrong_declarations_declare),
        in_room(columns),
        in_room(glued),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
