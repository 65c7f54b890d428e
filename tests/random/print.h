/* Between print.c and dress.c: text that grows. */
#ifndef PRINT_H
#define PRINT_H

#include "program.h"

typedef struct Out {
    const Program *p;
    char *text;
    size_t n, room;
    struct Out *functions; /* where statements become calls: what they call */
    int nfunctions;
    bool helpers[X_GRID + 1]; /* operators that became functions */
} Out;

void put(Out *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
void put_expr(Out *o, const Expr *e, int level);
void put_swizzle(Out *o, const Tile *t);

/* dress.c */
uint64_t dress_odds(const Program *p, int64_t n, int what); /* 0 .. 99; 99 in a program that is printed as it is */
bool put_call_of(Out *o, const Stmt *s);                    /* a move as a call of a function; false: not this one */
bool put_helper(Out *o, const Expr *e);                     /* a sum as a call; false: not this one */
char *dress_text(Program *p, Out *functions, Out *head, Out *body); /* malloc */

#endif
