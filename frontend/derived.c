/* Whose schedule is derived: kernels with pipelines, clusters, work by threads, tensor memory or views that are made at run
 * time, outside of `roles`. */
#include "frontend/prog.h"

static const PStmt *block_wants(const PBlock *b)
{
    for (const PStmt *s = b->first; s; s = s->next) {
        const PMove *m = s->kind == P_MOVE ? s->move : NULL;
        if (s->kind == P_PIPELINE) return s;
        if (m && (m->kind == MOVE_SHARED || m->kind == MOVE_PEER || m->kind == MOVE_FILL || m->kind >= MOVE_TMEM_CP || m->dst.peer || m->cast))
            return s;
        const PStmt *inside = block_wants(&s->body);
        if (inside == NULL) inside = block_wants(&s->other);
        if (inside) return inside;
    }
    return NULL;
}

static bool by_hand(const PBlock *b)
{
    for (const PStmt *s = b->first; s; s = s->next) {
        bool explicit_sync = s->kind == P_WAIT || s->kind == P_WAIT_GROUP || s->kind == P_ARRIVE || s->kind == P_EXPECT ||
                             s->kind == P_GROUP || s->kind == P_ROLES || (s->kind == P_MOVE && s->move->commit != COMMIT_DERIVED);
        if (explicit_sync || by_hand(&s->body) || by_hand(&s->other)) return true;
    }
    return false;
}

/* A view that is made at run time: maps for it are made by a warp. */
static const PStmt *makes_view(const PBlock *b)
{
    const PStmt *found = NULL;
    for (const PStmt *s = b->first; s && !found; s = s->next) {
        found = s->kind == P_VIEW ? s : makes_view(&s->body);
        if (!found) found = makes_view(&s->other);
    }
    return found;
}

static const PStmt *first_move(const PBlock *b)
{
    const PStmt *found = NULL;
    for (const PStmt *s = b->first; s && !found; s = s->next) {
        found = s->kind == P_MOVE ? s : first_move(&s->body);
        if (!found) found = first_move(&s->other);
    }
    return found;
}

const PStmt *agents_wanted(const PKernel *k)
{
    const PStmt *s = block_wants(&k->body); /* bodies of `roles` are no part of it: their protocol is written by hand */
    return s || by_hand(&k->body) ? s : makes_view(&k->body);
}

const PStmt *derived_wanted(const PKernel *k)
{
    const PStmt *s = agents_wanted(k);
    return s || by_hand(&k->body) ? s : first_move(&k->body);
}
