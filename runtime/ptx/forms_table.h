/* The templates of lang/instructions.def, taken apart. Private to forms*.c.
 *
 * Nothing is kept between calls: a template is walked where it stands, one Piece per modifier and one Place per
 * operand. Most rows are dismissed by their name, the fixed words in front ("cp.async.bulk.tensor"), the others by the
 * first modifier that the instruction lacks.
 */
#ifndef FORMS_TABLE_H
#define FORMS_TABLE_H

#include "runtime/ptx/forms.h"

/* The words in front that stand in this order, together and first; all other modifiers may stand in any order. */
/* The longest name that the instruction starts with, and how many of its modifiers that takes; NULL: none. */
const char *form_name_of(const PtxInstr *i, uint32_t *nmods);
/* All of them, one after the other: NULL past the end. */
const char *form_name_at(size_t k);

typedef struct Piece { /* one modifier of a template: text{placeholder}tail */
    const char *text;  /* with the dot, except for a whole modifier such as {hint} */
    size_t n;
    const char *tail;
    size_t ntail;
    Placeholder ph; /* PH_ALL: fixed */
} Piece;
/* The first modifier behind the name. */
const char *form_modifiers(InstrForm f, const char *name);
/* Takes the next modifier; false at the operands. */
bool next_piece(const char **at, Piece *out);
/* What may stand for a modifier's placeholder, separated by spaces. */
const char *placeholder_words(InstrForm f, Placeholder ph);
/* Calls `each` with every modifier that this row can have, as text. */
void form_vocabulary(InstrForm f, const char *name, void (*each)(void *user, const char *word), void *user);

typedef enum PlaceKind { PLACE_BARE, PLACE_ADDRESS, PLACE_MAP, PLACE_SINK, PLACE_PAIR, PLACE_LITERAL } PlaceKind;
typedef struct Place { /* one operand of a template */
    PlaceKind kind;
    Placeholder ph;  /* BARE, ADDRESS; PAIR: the first, PH_ALL for `_` */
    Placeholder ph2; /* PAIR: the second; MAP: PH_COORDS */
    uint32_t literal;
    const char *text;
    size_t n; /* as it stands in the template */
} Place;
enum { MAX_PLACES = 8 };
/* The operands of a row that matched with these modifiers: {policy} and {ordinal} are there or not. */
uint32_t form_places(InstrForm f, const FormMatch *m, Place out[MAX_PLACES]);
const char *place_name(const Place *p); /* "the barrier", for messages */

typedef enum WordKind { /* for messages: of a kind there is one */
                        KIND_NONE,
                        KIND_DIM,
                        KIND_SPACE,
                        KIND_MODE,
                        KIND_COMPLETION,
                        KIND_GROUP,
                        KIND_TYPE,
                        KIND_SEM,
                        KIND_SCOPE,
                        KIND_OP,
                        KIND_SHAPE,
                        KIND_VECTOR
} WordKind;
WordKind word_kind(const char *word);
static inline bool is_space(const char *word)
{
    return word_kind(word) == KIND_SPACE;
}

#endif
