#include "tests/ptxas/plain_variants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/decode/plain.h"

enum { WORDS = 16, SLOTS = 4, COMBINATIONS = 4000, ALL_WORDS = 256 };

typedef struct Instruction {
    const char *opcode;
    char word[WORDS][24], type[SLOTS][12];
    size_t nwords, ntypes;
} Instruction;

/* ---- types and registers ---- */

static const struct {
    const char *type, *reg; /* untyped, of its size (8 bits: 16) */
} TYPES[] = {{".pred", "p"}, {".b8", "h"},   {".u8", "h"},    {".s8", "h"},     {".b16", "h"},   {".u16", "h"},    {".s16", "h"},
             {".f16", "h"},  {".bf16", "h"}, {".b32", "r"},   {".u32", "r"},    {".s32", "r"},   {".f32", "r"},    {".tf32", "r"},
             {".f16x2", "r"}, {".bf16x2", "r"}, {".u16x2", "r"}, {".s16x2", "r"}, {".b64", "d"},  {".u64", "d"},    {".s64", "d"},
             {".f64", "d"},  {".b128", "q"}, {".e4m3x2", "h"}, {".e5m2x2", "h"}};
enum { TYPE_COUNT = sizeof TYPES / sizeof TYPES[0] };
static const char *const REGISTERS[] = {"p", "h", "r", "d", "q", "f", "g", "u", "s", "ud", "uh", "fh", "ff"};
enum { REGISTER_COUNT = sizeof REGISTERS / sizeof REGISTERS[0] };
/* What is no register of one kind: pairs, constants, special registers of each size, addresses of each space, vectors. */
static const char *const OTHERS[] = {
    "%p1|%p2", "%r1|%p2",  "_",       "!%p1",      "0",         "255",           "256",     "-1",
    "1.5",     "0f3f800000", "0d3ff8000000000000", "%tid.x", "%laneid", "%clock64", "%globaltimer", "%gridid", "%is_explicit_cluster",
    "smem",    "smem+4",   "glob",    "loc",       "pp",        "{%h1,%h2}",     "{%r1,%r2}", "{_,%r2}", "{_,_}",
    "{%tid.x,%r2}", "{%laneid,%h2}", "{%r1,smem}"};
enum { OTHER_COUNT = sizeof OTHERS / sizeof OTHERS[0] };

const char *plain_registers(const PlainClass *c)
{
    static const char *const all =
        ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<9>; .reg .f64 %g<9>; "
        ".reg .u32 %u<9>; .reg .s32 %s<9>; .reg .u64 %ud<9>; .reg .u16 %uh<9>; .reg .f16 %fh<9>; .reg .f16x2 %ff<9>; "
        ".shared .align 16 .b8 smem[64]; .local .align 16 .b8 loc[64]; .reg .b128 %q<9>;";
    static char narrow[400];
    if (strcmp(c->version, "8.3") >= 0) return all;
    snprintf(narrow, sizeof narrow, "%.*s", (int)(strstr(all, ".reg .b128") - all), all);
    return narrow;
}

bool plain_fits(const PlainVariant *v, const PlainClass *c)
{
    return strcmp(c->version, "8.3") >= 0 || (!strstr(v->text, "%q") && !strstr(v->text, ".b128"));
}

static const char *reg_of(const char *type)
{
    for (size_t i = 0; i < TYPE_COUNT; i++)
        if (strcmp(TYPES[i].type, type) == 0) return TYPES[i].reg;
    return "r";
}

/* ---- operands ---- */

static bool has(const Instruction *in, const char *word)
{
    for (size_t i = 0; i < in->nwords; i++)
        if (strcmp(in->word[i], word) == 0) return true;
    return false;
}

static bool begins(const Instruction *in, const char *word)
{
    for (size_t i = 0; i < in->nwords; i++)
        if (strncmp(in->word[i], word, strlen(word)) == 0) return true;
    return false;
}

/* t, v: the first and second type; w: twice the first; h r d p: registers; 7, 1: constants; a: an address in a register,
 * A: the parameter; T: a vector of t; c: a policy; P: a predicate behind .and and its like. */
static const struct {
    const char *opcode, *word, *signature; /* word: which makes the difference */
} SIGNATURES[] = {
    {"add", "", "ttt"},      {"sub", "", "ttt"},      {"addc", "", "ttt"},     {"subc", "", "ttt"},    {"mul", ".wide", "wtt"},
    {"mul", "", "ttt"},      {"div", "", "ttt"},      {"rem", "", "ttt"},      {"min", "", "ttt"},     {"max", "", "ttt"},
    {"and", "", "ttt"},      {"or", "", "ttt"},       {"xor", "", "ttt"},      {"copysign", "", "ttt"}, {"mad", ".wide", "wttw"},
    {"mad", "", "tttt"},     {"madc", "", "tttt"},    {"sad", "", "tttt"},     {"fma", "", "tttt"},    {"abs", "", "tt"},
    {"neg", "", "tt"},       {"not", "", "tt"},       {"cnot", "", "tt"},      {"brev", "", "tt"},     {"rcp", "", "tt"},
    {"sqrt", "", "tt"},      {"rsqrt", "", "tt"},     {"sin", "", "tt"},       {"cos", "", "tt"},      {"lg2", "", "tt"},
    {"ex2", "", "tt"},       {"tanh", "", "tt"},      {"mov", "", "tt"},       {"mul24", "", "ttt"},   {"mad24", "", "tttt"},
    {"dp4a", "", "rrrr"},    {"dp2a", "", "rrrr"},    {"shl", "", "ttr"},      {"shr", "", "ttr"},     {"shf", "", "tttr"},
    {"popc", "", "rt"},      {"clz", "", "rt"},       {"bfind", "", "rt"},     {"bfe", "", "ttrr"},    {"bfi", "", "tttrr"},
    {"lop3", "", "tttt7"},   {"prmt", "", "tttr"},    {"bmsk", "", "trr"},     {"szext", "", "ttr"},   {"setp", "", "pttP"},
    {"set", "", "tvvP"},     {"selp", "", "tttp"},    {"slct", "", "tttv"},    {"testp", "", "pt"},    {"cvta", "", "tt"},
    {"isspacep", "", "pd"},  {"nanosleep", "", "r"},  {"pmevent", "", "7"},    {"prefetch", "", "a"},  {"prefetchu", "", "a"},
    {"discard", "", "a1"},   {"applypriority", "", "a1"}, {"activemask", "", "r"}, {"shfl", "", "rrrrr"}, {"vote", ".ballot", "rpr"},
    {"vote", "", "ppr"},     {"match", "", "rtr"},    {"redux", "", "rrr"},    {"bar", ".warp", "r"},  {"bar", ".popc", "r7p"},
    {"bar", ".red", "p7p"},  {"bar", "", "71"},       {"barrier", ".popc", "r7p"}, {"barrier", ".red", "p7p"}, {"barrier", "", "71"},
    {"ld", ".param", "TA"},  {"ld", "", "Tac"},       {"ldu", "", "Ta"},       {"st", "", "aTc"},      {"atom", ".cas", "tattc"},
    {"atom", "", "tatc"},    {"red", "", "atc"},      {"membar", "", ""},      {"fence", "", ""},      {"ret", "", ""},
    {"exit", "", ""},        {"trap", "", ""},        {"brkpt", "", ""},
};

static const char *signature_of(const Instruction *in)
{
    static const char *const pairs[] = {".f16x2", ".bf16x2", ".e4m3x2", ".e5m2x2"};
    if (strcmp(in->opcode, "cvt") == 0) {
        if (has(in, ".pack")) return in->ntypes > 2 ? "rrrr" : "rrr";
        for (size_t i = 0; i < 4 && in->ntypes == 2; i++)
            if (strcmp(in->type[0], pairs[i]) == 0 && strcmp(in->type[1], ".f32") == 0) return "tvv";
        return "tv";
    }
    for (size_t i = 0; i < sizeof SIGNATURES / sizeof SIGNATURES[0]; i++)
        if (strcmp(SIGNATURES[i].opcode, in->opcode) == 0 && (!*SIGNATURES[i].word || begins(in, SIGNATURES[i].word)))
            return SIGNATURES[i].signature;
    return NULL;
}

static const char *reg_for(const Instruction *in, char c)
{
    const char *t = reg_of(in->ntypes ? in->type[0] : ".b32");
    switch (c) {
    case 't':
    case 'T': return t;
    case 'v': return reg_of(in->ntypes > 1 ? in->type[1] : ".b32");
    case 'w': return *t == 'h' ? "r" : *t == 'r' ? "d" : "q";
    case 'p':
    case 'P': return "p";
    case 'h': return "h";
    case 'd':
    case 'c': return "d";
    default: return "r";
    }
}

/* second: what the second element is, if not a register. */
static size_t vector(char *to, size_t room, const char *reg, const char *second, size_t n)
{
    size_t at = (size_t)snprintf(to, room, "{");
    for (size_t i = 0; i < n; i++) {
        if (i == 1 && second) at += (size_t)snprintf(to + at, room - at, ",%s", second);
        else at += (size_t)snprintf(to + at, room - at, "%s%%%s%zu", i ? "," : "", reg, i % 4 + 1);
    }
    return at + (size_t)snprintf(to + at, room - at, "}");
}

/* The instruction with its operands; operand `odd` in a register of another kind, or what is none (as OTHERS). */
static void write(const Instruction *in, size_t odd, const char *other, bool whole, PlainVariants *out)
{
    const char *signature = signature_of(in);
    if (!signature) return; /* branches */
    PlainVariant v;
    char *to = v.text;
    size_t at = (size_t)snprintf(to, sizeof v.text, "%s", in->opcode), room = sizeof v.text;
    for (size_t i = 0; i < in->nwords; i++) at += (size_t)snprintf(to + at, room - at, "%s", in->word[i]);
    for (size_t i = 0; i < in->ntypes; i++) at += (size_t)snprintf(to + at, room - at, "%s", in->type[i]);
    size_t lanes = has(in, ".v2") ? 2 : has(in, ".v4") ? 4 : has(in, ".v8") ? 8 : 1;
    const char *separator = " ";
    for (size_t i = 0; signature[i]; i++) {
        char c = signature[i];
        const char *reg = i == odd ? other : reg_for(in, c);
        if (c == 'P' && !has(in, ".and") && !has(in, ".or") && !has(in, ".xor")) continue;
        if (c == 'c' && !has(in, ".L2::cache_hint")) continue;
        at += (size_t)snprintf(to + at, room - at, "%s", separator);
        separator = ", ";
        bool is_vector = c == 'T' && lanes > 1;
        if (i == odd && whole && is_vector) at += vector(to + at, room - at, reg_for(in, c), other, lanes);
        else if (i == odd && whole) at += (size_t)snprintf(to + at, room - at, "%s", other);
        else if (c == '7' || c == '1') at += (size_t)snprintf(to + at, room - at, "%s", c == '7' ? "7" : "128");
        else if (c == 'a') at += (size_t)snprintf(to + at, room - at, "[%%d7]");
        else if (c == 'A') at += (size_t)snprintf(to + at, room - at, "[pp]");
        else if (is_vector) at += vector(to + at, room - at, reg, NULL, lanes);
        else at += (size_t)snprintf(to + at, room - at, "%%%s%zu", reg, i + 1);
    }
    snprintf(to + at, room - at, ";");
    if (out->n == out->room) {
        out->room = out->room ? 2 * out->room : 1024;
        out->v = realloc(out->v, out->room * sizeof *out->v);
        if (!out->v) exit(3);
    }
    out->v[out->n++] = v;
}

enum { NO_ODD = 99 };

static void put(const Instruction *in, PlainVariants *out)
{
    write(in, NO_ODD, NULL, false, out);
}

/* ---- the table's words ---- */

/* Choice k of an item: 0 is none; false: there are not so many. */
static bool choice(const PlainItem *item, size_t k, char *to, size_t room)
{
    const char *p = item->words, *end = p + item->n;
    for (; p < end; k--) {
        const char *bar = memchr(p, '|', (size_t)(end - p));
        size_t n = (size_t)((bar ? bar : end) - p);
        if (k == 1) {
            snprintf(to, room, "%.*s", (int)n, p);
            return true;
        }
        p += n + 1;
    }
    return false;
}

static size_t choices(const PlainItem *item)
{
    size_t n = 1;
    for (size_t i = 0; i < item->n; i++) n += item->words[i] == '|';
    return n + 1;
}

static size_t items_of(const char *text, PlainItem *out)
{
    size_t n = 0;
    while (n < WORDS && plain_next(&text, &out[n])) n++;
    return n;
}

static const char *all_words[ALL_WORDS];
static size_t nall;

static void collect_words(void)
{
    static char kept[ALL_WORDS][24];
    PlainItem item[WORDS];
    for (size_t f = 0; f < PLAIN_FORM_COUNT; f++) {
        size_t n = items_of(PLAIN_FORMS[f].modifiers, item);
        for (size_t i = 0; i < n; i++) {
            char word[24];
            for (size_t k = 1; choice(&item[i], k, word, sizeof word); k++) {
                size_t w = 0;
                while (w < nall && strcmp(all_words[w], word) != 0) w++;
                if (w < nall || nall == ALL_WORDS) continue;
                memcpy(kept[nall], word, sizeof word);
                all_words[nall] = kept[nall];
                nall++;
            }
        }
    }
}

/* ---- variants of a row ---- */

static void set_words(Instruction *in, const PlainItem *item, size_t n, size_t number)
{
    in->nwords = 0;
    for (size_t i = 0; i < n; i++) {
        size_t k = number % choices(&item[i]);
        number /= choices(&item[i]);
        if (k && choice(&item[i], k, in->word[in->nwords], sizeof in->word[0])) in->nwords++;
    }
}

static void set_types(Instruction *in, const PlainItem *slot, size_t n, size_t number)
{
    in->ntypes = n;
    for (size_t i = 0; i < n; i++) {
        size_t most = choices(&slot[i]) - 1;
        choice(&slot[i], number % most + 1, in->type[i], sizeof in->type[0]);
        number /= most;
    }
}

static size_t combinations(const PlainItem *item, size_t n, size_t less)
{
    size_t r = 1;
    for (size_t i = 0; i < n; i++) r *= choices(&item[i]) - less;
    return r;
}

static bool is_legal(const Instruction *in)
{
    const char *words[WORDS], *types[SLOTS];
    char why[200];
    for (size_t i = 0; i < in->nwords; i++) words[i] = in->word[i];
    for (size_t i = 0; i < in->ntypes; i++) types[i] = in->type[i];
    return plain_legal(in->opcode, words, (uint32_t)in->nwords, types, (uint32_t)in->ntypes, UINT32_MAX, UINT32_MAX, why,
                       sizeof why);
}

/* Every type in every slot, a word more, a type more, a type less. */
static void near_misses(Instruction *in, size_t number, PlainVariants *out)
{
    Instruction v = *in;
    for (size_t i = 0; i < in->ntypes; i++, v = *in)
        for (size_t t = 0; t < TYPE_COUNT; t++) {
            snprintf(v.type[i], sizeof v.type[i], "%s", TYPES[t].type);
            put(&v, out);
        }
    for (size_t i = 0; i < 2 && v.nwords < WORDS; i++, v = *in) {
        const char *more = all_words[(number * 2 + i) % nall];
        bool again = has(&v, more);
        snprintf(v.word[v.nwords++], sizeof v.word[0], "%s", more);
        if (!again && !is_legal(&v)) put(&v, out); /* what is legal stands in the row's order elsewhere: ptxas minds it at times */
    }
    if (v.ntypes < SLOTS) {
        snprintf(v.type[v.ntypes++], sizeof v.type[0], "%s", TYPES[number % TYPE_COUNT].type);
        put(&v, out);
        v = *in;
    }
    if (v.ntypes) {
        v.ntypes--;
        put(&v, out);
    }
}

static void other_registers(const Instruction *in, PlainVariants *out)
{
    const char *signature = signature_of(in);
    for (size_t i = 0; signature && signature[i]; i++) {
        if (!strchr("tvwhrdpTP", signature[i])) continue;
        for (size_t r = 0; r < REGISTER_COUNT; r++) write(in, i, REGISTERS[r], false, out);
    }
}

static void other_operands(const Instruction *in, PlainVariants *out)
{
    const char *signature = signature_of(in);
    for (size_t i = 0; signature && signature[i]; i++) {
        if (strchr("aA", signature[i])) continue;
        for (size_t r = 0; r < OTHER_COUNT; r++) write(in, i, OTHERS[r], true, out);
    }
}

static void of_form(const PlainForm *f, PlainVariants *out)
{
    PlainItem item[WORDS], slot[WORDS];
    size_t n = items_of(f->modifiers, item), nslots = items_of(f->types, slot);
    size_t words = combinations(item, n, 0), types = combinations(slot, nslots, 1);
    size_t step = words > COMBINATIONS ? words / COMBINATIONS | 1 : 1;
    Instruction in = {.opcode = f->opcode};
    for (size_t k = 0, turn = 0; k < words; k += step, turn++) {
        set_words(&in, item, n, k);
        size_t all = words <= 64 ? types : types > 4 ? 4 : types;
        for (size_t t = 0; t < all; t++) {
            set_types(&in, slot, nslots, all == types ? t : t * 7 + turn);
            put(&in, out);
            if (k < 3 * step) other_registers(&in, out);
        }
        if (words <= 256 || turn % 16 == 0) near_misses(&in, turn, out);
    }
    for (size_t t = 0; nslots && t < types; t++) { /* with the first words, as far as it needs some, in all registers and more */
        size_t number = 0, unit = 1;
        for (size_t i = 0; i < n; unit *= choices(&item[i++])) number += item[i].optional ? 0 : unit;
        set_words(&in, item, n, number);
        set_types(&in, slot, nslots, t);
        other_registers(&in, out);
        other_operands(&in, out);
    }
}

/* Every type with every word alone, of opcodes with one type. */
static void of_opcode(const char *opcode, PlainVariants *out)
{
    Instruction in = {.opcode = opcode, .ntypes = 1};
    for (size_t t = 0; t < TYPE_COUNT; t++) {
        snprintf(in.type[0], sizeof in.type[0], "%s", TYPES[t].type);
        in.nwords = 0;
        put(&in, out);
        in.nwords = 1;
        for (size_t w = 0; w < nall; w++) {
            snprintf(in.word[0], sizeof in.word[0], "%s", all_words[w]);
            put(&in, out);
        }
    }
}

void plain_variants(PlainVariants *out)
{
    collect_words();
    for (size_t f = 0; f < PLAIN_FORM_COUNT; f++) {
        of_form(&PLAIN_FORMS[f], out);
        if (f == 0 || strcmp(PLAIN_FORMS[f].opcode, PLAIN_FORMS[f - 1].opcode) != 0) of_opcode(PLAIN_FORMS[f].opcode, out);
    }
}
