/* Numbers of accesses in a ring's records, which are of its last generations: what has surely left them gives its number to one
 * that is of its kind, so that long programs have short records. For that so many generations as there are slots begin in the walk
 * between the two, from the end of the outermost block around the one to the beginning of the other's. */
#include "lower/verify/tree/state.h"

typedef struct Number {
    uint32_t number, behind; /* of accesses; how many have begun behind the last that has it */
} Number;
typedef struct Kind {
    uint64_t is;
    VEC(Number) numbers;
    uint32_t oldest;
} Kind;

static uint64_t kind_of(const TreeAccess *x)
{
    return (uint64_t)x->event << 32 | (uint64_t)x->at << 24 | (uint64_t)x->rank << 16 | (uint64_t)x->agent << 8 | (uint64_t)x->how << 4 | (uint64_t)x->write << 1 | x->one;
}

static uint32_t number_of(TreeFacts *f, TreeRing *r, Kind *k, uint32_t before, uint32_t behind)
{
    Number *n = k->numbers.n ? &k->numbers.v[k->oldest] : NULL;
    if (n && before >= n->behind && before - n->behind >= r->slots) {
        k->oldest = (k->oldest + 1) % k->numbers.n;
        n->behind = behind;
        return n->number;
    }
    vec_push(f->a, &k->numbers, ((Number){r->numbers, behind}));
    return r->numbers++;
}

bool tree_surely(const TreeFacts *f, uint32_t op, uint32_t block)
{
    uint32_t b = f->at[op].around;
    while (b && b != block && tree_op(f, b - 1)->op == IR_LOOP && tree_trips(tree_op(f, b - 1)) > 0) b = f->at[b - 1].around;
    return b == block;
}

void tree_numbers(TreeFacts *f, TreeRing *r)
{
    VEC(Kind) kinds = {NULL, 0, 0};
    uint32_t next = 0, before = 0, behind = 0, last = 0;
    if (r->base + 2 * r->access.n <= WORD) { /* it is as short as it can be */
        for (; r->numbers < r->access.n; r->numbers++) f->access.v[r->access.v[r->numbers]].number = r->numbers;
        r->now = r->access.v;
        return;
    }
    for (uint32_t i = 0; i < r->access.n; i++) {
        TreeAccess *x = &f->access.v[r->access.v[i]];
        uint32_t at = 0, outer = x->op;
        if (i == 0 || x->op > last) {
            while (f->at[outer].around) outer = f->at[outer].around - 1;
            for (before = behind; next < r->begun.n && r->begun.v[next] < outer; next++) before += tree_surely(f, r->begun.v[next], 0);
            last = tree_last(f, outer);
            for (behind = before; next < r->begun.n && r->begun.v[next] <= last; next++) behind += tree_surely(f, r->begun.v[next], 0);
        }
        while (at < kinds.n && kinds.v[at].is != kind_of(x)) at++;
        if (at == kinds.n) vec_push(f->a, &kinds, (Kind){.is = kind_of(x)});
        x->number = number_of(f, r, &kinds.v[at], before, behind);
    }
    r->now = arena_array(f->a, uint32_t, r->numbers);
}

uint32_t tree_now(TreeFacts *f, uint32_t op, uint32_t from)
{
    for (uint32_t last = tree_last(f, op); from < f->access.n && f->access.v[from].op <= last; from++)
        f->ring[f->access.v[from].ring].now[f->access.v[from].number] = from;
    return from;
}
