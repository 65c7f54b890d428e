/* turns [--roles] [--seed N] [--count N] [--refused N]: pairs of roles that count by numbers of the launch. Is none launched whose roles count otherwise?
 *
 * Each program has two roles, one that fills a slot and one that gives it back, each in a loop (perhaps in another one) from one drawn
 * number below another: sums, minima, maxima, quotients and remainders of two scalars and a size, under facts of them. Mostly the second
 * pair of numbers is the first one with something added that is 0 for small numbers, or for most, or one or both ends are clipped by what two
 * of the scalars are apart. Some give back several slots in a turn, with or without
 * a tail, or in the last turn more than were filled. How often each loop turns is worked out
 * here for a few thousand launches, all of a role's loops together: where the two differ in one, the program hangs, or ends before a copy has arrived, so the compiler
 * refuses it, or such launches are refused. Where they are alike the launch is not. Some pairs copy nothing: there the first role may be as
 * many turns ahead as there are slots.
 *
 * With --roles the programs are those of turns_draw.c, and turns_machine.c says what becomes of a launch: see turns.h.
 *
 * Prints how many were accepted, how many of the others turn alike in all of these launches, and how often each form was in programs that
 * are accepted; with --refused the first N of those others, too. Exit code: 0, 1 one was accepted in error (it is printed), 2 wrong use.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tile.h"
#include "tilecc.h"
#include "turns.h"

static long used[KINDS], all[KINDS];

/* Something near: the same for many numbers. */
static const Sum *nearly(const Sum *a)
{
    const Sum *far = number(PICK(2, 3, 6, 9, 12, 30));
    switch (some(7)) {
    case 0: return op(MIN, a, draw_sum(1));
    case 1: return op(MAX, a, draw_sum(1));
    case 2: return op(some(2) ? ADD : SUB, a, op(some(2) ? DIV : MOD, named((int)some(LAUNCH_NAMES)), number(PICK(2, 3, 8, 64))));
    case 3: return op(MIN, a, number(PICK(5, 9, 20, 60)));
    case 4: return op(ADD, a, op(MAX, op(SUB, named((int)some(LAUNCH_NAMES)), far), number(0)));
    case 5: return op(ADD, a, op(MIN, number(0), op(SUB, far, named((int)some(LAUNCH_NAMES)))));
    default: return op(some(2) ? ADD : SUB, a, number(some(2)));
    }
}

/* A minimum or maximum of what two names are apart, or together: launches on one side of it and on the other one meet aslant. */
static const Sum *aslant(const Sum *a)
{
    const Sum *x = op(some(3) ? SUB : ADD, named((int)some(LAUNCH_NAMES)), named((int)some(LAUNCH_NAMES)));
    return op(some(2) ? MIN : MAX, a, some(2) ? x : op(ADD, x, number(PICK(-4, -1, 1, 3, 9))));
}

enum { ALONE, TWICE, BEHIND_MANY, BEHIND_ONE, IN_ONE, SEVERAL, SHAPES }; /* SEVERAL: all slots in a turn */
enum { LEFT, TAIL, FULL };

typedef struct Pair {
    const Sum *from[2], *to[2];
    const Fact *fact[FACTS];
    bool within;   /* another loop */
    int64_t shape; /* of the loops of the two roles */
    int64_t rest;  /* of numbers that are no multiple */
    bool first;    /* the role that gives back is */
    int slots;
    bool copies; /* into the slots: all that is filled is waited for */
} Pair;

static Pair draw_pair(void)
{
    Pair p = {.within = some(8) == 0, .slots = (int)PICK(1, 1, 1, 2, 3), .shape = some(2) ? ALONE : some(SHAPES)};
    if (p.shape != ALONE) p.slots = p.shape == SEVERAL ? (int)PICK(2, 2, 3, 4) : 1;
    p.rest = PICK(LEFT, TAIL, TAIL, FULL);
    p.first = p.shape == SEVERAL && some(2);
    for (int64_t i = 0, n = some(FACTS + 1); i < n; i++) p.fact[i] = draw_fact();
    p.from[0] = p.from[1] = some(5) < 2 ? number(0) : some(3) ? number(PICK(-20, -6, -4, -1, 1, 2, 5)) : draw_sum(1);
    p.to[0] = p.to[1] = draw_sum((int)some(3));
    int64_t how = some(10);
    if (p.shape == SEVERAL) {
        p.from[0] = p.from[1] = number(0);
        if (how > 6) p.to[1] = nearly(p.to[0]);
        return p;
    }
    if (how < 6) p.to[1] = nearly(p.to[0]);
    else if (how < 8) p.from[1] = nearly(p.from[0]);
    else if (how < 9) p.to[1] = draw_sum(2);
    else if (some(2)) {
        int64_t ends = some(4);
        if (ends == 3) p.from[0] = p.from[1] = aslant(p.from[0]), p.to[0] = p.to[1] = aslant(p.to[0]);
        if (ends != 1) p.from[1] = aslant(p.from[0]);
        if (ends != 0) p.to[1] = aslant(p.to[0]);
    }
    p.copies = some(4) != 0;
    return p;
}

static void put_loop(Text *t, const Sum *from, const Sum *to, const char *more, const char *body)
{
    put(t, "for k in ");
    put_sum(t, from);
    put(t, " .. ");
    put_sum(t, to);
    put(t, more);
    put(t, " { ");
    put(t, body);
    put(t, " } ");
}

static void put_turns(Text *t, const Pair *p, const char *body)
{
    char part[64];
    put(t, p->rest == FULL ? "for k in ceil(" : "for k in (");
    put_sum(t, p->to[1]);
    snprintf(part, sizeof part, "%s%d) { for i in %d { ", p->rest == FULL ? ", " : ") / (", p->slots, p->slots);
    put(t, part), put(t, body), put(t, " } } ");
    if (p->rest != TAIL) return;
    put(t, "for i in (");
    put_sum(t, p->to[1]);
    snprintf(part, sizeof part, ") %% %d { ", p->slots);
    put(t, part), put(t, body), put(t, " } ");
}

static void put_role(Text *t, const Pair *p, int role)
{
    char slot[32] = "", body[160];
    bool several = p->shape == SEVERAL && role;
    if (several) snprintf(slot, sizeof slot, "[i %% %d]", p->slots);
    else if (p->slots > 1) snprintf(slot, sizeof slot, "[(k + 60) %% %d]", p->slots);
    if (role) snprintf(body, sizeof body, "wait full%s; arrive empty%s;", slot, slot);
    else if (p->copies) snprintf(body, sizeof body, "wait empty%s; move x[0, 0] -> t%s commit full%s;", slot, slot, slot);
    else snprintf(body, sizeof body, "wait empty%s; arrive full%s;", slot, slot);
    put(t, role ? "    role b { " : "    role a { ");
    if (p->within) put(t, "for j in m { ");
    if (p->shape == TWICE) put(t, role ? "" : "for c in 2 { ");
    if (p->shape == TWICE && role) put_loop(t, p->from[0], p->to[0], "", body);
    if (p->shape == BEHIND_MANY) put(t, "for c in 70 { "), put(t, body), put(t, " } ");
    if (p->shape == BEHIND_ONE && !role) put(t, body), put(t, " ");
    if (p->shape == IN_ONE && !role) put(t, "for i in 1 + M / 4611686018427387904 { ");
    if (several) put_turns(t, p, body);
    else put_loop(t, p->from[role], p->to[role], p->shape == BEHIND_ONE && role ? " + 1" : "", body);
    if ((p->shape == TWICE || p->shape == IN_ONE) && !role) put(t, "} ");
    put(t, p->within ? "} }\n" : "}\n");
}

static void put_pair(Text *t, const Pair *p)
{
    char many[16] = "", line[160];
    if (p->slots > 1) snprintf(many, sizeof many, "[%d]", p->slots);
    put(t, "kernel k(x: global f32[M, 32], n: s64, m: s64)");
    for (int i = 0; i < FACTS && p->fact[i]; i++) put(t, i ? ", " : " where "), put(t, p->fact[i]->text);
    snprintf(line, sizeof line, " {\n  shared t: f32%s[1, 32];\n  barrier full%s;\n  barrier empty%s free;\n  roles {\n", many, many, many);
    put(t, line);
    put_role(t, p, p->first);
    put_role(t, p, !p->first);
    put(t, "  }\n}\n");
}

static int64_t turns_of(const Pair *p, int role, int64_t more, const int64_t *names)
{
    int64_t turns = value(p->to[role], names) + more - value(p->from[role], names), rest = turns % p->slots;
    if (p->shape != SEVERAL || role == 0) return turns > 0 ? turns : 0;
    if (rest < 0) rest += p->slots;
    int64_t whole = turns - rest + (p->rest == FULL && rest ? p->slots : 0);
    return (whole > 0 ? whole : 0) + (p->rest == TAIL ? rest : 0);
}

static bool alike_at(const Pair *p, const int64_t *names)
{
    bool ahead = p->shape == BEHIND_ONE;
    if (!facts_hold(p->fact, names)) return true;
    if (p->within && names[1] <= 0) return true;
    int64_t more = turns_of(p, 0, 0, names) + ahead - turns_of(p, 1, ahead, names); /* slots that begin elsewhere are another matter */
    return more == 0 || (!p->copies && more > 0 && more * (p->within ? names[1] : 1) <= p->slots);
}

typedef struct Found { /* of a program, in all launches */
    long differ, refused; /* .. in which the roles turn otherwise; which the launch refuses although they don't */
    bool in_error;        /* such a one is not refused */
    int64_t names[LAUNCH_NAMES]; /* of the last one that is said */
} Found;

/* args NULL: launches are not asked. */
static void try_launch(const Pair *p, const int64_t *names, tile_args *args, Found *f)
{
    static tile_error err;
    bool alike = alike_at(p, names);
    int64_t extents[2] = {names[2], 32};
    f->differ += !alike;
    if (args == NULL) {
        if (!alike) memcpy(f->names, names, sizeof f->names);
        return;
    }
    bool bound = !tile_bind(args, "x", 256, (size_t)names[2] * 128, TILE_F32, 2, extents, NULL, &err) && !tile_bind_scalar(args, "n", names[0], &err) &&
                 !tile_bind_scalar(args, "m", names[1], &err);
    tile_launch_facts facts;
    if (!bound) abort();
    bool ok = tile_launch_info(args, &facts, &err) == TILE_OK;
    if (ok ? alike || f->in_error : !alike || !facts_hold(p->fact, names)) return;
    f->in_error |= ok;
    f->refused += !ok;
    memcpy(f->names, names, sizeof f->names);
}

/* Each `step`-th launch. */
static void try_launches(const Pair *p, tile_args *args, int step, Found *f)
{
    static const int64_t values[] = {-9, -3, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 17, 20, 21, 25, 31, 33, 40, 61, 64, 65, 100, 130};
    enum { MANY = sizeof values / sizeof *values };
    for (int i = 0; i < MANY * MANY * MANY; i += step) {
        int64_t names[LAUNCH_NAMES] = {values[i % MANY], values[i / MANY % MANY], values[i / MANY / MANY]};
        if (names[2] >= 0) try_launch(p, names, args, f);
    }
}

/* Does the compiler accept it, and which launches? */
static bool accepted(const char *text, const Pair *p, tile_device *d, Found *f)
{
    enum { STEP = 37 }; /* no divisor of the numbers of values */
    static tile_error err;
    tilecc_options opt = {.struct_size = sizeof opt, .emit = TILECC_EMIT_PTX, .no_performance_warnings = 1};
    tilecc_result *r = tilecc_compile(&opt, "turns.tile", text, strlen(text));
    tile_module *m;
    tile_args *args;
    if (!r) abort();
    bool ok = r->status == TILECC_OK;
    if (ok) {
        if (tile_module_load(d, r->ptx, r->ptx_size, &m, &err) || tile_args_new(tile_kernel_at(m, 0), &args, &err)) abort();
        try_launches(p, args, STEP, f);
        tile_args_free(args);
        tile_module_free(m);
    }
    tilecc_free(r);
    return ok;
}

int main(int argc, char **argv)
{
    uint64_t seed = 1;
    long count = 300, print = 0, taken = 0, refused_alike = 0, wrong = 0, launches = 0;
    tile_device *device;
    tile_error err;
    bool roles = argc > 1 && !strcmp(argv[1], "--roles");
    for (int i = 1 + roles; i < argc; i += 2) {
        if (i + 1 == argc) return 2;
        if (!strcmp(argv[i], "--seed")) seed = strtoull(argv[i + 1], NULL, 10);
        else if (!strcmp(argv[i], "--count")) count = strtol(argv[i + 1], NULL, 10);
        else if (!strcmp(argv[i], "--refused")) print = strtol(argv[i + 1], NULL, 10);
        else return 2;
    }
    if (tile_device_open("sim", &device, &err)) return 2;
    if (roles) {
        int rc = turns_roles(seed, count, print, device);
        tile_device_close(device);
        return rc;
    }
    for (long k = 0; k < count; k++) {
        static Text t;
        Found all_of = {0}, f = {0};
        sums_begin(seed + (uint64_t)k);
        t.n = 0;
        Pair p = draw_pair();
        put_pair(&t, &p);
        try_launches(&p, NULL, 1, &all_of);
        bool same = all_of.differ == 0, ok = accepted(t.s, &p, device, &f);
        taken += ok;
        refused_alike += same && !ok;
        for (int r = 0; r < 2; r++) {
            count_forms(p.from[r], all), count_forms(p.to[r], all);
            if (ok) count_forms(p.from[r], used), count_forms(p.to[r], used);
        }
        if (same && !ok && refused_alike <= print) printf("seed %llu is refused\n%s", (unsigned long long)(seed + (uint64_t)k), t.s);
        launches += f.refused;
        wrong += f.in_error;
        if (!f.in_error && (f.refused == 0 || print == 0)) continue;
        printf("seed %llu is %s with n = %lld, m = %lld, M = %lld\n%s", (unsigned long long)(seed + (uint64_t)k),
               f.in_error ? "launched, and the roles turn otherwise," : "not launched", (long long)f.names[0], (long long)f.names[1], (long long)f.names[2], t.s);
    }
    tile_device_close(device);
    printf("%ld programs, %ld accepted, %ld of them in error; %ld refused that turn alike, and %ld launches of those accepted\n", count, taken, wrong,
           refused_alike, launches);
    for (int k = 0; k < EQ; k++) printf("  %-6s %6ld in all, %6ld in programs that are accepted\n", KIND_WORD[k], all[k], used[k]);
    return wrong != 0;
}
