/* The verifier accepts correct kernels, and no mutant of them that the interpreter below can break. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/ir_fixture.h"
#include "tests/unit/ir_sim.h"
#include "tests/unit/ir_texts.h"
#include "lower/verify/verify.h"

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

static bool accepts(Fixture *x, const IrKernel *k)
{
    ArenaMark mark = arena_mark(&x->scratch);
    Diags quiet;
    diags_init(&quiet, &x->scratch, &x->sources);
    bool ok = ir_check(&x->scratch, k) == NULL && ir_verify(&x->scratch, &quiet, k, NULL, NULL);
    arena_release(&x->scratch, mark);
    return ok;
}

/* ---- correct kernels and their inputs ---- */

static const SimInput INPUTS[] = {
    {{64, 128}, {0, 0, 0}}, {{200, 256}, {1, 1, 0}}, {{70, 4104}, {3, 2, 0}},
    {{1, 8}, {0, 0, 0}},    {{72, 72}, {1, 0, 0}},
};
static const unsigned EAGER[] = {0, 0, 10, 50, 100};

static const char *breaks(const IrKernel *k)
{
    for (size_t i = 0; i < sizeof INPUTS / sizeof *INPUTS; i++) {
        for (size_t e = 0; e < sizeof EAGER / sizeof *EAGER; e++) {
            const char *wrong = sim_run(k, &INPUTS[i], (uint32_t)(e * 7919 + i), EAGER[e]);
            if (wrong) return wrong;
        }
    }
    return NULL;
}

/* ---- mutants ---- */

typedef struct Mutants {
    Fixture *x;
    const IrModule *m;
    const IrKernel *k; /* the correct kernel */
    const char *name;
    uint32_t tried, accepted;
} Mutants;

static IrOp *copy_ops(Arena *a, const IrRole *r, uint32_t room)
{
    IrOp *ops = arena_array(a, IrOp, r->ops.n + room);
    memcpy(ops, r->ops.v, r->ops.n * sizeof *ops);
    for (uint32_t i = 0; i < r->ops.n; i++) {
        ops[i].args = arena_array(a, IrArg, ops[i].nargs);
        if (ops[i].nargs) memcpy(ops[i].args, r->ops.v[i].args, ops[i].nargs * sizeof *ops[i].args);
    }
    return ops;
}

static IrKernel with_ops(Arena *a, const IrKernel *k, IrOp *ops, uint32_t n)
{
    IrKernel q = *k;
    q.roles.v = arena_new(a, IrRole);
    q.roles.v[0] = k->roles.v[0];
    q.roles.v[0].ops.v = ops;
    q.roles.v[0].ops.n = n;
    return q;
}

static void judge(Mutants *u, const IrKernel *q, const char *what, uint32_t op)
{
    u->tried++;
    if (!accepts(u->x, q)) return;
    u->accepted++;
    const char *wrong = breaks(q);
    if (wrong == NULL) return;
    IrModule m = *u->m;
    IrKernel *list[] = {(IrKernel *)q};
    m.kernels.v = list;
    m.kernels.n = 1;
    text_clear(&u->x->out);
    ir_print(&u->x->out, &m, NULL);
    fputs(u->x->out.s, stderr); /* longer than what cmocka prints */
    fail_msg("%s, %s at op %u: accepted, and breaks: %s", u->name, what, op, wrong);
}

enum { KINDS = 13 };

/* Mutation `kind` of op i of ops; false if it does not apply. */
static bool mutate(IrOp *ops, uint32_t *n, uint32_t i, int kind, uint32_t pick, const char **what)
{
    static const int64_t STEPS[] = {1, -1, 16, -16, 8192, -8192, 16384, 64};
    static const char *const WHAT[KINDS] = {"dropped",      "moved down",    "moved up",
                                            "doubled",      "guard dropped", "number changed",
                                            "word changed", "bit flipped",   "value made a number",
                                            "slot changed", "guard added",   "moved down by two",
                                            "number zeroed"};
    IrOp *op = &ops[i];
    *what = WHAT[kind];
    IrArg *arg = op->nargs ? &op->args[pick % op->nargs] : NULL;
    uint8_t group = ir_op_info(op->op)->group;
    switch (kind) {
    case 0:
        if (op->dst || group == IRG_CONTROL) return false;
        memmove(op, op + 1, (*n - i - 1) * sizeof *op);
        --*n;
        return true;
    case 1:
    case 2:
    case 11: {
        uint32_t to = kind == 1 ? i + 1 : kind == 2 ? i - 1 : i + 2;
        if (group == IRG_CONTROL || op->dst || to >= *n) return false;
        IrOp moved = *op;
        if (to > i) memmove(op, op + 1, (to - i) * sizeof *op);
        else memmove(&ops[to + 1], &ops[to], (i - to) * sizeof *op);
        ops[to] = moved;
        return true;
    }
    case 3:
        if (op->dst || group == IRG_CONTROL) return false;
        memmove(op + 1, op, (*n - i) * sizeof *op);
        ++*n;
        return true;
    case 4:
        if (op->guard.pred == 0) return false;
        op->guard = ir_if(0);
        return true;
    case 5:
        if (arg == NULL || arg->kind != IRA_IMM) return false;
        arg->imm += STEPS[pick / op->nargs % 8];
        return true;
    case 6:
        if (arg == NULL || arg->kind != IRA_WORD || arg->key == IRK_REG) return false;
        arg->id = (arg->id + 1) % (arg->key == IRK_HOW ? 2 : arg->key == IRK_SPACE ? 3 : 6);
        return true;
    case 7:
        if (arg == NULL || arg->kind != IRA_IMM) return false;
        arg->imm ^= 1;
        return true;
    case 8:
        if (arg == NULL || arg->kind != IRA_VAL || arg->key == IRK_COND) return false;
        *arg = (IrArg){.key = arg->key, .kind = IRA_IMM, .imm = STEPS[pick % 8] & 1};
        return true;
    case 9:
        if (arg == NULL || arg->key < IRK_SLOT || arg->kind != IRA_VAL) return false;
        *arg = (IrArg){.key = arg->key, .kind = IRA_IMM, .imm = 0};
        return true;
    case 10: {
        uint32_t d = pick % *n; /* any pred of the kernel */
        if (op->guard.pred || op->dst || group == IRG_CONTROL || ops[d].type != IR_PRED || ops[d].dst == 0) return false;
        op->guard = ir_if(ops[d].dst);
        return true;
    }
    default:
        if (arg == NULL || arg->kind != IRA_IMM) return false;
        arg->imm = 0;
        return true;
    }
}

static void single_mutants(Mutants *u)
{
    const IrRole *r = &u->k->roles.v[0];
    for (uint32_t i = 0; i < r->ops.n; i++) {
        for (int kind = 0; kind < KINDS; kind++) {
            bool one = kind < 5 || kind == 11;
            for (uint32_t pick = 0; pick < (one ? 1u : kind == 10 ? r->ops.n : r->ops.v[i].nargs * 8u); pick++) {
                if (kind >= 6 && kind != 10 && kind != 11 && pick >= r->ops.v[i].nargs)
                    continue; /* nothing else to pick */
                ArenaMark mark = arena_mark(&u->x->scratch);
                IrOp *ops = copy_ops(&u->x->scratch, r, 1);
                uint32_t n = r->ops.n;
                const char *what;
                if (mutate(ops, &n, i, kind, pick, &what)) {
                    IrKernel q = with_ops(&u->x->scratch, u->k, ops, n);
                    judge(u, &q, what, i);
                }
                arena_release(&u->x->scratch, mark);
            }
        }
    }
}

/* Several changes at once, which may hide each other. */
static void multiple_mutants(Mutants *u, uint32_t count)
{
    const IrRole *r = &u->k->roles.v[0];
    uint32_t seed = 12345;
    for (uint32_t c = 0; c < count; c++) {
        ArenaMark mark = arena_mark(&u->x->scratch);
        IrOp *ops = copy_ops(&u->x->scratch, r, 8);
        uint32_t n = r->ops.n, changes = 0;
        const char *what = "";
        for (int tries = 0; tries < 40 && changes < 2 + c % 3; tries++) {
            seed = seed * 1664525u + 1013904223u;
            uint32_t i = (seed >> 8) % n;
            seed = seed * 1664525u + 1013904223u;
            int kind = (int)((seed >> 8) % KINDS);
            seed = seed * 1664525u + 1013904223u;
            changes += mutate(ops, &n, i, kind, seed >> 8, &what);
        }
        IrKernel q = with_ops(&u->x->scratch, u->k, ops, n);
        judge(u, &q, "several changes", c);
        arena_release(&u->x->scratch, mark);
    }
}

static void test_correct_kernels(void **state)
{
    (void)state;
    for (int i = 0; i < IR_TEXT_COUNT; i++) {
        Fixture x;
        begin(&x);
        IrModule *m = read_text(&x, IR_TEXTS[i].text);
        Text certificate;
        text_init(&certificate, &x.mem);
        bool ok = ir_verify(&x.scratch, &x.diags, m->kernels.v[0], NULL, &certificate);
        if (!ok) diags_render(&x.diags, DIAG_HUMAN, false, &x.out);
        if (!ok) fail_msg("%s\n%s", IR_TEXTS[i].name, x.out.s);
        assert_non_null(strstr(certificate.s, "; proved: by the states"));
        const char *wrong = breaks(m->kernels.v[0]);
        if (wrong) fail_msg("%s: %s", IR_TEXTS[i].name, wrong);
        text_free(&certificate);
        finish(&x);
    }
}

/* ---- what is reported ---- */

typedef struct Finding {
    const char *kernel, *from, *to, *code;
} Finding;

#define AFTER_LOAD                                                                                                     \
    "      %p = get.i32 ph\n      bar.wait full, %p\n      %q = xor.i32 %p, 1\n      set ph = %q\n"

#define OPEN_LOAD                                                                                                      \
    "      bar.arrive_expect full, 16384\n      tma.load in [%at, %col] -> tile, full, bytes 16384\n" AFTER_LOAD         \
    "      tma.store"

/* 16384 in all turns that are tried. */
#define FAR_BYTES                                                                                                      \
    "      %far = sub.i64 1000, %i\n      %low = max.i64 %far, 0\n      %rows = min.i64 %low, 16\n"                  \
    "      %rows32 = cvt.i32 %rows\n      %e = mul.i32 %rows32, 1024\n      %from = gaddr src, 0\n"

static const Finding FINDINGS[] = {
    {"copy", "    bar.wait full, 0\n", "", "E0601"},
    {"loop", "      grp.wait 0 read\n", "", "E0602"},
    {"two arrivals", "bar.init full, 2", "bar.init full, 3", "E0604"},
    {"two arrivals", "bar.init full, 2", "bar.init full, 1", "E0611"},
    {"copy", "bar.arrive_expect full, 16384", "bar.arrive_expect full, 16400", "E0605"},
    {"copy", "bar.arrive_expect full, 16384", "bar.expect full, 16384", "E0604"},
    {"copy", "    bar.arrive_expect full, 16384\n    tma.load in [%row, %col] -> tile, full, bytes 16384\n", "",
     "E0607"},
    {"copies under a condition", "@%big tma.load", "tma.load", "E0611"},
    {"condition", "    grp.wait 0 read\n    bar.arrive", "    bar.wait full, 0\n    grp.wait 0 read\n    bar.arrive",
     "E0656"},
    {"expect, then arrive", "    bar.expect", "    bar.arrive full\n    bar.expect", "E0656"},
    {"rows in a loop, some of them zeros", "@%out blk.load %zero -> tile+%off, bytes 256, full", "grp.commit", "E0605"},
    {"two loads, one phase, policy", "tile+8192", "tile", "E0657"},
    {"two arrivals", "-> other, full", "-> tile, full", "E0657"},
    {"copies under a condition", "    if %big\n      tma.store", "    if %other\n      tma.store", "E0610"},
    {"short loop over slots", "      bar.wait full[%j], 0\n", "      bar.wait full[0], 0\n", "E0601"},
    {"copy", "    bar.arrive_expect full, 16384\n", "    bar.arrive full\n    bar.arrive_expect full, 16384\n",
     "E0656"},
    {"copy", "bar.arrive_expect full, 16384", "bar.arrive_expect full, 2000000", "E0623"},
    {"copy", "    grp.wait 0 read\n", "", "E0624"},
    {"copy", "    grp.wait 0 read\n", "    grp.wait 0 read\n    bar.expect full, 64\n", "E0605"}, /* at the end */
    {"copy", "    grp.commit\n", "", "E0624"},
    {"condition", "    bar.wait full, %p\n", "", "E0650"},
    {"copy", "    bar.wait full, 0\n", "    bar.wait full, 0\n    bar.wait full, 0\n", NULL}, /* passes at once */
    {"copies under a condition", "    if %big\n", "    if %big\n      bar.arrive full\n", NULL}, /* a phase for which nobody waits */
    {"loop", "      set ph = %q\n", "", "E0656"},
    {"copy", "    elect fence.mbar_init\n", "", "E0653"},
    {"through global memory", "    fence.async global\n", "", "E0654"},
    {"through global memory", "grp.wait 0 full", "grp.wait 0 read", "E0654"},
    {"guarded bulk with zeros", "%hi = min.i64 %rest0, 16384", "%hi = min.i64 %rest0, 16400", "E0658"},
    {"rows in a loop, some of them zeros", "%s = loop.i64 0 .. 64", "%s = loop.i64 0 .. 65", "E0658"},
    {"copy", "box [64, 128] l2", "box [64, 64] l2", "E0659"},
    {"copies under a condition", "    bar.wait full, 0\n", "    @%big bar.wait full, 0\n", "E0601"}, /* both ways */
    {"short loop over slots", "loop.i32 0 .. 2", "loop.i32 0 .. %x", "E0607"}, /* none at all */
    /* What a branch assumes does not complete a phase. */
    {"copy", "    tma.load in [%row, %col] -> tile, full, bytes 16384\n",
     "    %big = cmp gt %x, 3\n    if %big\n      tma.load in [%row, %col] -> tile, full, bytes 16384\n    end\n",
     "E0605"},
    /* Bytes that turns beyond the tried ones have not. */
    {"loop", "      bar.arrive_expect full, 16384\n",
     "      %c = cmp lt %i, 1000\n      %e = sel.i32 %c, 16384, 0\n      bar.arrive_expect full, %e\n", "E0660"},
    {"loop",
     "      bar.arrive_expect full, 16384\n"
     "      tma.load in [%at, %col] -> tile, full, bytes 16384\n" AFTER_LOAD "      tma.store",
     "      %c = cmp gt %i, 1000\n      %d = cmp gt %x, 3\n      %b = or.pred %c, %d\n      %e = sel.i32 %d, 16384, 0\n"
     "      bar.arrive_expect full, %e\n"
     "      @%b tma.load in [%at, %col] -> tile, full, bytes 16384\n" AFTER_LOAD "      @%d tma.store",
     "E0660"},
    /* A condition that the tried turns have one way only: held open it is the same wherever the same is asked of a turn, .. */
    {"loop", OPEN_LOAD,
     "      %c = cmp lt %i, 1000\n      %e = sel.i32 %c, 16384, 0\n      bar.arrive_expect full, %e\n"
     "      %d = cmp lt %i, 1000\n      @%d tma.load in [%at, %col] -> tile, full, bytes 16384\n" AFTER_LOAD
     "      @%c tma.store",
     NULL},
    /* .. not where other conditions come out alike: 200 is less than 5 modulo 200 alone. */
    {"loop", OPEN_LOAD,
     "      %m = mod.i64 %i, 200\n      %c = cmp lt %m, 5\n      %e = sel.i32 %c, 16384, 0\n"
     "      bar.arrive_expect full, %e\n      @%c tma.load in [%at, %col] -> tile, full, bytes 16384\n" AFTER_LOAD
     "      %d = cmp lt %i, 5\n      @%d tma.store",
     NULL},
    /* A small modulus comes round in the turns that are tried: it does not need to be held open. */
    {"loop", OPEN_LOAD,
     "      %m = mod.i64 %i, 8\n      %c = cmp lt %m, 5\n      %e = sel.i32 %c, 16384, 0\n"
     "      bar.arrive_expect full, %e\n      @%c tma.load in [%at, %col] -> tile, full, bytes 16384\n" AFTER_LOAD
     "      %d = cmp lt %i, 5\n      @%d tma.store",
     NULL},
    {"loop", OPEN_LOAD,
     "      %m = mod.i64 %i, 8\n      %c = cmp eq %m, 5\n      %e = sel.i32 %c, 16384, 0\n"
     "      bar.arrive_expect full, %e\n      @%c tma.load in [%at, %col] -> tile, full, bytes 16384\n" AFTER_LOAD
     "      %d = cmp lt %i, 6\n      @%d tma.store",
     "E0610"},
    {"loop", OPEN_LOAD,
     "      %c = cmp lt %i, 1000\n      %e = sel.i32 %c, 16384, 0\n      bar.arrive_expect full, %e\n"
     "      @%c tma.load in [%at, %col] -> tile, full, bytes 16384\n" AFTER_LOAD "      tma.store",
     NULL},
    /* The same of bytes that are clipped far from both ends: they are held open, .. */
    {"loop", OPEN_LOAD,
     FAR_BYTES "      bar.arrive_expect full, 16384\n      blk.load %from -> tile, bytes %e, full\n" AFTER_LOAD
               "      tma.store",
     "E0660"},
    {"loop", OPEN_LOAD,
     FAR_BYTES "      bar.arrive_expect full, %e\n      blk.load %from -> tile, bytes %e, full\n" AFTER_LOAD
               "      tma.store",
     NULL},
    /* .. and what is left is filled up. */
    {"loop", OPEN_LOAD,
     FAR_BYTES "      %more = cmp gt %e, 0\n      %rest = sub.i32 16384, %e\n      %less = cmp gt %rest, 0\n"
               "      %zero = zaddr\n      bar.arrive_expect full, 16384\n"
               "      @%more blk.load %from -> tile, bytes %e, full\n"
               "      @%less blk.load %zero -> tile+%e, bytes %rest, full\n" AFTER_LOAD "      tma.store",
     NULL},
};

static void test_findings(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof FINDINGS / sizeof *FINDINGS; i++) {
        const Finding *g = &FINDINGS[i];
        const char *text = NULL;
        for (int t = 0; t < IR_TEXT_COUNT; t++)
            if (strcmp(IR_TEXTS[t].name, g->kernel) == 0) text = IR_TEXTS[t].text;
        assert_non_null(text);
        const char *at = strstr(text, g->from);
        if (at == NULL) fail_msg("%s: no `%s`", g->kernel, g->from);
        Fixture x;
        begin(&x);
        char *changed = arena_printf(&x.arena, "%.*s%s%s", (int)(at - text), text, g->to, at + strlen(g->from));
        char *other = strstr(changed, "if %other"); /* a condition of its own */
        if (other)
            changed = arena_printf(&x.arena, "%.*s%%other = cmp gt %%x, 3\n%s", (int)(other - changed), changed, other);
        IrModule *m = read_text(&x, changed);
        bool ok = ir_verify(&x.scratch, &x.diags, m->kernels.v[0], NULL, NULL);
        const char *code = ok ? NULL : error_info(x.diags.first->code)->code;
        if ((code == NULL) != (g->code == NULL) || (code && strcmp(code, g->code) != 0)) {
            diags_render(&x.diags, DIAG_HUMAN, false, &x.out);
            fail_msg("%s, `%s` -> `%s`: %s instead of %s\n%s", g->kernel, g->from, g->to, code ? code : "accepted",
                     g->code ? g->code : "accepted", x.out.s ? x.out.s : "");
        }
        finish(&x);
    }
}

static void test_mutants(void **state)
{
    (void)state;
    uint32_t tried = 0, accepted = 0;
    for (int i = 0; i < IR_TEXT_COUNT; i++) {
        Fixture x;
        begin(&x);
        IrModule *m = read_text(&x, IR_TEXTS[i].text);
        Mutants u = {.x = &x, .m = m, .k = m->kernels.v[0], .name = IR_TEXTS[i].name};
        single_mutants(&u);
        multiple_mutants(&u, 300);
        tried += u.tried;
        accepted += u.accepted;
        finish(&x);
    }
    print_message("%u mutants, %u of them accepted (and harmless)\n", tried, accepted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_correct_kernels), cmocka_unit_test(test_findings),
                                       cmocka_unit_test(test_mutants)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
