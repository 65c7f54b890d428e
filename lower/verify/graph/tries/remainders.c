/* Slots, parities and conditions of loops that begin where the launch, the CTA or data say: `for k in first .. last` with slot k % 3. Which
 * slot the first turn has is one of three, and each is tried. What is chosen is the remainder of first by 3: that of first + k, and what
 * quotients by 3 leave of a sum (k - k / 3 * 3), are numbers then, in every role, turn and CTA. Only by what divides the joint
 * period is tried (tries/moduli.c), since the runs have as many turns.
 */
#include "lower/verify/graph/tries/tries.h"

enum { FUEL = 64 };

typedef struct Divided { /* a quotient or remainder by d, of d * more + of + k, 0 <= k < d */
    int64_t d, k;
    Form more, of, remainder; /* the last one: of modulo d */
} Divided;

static bool divided(Forms *f, const FormAtom *a, Divided *q)
{
    Form rest;
    if (a->kind != ATOM_OP || (a->sub != IR_DIV && a->sub != IR_MOD) || a->wild) return false;
    if (!form_is_const(f, a->b, &q->d) || q->d < 2 || !form_split(f, a->a, q->d, &q->more, &rest)) return false;
    q->k = form_data(f, rest)->k;
    q->of = form_add(f, rest, -1, form_const(f, q->k));
    q->remainder = form_atom(f, (FormAtom){.kind = ATOM_OP, .sub = IR_MOD, .type = IR_I64, .a = q->of, .b = a->b, .lo = 0, .hi = q->d - 1});
    return true;
}

static bool chosen(const Verifier *v, Form remainder, int64_t *k)
{
    for (uint32_t i = 0; i < v->choices.n; i++) {
        const Choice *c = &v->choices.v[i];
        if (!c->remainder || c->of != remainder) continue;
        *k = c->value[c->at];
        return true;
    }
    return false;
}

/* c times the atom; 0: nothing chosen makes it another form. */
static Form with_atom(Verifier *v, int64_t c, const FormAtom *a)
{
    Forms *f = &v->f;
    Form zero = form_const(f, 0), x;
    int64_t r;
    Divided q;
    if (a->kind == ATOM_OP && a->sub == IR_CVT && a->type == IR_I32) { /* its last bits */
        x = remainders_put(v, a->a);
        return x == a->a ? 0 : form_add(f, zero, c, form_of_op(f, v->k, &(IrOp){.op = IR_CVT, .type = IR_I32}, 0, x, 0));
    }
    if (!divided(f, a, &q) || !chosen(v, q.remainder, &r)) return 0;
    r += q.k;
    if (a->sub == IR_MOD) return form_add(f, zero, c, form_const(f, r % q.d));
    if (c % q.d == 0) return form_add(f, zero, c / q.d, form_add(f, a->a, -1, form_const(f, r % q.d)));
    x = form_of_op(f, v->k, &(IrOp){.op = IR_DIV, .type = a->type}, 0, q.of, a->b);
    return form_add(f, zero, c, form_add(f, form_add(f, q.more, 1, form_const(f, r / q.d)), 1, x));
}

Form remainders_put(Verifier *v, Form x)
{
    Form sum = x;
    for (uint32_t i = 0; v->remainders && sum && i < form_data(&v->f, x)->n; i++) {
        FormTerm t = form_data(&v->f, x)->t[i];
        FormAtom a = *atom_data(&v->f, t.atom);
        Form y = with_atom(v, t.c, &a);
        if (y) sum = form_add(&v->f, form_add(&v->f, sum, -t.c, form_of_atom(&v->f, t.atom)), 1, y);
    }
    return sum ? sum : x;
}

/* ---- which are tried ---- */

static Form open_in(Verifier *v, Form x, int *fuel);

/* The innermost first: what it is made from decides what is around. */
static Form open_in_atom(Verifier *v, uint32_t atom, int *fuel)
{
    FormAtom a = *atom_data(&v->f, atom);
    const char *parts = form_parts(&a);
    const uint32_t part[] = {a.a, a.b, a.c};
    int64_t k;
    Divided q;
    Form found = 0;
    if (--*fuel < 0) return 0;
    for (int i = 0; i < 3 && found == 0; i++)
        if (parts[i] == 'f') found = open_in(v, part[i], fuel);
        else if (parts[i] == 'a') found = open_in_atom(v, part[i], fuel);
    if (found || !divided(&v->f, &a, &q) || v->joint % q.d || chosen(v, q.remainder, &k)) return found;
    return choice_of_kernel(v, q.of) ? q.remainder : 0;
}

static Form open_in(Verifier *v, Form x, int *fuel)
{
    Form found = 0;
    for (uint32_t i = 0; x && found == 0 && i < form_data(&v->f, x)->n; i++) found = open_in_atom(v, form_data(&v->f, x)->t[i].atom, fuel);
    return found;
}

bool remainders_try(Verifier *v, uint32_t op, Form x)
{
    int fuel = FUEL;
    Form of = open_in(v, x, &fuel);
    if (of) choice_remainder(v, op, of);
    return of != 0;
}
