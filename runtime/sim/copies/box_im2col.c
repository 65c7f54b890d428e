/* Which pixel a row of an im2col copy is.
 *
 * PTX ISA, im2col mode: from the base pixel W is walked in steps of its traversal stride to the upper end of the pixel
 * box, then from the lower end on in the next line of H, and so on through D and N. The offsets move what is read, not
 * the walk. Behind the last image N is beyond the tensor (measured: zeros).
 *
 * im2col::w and ::w::128: D and H stay as they are, so behind the end of W comes N. wOffset moves the box and the first
 * pixel alike. The halo of a row is what follows its last pixel along W, in the same steps; it stands behind the pixels
 * of the copy, w::128: behind each 32 of them.
 */
#include "runtime/sim/copies/maps.h"

/* Position i after `*steps` steps; leaves in *steps how often the end of the box was passed. */
static int64_t walk(const BoxWalk *w, int i, int64_t *steps)
{
    int64_t step = w->step[1 + i], base = w->origin[1 + i], first = (w->high[i] - base) / step + 1;
    if (*steps < first) {
        int64_t at = base + *steps * step;
        *steps = 0;
        return at;
    }
    int64_t rest = *steps - first, line = (w->high[i] - w->low[i]) / step + 1;
    *steps = 1 + rest / line;
    return w->low[i] + rest % line * step;
}

void box_pixel(const BoxWalk *w, uint32_t r, int64_t at[6])
{
    uint32_t all = w->group + w->halo;
    int64_t steps = (int64_t)(r / all) * w->group + r % all;
    for (int i = 1; i < w->axes; i++) at[i] = w->origin[i];
    if (w->halo) { /* one row of pixels: box_begin has seen to that */
        at[1] += steps * w->step[1] + w->shift[0];
        return;
    }
    for (int i = 0; i < w->walked; i++) at[1 + i] = walk(w, i, &steps) + w->shift[i];
    at[w->axes - 1] += steps * w->step[w->axes - 1];
}
