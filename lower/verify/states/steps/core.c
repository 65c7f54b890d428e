/* The tensor core: copies into tensor memory and shifts, over when a commit of their thread has arrived; in order with what others do
 * there by fences around what tells of it (PTX ISA, Memory Consistency Model for 5th generation of TensorCore operations). */
#include "lower/ir/tensor_memory.h"
#include "lower/verify/states/say/report.h"

static bool is_multiple(Checker *c, Num x, int64_t of)
{
    int64_t rest;
    Num q = num_div(&c->n, x, of);
    return q && num_is(&c->n, num_add(&c->n, x, -of, q), &rest) && rest == 0;
}

Num along_of(Checker *c, const IrOp *op, const IrArg *buf)
{
    enum { CELL = 4 };
    const IrArg *along = ir_find(op, IRK_ALONG), *byte = ir_part(op, buf, IRK_OFFSET);
    const IrBuf *b = &c->k->bufs.v[buf->id];
    if (along == NULL || b->lanes == 0) return num_k(c, 0);
    Num far = val_soft(c, val_of_arg(c, along));
    TmemUse use = tmem_use(c->k, op);
    int64_t pitch = CELL * (int64_t)b->columns, last = pitch - (byte ? byte->imm : 0) % pitch - CELL * (int64_t)use.columns;
    bool within = facts_imply(&c->n, &c->st->facts, far) && facts_imply(&c->n, &c->st->facts, num_add(&c->n, num_k(c, last), -1, far));
    if (!within || !is_multiple(c, far, CELL * (int64_t)use.unit))
        lost_as(c, E0658, "%u bytes of each lane of %s, from %s on, are not certain to lie within its %lld, from a multiple of %u on", CELL * use.columns, b->name,
                num_shown(c, far), (long long)pitch, CELL * use.unit);
    return far;
}

static Where source(Checker *c, const IrOp *op, const TmemCp *cp, uint32_t cta)
{
    const IrArg *src = ir_find(op, IRK_SRC), *offset = ir_part(op, src, IRK_OFFSET);
    const TmemShape *shape = tmem_shape(cp->shape);
    Num off = offset ? val_soft(c, val_of_arg(c, offset)) : num_k(c, 0);
    int64_t at, lo, hi, k;
    if (!is_multiple(c, off, TMEM_CHUNK)) lost_as(c, E0658, "the source in %s is not certain to begin at a multiple of 16 bytes", c->k->bufs.v[src->id].name);
    if (!num_is(&c->n, off, &at)) { /* which of its bytes are read nobody knows */
        Where w = place_of(c, op, src, num_k(c, tmem_linear(cp, cp->n - 1, shape->rows - 1u, shape->columns / 4u - 1) + TMEM_CHUNK), cta);
        Num start = num_add(&c->n, w.lo, -1, off);
        return (Where){w.space, w.buf, start, num_plus(&c->n, start, c->k->bufs.v[src->id].bytes)};
    }
    tmem_reach(cp, at, &lo, &hi);
    Where w = place_of(c, op, src, num_k(c, hi), cta);
    k = lo < 0 ? -at : lo; /* the rest of the pattern in front */
    return (Where){w.space, w.buf, num_plus(&c->n, w.lo, k), w.hi};
}

/* What is written there. */
static Item part(Checker *c, const IrOp *op, TmemPart p, int64_t at, uint32_t cta, Num only)
{
    Where w = place_of(c, op, ir_find(op, IRK_DST), num_k(c, p.hi - at), cta);
    Num far = along_of(c, op, ir_find(op, IRK_DST));
    w.lo = num_add(&c->n, w.lo, 1, far);
    w.hi = num_add(&c->n, w.hi, 1, far);
    return item_at((Item){.write = true, .async = true, .core = CORE_ASYNC, .step = (uint32_t)p.step, .width = (uint32_t)p.width}, w, only);
}

static void begin(Checker *c, const IrOp *op, Num only, uint32_t cta)
{
    const IrArg *dst = ir_find(op, IRK_DST), *byte = ir_part(op, dst, IRK_OFFSET);
    const IrBuf *b = &c->k->bufs.v[dst->id];
    uint64_t *committing;
    int64_t at = byte ? byte->imm : 0;
    uint32_t items[2], n = 0;
    if (op->op == IR_TC_SHIFT) {
        Item x = part(c, op, tmem_shifted((uint32_t)ir_find(op, IRK_N)->imm, b, at), at, cta, only);
        ask_written(c, &x); /* a lane gets what the next one had */
        items[n++] = touch(c, x, BY_ONE);
    } else {
        TmemCp cp = tmem_cp(c->k, op);
        Where from = source(c, op, &cp, cta);
        Item x = part(c, op, tmem_written(&cp, b, at), at, cta, only);
        items[n++] = touch(c, item_at((Item){.async = true}, from, only), BY_ONE);
        items[n++] = touch(c, x, BY_ONE);
    }
    committing = set_of(c, c->st, c->agent, COMMITTING);
    for (uint32_t i = 0; i < n; i++) set_add(committing, 2 * items[i]);
}

/* Of all that the thread began before. */
static void commit(Checker *c, const IrOp *op)
{
    State *s = c->st;
    uint32_t bar[64], n = bars_of(c, op, bar);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t item = item_new(c, (Item){.kind = ITEM_ARRIVAL, .agent = (uint16_t)c->agent, .op = code_of(c)->first + c->pc});
        uint32_t last = bar_in(s, bar[i])->last;
        count_on(c, bar[i], item, false, true);
        set_join(bar_set(c, s, bar[i], HEARD), set_of(c, s, c->agent, COMMITTING), s->words);
        fewer_pending(c, bar[i], 1, last);
        bar_complete(c, bar[i]);
    }
    memset(set_of(c, s, c->agent, COMMITTING), 0, s->words * sizeof(uint64_t));
}

static void fence(Checker *c, const IrOp *op)
{
    State *s = c->st;
    bool each = by_each(c, op), before = ir_find(op, IRK_ORDER)->id == IRD_BEFORE;
    for (uint32_t i = 0; i < s->items.n; i++) {
        Item *x = &s->items.v[i];
        if (x->kind != ITEM_ACCESS || x->core == CORE_NONE) continue;
        if (before && x->core == CORE_OPEN && x->agent == c->agent && (each || !c->st->agents[c->agent].many)) {
            x->core = CORE_THREADS;
            set_add(set_of(c, s, c->agent, each ? MINE : KNOWN_ONE), 2 * i);
        }
        for (uint32_t k = KNOWN_ONE; k <= MINE && !before; k++)
            if ((k == KNOWN_ONE || each) && set_has(set_of(c, s, c->agent, k), 2 * i)) set_add(set_of(c, s, c->agent, k), 2 * i + 1);
    }
}

void step_core(Checker *c, const IrOp *op)
{
    if (op->op == IR_TC_COMMIT) {
        commit(c, op);
        return;
    }
    if (op->op == IR_TC_FENCE) {
        fence(c, op);
        return;
    }
    Num only = only_now(c, op);
    uint32_t own = c->st->agents[c->agent].cta;
    if (only == num_k(c, 0)) return;
    begin(c, op, only, own);
    if (c->k->pair) begin(c, op, only, own ^ 1);
}
