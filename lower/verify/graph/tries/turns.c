/* Whether the runs gave each loop the turns that tell of longer ones. What one loop chooses decides the trip counts of
 * others, too: `n - 4` turns where `n` were chosen, or 2 .. k in turn k of a loop around. Where such a loop had too few,
 * all choices get values that are as much greater, and the runs are done again. After all of them every loop has had
 * 2 S + 1 turns in one, or as many as any launch has.
 */
#include "lang/checked.h"
#include "lower/verify/graph/tries/tries.h"
#include "lower/verify/graph/unroll/unroll.h"

enum { PARTS_FUEL = 32 };

void turns_prepare(Verifier *v)
{
    v->turns = arena_array(v->arena, Turns, v->nops + 1);
}

void turns_begin(Verifier *v)
{
    for (uint32_t i = 0; i < v->own.n; i++) v->turns[v->own.v[i]].now = 0;
}

void turns_keep(Verifier *v)
{
    for (uint32_t i = 0; i < v->own.n; i++) {
        Turns *t = &v->turns[v->own.v[i]];
        if (t->now > t->most) t->most = t->now;
    }
}

/* ---- the most turns ---- */

/* No value of x is greater: `k + 1 - max(0, k - 3)` is at most k + 1 and at most 4. */
static int64_t upper_of(Verifier *v, Form x, int *fuel)
{
    if (x == 0 || --*fuel < 0) return INT64_MAX;
    int64_t upper = form_data(&v->f, x)->hi;
    if (upper == INT64_MIN) upper = INT64_MAX;
    for (uint32_t i = 0; i < form_data(&v->f, x)->n; i++) {
        FormTerm t = form_data(&v->f, x)->t[i];
        FormAtom a = *atom_data(&v->f, t.atom);
        if (!atom_extreme(&a)) continue;
        Form rest = form_add(&v->f, x, -t.c, form_of_atom(&v->f, t.atom));
        int64_t one = upper_of(v, rest ? form_add(&v->f, rest, t.c, a.a) : 0, fuel),
                other = upper_of(v, rest ? form_add(&v->f, rest, t.c, a.b) : 0, fuel);
        bool least = (a.sub == IR_MIN) == (t.c > 0), first = one < other;
        int64_t part = least == first ? one : other;
        if (part < upper) upper = part;
    }
    return upper;
}

void turns_loop(Verifier *v, uint32_t op, int64_t turns)
{
    int fuel = PARTS_FUEL;
    Turns *t = &v->turns[op];
    Form lo = run_whole(v, v->operands[op].a).plain, hi = run_whole(v, v->operands[op].b).plain;
    int64_t upper = upper_of(v, form_add(&v->f, hi, -1, lo), &fuel);
    if (turns > t->now) t->now = turns;
    if (upper > t->upper) t->upper = upper;
}

void turns_repeat(Verifier *v, uint32_t op, int64_t turns, bool certain)
{
    Turns *t = &v->turns[op];
    if (turns > t->now) t->now = turns;
    if (certain && v->now->depth == 1) t->upper = turns > t->upper ? turns : t->upper;
    else if (turns >= t->left) t->left = turns + 1;
}

/* ---- after all runs ---- */

static bool too_few(const Verifier *v, uint32_t loop, int64_t *least)
{
    const Turns *t = &v->turns[loop];
    int64_t all = 2 * (int64_t)v->ring + 1;
    *least = t->upper < all && t->upper >= t->left ? t->upper : all;
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
