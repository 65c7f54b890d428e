/* Values of number literals. */
#include "frontend/lex.h"

#include <stdlib.h>
#include <string.h>

static unsigned digit(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
}

bool literal_int(const char *s, size_t n, unsigned base, uint64_t *value)
{
    uint64_t v = 0;
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '_') continue;
        unsigned d = digit(s[i]);
        if (v > (UINT64_MAX - d) / base) return false;
        v = v * base + d;
    }
    *value = v;
    return true;
}

double literal_float(Arena *a, const char *s, size_t n)
{
    /* strtod reads the point of the host's locale: it gets digits and an exponent only, `1.25` as `125e-2`. */
    enum { EXP_MAX = 1000000000 };
    char small[64], *buf = n + 16 <= sizeof small ? small : arena_alloc(a, n + 16), *o = buf;
    long exp = 0;
    size_t i = 0;
    bool point = false;
    for (; i < n && s[i] != 'e' && s[i] != 'E'; i++) {
        if (s[i] == '.') {
            point = true;
        } else if (s[i] != '_') {
            *o++ = s[i];
            if (point) exp--;
        }
    }
    if (i < n) {
        long given = 0;
        bool minus = s[++i] == '-';
        for (; i < n; i++)
            if (s[i] >= '0' && s[i] <= '9' && given < EXP_MAX / 10) given = given * 10 + (s[i] - '0');
        exp += minus ? -given : given;
    }
    *o++ = 'e';
    if (exp < 0) *o++ = '-';
    unsigned long e = exp < 0 ? 0ul - (unsigned long)exp : (unsigned long)exp;
    char rev[24];
    unsigned k = 0;
    do rev[k++] = (char)('0' + e % 10);
    while ((e /= 10) != 0);
    while (k) *o++ = rev[--k];
    *o = 0;
    return strtod(buf, NULL);
}
