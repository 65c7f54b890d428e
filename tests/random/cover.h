/* What random programs reach: a row for each production of the grammar, clause of a kind of move, op of the IR and form of
 * it, instruction form, type, conversion, reduction, kind of condition and of loop. The rows come from the tables of the compiler (parse.y's
 * report, ops.def, instructions.def, types.def, ..), so that a new row there is a row here. */
#ifndef COVER_H
#define COVER_H

#include <stdbool.h>
#include <stddef.h>

struct Program;
struct IrKernel;

void cover_start(void); /* from here on what is compiled counts; also in processes forked later */
bool covering(void);
void cover_count(bool on);
void cover_kernel(const struct IrKernel *k);                     /* the final IR */
void cover_text(const char *text, const char *ptx, size_t size); /* of a program that ran */
void cover_program(const struct Program *p);                     /* cover_program.c: after program_run */
void cover_print(const char *path);                              /* all rows with their counts, to a file */

enum { SOURCES = 8 };
extern const char *const SOURCE_NAMES[SOURCES]; /* what decides a condition */

/* cover_rows.c: rows by number */
typedef enum RowKind {
    ROW_PRODUCTION,
    ROW_CLAUSE,
    ROW_OP,
    ROW_FORM,
    ROW_INSTRUCTION,
    ROW_TYPE,
    ROW_CONVERT,
    ROW_CONVERT_SAT,
    ROW_THREADS,
    ROW_REDUCTION,
    ROW_MAP,
    ROW_WORD,
    ROW_CONDITION,
    ROW_LOOP,
    ROW_NEST,
    ROW_KINDS
} RowKind;
void rows_make(void);
int row_count(void);
const char *row_text(int row);                /* "op tma.load" */
void row_hit(RowKind kind, const char *format, ...) __attribute__((format(printf, 2, 3)));
void row_production(int rule); /* counts it; its row is row_text(rule) */
/* Told of what the parser of the next text shifts and reduces by; NULL: nobody is. */
typedef struct Reading {
    void (*token)(const char *kind, const char *text, size_t n);
    void (*production)(int rule);
} Reading;
extern const Reading *reading;
void nest_rows(void (*row)(const char *statement, const char *around)); /* cover_nest.c */
extern long *row_hits; /* shared by all processes */

#endif
