/* Program -> .tile text. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print.h"

void put(Out *o, const char *format, ...)
{
    va_list ap, again;
    va_start(ap, format);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, format, ap);
    va_end(ap);
    if (n < 0) abort();
    if (o->n + (size_t)n + 1 > o->room) {
        o->room = 2 * (o->n + (size_t)n + 1);
        o->text = realloc(o->text, o->room);
        if (!o->text) abort();
    }
    vsnprintf(o->text + o->n, (size_t)n + 1, format, again);
    va_end(again);
    o->n += (size_t)n;
}

static void put_binary(Out *o, const Expr *e, const char *op, int own, int level)
{
    if (own < level) put(o, "(");
    put_expr(o, e->a, own + (own == 2)); /* comparisons do not chain */
    put(o, " %s ", op);
    put_expr(o, e->b, own + 1);
    if (own < level) put(o, ")");
}

static void put_call(Out *o, const char *name, const Expr *e)
{
    put(o, "%s(", name);
    put_expr(o, e->a, 0);
    put(o, ", ");
    put_expr(o, e->b, 0);
    put(o, ")");
}

/* How tightly an operator binds: 0 ||, 1 &&, 2 comparisons, 3 |, 4 ^, 5 &, 6 shifts, 7 sums, 8 terms, 9 primary. */
static const struct Operator {
    const char *text;
    int own;
} OPERATORS[] = {
    [X_ADD] = {"+", 7},  [X_SUB] = {"-", 7},     [X_MUL] = {"*", 8},   [X_DIV] = {"/", 8},  [X_MOD] = {"%", 8},
    [X_SHL] = {"<<", 6}, [X_SHR] = {">>", 6},    [X_BAND] = {"&", 5},  [X_BOR] = {"|", 3},  [X_BXOR] = {"^", 4},
    [X_LT] = {"<", 2},   [X_GT] = {">", 2},      [X_LE] = {"<=", 2},   [X_GE] = {">=", 2},  [X_EQ] = {"==", 2},
    [X_NE] = {"!=", 2},  [X_AND] = {"&&", 1},    [X_OR] = {"||", 0},   [X_NEG] = {"-", 9},  [X_INV] = {"~", 9},
    [X_NOT] = {"!", 9},  [X_CEIL] = {"ceil", 0}, [X_MIN] = {"min", 0}, [X_MAX] = {"max", 0}};

void put_expr(Out *o, const Expr *e, int level)
{
    const Program *p = o->p;
    if (put_helper(o, e)) return;
    switch (e->kind) {
    case X_NUM:
        if (e->n < 0 && level > 7) put(o, "(%" PRId64 ")", e->n);
        else put(o, "%" PRId64, e->n);
        return;
    case X_VAR: put(o, "%s", p->var[e->n].name); return;
    case X_SIZE: put(o, "%s", p->size[e->n].name); return;
    case X_CTA: put(o, "cta.%c", "xyz"[e->n]); return;
    case X_GRID: put(o, "grid.%c", "xyz"[e->n]); return;
    case X_RANK: put(o, "cluster.rank"); return;
    case X_CEIL:
    case X_MIN:
    case X_MAX: put_call(o, OPERATORS[e->kind].text, e); return;
    case X_NEG:
    case X_INV:
    case X_NOT:
        put(o, level > 8 ? "(%s" : "%s", OPERATORS[e->kind].text);
        put_expr(o, e->a, 9);
        if (level > 8) put(o, ")");
        return;
    case X_LOAD:
        put(o, "%s[", p->tensor[e->n].name);
        put_expr(o, e->a, 0);
        put(o, "]");
        return;
    default: put_binary(o, e, OPERATORS[e->kind].text, OPERATORS[e->kind].own, level); return;
    }
}

static void put_sub(Out *o, const Sub *s)
{
    switch (s->kind) {
    case SUB_AT: put_expr(o, s->at, 0); return;
    case SUB_ALL: put(o, ":"); return;
    case SUB_SPAN:
        put_expr(o, s->at, 3);
        put(o, " +: %" PRId64, s->n);
        if (s->by > 1) put(o, " by %" PRId64, s->by);
        return;
    case SUB_ROWS:
        put(o, "%s[", o->p->tensor[s->index].name);
        put_expr(o, s->at, 3);
        put(o, " +: %" PRId64 "]", s->n);
        return;
    case SUB_LIST:
        put(o, "{");
        for (int64_t i = 0; i < s->n; i++) {
            put(o, "%s", i ? ", " : "");
            put_expr(o, s->list[i], 0);
        }
        put(o, "}");
        return;
    }
}

static void put_region(Out *o, const Region *r)
{
    if (r->peer) put(o, "peer(");
    put(o, "%s", r->shared ? o->p->tile[r->ref].name : o->p->tensor[r->ref].name);
    if (r->slot) {
        put(o, "[");
        put_expr(o, r->slot, 0);
        put(o, "]");
    }
    for (int d = 0; d < r->nsubs; d++) {
        put(o, "%s", d ? ", " : "[");
        put_sub(o, &r->sub[d]);
    }
    if (r->nsubs) put(o, "]");
    if (r->peer) {
        put(o, ", ");
        put_expr(o, r->peer, 0);
        put(o, ")");
    }
}

static void put_extents(Out *o, const int64_t *extent, int rank)
{
    for (int d = 0; d < rank; d++) put(o, "%s%" PRId64, d ? ", " : "[", extent[d]);
    put(o, "]");
}

void put_swizzle(Out *o, const Tile *t)
{
    if (t->swizzle) put(o, " swizzle %d", t->swizzle);
}

static void put_tile(Out *o, const Tile *t)
{
    put(o, "shared %s: %s", t->name, tile_type_name(t->type));
    if (t->count) put(o, "[%d]", t->count);
    put_extents(o, t->extent, t->rank);
    put_swizzle(o, t);
    put(o, ";\n");
}

static void put_view(Out *o, const Tensor *v)
{
    const Tensor *b = &o->p->tensor[v->base];
    put(o, "view %s = %s", v->name, b->name);
    for (int d = 0; d < b->rank; d++) {
        put(o, "%s", d ? ", " : "[");
        put_expr(o, v->start[d], 3);
        if (v->dim[d] >= 0) {
            put(o, " +: ");
            put_expr(o, v->extent[v->dim[d]], 3);
        }
    }
    put(o, "];\n");
}

static void put_block(Out *o, const Stmt *s, int depth);
static void put_stmt(Out *o, const Stmt *s, int depth);

static void put_body(Out *o, const Stmt *s, int depth)
{
    put(o, "{\n");
    put_block(o, s, depth + 1);
    put(o, "%*s}", 4 * depth, "");
}

static void put_range(Out *o, const Expr *from, const Expr *turns)
{
    if (from) {
        put_expr(o, from, 0);
        put(o, " .. ");
    }
    if (from && from->kind == X_NUM && turns->kind == X_NUM) {
        put(o, "%" PRId64, from->n + turns->n);
        return;
    }
    if (from) {
        put_expr(o, from, 7);
        put(o, " + ");
    }
    put_expr(o, turns, from ? 8 : 0);
}

static void put_loop(Out *o, const Stmt *s, int depth)
{
    const Program *p = o->p;
    put(o, "%s ", s->kind == S_FOR ? "for" : "pipeline");
    if (s->ref > 1) put(o, "(");
    for (int i = 0; i < s->ref; i++) put(o, "%s%s", i ? ", " : "", p->var[s->index[i]].name);
    put(o, s->ref > 1 ? ") in (" : " in ");
    for (int i = 0; i < s->ref; i++) {
        put(o, "%s%s", i ? ", " : "", !s->from[i] && dress_odds(p, s->index[i], 62) < 20 ? "0 .. " : "");
        put_range(o, s->from[i], s->range[i]);
    }
    put(o, "%s%s ", s->ref > 1 ? ")" : "", s->text ? s->text : "");
    put_body(o, s->body, depth);
    put(o, "\n");
}

static void put_move(Out *o, const Stmt *s)
{
    if (put_call_of(o, s)) return;
    put(o, "move ");
    put_region(o, &s->src);
    put(o, " -> ");
    put_region(o, &s->dst);
    if (s->reduce) put(o, " reduce %s", REDUCE_NAMES[s->reduce]);
    if (s->convert) put(o, s->sat ? " convert sat" : " convert");
    if (s->transpose) put(o, " transpose");
    put(o, "%s;\n", s->text ? s->text : "");
}

static void put_fill(Out *o, const Stmt *s)
{
    put(o, "fill ");
    put_region(o, &s->dst);
    put(o, " = %" PRId64 "%s;\n", s->value, s->text ? s->text : "");
}

static void put_value(Out *o, const char *before, const Stmt *s)
{
    put(o, "%s%s = ", before, o->p->var[s->ref].name);
    put_expr(o, s->e, 0);
    put(o, ";\n");
}

static void put_stmt(Out *o, const Stmt *s, int depth)
{
    switch (s->kind) {
    case S_BLOCK:
    case S_TWIN:
    case S_COPY: break;
    case S_LET: put_value(o, "let ", s); break;
    case S_VAR: put_value(o, "var ", s); break;
    case S_ASSIGN: put_value(o, "", s); break;
    case S_TILE: put_tile(o, &o->p->tile[s->ref]); break;
    case S_VIEW: put_view(o, &o->p->tensor[s->ref]); break;
    case S_MAP:
        put(o, "map m%d = %s box ", s->ref, o->p->tensor[s->src.ref].name);
        put_extents(o, s->box, o->p->tensor[s->src.ref].rank);
        put(o, "%s;\n", s->text ? s->text : "");
        break;
    case S_TEXT: put(o, "%s\n", s->text); break;
    case S_FOR:
    case S_PIPELINE: put_loop(o, s, depth); break;
    case S_IF:
        put(o, "if ");
        put_expr(o, s->e, 0);
        put(o, " ");
        put_body(o, s->body, depth);
        if (s->other && s->other->kind == S_IF && !s->other->dead && !s->other->next &&
            dress_odds(o->p, s->other->e->kind, 61) < 70) {
            put(o, " else ");
            put_stmt(o, s->other, depth);
            return;
        }
        if (s->other) {
            put(o, " else ");
            put_body(o, s->other, depth);
        }
        put(o, "\n");
        break;
    case S_MOVE: put_move(o, s); break;
    case S_FILL: put_fill(o, s); break;
    case S_PREFETCH:
        put(o, "prefetch ");
        put_region(o, &s->src);
        put(o, "%s;\n", s->text ? s->text : "");
        break;
    case S_ROLES:
        put(o, "roles ");
        put_body(o, s->body, depth);
        put(o, "\n");
        break;
    case S_ROLE:
        put(o, "role %s ", s->text);
        if (s->ref) put(o, "threads %d ", s->ref);
        put_body(o, s->body, depth);
        put(o, "\n");
        break;
    }
}

static void put_block(Out *o, const Stmt *s, int depth)
{
    for (; s; s = s->next) {
        if (s->dead || s->silent) continue;
        if (s->kind == S_BLOCK || s->kind == S_TWIN) {
            put_block(o, s->body, depth);
        } else {
            put(o, "%*s", 4 * depth, "");
            put_stmt(o, s, depth);
        }
    }
}

static void put_params(Out *o)
{
    const Program *p = o->p;
    const char *comma = "(";
    for (int i = 0; i < p->ntensors; i++) {
        const Tensor *t = &p->tensor[i];
        if (t->base >= 0 || t->dead) continue;
        put(o, "%s%s: global %s", comma, t->name, tile_type_name(t->bits_packed ? t->packed : t->type));
        for (int d = 0; d < t->rank; d++) {
            put(o, "%s", d ? ", " : "[");
            if (t->bits_packed && d == t->rank - 1) put(o, "%" PRId64, t->extent[d]->n * 8 / t->bits_packed);
            else put_expr(o, t->extent[d], 0);
        }
        put(o, "]%s", t->layout ? t->layout : "");
        comma = ", ";
    }
    for (int i = 0; i < p->nsizes; i++)
        if (p->size[i].scalar) {
            bool natural = p->size[i].value >= 0 && dress_odds(p, i, 51) < 40;
            put(o, "%s%s: %s", comma, p->size[i].name, dress_odds(p, i, 51) < 25 ? "s32" : natural ? "u32" : "s64");
            comma = ", ";
        }
    if (*comma == '(') put(o, "(");
}

char *program_text(Program *p, const char *head)
{
    Out functions = {.p = p}, top = {.p = p}, body = {.p = p, .functions = &functions};
    put_params(&top);
    put(&top, ")%s", p->attributes ? p->attributes : "");
    if (p->cluster) put(&top, " cluster (%d, 1, 1)", p->cluster);
    if (p->grid[0]) {
        put(&top, " grid (");
        for (int i = 0; i < 3 && p->grid[i]; i++) {
            put(&top, "%s", i ? ", " : "");
            put_expr(&top, p->grid[i], 0);
        }
        put(&top, ")");
    }
    if (p->trust) put(&top, " trust %s", p->trust);
    if (p->where) put(&top, " where %s", p->where);
    put(&body, "\n{\n");
    put_block(&body, p->body, 1);
    put(&body, "}\n");
    for (int i = 0; i <= X_GRID; i++) functions.helpers[i] |= top.helpers[i];
    char *dressed = dress_text(p, &functions, &top, &body);
    Out whole = {.p = p};
    put(&whole, "%s%s%s", head, p->items ? p->items : "", dressed);
    free(dressed);
    free(functions.text), free(top.text), free(body.text);
    return whole.text;
}
