/* What a program must give, computed plainly from the initial contents of its buffers (README.md, "Expectations").
 *
 * Elements are handled as raw bits; integers wrap, floats are summed as doubles: the cases use integers so small that
 * every sum is exact in every order.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/case.h"
#include "tests/sim/tensor_reference.h"
#include "tests/unit/sim_modes_words.h"

bool type_is_float(tile_type t)
{
    return t == TILE_F16 || t == TILE_BF16 || t == TILE_F32 || t == TILE_F64;
}

static bool is_signed(tile_type t)
{
    return t == TILE_S8 || t == TILE_S16 || t == TILE_S32 || t == TILE_S64;
}

uint64_t elem_load(tile_type t, const void *p)
{
    unsigned bits = (unsigned)tile_type_bits(t);
    uint64_t v = 0;
    memcpy(&v, p, bits / 8); /* little-endian hosts, as the GPUs */
    if (is_signed(t) && bits < 64 && v >> (bits - 1)) v |= ~UINT64_C(0) << bits;
    return v;
}

void elem_store(tile_type t, void *p, uint64_t raw)
{
    memcpy(p, &raw, (size_t)tile_type_bits(t) / 8);
}

/* IEEE 754 with `e` exponent and `m` mantissa bits, for values that it holds exactly and that are not subnormal. */
static uint64_t small_float(double v, int e, int m)
{
    if (v == 0) return 0;
    int exponent;
    double fraction = frexp(fabs(v), &exponent); /* [0.5, 1) */
    uint64_t mantissa = (uint64_t)ldexp(fraction, m + 1) & ((UINT64_C(1) << m) - 1);
    uint64_t biased = (uint64_t)(exponent - 1 + (1 << (e - 1)) - 1);
    return (uint64_t)(v < 0) << (e + m) | biased << m | mantissa;
}

static double small_double(uint64_t raw, int e, int m)
{
    uint64_t mantissa = raw & ((UINT64_C(1) << m) - 1), biased = raw >> m & ((UINT64_C(1) << e) - 1);
    if (biased == 0 && mantissa == 0) return 0;
    double v = ldexp((double)(mantissa | UINT64_C(1) << m), (int)biased - ((1 << (e - 1)) - 1) - m);
    return raw >> (e + m) & 1 ? -v : v;
}

static double to_double(tile_type t, uint64_t raw)
{
    if (t == TILE_F16) return small_double(raw, 5, 10);
    if (t == TILE_BF16) return small_double(raw, 8, 7);
    if (t == TILE_F32) return small_double(raw, 8, 23);
    double v;
    memcpy(&v, &raw, sizeof v);
    return v;
}

static uint64_t from_double(tile_type t, double v)
{
    if (t == TILE_F16) return small_float(v, 5, 10);
    if (t == TILE_BF16) return small_float(v, 8, 7);
    if (t == TILE_F32) return small_float(v, 8, 23);
    uint64_t raw;
    memcpy(&raw, &v, sizeof raw);
    return raw;
}

uint64_t elem_from_int(tile_type t, int64_t v)
{
    return type_is_float(t) ? from_double(t, (double)v) : (uint64_t)v;
}

/* ---- the expectation's words ---- */
typedef struct Terms {
    const Case *c;
    unsigned char *const *before;
    const CaseBuffer *to;
    unsigned char *want;
    char *word[CASE_WORDS];
    int n, at;
    const char *why; /* the first thing that is wrong */
} Terms;

typedef struct Operand {
    const CaseBuffer *b;
    const unsigned char *data;
} Operand;

static bool wrong(Terms *t, const char *why)
{
    if (!t->why) t->why = why;
    return false;
}

static int64_t next_number(Terms *t)
{
    if (t->at == t->n) return wrong(t, "a number is missing"), 0;
    char *end;
    long long v = strtoll(t->word[t->at], &end, 0);
    if (*end) wrong(t, "no number");
    t->at++;
    return v;
}

static Operand next_source(Terms *t)
{
    for (int i = 0; i < t->c->nbuffers && t->at < t->n; i++) {
        if (strcmp(t->c->buffers[i].name, t->word[t->at]) != 0) continue;
        t->at++;
        return (Operand){&t->c->buffers[i], t->before[i]};
    }
    wrong(t, "no buffer of that name");
    return (Operand){t->to, t->want};
}

static uint64_t load(Terms *t, Operand s, int64_t i)
{
    if (i < 0 || (uint64_t)i >= s.b->count) return wrong(t, "reaches outside the source"), 0;
    return elem_load(s.b->type, s.data + (size_t)i * (s.b->bytes / s.b->count));
}

static uint64_t wanted(Terms *t, int64_t i)
{
    return load(t, (Operand){t->to, t->want}, i);
}

static void store(Terms *t, int64_t i, uint64_t raw)
{
    if (i < 0 || (uint64_t)i >= t->to->count) wrong(t, "reaches outside the buffer");
    else elem_store(t->to->type, t->want + (size_t)i * (t->to->bytes / t->to->count), raw);
}

static uint64_t operate(Terms *t, const char *op, tile_type type, uint64_t a, uint64_t b)
{
    bool f = type_is_float(type);
    if (strcmp(op, "add") == 0) return f ? from_double(type, to_double(type, a) + to_double(type, b)) : a + b;
    if (strcmp(op, "min") == 0 || strcmp(op, "max") == 0) {
        bool less = f ? to_double(type, a) < to_double(type, b) : is_signed(type) ? (int64_t)a < (int64_t)b : a < b;
        return less == (op[1] == 'i') ? a : b;
    }
    if (strcmp(op, "and") == 0) return a & b;
    if (strcmp(op, "or") == 0) return a | b;
    if (strcmp(op, "xor") == 0) return a ^ b;
    if (strcmp(op, "inc") == 0) return a >= b ? 0 : a + 1; /* PTX ISA, red: .inc */
    wrong(t, "unknown operation");
    return 0;
}

/* ---- the reference functions; n: elements of the buffer that is expected ---- */
/* copy SOURCE [FROM TO COUNT] */
static void expect_copy(Terms *t, int64_t n)
{
    Operand s = next_source(t);
    bool part = t->at < t->n;
    int64_t from = part ? next_number(t) : 0, to = part ? next_number(t) : 0, count = part ? next_number(t) : n;
    for (int64_t i = 0; i < count && !t->why; i++) store(t, to + i, load(t, s, from + i));
}

/* fill VALUE [TO COUNT] */
static void expect_fill(Terms *t, int64_t n)
{
    uint64_t v = elem_from_int(t->to->type, next_number(t));
    bool part = t->at < t->n;
    int64_t to = part ? next_number(t) : 0, count = part ? next_number(t) : n;
    for (int64_t i = 0; i < count && !t->why; i++) store(t, to + i, v);
}

/* affine SOURCE A B: A * SOURCE[i] + B */
static void expect_affine(Terms *t, int64_t n)
{
    Operand s = next_source(t);
    int64_t a = next_number(t), b = next_number(t);
    tile_type type = t->to->type;
    for (int64_t i = 0; i < n && !t->why; i++) {
        uint64_t v = load(t, s, i);
        store(t, i,
              type_is_float(type) ? from_double(type, (double)a * to_double(s.b->type, v) + (double)b)
                                  : (uint64_t)a * v + (uint64_t)b);
    }
}

/* plus A B: A[i] + B[i] */
static void expect_plus(Terms *t, int64_t n)
{
    Operand a = next_source(t), b = next_source(t);
    for (int64_t i = 0; i < n && !t->why; i++)
        store(t, i, operate(t, "add", t->to->type, load(t, a, i), load(t, b, i)));
}

/* transpose SOURCE ROWS COLUMNS */
static void expect_transpose(Terms *t, int64_t n)
{
    Operand s = next_source(t);
    int64_t rows = next_number(t), columns = next_number(t);
    if (rows * columns != n) wrong(t, "the sizes do not fit the buffer");
    for (int64_t i = 0; i < n && !t->why; i++) store(t, i % columns * rows + i / columns, load(t, s, i));
}

/* mirror SOURCE SIDE: every SIDE x SIDE matrix of the source is transposed */
static void expect_mirror(Terms *t, int64_t n)
{
    Operand s = next_source(t);
    int64_t side = next_number(t);
    if (side < 1 || n % (side * side)) wrong(t, "the side does not fit the buffer");
    for (int64_t i = 0; i < n && !t->why; i++) {
        int64_t k = i % (side * side);
        store(t, i, load(t, s, i - k + k % side * side + k / side));
    }
}

/* reduce OP SOURCE: the source is some arrays of the buffer's length; all are added to what was there */
static void expect_reduce(Terms *t, int64_t n)
{
    const char *op = t->at < t->n ? t->word[t->at++] : "";
    Operand s = next_source(t);
    for (int64_t i = 0; (uint64_t)i < s.b->count && !t->why; i++)
        store(t, i % n, operate(t, op, t->to->type, wanted(t, i % n), load(t, s, i)));
}

/* stride SOURCE LENGTH GROUPS: element i is the sum of the source's i-th LENGTH elements of every GROUPS * LENGTH */
static void expect_stride(Terms *t, int64_t n)
{
    Operand s = next_source(t);
    int64_t length = next_number(t), groups = next_number(t);
    if (length < 1 || groups != n) wrong(t, "the sizes do not fit the buffer");
    for (int64_t i = 0; i < n && !t->why; i++) store(t, i, 0);
    for (int64_t i = 0; (uint64_t)i < s.b->count && !t->why; i++) {
        int64_t to = i / length % groups;
        store(t, to, operate(t, "add", t->to->type, wanted(t, to), load(t, s, i)));
    }
}

/* rows OP SOURCE LENGTH: element i is the reduction of the source's i-th LENGTH elements */
static void expect_rows(Terms *t, int64_t n)
{
    const char *op = t->at < t->n ? t->word[t->at++] : "";
    Operand s = next_source(t);
    int64_t length = next_number(t);
    for (int64_t i = 0; i < n && !t->why; i++) {
        uint64_t v = load(t, s, i * length);
        for (int64_t k = 1; k < length; k++) v = operate(t, op, s.b->type, v, load(t, s, i * length + k));
        store(t, i, v);
    }
}

/* tally SOURCE LENGTH MODULUS REMAINDER: element i counts such values among the source's i-th LENGTH elements */
static void expect_tally(Terms *t, int64_t n)
{
    Operand s = next_source(t);
    int64_t length = next_number(t), modulus = next_number(t), remainder = next_number(t);
    if (modulus < 1) wrong(t, "no modulus");
    for (int64_t i = 0; i < n && !t->why; i++) {
        uint64_t v = 0;
        for (int64_t k = 0; k < length; k++) v += load(t, s, i * length + k) % (uint64_t)modulus == (uint64_t)remainder;
        store(t, i, v);
    }
}

/* alike SOURCE LENGTH: how many of the LENGTH elements around element i are equal to it */
static void expect_alike(Terms *t, int64_t n)
{
    Operand s = next_source(t);
    int64_t length = next_number(t);
    for (int64_t i = 0; i < n && length > 0 && !t->why; i++) {
        uint64_t v = 0;
        for (int64_t k = 0; k < length; k++) v += load(t, s, i - i % length + k) == load(t, s, i);
        store(t, i, v);
    }
}

/* gather SOURCE INDEX LENGTH: row i is the source's row INDEX[i], or zeros where the source has no such row */
static void expect_gather(Terms *t, int64_t n)
{
    Operand s = next_source(t), index = next_source(t);
    int64_t length = next_number(t);
    int64_t rows = length > 0 ? (int64_t)s.b->count / length : 0;
    for (int64_t i = 0; i < n && rows > 0 && !t->why; i++) {
        int64_t row = (int64_t)load(t, index, i / length);
        store(t, i, row >= 0 && row < rows ? load(t, s, row * length + i % length) : 0);
    }
}

/* turn SOURCE LENGTH GROUP STEP: row r of a group of GROUP rows is the source's row (r + STEP) modulo GROUP of it */
static void expect_turn(Terms *t, int64_t n)
{
    Operand s = next_source(t);
    int64_t length = next_number(t), group = next_number(t), step = next_number(t);
    if (length < 1 || group < 1 || step < 0) wrong(t, "sizes below 1");
    for (int64_t i = 0; i < n && !t->why; i++) {
        int64_t row = i / length;
        store(t, i, load(t, s, (row / group * group + (row % group + step) % group) * length + i % length));
    }
}

/* window SOURCE ROWS COLUMNS ROW COLUMN WIDTH RAW: rows of WIDTH elements from (ROW, COLUMN) on; RAW bits outside */
static void expect_window(Terms *t, int64_t n)
{
    Operand s = next_source(t);
    int64_t rows = next_number(t), columns = next_number(t), row = next_number(t), column = next_number(t);
    int64_t width = next_number(t), raw = next_number(t);
    for (int64_t i = 0; i < n && width > 0 && !t->why; i++) {
        int64_t r = row + i / width, c = column + i % width;
        bool inside = r >= 0 && r < rows && c >= 0 && c < columns;
        store(t, i, inside ? load(t, s, r * columns + c) : (uint64_t)raw);
    }
}

/* mask BITS: of what was wanted so far only these bits */
static void expect_mask(Terms *t, int64_t n)
{
    uint64_t bits = (uint64_t)next_number(t);
    for (int64_t i = 0; i < n && !t->why; i++) store(t, i, wanted(t, i) & bits);
}

/* histogram SOURCE: element v counts the source's elements that are v modulo the buffer's length; added */
static void expect_histogram(Terms *t, int64_t n)
{
    Operand s = next_source(t);
    for (int64_t i = 0; (uint64_t)i < s.b->count && !t->why; i++) {
        int64_t bin = (int64_t)(load(t, s, i) % (uint64_t)n);
        store(t, bin, wanted(t, bin) + 1);
    }
}

/* widen SOURCE BITS: row i / 16 of the source begins with sixteen elements of BITS bits; element i is one of them */
static void expect_widen(Terms *t, int64_t n)
{
    Operand s = next_source(t);
    int64_t bits = next_number(t);
    if (bits < 1 || bits > 8) wrong(t, "1 to 8 bits");
    for (int64_t i = 0; i < n && !t->why; i++) {
        uint64_t v = 0;
        for (int64_t k = 0; k < bits; k++) {
            int64_t at = i % 16 * bits + k; /* a bit of the row */
            v |= (load(t, s, i / 16 * 16 + at / 8) >> at % 8 & 1) << k;
        }
        store(t, i, v);
    }
}

/* ---- tensor memory: tensor_reference.h. The expected buffer is u32, PITCH columns a lane ---- */
static const char *next_word(Terms *t)
{
    if (t->at < t->n) return t->word[t->at++];
    wrong(t, "a word is missing");
    return "";
}

/* The matrix from row `row` on: 128 lanes of it. */
static uint32_t *matrix(Terms *t, Operand s, int64_t row, int64_t pitch)
{
    if (s.b->type == TILE_U32 && row >= 0 && pitch > 0 && (uint64_t)((row + 128) * pitch) <= s.b->count)
        return (uint32_t *)(void *)(unsigned char *)(uintptr_t)(s.data + (size_t)(row * pitch) * sizeof(uint32_t));
    wrong(t, "not 128 lanes of u32");
    return NULL;
}

/* tensor_cp SHAPE FORMAT SOURCE AT BYTES START LBO SBO SWIZZLE ROW PITCH LANE COLUMN: SOURCE from byte AT on is BYTES of
 * shared memory */
static void expect_tensor_cp(Terms *t, int64_t n)
{
    (void)n;
    const char *shape = next_word(t), *format = next_word(t);
    Operand s = next_source(t);
    int64_t at = next_number(t);
    TensorSource from = {.n = next_number(t)};
    from.start = next_number(t);
    from.lbo = next_number(t);
    from.sbo = next_number(t);
    from.swizzle = next_number(t);
    int64_t row = next_number(t), pitch = next_number(t), lane = next_number(t), column = next_number(t);
    uint32_t *to = matrix(t, (Operand){t->to, t->want}, row, pitch);
    if (at < 0 || from.n < 0 || (uint64_t)(at + from.n) > s.b->bytes) wrong(t, "reaches outside the source");
    from.bytes = s.data + at;
    if (!t->why && !tensor_cp(shape, format, &from, to, pitch, lane, column)) wrong(t, "no such copy");
}

/* tensor_shift ROW PITCH LANE COLUMN */
static void expect_tensor_shift(Terms *t, int64_t n)
{
    (void)n;
    int64_t row = next_number(t), pitch = next_number(t), lane = next_number(t), column = next_number(t);
    uint32_t *to = matrix(t, (Operand){t->to, t->want}, row, pitch);
    if (!t->why && !tensor_shift(to, pitch, lane, column)) wrong(t, "no such shift");
}

/* tensor_st SHAPE PACKED HALF SOURCE REGISTERS PITCH LANE COLUMN: four warps, each to LANE of its own 32 lanes; SOURCE has
 * REGISTERS of each thread */
static void expect_tensor_st(Terms *t, int64_t n)
{
    (void)n;
    const char *shape = next_word(t);
    int64_t packed = next_number(t), half = next_number(t);
    Operand s = next_source(t);
    int64_t regs = next_number(t), pitch = next_number(t), lane = next_number(t), column = next_number(t);
    uint32_t *to = matrix(t, (Operand){t->to, t->want}, 0, pitch), *from = matrix(t, s, 0, regs);
    for (int64_t w = 0; w < 4 && !t->why; w++)
        if (!tensor_move(shape, packed, half, true, from + w * 32 * regs, regs, to, pitch, w * 32 + lane, column))
            wrong(t, "no such shape");
}

/* tensor_ld SHAPE PACKED HALF SOURCE REGISTERS PITCH LANE COLUMN: the other way; SOURCE is the matrix */
static void expect_tensor_ld(Terms *t, int64_t n)
{
    (void)n;
    const char *shape = next_word(t);
    int64_t packed = next_number(t), half = next_number(t);
    Operand s = next_source(t);
    int64_t regs = next_number(t), pitch = next_number(t), lane = next_number(t), column = next_number(t);
    uint32_t *from = matrix(t, s, 0, pitch), *to = matrix(t, (Operand){t->to, t->want}, 0, regs);
    for (int64_t w = 0; w < 4 && !t->why; w++)
        if (!tensor_move(shape, packed, half, false, to + w * 32 * regs, regs, from, pitch, w * 32 + lane, column))
            wrong(t, "no such shape");
}

/* masked SOURCE MASK: the bytes i of the source whose bit i % 16 is set in the mask */
static void expect_masked(Terms *t, int64_t n)
{
    Operand s = next_source(t);
    int64_t mask = next_number(t);
    size_t bytes = t->to->bytes < s.b->bytes ? t->to->bytes : s.b->bytes;
    (void)n;
    for (size_t i = 0; i < bytes && !t->why; i++)
        if (mask >> i % 16 & 1) t->want[i] = s.data[i];
}

/* ---- copies through maps: ../unit/sim_modes_ref.h ---- */
static void next_numbers(Terms *t, int64_t *out, int most) /* "1,2,3" */
{
    char *s = t->at < t->n ? t->word[t->at++] : "";
    for (int i = 0; *s && i < most; i++) {
        out[i] = strtoll(s, &s, 0);
        if (*s == ',') s++;
    }
    if (*s) wrong(t, "no list of numbers");
}

typedef struct Image { /* of a box in shared memory, from byte `at` of a buffer on */
    RefCopy copy;
    int64_t *plan, at;
} Image;

/* MAP COORDS [offsets NUMBERS] [at BYTE] */
static Image next_image(Terms *t, bool is_load)
{
    Image x = {.plan = must(malloc(REF_BYTES * sizeof *x.plan))};
    int64_t coord[5] = {0}, offset[3] = {0};
    int i = 0;
    while (i < t->c->nmaps && (t->at == t->n || strcmp(t->c->maps[i].name, t->word[t->at]) != 0)) i++;
    if (i == t->c->nmaps) return wrong(t, "no map of that name"), x;
    t->at++;
    next_numbers(t, coord, 5);
    for (; t->at + 1 < t->n && !t->why;) {
        const char *word = t->word[t->at++];
        if (strcmp(word, "offsets") == 0) next_numbers(t, offset, 3);
        else if (strcmp(word, "at") == 0) x.at = next_number(t);
        else wrong(t, "unknown word");
    }
    MapDesc d = t->c->maps[i].desc;
    d.address = t->c->maps[i].offset;
    x.copy = ref_words(&d, is_load, 0, coord, offset);
    if (ref_copy(&x.copy, x.plan) < 0) wrong(t, "the copy ends the kernel");
    return x;
}

/* loaded SOURCE ..: what the copy puts into shared memory; the gaps and what it leaves alone stay */
static void expect_loaded(Terms *t, int64_t n)
{
    Operand s = next_source(t);
    Image x = next_image(t, true);
    (void)n;
    for (int64_t b = 0; b < REF_BYTES && !t->why; b++) {
        int64_t from = x.plan[b], to = x.at + b;
        if (from < REF_FILLED) continue;
        if (to < 0 || (size_t)to >= t->to->bytes || from >= (int64_t)s.b->bytes) wrong(t, "reaches outside a buffer");
        else t->want[to] = from == REF_FILLED ? 0 : s.data[from];
    }
    free(x.plan);
}

/* What is in shared memory for byte b of it; packed: for the 12 bytes that 16 of them become. */
static uint8_t stored_byte(const Image *x, const unsigned char *data, int64_t b)
{
    uint8_t out[12];
    if (x->copy.container != 12) return data[x->at + b];
    ref_pack6(out, data + x->at + b / 16 * 16);
    return out[b % 16];
}

/* stored SOURCE ..: what the copy of the image that is SOURCE writes */
static void expect_stored(Terms *t, int64_t n)
{
    Operand s = next_source(t);
    Image x = next_image(t, false);
    (void)n;
    for (int64_t b = 0; b < REF_BYTES && !t->why; b++) {
        if (x.plan[b] < 0) continue;
        if (x.plan[b] >= (int64_t)t->to->bytes || x.at + b >= (int64_t)s.b->bytes) wrong(t, "reaches outside a buffer");
        else t->want[x.plan[b]] = stored_byte(&x, s.data, b);
    }
    free(x.plan);
}

/* reduced OP SOURCE ..: the same, into what was there */
static void expect_reduced(Terms *t, int64_t n)
{
    const char *op = t->at < t->n ? t->word[t->at++] : "";
    Operand s = next_source(t);
    Image x = next_image(t, false);
    int64_t size = (int64_t)(t->to->bytes / t->to->count);
    (void)n;
    for (int64_t b = 0; b + size <= REF_BYTES && !t->why; b += size) {
        if (x.plan[b] < 0) continue;
        int64_t i = x.plan[b] / size;
        store(t, i, operate(t, op, t->to->type, wanted(t, i), load(t, s, (x.at + b) / size)));
    }
    free(x.plan);
}

static const struct {
    const char *name;
    void (*apply)(Terms *t, int64_t n);
} FUNCTIONS[] = {
    {"copy", expect_copy},
    {"fill", expect_fill},
    {"affine", expect_affine},
    {"plus", expect_plus},
    {"transpose", expect_transpose},
    {"mirror", expect_mirror},
    {"reduce", expect_reduce},
    {"rows", expect_rows},
    {"stride", expect_stride},
    {"tally", expect_tally},
    {"alike", expect_alike},
    {"gather", expect_gather},
    {"turn", expect_turn},
    {"window", expect_window},
    {"histogram", expect_histogram},
    {"widen", expect_widen},
    {"tensor_cp", expect_tensor_cp},
    {"tensor_shift", expect_tensor_shift},
    {"tensor_st", expect_tensor_st},
    {"tensor_ld", expect_tensor_ld},
    {"mask", expect_mask},
    {"masked", expect_masked},
    {"loaded", expect_loaded},
    {"stored", expect_stored},
    {"reduced", expect_reduced},
};

bool expect_apply(const Case *c, const CaseExpect *e, unsigned char *const *before, unsigned char *want, char *text,
                  size_t size)
{
    char copy[sizeof e->text];
    memcpy(copy, e->text, sizeof copy);
    Terms t = {.c = c, .before = before, .to = &c->buffers[e->buffer], .want = want, .at = 1};
    t.n = split_words(copy, t.word);
    size_t f = 0, all = sizeof FUNCTIONS / sizeof FUNCTIONS[0];
    while (f < all && (t.n == 0 || strcmp(FUNCTIONS[f].name, t.word[0]) != 0)) f++;
    if (f == all) wrong(&t, "unknown reference function");
    else FUNCTIONS[f].apply(&t, (int64_t)t.to->count);
    if (!t.why && t.at != t.n) wrong(&t, "words are left over");
    if (t.why) snprintf(text, size, "`%s`: %s", e->text, t.why);
    return !t.why;
}
