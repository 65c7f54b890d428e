/* Nobody can go on: who waits for whom. All that stands still waits for a phase. */
#include "lower/verify/states/say/report.h"

/* A role that still runs and has an op that counts on what the agent waits for; NOWHERE: none. */
static uint32_t waits_for(const Checker *c, uint32_t a)
{
    const State *s = c->st;
    for (uint32_t o = 0; o < c->nagents; o++)
        if (o != a && !s->agents[o].done &&
            use_of(c, s->agents[o].body, bar_number(c, s->agents[a].bar), false) != NOWHERE)
            return o;
    return NOWHERE;
}

static uint32_t at_op(const Checker *c, uint32_t a)
{
    return c->code.v[c->st->agents[a].body].first + c->st->agents[a].pc;
}

static const char *line_of(const Checker *c, uint32_t op)
{
    Span at = c->op[op]->span;
    const char *path;
    uint32_t line, col;
    if (at.hi == 0 || c->sources == NULL) return arena_printf(c->arena, "op %u", op);
    source_place(c->sources, at.lo, &path, &line, &col);
    return arena_printf(c->arena, "line %u", line);
}

static const char *bytes_due(const Checker *c, const Bar *b, bool come)
{
    int64_t tx;
    if (!b->known || !num_is(&c->n, b->tx, &tx)) return "(known at run time)";
    return arena_printf(c->arena, "%lld", (long long)(come ? b->due - tx : b->due));
}

static const char *lacks(const Checker *c, uint32_t bar)
{
    const Bar *b = bar_in(c->st, bar);
    uint32_t count = c->count[bar % c->nslots];
    if (b->pending > 0)
        return arena_printf(c->arena, "%s (%u of %u arrivals)", bar_name(c, bar), count - (uint32_t)b->pending, count);
    return arena_printf(c->arena, "%s (all arrivals; it expects %s bytes and gets %s)", bar_name(c, bar),
                        bytes_due(c, b, false), bytes_due(c, b, true));
}

static bool is_used(const Checker *c, uint32_t bar)
{
    return c->st->bar_at[bar] && (bar_in(c->st, bar)->phase || bar_in(c->st, bar)->last);
}

/* Nothing has ever come to this barrier, but to that of another CTA. */
static void tell_other_cta(Checker *c, uint32_t bar)
{
    if (is_used(c, bar)) return;
    for (uint32_t x = bar % c->nslots; x < c->nbars; x += c->nslots) {
        if (!is_used(c, x)) continue;
        tell_note(c, "so far nothing has arrived at %s, though something has at %s", bar_name(c, bar), bar_name(c, x));
        return;
    }
}

/* All that counts on the barrier does so in this way. */
static bool counted_by(const Checker *c, uint32_t b, IrOpcode how)
{
    bool all = true;
    for (uint32_t i = 0; i < c->nops && all; i++)
        all = ir_op_info((IrOpcode)c->op[i]->op)->group != IRG_BARRIER || !counts(c, i, b) || c->op[i]->op == how;
    return all;
}

/* Who copies into slots waits for a first one, which nobody can have given back: who is to do so waits for the copy. */
static void tell_free(Checker *c, uint32_t a)
{
    const State *s = c->st;
    uint32_t bar = s->agents[a].bar, its = s->agents[waits_for(c, a)].bar;
    const IrBar *b = bar_info(c, bar);
    bool first = !b->derived && !b->free && bar_in(s, bar)->phase == 0 && bar_in(s, bar)->last == 0 &&
                 bar_in(s, its)->phase == 0;
    if (!first || !counted_by(c, bar_number(c, bar), IR_BAR_ARRIVE) ||
        !counted_by(c, bar_number(c, its), IR_BAR_ARRIVE_EXPECT))
        return;
    if (b->slots > 1) tell_fix(c, "`barrier %s[%u] free;` if its slots are free at the start", b->name, b->slots);
    else tell_fix(c, "`barrier %s free;` if what it guards is free at the start", b->name);
}

static void tell_cycle(Checker *c, uint32_t first)
{
    uint32_t a = first;
    tell(c, E0603, at_op(c, a), "%s waits for what comes only after it: the kernel would hang",
         op_text(c, at_op(c, a)));
    do {
        uint32_t next = waits_for(c, a), op = at_op(c, a);
        tell_also(c, at_op(c, next), "%s (%s) waits for %s, and who could come to that is held up here", op_text(c, op),
                  line_of(c, op), lacks(c, c->st->agents[a].bar));
        tell_other_cta(c, c->st->agents[a].bar);
        a = next;
    } while (a != first);
    also_unwaited(c);
    do {
        tell_free(c, a);
        a = waits_for(c, a);
    } while (a != first);
}

/* ---- a wait that nobody ends ---- */

/* The buffer that the role uses next after the wait; NOWHERE: none. */
static uint32_t guarded_by(const Checker *c, uint32_t a)
{
    const Code *b = &c->code.v[c->st->agents[a].body];
    for (uint32_t i = c->st->agents[a].pc + 1; i < b->role->ops.n; i++) {
        const IrArg *x = ir_find(&b->role->ops.v[i], IRK_DST);
        if (x == NULL || x->kind != IRA_BUF) x = ir_find(&b->role->ops.v[i], IRK_SRC);
        if (x && x->kind == IRA_BUF) return x->id;
    }
    return NOWHERE;
}

/* Of a copy that counts on a barrier: the role that waits for it; 0: none, or none that counts. */
static uint32_t who_knows(const Checker *c, uint32_t copy)
{
    const IrArg *bar = ir_find(c->op[copy], IRK_BAR);
    for (uint32_t r = 1; bar && r <= c->nroles; r++)
        if (use_of(c, r, bar->id, true) != NOWHERE) return r;
    return 0;
}

static void tell_waiting(Checker *c, uint32_t a)
{
    uint32_t b = bar_number(c, c->st->agents[a].bar), buf = guarded_by(c, a);
    const char *name = c->k->bars.v[b].name;
    if (c->k->bars.v[b].derived || buf == NOWHERE || use_of(c, 0, b, false) != NOWHERE) return;
    uint32_t user = other_user(c, c->st->agents[a].body, buf);
    if (user == 0) return;
    uint32_t last = last_use(c, user, buf), knows = who_knows(c, last);
    if (knows) {
        tell_fix(c, "`arrive` at %s in role `%s`, when it has waited for %s", name, c->code.v[knows].role->name,
                 c->k->bars.v[ir_find(c->op[last], IRK_BAR)->id].name);
        return;
    }
    tell_also(c, last, "role `%s` uses %s, and does not arrive at %s after it", c->code.v[user].role->name,
              c->k->bufs.v[buf].name, name);
    tell_fix(c, "`arrive` at %s in role `%s`, when it is done with %s", name, c->code.v[user].role->name,
             c->k->bufs.v[buf].name);
}

/* A phase with all its arrivals, whose bytes are not those that it expects. */
static void tell_bytes(Checker *c, uint32_t op, uint32_t bar)
{
    const State *s = c->st;
    const Bar *b = bar_in(s, bar);
    int64_t tx = 0;
    bool known = num_is(&c->n, b->tx, &tx), many = known && tx < 0, alone = false, committed = false;
    tell(c, E0605, op, "barrier %s expects %s bytes and the copies on it bring %s, %s %s", bar_name(c, bar),
         bytes_due(c, b, false), bytes_due(c, b, true),
         known ? arena_printf(c->arena, "%lld", (long long)(many ? -tx : tx)) : "(known at run time)",
         many ? "too many" : "are missing");
    if (b->last) tell_also(c, b->last - 1, "the last that counts on it");
    for (uint32_t i = 0; i < s->items.n; i++) {
        if (!set_has(bar_set(c, s, bar, ARRIVED), 2 * i)) continue;
        alone |= c->op[s->items.v[i].op]->op == IR_BAR_EXPECT;
        committed |= c->op[s->items.v[i].op]->op == IR_BAR_ARRIVE_EXPECT;
    }
    if (alone && committed)
        tell_fix(c, "`commit` announces the bytes of its own copies: `expect` only those that other CTAs send here");
    else if (alone || many) tell_fix(c, "`expect` as many bytes as other CTAs send here");
}

static void tell_phase(Checker *c, uint32_t a)
{
    uint32_t op = at_op(c, a), bar = c->st->agents[a].bar;
    const Bar *b = bar_in(c->st, bar);
    const char *name = bar_name(c, bar);
    int32_t count = (int32_t)c->count[bar % c->nslots];
    if (b->last == 0 && b->phase) {
        tell(c, E0656, op,
             "barrier %s is waited for with parity %d when its phases so far are over: the kernel would hang", name,
             (int)(b->phase & 1));
        if (b->ended) tell_also(c, b->ended - 1, "completes its last phase");
        also_unwaited(c);
        hold_told(c, HELD_PROTOCOL, 0);
    } else if (b->last == 0) {
        tell(c, E0607, op, "nothing completes the phase of barrier %s that is waited for: the kernel would hang", name);
        tell_waiting(c, a);
    } else if (b->pending > 0) {
        tell(c, E0604, op, "barrier %s has %d of the %d arrivals of its phase: the kernel would hang", name,
             (int)(count - b->pending), (int)count);
        tell_also(c, b->last - 1, "the last that happened to it");
        also_arrivals(c, bar_number(c, bar));
    } else {
        tell_bytes(c, op, bar);
    }
}

void refuse_stuck(Checker *c)
{
    const State *s = c->st;
    uint32_t last = NOWHERE;
    for (uint32_t a = 0; a < c->nagents; a++) {
        uint32_t b = a;
        if (s->agents[a].done) continue;
        for (uint32_t n = 0; n <= c->nagents && b != NOWHERE; n++) b = waits_for(c, b);
        if (b != NOWHERE) { /* in a cycle by now */
            tell_cycle(c, b);
            refuse_told(c);
        }
        if (last == NOWHERE) last = a;
    }
    while (waits_for(c, last) != NOWHERE) last = waits_for(c, last);
    tell_phase(c, last);
    refuse_told(c);
}

void refuse_unfinished(Checker *c, uint32_t bar)
{
    const Bar *b = bar_in(c->st, bar);
    uint32_t op = b->last ? b->last - 1 : c->nops, count = c->count[bar % c->nslots];
    int64_t k;
    if (num_is(&c->n, b->tx, &k) && k == 0) {
        tell(c, E0604, op, "the kernel ends when barrier %s has %u of the %u arrivals of its phase", bar_name(c, bar),
             count - (uint32_t)b->pending, count);
        also_arrivals(c, bar_number(c, bar));
    } else {
        tell(c, E0605, op, "the kernel ends while barrier %s expects %s bytes and the copies on it bring %s",
             bar_name(c, bar), bytes_due(c, b, false), bytes_due(c, b, true));
    }
    refuse_told(c);
}
