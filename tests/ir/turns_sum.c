/* Numbers of a launch: drawn, made, worked out. */
#include <stdlib.h>
#include <string.h>

#include "drawn.h"
#include "turns.h"

#define WORD(kind, word, call) word,
const char *const KIND_WORD[KINDS] = {TURNS_KINDS(WORD)};
#undef WORD
enum { NODES = 8192 };
static Sum node[NODES];
static int nodes;
static uint64_t state;

void sums_begin(uint64_t seed)
{
    state = drawn_begin(seed);
    nodes = 0;
}

int64_t some(int64_t n)
{
    return drawn_below(&state, n);
}

int64_t pick(const int64_t *list, int64_t n)
{
    return list[some(n)];
}

static const Sum *make(Kind k, int64_t n, const Sum *a, const Sum *b)
{
    if (nodes == NODES) abort();
    node[nodes] = (Sum){k, n, a, b};
    return &node[nodes++];
}

const Sum *number(int64_t n)
{
    return make(NUMBER, n, NULL, NULL);
}

const Sum *named(int name)
{
    return make(NAME, name, NULL, NULL);
}

const Sum *op(Kind k, const Sum *a, const Sum *b)
{
    return make(k, 0, a, b);
}

const Sum *draw_sum(int depth)
{
    if (depth == 0 || some(5) == 0)
        return some(4) ? named((int)some(LAUNCH_NAMES)) : number(PICK(0, 1, 2, 3, 4, 5, 8, -1, -2, -5, 20));
    Kind k = (Kind)PICK(ADD, SUB, MIN, MAX, MIN, MAX, MUL, DIV, MOD, CEIL, ADD, SUB, SHL, SHR, AND);
    const Sum *a = draw_sum(depth - 1);
    if (k == DIV || k == MOD || k == CEIL || k == MUL) return op(k, a, number(PICK(1, 2, 3, 4, 7, 8)));
    if (k == SHL || k == SHR) return op(k, a, number(some(3)));
    if (k == AND) return op(k, a, number(PICK(1, 3, 7)));
    return op(k, a, draw_sum(depth - 1));
}

int64_t value(const Sum *s, const int64_t *names)
{
    if (s->kind == NUMBER) return s->n;
    if (s->kind == NAME) return names[s->n];
    int64_t a = value(s->a, names), b = value(s->b, names), q = b ? a / b - (a % b && (a < 0) != (b < 0)) : 0;
    switch (s->kind) {
    case ADD: return a + b;
    case SUB: return a - b;
    case MUL: return a * b;
    case DIV: return q;
    case MOD: return a - q * b;
    case CEIL: return q + (a != q * b);
    case MIN: return a < b ? a : b;
    case MAX: return a > b ? a : b;
    case SHL: return a * (INT64_C(1) << b);
    case SHR: return a >= 0 ? a >> b : ~(~a >> b);
    case AND: return a & b;
    case EQ: return a == b;
    case NE: return a != b;
    case LT: return a < b;
    default: return a >= b;
    }
}

void count_forms(const Sum *s, long *counts)
{
    counts[s->kind]++;
    if (s->a) count_forms(s->a, counts), count_forms(s->b, counts);
}

/* ---- facts ---- */

static bool n_0(int64_t n, int64_t m) { (void)m; return n >= 0; }
static bool m_0(int64_t n, int64_t m) { (void)n; return m >= 0; }
static bool n_5(int64_t n, int64_t m) { (void)m; return n >= 5; }
static bool m_8(int64_t n, int64_t m) { (void)n; return m <= 8; }
static bool n_m(int64_t n, int64_t m) { return n <= m; }
static bool even(int64_t n, int64_t m) { (void)m; return n % 2 == 0; }
static const Fact FACT[] = {{"n >= 0", n_0}, {"m >= 0", m_0}, {"n >= 5", n_5}, {"m <= 8", m_8}, {"n <= m", n_m}, {"n % 2 == 0", even}};

const Fact *fact(int i)
{
    return &FACT[i];
}

const Fact *draw_fact(void)
{
    return &FACT[some((int64_t)(sizeof FACT / sizeof *FACT))];
}

bool facts_hold(const Fact *const *fact, const int64_t *names)
{
    bool hold = true;
    for (int i = 0; i < FACTS && fact[i]; i++) hold &= fact[i]->holds(names[N], names[M]);
    return hold;
}
