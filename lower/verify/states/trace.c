/* States as they come, for who wants to know why a kernel is not followed. */
#include "lower/verify/states/steps/steps.h"

static const char *atom_name(void *of, uint32_t atom)
{
    const Checker *c = of;
    return atom <= c->natoms ? c->atom_names.v[atom - 1] : arena_printf(c->arena, "#%u", atom - c->natoms);
}

static const char *text_of(Checker *c, Num x)
{
    return x ? num_text(&c->n, c->arena, x, atom_name, c) : "-";
}

static void facts(Checker *c)
{
    const State *s = c->st;
    for (uint32_t i = 0; i < s->facts.n; i++) text_printf(c->trace, "%s %s >= 0", i ? "," : " where", text_of(c, s->facts.v[i]));
    text_char(c->trace, '\n');
}

static void agents(Checker *c)
{
    const State *s = c->st;
    for (uint32_t a = 0; a < c->nagents; a++) {
        const Agent *x = &s->agents[a];
        text_printf(c->trace, "  %s of CTA %u at op %u%s", c->code.v[x->body].role->name, x->cta, x->pc, x->done ? ", done" : x->blocked ? ", waits" : "");
        for (uint32_t i = 0; i < x->depth; i++) {
            const Frame *f = &s->frames[x->frames + i];
            text_printf(c->trace, ", loop %s .. %s", text_of(c, f->at), text_of(c, f->end));
        }
        text_char(c->trace, '\n');
    }
}

static void names(Checker *c)
{
    const State *s = c->st;
    for (uint32_t i = 0; i < s->named.n; i++) {
        const Named *x = &s->named.v[i];
        text_printf(c->trace, "  %s = name %u of", text_of(c, x->num), x->class);
        for (uint32_t j = 0; j < x->nkey; j++) text_printf(c->trace, " (%s)", text_of(c, x->key[j]));
        text_char(c->trace, '\n');
    }
}

static void items(Checker *c)
{
    const State *s = c->st;
    for (uint32_t i = 0; i < s->items.n; i++) {
        const Item *x = &s->items.v[i];
        if (x->kind != ITEM_ACCESS) continue;
        text_printf(c->trace, "  %s by op %u of agent %u in space %u: %s .. %s", x->write ? "write" : "read", x->op, x->agent, x->space, text_of(c, x->lo),
                    text_of(c, x->hi));
        if (x->only) text_printf(c->trace, ", if %s", text_of(c, x->only));
        for (uint32_t j = 0; j < LEVELS && x->turn[j][0]; j++) text_printf(c->trace, ", turns %s .. %s", text_of(c, x->turn[j][0]), text_of(c, x->turn[j][1]));
        text_lit(c->trace, ", over for");
        for (uint32_t a = 0; a < c->nagents; a++)
            if (set_has(set_of(c, s, a, KNOWN_ONE), 2 * i)) text_printf(c->trace, " %u", a);
        text_char(c->trace, '\n');
    }
}

void trace_state(Checker *c, uint32_t node)
{
    if (c->trace == NULL) return;
    text_printf(c->trace, "state %u, from %d", node, (int)c->st->node);
    facts(c);
    agents(c);
    names(c);
    items(c);
}

void trace_by(Checker *c, uint32_t by, const char *how)
{
    if (c->trace) text_printf(c->trace, "  %s state %u\n", how, by);
}

void trace_stop(Checker *c)
{
    if (c->trace == NULL) return;
    text_printf(c->trace, "%s at op %u of %s of CTA %u", c->why.text, c->pc, c->code.v[c->st->agents[c->agent].body].role->name, c->st->agents[c->agent].cta);
    facts(c);
    agents(c);
}
