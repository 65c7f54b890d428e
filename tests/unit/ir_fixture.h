/* What tests of IR read, check and print with. Include after <cmocka.h> and what it wants. */
#ifndef TESTS_IR_FIXTURE_H
#define TESTS_IR_FIXTURE_H

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "lower/ir/ir.h"

typedef struct Fixture {
    Mem mem;
    jmp_buf fail;
    Arena arena, scratch;
    Sources sources;
    Diags diags;
    Names *names;
    Text out;
} Fixture;

static inline void begin(Fixture *x)
{
    memset(x, 0, sizeof *x);
    x->mem.fail = &x->fail;
    if (setjmp(x->fail)) abort(); /* a test of running out of memory sets its own point */
    arena_init(&x->arena, &x->mem);
    arena_init(&x->scratch, &x->mem);
    sources_init(&x->sources, &x->arena);
    diags_init(&x->diags, &x->arena, &x->sources);
    x->names = names_new(&x->arena);
    text_init(&x->out, &x->mem);
}

static inline void finish(Fixture *x)
{
    text_free(&x->out);
    arena_free(&x->scratch);
    arena_free(&x->arena);
}

#endif
