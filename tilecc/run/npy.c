#include "tilecc/run/npy.h"

#include <stdio.h>
#include <string.h>

typedef struct Reader { /* over the header's text: a Python dictionary with three keys */
    const char *p, *end;
    char *why;
} Reader;

static bool refuse(Reader *r, const char *why)
{
    snprintf(r->why, NPY_WHY, "%s", why);
    return false;
}

static void skip_space(Reader *r)
{
    while (r->p < r->end && (*r->p == ' ' || *r->p == '\t' || *r->p == '\n' || *r->p == '\r')) r->p++;
}

static bool take(Reader *r, char c)
{
    skip_space(r);
    if (r->p == r->end || *r->p != c) return false;
    r->p++;
    return true;
}

static bool take_word(Reader *r, const char *word)
{
    size_t n = strlen(word);
    skip_space(r);
    if ((size_t)(r->end - r->p) < n || memcmp(r->p, word, n) != 0) return false;
    r->p += n;
    return true;
}

/* A quoted string without escapes that fits into out. */
static bool take_string(Reader *r, char *out, size_t size)
{
    skip_space(r);
    if (r->p == r->end || (*r->p != '\'' && *r->p != '"')) return false;
    char quote = *r->p++;
    size_t n = 0;
    for (; r->p < r->end && *r->p != quote; r->p++) {
        if (n + 1 >= size || *r->p < ' ' || *r->p > '~' || *r->p == '\\') return false;
        out[n++] = *r->p;
    }
    out[n] = 0;
    return take(r, quote);
}

static bool take_extent(Reader *r, int64_t *out)
{
    int64_t v = 0;
    skip_space(r);
    const char *from = r->p;
    for (; r->p < r->end && *r->p >= '0' && *r->p <= '9'; r->p++) {
        int digit = *r->p - '0';
        if (v > (INT64_MAX - digit) / 10) return refuse(r, "has a dimension beyond 2^63");
        v = v * 10 + digit;
    }
    *out = v;
    if (r->p > from) return true;
    return refuse(r, "has a header whose shape is no tuple of numbers");
}

static bool read_shape(Reader *r, NpyArray *out)
{
    if (!take(r, '(')) return refuse(r, "has a header whose shape is no tuple of numbers");
    out->rank = 0;
    while (!take(r, ')')) {
        if (out->rank == NPY_RANK) return refuse(r, "has more than 8 dimensions");
        if (!take_extent(r, &out->shape[out->rank])) return false;
        out->rank++;
        if (take(r, ',')) continue;
        if (take(r, ')')) break;
        return refuse(r, "has a header whose shape is no tuple of numbers");
    }
    return true;
}

static bool read_descr(Reader *r, NpyArray *out)
{
    skip_space(r);
    if (r->p < r->end && *r->p == '[') return refuse(r, "holds records; one number per element is needed");
    if (!take_string(r, out->descr, sizeof out->descr)) return refuse(r, "has a header whose descr is no dtype");
    if (out->descr[0] == '>') return refuse(r, "is big-endian; save it with a.astype(a.dtype.newbyteorder('<'))");
    return true;
}

static bool read_order(Reader *r)
{
    if (take_word(r, "False")) return true;
    if (take_word(r, "True")) return refuse(r, "is in Fortran order; save it with numpy.ascontiguousarray(a)");
    return refuse(r, "has a header whose fortran_order is neither True nor False");
}

static bool read_dictionary(Reader *r, NpyArray *out)
{
    bool descr = false, order = false, shape = false;
    if (!take(r, '{')) return refuse(r, "has a header that is no dictionary");
    while (!take(r, '}')) {
        char key[32];
        bool *seen = NULL;
        if (!take_string(r, key, sizeof key) || !take(r, ':')) return refuse(r, "has a header that is no dictionary");
        if (strcmp(key, "descr") == 0) seen = &descr;
        if (strcmp(key, "fortran_order") == 0) seen = &order;
        if (strcmp(key, "shape") == 0) seen = &shape;
        if (!seen) return refuse(r, "has a header with an unknown key");
        if (*seen) return refuse(r, "has a header with a key that occurs twice");
        *seen = true;
        if (!(seen == &descr ? read_descr(r, out) : seen == &order ? read_order(r) : read_shape(r, out))) return false;
        if (!take(r, ',')) {
            if (take(r, '}')) break;
            return refuse(r, "has a header that is no dictionary");
        }
    }
    skip_space(r);
    if (r->p != r->end) return refuse(r, "has a header with something behind the dictionary");
    if (!descr || !order || !shape) return refuse(r, "has a header without descr, fortran_order or shape");
    return true;
}

/* Bytes of one element: the number at the end of "<f4"; 0: none. */
static size_t item_size(const char *descr)
{
    const char *p = descr;
    size_t n = 0;
    if (*p == '<' || *p == '|' || *p == '=') p++;
    if (*p == 'U' || *p == 'S') return 0; /* texts */
    if (*p) p++;
    if (!*p || strlen(p) > 4) return 0;
    for (; *p; p++) {
        if (*p < '0' || *p > '9') return 0;
        n = n * 10 + (size_t)(*p - '0');
    }
    return n;
}

static bool data_size(Reader *r, NpyArray *a)
{
    size_t bytes = item_size(a->descr);
    if (bytes == 0) {
        snprintf(r->why, NPY_WHY, "has the dtype '%s', which is no number", a->descr);
        return false;
    }
    for (int i = 0; i < a->rank; i++)
        if (a->shape[i] == 0) bytes = 0;
    for (int i = 0; bytes && i < a->rank; i++) {
        if ((uint64_t)a->shape[i] > (SIZE_MAX / 2) / bytes) return refuse(r, "is larger than memory can be");
        bytes *= (size_t)a->shape[i];
    }
    a->bytes = bytes;
    return true;
}

enum { MAGIC_BYTES = 6, HEAD_1 = 10, HEAD_2 = 12 }; /* in front of the header's text, by format version */

/* Bytes in front of the data; 0: not known from the bytes that there are. */
static size_t data_offset(const unsigned char *b, size_t size)
{
    size_t head = b[6] == 1 ? HEAD_1 : HEAD_2;
    if (size < head) return 0;
    size_t length = (size_t)b[8] | (size_t)b[9] << 8;
    if (head == HEAD_2) length |= (size_t)b[10] << 16 | (size_t)b[11] << 24;
    return head + length;
}

static bool read_header(Reader *r, const unsigned char *b, size_t size, NpyArray *out)
{
    if (size < HEAD_1 || memcmp(b, "\x93NUMPY", MAGIC_BYTES) != 0) return refuse(r, "is no .npy file");
    if (b[6] != 1 && b[6] != 2) {
        snprintf(r->why, NPY_WHY, "has .npy format version %d.%d; 1 and 2 can be read", b[6], b[7]);
        return false;
    }
    out->offset = data_offset(b, size);
    if (out->offset == 0 || out->offset > size) return refuse(r, "is truncated in its header");
    r->p = (const char *)b + (b[6] == 1 ? HEAD_1 : HEAD_2);
    r->end = (const char *)b + out->offset;
    return read_dictionary(r, out) && data_size(r, out);
}

bool npy_read(const void *file, size_t size, NpyArray *out, char why[NPY_WHY])
{
    Reader r = {.why = why};
    *out = (NpyArray){0};
    why[0] = 0;
    if (!read_header(&r, file, size, out)) return false;
    size_t there = size - out->offset;
    if (there == out->bytes) return true;
    if (there < out->bytes)
        snprintf(why, NPY_WHY, "is truncated: %zu of %zu bytes of data are there", there, out->bytes);
    else snprintf(why, NPY_WHY, "has bytes behind its data");
    return false;
}

size_t npy_needs(const char *file, size_t size)
{
    const unsigned char *b = (const unsigned char *)file;
    char why[NPY_WHY];
    NpyArray a = {0};
    Reader r = {.why = why};
    if (size < HEAD_2) return HEAD_2;
    if (memcmp(b, "\x93NUMPY", MAGIC_BYTES) != 0 || (b[6] != 1 && b[6] != 2)) return size;
    size_t offset = data_offset(b, size);
    if (offset > size) return offset;
    if (!read_header(&r, b, size, &a)) return size;
    return a.offset + a.bytes + 1; /* one more: there should be none */
}

size_t npy_header(const char *descr, int rank, const int64_t *shape, char buf[NPY_HEADER_MAX])
{
    enum { HEAD = 10, ALIGN = 64 }; /* NEP 1: the data starts at a multiple of 64 */
    size_t n = HEAD;
    n += (size_t)snprintf(buf + n, NPY_HEADER_MAX - n, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    for (int i = 0; i < rank; i++)
        n += (size_t)snprintf(buf + n, NPY_HEADER_MAX - n, "%s%lld%s", i ? " " : "", (long long)shape[i],
                              i + 1 < rank || rank == 1 ? "," : "");
    n += (size_t)snprintf(buf + n, NPY_HEADER_MAX - n, "), }");
    size_t total = (n + ALIGN) / ALIGN * ALIGN; /* room for the final newline */
    memset(buf + n, ' ', total - n);
    buf[total - 1] = '\n';
    memcpy(buf, "\x93NUMPY\x01\x00", 8);
    buf[8] = (char)((total - HEAD) & 255);
    buf[9] = (char)((total - HEAD) >> 8);
    return total;
}

bool npy_dtype_fits(const char *descr, const char *want, bool stored_raw)
{
    const char *have = descr + strspn(descr, "<|="), *need = want + strspn(want, "<|=");
    if (strcmp(have, need) == 0) return true;
    return stored_raw && have[0] == 'V' && strcmp(have + 1, need + 1) == 0;
}
