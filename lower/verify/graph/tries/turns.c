/* Whether the runs gave each loop the turns that tell of longer ones. What one loop chooses decides the trip counts of
 * others, too: `n - 4` turns where `n` were chosen, or 2 .. k in turn k of a loop around. Where such a loop had too few,
 * all choices get values that are as much greater, and the runs are done again. After all of them every loop has had
 * 2 S + 1 turns in one, or as many as any launch has.
 */
#include "lower/verify/graph/tries/tries.h"
#include "lower/verify/graph/unroll/unroll.h"

/* So many tell of all longer loops. */
static int64_t all_turns(const Verifier *v)
{
    return 2 * (int64_t)v->ring + 1;
}

void turns_begin(Verifier *v)
{
    for (uint32_t i = 0; i < v->own.n; i++) v->turns[v->own.v[i]].now = -1;
}

void turns_keep(Verifier *v)
{
    for (uint32_t i = 0; i < v->own.n; i++) {
        Turns *t = &v->turns[v->own.v[i]];
        if (t->now > t->most) t->most = t->now;
    }
}

/* ---- the most turns ---- */

void turns_loop(Verifier *v, uint32_t op, int64_t turns)
{
    Turns *t = &v->turns[op];
    Form lo = run_whole(v, v->operands[op].a).plain, hi = run_whole(v, v->operands[op].b).plain;
    Form all = form_add(&v->f, hi, -1, lo);
    int64_t most = all_turns(v);
    if (all == 0 && v->chosen[op] && loop_own_count(v, op) && !v->few) {
        Diag *g = verify_refuse(v, E0660, op, "how often this loop runs is known only in the runs that were tried: a variable was set to what follows from another loop's turns");
        if (g) diag_fix(v->diags, g, "work the number of turns out in one expression, without the variable");
    }
    roles_loop(v, op, all, turns);
    if (!v->chosen[op]) return;
    if (turns > t->now) t->now = turns;
    if (turns < t->least || t->ring != v->ring) t->least = turns, t->ring = v->ring;
    if (!form_le(&v->f, all, form_const(&v->f, most - 1))) t->upper = most;
    while (t->upper < most && !form_le(&v->f, all, form_const(&v->f, t->upper))) t->upper++;
}

/* ---- after all runs ---- */

static bool too_few(const Verifier *v, uint32_t loop, int64_t *least)
{
    const Turns *t = &v->turns[loop];
    int64_t all = all_turns(v);
    *least = t->upper < all ? t->upper : all;
    return v->chosen[loop] && t->most < *least;
}

bool turns_more(Verifier *v)
{
    int64_t least, lack = 0;
    for (uint32_t i = 0; i < v->nops && !v->failed; i++)
        if (too_few(v, i, &least) && least - v->turns[i].most > lack) lack = least - v->turns[i].most;
    return lack && choice_longer(v, lack);
}

void turns_check(Verifier *v)
{
    int64_t least;
    for (uint32_t i = 0; i < v->nops && !v->failed; i++) {
        if (!too_few(v, i, &least)) continue;
        Diag *g = verify_refuse(v, E0660, i,
                                "this loop has at most %lld turns in the runs that were tried; what longer loops do "
                                "shows after %lld",
                                (long long)v->turns[i].most, (long long)least);
        if (g)
            diag_note(
                v->diags, g, (Span){0, 0},
                "its trip count is made from that of another loop, or from its turns, and no run gives it as many");
    }
}
