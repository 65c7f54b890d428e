/* What is known of numbers and bytes, by forms: of one graph, or of every launch. */
#ifndef LOWER_VERIFY_GRAPH_VALUES_H
#define LOWER_VERIFY_GRAPH_VALUES_H

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

/* ---- sizes.c ---- */
void sizes_prepare(Verifier *v); /* f.sizes */

/* ---- divided.c ---- */
bool divisor_not_zero(Verifier *v, Form n); /* in every launch */
bool bounds_divided_well(Verifier *v, uint32_t op, Form lo, Form hi); /* a loop's bounds are numbers in every launch */
Form exact_sum(Verifier *v, Form x, bool away); /* x by exact sums; away: coordinates from AWAY on name no place */
bool tensor_trusted(const Verifier *v, Trust fact, uint32_t tensor);

/* ---- unequal.c ---- */
enum { COORDINATE_MAX = 1 << 30 };
void unequal_prepare(Verifier *v);                 /* of a finished graph */
bool numbers_unequal(Verifier *v, Form x, Form y); /* in every launch */

/* ---- regions.c ---- */
void regions_prepare(Verifier *v); /* of a finished graph */
bool regions_apart(Verifier *v, const Region *a, const Region *b); /* of one map, of equal ones, or bytes */

/* ---- views.c ---- */
void views_clear(Verifier *v); /* for another run */
void view_set(Verifier *v, uint32_t op, const Bytes *at); /* map.set */
View *view_at(const Verifier *v, const Bytes *at);        /* the map there; NULL: none, or it is not known where it lies */
void view_note(Verifier *v, uint32_t op, const View *w);
void view_prepare(Verifier *v, Region *r); /* of a finished graph */
bool views_same(const Region *a, const Region *b); /* coordinates of the two mean the same, or touch nothing */
bool views_apart(Verifier *v, const Region *a, const Region *b); /* all of the two views */

#endif
