/* Barriers. In the one schedule an arrival, and the bytes of a copy, count at once. That they count on that phase in every schedule is
 * because who counts on a phase knows all that counted on the one before, and who completes it knows that whoever waits for the one before
 * has done so. */
#include "lang/checked.h"
#include "lang/limits.h"
#include "lower/verify/states/say/report.h"

const IrBar *bar_info(const Checker *c, uint32_t bar)
{
    uint32_t b = 0, slot = bar % c->nslots;
    while (b + 1 < c->k->bars.n && c->bar_base[b + 1] <= slot) b++;
    return &c->k->bars.v[b];
}

uint32_t bar_of(Checker *c, const IrOp *op, uint32_t cta)
{
    const IrArg *bar = ir_find(op, IRK_BAR), *slot = ir_part(op, bar, IRK_SLOT);
    Num n = slot ? val_force(c, val_of_arg(c, slot)) : num_k(c, 0);
    int64_t k;
    if (!num_is(&c->n, n, &k)) lost(c, "which slot of barrier %s this is", c->k->bars.v[bar->id].name);
    if (k < 0 || k >= c->k->bars.v[bar->id].slots)
        refuse(c, E0658, "slot %lld of barrier %s, which has %u", (long long)k, c->k->bars.v[bar->id].name, c->k->bars.v[bar->id].slots);
    uint32_t at = cta * c->nslots + c->bar_base[bar->id] + (uint32_t)k;
    if (cta != c->st->agents[c->agent].cta && !c->begins) refuse_uninitialised(c, at, code_of(c)->first + c->pc, true);
    bar_begin(c, at);
    return at;
}

uint32_t bars_of(Checker *c, const IrOp *op, uint32_t bar[64])
{
    uint64_t to = targets_of(c, op, c->st->agents[c->agent].cta);
    uint32_t n = 0;
    for (uint32_t r = 0; r < c->nctas; r++)
        if (to >> r & 1) bar[n++] = bar_of(c, op, r);
    return n;
}

static bool within(const uint64_t *x, const uint64_t *y, uint32_t words)
{
    const uint64_t over = UINT64_C(0x5555555555555555); /* the bits that say so, without those of fences */
    for (uint32_t i = 0; i < words; i++)
        if (x[i] & ~y[i] & over) return false;
    return true;
}

/* The phase before may not be over. */
static void early(Checker *c, uint32_t bar)
{
    const Bar *b = bar_in(c->st, bar);
    uint32_t op = code_of(c)->first + c->pc;
    bool copies = ir_op_info((IrOpcode)c->op[op]->op)->group != IRG_BARRIER || c->op[op]->op == IR_TC_COMMIT;
    if (c->op[op]->op == IR_BAR_EXPECT) {
        tell(c, E0655, op, "barrier %s is told to expect bytes when all arrivals are made: its phase may be over", bar_name(c, bar));
        tell_also(c, b->ended - 1, "the last arrival");
        tell_fix(c, "leave it out if `commit` makes that arrival, which announces its copies' bytes; else put it before");
        refuse_told(c);
    }
    tell(c, E0611, op,
         copies ? "this copy may count on the phase of barrier %s before the one that it is for"
                : "this arrival counts on a new phase of barrier %s, but nothing has waited for the last one",
         bar_name(c, bar));
    tell_also(c, b->ended - 1, "completes the phase before, and no wait for it comes before this");
    also_unwaited(c);
    hold_told(c, HELD_PROTOCOL, 0);
}

/* A fence of the tensor core is its thread's: who hears of it has none. */
static void hear(Checker *c, uint32_t bar, uint32_t kind)
{
    State *s = c->st;
    uint64_t *heard = bar_set(c, s, bar, HEARD);
    const uint64_t *known = set_of(c, s, c->agent, kind);
    set_join(heard, known, s->words);
    for (uint32_t i = 0; i < s->items.n; i++)
        if (s->items.v[i].kind == ITEM_ACCESS && s->items.v[i].core) set_drop(heard, 2 * i + 1);
}

void count_on(Checker *c, uint32_t bar, uint32_t item, bool each, bool certain)
{
    State *s = c->st;
    const uint64_t *known = set_of(c, s, c->agent, each ? KNOWN_EACH : KNOWN_ONE);
    uint64_t *heard = bar_set(c, s, bar, HEARD);
    if (!within(bar_set(c, s, bar, BEFORE), known, s->words)) early(c, bar);
    bar_in(s, bar)->last = code_of(c)->first + c->pc + 1;
    set_add(bar_set(c, s, bar, ARRIVED), 2 * item);
    set_add(heard, 2 * item);
    if (!certain) return;
    hear(c, bar, each ? KNOWN_EACH : KNOWN_ONE);
    if (!each) return;
    hear(c, bar, KNOWN_ONE);
    hear(c, bar, MINE);
}

NORETURN static void refuse_most(Checker *c, uint32_t bar, const char *bytes)
{
    tell(c, E0623, code_of(c)->first + c->pc, "%s bytes complete on one phase of `%s`, a barrier counts %d", bytes, bar_name(c, bar), MBARRIER_MOST);
    c->why.bar = bar_number(c, bar) + 1;
    refuse_told(c);
}

void bar_bytes(Checker *c, uint32_t bar, Num bytes, int64_t times)
{
    Bar *b = bar_in(c->st, bar);
    if (c->st->neach) {
        Num *all = &b->each[c->st->neach - 1];
        *all = num_add(&c->n, *all ? *all : num_k(c, 0), times, bytes);
        if (*all == 0) lost(c, "the bytes of barrier %s", bar_name(c, bar));
        return;
    }
    b->tx = num_add(&c->n, b->tx ? b->tx : num_k(c, 0), times, bytes);
    if (b->tx == 0) lost(c, "the bytes of barrier %s", bar_name(c, bar));
    Num room = num_add(&c->n, num_k(c, MBARRIER_MOST), -1, b->tx);
    if (!facts_imply(&c->n, &c->st->facts, room)) refuse_most(c, bar, num_shown(c, b->tx));
}

/* All that a phase expects may be announced before any comes. */
static void announce(Checker *c, uint32_t bar, Num bytes, int64_t most, int64_t times)
{
    Bar *b = bar_in(c->st, bar);
    int64_t k;
    b->known &= num_is(&c->n, bytes, &k);
    if (!mul_s64(num_is(&c->n, bytes, &k) ? k : most, times, &k) || !add_s64(b->due, k, &b->due) || b->due > MBARRIER_MOST)
        refuse_most(c, bar, b->known ? arena_printf(c->arena, "%lld", (long long)b->due) : "(known at run time)");
    bar_bytes(c, bar, bytes, times);
}

static bool none_missing(Checker *c, const Bar *b)
{
    int64_t k;
    if (b->tx == 0) return true;
    if (num_is(&c->n, b->tx, &k)) return k == 0;
    return facts_imply(&c->n, &c->st->facts, b->tx) && facts_imply(&c->n, &c->st->facts, num_times(&c->n, -1, b->tx));
}

static void refuse_late_bytes(Checker *c, uint32_t bar)
{
    const State *s = c->st;
    uint32_t op = code_of(c)->first + c->pc;
    for (uint32_t i = 0; i < s->items.n; i++) {
        const Item *x = &s->items.v[i];
        bool loose = set_has(bar_set(c, s, bar, ARRIVED), 2 * i) && bar_in(s, bar)->loose >> x->agent % 64 & 1;
        if (loose && c->op[x->op]->op == IR_BAR_EXPECT) op = x->op;
    }
    tell(c, E0655, op, "barrier %s may have all its arrivals before it is told to expect these bytes", bar_name(c, bar));
    tell_also(c, bar_in(s, bar)->last - 1, "the last arrival");
    refuse_told(c);
}

/* Who waits for the phase before may see this one over. */
static void overrun(Checker *c, uint32_t bar, const Awaited *w)
{
    tell(c, E0611, w->op, "the phase after the one that is waited for here may be over before this looks at barrier %s: the parity would be that of the wrong phase",
         bar_name(c, bar));
    tell_also(c, bar_in(c->st, bar)->last - 1, "completes the next phase");
    also_unwaited(c);
    hold_told(c, HELD_PROTOCOL, 0);
}

void bar_complete(Checker *c, uint32_t bar)
{
    State *s = c->st;
    Bar *b = bar_in(s, bar);
    uint64_t *heard = bar_set(c, s, bar, HEARD), *arrived = bar_set(c, s, bar, ARRIVED), waiters = c->waiters[bar_info(c, bar) - c->k->bars.v];
    if (b->pending > 0 || s->neach || !none_missing(c, b)) return;
    if (b->loose) refuse_late_bytes(c, bar);
    for (uint32_t r = 0; r < c->nroles; r++) {
        const Awaited *w = awaited_in(c, s, bar, r);
        if (waiters >> r & 1 && w->phase >= b->phase - 1 && w->item && !set_has(heard, 2 * (w->item - 1))) overrun(c, bar, w);
    }
    uint32_t words = s->words;
    memcpy(bar_set(c, s, bar, LAST), heard, words * sizeof *heard);
    memcpy(bar_set(c, s, bar, BEFORE), arrived, words * sizeof *heard);
    memset(heard, 0, words * sizeof *heard);
    memset(arrived, 0, words * sizeof *arrived);
    b->phase++;
    b->pending = (int32_t)c->count[bar % c->nslots];
    b->tx = num_k(c, 0);
    b->ended = b->last;
    b->last = 0;
    b->due = 0;
    b->known = true;
}

/* With an arrival. */
void fewer_pending(Checker *c, uint32_t bar, int32_t times, uint32_t last)
{
    Bar *b = bar_in(c->st, bar);
    b->pending -= times;
    if (b->pending >= 0) return;
    tell(c, E0604, code_of(c)->first + c->pc, "one arrival too many: barrier %s has all %u of its phase", bar_name(c, bar), c->count[bar % c->nslots]);
    if (last) tell_also(c, last - 1, "the last before");
    also_unwaited(c);
    hold_told(c, HELD_PROTOCOL, 0);
    refuse_told(c);
}

/* ---- steps ---- */

static void step_arrive(Checker *c, const IrOp *op)
{
    State *s = c->st;
    bool each = by_each(c, op), arrives = op->op != IR_BAR_EXPECT;
    int32_t times = each ? (int32_t)(32 * code_of(c)->role->warps) : 1;
    const IrArg *bytes = ir_find(op, IRK_BYTES);
    Num n = bytes ? val_soft(c, val_of_arg(c, bytes)) : num_k(c, 0);
    int64_t most = bytes && bytes->kind == IRA_VAL ? c->range[bytes->id - 1].hi : 0;
    uint32_t bar[64], nbars = bars_of(c, op, bar);
    if (!facts_imply(&c->n, &s->facts, n)) refuse(c, E0605, "the bytes that barrier %s expects are not certain to be at least 0", bar_name(c, bar[0]));
    for (uint32_t i = 0; i < nbars; i++) {
        Bar *b = bar_in(s, bar[i]);
        uint32_t last = b->last;
        uint32_t item = item_new(c, (Item){.kind = ITEM_ARRIVAL, .agent = (uint16_t)c->agent, .op = code_of(c)->first + c->pc});
        count_on(c, bar[i], item, each, true);
        set_add(set_of(c, s, c->agent, each ? MINE : KNOWN_ONE), 2 * item);
        uint64_t me = UINT64_C(1) << c->agent % 64;
        b->loose = arrives ? b->loose & ~me : b->loose | me;
        fewer_pending(c, bar[i], arrives ? times : 0, last);
        announce(c, bar[i], n, most, times);
        bar_complete(c, bar[i]);
    }
}

static bool arrived_itself(const Checker *c, const uint64_t *set, bool each)
{
    const State *s = c->st;
    for (uint32_t i = 0; i < s->items.n; i++)
        if (set_has(set, 2 * i) && s->items.v[i].kind == ITEM_ARRIVAL && s->items.v[i].agent == c->agent && !(each && c->op[s->items.v[i].op]->elect)) return true;
    return false;
}

NORETURN static void refuse_narrow(Checker *c, uint32_t bar, uint32_t op)
{
    tell(c, E0670, code_of(c)->first + c->pc, "other CTAs arrive at barrier %s, and this wait acquires only from its own", bar_name(c, bar));
    tell_also(c, op, "an arrival from another CTA");
    refuse_told(c);
}

/* Whether it waits. */
static bool step_wait(Checker *c, const IrOp *op)
{
    State *s = c->st;
    uint32_t bar = bar_of(c, op, s->agents[c->agent].cta);
    Bar *b = bar_in(s, bar);
    bool each = by_each(c, op);
    int64_t parity;
    if (!num_is(&c->n, val_force(c, val_of_arg(c, ir_find(op, IRK_PHASE))), &parity)) lost(c, "the parity");
    if (b->pending == 0 && !none_missing(c, b) && !ask(c, num_plus(&c->n, b->tx, -1)))
        ask(c, num_contrary(&c->n, b->tx)); /* it is told apart whether bytes are missing */
    if (b->pending == 0) bar_complete(c, bar);
    bool over = ((b->phase - 1) & 1) == parity;
    int32_t p = over ? b->phase - 1 : b->phase;
    Awaited *w = awaited_in(c, s, bar, s->agents[c->agent].body - 1u);
    const uint64_t *known = set_of(c, s, c->agent, each ? KNOWN_EACH : KNOWN_ONE);
    bool own = w->item && w->phase >= p - 1 && (set_has(known, 2 * (w->item - 1)) || (each && set_has(set_of(c, s, c->agent, MINE), 2 * (w->item - 1))));
    bool told = p == b->phase && within(bar_set(c, s, bar, BEFORE), known, s->words);
    bool counted = arrived_itself(c, over ? bar_set(c, s, bar, BEFORE) : bar_set(c, s, bar, ARRIVED), each); /* so it knew the phase before to be over */
    if (p > 0 && !own && !told && !counted) {
        tell(c, E0611, code_of(c)->first + c->pc, "this may look at barrier %s before the last phase but one is over, and pass too early", bar_name(c, bar));
        tell_also(c, b->ended - 1, "completes that phase, and no wait for it comes before this one");
        also_unwaited(c);
        hold_told(c, over ? HELD_PROTOCOL : HELD_LOOK, 0);
    }
    s->agents[c->agent].bar = bar;
    if (!over) return true;
    const IrArg *scope = ir_find(op, IRK_SCOPE);
    for (uint32_t i = 0; i < s->items.n && (!scope || scope->id == IRC_CTA); i++)
        if (set_has(bar_set(c, s, bar, BEFORE), 2 * i) && arrives_from_afar(c, &s->items.v[i], bar))
            refuse_narrow(c, bar, s->items.v[i].op);
    uint32_t was = w->item, item = item_new(c, (Item){.kind = ITEM_WAIT, .agent = (uint16_t)c->agent, .op = bar});
    set_join(set_of(c, s, c->agent, KNOWN_ONE), bar_set(c, s, bar, LAST), s->words);
    if (each) set_join(set_of(c, s, c->agent, KNOWN_EACH), bar_set(c, s, bar, LAST), s->words);
    if (was) s->items.v[was - 1].kind = ITEM_NONE;
    set_add(set_of(c, s, c->agent, each ? MINE : KNOWN_ONE), 2 * item);
    *w = (Awaited){p, item + 1, code_of(c)->first + c->pc};
    return false;
}

bool step_bar(Checker *c, const IrOp *op)
{
    if (op->op == IR_BAR_WAIT) return step_wait(c, op);
    step_arrive(c, op);
    return false;
}
