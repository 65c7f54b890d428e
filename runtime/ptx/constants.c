/* Constants of PTX and their expressions (PTX ISA, "Constant Expressions"): 64-bit integers with the signedness rules
 * of C, and doubles.
 */
#include "runtime/ptx/parse.h"

#include <string.h>

static PtxConst of_int(uint64_t v, bool is_unsigned)
{
    return (PtxConst){PTX_INT, is_unsigned, (int64_t)v};
}

static PtxConst of_double(double v)
{
    PtxConst c = {.kind = PTX_F64_BITS};
    memcpy(&c.value, &v, sizeof v);
    return c;
}

double ptx_double(PtxConst c)
{
    if (c.kind == PTX_INT) return c.is_unsigned ? (double)(uint64_t)c.value : (double)c.value;
    if (c.kind == PTX_F32_BITS) {
        uint32_t bits = (uint32_t)c.value;
        float f;
        memcpy(&f, &bits, sizeof f);
        return (double)f;
    }
    double d;
    memcpy(&d, &c.value, sizeof d);
    return d;
}

bool ptx_integer(PtxReader *r, PtxConst c, int64_t *value)
{
    *value = c.kind == PTX_INT ? c.value : 0;
    if (c.kind != PTX_INT) ptx_problem(r, r->cur.line, "a fraction stands where only an integer has a meaning");
    return c.kind == PTX_INT;
}

PtxConst ptx_unary(PtxReader *r, int op, PtxConst a)
{
    if (op == PT_MINUS && a.kind != PTX_INT) { /* the sign bit, so that NaNs keep theirs */
        int64_t sign = a.kind == PTX_F32_BITS ? INT64_C(1) << 31 : INT64_MIN;
        return (PtxConst){a.kind, false, a.value ^ sign};
    }
    int64_t v;
    ptx_integer(r, a, &v);
    uint64_t u = (uint64_t)v;
    if (op == PT_NOT) return of_int(!u, false);
    return of_int(op == PT_MINUS ? 0 - u : ~u, a.is_unsigned);
}

static PtxConst of_doubles(PtxReader *r, int op, double a, double b)
{
    switch (op) {
    case PT_STAR: return of_double(a * b);
    case PT_SLASH: return of_double(a / b);
    case PT_PLUS: return of_double(a + b);
    case PT_MINUS: return of_double(a - b);
    case PT_LT: return of_int(a < b, false);
    case PT_GT: return of_int(a > b, false);
    case PT_LE: return of_int(a <= b, false);
    case PT_GE: return of_int(a >= b, false);
    case PT_EQ: return of_int(a == b, false);
    case PT_NE: return of_int(a != b, false);
    default: ptx_problem(r, r->cur.line, "this operator works on integers only"); return of_int(0, false);
    }
}

static PtxConst divided(PtxReader *r, int op, uint64_t a, uint64_t b, bool is_unsigned)
{
    if (b == 0) {
        ptx_problem(r, r->cur.line, "a constant is divided by 0");
        return of_int(0, is_unsigned);
    }
    bool quotient = op == PT_SLASH;
    if (is_unsigned) return of_int(quotient ? a / b : a % b, true);
    if (b == UINT64_MAX) return of_int(quotient ? 0 - a : 0, false); /* -1: INT64_MIN / -1 wraps */
    int64_t x = (int64_t)a, y = (int64_t)b;
    return of_int((uint64_t)(quotient ? x / y : x % y), false);
}

/* Counts beyond 63 shift everything out. */
static uint64_t shifted(int op, uint64_t a, uint64_t n, bool is_unsigned)
{
    if (op == PT_SHL) return n > 63 ? 0 : a << n;
    bool fill = !is_unsigned && a >> 63;
    uint64_t ones = fill ? UINT64_MAX : 0;
    if (n > 63) return ones;
    return n == 0 ? a : a >> n | ones << (64 - n);
}

PtxConst ptx_binary(PtxReader *r, int op, PtxConst ca, PtxConst cb)
{
    if (ca.kind != PTX_INT || cb.kind != PTX_INT) return of_doubles(r, op, ptx_double(ca), ptx_double(cb));
    uint64_t a = (uint64_t)ca.value, b = (uint64_t)cb.value;
    bool u = ca.is_unsigned || cb.is_unsigned;
    bool less = u ? a < b : ca.value < cb.value;
    switch (op) {
    case PT_STAR: return of_int(a * b, u);
    case PT_SLASH:
    case PT_PERCENT: return divided(r, op, a, b, u);
    case PT_PLUS: return of_int(a + b, u);
    case PT_MINUS: return of_int(a - b, u);
    case PT_SHL:
    case PT_SHR: return of_int(shifted(op, a, b, ca.is_unsigned), ca.is_unsigned);
    case PT_LT: return of_int(less, false);
    case PT_GE: return of_int(!less, false);
    case PT_GT: return of_int(!less && a != b, false);
    case PT_LE: return of_int(less || a == b, false);
    case PT_EQ: return of_int(a == b, false);
    case PT_NE: return of_int(a != b, false);
    case PT_AND: return of_int(a & b, u);
    case PT_XOR: return of_int(a ^ b, u);
    case PT_OR: return of_int(a | b, u);
    case PT_ANDAND: return of_int(a && b, false);
    default: return of_int(a || b, false); /* PT_OROR */
    }
}

PtxConst ptx_choose(PtxReader *r, PtxConst c, PtxConst a, PtxConst b)
{
    int64_t v;
    ptx_integer(r, c, &v);
    if (a.kind == PTX_INT && b.kind == PTX_INT) a.is_unsigned = b.is_unsigned = a.is_unsigned || b.is_unsigned;
    return v ? a : b;
}

PtxConst ptx_cast(PtxReader *r, const char *type, PtxConst a)
{
    int64_t v;
    bool is_unsigned = strcmp(type, ".u64") == 0;
    if (!is_unsigned && strcmp(type, ".s64") != 0)
        ptx_problem(r, r->cur.line, "constants are cast to .s64 or .u64, not to `%.*s`", ptx_shown(type, strlen(type)),
                    type);
    ptx_integer(r, a, &v);
    return of_int((uint64_t)v, is_unsigned);
}

PtxConst ptx_decimal(Arena *a, const char *s, size_t n) { return of_double(decimal_value(a, s, n)); }
