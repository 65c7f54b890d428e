/* Roles of the source in which threads work together. All threads run such a role: they pass its waits, make its scalars
 * and do its work; copies, arrivals and groups are those of one of them, the elected one. Between the two lie cta.syncs:
 *
 *   before work                        if threads have worked since the last one, or stores were waited for
 *   before a copy                      the same, with a fence by every writer in front (PTX ISA, async proxy)
 *   before an arrival, also a copy's   the same, or if threads passed a wait: one that is late would miss a phase
 *
 * At a loop's head and behind it both may be so.
 */
#include "lower/emit/values.h"
#include "lower/plan/threads.h"
#include "lower/plan/work.h"
#include "lower/schedule/between.h"
#include "lower/schedule/written/sync.h"

enum { NAMED_BARRIERS = 16 }; /* PTX ISA, barrier: of a CTA; number 0 is for all of its threads */

static bool works(const PBlock *b)
{
    for (const PStmt *s = b->first; s; s = s->next) {
        const PMove *m = s->kind == P_MOVE ? s->move : NULL;
        if (m && move_by_threads(m) && !m->dst.peer) return true;
        if (works(&s->body) || works(&s->other)) return true;
    }
    return false;
}

static bool touches_tensor(const PBlock *b)
{
    for (const PStmt *s = b->first; s; s = s->next)
        if ((s->kind == P_MOVE && s->move->kind >= MOVE_TMEM_CP) || touches_tensor(&s->body) || touches_tensor(&s->other)) return true;
    return false;
}

void role_begin(Lower *L, const PRole *r, uint32_t number)
{
    Sync *s = L->sync;
    s->role = number;
    s->tensor = touches_tensor(&r->body);
    s->threads = works(&r->body) || device_wanted(L, &r->body) ? (uint32_t)r->threads : 0;
    s->worked = s->waited = s->unfenced = false;
    if (s->threads == 0 || ++s->id < NAMED_BARRIERS) return;
    lower_error(L, E0907, r->span, "more than %d roles whose threads work together: each has a barrier of threads",
                NAMED_BARRIERS - 1);
    s->id = 1;
}

IrRole *role_finish(Lower *L, const PRole *r)
{
    bool many = L->sync->threads > 0;
    if (many) body_elect(&L->body, 0, SHAPE_THREADS);
    return role_end(L, name_text(L, r->name), (uint32_t)r->threads / 32, !many);
}

void role_fence(Lower *L)
{
    if (L->sync->unfenced) ir_ref(L->a, emit_new(L, IR_FENCE_ASYNC), IRK_SPACE, IRA_WORD, IRS_SHARED);
    L->sync->unfenced = false;
}

void role_sync(Lower *L, bool also_waits)
{
    Sync *s = L->sync;
    if (s->threads == 0 || !(s->worked || (also_waits && s->waited))) return;
    role_fence(L);
    role_tensor_fence(L, IRD_BEFORE);
    IrOp *op = emit_new(L, IR_CTA_SYNC);
    ir_imm(L->a, op, IRK_ID, s->id);
    ir_imm(L->a, op, IRK_THREADS, s->threads);
    role_tensor_fence(L, IRD_AFTER);
    s->worked = s->waited = false;
}

void role_loop(Lower *L)
{
    if (L->sync->threads == 0) return;
    role_fence(L);
    L->sync->worked = L->sync->waited = true;
}

/* ---- work ---- */

void role_before_work(Lower *L, const MoveInfo *from, const MoveInfo *to)
{
    Sync *s = L->sync;
    if (from) sync_arrived(L, from);
    if (to) sync_arrived(L, to);
    for (uint32_t i = 0; to && i < s->stores.n; i++) {
        const PendingStore *p = &s->stores.v[i];
        if (!p->is_explicit && !p->read_done && p->tile == to->tile) sync_wait_store(L, i, IRH_READ);
    }
    role_sync(L, false);
}

void role_work(Lower *L, const PStmt *st)
{
    MoveInfo from, to;
    uint32_t plan = 0;
    Workers by = {.threads = L->sync->threads, .batch = 1};
    if (!between_tiles(L, st, &from, &to)) return;
    int64_t zeros = plan_zeros(L, st, &to, by);
    if (zeros == 0 && !plan_work(L, st, &from, &to, by, &plan)) return;
    Between b = between_values(L, st, &from, &to);
    role_before_work(L, b.from, &to);
    between_work(L, &b, plan, zeros);
    L->sync->worked = L->sync->unfenced = true;
    if (L->plan == NULL) return;
    if (zeros) {
        explain_move(L, st, arena_printf(L->a, "    st.bulk: %lld bytes of zeros\n      one thread of the role\n", (long long)zeros));
        return;
    }
    explain_move(L, st, arena_printf(L->a, "    threads: %s\n      all %u of the role\n",
                                     threads_text(L->a, &L->ir->plans.v[plan]), L->sync->threads));
}
