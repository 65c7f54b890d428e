/* Iterations that make one turn together. A role goes through a batch iteration by iteration; where its threads work on
 * tiles, statement by statement instead: each of them at once for the tiles of all iterations, which lie one behind the
 * other in a slot, so that a batch has as many synchronisations of threads as one iteration. The iterations write different
 * bytes (rule G) and each has tiles of its own; others they only read. So the order of theirs does not matter.
 */
#include "lower/schedule/schedule.h"

static bool works(const PStmt *st)
{
    return st->kind == P_MOVE && move_by_threads(st->move); /* none moves to or from a tensor: rings.c */
}

/* The same part of a tile in each iteration, with room for one more dimension; of tiles that lie without gaps where swizzled
 * patterns or panels run through them. */
static bool alike(const Lower *L, const MoveInfo *mi)
{
    const IrBuf *b = &L->ir->bufs.v[mi->tile->index];
    int64_t k;
    int n = 0;
    for (int i = 0; i < mi->tile->rank; i++) n += mi->s->dim[i].marked;
    bool plain = mi->tile->swizzle == MAP_SWIZZLE_NONE, one = mi->s->slot == NULL || mi->s->slot->op == SX_CONST;
    return one && poly_is_const(mi->offset, &k) && n < MAP_RANK && (plain || b->bytes == b->pitch);
}

static bool own(const Sched *s, const Pipe *p, const PTile *tile)
{
    return s->rings[tile->index].turn == &p->st->body;
}

uint32_t batch_pitch(const Lower *L, const Pipe *p, const PTile *tile)
{
    return own(L->sched, p, tile) ? L->sched->rings[tile->index].pitch : 0;
}

void batch_find(Lower *L)
{
    Sched *s = L->sched;
    for (uint32_t i = 0; i < s->pipes.n; i++) {
        Pipe *p = s->pipes.v[i];
        bool any = false, all = p->batch > 1 && !p->use->sets;
        FOR_MOVES_OF(s, p->use, m) {
            if (!all || !works(m->st)) continue;
            any = true;
            all = m->st->move->value_sx == NULL && alike(L, &m->mi) && alike(L, m->other) && own(s, p, m->other->tile);
        }
        p->whole = any && all;
    }
}

/* ---- a turn ---- */

/* One iteration after the other. */
static void singly(Lower *L, Pipe *p, const BodyPart *part)
{
    Opnd first = emit_op(L, IR_MUL, IR_I64, L->sched->id, opnd_imm(p->batch)), g = emit_each(L, p->batch);
    Opnd at = emit_op(L, IR_ADD, IR_I64, first, emit_cvt(L, IR_I64, g));
    L->inside = emit_cmp(L, IRL_LT, at, emit_param(L, p->total));
    L->batch_index = g;
    deal_indices(L, p, at);
    walk_turn(L, p->st, p, part);
    L->inside = opnd_imm(1);
    L->batch_index = opnd_imm(0);
    emit_end(L);
}

/* The next statements of the working role that are of one kind; false: there are no more. */
static bool next_part(const Sched *s, const PStmt *from, BodyPart *part)
{
    *part = (BodyPart){0};
    for (const PStmt *st = from; st; st = st->next) {
        if (st->kind != P_MOVE || s->moves.v[st->id]->agent != AG_WORK) continue;
        if (part->first && part->together != works(st)) {
            part->end = st;
            return true;
        }
        if (part->first == NULL) *part = (BodyPart){.first = st, .together = works(st)};
    }
    return part->first != NULL;
}

static void in_parts(Lower *L, Pipe *p)
{
    BodyPart part = {.end = p->st->body.first};
    while (part.end && next_part(L->sched, part.end, &part)) {
        if (part.together) {
            walk_turn(L, p->st, p, &part);
        } else {
            agent_store_sync(L);
            singly(L, p, &part);
        }
    }
}

void batch_turn(Lower *L, Pipe *p)
{
    const PBlock *b = &p->st->body;
    BodyPart all = {.first = b->first};
    FOR_AGENTS_APART(L, a)
    {
        sched_as(L, (Agent)a);
        walk_begin(L, b);
        if (p->whole && a == AG_WORK) in_parts(L, p);
        else singly(L, p, &all);
        walk_end(L, b);
    }
    sched_as(L, AG_NONE);
}
