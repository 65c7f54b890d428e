/* Copies to and from one tensor by one cluster: ordered, or apart in all turns, and with a fence where a load reads what was stored. A copy
 * becomes an item for those turns of its loops of which somebody may not know that they are over; one that meets no other in any turns, none. Whether
 * stores meet that neither certainly do nor certainly not, rule G says, which sees the program. */
#include <string.h>

#include "lang/lang.h"
#include "lower/ir/ops.h"
#include "lower/verify/states/say/report.h"

typedef struct Global {
    uint32_t op, body;
    bool write, any_order;
    uint64_t tensors; /* a bit each */
    uint16_t red;     /* kind of reduction; 0: none */
} Global;
struct Globals {
    VEC(Global) all;
    uint32_t *of; /* by op, by number: + 1; 0: it touches none of which anybody asks */
    bool *may;    /* by two of them: they may meet */
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
        loaded |= ir_find(c->op[i], IRK_FROM) && tensors_of(c, c->op[i], false) ? UINT64_MAX : tensors_of(c, c->op[i], false);
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
            if (x.tensors) vec_push(c->arena, &g->all, x);
        }
}

/* ---- which may meet ---- */

/* Of two stores, and where the program's order is not the schedule's (rule G has told which loads and stores meet there), only what certainly
 * meets is asked for. */
static bool certain(const Checker *c, const Global *x, const Global *y)
{
    return (x->write && y->write) || c->k->tree.ops.n;
}

static bool harmless(const Checker *c, const Global *x, const Global *y)
{
    bool order = !(x->any_order || y->any_order) || !certain(c, x, y);
    return !(x->tensors & y->tensors) || !(x->write || y->write) || (x->red && x->red == y->red) || !order;
}

static bool may_meet(Checker *c, const Global *x, const Global *y)
{
    Asked q = {.op = {x->op, y->op}};
    if (harmless(c, x, y)) return false;
    for (q.cta[0] = 0; q.cta[0] < c->nctas; q.cta[0]++)
        for (q.cta[1] = 0; q.cta[1] < c->nctas; q.cta[1]++)
            if (ask_places(c, &q, false)) return true;
    return false;
}

static void find_meetings(Checker *c, struct Globals *g)
{
    uint32_t n = g->all.n;
    g->may = arena_array(c->arena, bool, (size_t)n *n + 1);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j <= i; j++) {
            if (!may_meet(c, &g->all.v[i], &g->all.v[j])) continue;
            g->may[i * n + j] = g->may[j * n + i] = true;
            g->of[g->all.v[i].op] = i + 1;
            g->of[g->all.v[j].op] = j + 1;
        }
}

void global_prepare(Checker *c)
{
    struct Globals *g = c->globals = arena_new(c->arena, struct Globals);
    g->of = arena_array(c->arena, uint32_t, c->nops + 1);
    places_prepare(c);
    find_all(c, g);
    find_meetings(c, g);
}

/* ---- turns ---- */

static bool below(Checker *c, Num x, Num y) /* x <= y */
{
    return facts_imply(&c->n, &c->st->facts, num_add(&c->n, y, -1, x));
}

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
    return meet_from(c, &q, 0, certain(c, x, &c->globals->all.v[y->buf]));
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

static bool knows(const Checker *c, uint32_t a, uint32_t i)
{
    bool all = true;
    for (uint32_t k = KNOWN_ONE; k <= (c->st->agents[a].many ? KNOWN_EACH : KNOWN_ONE); k++) {
        const uint64_t *set = set_of(c, c->st, a, k);
        all &= set_has(set, 2 * i) && (!c->st->items.v[i].write || set_has(set, 2 * i + 1));
    }
    return all;
}

bool global_over(Checker *c, uint32_t i)
{
    const struct Globals *g = c->globals;
    const Item *y = &c->st->items.v[i];
    for (uint32_t a = 0; a < c->nagents; a++)
        for (uint32_t j = 0; j < g->all.n && !c->st->agents[a].done && !knows(c, a, i); j++) {
            const Global *x = &g->all.v[j];
            if (x->body == c->st->agents[a].body && g->may[y->buf * g->all.n + j] && meet_later(c, a, x, y)) return false;
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
    if (now[0] == 0 || (was[0] && below(c, now[1], was[0]))) return false; /* the other way round */
    bool behind = was[0] && below(c, was[1], now[0]);
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
    bool over = set_has(known, 2 * i), fenced = !y->write || x->write || ir_by_plan((IrOpcode)c->op[x->op]->op) || set_has(known, 2 * i + 1);
    if (!g->may[y->buf * g->all.n + (g->of[x->op] - 1)] || (over && fenced) || !meet(c, c->agent, x, y, c->st->agents[c->agent].depth, false)) return;
    tell_tensors(c, x->op, x->write, i, over);
    refuse_told(c);
}

bool touch_global(Checker *c, const IrOp *op, uint32_t *item)
{
    State *s = c->st;
    const Agent *a = &s->agents[c->agent];
    uint32_t at = c->globals->of[code_of(c)->first + c->pc];
    bool threads = ir_by_plan((IrOpcode)op->op), each = by_each(c, op);
    if (at == 0) return false;
    const Global *g = &c->globals->all.v[at - 1];
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
