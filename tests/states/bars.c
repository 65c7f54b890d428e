/* Barriers. In the one schedule an arrival, and the bytes of a copy, count at once. That they count on that phase in every schedule is
 * because who counts on a phase knows all that counted on the one before, and who completes it knows that whoever waits for the one before
 * has done so. */
#include "lang/limits.h"
#include "tests/states/checker.h"

const IrBar *bar_info(const Checker *c, uint32_t bar)
{
    uint32_t b = 0, slot = bar % c->nslots;
    while (b + 1 < c->k->bars.n && c->bar_base[b + 1] <= slot) b++;
    return &c->k->bars.v[b];
}

static const char *bar_name(const Checker *c, uint32_t bar)
{
    return bar_info(c, bar)->name;
}

uint32_t bar_of(Checker *c, const IrOp *op, uint32_t cta)
{
    const IrArg *bar = ir_find(op, IRK_BAR), *slot = ir_part(op, bar, IRK_SLOT);
    Num n = slot ? val_force(c, val_of_arg(c, slot)) : num_k(c, 0);
    int64_t k;
    if (!num_is(&c->n, n, &k)) lost(c, "which slot of barrier %s this is", c->k->bars.v[bar->id].name);
    if (k < 0 || k >= c->k->bars.v[bar->id].slots)
        refuse(c, E0658, "slot %lld of barrier %s, which has %u", (long long)k, c->k->bars.v[bar->id].name, c->k->bars.v[bar->id].slots);
    if (cta != c->st->agents[c->agent].cta && !c->begins) refuse(c, E0653, "barrier %s of another CTA, which may not be initialised", c->k->bars.v[bar->id].name);
    return cta * c->nslots + c->bar_base[bar->id] + (uint32_t)k;
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

void count_on(Checker *c, uint32_t bar, uint32_t item, bool each, bool certain)
{
    State *s = c->st;
    const uint64_t *known = set_of(c, s, c->agent, each ? KNOWN_EACH : KNOWN_ONE);
    uint64_t *heard = bar_set(c, s, bar, HEARD);
    if (!within(bar_set(c, s, bar, BEFORE), known, s->words))
        refuse(c, E0611, "this may count on the phase of barrier %s before the one that it is for", bar_name(c, bar));
    set_add(bar_set(c, s, bar, ARRIVED), 2 * item);
    set_add(heard, 2 * item);
    if (!certain) return;
    set_join(heard, known, s->words);
    if (!each) return;
    set_join(heard, set_of(c, s, c->agent, KNOWN_ONE), s->words);
    set_join(heard, set_of(c, s, c->agent, MINE), s->words);
}

void bar_bytes(Checker *c, uint32_t bar, Num bytes, int64_t times)
{
    Bar *b = &c->st->bars[bar];
    b->tx = num_add(&c->n, b->tx ? b->tx : num_k(c, 0), times, bytes);
    if (b->tx == 0) lost(c, "the bytes of barrier %s", bar_name(c, bar));
    Num room = num_add(&c->n, num_k(c, MBARRIER_MOST), -1, b->tx);
    if (!facts_imply(&c->n, &c->st->facts, room)) refuse(c, E0623, "more bytes on one phase of `%s` than a barrier counts", bar_name(c, bar));
}

static bool none_missing(Checker *c, const Bar *b)
{
    int64_t k;
    if (b->tx == 0) return true;
    if (num_is(&c->n, b->tx, &k)) return k == 0;
    return facts_imply(&c->n, &c->st->facts, b->tx) && facts_imply(&c->n, &c->st->facts, num_times(&c->n, -1, b->tx));
}

void bar_complete(Checker *c, uint32_t bar)
{
    State *s = c->st;
    Bar *b = &s->bars[bar];
    uint64_t *heard = bar_set(c, s, bar, HEARD), *arrived = bar_set(c, s, bar, ARRIVED), waiters = c->waiters[bar_info(c, bar) - c->k->bars.v];
    if (b->pending < 0) refuse(c, E0604, "one arrival too many: barrier %s has all %u of its phase", bar_name(c, bar), bar_info(c, bar)->count);
    if (b->pending > 0 || !none_missing(c, b)) return;
    if (b->loose) refuse(c, E0655, "barrier %s may have all its arrivals before it is told to expect bytes", bar_name(c, bar));
    for (uint32_t r = 0; r < c->nroles; r++) {
        const Awaited *w = &s->awaited[bar * c->nroles + r];
        if (waiters >> r & 1 && w->phase >= b->phase - 1 && w->item && !set_has(heard, 2 * (w->item - 1)))
            refuse(c, E0611, "the phase after the one that role %s waits for may be over before it looks at barrier %s", c->k->roles.v[r].name, bar_name(c, bar));
    }
    uint32_t words = s->words;
    memcpy(bar_set(c, s, bar, LAST), heard, words * sizeof *heard);
    memcpy(bar_set(c, s, bar, BEFORE), arrived, words * sizeof *heard);
    memset(heard, 0, words * sizeof *heard);
    memset(arrived, 0, words * sizeof *arrived);
    b->phase++;
    b->pending = (int32_t)bar_info(c, bar)->count;
    b->tx = num_k(c, 0);
}

/* ---- steps ---- */

static void step_arrive(Checker *c, const IrOp *op)
{
    State *s = c->st;
    bool each = by_each(c, op), arrives = op->op != IR_BAR_EXPECT;
    int32_t times = each ? (int32_t)(32 * code_of(c)->role->warps) : 1;
    const IrArg *bytes = ir_find(op, IRK_BYTES);
    Num n = bytes ? val_soft(c, val_of_arg(c, bytes)) : num_k(c, 0);
    uint32_t bar[64], nbars = bars_of(c, op, bar);
    if (!facts_imply(&c->n, &s->facts, n)) refuse(c, E0605, "the bytes that barrier %s expects are not certain to be at least 0", bar_name(c, bar[0]));
    for (uint32_t i = 0; i < nbars; i++) {
        uint32_t item = item_new(c, (Item){.kind = ITEM_ARRIVAL, .agent = (uint16_t)c->agent, .op = code_of(c)->first + c->pc});
        count_on(c, bar[i], item, each, true);
        set_add(set_of(c, s, c->agent, each ? MINE : KNOWN_ONE), 2 * item);
        Bar *b = &s->bars[bar[i]];
        uint64_t me = UINT64_C(1) << c->agent % 64;
        b->loose = arrives ? b->loose & ~me : b->loose | me;
        b->pending -= arrives ? times : 0;
        bar_bytes(c, bar[i], n, times);
        bar_complete(c, bar[i]);
    }
}

static bool arrived_itself(const Checker *c, const uint64_t *set)
{
    const State *s = c->st;
    for (uint32_t i = 0; i < s->items.n; i++)
        if (set_has(set, 2 * i) && s->items.v[i].kind == ITEM_ARRIVAL && s->items.v[i].agent == c->agent) return true;
    return false;
}

/* Whether it waits. */
static bool step_wait(Checker *c, const IrOp *op)
{
    State *s = c->st;
    uint32_t bar = bar_of(c, op, s->agents[c->agent].cta);
    Bar *b = &s->bars[bar];
    bool each = by_each(c, op);
    int64_t parity;
    if (!num_is(&c->n, val_force(c, val_of_arg(c, ir_find(op, IRK_PHASE))), &parity)) lost(c, "the parity");
    if (b->pending == 0 && !none_missing(c, b) && !ask(c, num_plus(&c->n, b->tx, -1)))
        ask(c, num_contrary(&c->n, b->tx)); /* it is told apart whether bytes are missing */
    if (b->pending == 0) bar_complete(c, bar);
    bool over = ((b->phase - 1) & 1) == parity;
    int32_t p = over ? b->phase - 1 : b->phase;
    Awaited *w = &s->awaited[bar * c->nroles + (s->agents[c->agent].body - 1u)];
    const uint64_t *known = set_of(c, s, c->agent, each ? KNOWN_EACH : KNOWN_ONE);
    bool own = w->item && w->phase >= p - 1 && (set_has(known, 2 * (w->item - 1)) || (each && set_has(set_of(c, s, c->agent, MINE), 2 * (w->item - 1))));
    bool told = p == b->phase && within(bar_set(c, s, bar, BEFORE), known, s->words);
    bool counted = arrived_itself(c, over ? bar_set(c, s, bar, BEFORE) : bar_set(c, s, bar, ARRIVED)); /* so it knew the phase before to be over */
    if (p > 0 && !own && !told && !counted) refuse(c, E0611, "this may look at barrier %s before the last phase but one is over, and pass too early", bar_name(c, bar));
    if (!over) return true;
    const IrArg *scope = ir_find(op, IRK_SCOPE);
    for (uint32_t i = 0; i < s->items.n && (!scope || scope->id == IRC_CTA); i++)
        if (set_has(bar_set(c, s, bar, BEFORE), 2 * i) && arrives_from_afar(c, &s->items.v[i], bar))
            refuse(c, E0670, "other CTAs arrive at barrier %s, and this wait acquires from its own alone", bar_name(c, bar));
    uint32_t was = w->item, item = item_new(c, (Item){.kind = ITEM_WAIT, .agent = (uint16_t)c->agent, .op = bar});
    set_join(set_of(c, s, c->agent, KNOWN_ONE), bar_set(c, s, bar, LAST), s->words);
    if (each) set_join(set_of(c, s, c->agent, KNOWN_EACH), bar_set(c, s, bar, LAST), s->words);
    if (was) s->items.v[was - 1].kind = ITEM_NONE;
    set_add(set_of(c, s, c->agent, each ? MINE : KNOWN_ONE), 2 * item);
    *w = (Awaited){p, item + 1};
    return false;
}

bool step_bar(Checker *c, const IrOp *op)
{
    if (op->op == IR_BAR_WAIT) return step_wait(c, op);
    step_arrive(c, op);
    return false;
}
