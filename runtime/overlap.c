/* Rule G at launch: a written tensor shares no memory with another argument.
 *
 * Two tensors are apart if their spans are, or if there is a pitch P such that every stride of both is a multiple of P
 * or lies within a row of P bytes: then each tensor only touches the bytes [start mod P, start mod P + width) of every
 * row, and it is enough that those column ranges are apart. That accepts column blocks of one matrix (same pitch),
 * whatever their batch dimensions; other interleavings are refused.
 */
#include <inttypes.h>

#include "runtime/module.h"

/* Byte stride of dimension d; packed types: in whole bytes, rounded up. */
static int64_t byte_stride(const MfTensor *p, const TensorArg *t, int d)
{
    int64_t b = 0;
    elem_bytes(p->type, t->stride[d], &b);
    return b;
}

/* Bytes of a row of `pitch` bytes that the tensor can touch, from its first byte on. False: more than a row. */
static bool columns(const MfTensor *p, const TensorArg *t, int64_t pitch, int64_t *width)
{
    int64_t w = 0;
    if (!elem_bytes(p->type, 1, &w)) return false;
    for (int d = 0; d < p->rank; d++) {
        int64_t s = byte_stride(p, t, d), reach;
        if (t->shape[d] <= 1 || s % pitch == 0) continue;
        if (!size_mul(t->shape[d] - 1, s, &reach) || !size_add(w, reach, &w)) return false;
    }
    *width = w;
    return w <= pitch;
}

static bool apart_at_pitch(const MfTensor *px, const TensorArg *x, const MfTensor *py, const TensorArg *y,
                           int64_t pitch)
{
    int64_t wx, wy;
    if (pitch <= 0 || !columns(px, x, pitch, &wx) || !columns(py, y, pitch, &wy)) return false;
    /* Column ranges are arcs of a circle of `pitch` bytes. */
    int64_t from_x_to_y = (int64_t)((y->address % (uint64_t)pitch + (uint64_t)pitch - x->address % (uint64_t)pitch) %
                                    (uint64_t)pitch);
    return from_x_to_y >= wx && from_x_to_y + wy <= pitch;
}

static bool apart(const MfTensor *px, const TensorArg *x, const MfTensor *py, const TensorArg *y)
{
    if (x->address + x->span <= y->address || y->address + y->span <= x->address) return true;
    for (int d = 0; d < px->rank; d++)
        if (x->shape[d] > 1 && apart_at_pitch(px, x, py, y, byte_stride(px, x, d))) return true;
    for (int d = 0; d < py->rank; d++)
        if (y->shape[d] > 1 && apart_at_pitch(px, x, py, y, byte_stride(py, y, d))) return true;
    return false;
}

/* Two indices at one address, unless the dimensions, taken by growing stride, each step over all smaller ones. */
static void check_own_elements(const MfTensor *p, const TensorArg *t, Report *r)
{
    int order[MAP_RANK], n = 0;
    for (int d = 0; d < p->rank; d++) {
        if (t->shape[d] <= 1) continue;
        int at = n++;
        for (; at > 0 && t->stride[order[at - 1]] > t->stride[d]; at--) order[at] = order[at - 1];
        order[at] = d;
    }
    int64_t reach = 0; /* largest offset in elements that the smaller dimensions make; bounded by the span */
    for (int i = 0; i < n; i++) {
        int d = order[i];
        if (t->stride[d] <= reach) {
            report_rule(r, E0418,
                        "`%s` is written, but elements share memory: stride %d is %" PRId64
                        ", and the dimensions of smaller strides reach over %" PRId64 " elements",
                        p->name, d, t->stride[d], reach + 1);
            return;
        }
        reach += (t->shape[d] - 1) * t->stride[d];
    }
}

void args_check_places(const tile_args *a, Report *r)
{
    const MfKernel *mf = a->kernel->mf;
    for (uint32_t i = 0; i < mf->tensors.n; i++) {
        const MfTensor *p = &mf->tensors.v[i];
        const TensorArg *t = &a->tensors[i];
        if (t->empty) continue;
        if (p->align > 1 && t->address % p->align != 0)
            report_rule(r, E1106, "`%s` is at 0x%" PRIx64 ", not a multiple of %u", p->name, t->address, p->align);
        if (p->written) check_own_elements(p, t, r);
        for (uint32_t j = 0; j < mf->tensors.n; j++) {
            const MfTensor *q = &mf->tensors.v[j];
            const TensorArg *u = &a->tensors[j];
            bool once = j != i && p->written && (!q->written || j > i); /* each pair is named once */
            if (once && !u->empty && !apart(p, t, q, u))
                report_rule(r, E1107,
                            "`%s` is written and overlaps `%s` in memory: 0x%" PRIx64 " .. 0x%" PRIx64 " and 0x%" PRIx64
                            " .. 0x%" PRIx64,
                            p->name, q->name, t->address, t->address + t->span, u->address, u->address + u->span);
        }
    }
}
