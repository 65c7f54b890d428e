/* Repeats end. What ends one is the answer to a draw, of the kernel's counter of tickets or of the grid's clusters.
 *
 * A counter is one for all teams and starts again at 0 after as many draws as ticket.next says. Each thread looks at its
 * ticket before it draws the next one, and is done at the first one that is not below a bound F. So the teams draw each of
 * the F tickets below it once and one more each: F + teams draws. Are these as many as ticket.next says, no ticket comes
 * twice, every team gets one that ends it, and the counter is 0 again.
 * A cluster is drawn once, and there are so many of them; then the answer is -1, which ends the repeat. Nobody who has
 * seen it asks again (PTX ISA, clusterlaunchcontrol.try_cancel: that is undefined).
 */
#include "lower/verify/graph/unroll/unroll.h"

void repeat_draw(Verifier *v, uint32_t op, Form value, Form draws)
{
    const Thread *t = v->now;
    for (uint32_t i = v->draws.n; i-- > 0;) {
        const Draw *d = &v->draws.v[i];
        if (d->thread != t->id || d->seen) continue;
        Diag *g = verify_refuse(v, E0780, op, "this %s comes before a break has looked at the answer to the last one",
                                verify_op_text(v, op));
        verify_also(v, g, d->op, "the last one");
        return;
    }
    for (uint32_t i = 0; i < v->draws.n; i++) {
        const Draw *d = &v->draws.v[i];
        if (d->op == op && d->draws == draws) continue;
        Diag *g = verify_refuse(v, E0782, op, d->op == op ? "the number of draws is not the same each time"
                                                          : "a kernel draws at one place only");
        verify_also(v, g, d->op, "another draw");
        return;
    }
    vec_push(&v->run, &v->draws,
             ((Draw){.op = op, .thread = t->id, .rank = t->rank, .atom = form_data(&v->f, value)->t[0].atom, .draws = draws}));
}

/* The draw whose answer is a term of x; what else there is goes to *rest. */
static Draw *drawn(Verifier *v, Form x, int64_t *sign, Form *rest)
{
    const FormData *d = form_data(&v->f, x);
    for (uint32_t i = 0; i < d->n; i++) {
        for (uint32_t j = v->draws.n; j-- > 0;) {
            Draw *w = &v->draws.v[j];
            if (w->atom != d->t[i].atom) continue;
            *sign = d->t[i].c;
            *rest = form_add(&v->f, x, -*sign, form_of_atom(&v->f, w->atom));
            return *rest && (*sign == 1 || *sign == -1) ? w : NULL;
        }
    }
    return NULL;
}

bool repeat_test(Verifier *v, uint32_t op, uint32_t pred, bool truth, bool any)
{
    FormAtom a = *atom_data(&v->f, pred);
    int64_t sign = 0;
    Form rest = 0, one = form_const(&v->f, 1);
    Draw *d = a.kind == ATOM_GT0 ? drawn(v, a.a, &sign, &rest) : NULL;
    bool upward = d && truth == (sign == 1); /* it is true from an answer on, not up to one */
    if (d == NULL && any) return true;
    if (d && d->draws == 0 && !upward) { /* up to -1 */
        Form last = sign == 1 ? form_add(&v->f, form_const(&v->f, 0), -1, rest) : form_add(&v->f, rest, -1, one);
        d->seen |= d->thread == v->now->id;
        if (form_is(&v->f, last, -1)) return true;
    } else if (d && d->draws && upward) {
        d->seen |= d->thread == v->now->id;
        Form bound = sign == 1 ? form_add(&v->f, one, -1, rest) : rest;
        if (bound) vec_push(&v->run, &v->bounds, ((Bound){op, bound, d->draws}));
        if (bound) return true;
    }
    Diag *g = verify_refuse(v, E0781, op, "nothing shows that this break is ever reached with a true condition: it does not "
                                          "come with the %s of a draw",
                            d && d->draws == 0 ? "answer -1" : "higher tickets");
    if (d) verify_also(v, g, d->op, "the draw");
    return false;
}

void repeat_over(Verifier *v, uint32_t op)
{
    for (uint32_t i = 0; i < v->draws.n; i++) {
        Draw *d = &v->draws.v[i];
        if (d->thread != v->now->id || d->seen) continue;
        d->seen = true;
        if (d->draws) vec_push(&v->run, &v->bounds, ((Bound){op, form_const(&v->f, 0), d->draws}));
    }
}

static bool is_number(const Verifier *v, Lx x, int64_t k)
{
    const LxNode *n = x ? &v->k->mf.lx.nodes.v[x - 1] : NULL;
    return n && n->op == LX_CONST && n->k == k;
}

/* The grid has clusters along x only. */
static bool repeat_in_row(const Verifier *v)
{
    const MfKernel *mf = &v->k->mf;
    return is_number(v, mf->grid[1], mf->cluster[1]) && is_number(v, mf->grid[2], mf->cluster[2]);
}

/* Teams draw side by side: how many threads of a grid do. 0: not known. */
static Form drawing(Verifier *v)
{
    uint32_t ranks = 0;
    for (uint32_t i = 0; i < v->draws.n; i++) ranks |= UINT32_C(1) << v->draws.v[i].rank;
    if (!repeat_in_row(v)) return 0;
    Form clusters = form_atom(&v->f, (FormAtom){.kind = ATOM_SREG, .a = IRR_NCTAID_X});
    return form_add(&v->f, form_const(&v->f, 0), __builtin_popcount(ranks), clusters);
}

void check_draws(Verifier *v)
{
    for (uint32_t i = 0; i < v->draws.n && !v->failed; i++)
        if (!v->draws.v[i].seen)
            verify_refuse(v, E0780, v->draws.v[i].op, "the kernel ends before a break has looked at the answer to this %s",
                          verify_op_text(v, v->draws.v[i].op));
    Form teams = v->bounds.n ? drawing(v) : 0;
    for (uint32_t i = 0; i < v->bounds.n && !v->failed; i++) {
        const Bound *b = &v->bounds.v[i];
        Form all = teams ? form_add(&v->f, b->below, 1, teams) : 0;
        Form more = all ? form_add(&v->f, all, -1, b->draws) : 0;
        if (more && form_data(&v->f, more)->lo == 0 && form_data(&v->f, more)->hi == 0) continue;
        Diag *g = verify_refuse(v, E0782, b->op, "the tickets that do not end this loop, and one for each team, are not as many "
                                                 "as ticket.next counts before it starts again");
        verify_also(v, g, v->draws.n ? v->draws.v[0].op : b->op, "the draw");
    }
}
