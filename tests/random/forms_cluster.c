/* What goes between the CTAs of a cluster, by protocols written by hand and derived ones. Tensors are [CTAs, M, L]. */
#include "forms.h"

typedef struct Team {
    int n, d, m, l; /* CTAs, distance to the other one, turns, elements */
    tile_type type;
    int x, y;
} Team;

static Team team(Gen *g)
{
    static const tile_type types[] = {TILE_U32, TILE_S32, TILE_F32, TILE_U64, TILE_BF16, TILE_U8};
    Team t = {.n = (int)PICK(g, 2, 2, 4), .m = (int)draw(g, 1, 5), .type = types[draw(g, 0, 5)]};
    t.d = (int)draw(g, 1, t.n - 1);
    t.l = 16 / type_size(t.type) * (int)draw(g, 1, 6);
    g->p->attributes = keep_text(g->p, " cluster (%d) grid (%d)", t.n, t.n);
    t.x = TENSOR(g, t.type, false, t.n, t.m, t.l);
    t.y = TENSOR(g, t.type, false, t.n, t.m, t.l);
    return t;
}

/* y of each CTA is x of the one that is d before it. */
static void rotated(Gen *g, const Team *t, int x, int y, int d)
{
    Stmt *s = means(g, x, y);
    int64_t each = (int64_t)t->m * t->l;
    for (int64_t r = 0; r < t->n; r++)
        for (int64_t k = 0; k < each; k++) pair(g, s, (r + t->n - d) % t->n * each + k, r * each + k);
}

static const char *policy(Gen *g)
{
    static const char *const words[] = {"evict_first", "evict_last", "evict_normal", "evict_unchanged"};
    if (draw(g, 0, 1)) return "";
    int w = (int)draw(g, 0, 3);
    TEXT(g, "policy hint = %s%s%s;", words[w], draw(g, 0, 1) ? " fraction 0.5" : "",
         draw(g, 0, 1) ? draw(g, 0, 1) ? " else evict_first" : " else evict_unchanged" : "");
    return " cache hint";
}

/* Loads into the tile of another CTA, one or two to a phase. */
static void into_peer(Gen *g)
{
    Team t = team(g);
    bool two = draw(g, 0, 1);
    int z = two ? TENSOR(g, t.type, false, t.n, t.m, t.l) : -1;
    const char *cache = policy(g), *via = draw(g, 0, 1) ? " via bulk" : "";
    TEXT(g, "shared a: %s[%d];\nshared b: %s[%d];", tensor_type(g, t.x), t.l, tensor_type(g, t.x), t.l);
    TEXT(g, "barrier got;\nbarrier room free;\nlet to = (cluster.rank + %d) %% %d;", t.d, t.n);
    TEXT(g, "roles { role load { for k in %d { wait room;", t.m);
    TEXT(g, "move %s[cluster.rank, k, :] -> peer(a, to)%s%s commit peer(got, to);", tensor_name(g, t.x), via, cache);
    if (two) TEXT(g, "move %s[to, k, :] -> peer(b, to)%s commit peer(got, to);", tensor_name(g, t.x), via);
    TEXT(g, "} } role store { for k in %d { wait got;", t.m);
    TEXT(g, "move a -> %s[cluster.rank, k, :] commit group;", tensor_name(g, t.y));
    if (two) TEXT(g, "move b -> %s[cluster.rank, k, :] commit group;", tensor_name(g, z));
    TEXT(g, "wait group read; arrive peer(room, (cluster.rank + %d) %% %d); } } }", t.n - t.d, t.n);
    rotated(g, &t, t.x, t.y, t.d);
    if (two) rotated(g, &t, t.x, z, 0);
}

/* A tile that was loaded goes on to another CTA. */
static void exchange(Gen *g)
{
    Team t = team(g);
    const char *via = draw(g, 0, 1) ? " via bulk" : "";
    TEXT(g, "shared mine: %s[%d];\nshared theirs: %s[%d];", tensor_type(g, t.x), t.l, tensor_type(g, t.x), t.l);
    TEXT(g, "barrier full;\nbarrier empty free;\nbarrier got;\nbarrier room free;");
    TEXT(g, "let to = (cluster.rank + %d) %% %d;\nlet from = (cluster.rank + %d) %% %d;", t.d, t.n, t.n - t.d, t.n);
    TEXT(g, "roles { role load { for k in %d { wait empty;", t.m);
    TEXT(g, "move %s[cluster.rank, k, :] -> mine%s commit full; } }", tensor_name(g, t.x), via);
    TEXT(g, "role send { for k in %d { wait full; wait room;", t.m);
    TEXT(g, "move mine -> peer(theirs, to)%s commit peer(got, to); } }", draw(g, 0, 1) ? " via bulk" : "");
    TEXT(g, "role store { for k in %d { wait got;", t.m);
    TEXT(g, "move theirs -> %s[cluster.rank, k, :]%s commit group;", tensor_name(g, t.y), via);
    TEXT(g, "wait group read; arrive peer(room, from); arrive peer(empty, from); } } }");
    rotated(g, &t, t.x, t.y, t.d);
}

/* Numbers told to another CTA: by hand through a ring, or derived and then sent to memory. */
static void told(Gen *g, bool by_hand)
{
    static const tile_type types[] = {TILE_U32, TILE_S32, TILE_U64, TILE_S64};
    int n = (int)PICK(g, 2, 4), m = (int)draw(g, 1, 6), d = (int)draw(g, 1, n - 1), v = (int)draw(g, 0, 50);
    tile_type type = types[draw(g, 0, 3)];
    int l = 16 / type_size(type) * (int)draw(g, 1, 4), y = TENSOR(g, type, false, n, m, l), slots = (int)draw(g, 1, 3);
    g->p->attributes = keep_text(g->p, " cluster (%d) grid (%d)", n, n);
    if (by_hand) {
        TEXT(g, "shared t: %s[%d][%d];", tensor_type(g, y), slots, l);
        TEXT(g, "barrier full[%d];\nbarrier empty[%d] free;\nroles { role tell { for k in 0 .. %d {", slots, slots, m);
        TEXT(g, "wait empty[k %% %d];", slots);
        TEXT(g, "fill peer(t[k %% %d], (cluster.rank + %d) %% %d) = k * 4 + cluster.rank + %d", slots, d, n, v);
        TEXT(g, "commit peer(full[k %% %d], (cluster.rank + %d) %% %d); } }", slots, d, n);
        TEXT(g, "role hear%s { for k in 0 .. %d { wait full[k %% %d];", draw(g, 0, 1) ? " threads 64" : "", m, slots);
        TEXT(g, "move t[k %% %d] -> %s[cluster.rank, k, :] commit group; wait group read;", slots, tensor_name(g, y));
        TEXT(g, "arrive peer(empty[k %% %d], (cluster.rank + %d) %% %d); } } }", slots, n - d, n);
    } else {
        TEXT(g, "pipeline k in %d { shared t: %s[%d];", m, tensor_type(g, y), l);
        TEXT(g, "fill peer(t, (cluster.rank + %d) %% cluster.size) = k * 4 + cluster.rank + %d;", d, v);
        TEXT(g, "move t -> %s[cluster.rank, k, :]; }", tensor_name(g, y));
    }
    for (int r = 0; r < n; r++)
        for (int k = 0; k < m; k++) {
            Stmt *s = means(g, -1, y);
            value_store(type, &s->value, k * 4 + (r + n - d) % n + v);
            for (int i = 0; i < l; i++) pair(g, s, -1, (r * m + k) * l + i);
        }
}

/* Multicasts to the CTAs of a mask, derived: to the own pair, or each a part to all. */
static void masked(Gen *g)
{
    Team t = team(g);
    bool parts = draw(g, 0, 1);
    if (parts) {
        TEXT(g, "pipeline k in %d { shared a: %s[%d, %d];", t.m, tensor_type(g, t.x), t.n, t.l);
        TEXT(g, "move %s[cluster.rank, k, :] -> a[cluster.rank, :]", tensor_name(g, t.x));
        TEXT(g, "multicast (%d) via bulk;", (1 << t.n) - 1);
        TEXT(g, "move a[(cluster.rank + %d) %% %d, :] -> %s[cluster.rank, k, :]; }", t.n - t.d, t.n, tensor_name(g, t.y));
        rotated(g, &t, t.x, t.y, t.d);
    } else {
        TEXT(g, "pipeline k in %d { shared a: %s[%d];", t.m, tensor_type(g, t.x), t.l);
        TEXT(g, "if cluster.rank %% 2 == 0 { move %s[cluster.rank, k, :] -> a multicast (3 << cluster.rank); }", tensor_name(g, t.x));
        TEXT(g, "move a -> %s[cluster.rank, k, :]; }", tensor_name(g, t.y));
        Stmt *s = means(g, t.x, t.y);
        int64_t each = (int64_t)t.m * t.l;
        for (int64_t r = 0; r < t.n; r++)
            for (int64_t k = 0; k < each; k++) pair(g, s, (r & ~1) * each + k, r * each + k);
    }
}

/* One sends to all by mask, in roles; the others say what they expect. */
static void expected(Gen *g)
{
    Team t = team(g);
    int slots = (int)draw(g, 1, 3), bytes = t.l * type_size(t.type);
    TEXT(g, "shared a: %s[%d][%d];\nbarrier full[%d];\nbarrier empty[%d] free;", tensor_type(g, t.x), slots, t.l, slots, slots);
    TEXT(g, "roles { role load { for k in %d { if cluster.rank == 0 { wait empty[k %% %d];", t.m, slots);
    TEXT(g, "move %s[0, k, :] -> a[k %% %d] multicast (%d) commit full[k %% %d]; } } }", tensor_name(g, t.x), slots, (1 << t.n) - 1, slots);
    TEXT(g, "role store { for k in %d { if cluster.rank != 0 { expect full[k %% %d], %d; arrive full[k %% %d]; }", t.m, slots, bytes, slots);
    TEXT(g, "wait full[k %% %d]; move a[k %% %d] -> %s[cluster.rank, k, :] commit group;", slots, slots, tensor_name(g, t.y));
    TEXT(g, "wait group read; arrive peer(empty[k %% %d], 0); } } }", slots);
    Stmt *s = means(g, t.x, t.y);
    int64_t each = (int64_t)t.m * t.l;
    for (int64_t k = 0; k < t.n * each; k++) pair(g, s, k % each, k);
}

/* A cluster of several dimensions: loads shared along one of them, at places that its numbers name. */
static void dimensions(Gen *g, int cast)
{
    static const int shapes[][3] = {{2, 2, 1}, {1, 2, 1}, {1, 1, 2}, {2, 1, 2}, {1, 2, 2}, {2, 2, 2}, {4, 1, 1}};
    static const char *const casts[] = {" multicast x", " multicast y", " multicast z", " multicast all", ""};
    const int *c = shapes[draw(g, 0, 6)];
    int grid[3], l = 4 * (int)draw(g, 1, 8);
    for (int d = 0; d < 3; d++) grid[d] = c[d] * (int)draw(g, 1, 2);
    int x = TENSOR(g, TILE_S32, false, 2, 4, 4, l), y = TENSOR(g, TILE_S32, false, grid[2], grid[1], grid[0], l);
    g->p->attributes = keep_text(g->p, " grid (%d, %d, %d) cluster (%d, %d, %d)", grid[0], grid[1], grid[2], c[0], c[1], c[2]);
    TEXT(g, "shared a: s32[%d];", l);
    const char *at[] = {cast == 2 || cast == 3 ? "0" : "cluster.z", cast == 1 || cast == 3 ? "cluster.x * 0" : "cluster.y",
                        cast == 0 || cast == 3 ? "cluster.size % 4" : "cluster.x"};
    TEXT(g, "move %s[%s, %s, %s, :] -> a%s;", tensor_name(g, x), at[0], at[1], at[2], casts[cast]);
    if (draw(g, 0, 1)) TEXT(g, "if grid.x < %d || grid.y < 1 || grid.z < 1 { fill a = 5; }", grid[0]);
    TEXT(g, "move a -> %s[cta.z, cta.y, cta.x, :];", tensor_name(g, y));
    Stmt *s = means(g, x, y);
    for (int i = 0; i < grid[0] * grid[1] * grid[2]; i++) {
        int r[] = {i % grid[0] % c[0], i / grid[0] % grid[1] % c[1], i / grid[0] / grid[1] % c[2]};
        int a = cast == 2 || cast == 3 ? 0 : r[2], b = cast == 1 || cast == 3 ? 0 : r[1],
            e = cast == 0 || cast == 3 ? c[0] * c[1] * c[2] % 4 : r[0];
        for (int k = 0; k < l; k++) pair(g, s, ((a * 4 + b) * 4 + e) * l + k, i * l + k);
    }
}

/* Stores under conditions of the rank. */
static void ranked(Gen *g)
{
    Team t = team(g);
    int from = (int)draw(g, -1, t.n), kind = (int)draw(g, 0, 2);
    static const char *const conditions[] = {"cluster.rank == %d", "cluster.rank < %d", "!(cluster.rank <= %d)"};
    TEXT(g, "pipeline k in %d { shared a: %s[%d]; move %s[cluster.rank, k, :] -> a;", t.m, tensor_type(g, t.x), t.l, tensor_name(g, t.x));
    TEXT(g, "if");
    TEXT(g, conditions[kind], from);
    TEXT(g, "{ move a -> %s[cluster.rank, k, :]; } }", tensor_name(g, t.y));
    Stmt *s = means(g, t.x, t.y);
    int64_t each = (int64_t)t.m * t.l;
    for (int r = 0; r < t.n; r++)
        for (int64_t k = 0; k < each && (kind == 0 ? r == from : kind == 1 ? r < from : r > from); k++) pair(g, s, r * each + k, r * each + k);
}

void form_cluster(Gen *g, int which)
{
    switch (which) {
    case 0:
    case 1: into_peer(g); return;
    case 2: exchange(g); return;
    case 3: told(g, true); return;
    case 4: told(g, false); return;
    case 5: masked(g); return;
    case 6: expected(g); return;
    case 7:
    case 8: dimensions(g, (2 * g->variant + which - 7) % 5); return;
    default: ranked(g); return;
    }
}
