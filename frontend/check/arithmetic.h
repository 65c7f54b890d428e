/* Arithmetic on tiles and tensors, which there is not: E0321. */
#ifndef FRONTEND_ARITHMETIC_H
#define FRONTEND_ARITHMETIC_H

#include "lang/diag/diag.h"

bool arithmetic_word(const char *word); /* exp, matmul, .. */
void arithmetic_notes(Diags *d, Diag *g); /* what there is, and what not */

/* Text behind an error of the parser. */
bool declares_data(const char *text, const char *end, const char *name); /* as a tile, tensor or view, in front of `end` */
const char *word_at(Arena *a, const char *at);                           /* a name there, behind blanks; "": none */
bool computes(const char *at);                                           /* what stands up to the next `;` */
const char *behind_subscript(const char *at);                            /* at `[` */

#endif
