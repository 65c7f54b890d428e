/* Which trip counts are tried. A run meets a loop bound that is not a number: what it depends on gets values, and the run
 * starts again; all combinations are gone through as an odometer does. Bounds that are a new value in each turn of a loop
 * around follow the first one's choice in patterns that mix short and long. What is chosen is a linear combination of atoms
 * without its constant, in lowest terms: every other value that is the same combination, plus a constant, is then a number
 * too, in every role and CTA.
 */
#include <string.h>

#include "lang/checked.h"
#include "lower/verify/graph/tries/tries.h"
#include "lower/verify/graph/unroll/unroll.h"

enum { CHOICES_MAX = 9, MIXED = 6, OFFSET_CLIP = 16, CHOICES_ALL = 4096 };
enum { VALUES_MAX = 512, COUNTS_MAX = 256 };

typedef struct Values { /* to be tried */
    int64_t v[VALUES_MAX];
    uint32_t n;
    bool full; /* there were more */
} Values;

static int64_t scale_of(const FormData *d)
{
    int64_t g = 0;
    for (uint32_t i = 0; i < d->n; i++) g = gcd_s64(d->t[i].c, g);
    return d->t[0].c < 0 ? -g : g;
}

static bool of_condition(const Forms *f, const FormData *d)
{
    return d->n == 1 && atom_data(f, d->t[0].atom)->boolean;
}

/* d is scale times of, but for the constant. */
static bool scales(const FormData *of, const FormData *d, int64_t *scale)
{
    if (of->n != d->n || of->t[0].atom != d->t[0].atom || d->t[0].c % of->t[0].c != 0) return false;
    *scale = d->t[0].c / of->t[0].c;
    for (uint32_t i = 1; i < d->n; i++) {
        int64_t c;
        if (of->t[i].atom != d->t[i].atom || !mul_s64(of->t[i].c, *scale, &c) || c != d->t[i].c) return false;
    }
    return true;
}

enum { PARTS_MAX = 256, LIMIT_MAX = 128 };

/* Is k one of them? */
static bool among(const int64_t *v, uint32_t n, int64_t k)
{
    for (uint32_t i = 0; i < n; i++)
        if (v[i] == k) return true;
    return false;
}

bool choice_beside(Verifier *v, int64_t k)
{
    if (k < -LIMIT_MAX || k > LIMIT_MAX || among(v->beside.v, v->beside.n, k)) return false;
    vec_push(v->arena, &v->beside, k);
    return true;
}

/* A number that clips a trip count: counts beyond it are tried, too, everywhere. Numbers below 1 clip to no turns, and a
 * whole type's range clips nothing. */
static void limit(Verifier *v, int64_t k)
{
    if (k < 1 || k >= INT32_MAX || v->again || among(v->limits.v, v->limits.n, k)) return;
    if (k > LIMIT_MAX) {
        verify_refuse(v, E0660, v->now->pc, "a trip count is clipped to %lld: counts beyond %d are not tried", (long long)k, LIMIT_MAX);
        return;
    }
    vec_push(v->arena, &v->limits, k);
    v->afresh = v->again = true;
}

bool choice_longer(Verifier *v, int64_t by)
{
    int64_t greatest = 0;
    for (uint32_t i = 0; i < v->limits.n; i++)
        if (v->limits.v[i] > greatest) greatest = v->limits.v[i];
    vec_push(v->arena, &v->limits, greatest + by);
    return greatest + by <= LIMIT_MAX;
}

/* A minimum or maximum of what has been chosen; 0: it is none. */
static Form resolve_extreme(Verifier *v, const FormAtom *a, bool *by_trip)
{
    int64_t p, q;
    bool least = a->sub == IR_MIN;
    Form one = form_simplify(&v->f, a->a), other = form_simplify(&v->f, a->b);
    Form lesser = choice_resolve(v, one, by_trip), greater = choice_resolve(v, other, by_trip);
    if (!form_is_const(&v->f, lesser, &p) || !form_is_const(&v->f, greater, &q)) return 0;
    if (form_data(&v->f, one)->n == 0) limit(v, p);
    else if (form_data(&v->f, other)->n == 0) limit(v, q);
    return form_const(&v->f, least == (p < q) ? p : q);
}

/* A quotient or remainder by a small number: of what is chosen it is a number, too. */
static bool is_part(const Verifier *v, const FormAtom *a, int64_t *by)
{
    bool part = !v->few && a->kind == ATOM_OP && (a->sub == IR_DIV || a->sub == IR_MOD) && !a->wild;
    return part && form_is_const(&v->f, a->b, by) && *by > 1 && *by <= FORM_PARTS && *by * (2 * (int64_t)v->ring + 2) <= LIMIT_MAX;
}

static Form without_constant(Verifier *v, Form x)
{
    return form_add(&v->f, x, -1, form_const(&v->f, form_data(&v->f, x)->k));
}

/* By which numbers loops divide what others count to: a multiple of all. 1: it is not divided. */
static int64_t divided(const Verifier *v, Form of)
{
    int64_t by = 1;
    for (uint32_t i = 0; i < v->dividends.n; i++)
        if (v->dividends.v[i].of == of) by = rounds_joint(by, v->dividends.v[i].by);
    return by;
}

/* From now on it is chosen before its parts, and has so many times the values. */
static void divide(Verifier *v, Form of, int64_t by)
{
    if (v->again || divided(v, of) % by == 0) return;
    vec_push(v->arena, &v->dividends, ((Dividend){of, by}));
    v->afresh = v->again = true;
}

/* A part of what has been chosen; 0: it is none. */
static Form resolve_part(Verifier *v, const FormAtom *a, bool *by_trip)
{
    int64_t by, k;
    if (!is_part(v, a, &by)) return 0;
    Form of = choice_resolve(v, form_simplify(&v->f, a->a), by_trip);
    if (!form_is_const(&v->f, of, &k)) return 0;
    if (a->sub == IR_DIV) divide(v, without_constant(v, a->a), by);
    return form_of_op(&v->f, v->k, &(IrOp){.op = a->sub, .type = a->type}, 0, of, a->b);
}

static int64_t value_of_choice(const Choice *c)
{
    return c->value[c->at % c->n];
}

/* Of what has been chosen; 0: it is not. */
static Form resolve_chosen(Verifier *v, Form x, bool *by_trip)
{
    const FormData *d = form_data(&v->f, x);
    if (d->n == 0) return x;
    for (uint32_t i = 0; i < v->choices.n; i++) {
        Choice *c = &v->choices.v[i];
        int64_t scale, k;
        if (!scales(form_data(&v->f, c->of), d, &scale)) continue;
        if (!mul_s64(scale, value_of_choice(c), &k) || !add_s64(k, d->k, &k)) return 0;
        *by_trip |= !of_condition(&v->f, form_data(&v->f, c->of)); /* of a condition both ways are tried */
        return form_const(&v->f, k);
    }
    return 0;
}

bool choice_condition(const Verifier *v, uint32_t i, bool *holds)
{
    const Choice *c = &v->choices.v[i];
    *holds = c->scale * value_of_choice(c) + c->constant != 0;
    return of_condition(&v->f, form_data(&v->f, c->of));
}

static bool has_extreme(const Verifier *v, Form x)
{
    bool any = false;
    for (uint32_t i = 0; i < form_data(&v->f, x)->n; i++) {
        const FormAtom *a = atom_data(&v->f, form_data(&v->f, x)->t[i].atom);
        any |= atom_extreme(a) || (a->kind == ATOM_OP && (a->sub == IR_DIV || a->sub == IR_MOD) && has_extreme(v, a->a));
    }
    return any;
}

/* Parts beside a minimum or maximum: in long loops their sum may have other remainders than in the runs, which see one side of that. */
static bool is_mixed(const Verifier *v, Form x)
{
    const FormData *d = form_data(&v->f, x);
    bool part = false;
    int64_t by;
    for (uint32_t i = 0; i < d->n && !part; i++) part = is_part(v, atom_data(&v->f, d->t[i].atom), &by);
    return part && d->n > 1 && has_extreme(v, x);
}

/* With numbers for its minima, maxima and parts that are some by now. */
static Form put_numbers(Verifier *v, Form x, bool *by_trip)
{
    Form sum = x;
    if (is_mixed(v, x)) return x;
    for (uint32_t i = 0; sum && i < form_data(&v->f, x)->n; i++) {
        FormTerm t = form_data(&v->f, x)->t[i];
        FormAtom a = *atom_data(&v->f, t.atom);
        Form k = atom_extreme(&a) ? resolve_extreme(v, &a, by_trip) : resolve_part(v, &a, by_trip);
        if (k) sum = form_add(&v->f, form_add(&v->f, sum, -t.c, form_of_atom(&v->f, t.atom)), t.c, k);
    }
    return sum;
}

/* Launch expressions have minima and maxima whole: what those leave may be a number, too. */
Form choice_resolve(Verifier *v, Form x, bool *by_trip)
{
    if (x == 0 || form_data(&v->f, x)->n == 0) return x;
    x = remainders_put(v, x);
    Form y = resolve_chosen(v, x, by_trip), sum = y ? 0 : put_numbers(v, x, by_trip);
    if (sum && sum != x) y = resolve_chosen(v, sum, by_trip);
    return y ? y : x;
}

/* ---- what to choose ---- */

/* The value within x that decides it: through min, max, selections and products of conditions; of a minimum of two sizes first the
 * one, then the other; part tells them apart. offset: of constants on the way, by which the interesting ones of few values may
 * be greater (of all, tries/turns.c tells). */
static Form deciding(Verifier *v, Form x, int64_t *offset, uint32_t *part)
{
    Forms *f = &v->f;
    for (int depth = 0; depth < 32; depth++) {
        const FormData *d = form_data(f, x);
        if (d->n == 0) return 0;
        Form inner = 0;
        int64_t k;
        bool trip = false;
        for (uint32_t i = 0; i < d->n && inner == 0; i++) {
            FormAtom a = *atom_data(f, d->t[i].atom);
            if (is_part(v, &a, &k) && divided(v, without_constant(v, a.a)) > 1) {
                inner = a.a;
            } else if (atom_extreme(&a)) {
                inner = form_is_const(f, choice_resolve(v, form_simplify(f, a.a), &trip), &k) ? a.b : a.a;
                bool two = !form_is_const(f, a.a, &k) && !form_is_const(f, a.b, &k);
                if (two) *part = 2 * *part + (inner == a.b);
                if (*part >= PARTS_MAX) return 0;
                if (!two && (d->n > 1 || k <= OFFSET_CLIP)) *offset = k; /* n - min(n, k): what comes after it */
            } else if (a.kind == ATOM_SEL) {
                inner = form_is_const(f, a.a, &k) ? (form_is_const(f, a.b, &k) ? a.c : a.b) : a.a;
            } else if (a.kind == ATOM_PROD) {
                inner = form_of_atom(f, a.a);
            } else if (a.boolean && d->n > 1) {
                inner = form_of_atom(f, d->t[i].atom);
            }
        }
        if (inner == 0) return x;
        x = form_simplify(f, inner);
    }
    return 0;
}

static void add_value(Values *l, int64_t k)
{
    if (among(l->v, l->n, k)) return;
    if (l->n < VALUES_MAX) l->v[l->n++] = k;
    else l->full = true;
}

/* Choices with the same values share them. */
static void keep_values(Verifier *v, Choice *c, const Values *l)
{
    c->n = l->n;
    for (uint32_t i = 0; i < v->lists.n && c->value == NULL; i++)
        if (v->lists.v[i].n == l->n && memcmp(v->lists.v[i].v, l->v, l->n * sizeof *l->v) == 0)
            c->value = v->lists.v[i].v;
    if (c->value) return;
    int64_t *all = arena_array(v->arena, int64_t, l->n);
    memcpy(all, l->v, l->n * sizeof *all);
    vec_push(v->arena, &v->lists, ((ValueList){all, l->n}));
    c->value = all;
}

/* The most turns that were chosen for a loop around v->now, beyond two or those that it always has, and but for those that differ. */
static int64_t turns_around(const Verifier *v)
{
    const Thread *t = v->now;
    int64_t most = 0;
    for (uint32_t i = 0; i < t->depth; i++) {
        const Frame *fr = &t->frames[i];
        int64_t least = v->few ? 0 : v->turns[fr->op].least, alike = fr->past - (least > 2 ? least : 2) - v->together[fr->op];
        if (!fr->burst && v->chosen[fr->op] && alike > most) most = alike;
    }
    return most;
}

/* The least value with which scale * value + constant is t or more; INT64_MIN where there is none to be told. */
static int64_t value_for(int64_t t, int64_t constant, int64_t scale)
{
    int64_t far, by = scale < 0 ? -scale : scale;
    if (!sub_s64(scale < 0 ? constant : t, scale < 0 ? t : constant, &far)) return INT64_MIN;
    int64_t q = far / by;
    return scale > 0 && far > 0 && far % by ? q + 1 : scale < 0 && far < 0 && far % by ? q - 1 : q;
}

/* What a loop leaves behind may be another state for each remainder of its turns, and conditions that tell of its first and its last turns
 * meet in some way in each short one: all up to 2 S + 1, also of a part of that number. */
static uint32_t counts_of(Verifier *v, uint32_t op, int64_t by, int64_t *counts)
{
    int64_t S = v->ring, few[] = {2 * S + 1, 1, 0};
    uint32_t n = 3;
    memcpy(counts, few, sizeof few);
    if (v->few) return n;
    if (by * (2 * S + 2) > COUNTS_MAX) {
        verify_refuse(v, E0660, op,
                      "slots of this kernel come round after %lld turns: loops of more than %d are not tried",
                      (long long)S, COUNTS_MAX);
        return 0;
    }
    for (n = 0; n < by * (2 * S + 2); n++) counts[n] = n;
    return n;
}

/* A loop in a loop: what matters lies within 2 S + 1 of its turns, and these go through many turns of the loop around only
 * where it has few itself; turns that differ (tries/compare.c) don't count, nor do those of loops on whose number of turns that of
 * others depends (tries/nests.c). */
static bool fits(const Verifier *v, int64_t S, int64_t count)
{
    return count <= 1 || count * turns_around(v) <= 2 * S;
}

static void add_counts(Verifier *v, Values *l, const Choice *c, int64_t offset)
{
    int64_t S = v->ring, counts[COUNTS_MAX], by = divided(v, c->of);
    uint32_t all = counts_of(v, c->op, by, counts), n = 0;
    for (uint32_t i = 0; i < all; i++)
        if (fits(v, S, (counts[i] + by - 1) / by)) counts[n++] = counts[i];
    for (uint32_t i = 0; i < n; i++)
        add_value(l, c->scale == 1 || c->scale == -1 ? (counts[i] - c->constant) * c->scale : counts[i]);
    for (uint32_t i = 0; i < v->limits.n; i++) {
        add_value(l, v->limits.v[i] + 1);
        for (uint32_t j = 0; j < n; j++) add_value(l, v->limits.v[i] + counts[j]);
        add_value(l, v->limits.v[i] + 2 * S + 1);
    }
    for (uint32_t i = 0; i < v->beside.n; i++) add_value(l, v->beside.v[i]);
    for (uint32_t i = 0; i < n && v->few && offset >= 1 && offset <= LIMIT_MAX; i++) add_value(l, offset + counts[i]);
}

/* Of a long loop two counts of at least 2 S + 1 turns that leave its remainder; it may have no more itself. */
static void only_long(const Verifier *v, Values *l, const Choice *c)
{
    int64_t k = constants_count(v, c->of), by = c->scale < 0 ? -1 : 1, joint = v->joint;
    if (k == 0) return;
    int64_t least = value_for(2 * (int64_t)v->ring + 1, c->constant, c->scale), far = (k - least) * by % joint;
    least += by * (far < 0 ? far + joint : far);
    l->n = 0;
    add_value(l, (k - least) * by < 0 ? k : least);
    if ((k - least) * by >= joint && !v->few) add_value(l, least + by * joint);
}

/* What no launch has is left out, unless nothing else is small enough to be tried; as many that some launch has take its place. */
static void drop_impossible(const Forms *f, Form of, Values *l)
{
    const FormData *d = form_data(f, of);
    uint32_t n = 0, below = 0, above = 0;
    for (uint32_t i = 0; i < l->n; i++) n += l->v[i] >= d->lo && l->v[i] <= d->hi;
    if (d->lo > 1 || n == 0) return;
    n = 0;
    for (uint32_t i = 0; i < l->n; i++) {
        if (l->v[i] < d->lo) below++;
        else if (l->v[i] > d->hi) above++;
        else l->v[n++] = l->v[i];
    }
    l->n = n;
    for (int64_t k = d->lo; below > 0 && k <= d->hi; k++, below--) add_value(l, k);
    for (int64_t k = d->hi; above > 0 && k >= d->lo; k--, above--) add_value(l, k);
}

/* Pattern: the first n choices of the owner stand for equal turns, the others mix them: each turn takes another one. Each two
 * values come one after the other, in both orders, in the first two turns of some pattern. */
static void follow(const Verifier *v, Choice *c)
{
    const Choice *owner = &v->choices.v[c->owner];
    uint32_t mixed = owner->at - owner->n;
    c->at = owner->at < owner->n ? owner->at : (mixed % owner->n + c->turn * (1 + mixed / owner->n)) % c->n;
}

static uint32_t mixed(uint32_t n)
{
    return n * (n - 1) > MIXED ? n * (n - 1) : MIXED;
}

enum { LAUNCH_FUEL = 64, FAMILY_FUEL = 6 };

/* Each atom in it, and what those are made from, is of kinds; fuel: so many may be looked at. */
static bool made_of(const Forms *f, Form x, uint32_t kinds, int *fuel);

static bool atom_made_of(const Forms *f, uint32_t atom, uint32_t kinds, int *fuel)
{
    const FormAtom *a = atom_data(f, atom);
    const char *parts = form_parts(a);
    const uint32_t part[] = {a->a, a->b, a->c};
    bool all = --*fuel >= 0 && kinds >> a->kind & 1;
    for (int i = 0; i < 3 && all; i++)
        if (parts[i] != '-') all = parts[i] == 'f' ? made_of(f, part[i], kinds, fuel) : atom_made_of(f, part[i], kinds, fuel);
    return all;
}

static bool made_of(const Forms *f, Form x, uint32_t kinds, int *fuel)
{
    bool all = x != 0;
    for (uint32_t i = 0; all && i < form_data(f, x)->n; i++) all = atom_made_of(f, form_data(f, x)->t[i].atom, kinds, fuel);
    return all;
}

#define KIND(k) (UINT32_C(1) << (k))
static const uint32_t OF_LAUNCH = KIND(ATOM_PARAM) | KIND(ATOM_OP) | KIND(ATOM_GT0) | KIND(ATOM_EQ0) | KIND(ATOM_PROD) | KIND(ATOM_SEL) | KIND(ATOM_OPEN);

bool choice_of_kernel(const Verifier *v, Form x)
{
    int fuel = LAUNCH_FUEL;
    return made_of(&v->f, x, OF_LAUNCH | KIND(ATOM_LOAD) | KIND(ATOM_SREG), &fuel);
}

/* What a condition asks, but for the turn that asks it: those of one family are made again and again in turns around. */
static Form family(Forms *f, Form x, int fuel);

static uint32_t family_of_atom(Forms *f, uint32_t atom, int fuel)
{
    const FormAtom a = *atom_data(f, atom);
    const char *parts = form_parts(&a);
    const uint32_t part[] = {a.a, a.b, a.c};
    uint32_t in[] = {0, 0, 0};
    bool named = a.kind == ATOM_PARAM || a.kind == ATOM_SREG; /* of others only the tensor, or the op */
    for (int i = 0; i < 3 && a.kind != ATOM_LOAD; i++) {
        if (parts[i] == 'f') in[i] = family(f, part[i], fuel - 1);
        else if (parts[i] == 'a') in[i] = family_of_atom(f, part[i], fuel - 1);
        else if (named) in[i] = part[i];
    }
    if (a.kind == ATOM_LOAD || a.kind == ATOM_LEAF) in[0] = a.a;
    Form x = form_atom(f, (FormAtom){.kind = ATOM_FAMILY, .sub = a.kind, .type = a.sub, .a = in[0], .b = in[1], .c = in[2]});
    return form_data(f, x)->t[0].atom;
}

static Form family(Forms *f, Form x, int fuel)
{
    if (x == 0 || fuel <= 0) return 0;
    const FormData *d = form_data(f, x);
    Form sum = form_const(f, d->k);
    for (uint32_t i = 0; i < d->n; i++) sum = form_add(f, sum, d->t[i].c, form_of_atom(f, family_of_atom(f, d->t[i].atom, fuel)));
    return sum;
}

/* The choice is made from now on. */
static void make(Verifier *v, Choice c, const Values *l)
{
    uint32_t digits = 0;
    if (l->full) verify_refuse(v, E0660, c.op, "this loop is clipped and shifted in too many ways to be proved");
    for (uint32_t i = 0; i < v->choices.n; i++) {
        const Choice *other = &v->choices.v[i];
        digits += other->owner == UINT32_MAX;
        if (c.alone || other->alone || memcmp(&other->key, &c.key, sizeof c.key) != 0) continue;
        if (other->owner == UINT32_MAX) c.owner = i;
        c.turn++;
    }
    keep_values(v, &c, l);
    if (c.owner != UINT32_MAX) follow(v, &c);
    else if (digits == CHOICES_MAX) {
        verify_refuse(v, E0660, c.op, "the kernel has too many loops and conditions of different length to be proved");
        return;
    }
    vec_push(v->arena, &v->choices, c);
    v->again = true;
}

void choice_remainder(Verifier *v, uint32_t op, Form of)
{
    Values l = {.n = 0};
    for (int64_t k = 0; k <= form_data(&v->f, of)->hi; k++) add_value(&l, k);
    v->remainders = true;
    make(v, (Choice){.of = of, .op = op, .owner = UINT32_MAX, .remainder = true, .alone = true}, &l);
}

/* A part of it has been chosen before it. */
static bool parts_chosen(Verifier *v, Form of)
{
    for (uint32_t i = 0; i < v->choices.n && !v->afresh; i++) {
        const FormData *d = form_data(&v->f, v->choices.v[i].of);
        const FormAtom a = *atom_data(&v->f, d->t[0].atom);
        int64_t by;
        if (d->n == 1 && is_part(v, &a, &by) && a.sub == IR_DIV && without_constant(v, a.a) == of) divide(v, of, by);
    }
    return v->afresh;
}

static void add(Verifier *v, uint32_t op, Form x, bool alone)
{
    Forms *f = &v->f;
    int64_t offset = 0;
    uint32_t part = 1;
    bool trip = false;
    Form rest = put_numbers(v, x, &trip), leaf = deciding(v, rest ? rest : x, &offset, &part);
    if (leaf == 0 || v->choices.n >= CHOICES_ALL) {
        verify_refuse(v, E0660, op, "how often this happens has a form that can't be followed");
        return;
    }
    const FormData *d = form_data(f, leaf);
    bool pred = of_condition(f, d);
    int64_t scale = scale_of(d);
    Choice c = {.of = without_constant(v, leaf), .op = op, .owner = UINT32_MAX, .alone = alone, .key = {op, v->now->id, part, 0}};
    if (parts_chosen(v, c.of)) return;
    if (scale != 1) { /* in lowest terms */
        Form sum = form_const(f, 0);
        for (uint32_t i = 0; i < d->n; i++)
            sum = form_add(f, sum, d->t[i].c / scale, form_of_atom(f, form_data(f, leaf)->t[i].atom));
        c.of = sum;
    }
    if (pred) c.key.part = 0, c.key.family = family(f, c.of, FAMILY_FUEL);
    c.constant = d->k;
    c.scale = scale;
    Values l = {.n = 0};
    if (pred) {
        add_value(&l, 1);
        add_value(&l, 0);
    } else {
        add_counts(v, &l, &c, offset);
        only_long(v, &l, &c);
    }
    drop_impossible(f, c.of, &l);
    make(v, c, &l);
}

void choice_add(Verifier *v, uint32_t op, Form x)
{
    add(v, op, x, false);
}

/* Every condition is a choice of its own: all combinations are tried. */
bool choice_guard(Verifier *v, uint32_t op, Form guard)
{
    int fuel = LAUNCH_FUEL;
    if (remainders_try(v, op, guard)) return true;
    if (!made_of(&v->f, guard, OF_LAUNCH, &fuel)) return false;
    add(v, op, guard, true);
    return true;
}

/* A choice that others follow has more positions than values: the mixed patterns. */
static uint32_t positions(const Verifier *v, uint32_t i)
{
    for (uint32_t j = i + 1; j < v->choices.n; j++)
        if (v->choices.v[j].owner == i) return v->choices.v[i].n + mixed(v->choices.v[i].n);
    return v->choices.v[i].n;
}

bool choice_next(Verifier *v)
{
    for (uint32_t i = v->choices.n; i-- > 0;) {
        Choice *c = &v->choices.v[i];
        if (c->owner != UINT32_MAX) continue;
        uint32_t all = positions(v, i);
        while (++c->at < all) {
            v->choices.n = i + 1;
            return true;
        }
        v->choices.n = i;
    }
    return false;
}
