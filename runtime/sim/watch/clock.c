#include "runtime/sim/watch/clock.h"

#include <string.h>

void clocks_init(ClockPool *p, Mem *mem)
{
    *p = (ClockPool){0};
    arena_init(&p->arena, mem);
}

void clocks_free(ClockPool *p)
{
    arena_free(&p->arena);
    *p = (ClockPool){0};
}

static unsigned size_class(size_t bytes)
{
    unsigned c = 5; /* 32 bytes at least */
    while (c + 1 < POOL_CLASSES && ((size_t)1 << c) < bytes) c++;
    return c;
}

void *pool_take(ClockPool *p, size_t bytes)
{
    unsigned c = size_class(bytes);
    void *o = p->free[c];
    p->live += (size_t)1 << c;
    if (o == NULL) return arena_alloc(&p->arena, (size_t)1 << c);
    memcpy(&p->free[c], o, sizeof(void *));
    return o;
}

void pool_give(ClockPool *p, void *object, size_t bytes)
{
    if (object == NULL) return;
    unsigned c = size_class(bytes);
    p->live -= (size_t)1 << c;
    memcpy(object, &p->free[c], sizeof(void *));
    p->free[c] = object;
}

/* ---- clocks ---- */
static size_t clock_bytes(uint32_t cap)
{
    return sizeof(Clock) + (size_t)cap * sizeof(uint32_t);
}

/* Room for n agents, with none in it. */
static Clock *clock_new(ClockPool *p, uint32_t n)
{
    size_t bytes = (size_t)1 << size_class(clock_bytes(n));
    Clock *c = pool_take(p, bytes);
    *c = (Clock){.refs = 1, .cap = (uint32_t)((bytes - sizeof(Clock)) / sizeof(uint32_t))};
    return c;
}

void clock_drop(ClockPool *p, Clock *c)
{
    if (c && --c->refs == 0) pool_give(p, c, clock_bytes(c->cap));
}

bool clock_covers(const Clock *a, const Clock *b)
{
    if (a == b || b == NULL) return true;
    uint32_t both = a == NULL ? 0 : a->n < b->n ? a->n : b->n, worse = 0;
    for (uint32_t i = 0; i < both; i++) worse |= a->time[i] < b->time[i];
    if (worse) return false;
    for (uint32_t i = both; i < b->n; i++) worse |= b->time[i];
    return !worse;
}

static void raise_all(Clock *c, const Clock *b)
{
    if (c->n < b->n) {
        memset(c->time + c->n, 0, (b->n - c->n) * sizeof(uint32_t));
        c->n = b->n;
    }
    for (uint32_t i = 0; i < b->n; i++) c->time[i] = c->time[i] > b->time[i] ? c->time[i] : b->time[i];
}

static Clock *clock_copy(ClockPool *p, const Clock *c, uint32_t room)
{
    Clock *n = clock_new(p, c->n > room ? c->n : room);
    n->n = c->n;
    memcpy(n->time, c->time, c->n * sizeof(uint32_t));
    return n;
}

static Clock *join_afresh(ClockPool *p, Clock *a, Clock *b)
{
    if (clock_covers(a, b)) return clock_ref(a);
    if (clock_covers(b, a)) return clock_ref(b);
    Clock *c = clock_copy(p, a, b->n);
    raise_all(c, b);
    return c;
}

Clock *clock_join(ClockPool *p, Clock *a, Clock *b)
{
    if (a == b || b == NULL) return clock_ref(a);
    if (a == NULL) return clock_ref(b);
    uintptr_t hash = ((uintptr_t)a >> 5) * 31 + ((uintptr_t)b >> 5);
    size_t at = (hash ^ hash >> 7) % CLOCK_MEMO;
    if (p->memo[at].a == a && p->memo[at].b == b) return clock_ref(p->memo[at].join);
    Clock *c = join_afresh(p, a, b);
    clock_drop(p, p->memo[at].a);
    clock_drop(p, p->memo[at].b);
    clock_drop(p, p->memo[at].join);
    p->memo[at].a = clock_ref(a);
    p->memo[at].b = clock_ref(b);
    p->memo[at].join = clock_ref(c);
    return c;
}

void clock_acquire(ClockPool *p, Clock **into, Clock *b)
{
    if (*into == b || b == NULL) return;
    Clock *c = clock_join(p, *into, b);
    clock_drop(p, *into);
    *into = c;
}

void clock_gather(ClockPool *p, Clock **into, Clock *b)
{
    Clock *c = *into;
    if (c == b || b == NULL) return;
    if (c && c->refs == 1 && b->n <= c->cap) {
        raise_all(c, b);
        return;
    }
    *into = c ? join_afresh(p, c, b) : clock_ref(b);
    clock_drop(p, c);
}

void clock_set(ClockPool *p, Clock **into, uint32_t agent, uint32_t time)
{
    Clock *c = *into;
    if (clock_get(c, agent) >= time) return;
    if (c == NULL || c->refs > 1 || agent >= c->cap) {
        Clock *own = c ? clock_copy(p, c, agent + 1) : clock_new(p, agent + 1);
        clock_drop(p, c);
        *into = c = own;
    }
    if (agent >= c->n) {
        memset(c->time + c->n, 0, (agent + 1 - c->n) * sizeof(uint32_t));
        c->n = agent + 1;
    }
    c->time[agent] = time;
}

/* ---- other clusters ---- */
static size_t foreign_bytes(uint32_t n)
{
    return sizeof(Foreign) + n * sizeof(ForeignEntry);
}

static Foreign *foreign_new(ClockPool *p, uint32_t n)
{
    Foreign *f = pool_take(p, foreign_bytes(n));
    f->refs = 1;
    f->n = n;
    return f;
}

void foreign_drop(ClockPool *p, Foreign *f)
{
    if (f == NULL || --f->refs) return;
    for (uint32_t i = 0; i < f->n; i++) {
        for (int k = 0; k < KNOW_COUNT; k++) clock_drop(p, f->e[i].k[k]);
    }
    pool_give(p, f, foreign_bytes(f->n));
}

const ForeignEntry *foreign_find(const Foreign *f, uint32_t cluster)
{
    uint32_t low = 0, high = f ? f->n : 0;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (f->e[mid].cluster < cluster) low = mid + 1;
        else high = mid;
    }
    return f && low < f->n && f->e[low].cluster == cluster ? &f->e[low] : NULL;
}

static void entry_ref(ForeignEntry *to, const ForeignEntry *from)
{
    *to = *from;
    for (int k = 0; k < KNOW_COUNT; k++) clock_ref(to->k[k]);
}

Foreign *foreign_one(ClockPool *p, uint32_t cluster, Clock *const k[KNOW_COUNT])
{
    Foreign *f = foreign_new(p, 1);
    f->e[0].cluster = cluster;
    for (int i = 0; i < KNOW_COUNT; i++) f->e[0].k[i] = clock_ref(k[i]);
    return f;
}

/* Nothing of b is new to a. */
static bool foreign_covers(const Foreign *a, const Foreign *b, uint32_t except)
{
    uint32_t i = 0;
    for (uint32_t j = 0; j < b->n; j++) {
        if (b->e[j].cluster == except) continue;
        while (i < a->n && a->e[i].cluster < b->e[j].cluster) i++;
        if (i == a->n || a->e[i].cluster != b->e[j].cluster) return false;
        for (int k = 0; k < KNOW_COUNT; k++) {
            if (!clock_covers(a->e[i].k[k], b->e[j].k[k])) return false;
        }
    }
    return true;
}

Foreign *foreign_join(ClockPool *p, Foreign *a, Foreign *b, uint32_t except)
{
    bool clean_a = a == NULL || foreign_find(a, except) == NULL, clean_b = b == NULL || foreign_find(b, except) == NULL;
    if (clean_a && (a == b || b == NULL)) return foreign_ref(a);
    if (clean_b && a == NULL) return foreign_ref(b);
    if (a && b && clean_a && foreign_covers(a, b, except)) return foreign_ref(a);
    if (a && b && clean_b && b->n >= a->n && foreign_covers(b, a, except)) return foreign_ref(b);
    uint32_t na = a ? a->n : 0, nb = b ? b->n : 0, i = 0, j = 0, n = 0;
    size_t room = foreign_bytes(na + nb);
    Foreign *f = pool_take(p, room);
    while (i < na || j < nb) {
        const ForeignEntry *x = i < na ? &a->e[i] : NULL, *y = j < nb ? &b->e[j] : NULL;
        if (x && y && x->cluster != y->cluster) *(x->cluster < y->cluster ? &y : &x) = NULL;
        if (x) i++;
        if (y) j++;
        if ((x ? x : y)->cluster == except) continue;
        ForeignEntry *e = &f->e[n++];
        if (x == NULL || y == NULL) {
            entry_ref(e, x ? x : y);
            continue;
        }
        e->cluster = x->cluster;
        for (int k = 0; k < KNOW_COUNT; k++) e->k[k] = clock_join(p, x->k[k], y->k[k]);
    }
    f->refs = 1;
    f->n = n;
    if (n && size_class(foreign_bytes(n)) == size_class(room)) return f;
    Foreign *fit = n ? foreign_new(p, n) : NULL; /* its size says where it goes back to */
    if (fit) memcpy(fit->e, f->e, n * sizeof *f->e);
    pool_give(p, f, room);
    return fit;
}

Foreign *foreign_raise(ClockPool *p, const Foreign *f, KnowKind from, KnowKind to)
{
    if (f == NULL) return NULL;
    Foreign *r = foreign_new(p, f->n);
    for (uint32_t i = 0; i < f->n; i++) {
        entry_ref(&r->e[i], &f->e[i]);
        clock_acquire(p, &r->e[i].k[to], r->e[i].k[from]);
    }
    return r;
}
