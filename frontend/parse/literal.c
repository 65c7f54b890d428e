/* Values of whole literals. */
#include "frontend/parse/lex.h"

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
