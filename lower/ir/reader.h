/* What the parts of the reader of IR text share: private to them. lex.c has tokens and numbers, read.c the
 * grammar, read_ops.c that of ops. After the first error every token is the end, so that no loop has to ask. */
#ifndef LOWER_IR_READER_H
#define LOWER_IR_READER_H

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

/* Names of one kind of object: number by interned name. */
typedef struct Scope {
    VEC(uint32_t) index; /* by Name - 1: number + 1, 0: none */
} Scope;
typedef enum ScopeKind {
    SC_SYM,
    SC_TENSOR,
    SC_SCALAR,
    SC_MAP,
    SC_BUF,
    SC_BAR,
    SC_POL,
    SC_VAR,
    SC_PLAN,
    SC_RING,
    SC_AGENT,
    SC_VALUE,
    SC_COUNT
} ScopeKind;

typedef struct Reader {
    Arena *arena;
    Names *names;
    Diags *diags;
    Source *src;
    uint32_t at;   /* first byte not yet read */
    Token tok;     /* the next token */
    uint32_t last; /* end of the token before it */
    bool comma; /* one was read in front of an operand that may be absent */
    bool failed;
    IrKernel *k;
    Names *words; /* names within the kernel */
    Scope scopes[SC_COUNT];
    uint32_t defined; /* values so far */
} Reader;

void reader_init(Reader *r, Arena *a, Names *names, Diags *d, Source *src);
void reader_next(Reader *r);
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void reader_error(Reader *r, ErrorCode code, const char *fmt, ...);
const char *ir_token_text(const Reader *r);        /* for a message */
bool reader_is(const Reader *r, const char *text); /* a word or punctuation */
bool reader_followed(const Reader *r, char c);     /* by that character, without a space */
bool reader_accept(Reader *r, const char *text);
void reader_expect(Reader *r, const char *text);
const char *reader_name(Reader *r); /* a word or string; "" after an error */
const char *reader_string(Reader *r);
int64_t reader_int(Reader *r, int64_t lo, int64_t hi);
double reader_fraction(Reader *r);

void reader_clear(Reader *r);
void reader_declare(Reader *r, ScopeKind kind, const char *name, uint32_t index);
uint32_t reader_look_up(Reader *r, ScopeKind kind, const char *name); /* reports what is not declared; then 0 */

/* read.c: a word of a list, by number; what is declared, by its name; a type by its name */
uint8_t reader_word_of(Reader *r, const char *const *words, uint32_t n, const char *what);
uint32_t reader_object(Reader *r, ScopeKind kind);
IrType reader_type(const char *s);
void reader_body(Reader *r, IrRole *role); /* read_ops.c: { ops } */

/* A launch expression, 0 for `_`. */
Lx reader_lx(Reader *r);

#endif
