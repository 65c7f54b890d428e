/* After how many turns all that steers comes round together, and so how many turns the runs must have.
 *
 * Which slot a ring begins with counts, and what a loop leaves behind: every residue of all moduli of indices together is
 * another state, each meets each, so v->joint is the least common multiple of them and of the slots of rings, and the runs' S
 * is at least that. Circles of variables have their part in it, too: a modulus in them is an estimate here, and the runs show
 * after how many turns they come back (tries/period.c).
 *
 * What slots, parities, ranks, masks and places in a buffer are made from has to fit into PERIOD_MAX turns. Moduli of
 * conditions and amounts that don't fit beside those are left out: such conditions are held open (tries/compare.c).
 */
#include "lang/checked.h"
#include "lower/verify/graph/tries/tries.h"

enum { PERIOD_MAX = 128 };

typedef struct Modulus {
    int64_t turns;
    uint32_t op;
    bool slots; /* how many slots a ring has */
} Modulus;
typedef struct Moduli {
    Verifier *v;
    VEC(Modulus) all;
    uint64_t vars; /* that slots, parities, places or conditions are made from */
} Moduli;

/* ---- which moduli there are ---- */

static void add(Moduli *m, int64_t turns, uint32_t op, bool slots)
{
    for (uint32_t i = 0; i < m->all.n; i++)
        if (m->all.v[i].turns == turns) return;
    if (turns > 1) vec_push(m->v->arena, &m->all, ((Modulus){turns, op, slots}));
}

static bool returns(const Verifier *v, const IrArg *arg)
{
    return arg == NULL || arg->kind != IRA_VAL || round_returns(&v->rounds[arg->id - 1]);
}

/* What comes round, and is made from what does not. */
static void add_rounds(Moduli *m, uint8_t cones)
{
    Verifier *v = m->v;
    for (uint32_t i = 0; i < v->nops; i++) {
        const Operands *o = &v->operands[i];
        if (!(v->cone[i] & cones) || !o->pure) continue;
        const Round *r = &v->rounds[v->ops[i]->dst - 1];
        if (!round_returns(r) || (returns(v, o->a) && returns(v, o->b) && returns(v, o->cond))) continue;
        if (!(r->loops & v->turning || r->vars & m->vars)) continue;
        add(m, r->turns, i, false);
        for (uint32_t j = 0; j < v->own.n && r->turns > 1; j++)
            v->unlike[v->own.v[j]].rounds |= (r->loops & v->loop_bit[v->own.v[j]]) != 0;
    }
}

/* ---- rings ---- */

static uint32_t slots_of(const Verifier *v, const IrArg *of)
{
    return of->kind == IRA_BAR ? v->k->bars.v[of->id].slots : v->k->bufs.v[of->id].slots;
}

static void find_rings(Moduli *m, uint32_t at)
{
    Verifier *v = m->v;
    const IrOp *op = v->ops[at];
    for (uint32_t i = 0; op->op != IR_BAR_INIT && i < op->nargs; i++) {
        const IrArg *a = &op->args[i];
        if (a->kind != IRA_BAR && a->kind != IRA_BUF) continue;
        uint32_t slots = slots_of(v, a);
        if (slots > 1 && !v->few) add(m, slots, at, true);
    }
}

/* ---- variables that count ---- */

/* The variable's remainder by *by tells what the operand of an op is that is no value; 0: it doesn't. Places in tensors may tell more. */
static void remainder_of(const Verifier *v, const IrArg *arg, uint64_t bit, int64_t *by)
{
    if (arg->kind != IRA_VAL || arg->key == IRK_COORDS || arg->key == IRK_FROM || arg->key == IRK_TO || *by == 0) return;
    const Round *r = &v->rounds[arg->id - 1];
    if (r->vars & bit) *by = round_returns(r) ? rounds_joint(*by, r->turns) : 0;
}

static int64_t remainders(const Verifier *v, uint32_t var)
{
    int64_t by = 1;
    for (uint32_t i = 0; i < v->nops; i++) {
        const IrOp *op = v->ops[i];
        bool own = op->op == IR_SET && v->operands[i].var == var, place = op->op == IR_GADDR;
        remainder_of(v, &(IrArg){.kind = op->guard.pred ? IRA_VAL : IRA_IMM, .id = op->guard.pred}, v->variable_bit[var], &by);
        for (uint32_t j = 0; j < op->nargs && !own && !place && !v->operands[i].pure; j++) remainder_of(v, &op->args[j], v->variable_bit[var], &by);
    }
    return by;
}

/* Each time that it is set it is a number more. */
static bool advances(const Verifier *v, uint32_t var)
{
    bool more = v->variable_bit[var] && !v->parity[var] && v->k->vars.v[var].type == IR_I64;
    for (uint32_t i = v->given_by[var]; i && more; i = v->operands[i - 1].before) {
        const IrArg *a = v->operands[i - 1].a;
        const Round *r = a->kind == IRA_VAL ? &v->rounds[a->id - 1] : NULL;
        if (v->ops[i - 1]->op == IR_SET) more = r && r->exact && r->turns == 1 && r->step == 1 && r->vars == v->variable_bit[var];
    }
    return more;
}

/* Variables that advance and of which remainders alone steer: like an index they need not come back to what they held, only these. */
static void find_counting(Verifier *v)
{
    v->counting = arena_array(v->arena, int64_t, v->k->vars.n);
    bool less = false;
    for (uint32_t i = 0; i < v->k->vars.n; i++) less |= (v->counting[i] = advances(v, i)) != 0;
    if (!less) return;
    while (less) {
        less = false;
        rounds_find(v, 0);
        for (uint32_t i = 0; i < v->k->vars.n; i++) {
            if (v->counting[i] == 0) continue;
            v->counting[i] = remainders(v, i);
            less |= v->counting[i] == 0;
        }
    }
    rounds_find(v, 1);
}

/* ---- all of a kernel ---- */

/* "4 (slots), 5 and 7" */
static const char *parts_text(const Moduli *m, uint32_t n)
{
    const char *text = "";
    for (uint32_t i = 0; i < n; i++) {
        const char *sep = i == 0 ? "" : i + 1 == n ? " and " : ", ";
        text = arena_printf(m->v->arena, "%s%s%lld%s", text, sep, (long long)m->all.v[i].turns,
                            m->all.v[i].slots ? " (slots)" : "");
    }
    return text;
}

/* The first `musts` have to fit. */
static void join_all(Moduli *m, uint32_t musts)
{
    Verifier *v = m->v;
    for (uint32_t i = 0; i < m->all.n; i++) {
        int64_t joint = rounds_joint(v->joint, m->all.v[i].turns);
        if (joint <= PERIOD_MAX) v->joint = (uint32_t)joint;
        if (joint <= PERIOD_MAX || i >= musts || v->few) continue;
        verify_refuse(v, E0660, m->all.v[i].op,
                      "slots, parities and conditions come round after %s turns, all together after %lld: more than %d "
                      "are not tried",
                      parts_text(m, i + 1), (long long)joint, PERIOD_MAX);
        return;
    }
}

/* S is at least the period. */
static void fit_ring(Verifier *v)
{
    uint32_t least = v->slots > v->joint ? v->slots : v->joint;
    v->ring = v->base = v->few ? v->slots : v->conditional ? 2 * least : least;
}

bool moduli_longer(Verifier *v, int64_t turns)
{
    int64_t joint = rounds_joint(v->joint, turns);
    if (joint == v->joint) return false;
    if (joint > PERIOD_MAX) {
        verify_refuse(v, E0660, v->nops,
                      "variables that slots and conditions are made from come back to values that they had after %lld "
                      "turns: more than %d are not tried",
                      (long long)joint, PERIOD_MAX);
        return false;
    }
    v->joint = (uint32_t)joint;
    fit_ring(v);
    return true;
}

void moduli_prepare(Verifier *v)
{
    Moduli m = {.v = v};
    v->unlike = arena_array(v->arena, Unlike, v->nops + 1);
    v->joint = 1;
    find_counting(v);
    for (uint32_t i = 0; i < v->k->vars.n; i++)
        if (!v->parity[i]) m.vars |= v->variable_bit[i];
    for (uint32_t i = 0; i < v->nops; i++) find_rings(&m, i);
    add_rounds(&m, CONE_SYNC | CONE_PLACE);
    uint32_t musts = m.all.n;
    add_rounds(&m, CONE_STEERS);
    join_all(&m, musts);
    fit_ring(v);
    rounds_find(v, 0);
}
