/* What is so at one point of the run. */
#ifndef TESTS_STATES_STATE_H
#define TESTS_STATES_STATE_H

#include "lang/interval.h"
#include "lower/ir/ir.h"
#include "tests/states/numbers.h"

/* ---- values: values.c ---- */

typedef uint32_t Val;    /* 0: not known, or not asked for any more */
typedef struct ValData { /* what an op makes of others, worked out where it is asked for */
    uint8_t op;          /* IrOpcode; IR_CONST: num */
    uint8_t rel;         /* of IR_CMP: IrRel; of AND, OR, XOR and NOT: of preds */
    bool wraps;          /* its type may have too few bits for it */
    Val a, b, c;         /* c: the condition of IR_SEL */
    uint32_t of;         /* a launch expression that an operand is; 0: none is */
    int64_t imm;         /* of a or b, where the IR has it; NO_LO: it has none */
    Num num;
    Interval range; /* by constants, wherever it was made */
} ValData;

/* ---- a state: state.c ---- */

typedef struct Frame {
    uint32_t op; /* of the body */
    Num at, end; /* end 0: repeat */
} Frame;
enum {
    KNOWN_ONE,
    KNOWN_EACH,
    MINE,
    OPEN,
    COMMITTING,
    GROUPS
}; /* sets of an agent: what its elected thread knows to be over; what each of its threads knows; what each has done
    since they came together; what is in no group yet; what the tensor core does and is not committed; then its groups, oldest first */
typedef struct Agent {
    uint16_t cta, body;
    uint32_t pc, depth, ngroups;
    bool many, blocked, done;
    uint32_t env, vars, frames, sets; /* where its own begin */
} Agent;
enum { SPACES = 3 }; /* of a CTA: shared memory, tensor memory, maps */
typedef enum ItemKind { ITEM_NONE, ITEM_ACCESS, ITEM_ARRIVAL, ITEM_WAIT } ItemKind;
typedef struct Item {
    uint8_t kind;
    bool write, async;
    uint8_t generic; /* copies need a fence behind it: BY_THREADS, or FROM_AFAR one of the cluster's scope */
    uint8_t core;               /* in tensor memory: CORE_THREADS .. */
    uint16_t red;               /* kind of reduction; 0: none */
    uint16_t space, buf;        /* of a CTA: space_of(); which buffer it is */
    uint16_t agent;
    uint32_t op;
    uint32_t step, width; /* pieces of so many bytes, one step apart; 0: all bytes */
    Num lo, hi, only;     /* only: 1 if it happened, else 0; or 0: it has */
} Item;
enum { BY_THREADS = 1, FROM_AFAR };
enum { CORE_NONE, CORE_OPEN /* by threads, no fence behind it yet */, CORE_THREADS, CORE_ASYNC };
typedef struct Bar { /* a slot of a barrier in a CTA */
    int32_t phase;   /* so many are over */
    int32_t pending;
    Num tx;         /* bytes that are missing */
    uint64_t loose; /* roles of any CTA that have announced bytes and not arrived since */
} Bar;
enum { HEARD, ARRIVED, LAST, BEFORE, BAR_SETS }; /* what who counts on the open phase knew, what counted on it; the same of the phase before */
typedef struct Awaited {                         /* by an agent, of a barrier slot */
    int32_t phase;                               /* the last one: -1, which is over from the start, or later */
    uint32_t item;                               /* + 1 */
} Awaited;
enum { AWAITED_NONE = -2 };
enum { KEYS = 6 };
typedef struct Named {
    uint32_t class, nkey, serial; /* they are numbered as they are made */
    uint8_t op, rel;              /* of a value, its op; else IR_OP_COUNT */
    int64_t by;                   /* .. its divisor; 0: none */
    Num key[KEYS], num;
} Named;
typedef struct Piece { /* that was written */
    uint16_t space;
    Num lo, hi, only;
} Piece;
typedef struct Cell { /* what was put there for others to read */
    uint16_t space;
    int64_t at;
    Val val;
} Cell;
typedef struct State {
    Arena arena;
    Facts facts;
    Agent *agents;
    Val *env, *vars;
    Frame *frames;
    uint64_t *sets; /* `words` each: two bits an item, that it is over and that a fence lies behind that */
    uint32_t words;
    VEC(Item) items;
    Bar *bars;        /* by CTA and slot */
    Awaited *awaited; /* by CTA, slot and role */
    VEC(Named) named;
    uint32_t *asked; /* by agent and class: the newest that it has named */
    VEC(Piece) written;
    VEC(Cell) cells;
    VEC(Val) asserted; /* of the launch, at the start */
    uint32_t fresh, serial;
    struct State *next;
    uint32_t node, at; /* the node that it comes from; of a round that is not over: whose turn it is */
    bool moved;
} State;

#endif
