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
    uint64_t what = (uint64_t)x->how << 4 | (uint64_t)x->generic << 2 | (uint64_t)x->write << 1 | x->one;
    return (uint64_t)x->event << 32 | (uint64_t)x->at << 24 | (uint64_t)x->rank << 16 | (uint64_t)x->agent << 8 | what;
}

static uint32_t new_bit(TreeRing *r, const TreeAccess *x) /* or two, of one word */
{
    uint32_t bit_ = x->generic ? (r->bits + 1) & ~1u : r->bits;
    r->bits = bit_ + 1 + x->generic;
    return bit_;
}

static uint32_t number_of(TreeFacts *f, TreeRing *r, Kind *k, const TreeAccess *x, uint32_t before, uint32_t behind)
{
    Number *n = k->numbers.n ? &k->numbers.v[k->oldest] : NULL;
    if (n && before >= n->behind && before - n->behind >= r->slots) {
        k->oldest = (k->oldest + 1) % k->numbers.n;
        n->behind = behind;
        return n->number;
    }
    vec_push(f->a, &k->numbers, ((Number){new_bit(r, x), behind}));
    return k->numbers.v[k->numbers.n - 1].number;
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
    bool once = r->begun.n <= r->slots || r->bits + 2 * r->access.n <= WORD; /* none can go on, or they are as few as can be */
    for (uint32_t i = 0; i < r->access.n; i++) {
        TreeAccess *x = &f->access.v[r->access.v[i]];
        uint32_t at = 0, outer = x->op;
        if (once) {
            x->over = new_bit(r, x);
            continue;
        }
        if (i == 0 || x->op > last) {
            while (f->at[outer].around) outer = f->at[outer].around - 1;
            for (before = behind; next < r->begun.n && r->begun.v[next] < outer; next++) before += tree_surely(f, r->begun.v[next], 0);
            last = tree_last(f, outer);
            for (behind = before; next < r->begun.n && r->begun.v[next] <= last; next++) behind += tree_surely(f, r->begun.v[next], 0);
        }
        while (at < kinds.n && kinds.v[at].is != kind_of(x)) at++;
        if (at == kinds.n) vec_push(f->a, &kinds, (Kind){.is = kind_of(x)});
        x->over = number_of(f, r, &kinds.v[at], x, before, behind);
    }
    r->now = arena_array(f->a, uint32_t, r->bits);
}

uint32_t tree_now(TreeFacts *f, uint32_t op, uint32_t from)
{
    for (uint32_t last = tree_last(f, op); from < f->access.n && f->access.v[from].op <= last; from++) {
        const TreeAccess *x = &f->access.v[from];
        for (uint32_t b = x->over; b <= x->over + x->generic; b++) f->ring[x->ring].now[b] = from;
    }
    return from;
}
