/* Which plain instructions PTX has: the rows of plain.def.
 *
 * Glossary: form - a row; item - one of the choices of a row's modifiers, or a slot of its types; word - a modifier.
 */
#ifndef SIM_PLAIN_H
#define SIM_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct PlainForm {
    const char *opcode, *modifiers, *types;
    uint8_t version, sm;
} PlainForm;
extern const PlainForm PLAIN_FORMS[];
extern const size_t PLAIN_FORM_COUNT;

/* What a row lets an operand be besides a register or a constant. */
enum { PLAIN_PAIR = 1, PLAIN_SINK = 2, PLAIN_SINK_FIRST = 4, PLAIN_SPECIAL = 8, PLAIN_ADDRESS = 16 };
typedef struct PlainOperand {
    const char *opcode, *word, *types;
    uint8_t place, of, may;
    int64_t low, high, multiple; /* of constants; low > high: any; multiple 0: none */
} PlainOperand;

typedef struct PlainItem { /* "a|b|c", n characters */
    const char *words;
    size_t n;
    bool optional;
} PlainItem;
bool plain_next(const char **at, PlainItem *out); /* the next item of a row's text; false: there is none */

/* Does a row have the words and types for this .version (times 10) and target? Else *why says what is wrong. */
bool plain_legal(const char *opcode, const char *const *words, uint32_t nwords, const char *const *types, uint32_t ntypes,
                 uint32_t version, uint32_t sm, char *why, size_t size);

/* The row of operand `place` of `of`; NULL: there is none. type: the first one, or NULL. */
const PlainOperand *plain_operand(const char *opcode, const char *const *words, uint32_t nwords, const char *type,
                                   uint32_t place, uint32_t of);

#endif
