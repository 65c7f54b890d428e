/* Forms of declarations and calls: imports, parameters that are barriers and policies, targets, views of another shape. */
#include "forms.h"

static void same(Gen *g, int x, int y, int64_t n)
{
    Stmt *s = means(g, x, y);
    for (int64_t i = 0; i < n; i++) pair(g, s, i, i);
}

static void library(Gen *g)
{
    int m = (int)draw(g, 1, 40), n = 8 * (int)draw(g, 1, 12), bm = (int)PICK(g, 8, 16, 32), bn = (int)PICK(g, 32, 64);
    int x = TENSOR(g, TILE_BF16, false, m, n), y = TENSOR(g, TILE_BF16, false, m, n);
    g->p->items = "import std.tiles;\nimport words;\n";
    g->p->attributes = keep_text(g->p, " grid (ceil(%d, %d), ceil(%d, %d))", n, bn, m, bm);
    TEXT(g, "std.tiles.copy_tile<%d, %d>(%s, %s, words.same(cta.y), words.less(cta.x, words.NOTHING));", bm, bn, tensor_name(g, x), tensor_name(g, y));
    same(g, x, y, (int64_t)m * n);
}

/* A function for each half of a protocol by hand. */
static void halves(Gen *g)
{
    int m = (int)draw(g, 0, 5), slots = (int)draw(g, 1, 3), l = 16 * (int)draw(g, 1, 8);
    int x = TENSOR(g, TILE_U8, false, m > 0 ? m : 1, l), y = TENSOR(g, TILE_U8, false, m > 0 ? m : 1, l);
    g->p->items = keep_text(g->p,
                            "target sm_90a, sm_100a;\n"
                            "const LENGTH = %d;\n"
                            "fn slot(k, n) = k %% n;\n"
                            "fn first(x: global u8[M, L], t: shared u8[%d][LENGTH], full: barrier[%d], empty: barrier[%d], p: policy, n: s64) {\n"
                            "    for k in n { wait empty[slot(k, %d)]; move x[k, :] -> t[slot(k, %d)] cache p commit full[slot(k, %d)]; }\n}\n"
                            "fn then<T>(y: global T[M, L], t: shared T[%d][LENGTH], full: barrier[%d], empty: barrier[%d], p: policy, n) {\n"
                            "    for k in n { wait full[k %% %d]; move t[k %% %d] -> y[k, :] cache p commit group; wait group read; arrive empty[k %% %d]; }\n}\n",
                            l, slots, slots, slots, slots, slots, slots, slots, slots, slots, slots, slots, slots);
    TEXT(g, "shared t: u8[%d][%d];\nbarrier full[%d];\nbarrier empty[%d] free;", slots, l, slots, slots);
    TEXT(g, "policy p = evict_%s;", draw(g, 0, 1) ? "last fraction 0.25 else evict_first" : "unchanged else evict_unchanged");
    TEXT(g, "roles { role load { first(%s, t, full, empty, p, %d); }", tensor_name(g, x), m);
    TEXT(g, "role store { then<u8>(%s, t, full, empty, p, %d); } }", tensor_name(g, y), m);
    if (m) same(g, x, y, (int64_t)m * l);
}

/* A call without arguments, a function that returns a condition's number, operators of lists that `>` closes. */
static void calls(Gen *g)
{
    int n = 4 * (int)draw(g, 1, 8), v = (int)draw(g, 0, 9), w = (int)draw(g, 0, 3);
    int x = TENSOR(g, TILE_S32, false, n), y = TENSOR(g, TILE_S32, false, n);
    g->p->items = keep_text(g->p,
                            "fn nothing<N>() { shared u: s32[N * 4]; fill u = N; }\n"
                            "fn store<A, B, T = s32>(x: global T[L], y: global T[L]) {\n"
                            "    shared t: T[%d]; move x[0] -> t;\n"
                            "    if A == 1 { fill t = 7; } else if B > A { fill t = B; } else { nothing<A + 1>(); }\n"
                            "    move t -> y[0];\n}\n",
                            n);
    TEXT(g, "nothing<%d / 2 + 5 %% 3>();", v);
    TEXT(g, "store<~-%d - -0, %d * 1>(%s, %s);", w + 1, v, tensor_name(g, x), tensor_name(g, y));
    if (w == 1 || v > w) {
        Stmt *s = means(g, -1, y);
        value_store(TILE_S32, &s->value, w == 1 ? 7 : v);
        for (int i = 0; i < n; i++) pair(g, s, -1, i);
    } else {
        same(g, x, y, n);
    }
}

/* The same memory in another shape, and rows that lie apart as the launch says. */
static void shapes(Gen *g)
{
    int a = (int)draw(g, 1, 6), b = 4 * (int)draw(g, 1, 8);
    int x = TENSOR(g, TILE_F32, false, a * b), y = TENSOR(g, TILE_F32, false, a, b);
    g->p->tensor[y].layout = " stride [S, 1]";
    TEXT(g, "view v = %s : f32[%d, %d];\nshared t: f32[%d, %d];\nmove v -> t;", tensor_name(g, x), a, b, a, b);
    if (draw(g, 0, 1)) TEXT(g, "view w = %s[%d +: %d, :];\nmove t -> w[0, 0];", tensor_name(g, y), 0, a);
    else TEXT(g, "move t -> %s[0, 0];", tensor_name(g, y));
    same(g, x, y, (int64_t)a * b);
}

/* What one store wrote another load reads; writes that may meet. */
static void chain(Gen *g)
{
    int n = 16 * (int)draw(g, 1, 4), m = (int)draw(g, 1, 3);
    int x = TENSOR(g, TILE_S32, false, m, n), y = TENSOR(g, TILE_S32, false, m, n), z = TENSOR(g, TILE_S32, false, m, n);
    g->p->attributes = keep_text(g->p, " grid (%d) where %d >= 1, grid.x == %d", m, m, m);
    g->p->attributes = keep_text(g->p, " grid (%d)", m);
    TEXT(g, "shared t: s32[%d];\nmove %s[cta.x, :] -> t;\nmove t -> %s[cta.x, :] overlap any;", n, tensor_name(g, x), tensor_name(g, y));
    TEXT(g, "move %s[cta.x, :] -> t;\nmove t -> %s[cta.x, :];", tensor_name(g, y), tensor_name(g, z));
    same(g, x, y, (int64_t)m * n);
    same(g, x, z, (int64_t)m * n);
}

void form_words(Gen *g, int which)
{
    switch (which) {
    case 0: library(g); return;
    case 1:
    case 2: halves(g); return;
    case 3:
    case 4: calls(g); return;
    case 5: shapes(g); return;
    default: chain(g); return;
    }
}
