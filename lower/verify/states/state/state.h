/* What is so at one point of the run. */
#ifndef LOWER_VERIFY_STATES_STATE_H
#define LOWER_VERIFY_STATES_STATE_H

#include "lang/interval.h"
#include "lower/ir/ir.h"
#include "lower/verify/states/values/numbers.h"

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
    uint32_t size;  /* so many others, as often as they are asked for */
    uint64_t atoms; /* of the launch that it may be made of: a bit each, the last one for all that follow */
} ValData;

/* ---- a state: state.c ---- */

typedef struct Frame {
    uint32_t op, turn; /* of the body; turns that are over */
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
    uint32_t bar; /* blocked: for which slot it waits */
    uint32_t env, begun, frames, sets; /* where its own begin */
} Agent;
enum { SPACES = 3 }; /* of a CTA: shared memory, tensor memory, maps */
typedef enum ItemKind { ITEM_NONE, ITEM_ACCESS, ITEM_ARRIVAL, ITEM_WAIT } ItemKind;
enum { LEVELS = 4 };
typedef struct Item {
    uint8_t kind;
    bool write, async;
    uint8_t generic; /* copies need a fence behind it: BY_THREADS, or FROM_AFAR one of the cluster's scope, GLOBALLY one of global memory */
    uint8_t core;               /* in tensor memory: CORE_THREADS .. */
    uint16_t red;               /* kind of reduction; 0: none */
    uint16_t space, buf;        /* of a CTA: space_of(); which buffer it is */
    uint16_t agent;
    uint32_t op;
    uint8_t each;         /* of so many loops over copies that are not over */
    uint32_t step, width; /* pieces of so many bytes, one step apart; 0: all bytes */
    uint32_t shape;       /* or bytes that are left out otherwise: where is told by that name; 0: none are */
    Num lo, hi, only;     /* only: 1 if it happened, else 0; or 0: it has */
    Num turn[LEVELS][2];  /* of tensors: in turns from .. to of the loops around it, outermost first; 0: in any */
    uint32_t when, level, nth; /* for reports: in the order of the run; how many loops are around it, and the turn of the innermost */
} Item;
enum { RED_ALONE = 0x7fff /* one that does not commute with its like */ };
static inline bool commute(uint16_t red, uint16_t with)
{
    return red && red == with && red != RED_ALONE;
}
enum { BY_THREADS = 1, FROM_AFAR, GLOBALLY };
enum { CORE_NONE, CORE_OPEN /* by threads, no fence behind it yet */, CORE_THREADS, CORE_ASYNC };
enum { EACH_MOST = 2 };
typedef struct Bar { /* a slot of a barrier in a CTA, of which there is something to say */
    uint32_t slot;   /* through all CTAs */
    int32_t phase;   /* so many are over */
    int32_t pending;
    Num tx;         /* bytes that are missing */
    Num each[EACH_MOST]; /* .. more in each turn of a loop over copies; 0: none */
    Num some;       /* bytes of copies that may have none, by one thread since it knows what it does, .. */
    uint32_t burst; /* .. which is State.burst then */
    uint64_t loose; /* roles of any CTA that have announced bytes and not arrived since */
    uint32_t last, ended; /* for reports: the op that counted last, that with which the phase before was over, + 1 */
    int64_t due;    /* bytes that the phase expects, at most; */
    bool known;     /* .. exactly */
} Bar;
enum { HEARD, ARRIVED, LAST, BEFORE, BAR_SETS }; /* what who counts on the open phase knew, what counted on it; the same of the phase before */
typedef struct Awaited {                         /* by an agent, of a barrier slot */
    int32_t phase;                               /* the last one: -1, which is over from the start, or later */
    uint32_t item;                               /* + 1 */
    uint32_t op;                                 /* for reports */
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
    uint16_t space, buf;
    uint32_t step, width, shape; /* as of Item */
    Num lo, hi, only;
} Piece;
typedef struct Cell { /* what was put there for others to read */
    uint16_t space;
    int64_t at;
    Val val;
    uint64_t read; /* by these agents since */
} Cell;
enum { HELD_PROTOCOL, HELD_LOOK /* of one who still waits */, HELD_RACE, HELD_UNWRITTEN, HELD_SORTS };
typedef struct Each { /* a turn of a loop over copies, for all of them */
    uint32_t op, fresh; /* op: of the body. Atoms behind `fresh` were made in it */
    Num at, from, end;
} Each;
typedef struct State {
    Arena arena;
    Facts facts;
    Agent *agents;
    Val *env;
    Frame *frames;
    uint64_t *sets; /* of agents, then of barriers; `words` each: two bits an item, that it is over and that a fence lies behind that */
    uint32_t words, rows; /* rows: that there is room for */
    VEC(Item) items;
    VEC(Bar) bars;    /* all others are as at the start */
    uint32_t *bar_at; /* by CTA and slot: where it is in there, + 1 */
    Awaited *awaited; /* by bar and role */
    VEC(Named) named;
    uint32_t *asked; /* by agent and class: the newest that it has named */
    VEC(Piece) written;
    VEC(Cell) cells;
    VEC(Val) asserted; /* of the launch, at the start */
    Num *launch;       /* by atom of the launch, from 0: what it is here; 0: forgotten */
    uint32_t fresh, serial;
    uint32_t now, turns;                   /* items so far, for reports; turns of loops */
    const struct Refusal *held[HELD_SORTS]; /* what is wrong here, and may not be the last word; NULL: nothing is */
    int plain;                             /* HELD_RACE: how well that shows what is missing */
    Each each[EACH_MOST]; /* from the outermost */
    uint32_t neach;
    uint32_t burst; /* of copies, with nothing else in between */
    struct State *next;
    struct State *older, **link; /* of all that there are */
    uint32_t items_kept, facts_kept; /* so many there were when the last ones were forgotten */
    uint32_t progress;
    uint32_t node, at; /* the node that it comes from; of a round that is not over: whose turn it is */
    bool moved;
} State;

#endif
