/* Schedules as text: wish.c reads and prints what one is to be, tune.c the files of `tilecc tune`, a line for each kernel, GPU and size. */
#ifndef FRONTEND_WISH_H
#define FRONTEND_WISH_H

#include "frontend/prog.h"

typedef struct TuneLine {
    const char *kernel, *gpu; /* gpu "": all, of a pin */
    int64_t least;            /* bytes that a launch moves */
    const Wish *wish;
    Span kernel_span;
    bool left; /* out: it is of another program, or -D says otherwise */
} TuneLine;
struct TuneFile {
    VEC(TuneLine) lines;
};

typedef struct WishText { /* a line on its way */
    Compilation *c;
    const char *p, *end; /* what is left of it */
    uint32_t at;         /* position of p */
    bool wrong;          /* and said so */
} WishText;
void wish_skip(WishText *t);                            /* blanks */
const char *wish_word(WishText *t, Span *at);           /* up to a blank, `:` or the end; "" where there is none */
bool wish_number(WishText *t, int64_t lo, int64_t *out); /* digits; false after an error */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void wish_wrong(WishText *t, Span at, const char *fmt, ...);
const Wish *wish_read(WishText *t); /* the rest of the line; NULL after an error */

#endif
