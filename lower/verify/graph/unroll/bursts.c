/* Loops over copies alone: their body is passed once, with the index as an atom, and what it did stands for all turns.
 * Ranges that follow each other without a gap become one, others the span of all of them, of which no byte is certain;
 * bytes are multiplied, or become a sum that is equal where terms and bounds are.
 */
#include <string.h>

#include "lang/checked.h"
#include "lower/verify/graph/unroll/unroll.h"
#include "lower/verify/graph/values/values.h"

static bool same_act(const Access *a, const Access *b)
{
    return bytes_same_place(&a->at, &b->at) && a->write == b->write && a->async == b->async && a->generic == b->generic && a->reduce == b->reduce &&
           a->gap == b->gap && a->start == b->start && a->phase == b->phase && a->end == b->end;
}

/* Of one act. The pieces of a tile, one behind the other, count as one; so do the same bytes under opposite conditions. */
static bool join(Verifier *v, Access *a, const Access *b)
{
    if (bytes_equal(&a->at, &b->at)) {
        if (!conds_exclusive(v, a->cond, b->cond)) return false;
        a->cond = form_add(&v->f, a->cond, 1, b->cond);
        a->only = conds_exclusive(v, a->only, b->only) ? form_add(&v->f, a->only, 1, b->only) : 0;
        return true;
    }
    if (a->cond == 0 || a->cond != b->cond || !bytes_join(&a->at, &b->at)) return false;
    if (a->only != b->only) a->only = 0;
    return true;
}

const Frame *burst_frame(const Verifier *v)
{
    for (uint32_t i = v->now->depth; i-- > 0;) {
        const Frame *fr = &v->now->frames[i];
        if (fr->burst && v->ops[fr->op]->op != IR_IF) return fr;
    }
    return NULL;
}

enum { JOINS = 8 };

Site site_here(Verifier *v, uint32_t op, bool write)
{
    const Thread *t = v->now;
    Site s = {.op = op, .rank = t->rank, .write = write};
    TurnAt *all = arena_array(&v->run, TurnAt, t->depth + 1);
    for (uint32_t i = 0; i < t->depth; i++) {
        const Frame *fr = &t->frames[i];
        if (v->ops[fr->op]->op == IR_IF) continue;
        if (!fr->burst) all[s.naround++] = (TurnAt){fr->op, fr->at};
        else s.vague |= !loop_fixed(v, fr->op);
    }
    s.around = all;
    return s;
}

void access_add(Verifier *v, Access a)
{
    if (v->moving[a.at.buf]) a.site = site_here(v, a.op, a.write);
    const Frame *fr = burst_frame(v);
    uint32_t from = fr ? fr->accesses : 0;
    for (bool joined = true; joined;) { /* what was joined may close the gap to another one */
        joined = false;
        for (uint32_t i = v->accesses.n, n = 0; i-- > from && n < JOINS && !joined; n++) {
            const Access *old = &v->accesses.v[i];
            if (old->start != a.start) break; /* those of one event stand together */
            if (!same_act(old, &a)) continue;
            Access x = *old;
            if (x.op < verify_body(v, a.op)->first || !join(v, &x, &a)) continue;
            joined = true;
            x.site.vague |= a.op != x.op || a.site.vague;
            a = x;
            v->accesses.v[i] = v->accesses.v[--v->accesses.n];
        }
    }
    vec_push(v->arena, &v->accesses, a);
}

/* ---- bytes on barriers ---- */

void burst_count(Verifier *v, Sum s)
{
    Thread *t = v->now;
    const Frame *fr = burst_frame(v);
    for (uint32_t i = fr ? fr->sums : 0; i < t->sums.n; i++) {
        Sum *x = &t->sums.v[i];
        if (x->slot != s.slot) continue;
        x->bytes = form_add(&v->f, x->bytes, 1, s.bytes);
        return;
    }
    vec_push(&v->run, &t->sums, s);
}

/* Within a loop over copies, or in a branch that is not decided, its end will do it: a phase is complete or not whatever
 * is assumed in the branch. */
void burst_flush(Verifier *v)
{
    Thread *t = v->now;
    for (uint32_t i = 0; i < t->depth; i++)
        if (t->frames[i].burst) return;
    for (uint32_t i = 0; i < t->sums.n && !v->failed; i++) barrier_deliver(v, &t->sums.v[i]);
    t->sums.n = 0;
}

/* ---- the loop ---- */

static void forget_sets(Verifier *v, uint32_t op)
{
    for (uint32_t i = op + 1; i < v->partner[op]; i++)
        if (v->ops[i]->op == IR_SET) run_forget(v, v->operands[i].var);
}

void burst_enter(Verifier *v, uint32_t op, Form first, Form end)
{
    Forms *f = &v->f;
    Thread *t = v->now;
    Form one = form_const(f, 1), turns = form_add(f, end, -1, first);
    int64_t n;
    if (!(v->block[op] & (BLOCK_COPIES | BLOCK_SETS)) || (form_is_const(f, turns, &n) && n <= 0)) {
        t->pc = v->partner[op];
        return;
    }
    Frame *fr = block_push(v, op);
    fr->burst = true;
    fr->first = first;
    fr->end = end;
    fr->turns = turns;
    fr->accesses = v->accesses.n;
    fr->sums = t->sums.n;
    f->depth++;
    int64_t below = form_data(f, end)->hi;
    Form index = form_atom(f, (FormAtom){.kind = ATOM_INDEX,
                                         .type = v->ops[op]->type,
                                         .a = first,
                                         .b = end,
                                         .depth = f->depth,
                                         .c = f->depth,
                                         .lo = form_data(f, first)->lo,
                                         .hi = below == INT64_MAX || below == INT64_MIN ? below : below - 1});
    fr->index = form_data(f, index)->t[0].atom;
    t->value[v->ops[op]->dst - 1] = value_of(index);
    Form up = form_add(f, index, -1, first), down = form_add(f, form_add(f, end, -1, index), -1, one);
    if (up) vec_push(v->arena, &f->facts, up);
    if (down) vec_push(v->arena, &f->facts, down);
    forget_sets(v, op); /* to what earlier turns made of them */
}

static int64_t coefficient(const Forms *f, Form x, uint32_t atom)
{
    const FormData *d = form_data(f, x);
    for (uint32_t i = 0; i < d->n; i++)
        if (d->t[i].atom == atom) return d->t[i].c;
    return 0;
}

/* How far a turn's bytes are from those of the one before; 0: they are not moved, or not all alike. */
static int64_t moved(const Forms *f, const Frame *fr, const Bytes *at)
{
    int64_t c = coefficient(f, at->lo, fr->index);
    return c == coefficient(f, at->hi, fr->index) ? c : 0;
}

/* x at the first turn (last == false) or the last one. */
static Form at_turn(Verifier *v, const Frame *fr, Form x, bool last)
{
    Forms *f = &v->f;
    Form turn = last ? form_add(f, fr->end, -1, form_const(f, 1)) : fr->first;
    return form_subst(f, x, fr->index, turn);
}

enum { APART = 64 };

/* Few turns whose bytes have gaps between them: an access for each. */
static bool apart(Verifier *v, const Frame *fr, uint32_t i)
{
    Forms *f = &v->f;
    Access a = v->accesses.v[i];
    int64_t n;
    if (!form_is_const(f, fr->turns, &n) || n < 1 || n > APART) return false;
    for (int64_t k = 0; k < n; k++) {
        Access one = a;
        Form turn = form_add(f, fr->first, k, form_const(f, 1));
        one.at.lo = form_subst(f, a.at.lo, fr->index, turn);
        one.at.hi = form_subst(f, a.at.hi, fr->index, turn);
        if (one.at.lo == 0 || one.at.hi == 0) return false;
        if (k == 0) v->accesses.v[i] = one;
        else vec_push(v->arena, &v->accesses, one);
    }
    return true;
}

/* A number of bytes that differs from turn to turn: as many as it is at most, not all of them certain. */
static void at_most(Verifier *v, Access *a)
{
    Forms *f = &v->f;
    Form width = form_add(f, a->at.hi, -1, a->at.lo);
    if (a->at.step || width == 0 || form_data(f, width)->n == 0) return;
    int64_t most = form_data(f, width)->hi;
    if (most <= 0 || most > v->k->bufs.v[a->at.buf].bytes) return;
    Form hi = form_add(f, a->at.lo, 1, form_const(f, most));
    if (hi == 0) return;
    a->at.hi = hi;
    if (a->write) a->cond = 0;
}

/* A read of a number of bytes that differs from turn to turn, at a place that does, too: without gaps from the first byte of
 * all turns to the last; else in each turn all between its first byte and its last one, wherever they are. */
static void read_most(Verifier *v, const Frame *fr, Access *a, int64_t c)
{
    Forms *f = &v->f;
    Form width = form_add(f, a->at.hi, -1, a->at.lo), index = form_of_atom(f, fr->index);
    if (a->write || a->at.step || c == 0 || width == 0 || form_data(f, width)->n == 0) return;
    int64_t most = form_data(f, width)->hi, all, far = c < 0 ? -c : c;
    Form lo = form_add(f, a->at.lo, -c, index), hi = form_add(f, a->at.hi, -c, index);
    if (lo == 0 || hi == 0 || form_data(f, lo)->n == 0 || most <= 0) return;
    if (most >= far && form_data(f, lo)->depth < f->depth && form_data(f, hi)->depth < f->depth) {
        lo = at_turn(v, fr, a->at.lo, c < 0);
        hi = at_turn(v, fr, a->at.hi, c > 0);
    } else {
        int64_t from = form_data(f, lo)->lo, to = form_data(f, hi)->hi;
        if (from == INT64_MIN || to == INT64_MAX || !sub_s64(to, from, &all) || all <= 0 || all > far) return;
        lo = form_add(f, form_const(f, from), c, index);
        hi = form_add(f, form_const(f, to), c, index);
    }
    if (lo == 0 || hi == 0) return;
    a->at.lo = lo;
    a->at.hi = hi;
}

static void widen(Verifier *v, const Frame *fr, uint32_t i)
{
    Forms *f = &v->f;
    Access *a = &v->accesses.v[i];
    uint32_t depth = f->depth;
    int64_t width, c = moved(f, fr, &a->at);
    bool varies = form_data(f, a->at.lo)->depth >= depth || form_data(f, a->at.hi)->depth >= depth;
    if (a->cond && form_data(f, a->cond)->depth >= depth) a->cond = a->write ? 0 : form_ever(f, a->cond, depth);
    if (a->only) a->only = form_ever(f, a->only, depth);
    if (!varies) return;
    read_most(v, fr, a, c);
    if (form_data(f, a->at.lo)->depth < depth && form_data(f, a->at.hi)->depth < depth) return;
    at_most(v, a);
    bool even = (c = moved(f, fr, &a->at)) != 0 && form_is_const(f, form_add(f, a->at.hi, -1, a->at.lo), &width);
    Form lo = even ? at_turn(v, fr, a->at.lo, c < 0) : 0, hi = even ? at_turn(v, fr, a->at.hi, c > 0) : 0;
    if (lo && hi && bytes_repeat(v, &a->at, lo, hi, c, fr->turns)) return;
    if (even && (c > width || -c > width) && apart(v, fr, i)) return;
    bool known = lo && hi;
    a->at.lo = known ? lo : form_const(f, 0);
    a->at.hi = known ? hi : form_const(f, v->k->bufs.v[a->at.buf].bytes);
    a->at.step = a->at.width = 0;
    if (a->write) a->cond = 0;
}

static Form sum_of(Verifier *v, const Frame *fr, Form x)
{
    Forms *f = &v->f;
    int64_t n, k;
    Form count = fr->turns;
    if (x == 0 || count == 0) return 0;
    if (form_data(f, x)->depth < f->depth) {
        if (form_is_const(f, count, &n)) return form_add(f, form_const(f, 0), n > 0 ? n : 0, x);
        if (form_is_const(f, x, &k) && form_nonneg(f, count)) return form_add(f, form_const(f, 0), k, count);
    }
    const FormData *d = form_data(f, x);
    int64_t hi = INT64_MAX;
    if (!form_is_const(f, count, &n) || d->hi == INT64_MAX || !mul_s64(d->hi, n, &hi)) hi = INT64_MAX;
    return form_atom(f, (FormAtom){.kind = ATOM_SUM,
                                   .type = IR_I64,
                                   .wild = d->wild,
                                   .a = x,
                                   .b = fr->first,
                                   .c = fr->end,
                                   .depth = f->depth - 1,
                                   .lo = d->lo >= 0 ? 0 : INT64_MIN,
                                   .hi = hi});
}

/* Two turns' writes to the same bytes: which comes last is open. */
static void check_turns(Verifier *v, const Frame *fr, const Access *a)
{
    Forms *f = &v->f;
    int64_t c = moved(f, fr, &a->at), n;
    if (!a->write || (form_is_const(f, fr->turns, &n) && n <= 1)) return;
    if (c != 0 && bytes_apart_by(v, &a->at, c, fr->turns)) return;
    Diag *g = verify_refuse(v, E0657, a->op,
                            "turns of this loop may write the same bytes of %s, and nothing waits in between",
                            v->k->bufs.v[a->at.buf].name);
    if (g) diag_fix(v->diags, g, "`wait` in each turn for what it writes, or let each turn write a part of its own");
}

/* Two copies of one turn: both must stay within the bytes that are this turn's. */
static void check_pair(Verifier *v, const Frame *fr, const Access *a, const Access *b)
{
    Forms *f = &v->f;
    int64_t far, width_a, width_b, n, c = moved(f, fr, &a->at);
    if (!a->write || !b->write || !bytes_same_place(&a->at, &b->at)) return;
    bool exclusive = conds_exclusive(v, a->only, b->only);
    if (exclusive && form_is_const(f, fr->turns, &n) && n <= 1) return;
    bool even = c == moved(f, fr, &b->at) && form_is_const(f, form_add(f, b->at.lo, -1, a->at.lo), &far) &&
                form_is_const(f, form_add(f, a->at.hi, -1, a->at.lo), &width_a) &&
                form_is_const(f, form_add(f, b->at.hi, -1, b->at.lo), &width_b);
    if (even && (exclusive || far >= width_a || -far >= width_b || !bytes_overlap(v, &a->at, &b->at))) {
        int64_t all = (far + width_b > width_a ? far + width_b : width_a) - (far < 0 ? far : 0);
        if (c == 0 || all <= (c < 0 ? -c : c)) return;
    }
    Diag *g = verify_refuse(v, E0657, b->op, "%s is written while another copy into it may be on its way",
                            v->k->bufs.v[a->at.buf].name);
    verify_also(v, g, a->op, "the other copy of the same loop");
    if (g) diag_fix(v->diags, g, "`wait` in between, or let each copy write a part of its own");
}

/* The last thread counts for all. Some of the lanes bring the bytes: what comes before the copies is what each lane has
 * seen. */
static void lanes_count(Verifier *v, const Frame *fr)
{
    Thread *t = v->now;
    uint32_t *clock;
    bool last = run_shared(v, &clock);
    if (!last) t->sums.n = fr->sums;
    for (uint32_t i = fr->sums; i < t->sums.n; i++) t->sums.v[i].clock = clock;
}

void burst_leave(Verifier *v, const Frame *fr)
{
    Thread *t = v->now;
    for (uint32_t i = fr->accesses; i < v->accesses.n && !v->failed; i++) {
        check_turns(v, fr, &v->accesses.v[i]);
        for (uint32_t j = fr->accesses; j < i && !v->failed; j++)
            check_pair(v, fr, &v->accesses.v[j], &v->accesses.v[i]);
    }
    t->acts++;
    for (uint32_t i = fr->accesses, n = v->accesses.n; i < n; i++) widen(v, fr, i);
    for (uint32_t i = fr->accesses; i < v->accesses.n; i++) v->accesses.v[i].act = run_act(v);
    if (v->ops[fr->op]->op == IR_LANES) lanes_count(v, fr);
    for (uint32_t i = fr->sums; i < t->sums.n; i++) t->sums.v[i].bytes = sum_of(v, fr, t->sums.v[i].bytes);
    v->f.depth--;
    forget_sets(v, fr->op);
}
