/* Copies to and from one tensor by one cluster: ordered, or apart in all turns, and with a fence where a load reads what was stored. A copy
 * becomes an item for those turns of its loops of which somebody may not know that they are over; one that meets no other in any turns, none. Whether
 * stores meet that neither certainly do nor certainly not, rule G says, which sees the program. */
#include <stdlib.h>
#include <string.h>

#include "lang/lang.h"
#include "lower/ir/ops.h"
#include "lower/verify/states/say/report.h"

typedef struct Global {
    uint32_t op, body;
    bool write, any_order;
    uint64_t tensors; /* a bit each */
    uint16_t red;     /* kind of reduction; 0: none */
    Reach reach;
    bool looked;        /* it is known */
    VEC(uint32_t) with; /* .. which others it may meet, in their order */
} Global;
typedef struct Begin {
    Interval at;
    int64_t last; /* none before it reaches further */
    uint32_t nth;
} Begin;
typedef struct View { /* those that have it, by where they begin on that axis */
    uint32_t axis;
    VEC(Begin) all;
} View;
struct Globals {
    VEC(Global) all;
    uint32_t *of;    /* by op, by number: + 1; 0: it touches none of which anybody asks */
    VEC(View) views; /* by Reach.view */
};

/* ---- what touches tensors ---- */

static uint64_t tensor_bit(uint32_t tensor)
{
    return UINT64_C(1) << (tensor < 63 ? tensor : 63);
}

enum { DEPTH = 8 };

/* The tensors into which an address may point: addresses come from gaddr alone. */
static uint64_t pointed_to(const Checker *c, const IrArg *arg, int depth)
{
    if (arg->kind == IRA_IMM) return 0;
    const IrOp *op = c->op[c->def[arg->id - 1]];
    uint64_t all = 0;
    if (op->op == IR_ZADDR || op->op == IR_CONST || op->op == IR_PARAM || op->op == IR_LOOP || op->op == IR_LANES) return 0;
    if (op->op == IR_GADDR) return tensor_bit(ir_find(op, IRK_TENSOR)->id);
    if (depth == 0 || op->op == IR_GET || op->op == IR_LOADS) return UINT64_MAX;
    for (uint32_t i = 0; i < op->nargs; i++)
        if (op->args[i].kind == IRA_VAL && op->args[i].key != IRK_COND) all |= pointed_to(c, &op->args[i], depth - 1);
    return all;
}

static uint64_t tensors_of(const Checker *c, const IrOp *op, bool write)
{
    const IrArg *map = ir_find(op, IRK_MAP), *address = ir_find(op, write ? IRK_TO : IRK_FROM);
    bool moves = ir_op_info(op->op)->group == IRG_COPY || op->op == IR_THR_LOAD || op->op == IR_THR_STORE;
    if (!moves || op->op == IR_TMA_PREFETCH || op->op == IR_BLK_PREFETCH) return 0;
    if (map == NULL) return address ? pointed_to(c, address, DEPTH) : 0;
    return (op->op != IR_TMA_LOAD) == write ? tensor_bit(c->k->mf.maps.v[map->id].tensor) : 0;
}

static uint16_t kind_of(const IrOp *op)
{
    uint32_t n;
    const IrArg *rop = op->op == IR_TMA_REDUCE || op->op == IR_BLK_REDUCE ? ir_find(op, IRK_ROP) : NULL;
    return rop && reduction_commutes(ir_words(IRK_ROP, &n)[rop->id]) ? (uint16_t)(1 + rop->id) : 0;
}

static void find_all(Checker *c, struct Globals *g)
{
    uint64_t loaded = 0, stored = 0;
    for (uint32_t i = 0; i < c->nops; i++) {
        loaded |= tensors_of(c, c->op[i], false);
        stored |= tensors_of(c, c->op[i], true);
    }
    for (uint32_t i = 0; i < c->nops; i++)
        if (c->op[i]->op == IR_LOADS && tensor_bit(ir_find(c->op[i], IRK_TENSOR)->id) & stored)
            refuse(c, E0706, "tensor %s is read as a scalar and written by a store", c->k->mf.tensors.v[ir_find(c->op[i], IRK_TENSOR)->id].name);
    for (uint32_t b = 0; b < c->code.n; b++)
        for (uint32_t i = 0; i < c->code.v[b].role->ops.n; i++) {
            const IrOp *op = &c->code.v[b].role->ops.v[i];
            bool write = tensors_of(c, op, true) != 0;
            Global x = {.op = c->code.v[b].first + i,
                        .body = b,
                        .write = write,
                        .any_order = op->any_order,
                        .tensors = tensors_of(c, op, write) & loaded & stored,
                        .red = kind_of(op)};
            if (x.tensors == 0) continue;
            x.reach = tensor_reach(c, x.op);
            vec_push(c->arena, &g->all, x);
            g->of[x.op] = g->all.n;
        }
    if (g->all.n > UINT16_MAX) lost(c, "too many copies to tensors that are loaded and stored");
}

/* ---- which may meet ---- */

/* Of two stores only what certainly meets is asked for. */
static bool certain(const Global *x, const Global *y)
{
    return x->write && y->write;
}

static bool harmless(const Global *x, const Global *y)
{
    bool order = !(x->any_order || y->any_order) || !certain(x, y);
    return !(x->tensors & y->tensors) || !(x->write || y->write) || (x->red && x->red == y->red) || !order;
}

/* x: not behind y. */
static bool may_meet(Checker *c, const Global *x, const Global *y)
{
    Asked q = {.op = {x->op, y->op}};
    if (far_apart(&x->reach, &y->reach) || harmless(x, y)) return false;
    for (q.cta[0] = 0; q.cta[0] < c->nctas; q.cta[0]++)
        for (q.cta[1] = 0; q.cta[1] < c->nctas; q.cta[1]++)
            if (ask_places(c, &q, false)) return true;
    return false;
}

static int by_begin(const void *x, const void *y)
{
    const Begin *a = x, *b = y;
    if (a->at.lo != b->at.lo) return a->at.lo < b->at.lo ? -1 : 1;
    return a->nth < b->nth ? -1 : a->nth > b->nth;
}

/* On the axis on which most begin elsewhere than the first one. */
static void sort_view(const struct Globals *g, View *v)
{
    uint32_t most = 0;
    for (uint32_t axis = 0; axis < MAP_RANK; axis++) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < v->all.n; i++) n += g->all.v[v->all.v[i].nth].reach.at[axis].lo != g->all.v[v->all.v[0].nth].reach.at[axis].lo;
        if (n <= most) continue;
        most = n;
        v->axis = axis;
    }
    for (uint32_t i = 0; i < v->all.n; i++) v->all.v[i].at = g->all.v[v->all.v[i].nth].reach.at[v->axis];
    if (v->all.n) qsort(v->all.v, v->all.n, sizeof *v->all.v, by_begin);
    for (uint32_t i = 0; i < v->all.n; i++) {
        Begin *x = &v->all.v[i];
        x->last = i && v->all.v[i - 1].last > x->at.hi ? v->all.v[i - 1].last : x->at.hi;
    }
}

static void find_views(Checker *c, struct Globals *g)
{
    for (uint32_t i = 0; i < g->all.n; i++) {
        while (g->views.n <= g->all.v[i].reach.view) vec_add(c->arena, &g->views);
        vec_push(c->arena, &g->views.v[g->all.v[i].reach.view].all, ((Begin){.nth = i}));
    }
    for (uint32_t i = 1; i < g->views.n; i++) sort_view(g, &g->views.v[i]);
}

/* How many of them begin before its end. */
static uint32_t before_end(const View *v, Interval x)
{
    uint32_t from = 0, to = v->all.n;
    while (from < to) {
        uint32_t mid = from + (to - from) / 2;
        if (lies_behind(v->all.v[mid].at, x)) to = mid;
        else from = mid + 1;
    }
    return from;
}

static int by_nth(const void *x, const void *y)
{
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    return a < b ? -1 : a > b;
}

/* With which others it may, in any turns: looked at when somebody asks for the first time. */
static const Global *met_by(Checker *c, uint32_t i)
{
    const struct Globals *g = c->globals;
    Global *x = &g->all.v[i];
    if (x->looked) return x;
    x->with.n = 0;
    c->n.work++;
    for (uint32_t k = 0; k < g->views.n; k++) {
        const View *v = &g->views.v[k];
        const bool own = k && k == x->reach.view;
        const Interval at = x->reach.at[v->axis];
        for (uint32_t n = own ? before_end(v, at) : v->all.n; n-- > 0;) {
            const Begin *b = &v->all.v[n];
            if (own && lies_behind(at, (Interval){NO_LO, b->last})) break;
            bool first = i < b->nth;
            if (may_meet(c, &g->all.v[first ? i : b->nth], &g->all.v[first ? b->nth : i])) vec_push(c->arena, &x->with, b->nth);
        }
    }
    c->n.work += x->with.n / 4;
    if (x->with.n) qsort(x->with.v, x->with.n, sizeof *x->with.v, by_nth);
    x->looked = true;
    return x;
}

static bool may(Checker *c, uint32_t i, uint32_t j)
{
    const Global *x = met_by(c, i);
    uint32_t from = 0, to = x->with.n;
    while (from < to) {
        uint32_t mid = from + (to - from) / 2;
        if (x->with.v[mid] < j) from = mid + 1;
        else to = mid;
    }
    return from < x->with.n && x->with.v[from] == j;
}

void global_prepare(Checker *c)
{
    struct Globals *g = c->globals = arena_new(c->arena, struct Globals);
    g->of = arena_array(c->arena, uint32_t, c->nops + 1);
    places_prepare(c);
    find_all(c, g);
    find_views(c, g);
}

/* ---- turns ---- */

enum { REACH = 4 };

/* A number that x is not below; NO_LO: none is known. */
static int64_t least_of(Checker *c, Num x)
{
    int64_t k;
    if (num_is(&c->n, x, &k)) return k;
    for (k = REACH; k >= -REACH; k--)
        if (facts_imply(&c->n, &c->st->facts, num_plus(&c->n, x, -k))) return k;
    return NO_LO;
}

enum { NEXT = 4 };

/* In turns that are so far apart, from one loop on: not apart; or, where only what is certain counts, some of the nearest meet. */
static bool meet_from(Checker *c, Asked *q, uint32_t loop, bool sure)
{
    if (loop == q->n) return ask_places(c, q, sure);
    const int64_t least = q->least[loop], most = q->most[loop], first = sure && least < -NEXT ? -NEXT : least, near = first < most ? first : most;
    int64_t last = least;
    bool any = false;
    for (int64_t at = sure ? near : least; at <= most && !any && (!sure || at <= near + 2 * NEXT); at = last + 1) {
        last = sure ? at : at < 0 ? (most < -1 ? most : -1) : at ? most : 0; /* those below 0, 0, those above */
        q->least[loop] = at;
        q->most[loop] = last;
        any = meet_from(c, q, loop + 1, sure);
        if (last == NO_HI) break;
    }
    q->least[loop] = least;
    q->most[loop] = most;
    return any;
}

/* Of the next loop: by how much an index from now[0] to now[1], 0: or more, is greater than those of `was`. */
static void next_loop(Checker *c, Asked *q, const Num now[2], const Num was[2])
{
    int64_t back = now[1] ? least_of(c, num_plus(&c->n, num_add(&c->n, was[0], -1, now[1]), 1)) : NO_LO;
    q->least[q->n] = least_of(c, num_plus(&c->n, num_add(&c->n, now[0], -1, was[1]), 1));
    q->most[q->n++] = back == NO_LO ? NO_HI : -back;
}

/* At that op, agent a in its present turns of the first loops around it, and (later) in those that follow of the next one. */
static bool meet(Checker *c, uint32_t a, const Global *x, const Item *y, uint32_t loops, bool later)
{
    const Agent *who = &c->st->agents[a];
    Asked q = {.op = {y->op, x->op}, .cta = {c->st->agents[y->agent].cta, who->cta}};
    for (uint32_t i = 0; i < loops + later && i < LEVELS && y->turn[i][0]; i++) {
        const Frame *f = &c->st->frames[who->frames + i];
        Num next = num_plus(&c->n, f->at, 1);
        if (i < loops) next_loop(c, &q, (Num[]){f->at, next}, y->turn[i]);
        else if (f->end) next_loop(c, &q, (Num[]){next, 0}, y->turn[i]);
    }
    return meet_from(c, &q, 0, certain(x, &c->globals->all.v[y->buf]));
}

static bool meet_later(Checker *c, uint32_t a, const Global *x, const Item *y)
{
    const Agent *who = &c->st->agents[a];
    const Code *b = &c->code.v[x->body];
    const Frame *f = &c->st->frames[who->frames];
    uint32_t loops = 0, pc = x->op - b->first;
    while (loops < who->depth && f[loops].op < pc && b->partner[f[loops].op] > pc) loops++;
    for (uint32_t i = 0; i < loops; i++)
        if (meet(c, a, x, y, i, true)) return true;
    return pc >= who->pc && meet(c, a, x, y, loops, false);
}

/* A copy that loads what another one has stored comes behind a fence. */
static bool in_order(const Checker *c, const Global *x, const Item *y, bool over, bool fenced)
{
    return over && (fenced || !y->write || x->write || ir_by_plan((IrOpcode)c->op[x->op]->op));
}

bool global_over(Checker *c, uint32_t i)
{
    const struct Globals *g = c->globals;
    const Item *y = &c->st->items.v[i];
    const Global *of = met_by(c, y->buf);
    for (uint32_t a = 0; a < c->nagents; a++) {
        bool over, fenced;
        item_known(c, c->st, a, i, &over, &fenced);
        for (uint32_t j = 0; j < of->with.n && !c->st->agents[a].done && !(over && fenced); j++) {
            const Global *x = &g->all.v[of->with.v[j]];
            if (x->body == c->st->agents[a].body && !in_order(c, x, y, over, fenced) && meet_later(c, a, x, y)) return false;
        }
    }
    return true;
}

bool turns_join(Checker *c, const Item *x, Item *y)
{
    uint32_t i = 0;
    while (i < LEVELS && memcmp(x->turn[i], y->turn[i], sizeof x->turn[i]) == 0) i++;
    if (i == LEVELS) return true;
    const Num *was = x->turn[i];
    Num *now = y->turn[i];
    if (now[0] == 0 || (was[0] && at_most(c, now[1], was[0]))) return false; /* the other way round */
    bool behind = was[0] && at_most(c, was[1], now[0]);
    now[0] = behind ? was[0] : 0;
    now[1] = behind ? now[1] : 0;
    memset(y->turn + i + 1, 0, (LEVELS - 1 - i) * sizeof *y->turn);
    return true;
}

/* ---- accesses ---- */

static void check_order(Checker *c, const Global *x, uint32_t i, const uint64_t *known)
{
    const struct Globals *g = c->globals;
    const Item *y = &c->st->items.v[i];
    bool over = set_has(known, 2 * i);
    if (in_order(c, x, y, over, set_has(known, 2 * i + 1)) || !may(c, y->buf, g->of[x->op] - 1) || !meet(c, c->agent, x, y, c->st->agents[c->agent].depth, false)) return;
    tell_tensors(c, x->op, x->write, i, over);
    refuse_told(c);
}

bool touch_global(Checker *c, const IrOp *op, uint32_t *item)
{
    State *s = c->st;
    const Agent *a = &s->agents[c->agent];
    uint32_t at = c->globals->of[code_of(c)->first + c->pc];
    bool threads = ir_by_plan((IrOpcode)op->op), each = by_each(c, op);
    const Global *g = at ? met_by(c, at - 1) : NULL;
    if (g == NULL || g->with.n == 0) return false;
    for (uint32_t i = 0; i < s->items.n; i++)
        if (s->items.v[i].kind == ITEM_ACCESS && s->items.v[i].space == global_space(c)) check_order(c, g, i, set_of(c, s, c->agent, each ? KNOWN_EACH : KNOWN_ONE));
    Item x = {.kind = ITEM_ACCESS, .write = g->write, .async = !threads, .generic = g->write ? GLOBALLY : 0, .op = g->op};
    x.space = (uint16_t)global_space(c), x.buf = (uint16_t)(at - 1), x.agent = (uint16_t)c->agent;
    for (uint32_t i = 0; i < a->depth && i < LEVELS; i++) {
        x.turn[i][0] = s->frames[a->frames + i].at;
        x.turn[i][1] = num_plus(&c->n, x.turn[i][0], 1);
    }
    *item = item_new(c, x);
    if (threads) set_add(set_of(c, s, c->agent, each ? MINE : KNOWN_ONE), 2 * *item);
    return true;
}
