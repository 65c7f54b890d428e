/* plain.def's rows against an instruction. */
#include "runtime/sim/decode/plain.h"

#include <stdio.h>
#include <string.h>

const PlainForm PLAIN_FORMS[] = {
#define PLAIN(opcode, modifiers, types, version, sm) {opcode, modifiers, types, version, sm},
#include "runtime/sim/decode/plain.def"
};
const size_t PLAIN_FORM_COUNT = sizeof PLAIN_FORMS / sizeof PLAIN_FORMS[0];

static const PlainOperand operands[] = {
#define PLAIN_OPERAND(opcode, word, types, place, of, may, constants) {opcode, word, types, place, of, may, constants},
#include "runtime/sim/decode/plain.def"
};
enum { OPERANDS = sizeof operands / sizeof operands[0] };

enum { WORDS = 32 };

bool plain_next(const char **at, PlainItem *out)
{
    const char *p = *at + strspn(*at, " ");
    size_t n = strcspn(p, " ");
    if (n == 0) return false;
    *out = (PlainItem){p, n - (p[n - 1] == '?'), p[n - 1] == '?'};
    *at = p + n;
    return true;
}

static bool plain_takes(const PlainItem *item, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = item->words, *end = p + item->n; p < end;) {
        const char *bar = memchr(p, '|', (size_t)(end - p));
        size_t m = (size_t)((bar ? bar : end) - p);
        if (m == n && memcmp(p, word, n) == 0) return true;
        p += m + 1;
    }
    return false;
}

static bool takes_types(const PlainForm *f, const char *const *type, uint32_t n)
{
    const char *at = f->types;
    PlainItem item;
    uint32_t i = 0;
    for (; plain_next(&at, &item); i++)
        if (i >= n || !plain_takes(&item, type[i])) return false;
    return i == n;
}

/* Each word is one of an item's, each item has at most one. *stranger: the first word that is none. */
static bool takes_words(const PlainForm *f, const char *const *word, uint32_t n, const char **stranger)
{
    const char *at = f->modifiers;
    bool used[WORDS] = {false}, ok = true;
    PlainItem item;
    while (plain_next(&at, &item)) {
        bool found = false;
        for (uint32_t i = 0; i < n && !found; i++)
            if (!used[i] && plain_takes(&item, word[i])) used[i] = found = true;
        ok = ok && (found || item.optional);
    }
    *stranger = NULL;
    for (uint32_t i = n; i-- > 0;)
        if (!used[i]) *stranger = word[i];
    return ok && *stranger == NULL;
}

static void explain(bool types, const char *stranger, char *why, size_t size)
{
    if (!types) snprintf(why, size, "it does not take these types");
    else if (stranger) snprintf(why, size, "`%.40s` does not go with these types and modifiers", stranger);
    else snprintf(why, size, "it lacks a modifier");
}

bool plain_legal(const char *opcode, const char *const *words, uint32_t nwords, const char *const *types, uint32_t ntypes,
                 uint32_t version, uint32_t sm, char *why, size_t size)
{
    const PlainForm *later = NULL;
    const char *odd = NULL;
    bool fitting = false, strange = true;
    for (size_t i = 0; i < PLAIN_FORM_COUNT; i++) {
        const PlainForm *f = &PLAIN_FORMS[i];
        const char *stranger;
        if (strcmp(f->opcode, opcode) != 0 || !takes_types(f, types, ntypes)) continue;
        if (takes_words(f, words, nwords, &stranger)) {
            if (version >= f->version && sm >= f->sm) return true;
            later = f;
        }
        if (strange) odd = stranger;
        strange = strange && stranger != NULL;
        fitting = true;
    }
    if (later) snprintf(why, size, "it needs .version %u.%u", later->version / 10u, later->version % 10u);
    else explain(fitting, strange ? odd : NULL, why, size);
    if (later && sm < later->sm) snprintf(why, size, "it needs a target of sm_%u or newer", (unsigned)later->sm);
    return false;
}

static bool among(const char *word, const char *const *words, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(words[i], word) == 0) return true;
    return false;
}

const PlainOperand *plain_operand(const char *opcode, const char *const *words, uint32_t nwords, const char *type,
                                   uint32_t place, uint32_t of)
{
    for (size_t i = 0; i < OPERANDS; i++) {
        const PlainOperand *r = &operands[i];
        const PlainItem types = {r->types, strlen(r->types), false};
        if (strcmp(r->opcode, opcode) != 0 || r->place != place || (r->of && r->of != of)) continue;
        if (*r->word && !among(r->word, words, nwords)) continue;
        if (!types.n || (type && plain_takes(&types, type))) return r;
    }
    return NULL;
}
