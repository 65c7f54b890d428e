/* Work by threads: copies, transposes and fills of every shape, run on the simulator and compared byte by byte; the bank
 * conflicts that a plan claims against those of the addresses that were used. */
#include "threads_world.h"

static void move_element(World *w, const Job *j, uint32_t src, uint32_t dst)
{
    uint32_t size = bytes_of(j->p.dst.type);
    put_bits(w->want, dst, size, j->p.xform == IRX_FILL ? j->p.value : get_bits(w->before, src, size));
}

static void check_job(World *w, Job *j, bool run_time)
{
    plan_job(w, j);
    for (uint32_t i = 0; i < j->used; i++) w->before[i] = (uint8_t)roll(w);
    memcpy(w->want, w->before, IMAGE);
    each_element(w, j, move_element);
    run_job(w, j, run_time, NULL);
    expect_image(w, j);
}

/* ---- shapes ---- */

static const int SIZES[] = {TYPE_U8, TYPE_BF16, TYPE_F32, TYPE_F64};
static const int SWIZZLES[] = {MAP_SWIZZLE_NONE, MAP_SWIZZLE_32B, MAP_SWIZZLE_64B, MAP_SWIZZLE_128B};
static const uint32_t THREADS[] = {32, 64, 128, 256, 512};

static void run_shapes(World *w, IrXform xform)
{
    static const uint32_t shapes[][3] = {{0, 64, 64}, {0, 1, 1}, {0, 128, 32}, {0, 33, 65}, {0, 8, 256}, {0, 100, 24},
                                         {3, 16, 16}, {5, 7, 9}, {0, 16, 144}, {2, 32, 64}, {0, 1, 500}, {0, 72, 40}};
    for (size_t t = 0; t < 4; t++) {
        for (size_t n = 0; n < sizeof shapes / sizeof *shapes; n++) {
            const uint32_t *e = shapes[n];
            for (int turn = 0; turn < 3; turn++) {
                int from = SWIZZLES[roll(w) % 4], to = SWIZZLES[roll(w) % 4];
                if (turn == 0) from = to = MAP_SWIZZLE_NONE;
                if (turn == 1) from = to = MAP_SWIZZLE_128B;
                if (xform == IRX_REVERSE && e[2] * elem_info((ElemType)SIZES[t])->shared_bits / 8 > 32) from = MAP_SWIZZLE_NONE; /* one panel */
                Job j = job(xform, e[0], e[1], e[2], SIZES[t], from, SIZES[t], to, THREADS[roll(w) % 5]);
                if (place(&j)) check_job(w, &j, false);
            }
        }
    }
}

static void test_copies(void **state)
{
    run_shapes(*state, IRX_COPY);
}

static void test_transposes(void **state)
{
    run_shapes(*state, IRX_TRANSPOSE);
}

static void test_reversals(void **state)
{
    run_shapes(*state, IRX_REVERSE);
}

/* ---- sums along a dimension ---- */

/* Small whole numbers, whose sums all types hold. */
static uint64_t number_bits(int type, uint32_t n)
{
    double wide = n;
    float f = (float)n;
    uint64_t bits = 0;
    uint32_t word;
    memcpy(&word, &f, sizeof word);
    memcpy(&bits, &wide, sizeof bits);
    if (elem_info((ElemType)type)->kind != ELEM_FLOAT) return n;
    return type == TYPE_F64 ? bits : type == TYPE_BF16 ? word >> 16 : word;
}

/* What a part has where an element lies: from its place, which the swizzle has exchanged already. */
static void sum_element(World *w, const Job *j, uint32_t src, uint32_t dst)
{
    uint32_t sum = 0, size = bytes_of(j->p.src.type);
    for (uint32_t i = 0; i < j->p.parts; i++) {
        uint32_t n = (uint32_t)(roll(w) % 8);
        put_bits(w->before, src + i * j->p.apart, size, number_bits(j->p.src.type, n));
        put_bits(w->want, src + i * j->p.apart, size, number_bits(j->p.src.type, n));
        sum += n;
    }
    put_bits(w->want, dst, bytes_of(j->p.dst.type), number_bits(j->p.dst.type, sum));
}

static void test_sums(void **state)
{
    static const int types[] = {TYPE_U8, TYPE_S16, TYPE_BF16, TYPE_U32, TYPE_F32, TYPE_S64, TYPE_F64};
    static const uint32_t shapes[][3] = {{0, 8, 64}, {0, 1, 1}, {3, 5, 24}, {0, 33, 7}, {2, 4, 16}};
    World *w = *state;
    for (int turn = 0; turn < 120; turn++) {
        const uint32_t *e = shapes[roll(w) % 5];
        int from = types[roll(w) % 7], to = roll(w) % 2 ? from : types[roll(w) % 7], by = SWIZZLES[roll(w) % 4];
        Job j = job(IRX_SUM, e[0], e[1], e[2], from, by, to, SWIZZLES[roll(w) % 4], THREADS[roll(w) % 5]);
        j.p.parts = 1 + (uint32_t)(roll(w) % 9);
        j.p.apart = up_to(end_of(&j.p, &j.p.src, false), by ? 1024 : roll(w) % 2 ? 16 : bytes_of(from));
        if (!place(&j)) continue;
        plan_job(w, &j);
        for (uint32_t i = 0; i < j.used; i++) w->before[i] = (uint8_t)roll(w);
        memcpy(w->want, w->before, IMAGE);
        each_element(w, &j, sum_element);
        run_job(w, &j, turn % 2, NULL);
        expect_image(w, &j);
    }
}

/* Parts that start anywhere in a slot, in tiles with other pitches, of one to five dimensions. */
static void test_parts(void **state)
{
    World *w = *state;
    for (int turn = 0; turn < 120; turn++) {
        int type = SIZES[roll(w) % 4], xform = (int[]){IRX_COPY, IRX_TRANSPOSE, IRX_REVERSE}[roll(w) % 3];
        uint32_t rows = 1 + (uint32_t)(roll(w) % 40), cols = 1 + (uint32_t)(roll(w) % 40), size = bytes_of(type);
        Job j = job((IrXform)xform, roll(w) % 2 ? 2 : 0, rows, cols, type, 0, type, 0, THREADS[roll(w) % 5]);
        for (int s = 0; s < 2; s++) {
            IrSide *side = s ? &j.p.dst : &j.p.src;
            bool even = roll(w) % 2;
            uint32_t last = j.p.rank - 1u, unit = even ? 16 : size, align = even ? 16 : size;
            uint32_t row = j.p.extent[xform == IRX_TRANSPOSE && s ? last - 1 : last] * size;
            side->pitch[last - 1] = (row + unit - 1) / unit * unit + unit * (uint32_t)(roll(w) % 3);
            if (last == 2)
                side->pitch[0] = side->pitch[1] * j.p.extent[xform == IRX_TRANSPOSE && s ? 2 : 1] +
                                 unit * (uint32_t)(roll(w) % 3);
            if (size * 40 <= 80 || !even) side->swizzle = (uint8_t)SWIZZLES[roll(w) % 4];
            side->align = (uint16_t)align;
            j.off[s] = align * (uint32_t)(roll(w) % 60);
        }
        if (place(&j)) check_job(w, &j, roll(w) % 2);
    }
}

static void run_as_it_is(World *w, Job *j)
{
    for (uint32_t i = 0; i < j->used; i++) w->before[i] = (uint8_t)roll(w);
    memcpy(w->want, w->before, IMAGE);
    each_element(w, j, move_element);
    run_job(w, j, false, NULL);
    expect_image(w, j);
}

/* Threads of a role count from its first one; a guard that does not hold leaves everything as it was. */
static void test_roles(void **state)
{
    World *w = *state;
    for (uint32_t turn = 0; turn < 12; turn++) {
        Job j = job(turn % 2 ? IRX_TRANSPOSE : IRX_COPY, 0, 40, 24, TYPE_BF16, 0, TYPE_BF16, 0, 64);
        j.idle = turn % 3;
        j.guard = turn / 3 == 0 ? IF_FALSE : turn / 3 == 1 ? IF_TRUE : ALWAYS;
        plan_job(w, &j);
        for (uint32_t i = 0; i < j.used; i++) w->before[i] = (uint8_t)roll(w);
        memcpy(w->want, w->before, IMAGE);
        if (j.guard != IF_FALSE) each_element(w, &j, move_element);
        run_job(w, &j, false, NULL);
        expect_image(w, &j);
    }
}

/* Every way of a plan, not only the best: methods, blocks, orders. What does not fit together is refused. */
static void test_methods(void **state)
{
    World *w = *state;
    ThrWork work;
    uint32_t ran[3] = {0};
    for (int turn = 0; turn < 2000; turn++) {
        int type = SIZES[roll(w) % 4];
        uint32_t rows = 8 * (1 + (uint32_t)(roll(w) % 9)), cols = 8 * (1 + (uint32_t)(roll(w) % 9));
        if (roll(w) % 4 == 0) rows += (uint32_t)(roll(w) % 7);
        if (roll(w) % 4 == 0) cols += (uint32_t)(roll(w) % 7);
        Job j = job(roll(w) % 4 ? IRX_TRANSPOSE : IRX_COPY, 0, rows, cols, type, SWIZZLES[roll(w) % 4], type,
                    SWIZZLES[roll(w) % 4], THREADS[roll(w) % 5]);
        j.p.method = (uint8_t)(roll(w) % 3);
        j.p.wide = (uint8_t)(1u << roll(w) % 5);
        if (j.p.method == THR_MATRIX && roll(w) % 4) j.p.wide = type == TYPE_U8 ? 16 : 8;
        j.p.tall = j.p.wide;
        if (j.p.method == THR_VECTOR) j.p.tall = 1;
        else if (roll(w) % 4 == 0) j.p.tall = (uint8_t)(1u << roll(w) % 5);
        j.p.deal = (uint8_t)(roll(w) % 2 ? 1u << roll(w) % 6 : roll(w) % 3);
        if (!place(&j) || !threads_work(&j.p, &work)) continue;
        if (ran[j.p.method]++ < 40) run_as_it_is(w, &j);
    }
    for (int m = 0; m < 3; m++) assert_in_range(ran[m], 10, 2000);
}

/* Any dimensions, each with a pitch of its own. */
static void test_ranks(void **state)
{
    World *w = *state;
    for (uint32_t turn = 0; turn < 60; turn++) {
        int type = SIZES[roll(w) % 4];
        uint32_t rank = 1 + turn % 5, size = bytes_of(type), last = rank - 1;
        Job j = {.p = {.name = "work", .rank = (uint8_t)rank, .threads = THREADS[roll(w) % 5]}};
        j.p.xform = rank > 1 && roll(w) % 2 ? IRX_TRANSPOSE : IRX_COPY;
        for (uint32_t d = 0; d < rank; d++)
            j.p.extent[d] = 1 + (uint32_t)(roll(w) % (rank == 1 ? 900 : rank > 3 ? 6 : 12));
        for (int s = 0; s < 2; s++) {
            IrSide *side = s ? &j.p.dst : &j.p.src;
            bool crossed = s && j.p.xform == IRX_TRANSPOSE, apart = roll(w) % 3 == 0;
            side->type = (uint8_t)type;
            side->swizzle = (uint8_t)SWIZZLES[roll(w) % 4];
            uint32_t pitch = size * (apart ? 2 : 1); /* `by 2` */
            for (uint32_t d = rank; d-- > 0;) {
                uint32_t from = crossed && d == last ? last - 1 : crossed && d + 1 == last ? last : d;
                side->pitch[d] = pitch;
                pitch = pitch * j.p.extent[from] + size * (uint32_t)(roll(w) % 3);
            }
        }
        if (place(&j)) check_job(w, &j, true);
    }
}

static void test_fills(void **state)
{
    World *w = *state;
    static const uint32_t shapes[][3] = {{0, 64, 64}, {0, 1, 1}, {0, 33, 7}, {3, 5, 24}, {0, 9, 300}};
    for (size_t t = 0; t < 4; t++) {
        for (size_t n = 0; n < 5; n++) {
            const uint32_t *e = shapes[n];
            Job j = job(IRX_FILL, e[0], e[1], e[2], SIZES[t], 0, SIZES[t], SWIZZLES[roll(w) % 4], THREADS[roll(w) % 5]);
            j.p.value = roll(w);
            if (SIZES[t] != TYPE_F64) j.p.value &= (UINT64_C(1) << 8 * bytes_of(SIZES[t])) - 1;
            memset(&j.p.src, 0, sizeof j.p.src);
            if (place(&j)) check_job(w, &j, n == 3);
        }
    }
}

/* ---- bank conflicts ---- */

typedef struct Banks {
    uint64_t waves[2], least[2];
} Banks;

/* Wavefronts of one instruction of one warp: per quarter, half or whole warp, the most words that a bank must give. */
static void count_instruction(const Site *s, const uint32_t *address, const bool *active, Banks *out)
{
    uint32_t part = s->bytes == 16 ? 8 : s->bytes == 8 ? 16 : 32;
    for (uint32_t first = 0; first < s->lanes; first += part) {
        uint32_t most = 0;
        for (uint32_t bank = 0; bank < 32; bank++) {
            uint32_t words[128], n = 0;
            for (uint32_t l = first; l < first + part && l < s->lanes; l++) {
                for (uint32_t w = address[l] / 4; active[l] && w <= (address[l] + s->bytes - 1) / 4; w++) {
                    uint32_t i = 0;
                    while (i < n && words[i] != w) i++;
                    if (w % 32 == bank && i == n) words[n++] = w;
                }
            }
            if (n > most) most = n;
        }
        out->waves[s->store] += most;
        out->least[s->store] += most > 0;
    }
}

/* The k-th execution of an instruction by a lane goes with the k-th of the other lanes of its warp. */
static void count_warp(const uint64_t (*log)[LOG_ENTRIES], const Sites *sites, Banks *out)
{
    uint32_t next[32] = {0};
    for (;;) {
        uint32_t site = UINT32_MAX, address[32] = {0};
        bool active[32] = {false};
        uint32_t most = 0, lead = 0;
        for (uint32_t l = 0; l < 32;
             l++) { /* the lane with the longest way to go leads: the others skip what it does alone */
            uint32_t left = 0;
            while (next[l] + left < LOG_ENTRIES && log[l][next[l] + left]) left++;
            if (left > most) most = left, lead = l;
        }
        if (most == 0) return;
        site = (uint32_t)(log[lead][next[lead]] >> 32);
        for (uint32_t l = 0; l < 32; l++) {
            uint64_t e = next[l] < LOG_ENTRIES ? log[l][next[l]] : 0;
            if (e >> 32 != site) continue;
            active[l] = true;
            address[l] = (uint32_t)e;
            next[l]++;
        }
        count_instruction(&sites->v[site - 1], address, active, out);
    }
}

static void expect_ways(World *w, Job *j, uint32_t reads, uint32_t writes)
{
    static uint64_t log[1024][LOG_ENTRIES];
    tile_error err;
    Sites sites = {.n = 0};
    Banks b = {.waves = {0}};
    plan_job(w, j);
    memset(log, 0, sizeof log);
    tile_write(w->d, w->log, log, sizeof log, &err);
    run_job(w, j, false, &sites);
    assert_int_equal(tile_read(w->d, log, w->log, sizeof log, &err), TILE_OK);
    for (uint32_t t = 0; t < j->p.threads; t += 32) count_warp((const uint64_t(*)[LOG_ENTRIES])log + t, &sites, &b);
    uint64_t ways[2];
    for (int s = 0; s < 2; s++) ways[s] = b.least[s] ? (16 * b.waves[s] + b.least[s] - 1) / b.least[s] : 0;
    bool right = ways[0] == j->p.read_ways && ways[1] == j->p.write_ways && (!reads || ways[0] <= reads) &&
                 (!writes || ways[1] <= writes);
    if (right) return;
    show_job(j);
    fail_msg("ways %u and %u claimed, %u and %u used, at most %u and %u wanted", j->p.read_ways, j->p.write_ways,
             (unsigned)ways[0], (unsigned)ways[1], reads, writes);
}

static void test_banks(void **state)
{
    World *w = *state;
    enum { N = MAP_SWIZZLE_NONE, S = MAP_SWIZZLE_128B };
    static const struct {
        IrXform xform;
        uint32_t rows, cols;
        int from, from_swizzle, to, to_swizzle;
        uint32_t reads, writes; /* at most; 0: whatever it is */
    } cases[] = {
        {IRX_COPY, 64, 64, TYPE_BF16, S, TYPE_BF16, N, 16, 16},
        {IRX_COPY, 64, 64, TYPE_BF16, S, TYPE_F32, S, 16, 16},
        {IRX_COPY, 64, 64, TYPE_F32, N, TYPE_BF16, N, 16, 16},
        {IRX_COPY, 64, 64, TYPE_F32, S, TYPE_E4M3, MAP_SWIZZLE_64B, 16, 16},
        {IRX_TRANSPOSE, 128, 128, TYPE_BF16, S, TYPE_BF16, S, 16, 16},
        {IRX_TRANSPOSE, 64, 64, TYPE_BF16, N, TYPE_BF16, N, 16, 16},
        {IRX_TRANSPOSE, 64, 64, TYPE_F32, S, TYPE_F32, S, 16, 16},
        {IRX_TRANSPOSE, 64, 64, TYPE_F32, N, TYPE_F32, N, 16, 16},
        {IRX_TRANSPOSE, 32, 32, TYPE_F32, S, TYPE_F32, N, 16, 16},
        {IRX_TRANSPOSE, 32, 64, TYPE_F64, S, TYPE_F64, S, 16, 16},
        {IRX_TRANSPOSE, 128, 128, TYPE_U8, S, TYPE_U8, S, 16, 16},
        {IRX_TRANSPOSE, 128, 128, TYPE_U8, N, TYPE_U8, N, 16, 16},
        {IRX_TRANSPOSE, 64, 64, TYPE_F32, S, TYPE_BF16, S, 16, 16},
        {IRX_TRANSPOSE, 64, 64, TYPE_BF16, S, TYPE_F32, S, 16, 16},
        {IRX_TRANSPOSE, 64, 64, TYPE_BF16, MAP_SWIZZLE_64B, TYPE_BF16, MAP_SWIZZLE_32B, 0, 0},
        {IRX_TRANSPOSE, 40, 56, TYPE_BF16, N, TYPE_BF16, N, 0, 0},
        {IRX_TRANSPOSE, 33, 47, TYPE_F32, N, TYPE_F32, N, 0, 0},
        {IRX_TRANSPOSE, 24, 20, TYPE_U8, N, TYPE_U8, N, 0, 0},
        {IRX_COPY, 33, 47, TYPE_F32, S, TYPE_F32, N, 0, 0},
        {IRX_FILL, 33, 48, TYPE_F32, N, TYPE_F32, S, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (uint32_t threads = 64; threads <= 256; threads *= 4) {
            Job j = job(cases[i].xform, 0, cases[i].rows, cases[i].cols, cases[i].from, cases[i].from_swizzle,
                        cases[i].to, cases[i].to_swizzle, threads);
            expect_ways(w, &j, cases[i].reads, cases[i].writes);
        }
    }
    Job j = job(IRX_TRANSPOSE, 0, 64, 64, TYPE_F16, S, TYPE_F16, S, 128);
    j.p.add = true;
    expect_ways(w, &j, 16, 16);
}

/* ---- the assembler, code size and registers ---- */

static uint32_t lines_of(const char *s)
{
    uint32_t n = 0;
    for (; *s; s++) n += *s == '\n';
    return n;
}

static void test_assembles(void **state)
{
    World *w = *state;
    static const struct {
        IrXform xform;
        int from, to;
        bool sat, add;
    } cases[] = {{IRX_COPY, TYPE_F32, TYPE_F32, false, false},      {IRX_TRANSPOSE, TYPE_BF16, TYPE_BF16, false, true},
                 {IRX_TRANSPOSE, TYPE_U8, TYPE_U8, false, false},   {IRX_TRANSPOSE, TYPE_F32, TYPE_F32, false, false},
                 {IRX_COPY, TYPE_F64, TYPE_E4M3, false, false},     {IRX_COPY, TYPE_F32, TYPE_BF16, true, false},
                 {IRX_TRANSPOSE, TYPE_E5M2, TYPE_F16, false, true}, {IRX_COPY, TYPE_S64, TYPE_TF32, true, false},
                 {IRX_COPY, TYPE_U64, TYPE_S8, true, true},         {IRX_TRANSPOSE, TYPE_F64, TYPE_F64, false, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Job j = job(cases[i].xform, 0, 64, 64, cases[i].from, MAP_SWIZZLE_NONE, cases[i].to, MAP_SWIZZLE_NONE, 128);
        j.p.sat = cases[i].sat;
        j.p.add = cases[i].add;
        plan_job(w, &j);
        build_kernel(w, &j, true);
        assemble_for(w->b, "sm_100a", TILECC_ASM_PTXAS, "ptxas");
        assemble_for(w->b, "sm_90a", TILECC_ASM_PTXAS, "ptxas");
        Emitted e = emit(w->b);
        assert_in_range(lines_of(e.text), 20, 500);
        ptx_free(e.w);
    }
}

/* ---- the text form ---- */

static void test_text(void **state)
{
    World *w = *state;
    Job j = job(IRX_TRANSPOSE, 0, 64, 64, TYPE_F32, MAP_SWIZZLE_128B, TYPE_BF16, MAP_SWIZZLE_64B, 128);
    j.p.src.align = 32;
    plan_job(w, &j);
    build_kernel(w, &j, true);
    Text first, second;
    text_init(&first, &w->b->mem);
    text_init(&second, &w->b->mem);
    ir_print(&first, &w->b->m, NULL);
    expect_in(first.s, " align 32");
    expect_in(first.s, " block 1, 2 deal 8 ways 16, 16");
    Diags d;
    diags_init(&d, &w->b->arena, &w->b->sources);
    Names *names = names_new(&w->b->arena);
    Source *src = sources_add(&w->b->sources, "k.ir", arena_strdup(&w->b->arena, first.s, first.n), first.n);
    IrModule *m = ir_read(&w->b->arena, names, &d, src);
    if (m == NULL) {
        diags_render(&d, DIAG_HUMAN, false, &second);
        fail_msg("%s", second.s);
    }
    ir_print(&second, m, NULL);
    assert_int_equal(first.n, second.n);
    assert_memory_equal(first.s, second.s, first.n);
    assert_null(ir_check(&w->b->arena, w->b->k));
    IrPlan p = {.xform = IRX_TRANSPOSE, .method = THR_BLOCK, .wide = 4, .tall = 2, .vector = 16};
    p.read_ways = 16;
    p.write_ways = 36;
    assert_string_equal(threads_text(&w->b->arena, &p),
                        "blocks of 4 x 2 in registers, 16-byte accesses, bank conflicts "
                        "x1.00 reading, x2.25 writing");
    w->b->k->plans.v[0].deal = 7;
    expect_in(ir_check(&w->b->arena, w->b->k), "can't work by plan 0");
    text_free(&first);
    text_free(&second);
}

/* ---- refusals ---- */

static void refused(World *w, Job j, const char *part)
{
    const char *why = NULL;
    assert_false(threads_plan(&w->b->arena, &j.p, &why));
    assert_non_null(why);
    if (!strstr(why, part)) fail_msg("no \"%s\" in: %s", part, why);
}

static void test_refusals(void **state)
{
    World *w = *state;
    Job j = job(IRX_COPY, 0, 8, 8, TYPE_E4M3, 0, TYPE_E4M3, 0, 64), k;
    k = j, k.p.add = true, refused(w, k, "add in e4m3");
    k = j, k.p.threads = 40, refused(w, k, "40");
    k = j, k.p.extent[1] = 0, refused(w, k, "nothing");
    k = j, k.p.dst.swizzle = MAP_SWIZZLE_128B_ATOM_32B, refused(w, k, "destination's swizzle");
    k = j, k.p.src.type = TYPE_B4A8, refused(w, k, "b4a8");
    k = j, k.p.src.type = TYPE_B4A16, refused(w, k, "convert b4a16 to e4m3");
    j = job(IRX_COPY, 0, 8, 8, TYPE_F64, 0, TYPE_F64, 0, 64);
    k = j, k.p.src.align = 4, refused(w, k, "multiples of 4 bytes");
    k = j, k.p.dst.pitch[0] = 68, refused(w, k, "pitch of 68");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_world(test_copies), in_world(test_transposes), in_world(test_reversals), in_world(test_sums), in_world(test_parts),    in_world(test_methods),
        in_world(test_ranks),  in_world(test_roles),      in_world(test_text),     in_world(test_fills),
        in_world(test_banks),  in_world(test_assembles),  in_world(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
