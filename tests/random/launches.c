/* Other launches of a program: its sizes, its scalars and what stands in its tables. */
#include <string.h>

#include "program.h"

enum { LARGER = 10, SMALL = 40, ONE_SIZE = 3, SIZE_MOST = 4096, ELEMENTS_MOST = 1 << 20 };

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
        x->first = keep(p, (size_t)(tensor_elements(p, x) * type_size(x->type)));
        for (int64_t i = 0; i < tensor_elements(p, x); i++)
            value_store(x->type, x->first + i * type_size(x->type), rng_in(r, low, high));
    }
}

int launches(const Program *p)
{
    return LARGER + SMALL + ONE_SIZE * p->nsizes;
}

Home home_of(Program *p)
{
    Home h;
    memcpy(h.size, p->size, sizeof h.size);
    for (int t = 0; t < p->ntensors; t++) h.first[t] = p->tensor[t].first, h.data[t] = p->tensor[t].data;
    return h;
}

void go_home(Program *p, const Home *h)
{
    memcpy(p->size, h->size, sizeof h->size);
    for (int t = 0; t < p->ntensors; t++) p->tensor[t].first = h->first[t], p->tensor[t].data = h->data[t];
}

bool take_launch(Program *p, const Home *h, int launch)
{
    Rng r = {UINT64_C(0x9e3779b97f4a7c15) * (uint64_t)(launch + 1)};
    int small = launch - LARGER, one = small - SMALL;
    go_home(p, h);
    if (launch) other_tables(p, &r);
    return small < 0 ? other_launch(p, &r, launch) : one < 0 ? small_launch(p, &r) : one_size(p, one / ONE_SIZE, one % ONE_SIZE);
}

void fill_anew(Program *p, int launch)
{
    Rng r = {(uint64_t)launch + 1};
    for (int t = 0; t < p->ntensors; t++) {
        Tensor *x = &p->tensor[t];
        if (x->base >= 0) continue;
        if (!x->index) tensor_fill(p, x, &r);
        x->data = keep(p, (size_t)tensor_elements(p, x) * 8);
    }
}
