/* Matching: the row, its words, its operands. Why nothing matched is forms_near.c's. */
#include "runtime/ptx/forms.h"

#include <stdio.h>
#include <string.h>

#include "runtime/ptx/forms_match.h"

/* ---- families ---- */

static bool has_word(const PtxInstr *i, const char *word)
{
    for (uint32_t k = 0; k < i->nmods; k++)
        if (strcmp(i->mods[k], word) == 0) return true;
    return false;
}

static bool starts(const PtxInstr *i, const char *first)
{
    return i->nmods > 0 && strcmp(i->mods[0], first) == 0;
}

static bool in_texts(const char *const *v, size_t n, const char *word)
{
    for (size_t k = 0; k < n; k++)
        if (strcmp(v[k], word) == 0) return true;
    return false;
}

/* cp.async of 4 to 16 bytes and its groups: everything else of cp moves in bulk. */
static bool is_small_copy(const PtxInstr *i)
{
    static const char *const words[] = {".ca", ".cg", ".commit_group", ".wait_group", ".wait_all", ".mbarrier"};
    static const char *const others[] = {".async",          ".shared",  ".shared::cta", ".global",
                                         ".L2::cache_hint", ".L2::64B", ".L2::128B",    ".L2::256B",
                                         ".arrive",         ".noinc",   ".b64"};
    bool small = false;
    if (!starts(i, ".async")) return false;
    for (uint32_t k = 0; k < i->nmods; k++) {
        bool own = in_texts(words, sizeof words / sizeof words[0], i->mods[k]);
        if (!own && !in_texts(others, sizeof others / sizeof others[0], i->mods[k])) return false;
        small |= own;
    }
    bool copy = i->nmods > 1 && (strcmp(i->mods[1], ".ca") == 0 || strcmp(i->mods[1], ".cg") == 0);
    return small && (copy || i->glued > 1);
}

/* tcgen05 and wgmma: judged by their words alone (forms_check.c). */
bool form_is_matrix(const PtxInstr *i)
{
    if (strcmp(i->opcode, "wgmma") == 0) return true;
    return strcmp(i->opcode, "tcgen05") == 0 && (starts(i, ".mma") || (starts(i, ".ld") && has_word(i, ".red")));
}

/* Words that only asynchronous forms have. */
static bool is_asynchronous(const PtxInstr *i)
{
    for (uint32_t k = 0; k < i->nmods; k++)
        if (strncmp(i->mods[k], ".mbarrier::", 11) == 0 || strstr(i->mods[k], "::complete_tx") ||
            strcmp(i->mods[k], ".bulk") == 0 || strcmp(i->mods[k], ".tensor") == 0 || strcmp(i->mods[k], ".async") == 0)
            return true;
    return false;
}

bool form_family(const PtxInstr *i)
{
    static const char *const whole[] = {"mbarrier",     "fence",      "tensormap",  "elect",
                                        "mapa",         "getctarank", "setmaxnreg", "griddepcontrol",
                                        "createpolicy", "ldmatrix",   "stmatrix",   "clusterlaunchcontrol"};
    const char *op = i->opcode;
    if (strcmp(op, "cp") == 0) return !is_small_copy(i);
    if (strcmp(op, "tcgen05") == 0) return !form_is_matrix(i);
    if (strcmp(op, "st") == 0 || strcmp(op, "red") == 0) return is_asynchronous(i);
    if (strcmp(op, "prefetch") == 0) return has_word(i, ".tensormap") || is_asynchronous(i);
    if (strcmp(op, "barrier") == 0) return has_word(i, ".cluster");
    for (size_t k = 0; k < sizeof whole / sizeof whole[0]; k++)
        if (strcmp(op, whole[k]) == 0) return true;
    return false;
}

/* ---- words ---- */

static bool name_is(const Words *w, const char *name)
{
    return strcmp(w->name, name) == 0;
}

static bool name_starts(const Words *w, const char *start)
{
    return strncmp(w->name, start, strlen(start)) == 0;
}

bool words_init(Words *w, const PtxInstr *i)
{
    *w = (Words){.i = i};
    if (i->nmods > MAX_WORDS) return false;
    w->name = form_name_of(i, &w->skip);
    for (uint32_t k = 0; k < i->nmods; k++) {
        size_t n = strlen(i->mods[k]);
        w->length[k] = n > 255 ? 255 : (uint8_t)n;
    }
    w->prefix = (1u << w->skip) - 1;
    if (!w->name) return false;
    w->nname = strlen(w->name);
    w->copy = name_starts(w, "cp.");
    w->barrier = name_starts(w, "mbarrier.");
    const char *name;
    size_t n = 0, room = sizeof w->longer / sizeof w->longer[0] - 1;
    for (size_t k = 0; (name = form_name_at(k)) != NULL && n < room; k++)
        if (name != w->name && strncmp(name, w->name, w->nname) == 0) w->longer[n++] = name;
    return true;
}

static int find_word(const Words *w, uint32_t used, const char *text, size_t n)
{
    for (uint32_t k = w->skip; k < w->i->nmods; k++)
        if (w->length[k] == n && !(used >> k & 1u) && memcmp(w->i->mods[k], text, n) == 0) return (int)k;
    return -1;
}

static bool in_list(const char *list, const char *s, size_t n)
{
    for (; *list; list += *list == ' ') {
        size_t k = strcspn(list, " ");
        if (k == n && memcmp(list, s, n) == 0) return true;
        list += k;
    }
    return false;
}

/* The first unused modifier that is text, one of the list, tail. */
static int find_choice(const Words *w, uint32_t used, const Piece *p, const char *list)
{
    for (uint32_t k = w->skip; k < w->i->nmods; k++) {
        const char *s = w->i->mods[k];
        size_t n = w->length[k];
        if ((used >> k & 1u) || n <= p->n + p->ntail || memcmp(s, p->text, p->n) != 0) continue;
        if (p->ntail && memcmp(s + n - p->ntail, p->tail, p->ntail) != 0) continue;
        if (in_list(list, s + p->n, n - p->n - p->ntail)) return (int)k;
    }
    return -1;
}

static bool is_text(const Piece *p, const char *text)
{
    return p->ph == PH_ALL && strlen(text) == p->n && memcmp(p->text, text, p->n) == 0;
}

/* Words that the grammar lets be written otherwise; -1: none of them is there. */
static int find_synonym(const Words *w, uint32_t used, const Piece *p)
{
    bool own = is_text(p, ".shared::cta");
    if (own && (name_starts(w, "mbarrier") || name_is(w, "ldmatrix") || name_is(w, "stmatrix")))
        return find_word(w, used, ".shared", 7);
    if (name_is(w, "st.async") && is_text(p, ".shared::cluster")) { /* ptxas takes parts of the cluster's window too */
        int k = find_word(w, used, ".shared::cta", 12);
        return k >= 0 ? k : find_word(w, used, ".shared", 7);
    }
    return -1;
}

/* State spaces that may be left out, which makes the address a generic one. */
static bool may_be_generic(const Words *w, const Piece *p)
{
    static const char *const cta[] = {
        "mbarrier", "ldmatrix", "stmatrix", "st.bulk", "clusterlaunchcontrol", "tcgen05.alloc", "tensormap.replace"};
    if (is_text(p, ".shared::cta"))
        for (size_t k = 0; k < sizeof cta / sizeof cta[0]; k++)
            if (name_starts(w, cta[k])) return true;
    if (is_text(p, ".shared::cluster"))
        return name_is(w, "tcgen05.commit") || name_is(w, "st.async") || name_is(w, "red.async");
    return is_text(p, ".global") &&
           (name_is(w, "createpolicy.range") || name_is(w, "st.async") || name_is(w, "red.async"));
}

static bool is_default(const Words *w, const Piece *p)
{
    if (is_text(p, ".tile")) return name_starts(w, "cp.");
    if (is_text(p, ".weak")) return name_is(w, "st.bulk");
    if (is_text(p, ".acq_rel")) return true;
    if (is_text(p, ".aligned") || is_text(p, ".acquire")) return name_starts(w, "barrier.cluster");
    return p->ph == PH_SEM && name_is(w, "barrier.cluster.arrive");
}

static bool is_optional(Placeholder ph, InstrForm f)
{
    if (ph == PH_FMT) return f >= FORM_TC_CP_128X256B && f <= FORM_TC_CP_32X128B_X4;
    return ph == PH_HINT || ph == PH_GROUP || ph == PH_VEC || ph == PH_ELSE;
}

/* ---- one row ---- */

typedef struct Fitting { /* a row being fitted */
    const Words *w;
    FormMatch *m;
    Fit fit;
    bool stop; /* at the first thing that does not fit */
    int sem, scope;
    bool has_sem; /* the template names semantics */
    int last_space, compressed;
} Fitting;

static void take_word(Fitting *t, int k)
{
    t->fit.used |= 1u << k;
}

static bool lacks(Fitting *t, const Piece *p)
{
    if (!t->fit.missing++) t->fit.lacking = *p;
    return !t->stop;
}

static const char *default_semantics(const Words *w)
{
    if (name_starts(w, "mbarrier.arrive")) return "release";
    return name_is(w, "mbarrier.expect_tx") || name_is(w, "mbarrier.complete_tx") ? "relaxed" : "acquire";
}

/* Semantics and scope of mbarrier instructions: both are there or none, which means the default and .cta. */
static bool fit_semantics(Fitting *t, const Piece *p, bool sem)
{
    const char *standard = sem ? default_semantics(t->w) : "cta";
    Placeholder ph = sem ? PH_SEM : PH_SCOPE;
    t->has_sem = true;
    int k = p->ph == PH_ALL ? find_word(t->w, t->fit.used, p->text, p->n)
                            : find_choice(t->w, t->fit.used, p, placeholder_words(t->m->form, ph));
    *(sem ? &t->sem : &t->scope) = k;
    if (k >= 0) {
        t->m->word[ph] = t->w->i->mods[k] + 1;
        take_word(t, k);
        return true;
    }
    t->m->word[ph] = standard;
    bool is_standard = p->ph != PH_ALL ||
                       (strlen(standard) + 1 == p->n && memcmp(p->text + 1, standard, p->n - 1) == 0);
    return is_standard || lacks(t, p);
}

/* Decompression: the destination's format, then the source's. */
static bool fit_formats(Fitting *t, const Piece *p)
{
    static const Piece to = {.text = ".b8x16", .n = 6, .ph = PH_ALL};
    int dst = find_word(t->w, t->fit.used, ".b8x16", 6);
    int src = find_choice(t->w, t->fit.used, p, placeholder_words(t->m->form, PH_FMT));
    if (dst >= 0) take_word(t, dst);
    if (src >= 0) take_word(t, src);
    if (dst < 0 && src < 0) return is_optional(PH_FMT, t->m->form) || lacks(t, &to);
    if (dst < 0) return lacks(t, &to);
    if (src < 0) return lacks(t, p);
    if (src < dst) {
        t->fit.swapped = true;
        return !t->stop;
    }
    t->m->word[PH_FMT] = strcmp(t->w->i->mods[src], ".b6x16_p32") == 0 ? "b8x16.b6x16_p32" : "b8x16.b4x16_p64";
    return true;
}

static void bind_word(Fitting *t, const Piece *p, int k)
{
    const char *s = t->w->i->mods[k];
    FormMatch *m = t->m;
    bool whole = p->ph == PH_HINT || p->ph == PH_GROUP || p->ph == PH_VEC;
    m->word[p->ph] = whole ? s + 1 : s + p->n;
    if (p->ph == PH_DIM) m->dim = s[1] - '0';
    /* The operation of a bulk reduction has .noftz with it where it adds halves. */
    bool bulk = m->form == FORM_BULK_REDUCE || m->form == FORM_BULK_REDUCE_PEER;
    if (p->ph != PH_OP || !bulk) return;
    int noftz = find_word(t->w, t->fit.used, ".noftz", 6);
    if (noftz < 0) return;
    if (strcmp(m->word[PH_OP], "add") != 0) return;
    m->word[PH_OP] = "add.noftz";
    take_word(t, noftz);
}

/* Modifiers that stand in the order of the template: state spaces of copies, and the types of a query. */
static bool is_ordered(const Words *w, const Piece *p)
{
    if (w->copy || name_is(w, "tensormap.cp_fenceproxy"))
        return is_text(p, ".shared::cta") || is_text(p, ".shared::cluster") || is_text(p, ".global");
    return name_is(w, "clusterlaunchcontrol.query_cancel") &&
           (is_text(p, ".pred") || is_text(p, ".b32") || is_text(p, ".b128"));
}

static bool fit_fixed(Fitting *t, const Piece *p)
{
    int k = find_word(t->w, t->fit.used, p->text, p->n);
    if (k < 0) k = find_synonym(t->w, t->fit.used, p);
    if (k < 0) {
        if (may_be_generic(t->w, p)) {
            t->m->generic = true;
            return true;
        }
        return is_default(t->w, p) || lacks(t, p);
    }
    take_word(t, k);
    if (is_ordered(t->w, p)) {
        if (k < t->last_space) t->fit.swapped = true;
        t->last_space = k;
    }
    return !t->fit.swapped || !t->stop;
}

static bool fit_piece(Fitting *t, const Piece *p)
{
    if (t->w->barrier) {
        bool sem = p->ph == PH_SEM || is_text(p, ".release") || is_text(p, ".acquire") || is_text(p, ".relaxed");
        if (sem || p->ph == PH_SCOPE || is_text(p, ".cta") || is_text(p, ".cluster")) return fit_semantics(t, p, sem);
    }
    if (p->ph == PH_ALL) return fit_fixed(t, p);
    if (p->ph == PH_FMT) return fit_formats(t, p);
    int k = find_choice(t->w, t->fit.used, p, placeholder_words(t->m->form, p->ph));
    if (k < 0) return is_optional(p->ph, t->m->form) || is_default(t->w, p) || lacks(t, p);
    take_word(t, k);
    bind_word(t, p, k);
    return true;
}

/* What a row may have beyond its template, and what goes together. */
static bool finish(Fitting *t)
{
    static const Piece scope = {.text = ".", .n = 1, .tail = "", .ph = PH_SCOPE};
    static const Piece sem = {.text = ".", .n = 1, .tail = "", .ph = PH_SEM};
    const Words *w = t->w;
    if (w->barrier && !t->has_sem && !name_is(w, "mbarrier.init") && !name_is(w, "mbarrier.inval") &&
        !name_is(w, "mbarrier.pending_count")) { /* the row stands for the default */
        t->m->word[PH_SEM] = default_semantics(w);
        t->m->word[PH_SCOPE] = "cta";
        t->sem = find_word(w, t->fit.used, ".release", 8);
        t->scope = find_word(w, t->fit.used, ".cta", 4);
        if (t->sem >= 0) take_word(t, t->sem);
        if (t->scope >= 0) take_word(t, t->scope);
    }
    if (w->barrier && (t->sem < 0) != (t->scope < 0) && !lacks(t, t->sem < 0 ? &sem : &scope)) return false;
    bool bulk = t->m->form >= FORM_BULK_LOAD_CTA && t->m->form <= FORM_BULK_STORE_MASK;
    int weak = bulk ? find_word(w, t->fit.used, ".weak", 5) : -1;
    if (weak >= 0) take_word(t, weak); /* what is so anyway */
    if (t->m->form == FORM_ST_ASYNC) {
        int k = find_word(w, t->fit.used, ".weak", 5);
        if (k < 0)
            k = find_word(w, t->fit.used, ".cluster", 8); /* both mean what is so anyway, and exclude each other */
        if (k >= 0) take_word(t, k);
    }
    return true;
}

bool fit_row(const Words *w, InstrForm f, bool stop, FormMatch *m, Fit *out)
{
    Fitting t = {.w = w, .m = m, .stop = stop, .sem = -1, .scope = -1, .last_space = -1};
    *m = (FormMatch){.form = f};
    t.fit.used = w->prefix;
    Piece p;
    bool fits = true;
    for (const char *at = form_modifiers(f, w->name); fits && next_piece(&at, &p);) fits = fit_piece(&t, &p);
    if (fits) fits = finish(&t);
    uint32_t all = w->i->nmods == 32 ? UINT32_MAX : (1u << w->i->nmods) - 1;
    t.fit.alien = all & ~t.fit.used;
    *out = t.fit;
    return fits && !t.fit.missing && !t.fit.alien && !t.fit.swapped;
}

bool row_has_name(const Words *w, InstrForm f)
{
    const char *ptx = form_info(f)->ptx;
    if (ptx[0] != w->name[0] || strncmp(ptx, w->name, w->nname) != 0) return false;
    if (!strchr(". ;{", ptx[w->nname])) return false;
    for (size_t k = 0; w->longer[k]; k++)
        if (strncmp(ptx, w->longer[k], strlen(w->longer[k])) == 0) return false;
    return true;
}

/* ---- operands ---- */

static bool is_value(const PtxOperand *o)
{
    return o->kind == PTX_REG || o->kind == PTX_INT || o->kind == PTX_F32_BITS || o->kind == PTX_F64_BITS;
}

/* Tensor copies take addresses without brackets, but a bare register where the barrier should be is rather a forgotten
 * barrier. */
static bool may_be_bare(const Words *w, const Place *p, const PtxOperand *o)
{
    if (!w->copy || !strstr(w->name, ".tensor") || o->negated || (o->kind != PTX_REG && o->kind != PTX_SYMBOL))
        return false;
    return o->kind == PTX_SYMBOL || p->ph != PH_MBAR;
}

static bool bind_address(const Words *w, const Place *p, PtxOperand *o, FormMatch *m, Mismatch *x)
{
    if (o->kind == PTX_ADDRESS && o->nitems == 1) {
        if (o->items[0].kind == PTX_INT) {
            x->code = p->ph == PH_TADDR ? E1414 : E1408;
            x->want = p->ph == PH_TADDR ? "a register in brackets, not a constant"
                                        : "a register or a symbol in brackets";
            return false;
        }
        m->opd[p->ph] = o;
        return true;
    }
    x->want = "an address in brackets";
    if (!may_be_bare(w, p, o) || m->nbare == sizeof m->bare / sizeof m->bare[0]) return false;
    PtxOperand *b = &m->bare[m->nbare++];
    *b = (PtxOperand){.kind = PTX_ADDRESS, .items = o, .nitems = 1, .value = o->value};
    m->opd[p->ph] = b;
    return true;
}

static bool bind_map(const PtxOperand *o, FormMatch *m, Mismatch *x)
{
    x->want = "[map, {coordinates}]";
    if (o->kind != PTX_MAP || o->nitems != 2 || o->items[1].kind != PTX_VECTOR) return false;
    if (o->items[1].name) { /* ptxas crashes */
        x->want = "[map, {coordinates}] with the coordinates in braces, not a register of a vector type";
        return false;
    }
    const PtxOperand *base = &o->items[0];
    if (base->kind != PTX_REG && base->kind != PTX_SYMBOL) return false;
    x->want = "a map without an offset: add it first";
    if (base->offset || base->value != 0) return false;
    m->opd[PH_MAP] = base;
    m->opd[PH_COORDS] = &o->items[1];
    return true;
}

static bool bind_bare(const Place *p, const PtxOperand *o, FormMatch *m, Mismatch *x)
{
    bool ok;
    switch (p->ph) {
    case PH_INFO:
        ok = o->kind == PTX_VECTOR;
        x->want = "offsets in braces";
        break;
    case PH_REGS:
        ok = o->kind == (m->form == FORM_CLC_FIRST_CTA_DIM ? PTX_REG : PTX_VECTOR);
        x->want = m->form == FORM_CLC_FIRST_CTA_DIM ? "a register" : "registers in braces";
        break;
    case PH_VALUE:
        ok = m->word[PH_VEC] ? o->kind == PTX_VECTOR : is_value(o);
        x->want = m->word[PH_VEC] ? "values in braces" : "a register or a constant";
        break;
    case PH_N:
    case PH_ORDINAL:
        ok = o->kind == PTX_INT || (o->kind == PTX_REG && (m->form == FORM_TC_ALLOC || m->form == FORM_TC_DEALLOC));
        x->want = m->form == FORM_TC_ALLOC || m->form == FORM_TC_DEALLOC ? "a register or a constant" : "a constant";
        break;
    case PH_STATE:
        ok = o->kind == PTX_REG || (o->kind == PTX_SINK && m->form != FORM_MBAR_PENDING_COUNT && !m->opd[PH_MBAR]);
        x->want = "a 64-bit register";
        break;
    case PH_PRED:
    case PH_REG:
        ok = o->kind == PTX_REG;
        x->want = p->ph == PH_PRED ? "a predicate" : "a register";
        break;
    case PH_SRC: /* of mapa and getctarank */
        ok = o->kind == PTX_REG || o->kind == PTX_SYMBOL;
        x->want = "a register or a symbol";
        break;
    case PH_TADDR:
        ok = o->kind == PTX_REG;
        x->want = "a register";
        if (o->kind == PTX_INT) x->code = E1414;
        break;
    default:
        ok = o->kind == PTX_REG || o->kind == PTX_INT;
        x->want = "a register or a constant";
        break;
    }
    m->opd[p->ph] = o;
    return ok && !o->negated;
}

static bool bind_pair(const Place *p, const PtxOperand *o, FormMatch *m, Mismatch *x)
{
    x->want = "register|predicate";
    if (o->kind != PTX_PAIR || o->nitems != 2 || o->items[1].kind != PTX_REG || o->items[1].negated) return false;
    const PtxOperand *first = &o->items[0];
    if (first->kind != PTX_SINK && (p->ph == PH_ALL || first->kind != PTX_REG)) return false;
    if (p->ph != PH_ALL) m->opd[p->ph] = first;
    m->opd[p->ph2] = &o->items[1];
    return true;
}

static bool bind_operand(const Words *w, const Place *p, PtxOperand *o, FormMatch *m, Mismatch *x)
{
    x->code = E1408;
    switch (p->kind) {
    case PLACE_ADDRESS: return bind_address(w, p, o, m, x);
    case PLACE_MAP: return bind_map(o, m, x);
    case PLACE_BARE: return bind_bare(p, o, m, x);
    case PLACE_PAIR: return bind_pair(p, o, m, x);
    case PLACE_SINK: x->want = "the sink `_`: there is no result"; return o->kind == PTX_SINK;
    case PLACE_LITERAL:
        x->want = p->literal == 0 ? "0" : p->literal == 128 ? "128" : "0xffffffff";
        if (o->kind == PTX_INT) x->code = E1411;
        return o->kind == PTX_INT && o->value == (int64_t)p->literal;
    }
    return false;
}

/* How well the operands do: 0 fit, 1 some operand is of another kind, 2 another number of them. */
static int fit_operands(const Words *w, FormMatch *m, Mismatch *x)
{
    Place places[MAX_PLACES];
    const PtxInstr *i = w->i;
    uint32_t n = form_places(m->form, m, places);
    *x = (Mismatch){.form = m->form, .code = E1407, .expected = n};
    if (n != i->nopd) return 2;
    for (uint32_t k = 0; k < n; k++) {
        x->at = k;
        x->place = places[k];
        if (!bind_operand(w, &places[k], &i->opd[k], m, x)) return 1;
    }
    return 0;
}

bool form_match(const PtxInstr *i, FormMatch *out, ErrorCode *code, char *why, size_t size)
{
    Words w;
    if (!words_init(&w, i) || i->glued < w.skip) return explain_name(i, code, why, size);
    Mismatch best = {.code = E1407};
    int rank = 3;
    for (int f = 0; f < FORM_COUNT; f++) {
        Fit fit;
        Mismatch x;
        if (!row_has_name(&w, (InstrForm)f) || !fit_row(&w, (InstrForm)f, true, out, &fit)) continue;
        int r = fit_operands(&w, out, &x);
        if (r == 0) return true;
        if (r >= rank) continue;
        rank = r;
        best = x;
    }
    if (rank < 3) explain_operands(&w, &best, code, why, size);
    else explain_words(&w, code, why, size);
    return false;
}
