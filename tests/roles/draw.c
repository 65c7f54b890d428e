/* A schedule and its projections.
 *
 * A schedule is loops and conditions around turns of rings. In a turn a ring's slot is waited for, filled, waited for again, read and given back.
 * Each role has its part in some rings; its body is the schedule without what is not its own, with loops and slots in words of its own. In the
 * order of the schedule each wait is for what stands in front of it, so nothing hangs; a slot is any function of the indices that all roles have in common, or
 * counted. Tensors are [G, P, A, B, 16]: a CTA, a place of its own for each use of a turn, two indices, rows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang/lang.h"
#include "tests/roles/roles.h"

enum { RINGS = 3, ROLES = 4, NODES = 64, DEPTH = 3, PLACES = 24 };

typedef enum Fill { TENSOR, BULK, VALUE, IN_PARTS, MULTICASTS, TO_A_PEER, VALUE_TO_A_PEER, MASKED, FED, SENT_ON } Fill;
typedef enum Take { STORE, STORE_BULK, STORE_BYTES, STORE_GROUP, STORE_THREADS, STORE_REDUCE, STORE_LATE } Take;

typedef struct Ring {
    Fill fill;
    Take take;
    int slots, rows, tiles, apart; /* apart: to the CTA that gets it */
    int fills[2], takes[2], many_fill, many_take, also; /* roles; also: one that arrives, too, or -1 */
    int feeds, fed;                                     /* rings, or -1 */
    const char *reduce, *cache, *bytes;                 /* clauses of stores, loads */
    const char *slot;                                   /* of the indices; NULL: counted */
    bool stacked;                                       /* slots are rows of one tile */
    bool plain;                                         /* one turn, in one loop, under no condition: the count is the index */
} Ring;

typedef enum Kind { TURN, LOOP, COND } Kind;
typedef struct Part {
    Kind kind;
    int ring, place;           /* of a turn */
    int path[DEPTH], depth;    /* loops around */
    const char *what;          /* bound, condition; $0, $1, $2 are indices */
    struct Part *body, *other, *next;
} Part;

static Case *now;
static Ring ring[RINGS];
static int rings, roles, ctas, places;
static Part part[NODES];
static int parts;
static const char *index_now[DEPTH], *bound_now[DEPTH]; /* text of the indices of the loops around, and of what they run to */
static enum { NEVER, TO_COME, STANDS } once; /* a wait for what comes once */
static bool threads_of[ROLES + 1];
static bool counted[ROLES + 1][RINGS];
static ElemType element; /* of tensors and tiles */
static bool newer;       /* a target that has all */
static const char *const NAME[ROLES] = {"load", "work", "store", "more"};

static bool has(Form f)
{
    now->form[f] = true;
    return true;
}

/* ---- schedules ---- */

static Part *make(Kind kind)
{
    if (parts == NODES) abort();
    part[parts] = (Part){.kind = kind};
    return &part[parts++];
}

static const char *bound(int depth)
{
    int c = PICK(1, 2, 3, 4, 5);
    if (depth == DEPTH - 1) return text("%d", PICK(1, 2, 3));
    switch (some(16)) {
    case 0: return "m";
    case 1: return text("n / %d", PICK(2, 3));
    case 2: return "ceil(n, 2)";
    case 3: return text("min(n, %d)", c);
    case 4: return text("max(n - %d, 0)", c);
    case 5: return text("%d", PICK(0, 1, 2, 3, 5));
    case 6: return text("n + %d", PICK(1, 2, 20));
    case 7:
        if (!depth) return "n";
        has(F_INDEX_TRIPS);
        return text(some(2) ? "$%d + 1" : "$%d %% 2 + 1", depth - 1);
    case 10: return some(2) ? "B / 2" : "min(n, A)";
    case 8: has(F_DATA_TRIPS); return depth ? text("tab[$%d]", depth - 1) : text("tab[%d]", some(3));
    case 9:
        if (ctas > 1 && some(8)) return "n";
        has(F_CTA_TRIPS);
        return text("cta.x %s", some(2) ? "+ 1" : "% 2 + n");
    default: return depth && some(3) ? "m" : "n";
    }
}

static const char *condition(int depth, const char *around)
{
    int c = PICK(1, 2, 3, 20), k = depth - 1;
    switch (some(depth ? 12 : 4)) {
    case 0: has(F_LAUNCH_IF); return text("n > %d", c);
    case 1: has(F_LAUNCH_IF); return some(2) ? "m < n" : "n % 2 == 0";
    case 2:
        if (ctas > 1 && some(8)) return "n > 1";
        has(F_CTA_IF);
        return ctas > 1 && some(2) ? "cluster.rank == 0" : "cta.x % 2 == 0";
    case 3: has(F_DATA_IF); return text("tab[%s] > 1", depth ? text("$%d", k) : "2");
    case 4: has(F_BOUND); return text("$%d < %d", k, c);
    case 5: has(F_BOUND); return text("$%d >= %d", k, c);
    case 6: has(F_BOUND); return text("$%d + %d < %s", k, c, around);
    case 7: has(F_PARITY); return text("$%d %% 3 %s 0", k, some(2) ? "==" : "!=");
    case 8:
        if (depth < 2) return text("$%d != %d", k, c);
        return text(some(2) ? "$%d == $%d" : "($%d + $%d) %% 2 == 0", k, k - 1);
    default: has(F_PARITY); return text("$%d %% 2 == %d", k, some(2));
    }
}

static Part *draw_parts(const int *list, int n, int depth, bool may_if, const char *around);

static Part *turn(int r, int depth)
{
    Part *p = make(TURN);
    p->ring = r, p->depth = depth, p->place = places;
    places += 3;
    return p;
}

static Part *draw_loop(const int *list, int n, int depth)
{
    Part *p = make(LOOP);
    p->depth = depth, p->what = bound(depth);
    has(depth ? F_NESTED : F_LOOP);
    p->body = draw_parts(list, n, depth + 1, true, p->what);
    return p;
}

static Part *draw_condition(const int *list, int n, int depth, const char *around)
{
    Part *p = make(COND);
    p->depth = depth, p->what = condition(depth, around);
    p->body = draw_parts(list, n, depth, false, around);
    if (n == 1 && odds(30) && places + 12 <= PLACES) has(F_OTHER_ARM), p->other = draw_parts(list, n, depth, false, around);
    return p;
}

static Part *draw_parts(const int *list, int n, int depth, bool may_if, const char *around)
{
    bool split = n > 1 && odds(depth ? 50 : 30);
    if (!split && depth < DEPTH && odds(depth ? 15 : 93)) return draw_loop(list, n, depth);
    if (!split && may_if && odds(30)) return draw_condition(list, n, depth, around);
    if (n == 1) return turn(list[0], depth);
    Part *p = draw_parts(list, n / 2, depth, may_if, around), *last = p;
    while (last->next) last = last->next;
    last->next = draw_parts(list + n / 2, n - n / 2, depth, may_if, around);
    if (!depth) has(F_BEHIND);
    return p;
}

/* ---- words: those of the tables ---- */

static const char *word_of(WordList list)
{
    size_t n;
    const char *const *words = word_list(list, &n);
    return words[some((int)n)];
}

static const char *reduction(void)
{
    const char *op, *type, *word;
    do word = word_of(WORDS_REDUCE);
    while (!reduction_of(FORM_BULK_REDUCE, word, element, &op, &type));
    return text(" reduce %s", word);
}

/* ---- rings ---- */

static const char *slot_of_indices(int slots)
{
    int c = some(3);
    switch (some(5)) {
    case 0: return text("($0 + $1) %% %d", slots);
    case 1: return text("($1 + %d) %% %d", c, slots);
    case 2: return text("($0 * %d + $1) %% %d", PICK(2, 3), slots);
    case 3: has(F_QUOTIENT); return text("$1 - $1 / %d * %d", slots, slots);
    default: return text("$1 %% %d", slots);
    }
}

static void draw_ring(int r)
{
    Ring *q = &ring[r];
    *q = (Ring){.tiles = 1, .feeds = -1, .fed = -1, .also = -1, .many_fill = 1, .many_take = 1};
    q->slots = PICK(1, 1, 2, 2, 3, 4), q->rows = PICK(1, 2, 4);
    q->fill = (Fill)PICK(TENSOR, TENSOR, TENSOR, TENSOR, BULK, VALUE, IN_PARTS);
    if (ctas > 1) q->fill = (Fill)PICK(TENSOR, MULTICASTS, TO_A_PEER, TO_A_PEER, VALUE_TO_A_PEER, MASKED);
    q->take = (Take)PICK(STORE, STORE, STORE, STORE_BULK, STORE_GROUP, STORE_THREADS, STORE_REDUCE, STORE_LATE);
    if (q->take == STORE_BULK && newer) q->take = STORE_BYTES, q->bytes = text(" bytes (%d)", PICK(255, 1, 65535, 3855, 4660));
    q->reduce = reduction();
    q->cache = odds(15) ? (has(F_CACHED), text(" cache p%d", r)) : "";
    q->apart = ctas > 1 ? 1 + some(ctas - 1) : 0;
    q->fills[0] = some(roles), q->takes[0] = some(roles);
    if (q->fills[0] == q->takes[0] && some(4)) q->takes[0] = (q->fills[0] + 1) % roles;
    if (q->fills[0] == q->takes[0]) has(F_ONE_ROLE);
    if (q->fill == IN_PARTS && q->rows == 1) q->rows = 2;
    if (q->fill == MULTICASTS) q->rows = 4; /* each CTA brings a part */
    if (q->fill == IN_PARTS && roles > 2 && odds(60)) q->many_fill = 2, q->fills[1] = (q->fills[0] + 1) % roles, has(F_TWO_FILL);
    if (roles > 2 && odds(15)) q->many_take = 2, q->takes[1] = (q->takes[0] + 1) % roles, has(F_TWO_READ);
    if (odds(10)) q->also = some(roles), has(F_MORE_ARRIVE);
    if (q->fill <= BULK && odds(15)) q->tiles = 2, has(F_SHARED_BARRIER);
    q->slot = q->slots > 1 && odds(35) ? slot_of_indices(q->slots) : NULL;
    if (q->slots > 1) has(F_SLOTS);
    if (q->slots > 1 && odds(q->slot ? 25 : 4)) q->stacked = true, has(F_STACKED);
}

/* The second of two rings gets what the first one has. */
static void feed(int from, int to)
{
    Ring *a = &ring[from], *b = &ring[to];
    has(F_CHAIN);
    a->feeds = to, b->fed = from, b->rows = a->rows, a->tiles = b->tiles = 1;
    a->many_take = 1, b->many_fill = 1, b->fills[0] = a->takes[0];
    b->fill = FED;
    if (ctas == 1) return;
    a->fill = TENSOR, b->fill = SENT_ON, b->slots = a->slots, b->slot = a->slot; /* who gets it gives back both */
}

static void draw_rings(void)
{
    rings = PICK(1, 1, 1, 1, 2, 2, 3);
    if (rings > 1) has(F_SEVERAL_RINGS);
    for (int r = 0; r < rings; r++) draw_ring(r);
    if (rings > 1 && odds(35)) feed(rings - 2, rings - 1);
    for (int r = 0; r < rings; r++) {
        Ring *q = &ring[r];
        if (q->take == STORE_LATE && (q->slots == 1 || q->feeds >= 0)) q->take = STORE;
        for (int s = 0; s < r; s++)
            if (q->fills[0] == ring[s].takes[0] && ring[s].fills[0] == q->takes[0] && q->fills[0] != q->takes[0]) has(F_CROSSED);
    }
}

/* ---- words ---- */

static const char *expand(const char *s)
{
    char out[800];
    size_t n = 0;
    for (; *s; s++) {
        if (n + 120 > sizeof out) abort();
        if (*s == '$') n += (size_t)sprintf(out + n, "%.100s", index_now[*++s - '0'] ? index_now[*s - '0'] : "0");
        else out[n++] = *s;
    }
    out[n] = 0;
    return text("%s", out);
}

static const char *slot_text(int r, int role, const Part *p, int back)
{
    Ring *q = &ring[r];
    const char *k = p->depth ? index_now[p->depth - 1] : "0";
    if (q->slots == 1) return "";
    if (q->slot) { /* $1 is the innermost index */
        const char *was[DEPTH] = {index_now[0], index_now[1], index_now[2]};
        index_now[1] = back ? text("(%s - 1)", k) : k;
        index_now[0] = p->depth > 1 ? was[0] : "0";
        has(F_BY_INDEX);
        const char *s = text("[%s]", expand(q->slot));
        memcpy(index_now, was, sizeof was);
        return s;
    }
    if (q->plain && !counted[role][r]) {
        has(F_BY_INDEX);
        if (back) k = text("(%s + %d)", k, q->slots - 1);
        if (q->slots != 3 && odds(20)) return text("[%s & %d]", k, q->slots - 1);
        if (odds(10)) return has(F_QUOTIENT), text("[%s - %s / %d * %d]", k, k, q->slots, q->slots);
        return text("[%s %% %d]", k, q->slots);
    }
    has(F_BY_VARIABLE);
    return back ? text("[(s%d + %d) %% %d]", r, q->slots - 1, q->slots) : text("[s%d]", r);
}

/* One slot on, from the last one to the first. */
static Node *wrap(const char *s, int slots)
{
    has(F_WRAPPED);
    Node *zero = line("%s = 0;", s), *one = line("%s = %s + 1;", s, s);
    if (some(2)) return seq(one, braces(some(3) ? zero : line("%s = %s - %d;", s, s, slots), "if %s %s %d", s, some(2) ? "==" : ">=", slots));
    if (some(2)) return seq(braces(one, "if %s %s %d", s, some(2) ? "<" : "!=", slots - 1), braces(zero, "else"));
    return seq(braces(zero, some(2) ? "if %s == %d" : "if %s + 1 == %d + 1", s, slots - 1), braces(one, "else"));
}

static bool late_in_nest(const Ring *q)
{
    return q->slots > 1 && q->feeds < 0 && q->fill <= IN_PARTS;
}

static Node *next_slot(int r, int role)
{
    int slots = ring[r].slots;
    if (slots == 1 || ring[r].slot || (ring[r].plain && !counted[role][r])) return NULL;
    if (slots == 2 && odds(15)) return line(some(2) ? "s%d = 1 - s%d;" : "s%d = s%d ^ 1;", r, r);
    if (odds(25)) return wrap(text("s%d", r), slots);
    return line("s%d = (s%d + 1) %% %d;", r, r, slots);
}

/* x[..] or y[..]: `from` rows from the first on, `rows` of them. */
static const char *place(const char *tensor, const char *cta, const Part *p, int use, int from, int rows, int all)
{
    const char *i = "0", *k = p->depth ? index_now[p->depth - 1] : "0";
    if (p->depth == 2) i = index_now[0];
    if (p->depth == 3) i = index_now[0], k = text("(%s * 3 + %s)", index_now[1], k); /* the innermost of three loops has at most 3 turns */
    if (odds(5)) has(F_QUOTIENT), k = text("(%s / 3 * 3 + %s %% 3)", k, k);
    const char *row = all == 1 ? k : text("%s * %d", k, all);
    if (from) row = text("%s + %d", row, from);
    return text("%s[%s, %d, %s, %s +: %d, 0 +: 16]", tensor, cta, p->place + use, i, row, rows);
}

static const char *rank_of(int apart)
{
    return ctas == 2 && some(2) ? "cluster.rank ^ 1" : text("(cluster.rank + %d) %% %d", apart, ctas);
}

/* Rows of a tile, or of a slot of it. */
static const char *tile_text(char name, int r, const char *at, int from, int rows)
{
    const Ring *q = &ring[r];
    if (q->stacked && *at) return text("%c%d[(%.*s) * %d + %d +: %d, :]", name, r, (int)strlen(at) - 2, at + 1, q->rows, from, rows);
    return rows == q->rows ? text("%c%d%s", name, r, at) : text("%c%d%s[%d +: %d, :]", name, r, at, from, rows);
}

static const char *tile_of(int r, const char *at)
{
    return tile_text('t', r, at, 0, ring[r].rows);
}

static Node *to_all(const char *barrier, const char *at)
{
    Node *n = line("arrive %s%s;", barrier, at);
    for (int d = 1; d < ctas; d++) n = seq(n, line("arrive peer(%s%s, (cluster.rank + %d) %% %d);", barrier, at, d, ctas));
    return n;
}

/* ---- what is done in a turn ---- */

static Node *fill(int r, const Part *p, const char *at, int which, const char *commit)
{
    const Ring *q = &ring[r];
    const char *x = some(4) ? "x" : (has(F_VIEWED), "v"), *src = place(x, "cta.x", p, 0, 0, q->rows, q->rows);
    bool plain = !*commit;
    int half = q->rows / 2;
    Node *all;
    switch (q->fill) {
    case BULK: has(F_BY_BULK); break;
    case VALUE:
        has(F_FILLED);
        all = line("fill %s = cta.x * 64 + %s;", tile_of(r, at), p->depth ? index_now[p->depth - 1] : "7");
        return plain ? all : seq(all, line("arrive f%d%s;", r, at));
    case IN_PARTS: {
        has(F_IN_PARTS);
        Node *low = line("move %s -> %s%s;", place(x, "cta.x", p, 0, 0, half, q->rows), tile_text('t', r, at, 0, half), commit);
        Node *high = line("move %s -> %s%s;", place(x, "cta.x", p, 0, half, half, q->rows), tile_text('t', r, at, half, half), commit);
        if (q->many_fill == 2 && !plain) return which ? high : low;
        return seq(low, high);
    }
    case MULTICASTS:
        has(F_MULTICAST);
        src = place(x, text("cta.x / %d", ctas), p, 0, 0, q->rows, q->rows);
        return line("move %s -> %s multicast %s%s%s;", src, tile_of(r, at), odds(80) ? "all" : "x", q->cache, commit);
    case MASKED: {
        has(F_MULTICAST);
        const char *own = place(x, text("cta.x / %d", ctas), p, 0, 0, q->rows, q->rows);
        if (plain) return line("move %s -> %s;", own, tile_of(r, at));
        all = line("wait e%d%s;", r, at);
        all = seq(all, line("move %s -> %s multicast (%d)%s;", own, tile_of(r, at), (1 << ctas) - 1, commit));
        return braces(all, "if cluster.rank == 0");
    }
    case TO_A_PEER: {
        has(F_TO_PEER);
        const char *to = rank_of(q->apart);
        return line("move %s -> peer(%s, %s)%s%s;", src, tile_of(r, at), to, q->rows == 2 ? " via bulk" : "",
                    plain ? "" : text(" commit peer(f%d%s, %s)", r, at, to));
    }
    case VALUE_TO_A_PEER: {
        has(F_TO_PEER), has(F_FILLED);
        const char *to = rank_of(q->apart), *value = q->slots == 2 ? "7" : text("cta.x + %s", p->depth ? index_now[p->depth - 1] : "1");
        return line("fill peer(%s, %s) = %s%s;", tile_of(r, at), to, value, plain ? "" : text(" commit peer(f%d%s, %s)", r, at, to));
    }
    default: break;
    }
    const char *via = q->fill == BULK ? " via bulk" : "";
    all = line("move %s -> %s%s%s%s;", src, tile_of(r, at), via, q->cache, commit);
    if (q->tiles == 1) return all;
    src = place(x, "cta.x", p, 2, 0, q->rows, q->rows);
    return seq(all, line("move %s -> %s%s%s;", src, tile_text('u', r, at, 0, q->rows), via, commit));
}

static Node *take(int r, int role, const Part *p, const char *at, int which)
{
    const Ring *q = &ring[r];
    bool plain = role == ROLES;
    const char *dst = place("y", "cta.x", p, which, 0, q->rows, q->rows), *group = plain ? "" : " commit group";
    Take how = q->take == STORE_LATE && (!(q->plain || late_in_nest(q)) || plain || q->many_take == 2) ? STORE : q->take;
    if (plain && how == STORE_GROUP) how = STORE;
    if (how == STORE_THREADS) {
        has(F_BY_THREADS);
        Node *n = seq(line("move %s -> w%d%d via threads;", tile_of(r, at), r, which), line("move w%d%d -> %s%s;", r, which, dst, group));
        return plain ? n : seq(n, line("wait group read;"));
    }
    const char *words = how == STORE_BULK || how == STORE_BYTES ? (has(F_BY_BULK), " via bulk") : how == STORE_REDUCE ? (has(F_REDUCED), q->reduce) : "";
    if (how == STORE_REDUCE && q->rows == 2) words = text(" via bulk%s", words);
    if (how == STORE_BYTES) words = text("%s%s", words, q->bytes);
    Node *all = line("move %s -> %s%s%s%s;", tile_of(r, at), dst, words, q->cache, how == STORE_GROUP ? "" : group);
    if (q->tiles == 2 && !which) {
        dst = place("y", "cta.x", p, 2, 0, q->rows, q->rows);
        all = seq(all, line("move %s -> %s%s;", tile_text('u', r, at, 0, q->rows), dst, how == STORE_GROUP ? "" : group));
    }
    if (how == STORE_GROUP) all = braces(all, "group");
    return plain || how == STORE_LATE ? all : seq(all, line(some(4) ? "wait group read;" : some(2) ? "wait group;" : "wait group 0 read;"));
}

static Node *give_back(int r, const Part *p, const char *at, int role)
{
    const Ring *q = &ring[r];
    const char *from = text("(cluster.rank + %d) %% %d", ctas - q->apart, ctas);
    if (q->fill == MASKED) return line("arrive peer(e%d%s, 0);", r, at);
    if (q->fill == MULTICASTS) return to_all(text("e%d", r), at);
    if (q->fill == TO_A_PEER || q->fill == VALUE_TO_A_PEER) return line("arrive peer(e%d%s, %s);", r, at, from);
    if (q->fill == SENT_ON) return seq(line("arrive peer(e%d%s, %s);", q->fed, at, from), line("arrive peer(e%d%s, %s);", r, at, from));
    if (q->take != STORE_LATE || q->many_take == 2 || !(q->plain || late_in_nest(q))) return line("arrive e%d%s;", r, at);
    has(F_LATE);
    const char *now_at = q->slots > 1 ? text("%.*s", (int)strlen(at) - 2, at + 1) : "0", *kept = text("[b%d]", r);
    Node *one = line("wait group 1 read;"), *keep = line("b%d = %s;", r, now_at);
    int how = q->plain ? late_in_nest(q) && odds(50) ? some(3) : 3 : 2;
    if (how < 3) has(F_KEPT);
    if (how == 0) one = seq(one, line("arrive e%d%s;", r, kept));
    else if (how == 1) one = seq(one, seq(line("arrive e%d%s;", r, kept), wrap(text("b%d", r), q->slots)));
    else if (how == 2) return seq(braces(seq(one, line("arrive e%d%s;", r, kept)), "if c%d == 1", r), seq(keep, line("c%d = 1;", r)));
    else one = seq(one, line("arrive e%d%s;", r, slot_text(r, role, p, 1)));
    one = braces(one, "if %s > 0", index_now[0]);
    return how == 0 ? seq(one, keep) : one;
}

/* From one ring into the next. */
static Node *hand_on(int r, const Part *p, int role)
{
    const Ring *a = &ring[r];
    int to = a->feeds;
    const Ring *b = &ring[to];
    const char *from = slot_text(r, role, p, 0), *at = slot_text(to, role, p, 0), *rank = rank_of(b->apart);
    if (b->fill == SENT_ON) {
        has(F_SENT);
        if (role == ROLES) return line("move %s -> peer(%s, %s);", tile_of(r, from), tile_of(to, at), rank);
        Node *n = seq(line("wait f%d%s;", r, from), line("wait e%d%s;", to, at));
        return seq(n, line("move %s -> peer(%s, %s) commit peer(f%d%s, %s);", tile_of(r, from), tile_of(to, at), rank, to, at, rank));
    }
    has(F_BY_THREADS);
    Node *copy = line("move %s -> %s via threads;", tile_of(r, from), tile_of(to, at));
    if (role == ROLES) return copy;
    Node *full = line("wait f%d%s;", r, from), *empty = line("wait e%d%s;", to, at), *n = some(2) ? seq(full, empty) : seq(empty, full);
    n = seq(n, copy);
    n = seq(n, line("arrive f%d%s;", to, at));
    return seq(n, give_back(r, p, from, role));
}

static Node *plain_turn(int r, const Part *p)
{
    Node *n = fill(r, p, "", 0, "");
    if (ring[r].feeds >= 0) {
        n = seq(n, hand_on(r, p, ROLES));
        return seq(n, take(ring[r].feeds, ROLES, p, "", 0));
    }
    n = seq(n, take(r, ROLES, p, "", 0));
    return ring[r].many_take == 2 ? seq(n, take(r, ROLES, p, "", 1)) : n;
}

static Node *reader(int r, int role, const Part *p, int which)
{
    const char *at = slot_text(r, role, p, 0);
    Node *told = NULL;
    if (ring[r].fill == MASKED && !which) {
        has(F_EXPECTED);
        told = braces(seq(line("expect f%d%s, %d;", r, at, ring[r].rows * 64), line("arrive f%d%s;", r, at)), "if cluster.rank != 0");
    }
    Node *n = seq(seq(told, line("wait f%d%s;", r, at)), take(r, role, p, at, which));
    return seq(n, give_back(r, p, at, role));
}

/* What comes once is waited for where a turn is told from others by several things. */
static Node *wait_once(int r, int role, const Part *p)
{
    const char *all = "";
    if (once != TO_COME || p->depth == 0 || odds(60)) return NULL;
    has(F_ONCE), once = STANDS;
    for (int i = 0, n = 2 + some(3); i < n; i++) {
        int l = some(p->depth), slots = ring[r].slots;
        bool variable = slots > 1 && !ring[r].slot && (!ring[r].plain || counted[role][r]);
        const char *k = index_now[l], *one = text("%s + %d == %s", k, PICK(1, 2, 3, 5), bound_now[l]);
        if (variable && some(2)) one = text("s%d == %d", r, some(slots));
        else if (some(3) == 0) one = text("%s == %d", k, some(4));
        else if (some(2)) one = text("%s %% %d == %d", k, PICK(2, 3, 4), some(3));
        all = text("%s%s%s", all, i ? " && " : "", one);
    }
    return braces(line("wait once;"), "if %s", all);
}

static Node *role_turn(int r, int role, const Part *p)
{
    const Ring *q = &ring[r];
    const char *at = slot_text(r, role, p, 0), *commit = text(" commit f%d%s", r, at);
    Node *n = NULL;
    bool used = false;
    for (int i = 0; i < q->many_fill; i++) {
        if (q->fills[i] != role) continue;
        used = true;
        if (odds(8)) has(F_PREFETCHED), n = line("prefetch %s%s;", place("x", "cta.x", p, 0, 0, q->rows, q->rows), some(2) ? " via bulk" : q->cache);
        if (q->fill != MASKED) n = seq(n, line("wait e%d%s;", r, at));
        n = seq(n, fill(r, p, at, i, commit));
    }
    if (q->also == role && q->fill <= IN_PARTS) {
        if (!used) n = line("wait e%d%s;", r, at);
        n = seq(n, line("arrive f%d%s;", r, at));
        used = true;
    }
    int to = q->feeds;
    bool hands = to >= 0 && q->takes[0] == role, gets = to >= 0 && ring[to].takes[0] == role;
    if (hands) n = seq(n, hand_on(r, p, role));
    if (gets) n = seq(n, reader(to, role, p, 0));
    for (int i = 0; i < q->many_take && to < 0; i++)
        if (q->takes[i] == role) used = true, n = seq(n, reader(r, role, p, i));
    if (used || hands) n = seq(wait_once(r, role, p), seq(n, next_slot(r, role)));
    if (hands || gets) n = seq(n, next_slot(to, role));
    return n;
}

/* ---- projections ---- */

static Node *project(const Part *p, int role);

static Node *body_at(const Part *p, int role, const char *index)
{
    index_now[p->depth] = index, bound_now[p->depth] = expand(p->what);
    return project(p->body, role);
}

/* Arrivals of rings without slots are counted by statements. */
static bool may_be_in_other_words(const Part *p, int role)
{
    bool unroll = p->depth == 0;
    for (int r = 0; r < rings; r++) {
        if (ring[r].take == STORE_LATE && ring[r].takes[0] == role) return false;
        unroll &= ring[r].slots > 1 || odds(5);
    }
    return unroll;
}

static Node *loop(const Part *p, int role)
{
    static const char *const names[DEPTH] = {"i", "j", "k"};
    const char *name = names[p->depth], *to = expand(p->what);
    Node *body, *more;
    int how = role == ROLES || !may_be_in_other_words(p, role) ? 9 : some(8);
    if (how == 0) {
        body = body_at(p, role, text("(%s * 2)", name));
        body = seq(body, body_at(p, role, text("(%s * 2 + 1)", name)));
        more = body ? body_at(p, role, text("((%s) / 2 * 2 + %s)", to, name)) : NULL;
        if (!body) return NULL;
        has(F_UNROLLED);
        return seq(braces(body, "for %s in (%s) / 2", name, to), braces(more, "for %s in (%s) %% 2", name, to));
    }
    if (how == 1) {
        const char *cut = text("min(%s, %d)", to, PICK(1, 2, 3));
        if (!(body = body_at(p, role, name))) return NULL;
        has(F_SPLIT);
        more = body_at(p, role, name);
        return seq(braces(body, "for %s in 0 .. %s", name, cut), braces(more, "for %s in %s .. %s", name, cut, to));
    }
    if (how == 2) {
        int by = PICK(1, 2, 3);
        if (!(body = body_at(p, role, text("(%s - %d)", name, by)))) return NULL;
        has(F_SHIFTED);
        return braces(body, "for %s in %d .. %s + %d", name, by, to, by);
    }
    body = body_at(p, role, name);
    if (!body) return NULL;
    return role < ROLES && odds(5) ? braces(body, "pipeline %s in %s", name, to) : braces(body, "for %s in %s", name, to);
}

static Node *project(const Part *p, int role)
{
    Node *all = NULL;
    for (; p; p = p->next) {
        if (p->kind == TURN) all = seq(all, role == ROLES ? plain_turn(p->ring, p) : role_turn(p->ring, role, p));
        else if (p->kind == LOOP) all = seq(all, loop(p, role));
        else {
            const char *what = expand(p->what);
            Node *body = project(p->body, role), *other = p->other ? project(p->other, role) : NULL;
            if (body || other) all = seq(all, braces(body, "if %s", what));
            if (other) all = seq(all, braces(other, "else"));
        }
    }
    return all;
}

/* ---- kernels ---- */

static Node *declared(bool plain)
{
    Node *n = line("view v = x[:, :, :, :, :];");
    for (int r = 0; r < rings; r++) {
        const char *many = ring[r].slots > 1 ? text("[%d]", ring[r].slots) : "";
        int rows = ring[r].rows * (ring[r].stacked && !plain ? ring[r].slots : 1);
        for (int t = 0; t < ring[r].tiles; t++)
            n = seq(n, line("shared %c%d: %s%s[%d, 16];", t ? 'u' : 't', r, elem_info(element)->name, plain || ring[r].stacked ? "" : many, rows));
        if (*ring[r].cache) n = seq(n, line("policy p%d = %s%s;", r, word_of(WORDS_CACHE), some(2) ? "" : " fraction 0.5"));
        for (int t = 0; t < ring[r].many_take && ring[r].take == STORE_THREADS; t++)
            n = seq(n, line("shared w%d%d: %s[%d, 16];", r, t, elem_info(element)->name, ring[r].rows));
        if (!plain) n = seq(n, seq(line("barrier f%d%s;", r, many), line("barrier e%d%s free;", r, many)));
    }
    return n;
}

static Node *role_node(const Part *top, int role)
{
    for (int r = 0; r < rings; r++) counted[role][r] = odds(60);
    Node *body = project(top, role), *vars = NULL;
    for (int r = 0; r < rings && body; r++)
        for (int k = 0; k < 3; k++)
            if (in_text(body, text("%c%d", "sbc"[k], r))) vars = seq(vars, line("var %c%d = 0;", "sbc"[k], r));
    if (!body) return NULL;
    threads_of[role] = in_text(body, "via threads") || in_text(body, "fill ");
    return braces(seq(vars, body), "role %s%s", NAME[role], threads_of[role] ? text(" threads %d", PICK(32, 32, 64, 128)) : "");
}

void draw_case(Case *c)
{
    int list[4], n = 0, grid = PICK(1, 2, 3, 4);
    *c = (Case){0};
    now = c, parts = 0, places = 0;
    element = odds(70) ? TYPE_S32 : TYPE_U32, newer = odds(15);
    ctas = PICK(1, 1, 1, 1, 1, 2, 2, 4), roles = PICK(2, 2, 3, 3, 4);
    if (ctas > 1) has(F_CLUSTER), grid = 4;
    draw_rings();
    for (int r = 0; r < rings; r++)
        if (ring[r].fed < 0) list[n++] = r;
    if (odds(15) && n < 3) list[n] = list[n - 1], n++;
    const Part *top = draw_parts(list, n, 0, true, "n");
    once = odds(15) ? TO_COME : NEVER;
    for (int r = 0; r < rings; r++)
        ring[r].plain = n == 1 && top->kind == LOOP && top->body->kind == TURN;
    const char *cluster = ctas > 1 ? text(" cluster (%d)", ctas) : "", *facts = some(3) ? " where n >= 0, m >= 0" : "";
    const char *type = elem_info(element)->name;
    const char *head = text("%skernel k(x: global %s[G, P, A, B, 16], y: global %s[G, P, A, B, 16], tab: global s32[T], n: s64, m: s64) grid (%d)%s%s",
                            newer ? "target sm_100a; " : "", type, type, grid, cluster, facts);
    Node *all = NULL;
    for (int role = 0; role < roles; role++) all = seq(all, role_node(top, role));
    Node *barriers = declared(false);
    if (once == STANDS) barriers = seq(barriers, line("barrier once;")), all = seq(all, braces(line("arrive once;"), "role other"));
    c->kernel = braces(seq(barriers, braces(all, "roles")), "%s", head);
    Node *plain = project(top, ROLES);
    c->plain = braces(seq(declared(true), plain), "%s", head);
}
