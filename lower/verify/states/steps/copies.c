/* Copies: what they read and write, and who is told that they are over. */
#include "lang/lang.h"
#include "lower/ir/ops.h"
#include "lower/ir/thread_work.h"
#include "lower/verify/states/say/report.h"

uint64_t targets_of(Checker *c, const IrOp *op, uint32_t own)
{
    const IrArg *mask = ir_find(op, IRK_MASK), *rank = ir_find(op, IRK_RANK);
    int64_t k;
    uint64_t out = 0;
    if (op->op == IR_CLC_NEXT) return (UINT64_C(1) << c->nctas) - 1;
    if (rank) {
        if (!num_is(&c->n, val_force(c, val_of_arg(c, rank)), &k)) lost(c, "which CTA this is for");
        if (k < 0 || k >= c->nctas) refuse(c, E0658, "CTA %lld of a cluster of %u", (long long)k, c->nctas);
        if (k == own && (op->op == IR_BLK_PEER || op->op == IR_BLK_REDUCE_PEER)) refuse(c, E0618, "CTA %u copies to itself through the cluster", own);
        return UINT64_C(1) << k;
    }
    if (mask == NULL) return UINT64_C(1) << own;
    Val m = val_of_arg(c, mask);
    Num n = val_force(c, m);
    for (uint32_t r = 0; r < c->nctas && !num_is(&c->n, n, &k); r++) { /* bit by bit */
        ValData shift = {.op = IR_SHR, .a = m, .b = val_num(c, num_k(c, r)), .imm = r, .range = UNBOUNDED};
        ValData bit = {.op = IR_AND, .a = val_make(c, shift), .b = val_num(c, num_k(c, 1)), .imm = 1, .range = {0, 1}};
        if (num_is(&c->n, val_force(c, val_make(c, bit)), &k)) out |= (uint64_t)k << r;
    }
    if (num_is(&c->n, n, &k)) out = (uint64_t)k;
    Num rest = num_plus(&c->n, n, -(int64_t)out);
    if (out == 0 || out >> c->nctas || !facts_imply(&c->n, &c->st->facts, rest) || !facts_imply(&c->n, &c->st->facts, num_times(&c->n, -1, rest)))
        refuse(c, E0658, "a mask for a cluster of %u", c->nctas);
    return out;
}

/* How many bytes they take in shared memory; what they count is the map's box, whatever the op says. */
static Num room_of(Checker *c, const IrOp *op, Num bytes)
{
    const IrArg *map = ir_find(op, IRK_MAP), *info;
    if (map == NULL) return bytes;
    const MfMap *m = &c->k->mf.maps.v[map->id];
    MapDesc d = manifest_map(m);
    bool wide = map_is_wide(m->mode) && ir_list(op, IRK_INFO, &info);
    Num room = num_k(c, map_copy_room(&d, 0)), box = num_k(c, map_copy_bytes(&d, 0)), halo = wide ? val_soft(c, val_of_arg(c, info)) : 0;
    if (wide) box = num_add(&c->n, box, map_copy_bytes(&d, 1) - map_copy_bytes(&d, 0), halo);
    if (!box || !facts_imply(&c->n, &c->st->facts, num_add(&c->n, bytes, -1, box)) || !facts_imply(&c->n, &c->st->facts, num_add(&c->n, box, -1, bytes)))
        refuse(c, E0659, "the copy counts other bytes than its map's box has");
    return wide ? num_add(&c->n, room, map_copy_room(&d, 1) - map_copy_room(&d, 0), halo) : room;
}

/* bytes where only is 1, else 0: term by term, so that sums of such are such of sums. */
static Num counted(Checker *c, Num bytes, Num only)
{
    int64_t what = -3;
    if (only == 0) return bytes;
    Num out = num_times(&c->n, num_data(&c->n, bytes)->k, only);
    for (uint32_t i = 0; i < num_data(&c->n, bytes)->n; i++) {
        NumTerm t = num_data(&c->n, bytes)->t[i];
        Num key[] = {num_atom(&c->n, t.atom), only};
        bool positive = facts_imply(&c->n, &c->st->facts, key[0]);
        Num part = name_number(c, class_of(c, &what, sizeof what), key, 2, (Interval){positive ? 0 : NO_LO, NO_HI});
        if (positive) facts_add(&c->n, &c->st->arena, &c->st->facts, num_add(&c->n, key[0], -1, part));
        out = num_add(&c->n, out, t.c, part);
    }
    return out ? out : bytes;
}

/* A copy of 0 bytes is none: that there are some is no condition. */
static Num without_bytes(Checker *c, const IrOp *op, uint32_t pred)
{
    const IrOp *def = c->op[c->def[pred - 1]];
    const IrArg *a = ir_find(def, IRK_A), *b = ir_find(def, IRK_B);
    if (asks_bytes(op, def)) return 0;
    bool both = def->op == IR_AND && a->kind == IRA_VAL && b->kind == IRA_VAL && def->guard.when == IRW_ALWAYS && val_of_arg(c, a) && val_of_arg(c, b);
    if (both) {
        Num y = without_bytes(c, op, b->id), x = without_bytes(c, op, a->id);
        return both_of(c, x, y);
    }
    return only_if(c, val_of_arg(c, &(IrArg){.kind = IRA_VAL, .id = pred}));
}

static Num only_of(Checker *c, const IrOp *op)
{
    IrOp plain = *op;
    plain.guard = (IrGuard){0};
    if (op->guard.when != IRW_IF || c->tells || !some_bytes(c->op, c->def, op, op->guard.pred)) return only_now(c, op);
    if (val_try(c, val_of_arg(c, &(IrArg){.kind = IRA_VAL, .id = op->guard.pred})) == 0) return num_k(c, 0);
    Num around = only_now(c, &plain), own = without_bytes(c, op, op->guard.pred), only = both_of(c, own, around);
    return only == num_k(c, 1) ? 0 : only;
}

static uint32_t barrier_cta(Checker *c, const IrOp *op, uint32_t cta)
{
    const IrArg *arg = ir_find(op, IRK_BAR_RANK);
    int64_t k;
    if (arg == NULL) return cta;
    if (!num_is(&c->n, val_force(c, val_of_arg(c, arg)), &k)) lost(c, "the barrier's CTA");
    uint32_t of = ir_find(op, IRK_RANK) ? cta : c->st->agents[c->agent].cta;
    if (k < 0 || k >= c->nctas || (k ^ of) & ~INT64_C(1)) refuse(c, E0658, "the barrier of CTA %lld: CTA %u and the other one of its pair are meant", (long long)k, of);
    return (cta & ~1u) | (uint32_t)(k & 1);
}

static uint16_t reduction(const IrOp *op, bool generic)
{
    uint32_t n;
    const IrArg *rop = ir_find(op, IRK_ROP), *elem = ir_find(op, IRK_ELEM);
    if (rop == NULL) return 0;
    if (!reduction_commutes(ir_words(IRK_ROP, &n)[rop->id])) return RED_ALONE;
    return (uint16_t)((1 + rop->id * TYPE_COUNT + (elem ? elem->id : 0)) | (generic ? 0x8000 : 0));
}

static Val put_there(Checker *c, const IrOp *op)
{
    const IrArg *a = ir_find(op, IRK_A);
    if (op->op == IR_CLC_NEXT) return val_num(c, fresh_number(c, (Interval){-1, INT32_MAX}));
    return op->op == IR_STS || op->op == IR_ST_ASYNC ? val_of_arg(c, a) : 0;
}

static void keep_cell(Checker *c, const Where *w, Val v)
{
    State *s = c->st;
    int64_t at;
    if (v == 0 || !num_is(&c->n, w->lo, &at)) return;
    uint32_t i = 0;
    while (i < s->cells.n && (s->cells.v[i].space < w->space || (s->cells.v[i].space == w->space && s->cells.v[i].at < at))) i++;
    if (i == s->cells.n || s->cells.v[i].space != w->space || s->cells.v[i].at != at) {
        vec_add(&s->arena, &s->cells);
        memmove(&s->cells.v[i + 1], &s->cells.v[i], (s->cells.n - 1 - i) * sizeof *s->cells.v);
    }
    s->cells.v[i] = (Cell){.space = w->space, .at = at, .val = v};
}

/* All who read what is put there have. */
static bool read_by_all(const Checker *c, const Cell *x, uint32_t buf)
{
    for (uint32_t a = 0; a < c->nagents; a++) {
        const Agent *y = &c->st->agents[a];
        if (y->cta == x->space && !y->done && c->reads_cells[(y->body - 1u) * c->k->bufs.n + buf] && !(x->read >> a & 1)) return false;
    }
    return true;
}

/* It is forgotten with the last of those who read it, if they do so once. */
static Val read_cell(Checker *c, const Where *w)
{
    State *s = c->st;
    int64_t at;
    if (!num_is(&c->n, w->lo, &at)) return 0;
    uint32_t i = 0;
    while (i < s->cells.n && (s->cells.v[i].space != w->space || s->cells.v[i].at != at)) i++;
    if (i == s->cells.n) {
        if (!c->reads_again[w->buf]) learn(c);
        c->reads_again[w->buf] = true;
        return 0;
    }
    Cell *x = &s->cells.v[i];
    Val v = x->val;
    x->read |= UINT64_C(1) << c->agent;
    if (c->reads_again[w->buf] || !read_by_all(c, x, w->buf)) return v;
    memmove(x, x + 1, (--s->cells.n - i) * sizeof *x);
    return v;
}

static Num bytes_of(Checker *c, const IrOp *op)
{
    const IrArg *bytes = ir_find(op, IRK_BYTES);
    return bytes ? val_soft(c, val_of_arg(c, bytes)) : num_k(c, op->op == IR_CLC_NEXT ? IR_ANSWER_BYTES : IR_CELL_BYTES);
}

/* All that is asked of numbers comes first: it may fork. */
typedef struct Load {
    uint32_t n, cta[64], bar[64];
    Where to[64], from, desc;
} Load;

/* Of copies one after the other that all count on it, some may have no bytes: what the thread knows is heard of if all together have some. */
static bool one_of_burst(Checker *c, uint32_t bar, Num tx)
{
    State *s = c->st;
    Bar *b = bar_in(s, bar);
    if (b->some == 0 || b->burst != s->burst) b->some = num_k(c, 0);
    b->burst = s->burst;
    b->some = num_add(&c->n, b->some, 1, tx);
    return b->some && facts_imply(&c->n, &s->facts, num_plus(&c->n, b->some, -1));
}

static void load(Checker *c, const IrOp *op, Num only)
{
    State *s = c->st;
    bool each = by_each(c, op), generic = op->op == IR_ST_ASYNC || op->op == IR_ST_FILL || op->op == IR_RED_ASYNC;
    const IrArg *src = ir_find(op, IRK_SRC), *desc = ir_find(op, IRK_DESC);
    uint32_t own = s->agents[c->agent].cta;
    Load l = {0};
    Num bytes = bytes_of(c, op), room = room_of(c, op, bytes), tx = counted(c, bytes, only);
    Val put = put_there(c, op);
    uint64_t to = targets_of(c, op, own);
    for (uint32_t r = 0; r < c->nctas; r++) {
        if (!(to >> r & 1)) continue;
        l.to[l.n] = place_of(c, op, ir_find(op, IRK_DST), room, r);
        l.bar[l.n++] = bar_of(c, op, barrier_cta(c, op, r));
    }
    if (src) l.from = place_of(c, op, src, room, own);
    if (desc) l.desc = place_of(c, op, desc, num_k(c, IR_MAP_BYTES), own);
    int who = each ? BY_EACH : BY_ONE;
    uint32_t read[2], nread = 0;
    if (src) read[nread++] = touch(c, item_at((Item){.async = true}, l.from, only), who);
    if (desc) read[nread++] = touch(c, item_at((Item){.async = true}, l.desc, only), who);
    for (uint32_t i = 0; i < l.n; i++) {
        uint32_t item = touch(c, item_at((Item){.write = true, .async = true, .generic = generic ? FROM_AFAR : 0, .red = reduction(op, generic)}, l.to[i], only), who);
        bool heard = one_of_burst(c, l.bar[i], tx);
        count_on(c, l.bar[i], item, each, heard && !each);
        if (heard && each) set_join(bar_set(c, s, l.bar[i], HEARD), set_of(c, s, c->agent, KNOWN_EACH), s->words); /* of a lane */
        for (uint32_t j = 0; j < nread; j++) set_add(bar_set(c, s, l.bar[i], HEARD), 2 * read[j]);
        if (touch_global(c, op, &item)) set_add(bar_set(c, s, l.bar[i], HEARD), 2 * item);
        keep_cell(c, &l.to[i], only ? 0 : put);
        bar_bytes(c, l.bar[i], tx, -1);
        bar_complete(c, l.bar[i]);
    }
}

static void store(Checker *c, const IrOp *op, Num only)
{
    State *s = c->st;
    int who = by_each(c, op) ? BY_EACH : BY_ONE;
    const IrArg *desc = ir_find(op, IRK_DESC);
    Num bytes = bytes_of(c, op), room = room_of(c, op, bytes);
    uint32_t own = s->agents[c->agent].cta;
    Where from = place_of(c, op, ir_find(op, IRK_SRC), room, own), map = {0};
    if (desc) map = place_of(c, op, desc, num_k(c, IR_MAP_BYTES), own);
    uint32_t item;
    if (touch_global(c, op, &item)) set_add(set_of(c, s, c->agent, OPEN), 2 * item);
    item = touch(c, item_at((Item){.async = true}, from, only), who);
    set_add(set_of(c, s, c->agent, OPEN), 2 * item);
    if (desc) { /* sets may lie elsewhere behind it */
        item = touch(c, item_at((Item){.async = true}, map, only), who);
        set_add(set_of(c, s, c->agent, OPEN), 2 * item);
    }
}

void step_copy(Checker *c, const IrOp *op)
{
    if (op->op == IR_TMA_PREFETCH || op->op == IR_BLK_PREFETCH) return;
    Num only = only_of(c, op);
    if (only == num_k(c, 0)) return;
    bool lanes = false;
    const Agent *a = &c->st->agents[c->agent];
    for (uint32_t i = 0; i < a->depth; i++) lanes |= code_of(c)->role->ops.v[c->st->frames[a->frames + i].op].op == IR_LANES;
    if (by_each(c, op) && !lanes) refuse(c, E0672, "a copy by each thread of the role");
    if (ir_find(op, IRK_BAR)) load(c, op, only);
    else store(c, op, only);
}

/* ---- groups and fences ---- */

/* A group is its thread's. */
static void check_lanes(Checker *c, const IrOp *op)
{
    if (op->elect && ir_body_has(code_of(c)->role, IR_LANES)) lost(c, "groups of the elected thread beside those of lanes");
}

static void commit(Checker *c)
{
    State *s = c->st;
    Agent *a = &s->agents[c->agent];
    uint64_t *open = set_of(c, s, c->agent, OPEN);
    if (a->ngroups > c->most_groups) { /* nobody waits for the oldest without the next one */
        set_join(set_of(c, s, c->agent, GROUPS + 1), set_of(c, s, c->agent, GROUPS), s->words);
        memmove(set_of(c, s, c->agent, GROUPS), set_of(c, s, c->agent, GROUPS + 1), (size_t)--a->ngroups * s->words * sizeof *open);
    }
    memcpy(set_of(c, s, c->agent, GROUPS + a->ngroups++), open, s->words * sizeof *open);
    memset(open, 0, s->words * sizeof *open);
}

/* Of stores that have only been read it is not known that they have written. */
static bool over_by(const Checker *c, const Item *x, IrHow how)
{
    return how == IRH_FULL || x->space != global_space(c) || !x->write;
}

static void wait_groups(Checker *c, const IrOp *op)
{
    State *s = c->st;
    Agent *a = &s->agents[c->agent];
    IrHow how = (IrHow)ir_find(op, IRK_HOW)->id;
    uint64_t *one = set_of(c, s, c->agent, by_each(c, op) ? MINE : KNOWN_ONE) /* lanes have their own */, *groups = set_of(c, s, c->agent, GROUPS);
    uint32_t n = (uint32_t)ir_find(op, IRK_N)->imm, over = a->ngroups > n ? a->ngroups - n : 0, none = 0;
    for (uint32_t i = 0; i < over; i++) {
        uint64_t *group = groups + (size_t)i * s->words, left = 0;
        for (uint32_t j = 0; j < s->items.n; j++) {
            if (!set_has(group, 2 * j) || !over_by(c, &s->items.v[j], how)) continue;
            set_add(one, 2 * j);
            group[j / 32] &= ~(UINT64_C(1) << j % 32 * 2);
        }
        for (uint32_t j = 0; j < s->words; j++) left |= group[j];
        none += left == 0 && none == i; /* the oldest ones, of which nothing is left */
    }
    memmove(groups, groups + (size_t)none * s->words, (size_t)(a->ngroups - none) * s->words * sizeof *groups);
    memset(groups + (size_t)(a->ngroups - none) * s->words, 0, (size_t)none * s->words * sizeof *groups);
    a->ngroups -= none;
}

static bool serves(const Item *x, IrSpace fence)
{
    if (x->generic == GLOBALLY || fence == IRS_GLOBAL) return x->generic == GLOBALLY && fence == IRS_GLOBAL;
    return x->generic == BY_THREADS || fence == IRS_CLUSTER;
}

/* What it knows to be written by threads, or into tensors, copies see from now on. */
static void fence(Checker *c, const IrOp *op)
{
    State *s = c->st;
    for (uint32_t k = KNOWN_ONE; k <= MINE; k++) {
        if (k != KNOWN_ONE && !by_each(c, op)) continue;
        uint64_t *set = set_of(c, s, c->agent, k);
        for (uint32_t i = 0; i < s->items.n; i++) {
            const Item *x = &s->items.v[i];
            if (x->kind == ITEM_ACCESS && x->generic && serves(x, (IrSpace)ir_find(op, IRK_SPACE)->id) && set_has(set, 2 * i)) set_add(set, 2 * i + 1);
        }
    }
}

void step_group(Checker *c, const IrOp *op)
{
    if (op->op == IR_GRP_COMMIT || op->op == IR_GRP_WAIT) check_lanes(c, op);
    if (op->op == IR_GRP_COMMIT) commit(c);
    else if (op->op == IR_GRP_WAIT) wait_groups(c, op);
    else if (op->op == IR_FENCE_ASYNC) fence(c, op);
}

/* ---- threads ---- */

/* The dimension of the least pitch of those that are left. */
static uint32_t innermost(const ThrSide *x, uint32_t left)
{
    uint32_t best = x->rank;
    for (uint32_t d = 0; d < x->rank; d++)
        if (left >> d & 1 && (best == x->rank || x->pitch[d] < x->pitch[best])) best = d;
    return best;
}

/* A name for which of its bytes elements have; 0: all. */
static uint32_t shape_of(Checker *c, const ThrSide *x)
{
    uint32_t key[4 + 2 * (MAP_RANK + 1)] = {x->s->swizzle, x->s->span, x->s->panel, thr_element_bytes(x->s)}, n = 4;
    int64_t all = key[3];
    for (uint32_t d = 0; d < x->rank; d++) {
        all *= x->extent[d];
        key[n++] = x->extent[d];
        key[n++] = x->pitch[d];
    }
    return all == thr_side_bytes(x) ? 0 : names_intern(c->shapes, (const char *)key, n * sizeof *key);
}

/* Rows of elements that lie apart, all one step from the next. */
static Item side_item(Checker *c, const ThrSide *x, const Where *w, Num only)
{
    Item to = item_at((Item){.shape = shape_of(c, x)}, *w, only);
    uint32_t row = thr_element_bytes(x->s), left = (1u << x->rank) - 1, d, step, all;
    if (x->s->swizzle != MAP_SWIZZLE_NONE || x->s->span) return to;
    for (; left && x->pitch[d = innermost(x, left)] == row; left &= ~(1u << d)) row *= x->extent[d];
    step = all = left ? x->pitch[d] : 0;
    for (; left && x->pitch[d = innermost(x, left)] == all; left &= ~(1u << d)) all *= x->extent[d];
    if (left || row >= step) return to;
    to.step = step;
    to.width = row;
    to.shape = 0;
    return to;
}

/* Tensor memory, too: bytes further in each lane. */
static Where side_place(Checker *c, const IrOp *op, const IrArg *buf, const ThrSide *x)
{
    Where w = place_of(c, op, buf, num_k(c, thr_side_bytes(x)), c->st->agents[c->agent].cta);
    if (c->k->bufs.v[buf->id].lanes == 0) return w;
    Num far = along_of(c, op, buf);
    return (Where){w.space, w.buf, num_add(&c->n, w.lo, 1, far), num_add(&c->n, w.hi, 1, far)};
}

static void by_threads(Checker *c, Item x, bool write, bool tensor)
{
    x.write = write;
    x.generic = write && !tensor ? BY_THREADS : 0;
    x.core = tensor ? CORE_OPEN : CORE_NONE;
    touch(c, x, BY_EACH);
}

/* One thread may write what another one has still to read. */
static void check_in_place(Checker *c, const Where *from, const Where *to)
{
    bool apart = from->space != to->space || facts_imply(&c->n, &c->st->facts, num_add(&c->n, to->lo, -1, from->hi)) ||
                 facts_imply(&c->n, &c->st->facts, num_add(&c->n, from->lo, -1, to->hi));
    if (!apart) lost_as(c, E0612, "threads read and write overlapping bytes of %s in one move", c->k->bufs.v[to->buf].name);
}

static void plan(Checker *c, const IrOp *op, Num only)
{
    const IrPlan *p = &c->k->plans.v[ir_find(op, IRK_PLAN)->id];
    const IrArg *src = ir_find(op, IRK_SRC), *dst = ir_find(op, IRK_DST);
    ThrSide in = thr_side(p, true), out = thr_side(p, false);
    Where from = {0}, to = {0};
    if (p->threads != 32 * code_of(c)->role->warps) refuse(c, E0673, "a plan for %u threads", p->threads);
    if (src) from = side_place(c, op, src, &in);
    if (dst) to = side_place(c, op, dst, &out);
    uint32_t item;
    touch_global(c, op, &item);
    if (src && dst) check_in_place(c, &from, &to);
    if (src) by_threads(c, side_item(c, &in, &from, only), false, c->k->bufs.v[src->id].lanes);
    if (dst && p->add) by_threads(c, side_item(c, &out, &to, only), false, false);
    if (dst) by_threads(c, side_item(c, &out, &to, only), true, c->k->bufs.v[dst->id].lanes);
}

void step_threads(Checker *c, const IrOp *op)
{
    int who = by_each(c, op) ? BY_EACH : BY_ONE;
    uint32_t own = c->st->agents[c->agent].cta;
    Num only = only_now(c, op);
    if (only == num_k(c, 0)) return;
    if (ir_by_plan((IrOpcode)op->op)) {
        plan(c, op, only);
        return;
    }
    if (op->op == IR_MAP_SET) {
        Where to = place_of(c, op, ir_find(op, IRK_DST), num_k(c, IR_MAP_BYTES), own), cell = place_of(c, op, ir_find(op, IRK_SRC), num_k(c, IR_MAP_BYTES), own);
        touch(c, item_at((Item){.write = true}, to, 0), who);
        touch(c, item_at((Item){.write = true, .generic = BY_THREADS}, cell, 0), who);
        return;
    }
    bool write = op->op == IR_STS || op->op == IR_ST_BULK;
    int64_t size = op->op == IR_ST_BULK ? ir_find(op, IRK_BYTES)->imm : op->op == IR_CLC_ID ? IR_ANSWER_BYTES : IR_CELL_BYTES;
    Where at = place_of(c, op, ir_find(op, write ? IRK_DST : IRK_SRC), num_k(c, size), own);
    touch(c, item_at((Item){.write = write, .generic = write ? BY_THREADS : 0}, at, only), who);
    keep_cell(c, &at, write && only == 0 ? put_there(c, op) : 0);
    uint32_t slot = op->dst ? code_of(c)->slot[op->dst - 1] : 0;
    if (slot == 0) return;
    Val v = only == 0 ? read_cell(c, &at) : 0;
    c->st->env[c->place[c->agent].env + slot - 1] = v ? v : val_num(c, fresh_number(c, c->range[op->dst - 1]));
}
