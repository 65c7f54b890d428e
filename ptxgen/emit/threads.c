#include "ptxgen/emit/threads.h"

#include <string.h>

#include "lang/checked.h"

static const Opnd NONE = {.kind = OPND_EMPTY};

enum { UNROLL = 4, UNROLL_WORDS = 16, UNROLL_FAR = 8, UNROLL_FAR_WORDS = 32 /* of global memory */, BASES = 32 };

/* An address behind the swizzle: `phys` is that of `lin` + rest. What is a multiple of the pattern away from it has the
 * same exchange of chunks, and needs no more than an offset. */
typedef struct Base {
    uint32_t lin;
    int64_t rest;
    Opnd phys;
} Base;
typedef struct Side {
    const IrSide *layout;
    Opnd part; /* register with the address of the part's first byte, unswizzled */
    uint32_t mask, pattern;
    uint32_t nbases;
    Base bases[BASES];
} Side;
typedef struct Turn { /* where a unit lies: register and offset on each side */
    Opnd lin[THR_SIDES];
    int64_t off[THR_SIDES];
    ThrData data;
    ThrSum sum;
    ThrSpot spot; /* of a rotated row */
} Turn;

typedef struct Work {
    PtxWriter *w;
    const IrPlan *p;
    const ThrPiece *q;
    Opnd thread, warp_lane; /* of the role; in the numbering of the piece's units */
    Opnd fill[2];           /* the value as words */
    Opnd select[2];         /* of prmt, for matrices of bytes */
    uint32_t threads;       /* that have units: the step of a thread from turn to turn */
    bool any_order;         /* as IrOp */
    ThrBox box[THR_SIDES];  /* of the sides that lie in global memory */
    Side side[THR_SIDES];
    Turn turn[UNROLL_FAR];
} Work;

struct PtxThreads {
    ThrWork pieces;
    Work at;
};

static int first_side(const Work *k)
{
    return k->p->xform == IRX_FILL ? THR_DST : THR_SRC;
}

static Opnd reg32(Work *k)
{
    return ptx_reg(k->w, RC_B32);
}

/* ---- addresses ---- */

static Opnd plus(Work *k, Opnd r, int64_t n)
{
    if (n == 0) return r;
    Opnd x = reg32(k);
    PTX_INS(k->w, "add.s32", x, r, opnd_int(n));
    return x;
}

static Opnd address(Work *k, int side, Opnd lin, int64_t off)
{
    Side *s = &k->side[side];
    if (s->mask == 0) return opnd_addr(lin, off);
    int64_t rest = off % s->pattern;
    if (rest < 0) rest += s->pattern;
    for (uint32_t i = 0; i < s->nbases; i++)
        if (s->bases[i].lin == lin.reg && s->bases[i].rest == rest) return opnd_addr(s->bases[i].phys, off - rest);
    Opnd x = plus(k, lin, rest), bits = reg32(k), phys = reg32(k);
    PTX_INS(k->w, "shr.u32", bits, x, opnd_int(3));
    PTX_INS(k->w, "and.b32", bits, bits, opnd_int(s->mask));
    PTX_INS(k->w, "xor.b32", phys, x, bits);
    if (s->nbases < BASES) s->bases[s->nbases++] = (Base){lin.reg, rest, phys};
    return opnd_addr(phys, off - rest);
}

static int64_t log_of(uint32_t n)
{
    int64_t l = 0;
    while (n >> (l + 1)) l++;
    return l;
}

/* The unit's address on each side from the digits of its number. */
static void unit_address(Work *k, Opnd unit, Opnd lin[THR_SIDES])
{
    const ThrPiece *q = k->q;
    Opnd digit[THR_DIGITS], left = unit;
    for (uint32_t i = 0; i < q->ndigits; i++) {
        uint32_t n = q->digit[i].n;
        digit[i] = left;
        if (i + 1 == q->ndigits) break;
        Opnd low = reg32(k), high = reg32(k);
        bool bits = power_of_two(n);
        PTX_INS(k->w, bits ? "and.b32" : "rem.u32", low, left, opnd_int(bits ? n - 1 : n));
        PTX_INS(k->w, bits ? "shr.u32" : "div.u32", high, left, opnd_int(bits ? log_of(n) : n));
        digit[i] = low;
        left = high;
    }
    if (q->skewed >= 0) {
        Opnd x = reg32(k);
        PTX_INS(k->w, "xor.b32", x, digit[q->skewed], digit[q->skew_by]);
        digit[q->skewed] = x;
    }
    for (int s = first_side(k); s < THR_SIDES; s++) {
        Opnd at = plus(k, k->side[s].part, q->start[s]);
        for (uint32_t i = 0; i < q->ndigits; i++) {
            if (q->digit[i].step[s] == 0) continue;
            Opnd next = reg32(k);
            PTX_INS(k->w, "mad.lo.s32", next, digit[i], opnd_int(q->digit[i].step[s]), at);
            at = next;
        }
        lin[s] = at;
    }
}

/* ---- loads and stores ---- */

static Opnd words_opnd(PtxWriter *w, const Opnd *v, uint32_t n, bool list)
{
    if (n == 1 && !list) return v[0];
    memcpy(w->coords, v, n * sizeof *v);
    w->ncoords = n;
    return (Opnd){.kind = OPND_COORDS};
}

static Opnd in_brackets(Opnd at)
{
    at.kind = OPND_MEM;
    return at;
}

static const char *global_mnemonic(uint32_t bytes, bool store)
{
    switch (bytes) {
    case 1: return store ? "st.global.b8" : "ld.global.b8";
    case 2: return store ? "st.global.b16" : "ld.global.b16";
    case 4: return store ? "st.global.b32" : "ld.global.b32";
    case 8: return store ? "st.global.v2.b32" : "ld.global.v2.b32";
    default: return store ? "st.global.v4.b32" : "ld.global.v4.b32";
    }
}

static const char *mnemonic(uint32_t bytes, bool store)
{
    switch (bytes) {
    case 1: return store ? "st.shared.b8" : "ld.shared.b8";
    case 2: return store ? "st.shared.b16" : "ld.shared.b16";
    case 4: return store ? "st.shared.b32" : "ld.shared.b32";
    case 8: return store ? "st.shared.v2.b32" : "ld.shared.v2.b32";
    default: return store ? "st.shared.v4.b32" : "ld.shared.v4.b32";
    }
}

static void move_rows(Work *k, int side, const Turn *t, ThrData *d, bool store)
{
    const ThrPiece *q = k->q;
    bool rotated = q->method == THR_ROTATED;
    uint32_t bytes = q->bytes[side], each = bytes < 4 ? 1 : bytes / 4;
    d->rows = q->rows[side];
    d->words = each * q->access[side];
    for (uint32_t r = 0; r < d->rows; r++) {
        for (uint32_t a = 0; a < q->access[side]; a++) {
            int64_t off = t->off[side] + r * q->row_step[side] + a * bytes;
            bool global = k->side[side].layout->global;
            Opnd inside = t->spot.inside, at = t->spot.at;
            if (!global) at = in_brackets(address(k, side, t->lin[side], off));
            else if (!rotated) at = ptx_thr_place(k->w, &k->box[side], t->lin[side], off, &inside);
            Opnd *v = &d->v[r * d->words + a * each];
            for (uint32_t i = 0; i < each && !store; i++) v[i] = reg32(k);
            Opnd data = words_opnd(k->w, v, each, false);
            if (global) {
                if (store) ptx_any_order(k->w, k->any_order);
                ptx_thr_global(k->w, inside, global_mnemonic(bytes, store), store, at, data, v, each);
                continue;
            }
            Opnd guard = !rotated ? NONE : store ? t->spot.mine : t->spot.inside;
            if (store) ptx_ins(k->w, guard, mnemonic(bytes, true), (const Opnd[]){at, data}, 2);
            else ptx_ins(k->w, guard, mnemonic(bytes, false), (const Opnd[]){data, at}, 2);
        }
    }
}

static void move_matrices(Work *k, int side, const Turn *t, ThrData *d, bool store, bool trans)
{
    PtxWriter *w = k->w;
    Opnd at = address(k, side, t->lin[side], t->off[side]);
    d->rows = 1;
    d->words = k->q->matrices;
    for (uint32_t i = 0; i < d->words && !store; i++) d->v[i] = reg32(k);
    w->slots[SLOT_n] = opnd_int(d->words);
    w->slots[SLOT_regs] = words_opnd(w, d->v, d->words, true);
    w->slots[store ? SLOT_dst : SLOT_src] = at;
    ptx_form(w, NONE, store ? FORM_STMATRIX : trans ? FORM_LDMATRIX_TRANS : FORM_LDMATRIX);
}

static void move_unit(Work *k, int side, const Turn *t, ThrData *d, bool store)
{
    if (k->q->method == THR_MATRIX) move_matrices(k, side, t, d, store, side == THR_SRC);
    else move_rows(k, side, t, d, store);
}

/* Matrices of 16 x 16 bytes: a lane got two rows of two columns of each half; what it stores are four rows of one
 * column each (lower/ir/thread_work.c, matrix_rows). */
static void byte_matrices(Work *k, ThrData *d)
{
    for (uint32_t i = 0; i + 1 < d->words; i += 2) {
        Opnd x = reg32(k), y = reg32(k);
        PTX_INS(k->w, "prmt.b32", x, d->v[i], d->v[i + 1], k->select[0]);
        PTX_INS(k->w, "prmt.b32", y, d->v[i], d->v[i + 1], k->select[1]);
        d->v[i] = x;
        d->v[i + 1] = y;
    }
}

/* Column 2 c of the lane's pair goes first in lanes 0 .. 15, column 2 c + 1 in the others; the first matrix has the
 * first two of the four rows where lane % 4 < 2, else the last two. */
static void byte_selectors(Work *k)
{
    PtxWriter *w = k->w;
    Opnd p = ptx_reg(w, RC_PRED), t = reg32(k), column = reg32(k);
    for (int i = 0; i < 2; i++) k->select[i] = reg32(k);
    PTX_INS(w, "and.b32", t, k->thread, opnd_int(2));
    PTX_INS(w, "setp.eq.s32", p, t, opnd_int(0));
    PTX_INS(w, "selp.b32", k->select[0], opnd_int(0x6420), opnd_int(0x2064), p);
    PTX_INS(w, "and.b32", t, k->thread, opnd_int(16));
    PTX_INS(w, "setp.eq.s32", p, t, opnd_int(0));
    PTX_INS(w, "selp.b32", column, opnd_int(0), opnd_int(0x1111), p);
    PTX_INS(w, "add.s32", k->select[0], k->select[0], column);
    PTX_INS(w, "xor.b32", k->select[1], k->select[0], opnd_int(0x1111));
}

static void fill_data(const Work *k, ThrData *d)
{
    const ThrPiece *q = k->q;
    d->rows = 1;
    d->words = (q->bytes[THR_DST] < 4 ? 1u : q->bytes[THR_DST] / 4u) * q->access[THR_DST];
    for (uint32_t i = 0; i < d->words; i++) d->v[i] = k->fill[i % 2];
}

static void finish_unit(Work *k, Turn *t)
{
    ThrData out = {.rows = 0}, before;
    if (k->p->xform == IRX_FILL) {
        fill_data(k, &out);
    } else if (k->p->xform == IRX_SUM) {
        ptx_thr_summed(k->w, k->p, k->q, &t->sum, &out);
    } else if (k->q->method == THR_MATRIX) {
        out = t->data;
        if (k->q->wide == 16) byte_matrices(k, &out);
    } else {
        ptx_thr_convert(k->w, k->p, k->q, &t->data, &out);
    }
    if (k->p->add) {
        move_unit(k, THR_DST, t, &before, false);
        ptx_thr_add(k->w, (ElemType)k->p->dst.type, &out, &before);
    }
    move_unit(k, THR_DST, t, &out, true);
}

static void find_spot(Work *k, Turn *t)
{
    int far = k->side[THR_SRC].layout->global ? THR_SRC : THR_DST, near = THR_SRC + THR_DST - far;
    Opnd at = reg32(k);
    ptx_thr_rotated(k->w, &k->box[far], k->q->bytes[far] >= 4, t->lin[far], t->off[far], &t->spot);
    PTX_INS(k->w, "add.s32", at, t->lin[near], t->spot.by);
    t->lin[near] = at;
}

/* The parts of a unit, added as they come: no store stands between the loads, whose order is the assembler's. */
static void add_parts(Work *k, const Turn *t, ThrSum *sum)
{
    Turn part = *t;
    for (uint32_t i = 0; i < k->p->parts; i++) {
        move_unit(k, THR_SRC, &part, &part.data, false);
        ptx_thr_sum(k->w, k->p, k->q, &part.data, i == 0, sum);
        part.off[THR_SRC] += k->p->apart;
    }
}

/* All loads first: memory's answers overlap. */
static void do_turns(Work *k, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        k->turn[i].spot = (ThrSpot){.inside = NONE, .mine = NONE};
        if (k->q->method == THR_ROTATED) find_spot(k, &k->turn[i]);
    }
    for (uint32_t i = 0; i < n && k->p->xform != IRX_FILL; i++) {
        if (k->p->xform == IRX_SUM) add_parts(k, &k->turn[i], &k->turn[i].sum);
        else move_unit(k, THR_SRC, &k->turn[i], &k->turn[i].data, false);
    }
    for (uint32_t i = 0; i < n; i++) finish_unit(k, &k->turn[i]);
}

/* ---- loops ---- */

static void forget_bases(Work *k)
{
    for (int s = 0; s < THR_SIDES; s++) {
        k->side[s].nbases = 0;
        k->box[s].at = NONE;
    }
}

/* Can turn n's address be had from turn 0's by adding? Where the digits of t and of n x threads do not meet. */
static bool additive(const Work *k)
{
    uint64_t below = 1;
    for (uint32_t i = 0; i + 1 < k->q->ndigits; i++) {
        below *= k->q->digit[i].n;
        if (k->threads % below && below % k->threads) return false;
        if ((int)i == k->q->skewed && k->threads % below) return false;
    }
    return k->q->skewed < 0 || (uint32_t)k->q->skewed + 1 < k->q->ndigits;
}

/* .. and are the addresses of `turns` turns later always as far away? */
static bool even_steps(const Work *k, uint32_t turns)
{
    uint64_t below = 1;
    for (uint32_t i = 0; i + 1 < k->q->ndigits; i++) below *= k->q->digit[i].n;
    return (uint64_t)turns * k->threads % below == 0;
}

static int64_t turn_offset(const Work *k, uint32_t turn, int side)
{
    return thr_offset(k->q, turn * k->threads, side) - k->q->start[side];
}

static uint32_t most_turns(const Work *k)
{
    return k->p->src.global || k->p->dst.global ? UNROLL_FAR : UNROLL;
}

/* Turns first .. first + n - 1, whose addresses are lin and a constant. */
static void near_turns(Work *k, const Opnd lin[THR_SIDES], uint32_t first, uint32_t n)
{
    uint32_t most = most_turns(k);
    for (int s = 0; s < THR_SIDES; s++) k->box[s].at = NONE;
    for (uint32_t done = 0; done < n; done += most) {
        uint32_t now = n - done < most ? n - done : most;
        for (uint32_t i = 0; i < now; i++) {
            for (int s = 0; s < THR_SIDES; s++) {
                k->turn[i].lin[s] = lin[s];
                k->turn[i].off[s] = turn_offset(k, first + done + i, s);
            }
        }
        do_turns(k, now);
    }
}

static void far_turns(Work *k, Opnd unit, uint32_t first, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        unit_address(k, plus(k, unit, (int64_t)(first + i) * k->threads), k->turn[i].lin);
        memset(k->turn[i].off, 0, sizeof k->turn[i].off);
    }
    do_turns(k, n);
    forget_bases(k);
}

/* Addresses of all accesses of the turns, so that a loop finds them ready. */
static void prepare_bases(Work *k, const Opnd lin[THR_SIDES], uint32_t turns)
{
    const ThrPiece *q = k->q;
    for (int s = first_side(k); s < THR_SIDES; s++) {
        uint32_t parts = k->p->xform == IRX_SUM && s == THR_SRC ? k->p->parts : 1;
        for (uint32_t t = 0; t < turns * parts; t++)
            for (uint32_t r = 0; r < q->rows[s]; r++)
                for (uint32_t a = 0; a < q->access[s]; a++)
                    address(k, s, lin[s], turn_offset(k, t / parts, s) + (int64_t)(t % parts) * k->p->apart + r * q->row_step[s] + a * q->bytes[s]);
    }
}

static void advance_side(Work *k, int side, const Opnd *lin, int64_t step)
{
    Side *s = &k->side[side];
    PTX_INS(k->w, "add.s32", *lin, *lin, opnd_int(step));
    for (uint32_t i = 0; i < s->nbases; i++)
        PTX_INS(k->w, "add.s32", s->bases[i].phys, s->bases[i].phys, opnd_int(step));
}

static Opnd begin_loop(Work *k, uint32_t rounds, uint32_t label)
{
    Opnd left = reg32(k);
    PTX_INS(k->w, "mov.b32", left, opnd_int(rounds));
    ptx_label(k->w, "part", k->p->name, label);
    return left;
}

static void end_loop(Work *k, Opnd left, uint32_t label)
{
    Opnd p = ptx_reg(k->w, RC_PRED);
    PTX_INS(k->w, "add.s32", left, left, opnd_int(-1));
    PTX_INS(k->w, "setp.ne.s32", p, left, opnd_int(0));
    ptx_branch(k->w, p, true, "part", k->p->name, label);
}

static void near_loop(Work *k, Opnd lin[THR_SIDES], uint32_t rounds, uint32_t unroll)
{
    bool ready[THR_SIDES] = {true, true};
    for (int s = first_side(k); s < THR_SIDES; s++) { /* registers that the loop changes are its own */
        Opnd own = reg32(k);
        PTX_INS(k->w, "mov.b32", own, lin[s]);
        lin[s] = own;
        ready[s] = turn_offset(k, unroll, s) % k->side[s].pattern == 0;
    }
    prepare_bases(k, lin, unroll);
    for (int s = 0; s < THR_SIDES; s++)
        if (!ready[s] || k->side[s].nbases == BASES) k->side[s].nbases = 0, ready[s] = false;
    uint32_t label = k->w->labels++;
    Opnd left = begin_loop(k, rounds, label);
    near_turns(k, lin, 0, unroll);
    for (int s = first_side(k); s < THR_SIDES; s++) {
        if (!ready[s]) k->side[s].nbases = 0;
        advance_side(k, s, &lin[s], turn_offset(k, unroll, s));
    }
    end_loop(k, left, label);
}

static void far_loop(Work *k, Opnd *unit, uint32_t rounds, uint32_t unroll)
{
    Opnd own = reg32(k);
    PTX_INS(k->w, "mov.b32", own, *unit);
    *unit = own;
    uint32_t label = k->w->labels++;
    Opnd left = begin_loop(k, rounds, label);
    far_turns(k, own, 0, unroll);
    PTX_INS(k->w, "add.s32", own, own, opnd_int((int64_t)unroll * k->threads));
    end_loop(k, left, label);
}

/* How many turns stand in a row in the loop: few registers, and a divisor of the turns if there is one. */
static uint32_t unroll_of(const Work *k, uint32_t turns, bool near)
{
    const ThrPiece *q = k->q;
    uint32_t words = (q->bytes[THR_DST] < 4 ? 1u : q->bytes[THR_DST] / 4u) * q->access[THR_DST] * q->rows[THR_DST], in;
    in = (q->bytes[THR_SRC] < 4 ? 1u : q->bytes[THR_SRC] / 4u) * q->access[THR_SRC] * q->rows[THR_SRC];
    if (q->method == THR_MATRIX) words = in = 4;
    if (in > words) words = in;
    if (k->p->xform == IRX_SUM) words = in * k->p->parts;
    uint32_t most = (most_turns(k) == UNROLL ? UNROLL_WORDS : UNROLL_FAR_WORDS) / words;
    if (most > most_turns(k)) most = most_turns(k);
    if (most == 0) most = 1;
    if (turns <= most) return turns;
    for (uint32_t u = most; u > 1; u--)
        if (turns % u == 0 && (!near || even_steps(k, u))) return u;
    if (near)
        for (uint32_t u = most; u > 1; u--)
            if (even_steps(k, u)) return u;
    return near ? 1 : turns > 1 && most > 1 ? 2 : 1;
}

/* Bits that a register with places of the box may have: of the threads' first units, and of what the loop adds. */
static uint32_t place_bits(const Work *k, int far, uint32_t unroll, uint32_t rounds)
{
    uint32_t first = 0, later = 0;
    for (uint32_t t = 0; t < k->threads && t < k->q->units; t++) first |= (uint32_t)thr_offset(k->q, t, far);
    for (uint32_t r = 0; r <= rounds; r++) later |= (uint32_t)turn_offset(k, r * unroll, far);
    return first & later ? UINT32_MAX : first | later;
}

static void piece_turns(Work *k)
{
    uint32_t turns = k->q->units / k->threads, rest = k->q->units % k->threads, label = k->w->labels++;
    bool near = additive(k);
    uint32_t unroll = unroll_of(k, turns ? turns : 1, near);
    if (near && turns > unroll && !even_steps(k, unroll)) {
        near = false;
        unroll = unroll_of(k, turns, false);
    }
    Opnd lin[THR_SIDES] = {NONE, NONE}, unit = k->warp_lane;
    if (near) unit_address(k, unit, lin);
    uint32_t rounds = turns / unroll, single = turns % unroll;
    for (int s = 0; s < THR_SIDES; s++) k->box[s].bits = near && k->side[s].layout && k->side[s].layout->global ? place_bits(k, s, unroll, rounds > 1 ? rounds : 0) : UINT32_MAX;
    bool loop = rounds > 1;
    if (loop && near) near_loop(k, lin, rounds, unroll);
    else if (loop) far_loop(k, &unit, rounds, unroll);
    else single = turns;
    if (near) near_turns(k, lin, 0, single);
    else
        for (uint32_t i = 0; i < single; i++) far_turns(k, unit, i, 1);
    if (rest == 0) return;
    Opnd p = ptx_reg(k->w, RC_PRED);
    PTX_INS(k->w, "setp.ge.u32", p, k->warp_lane, opnd_int(rest));
    ptx_branch(k->w, p, true, "moved", k->p->name, label);
    if (near) near_turns(k, lin, single, 1);
    else far_turns(k, unit, single, 1);
    ptx_label(k->w, "moved", k->p->name, label);
}

static void piece(Work *k)
{
    const ThrPiece *q = k->q;
    uint32_t lanes = thr_lanes(q);
    k->threads = k->p->threads / 32 * lanes;
    k->warp_lane = k->thread;
    if (lanes < 32) { /* fewer matrices than four: the other lanes' addresses are not looked at */
        Opnd warp = reg32(k), lane = reg32(k), unit = reg32(k);
        PTX_INS(k->w, "shr.u32", warp, k->thread, opnd_int(5));
        PTX_INS(k->w, "and.b32", lane, k->thread, opnd_int(lanes - 1));
        PTX_INS(k->w, "mad.lo.s32", unit, warp, opnd_int(lanes), lane);
        k->warp_lane = unit;
    }
    if (q->method == THR_MATRIX && q->wide == 16) byte_selectors(k);
    forget_bases(k);
    piece_turns(k);
}

/* ---- ops ---- */

/* The role's threads follow those of the roles before it; init and exit are run by the first role's. */
static uint32_t first_thread(const IrKernel *k, const IrOp *op)
{
    uint32_t warps = 0;
    for (uint32_t i = 0; i < k->roles.n; i++) {
        const IrRole *r = &k->roles.v[i];
        if (r->ops.n > 0 && op >= r->ops.v && op < r->ops.v + r->ops.n) return 32 * warps;
        warps += r->warps;
    }
    return 0;
}

static void side_init(Work *k, int side, const IrSide *layout, Opnd at)
{
    Side *s = &k->side[side];
    Opnd reg = {.kind = OPND_REG, .cls = RC_B32, .reg = at.reg};
    *s = (Side){.layout = layout,
                .mask = thr_swizzle_mask(layout->swizzle),
                .pattern = (uint32_t)swizzle_align(layout->swizzle)};
    s->part = plus(k, reg, at.u.k);
}

/* Places in the box are counted from 0. */
static void box_init(Work *k, int side, const IrOp *op, const IrSide *layout)
{
    Opnd zero = reg32(k);
    ptx_thr_box(k->w, op, k->p, &k->box[side]);
    PTX_INS(k->w, "mov.b32", zero, opnd_int(0));
    k->side[side] = (Side){.layout = layout, .pattern = 1, .part = zero};
}

/* The value's low bytes, as often as they fit two words. */
static void value_words(Work *k, const IrArg *value, uint32_t bytes)
{
    PtxWriter *w = k->w;
    if (bytes == 8) {
        Opnd v = ptx_in_reg(w, ptx_value64(w, value), RC_B64), high = ptx_reg(w, RC_B64);
        PTX_INS(w, "shr.u64", high, v, opnd_int(32));
        PTX_INS(w, "cvt.u32.u64", k->fill[0], v);
        PTX_INS(w, "cvt.u32.u64", k->fill[1], high);
        return;
    }
    Opnd v = ptx_in_reg(w, ptx_value32(w, value), RC_B32);
    if (bytes < 4) {
        PTX_INS(w, "and.b32", k->fill[0], v, opnd_int(bytes == 1 ? 0xff : 0xffff));
        PTX_INS(w, "mul.lo.u32", k->fill[0], k->fill[0], opnd_int(bytes == 1 ? 0x01010101 : 0x00010001));
    } else {
        PTX_INS(w, "mov.b32", k->fill[0], v);
    }
    PTX_INS(w, "mov.b32", k->fill[1], k->fill[0]);
}

static void fill_words(Work *k, const IrOp *op)
{
    uint32_t bytes = elem_info((ElemType)k->p->dst.type)->shared_bits / 8u;
    const IrArg *value = ir_find(op, IRK_VALUE);
    uint64_t v = k->p->value;
    if (bytes < 8) v &= (UINT64_C(1) << 8 * bytes) - 1;
    for (uint32_t b = bytes; b < 8; b *= 2) v |= v << 8 * b;
    for (int i = 0; i < 2; i++) k->fill[i] = reg32(k);
    if (value) {
        value_words(k, value, bytes);
        return;
    }
    for (int i = 0; i < 2; i++) PTX_INS(k->w, "mov.b32", k->fill[i], opnd_int((int32_t)(uint32_t)(v >> 32 * i)));
}

static Work *begin(PtxWriter *w, const IrPlan *p, const IrOp *op, bool any_order)
{
    if (w->threads == NULL) w->threads = arena_new(w->arena, struct PtxThreads);
    Work *k = &w->threads->at;
    *k = (Work){.w = w, .p = p, .any_order = any_order};
    threads_work(p, &w->threads->pieces);
    uint32_t first = first_thread(w->k, op);
    k->thread = reg32(k);
    PTX_INS(w, "mov.u32", k->thread, opnd_lit("%tid.x"));
    if (first) PTX_INS(w, "sub.s32", k->thread, k->thread, opnd_int(first));
    return k;
}

/* First what whole warps do: the others may leave lanes behind. */
static void all_pieces(Work *k)
{
    const ThrWork *work = &k->w->threads->pieces;
    for (int matrices = 1; matrices >= 0; matrices--)
        for (uint32_t i = 0; i < work->n; i++) {
            k->q = &work->piece[i];
            if ((k->q->method == THR_MATRIX) == (matrices == 1)) piece(k);
        }
}

void ptx_op_threads(PtxWriter *w, const IrOp *op, Opnd guard)
{
    const IrPlan *p = &w->k->plans.v[ir_find(op, IRK_PLAN)->id];
    uint32_t label = w->labels++;
    if (guard.kind != OPND_EMPTY) ptx_branch(w, guard, false, "skip", p->name, label);
    Work *k = begin(w, p, op, op->any_order);
    if (p->xform == IRX_FILL) fill_words(k, op);
    else if (p->src.global) box_init(k, THR_SRC, op, &p->src);
    else side_init(k, THR_SRC, &p->src, ptx_shared_address(w, op, IRK_SRC));
    if (p->dst.global) box_init(k, THR_DST, op, &p->dst);
    else side_init(k, THR_DST, &p->dst, ptx_shared_address(w, op, IRK_DST));
    all_pieces(k);
    if (guard.kind != OPND_EMPTY) ptx_label(w, "skip", p->name, label);
}

void ptx_thr_through(PtxWriter *w, const IrPlan *p, const IrOp *load, const IrOp *store)
{
    uint32_t label = w->labels++;
    if (load->guard.pred) ptx_branch(w, ptx_valuep(w, &(IrArg){.kind = IRA_VAL, .id = load->guard.pred}), false, "skip", p->name, label);
    Work *k = begin(w, p, load, store->any_order);
    box_init(k, THR_SRC, load, &p->src);
    box_init(k, THR_DST, store, &p->dst);
    all_pieces(k);
    if (load->guard.pred) ptx_label(w, "skip", p->name, label);
}
