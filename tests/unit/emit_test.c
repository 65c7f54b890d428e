/* The emitter: PTX compared, or given to the assembler at hand. */
#include "ptx_bench.h"

/* The kernel alone: between its signature and the manifest. */
static void expect_kernel(Bench *b, const char *want)
{
    Emitted e = emit(b);
    const char *from = strstr(e.text, ".visible .entry"), *to = strstr(e.text, "\n.visible .global");
    assert_non_null(from);
    assert_non_null(to);
    const char *got = arena_strdup(&b->arena, from, (size_t)(to - from));
    assert_string_equal(got, want);
    ptx_free(e.w);
}

static void test_copy_text(void **state)
{
    Bench *b = *state;
    copy_of_rank(b, 2);
    expect_kernel(b, ".visible .entry copy2(\n"
                     "    .param .align 64 .b8 param_0[128], // map in\n"
                     "    .param .align 64 .b8 param_1[128] // map out\n"
                     ")\n"
                     ".reqntid 32\n"
                     "{\n"
                     "    .reg .b32 %r<3>;\n"
                     "    .reg .b64 %rd<2>;\n"
                     "    .reg .pred %p<2>;\n"
                     "    elect.sync _|%p0, 0xffffffff;\n"
                     "    @!%p0 bra $leave_0;\n"
                     "    mov.b64 %rd0, param_0;\n"
                     "    cvta.param.u64 %rd0, %rd0;\n"
                     "    mov.b64 %rd1, param_1;\n"
                     "    cvta.param.u64 %rd1, %rd1;\n"
                     "    mov.b32 %r0, smem;\n"
                     "    mbarrier.init.shared::cta.b64 [%r0+4096], 1;\n"
                     "    fence.mbarrier_init.release.cluster;\n"
                     "    mov.u32 %r1, %ctaid.x;\n"
                     "    mul.lo.s32 %r2, %r1, 8;\n"
                     "    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r0+4096], 4096;\n"
                     "    cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r0], [%rd0, "
                     "{%r2, 1}], [%r0+4096];\n"
                     "$wait_full_1:\n"
                     "    mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p1, [%r0+4096], 0;\n"
                     "    @!%p1 bra $wait_full_1;\n"
                     "    cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd1, {%r2, 1}], [%r0];\n"
                     "    cp.async.bulk.commit_group;\n"
                     "    cp.async.bulk.wait_group.read 0;\n"
                     "$leave_0:\n"
                     "    ret;\n"
                     "}\n");
}

static void test_copy_ranks(void **state)
{
    Bench *b = *state;
    for (unsigned rank = 1; rank <= 5; rank++) copy_of_rank(b, rank);
    assemble_all(b);
    b->m.cluster_dst = true;
    Emitted e = emit(b);
    expect_in(e.text, "cp.async.bulk.tensor.5d.shared::cluster.global.tile");
    assert_null(strstr(e.text, ".shared::cta.global"));
    ptx_free(e.w);
    assemble_all(b);
}

static void test_version(void **state)
{
    Bench *b = *state;
    copy_of_rank(b, 2);
    Emitted e = emit(b);
    assert_int_equal(e.version, 86);
    expect_in(e.text, "\n.version 8.6\n.target sm_90a\n.address_size 64\n");
    ptx_free(e.w);
    b->m.cluster_dst = true;
    e = emit(b);
    assert_int_equal(e.version, 80);
    expect_in(e.text, "\n.version 8.0\n");
    ptx_free(e.w);
    b->m.version = 88;
    e = emit(b);
    assert_int_equal(e.version, 88);
    ptx_free(e.w);
}

static void test_bulk_text(void **state)
{
    Bench *b = *state;
    bulk_ring(b);
    expect_kernel(b, ".visible .entry bulk(\n"
                     "    .param .u64 param_0, // src\n"
                     "    .param .u64 param_1, // dst\n"
                     "    .param .s64 param_2\n"
                     ")\n"
                     ".reqntid 64\n"
                     "{\n"
                     "    .reg .b32 %r<15>;\n"
                     "    .reg .b64 %rd<10>;\n"
                     "    .reg .pred %p<7>;\n"
                     "    mov.u32 %r0, %tid.x;\n"
                     "    setp.gt.u32 %p0, %r0, 31;\n"
                     "    @%p0 bra $leave_0;\n"
                     "    elect.sync _|%p1, 0xffffffff;\n"
                     "    @!%p1 bra $leave_0;\n"
                     "    ld.param.b64 %rd0, [param_0];\n"
                     "    cvta.to.global.u64 %rd0, %rd0;\n"
                     "    ld.param.b64 %rd1, [param_1];\n"
                     "    cvta.to.global.u64 %rd1, %rd1;\n"
                     "    mov.b32 %r1, smem;\n"
                     "    ld.param.b64 %rd3, [param_2];\n"
                     "    mbarrier.init.shared::cta.b64 [%r1], 1;\n"
                     "    mbarrier.init.shared::cta.b64 [%r1+8], 1;\n"
                     "    mbarrier.init.shared::cta.b64 [%r1+16], 1;\n"
                     "    fence.mbarrier_init.release.cluster;\n"
                     "    createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %rd2, 0f3F000000;\n"
                     "    mov.b32 %r2, 0;\n"
                     "    mov.b32 %r3, 0;\n"
                     "    mov.b64 %rd4, 0;\n"
                     "    setp.ge.s64 %p2, %rd4, %rd3;\n"
                     "    @%p2 bra $done_i_1;\n"
                     "$loop_i_1:\n"
                     "    mov.b32 %r4, %r2;\n"
                     "    mov.b32 %r5, %r3;\n"
                     "    mul.lo.s64 %rd5, %rd4, 2048;\n"
                     "    setp.lt.s64 %p3, %rd4, 100;\n"
                     "    add.s64 %rd6, %rd0, %rd5;\n"
                     "    add.s64 %rd7, %rd1, %rd5;\n"
                     "    mov.b64 %rd8, tile_zero;\n"
                     "    selp.b64 %rd9, %rd6, %rd8, %p3;\n"
                     "    mad.lo.s32 %r6, %r4, 8, %r1;\n"
                     "    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r6], 2048;\n"
                     "    mad.lo.s32 %r7, %r4, 2048, %r1;\n"
                     "    mad.lo.s32 %r8, %r4, 8, %r1;\n"
                     "    cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.L2::cache_hint [%r7+1024], "
                     "[%rd9], 2048, [%r8], %rd2;\n"
                     "    mad.lo.s32 %r9, %r4, 8, %r1;\n"
                     "$wait_full_2:\n"
                     "    mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p4, [%r9], %r5;\n"
                     "    @!%p4 bra $wait_full_2;\n"
                     "    mad.lo.s32 %r10, %r4, 2048, %r1;\n"
                     "    @%p3 cp.async.bulk.global.shared::cta.bulk_group [%rd7], [%r10+1024], 2048;\n"
                     "    cp.async.bulk.commit_group;\n"
                     "    cp.async.bulk.wait_group.read 1;\n"
                     "    add.s32 %r11, %r4, 1;\n"
                     "    setp.eq.s32 %p5, %r11, 3;\n"
                     "    selp.b32 %r12, 0, %r11, %p5;\n"
                     "    mov.b32 %r2, %r12;\n"
                     "    xor.b32 %r13, %r5, 1;\n"
                     "    selp.b32 %r14, %r13, %r5, %p5;\n"
                     "    mov.b32 %r3, %r14;\n"
                     "    add.s64 %rd4, %rd4, 1;\n"
                     "    setp.lt.s64 %p6, %rd4, %rd3;\n"
                     "    @%p6 bra $loop_i_1;\n"
                     "$done_i_1:\n"
                     "    cp.async.bulk.wait_group 0;\n"
                     "$leave_0:\n"
                     "    ret;\n"
                     "}\n");
}

static void test_bulk(void **state)
{
    Bench *b = *state;
    bulk_ring(b);
    Emitted e = emit(b);
    expect_in(e.text, "\n.global .align 128 .b8 tile_zero[2048];\n");
    expect_in(e.text, "\n.extern .shared .align 1024 .b8 smem[];\n");
    ptx_free(e.w);
    assemble_all(b);
}

static IrVal load_scalar(Bench *b, uint32_t tensor, Arg byte, IrVal guard)
{
    IrOp *o = op(b, IR_LOADS);
    ref(b, o, IRK_TENSOR, IRA_TENSOR, tensor);
    put(b, o, IRK_BYTE, byte);
    o->guard = ir_if(guard);
    return define(b, o, IR_I64, NULL);
}

/* Every scalar op in both widths with registers, immediates and folded constants on either side. Results are kept
 * alive by a store whose place depends on all of them. */
static void scalars(Bench *b)
{
    new_kernel(b, "scalars", 128);
    Arena *a = &b->arena;
    static const ElemType types[] = {TYPE_U8, TYPE_S8, TYPE_U16, TYPE_S16, TYPE_U32, TYPE_S32, TYPE_U64, TYPE_S64};
    uint32_t out = add_tensor(b, "out", TYPE_U8, 1), tile = add_buf(b, "tile", 16, 4, 0);
    add_address(b, out);
    vec_push(a, &b->k->vars, ((IrVar){"sum", IR_I64}));
    vec_push(a, &b->k->vars, ((IrVar){"flag", IR_PRED}));
    variable(b, IR_VAR, 0, IMM(0));
    variable(b, IR_VAR, 1, IMM(1));
    IrVal wide = param(b, IR_I64, "N"), narrow = param(b, IR_I32, "M");
    IrVal k64 = constant(b, IR_I64, INT64_MIN), k32 = constant(b, IR_I32, -7), t = constant(b, IR_PRED, 1);
    static const IrOpcode ops[] = {IR_ADD, IR_SUB, IR_MUL, IR_DIV, IR_MOD, IR_MIN,
                                   IR_MAX, IR_SHL, IR_SHR, IR_AND, IR_OR,  IR_XOR};
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        for (int w = 0; w < 2; w++) {
            IrType ty = w ? IR_I64 : IR_I32;
            IrVal x = w ? wide : narrow, c = w ? k64 : k32;
            Arg cases[][2] = {{VAL(x), VAL(x)},  {VAL(x), IMM(8)}, {VAL(x), IMM(1)}, {VAL(x), IMM(7)},
                              {VAL(x), IMM(-3)}, {IMM(5), VAL(x)}, {VAL(c), IMM(3)}, {VAL(x), VAL(c)}};
            for (size_t j = 0; j < sizeof cases / sizeof cases[0]; j++) {
                IrVal v = binary(b, ops[i], ty, cases[j][0], cases[j][1]);
                IrVal v64 = w ? v : unary(b, IR_CVT, IR_I64, VAL(v)), sum = get(b, IR_I64, 0);
                variable(b, IR_SET, 0, VAL(binary(b, IR_XOR, IR_I64, VAL(sum), VAL(v64))));
            }
        }
    }
    for (int rel = IRL_EQ; rel <= IRL_GE; rel++) {
        IrVal p = compare(b, (IrRel)rel, VAL(wide), IMM(3)), q = compare(b, (IrRel)rel, IMM(3), VAL(narrow));
        IrVal r = compare(b, (IrRel)rel, IMM(3), IMM(4)), s = get(b, IR_PRED, 1);
        p = binary(b, IR_AND, IR_PRED, VAL(p), VAL(q));
        p = binary(b, IR_OR, IR_PRED, VAL(p), VAL(r));
        p = binary(b, IR_XOR, IR_PRED, VAL(p), VAL(t));
        p = select(b, IR_PRED, p, VAL(s), VAL(q));
        if (rel <= IRL_NE) p = compare(b, (IrRel)rel, VAL(p), VAL(s));
        variable(b, IR_SET, 1, VAL(unary(b, IR_NOT, IR_PRED, VAL(p))));
    }
    IrVal flag = get(b, IR_PRED, 1);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        uint32_t tensor = add_tensor(b, "in", types[i], 1);
        add_address(b, tensor);
        IrVal v = load_scalar(b, tensor, i % 2 ? IMM(0) : VAL(wide), i % 3 ? flag : 0);
        IrVal sum = get(b, IR_I64, 0);
        variable(b, IR_SET, 0, VAL(binary(b, IR_ADD, IR_I64, VAL(sum), VAL(v))));
    }
    IrOp *guarded = op(b, IR_SET);
    ref(b, guarded, IRK_VAR, IRA_VAR, 0);
    put(b, guarded, IRK_A, VAL(k64));
    guarded->guard = ir_if(flag);
    IrVal low = unary(b, IR_CVT, IR_I32, VAL(wide));
    IrOp *branch = op(b, IR_IF);
    put(b, branch, IRK_COND, VAL(flag));
    variable(b, IR_SET, 0, VAL(unary(b, IR_NOT, IR_I64, VAL(wide))));
    op(b, IR_ELSE);
    IrVal bit = unary(b, IR_CVT, IR_I32, VAL(flag));
    IrVal both = binary(b, IR_ADD, IR_I32, VAL(low), VAL(bit));
    variable(b, IR_SET, 0, VAL(unary(b, IR_CVT, IR_I64, VAL(both))));
    op(b, IR_END);
    branch = op(b, IR_IF);
    put(b, branch, IRK_COND, VAL(t));
    loop(b, IR_I32, IMM(0), VAL(narrow), NULL);
    loop(b, IR_I64, VAL(k32), IMM(4), "k");
    IrVal sregs = sreg(b, IRR_CTAID_X);
    for (int r = IRR_CTAID_Y; r < IRR_COUNT; r++) sregs = binary(b, IR_ADD, IR_I32, VAL(sregs), VAL(sreg(b, (IrReg)r)));
    IrVal sum = get(b, IR_I64, 0);
    variable(b, IR_SET, 0, VAL(binary(b, IR_ADD, IR_I64, VAL(sum), VAL(unary(b, IR_CVT, IR_I64, VAL(sregs))))));
    op(b, IR_END);
    op(b, IR_END);
    op(b, IR_END);
    IrVal place = binary(b, IR_AND, IR_I64, VAL(get(b, IR_I64, 0)), IMM(-16));
    IrVal to = global_address(b, out, VAL(place));
    IrOp *st = op(b, IR_BLK_STORE);
    buf_arg(b, st, IRK_SRC, tile, VAL(narrow), VAL(low));
    put(b, st, IRK_TO, VAL(to));
    put(b, st, IRK_BYTES, VAL(place));
    op(b, IR_GRP_COMMIT);
    group_wait(b, 0, IRH_FULL);
}

static void test_scalars(void **state)
{
    Bench *b = *state;
    scalars(b);
    assemble_all(b);
}

static void test_division(void **state)
{
    Bench *b = *state;
    new_kernel(b, "div", 32);
    IrVal x = param(b, IR_I32, "x");
    binary(b, IR_DIV, IR_I32, VAL(x), IMM(64));
    binary(b, IR_MOD, IR_I32, VAL(x), IMM(64));
    binary(b, IR_DIV, IR_I32, VAL(x), IMM(10));
    binary(b, IR_MOD, IR_I32, VAL(x), IMM(10)); /* of the same division */
    binary(b, IR_MOD, IR_I32, VAL(x), VAL(x));
    Emitted e = emit(b);
    expect_in(e.text, "    shr.s32 %r2, %r1, 6;\n"
                      "    and.b32 %r3, %r1, 63;\n"
                      "    div.s32 %r4, %r1, 10;\n"
                      "    mul.lo.s32 %r5, %r4, 10;\n"
                      "    sub.s32 %r5, %r1, %r5;\n"
                      "    shr.s32 %r6, %r5, 31;\n"
                      "    add.s32 %r7, %r4, %r6;\n"
                      "    and.b32 %r8, %r6, 10;\n"
                      "    add.s32 %r9, %r5, %r8;\n"
                      "    div.s32 %r10, %r1, %r1;\n"
                      "    mul.lo.s32 %r11, %r10, %r1;\n"
                      "    sub.s32 %r11, %r1, %r11;\n"
                      "    xor.b32 %r12, %r11, %r1;\n"
                      "    shr.s32 %r12, %r12, 31;\n"
                      "    setp.ne.s32 %p1, %r11, 0;\n"
                      "    selp.b32 %r12, %r12, 0, %p1;\n"
                      "    and.b32 %r13, %r12, %r1;\n"
                      "    add.s32 %r14, %r11, %r13;\n");
    ptx_free(e.w);
}

/* Numbers of 64 bits whose high halves are 0 are divided by the instruction of 32. */
static void test_wide_division(void **state)
{
    Bench *b = *state;
    new_kernel(b, "div", 32);
    IrVal x = param(b, IR_I64, "x"), y = param(b, IR_I64, "y");
    binary(b, IR_DIV, IR_I64, VAL(x), VAL(y));
    Emitted e = emit(b);
    expect_in(e.text, "    or.b64 %rd5, %rd0, %rd1;\n"
                      "    shr.u64 %rd5, %rd5, 32;\n"
                      "    setp.ne.s64 %p1, %rd5, 0;\n"
                      "    @%p1 bra $wide_1;\n");
    expect_in(e.text, "    div.u32 %r3, %r1, %r2;\n");
    expect_in(e.text, "    bra $divided_1;\n"
                      "$wide_1:\n"
                      "    div.s64 %rd2, %rd0, %rd1;\n");
    ptx_free(e.w);
    assemble_all(b);
}

static void test_policies(void **state)
{
    Bench *b = *state;
    copy_of_rank(b, 2);
    size_t n;
    word_list(WORDS_CACHE, &n);
    for (uint8_t i = 0; i < n; i++) {
        for (int s = 0; s < 3; s++) { /* secondary: none, evict_first, evict_unchanged */
            IrPolicy p = {.name = "p",
                          .primary = i,
                          .secondary = s == 0   ? 255
                                       : s == 1 ? 1
                                                : 3,
                          .fraction = 0.25 * (s + 1)};
            vec_push(&b->arena, &b->k->pols, p);
            uint32_t pol = b->k->pols.n - 1;
            ref(b, op(b, IR_POL_CREATE), IRK_POL, IRA_POL, pol);
            IrOp *o = tma(b, IR_TMA_STORE, 1, (Arg[]){IMM(0), IMM(0)}, 2, 0, IMM(0), 0);
            ref(b, o, IRK_POL, IRA_POL, pol);
        }
    }
    IrOp *o = tma(b, IR_TMA_LOAD, 0, (Arg[]){IMM(0), IMM(0)}, 2, 0, IMM(0), 0);
    ref(b, o, IRK_POL, IRA_POL, 2);
    assemble_all(b);
}

static void test_cluster(void **state)
{
    Bench *b = *state;
    copy_of_rank(b, 3);
    b->k->mf.cluster[0] = 2;
    b->k->mf.cluster[2] = 2;
    for (int space = IRS_SHARED; space <= IRS_GLOBAL; space++)
        ref(b, op(b, IR_FENCE_ASYNC), IRK_SPACE, IRA_WORD, (uint32_t)space);
    IrVal p = compare(b, IRL_EQ, VAL(sreg(b, IRR_CLUSTER_CTARANK)), IMM(0));
    bar_op(b, IR_BAR_EXPECT, 0, IMM(0), IMM(16), 0);
    bar_op(b, IR_BAR_ARRIVE, 0, IMM(0), IMM(0), 0);
    bar_op(b, IR_BAR_WAIT, 0, IMM(0), IMM(1), 0);
    role(b)->ops.v[role(b)->ops.n - 1].guard = ir_if(p);
    Emitted e = emit(b);
    expect_in(e.text, ".explicitcluster\n.reqnctapercluster 2, 1, 2\n");
    expect_in(e.text, "    @!%p2 bra $skip_full_2;\n$wait_full_2:\n");
    ptx_free(e.w);
    assemble_all(b);
}

static void test_roles(void **state)
{
    Bench *b = *state;
    copy_of_rank(b, 2);
    b->k->mf.threads = 160;
    vec_push(&b->arena, &b->k->roles, ((IrRole){.name = "work", .warps = 4}));
    IrOp *o = ir_op(&b->arena, &b->k->roles.v[1], IR_FENCE_ASYNC, (Span){0, 0});
    ref(b, o, IRK_SPACE, IRA_WORD, IRS_SHARED);
    assemble_all(b);
}

/* Words that are taken, words that are no identifiers, and the same word again. */
static void test_names(void **state)
{
    Bench *b = *state;
    static const char *const names[] = {"copy", "copy", "copy", "add", "WARP_SZ", "smem", "tile_zero",
                                        "_",    "_x",   "",     "a.b", "param_0", "9a",   "\xC3\xA9"};
    static const char *const entries[] = {"copy", "copy$2", "copy$3", "add$",  "WARP_SZ$", "smem$", "tile_zero$",
                                          "$_",   "_x",     "$_$10",  "a$2eb", "param_0$", "$9a",   "$$c3$a9"};
    enum { N = sizeof names / sizeof names[0] };
    for (int i = 0; i < N; i++) new_kernel(b, names[i], 32);
    Emitted e = emit(b);
    Manifest m;
    assert_null(manifest_find(e.text, e.size, &b->arena, &m));
    assert_int_equal(m.kernels.n, N);
    for (int i = 0; i < N; i++) {
        assert_string_equal(m.kernels.v[i].name, names[i]);
        assert_string_equal(m.kernels.v[i].entry, entries[i]);
    }
    ptx_free(e.w);
    assemble_all(b);
}

static void test_deterministic(void **state)
{
    Bench *b = *state;
    bulk_ring(b);
    scalars(b);
    Emitted e = emit(b), f = emit(b);
    assert_string_equal(e.text, f.text);
    ptx_free(e.w);
    ptx_free(f.w);
}

static void test_lineinfo(void **state)
{
    Bench *b = *state;
    with_source(b);
    b->opt.lineinfo = true;
    Emitted e = emit(b);
    expect_in(e.text, "    // wait full; // ?? \\\n    .loc 1 2 5\n$wait_full_1:\n");
    expect_in(e.text, "    // wait group;\n    .loc 1 3 5\n    cp.async.bulk.wait_group.read 0;\n");
    expect_in(e.text, "\n.file 1 \"dir/'k/'.tile\"\n");
    ptx_free(e.w);
    assemble_all(b);
}

static void test_lines(void **state)
{
    Bench *b = *state;
    with_source(b);
    Emitted e = emit(b);
    uint32_t line = 1, last = 0;
    for (uint32_t i = 0; i < e.lines.n; i++) {
        assert_true(e.lines.v[i].line >= last);
        last = e.lines.v[i].line;
    }
    const char *at = strstr(e.text, "// wait group");
    for (const char *p = e.text; p < at; p++) line += *p == '\n';
    bool found = false;
    for (uint32_t i = 0; i < e.lines.n; i++) found |= e.lines.v[i].line == line && e.lines.v[i].span.lo != 0;
    assert_true(found);
    ptx_free(e.w);
}

/* A kernel's IR may go as soon as it is written. */
static void test_dropped(void **state)
{
    Bench *b = *state;
    Arena kept;
    arena_init(&kept, &b->mem);
    PtxWriter *w = ptx_begin(&kept, &b->mem, &b->m, &b->opt);
    ArenaMark before = arena_mark(&b->arena);
    for (int i = 0; i < 3; i++) {
        bulk_ring(b);
        ptx_kernel(w, b->k);
        b->m.kernels.n = b->m.kernels.cap = 0; /* its storage was in the arena too */
        arena_release(&b->arena, before);
    }
    size_t size;
    const char *text = ptx_end(w, &size, NULL, NULL);
    Manifest m;
    assert_null(manifest_find(text, size, &b->arena, &m));
    assert_int_equal(m.kernels.n, 3);
    assert_string_equal(m.kernels.v[2].entry, "bulk$3");
    assert_string_equal(m.kernels.v[1].tensors.v[1].name, "dst");
    ptx_free(w);
    arena_free(&kept);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(test_copy_text), T(test_copy_ranks),    T(test_version),  T(test_bulk_text), T(test_bulk),
        T(test_scalars),   T(test_division),      T(test_wide_division), T(test_policies), T(test_cluster),   T(test_roles),
        T(test_names),     T(test_deterministic), T(test_lineinfo), T(test_lines),     T(test_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
