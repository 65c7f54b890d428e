/* PTX to operations: slots, layout, what each kind of instruction becomes, and what is refused with which words. */
#include "tests/unit/lang_fixture.h"

#include <dirent.h>
#include <inttypes.h>

#include "runtime/sim/exec/alu.h"
#include "runtime/sim/machine.h"

/* ---- decoding a text ---- */
typedef struct Seen { /* problems */
    uint32_t n, line;
    char text[600];
} Seen;

static void see(void *user, uint32_t line, const char *text)
{
    Seen *s = user;
    if (s->n++) return;
    s->line = line;
    snprintf(s->text, sizeof s->text, "%s", text);
}

static const SimModule *decode_text(Room *r, const char *text, Seen *seen)
{
    uint32_t problems = 0;
    *seen = (Seen){0};
    const PtxModule *m = ptx_read(&r->arena, text, strlen(text), see, seen, &problems);
    return m ? sim_decode(&r->arena, m, see, seen, &problems) : NULL;
}

#define HEAD ".version 8.6\n.target sm_90a\n.address_size 64\n"
#define REGS ".reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<9>; .reg .f64 %e<9>; .reg .pred %p<9>;\n"

/* The program of a kernel with this body; line 7 is its first. */
static const SimProgram *kernel(Room *r, const char *body)
{
    Seen seen;
    static const char *const head = HEAD
        ".visible .entry k(.param .u64 a, .param .u8 b, .param .align 64 .b8 m[128])\n{\n" REGS;
    char *text = arena_printf(&r->arena, "%s%s\n}\n", head, body);
    const SimModule *m = decode_text(r, text, &seen);
    if (m == NULL) fail_msg("line %" PRIu32 ": %s", seen.line, seen.text);
    return sim_program(m, "k");
}

static const SimConst *constant(const SimProgram *p, Slot s)
{
    for (uint32_t i = 0; i < p->nconsts; i++)
        if (p->consts[i].slot == s) return &p->consts[i];
    return NULL;
}

static uint64_t value(const SimProgram *p, Slot s)
{
    const SimConst *c = constant(p, s);
    assert_non_null(c);
    assert_int_equal(c->kind, CONST_VALUE);
    return c->value;
}

/* Every slot is below nslots, every target below nops, and nothing falls off the end. */
static void check_invariants(const SimProgram *p)
{
    assert_true(p->nops > 0);
    assert_int_equal(p->ops[p->nops - 1].code, SIM_EXIT);
    assert_int_equal(p->ops[p->nops - 1].guard, 0);
    for (uint32_t i = 0; i < p->nconsts; i++) assert_true(p->consts[i].slot < p->nslots);
    for (uint32_t i = 0; i < p->nops; i++) {
        const SimOp *op = &p->ops[i];
        assert_true(op->d == NO_SLOT || op->d < p->nslots);
        assert_true(op->a == NO_SLOT || op->a < p->nslots);
        bool memory = op->code == SIM_LD || op->code == SIM_ST || op->code == SIM_ATOM || op->code == SIM_ISSPACEP;
        if (!memory) assert_true(op->b == NO_SLOT || op->b < p->nslots);
        if (!memory) assert_true(op->c == NO_SLOT || op->c < p->nslots);
        if (op->guard) assert_true(op->p < p->nslots);
        if (op->code == SIM_BRA) assert_true(op->imm >= 0 && op->imm < p->nops);
        if (op->code == SIM_BRX) assert_true(op->imm + op->extra < p->nops);
        if (op->code == SIM_FORM) assert_true(op->imm >= 0 && op->imm < p->nforms);
        if (op->code == SIM_LD || op->code == SIM_ST) assert_true(i + op->n <= p->nops);
    }
}

/* ---- what it becomes ---- */
static void registers_and_constants_have_slots(void **state)
{
    const SimProgram *p = kernel(*state, "add.s32 %r1, %r2, -1; add.u64 %d1, %d2, -1; add.f32 %f1, %f2, 1.5;\n"
                                         "add.f32 %f1, %f2, 0f3FC00000; add.s32 %r1, %r1, 4294967295;");
    check_invariants(p);
    assert_int_equal(p->ops[0].code, SIM_ADD_S32);
    assert_int_equal(value(p, p->ops[0].b), UINT32_MAX);
    assert_int_equal(value(p, p->ops[1].b), UINT64_MAX);
    assert_int_equal(p->ops[2].code, SIM_ADD_F32);
    assert_int_equal(value(p, p->ops[2].b), 0x3fc00000);
    assert_int_equal(p->ops[3].b, p->ops[2].b);
    assert_int_equal(p->ops[4].b, p->ops[0].b);
    assert_int_equal(p->ops[4].a, p->ops[0].d);
    assert_int_equal(p->ops[4].d, p->ops[0].d);
}

/* PTX ISA, "Constants" (0f.. where .f64 is), "mov" (addresses), "Special Registers" (mov and cvt read them). */
static void operands_that_are_no_registers(void **state)
{
    const SimProgram *p = kernel(*state, ".shared .b8 pad[16]; .shared .b8 s[16];\n"
                                         "mov.f64 %e1, 0f3FC00000; mov.u16 %h1, s; mov.b16 %h2, %ctaid.y;\n"
                                         "cvt.u32.u64 %r1, %clock64; lop3.b32 _, %r1, %r1, %r1, 0x96;");
    check_invariants(p);
    assert_int_equal(value(p, p->ops[0].a), UINT64_C(0x3FF8000000000000)); /* 1.5 */
    assert_int_equal(p->ops[1].code, SIM_ZEXT16);
    assert_int_equal(constant(p, p->ops[1].a)->kind, CONST_SMEM);
    assert_int_equal(p->ops[2].code, SIM_MOV);
    assert_int_equal(p->ops[2].a, p->ops[1].d);
    assert_int_equal(p->ops[3].code, SIM_SPECIAL);
    assert_int_equal(p->ops[3].imm, SPECIAL_CTAID_Y);
    assert_int_equal(p->ops[4].code, SIM_UNPACK);
    assert_int_equal(p->ops[4].extra, 16);
    assert_int_equal(p->ops[5].imm, SPECIAL_CLOCK64);
    assert_int_equal(p->ops[6].code, SIM_ZEXT32);
    assert_int_equal(p->ops[7].code, SIM_LOP3);
}

static void guards_and_branches(void **state)
{
    const SimProgram *p = kernel(*state, "@%p1 bra END;\nLOOP: @!%p2 mov.u32 %r1, %tid.x;\nbra.uni LOOP;\nEND:");
    check_invariants(p);
    assert_int_equal(p->ops[0].code, SIM_BRA);
    assert_int_equal(p->ops[0].guard, 1);
    assert_int_equal(p->ops[0].imm, 3);
    assert_int_equal(p->ops[1].code, SIM_SPECIAL);
    assert_int_equal(p->ops[1].guard, 2);
    assert_int_equal(p->ops[1].imm, SPECIAL_TID_X);
    assert_int_equal(p->ops[2].imm, 1);
    assert_int_equal(p->ops[3].code, SIM_EXIT);
    assert_int_equal(p->places[0].ptx_line, 7);
    assert_int_equal(p->places[2].ptx_line, 9);
}

static void tables_of_branches(void **state)
{
    const SimProgram *p = kernel(*state, "TS: .branchtargets A, B, A;\n@%p1 brx.idx %r1, TS;\nA: ret;\nB: exit;");
    check_invariants(p);
    assert_int_equal(p->ops[0].code, SIM_BRX);
    assert_int_equal(p->ops[0].extra, 3);
    assert_int_equal(p->ops[0].imm, 1);
    assert_int_equal(p->ops[1].imm, 4);
    assert_int_equal(p->ops[2].imm, 5);
    assert_int_equal(p->ops[3].imm, 4);
    assert_int_equal(p->ops[3].guard, 0);
}

static void parameters_stand_where_the_abi_has_them(void **state)
{
    const SimProgram *p = kernel(*state, "ld.param.u64 %d1, [a]; ld.param.u8 %h1, [b]; mov.b64 %d2, m;\n"
                                         "ld.param.b32 %r1, [m+12]; cvta.param.u64 %d2, %d2;");
    check_invariants(p);
    assert_int_equal(p->nparams, 3);
    assert_int_equal(p->params[1].offset, 8);
    assert_int_equal(p->params[2].offset, 64);
    assert_int_equal(p->params[2].bytes, 128);
    assert_int_equal(p->param_bytes, 192);
    assert_int_equal(constant(p, p->ops[1].a)->kind, CONST_PARAM);
    assert_int_equal(constant(p, p->ops[1].a)->value, 8);
    assert_int_equal(p->ops[1].extra, PTX_SPACE_PARAM);
    assert_int_equal(constant(p, p->ops[2].a)->value, 64);
    assert_int_equal(constant(p, p->ops[3].a)->value, 64);
    assert_int_equal(p->ops[3].imm, 12);
    assert_int_equal(p->ops[4].code, SIM_CVTA);
    assert_int_equal(p->ops[4].extra, PTX_SPACE_PARAM);
}

static void variables_are_laid_out(void **state)
{
    Room *r = *state;
    Seen seen;
    const SimModule *m = decode_text(r,
                                     HEAD ".extern .shared .align 1024 .b8 dyn[];\n"
                                          ".shared .align 4 .b8 unused[400];\n.shared .align 16 .b8 used[20];\n"
                                          ".global .align 8 .b8 g[16] = {1, 2, 3};\n.const .f32 c = 0f3F800000;\n"
                                          ".visible .entry k() {\n" REGS
                                          ".shared .b8 x; .shared .align 8 .b64 y[2]; .local .align 4 .b8 l[12];\n"
                                          "mov.u32 %r1, dyn; mov.u32 %r2, used; mov.u32 %r3, x; mov.u32 %r4, y+8;\n"
                                          "mov.u64 %d1, g; mov.u64 %d2, g+4; mov.u64 %d3, l;\n"
                                          "ld.const.f32 %f1, [c]; ld.shared.b32 %r5, [y+12];\n}\n"
                                          ".visible .entry none() { ret; }\n",
                                     &seen);
    if (m == NULL) fail_msg("line %" PRIu32 ": %s", seen.line, seen.text);
    const SimProgram *p = sim_program(m, "k");
    check_invariants(p);
    static const uint64_t where[] = {1024, 0, 20, 32};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(constant(p, p->ops[i].a)->kind, CONST_SMEM);
        assert_int_equal(constant(p, p->ops[i].a)->value, where[i]);
    }
    assert_int_equal(p->static_smem, 1024); /* where the extern array begins */
    assert_int_equal(p->smem_align, 1024);
    assert_int_equal(p->local_bytes, 16);
    assert_int_equal(constant(p, p->ops[4].a)->kind, CONST_GLOBAL);
    assert_int_equal(p->ops[5].code, SIM_ADD_U64);
    assert_int_equal(value(p, p->ops[5].b), 4);
    const SimOp *ld = &p->ops[8];
    assert_int_equal(ld->code, SIM_LD);
    assert_int_equal(ld->extra, PTX_SPACE_CONST);
    assert_int_equal(constant(p, ld->a)->kind, CONST_GLOBAL);
    assert_int_equal(constant(p, ld->a)->value, 1);
    assert_int_equal(ld[1].imm, 12);
    assert_int_equal(constant(p, ld[1].a)->value, 24);
    assert_int_equal(m->nglobals, 2);
    assert_int_equal(m->globals[0].init[1], 2);
    assert_true(m->globals[1].is_const);
    assert_int_equal(sim_program(m, "none")->static_smem, 0);
    assert_null(sim_program(m, "other"));
}

static void loads_and_stores(void **state)
{
    const SimProgram *p = kernel(
        *state, "ld.global.nc.L1::no_allocate.L2::128B.v4.f32 {%f1, _, %f3, %f4}, [%d1+16];\n"
                "ld.global.s8 %r1, [%d1];\nld.s32 %r2, [%d1];\nst.shared::cluster.v2.b16 [%r3], {%h1, 7};\n"
                "ld.acquire.gpu.global.u32 %r4, [%d1]; st.release.cluster.shared.u32 [%r3+4], %r4;\n"
                "ld.volatile.u64 %d2, [%d1];\nld.global.s32 %d3, [%d1];");
    check_invariants(p);
    const SimOp *op = p->ops;
    assert_int_equal(op[0].code, SIM_LD);
    assert_int_equal(op[0].n, 4);
    assert_int_equal(op[0].imm, 16);
    assert_int_equal(op[0].type, PTX_F32);
    assert_int_equal(op[0].flags, ACCESS_WEAK);
    assert_int_equal(op[0].extra, PTX_SPACE_GLOBAL);
    for (int i = 1; i < 4; i++) assert_int_equal(op[i].code, SIM_OPERAND);
    op += 4; /* s8 into 32 bits: loaded unsigned, then extended to the register */
    assert_int_equal(op[0].type, PTX_U8);
    assert_int_equal(op[1].code, SIM_SEXT_8_32);
    op += 2;
    assert_int_equal(op[0].type, PTX_U32);
    assert_int_equal(op[0].extra, PTX_SPACE_REG);
    op += 1;
    assert_int_equal(op[0].code, SIM_ST);
    assert_int_equal(op[0].b, 1);
    assert_int_equal(op[0].n, 2);
    assert_int_equal(value(p, op[1].d), 7);
    op += 2;
    assert_int_equal(op[0].flags, ACCESS_ACQUIRE);
    assert_int_equal(op[0].c, 2);
    assert_int_equal(op[1].flags, ACCESS_RELEASE);
    assert_int_equal(op[1].c, 1);
    assert_int_equal(op[2].flags, ACCESS_VOLATILE);
    assert_int_equal(op[3].type, PTX_U32);
    assert_int_equal(op[4].code, SIM_SEXT_32_64);
}

static void atomics(void **state)
{
    const SimProgram *p = kernel(*state, "atom.global.add.u32 %r1, [%d1], 1;\n"
                                         "atom.acq_rel.cta.shared.cas.b64 %d2, [%r2], %d3, %d4;\n"
                                         "red.add.noftz.f16x2 [%d1+8], %r3; membar.gl; atom.exch.b32 _, [%d1], %r1;");
    check_invariants(p);
    const SimOp *op = p->ops;
    assert_int_equal(op[0].n, RED_ADD);
    assert_int_equal(op[0].flags, ACCESS_RELAXED);
    assert_int_equal(op[0].c, 2);
    assert_int_equal(value(p, op[1].a), 1);
    assert_int_equal(op[2].n, RED_CAS);
    assert_int_equal(op[2].flags, ACCESS_ACQ_REL);
    assert_int_equal(op[2].c, 0);
    assert_true(op[3].a != NO_SLOT && op[3].b != NO_SLOT);
    assert_int_equal(op[4].d, NO_SLOT);
    assert_int_equal(op[4].type, PTX_F16X2);
    assert_int_equal(op[6].code, SIM_MEMBAR);
    assert_int_equal(op[6].n, 2);
    assert_int_equal(op[6].flags, 1);
    assert_int_equal(op[7].d, NO_SLOT);
}

static void warps_and_barriers(void **state)
{
    const SimProgram *p = kernel(
        *state, "shfl.sync.down.b32 %r1|%p1, %r2, 16, 31, -1; vote.sync.ballot.b32 %r1, !%p1, -1;\n"
                "match.all.sync.b64 %r1|%p2, %d1, -1; redux.sync.max.s32 %r1, %r2, -1; activemask.b32 %r1;\n"
                "bar.sync 0; barrier.cta.arrive 1, 64; bar.red.popc.u32 %r1, 0, %p1; bar.warp.sync -1;\n"
                "barrier.sync.aligned %r1, %r2; bar.red.or.pred %p1, 2, 32, !%p2;");
    check_invariants(p);
    const SimOp *op = p->ops;
    assert_int_equal(op[0].n, 1);
    assert_true(op[1].d != NO_SLOT);
    assert_int_equal(value(p, op[1].a), 31);
    assert_int_equal(value(p, op[1].b), UINT32_MAX);
    assert_int_equal(op[2].n, 3);
    assert_int_equal(op[2].flags, 1);
    assert_int_equal(op[3].n, 1);
    assert_int_equal(op[3].type, PTX_B64);
    assert_true(op[3].c != NO_SLOT);
    assert_int_equal(op[4].n, RED_MAX);
    assert_int_equal(op[6].code, SIM_BAR);
    assert_int_equal(op[6].b, NO_SLOT);
    assert_int_equal(op[7].n, 1);
    assert_int_equal(value(p, op[7].b), 64);
    assert_int_equal(op[8].n, 2);
    assert_int_equal(op[8].b, NO_SLOT);
    assert_int_equal(op[9].code, SIM_WARPSYNC);
    assert_int_equal(op[10].code, SIM_BAR);
    assert_int_equal(op[11].n, 4);
    assert_int_equal(op[11].flags, 1);
    assert_int_equal(value(p, op[11].b), 32);
}

static void parts_are_packed_and_unpacked(void **state)
{
    const SimProgram *p = kernel(*state, "mov.b64 {%r1, %r2}, %d1; mov.b64 %d2, {%r2, 5}; mov.b32 {_, %h1}, %r1;\n"
                                         "mov.b64 %d3, {%h1, %h2, %h3, %h4};");
    check_invariants(p);
    uint64_t s[64] = {0};
    for (uint32_t i = 0; i < p->nconsts; i++) s[p->consts[i].slot] = p->consts[i].value;
    s[p->ops[0].a] = UINT64_C(0x1111222233334444);
    assert_int_equal(p->ops[3].code, SIM_UNPACK);
    for (int i = 0; i < 4; i++) assert_true(sim_alu(&p->ops[i], s));
    assert_int_equal(s[p->ops[0].d], 0x33334444);
    assert_int_equal(s[p->ops[1].d], 0x11112222);
    assert_int_equal(s[p->ops[2].d], UINT64_C(0x511112222));
    assert_int_equal(s[p->ops[3].d], 0x3333);
}

static void forms_have_their_values_in_order(void **state)
{
    const SimProgram *p = kernel(
        *state, "elect.sync _|%p1, 0xffffffff; mbarrier.init.shared::cta.b64 [%r1+8], 3;\n"
                "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p2, [%r1], %r2;\n"
                "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 4096; cp.async.bulk.wait_group.read 2;\n"
                "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r1], [%d1, {%r2, 7}], "
                "[%r3];\nmapa.shared::cluster.u32 %r4, %r1, 1; fence.acq_rel.gpu;\n"
                "ldmatrix.sync.aligned.m8n8.x4.shared::cta.b16 {%r1, %r2, %r3, %r4}, [%r5];\n"
                "mbarrier.arrive.shared::cta.b64 %d2, [%r1];\n"
                "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%d1], [%r1], 64, %d3;");
    check_invariants(p);
    const FormOp *f = p->forms;
    assert_int_equal(f[0].form, FORM_ELECT);
    assert_int_equal(f[0].nvalues, 3);
    assert_true(f[0].value[0] != NO_SLOT);
    assert_int_equal(value(p, f[0].value[1]), UINT32_MAX);
    assert_int_equal(f[0].value[2], NO_SLOT);
    assert_int_equal(f[1].mbar_off, 8);
    assert_int_equal(value(p, f[1].value[0]), 3);
    assert_int_equal(f[2].nvalues, 3);
    assert_int_equal(f[2].value[1], f[5].coords[0]);
    assert_int_equal(f[2].value[2], NO_SLOT);
    assert_int_equal(f[3].value[0], NO_SLOT);
    assert_int_equal(value(p, f[3].value[1]), 4096);
    assert_int_equal(value(p, f[4].value[0]), 2);
    assert_int_equal(f[5].ncoords, 2);
    assert_int_equal(f[5].dim, 2);
    assert_int_equal(value(p, f[5].coords[1]), 7);
    assert_true(f[5].dst != NO_SLOT && f[5].map != NO_SLOT && f[5].mbar != NO_SLOT);
    assert_int_equal(f[6].type, PTX_U32);
    assert_true(f[6].cluster);
    assert_int_equal(f[6].value[1], f[6].src);
    assert_int_equal(value(p, f[6].rank), 1);
    assert_int_equal(f[7].fence, 2);
    assert_int_equal(f[8].nvalues, 4);
    assert_true(f[8].src != NO_SLOT);
    assert_true(f[9].value[0] != NO_SLOT);
    assert_int_equal(f[9].value[1], NO_SLOT);
    assert_int_equal(value(p, f[10].size), 64);
    assert_true(f[10].policy != NO_SLOT && f[10].gaddr != NO_SLOT && f[10].hint);
    assert_true(p->uses_cluster);
}

static void places_know_roles_and_sources(void **state)
{
    Room *r = *state;
    Seen seen;
    const SimModule *m = decode_text(r,
                                     HEAD ".file 1 \"x.tile\"\n.visible .entry k() {\n" REGS
                                          ".loc 1 12 5\nmov.u32 %r1, 1;\n$role_load_3:\n.loc 1 13 1\nmov.u32 %r1, 2;\n"
                                          "$role_mma:\nmov.u32 %r1, 3;\n$role_wg_2_1:\nret;\n}\n",
                                     &seen);
    if (m == NULL) fail_msg("line %" PRIu32 ": %s", seen.line, seen.text);
    const SimPlace *at = sim_program(m, "k")->places;
    assert_null(at[0].role);
    assert_int_equal(at[0].line, 12);
    assert_int_equal(at[0].column, 5);
    assert_string_equal(at[1].role, "load");
    assert_int_equal(at[1].line, 13);
    assert_string_equal(at[2].role, "mma");
    assert_string_equal(at[3].role, "wg_2");
    assert_string_equal(at[0].instr, "mov.u32");
}

/* Code where the ways of several roles meet belongs to none of them, whatever stands before it in the text. */
static void roles_follow_the_ways(void **state)
{
    Room *r = *state;
    Seen seen;
    const SimModule *m = decode_text(r,
                                     HEAD ".visible .entry k() {\n" REGS "@%p1 bra $role_b_0;\n@%p2 bra $end;\n"
                                          "$role_a_0:\nmov.u32 %r1, 1;\nbra $end;\n$role_b_0:\nmov.u32 %r1, 2;\n"
                                          "$end:\nmov.u32 %r1, 3;\nret;\n}\n",
                                     &seen);
    if (m == NULL) fail_msg("line %" PRIu32 ": %s", seen.line, seen.text);
    const SimPlace *at = sim_program(m, "k")->places;
    assert_null(at[1].role);
    assert_false(at[1].joined);
    assert_string_equal(at[2].role, "a");
    assert_string_equal(at[3].role, "a");
    assert_string_equal(at[4].role, "b");
    assert_null(at[5].role);
    assert_true(at[5].joined);
}

/* ---- what is refused ---- */
static void problems_name_the_instruction(void **state)
{
    static const char *const head = HEAD ".func f { ret; }\n.visible .entry k(.param .u64 a) {\n" REGS;
    static const struct {
        const char *instruction, *word;
    } rows[] = {
        {"frobnicate.u32 %r1, %r2;", "frobnicate"},
        {"add.foo.u32 %r1, %r2, %r3;", ".foo"},
        {"add.u32 %r1, %r2;", "operands"},
        {"add.u32 %r1, %r2, %d3;", "%d3"},
        {"add.u32 %r1, %r2, %p3;", "%p3"},
        {"add.u32 %p1, %r2, %r3;", "%p1"},
        {"add.u32 5, %r2, %r3;", "register"},
        {"add.f32 %f1, %f2, 1;", ".f32"},
        {"add.u8 %h1, %h1, %h1;", ".u8"},
        {"add %r1, %r2, %r3;", "type"},
        {"mul.u32 %r1, %r2, %r3;", ".lo"},
        {"mul.wide.u64 %d1, %d2, %d3;", "wide"},
        {"add.rn.rz.f32 %f1, %f2, %f3;", ".rz"},
        {"setp.lo.s32 %p1, %r1, %r2;", ".s32"},
        {"setp.lt.b32 %p1, %r1, %r2;", ".b32"},
        {"cvt.f32.s32 %f1, %r1;", "cvt"},
        {"cvt.s32.f32 %r1, %f1;", "cvt"},
        {"mov.b64 {%r1, %r2, %r3}, %d1;", "vector"},
        {"mov.u32 %r1, %envreg0;", "%envreg0"},
        {"ld.global.u32 %r1, [%r2];", "%r2"},
        {"ld.relaxed.global.u32 %r1, [%d2];", "lacks"},
        {"ld.global.v2.u32 %r1, [%d2];", "vector"},
        {"ld.global.u32 %h1, [%d1];", "%h1"},
        {"ld.global.u32 %r1, [a];", ".param"},
        {"st.const.u32 [%d1], %r1;", ".const"},
        {"cvt.sat.u32.u32 %r1, %r2;", ".sat"},
        {"cvt.rn.satfinite.tf32.f32 %r1, %f2;", "needs"},
        {"add.s32 %f1, %r2, %r3;", "%f1"},
        {"add.s32 %r1, %r2, 0f3f800000;", ".s32"},
        {"mov.u32 %r1, {%h1, %h2};", "vector"},
        {"atom.global.add.s64 %d1, [%d2], %d3;", ".s64"},
        {"atom.global.add.f16 %h1, [%d2], %h3;", ".f16"},
        {"red.global.cas.b32 [%d2], %r1, %r2;", "red"},
        {"shfl.down.b32 %r1, %r2, 1, 31;", "shfl"},
        {"vote.sync.any.b32 %r1, %p1, -1;", "vote"},
        {"lop3.b32 %r1, %r2, %r3, %r4, 256;", "lop3"},
        {"bfe.u32 %r1, %r2, 256, 4;", "0 .. 255"},
        {"bar.sync 16;", "0 .. 15"},
        {"bar.sync 0, 33;", "multiple of 32"},
        {"mov.b64 %d1, %tid.x;", "%tid.x"},
        {"mov.f32 %f1, %tid.x;", "%tid.x"},
        {"add.u32 %r1, %tid.x, 1;", "%tid.x"},
        {"add.u64 %d1, %d2, a;", "address"},
        {"add.u32 _, %r1, %r2;", "dropped"},
        {"add.u32 %r1|%p1, %r1, %r2;", "|"},
        {"@%p1 call f;", "call"},
        {"wgmma.fence.sync.aligned;", "wgmma"},
        {"cp.async.bulk.wait_grup 0;", "cp.async.bulk"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        Room *r = *state;
        Seen seen;
        char *text = arena_printf(&r->arena, "%sret;\n%s\n}\n", head, rows[i].instruction);
        const SimModule *m = decode_text(r, text, &seen);
        if (m != NULL || seen.n != 1 || seen.line != 8 || !strstr(seen.text, rows[i].word))
            fail_msg("%s: %s, %" PRIu32 " problems, line %" PRIu32 ": %s", rows[i].instruction,
                     m ? "decoded" : "refused", seen.n, seen.line, seen.text);
    }
}

static void modules_need_a_target_that_has_the_form(void **state)
{
    static const struct {
        const char *text, *word;
    } rows[] = {
        {".version 8.6\n.target sm_77\n.address_size 64\n", "sm_77"},
        {".version 8.6\n.target sm_90\n.address_size 64\n.entry k() { setmaxnreg.inc.sync.aligned.u32 64; }\n",
         "sm_90"},
        {HEAD ".entry k() { .shared .b8 x[99999999]; ret; }\n", "x"},
        {HEAD ".entry k() { .local .b8 x[99999999]; ret; }\n", "x"},
        {HEAD ".extern .global .b32 g;\n.entry k() { .reg .b64 %d<2>; mov.u64 %d1, g; }\n", "g"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        Seen seen;
        const SimModule *m = decode_text(*state, rows[i].text, &seen);
        if (m != NULL || !strstr(seen.text, rows[i].word)) fail_msg("%s: %s", rows[i].text, seen.text);
    }
}

/* ---- whole files ---- */
static char *load(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    long n = ftell(f);
    rewind(f);
    char *text = test_malloc((size_t)n + 1);
    *size = fread(text, 1, (size_t)n, f);
    text[*size] = 0;
    fclose(f);
    return text;
}

static int decode_tree(Room *r, const char *folder)
{
    int files = 0;
    DIR *dir = opendir(folder);
    if (dir == NULL) return 0;
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        char path[1200];
        size_t size, n = strlen(e->d_name);
        if (e->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (n < 4 || strcmp(e->d_name + n - 4, ".ptx")) {
            files += strchr(e->d_name, '.') ? 0 : decode_tree(r, path);
            continue;
        }
        ArenaMark mark = arena_mark(&r->arena);
        char *text = load(path, &size);
        Seen seen;
        const SimModule *m = decode_text(r, text, &seen);
        if (m == NULL && !strstr(text, ".target sm_1")) fail_msg("%s:%" PRIu32 ": %s", path, seen.line, seen.text);
        for (uint32_t i = 0; m && i < m->nprograms; i++) check_invariants(m->programs[i]);
        arena_release(&r->arena, mark);
        test_free(text);
        files++;
    }
    closedir(dir);
    return files;
}

static void what_the_compiler_emits_is_decoded(void **state)
{
    const char *root = getenv("ROOT");
    char folder[1000];
    if (root == NULL) skip();
    snprintf(folder, sizeof folder, "%s/tests/golden", root);
    assert_true(decode_tree(*state, folder) > 50);
}

static const char *const sample = HEAD
    ".visible .entry k(.param .u64 a) {\n" REGS
    "TS: .branchtargets A, B;\n.shared .align 8 .b64 bar[2];\nld.param.u64 %d1, [a];\n"
    "@%p1 brx.idx %r1, TS;\nA: mov.b64 {%r1, %r2}, %d1;\nmul.wide.s32 %d2, %r1, 4;\nadd.cc.u32 %r1, %r2, %r3;\n"
    "ld.global.v2.s16 {%r1, %r2}, [%d2+4];\nB: setp.lt.and.f32 %p1|%p2, %f1, 0f00000000, !%p3;\n"
    "cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f2;\nfma.rn.ftz.sat.f32 %f1, %f2, %f3, %f4;\n"
    "mbarrier.init.shared::cta.b64 [bar+8], 1;\nshfl.sync.bfly.b32 %r1|%p1, %r2, 1, 31, -1;\n"
    "atom.global.cas.b32 %r1, [%d1], %r2, 3;\nbar.red.popc.u32 %r1, 0, %p1;\nlop3.b32 %r1, %r2, %r3, %r4, 0x96;\n"
    "cp.async.bulk.wait_group 0;\nelect.sync _|%p1, -1;\nret;\n}\n";

/* Words of the sample stand anywhere: nothing crashes, and what is decoded keeps the invariants. */
static void shuffled_words_are_decoded_or_refused(void **state)
{
    Room *r = *state;
    size_t size = strlen(sample);
    uint32_t x = 1, decoded = 0;
    for (int round = 0; round < 3000; round++) {
        ArenaMark mark = arena_mark(&r->arena);
        char *text = arena_strdup(&r->arena, sample, size);
        Seen seen;
        for (int k = 0; k <= round % 4; k++) {
            x = x * 1664525 + 1013904223;
            size_t from = (x >> 8) % (size - 8), to = strlen(HEAD) + (x >> 3) % (size - strlen(HEAD) - 8);
            memmove(text + to, sample + from, 1 + (x >> 29));
        }
        const SimModule *m = decode_text(r, text, &seen);
        for (uint32_t i = 0; m && i < m->nprograms; i++) check_invariants(m->programs[i]);
        decoded += m != NULL;
        arena_release(&r->arena, mark);
    }
    assert_true(decoded > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_room(registers_and_constants_have_slots),
        in_room(operands_that_are_no_registers),
        in_room(guards_and_branches),
        in_room(tables_of_branches),
        in_room(parameters_stand_where_the_abi_has_them),
        in_room(variables_are_laid_out),
        in_room(loads_and_stores),
        in_room(atomics),
        in_room(warps_and_barriers),
        in_room(parts_are_packed_and_unpacked),
        in_room(forms_have_their_values_in_order),
        in_room(places_know_roles_and_sources),
        in_room(roles_follow_the_ways),
        in_room(problems_name_the_instruction),
        in_room(modules_need_a_target_that_has_the_form),
        in_room(what_the_compiler_emits_is_decoded),
        in_room(shuffled_words_are_decoded_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
