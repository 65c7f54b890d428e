/* What is said where accesses are not proved apart. */
#include "lower/apart/apart.h"
#include "lower/emit/values.h"
#include "lower/kernel/report.h"

/* The tensor whose elements pick the rows of `acc[idx[r +: 8], :]`. */
static const PTensor *listed_by(const TensorAccess *a)
{
    for (int d = 0; d < a->info->rank; d++)
        if (a->info->g->dim[d].rows) return a->info->g->dim[d].rows->tensor;
    return NULL;
}

void refuse_permuted(Lower *L, const TensorAccess *w, const TensorAccess *o, const char *why)
{
    const PTensor *t = base_of(w->info->tensor);
    Diag *g = lower_error(L, E0707, w->info->stmt->span,
                          "`%s` is permuted in place: other teams may still have to read what this overwrites",
                          name_text(L, t->name));
    diag_label(L->c->diags, g, o->info->stmt->span, "every team reads its own part here, but writes another one");
    if (why && *why) diag_note(L->c->diags, g, (Span){0, 0}, "%s", why);
    diag_note(L->c->diags, g, t->span, "the tensor");
    diag_fix(L->c->diags, g, "write to another tensor");
}

/* Some start is made of a variable; or of that or of data. */
static bool starts_by(Lower *L, const MoveInfo *mi, bool variable)
{
    bool any = false;
    for (int d = 0; d < mi->rank; d++) {
        const PDim *p = &mi->g->dim[d];
        any |= variable ? p->start && scalar_uses(L, p->start) & USE_VAR : !p->rows && domain_depends(L->d, mi->start[d]) & DEP_DATA;
    }
    return any;
}

/* The next one begins an element further, as if starts counted tiles: by which index; 0: no such. */
static Atom counts_tiles(Lower *L, const TensorAccess *a, int *dim)
{
    for (int d = 0; d < a->info->rank && a->info->g; d++) {
        for (int i = 0; i < a->nteam && move_width(a->info, d) > 1 && move_step(a->info, d) == 1; i++) {
            int64_t step;
            Poly rest;
            *dim = d;
            if (domain_linear(L->d, a->info->start[d], a->team[i], &step, &rest) && step == 1) return a->team[i];
        }
    }
    return 0;
}

/* What some start that data say goes round by: `c` of (idx[n] + h) % c. */
static bool goes_round(Lower *L, const MoveInfo *mi, Poly *by)
{
    Poly of;
    for (int d = 0; d < mi->rank; d++)
        if (domain_depends(L->d, mi->start[d]) & DEP_DATA && domain_remainder(L->d, mi->start[d], &of, by)) return true;
    return false;
}

static const char *distinct_text(Lower *L, const PTensor *index)
{
    return arena_printf(L->a, "state `trust distinct(%s)` if no two of its elements are equal, or `overlap any` if any order will do",
                        name_text(L, base_of(index)->name));
}

/* Some start depends on each index by which teams differ. */
static bool follows_team(Lower *L, const TensorAccess *a)
{
    bool all = a->info->g != NULL;
    for (int i = 0; i < a->nteam && all; i++) {
        bool any = false;
        for (int d = 0; d < a->info->rank; d++) any |= domain_mentions(L->d, a->info->start[d], a->team[i]);
        all = any;
    }
    return all;
}

static void fix_overlap(Lower *L, Diag *g, const TensorAccess *w, const TensorAccess *o)
{
    const char *dealt = !w->pipe ? "grid" : L->cluster_size > 1 ? "pipeline and on `cluster.rank`" : "pipeline";
    int dim = 0;
    Poly by;
    Atom tiles = w == o ? counts_tiles(L, w, &dim) : 0;
    const PTensor *index = NULL;
    for (int d = 0; d < w->info->rank && !index; d++) index = row_numbers(w->info->g->dim[d].start, w->info->g->dim[d].rows);
    const PTensor *offsets = NULL;
    for (int d = 0; d < P_RANK && w->info->tensor->run_time && !offsets; d++) offsets = w->info->tensor->place[d].idx;
    if (w->waived)
        diag_fix(L->c->diags, g, "`overlap any` is about teams, and the CTAs of a cluster are one: use two kernels, or another tensor");
    else if (w->pipe != o->pipe)
        diag_fix(L->c->diags, g, "use two kernels, or another tensor");
    else if (offsets && !trusts(L, offsets, TRUST_SORTED) && o->info->tensor->run_time)
        diag_fix(L->c->diags, g, "state `trust sorted(%s)` if no element of it is less than the one before, or `overlap any` if any order will do",
                 name_text(L, offsets->name));
    else if (has_across(L->k) && !w->pipe && !o->pipe)
        diag_fix(L->c->diags, g, "what stands beside a pipeline across the grid is done by every team: put it into the pipeline, under a "
                                 "condition on its index, or into a kernel of its own");
    else if (w->reduce >= 0 || o->reduce >= 0)
        diag_fix(L->c->diags, g, "reductions go with the same reduction only: use it for both, or two kernels");
    else if (o->write && index && !trusts(L, base_of(index), TRUST_DISTINCT))
        diag_fix(L->c->diags, g, "%s", distinct_text(L, index));
    else if (o->write && !index && !offsets && starts_by(L, w->info, true))
        diag_fix(L->c->diags, g,
                 "what variables hold is not followed: make the start of indices, as `k * 132 + cta.x` in turn k of a loop; where memory says "
                 "it, store through a view `%s[offs[i] +: n, ..]` with `trust sorted(offs)`; or write `overlap any` if any order will do",
                 name_text(L, base_of(w->info->tensor)->name));
    else if (o->write && !index && !offsets && goes_round(L, w->info, &by))
        diag_fix(L->c->diags, g,
                 "a start that goes round is followed for one place, by elements of at most 32 bits, where what is added to one is known to "
                 "lie below `%s`: say so in `where`; or write `overlap any` if any order will do",
                 poly_text(L, by));
    else if (o->write && !index && !offsets && starts_by(L, w->info, false))
        diag_fix(L->c->diags, g,
                 "let the start depend on every index of the %s; where memory says it, store through a view `%s[offs[i] +: n, ..]` with "
                 "`trust sorted(offs)`; or write `overlap any` if any order will do",
                 dealt, name_text(L, base_of(w->info->tensor)->name));
    else if (tiles)
        diag_fix(L->c->diags, g, "starts count elements, of which a part has %lld here: `%s * %lld`", (long long)move_width(w->info, dim),
                 poly_text(L, poly_atom(L->d, tiles)), (long long)move_width(w->info, dim));
    else if (o->write && w == o && follows_team(L, w))
        diag_fix(L->c->diags, g,
                 "let each index of the %s move the start by steps as long as what is written for one of it, such as `%s * n + k` in turn k of a loop of n; or "
                 "write `overlap any` if any order will do",
                 dealt, poly_text(L, poly_atom(L->d, w->team[0])));
    else if (o->write && follows_team(L, w) && follows_team(L, o))
        diag_fix(L->c->diags, g, "let each index of the %s move both starts in the same steps, or write to another tensor; or write `overlap any` if any order will do",
                 dealt);
    else if (o->write)
        diag_fix(L->c->diags, g, "let the start depend on every index of the %s, or write `overlap any` if any order will do", dealt);
    else
        diag_fix(L->c->diags, g, "write to another tensor, or write `overlap any` if any order will do");
}

void refuse_unproved(Lower *L, const TensorAccess *w, const TensorAccess *o, const char *why)
{
    const PTensor *t = base_of(w->info->tensor);
    const char *name = name_text(L, t->name), *who = w->pipe != o->pipe ? "pipeline" : w->pipe && !w->waived ? "iteration" : "CTA";
    Diag *g = w == o ? lower_error(L, E0701, w->info->stmt->span, "different %ss may write the same elements of `%s`",
                                   who, name)
                     : lower_error(L, o->write ? E0701 : E0702, w->info->stmt->span,
                                   "this write of `%s` and the %s of it by another %s may overlap", name,
                                   o->write ? "write" : "read", who);
    if (w != o) diag_label(L->c->diags, g, o->info->stmt->span, "the other access");
    const PTensor *rows = listed_by(w) ? listed_by(w) : listed_by(o);
    if (w->pipe == o->pipe && rows && !trusts(L, base_of(rows), TRUST_DISTINCT))
        diag_note(L->c->diags, g, (Span){0, 0}, "`%s` says which rows, and elements of it may be equal", name_text(L, rows->name));
    else if (why && *why) diag_note(L->c->diags, g, (Span){0, 0}, "%s", why);
    diag_note(L->c->diags, g, t->span, "the tensor");
    fix_overlap(L, g, w, o);
}

void refuse_repeated(Lower *L, const TensorAccess *a, const char *op)
{
    cannot(L, NULL, E0701, a->info->stmt->span, (Span){0, 0}, NULL, "put it into the pipeline, under a condition on its index, or into a kernel of its own",
           "every team does this `reduce %s`, and how many there are is the launch's choice", op);
}

void refuse_scalars(Lower *L, const TensorAccess *w)
{
    const PTensor *t = base_of(w->info->tensor);
    cannot(L, NULL, E0706, w->info->stmt->span, L->values->scalar_reads[t->index], "read as a scalar", NULL, "`%s` is written here and read as a scalar",
           name_text(L, t->name));
}

void refuse_order(Lower *L, const TensorAccess *a, const TensorAccess *b)
{
    const PTensor *t = base_of(a->info->tensor);
    const char *name = name_text(L, t->name), *also = a->write ? "written" : "read";
    bool roles = a->role && b->role && a->role != b->role; /* of the source */
    Diag *g = lower_error(L, E0749, b->info->stmt->span, "`%s` is %s here and %s by %s, and nothing orders the two", name,
                          b->write ? "written" : "read", also, roles ? "another role" : "the same team");
    diag_label(L->c->diags, g, a->info->stmt->span, "the other access");
    diag_note(L->c->diags, g, t->span, "the tensor");
    if (roles) diag_fix(L->c->diags, g, "let the two store to places that are apart in all of their turns, let one role do both, or use two kernels");
    else diag_fix(L->c->diags, g, "keep the data in a tile, or put one of them into a second kernel");
}

void refuse_rows(Lower *L, const PDim *p)
{
    const PTensor *t = p->rows->tensor;
    const char *fix = t ? distinct_text(L, t) : "write `overlap any` if any order will do";
    cannot(L, NULL, E0701, p->span, (Span){0, 0}, NULL, fix, "two of these rows may be the same, and which is written last is open");
}
