/* The side of work by threads that lies in global memory: coordinates from places in the plan's box, addresses from those. A place is a register
 * and a constant: what the register's coordinates are is computed once, the constant's only add. */
#include "ptxgen/emit/threads.h"

static const Opnd NONE = {.kind = OPND_EMPTY};

static Opnd operand(PtxWriter *w, const IrArg *arg, bool wide)
{
    if (arg->kind == IRA_IMM && arg->imm >= 0 && arg->imm <= INT32_MAX) return opnd_int(arg->imm);
    return ptx_in_reg(w, wide ? ptx_value64(w, arg) : ptx_value32(w, arg), wide ? RC_B64 : RC_B32);
}

static Opnd result(PtxWriter *w, RegClass c, const char *mnemonic, Opnd a, Opnd b)
{
    Opnd x = ptx_reg(w, c);
    PTX_INS(w, mnemonic, x, a, b);
    return x;
}

static Opnd b32(PtxWriter *w, const char *mnemonic, Opnd a, Opnd b)
{
    return result(w, RC_B32, mnemonic, a, b);
}

static Opnd pred(PtxWriter *w, const char *mnemonic, Opnd a, Opnd b)
{
    return result(w, RC_PRED, mnemonic, a, b);
}

static Opnd plus(PtxWriter *w, Opnd a, int64_t n)
{
    return n ? b32(w, "add.s32", a, opnd_int(n)) : a;
}

static Opnd times(PtxWriter *w, Opnd a, uint32_t n)
{
    return n > 1 ? b32(w, "mul.lo.s32", a, opnd_int(n)) : a;
}

static Opnd select(PtxWriter *w, Opnd p, Opnd a, Opnd b)
{
    Opnd x = ptx_reg(w, RC_B32);
    PTX_INS(w, "selp.b32", x, a, b, p);
    return x;
}

static Opnd also(PtxWriter *w, Opnd all, Opnd p)
{
    if (all.kind == OPND_EMPTY || p.kind == OPND_EMPTY) return p.kind == OPND_EMPTY ? all : p;
    return pred(w, "and.pred", p, all);
}

static uint32_t log_of(uint32_t n)
{
    uint32_t l = 0;
    while (n >> (l + 1)) l++;
    return l;
}

/* ---- the box ---- */

/* In bytes of a rotated row: what is the tensor's, and in how many places a word begins that is its as a whole. */
static void rotated_borders(PtxWriter *w, ThrBox *b)
{
    const IrPlan *p = b->p;
    uint32_t d = p->rank - 1u, size = b->s->pitch[d], rest = thr_word_bytes(size) - 1;
    b->run = p->extent[d] / p->wide * p->wide * size;
    b->end = opnd_int(b->run);
    if (b->high[d].kind != OPND_EMPTY) b->end = b32(w, "min.s32", times(w, b->high[d], size), b->end);
    if (b->low[d].kind != OPND_EMPTY) b->first = b32(w, "min.s32", times(w, b->low[d], size), b->end);
    b->whole = b->end;
    if (b->first.kind != OPND_EMPTY) b->whole = b32(w, "sub.s32", ptx_in_reg(w, b->end, RC_B32), b->first);
    if (b->whole.kind == OPND_INT) b->whole.u.k -= rest;
    else b->whole = b32(w, "max.s32", plus(w, b->whole, -(int64_t)rest), opnd_int(0));
}

void ptx_thr_box(PtxWriter *w, const IrOp *op, const IrPlan *p, ThrBox *out)
{
    bool load = op->op == IR_THR_LOAD;
    const IrArg *pitch, *low, *high;
    *out = (ThrBox){.p = p, .s = load ? &p->src : &p->dst};
    out->from = ptx_in_reg(w, ptx_value64(w, ir_find(op, load ? IRK_FROM : IRK_TO)), RC_B64);
    ir_list(op, IRK_PITCHES, &pitch);
    unsigned n = ir_list(op, IRK_LOW, &low);
    ir_list(op, IRK_HIGH, &high);
    for (uint32_t d = 0; d < p->rank; d++) {
        out->pitch[d] = operand(w, &pitch[d], true);
        if (n == 0) continue;
        bool whole = high[d].kind == IRA_IMM && high[d].imm >= p->extent[d];
        if (low[d].kind != IRA_IMM || low[d].imm > 0) out->low[d] = operand(w, &low[d], false);
        if (!whole) out->high[d] = operand(w, &high[d], false);
    }
    if (p->method == THR_ROTATED) rotated_borders(w, out);
}

/* ---- coordinates ---- */

/* A constant with bits that the register may have is no constant: what is carried goes from one coordinate to the next. */
static int64_t look_at(PtxWriter *w, ThrBox *b, Opnd lin, int64_t off)
{
    if (off & b->bits) lin = plus(w, lin, off), off = 0;
    if (b->at.kind != OPND_EMPTY && b->at.reg == lin.reg) return off;
    b->at = lin;
    for (uint32_t d = 0; d < b->p->rank; d++) {
        uint32_t pitch = b->s->pitch[d];
        b->x[d] = lin;
        if (b->p->extent[d] == 1) {
            b->x[d] = ptx_reg(w, RC_B32);
            PTX_INS(w, "mov.b32", b->x[d], opnd_int(0));
            continue;
        }
        if (pitch > 1) b->x[d] = b32(w, "shr.u32", b->x[d], opnd_int(log_of(pitch)));
        if (d > 0) b->x[d] = b32(w, "and.b32", b->x[d], opnd_int(b->s->pitch[d - 1] / pitch - 1));
    }
    return off;
}

static int64_t constant(const ThrBox *b, uint32_t d, int64_t off)
{
    off /= b->s->pitch[d];
    return d > 0 ? off % (b->s->pitch[d - 1] / b->s->pitch[d]) : off;
}

/* The address by the first `rank` coordinates, and whether they are inside. */
static Opnd sum(PtxWriter *w, const ThrBox *b, int64_t off, uint32_t rank, Opnd *inside)
{
    Opnd at = b->from;
    at.kind = OPND_MEM;
    at.u.k = 0;
    *inside = NONE;
    for (uint32_t d = 0; d < rank; d++) {
        int64_t c = constant(b, d, off), imm = at.u.k;
        bool bound = b->low[d].kind != OPND_EMPTY || b->high[d].kind != OPND_EMPTY, plain = b->pitch[d].kind == OPND_INT;
        bool apart = plain && imm + c * b->pitch[d].u.k <= INT32_MAX; /* the constant's bytes may stand in the instruction */
        Opnd x = bound || !apart ? plus(w, b->x[d], c) : b->x[d];
        if (b->low[d].kind != OPND_EMPTY) *inside = also(w, *inside, pred(w, "setp.ge.s32", x, b->low[d]));
        if (b->high[d].kind != OPND_EMPTY) *inside = also(w, *inside, pred(w, "setp.lt.s32", x, b->high[d]));
        if (b->p->extent[d] == 1) continue;
        Opnd next = ptx_reg(w, RC_B64), from = at;
        from.kind = OPND_REG;
        if (plain) {
            PTX_INS(w, "mad.wide.u32", next, apart ? b->x[d] : x, b->pitch[d], from);
            imm += apart ? c * b->pitch[d].u.k : 0;
        } else {
            Opnd wide = ptx_reg(w, RC_B64);
            PTX_INS(w, "cvt.u64.u32", wide, x);
            PTX_INS(w, "mad.lo.s64", next, wide, b->pitch[d], from);
        }
        at.reg = next.reg;
        at.u.k = imm;
    }
    return at;
}

Opnd ptx_thr_place(PtxWriter *w, ThrBox *b, Opnd lin, int64_t off, Opnd *inside)
{
    off = look_at(w, b, lin, off);
    return sum(w, b, off, b->p->rank, inside);
}

/* ---- rotated rows ---- */

/* What lies in front of the row lies at its end; as a number without a sign it is larger than what comes instead. */
static Opnd around(PtxWriter *w, Opnd byte, int64_t run)
{
    return b32(w, "min.u32", byte, plus(w, byte, run));
}

/* A border cuts the word at byte `pos` if it lies behind the first, the second, .. of its bytes and in front of its last. */
static Opnd uncut(PtxWriter *w, Opnd border, Opnd pos, uint32_t word)
{
    return pred(w, "setp.ge.u32", b32(w, "sub.s32", plus(w, border, -1), pos), opnd_int(word - 1));
}

/* The word that comes in place of that at byte `at` of the row: as many bytes further in front as the row begins behind a line. */
static Opnd word_at(PtxWriter *w, const ThrBox *b, Opnd at, Opnd row, ThrSpot *out)
{
    uint32_t size = b->s->pitch[b->p->rank - 1], word = thr_word_bytes(size), line = THR_LINE;
    while (line > b->run) line /= 2;
    Opnd pos = around(w, b32(w, "sub.s32", at, b32(w, "and.b32", row, opnd_int(line - 1))), b->run);
    Opnd far = b->first.kind == OPND_EMPTY ? pos : b32(w, "sub.s32", pos, b->first);
    out->inside = also(w, out->inside, pred(w, "setp.lt.u32", far, b->whole));
    if (word == size || b->p->dst.global) return pos; /* nobody asks */
    out->mine = pred(w, "setp.lt.u32", pos, opnd_int(b->run - word + 1));
    if (b->end.kind != OPND_INT) out->mine = also(w, out->mine, uncut(w, b->end, pos, word));
    if (b->first.kind != OPND_EMPTY) out->mine = also(w, out->mine, uncut(w, b->first, pos, word));
    return pos;
}

/* Element x of those that are moved alone: of the word that the row's ends cut, of that which the tensor's high border cuts, and the low one. It is
 * nobody's where nothing is cut, or the word is one of those before. */
static Opnd element_at(PtxWriter *w, const ThrBox *b, Opnd x, Opnd row, ThrSpot *out)
{
    uint32_t size = b->s->pitch[b->p->rank - 1], each = thr_word_elements(size);
    bool first = b->first.kind != OPND_EMPTY, end = b->end.kind != OPND_INT;
    Opnd which = b32(w, "shr.u32", x, opnd_int(log_of(each))), s = b32(w, "and.b32", row, opnd_int(3)), border = ptx_in_reg(w, opnd_int(b->run), RC_B32);
    if (end) border = select(w, pred(w, "setp.eq.s32", which, opnd_int(1)), b->end, border);
    if (first) border = select(w, pred(w, "setp.eq.s32", which, opnd_int(2)), b->first, border);
    Opnd place = b32(w, "add.s32", border, s), word = b32(w, "and.b32", place, opnd_int(-4)), pos = b32(w, "sub.s32", word, s);
    Opnd mine = pred(w, "setp.eq.s32", which, opnd_int(0));
    if (first || end) mine = pred(w, "or.pred", mine, pred(w, "setp.lt.u32", pos, opnd_int(b->run - 3)));
    if (first && end) {
        Opnd same = b32(w, "xor.b32", word, b32(w, "add.s32", b->end, s));
        Opnd differs = pred(w, "setp.gt.u32", same, opnd_int(3));
        mine = also(w, mine, pred(w, "or.pred", differs, pred(w, "setp.lt.u32", which, opnd_int(2))));
    }
    out->mine = also(w, mine, pred(w, "setp.ne.s32", place, word));
    pos = around(w, b32(w, "add.s32", pos, times(w, b32(w, "and.b32", x, opnd_int(each - 1)), size)), -(int64_t)b->run);
    out->inside = also(w, out->inside, also(w, out->mine, pred(w, "setp.lt.s32", pos, b->end)));
    if (first) out->inside = also(w, out->inside, pred(w, "setp.ge.s32", pos, b->first));
    return pos;
}

void ptx_thr_rotated(PtxWriter *w, ThrBox *b, bool words, Opnd lin, int64_t off, ThrSpot *out)
{
    uint32_t d = b->p->rank - 1u, size = b->s->pitch[d];
    off = look_at(w, b, lin, off);
    Opnd row = sum(w, b, off, d, &out->inside), low = ptx_reg(w, RC_B32);
    int64_t imm = row.u.k;
    row.kind = OPND_REG;
    if (imm) row = result(w, RC_B64, "add.s64", row, opnd_int(imm));
    PTX_INS(w, "cvt.u32.u64", low, row);
    Opnd x = plus(w, b->x[d], constant(b, d, off)), at = times(w, x, size);
    Opnd pos = words ? word_at(w, b, at, low, out) : element_at(w, b, x, low, out);
    Opnd wide = ptx_reg(w, RC_B64);
    PTX_INS(w, "cvt.u64.u32", wide, pos);
    out->at = result(w, RC_B64, "add.s64", row, wide);
    out->at.kind = OPND_MEM;
    out->by = b32(w, "sub.s32", pos, at);
}

/* ---- accesses ---- */

void ptx_thr_global(PtxWriter *w, Opnd inside, const char *mnemonic, bool store, Opnd at, Opnd data, const Opnd *words, uint32_t n)
{
    for (uint32_t i = 0; i < n && !store && inside.kind != OPND_EMPTY; i++) PTX_INS(w, "mov.b32", words[i], opnd_int(0));
    if (store) ptx_ins(w, inside, mnemonic, (const Opnd[]){at, data}, 2);
    else ptx_ins(w, inside, mnemonic, (const Opnd[]){data, at}, 2);
}
