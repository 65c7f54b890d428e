#include <string.h>

#include "ptxgen/emit.h"

static const Opnd NONE = {.kind = OPND_EMPTY};

/* ---- control ---- */

static PtxBlock *open_block(PtxWriter *w, const IrOp *op)
{
    w->blocks.v = mem_grow(w->mem, w->blocks.v, &w->blocks.cap, w->blocks.n + 1, sizeof *w->blocks.v);
    PtxBlock *b = &w->blocks.v[w->blocks.n++];
    *b = (PtxBlock){.op = op->op, .label = w->labels++, .name = ""};
    return b;
}

/* The test stands at the end of the body too, so that a turn costs one branch. `index + 1 <= bound` never wraps. */
static void op_loop(PtxWriter *w, const IrOp *op, Opnd guard)
{
    (void)guard;
    bool wide = op->type != IR_I32;
    const IrArg *from = ir_find(op, IRK_A), *to = ir_find(op, IRK_B);
    Opnd a = wide ? ptx_value64(w, from) : ptx_value32(w, from);
    Opnd b = wide ? ptx_value64(w, to) : ptx_value32(w, to);
    PtxBlock *block = open_block(w, op);
    if (op->dst > 0 && op->dst <= w->k->value_names.n && w->k->value_names.v[op->dst - 1])
        block->name = w->k->value_names.v[op->dst - 1];
    block->bound = b;
    block->index = ptx_define(w, op);
    PTX_INS(w, wide ? "mov.b64" : "mov.b32", block->index, a);
    Opnd p = ptx_reg(w, RC_PRED);
    PTX_INS(w, wide ? "setp.ge.s64" : "setp.ge.s32", p, block->index, b);
    ptx_branch(w, p, true, "done", block->name, block->label);
    ptx_label(w, "loop", block->name, block->label);
}

static void op_if(PtxWriter *w, const IrOp *op, Opnd guard)
{
    (void)guard;
    Opnd p = ptx_valuep(w, ir_find(op, IRK_COND));
    PtxBlock *block = open_block(w, op);
    ptx_branch(w, p, false, "else", "", block->label);
}

static void op_else(PtxWriter *w, const IrOp *op, Opnd guard)
{
    (void)guard, (void)op;
    if (w->blocks.n == 0) return;
    PtxBlock *block = &w->blocks.v[w->blocks.n - 1];
    block->is_else = true;
    ptx_branch(w, NONE, true, "endif", "", block->label);
    ptx_label(w, "else", "", block->label);
}

static void op_end(PtxWriter *w, const IrOp *op, Opnd guard)
{
    (void)guard, (void)op;
    if (w->blocks.n == 0) return;
    PtxBlock b = w->blocks.v[--w->blocks.n];
    if (b.op == IR_IF) {
        ptx_label(w, b.is_else ? "endif" : "else", "", b.label);
        return;
    }
    bool wide = b.index.cls == RC_B64;
    PTX_INS(w, wide ? "add.s64" : "add.s32", b.index, b.index, opnd_int(1));
    Opnd p = ptx_reg(w, RC_PRED);
    PTX_INS(w, wide ? "setp.lt.s64" : "setp.lt.s32", p, b.index, b.bound);
    ptx_branch(w, p, true, "loop", b.name, b.label);
    ptx_label(w, "done", b.name, b.label);
}

/* ---- shared addresses ---- */

/* offset + slot * pitch + byte: what is constant goes into the address, the rest into a register. */
static Opnd shared_address(PtxWriter *w, int64_t offset, uint32_t pitch, const IrArg *slot, const IrArg *byte)
{
    Opnd at = w->smem;
    if (slot) {
        Opnd s = ptx_value32(w, slot);
        if (s.kind == OPND_INT) {
            offset += s.u.k * pitch;
        } else {
            Opnd r = ptx_reg(w, RC_B32);
            PTX_INS(w, "mad.lo.s32", r, s, opnd_int(pitch), at);
            at = r;
        }
    }
    if (byte) {
        Opnd b = ptx_value32(w, byte);
        if (b.kind == OPND_INT) {
            offset += b.u.k;
        } else {
            Opnd r = ptx_reg(w, RC_B32);
            PTX_INS(w, "add.s32", r, at, b);
            at = r;
        }
    }
    return opnd_addr(at, offset);
}

static Opnd object_address(PtxWriter *w, const IrOp *op, IrKey key)
{
    const IrArg *object = ir_find(op, key);
    const IrArg *slot = NULL, *byte = NULL;
    if (object == NULL) return opnd_lit("missing");
    for (const IrArg *p = object + 1; p < op->args + op->nargs && p->key >= IRK_SLOT; p++) {
        if (p->key == IRK_SLOT) slot = p;
        else byte = p;
    }
    if (object->kind == IRA_BUF && object->id < w->k->bufs.n) {
        const IrBuf *b = &w->k->bufs.v[object->id];
        return shared_address(w, b->offset, b->pitch, slot, byte);
    }
    if (object->kind == IRA_BAR && object->id < w->k->bars.n)
        return shared_address(w, w->k->bars.v[object->id].offset, 8, slot, NULL);
    return opnd_lit("missing");
}

/* ---- barriers ---- */

static void op_bar(PtxWriter *w, const IrOp *op, Opnd guard)
{
    static const InstrForm forms[IR_OP_COUNT] = {
        [IR_BAR_INIT] = FORM_MBAR_INIT,
        [IR_BAR_EXPECT] = FORM_MBAR_EXPECT,
        [IR_BAR_ARRIVE_EXPECT] = FORM_MBAR_ARRIVE_EXPECT,
        [IR_BAR_ARRIVE] = FORM_MBAR_ARRIVE,
    };
    const IrArg *count = ir_find(op, IRK_COUNT_), *bytes = ir_find(op, IRK_BYTES);
    if (bytes) w->slots[SLOT_bytes] = ptx_value32(w, bytes);
    if (count) w->slots[SLOT_count] = opnd_int(count->imm);
    w->slots[SLOT_mbar] = object_address(w, op, IRK_BAR);
    ptx_form(w, guard, forms[op->op]);
}

/* try_wait suspends the thread for a while and may come back early: only its answer counts. The acquire makes what
 * the phase's copies wrote visible to this thread (PTX ISA, mbarrier.try_wait). */
static void op_wait(PtxWriter *w, const IrOp *op, Opnd guard)
{
    const IrArg *bar = ir_find(op, IRK_BAR);
    const char *name = bar && bar->id < w->k->bars.n ? w->k->bars.v[bar->id].name : "";
    uint32_t label = w->labels++;
    Opnd parity = ptx_value32(w, ir_find(op, IRK_PHASE));
    Opnd mbar = object_address(w, op, IRK_BAR);
    Opnd p = ptx_reg(w, RC_PRED);
    if (guard.kind != OPND_EMPTY) ptx_branch(w, guard, false, "skip", name, label);
    ptx_label(w, "wait", name, label);
    w->slots[SLOT_sem] = opnd_lit("acquire");
    w->slots[SLOT_scope] = opnd_lit("cta");
    w->slots[SLOT_pred] = p;
    w->slots[SLOT_mbar] = mbar;
    w->slots[SLOT_parity] = parity;
    ptx_form(w, NONE, FORM_MBAR_TRY_WAIT);
    ptx_branch(w, p, false, "wait", name, label);
    if (guard.kind != OPND_EMPTY) ptx_label(w, "skip", name, label);
}

/* ---- groups and fences ---- */

static void op_commit(PtxWriter *w, const IrOp *op, Opnd guard)
{
    (void)op;
    ptx_form(w, guard, FORM_GROUP_COMMIT);
}

static void op_group_wait(PtxWriter *w, const IrOp *op, Opnd guard)
{
    const IrArg *n = ir_find(op, IRK_N), *how = ir_find(op, IRK_HOW);
    w->slots[SLOT_n] = opnd_int(n ? n->imm : 0);
    ptx_form(w, guard, how && how->id == IRH_READ ? FORM_GROUP_WAIT_READ : FORM_GROUP_WAIT);
}

static void op_fence(PtxWriter *w, const IrOp *op, Opnd guard)
{
    static const InstrForm spaces[] = {[IRS_SHARED] = FORM_FENCE_ASYNC_SHARED,
                                       [IRS_CLUSTER] = FORM_FENCE_ASYNC_CLUSTER,
                                       [IRS_GLOBAL] = FORM_FENCE_ASYNC_GLOBAL};
    const IrArg *space = ir_find(op, IRK_SPACE);
    if (op->op == IR_FENCE_MBAR_INIT) ptx_form(w, guard, FORM_FENCE_MBAR_INIT);
    else ptx_form(w, guard, space && space->id <= IRS_GLOBAL ? spaces[space->id] : FORM_FENCE_ASYNC);
}

/* ---- copies ---- */

static void set_policy(PtxWriter *w, const IrOp *op)
{
    const IrArg *pol = ir_find(op, IRK_POL);
    if (pol == NULL || pol->id >= w->k->pols.n) return;
    w->slots[SLOT_hint] = opnd_lit(".L2::cache_hint");
    w->slots[SLOT_policy] = w->pols[pol->id];
    w->slots[SLOT_policy].kind = OPND_AFTER_COMMA;
}

/* PTX wants the innermost coordinate first; gather4 and scatter4 the column, then the four rows in order. */
static void set_coords(PtxWriter *w, const IrOp *op, bool rows)
{
    const IrArg *first;
    unsigned n = ir_list(op, IRK_COORDS, &first);
    if (n > MAP_RANK) n = MAP_RANK;
    for (unsigned i = 0; i < n; i++) {
        unsigned at = !rows ? n - 1 - i : i + 1 < n ? i + 1 : 0;
        w->coords[at] = ptx_value32(w, &first[i]);
    }
    w->ncoords = n;
    w->slots[SLOT_coords].kind = OPND_COORDS;
    w->slots[SLOT_dim] = opnd_int(n);
}

static const MfMap *set_map(PtxWriter *w, const IrOp *op)
{
    static const MfMap none;
    const IrArg *map = ir_find(op, IRK_MAP);
    bool known = map && map->id < w->k->mf.maps.n && w->maps[map->id].kind == OPND_REG;
    const MfMap *m = known ? &w->k->mf.maps.v[map->id] : &none;
    w->slots[SLOT_map] = known ? w->maps[map->id] : opnd_lit("missing");
    set_coords(w, op, m->mode == MAP_GATHER4 || m->mode == MAP_SCATTER4);
    set_policy(w, op);
    return m;
}

/* .shared::cta where the target has it, unless --ptx-version asks for older text: the same copy, as a CTA's own
 * shared memory is part of its cluster's. */
static bool to_cluster(const PtxWriter *w, InstrForm cta)
{
    return w->m->cluster_dst || w->target == NULL || !target_has(w->target, form_info(cta)->feature);
}

static void op_tma_load(PtxWriter *w, const IrOp *op, Opnd guard)
{
    static const InstrForm forms[][2] = {
        [MAP_TILED] = {FORM_TMA_LOAD_TILE_CTA, FORM_TMA_LOAD_TILE_CLUSTER},
        [MAP_IM2COL] = {FORM_TMA_LOAD_IM2COL_CTA, FORM_TMA_LOAD_IM2COL_CLUSTER},
        [MAP_IM2COL_W] = {FORM_TMA_LOAD_IM2COL_W_CTA, FORM_TMA_LOAD_IM2COL_W_CLUSTER},
        [MAP_IM2COL_W128] = {FORM_TMA_LOAD_IM2COL_W128_CTA, FORM_TMA_LOAD_IM2COL_W128_CLUSTER},
        [MAP_GATHER4] = {FORM_TMA_LOAD_GATHER4_CTA, FORM_TMA_LOAD_GATHER4_CLUSTER},
        [MAP_SCATTER4] = {FORM_TMA_LOAD_TILE_CTA, FORM_TMA_LOAD_TILE_CLUSTER}, /* no load has it: ir_check */
    };
    const MfMap *m = set_map(w, op);
    w->slots[SLOT_dst] = object_address(w, op, IRK_DST);
    w->slots[SLOT_mbar] = object_address(w, op, IRK_BAR);
    const InstrForm *f = forms[m->mode <= MAP_SCATTER4 ? m->mode : MAP_TILED];
    ptx_form(w, guard, f[to_cluster(w, f[0])]);
}

/* A label that only readers of the PTX look at: the simulator takes the store behind it as one whose order among writes
 * of the same bytes is open. */
static void mark_any_order(PtxWriter *w, const IrOp *op)
{
    if (op->any_order) ptx_label(w, "any_order", "", w->labels++);
}

static void op_tma_store(PtxWriter *w, const IrOp *op, Opnd guard)
{
    const MfMap *m = set_map(w, op);
    w->slots[SLOT_src] = object_address(w, op, IRK_SRC);
    mark_any_order(w, op);
    bool im2col = m->mode == MAP_IM2COL || m->mode == MAP_IM2COL_W || m->mode == MAP_IM2COL_W128;
    ptx_form(w, guard,
             im2col                    ? FORM_TMA_STORE_IM2COL
             : m->mode == MAP_SCATTER4 ? FORM_TMA_STORE_SCATTER4
                                       : FORM_TMA_STORE_TILE);
}

static void op_blk_load(PtxWriter *w, const IrOp *op, Opnd guard)
{
    w->slots[SLOT_gaddr] = ptx_in_reg(w, ptx_value64(w, ir_find(op, IRK_FROM)), RC_B64);
    w->slots[SLOT_size] = ptx_value32(w, ir_find(op, IRK_BYTES));
    w->slots[SLOT_dst] = object_address(w, op, IRK_DST);
    w->slots[SLOT_mbar] = object_address(w, op, IRK_BAR);
    set_policy(w, op);
    ptx_form(w, guard, to_cluster(w, FORM_BULK_LOAD_CTA) ? FORM_BULK_LOAD_CLUSTER : FORM_BULK_LOAD_CTA);
}

static void op_blk_store(PtxWriter *w, const IrOp *op, Opnd guard)
{
    w->slots[SLOT_gaddr] = ptx_in_reg(w, ptx_value64(w, ir_find(op, IRK_TO)), RC_B64);
    w->slots[SLOT_size] = ptx_value32(w, ir_find(op, IRK_BYTES));
    w->slots[SLOT_src] = object_address(w, op, IRK_SRC);
    set_policy(w, op);
    mark_any_order(w, op);
    ptx_form(w, guard, FORM_BULK_STORE);
}

/* ---- the kernel ---- */

/* "0f" and the bits of the f32: no decimal rounding on the way. */
static Opnd fraction(double f, char *buf)
{
    float x = (float)(f > 0 && f <= 1 ? f : 1);
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    buf[0] = '0';
    buf[1] = 'f';
    for (int i = 0; i < 8; i++) buf[2 + i] = "0123456789ABCDEF"[bits >> (28 - 4 * i) & 15];
    return opnd_textn(buf, 10);
}

static void op_policy(PtxWriter *w, const IrOp *op, Opnd guard)
{
    const IrArg *arg = ir_find(op, IRK_POL);
    if (arg == NULL || arg->id >= w->k->pols.n) return;
    const IrPolicy *pol = &w->k->pols.v[arg->id];
    size_t n;
    const char *const *words = word_list(WORDS_CACHE, &n);
    char number[10], other[40] = ".L2::";
    const char *primary = pol->primary < n ? words[pol->primary] : "missing";
    if (pol->secondary < n) {
        size_t len = strlen(words[pol->secondary]);
        if (len > sizeof other - 5) len = sizeof other - 5;
        memcpy(other + 5, words[pol->secondary], len);
        w->slots[SLOT_else] = opnd_textn(other, 5 + len);
    }
    w->slots[SLOT_op] = opnd_textn(primary, strlen(primary));
    w->slots[SLOT_value] = fraction(pol->fraction, number);
    w->slots[SLOT_reg] = w->pols[arg->id];
    ptx_form(w, guard, FORM_POLICY_CREATE);
}

Opnd ptx_shared_address(PtxWriter *w, const IrOp *op, IrKey key)
{
    return object_address(w, op, key);
}

static PtxOp *const OPS[IR_OP_COUNT] = {
    [IR_LOOP] = op_loop,
    [IR_IF] = op_if,
    [IR_ELSE] = op_else,
    [IR_END] = op_end,
    [IR_CONST] = ptx_op_const,
    [IR_PARAM] = ptx_op_param,
    [IR_SREG] = ptx_op_sreg,
    [IR_ADD] = ptx_op_binary,
    [IR_SUB] = ptx_op_binary,
    [IR_MUL] = ptx_op_binary,
    [IR_DIV] = ptx_op_div,
    [IR_MOD] = ptx_op_div,
    [IR_MIN] = ptx_op_binary,
    [IR_MAX] = ptx_op_binary,
    [IR_SHL] = ptx_op_binary,
    [IR_SHR] = ptx_op_binary,
    [IR_AND] = ptx_op_binary,
    [IR_OR] = ptx_op_binary,
    [IR_XOR] = ptx_op_binary,
    [IR_NOT] = ptx_op_not,
    [IR_CMP] = ptx_op_cmp,
    [IR_SEL] = ptx_op_sel,
    [IR_CVT] = ptx_op_cvt,
    [IR_VAR] = ptx_op_var,
    [IR_GET] = ptx_op_var,
    [IR_SET] = ptx_op_var,
    [IR_LOADS] = ptx_op_loads,
    [IR_GADDR] = ptx_op_gaddr,
    [IR_ZADDR] = ptx_op_zaddr,
    [IR_BAR_INIT] = op_bar,
    [IR_BAR_EXPECT] = op_bar,
    [IR_BAR_ARRIVE_EXPECT] = op_bar,
    [IR_BAR_ARRIVE] = op_bar,
    [IR_BAR_WAIT] = op_wait,
    [IR_GRP_COMMIT] = op_commit,
    [IR_GRP_WAIT] = op_group_wait,
    [IR_FENCE_MBAR_INIT] = op_fence,
    [IR_FENCE_ASYNC] = op_fence,
    [IR_TMA_LOAD] = op_tma_load,
    [IR_TMA_STORE] = op_tma_store,
    [IR_BLK_LOAD] = op_blk_load,
    [IR_BLK_STORE] = op_blk_store,
    [IR_POL_CREATE] = op_policy,
    [IR_THR_COPY] = ptx_op_threads,
    [IR_THR_FILL] = ptx_op_threads,
};

void ptx_op(PtxWriter *w, const IrOp *op)
{
    if (op->op >= IR_OP_COUNT || OPS[op->op] == NULL) return;
    Opnd guard = NONE;
    if (op->guard) guard = ptx_valuep(w, &(IrArg){.kind = IRA_VAL, .id = op->guard});
    OPS[op->op](w, op, guard);
}
