/* The copy engine on a machine made by hand: what is moved and when it is seen, groups, completions, refusals. Expected
 * bytes come from plain loops; rules from the PTX ISA (cp.async.bulk, .tensor, cp.reduce.async.bulk, st.async) and
 * measurements on an H200. */
#include "tests/unit/sim_hand.h"

#include "runtime/sim/copies/async.h"
#include "runtime/sim/trace/trace.h"

enum { THREADS = 32, BAR = 0, DATA = 1024, BYTES = 4096 };

typedef struct Engine {
    Hand h;
    SimMemory memory;
    SimCluster *resident[1];
    SimBlock *in, *out;
    SimThread *t;
} Engine;

static Engine *engine;

static SimMachine *machine(void)
{
    return &engine->h.m;
}

static void make(uint32_t nctas, bool checking, uint64_t seed)
{
    Engine *e = engine;
    if (e->h.m.async) async_free(&e->h.m);
    hand_make(&e->h, nctas, THREADS);
    sim_memory_free(&e->memory);
    sim_memory_init(&e->memory, 1 << 24);
    memset(e->h.m.hints, 0, sizeof e->h.m.hints);
    e->h.m.ready.n = 0;
    e->h.m.stats = (SimStats){0};
    e->h.m.memory = &e->memory;
    e->h.m.checking = checking;
    e->h.m.rng.s = seed;
    e->h.m.resident = e->resident;
    e->h.m.nresident = 1;
    e->resident[0] = &e->h.cluster;
    e->in = sim_alloc(&e->memory, 65536);
    e->out = sim_alloc(&e->memory, 65536);
    for (uint32_t i = 0; i < 65536; i++) e->in->data[i] = (uint8_t)(i * 7 + i / 256);
    e->t = &e->h.cta[0].threads[0];
    async_init(&e->h.m);
}

static int engine_open(void **state)
{
    engine = test_calloc(1, sizeof *engine);
    engine->h.m.mem.fail = &engine->h.fail;
    if (setjmp(engine->h.fail)) abort();
    arena_init(&engine->h.m.arena, &engine->h.m.mem);
    text_init(&engine->h.m.finding, &engine->h.m.mem);
    *state = engine;
    return 0;
}

static int engine_close(void **state)
{
    Engine *e = *state;
    if (e->h.m.async) async_free(&e->h.m);
    if (e->h.m.trace) trace_close(e->h.m.trace);
    sim_memory_free(&e->memory);
    text_free(&e->h.m.finding);
    arena_free(&e->h.m.arena);
    test_free(e);
    return 0;
}
#define by_engine(test) cmocka_unit_test_setup_teardown(test, engine_open, engine_close)

static uint64_t shared(uint32_t rank, uint32_t offset)
{
    return ((uint64_t)rank << SIM_SMEM_RANK) + SIM_SMEM_BASE + offset;
}

static void init_barrier(uint32_t rank, uint32_t offset)
{
    SimCta *cta = &engine->h.cta[rank];
    SimLoc at = {.space = PTX_SPACE_SHARED, .cta = cta, .offset = offset, .data = cta->smem + offset};
    assert_true(mbar_init(machine(), &cta->threads[0], &at, 1));
}

/* arrive.expect_tx by the first thread of the CTA */
static void expect_bytes(uint32_t rank, uint32_t offset, uint32_t bytes)
{
    SimCta *cta = &engine->h.cta[rank];
    SimLoc at = {.space = PTX_SPACE_SHARED, .cta = cta, .offset = offset, .data = cta->smem + offset};
    assert_true(mbar_arrive(machine(), &cta->threads[0], &at, 1, bytes, true, false, false, false, NULL));
}

static uint64_t phases(uint32_t rank, uint32_t offset)
{
    return mbar_find(&engine->h.cta[rank], offset)->phase;
}

/* Operands: slots 0 .. of the thread. */
static FormOp *form(InstrForm id)
{
    return hand_form(&engine->h, 0, id, 0);
}

static void set(Slot *where, Slot slot, uint64_t v)
{
    engine->t->slot[slot] = v;
    *where = slot;
}

static FormOp *bulk(InstrForm id, uint64_t dst, uint64_t src, uint64_t global, uint32_t size)
{
    FormOp *f = form(id);
    if (dst) set(&f->dst, 0, dst);
    if (src) set(&f->src, 1, src);
    if (global) set(&f->gaddr, 2, global);
    set(&f->size, 3, size);
    set(&f->mbar, 4, shared(0, BAR));
    return f;
}

static void finish(void)
{
    for (int i = 0; i < 100000 && async_pending(machine()); i++) assert_true(async_step(machine()));
    assert_int_equal(async_pending(machine()), 0);
    for (uint32_t r = 0; r < engine->h.cluster.nctas; r++) assert_int_equal(engine->h.cta[r].copies, 0);
}

/* ---- loads ---- */

static void a_bulk_load_is_late_and_arrives(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 30; seed++) {
        make(1, true, seed);
        uint8_t *to = engine->h.cta[0].smem + DATA;
        const uint8_t *from = engine->in->data + 256;
        init_barrier(0, BAR);
        FormOp *f = bulk(FORM_BULK_LOAD_CTA, shared(0, DATA), 0, engine->in->address + 256, BYTES);
        assert_true(async_issue(machine(), engine->t, f));
        assert_int_equal(async_pending(machine()), 1);
        assert_memory_not_equal(to, from, BYTES); /* noise */
        assert_int_equal(to[BYTES], 0);
        expect_bytes(0, BAR, BYTES);
        while (async_pending(machine())) {
            assert_int_equal(phases(0, BAR), 0);
            assert_true(async_step(machine()));
            if (phases(0, BAR)) assert_memory_equal(to, from, BYTES);
        }
        finish();
        assert_int_equal(phases(0, BAR), 1);
        assert_memory_equal(to, from, BYTES);
        assert_int_equal(to[BYTES], 0);
        assert_int_equal(machine()->stats.copies, 1);
        assert_int_equal(machine()->stats.copy_bytes, BYTES);
    }
}

static void in_fast_mode_it_is_there_at_once(void **state)
{
    (void)state;
    make(1, false, 1);
    init_barrier(0, BAR);
    assert_true(
        async_issue(machine(), engine->t, bulk(FORM_BULK_LOAD_CTA, shared(0, DATA), 0, engine->in->address, BYTES)));
    assert_int_equal(async_pending(machine()), 0);
    assert_memory_equal(engine->h.cta[0].smem + DATA, engine->in->data, BYTES);
    expect_bytes(0, BAR, BYTES); /* behind the bytes */
    assert_int_equal(phases(0, BAR), 1);
}

static void multicast_reaches_each_cta_and_its_barrier(void **state)
{
    (void)state;
    for (int checking = 0; checking < 2; checking++) {
        make(4, checking, 5);
        for (uint32_t r = 0; r < 4; r++) init_barrier(r, BAR);
        FormOp *f = bulk(FORM_BULK_LOAD_MULTICAST, shared(0, DATA), 0, engine->in->address, BYTES);
        set(&f->mask, 5, 0xB);
        assert_true(async_issue(machine(), engine->t, f));
        for (uint32_t r = 0; r < 4; r++)
            if (r != 2) expect_bytes(r, BAR, BYTES);
        finish();
        for (uint32_t r = 0; r < 4; r++) {
            assert_int_equal(phases(r, BAR), r != 2);
            if (r == 2) assert_int_equal(engine->h.cta[r].smem[DATA + 1], 0);
            else assert_memory_equal(engine->h.cta[r].smem + DATA, engine->in->data, BYTES);
        }
    }
}

static MapDesc plane(void) /* 20 rows of 40 f16, 96 bytes apart */
{
    return (MapDesc){.rank = 2,
                     .type = MAP_F16,
                     .address = (int64_t)engine->in->address,
                     .dim = {20, 40},
                     .pitch = {96},
                     .box = {8, 64},
                     .elem_stride = {1, 1},
                     .swizzle = MAP_SWIZZLE_128B,
                     .is_load = true};
}

static FormOp *tensor(InstrForm id, const MapDesc *d, uint64_t memory, int32_t x, int32_t y)
{
    FormOp *f = form(id);
    uint8_t *map = engine->out->data + 32768;
    sim_map_encode(d, map);
    set(id == FORM_TMA_STORE_TILE || id == FORM_TMA_REDUCE_TILE ? &f->src : &f->dst, 0, memory);
    set(&f->map, 1, engine->out->address + 32768);
    set(&f->mbar, 2, shared(0, BAR));
    set(&f->coords[0], 3, (uint32_t)x); /* 32-bit registers */
    set(&f->coords[1], 4, (uint32_t)y);
    f->dim = f->ncoords = 2;
    return f;
}

static void a_tensor_load_fills_and_swizzles(void **state)
{
    (void)state;
    for (int checking = 0; checking < 2; checking++) {
        make(1, checking, 9);
        MapDesc d = plane();
        init_barrier(0, BAR);
        assert_true(async_issue(machine(), engine->t, tensor(FORM_TMA_LOAD_TILE_CTA, &d, shared(0, DATA), -8, 15)));
        expect_bytes(0, BAR, 8 * 128);
        finish();
        assert_int_equal(phases(0, BAR), 1);
        for (int r = 0; r < 8; r++)
            for (int b = 0; b < 128; b++) {
                int x = b - 16, y = 15 + r;
                uint8_t want = x >= 0 && x < 80 && y < 20 ? engine->in->data[y * 96 + x] : 0;
                uint32_t line = (SIM_SMEM_BASE + DATA) / 128 + (uint32_t)r;
                assert_int_equal(engine->h.cta[0].smem[DATA + r * 128 + (b ^ (int)(line % 8 * 16))], want);
            }
    }
}

static void the_map_counts_as_it_is_when_the_copy_starts(void **state)
{
    (void)state;
    make(1, true, 3);
    MapDesc d = plane();
    init_barrier(0, BAR);
    assert_true(async_issue(machine(), engine->t, tensor(FORM_TMA_LOAD_TILE_CTA, &d, shared(0, DATA), 0, 0)));
    d.address += 96; /* one row on */
    sim_map_encode(&d, engine->out->data + 32768);
    expect_bytes(0, BAR, 8 * 128);
    finish();
    uint32_t line = (SIM_SMEM_BASE + DATA) / 128 % 8;
    assert_memory_equal(engine->h.cta[0].smem + DATA + line * 16, engine->in->data + 96, 16);
    /* and what is no map any more is found then */
    expect_bytes(0, BAR, 8 * 128);
    assert_true(async_issue(machine(), engine->t, tensor(FORM_TMA_LOAD_TILE_CTA, &d, shared(0, DATA), 0, 0)));
    engine->out->data[32768 + 20] ^= 1;
    while (async_pending(machine()) && async_step(machine())) {
    }
    expect_finding(&engine->h, E1324, "changed after the copy was issued");
}

/* ---- stores and groups ---- */

static void a_store_reads_its_source_late(void **state)
{
    (void)state;
    make(1, true, 4);
    uint8_t *from = engine->h.cta[0].smem + DATA;
    memset(from, 1, BYTES);
    assert_true(
        async_issue(machine(), engine->t, bulk(FORM_BULK_STORE, 0, shared(0, DATA), engine->out->address, BYTES)));
    assert_int_equal(engine->t->open_copies, 1);
    memset(from, 2, BYTES); /* too early: it is what is stored */
    finish();
    for (int i = 0; i < BYTES; i++) assert_int_equal(engine->out->data[i], 2);
}

static void groups_are_left_until_their_copies_are_done(void **state)
{
    (void)state;
    uint32_t reads_first = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        make(1, true, seed);
        SimThread *t = engine->t;
        for (uint32_t g = 0; g < 3; g++) {
            for (uint32_t i = 0; i < 2; i++)
                assert_true(async_issue(
                    machine(), t,
                    bulk(FORM_BULK_STORE, 0, shared(0, DATA), engine->out->address + 4096 * (2 * g + i), 2048)));
            t->committed++;
        }
        assert_true(async_issue(
            machine(), t, bulk(FORM_BULK_STORE, 0, shared(0, DATA), engine->out->address + 30000 / 16 * 16, 2048)));
        assert_int_equal(async_groups_left(t, machine(), false), 3);
        assert_int_equal(async_groups_left(t, machine(), true), 3);
        uint64_t all = 3, read = 3;
        while (async_pending(machine())) {
            assert_true(async_step(machine()));
            uint64_t a = async_groups_left(t, machine(), false), r = async_groups_left(t, machine(), true);
            assert_true(a <= all && r <= read && r <= a);
            all = a;
            read = r;
            reads_first += r < a;
        }
        assert_int_equal(all, 0);
        assert_int_equal(async_groups_left(&engine->h.cta[0].threads[1], machine(), false), 0);
    }
    assert_true(reads_first > 0); /* reads end before the writes at times */
}

static void who_waits_for_a_group_is_woken(void **state)
{
    (void)state;
    for (int read = 0; read < 2; read++) {
        make(1, true, 11);
        SimThread *t = engine->t;
        assert_true(async_issue(machine(), t, bulk(FORM_BULK_STORE, 0, shared(0, DATA), engine->out->address, BYTES)));
        t->committed++;
        t->group_read = read;
        t->group_target = 0;
        sim_block(machine(), t, WAIT_GROUP);
        uint64_t before = machine()->progress;
        while (t->wait == WAIT_GROUP) {
            assert_true(async_pending(machine()) > 0);
            assert_true(async_step(machine()));
        }
        assert_true(machine()->progress > before);
        assert_int_equal(async_groups_left(t, machine(), read), 0);
        finish();
    }
}

static void a_tensor_store_clips(void **state)
{
    (void)state;
    for (int checking = 0; checking < 2; checking++) {
        make(1, checking, 12);
        MapDesc d = plane();
        d.address = (int64_t)engine->out->address;
        d.swizzle = MAP_SWIZZLE_NONE;
        for (int i = 0; i < 1024; i++) engine->h.cta[0].smem[DATA + i] = (uint8_t)(1 + i % 251);
        assert_true(async_issue(machine(), engine->t, tensor(FORM_TMA_STORE_TILE, &d, shared(0, DATA), 8, 15)));
        finish();
        for (int y = 0; y < 24; y++)
            for (int x = 0; x < 96; x++) {
                bool in = x >= 16 && x < 80 && y >= 15 && y < 20;
                int i = (y - 15) * 128 + x - 16;
                assert_int_equal(engine->out->data[y * 96 + x], in ? 1 + i % 251 : 0);
            }
    }
}

static void reductions_add(void **state)
{
    (void)state;
    for (int checking = 0; checking < 2; checking++) {
        make(2, checking, 13);
        uint32_t values[64], *global = (uint32_t *)(void *)engine->out->data,
                             *peer = (uint32_t *)(void *)(engine->h.cta[1].smem + DATA);
        for (uint32_t i = 0; i < 64; i++) {
            values[i] = i;
            global[i] = 100 * i;
            peer[i] = i;
        }
        memcpy(engine->h.cta[0].smem + DATA, values, sizeof values);
        FormOp *f = bulk(FORM_BULK_REDUCE, 0, shared(0, DATA), engine->out->address, sizeof values);
        f->op = RED_ADD;
        f->type = PTX_U32;
        assert_true(async_issue(machine(), engine->t, f));
        finish();
        init_barrier(1, BAR);
        f = bulk(FORM_BULK_REDUCE_PEER, shared(1, DATA), shared(0, DATA), 0, sizeof values);
        set(&f->mbar, 4, shared(1, BAR));
        f->op = RED_MAX;
        f->type = PTX_S32;
        values[5] = 1000;
        memcpy(engine->h.cta[0].smem + DATA, values, sizeof values);
        assert_true(async_issue(machine(), engine->t, f));
        expect_bytes(1, BAR, sizeof values);
        finish();
        assert_int_equal(phases(1, BAR), 1);
        for (uint32_t i = 0; i < 64; i++) {
            assert_int_equal(global[i], 101 * i);
            assert_int_equal(peer[i], i == 5 ? 1000 : i);
        }
    }
}

static void a_tensor_reduction_takes_the_type_of_its_map(void **state)
{
    (void)state;
    for (int checking = 0; checking < 2; checking++) {
        make(1, checking, 14);
        MapDesc d = plane();
        d.address = (int64_t)engine->out->address;
        d.swizzle = MAP_SWIZZLE_NONE;
        uint16_t one = 0x3C00, two = 0x4000;
        for (int i = 0; i < 512; i++) memcpy(engine->h.cta[0].smem + DATA + 2 * i, &one, 2);
        for (int i = 0; i < 20 * 48; i++) memcpy(engine->out->data + 2 * i, &one, 2);
        FormOp *f = tensor(FORM_TMA_REDUCE_TILE, &d, shared(0, DATA), 0, 0);
        f->op = RED_ADD;
        assert_true(async_issue(machine(), engine->t, f));
        finish();
        for (int y = 0; y < 20; y++)
            for (int x = 0; x < 48; x++)
                assert_memory_equal(engine->out->data + y * 96 + 2 * x, y < 8 && x < 40 ? &two : &one, 2);
        f->op = RED_INC;
        assert_false(async_issue(machine(), engine->t, f));
        expect_finding(&engine->h, E1318, "reduction");
    }
}

/* ---- small stores ---- */

static void small_stores_to_a_peer(void **state)
{
    (void)state;
    for (int checking = 0; checking < 2; checking++) {
        make(2, checking, 15);
        init_barrier(1, BAR);
        FormOp *f = hand_form(&engine->h, 0, FORM_ST_ASYNC, 4);
        set(&f->dst, 0, shared(1, DATA));
        set(&f->mbar, 1, shared(1, BAR));
        for (Slot i = 0; i < 4; i++) set(&f->value[i], 2 + i, UINT64_C(0xAA00000000) + 7 * i);
        f->type = PTX_B32;
        assert_true(async_store(machine(), engine->t, f));
        engine->t->slot[2] = 99; /* the value was taken when it was issued */
        expect_bytes(1, BAR, 16);
        finish();
        uint32_t *at = (uint32_t *)(void *)(engine->h.cta[1].smem + DATA);
        for (uint32_t i = 0; i < 4; i++) assert_int_equal(at[i], 7 * i);
        f = hand_form(&engine->h, 0, FORM_RED_ASYNC, 1);
        set(&f->dst, 0, shared(1, DATA));
        set(&f->mbar, 1, shared(1, BAR));
        set(&f->value[0], 2, 5);
        f->type = PTX_U32;
        f->op = RED_ADD;
        assert_true(async_store(machine(), engine->t, f));
        expect_bytes(1, BAR, 4);
        finish();
        assert_int_equal(at[0], 5);
        assert_int_equal(phases(1, BAR), 2);
    }
}

/* ---- refusals ---- */

static void refused(FormOp *f, ErrorCode code, const char *part)
{
    assert_false(async_issue(machine(), engine->t, f));
    expect_finding(&engine->h, code, part);
    assert_int_equal(async_pending(machine()), 0);
}

static void operands_of_bulk_copies(void **state)
{
    (void)state;
    make(2, true, 16);
    uint64_t in = engine->in->address, dst = shared(0, DATA);
    init_barrier(0, BAR);
    init_barrier(1, BAR);
    refused(bulk(FORM_BULK_LOAD_CTA, dst + 8, 0, in, 64), E1314, "16");
    refused(bulk(FORM_BULK_LOAD_CTA, dst, 0, in + 8, 64), E1314, "16");
    refused(bulk(FORM_BULK_LOAD_CTA, dst, 0, in, 24), E1318, "24 bytes");
    refused(bulk(FORM_BULK_LOAD_CTA, dst, 0, in + 65536 - 32, 64), E1313, "over the end");
    refused(bulk(FORM_BULK_LOAD_CTA, shared(0, HAND_SMEM - 32), 0, in, 64), E1313, "over the end");
    refused(bulk(FORM_BULK_LOAD_CTA, shared(1, DATA), 0, in, 64), E1313, "another CTA");
    refused(bulk(FORM_BULK_LOAD_CLUSTER, shared(1, DATA), 0, in, 64), E1318, "mbarrier");
    refused(bulk(FORM_BULK_STORE, 0, shared(1, DATA), engine->out->address, 64), E1313, "another CTA");
    engine->out->read_only = true;
    refused(bulk(FORM_BULK_STORE, 0, dst, engine->out->address, 64), E1328, NULL);
    FormOp *f = bulk(FORM_BULK_LOAD_MULTICAST, dst, 0, in, 64);
    set(&f->mask, 5, 0);
    refused(f, E1327, "mask is 0");
    set(&f->mask, 5, 4);
    refused(f, E1327, "2 CTAs");
    assert_true(async_issue(machine(), engine->t, bulk(FORM_BULK_LOAD_CTA, dst, 0, in, 0)));
    assert_int_equal(async_pending(machine()), 0);
    assert_true(async_issue(machine(), engine->t, bulk(FORM_BULK_PREFETCH, 0, 0, 0x1000, 64))); /* touches nothing */
    refused(bulk(FORM_BULK_PREFETCH, 0, 0, in + 4, 64), E1314, NULL);
}

static void a_copy_to_itself_needs_a_cluster_launch(void **state)
{
    (void)state;
    make(1, true, 17);
    init_barrier(0, BAR);
    refused(bulk(FORM_BULK_PEER, shared(0, DATA), shared(0, 8192), 0, 64), E1327, "itself");
    make(2, true, 17);
    init_barrier(0, BAR);
    memset(engine->h.cta[0].smem + 8192, 77, 64);
    assert_true(async_issue(machine(), engine->t, bulk(FORM_BULK_PEER, shared(0, DATA), shared(0, 8192), 0, 64)));
    expect_bytes(0, BAR, 64);
    finish();
    assert_int_equal(engine->h.cta[0].smem[DATA + 63], 77);
}

static void operands_of_tensor_copies(void **state)
{
    (void)state;
    make(1, true, 18);
    init_barrier(0, BAR);
    MapDesc d = plane();
    refused(tensor(FORM_TMA_LOAD_TILE_CTA, &d, shared(0, DATA + 64), 0, 0), E1314, "128");
    refused(tensor(FORM_TMA_LOAD_TILE_CTA, &d, shared(0, DATA), 4, 0), E1318, "16 bytes");
    refused(tensor(FORM_TMA_STORE_TILE, &d, shared(0, DATA), 0, -1), E1318, "-1");
    refused(tensor(FORM_TMA_LOAD_TILE_CTA, &d, shared(0, HAND_SMEM - 512), 0, 0), E1313, NULL);
    refused(tensor(FORM_TMA_LOAD_GATHER4_CTA, &d, shared(0, DATA), 0, 0), E1318, "mode");
    FormOp *f = tensor(FORM_TMA_LOAD_TILE_CTA, &d, shared(0, DATA), 0, 0);
    f->ncoords = 3;
    set(&f->coords[2], 5, 0);
    refused(f, E1318, "rank 2");
    f = tensor(FORM_TMA_LOAD_TILE_CTA, &d, shared(0, DATA), 0, 0);
    engine->t->slot[1] += 64; /* not where it is */
    refused(f, E1324, "no tensor map");
    engine->t->slot[1] += 8;
    refused(f, E1314, NULL);
    engine->t->slot[1] = SIM_SHARED_BASE + shared(0, 4096);
    refused(f, E1318, "constant or global");
    d.address += 65536 - 96 * 10; /* ten rows of it are in memory */
    refused(tensor(FORM_TMA_LOAD_TILE_CTA, &d, shared(0, DATA), 0, 8), E1313, "in no allocation");
    assert_true(async_issue(machine(), engine->t, tensor(FORM_TMA_LOAD_TILE_CTA, &d, shared(0, DATA), 0, 0)));
    expect_bytes(0, BAR, 1024);
    finish();
    f = tensor(FORM_TMA_PREFETCH_TILE, &d, shared(0, DATA), -8, -80);
    assert_true(async_issue(machine(), engine->t, f)); /* measured: harmless */
    engine->t->slot[3] = 4;
    refused(f, E1318, NULL);
}

static void data_for_a_cta_that_is_gone(void **state)
{
    (void)state;
    for (uint32_t r = 0; r < 2; r++) {
        make(2, true, 19);
        init_barrier(r, BAR);
        FormOp *f = bulk(FORM_BULK_LOAD_CLUSTER, shared(r, DATA), 0, engine->in->address, BYTES);
        set(&f->mbar, 4, shared(r, BAR));
        assert_true(async_issue(machine(), engine->t, f));
        assert_int_equal(engine->h.cta[r].copies, 1);
        engine->h.cta[r].exited = true;
        while (async_step(machine())) assert_true(async_pending(machine()) > 0);
        expect_finding(&engine->h, r ? E1311 : E1317, "exited");
    }
    make(1, true, 20);
    assert_true(
        async_issue(machine(), engine->t, bulk(FORM_BULK_STORE, 0, shared(0, DATA), engine->out->address, BYTES)));
    engine->h.cta[0].exited = true;
    while (async_step(machine())) assert_true(async_pending(machine()) > 0);
    expect_finding(&engine->h, E1312, "exited");
}

static void a_destination_without_a_barrier(void **state)
{
    (void)state;
    make(1, false, 21);
    refused(bulk(FORM_BULK_LOAD_CTA, shared(0, DATA), 0, engine->in->address, 64), E1307, NULL);
}

/* ---- reports and traces ---- */

static void tasks_can_be_described(void **state)
{
    (void)state;
    make(1, true, 22);
    Text out;
    text_init(&out, &machine()->mem);
    for (int i = 0; i < 25; i++)
        assert_true(
            async_issue(machine(), engine->t, bulk(FORM_BULK_STORE, 0, shared(0, DATA), engine->out->address, 64)));
    async_describe(machine(), &out);
    assert_non_null(strstr(out.s, "a copy of 64 bytes"));
    assert_non_null(strstr(out.s, "and 5 more copies"));
    text_free(&out);
}

static char *read_all(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL) return NULL;
    static char text[100000];
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    return text;
}

static void a_trace_shows_issue_arrival_and_wait(void **state)
{
    (void)state;
    make(1, true, 23);
    SimThread *t = engine->t;
    machine()->trace = trace_open(&machine()->mem);
    t->role = "lo\"ad";
    init_barrier(0, BAR);
    assert_true(async_issue(machine(), t, bulk(FORM_BULK_LOAD_CTA, shared(0, DATA), 0, engine->in->address, BYTES)));
    expect_bytes(0, BAR, BYTES);
    machine()->stats.steps = 10;
    finish();
    t->wait = WAIT_MBARRIER;
    t->on = mbar_find(t->cta, BAR);
    t->on_phase = 1;
    trace_wait(machine(), t, 2, 5, false);
    trace_wait(machine(), t, 7, 14, false); /* it polled in between: the same slice */
    t->wait = WAIT_NONE;
    machine()->stats.steps = 14;
    trace_seen(machine(), t, t->cta, BAR, 1);
    char why[200], path[] = "sim_async_trace.json";
    assert_true(trace_write(machine(), path, why, sizeof why));
    const char *s = read_all(path);
    assert_non_null(s);
    assert_non_null(strstr(s, "\"warp 0, role lo\\\"ad\""));
    assert_non_null(strstr(s, "\"ts\":2,\"dur\":12,\"name\":\"wait: smem+0 phase 0\""));
    assert_non_null(strstr(s, "\"name\":\"load "));
    assert_non_null(strstr(s, "copy 1 arrived"));
    assert_non_null(strstr(s, "smem+0: phase 0 over"));
    assert_non_null(strstr(s, "smem+0: phase 0 seen"));
    int starts = 0;
    for (const char *p = s; (p = strstr(p, "\"ph\":\"s\"")); p++) starts++;
    assert_int_equal(starts, 2); /* issue to arrival, phase to wait */
    remove(path);
    assert_false(trace_write(machine(), "/no/such/folder/x.json", why, sizeof why));
    assert_non_null(strstr(why, "/no/such/folder/x.json"));
}

static int count_of(const char *s, const char *word)
{
    int n = 0;
    for (const char *p = s; (p = strstr(p, word)); p++) n++;
    return n;
}

/* Issue -> reads done -> wait_group.read; issue -> all done -> wait_group. What waits at the end never ended. */
static void a_trace_shows_groups_open_waits_and_the_finding(void **state)
{
    (void)state;
    make(1, true, 24);
    SimThread *t = engine->t;
    machine()->trace = trace_open(&machine()->mem);
    assert_true(async_issue(machine(), t, bulk(FORM_BULK_STORE, 0, shared(0, DATA), engine->out->address, 64)));
    t->committed = 1;
    finish();
    trace_groups(machine(), t, 0, 1, true);
    trace_groups(machine(), t, 0, 1, false);
    t->wait = WAIT_GROUP;
    trace_wait(machine(), t, 3, 9, true);
    t->wait = WAIT_NONE;
    sim_fail(machine(), E1301, t, "stuck");
    char why[200], path[] = "sim_async_groups.json";
    assert_true(trace_write(machine(), path, why, sizeof why));
    const char *s = read_all(path);
    assert_non_null(s);
    assert_int_equal(count_of(s, "\"name\":\"store 64 bytes\""), 1);
    assert_int_equal(count_of(s, "copy 1 has read"), 1);
    assert_int_equal(count_of(s, "copy 1 is done"), 1);
    assert_int_equal(count_of(s, "\"name\":\"reads of group 1 seen\""), 1);
    assert_int_equal(count_of(s, "\"name\":\"group 1 seen\""), 1);
    assert_int_equal(count_of(s, "\"ph\":\"s\""), 4);
    assert_int_equal(count_of(s, "groups, never ends"), 1);
    assert_int_equal(count_of(s, "\"name\":\"E1301\""), 1);
    machine()->failed = false;
    remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        by_engine(a_bulk_load_is_late_and_arrives),
        by_engine(in_fast_mode_it_is_there_at_once),
        by_engine(multicast_reaches_each_cta_and_its_barrier),
        by_engine(a_tensor_load_fills_and_swizzles),
        by_engine(the_map_counts_as_it_is_when_the_copy_starts),
        by_engine(a_store_reads_its_source_late),
        by_engine(groups_are_left_until_their_copies_are_done),
        by_engine(who_waits_for_a_group_is_woken),
        by_engine(a_tensor_store_clips),
        by_engine(reductions_add),
        by_engine(a_tensor_reduction_takes_the_type_of_its_map),
        by_engine(small_stores_to_a_peer),
        by_engine(operands_of_bulk_copies),
        by_engine(a_copy_to_itself_needs_a_cluster_launch),
        by_engine(operands_of_tensor_copies),
        by_engine(data_for_a_cta_that_is_gone),
        by_engine(a_destination_without_a_barrier),
        by_engine(tasks_can_be_described),
        by_engine(a_trace_shows_issue_arrival_and_wait),
        by_engine(a_trace_shows_groups_open_waits_and_the_finding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
