/* Maps that the device makes: what the IR promises about them by its form.
 *
 * A slot whose bit is set in the variable holds the map that map.set would make now: between the two nothing that the map
 * is made of changes. For that the variable is set to 0 in a block in which, or around which, all operands of map.set are
 * defined, before it: whenever one of them gets another value, all slots have become stale in between. */
#include "lower/ir/checker.h"

#include "lang/lang.h"

static const IrBuf *buf_of(const Checker *c, const IrOp *op, IrKey key)
{
    const IrArg *arg = ir_find(op, key);
    return arg && arg->kind == IRA_BUF ? &c->k->bufs.v[arg->id] : NULL;
}

static void find_fresh(Checker *c)
{
    for (uint32_t b = 0; b < ir_bodies(c->k); b++) {
        const IrRole *r = ir_body(c->k, b);
        for (uint32_t i = 0; i < r->ops.n; i++) {
            const IrArg *x = r->ops.v[i].op == IR_MAP_SET ? ir_find(&r->ops.v[i], IRK_VAR) : NULL;
            if (x && x->kind == IRA_VAR && x->id < c->k->vars.n) c->fresh[x->id] = true;
        }
    }
}

void check_map_buffers(Checker *c)
{
    const IrKernel *k = c->k;
    uint64_t room = 0, at = 0;
    for (uint32_t i = 0; i < k->mf.params.n; i++)
        if (k->mf.params.v[i].kind == MF_PARAM_MAPS) room = k->mf.params.v[i].index;
    for (uint32_t i = 0; i < k->bufs.n; i++) {
        const IrBuf *b = &k->bufs.v[i];
        if (!b->maps) continue;
        c->any_maps = true;
        if (b->bytes != IR_MAP_BYTES || b->pitch != IR_MAP_BYTES || b->align != IR_MAP_BYTES || b->slots > 64)
            check_fail_kernel(c, "%s holds maps: up to 64 slots of 128 bytes", b->name);
        else if (b->offset < at || b->offset + (uint64_t)b->slots * IR_MAP_BYTES > room)
            check_fail_kernel(c, "maps %s overlap others, or lie outside the room for them", b->name);
        at = b->offset + (uint64_t)b->slots * IR_MAP_BYTES;
    }
    c->fresh = arena_array(c->arena, bool, k->vars.n);
    if (c->any_maps) find_fresh(c);
}

/* Whether everything that op `at` is made of is there when op `reset`, in front of it, is done, or is defined behind it in the
 * same block: anew, where that block runs again. */
static bool made_with(const Checker *c, uint32_t reset, uint32_t at)
{
    const IrOp *op = &c->role->ops.v[at];
    uint32_t depth = 0; /* of blocks between the reset's and op i */
    bool ok = true;
    for (uint32_t i = reset + 1; i < at && ok; i++) {
        const IrOp *o = &c->role->ops.v[i];
        if (o->op == IR_END || o->op == IR_ELSE) {
            if (depth == 0) return false; /* the reset's block ends before op */
            depth--;
        }
        for (uint32_t j = 0; j < op->nargs && o->dst && depth; j++)
            ok = ok && !(op->args[j].kind == IRA_VAL && op->args[j].key != IRK_SLOT && op->args[j].id == o->dst);
        if (ir_opens_block(o->op)) depth++;
    }
    return ok;
}

static bool sets_zero(const IrOp *op, uint32_t var)
{
    const IrArg *v = op->op == IR_VAR || op->op == IR_SET ? ir_find(op, IRK_VAR) : NULL;
    const IrArg *a = v && v->id == var ? ir_find(op, IRK_A) : NULL;
    return a && a->kind == IRA_IMM && a->imm == 0 && op->guard.pred == 0 && !op->elect;
}

/* One map, one set of slots, one role per buffer of maps. */
static void check_alone(Checker *c, const IrOp *op)
{
    uint32_t buf = ir_find(op, IRK_DST)->id, var = ir_find(op, IRK_VAR)->id, map = ir_find(op, IRK_MAP)->id;
    for (uint32_t b = 0; b < ir_bodies(c->k); b++) {
        const IrRole *r = ir_body(c->k, b);
        for (uint32_t i = 0; i < r->ops.n; i++) {
            const IrOp *o = &r->ops.v[i];
            const IrArg *dst = ir_find(o, IRK_DST), *x = ir_find(o, IRK_VAR), *m = ir_find(o, IRK_MAP),
                        *desc = ir_find(o, IRK_DESC);
            bool same = o->op == IR_MAP_SET && dst && dst->id == buf;
            if (o->op == IR_MAP_SET && x && (x->id == var) != same)
                check_fail(c, "two buffers of maps with one set of slots");
            if (same && (b != c->body || !x || x->id != var || !m || m->id != map))
                check_fail(c, "a buffer of maps is made from one map, in one role");
            if (desc && desc->kind == IRA_BUF && desc->id == buf && (b != c->body || !m || m->id != map))
                check_fail(c, "a copy by another map, or of another role");
        }
    }
}

void check_map_set(Checker *c, const IrOp *op)
{
    const IrBuf *dst = buf_of(c, op, IRK_DST), *cell = buf_of(c, op, IRK_SRC);
    const MfMap *m = &c->k->mf.maps.v[ir_find(op, IRK_MAP)->id];
    const IrArg *first;
    uint32_t var = ir_find(op, IRK_VAR)->id;
    if (c->body == 0 || c->body > c->k->roles.n || c->role->elect || !op->elect)
        check_fail(c, "is done by the first warp of a role");
    if (op->guard.pred) check_fail(c, "has a guard");
    if (!dst->maps || cell->maps || cell->bytes < IR_MAP_BYTES)
        check_fail(c, "is made in a cell, for a buffer of maps");
    if (m->mode != MAP_TILED || m->type >= MAP_U4_ALIGN8 || m->interleave)
        check_fail_operand(c, IRK_MAP, "is of a kind that the device does not make");
    if (ir_list(op, IRK_DIMS, &first) != m->rank || ir_list(op, IRK_PITCHES, &first) + 1 != m->rank)
        check_fail(c, "has not the rank of the map");
    if (c->k->vars.v[var].type != IR_I64) check_fail_operand(c, IRK_VAR, "is no i64");
    check_alone(c, op);
    for (uint32_t i = 0; i < c->at; i++)
        if (sets_zero(&c->role->ops.v[i], var) && made_with(c, i, c->at)) return;
    check_fail(c, "a fresh slot may hold a map made of other values");
}

void check_map_use(Checker *c, const IrOp *op)
{
    for (uint32_t i = 0; i < op->nargs; i++) {
        const IrArg *arg = &op->args[i];
        if (arg->kind == IRA_BUF && c->k->bufs.v[arg->id].maps) {
            bool ok = arg->key == IRK_DESC || (op->op == IR_MAP_SET && arg->key == IRK_DST);
            if (!ok || ir_part(op, arg, IRK_OFFSET)) {
                const IrArg *at = ir_part(op, arg, IRK_OFFSET);
                if (!ok || at->kind != IRA_IMM || at->imm != 0) check_fail(c, "a buffer of maps is no tile");
            }
        }
        if (arg->key == IRK_DESC && arg->kind == IRA_BUF && !c->k->bufs.v[arg->id].maps)
            check_fail(c, "a tile is no map");
        if (arg->kind == IRA_VAR && op->op != IR_MAP_SET && c->fresh[arg->id] && !sets_zero(op, arg->id))
            check_fail(c, "a set of slots is only set to 0");
    }
}
