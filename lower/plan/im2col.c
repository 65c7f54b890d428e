/* Moves through im2col maps: `pixels` pixels from a base pixel on, in the order W, H, D, N inside the map's box, of `channels`
 * channels each. The box goes from lower to extent - 1 + upper in each spatial dimension; a base outside of it ends the
 * kernel. The w modes walk along W alone, from where the copy starts: that may lie to the left of the box. Of an interleaved
 * tensor a pixel is one slice, whose number is the second dimension's (slices.c). */
#include "lower/emit/values.h"
#include "lower/plan/copies.h"
#include "lower/plan/maps.h"

static bool is_wide(const PMove *mv)
{
    return map_is_wide(mv->map->mode);
}

/* The dimension of the tensor that the first number of a corner is of. */
static int first_corner(const PMap *m)
{
    return map_first_corner(m->mode, m->interleave, map_rank(m->tensor->rank, m->interleave));
}

int64_t im2col_pixels(const PMove *mv)
{
    return map_pixels(mv->map->mode, mv->map->pixels, mv->most_halo);
}

/* wHalo: a number, or known only at run time. */
static bool halo_known(Lower *L, const PMove *mv, int64_t *k)
{
    *k = 0;
    return !is_wide(mv) || mv->halo[0] == NULL || poly_is_const(scalar_poly(L, mv->halo[0]), k);
}

/* ---- the base pixel ---- */

typedef struct Bounds { /* of the base in one dimension: lo .. extent - 1 + past */
    int64_t lo, past;
    const char *rule; /* why */
} Bounds;

static Bounds bounds_of(Lower *L, const MoveInfo *mi, int d)
{
    static const char ends[] = "a base pixel outside of the map's box ends the kernel",
                      there[] = "a store begins in an image and a slice that are there", open[] =
        "the PTX ISA leaves open what these do outside of the tensor, and where a halo stands if the pixels pass the end of the box";
    const PMap *m = mi->mv->map;
    int64_t halo;
    int first = first_corner(m);
    if (!is_wide(mi->mv) && d < first) return (Bounds){0, 0, m->interleave ? there : ends};
    if (!is_wide(mi->mv)) return (Bounds){m->lower[d - first], m->upper[d - first], ends};
    if (d < mi->rank - 2) return (Bounds){0, 0, open};
    if (halo_known(L, mi->mv, &halo) && halo == 0) return (Bounds){INT32_MIN, m->upper[0], ends};
    int64_t pixels = map_pixels(m->mode, m->pixels, 0);
    return (Bounds){INT32_MIN, m->upper[0] - (pixels - 1) * m->elem_stride[d], open};
}

static const char *bounds_text(Lower *L, const Bounds *b, const char *start, const char *extent)
{
    const char *from = b->lo == INT32_MIN ? "" : arena_printf(L->a, "%lld <= ", (long long)b->lo);
    int64_t back = 1 - b->past;
    if (back == 0) return arena_printf(L->a, "%s%s <= %s", from, start, extent);
    return arena_printf(L->a, "%s%s <= %s %c %lld", from, start, extent, back > 0 ? '-' : '+',
                        (long long)(back > 0 ? back : -back));
}

/* A divisor in x that may be 0, for all that is known: what is divided by it has no bounds then. */
static const Sx *open_divisor(Lower *L, const Sx *x)
{
    if (x == NULL || x->op < SX_ADD || x->op > SX_XOR) return NULL;
    bool divides = x->op == SX_DIV || x->op == SX_MOD || x->op == SX_CEIL;
    if (divides && !domain_le(L->d, poly_const(L->d, 1), scalar_poly(L, x->b))) return x->b;
    const Sx *found = open_divisor(L, x->a);
    return found ? found : open_divisor(L, x->b);
}

static bool is_slice(const PMap *m, int d)
{
    return d == 1 && m->interleave;
}

static const char *base_fix(Lower *L, const MoveInfo *mi, int d)
{
    const Sx *by = open_divisor(L, mi->g->dim[d].start);
    if (by) return arena_printf(L->a, "state `%s >= 1` in `where`", poly_text(L, scalar_poly(L, by)));
    if (is_slice(mi->mv->map, d))
        return arena_printf(L->a, "number the slices by an index below %s", poly_text(L, scalar_poly(L, mi->tensor->extent[d])));
    return "with P rows of Q pixels to be made: pix / (P * Q), pix / Q % P * stride + lower, pix % Q * stride + lower; state in "
           "`where` that the last of them lie in the box: (P - 1) * stride + lower <= H - 1 + upper";
}

static bool base_inside(Lower *L, const MoveInfo *mi, int d, Refusal *why)
{
    Domain *m = L->d;
    Bounds b = bounds_of(L, mi, d);
    Poly start = mi->start[d], extent = scalar_poly(L, mi->tensor->extent[d]);
    Span at = mi->g->dim[d].span;
    Need low = need_at_least(L, start, b.lo), high = need_at_most(L, poly_sub(m, start, extent), b.past - 1);
    const char *words = source_text(L, at), *text = bounds_text(L, &b, words, poly_text(L, extent));
    if (need_met(L, need_both(L, low, high), E1139, at, b.rule, "%s", text)) return true;
    int64_t k;
    bool never = poly_is_const(start, &k) && (low.is == NEED_NEVER || high.is == NEED_NEVER);
    const char *box = d == 0                       ? "its images are 0 .. extent - 1"
                      : is_slice(mi->mv->map, d) ? "its slices are 0 .. extent - 1"
                                                 : "its box is lower .. extent - 1 + upper";
    return cannot(L, why, E0471, at, mi->mv->map->span, box, never || is_wide(mi->mv) ? NULL : base_fix(L, mi, d),
                  "the base pixel is %s in the box of map `%s`, dimension %d: %s", never ? "not" : "not proved to be",
                  name_text(L, mi->mv->map->name), d, text);
}

/* ---- offsets, halo ---- */

/* What is known at compile time: lang/map_copy. */
static bool numbers_known(Lower *L, const MoveInfo *mi, uint32_t map, Refusal *why)
{
    const PMove *mv = mi->mv;
    int64_t k, halo[2];
    for (int i = 0; i < 2; i++)
        if (mv->halo[i] == NULL) halo[i] = 0;
        else if (!poly_is_const(scalar_poly(L, mv->halo[i]), &halo[i])) halo[i] = MAP_UNKNOWN;
    MapCopy c = {.shared = MAP_UNKNOWN, .halo = halo[0], .halo_offset = halo[1]};
    for (int i = 0; i < MAP_RANK; i++) c.start[i] = MAP_UNKNOWN;
    for (int i = 0; i < 3; i++)
        c.offset[i] = i < mv->noffset && poly_is_const(scalar_poly(L, mv->offset[i]), &k) ? k : MAP_UNKNOWN;
    *why = (Refusal){
        .span = is_wide(mv) ? mv->halo_span : mv->offset_span, .label_span = mv->map->span, .label = "the map"};
    return map_check_copy(&L->maps->descs.v[map], &c, map_refuses, &(FirstBreach){L, why}) == 0;
}

/* A number of few bits. */
typedef struct Few {
    const Sx *x;
    Span at;
    int64_t most;
    const char *name, *why; /* of what, and whose limit */
    ErrorCode never, launch; /* the rule, when compiling and at a launch */
    const char *rule, *fix;
} Few;

static bool few_inside(Lower *L, const MoveInfo *mi, const Few *f, Refusal *why)
{
    if (need_within(L, scalar_poly(L, f->x), f->most, f->launch, f->at, f->rule)) return true;
    return cannot(L, why, f->never, f->at, mi->mv->map->span, "the map", f->fix, "%s `%s` is not proved to be 0 .. %lld, %s", f->name,
                  source_text(L, f->at), (long long)f->most, f->why);
}

static bool offset_inside(Lower *L, const MoveInfo *mi, int i, Refusal *why)
{
    int spatial = map_spatial(mi->mv->map->tensor->rank, mi->mv->map->interleave);
    return few_inside(L, mi,
                      &(Few){mi->mv->offset[i], mi->mv->offset[i]->span, map_offset_most(spatial + 2), "offset", arena_printf(L->a, "its range for rank %d", spatial + 2),
                             E0445, E1140, "im2col offsets have few bits", "compute it from an index: r / 3 and r % 3 of r in 0 .. 9"},
                      why);
}

/* wHalo fits the tile, too. */
static bool halo_inside(Lower *L, const MoveInfo *mi, int i, Refusal *why)
{
    static const char *const names[] = {"wHalo", "wOffset"}, few[] = "wHalo and wOffset have few bits, and the tile so much room";
    const PMove *mv = mi->mv;
    if (!is_wide(mv) || mv->halo[i] == NULL) return true;
    int64_t most = i ? MAP_W_OFFSET_MOST : mv->most_halo;
    const char *by = source_text(L, mv->halo_at[i]);
    return few_inside(L, mi,
                      &(Few){mv->halo[i], mv->halo_at[i], most, names[i], i || mi->prefetch ? "its range" : "what the tile has room for",
                             i ? E0447 : E0446, E1141, few, arena_printf(L->a, "min(max(%s, 0), %lld)", by, (long long)most)},
                      why);
}

/* ---- the plan ---- */

static bool anywhere(Lower *L, const MoveInfo *mi, int d, TensorPlan *out, Refusal *why)
{
    Poly start = mi->start[d], extent = scalar_poly(L, mi->tensor->extent[d]);
    bool there = domain_le(L->d, poly_const(L->d, 0), start) && domain_lt(L->d, start, extent);
    return there || tensor_coordinate(L, mi, d, 0, out, why);
}

/* What comes from other CTAs is expected by those to which it comes. */
static bool bytes_told(Lower *L, const MoveInfo *mi, Refusal *why)
{
    const PMove *mv = mi->mv;
    int64_t k;
    if ((mv->dst.peer == NULL && mv->cast != CAST_MASK) || halo_known(L, mv, &k) || cluster_same(L, mv->halo[0])) return true;
    return cannot(L, why, E0473, mv->halo_at[0], mv->dst.peer ? mv->dst.span : mv->cast_span, "the bytes that arrive there depend on it",
                  "let wHalo depend on nothing that differs between them", "wHalo, %s, is not proved to be the same in all CTAs of the cluster",
                  poly_text(L, scalar_poly(L, mv->halo[0])));
}

bool im2col_plan(Lower *L, const MoveInfo *mi, TensorPlan *out, Refusal *why)
{
    const PMove *mv = mi->mv;
    int inner = mi->rank - 1;
    out->mode = (uint8_t)mv->map->mode;
    if (!target_copies(L, mi, why) || !tensor_contiguous(L, mi, why) || !mode_known_view(L, mi, why)) return false;
    if (!map_explicit(L, mv->map, &out->map, why)) return false;
    if (!tensor_layout(L, mi, why) || (mi->tile->interleave && !slices_whole(L, mi, why)) || !tensor_one_piece(L, mi, why) ||
        !tile_aligned(L, mi, SMEM_TMA_ALIGN, why))
        return false;
    if (!numbers_known(L, mi, out->map, why)) return false;
    for (int i = 0; i < mv->noffset; i++)
        if (!offset_inside(L, mi, i, why)) return false;
    for (int i = 0; i < 2; i++)
        if (!halo_inside(L, mi, i, why)) return false;
    if (is_wide(mv) && !bytes_told(L, mi, why)) return false;
    int away = mi->load && !is_wide(mv) ? first_corner(mv->map) : 0; /* measured: images and slices that are not there read as the fill */
    for (int d = 0; d < inner; d++)
        if (d < away ? !anywhere(L, mi, d, out, why) : !base_inside(L, mi, d, why)) return false;
    out->npieces = 1;
    out->pieces = arena_array(L->a, Piece, 1);
    int64_t halo;
    bool known = halo_known(L, mv, &halo);
    out->piece_bytes = map_bytes(L, out->map, known ? halo : mv->most_halo);
    out->halo_bytes = known ? 0 : map_bytes(L, out->map, 1) - map_bytes(L, out->map, 0);
    if (!tensor_inner_start(L, mi, why) || (!mi->load && !tensor_stored_extent(L, mi, why))) return false;
    return tensor_coordinate(L, mi, inner, 0, out, why);
}

/* At a launch a check has kept it in its range: to be seen in the value itself, for what is proved of bytes. */
static Opnd halo_value(Lower *L, const MoveInfo *mi, int i)
{
    const Sx *x = mi->mv->halo[i];
    int64_t most = i ? MAP_W_OFFSET_MOST : mi->mv->most_halo;
    if (x == NULL) return opnd_imm(0);
    if (interval_within(scalar_range(L, x), 0, most)) return value_low(L, x);
    Opnd v = emit_op(L, IR_MAX, IR_I64, value_wide(L, x), opnd_imm(0));
    return emit_cvt(L, IR_I32, emit_op(L, IR_MIN, IR_I64, v, opnd_imm(most)));
}

void im2col_values(Lower *L, const MoveInfo *mi, CopyValues *v)
{
    const PMove *mv = mi->mv;
    v->ninfo = !mi->load ? 0 : is_wide(mv) ? 2 : map_spatial(mv->map->tensor->rank, mv->map->interleave);
    for (int i = 0; i < v->ninfo; i++)
        v->info[i] = is_wide(mv) ? halo_value(L, mi, i) : mv->noffset ? value_low(L, mv->offset[i]) : opnd_imm(0);
}

Opnd im2col_bytes(Lower *L, const MoveInfo *mi, const TensorPlan *p)
{
    int64_t none = p->piece_bytes - mi->mv->most_halo * p->halo_bytes;
    Opnd more = emit_op(L, IR_MUL, IR_I32, halo_value(L, mi, 0), opnd_imm(p->halo_bytes));
    return emit_op(L, IR_ADD, IR_I32, more, opnd_imm(none));
}

/* ---- rule G ---- */

/* Pixels are numbered as the copy walks through them: those of a copy follow one another. The map visits each of them, unless it
 * has element strides; with offsets the numbers would be those of other pixels. Slices of a pixel are numbered on their own. */
bool im2col_numbers(Lower *L, const MoveInfo *mi, DomBox *out)
{
    if (!is_im2col(mi->mv) || is_wide(mi->mv) || mi->mv->noffset) return false;
    const PMap *m = mi->mv->map;
    Domain *d = L->d;
    Poly at = mi->start[0];
    int first = first_corner(m);
    if (m->elem_stride[0] != 1) return false;
    for (int i = first; i < mi->rank - 1; i++) {
        if (m->elem_stride[i] != 1) return false;
        int64_t lower = m->lower[i - first];
        Poly size = poly_add(d, scalar_poly(L, m->tensor->extent[i]), poly_const(d, m->upper[i - first] - lower));
        Poly from = poly_sub(d, mi->start[i], poly_const(d, lower));
        at = poly_add(d, poly_mul(d, at, size), from);
    }
    int c = is_slice(m, 1) ? 1 : mi->rank - 1;
    out->rank = 2;
    out->start[0] = at;
    out->extent[0] = poly_const(d, m->pixels);
    out->start[1] = mi->start[c];
    out->extent[1] = poly_const(d, mi->g->dim[c].extent);
    return true;
}
