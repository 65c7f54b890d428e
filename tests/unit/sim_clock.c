/* Vector clocks and shadow memory of the simulator's watch, against plain arrays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/sim/watch/clock.h"
#include "runtime/sim/watch/shadow.h"

enum { AGENTS = 300 };

typedef struct Room {
    Mem mem;
    jmp_buf fail;
    ClockPool pool;
    uint64_t seed;
} Room;

static int room_open(void **state)
{
    Room *r = test_calloc(1, sizeof *r);
    r->mem.fail = &r->fail;
    if (setjmp(r->fail)) abort();
    clocks_init(&r->pool, &r->mem);
    r->seed = 12345;
    *state = r;
    return 0;
}

static int room_close(void **state)
{
    Room *r = *state;
    clocks_free(&r->pool);
    test_free(r);
    return 0;
}

static uint32_t below(Room *r, uint32_t n)
{
    r->seed = r->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(r->seed >> 33) % n;
}

static void nothing_is_known_at_first(void **state)
{
    Room *r = *state;
    assert_int_equal(clock_get(NULL, 7), 0);
    assert_true(clock_covers(NULL, NULL));
    assert_null(clock_join(&r->pool, NULL, NULL));
    Clock *c = NULL;
    clock_set(&r->pool, &c, 9, 3);
    assert_int_equal(clock_get(c, 9), 3);
    assert_int_equal(clock_get(c, 8), 0);
    assert_int_equal(clock_get(c, 1000), 0);
    clock_set(&r->pool, &c, 9, 2); /* times never go back */
    assert_int_equal(clock_get(c, 9), 3);
    assert_false(clock_covers(NULL, c));
    assert_true(clock_covers(c, NULL));
    clock_drop(&r->pool, c);
}

static void a_shared_clock_does_not_change(void **state)
{
    Room *r = *state;
    Clock *a = NULL;
    clock_set(&r->pool, &a, 1, 5);
    Clock *b = clock_ref(a);
    clock_set(&r->pool, &b, 1, 6);
    assert_int_equal(clock_get(a, 1), 5);
    assert_int_equal(clock_get(b, 1), 6);
    Clock *c = clock_ref(a);
    clock_gather(&r->pool, &c, b);
    assert_int_equal(clock_get(a, 1), 5);
    assert_int_equal(clock_get(c, 1), 6);
    clock_drop(&r->pool, a);
    clock_drop(&r->pool, b);
    clock_drop(&r->pool, c);
}

static void equal_joins_give_one_clock(void **state)
{
    Room *r = *state;
    Clock *a = NULL, *b = NULL, *t[4];
    clock_set(&r->pool, &a, 1, 5);
    clock_set(&r->pool, &b, 2, 5);
    for (int i = 0; i < 4; i++) {
        t[i] = clock_ref(a);
        clock_acquire(&r->pool, &t[i], b);
        assert_ptr_equal(t[i], t[0]);
    }
    Clock *same = clock_join(&r->pool, t[0], a); /* what is covered brings nothing new */
    assert_ptr_equal(same, t[0]);
    clock_drop(&r->pool, same);
    for (int i = 0; i < 4; i++) clock_drop(&r->pool, t[i]);
    clock_drop(&r->pool, a);
    clock_drop(&r->pool, b);
}

static void clocks_agree_with_arrays(void **state)
{
    Room *r = *state;
    enum { N = 8 };
    Clock *c[N] = {0};
    uint32_t(*v)[AGENTS] = test_calloc(N, sizeof *v);
    for (uint32_t step = 0; step < 20000; step++) {
        uint32_t i = below(r, N), j = below(r, N), k = below(r, AGENTS), t = below(r, 1000);
        uint32_t what = below(r, 8);
        if (what < 4) {
            clock_set(&r->pool, &c[i], k, t);
            if (t > v[i][k]) v[i][k] = t;
        } else if (what < 6) {
            (what == 4 ? clock_acquire : clock_gather)(&r->pool, &c[i], c[j]);
            for (uint32_t a = 0; a < AGENTS; a++) v[i][a] = v[i][a] > v[j][a] ? v[i][a] : v[j][a];
        } else if (what == 6) {
            Clock *copy = clock_ref(c[j]);
            clock_drop(&r->pool, c[i]);
            c[i] = copy;
            memmove(v[i], v[j], sizeof *v);
        } else if (below(r, 8) == 0) {
            clock_drop(&r->pool, c[i]);
            c[i] = NULL;
            memset(v[i], 0, sizeof *v);
        }
        bool covers = true;
        for (uint32_t a = 0; a < AGENTS; a++) {
            if (clock_get(c[i], a) != v[i][a]) fail_msg("step %u: agent %u", step, a);
            covers = covers && v[i][a] >= v[j][a];
        }
        assert_int_equal(clock_covers(c[i], c[j]), covers);
    }
    for (uint32_t i = 0; i < N; i++) clock_drop(&r->pool, c[i]);
    test_free(v);
}

static Foreign *one(Room *r, uint32_t cluster, uint32_t agent, uint32_t time)
{
    Clock *k[KNOW_COUNT] = {0};
    clock_set(&r->pool, &k[KNOW_C], agent, time);
    Foreign *f = foreign_one(&r->pool, cluster, k);
    clock_drop(&r->pool, k[KNOW_C]);
    return f;
}

static uint32_t known(const Foreign *f, uint32_t cluster, KnowKind k, uint32_t agent)
{
    const ForeignEntry *e = foreign_find(f, cluster);
    return e ? clock_get(e->k[k], agent) : 0;
}

static void knowledge_of_other_clusters_is_joined(void **state)
{
    Room *r = *state;
    Foreign *a = one(r, 5, 1, 10), *b = one(r, 3, 2, 20), *c = one(r, 5, 2, 30);
    Foreign *ab = foreign_join(&r->pool, a, b, UINT32_MAX), *abc = foreign_join(&r->pool, ab, c, UINT32_MAX);
    assert_int_equal(abc->n, 2);
    assert_int_equal(known(abc, 5, KNOW_C, 1), 10);
    assert_int_equal(known(abc, 5, KNOW_C, 2), 30);
    assert_int_equal(known(abc, 3, KNOW_C, 2), 20);
    assert_int_equal(known(abc, 4, KNOW_C, 2), 0);
    assert_int_equal(known(ab, 5, KNOW_C, 2), 0);
    Foreign *same = foreign_join(&r->pool, abc, ab, UINT32_MAX);
    assert_ptr_equal(same, abc);
    Foreign *without = foreign_join(&r->pool, NULL, abc, 5);
    assert_int_equal(without->n, 1);
    assert_int_equal(known(without, 3, KNOW_C, 2), 20);
    assert_null(foreign_join(&r->pool, NULL, a, 5));
    Foreign *raised = foreign_raise(&r->pool, abc, KNOW_C, KNOW_GLOBAL);
    assert_int_equal(known(raised, 5, KNOW_GLOBAL, 2), 30);
    assert_int_equal(known(abc, 5, KNOW_GLOBAL, 2), 0);
    Foreign *all[] = {a, b, c, ab, abc, same, without, raised};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) foreign_drop(&r->pool, all[i]);
}

/* ---- shadow memory ---- */
typedef struct Mark {
    bool write;
    uint32_t record, refused; /* writer that may not be touched; 0: none */
} Mark;

static bool mark(void *user, Cell in, Cell *out)
{
    const Mark *m = user;
    if (m->refused && in.write == m->refused) return false;
    *out = m->write ? (Cell){m->record, 0} : (Cell){in.write, m->record};
    return true;
}

static void cells_agree_with_bytes(void **state)
{
    Room *r = *state;
    enum { BYTES = 2 * PAGE_BYTES + 100, NEAR = 256 };
    ShadowPool p;
    shadow_pool_init(&p, &r->mem);
    Shadow *s = shadow_new(&p, NULL, BYTES);
    Cell *v = test_calloc(BYTES, sizeof *v);
    for (uint32_t step = 0; step < 20000; step++) {
        /* mostly about one page's end, so that cells split and join */
        bool far = below(r, 50) == 0;
        uint32_t n = 1 + (far ? below(r, BYTES / 2) : below(r, below(r, 3) ? 16 : 100));
        uint32_t at = far ? below(r, BYTES - n) : PAGE_BYTES - NEAR / 2 + below(r, NEAR - n);
        if (below(r, 2)) {
            at &= ~3u;
            n = n < 4 ? 4 : n & ~3u;
        }
        Mark m = {.write = below(r, 2), .record = 1 + below(r, 5)};
        ShadowMemo memo = {0};
        uint64_t failed;
        assert_true(shadow_walk(s, at, n, &memo, mark, &m, &failed));
        for (uint32_t i = at; i < at + n; i++) v[i] = m.write ? (Cell){m.record, 0} : (Cell){v[i].write, m.record};
        uint32_t from = PAGE_BYTES - NEAR, to = PAGE_BYTES + NEAR;
        if (far) {
            from = 0;
            to = BYTES;
        }
        for (uint64_t i = from, end; i < to; i++) {
            Cell c = shadow_at(s, i, &end);
            if (c.write != v[i].write || c.others != v[i].others) fail_msg("step %u: byte %u", step, (unsigned)i);
            assert_true(end > i && end <= i + CELL_BYTES);
        }
    }
    /* All of it alike: no part is in use any more. */
    Mark m = {.write = true, .record = 1};
    ShadowMemo memo = {0};
    uint64_t failed;
    assert_true(shadow_walk(s, 0, BYTES, &memo, mark, &m, &failed));
    uint32_t last = BYTES % CELL_BYTES ? 2 : 0; /* the last cell is covered in part */
    uint32_t unused = 0;
    for (uint32_t g = p.freepart; g; g = p.part[g][0].write) unused++;
    assert_true(unused + last >= p.npart - 1);
    test_free(v);
    shadow_pool_free(&p);
}

static void a_walk_ends_where_it_is_refused(void **state)
{
    Room *r = *state;
    ShadowPool p;
    shadow_pool_init(&p, &r->mem);
    Shadow *s = shadow_new(&p, NULL, 4096);
    ShadowMemo memo = {0};
    uint64_t failed = 0;
    Mark m = {.write = true, .record = 1};
    assert_true(shadow_walk(s, 0, 4096, &memo, mark, &m, &failed));
    m.record = 2;
    memo.valid = false;
    assert_true(shadow_walk(s, 1003, 1, &memo, mark, &m, &failed));
    m = (Mark){.write = true, .record = 3, .refused = 2};
    memo.valid = false;
    assert_false(shadow_walk(s, 100, 2000, &memo, mark, &m, &failed));
    assert_int_equal(failed, 1003);
    shadow_pool_free(&p);
}

static void lists_that_are_alike_are_one(void **state)
{
    Room *r = *state;
    ShadowPool p;
    shadow_pool_init(&p, &r->mem);
    uint32_t v[OTHERS_MAX] = {4, 9, 2}, out[OTHERS_MAX];
    assert_int_equal(others_make(&p, v, 0), 0);
    assert_int_equal(others_make(&p, v, 1), 4);
    uint32_t l = others_make(&p, v, 3);
    assert_int_equal(others_make(&p, v, 3), l);
    assert_int_not_equal(others_make(&p, v, 2), l);
    assert_int_equal(others_get(&p, l, out), 3);
    assert_memory_equal(out, v, 3 * sizeof *v);
    shadow_pool_free(&p);
}

/* Of many records only those stay that a cell or a holder names. */
static void records_are_swept(void **state)
{
    Room *r = *state;
    ShadowPool p;
    shadow_pool_init(&p, &r->mem);
    Shadow *s = shadow_new(&p, NULL, 64);
    uint32_t pinned = record_new(&p);
    p.record[pinned].time = 77;
    for (uint32_t i = 0; i < 500000; i++) {
        uint32_t n = record_new(&p);
        assert_int_not_equal(n, pinned);
        ShadowMemo memo = {0};
        uint64_t failed;
        Mark m = {.write = i % 2, .record = n};
        assert_true(shadow_walk(s, i % 61, 3, &memo, mark, &m, &failed));
        p.record[n].time = i;
        record_unpin(&p, n);
    }
    assert_true(p.sweeps > 2);
    assert_true(p.nrecord < 200000);
    assert_int_equal(p.record[pinned].time, 77);
    uint64_t end;
    assert_int_equal(p.record[shadow_at(s, 499999 % 61, &end).write].time, 499999);
    shadow_pool_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_is_known_at_first, room_open, room_close),
        cmocka_unit_test_setup_teardown(a_shared_clock_does_not_change, room_open, room_close),
        cmocka_unit_test_setup_teardown(equal_joins_give_one_clock, room_open, room_close),
        cmocka_unit_test_setup_teardown(clocks_agree_with_arrays, room_open, room_close),
        cmocka_unit_test_setup_teardown(knowledge_of_other_clusters_is_joined, room_open, room_close),
        cmocka_unit_test_setup_teardown(cells_agree_with_bytes, room_open, room_close),
        cmocka_unit_test_setup_teardown(a_walk_ends_where_it_is_refused, room_open, room_close),
        cmocka_unit_test_setup_teardown(lists_that_are_alike_are_one, room_open, room_close),
        cmocka_unit_test_setup_teardown(records_are_swept, room_open, room_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
