/* Tensor maps that the device makes: the CTA's room for them, and map.set. */
#include "ptxgen/emit/emit.h"

static const Opnd NONE = {.kind = OPND_EMPTY};

static Opnd sreg(PtxWriter *w, Opnd name)
{
    Opnd r = ptx_reg(w, RC_B32);
    PTX_INS(w, "mov.u32", r, name);
    return r;
}

static Opnd wide(PtxWriter *w, Opnd x)
{
    Opnd r = ptx_reg(w, RC_B64);
    PTX_INS(w, "cvt.u64.u32", r, x);
    return r;
}

static bool is_row(const MfKernel *mf)
{
    int64_t y, z;
    return lx_is_const(&mf->lx, mf->grid[1], &y) && lx_is_const(&mf->lx, mf->grid[2], &z) && y == 1 && z == 1;
}

/* The number of the CTA in the grid, x fastest. */
static Opnd cta_number(PtxWriter *w)
{
    Opnd x = wide(w, sreg(w, opnd_lit("%ctaid.x")));
    if (is_row(&w->k->mf)) return x;
    Opnd n = ptx_reg(w, RC_B64), y = wide(w, sreg(w, opnd_lit("%ctaid.y")));
    Opnd z = sreg(w, opnd_lit("%ctaid.z")), ny = sreg(w, opnd_lit("%nctaid.y"));
    PTX_INS(w, "mad.wide.u32", n, z, ny, y);
    Opnd nx = wide(w, sreg(w, opnd_lit("%nctaid.x")));
    PTX_INS(w, "mad.lo.s64", n, n, nx, x);
    return n;
}

void ptx_maps_room(PtxWriter *w, const MfParam *p, Opnd name)
{
    w->maps_room = ptx_reg(w, RC_B64);
    PTX_INS(w, "ld.param.b64", w->maps_room, name);
    PTX_INS(w, "mad.lo.s64", w->maps_room, cta_number(w), opnd_int(p->index), w->maps_room);
}

Opnd ptx_map_address(PtxWriter *w, const IrOp *op, IrKey key)
{
    const IrArg *object = ir_find(op, key), *slot = ir_part(op, object, IRK_SLOT);
    const IrBuf *b = &w->k->bufs.v[object->id];
    Opnd s = slot ? ptx_value32(w, slot) : opnd_int(0), at = ptx_reg(w, RC_B64);
    if (s.kind == OPND_INT) {
        PTX_INS(w, "add.s64", at, w->maps_room, opnd_int(b->offset + s.u.k * b->pitch));
        return at;
    }
    PTX_INS(w, "mad.wide.u32", at, s, opnd_int(b->pitch), w->maps_room);
    if (b->offset) PTX_INS(w, "add.s64", at, at, opnd_int(b->offset));
    return at;
}

/* "[param_7+16]" */
static Opnd param_bytes(char *buf, uint32_t number, uint32_t byte)
{
    Opnd name = ptx_param_name(buf, number, true);
    if (byte == 0) return name;
    size_t n = name.n - 1u; /* over the bracket */
    buf[n++] = '+';
    if (byte >= 100) buf[n++] = (char)('0' + byte / 100);
    if (byte >= 10) buf[n++] = (char)('0' + byte / 10 % 10);
    buf[n++] = (char)('0' + byte % 10);
    buf[n++] = ']';
    return opnd_textn(buf, n);
}

static void copy_template(PtxWriter *w, uint32_t map, Opnd cell)
{
    char name[PTX_PARAM_ROOM + 8];
    uint32_t number = 0;
    ptx_param(w, MF_PARAM_MAP, map, &number);
    Opnd pair = {.kind = OPND_COORDS};
    for (w->ncoords = 0; w->ncoords < 2; w->ncoords++) w->coords[w->ncoords] = ptx_reg(w, RC_B64);
    for (uint32_t byte = 0; byte < IR_MAP_BYTES; byte += 16) {
        Opnd to = cell;
        to.kind = OPND_MEM;
        to.u.k += byte;
        PTX_INS(w, "ld.param.v2.b64", pair, param_bytes(name, number, byte));
        PTX_INS(w, "st.shared.v2.b64", to, pair);
    }
    w->ncoords = 0;
}

static void replace(PtxWriter *w, Opnd field, Opnd type, Opnd cell, int ordinal, Opnd value)
{
    static const char *const ORDINALS[] = {", 0", ", 1", ", 2", ", 3", ", 4"};
    w->slots[SLOT_field] = field;
    w->slots[SLOT_type] = type;
    w->slots[SLOT_dst] = cell;
    w->slots[SLOT_value] = value;
    if (ordinal >= 0) w->slots[SLOT_ordinal] = opnd_textn(ORDINALS[ordinal], 3);
    ptx_form(w, NONE, FORM_MAP_REPLACE);
}

/* PTX counts dimensions from the innermost one on, strides from that of the one outside of it; in bytes (assemblers before
 * CUDA 12.5 took 16ths of them, CUTLASS, copy_sm90_desc.hpp). */
static void set_fields(PtxWriter *w, const IrOp *op, Opnd cell)
{
    const IrArg *dim, *pitch;
    int rank = (int)ir_list(op, IRK_DIMS, &dim), n = (int)ir_list(op, IRK_PITCHES, &pitch);
    Opnd b32 = opnd_lit("b32"), b64 = opnd_lit("b64");
    replace(w, opnd_lit("global_address"), b64, cell, -1, ptx_in_reg(w, ptx_value64(w, ir_find(op, IRK_FROM)), RC_B64));
    for (int i = 0; i < rank && i < MAP_RANK; i++)
        replace(w, opnd_lit("global_dim"), b32, cell, i, ptx_in_reg(w, ptx_value32(w, &dim[rank - 1 - i]), RC_B32));
    for (int i = 0; i < n && i < MAP_RANK; i++)
        replace(w, opnd_lit("global_stride"), b64, cell, i, ptx_in_reg(w, ptx_value64(w, &pitch[n - 1 - i]), RC_B64));
}

/* Leaves where the slot is not stale, or for warps that are not the role's first; otherwise it is not any more. */
static void unless_stale(PtxWriter *w, const IrOp *op, uint32_t label)
{
    const IrArg *dst = ir_find(op, IRK_DST), *slot = ir_part(op, dst, IRK_SLOT);
    Opnd fresh = w->vars.v[ir_find(op, IRK_VAR)->id], bit = ptx_reg(w, RC_B64), known = ptx_reg(w, RC_B64),
         p = ptx_reg(w, RC_PRED);
    Opnd s = slot ? ptx_value32(w, slot) : opnd_int(0);
    if (s.kind == OPND_INT) PTX_INS(w, "mov.b64", bit, opnd_int((int64_t)(UINT64_C(1) << (s.u.k & 63))));
    else {
        PTX_INS(w, "mov.b64", bit, opnd_int(1));
        PTX_INS(w, "shl.b64", bit, bit, s);
    }
    PTX_INS(w, "and.b64", known, fresh, bit);
    PTX_INS(w, "setp.ne.s64", p, known, opnd_int(0));
    ptx_branch(w, p, true, "fresh", "", label);
    PTX_INS(w, "or.b64", fresh, fresh, bit);
    if (w->role_warps <= 1) return;
    Opnd other = ptx_reg(w, RC_PRED);
    PTX_INS(w, "setp.ne.u32", other, w->warp, opnd_int(w->first_warp));
    ptx_branch(w, other, true, "fresh", "", label);
}

/* guard: the elected thread. All of its warp comes here, together behind each warp.sync: cp_fenceproxy is done by a warp. */
void ptx_op_map_set(PtxWriter *w, const IrOp *op, Opnd guard)
{
    uint32_t label = w->labels++;
    Opnd cell = ptx_shared_address(w, op, IRK_SRC);
    unless_stale(w, op, label);
    Opnd to = ptx_map_address(w, op, IRK_DST), global = ptx_reg(w, RC_B64);
    PTX_INS(w, "cvta.to.global.u64", global, to);
    ptx_form(w, NONE, FORM_WARP_SYNC); /* the cell is read */
    ptx_branch(w, guard, false, "made", "", label);
    copy_template(w, ir_find(op, IRK_MAP)->id, cell);
    set_fields(w, op, cell);
    ptx_label(w, "made", "", label);
    ptx_form(w, NONE, FORM_WARP_SYNC);
    w->slots[SLOT_gaddr] = global;
    w->slots[SLOT_src] = cell;
    ptx_form(w, NONE, FORM_MAP_PUBLISH);
    w->slots[SLOT_gaddr] = to;
    ptx_form(w, NONE, FORM_MAP_ACQUIRE);
    ptx_label(w, "fresh", "", label);
}
