/* All states that there are, but for those that are examples of others. */
#include "lower/verify/states/say/report.h"

enum {
    NODES_MOST = 20000,
    NODES_OP = 8, /* .. and so many more by op */
    RUNS_MOST = 40,
    WAYS = 3,
    WORK_ALL = 50000000,
    WORK_MOST = 26000000,
    WORK_FEW = 6000000,
    WORK_OPINION = 1000000, /* beside a proof */
    WORK_OP = 6000,         /* .. and so much more by op, in each way */
    LEARNS_MORE = 32,
    WORK_COPY = 400,
    WORK_ROW = 4,
    ITEMS_PER_WORK = 8,
    WORDS_PER_WORK = 16,
    AT_ONCE = 256,
    MORE_ITEMS = 64, /* and twice as many end a turn: then what nobody asks any more is forgotten */
    MORE_FACTS = 16,
    STATES_MOST = 6000, /* that there are, */
    STATES_OPS = 8      /* .. and one more for so many ops */
};

static void spend(Checker *c, uint64_t work)
{
    work += c->n.work * WORK_ROW;
    c->n.work = 0;
    c->work = work < c->work ? c->work - work : 0;
    *c->all_work = work < *c->all_work ? *c->all_work - work : 0;
    if (c->work == 0 || *c->all_work == 0 || c->nstates > STATES_MOST + c->nops / STATES_OPS) lost(c, "too much is open");
}

/* To copy it, or look at all of it. */
static uint64_t work_of(const Checker *c, const State *s)
{
    return WORK_COPY + (uint64_t)all_sets(c, s) * s->words / WORDS_PER_WORK;
}

/* ---- the beginning ---- */

static void begins(Checker *c, uint32_t agent, uint32_t i)
{
    const Begun *x = &c->code.v[c->place[agent].body].begun.v[i];
    Val v = x->what < c->k->value_types.n ? c->init[x->what] : val_num(c, num_k(c, x->var));
    c->begun[c->place[agent].begun + i] = v;
    for (uint32_t atom = 1; v && atom <= c->natoms; atom++)
        if (val_has(c, v, atom)) c->wanted[agent * c->natoms + atom - 1] = x->at + 1; /* they stand in order */
}

static void run_init(Checker *c, uint32_t agent)
{
    const Code *init = &c->code.v[0];
    c->agent = agent;
    c->init = arena_array(c->arena, Val, c->k->value_types.n + 1);
    for (uint32_t i = 0; i < init->role->ops.n; i++) {
        const IrOp *op = &init->role->ops.v[i];
        if (op->dst && c->needed[op->dst - 1]) c->init[op->dst - 1] = val_of_op(c, init->first + i);
    }
    const Code *b = &c->code.v[c->place[agent].body];
    for (uint32_t i = 0; i < b->role->ops.n; i++) {
        const IrOp *op = &b->role->ops.v[i];
        if (of_launch(op) && c->needed[op->dst - 1]) c->init[op->dst - 1] = val_of_op(c, b->first + i);
    }
    for (uint32_t i = 0; i < init->role->ops.n; i++) {
        uint32_t dst = init->role->ops.v[i].dst;
        if (dst && b->slot[dst - 1] && !c->same[dst - 1]) c->st->env[c->place[agent].env + b->slot[dst - 1] - 1] = c->init[dst - 1];
    }
    for (uint32_t i = 0; i < b->begun.n; i++) begins(c, agent, i);
    c->init = NULL;
}

static State *first_state(Checker *c)
{
    State *s = states_new(c);
    c->st = s;
    c->nsteps++;
    c->wanted = arena_array(&c->run, uint32_t, c->nagents * c->natoms + 1);
    for (uint32_t i = 0; i < c->nagents; i++) run_init(c, i);
    for (uint32_t i = 0; i < c->k->mf.checks.n; i++) {
        const MfCheck *x = &c->k->mf.checks.v[i];
        if (x->code == E1101 || x->code == E1143 || x->code == E1123) vec_push(&s->arena, &s->asserted, c->launch_vals[x->cond - 1]);
    }
    return s;
}

/* ---- the end ---- */

static bool known_somewhere(const Checker *c, const State *s, uint32_t item, uint32_t cta, bool all)
{
    for (uint32_t a = 0; a < c->nagents; a++)
        for (uint32_t k = KNOWN_ONE; k <= MINE; k++)
            if ((all || s->agents[a].cta == cta) && set_has(set_of(c, s, a, k), 2 * item)) return true;
    return false;
}

static void check_over(Checker *c, uint32_t i)
{
    const State *s = c->st;
    const Item *x = &s->items.v[i];
    uint32_t cta = x->space % c->nctas;
    if (x->kind != ITEM_ACCESS || (!x->async && !x->core) || x->space == global_space(c)) return;
    c->agent = x->agent;
    c->pc = x->op - code_of(c)->first;
    if (x->async && !known_somewhere(c, s, i, c->meets ? 0 : cta, c->meets)) refuse_in_flight(c, i);
    bool own = x->async ? known_somewhere(c, s, i, cta, false) : s->agents[x->agent].cta == cta;
    if ((x->core && c->frees_alone && !own) || (x->core == CORE_OPEN && c->frees_unfenced)) refuse_freed(c, i);
}

static void check_end(Checker *c)
{
    const State *s = c->st;
    for (uint32_t n = 0; n < 2 * s->items.n; n++) { /* in tensor memory first */
        uint32_t i = n % s->items.n;
        if ((s->items.v[i].core != CORE_NONE) == (n < s->items.n)) check_over(c, i);
    }
    for (uint32_t j = 0; j < s->bars.n && !c->meets; j++)
        for (uint32_t i = 0, b = s->bars.v[j].slot; i < s->items.n; i++) {
            bool far = s->items.v[i].kind == ITEM_ARRIVAL && set_has(bar_set(c, s, b, BEFORE), 2 * i) && arrives_from_afar(c, &s->items.v[i], b);
            if (far && !known_somewhere(c, s, i, b / c->nslots, false))
                refuse_far(c, b, i);
        }
    for (uint32_t i = 0; i < s->bars.n; i++) {
        const Bar *b = &s->bars.v[i];
        int64_t k;
        if (!num_is(&c->n, b->tx, &k) || k || b->pending != (int32_t)c->count[b->slot % c->nslots]) refuse_unfinished(c, b->slot);
    }
}

/* ---- rounds ---- */

static State *pop(State **from)
{
    State *s = *from;
    *from = s->next;
    return s;
}

static void push(State **to, State *s)
{
    s->next = *to;
    *to = s;
}

/* What is told apart in the first round of a guess, by numbers that were there. */
static void keep_fork(Checker *c, uint32_t node)
{
    const NumData *d = num_data(&c->n, c->fork);
    if (node >= c->nodes.n || c->nodes.v[node].of == 0 || d->t[d->n - 1].atom > c->nodes.v[node].natoms) return;
    uint32_t by = c->nodes.v[node].of - 1;
    vec_push(c->arena, &c->asked_of, ((Bound){node, by, banned(c, node, by), c->fork}));
}

static void both_ways(Checker *c, State **to, State *s)
{
    Num not = num_contrary(&c->n, c->fork);
    spend(c, work_of(c, s));
    keep_fork(c, s->node);
    bool last = c->narrow || c->lenient; /* the loop's end comes first there */
    for (int i = 0; i < 2; i++) {
        State *x = states_copy(c, s);
        if (states_assume(c, x, (i == 1) != last ? c->fork : not)) push(to, x);
        else states_free(c, x);
    }
    states_free(c, s);
}

static void each_rest(Checker *c, State **to, State *s)
{
    for (int64_t r = 0; r < c->split_by; r++) {
        State *x = states_copy(c, s);
        if (states_split(c, x, c->split_atom, c->split_by, r)) push(to, x);
        else states_free(c, x);
    }
    states_free(c, s);
}

bool all_done(const Checker *c, const State *s)
{
    for (uint32_t a = 0; a < c->nagents; a++)
        if (!s->agents[a].done) return false;
    return true;
}

/* What copies one after the other do together is asked there no more. */
static bool between_bursts(const Checker *c)
{
    const Agent *a = &c->st->agents[c->agent];
    const IrRole *r = c->code.v[a->body].role;
    IrGroup g = a->pc < r->ops.n ? (IrGroup)ir_op_info((IrOpcode)r->ops.v[a->pc].op)->group : IRG_BARRIER;
    return c->st->neach == 0 && g != IRG_CONTROL && g != IRG_SCALAR && g != IRG_COPY;
}

static bool is_crowded(const State *s)
{
    return s->items.n > 2 * s->items_kept + MORE_ITEMS || s->facts.n > 2 * s->facts_kept + MORE_FACTS;
}

/* The agent's turn, or what goes before it forks. */
static void turn(Checker *c)
{
    State *s = c->st;
    c->agent = s->at;
    Agent *a = &s->agents[c->agent];
    bool was = a->done;
    s->burst++;
    while (!a->done && !(is_crowded(s) && between_bursts(c)) && !step(c)) {
        s->moved = true;
        spend(c, 1 + s->items.n / ITEMS_PER_WORK);
    }
    spend(c, work_of(c, s));
    s->moved |= !was && !a->blocked;
    s->at++;
}

bool run_round(Checker *c, State *s, State **out)
{
    State *volatile work = NULL;
    State *list = NULL;
    s->at = 0;
    s->moved = false;
    push(&list, s);
    work = list;
    while (work) {
        State *top = work;
        c->st = top;
        if (setjmp(c->out)) {
            State *rest = top->next;
            bool asks = (c->stop == STOP_FORK || c->stop == STOP_SPLIT) && !each_tells_apart(c);
            if (asks && c->stop == STOP_FORK) both_ways(c, &rest, top);
            else if (asks) each_rest(c, &rest, top);
            else {
                trace_stop(c);
                c->failed = top->node;
                return false;
            }
            work = rest;
            continue;
        }
        if (top->at < c->nagents) {
            turn(c);
            continue;
        }
        if (!top->moved && !all_done(c, top)) refuse_stuck(c);
        if (all_done(c, top)) check_end(c);
        if (!c->lenient && refusal_held(c)) {
            c->failed = top->node;
            return false;
        }
        work = top->next;
        push(out, top);
    }
    return true;
}

/* ---- nodes ---- */

/* The state at hand, and its signature. */
static Node seen(Checker *c, Sig *sig, Name *name)
{
    State *s = c->st;
    *sig = (Sig){.arena = &s->arena};
    states_write(c, s, sig);
    *name = names_intern(c->sigs, (const char *)sig->words.v, sig->words.n * sizeof *sig->words.v);
    spend(c, sig->words.n / 2 + sig->cells.n + (uint64_t)all_sets(c, s) * s->words); /* as much memory may stay */
    return (Node){.cells = sig->cells.v, .ncells = sig->cells.n, .natoms = c->natoms + s->fresh, .facts = s->facts, .sets = s->sets, .words = s->words, .nsets = all_sets(c, s), .from = s->node};
}

static void *kept(Checker *c, const void *v, size_t n)
{
    void *to = arena_alloc(&c->run, n + 1);
    if (n) memcpy(to, v, n);
    return to;
}

static uint32_t node_new(Checker *c, Node x, Name name)
{
    x.cells = kept(c, x.cells, x.ncells * sizeof *x.cells);
    x.sets = kept(c, x.sets, (size_t)x.nsets * x.words * sizeof *x.sets);
    x.facts = facts_copy(&c->run, &x.facts);
    while (c->heads.n < name) vec_push(&c->run, &c->heads, 0);
    x.same = c->heads.v[name - 1];
    vec_push(&c->run, &c->nodes, x);
    c->heads.v[name - 1] = c->nodes.n;
    return c->nodes.n - 1;
}

/* The state as it is to be gone on from; false: it is one that there is, or there is none such. */
static bool node_of(Checker *c, uint32_t *node)
{
    State *s = c->st;
    Sig sig;
    Name name;
    uint32_t by;
    states_tidy(c, s);
    if (facts_fail(&c->n, &s->facts)) return false;
    Node x = seen(c, &sig, &name), was = x;
    if (covered(c, &x, name)) return false;
    was.facts = facts_copy(&s->arena, &x.facts);
    was.sets = memcpy(arena_array(&s->arena, uint64_t, (size_t)x.nsets * x.words + 1), x.sets, (size_t)x.nsets * x.words * sizeof *x.sets);
    State *kept = c->narrow ? NULL : states_copy(c, s);
    bool guess = !c->narrow && (joined(c, &x, name, s->node, &by) || widened(c, &sig, name, s->node, &by));
    if (guess) {
        trace_by(c, by, "goes on as from");
        states_tidy(c, s);
        x = seen(c, &sig, &name);
        x.of = by + 1;
        x.was = kept;
        bounded(c, &was, by, &x);
    } else if (kept) {
        states_free(c, kept);
    }
    *node = node_new(c, x, name);
    if (guess) {
        c->failed = *node;
        if (!example_of(c, &was, *node)) lost(c, "how it goes on");
        overtake(c, *node);
    }
    trace_state(c, *node);
    return true;
}

/* Of the launches that the kernel's facts allow; what can't be worked out of them is not asked for. */
static State *allowed(Checker *c, State *first)
{
    State *volatile out = NULL, *volatile work = first;
    while (work) {
        State *top = work, *rest = top->next;
        if (top->asserted.n == 0) {
            work = rest;
            push((State **)&out, top);
            continue;
        }
        c->st = top;
        c->agent = 0;
        c->nsteps++;
        if (setjmp(c->out)) {
            State *same = work;
            rest = same->next;
            if (c->stop == STOP_FORK) {
                both_ways(c, &rest, same);
                work = rest;
            } else if (c->stop == STOP_SPLIT) {
                each_rest(c, &rest, same);
                work = rest;
            } else {
                same->asserted.n--;
            }
            continue;
        }
        Val v = top->asserted.v[top->asserted.n - 1];
        bool is = v == 0 || val_truth(c, v);
        top->asserted.n--;
        if (is) continue;
        work = rest;
        states_free(c, top);
    }
    return out;
}

/* The memory of what it was on its way is given back. */
static State *without_waste(Checker *c, State *s)
{
    State *x = states_copy(c, s);
    states_free(c, s);
    return x;
}

/* How far its agents have come, by the loops that they are in: who is behind goes on first, so that those come together that leave a loop. */
static uint32_t progress(const Checker *c, const State *s)
{
    uint32_t far = 0;
    for (uint32_t a = 0; a < c->nagents; a++) far += s->agents[a].done ? c->code.v[s->agents[a].body].role->ops.n : first_ahead(s, a);
    return far;
}

/* False: it has failed. */
static bool explore(Checker *c)
{
    State *work = NULL;
    states_free_all(c);
    arena_clear(&c->run);
    memset(&c->nodes, 0, sizeof c->nodes);
    memset(&c->heads, 0, sizeof c->heads);
    c->asked_of.n = 0;
    c->sigs = names_new(&c->run);
    c->learned = c->any_turns = false;
    if (setjmp(c->out)) return false;
    work = allowed(c, first_state(c));
    for (State *s = work; s; s = s->next) s->node = UINT32_MAX;
    while (work) {
        State *volatile s = pop(&work);
        c->st = s;
        if (all_done(c, s) || (s->node != UINT32_MAX && c->nodes.v[s->node].overtaken)) {
            states_free(c, s);
            continue;
        }
        if (setjmp(c->out)) return false;
        uint32_t n;
        spend(c, work_of(c, s));
        if (!node_of(c, &n)) {
            states_free(c, s);
            continue;
        }
        s->node = n;
        if (c->learned && n > 2 * c->learned_at + LEARNS_MORE) return false;
        if (c->nodes.n > NODES_MOST + NODES_OP * c->nops) {
            c->stop = STOP_LOST;
            c->why = (Refusal){.code = E0660, .op = c->nops, .text = "there are too many states"};
            return false;
        }
        State *list = NULL;
        if (!run_round(c, s, &list)) return false;
        while (list) {
            State *x = without_waste(c, pop(&list)), **to = &work;
            x->node = n;
            x->progress = progress(c, x);
            while (*to && (c->narrow ? (*to)->turns <= x->turns : (*to)->progress < x->progress)) to = &(*to)->next;
            push(to, x);
        }
    }
    return true;
}

static Verdict verdict_now(const Checker *c, bool refused)
{
    return (Verdict){.refused = refused, .why = c->why, .states = c->nodes.n};
}

static bool tidied(Checker *c, State *s)
{
    if (setjmp(c->out)) return false;
    states_tidy(c, s);
    return true;
}

/* Whether something fails within so many rounds of it, without guesses; if it is certain, as certainly. */
static bool fails_within(Checker *c, const State *from, uint32_t rounds, bool certain)
{
    State *now = states_copy(c, from);
    uint32_t n = 1;
    now->next = NULL;
    while (rounds-- && now && n <= AT_ONCE) {
        State *next = NULL;
        while (now) {
            State *s = pop(&now);
            c->st = s;
            if (all_done(c, s)) states_free(c, s);
            else if (!tidied(c, s) || !run_round(c, s, &next)) return c->work && (!certain || c->stop == STOP_REFUSED);
        }
        n = 0;
        for (State *s = next; s; s = s->next) n++;
        now = next;
    }
    return false;
}

/* Whether something was told apart in the first round of a guess that does not bound it yet: it will. */
static bool binds(Checker *c, uint32_t node)
{
    bool more = false;
    for (uint32_t i = 0; i < c->asked_of.n; i++) {
        Bound x = c->asked_of.v[i];
        bool old = x.node != node;
        for (uint32_t j = 0; j < c->bounds.n && !old; j++) {
            const Bound *y = &c->bounds.v[j];
            old = y->node == x.node && y->by == x.by && y->bans == x.bans && y->fork == x.fork;
        }
        if (!old) vec_push(c->arena, &c->bounds, x);
        more |= !old;
    }
    return more;
}

/* What has failed may be no state that there is, if it comes from a guess: then the last one is bounded, or taken back, but for those
 * without which it fails as well. */
static bool blames(Checker *c)
{
    const Verdict was = verdict_now(c, c->stop == STOP_REFUSED);
    State *st = c->st;
    const bool goes_on = c->goes_on;
    uint32_t rounds = 0;
    c->demanded = c->demands && st && launch_demand(c);
    if (c->demanded) return false;
    bool found = false;
    for (uint32_t i = c->failed; i != UINT32_MAX && c->work && !found; i = c->nodes.v[i].from) {
        rounds++;
        if (c->nodes.v[i].of == 0 || fails_within(c, c->nodes.v[i].was, 2 * rounds, was.refused)) continue;
        found = true;
        trace_by(c, i, "it is taken back how it came to");
        if (!binds(c, i)) vec_push(c->arena, &c->bans, ((Ban){i, c->nodes.v[i].of - 1}));
    }
    c->stop = was.refused && c->work ? STOP_REFUSED : STOP_LOST;
    c->why = was.why;
    c->st = st;
    c->goes_on = goes_on;
    return found;
}

static bool prove(Checker *c, uint64_t work)
{
    c->bans.n = c->bounds.n = 0;
    c->work = work + (uint64_t)WORK_OP * c->nops;
    c->forgot = false;
    for (uint32_t run = 0; run < RUNS_MOST; run++) {
        c->failed = UINT32_MAX;
        memset(c->no_asks, 0, c->nagents * CLASSES * sizeof *c->no_asks);
        memset(c->no_touches, 0, c->nagents * SPACES * c->nctas * c->k->bufs.n * sizeof *c->no_touches);
        bool ok = explore(c);
        if (c->learned && c->work) continue;
        if (ok || !blames(c)) return ok;
    }
    c->stop = STOP_LOST;
    c->why = (Refusal){.code = E0660, .op = c->why.op, .text = "there are too many runs"};
    return false;
}

/* Of what is not proved: whether some launch goes wrong, without guesses. */
static Verdict refused(Checker *c, Verdict v, uint64_t work)
{
    c->narrow = c->exact = c->tells = true;
    bool ok = prove(c, work);
    c->narrow = false;
    if (ok) return (Verdict){.proved = true, .states = c->nodes.n};
    bool is = c->stop == STOP_REFUSED && !c->forgot;
    if (is && c->st) refuted_keep(c, c->st);
    if (is) refusal_comes_to(c);
    return is || (c->work && !v.refused) ? verdict_now(c, is) : v;
}

static Verdict in_some_way(Checker *c)
{
    Verdict v = {0};
    bool open[WAYS] = {true, true, true};
    for (int turn = 0; turn < 2 * WAYS; turn++) { /* what takes long in one way may not in the next: as it is; all told apart; turns of inner loops named */
        int way = turn % WAYS;
        if (turn == WAYS) v = refused(c, v, 2 * WORK_FEW);
        if (turn == WAYS && (v.refused || v.proved)) return v;
        if (!open[way]) continue;
        c->exact = way != 2;
        c->tells = way == 1;
        if (prove(c, turn < WAYS ? WORK_FEW : WORK_MOST)) return (Verdict){.proved = true, .states = c->nodes.n};
        open[way] = c->work == 0;
        bool is = turn == 1 && c->stop == STOP_REFUSED && !c->any_turns && !c->forgot;
        if (is) refusal_comes_to(c);
        if (!v.refused) v = verdict_now(c, is);
    }
    c->demands = c->may_demand;
    for (int way = 0; way < WAYS && c->demands && !c->demanded; way++) {
        c->exact = way != 2;
        c->tells = way == 1;
        prove(c, WORK_FEW);
    }
    return v;
}

static Verdict by_its_numbers(Checker *c)
{
    c->narrow = c->exact = c->tells = true;
    if (prove(c, WORK_FEW)) return (Verdict){.proved = true, .states = c->nodes.n};
    bool is = c->stop == STOP_REFUSED && !c->forgot;
    if (is) refusal_comes_to(c);
    return verdict_now(c, is);
}

static void prepare(Checker *c)
{
    numbers_init(&c->n, c->arena);
    values_prepare(c);
    kernel_prepare(c);
    ends_check(c);
}

/* What it takes goes, also where memory runs out. */
static Verdict begun(Checker *c, Verdict how(Checker *c))
{
    Mem *mem = c->arena->mem;
    jmp_buf here, *outer = mem->fail;
    Verdict v = {0};
    arena_borrow(&c->run, c->arena);
    volatile bool failed = setjmp(here) != 0;
    mem->fail = &here;
    if (!failed) {
        bool prepared = setjmp(c->out) == 0;
        if (prepared) prepare(c);
        v = prepared ? how(c) : verdict_now(c, c->stop == STOP_REFUSED);
    }
    states_free_all(c);
    arena_free(&c->run);
    mem->fail = outer;
    if (failed) longjmp(*outer, 1);
    return v;
}

Verdict states_of_launch(Checker *c, const int64_t *given, const uint8_t *status)
{
    Checker *x = arena_new(c->arena, Checker);
    *x = (Checker){.arena = c->arena, .k = c->k, .own = c->own, .k_nodes = c->k_nodes, .sources = c->sources, .given = given, .status = status, .all_work = c->all_work};
    return begun(x, by_its_numbers);
}

/* With room for what is to be demanded of launches. */
static IrKernel *own_copy(Arena *a, const IrKernel *k)
{
    IrKernel *own = arena_new(a, IrKernel);
    *own = *k;
    own->mf.lx = (LxPool){0};
    memset(&own->mf.checks, 0, sizeof own->mf.checks);
    for (uint32_t i = 0; i < k->mf.lx.nodes.n; i++) vec_push(a, &own->mf.lx.nodes, k->mf.lx.nodes.v[i]);
    for (uint32_t i = 0; i < k->mf.checks.n; i++) vec_push(a, &own->mf.checks, k->mf.checks.v[i]);
    return own;
}

enum { DEMANDS_MOST = 8 };

Checker *states_of_all(Arena *a, const IrKernel *k, Sources *sources, bool may_demand, Text *trace, Verdict *v)
{
    IrKernel *own = own_copy(a, k);
    uint64_t work = k->tree.ops.n ? WORK_OPINION : WORK_ALL, ops = 0;
    for (uint32_t i = 0; i < ir_bodies(k); i++) ops += ir_body(k, i)->ops.n;
    work += k->tree.ops.n ? 0 : ops * WORK_OP * WAYS;
    for (uint32_t i = 0;; i++) {
        Checker *c = arena_new(a, Checker);
        *c = (Checker){.arena = a, .k = own, .own = own, .k_nodes = k->mf.lx.nodes.n, .sources = sources, .may_demand = may_demand, .trace = trace, .all_work = &work};
        *v = begun(c, in_some_way);
        bool again = c->demanded || (v->refused && c->refuted.any && launch_judge(c, v));
        if (!again) return c;
        if (i < DEMANDS_MOST) continue;
        v->refused = false;
        return c;
    }
}
