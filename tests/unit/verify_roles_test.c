/* The verifier on kernels of several roles, threads and CTAs: the correct ones are accepted, and of each the mutants: no
 * sync op too many or too few, no count, parity, slot or number of bytes otherwise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lower/ir/ir.h"
#include "lower/verify/verify.h"
#include "tests/unit/ir_fixture.h"
#include "tests/unit/ir_role_texts.h"

static IrModule *read_text(Fixture *x, const char *text)
{
    Source *f = sources_add(&x->sources, "t.ir", text, strlen(text));
    IrModule *m = ir_read(&x->arena, x->names, &x->diags, f);
    if (m == NULL) {
        diags_render(&x->diags, DIAG_HUMAN, false, &x->out);
        fail_msg("%s", x->out.s);
    }
    return m;
}

static void test_correct_kernels(void **state)
{
    (void)state;
    for (int i = 0; i < ROLE_TEXT_COUNT; i++) {
        Fixture x;
        begin(&x);
        IrModule *m = read_text(&x, ROLE_TEXTS[i].text);
        if (!ir_verify(&x.scratch, &x.diags, m->kernels.v[0], NULL, NULL)) {
            diags_render(&x.diags, DIAG_HUMAN, false, &x.out);
            fputs(x.out.s, stderr);
            fail_msg("%s", ROLE_TEXTS[i].name);
        }
        finish(&x);
    }
}

/* ---- mutants ---- */

static bool pair_of(const IrOp *a, const IrOp *b, IrOpcode x, IrOpcode y)
{
    return (a->op == x && b->op == y) || (a->op == y && b->op == x);
}

static bool copies(const IrOp *op)
{
    return ir_op_info(op->op)->group == IRG_COPY;
}

static bool announces(const IrOp *op)
{
    return op->op == IR_BAR_ARRIVE || op->op == IR_BAR_ARRIVE_EXPECT;
}

/* Neighbours whose order means nothing: a phase can't end before its arrival, whenever the bytes come; a thread may take
 * waits for different things in any order, and announce bytes before or after it waits for stores. */
static bool commute(const IrOp *a, const IrOp *b)
{
    if ((copies(a) && (copies(b) || announces(b))) || (copies(b) && announces(a))) return true;
    return pair_of(a, b, IR_BAR_ARRIVE, IR_BAR_ARRIVE) || pair_of(a, b, IR_BAR_INIT, IR_BAR_INIT) ||
           pair_of(a, b, IR_BAR_WAIT, IR_GRP_WAIT) || pair_of(a, b, IR_BAR_ARRIVE_EXPECT, IR_GRP_WAIT);
}

enum { KINDS = 8 };
static const char *const WHAT[KINDS] = {"dropped",    "doubled",    "moved down", "moved up",
                                        "number + 1", "number - 1", "bytes + 16", "next slot"};

static bool plain(const IrOp *op)
{
    return op->dst == 0 && ir_op_info(op->op)->group != IRG_CONTROL && op->op != IR_SET && op->op != IR_VAR;
}

static bool step_number(IrOp *op, int64_t by)
{
    for (uint32_t i = 0; i < op->nargs; i++) {
        IrArg *a = &op->args[i];
        bool number = a->key == IRK_COUNT_ || a->key == IRK_PHASE || a->key == IRK_THREADS ||
                      (a->key == IRK_N && op->op != IR_LANES);
        if (!number || a->kind != IRA_IMM) continue;
        a->imm += by;
        return true;
    }
    return false;
}

/* Mutation `kind` of op i; false if it does not apply. */
static bool mutate(Arena *a, const IrRole *from, IrRole *r, uint32_t i, int kind)
{
    *r = *from;
    r->ops.v = arena_array(a, IrOp, from->ops.n + 1);
    memcpy(r->ops.v, from->ops.v, from->ops.n * sizeof *r->ops.v);
    IrOp *op = &r->ops.v[i];
    IrArg *args = arena_array(a, IrArg, op->nargs + 1u);
    if (op->nargs) memcpy(args, op->args, op->nargs * sizeof *args);
    op->args = args;
    uint32_t group = ir_op_info(op->op)->group;
    bool sync = group == IRG_BARRIER || group == IRG_SYNC || group == IRG_GROUP || group == IRG_FENCE;
    if (kind < 4 && (!sync && group != IRG_COPY && group != IRG_THREAD)) return false;
    if (kind < 4 && (!plain(op) || (kind < 2 && !sync))) return false;
    if (kind == 1 && !announces(op) && op->op != IR_BAR_EXPECT)
        return false; /* waits, fences: once more does no harm */
    switch (kind) {
    case 0:
        memmove(op, op + 1, (r->ops.n - i - 1) * sizeof *op);
        r->ops.n--;
        return true;
    case 1:
        memmove(op + 1, op, (r->ops.n - i) * sizeof *op);
        r->ops.n++;
        return true;
    case 2:
    case 3: {
        if (kind == 3 ? i == 0 : i + 1 == r->ops.n) return false;
        IrOp *other = kind == 2 ? op + 1 : op - 1, swap = *op;
        if (!plain(other) || commute(op, other)) return false;
        *op = *other;
        *other = swap;
        return true;
    }
    case 4: return step_number(op, 1);
    case 5: return op->op != IR_GRP_WAIT && step_number(op, -1); /* fewer groups pending do no harm */
    case 6:
        if (group != IRG_BARRIER) return false;
        for (uint32_t j = 0; j < op->nargs; j++) {
            if (op->args[j].key != IRK_BYTES || op->args[j].kind != IRA_IMM) continue;
            op->args[j].imm += 16;
            return true;
        }
        return false;
    default:
        for (uint32_t j = 0; j < op->nargs; j++) { /* another slot than the ring's turn */
            if (op->args[j].key != IRK_SLOT || op->args[j].kind != IRA_VAL) continue;
            op->args[j] = (IrArg){.key = IRK_SLOT, .kind = IRA_IMM, .imm = 1};
            return true;
        }
        return false;
    }
}

static IrKernel with_body(Arena *a, const IrKernel *k, uint32_t body, const IrRole *r)
{
    IrKernel q = *k;
    if (body == 0) {
        q.init = *r;
    } else if (body > k->roles.n) {
        q.exit = *r;
    } else {
        q.roles.v = arena_array(a, IrRole, k->roles.n);
        memcpy(q.roles.v, k->roles.v, k->roles.n * sizeof *q.roles.v);
        q.roles.v[body - 1] = *r;
    }
    return q;
}

typedef struct Tally {
    uint32_t tried, accepted;
} Tally;

/* In a ring of two slots the release of the second one, waited for before each turn, stands for that of the first, too. Threads may fence
 * behind where they come together as well as before. */
static bool harmless(const IrKernel *k, const IrRole *r, uint32_t i, int kind)
{
    const IrOp *op = &r->ops.v[i];
    const IrArg *bar = ir_find(op, IRK_BAR);
    uint32_t fence = strcmp(WHAT[kind], "moved down") == 0 ? i : strcmp(WHAT[kind], "moved up") == 0 && i > 0 ? i - 1 : UINT32_MAX;
    if (fence < r->ops.n - 1 && r->ops.v[fence].op == IR_FENCE_ASYNC && r->ops.v[fence + 1].op == IR_CTA_SYNC) return true;
    return kind == KINDS - 1 && op->op == IR_BAR_WAIT && k->bars.v[bar->id].slots == 2 &&
           (strstr(k->bars.v[bar->id].name, "empty") || strcmp(k->bars.v[bar->id].name, "heard") == 0);
}

static void judge(Fixture *x, const RoleText *t, const IrModule *m, uint32_t body, uint32_t i, int kind, Tally *n)
{
    const IrKernel *k = m->kernels.v[0];
    const IrRole *r = ir_body(k, body);
    if (harmless(k, r, i, kind)) return;
    ArenaMark mark = arena_mark(&x->scratch);
    IrRole changed;
    if (mutate(&x->scratch, r, &changed, i, kind)) {
        IrKernel q = with_body(&x->scratch, k, body, &changed);
        Diags quiet;
        diags_init(&quiet, &x->scratch, &x->sources);
        n->tried++;
        if (ir_verify(&x->scratch, &quiet, &q, NULL, NULL)) {
            text_clear(&x->out);
            ir_print_op(&x->out, k, &r->ops.v[i]);
            n->accepted++;
            print_message("accepted: %s, %s: %s\n", t->name, WHAT[kind], x->out.s);
        }
    }
    arena_release(&x->scratch, mark);
}

static void test_mutants(void **state)
{
    (void)state;
    Tally n = {0};
    for (int i = 0; i < ROLE_TEXT_COUNT; i++) {
        Fixture x;
        begin(&x);
        IrModule *m = read_text(&x, ROLE_TEXTS[i].text);
        for (uint32_t b = 0; b < ir_bodies(m->kernels.v[0]); b++)
            for (uint32_t op = 0; op < ir_body(m->kernels.v[0], b)->ops.n; op++)
                for (int kind = 0; kind < KINDS; kind++) judge(&x, &ROLE_TEXTS[i], m, b, op, kind, &n);
        finish(&x);
    }
    print_message("%u mutants\n", n.tried);
    assert_int_equal(n.accepted, 0);
}

/* ---- what is reported ---- */

typedef struct Finding {
    const char *kernel, *from, *to, *code;
} Finding;

static const Finding FINDINGS[] = {
    {"two roles", "      bar.wait empty[%ls], %lp\n      bar.arrive_expect full[%ls], 16384\n",
     "      bar.arrive_expect full[%ls], 16384\n      bar.wait empty[%ls], %lp\n", "E0611"},
    {"two roles", "      grp.wait 0 read\n", "", "E0624"},
    {"two roles", "      bar.wait full[%ss], %sp\n", "", "E0612"},
    {"two roles", "var lphase = 1", "var lphase = 0", "E0603"},
    {"two roles", "bar.arrive empty[%ss]", "bar.arrive full[%ss]", "E0607"},
    {"two roles", "%sk = loop.i64 0 .. %sn0", "%sk = loop.i64 1 .. %sn0", "E0650"},
    {"two roles", "%sn0 = param.i64 ceil(M, 64)", "%sn0 = param.i64 ceil(N, 64)", "E0650"},
    {"two roles", "    elect fence.mbar_init\n", "", "E0653"},
    {"two roles", "%lw = cmp eq %ln, 3", "%lw = cmp ge %lk32, 7", "E0658"},
    {"two roles", "      bar.wait empty[%ls], %lp\n", /* right for nine turns */
     "      %e1 = cmp lt %lk32, 3\n      %e2 = cmp ge %lk32, 6\n      %e3 = or.pred %e1, %e2\n"
     "      %e4 = cvt.i32 %e3\n      bar.wait empty[%ls], %e4\n",
     "E0603"},
    {"two roles", "      grp.commit\n", /* from the tenth turn on without */
     "      %e1 = cmp lt %sk32, 9\n      @%e1 grp.commit\n", "E0624"},
    {"mask of parities", "%lr = shr.i32 %lb, %ls", "%lr = shr.i32 %lk32, %ls", "E0603"},
    {"skewed", "%more = cmp lt %next, %n\n", "%more = cmp lt %next, 100\n", "E0650"},
    {"multicast", "%lp, scope cluster", "%lp", "E0670"},
    {"multicast", "      bar.arrive empty[%ss], rank %below\n", "", "E0604"},
    {"multicast", "mask %ma", "mask 15", "E0613"},
    {"multicast", "    cluster.arrive release\n    cluster.wait\n", "", "E0625"},
    {"ring of CTAs", "rank %right", "rank %me", "E0618"},
    {"ring of CTAs", "bar.arrive mempty[%ss], rank %left", "bar.arrive mempty[%ss], rank %i", "E0611"},
    {"threads", "      fence.async shared\n", "", "E0606"},
    {"threads", "      fence.async shared\n      cta.sync 1, 128\n", "      cta.sync 1, 128\n      elect fence.async shared\n", "accepted"},
    {"threads", "      fence.async shared\n      cta.sync 1, 128\n", "      elect fence.async shared\n      cta.sync 1, 128\n", "E0606"},
    {"threads", "cta.sync 1, 128", "cta.sync 1, 64", "E0662"},
    {"threads", "elect tma.store", "tma.store", "E0672"},
    {"threads", "threads 128 vector", "threads 64 vector", "E0673"},
    {"threads", "b[%bs]\n", "a[%ss]\n", "E0612"},
    {"lanes", "      warp.sync\n", "", "E0602"},
    {"lanes", "lanes 64", "lanes 65", "E0658"},
    {"mask of parities", "%ss = cvt.i32 %smod\n", /* right for 1000 turns */
     "%s0 = cvt.i32 %smod\n      %s1 = mod.i32 %sk32, 1001\n      %s2 = div.i32 %s1, 1000\n"
     "      %s3 = add.i32 %s0, %s2\n      %ss = mod.i32 %s3, 3\n",
     "E0660"},
    {"mask of parities", "%sp = and.i32 %sr, 1\n",
     "%s0 = and.i32 %sr, 1\n      %s1 = div.i32 %sk32, 1000\n      %s2 = and.i32 %s1, 1\n"
     "      %sp = xor.i32 %s0, %s2\n",
     "E0660"},
    {"nested rings", "      bar.wait bempty[%os], %op\n", "", "E0657"}, /* wrong from the fourth turn on */
    /* right for 20 turns */
    {"two roles",
     R_TURN("s") "      bar.wait full[%ss], %sp\n"
                 "      tma.store out [%sat, 0], tile[%ss], bytes 16384\n"
                 "      grp.commit\n"
                 "      grp.wait 0 read\n"
                 "      bar.arrive empty[%ss]\n" R_NEXT("s", "3"),
     "      %g = get.i32 sslot\n      %ss = mod.i32 %g, 3\n      %d = div.i32 %g, 3\n      %sp = and.i32 %d, 1\n"
     "      %o = cmp ge %g, 20\n      %o32 = cvt.i32 %o\n      %x = xor.i32 %sp, %o32\n"
     "      bar.wait full[%ss], %x\n"
     "      tma.store out [%sat, 0], tile[%ss], bytes 16384\n"
     "      grp.commit\n"
     "      grp.wait 0 read\n"
     "      bar.arrive empty[%ss]\n"
     "      %gn = add.i32 %g, 1\n      set sslot = %gn\n",
     "E0656"},
    {"two roles", "      bar.arrive empty[%ss]\n",
     "      %odd = cmp eq %sp, 0\n      if %odd\n        bar.arrive empty[%ss]\n      end\n", "E0603"},
    {"two roles", "      bar.wait full[%ss], %sp\n", /* a slot that data say */
     "      %s64 = ld.scalar src, 0\n      %sd = cvt.i32 %s64\n      bar.wait full[%sd], %sp\n", "E0660"},
    {"ring of CTAs", "      bar.arrive mempty[%ss], rank %left\n",
     "      %far = add.i32 %left, 8\n      bar.arrive mempty[%ss], rank %far\n", "E0658"},
    {"ring of CTAs", "      blk.peer mine[%ds] -> theirs[%ds], bytes 16384, tfull[%ds], rank %right\n",
     "      %far = add.i32 %right, 8\n      blk.peer mine[%ds] -> theirs[%ds], bytes 16384, tfull[%ds], rank %far\n", "E0658"},
    {"threads", "      thr.copy turn, a[%ss] -> b[%bs]\n", /* each thread reads for itself */
     "      %v = ld.shared a[%ss]\n      %some = cmp gt %v, 0\n      @%some thr.copy turn, a[%ss] -> b[%bs]\n", "E0610"},
    {"two roles", "      tma.store out [%sat, 0], tile[%ss], bytes 16384\n", /* a tensor that is written */
     "      %v = ld.scalar dst, 0\n      tma.store out [%sat, 0], tile[%ss], bytes 16384\n", "E0706"},
};

#define ONE_TILE                                                                                                       \
    "  buf tile bytes 16384 align 128 slots 1 pitch 16384 at 0\n  bar full slots 1 count 1 at 200000\n"                \
    "  init {\n    elect bar.init full, 1\n"
/* As many pieces as there are rows, up to 8. */
#define PIECES(bytes)                                                                                                  \
    R_HEAD("1, 1, 1", "32") ONE_TILE                                                                                   \
    "    elect fence.mbar_init\n    cta.sync 0, 32\n  }\n  role main warps 1 elect {\n"                               \
    "    %m = param.i64 M\n    %n = min.i64 %m, 8\n    %n32 = cvt.i32 %n\n    %all = mul.i32 %n32, " bytes "\n"       \
    "    bar.arrive_expect full, %all\n    %i = loop.i64 0 .. %n\n      %at = mul.i64 %i, 1024\n"                     \
    "      %from = gaddr src, %at\n      blk.load %from -> tile+%at, bytes 1024, full\n    end\n"                     \
    "    bar.wait full, 0\n  }\n}\n"

/* Two turns, each into slot k % slots. */
#define PICKS(slots)                                                                                                   \
    R_HEAD("1, 1, 1", "32")                                                                                            \
    "  buf tile bytes 1024 align 128 slots 2 pitch 1024 at 0\n  bar full slots 1 count 1 at 200000\n"                  \
    "  init {\n    elect bar.init full, 1\n    elect fence.mbar_init\n    cta.sync 0, 32\n  }\n"                      \
    "  role main warps 1 elect {\n    bar.arrive_expect full, 2048\n    %i = loop.i64 0 .. 2\n"                       \
    "      %i32 = cvt.i32 %i\n      %s = mod.i32 %i32, " slots "\n      %at = mul.i64 %i, 1024\n"                      \
    "      %from = gaddr src, %at\n      blk.load %from -> tile[%s], bytes 1024, full\n    end\n"                     \
    "    bar.wait full, 0\n  }\n}\n"

/* One role is done with a tile, and copies `least` pieces or more; the other, which waits for their bytes, writes the tile. */
#define UNSURE(least)                                                                                                  \
    R_HEAD("1, 1, 1", "64")                                                                                            \
    "  buf tile bytes 8192 align 128 slots 1 pitch 8192 at 0\n  buf used bytes 1024 align 128 slots 1 pitch 1024 at 8192\n" \
    "  bar full slots 1 count 1 at 200000\n  bar first slots 1 count 1 at 200008\n  bar again slots 1 count 1 at 200016\n" \
    "  init {\n    elect bar.init full, 1\n    elect bar.init first, 1\n    elect bar.init again, 1\n"               \
    "    elect fence.mbar_init\n    cta.sync 0, 64\n  }\n  role user warps 1 elect {\n"                               \
    "    %m = param.i64 M\n    %m1 = sub.i64 %m, 1\n    %u = min.i64 %m1, 8\n    %n = max.i64 %u, " least "\n"        \
    "    %a = gaddr src, 0\n    bar.arrive_expect first, 1024\n    blk.load %a -> used, bytes 1024, first\n"          \
    "    bar.wait first, 0\n    %b = gaddr dst, 0\n    blk.store used -> %b, bytes 1024\n    grp.commit\n"            \
    "    grp.wait 0 read\n    %i = loop.i64 0 .. %n\n      %at = mul.i64 %i, 1024\n      %from = gaddr src, %at\n"    \
    "      blk.load %from -> tile+%at, bytes 1024, full\n    end\n    bar.wait full, 0\n  }\n"                       \
    "  role writer warps 1 elect {\n    %m2 = param.i64 M\n    %m3 = sub.i64 %m2, 1\n    %u2 = min.i64 %m3, 8\n"      \
    "    %n2 = max.i64 %u2, " least "\n    %n3 = cvt.i32 %n2\n    %all = mul.i32 %n3, 1024\n"                         \
    "    bar.arrive_expect full, %all\n    bar.wait full, 0\n    %c = gaddr src, 0\n"                                 \
    "    bar.arrive_expect again, 1024\n    blk.load %c -> used, bytes 1024, again\n    bar.wait again, 0\n  }\n}\n"

/* Whole kernels. */
static const Finding WRONG[] = {
    /* The second CTA's parity is wrong from the 21st turn on. */
    {"a counter of one CTA",
     R_HEAD("2, 1, 1", "32") "  bar b slots 1 count 1 at 200000\n  var ph i32\n  var x i32\n"
                             "  init {\n    elect bar.init b, 1\n" R_CLUSTER
     "  role main warps 1 elect {\n    %n = param.i64 ceil(M, 64)\n    %me = sreg cluster_ctarank\n"
     "    var ph = 0\n    var x = 0\n"
     "    %k = loop.i64 0 .. %n\n"
     "      bar.arrive b\n"
     "      %p = get.i32 ph\n      %c = get.i32 x\n      %o = cmp ge %c, 20\n      %o32 = cvt.i32 %o\n"
     "      %w = xor.i32 %p, %o32\n      bar.wait b, %w\n"
     "      %q = xor.i32 %p, 1\n      set ph = %q\n      %d = add.i32 %c, %me\n      set x = %d\n"
     "    end\n  }\n" R_EXIT,
     NULL, "E0656"},
    {"bytes that nothing says are expected before the arrival",
     R_HEAD("1, 1, 1", "64") ONE_TILE "    elect fence.mbar_init\n    cta.sync 0, 64\n  }\n"
     "  role tell warps 1 elect {\n    bar.expect full, 16384\n    bar.wait full, 0\n  }\n"
     "  role load warps 1 elect {\n    bar.arrive full\n    tma.load in [0, 0] -> tile, full, bytes 16384\n"
     "    bar.wait full, 0\n  }\n}\n",
     NULL, "E0655"},
    {"a barrier that is made ready behind its first use",
     R_HEAD("1, 1, 1", "32") "  bar full slots 1 count 1 at 200000\n  role main warps 1 elect {\n    bar.arrive full\n"
     "    bar.init full, 1\n    fence.mbar_init\n    bar.wait full, 0\n  }\n}\n",
     NULL, "E0653"},
    {"a loop that draws end",
     R_HEAD("1, 1, 1", "32") "  role main warps 1 elect {\n    %n = param.i64 M\n    repeat\n      %t = ticket.next %n\n"
     "      %stop = cmp lt %t, 0\n      break %stop\n    end\n  }\n}\n",
     NULL, "E0660"},
    {"an arrival of the cluster that nobody waits for",
     R_HEAD("2, 1, 1", "32") "  role main warps 1 elect {\n    %me = sreg cluster_ctarank\n  }\n"
     "  exit {\n    cluster.arrive release\n  }\n}\n",
     NULL, "E0671"},
    {"a meeting to which one role does not come",
     R_HEAD("1, 1, 1", "64") "  role a warps 1 {\n    cta.sync 1, 64\n  }\n  role b warps 1 {\n    %x = sreg ctaid.x\n  }\n}\n",
     NULL, "E0671"},
    {"one barrier for the role and for all",
     R_HEAD("1, 1, 1", "96") "  role a warps 2 {\n    cta.sync 1, 64\n    cta.sync 1, 96\n  }\n"
     "  role b warps 1 {\n    cta.sync 1, 96\n  }\n}\n",
     NULL, "E0671"},
    {"a copy to a CTA that may be gone",
     R_HEAD("2, 1, 1", "32") "  buf theirs bytes 16384 align 128 slots 1 pitch 16384 at 16384\n"
     "  bar there slots 1 count 1 at 200008\n" ONE_TILE "    elect bar.init there, 1\n" R_CLUSTER
     "  role main warps 1 elect {\n    %me = sreg cluster_ctarank\n    %other = xor.i32 %me, 1\n"
     "    bar.arrive_expect full, 16384\n    tma.load in [0, 0] -> tile, full, bytes 16384\n    bar.wait full, 0\n"
     "    blk.peer tile -> theirs, bytes 16384, there, rank %other\n  }\n" R_EXIT,
     NULL, "E0650"},
    {"one branch in each CTA",
     R_HEAD("2, 1, 1", "32") ONE_TILE R_CLUSTER
     "  role main warps 1 elect {\n    %me = sreg cluster_ctarank\n    %first = cmp eq %me, 0\n"
     "    bar.arrive_expect full, 16384\n    if %first\n      tma.load in [0, 0] -> tile, full, bytes 16384\n    else\n"
     "      tma.load in [64, 0] -> tile, full, bytes 16384\n    end\n    bar.wait full, 0\n  }\n" R_EXIT,
     NULL, "accepted"},
    {"one branch in each CTA, of which one brings nothing",
     R_HEAD("2, 1, 1", "32") ONE_TILE R_CLUSTER
     "  role main warps 1 elect {\n    %me = sreg cluster_ctarank\n    %first = cmp eq %me, 0\n"
     "    bar.arrive_expect full, 16384\n    if %first\n      tma.load in [0, 0] -> tile, full, bytes 16384\n    else\n"
     "      tma.prefetch in [64, 0]\n    end\n    bar.wait full, 0\n  }\n" R_EXIT,
     NULL, "E0605"},
    {"pieces as many as rows", PIECES("1024"), NULL, "accepted"},
    {"pieces of fewer bytes than expected", PIECES("1040"), NULL, "E0605"},
    {"bytes that surely come show what comes before them", UNSURE("1"), NULL, "accepted"},
    {"bytes that may be none show nothing", UNSURE("0"), NULL, "E0612"},
    {"turns into one slot each", PICKS("2"), NULL, "accepted"},
    {"two turns into one slot", PICKS("1"), NULL, "E0657"},
};

static const char *text_of(const char *kernel)
{
    for (int i = 0; i < ROLE_TEXT_COUNT; i++)
        if (strcmp(ROLE_TEXTS[i].name, kernel) == 0) return ROLE_TEXTS[i].text;
    return NULL;
}

/* Returns whether it is refused with that code. */
static bool found(const char *name, const char *text, const char *code)
{
    Fixture x;
    begin(&x);
    Source *f = sources_add(&x.sources, "t.ir", text, strlen(text));
    const IrModule *m = ir_read(&x.arena, x.names, &x.diags, f);
    bool ok = m && ir_verify(&x.scratch, &x.diags, m->kernels.v[0], NULL, NULL);
    const char *first = ok ? "accepted" : error_info(x.diags.first->code)->code;
    bool right = strcmp(first, code) == 0;
    if (!right) {
        diags_render(&x.diags, DIAG_HUMAN, false, &x.out);
        print_message("%s: %s instead of %s\n%s", name, first, code, x.out.s ? x.out.s : "");
    }
    finish(&x);
    return right;
}

static void test_findings(void **state)
{
    (void)state;
    uint32_t wrong = 0;
    for (size_t i = 0; i < sizeof FINDINGS / sizeof *FINDINGS; i++) {
        const Finding *g = &FINDINGS[i];
        const char *text = text_of(g->kernel), *at = strstr(text, g->from);
        if (at == NULL) fail_msg("%s: no `%s`", g->kernel, g->from);
        size_t size = strlen(text) + strlen(g->to) + 1;
        char *changed = malloc(size), what[160];
        if (changed == NULL) abort();
        snprintf(changed, size, "%.*s%s%s", (int)(at - text), text, g->to, at + strlen(g->from));
        snprintf(what, sizeof what, "%s, `%.50s` -> `%.50s`", g->kernel, g->from, g->to);
        wrong += !found(what, changed, g->code);
        free(changed);
    }
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) wrong += !found(WRONG[i].kernel, WRONG[i].from, WRONG[i].code);
    assert_int_equal(wrong, 0);
}

/* All write a tile twice. In between the elected thread knows that all have written once, and the others that it has; of
 * each other those know nothing, unless all meet. */
#define OTHERS(meeting) OTHERS_OF("64", meeting)
#define OTHERS_OF(threads, meeting)                                                                                    \
    "module sm_90a\nkernel k entry k {\n  grid 1, 1, 1\n  cluster 1, 1, 1\n  threads " threads "\n  smem 2304\n"         \
    "  buf t bytes 2048 align 128 slots 1 pitch 2048 at 0\n"                                                           \
    "  bar all slots 1 count 64 at 2048\n  bar one slots 1 count 1 at 2056\n"                                          \
    "  plan p = fill extent [16, 32] value 0 dst f32 pitch [128, 4] threads 64 vector 16 method 0 block 4, 1 deal 0 "  \
    "ways 0, 16\n"                                                                                                     \
    "  init {\n    elect bar.init all, 64\n    elect bar.init one, 1\n    elect fence.mbar_init\n    cta.sync 0, " threads \
    "\n  }\n"                                                                                                         \
    "  role work warps 2 {\n    thr.fill p -> t\n    bar.arrive all\n    elect bar.arrive one\n    bar.wait one, 0\n"     \
    "    elect bar.wait all, 0\n" meeting "    thr.fill p -> t\n  }\n}\n"

static void test_others_of_a_role(void **state)
{
    (void)state;
    assert_true(found("a meeting", OTHERS("    cta.sync 1, 64\n"), "accepted"));
    assert_true(found("a meeting in a larger CTA", OTHERS_OF("128", "    cta.sync 1, 64\n"), "accepted"));
    assert_true(found("a meeting with threads of no role", OTHERS_OF("128", "    cta.sync 1, 128\n"), "E0662"));
    assert_true(found("no meeting", OTHERS(""), "E0612"));
    assert_true(found("a meeting that is too late", OTHERS("    thr.fill p -> t\n    cta.sync 1, 64\n"), "E0612"));
}

/* Lanes within a loop: four pieces of 128 bytes, 256 apart, in each turn, whose pieces begin `step` bytes further. */
#define GRIDS(step, read)                                                                                              \
    "module sm_90a\nkernel k entry k {\n  tensor x u8 [8192] stride [1] read align 16\n"                                \
    "  tensor y u8 [8192] stride [1] written align 16\n  arg tensor x\n  arg tensor y\n  param address x\n"              \
    "  param address y\n  grid 1, 1, 1\n  cluster 1, 1, 1\n  threads 32\n  smem 8200\n"                                 \
    "  buf t bytes 8192 align 128 slots 1 pitch 8192 at 0\n  bar full slots 1 count 1 at 8192\n"                       \
    "  init {\n    elect bar.init full, 1\n    elect fence.mbar_init\n    warp.sync\n  }\n"                             \
    "  role main warps 1 {\n    elect bar.arrive_expect full, 2048\n    %i = loop.i64 0 .. 4\n"                         \
    "      %a = mul.i64 %i, " step "\n      %l = lanes 4\n        %l64 = cvt.i64 %l\n        %b = mul.i64 %l64, 256\n" \
    "        %at = add.i64 %a, %b\n        %from = gaddr x, %at\n"                                                      \
    "        blk.load %from -> t+%at, bytes 128, full\n      end\n    end\n    bar.wait full, 0\n"                      \
    "    %j = loop.i64 0 .. 4\n      %c = mul.i64 %j, " step "\n      %m = lanes 4\n        %m64 = cvt.i64 %m\n"       \
    "        %d = mul.i64 %m64, 256\n        %e = add.i64 %c, %d\n        %f = add.i64 %e, " read "\n"                \
    "        %to = gaddr y, %f\n        blk.store t+%f -> %to, bytes 64\n      end\n    end\n"                         \
    "    grp.commit\n    grp.wait 0 read\n  }\n}\n"

static void test_grids_of_pieces(void **state)
{
    (void)state;
    assert_true(found("turns that go on", GRIDS("1024", "64"), "accepted"));
    assert_true(found("turns with gaps between them", GRIDS("2048", "64"), "accepted"));
    assert_true(found("turns that fill the gaps", GRIDS("128", "64"), "E0657"));
    assert_true(found("what lies in the gaps", GRIDS("2048", "128"), "E0610"));
}

/* A loop of as many turns as M has parts; the divisor is made from %c, the number of CTAs. */
#define PARTS(divisor, turns)                                                                                          \
    R_HEAD("1, 1, 1", "32")                                                                                            \
    "  bar b slots 1 count 1 at 200000\n  var ph i32\n  var parts i64\n"                                               \
    "  role main warps 1 elect {\n    bar.init b, 1\n    fence.mbar_init\n"                                            \
    "    %m = param.i64 M\n    %c32 = sreg nctaid.x\n    %c = cvt.i64 %c32\n    %third = div.i64 %c, 3\n" divisor turns \
    "    var ph = 0\n    %k = loop.i64 0 .. %n\n      bar.arrive b\n      %p = get.i32 ph\n      bar.wait b, %p\n"     \
    "      %q = xor.i32 %p, 1\n      set ph = %q\n    end\n  }\n}\n"
#define QUOTIENT "    %n = div.i64 %m, %d\n"
#define IN_A_VARIABLE                                                                                                  \
    "    var parts = 0\n    %i = loop.i64 0 .. %m\n      %r = div.i64 %i, %d\n      set parts = %r\n    end\n"         \
    "    %n = get.i64 parts\n"

static void test_divisors(void **state)
{
    (void)state;
    assert_true(found("not 0", PARTS("    %d = max.i64 %third, 1\n", QUOTIENT), "accepted"));
    assert_true(found("all CTAs", PARTS("    %d = max.i64 %c, 1\n", QUOTIENT), "accepted"));
    assert_true(found("perhaps 0", PARTS("    %d = max.i64 %third, 0\n", QUOTIENT), "E0660"));
    assert_true(found("kept, not 0", PARTS("    %d = const.i64 3\n", IN_A_VARIABLE), "accepted"));
    assert_true(found("kept, perhaps 0", PARTS("    %d = max.i64 %third, 0\n", IN_A_VARIABLE), "E0660"));
}

/* Half of each row of 128 bytes, which a swizzle puts elsewhere than another one does. */
#define HALVES(swizzle, extent)                                                                                        \
    "module sm_90a\nkernel k entry k {\n  grid 1, 1, 1\n  cluster 1, 1, 1\n  threads 64\n  smem 4096\n"               \
    "  buf t bytes 2048 align 1024 slots 1 pitch 2048 at 0\n  buf u bytes 2048 align 128 slots 1 pitch 2048 at 2048\n" \
    "  plan p = fill extent [16, 16] value 0 dst u32 pitch [128, 4] span 128 panel 2048 swizzle 128B threads 64 "      \
    "vector 16 method 0 block 4, 1 deal 0 ways 0, 16\n"                                                               \
    "  plan q = copy extent [" extent "] src u32 pitch [128, 4] span 128 panel 2048 swizzle " swizzle                  \
    " dst u32 pitch [128, 4] threads 64 vector 16 method 0 block 4, 1 deal 0 ways 16, 16\n"                           \
    "  init {\n    cta.sync 0, 64\n  }\n"                                                                             \
    "  role work warps 2 {\n    thr.fill p -> t\n    cta.sync 1, 64\n    thr.copy q, t -> u\n  }\n}\n"

static void test_halves_of_rows(void **state)
{
    (void)state;
    assert_true(found("where they are", HALVES("128B", "16, 16"), "accepted"));
    assert_true(found("by another swizzle", HALVES("64B", "16, 16"), "E0610"));
    assert_true(found("whole rows", HALVES("128B", "16, 32"), "E0610"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_correct_kernels), cmocka_unit_test(test_findings),
                                       cmocka_unit_test(test_mutants), cmocka_unit_test(test_others_of_a_role),
                                       cmocka_unit_test(test_grids_of_pieces), cmocka_unit_test(test_halves_of_rows),
                                       cmocka_unit_test(test_divisors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
