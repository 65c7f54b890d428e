#include "lang/lang.h"

#include <string.h>

#include "lang/maps/rules.h"
#include "lang/names.h"

/* ---- element types ---- */

static const ElemInfo ELEMS[] = {
#define TYPE(id, name, gbits, sbits, kind, map, npy, ptx) [TYPE_##id] = {name, gbits, sbits, kind, map, npy, ptx},
#include "lang/types.def"
#undef TYPE
};
_Static_assert(sizeof ELEMS / sizeof ELEMS[0] == TYPE_COUNT, "one row per element type");
/* Manifests carry the number of the type: rows are only ever added at the end. */
_Static_assert(TYPE_U8 == 0 && TYPE_S32 == 6 && TYPE_BF16 == 9 && TYPE_B6A16 == 17, "types keep their numbers");

const ElemInfo *elem_info(ElemType t)
{
    return &ELEMS[t];
}

bool elem_find(const char *name, ElemType *out)
{
    for (int t = 0; t < TYPE_COUNT; t++) {
        if (strcmp(ELEMS[t].name, name) != 0) continue;
        *out = (ElemType)t;
        return true;
    }
    return false;
}

/* ---- targets ---- */

static const TargetInfo TARGETS[] = {
#define TARGET(name, sm, suffix, version, features, smem, cluster, widest, tmem, today)                                \
    {name, sm, suffix, version, features, smem, cluster, widest, tmem, today},
#include "lang/targets.def"
};
static const OlderTarget OLDER_TARGETS[] = {
#define OLDER_TARGET(name, sm, version) {name, sm, version},
#include "lang/targets.def"
};
static const struct {
    uint8_t first, last;
} PTX_VERSIONS[] = {
#define PTX_ISA(first, last) {first, last},
#include "lang/targets.def"
};
_Static_assert(FEAT_COUNT <= 32, "features fit the mask");

size_t target_count(void)
{
    return sizeof TARGETS / sizeof TARGETS[0];
}

const TargetInfo *target_at(size_t i)
{
    return &TARGETS[i];
}

const TargetInfo *target_find(const char *name)
{
    for (size_t i = 0; name[0] && i < target_count(); i++)
        if (strcmp(TARGETS[i].name, name) == 0) return &TARGETS[i];
    return NULL;
}

const TargetInfo *target_today(const TargetInfo *t)
{
    return t && t->today[0] ? target_find(t->today) : t;
}

static size_t older_target_count(void)
{
    return sizeof OLDER_TARGETS / sizeof OLDER_TARGETS[0];
}

const char *target_nearest(const char *name)
{
    const char *names[64];
    size_t n = 0;
    _Static_assert(sizeof TARGETS / sizeof TARGETS[0] + sizeof OLDER_TARGETS / sizeof OLDER_TARGETS[0] <= 64, "all of them");
    for (size_t i = 0; i < target_count(); i++) names[n++] = TARGETS[i].name;
    for (size_t i = 0; i < older_target_count(); i++) names[n++] = OLDER_TARGETS[i].name;
    return spelling_nearest(name, names, n);
}

const OlderTarget *older_target_find(const char *name)
{
    for (size_t i = 0; i < older_target_count(); i++)
        if (strcmp(OLDER_TARGETS[i].name, name) == 0) return &OLDER_TARGETS[i];
    return NULL;
}

bool ptx_version_exists(unsigned version)
{
    for (size_t i = 0; i < sizeof PTX_VERSIONS / sizeof PTX_VERSIONS[0]; i++)
        if (version >= PTX_VERSIONS[i].first && version <= PTX_VERSIONS[i].last) return true;
    return false;
}

unsigned ptx_version_newest(void)
{
    return PTX_VERSIONS[sizeof PTX_VERSIONS / sizeof PTX_VERSIONS[0] - 1].last;
}

const char *feature_name(Feature f)
{
    static const char *const names[] = {
        [FEAT_BULK] = "bulk",
        [FEAT_CTA_DST] = "loads to .shared::cta",
        [FEAT_CP_MASK] = ".cp_mask",
        [FEAT_GATHER4_CTA] = "gather4 and im2col::w to .shared::cta",
        [FEAT_BLK] = "BLK",
        [FEAT_TCGEN_SHIFT] = "tcgen05.shift",
        [FEAT_MULTICAST_FAST] = "fast multicast",
        [FEAT_SM100] = "sm_100",
        [FEAT_CLC_MULTICAST] = "multicast of clusterlaunchcontrol",
        [FEAT_ARCH] = "architecture-specific",
    };
    _Static_assert(sizeof names / sizeof names[0] == FEAT_COUNT, "one name per feature");
    return names[f];
}

/* ---- instruction forms ---- */

static const FormInfo FORMS[] = {
/* The rows pass through one more macro so that the groups of columns that many rows share are expanded first. */
#define ROW(id, ident, ptx, feature, version, completion, src, dst, proxy, traps, section)                             \
    [FORM_##id] = {ident, ptx, feature, version, completion, section, src, dst, proxy, traps},
#define FORM(...) ROW(__VA_ARGS__)
#include "lang/instructions.def"
#undef FORM
#undef ROW
};
_Static_assert(sizeof FORMS / sizeof FORMS[0] == FORM_COUNT, "one row per instruction form");

const FormInfo *form_info(InstrForm f)
{
    return &FORMS[f];
}

static const char *targets_where(Arena *a, bool (*holds)(const TargetInfo *, int64_t), int64_t k)
{
    const char *list = NULL;
    for (size_t i = 0; i < target_count(); i++)
        if (!target_at(i)->today[0] && holds(target_at(i), k)) list = arena_printf(a, "%s%s%s", list ? list : "", list ? ", " : "", target_at(i)->name);
    return list;
}

static bool has_feature(const TargetInfo *t, int64_t f)
{
    return target_has(t, (Feature)f);
}

static bool has_cluster(const TargetInfo *t, int64_t ctas)
{
    return t->widest_cluster >= ctas;
}

static bool has_smem(const TargetInfo *t, int64_t bytes)
{
    return (int64_t)t->smem_per_cta >= bytes;
}

const char *feature_targets(Arena *a, Feature f)
{
    return targets_where(a, has_feature, f);
}

const char *cluster_targets(Arena *a, int64_t ctas)
{
    return targets_where(a, has_cluster, ctas);
}

const char *smem_targets(Arena *a, int64_t bytes)
{
    return targets_where(a, has_smem, bytes);
}

const FormCover *form_cover(InstrForm f)
{
    static const FormCover rows[] = {
#define COVER(id, statement, golden, sim, gpu) [FORM_##id] = {statement, golden, sim, gpu},
#include "lang/coverage.def"
#undef COVER
        [FORM_COUNT] = {NULL, NULL, NULL, NULL}};
    return rows[f].statement ? &rows[f] : NULL;
}

bool form_legal(InstrForm f, const TargetInfo *t, unsigned version)
{
    const FormInfo *i = &FORMS[f];
    return target_has(t, i->feature) && version >= i->min_version && version >= t->min_version;
}

/* ---- modes of maps ---- */

const MapModeInfo *map_mode(unsigned mode)
{
    static const MapModeInfo rows[] = {
#define ROW(id, word, ptx, kind, pixels, rows, most, cta, cluster, multicast, prefetch, store, reduce)                         \
    [MAP_##id] = {word, ptx, kind, pixels, rows, most, {cta, cluster, multicast}, prefetch, store, reduce},
#define MODE(...) ROW(__VA_ARGS__)
#include "lang/modes.def"
#undef MODE
#undef ROW
    };
    return &rows[mode < MAP_MODE_COUNT ? mode : MAP_TILED];
}

int64_t map_pixels(unsigned mode, int64_t pixels, int64_t halo)
{
    const MapModeInfo *m = map_mode(mode);
    return (m->pixels ? m->pixels : pixels) + m->halo_rows * halo;
}

int64_t map_offset_most(int rank)
{
    return rank <= 3 ? 65535 : rank == 4 ? 255 : 31;
}

/* ---- reductions ---- */

typedef struct Reduction {
    const char *op, *half; /* half: in PTX, of 16-bit floats; NULL: as the others */
    bool any_order, again, bits;
    const char *global, *shared, *small;
} Reduction;

static const Reduction REDUCTIONS[] = {
#define REDUCTION(op, any_order, again, bits, global, shared, small) {op, NULL, any_order, again, bits, global, shared, small},
#define HALF_REDUCTION(op, ptx, global, shared, small) {op, ptx, false, false, false, global, shared, small},
#include "lang/reductions.def"
};

/* By its name in PTX. */
static const Reduction *reduction(const char *ptx_op)
{
    static const Reduction none = {.global = "", .shared = "", .small = ""};
    for (size_t k = 0; k < sizeof REDUCTIONS / sizeof *REDUCTIONS; k++) {
        const Reduction *r = &REDUCTIONS[k];
        if (strcmp(r->half ? r->half : r->op, ptx_op) == 0) return r;
    }
    return &none;
}

static const char *half_reduction(const char *op)
{
    for (size_t k = 0; k < sizeof REDUCTIONS / sizeof *REDUCTIONS; k++)
        if (REDUCTIONS[k].half && strcmp(REDUCTIONS[k].op, op) == 0) return REDUCTIONS[k].half;
    return op;
}

const char *reduction_types(InstrForm f, const char *op)
{
    const Reduction *r = reduction(op);
    bool global = f == FORM_BULK_REDUCE || f == FORM_TMA_REDUCE_TILE || f == FORM_TMA_REDUCE_IM2COL;
    return global ? r->global : f == FORM_BULK_REDUCE_PEER ? r->shared : r->small;
}

unsigned reduction_since(InstrForm f, const char *op, const char *type)
{
    static const struct {
        const char *op, *type;
        uint8_t version;
    } rows[] = {
#define LATER_REDUCTION(op, type, version) {op, type, version},
#include "lang/reductions.def"
    };
    for (size_t k = 0; f == FORM_BULK_REDUCE && k < sizeof rows / sizeof rows[0]; k++)
        if (strcmp(rows[k].op, op) == 0 && strcmp(rows[k].type, type) == 0) return rows[k].version;
    return 0;
}

bool reduction_commutes(const char *op) { return reduction(op)->any_order; }
bool reduction_repeats(const char *op) { return reduction(op)->again; }

static bool in_words(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *s = list; (s = strstr(s, word)) != NULL; s += n)
        if ((s == list || s[-1] == ' ') && (s[n] == 0 || s[n] == ' ')) return true;
    return false;
}

bool reduction_of(InstrForm f, const char *op, ElemType t, const char **ptx_op, const char **ptx_type)
{
    const ElemInfo *e = elem_info(t);
    bool bits = reduction(op)->bits, integer = e->kind == ELEM_UINT || e->kind == ELEM_SINT;
    *ptx_op = e->kind == ELEM_FLOAT && e->shared_bits == 16 ? half_reduction(op) : op;
    *ptx_type = bits && integer && e->shared_bits == 32 ? "b32" : bits && integer && e->shared_bits == 64 ? "b64" : e->name;
    return in_words(reduction_types(f, *ptx_op), *ptx_type);
}

/* ---- word lists ---- */

#define WORD_ROW(...) ((const char *const[]){__VA_ARGS__})
#define WORDS(...)                                                                                                     \
    {                                                                                                                  \
        WORD_ROW(__VA_ARGS__), sizeof WORD_ROW(__VA_ARGS__) / sizeof(const char *)                                     \
    }

static const char *const REDUCE_WORDS[] = {
#define REDUCTION(op, ...) op,
#include "lang/reductions.def"
};
static const char *const TYPE_WORDS[] = {
#define TYPE(id, name, ...) name,
#include "lang/types.def"
#undef TYPE
};
static const char *const MODE_WORDS[] = {
#define MODE(id, word, ...) word,
#include "lang/modes.def"
#undef MODE
};

/* In the order of enum WordList; the order of the words is that of the enums that use them. */
static const struct Words {
    const char *const *v;
    size_t n;
} WORD_LISTS[] = {
    [WORDS_TYPE] = {TYPE_WORDS, TYPE_COUNT},
    [WORDS_MODE] = {MODE_WORDS, MAP_MODE_COUNT},
    /* MapType, MapInterleave, MapSwizzle, MapL2, MapFill */
    [WORDS_MAP_TYPE] = WORDS("u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f64", "bf16", "f32_ftz", "tf32", "tf32_ftz", "u4_align8", "u4_align16", "u6_align16"),
    [WORDS_INTERLEAVE] = WORDS("none", "16B", "32B"),
    [WORDS_SWIZZLE] = WORDS("none", "32B", "64B", "128B", "128B_atom_32B", "128B_atom_32B_flip_8B", "128B_atom_64B"),
    [WORDS_L2] = WORDS("none", "64B", "128B", "256B"),
    [WORDS_FILL] = WORDS("zero", "nan"),
    [WORDS_CACHE] = WORDS("evict_normal", "evict_first", "evict_last", "evict_unchanged"),
    [WORDS_MULTICAST] = WORDS("x", "y", "z", "all", "warpx4", "warpx2_02_13", "warpx2_01_23"),
    [WORDS_REDUCE] = {REDUCE_WORDS, sizeof REDUCE_WORDS / sizeof *REDUCE_WORDS},
    [WORDS_DEAL] = WORDS("static", "ticket", "launch", "clc"),
    [WORDS_TRUST] = WORDS("distinct", "sorted"), /* Trust */
    [WORDS_CONVERT] = WORDS("sat"),
    [WORDS_OVERLAP] = WORDS("any"),
    [WORDS_GRID_MEMBER] = WORDS("x", "y", "z"),
    [WORDS_CLUSTER_MEMBER] = WORDS("x", "y", "z", "rank", "size"),
};

const char *const *word_list(WordList w, size_t *n)
{
    *n = WORD_LISTS[w].n;
    return WORD_LISTS[w].v;
}

int word_find(WordList w, const char *s)
{
    for (size_t i = 0; i < WORD_LISTS[w].n; i++)
        if (strcmp(WORD_LISTS[w].v[i], s) == 0) return (int)i;
    return -1;
}

/* ---- reductions through maps ---- */

bool reduction_of_map(const char *op, int map_type)
{
    const char *ptx_op, *ptx_type;
    int moved = map_type == MAP_F32_FTZ ? MAP_F32 : map_type;
    if (map_type == MAP_S64 && reduction(op)->bits) return false; /* measured: ends the kernel (715) */
    for (int t = 0; t < TYPE_COUNT; t++)
        if (ELEMS[t].map_type == moved && reduction_of(FORM_TMA_REDUCE_TILE, op, (ElemType)t, &ptx_op, &ptx_type))
            return true;
    return false;
}
