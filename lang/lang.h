/* The language as data: look-ups over types.def, targets.def and instructions.def.
 *
 * A fact of the PTX ISA or the driver is one row of a .def file; checker, emitter, simulator, tests and the
 * generated documentation read the same row. There is no comparison of target numbers outside these tables.
 */
#ifndef LANG_LANG_H
#define LANG_LANG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lang/arena.h"

/* ---- element types: types.def ---- */
typedef enum ElemType {
#define TYPE(id, name, ...) TYPE_##id,
#include "lang/types.def"
#undef TYPE
    TYPE_COUNT
} ElemType;
typedef enum ElemKind { ELEM_UINT, ELEM_SINT, ELEM_FLOAT, ELEM_PACKED } ElemKind;
typedef struct ElemInfo {
    const char *name;     /* as written in .tile */
    uint8_t global_bits;  /* bits per element in global memory */
    uint8_t shared_bits;  /* bits per element in shared memory (packed types with gaps: 8) */
    ElemKind kind;
    int8_t map_type;      /* MapType (CUtensorMapDataType) of the map that moves it: s8, e4m3, e5m2 as U8, s16 as U16 */
    const char *npy;      /* dtype of .npy files ("<u2" for bf16) */
    const char *ptx;      /* register / memory type of loads: "s32", "b16"; "" if it can't be read as a scalar */
} ElemInfo;
const ElemInfo *elem_info(ElemType t);
bool elem_find(const char *name, ElemType *out);

/* ---- targets: targets.def ---- */
/* Instruction classes of the async families; each target row lists those that it has. */
typedef enum Feature {
    FEAT_BULK,        /* cp.async.bulk, cp.async.bulk.tensor, reductions, prefetch, mbarrier tx: sm_90 */
    FEAT_CTA_DST,     /* .shared::cta as destination of loads (.version 8.6) */
    FEAT_CP_MASK,     /* .cp_mask */
    FEAT_GATHER4_CTA, /* tile::gather4 and im2col::w to .shared::cta */
    FEAT_BLK,         /* .cta_group, gather4 / im2col::w to ::cluster, w::128, scatter4, tcgen05.cp */
    FEAT_TCGEN_SHIFT, /* tcgen05.shift */
    FEAT_MULTICAST_FAST, /* .multicast::cluster at full speed (elsewhere a performance warning) */
    FEAT_SM100,       /* clusterlaunchcontrol.try_cancel, st.bulk */
    FEAT_CLC_MULTICAST, /* clusterlaunchcontrol.try_cancel .multicast::cluster::all */
    FEAT_ARCH,        /* setmaxnreg, tensormap.replace: all targets with suffix */
    FEAT_COUNT
} Feature;
const char *feature_name(Feature f); /* for documentation and messages: "BLK" */
typedef struct TargetInfo {
    const char *name;        /* "sm_90a" */
    uint16_t sm;             /* 90 */
    char suffix;             /* 0, 'a' or 'f' */
    uint8_t min_version;     /* least PTX ISA: 80 = 8.0 */
    uint32_t features;       /* 1u << Feature */
    uint32_t smem_per_cta;   /* bytes, opt-in maximum of dynamic shared memory */
    uint8_t max_cluster;     /* portable maximum */
    uint8_t widest_cluster;  /* where the launch allows more than that */
    uint16_t tmem_columns;   /* 0: none */
    const char *today;       /* "sm_110a" of sm_101a, under which the assembler has it; "": name */
} TargetInfo;
size_t target_count(void);
const TargetInfo *target_at(size_t i);
const TargetInfo *target_find(const char *name); /* also by an older name; NULL if unknown */
const TargetInfo *target_today(const TargetInfo *t); /* the row of its name today, mostly its own */
typedef struct OlderTarget { /* none of the asynchronous families */
    const char *name;
    uint16_t sm;
    uint8_t min_version;
} OlderTarget;
const OlderTarget *older_target_find(const char *name);
const char *target_nearest(const char *name); /* to a misspelt name, of all targets; or NULL */
bool ptx_version_exists(unsigned version);    /* 86 = 8.6 */
unsigned ptx_version_newest(void);
static inline bool target_has(const TargetInfo *t, Feature f) { return (t->features >> f) & 1u; }

/* ---- instruction forms: instructions.def ---- */
typedef enum InstrForm {
#define FORM(id, ...) FORM_##id,
#include "lang/instructions.def"
#undef FORM
    FORM_COUNT
} InstrForm;
typedef enum Completion { COMP_NONE, COMP_MBARRIER, COMP_BULK_GROUP, COMP_TC_COMMIT } Completion;
/* State spaces of the data that a form moves; FS_CLUSTER: shared memory of another CTA of the cluster, too. */
typedef enum FormSpace { FS_NONE, FS_GLOBAL, FS_SHARED, FS_CLUSTER, FS_TMEM } FormSpace;
typedef enum Proxy { PROXY_NONE, PROXY_GENERIC, PROXY_ASYNC } Proxy;
enum {                      /* what ends the kernel */
    TRAP_NEGATIVE = 1,      /* a store or reduction starts below 0 in some dimension */
    TRAP_INNER_16 = 2,      /* the innermost start is not a multiple of 16 bytes */
    TRAP_IM2COL_BASE = 4,   /* the base pixel lies outside the box */
    TRAP_SHARED_128 = 8,    /* the shared address is not a multiple of 128 */
    TRAP_ALIGN_16 = 16,     /* an address or the size is not a multiple of 16 */
    TRAP_BOUNDS = 32        /* nothing clips the range at the tensor's end */
};
typedef struct FormInfo {
    const char *ident;     /* "TMA_LOAD_TILE_CTA" */
    const char *ptx;       /* mnemonic with placeholders; see the head of instructions.def */
    Feature feature;       /* what the target must have */
    uint8_t min_version;   /* least PTX ISA for the form: 80 = 8.0 */
    Completion completion;
    const char *section;   /* section of the PTX ISA */
    FormSpace src_space, dst_space;
    Proxy proxy;           /* through which the data is accessed */
    uint8_t traps;         /* TRAP_* */
} FormInfo;
const FormInfo *form_info(InstrForm f);
/* Targets for messages: "sm_100a, sm_100f, .."; the arena's. Those that have it, whose clusters may have so many CTAs, and
 * whose CTAs may have so many bytes of shared memory; NULL: none. */
const char *feature_targets(Arena *a, Feature f);
const char *cluster_targets(Arena *a, int64_t ctas);
const char *smem_targets(Arena *a, int64_t bytes);
bool form_legal(InstrForm f, const TargetInfo *t, unsigned version); /* version 86 = 8.6 */
/* coverage.def: what reaches a form and which tests show it; paths from tests/, names without suffix. */
typedef struct FormCover {
    const char *statement;        /* of .tile */
    const char *golden, *sim, *gpu; /* gpu "": sm_90 does not have it */
} FormCover;
const FormCover *form_cover(InstrForm f); /* NULL: no row */

/* ---- reductions: reductions.def ---- */
/* The PTX types that an operation ("add", "add.noftz") of a reduction form works on: "u32 s32"; "" for none. */
const char *reduction_types(InstrForm f, const char *op);
/* The PTX ISA since which a form has a pair that is not in that list: 94 = 9.4; 0: none has it. */
unsigned reduction_since(InstrForm f, const char *op, const char *type);
bool reduction_repeats(const char *op);  /* the same once more changes nothing: min, max, and, or */
bool reduction_commutes(const char *op); /* several to one place, in whatever order: not inc and dec */
/* The PTX names of operation and type for elements of type t; false where the form has none. op: one of WORDS_REDUCE. */
bool reduction_of(InstrForm f, const char *op, ElemType t, const char **ptx_op, const char **ptx_type);

/* What no launch checks of an index tensor's elements: no two are equal; none is less than the one before. WORDS_TRUST */
typedef enum Trust { TRUST_DISTINCT, TRUST_SORTED, TRUST_COUNT } Trust;

/* ---- word lists (soft hardware words): with did-you-mean at the caller ---- */
typedef enum WordList { WORDS_TYPE, WORDS_MODE, WORDS_MAP_TYPE, WORDS_INTERLEAVE, WORDS_SWIZZLE, WORDS_L2, WORDS_FILL, WORDS_CACHE, WORDS_MULTICAST, WORDS_REDUCE, WORDS_DEAL, WORDS_TRUST, WORDS_CONVERT, WORDS_OVERLAP, WORDS_GRID_MEMBER, WORDS_CLUSTER_MEMBER } WordList;
const char *const *word_list(WordList w, size_t *n);
static inline const char *reduce_word(int reduce) /* of WORDS_REDUCE */
{
    size_t n;
    return word_list(WORDS_REDUCE, &n)[reduce];
}
/* Index in the list, or -1. */
int word_find(WordList w, const char *s);

/* Does a tensor reduction by op (one of WORDS_REDUCE) work through maps of that type (MapType)? */
bool reduction_of_map(const char *op, int map_type);

#endif
