/* What the tests of ptxgen share: IR built by hand, the PTX of it, the assemblers at hand. */
#ifndef TESTS_UNIT_PTX_BENCH_H
#define TESTS_UNIT_PTX_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lang/lang.h"
#include "ptxgen/ptxgen.h"

/* nvJitLinkCreate loses memory of its own when it refuses a target. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libnvJitLink";
}

typedef struct Bench {
    Mem mem;
    jmp_buf fail;
    Arena arena;
    IrModule m;
    IrKernel *k;
    Sources sources;
    PtxOptions opt;
} Bench;

static inline int set_up(void **state)
{
    Bench *b = test_calloc(1, sizeof *b);
    b->mem.fail = &b->fail;
    if (setjmp(b->fail)) return -1;
    arena_init(&b->arena, &b->mem);
    b->m.target = "sm_90a";
    sources_init(&b->sources, &b->arena);
    b->opt = (PtxOptions){.source_path = "test.tile"};
    *state = b;
    return 0;
}

static inline int tear_down(void **state)
{
    Bench *b = *state;
    arena_free(&b->arena);
    test_free(b);
    return 0;
}

/* ---- building ---- */

static inline IrRole *role(Bench *b)
{
    return &b->k->roles.v[0];
}

static inline void new_kernel(Bench *b, const char *name, uint32_t threads)
{
    Arena *a = &b->arena;
    b->k = arena_new(a, IrKernel);
    b->k->mf.name = name;
    b->k->mf.threads = threads;
    b->k->mf.smem = 65536;
    for (int i = 0; i < 3; i++) {
        b->k->mf.cluster[i] = 1;
        b->k->mf.grid[i] = lx_const(a, &b->k->mf.lx, 1);
    }
    IrRole *r = vec_add(a, &b->k->roles);
    *r = (IrRole){.name = "main", .warps = 1, .elect = true};
    vec_push(a, &b->m.kernels, b->k);
}

static inline uint32_t add_buf(Bench *b, const char *name, uint32_t bytes, uint32_t slots, uint32_t offset)
{
    vec_push(&b->arena, &b->k->bufs,
             ((IrBuf){.name = name, .bytes = bytes, .align = 128, .slots = slots, .pitch = bytes, .offset = offset}));
    return b->k->bufs.n - 1;
}

static inline uint32_t add_bar(Bench *b, const char *name, uint32_t slots, uint32_t offset)
{
    vec_push(&b->arena, &b->k->bars, ((IrBar){.name = name, .slots = slots, .count = 1, .offset = offset}));
    return b->k->bars.n - 1;
}

static inline uint32_t add_tensor(Bench *b, const char *name, ElemType type, uint8_t rank)
{
    MfTensor t = {.name = name, .type = (uint8_t)type, .rank = rank, .read = true, .align = 16};
    for (int i = 0; i < rank; i++) t.extent[i] = t.stride[i] = lx_const(&b->arena, &b->k->mf.lx, 64);
    vec_push(&b->arena, &b->k->mf.tensors, t);
    uint32_t index = b->k->mf.tensors.n - 1;
    struct MfArg *arg = (void *)vec_add(&b->arena, &b->k->mf.args);
    *arg = (struct MfArg){false, index};
    return index;
}

static inline uint32_t add_map(Bench *b, const char *name, uint32_t tensor, uint8_t rank, MapMode mode)
{
    MfMap m = {.name = name, .tensor = tensor, .rank = rank, .mode = (uint8_t)mode, .type = MAP_U32};
    m.offset = lx_const(&b->arena, &b->k->mf.lx, 0);
    for (int i = 0; i < rank; i++) {
        m.dim[i] = m.pitch[i] = lx_const(&b->arena, &b->k->mf.lx, 64);
        m.box[i] = 8;
        m.elem_stride[i] = 1;
    }
    vec_push(&b->arena, &b->k->mf.maps, m);
    vec_push(&b->arena, &b->k->mf.params, ((MfParam){MF_PARAM_MAP, b->k->mf.maps.n - 1}));
    return b->k->mf.maps.n - 1;
}

static inline void add_address(Bench *b, uint32_t tensor)
{
    vec_push(&b->arena, &b->k->mf.params, ((MfParam){MF_PARAM_ADDRESS, tensor}));
}

static inline IrOp *op(Bench *b, IrOpcode code)
{
    return ir_op(&b->arena, role(b), code, (Span){0, 0});
}

static inline IrVal define(Bench *b, IrOp *o, IrType t, const char *hint)
{
    o->type = (uint8_t)t;
    o->dst = ir_value(&b->arena, b->k, t, hint);
    return o->dst;
}

typedef struct Arg { /* an operand that is a value, or an immediate */
    IrVal v;
    int64_t k;
} Arg;
#define VAL(x) ((Arg){.v = (x)})
#define IMM(x) ((Arg){.k = (x)})

static inline void put(Bench *b, IrOp *o, IrKey key, Arg x)
{
    if (x.v) ir_ref(&b->arena, o, key, IRA_VAL, x.v);
    else ir_imm(&b->arena, o, key, x.k);
}

static inline void ref(Bench *b, IrOp *o, IrKey key, IrArgKind kind, uint32_t id)
{
    ir_ref(&b->arena, o, key, kind, id);
}

static inline IrVal binary(Bench *b, IrOpcode code, IrType t, Arg x, Arg y)
{
    IrOp *o = op(b, code);
    put(b, o, IRK_A, x);
    put(b, o, IRK_B, y);
    return define(b, o, t, NULL);
}

static inline IrVal unary(Bench *b, IrOpcode code, IrType t, Arg x)
{
    IrOp *o = op(b, code);
    put(b, o, IRK_A, x);
    return define(b, o, t, NULL);
}

static inline IrVal constant(Bench *b, IrType t, int64_t k)
{
    IrOp *o = op(b, IR_CONST);
    ir_imm(&b->arena, o, IRK_A, k);
    return define(b, o, t, NULL);
}

static inline IrVal compare(Bench *b, IrRel rel, Arg x, Arg y)
{
    IrOp *o = op(b, IR_CMP);
    ref(b, o, IRK_REL, IRA_WORD, rel);
    put(b, o, IRK_A, x);
    put(b, o, IRK_B, y);
    return define(b, o, IR_PRED, NULL);
}

static inline IrVal select(Bench *b, IrType t, IrVal cond, Arg x, Arg y)
{
    IrOp *o = op(b, IR_SEL);
    put(b, o, IRK_COND, VAL(cond));
    put(b, o, IRK_A, x);
    put(b, o, IRK_B, y);
    return define(b, o, t, NULL);
}

static inline IrVal sreg(Bench *b, IrReg reg)
{
    IrOp *o = op(b, IR_SREG);
    ref(b, o, IRK_REG, IRA_WORD, reg);
    return define(b, o, IR_I32, NULL);
}

static inline IrVal param(Bench *b, IrType t, const char *sym)
{
    Arena *a = &b->arena;
    vec_push(a, &b->k->mf.syms, ((MfSym){sym, MF_SIZE}));
    Lx x = lx_sym(a, &b->k->mf.lx, b->k->mf.syms.n - 1);
    vec_push(a, &b->k->mf.params, ((MfParam){MF_PARAM_VALUE, x}));
    IrOp *o = op(b, IR_PARAM);
    ref(b, o, IRK_EXPR, IRA_LX, x);
    return define(b, o, t, sym);
}

static inline IrVal loop(Bench *b, IrType t, Arg from, Arg to, const char *hint)
{
    IrOp *o = op(b, IR_LOOP);
    put(b, o, IRK_A, from);
    put(b, o, IRK_B, to);
    return define(b, o, t, hint);
}

static inline void bar_op(Bench *b, IrOpcode code, uint32_t bar, Arg slot, Arg bytes, int64_t count)
{
    IrOp *o = op(b, code);
    ref(b, o, IRK_BAR, IRA_BAR, bar);
    put(b, o, IRK_SLOT, slot);
    if (code == IR_BAR_INIT) ir_imm(&b->arena, o, IRK_COUNT_, count);
    else if (code == IR_BAR_WAIT) put(b, o, IRK_PHASE, bytes);
    else if (code != IR_BAR_ARRIVE) put(b, o, IRK_BYTES, bytes);
}

static inline void buf_arg(Bench *b, IrOp *o, IrKey key, uint32_t buf, Arg slot, Arg byte)
{
    ref(b, o, key, IRA_BUF, buf);
    put(b, o, IRK_SLOT, slot);
    put(b, o, IRK_OFFSET, byte);
}

static inline IrOp *tma(Bench *b, IrOpcode code, uint32_t map, const Arg *coords, unsigned n, uint32_t buf, Arg slot,
                        uint32_t bar)
{
    IrOp *o = op(b, code);
    ref(b, o, IRK_MAP, IRA_MAP, map);
    for (unsigned i = 0; i < n; i++) put(b, o, IRK_COORDS, coords[i]);
    buf_arg(b, o, code == IR_TMA_LOAD ? IRK_DST : IRK_SRC, buf, slot, IMM(0));
    if (code == IR_TMA_LOAD) {
        ref(b, o, IRK_BAR, IRA_BAR, bar);
        put(b, o, IRK_SLOT, slot);
    }
    ir_imm(&b->arena, o, IRK_BYTES, 4096);
    return o;
}

static inline void group_wait(Bench *b, int64_t n, IrHow how)
{
    IrOp *o = op(b, IR_GRP_WAIT);
    ir_imm(&b->arena, o, IRK_N, n);
    ref(b, o, IRK_HOW, IRA_WORD, how);
}

static inline void variable(Bench *b, IrOpcode code, uint32_t var, Arg x)
{
    IrOp *o = op(b, code);
    ref(b, o, IRK_VAR, IRA_VAR, var);
    put(b, o, IRK_A, x);
}

static inline IrVal get(Bench *b, IrType t, uint32_t var)
{
    IrOp *o = op(b, IR_GET);
    ref(b, o, IRK_VAR, IRA_VAR, var);
    return define(b, o, t, NULL);
}

/* A kernel as IR text, in place of those built so far. */
static inline void read_kernel(Bench *b, const char *text)
{
    Diags d;
    diags_init(&d, &b->arena, &b->sources);
    IrModule *m = ir_read(&b->arena, names_new(&b->arena), &d, sources_add(&b->sources, "test.ir", text, strlen(text)));
    if (m == NULL) {
        Text t;
        text_init(&t, &b->mem);
        diags_render(&d, DIAG_HUMAN, false, &t);
        print_error("%s\n", t.s);
        text_free(&t);
    }
    assert_non_null(m);
    b->m = *m;
    b->k = m->kernels.v[0];
}

/* ---- checking ---- */

typedef struct Emitted {
    PtxWriter *w;
    const char *text;
    size_t size;
    PtxLines lines;
    unsigned version;
} Emitted;

static inline Emitted emit(Bench *b)
{
    Emitted e = {0};
    e.w = ptx_begin(&b->arena, &b->mem, &b->m, &b->opt);
    for (uint32_t i = 0; i < b->m.kernels.n; i++) ptx_kernel(e.w, b->m.kernels.v[i]);
    e.text = ptx_end(e.w, &e.size, &e.lines, &e.version);
    assert_int_equal(strlen(e.text), e.size);
    return e;
}

static inline bool newer_than_assembler(const AsmResult *r)
{
    return strstr(r->message, "too old") != NULL;
}

static const char *const TARGETS[] = {"sm_90", "sm_90a", "sm_100", "sm_100a", "sm_103a", "sm_120", "sm_120a"};

static inline void assemble_for(Bench *b, const char *target, tilecc_assembler which, const char *name)
{
    b->m.target = target;
    Emitted e = emit(b);
    AsmOptions opt = {.arch = target, .which = which, .lineinfo = b->opt.lineinfo};
    AsmResult r = assemble(&b->arena, &opt, e.text, e.size, &e.lines, b->opt.sources);
    if (r.status != TILECC_OK && (r.assembler[0] == 0 || newer_than_assembler(&r))) {
        print_message("skipped, %s for %s: %s\n", name, target, r.message);
    } else {
        if (r.status != TILECC_OK) print_error("%s\n%s\n", r.message, r.log);
        assert_int_equal(r.status, TILECC_OK);
        assert_true(r.size > 0);
        Manifest m;
        const char *wrong = manifest_find(r.cubin, r.size, &b->arena, &m);
        if (wrong) print_error("cubin of %s: %s\n", r.assembler, wrong);
        assert_null(wrong);
        assert_int_equal(m.kernels.n, b->m.kernels.n);
        assert_string_equal(m.target, target);
    }
    ptx_free(e.w);
}

static inline void assemble_all(Bench *b)
{
    for (size_t i = 0; i < sizeof TARGETS / sizeof TARGETS[0]; i++)
        assemble_for(b, TARGETS[i], TILECC_ASM_PTXAS, "ptxas");
    assemble_for(b, "sm_90a", TILECC_ASM_NVJITLINK, "libnvJitLink");
    assemble_for(b, "sm_100a", TILECC_ASM_NVJITLINK, "libnvJitLink");
}

static inline void expect_in(const char *text, const char *want)
{
    if (strstr(text, want) == NULL) print_error("%s\nlacks: %s\n", text, want);
    assert_non_null(strstr(text, want));
}

/* ---- kernels ---- */

static inline void copy_of_rank(Bench *b, unsigned rank)
{
    Arena *a = &b->arena;
    new_kernel(b, arena_printf(a, "copy%u", rank), 32);
    uint32_t src = add_tensor(b, "src", TYPE_U32, (uint8_t)rank), dst = add_tensor(b, "dst", TYPE_U32, (uint8_t)rank);
    uint32_t in = add_map(b, "in", src, (uint8_t)rank, MAP_TILED),
             out = add_map(b, "out", dst, (uint8_t)rank, MAP_TILED);
    uint32_t tile = add_buf(b, "tile", 4096, 1, 0), full = add_bar(b, "full", 1, 4096);
    bar_op(b, IR_BAR_INIT, full, IMM(0), IMM(0), 1);
    op(b, IR_FENCE_MBAR_INIT);
    IrVal x = sreg(b, IRR_CTAID_X);
    IrVal col = binary(b, IR_MUL, IR_I32, VAL(x), IMM(8));
    Arg coords[5] = {IMM(1), IMM(2), IMM(3), IMM(4), IMM(5)};
    coords[rank - 1] = VAL(col);
    bar_op(b, IR_BAR_ARRIVE_EXPECT, full, IMM(0), IMM(4096), 0);
    tma(b, IR_TMA_LOAD, in, coords, rank, tile, IMM(0), full);
    bar_op(b, IR_BAR_WAIT, full, IMM(0), IMM(0), 0);
    tma(b, IR_TMA_STORE, out, coords, rank, tile, IMM(0), 0);
    op(b, IR_GRP_COMMIT);
    group_wait(b, 0, IRH_READ);
}

static inline IrVal global_address(Bench *b, uint32_t tensor, Arg byte)
{
    IrOp *o = op(b, IR_GADDR);
    ref(b, o, IRK_TENSOR, IRA_TENSOR, tensor);
    put(b, o, IRK_BYTE, byte);
    return define(b, o, IR_I64, NULL);
}

/* A ring of bulk copies: a variable slot and phase, a guard, the block of zeros instead of what lies outside. */
static inline void bulk_ring(Bench *b)
{
    Arena *a = &b->arena;
    new_kernel(b, "bulk", 64);
    uint32_t src = add_tensor(b, "src", TYPE_BF16, 1), dst = add_tensor(b, "dst", TYPE_BF16, 1);
    add_address(b, src);
    add_address(b, dst);
    b->k->zero_bytes = 2048;
    uint32_t tile = add_buf(b, "tile", 2048, 3, 1024), full = add_bar(b, "full", 3, 0);
    vec_push(a, &b->k->vars, ((IrVar){"slot", IR_I32}));
    vec_push(a, &b->k->vars, ((IrVar){"phase", IR_I32}));
    vec_push(a, &b->k->pols, ((IrPolicy){"p", 1, 3, 0.5, {0, 0}, false}));
    IrVal n = param(b, IR_I64, "N");
    for (int i = 0; i < 3; i++) bar_op(b, IR_BAR_INIT, full, IMM(i), IMM(0), 1);
    op(b, IR_FENCE_MBAR_INIT);
    ref(b, op(b, IR_POL_CREATE), IRK_POL, IRA_POL, 0);
    variable(b, IR_VAR, 0, IMM(0));
    variable(b, IR_VAR, 1, IMM(0));
    IrVal i = loop(b, IR_I64, IMM(0), VAL(n), "i");
    IrVal slot = get(b, IR_I32, 0), phase = get(b, IR_I32, 1);
    IrVal byte = binary(b, IR_MUL, IR_I64, VAL(i), IMM(2048));
    IrVal inside = compare(b, IRL_LT, VAL(i), IMM(100));
    IrVal from = global_address(b, src, VAL(byte)), to = global_address(b, dst, VAL(byte));
    IrVal zero = define(b, op(b, IR_ZADDR), IR_I64, NULL);
    IrVal chosen = select(b, IR_I64, inside, VAL(from), VAL(zero));
    bar_op(b, IR_BAR_ARRIVE_EXPECT, full, VAL(slot), IMM(2048), 0);
    IrOp *o = op(b, IR_BLK_LOAD);
    put(b, o, IRK_FROM, VAL(chosen));
    buf_arg(b, o, IRK_DST, tile, VAL(slot), IMM(0));
    ir_imm(a, o, IRK_BYTES, 2048);
    ref(b, o, IRK_BAR, IRA_BAR, full);
    put(b, o, IRK_SLOT, VAL(slot));
    ref(b, o, IRK_POL, IRA_POL, 0);
    bar_op(b, IR_BAR_WAIT, full, VAL(slot), VAL(phase), 0);
    IrOp *st = op(b, IR_BLK_STORE);
    buf_arg(b, st, IRK_SRC, tile, VAL(slot), IMM(0));
    put(b, st, IRK_TO, VAL(to));
    ir_imm(a, st, IRK_BYTES, 2048);
    st->guard = ir_if(inside);
    op(b, IR_GRP_COMMIT);
    group_wait(b, 1, IRH_READ);
    IrVal next = binary(b, IR_ADD, IR_I32, VAL(slot), IMM(1)), wrap = compare(b, IRL_EQ, VAL(next), IMM(3));
    variable(b, IR_SET, 0, VAL(select(b, IR_I32, wrap, IMM(0), VAL(next))));
    IrVal flipped = binary(b, IR_XOR, IR_I32, VAL(phase), IMM(1));
    variable(b, IR_SET, 1, VAL(select(b, IR_I32, wrap, VAL(flipped), VAL(phase))));
    op(b, IR_END);
    group_wait(b, 0, IRH_FULL);
}

/* ---- source lines: comments, .loc, messages of the assembler ---- */

static const char SOURCE[] = "kernel k {\n    wait full;\t// \xC3\xA9 \\\n    wait group;\n}\n";

static inline void with_source(Bench *b)
{
    Source *s = sources_add(&b->sources, "dir/\"k\\\".tile", SOURCE, sizeof SOURCE - 1);
    b->opt.sources = &b->sources;
    copy_of_rank(b, 1);
    IrRole *r = role(b);
    uint32_t wait = s->base + (uint32_t)(strstr(SOURCE, "wait full") - SOURCE);
    uint32_t group = s->base + (uint32_t)(strstr(SOURCE, "wait group") - SOURCE);
    for (uint32_t i = 0; i < r->ops.n; i++) {
        if (r->ops.v[i].op == IR_BAR_WAIT) r->ops.v[i].span = (Span){wait, wait + 9};
        if (r->ops.v[i].op == IR_GRP_WAIT) r->ops.v[i].span = (Span){group, group + 10};
    }
}

#endif
