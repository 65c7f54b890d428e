/* Targets, versions, and what of a form goes together. The classes of targets are lang/targets.def's features. */
#include "runtime/ptx/forms_check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { TEXT = 1024 };

void finding(FormCheck *c, ErrorCode code, const char *fmt, ...)
{
    char text[TEXT];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    bool is_error = error_info(code)->cls == DIAG_ERROR;
    if (is_error) c->errors++;
    if (c->report) c->report(c->user, &(FormFinding){code, is_error, text});
}

/* ---- what a form needs ---- */

typedef struct Needs {
    Feature feature; /* FEAT_COUNT: none */
    uint16_t sm;     /* or at least this architecture */
    unsigned version;
    const char *word; /* the modifier that asks for it; NULL: the whole form */
} Needs;

/* Forms that are older than the asynchronous copies (PTX ISA, PTX ISA Notes and Target ISA Notes of each). */
static const struct Older {
    InstrForm first, last;
    uint16_t sm;
    uint8_t version;
} OLDER[] = {
    {FORM_MBAR_INIT, FORM_MBAR_INVAL, 80, 70},
    {FORM_MBAR_ARRIVE, FORM_MBAR_ARRIVE, 80, 71}, /* the sink */
    {FORM_MBAR_ARRIVE_STATE, FORM_MBAR_ARRIVE_STATE, 80, 70},
    {FORM_MBAR_ARRIVE_COUNT, FORM_MBAR_ARRIVE_COUNT, 90, 78},
    {FORM_MBAR_ARRIVE_NOCOMPLETE, FORM_MBAR_ARRIVE_NOCOMPLETE, 80, 70},
    {FORM_MBAR_DROP, FORM_MBAR_DROP, 80, 70},
    {FORM_MBAR_DROP_COUNT, FORM_MBAR_DROP_COUNT, 90, 78},
    {FORM_MBAR_DROP_NOCOMPLETE, FORM_MBAR_DROP_NOCOMPLETE, 80, 70},
    {FORM_MBAR_TRY_WAIT, FORM_MBAR_TRY_WAIT_HINT, 90, 78},
    {FORM_MBAR_TRY_WAIT_STATE, FORM_MBAR_TRY_WAIT_STATE_HINT, 90, 78},
    {FORM_MBAR_TEST_WAIT, FORM_MBAR_TEST_WAIT, 80, 71},
    {FORM_MBAR_TEST_WAIT_STATE, FORM_MBAR_TEST_WAIT_STATE, 80, 70},
    {FORM_MBAR_PENDING_COUNT, FORM_MBAR_PENDING_COUNT, 80, 70},
    {FORM_FENCE_ACQ_REL, FORM_FENCE_SC, 70, 60},
    {FORM_FENCE_ALIAS, FORM_FENCE_ALIAS, 70, 75},
    {FORM_CLUSTER_ARRIVE, FORM_CLUSTER_WAIT, 90, 78},
    {FORM_MAPA, FORM_GETCTARANK, 90, 78},
    {FORM_MAPA_64, FORM_GETCTARANK_GENERIC, 90, 78},
    {FORM_GRIDDEP_WAIT, FORM_GRIDDEP_LAUNCH, 90, 78},
    {FORM_POLICY_CREATE, FORM_POLICY_CREATE, 80, 74},
    {FORM_POLICY_CREATE_ALL, FORM_POLICY_CONVERT, 80, 74},
    {FORM_LDMATRIX, FORM_LDMATRIX_TRANS, 75, 65},
    {FORM_STMATRIX, FORM_STMATRIX_TRANS, 90, 78},
};

static const struct Older *find_older(InstrForm f)
{
    for (size_t k = 0; k < sizeof OLDER / sizeof OLDER[0]; k++)
        if (f >= OLDER[k].first && f <= OLDER[k].last) return &OLDER[k];
    return NULL;
}

static Needs form_needs(InstrForm f)
{
    const FormInfo *info = form_info(f);
    const struct Older *old = find_older(f);
    if (old) return (Needs){FEAT_COUNT, old->sm, old->version, NULL};
    return (Needs){info->feature, 0, info->min_version, NULL};
}

static bool is_form(InstrForm f, InstrForm first, InstrForm last)
{
    return f >= first && f <= last;
}

static bool is_mbarrier(InstrForm f)
{
    return is_form(f, FORM_MBAR_INIT, FORM_MBAR_PENDING_COUNT);
}

/* What its modifiers ask for beyond the form. */
static Needs word_needs(const FormMatch *m, const char *mod)
{
    Needs none = {FEAT_COUNT, 0, 0, mod};
    bool barrier = is_mbarrier(m->form);
    if (strncmp(mod, ".cta_group", 10) == 0 && strncmp(form_info(m->form)->ptx, "cp.", 3) == 0) {
        none.feature = FEAT_BLK;
        none.version = 86;
    } else if (strcmp(mod, ".weak") == 0 && is_form(m->form, FORM_BULK_LOAD_CTA, FORM_BULK_STORE_MASK)) {
        none.version = 93;
    } else if (strcmp(mod, ".shared::cta") == 0) {
        none.version = 78;
    } else if (strcmp(mod, ".cluster") == 0) {
        none.sm = 90;
        none.version = barrier ? 80 : 78;
    } else if (strcmp(mod, ".relaxed") == 0 && barrier) {
        bool always = is_form(m->form, FORM_MBAR_EXPECT_ANY, FORM_MBAR_COMPLETE_PEER_ANY) ||
                      m->form == FORM_MBAR_EXPECT || m->form == FORM_MBAR_COMPLETE ||
                      m->form == FORM_MBAR_COMPLETE_PEER;
        none.sm = 90;
        none.version = always ? 80 : 86;
    } else if (strcmp(mod, ".release") == 0 || strcmp(mod, ".acquire") == 0 || strcmp(mod, ".relaxed") == 0) {
        none.version = barrier || is_form(m->form, FORM_CLUSTER_ARRIVE, FORM_CLUSTER_WAIT) ? 80 : 0;
    }
    return none;
}

static bool has_needs(const Needs *n, const TargetInfo *t)
{
    return (n->feature == FEAT_COUNT || target_has(t, n->feature)) && t->sm >= n->sm;
}

/* ---- messages ---- */

static void append(char *out, size_t size, const char *fmt, ...)
{
    size_t n = strlen(out);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(out + n, size - n, fmt, ap);
    va_end(ap);
}

/* "sm_90 or newer, PTX 8.0"; "sm_100a (PTX 8.6), sm_100f, sm_103a (PTX 8.8)": what would do. */
static void list_targets(const Needs *n, char *out, size_t size)
{
    out[0] = 0;
    if (n->feature == FEAT_COUNT) {
        append(out, size, "sm_%u or newer, PTX %u.%u", (unsigned)n->sm, n->version / 10, n->version % 10);
        return;
    }
    if (n->feature == FEAT_BULK || n->feature == FEAT_CTA_DST) {
        append(out, size, "sm_90 or newer, PTX %u.%u", n->version / 10, n->version % 10);
        return;
    }
    unsigned version = 0;
    for (size_t k = 0; k < target_count(); k++) {
        const TargetInfo *t = target_at(k);
        if (t->today[0] || !has_needs(n, t)) continue;
        unsigned v = t->min_version > n->version ? t->min_version : n->version;
        if (version && v != version) append(out, size, " (PTX %u.%u)", version / 10, version % 10);
        append(out, size, "%s%s", version ? ", " : "", t->name);
        version = v;
    }
    append(out, size, " (PTX %u.%u)", version / 10, version % 10);
}

typedef struct Where { /* where a form is to be legal */
    const TargetInfo *target;
    unsigned version;
    InstrForm other; /* not this one */
} Where;

static bool is_legal_there(InstrForm f, const void *user)
{
    const Where *w = user;
    Needs n = form_needs(f);
    return f != w->other && has_needs(&n, w->target) && w->version >= n.version;
}

/* Words that may differ between two forms of one purpose. */
static bool may_differ(const char *word)
{
    switch (word_kind(word)) {
    case KIND_SPACE:
    case KIND_SEM:
    case KIND_SCOPE:
    case KIND_GROUP: return true;
    default: return false;
    }
}

static bool same_purpose(const PtxInstr *i, const Fit *fit)
{
    char word[40];
    for (uint32_t k = 0; k < i->nmods; k++)
        if ((fit->alien >> k & 1u) && !may_differ(i->mods[k])) return false;
    if (fit->missing == 0) return true;
    snprintf(word, sizeof word, "%.*s", (int)fit->lacking.n, fit->lacking.text);
    return fit->missing == 1 && (fit->lacking.ph == PH_SEM || fit->lacking.ph == PH_SCOPE || may_differ(word));
}

/* The nearest form of the same purpose that the target has; else "". */
static void suggest(const FormCheck *c, const TargetInfo *t, unsigned version, char *out, size_t size)
{
    Words w;
    Fit fit = {0};
    Where where = {t, version, c->m->form};
    out[0] = 0;
    if (!words_init(&w, c->i)) return;
    InstrForm f = nearest_row(&w, is_legal_there, &where, &fit);
    if (f == FORM_COUNT || !same_purpose(c->i, &fit)) return;
    char text[256];
    row_mnemonic(&w, f, text, sizeof text);
    append(out, size, "; here there is: %s", text);
}

static void as_written(const PtxInstr *i, char *out, size_t size)
{
    out[0] = 0;
    append(out, size, "`%s", i->opcode);
    for (uint32_t k = 0; k < i->nmods; k++) append(out, size, "%s", i->mods[k]);
    append(out, size, "`");
}

static bool check_needs(FormCheck *c, const Needs *n, const TargetInfo *t, unsigned version)
{
    char what[288], targets[320], other[288];
    if (has_needs(n, t) && version >= n->version) return true;
    suggest(c, t, version, other, sizeof other);
    if (n->word) snprintf(what, sizeof what, "`%s`", n->word);
    else as_written(c->i, what, sizeof what);
    if (n->word && n->feature == FEAT_BLK) /* .cta_group of a copy */
        snprintf(other, sizeof other, "; %s",
                 strcmp(n->word, ".cta_group::1") == 0 ? "leave it out: it is the default"
                                                       : "here there is no pair of CTAs");
    if (!has_needs(n, t)) {
        list_targets(n, targets, sizeof targets);
        finding(c, E1409, "%s does not have %s: it needs %s%s", t->name, what, targets, other);
    } else {
        finding(c, E1410, "%s needs .version %u.%u, here it is %u.%u%s", what, n->version / 10, n->version % 10,
                version / 10, version % 10, other);
    }
    return false;
}

static void check_target(FormCheck *c, const TargetInfo *t, unsigned version)
{
    Needs n = form_needs(c->m->form);
    if (!check_needs(c, &n, t, version)) return;
    for (uint32_t k = 0; k < c->i->nmods; k++) {
        n = word_needs(c->m, c->i->mods[k]);
        if (!check_needs(c, &n, t, version)) return;
    }
    bool multicast = ptx_has_mod(c->i, ".multicast::cluster") && strcmp(c->i->opcode, "cp") == 0;
    if (multicast && !target_has(t, FEAT_MULTICAST_FAST)) {
        n = (Needs){FEAT_MULTICAST_FAST, 0, 80, NULL};
        char targets[320];
        list_targets(&n, targets, sizeof targets);
        finding(c, P0001, "`.multicast::cluster` may be slow on %s; it is at full speed on %s", t->name, targets);
    }
}

/* ---- combinations ---- */

static bool in_words(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *s = list; (s = strstr(s, word)) != NULL; s += n)
        if ((s == list || s[-1] == ' ') && (s[n] == 0 || s[n] == ' ')) return true;
    return false;
}

static void check_reduction(FormCheck *c, unsigned version)
{
    InstrForm f = c->m->form;
    bool bulk = f == FORM_BULK_REDUCE || f == FORM_BULK_REDUCE_PEER;
    if (!bulk && f != FORM_RED_ASYNC && f != FORM_RED_ASYNC_RELEASE && f != FORM_RED_ASYNC_MMIO) return;
    const char *op = c->m->word[PH_OP], *type = c->m->word[PH_TYPE];
    const char *types = reduction_types(f, op);
    unsigned since = reduction_since(f, op, type);
    if (in_words(types, type) || (since && version >= since)) return;
    if (since) {
        finding(c, E1410, ".%s on .%s needs .version %u.%u, here it is %u.%u", op, type, since / 10, since % 10, version / 10,
                version % 10);
        return;
    }
    bool half = strcmp(type, "f16") == 0 || strcmp(type, "bf16") == 0;
    if (f == FORM_BULK_REDUCE && half && strcmp(op, "add") == 0)
        finding(c, E1412, "adding .%s needs .noftz: .add.noftz.%s", type, type);
    else if (types[0]) finding(c, E1412, ".%s does not work on .%s here; its types are: %s", op, type, types);
    else finding(c, E1412, ".%s does not work here: only in global memory, on f16 and bf16", op);
}

/* Values of tensormap.replace's fields that came later (PTX ISA, tensormap.replace, PTX ISA Notes; swizzle_mode 4, of
 * 96 bytes, is the one thing that a single target has). */
static void check_field_value(FormCheck *c, const TargetInfo *t, unsigned version)
{
    static const struct {
        const char *field;
        int64_t from;
        uint8_t version;
        const char *only;
    } later[] = {{"swizzle_mode", 4, 88, "sm_103a"}, {"swizzle_atomicity", 0, 86, NULL}, {"elemtype", 13, 87, NULL}};
    const PtxOperand *o = c->m->opd[PH_VALUE];
    for (size_t k = 0; t && k < sizeof later / sizeof later[0]; k++) {
        if (strcmp(later[k].field, c->m->word[PH_FIELD]) != 0 || o->kind != PTX_INT || o->value < later[k].from)
            continue;
        bool has = later[k].only ? strcmp(t->name, later[k].only) == 0 : target_has(t, FEAT_SM100);
        if (!has)
            finding(c, E1409, "%s does not have the value %lld of .%s; %s has", t->name, (long long)o->value,
                    later[k].field, later[k].only ? later[k].only : "sm_100a and newer");
        else if (version < later[k].version)
            finding(c, E1410, "the value %lld of .%s needs .version %u.%u, here it is %u.%u", (long long)o->value,
                    later[k].field, later[k].version / 10u, later[k].version % 10u, version / 10, version % 10);
    }
}

static void check_field(FormCheck *c, const TargetInfo *t, unsigned version)
{
    const FormMatch *m = c->m;
    if (m->form != FORM_MAP_REPLACE && m->form != FORM_MAP_REPLACE_GLOBAL) return;
    bool wide = in_words("global_address global_stride", m->word[PH_FIELD]);
    const char *type = wide ? "b64" : "b32";
    if (strcmp(m->word[PH_TYPE], type) != 0)
        finding(c, E1403, ".%s is a .%s field, not .%s", m->word[PH_FIELD], type, m->word[PH_TYPE]);
    check_field_value(c, t, version);
}

static void check_shapes(FormCheck *c)
{
    const FormMatch *m = c->m;
    bool im2col = strstr(form_info(m->form)->ptx, ".im2col") != NULL;
    if (im2col && m->dim < 3) finding(c, E1417, "im2col modes have 3 to 5 dimensions, not %d", m->dim);
    const char *op = m->word[PH_OP], *n = m->word[PH_N];
    if (!n || strncmp(form_info(m->form)->ptx, "tcgen05.", 8) != 0 || !op) return;
    bool wide = strcmp(op, "16x256b") == 0, middle = strcmp(op, "16x128b") == 0;
    if ((wide && (strcmp(n, "64") == 0 || strcmp(n, "128") == 0)) || (middle && strcmp(n, "128") == 0))
        finding(c, E1403, ".x%s does not go with .%s: that is more than 128 registers", n, op);
}

/* ---- matrix instructions ---- */

static bool is_matrix_word(const char *word)
{
    static const char *const words[] = {".mma",
                                        ".sp",
                                        ".ws",
                                        ".cta_group::1",
                                        ".cta_group::2",
                                        ".kind::f16",
                                        ".kind::tf32",
                                        ".kind::f8f6f4",
                                        ".kind::i8",
                                        ".kind::mxf8f6f4",
                                        ".kind::mxf4",
                                        ".kind::mxf4nvf4",
                                        ".block_scale",
                                        ".scale_vec::1X",
                                        ".scale_vec::2X",
                                        ".scale_vec::4X",
                                        ".block16",
                                        ".block32",
                                        ".ashift"};
    if (strncmp(word, ".collector::", 12) == 0) return true;
    for (size_t k = 0; k < sizeof words / sizeof words[0]; k++)
        if (strcmp(words[k], word) == 0) return true;
    return false;
}

static const char *strange_word(const PtxInstr *i)
{
    static const char *const warp_group[] = {".mma_async", ".fence", ".commit_group", ".wait_group"};
    if (i->nmods == 0) return i->opcode;
    if (strcmp(i->opcode, "wgmma") == 0) {
        for (size_t k = 0; k < sizeof warp_group / sizeof warp_group[0]; k++)
            if (strcmp(warp_group[k], i->mods[0]) == 0) return NULL;
        return i->mods[0];
    }
    for (uint32_t k = 0; strcmp(i->mods[0], ".mma") == 0 && k < i->nmods; k++)
        if (!is_matrix_word(i->mods[k])) return i->mods[k];
    return NULL;
}

int form_check_matrix(const PtxInstr *i, const TargetInfo *target, unsigned version,
                      void (*report)(void *user, const FormFinding *f), void *user)
{
    FormCheck c = {i, NULL, report, user, 0};
    bool warp_group = strcmp(i->opcode, "wgmma") == 0;
    const char *word = strange_word(i);
    Needs n = {FEAT_BLK, 0, 86, NULL};
    if (word) finding(&c, E1403, "`%.40s` is no modifier of %s", word, warp_group ? "wgmma" : "tcgen05.mma");
    if (!target || word) return c.errors;
    char targets[320] = "sm_90a (PTX 8.0)";
    bool has = warp_group ? strcmp(target->name, "sm_90a") == 0 : has_needs(&n, target);
    if (!warp_group) list_targets(&n, targets, sizeof targets);
    if (!has) finding(&c, E1409, "%s does not have %s: it needs %s", target->name, i->opcode, targets);
    else if (!warp_group && version < n.version)
        finding(&c, E1410, "tcgen05 needs .version 8.6, here it is %u.%u", version / 10, version % 10);
    return c.errors;
}

int form_check(const PtxInstr *i, const FormMatch *m, const TargetInfo *target, unsigned version,
               void (*report)(void *user, const FormFinding *f), void *user)
{
    FormCheck c = {i, m, report, user, 0};
    if (target) check_target(&c, target, version);
    check_reduction(&c, version);
    check_field(&c, target, version);
    check_shapes(&c);
    check_operands(&c);
    return c.errors;
}
