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


/* ---- views.c ---- */
const View *view_of_map(Verifier *v, uint32_t op); /* the map that map.set makes; NULL: where it lies is not known */

#endif
