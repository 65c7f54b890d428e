#include <string.h>

#include "lang/checked.h"
#include "lower/verify/graph/values/forms.h"

enum { FUEL = 6, PREDS_MAX = 24, TRIES = 256 };
enum { WORK_FOUND = 2, WORK_NEW = 20 }; /* as many steps of a run take as long */

/* ---- interning ---- */

static uint32_t mix(uint32_t h, uint64_t x)
{
    x = (x ^ h) * UINT64_C(0x9E3779B97F4A7C15);
    return (uint32_t)(x >> 32 ^ x >> 15);
}

void forms_init(Forms *f, Arena *a)
{
    *f = (Forms){.arena = a, .form_names = names_new(a), .atom_names = names_new(a)};
}

const char *form_parts(const FormAtom *a)
{
    switch ((FormAtomKind)a->kind) {
    case ATOM_OP: return "ff-";
    case ATOM_LOAD: return "-ff";
    case ATOM_GT0:
    case ATOM_EQ0: return "f--";
    case ATOM_PROD: return "aa-";
    case ATOM_SEL: return "fff";
    default: return "---";
    }
}

static FormAtom with_parts(const Forms *f, FormAtom a)
{
    const char *parts = form_parts(&a);
    a.form = 0;
    for (int i = 0; i < 3; i++) {
        uint32_t x = i == 0 ? a.a : i == 1 ? a.b : a.c;
        bool atom = parts[i] == 'a', form = parts[i] == 'f' && x;
        uint32_t depth = atom ? atom_data(f, x)->depth : form ? form_data(f, x)->depth : 0;
        if (depth > a.depth) a.depth = depth;
        a.wild |= atom ? atom_data(f, x)->wild : form && form_data(f, x)->wild;
    }
    return a;
}

static uint32_t intern_atom(Forms *f, const FormAtom *a)
{
    uint32_t key[] = {(uint32_t)(a->kind | a->sub << 8 | a->type << 16), a->a, a->b, a->c};
    uint32_t x = names_intern(f->atom_names, (const char *)key, sizeof key);
    if (x > f->atoms.n) vec_push(f->arena, &f->atoms, with_parts(f, *a));
    return x;
}

typedef struct Lin { /* a form being made */
    int64_t k;
    uint32_t n;
    FormTerm t[FORM_TERMS];
} Lin;

static Form intern(Forms *f, const Lin *l)
{
    int64_t key[1 + 2 * FORM_TERMS];
    f->work += WORK_FOUND;
    key[0] = l->k;
    for (uint32_t i = 0; i < l->n; i++) {
        key[1 + 2 * i] = l->t[i].c;
        key[2 + 2 * i] = l->t[i].atom;
    }
    Form x = names_intern(f->form_names, (const char *)key, (1 + 2 * (size_t)l->n) * sizeof *key);
    if (x <= f->forms.n) return x;
    FormData *d = arena_alloc(f->arena, sizeof *d + l->n * sizeof *d->t);
    Interval sum = interval_at(l->k);
    *d = (FormData){.k = l->k, .n = l->n};
    for (uint32_t j = 0; j < l->n; j++) {
        const FormAtom *a = &f->atoms.v[l->t[j].atom - 1];
        d->t[j] = l->t[j];
        sum = interval_add(sum, interval_mul(interval_at(l->t[j].c), (Interval){a->lo, a->hi}));
        if (a->depth > d->depth) d->depth = a->depth;
        d->wild |= a->wild;
    }
    d->lo = sum.lo;
    d->hi = sum.hi;
    f->work += WORK_NEW;
    vec_push(f->arena, &f->forms, d);
    return x;
}

Form form_const_new(Forms *f, int64_t k)
{
    Lin l;
    l.k = k;
    l.n = 0;
    return f->consts[(uint64_t)(k ^ k >> 8) & (FORM_CONSTS - 1)] = intern(f, &l);
}

Form form_of_atom(Forms *f, uint32_t atom)
{
    FormAtom *a = &f->atoms.v[atom - 1];
    Lin l;
    l.k = 0;
    l.n = 1;
    l.t[0] = (FormTerm){1, atom};
    if (a->form) f->work += WORK_FOUND;
    else a->form = intern(f, &l);
    return a->form;
}

Form form_atom(Forms *f, FormAtom a)
{
    return form_of_atom(f, intern_atom(f, &a));
}

static Memo *memo_at(const Forms *f, const Memo *m)
{
    uint32_t h = mix(mix(m->what, (uint64_t)m->a << 32 | m->b), (uint64_t)m->c);
    return (Memo *)&f->memos[(h ^ h >> 16) & (FORM_MEMOS - 1)];
}

bool form_recall(const Forms *f, Memo *m)
{
    const Memo *kept = memo_at(f, m);
    m->z = kept->z;
    return kept->what == m->what && kept->a == m->a && kept->b == m->b && kept->c == m->c;
}

Form form_keep(Forms *f, Memo m, Form z)
{
    m.z = z;
    *memo_at(f, &m) = m;
    return z;
}

Form form_pred(Forms *f, FormAtomKind kind, uint32_t sub, Form a, Form b)
{
    return form_atom(f, (FormAtom){.kind = (uint8_t)kind, .sub = (uint8_t)sub, .type = kind == ATOM_OP ? IR_PRED : 0, .boolean = true, .a = a, .b = b, .lo = 0, .hi = 1});
}

/* ---- sums ---- */

static void lin_of(const Forms *f, Form x, Lin *l)
{
    const FormData *d = form_data(f, x);
    l->k = d->k;
    l->n = d->n;
    memcpy(l->t, d->t, d->n * sizeof *d->t);
}

static bool lin_add_term(Lin *l, int64_t c, uint32_t atom)
{
    uint32_t i = 0;
    while (i < l->n && l->t[i].atom < atom) i++;
    if (i < l->n && l->t[i].atom == atom) {
        if (!add_s64(l->t[i].c, c, &l->t[i].c)) return false;
        if (l->t[i].c == 0) memmove(&l->t[i], &l->t[i + 1], (--l->n - i) * sizeof *l->t);
        return true;
    }
    if (c == 0) return true;
    if (l->n == FORM_TERMS) return false;
    memmove(&l->t[i + 1], &l->t[i], (l->n++ - i) * sizeof *l->t);
    l->t[i] = (FormTerm){c, atom};
    return true;
}

static bool lin_add(const Forms *f, Lin *l, int64_t c, Form y)
{
    const FormData *d = form_data(f, y);
    int64_t k;
    if (!mul_s64(c, d->k, &k) || !add_s64(l->k, k, &l->k)) return false;
    for (uint32_t i = 0; i < d->n; i++)
        if (!mul_s64(c, d->t[i].c, &k) || !lin_add_term(l, k, d->t[i].atom)) return false;
    return true;
}

Form form_add(Forms *f, Form x, int64_t c, Form y)
{
    if (x == 0 || y == 0) return 0;
    const FormData *dx = form_data(f, x), *dy = form_data(f, y);
    int64_t k;
    if (dx->n + dy->n == 0) return mul_s64(c, dy->k, &k) && add_s64(dx->k, k, &k) ? form_const(f, k) : 0;
    if (dy->n == 0 && dy->k == 0) return x;
    f->work += WORK_FOUND;
    Memo m = {WORK_SUM, x, y, c, 0};
    if (form_recall(f, &m)) return m.z;
    Lin l;
    lin_of(f, x, &l);
    return form_keep(f, m, lin_add(f, &l, c, y) ? intern(f, &l) : 0);
}

Form form_subst(Forms *f, Form x, uint32_t atom, Form y)
{
    if (x == 0 || y == 0) return 0;
    const FormData *d = form_data(f, x);
    Lin l;
    l.k = d->k;
    l.n = 0;
    uint32_t depth = atom_data(f, atom)->depth;
    for (uint32_t i = 0; i < d->n; i++) {
        if (d->t[i].atom == atom) {
            if (!lin_add(f, &l, d->t[i].c, y)) return 0;
        } else if (atom_data(f, d->t[i].atom)->depth >= depth || !lin_add_term(&l, d->t[i].c, d->t[i].atom)) {
            return 0; /* made in the same loop: perhaps from it */
        }
    }
    return intern(f, &l);
}

/* ---- preds ---- */

static bool nonneg(Forms *f, Form x, int fuel, bool here);

Form form_not(Forms *f, Form pred)
{
    return form_add(f, form_const(f, 1), -1, pred);
}

static bool known_value(const Forms *f, uint32_t atom, bool *value)
{
    for (uint32_t i = f->known.n; i-- > f->known_from;) {
        if (f->known.v[i].atom != atom) continue;
        *value = f->known.v[i].value;
        return true;
    }
    return false;
}

/* Pred atom p times atom x: preds in front, in order, each once. 0 if they get too many: each `if` after the other may
 * add one. */
static uint32_t product(Forms *f, uint32_t p, uint32_t x)
{
    const FormAtom *y = atom_data(f, x);
    if (p == x) return x;
    if (y->kind == ATOM_PROD) {
        uint32_t head = y->a, rest = y->b;
        if (p == head) return x;
        if (p > head) {
            rest = product(f, p, rest);
            return rest ? product(f, head, rest) : 0;
        }
    } else if (y->boolean && p > x) {
        uint32_t swap = p;
        p = x;
        x = swap;
    }
    y = atom_data(f, x);
    unsigned preds = y->kind == ATOM_PROD ? y->sub + 1u : 1;
    if (preds > PREDS_MAX) return 0;
    return intern_atom(f, &(FormAtom){.kind = ATOM_PROD,
                                      .sub = (uint8_t)preds,
                                      .boolean = y->boolean,
                                      .a = p,
                                      .b = x,
                                      .lo = y->lo < 0 ? y->lo : 0,
                                      .hi = y->hi > 0 ? y->hi : 0});
}

/* Product of the preds in atom p (a pred, or a product of preds) and x. [x > 0] * x is x, as x is never negative
 * where it counts bytes: a copy of 0 bytes and no copy are the same. */
static Form guard_by(Forms *f, uint32_t p, Form x)
{
    Form whole = x;
    for (uint32_t rest = p; rest;) {
        FormAtom a = *atom_data(f, rest);
        uint32_t head = a.kind == ATOM_PROD ? a.a : rest;
        rest = a.kind == ATOM_PROD ? a.b : 0;
        const FormAtom *h = atom_data(f, head);
        if (h->kind == ATOM_GT0 && h->a == whole && nonneg(f, whole, FUEL, false)) continue;
        const FormData *d = form_data(f, x);
        Lin l;
        l.k = 0;
        l.n = 0;
        if (d->k) lin_add_term(&l, d->k, head);
        for (uint32_t i = 0; i < d->n; i++) {
            uint32_t both = product(f, head, d->t[i].atom);
            if (both == 0 || !lin_add_term(&l, d->t[i].c, both)) return 0;
        }
        x = intern(f, &l);
    }
    return x;
}

static Form guard_sum(Forms *f, Form pred, Form x)
{
    const FormData *p = form_data(f, pred);
    Form sum = form_add(f, form_const(f, 0), p->k, x);
    for (uint32_t i = 0; i < p->n && sum; i++) {
        if (!atom_data(f, p->t[i].atom)->boolean) return 0;
        sum = form_add(f, sum, p->t[i].c, guard_by(f, p->t[i].atom, x));
    }
    return sum;
}

Form form_guard(Forms *f, Form pred, Form x)
{
    if (pred == 0 || x == 0) return 0;
    if (form_is(f, pred, 1)) return x;
    Memo m = {WORK_GUARD, pred, x, 0, 0};
    return form_recall(f, &m) ? m.z : form_keep(f, m, guard_sum(f, pred, x));
}

Form form_pick(Forms *f, Form pred, Form x, Form y)
{
    int64_t a, b, p;
    if (x == y || pred == 0 || x == 0 || y == 0) return x == y ? x : 0;
    if (form_is_const(f, pred, &p)) return p ? x : y;
    if (form_is_const(f, x, &a) && form_is_const(f, y, &b) && sub_s64(a, b, &p)) return form_add(f, y, p, pred);
    const FormData *dx = form_data(f, x), *dy = form_data(f, y);
    return form_atom(f, (FormAtom){.kind = ATOM_SEL,
                                   .a = pred,
                                   .b = x,
                                   .c = y,
                                   .lo = dx->lo < dy->lo ? dx->lo : dy->lo,
                                   .hi = dx->hi > dy->hi ? dx->hi : dy->hi});
}

/* The atom with the preds that hold taken out; 0 if one of them does not hold, UINT32_MAX if nothing is left. */
static uint32_t simplify_atom(Forms *f, uint32_t atom)
{
    bool value;
    if (known_value(f, atom, &value)) return value ? UINT32_MAX : 0;
    FormAtom a = *atom_data(f, atom);
    if (a.kind != ATOM_PROD) return atom;
    uint32_t rest = simplify_atom(f, a.b);
    if (rest == 0) return 0;
    if (known_value(f, a.a, &value)) return value ? rest : 0;
    return rest == UINT32_MAX ? a.a : product(f, a.a, rest);
}

/* What a selection gives where its pred is known; 0: it is not. */
static Form selected(Forms *f, uint32_t atom)
{
    FormAtom a = *atom_data(f, atom);
    int64_t p;
    if (a.kind != ATOM_SEL || !form_is_const(f, form_simplify(f, a.a), &p)) return 0;
    return form_simplify(f, p ? a.b : a.c);
}

Form form_simplify_atoms(Forms *f, Form x)
{
    FormData *d = f->forms.v[x - 1];
    Lin l;
    l.k = d->k;
    l.n = 0;
    for (uint32_t i = 0; i < d->n; i++) {
        Form one = selected(f, d->t[i].atom);
        uint32_t atom = one ? 0 : simplify_atom(f, d->t[i].atom);
        bool ok = atom == UINT32_MAX ? add_s64(l.k, d->t[i].c, &l.k) : atom == 0 || lin_add_term(&l, d->t[i].c, atom);
        if (one) ok = lin_add(f, &l, d->t[i].c, one);
        if (!ok) return x;
    }
    return intern(f, &l);
}

/* x with this value for a pred, and nothing else known. */
static Form with(Forms *f, Form x, uint32_t atom, bool value)
{
    uint32_t from = f->known_from, n = f->known.n;
    f->known_from = n;
    vec_push(f->arena, &f->known, ((Known){atom, value}));
    x = form_simplify(f, x);
    f->known.n = n;
    f->known_from = from;
    return x;
}

bool form_is_pred(const Forms *f, Form x, Known *is)
{
    const FormData *d = form_data(f, x);
    bool plain = d->n == 1 && (d->k == 0 ? d->t[0].c == 1 : d->k == 1 && d->t[0].c == -1);
    if (plain) *is = (Known){d->t[0].atom, d->k == 0};
    return plain;
}

static void assume_atom(Forms *f, uint32_t atom, bool value)
{
    while (value && atom_data(f, atom)->kind == ATOM_PROD) {
        FormAtom a = *atom_data(f, atom);
        assume_atom(f, a.a, true);
        atom = a.b;
    }
    vec_push(f->arena, &f->known, ((Known){atom, value}));
    FormAtom a = *atom_data(f, atom);
    Form zero = form_const(f, 0), fact = 0;
    if (a.kind == ATOM_GT0) fact = value ? form_add(f, a.a, -1, form_const(f, 1)) : form_add(f, zero, -1, a.a);
    if (fact) vec_push(f->arena, &f->facts, fact);
    if (a.kind == ATOM_EQ0 && value) {
        vec_push(f->arena, &f->facts, a.a);
        Form minus = form_add(f, zero, -1, a.a);
        if (minus) vec_push(f->arena, &f->facts, minus);
    }
    if (a.kind == ATOM_OP && a.sub == IR_AND && a.type == IR_PRED && value) {
        form_assume(f, a.a);
        form_assume(f, a.b);
    }
}

/* Where pred is a sum: a pred in it without which it can't hold does, one with which it can't does not. */
static void assume_parts(Forms *f, Form pred)
{
    const FormData *d = form_data(f, pred);
    for (uint32_t i = 0; i < d->n; i++) {
        for (uint32_t atom = d->t[i].atom, next; atom; atom = next) {
            FormAtom a = *atom_data(f, atom);
            uint32_t head = a.kind == ATOM_PROD ? a.a : atom;
            bool value;
            next = a.kind == ATOM_PROD ? a.b : 0;
            if (known_value(f, head, &value)) continue;
            if (form_is(f, with(f, pred, head, false), 0)) assume_atom(f, head, true);
            else if (form_is(f, with(f, pred, head, true), 0)) assume_atom(f, head, false);
        }
    }
}

void form_assume(Forms *f, Form pred)
{
    Known is;
    if (pred && form_is_pred(f, pred, &is)) assume_atom(f, is.atom, is.value);
    else if (pred && form_data(f, pred)->n > 1) assume_parts(f, pred);
}

Form form_where_positive(Forms *f, Form x, Form y)
{
    if (x == 0 || y == 0 || form_data(f, y)->n == 0) return x;
    Memo m = {WORK_POSITIVE, x, y, 0, 0};
    if (form_recall(f, &m)) return m.z;
    bool sure = nonneg(f, y, FUEL, false);
    return form_keep(f, m, sure ? with(f, x, form_data(f, form_pred(f, ATOM_GT0, 0, y, 0))->t[0].atom, true) : x);
}

/* The first pred in x that depends on the turn of a loop over copies from that depth on. */
static uint32_t pred_in(const Forms *f, Form x, uint32_t depth)
{
    const FormData *d = form_data(f, x);
    for (uint32_t i = 0; i < d->n; i++) {
        for (uint32_t atom = d->t[i].atom, next; atom; atom = next) {
            const FormAtom *a = atom_data(f, atom);
            uint32_t head = a->kind == ATOM_PROD ? a->a : atom;
            next = a->kind == ATOM_PROD ? a->b : 0;
            if (atom_data(f, head)->boolean && atom_data(f, head)->depth >= depth) return head;
        }
    }
    return 0;
}

enum { PREDS_DEEP = 8 };

Form form_ever(Forms *f, Form pred, uint32_t depth)
{
    for (int i = 0; i < PREDS_DEEP && pred && form_data(f, pred)->depth >= depth; i++) {
        uint32_t atom = pred_in(f, pred, depth);
        Form yes = with(f, pred, atom, true), no = with(f, pred, atom, false);
        pred = form_add(f, form_add(f, yes, 1, no), -1, form_guard(f, yes, no));
    }
    return pred && form_data(f, pred)->depth < depth ? pred : 0;
}

/* ---- bounds ---- */

/* x with atom = op(a, b) replaced by each of its operands: max is at least each of them, min at most. Facts hold only
 * here; what is kept for later (values) must not depend on them. */
static bool shown_nonneg(Forms *f, Form x, int fuel, bool here)
{
    if (x == 0) return false;
    if (form_data(f, x)->lo >= 0) return true;
    if (form_data(f, x)->hi < 0 || fuel == 0 || f->tries == 0) return false;
    f->tries--;
    for (uint32_t i = 0; here && i < f->facts.n; i++) {
        Form rest = form_add(f, x, -1, f->facts.v[i]);
        if (rest && form_data(f, rest)->lo >= 0) return true;
    }
    for (uint32_t i = 0; i < form_data(f, x)->n; i++) {
        FormTerm t = form_data(f, x)->t[i];
        FormAtom a = *atom_data(f, t.atom);
        bool extreme = atom_extreme(&a);
        if (!extreme && a.kind != ATOM_SEL && a.kind != ATOM_PROD) continue;
        Form without = form_add(f, x, -t.c, form_of_atom(f, t.atom));
        Form p = a.kind == ATOM_PROD ? form_of_atom(f, a.b) : extreme ? a.a : a.b;
        Form q = a.kind == ATOM_PROD ? form_const(f, 0) : extreme ? a.b : a.c;
        bool first = shown_nonneg(f, form_add(f, without, t.c, p), fuel - 1, here);
        bool either = extreme && (t.c > 0) == (a.sub == IR_MAX);
        if (first == either) {
            if (first) return true;
            continue;
        }
        if (shown_nonneg(f, form_add(f, without, t.c, q), fuel - 1, here)) return true;
    }
    return false;
}

static bool nonneg(Forms *f, Form x, int fuel, bool here)
{
    f->tries = TRIES;
    return shown_nonneg(f, x, fuel, here);
}

bool form_nonneg(Forms *f, Form x)
{
    return nonneg(f, x, FUEL, true);
}

bool form_nonneg_in_cases(Forms *f, Form x, int splits)
{
    if (form_nonneg(f, x)) return true;
    uint32_t atom = x && splits ? pred_in(f, x, 0) : 0;
    bool all = atom != 0;
    for (int value = 0; value < 2 && all; value++) {
        vec_push(f->arena, &f->known, ((Known){atom, value == 1}));
        all = form_nonneg_in_cases(f, form_simplify(f, x), splits - 1);
        f->known.n--;
    }
    return all;
}

bool form_le(Forms *f, Form x, Form y)
{
    if (x == 0 || y == 0) return false;
    const FormData *a = form_data(f, x), *b = form_data(f, y);
    if (a->n + b->n == 0) return a->k <= b->k;
    if (x == y || (a->hi <= b->lo && a->hi != INT64_MAX && b->lo != INT64_MIN)) return true;
    if (a->lo > b->hi && a->lo != INT64_MIN && b->hi != INT64_MAX) return false;
    if (f->facts.n) return nonneg(f, form_add(f, y, -1, x), FUEL, true);
    Memo m = {WORK_LE, x, y, 0, 0};
    return form_recall(f, &m) ? m.z : form_keep(f, m, nonneg(f, form_add(f, y, -1, x), FUEL, false));
}
