/* The text form. Each line is said once, by a filter that prints it or reads it. Private to the room.
 *
 *   lex.re    tokens
 *   filter.c  the pieces of a line: words, numbers, lists, launch expressions
 *   names.c   names under which things are printed and found
 *   lines.c   a kernel and what its ops speak of, as the rows of lines.def say
 *   bodies.c  ops, as the columns of ops.def say
 *   text.c    ir_print() and ir_read()
 *
 * A piece gets what is printed and gives what the kernel has: that, or what was read. It stands behind a space, unless it is tight. After the first error
 * every token is the end, so that no loop has to ask.
 */
#ifndef LOWER_IR_FILTER_H
#define LOWER_IR_FILTER_H

#include "lower/ir/ops.h"

typedef enum TokenKind {
    TOK_END,
    TOK_WORD,   /* names, keywords, ops */
    TOK_NUMBER, /* begins with a digit; also 8.6 and 128B */
    TOK_STRING, /* text: without quotes and escapes */
    TOK_VALUE,  /* %name; text: the name */
    TOK_PUNCT   /* text: -> .. == != <= >= << >> && || or one character */
} TokenKind;
typedef struct Token {
    TokenKind kind;
    const char *text; /* 0-terminated */
    Span span;
} Token;

/* Kinds of names: those of operands (IrArgKind), and three more. */
enum { NAME_SYM = IRA_KINDS, NAME_SCALAR, NAME_AGENT, NAME_KINDS };
typedef VEC(uint32_t) Scope; /* by Name - 1: number + 1, 0: none */

typedef struct Filter {
    bool reading;
    Arena *arena;
    IrKernel *k; /* when printing: a copy of its head */
    /* printing */
    Text *out;
    Sources *sources;
    bool tree;   /* the tree, not the roles' bodies */
    bool tight;  /* no space in front of the next piece */
    const char **shown[NAME_KINDS]; /* made unique and quoted; NULL: names as they are */
    /* reading */
    Names *names;
    Diags *diags;
    const Source *src;
    const char *cursor; /* behind the next token */
    Token tok;          /* the next token */
    uint32_t last;      /* end of the token before it */
    bool comma;         /* one was read in front of an operand that may be absent */
    bool failed;
    Names *words; /* names within the kernel */
    Scope scopes[NAME_KINDS];
} Filter;

void filter_next(Filter *f); /* lex.re */

/* ---- filter.c---- */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void filter_error(Filter *f, ErrorCode code, const char *fmt, ...); /* nothing when printing */
const char *filter_token(const Filter *f);                          /* for a message */
void filter_put(Filter *f, const char *s);
bool filter_is(const Filter *f, const char *text); /* the next token is that word or punctuation */
bool filter_accept(Filter *f, const char *text);
void filter_word(Filter *f, const char *word);
bool filter_maybe(Filter *f, const char *word, bool there);   /* the word, if it is there */
bool filter_glued(Filter *f, const char *punct, bool there); /* .. without a space before or behind it */
void filter_close(Filter *f, const char *punct);             /* .. before it; it must be there */
void filter_comma(Filter *f);
uint8_t filter_word_of(Filter *f, const char *const *words, uint32_t n, uint8_t value, const char *what);
int64_t filter_int(Filter *f, int64_t k, int64_t lo, int64_t hi);
double filter_fraction(Filter *f, double k);
const char *filter_string(Filter *f, const char *s);
/* [a, b, ..] of `count`: for (n = 0; filter_list(f, n, count, max); n++) a piece. When reading the count is n in the end. */
bool filter_list(Filter *f, unsigned n, unsigned count, unsigned max);
Lx filter_lx(Filter *f, Lx x); /* 0 is _ */

/* ---- names.c ---- */
const char *filter_quoted(Filter *f, const char *s);
void filter_names(Filter *f); /* under which the kernel's things are printed */
const char *filter_shown(Filter *f, unsigned kind, uint32_t index);
const char *filter_name(Filter *f, const char *s); /* quoted where it is no identifier */
const char *filter_declare(Filter *f, unsigned kind, const char *name, uint32_t index);
uint32_t filter_object(Filter *f, unsigned kind, uint32_t index); /* what is declared, by its name */
uint32_t filter_value(Filter *f, uint32_t v);
void filter_read_names(Filter *f); /* of a kernel anew */
void filter_enter(Filter *f, unsigned kind, const char *name, uint32_t index);
uint32_t filter_look_up(Filter *f, unsigned kind, const char *name); /* reports what is not declared; then 0 */

/* ---- lines.c, bodies.c ---- */
void filter_kernel(Filter *f);
void filter_body(Filter *f, IrRole *role);
void filter_op(Filter *f, const IrRole *role, IrOp *op);
IrType filter_type(Filter *f, IrType t);

#endif
