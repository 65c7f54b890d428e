/* Values of the verifier, as linear forms: private to it.
 *
 * A form is k + sum of c * atom, exact over the integers; preds are 0 or 1. Atoms are values that are not taken
 * apart further: equal operands give equal atoms, so equal forms hold equal values. Form 0: not known. */
#ifndef LOWER_VERIFY_GRAPH_VALUES_FORMS_H
#define LOWER_VERIFY_GRAPH_VALUES_FORMS_H

#include "lower/ir/ir.h"

typedef uint32_t Form;
typedef struct FormTerm {
    int64_t c;
    uint32_t atom;
} FormTerm;
enum { FORM_TERMS = 16, FORM_CONSTS = 256, FORM_PARTS = 8 /* a quotient by no more than that goes with what it is a part of */ };
typedef struct FormData {
    int64_t k, lo, hi; /* lo .. hi: bounds; INT64_MIN, INT64_MAX: none */
    uint32_t depth; /* of the innermost loop over copies on whose turn the form depends; 0: none */
    bool wild;      /* it may come from a division by 0, and so be anything */
    uint32_t n;
    FormTerm t[]; /* sorted by atom */
} FormData;

typedef enum FormAtomKind {
    ATOM_OP,    /* result of a pure op on forms: sub = opcode */
    ATOM_PARAM, /* launch expression a */
    ATOM_SREG,  /* special register a */
    ATOM_LEAF,  /* value that op a of thread b defines the c-th time */
    ATOM_LOAD,  /* element of tensor a at byte b, read where c holds: tensors read as scalars are not written */
    ATOM_INDEX, /* of a loop over copies from a below b */
    ATOM_SUM,   /* of form a over the turns of a loop over copies from b below c */
    ATOM_COUNT, /* the number a, to which a long loop goes on: tries/constants.c */
    ATOM_TURNS, /* of repeats at their b-th time */
    ATOM_GT0,   /* pred: form a is above 0 */
    ATOM_EQ0,   /* pred: form a is 0 */
    ATOM_PROD,  /* pred atom a times atom b, a < b; sub: how many preds in all stand in front */
    ATOM_SEL,   /* a ? b : c, not taken apart */
    ATOM_FAMILY, /* stands for all atoms of kind sub with equal parts: tries/choices.c */
    ATOM_OPEN   /* index of a loop from b below c in turn a, in what is held open: unroll/blocks.c */
} FormAtomKind;
typedef struct FormAtom {
    uint8_t kind, sub, type;
    bool boolean, wild;
    uint32_t a, b, c;
    uint32_t depth; /* that of its parts is added */
    int64_t lo, hi;
    Form form; /* that is this atom; 0: not made yet */
} FormAtom;
static inline bool atom_extreme(const FormAtom *a) /* a minimum or maximum */
{
    return a->kind == ATOM_OP && (a->sub == IR_MIN || a->sub == IR_MAX);
}

typedef struct Known { /* a pred atom whose value is fixed where we are */
    uint32_t atom;
    bool value;
} Known;

typedef enum Work { WORK_SUM, WORK_GUARD, WORK_POSITIVE, WORK_LE, WORK_OP /* of op number what - WORK_OP */ } Work;
typedef struct Memo { /* what was worked out from forms a and b and c is z; a 0: none */
    uint32_t what;
    Form a, b;
    int64_t c;
    Form z;
} Memo;
enum { FORM_MEMOS = 2048 };

typedef struct Forms {
    Arena *arena;
    Names *form_names, *atom_names; /* by what each is made of: its number; form f is forms.v[f - 1], .. */
    VEC(FormData *) forms;
    VEC(FormAtom) atoms;
    Form consts[FORM_CONSTS]; /* the last ones, by their last bits */
    Memo memos[FORM_MEMOS];
    VEC(Known) known;
    uint32_t known_from;    /* those before it don't count */
    VEC(Form) facts;  /* forms that are >= 0 where we are */
    const Form *sreg; /* by IrReg: where we are */
    const Interval *launch; /* by expression of the launch, from 0: what it is where a CTA runs */
    const bool *divisors;      /* by launch expression: the launch, too, divides by it */
    bool wild; /* a value that is not taken apart may come from a division by 0 */
    uint32_t here[3]; /* where a value is made that is not taken apart */
    uint32_t depth;   /* of loops over copies */
    uint32_t leaves;  /* values made that are not taken apart */
    uint64_t work;    /* that has not been counted: verify_spend */
    uint32_t tries;   /* that may still be made to show that a form is not negative */
} Forms;

void forms_init(Forms *f, Arena *a);
static inline const FormData *form_data(const Forms *f, Form x)
{
    return f->forms.v[x - 1];
}
static inline const FormAtom *atom_data(const Forms *f, uint32_t x)
{
    return &f->atoms.v[x - 1];
}
bool form_recall(const Forms *f, Memo *m); /* m->z, if it was worked out before and is still kept */
Form form_keep(Forms *f, Memo m, Form z);  /* z */
Form form_const_new(Forms *f, int64_t k);
static inline Form form_const(Forms *f, int64_t k)
{
    Form x = f->consts[(uint64_t)(k ^ k >> 8) & (FORM_CONSTS - 1)];
    return x && form_data(f, x)->k == k ? x : form_const_new(f, k);
}
Form form_atom(Forms *f, FormAtom a); /* depth and bounds of a as given; a known atom keeps its own */
Form form_of_atom(Forms *f, uint32_t atom);
const char *form_parts(const FormAtom *a); /* of a, b and c: 'f' a form (or 0), 'a' an atom */
/* 0 if the result is no form: too long, or coefficients too large. */
Form form_add(Forms *f, Form x, int64_t c, Form y);  /* x + c * y */
Form form_guard(Forms *f, Form pred, Form x);        /* pred * x */
Form form_pick(Forms *f, Form pred, Form x, Form y); /* pred ? x : y, with the bounds of x and y; 0 if one is 0 */
Form form_not(Forms *f, Form pred);
/* Holds if pred does for some turn of the loops over copies from that depth on; 0 if that is not known. */
Form form_ever(Forms *f, Form pred, uint32_t depth);
Form form_where_positive(Forms *f, Form x, Form y); /* what x is where y > 0; x if y may be below 0 */
Form form_subst(Forms *f, Form x, uint32_t atom, Form y); /* 0 if the atom may stand inside another one */
static inline bool form_is_const(const Forms *f, Form x, int64_t *k)
{
    if (x == 0 || form_data(f, x)->n) return false;
    *k = form_data(f, x)->k;
    return true;
}
static inline bool form_is(const Forms *f, Form x, int64_t k)
{
    return x && form_data(f, x)->n == 0 && form_data(f, x)->k == k;
}
/* x with the known preds put in. */
Form form_simplify_atoms(Forms *f, Form x);
static inline Form form_simplify(Forms *f, Form x)
{
    return x == 0 || f->known.n == 0 || form_data(f, x)->n == 0 ? x : form_simplify_atoms(f, x);
}
Form form_pred(Forms *f, FormAtomKind kind, uint32_t sub, Form a, Form b); /* an atom; b 0: none */
Form form_positive(Forms *f, Form x); /* the pred x > 0 */
Form form_zero(Forms *f, Form x);     /* the pred x == 0 */
bool form_is_pred(const Forms *f, Form x, Known *is); /* x is one pred atom, or its contrary: what holds where x does */
/* Where pred holds, these atoms have these values: adds to known and facts. */
void form_assume(Forms *f, Form pred);
/* Whether x >= 0 is certain. */
bool form_nonneg(Forms *f, Form x);
/* The same where it takes telling up to so many conditions apart. */
bool form_nonneg_in_cases(Forms *f, Form x, int splits);
bool form_le(Forms *f, Form x, Form y);
/* The result of a pure op, never 0, by its operands: 0 for those that it has not, and for a dividend that is no form. */
Form form_of_op(Forms *f, const IrKernel *k, const IrOp *op, Form cond, Form a, Form b);
bool form_split(Forms *f, Form x, int64_t d, Form *quotient, Form *rest); /* x is d * quotient + rest: false where those are no forms */
bool form_not_zero(Forms *f, const IrKernel *k, Form x);
Form form_leaf(Forms *f, IrType type); /* a new value at f->here */
Form form_bit(Forms *f, Form x, int64_t bit); /* of x, as a pred; 0: not known */

#endif
