/* What is known of numbers and bytes, by forms: of one graph, or of every launch; and by polynomials, of all turns. */
#ifndef LOWER_VERIFY_GRAPH_VALUES_H
#define LOWER_VERIFY_GRAPH_VALUES_H

#include "lower/algebra/domain/domain.h"
#include "lower/verify/graph/unroll/events.h"
#include "lower/verify/graph/values/forms.h"
#include "lower/verify/graph/verifier.h"

/* ---- bytes.c ---- */
bool bytes_same_place(const Bytes *a, const Bytes *b); /* the same slot */
bool bytes_equal(const Bytes *a, const Bytes *b);
bool bytes_overlap(Verifier *v, const Bytes *a, const Bytes *b);
/* All turns of a loop whose n-th one touches `at`, moved by c: true if `at` is now exactly that. */
bool bytes_repeat(Verifier *v, Bytes *at, Form lo, Form hi, int64_t c, Form turns);
bool bytes_apart_by(Verifier *v, const Bytes *at, int64_t c, Form turns); /* those of different turns do not meet */
bool bytes_join(Bytes *a, const Bytes *b); /* a becomes both, if they lie side by side */
bool conds_exclusive(Verifier *v, Form a, Form b);

/* ---- views.c ---- */
const View *view_of_map(Verifier *v, uint32_t op); /* the map that map.set makes; NULL: where it lies is not known */

/* ---- polys.c ---- */
/* Values as polynomials over launch values and indices (algebra/domain), in any turns of the loops around: what the forms of a run
 * say of its few turns is said here of all. Coordinates are exact: a launch in which one leaves 32 bits, or what it is made from
 * 64, is refused (E1122, E1117). */
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
