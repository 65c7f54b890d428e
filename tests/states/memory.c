/* What touches memory knows all that it conflicts with to be over, and reads what was written. */
#include "lang/checked.h"
#include "tests/states/checker.h"

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
        lost(c, "bytes of slot %lld of %s, which has %u, that are not certain to lie within", (long long)at, b->name, b->bytes);
    return (Where){space_of(c, b, cta), (uint16_t)buf->id, num_plus(&c->n, off, from), num_plus(&c->n, end, from)};
}

/* ---- what was written ---- */

static bool below(Checker *c, Num x, Num y) /* x <= y */
{
    return facts_imply(&c->n, &c->st->facts, num_add(&c->n, y, -1, x));
}

/* If y happened x has. */
static bool at_least(Checker *c, Num x, Num y)
{
    return x == 0 || x == y || (y && below(c, y, x));
}

static bool is_written(Checker *c, const Where *w, Num only)
{
    State *s = c->st;
    Num at = w->lo;
    for (uint32_t i = 0; i < s->written.n && !below(c, w->hi, at); i++) {
        const Piece *p = &s->written.v[i];
        if (p->space != w->space || !at_least(c, p->only, only) || !below(c, p->lo, at) || below(c, p->hi, at)) continue;
        at = p->hi;
        i = UINT32_MAX; /* from the first again */
    }
    return below(c, w->hi, at);
}

static bool always(Checker *c, Num x, Num y) /* one of the two holds */
{
    return x && y && below(c, num_k(c, 1), num_add(&c->n, x, 1, y));
}

static int piece_order(const Checker *c, const Piece *x, const Piece *y)
{
    const NumData *a = num_data(&c->n, x->lo), *b = num_data(&c->n, y->lo);
    if (x->space != y->space) return x->space < y->space ? -1 : 1;
    if ((a->n == 0) != (b->n == 0)) return a->n == 0 ? -1 : 1;
    return a->k == b->k || a->n ? 0 : a->k < b->k ? -1 : 1;
}

enum { PIECES_MOST = 256 };

static void written(Checker *c, const Where *w, Num only)
{
    State *s = c->st;
    Piece x = {w->space, w->lo, w->hi, only};
    for (uint32_t i = 0; i < s->written.n;) {
        Piece *p = &s->written.v[i];
        bool beside = p->space == x.space, same = beside && p->lo == x.lo && p->hi == x.hi;
        if (same && always(c, p->only, x.only)) x.only = 0;
        bool joins = beside && p->only == x.only && (same || (below(c, p->lo, x.hi) && below(c, x.lo, p->hi)));
        bool low = joins && below(c, p->lo, x.lo), high = joins && below(c, x.hi, p->hi);
        bool inside = joins && (low || below(c, x.lo, p->lo)) && (high || below(c, p->hi, x.hi));
        if (!inside && !(same && (x.only == 0 || p->only))) {
            i++;
            continue;
        }
        if (low && inside) x.lo = p->lo;
        if (high && inside) x.hi = p->hi;
        memmove(p, p + 1, (s->written.n - i - 1) * sizeof *p);
        s->written.n--;
        i = 0;
    }
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
        if (p->space != space || (num_data(&c->n, p->lo)->n == 0 && num_data(&c->n, p->hi)->n == 0 && p->only == 0) || ++open <= KEPT) continue;
        memmove(&s->written.v[i], &s->written.v[i + 1], (s->written.n - i - 1) * sizeof *p);
        s->written.n--;
    }
}

/* ---- accesses ---- */

static const char *buf_at(const Checker *c, uint16_t space, Num lo)
{
    int64_t at = num_data(&c->n, lo)->k;
    for (uint32_t i = 0; i < c->k->bufs.n; i++) {
        const IrBuf *b = &c->k->bufs.v[i];
        bool apart = b->lanes || b->maps;
        if (apart != (space >= c->nctas)) continue;
        if (apart ? at >> 32 == i + 1 : at >= b->offset && at < b->offset + (int64_t)b->slots * b->pitch) return b->name;
    }
    return "shared memory";
}

static void race(Checker *c, const Item *x, const Item *y)
{
    const char *name = buf_at(c, x->space, x->lo);
    if (y->write && x->write) refuse(c, E0657, "%s is written beside a write (op %u) that may not be over", name, y->op);
    refuse(c, y->write ? E0601 : E0602, "%s is %s beside op %u, which may not be over", name, x->write ? "written" : "read", y->op);
}

static bool conflict(const Item *x, const Item *y)
{
    return (x->write || y->write) && !(x->red && x->red == y->red);
}

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
    if (below(c, y->hi, x->lo) || below(c, x->hi, y->lo) || between(c, x, y)) return false;
    if (x->only && y->only && below(c, num_add(&c->n, x->only, 1, y->only), num_k(c, 1))) return false;
    bool is_known = set_has(known, 2 * i), same_op = x->agent == y->agent && x->op == y->op;
    bool own = each && same_op && set_has(set_of(c, s, c->agent, MINE), 2 * i); /* each thread again what it did before */
    if (conflict(x, y) && !own && !in_order(c, x, y)) {
        if (!is_known) race(c, x, y);
        bool fenced = set_has(known, 2 * i + 1);
        if (x->async && y->generic && !fenced) refuse(c, E0606, "no fence.async between op %u by threads and this copy of %s", y->op, buf_at(c, x->space, x->lo));
        if (y->core && !fenced && !(x->core == CORE_THREADS && same_op)) refuse(c, E0675, "no tc.fence between op %u and this", y->op);
    }
    bool covers = (x->step == 0 || (x->step == y->step && x->lo == y->lo && x->width >= y->width)) && below(c, x->lo, y->lo) && below(c, y->hi, x->hi) &&
                  at_least(c, x->only, y->only);
    if (!covers || (x->red && x->write)) return false;
    if (x->write) return is_known || own;
    return !y->write && same_op && (is_known || own || (y->async && ir_find(c->op[y->op], IRK_BAR) == NULL && !y->core));
}

static bool overlap(const IrBuf *a, const IrBuf *b)
{
    if (a->lanes || b->lanes || a->maps || b->maps) return a == b;
    return a->offset < b->offset + b->slots * b->pitch && b->offset < a->offset + a->slots * a->pitch;
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
    if (*touches_of(c, c->agent, x.space, x.buf) <= c->pc) learn(c);
    for (uint32_t b = 0; b < c->k->bufs.n; b++) {
        uint32_t *last = touches_of(c, c->agent, x.space, b);
        if (*last <= c->pc && overlap(&c->k->bufs.v[b], &c->k->bufs.v[x.buf])) *last = c->pc + 1;
    }
    for (uint32_t i = 0; i < s->items.n; i++) {
        const Item *y = &s->items.v[i];
        if (y->kind == ITEM_ACCESS && y->space == x.space && beside(c, &x, y, i, set_of(c, s, c->agent, each ? KNOWN_EACH : KNOWN_ONE), each))
            item_over(c, s, i);
    }
    bool there = (x.write && !x.red) || x.space >= c->nctas || is_written(c, &w, x.only);
    if (!there && x.only) lost(c, "%s is read under a condition, and what has written it is under others", buf_at(c, x.space, x.lo));
    if (!there) refuse(c, E0610, "%s is read where nothing has written it", buf_at(c, x.space, x.lo));
    if (x.write && !x.red && x.space < c->nctas) {
        written(c, &w, x.only);
        forget_pieces(c, x.space);
    }
    uint32_t i = item_new(c, x);
    if (x.async) return i;
    if (!each) set_add(set_of(c, s, c->agent, KNOWN_ONE), 2 * i);
    else if (x.core != CORE_OPEN) set_add(set_of(c, s, c->agent, MINE), 2 * i);
    return i;
}
