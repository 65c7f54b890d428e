#include "lang/lang.h"

#include <string.h>

#include "lang/map_rules.h"
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

size_t older_target_count(void)
{
    return sizeof OLDER_TARGETS / sizeof OLDER_TARGETS[0];
}

const OlderTarget *older_target_at(size_t i)
{
    return &OLDER_TARGETS[i];
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
#define ROW(id, ident, ptx, feature, version, completion, src, dst, proxy, tx, traps, section)                         \
    [FORM_##id] = {ident, ptx, feature, version, completion, section, src, dst, proxy, tx, traps},
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

/* ---- reductions ---- */

const char *reduction_types(InstrForm f, const char *op)
{
    static const struct {
        const char *op, *global, *shared, *small;
    } rows[] = {
#define REDUCTION(op, global, shared, small) {op, global, shared, small},
#include "lang/reductions.def"
    };
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        if (strcmp(rows[k].op, op) != 0) continue;
        bool global = f == FORM_BULK_REDUCE || f == FORM_TMA_REDUCE_TILE || f == FORM_TMA_REDUCE_IM2COL;
        return global ? rows[k].global : f == FORM_BULK_REDUCE_PEER ? rows[k].shared : rows[k].small;
    }
    return "";
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

/* PTX ISA, red: .inc and .dec wrap at a bound that is each operand's own. */
bool reduction_commutes(const char *op)
{
    return strcmp(op, "inc") != 0 && strcmp(op, "dec") != 0;
}

/* Once more changes nothing. */
bool reduction_repeats(const char *op)
{
    return strcmp(op, "min") == 0 || strcmp(op, "max") == 0 || strcmp(op, "and") == 0 || strcmp(op, "or") == 0;
}

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
    bool add = strcmp(op, "add") == 0, bits = strcmp(op, "and") == 0 || strcmp(op, "or") == 0 || strcmp(op, "xor") == 0;
    bool integer = e->kind == ELEM_UINT || e->kind == ELEM_SINT;
    *ptx_op = add && e->kind == ELEM_FLOAT && e->shared_bits == 16 ? "add.noftz" : op;
    *ptx_type = bits && integer && e->shared_bits == 32 ? "b32" : bits && integer && e->shared_bits == 64 ? "b64" : e->name;
    return in_words(reduction_types(f, *ptx_op), *ptx_type);
}

/* ---- word lists ---- */

#define WORD_ROW(...) ((const char *const[]){__VA_ARGS__})
#define WORDS(...)                                                                                                     \
    {                                                                                                                  \
        WORD_ROW(__VA_ARGS__), sizeof WORD_ROW(__VA_ARGS__) / sizeof(const char *)                                     \
    }

/* In the order of enum WordList; the order of the words is that of the enums that use them. */
static const struct Words {
    const char *const *v;
    size_t n;
} WORD_LISTS[] = {
    [WORDS_MODE] = WORDS("tiled", "im2col", "im2col_w", "im2col_w128", "gather4", "scatter4"), /* MapMode */
    [WORDS_FILL] = WORDS("zero", "nan"),                                                       /* MapFill */
    [WORDS_CACHE] = WORDS("evict_normal", "evict_first", "evict_last", "evict_unchanged"),
    [WORDS_MULTICAST] = WORDS("x", "y", "z", "all", "warpx4", "warpx2_02_13", "warpx2_01_23"),
    [WORDS_REDUCE] = WORDS("add", "min", "max", "inc", "dec", "and", "or", "xor"),
    [WORDS_DEAL] = WORDS("static", "ticket", "launch", "clc"),
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
    bool bits = strcmp(op, "and") == 0 || strcmp(op, "or") == 0 || strcmp(op, "xor") == 0;
    if (map_type == MAP_S64 && bits) return false; /* measured: ends the kernel (715) */
    for (int t = 0; t < TYPE_COUNT; t++)
        if (ELEMS[t].map_type == moved && reduction_of(FORM_TMA_REDUCE_TILE, op, (ElemType)t, &ptx_op, &ptx_type))
            return true;
    return false;
}
