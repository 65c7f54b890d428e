/* The machine: what the roles of one launch do to its barriers, in any order.
 *
 * A role is a list of waits and arrivals. A phase is over after so many arrivals; the w-th wait of a role on a slot is for phase w (of a
 * `free` barrier for the one before) and goes by its parity. While no barrier gets two phases ahead of a role that is still to wait for it,
 * a wait that may pass may do so from then on: then one order in which all go as far as they can is as good as any, and where it ends
 * a role waits forever or none does. Orders count for the rest: for each role that order is run in which it is the slowest, each of its steps being
 * made when no other role can make one. There shows whether a barrier gets two phases ahead of it, and whether arrivals of others come while
 * one of its own to the phase before is missing.
 */
#include <string.h>

#include "turns.h"

const char *const OUTCOME_WORD[OUTCOMES] = {"is right",
                                            "hangs",
                                            "has a barrier that gets two phases ahead",
                                            "has a phase that gets arrivals of the next",
                                            "ends before a copy was waited for",
                                            "is too long to be run"};

enum { STEPS = 1 << 17, PLACES = BARS * SLOTS };

typedef struct Step {
    uint8_t act, place;
} Step;

static Step steps[ROLES][STEPS];
static int length[ROLES];

typedef struct World {
    const Program *p;
    const int *counts;
    int at[ROLES];
    int arrivals[PLACES], of_role[ROLES][PLACES], waits[ROLES][PLACES], last_copy[PLACES];
} World;

/* ---- a role's steps ---- */

static bool add_steps(const Stmt *s, int role, int64_t *names);

static bool add_step(const Stmt *s, int role, const int64_t *names)
{
    int64_t at = s->at ? value(s->at, names) : 0;
    if (length[role] == STEPS || at < 0 || at >= SLOTS) return false;
    steps[role][length[role]++] = (Step){(uint8_t)s->act, (uint8_t)(s->bar * SLOTS + (int)at)};
    return true;
}

static bool add_turns(const Stmt *s, int role, int64_t *names)
{
    int64_t from = value(s->a, names), to = value(s->b, names);
    for (int64_t i = from; i < to; i++) {
        if (i - from > STEPS) return false;
        names[s->name] = i;
        if (!add_steps(s->body, role, names)) return false;
    }
    return true;
}

static bool add_steps(const Stmt *s, int role, int64_t *names)
{
    bool ok = true;
    for (; s && ok; s = s->next) {
        if (s->act == SET) names[s->name] = value(s->a, names);
        else if (s->act == IF) ok = add_steps(value(s->a, names) ? s->body : s->other, role, names);
        else if (s->act == FOR) ok = add_turns(s, role, names);
        else if (s->act == WAIT || s->act == ARRIVE || s->act == FILL) ok = add_step(s, role, names);
    }
    return ok;
}

/* ---- orders ---- */

static int over(const World *w, int place) /* phases that are */
{
    const Bar *b = &w->p->bar[place / SLOTS];
    return w->arrivals[place] / w->counts[place / SLOTS] + b->free;
}

static bool may_step(const World *w, int role)
{
    if (w->at[role] == length[role]) return false;
    Step s = steps[role][w->at[role]];
    return s.act != WAIT || over(w, s.place) > w->waits[role][s.place];
}

static void step(World *w, int role)
{
    Step s = steps[role][w->at[role]++];
    if (s.act == WAIT) {
        w->waits[role][s.place]++;
        return;
    }
    if (s.act == FILL) w->last_copy[s.place] = w->arrivals[s.place] + 1;
    w->arrivals[s.place]++;
    w->of_role[role][s.place]++;
}

/* All but `slow` go as far as they can. */
static void go(World *w, int slow)
{
    for (bool moved = true; moved;) {
        moved = false;
        for (int r = 0; r < w->p->roles; r++)
            for (; r != slow && may_step(w, r); moved = true) step(w, r);
    }
}

static bool others_are_early(const World *w, int role, int place)
{
    const Bar *b = &w->p->bar[place / SLOTS];
    int sum = 0, per = b->per_phase[role];
    for (int r = 0; r < w->p->roles; r++) sum += b->per_phase[r];
    if (per == 0 || sum != w->counts[place / SLOTS]) return false; /* whose arrival is whose is not known */
    int phase = w->of_role[role][place] / per;
    for (int r = 0; r < w->p->roles; r++)
        if (w->of_role[r][place] > (phase + 1) * b->per_phase[r]) return true;
    return false;
}

static Outcome run_slow(World *w, int slow)
{
    for (;;) {
        go(w, slow);
        if (!may_step(w, slow)) return RIGHT;
        Step s = steps[slow][w->at[slow]];
        if (s.act == WAIT && over(w, s.place) > w->waits[slow][s.place] + 1) return GETS_AHEAD;
        if (s.act != WAIT && others_are_early(w, slow, s.place)) return ARRIVES_EARLY;
        step(w, slow);
    }
}

static Outcome how_it_ends(const World *w)
{
    for (int r = 0; r < w->p->roles; r++)
        if (w->at[r] < length[r]) return HANGS;
    for (int place = 0; place < PLACES; place++) {
        if (w->last_copy[place] == 0) continue;
        int phase = (w->last_copy[place] - 1) / w->counts[place / SLOTS], seen = 0;
        for (int r = 0; r < w->p->roles; r++)
            if (w->waits[r][place] > seen) seen = w->waits[r][place];
        if (seen - w->p->bar[place / SLOTS].free <= phase) return NOT_WAITED;
    }
    return RIGHT;
}

Outcome run_launch(const Program *p, const int64_t *names, const int *counts)
{
    static World w;
    for (int r = 0; r < p->roles; r++) {
        int64_t all[NAMES] = {0};
        memcpy(all, names, LAUNCH_NAMES * sizeof *names);
        length[r] = 0;
        if (!add_steps(p->role[r].body, r, all)) return TOO_LONG;
    }
    w = (World){.p = p, .counts = counts};
    go(&w, -1);
    Outcome end = how_it_ends(&w);
    for (int r = 0; r < p->roles && end == RIGHT; r++) {
        w = (World){.p = p, .counts = counts};
        end = run_slow(&w, r);
    }
    return end;
}
