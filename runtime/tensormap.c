/* Tensor maps: logical descriptors from the manifest and the arguments, checked, encoded, cached. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "runtime/module.h"

static bool describe_map(tile_args *a, const MfMap *m, MapDesc *out, Report *r)
{
    const TensorArg *t = &a->tensors[m->tensor];
    MapDesc d = manifest_map(m);
    d.sm = module_sm(a->kernel->module);
    int64_t offset;
    bool ok = args_value(a, m->offset, r, &offset, "the offset of map `%s`", m->name);
    d.address = (int64_t)(t->address + (uint64_t)offset);
    for (int i = 0; i < m->rank; i++) {
        if (!args_value(a, m->dim[i], r, &d.dim[i], "extent %d of map `%s`", i, m->name)) ok = false;
        if (!args_value(a, m->pitch[i], r, &d.pitch[i], "pitch %d of map `%s`", i, m->name)) ok = false;
    }
    *out = d;
    return ok;
}

/* A map over nothing: each dimension has the least extent that the rules allow (T06, T07; 16 bytes
 * inside, as stores need), over memory of zeros. Every element that a load reaches is then zero or fill; what a
 * store reaches is never read. */
static void describe_dummy(uint64_t memory, int elem_bits, MapDesc *d)
{
    bool align16 = d->type == MAP_U4_ALIGN16 || d->type == MAP_U6_ALIGN16;
    bool wide = map_is_wide(d->mode), im2col = map_is_im2col(d->mode);
    int inner = d->rank - 1, first = map_first_corner(d->mode, d->interleave, d->rank), end = first + (wide ? 1 : d->rank - 2);
    int least = d->interleave ? 1 : align16 ? 128 : 128 / elem_bits; /* slices; elements */
    d->address = (int64_t)memory;
    for (int i = 0; i < d->rank; i++) {
        bool pixels = im2col && i < end;
        if (pixels && d->dim[i] == 0) d->dim[i] = 1;
        if (!pixels) d->dim[i] = i < inner ? 1 : least;
        d->pitch[i] = pixels ? 0 : 128; /* the pixel where a copy starts is still there: all are the same one */
    }
    for (int i = first; im2col && i < end; i++) { /* T15: the box has a pixel */
        int64_t corners = 1 + d->lower[i - first] - d->upper[i - first];
        if (d->dim[i] < corners) d->dim[i] = corners;
    }
}

/* Interleaved pixels of a row lie one after the other: there are zeros for few. */
static bool row_of_zeros(const MapDesc *d)
{
    return d->mode != MAP_IM2COL || d->interleave == MAP_INTERLEAVE_NONE ||
           d->dim[d->rank - 1] <= DUMMY_ZEROS / map_slice_bytes(d->interleave);
}

static void make_key(const MapDesc *d, const MapMemory *memory, int64_t key[MAP_KEY])
{
    int n = 0;
    memset(key, 0, MAP_KEY * sizeof *key);
    key[n++] = (int64_t)d->mode | (int64_t)d->type << 8 | (int64_t)d->rank << 16 | (int64_t)d->interleave << 24 |
               (int64_t)d->swizzle << 32 | (int64_t)d->l2 << 40 | (int64_t)d->fill << 48;
    key[n++] = d->address;
    for (int i = 0; i < d->rank; i++) {
        key[n++] = d->dim[i];
        key[n++] = d->pitch[i];
        key[n++] = d->box[i];
        key[n++] = d->elem_stride[i];
    }
    for (int i = 0; i < 3; i++) {
        key[n++] = d->lower[i];
        key[n++] = d->upper[i];
    }
    key[n++] = d->channels;
    key[n++] = d->pixels;
    key[n++] = (int64_t)memory->bytes;
    key[n++] = memory->dense;
}

/* The cached map, or the slot to encode into (*hit false): an unused one, else the one unused for longest. */
static MapSlot *find_slot(MapSlot *ways, const int64_t key[MAP_KEY], uint64_t hash, bool *hit)
{
    MapSlot *oldest = &ways[0];
    for (int i = 0; i < MAP_WAYS; i++) {
        MapSlot *s = &ways[i];
        *hit = s->used && s->hash == hash && memcmp(s->key, key, sizeof s->key) == 0;
        if (*hit) return s;
        if (s->used < oldest->used) oldest = s;
    }
    return oldest;
}

/* The encoded map where sizes are as they were when it was used: then where its memory begins and ends tells it. NULL: it is to be described. */
static MapSlot *kept_map(const tile_args *a, const MfMap *m, MapSlot *ways)
{
    const TensorArg *t = &a->tensors[m->tensor];
    uint64_t address = t->address + (m->offset ? (uint64_t)a->values[m->offset - 1] : 0);
    for (int i = 0; i < MAP_WAYS; i++)
        if (ways[i].sizes == a->sizes && ways[i].address == address && ways[i].bytes == t->bytes) return &ways[i];
    return NULL;
}

typedef struct Breaches { /* of one map, on their way into the report */
    Report *r;
    const char *map, *tensor;
} Breaches;

static void add_breach(void *user, const MapBreach *b)
{
    const Breaches *to = user;
    if ((b->code == E0415 || b->code == E0454) && !report_rows(to->r)) return;
    report_rule(to->r, b->code, "map `%s` of `%s`: %s", to->map, to->tensor, b->text);
    if (b->code == E0410 && !to->r->fix) to->r->fix = "fix: write `via threads` behind the moves: threads take tensors at any place";
}

static bool is_dense(const MapDesc *d)
{
    for (int i = 0; i + 2 < d->rank; i++)
        if (d->pitch[i + 1] != 0 && (d->pitch[i] / d->pitch[i + 1] != d->dim[i + 1] || d->pitch[i] % d->pitch[i + 1] != 0)) return false;
    int inner = d->rank - 1;
    return d->rank < 2 || (d->pitch[inner - 1] > 0 && d->pitch[inner - 1] == d->dim[inner] * d->pitch[inner]);
}

static void print_desc(const MapDesc *d, char *buf, size_t size)
{
    size_t n = 0;
    int w = snprintf(buf, size, "address 0x%" PRIx64 ", type %d, swizzle %d, interleave %d", (uint64_t)d->address,
                     d->type, d->swizzle, d->interleave);
    for (int i = 0; w > 0 && (n += (size_t)w) < size && i < d->rank; i++)
        w = snprintf(buf + n, size - n, "; extent %" PRId64 " pitch %" PRId64 " box %" PRId64 " step %" PRId64,
                     d->dim[i], d->pitch[i], d->box[i], d->elem_stride[i]);
}

static MapMemory memory_of(const tile_args *a, const MfMap *m, const MapDesc *d)
{
    const TensorArg *t = &a->tensors[m->tensor];
    MapDesc sized = *d;
    sized.pitch[d->rank - 1] = elem_info((ElemType)a->kernel->mf->tensors.v[m->tensor].type)->global_bits / 8;
    return (MapMemory){t->bytes ? t->bytes : t->span, is_dense(&sized)};
}

static tile_status encode(tile_args *a, const MfMap *m, const MapDesc *d, const MapMemory *memory, void *map, tile_error *err)
{
    tile_device *dev = a->kernel->module->device;
    tile_error e;
    tile_status s = dev->ops->encode_map(dev, d, memory, map, &e);
    if (s == TILE_OK) return s;
    char desc[512];
    print_desc(d, desc, sizeof desc);
    return fail_rule(err, s, E1110, "map `%s` of `%s`: %s (%s)", m->name, a->kernel->mf->tensors.v[m->tensor].name,
                     e.text, desc);
}

/* err is the report's: it is touched only by a failure. */
static tile_status ready_dummy(tile_args *a, tile_error *err)
{
    static const unsigned char zeros[DUMMY_BYTES];
    tile_device *d = a->kernel->module->device;
    if (a->dummy) return TILE_OK;
    tile_error e;
    uint64_t address = 0;
    tile_status s = d->ops->alloc(d, sizeof zeros, &address, &e);
    if (s == TILE_OK) s = d->ops->write(d, address, zeros, sizeof zeros, &e);
    if (s == TILE_OK) {
        if (d->ops->unread) d->ops->unread(d, address + DUMMY_ZEROS); /* all that is empty is written to there */
        a->dummy = address;
        return TILE_OK;
    }
    if (address) d->ops->release(d, address, NULL);
    return fail(err, s, "%s", e.text);
}

/* Of the tensor, or of the view that the map covers. */
static bool is_empty(const MapDesc *d)
{
    for (int i = 0; i < d->rank; i++)
        if (d->dim[i] == 0) return true;
    return false;
}

/* Where nothing is there is no memory for a map. False: reported. */
static bool replace_empty(tile_args *a, const MfMap *m, MapDesc *d, Report *r)
{
    const MfTensor *p = &a->kernel->mf->tensors.v[m->tensor];
    const char *tensor = p->name;
    if (m->is_load && m->fill == MAP_FILL_NAN) {
        report_rule(r, E1108, "`%s` is empty where map `%s`, which fills with NaN, reads it", tensor, m->name);
        return false;
    }
    if (m->is_load && !row_of_zeros(d)) {
        report_rule(r, E1108, "`%s` is empty where map `%s` reads rows of %" PRId64 " slices", tensor, m->name, d->dim[d->rank - 1]);
        return false;
    }
    if (m->is_load && m->is_store) {
        report_rule(r, E1108, "`%s` is empty where map `%s` both reads and writes it", tensor, m->name);
        return false;
    }
    describe_dummy(a->dummy + (m->is_store ? DUMMY_ZEROS : 0), elem_info((ElemType)p->type)->global_bits, d);
    if (m->mode == MAP_IM2COL) d->is_store = false; /* T07: here pixels may share their memory */
    return true;
}

/* *out: NULL where something was reported; the other maps' breaches are listed too. */
static tile_status find_map(tile_args *a, const MfMap *m, MapSlot *ways, MapSlot **out, Report *r, tile_error *err)
{
    MapDesc d;
    *out = NULL;
    if (!describe_map(a, m, &d, r)) return TILE_OK;
    bool empty = a->tensors[m->tensor].empty || is_empty(&d);
    tile_status s = empty ? ready_dummy(a, err) : TILE_OK;
    if (s != TILE_OK) return s;
    if (empty && !replace_empty(a, m, &d, r)) return TILE_OK;
    int64_t key[MAP_KEY];
    bool hit;
    MapMemory memory = memory_of(a, m, &d);
    make_key(&d, &memory, key);
    uint64_t hash = XXH64(key, sizeof key, 0);
    MapSlot *slot = find_slot(ways, key, hash, &hit);
    if (!hit) {
        Breaches b = {r, m->name, a->kernel->mf->tensors.v[m->tensor].name};
        if (map_check(&d, add_breach, &b) > 0 || r->lines > 0) return TILE_OK;
        slot->used = slot->sizes = 0; /* until it is whole again */
        s = encode(a, m, &d, &memory, slot->map, err);
        if (s != TILE_OK) return s;
        memcpy(slot->key, key, sizeof key);
        slot->hash = hash;
    }
    slot->sizes = empty ? 0 : a->sizes;
    slot->address = (uint64_t)d.address;
    slot->bytes = a->tensors[m->tensor].bytes;
    *out = slot;
    return TILE_OK;
}

tile_status args_encode_maps(tile_args *a, Report *r, tile_error *err)
{
    const MfKernel *mf = a->kernel->mf;
    a->turn++;
    for (uint32_t i = 0; i < mf->maps.n; i++) {
        const MfMap *m = &mf->maps.v[i];
        MapSlot *ways = &a->slots[(size_t)i * MAP_WAYS], *slot = kept_map(a, m, ways);
        tile_status s = slot ? TILE_OK : find_map(a, m, ways, &slot, r, err);
        if (s != TILE_OK) return s;
        if (!slot) continue;
        slot->used = a->turn;
        a->maps[i] = slot->map;
    }
    return TILE_OK;
}
