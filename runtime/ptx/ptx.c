/* Reading PTX: the feed of the parser, what syntax errors say, where reading goes on, and the queries. */
#include "runtime/ptx/ptx.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/ptx/parse.h"

/* ---- types ---- */

static const struct {
    const char *word;
    int bytes;
} types[PTX_NO_TYPE] = {
    [PTX_PRED] = {".pred", 0}, [PTX_B8] = {".b8", 1},         [PTX_B16] = {".b16", 2}, [PTX_B32] = {".b32", 4},
    [PTX_B64] = {".b64", 8},   [PTX_B128] = {".b128", 16},    [PTX_U8] = {".u8", 1},   [PTX_U16] = {".u16", 2},
    [PTX_U32] = {".u32", 4},   [PTX_U64] = {".u64", 8},       [PTX_S8] = {".s8", 1},   [PTX_S16] = {".s16", 2},
    [PTX_S32] = {".s32", 4},   [PTX_S64] = {".s64", 8},       [PTX_F16] = {".f16", 2}, [PTX_F16X2] = {".f16x2", 4},
    [PTX_BF16] = {".bf16", 2}, [PTX_BF16X2] = {".bf16x2", 4}, [PTX_F32] = {".f32", 4}, [PTX_F64] = {".f64", 8},
};

int ptx_type_bytes(PtxType t)
{
    return t < PTX_NO_TYPE ? types[t].bytes : 0;
}

const char *ptx_type_word(PtxType t)
{
    return t < PTX_NO_TYPE ? types[t].word : "such a type";
}

bool ptx_type_find(const char *word, PtxType *out)
{
    for (PtxType t = PTX_PRED; t < PTX_NO_TYPE; t++)
        if (strcmp(types[t].word, word) == 0) return *out = t, true;
    return false;
}

/* ---- problems ---- */

int ptx_shown(const char *text, size_t n)
{
    enum { SHOWN = 40 };
    size_t i = 0;
    while (i < n && i < SHOWN) {
        size_t k = utf8_length(text + i, n - i);
        if (k == 0 || i + k > SHOWN || (unsigned char)text[i] < 0x20 || text[i] == 0x7f) break;
        i += k;
    }
    return (int)i;
}

static void put_defect(PtxReader *r, PtxDefect d, const char *fmt, va_list ap)
{
    char text[320];
    vsnprintf(text, sizeof text, fmt, ap);
    d.order = r->found.n;
    d.text = arena_strdup(r->arena, text, strlen(text));
    vec_push(r->arena, &r->found, d);
}

void ptx_defect(PtxReader *r, PtxDefectKind kind, uint32_t line, uint32_t column, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    put_defect(r, (PtxDefect){.line = line, .column = column, .kind = kind}, fmt, ap);
    va_end(ap);
}

void ptx_problem(PtxReader *r, uint32_t line, const char *fmt, ...)
{
    uint32_t column = line == r->first_line ? r->first_column : line == r->cur.line ? r->cur.column : 1;
    va_list ap;
    va_start(ap, fmt);
    put_defect(r, (PtxDefect){.line = line, .column = column}, fmt, ap);
    va_end(ap);
}

static int by_place(const void *a, const void *b)
{
    const PtxDefect *x = a, *y = b;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    if (x->column != y->column) return x->column < y->column ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

/* ---- the feed ---- */

/* Directives without `;` end where something follows that can't belong to them. */
static bool ends_directive(const PtxReader *r)
{
    switch (r->first) {
    case PT_VERSION:
    case PT_TARGET:
    case PT_ADDRESS_SIZE:
    case PT_FILE_:
    case PT_LOC: break;
    default: return false;
    }
    switch (r->cur.kind) {
    case PT_INT:
    case PT_FLOAT:
    case PT_STRING:
    case PT_WORD: return r->cur.first && r->read > 1 && r->prev.kind != PT_COMMA;
    case PT_COMMA:
    case PT_PLUS:
    case PT_BAD: return false;
    default: return r->read > 1 || r->cur.kind == PT_END;
    }
}

/* Takes the scanner back to a token. */
static void back_to(PtxReader *r, PtxToken t)
{
    r->cursor = (const unsigned char *)t.start;
    r->line = t.line;
    r->line_start = r->cursor - (t.column - 1);
    r->fresh_line = t.first;
    r->again = false;
}

static void next(PtxReader *r)
{
    r->line_before = r->prev.line;
    r->column_before = r->prev.column;
    r->prev = r->cur;
    ptx_scan(r);
}

static bool word_is(const PtxToken *t, const char *text)
{
    size_t n = strlen(text);
    return (size_t)(t->end - t->start) == n && memcmp(t->start, text, n) == 0;
}

/* Counts brackets; gives the kind that the parser gets. */
static int bracket(PtxReader *r, int kind)
{
    switch (kind) {
    case PT_LPAREN:
        if (r->brackets == 0 && r->is_call) kind = PT_ARGS; /* else a constant */
        break;
    case PT_LBRACE: r->braces++; break;
    case PT_LBRACKET: break;
    case PT_RBRACE: r->braces -= r->braces > 0; /* fall through */
    case PT_RPAREN:
    case PT_RBRACKET: r->brackets -= r->brackets > 0; return kind;
    default: return kind;
    }
    if (r->brackets++ < BRACKETS_MAX) return kind;
    if (!r->said) ptx_problem(r, r->cur.line, "more than %d brackets are inside each other", BRACKETS_MAX);
    r->said = true;
    return PT_BAD;
}

int ptx_lex(PTX_STYPE *value, PtxReader *r)
{
    if (!r->again) next(r);
    r->again = false;
    const PtxToken *t = &r->cur;
    if (r->read > 0 && ends_directive(r)) {
        r->end_of_line = r->again = true;
        return PT_END_OF_LINE;
    }
    if (r->read++ == 0) {
        r->first = t->kind;
        r->first_line = t->line;
        r->first_column = t->column;
        r->directives = t->kind != PT_WORD && t->kind != PT_AT;
    }
    if (t->kind == PT_WORD && ++r->words == (r->first == PT_AT ? 2 : 1) && !r->directives)
        r->is_call = word_is(t, "call");
    if (t->kind == PT_DOT && r->glued == r->dots++ && t->start == r->prev.end) r->glued++;
    *value = t->value;
    r->brackets_before = r->brackets;
    r->braces_before = r->braces;
    return bracket(r, t->kind);
}

/* ---- what syntax errors say ---- */

/* The token can only begin a statement; a line that was left unfinished is told apart from one that goes on. */
static bool begins_statement(const PtxReader *r, const PtxToken *t)
{
    static const char *const words[] = {".reg",           ".visible",     ".entry",        ".func",   ".version",
                                        ".target",        ".pragma",      ".loc",          ".file",   ".section",
                                        ".extern",        ".weak",        ".alias",        ".common", ".address_size",
                                        ".branchtargets", ".calltargets", ".callprototype"};
    static const char *const spaces[] = {".shared", ".local", ".global", ".const", ".param"};
    if (!t->first) return false;
    bool open = r->prev.kind == PT_COMMA || r->prev.kind == PT_LPAREN || r->prev.kind == PT_LBRACKET ||
                r->prev.kind == PT_LBRACE;
    switch (t->kind) {
    case PT_AT: return true;
    case PT_SPACE:
    case PT_LBRACE: return !open;
    case PT_WORD: return *t->start != '%' && (!open || *t->end == '.');
    case PT_DOT: break;
    default: return t->kind >= PT_VERSION && t->kind <= PT_PROTOTYPE && t->kind != PT_ALIGN && t->kind != PT_PTR;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (word_is(t, words[i])) return true;
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (word_is(t, spaces[i]) && (*t->end == ' ' || *t->end == '\t')) return true;
    return false;
}

/* `add.s32 %r1, %r2,` and in the next line `mov.b32`: the word was taken for an operand. */
static bool began_before(const PtxReader *r)
{
    return r->cur.kind == PT_DOT && r->read > 2 && r->prev.kind == PT_WORD && r->prev.first && *r->prev.start != '%';
}

static void add_choice(char *out, size_t size, const char *what, bool quoted, unsigned *n)
{
    size_t at = strlen(out);
    snprintf(out + at, size - at, quoted ? "%s`%s`" : "%s%s", (*n)++ ? "\n" : "", what);
}

/* One line per choice. Operators go on an expression that could as well be complete: they are not named. */
static unsigned choices(const bool *e, char *out, size_t size)
{
    static const int marks[] = {PT_COMMA, PT_SEMI,   PT_RBRACKET, PT_RBRACE, PT_RPAREN,
                                PT_COLON, PT_LBRACE, PT_ASSIGN,   PT_GT};
    unsigned n = 0;
    bool operand = e[PT_WORD] && e[PT_INT] && e[PT_LBRACKET], inside = e[PT_WORD] || e[PT_INT];
    *out = 0;
    if (e[PT_DOT]) add_choice(out, size, "a modifier", false, &n);
    if (operand) add_choice(out, size, "an operand", false, &n);
    else if (e[PT_WORD] && e[PT_INT]) add_choice(out, size, "a name or a number", false, &n);
    else if (e[PT_WORD]) add_choice(out, size, "a name", false, &n);
    else if (e[PT_INT]) add_choice(out, size, "a number", false, &n);
    else if (e[PT_FLOAT]) add_choice(out, size, "a number such as 8.6", false, &n);
    if (e[PT_STRING]) add_choice(out, size, "a string", false, &n);
    if (e[PT_TYPE] && !e[PT_INT]) add_choice(out, size, "a type", false, &n);
    if (e[PT_SPACE] && !e[PT_TYPE]) add_choice(out, size, "a state space", false, &n);
    if (e[PT_ENTRY]) add_choice(out, size, "`.entry`, `.func`", false, &n);
    if (e[PT_LIMIT]) add_choice(out, size, "a directive such as `.reqntid`", false, &n);
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        bool part = (marks[i] == PT_LBRACE && inside) || (marks[i] == PT_GT && e[PT_STAR]);
        if (e[marks[i]] && !part) add_choice(out, size, ptx_token_name(marks[i]), true, &n);
    }
    if (e[PT_END_OF_LINE]) add_choice(out, size, ptx_token_name(PT_END_OF_LINE), false, &n);
    return n;
}

void ptx_syntax_error(PtxReader *r, const bool *expected)
{
    const PtxToken *t = &r->cur;
    char what[160], list[200];
    if (r->said) return;
    r->said = true;
    int n = ptx_shown(t->start, (size_t)(t->end - t->start));
    if (r->read == 1) {
        bool directive = *t->start == '.';
        ptx_defect(r, PTX_SYNTAX, t->line, t->column,
                   directive ? "`%.*s` is no directive that stands here"
                             : "`%.*s` can't begin an instruction or a directive",
                   n, t->start);
        return;
    }
    unsigned left = choices(expected, what, sizeof what);
    size_t o = 0;
    for (const char *p = what; left > 0; left--, p += strcspn(p, "\n") + 1) {
        const char *between = o == 0 ? "" : left == 1 ? " or " : ", ";
        o += (size_t)snprintf(list + o, sizeof list - o, "%s%.*s", between, (int)strcspn(p, "\n"), p);
    }
    if (o == 0) snprintf(list, sizeof list, "something else");
    if (began_before(r))
        ptx_defect(r, PTX_SYNTAX, r->line_before, r->column_before, "the line ends where an operand is missing");
    else if (r->end_of_line || begins_statement(r, t))
        ptx_defect(r, PTX_SYNTAX, r->prev.line, r->prev.column, "the line ends where %s is missing", list);
    else if (t->kind == PT_END)
        ptx_defect(r, PTX_SYNTAX, r->prev.line, r->prev.column, "the text ends where %s is missing", list);
    else ptx_defect(r, PTX_SYNTAX, t->line, t->column, "`%.*s` stands where %s should be", n, t->start, list);
}

/* ---- where reading goes on ---- */

/* A `}` that is followed by `,`, `;` or `]` is a vector's. */
static bool closes_scope(const PtxReader *r, uint32_t depth)
{
    const unsigned char *p = r->cursor;
    if (depth == 0) return true;
    if (!r->cur.first) return false;
    while (*p == ' ' || *p == '\t') p++;
    return *p != ',' && *p != ';' && *p != ']';
}

static void resume_here(PtxReader *r)
{
    if (r->cur.kind == PT_DOT) back_to(r, r->cur); /* it was read as a modifier */
    else r->again = true;
}

/* A statement that begins so declares something. */
static bool of_variable(int first)
{
    return first == PT_SPACE || first == PT_EXTERN || first == PT_VISIBLE || first == PT_WEAK || first == PT_COMMON;
}

/* Behind the `;` of the wrong statement, or to what begins another one. What it declares is no unknown name: one report
 * is enough. */
static void skip_statement(PtxReader *r, uint32_t depth)
{
    const PtxToken *t = &r->cur;
    bool begun = r->read > 1;
    if (began_before(r)) {
        back_to(r, r->prev);
        return;
    }
    bool declares = of_variable(r->first);
    for (;; next(r), begun = true) {
        if (declares && t->kind == PT_WORD) ptx_name(r, t->value.word.name)->broken = true;
        if (t->kind == PT_END || (t->kind == PT_RBRACE && closes_scope(r, depth))) {
            r->again = true;
            return;
        }
        if (begun && begins_statement(r, t)) {
            resume_here(r);
            return;
        }
        if (t->kind == PT_SEMI) return;
        if (t->kind == PT_LBRACE) depth++;
        if (t->kind == PT_RBRACE) depth--;
    }
}

static bool of_module(const PtxToken *t)
{
    static const char *const words[] = {".visible", ".entry",        ".func",    ".extern", ".weak",
                                        ".common",  ".alias",        ".version", ".target", ".file",
                                        ".section", ".address_size", ".global",  ".const"};
    for (size_t i = 0; t->first && i < sizeof words / sizeof *words; i++)
        if (word_is(t, words[i])) return true;
    return false;
}

static bool of_body(const PtxToken *t)
{
    static const char *const words[] = {".reg", ".shared", ".local", ".loc"};
    if (!t->first) return false;
    if (t->kind == PT_AT || (t->kind == PT_WORD && *t->start != '%' && *t->end == '.')) return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (word_is(t, words[i])) return true;
    return false;
}

/* The head of a function is wrong: its body is read all the same. */
static void skip_head(PtxReader *r)
{
    const PtxToken *t = &r->cur;
    uint32_t parens = r->brackets_before;
    for (bool begun = r->read > 1;; next(r), begun = true) {
        if (t->kind == PT_LPAREN) parens++;
        if (t->kind == PT_RPAREN) parens -= parens > 0;
        bool goes_on = parens > 0 && (r->prev.kind == PT_COMMA || r->prev.kind == PT_LPAREN);
        bool other = begun && of_module(t), body = begun && !goes_on && of_body(t);
        if (other || body) resume_here(r);
        if (t->kind == PT_END) r->again = true;
        if (t->kind == PT_END || t->kind == PT_SEMI || t->kind == PT_LBRACE || other || body) {
            ptx_func_head_end(r, t->kind == PT_LBRACE || body);
            return;
        }
    }
}

/* Debugging information: data for which nobody asks. */
static void skip_section(PtxReader *r)
{
    uint32_t depth = 1, line = r->first_line;
    r->directives = false;
    r->said = true;
    while (depth > 0) {
        next(r);
        if (r->cur.kind == PT_LBRACE) depth++;
        if (r->cur.kind == PT_RBRACE) depth--;
        if (r->cur.kind != PT_END) continue;
        ptx_problem(r, line, "this section is not closed");
        r->again = true;
        return;
    }
}

/* PTX ISA, PTX Module Directives: .version, .target, .address_size, then everything else. */
static void head_goes_on(PtxReader *r)
{
    HeadPhase now = r->first == PT_VERSION        ? HEAD_VERSION
                    : r->first == PT_TARGET       ? HEAD_TARGET
                    : r->first == PT_ADDRESS_SIZE ? HEAD_DONE
                                                  : HEAD_OVER;
    if (now > r->phase) r->phase = now;
}

static void read_statement(PtxReader *r)
{
    r->read = r->words = r->brackets = r->braces = r->dots = r->glued = 0;
    r->brackets_before = r->braces_before = 0;
    r->is_call = r->end_of_line = r->prototype = r->section = false;
    r->decl.is_extern = r->decl.is_visible = false;
    r->guard = (PtxWord){0};
    r->guard_not = false;
    r->mods.n = r->stack.n = 0;
    r->decl.named = false;
    bool right = ptx_parse(r) == 0;
    r->recovered = !right;
    head_goes_on(r);
    if (right) {
        if (r->section) skip_section(r);
        return;
    }
    r->directives = true;
    if (r->decl.named) ptx_name(r, r->decl.name.name)->broken = true;
    if (r->head) skip_head(r);
    else if (!r->end_of_line) skip_statement(r, r->braces_before);
}

static void read_all(PtxReader *r)
{
    while (!r->stopped) {
        r->said = false;
        r->directives = true;
        if (!r->again) next(r);
        r->again = true;
        if (r->cur.kind == PT_END) break;
        read_statement(r);
    }
    if (r->head) ptx_func_head_end(r, false);
    if (r->func) {
        if (!r->stopped)
            ptx_problem(r, r->func->line, "the body of `%.*s` is not closed",
                        ptx_shown(r->func->name, strlen(r->func->name)), r->func->name);
        ptx_func_close(r);
    }
    if (r->scopes.n && !r->stopped) ptx_problem(r, r->scopes.v[0].line, "this scope is not closed");
    if (r->bare) ptx_func_end(r, r->bare, r->any_reg);
    if (r->module->version && r->early_target.line)
        ptx_defect(r, PTX_HEAD, r->early_target.line, 1, "`.target` stands before `.version`, which comes first");
}

PtxModule *ptx_examine(Arena *a, const char *text, size_t size, void (*defect)(void *user, const PtxDefect *d),
                       void *user, uint32_t *problems)
{
    PtxReader *r = arena_new(a, PtxReader);
    r->arena = a;
    r->module = arena_new(a, PtxModule);
    r->line = 1;
    r->fresh_line = true;
    if (size > TEXT_MAX) {
        ptx_problem(r, 1, "the text is larger than %d bytes", TEXT_MAX);
        r->stopped = true;
    } else {
        r->names = names_new(a);
        r->cursor = r->line_start = (const unsigned char *)arena_strdup(a, text, size);
        r->limit = r->cursor + size;
        if (size >= 3 && memcmp(r->cursor, "\xef\xbb\xbf", 3) == 0) r->cursor += 3; /* byte order mark */
        read_all(r);
    }
    if (r->found.n) qsort(r->found.v, r->found.n, sizeof *r->found.v, by_place);
    for (uint32_t i = 0; defect && i < r->found.n; i++) defect(user, &r->found.v[i]);
    if (problems) *problems = r->found.n;
    return r->stopped ? NULL : r->module;
}

typedef struct Listener {
    PtxProblem problem;
    void *user;
} Listener;

static void pass_on(void *user, const PtxDefect *d)
{
    const Listener *to = user;
    to->problem(to->user, d->line, d->text);
}

PtxModule *ptx_read(Arena *a, const char *text, size_t size, PtxProblem problem, void *user, uint32_t *problems)
{
    Listener to = {problem, user};
    return ptx_examine(a, text, size, problem ? pass_on : NULL, &to, problems);
}

/* ---- queries ---- */

bool ptx_has_mod(const PtxInstr *i, const char *mod)
{
    for (uint32_t k = 0; k < i->nmods; k++)
        if (strcmp(i->mods[k], mod) == 0) return true;
    return false;
}
