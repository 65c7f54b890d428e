#include "runtime/report.h"

#include <stdarg.h>
#include <stdio.h>

enum { TAIL = 48 }; /* kept free for "... and N more" */

tile_status fail(tile_error *err, tile_status s, const char *fmt, ...)
{
    if (err) {
        va_list ap;
        va_start(ap, fmt);
        err->status = s;
        vsnprintf(err->text, sizeof err->text, fmt, ap);
        va_end(ap);
    }
    return s;
}

tile_status fail_rule(tile_error *err, tile_status s, ErrorCode rule, const char *fmt, ...)
{
    if (err) {
        va_list ap;
        va_start(ap, fmt);
        err->status = s;
        int n = snprintf(err->text, sizeof err->text, "%s: ", error_code(rule));
        if (n > 0) vsnprintf(err->text + n, sizeof err->text - (size_t)n, fmt, ap);
        va_end(ap);
    }
    return s;
}

tile_status fail_null(tile_error *err, const char *what)
{
    return fail(err, TILE_ERROR_ARGUMENT, "%s is NULL", what);
}

tile_status succeed(tile_error *err)
{
    if (err) {
        err->status = TILE_OK;
        err->text[0] = 0;
    }
    return TILE_OK;
}

void report_begin(Report *r, tile_error *err, tile_status status)
{
    *r = (Report){.err = err, .status = status};
    if (err) err->text[0] = 0;
}

void report_rule(Report *r, ErrorCode rule, const char *fmt, ...)
{
    r->lines++;
    if (!r->err) return;
    if (r->dropped) {
        r->dropped++;
        return;
    }
    char *at = r->err->text + r->n;
    size_t left = sizeof r->err->text - TAIL - r->n;
    int head = snprintf(at, left, "%s%s: ", r->n ? "\n" : "", error_code(rule));
    int body = -1;
    if (head > 0 && (size_t)head < left) {
        va_list ap;
        va_start(ap, fmt);
        body = vsnprintf(at + head, left - (size_t)head, fmt, ap);
        va_end(ap);
    }
    if (body >= 0 && (size_t)head + (size_t)body < left) {
        r->n += (size_t)head + (size_t)body;
    } else if (r->n) { /* whole lines only, except for a first one that is too long */
        at[0] = 0;
        r->dropped++;
    } else {
        r->n = left - 1;
    }
}

bool report_rows(Report *r)
{
    bool first = !r->rows;
    r->rows = true;
    r->fix = "fix: pad the rows (`tilecc --explain E0415`), or write `via threads` behind the moves: threads take rows of any size, at any place";
    return first;
}

tile_status report_end(Report *r)
{
    if (!r->lines) return succeed(r->err);
    if (r->err) {
        r->err->status = r->status;
        char *at = r->err->text + r->n;
        size_t left = sizeof r->err->text - r->n;
        if (r->dropped) snprintf(at, left, "\n... and %u more", r->dropped);
        else if (r->fix && snprintf(NULL, 0, "\n%s", r->fix) < (int)left) snprintf(at, left, "\n%s", r->fix);
    }
    return r->status;
}
