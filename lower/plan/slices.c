/* Interleaved layouts, NC/8HWC8 and the like (PTX ISA, Tensors: interleave layout): the tensor's innermost dimension is one
 * slice of 16 or 32 bytes, and no dimension of its map. In the map the next one (W) counts slices, which lie one after the
 * other, and the second outermost one (C / slice) numbers the slices of a pixel, of which a copy takes one; coordinates
 * need no alignment (measured on an H200: SIMULATOR.md, interleave). Through an im2col map a pixel is one slice. */
#include "lower/algebra/scalars/scalars.h"
#include "lower/kernel/report.h"
#include "lower/plan/maps.h"

static const char LAYOUT[] = "the tile's layout";

static bool slices_tensor(Lower *L, const PTensor *t, int interleave, Refusal *why)
{
    int64_t k, bits = elem_info(t->type)->global_bits, n = map_slice_bytes(interleave) * 8 / bits;
    int inner = t->rank - 1;
    if (elem_info(t->type)->kind == ELEM_PACKED)
        return cannot(L, why, t->type == TYPE_B6A16 ? E0423 : E0584, t->span, (Span){0, 0}, NULL, NULL, "elements of %s have no slices", elem_info(t->type)->name);
    if (t->rank < 4)
        return cannot(L, why, E0408, t->span, (Span){0, 0}, NULL, NULL,
                      "`%s` has %d dimensions; an interleaved tensor has N, C / %lld, .., W and the %lld of a slice", name_text(L, t->name), t->rank,
                      (long long)n, (long long)n);
    Poly extent = scalar_poly(L, t->extent[inner]);
    if (!poly_is_const(extent, &k) || k != n)
        return cannot(L, why, E0584, t->span, (Span){0, 0}, NULL, NULL, "the innermost extent of `%s` is %s; a slice of %lld bytes has %lld elements",
                      name_text(L, t->name), poly_text(L, extent), (long long)map_slice_bytes(interleave), (long long)n);
    Poly pitch = scalar_poly(L, t->stride[inner - 1]);
    Need need = need_equal(L, pitch, n);
    const char *rule = "slices of an interleaved tensor lie one after the other";
    if (need_met(L, need, E1151, t->span, rule, "%s == %lld", poly_text(L, pitch), (long long)n)) return true;
    return cannot(L, why, E0584, t->span, (Span){0, 0}, NULL, NULL, "neighbours of `%s` lie %s elements apart, a slice has %lld: its map takes them one after the other",
                  name_text(L, t->name), poly_text(L, pitch), (long long)n);
}

/* A box of too many or too few elements shows where it is moved; an im2col map says itself what of a pixel it takes. */
bool slices_map(Lower *L, const PMap *m, Refusal *why)
{
    const PTensor *t = m->tensor;
    if (!slices_tensor(L, t, m->interleave, why)) return false;
    int64_t n = map_slice_bytes(m->interleave) * 8 / elem_info(t->type)->global_bits, step = m->elem_stride[t->rank - 1];
    if (m->mode == MAP_IM2COL && m->channels != n)
        return cannot(L, why, E0584, m->channels_span, (Span){0, 0}, NULL, arena_printf(L->a, "channels %lld, and one move per slice", (long long)n),
                      "%lld channels of a pixel; a copy takes one slice of it, %lld", (long long)m->channels, (long long)n);
    return step == 1 || cannot(L, why, E0584, m->stride_span, (Span){0, 0}, NULL, NULL, "slices are taken whole, not in steps of %lld elements", (long long)step);
}

bool slices_whole(Lower *L, const MoveInfo *mi, Refusal *why)
{
    int64_t k, n = map_slice_bytes(mi->tile->interleave) * 8 / mi->bits;
    int inner = mi->rank - 1;
    if (poly_is_const(mi->start[inner], &k) && k == 0 && mi->g->dim[inner].extent == n) return true;
    return cannot(L, why, E0584, mi->g->dim[inner].span, mi->tile->span, LAYOUT,
                  is_im2col(mi->mv) ? "write 0 for the innermost dimension" : "write `:` for the innermost dimension", "slices are taken whole");
}

bool slices_fit(Lower *L, const MoveInfo *mi, Refusal *why)
{
    int64_t n = map_slice_bytes(mi->tile->interleave) * 8 / mi->bits;
    int inner = mi->rank - 1;
    if (!slices_tensor(L, mi->tensor, mi->tile->interleave, why)) return false;
    if (!slices_whole(L, mi, why)) return false;
    const Pair *p = &mi->pair[mi->npairs - 1];
    if (p->tensor_dim != inner || p->tile_dim != mi->tile->rank - 1 || mi->tile->extent[p->tile_dim] != n)
        return cannot(L, why, E0584, mi->s->span, mi->tile->span, LAYOUT, NULL, "the tile's innermost extent is %lld; a slice has %lld elements",
                      (long long)mi->tile->extent[mi->tile->rank - 1], (long long)n);
    if (mi->g->dim[1].extent != 1)
        return cannot(L, why, E0584, mi->g->dim[1].span, mi->tile->span, LAYOUT, "one move per slice: give the second dimension a plain subscript",
                      "%lld slices of each pixel; a copy takes one of them", (long long)mi->g->dim[1].extent);
    int64_t box = mi->g->dim[inner - 1].extent * mi->g->dim[inner - 1].step, unit = SMEM_BULK_ALIGN * 8 / mi->bits;
    if (box > 0 && box % unit != 0)
        return cannot(L, why, E0584, mi->g->dim[inner - 1].span, mi->tile->span, LAYOUT, NULL,
                      "%lld slices of W; the driver takes multiples of %lld of them in elements of this size", (long long)box, (long long)unit);
    return true;
}
