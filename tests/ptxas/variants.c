#include "tests/ptxas/variants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang/lang.h"

const char VARIANT_VARIABLES[] = ".shared .align 128 .b8 sbuf[1024];\n"
                                 ".shared .align 8 .b64 mb;\n"
                                 ".global .align 128 .b8 gbuf[1024];\n"
                                 ".const .align 128 .b8 cbuf[128];\n";
const char VARIANT_REGISTERS[] = ".reg .pred %p<4>; .reg .b16 %h<8>; .reg .b32 %r<140>; .reg .b64 %d<8>; "
                                 ".reg .f32 %f<4>; .reg .f64 %e<4>;";

static void add(Variants *out, bool near_miss, const char *mods, const char *operands)
{
    if (out->n == out->room) {
        out->room = out->room ? 2 * out->room : 4096;
        out->v = realloc(out->v, out->room * sizeof *out->v);
        if (!out->v) abort();
    }
    Variant *v = &out->v[out->n];
    int n = snprintf(v->text, sizeof v->text, "%s%s%s;", mods, operands[0] ? " " : "", operands);
    if (n < 0 || (size_t)n >= sizeof v->text) return;
    v->near_miss = near_miss;
    v->ends = ENDS_NOTHING;
    out->n++;
}

/* ---- the rows, with every choice of words ---- */

typedef struct Choice { /* what has been chosen for the placeholders of one expansion */
    const char *op, *type, *vec, *n, *field, *hint;
    int dim;
    const FormInfo *info;
} Choice;

static const char *const DIMS[] = {"2", "1", "3", "4", "5", NULL};
static const char *const TYPES[] = {"u32", "s32", "u64", "s64", "b32", "b64", "f16", "bf16", "f32", "f64", "b16", NULL};
static const char *const OPS[] = {"add", "min", "max",       "inc",       "dec", "and",
                                  "or",  "xor", "add.noftz", "min.noftz", "cas", NULL};
static const char *const SHAPES[] = {"32x32b", "16x64b", "16x128b", "16x256b", NULL};
static const char *const EVICTS[] = {"evict_last", "evict_normal", "evict_first", "evict_unchanged", NULL};
static const char *const AXES[] = {"x", "y", "z", "w", NULL};
static const char *const SCOPES[] = {"cta", "cluster", "gpu", "sys", NULL};
static const char *const SEMS[] = {"release", "acquire", "relaxed", NULL};
static const char *const COUNTS[] = {"1", "2", "4", "8", "16", "32", "64", "128", NULL};
static const char *const HINTS[] = {"", ".L2::cache_hint", NULL};
static const char *const GROUPS[] = {"", ".cta_group::1", ".cta_group::2", NULL};
static const char *const ONE_TWO[] = {"1", "2", NULL};
static const char *const FORMATS[] = {"", ".b8x16.b6x16_p32", ".b8x16.b4x16_p64", ".b8x16", ".b6x16_p32", NULL};
static const char *const VECTORS[] = {"", ".v2", ".v4", NULL};
static const char *const ELSES[] = {"", ".L2::evict_first", ".L2::evict_unchanged", ".L2::evict_last", NULL};
static const char *const FIELDS[] = {
    "global_address", "rank",     "box_dim",           "global_dim",   "global_stride",
    "element_stride", "elemtype", "interleave_layout", "swizzle_mode", "swizzle_atomicity",
    "fill_mode",      NULL};

static bool name_is(const char *s, size_t n, const char *name)
{
    return strlen(name) == n && memcmp(s, name, n) == 0;
}

static const char *const *choices(const FormInfo *info, const char *s, size_t n)
{
    static const char *const none[] = {"", NULL};
    if (name_is(s, n, "dim")) return DIMS;
    if (name_is(s, n, "type")) return TYPES;
    if (name_is(s, n, "scope")) return SCOPES;
    if (name_is(s, n, "sem")) return SEMS;
    if (name_is(s, n, "hint")) return HINTS;
    if (name_is(s, n, "group")) return GROUPS;
    if (name_is(s, n, "group1")) return ONE_TWO;
    if (name_is(s, n, "fmt")) return FORMATS;
    if (name_is(s, n, "vec")) return VECTORS;
    if (name_is(s, n, "else")) return ELSES;
    if (name_is(s, n, "field")) return FIELDS;
    if (name_is(s, n, "n")) return COUNTS;
    if (!name_is(s, n, "op")) return none;
    return strncmp(info->ptx, "tcgen05", 7) == 0          ? SHAPES
           : strncmp(info->ptx, "createpolicy", 12) == 0  ? EVICTS
           : strncmp(info->ptx, "clusterlaunch", 13) == 0 ? AXES
                                                          : OPS;
}

static bool is_wide(const char *type)
{
    return type && strstr(type, "64") != NULL;
}

static void vector(char *out, size_t size, const char *reg, int first, int n)
{
    size_t at = (size_t)snprintf(out, size, "{");
    for (int k = 0; k < n && at < size; k++)
        at += (size_t)snprintf(out + at, size - at, "%s%s%d", k ? "," : "", reg, first + k);
    if (at < size) snprintf(out + at, size - at, "}");
}

static const char *typed_register(const char *type)
{
    if (!type) return "%r";
    if (strcmp(type, "f32") == 0) return "%f";
    if (strcmp(type, "f64") == 0) return "%e";
    return is_wide(type) ? "%d" : strstr(type, "16") ? "%h" : "%r";
}

static int register_count(const Choice *c)
{
    int n = c->n ? atoi(c->n) : 4;
    if (c->op && strcmp(c->op, "16x128b") == 0) return 2 * n;
    if (c->op && strcmp(c->op, "16x256b") == 0) return 4 * n;
    return strstr(c->info->ptx, ".m16n16") ? 2 * n : n;
}

static void value_operand(const Choice *c, char *out, size_t size)
{
    const char *ptx = c->info->ptx;
    if (c->vec && c->vec[0]) vector(out, size, typed_register(c->type), 0, c->vec[2] - '0');
    else if (strstr(ptx, "fractional")) snprintf(out, size, "0.5");
    else if (strstr(ptx, ".cvt.")) snprintf(out, size, "%%d1");
    else if (strstr(ptx, "16x32bx2")) snprintf(out, size, "1");
    else if (c->field && strstr("elemtype interleave_layout swizzle_mode swizzle_atomicity fill_mode", c->field))
        snprintf(out, size, "1");
    else snprintf(out, size, "%s2", typed_register(c->type));
}

static void info_operand(const Choice *c, char *out, size_t size)
{
    int n = strstr(c->info->ptx, "im2col::w") ? 2 : c->dim - 2;
    if (n < 1) n = 1;
    snprintf(out, size, ", ");
    vector(out + 2, size - 2, "%h", 1, n);
}

static void operand(const Choice *c, const char *s, size_t n, char *out, size_t size)
{
    static const struct {
        const char *name, *text;
    } plain[] = {
        {"dst", "%r1"},   {"src", "%r2"},  {"mbar", "mb"},   {"gaddr", "%d1"}, {"size", "256"},   {"bytes", "%r6"},
        {"count", "%r7"}, {"parity", "1"}, {"state", "%d3"}, {"rank", "%r3"},  {"threads", "32"}, {"pred", "%p1"},
        {"taddr", "%r1"}, {"desc", "%d2"}, {"mask", "%h1"},  {"map", "%d1"},   {"id", "1"},
    };
    const char *ptx = c->info->ptx;
    out[0] = 0;
    if (name_is(s, n, "coords")) vector(out, size, "%r", 10, strstr(ptx, "er4") ? 5 : c->dim);
    else if (name_is(s, n, "info")) info_operand(c, out, size);
    else if (name_is(s, n, "policy")) snprintf(out, size, "%s", c->hint && c->hint[0] ? ", %d5" : "");
    else if (name_is(s, n, "value")) value_operand(c, out, size);
    else if (name_is(s, n, "ordinal"))
        snprintf(out, size, "%s",
                 c->field && strpbrk(c->field, "x_") && (strstr(c->field, "_dim") || strstr(c->field, "stride")) ? ", 0"
                                                                                                                 : "");
    else if (name_is(s, n, "regs") && strstr(ptx, "get_first_ctaid::")) snprintf(out, size, "%%r2");
    else if (name_is(s, n, "regs")) vector(out, size, "%r", 4, register_count(c));
    else if (name_is(s, n, "reg"))
        snprintf(out, size, "%s",
                 strstr(ptx, "createpolicy") || strstr(ptx, "mapa.shared::cluster.u64") ||
                         (strstr(ptx, "mapa.{") && is_wide(c->type))
                     ? "%d4"
                 : strstr(ptx, "query_cancel") ? "%q1"
                                               : "%r4");
    else if (name_is(s, n, "src") &&
             ((strstr(ptx, "mapa") || strstr(ptx, "getctarank")) && (strstr(ptx, ".u64") || is_wide(c->type))))
        snprintf(out, size, "%%d2");
    else if (name_is(s, n, "size") && strstr(ptx, "st.bulk")) snprintf(out, size, "%%d2");
    else if (name_is(s, n, "n"))
        snprintf(out, size, "%s", strstr(ptx, "setmaxnreg") ? "64" : strstr(ptx, "alloc") ? "32" : "0");
    else
        for (size_t k = 0; k < sizeof plain / sizeof plain[0]; k++)
            if (name_is(s, n, plain[k].name)) snprintf(out, size, "%s", plain[k].text);
}

/* The operands of a row for the words chosen. */
static void operands(const Choice *c, char *out, size_t size)
{
    const char *s = strchr(c->info->ptx, ' ');
    size_t at = 0;
    out[0] = 0;
    for (s = s ? s + 1 : ""; *s && *s != ';' && at + 1 < size;) {
        if (*s != '{') {
            out[at++] = *s++;
            out[at] = 0;
            continue;
        }
        size_t n = strcspn(s, "}");
        operand(c, s + 1, n - 1, out + at, size - at);
        at += strlen(out + at);
        s += n + 1;
    }
}

static void note_choice(Choice *c, const char *s, size_t n, const char *word)
{
    if (name_is(s, n, "dim")) c->dim = word[0] - '0';
    else if (name_is(s, n, "op")) c->op = word;
    else if (name_is(s, n, "type")) c->type = word;
    else if (name_is(s, n, "vec")) c->vec = word;
    else if (name_is(s, n, "n")) c->n = word;
    else if (name_is(s, n, "field")) c->field = word;
    else if (name_is(s, n, "hint")) c->hint = word;
}

static void near_misses(Variants *out, const char *mods, const char *opds);

/* first: this is the first choice of everything so far; its near misses are made too. */
static void expand(Variants *out, const char *s, Choice c, const char *done, bool first)
{
    char text[400];
    size_t at = strlen(done);
    memcpy(text, done, at + 1);
    for (; *s && *s != ' ' && *s != ';' && *s != '{' && at + 1 < sizeof text; s++) {
        text[at++] = *s;
        text[at] = 0;
    }
    if (*s != '{') {
        char opds[1024];
        operands(&c, opds, sizeof opds);
        add(out, false, text, opds);
        if (first) near_misses(out, text, opds);
        return;
    }
    size_t n = strcspn(s, "}");
    const char *const *list = choices(c.info, s + 1, n - 1);
    for (size_t k = 0; list[k]; k++) {
        Choice chosen = c;
        note_choice(&chosen, s + 1, n - 1, list[k]);
        snprintf(text + at, sizeof text - at, "%s", list[k]);
        /* im2col modes have at least 3 dimensions: the second base that near misses start from */
        bool base = k == 0 || (name_is(s + 1, n - 1, "dim") && list[k][0] == '3' && strstr(c.info->ptx, "im2col"));
        expand(out, s + n + 1, chosen, text, first && base);
    }
}

/* ---- near misses ---- */

enum { MAX_PARTS = 24 };
typedef struct Parts {
    char text[MAX_PARTS][320];
    size_t n;
} Parts;

/* Modifiers: at dots. The first part is the opcode. */
static void split_mods(const char *s, Parts *p)
{
    p->n = 0;
    while (*s && p->n < MAX_PARTS) {
        size_t n = 1 + strcspn(s + 1, ".");
        snprintf(p->text[p->n++], sizeof p->text[0], "%.*s", (int)n, s);
        s += n;
    }
}

/* Operands: at commas outside brackets. */
static void split_operands(const char *s, Parts *p)
{
    p->n = 0;
    while (*s && p->n < MAX_PARTS) {
        size_t n = 0;
        for (int depth = 0; s[n] && (depth || s[n] != ','); n++)
            depth += (s[n] == '[' || s[n] == '{') - (s[n] == ']' || s[n] == '}');
        snprintf(p->text[p->n++], sizeof p->text[0], "%.*s", (int)n, s);
        s += n;
        s += strspn(s, ", ");
    }
}

static void join(const Parts *p, const char *between, char *out, size_t size)
{
    size_t at = 0;
    out[0] = 0;
    for (size_t k = 0; k < p->n && at < size; k++)
        at += (size_t)snprintf(out + at, size - at, "%s%s", k ? between : "", p->text[k]);
}

static void drop(Parts *p, size_t k)
{
    for (; k + 1 < p->n; k++) memcpy(p->text[k], p->text[k + 1], sizeof p->text[0]);
    p->n--;
}

static void insert(Parts *p, size_t k, const char *text)
{
    if (p->n == MAX_PARTS) return;
    for (size_t j = p->n; j > k; j--) memcpy(p->text[j], p->text[j - 1], sizeof p->text[0]);
    snprintf(p->text[k], sizeof p->text[0], "%s", text);
    p->n++;
}

static void swap(Parts *p, size_t k)
{
    char t[sizeof p->text[0]];
    memcpy(t, p->text[k], sizeof t);
    memcpy(p->text[k], p->text[k + 1], sizeof t);
    memcpy(p->text[k + 1], t, sizeof t);
}

static void add_parts(Variants *out, const Parts *mods, const Parts *opds)
{
    char m[400], o[1024];
    join(mods, "", m, sizeof m);
    join(opds, ", ", o, sizeof o);
    add(out, true, m, o);
}

static void miss_words(Variants *out, const Parts *mods, const Parts *opds)
{
    static const char *const aliens[] = {
        ".shared::cta",
        ".shared::cluster",
        ".global",
        ".shared",
        ".tile",
        ".tile::gather4",
        ".tile::scatter4",
        ".im2col",
        ".im2col::w",
        ".im2col::w::128",
        ".im2col_no_offs",
        ".mbarrier::complete_tx::bytes",
        ".bulk_group",
        ".multicast::cluster",
        ".cp_mask",
        ".L2::cache_hint",
        ".cta_group::1",
        ".cta_group::2",
        ".2d",
        ".6d",
        ".add",
        ".noftz",
        ".u32",
        ".b64",
        ".release",
        ".acquire",
        ".relaxed",
        ".cta",
        ".cluster",
        ".gpu",
        ".noComplete",
        ".parity",
        ".aligned",
        ".sync",
        ".read",
        ".weak",
        ".trans",
        ".b8x16",
        ".warpx4",
        ".warpx2::02_13",
        ".down",
        ".up",
        ".pack::16b",
        ".unpack::16b",
        ".x2",
        ".nonsense",
        ".L2",
        ".v2",
        ".multicast::cluster::all",
        ".tensor",
        ".mmio",
    };
    Parts p;
    for (size_t k = 1; k < mods->n; k++) {
        p = *mods;
        drop(&p, k);
        add_parts(out, &p, opds);
        p = *mods;
        insert(&p, k, mods->text[k]);
        add_parts(out, &p, opds);
        if (k + 1 == mods->n) break;
        p = *mods;
        swap(&p, k);
        add_parts(out, &p, opds);
    }
    for (size_t a = 0; a < sizeof aliens / sizeof aliens[0]; a++) {
        p = *mods;
        insert(&p, p.n, aliens[a]);
        add_parts(out, &p, opds);
        size_t k = 1 + a % (mods->n > 1 ? mods->n - 1 : 1); /* each word takes some place */
        if (k >= mods->n) continue;
        p = *mods;
        snprintf(p.text[k], sizeof p.text[0], "%s", aliens[a]);
        add_parts(out, &p, opds);
    }
}

static void miss_operands(Variants *out, const Parts *mods, const Parts *opds)
{
    static const char *const others[] = {
        "%h5",
        "%r5",
        "%d6",
        "%f1",
        "%p2",
        "[%h5]",
        "[%r5]",
        "[%d6]",
        "[%r5+16]",
        "[sbuf]",
        "[mb+8]",
        "[gbuf]",
        "[cbuf]",
        "sbuf",
        "gbuf",
        "{%r5}",
        "{%r5, %r6}",
        "{%h1, %h2}",
        "{%h1}",
        "5",
        "16",
        "0",
        "-1",
        "70000",
        "[0]",
        "1.0",
        "_",
        "{%d1}",
        "[%d1, {%r5, %r6}]",
        "[gbuf, {1, 2}]",
        "[%d1, {%r1, %r2, %r3, %r4, %r5}]",
        "[%d1, {%h1, %h2}]",
        "[cbuf, {1, 2}]",
        "[sbuf, {1, 2}]",
        "%r1|%p1",
        "!%p1",
        "4294967296",
    };
    Parts p;
    for (size_t k = 0; k < opds->n; k++) {
        p = *opds;
        drop(&p, k);
        add_parts(out, mods, &p);
        p = *opds;
        insert(&p, k, opds->text[k]);
        add_parts(out, mods, &p);
        if (k + 1 < opds->n) {
            p = *opds;
            swap(&p, k);
            add_parts(out, mods, &p);
        }
        for (size_t a = 0; a < sizeof others / sizeof others[0]; a++) {
            p = *opds;
            snprintf(p.text[k], sizeof p.text[0], "%s", others[a]);
            add_parts(out, mods, &p);
        }
    }
    p = *opds;
    insert(&p, p.n, "%d7");
    add_parts(out, mods, &p);
    insert(&p, p.n, "%h7");
    add_parts(out, mods, &p);
}

static void near_misses(Variants *out, const char *mods, const char *opds)
{
    Parts m, o;
    split_mods(mods, &m);
    split_operands(opds, &o);
    miss_words(out, &m, &o);
    miss_operands(out, &m, &o);
}

void make_variants(Variants *out)
{
    for (int f = 0; f < FORM_COUNT; f++) {
        const FormInfo *info = form_info((InstrForm)f);
        if (strncmp(info->ptx, "bar.", 4) == 0 || strncmp(info->ptx, "barrier.sync", 12) == 0) continue; /* plain */
        expand(out, info->ptx, (Choice){.info = info, .dim = 2}, "", true);
    }
}
