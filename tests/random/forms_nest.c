/* Statements of each kind in constructs of each kind, and these in each other: chains of loops, pipelines and conditions around a piece of
 * work that has some rows of `y` for itself. */
#include <string.h>

#include "forms.h"

enum { LEVELS = 3, INDICES = 2, WIDTH = 32, LANES = 128, LANE_BYTES = 32, CHAINS = 30, TABLE = 4 };

typedef enum Kind { FOR, PIPELINE, IF, ELSE, KINDS } Kind;
typedef struct Level {
    Kind kind;
    int turns, from, variable; /* of a loop; of a condition the index of which it is, -1: none */
    ExprKind rel;
    int number;
} Level;
typedef struct Nest {
    Gen *g;
    int around, x, y, table, rows; /* around: iterations of the pipeline across the grid; rows: of one of them, of work so far */
    int xt, yt, blocks;            /* of tensor memory */
    bool roles, derived, tmem;     /* derived: nothing explicit */
    int names;
    Level level[LEVELS];
    int nlevels;
    int scalar;      /* value of N, a parameter */
    const char *row; /* of this piece of work, as text; the same for tensor memory */
    int base;
} Nest;

/* ---- chains ---- */
static bool holds(const Level *l, const int *index, int scalar)
{
    int v = l->variable < 0 ? scalar : index[l->variable];
    bool is = l->rel == X_EQ ? v == l->number : l->rel == X_LT ? v < l->number : l->rel == X_NE ? v != l->number : v >= l->number;
    return is == (l->kind == IF);
}

static const char *rel_text(ExprKind rel)
{
    return rel == X_EQ ? "==" : rel == X_LT ? "<" : rel == X_NE ? "!=" : ">=";
}

static void open_level(Nest *n, Level *l, int *loops)
{
    Gen *g = n->g;
    if (l->kind <= PIPELINE) {
        const char *stages = l->kind == PIPELINE && draw(g, 0, 1) ? " stages 2" : "";
        TEXT(g, "%s i%d_%d in %d .. %d%s {", l->kind == FOR ? "for" : "pipeline", n->names, *loops, l->from, l->from + l->turns, stages);
        ++*loops;
        return;
    }
    l->variable = *loops ? (int)draw(g, 0, *loops - 1) : -1;
    l->rel = (ExprKind)PICK(g, X_EQ, X_LT, X_NE, X_GE);
    l->number = (int)draw(g, -1, 3);
    const char *what = l->variable < 0 ? draw(g, 0, 3) ? "N" : keep_text(g->p, "%d", n->scalar) : keep_text(g->p, "i%d_%d", n->names, l->variable);
    TEXT(g, "if %s %s %d {%s", what, rel_text(l->rel), l->number, l->kind == ELSE ? " } else {" : "");
}

/* Where something is explicit there is no pipeline, but in roles. */
static Level some_level(Nest *n, int loops)
{
    Gen *g = n->g;
    Level l = {.kind = (Kind)draw(g, loops < INDICES ? FOR : IF, ELSE), .turns = (int)draw(g, 0, 3), .from = (int)draw(g, -2, 2)};
    if (l.turns == 0 && draw(g, 0, 1)) l.turns = 2;
    if (l.kind == PIPELINE && !n->derived && !n->roles) l.kind = FOR;
    return l;
}

/* Turns of all loops, of which the last one is the fastest; or at least `least` of each. */
static int turns_of(const Nest *n, int least)
{
    int all = 1;
    for (int i = 0; i < n->nlevels; i++)
        if (n->level[i].kind <= PIPELINE) all *= n->level[i].turns < least ? least : n->level[i].turns;
    return all;
}

static const char *row_text(const Nest *n)
{
    Gen *g = n->g;
    const char *row = NULL;
    for (int i = 0, at = 0; i < n->nlevels; i++) {
        const Level *l = &n->level[i];
        if (l->kind > PIPELINE) continue;
        const char *index = l->from ? keep_text(g->p, "(i%d_%d - %d)", n->names, at, l->from) : keep_text(g->p, "i%d_%d", n->names, at);
        row = row ? keep_text(g->p, "(%s * %d + %s)", row, l->turns ? l->turns : 1, index) : index;
        at++;
    }
    return row ? row : "0";
}

/* Rows, counted from the first one of the chain, that the work is done for. */
static int worked(const Nest *n, int *list)
{
    int count = 0, all = turns_of(n, 0);
    for (int turn = 0; turn < all; turn++) {
        int index[LEVELS] = {0}, loops = 0, rest = turn;
        bool done = true;
        for (int i = 0; i < n->nlevels; i++) loops += n->level[i].kind <= PIPELINE;
        for (int i = n->nlevels, at = loops; i-- > 0;) {
            const Level *l = &n->level[i];
            if (l->kind > PIPELINE) continue;
            index[--at] = l->from + rest % l->turns;
            rest /= l->turns;
        }
        for (int i = 0; i < n->nlevels; i++)
            if (n->level[i].kind > PIPELINE) done = done && holds(&n->level[i], index, n->scalar);
        if (done) list[count++] = turn;
    }
    return count;
}

/* ---- work: it moves row `row` of x to y ---- */
static const char *x_of(const Nest *n) { return tensor_name(n->g, n->x); }
static const char *y_of(const Nest *n) { return tensor_name(n->g, n->y); }

static void plain(Nest *n)
{
    Gen *g = n->g;
    int k = n->names;
    TEXT(g, "let r%d = %s;\nvar v%d = r%d + 1;\nv%d = v%d - 1;\nshared t%d: u8[1, %d];", k, n->row, k, k, k, k, k, WIDTH);
    TEXT(g, "prefetch %s[r%d +: 1, 0 +: %d];", x_of(n), k, WIDTH);
    TEXT(g, "move %s[v%d, 0] -> t%d;\nmove t%d -> %s[r%d, 0];", x_of(n), k, k, k, y_of(n), k);
}

static void by_threads(Nest *n)
{
    Gen *g = n->g;
    int k = n->names;
    TEXT(g, "shared a%d: u8[1, %d];\nshared b%d: u8[1, %d];\nmove %s[%s, 0] -> a%d;", k, WIDTH, k, WIDTH, x_of(n), n->row, k);
    TEXT(g, "move a%d -> b%d via threads;\nmove b%d -> %s[%s, 0];", k, k, k, y_of(n), n->row);
}

/* Of the row as it is, or of one that begins in front of the tensor's and ends behind. */
static void global_threads(Nest *n)
{
    Gen *g = n->g;
    int k = n->names, more = k % 2;
    TEXT(g, "shared t%d: u8[1, %d];\nmove %s[%s, %d] -> t%d via threads;\nmove t%d -> %s[%s, %d] via threads;", k, WIDTH + 2 * more, x_of(n), n->row, -more, k, k,
         y_of(n), n->row, -more);
}

/* With a number, or with the first element of the row. */
static bool by_element(const Nest *n)
{
    return n->names % 2;
}

static void filled(Nest *n)
{
    Gen *g = n->g;
    int k = n->names;
    const char *value = by_element(n) ? keep_text(g->p, "%s[%s, 0]", x_of(n), n->row) : "7";
    TEXT(g, "shared t%d: u8[1, %d];\nfill t%d = %s;\nmove t%d -> %s[%s, 0];", k, WIDTH, k, value, k, y_of(n), n->row);
}

/* A view that is made at run time: the row of x that stands in the table, none where it is outside. */
static void viewed(Nest *n)
{
    Gen *g = n->g;
    int k = n->names;
    TEXT(g, "view w%d = %s[%s[(%s) %% %d] +: 1, :];\nshared t%d: u8[1, %d];", k, x_of(n), tensor_name(g, n->table), n->row, TABLE, k, WIDTH);
    TEXT(g, "move w%d[0, 0] -> t%d%s;\nmove t%d -> %s[%s, 0];", k, k, draw(g, 0, 1) ? " via bulk" : "", k, y_of(n), n->row);
}

static void waited(Nest *n)
{
    Gen *g = n->g;
    int k = n->names;
    TEXT(g, "shared t%d: u8[1, %d];\nmove %s[%s, 0] -> t%d commit full%d;\nwait full%d;\narrive done%d;\nwait done%d;", k, WIDTH, x_of(n), n->row, k, k, k, k,
         k);
    TEXT(g, "group { move t%d -> %s[%s, 0]; }\nwait group%s;", k, y_of(n), n->row, draw(g, 0, 1) ? " read" : "");
}

static void through_tmem(Nest *n)
{
    Gen *g = n->g;
    int k = n->names;
    TEXT(g, "shared s%d: u8[%d, %d] swizzle 32;\ntmem t%d: u8[%d, %d];\nshared o%d: u8[%d, %d] swizzle 32;", k, LANES, LANE_BYTES, k, LANES, LANE_BYTES, k,
         LANES, LANE_BYTES);
    TEXT(g, "move %s[%s, :, :] -> s%d;\nmove s%d -> t%d%s;", tensor_name(g, n->xt), n->row, k, k, k, k % 2 ? " via threads" : "");
    TEXT(g, "shift t%d[64 +: 32, :];\nmove t%d -> o%d via threads;\nmove o%d -> %s[%s, :, :];", k, k, k, k, tensor_name(g, n->yt), n->row);
}

/* In roles copies and shifts commit. */
static void tmem_waited(Nest *n)
{
    Gen *g = n->g;
    int k = n->names;
    TEXT(g, "shared s%d: u8[%d, %d] swizzle 32;\ntmem t%d: u8[%d, %d];\nshared o%d: u8[%d, %d] swizzle 32;", k, LANES, LANE_BYTES, k, LANES, LANE_BYTES, k,
         LANES, LANE_BYTES);
    TEXT(g, "move %s[%s, :, :] -> s%d commit full%d;\nwait full%d;", tensor_name(g, n->xt), n->row, k, k, k);
    if (k % 2) TEXT(g, "move s%d -> t%d commit done%d;\nwait done%d;", k, k, k, k);
    else TEXT(g, "move s%d -> t%d via threads;", k, k);
    TEXT(g, "shift t%d[64 +: 32, :] commit done%d;\nwait done%d;\nmove t%d -> o%d via threads;", k, k, k, k, k);
    TEXT(g, "move o%d -> %s[%s, :, :] commit group;\nwait group;", k, tensor_name(g, n->yt), n->row);
}

typedef enum Work { PLAIN, THREADS, GLOBAL, FILLED, VIEWED, WAITED, TMEM, WORKS } Work;

static void means_rows(Nest *n, Work w, const int *list, int count, int rows)
{
    Gen *g = n->g;
    static const int32_t none = -1;
    const int32_t *table = w == VIEWED ? (const int32_t *)(const void *)g->p->tensor[n->table].first : &none;
    bool number = w == FILLED && !by_element(n);
    Stmt *s = means(g, number ? -1 : n->x, n->y), *zero = means(g, -1, n->y);
    s->value = 7;
    for (int a = 0; a < n->around; a++)
        for (int i = 0; i < count; i++) {
            int row = a * rows + n->base + list[i], from = w == VIEWED ? table[row % TABLE] : row;
            bool outside = from < 0 || from >= n->around * rows;
            for (int c = 0; c < WIDTH; c++)
                pair(g, w == VIEWED && outside ? zero : s, number || (w == VIEWED && outside) ? -1 : (int64_t)from * WIDTH + (w == FILLED ? 0 : c),
                     (int64_t)row * WIDTH + c);
        }
}

static void means_lanes(Nest *n, const int *list, int count, int blocks)
{
    Stmt *s = means(n->g, n->xt, n->yt);
    for (int a = 0; a < n->around; a++)
        for (int i = 0; i < count; i++)
            for (int lane = 0; lane < LANES; lane++)
                for (int c = 0; c < LANE_BYTES; c++) {
                    int64_t at = (int64_t)(a * blocks + n->base + list[i]) * LANES;
                    pair(n->g, s, (at + lane + (lane >= 64 && lane < 95)) * LANE_BYTES + c, (at + lane) * LANE_BYTES + c);
                }
}

/* ---- programs ---- */
typedef struct Chain {
    Nest n;
    Work work;
} Chain;

/* The work stands in a construct of this kind, KINDS: in none, and that in up to so many others. */
static void plan(Nest *n, Chain *c, Work w, Kind in, int others)
{
    int loops = 0;
    c->work = w;
    n->names++;
    n->nlevels = in == KINDS ? 0 : 1 + (int)draw(n->g, 0, others);
    for (int i = 0; i < n->nlevels; i++) {
        n->level[i] = some_level(n, loops + (in <= PIPELINE && i + 1 < n->nlevels));
        if (i + 1 == n->nlevels) n->level[i].kind = in;
        loops += n->level[i].kind <= PIPELINE;
    }
    n->base = w == TMEM ? n->blocks : n->rows;
    *(w == TMEM ? &n->blocks : &n->rows) += turns_of(n, 1); /* what has no turn has a place of its own, too */
    c->n = *n;
}

static void put_chain(Chain *c, const Nest *whole)
{
    static void (*const works[WORKS])(Nest *) = {plain, by_threads, global_threads, filled, viewed, waited, through_tmem};
    Nest *n = &c->n;
    Gen *g = n->g;
    int loops = 0, list[64];
    for (int i = 0; i < n->nlevels; i++) open_level(n, &n->level[i], &loops);
    int rows = c->work == TMEM ? whole->blocks : whole->rows;
    n->row = keep_text(g->p, "%d + %s", n->base, row_text(n));
    if (n->around > 1) n->row = keep_text(g->p, "i * %d + %s", rows, n->row);
    n->x = whole->x, n->y = whole->y, n->table = whole->table, n->xt = whole->xt, n->yt = whole->yt;
    if (c->work == TMEM && n->roles) tmem_waited(n);
    else works[c->work](n);
    for (int i = 0; i < n->nlevels; i++) TEXT(g, "}");
    int count = worked(n, list);
    if (c->work == TMEM) means_lanes(n, list, count, rows);
    else means_rows(n, c->work, list, count, rows);
}

static int table_of_rows(Gen *g, int rows)
{
    int t = new_tensor(g, TILE_S32, 1, false);
    Tensor *x = &g->p->tensor[t];
    x->index = true;
    x->extent[0] = x_num(g, TABLE);
    x->first = keep(g->p, TABLE * sizeof(int32_t));
    for (int i = 0; i < TABLE; i++) value_store(TILE_S32, x->first + 4 * i, draw(g, -1, rows));
    return t;
}

/* Each piece of work that may stand there, in each kind of construct. */
static int plan_all(Nest *n, Chain *chain)
{
    static const Work derived[] = {PLAIN, THREADS, GLOBAL, FILLED, VIEWED}, roles[] = {PLAIN, THREADS, FILLED, WAITED, VIEWED}, one[] = {PLAIN, WAITED},
                      tmem[] = {TMEM, TMEM};
    const Work *works = n->tmem ? tmem : n->derived ? derived : n->roles ? roles : one;
    int nworks = n->tmem || works == one ? 2 : 5, count = 0;
    for (int in = FOR; in <= KINDS; in++)
        for (int w = 0; w < nworks; w++)
            if (in != PIPELINE || works != one) plan(n, &chain[count++], works[w], (Kind)in, w ? LEVELS - 1 : 0);
    return count;
}

/* which: beside each other, across the grid, in roles, explicit */
void form_nest(Gen *g, int which)
{
    Nest n = {.g = g, .around = which == 1 ? (int)draw(g, 2, 3) : 1, .roles = which == 2, .derived = which < 2, .scalar = (int)draw(g, -1, 2)};
    n.tmem = which < 3 && g->p->arch && !strcmp(g->p->arch, "sm_100a") && draw(g, 0, 3);
    Chain chain[CHAINS];
    int count = plan_all(&n, chain);
    int blocks = n.blocks ? n.blocks : 1, rows = n.rows ? n.rows : 1, size = new_size(g, n.scalar, true);
    memcpy(g->p->size[size].name, "N", 2);
    n.x = TENSOR(g, TILE_U8, false, n.around * rows, WIDTH);
    n.y = TENSOR(g, TILE_U8, false, n.around * rows, WIDTH);
    if (n.tmem) n.xt = TENSOR(g, TILE_U8, false, n.around * blocks, LANES, LANE_BYTES), n.yt = TENSOR(g, TILE_U8, false, n.around * blocks, LANES, LANE_BYTES);
    if (!n.tmem) n.table = table_of_rows(g, n.around * rows);
    if (n.derived) g->p->attributes = n.around > 1 ? "" : " grid (1) threads 128";
    for (int i = 0; i < count; i++) {
        bool barriers = chain[i].work == WAITED || (chain[i].work == TMEM && n.roles);
        if (barriers) TEXT(g, "barrier full%d;", chain[i].n.names);
        if (barriers) TEXT(g, "barrier done%d;", chain[i].n.names);
    }
    if (n.around > 1) TEXT(g, "pipeline i in %d across grid {", n.around);
    if (n.roles) TEXT(g, "roles { role one threads 128 {");
    for (int i = 0; i < count; i++) {
        if (n.roles && i == count / 2) TEXT(g, "} role two threads %d {", n.tmem ? 128 : 32);
        put_chain(&chain[i], &n);
    }
    if (n.roles) TEXT(g, "} }");
    if (n.around > 1) TEXT(g, "}");
}
