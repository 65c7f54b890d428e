/* `tilecc run` has the arguments at hand: what a kernel trusts can be looked at before it runs. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tilecc/cli.h"
#include "tilecc/run/args.h"

static bool looked_at(const tile_trust *t, bool distinct)
{
    return t->fact == TILE_TRUST_SORTED || (t->fact == TILE_TRUST_DISTINCT && distinct);
}

static const char *name_of(const tile_kernel *k, const tile_trust *t)
{
    tile_param p;
    tile_param_info(k, t->param, &p);
    return p.name;
}

void run_trusts_say(const tile_kernel *k, bool distinct)
{
    static const char *const FACTS[] = {[TILE_TRUST_DISTINCT] = "distinct", [TILE_TRUST_SORTED] = "sorted"};
    tile_kernel_facts f;
    tile_kernel_info(k, &f);
    for (size_t i = 0; i < f.ntrusts; i++)
        fprintf(stderr, "trusted, %s: %s(%s)\n", looked_at(&f.trusts[i], distinct) ? "checked here" : "not checked",
                FACTS[f.trusts[i].fact], name_of(k, &f.trusts[i]));
}

static int64_t element(const unsigned char *p, tile_type type)
{
    size_t size = (size_t)tile_type_bits(type) / 8;
    uint64_t v = 0;
    for (size_t i = 0; i < size; i++) v |= (uint64_t)p[i] << (8 * i);
    bool is_signed = type >= TILE_S8 && type <= TILE_S64;
    if (is_signed && size < 8 && v >> (8 * size - 1)) v |= UINT64_MAX << (8 * size);
    return (int64_t)v;
}

static bool less(int64_t a, int64_t b, tile_type type)
{
    return type == TILE_U64 ? (uint64_t)a < (uint64_t)b : a < b;
}

/* "[2, 5]", of element i; from malloc. */
static char *place(const RunArg *a, size_t i)
{
    char *text = copy_text("]", 1);
    for (int d = a->param.rank; d-- > 0; i /= (size_t)a->shape[d]) {
        char *longer = printed("%s%zu%s", d ? ", " : "[", i % (size_t)a->shape[d], text);
        free(text);
        text = longer;
    }
    return text;
}

/* The tensor's elements, from malloc; NULL: after a complaint, with its exit code. */
static unsigned char *elements(const RunArg *a, tile_device *d, int *code)
{
    unsigned char *data = must_alloc(a->bytes);
    tile_error e;
    tile_status s = tile_read(d, data, a->address, a->bytes, &e);
    *code = EXIT_OK;
    if (s == TILE_OK) return data;
    complain("%s", e.text);
    *code = exit_code_of(s);
    free(data);
    return NULL;
}

static int check_sorted(const RunArg *a, const unsigned char *data, size_t size)
{
    for (size_t i = 1; i < a->bytes / size; i++) {
        int64_t before = element(data + (i - 1) * size, a->param.type), now = element(data + i * size, a->param.type);
        if (!less(now, before, a->param.type)) continue;
        complain("E1162: the kernel trusts sorted(%s), but %s[%zu] is %" PRId64 " and %s[%zu] is %" PRId64, a->name,
                 a->name, i - 1, before, a->name, i, now);
        return exit_code_of(TILE_ERROR_CHECK);
    }
    return EXIT_OK;
}

typedef struct Placed {
    int64_t row;
    size_t at;
} Placed;

static int by_row(const void *a, const void *b)
{
    const Placed *x = a, *y = b;
    if (x->row != y->row) return x->row < y->row ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* Elements that are a row of no other tensor may be equal. A view may have taken all dimensions but the last for one. */
static int64_t most_rows(const RunArgs *args, const RunArg *index)
{
    int64_t most = 0;
    for (size_t i = 0; i < args->n; i++) {
        const RunArg *a = &args->v[i];
        int64_t rows = 1;
        for (int d = 0; a != index && a->bytes && !a->param.is_scalar && d < a->param.rank; d++) {
            if (a->shape[d] > most) most = a->shape[d];
            if (rows > most) most = rows;
            rows *= a->shape[d];
        }
    }
    return most;
}

static int check_distinct(const RunArg *a, const unsigned char *data, size_t size, int64_t rows)
{
    size_t n = 0;
    int code = EXIT_OK;
    Placed *p = must_alloc(a->bytes / size * sizeof *p);
    for (size_t i = 0; i < a->bytes / size; i++) {
        int64_t row = element(data + i * size, a->param.type);
        if (row >= 0 && row < rows) p[n++] = (Placed){row, i};
    }
    qsort(p, n, sizeof *p, by_row);
    for (size_t i = 1; i < n && code == EXIT_OK; i++) {
        if (p[i].row != p[i - 1].row) continue;
        char *one = place(a, p[i - 1].at), *two = place(a, p[i].at);
        complain("E1162: the kernel trusts distinct(%s), but %s%s and %s%s are both %" PRId64, a->name, a->name, one, a->name, two, p[i].row);
        free(one);
        free(two);
        code = exit_code_of(TILE_ERROR_CHECK);
    }
    free(p);
    return code;
}

static int check(const RunArgs *args, const RunArg *a, tile_device *d, bool sorted)
{
    int code;
    size_t size = (size_t)tile_type_bits(a->param.type) / 8;
    if (a->bytes < 2 * size || (sorted && a->param.rank != 1)) return EXIT_OK;
    unsigned char *data = elements(a, d, &code);
    if (data) code = sorted ? check_sorted(a, data, size) : check_distinct(a, data, size, most_rows(args, a));
    free(data);
    return code;
}

int run_trusts_check(const RunArgs *args, tile_device *d, const tile_kernel *k, bool distinct)
{
    tile_kernel_facts f;
    tile_kernel_info(k, &f);
    for (size_t t = 0; t < f.ntrusts; t++) {
        if (!looked_at(&f.trusts[t], distinct)) continue;
        const char *name = name_of(k, &f.trusts[t]);
        for (size_t i = 0; i < args->n; i++) {
            bool is = strcmp(args->v[i].name, name) == 0 && !args->v[i].param.is_scalar;
            int code = is ? check(args, &args->v[i], d, f.trusts[t].fact == TILE_TRUST_SORTED) : EXIT_OK;
            if (code != EXIT_OK) return code;
        }
    }
    return EXIT_OK;
}
