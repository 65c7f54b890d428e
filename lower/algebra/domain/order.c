/* Boxes one behind the other: in chunks that begin where t * M / G says, or that grow from one to the next, the start is no sum of steps. Yet all that
 * an index has lies before all that each later one has, if the last of the one lies before the first of the other. */
#include "lower/algebra/domain/separation.h"

/* The newest of the indices that move p, of those that each side has of its own, but the one; 0: none. */
static Atom newest(Separation *s, Poly p, Atom but)
{
    Atom found = 0;
    FOR_ATOMS(p, x) {
        const AtomInfo *info = atom_info(s->d, x);
        if (info->kind == ATOM_INDEX && info->self != but && info->self > found && !all_same(s, raw_atom(s->d, x))) found = info->self;
    }
    return found;
}

/* The last of p, or its first, over these; what they count to may follow the one. Bad: not known, or there is more in it of which each side has its own. */
static Poly last_of(Separation *s, Poly p, bool last, int but)
{
    Domain *d = s->d;
    Atom x;
    for (int steps = 0; (x = newest(s, p, s->number[but].atom)) != 0; steps++) {
        Poly step, rest;
        poly_split(d, p, x, &step, &rest);
        bool up = at_most(s, POLY_ZERO, step);
        if (steps > NUMBERS_MAX || moved_by(d, step, x) || moved_by(d, rest, x) || (!up && !at_most(s, step, POLY_ZERO))) return POLY_BAD;
        p = up == last ? raw_add(d, rest, raw_mul(d, step, poly_now(d, atom_info(d, x)->b))) : rest;
    }
    s->number[but].same = true;
    bool known = all_same(s, p);
    s->number[but].same = false;
    return known ? p : POLY_BAD;
}

/* By how much a number is greater, less 1: one for all proofs, so that what is made of it is made once. */
static Atom more_by(Domain *d)
{
    if (d->more == 0) d->more = domain_opaque(d, "more", 0, INT64_MAX, 1, 0, DEP_TEAM);
    return d->more;
}

/* One has the number at some value, the other at a greater one: does one lie before the other then? */
static bool one_before(Separation *s, const Row *r, int number, int greater)
{
    Domain *d = s->d;
    Atom x = s->number[number].atom;
    Poly first[2], end[2], value = raw_plus(d, raw_add(d, raw_atom(d, x), raw_atom(d, more_by(d))), 1);
    for (int side = 0; side < 2; side++) {
        first[side] = last_of(s, r->start[side], false, number);
        end[side] = raw_add(d, last_of(s, r->start[side], true, number), r->extent[side]);
        if (side != greater) continue;
        first[side] = domain_with(d, first[side], x, value);
        end[side] = domain_with(d, end[side], x, value);
    }
    return at_most(s, end[!greater], first[greater]) || at_most(s, end[greater], first[!greater]);
}

bool equal_in_order(Separation *s, const Row *r, int number)
{
    const Number *n = &s->number[number];
    if (n->same || atom_info(s->d, n->atom)->kind != ATOM_INDEX || !moved_by(s->d, r->start[0], n->atom) || !moved_by(s->d, r->start[1], n->atom)) return false;
    return one_before(s, r, number, 0) && one_before(s, r, number, 1);
}
