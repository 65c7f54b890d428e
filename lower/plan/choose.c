/* Which copies a move becomes. */
#include "lower/plan/copies.h"
#include "lower/plan/maps.h"

typedef struct Saved { /* a plan that is refused leaves nothing behind */
    uint32_t maps, params, checks;
} Saved;

static void restore(Lower *L, Saved s)
{
    L->ir->mf.maps.n = L->maps->descs.n = L->maps->map_tensors.n = s.maps;
    L->ir->mf.params.n = s.params;
    launch_drop(L, s.checks);
}

static void tell_why(Lower *L, Diag *g, const Refusal *tensor, const Refusal *bulk)
{
    diag_note(L->c->diags, g, tensor->span, "tensor copy: %s", tensor->text);
    diag_note(L->c->diags, g, bulk->span, "bulk copy: %s", bulk->text);
    const char *other = tensor->by_bulk || !tensor->fix ? bulk->fix : NULL;
    if (tensor->fix && other) diag_fix(L->c->diags, g, "%s, or %s", tensor->fix, other);
    else if (tensor->fix || other) diag_fix(L->c->diags, g, "%s", tensor->fix ? tensor->fix : other);
}

static void no_instruction(Lower *L, const MoveInfo *mi, const Refusal *tensor, const Refusal *bulk, const Refusal *threads)
{
    ErrorCode code = tensor->code == E0801 ? E0801 : E0520; /* what the target lacks counts more */
    Diag *g = lower_error(L, code, mi->stmt->span, "no copy instruction fits this move");
    tell_why(L, g, tensor, bulk);
    if (threads->text) diag_note(L->c->diags, g, threads->span, "%s", threads->text);
}

static void tell_threads(Lower *L, const MoveInfo *mi, const GlobalPart *by, const Refusal *tensor, const Refusal *bulk)
{
    Diag *g = diag_at(L->c->diags, P0007, mi->stmt->span, "threads %s this, %u byte%s at a time: no copy instruction fits",
                      mi->load ? "load" : "store", (unsigned)by->align, by->align == 1 ? "" : "s");
    tell_why(L, g, tensor, bulk);
}

/* ---- P0006: copies too small ---- */

enum { SMALL_COPY = 512, MANY_COPIES = 8 };

/* The widest swizzle of which a panel is as wide as the part; 0: none. */
static int panel_of(const MoveInfo *mi)
{
    const PTile *t = mi->tile;
    int inner = t->rank - 1;
    int64_t part = mi->s->dim[inner].extent * mi->sbits / 8, row = t->extent[inner] * mi->sbits / 8;
    bool plain = t->swizzle == MAP_SWIZZLE_NONE && !t->interleave && row > part && row % part == 0;
    return plain && (part == 32 || part == 64 || part == 128) ? (int)part : 0;
}

static void tell_small(Lower *L, const MoveInfo *mi, int64_t n, int64_t bytes, const char *why, const char *fix)
{
    if (n < MANY_COPIES || bytes >= SMALL_COPY || fix == NULL) return;
    Diag *g = diag_at(L->c->diags, P0006, mi->stmt->span, "this is %lld copies of %lld bytes: %s", (long long)n,
                      (long long)bytes, why);
    diag_label(L->c->diags, g, mi->tile->span, "the tile");
    diag_fix(L->c->diags, g, "%s", fix);
}

/* Pieces of an inferred map's boxes: rows that no box is wide enough for, or that do not follow one another in the tile. */
static void tell_pieces(Lower *L, const MoveInfo *mi, const TensorPlan *t)
{
    int inner = mi->tile->rank - 1, panel = panel_of(mi);
    const char *tile = name_text(L, mi->tile->name);
    if (mi->mv->map) return;
    int64_t row = mi->s->dim[inner].extent, panels = row * mi->sbits / 8 / 128; /* of a swizzled tile: a copy each, of all rows */
    if (row > BOX_MAX && tile_span(mi->tile) == 0)
        tell_small(L, mi, t->npieces, t->piece_bytes, "a box is at most 256 elements wide",
                   arena_printf(L->a, "%s, or tiles of at most 256 elements in a row",
                                panels < t->npieces ? arena_printf(L->a, "`swizzle 128` on `%s`", tile) : "`via bulk`, which takes rows of any length"));
    else
        tell_small(
            L, mi, t->npieces, t->piece_bytes,
            arena_printf(L->a, "the rows of this part do not follow one another in `%s`", tile),
            panel ? arena_printf(L->a,
                                 "`swizzle %d` on `%s`: its panels are as wide as the part; or a tile for each part",
                                 panel, tile)
                  : "a tile for each part");
}

static void tell_runs(Lower *L, const MoveInfo *mi, const BulkPlan *b, const Refusal *no_tensor)
{
    for (int i = 0; i < b->nrows; i++)
        if (b->row[i].rows) return; /* as the program picks them */
    if (mi->mv->via == VIA_INFERRED && no_tensor->text)
        tell_small(L, mi, b->nruns, b->run, arena_printf(L->a, "no tensor copy does it, because %s", no_tensor->text),
                   no_tensor->fix);
}

bool tile_aligned(Lower *L, const MoveInfo *mi, int align, Refusal *why)
{
    if (domain_divides(L->d, align, mi->offset)) return true;
    return cannot(L, why, E0507, mi->s->span, mi->tile->span, "the tile", NULL, "this part of `%s` starts at byte %s, which %s a multiple of %d",
                  name_text(L, mi->tile->name), poly_text(L, mi->offset), unproved_multiple(mi->offset, align), align);
}

/* Maps and runs of bytes have every element of a tile's part. */
static bool steps_in_tile(const MoveInfo *mi, Refusal *why)
{
    for (int d = 0; d < mi->s->rank; d++) {
        const PDim *p = &mi->s->dim[d];
        if (p->step == 1) continue;
        *why = (Refusal){.code = E0520, .span = p->span, .text = "copies take no steps in a shared tile", .fix = "a step in the tensor, and a tile of the part"};
        return true;
    }
    return false;
}

static bool tensor_copy(Lower *L, MoveInfo *mi, Copies *out, Refusal *why)
{
    TensorPlan *t = arena_new(L->a, TensorPlan);
    if (!tensor_plan(L, mi, t, why)) return false;
    out->t = t;
    out->bytes = t->piece_bytes * t->npieces;
    tell_pieces(L, mi, t);
    return true;
}

static bool bulk_copy(Lower *L, MoveInfo *mi, Copies *out, const Refusal *no_tensor, Refusal *why)
{
    BulkPlan *b = arena_new(L->a, BulkPlan);
    if (!bulk_plan(L, mi, b, why)) return false;
    out->b = b;
    out->bytes = b->run * b->nruns;
    tell_runs(L, mi, b, no_tensor);
    return true;
}

static bool by_threads(Lower *L, MoveInfo *mi, Copies *out, Refusal *why)
{
    GlobalPart *g = arena_new(L->a, GlobalPart);
    if (!global_plan(L, mi, g, why)) return false;
    out->g = g;
    return true;
}

/* `via` pins the way; otherwise the first that fits in the order tensor, bulk, threads. */
bool choose_copy(Lower *L, MoveInfo *mi, bool threads, Copies *out)
{
    const Saved before = {L->ir->mf.maps.n, L->ir->mf.params.n, L->ir->mf.checks.n};
    Refusal no_tensor = {0}, no_bulk, no_threads = {0};
    PVia via = mi->mv->via;
    *out = (Copies){0};
    bool copies = via != VIA_THREADS && !steps_in_tile(mi, &no_tensor);
    if (copies && via != VIA_BULK && tensor_copy(L, mi, out, &no_tensor)) return true;
    if (via == VIA_MAP) {
        if (no_tensor.text) lower_refuse(L, &no_tensor);
        return false;
    }
    restore(L, before);
    if (!copies) no_bulk = no_tensor;
    if (via == VIA_INFERRED) {
        Refusal *why = arena_new(L->a, Refusal);
        *why = no_tensor;
        out->no_tensor = why;
    }
    if (copies && bulk_copy(L, mi, out, &no_tensor, &no_bulk)) return true;
    restore(L, before);
    if (!threads && !mi->prefetch)
        no_threads = (Refusal){.code = E0520, .span = mi->stmt->span, .text = "threads do it where the schedule is derived, not beside explicit synchronisation"};
    if (via != VIA_BULK && threads && by_threads(L, mi, out, &no_threads)) {
        if (via == VIA_INFERRED) tell_threads(L, mi, out->g, &no_tensor, &no_bulk);
        return true;
    }
    if (via == VIA_INFERRED) no_instruction(L, mi, &no_tensor, &no_bulk, &no_threads);
    else lower_refuse(L, via == VIA_BULK ? &no_bulk : &no_threads);
    return false;
}

void copies_values(Lower *L, const MoveInfo *mi, const Copies *c, CopyValues *v)
{
    if (c->t) tensor_values(L, mi, c->t, v);
    else bulk_values(L, mi, c->b, v);
}

void copies_emit(Lower *L, const MoveInfo *mi, const Copies *c, const CopyValues *v, uint32_t bar, Opnd bar_slot)
{
    if (c->t) tensor_emit(L, mi, c->t, v, bar, bar_slot);
    else bulk_emit(L, mi, c->b, v, bar, bar_slot);
}
