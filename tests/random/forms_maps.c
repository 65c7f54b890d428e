/* Maps with each option, policies and prefetches, interleaved layouts, packed elements, views that are made at run time. */
#include <string.h>

#include "forms.h"

static int64_t at(int64_t m, int64_t n, int64_t i, int64_t j) /* element of [m, n], -1 outside */
{
    return i < 0 || j < 0 || i >= m || j >= n ? -1 : i * n + j;
}

static const char *policy(Gen *g, const char *name)
{
    static const char *const words[] = {"evict_first", "evict_last", "evict_normal", "evict_unchanged"};
    static const char *const more[] = {"", " fraction 0.5", " fraction 1.0", " fraction 0.25 else evict_first", " else evict_unchanged"};
    TEXT(g, "policy %s = %s%s;", name, words[draw(g, 0, 3)], more[draw(g, 0, 4)]);
    return keep_text(g->p, " cache %s", name);
}

/* Prefetches of each kind change nothing. */
static void prefetches(Gen *g, int how)
{
    int m = (int)draw(g, 0, 40), n = 16 * (int)draw(g, 1, 6), r = (int)PICK(g, 1, 4, 8), c = 16 * (int)draw(g, 1, 3);
    int x = TENSOR(g, TILE_U8, false, m, n), y = TENSOR(g, TILE_U8, false, m, n);
    bool hint = how == 1 ? g->variant % 4 == 0 : draw(g, 0, 1);
    const char *cache = hint ? policy(g, "p") : "", *ahead = draw(g, 0, 1) ? keep_text(g->p, " ahead %d", (int)draw(g, 1, 4)) : "";
    g->p->version = how == 3 && draw(g, 0, 1) ? 80 : 0;
    TEXT(g, "map m = %s box [%d, %d] l2 %d;", tensor_name(g, x), r, c, (int)PICK(g, 64, 128, 256));
    if (draw(g, 0, 1)) TEXT(g, "prefetch m;");
    TEXT(g, "pipeline (i, j) in (ceil(%d, %d), ceil(%d, %d)) across grid by static {", m, r, n, c);
    const char *via = how == 0 ? " via m" : how == 1 ? " via bulk" : "";
    if (how < 3) TEXT(g, "prefetch %s[i * %d +: %d, j * %d +: %d]%s%s%s;", tensor_name(g, x), r, r, c, c, via, cache, ahead);
    if (how == 1) TEXT(g, "prefetch %s[i * %d +: %d, j * %d +: %d] via bulk;", tensor_name(g, x), r, r, c, c);
    TEXT(g, "shared t: u8[%d, %d];\nmove %s[i * %d, j * %d] -> t%s%s;", r, c, tensor_name(g, x), r, c, how == 1 ? " via bulk" : " via m", cache);
    TEXT(g, "move t -> %s[i * %d, j * %d]%s; }", tensor_name(g, y), r, c, cache);
    Stmt *s = means(g, x, y);
    for (int64_t i = 0; i < (int64_t)m * n; i++) pair(g, s, i, i);
}

/* A box with steps, a fill, a swizzle: loads start outside, too. */
static void boxes(Gen *g)
{
    static const tile_type types[] = {TILE_F16, TILE_BF16, TILE_F32, TILE_F64, TILE_TF32, TILE_U8, TILE_S32};
    tile_type t = types[draw(g, 0, 6)];
    bool nan = type_float(t) && draw(g, 0, 1);
    int size = type_size(t), unit = 16 / size, swizzle = (int)PICK(g, 0, 32, 64, 128), c = swizzle ? swizzle / size : unit * (int)draw(g, 1, 3);
    int r = (int)draw(g, 1, 9), step = (int)draw(g, 1, 8), rows = (r + step - 1) / step;
    int m = (int)draw(g, 1, 20), n = unit * (int)draw(g, 1, 10), gi = (int)draw(g, 1, 3), gj = (int)draw(g, 1, 2);
    int oi = (int)draw(g, -4, 4), oj = unit * (int)draw(g, -1, 1);
    int x = TENSOR(g, t, false, m, n), y = TENSOR(g, t, false, gi * rows, gj * c);
    g->p->tensor[y].any_nan = nan;
    const char *layout = swizzle ? keep_text(g->p, " swizzle %d", swizzle) : "";
    TEXT(g, "map in = %s box [%d, %d] stride [%d, 1]%s%s l2 %d;", tensor_name(g, x), r, c, step, layout,
         nan ? " fill nan" : draw(g, 0, 1) ? " fill zero" : "", (int)PICK(g, 64, 128, 256));
    TEXT(g, "map out = %s box [%d, %d]%s;", tensor_name(g, y), rows, c, layout);
    TEXT(g, "pipeline (i, j) in (%d, %d) across grid { shared t: %s[%d, %d]%s;", gi, gj, tensor_type(g, x), rows, c, layout);
    TEXT(g, "move %s[i * %d + %d, j * %d + %d] -> t via in;", tensor_name(g, x), r, oi, c, oj);
    TEXT(g, "move t -> %s[i * %d, j * %d] via out; }", tensor_name(g, y), rows, c);
    Stmt *none = means(g, -1, y), *s = means(g, x, y);
    if (nan) none->value = 0x7ff77ff77ff77ff7;
    for (int64_t i = 0; i < gi * rows; i++)
        for (int64_t j = 0; j < gj * c; j++) {
            int64_t from = at(m, n, i / rows * r + i % rows * step + oi, j + oj);
            pair(g, from < 0 ? none : s, from, i * gj * c + j);
        }
}

/* Slices of channels: [N, C, H, W, slice]. */
static void slices(Gen *g)
{
    static const tile_type types[] = {TILE_F16, TILE_U8, TILE_F32};
    tile_type t = types[draw(g, 0, 2)];
    int bytes = (int)PICK(g, 16, 32), slice = bytes / type_size(t), bh = (int)draw(g, 1, 4), bw = 16 / type_size(t) * (int)draw(g, 1, 2);
    int n = (int)draw(g, 1, 2), c = (int)draw(g, 1, 2), h = (int)draw(g, 1, 6), w = (int)draw(g, 1, 20), oh = (int)draw(g, -2, 1), ow = (int)draw(g, -2, 1);
    int x = TENSOR(g, t, false, n, c, h, w, slice), y = TENSOR(g, t, false, n, c, h, w, slice);
    TEXT(g, "pipeline (n, c, h, w) in (%d, %d, ceil(%d, %d), ceil(%d, %d)) across grid {", n, c, h, bh, w, bw);
    TEXT(g, "shared t: %s[%d, %d, %d]%s interleave %d;", tensor_type(g, x), bh, bw, slice, bytes == 32 ? " swizzle 32" : "", bytes);
    TEXT(g, "move %s[n, c, h * %d + %d +: %d, w * %d + %d +: %d, :] -> t;", tensor_name(g, x), bh, oh, bh, bw, ow, bw);
    TEXT(g, "move t -> %s[n, c, h * %d +: %d, w * %d +: %d, :]; }", tensor_name(g, y), bh, bh, bw, bw);
    Stmt *none = means(g, -1, y), *s = means(g, x, y);
    for (int64_t i = 0; i < (int64_t)n * c * h * w; i++) {
        int64_t from = at(h, w, i / w % h + oh, i % w + ow);
        for (int k = 0; k < slice; k++)
            pair(g, from < 0 ? none : s, from < 0 ? -1 : (i / (h * w) * h * w + from) * slice + k, i * slice + k);
    }
}

/* Groups of rows whose bounds are data: the maps of their views are made by the kernel. */
static void groups(Gen *g, int how)
{
    int n = (int)draw(g, 1, 4), k = 16 * (int)draw(g, 1, 5), r = (int)PICK(g, 4, 8), c = (int)PICK(g, 16, 32);
    int rows = (int)draw(g, 1, 24), off = new_tensor(g, TILE_S32, 1, false);
    Tensor *o = &g->p->tensor[off];
    o->extent[0] = x_num(g, n + 1);
    o->first = keep(g->p, (size_t)(n + 1) * 4);
    int bound[8] = {0};
    for (int i = 0; i <= n; i++) {
        bound[i] = (i ? bound[i - 1] : 0) + (int)draw(g, 0, rows / n + 1);
        if (bound[i] > rows) bound[i] = rows;
        value_store(TILE_S32, o->first + (size_t)i * 4, bound[i]);
    }
    int x = TENSOR(g, TILE_F32, true, rows, k), y = TENSOR(g, TILE_F32, true, rows, k);
    g->p->trust = keep_text(g->p, "sorted(%s)", tensor_name(g, off));
    TEXT(g, "pipeline g in %d across grid {\nlet first = %s[g];\nlet rows = %s[g + 1] - first;", n, tensor_name(g, off), tensor_name(g, off));
    TEXT(g, "view xg = %s[first +: rows, :];\nview yg = %s[first +: rows, :];", tensor_name(g, x), tensor_name(g, y));
    TEXT(g, "pipeline (i, k) in (ceil(rows, %d), ceil(%d, %d)) { shared t: f32[%d, %d];", r, k, c, r, c);
    TEXT(g, "move xg[i * %d, k * %d] -> t%s;", r, c, how == 1 ? " via bulk" : "");
    if (how == 3) TEXT(g, "if rows < 0 { fill t = 9; }");
    TEXT(g, "move t -> yg[i * %d, k * %d]%s%s; } }", r, c, how == 2 ? " reduce add" : "", how == 1 ? " via bulk" : "");
    Stmt *s = means(g, x, y);
    s->reduce = how == 2 ? R_ADD : R_NONE;
    for (int64_t i = (int64_t)bound[0] * k; i < (int64_t)bound[n] * k; i++) pair(g, s, i, i);
}

/* What PTX 8.0 has: loads name .shared::cluster. */
static void oldest(Gen *g)
{
    int m = (int)draw(g, 1, 30), n = 16 * (int)draw(g, 1, 5), bulk = (int)draw(g, 0, 1);
    int x = TENSOR(g, TILE_U8, false, m, n), y = TENSOR(g, TILE_U8, false, m, n);
    g->p->version = 80;
    TEXT(g, "pipeline i in ceil(%d, 8) across grid by static { shared t: u8[8, %d];", m, n);
    TEXT(g, "move %s[i * 8, 0] -> t%s; move t -> %s[i * 8, 0]; }", tensor_name(g, x), bulk ? " via bulk" : "", tensor_name(g, y));
    Stmt *s = means(g, x, y);
    for (int64_t i = 0; i < (int64_t)m * n; i++) pair(g, s, i, i);
}

void form_maps(Gen *g, int which)
{
    switch (which) {
    case 0:
    case 1: prefetches(g, (2 * g->variant + which) % 4); return;
    case 2:
    case 3: boxes(g); return;
    case 4: slices(g); return;
    case 5:
    case 6: groups(g, (2 * g->variant + which - 5) % 4); return;
    default: oldest(g); return;
    }
}
