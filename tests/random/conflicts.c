/* Rule G, decided for one launch, element by element: two pieces of work that nothing orders - teams, iterations of a pipeline
 * across the grid, one copy of a statement beside another - touch the same element, and one of them writes it. Elements of a
 * tensor have one size, so elements are as exact as bytes.
 *
 * Of each element and kind of access it is enough to know which unit did it, or that several did: an access conflicts with an
 * earlier one if that was not done by its own unit alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

enum { NOBODY = 0, SEVERAL = -1, LAUNCHES = 10, SMALL = 40, ONE_SIZE = 3, SIZE_MOST = 4096, ELEMENTS_MOST = 1 << 20 };

const char OPEN_READ[] = "what `overlap any` leaves open is read";

static bool another(int32_t seen, int32_t unit)
{
    return seen != NOBODY && (seen != unit || unit == UNIT_EVERY);
}

static void note(int32_t *seen, int32_t unit)
{
    *seen = *seen == NOBODY || *seen == unit ? unit : SEVERAL;
}

const char *mark_read(Mark *m, const Piece *by)
{
    note(&m->read, by->unit);
    if (another(m->write, by->unit)) return "one reads what another writes";
    if (another(m->reduce, by->unit)) return "one reads what another reduces into";
    return another(m->waived, by->unit) ? OPEN_READ : NULL;
}

static bool repeats(Reduce op)
{
    return op == R_MIN || op == R_MAX || op == R_AND || op == R_OR;
}

/* The bounds of inc and dec may differ, so these do not commute. `op` of a mark is that of all its reductions so far, or none. */
const char *mark_write(Mark *m, const Piece *by, Reduce op, bool waived)
{
    bool sum = op && op != R_INC && op != R_DEC, same = m->reduce == NOBODY || m->op == op, twice = m->stamp == by->stamp;
    const char *bad = NULL;
    m->stamp = by->stamp;
    if (waived) {
        m->open = true;
        note(&m->waived, by->unit);
        return another(m->read, by->unit) ? OPEN_READ : NULL;
    }
    if (sum) {
        if (!same && another(m->reduce, by->unit)) bad = "two reduce in two ways";
        if (by->unit == UNIT_EVERY && !repeats(op)) bad = "every team reduces";
        m->op = (uint8_t)(same ? op : R_NONE);
        note(&m->reduce, by->unit);
    } else {
        if (twice) bad = "one statement writes a place twice";
        if (by->unit == UNIT_EVERY) bad = "every team writes";
        if (another(m->reduce, by->unit)) bad = "one writes what another reduces into";
        note(&m->write, by->unit);
    }
    if (another(m->read, by->unit)) bad = "one writes what another reads";
    return another(m->write, by->unit) ? "two write one place" : bad;
}

bool across_grid(const Stmt *s)
{
    for (; s; s = s->next)
        if (!s->dead && ((s->kind == S_PIPELINE && s->text && strstr(s->text, "across grid")) || across_grid(s->body))) return true;
    return false;
}

/* ---- other launches: sizes, scalar parameters and what stands in tables ---- */
static bool pinned(const Program *p, int size)
{
    for (int t = 0; t < p->ntensors; t++)
        for (int d = 0; d < p->tensor[t].rank; d++) {
            const Expr *e = p->tensor[t].extent[d];
            if (p->tensor[t].index && e->kind == X_SIZE && e->n == size) return true;
        }
    return false;
}

/* Is it the length of rows that copies move? */
static bool of_rows(const Program *p, int size)
{
    for (int t = 0; t < p->ntensors; t++) {
        const Expr *e = p->tensor[t].extent[p->tensor[t].rank - 1];
        if (p->tensor[t].rank > 1 && e->kind == X_SIZE && e->n == size) return true;
    }
    return false;
}

/* Multiples, and 16 more, keep rows multiples of 16 bytes. */
static int64_t other_size(Rng *r, int64_t v, int launch)
{
    if (launch < 3) return launch == 0 ? 2 * v : launch == 1 ? 3 * v + 16 : v + 16;
    switch (rng_in(r, 0, 5)) {
    case 0: return v;
    case 1: return 2 * v;
    case 2: return 3 * v;
    case 3: return 5 * v;
    default: return v + 16 * rng_in(r, 1, 3);
    }
}

static bool fits(const Program *p)
{
    for (int i = 0; i < p->nsizes; i++)
        if (p->size[i].value > SIZE_MOST) return false;
    for (int t = 0; t < p->ntensors; t++)
        if (tensor_elements(p, &p->tensor[t]) > ELEMENTS_MOST) return false;
    return true;
}

static bool other_launch(Program *p, Rng *r, int launch)
{
    for (int i = 0; i < p->nsizes; i++) {
        Size *s = &p->size[i];
        if (s->scalar) s->value = rng_in(r, 0, 5);
        else if (!pinned(p, i)) s->value = other_size(r, s->value, launch);
    }
    return fits(p);
}

/* All are small, each by itself: one or two turns of a loop, and an odd number of them. */
static bool small_launch(Program *p, Rng *r)
{
    for (int i = 0; i < p->nsizes; i++) {
        Size *s = &p->size[i];
        if (!s->scalar && pinned(p, i)) continue;
        if (s->scalar || rng_odds(r, 60)) s->value = of_rows(p, i) && !s->scalar ? s->value * rng_in(r, 1, 3) : rng_in(r, !s->scalar, 6);
        else if (rng_odds(r, 50)) s->value *= rng_in(r, 2, 5);
    }
    return fits(p);
}

/* All sizes together may be more than fits: each by itself. */
static bool one_size(Program *p, int i, int launch)
{
    static const int64_t times[ONE_SIZE] = {2, 3, 5};
    Size *s = &p->size[i];
    if (!s->scalar && pinned(p, i)) return false;
    s->value = s->scalar ? s->value + times[launch] : s->value * times[launch];
    return fits(p);
}

static void other_tables(Program *p, Rng *r)
{
    int64_t low = rng_in(r, 0, 2), high = low + rng_in(r, 0, 3);
    for (int t = 0; t < p->ntensors; t++) {
        Tensor *x = &p->tensor[t];
        if (!x->index || (p->trust && strstr(p->trust, x->name))) continue;
        for (int64_t i = 0; i < tensor_elements(p, x); i++)
            value_store(x->type, x->first + i * type_size(x->type), rng_in(r, low, high));
    }
}

/* Branches that no launch so far took, as if one did: there may be no such launch, but nobody has shown that. */
static void force(Stmt *s, bool on)
{
    for (; s; s = s->next) {
        if (s->kind == S_IF) s->forced = !on ? 0 : !s->times[1] ? 1 : !s->times[0] && s->other ? 2 : 0;
        force(s->body, on);
        force(s->other, on);
    }
}

static void forget_times(Stmt *s)
{
    for (; s; s = s->next) {
        memset(s->times, 0, sizeof s->times);
        forget_times(s->body);
        forget_times(s->other);
    }
}

/* Does the program conflict at another launch? size: those of its own. */
static bool conflicts_elsewhere(Program *p, const Size *size, const char **why)
{
    Rng r = {UINT64_C(0x9e3779b97f4a7c15)};
    bool conflict = false;
    for (int launch = 0; launch < LAUNCHES + SMALL + ONE_SIZE * p->nsizes && !conflict; launch++) {
        int small = launch - LAUNCHES, one = small - SMALL;
        memcpy(p->size, size, sizeof p->size);
        if (launch) other_tables(p, &r);
        bool fit = small < 0 ? other_launch(p, &r, launch) : one < 0 ? small_launch(p, &r) : one_size(p, one / ONE_SIZE, one % ONE_SIZE);
        if (fit) *why = program_run_as(p, RUN_PLACES, &conflict);
    }
    memcpy(p->size, size, sizeof p->size);
    return conflict;
}

static Standing other_launches(Program *p, const char **why)
{
    Size size[SIZES_MAX];
    uint8_t *first[TENSORS_MAX];
    bool conflict = false;
    if (p->where) return ST_FREE; /* facts are text */
    memcpy(size, p->size, sizeof size);
    for (int t = 0; t < p->ntensors; t++) {
        Tensor *x = &p->tensor[t];
        size_t bytes = (size_t)(tensor_elements(p, x) * type_size(x->type));
        first[t] = x->first;
        if (x->index) x->first = memcpy(keep(p, bytes + 1), x->first, bytes);
    }
    Standing found = conflicts_elsewhere(p, size, why) ? ST_ELSEWHERE : ST_FREE;
    force(p->body, true);
    if (!found) *why = program_run_as(p, RUN_PLACES, &conflict);
    if (!found && (conflict || conflicts_elsewhere(p, size, why))) found = ST_DOUBTFUL;
    force(p->body, false);
    for (int t = 0; t < p->ntensors; t++) p->tensor[t].first = first[t];
    return found;
}

Standing program_standing(Program *p, const char **why)
{
    bool conflict;
    forget_times(p->body);
    *why = program_run_as(p, RUN_DEFINITE, &conflict);
    if (*why) return ST_WRONG;
    *why = program_run_as(p, RUN_WHOLE, &conflict);
    if (*why) return conflict ? ST_CONFLICT : ST_WRONG;
    Standing found = other_launches(p, why);
    (void)program_run(p); /* its own launch again */
    return found;
}
