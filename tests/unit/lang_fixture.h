/* An arena with a failure point for tests of lang/. Include after the system headers that cmocka wants. */
#ifndef TESTS_LANG_FIXTURE_H
#define TESTS_LANG_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lang/arena.h"

typedef struct Room {
    Mem mem;
    jmp_buf fail;
    Arena arena;
} Room;

static inline int room_open(void **state)
{
    Room *r = test_calloc(1, sizeof *r);
    r->mem.fail = &r->fail;
    if (setjmp(r->fail)) abort(); /* no test runs out of memory unless it sets its own point */
    arena_init(&r->arena, &r->mem);
    *state = r;
    return 0;
}

static inline int room_close(void **state)
{
    Room *r = *state;
    arena_free(&r->arena);
    test_free(r);
    return 0;
}

#define in_room(test) cmocka_unit_test_setup_teardown(test, room_open, room_close)

#endif
