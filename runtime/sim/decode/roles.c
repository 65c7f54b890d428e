/* Which role's code an op is: found by the ways that lead to it, not by the order of the text, so that code behind the
 * roles, where they meet again, belongs to none of them. */
#include <string.h>

#include "runtime/sim/decode/decode.h"

typedef struct Reach { /* of an op: how threads come to it */
    bool reached, joined;
    const char *role;
} Reach;

typedef struct Flow {
    const SimOp *ops;
    const char *const *mark;
    Reach *at;
    uint32_t *todo;
    uint32_t ntodo, n;
} Flow;

static bool same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* A way with this role leads to op i. Each op changes twice at most. */
static void reach(Flow *f, int64_t i, const char *role, bool joined)
{
    if (i < 0 || i >= f->n) return;
    Reach *r = &f->at[i], old = *r;
    if (f->mark[i]) *r = (Reach){.reached = true, .role = f->mark[i]};
    else if (!r->reached) *r = (Reach){.reached = true, .joined = joined, .role = role};
    else if (joined || !same(r->role, role)) *r = (Reach){.reached = true, .joined = true};
    if (old.reached && old.joined == r->joined) return;
    f->todo[f->ntodo++] = (uint32_t)i;
}

static void go_on(Flow *f, uint32_t i)
{
    const SimOp *op = &f->ops[i];
    const Reach r = f->at[i];
    if (op->code == SIM_BRA) reach(f, op->imm, r.role, r.joined);
    for (uint32_t k = 0; op->code == SIM_BRX && k < op->extra; k++) reach(f, op->imm + k, r.role, r.joined);
    bool ends = op->code == SIM_BRA || op->code == SIM_BRX || op->code == SIM_EXIT;
    if (!ends || op->guard) reach(f, (int64_t)i + 1, r.role, r.joined);
}

void decode_roles(Arena *a, const SimOp *ops, uint32_t n, const char *const *mark, SimPlace *places)
{
    Flow f = {.ops = ops, .mark = mark, .n = n};
    f.at = arena_array(a, Reach, n);
    f.todo = arena_array(a, uint32_t, 2 * (size_t)n + 2);
    reach(&f, 0, NULL, false);
    while (f.ntodo) go_on(&f, f.todo[--f.ntodo]);
    for (uint32_t i = 0; i < n; i++) {
        places[i].role = f.at[i].role;
        places[i].joined = f.at[i].joined;
    }
}
