/* Numbers that several indices make: where starts go by c / n and c modulo n for c = k * G + cta.x, c is an index of its own, whose digits
 * those are. Boxes that agree in all of them agree in c, which is one axis more. */
#include "lower/algebra/domain/inside.h"

typedef struct Number {
    const Runs *runs;
    Poly body, is; /* what of it moves; that, as an index */
    bool any;
} Number;

/* What moves in the number that q is a quotient of; false where it is an index already, or nothing is known of it. */
static bool number_in(Domain *d, const Runs *runs, Atom q, Poly *body, Poly *rest, Poly *den)
{
    const AtomInfo *info = atom_info(d, q);
    if (info->kind != ATOM_DIV || !(info->depends & VARIES)) return false;
    *den = poly_now(d, info->b);
    domain_split(d, poly_now(d, info->a), VARIES, body, rest);
    Atom x = poly_plain(*body);
    if (body->n == 0 || body->bad || (x && atom_info(d, x)->kind == ATOM_INDEX)) return false;
    return (poly_depends(d, *den) & ~(unsigned)DEP_LAUNCH) == 0 && (info->positive || prove_ge0_where(d, runs, raw_plus(d, *den, -1), PROOF_STEPS));
}

/* (132 * k + x) / 16 is written 8 * k + (4 * k + x) / 16. Of p = coef * (body / den + more) + .. that is what was divided. */
static Poly undivided(Domain *d, Poly p, Atom q, Poly body, Poly den)
{
    Poly coef, rest, more;
    poly_split(d, p, q, &coef, &rest);
    for (uint32_t i = 0; i < rest.n; i++) {
        const Term *t = &rest.terms[i];
        if (t->natoms == 1 && poly_mentions(d, body, t->atoms[0]) && poly_exact(d, (Poly){t, 1, false}, coef, &more))
            body = raw_add(d, body, raw_mul(d, den, more));
    }
    return body;
}

/* body as an index from its least value on. */
static Poly counted(Domain *d, Poly body, Atom *index)
{
    Poly lo, hi;
    if (!poly_extreme(d, body, false, DEP_LAUNCH, &lo)) return POLY_BAD;
    Poly count = poly_extreme(d, body, true, DEP_LAUNCH, &hi) ? raw_plus(d, raw_sub(d, hi, lo), 1)
                                                              : raw_atom(d, domain_opaque(d, "count", 1, INT64_MAX, 1, 0, DEP_DATA));
    *index = turned_index(d, (Turned){.num = body, .kind = TURNED_NOT}, count);
    return raw_add(d, lo, raw_atom(d, *index));
}

static Poly quotient_of(Domain *d, Atom q, void *context)
{
    Number *c = context;
    Poly body, rest, den, more;
    if (!number_in(d, c->runs, q, &body, &rest, &den) || !poly_exact(d, raw_sub(d, c->body, body), den, &more)) return raw_atom(d, q);
    c->any = true;
    return raw_sub(d, poly_div(d, raw_add(d, c->is, rest), den), more);
}

/* p with the number in the place of the indices that make it, in its quotients and beside them. */
static Poly by_number(Domain *d, Poly p, Number *c)
{
    Poly own, part, s, rest;
    c->any = false;
    p = with_values(d, p, quotient_of, c);
    for (uint32_t i = 0; i < c->body.n && c->any; i++) {
        if (c->body.terms[i].natoms != 1) continue;
        poly_split(d, p, c->body.terms[i].atoms[0], &own, &rest);
        poly_split(d, c->body, c->body.terms[i].atoms[0], &part, &rest);
        if (!own.n || !poly_exact(d, own, part, &s)) continue;
        return raw_add(d, p, raw_mul(d, s, raw_sub(d, c->is, c->body)));
    }
    return p;
}

/* One that p has quotients of; whole: first of all those that more than one quotient says. */
static bool number(Domain *d, const Runs *runs, Poly p, bool whole, Number *c, Atom *index)
{
    for (uint32_t i = 0; i < p.n; i++) {
        for (uint8_t k = 0; k < p.terms[i].natoms; k++) {
            Poly body, rest, den;
            if (!number_in(d, runs, p.terms[i].atoms[k], &body, &rest, &den)) continue;
            *c = (Number){.runs = runs, .body = undivided(d, p, p.terms[i].atoms[k], body, den)};
            if (whole && poly_same(c->body, body)) continue;
            c->is = counted(d, c->body, index);
            if (!c->is.bad) return true;
        }
    }
    return false;
}

void numbers(Domain *d, Arena *a, const Runs *runs, DomAxis *axis, int *naxes)
{
    Number c;
    Atom index = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < 2 * *naxes; i++) {
            while (*naxes < DOM_AXES_MAX && number(d, runs, poly_now(d, axis[i / 2].start[i % 2]), pass == 0, &c, &index)) {
                for (int k = 0; k < 2 * *naxes; k++) axis[k / 2].start[k % 2] = by_number(d, poly_now(d, axis[k / 2].start[k % 2]), &c);
                add_turned(d, a, axis, naxes, axis[i / 2].name, c.body, index);
            }
        }
    }
}
