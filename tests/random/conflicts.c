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

enum { NOBODY = 0, SEVERAL = -1 };

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
    return m->several || another(m->waived, by->unit) ? OPEN_READ : NULL;
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
    if (m->waived != NOBODY || (waived && (m->write != NOBODY || m->reduce != NOBODY))) m->several = true;
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

/* Does the program conflict at another launch? */
static bool conflicts_elsewhere(Program *p, const Home *home, const char **why)
{
    bool conflict = false;
    for (int i = 0; i < launches(p) && !conflict; i++)
        if (take_launch(p, home, i)) *why = program_run_as(p, RUN_PLACES, &conflict);
    go_home(p, home);
    return conflict;
}

static Standing other_launches(Program *p, const char **why)
{
    Home home = home_of(p);
    bool conflict = false;
    if (p->where) return ST_FREE; /* facts are text */
    Standing found = conflicts_elsewhere(p, &home, why) ? ST_ELSEWHERE : ST_FREE;
    force(p->body, true);
    if (!found) *why = program_run_as(p, RUN_PLACES, &conflict);
    if (!found && (conflict || conflicts_elsewhere(p, &home, why))) found = ST_DOUBTFUL;
    force(p->body, false);
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
