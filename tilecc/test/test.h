/* tilecc test: what a .tile file says is expected of it, and whether it comes about.
 *
 *   test.c        finds the files, tests them side by side, prints and writes the report
 *   file.c        one file: what it expects, check by check
 *   show.c        how two texts or two arrays differ
 */
#ifndef TILECC_TEST_H
#define TILECC_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tilecc/commands.h"

typedef enum TestStatus { TEST_PASSED, TEST_FAILED, TEST_UPDATED } TestStatus;

/* One file's tests, in a process of its own whose folder is the file's. */
typedef struct TestFile {
    const TestOptions *opt;
    const char *name;  /* of the file in its folder */
    const char *stem;  /* without .tile */
    const char *work;  /* a folder for what is made */
    const char *text;
    unsigned line;     /* the one run line that is wanted; 0: all that is expected */
    FILE *results;     /* a record for each check: see test_result() */
    FILE *why;         /* of the check at hand: what is wrong; empty where it passes */
    bool updated;      /* by the check at hand */
} TestFile;

/* ---- file.c ---- */
bool test_wanted(const char *path, const char *text); /* it says what is expected of it, or a file beside it does */
void test_file(TestFile *t);

/* ---- show.c ---- */
/* Puts a unified diff into t->why where they differ. */
void test_texts(TestFile *t, const char *label, const char *expected, size_t n, const char *actual, size_t m);
/* The same of two .npy files: type, shape, then each element that differs, the first ones shown. */
void test_arrays(TestFile *t, const char *label, const char *expected, const char *actual);

#endif
