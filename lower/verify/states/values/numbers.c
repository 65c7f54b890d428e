/* Linear forms, and what follows from such: by Fourier and Motzkin, one atom after the other goes. */
#include <stdlib.h>

#include "lang/checked.h"
#include "lower/verify/states/values/numbers.h"

enum { TERMS = 24, COLUMNS = 24, ROWS = 320, ASKED = 256, COLUMNS_FEW = 14 };

typedef struct Row {
    int64_t k, c[COLUMNS];
} Row;
typedef struct Table {
    uint32_t atoms[COLUMNS], columns, n;
    Row row[ROWS];
} Table;

void numbers_init(Numbers *n, Arena *a)
{
    *n = (Numbers){.arena = a, .names = names_new(a), .asked = names_new(a), .table = arena_new(a, Table), .spare = arena_new(a, Table)};
}

static Num made(Numbers *n, int64_t k, const NumTerm *t, uint32_t terms)
{
    struct { /* no padding in between */
        int64_t k[1 + 2 * TERMS];
    } key;
    if (k == INT64_MIN) return 0; /* so each has its contrary */
    key.k[0] = k;
    for (uint32_t i = 0; i < terms; i++) {
        key.k[1 + 2 * i] = t[i].c;
        key.k[2 + 2 * i] = t[i].atom;
    }
    Num x = names_intern(n->names, (const char *)&key, (1 + 2 * terms) * sizeof(int64_t));
    if (x <= n->all.n) return x;
    NumData *d = arena_alloc(n->arena, sizeof *d + terms * sizeof *t);
    d->k = k;
    d->n = terms;
    for (uint32_t i = 0; i < terms; i++) d->t[i] = t[i];
    vec_push(n->arena, &n->all, d);
    return x;
}

Num num_const(Numbers *n, int64_t k)
{
    return made(n, k, NULL, 0);
}

Num num_atom(Numbers *n, uint32_t atom)
{
    return made(n, 0, &(NumTerm){1, atom}, 1);
}

Num num_add(Numbers *n, Num x, int64_t m, Num y)
{
    NumTerm t[2 * TERMS];
    uint32_t terms = 0;
    int64_t k, far;
    if (x == 0 || y == 0) return 0;
    const NumData *a = num_data(n, x), *b = num_data(n, y);
    if (!mul_s64(b->k, m, &far) || !add_s64(a->k, far, &k)) return 0;
    for (uint32_t i = 0, j = 0; i < a->n || j < b->n;) {
        NumTerm *to = &t[terms];
        int64_t c = 0;
        if (j == b->n || (i < a->n && a->t[i].atom < b->t[j].atom)) {
            *to = a->t[i++];
        } else {
            bool both = i < a->n && a->t[i].atom == b->t[j].atom;
            if (!mul_s64(b->t[j].c, m, &c) || !add_s64(c, both ? a->t[i].c : 0, &c) || c == INT64_MIN) return 0;
            *to = (NumTerm){c, b->t[j++].atom};
            i += both;
        }
        terms += to->c != 0;
    }
    return terms > TERMS ? 0 : made(n, k, t, terms);
}

Num num_plus(Numbers *n, Num x, int64_t k)
{
    return num_add(n, x, 1, num_const(n, k));
}

Num num_times(Numbers *n, int64_t k, Num x)
{
    return num_add(n, num_const(n, 0), k, x);
}

Num num_contrary(Numbers *n, Num x)
{
    return num_add(n, num_const(n, -1), -1, x);
}

Num num_div(Numbers *n, Num x, int64_t d)
{
    const NumData *a = num_data(n, x);
    NumTerm t[TERMS];
    for (uint32_t i = 0; i < a->n; i++) {
        if (a->t[i].c % d) return 0;
        t[i] = (NumTerm){a->t[i].c / d, a->t[i].atom};
    }
    return made(n, floor_div_by(a->k, d), t, a->n);
}

bool num_same_terms(const NumData *a, const NumData *b)
{
    if (a->n != b->n) return false;
    for (uint32_t i = 0; i < a->n; i++)
        if (a->t[i].atom != b->t[i].atom || a->t[i].c != b->t[i].c) return false;
    return true;
}

int num_compare(const Numbers *n, Num x, Num y)
{
    if (x == y) return 0;
    const NumData *a = num_data(n, x), *b = num_data(n, y);
    for (uint32_t i = 0; i < a->n && i < b->n; i++) {
        if (a->t[i].atom != b->t[i].atom) return a->t[i].atom < b->t[i].atom ? -1 : 1;
        if (a->t[i].c != b->t[i].c) return a->t[i].c < b->t[i].c ? -1 : 1;
    }
    if (a->n != b->n) return a->n < b->n ? -1 : 1;
    return a->k < b->k ? -1 : 1;
}

int64_t num_coefficient(const Numbers *n, Num x, uint32_t atom)
{
    const NumData *a = num_data(n, x);
    for (uint32_t i = 0; i < a->n; i++)
        if (a->t[i].atom == atom) return a->t[i].c;
    return 0;
}

Num num_put(Numbers *n, Num x, uint32_t atom, Num y)
{
    int64_t c = x ? num_coefficient(n, x, atom) : 0;
    return c == 0 ? x : num_add(n, num_add(n, x, -c, num_atom(n, atom)), c, y);
}

const char *num_text(const Numbers *n, Arena *a, Num x, const char *(*name)(void *of, uint32_t atom), void *of)
{
    const NumData *d = num_data(n, x);
    const char *s = "";
    for (uint32_t i = 0; i < d->n; i++) {
        int64_t c = d->t[i].c;
        const char *sign = c < 0 ? (i ? " - " : "-") : i ? " + " : "", *what = name(of, d->t[i].atom);
        s = c == 1 || c == -1 ? arena_printf(a, "%s%s%s", s, sign, what) : arena_printf(a, "%s%s%lld * %s", s, sign, (long long)(c < 0 ? -c : c), what);
    }
    if (d->n == 0) return arena_printf(a, "%lld", (long long)d->k);
    return d->k == 0 ? s : arena_printf(a, "%s %s %lld", s, d->k < 0 ? "-" : "+", (long long)(d->k < 0 ? -d->k : d->k));
}

/* ---- facts ---- */

Facts facts_copy(Arena *a, const Facts *f)
{
    Facts to = {arena_array(a, Num, f->n + 4), f->n, f->n + 4};
    if (f->n) memcpy(to.v, f->v, f->n * sizeof *f->v);
    return to;
}

/* The same of whole numbers, with the least coefficients. */
static Num tight(Numbers *n, Num x)
{
    const NumData *a = num_data(n, x);
    int64_t g = 0;
    for (uint32_t i = 0; i < a->n; i++) g = gcd_s64(g, a->t[i].c);
    return g > 1 ? num_div(n, x, g) : x;
}

bool facts_add(Numbers *n, Arena *a, Facts *f, Num x)
{
    int64_t k;
    if (x == 0) return true; /* less is known */
    if (num_is(n, x, &k)) return k >= 0;
    x = tight(n, x);
    for (uint32_t i = 0; i < f->n; i++) {
        if (!num_same_terms(num_data(n, f->v[i]), num_data(n, x))) continue;
        if (num_data(n, x)->k < num_data(n, f->v[i])->k) f->v[i] = x;
        return true;
    }
    if (f->n == f->cap) {
        uint32_t cap = f->cap * 2 + 8;
        f->v = arena_grow(a, f->v, f->cap * sizeof *f->v, cap * sizeof *f->v);
        f->cap = cap;
    }
    f->v[f->n++] = x;
    return true;
}

/* Room for its atoms; false: there is none. */
static bool table_has(const Numbers *n, Table *t, Num x, uint32_t most)
{
    const NumData *d = num_data(n, x);
    uint32_t columns = t->columns;
    for (uint32_t i = 0; i < d->n; i++) {
        uint32_t c = 0;
        while (c < columns && t->atoms[c] != d->t[i].atom) c++;
        if (c < columns) continue;
        if (columns >= most) return false;
        t->atoms[columns++] = d->t[i].atom;
    }
    t->columns = columns;
    return true;
}

static void table_add(const Numbers *n, Table *t, Num x)
{
    const NumData *d = num_data(n, x);
    Row *r = &t->row[t->n++];
    *r = (Row){.k = d->k};
    for (uint32_t i = 0; i < d->n; i++) {
        uint32_t c = 0;
        while (t->atoms[c] != d->t[i].atom) c++;
        r->c[c] = d->t[i].c;
    }
}

/* x * m + y * l, divided by what its coefficients have in common; false: it doesn't fit */
static bool row_combine(const Row *x, int64_t m, const Row *y, int64_t l, uint32_t columns, Row *out)
{
    int64_t g = 0;
    *out = (Row){0};
    for (uint32_t i = 0; i <= columns; i++) {
        int64_t a, b, *to = i == columns ? &out->k : &out->c[i];
        if (!mul_s64(i == columns ? x->k : x->c[i], m, &a) || !mul_s64(i == columns ? y->k : y->c[i], l, &b) || !add_s64(a, b, to) || *to == INT64_MIN) return false;
        if (i < columns) g = gcd_s64(g, *to);
    }
    for (uint32_t i = 0; i < columns && g > 1; i++) out->c[i] /= g;
    if (g > 1) out->k = floor_div_by(out->k, g);
    return true;
}

/* A row that is new, or says more than one before. False: it can't hold. */
static bool row_keep(Table *t, const Row *r)
{
    bool empty = true;
    for (uint32_t i = 0; i < t->columns; i++) empty &= r->c[i] == 0;
    if (empty) return r->k >= 0;
    for (uint32_t i = 0; i < t->n; i++) {
        if (memcmp(t->row[i].c, r->c, sizeof r->c) != 0) continue;
        if (r->k < t->row[i].k) t->row[i].k = r->k;
        return true;
    }
    if (t->n < ROWS) t->row[t->n++] = *r; /* else less is known */
    return true;
}

/* The atom whose going makes the fewest rows. */
static uint32_t cheapest(const Table *t)
{
    uint32_t best = t->columns;
    uint64_t least = UINT64_MAX;
    for (uint32_t c = 0; c < t->columns; c++) {
        uint64_t up = 0, down = 0;
        for (uint32_t i = 0; i < t->n; i++) {
            up += t->row[i].c[c] > 0;
            down += t->row[i].c[c] < 0;
        }
        if (up + down && up * down < least) {
            least = up * down;
            best = c;
        }
    }
    return best;
}

/* False: it can't hold. */
static bool eliminate(Numbers *n, uint32_t c)
{
    const Table *t = n->table;
    Table *to = n->spare;
    to->n = 0;
    to->columns = t->columns;
    for (uint32_t i = 0; i < t->n; i++) {
        const Row *x = &t->row[i];
        if (x->c[c] == 0 && !row_keep(to, x)) return false;
        for (uint32_t j = 0; j < t->n && x->c[c] > 0; j++) {
            const Row *y = &t->row[j];
            Row r;
            if (y->c[c] >= 0) continue;
            n->work++;
            int64_t g = gcd_s64(x->c[c], y->c[c]);
            if (row_combine(x, -y->c[c] / g, y, x->c[c] / g, t->columns, &r) && !row_keep(to, &r)) return false;
        }
    }
    n->spare = n->table;
    n->table = to;
    return true;
}

static bool unsolvable(Numbers *n)
{
    uint32_t c;
    while ((c = cheapest(n->table)) < n->table->columns)
        if (!eliminate(n, c)) return true;
    return false;
}

static bool shares(const Table *t, uint32_t columns, const NumData *d)
{
    for (uint32_t i = 0; i < d->n; i++)
        for (uint32_t c = 0; c < columns; c++)
            if (t->atoms[c] == d->t[i].atom) return true;
    return false;
}

/* Facts that have to do with x, the nearest first; x 0: all. False: they have more atoms, and those with others are left out. */
static bool gather(Numbers *n, const Facts *f, Num x, uint32_t most, Num *with, uint32_t *m)
{
    bool used[ASKED] = {0}, more = true, all = f->n <= ASKED;
    Table *t = n->table;
    t->columns = t->n = *m = 0;
    n->work += f->n;
    if (x && !table_has(n, t, x, COLUMNS)) return false;
    while (more) {
        uint32_t columns = t->columns;
        more = false;
        for (uint32_t i = 0; i < f->n && i < ASKED; i++) {
            if (used[i] || (x && !shares(t, columns, num_data(n, f->v[i])))) continue;
            used[i] = more = true;
            if (table_has(n, t, f->v[i], most)) with[(*m)++] = f->v[i];
            else all = false;
        }
    }
    return all;
}

static void by_number(Num *v, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t j = i; j > 0 && v[j] < v[j - 1]; j--) {
            Num x = v[j];
            v[j] = v[j - 1];
            v[j - 1] = x;
        }
}

/* In one order, whichever of them was made first. */
static void by_content(const Numbers *n, Num *v, uint32_t m)
{
    for (uint32_t i = 1; i < m; i++)
        for (uint32_t j = i; j > 0 && num_compare(n, v[j], v[j - 1]) < 0; j--) {
            Num x = v[j];
            v[j] = v[j - 1];
            v[j - 1] = x;
        }
}

/* No numbers are as these facts say and as x >= 0; x 0: as the facts. With fewer of them less is known. */
static bool impossible(Numbers *n, const Facts *f, Num x)
{
    Num with[ASKED + 1];
    uint32_t m;
    if (!gather(n, f, x, COLUMNS, with, &m)) gather(n, f, x, COLUMNS_FEW, with, &m);
    if (x && n->table->columns == 0) return false;
    by_number(with, m);
    with[m] = x;
    Name q = names_intern(n->asked, (const char *)with, (m + 1) * sizeof *with);
    if (q > n->answers.n) {
        by_content(n, with, m);
        for (uint32_t i = 0; i < m; i++) table_add(n, n->table, with[i]);
        if (x) table_add(n, n->table, x);
        bool out = unsolvable(n);
        vec_push(n->arena, &n->answers, out);
    }
    return n->answers.v[q - 1];
}

/* By what is known of each of its atoms alone. */
static bool by_bounds(const Numbers *n, const Facts *f, Num x)
{
    const NumData *d = num_data(n, x);
    int64_t least = d->k;
    for (uint32_t i = 0; i < d->n; i++) {
        int64_t c = d->t[i].c, part;
        bool found = false;
        for (uint32_t j = 0; j < f->n && !found; j++) {
            const NumData *g = num_data(n, f->v[j]);
            found = g->n == 1 && g->t[0].atom == d->t[i].atom && (g->t[0].c == 1 || g->t[0].c == -1) && (g->t[0].c > 0) == (c > 0);
            if (found && (!mul_s64(g->k, c > 0 ? -c : c, &part) || !add_s64(least, part, &least))) return false;
        }
        if (!found) return false;
    }
    return least >= 0;
}

/* What was told apart is known from then on, however many facts there are. */
static bool is_among(const Numbers *n, const Facts *f, Num x)
{
    const NumData *d = num_data(n, x);
    for (uint32_t i = 0; i < f->n; i++) {
        const NumData *g = num_data(n, f->v[i]);
        if (g->k <= d->k && num_same_terms(g, d)) return true;
    }
    return false;
}

bool facts_imply(Numbers *n, const Facts *f, Num x)
{
    int64_t k;
    if (x == 0) return false;
    if (num_is(n, x, &k)) return k >= 0;
    if (is_among(n, f, tight(n, x)) || by_bounds(n, f, x)) return true;
    Num less = num_contrary(n, x);
    return less && impossible(n, f, tight(n, less));
}

bool facts_fail(Numbers *n, const Facts *f)
{
    return impossible(n, f, 0);
}

bool facts_drop(Numbers *n, Arena *a, Facts *f, uint32_t atom)
{
    Facts was = facts_copy(a, f);
    f->n = 0;
    for (uint32_t i = 0; i < was.n; i++) {
        int64_t c = num_coefficient(n, was.v[i], atom);
        if (c == 0) facts_add(n, a, f, was.v[i]);
        for (uint32_t j = 0; j < was.n && c > 0; j++) {
            int64_t d = num_coefficient(n, was.v[j], atom);
            if (d >= 0) continue;
            int64_t g = gcd_s64(c, d);
            n->work += 1 + f->n / 16;
            if (f->n >= 2 * ASKED) continue; /* less is known */
            if (!facts_add(n, a, f, num_add(n, num_times(n, -d / g, was.v[i]), c / g, was.v[j]))) return false;
        }
    }
    return true;
}
