/* What the generated parser, the token feed (parse.c) and the error reports (syntax.c) share; internal to parsing.
 *
 * The feed keeps the open brackets. That is what lets an error say where a bracket was opened, keeps a lost bracket
 * from swallowing the statements behind it, and bounds how deep a program can nest.
 */
#ifndef FRONTEND_PARSE_H
#define FRONTEND_PARSE_H

#include "frontend/parse/lex.h"

typedef struct Token {
    Span span;
    int kind;
} Token;

typedef struct Bracket {
    uint8_t kind; /* TK_LPAREN, TK_LBRACKET, TK_LBRACE */
    bool block;   /* a brace around statements or roles, not around rows */
    bool roles;
    uint16_t else_ifs; /* links of the else-if chain that is being read directly inside */
    Span span;
} Bracket;

enum { TOKEN_KINDS = TK_UNARY + 1 };

struct Parse {
    Tree tree;
    Lexer lexer;
    Unit *unit;
    Bracket open[NESTING_MAX + 1]; /* open[0] stands for the file */
    uint32_t depth;                /* innermost: open[depth] */
    uint32_t nesting;              /* depth and all else_ifs */
    Bracket lost;                  /* innermost that `;` or a brace closed because its own end is missing */

    Token before, prev, cur;      /* the last three tokens */
    Token first, second;          /* of the statement or item; second.kind is 0 until it is read */
    bool at_start;                /* the next token will be `first` */
    bool stopped;                 /* read no further */
    uint32_t lexer_errors;        /* of the lexer, before `first` was read */
    uint32_t lexer_errors_before; /* before the newest token was read */

    /* Recovery. */
    bool recovering;  /* between a syntax error and the place where reading goes on */
    uint32_t skip_to; /* > 0: nothing is read up to the end of this bracket */
    bool c_loop;      /* the error is in the head of a C loop: `;` does not end it */
    uint32_t put_in;  /* how many tokens of this kind to put in before .. */
    int put_in_kind;
    bool again; /* .. this one comes again */
    Token again_token;
    TILE_STYPE again_value;
};

/* ---- for the generated parser ---- */
int tile_lex(TILE_STYPE *value, Span *span, Parse *ps);
void *parse_regrow(Parse *ps, const void *old, size_t used, size_t size);
Ident parse_soft_name(Parse *ps, Span s);
void parse_resumed(Parse *ps); /* reading goes on after an error */
void parse_stack_full(Parse *ps);
void syntax_error(Parse *ps, const bool *expected); /* by token kind, up to TOKEN_KINDS */

/* ---- for the error reports ---- */
/* "`;`, an operator or .." */
void syntax_expected(const bool *expected, Text *out);
const char *token_text(int kind); /* as in the grammar: "move", "name" */
bool token_starts_item(int kind);
bool token_starts_stmt(int kind);
bool parse_on_new_line(const Parse *ps, Span from, Span to); /* a line ends between two tokens */
/* Puts in n tokens of a kind, then gives the current token to the parser again. */
void parse_put_in(Parse *ps, int kind, uint32_t n);

#endif
