/* What of the declarations of a kernel its statements use: what only branches that are left out use is no part of the kernel, and
 * what nothing uses gets a warning (a name that starts with _ says that this is meant). */
#include "frontend/check/check.h"

static void mark(PUsed *u, bool read)
{
    u->read |= read;
    u->named = true;
}

static void move(const PMove *m)
{
    if (m->src.tile) mark(&m->src.tile->used, true);
    if (m->dst.tile) mark(&m->dst.tile->used, false); /* a tile that is only written is of no use */
    if (m->barrier) mark(&m->barrier->used, true);
    if (m->cache) mark(&m->cache->used, true);
    if (m->map == NULL) return;
    mark(&m->map->used, true);
    if (m->kind == MOVE_STORE) m->map->is_store = true;
    else m->map->is_load = true;
}

static void walk(const PBlock *b)
{
    for (const PStmt *s = b->first; s; s = s->next) {
        if (s->kind == P_MOVE) move(s->move);
        if (s->barrier) mark(&s->barrier->used, true);
        walk(&s->body);
        walk(&s->other);
        for (uint32_t i = 0; i < s->roles.n; i++) walk(&s->roles.v[i].body);
    }
}

/* Keeps those of a list that are not only used where nothing happens, and numbers them. */
#define KEEP(list)                                                                                                             \
    do {                                                                                                                       \
        uint32_t kept = 0;                                                                                                     \
        for (uint32_t i = 0; i < (list).n; i++) {                                                                              \
            if ((list).v[i]->used.out && !(list).v[i]->used.named) continue;                                                   \
            (list).v[i]->index = kept;                                                                                         \
            (list).v[kept++] = (list).v[i];                                                                                    \
        }                                                                                                                      \
        (list).n = kept;                                                                                                       \
    } while (0)

void drop_left_out(PKernel *k)
{
    walk(&k->body);
    KEEP(k->tiles);
    KEEP(k->barriers);
    KEEP(k->maps);
    KEEP(k->policies);
}

static void warn(Compilation *c, bool used, Name name, Span span, const char *what)
{
    const char *text = names_text(c->names, name);
    if (!used && text[0] != '_') diag_at(c->diags, W0001, span, what, text);
}

/* Where nothing says how many CTAs there are: what asks for its number, or else a pipeline, looks as if several were meant. */
static void warn_alone(Compilation *c, const PKernel *k)
{
    const char *name = names_text(c->names, k->name);
    const PStmt *s = k->body.first;
    while (s && s->kind != P_PIPELINE) s = s->next;
    if (k->grid_uses.n) {
        Diag *g = diag_at(c->diags, W0003, k->grid_uses.v[0], "there is one CTA: kernel `%s` has no `grid`", name);
        diag_label(c->diags, g, k->span, "the kernel");
        diag_fix(c->diags, g, "say in its head how many there are, as in `grid (ceil(N, 64), ceil(M, 64))`");
    } else if (s) {
        Diag *g = diag_at(c->diags, P0008, s->pipe->span, "one CTA goes through all of this: kernel `%s` has no `grid`", name);
        diag_fix(c->diags, g, "write `across grid` behind the range, which deals its iterations to all SMs, or `grid (1)` in the kernel's head if one CTA is meant");
    }
}

void check_unused(Compilation *c, const PKernel *k)
{
    if (!k->grid_span.hi && !k->across_span.hi) warn_alone(c, k);
    for (uint32_t i = 0; i < k->unused.n; i++)
        warn(c, false, k->unused.v[i].name, k->unused.v[i].span, "nothing uses `%s`");
    for (uint32_t i = 0; i < k->tiles.n; i++)
        warn(c, k->tiles.v[i]->used.read, k->tiles.v[i]->name, k->tiles.v[i]->span, "nothing reads the tile `%s`");
    for (uint32_t i = 0; i < k->barriers.n; i++)
        warn(c, k->barriers.v[i]->used.read, k->barriers.v[i]->name, k->barriers.v[i]->span, "the barrier `%s` is not used");
    for (uint32_t i = 0; i < k->maps.n; i++)
        warn(c, k->maps.v[i]->used.read, k->maps.v[i]->name, k->maps.v[i]->span, "no move goes through the map `%s`");
    for (uint32_t i = 0; i < k->policies.n; i++)
        warn(c, k->policies.v[i]->used.read, k->policies.v[i]->name, k->policies.v[i]->span, "the policy `%s` is not used");
}
