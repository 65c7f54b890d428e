/* The lines of a kernel: its manifest, what its ops speak of, its bodies. What each has lines.def says. */
#include <string.h>

#include "lang/lang.h"
#include "lower/ir/filter.h"
#include "lower/ir/tensor_memory.h"

enum { SLOTS_MAX = 1 << 16 };
static const char PER_DIMENSION[] = "a pitch, a box and a stride per dimension are due";

static const char *const SYM_KINDS[] = {[MF_SIZE] = "size", [MF_STRIDE] = "stride", [MF_SCALAR] = "scalar"};
static const char *const PARAM_KINDS[] = {[MF_PARAM_MAP] = "map",         [MF_PARAM_ADDRESS] = "address", [MF_PARAM_VALUE] = "value",
                                          [MF_PARAM_COUNTER] = "counter", [MF_PARAM_HINTS] = "hints",     [MF_PARAM_MAPS] = "maps"};
static const char *const DEALS[] = {[MF_DEAL_NONE] = "none", [MF_DEAL_STATIC] = "static", [MF_DEAL_TICKET] = "ticket"};
static const char *const MEASURES[] = {[MF_BYTES] = "bytes", [MF_L2] = "l2", [MF_CTAS] = "ctas", [MF_SM_BYTES] = "sm_bytes"};
static const char *const XFORMS[] = {[IRX_COPY] = "copy", [IRX_TRANSPOSE] = "transpose", [IRX_FILL] = "fill", [IRX_REVERSE] = "reverse", [IRX_SUM] = "sum"};

/* ---- fields: lines.def says what they are ---- */

/* Of that many bytes; signed where it may be below 0. */
static void number(Filter *f, void *field, size_t bytes, int64_t lo, int64_t hi)
{
    switch (bytes) {
    case 1: *(uint8_t *)field = (uint8_t)filter_int(f, *(uint8_t *)field, lo, hi); break;
    case 2: *(uint16_t *)field = (uint16_t)filter_int(f, lo < 0 ? *(int16_t *)field : *(uint16_t *)field, lo, hi); break;
    case 4: *(uint32_t *)field = (uint32_t)filter_int(f, *(uint32_t *)field, lo, hi); break;
    default: *(int64_t *)field = filter_int(f, *(int64_t *)field, lo, hi);
    }
}

static unsigned numbers(Filter *f, void *first, size_t bytes, unsigned count, int64_t lo, int64_t hi)
{
    unsigned n;
    for (n = 0; filter_list(f, n, count, MAP_RANK); n++) number(f, (char *)first + n * bytes, bytes, lo, hi);
    return n;
}

static unsigned lx_list(Filter *f, Lx *x, unsigned count)
{
    unsigned n;
    for (n = 0; filter_list(f, n, count, MAP_RANK); n++) x[n] = filter_lx(f, x[n]);
    return n;
}

static uint8_t listed_word(Filter *f, WordList list, uint8_t value, const char *what)
{
    size_t n;
    const char *const *words = word_list(list, &n);
    return filter_word_of(f, words, (uint32_t)n, value, what);
}

#define MOST(field) ((INT64_C(1) << 8 * sizeof(field)) - 1)
#define WORD(word) filter_word(f, word);
#define COMMA filter_comma(f);
#define WITHIN(field, lo, hi) number(f, &x->field, sizeof x->field, lo, hi);
#define INT(field) WITHIN(field, 0, MOST(x->field))
#define FIELD(word, field) WORD(word) INT(field)
#define FLAG(word, field) x->field = filter_maybe(f, word, x->field);
#define NAME(kind) x->name = filter_declare(f, kind, x->name, i);
#define REF(kind, field) x->field = filter_object(f, kind, x->field);
#define LX(field) x->field = filter_lx(f, x->field);
#define TEXT(field) x->field = filter_string(f, x->field);
#define LISTED(list, field, what) x->field = listed_word(f, list, x->field, what);
#define ENUM(words, field, what) x->field = filter_word_of(f, words, sizeof words / sizeof *words, x->field, what);
#define RANK(field) x->rank = (uint8_t)lx_list(f, x->field, x->rank);
#define INT_LIST(field, n) numbers(f, x->field, sizeof *x->field, n, 0, MOST(*x->field))
#define INT_RANK(field) x->rank = (uint8_t)INT_LIST(field, x->rank);
#define DUE(cond, otherwise) if (!(cond)) filter_error(f, E0690, "%s", otherwise);
#define LXS(field, otherwise) DUE(lx_list(f, x->field, x->rank) == x->rank, otherwise)
#define INTS(field, otherwise) DUE(INT_LIST(field, x->rank) == x->rank, otherwise)
#define MAYBE(word, there, fields) if (filter_maybe(f, word, there)) { fields }
#define WHERE(cond, fields) if (cond) { fields }
#define SPAN x->span = f->tok.span;
#define SLOTS WORD("slots") WITHIN(slots, 1, SLOTS_MAX)
#define RING x->ring = filter_maybe(f, "ring", f->tree && x->ring) ? (uint16_t)(filter_object(f, IRA_RING, x->ring - 1u) + 1) : 0;

static void elem_strides(Filter *f, MfMap *x)
{
    bool any = false;
    for (unsigned d = 0; d < x->rank && !f->reading; d++) any |= x->elem_stride[d] != 1;
    if (f->reading) memset(x->elem_stride, 1, x->rank);
    MAYBE("elem_stride", any, INTS(elem_stride, PER_DIMENSION))
}

static bool has_corners(const MfMap *m)
{
    bool any = false;
    for (int i = 0; i < 3; i++) any |= m->lower[i] || m->upper[i];
    return any;
}

static void corner(Filter *f, int16_t *x)
{
    for (unsigned n = 0; filter_list(f, n, 3, 3); n++) number(f, &x[n], sizeof *x, INT16_MIN, INT16_MAX);
}

static void check_code(Filter *f, ErrorCode *code)
{
    if (!f->reading) filter_put(f, *code < ERROR_COUNT ? error_info(*code)->code : "?");
    else if (f->tok.kind == TOK_WORD && error_find(f->tok.text, code)) filter_next(f);
    else filter_error(f, E0690, "an error code is due");
}

static void tmem(Filter *f, IrBuf *x, uint32_t i)
{
    SPAN
    NAME(IRA_BUF)
    WORD("lanes") WITHIN(lanes, 1, TMEM_LANES)
    WORD("columns") WITHIN(columns, 1, TMEM_COLUMNS)
    SLOTS
    WORD("pitch") WITHIN(column_pitch, 1, TMEM_COLUMNS)
    WORD("at") WITHIN(column, 0, TMEM_COLUMNS)
    x->bytes = x->pitch = 4u * x->lanes * x->columns;
    x->align = 1;
}

static void side(Filter *f, const char *word, IrSide *x, unsigned rank)
{
    WORD(word)
    LISTED(WORDS_TYPE, type, "element type")
    FLAG("global", global)
    FLAG("rows", rows)
    WORD("pitch") DUE(INT_LIST(pitch, rank) == rank, "a pitch per dimension is due")
    MAYBE("span", x->span, INT(span) FIELD("panel", panel))
    MAYBE("swizzle", x->swizzle, LISTED(WORDS_SWIZZLE, swizzle, "swizzle"))
    MAYBE("align", x->align, INT(align))
}

static void freed(Filter *f, uint32_t ring)
{
    IrKernel *k = f->k;
    ring = filter_object(f, IRA_RING, ring);
    uint32_t free = filter_object(f, IRA_BAR, f->reading ? 0 : k->rings.v[ring].free);
    if (!f->failed) k->rings.v[ring].free = free;
}

/* ---- lines ---- */

/* The word of a line, if there is one. */
static bool line(Filter *f, const char *word, bool there)
{
    if (!f->reading && there) text_lit(f->out, " ");
    return filter_maybe(f, word, there);
}

static void end_line(Filter *f)
{
    if (!f->reading) text_char(f->out, '\n');
}

static void lines(Filter *f)
{
    IrKernel *k = f->k;
#define LINES(word, type, array, when, fields)                                                                         \
    for (uint32_t i = f->reading ? k->array.n : 0; f->reading || i < k->array.n; i++) {                                \
        type of = {0}, *x = &of;                                                                                       \
        if (!f->reading) of = k->array.v[i];                                                                           \
        if (!line(f, word, f->reading || (when))) {                                                                    \
            if (f->reading) break;                                                                                     \
            continue;                                                                                                  \
        }                                                                                                              \
        fields                                                                                                         \
        end_line(f);                                                                                                   \
        if (f->reading) vec_push(f->arena, &k->array, of);                                                             \
    }
#define LINE(word, type, of, when, fields)                                                                             \
    for (type *x = (of); x && line(f, word, when); x = NULL) {                                                         \
        fields                                                                                                         \
        end_line(f);                                                                                                   \
    }
#include "lower/ir/lines.def"
}

void filter_kernel(Filter *f)
{
    IrKernel *k = f->k;
    k->span = f->tok.span;
    f->tight = true;
    filter_word(f, "kernel");
    k->mf.name = filter_name(f, k->mf.name);
    filter_word(f, "entry");
    k->mf.entry = filter_name(f, k->mf.entry);
    filter_word(f, "{");
    end_line(f);
    while (!f->failed && !filter_is(f, "}")) {
        uint32_t from = f->tok.span.lo;
        lines(f);
        if (!f->reading) break;
        if (f->tok.span.lo == from) filter_error(f, E0690, "%s where a part of a kernel is due", filter_token(f));
    }
    f->tight = true;
    filter_word(f, "}");
}
