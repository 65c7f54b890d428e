#include <string.h>

#include "lang/manifest/manifest.h"

/* Where the array is looked for: an ELF file (System V ABI, 64-bit, little-endian) or PTX text. Both are untrusted:
 * every offset is checked against the image before it is followed. */
typedef struct Image {
    const unsigned char *p;
    size_t n;
} Image;

static bool inside(Image m, uint64_t at, uint64_t len)
{
    return at <= m.n && len <= m.n - at;
}

/* Little-endian number of `size` bytes; the caller has checked that it lies inside. */
static uint64_t number(Image m, uint64_t at, unsigned size)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < size; i++) v |= (uint64_t)m.p[at + i] << 8 * i;
    return v;
}

/* ---- ELF ---- */

enum { EHDR = 64, SHDR = 64, SYM = 24, SHT_SYMTAB_ = 2, SHT_NOBITS_ = 8, SHN_LORESERVE_ = 0xFF00 };

typedef struct Section {
    uint32_t type, link;
    uint64_t addr, offset, size, entsize;
} Section;

typedef struct Elf {
    Image image;
    uint64_t table;
    uint32_t count;
} Elf;

static bool is_elf(Image m)
{
    return m.n >= 4 && memcmp(m.p, "\177ELF", 4) == 0;
}

static Section section_at(const Elf *e, uint32_t i)
{
    uint64_t at = e->table + (uint64_t)i * SHDR;
    Image m = e->image;
    return (Section){.type = (uint32_t)number(m, at + 4, 4),
                     .link = (uint32_t)number(m, at + 40, 4),
                     .addr = number(m, at + 16, 8),
                     .offset = number(m, at + 24, 8),
                     .size = number(m, at + 32, 8),
                     .entsize = number(m, at + 56, 8)};
}

static const char *open_elf(Image m, Elf *e)
{
    if (m.n < EHDR) return "the ELF header is cut off";
    if (m.p[4] != 2 || m.p[5] != 1) return "the ELF file is not 64-bit little-endian";
    *e = (Elf){m, number(m, 40, 8), (uint32_t)number(m, 60, 2)};
    if (e->count == 0 || number(m, 58, 2) != SHDR) return "the ELF file has no section table";
    if (!inside(m, e->table, (uint64_t)e->count * SHDR)) return "the section table lies outside the ELF file";
    return NULL;
}

static bool name_is(Image m, Section strings, uint64_t name)
{
    size_t len = sizeof MANIFEST_SYMBOL; /* with the final 0 */
    return name <= strings.size && len <= strings.size - name &&
           memcmp(m.p + strings.offset + name, MANIFEST_SYMBOL, len) == 0;
}

/* The bytes of the symbol at `sym`, or a sentence. */
static const char *symbol_bytes(const Elf *e, uint64_t sym, Image *out)
{
    uint64_t shndx = number(e->image, sym + 6, 2), value = number(e->image, sym + 8, 8);
    uint64_t size = number(e->image, sym + 16, 8);
    if (shndx == 0 || shndx >= SHN_LORESERVE_ || shndx >= e->count) return "the manifest's symbol is not defined";
    Section s = section_at(e, (uint32_t)shndx);
    if (s.type == SHT_NOBITS_) return "the manifest's section has no data";
    if (value >= s.addr) value -= s.addr; /* executables give addresses; cubins give offsets and sh_addr 0 */
    if (value > s.size || size > s.size - value) return "the manifest lies outside its section";
    if (!inside(e->image, s.offset, s.size)) return "the manifest's section lies outside the ELF file";
    *out = (Image){e->image.p + s.offset + value, (size_t)size};
    return NULL;
}

static const char *search_symbols(const Elf *e, Section symbols, Image *out, bool *found)
{
    Image m = e->image;
    if (symbols.link >= e->count) return "a symbol table has no strings";
    Section strings = section_at(e, symbols.link);
    if (symbols.entsize != SYM) return "a symbol table has entries of another size";
    if (!inside(m, symbols.offset, symbols.size) || !inside(m, strings.offset, strings.size))
        return "a symbol table lies outside the ELF file";
    for (uint64_t at = 0; SYM <= symbols.size - at; at += SYM) {
        uint64_t sym = symbols.offset + at;
        if (!name_is(m, strings, number(m, sym, 4))) continue;
        *found = true;
        return symbol_bytes(e, sym, out);
    }
    return NULL;
}

static const char *find_in_elf(Image m, Image *out)
{
    Elf e = {0};
    const char *fault = open_elf(m, &e);
    bool found = false;
    for (uint32_t i = 0; i < e.count && fault == NULL && !found; i++) {
        Section s = section_at(&e, i);
        if (s.type == SHT_SYMTAB_) fault = search_symbols(&e, s, out, &found);
    }
    if (fault) return fault;
    return found ? NULL : "this is no cubin that tilecc made: it has no symbol " MANIFEST_SYMBOL;
}

static const char *decode_bytes(Image bytes, Arena *a, Manifest *out)
{
    size_t n = bytes.n / 8;
    uint64_t *w = arena_array(a, uint64_t, n);
    for (size_t i = 0; i < n; i++) w[i] = number(bytes, i * 8, 8);
    return manifest_decode(w, n, a, out);
}

/* ---- PTX ---- */

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

typedef struct Cursor {
    const char *p, *end;
} Cursor;

static void skip_space(Cursor *c)
{
    while (c->p < c->end && is_space(*c->p)) c->p++;
}

static bool take(Cursor *c, char ch)
{
    skip_space(c);
    if (c->p == c->end || *c->p != ch) return false;
    c->p++;
    return true;
}

static int digit_value(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

/* Decimal or 0x hexadecimal, with the U that PTX allows behind it. */
static bool take_number(Cursor *c, uint64_t *out)
{
    skip_space(c);
    unsigned base = 10;
    if (c->end - c->p > 2 && c->p[0] == '0' && (c->p[1] == 'x' || c->p[1] == 'X')) {
        base = 16;
        c->p += 2;
    }
    const char *from = c->p;
    uint64_t v = 0;
    for (; c->p < c->end && (unsigned)digit_value(*c->p) < base; c->p++) {
        unsigned digit = (unsigned)digit_value(*c->p);
        if (v > (UINT64_MAX - digit) / base) return false;
        v = v * base + digit;
    }
    *out = v;
    bool any = c->p > from;
    if (any && c->p < c->end && *c->p == 'U') c->p++;
    return any;
}

/* Does the declaration's type, which stands before `at`, have 64 bits? */
static bool after_64_bit_type(const char *text, const char *at)
{
    const char *p = at;
    while (p > text && is_space(p[-1])) p--;
    return p < at && p - text >= 4 && (memcmp(p - 4, ".b64", 4) == 0 || memcmp(p - 4, ".u64", 4) == 0);
}

/* Behind the name: "[n] = { w, w, ... }". */
static const char *read_array(Cursor c, Arena *a, Manifest *out)
{
    uint64_t declared = 0;
    if (!take(&c, '[')) return "the manifest is no array";
    bool sized = take_number(&c, &declared);
    if (!take(&c, ']') || !take(&c, '=') || !take(&c, '{')) return "the manifest's array has no words";
    size_t commas = 0;
    for (const char *p = c.p; p < c.end && *p != '}'; p++) commas += *p == ',';
    uint64_t *w = arena_array(a, uint64_t, commas + 1);
    size_t n = 0;
    do {
        if (n > commas || !take_number(&c, &w[n])) return "a word of the manifest's array is no 64-bit number";
        n++;
    } while (take(&c, ','));
    if (!take(&c, '}')) return "the manifest's array does not end";
    if (sized && declared != n) return "the manifest's array has another length than it declares";
    return manifest_decode(w, n, a, out);
}

static const char *find_in_ptx(const char *text, size_t n, Arena *a, Manifest *out)
{
    static const char symbol[] = MANIFEST_SYMBOL;
    const size_t len = sizeof symbol - 1;
    const char *end = n ? text + n : text; /* NULL where there is no image */
    for (const char *p = text; (size_t)(end - p) >= len; p++) {
        p = memchr(p, symbol[0], (size_t)(end - p) - len + 1);
        if (p == NULL) break;
        if (memcmp(p, symbol, len) != 0 || !after_64_bit_type(text, p)) continue;
        Cursor c = {p + len, end};
        skip_space(&c);
        if (c.p < end && *c.p == '[') return read_array(c, a, out);
    }
    return "this is no PTX that tilecc made: it has no array " MANIFEST_SYMBOL;
}

const char *manifest_find(const void *image, size_t size, Arena *a, Manifest *out)
{
    Image m = {image, size}, bytes = {NULL, 0};
    *out = (Manifest){.compiler = "", .target = "", .source = ""};
    if (!is_elf(m)) return find_in_ptx(image, size, a, out);
    const char *fault = find_in_elf(m, &bytes);
    return fault ? fault : decode_bytes(bytes, a, out);
}
