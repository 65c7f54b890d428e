/* Warnings for what is declared in a kernel and never used. A name that starts with _ says that this is meant. */
#include "frontend/check.h"

typedef struct Used {
    bool *tiles, *barriers, *maps, *policies; /* by index */
} Used;

static void move(Used *u, const PMove *m)
{
    if (m->src.tile) u->tiles[m->src.tile->index] = true; /* a tile that is only written is of no use */
    if (m->barrier) u->barriers[m->barrier->index] = true;
    if (m->map) u->maps[m->map->index] = true;
    if (m->cache) u->policies[m->cache->index] = true;
}

static void walk(Used *u, const PBlock *b)
{
    for (const PStmt *s = b->first; s; s = s->next) {
        if (s->kind == P_MOVE) move(u, s->move);
        if (s->barrier) u->barriers[s->barrier->index] = true;
        walk(u, &s->body);
        walk(u, &s->other);
        for (uint32_t i = 0; i < s->roles.n; i++) walk(u, &s->roles.v[i].body);
    }
}

static void warn(Compilation *c, bool used, Name name, Span span, const char *what)
{
    const char *text = names_text(c->names, name);
    if (!used && text[0] != '_') diag_at(c->diags, W0001, span, what, text);
}

void check_unused(Compilation *c, const PKernel *k)
{
    Used u = {.tiles = arena_array(c->scratch, bool, k->tiles.n),
              .barriers = arena_array(c->scratch, bool, k->barriers.n),
              .maps = arena_array(c->scratch, bool, k->maps.n),
              .policies = arena_array(c->scratch, bool, k->policies.n)};
    walk(&u, &k->body);
    for (uint32_t i = 0; i < k->unused.n; i++)
        warn(c, false, k->unused.v[i].name, k->unused.v[i].span, "nothing uses `%s`");
    for (uint32_t i = 0; i < k->tiles.n; i++)
        warn(c, u.tiles[i], k->tiles.v[i]->name, k->tiles.v[i]->span, "nothing reads the tile `%s`");
    for (uint32_t i = 0; i < k->barriers.n; i++)
        warn(c, u.barriers[i], k->barriers.v[i]->name, k->barriers.v[i]->span, "the barrier `%s` is not used");
    for (uint32_t i = 0; i < k->maps.n; i++)
        warn(c, u.maps[i], k->maps.v[i]->name, k->maps.v[i]->span, "no move goes through the map `%s`");
    for (uint32_t i = 0; i < k->policies.n; i++)
        warn(c, u.policies[i], k->policies.v[i]->name, k->policies.v[i]->span, "the policy `%s` is not used");
}
