/* What the two halves of the printer share: private to them. print_ops.c has names and ops, print.c the kernel around them. */
#ifndef LOWER_IR_PRINTER_H
#define LOWER_IR_PRINTER_H

#include "lower/ir/ops.h"

/* The names under which the objects of a kernel are printed: quoted where they are no identifiers, and numbered
 * where two objects of a kind have the same one, so that the text reads back. */
typedef struct Shown {
    const char **syms, **tensors, **scalars, **maps, **bufs, **bars, **pols, **vars, **plans, **rings;
    const char **values;
} Shown;

typedef struct Printer {
    Text *out;
    Arena *arena;
    const IrKernel *k;
    Sources *sources;
    bool tree;     /* the tree, not the roles' bodies */
    const char **hints; /* by value: of those that are defined, NULL: none */
    const char **begun; /* by variable: names of those that are declared */
    Shown names; /* all NULL when a single op is printed: names as they are */
} Printer;

void print_name(Text *t, const char *s);   /* quoted where it is no identifier */
void print_string(Text *t, const char *s); /* quoted */
/* Names under which n objects are printed; the i-th one's is at `first + i * stride`; what is empty stays empty if `anonymous`. */
const char **print_unique(Printer *p, const void *first, size_t stride, uint32_t n, bool anonymous);
void print_find_used(Printer *p); /* which values and variables the bodies have */
const char **print_values(Printer *p);
void print_lx(Printer *p, Lx x);
void print_op(Printer *p, const IrOp *op);

#endif
