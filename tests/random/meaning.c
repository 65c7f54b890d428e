/* What a program means: its statements one after the other, the CTAs of a cluster in lock step. */
#include <stdlib.h>
#include <string.h>

#include "program.h"

typedef struct Run {
    Program *p;
    const char *bad;
    int ctas; /* of the team that runs */
    int64_t cta[CTAS_MAX][3], grid[3];
    Running how;
    bool conflict;   /* that is why it is bad */
    Piece piece;     /* what runs */
    int32_t units;   /* so far */
    int64_t budget;  /* elements that may still be touched */
} Run;

enum { BUDGET = 1 << 26, ELSEWHERE = 1 << 18 }; /* elements */

typedef struct Places { /* of a region, row-major; -1: outside */
    int64_t n, *at;
    int rank;
    int64_t extent[RANK_MAX];
} Places;

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t eval(Run *r, const Expr *e, int c);

static bool of_sizes(const Expr *e)
{
    return !e || e->kind == X_NUM || e->kind == X_SIZE || (e->kind != X_VAR && e->kind != X_CTA && e->kind != X_RANK && e->kind != X_LOAD && of_sizes(e->a) && of_sizes(e->b));
}

static int64_t eval_load(Run *r, const Expr *e, int c)
{
    const Tensor *t = &r->p->tensor[e->n];
    int64_t i = eval(r, e->a, c), v = 0;
    if (t->dead) r->bad = "a scalar of a tensor that was taken out";
    if (i < 0 || i >= extent_value(r->p, t, 0)) {
        if (r->how == RUN_PLACES && of_sizes(e->a)) r->bad = "a launch check"; /* then nothing is launched */
        return -1;
    }
    int n = type_size(t->type);
    memcpy(&v, t->data + i * n, (size_t)n);
    if (n == 4) v = t->type == TILE_S32 ? (int64_t)(int32_t)v : (int64_t)(uint32_t)v;
    return v;
}

static int64_t eval(Run *r, const Expr *e, int c)
{
    switch (e->kind) {
    case X_NUM: return e->n;
    case X_VAR: return r->p->var[e->n].value[c];
    case X_SIZE: return r->p->size[e->n].value;
    case X_CTA: return r->cta[c][e->n];
    case X_RANK: return c;
    case X_GRID: return r->grid[e->n];
    case X_LOAD: return eval_load(r, e, c);
    case X_NEG: return -eval(r, e->a, c);
    case X_INV: return ~eval(r, e->a, c);
    case X_NOT: return !eval(r, e->a, c);
    default: break;
    }
    int64_t a = eval(r, e->a, c), b = eval(r, e->b, c);
    if ((e->kind == X_DIV || e->kind == X_MOD || e->kind == X_CEIL) && b == 0) {
        r->bad = "a division by 0";
        return 0;
    }
    switch (e->kind) {
    case X_ADD: return a + b;
    case X_SUB: return a - b;
    case X_MUL: return a * b;
    case X_DIV: return floor_div(a, b);
    case X_MOD: return a - floor_div(a, b) * b;
    case X_CEIL: return -floor_div(-a, b);
    case X_MIN: return a < b ? a : b;
    case X_MAX: return a > b ? a : b;
    case X_SHL: return (int64_t)((uint64_t)a << (b & 63));
    case X_SHR: return a >= 0 ? a >> (b & 63) : ~(~a >> (b & 63));
    case X_BAND: return a & b;
    case X_BOR: return a | b;
    case X_BXOR: return a ^ b;
    case X_LT: return a < b;
    case X_GT: return a > b;
    case X_LE: return a <= b;
    case X_GE: return a >= b;
    case X_OR: return a || b;
    case X_EQ: return a == b;
    case X_NE: return a != b;
    default: return a && b;
    }
}

int64_t extent_value(const Program *p, const Tensor *t, int d)
{
    const Expr *e = t->extent[d];
    return e->kind == X_NUM ? e->n : p->size[e->n].value;
}

int64_t tensor_elements(const Program *p, const Tensor *t)
{
    int64_t n = 1;
    for (int d = 0; d < t->rank; d++) n *= extent_value(p, t, d);
    return n;
}

/* Offset of a place of a tensor or view in the parameter's memory, -1 outside. */
static int64_t global_place(Run *r, Tensor *t, const int64_t *at, int c)
{
    Program *p = r->p;
    int64_t offset = 0, up[RANK_MAX];
    for (int d = 0; d < t->rank; d++)
        if (r->how == RUN_REACH && at[d] >= t->reach[d]) t->reach[d] = at[d] + 1;
    for (int d = 0; d < t->rank; d++) {
        if (at[d] < 0 || at[d] >= extent_value(p, t, d)) return -1;
        offset = offset * extent_value(p, t, d) + at[d];
    }
    if (t->base < 0) return offset;
    Tensor *b = &p->tensor[t->base];
    for (int d = 0; d < b->rank; d++) up[d] = eval(r, t->start[d], c) + (t->dim[d] >= 0 ? at[t->dim[d]] : 0);
    return global_place(r, b, up, c);
}

static int64_t tile_place(Run *r, const Region *g, const int64_t *at, int c)
{
    const Tile *t = &r->p->tile[g->ref];
    int64_t offset = g->slot ? eval(r, g->slot, c) : 0;
    if (g->slot && (offset < 0 || offset >= t->count)) r->bad = "a tile outside its array";
    for (int d = 0; d < t->rank; d++) {
        if (at[d] < 0 || at[d] >= t->extent[d]) {
            r->bad = "a part outside its tile";
            return -1;
        }
        offset = offset * t->extent[d] + at[d];
    }
    return offset;
}

static int region_rank(const Program *p, const Region *g)
{
    return g->shared ? p->tile[g->ref].rank : p->tensor[g->ref].rank;
}

static int64_t whole_extent(const Program *p, const Region *g, int d)
{
    return g->shared ? p->tile[g->ref].extent[d] : extent_value(p, &p->tensor[g->ref], d);
}

/* Shape of the tile that a region is; 0 where only its starts are written. */
static int region_shape(const Program *p, const Region *g, int64_t *extent)
{
    int rank = 0;
    if (!g->nsubs)
        for (int d = 0; d < region_rank(p, g); d++) extent[rank++] = whole_extent(p, g, d);
    for (int d = 0; d < g->nsubs; d++)
        if (g->sub[d].kind != SUB_AT) extent[rank++] = g->sub[d].kind == SUB_ALL ? whole_extent(p, g, d) : g->sub[d].n;
    return rank;
}

static int64_t sub_place(Run *r, const Sub *s, int64_t i, int c)
{
    switch (s->kind) {
    case SUB_ALL: return i;
    case SUB_AT: return eval(r, s->at, c) + i;
    case SUB_SPAN: return eval(r, s->at, c) + i * s->by;
    case SUB_LIST: return eval(r, s->list[i], c);
    case SUB_ROWS: break;
    }
    Expr row = {.kind = X_NUM, .n = eval(r, s->at, c) + i}, load = {.kind = X_LOAD, .n = s->index, .a = &row};
    return eval(r, &load, c);
}

static Places places_of(Run *r, const Region *g, const Places *like, int c)
{
    Program *p = r->p;
    Places l = {.n = 1};
    int rank = region_rank(p, g);
    bool starts = g->nsubs && !region_shape(p, g, l.extent);
    l.rank = starts ? like->rank : region_shape(p, g, l.extent);
    if (starts) memcpy(l.extent, like->extent, sizeof l.extent);
    for (int d = 0; d < l.rank; d++) l.n *= l.extent[d];
    l.at = malloc((size_t)l.n * sizeof *l.at + 1);
    if (!l.at) abort();
    for (int64_t k = 0; k < l.n; k++) {
        int64_t digit[RANK_MAX], at[RANK_MAX], rest = k;
        for (int d = l.rank; d-- > 0; rest /= l.extent[d]) digit[d] = rest % l.extent[d];
        int next = 0;
        for (int d = 0; d < rank; d++) {
            bool marked = starts || !g->nsubs || g->sub[d].kind != SUB_AT;
            int64_t i = marked ? digit[next++] : 0;
            at[d] = g->nsubs ? sub_place(r, &g->sub[d], i, c) : i;
        }
        l.at[k] = g->shared ? tile_place(r, g, at, c) : global_place(r, &p->tensor[g->ref], at, c);
    }
    return l;
}

static Tensor *memory_of(Program *p, int ref)
{
    return p->tensor[ref].base < 0 ? &p->tensor[ref] : memory_of(p, p->tensor[ref].base);
}

static bool marks(const Run *r)
{
    return r->how == RUN_WHOLE || r->how == RUN_PLACES;
}

static void conflict(Run *r, const char *why)
{
    if (!why || r->bad || (why == OPEN_READ && r->how == RUN_PLACES)) return; /* open, but no conflict: others may follow */
    r->bad = why;
    r->conflict = why != OPEN_READ;
}

/* One of the teams runs an iteration: what an earlier one left in a tile may be there, or not. */
static void read_cell(Run *r, const struct Cell *cell)
{
    if (!cell->unit) r->bad = "a tile is read before it is written";
    else if (cell->unit != r->piece.unit && cell->unit != UNIT_EVERY) conflict(r, "a tile is read that another iteration wrote");
}

static void write_cell(Run *r, struct Cell *cell, Reduce op)
{
    if (op) read_cell(r, cell);
    else if (cell->stamp == r->piece.stamp) r->bad = "one statement writes a place of a tile twice";
    *cell = (struct Cell){r->piece.unit, r->piece.stamp};
}

/* What the CTAs of a cluster do in a tensor lies apart, too. */
static Piece piece_of(const Run *r, int c)
{
    Piece p = r->piece;
    if (p.unit != UNIT_EVERY) p.unit = UNIT_FIRST + (p.unit - UNIT_FIRST) * r->ctas + c;
    return p;
}

static void read_region(Run *r, const Region *g, const Places *l, int c, uint8_t *out)
{
    Program *p = r->p;
    const Tensor *t = g->shared ? NULL : memory_of(p, g->ref);
    const Tile *tile = g->shared ? &p->tile[g->ref] : NULL;
    const Piece by = piece_of(r, c);
    int n = type_size(g->shared ? tile->type : t->type);
    if (t && t->dead) r->bad = "a tensor that was taken out";
    if (tile && !tile->cell[c]) r->bad = "a tile of a CTA that does not come to its declaration";
    for (int64_t k = 0; k < l->n && !r->bad; k++, out += n) {
        if (l->at[k] < 0) {
            memset(out, 0, (size_t)n);
        } else if (tile) {
            read_cell(r, &tile->cell[c][l->at[k]]);
            memcpy(out, tile->data[c] + l->at[k] * n, (size_t)n);
        } else {
            if (marks(r)) conflict(r, mark_read(&t->mark[l->at[k]], &by));
            if (r->how == RUN_WHOLE) memcpy(out, t->data + l->at[k] * n, (size_t)n);
        }
    }
}

static void write_region(Run *r, const Stmt *s, const Places *l, int c, const uint8_t *in)
{
    Program *p = r->p;
    const Region *g = &s->dst;
    Tensor *t = g->shared ? NULL : memory_of(p, g->ref);
    Tile *tile = g->shared ? &p->tile[g->ref] : NULL;
    const Piece by = piece_of(r, c);
    tile_type type = t ? t->type : tile->type;
    int n = type_size(type);
    bool waived = s->text && strstr(s->text, "overlap any");
    if (t && t->dead) r->bad = "a tensor that was taken out";
    r->budget -= l->n;
    if (r->budget < 0) r->bad = "it takes too long";
    if (tile && !tile->cell[c]) r->bad = "a tile of a CTA that does not come to its declaration";
    for (int64_t k = 0; k < l->n && !r->bad; k++, in += n) {
        if (l->at[k] < 0) continue;
        if (tile) {
            write_cell(r, &tile->cell[c][l->at[k]], s->reduce);
            value_reduce(type, s->reduce, tile->data[c] + l->at[k] * n, in);
        } else {
            if (t->index) r->bad = "a tensor is written that is read as a scalar";
            if (marks(r)) conflict(r, mark_write(&t->mark[l->at[k]], &by, s->reduce, waived));
            if (r->how == RUN_WHOLE) value_reduce(type, s->reduce, t->data + l->at[k] * n, in);
        }
    }
}

/* Elements as the destination takes them, in its order. */
static uint8_t *change(const Program *p, const Stmt *s, const Places *from, const uint8_t *in)
{
    tile_type a = s->src.shared ? p->tile[s->src.ref].type : memory_of((Program *)(uintptr_t)p, s->src.ref)->type;
    tile_type b = s->convert ? p->tile[s->dst.ref].type : a;
    int na = type_size(a), nb = type_size(b);
    uint8_t *out = calloc((size_t)from->n + 1, (size_t)nb);
    if (!out) abort();
    int64_t rows = s->transpose ? from->extent[from->rank - 2] : 1,
            columns = s->transpose ? from->extent[from->rank - 1] : 1;
    for (int64_t k = 0; k < from->n; k++) {
        int64_t matrix = k / (rows * columns), i = k / columns % rows, j = k % columns;
        int64_t to = matrix * rows * columns + j * rows + i;
        if (s->convert) value_convert(b, out + to * nb, a, in + k * na);
        else memcpy(out + to * nb, in + k * na, (size_t)na);
    }
    return out;
}

static Places shape_like(const Program *p, const Region *g)
{
    Places l = {0};
    l.rank = region_shape(p, g, l.extent);
    return l;
}

/* A multicast is executed by all CTAs of its set, with equal coordinates; in a cluster along x these are all. */
static void check_cast(Run *r, unsigned active, const Places *of, uint64_t *seen)
{
    uint64_t h = 1469598103934665603u;
    for (int64_t k = 0; k < of->n; k++) h = (h ^ (uint64_t)of->at[k]) * 1099511628211u;
    if (active != (1u << r->ctas) - 1) r->bad = "a multicast in some CTAs of a cluster";
    if (*seen && *seen != (h | 1)) r->bad = "a multicast of different coordinates";
    *seen = h | 1;
}

static void run_move(Run *r, const Stmt *s, unsigned active)
{
    bool cast = s->text && strstr(s->text, "multicast");
    uint64_t source = 0, tile = 0;
    r->piece.stamp++;
    uint8_t *value[CTAS_MAX] = {0};
    for (int c = 0; c < r->ctas; c++) {
        if (!(active >> c & 1)) continue;
        Places like = shape_like(r->p, &s->dst), from = places_of(r, &s->src, &like, c);
        if (cast) check_cast(r, active, &from, &source);
        uint8_t *in = calloc((size_t)from.n + 1, 8);
        if (!in) abort();
        read_region(r, &s->src, &from, c, in);
        value[c] = change(r->p, s, &from, in);
        free(in);
        free(from.at);
    }
    for (int c = 0; c < r->ctas; c++) {
        if (!(active >> c & 1)) continue;
        Places like = shape_like(r->p, &s->src), to = places_of(r, &s->dst, &like, c);
        if (cast) check_cast(r, active, &to, &tile);
        int64_t owner = s->dst.peer ? eval(r, s->dst.peer, c) : c;
        if (owner < 0 || owner >= r->ctas) r->bad = "a peer outside the cluster";
        else write_region(r, s, &to, (int)owner, value[c]);
        free(to.at);
        free(value[c]);
    }
}

static void run_fill(Run *r, const Stmt *s, unsigned active)
{
    tile_type t = r->p->tile[s->dst.ref].type;
    r->piece.stamp++;
    for (int c = 0; c < r->ctas; c++) {
        if (!(active >> c & 1)) continue;
        Places none = {0}, to = places_of(r, &s->dst, &none, c);
        uint8_t *in = calloc((size_t)to.n + 1, 8);
        if (!in) abort();
        for (int64_t k = 0; k < to.n; k++) value_store(t, in + k * type_size(t), s->value);
        write_region(r, s, &to, s->dst.peer ? (int)eval(r, s->dst.peer, c) : c, in);
        free(in);
        free(to.at);
    }
}

static void run_block(Run *r, Stmt *s, unsigned active);

static void run_loop(Run *r, Stmt *s, int level, unsigned active, bool across);

/* ---- what surely has a value: what a branch or a loop of unknown trip count writes counts there alone ---- */
static size_t tile_cells(const Tile *t)
{
    size_t n = t->count ? (size_t)t->count : 1;
    for (int d = 0; d < t->rank; d++) n *= (size_t)t->extent[d];
    return n;
}

typedef struct Values {
    struct Cell *cell[TILES_MAX][CTAS_MAX];
} Values;

static void save_values(Run *r, Values *v)
{
    *v = (Values){0};
    for (int t = 0; t < r->p->ntiles; t++)
        for (int c = 0; c < r->ctas; c++) {
            size_t bytes = tile_cells(&r->p->tile[t]) * sizeof(struct Cell);
            if (!r->p->tile[t].cell[c]) continue;
            v->cell[t][c] = malloc(bytes);
            if (!v->cell[t][c]) abort();
            memcpy(v->cell[t][c], r->p->tile[t].cell[c], bytes);
        }
}

/* meet: what has a value now and had one then; else what it was then */
static void restore_values(Run *r, const Values *v, bool meet)
{
    for (int t = 0; t < r->p->ntiles; t++)
        for (int c = 0; c < r->ctas; c++)
            for (size_t i = 0; v->cell[t][c] && i < tile_cells(&r->p->tile[t]); i++)
                if (!meet || !v->cell[t][c][i].unit) r->p->tile[t].cell[c][i] = v->cell[t][c][i];
}

static void free_values(Values *v)
{
    for (int t = 0; t < TILES_MAX; t++)
        for (int c = 0; c < CTAS_MAX; c++) free(v->cell[t][c]);
}

static void run_turns(Run *r, Stmt *s, int level, unsigned active, bool across)
{
    Values before;
    int first = 0;
    while (!(active >> first & 1)) first++;
    int64_t n = eval(r, s->range[level], first), most = n < 1 ? 1 : n > 3 ? 3 : n;
    int64_t from = s->from[level] ? eval(r, s->from[level], first) : 0;
    save_values(r, &before);
    for (int64_t i = 0; i < most && !r->bad; i++) {
        for (int c = 0; c < r->ctas; c++) r->p->var[s->index[level]].value[c] = from + i;
        run_loop(r, s, level + 1, active, across);
        restore_values(r, &before, false);
    }
    free_values(&before);
}

static bool known(const Expr *e)
{
    if (!e) return true;
    return e->kind != X_VAR && e->kind != X_SIZE && e->kind != X_CTA && e->kind != X_GRID && e->kind != X_LOAD && known(e->a) && known(e->b);
}

static void run_branches(Run *r, Stmt *s, unsigned active)
{
    Values before, then;
    save_values(r, &before);
    run_block(r, s->body, active);
    save_values(r, &then);
    restore_values(r, &before, false);
    run_block(r, s->other, active);
    restore_values(r, &then, true);
    free_values(&before);
    free_values(&then);
}

static void run_loop(Run *r, Stmt *s, int level, unsigned active, bool across)
{
    if (level == s->ref) {
        int32_t around = r->piece.unit;
        if (across) r->piece.unit = UNIT_FIRST + r->units++;
        run_block(r, s->body, active);
        r->piece.unit = around;
        return;
    }
    if (r->how == RUN_DEFINITE && s->range[level]->kind != X_NUM) {
        run_turns(r, s, level, active, across);
        return;
    }
    int first = 0;
    while (!(active >> first & 1)) first++;
    int64_t n = eval(r, s->range[level], first), from = s->from[level] ? eval(r, s->from[level], first) : 0;
    s->times[n > 1 ? 2 : n > 0]++;
    for (int64_t i = 0; i < n && !r->bad; i++) {
        for (int c = 0; c < r->ctas; c++) r->p->var[s->index[level]].value[c] = from + i;
        run_loop(r, s, level + 1, active, across);
    }
}

static void run_tile(Run *r, const Stmt *s, unsigned active)
{
    Tile *t = &r->p->tile[s->ref];
    size_t n = tile_cells(t);
    for (int c = 0; c < r->ctas; c++) {
        if (!t->data[c]) t->data[c] = keep(r->p, n * 8), t->cell[c] = keep(r->p, n * sizeof(struct Cell));
        if (active >> c & 1) memset(t->cell[c], 0, n * sizeof(struct Cell));
    }
}

static void run_if(Run *r, Stmt *s, unsigned active)
{
    unsigned held = 0;
    if (r->how == RUN_DEFINITE && !known(s->e)) {
        run_branches(r, s, active);
        return;
    }
    for (int c = 0; c < r->ctas; c++)
        if (active >> c & 1 && (s->forced ? s->forced == 1 : eval(r, s->e, c) != 0)) held |= 1u << c;
    s->times[0] += (active & ~held) != 0;
    s->times[1] += held != 0;
    if (held) run_block(r, s->body, held);
    if (active & ~held) run_block(r, s->other, active & ~held);
}

static void run_copy(Run *r, const Stmt *s)
{
    Program *p = r->p;
    Tensor *to = &p->tensor[s->dst.ref];
    const Tensor *from = s->src.ref < 0 ? NULL : &p->tensor[s->src.ref];
    int n = type_size(to->type), m = from ? type_size(from->type) : n;
    int64_t whole = tensor_elements(p, to), all = from ? tensor_elements(p, from) : 0;
    if (to->dead || (from && from->dead)) r->bad = "a tensor that was taken out";
    for (int64_t i = 0; i < s->n && !r->bad; i++) {
        int64_t a = s->pairs[i][0], b = s->pairs[i][1];
        uint64_t value = (uint64_t)s->value, in = 0;
        if (b >= whole || a >= all || (a >= 0 && !from)) r->bad = "an element outside of its tensor";
        if (r->bad) return;
        if (a >= 0) memcpy(&in, from->data + a * m, (size_t)m), value = in;
        if (a >= 0 && s->convert) value_round(to->type, &value, from->type, &in, s->sat);
        value_reduce(to->type, s->reduce, to->data + b * n, &value);
    }
}

static void run_stmt(Run *r, Stmt *s, unsigned active)
{
    switch (s->kind) {
    case S_LET:
    case S_VAR:
    case S_ASSIGN:
        for (int c = 0; c < r->ctas; c++)
            if (active >> c & 1) r->p->var[s->ref].value[c] = eval(r, s->e, c);
        break;
    case S_TILE: run_tile(r, s, active); break;
    case S_FOR:
    case S_PIPELINE: run_loop(r, s, 0, active, s->text && strstr(s->text, "across grid")); break;
    case S_IF: run_if(r, s, active); break;
    case S_MOVE: run_move(r, s, active); break;
    case S_FILL: run_fill(r, s, active); break;
    case S_BLOCK:
    case S_ROLES:
    case S_ROLE: run_block(r, s->body, active); break;
    case S_TWIN: run_block(r, s->other, active); break;
    case S_COPY:
        if (r->how == RUN_WHOLE) run_copy(r, s);
        break;
    case S_VIEW:
    case S_MAP:
    case S_TEXT:
    case S_PREFETCH: break;
    }
}

static void run_block(Run *r, Stmt *s, unsigned active)
{
    for (; s && !r->bad; s = s->next)
        if (!s->dead) run_stmt(r, s, active);
}

const char *program_run(Program *p)
{
    bool conflicts;
    return program_run_as(p, RUN_WHOLE, &conflicts);
}

const char *program_run_as(Program *p, Running how, bool *conflicts)
{
    Run r = {.p = p, .ctas = p->cluster ? p->cluster : 1, .how = how, .budget = how == RUN_PLACES ? ELSEWHERE : BUDGET, .piece.unit = UNIT_EVERY};
    bool across = across_grid(p->body);
    for (int i = 0; i < p->ntensors; i++) {
        Tensor *t = &p->tensor[i];
        if (t->base >= 0) continue;
        size_t n = (size_t)tensor_elements(p, t);
        if (!marks(&r)) n = 0;
        if (n > t->marks) t->mark = keep(p, n * sizeof *t->mark), t->marks = n;
        else if (n) memset(t->mark, 0, n * sizeof *t->mark);
        n = (size_t)tensor_elements(p, t);
        if (how == RUN_WHOLE || t->index) memcpy(t->data, t->first, n * (size_t)type_size(t->type));
    }
    for (int i = 0; i < p->ntiles; i++)
        for (int c = 0; c < CTAS_MAX; c++)
            if (p->tile[i].cell[c]) memset(p->tile[i].cell[c], 0, tile_cells(&p->tile[i]) * sizeof(struct Cell));
    int64_t grid[3] = {r.ctas, 1, 1};
    for (int d = 0; d < 3 && p->grid[d]; d++) grid[d] = eval(&r, p->grid[d], 0);
    memcpy(r.grid, grid, sizeof grid);
    if (grid[0] % r.ctas != 0) r.bad = "a launch check";
    for (int64_t z = 0; z < grid[2] && !r.bad; z++)
        for (int64_t y = 0; y < grid[1]; y++)
            for (int64_t x = 0; x < grid[0]; x += r.ctas) {
                for (int c = 0; c < r.ctas; c++) r.cta[c][0] = x + c, r.cta[c][1] = y, r.cta[c][2] = z;
                if (!across) r.piece.unit = UNIT_FIRST + r.units++;
                run_block(&r, p->body, (1u << r.ctas) - 1);
            }
    *conflicts = r.conflict;
    return r.bad;
}
