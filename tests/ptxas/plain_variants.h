/* Plain instructions to judge: the rows of runtime/sim/decode/plain.def with all their words and types, and near misses. */
#ifndef TESTS_PTXAS_PLAIN_VARIANTS_H
#define TESTS_PTXAS_PLAIN_VARIANTS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct PlainVariant {
    char text[200];
} PlainVariant;
typedef struct PlainVariants {
    PlainVariant *v;
    size_t n, room;
} PlainVariants;
typedef struct PlainClass {
    char target[16], version[8];
} PlainClass;

void plain_variants(PlainVariants *out);
const char *plain_registers(const PlainClass *c);              /* what the operands name */
bool plain_fits(const PlainVariant *v, const PlainClass *c);   /* its registers exist for the class */

#endif
