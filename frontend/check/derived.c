/* Whose schedule is derived: kernels with pipelines, clusters, work by threads, tensor memory or views that are made at run
 * time, outside of `roles`. */
#include "frontend/prog.h"

static const PStmt *block_wants(const PBlock *b)
{
    for (const PStmt *s = b->first; s; s = s->next) {
        const PMove *m = s->kind == P_MOVE ? s->move : NULL;
        if (s->kind == P_PIPELINE) return s;
        if (m && (m->kind == MOVE_SHARED || m->kind == MOVE_PEER || m->kind == MOVE_FILL || m->kind >= MOVE_TMEM_CP || m->via == VIA_THREADS || m->dst.peer || m->cast))
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

static const PStmt *first_of(const PBlock *b, PStmtKind kind)
{
    const PStmt *found = NULL;
    for (const PStmt *s = b->first; s && !found; s = s->next) {
        found = s->kind == kind ? s : first_of(&s->body, kind);
        if (!found) found = first_of(&s->other, kind);
    }
    return found;
}

const PStmt *agents_wanted(const PKernel *k)
{
    const PStmt *s = block_wants(&k->body); /* bodies of `roles` are no part of it: their protocol is written by hand */
    return s || by_hand(&k->body) ? s : first_of(&k->body, P_VIEW); /* made at run time: maps for it are made by a warp */
}

const PStmt *derived_wanted(const PKernel *k)
{
    const PStmt *s = agents_wanted(k);
    return s || by_hand(&k->body) ? s : first_of(&k->body, P_MOVE);
}
