#include "runtime/ptx/forms_table.h"

#include <stdio.h>
#include <string.h>

/* ---- names ---- */

static const char *const NAMES[] = {
    "cp.async.bulk.tensor",
    "cp.async.bulk.prefetch.tensor",
    "cp.async.bulk.prefetch",
    "cp.async.bulk.commit_group",
    "cp.async.bulk.wait_group",
    "cp.async.bulk",
    "cp.reduce.async.bulk.tensor",
    "cp.reduce.async.bulk",
    "st.async",
    "st.bulk",
    "red.async",
    "mbarrier.init",
    "mbarrier.inval",
    "mbarrier.arrive.expect_tx",
    "mbarrier.arrive",
    "mbarrier.arrive_drop.expect_tx",
    "mbarrier.arrive_drop",
    "mbarrier.expect_tx",
    "mbarrier.complete_tx",
    "mbarrier.test_wait.parity",
    "mbarrier.test_wait",
    "mbarrier.try_wait.parity",
    "mbarrier.try_wait",
    "mbarrier.pending_count",
    "fence.proxy",
    "fence",
    "prefetch",
    "tensormap.replace",
    "tensormap.cp_fenceproxy",
    "barrier.cluster.arrive",
    "barrier.cluster.wait",
    "elect",
    "mapa",
    "getctarank",
    "setmaxnreg.inc",
    "setmaxnreg.dec",
    "griddepcontrol",
    "createpolicy.fractional",
    "createpolicy.range",
    "createpolicy.cvt",
    "clusterlaunchcontrol.try_cancel.async",
    "clusterlaunchcontrol.query_cancel",
    "tcgen05.alloc",
    "tcgen05.dealloc",
    "tcgen05.relinquish_alloc_permit",
    "tcgen05.cp",
    "tcgen05.shift",
    "tcgen05.ld",
    "tcgen05.st",
    "tcgen05.wait::ld",
    "tcgen05.wait::st",
    "tcgen05.commit",
    "tcgen05.fence::before_thread_sync",
    "tcgen05.fence::after_thread_sync",
    "ldmatrix",
    "stmatrix",
};
enum { NNAMES = sizeof NAMES / sizeof NAMES[0] };

const char *form_name_at(size_t k)
{
    return k < NNAMES ? NAMES[k] : NULL;
}

/* Does the instruction start with these words? *nmods: how many modifiers they are. */
static bool starts_with(const PtxInstr *i, const char *name, uint32_t *nmods)
{
    size_t n = strlen(i->opcode);
    if (strncmp(name, i->opcode, n) != 0 || (name[n] && name[n] != '.')) return false;
    uint32_t k = 0;
    for (const char *p = name + n; *p; k++) {
        if (k >= i->nmods) return false;
        n = strlen(i->mods[k]);
        if (strncmp(p, i->mods[k], n) != 0 || (p[n] && p[n] != '.')) return false;
        p += n;
    }
    *nmods = k;
    return true;
}

const char *form_name_of(const PtxInstr *i, uint32_t *nmods)
{
    const char *best = NULL;
    uint32_t n;
    for (size_t k = 0; k < NNAMES; k++) {
        if (NAMES[k][0] != i->opcode[0] || !starts_with(i, NAMES[k], &n) || (best && n <= *nmods)) continue;
        best = NAMES[k];
        *nmods = n;
    }
    return best;
}

/* ---- placeholders ---- */

static const char *const PLACEHOLDERS[PH_ALL] = {
    [PH_DST] = "dst",         [PH_SRC] = "src",     [PH_MAP] = "map",       [PH_COORDS] = "coords",
    [PH_MBAR] = "mbar",       [PH_GADDR] = "gaddr", [PH_SIZE] = "size",     [PH_BYTES] = "bytes",
    [PH_COUNT] = "count",     [PH_N] = "n",         [PH_PARITY] = "parity", [PH_STATE] = "state",
    [PH_VALUE] = "value",     [PH_RANK] = "rank",   [PH_ID] = "id",         [PH_THREADS] = "threads",
    [PH_PRED] = "pred",       [PH_REG] = "reg",     [PH_REGS] = "regs",     [PH_TADDR] = "taddr",
    [PH_DESC] = "desc",       [PH_INFO] = "info",   [PH_MASK] = "mask",     [PH_POLICY] = "policy",
    [PH_ORDINAL] = "ordinal", [PH_DIM] = "dim",     [PH_FIELD] = "field",   [PH_TYPE] = "type",
    [PH_OP] = "op",           [PH_SCOPE] = "scope", [PH_SEM] = "sem",       [PH_GROUP1] = "group1",
    [PH_HINT] = "hint",       [PH_GROUP] = "group", [PH_FMT] = "fmt",       [PH_VEC] = "vec",
    [PH_ELSE] = "else",
};

/* *at stands behind '{'; moves behind '}'. */
static Placeholder take_placeholder(const char **at)
{
    const char *s = *at;
    size_t n = strcspn(s, "}");
    *at = s + n + (s[n] == '}');
    for (int k = 0; k < PH_ALL; k++)
        if (strlen(PLACEHOLDERS[k]) == n && memcmp(PLACEHOLDERS[k], s, n) == 0) return (Placeholder)k;
    return PH_ALL;
}

const char *form_modifiers(InstrForm f, const char *name)
{
    return form_info(f)->ptx + strlen(name);
}

bool next_piece(const char **at, Piece *out)
{
    const char *s = *at;
    if (*s == 0 || *s == ' ' || *s == ';') return false;
    *out = (Piece){.text = s, .ph = PH_ALL, .tail = s};
    if (*s == '{') { /* a whole modifier, its dot included */
        s++;
        out->ph = take_placeholder(&s);
        if (out->ph == PH_ELSE) out->text = ".L2::", out->n = 5;
        else out->text = ".", out->n = 1;
        *at = s;
        return true;
    }
    s++;
    while (*s && !strchr(".{ ;", *s)) s++;
    out->n = (size_t)(s - out->text);
    /* "{group}" behind a word is the next modifier; ".x{n}" and ".{dim}d" are of this one. */
    bool inside = *s == '{' && (s[-1] == '.' || s[-1] == ':' || (s[-1] == 'x' && out->n == 2));
    if (inside) {
        s++;
        out->ph = take_placeholder(&s);
        out->tail = s;
        while (*s && !strchr(".{ ;", *s)) s++;
        out->ntail = (size_t)(s - out->tail);
    }
    *at = s;
    return true;
}

static const char *operations(InstrForm f)
{
#define REDUCTION(op, ...) " " op
    static const char REDUCTIONS[] =
#include "lang/reductions.def"
        ;
    switch (f) {
    case FORM_POLICY_CREATE:
    case FORM_POLICY_CREATE_ALL:
    case FORM_POLICY_RANGE: return "evict_last evict_normal evict_first evict_unchanged";
    case FORM_TC_LD:
    case FORM_TC_ST:
    case FORM_TC_LD_PACK:
    case FORM_TC_ST_UNPACK: return "32x32b 16x64b 16x128b 16x256b";
    case FORM_CLC_FIRST_CTA_DIM: return "x y z";
    default: return REDUCTIONS + 1;
    }
}

static const char *types(InstrForm f)
{
    switch (f) {
    case FORM_MAP_REPLACE:
    case FORM_MAP_REPLACE_GLOBAL: return "b32 b64";
    case FORM_MAPA_GENERIC:
    case FORM_GETCTARANK_GENERIC: return "u32 u64";
    case FORM_ST_ASYNC: return "b32 b64 u32 u64 s32 s64 f32 f64";
    case FORM_ST_ASYNC_RELEASE:
    case FORM_ST_ASYNC_MMIO: return "b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64";
    default: return "u32 s32 u64 s64 b32 b64 f16 bf16 f32 f64";
    }
}

static const char *scopes(InstrForm f)
{
    switch (f) {
    case FORM_FENCE_ACQ_REL:
    case FORM_FENCE_SC:
    case FORM_FENCE_ACQUIRE:
    case FORM_FENCE_RELEASE:
    case FORM_MAP_PUBLISH_SCOPE:
    case FORM_MAP_ACQUIRE_SCOPE:
    case FORM_MAP_RELEASE: return "cta cluster gpu sys";
    case FORM_ST_ASYNC_RELEASE:
    case FORM_RED_ASYNC_RELEASE: return "gpu sys";
    default: return "cta cluster";
    }
}

static const char *semantics(InstrForm f)
{
    switch (f) {
    case FORM_MBAR_TRY_WAIT:
    case FORM_MBAR_TRY_WAIT_HINT:
    case FORM_MBAR_TEST_WAIT:
    case FORM_MBAR_TRY_WAIT_STATE:
    case FORM_MBAR_TRY_WAIT_STATE_HINT:
    case FORM_MBAR_TEST_WAIT_STATE: return "acquire relaxed";
    default: return "release relaxed";
    }
}

static const char *counts(InstrForm f)
{
    switch (f) {
    case FORM_LDMATRIX_B8:
    case FORM_LDMATRIX_B8_WIDEN: return "1 2";
    case FORM_LDMATRIX:
    case FORM_LDMATRIX_TRANS:
    case FORM_LDMATRIX_ROWS_WIDEN:
    case FORM_STMATRIX:
    case FORM_STMATRIX_TRANS:
    case FORM_STMATRIX_B8: return "1 2 4";
    default: return "1 2 4 8 16 32 64 128";
    }
}

const char *placeholder_words(InstrForm f, Placeholder ph)
{
    switch (ph) {
    case PH_DIM: return "1 2 3 4 5";
    case PH_GROUP1: return "1 2";
    case PH_HINT: return "L2::cache_hint";
    case PH_GROUP: return "cta_group::1 cta_group::2";
    case PH_FMT: return "b6x16_p32 b4x16_p64";
    case PH_VEC: return "v2 v4";
    case PH_ELSE: return "evict_first evict_unchanged";
    case PH_FIELD:
        return "global_address rank box_dim global_dim global_stride element_stride elemtype interleave_layout "
               "swizzle_mode swizzle_atomicity fill_mode";
    case PH_OP: return operations(f);
    case PH_TYPE: return types(f);
    case PH_SCOPE: return scopes(f);
    case PH_SEM: return semantics(f);
    case PH_N: return counts(f);
    default: return "";
    }
}

void form_vocabulary(InstrForm f, const char *name, void (*each)(void *user, const char *word), void *user)
{
    char word[64];
    Piece p;
    const char *at = form_modifiers(f, name);
    while (next_piece(&at, &p)) {
        if (p.ph == PH_ALL) {
            snprintf(word, sizeof word, "%.*s", (int)p.n, p.text);
            each(user, word);
            continue;
        }
        if (p.ph == PH_FMT) each(user, ".b8x16");
        for (const char *w = placeholder_words(f, p.ph); *w;) {
            size_t n = strcspn(w, " ");
            snprintf(word, sizeof word, "%.*s%.*s%.*s", (int)p.n, p.text, (int)n, w, (int)p.ntail, p.tail);
            each(user, word);
            w += n + (w[n] == ' ');
        }
    }
}

/* ---- operands ---- */

static bool is_there(Placeholder ph, const FormMatch *m)
{
    static const char *const arrays[] = {"box_dim", "global_dim", "global_stride", "element_stride"};
    if (ph == PH_POLICY) return m->word[PH_HINT] != NULL;
    if (ph != PH_ORDINAL) return true;
    for (size_t k = 0; m->word[PH_FIELD] && k < sizeof arrays / sizeof arrays[0]; k++)
        if (strcmp(arrays[k], m->word[PH_FIELD]) == 0) return true;
    return false;
}

static void take_bracket(const char **at, Place *p)
{
    const char *s = *at + 2; /* "[{" */
    p->kind = PLACE_ADDRESS;
    p->ph = take_placeholder(&s);
    if (*s == ',') {
        p->kind = PLACE_MAP;
        p->ph2 = PH_COORDS;
        s = strchr(s, ']');
    }
    *at = s + 1;
}

static void take_bare(const char **at, Place *p)
{
    const char *s = *at;
    if (*s == '_') {
        p->kind = PLACE_SINK;
        s++;
    } else if (*s == '{') {
        s++;
        p->kind = PLACE_BARE;
        p->ph = take_placeholder(&s);
    } else {
        p->kind = PLACE_LITERAL;
        int base = s[0] == '0' && s[1] == 'x' ? 16 : 10;
        if (base == 16) s += 2;
        for (; *s && *s != ',' && *s != ';'; s++) {
            uint32_t digit = *s <= '9' ? (uint32_t)(*s - '0') : (uint32_t)(*s - 'a' + 10);
            p->literal = p->literal * (uint32_t)base + digit;
        }
    }
    if (*s == '|') {
        s += 2; /* "|{" */
        p->kind = PLACE_PAIR;
        p->ph2 = take_placeholder(&s);
    }
    *at = s;
}

uint32_t form_places(InstrForm f, const FormMatch *m, Place out[MAX_PLACES])
{
    const char *s = strchr(form_info(f)->ptx, ' ');
    uint32_t n = 0;
    while (s && *s && *s != ';' && n < MAX_PLACES) {
        if (*s == ' ' || *s == ',') {
            s++;
            continue;
        }
        Place p = {.ph = PH_ALL, .ph2 = PH_ALL, .text = s};
        if (*s == '[') take_bracket(&s, &p);
        else take_bare(&s, &p);
        p.n = (size_t)(s - p.text);
        if (p.kind != PLACE_BARE || is_there(p.ph, m)) out[n++] = p;
    }
    return n;
}

const char *place_name(const Place *p)
{
    static const char *const names[PH_OPERANDS] = {
        [PH_DST] = "the destination",     [PH_SRC] = "the source",
        [PH_MAP] = "the tensor map",      [PH_COORDS] = "the coordinates",
        [PH_MBAR] = "the barrier",        [PH_GADDR] = "the global address",
        [PH_SIZE] = "the size",           [PH_BYTES] = "the number of bytes",
        [PH_COUNT] = "the count",         [PH_N] = "the number",
        [PH_PARITY] = "the parity",       [PH_STATE] = "the state",
        [PH_VALUE] = "the value",         [PH_RANK] = "the rank",
        [PH_ID] = "the barrier's number", [PH_THREADS] = "the number of threads",
        [PH_PRED] = "the predicate",      [PH_REG] = "the register",
        [PH_REGS] = "the registers",      [PH_TADDR] = "the tensor memory address",
        [PH_DESC] = "the descriptor",     [PH_INFO] = "the im2col offsets",
        [PH_MASK] = "the mask",           [PH_POLICY] = "the cache policy",
        [PH_ORDINAL] = "the ordinal",
    };
    return p->ph < PH_OPERANDS ? names[p->ph] : "the operand";
}

/* ---- kinds of modifiers ---- */

static bool one_of(const char *word, const char *list)
{
    size_t n = strlen(word);
    for (const char *w = list; (w = strstr(w, word)) != NULL; w += n)
        if ((w == list || w[-1] == ' ') && (w[n] == 0 || w[n] == ' ')) return true;
    return false;
}

WordKind word_kind(const char *word)
{
    static const struct {
        WordKind kind;
        const char *words;
    } kinds[] = {
        {KIND_DIM, ".1d .2d .3d .4d .5d"},
        {KIND_SPACE, ".shared::cta .shared::cluster .global .shared .local .param .const"},
        {KIND_MODE, ".tile .tile::gather4 .tile::scatter4 .im2col .im2col::w .im2col::w::128 .im2col_no_offs"},
        {KIND_COMPLETION, ".mbarrier::complete_tx::bytes .bulk_group .mbarrier::arrive::one"},
        {KIND_GROUP, ".cta_group::1 .cta_group::2"},
        {KIND_SEM, ".release .acquire .relaxed .acq_rel .sc .weak .volatile"},
        {KIND_SCOPE, ".cta .cluster .gpu .sys"},
        {KIND_OP, ".add .min .max .inc .dec .and .or .xor .cas .exch"},
        {KIND_TYPE, ".b8 .b16 .b32 .b64 .b128 .u8 .u16 .u32 .u64 .s8 .s16 .s32 .s64 .f16 .bf16 .f32 .f64"},
        {KIND_SHAPE, ".128x256b .4x256b .128x128b .64x128b .32x128b .32x32b .16x64b .16x128b .16x256b .16x32bx2 "
                     ".m8n8 .m16n16 .m8n16 .m16n8"},
        {KIND_VECTOR, ".v2 .v4 .x1 .x2 .x4 .x8 .x16 .x32 .x64 .x128"},
    };
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        if (one_of(word, kinds[k].words)) return kinds[k].kind;
    return KIND_NONE;
}
