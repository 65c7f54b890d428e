/* Expressions as source text, with the parentheses that they need and no others. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "frontend/parse/ast.h"

enum { LEVEL_UNARY = 10, LEVEL_PRIMARY = 11 };

/* As in the grammar: a higher level binds tighter. */
static int level(const Expr *e)
{
    if (e->kind == EX_UNARY) return LEVEL_UNARY;
    if (e->kind != EX_BINARY) return LEVEL_PRIMARY;
    switch ((ExprOp)e->op) {
    case OP_LOR: return 1;
    case OP_LAND: return 2;
    case OP_EQ:
    case OP_NE:
    case OP_LT:
    case OP_GT:
    case OP_LE:
    case OP_GE: return 3;
    case OP_OR: return 4;
    case OP_XOR: return 5;
    case OP_AND: return 6;
    case OP_SHL:
    case OP_SHR: return 7;
    case OP_ADD:
    case OP_SUB: return 8;
    default: return 9;
    }
}

static void put_name(Ident id, const Names *names, Text *out)
{
    text_str(out, names_text(names, id.name));
}

static void put_at(const Expr *e, int least, const Names *names, Text *out)
{
    bool wrap = level(e) < least;
    if (wrap) text_char(out, '(');
    print_expr(e, names, out);
    if (wrap) text_char(out, ')');
}

static void put_list(ExprList l, const Names *names, Text *out)
{
    for (const Expr *e = l.first; e; e = e->next) {
        if (e != l.first) text_lit(out, ", ");
        print_expr(e, names, out);
    }
}

static void put_sub(const Sub *s, const Names *names, Text *out)
{
    switch (s->kind) {
    case SUB_AT: print_expr(s->a, names, out); break;
    case SUB_ALL: text_char(out, ':'); break;
    case SUB_SPAN:
        print_expr(s->a, names, out);
        text_lit(out, " +: ");
        print_expr(s->b, names, out);
        if (s->c) {
            text_lit(out, " by ");
            print_expr(s->c, names, out);
        }
        break;
    case SUB_ROWS:
        text_char(out, '{');
        put_list(s->rows, names, out);
        text_char(out, '}');
        break;
    }
}

static void put_float(double f, Text *out)
{
    char buf[40];
    snprintf(buf, sizeof buf, "%.17g", f);
    for (char *p = buf; *p; p++) /* the locale may have put its own point */
        if ((*p < '0' || *p > '9') && *p != 'e' && *p != '-' && *p != '+') *p = '.';
    text_str(out, buf);
    if (!strpbrk(buf, ".e")) text_lit(out, ".0");
}

static void put_string(const char *s, uint32_t n, Text *out)
{
    text_char(out, '"');
    for (uint32_t i = 0; i < n; i++) {
        if (s[i] == '\n') text_lit(out, "\\n");
        else if (s[i] == '\t') text_lit(out, "\\t");
        else {
            if (s[i] == '"' || s[i] == '\\') text_char(out, '\\');
            text_char(out, s[i]);
        }
    }
    text_char(out, '"');
}

static void put_binary(const Expr *e, const Names *names, Text *out)
{
    int mine = level(e);
    bool compares = mine == 3; /* comparisons do not chain */
    put_at(e->lhs, compares ? mine + 1 : mine, names, out);
    text_char(out, ' ');
    text_str(out, expr_op_text((ExprOp)e->op));
    text_char(out, ' ');
    put_at(e->rhs, mine + 1, names, out);
}

void print_expr(const Expr *e, const Names *names, Text *out)
{
    switch ((ExprKind)e->kind) {
    case EX_INT: text_uint(out, e->i); break;
    case EX_FLOAT: put_float(e->f, out); break;
    case EX_STRING: put_string(e->str, e->len, out); break;
    case EX_NAME: put_name(e->id, names, out); break;
    case EX_PEER:
        text_lit(out, "peer(");
        print_expr(e->lhs, names, out);
        text_lit(out, ", ");
        print_expr(e->rhs, names, out);
        text_char(out, ')');
        break;
    case EX_INDEX:
        put_at(e->base, LEVEL_PRIMARY, names, out);
        text_char(out, '[');
        for (const Sub *s = e->subs.first; s; s = s->next) {
            if (s != e->subs.first) text_lit(out, ", ");
            put_sub(s, names, out);
        }
        text_char(out, ']');
        break;
    case EX_CALL:
    case EX_MEMBER:
    case EX_METHOD:
        if (e->kind != EX_CALL) {
            put_at(e->a, LEVEL_PRIMARY, names, out);
            text_char(out, '.');
        }
        put_name(e->id, names, out);
        if (e->kind == EX_MEMBER) break;
        text_char(out, '(');
        put_list(e->args, names, out);
        text_char(out, ')');
        break;
    case EX_UNARY:
        text_str(out, expr_op_text((ExprOp)e->op));
        put_at(e->lhs, LEVEL_UNARY, names, out);
        break;
    case EX_BINARY: put_binary(e, names, out); break;
    case EX_ERROR: text_lit(out, "<error>"); break;
    }
}
