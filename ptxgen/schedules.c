#include <stdio.h>
#include <string.h>

#include "lower/lower.h"
#include "lower/verify/verify.h"
#include "ptxgen/schedules.h"

/* ---- one ---- */

/* From the tree to proved IR (the verifier checks first that it is well formed); NULL after an error. nth: of the kernel's schedules, from 0. */
static IrKernel *build(Compilation *c, PKernel *p, uint32_t nth, Text *plan, Text *certificate)
{
    if (p) p->schedule = nth;
    IrKernel *k = p ? lower_kernel(c, p, plan) : NULL;
    if (!k) return NULL;
    uint32_t checks = k->mf.checks.n;
    bool proved = ir_verify(c->proof, c->diags, k, &(Demands){c->scratch, &k->mf}, certificate);
    if (plan) lower_explain_checks(&k->mf, checks, plan);
    arena_clear(c->proof); /* of a long kernel it is large, and so is the PTX that is made next */
    return proved ? k : NULL;
}

/* A call sees one kernel, which reads what any of its schedules does: where a CTA has one iteration nothing is `ahead`, nor what says where it lies. */
static void read_alike(Built *b, MfKernel *mf)
{
    for (uint32_t i = 0; i < mf->tensors.n; i++) {
        bool read = mf->tensors.v[i].read || (b->kernels.n && b->kernels.v[0]->mf.tensors.v[i].read);
        for (uint32_t s = 0; s < b->kernels.n; s++) b->kernels.v[s]->mf.tensors.v[i].read = read;
        mf->tensors.v[i].read = read;
    }
}

/* A schedule of a tune file was measured: what could be better in it is no news. */
static bool add(Compilation *c, Checked *ch, size_t i, Text *plan, Text *certificate, Built *b)
{
    const Wish *w = check_wish(ch, i);
    bool quiet = c->diags->no_performance;
    uint32_t met = c->diags->met;
    c->diags->no_performance = quiet || w;
    PKernel *p = check_kernel(ch, i);
    IrKernel *k = build(c, p, b->kernels.n, plan, certificate);
    c->diags->no_performance = quiet;
    if (c->diags->met != met && w) diag_at(c->diags, E0221, w->span, "the kernel is refused with this schedule");
    if (!k) return false;
    read_alike(b, &k->mf);
    if (b->kernels.n && !manifest_same_signature(&b->kernels.v[0]->mf, &k->mf)) {
        diag_at(c->diags, E0220, p->span, "the parameters of `%s` depend on what has alternatives", names_text(c->names, p->name));
        return false;
    }
    check_unused(c, p);
    vec_push(c->scratch, &b->kernels, k);
    vec_push(c->scratch, &b->programs, p);
    return true;
}

/* ---- a variant that nobody asked for ---- */

static bool is_loop(const PBlock *b)
{
    for (const PStmt *s = b->first; s; s = s->next)
        if (s->kind == P_FOR || s->kind == P_IF || s->kind == P_PIPELINE) return true;
    return false;
}

/* The one pipeline across the grid that the kernel is; NULL: it is something else. */
static const PStmt *one_across(const PKernel *p)
{
    const PStmt *across = NULL;
    for (const PStmt *s = p->body.first; s; s = s->next) {
        if (s->kind == P_FOR || s->kind == P_IF || (s->kind == P_PIPELINE && across)) return NULL;
        if (s->kind == P_PIPELINE) across = s;
    }
    return across;
}

/* The kernel is one pipeline across the grid, whose dealing is the compiler's, and whose iterations are a few moves, as many bytes in each. `stages`
 * says how many iterations of a CTA overlap: who has written it for launches with many of them has said nothing against CTAs of one. */
static bool is_movement(const PKernel *p, const IrKernel *k)
{
    const PStmt *across = one_across(p);
    return across && across->pipe->deal == DEAL_ANY && !is_loop(&across->body) && k->mf.deal != MF_DEAL_NONE && k->mf.traffic;
}

/* For few iterations a CTA for each: it loads, waits and stores; rings and tickets would cost more than they give, and launches that small have no use
 * for cache hints. */
static void add_variant(Compilation *c, Checked *ch, size_t i, Text *plan, Text *certificate, Built *b)
{
    static const Wish ONE_CTA_EACH = {.deal = DEAL_LAUNCH, .hints = -1}, AS_TOLD = {.deal = DEAL_LAUNCH, .hints = HINTS_OPEN};
    const PKernel *first = b->programs.v[0];
    bool alone = b->programs.n == 1 || b->programs.v[1]->wish;
    if (c->no_variants || !alone || first->alternatives || first->wish || b->kernels.n == MF_SCHEDULES_MAX || !is_movement(first, b->kernels.v[0])) return;
    bool quiet = c->diags->quiet;
    c->diags->quiet = true;
    PKernel *p = check_kernel_as(ch, i, c->hints ? &AS_TOLD : &ONE_CTA_EACH);
    IrKernel *k = build(c, p, b->kernels.n, plan, certificate);
    c->diags->quiet = quiet;
    if (!k) return;
    read_alike(b, &k->mf);
    vec_push(c->scratch, &b->kernels, k);
    vec_push(c->scratch, &b->programs, p);
    b->variant = true;
}

/* ---- which a launch takes ---- */

static void add_pick(Compilation *c, Built *b, MfPick p)
{
    vec_push(c->scratch, &b->kernels.v[0]->mf.picks, p);
}

/* Up to which size a CTA for each iteration wins. Measured on the H100: copies, gathers, conversions take 0.5 to 0.9 of the time where a launch moves at most
 * 96 KB per SM, and are not slower up to 8 times what the L2 holds, as long as three CTAs of an SM overlap what they do and each moves enough to be
 * worth its beginning. */
static MfPick few_iterations(const MfKernel *first, const MfKernel *each)
{
    enum { SM_BYTES = 96 << 10, CTA_BYTES = 8 << 10, OVERLAP = 3, SMEM = 227 << 10 };
    const LxNode *moved = &each->lx.nodes.v[each->traffic - 1];
    int64_t bytes = 0;
    bool of_ctas = moved->op == LX_MUL && moved->a == each->grid[0] && lx_is_const(&each->lx, moved->b, &bytes);
    if (of_ctas && bytes >= CTA_BYTES && each->smem <= SMEM / OVERLAP && first->traffic) return (MfPick){"", 0, MF_L2, MF_HINTS_L2};
    return (MfPick){"", 0, MF_SM_BYTES, SM_BYTES};
}

/* Of several alternatives the first is for what goes through DRAM for long, the next ones for what fills the machine, the last for the rest. Measured on
 * the H100: up to 8 times what the L2 holds small tiles, a CTA for each, are faster than tiles that few CTAs go through; beyond that DRAM likes those,
 * with the hints that pay from there on (runtime/launch.c). The machine is full with three CTAs on an SM, with one where one thread copies 4 KB: smaller
 * tiles are there sooner, and more of them take longer to begin. */
static void pick_alternatives(Compilation *c, Built *b)
{
    enum { L2_TIMES = MF_HINTS_L2, CTAS_PER_SM = 3, WARP = 32, SMALL = 6 << 10 };
    uint8_t n = 0;
    while (n < b->programs.n && !b->programs.v[n]->wish) n++;
    for (uint8_t s = 0; s + 1 < n; s++) {
        bool large = s == 0 && b->kernels.v[s]->mf.traffic;
        const MfKernel *mf = &b->kernels.v[s]->mf;
        int64_t ctas = mf->threads <= WARP && mf->smem <= SMALL ? 1 : CTAS_PER_SM;
        add_pick(c, b, (MfPick){"", s, large ? MF_L2 : MF_CTAS, large ? L2_TIMES : ctas});
    }
    if (b->variant) add_pick(c, b, few_iterations(&b->kernels.v[0]->mf, &b->kernels.v[b->kernels.n - 1]->mf));
    else if (n < b->programs.n) add_pick(c, b, (MfPick){"", (uint8_t)(n ? n - 1 : 0), MF_BYTES, 0});
}

static void number(Compilation *c, Built *b)
{
    if (b->kernels.n < 2) return;
    for (uint8_t s = 0; s < b->kernels.n; s++) {
        b->kernels.v[s]->mf.schedule = s;
        b->kernels.v[s]->mf.schedules = (uint8_t)b->kernels.n;
    }
    const PKernel *first = b->programs.v[0];
    for (uint32_t i = 0; i < first->picks.n; i++) add_pick(c, b, first->picks.v[i]);
    pick_alternatives(c, b);
}

static void explain_pick(const MfPick *p, Text *out)
{
    if (p->measure == MF_L2) text_printf(out, "launches that move more than %lld times what L2 holds", (long long)p->least);
    else if (p->measure == MF_CTAS) text_printf(out, "launches of at least %lld CTAs per SM", (long long)p->least);
    else if (p->measure == MF_SM_BYTES) text_printf(out, "launches that move at least %lld bytes per SM", (long long)p->least);
    else if (p->least) text_printf(out, "launches that move at least %lld bytes", (long long)p->least);
    else text_lit(out, "all other launches");
    if (p->gpu[0]) text_printf(out, " on %s (measured)", p->gpu);
}

/* The source's `stages` stands, and means nothing. */
static bool one_iteration(const PKernel *p)
{
    const PStmt *across = one_across(p);
    return across && across->pipe->stages && p->wish && p->wish->deal == DEAL_LAUNCH && p->wish->stages == 0;
}

static void explain(const Built *b, Text *out)
{
    const MfKernel *mf = &b->kernels.v[0]->mf;
    if (mf->schedules == 0) return;
    text_printf(out, "schedules of %s\n", mf->name);
    for (uint32_t s = 0; s < b->kernels.n; s++) {
        text_printf(out, "  %u: ", s + 1);
        wish_print(out, b->programs.v[s]);
        text_str(out, one_iteration(b->programs.v[s]) ? "; `stages` says nothing of it: a CTA has one iteration\n" : "\n");
    }
    text_lit(out, "  a launch takes the first that fits\n");
    for (uint32_t i = 0; i < mf->picks.n; i++) {
        text_printf(out, "    %u for ", mf->picks.v[i].schedule + 1u);
        explain_pick(&mf->picks.v[i], out);
        text_char(out, '\n');
    }
    const MfPick *last = mf->picks.n ? &mf->picks.v[mf->picks.n - 1] : NULL;
    if (!last || last->gpu[0] || last->measure != MF_BYTES || last->least) text_printf(out, "    %u for all other launches\n", mf->schedules);
}

size_t build_schedules(Compilation *c, Checked *ch, size_t i, Text *plan, Text *certificate, Built *out)
{
    bool ok = true;
    size_t first = i;
    *out = (Built){0};
    for (bool last = false; !last; i++) {
        last = check_last_schedule(ch, i);
        ok = add(c, ch, i, plan, certificate, out) && ok;
    }
    if (!ok) {
        *out = (Built){0};
        return i;
    }
    add_variant(c, ch, first, plan, certificate, out);
    number(c, out);
    if (plan) explain(out, plan);
    return i;
}

/* ---- all that there could be ---- */

typedef struct Kinds { /* IR of those listed */
    VEC(const char *) texts;
} Kinds;

/* Its IR is that of none before. */
static bool is_new(Compilation *c, IrKernel *k, const IrModule *m, Kinds *kinds)
{
    Text t;
    IrModule one = {.target = m->target, .cluster_dst = m->cluster_dst};
    vec_push(c->scratch, &one.kernels, k);
    text_in(&t, c->scratch);
    ir_print(&t, &one, NULL);
    bool found = false;
    for (uint32_t i = 0; i < kinds->texts.n; i++) found |= strcmp(kinds->texts.v[i], t.s) == 0;
    if (!found) {
        const char *kept = arena_strdup(c->arena, t.s, t.n);
        vec_push(c->arena, &kinds->texts, kept);
    }
    return !found;
}

static void try_wish(Compilation *c, Checked *ch, size_t i, const Wish *w, const IrModule *m, Kinds *kinds, Text *out)
{
    ArenaMark mark = arena_mark(c->scratch);
    PKernel *p = check_kernel_as(ch, i, w);
    IrKernel *k = build(c, p, 0, NULL, NULL);
    if (k && is_new(c, k, m, kinds)) {
        text_printf(out, "%s: ", k->mf.name);
        wish_print(out, p);
        text_char(out, '\n');
    }
    arena_release(c->scratch, mark);
}

void list_schedules(Compilation *c, Checked *ch, const IrModule *m, Text *out)
{
    Kinds kinds = {0};
    for (size_t i = 0; i < check_kernel_count(ch); i++) {
        Wishes wishes = {0};
        ArenaMark mark = arena_mark(c->scratch);
        PKernel *p = check_kernel(ch, i);
        if (build(c, p, 0, NULL, NULL) && !p->wish) wishes_for(c, p, &wishes);
        arena_release(c->scratch, mark);
        bool quiet = c->diags->quiet;
        c->diags->quiet = true;
        for (uint32_t w = 0; w < wishes.n; w++) try_wish(c, ch, i, wishes.v[w], m, &kinds, out);
        c->diags->quiet = quiet;
        if (check_last_schedule(ch, i)) kinds.texts.n = 0;
    }
}
