/* Loops. A short counted loop with synchronisation in it is walked round by round. For any other one a state is
 * looked for that holds at its head in every round: it starts as the state before the loop, is weakened by what comes
 * back over the back edge until nothing changes, and then the last walk of the body was the proof.
 *
 * What changes from round to round is described by relations that the last walk proves, too: the parity of a barrier
 * is the value of a variable; bytes and written ranges grow with the index.
 */
#include <string.h>

#include "lower/verify_parts.h"

enum { UNROLL_MAX = 16, ATTEMPTS_MAX = 24 };

typedef struct Parity { /* a barrier's parity is the variable's value, or its opposite */
    bool related, opposite;
    uint32_t var;
} Parity;

typedef struct Loop {
    Verifier *v;
    uint32_t op, end;
    State head;
    uint8_t *set;        /* by variable: 1: set in the body, and 0 or 1 at the head; 2: set in the body */
    Parity *parity;      /* by barrier slot */
    uint32_t index;      /* atom */
    Form first, past, i; /* the index runs from first below past */
    bool runs;           /* first <= past is certain */
    bool no_growth;      /* ranges that grow with the index were tried and are none */
    bool changed;
} Loop;

static bool stale(const Loop *l, Form x)
{
    return x && form_data(&l->v->f, x)->pos > l->op;
}

static bool stale_bytes(const Loop *l, const Bytes *at)
{
    return stale(l, at->slot) || stale(l, at->lo) || stale(l, at->hi);
}

static void whole_slot(const Loop *l, Bytes *at)
{
    if (stale(l, at->slot)) at->slot = 0;
    at->lo = form_const(&l->v->f, 0);
    at->hi = form_const(&l->v->f, l->v->k->bufs.v[at->buf].bytes);
}

static bool stale_region(const Loop *l, const Region *r)
{
    for (unsigned i = 0; r && i < r->n; i++)
        if (stale(l, r->lo[i]) || stale(l, r->hi[i])) return true;
    return false;
}

/* ---- rounds of a short loop ---- */

/* The form's value in the round that has ended, under a name that the next round does not use. */
static Form age(Loop *l, Form x, uint32_t round)
{
    if (!stale(l, x)) return x;
    const FormData *d = form_data(&l->v->f, x);
    return form_atom(&l->v->f, (Atom){.kind = ATOM_AGED,
                                      .boolean = d->lo >= 0 && d->hi <= 1,
                                      .a = x,
                                      .b = l->op,
                                      .c = round,
                                      .pos = l->op + 1,
                                      .lo = d->lo,
                                      .hi = d->hi});
}

static void age_bytes(Loop *l, Bytes *at, uint32_t round)
{
    at->slot = age(l, at->slot, round);
    at->lo = age(l, at->lo, round);
    at->hi = age(l, at->hi, round);
}

static void age_state(Loop *l, uint32_t round)
{
    State *s = &l->v->s;
    for (uint32_t i = 0; i < l->v->k->vars.n; i++) s->vars[i] = age(l, s->vars[i], round);
    for (uint32_t i = 0; i < l->v->nslots; i++) {
        s->bars[i].parity = age(l, s->bars[i].parity, round);
        s->bars[i].expected = age(l, s->bars[i].expected, round);
        s->bars[i].delivered = age(l, s->bars[i].delivered, round);
    }
    for (uint32_t i = 0; i < s->writes.n; i++) {
        age_bytes(l, &s->writes.v[i].at, round);
        s->writes.v[i].cond = age(l, s->writes.v[i].cond, round);
        if (stale_region(l, s->writes.v[i].region)) s->writes.v[i].region = NULL;
    }
    for (uint32_t i = 0; i < s->reads.n; i++) {
        age_bytes(l, &s->reads.v[i].at, round);
        if (stale_region(l, s->reads.v[i].region)) s->reads.v[i].region = NULL;
    }
}

static bool synchronises(const Verifier *v, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        uint8_t group = ir_op_info(v->ops[i].op)->group;
        if (group == IRG_BARRIER || group == IRG_GROUP || group == IRG_FENCE) return true;
    }
    return false;
}

static void walk_rounds(Loop *l, int64_t first, int64_t past)
{
    Verifier *v = l->v;
    IrVal index = v->ops[l->op].dst;
    for (int64_t i = first; i < past && !v->failed; i++) {
        v->value[index - 1] = form_const(&v->f, i);
        verify_walk(v, l->op + 1, l->end);
        age_state(l, (uint32_t)(i - first));
    }
}

/* ---- the head ---- */

static Form phi(Loop *l, uint32_t var)
{
    Verifier *v = l->v;
    IrType type = (IrType)v->k->vars.v[var].type;
    bool bit = l->set[var] == 1 || type == IR_PRED;
    int64_t lo = type == IR_I32 ? INT32_MIN : INT64_MIN, hi = type == IR_I32 ? INT32_MAX : INT64_MAX;
    return form_atom(&v->f, (Atom){.kind = ATOM_PHI,
                                   .sub = bit,
                                   .type = (uint8_t)type,
                                   .boolean = bit,
                                   .a = var,
                                   .b = l->op,
                                   .pos = l->op + 1,
                                   .lo = bit ? 0 : lo,
                                   .hi = bit ? 1 : hi});
}

static bool is_bit(const Forms *f, Form x)
{
    return x && form_data(f, x)->lo >= 0 && form_data(f, x)->hi <= 1;
}

static Form related_parity(Loop *l, const Parity *p, const Form *vars)
{
    return p->opposite ? form_not(&l->v->f, vars[p->var]) : vars[p->var];
}

static void use_relation(Loop *l, uint32_t slot, uint32_t var, bool opposite)
{
    l->parity[slot] = (Parity){true, opposite, var};
    l->head.bars[slot].parity = related_parity(l, &l->parity[slot], l->head.vars);
}

/* A wait in the body that takes its parity from a variable tells which one follows the barrier. */
static void guess_parities(Loop *l, const State *entry)
{
    Verifier *v = l->v;
    for (uint32_t i = l->op + 1; i < l->end; i++) {
        if (v->ops[i].op != IR_BAR_WAIT) continue;
        const IrArg *bar = ir_find(&v->ops[i], IRK_BAR), *part = ir_part(&v->ops[i], bar, IRK_SLOT),
                    *phase = ir_find(&v->ops[i], IRK_PHASE);
        const IrOp *def = phase->kind == IRA_VAL ? &v->ops[v->def[phase->id - 1]] : NULL;
        if (def == NULL || def->op != IR_GET || (part && part->kind != IRA_IMM)) continue;
        uint32_t slot = v->bar_base[bar->id] + (part ? (uint32_t)part->imm : 0), var = ir_find(def, IRK_VAR)->id;
        if (l->set[var] != 1 || l->parity[slot].related || entry->bars[slot].parity == 0) continue;
        if (entry->vars[var] == entry->bars[slot].parity) use_relation(l, slot, var, false);
        else if (form_not(&v->f, entry->vars[var]) == entry->bars[slot].parity) use_relation(l, slot, var, true);
    }
}

static void make_head(Loop *l)
{
    Verifier *v = l->v;
    l->set = arena_array(v->arena, uint8_t, v->k->vars.n);
    l->parity = arena_array(v->arena, Parity, v->nslots);
    l->head = state_copy(v->arena, &v->s, v);
    for (uint32_t i = l->op + 1; i < l->end; i++) {
        if (v->ops[i].op != IR_SET) continue;
        uint32_t var = ir_find(&v->ops[i], IRK_VAR)->id;
        if (l->set[var]) continue;
        l->set[var] = is_bit(&v->f, v->s.vars[var]) ? 1 : 2;
        l->head.vars[var] = phi(l, var);
    }
    guess_parities(l, &v->s);
}

/* ---- the back edge ---- */

static void differs(Loop *l, uint32_t slot, const char *what, const char *entry, const char *back, uint32_t op)
{
    Diag *g = verify_refuse(l->v, E0652, l->op,
                            "barrier %s enters a round of this loop with %s %s and the next one with %s",
                            verify_bar_name(l->v, slot), what, entry, back);
    verify_also(l->v, g, op, "the last that happens to it in a round");
}

static void back_vars(Loop *l, const State *back)
{
    for (uint32_t i = 0; i < l->v->k->vars.n; i++) {
        if (l->set[i] != 1 || is_bit(&l->v->f, back->vars[i])) continue;
        l->set[i] = 2;
        l->head.vars[i] = phi(l, i);
        l->changed = true;
        for (uint32_t s = 0; s < l->v->nslots; s++)
            if (l->parity[s].related && l->parity[s].var == i) use_relation(l, s, i, l->parity[s].opposite);
    }
}

static void back_parity(Loop *l, const State *entry, const State *back, uint32_t slot)
{
    Verifier *v = l->v;
    Form now = back->bars[slot].parity;
    Parity *p = &l->parity[slot];
    if (!p->related) {
        if (now == l->head.bars[slot].parity) return;
        for (uint32_t i = 0; i < v->k->vars.n; i++) {
            if (l->set[i] != 1 || entry->vars[i] == 0 || entry->bars[slot].parity == 0 || now == 0) continue;
            bool opposite = entry->vars[i] != entry->bars[slot].parity;
            if (opposite && form_not(&v->f, entry->vars[i]) != entry->bars[slot].parity) continue;
            if (now != (opposite ? form_not(&v->f, back->vars[i]) : back->vars[i])) continue;
            use_relation(l, slot, i, opposite);
            l->changed = true;
            return;
        }
    } else if (now && now == related_parity(l, p, back->vars)) {
        return;
    }
    differs(l, slot, "parity", verify_form_text(v, l->head.bars[slot].parity), verify_form_text(v, now),
            back->bars[slot].op);
}

/* Bytes at the head of a round: the same in each, or growing by a constant per round. */
static void back_amount(Loop *l, uint32_t slot, Form *head, Form back, const char *what)
{
    Verifier *v = l->v;
    Forms *f = &v->f;
    Form next = form_uses(f, *head, l->index) ? form_subst(f, *head, l->index, form_add(f, l->i, 1, form_const(f, 1)))
                                              : *head;
    int64_t growth;
    if (back && back == next) return;
    if (l->runs && next == *head && form_is_const(f, form_add(f, back, -1, *head), &growth)) {
        Form rounds = form_add(f, l->i, -1, l->first), grown = form_add(f, *head, growth, rounds);
        if (grown) {
            *head = grown;
            l->changed = true;
            return;
        }
    }
    differs(l, slot, what, verify_form_text(v, *head), verify_form_text(v, back), v->s.bars[slot].op);
}

static void settle(Verifier *v, BarState *b)
{
    if (state_bar_complete(v, b)) b->expected = b->delivered = form_const(&v->f, 0);
}

static void back_bars(Loop *l, const State *entry, State *back)
{
    Verifier *v = l->v;
    for (uint32_t i = 0; i < v->nslots && !v->failed; i++) {
        BarState *h = &l->head.bars[i], *b = &back->bars[i];
        settle(v, h);
        settle(v, b);
        if (h->arrivals != b->arrivals) {
            differs(l, i, "arrivals", arena_printf(v->arena, "%u", h->arrivals),
                    arena_printf(v->arena, "%u", b->arrivals), b->op);
            return;
        }
        back_parity(l, entry, back, i);
        if (!v->failed) back_amount(l, i, &h->expected, b->expected, "expected bytes");
        if (!v->failed) back_amount(l, i, &h->delivered, b->delivered, "issued bytes");
        if (b->unfenced && !h->unfenced) h->unfenced = l->changed = true;
    }
}

static Write *find(State *s, const Write *w)
{
    for (uint32_t i = 0; i < s->writes.n; i++)
        if (state_same_bytes(&s->writes.v[i].at, &w->at) && s->writes.v[i].bar == w->bar) return &s->writes.v[i];
    return NULL;
}

/* ---- ranges that grow with the index: the rows of a tile ---- */

static bool grows(const Loop *l, const Write *w)
{
    return w->at.hi && form_uses(&l->v->f, w->at.hi, l->index) && w->at.slot && !stale(l, w->at.slot) &&
           !stale(l, w->at.lo);
}

/* The bytes that round i adds to a range that ends at hi before it. */
static bool round_bytes(Loop *l, const Write *w, Form hi, Bytes *out)
{
    *out = w->at;
    out->lo = hi;
    out->hi = form_subst(&l->v->f, hi, l->index, form_add(&l->v->f, l->i, 1, form_const(&l->v->f, 1)));
    return out->hi && out->hi != hi && form_le(&l->v->f, hi, out->hi);
}

/* Drops from the state what the grown range contains. */
static void absorb(Loop *l, State *back, const Write *grown, Form lo, Form hi)
{
    for (uint32_t i = back->writes.n; i-- > 0;) {
        Write *w = &back->writes.v[i];
        if (w->bar != grown->bar || w->at.buf != grown->at.buf || w->at.slot != grown->at.slot) continue;
        if (w != grown && form_le(&l->v->f, lo, w->at.lo) && form_le(&l->v->f, w->at.hi, hi) &&
            find(&l->head, w) == NULL)
            *w = back->writes.v[--back->writes.n];
    }
}

/* Ranges of the head that grow: the round must have added its part. */
static void back_growth(Loop *l, State *back)
{
    for (uint32_t i = 0; i < l->head.writes.n; i++) {
        Write h = l->head.writes.v[i];
        Bytes more;
        if (h.bar == ARRIVED || !grows(l, &h)) continue;
        if (find(back, &h) && round_bytes(l, &h, h.at.hi, &more) && access_covered(l->v, &more, h.bar)) {
            absorb(l, back, &h, h.at.lo, more.hi);
            continue;
        }
        l->head.writes.v[i] = l->head.writes.v[--l->head.writes.n];
        l->no_growth = l->changed = true;
        return;
    }
}

/* A range that begins with the index and is filled by each round up to where the next one begins. */
static void find_growth(Loop *l, const State *back)
{
    Verifier *v = l->v;
    for (uint32_t i = 0; i < back->writes.n && l->runs && !l->no_growth; i++) {
        Write w = back->writes.v[i];
        Bytes more;
        if (w.bar == ARRIVED || w.at.slot == 0 || stale(l, w.at.slot) || !form_uses(&v->f, w.at.lo, l->index) ||
            find(&l->head, &w))
            continue;
        if (!round_bytes(l, &w, w.at.lo, &more) || !access_covered(v, &more, w.bar)) continue;
        w.at.hi = w.at.lo;
        w.at.lo = form_subst(&v->f, w.at.lo, l->index, l->first);
        w.cond = form_const(&v->f, 1);
        w.region = NULL;
        if (w.at.lo == 0 || stale(l, w.at.lo)) continue;
        vec_push(v->arena, &l->head.writes, w);
        l->changed = true;
        return;
    }
}

/* ---- copies that come back over the edge ---- */

static void back_writes(Loop *l, State *back)
{
    Verifier *v = l->v;
    back_growth(l, back);
    if (l->changed) return;
    find_growth(l, back);
    if (l->changed) return;
    for (uint32_t i = 0; i < back->writes.n; i++) {
        Write w = back->writes.v[i];
        if (w.bar == ARRIVED || grows(l, &w)) continue;
        if (stale_bytes(l, &w.at)) {
            whole_slot(l, &w.at);
            w.cond = 0;
        }
        if (stale(l, w.cond)) w.cond = 0;
        if (stale_region(l, w.region)) w.region = NULL;
        Write *h = find(&l->head, &w);
        if (h == NULL) {
            w.cond = 0;
            vec_push(v->arena, &l->head.writes, w);
            l->changed = true;
        } else if ((h->cond != w.cond && h->cond) || (w.tensors & ~h->tensors) ||
                   (h->region && h->region != w.region)) {
            if (h->cond != w.cond) h->cond = 0;
            h->tensors |= w.tensors;
            if (h->region != w.region) h->region = NULL;
            l->changed = true;
        }
    }
    for (uint32_t i = l->head.writes.n; i-- > 0;) {
        Write *h = &l->head.writes.v[i], *w = find(back, h);
        bool same = w && w->cond == h->cond && !stale_bytes(l, &w->at);
        if (same || grows(l, h) || (h->bar != ARRIVED && h->cond == 0)) continue;
        if (h->bar == ARRIVED) *h = l->head.writes.v[--l->head.writes.n];
        else h->cond = 0;
        l->changed = true;
    }
}

static void back_reads(Loop *l, const State *back)
{
    State *h = &l->head;
    for (uint32_t i = 0; i < back->reads.n; i++) {
        Read r = back->reads.v[i];
        if (stale_bytes(l, &r.at)) whole_slot(l, &r.at);
        if (stale_region(l, r.region)) r.region = NULL;
        if (state_add_read(l->v->arena, h, r)) l->changed = true;
    }
    if (back->unfenced & ~h->unfenced) {
        h->unfenced |= back->unfenced;
        l->changed = true;
    }
}

/* ---- the whole loop ---- */

/* After the last round the index is `past`. */
static void leave(Loop *l)
{
    State *s = &l->v->s;
    Forms *f = &l->v->f;
    for (uint32_t i = 0; i < l->v->nslots; i++) {
        BarState *b = &s->bars[i];
        if (form_uses(f, b->expected, l->index)) b->expected = form_subst(f, b->expected, l->index, l->past);
        if (form_uses(f, b->delivered, l->index)) b->delivered = form_subst(f, b->delivered, l->index, l->past);
    }
    for (uint32_t i = 0; i < s->writes.n; i++)
        if (grows(l, &s->writes.v[i])) s->writes.v[i].at.hi = form_subst(f, s->writes.v[i].at.hi, l->index, l->past);
}

static void enter(Loop *l)
{
    Forms *f = &l->v->f;
    Form at_least = form_add(f, l->i, -1, l->first),
         below = form_add(f, form_add(f, l->past, -1, l->i), -1, form_const(f, 1));
    if (at_least) vec_push(l->v->arena, &f->facts, at_least);
    if (below) vec_push(l->v->arena, &f->facts, below);
}

static void find_invariant(Loop *l)
{
    Verifier *v = l->v;
    State entry = v->s;
    uint32_t known = v->f.known.n, facts = v->f.facts.n;
    size_t written = v->certificate ? v->certificate->n : 0;
    make_head(l);
    for (int attempt = 0; !v->failed; attempt++) {
        if (attempt == ATTEMPTS_MAX) {
            verify_refuse(v, E0660, l->op, "no state was found that holds in every round of this loop");
            return;
        }
        if (v->certificate && v->certificate->s) v->certificate->s[v->certificate->n = written] = 0;
        v->s = state_copy(v->arena, &l->head, v);
        v->value[v->ops[l->op].dst - 1] = l->i;
        l->changed = false;
        enter(l);
        verify_walk(v, l->op + 1, l->end);
        if (!v->failed) back_vars(l, &v->s);
        if (!v->failed) back_bars(l, &entry, &v->s);
        if (!v->failed) back_writes(l, &v->s);
        if (!v->failed) back_reads(l, &v->s);
        v->f.known.n = known;
        v->f.facts.n = facts;
        if (!l->changed) break;
    }
    v->s = l->head;
    leave(l);
}

void verify_loop(Verifier *v, uint32_t op)
{
    Loop l = {.v = v, .op = op, .end = v->partner[op]};
    Forms *f = &v->f;
    const IrOp *o = &v->ops[op];
    int64_t first, past;
    l.first = form_simplify(f, verify_value(v, ir_find(o, IRK_A)));
    l.past = form_simplify(f, verify_value(v, ir_find(o, IRK_B)));
    bool counted = form_is_const(f, l.first, &first) && form_is_const(f, l.past, &past);
    if (counted && past <= first) return;
    if (counted && (uint64_t)past - (uint64_t)first <= UNROLL_MAX && synchronises(v, op + 1, l.end)) {
        walk_rounds(&l, first, past);
        return;
    }
    const FormData *a = form_data(f, l.first), *b = form_data(f, l.past);
    l.i = form_atom(f, (Atom){.kind = ATOM_LEAF,
                              .type = o->type,
                              .a = op,
                              .b = l.first,
                              .c = l.past,
                              .pos = op + 1,
                              .lo = a->lo,
                              .hi = b->hi == INT64_MAX || b->hi == INT64_MIN ? b->hi : b->hi - 1});
    l.index = form_data(f, l.i)->t[0].atom;
    l.runs = form_le(f, l.first, l.past);
    find_invariant(&l);
}
