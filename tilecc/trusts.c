/* `tilecc run` has the arguments at hand: what a kernel trusts can be looked at before it runs. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tilecc/cli.h"
#include "tilecc/run_args.h"

/* "sorted(offs)": the name. */
static bool about(const char *trust, const char *what, char *name, size_t room)
{
    size_t n = strlen(what), end = strlen(trust);
    if (strncmp(trust, what, n) != 0 || trust[n] != '(' || end - n - 2 >= room) return false;
    memcpy(name, trust + n + 1, end - n - 2);
    name[end - n - 2] = 0;
    return true;
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

static int check_sorted(const RunArg *a, tile_device *d)
{
    size_t size = (size_t)tile_type_bits(a->param.type) / 8;
    if (a->param.rank != 1 || a->bytes < 2 * size) return EXIT_OK;
    unsigned char *data = must_alloc(a->bytes);
    tile_error e;
    tile_status s = tile_read(d, data, a->address, a->bytes, &e);
    int code = EXIT_OK;
    if (s != TILE_OK) {
        complain("%s", e.text);
        code = exit_code_of(s);
    }
    for (size_t i = 1; code == EXIT_OK && i < a->bytes / size; i++) {
        int64_t before = element(data + (i - 1) * size, a->param.type), now = element(data + i * size, a->param.type);
        if (!less(now, before, a->param.type)) continue;
        complain("E1162: the kernel trusts sorted(%s), but %s[%zu] is %" PRId64 " and %s[%zu] is %" PRId64, a->name,
                 a->name, i - 1, before, a->name, i, now);
        code = exit_code_of(TILE_ERROR_CHECK);
    }
    free(data);
    return code;
}

int run_trusts_check(const RunArgs *args, tile_device *d, const tile_kernel *k)
{
    tile_kernel_facts f;
    tile_kernel_info(k, &f);
    for (size_t t = 0; t < f.ntrusts; t++) {
        char name[256];
        if (!about(f.trusts[t], "sorted", name, sizeof name)) continue;
        for (size_t i = 0; i < args->n; i++) {
            int code = strcmp(args->v[i].name, name) == 0 && !args->v[i].param.is_scalar ? check_sorted(&args->v[i], d)
                                                                                         : EXIT_OK;
            if (code != EXIT_OK) return code;
        }
    }
    return EXIT_OK;
}
