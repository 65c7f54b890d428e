/* A program to run and what it must give: the directives of tests/sim (README.md, "Directives").
 *
 * In: lines that start with `//!`. Out: a case - launches, buffers with their contents, tensor maps, parameters - and a
 * verdict of one run on one device: what the device said, and whether every buffer holds what plain reference functions
 * (expect.c) make of the initial contents.
 *
 * Invariants: all names are resolved when a case has been read; sizes are checked there, so that a run only has to
 * trust them. Test code: a broken case ends the program with a message.
 */
#ifndef TESTS_SIM_CASE_H
#define TESTS_SIM_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lang/maps/rules.h"
#include "runtime/device.h"
#include "tile.h"

enum {
    CASE_BUFFERS = 16,
    CASE_MAPS = 8,
    CASE_PARAMS = 24,
    CASE_LAUNCHES = 4,
    CASE_EXPECTS = 32,
    CASE_CODES = 8,
    CASE_WORDS = 24
};

typedef enum Fill { FILL_RANDOM, FILL_ZERO, FILL_POISON, FILL_IOTA, FILL_RANGE, FILL_PERMUTATION } Fill;

typedef struct CaseBuffer {
    char name[32];
    tile_type type;
    int rank;
    int64_t shape[MAP_RANK];
    size_t count, bytes;
    Fill fill;
    int64_t low, high; /* FILL_RANGE: both included */
} CaseBuffer;

typedef struct CaseMap {
    char name[32];
    int buffer;
    int64_t offset; /* bytes from the buffer's start */
    MapDesc desc;   /* without its address */
} CaseMap;

typedef struct CaseConst { /* a map that the host writes into a variable of the module */
    char variable[32];
    int map;
} CaseConst;

typedef struct CaseParam {
    enum { PARAM_BUFFER, PARAM_MAP, PARAM_VALUE } kind;
    int index;
    uint64_t value;
} CaseParam;

typedef struct CaseLaunch {
    char kernel[128];
    uint32_t grid[3], cluster[3], threads, smem;
    bool dependent;
    CaseParam params[CASE_PARAMS];
    int nparams;
} CaseLaunch;

typedef struct CaseScalar { /* of a program of libtile */
    char name[32];
    int64_t value;
} CaseScalar;

typedef struct CaseExpect {
    int buffer, line;
    char text[200]; /* the words behind the buffer's name */
} CaseExpect;

typedef struct Case {
    char path[300];
    char golden[200]; /* "FILE": run through libtile's public calls; launches[0].kernel is the kernel */
    CaseLaunch launches[CASE_LAUNCHES];
    CaseBuffer buffers[CASE_BUFFERS];
    CaseMap maps[CASE_MAPS];
    CaseConst consts[CASE_MAPS];
    CaseScalar scalars[CASE_PARAMS];
    CaseExpect expects[CASE_EXPECTS];
    char fails[CASE_CODES][8]; /* any of these; none: it must run */
    int nlaunches, nbuffers, nmaps, nconsts, nscalars, nexpects, nfails;
} Case;

/* Reads the `//!` lines from *at on, to the end or to the next `//! golden` but the first; *at and *line move there.
 * False: no directives were left. */
bool case_read(Case *c, const char *path, const char **at, int *line);

typedef struct Verdict {
    bool ran;              /* the device reported nothing */
    bool right;            /* and the results are what they should be */
    tile_status status;    /* of the device */
    char said[4096 + 256]; /* the device's words, or which element is wrong */
} Verdict;
/* One run with fresh memory. image: PTX text followed by a 0 byte, `size` bytes without it. */
void case_run(const Case *c, tile_device *d, const char *image, size_t size, uint64_t seed, Verdict *v);

/* ---- expect.c ---- */
bool type_is_float(tile_type t);
uint64_t elem_load(tile_type t, const void *p); /* raw bits; signed types are extended */
void elem_store(tile_type t, void *p, uint64_t raw);
uint64_t elem_from_int(tile_type t, int64_t v); /* floats: v must be exact in them */
/* Applies expectation e to the wanted contents. before: of all buffers, as they were before the run. False: it is not
 * understood, or reaches outside a buffer (why into text). */
bool expect_apply(const Case *c, const CaseExpect *e, unsigned char *const *before, unsigned char *want, char *text,
                  size_t size);

/* ---- common to both programs ---- */
uint64_t random_next(uint64_t *state); /* splitmix64 */
void *must(void *p);                   /* NULL: out of memory, ends the program */
char *read_text(const char *path, size_t *size);
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2), noreturn))
#endif
void give_up(const char *fmt, ...);
/* Splits a line into words in place; returns how many (at most CASE_WORDS; more: ends the program). */
int split_words(char *line, char **word);

#endif
