/* --explain-plan of scheduled kernels: dealing, roles, rings, and what each move became. */
#include "lower/explain/explain.h"
#include "lower/plan/device_maps.h"
#include "lower/plan/threads.h"
#include "lower/schedule/schedule.h"

const char *explain_completes(Lower *L, const MoveInfo *mi)
{
    const Ring *r = &L->sched->rings[mi->tile->index];
    if (!mi->load) return "role work, bulk group of the turn";
    return arena_printf(L->a, "role %s, barrier %s", L->sched->alone || r->kept ? "work" : "load", r->full == BAR_NONE ? "?" : L->explained->bars[r->full]);
}

static void dealing(Lower *L, const Pipe *p)
{
    static const char *const HOW[] = {[DEAL_STATIC] = "static: team, team + teams, ..",
                                      [DEAL_TICKET] = "tickets: numbers from a counter, in order",
                                      [DEAL_LAUNCH] = "launch: one team per iteration, in the hardware's order",
                                      [DEAL_CLC] = "clc: a team per iteration; one that is done takes over the next"};
    Text *t = L->plan;
    text_printf(t, "  dealing of %s\n    %s%s\n", place_text(L, p->st->span), HOW[p->deal],
                p->st->pipe->deal == DEAL_ANY ? " (chosen)" : "");
    text_lit(t, "    order, slowest first:");
    for (int i = 0; i < p->st->pipe->n; i++)
        text_printf(t, "%s %s", i ? "," : "", name_text(L, p->index[p->order[i]].name));
    text_char(t, '\n');
    if (p->batch > 1) text_printf(t, "    %lld iterations together: one alone moves too few bytes\n", (long long)p->batch);
    if (p->deal == DEAL_LAUNCH && L->ir->mf.loads)
        text_printf(t, "    no more CTAs on an SM than load %d KiB together, %u bytes each: more would lower the bandwidth\n", MF_FLIGHT >> 10, L->ir->mf.loads);
    if (p->deal != DEAL_LAUNCH && p->deal != DEAL_CLC)
        text_printf(t, "    at most %u CTA%s per SM, %lld CTA%s in a team\n", L->sched->per_sm,
                    L->sched->per_sm == 1 ? "" : "s", (long long)L->cluster_size, L->cluster_size == 1 ? "" : "s");
}

static void roles(Lower *L)
{
    static const char *const SHAPES[] = {[SHAPE_ELECT] = "one elected thread",
                                         [SHAPE_LANES] = "copies dealt to the lanes of a warp",
                                         [SHAPE_THREADS] = "all threads work, one issues copies"};
    const Sched *s = L->sched;
    text_lit(L->plan, "  roles\n");
    for (int a = 0; a < AG_COUNT; a++)
        if (s->used[a])
            text_printf(L->plan, "    %s: %u warp%s, %s\n", AGENT_NAMES[a], s->warps[a], s->warps[a] == 1 ? "" : "s",
                        s->shape[a] == SHAPE_LANES && device_makes(L, (uint32_t)a, NULL) ? "a warp that makes tensor maps" : SHAPES[s->shape[a]]);
}

/* To how many CTAs one copy goes, where the rank says to which. */
static void fans(Lower *L, const Ring *r)
{
    const Sched *s = L->sched;
    int least = RANKS_MAX, most = 0;
    bool masked = false;
    FOR_MOVES(s, p) {
        if (!p->by_rank || p->dst != r || p->st->move->kind != MOVE_LOAD) continue;
        masked |= p->st->move->cast == CAST_MASK;
        for (int c = 0; c < L->cluster_size; c++) {
            int n = __builtin_popcount(move_peers(&p->mi)->to[c]);
            if (n == 0) continue; /* left out by a condition on the rank */
            if (n < least) least = n;
            if (n > most) most = n;
        }
    }
    if (most == 0) return;
    text_str(L->plan, masked ? "; multicast by mask, each load to " : "; each load to ");
    if (least < most) text_printf(L->plan, "%d .. ", least);
    text_printf(L->plan, "%d CTA%s", most, most == 1 ? "" : "s");
}

static void ring(Lower *L, const Ring *r)
{
    Text *t = L->plan;
    text_printf(t, "    %s: ", r->tile && r != r->home ? name_text(L, r->tile->name) : L->explained->bufs[r->buf]);
    if (r != r->home) text_printf(t, "in the %u slot%s of %s", r->slots, r->slots == 1 ? "" : "s", L->explained->bufs[r->buf]);
    else text_printf(t, "%u slot%s", r->slots, r->slots == 1 ? "" : "s");
    if (r->inner > 1) text_printf(t, " of %u tiles", r->inner);
    text_printf(t, ", filled by %s", AGENT_NAMES[r->filler]);
    for (int a = 0; a < AG_COUNT; a++)
        if (a != (int)r->filler && ring_uses(r, (Agent)a)) text_printf(t, ", used by %s", AGENT_NAMES[a]);
    if (r->looped && r->empty != BAR_NONE) text_printf(t, "; %u turn%s ahead", r->lead, r->lead == 1 ? "" : "s");
    if (r->lag) text_printf(t, ", given back %u turn%s late, while stores read it", r->lag, r->lag == 1 ? "" : "s");
    if (!r->looped) text_lit(t, "; used once");
    if (r->by_rank) fans(L, r);
    else if (r->cast != CAST_NONE) text_printf(t, "; multicast to %u CTAs", cluster_size_of(L, r->cast));
    if (r->peered) text_lit(t, "; filled by another CTA");
    text_char(t, '\n');
}

/* The barrier on which a move between tiles completes. */
static const char *barrier_of(const Lower *L, const Planned *p)
{
    const Sched *s = L->sched;
    uint32_t bar = p->tm && s->tmem.done ? s->tmem.done->full : 0;
    if (!L->derived) bar = p->st->move->barrier->index;
    else if (!p->tm) bar = p->st->move->reduce >= 0 ? p->dst->sum : p->dst->full;
    return L->explained->bars[bar];
}

void explain_moves(Lower *L)
{
    FOR_MOVES(L->sched, p) {
        PMoveKind kind = p->st->move->kind;
        const char *whole = planned_across(p) && planned_across(p)->whole ? ", all iterations of a batch at once" : "", *role = p->role ? p->role : AGENT_NAMES[p->agent];
        if (p->agent == AG_NONE) {
            explain_move(L, p->st, "    left out: its condition holds at no rank\n");
        } else if ((kind == MOVE_PEER || kind == MOVE_FILL) && p->st->move->dst.peer) {
            explain_move(L, p->st, arena_printf(L->a, "%s, role %s, barrier %s there\n", between_text(L, p->st, p->other),
                                                L->derived ? "send" : role, barrier_of(L, p)));
        } else if (p->zeros) {
            explain_move(L, p->st, arena_printf(L->a, "    st.bulk: %lld bytes of zeros\n      one thread of role %s%s\n",
                                                (long long)p->zeros, role, whole));
        } else if (p->tm && move_by_tensor_core(p->st->move)) {
            explain_move(L, p->st, arena_printf(L->a, "%s      role %s, barrier %s\n", tmem_text(L, p->tm), role, barrier_of(L, p)));
        } else if (p->tm) {
            explain_move(L, p->st, arena_printf(L->a, "    threads: %s\n      role %s\n",
                                                tmem_threads_text(L->a, L->ir, p->plan, kind == MOVE_TMEM_LD), role));
        } else if (p->copies.g) {
            explain_global(L, &p->mi, p->copies.g, &L->ir->plans.v[p->plan]);
        } else if (move_by_threads(p->st->move)) {
            explain_move(L, p->st, arena_printf(L->a, "    threads: %s\n      role %s%s\n",
                                                threads_text(L->a, &L->ir->plans.v[p->plan]), role, whole));
        } else {
            explain_copy(L, &p->mi, &p->copies);
        }
    }
}

void explain_schedule(Lower *L)
{
    const Sched *s = L->sched;
    explain_head(L);
    text_printf(L->plan, "%u role%s, %u threads\n", L->ir->roles.n, L->ir->roles.n == 1 ? "" : "s", L->ir->mf.threads);
    for (uint32_t i = 0; i < s->pipes.n; i++)
        if (s->pipes.v[i]->across) dealing(L, s->pipes.v[i]);
    roles(L);
    text_lit(L->plan, "  rings\n");
    FOR_RINGS(s, r)
        if (r->turn) ring(L, r);
}

/* ---- maps that the kernel makes ---- */

void explain_device_map(Lower *L, uint32_t map)
{
    for (uint32_t i = 0; i < L->device->maps.n; i++) {
        const DeviceMap *m = &L->device->maps.v[i];
        const IrBuf *b = &L->ir->bufs.v[m->buf];
        if (m->map != map) continue;
        const char *by = m->move ? "" : arena_printf(L->a, " by %s", AGENT_NAMES[m->agent]);
        const char *tile = m->move ? "the tile" : arena_printf(L->a, "`%s`", name_text(L, L->sched->rings[m->tile].tile->name));
        text_printf(L->plan, "      made on the device%s: %u for each CTA, a slot of %s each; anew where a slot is used first after `view %s` (%s)\n", by, b->slots, tile,
                    name_text(L, m->view->name), place_text(L, m->view->span));
    }
}
