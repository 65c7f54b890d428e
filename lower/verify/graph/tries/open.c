/* Comparisons, minima and maxima that are held open: chosen trip counts make them of two numbers, and what the runs make
 * of them does not tell of longer loops (tries/compare.c). Longer loops may have them otherwise, in any of their turns, so
 * they are what their operands make of them without what was chosen: the launch values as these stand, and indices of loops of which
 * nothing is known but that they are within their bounds.
 *
 * The index of two turns is one value where both are the same turns of like loops: then it is equal in every launch. What
 * is made from it is equal where the expression is. The numbers that stand for it don't count: in the few turns of a
 * run these may be equal where those of longer loops are not.
 */
#include "lower/verify/graph/tries/tries.h"
#include "lower/verify/graph/unroll/unroll.h"

Form open_index(Verifier *v, uint32_t loop, Form turn)
{
    Form lo = run_whole(v, v->operands[loop].a).plain, hi = run_whole(v, v->operands[loop].b).plain;
    if (lo == 0 || hi == 0) return 0;
    int64_t first = form_data(&v->f, lo)->lo, last = form_data(&v->f, hi)->hi;
    if (last == first + 1) return form_const(&v->f, first);
    return form_atom(&v->f, (FormAtom){.kind = ATOM_OPEN,
                                       .type = v->ops[loop]->type,
                                       .a = turn,
                                       .b = lo,
                                       .c = hi,
                                       .lo = first,
                                       .hi = last == INT64_MAX || last == INT64_MIN ? INT64_MAX : last - 1});
}
