#include "lang/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_FIRST = 256 };

void text_init(Text *t, Mem *mem)
{
    *t = (Text){.mem = mem};
}

void text_in(Text *t, Arena *a)
{
    *t = (Text){.mem = a->mem, .arena = a};
}

const char *text_end(Text *t)
{
    text_put(t, "", 0);
    t->s = arena_grow(t->arena, t->s, t->cap, t->n + 1);
    t->cap = t->n + 1;
    return t->s;
}

void text_free(Text *t)
{
    if (t->arena == NULL) mem_free(t->mem, t->s);
    t->s = NULL;
    t->n = t->cap = 0;
}

void text_clear(Text *t)
{
    t->n = 0;
    if (t->s) t->s[0] = 0;
}

/* Makes room for n more bytes and the final 0. */
static void grow(Text *t, size_t n)
{
    size_t need = n > SIZE_MAX - t->n - 1 ? SIZE_MAX : t->n + n + 1;
    size_t cap = t->cap ? t->cap : TEXT_FIRST;
    while (cap < need) cap = cap > SIZE_MAX / 2 ? SIZE_MAX : cap * 2;
    t->s = t->arena ? arena_grow(t->arena, t->s, t->cap, cap) : mem_resize(t->mem, t->s, cap);
    t->cap = cap;
}

static inline char *room(Text *t, size_t n)
{
    if (t->cap - t->n <= n) grow(t, n); /* one byte stays for the 0 */
    return t->s + t->n;
}

void text_put(Text *t, const char *s, size_t n)
{
    char *p = room(t, n);
    if (n) memcpy(p, s, n);
    p[n] = 0;
    t->n += n;
}

void text_put_front(Text *t, const char *s, size_t n)
{
    size_t was = t->n;
    if (n == 0) return;
    text_put(t, s, n);
    memmove(t->s + n, t->s, was);
    memcpy(t->s, s, n);
}

void text_str(Text *t, const char *s)
{
    text_put(t, s, strlen(s));
}

void text_char(Text *t, char c)
{
    char *p = room(t, 1);
    p[0] = c;
    p[1] = 0;
    t->n++;
}

static const char DIGIT_PAIRS[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
                                  "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
                                  "8081828384858687888990919293949596979899";

void text_uint(Text *t, uint64_t v)
{
    char buf[20]; /* 2^64 - 1 has 20 digits */
    char *p = buf + sizeof buf;
    while (v >= 100) {
        p -= 2;
        memcpy(p, DIGIT_PAIRS + 2 * (v % 100), 2);
        v /= 100;
    }
    if (v >= 10) {
        p -= 2;
        memcpy(p, DIGIT_PAIRS + 2 * v, 2);
    } else {
        *--p = (char)('0' + v);
    }
    text_put(t, p, (size_t)(buf + sizeof buf - p));
}

void text_int(Text *t, int64_t v)
{
    if (v < 0) text_char(t, '-');
    text_uint(t, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

void text_vprintf(Text *t, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    char *p = room(t, 80);
    size_t left = t->cap - t->n;
    int n = vsnprintf(p, left, fmt, ap);
    if (n >= 0 && (size_t)n >= left) {
        p = room(t, (size_t)n);
        vsnprintf(p, (size_t)n + 1, fmt, again);
    }
    va_end(again);
    if (n > 0) t->n += (size_t)n;
    t->s[t->n] = 0;
}

void text_printf(Text *t, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    text_vprintf(t, fmt, ap);
    va_end(ap);
}

size_t utf8_length(const char *text, size_t n)
{
    const unsigned char *s = (const unsigned char *)text;
    unsigned char c = s[0];
    if (c < 0x80) return 1;
    size_t len = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;
    if (c < 0xC2 || c > 0xF4 || len > n) return 0;
    if ((c == 0xE0 && s[1] < 0xA0) || (c == 0xED && s[1] > 0x9F)) return 0; /* overlong, surrogates */
    if ((c == 0xF0 && s[1] < 0x90) || (c == 0xF4 && s[1] > 0x8F)) return 0; /* overlong, above U+10FFFF */
    for (size_t i = 1; i < len; i++)
        if ((s[i] & 0xC0) != 0x80) return 0;
    return len;
}

static void json_escape(Text *t, unsigned char c)
{
    switch (c) {
    case '"': text_lit(t, "\\\""); break;
    case '\\': text_lit(t, "\\\\"); break;
    case '\n': text_lit(t, "\\n"); break;
    case '\r': text_lit(t, "\\r"); break;
    case '\t': text_lit(t, "\\t"); break;
    default: {
        char hex[6] = {'\\', 'u', '0', '0', "0123456789abcdef"[c >> 4], "0123456789abcdef"[c & 15]};
        text_put(t, hex, sizeof hex);
    }
    }
}

void text_json(Text *t, const char *s, size_t n)
{
    const unsigned char *u = (const unsigned char *)s;
    text_char(t, '"');
    for (size_t i = 0, from = 0; i <= n;) {
        size_t len = i < n ? utf8_length(s + i, n - i) : 0;
        bool plain = len && u[i] >= 0x20 && u[i] != '"' && u[i] != '\\' && u[i] != 0x7F;
        if (plain) {
            i += len;
            continue;
        }
        text_put(t, s + from, i - from);
        if (i < n && len) json_escape(t, u[i]);
        else if (i < n) text_lit(t, "\xEF\xBF\xBD"); /* U+FFFD */
        from = ++i;
    }
    text_char(t, '"');
}

double decimal_value(Arena *a, const char *s, size_t n)
{
    /* strtod reads the point of the host's locale: it gets digits and an exponent only, `1.25` as `125e-2`. */
    enum { EXP_MAX = 1000000000 };
    char small[64], *buf = n + 16 <= sizeof small ? small : arena_alloc(a, n + 16), *o = buf;
    long exp = 0, given = 0;
    size_t i = 0;
    bool point = false;
    for (; i < n && (s[i] | 0x20) != 'e'; i++) {
        if (s[i] == '.') {
            point = true;
        } else if (s[i] != '_') {
            *o++ = s[i];
            if (point) exp--;
        }
    }
    bool minus = i + 1 < n && s[i + 1] == '-';
    for (; i < n; i++)
        if (s[i] >= '0' && s[i] <= '9' && given < EXP_MAX) given = given * 10 + (s[i] - '0');
    exp += minus ? -given : given;
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
