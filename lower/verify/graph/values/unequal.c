/* Whether two numbers of run time are certain to differ. What is worked out for their terms is kept: many pairs differ in
 * their constants alone.
 */
#include <string.h>

#include "lang/checked.h"
#include "lower/verify/graph/unroll/unroll.h"
#include "lower/verify/graph/values/values.h"

enum { DRAWN_SLOTS = 64, TERMS_SLOTS = 1024, TOLD_SLOTS = 256, RESIDUES = 8 };
enum Way { UP, DOWN, UP_BY_CLUSTER, DOWN_BY_CLUSTER, WAYS };

typedef struct Drawn { /* whether an atom is a number drawn for an iteration that there is; atom 0: none */
    uint32_t atom;
    bool yes;
} Drawn;
typedef struct Terms { /* x without its constant; x 0: none */
    Form x, terms;
} Terms;
typedef struct Residue { /* x - y, without multiples of g, lies in lo .. hi */
    int64_t g, lo, hi;
} Residue;
typedef struct Told { /* of x and y, which have no constants; x 0: none */
    Form x, y;
    uint32_t graph; /* what is known in this one went into it; UINT32_MAX: nothing did */
    bool asked[WAYS], known[WAYS];
    int64_t least[WAYS];
    uint32_t residues;
    Residue residue[RESIDUES];
} Told;
struct Unequal {
    Drawn drawn[DRAWN_SLOTS]; /* of this graph */
    Terms terms[TERMS_SLOTS];
    Told told[TOLD_SLOTS];
};

typedef struct Difference { /* a difference: lo is its least value, without the terms that are left */
    int64_t lo;
    uint32_t n;
    FormTerm t[FORM_TERMS];
} Difference;

static bool is_sreg(const FormAtom *a, uint32_t sub, uint32_t reg)
{
    return a->kind == ATOM_SREG && a->sub == sub && a->a == reg;
}

static bool find_drawn(Verifier *v, const FormAtom *a, uint32_t atom)
{
    Forms *f = &v->f;
    Form draws = run_value(v, ir_find(v->ops[a->a], IRK_B)),
         teams = form_of_atom(f, form_data(f, v->sreg[0][IRR_NCTAID_X])->t[0].atom),
         id = form_add(f, form_of_atom(f, atom), 1, teams);
    Form rest = form_add(f, draws, -1, id);
    for (uint32_t i = 0; rest && i < v->positive.n; i++)
        if (v->positive.v[i] == rest) return true;
    return false;
}

/* A number drawn for an iteration there is: draws are as many as iterations, so each gives another number. */
static bool drawn(Verifier *v, const FormAtom *a, uint32_t atom)
{
    if (a->kind != ATOM_LEAF || a->a >= v->nops || v->ops[a->a]->op != IR_TICKET) return false;
    v->by_known = true;
    Drawn *d = &v->unequal->drawn[atom % DRAWN_SLOTS];
    if (d->atom != atom) *d = (Drawn){atom, find_drawn(v, a, atom)};
    return d->yes;
}

/* What x is above y at least: of two numbers that a thread has drawn the later one, and the CTAs above each of them. */
static int64_t step_up(Verifier *v, uint32_t x, uint32_t y)
{
    FormAtom a = *atom_data(&v->f, x), b = *atom_data(&v->f, y);
    if (drawn(v, &a, x) && drawn(v, &b, y) && a.a == b.a && a.b == b.b) return a.c > b.c;
    for (uint32_t i = 0; i < 3; i++)
        if (is_sreg(&a, 0, IRR_NCTAID_X + i) && is_sreg(&b, 1, i)) return 1;
    return 0;
}

/* x >= 0 is known. */
static bool granted(Verifier *v, uint32_t x)
{
    const Forms *f = &v->f;
    v->by_known = true;
    for (uint32_t i = 0; i < f->known.n; i++) {
        const FormAtom *k = atom_data(f, f->known.v[i].atom);
        const FormData *d = k->kind == ATOM_GT0 && !f->known.v[i].value ? form_data(f, k->a) : NULL;
        if (d && d->k == 0 && d->n == 1 && d->t[0].c == -1 && d->t[0].atom == x) return true;
    }
    return false;
}

/* Where x is the number of a cluster that this one has taken over, or its own: who says so; else 0. The hardware starts none
 * that it has given away and gives away each once, so different answers name different clusters, by their first CTAs. */
static uint32_t named_cluster(Verifier *v, uint32_t x)
{
    const FormAtom *a = atom_data(&v->f, x);
    uint32_t wide = v->k->mf.cluster[0];
    if (!repeat_in_row(v)) return 0;
    if (wide > 1 ? is_sreg(a, 0, IRR_CTAID_X) : is_sreg(a, 1, 0)) return x;
    if (wide > 1) {
        const FormData *d = a->kind == ATOM_OP && a->sub == IR_DIV && form_is(&v->f, a->b, wide) ? form_data(&v->f, a->a) : NULL;
        if (d == NULL || d->k || d->n != 1 || d->t[0].c != 1) return 0;
        x = d->t[0].atom;
        a = atom_data(&v->f, x);
    }
    return a->kind == ATOM_LEAF && a->a < v->nops && v->ops[a->a]->op == IR_CLC_NEXT && granted(v, x) ? x : 0;
}

/* The difference has one cluster's number less another one's, c times, and no third: c, its terms left out; else 0. */
static int64_t between_clusters(Verifier *v, Difference *d)
{
    uint32_t term[2], name[2], n = 0;
    for (uint32_t i = 0; i < d->n; i++) {
        uint32_t by = d->t[i].c ? named_cluster(v, d->t[i].atom) : 0;
        if (by && n == 2) return 0;
        if (by) term[n] = i, name[n++] = by;
    }
    if (n < 2 || name[0] == name[1] || d->t[term[0]].c != -d->t[term[1]].c) return 0;
    int64_t c = d->t[term[0]].c;
    d->t[term[0]].c = d->t[term[1]].c = 0;
    return c > 0 ? c : -c;
}

static bool add_bound(Verifier *v, Difference *d, FormTerm t)
{
    const FormAtom *a = atom_data(&v->f, t.atom);
    int64_t bound = t.c > 0 ? a->lo : a->hi, k;
    return bound != INT64_MIN && bound != INT64_MAX && mul_s64(t.c, bound, &k) && add_s64(d->lo, k, &d->lo);
}

/* Terms of x, c times: an index of a loop over copies is another one in each of the two parts. */
static Form shallow(Verifier *v, Difference *d, Form x, int64_t c)
{
    const FormData *dx = form_data(&v->f, x);
    for (uint32_t i = 0; dx->depth && i < dx->n; i++)
        if (atom_data(&v->f, dx->t[i].atom)->depth && !add_bound(v, d, (FormTerm){dx->t[i].c * c, dx->t[i].atom})) return 0;
    return form_shallow(&v->f, x);
}

/* What x is above y at least, where that is known; by_cluster: where the numbers of two clusters tell x and y apart, if they
 * do so in this direction. */
static bool least_above(Verifier *v, Form x, Form y, bool by_cluster, int64_t *least)
{
    Forms *f = &v->f;
    Difference d = {0};
    Form a = shallow(v, &d, x, 1), b = shallow(v, &d, y, -1), far = form_add(f, a, -1, b);
    if (far == 0 || !add_s64(d.lo, form_data(f, far)->k, &d.lo)) return false;
    for (uint32_t i = 0; i < form_data(f, far)->n; i++) d.t[d.n++] = form_data(f, far)->t[i];
    if (by_cluster && !add_s64(d.lo, between_clusters(v, &d), &d.lo)) return false;
    for (uint32_t i = 0; i < d.n; i++) {
        for (uint32_t j = 0; j < d.n; j++) {
            int64_t up = d.t[i].c > 0 && d.t[j].c == -d.t[i].c ? step_up(v, d.t[i].atom, d.t[j].atom) : 0;
            if (up == 0 || !add_s64(d.lo, d.t[i].c, &d.lo)) continue;
            d.t[i].c = d.t[j].c = 0;
        }
    }
    for (uint32_t i = 0; i < d.n; i++)
        if (d.t[i].c && !add_bound(v, &d, d.t[i])) return false;
    *least = d.lo;
    return true;
}

/* c times the terms of x: an index of a loop over copies is another one in each of the two parts, so it stays. */
static bool gather(const Verifier *v, Form x, int64_t c, FormTerm *t, uint32_t *n)
{
    const FormData *d = form_data(&v->f, x);
    for (uint32_t i = 0; i < d->n; i++) {
        uint32_t at = 0;
        int64_t by;
        while (at < *n && (t[at].atom != d->t[i].atom || atom_data(&v->f, t[at].atom)->depth)) at++;
        if (at == *n) t[(*n)++] = (FormTerm){0, d->t[i].atom};
        if (!mul_s64(d->t[i].c, c, &by) || !add_s64(t[at].c, by, &t[at].c)) return false;
    }
    return true;
}

static bool add_range(const Verifier *v, FormTerm t, int64_t *lo, int64_t *hi)
{
    const FormAtom *a = atom_data(&v->f, t.atom);
    int64_t x, y;
    if (a->lo == INT64_MIN || a->hi == INT64_MAX || !mul_s64(t.c, a->lo, &x) || !mul_s64(t.c, a->hi, &y)) return false;
    return add_s64(*lo, x < y ? x : y, lo) && add_s64(*hi, x < y ? y : x, hi);
}

/* For each coefficient the range of what is left of x - y without its multiples: where no multiple lies in that range, the
 * difference is never 0. */
static void find_residues(const Verifier *v, Told *told)
{
    FormTerm t[2 * FORM_TERMS];
    uint32_t n = 0;
    if (!gather(v, told->x, 1, t, &n) || !gather(v, told->y, -1, t, &n)) return;
    for (uint32_t i = 0; i < n && told->residues < RESIDUES; i++) {
        if (t[i].c <= -COORDINATE_MAX || t[i].c >= COORDINATE_MAX) continue;
        Residue r = {.g = t[i].c < 0 ? -t[i].c : t[i].c};
        bool known = r.g > 1;
        for (uint32_t j = 0; j < told->residues && known; j++) known = told->residue[j].g != r.g;
        for (uint32_t j = 0; j < n && known; j++) known = t[j].c % r.g == 0 || add_range(v, t[j], &r.lo, &r.hi);
        if (known) told->residue[told->residues++] = r;
    }
}

static bool other_residue(const Told *told, int64_t k)
{
    for (uint32_t i = 0; i < told->residues; i++) {
        const Residue *r = &told->residue[i];
        int64_t lo, hi, first;
        if (!add_s64(r->lo, k, &lo) || !add_s64(r->hi, k, &hi)) continue;
        if (ceil_div_s64(lo, r->g, &first) && mul_s64(first, r->g, &first) && first > hi) return true;
    }
    return false;
}

/* ---- what was worked out ---- */

/* x without its constant. */
static Form terms_of(Verifier *v, Form x)
{
    int64_t k = form_data(&v->f, x)->k;
    if (k == 0) return x;
    Terms *t = &v->unequal->terms[x % TERMS_SLOTS];
    if (t->x != x) *t = (Terms){x, k == INT64_MIN ? 0 : form_add(&v->f, x, -k, form_const(&v->f, 1))};
    return t->terms;
}

static Told *told_of(Verifier *v, Form x, Form y)
{
    uint32_t h = (x * UINT32_C(0x9E3779B1) + y) * UINT32_C(0x85EBCA6B);
    Told *told = &v->unequal->told[(h ^ h >> 16) % TOLD_SLOTS];
    if (told->x == x && told->y == y && (told->graph == UINT32_MAX || told->graph == v->runs)) return told;
    *told = (Told){.x = x, .y = y, .graph = UINT32_MAX};
    find_residues(v, told);
    return told;
}

/* x is above y in every launch: which is `way` of the four that are told. */
static bool above(Verifier *v, Told *told, enum Way way, int64_t k)
{
    if (!told->asked[way]) {
        bool before = v->by_known, back = way == DOWN || way == DOWN_BY_CLUSTER;
        v->by_known = false;
        told->asked[way] = true;
        told->known[way] = least_above(v, back ? told->y : told->x, back ? told->x : told->y, way >= UP_BY_CLUSTER,
                                       &told->least[way]);
        if (v->by_known) told->graph = v->runs;
        v->by_known |= before;
    }
    v->by_known |= told->graph != UINT32_MAX;
    int64_t far;
    return told->known[way] && add_s64(told->least[way], k, &far) && far > 0;
}

void unequal_prepare(Verifier *v)
{
    if (v->unequal) memset(v->unequal->drawn, 0, sizeof v->unequal->drawn);
    else v->unequal = arena_new(v->arena, struct Unequal);
}

/* Numbers of two clusters differ, in either direction. What is told of the terms holds for all constants. */
bool numbers_unequal(Verifier *v, Form x, Form y)
{
    int64_t k, back;
    Form a = terms_of(v, x), b = terms_of(v, y);
    if (a == 0 || b == 0 || !sub_s64(form_data(&v->f, x)->k, form_data(&v->f, y)->k, &k) || !sub_s64(0, k, &back))
        return false;
    Told *told = told_of(v, a, b);
    if (other_residue(told, k)) return true;
    return above(v, told, UP, k) || above(v, told, DOWN, back) ||
           (above(v, told, UP_BY_CLUSTER, k) && above(v, told, DOWN_BY_CLUSTER, back));
}
