/* Values as polynomials over launch values and indices (algebra/domain), in any turns of the loops around: what the forms of a run
 * say of its few turns is said here of all. Coordinates are exact: a launch in which one leaves 32 bits, or what it is made from
 * 64, is refused (E1122, E1117). */
#ifndef LOWER_VERIFY_GRAPH_VALUES_POLYS_H
#define LOWER_VERIFY_GRAPH_VALUES_POLYS_H

#include "lower/algebra/domain/domain.h"
#include "lower/verify/graph/verifier.h"

typedef struct Polys Polys; /* of one kernel: what has one value wherever it is read */
Polys *polys_new(Verifier *v);
Domain *polys_domain(const Polys *p);

typedef struct Valued {
    IrVal value;
    Poly x;
} Valued;
/* Where a site is looked at: in a CTA, in turns of the loops around it that are open. */
typedef struct PolyPlace {
    Verifier *v;
    Polys *p;
    const Site *site;
    Poly *turn;         /* by number in site->around: which turn it is, from 0 */
    VEC(Valued) values; /* that have been looked at */
} PolyPlace;
PolyPlace poly_place(Verifier *v, Polys *p, const Site *site);
Poly poly_of(PolyPlace *w, const IrArg *arg);
Poly poly_turns(PolyPlace *w, uint32_t op); /* how many turns the loop has */

#endif
