/* Every op of the IR: printed and read back, and what makes each of them ill-formed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lower/ir/ops.h"
#include "tests/unit/ir_fixture.h"

static const char HEAD[] =
    "module sm_90a\n"
    "kernel all entry all {\n"
    "  sym N size\n"
    "  tensor a f32 [N] stride [1] read written align 16\n"
    "  tensor b bf16 [N, 64] stride [64, 1] read written align 16\n"
    "  tensor idx s32 [N] stride [1] read align 16\n"
    "  arg tensor a\n  arg tensor b\n  arg tensor idx\n"
    "  map m = b tiled bf16 offset 0 dim [N, 64] pitch [128, 2] box [8, 64] load store\n"
    "  map g = b gather4 bf16 offset 0 dim [N, 64] pitch [128, 2] box [1, 64] load\n"
    "  map f = b tiled f32 offset 0 dim [N, 32] pitch [128, 4] box [8, 32] store\n"
    "  map c = b im2col bf16 offset 0 dim [2, N, 8, 64] pitch [64, 64, 64, 2] box [0, 0, 0, 0] lower [-1, -1, 0] upper [-1, -1, 0] "
    "channels 64 pixels 8 load\n"
    "  map w = b im2col_w bf16 offset 0 dim [2, N, 8, 64] pitch [64, 64, 64, 2] box [0, 0, 0, 0] channels 64 pixels 4 load\n"
    "  param map m\n  param address a\n  param address b\n  param address idx\n  param counter\n  param hints\n"
    "  param value N\n  param map g\n  param map f\n  param map c\n  param map w\n  param maps 512\n"
    "  deal ticket N per_sm 2\n  traffic N * 8\n  dependent\n"
    "  grid 4, 1, 1\n  cluster 4, 1, 1\n  threads 224\n  smem 8192\n  zeros 1024\n  tmem_columns 64 pair\n"
    "  buf t bytes 1024 align 128 slots 2 pitch 1024 at 0\n"
    "  buf cell bytes 8 align 128 slots 2 pitch 128 at 2048\n"
    "  buf big bytes 2048 align 1024 slots 1 pitch 2048 at 4096\n"
    "  tmem u lanes 128 columns 32 slots 2 pitch 32 at 0\n"
    "  buf lm bytes 128 align 128 slots 2 pitch 128 at 0 maps\n"
    "  buf sm bytes 128 align 128 slots 1 pitch 128 at 256 maps\n"
    "  buf rm bytes 128 align 128 slots 1 pitch 128 at 384 maps\n"
    "  buf lc bytes 128 align 128 slots 1 pitch 128 at 2304\n"
    "  buf wc bytes 128 align 128 slots 1 pitch 128 at 2432\n"
    "  bar full slots 2 count 1 at 3072\n"
    "  bar free slots 1 count 128 at 3088\n"
    "  policy p = evict_last fraction 1 by_traffic\n"
    "  plan turn = transpose extent [64, 32] src bf16 pitch [64, 2] dst bf16 pitch [128, 2] span 128 panel 4096 swizzle "
    "128B threads 128 vector 8 method 1 block 4, 4 deal 8 ways 32, 16\n"
    "  plan clear = fill extent [16] value 7 dst u64 pitch [8] add sat threads 128 vector 16 method 0 block 2, 1 deal 0 "
    "ways 0, 16\n"
    "  plan fetch = copy extent [4, 16] src u8 global rows pitch [16, 1] align 1 dst u8 pitch [16, 1] threads 128 vector 1 method 0 block 1, 1 deal 0 "
    "ways 16, 16\n"
    "  plan put = copy extent [4, 16] src u8 pitch [16, 1] dst u8 global pitch [16, 1] align 1 threads 128 vector 1 method 0 block 1, 1 deal 0 "
    "ways 16, 16\n"
    "  plan out = copy extent [128, 16] src u8 pitch [128, 1] dst u8 pitch [16, 1] threads 128 vector 16 method 0 block 16, 1 "
    "deal 0 ways 16, 16\n"
    "  plan into = copy extent [64, 16] src u8 pitch [16, 1] dst u8 pitch [128, 1] threads 128 vector 16 method 0 block 16, 1 "
    "deal 0 ways 16, 16\n"
    "  var slot i32\n  var on pred\n  var fl i64\n  var fs i64\n  var fr i64\n";

static const char BODIES[] =
    "  init {\n"
    "    %n = param.i64 N\n"
    "    dep.wait\n"
    "    %rank = sreg cluster_ctarank\n"
    "    elect bar.init full[0], 1\n    elect bar.init full[1], 1\n    elect bar.init free, 128\n"
    "    elect fence.mbar_init\n"
    "    pol.create p\n"
    "    elect map.prefetch m\n"
    "    elect tc.alloc cell[0], n 64\n    elect tc.relinquish\n"
    "    cluster.arrive relaxed\n    cluster.wait\n    cta.sync 0, 224\n"
    "    tc.base cell[0]\n"
    "    dep.launch\n"
    "    %dbig = tc.desc big, lead 16, stride 128, swizzle none\n    %dt = tc.desc t[0], lead 16, stride 256, swizzle none\n"
    "  }\n"
    "  role load warps 1 {\n"
    "    var slot = 0\n    var fl = 0\n"
    "    repeat\n"
    "      %s = get.i32 slot\n"
    "      elect %t = ticket.next %n\n"
    "      elect st.shared cell[%s], %t\n"
    "      elect clc.next t[%s], full[%s]\n"
    "      %first = clc.id t[%s]\n"
    "      warp.sync\n"
    "      %id = ld.shared cell[%s]\n"
    "      %end = cmp ge %id, %n\n"
    "      elect bar.arrive_expect full[%s], 1024\n"
    "      elect bar.expect full[%s], 16\n"
    "      elect bar.arrive_expect full[%s], 16, rank 0\n"
    "      elect bar.expect full[%s], 16, rank 0\n"
    "      %row = lanes 40\n"
    "        %r64 = cvt.i64 %row\n"
    "        %at = mul.i64 %r64, 4\n"
    "        %in = cmp lt %r64, %n\n"
    "        @%in %v = ld.scalar idx, %at\n"
    "        %b0 = mul.i64 %v, 16\n"
    "        %from = gaddr b, %b0\n"
    "        %zero = zaddr\n"
    "        %src = sel.i64 %in, %from, %zero\n"
    "        %to = shl.i64 %r64, 4\n"
    "        @%in blk.load %src -> t[%s]+%to, bytes 16, full[%s], pol p\n"
    "      end\n"
    "      set fl = 0\n"
    "      elect map.set m -> lm[%s], cell lc, fresh fl, at %id, dim [%n, 64], pitch [128]\n"
    "      elect tma.load m [0, 0] -> t[%s], full[%s], bytes 1024, rank 1, pol p, by lm[%s]\n"
    "      elect tma.load m [0, 0] -> t[%s], full[%s], bytes 1024, mask 15\n"
    "      elect tma.load m [0, 0] -> t[%s], full[%s], bytes 1024, mask 3, bar_rank 1\n"
    "      elect tma.load g [1, 2, 3, %s, 0] -> t[%s], full[%s], bytes 512\n"
    "      elect tma.load c [0, 0, 0, 0], info [%s, 255] -> t[%s], full[%s], bytes 1024\n"
    "      elect tma.load w [0, 0, 0, 0], info [4, 31] -> t[%s], full[%s], bytes 1024, pol p\n"
    "      elect tma.prefetch c [0, 0, 0, 0], info [1, 2]\n"
    "      elect blk.load %n -> t[0], bytes 16, full[0], rank %rank\n"
    "      elect blk.load %n -> t[0], bytes 16, full[0], mask 5, pol p\n"
    "      elect tma.prefetch m [0, 0], pol p\n"
    "      elect tma.prefetch m [8, 0]\n"
    "      elect blk.prefetch %n, bytes 64\n"
    "      elect blk.prefetch %n, bytes 64, pol p\n"
    "      %next = xor.i32 %s, 1\n"
    "      set slot = %next\n"
    "      break %end\n"
    "    end\n"
    "  }\n";
static const char LAST[] =
    "  role work warps 4 {\n"
    "    var slot = 0\n    var on = 1\n    var fs = 0\n    var fr = 0\n"
    "    %i = loop.i32 0 .. 4\n"
    "      %j = add.i32 %i, 1\n      %k = sub.i32 %i, 1\n      %q = div.i32 %j, 3\n      %r = mod.i32 %k, 3\n"
    "      %whole = div.i64 %n, %n, recip %n\n      %left = mod.i64 %n, %n, recip %n\n"
    "      %x = min.i32 %q, %r\n      %y = max.i32 %q, %r\n      %z = shr.i32 %y, 1\n      %o = or.i32 %x, %z\n"
    "      %a = and.i32 %o, 1\n      %c = const.pred 1\n      %nc = not.pred %c\n"
    "      if %nc\n        @%c set on = 0\n      else\n        set slot = %a\n      end\n"
    "      bar.wait full[%a], 0, scope cluster\n"
    "      elect bar.wait full[%a], 1\n"
    "      thr.copy turn, t[%a] -> big+64\n"
    "      thr.load fetch, %n, pitch [64, 1], low [0, 0], high [%a, 16] -> t[%a]\n"
    "      thr.load fetch, %n, pitch [%n, 1] -> t[%a]+16\n"
    "      thr.store put, t[%a] -> %n, pitch [64, 1], low [0, %a], high [4, 16]\n"
    "      thr.store put, t[%a] -> %n, pitch [64, 1]\n"
    "      thr.fill clear -> t[0]\n"
    "      thr.fill clear -> t[0], value %n\n"
    "      fence.async shared\n"
    "      cta.sync 1, 128\n"
    "      elect map.set m -> sm, cell wc, fresh fs, at %n, dim [%n, 64], pitch [128]\n"
    "      elect map.set f -> rm, cell wc, fresh fr, at %n, dim [%n, 32], pitch [128]\n"
    "      elect tma.store m [0, 0], t[%a], bytes 1024, pol p, by sm\n"
    "      elect tma.store m [0, 8], t[%a], bytes 1024\n"
    "      elect tma.reduce add f [0, 0], t[%a], bytes 1024, by rm\n"
    "      elect tma.reduce max m [0, 0], t[%a], bytes 1024, pol p\n"
    "      elect blk.store t[%a] -> %n, bytes 1024, pol p any_order\n"
    "      elect blk.store t[%a] -> %n, bytes 512\n"
    "      elect blk.store t[%a] -> %n, bytes 256, bytes_of %a\n"
    "      elect blk.store t[%a] -> %n, bytes 128, bytes_of 13107, pol p\n"
    "      elect st.bulk t[%a]+8, bytes 64\n"
    "      elect blk.reduce add f32, t[%a] -> %n, bytes 1024, pol p\n"
    "      elect blk.reduce xor s64, t[%a] -> %n, bytes 1024\n"
    "      elect grp.commit\n"
    "      elect grp.wait 0 read\n"
    "      bar.arrive free, rank 0\n"
    "      bar.arrive free\n"
    "      fence.acqrel gpu\n"
    "      elect tc.cp 128x128b, plain, big, by %dbig, step 16, n 1 -> u[%a](0, 4)\n"
    "      elect tc.cp 4x256b, b4x16_p64, t[0]+512, by %dt, step 32, n 1 -> u[1](31, 8)\n"
    "      elect tc.cp 4x256b, plain, t[0], by %dt, step 32, n 1 -> u[1](31, 8), along %a\n"
    "      elect tc.shift u[0](32, 0), n 2\n"
    "      elect tc.shift u[0](64, 0), n 2, along %a\n"
    "      elect tc.commit full[%a]\n"
    "      elect tc.commit full[0], mask 3\n"
    "      tc.fence before\n"
    "      tc.ld out, u[%a] -> big\n"
    "      tc.ld out, u[0] -> big, along %a\n"
    "      tc.st into, t[1] -> u[1](64, 0), along %a\n"
    "      tc.st into, t[0] -> u[1](64, 28)\n"
    "    end\n"
    "  }\n"
    "  role peer warps 1 elect {\n"
    "    %right = add.i32 %rank, 1\n"
    "    blk.peer t[0] -> t[1], bytes 512, full[1], rank %right\n"
    "    blk.reduce_peer add u32, t[0]+512 -> t[1]+512, bytes 512, full[1], rank %right\n"
    "    st.async %n -> cell[1], full[1], rank %right\n"
    "    st.async.fill f32, %right -> t[0]+16, bytes 16, full[1], rank %right\n"
    "    red.async add u64, %n -> t[0]+8, bytes 8, full[1], rank %right\n"
    "    grp.wait 0 full\n"
    "  }\n"
    "  exit {\n"
    "    %last = sreg ctaid.x\n"
    "    elect grp.wait 0 read\n"
    "    cluster.arrive release\n    cluster.wait\n"
    "    elect tc.free 64\n"
    "  }\n"
    "}\n";

static IrModule *read_text(Fixture *x, const char *text, size_t n)
{
    return ir_read(&x->arena, x->names, &x->diags, sources_add(&x->sources, "t.ir", text, n));
}

static char *whole(void)
{
    static const char *const parts[] = {HEAD, BODIES, LAST};
    size_t n = 0;
    char *s = malloc(strlen(HEAD) + strlen(BODIES) + strlen(LAST) + 1);
    assert_non_null(s);
    for (int i = 0; i < 3; i++) {
        memcpy(s + n, parts[i], strlen(parts[i]) + 1);
        n += strlen(parts[i]);
    }
    return s;
}

/* A derived schedule before it becomes roles. */
static const char TREE[] =
    "module sm_90a\n\n"
    "kernel tree entry tree {\n"
    "  sym N size\n  tensor a f32 [N] stride [1] read written align 16\n  arg tensor a\n  param address a\n  param counter\n"
    "  grid 4, 1, 1\n  cluster 2, 1, 1\n  threads 160\n  smem 8192\n"
    "  ring t slots 3 lag 1\n  ring ids slots 2 lag 0\n"
    "  buf t bytes 1024 align 128 slots 3 pitch 1024 at 0 ring t\n"
    "  buf ids bytes 8 align 128 slots 2 pitch 128 at 3072 ring ids\n"
    "  bar t.full slots 3 count 1 at 4096 derived ring t\n"
    "  bar t.empty slots 2 count 1 at 4120 derived\n"
    "  bar ids.full slots 2 count 1 at 4136 derived ring ids\n"
    "  var next i64\n"
    "  init {\n"
    "    elect bar.init t.full[0], 1\n    elect bar.init t.full[1], 1\n    elect bar.init t.full[2], 1\n"
    "    elect bar.init t.empty[0], 1\n    elect bar.init t.empty[1], 1\n"
    "    elect bar.init ids.full[0], 1\n    elect bar.init ids.full[1], 1\n"
    "  }\n"
    "  free t t.empty\n"
    "  agent load warps 1 elect\n  agent work warps 4\n"
    "  tree {\n"
    "    load: var next = 0\n"
    "    repeat\n"
    "      %1 = get.i64 next\n"
    "      load: acquire ids@n\n"
    "      load: st.shared ids@n, %1\n"
    "      load: bar.arrive ids.full@n\n"
    "      work: await ids.full@n\n"
    "      load: %id = hand %1, ids@n\n"
    "      %3 = cmp lt %id, 0\n"
    "      break %3\n"
    "      load: acquire t@n, scope cluster\n"
    "      load: bar.arrive_expect t.full@n, 512\n"
    "      %4 = gaddr a, 0\n"
    "      load: blk.load %4 -> t@n+512, bytes 512, t.full@n\n"
    "      work: await t.full@n, scope cluster\n"
    "      work: elect blk.store t@n+512 -> %4, bytes 512\n"
    "      load: done t@n\n"
    "      work: elect grp.commit\n"
    "      work: elect grp.wait 1 read\n"
    "      work: elect release t@n\n"
    "      work: elect release t@n, rank 1\n"
    "      work: done t@n\n"
    "    end\n"
    "    work: elect grp.wait 0 read\n"
    "  }\n"
    "}\n";

static IrModule *read_whole(Fixture *x)
{
    char *made = whole();
    const char *text = arena_strdup(&x->arena, made, strlen(made));
    free(made);
    IrModule *m = read_text(x, text, strlen(text));
    if (m == NULL) {
        diags_render(&x->diags, DIAG_HUMAN, false, &x->out);
        fail_msg("%s", x->out.s);
    }
    return m;
}

static void see(const IrRole *r, bool seen[IR_OP_COUNT][IR_OPERANDS_MAX][2])
{
    for (uint32_t i = 0; i < r->ops.n; i++) {
        const IrSignature *sig = ir_signature(r->ops.v[i].op);
        seen[r->ops.v[i].op][sig->n][0] = true;
        for (unsigned j = 0; j < sig->n; j++) seen[r->ops.v[i].op][j][ir_find(&r->ops.v[i], sig->v[j].key) != NULL] = true;
    }
}

/* Every op, and every operand that may be absent both present and absent, stands in the text above. */
static void test_text_has_everything(void **state)
{
    (void)state;
    Fixture x;
    bool seen[IR_OP_COUNT][IR_OPERANDS_MAX][2] = {{{false}}};
    begin(&x);
    const IrKernel *k = read_whole(&x)->kernels.v[0];
    for (uint32_t b = 0; b < ir_bodies(k); b++) see(ir_body(k, b), seen);
    const IrModule *m = read_text(&x, TREE, strlen(TREE));
    assert_non_null(m);
    see(&m->kernels.v[0]->tree, seen);
    for (int op = 0; op < IR_OP_COUNT; op++) {
        const IrSignature *sig = ir_signature((IrOpcode)op);
        if (!seen[op][sig->n][0]) fail_msg("%s is not in the text", ir_op_info((IrOpcode)op)->text);
        for (unsigned j = 0; j < sig->n; j++) {
            bool both = seen[op][j][1] && (!sig->v[j].optional || seen[op][j][0]);
            if (!both) fail_msg("%s: operand %s", ir_op_info((IrOpcode)op)->text, ir_key_text(sig->v[j].key));
        }
    }
    finish(&x);
}

static void same_arg(const IrArg *a, const IrArg *b)
{
    assert_int_equal(a->key, b->key);
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->id, b->id);
    assert_true(a->imm == b->imm);
}

/* The same text, and the same ops behind it. */
static void test_round_trip(void **state)
{
    (void)state;
    Fixture x;
    begin(&x);
    IrModule *m = read_whole(&x);
    ir_print(&x.out, m, NULL);
    IrModule *second = read_text(&x, x.out.s, x.out.n);
    assert_non_null(second);
    Text again;
    text_init(&again, &x.mem);
    ir_print(&again, second, NULL);
    assert_string_equal(x.out.s, again.s);
    text_free(&again);
    const IrKernel *k = m->kernels.v[0], *l = second->kernels.v[0];
    assert_int_equal(ir_bodies(k), ir_bodies(l));
    for (uint32_t b = 0; b < ir_bodies(k); b++) {
        const IrRole *r = ir_body(k, b), *s = ir_body(l, b);
        assert_int_equal(r->ops.n, s->ops.n);
        for (uint32_t i = 0; i < r->ops.n; i++) {
            const IrOp *o = &r->ops.v[i], *p = &s->ops.v[i];
            assert_int_equal(o->op, p->op);
            assert_int_equal(o->type, p->type);
            assert_int_equal(o->elect, p->elect);
            assert_int_equal(o->any_order, p->any_order);
            assert_int_equal(o->dst, p->dst);
            assert_int_equal(o->guard.pred, p->guard.pred);
            assert_int_equal(o->nargs, p->nargs);
            for (uint32_t j = 0; j < o->nargs; j++) same_arg(&o->args[j], &p->args[j]);
        }
    }
    assert_memory_equal(&k->plans.v[0].extent, &l->plans.v[0].extent, sizeof k->plans.v[0].extent);
    assert_true(l->plans.v[1].value == 7 && l->plans.v[1].add && l->plans.v[1].sat);
    assert_int_equal(l->mf.deal, MF_DEAL_TICKET);
    assert_int_equal(l->mf.per_sm, 2);
    assert_true(l->mf.teams && l->mf.traffic && l->pols.v[0].by_traffic);
    finish(&x);
}

static void test_tree_round_trip(void **state)
{
    (void)state;
    Fixture x;
    begin(&x);
    IrModule *m = read_text(&x, TREE, strlen(TREE));
    if (m == NULL) diags_render(&x.diags, DIAG_HUMAN, false, &x.out);
    else ir_print_tree(&x.out, m, NULL);
    assert_string_equal(x.out.s, TREE);
    finish(&x);
}

/* Each with a part of the sentence. */
static void test_tree_rules(void **state)
{
    (void)state;
    static const struct { const char *from, *to, *text; } WRONG[] = {
        {"work: await ids.full@n", "await ids.full@n", "some agent does"},
        {"work: await ids.full@n", "work: await ids.full[1]", "no event of a ring"},
        {"      load: done t@n\n", "      load: done t@n\n      work: release ids@n\n", "nobody waits until"},
        {"elect release t@n, rank 1", "elect release t@n, rank 2", "no CTA of the cluster"},
        {"-> t@n+512, bytes 512", "-> t@n+512, bytes 513", "more bytes than"},
        {"await t.full@n, scope cluster", "await t.full@n, scope gpu", "wider than a cluster"},
        {"load: st.shared", "load: elect st.shared", "role load, op 4 (st.shared): one thread runs the whole role"},
        {"      load: done t@n\n", "      load: warp.sync\n      load: done t@n\n", "by all threads of the role"},
        {"work: done t@n", "work: done u@n", "no ring has the name `u`"},
        {"work: done t@n", "rest: done t@n", "no agent has the name `rest`"},
        {"derived ring ids", "derived", "what has generations belongs to a ring"},
        {"  tree {\n    load: var next = 0\n", "  exit {\n    done t@n\n  }\n  tree {\n    load: var next = 0\n", "rings are of trees"},
        {"  tree {\n    load: var next = 0\n", "  exit {\n    elect bar.arrive t.full@n\n  }\n  tree {\n    load: var next = 0\n", "is no value"},
    };
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        Fixture x;
        begin(&x);
        const char *at = strstr(TREE, WRONG[i].from);
        assert_non_null(at);
        char *text = arena_printf(&x.arena, "%.*s%s%s", (int)(at - TREE), TREE, WRONG[i].to, at + strlen(WRONG[i].from));
        assert_null(read_text(&x, text, strlen(text)));
        diags_render(&x.diags, DIAG_HUMAN, false, &x.out);
        if (strstr(x.out.s, WRONG[i].text) == NULL) fail_msg("%s: %s", WRONG[i].text, x.out.s);
        finish(&x);
    }
}

static bool roles_are_seen(const char *from, const char *to)
{
    Fixture x;
    begin(&x);
    const char *at = strstr(TREE, from);
    char *text = arena_printf(&x.arena, "%.*s%s%s", (int)(at - TREE), TREE, to, at + strlen(from));
    IrModule *m = read_text(&x, text, strlen(text));
    assert_non_null(m);
    IrKernel *k = m->kernels.v[0];
    assert_null(ir_check_tree(&x.arena, k));
    ir_op(&x.arena, &k->roles.v[0], IR_OP_COUNT, (Span){0, 0});
    assert_non_null(ir_check(&x.arena, k));
    bool seen = ir_check_tree(&x.arena, k) != NULL;
    finish(&x);
    return seen;
}

/* Roles are what is made of the tree, and so is what is asked of them: but where another one may use what an elected thread has. */
static void test_tree_alone(void **state)
{
    (void)state;
    assert_false(roles_are_seen("    load: var", "    load: var"));
    assert_false(roles_are_seen("    load: var next = 0\n", "    work: elect %w = ld.shared ids@n\n    work: elect st.shared ids@n, %w\n    load: var next = 0\n"));
    assert_true(roles_are_seen("      %1 = get.i64 next\n", "      work: elect %1 = ticket.next 8\n"));
}

typedef struct Bad {
    const char *from, *to, *text;
} Bad;

/* Each with a part of the sentence. */
static const Bad BAD[] = {
    /* bodies and values */
    {"cluster.arrive release\n", "cluster.arrive release\n    bar.arrive full[0], rank %right\n", "outside its block"},
    {"cluster.arrive release\n", "cluster.arrive relaxed\n", "has to be release"},
    {"%last = sreg ctaid.x\n", "%last = add.i32 %next, 1\n", "outside its block"},
    {"%right = add.i32 %rank, 1\n", "%right = add.i32 %a, 1\n", "outside its block"},
    {"    grp.wait 0 full\n", "    %g = get.i32 slot\n", "not in scope"},
    {"warps 4 {", "warps 9 {", "its roles have 11 warps, its CTAs 224 threads"},
    {"warps 4 {", "warps 0 {", "without warps"},
    {"  param hints\n", "", "no parameter `hints`"},
    {"  param counter\n", "", "no counter"},
    {"    pol.create p\n", "", "not created"},
    /* who does it */
    {"elect bar.init full[0], 1", "bar.init full[0], 1", "by one thread"},
    {"    elect bar.init free, 128\n", "", "no bar.init"},
    {"    grp.wait 0 full\n", "    bar.init free, 128\n", "once"},
    {"elect bar.init full[1], 1", "elect bar.init full[1], 0", "2^20"},
    {"    %right = add.i32 %rank, 1\n", "    elect %right = add.i32 %rank, 1\n", "none to elect"},
    {"    pol.create p\n", "    elect pol.create p\n", "no single thread"},
    {"      break %end\n", "      elect break %end\n", "no single thread"},
    {"      set slot = %next\n", "      elect set slot = %next\n", "only an elected thread has"},
    {"      %end = cmp ge %id, %n\n", "      elect %end = cmp ge %id, %n\n", "only an elected thread has"},
    {"      %id = ld.shared", "      elect %id = ld.shared", "only an elected thread has"},
    {"value %n\n", "value %a\n", "has the wrong type"},
    {"      thr.fill clear -> t[0]\n", "      elect thr.fill clear -> t[0]\n", "no single thread"},
    {"elect %t = ticket.next", "%t = ticket.next", "done by one thread"},
    {"    grp.wait 0 full\n", "    warp.sync\n", "by all threads of the role"},
    {"    grp.wait 0 full\n", "    thr.fill clear -> t[0]\n", "by all threads of the role"},
    {"        set slot = %a\n", "        warp.sync\n", "under a condition"},
    {"        @%c set on = 0\n", "        cta.sync 1, 128\n", "under a condition"},
    {"      break %end\n", "      %drawn = cmp ge %t, %n\n      break %drawn\n", "only an elected thread has"},
    {"%row = lanes 40", "bar.arrive_expect full[%t], 16\n      %row = lanes 40", "only an elected thread has"},
    {"      set slot = %next\n", "      %n32 = cvt.i32 %t\n      set slot = %n32\n", "only an elected thread has"},
    {"      break %end\n",
     "      %t2 = add.i64 %t, 1\n      %no = cmp lt %t2, 0\n      if %no\n      end\n      break %end\n",
     "only an elected thread has"},
    {"      %b0 = mul.i64 %v, 16\n", "      %b0 = mul.i64 %t, 16\n", "only an elected thread has"},
    /* lanes and repeats */
    {"%row = lanes 40", "%row = lanes 0", "no number of turns"},
    {"role load warps 1 {", "role load warps 2 {", "role of one warp"},
    {"        %zero = zaddr\n", "        %zero = zaddr\n        warp.sync\n", "within lanes"},
    {"        %zero = zaddr\n", "        %zero = zaddr\n        grp.commit\n", "within lanes"},
    {"        %zero = zaddr\n", "        %zero = zaddr\n        bar.arrive full[0]\n", "within lanes"},
    {"        %zero = zaddr\n", "        %zero = zaddr\n        elect blk.prefetch %zero, bytes 16\n", "within lanes"},
    {"        %zero = zaddr\n", "        %zero = zaddr\n        set slot = %row\n", "of all of them"},
    {"        %zero = zaddr\n", "        %zero = zaddr\n        repeat\n        end\n", "within lanes"},
    {"        %zero = zaddr\n", "        %zero = zaddr\n        break %in\n", "direct statement"},
    {"      break %end\n", "      if %end\n        break %end\n      end\n", "direct statement"},
    {"      %z = shr.i32 %y, 1\n", "      %z = shr.i32 %y, 1\n      break %end\n", "outside its block"},
    /* numbers */
    {"cta.sync 1, 128", "cta.sync 16, 128", "from 0 to 15"},
    {"cta.sync 1, 128", "cta.sync 1, 100", "multiple of 32"},
    {"cta.sync 1, 128", "cta.sync 1, 64", "neither the role's nor the CTA's"},
    {"cta.sync 0, 224", "cta.sync 0, 128", "neither the role's nor the CTA's"},
    {"elect grp.wait 0 read\n      bar", "elect grp.wait -1 read\n      bar", "number of groups"},
    {"scope cluster", "scope gpu", "wider than a cluster"},
    /* clusters */
    {"cluster 4, 1, 1", "cluster 1, 1, 1", "no cluster"},
    {"bytes 1024, rank 1, pol", "bytes 1024, rank 4, pol", "no CTA of the cluster"},
    {"bytes 1024, mask 15", "bytes 1024, mask 16", "does not have"},
    {"bytes 1024, mask 15", "bytes 1024, mask 0", "does not have"},
    {"bytes 1024, mask 15", "bytes 1024, rank 1, mask 15", "one CTA or"},
    {"rank %rank", "rank %n", "rank has the wrong type"},
    {"mask 3, bar_rank 1", "mask 3, bar_rank 4", "no CTA of the cluster"},
    /* im2col, rows */
    {"info [%s, 255]", "info [%s, 256]", "out of range"},
    {"info [%s, 255]", "info [%s]", "not that of the map's mode"},
    {"tma.load c [0, 0, 0, 0], info [%s, 255]", "tma.load c [0, 0, 0, 0]", "not that of the map's mode"},
    {"tma.load c [0, 0, 0, 0]", "tma.load c [0, 0, 0]", "not those of the map's mode"},
    {"info [4, 31]", "info [512, 31]", "out of range"},
    {"info [4, 31]", "info [4, 32]", "out of range"},
    {"tma.load g [1, 2, 3, %s, 0]", "tma.load g [1, 0]", "not those of the map's mode"},
    {"tma.load m [0, 0] ->", "tma.load m [0, 0], info [0] ->", "not that of the map's mode"},
    {"tma.store m [0, 8]", "tma.store w [0, 0, 0, 0]", "of a mode"},
    /* reductions, maps, ranges */
    {"tma.reduce add f", "tma.reduce min f", "does not work on"},
    {"tma.reduce max m", "tma.reduce inc m", "does not work on"},
    {"blk.reduce add f32", "blk.reduce min f32", "does not work on"},
    {"blk.reduce xor s64", "blk.reduce xor f64", "does not work on"},
    {"blk.reduce_peer add u32", "blk.reduce_peer add f32", "does not work on"},
    {"tma.reduce max m [0, 0]", "tma.reduce max g [0, 0, 0, 0, 0]", "of a mode"},
    {"blk.peer t[0] -> t[1], bytes 512", "blk.peer t[0]+768 -> t[1], bytes 512", "more bytes"},
    {"blk.peer t[0] -> t[1], bytes 512", "blk.peer t[0] -> t[1]+768, bytes 512", "more bytes"},
    {"st.async %n -> cell[1]", "st.async %n -> cell[1]+8", "more bytes"},
    {"st.async %n -> cell[1]", "st.async %rank -> cell[1]", "wrong type"},
    {"st.async.fill f32, %right", "st.async.fill bf16, 0", "has not 32 or 64 bits"},
    {"st.async.fill f32, %right", "st.async.fill f32, %n", "wrong type"},
    {"t[0]+16, bytes 16", "t[0]+16, bytes 12", "not what one instruction writes"},
    {"t[0]+16, bytes 16", "t[0]+8, bytes 16", "not aligned"},
    {"red.async add u64", "red.async min u64", "does not work on"},
    {"t[0]+8, bytes 8", "t[0]+8, bytes 16", "not what one instruction writes"},
    {"st.bulk t[%a]+8, bytes 64", "st.bulk t[%a]+8, bytes 60", "no positive multiple of 8"},
    {"st.bulk t[%a]+8, bytes 64", "st.bulk t[%a]+8, bytes 1024", "more bytes"},
    {"elect st.bulk", "st.bulk", "by one thread"},
    {"elect map.prefetch m", "map.prefetch m", "by one thread"},
    {"bytes_of 13107", "bytes_of 65536", "more than 16 bits"},
    {"bytes_of %a", "bytes_of %n", "wrong type"},
    {"st.shared cell[%s], %t", "st.shared cell[%s], %s", "wrong type"},
    {"ld.shared cell[%s]", "ld.shared cell[%s]+4", "more bytes"},
    /* tensor memory */
    {"tmem_columns 64 pair", "tmem_columns 48 pair", "lies outside the 48 columns"},
    {"tmem_columns 64 pair", "tmem_columns 96 pair", "a power of two"},
    {"tmem_columns 64 pair", "tmem_columns 128 pair", "not the columns of the kernel"},
    {"tmem_columns 64 pair", "zeros 1024", "outside the 0 columns"},
    {"tmem u lanes 128", "tmem v lanes 1 columns 1 slots 1 pitch 1 at 5\n  tmem u lanes 128", "overlap in tensor memory"},
    {"    elect tc.free 64\n", "", "freed in exit, once"},
    {"    elect tc.relinquish\n", "", "freed in exit, once"},
    {"tc.free 64", "tc.free 32", "not the columns of the kernel"},
    {"    elect tc.free 64\n", "    %l = loop.i32 0 .. 2\n    elect tc.free 64\n    end\n", "once and unconditionally"},
    {"    elect tc.relinquish\n", "    tc.relinquish\n", "by one warp, once"},
    {"    tc.base cell[0]\n", "    tc.base t[0]\n", "was not written"},
    {"    dep.wait\n", "", "touches global memory in front of dep.wait"},
    {"    dep.wait\n", "    dep.wait\n    dep.wait\n", "once and unconditionally"},
    {"    dep.wait\n", "    dep.wait\n    dep.launch\n", "allocates tensor memory behind dep.launch"},
    {"      %s = get.i32 slot\n", "      %s = get.i32 slot\n      dep.wait\n", "stands in init"},
    {"  dependent\n", "", "launched behind all before it"},
    {"    elect tc.alloc cell[0], n 64\n    elect tc.relinquish\n", "    elect tc.relinquish\n    elect tc.alloc cell[0], n 64\n", "before all else"},
    {"elect tc.cp 128x128b", "tc.cp 128x128b", "by one thread"},
    {"big, by %dbig", "u[0](0, 0), by %dbig", "from shared memory"},
    {"big, by %dbig", "big, by %dt", "no descriptor of its buffer"},
    {"big, by %dbig", "big, by %rank", "no descriptor of its buffer"},
    {"tc.desc big, lead", "tc.desc big+16, lead", "from its first byte"},
    {"smem 8192\n  zeros 1024\n  tmem_columns 64 pair\n  buf t bytes 1024 align 128 slots 2 pitch 1024 at 0\n"
     "  buf cell bytes 8 align 128 slots 2 pitch 128 at 2048\n  buf big bytes 2048 align 1024 slots 1 pitch 2048 at 4096",
     "smem 300000\n  zeros 1024\n  tmem_columns 64 pair\n  buf t bytes 1024 align 128 slots 2 pitch 1024 at 0\n"
     "  buf cell bytes 8 align 128 slots 2 pitch 128 at 2048\n  buf big bytes 2048 align 1024 slots 1 pitch 2048 at 261120", "addresses descriptors can't hold"},
    {"tc.desc t[0], lead", "tc.desc t[1], lead", "from its first byte"},
    {"tc.desc t[0], lead", "tc.desc u[0], lead", "a buffer in shared memory"},
    {"step 16, n 1 -> u[%a](0, 4)", "step 8, n 1 -> u[%a](0, 4)", "steps"},
    {"step 16, n 1 -> u[%a](0, 4)", "step 16, n 0 -> u[%a](0, 4)", "no instructions"},
    {"step 16, n 1 -> u[%a](0, 4)", "step 16, n 2 -> u[%a](0, 4)", "reads outside"},
    {"step 16, n 1 -> u[%a](0, 4)", "step 16, n 1 -> u[%a](0, 30)", "beyond the tile"},
    {"step 16, n 1 -> u[%a](0, 4)", "step 16, n 1 -> u[%a](1, 4)", "starts at lane 0"},
    {"step 16, n 1 -> u[%a](0, 4)", "step 16, n 1 -> u[%a](0, 6)", "multiple of 4 columns"},
    {"slots 2 pitch 32 at 0", "slots 2 pitch 31 at 0", "none of tensor memory"},
    {"tmem u lanes 128 columns 32 slots 2 pitch 32 at 0", "tmem u lanes 128 columns 29 slots 2 pitch 30 at 0", "multiple of 4 columns"},
    {"tc.shift u[0](32, 0), n 2", "tc.shift u[0](32, 4), n 2", "multiple of 8 columns"},
    {"n 1 -> u[1](31, 8)", "n 1 -> u[1](32, 8)", "lane below 32"},
    {"stride 128, swizzle none", "stride 128, swizzle 128B_atom_32B", "don't know"},
    {"lead 16, stride 256, swizzle none", "lead 16, stride 256, swizzle 32B", "where the swizzle's pattern"},
    {"lead 16, stride 128", "lead 8, stride 128", "can't hold"},
    {"tc.shift u[0](32, 0), n 2", "tc.shift u[0](33, 0), n 2", "multiple of 32 lanes"},
    {"tc.shift u[0](32, 0), n 2", "tc.shift u[0](32, 20), n 2", "beyond the tile"},
    {"tc.shift u[0](32, 0), n 2", "tc.shift t[0], n 2", "in tensor memory"},
    {"tc.ld out, u[%a] -> big", "tc.ld into, u[%a] -> big", "not of this tile"},
    {"tc.ld out, u[%a] -> big", "tc.ld out, u[%a](32, 0) -> big", "beyond the tile"},
    {"tc.ld out, u[%a] -> big", "tc.ld out, t[%a] -> big", "between tensor and shared"},
    {"tc.st into, t[0] -> u[1](64, 28)", "tc.st into, t[0] -> u[1](65, 28)", "multiples of 32"},
    {"tc.st into, t[0] -> u[1](64, 28)", "tc.st turn, t[0] -> u[1](64, 28)", "moves otherwise"},
    {"thr.fill clear -> t[0]", "thr.fill clear -> u[0]", "works on what is in tensor memory"},
    /* maps that the device makes */
    {"elect map.set m -> lm", "map.set m -> lm", "first warp"},
    {"      set fl = 0\n", "", "made of other values"},
    {"      set fl = 0\n", "      elect set fl = 0\n", "only set to 0"},
    {"      set fl = 0\n", "      set fl = 1\n", "only set to 0"},
    {"      set fl = 0\n", "      set fl = 0\n      %fresh = get.i64 fl\n", "only set to 0"},
    {"fl, at %id", "fl, at %t", "only an elected thread has"},
    {"fl, at %id", "fl, at %s", "wrong type"},
    {"fresh fr", "fresh fs", "one set of slots"},
    {"by lm[%s]", "by sm", "of another role"},
    {"by lm[%s]", "by t", "a tile is no map"},
    {"by rm", "by sm", "by another map"},
    {"cell lc", "cell lm", "a buffer of maps is no tile"},
    {"cell lc", "cell cell", "is made in a cell"},
    {"map.set f -> rm", "map.set f -> big", "for a buffer of maps"},
    {"blk.load %n -> t[0]", "blk.load %n -> lm[0]", "no tile"},
    {"%id, dim [%n, 64]", "%id, dim [%n]", "rank of the map"},
    {"%id, dim [%n, 64], pitch [128]", "%id, dim [%n, 64], pitch [128, 2]", "rank of the map"},
    {"map.set f -> rm", "map.set g -> rm", "that the device does not make"},
    {"  param maps 512\n", "", "outside the room"},
    {"  param maps 512\n", "  param maps 384\n", "outside the room"},
    {"pitch 128 at 384 maps", "pitch 128 at 256 maps", "overlap others"},
    {"buf rm bytes 128", "buf rm bytes 64", "slots of 128 bytes"},
    {"var fl i64", "var fl i32", "var is no i64"},
};

static char *replaced(const char *from, const char *to)
{
    char *text = whole();
    const char *at = strstr(text, from);
    if (at == NULL) fail_msg("not in the text: %s", from);
    size_t head = (size_t)(at - text), rest = strlen(at + strlen(from)), n = strlen(to);
    char *s = malloc(head + n + rest + 1);
    assert_non_null(s);
    memcpy(s, text, head);
    memcpy(s + head, to, n);
    memcpy(s + head + n, at + strlen(from), rest + 1);
    free(text);
    return s;
}

static void test_rules(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        Fixture x;
        char *text = replaced(BAD[i].from, BAD[i].to);
        begin(&x);
        IrModule *m = read_text(&x, text, strlen(text));
        diags_render(&x.diags, DIAG_SHORT, false, &x.out);
        bool ok = m == NULL && x.diags.errors == 1 && strstr(x.out.s, "E0662") && strstr(x.out.s, BAD[i].text);
        if (!ok)
            fail_msg("%s -> %s: expected E0662 .. %s, got %s", BAD[i].from, BAD[i].to, BAD[i].text,
                     x.out.s ? x.out.s : "nothing");
        finish(&x);
        free(text);
    }
}

/* With any byte changed the text is read, or refused with one message. */
static void test_hostile_texts(void **state)
{
    (void)state;
    uint32_t seed = 1;
    for (int i = 0; i < 3000; i++) {
        Fixture x;
        char *text = whole();
        size_t n = strlen(text);
        seed = seed * 1664525u + 1013904223u;
        text[(seed >> 8) % n] = "\n 019%[]()abz,.+"[(seed >> 3) % 17];
        begin(&x);
        IrModule *m = read_text(&x, text, n);
        assert_int_equal(x.diags.errors, m ? 0 : 1);
        if (m) ir_print(&x.out, m, NULL);
        finish(&x);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_has_everything),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_tree_round_trip),
        cmocka_unit_test(test_tree_rules), cmocka_unit_test(test_tree_alone),
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_hostile_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
