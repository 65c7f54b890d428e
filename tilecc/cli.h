/* tilecc: the command line. It parses options, calls libtilecc and libtile, prints and exits; nothing is compiled
 * here. main.c reads the command line by the table options.def; each command is one file.
 */
#ifndef TILECC_CLI_H
#define TILECC_CLI_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tilecc.h"

enum { /* the same numbers as tilecc_status */
    EXIT_OK = 0,
    EXIT_SOURCE = 1,
    EXIT_USAGE = 2,
    EXIT_ENVIRONMENT = 3,
    EXIT_TOOL = 4,
    EXIT_INTERNAL = 70
};

typedef struct CompileOptions {
    const char *input;           /* "-": standard input */
    const char *output;          /* NULL: by default (see options.def); "-": standard output */
    bool to_file;                /* without -o: text goes to a file too (-S) */
    bool dependencies;           /* -MD */
    const char *dependency_file; /* NULL: the output's name with .d */
    bool verbose;
    enum { NO_C, C_FOR_LIBTILE, C_FOR_DRIVER } c; /* a pair of .c and .h; lib.arch: may have several targets, "sm_90a,sm_100a" */
    tilecc_options lib;
} CompileOptions;

typedef struct OutFile {
    const char *path; /* "-": standard output */
    const void *data;
    size_t size;
} OutFile;

/* Each returns an exit code. */
int command_compile(const CompileOptions *o);
int command_explain(const char *code);
int command_list_targets(void);
int command_list_library(void);

/* ---- compile.c: what emit_c.c needs, too ---- */
const char *file_base_name(const char *path);
char *with_suffix(const char *path, const char *suffix); /* `path` with its last suffix replaced; from malloc */
bool is_source(const CompileOptions *o, const char *text, size_t size); /* false after a complaint: compiled already */
int say_result(const tilecc_result *r, bool json); /* what is wrong; r NULL: no memory. Returns an exit code */
/* Writes one or two files, and the make rule of -MD, to the first one's name with `suffix` where that is standard output. Returns an exit code. */
int write_compiled(const CompileOptions *o, const tilecc_result *r, const OutFile *made, size_t n, const char *suffix);

/* ---- emit_c.c ---- */
int compile_to_c(const CompileOptions *o); /* returns an exit code */

/* ---- help.c: texts from options.def ---- */
void print_help(unsigned command); /* COMPILE: of all */
void print_man(void);
void print_completion(const char *shell); /* completion.c: "bash", "zsh", "fish" */

/* ---- io.c ---- */
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
void complain(const char *fmt, ...); /* "tilecc: ..." and a newline on stderr */

/* The same of a word that is none of n: behind it `did you mean` one that is near, else `which` and all of them. word NULL: none is near. */
#if defined(__GNUC__)
__attribute__((format(printf, 5, 6)))
#endif
void complain_word(const char *word, const char *const *words, size_t n, const char *which, const char *fmt, ...);

/* A file's name may have any bytes: what would move the cursor is escaped. */
void put_name(FILE *to, const char *s);

/* The file's bytes and a 0 behind them, from malloc; "-" is standard input. NULL after a complaint: a program has at most
 * 1 GiB, and devices have no end. */
char *read_file(const char *path, size_t *size);

/* The same of a program: a file or, where there is none of that name, a module of the library that is built in, `std.rows`. */
char *read_program(const char *path, size_t *size);
/* A name as modules of the library have, of which there is none, nor a file; true after a complaint. */
bool no_module(const char *path);
const char *program_name(const char *path); /* what messages call it, and outputs are named by: of a module std/rows.tile */

/* The same, no further than needed: `needs` says how many bytes there must be, seeing those that there are (first none);
 * when that is no more than there are, or when the file ends, all is read. */
char *read_file_as(const char *path, size_t *size, size_t (*needs)(const char *text, size_t size));

/* What a file holds that is compiled already: "PTX", "a cubin"; NULL: neither. */
const char *compiled_kind(const char *text, size_t size);

/* All or nothing: each file appears under its name complete, or not at all. false after a complaint. */
bool write_files(const OutFile *files, size_t n);
/* Signals that end the program go to `by`, the first of them, but for those that are ignored; then all is as it was before. */
enum { ENDINGS = 7 };
void watch_signals(void (*by)(int), struct sigaction before[ENDINGS]);
void leave_signals(const struct sigaction before[ENDINGS]);
void hold_signals(sigset_t *before); /* until `before` is the mask again */
/* false after a complaint: an output is also an input, or two outputs are one file. "-" is standard input or output. */
bool outputs_are_apart(const char *const *outputs, size_t n, const char *const *inputs, size_t ninputs);
/* Before what takes long: false after a complaint. "-" is standard output. */
bool outputs_can_be_written(const char *const *outputs, size_t n);
/* Flushes standard output; false after a complaint (a full disk shows only here). */
bool finish_stdout(void);

/* The nearest of n words, or NULL if none is near enough to be meant. */
const char *nearest_word(const char *word, const char *const *words, size_t n);

/* All n characters: digits as in programs (0x and 0b, single `_` between two; 010 is ten), behind `-` if negative; false:
 * they are no such number, or none of 64 bits. */
bool read_integer(const char *s, size_t n, int64_t *out);

/* From malloc; without memory the program ends with EXIT_ENVIRONMENT. */
void *must_alloc(size_t size);
char *copy_text(const char *s, size_t n); /* n bytes and a 0 */
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
char *printed(const char *fmt, ...);

#endif
