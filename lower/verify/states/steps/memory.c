/* What touches memory knows all that it conflicts with to be over, and reads what was written. */
#include "lang/checked.h"
#include "lower/verify/states/say/report.h"

/* ---- places ---- */

static uint16_t space_of(const Checker *c, const IrBuf *b, uint32_t cta)
{
    return (uint16_t)(cta + (b->lanes ? c->nctas : b->maps ? 2 * c->nctas : 0));
}

Where place_of(Checker *c, const IrOp *op, const IrArg *buf, Num bytes, uint32_t cta)
{
    const IrBuf *b = &c->k->bufs.v[buf->id];
    const IrArg *slot = ir_part(op, buf, IRK_SLOT), *offset = ir_part(op, buf, IRK_OFFSET);
    Num n = slot ? val_force(c, val_of_arg(c, slot)) : num_k(c, 0), off = offset ? val_soft(c, val_of_arg(c, offset)) : num_k(c, 0);
    int64_t at;
    if (!num_is(&c->n, n, &at)) lost(c, "which slot of %s this is", b->name);
    if (at < 0 || at >= b->slots) refuse(c, E0658, "slot %lld of %s, which has %u", (long long)at, b->name, b->slots);
    bool apart = b->lanes || b->maps;
    int64_t from = apart ? ((int64_t)(buf->id + 1) << 32) + at * b->bytes : b->offset + at * b->pitch;
    Num end = num_add(&c->n, off, 1, bytes), room = num_add(&c->n, num_k(c, b->bytes), -1, end);
    if (!facts_imply(&c->n, &c->st->facts, off) || !facts_imply(&c->n, &c->st->facts, room))
        lost_as(c, E0658, "bytes %s .. %s of slot %lld of %s, which has %u slots of %u bytes, are not certain to lie within", num_shown(c, off), num_shown(c, end),
                (long long)at, b->name, b->slots, b->bytes);
    return (Where){space_of(c, b, cta), (uint16_t)buf->id, num_plus(&c->n, off, from), num_plus(&c->n, end, from)};
}

/* ---- what was written ---- */

enum { PIECES_MOST = 256 };

/* If y happened x has. */
static bool at_least(Checker *c, Num x, Num y)
{
    return x == 0 || x == y || (y && at_most(c, y, x));
}

/* In one of its rows, or rows in its rows. */
static bool in_row(Checker *c, const Piece *p, const Item *w)
{
    Num far = num_add(&c->n, w->lo, -1, p->lo), rest = far;
    for (uint32_t i = 0; far && i < num_data(&c->n, far)->n; i++) {
        NumTerm t = num_data(&c->n, far)->t[i];
        if (t.c % p->step == 0) rest = num_add(&c->n, rest, -t.c, num_atom(&c->n, t.atom));
    }
    if (rest == 0) return false;
    rest = num_plus(&c->n, rest, -floor_div_by(num_data(&c->n, rest)->k, p->step) * p->step);
    Num end = w->step == p->step ? num_plus(&c->n, rest, w->width) : num_add(&c->n, rest, 1, num_add(&c->n, w->hi, -1, w->lo));
    return at_most(c, num_k(c, 0), rest) && at_most(c, end, num_k(c, p->width)) && at_most(c, p->lo, w->lo) && at_most(c, w->hi, p->hi);
}

static bool is_written(Checker *c, const Item *w);

static bool rows_written(Checker *c, const Item *w)
{
    int64_t far;
    if (w->step == 0 || !num_is(&c->n, num_add(&c->n, w->hi, -1, w->lo), &far) || far / w->step > PIECES_MOST) return false;
    for (int64_t at = 0; at < far; at += w->step) {
        Item row = *w;
        row.step = 0;
        row.lo = num_plus(&c->n, w->lo, at);
        row.hi = num_plus(&c->n, row.lo, w->width);
        if (!is_written(c, &row)) return false;
    }
    return true;
}

static bool is_written(Checker *c, const Item *w)
{
    State *s = c->st;
    Num at = w->lo, only = w->only;
    for (uint32_t i = 0; i < s->written.n; i++) {
        const Piece *p = &s->written.v[i];
        if (p->space != w->space || !at_least(c, p->only, only)) continue;
        if (p->shape ? p->shape == w->shape && p->lo == w->lo && p->hi == w->hi : p->step && in_row(c, p, w)) return true;
    }
    bool used[PIECES_MOST] = {0};
    for (uint32_t i = 0; i < s->written.n && !at_most(c, w->hi, at); i++) {
        const Piece *p = &s->written.v[i];
        if (used[i] || p->space != w->space || p->step || p->shape || !at_least(c, p->only, only) || !at_most(c, p->lo, at) || !at_most(c, at, p->hi)) continue;
        at = p->hi;
        used[i] = true;
        i = UINT32_MAX; /* from the first again */
    }
    return at_most(c, w->hi, at) || rows_written(c, w);
}

static bool always(Checker *c, Num x, Num y) /* one of the two holds */
{
    return x && y && at_most(c, num_k(c, 1), num_add(&c->n, x, 1, y));
}

static bool never_both(Checker *c, Num x, Num y)
{
    return x && y && at_most(c, num_add(&c->n, x, 1, y), num_k(c, 1));
}

static int piece_order(const Checker *c, const Piece *x, const Piece *y)
{
    const NumData *a = num_data(&c->n, x->lo), *b = num_data(&c->n, y->lo);
    if (x->space != y->space) return x->space < y->space ? -1 : 1;
    if (x->buf != y->buf) return x->buf < y->buf ? -1 : 1;
    if ((a->n == 0) != (b->n == 0)) return a->n == 0 ? -1 : 1;
    return a->k == b->k || a->n ? 0 : a->k < b->k ? -1 : 1;
}

/* Rows beside others: rows of both. */
static bool beside_rows(Checker *c, const Piece *p, Piece *x)
{
    if (p->space != x->space || p->buf != x->buf || p->only != x->only || p->shape || x->shape || p->step == 0 || p->step != x->step) return false;
    bool first = num_plus(&c->n, p->lo, p->width) == x->lo && num_plus(&c->n, p->hi, x->width) == x->hi;
    bool last = num_plus(&c->n, x->lo, x->width) == p->lo && num_plus(&c->n, x->hi, p->width) == p->hi;
    if (!first && !last) return false;
    x->lo = first ? p->lo : x->lo;
    x->hi = first ? x->hi : p->hi;
    x->width += p->width;
    if (x->width >= x->step) x->step = x->width = 0;
    return true;
}

void written(Checker *c, Piece x)
{
    State *s = c->st;
    for (uint32_t i = 0; i < s->written.n;) {
        Piece *p = &s->written.v[i];
        bool beside = p->space == x.space && p->buf == x.buf, same = beside && p->lo == x.lo && p->hi == x.hi && p->step == x.step && p->width == x.width && p->shape == x.shape;
        if (same && always(c, p->only, x.only)) x.only = 0;
        else if (same && never_both(c, p->only, x.only)) x.only = num_add(&c->n, p->only, 1, x.only); /* one of the two */
        bool joins = beside && p->only == x.only && (same || (at_most(c, p->lo, x.hi) && at_most(c, x.lo, p->hi)));
        bool plain = joins && p->step == 0 && x.step == 0 && !p->shape && !x.shape, low = plain && at_most(c, p->lo, x.lo), high = plain && at_most(c, x.hi, p->hi);
        bool inside = joins && (same || (x.step == 0 && !x.shape)) && (low || at_most(c, x.lo, p->lo)) && (high || at_most(c, p->hi, x.hi));
        if (!inside && !(same && (x.only == 0 || p->only)) && !beside_rows(c, p, &x)) {
            i++;
            continue;
        }
        if (low && inside) x.lo = p->lo;
        if (high && inside) x.hi = p->hi;
        memmove(p, p + 1, (s->written.n - i - 1) * sizeof *p);
        s->written.n--;
        i = 0;
    }
    c->forgot |= s->written.n == PIECES_MOST;
    if (s->written.n == PIECES_MOST) return; /* less is known to be written */
    uint32_t at = s->written.n;
    vec_push(&s->arena, &s->written, x);
    while (at > 0 && piece_order(c, &s->written.v[at], &s->written.v[at - 1]) < 0) {
        Piece y = s->written.v[at];
        s->written.v[at] = s->written.v[at - 1];
        s->written.v[--at] = y;
    }
}

/* Of what has no constant ends a buffer's slot keeps the newest few. */
static void forget_pieces(Checker *c, uint16_t space)
{
    enum { KEPT = 6 };
    State *s = c->st;
    uint32_t open = 0;
    for (uint32_t i = s->written.n; i-- > 0;) {
        const Piece *p = &s->written.v[i];
        if (p->space != space || (num_data(&c->n, p->lo)->n == 0 && num_data(&c->n, p->hi)->n == 0) || ++open <= KEPT) continue;
        memmove(&s->written.v[i], &s->written.v[i + 1], (s->written.n - i - 1) * sizeof *p);
        s->written.n--;
        c->forgot = true;
    }
}

/* ---- gaps ---- */

enum { GAP_UNIT = 16 };

/* What lies between packed elements a load leaves without a value, even that of a write before (PTX ISA, Sub-byte Types): of each 16 bytes so many,
 * the last ones; all 16: no telling. */
static uint8_t gap_of(const MapDesc *d)
{
    int64_t box = map_tx_bytes(d), room = map_smem_bytes(d), unit = GAP_UNIT * map_global_bits(d->type) / 8;
    if (box <= 0 || room <= box) return 0;
    bool whole = room / GAP_UNIT == box / unit && d->swizzle != MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B;
    return (uint8_t)(whole ? GAP_UNIT - unit : GAP_UNIT);
}

void gaps_prepare(Checker *c)
{
    c->gaps = arena_array(c->arena, uint8_t, c->k->bufs.n + 1);
    for (uint32_t i = 0; i < c->nops; i++) {
        const IrArg *map = ir_find(c->op[i], IRK_MAP), *dst = ir_find(c->op[i], IRK_DST);
        if (map == NULL || dst == NULL || dst->kind != IRA_BUF || !ir_find(c->op[i], IRK_BAR)) continue;
        MapDesc d = manifest_map(&c->k->mf.maps.v[map->id]);
        uint8_t gap = gap_of(&d);
        if (gap > c->gaps[dst->id]) c->gaps[dst->id] = gap;
    }
}

/* What decompression does not look at. */
static uint8_t skipped(const IrOp *op)
{
    const IrArg *format = ir_find(op, IRK_FORMAT);
    return format == NULL || format->id == IRF_PLAIN ? 0 : format->id == IRF_B4 ? 8 : 4;
}

/* ---- accesses ---- */

/* Pieces in the gaps of each other. */
static bool between(Checker *c, const Item *x, const Item *y)
{
    int64_t far;
    if (x->step == 0 || x->step != y->step || !num_is(&c->n, num_add(&c->n, y->lo, -1, x->lo), &far)) return false;
    far = floor_mod_s64(far, x->step);
    return far >= x->width && far + y->width <= x->step;
}

/* PTX ISA, tcgen05: the one pair that the tensor core does in order. */
static bool in_order(const Checker *c, const Item *x, const Item *y)
{
    const IrOp *a = c->op[y->op], *b = c->op[x->op];
    return x->agent == y->agent && x->core == CORE_ASYNC && a->op == IR_TC_SHIFT && b->op == IR_TC_CP && ir_find(b, IRK_SHAPE)->id == IRP_4X256B;
}

/* x comes now, y came before. Whether y need not be kept. */
static bool beside(Checker *c, const Item *x, const Item *y, uint32_t i, const uint64_t *known, bool each)
{
    State *s = c->st;
    if (at_most(c, y->hi, x->lo) || at_most(c, x->hi, y->lo) || between(c, x, y)) return false;
    if (never_both(c, x->only, y->only)) return false;
    bool is_known = set_has(known, 2 * i), same_op = x->agent == y->agent && x->op == y->op;
    bool own = each && same_op && set_has(set_of(c, s, c->agent, MINE), 2 * i); /* each thread again what it did before */
    if (conflict(x, y) && !own && !in_order(c, x, y)) {
        if (!is_known) hold_race(c, x, i);
        bool fenced = set_has(known, 2 * i + 1);
        bool open = (x->async && !x->generic && y->generic) || (y->core && !(x->core == CORE_THREADS && same_op));
        if (is_known && open && !fenced) hold_unfenced(c, i);
    }
    bool covers = (x->step == 0 || (x->step == y->step && x->lo == y->lo && x->width >= y->width)) && at_most(c, x->lo, y->lo) && at_most(c, y->hi, x->hi) &&
                  at_least(c, x->only, y->only);
    if (!covers || (x->red && x->write)) return false;
    if (x->write) return is_known || own;
    return !y->write && same_op && (is_known || own || (y->async && ir_find(c->op[y->op], IRK_BAR) == NULL && !y->core));
}

bool bufs_overlap(const IrBuf *a, const IrBuf *b)
{
    if (a->lanes || b->lanes || a->maps || b->maps) return a == b;
    return a->offset < b->offset + b->slots * b->pitch && b->offset < a->offset + a->slots * a->pitch;
}

/* What is written there is no longer what was put there. */
static void drop_cells(Checker *c, const Where *w)
{
    State *s = c->st;
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->cells.n; i++) {
        Cell x = s->cells.v[i];
        bool apart = x.space != w->space || at_most(c, w->hi, num_k(c, x.at)) || at_most(c, num_k(c, x.at + IR_CELL_BYTES), w->lo);
        if (apart) s->cells.v[n++] = x;
    }
    s->cells.n = n;
}

void ask_written(Checker *c, const Item *x)
{
    const Where w = {x->space, x->buf, x->lo, x->hi};
    if (is_written(c, x)) return;
    each_fails(c);
    tell_unwritten(c, &w);
    if (x->only) stop_at(c, STOP_LOST);
    hold_told(c, HELD_UNWRITTEN, 0);
}

uint32_t touch(Checker *c, Item x, int who)
{
    State *s = c->st;
    const Agent *a = &s->agents[c->agent];
    bool each = who == BY_EACH && a->many;
    Where w = {x.space, x.buf, x.lo, x.hi};
    x.kind = ITEM_ACCESS;
    x.agent = (uint16_t)c->agent;
    x.op = code_of(c)->first + c->pc;
    for (uint32_t i = 0; i < c->over[x.buf].n; i++) {
        uint32_t at = touch_of(c, c->agent, x.space, c->over[x.buf].v[i]);
        if (c->touches[at] > c->pc) continue;
        c->touches[at] = c->pc + 1;
        if (c->no_touches[at]) learn(c);
    }
    for (uint32_t i = 0; i < s->items.n; i++) {
        const Item *y = &s->items.v[i];
        if (y->kind == ITEM_ACCESS && y->space == x.space && beside(c, &x, y, i, set_of(c, s, c->agent, each ? KNOWN_EACH : KNOWN_ONE), each))
            item_over(s, i, item_counts(c, s, i));
    }
    if (!x.write && c->gaps[x.buf] > skipped(op_now(c)))
        refuse(c, E0610, "the elements of %s lie packed with gaps between them, which have no value: this reads those, too", c->k->bufs.v[x.buf].name);
    if (!x.write || x.red) ask_written(c, &x);
    if (x.write && !x.red) {
        written(c, (Piece){.space = w.space, .buf = w.buf, .step = x.step, .width = x.width, .shape = x.shape, .lo = w.lo, .hi = w.hi, .only = x.only});
        if (s->neach == 0) forget_pieces(c, x.space);
    }
    if (x.write) drop_cells(c, &w);
    uint32_t i = item_new(c, x);
    if (x.async) return i;
    if (!each) set_add(set_of(c, s, c->agent, KNOWN_ONE), 2 * i);
    else if (x.core != CORE_OPEN) set_add(set_of(c, s, c->agent, MINE), 2 * i);
    return i;
}
