/* The matcher's insides, shared by forms.c (what fits), forms_near.c (why nothing did) and forms_check.c. */
#ifndef FORMS_MATCH_H
#define FORMS_MATCH_H

#include "runtime/ptx/forms_table.h"

enum { MAX_WORDS = 31 }; /* modifiers of one instruction: a bit each; no form has half as many */

typedef struct Words { /* an instruction's modifiers */
    const PtxInstr *i;
    const char *name; /* "cp.async.bulk" */
    size_t nname;
    const char *longer[6]; /* names that go on from it: "cp.async.bulk.tensor", NULL */
    uint32_t skip;         /* modifiers that belong to the name */
    uint32_t prefix;       /* the same as bits */
    bool copy;             /* cp.*: order of state spaces matters, brackets do not */
    bool barrier;          /* mbarrier.* */
    uint8_t length[MAX_WORDS];
} Words;
bool words_init(Words *w, const PtxInstr *i); /* false: no name, or too many */

typedef struct Fit {      /* how an instruction's modifiers and a row differ */
    uint32_t used, alien; /* bits */
    int missing;
    Piece lacking; /* the first that is missing */
    bool swapped;  /* destination behind source */
} Fit;
bool row_has_name(const Words *w, InstrForm f);
/* stop: give up at the first difference (then *out is not complete). */
bool fit_row(const Words *w, InstrForm f, bool stop, FormMatch *m, Fit *out);

typedef struct Mismatch { /* how an instruction's operands and a row differ */
    InstrForm form;
    ErrorCode code;
    uint32_t at, expected;
    Place place;
    const char *want;
} Mismatch;

/* ---- forms_near.c: all return false ---- */
bool explain_name(const PtxInstr *i, ErrorCode *code, char *why, size_t size);
bool explain_words(const Words *w, ErrorCode *code, char *why, size_t size);
bool explain_operands(const Words *w, const Mismatch *x, ErrorCode *code, char *why, size_t size);

/* The row of the same name nearest to the instruction among those that `may` lets pass (NULL: all), or FORM_COUNT. */
InstrForm nearest_row(const Words *w, bool (*may)(InstrForm f, const void *user), const void *user, Fit *fit);
/* A row's text up to its operands, placeholders filled in from the instruction where it has them. */
void row_mnemonic(const Words *w, InstrForm f, char *out, size_t size);

#endif
