/* im2col, im2col_w, im2col_w128, gather4 and scatter4: PTX ISA, Tensors, "Tensor Access Modes". */
#include <string.h>

#include "forms.h"

typedef struct Image { /* [n, h, w, c]; its box goes from `low` to extent - 1 + high in H and W; step: of a pixel that is taken */
    int n, h, w, c, low[2], high[2], step[2], channels, pixels;
    tile_type type;
    const char *layout, *options; /* of tile and map */
} Image;

static const char *name_swizzle(Gen *g, int bytes)
{
    return (bytes == 32 || bytes == 64 || bytes == 128) && draw(g, 0, 2) ? keep_text(g->p, " swizzle %d", bytes) : "";
}

static Image image(Gen *g, bool store)
{
    static const tile_type types[] = {TILE_BF16, TILE_F32, TILE_U8};
    Image m = {.type = types[draw(g, 0, 2)], .n = (int)draw(g, 1, 2), .h = (int)draw(g, 2, 7), .w = (int)draw(g, 2, 7)};
    int unit = 16 / type_size(m.type);
    m.channels = unit * (int)PICK(g, 2, 4, 8);
    if (m.channels * type_size(m.type) > 128) m.channels = 128 / type_size(m.type);
    m.c = m.channels * (int)draw(g, 1, 2);
    m.pixels = (int)PICK(g, 8, 16, 32);
    for (int d = 0; d < 2; d++) {
        m.low[d] = store ? 0 : (int)draw(g, -1, 1);
        m.high[d] = store ? 0 : (int)draw(g, -1, 1);
        m.step[d] = store ? 1 : (int)PICK(g, 1, 1, 2);
        int extent = d ? m.w : m.h;
        if (extent - 1 + m.high[d] < m.low[d]) m.low[d] = m.high[d] = 0;
    }
    m.layout = name_swizzle(g, m.channels * type_size(m.type));
    m.options = keep_text(g->p, " im2col lower (%d, %d) upper (%d, %d) channels %d pixels %d%s%s", m.low[0], m.low[1], m.high[0], m.high[1],
                          m.channels, m.pixels, m.step[0] * m.step[1] > 1 ? keep_text(g->p, " stride [1, %d, %d, 1]", m.step[0], m.step[1]) : "",
                          m.layout);
    return m;
}

static int64_t pixels_of(const Image *m, int d) /* that are taken of the box along H or W */
{
    return ((d ? m->w : m->h) - 1 + m->high[d] - m->low[d]) / m->step[d] + 1;
}

/* Element `c` of pixel number `k` of all boxes, moved by the offsets; -1 outside. */
static int64_t element(const Image *m, int64_t k, int64_t c, const int *offset)
{
    int64_t q = pixels_of(m, 1), p = pixels_of(m, 0), n = k / (p * q);
    int64_t h = m->low[0] + k / q % p * m->step[0] + offset[0], w = m->low[1] + k % q * m->step[1] + offset[1];
    if (n >= m->n || h < 0 || w < 0 || h >= m->h || w >= m->w || c >= m->c) return -1;
    return ((n * m->h + h) * m->w + w) * m->c + c;
}

/* The base pixel of copy number `k` as text. */
static const char *base(Gen *g, const Image *m, const char *k)
{
    int q = (int)pixels_of(m, 1), p = (int)pixels_of(m, 0);
    return keep_text(g->p, "%s / (%d * %d), %s / %d %% %d * %d + %d, %s %% %d * %d + %d", k, p, q, k, q, p, m->step[0], m->low[0], k, q,
                     m->step[1], m->low[1]);
}

static void columns(Gen *g, bool cast)
{
    Image m = image(g, false);
    int all = (int)(m.n * pixels_of(&m, 0) * pixels_of(&m, 1)), turns = (all + m.pixels - 1) / m.pixels;
    int offset[2] = {(int)draw(g, 0, 2), (int)draw(g, 0, 2)}, ctas = cast ? 2 : 1;
    int x = TENSOR(g, m.type, false, m.n, m.h, m.w, m.c), y = TENSOR(g, m.type, false, ctas, turns * m.pixels, m.c);
    const char *name = tensor_name(g, x), *offsets = draw(g, 0, 2) ? keep_text(g->p, " offset (%d, %d)", offset[0], offset[1]) : "";
    if (!*offsets) offset[0] = offset[1] = 0;
    if (cast) g->p->attributes = " cluster (2)";
    bool hint = draw(g, 0, 1);
    TEXT(g, "map patch = %s%s;%s", name, m.options, hint ? "policy hint = evict_first;" : "");
    TEXT(g, "pipeline (t, c) in (%d, %d) across grid by static { shared a: %s[%d, %d]%s; let p = t * %d;", turns, m.c / m.channels,
         tensor_type(g, x), m.pixels, m.channels, m.layout, m.pixels);
    if (draw(g, 0, 1))
        TEXT(g, "prefetch %s[%s, c * %d] via patch%s%s%s;", name, base(g, &m, "p"), m.channels, offsets, hint ? " cache hint" : "",
             draw(g, 0, 1) ? " ahead 2" : "");
    TEXT(g, "move %s[%s, c * %d] -> a via patch%s%s%s;", name, base(g, &m, "p"), m.channels, offsets, cast ? " multicast x" : "",
         hint ? " cache hint" : "");
    TEXT(g, "move a -> %s[%s, p +: %d, c * %d +: %d]; }", tensor_name(g, y), cast ? "cluster.rank" : "0", m.pixels, m.channels, m.channels);
    Stmt *s = means(g, x, y), *none = means(g, -1, y);
    for (int64_t i = 0; i < (int64_t)ctas * turns * m.pixels * m.c; i++) {
        int64_t from = element(&m, i / m.c % (turns * m.pixels), i % m.c, offset);
        pair(g, from < 0 ? none : s, from, i);
    }
}

static void back(Gen *g, bool add)
{
    Image m = image(g, true);
    if (add && m.type == TILE_U8) m.type = TILE_F32, m.channels = 32, m.c = 32;
    if (add) m = (Image){.type = TILE_F32, .n = m.n, .h = m.h, .w = m.w, .c = 32, .step = {1, 1}, .channels = 32, .pixels = m.pixels, .layout = " swizzle 128"};
    if (add) m.options = keep_text(g->p, " im2col lower (0, 0) upper (0, 0) channels 32 pixels %d swizzle 128", m.pixels);
    int all = m.n * m.h * m.w, turns = (all + m.pixels - 1) / m.pixels, none[2] = {0, 0};
    int x = TENSOR(g, m.type, true, all, m.c), y = TENSOR(g, m.type, true, m.n, m.h, m.w, m.c);
    TEXT(g, "map px = %s%s;", tensor_name(g, y), m.options);
    TEXT(g, "pipeline (t, c) in (%d, %d) across grid { shared a: %s[%d, %d]%s; let p = t * %d;", turns, m.c / m.channels, tensor_type(g, x),
         m.pixels, m.channels, m.layout, m.pixels);
    TEXT(g, "move %s[p, c * %d] -> a; move a -> %s[%s, c * %d] via px%s; }", tensor_name(g, x), m.channels, tensor_name(g, y),
         base(g, &m, "p"), m.channels, add ? " reduce add" : "");
    Stmt *s = means(g, x, y);
    s->reduce = add ? R_ADD : R_NONE;
    for (int64_t i = 0; i < (int64_t)all * m.c; i++) pair(g, s, i, element(&m, i / m.c, i % m.c, none));
}

/* A slice of channels as one pixel: [n, slices, h, w, 8]. */
static void sliced(Gen *g)
{
    int n = (int)draw(g, 1, 2), c = (int)draw(g, 1, 2), h = (int)draw(g, 2, 5), w = (int)draw(g, 2, 6), bytes = (int)PICK(g, 16, 32), e = bytes / 2;
    int pixels = (int)PICK(g, 8, 16), all = n * h * w, turns = (all + pixels - 1) / pixels, o[2] = {(int)draw(g, 0, 1), (int)draw(g, 0, 1)};
    int x = TENSOR(g, TILE_F16, false, n, c, h, w, e), y = TENSOR(g, TILE_F16, false, 1, c, turns * pixels, e);
    const char *layout = bytes == 32 ? " interleave 32 swizzle 32" : " interleave 16";
    TEXT(g, "map patch = %s im2col lower (-1, 0) upper (-1, 0) channels %d pixels %d%s;", tensor_name(g, x), e, pixels, layout);
    TEXT(g, "pipeline (t, c) in (%d, %d) across grid { shared a: f16[%d, %d]%s; let p = t * %d;", turns, c, pixels, e, layout, pixels);
    TEXT(g, "move %s[p / (%d * %d), c, p / %d %% %d - 1, p %% %d, 0] -> a via patch offset (%d, %d);", tensor_name(g, x), h, w, w, h, w, o[0], o[1]);
    TEXT(g, "move a -> %s[0, c, p +: %d, :]; }", tensor_name(g, y), pixels);
    Stmt *s = means(g, x, y), *none = means(g, -1, y);
    for (int64_t i = 0; i < (int64_t)c * turns * pixels * e; i++) {
        int64_t k = i / e % (turns * pixels), in = k / (h * w), row = k / w % h - 1 + o[0], column = k % w + o[1];
        bool out = in >= n || row < 0 || row >= h || column >= w;
        pair(g, out ? none : s, out ? -1 : (((in * c + i / e / (turns * pixels)) * h + row) * w + column) * e + i % e, i);
    }
}

/* ---- of the targets with tensor memory ---- */

/* Rows by index, four at a time: in and out. */
static void rows(Gen *g, bool scatter, bool cast)
{
    int v = (int)draw(g, 2, 30), n = 4 * (int)draw(g, 1, 5), blocks = (int)draw(g, 1, 3), c = 64 * (int)draw(g, 1, 2), ctas = cast ? 2 : 1;
    int idx = new_tensor(g, TILE_S32, 1, false);
    Tensor *t = &g->p->tensor[idx];
    t->extent[0] = x_num(g, (int64_t)n * blocks);
    t->first = keep(g->p, (size_t)(n * blocks) * 4);
    int number[64] = {0};
    for (int i = 0; i < n * blocks; i++) {
        number[i] = scatter ? (i * 7 + 3) % 97 - 1 : (int)draw(g, -1, v + 1);
        value_store(TILE_S32, t->first + (size_t)i * 4, number[i]);
    }
    int table = TENSOR(g, TILE_BF16, false, v, c);
    int other = cast ? TENSOR(g, TILE_BF16, false, ctas, n * blocks, c) : TENSOR(g, TILE_BF16, false, n * blocks, c);
    const char *swizzle = draw(g, 0, 1) ? " swizzle 128" : "", *name = tensor_name(g, table), *to = tensor_name(g, other), *in = tensor_name(g, idx);
    TEXT(g, "map rows = %s %s box [4, 64]%s;", name, scatter ? "scatter4" : "gather4", swizzle);
    if (cast) g->p->attributes = " cluster (2)";
    if (scatter) g->p->trust = keep_text(g->p, "distinct(%s)", in);
    TEXT(g, "pipeline (r, c) in (%d, %d) across grid by static { shared a: bf16[%d, 64]%s;", blocks, c / 64, n, swizzle);
    const char *picked = keep_text(g->p, "%s[%s[r * %d +: %d], c * 64 +: 64]", name, in, n, n);
    if (scatter) {
        TEXT(g, "move %s[r * %d, c * 64] -> a; move a -> %s via rows; }", to, n, picked);
    } else {
        if (g->variant % 2 || draw(g, 0, 1)) TEXT(g, "prefetch %s via rows%s;", picked, draw(g, 0, 1) ? " ahead 2" : "");
        TEXT(g, "move %s -> a via rows%s;", picked, cast ? " multicast x" : "");
        if (cast) TEXT(g, "move a -> %s[cluster.rank, r * %d +: %d, c * 64 +: 64]; }", to, n, n);
        else TEXT(g, "move a -> %s[r * %d, c * 64]; }", to, n);
    }
    Stmt *s = scatter ? means(g, other, table) : means(g, table, other), *none = scatter ? NULL : means(g, -1, other);
    for (int64_t i = 0; i < (int64_t)ctas * n * blocks * c; i++) {
        int row = number[i / c % (n * blocks)];
        int64_t place = row < 0 || row >= v ? -1 : (int64_t)row * c + i % c;
        if (scatter) pair(g, s, i, place);
        else pair(g, place < 0 ? none : s, place, i);
    }
}

/* Pixels along W with a halo behind them. */
static void halo(Gen *g, bool by_32, bool cast)
{
    int n = (int)draw(g, 1, 2), h = (int)draw(g, 1, 3), extra = (int)draw(g, 0, 3), first = (int)draw(g, 0, 2), pixels = by_32 ? 128 : (int)PICK(g, 8, 16, 64);
    int take = by_32 ? 128 + 4 * extra : pixels + extra, w = by_32 ? 128 + extra + first + (int)draw(g, 1, 9) : pixels + extra + first + (int)draw(g, 1, 9);
    int ctas = cast ? 2 : 1;
    int x = TENSOR(g, TILE_BF16, false, n, h, w, 64), y = TENSOR(g, TILE_BF16, false, ctas, n * h, take, 64);
    TEXT(g, "map row = %s im2col_w%s lower (0) upper (0) channels 64%s swizzle 128;", tensor_name(g, x), by_32 ? "128" : "",
         by_32 ? "" : keep_text(g->p, " pixels %d", pixels));
    if (cast) g->p->attributes = " cluster (2)";
    bool hint = draw(g, 0, 1);
    if (hint) TEXT(g, "policy hint = evict_last;");
    TEXT(g, "pipeline i in %d across grid by static { shared a: bf16[%d, 64] swizzle 128;", n * h, take);
    if (by_32 || draw(g, 0, 1)) TEXT(g, "prefetch %s[i / %d, i %% %d, 0, 0] via row halo (%d, %d)%s;", tensor_name(g, x), h, h, extra, first, hint ? " cache hint" : "");
    TEXT(g, "move %s[i / %d, i %% %d, 0, 0] -> a via row halo (%d, %d)%s%s;", tensor_name(g, x), h, h, extra, first, cast ? " multicast x" : "",
         hint ? " cache hint" : "");
    TEXT(g, "move a -> %s[%s, i, :, :]; }", tensor_name(g, y), cast ? "cluster.rank" : "0");
    Stmt *s = means(g, x, y);
    for (int64_t i = 0; i < (int64_t)ctas * n * h * take * 64; i++) {
        int64_t k = i / 64 % take, row = i / 64 / take % (n * h), pixel = by_32 ? k / (32 + extra) * 32 + k % (32 + extra) : k;
        pair(g, s, (row * w + pixel + first) * 64 + i % 64, i);
    }
}

/* Each mode into the tile of the other CTA. */
static void to_peer(Gen *g, int how)
{
    int n = how == 3 ? 128 : 16, w = n + 8, first = how ? (int)draw(g, 0, 3) : 0, v = (int)draw(g, 4, 20);
    bool table = how == 0;
    int x = table ? TENSOR(g, TILE_BF16, false, v, 64) : TENSOR(g, TILE_BF16, false, 2, 1, w, 64), y = TENSOR(g, TILE_BF16, false, 2, n, 64);
    static const char *const modes[] = {"gather4 box [4, 64]", "im2col lower (0, 0) upper (0, 0) channels 64 pixels 16", "im2col_w lower (0) upper (0) channels 64 pixels 16",
                                        "im2col_w128 lower (0) upper (0) channels 64"};
    g->p->attributes = " cluster (2) grid (2)";
    TEXT(g, "map m = %s %s swizzle 128;", tensor_name(g, x), modes[how]);
    if (draw(g, 0, 1)) TEXT(g, "policy hint = evict_first;");
    else TEXT(g, "policy hint = evict_last;");
    TEXT(g, "shared t: bf16[%d, 64] swizzle 128;\nbarrier full;\nlet other = cluster.rank ^ 1;\nroles { role load {", n);
    if (table) TEXT(g, "move %s[{0, %d, 2, 3, 1, cluster.rank, 0, 2, 3, 0, 1, 2, 3, 2, 1, 0}, 0 +: 64]", tensor_name(g, x), v);
    else TEXT(g, "move %s[cluster.rank, 0, 0, 0]", tensor_name(g, x));
    TEXT(g, "-> peer(t, other) via m%s cache hint commit peer(full, other); }",
         how == 0 ? "" : keep_text(g->p, how == 1 ? " offset (0, %d)" : " halo (0, %d)", first));
    TEXT(g, "role store { wait full; move t -> %s[cluster.rank, :, :]; } }", tensor_name(g, y));
    Stmt *s = means(g, x, y), *none = means(g, -1, y);
    for (int64_t i = 0; i < (int64_t)2 * n * 64; i++) {
        int64_t k = i / 64 % n, from = 1 - i / 64 / n;
        int64_t list[] = {0, v, 2, 3, 1, from, 0, 2, 3, 0, 1, 2, 3, 2, 1, 0};
        int64_t row = table ? list[k % 16] : from * w + k + first;
        bool out = table && row >= v;
        pair(g, out ? none : s, out ? -1 : row * 64 + i % 64, i);
    }
}

/* Tiles of both CTAs of a pair count on the barrier of one of them. */
static void on_pair(Gen *g)
{
    int even = (int)draw(g, 0, 1), m = (int)draw(g, 1, 128);
    int x = TENSOR(g, TILE_BF16, false, m, 64), y = TENSOR(g, TILE_BF16, false, m, 64);
    g->p->attributes = " grid (2) cluster (2)";
    TEXT(g, "shared t: bf16[64, 64] swizzle 128;\nbarrier both;\nbarrier go;\nlet row = cta.x * 64;");
    TEXT(g, "roles { role load { move %s[row, 0] -> t commit peer(both, cluster.rank %s); }", tensor_name(g, x), even ? "& ~1" : "| 1");
    TEXT(g, "role tell { if cluster.rank %% 2 == %d { wait both; arrive go; arrive peer(go, cluster.rank ^ 1); } }", even ? 0 : 1);
    TEXT(g, "role store { wait go; move t -> %s[row, 0]; } }", tensor_name(g, y));
    Stmt *s = means(g, x, y);
    for (int64_t i = 0; i < (int64_t)m * 64; i++) pair(g, s, i, i);
}

void form_modes(Gen *g, int which)
{
    switch (which) {
    case 0: columns(g, false); return;
    case 1: columns(g, true); return;
    case 2: back(g, false); return;
    case 3: back(g, true); return;
    case 4: sliced(g); return;
    case 5: rows(g, false, false); return;
    case 6: rows(g, false, true); return;
    case 7: rows(g, true, false); return;
    case 8: halo(g, false, g->variant % 2); return;
    case 9: halo(g, true, g->variant % 2 == 0); return;
    case 10:
    case 11: to_peer(g, (2 * g->variant + which - 10) % 4); return;
    default: on_pair(g); return;
    }
}
