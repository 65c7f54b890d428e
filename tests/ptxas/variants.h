/* Instructions to judge: the rows of lang/instructions.def with all their words, and near misses of them. */
#ifndef TESTS_PTXAS_VARIANTS_H
#define TESTS_PTXAS_VARIANTS_H

#include <stdbool.h>
#include <stddef.h>

typedef enum Ends { ENDS_NOTHING, ENDS_FILE, ENDS_RUN, ENDS_COUNT } Ends;
typedef struct Variant {
    char text[400];
    bool near_miss;
    Ends ends; /* as far as is known: ptxas reads nothing behind it in the file, or crashes */
} Variant;
typedef struct Variants {
    Variant *v;
    size_t n, room;
} Variants;

void make_variants(Variants *out);

/* What the operands of the variants name: the variables of the module, and the registers of each kernel. */
extern const char VARIANT_VARIABLES[], VARIANT_REGISTERS[];

#endif
