/* Equal scalars are one node: a value of which nothing is known, `idx[i]` or `i ^ 1`, is then the same one wherever it is written
 * out. (A tensor that is read as a scalar is not written; what reads a variable is made anew when that changes.) */
#include "lower/schedule/versions/versions.h"

static uint32_t hash_pointer(const void *p, uint32_t h)
{
    return (h ^ (uint32_t)(((uint64_t)(uintptr_t)p * UINT64_C(0x9E3779B97F4A7C15)) >> 32)) * 0x85ebca6bu;
}

static uint32_t hash_node(const Sx *x)
{
    uint32_t h = hash_pointer(x->b, hash_pointer(x->a, x->op * 0x9e3779b1u + (uint32_t)x->k + 1));
    for (int i = 0; x->op == SX_LOAD && i < x->tensor->rank; i++) h = hash_pointer(x->idx[i], h);
    return h ^ (h >> 15);
}

static bool equal(const Sx *x, const Sx *y)
{
    bool same = x->op == y->op && x->k == y->k && x->a == y->a && x->b == y->b && x->tensor == y->tensor;
    for (int i = 0; same && x->op == SX_LOAD && i < x->tensor->rank; i++) same = x->idx[i] == y->idx[i];
    return same;
}

/* Nodes by what they are (made of nodes that are one), and by where they are: what each one is. */
static SameNode *find(SameTable *t, const Sx *x, bool by_place)
{
    uint32_t h = (by_place ? hash_pointer(x, 1) : hash_node(x)) & (t->cap - 1);
    while (t->node[h].of && (by_place ? t->node[h].of != x : !equal(t->node[h].of, x))) h = (h + 1) & (t->cap - 1);
    return &t->node[h];
}

static void grow(Lower *L, SameTable *t, bool by_place)
{
    if (t->n * 2 < t->cap) return;
    SameTable old = *t;
    t->cap = old.cap ? old.cap * 2 : 64;
    t->node = arena_array(L->a, SameNode, t->cap);
    for (uint32_t i = 0; i < old.cap; i++)
        if (old.node[i].of) *find(t, old.node[i].of, by_place) = old.node[i];
}

static void add(SameTable *t, const Sx *of, const Sx *is, bool by_place)
{
    *find(t, of, by_place) = (SameNode){of, is};
    t->n++;
}

const Sx *same_node(Versions *v, const Sx *x)
{
    Lower *L = v->L;
    if (x == NULL) return x;
    grow(L, &v->places, true);
    const SameNode *known = find(&v->places, x, true);
    if (known->of) return known->is;
    Sx y = *x;
    y.a = same_node(v, x->a);
    y.b = same_node(v, x->b);
    bool changed = y.a != x->a || y.b != x->b;
    if (x->op == SX_LOAD) {
        const Sx **idx = arena_array(L->a, const Sx *, (size_t)x->tensor->rank);
        for (int i = 0; i < x->tensor->rank; i++) {
            idx[i] = same_node(v, x->idx[i]);
            changed |= idx[i] != x->idx[i];
        }
        y.idx = idx;
    }
    grow(L, &v->nodes, false);
    const SameNode *n = find(&v->nodes, &y, false);
    const Sx *is = n->is;
    if (n->of == NULL) {
        if (changed) {
            Sx *copy = arena_new(L->a, Sx);
            *copy = y;
            is = copy;
        } else {
            is = x;
        }
        add(&v->nodes, is, is, false);
    }
    grow(L, &v->places, true);
    add(&v->places, x, is, true);
    return is;
}
