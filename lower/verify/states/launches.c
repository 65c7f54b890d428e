/* Launches: what is refused goes wrong in one of some thousand, with small and large numbers of many kinds, in which it is run once more; what
 * goes wrong in none of these, but in others, the launch has to check. */
#include "lang/checked.h"
#include "lower/verify/states/say/report.h"

enum { LAUNCHES = 4096, RUNS = 8, NEAR = 5000, OWN = 16 };
static const int64_t NUMBERS[] = {1, 2, 3, 5, 8, 0, 17, 100, 192, 1000, 4096, 1000000, -1, -9};
enum { NNUMBERS = sizeof NUMBERS / sizeof *NUMBERS };

/* ---- what is so of the launch's numbers where it goes wrong ---- */

/* Of a remainder by a number it is the quotient (launch_quotient). */
static Lx number_of(Checker *c, uint32_t atom)
{
    LxPool *p = &c->own->mf.lx;
    Lx x = c->atom_lx.v[atom - 1];
    int64_t k;
    if (x == 0 || p->nodes.v[x - 1].op != LX_MOD || !lx_is_const(p, p->nodes.v[x - 1].b, &k)) return x;
    return lx_op(c->arena, p, LX_DIV, p->nodes.v[x - 1].a, p->nodes.v[x - 1].b);
}

/* facts: of the launch's numbers alone. A number of which all that is known is that it is some multiple, and how much more, is divided. */
static void keep_divided(Checker *c, Refuted *to, uint32_t atom, Num is)
{
    const NumData *d = num_data(&c->n, is);
    if (number_of(c, atom) == 0 || d->n != 1 || d->t[0].atom <= c->natoms || d->t[0].c < 2) return;
    vec_push(c->arena, &to->divided, ((Divided){atom, d->t[0].c, d->k}));
}

void refuted_keep(Checker *c, const State *s)
{
    Refuted *to = &c->refuted;
    uint32_t last = c->natoms + s->fresh;
    *to = (Refuted){.facts = facts_copy(c->arena, &s->facts), .any = true};
    for (uint32_t i = 1; i <= c->natoms; i++) {
        Num is = s->launch[i - 1], at = num_atom(&c->n, last + i);
        if (is == 0) continue;
        keep_divided(c, to, i, is);
        Num far = num_add(&c->n, is, -1, at);
        facts_add(&c->n, c->arena, &to->facts, far);
        facts_add(&c->n, c->arena, &to->facts, num_times(&c->n, -1, far));
    }
    for (uint32_t i = 1; i <= last + c->natoms; i++)
        if (i <= last || number_of(c, i - last) == 0) facts_drop(&c->n, c->arena, &to->facts, i);
    uint32_t n = 0;
    for (uint32_t i = 0; i < to->facts.n; i++) {
        Num x = to->facts.v[i];
        for (uint32_t a = 1; a <= c->natoms && x; a++) x = num_put(&c->n, x, last + a, num_atom(&c->n, a));
        if (x && !facts_imply(&c->n, &c->launch_facts, x)) to->facts.v[n++] = x;
    }
    to->facts.n = n;
}

/* ---- as expressions of the launch ---- */

static Lx add_term(Arena *a, LxPool *p, Lx sum, Lx x, int64_t times)
{
    if (times != 1) x = lx_op(a, p, LX_MUL, x, lx_const(a, p, times));
    return sum ? lx_op(a, p, LX_ADD, sum, x) : x;
}

/* x is below 0. */
static Lx below_0(Checker *c, Arena *a, LxPool *p, Num x)
{
    const NumData *d = num_data(&c->n, x);
    Lx side[2] = {0, 0};
    for (uint32_t i = 0; i < d->n; i++) {
        bool less = d->t[i].c < 0;
        side[less] = add_term(a, p, side[less], number_of(c, d->t[i].atom), less ? -d->t[i].c : d->t[i].c);
    }
    if (d->k || !side[0])
        side[0] = side[0] && d->k >= 0 ? lx_op(a, p, LX_ADD, side[0], lx_const(a, p, d->k))
                  : side[0]            ? side[0]
                                       : lx_const(a, p, d->k > 0 ? d->k : 0);
    if (d->k < 0 || !side[1])
        side[1] = side[1] ? lx_op(a, p, LX_ADD, side[1], lx_const(a, p, -d->k)) : lx_const(a, p, d->k < 0 ? -d->k : 0);
    return lx_op(a, p, LX_LT, side[0], side[1]);
}

static Lx contrary(Checker *c)
{
    Arena *a = c->arena;
    LxPool *p = &c->own->mf.lx;
    const Refuted *r = &c->refuted;
    Lx out = 0;
    for (uint32_t i = 0; i < r->facts.n; i++) {
        Lx x = below_0(c, a, p, r->facts.v[i]);
        out = out ? lx_op(a, p, LX_LOR, out, x) : x;
    }
    for (uint32_t i = 0; i < r->divided.n; i++) {
        const Divided *d = &r->divided.v[i];
        Lx by = lx_const(a, p, d->by), number = number_of(c, d->atom), rest = lx_op(a, p, LX_MOD, number, by),
           x = lx_op(a, p, LX_NE, rest, lx_const(a, p, floor_mod_s64(d->rest, d->by)));
        out = out ? lx_op(a, p, LX_LOR, out, x) : x;
    }
    return out;
}

/* ---- launches ---- */

typedef struct Tried {
    Checker *c;
    uint32_t *syms, n; /* that it has */
    uint32_t nodes, at;
    Lx right; /* does not hold; 0: any launch */
    int64_t number[NNUMBERS + OWN];
    uint32_t numbers;
    bool any; /* some pass the checks */
    int64_t *sym, *value;
    uint8_t *status;
} Tried;

static bool passes_checks(const Tried *t)
{
    const MfKernel *mf = &t->c->k->mf;
    lx_eval(mf->lx.nodes.v, t->nodes, t->sym, t->value, t->status);
    for (uint32_t x = 0; x < t->c->k_nodes; x++)
        if (t->status[x] == LX_OK && !interval_within(interval_at(t->value[x]), t->c->launch[x].lo, t->c->launch[x].hi))
            return false;
    for (uint32_t i = 0; i < mf->checks.n; i++) {
        Lx x = mf->checks.v[i].cond;
        if (t->status[x - 1] != LX_OK || t->value[x - 1] == 0) return false;
    }
    return true;
}

/* As if it had been drawn (splitmix64). */
static uint64_t mixed(uint64_t x)
{
    x *= UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

/* Of few symbols all combinations, of more some. False: there is no such launch. */
static bool set_launch(const Tried *t, uint32_t number)
{
    uint32_t n = t->n;
    uint64_t all = 1, at = number;
    for (uint32_t i = 0; i < n && all <= LAUNCHES; i++) all *= t->numbers;
    if (number >= all) return false;
    for (uint32_t i = 0; i < n; i++, at /= t->numbers) {
        uint64_t drawn = mixed((uint64_t)number * n + i + 1);
        t->sym[t->syms[i]] = t->number[(all <= LAUNCHES ? at : drawn) % t->numbers];
    }
    return passes_checks(t);
}

static const char *launch_text(const Tried *t)
{
    Arena *a = t->c->arena;
    const char *text = "";
    for (uint32_t i = 0; i < t->n; i++)
        text = arena_printf(a, "%s%s%s = %lld", text, i ? ", " : "", t->c->k->mf.syms.v[t->syms[i]].name,
                            (long long)t->sym[t->syms[i]]);
    return text;
}

/* The numbers at which what is kept begins or ends to be so. */
static void add_numbers(Tried *t)
{
    Checker *c = t->c;
    memcpy(t->number, NUMBERS, sizeof NUMBERS);
    t->numbers = NNUMBERS;
    for (uint32_t i = 0; i < c->refuted.facts.n && t->numbers < NNUMBERS + OWN; i++) {
        const NumData *d = num_data(&c->n, c->refuted.facts.v[i]);
        if (d->n != 1 || d->k < -NEAR || d->k > NEAR) continue;
        t->number[t->numbers++] = d->t[0].c > 0 ? -floor_div_by(d->k, d->t[0].c) : floor_div_by(d->k, -d->t[0].c);
    }
    for (uint32_t i = 0; i < c->refuted.divided.n && t->numbers < NNUMBERS + OWN; i++)
        t->number[t->numbers++] = c->refuted.divided.v[i].rest;
}

/* Launches that go wrong in the way that is kept. */
static Tried tried(Checker *c, Lx right)
{
    const MfKernel *mf = &c->k->mf;
    Tried t = {.c = c,
               .nodes = mf->lx.nodes.n,
               .right = right,
               .syms = arena_array(c->arena, uint32_t, mf->lx.nodes.n + 1),
               .sym = arena_array(c->arena, int64_t, mf->syms.n + 1)};
    t.value = arena_array(c->arena, int64_t, t.nodes + 1);
    t.status = arena_array(c->arena, uint8_t, t.nodes + 1);
    for (uint32_t i = 0; i < t.nodes; i++)
        if (mf->lx.nodes.v[i].op == LX_SYM) t.syms[t.n++] = (uint32_t)mf->lx.nodes.v[i].k;
    add_numbers(&t);
    return t;
}

static bool next_launch(Tried *t)
{
    while (t->at < LAUNCHES) {
        if (!set_launch(t, t->at++)) continue;
        t->any = true;
        if (t->right == 0 || (t->status[t->right - 1] == LX_OK && t->value[t->right - 1] == 0)) return true;
    }
    return false;
}

static void demand(Checker *c, Lx right, const Refusal *why)
{
    MfCheck check = {.code = E1143, .cond = right, .text = expr_text(c, right), .why = arena_printf(c->arena, "else %s", why->text)};
    if (c->sources) check.place = source_place_text(c->sources, c->arena, span_of_op(c, why->op), true);
    vec_push(c->arena, &c->own->mf.checks, check);
}

bool launch_demand(Checker *c)
{
    refuted_keep(c, c->st);
    Lx right = contrary(c);
    if (right == 0) return false;
    Tried t = tried(c, right);
    if (next_launch(&t) || !t.any) return false;
    demand(c, right, &c->why);
    return true;
}

bool launch_judge(Checker *c, Verdict *v)
{
    Lx right = contrary(c);
    Tried t = tried(c, right);
    bool fine = false;
    uint32_t runs = 0;
    for (; runs < RUNS && next_launch(&t); runs++) {
        Verdict x = states_of_launch(c, t.value, t.status);
        fine |= x.proved;
        if (!x.refused) continue;
        *v = x;
        if (t.n) v->example = launch_text(&t);
        return false;
    }
    bool others = runs == 0 && right && t.any && c->may_demand;
    if (others) demand(c, right, &v->why);
    else if (runs) v->refused = !fine && !c->coarse;
    return others;
}

/* ---- for the launch to check ---- */

static Lx copied(Arena *keep, LxPool *to, const LxPool *from, uint32_t same, Lx x)
{
    const LxNode *n = &from->nodes.v[x - 1];
    if (x <= same) return x;
    if (n->op == LX_CONST) return lx_const(keep, to, n->k);
    Lx a = copied(keep, to, from, same, n->a), b = n->b ? copied(keep, to, from, same, n->b) : 0;
    return lx_op(keep, to, (LxOp)n->op, a, b);
}

static const char *kept(Arena *keep, const char *text)
{
    return text ? arena_strdup(keep, text, strlen(text)) : NULL;
}

void launch_checks(const Checker *c, const Demands *to)
{
    const MfKernel *own = &c->own->mf;
    for (uint32_t i = to->mf->checks.n; i < own->checks.n; i++) {
        MfCheck x = own->checks.v[i];
        x.cond = copied(to->arena, &to->mf->lx, &own->lx, c->k_nodes, x.cond);
        x.text = kept(to->arena, x.text);
        x.why = kept(to->arena, x.why);
        x.place = kept(to->arena, x.place);
        vec_push(to->arena, &to->mf->checks, x);
    }
}
