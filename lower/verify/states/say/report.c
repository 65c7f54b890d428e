/* Refusals: they are told where they are found, and most are taken back with the guess that they come from; the last word becomes a diagnostic. */
#include "lower/verify/states/say/report.h"

#include <stdarg.h>

/* ---- telling ---- */

void tell(Checker *c, ErrorCode code, uint32_t op, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    c->why = (Refusal){.code = code, .op = op, .text = arena_vprintf(c->arena, fmt, ap)};
    va_end(ap);
}

void tell_also(Checker *c, uint32_t op, const char *fmt, ...)
{
    va_list ap;
    if (op == NOWHERE || c->why.nalso == SAID_ALSO) return;
    va_start(ap, fmt);
    c->why.also[c->why.nalso++] = (Said){op, arena_vprintf(c->arena, fmt, ap)};
    va_end(ap);
}

void tell_note(Checker *c, const char *fmt, ...)
{
    va_list ap;
    if (c->why.nnotes == SAID_NOTES) return;
    va_start(ap, fmt);
    c->why.note[c->why.nnotes++] = arena_vprintf(c->arena, fmt, ap);
    va_end(ap);
}

void tell_fix(Checker *c, const char *fmt, ...)
{
    va_list ap;
    if (c->why.fix) return;
    va_start(ap, fmt);
    c->why.fix = arena_vprintf(c->arena, fmt, ap);
    va_end(ap);
}

/* What is wrong with a run, of what was held and what ends it (now; NULL: nothing does). A race says more than that a phase may be mistaken, and less
 * than that nobody can go on, or that something should not have been done. */
static const Refusal *last_word(const Checker *c, const Refusal *now)
{
    const State *s = c->st;
    const Refusal *race = s->held[HELD_RACE], *protocol = s->held[HELD_PROTOCOL];
    if (protocol == NULL && (now == NULL || all_done(c, s))) protocol = s->held[HELD_LOOK];
    if (protocol) return race ? race : protocol;
    if (now && !all_done(c, s)) return now;
    return race ? race : s->held[HELD_UNWRITTEN] ? s->held[HELD_UNWRITTEN] : now;
}

void refuse_told(Checker *c)
{
    if (c->st) c->why = *last_word(c, &c->why);
    c->why.at = c->st;
    c->goes_on = false;
    stop_at(c, STOP_REFUSED);
}

bool refusal_held(Checker *c)
{
    const Refusal *r = last_word(c, NULL);
    if (r == NULL) return false;
    c->why = *r;
    c->stop = STOP_REFUSED;
    c->why.at = c->st;
    c->goes_on = true;
    return true;
}

void hold_told(Checker *c, int sort, int plain)
{
    State *s = c->st;
    if (s->held[sort] && (sort != HELD_RACE || s->plain >= plain || s->held[HELD_PROTOCOL]))
        return; /* what is seen where phases are mistaken may come of that */
    Refusal *r = arena_new(c->arena, Refusal);
    *r = c->why;
    s->held[sort] = r;
    s->plain = sort == HELD_RACE ? plain : s->plain;
}

void lost_as(Checker *c, ErrorCode code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    tell(c, code, code_of(c)->first + c->pc, "%s", arena_vprintf(c->arena, fmt, ap));
    va_end(ap);
    stop_at(c, STOP_LOST);
}

enum { STATES_MORE = 400, WORK_MORE = 400000 };

/* From the state at hand, in which something was held: to the end of a run of few turns. */
void refusal_comes_to(Checker *c)
{
    Refusal first = c->why;
    State *work = c->st;
    uint32_t left = STATES_MORE;
    if (!c->goes_on) return;
    work->next = NULL;
    c->lenient = true;
    c->work = WORK_MORE;
    for (bool over = false; work && left && !over; left--) {
        State *s = work, *list = NULL;
        work = s->next;
        c->st = s;
        over = all_done(c, s) ? refusal_held(c) : !run_round(c, s, &list) && c->stop == STOP_REFUSED;
        while (list) {
            State *x = list, **to = &work;
            list = x->next;
            while (*to && (*to)->turns <= x->turns) to = &(*to)->next;
            x->next = *to;
            *to = x;
        }
        first = over ? c->why : first;
    }
    c->lenient = false;
    c->stop = STOP_REFUSED;
    c->why = first;
}

void place_in_run(Checker *c, Item *x)
{
    const Agent *a = &c->st->agents[c->agent];
    x->when = ++c->st->now;
    x->level = x->nth = 0;
    for (uint32_t i = 0; i < a->depth; i++) {
        const Frame *f = &c->st->frames[a->frames + i];
        if (!code_of(c)->steps[f->op]) continue;
        x->level++;
        x->nth = f->turn;
    }
}

/* ---- names ---- */

static uint32_t body_of(const Checker *c, uint32_t op)
{
    uint32_t b = 0;
    while (b + 1 < c->code.n && c->code.v[b + 1].first <= op) b++;
    return b;
}

const char *op_text(const Checker *c, uint32_t op)
{
    if (op >= c->nops) return "the end";
    const char *text = ir_op_info((IrOpcode)c->op[op]->op)->text,
               *role = c->code.v[body_of(c, op)].role->name; /* init and exit have none */
    return c->nroles < 2 || role == NULL ? text : arena_printf(c->arena, "%s of %s", text, role);
}

const char *role_of(const Checker *c, uint32_t agent)
{
    return c->code.v[c->place[agent].body].role->name;
}

const char *who(const Checker *c, uint32_t agent)
{
    uint32_t cta = c->place[agent].cta;
    if (c->nroles < 2) return arena_printf(c->arena, "CTA %u", cta);
    return c->nctas == 1 ? arena_printf(c->arena, "role `%s`", role_of(c, agent))
                         : arena_printf(c->arena, "role `%s` of CTA %u", role_of(c, agent), cta);
}

const char *bar_name(const Checker *c, uint32_t bar)
{
    const IrBar *b = bar_info(c, bar);
    const char *name = b->slots == 1 ? b->name
                                     : arena_printf(c->arena, "%s[%u]", b->name,
                                                    bar % c->nslots - c->bar_base[bar_number(c, bar)]);
    return c->nctas == 1 ? name : arena_printf(c->arena, "%s of CTA %u", name, bar / c->nslots);
}

const char *bar_text(const Checker *c, uint32_t b)
{
    const IrBar *x = &c->k->bars.v[b];
    return x->slots == 1 ? x->name : arena_printf(c->arena, "%s[..]", x->name);
}

const char *num_shown(const Checker *c, Num x)
{
    int64_t k;
    return num_is(&c->n, x, &k) ? arena_printf(c->arena, "%lld", (long long)k) : "(known at run time)";
}

/* ---- what the program has ---- */

uint32_t use_of(const Checker *c, uint32_t body, uint32_t b, bool waits)
{
    const Code *code = &c->code.v[body];
    uint32_t end = body ? code->first + code->role->ops.n : c->nops;
    for (uint32_t i = body ? code->first : 0; i < end; i++) {
        const IrArg *bar = ir_find(c->op[i], IRK_BAR);
        bool wait = c->op[i]->op == IR_BAR_WAIT && bar->id == b;
        if (waits ? wait : counts(c, i, b)) return i;
    }
    return NOWHERE;
}

uint32_t unwaited_use(const Checker *c, uint32_t body, uint32_t b)
{
    bool fine = c->k->bars.v[b].derived || use_of(c, 0, b, true) != NOWHERE;
    return fine ? NOWHERE : use_of(c, body, b, false);
}

uint32_t last_use(const Checker *c, uint32_t body, uint32_t buf)
{
    const Code *b = &c->code.v[body];
    for (uint32_t i = b->role->ops.n; i-- > 0;)
        for (uint32_t j = 0; j < b->role->ops.v[i].nargs; j++)
            if (b->role->ops.v[i].args[j].kind == IRA_BUF && b->role->ops.v[i].args[j].id == buf) return b->first + i;
    return NOWHERE;
}

uint32_t other_user(const Checker *c, uint32_t but, uint32_t buf)
{
    uint32_t user = 0;
    for (uint32_t r = 1; r <= c->nroles; r++) {
        if (r == but || last_use(c, r, buf) == NOWHERE) continue;
        if (user) return 0;
        user = r;
    }
    return user;
}

/* ---- diagnostics ---- */

/* The op, or where the compiler has added it the next one that has a statement, or one before it; NULL: there is none. */
static const IrOp *placed(const Checker *c, uint32_t op)
{
    if (op >= c->nops) return NULL;
    const Code *b = &c->code.v[body_of(c, op)];
    uint32_t end = b->first + b->role->ops.n;
    for (uint32_t i = op; i < end; i++)
        if (c->op[i]->span.hi) return c->op[i];
    for (uint32_t i = op; i-- > b->first;)
        if (c->op[i]->span.hi) return c->op[i];
    return NULL;
}

Span span_of_op(const Checker *c, uint32_t op)
{
    const IrOp *at = placed(c, op);
    return at ? at->span : c->k->span;
}

void refusal_diag(const Checker *c, Diags *d, const Refusal *r)
{
    const IrOp *at = placed(c, r->op);
    Diag *g = diag_at(d, r->code, at ? at->span : c->k->span, "%s", r->text);
    if (r->op < c->nops && c->op[r->op]->span.hi == 0)
        diag_note(d, g, (Span){0, 0}, "at an op that the compiler added near here: %s", op_text(c, r->op));
    if (at) ir_call_notes(d, g, c->k, at->call);
    for (uint32_t i = 0; i < r->nalso; i++) {
        diag_label(d, g, span_of_op(c, r->also[i].op), "%s (%s)", r->also[i].text, op_text(c, r->also[i].op));
    }
    if (r->bar && c->k->bars.v[r->bar - 1].span.hi) diag_label(d, g, c->k->bars.v[r->bar - 1].span, "the barrier");
    for (uint32_t i = 0; i < r->nnotes; i++) diag_note(d, g, (Span){0, 0}, "%s", r->note[i]);
    if (r->fix) diag_fix(d, g, "%s", r->fix);
}

Verdict states_check(Arena *a, const IrKernel *k, Text *trace)
{
    Verdict v;
    states_of_all(a, k, NULL, true, trace, &v);
    return v;
}

/* Of what takes too long: where cases are told apart most often, each place once. */
static void tell_open(Checker *c)
{
    enum { TOLD = 3, OFTEN = 16 };
    if (c->forks) tell_note(c, "fewer slots, fewer conditions in a turn, or one loop in the place of a nest, are easier to follow");
    for (uint32_t told = 0; told < TOLD && c->forks; told++) {
        uint32_t most = 0;
        for (uint32_t i = 1; i < c->nops; i++)
            if (c->forks[i] > c->forks[most]) most = i;
        if (c->forks[most] < OFTEN) return;
        for (uint32_t i = 0; i < c->nops; i++)
            if (memcmp(&c->op[i]->span, &c->op[most]->span, sizeof c->op[i]->span) == 0) c->forks[i] = 0;
        tell_also(c, most, "how this comes out is open, again and again");
    }
}

static void last_touches(Checker *c, bool refused, const char *example)
{
    ErrorCode code = c->why.code;
    bool hangs = code == E0603 || code == E0604 || code == E0607 || code == E0656 || code == E0671;
    if (refused && example) tell_note(c, "as with %s", example);
    if (refused && hangs && c->forks && example == NULL)
        c->why.text = arena_printf(c->arena, "%s, if loops and conditions come out so", c->why.text);
    if (refused || code != E0660) return;
    c->why.text = arena_printf(c->arena, "what can't be followed here: %s", c->why.text);
    tell_open(c);
}

bool ir_verify_states(Arena *a, Diags *d, const IrKernel *k, const Demands *to, Text *certificate)
{
    ArenaMark mark = arena_mark(a);
    const char *malformed = ir_check(a, k);
    if (malformed) {
        diag_at(d, E0662, k->span, "%s", malformed);
        return false;
    }
    if (k->roles.n == 0) return true;
    Verdict v;
    Checker *c = states_of_all(a, k, d->sources, to != NULL, NULL, &v);
    c->why = v.why;
    if (!v.proved) last_touches(c, v.refused, v.example);
    if (!v.proved) refusal_diag(c, d, &c->why);
    if (v.proved && to) launch_checks(c, to);
    if (v.proved && certificate) text_lit(certificate, "; proved: by the states of its roles, in all launches\n");
    /* The line table, too, may have been made in `a` meanwhile. */
    if (d->arena != a && (d->sources == NULL || d->sources->arena != a)) arena_release(a, mark);
    return v.proved;
}
