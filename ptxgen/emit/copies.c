/* Copies: shared addresses, maps and coordinates, policies, and one function per kind of copy. */
#include <string.h>

#include "ptxgen/emit/emit.h"

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

Opnd ptx_shared_address(PtxWriter *w, const IrOp *op, IrKey key)
{
    const IrArg *object = ir_find(op, key);
    const IrArg *slot = NULL, *byte = NULL;
    for (const IrArg *p = object + 1; p < op->args + op->nargs && p->key >= IRK_SLOT; p++) {
        if (p->key == IRK_SLOT) slot = p;
        else byte = p;
    }
    if (object->kind == IRA_BAR) return shared_address(w, w->k->bars.v[object->id].offset, 8, slot, NULL);
    const IrBuf *b = &w->k->bufs.v[object->id];
    return shared_address(w, b->offset, b->pitch, slot, byte);
}

/* ---- copies ---- */

static void set_policy(PtxWriter *w, const IrOp *op)
{
    const IrArg *pol = ir_find(op, IRK_POL);
    if (pol == NULL) return;
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

/* A 16-bit register, which is what PTX wants of masks of CTAs and im2col offsets, or an immediate. */
Opnd ptx_value16(PtxWriter *w, const IrArg *arg)
{
    Opnd m = ptx_value32(w, arg);
    if (m.kind != OPND_REG) return m;
    Opnd r = ptx_reg(w, RC_B16);
    PTX_INS(w, "cvt.u16.u32", r, m);
    return r;
}

/* {info}: offsets innermost (W) first, wHalo and wOffset in that order. */
static void set_info(PtxWriter *w, const IrOp *op, const MfMap *m)
{
    const IrArg *first;
    unsigned n = ir_list(op, IRK_INFO, &first);
    if (n == 0 || n > 3) return;
    for (unsigned i = 0; i < n; i++) w->info[m->mode == MAP_IM2COL ? n - 1 - i : i] = ptx_value16(w, &first[i]);
    w->ninfo = n;
    w->slots[SLOT_info].kind = OPND_INFO;
}

static const MfMap *set_map(PtxWriter *w, const IrOp *op)
{
    uint32_t map = ir_find(op, IRK_MAP)->id;
    const MfMap *m = &w->k->mf.maps.v[map];
    w->slots[SLOT_map] = ir_find(op, IRK_DESC) ? ptx_map_address(w, op, IRK_DESC) : w->maps[map];
    set_coords(w, op, map_is_rows4(m->mode));
    set_info(w, op, m);
    set_policy(w, op);
    return m;
}

/* .shared::cta where the target has it, unless --ptx-version asks for older text: the same copy, as a CTA's own
 * shared memory is part of its cluster's. */
static bool to_cluster(const PtxWriter *w, InstrForm cta, InstrForm cluster)
{
    if (w->target == NULL || !target_has(w->target, form_info(cta)->feature)) return true;
    return w->m->cluster_dst && target_has(w->target, form_info(cluster)->feature);
}

/* ---- destinations ---- */

/* Where a load goes: {dst}, {mbar} and {mask}. With a mask they are the own places, taken over by all (PTX ISA,
 * cp.async.bulk: "the same CTA-relative offset"). The guard is the op's. */
static LoadTo set_destination(PtxWriter *w, const IrOp *op, Opnd guard, InstrForm cta, InstrForm cluster)
{
    const IrArg *rank = ir_find(op, IRK_RANK), *mask = ir_find(op, IRK_MASK), *pair = ir_find(op, IRK_BAR_RANK);
    Opnd dst = ptx_shared_address(w, op, IRK_DST), mbar = ptx_shared_address(w, op, IRK_BAR);
    if (pair) {
        mbar = ptx_mapa(w, guard, mbar, ptx_value32(w, pair));
        w->slots[SLOT_group] = opnd_lit(".cta_group::2");
    }
    if (rank) {
        Opnd r = ptx_value32(w, rank);
        bool same = dst.reg == mbar.reg;
        dst = ptx_mapa(w, guard, dst, r);
        if (!pair) mbar = same ? opnd_addr(dst, mbar.u.k) : ptx_mapa(w, guard, mbar, r);
    }
    w->slots[SLOT_dst] = dst;
    w->slots[SLOT_mbar] = mbar;
    if (mask) w->slots[SLOT_mask] = ptx_value16(w, mask);
    return mask ? LOAD_MULTICAST : rank || pair || to_cluster(w, cta, cluster) ? LOAD_CLUSTER : LOAD_CTA;
}

/* ---- loads ---- */

/* ir_check refuses what the map's mode has no form for. */
void ptx_op_tma_load(PtxWriter *w, const IrOp *op, Opnd guard)
{
    const InstrForm *f = map_mode(set_map(w, op)->mode)->load;
    ptx_form(w, guard, f[set_destination(w, op, guard, f[LOAD_CTA], f[LOAD_CLUSTER])]);
}

void ptx_op_blk_load(PtxWriter *w, const IrOp *op, Opnd guard)
{
    static const InstrForm forms[] = {FORM_BULK_LOAD_CTA, FORM_BULK_LOAD_CLUSTER, FORM_BULK_LOAD_MULTICAST};
    w->slots[SLOT_gaddr] = ptx_in_reg(w, ptx_value64(w, ir_find(op, IRK_FROM)), RC_B64);
    w->slots[SLOT_size] = ptx_value32(w, ir_find(op, IRK_BYTES));
    set_policy(w, op);
    ptx_form(w, guard, forms[set_destination(w, op, guard, forms[LOAD_CTA], forms[LOAD_CLUSTER])]);
}

void ptx_op_tma_prefetch(PtxWriter *w, const IrOp *op, Opnd guard)
{
    const MfMap *m = set_map(w, op);
    ptx_form(w, guard, map_mode(m->mode)->prefetch);
}

void ptx_op_map_prefetch(PtxWriter *w, const IrOp *op, Opnd guard)
{
    w->slots[SLOT_map] = w->maps[ir_find(op, IRK_MAP)->id];
    ptx_form(w, guard, FORM_MAP_PREFETCH);
}

void ptx_op_blk_prefetch(PtxWriter *w, const IrOp *op, Opnd guard)
{
    w->slots[SLOT_gaddr] = ptx_in_reg(w, ptx_value64(w, ir_find(op, IRK_FROM)), RC_B64);
    w->slots[SLOT_size] = ptx_value32(w, ir_find(op, IRK_BYTES));
    set_policy(w, op);
    ptx_form(w, guard, FORM_BULK_PREFETCH);
}

/* ---- stores and reductions ---- */

/* A label that only readers of the PTX look at: the simulator takes the store behind it as one whose order among writes
 * of the same bytes is open. */
void ptx_any_order(PtxWriter *w, bool any_order)
{
    if (any_order) ptx_label(w, "any_order", "", w->labels++);
}

static Opnd text(const char *s)
{
    return opnd_textn(s, strlen(s));
}

static const char *reduction_word(const IrOp *op)
{
    size_t n;
    return word_list(WORDS_REDUCE, &n)[ir_find(op, IRK_ROP)->id];
}

/* {op} and {type} of a bulk reduction. */
static void set_reduction(PtxWriter *w, const IrOp *op, InstrForm form)
{
    const char *word = "", *type = "";
    reduction_of(form, reduction_word(op), (ElemType)ir_find(op, IRK_ELEM)->id, &word, &type);
    w->slots[SLOT_op] = text(word);
    w->slots[SLOT_type] = text(type);
}

void ptx_op_tma_store(PtxWriter *w, const IrOp *op, Opnd guard)
{
    const MfMap *m = set_map(w, op);
    const MapModeInfo *mode = map_mode(m->mode);
    w->slots[SLOT_src] = ptx_shared_address(w, op, IRK_SRC);
    ptx_any_order(w, op->any_order);
    if (op->op == IR_TMA_REDUCE) { /* the map has the type */
        w->slots[SLOT_op] = text(reduction_word(op));
        ptx_form(w, guard, mode->reduce);
        return;
    }
    ptx_form(w, guard, mode->store);
}

void ptx_op_blk_store(PtxWriter *w, const IrOp *op, Opnd guard)
{
    w->slots[SLOT_gaddr] = ptx_in_reg(w, ptx_value64(w, ir_find(op, IRK_TO)), RC_B64);
    w->slots[SLOT_size] = ptx_value32(w, ir_find(op, IRK_BYTES));
    w->slots[SLOT_src] = ptx_shared_address(w, op, IRK_SRC);
    set_policy(w, op);
    const IrArg *mask = ir_find(op, IRK_BYTES_OF);
    if (mask) w->slots[SLOT_mask] = ptx_value16(w, mask);
    ptx_any_order(w, op->any_order);
    if (op->op == IR_BLK_REDUCE) set_reduction(w, op, FORM_BULK_REDUCE);
    ptx_form(w, guard, op->op == IR_BLK_REDUCE ? FORM_BULK_REDUCE : mask ? FORM_BULK_STORE_MASK : FORM_BULK_STORE);
}

/* ---- to another CTA of the cluster ---- */

void ptx_op_peer(PtxWriter *w, const IrOp *op, Opnd guard)
{
    w->slots[SLOT_size] = ptx_value32(w, ir_find(op, IRK_BYTES));
    Opnd src = ptx_shared_address(w, op, IRK_SRC);
    set_destination(w, op, guard, FORM_BULK_PEER, FORM_BULK_PEER);
    w->slots[SLOT_src] = src; /* mapa has used it */
    if (op->op == IR_BLK_REDUCE_PEER) set_reduction(w, op, FORM_BULK_REDUCE_PEER);
    ptx_form(w, guard, op->op == IR_BLK_REDUCE_PEER ? FORM_BULK_REDUCE_PEER : FORM_BULK_PEER);
}

void ptx_op_st_async(PtxWriter *w, const IrOp *op, Opnd guard)
{
    Opnd value = ptx_in_reg(w, ptx_value64(w, ir_find(op, IRK_A)), RC_B64);
    set_destination(w, op, guard, FORM_ST_ASYNC, FORM_ST_ASYNC);
    w->slots[SLOT_type] = opnd_lit("b64");
    w->slots[SLOT_value] = value;
    ptx_form(w, guard, FORM_ST_ASYNC);
}

/* The same value in each place of a vector. */
static Opnd vector_of(PtxWriter *w, Opnd value, int64_t n)
{
    if (n == 1) return value;
    for (w->ncoords = 0; w->ncoords < n; w->ncoords++) w->coords[w->ncoords] = value;
    return (Opnd){.kind = OPND_COORDS};
}

void ptx_op_fill_peer(PtxWriter *w, const IrOp *op, Opnd guard)
{
    const IrArg *a = ir_find(op, IRK_A);
    bool wide = elem_info((ElemType)ir_find(op, IRK_ELEM)->id)->shared_bits == 64;
    Opnd value = wide ? ptx_in_reg(w, ptx_value64(w, a), RC_B64) : ptx_in_reg(w, ptx_value32(w, a), RC_B32);
    InstrForm form = op->op == IR_RED_ASYNC ? FORM_RED_ASYNC : FORM_ST_ASYNC;
    int64_t n = ir_find(op, IRK_BYTES)->imm / (wide ? 8 : 4);
    set_destination(w, op, guard, form, form);
    w->slots[SLOT_type] = wide ? opnd_lit("b64") : opnd_lit("b32");
    if (n > 1) w->slots[SLOT_vec] = n == 2 ? opnd_lit(".v2") : opnd_lit(".v4");
    w->slots[SLOT_value] = vector_of(w, value, n <= 4 ? n : 4);
    if (form == FORM_RED_ASYNC) set_reduction(w, op, form);
    ptx_form(w, guard, form);
}

void ptx_op_st_bulk(PtxWriter *w, const IrOp *op, Opnd guard)
{
    w->slots[SLOT_dst] = ptx_shared_address(w, op, IRK_DST);
    w->slots[SLOT_size] = opnd_int(ir_find(op, IRK_BYTES)->imm);
    ptx_form(w, guard, FORM_ST_BULK);
}

/* ---- eight bytes by a thread ---- */

static Opnd in_brackets(Opnd at)
{
    at.kind = OPND_MEM;
    return at;
}

void ptx_op_lds(PtxWriter *w, const IrOp *op, Opnd guard)
{
    Opnd at = in_brackets(ptx_shared_address(w, op, IRK_SRC)), d = ptx_define(w, op);
    ptx_ins(w, guard, "ld.shared.b64", (const Opnd[]){d, at}, 2);
}

void ptx_op_sts(PtxWriter *w, const IrOp *op, Opnd guard)
{
    Opnd value = ptx_value64(w, ir_find(op, IRK_A)), at = in_brackets(ptx_shared_address(w, op, IRK_DST));
    ptx_ins(w, guard, "st.shared.b64", (const Opnd[]){at, value}, 2);
}

/* ---- clusters that have not started ---- */

void ptx_op_clc_next(PtxWriter *w, const IrOp *op, Opnd guard)
{
    const uint32_t *c = w->k->mf.cluster;
    w->slots[SLOT_dst] = ptx_shared_address(w, op, IRK_DST);
    w->slots[SLOT_mbar] = ptx_shared_address(w, op, IRK_BAR);
    ptx_form(w, guard, c[0] * c[1] * c[2] > 1 ? FORM_CLC_TRY_CANCEL_MULTICAST : FORM_CLC_TRY_CANCEL);
}

void ptx_op_clc_id(PtxWriter *w, const IrOp *op, Opnd guard)
{
    Opnd at = in_brackets(ptx_shared_address(w, op, IRK_SRC)), pair = {.kind = OPND_COORDS};
    Opnd answer = ptx_reg(w, RC_B128), got = ptx_reg(w, RC_PRED), first = ptx_reg(w, RC_B32), d = ptx_define(w, op);
    for (w->ncoords = 0; w->ncoords < 2; w->ncoords++) w->coords[w->ncoords] = ptx_reg(w, RC_B64);
    ptx_ins(w, guard, "ld.shared.v2.b64", (const Opnd[]){pair, at}, 2);
    PTX_INS(w, "mov.b128", answer, pair);
    w->slots[SLOT_pred] = got;
    w->slots[SLOT_reg] = answer;
    ptx_form(w, (Opnd){.kind = OPND_EMPTY}, FORM_CLC_IS_CANCELED);
    PTX_INS(w, "mov.b64", d, opnd_int(-1));
    w->slots[SLOT_op] = opnd_lit("x");
    w->slots[SLOT_regs] = first;
    w->slots[SLOT_reg] = answer;
    ptx_form(w, got, FORM_CLC_FIRST_CTA_DIM);
    ptx_ins(w, got, "cvt.u64.u32", (const Opnd[]){d, first}, 2);
}

/* ---- policies ---- */

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

/* A launch that moves little keeps the usual policy. */
static void only_much(PtxWriter *w, Opnd policy, Opnd guard)
{
    Opnd usual = ptx_reg(w, RC_B64);
    char number[10];
    w->slots[SLOT_op] = opnd_lit("evict_unchanged");
    w->slots[SLOT_value] = fraction(1, number);
    w->slots[SLOT_reg] = usual;
    ptx_form(w, guard, FORM_POLICY_CREATE);
    ptx_ins(w, guard, "selp.b64", (const Opnd[]){policy, policy, usual, w->much}, 4);
}

void ptx_op_policy(PtxWriter *w, const IrOp *op, Opnd guard)
{
    uint32_t id = ir_find(op, IRK_POL)->id;
    const IrPolicy *pol = &w->k->pols.v[id];
    size_t n;
    const char *const *words = word_list(WORDS_CACHE, &n);
    char number[10], other[40] = ".L2::";
    const char *primary = words[pol->primary];
    if (pol->secondary < n) {
        size_t len = strlen(words[pol->secondary]);
        if (len > sizeof other - 5) len = sizeof other - 5;
        memcpy(other + 5, words[pol->secondary], len);
        w->slots[SLOT_else] = opnd_textn(other, 5 + len);
    }
    w->slots[SLOT_op] = opnd_textn(primary, strlen(primary));
    w->slots[SLOT_value] = fraction(pol->fraction, number);
    w->slots[SLOT_reg] = w->pols[id];
    ptx_form(w, guard, FORM_POLICY_CREATE);
    if (pol->by_traffic) only_much(w, w->pols[id], guard);
}
