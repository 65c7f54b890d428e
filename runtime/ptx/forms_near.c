/* Why an instruction is none of the rows, and what would do: the nearest row, the nearest word. */
#include <stdio.h>
#include <string.h>

#include "lang/names.h"
#include "runtime/ptx/forms_match.h"

/* ---- the nearest row ---- */

static int bits(uint32_t v)
{
    int n = 0;
    for (; v; v &= v - 1) n++;
    return n;
}

static uint32_t first_bit(uint32_t v)
{
    uint32_t k = 0;
    while (!(v >> k & 1u)) k++;
    return k;
}

InstrForm nearest_row(const Words *w, bool (*may)(InstrForm f, const void *user), const void *user, Fit *fit)
{
    InstrForm best = FORM_COUNT;
    int least = 1 << 20;
    for (int f = 0; f < FORM_COUNT; f++) {
        Fit x;
        FormMatch m;
        if (!row_has_name(w, (InstrForm)f) || (may && !may((InstrForm)f, user))) continue;
        fit_row(w, (InstrForm)f, false, &m, &x);
        int cost = 4 * x.missing + 4 * bits(x.alien) + x.swapped;
        for (uint32_t v = x.alien; v; v &= v - 1) /* another mode is another copy */
            if (word_kind(w->i->mods[first_bit(v)]) == KIND_MODE) cost += 5;
        if (cost >= least) continue;
        least = cost;
        best = (InstrForm)f;
        *fit = x;
    }
    return best;
}

static void add(char *out, size_t size, const char *s, size_t n)
{
    size_t at = strlen(out);
    if (at + n < size) {
        memcpy(out + at, s, n);
        out[at + n] = 0;
    }
}

void row_mnemonic(const Words *w, InstrForm f, char *out, size_t size)
{
    FormMatch m;
    Fit fit;
    Piece p;
    fit_row(w, f, false, &m, &fit);
    out[0] = 0;
    add(out, size, w->name, w->nname);
    for (const char *at = form_modifiers(f, w->name); next_piece(&at, &p);) {
        const char *word = p.ph == PH_ALL ? NULL : m.word[p.ph];
        bool whole = p.ph == PH_HINT || p.ph == PH_GROUP || p.ph == PH_VEC || p.ph == PH_ELSE || p.ph == PH_FMT;
        if (whole && !word) continue;
        add(out, size, p.text, p.n);
        if (p.ph == PH_ALL) continue;
        const char *list = placeholder_words(f, p.ph);
        if (p.ph == PH_DIM) {
            char dim[4];
            snprintf(dim, sizeof dim, "%d", m.dim);
            add(out, size, m.dim ? dim : "N", 1);
        } else if (word) add(out, size, word, strlen(word));
        else add(out, size, list, strcspn(list, " "));
        add(out, size, p.tail, p.ntail);
    }
}

/* ---- words ---- */

typedef struct Vocabulary {
    char text[200][40];
    const char *v[200];
    size_t n;
} Vocabulary;

static void add_word(void *user, const char *word)
{
    Vocabulary *d = user;
    for (size_t k = 0; k < d->n; k++)
        if (strcmp(d->v[k], word) == 0) return;
    if (d->n == sizeof d->v / sizeof d->v[0]) return;
    snprintf(d->text[d->n], sizeof d->text[0], "%s", word);
    d->v[d->n] = d->text[d->n];
    d->n++;
}

static bool is_known(const Vocabulary *d, const char *word)
{
    for (size_t k = 0; k < d->n; k++)
        if (strcmp(d->v[k], word) == 0) return true;
    return false;
}

static void make_vocabulary(const Words *w, Vocabulary *d)
{
    static const char *const more[] = {".noftz", ".shared", ".weak", ".release", ".acquire", ".relaxed", ".cta"};
    d->n = 0;
    for (int f = 0; f < FORM_COUNT; f++)
        if (row_has_name(w, (InstrForm)f)) form_vocabulary((InstrForm)f, w->name, add_word, d);
    if (strncmp(w->name, "cp.reduce.async.bulk", w->nname) == 0) add_word(d, more[0]);
    if (w->barrier)
        for (size_t k = 1; k < sizeof more / sizeof more[0]; k++) add_word(d, more[k]);
}

/* Another modifier of the same kind, or the same word twice; NULL: none. */
static const char *rival(const Words *w, const Fit *fit, uint32_t alien, bool *same)
{
    const char *word = w->i->mods[alien];
    WordKind kind = word_kind(word);
    for (uint32_t k = w->skip; k < w->i->nmods; k++) {
        const char *other = w->i->mods[k];
        if (k == alien) continue;
        *same = strcmp(other, word) == 0;
        if (*same || (kind != KIND_NONE && kind == word_kind(other) && (fit->used >> k & 1u))) return other;
    }
    return NULL;
}

/* "`.cta` or `.cluster`": what a piece may be. */
static void piece_words(InstrForm f, const Piece *p, char *out, size_t size)
{
    out[0] = 0;
    if (p->ph == PH_ALL) {
        snprintf(out, size, "`%.*s`", (int)p->n, p->text);
        return;
    }
    for (const char *s = placeholder_words(f, p->ph); *s;) {
        size_t n = strcspn(s, " "), at = strlen(out);
        bool last = s[n] == 0;
        snprintf(out + at, size - at, "%s`%.*s%.*s%.*s`",
                 at == 0 ? ""
                 : last  ? " or "
                         : ", ",
                 (int)p->n, p->text, (int)n, s, (int)p->ntail, p->tail);
        s += n + !last;
    }
}

static bool names_rest(const Words *w, const char *word)
{
    for (size_t k = 0; w->longer[k]; k++) {
        const char *rest = w->longer[k] + w->nname;
        size_t n = strlen(word);
        if (strncmp(rest, word, n) == 0 && (rest[n] == 0 || rest[n] == '.')) return true;
    }
    return false;
}

/* The words by which longer names go on. */
static void add_names(const Words *w, Vocabulary *d)
{
    char word[40];
    for (size_t k = 0; w->longer[k]; k++) {
        const char *rest = w->longer[k] + w->nname;
        if (*rest != '.') continue;
        snprintf(word, sizeof word, ".%.*s", (int)strcspn(rest + 1, "."), rest + 1);
        add_word(d, word);
    }
}

static bool is_dimension(const char *word)
{
    size_t n = strspn(word + 1, "0123456789");
    return n > 0 && strcmp(word + 1 + n, "d") == 0;
}

static void explain_alien(const Words *w, InstrForm near, const Fit *fit, ErrorCode *code, char *why, size_t size)
{
    uint32_t k = first_bit(fit->alien);
    *code = E1403;
    for (uint32_t v = fit->alien; v; v &= v - 1) {
        const char *rest = w->i->mods[first_bit(v)];
        if (!names_rest(w, rest)) continue;
        snprintf(why, size, "`%s` belongs to the name of the instruction and stands in front: %s%s", rest, w->name,
                 rest);
        return;
    }
    Vocabulary d;
    make_vocabulary(w, &d);
    for (uint32_t v = fit->alien; v; v &= v - 1) /* one that nobody knows is the best to name */
        if (!is_known(&d, w->i->mods[first_bit(v)])) {
            k = first_bit(v);
            break;
        }
    const char *word = w->i->mods[k];
    char form[256], instead[256];
    row_mnemonic(w, near, form, sizeof form);
    bool same = false;
    const char *other = rival(w, fit, k, &same);
    if (same || (other && is_known(&d, word) && !(fit->swapped && is_space(word)))) {
        *code = E1405;
        if (same) snprintf(why, size, "`%s` stands twice", word);
        else
            snprintf(why, size, "`%s` and `%s` do not go together: one of a kind; nearest form: %s", other, word, form);
        return;
    }
    if (is_dimension(word) && fit->missing && fit->lacking.ph == PH_DIM) {
        snprintf(why, size, "`%s`: a tensor has 1 to 5 dimensions, `.1d` to `.5d`", word);
        return;
    }
    add_names(w, &d);
    const char *nearest = is_known(&d, word) || word_kind(word) != KIND_NONE ? NULL : spelling_nearest(word, d.v, d.n);
    if (nearest) {
        snprintf(why, size, "`%s` is no modifier of %s; did you mean `%s`?", word, w->name, nearest);
        return;
    }
    if (!is_known(&d, word) && !fit->missing) {
        snprintf(why, size, "`%s` is no modifier of %s; nearest form: %s", word, w->name, form);
        return;
    }
    if (fit->missing) {
        piece_words(near, &fit->lacking, instead, sizeof instead);
        snprintf(why, size, "`%s` can't stand here, %s must; nearest form: %s", word, instead, form);
        return;
    }
    snprintf(why, size, "`%s` does not go with the other modifiers; nearest form: %s", word, form);
}

bool explain_words(const Words *w, ErrorCode *code, char *why, size_t size)
{
    Fit fit = {0};
    InstrForm near = nearest_row(w, NULL, NULL, &fit);
    char form[256], instead[256];
    if (near == FORM_COUNT) return explain_name(w->i, code, why, size);
    if (fit.alien) {
        explain_alien(w, near, &fit, code, why, size);
        return false;
    }
    row_mnemonic(w, near, form, sizeof form);
    if (fit.missing) {
        *code = E1404;
        piece_words(near, &fit.lacking, instead, sizeof instead);
        snprintf(why, size, "%s lacks %s: %s", w->name, instead, form);
        return false;
    }
    *code = E1406;
    if (strncmp(w->name, "clusterlaunchcontrol", 20) == 0)
        snprintf(why, size, "the result's type stands before .b128: %s", form);
    else
        snprintf(why, size, "the destination's %s stands before the source's: %s", w->copy ? "state space" : "format",
                 form);
    return false;
}

/* ---- names ---- */

static void opcode_words(const PtxInstr *i, char *out, size_t size, uint32_t n)
{
    out[0] = 0;
    add(out, size, i->opcode, strlen(i->opcode));
    for (uint32_t k = 0; k < n && k < i->nmods; k++) add(out, size, i->mods[k], strlen(i->mods[k]));
}

/* The name with most of its words in the instruction. */
static const char *likely_name(const PtxInstr *i)
{
    const char *best = NULL, *name;
    int most = -1;
    size_t n = strlen(i->opcode);
    for (size_t k = 0; (name = form_name_at(k)) != NULL; k++) {
        if (strncmp(name, i->opcode, n) != 0 || name[n] != '.') continue;
        int common = 0;
        for (const char *p = name + n; *p;) {
            size_t m = 1 + strcspn(p + 1, ".");
            int found = -1;
            for (uint32_t j = 0; j < i->nmods; j++)
                if (strlen(i->mods[j]) == m && strncmp(i->mods[j], p, m) == 0) found = 1;
            common += 2 * found;
            p += m;
        }
        if (common > most || !best) {
            most = common;
            best = name;
        }
    }
    return best;
}

/* White space before a word that belongs to the name. */
static bool explain_gap(const PtxInstr *i, char *why, size_t size)
{
    uint32_t n;
    bool small = strcmp(i->opcode, "cp") == 0;
    const char *name = form_name_of(i, &n);
    if ((!name && !small) || i->glued >= (name ? n : 2) || i->glued >= i->nmods) return false;
    snprintf(why, size, "`%s` belongs to the name of the instruction and must follow directly, without white space",
             i->mods[i->glued]);
    return true;
}

/* The first word that differs from all names that begin as the instruction does. */
static bool explain_spelling(const PtxInstr *i, char *why, size_t size)
{
    Vocabulary d = {.n = 0};
    char start[128], word[40];
    const char *name;
    for (uint32_t n = 0; n < i->nmods; n++) {
        d.n = 0;
        opcode_words(i, start, sizeof start, n);
        size_t length = strlen(start);
        for (size_t k = 0; (name = form_name_at(k)) != NULL; k++) {
            if (strncmp(name, start, length) != 0 || name[length] != '.') continue;
            snprintf(word, sizeof word, ".%.*s", (int)strcspn(name + length + 1, "."), name + length + 1);
            add_word(&d, word);
        }
        if (is_known(&d, i->mods[n])) continue;
        const char *near = d.n ? spelling_nearest(i->mods[n], d.v, d.n) : NULL;
        if (near) snprintf(why, size, "%s%s is no instruction; did you mean `%s%s`?", start, i->mods[n], start, near);
        return near != NULL;
    }
    return false;
}

bool explain_name(const PtxInstr *i, ErrorCode *code, char *why, size_t size)
{
    char start[128];
    *code = E1403;
    if (i->nmods > MAX_WORDS) {
        snprintf(why, size, "%s has %u modifiers: no form has so many", i->opcode, (unsigned)i->nmods);
        return false;
    }
    opcode_words(i, start, sizeof start, 2);
    const char *name = likely_name(i);
    if (explain_gap(i, why, size) || explain_spelling(i, why, size)) return false;
    if (i->nmods == 0) {
        *code = E1404;
        snprintf(why, size, "%s alone is no instruction; nearest: %s", i->opcode, name ? name : "none");
    } else if (name) {
        snprintf(why, size, "%s is no instruction; nearest: %s, and its words stand in this order in front", start,
                 name);
    } else {
        snprintf(why, size, "%s is no instruction", start);
    }
    return false;
}

/* ---- operands ---- */

static void operand_texts(const Words *w, InstrForm f, char *out, size_t size)
{
    FormMatch m;
    Fit fit;
    Place p[MAX_PLACES];
    fit_row(w, f, false, &m, &fit);
    uint32_t n = form_places(f, &m, p);
    out[0] = 0;
    for (uint32_t k = 0; k < n; k++) {
        if (k > 0) add(out, size, ", ", 2);
        for (size_t c = 0; c < p[k].n; c++) /* {coords} and {info} are vectors, the others single operands */
            if (p[k].text[c] != '{' && p[k].text[c] != '}') add(out, size, &p[k].text[c], 1);
    }
}

static const char *kind_text(const PtxOperand *o)
{
    switch (o->kind) {
    case PTX_REG: return o->negated ? "a negated register" : "a register";
    case PTX_SPECIAL: return "a special register";
    case PTX_SYMBOL: return "a name";
    case PTX_INT: return "a constant";
    case PTX_F32_BITS:
    case PTX_F64_BITS: return "a floating-point constant";
    case PTX_SINK: return "`_`";
    case PTX_ADDRESS: return "an address";
    case PTX_MAP: return "a map with coordinates";
    case PTX_VECTOR: return "a vector";
    case PTX_PAIR: return "a pair";
    case PTX_ARGS: return "a list of arguments";
    }
    return "something else";
}

bool explain_operands(const Words *w, const Mismatch *x, ErrorCode *code, char *why, size_t size)
{
    char texts[160];
    *code = x->code;
    operand_texts(w, x->form, texts, sizeof texts);
    if (x->code == E1407) {
        bool hint = ptx_has_mod(w->i, ".L2::cache_hint");
        snprintf(why, size, "%u operand%s, but the form has %u: %s%s", (unsigned)w->i->nopd, w->i->nopd == 1 ? "" : "s",
                 (unsigned)x->expected, texts, hint ? " (the policy belongs to .L2::cache_hint)" : "");
        return false;
    }
    const PtxOperand *o = &w->i->opd[x->at];
    if (o->kind == PTX_INT && x->place.kind == PLACE_LITERAL)
        snprintf(why, size, "operand %u is %lld, but must be %s", (unsigned)x->at + 1, (long long)o->value, x->want);
    else
        snprintf(why, size, "operand %u is %s, but %s must be %s: %s", (unsigned)x->at + 1, kind_text(o),
                 place_name(&x->place), x->want, texts);
    return false;
}
