/* Memory of a compilation: alignment, zeroes, marks, growth, and running out. */
#include "tests/unit/lang_fixture.h"

static void allocations_are_zeroed_aligned_and_apart(void **state)
{
    Room *r = *state;
    char *last = NULL;
    for (size_t n = 0; n < 300; n++) {
        char *p = arena_alloc(&r->arena, n);
        assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
        assert_ptr_not_equal(p, last);
        for (size_t i = 0; i < n; i++) assert_int_equal(p[i], 0);
        memset(p, 0xAB, n);
        last = p;
    }
}

static void an_object_larger_than_a_chunk_fits(void **state)
{
    Room *r = *state;
    size_t n = (size_t)5 << 20;
    char *p = arena_alloc(&r->arena, n);
    p[0] = p[n - 1] = 1;
    char *q = arena_alloc(&r->arena, 8);
    assert_non_null(q);
}

static void release_gives_back_what_came_after_the_mark(void **state)
{
    Room *r = *state;
    int *kept = arena_new(&r->arena, int);
    *kept = 42;
    ArenaMark m = arena_mark(&r->arena);
    char *at = r->arena.at;
    for (int i = 0; i < 1000; i++) memset(arena_alloc(&r->arena, 1000), 0xFF, 1000);
    arena_release(&r->arena, m);
    assert_ptr_equal(r->arena.at, at);
    assert_int_equal(*kept, 42);
    char *p = arena_alloc(&r->arena, 100); /* reused memory is zeroed again */
    for (int i = 0; i < 100; i++) assert_int_equal(p[i], 0);
}

static void release_to_the_empty_arena(void **state)
{
    Room *r = *state;
    ArenaMark m = arena_mark(&r->arena);
    arena_alloc(&r->arena, 10);
    arena_release(&r->arena, m);
    assert_null(r->arena.chunk);
    assert_non_null(arena_alloc(&r->arena, 10));
}

static void *counted(void *user, void *p, size_t n)
{
    *(int *)user += p == NULL;
    if (n) return realloc(p, n);
    free(p);
    return NULL;
}

static void clear_keeps_memory_for_what_comes_next(void **state)
{
    (void)state;
    int taken = 0;
    Mem mem = {.realloc = counted, .user = &taken};
    Arena a;
    arena_init(&a, &mem);
    for (int round = 0, first = 0; round < 3; round++) {
        for (int i = 0; i < 200; i++) {
            char *p = arena_alloc(&a, 1000);
            for (int j = 0; j < 1000; j++) assert_int_equal(p[j], 0);
            memset(p, 0xFF, 1000);
        }
        if (round == 0) first = taken;
        assert_int_equal(taken, first);
        arena_clear(&a);
    }
    arena_free(&a);
    assert_null(a.chunk);
    assert_null(a.spare);
}

static void a_borrower_gives_back_what_it_took(void **state)
{
    int calls = 0;
    (void)state;
    jmp_buf fail;
    Mem mem = {.realloc = counted, .user = &calls, .fail = &fail};
    Arena from, a;
    if (setjmp(fail)) fail_msg("memory");
    arena_init(&from, &mem);
    ArenaMark m = arena_mark(&from);
    for (int i = 0; i < 100; i++) arena_alloc(&from, 5000);
    arena_release(&from, m);
    int before = calls;
    for (int turn = 0; turn < 3; turn++) {
        arena_borrow(&a, &from);
        for (int i = 0; i < 50; i++) memset(arena_alloc(&a, 5000), 0xFF, 5000);
        arena_free(&a);
    }
    char *p = arena_alloc(&from, 5000); /* reused memory is zeroed again */
    for (int i = 0; i < 5000; i++) assert_int_equal(p[i], 0);
    assert_int_equal(calls, before);
    arena_free(&from);
}

static void vectors_keep_their_items_while_growing(void **state)
{
    Room *r = *state;
    VEC(uint32_t) v = {0};
    for (uint32_t i = 0; i < 10000; i++) vec_push(&r->arena, &v, i * 7);
    assert_int_equal(v.n, 10000);
    for (uint32_t i = 0; i < 10000; i++) assert_int_equal(v.v[i], i * 7);
    assert_int_equal(*vec_add(&r->arena, &v), 0);
}

static void what_is_newest_grows_where_it_is(void **state)
{
    Room *r = *state;
    uint32_t *p = arena_grow(&r->arena, NULL, 0, 8), *q = p;
    p[0] = 1, p[1] = 2;
    q = arena_grow(&r->arena, p, 8, 400);
    assert_ptr_equal(p, q);
    arena_alloc(&r->arena, 1);
    q = arena_grow(&r->arena, p, 400, 800);
    assert_ptr_not_equal(p, q);
    assert_true(q[0] == 1 && q[1] == 2);
    char *at = r->arena.at;
    assert_ptr_equal(arena_grow(&r->arena, q, 800, 8), q);
    assert_true(r->arena.at < at && q[1] == 2);
    at = r->arena.at;
    assert_ptr_equal(arena_grow(&r->arena, p, 400, 8), p); /* not the newest: nothing is given back */
    assert_ptr_equal(r->arena.at, at);
    VEC(uint32_t) v = {0};
    for (uint32_t i = 0; i < 9; i++) vec_push(&r->arena, &v, i);
    vec_trim(&r->arena, &v);
    for (uint32_t i = 9; i < 20; i++) vec_push(&r->arena, &v, i);
    for (uint32_t i = 0; i < 20; i++) assert_int_equal(v.v[i], i);
}

typedef struct Used {
    size_t now, most;
} Used;

static void *measured(void *user, void *p, size_t n)
{
    Used *u = user;
    size_t *from = p ? (size_t *)p - 2 : NULL;
    u->now += n - (from ? *from : 0);
    if (u->now > u->most) u->most = u->now;
    from = n ? realloc(from, n + 2 * sizeof *from) : (free(from), NULL);
    if (from) *from = n;
    return from ? from + 2 : NULL;
}

static void large_vectors_leave_nothing_behind(void **state)
{
    (void)state;
    enum { N = 1 << 20 };
    Used used = {0, 0};
    Mem mem = {.realloc = measured, .user = &used};
    Arena a;
    VEC(uint64_t) before = {0}, behind = {0};
    arena_init(&a, &mem);
    for (uint32_t i = 0; i < N; i++) vec_push(&a, &before, i);
    assert_true(used.most < sizeof(uint64_t) * N + (2 << 20));
    ArenaMark m = arena_mark(&a);
    size_t then = used.now;
    for (uint32_t i = 0; i < N; i++) {
        vec_push(&a, &behind, i);
        if (i % 2) vec_push(&a, &before, i);
    }
    for (uint32_t i = 0; i < N; i++) assert_true(before.v[i] == i && behind.v[i] == i);
    arena_release(&a, m);
    assert_int_equal(before.v[N + N / 2 - 1], N - 1);
    assert_true(used.now < then + sizeof(uint64_t) * N + (2 << 20));
    arena_clear(&a);
    assert_null(a.large);
    assert_true(used.now < 1 << 20);
    arena_free(&a);
    assert_int_equal(used.now, 0);
}

static void printf_and_strdup(void **state)
{
    Room *r = *state;
    assert_string_equal(arena_printf(&r->arena, "%s = %d", "rows", 64), "rows = 64");
    assert_string_equal(arena_strdup(&r->arena, "tile and more", 4), "tile");
    assert_string_equal(arena_strdup(&r->arena, NULL, 0), "");
}

static void bytes_of_an_array_overflow_to_a_size_that_fails(void **state)
{
    (void)state;
    assert_int_equal(arena_bytes(3, 8), 24);
    assert_int_equal(arena_bytes(0, 8), 0);
    assert_int_equal(arena_bytes(8, 0), 0);
    assert_true(arena_bytes(SIZE_MAX / 2, 3) == SIZE_MAX);
}

static void running_out_jumps_to_the_point_of_failure(void **state)
{
    Room *r = *state;
    jmp_buf here, *before = r->mem.fail;
    volatile int jumped = 0;
    r->mem.fail = &here;
    if (setjmp(here) == 0) arena_alloc(&r->arena, SIZE_MAX);
    else jumped = 1;
    r->mem.fail = before;
    assert_int_equal(jumped, 1);
}

typedef struct Budget {
    int left, live;
} Budget;

static void *within_budget(void *user, void *p, size_t n)
{
    Budget *b = user;
    if (n == 0) {
        b->live -= p != NULL;
        free(p);
        return NULL;
    }
    if (b->left-- <= 0) return NULL;
    b->live += p == NULL;
    return realloc(p, n);
}

static int chunks_left_after_failing(int allowed)
{
    Budget b = {allowed, 0};
    jmp_buf here;
    Mem mem = {within_budget, &b, &here};
    Arena a;
    arena_init(&a, &mem);
    if (setjmp(here) == 0)
        for (;;) arena_alloc(&a, 9000);
    arena_free(&a);
    return b.live;
}

static void every_chunk_goes_back_after_the_allocator_failed(void **state)
{
    (void)state;
    for (int allowed = 0; allowed < 6; allowed++) assert_int_equal(chunks_left_after_failing(allowed), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_room(allocations_are_zeroed_aligned_and_apart),         in_room(an_object_larger_than_a_chunk_fits),
        in_room(release_gives_back_what_came_after_the_mark),      in_room(release_to_the_empty_arena),
        cmocka_unit_test(clear_keeps_memory_for_what_comes_next),
        cmocka_unit_test(a_borrower_gives_back_what_it_took),
        in_room(vectors_keep_their_items_while_growing),           in_room(printf_and_strdup),
        in_room(what_is_newest_grows_where_it_is),                 cmocka_unit_test(large_vectors_leave_nothing_behind),
        in_room(bytes_of_an_array_overflow_to_a_size_that_fails),  in_room(running_out_jumps_to_the_point_of_failure),
        in_room(every_chunk_goes_back_after_the_allocator_failed),
    };
    return cmocka_run_group_tests_name("lang/arena", tests, NULL, NULL);
}
