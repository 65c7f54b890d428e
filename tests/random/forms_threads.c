/* Conversions, copies, transposes, fills and sums by threads, loads and stores by them; reductions. */
#include <math.h>
#include <stdlib.h>
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

static void convert(Gen *g, tile_type a, tile_type b, bool matrix)
{
    Turn t = turns(g, a, b);
    if (matrix) t.rows = t.columns = 16; /* units of ldmatrix */
    bool sat = a != b && draw(g, 0, 1), transpose = matrix || draw(g, 0, 2) == 0, add = a == b ? false : draw(g, 0, 9) == 0;
    bool reverse = a == b && !transpose && draw(g, 0, 1);
    int64_t r = t.rows, c = t.columns;
    add &= b != TILE_E4M3 && b != TILE_E5M2 && b != TILE_TF32;
    int x = TENSOR(g, a, add, t.m, r, c), y = TENSOR(g, b, true, t.m, transpose ? c : r, transpose ? r : c);
    Tensor *in = &g->p->tensor[x];
    for (int64_t i = 0; !add && i < t.m * r * c; i++) special(g, a, in->first + i * type_size(a));
    g->p->tensor[y].any_nan = a != b;
    const char *end = open_turns(g, &t);
    TEXT(g, "shared a: %s[%d, %d]%s;", tensor_type(g, x), (int)r, (int)c, reverse ? "" : swizzle_text(g, c * type_size(a)));
    TEXT(g, "shared b: %s[%d, %d]%s;", tensor_type(g, y), (int)(transpose ? c : r), (int)(transpose ? r : c),
         swizzle_text(g, (transpose ? r : c) * type_size(b)));
    TEXT(g, "move %s[i, :, :] -> a;", tensor_name(g, x));
    if (add) TEXT(g, "fill b = 3;");
    TEXT(g, "move a -> b%s%s%s via threads;", a == b ? "" : sat ? " convert sat" : " convert", transpose ? " transpose" : reverse ? " reverse" : "",
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
        pair(g, s, i, transpose ? m * r * c + column * r + row : reverse ? i - column + c - 1 - column : i);
    }
}

static void fills(Gen *g)
{
    tile_type t = number_type(g);
    Turn l = turns(g, t, t);
    int y = TENSOR(g, t, true, l.m, l.rows, l.columns);
    bool loaded = !type_float(t) && draw(g, 0, 1); /* the value is the first element of the turn */
    int x = loaded ? TENSOR(g, t, false, l.m, l.rows, l.columns) : -1;
    const char *end = open_turns(g, &l), *text;
    Stmt *s = means(g, x, y);
    int bits = tile_type_bits(t);
    if (loaded) {
        text = keep_text(g->p, "%s[i, 0, 0]", tensor_name(g, x));
    } else if (type_float(t)) {
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
    int64_t turn = l.rows * l.columns;
    for (int64_t i = 0; i < l.m * turn; i++) pair(g, s, loaded ? i / turn * turn : -1, i);
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

/* Rows of any length between tensors and tiles, whole ones and parts that reach over any border. */
static void borders(Gen *g)
{
    tile_type t = number_type(g);
    Turn l = {draw(g, 1, 3), draw(g, 1, 5), draw(g, 1, 200)};
    int64_t r = draw(g, 1, l.rows + 2), c = draw(g, 1, l.columns + 40), dr = draw(g, -2, 2), dc = draw(g, -9, 9), er = draw(g, -2, 2), ec = draw(g, -9, 9);
    int64_t rows = draw(g, 1, 5), columns = draw(g, 1, 200);
    int x = TENSOR(g, t, false, l.m, l.rows, l.columns), y = TENSOR(g, t, false, l.m, rows, columns), z = TENSOR(g, t, false, l.m, l.rows, l.columns);
    const char *end = open_turns(g, &l);
    TEXT(g, "shared a: %s[%d, %d];\nshared b: %s[%d, %d];", tensor_type(g, x), (int)r, (int)c, tensor_type(g, x), (int)l.rows, (int)l.columns);
    TEXT(g, "move %s[i, %d +: %d, %d +: %d] -> a via threads;", tensor_name(g, x), (int)dr, (int)r, (int)dc, (int)c);
    TEXT(g, "move a -> %s[i, %d +: %d, %d +: %d]%s via threads;", tensor_name(g, y), (int)er, (int)r, (int)ec, (int)c, draw(g, 0, 1) ? " overlap any" : "");
    TEXT(g, "move %s[i, :, :] -> b via threads;\nmove b -> %s[i, :, :] via threads;%s", tensor_name(g, x), tensor_name(g, z), end);
    Stmt *zero = means(g, -1, y), *part = means(g, x, y), *all = means(g, x, z);
    value_store(t, &zero->value, 0);
    for (int64_t i = 0; i < l.m; i++)
        for (int64_t k = 0; k < r * c; k++) {
            int64_t p = er + k / c, q = ec + k % c, row = dr + k / c, column = dc + k % c, to = (i * rows + p) * columns + q;
            if (p < 0 || p >= rows || q < 0 || q >= columns) continue;
            pair(g, zero, -1, to);
            if (row >= 0 && row < l.rows && column >= 0 && column < l.columns) pair(g, part, (i * l.rows + row) * l.columns + column, to);
        }
    for (int64_t k = 0; k < l.m * l.rows * l.columns; k++) pair(g, all, k, k);
}

/* ---- many at once, so that a few programs have all ---- */
enum { SWEEP = 130, SWEEP_SAME = 16, SWEEP_ROWS = 2, SWEEP_COLUMNS = 16, SWEEP_EACH = SWEEP_ROWS * SWEEP_COLUMNS };

static int sweep_tensor(Gen *g, int *list, tile_type t, int64_t first, int64_t m, bool small)
{
    if (list[t] < 0) {
        list[t] = TENSOR(g, t, small, first, m, SWEEP_ROWS, SWEEP_COLUMNS);
        Tensor *x = &g->p->tensor[list[t]];
        for (int64_t i = 0; !small && i < first * m * SWEEP_EACH; i++) special(g, t, x->first + i * type_size(t));
    }
    return list[t];
}

/* Pairs of types, `sat` or not: the variant says which of all. */
static void sweep_conversions(Gen *g, int first)
{
    int from[32], to[32], used[32] = {0}, all = NNUMBERS * NNUMBERS * 2;
    int64_t m = draw(g, 1, 2);
    for (int i = 0; i < 32; i++) from[i] = to[i] = -1;
    TEXT(g, "pipeline i in %d across grid {", (int)m);
    for (int k = 0; k < SWEEP; k++) {
        int at = (first + k * 7) % all; /* 7 and 450 have nothing in common */
        tile_type a = NUMBERS[at % NNUMBERS], b = NUMBERS[at / NNUMBERS % NNUMBERS];
        bool sat = at / NNUMBERS / NNUMBERS, fresh = from[a] < 0;
        if (a == b) continue;
        int x = sweep_tensor(g, from, a, 1, m, false), y = sweep_tensor(g, to, b, SWEEP_SAME, m, true), row = used[b]++;
        if (row == SWEEP_SAME) abort();
        g->p->tensor[y].any_nan = true;
        if (fresh) TEXT(g, "shared a%d: %s[%d, %d]; move %s[0, i, :, :] -> a%d via bulk;", (int)a, tensor_type(g, x), SWEEP_ROWS, SWEEP_COLUMNS, tensor_name(g, x), (int)a);
        TEXT(g, "shared b%d: %s[%d, %d]; move a%d -> b%d convert%s via threads;", k, tensor_type(g, y), SWEEP_ROWS, SWEEP_COLUMNS, (int)a, k, sat ? " sat" : "");
        TEXT(g, "move b%d -> %s[%d, i, :, :] via bulk;", k, tensor_name(g, y), row);
        Stmt *s = means(g, x, y);
        s->convert = true;
        s->sat = sat;
        for (int64_t i = 0; i < m * SWEEP_EACH; i++) pair(g, s, i, row * m * SWEEP_EACH + i);
    }
    TEXT(g, "}");
}

/* The sum of the rows, of every type that has one. */
static void sweep_sums(Gen *g)
{
    int from[32];
    int64_t m = draw(g, 1, 2);
    for (int i = 0; i < 32; i++) from[i] = -1;
    TEXT(g, "pipeline i in %d across grid {", (int)m);
    for (int k = 0; k < NNUMBERS; k++) {
        tile_type t = NUMBERS[k];
        if (t == TILE_E4M3 || t == TILE_E5M2 || t == TILE_TF32) continue;
        int x = sweep_tensor(g, from, t, 1, m, true), y = TENSOR(g, t, true, m, SWEEP_COLUMNS);
        TEXT(g, "shared a%d: %s[%d, %d]; move %s[0, i, :, :] -> a%d;", k, tensor_type(g, x), SWEEP_ROWS, SWEEP_COLUMNS, tensor_name(g, x), k);
        TEXT(g, "shared b%d: %s[%d]; move a%d -> b%d sum via threads;", k, tensor_type(g, y), SWEEP_COLUMNS, k, k);
        TEXT(g, "move b%d -> %s[i, :] via bulk;", k, tensor_name(g, y));
        Stmt *s[SWEEP_ROWS];
        for (int r = 0; r < SWEEP_ROWS; r++) s[r] = means(g, x, y);
        s[1]->reduce = R_ADD;
        for (int64_t i = 0; i < m * SWEEP_COLUMNS; i++)
            for (int r = 0; r < SWEEP_ROWS; r++) pair(g, s[r], i / SWEEP_COLUMNS * SWEEP_EACH + r * SWEEP_COLUMNS + i % SWEEP_COLUMNS, i);
    }
    TEXT(g, "}");
}

/* A copy, a transpose, a fill (and sums of rows) or a sum, of reversed rows, of every type. */
static void sweep_types(Gen *g, int what)
{
    int from[32], to[32];
    int64_t m = draw(g, 1, 2);
    for (int i = 0; i < 32; i++) from[i] = to[i] = -1;
    TEXT(g, "pipeline i in %d across grid {", (int)m);
    for (int k = 0; k < NNUMBERS; k++) {
        tile_type t = NUMBERS[k];
        if (what == 3 && (t == TILE_E4M3 || t == TILE_E5M2 || t == TILE_TF32)) continue;
        int x = sweep_tensor(g, from, t, 1, m, what == 3), y = TENSOR(g, t, true, m, SWEEP_EACH), v = (int)draw(g, 0, 5);
        g->p->tensor[y].any_nan = true;
        TEXT(g, "shared a%d: %s[%d, %d]; move %s[0, i, :, :] -> a%d;", k, tensor_type(g, x), SWEEP_ROWS, SWEEP_COLUMNS, tensor_name(g, x), k);
        if (what == 1) TEXT(g, "shared b%d: %s[%d, %d];", k, tensor_type(g, y), SWEEP_COLUMNS, SWEEP_ROWS);
        else TEXT(g, "shared b%d: %s[%d, %d];", k, tensor_type(g, y), SWEEP_ROWS, SWEEP_COLUMNS);
        if (what > 1) TEXT(g, "fill b%d = %d;", k, v);
        if (what != 2) TEXT(g, "move a%d -> b%d%s via threads;", k, k, what == 1 ? " transpose" : what == 3 ? " reverse reduce add" : "");
        if (what == 1) TEXT(g, "shared c%d: %s[%d, %d]; move b%d -> c%d transpose via threads;", k, tensor_type(g, y), SWEEP_ROWS, SWEEP_COLUMNS, k, k);
        for (int r = 0; r < SWEEP_ROWS; r++)
            TEXT(g, "move %c%d[%d, :] -> %s[i, %d +: %d] via bulk;", what == 1 ? 'c' : 'b', k, r, tensor_name(g, y), r * SWEEP_COLUMNS, SWEEP_COLUMNS);
        Stmt *start = what > 1 ? means(g, -1, y) : NULL, *s = what == 2 ? NULL : means(g, x, y);
        if (start) value_store(t, &start->value, v);
        if (s) s->reduce = what == 3 ? R_ADD : R_NONE;
        for (int64_t i = 0; i < m * SWEEP_EACH; i++) {
            if (start) pair(g, start, -1, i);
            if (s) pair(g, s, i, what == 3 ? i - i % SWEEP_COLUMNS + SWEEP_COLUMNS - 1 - i % SWEEP_COLUMNS : i);
        }
    }
    TEXT(g, "}");
    if (what == 2) sweep_sums(g);
}

void form_threads(Gen *g, int which)
{
    tile_type a = number_type(g), b = number_type(g);
    if (which < 2) sweep_conversions(g, (2 * g->variant + which) * SWEEP * 7);
    else if (which < 4) sweep_types(g, (2 * g->variant + which) % 4);
    else if (which == 4 && g->variant % 2 == 0) convert(g, TILE_BF16, TILE_BF16, true);
    else if (which == 4) borders(g);
    else if (draw(g, 0, 2)) convert(g, a, b, false);
    else if (draw(g, 0, 1)) fills(g);
    else sums(g);
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

/* The one of that number, counted round and round. */
static void reduction(int where, int number, Reduce *op, tile_type *t)
{
    for (int at = 0;; at = (at + 1) % ((R_DEC - R_ADD + 1) * NNUMBERS)) {
        *op = (Reduce)(R_ADD + at / NNUMBERS);
        *t = NUMBERS[at % NNUMBERS];
        if (reduces(*op, *t, where) && !number--) return;
    }
}

static void into_memory(Gen *g, int first)
{
    static const char *const policies[] = {"evict_first", "evict_last fraction 0.5", "evict_normal", "evict_unchanged"};
    int64_t m = draw(g, 1, 3), rows = draw(g, 1, 4), columns = 16;
    TEXT(g, "policy p = %s;\npipeline i in %d across grid {", policies[draw(g, 0, 3)], (int)m);
    for (int k = 0; k < 18; k++) {
        Reduce op;
        tile_type t;
        reduction(0, first + k, &op, &t);
        bool small = type_float(t) || draw(g, 0, 1), bulk = op >= R_INC ? g->variant % 2 : draw(g, 0, 1) || (t == TILE_S64 && op >= R_AND);
        int x = TENSOR(g, t, small, m, rows, columns), y = TENSOR(g, t, small, m, rows, columns);
        TEXT(g, "shared a%d: %s[%d, %d]; move %s[i, :, :] -> a%d;", k, tensor_type(g, y), (int)rows, (int)columns, tensor_name(g, x), k);
        TEXT(g, "move a%d -> %s[i, :, :] reduce %s%s%s;", k, tensor_name(g, y), REDUCE_NAMES[op], bulk ? " via bulk" : "", draw(g, 0, 1) ? " cache p" : "");
        Stmt *s = means(g, x, y);
        s->reduce = op;
        for (int64_t i = 0; i < m * rows * columns; i++) pair(g, s, i, i);
    }
    TEXT(g, "}");
}

static void into_peer(Gen *g, bool by_fill, int first)
{
    int64_t n = PICK(g, 2, 2, 4), m = draw(g, 1, 3), l = 4 * draw(g, 1, 4), d = draw(g, 1, n - 1), v = draw(g, 0, 9);
    g->p->attributes = keep_text(g->p, " cluster (%d)", (int)n);
    TEXT(g, "pipeline i in %d across grid { let to = (cluster.rank + %d) %% cluster.size;", (int)m, (int)d);
    for (int k = 0; k < 8; k++) {
        Reduce op;
        tile_type t;
        reduction(by_fill ? 2 : 1, first + k, &op, &t);
        int x = by_fill ? -1 : TENSOR(g, t, false, n, m, l), z = TENSOR(g, t, false, n, m, l), y = TENSOR(g, t, false, n, m, l);
        TEXT(g, "shared u%d: %s[%d]; move %s[cluster.rank, i, :] -> u%d;", k, tensor_type(g, y), (int)l, tensor_name(g, z), k);
        if (!by_fill) TEXT(g, "shared t%d: %s[%d]; move %s[cluster.rank, i, :] -> t%d;", k, tensor_type(g, y), (int)l, tensor_name(g, x), k);
        if (by_fill) TEXT(g, "fill peer(u%d, to) = %d + i * 3 + cluster.rank reduce %s;", k, (int)v, REDUCE_NAMES[op]);
        else TEXT(g, "move t%d -> peer(u%d, to) reduce %s%s;", k, k, REDUCE_NAMES[op], draw(g, 0, 1) ? " via bulk" : "");
        TEXT(g, "move u%d -> %s[cluster.rank, i, :];", k, tensor_name(g, y));
        Stmt *start = means(g, z, y);
        for (int64_t i = 0; i < n * m * l; i++) pair(g, start, i, i);
        for (int64_t r = 0; r < n; r++)
            for (int64_t i = 0; i < m; i++) {
                int64_t from = (r + n - d) % n;
                Stmt *s = means(g, x, y);
                s->reduce = op;
                value_store(t, &s->value, v + i * 3 + from);
                for (int64_t e = 0; e < l; e++) pair(g, s, by_fill ? -1 : (from * m + i) * l + e, (r * m + i) * l + e);
            }
    }
    TEXT(g, "}");
}

void form_reduce(Gen *g, int which)
{
    if (which < 2) into_memory(g, 18 * (2 * g->variant + which));
    else into_peer(g, which == 3, 8 * g->variant);
}
