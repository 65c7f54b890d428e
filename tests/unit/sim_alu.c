/* The simulator's arithmetic: against what an H200 gives for the same instructions, against the pseudo-code of the PTX
 * ISA, and against formats and roundings computed by search.
 *
 * tests/data/sim_alu/h200.txt: every instruction was run on 256 operand triples. %da %db %dc are the triple, %ra and
 * %ha its low 32 and 16 bits, %pa its lowest bit; results go to %?o and %?q, which are 0 before. Per triple 40 bytes
 * were kept: %ho %hq (2 each), %ro %rq %po %pq (4 each), 4 unused, %do %dq (8 each); the hash is FNV-1a of them all.
 * Left out are approximate instructions, and operands for which the ISA leaves the result open.
 */
#include "tests/unit/lang_fixture.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/exec/alu.h"

/* ---- one operation ---- */
enum { D, A, B, C, E, SLOTS };
static uint64_t run(SimOpcode code, int type, int n, int flags, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t s[SLOTS] = {0, a, b, c, 0};
    SimOp op = {.code = (uint16_t)code, .type = (uint8_t)type, .n = (uint8_t)n, .flags = (uint8_t)flags, .extra = 8};
    op.d = D;
    op.a = A;
    op.b = B;
    op.c = C;
    assert_true(sim_alu(&op, s));
    return s[D];
}

static uint64_t next_random(uint64_t *x)
{
    uint64_t z = *x += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* ---- the H200 ---- */
enum { TRIPLES = 256, KEPT = 40, IN = 0x10000, OUT = 0x20000 };
typedef struct Device {
    uint64_t in[TRIPLES][3];
    uint8_t out[64];
} Device;

static void ignore(void *user, uint32_t line, const char *text)
{
    (void)user;
    print_message("line %" PRIu32 ": %s\n", line, text);
}

static const char *const registers =
    ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 pin, .param .u64 pout)\n{\n"
    ".reg .b16 %ha,%hb,%hc,%ho,%hq; .reg .b32 %ra,%rb,%rc,%ro,%rq,%rz;\n"
    ".reg .b64 %da,%db,%dc,%do,%dq,%di,%dp; .reg .pred %pa,%pb,%pc,%po,%pq;\n"
    "ld.param.u64 %di,[pin]; ld.param.u64 %dp,[pout];\n"
    "ld.global.u64 %da,[%di]; ld.global.u64 %db,[%di+8]; ld.global.u64 %dc,[%di+16];\n"
    "cvt.u32.u64 %ra,%da; cvt.u32.u64 %rb,%db; cvt.u32.u64 %rc,%dc;\n"
    "cvt.u16.u64 %ha,%da; cvt.u16.u64 %hb,%db; cvt.u16.u64 %hc,%dc;\n"
    "and.b32 %rz,%ra,1; setp.ne.u32 %pa,%rz,0; and.b32 %rz,%rb,1; setp.ne.u32 %pb,%rz,0;\n"
    "and.b32 %rz,%rc,1; setp.ne.u32 %pc,%rz,0; mov.b16 %ho,0; mov.b16 %hq,0; mov.b32 %ro,0; mov.b32 %rq,0;\n"
    "mov.b64 %do,0; mov.b64 %dq,0; setp.ne.u32 %po,0,0; setp.ne.u32 %pq,0,0;\n";
static const char *const results =
    "\nst.global.u16 [%dp],%ho; st.global.u16 [%dp+2],%hq; st.global.u32 [%dp+4],%ro; st.global.u32 [%dp+8],%rq;\n"
    "selp.u32 %rz,1,0,%po; st.global.u32 [%dp+12],%rz; selp.u32 %rz,1,0,%pq; st.global.u32 [%dp+16],%rz;\n"
    "st.global.u64 [%dp+24],%do; st.global.u64 [%dp+32],%dq; ret;\n}\n";

static void step(Device *v, const SimOp *op, uint64_t *s, int triple)
{
    uint64_t at = s[op->a == NO_SLOT ? 0 : op->a] + (uint64_t)op->imm;
    if (op->code == SIM_LD && op->extra == PTX_SPACE_PARAM) s[op->d] = at ? OUT : IN;
    else if (op->code == SIM_LD) s[op->d] = v->in[triple][(at - IN) / 8];
    else if (op->code == SIM_ST) memcpy(v->out + (at - OUT), &s[op->d], (size_t)ptx_type_bytes((PtxType)op->type));
    else assert_true(sim_alu(op, s));
}

static uint64_t hash_of(Device *v, const SimProgram *p)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    uint64_t *s = calloc(p->nslots, sizeof *s);
    for (int triple = 0; triple < TRIPLES; triple++) {
        for (uint32_t i = 0; i < p->nslots; i++) s[i] = UINT64_C(0xa5a5a5a5a5a5a5a5);
        for (uint32_t i = 0; i < p->nconsts; i++) s[p->consts[i].slot] = p->consts[i].value;
        memset(v->out, 0, sizeof v->out);
        for (uint32_t i = 0; p->ops[i].code != SIM_EXIT; i++) step(v, &p->ops[i], s, triple);
        for (int i = 0; i < KEPT; i++) h = (h ^ v->out[i]) * UINT64_C(0x100000001b3);
    }
    free(s);
    return h;
}

/* The program of one instruction; NULL: it can't be read or decoded. */
static const SimProgram *program_of(Arena *a, const char *instruction)
{
    uint32_t problems = 0;
    char *text = arena_printf(a, "%s%s%s", registers, instruction, results);
    const PtxModule *m = ptx_read(a, text, strlen(text), ignore, NULL, &problems);
    const SimModule *s = m && !problems ? sim_decode(a, m, ignore, NULL, &problems) : NULL;
    return s ? sim_program(s, "k") : NULL;
}

static void results_are_those_of_an_h200(void **state)
{
    Room *r = *state;
    Device v = {0};
    char line[400], path[1000];
    const char *root = getenv("ROOT");
    snprintf(path, sizeof path, "%s/tests/data/sim_alu/h200.txt", root ? root : "..");
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    int triples = 0, wrong = 0, checked = 0;
    while (fgets(line, sizeof line, f)) {
        uint64_t *t = v.in[triples < TRIPLES ? triples : 0];
        if (line[0] == '#' || line[0] == '\n') continue;
        if (triples < TRIPLES) {
            assert_int_equal(sscanf(line, "%" SCNx64 " %" SCNx64 " %" SCNx64, &t[0], &t[1], &t[2]), 3);
            triples++;
            continue;
        }
        ArenaMark mark = arena_mark(&r->arena);
        const SimProgram *p = program_of(&r->arena, line + 17);
        bool same = p && hash_of(&v, p) == strtoull(line, NULL, 16);
        if (!same) print_message("differs: %s", line);
        wrong += !same;
        checked++;
        arena_release(&r->arena, mark);
    }
    fclose(f);
    assert_int_equal(wrong, 0);
    assert_true(checked > 1000);
}

/* ---- integers ---- */
/* The pseudo-code of PTX ISA, bfe. */
static uint64_t bfe_of_the_isa(uint64_t a, uint32_t pos, uint32_t len, int msb, bool sign)
{
    uint32_t last = pos + len - 1 < (uint32_t)msb ? pos + len - 1 : (uint32_t)msb;
    uint64_t s = sign && len ? a >> last & 1 : 0, d = 0;
    for (uint32_t i = 0; i <= (uint32_t)msb; i++)
        d |= (i < len && pos + i <= (uint32_t)msb ? a >> (pos + i) & 1 : s) << i;
    return d;
}

static void bit_fields_are_extracted_as_the_isa_says(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (uint32_t pos = 0; pos < 256; pos++) {
        for (uint32_t len = 0; len < 256; len += len < 70 ? 1 : 37) {
            uint64_t a = next_random(&seed);
            assert_int_equal(run(SIM_BFE_U32, 0, 0, 0, a, pos, len), bfe_of_the_isa(a, pos, len, 31, false));
            assert_int_equal(run(SIM_BFE_S32, 0, 0, 0, a, pos, len), bfe_of_the_isa(a, pos, len, 31, true));
            assert_int_equal(run(SIM_BFE_U64, 0, 0, 0, a, pos, len), bfe_of_the_isa(a, pos, len, 63, false));
            assert_int_equal(run(SIM_BFE_S64, 0, 0, 0, a, pos, len), bfe_of_the_isa(a, pos, len, 63, true));
        }
    }
}

/* The high half by pencil and paper, base 2^16. */
static uint64_t high_half(uint64_t a, uint64_t b)
{
    uint32_t digit[8] = {0};
    for (int i = 0; i < 4; i++) {
        uint64_t carry = 0;
        for (int k = 0; k < 4; k++) {
            carry += digit[i + k] + (a >> 16 * i & 0xffff) * (b >> 16 * k & 0xffff);
            digit[i + k] = carry & 0xffff;
            carry >>= 16;
        }
        digit[i + 4] = (uint32_t)carry;
    }
    return digit[4] | digit[5] << 16 | (uint64_t)digit[6] << 32 | (uint64_t)digit[7] << 48;
}

static void products_have_their_high_half(void **state)
{
    (void)state;
    uint64_t seed = 2;
    for (int i = 0; i < 10000; i++) {
        uint64_t a = next_random(&seed) >> i % 60, b = next_random(&seed) >> i % 47;
        if (i % 3 == 0) a = 0 - a;
        uint64_t high = high_half(a, b), s = high - (a >> 63 ? b : 0) - (b >> 63 ? a : 0);
        assert_int_equal(run(SIM_MULHI_U64, 0, 0, 0, a, b, 0), high);
        assert_int_equal(run(SIM_MULHI_S64, 0, 0, 0, a, b, 0), s);
        assert_int_equal(run(SIM_MADHI_U64, 0, 0, 0, a, b, 77), high + 77);
    }
}

static void division_by_zero_and_overflow_have_a_result(void **state)
{
    (void)state;
    uint64_t least = UINT64_C(1) << 63;
    assert_int_equal(run(SIM_DIV_S32, 0, 0, 0, 5, 0, 0), UINT32_MAX);
    assert_int_equal(run(SIM_REM_U64, 0, 0, 0, 5, 0, 0), UINT64_MAX);
    assert_int_equal(run(SIM_DIV_S32, 0, 0, 0, 0x80000000, UINT32_MAX, 0), 0x80000000);
    assert_int_equal(run(SIM_REM_S32, 0, 0, 0, 0x80000000, UINT32_MAX, 0), 0);
    assert_int_equal(run(SIM_DIV_S64, 0, 0, 0, least, UINT64_MAX, 0), least);
    assert_int_equal(run(SIM_REM_S64, 0, 0, 0, least, UINT64_MAX, 0), 0);
    assert_int_equal(run(SIM_DIV_S16, 0, 0, 0, 0x8000, 0xffff, 0), 0x8000);
    assert_int_equal(run(SIM_DIV_S16, 0, 0, 0, 0xfff9, 2, 0), 0xfffd); /* -7 / 2 is -3 */
    assert_int_equal(run(SIM_REM_S16, 0, 0, 0, 0xfff9, 2, 0), 0xffff);
}

static void operands_are_read_by_their_type(void **state)
{
    (void)state;
    uint64_t dirt = UINT64_C(0xdeadbeef00000000);
    assert_int_equal(run(SIM_ADD_U32, 0, 0, 0, dirt | UINT32_MAX, dirt | 2, 0), 1);
    assert_int_equal(run(SIM_MIN_S32, 0, 0, 0, dirt | UINT32_MAX, dirt | 2, 0), UINT32_MAX);
    assert_int_equal(run(SIM_SETP_LT_S16, 0, 0, 0, dirt | 0x1ffff, 0x70000, 0), 1);
    assert_int_equal(run(SIM_SHR_S16, 0, 0, 0, dirt | 0x8000, 15, 0), 0xffff);
    assert_int_equal(run(SIM_SEXT_32_64, 0, 0, 0, dirt | 0x80000000, 0, 0), UINT64_C(0xffffffff80000000));
    assert_int_equal(run(SIM_DIV_U16, 0, 0, 0, dirt | 0x10009, dirt | 0x20002, 0), 4);
}

static void other_operations_are_refused(void **state)
{
    (void)state;
    static const SimOpcode codes[] = {SIM_EXIT, SIM_BRA,  SIM_FORM, SIM_LD,  SIM_ST,      SIM_OPERAND, SIM_ATOM,
                                      SIM_CVTA, SIM_SHFL, SIM_VOTE, SIM_BAR, SIM_SPECIAL, SIM_NOP,     SIM_TRAP};
    uint64_t s[SLOTS] = {0};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        SimOp op = {.code = (uint16_t)codes[i], .d = D, .a = NO_SLOT, .b = NO_SLOT, .c = NO_SLOT};
        assert_false(sim_alu(&op, s));
    }
    SimOp beyond = {.code = SIM_OPCODE_COUNT, .d = NO_SLOT, .a = NO_SLOT, .b = NO_SLOT, .c = NO_SLOT};
    assert_false(sim_alu(&beyond, s));
}

/* ---- formats ---- */
/* The value of a positive code, by the definition of the format. */
static double value_of(uint32_t code, int mantissa, int bias)
{
    uint32_t e = code >> mantissa, m = code & ((1u << mantissa) - 1);
    return e ? ldexp((double)(m + (1u << mantissa)), (int)e - bias - mantissa) : ldexp(m, 1 - bias - mantissa);
}

/* Between each two neighbours: who gets what lies below, at and above their middle. */
static void f16_is_rounded_in_every_mode(void **state)
{
    (void)state;
    for (uint32_t code = 0; code < 0x7bff; code++) {
        double low = value_of(code, 10, 15), high = value_of(code + 1, 10, 15), middle = (low + high) / 2;
        uint32_t even = code & 1 ? code + 1 : code;
        uint64_t below = alu_f64_bits(nextafter(middle, 0)), at = alu_f64_bits(middle);
        uint64_t above = alu_f64_bits(nextafter(middle, 1e9)), minus = UINT64_C(1) << 63;
        assert_int_equal(run(SIM_CVT_FF, PTX_F16, PTX_F64, FLAG_RN, below, 0, 0), code);
        assert_int_equal(run(SIM_CVT_FF, PTX_F16, PTX_F64, FLAG_RN, at, 0, 0), even);
        assert_int_equal(run(SIM_CVT_FF, PTX_F16, PTX_F64, FLAG_RN, above, 0, 0), code + 1);
        assert_int_equal(run(SIM_CVT_FF, PTX_F16, PTX_F64, FLAG_RZ, above, 0, 0), code);
        assert_int_equal(run(SIM_CVT_FF, PTX_F16, PTX_F64, FLAG_RP, below, 0, 0), code + 1);
        assert_int_equal(run(SIM_CVT_FF, PTX_F16, PTX_F64, FLAG_RM, below | minus, 0, 0), 0x8000 | (code + 1));
        assert_int_equal(run(SIM_CVT_FF, PTX_F16, PTX_F64, FLAG_RP, above | minus, 0, 0), 0x8000 | code);
        assert_true(alu_f64(run(SIM_CVT_FF, PTX_F64, PTX_F16, 0, code, 0, 0)) == low);
        assert_int_equal(run(SIM_CVT_FF, PTX_F16, PTX_F64, FLAG_RN, alu_f64_bits(-low), 0, 0), 0x8000 | code);
    }
}

/* The nearest of all codes, of two the even one. */
static uint32_t nearest(double x, int mantissa, int bias, uint32_t most)
{
    uint32_t best = 0;
    for (uint32_t c = 1; c <= most; c++) {
        double was = fabs(x - value_of(best, mantissa, bias)), is = fabs(x - value_of(c, mantissa, bias));
        if (is < was || (is == was && !(c & 1))) best = c;
    }
    return best;
}

static void eight_bit_floats_are_the_nearest(void **state)
{
    (void)state;
    for (uint32_t h = 0; h < 0x7c00; h += 3) {
        double x = value_of(h, 10, 15);
        uint64_t four = run(SIM_CVT_X2, ALU_E4M3X2, PTX_F16X2, FLAG_SATFINITE, h | (h | 0x8000) << 16, 0, 0);
        uint64_t five = run(SIM_CVT_X2, ALU_E5M2X2, PTX_F16X2, FLAG_SATFINITE, h | (h | 0x8000) << 16, 0, 0);
        uint32_t c4 = nearest(x, 3, 7, 0x7e), c5 = nearest(x, 2, 15, 0x7b);
        assert_int_equal(four, c4 | (c4 | 0x80) << 8);
        assert_int_equal(five, c5 | (c5 | 0x80) << 8);
    }
    for (uint32_t c = 0; c < 0x7f; c++) {
        uint64_t h = run(SIM_CVT_X2, PTX_F16X2, ALU_E4M3X2, 0, c, 0, 0);
        assert_true(alu_f64(run(SIM_CVT_FF, PTX_F64, PTX_F16, 0, h, 0, 0)) == value_of(c, 3, 7));
    }
    assert_int_equal(run(SIM_CVT_X2, PTX_F16X2, ALU_E4M3X2, 0, 0x7fff, 0, 0), 0x7fff7fff);
    assert_int_equal(run(SIM_CVT_X2, PTX_F16X2, ALU_E5M2X2, 0, 0x7cfc, 0, 0), 0x7c00fc00);
}

/* A directed result is the neighbour of the exact one on its side; products of f32 are exact in double. */
static void f32_products_are_rounded_to_their_side(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int i = 0; i < 200000; i++) {
        float a = alu_f32(next_random(&seed)), b = alu_f32(next_random(&seed));
        double exact = (double)a * (double)b;
        if (!(fabs(exact) < 3e38) || fabs(exact) < 1e-37) continue;
        uint64_t x = alu_f32_bits(a), y = alu_f32_bits(b);
        float down = alu_f32(run(SIM_FMUL, PTX_F32, 0, FLAG_RM, x, y, 0));
        float up = alu_f32(run(SIM_FMUL, PTX_F32, 0, FLAG_RP, x, y, 0));
        float zero = alu_f32(run(SIM_FMUL, PTX_F32, 0, FLAG_RZ, x, y, 0));
        assert_true((double)down <= exact && exact <= (double)up);
        assert_true(down == up ? (double)down == exact : nextafterf(down, INFINITY) == up);
        assert_true(zero == (exact > 0 ? down : up));
    }
}

/* A small term decides about a tie: the sum is not rounded twice. */
static void sums_are_rounded_once(void **state)
{
    (void)state;
    uint64_t one = 0x3c00, step = 0x1000 /* 2^-11: half a step of 1 */, tiny = 1;
    assert_int_equal(run(SIM_FADD, PTX_F16, 0, 0, one, step, 0), one);
    assert_int_equal(run(SIM_FFMA, PTX_F16, 0, 0, one, step, one), one);
    assert_int_equal(run(SIM_FFMA, PTX_F16, 0, 0, 0x0c01 /* more than 2^-12 */, 0x4000 /* 2 */, one), one + 1);
    assert_int_equal(run(SIM_FFMA, PTX_F16, 0, FLAG_RELU, 0xbc00, one, 0), 0);
    uint64_t f1 = alu_f32_bits(1), half = alu_f32_bits(0x1p-24f), least = tiny;
    assert_int_equal(run(SIM_ADD_F32, PTX_F32, 0, 0, f1, half, 0), f1);
    assert_int_equal(run(SIM_FADD, PTX_F32, 0, FLAG_RP, f1, least, 0), f1 + 1);
    assert_int_equal(run(SIM_FADD, PTX_F32, 0, FLAG_RM, f1, least | 0x80000000, 0), f1 - 1);
    assert_int_equal(run(SIM_FADD, PTX_F32, 0, FLAG_RZ, f1, least | 0x80000000, 0), f1 - 1);
    assert_int_equal(run(SIM_FADD, PTX_F32, 0, FLAG_RM, f1, f1 | 0x80000000, 0), 0x80000000);
    assert_int_equal(run(SIM_FADD, PTX_F32, 0, FLAG_FTZ, 0x00400000, 0x00400001, 0), 0);
    assert_int_equal(run(SIM_FADD, PTX_F32, 0, FLAG_RZ, 0x7f7fffff, 0x7f7fffff, 0), 0x7f7fffff);
}

/* PTX ISA, cvt: clamped; NaN is 0, with 64 bits on either side the middle of the range. */
static void floats_outside_the_range_of_integers_are_clamped(void **state)
{
    (void)state;
    uint64_t nan32 = 0x7fffffff, nan64 = UINT64_C(0x7ff8000000000000), big = alu_f32_bits(1e30f), least = 0x80000000;
    assert_int_equal(run(SIM_CVT_FI, PTX_S32, PTX_F32, FLAG_RZ, big, 0, 0), INT32_MAX);
    assert_int_equal(run(SIM_CVT_FI, PTX_U32, PTX_F32, FLAG_RZ, big | least, 0, 0), 0);
    assert_int_equal(run(SIM_CVT_FI, PTX_U8, PTX_F32, FLAG_RZ, alu_f32_bits(300), 0, 0), 255);
    assert_int_equal(run(SIM_CVT_FI, PTX_S64, PTX_F32, FLAG_RZ, big | least, 0, 0), UINT64_C(1) << 63);
    assert_int_equal(run(SIM_CVT_FI, PTX_U32, PTX_F32, FLAG_RZ, nan32, 0, 0), 0);
    assert_int_equal(run(SIM_CVT_FI, PTX_U64, PTX_F32, FLAG_RZ, nan32, 0, 0), UINT64_C(1) << 63);
    assert_int_equal((uint32_t)run(SIM_CVT_FI, PTX_S32, PTX_F64, FLAG_RZ, nan64, 0, 0), 0x80000000);
    assert_int_equal(run(SIM_CVT_FI, PTX_U64, PTX_F64, FLAG_RN, alu_f64_bits(2.5), 0, 0), 2);
    assert_int_equal(run(SIM_CVT_FI, PTX_U64, PTX_F64, FLAG_RP, alu_f64_bits(2.25), 0, 0), 3);
    assert_int_equal(run(SIM_CVT_IF, PTX_F32, PTX_U64, FLAG_RN, UINT64_MAX, 0, 0), alu_f32_bits(0x1p64f));
    assert_int_equal(run(SIM_CVT_IF, PTX_F32, PTX_U64, FLAG_RZ, UINT64_MAX, 0, 0), alu_f32_bits(0x1p64f) - 1);
}

static void comparisons_with_nan_are_ordered_or_not(void **state)
{
    (void)state;
    static const struct {
        AluCompare how;
        bool less, same, unordered;
    } rows[] = {{CMP_EQ, 0, 1, 0},  {CMP_NE, 1, 0, 0},  {CMP_LT, 1, 0, 0},  {CMP_LE, 1, 1, 0},  {CMP_GT, 0, 0, 0},
                {CMP_GE, 0, 1, 0},  {CMP_EQU, 0, 1, 1}, {CMP_NEU, 1, 0, 1}, {CMP_LTU, 1, 0, 1}, {CMP_LEU, 1, 1, 1},
                {CMP_GTU, 0, 0, 1}, {CMP_GEU, 0, 1, 1}, {CMP_NUM, 1, 1, 0}, {CMP_NAN, 0, 0, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(alu_compare_float(rows[i].how, -1, 1), rows[i].less);
        assert_int_equal(alu_compare_float(rows[i].how, 0.0, -0.0), rows[i].same);
        assert_int_equal(alu_compare_float(rows[i].how, NAN, 1), rows[i].unordered);
    }
}

/* PTX ISA: maximum errors of the approximate instructions. */
static void approximations_are_within_the_bounds_of_the_isa(void **state)
{
    (void)state;
    for (int i = 1; i < 3000; i++) {
        float x = (float)i / 1000;
        uint64_t bits = alu_f32_bits(x);
        assert_true(fabs((double)alu_f32(run(SIM_FSIN, PTX_F32, 0, 0, bits, 0, 0)) - sin((double)x)) <= 0x1p-20);
        assert_true(fabs((double)alu_f32(run(SIM_FCOS, PTX_F32, 0, 0, bits, 0, 0)) - cos((double)x)) <= 0x1p-20);
        double l = log2((double)x), bound = x > 0.5f && x < 2 ? 0x1p-22 : 0x1p-22 * fabs(l);
        assert_true(fabs((double)alu_f32(run(SIM_FLG2, PTX_F32, 0, 0, bits, 0, 0)) - l) <= bound);
        double e = exp2((double)x), t = tanh((double)x), q = 1 / sqrt((double)x);
        assert_true(fabs((double)alu_f32(run(SIM_FEX2, PTX_F32, 0, 0, bits, 0, 0)) - e) <= 0x1p-22 * e);
        assert_true(fabs((double)alu_f32(run(SIM_FTANH, PTX_F32, 0, 0, bits, 0, 0)) - t) <= 0x1p-11 * t);
        assert_true(fabs((double)alu_f32(run(SIM_FRSQRT, PTX_F32, 0, 0, bits, 0, 0)) - q) <= 0x1p-22 * q);
    }
    assert_int_equal(run(SIM_FLG2, PTX_F32, 0, 0, 0, 0, 0), 0xff800000);
    assert_int_equal(run(SIM_FSIN, PTX_F32, 0, 0, 0x7f800000, 0, 0), 0x7fffffff);
    assert_int_equal(run(SIM_FEX2, PTX_F32, 0, FLAG_FTZ, alu_f32_bits(-127), 0, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_room(results_are_those_of_an_h200),
        cmocka_unit_test(bit_fields_are_extracted_as_the_isa_says),
        cmocka_unit_test(products_have_their_high_half),
        cmocka_unit_test(division_by_zero_and_overflow_have_a_result),
        cmocka_unit_test(operands_are_read_by_their_type),
        cmocka_unit_test(other_operations_are_refused),
        cmocka_unit_test(f16_is_rounded_in_every_mode),
        cmocka_unit_test(eight_bit_floats_are_the_nearest),
        cmocka_unit_test(f32_products_are_rounded_to_their_side),
        cmocka_unit_test(sums_are_rounded_once),
        cmocka_unit_test(floats_outside_the_range_of_integers_are_clamped),
        cmocka_unit_test(comparisons_with_nan_are_ordered_or_not),
        cmocka_unit_test(approximations_are_within_the_bounds_of_the_isa),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
