/* Kernels whose work is dealt (deal_kernels.h) on the simulator: persistent loops with several turns, tickets, clusters
 * that hand them round, cache hints. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/deal_kernels.h"
#include "tile.h"

typedef struct Sim {
    tile_device *device;
    tile_module *module;
    tile_args *args;
    uint64_t src, dst;
    tile_error err;
} Sim;

static void open_sim(Sim *s, const Deal *d)
{
    *s = (Sim){0};
    jmp_buf no_memory;
    Mem mem = {.fail = &no_memory};
    if (setjmp(no_memory)) fail_msg("out of memory");
    Arena arena;
    Text ptx;
    arena_init(&arena, &mem);
    text_init(&ptx, &mem);
    write_module(d, &arena, &ptx);
    if (tile_device_open(d->device, &s->device, &s->err) != TILE_OK ||
        tile_module_load(s->device, ptx.s, ptx.n, &s->module, &s->err) != TILE_OK ||
        tile_args_new(tile_kernel_at(s->module, 0), &s->args, &s->err) != TILE_OK ||
        tile_alloc(s->device, MOST * 4, &s->src, &s->err) != TILE_OK ||
        tile_alloc(s->device, MOST * 4, &s->dst, &s->err) != TILE_OK)
        fail_msg("%s", s->err.text);
    text_free(&ptx);
    arena_free(&arena);
    uint32_t words[MOST];
    for (uint32_t i = 0; i < MOST; i++) words[i] = deal_source(i);
    assert_int_equal(tile_write(s->device, s->src, words, sizeof words, &s->err), TILE_OK);
}

static void close_sim(Sim *s)
{
    tile_args_free(s->args);
    tile_module_free(s->module);
    tile_device_close(s->device);
}

static tile_status launch(Sim *s, int64_t length)
{
    uint32_t words[MOST];
    for (uint32_t i = 0; i < MOST; i++) words[i] = OLD;
    assert_int_equal(tile_write(s->device, s->dst, words, sizeof words, &s->err), TILE_OK);
    assert_int_equal(tile_bind(s->args, "src", s->src, 0, TILE_U32, 1, &length, NULL, &s->err), TILE_OK);
    assert_int_equal(tile_bind(s->args, "dst", s->dst, 0, TILE_U32, 1, &length, NULL, &s->err), TILE_OK);
    return tile_launch(s->args, NULL, &s->err);
}

/* Each element was added to once, by a grid of that many CTAs, and those behind the end not at all. */
static void launch_and_compare(Sim *s, int64_t length, uint32_t ctas, uint32_t hints)
{
    tile_launch_facts f;
    uint32_t words[MOST];
    if (launch(s, length) != TILE_OK) fail_msg("length %d: %s", (int)length, s->err.text);
    assert_int_equal(tile_launch_info(s->args, &f, &s->err), TILE_OK);
    assert_int_equal(f.grid[0], ctas);
    assert_int_equal(tile_read(s->device, words, s->dst, sizeof words, &s->err), TILE_OK);
    for (uint32_t i = 0; i < MOST; i++)
        assert_int_equal(words[i], (int64_t)i < length ? OLD + deal_source(i) + hints : OLD);
}

static void loops_take_every_iteration_once(void **state)
{
    (void)state;
    static const Deal cases[] = {
        {DEAL_STATIC, MF_DEAL_STATIC, 1, 1, 32, "sim"},
        {DEAL_STATIC, MF_DEAL_STATIC, 2, 1, 32, "sim:check,seed=5"},
        {DEAL_TICKETS, MF_DEAL_TICKET, 1, 1, 32, "sim"},
        {DEAL_TICKETS, MF_DEAL_TICKET, 2, 1, 32, "sim:fast"},
        {DEAL_TICKETS, MF_DEAL_TICKET, 2, 1, 32, "sim:fuzz,schedules=8"},
        {DEAL_CLUSTERS, MF_DEAL_TICKET, 2, 2, 64, "sim"},
        {DEAL_CLUSTERS, MF_DEAL_TICKET, 2, 2, 64, "sim:fast"},
        {DEAL_CLUSTERS, MF_DEAL_TICKET, 2, 2, 64, "sim:fuzz,schedules=8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Deal *d = &cases[i];
        uint32_t most = 3 * d->per_sm; /* three SMs */
        Sim s;
        open_sim(&s, d);
        launch_and_compare(&s, 100, most, 0);
        launch_and_compare(&s, 100, most, 0); /* the counter is as it was */
        launch_and_compare(&s, 2, 2, 0);
        launch_and_compare(&s, 8, most < 8 ? most : 8, 0);
        launch_and_compare(&s, MOST, most, 0);
        close_sim(&s);
    }
}

static void machines_are_as_large_as_told(void **state)
{
    (void)state;
    static const Deal cases[] = {
        {DEAL_TICKETS, MF_DEAL_TICKET, 1, 1, 32, "sim:sms=1"},
        {DEAL_TICKETS, MF_DEAL_TICKET, 4, 1, 32, "sim:sms=132,fast"},
        {DEAL_TICKETS, MF_DEAL_TICKET, 4, 1, 1024, "sim:sms=3"},
        {DEAL_CLUSTERS, MF_DEAL_TICKET, 1, 2, 64, "sim:sms=1"},
        {DEAL_CLUSTERS, MF_DEAL_TICKET, 1, 2, 64, "sim:sms=2"},
        {DEAL_TICKETS, MF_DEAL_TICKET, 1, 1, 32, "sim:l2=599"},
        {DEAL_TICKETS, MF_DEAL_TICKET, 1, 1, 32, "sim:l2=600"},
    };
    static const uint32_t ctas[] = {1, MOST, 6, 2, 4, 3, 3};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Sim s;
        open_sim(&s, &cases[i]);
        launch_and_compare(&s, MOST, ctas[i], i == 5);
        close_sim(&s);
    }
    tile_device *d;
    tile_error err;
    static const char *const wrong[] = {"sim:sms=0", "sim:sms=133", "sim:sms=", "sim:l2=-1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(tile_device_open(wrong[i], &d, &err), TILE_ERROR_ARGUMENT);
        assert_non_null(strstr(err.text, "takes a number from"));
    }
}

static void counters_are_left_at_0(void **state)
{
    (void)state;
    Sim s;
    open_sim(&s, &(Deal){DEAL_UNWRAPPED, MF_DEAL_TICKET, 2, 1, 32, "sim"});
    for (int i = 0; i < 2; i++) { /* the second launch finds a clean counter again */
        assert_int_equal(launch(&s, 100), TILE_ERROR_KERNEL);
        assert_string_equal(s.err.text, "E1138: kernel `k` leaves 100 in the counter of its tickets, not 0");
    }
    close_sim(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_take_every_iteration_once),
        cmocka_unit_test(machines_are_as_large_as_told),
        cmocka_unit_test(counters_are_left_at_0),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
