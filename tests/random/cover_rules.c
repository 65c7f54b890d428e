/* The project's parser once more, with Bison's trace: it tells what it shifts and by which rules it reduces. It takes the place of the parser
 * of the library in this program. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TILE_DEBUG 1
#include "cover.h"
#include "frontend/parse/parse.h"

const Reading *reading;
static bool shifts;       /* what is printed next is the token that is shifted .. */
static const char *symbol; /* .. of this kind */

static int trace(FILE *to, const char *format, ...)
{
    va_list ap;
    (void)to;
    va_start(ap, format);
    if (!strcmp(format, "%s ")) {
        shifts = !strcmp(va_arg(ap, const char *), "Shifting");
    } else if (shifts && !strcmp(format, "%s %s (")) {
        (void)va_arg(ap, const char *);
        symbol = va_arg(ap, const char *);
    } else if (!strncmp(format, "Reducing stack by rule %d", 25)) {
        int rule = va_arg(ap, int);
        row_production(rule);
        if (reading) reading->production(rule);
    }
    va_end(ap);
    return 0;
}

static void at(const Parse *ps, Span s)
{
    const Source *src = ps->lexer.src;
    if (reading && shifts) reading->token(symbol, src->text + (s.lo - src->base), s.hi - s.lo);
    shifts = false;
}

#define YYFPRINTF trace
#define YYLOCATION_PRINT(to, span) at(ps, *(span))
#include "frontend/parse.tab.c"

void cover_rules(void)
{
    tile_debug = 1;
}
