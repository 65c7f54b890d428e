/* What the rooms of the verifier share: private to them.
 *
 * forms.. (verify_forms.c): values as linear forms, equal forms have one number. state.. (verify_state.c): what is
 * known at a point of the kernel, and its join at the end of an if. accesses.. (verify_access.c): who writes and
 * reads which bytes. loops.. (verify_loop.c): invariants of loops. verify.c walks the ops.
 */
#ifndef LOWER_VERIFY_PARTS_H
#define LOWER_VERIFY_PARTS_H

#include "lower/ir.h"

/* ---- forms ----
 * A form is k + sum of c * atom, exact over the integers; preds are 0 or 1. Atoms are values that are not taken
 * apart further: equal operands give equal atoms, so equal forms hold equal values. Form 0: not known. */
typedef uint32_t Form;
typedef struct FormTerm {
    int64_t c;
    uint32_t atom;
} FormTerm;
enum { FORM_TERMS = 8 };
typedef struct FormData {
    int64_t k, lo, hi; /* lo .. hi: bounds; INT64_MIN, INT64_MAX: none */
    uint32_t hash;
    uint32_t pos; /* newest op (index + 1) on which the form depends; 0: none */
    uint32_t n;
    FormTerm t[]; /* sorted by atom */
} FormData;

typedef enum AtomKind {
    ATOM_OP,    /* result of a pure op on forms: sub = opcode */
    ATOM_PARAM, /* launch expression a */
    ATOM_SREG,  /* special register a */
    ATOM_LEAF,  /* value defined by op a: loop index, scalar load */
    ATOM_PHI,   /* variable a at the head of loop b */
    ATOM_AGED,  /* form a, as it was before round c of the unrolled loop b */
    ATOM_GT0,   /* pred: form a is above 0 */
    ATOM_EQ0,   /* pred: form a is 0 */
    ATOM_PROD,  /* pred atom a times atom b, a < b; sub: how many preds in all stand in front */
    ATOM_SEL    /* a ? b : c, not taken apart */
} AtomKind;
typedef struct Atom {
    uint8_t kind, sub, type;
    bool boolean;
    uint32_t a, b, c;
    uint32_t pos;
    int64_t lo, hi;
} Atom;

typedef struct Known { /* a pred atom whose value is fixed where we are */
    uint32_t atom;
    bool value;
} Known;

typedef struct Forms {
    Arena *arena;
    VEC(FormData *) forms; /* form f is forms.v[f - 1] */
    VEC(Atom) atoms;       /* atom x is atoms.v[x - 1] */
    Form *form_slots;
    uint32_t *atom_slots;
    uint32_t form_mask, atom_mask;
    VEC(Known) known;
    VEC(Form) facts; /* forms that are >= 0 where we are */
} Forms;

void forms_init(Forms *f, Arena *a);
static inline const FormData *form_data(const Forms *f, Form x)
{
    return f->forms.v[x - 1];
}
static inline const Atom *atom_data(const Forms *f, uint32_t x)
{
    return &f->atoms.v[x - 1];
}
Form form_const(Forms *f, int64_t k);
Form form_atom(Forms *f, Atom a); /* pos and bounds of a as given; a known atom keeps its own */
/* 0 if the result is no form: too long, or coefficients too large. */
Form form_add(Forms *f, Form x, int64_t c, Form y);  /* x + c * y */
Form form_guard(Forms *f, Form pred, Form x);        /* pred * x */
Form form_pick(Forms *f, Form pred, Form x, Form y); /* pred ? x : y, with the bounds of x and y; 0 if one is 0 */
Form form_not(Forms *f, Form pred);
Form form_subst(Forms *f, Form x, uint32_t atom, Form y); /* 0 if the atom stands inside another one */
bool form_is_const(const Forms *f, Form x, int64_t *k);
bool form_is(const Forms *f, Form x, int64_t k);
bool form_uses(const Forms *f, Form x, uint32_t atom);
/* x with the known preds put in. */
Form form_simplify(Forms *f, Form x);
/* Where pred holds, these atoms have these values: adds to known and facts. */
void form_assume(Forms *f, Form pred);
/* Whether x >= 0 is certain. */
bool form_nonneg(Forms *f, Form x);
bool form_le(Forms *f, Form x, Form y);
/* The result of a pure op; operands may be 0. Never 0. `op` is the op's index. */
Form form_of_op(Forms *f, const IrKernel *k, const IrOp *op, uint32_t index, Form cond, Form a, Form b);
Form form_type_range(Forms *f, AtomKind kind, IrType type, uint32_t a, uint32_t b, uint32_t pos);

/* ---- state ---- */
typedef struct Bytes { /* bytes lo .. hi of a buffer's slot */
    uint32_t buf;
    Form slot; /* 0: any */
    Form lo, hi;
} Bytes;
/* The part of a tensor that a copy touches; NULL where it is not known. */
typedef struct Region {
    uint32_t map; /* UINT32_MAX: bytes lo[0] .. hi[0] of the tensor */
    uint32_t tensor, n;
    Form lo[MAP_RANK], hi[MAP_RANK];
} Region;
typedef struct Write { /* an asynchronous copy into a buffer */
    Bytes at;
    Form cond;        /* pred under which it happens; 0: perhaps */
    int32_t bar;      /* barrier slot that tells its arrival; ARRIVED: known to have arrived */
    uint64_t tensors; /* that it reads */
    const Region *region;
    uint32_t op;
} Write;
enum { ARRIVED = -1, AGE_MAX = 1 << 20 };
typedef struct Read { /* a copy out of a buffer, in a bulk group */
    Bytes at;
    uint64_t tensors; /* that it still writes */
    const Region *region;
    uint32_t age; /* at least: 0: perhaps not committed; 1: newest group, 2: the one before .. */
    bool reading;
    uint32_t op;
} Read;
typedef struct BarState {
    Form parity;              /* of the current phase */
    Form expected, delivered; /* bytes in it */
    uint32_t count, arrivals;
    bool initialised, unfenced;
    uint32_t op; /* last that touched it */
} BarState;
typedef struct State {
    Form *vars;
    BarState *bars; /* one per slot */
    VEC(Write) writes;
    VEC(Read) reads;
    uint64_t unfenced; /* tensors written by finished stores and not fenced since */
} State;

typedef struct Verifier {
    Arena *arena;
    Diags *diags;
    const IrKernel *k;
    const IrRole *role;
    const IrOp *ops;
    uint32_t nops;
    Text *certificate; /* NULL: none wanted */
    Forms f;
    uint32_t *def;      /* by value: index of its op */
    Form *value;        /* by value: form where we are, 0: not worked out */
    uint32_t *partner;  /* by op that opens a block: its else or end */
    uint32_t *bar_base; /* by barrier: number of its slot 0 */
    uint32_t nslots;
    uint64_t loaded, stored; /* tensors that copies read and write */
    State s;
    uint64_t budget; /* ops that may still be visited */
    bool failed;
    VEC(Read) retired; /* reads that a wait has ended: for the certificate */
} Verifier;

/* verify.c */
Form verify_value(Verifier *v, const IrArg *arg);
void verify_walk(Verifier *v, uint32_t from, uint32_t to);
Span verify_place(const Verifier *v, uint32_t op);
/* Reports at op, once per kernel: what follows an error can't be judged. NULL where one was reported before. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
Diag *
verify_refuse(Verifier *v, ErrorCode code, uint32_t op, const char *fmt, ...);
void verify_also(Verifier *v, Diag *g, uint32_t op, const char *text);
const char *verify_op_text(const Verifier *v, uint32_t op);
const char *verify_bar_name(Verifier *v, uint32_t slot);
const char *verify_form_text(Verifier *v, Form x);
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void verify_proved(Verifier *v, const char *fmt, ...);
const char *verify_line(Verifier *v, uint32_t op);

/* verify_state.c */
State state_copy(Arena *a, const State *s, const Verifier *v);
/* s := where pred held, *then*, otherwise *other*. */
void state_join(Verifier *v, uint32_t op, Form pred, State *then, const State *other);
bool state_add_read(Arena *a, State *s, Read r); /* whether it changed the state */
bool state_same_bytes(const Bytes *a, const Bytes *b);
bool state_bar_complete(Verifier *v, const BarState *b); /* all arrivals made, all bytes issued */

/* verify_copy.c: the step of a copy */
void verify_copy(Verifier *v, uint32_t op);
/* The slot that a barrier operand names; false (and reported) if it is not certain. */
bool verify_bar_slot(Verifier *v, uint32_t op, uint32_t *slot);
/* The op's guard where we are: 1 if it has none. */
Form verify_guard(Verifier *v, uint32_t op);
/* The tensors into which an address may point, one bit each. */
uint64_t verify_address(const Verifier *v, const IrArg *address, int depth);
/* Reports bytes above the range of a barrier's tx-count. */
void verify_tx(Verifier *v, uint32_t op, uint32_t slot);

/* verify_access.c */
void access_write(Verifier *v, uint32_t op, Bytes at, Form cond, uint32_t bar, uint64_t tensors, const Region *region);
void access_read(Verifier *v, uint32_t op, Bytes at, Form cond, uint64_t tensors, const Region *region);
/* Whether writes on barrier slot `bar` (ARRIVED: those that have arrived) cover `at`. */
bool access_covered(Verifier *v, const Bytes *at, int32_t bar);
bool access_overlap(Verifier *v, const Bytes *a, const Bytes *b);

/* verify_loop.c */
void verify_loop(Verifier *v, uint32_t op);

#endif
