/* All states that there are, but for those that are examples of others. */
#include "tests/states/checker.h"

enum { NODES_MOST = 20000, RUNS_MOST = 40, WAYS = 3, WORK_MOST = 100000000, WORK_FEW = 3000000, LEARNS_MORE = 32, WORK_COPY = 400, WORK_ROW = 4 };

static void spend(Checker *c, uint64_t work)
{
    work += c->n.work * WORK_ROW;
    c->n.work = 0;
    c->work = work < c->work ? c->work - work : 0;
    if (c->work == 0) lost(c, "too much is open");
}

/* ---- the beginning ---- */

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
    for (uint32_t i = 0; i < c->k->value_types.n; i++)
        if (b->slot[i] && (c->def[i] < b->first || of_launch(c->op[c->def[i]]))) c->st->env[c->place[agent].env + b->slot[i] - 1u] = c->init[i];
    c->init = NULL;
}

static State *first_state(Checker *c)
{
    State *s = states_new(c);
    c->st = s;
    for (uint32_t i = 0; i < c->nbars; i++) s->bars[i] = (Bar){.pending = (int32_t)bar_info(c, i)->count, .tx = num_k(c, 0)};
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

static void check_end(Checker *c)
{
    const State *s = c->st;
    for (uint32_t i = 0; i < s->items.n; i++) {
        const Item *x = &s->items.v[i];
        uint32_t cta = x->space % c->nctas;
        if (x->kind != ITEM_ACCESS || (!x->async && !x->core)) continue;
        c->agent = x->agent;
        c->pc = x->op - code_of(c)->first;
        if (x->async && !known_somewhere(c, s, i, 0, true)) refuse(c, x->write ? E0650 : E0624, "the kernel ends while this copy may still be on its way");
        if (x->async && !c->meets && !known_somewhere(c, s, i, cta, false)) refuse(c, E0625, "CTA %u may end while this copy still accesses its memory", cta);
        bool own = x->async ? known_somewhere(c, s, i, cta, false) : s->agents[x->agent].cta == cta;
        if (x->core && c->frees_alone && !own) refuse(c, E0674, "tensor memory of CTA %u may be freed while this works on it", cta);
    }
    for (uint32_t b = 0; b < c->nbars && !c->meets; b++)
        for (uint32_t i = 0; i < s->items.n; i++) {
            bool far = s->items.v[i].kind == ITEM_ARRIVAL && set_has(bar_set(c, s, b, BEFORE), 2 * i) && arrives_from_afar(c, &s->items.v[i], b);
            if (far && !known_somewhere(c, s, i, b / c->nslots, false))
                refuse(c, E0625, "CTA %u may end before all have arrived at its barrier %s", b / c->nslots, bar_info(c, b)->name);
        }
    for (uint32_t i = 0; i < c->nbars; i++) {
        const Bar *b = &s->bars[i];
        int64_t k;
        const IrBar *bar = bar_info(c, i);
        if (!num_is(&c->n, b->tx, &k) || k) refuse(c, E0605, "the kernel ends while bytes of barrier %s are missing", bar->name);
        if (b->pending != (int32_t)bar->count)
            refuse(c, E0604, "the kernel ends when barrier %s has %d fewer arrivals than its phase", bar->name, (int)b->pending);
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

static void both_ways(Checker *c, State **to, State *s)
{
    Num not = num_contrary(&c->n, c->fork);
    for (int i = 0; i < 2; i++) {
        State *x = states_copy(c, s);
        if (states_assume(c, x, i ? c->fork : not)) push(to, x);
        else states_free(x);
    }
    states_free(s);
}

static void each_rest(Checker *c, State **to, State *s)
{
    for (int64_t r = 0; r < c->split_by; r++) {
        State *x = states_copy(c, s);
        if (states_split(c, x, c->split_atom, c->split_by, r)) push(to, x);
        else states_free(x);
    }
    states_free(s);
}

static void hangs(Checker *c)
{
    const State *s = c->st;
    for (uint32_t a = 0; a < c->nagents; a++) {
        if (s->agents[a].done) continue;
        c->agent = a;
        c->pc = s->agents[a].pc;
        refuse(c, E0603, "%s of CTA %u waits for what does not come: the kernel would hang", code_of(c)->role->name, s->agents[a].cta);
    }
}

static bool all_done(const Checker *c, const State *s)
{
    for (uint32_t a = 0; a < c->nagents; a++)
        if (!s->agents[a].done) return false;
    return true;
}

/* The agent's turn, or what goes before it forks. */
static void turn(Checker *c)
{
    State *s = c->st;
    c->agent = s->at;
    Agent *a = &s->agents[c->agent];
    bool was = a->done;
    while (!a->done && !step(c)) {
        s->moved = true;
        spend(c, 1 + s->items.n);
    }
    spend(c, WORK_COPY);
    s->moved |= !was && !a->blocked;
    s->at++;
}

/* False: it has failed. */
static bool run_round(Checker *c, State *s, State **out)
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
            if (c->stop == STOP_FORK) both_ways(c, &rest, top);
            else if (c->stop == STOP_SPLIT) each_rest(c, &rest, top);
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
        if (!top->moved && !all_done(c, top)) hangs(c);
        if (all_done(c, top)) check_end(c);
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
    return (Node){.cells = sig->cells.v, .ncells = sig->cells.n, .natoms = c->natoms + s->fresh, .facts = s->facts, .sets = s->sets, .words = s->words, .from = s->node};
}

static void *kept(Checker *c, const void *v, size_t n)
{
    void *to = arena_alloc(c->arena, n + 1);
    if (n) memcpy(to, v, n);
    return to;
}

static uint32_t node_new(Checker *c, Node x, Name name)
{
    x.cells = kept(c, x.cells, x.ncells * sizeof *x.cells);
    x.sets = kept(c, x.sets, (size_t)c->nsets * x.words * sizeof *x.sets);
    x.facts = facts_copy(c->arena, &x.facts);
    while (c->heads.n < name) vec_push(c->arena, &c->heads, 0);
    x.same = c->heads.v[name - 1];
    vec_push(c->arena, &c->nodes, x);
    c->heads.v[name - 1] = c->nodes.n;
    return c->nodes.n - 1;
}

/* The state as it is to be gone on from; false: it is one that there is. */
static bool node_of(Checker *c, uint32_t *node)
{
    State *s = c->st;
    Sig sig;
    Name name;
    uint32_t by;
    states_tidy(c, s);
    Node x = seen(c, &sig, &name), was = x;
    if (covered(c, &x, name)) return false;
    was.facts = facts_copy(&s->arena, &x.facts);
    was.sets = memcpy(arena_array(&s->arena, uint64_t, (size_t)c->nsets * x.words + 1), x.sets, (size_t)c->nsets * x.words * sizeof *x.sets);
    bool guess = !c->narrow && widened(c, &sig, name, s->node, &by);
    if (guess) {
        trace_by(c, by, "goes on as from");
        states_tidy(c, s);
        x = seen(c, &sig, &name);
        x.of = by + 1;
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
        states_free(top);
    }
    return out;
}

/* False: it has failed. */
static bool explore(Checker *c)
{
    State *work = NULL;
    c->nodes.n = c->heads.n = 0;
    c->sigs = names_new(c->arena);
    c->learned = false;
    if (setjmp(c->out)) return false;
    work = allowed(c, first_state(c));
    for (State *s = work; s; s = s->next) s->node = UINT32_MAX;
    while (work) {
        State *volatile s = pop(&work);
        c->st = s;
        if (all_done(c, s) || (s->node != UINT32_MAX && c->nodes.v[s->node].overtaken)) {
            states_free(s);
            continue;
        }
        if (setjmp(c->out)) return false;
        uint32_t n;
        spend(c, WORK_COPY);
        if (!node_of(c, &n)) {
            states_free(s);
            continue;
        }
        s->node = n;
        if (c->learned && n > 2 * c->learned_at + LEARNS_MORE) return false;
        if (c->nodes.n > NODES_MOST) {
            c->stop = STOP_LOST;
            c->why = arena_printf(c->arena, "too many states: %s", c->why ? c->why : "");
            c->why_op = c->nops;
            return false;
        }
        State *list = NULL;
        if (!run_round(c, s, &list)) return false;
        while (list) {
            State *x = pop(&list), **to = &work;
            x->node = n;
            while (c->narrow && *to) to = &(*to)->next; /* those of few rounds first */
            push(to, x);
        }
    }
    return true;
}

/* What has failed may be no state that there is, if it comes from a guess: then without that. */
static bool blames(Checker *c)
{
    for (uint32_t i = c->failed; i != UINT32_MAX && c->work; i = c->nodes.v[i].from) {
        if (c->nodes.v[i].of == 0) continue;
        vec_push(c->arena, &c->bans, ((Ban){i, c->nodes.v[i].of - 1}));
        return true;
    }
    return false;
}

static bool prove(Checker *c, uint64_t work)
{
    c->bans.n = 0;
    c->work = work;
    for (uint32_t run = 0; run < RUNS_MOST; run++) {
        c->failed = UINT32_MAX;
        bool ok = explore(c);
        if (c->learned && c->work) continue;
        if (ok || !blames(c)) return ok;
    }
    c->stop = STOP_LOST;
    c->why = "too many runs";
    return false;
}

static Verdict verdict_now(const Checker *c, bool refused)
{
    return (Verdict){.refused = refused, .code = c->error, .text = c->why, .op = c->why_op, .states = c->nodes.n};
}

/* Of what is not proved: whether some launch goes wrong, without guesses. */
static Verdict refused(Checker *c)
{
    Verdict v = verdict_now(c, false);
    c->narrow = c->exact = true;
    prove(c, WORK_FEW);
    c->narrow = false;
    return c->stop == STOP_REFUSED ? verdict_now(c, true) : v;
}

Verdict states_check(Arena *a, const IrKernel *k, Text *trace)
{
    Checker *c = arena_new(a, Checker);
    c->arena = a;
    c->k = k;
    c->trace = trace;
    numbers_init(&c->n, a);
    if (setjmp(c->out) == 0) {
        kernel_prepare(c);
        values_prepare(c);
        ends_check(c);
        Verdict v = {0};
        bool open[WAYS] = {true, true, true};
        for (int turn = 0; turn < 2 * WAYS; turn++) { /* what takes long in one way may not in the next */
            int way = turn % WAYS;
            if (turn == WAYS && !v.refused) v = refused(c);
            if (turn == WAYS && v.refused) return v;
            if (!open[way]) continue;
            c->forgets = way == 1;
            c->exact = way == 2;
            if (prove(c, turn < WAYS ? WORK_FEW : WORK_MOST)) return (Verdict){.proved = true, .states = c->nodes.n};
            open[way] = c->work == 0;
            if (turn == 0 && c->stop == STOP_REFUSED) v = verdict_now(c, true);
        }
        return v;
    }
    return verdict_now(c, c->stop == STOP_REFUSED);
}
