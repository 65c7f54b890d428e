/* --emit=ast: the tree as indented text, one node that matters per line, each with its range of the source. */
#include "frontend/parse/ast.h"

typedef struct Printer {
    const Names *names;
    Sources *sources;
    Text *out;
    unsigned indent;
} Printer;

static void put_range(Printer *p, Span s)
{
    const char *path;
    uint32_t line, col, to_line, to_col;
    source_place(p->sources, s.lo, &path, &line, &col);
    source_place(p->sources, s.hi, &path, &to_line, &to_col);
    text_printf(p->out, " @%u:%u-", (unsigned)line, (unsigned)col);
    if (to_line != line) text_printf(p->out, "%u:", (unsigned)to_line);
    text_uint(p->out, to_col);
}

static void begin(Printer *p, const char *what)
{
    for (unsigned i = 0; i < p->indent; i++) text_lit(p->out, "  ");
    text_str(p->out, what);
}

static void end(Printer *p, Span s)
{
    put_range(p, s);
    text_char(p->out, '\n');
}

static void put_word(Printer *p, const char *word)
{
    text_char(p->out, ' ');
    text_str(p->out, word);
}

static void put_ident(Printer *p, Ident id)
{
    put_word(p, names_text(p->names, id.name));
}

static void put_expr(Printer *p, const Expr *e)
{
    text_char(p->out, ' ');
    print_expr(e, p->names, p->out);
}

static void put_exprs(Printer *p, const char *open, ExprList l, const char *close)
{
    text_str(p->out, open);
    for (const Expr *e = l.first; e; e = e->next) {
        if (e != l.first) text_lit(p->out, ", ");
        print_expr(e, p->names, p->out);
    }
    text_str(p->out, close);
}

/* A part with an expression of its own: `src`, `dst`, .. */
static void expr_line(Printer *p, const char *what, const Expr *e)
{
    if (e == NULL) return;
    begin(p, what);
    put_expr(p, e);
    end(p, e->span);
}

/* ---- types, clauses, options ---- */

static void put_swizzle(Printer *p, const Expr *span, const Expr *atom, bool flip)
{
    put_word(p, "swizzle");
    put_expr(p, span);
    if (atom) {
        put_word(p, "atom");
        put_expr(p, atom);
    }
    if (flip) put_word(p, "flip");
}

static void type_line(Printer *p, const TypeExpr *t)
{
    if (t == NULL) return;
    begin(p, "type");
    put_ident(p, t->elem);
    for (const DimsList *d = t->brackets; d; d = d->next) put_exprs(p, "[", d->dims, "]");
    if (t->stride.n) put_exprs(p, " stride [", t->stride, "]");
    if (t->swizzle) put_swizzle(p, t->swizzle, t->atom, t->flip);
    if (t->interleave) {
        put_word(p, "interleave");
        put_expr(p, t->interleave);
    }
    end(p, t->span);
}

const char *clause_text(ClauseKind k)
{
    static const char *const text[] = {[CL_VIA] = "via",
                                       [CL_VIA_THREADS] = "via threads",
                                       [CL_MULTICAST] = "multicast",
                                       [CL_REDUCE] = "reduce",
                                       [CL_CACHE] = "cache",
                                       [CL_BYTES] = "bytes",
                                       [CL_OFFSET] = "offset",
                                       [CL_HALO] = "halo",
                                       [CL_AHEAD] = "ahead",
                                       [CL_OVERLAP] = "overlap any",
                                       [CL_CONVERT] = "convert",
                                       [CL_TRANSPOSE] = "transpose",
                                       [CL_REVERSE] = "reverse",
                                       [CL_SUM] = "sum",
                                       [CL_COMMIT] = "commit",
                                       [CL_COMMIT_GROUP] = "commit group"};
    return text[k];
}

static void clause_lines(Printer *p, ClauseList l)
{
    for (const Clause *c = l.first; c; c = c->next) {
        begin(p, c->kind == CL_OVERLAP ? "overlap" : clause_text(c->kind)); /* whose word follows */
        if (c->id.name) put_ident(p, c->id);
        if (c->expr) put_expr(p, c->expr);
        if (c->exprs.n) put_exprs(p, " (", c->exprs, ")");
        end(p, c->span);
    }
}

static void mapopt_lines(Printer *p, MapOptList l)
{
    static const char *const words[] = {
        [MO_WORD] = "mode",         [MO_BOX] = "box",       [MO_STRIDE] = "stride",  [MO_LOWER] = "lower",
        [MO_UPPER] = "upper",       [MO_FILL] = "fill",     [MO_L2] = "l2",          [MO_INTERLEAVE] = "interleave",
        [MO_CHANNELS] = "channels", [MO_PIXELS] = "pixels", [MO_SWIZZLE] = "layout",
    };
    for (const MapOpt *o = l.first; o; o = o->next) {
        bool bracket = o->kind == MO_BOX || o->kind == MO_STRIDE;
        begin(p, words[o->kind]);
        if (o->kind == MO_SWIZZLE) put_swizzle(p, o->expr, o->atom, o->flip);
        else if (o->expr) put_expr(p, o->expr);
        if (o->id.name) put_ident(p, o->id);
        if (o->exprs.n) put_exprs(p, bracket ? " [" : " (", o->exprs, bracket ? "]" : ")");
        end(p, o->span);
    }
}

static void policyopt_lines(Printer *p, PolicyOptList l)
{
    for (const PolicyOpt *o = l.first; o; o = o->next) {
        begin(p, o->is_else ? "else" : "option");
        put_ident(p, o->id);
        if (o->expr) put_expr(p, o->expr);
        end(p, o->span);
    }
}

/* ---- statements ---- */

static void block_lines(Printer *p, const char *what, const Block *b);

static void head_lines(Printer *p, const LoopHead *h)
{
    for (const IdentItem *i = h->indices; i; i = i->next) {
        begin(p, "index");
        put_ident(p, i->id);
        end(p, i->id.span);
    }
    for (const RangeItem *r = h->ranges; r; r = r->next) {
        begin(p, "range");
        if (r->lo) {
            put_expr(p, r->lo);
            text_lit(p->out, " ..");
        }
        put_expr(p, r->hi);
        end(p, r->span);
    }
}

static void loop_lines(Printer *p, const Stmt *s)
{
    head_lines(p, &s->loop.head);
    expr_line(p, "stages", s->loop.stages);
    expr_line(p, "threads", s->loop.threads);
    if (s->loop.across) {
        begin(p, "across grid");
        if (s->loop.by.name) {
            put_word(p, "by");
            put_ident(p, s->loop.by);
        }
        end(p, s->loop.across_span);
    }
    block_lines(p, "body", &s->loop.body);
}

static void role_lines(Printer *p, const Role *roles)
{
    for (const Role *r = roles; r; r = r->next) {
        begin(p, "role");
        put_ident(p, r->name);
        end(p, r->span);
        p->indent++;
        expr_line(p, "threads", r->threads);
        block_lines(p, "body", &r->body);
        p->indent--;
    }
}

static void call_lines(Printer *p, const Stmt *s)
{
    begin(p, "path");
    for (const IdentItem *i = s->call.path; i; i = i->next) {
        text_char(p->out, i == s->call.path ? ' ' : '.');
        text_str(p->out, names_text(p->names, i->id.name));
    }
    end(p, s->call.path_span);
    for (const Expr *e = s->call.targs.first; e; e = e->next) expr_line(p, "targ", e);
    for (const Expr *e = s->call.args.first; e; e = e->next) expr_line(p, "arg", e);
}

static const char *const stmt_words[] = {
    [ST_LET] = "let",       [ST_VAR] = "var",         [ST_ASSIGN] = "assign",     [ST_SHARED] = "shared",
    [ST_TMEM] = "tmem",     [ST_BARRIER] = "barrier", [ST_VIEW] = "view",         [ST_MAP] = "map",
    [ST_POLICY] = "policy", [ST_MOVE] = "move",       [ST_PREFETCH] = "prefetch", [ST_SHIFT] = "shift",
    [ST_FILL] = "fill",     [ST_WAIT] = "wait",       [ST_ARRIVE] = "arrive",     [ST_WAIT_GROUP] = "wait group",
    [ST_EXPECT] = "expect", [ST_CALL] = "call",       [ST_FOR] = "for",           [ST_PIPELINE] = "pipeline",
    [ST_IF] = "if",         [ST_GROUP] = "group",     [ST_ROLES] = "roles",       [ST_ERROR] = "error",
};

static void stmt_parts(Printer *p, const Stmt *s)
{
    switch (s->kind) {
    case ST_LET:
    case ST_VAR:
    case ST_ASSIGN: expr_line(p, "value", s->expr); break;
    case ST_WAIT:
    case ST_ARRIVE: expr_line(p, "barrier", s->expr); break;
    case ST_SHARED:
    case ST_TMEM: type_line(p, s->type); break;
    case ST_BARRIER:
        expr_line(p, "count", s->barrier.count);
        if (s->barrier.is_free) {
            begin(p, "free");
            end(p, s->barrier.free_span);
        }
        break;
    case ST_VIEW:
        expr_line(p, "src", s->view.src);
        type_line(p, s->view.type);
        break;
    case ST_MAP:
        expr_line(p, "src", s->map.src);
        mapopt_lines(p, s->map.opts);
        break;
    case ST_POLICY: policyopt_lines(p, s->policy.opts); break;
    case ST_MOVE:
    case ST_PREFETCH:
    case ST_SHIFT:
        expr_line(p, "src", s->move.src);
        expr_line(p, "dst", s->move.dst);
        clause_lines(p, s->move.clauses);
        break;
    case ST_FILL:
        expr_line(p, "dst", s->fill.dst);
        expr_line(p, "value", s->fill.value);
        clause_lines(p, s->fill.clauses);
        break;
    case ST_WAIT_GROUP: expr_line(p, "count", s->wait_group.count); break;
    case ST_EXPECT:
        expr_line(p, "barrier", s->expect.barrier);
        expr_line(p, "bytes", s->expect.bytes);
        break;
    case ST_CALL: call_lines(p, s); break;
    case ST_FOR:
    case ST_PIPELINE: loop_lines(p, s); break;
    case ST_IF:
        expr_line(p, "condition", s->cond.cond);
        block_lines(p, "then", &s->cond.then);
        if (s->cond.has_else) block_lines(p, "else", &s->cond.other);
        break;
    case ST_GROUP: block_lines(p, "body", &s->block); break;
    case ST_ROLES: role_lines(p, s->roles); break;
    case ST_ERROR: break;
    }
}

static void stmt_lines(Printer *p, const Stmt *s)
{
    begin(p, stmt_words[s->kind]);
    if (s->id.name) put_ident(p, s->id);
    if (s->kind == ST_POLICY) put_ident(p, s->policy.word);
    if (s->kind == ST_WAIT_GROUP && s->wait_group.read) put_word(p, "read");
    end(p, s->span);
    p->indent++;
    stmt_parts(p, s);
    p->indent--;
}

static void block_lines(Printer *p, const char *what, const Block *b)
{
    begin(p, what);
    end(p, b->span);
    p->indent++;
    for (const Stmt *s = b->first; s; s = s->next) stmt_lines(p, s);
    p->indent--;
}

/* ---- items ---- */

static void param_lines(Printer *p, const Param *params)
{
    static const char *const spaces[] = {[SPACE_GLOBAL] = "global", [SPACE_SHARED] = "shared", [SPACE_TMEM] = "tmem"};
    static const char *const kinds[] = {[PK_BARE] = "",           [PK_SCALAR] = "", [PK_TENSOR] = "",
                                        [PK_BARRIER] = "barrier", [PK_MAP] = "map", [PK_POLICY] = "policy"};
    for (const Param *q = params; q; q = q->next) {
        begin(p, "param");
        put_ident(p, q->name);
        const char *kind = q->kind == PK_TENSOR ? spaces[q->space] : kinds[q->kind];
        if (q->kind == PK_SCALAR) put_ident(p, q->type_name);
        else if (kind[0]) put_word(p, kind);
        end(p, q->span);
        p->indent++;
        type_line(p, q->type);
        expr_line(p, "count", q->count);
        p->indent--;
    }
}

static void attr_lines(Printer *p, const Attr *attrs)
{
    static const char *const words[] = {[AT_GRID] = "grid",   [AT_CLUSTER] = "cluster", [AT_THREADS] = "threads",
                                        [AT_WHERE] = "where", [AT_TRUST] = "trust",     [AT_PAIR] = "pair"};
    for (const Attr *a = attrs; a; a = a->next) {
        begin(p, words[a->kind]);
        if (a->exprs.n) put_exprs(p, " ", a->exprs, "");
        end(p, a->span);
    }
}

static void item_lines(Printer *p, const Item *it)
{
    static const char *const words[] = {
        [IT_TARGET] = "target", [IT_IMPORT] = "import", [IT_CONST] = "const", [IT_FN] = "fn", [IT_KERNEL] = "kernel"};
    begin(p, words[it->kind]);
    if (it->name.name) put_ident(p, it->name);
    for (const IdentItem *i = it->path; i; i = i->next) {
        text_str(p->out, i == it->path ? " " : it->kind == IT_TARGET ? ", " : ".");
        text_str(p->out, names_text(p->names, i->id.name));
    }
    end(p, it->span);
    p->indent++;
    for (const TParam *t = it->tparams; t; t = t->next) {
        begin(p, "tparam");
        put_ident(p, t->name);
        for (const Expr *x = t->value; x; x = x->next) {
            put_word(p, x == t->value ? "=" : "|");
            put_expr(p, x);
        }
        end(p, t->name.span);
    }
    param_lines(p, it->params);
    attr_lines(p, it->attrs);
    expr_line(p, "value", it->expr);
    if (it->kind == IT_KERNEL || (it->kind == IT_FN && !it->is_expr_fn)) block_lines(p, "body", &it->body);
    p->indent--;
}

void print_unit(const Unit *u, const Names *names, Sources *sources, Text *out)
{
    Printer p = {names, sources, out, 0};
    for (const Item *it = u->first; it; it = it->next) item_lines(&p, it);
}
