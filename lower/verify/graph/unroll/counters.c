/* Counters in little time: the rings' slots and parities, which go on in every turn.
 *
 * A variable that no op looks at but to make such variables decides nothing: its ops are left out.
 *
 * A stretch of a body has gets and sets alone, of variables whose new values are made from the old ones and numbers. From
 * equal numbers it makes equal numbers, whatever is chosen or known, so what it made of some is kept, and done at once
 * where they come again.
 */
#include <string.h>

#include "lower/verify/graph/unroll/unroll.h"

enum { KEPT = 32, PROBES = 4, VALUES_MOST = 64, VARS_MOST = 16 };

struct Stretch {
    uint32_t end; /* the op behind it, in its body */
    uint32_t steps;
    uint32_t nin, nout, nget, nvalue;
    uint32_t in[VARS_MOST], out[VARS_MOST]; /* variables that it reads first; that it sets */
    uint32_t value[VALUES_MOST];            /* that it defines: by gets, then the others */
    Form was[VARS_MOST];
    Form *kept; /* KEPT times: of in, of out, of value; the first one 0: none */
};

static bool has(const uint32_t *list, uint32_t n, uint32_t x)
{
    for (uint32_t i = 0; i < n; i++)
        if (list[i] == x) return true;
    return false;
}

static bool add(uint32_t *list, uint32_t *n, uint32_t most, uint32_t x)
{
    if (has(list, *n, x)) return true;
    if (*n == most) return false;
    list[(*n)++] = x;
    return true;
}

/* ---- variables that decide nothing ---- */

typedef struct Live {
    bool *value, *var;
} Live;

static void live_value(const Verifier *v, Live *l, IrVal x);

static void live_operands(const Verifier *v, Live *l, const IrOp *op)
{
    for (uint32_t i = 0; i < op->nargs; i++)
        if (op->args[i].kind == IRA_VAL) live_value(v, l, op->args[i].id);
    if (op->guard.pred) live_value(v, l, op->guard.pred);
}

static bool sets(const IrOp *op)
{
    return op->op == IR_SET || op->op == IR_VAR;
}

static void live_value(const Verifier *v, Live *l, IrVal x)
{
    if (l->value[x - 1]) return;
    l->value[x - 1] = true;
    uint32_t index = v->def[x - 1], var = v->operands[index].var;
    live_operands(v, l, v->ops[index]);
    if (v->ops[index]->op != IR_GET || l->var[var]) return;
    l->var[var] = true;
    for (uint32_t i = 0; i < v->nops; i++)
        if (sets(v->ops[i]) && v->operands[i].var == var) live_operands(v, l, v->ops[i]);
}

static void leave_out(Verifier *v)
{
    Live l = {arena_array(v->arena, bool, v->nvalues), arena_array(v->arena, bool, v->k->vars.n)};
    for (uint32_t i = 0; i < v->nops; i++)
        if (!v->operands[i].pure && !sets(v->ops[i]) && v->ops[i]->op != IR_GET) live_operands(v, &l, v->ops[i]);
    for (uint32_t i = 0; i < v->bodies.n; i++) {
        const Body *b = &v->bodies.v[i];
        for (uint32_t j = b->role->ops.n; j-- > 0;) {
            const Operands *o = &v->operands[b->base + j];
            bool of_variable = sets(&b->role->ops.v[j]) || b->role->ops.v[j].op == IR_GET;
            b->next[j] = o->pure || (of_variable && !l.var[o->var]) ? b->next[j + 1] : j;
        }
    }
}

/* ---- which stretches there are ---- */

typedef struct Found {
    uint32_t get[VALUES_MOST], made[VALUES_MOST], nget, nmade;
} Found;

/* Made from gets of the stretch and numbers alone. */
static bool closed(const Verifier *v, Found *f, const IrArg *arg)
{
    if (arg == NULL || arg->kind == IRA_IMM) return true;
    if (arg->kind != IRA_VAL) return false;
    uint32_t value = arg->id - 1, index = v->def[value];
    const IrOp *op = v->ops[index];
    const Operands *o = &v->operands[index];
    if (has(f->get, f->nget, value) || has(f->made, f->nmade, value)) return true;
    if (!o->pure || op->elect || op->guard.pred || v->steers[index] || (o->a == NULL && op->op != IR_CONST)) return false;
    return closed(v, f, o->a) && closed(v, f, o->b) && closed(v, f, o->cond) &&
           add(f->made, &f->nmade, VALUES_MOST, value);
}

static bool takes(const Verifier *v, Stretch *s, Found *f, uint32_t index)
{
    const IrOp *op = v->ops[index];
    uint32_t var = v->operands[index].var;
    if ((op->op != IR_GET && op->op != IR_SET) || op->guard.pred || op->elect || v->steers[index]) return false;
    if (op->op == IR_GET) {
        if (f->nget == VALUES_MOST || (!has(s->out, s->nout, var) && !add(s->in, &s->nin, VARS_MOST, var)))
            return false;
        f->get[f->nget++] = op->dst - 1;
        return true;
    }
    Found before = *f;
    if (closed(v, f, v->operands[index].a) && add(s->out, &s->nout, VARS_MOST, var)) return true;
    *f = before;
    return false;
}

/* The one that begins at op `at` of the body; false if it sets nothing. */
static bool stretch_at(const Verifier *v, const Body *b, uint32_t at, Stretch *s)
{
    Found f;
    f.nget = f.nmade = 0;
    *s = (Stretch){0};
    for (; at < b->role->ops.n && takes(v, s, &f, b->base + at); at = b->next[at + 1]) {
        s->steps++;
        s->end = at + 1;
    }
    s->nget = f.nget;
    s->nvalue = f.nget + f.nmade;
    if (s->nout == 0 || s->nin == 0 || s->nvalue > VALUES_MOST) return false;
    memcpy(s->value, f.get, f.nget * sizeof *f.get);
    memcpy(s->value + f.nget, f.made, f.nmade * sizeof *f.made);
    return true;
}

void counters_prepare(Verifier *v)
{
    v->stretch = arena_array(v->arena, Stretch *, v->nops);
    Stretch s;
    leave_out(v);
    for (uint32_t i = 0; i < v->bodies.n; i++) {
        const Body *b = &v->bodies.v[i];
        for (uint32_t at = b->next[0]; at < b->role->ops.n; at = b->next[at + 1]) {
            if (!stretch_at(v, b, at, &s)) continue;
            v->stretch[b->base + at] = arena_new(v->arena, Stretch);
            *v->stretch[b->base + at] = s;
            at = s.end - 1;
        }
    }
}

/* ---- in a run ---- */

/* Where what is made of these numbers is kept, or will be. */
static Form *place_of(const Stretch *s)
{
    uint32_t h = 0, size = s->nin + s->nout + s->nvalue;
    for (uint32_t i = 0; i < s->nin; i++) h = (h ^ s->was[i]) * UINT32_C(0x9E3779B1);
    h >>= 16;
    for (uint32_t i = 0; i < PROBES; i++) {
        Form *at = s->kept + (h + i) % KEPT * size;
        if (*at == 0 || memcmp(at, s->was, s->nin * sizeof *at) == 0) return at;
    }
    return s->kept + h % KEPT * size;
}

static void apply(Verifier *v, const Stretch *s, const Form *made)
{
    Thread *t = v->now;
    for (uint32_t i = 0; i < s->nout; i++) {
        t->vars[s->out[i]] = *made++;
        t->var_by_trip[s->out[i]] = false;
    }
    for (uint32_t i = 0; i < s->nvalue; i++, made++) {
        uint32_t x = s->value[i];
        t->value[x] = *made;
        t->by_trip[x] = false;
        t->made[v->def[x]]++;
        if (i < s->nget) t->loaded[x] = *made;
    }
}

static void keep(Verifier *v, const Stretch *s, Form *at)
{
    const Thread *t = v->now;
    bool numbers = true;
    for (uint32_t i = 0; i < s->nin; i++) numbers &= form_data(&v->f, s->was[i])->n == 0;
    for (uint32_t i = 0; i < s->nvalue; i++) {
        Form x = t->value[s->value[i]];
        numbers &= x && form_data(&v->f, x)->n == 0 && !t->by_trip[s->value[i]];
    }
    if (!numbers) return;
    memcpy(at, s->was, s->nin * sizeof *at);
    at += s->nin;
    for (uint32_t i = 0; i < s->nout; i++) *at++ = t->vars[s->out[i]];
    for (uint32_t i = 0; i < s->nvalue; i++) *at++ = t->value[s->value[i]];
}

bool counters_turn(Verifier *v, const Body *b, Stretch *s)
{
    Thread *t = v->now;
    if (!form_is(&v->f, t->guard, 1)) return false;
    for (uint32_t i = 0; i < s->nin; i++) {
        s->was[i] = t->vars[s->in[i]];
        if (s->was[i] == 0 || t->var_by_trip[s->in[i]]) return false;
    }
    if (s->kept == NULL) s->kept = arena_array(v->arena, Form, (size_t)KEPT * (s->nin + s->nout + s->nvalue));
    Form *at = place_of(s);
    verify_spend(v, s->steps);
    if (memcmp(at, s->was, s->nin * sizeof *at) == 0) {
        apply(v, s, at + s->nin);
    } else {
        for (; t->pc < s->end; t->pc = b->next[t->pc + 1]) run_step(v);
        keep(v, s, at);
    }
    t->pc = s->end;
    return true;
}
