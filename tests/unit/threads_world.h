/* What the tests of work by threads share: a kernel around one plan, run on the simulator; where elements lie, written
 * once more from the definition of the layouts; the addresses that every lane really used.
 *
 * The kernel is what the emitter makes of the one op. Two fences mark where plain PTX is put in: in front, all of shared
 * memory is filled from global memory; behind, it is written back.
 */
#ifndef TESTS_UNIT_THREADS_WORLD_H
#define TESTS_UNIT_THREADS_WORLD_H

#include "ptx_bench.h"

#include "lower/plan/threads.h"
#include "tile.h"

enum { IMAGE = 98304, LOG_ENTRIES = 512, SITES = 256, GAP = 1024 };

typedef struct World {
    Bench *b;
    tile_device *d;
    uint64_t in, out, log;
    uint8_t before[IMAGE], after[IMAGE], want[IMAGE];
    uint64_t seed;
} World;

static inline int world_open(void **state)
{
    World *w = test_calloc(1, sizeof *w);
    void *bench;
    set_up(&bench);
    w->b = bench;
    tile_error err;
    if (tile_device_open("sim:check", &w->d, &err) != TILE_OK) fail_msg("%s", err.text);
    assert_int_equal(tile_alloc(w->d, IMAGE, &w->in, &err), TILE_OK);
    assert_int_equal(tile_alloc(w->d, IMAGE, &w->out, &err), TILE_OK);
    assert_int_equal(tile_alloc(w->d, 1024 * LOG_ENTRIES * 8, &w->log, &err), TILE_OK);
    *state = w;
    return 0;
}

static inline int world_close(void **state)
{
    World *w = *state;
    void *bench = w->b;
    tile_release(w->d, w->in, NULL);
    tile_release(w->d, w->out, NULL);
    tile_release(w->d, w->log, NULL);
    tile_device_close(w->d);
    tear_down(&bench);
    test_free(w);
    return 0;
}
#define in_world(test) cmocka_unit_test_setup_teardown(test, world_open, world_close)

static inline uint64_t roll(World *w)
{
    uint64_t z = w->seed += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* ---- plans ---- */

typedef struct Job {
    IrPlan p;
    uint32_t off[2]; /* of the parts in their buffers */
    uint32_t idle;   /* warps of a role in front that does nothing */
    enum { ALWAYS, IF_TRUE, IF_FALSE } guard;
    /* set by place() */
    uint32_t buffer, at[2], used; /* the destination's buffer; where the parts start; bytes of shared memory in all */
} Job;

static inline uint32_t bytes_of(int type)
{
    return elem_info((ElemType)type)->shared_bits / 8u;
}

/* A tile of `rank` dimensions that is as large as the part: dense, or in panels of the swizzle's span where its rows
 * are longer. extra: bytes between its rows, without a swizzle. */
static inline void lay_out(IrSide *s, int type, int swizzle, const uint32_t *extent, uint32_t rank, uint32_t extra)
{
    uint32_t size = bytes_of(type), span = (uint32_t)swizzle_span(swizzle), last = rank - 1;
    *s = (IrSide){.type = (uint8_t)type, .swizzle = (uint8_t)swizzle};
    uint32_t row = extent[last] * size, pitch = span ? span : row + extra;
    s->pitch[last] = size;
    for (uint32_t d = last; d-- > 0;) {
        s->pitch[d] = pitch;
        pitch *= extent[d];
    }
    if (span && row > span) {
        s->span = span;
        s->panel = (rank == 1 ? span : pitch);
    }
}

/* rows x columns, perhaps with a dimension in front */
static inline Job job(IrXform xform, uint32_t front, uint32_t rows, uint32_t cols, int from, int from_swizzle, int to,
                      int to_swizzle, uint32_t threads)
{
    Job j = {.p = {.name = "work", .xform = (uint8_t)xform, .threads = threads}};
    uint32_t e[3] = {front, rows, cols}, n = front ? 3 : 2, skip = 3 - n;
    j.p.rank = (uint8_t)n;
    for (uint32_t d = 0; d < n; d++) j.p.extent[d] = e[d + skip];
    lay_out(&j.p.src, from, from_swizzle, j.p.extent, n, 0);
    uint32_t t[3];
    for (uint32_t d = 0; d < n; d++) t[d] = j.p.extent[d];
    if (xform == IRX_TRANSPOSE) t[n - 1] = rows, t[n - 2] = cols;
    lay_out(&j.p.dst, to, to_swizzle, t, n, 0);
    return j;
}

static inline uint32_t end_of(const IrPlan *p, const IrSide *s, bool crossed)
{
    uint32_t last = p->rank - 1u, end = 0;
    for (uint32_t d = 0; d < last; d++) end += (p->extent[crossed && d + 1 == last ? last : d] - 1) * s->pitch[d];
    uint32_t row = p->extent[crossed ? last - 1 : last] * s->pitch[last];
    return end + (s->span ? (row - 1) / s->span * s->panel + s->span : row);
}

static inline uint32_t up_to(uint32_t n, uint32_t m)
{
    return (n + m - 1) / m * m;
}

/* The destination behind the source, with a gap where nobody writes. False: too large. */
static inline bool place(Job *j)
{
    uint32_t src = j->p.xform == IRX_FILL ? 0 : j->off[0] + end_of(&j->p, &j->p.src, false);
    if (j->p.xform == IRX_SUM) src += (j->p.parts - 1) * j->p.apart;
    j->buffer = up_to(src, 1024) + GAP;
    j->at[0] = j->off[0];
    j->at[1] = j->buffer + j->off[1];
    j->used = up_to(j->at[1] + end_of(&j->p, &j->p.dst, j->p.xform == IRX_TRANSPOSE), 1024);
    return j->used <= IMAGE;
}

/* ---- where elements lie ---- */

/* CUDA driver API, "Swizzle": 16-byte chunks of a span are exchanged by the number of the 128-byte line. */
static inline uint32_t swizzled(uint32_t address, int swizzle)
{
    uint32_t chunk = address / 16 % 8, line = address / 128;
    switch (swizzle) {
    case MAP_SWIZZLE_128B: chunk ^= line % 8; break;
    case MAP_SWIZZLE_64B: chunk ^= line % 4; break;
    case MAP_SWIZZLE_32B: chunk ^= line % 2; break;
    default: break;
    }
    return line * 128 + chunk * 16 + address % 16;
}

static inline uint32_t element_at(const IrSide *s, uint32_t start, const uint32_t *x, uint32_t rank)
{
    uint32_t at = start, last = rank - 1, in = x[last] * s->pitch[last];
    for (uint32_t d = 0; d < last; d++) at += x[d] * s->pitch[d];
    at += s->span ? in / s->span * s->panel + in % s->span : in;
    return swizzled(at, s->swizzle);
}

static inline uint64_t get_bits(const uint8_t *image, uint32_t at, uint32_t size)
{
    uint64_t v = 0;
    for (uint32_t i = 0; i < size; i++) v |= (uint64_t)image[at + i] << 8 * i;
    return v;
}

static inline void put_bits(uint8_t *image, uint32_t at, uint32_t size, uint64_t v)
{
    for (uint32_t i = 0; i < size; i++) image[at + i] = (uint8_t)(v >> 8 * i);
}

/* Calls what for each element with its place on both sides. */
typedef void EachElement(World *w, const Job *j, uint32_t src, uint32_t dst);
static inline void each_element(World *w, const Job *j, EachElement *what)
{
    uint32_t x[MAP_RANK] = {0}, rank = j->p.rank;
    for (;;) {
        uint32_t y[MAP_RANK];
        memcpy(y, x, sizeof y);
        if (j->p.xform == IRX_TRANSPOSE) y[rank - 1] = x[rank - 2], y[rank - 2] = x[rank - 1];
        uint32_t from[MAP_RANK];
        memcpy(from, x, sizeof from);
        if (j->p.xform == IRX_REVERSE) from[rank - 1] = j->p.extent[rank - 1] - 1 - x[rank - 1];
        what(w, j, j->p.xform == IRX_FILL ? 0 : element_at(&j->p.src, j->at[0], from, rank),
             element_at(&j->p.dst, j->at[1], y, rank));
        uint32_t d = rank;
        while (d > 0 && ++x[d - 1] == j->p.extent[d - 1]) x[--d] = 0;
        if (d == 0) return;
    }
}

/* ---- the kernel ---- */

static const char FILL_SHARED[] =
    "    .reg .b32 %%q<6>, %%v<4>;\n    .reg .b64 %%w<4>;\n    .reg .pred %%o;\n"
    "    mov.u32 %%q4, %%tid.x;\n    sub.u32 %%q4, %%q4, %u;\n    mov.u32 %%q1, smem;\n"
    "    ld.param.b64 %%w0, [param_0];\n    ld.param.b64 %%w3, [param_2];\n"
    "    cvta.to.global.u64 %%w0, %%w0;\n    cvta.to.global.u64 %%w3, %%w3;\n"
    "    mad.wide.u32 %%w3, %%q4, %u, %%w3;\n    shl.b32 %%q0, %%q4, 4;\n"
    "    setp.ge.u32 %%o, %%q0, %u;\n    @%%o bra $full;\n"
    "$fill:\n    cvt.u64.u32 %%w1, %%q0;\n    add.u64 %%w1, %%w0, %%w1;\n"
    "    ld.global.v4.b32 {%%v0, %%v1, %%v2, %%v3}, [%%w1];\n    add.u32 %%q3, %%q1, %%q0;\n"
    "    st.shared.v4.b32 [%%q3], {%%v0, %%v1, %%v2, %%v3};\n    add.u32 %%q0, %%q0, %u;\n"
    "    setp.lt.u32 %%o, %%q0, %u;\n    @%%o bra $fill;\n$full:\n    bar.sync 1, %u;\n";
static const char SAVE_SHARED[] =
    "    bar.sync 1, %u;\n    ld.param.b64 %%w0, [param_1];\n    cvta.to.global.u64 %%w0, %%w0;\n    shl.b32 %%q0, "
    "%%q4, "
    "4;\n"
    "    setp.ge.u32 %%o, %%q0, %u;\n    @%%o bra $saved;\n"
    "$save:\n    cvt.u64.u32 %%w1, %%q0;\n    add.u64 %%w1, %%w0, %%w1;\n    add.u32 %%q3, %%q1, %%q0;\n"
    "    ld.shared.v4.b32 {%%v0, %%v1, %%v2, %%v3}, [%%q3];\n"
    "    st.global.v4.b32 [%%w1], {%%v0, %%v1, %%v2, %%v3};\n    add.u32 %%q0, %%q0, %u;\n"
    "    setp.lt.u32 %%o, %%q0, %u;\n    @%%o bra $save;\n$saved:\n";
/* In front of an access: its address, and which instruction it is. */
static const char LOG_ACCESS[] = "    add.u32 %%q5, %.*s, %d;\n    sub.u32 %%q5, %%q5, %%q1;\n    mov.u32 %%q2, %u;\n"
                                 "    mov.b64 %%w2, {%%q5, %%q2};\n    st.global.b64 [%%w3], %%w2;\n"
                                 "    add.u64 %%w3, %%w3, 8;\n";

typedef struct Site { /* one instruction that accesses shared memory */
    uint32_t bytes, lanes;
    bool store;
} Site;
typedef struct Sites {
    uint32_t n;
    Site v[SITES];
} Sites;

static inline bool site_of(const char *line, Site *s)
{
    line += strspn(line, " ");
    bool matrix = strncmp(line, "ldmatrix", 8) == 0 || strncmp(line, "stmatrix", 8) == 0;
    if (!matrix && strncmp(line, "ld.shared", 9) != 0 && strncmp(line, "st.shared", 9) != 0) return false;
    s->store = line[0] == 's';
    s->lanes = 32;
    if (matrix) {
        s->bytes = 16;
        s->lanes = 8 * (uint32_t)(strstr(line, ".m8n8.x")[7] - '0');
        return true;
    }
    const char *type = strstr(line, ".b");
    s->bytes = (uint32_t)strtoul(type + 2, NULL, 10) / 8;
    if (line[9] == '.' && line[10] == 'v') s->bytes *= (uint32_t)(line[11] - '0');
    return true;
}

static inline void log_line(Text *t, const char *line, Sites *sites)
{
    Site s;
    if (sites == NULL || !site_of(line, &s)) return;
    assert_true(sites->n < SITES);
    sites->v[sites->n++] = s;
    const char *at = strchr(line, '[') + 1, *plus = strpbrk(at, "+-]");
    int off = *plus == ']' ? 0 : (int)strtol(plus, NULL, 10);
    text_printf(t, LOG_ACCESS, (int)(plus - at), at, off, sites->n);
}

static inline char *with_frame(World *w, const char *ptx, const Job *j, Sites *sites)
{
    uint32_t step = 16 * j->p.threads;
    Text t;
    text_init(&t, &w->b->mem);
    int marks = 0;
    for (const char *line = ptx, *end; *line; line = end) {
        end = strchr(line, '\n') + 1;
        if (strncmp(line, "    fence.proxy.async.global;", 29) != 0) {
            if (marks == 1) log_line(&t, line, sites);
            text_put(&t, line, (size_t)(end - line));
        } else if (marks++ == 0) {
            text_printf(&t, FILL_SHARED, 32 * j->idle, LOG_ENTRIES * 8, j->used, step, j->used, j->p.threads);
        } else {
            text_printf(&t, SAVE_SHARED, j->p.threads, j->used, step, j->used);
        }
    }
    assert_int_equal(marks, 2);
    char *s = arena_strdup(&w->b->arena, t.s, t.n);
    text_free(&t);
    return s;
}

static inline void marker(Bench *b)
{
    ref(b, op(b, IR_FENCE_ASYNC), IRK_SPACE, IRA_WORD, IRS_GLOBAL);
}

/* run_time: the parts' offsets are values that the compiler does not know. */
static inline void build_kernel(World *w, const Job *j, bool run_time)
{
    Bench *b = w->b;
    b->m.kernels.n = 0;
    new_kernel(b, "k", j->p.threads + 32 * j->idle);
    b->k->mf.smem = IMAGE;
    IrRole work = {.name = "work", .warps = j->p.threads / 32};
    b->k->roles.v[0] = work;
    static const char *const names[] = {"in", "out", "log"};
    for (int i = 0; i < 3; i++) {
        uint32_t n = i < 2 ? IMAGE / 4 : 1024 * LOG_ENTRIES * 2, t = add_tensor(b, names[i], TYPE_U32, 1);
        b->k->mf.tensors.v[t].extent[0] = lx_const(&b->arena, &b->k->mf.lx, n);
        b->k->mf.tensors.v[t].stride[0] = lx_const(&b->arena, &b->k->mf.lx, 1);
        b->k->mf.tensors.v[t].written = i > 0;
        add_address(b, t);
    }
    uint32_t src = add_buf(b, "src", 1024, j->buffer / 1024, 0);
    uint32_t dst = add_buf(b, "dst", 1024, (j->used - j->buffer) / 1024, j->buffer);
    vec_push(&b->arena, &b->k->plans, j->p);
    IrVal zero = sreg(b, IRR_CTAID_X);
    marker(b);
    bool fill = j->p.xform == IRX_FILL;
    Arg at[2];
    for (int s = 0; s < 2; s++) {
        at[s] = run_time ? VAL(binary(b, IR_ADD, IR_I32, VAL(zero), IMM(j->off[s]))) : IMM(j->off[s]);
    }
    IrVal guard = j->guard ? compare(b, IRL_EQ, VAL(zero), IMM(j->guard == IF_TRUE ? 0 : 1)) : 0;
    IrOp *o = op(b, fill ? IR_THR_FILL : IR_THR_COPY);
    ref(b, o, IRK_PLAN, IRA_PLAN, 0);
    if (!fill) buf_arg(b, o, IRK_SRC, src, IMM(0), at[0]);
    buf_arg(b, o, IRK_DST, dst, IMM(0), at[1]);
    o->guard = ir_if(guard);
    marker(b);
    if (j->idle == 0) return;
    work = b->k->roles.v[0];
    vec_push(&b->arena, &b->k->roles, work);
    b->k->roles.v[0] = (IrRole){.name = "idle", .warps = j->idle};
}

static inline void bind(World *w, tile_args *a, const char *name, uint64_t at, int64_t n)
{
    tile_error err;
    if (tile_bind(a, name, at, (size_t)n * 4, TILE_U32, 1, &n, NULL, &err) != TILE_OK) fail_msg("%s", err.text);
    (void)w;
}

static inline void show_job(const Job *j)
{
    const IrPlan *p = &j->p;
    static const char *const xforms[] = {"copy", "transpose", "fill", "reverse"};
    print_error("%s [%u", xforms[p->xform], p->extent[0]);
    for (uint32_t d = 1; d < p->rank; d++) print_error(", %u", p->extent[d]);
    print_error(
        "] %s swizzle %u -> %s swizzle %u%s%s, threads %u, at %u, %u: method %u vector %u block %u x %u deal %u\n",
        elem_info((ElemType)p->src.type)->name, p->src.swizzle, elem_info((ElemType)p->dst.type)->name, p->dst.swizzle,
        p->add ? " add" : "", p->sat ? " sat" : "", p->threads, j->at[0], j->at[1], p->method, p->vector, p->wide,
        p->tall, p->deal);
}

static inline void gives_up(const Job *j, const char *ptx, const char *why)
{
    show_job(j);
    fputs(ptx, stderr);
    fail_msg("%s", why);
}

/* Runs the plan on w->before; w->after is what shared memory holds then. */
static inline void run_job(World *w, const Job *j, bool run_time, Sites *sites)
{
    tile_error err;
    tile_module *m;
    tile_args *a;
    build_kernel(w, j, run_time);
    Emitted e = emit(w->b);
    char *ptx = with_frame(w, e.text, j, sites);
    ptx_free(e.w);
    assert_int_equal(tile_write(w->d, w->in, w->before, j->used, &err), TILE_OK);
    if (tile_module_load(w->d, ptx, strlen(ptx), &m, &err) != TILE_OK) gives_up(j, ptx, err.text);
    assert_int_equal(tile_args_new(tile_kernel_at(m, 0), &a, &err), TILE_OK);
    bind(w, a, "in", w->in, IMAGE / 4);
    bind(w, a, "out", w->out, IMAGE / 4);
    bind(w, a, "log", w->log, 1024 * LOG_ENTRIES * 2);
    if (tile_launch(a, NULL, &err) != TILE_OK) gives_up(j, ptx, err.text);
    assert_int_equal(tile_read(w->d, w->after, w->out, j->used, &err), TILE_OK);
    tile_args_free(a);
    tile_module_free(m);
}

static inline void plan_job(World *w, Job *j)
{
    assert_true(place(j));
    const char *why = NULL;
    if (!threads_plan(&w->b->arena, &j->p, &why)) fail_msg("refused: %s", why);
}

static inline void expect_image(World *w, const Job *j)
{
    for (uint32_t i = 0; i < j->used; i++) {
        if (w->after[i] == w->want[i]) continue;
        show_job(j);
        fail_msg("byte %u of shared memory is 0x%02x, not 0x%02x", i, w->after[i], w->want[i]);
    }
}

#endif
