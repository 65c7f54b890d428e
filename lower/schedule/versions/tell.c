/* What is said of a part that has no value. */
#include "lower/kernel/report.h"
#include "lower/schedule/versions/versions.h"

static bool is_whole(const Part *p, uint32_t i, int64_t extent)
{
    int64_t lo, hi;
    return p->step[i] == 1 && poly_is_const(p->lo[i], &lo) && lo == 0 && poly_is_const(p->hi[i], &hi) && hi == extent;
}

/* "t[1][32 +: 32, :]"; the name alone where it is all of the tile */
static const char *part_text(Versions *v, const PTile *t, const Part *p)
{
    Lower *L = v->L;
    const char *s = name_text(L, t->name);
    bool all = true;
    int64_t n;
    if (!is_whole(p, 0, t->slots)) s = arena_printf(L->a, "%s[%s]", s, poly_text(L, p->lo[0])); /* of an array one is read */
    for (uint32_t i = 1; i < p->n; i++) all &= is_whole(p, i, t->extent[i - 1]);
    for (uint32_t i = 1; i < p->n && !all; i++) {
        Poly n_of = poly_sub(v->d, p->hi[i], p->lo[i]);
        const char *dim = is_whole(p, i, t->extent[i - 1]) ? ":" : arena_printf(L->a, "%s +: %s", poly_text(L, p->lo[i]), poly_text(L, n_of));
        if (p->step[i] > 1 && poly_is_const(n_of, &n)) dim = arena_printf(L->a, "%s +: %lld by %lld", poly_text(L, p->lo[i]), (long long)(n / p->step[i] + 1), (long long)p->step[i]);
        s = arena_printf(L->a, "%s%s%s", s, i > 1 ? ", " : "[", dim);
    }
    return all ? s : arena_printf(L->a, "%s]", s);
}

static const Planned *any_write(const Versions *v, const PTile *t, bool first)
{
    const Sched *s = v->L->sched;
    const Planned *found = NULL;
    for (uint32_t i = 0; i < s->moves.n && !(first && found); i++)
        if (s->moves.v[i]->st->move->dst.tile == t) found = s->moves.v[i];
    return found;
}

/* Written in an iteration, read in another one; across: of that pipeline, or NULL. */
static bool of_other_iteration(Versions *v, const PRegion *r, const PStmt *across)
{
    Lower *L = v->L;
    Diags *diags = L->c->diags;
    const TileRecord *t = &v->tiles[r->tile->index];
    const Planned *write = any_write(v, r->tile, across == NULL);
    const char *name = name_text(L, r->tile->name);
    Diag *g;
    if (write == NULL) return false;
    if (across && v->across == across) {
        g = lower_error(L, E0704, r->span, "`%s` has no value of this iteration here", name);
        diag_label(diags, g, across->pipe->deal_span, "the next iteration may be another CTA's");
    } else if (across) {
        g = lower_error(L, E0610, r->span, "`%s` has no value here", name);
        diag_label(diags, g, across->pipe->deal_span, "which iteration comes last, and in which CTA, is open");
        diag_label(diags, g, write->st->move->dst.span, "written here, for an iteration only");
        diag_fix(diags, g, "read it in there, too, or write it behind that");
        diag_label(diags, g, r->tile->span, "declared here");
        return true;
    } else if (r->tile->pipe && t->lost == NULL && write->st->span.lo > r->span.lo) {
        g = lower_error(L, E0609, r->span, "`%s` has no value of this iteration here", name);
        diag_fix(diags, g, "declare it outside of the pipeline, or use `for`");
    } else {
        return false;
    }
    diag_label(diags, g, write->st->move->dst.span, "written here, for this iteration only");
    diag_label(diags, g, r->tile->span, "declared here");
    return true;
}

static const Box *of_rank(const Versions *v, const TileRecord *t, int rank)
{
    FOR_BOXES(v, t, b)
        if (b->ranks >> rank & 1 && !b->across) return b;
    return NULL;
}

/* The latest that may have to do with the part that is missing. */
static const Box *latest(Versions *v, const TileRecord *t)
{
    FOR_BOXES(v, t, b)
        if (!parts_apart(&v->missing.part, &b->part)) return b;
    return NULL;
}

static void by_guard(Versions *v, Diag *g, const Box *b, const Guard *of)
{
    Lower *L = v->L;
    Diags *diags = L->c->diags;
    if (of->st->kind == P_IF) {
        const char *cond = source_text(L, of->st->value->span);
        diag_label(diags, g, b->at->span, "written here, where `%s` %s", cond, of->other ? "does not hold" : "holds");
        diag_fix(diags, g, "write it where that %s, too, or read it only under this condition", of->other ? "holds" : "does not hold");
        return;
    }
    const char *turns = "";
    bool launch = true;
    for (int i = 0; i < b->nguards; i++) { /* each of the loops around the write, from within */
        const Guard *in = b->guard[i];
        int64_t k = 0;
        if (in->st->kind == P_IF || lit_holds(v, in->whole)) continue;
        Poly none = in->otherwise->whole.p; /* first - last - 1 >= 0 */
        launch &= !(domain_depends(v->d, none) & ~(unsigned)DEP_LAUNCH) && !poly_is_const(none, &k);
        turns = arena_printf(L->a, "%s >= 1%s%s", poly_text(L, poly_sub(v->d, poly_const(v->d, 0), none)), *turns ? ", " : "", turns);
    }
    diag_label(diags, g, b->at->span, "written here, in a loop that may have no turn");
    if (launch && *turns) diag_fix(diags, g, "read it in the loop, too, or say that there is a turn: `where %s`", turns);
    else diag_fix(diags, g, "read it in the loop, too");
}

void version_tell(Versions *v, const PStmt *st, const PRegion *r, int rank, bool adds)
{
    Lower *L = v->L;
    Diags *diags = L->c->diags;
    const TileRecord *t = &v->tiles[r->tile->index];
    const char *name = name_text(L, r->tile->name);
    const Box *some = of_rank(v, t, rank), *last = latest(v, t);
    const PStmt *across = last ? last->across : NULL;
    L->stmt = st;
    if ((across || t->last == 0) && of_other_iteration(v, r, across)) return;
    Diag *g;
    if (some == NULL && t->last) {
        g = lower_error(L, E0610, r->span, "`%s` has no value at rank %d", name, rank);
        diag_label(diags, g, r->tile->span, "nothing writes it there");
        diag_fix(diags, g, "read it under a condition that leaves this rank out, or write it there, too");
        return;
    }
    const char *at = L->cluster_size > 1 ? arena_printf(L->a, " at rank %d", rank) : "";
    const char *part = part_text(v, r->tile, &v->missing.part);
    if (some == NULL) g = lower_error(L, E0610, r->span, "`%s` has no value here%s%s", name, at, adds ? ", to which this could be added" : "");
    else if (strcmp(part, name) == 0) g = lower_error(L, E0610, r->span, "`%s` may have no value here%s", name, at);
    else g = lower_error(L, E0610, r->span, "a part of `%s` may have no value here%s: `%s`", name, at, part);
    if (v->missing.guard) {
        by_guard(v, g, v->missing.box, v->missing.guard);
    } else if (t->lost) {
        diag_label(diags, g, t->lost_at->span, "%s", t->lost);
        diag_fix(diags, g, "%s", t->lost_fix);
    } else if (some) {
        diag_label(diags, g, some->at->span, "this part is written");
        diag_fix(diags, g, "write the rest before, or read only what is written");
    } else if (r->peer) {
        diag_fix(diags, g, "load it first, in each CTA that this comes to");
    } else if (r->tile->tensor) { /* it has no `fill` */
        diag_fix(diags, g, "move something into it before, on every way that leads here");
    } else {
        diag_fix(diags, g, "move something into it before, or `fill %s = 0;`", name);
    }
    diag_label(diags, g, r->tile->span, "declared here");
}
