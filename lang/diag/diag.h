/* Diagnostics are data: a code of errors.def, a place, a sentence with the values, and optionally second
 * labels, notes and a fix. They are collected while compiling and rendered at the end, as text with carets,
 * as one line each, or as JSON. A pass reports and goes on.
 */
#ifndef LANG_DIAG_H
#define LANG_DIAG_H

#include <stdbool.h>

#include "lang/diag/source.h"
#include "lang/text.h"

typedef enum DiagClass { DIAG_ERROR, DIAG_WARNING, DIAG_PERFORMANCE } DiagClass;

/* One enumerator per row of errors.def: ERROR(E0101, ERROR, "rule", "source", "explain") -> E0101. */
typedef enum ErrorCode {
#define ERROR(code, cls, rule, source, explain) code,
#include "lang/errors.def"
#undef ERROR
    ERROR_COUNT
} ErrorCode;

typedef struct ErrorInfo {
    const char *code; /* "E0412" */
    DiagClass cls;
    bool live;           /* not reported of branches that constants exclude */
    const char *rule;    /* the rule in one sentence */
    const char *source;  /* PTX ISA section, driver API text, or SPEC.md section; "" if the language's own */
    const char *explain; /* more, for tilecc --explain */
} ErrorInfo;
const ErrorInfo *error_info(ErrorCode c);
const char *error_code(ErrorCode c); /* "E0412" */
bool error_find(const char *code, ErrorCode *out);

/* notyet.def: what is refused, and no rule of the hardware's or the language's */
typedef enum NotYet {
#define NOTYET(id, code, what, verb, instead) NY_##id,
#include "lang/notyet.def"
#undef NOTYET
    NY_COUNT
} NotYet;
typedef struct NotYetInfo {
    ErrorCode code;
    const char *what, *verb, *instead;
} NotYetInfo;
const NotYetInfo *not_yet_info(NotYet n);

typedef struct DiagLabel {
    Span span;
    const char *text;
    struct DiagLabel *next;
} DiagLabel;

typedef struct Diag {
    ErrorCode code;
    Span span;
    const char *text; /* what is wrong here, with the value and the limit */
    DiagLabel *labels;
    DiagLabel *notes; /* span may be {0, 0} */
    const char *fix;  /* what to write instead; NULL if there is none */
    struct Diag *next;
} Diag;

typedef struct Diags {
    Arena *arena;
    Sources *sources;
    Diag *first, **last;
    uint32_t errors, warnings;
    uint32_t met;        /* errors, those too that had been reported: what is made while it grows is no good */
    uint32_t max_errors; /* further errors are counted, not kept (default 100) */
    bool quiet;          /* drop everything (trial runs) */
    bool no_performance; /* drop the class PERFORMANCE */
    uint32_t excluded;   /* branches around this that constants exclude: what is `live` is dropped */
    void *seen;          /* (code, span) already reported: the same error of an inlined fn is shown once */
} Diags;

void diags_init(Diags *d, Arena *a, Sources *s);
/* Returns a Diag to which labels, notes and a fix are added; never NULL. A repeat of (code, span) is dropped. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
Diag *diag_at(Diags *d, ErrorCode c, Span s, const char *fmt, ...);
Diag *diag_vat(Diags *d, ErrorCode c, Span s, const char *fmt, va_list ap);
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
void diag_label(Diags *d, Diag *g, Span s, const char *fmt, ...);
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
void diag_note(Diags *d, Diag *g, Span s, const char *fmt, ...);
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void diag_fix(Diags *d, Diag *g, const char *fmt, ...);

typedef enum DiagFormat { DIAG_HUMAN, DIAG_SHORT, DIAG_JSON } DiagFormat;
/* Sorted by place; colour only in DIAG_HUMAN. Beside errors nothing is said of performance. */
void diags_render(Diags *d, DiagFormat f, bool colour, Text *out);

#endif
