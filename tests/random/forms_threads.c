/* Conversions, copies, transposes, fills and sums by threads; reductions. */
#include <math.h>
#include <string.h>

#include "forms.h"

static const tile_type NUMBERS[] = {TILE_U8,  TILE_U16,  TILE_U32, TILE_U64,  TILE_S8,  TILE_S16,  TILE_S32, TILE_S64,
                                    TILE_F16, TILE_BF16, TILE_F32, TILE_TF32, TILE_F64, TILE_E4M3, TILE_E5M2};
enum { NNUMBERS = sizeof NUMBERS / sizeof *NUMBERS };

static tile_type number_type(Gen *g)
{
    return NUMBERS[draw(g, 0, NNUMBERS - 1)];
}

/* Values around what other types hold: halves, powers of two and their neighbours, subnormals, infinities, NaN. */
static void special(Gen *g, tile_type t, uint8_t *to)
{
    double d = ldexp((double)draw(g, 1, 4095), (int)draw(g, -12, 4));
    switch (draw(g, 0, 7)) {
    case 0: return; /* random bits */
    case 1: d = ldexp((double)draw(g, 0, 2047), (int)draw(g, -160, 130)); break;
    case 2: d = ldexp(1, (int)draw(g, 0, 70)) + (double)draw(g, -2, 2); break;
    case 3: d = (double)PICK(g, 448, 464, 465, 480, 57344, 61440, 65504, 65519, 65520, 65536, 127, 128, 255, 256); break;
    case 4: d = (double)draw(g, 0, 300) / 2; break;
    case 5: d = draw(g, 0, 3) ? INFINITY : NAN; break;
    default: break;
    }
    if (draw(g, 0, 1)) d = -d;
    value_round(t, to, TILE_F64, &d, true);
}

static const char *swizzle_text(Gen *g, int64_t bytes)
{
    return bytes == 32 || bytes == 64 || bytes == 128 ? draw(g, 0, 1) ? keep_text(g->p, " swizzle %d", (int)bytes) : "" : "";
}

typedef struct Turn { /* of tensors [M, rows, columns] */
    int64_t m, rows, columns;
} Turn;

static Turn turns(Gen *g, tile_type a, tile_type b)
{
    int64_t least = type_size(a) < type_size(b) ? type_size(a) : type_size(b), unit = 16 / least;
    return (Turn){draw(g, 1, 3), unit * draw(g, 1, 2), unit * draw(g, 1, 3)};
}

/* Opens the loop over M in one of several ways; what is written then stands in it, up to the closing text. */
static const char *open_turns(Gen *g, const Turn *t)
{
    int n = (int)t->m;
    switch (draw(g, 0, 3)) {
    case 0: TEXT(g, "pipeline i in %d across grid%s {", n, draw(g, 0, 1) ? " threads 64" : ""); return "}";
    case 1: TEXT(g, "for i in %d .. %d {", 0, n); return "}";
    case 2: TEXT(g, "pipeline i in %d stages 2 {", n); return "}";
    default:
        g->p->attributes = keep_text(g->p, " grid (%d) threads %d", n, (int)PICK(g, 32, 64, 96, 128));
        TEXT(g, "let i = cta.x;");
        return "";
    }
}

static void convert(Gen *g, tile_type a, tile_type b)
{
    Turn t = turns(g, a, b);
    bool sat = a != b && draw(g, 0, 1), transpose = draw(g, 0, 2) == 0, add = a == b ? false : draw(g, 0, 9) == 0;
    int64_t r = t.rows, c = t.columns;
    add &= b != TILE_E4M3 && b != TILE_E5M2 && b != TILE_TF32;
    int x = TENSOR(g, a, add, t.m, r, c), y = TENSOR(g, b, true, t.m, transpose ? c : r, transpose ? r : c);
    Tensor *in = &g->p->tensor[x];
    for (int64_t i = 0; !add && i < t.m * r * c; i++) special(g, a, in->first + i * type_size(a));
    g->p->tensor[y].any_nan = a != b;
    const char *end = open_turns(g, &t);
    TEXT(g, "shared a: %s[%d, %d]%s;", tensor_type(g, x), (int)r, (int)c, swizzle_text(g, c * type_size(a)));
    TEXT(g, "shared b: %s[%d, %d]%s;", tensor_type(g, y), (int)(transpose ? c : r), (int)(transpose ? r : c),
         swizzle_text(g, (transpose ? r : c) * type_size(b)));
    TEXT(g, "move %s[i, :, :] -> a;", tensor_name(g, x));
    if (add) TEXT(g, "fill b = 3;");
    TEXT(g, "move a -> b%s%s%s via threads;", a == b ? "" : sat ? " convert sat" : " convert", transpose ? " transpose" : "",
         add ? " reduce add" : "");
    TEXT(g, "move b -> %s[i, :, :];%s", tensor_name(g, y), end);
    int64_t n = t.m * r * c;
    if (add) {
        Stmt *three = means(g, -1, y);
        value_store(b, &three->value, 3);
        for (int64_t i = 0; i < n; i++) pair(g, three, -1, i);
    }
    Stmt *s = means(g, x, y);
    s->convert = a != b;
    s->sat = sat;
    s->reduce = add ? R_ADD : R_NONE;
    for (int64_t i = 0; i < n; i++) {
        int64_t m = i / (r * c), row = i / c % r, column = i % c;
        pair(g, s, i, transpose ? m * r * c + column * r + row : i);
    }
}

static void fills(Gen *g)
{
    tile_type t = number_type(g);
    Turn l = turns(g, t, t);
    int y = TENSOR(g, t, true, l.m, l.rows, l.columns);
    const char *end = open_turns(g, &l), *text;
    Stmt *s = means(g, -1, y);
    int bits = tile_type_bits(t);
    if (type_float(t)) {
        double d = (double)draw(g, -64, 64) / (double)PICK(g, 1, 2, 4, 16);
        text = draw(g, 0, 1) ? keep_text(g->p, "%.17g", d) : keep_text(g->p, "%.6f", d);
        value_round(t, &s->value, TILE_F64, &d, false);
    } else {
        uint64_t most = bits < 64 ? (UINT64_C(1) << (bits - type_signed(t))) - 1 : INT64_MAX;
        int64_t v = draw(g, 0, 2) ? draw(g, type_signed(t) ? -9 : 0, 9) : (int64_t)most;
        text = keep_text(g->p, "%lld", (long long)v);
        value_store(t, &s->value, v);
    }
    TEXT(g, "shared a: %s[%d, %d]%s;", tensor_type(g, y), (int)l.rows, (int)l.columns, swizzle_text(g, l.columns * type_size(t)));
    TEXT(g, "fill a = %s;", text);
    TEXT(g, "move a -> %s[i, :, :];%s", tensor_name(g, y), end);
    for (int64_t i = 0; i < l.m * l.rows * l.columns; i++) pair(g, s, -1, i);
}

static void sums(Gen *g)
{
    tile_type t = number_type(g);
    while (t == TILE_E4M3 || t == TILE_E5M2 || t == TILE_TF32) t = number_type(g);
    Turn l = turns(g, t, t);
    int x = TENSOR(g, t, true, l.m, l.rows, l.columns), z = TENSOR(g, t, true, l.rows, l.columns),
        y = TENSOR(g, t, true, l.m, l.rows, l.columns);
    const char *end = open_turns(g, &l);
    TEXT(g, "shared a: %s[%d, %d];", tensor_type(g, y), (int)l.rows, (int)l.columns);
    TEXT(g, "shared b: %s[%d, %d];", tensor_type(g, y), (int)l.rows, (int)l.columns);
    TEXT(g, "move %s[i, :, :] -> a;", tensor_name(g, x));
    TEXT(g, "move %s -> b;", tensor_name(g, z));
    TEXT(g, "move a -> b reduce add via threads;");
    TEXT(g, "move b -> %s[i, :, :];%s", tensor_name(g, y), end);
    Stmt *first = means(g, z, y), *s = means(g, x, y);
    s->reduce = R_ADD;
    for (int64_t i = 0; i < l.m * l.rows * l.columns; i++) {
        pair(g, first, i % (l.rows * l.columns), i);
        pair(g, s, i, i);
    }
}

void form_threads(Gen *g, int which)
{
    tile_type a = number_type(g), b = number_type(g);
    if (which == 3) fills(g);
    else if (which == 2 && draw(g, 0, 1)) sums(g);
    else convert(g, a, which == 2 ? a : b);
}

/* ---- reductions ---- */
static bool reduces(Reduce op, tile_type t, int where) /* where: 0 memory, 1 a peer's tile, 2 a fill there */
{
    bool words = t == TILE_U32 || t == TILE_S32, longs = t == TILE_U64 || t == TILE_S64;
    if (op == R_INC || op == R_DEC) return t == TILE_U32;
    if (op >= R_AND) return words || (longs && !where);
    if (op != R_ADD) return words || (!where && (longs || t == TILE_F16 || t == TILE_BF16));
    if (words || t == TILE_U64 || (t == TILE_S64 && where == 2)) return true;
    return !where && (t == TILE_F16 || t == TILE_BF16 || t == TILE_F32 || t == TILE_F64);
}

static void draw_reduction(Gen *g, int where, Reduce *op, tile_type *t)
{
    do {
        *op = (Reduce)draw(g, R_ADD, R_DEC);
        *t = number_type(g);
    } while (!reduces(*op, *t, where));
}

static void into_memory(Gen *g)
{
    Reduce op;
    tile_type t;
    draw_reduction(g, 0, &op, &t);
    Turn l = turns(g, t, t);
    bool small = type_float(t) || draw(g, 0, 1), bulk = draw(g, 0, 1) || (t == TILE_S64 && op >= R_AND);
    int x = TENSOR(g, t, small, l.m, l.rows, l.columns), y = TENSOR(g, t, small, l.m, l.rows, l.columns);
    const char *end = open_turns(g, &l), *cache = "";
    if (draw(g, 0, 2) == 0) {
        TEXT(g, "policy p = evict_first;");
        cache = " cache p";
    }
    TEXT(g, "shared a: %s[%d, %d];", tensor_type(g, y), (int)l.rows, (int)l.columns);
    TEXT(g, "move %s[i, :, :] -> a;", tensor_name(g, x));
    TEXT(g, "move a -> %s[i, :, :] reduce %s%s%s;%s", tensor_name(g, y), REDUCE_NAMES[op], bulk ? " via bulk" : "", cache, end);
    Stmt *s = means(g, x, y);
    s->reduce = op;
    for (int64_t i = 0; i < l.m * l.rows * l.columns; i++) pair(g, s, i, i);
}

static void into_peer(Gen *g, bool by_fill)
{
    Reduce op;
    tile_type t;
    draw_reduction(g, by_fill ? 2 : 1, &op, &t);
    int64_t n = PICK(g, 2, 2, 4), m = draw(g, 1, 3), l = 16 / type_size(t) * draw(g, 1, 4), d = draw(g, 1, n - 1), v = draw(g, 0, 9);
    int x = by_fill ? -1 : TENSOR(g, t, false, n, m, l), z = TENSOR(g, t, false, n, m, l), y = TENSOR(g, t, false, n, m, l);
    g->p->attributes = keep_text(g->p, " cluster (%d)", (int)n);
    TEXT(g, "pipeline i in %d across grid {", (int)m);
    TEXT(g, "shared u: %s[%d];", tensor_type(g, y), (int)l);
    TEXT(g, "move %s[cluster.rank, i, :] -> u;", tensor_name(g, z));
    TEXT(g, "let to = (cluster.rank + %d) %% cluster.size;", (int)d);
    if (by_fill) {
        TEXT(g, "fill peer(u, to) = %d + i * 3 + cluster.rank reduce %s;", (int)v, REDUCE_NAMES[op]);
    } else {
        TEXT(g, "shared t: %s[%d];", tensor_type(g, y), (int)l);
        TEXT(g, "move %s[cluster.rank, i, :] -> t;", tensor_name(g, x));
        TEXT(g, "move t -> peer(u, to) reduce %s%s;", REDUCE_NAMES[op], draw(g, 0, 1) ? " via bulk" : "");
    }
    TEXT(g, "move u -> %s[cluster.rank, i, :];}", tensor_name(g, y));
    Stmt *first = means(g, z, y);
    for (int64_t k = 0; k < n * m * l; k++) pair(g, first, k, k);
    Stmt *s = by_fill ? NULL : means(g, x, y);
    if (s) s->reduce = op;
    for (int64_t r = 0; r < n; r++)
        for (int64_t i = 0; i < m; i++) {
            int64_t from = (r + n - d) % n;
            if (by_fill) {
                s = means(g, -1, y);
                s->reduce = op;
                value_store(t, &s->value, v + i * 3 + from);
            }
            for (int64_t k = 0; k < l; k++) pair(g, s, by_fill ? -1 : (from * m + i) * l + k, (r * m + i) * l + k);
        }
}

void form_reduce(Gen *g, int which)
{
    if (which == 0) into_memory(g);
    else into_peer(g, which == 2);
}
