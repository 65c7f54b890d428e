#include "tilecc/extent.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tilecc/cli.h"

typedef struct Extent {
    const char *p;
    ExtentName *name;
    void *user;
    unsigned depth; /* of brackets and signs */
    bool wrong;
} Extent;

static const double VALUE_MOST = 0x1p60;
enum { DEPTH_MOST = 64 };

/* What is worked out next is less than 2^60: it fits; else the extent is wrong. */
static bool fits(Extent *x, double next)
{
    x->wrong |= !(next < VALUE_MOST && next > -VALUE_MOST);
    return !x->wrong;
}

static int64_t sum(Extent *x);

static void skip(Extent *x)
{
    while (*x->p == ' ') x->p++;
}

static bool eat(Extent *x, char c)
{
    skip(x);
    if (*x->p != c) return false;
    x->p++;
    return true;
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t call(Extent *x, const char *name, size_t n)
{
    x->wrong |= x->depth == DEPTH_MOST;
    x->depth++;
    int64_t a = x->wrong ? 1 : sum(x), b = 1;
    if (eat(x, ',')) b = sum(x);
    x->depth--;
    if (!eat(x, ')') || b == 0) x->wrong = true;
    if (x->wrong) return 1;
    if (n == 4 && memcmp(name, "ceil", 4) == 0) return -floor_div(-a, b);
    if (n == 3 && memcmp(name, "min", 3) == 0) return a < b ? a : b;
    if (n == 3 && memcmp(name, "max", 3) == 0) return a > b ? a : b;
    x->wrong = true;
    return 1;
}

static int64_t named(Extent *x, const char *name, size_t n)
{
    int64_t v = 0;
    char *text = copy_text(name, n);
    x->wrong |= n == 0 || !x->name(x->user, text, &v);
    free(text);
    return fits(x, (double)v) ? v : 1;
}

static int64_t term(Extent *x);

static int64_t inner(Extent *x, bool bracket)
{
    if (x->depth == DEPTH_MOST) x->wrong = true;
    if (x->wrong) return 1;
    x->depth++;
    int64_t v = bracket ? sum(x) : -term(x);
    x->depth--;
    if (bracket) x->wrong |= !eat(x, ')');
    return v;
}

static int64_t term(Extent *x)
{
    skip(x);
    const char *from = x->p;
    if (eat(x, '(')) return inner(x, true);
    if (eat(x, '-')) return inner(x, false);
    while (isalnum((unsigned char)*x->p) || *x->p == '_') x->p++;
    size_t n = (size_t)(x->p - from);
    int64_t v = 1;
    if (n && isdigit((unsigned char)*from)) {
        x->wrong |= !read_integer(from, n, &v);
        return fits(x, (double)v) ? v : 1;
    }
    return n && eat(x, '(') ? call(x, from, n) : named(x, from, n);
}

static int64_t product(Extent *x)
{
    int64_t v = term(x);
    for (;;) {
        if (eat(x, '*')) {
            int64_t d = term(x);
            v = fits(x, (double)v * (double)d) ? v * d : 1;
        } else if (eat(x, '/') || *x->p == '%') {
            bool rest = eat(x, '%');
            int64_t d = term(x), q = d ? floor_div(v, d) : 0;
            x->wrong |= d == 0;
            v = rest ? v - q * d : q;
        } else return v;
    }
}

static int64_t sum(Extent *x)
{
    int64_t v = product(x);
    for (;;) {
        int64_t sign = eat(x, '+') ? 1 : eat(x, '-') ? -1 : 0;
        if (!sign) return v;
        int64_t d = sign * product(x);
        v = fits(x, (double)v + (double)d) ? v + d : 1;
    }
}

bool extent_value(const char **p, ExtentName *name, void *user, int64_t *out)
{
    Extent x = {.p = *p, .name = name, .user = user};
    *out = sum(&x);
    skip(&x);
    *p = x.p;
    return !x.wrong;
}
