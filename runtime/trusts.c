/* What a kernel trusts of the elements of its index tensors (SPEC.md, trust), looked at where they lie. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/module.h"

typedef struct Elements {
    const MfTensor *p;
    const TensorArg *t;
    unsigned char *data; /* t->span bytes */
    size_t n;
} Elements;

/* In row-major order. */
static int64_t element(const Elements *e, size_t i)
{
    const ElemInfo *type = elem_info((ElemType)e->p->type);
    size_t size = type->global_bits / 8, at = 0;
    for (int d = e->p->rank; d-- > 0; i /= (size_t)e->t->shape[d]) at += i % (size_t)e->t->shape[d] * (size_t)e->t->stride[d];
    uint64_t v = 0;
    for (size_t b = 0; b < size; b++) v |= (uint64_t)e->data[at * size + b] << (8 * b);
    if (type->kind == ELEM_SINT && size < 8 && v >> (8 * size - 1)) v |= UINT64_MAX << (8 * size);
    return (int64_t)v;
}

static bool less(const Elements *e, int64_t a, int64_t b)
{
    return e->p->type == TILE_U64 ? (uint64_t)a < (uint64_t)b : a < b;
}

/* "idx[2, 5]" */
static const char *place(const Elements *e, size_t i, char *out, size_t size)
{
    size_t at[MAP_RANK], n = (size_t)snprintf(out, size, "%s", e->p->name);
    for (int d = e->p->rank; d-- > 0; i /= (size_t)e->t->shape[d]) at[d] = i % (size_t)e->t->shape[d];
    for (int d = 0; d < e->p->rank && n < size; d++)
        n += (size_t)snprintf(out + n, size - n, "%s%zu%s", d ? ", " : "[", at[d], d + 1 == e->p->rank ? "]" : "");
    return out;
}

static tile_status no_memory(const MfTensor *p, tile_error *err)
{
    return fail(err, TILE_ERROR_MEMORY, "no memory for the elements of `%s`", p->name);
}

static tile_status check_sorted(const Elements *e, tile_error *err)
{
    for (size_t i = 1; i < e->n; i++) {
        int64_t before = element(e, i - 1), now = element(e, i);
        char one[128], two[128];
        if (less(e, now, before))
            return fail_rule(err, TILE_ERROR_CHECK, E1162, "the kernel trusts sorted(%s), but %s is %" PRId64 " and %s is %" PRId64, e->p->name,
                             place(e, i - 1, one, sizeof one), before, place(e, i, two, sizeof two), now);
    }
    return TILE_OK;
}

/* Elements that are a row of no other tensor may be equal. A view may have taken all dimensions but the last for one. */
static int64_t most_rows(const tile_args *a, const TensorArg *index)
{
    const MfKernel *mf = a->kernel->mf;
    int64_t most = 0;
    for (uint32_t i = 0; i < mf->tensors.n; i++) {
        const TensorArg *t = &a->tensors[i];
        int64_t rows = 1;
        for (int d = 0; t != index && !t->empty && d < mf->tensors.v[i].rank; d++) {
            if (t->shape[d] > most) most = t->shape[d];
            if (rows > most) most = rows;
            if (!size_mul(rows, t->shape[d], &rows)) rows = INT64_MAX;
        }
    }
    return most;
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

static tile_status check_distinct(const tile_args *a, const Elements *e, tile_error *err)
{
    const Host *host = &a->kernel->module->device->host;
    int64_t rows = most_rows(a, e->t);
    tile_status s = TILE_OK;
    size_t n = 0;
    Placed *p = host_zeros(host, e->n, sizeof *p);
    if (!p) return no_memory(e->p, err);
    for (size_t i = 0; i < e->n; i++) {
        int64_t row = element(e, i);
        if (row >= 0 && row < rows) p[n++] = (Placed){row, i};
    }
    qsort(p, n, sizeof *p, by_row);
    for (size_t i = 1; i < n && s == TILE_OK; i++) {
        char one[128], two[128];
        if (p[i].row == p[i - 1].row)
            s = fail_rule(err, TILE_ERROR_CHECK, E1162, "the kernel trusts distinct(%s), but %s and %s are both %" PRId64, e->p->name,
                          place(e, p[i - 1].at, one, sizeof one), place(e, p[i].at, two, sizeof two), p[i].row);
    }
    host_free(host, p);
    return s;
}

static tile_status check_one(const tile_args *a, const MfTrust *trust, tile_error *err)
{
    tile_device *d = a->kernel->module->device;
    Elements e = {.p = &a->kernel->mf->tensors.v[trust->tensor], .t = &a->tensors[trust->tensor], .n = 1};
    for (int i = 0; i < e.p->rank; i++) e.n *= (size_t)e.t->shape[i];
    if (e.n < 2) return TILE_OK;
    e.data = host_resize(&d->host, NULL, e.t->span);
    if (!e.data) return no_memory(e.p, err);
    tile_status s = d->ops->read(d, e.data, e.t->address, e.t->span, err);
    if (s == TILE_OK) s = trust->fact == TRUST_SORTED ? check_sorted(&e, err) : check_distinct(a, &e, err);
    host_free(&d->host, e.data);
    return s;
}

tile_status args_check_trusts(const tile_args *a, bool distinct, tile_error *err)
{
    const MfKernel *mf = a->kernel->mf;
    tile_status s = TILE_OK;
    for (uint32_t i = 0; i < mf->trusts.n && s == TILE_OK; i++)
        if (distinct || mf->trusts.v[i].fact == TRUST_SORTED) s = check_one(a, &mf->trusts.v[i], err);
    return s;
}
