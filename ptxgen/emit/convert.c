#include "ptxgen/emit/threads.h"

#include <string.h>

enum { ELEMENTS = 64 };

/* What an element is once it has a register of its own. Floats of less than 32 bits are widened to f32, which has all
 * their values; integers of less than 32 bits are extended. */
typedef enum Form { IN_S32, IN_U32, IN_S64, IN_U64, IN_F32, IN_F64, FORMS } Form;
static const char *const FORM_NAMES[FORMS] = {"s32", "u32", "s64", "u64", "f32", "f64"};

/* How a form becomes an element. */
typedef enum How {
    HOW_ASIS,    /* the register has it, or its low bits */
    HOW_CVT,     /* cvt{modifier}.{type}.{form} */
    HOW_HALF,    /* the same into a 16-bit register */
    HOW_F32,     /* cvt.rn.f32.{form}, then as an f32: what f32 can't hold saturates */
    HOW_ODD,     /* to f32 by rounding to odd: what is rounded again comes out as if it had been rounded once */
    HOW_CLAMP,   /* cvt.rn.f32.{form}, infinity to the largest number */
    HOW_TF32,    /* cvt.rn.tf32.f32 */
    HOW_ODD_TF32 /* to odd, then cvt.rn.tf32.f32 */
} How;
typedef enum Target { TO_INT, TO_F16, TO_BF16, TO_F32, TO_F64, TO_TF32, TO_FP8, TARGETS } Target;
typedef struct Step {
    uint8_t plain, sat; /* How, without and with `sat` */
    const char *modifier, *sat_modifier;
} Step;
enum { FROM_INT, FROM_F32, FROM_F64, SOURCES };
/* PTX ISA, cvt. Floats become integers by truncation, clamped in any case; 8-bit floats saturate in any case. */
static const Step STEPS[TARGETS][SOURCES] = {
    [TO_INT] = {{HOW_ASIS, HOW_CVT, "", ".sat"},
                {HOW_CVT, HOW_CVT, ".rzi", ".rzi"},
                {HOW_CVT, HOW_CVT, ".rzi", ".rzi"}},
    [TO_F16] = {{HOW_HALF, HOW_F32, ".rn", ""}, {HOW_ASIS, HOW_ASIS, "", ""}, {HOW_HALF, HOW_ODD, ".rn", ""}},
    [TO_BF16] = {{HOW_HALF, HOW_HALF, ".rn", ".rn"}, {HOW_ASIS, HOW_ASIS, "", ""}, {HOW_HALF, HOW_ODD, ".rn", ""}},
    [TO_F32] = {{HOW_CVT, HOW_CVT, ".rn", ".rn"}, {HOW_ASIS, HOW_ASIS, "", ""}, {HOW_CVT, HOW_CLAMP, ".rn", ".rn"}},
    [TO_F64] = {{HOW_CVT, HOW_CVT, ".rn", ".rn"}, {HOW_CVT, HOW_CVT, "", ""}, {HOW_ASIS, HOW_ASIS, "", ""}},
    [TO_TF32] = {{HOW_ODD_TF32, HOW_ODD_TF32, "", ""},
                 {HOW_TF32, HOW_TF32, "", ""},
                 {HOW_ODD_TF32, HOW_ODD_TF32, "", ""}},
    [TO_FP8] = {{HOW_F32, HOW_F32, "", ""}, {HOW_ASIS, HOW_ASIS, "", ""}, {HOW_ODD, HOW_ODD, "", ""}},
};

typedef struct Element {
    Opnd reg;  /* B32, B64, or B16 where it is a half already */
    Form form; /* of what HOW_ASIS leaves */
} Element;

static uint32_t size_of(ElemType t)
{
    return elem_info(t)->shared_bits / 8u;
}

static Opnd reg(PtxWriter *w, RegClass c)
{
    return ptx_reg(w, c);
}

static Form form_of(ElemType t)
{
    const ElemInfo *e = elem_info(t);
    bool wide = e->shared_bits == 64;
    if (e->kind == ELEM_FLOAT) return wide ? IN_F64 : IN_F32;
    if (e->kind == ELEM_SINT) return wide ? IN_S64 : IN_S32;
    return wide ? IN_U64 : IN_U32;
}

static Target target_of(ElemType t)
{
    switch (t) {
    case TYPE_F16: return TO_F16;
    case TYPE_BF16: return TO_BF16;
    case TYPE_F32: return TO_F32;
    case TYPE_TF32: return TO_TF32;
    case TYPE_F64: return TO_F64;
    case TYPE_E4M3:
    case TYPE_E5M2: return TO_FP8;
    default: return TO_INT;
    }
}

/* The values of a type lie from -2^below to 2^above, about: floats in the order of their largest numbers, which differ. */
typedef struct Reach {
    int below, above;
} Reach;

static Reach reach_of(ElemType t)
{
    static const uint8_t order[TYPE_COUNT] = {[TYPE_E4M3] = 1, [TYPE_E5M2] = 2, [TYPE_F16] = 3, [TYPE_BF16] = 4,
                                              [TYPE_TF32] = 5, [TYPE_F32] = 6,  [TYPE_F64] = 7};
    const ElemInfo *e = elem_info(t);
    if (e->kind == ELEM_FLOAT) return (Reach){order[t], order[t]};
    return e->kind == ELEM_SINT ? (Reach){e->shared_bits - 1, e->shared_bits - 1} : (Reach){0, e->shared_bits};
}

/* `sat` concerns types that do not reach as far as the source: a larger integer holds all values (and PTX refuses .sat
 * where there is nothing to saturate); where a float's range is the larger one, or the same, infinities stay what they
 * are. */
static bool saturates(const IrPlan *p)
{
    static const ElemType SUMS[FORMS] = {TYPE_S32, TYPE_U32, TYPE_S64, TYPE_U64, TYPE_F32, TYPE_F64};
    ElemType t = (ElemType)p->src.type, u = (ElemType)p->dst.type;
    if (p->xform == IRX_SUM) t = SUMS[form_of(t)];
    Reach from = reach_of(t), to = reach_of(u);
    bool real = elem_info(t)->kind == ELEM_FLOAT, same_kind = real == (elem_info(u)->kind == ELEM_FLOAT);
    return p->sat && (!same_kind || from.below > to.below || from.above > to.above);
}

/* "cvt" modifier "." to "." from, with a text that lives as long as the instruction needs it. */
static void cvt(PtxWriter *w, const char *modifier, const char *to, const char *from, Opnd d, Opnd a)
{
    char m[40];
    size_t n = 0;
    const char *parts[] = {"cvt", modifier, ".", to, ".", from};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        size_t len = strlen(parts[i]);
        memcpy(m + n, parts[i], len);
        n += len;
    }
    m[n] = 0;
    PTX_INS(w, m, d, a);
}

/* ---- words of two or four parts ---- */

static Opnd pair(PtxWriter *w, Opnd a, Opnd b)
{
    w->coords[0] = a;
    w->coords[1] = b;
    w->ncoords = 2;
    return (Opnd){.kind = OPND_COORDS};
}

/* mov.b32 {lo, hi}, word; mov.b64 likewise */
static void split(PtxWriter *w, Opnd word, Opnd part[2])
{
    bool wide = word.cls == RC_B64;
    for (int i = 0; i < 2; i++) part[i] = reg(w, wide ? RC_B32 : RC_B16);
    PTX_INS(w, wide ? "mov.b64" : "mov.b32", pair(w, part[0], part[1]), word);
}

static Opnd join(PtxWriter *w, Opnd low, Opnd high)
{
    bool wide = low.cls == RC_B32;
    Opnd word = reg(w, wide ? RC_B64 : RC_B32);
    PTX_INS(w, wide ? "mov.b64" : "mov.b32", word, pair(w, low, high));
    return word;
}

static Opnd permute(PtxWriter *w, Opnd a, Opnd b, int64_t bytes)
{
    Opnd x = reg(w, RC_B32);
    PTX_INS(w, "prmt.b32", x, a, b, opnd_int(bytes));
    return x;
}

/* ---- elements out of words ---- */

static void unpack_bits(PtxWriter *w, ElemType t, Opnd word, uint32_t n, Element *out)
{
    uint32_t bits = elem_info(t)->shared_bits;
    for (uint32_t i = 0; i < n; i++) {
        out[i].reg = reg(w, RC_B32);
        PTX_INS(w, elem_info(t)->kind == ELEM_SINT ? "bfe.s32" : "bfe.u32", out[i].reg, word, opnd_int(i * bits),
                opnd_int(bits));
    }
}

static void unpack_f16(PtxWriter *w, Opnd word, uint32_t n, Element *out)
{
    Opnd half[2];
    split(w, word, half);
    for (uint32_t i = 0; i < n; i++) {
        out[i].reg = reg(w, RC_B32);
        PTX_INS(w, "cvt.f32.f16", out[i].reg, half[i]);
    }
}

static void unpack_bf16(PtxWriter *w, Opnd word, uint32_t n, Element *out)
{
    for (uint32_t i = 0; i < n; i++) {
        out[i].reg = reg(w, RC_B32);
        if (i == 0) PTX_INS(w, "shl.b32", out[i].reg, word, opnd_int(16));
        else PTX_INS(w, "and.b32", out[i].reg, word, opnd_int(-65536));
    }
}

static void unpack_fp8(PtxWriter *w, ElemType t, Opnd word, uint32_t n, Element *out)
{
    Opnd half[2];
    split(w, word, half);
    for (uint32_t i = 0; i < n; i += 2) {
        Opnd two = reg(w, RC_B32);
        PTX_INS(w, t == TYPE_E4M3 ? "cvt.rn.f16x2.e4m3x2" : "cvt.rn.f16x2.e5m2x2", two, half[i / 2]);
        unpack_f16(w, two, n - i < 2 ? 1 : 2, out + i);
    }
}

/* n elements of a row. */
static void unpack(PtxWriter *w, ElemType t, const Opnd *word, uint32_t n, Element *out)
{
    uint32_t each = size_of(t) >= 4 ? 1 : 4 / size_of(t);
    for (uint32_t i = 0; i < n; i++) out[i].form = form_of(t);
    for (uint32_t i = 0; i < n; i += each) {
        uint32_t now = n - i < each ? n - i : each;
        Opnd x = size_of(t) == 8 ? join(w, word[2 * i], word[2 * i + 1]) : word[i / each];
        if (size_of(t) >= 4) out[i].reg = x;
        else if (t == TYPE_F16) unpack_f16(w, x, now, out + i);
        else if (t == TYPE_BF16) unpack_bf16(w, x, now, out + i);
        else if (t == TYPE_E4M3 || t == TYPE_E5M2) unpack_fp8(w, t, x, now, out + i);
        else unpack_bits(w, t, x, now, out + i);
    }
}

/* ---- one element ---- */

/* Toward zero, and the last bit set if that was not exact: all that a later rounding to nearest needs, as f32 has two
 * bits more than any narrower format at each of its exponents. */
static Opnd to_odd(PtxWriter *w, Element e)
{
    Opnd x = reg(w, RC_B32), back = reg(w, e.reg.cls), p = reg(w, RC_PRED);
    const char *form = FORM_NAMES[e.form];
    bool real = e.form == IN_F64;
    cvt(w, ".rz", "f32", form, x, e.reg);
    cvt(w, real ? "" : ".rzi", form, "f32", back, x);
    PTX_INS(w, real ? "setp.neu.f64" : e.reg.cls == RC_B64 ? "setp.ne.s64" : "setp.ne.s32", p, e.reg, back);
    ptx_ins(w, p, "or.b32", (const Opnd[]){x, x, opnd_int(1)}, 3);
    return x;
}

/* Beyond the largest numbers (infinity too): the largest. NaN stays NaN. */
static Opnd clamp(PtxWriter *w, Opnd x, bool tf32)
{
    Opnd a = reg(w, RC_B32), b = reg(w, RC_B32);
    PTX_INS(w, "min.NaN.f32", a, x, tf32 ? opnd_lit("0f7F7FE000") : opnd_lit("0f7F7FFFFF"));
    PTX_INS(w, "max.NaN.f32", b, a, tf32 ? opnd_lit("0fFF7FE000") : opnd_lit("0fFF7FFFFF"));
    return b;
}

static Element as_f32(PtxWriter *w, Element e, const char *modifier)
{
    Element x = {reg(w, RC_B32), IN_F32};
    cvt(w, modifier, "f32", FORM_NAMES[e.form], x.reg, e.reg);
    return x;
}

/* Between 32 and 64 bits: extended as the source is. */
static Element integer(PtxWriter *w, Element e, bool wide)
{
    if ((e.reg.cls == RC_B64) == wide) return e;
    Element x = {reg(w, wide ? RC_B64 : RC_B32), e.form};
    PTX_INS(w, !wide ? "cvt.u32.u64" : e.form == IN_S32 ? "cvt.s64.s32" : "cvt.u64.u32", x.reg, e.reg);
    return x;
}

static Element direct(PtxWriter *w, Element e, ElemType to, const char *modifier, RegClass c)
{
    Element x = {reg(w, c), form_of(to)};
    cvt(w, modifier, elem_info(to)->name, FORM_NAMES[e.form], x.reg, e.reg);
    return x;
}

static Element to_tf32(PtxWriter *w, Opnd x, bool sat)
{
    Element e = {reg(w, RC_B32), IN_F32};
    PTX_INS(w, "cvt.rn.tf32.f32", e.reg, sat ? clamp(w, x, true) : x);
    return e;
}

static Element convert(PtxWriter *w, Element e, ElemType to, bool sat)
{
    const Step *step = &STEPS[target_of(to)][e.form == IN_F64 ? FROM_F64 : e.form == IN_F32 ? FROM_F32 : FROM_INT];
    const char *modifier = sat ? step->sat_modifier : step->modifier;
    RegClass c = size_of(to) == 8 ? RC_B64 : RC_B32;
    switch ((How)(sat ? step->sat : step->plain)) {
    case HOW_ASIS: return target_of(to) == TO_INT ? integer(w, e, c == RC_B64) : e;
    case HOW_CVT: return direct(w, e, to, modifier, c);
    case HOW_HALF: return direct(w, e, to, modifier, RC_B16);
    case HOW_F32: return as_f32(w, e, ".rn");
    case HOW_ODD: return (Element){to_odd(w, e), IN_F32};
    case HOW_CLAMP: return (Element){clamp(w, as_f32(w, e, ".rn").reg, false), IN_F32};
    case HOW_TF32: return to_tf32(w, e.reg, sat);
    default: return to_tf32(w, to_odd(w, e), sat);
    }
}

/* ---- words out of elements ---- */

static Opnd pack_two(PtxWriter *w, ElemType to, bool sat, Element low, Element high)
{
    if (low.reg.cls == RC_B16) return join(w, low.reg, high.reg);
    Opnd x = reg(w, RC_B32);
    enum { SATFINITE_VERSION = 81 }; /* PTX ISA, cvt: .satfinite to f16x2 and bf16x2 */
    if (sat && w->version < SATFINITE_VERSION) w->version = SATFINITE_VERSION;
    const char *m = to == TYPE_F16 ? (sat ? "cvt.rn.satfinite.f16x2.f32" : "cvt.rn.f16x2.f32")
                                   : (sat ? "cvt.rn.satfinite.bf16x2.f32" : "cvt.rn.bf16x2.f32");
    PTX_INS(w, m, x, high.reg, low.reg);
    return x;
}

static Opnd pack_fp8(PtxWriter *w, ElemType to, const Element *e, uint32_t n)
{
    Opnd half[2];
    for (uint32_t i = 0; i < n; i += 2) {
        half[i / 2] = reg(w, RC_B16);
        PTX_INS(w, to == TYPE_E4M3 ? "cvt.rn.satfinite.e4m3x2.f32" : "cvt.rn.satfinite.e5m2x2.f32", half[i / 2],
                e[i + 1 < n ? i + 1 : i].reg, e[i].reg);
    }
    return join(w, half[0], half[n > 2]);
}

static Opnd pack_bytes(PtxWriter *w, const Element *e, uint32_t n)
{
    if (n == 1) return e[0].reg;
    Opnd low = permute(w, e[0].reg, e[1].reg, 0x0040);
    return n == 2 ? low : permute(w, low, permute(w, e[2].reg, e[3].reg, 0x0040), 0x5410);
}

/* n elements become a row of words. */
static void pack(PtxWriter *w, ElemType t, bool sat, const Element *e, uint32_t n, Opnd *word)
{
    uint32_t each = size_of(t) >= 4 ? 1 : 4 / size_of(t);
    bool real = elem_info(t)->kind == ELEM_FLOAT;
    for (uint32_t i = 0; i < n; i += each) {
        uint32_t now = n - i < each ? n - i : each;
        if (size_of(t) == 8) {
            Opnd part[2];
            split(w, e[i].reg, part);
            memcpy(word + 2 * i, part, sizeof part);
            continue;
        }
        Opnd *x = &word[i / each];
        if (size_of(t) == 4) *x = e[i].reg;
        else if (size_of(t) == 2 && real) *x = pack_two(w, t, sat, e[i], e[now == 2 ? i + 1 : i]);
        else if (size_of(t) == 2) *x = now == 1 ? e[i].reg : permute(w, e[i].reg, e[i + 1].reg, 0x5410);
        else *x = real ? pack_fp8(w, t, e + i, now) : pack_bytes(w, e + i, now);
    }
}

static uint32_t words_of(ElemType t, uint32_t elements)
{
    uint32_t bytes = elements * size_of(t);
    return bytes < 4 ? 1 : bytes / 4;
}

static void convert_rows(PtxWriter *w, const IrPlan *p, const ThrPiece *q, const ThrData *in, ThrData *out)
{
    ElemType from = (ElemType)p->src.type, to = (ElemType)p->dst.type;
    bool sat = saturates(p);
    Element e[ELEMENTS], row[ELEMENTS];
    for (uint32_t i = 0; i < in->rows; i++) unpack(w, from, &in->v[i * in->words], q->wide, e + i * q->wide);
    for (uint32_t i = 0; i < in->rows * q->wide; i++) e[i] = convert(w, e[i], to, sat);
    bool crossed = q->method == THR_BLOCK;
    out->rows = crossed ? q->wide : 1;
    out->words = words_of(to, crossed ? q->tall : q->wide);
    for (uint32_t r = 0; r < out->rows; r++) {
        for (uint32_t i = 0; i < q->tall && crossed; i++) row[i] = e[i * q->wide + r];
        pack(w, to, sat, crossed ? row : e, crossed ? q->tall : q->wide, &out->v[r * out->words]);
    }
}

/* ---- transposed as they are ---- */

static void cross_halves(PtxWriter *w, const ThrPiece *q, const ThrData *in, ThrData *out)
{
    for (uint32_t j = 0; j < q->wide; j++)
        for (uint32_t i = 0; i < q->tall; i += 2)
            out->v[j * out->words + i / 2] = permute(w, in->v[i * in->words + j / 2],
                                                     in->v[(i + 1) * in->words + j / 2], j % 2 ? 0x7632 : 0x5410);
}

static void cross_four_bytes(PtxWriter *w, const ThrData *in, ThrData *out, uint32_t i, uint32_t j)
{
    Opnd r[4];
    for (uint32_t k = 0; k < 4; k++) r[k] = in->v[(i + k) * in->words + j / 4];
    for (uint32_t k = 0; k < 2; k++) { /* columns 2 k and 2 k + 1 of rows 0, 1 and of rows 2, 3 */
        int64_t columns = k ? 0x7362 : 0x5140;
        Opnd a = permute(w, r[0], r[1], columns), b = permute(w, r[2], r[3], columns);
        out->v[(j + 2 * k) * out->words + i / 4] = permute(w, a, b, 0x5410);
        out->v[(j + 2 * k + 1) * out->words + i / 4] = permute(w, a, b, 0x7632);
    }
}

static void cross_bytes(PtxWriter *w, const ThrPiece *q, const ThrData *in, ThrData *out)
{
    if (q->tall == 2) {
        for (uint32_t j = 0; j < 2; j++) out->v[j] = permute(w, in->v[0], in->v[1], j ? 0x0051 : 0x0040);
        return;
    }
    for (uint32_t i = 0; i < q->tall; i += 4)
        for (uint32_t j = 0; j < q->wide; j += 4) cross_four_bytes(w, in, out, i, j);
}

static void cross_rows(PtxWriter *w, ElemType t, const ThrPiece *q, const ThrData *in, ThrData *out)
{
    uint32_t size = size_of(t), each = size / 4;
    out->rows = q->wide;
    out->words = words_of(t, q->tall);
    if (q->wide == 1) memcpy(out->v, in->v, sizeof out->v);
    else if (size == 1) cross_bytes(w, q, in, out);
    else if (size == 2) cross_halves(w, q, in, out);
    else
        for (uint32_t i = 0; i < q->tall; i++)
            for (uint32_t j = 0; j < q->wide; j++)
                memcpy(&out->v[j * out->words + i * each], &in->v[i * in->words + j * each], each * sizeof(Opnd));
}

/* The elements of a unit in the opposite order: those of a word, and the words. */
static void reverse_unit(PtxWriter *w, uint32_t size, const ThrPiece *q, const ThrData *in, ThrData *out)
{
    uint32_t each = size == 8 ? 2 : 1;
    *out = *in;
    if (q->wide == 1) return;
    for (uint32_t i = 0; i < in->words; i++) {
        Opnd from = in->v[in->words - each - i / each * each + i % each];
        out->v[i] = from;
        if (size >= 4) continue;
        out->v[i] = reg(w, RC_B32);
        PTX_INS(w, "prmt.b32", out->v[i], from, opnd_int(0), opnd_int(size == 2 ? 0x1032 : 0x0123));
    }
}

/* Elements alone in their words out of one word, and the other way round. */
static void rotated_word(PtxWriter *w, uint32_t size, const ThrPiece *q, const ThrData *in, ThrData *out)
{
    *out = (ThrData){.rows = 1, .words = in->words == 1 ? q->wide : 1, .v = {in->v[0]}};
    if (in->words == 1) {
        for (uint32_t i = 1; i < q->wide; i++) {
            out->v[i] = reg(w, RC_B32);
            PTX_INS(w, "shr.u32", out->v[i], in->v[0], opnd_int(8 * size * i));
        }
        return;
    }
    Opnd low = in->v[0], high = in->v[1];
    if (size == 1) low = permute(w, in->v[0], in->v[1], 0x0040), high = permute(w, in->v[2], in->v[3], 0x0040);
    out->v[0] = permute(w, low, high, 0x5410);
}

/* ---- sums of parts ---- */

void ptx_thr_sum(PtxWriter *w, const IrPlan *p, const ThrPiece *q, const ThrData *in, bool first, ThrSum *sum)
{
    static const char *const ADD[FORMS] = {"add.s32", "add.s32", "add.s64", "add.s64", "add.rn.f32", "add.rn.f64"};
    Element e[ELEMENTS];
    unpack(w, (ElemType)p->src.type, in->v, q->wide, e);
    for (uint32_t i = 0; i < q->wide; i++) {
        Opnd x = e[i].reg;
        if (!first) {
            x = reg(w, e[i].reg.cls);
            PTX_INS(w, ADD[e[i].form], x, sum->v[i], e[i].reg);
        }
        sum->v[i] = x;
    }
}

void ptx_thr_summed(PtxWriter *w, const IrPlan *p, const ThrPiece *q, const ThrSum *sum, ThrData *out)
{
    ElemType to = (ElemType)p->dst.type;
    Element e[ELEMENTS];
    for (uint32_t i = 0; i < q->wide; i++) e[i] = convert(w, (Element){sum->v[i], form_of((ElemType)p->src.type)}, to, saturates(p));
    out->rows = 1;
    out->words = words_of(to, q->wide);
    pack(w, to, saturates(p), e, q->wide, out->v);
}

void ptx_thr_convert(PtxWriter *w, const IrPlan *p, const ThrPiece *q, const ThrData *in, ThrData *out)
{
    if (p->src.type != p->dst.type) convert_rows(w, p, q, in, out);
    else if (p->xform == IRX_REVERSE) reverse_unit(w, size_of((ElemType)p->src.type), q, in, out);
    else if (q->method == THR_ROTATED && q->wide > 1) rotated_word(w, size_of((ElemType)p->src.type), q, in, out);
    else if (q->method == THR_BLOCK) cross_rows(w, (ElemType)p->src.type, q, in, out);
    else *out = *in;
}

/* ---- add ---- */

/* Parts of a word added without a carry from one to the next: the sign bits apart. */
static Opnd add_parts(PtxWriter *w, Opnd a, Opnd b, int64_t signs)
{
    int64_t rest = (int32_t) ~(uint32_t)signs;
    Opnd x = reg(w, RC_B32), y = reg(w, RC_B32), s = reg(w, RC_B32);
    PTX_INS(w, "and.b32", x, a, opnd_int(rest));
    PTX_INS(w, "and.b32", y, b, opnd_int(rest));
    PTX_INS(w, "add.s32", x, x, y);
    PTX_INS(w, "xor.b32", s, a, b);
    PTX_INS(w, "and.b32", s, s, opnd_int(signs));
    PTX_INS(w, "xor.b32", x, x, s);
    return x;
}

static Opnd add_words(PtxWriter *w, ElemType t, Opnd a, Opnd b)
{
    static const char *const real[] = {
        [TYPE_F16] = "add.rn.f16x2", [TYPE_BF16] = "add.rn.bf16x2", [TYPE_F32] = "add.rn.f32"};
    bool is_real = elem_info(t)->kind == ELEM_FLOAT;
    if (!is_real && size_of(t) == 1) return add_parts(w, a, b, (int32_t)0x80808080u);
    if (!is_real && size_of(t) == 2) return add_parts(w, a, b, (int32_t)0x80008000u);
    Opnd x = reg(w, RC_B32);
    PTX_INS(w, is_real ? real[t] : "add.s32", x, a, b);
    return x;
}

void ptx_thr_add(PtxWriter *w, ElemType t, ThrData *value, const ThrData *before)
{
    uint32_t n = value->rows * value->words, each = size_of(t) == 8 ? 2 : 1;
    for (uint32_t i = 0; i < n; i += each) {
        if (each == 1) {
            value->v[i] = add_words(w, t, before->v[i], value->v[i]);
            continue;
        }
        Opnd a = join(w, before->v[i], before->v[i + 1]), b = join(w, value->v[i], value->v[i + 1]), part[2];
        Opnd sum = reg(w, RC_B64);
        PTX_INS(w, t == TYPE_F64 ? "add.rn.f64" : "add.s64", sum, a, b);
        split(w, sum, part);
        memcpy(&value->v[i], part, sizeof part);
    }
}
