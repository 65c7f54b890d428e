/* Errors of the public calls: one sentence, or one line for each thing that is wrong.
 *
 * They are written straight into the caller's tile_error, so that reporting takes no memory. What does not fit is
 * counted in the last line.
 */
#ifndef RUNTIME_REPORT_H
#define RUNTIME_REPORT_H

#include "lang/diag/diag.h"
#include "tile.h"

#if defined(__GNUC__)
#define REPORT_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define REPORT_PRINTF(f, a)
#endif

/* Both take err == NULL. */
REPORT_PRINTF(3, 4) tile_status fail(tile_error *err, tile_status s, const char *fmt, ...);
/* The same with the code of the rule that is broken in front: "E1104: M is ..". */
REPORT_PRINTF(4, 5) tile_status fail_rule(tile_error *err, tile_status s, ErrorCode rule, const char *fmt, ...);
/* `what`, which the call needs, is NULL: TILE_ERROR_ARGUMENT. */
tile_status fail_null(tile_error *err, const char *what);
tile_status succeed(tile_error *err);

typedef struct Report {
    tile_error *err; /* may be NULL: only counts */
    tile_status status;
    size_t n; /* bytes used of err->text */
    unsigned lines, dropped;
    const char *fix; /* the last line, where there is room; or NULL */
    bool rows;       /* rows that are no multiple of 16 bytes were reported */
    bool facts;      /* a fact of the kernel's `where` was reported: what places and maps break then mostly follows */
} Report;
void report_begin(Report *r, tile_error *err, tile_status status);
REPORT_PRINTF(3, 4) void report_rule(Report *r, ErrorCode rule, const char *fmt, ...);
/* Rows that are no multiple of 16 bytes break rules of several maps, and mostly one size is the cause. true: they are to be
 * reported, this time only; what to do comes last. */
bool report_rows(Report *r);
/* TILE_OK if there was no line. */
tile_status report_end(Report *r);

#endif
