/* Room for maps that kernels make (runtime/workspace.h): one per stream that grows, one per captured launch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/workspace.h"
#include "tests/unit/runtime_world.h"

#define MAPS (&(Variant){.deal = MF_DEAL_TICKET, .per_sm = 1, .counters = 1, .maps = 384})

static void set(World *w, int64_t n)
{
    bind_all(w, 64, 64, n);
}

/* The address that the launch got: behind two maps, a value and a counter. All of it can be written. */
static uint64_t room_on(World *w, uintptr_t stream)
{
    if (tile_launch(w->args, (CuStream)stream, &w->err) != TILE_OK) fail_msg("%s", w->err.text);
    uint64_t at = *(uint64_t *)fake.params[4];
    assert_int_equal(at % 128, 0);
    memset((void *)(uintptr_t)at, 0xC3, (size_t)384 * fake.config.grid_x);
    return at;
}

static bool apart(uint64_t a, uint64_t b, uint64_t bytes)
{
    return a + bytes <= b || b + bytes <= a;
}

static void each_stream_has_one(void **state)
{
    (void)state;
    World *w = open_world(MAPS);
    set(w, 100);
    uint64_t null = room_on(w, 0), a = room_on(w, 0x100), b = room_on(w, 0x200);
    assert_true(apart(null, a, 38400) && apart(null, b, 38400) && apart(a, b, 38400));
    unsigned allocs = fake.allocs;
    assert_int_equal(room_on(w, 0), null);
    assert_int_equal(room_on(w, CU_STREAM_OF_DEVICE), null);
    assert_int_equal(room_on(w, 0x100), a);
    set(w, 3); /* fewer CTAs */
    assert_int_equal(room_on(w, 0x200), b);
    assert_int_equal(fake.allocs, allocs);
    fake.generation = 1; /* another stream with the handle of one that is gone */
    set(w, 100);
    assert_true(apart(room_on(w, 0x100), a, 38400));
    fake.generation = 0;
    for (uintptr_t i = 0; i < 100; i++) room_on(w, 0x10000 + 16 * i);
    assert_int_equal(room_on(w, 0x100), a); /* found in a table that has grown */
    close_world(w);
}

static void it_grows(void **state)
{
    (void)state;
    World *w = open_world(MAPS);
    set(w, 1);
    uint64_t small = room_on(w, 0);
    set(w, 100);
    uint64_t large = room_on(w, 0);
    assert_int_not_equal(small, large);
    *(volatile uint8_t *)(uintptr_t)small = 1; /* a launch that is on its way may still use it */
    set(w, 1);
    assert_int_equal(room_on(w, 0), large);
    close_world(w);
}

static void captured_launches_share_nothing(void **state)
{
    (void)state;
    World *w = open_world(MAPS);
    set(w, 4);
    uint64_t plain = room_on(w, 0x100), seen[20];
    fake.capturing = fake.capture_status = CU_CAPTURE_ACTIVE;
    for (int i = 0; i < 20; i++) {
        seen[i] = room_on(w, 0x100);
        assert_true(apart(seen[i], plain, 1536));
        for (int j = 0; j < i; j++) assert_true(apart(seen[i], seen[j], 1536));
    }
    assert_int_equal(fake.mode, 0); /* as it was */
    fake.capturing = fake.capture_status = 0;
    assert_int_equal(room_on(w, 0x100), plain);
    close_world(w);
}

static void no_memory_is_said(void **state)
{
    (void)state;
    World *w = open_world(MAPS);
    set(w, 1);
    room_on(w, 0);
    fake.alloc_result = CU_OUT_OF_MEMORY;
    set(w, 100);
    assert_int_equal(tile_launch(w->args, NULL, &w->err), TILE_ERROR_MEMORY);
    assert_says(w, "E1161");
    assert_says(w, "38400 bytes for the tensor maps that this launch makes");
    fake.alloc_result = CU_INVALID_VALUE; /* what else the driver has against it: a launch before may have failed */
    assert_int_equal(tile_launch(w->args, NULL, &w->err), TILE_ERROR_DRIVER);
    assert_says(w, "cuMemAlloc failed");
    fake.alloc_result = CU_OK;
    room_on(w, 0);
    close_world(w);
}

static void manifests_say_how_much(void **state)
{
    (void)state;
    static const struct {
        uint32_t maps;
        const char *text;
    } bad[] = {{100, "the room for maps has another size"}, {2 << 20, "the room for maps has another size"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        fake_reset();
        World *w = world_new();
        Variant v = *MAPS;
        v.maps = bad[i].maps;
        assert_int_equal(world_load(w, &v), TILE_ERROR_MODULE);
        assert_says(w, bad[i].text);
        close_world(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(each_stream_has_one, setup),
        cmocka_unit_test_setup(it_grows, setup),
        cmocka_unit_test_setup(captured_launches_share_nothing, setup),
        cmocka_unit_test_setup(no_memory_is_said, setup),
        cmocka_unit_test_setup(manifests_say_how_much, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
