/* Tensor maps: those of the source and those inferred from moves, checked against every rule that is known now; what
 * depends on sizes and addresses is checked again, with all values, when the runtime encodes the map. */
#include "lower/emit/values.h"
#include "lower/plan/device_maps.h"
#include "lower/plan/maps.h"

static int64_t known(Lower *L, const Sx *x)
{
    int64_t k;
    return poly_is_const(scalar_poly(L, x), &k) ? k : MAP_UNKNOWN;
}

static Lx bytes_lx(Lower *L, Lx elements, int bits)
{
    LxPool *p = &L->ir->mf.lx;
    if (bits % 8 == 0) return lx_op(L->a, p, LX_MUL, elements, lx_const(L->a, p, bits / 8));
    Lx byte = lx_const(L->a, p, 8);
    return lx_op(L->a, p, LX_DIV, lx_op(L->a, p, LX_MUL, elements, lx_const(L->a, p, bits)), byte);
}

static void describe(Lower *L, const PTensor *t, MapDesc *d)
{
    int bits = elem_info(t->type)->global_bits;
    d->type = elem_info(t->type)->map_type;
    d->rank = map_rank(t->rank, d->interleave);
    d->address = MAP_UNKNOWN;
    d->sm = L->c->target->sm;
    bool empty = false;
    for (int i = 0; i < d->rank; i++) {
        d->dim[i] = known(L, t->extent[i]);
        int64_t stride = known(L, t->stride[i]);
        d->pitch[i] = stride == MAP_UNKNOWN || stride > INT64_MAX / 64 ? MAP_UNKNOWN : stride * bits / 8;
        empty = empty || d->dim[i] == 0;
    }
    for (int i = 0; empty && i < d->rank; i++) d->dim[i] = d->pitch[i] = MAP_UNKNOWN; /* the launch has a map for what is empty */
}

/* 0-based number of the new map. The place of what is not made at run time is known at launch. */
static uint32_t add_map(Lower *L, PTensor *t, const MapDesc *d, const char *name)
{
    LxPool *p = &L->ir->mf.lx;
    int bits = elem_info(t->type)->global_bits;
    Lx offset = t->base && !t->run_time ? scalar_lx(L, t->offset) : lx_const(L->a, p, 0);
    MfMap m = {.name = name,
               .tensor = t->base ? t->base->index : t->index,
               .mode = (uint8_t)d->mode,
               .interleave = (uint8_t)d->interleave,
               .swizzle = (uint8_t)d->swizzle,
               .l2 = (uint8_t)d->l2,
               .fill = (uint8_t)d->fill,
               .rank = (uint8_t)d->rank,
               .type = (uint8_t)d->type,
               .offset = bytes_lx(L, offset, bits)};
    if (t->run_time) device_template(L, t, d, &m);
    for (int i = 0; i < d->rank; i++) {
        if (!t->run_time) {
            m.dim[i] = scalar_lx(L, t->extent[i]);
            m.pitch[i] = bytes_lx(L, scalar_lx(L, t->stride[i]), bits);
        }
        m.box[i] = (uint16_t)d->box[i];
        m.elem_stride[i] = (uint8_t)d->elem_stride[i];
    }
    for (int i = 0; i < 3; i++) {
        m.lower[i] = (int16_t)d->lower[i];
        m.upper[i] = (int16_t)d->upper[i];
    }
    m.channels = (uint16_t)d->channels;
    m.pixels = (uint16_t)d->pixels;
    vec_push(L->a, &L->ir->mf.maps, m);
    vec_push(L->a, &L->maps->descs, *d);
    vec_push(L->a, &L->maps->map_tensors, t);
    param_add(L, MF_PARAM_MAP, L->ir->mf.maps.n - 1);
    return L->ir->mf.maps.n - 1;
}

typedef struct Breaches {
    Lower *L;
    const PMap *m;
    bool any;
} Breaches;

static Span clause_of(const PMap *m, MapField f)
{
    Span s = {0, 0};
    switch (f) {
    case MAPF_BOX: s = m->box_span; break;
    case MAPF_STRIDE: s = m->stride_span; break;
    case MAPF_SWIZZLE: s = m->swizzle_span; break;
    case MAPF_INTERLEAVE: s = m->interleave_span; break;
    case MAPF_FILL: s = m->fill_span; break;
    case MAPF_LOWER: s = m->lower_span; break;
    case MAPF_UPPER: s = m->upper_span; break;
    case MAPF_CHANNELS: s = m->channels_span; break;
    case MAPF_PIXELS: s = m->pixels_span; break;
    case MAPF_TYPE:
    case MAPF_RANK:
    case MAPF_DIM:
    case MAPF_PITCH:
    case MAPF_ADDRESS: s = m->tensor->span; break;
    default: break;
    }
    return s.hi ? s : m->span;
}

/* Where what this target lacks is had: of the rules of the driver that look at the target. */
static const char *map_targets(Lower *L, ErrorCode code)
{
    if (code != E0404 && code != E0405 && code != E0406) return NULL;
    return arena_printf(L->a, "targets that have it: %s", feature_targets(L->a, FEAT_SM100));
}

static void report_breach(void *user, const MapBreach *b)
{
    Breaches *u = user;
    Span at = clause_of(u->m, b->field);
    const char *text = b->text;
    if (b->code == E0433) /* by its own name, not that of the map's type */
        text = arena_printf(u->L->a, "fill nan for %s", elem_info(u->m->tensor->type)->name);
    Diag *g = lower_error(u->L, b->code, at, "%s (map `%s`)", text, name_text(u->L, u->m->name));
    if (at.lo != u->m->span.lo && (at.lo < u->m->span.lo || at.hi > u->m->span.hi))
        diag_label(u->L->c->diags, g, u->m->span, "described by this map");
    const char *fix = map_targets(u->L, b->code);
    if (fix) diag_fix(u->L->c->diags, g, "%s", fix);
    u->any = true;
}

bool map_explicit(Lower *L, PMap *m, uint32_t *index, Refusal *why)
{
    why->text = NULL;
    if (L->maps->map_of[m->index]) {
        *index = L->maps->map_of[m->index] - 1;
        return *index != UINT32_MAX - 1;
    }
    L->maps->map_of[m->index] = UINT32_MAX; /* reported once */
    Refusal slices;
    if (m->interleave && !slices_map(L, m, &slices)) {
        slices.label_span = m->interleave_span;
        slices.label = "of this map";
        lower_refuse(L, &slices);
        return false;
    }
    MapDesc d = {.mode = m->mode,
                 .channels = m->channels,
                 .pixels = m->pixels,
                 .swizzle = m->swizzle,
                 .interleave = m->interleave,
                 .l2 = m->l2,
                 .fill = m->fill,
                 .is_load = m->is_load,
                 .is_store = m->is_store};
    describe(L, m->tensor, &d);
    for (int i = 0; i < d.rank; i++) {
        d.box[i] = m->box[i];
        d.elem_stride[i] = m->elem_stride[i];
    }
    memcpy(d.lower, m->lower, sizeof d.lower);
    memcpy(d.upper, m->upper, sizeof d.upper);
    Breaches u = {L, m, false};
    map_check(&d, report_breach, &u);
    if (u.any) return false;
    *index = add_map(L, m->tensor, &d, name_text(L, m->name));
    L->maps->map_of[m->index] = *index + 1;
    L->ir->mf.maps.v[*index].is_load = m->is_load;
    L->ir->mf.maps.v[*index].is_store = m->is_store;
    return true;
}

void map_refuses(void *first, const MapBreach *b)
{
    FirstBreach *f = first;
    if (f->why->text) return;
    f->why->code = b->code;
    f->why->text = arena_strdup(f->L->a, b->text, strlen(b->text));
    f->why->fix = map_targets(f->L, b->code);
}

static bool allowed(Lower *L, const MapDesc *d, Refusal *why)
{
    why->text = NULL;
    FirstBreach f = {L, why};
    return map_check(d, map_refuses, &f) == 0;
}

static bool same_box(const MapDesc *a, const MapDesc *b)
{
    for (int i = 0; i < a->rank; i++)
        if (a->box[i] != b->box[i] || a->elem_stride[i] != b->elem_stride[i]) return false;
    return a->type == b->type && a->mode == b->mode && a->swizzle == b->swizzle && a->interleave == b->interleave && a->l2 == b->l2 &&
           a->fill == b->fill;
}

/* Through DRAM rows that end between lines leave the rest of those to neighbours, who come soon: on an H100 transposes of bytes take 0.97 of the time so, halos
 * 0.98; out of L2 1.03; on an H200, which is closer to what the L2 can do, halos in three dimensions 1.05. So it is for what may be large, as cache hints are. What rows below a line leave may be nobody's. */
static uint8_t promotion(const Lower *L, const MapDesc *d)
{
    enum { LINE = 128 };
    if (L->k->wish && L->k->wish->l2) return (uint8_t)L->k->wish->l2;
    return L->k->hints >= 0 && d->box[d->rank - 1] * map_global_bits(d->type) / 8 >= LINE ? MAP_L2_256B : MAP_L2_128B;
}

bool map_inferred(Lower *L, const MoveInfo *mi, const int64_t *box, const int64_t *elem_stride, uint32_t *index,
                  Refusal *why)
{
    MapDesc d = {.mode = MAP_TILED,
                 .swizzle = mi->tile->swizzle,
                 .interleave = mi->tile->interleave,
                 .is_load = mi->load,
                 .is_store = !mi->load};
    describe(L, mi->tensor, &d);
    if (mi->mv->reduce >= 0 && d.type == MAP_S64 && !reduction_of_map(reduce_word(mi->mv->reduce), d.type)) d.type = MAP_U64; /* the same bits */
    memcpy(d.box, box, sizeof d.box);
    memcpy(d.elem_stride, elem_stride, sizeof d.elem_stride);
    d.l2 = promotion(L, &d);
    uint32_t same = 0, named = 0;
    for (; same < L->maps->descs.n; same++) {
        if (L->maps->map_tensors.v[same] != mi->tensor) continue;
        if (same_box(&L->maps->descs.v[same], &d)) break;
        named++;
    }
    if (same < L->maps->descs.n) {
        d.is_load |= L->maps->descs.v[same].is_load;
        d.is_store |= L->maps->descs.v[same].is_store;
    }
    if (!allowed(L, &d, why)) return false;
    if (same == L->maps->descs.n) {
        const char *t = name_text(L, mi->tensor->name);
        const char *name = named ? arena_printf(L->a, "%s.map%u", t, named + 1) : arena_printf(L->a, "%s.map", t);
        same = add_map(L, mi->tensor, &d, name);
    }
    L->maps->descs.v[same] = d;
    L->ir->mf.maps.v[same].is_load = d.is_load;
    L->ir->mf.maps.v[same].is_store = d.is_store;
    *index = same;
    return true;
}

static void overlap_breach(void *user, const MapBreach *b)
{
    if (b->code == E0418) map_refuses(user, b);
}

bool map_overlaps(Lower *L, const MoveInfo *mi, Refusal *why)
{
    MapDesc d = {.mode = MAP_TILED, .is_store = true};
    FirstBreach f = {L, why};
    if (!mi->tensor->strided) return false;
    describe(L, mi->tensor, &d);
    for (int i = 0; i < d.rank; i++) d.box[i] = d.elem_stride[i] = 1;
    *why = (Refusal){.span = mi->stmt->span, .label_span = mi->tensor->span, .label = "the tensor"};
    map_check(&d, overlap_breach, &f);
    return why->text != NULL;
}

int64_t map_bytes(Lower *L, uint32_t index, int64_t halo)
{
    return map_copy_bytes(&L->maps->descs.v[index], halo);
}

/* Its number, from 1. */
static uint32_t new_policy(Lower *L, IrPolicy q)
{
    vec_push(L->a, &L->ir->pols, q);
    ir_ref(L->a, ir_op(L->a, &L->pre, IR_POL_CREATE, q.span), IRK_POL, IRA_POL, L->ir->pols.n - 1);
    return L->ir->pols.n;
}

static uint32_t policy_index(Lower *L, const PPolicy *p)
{
    uint32_t *of = &L->maps->pol_of[p->index];
    uint8_t secondary = p->secondary < 0 ? 255 : (uint8_t)p->secondary;
    IrPolicy q = {.name = name_text(L, p->name), .primary = (uint8_t)p->primary, .secondary = secondary, .fraction = p->fraction, .span = p->span};
    if (*of == 0) *of = new_policy(L, q);
    return *of - 1;
}

/* Derived: what a streaming kernel loads once stays for its stores' sake, what it stores is not kept; measured to pay
 * only where the launch moves many times what L2 holds. */
static uint32_t derived_policy(Lower *L, Hint h)
{
    static const char *const NAMES[] = {[HINT_LAST] = "once", [HINT_FIRST] = "stream"};
    static const char *const WORDS[] = {[HINT_LAST] = "evict_last", [HINT_FIRST] = "evict_first"};
    if (L->maps->hint_pol[h]) return L->maps->hint_pol[h] - 1;
    size_t n, word = 0;
    const char *const *words = word_list(WORDS_CACHE, &n);
    while (word < n && strcmp(words[word], WORDS[h]) != 0) word++;
    IrPolicy q = {.name = NAMES[h], .primary = (uint8_t)word, .secondary = 255, .fraction = 1, .by_traffic = L->k->hints == 0};
    if (q.by_traffic) param_add(L, MF_PARAM_HINTS, 0);
    L->maps->hint_pol[h] = new_policy(L, q);
    return L->maps->hint_pol[h] - 1;
}

void policy_operand(Lower *L, IrOp *op, const MoveInfo *mi)
{
    if (mi->mv->cache) ir_ref(L->a, op, IRK_POL, IRA_POL, policy_index(L, mi->mv->cache));
    else if (mi->hint != HINT_NONE && L->k->hints >= 0) ir_ref(L->a, op, IRK_POL, IRA_POL, derived_policy(L, mi->hint));
}
