/* The rows of the table of what is reached, in the order in which they are printed. */
#define _DEFAULT_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cover.h"
#include "frontend/check/check.h"
#include "lower/ir/ops.h"

enum { ROWS_MAX = 4096, SLOTS = 16384 };

static const char *const KINDS[ROW_KINDS] = {
    [ROW_PRODUCTION] = "production",   [ROW_CLAUSE] = "clause",       [ROW_OP] = "op",     [ROW_FORM] = "form",
    [ROW_INSTRUCTION] = "instruction", [ROW_TYPE] = "type",           [ROW_CONVERT] = "convert", [ROW_CONVERT_SAT] = "convert_sat",
    [ROW_THREADS] = "threads",         [ROW_REDUCTION] = "reduction", [ROW_MAP] = "map",   [ROW_WORD] = "word",
    [ROW_CONDITION] = "condition",     [ROW_LOOP] = "loop",
    [ROW_NEST] = "nest"};

const char *const SOURCE_NAMES[SOURCES] = {"constants", "sizes", "indices", "cta", "rank", "let", "var", "data"};

static char *rows[ROWS_MAX];
static int nrows, first[ROW_KINDS + 1], slots[SLOTS]; /* slots: of a hash table, row + 1 */
long *row_hits;

static void add(const char *kind, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(const char *kind, const char *format, ...)
{
    char text[400];
    int n = snprintf(text, sizeof text, "%s ", kind);
    va_list ap;
    va_start(ap, format);
    vsnprintf(text + n, sizeof text - (size_t)n, format, ap);
    va_end(ap);
    if (nrows == ROWS_MAX || !(rows[nrows++] = strdup(text))) abort();
}

/* Lines "  12 name: a b" and "  13     | c" of Bison's report; %empty for nothing, in a UTF-8 locale the letter epsilon. */
static void productions(const char *kind)
{
    FILE *f = fopen(GRAMMAR_REPORT, "r");
    char line[400], name[100] = "";
    bool inside = false;
    while (f && fgets(line, sizeof line, f)) {
        int rule, at = 0;
        line[strcspn(line, "\n")] = 0;
        if (!strcmp(line, "Grammar")) inside = true;
        if (inside && !strncmp(line, "Terminals", 9)) break;
        if (!inside || sscanf(line, "%d %n", &rule, &at) != 1 || !at) continue;
        char *rest = line + at, *colon = strstr(rest, ": ");
        if (*rest != '|') {
            if (!colon) continue;
            snprintf(name, sizeof name, "%.*s", (int)(colon - rest), rest);
            rest = colon + 2;
        } else {
            rest += 2;
        }
        if (rule != nrows) abort(); /* rows are found by rule */
        add(kind, "%s: %s", name, strcmp(rest, "\xCE\xB5") ? rest : "%empty");
    }
    if (!f || nrows == 0) {
        fprintf(stderr, "%s: no grammar in it\n", GRAMMAR_REPORT);
        exit(3);
    }
    fclose(f);
}

static void forms(const char *kind, IrOpcode op)
{
    const IrSignature *sig = ir_signature(op);
    for (unsigned i = 0; i < sig->n; i++) {
        uint32_t words = 0;
        const char *const *word = sig->v[i].arg == IRA_WORD && sig->v[i].key != IRK_ELEM ? ir_words((IrKey)sig->v[i].key, &words) : NULL;
        for (uint32_t w = 0; w < words; w++)
            add(kind, "%s %s=%s", ir_op_info(op)->text, ir_key_text((IrKey)sig->v[i].key), word[w]);
        if (sig->v[i].optional) {
            add(kind, "%s with %s", ir_op_info(op)->text, ir_key_text((IrKey)sig->v[i].key));
            add(kind, "%s without %s", ir_op_info(op)->text, ir_key_text((IrKey)sig->v[i].key));
        }
    }
}

static void conversions(const char *kind)
{
    for (int a = 0; a < TYPE_COUNT; a++)
        for (int b = 0; b < TYPE_COUNT; b++) {
            if (a == b || elem_info((ElemType)a)->kind == ELEM_PACKED || elem_info((ElemType)b)->kind == ELEM_PACKED) continue;
            add(kind, "%s %s", elem_info((ElemType)a)->name, elem_info((ElemType)b)->name);
        }
}

/* What threads do with each type. */
static void threads(const char *kind)
{
    for (int t = 0; t < TYPE_COUNT; t++) {
        const ElemInfo *e = elem_info((ElemType)t);
        if (e->kind == ELEM_PACKED) continue;
        bool sums = t != TYPE_E4M3 && t != TYPE_E5M2 && t != TYPE_TF32;
        add(kind, "copy %s", e->name);
        add(kind, "transpose %s", e->name);
        add(kind, "fill %s", e->name);
        if (sums) add(kind, "add %s", e->name);
        if (sums) add(kind, "sum %s", e->name);
    }
}

static void reductions(const char *kind)
{
    static const struct {
        InstrForm form;
        const char *name;
    } list[] = {{FORM_BULK_REDUCE, "memory"}, {FORM_BULK_REDUCE_PEER, "peer"}, {FORM_RED_ASYNC, "fill"}};
    size_t n;
    const char *const *op = word_list(WORDS_REDUCE, &n), *ptx_op, *ptx_type;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        for (size_t k = 0; k < n; k++)
            for (int t = 0; t < TYPE_COUNT; t++)
                if (reduction_of(list[i].form, op[k], (ElemType)t, &ptx_op, &ptx_type))
                    add(kind, "%s %s %s", list[i].name, op[k], elem_info((ElemType)t)->name);
}

static void maps(const char *kind)
{
    static const char *const names[] = {"mode", "type", "interleave", "swizzle", "l2", "fill"};
    for (int w = WORDS_MODE; w <= WORDS_FILL; w++) {
        size_t n;
        const char *const *word = word_list((WordList)w, &n);
        for (size_t i = 0; i < n; i++) {
            bool used = w != WORDS_MAP_TYPE;
            for (int t = 0; t < TYPE_COUNT; t++) used |= (size_t)elem_info((ElemType)t)->map_type == i;
            if (used) add(kind, "%s %s", names[w - WORDS_MODE], word[i]);
        }
    }
}

static void words(const char *kind)
{
    static const struct {
        WordList list;
        const char *before;
    } lists[] = {{WORDS_CACHE, "= "}, {WORDS_CACHE, "else "}, {WORDS_MULTICAST, "multicast "}, {WORDS_DEAL, "by "},
                 {WORDS_GRID_MEMBER, "grid."}, {WORDS_GRID_MEMBER, "cta."}, {WORDS_CLUSTER_MEMBER, "cluster."}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        size_t n;
        const char *const *w = word_list(lists[i].list, &n);
        for (size_t k = 0; k < n; k++) {
            bool other = lists[i].before[0] == 'e' && !strcmp(w[k], "evict_normal");
            if (!other && !(lists[i].before[0] == 'e' && !strcmp(w[k], "evict_last"))) add(kind, "%s%s", lists[i].before, w[k]);
        }
    }
}

static void add_nest(const char *statement, const char *around)
{
    add(KINDS[ROW_NEST], "%s in %s", statement, around);
}

static void make(RowKind k)
{
    const char *kind = KINDS[k];
    switch (k) {
    case ROW_PRODUCTION: productions(kind); return;
    case ROW_CLAUSE:
        for (int s = 0; s <= SHAPE_SHIFT; s++)
            for (int c = 0; c <= CL_COMMIT_GROUP; c++)
                if (clauses_taken((MoveShape)s) >> c & 1) add(kind, "%s: %s", clause_shape_text((MoveShape)s), clause_text((ClauseKind)c));
        return;
    case ROW_OP:
        for (int o = 0; o < IR_OP_COUNT; o++) add(kind, "%s", ir_op_info((IrOpcode)o)->text);
        return;
    case ROW_FORM:
        for (int o = 0; o < IR_OP_COUNT; o++) forms(kind, (IrOpcode)o);
        return;
    case ROW_INSTRUCTION:
        for (int f = 0; f < FORM_COUNT; f++)
            if (form_cover((InstrForm)f) && strcmp(form_cover((InstrForm)f)->statement, "PTX by hand"))
                add(kind, "%s", form_info((InstrForm)f)->ident);
        return;
    case ROW_TYPE:
        for (int t = 0; t < TYPE_COUNT; t++) {
            add(kind, "global %s", elem_info((ElemType)t)->name);
            add(kind, "shared %s", elem_info((ElemType)t)->name);
        }
        return;
    case ROW_CONVERT:
    case ROW_CONVERT_SAT: conversions(kind); return;
    case ROW_THREADS: threads(kind); return;
    case ROW_REDUCTION: reductions(kind); return;
    case ROW_MAP: maps(kind); return;
    case ROW_WORD: words(kind); return;
    case ROW_CONDITION:
        for (int s = 0; s < SOURCES; s++)
            for (int o = 0; o < 6; o++) {
                static const char *const often[] = {"never", "always", "sometimes"};
                if (s > 1 || o / 2 < 2) add(kind, "%s, %s%s", SOURCE_NAMES[s], often[o / 2], o % 2 ? ", with else" : "");
            }
        return;
    case ROW_LOOP:
        for (int o = 0; o < 9; o++) {
            static const char *const loops[] = {"for", "pipeline", "pipeline across grid"}, *const turns[] = {"0", "1", "more"};
            add(kind, "%s, %s turns", loops[o / 3], turns[o % 3]);
            if (o % 3) continue;
            add(kind, "%s, from a number", loops[o / 3]);
            add(kind, "%s, from below 0", loops[o / 3]);
            add(kind, "%s, to below the first", loops[o / 3]);
            for (int s = 1; s < SOURCES; s++)
                if (s < 2 || (o < 6 && (s == 2 || s == SOURCES - 1))) add(kind, "%s, from %s", loops[o / 3], SOURCE_NAMES[s]);
        }
        return;
    case ROW_NEST: nest_rows(add_nest); return;
    case ROW_KINDS: return;
    }
}

static int *slot_of(const char *text)
{
    uint32_t h = 2166136261;
    for (const char *c = text; *c; c++) h = (h ^ (uint8_t)*c) * 16777619;
    h %= SLOTS;
    while (slots[h] && strcmp(rows[slots[h] - 1], text)) h = (h + 1) % SLOTS;
    return &slots[h];
}

void rows_make(void)
{
    for (int k = 0; k < ROW_KINDS; k++) {
        first[k] = nrows;
        make((RowKind)k);
    }
    first[ROW_KINDS] = nrows;
    for (int i = 0; i < nrows; i++) *slot_of(rows[i]) = i + 1;
    row_hits = mmap(NULL, sizeof *row_hits * ROWS_MAX, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (row_hits == MAP_FAILED) abort();
}

int row_count(void)
{
    return nrows;
}

const char *row_text(int row)
{
    return rows[row];
}

void row_hit(RowKind kind, const char *format, ...)
{
    char text[400];
    va_list ap;
    int n = snprintf(text, sizeof text, "%s ", KINDS[kind]);
    va_start(ap, format);
    vsnprintf(text + n, sizeof text - (size_t)n, format, ap);
    va_end(ap);
    int row = *slot_of(text) - 1;
    if (row >= 0) __atomic_fetch_add(&row_hits[row], 1, __ATOMIC_RELAXED);
}

void row_production(int rule)
{
    if (rule >= 0 && rule < first[ROW_PRODUCTION + 1]) __atomic_fetch_add(&row_hits[rule], 1, __ATOMIC_RELAXED);
}
