/* Programs of drawn roles: does the compiler accept one, and launch it, that the machine sees hang? */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tile.h"
#include "tilecc.h"
#include "turns.h"

#define WORD(form, word) word,
const char *const FORM_WORD[FORMS] = {TURNS_FORMS(WORD)};
#undef WORD

enum { LAUNCHES = 1024, CODES = 64, NUMBERS = 256 };

typedef struct Launches {
    int64_t names[LAUNCHES][LAUNCH_NAMES];
    int n;
} Launches;

typedef struct Code {
    char word[8];
    long all, right;
} Code;

static Launches launches;
static Code codes[CODES];
static long forms[FORMS], forms_accepted[FORMS];

/* ---- launches ---- */

static void add_launch(int64_t n, int64_t m)
{
    if (launches.n == LAUNCHES || n > 3100) return;
    int64_t *l = launches.names[launches.n++];
    l[N] = n, l[M] = m, l[ROWS] = 300;
}

static void choose_launches(const Program *p)
{
    static const int64_t large[] = {-1, 33, 64, 101, 142, 143, 192, 193, 199, 210, 256, 1002, 1003, 1012, 2001};
    int64_t numbers[NUMBERS];
    bool m = false;
    int n = numbers_of(p, numbers, NUMBERS, &m);
    launches.n = 0;
    for (int64_t i = 0; i <= 30; i++) {
        if (!m) add_launch(i, 1);
        else for (int64_t j = 0; j < 5; j++) add_launch(i, j), add_launch(j, i);
    }
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        add_launch(large[i], 1);
        if (m) add_launch(large[i], 0), add_launch(large[i], 2), add_launch(3, large[i]), add_launch(large[i], large[i] + 1);
    }
    for (int i = 0; i < n; i++) {
        if (numbers[i] < 7) continue;
        for (int64_t many = 1; many <= 3; many++) {
            for (int64_t d = -1; d <= 3; d++) {
                add_launch(many * numbers[i] + d, 1 + d);
                if (m) add_launch(d + 2, many * numbers[i] + d);
            }
        }
    }
}

/* ---- the compiler ---- */

static void counts_as_meant(const Program *p, int *counts)
{
    for (int i = 0; i < p->bars; i++) {
        counts[i] = 0;
        for (int r = 0; r < p->roles; r++) counts[i] += p->bar[i].per_phase[r];
        if (counts[i] == 0) counts[i] = 1;
    }
}

/* The arrivals of a phase, as the IR says: `bar full slots 3 count 2`. */
static void read_counts(const Program *p, const char *ir, int *counts)
{
    for (int i = 0; i < p->bars; i++) {
        char word[48];
        snprintf(word, sizeof word, "\n  bar %s slots ", p->bar[i].name);
        const char *at = strstr(ir, word), *count = at ? strstr(at, " count ") : NULL;
        if (count) counts[i] = (int)strtol(count + 7, NULL, 10);
        if (counts[i] < 1) counts[i] = 1;
    }
}

static tilecc_result *compile(const char *text, tilecc_emit emit)
{
    tilecc_options opt = {.struct_size = sizeof opt, .emit = emit, .no_performance_warnings = 1, .error_format = TILECC_SHORT};
    tilecc_result *r = tilecc_compile(&opt, "turns.tile", text, strlen(text));
    if (!r) abort();
    return r;
}

static Code *code_of(const char *diagnostics)
{
    const char *at = strstr(diagnostics, "error E");
    char word[8] = "?";
    int i = 0;
    if (at) snprintf(word, sizeof word, "%.5s", at + 6);
    while (i < CODES - 1 && codes[i].all && strcmp(codes[i].word, word) != 0) i++;
    memcpy(codes[i].word, word, sizeof word);
    return &codes[i];
}

/* ---- launches asked ---- */

static bool bind(tile_args *args, const char *text, const int64_t *names)
{
    tile_error err;
    int64_t extents[2] = {names[ROWS], 64};
    size_t bytes = (size_t)names[ROWS] * 256;
    bool x = !strstr(text, "x: global") || !tile_bind(args, "x", 256, bytes, TILE_F32, 2, extents, NULL, &err);
    bool y = !strstr(text, "y: global") || !tile_bind(args, "y", 1 << 30, bytes, TILE_F32, 2, extents, NULL, &err);
    return x && y && !tile_bind_scalar(args, "n", names[N], &err) && !tile_bind_scalar(args, "m", names[M], &err);
}

typedef struct Told {
    long wrong, refused_right, refused_wrong, right; /* launches */
    Outcome outcome;                                 /* of the first wrong one */
    const int64_t *names;
} Told;

static void ask_launches(const Program *p, const char *text, tile_device *d, const char *ptx, size_t size, const int *counts, Told *told)
{
    static tile_error err;
    tile_module *module;
    tile_args *args;
    tile_launch_facts facts;
    if (tile_module_load(d, ptx, size, &module, &err) || tile_args_new(tile_kernel_at(module, 0), &args, &err)) abort();
    for (int i = 0; i < launches.n; i++) {
        const int64_t *names = launches.names[i];
        if (!facts_hold(p->fact, names)) continue;
        Outcome o = run_launch(p, names, counts);
        if (o == TOO_LONG) continue;
        if (!bind(args, text, names)) abort();
        bool launched = tile_launch_info(args, &facts, &err) == TILE_OK;
        if (o == RIGHT && launched) told->right++;
        else if (o == RIGHT) told->refused_right++;
        else if (!launched) told->refused_wrong++;
        else if (told->wrong++ == 0) told->outcome = o, told->names = names;
    }
    tile_args_free(args);
    tile_module_free(module);
}

static bool all_right(const Program *p, const int *counts, Told *told)
{
    told->names = NULL;
    for (int i = 0; i < launches.n && !told->names; i++) {
        if (!facts_hold(p->fact, launches.names[i])) continue;
        Outcome o = run_launch(p, launches.names[i], counts);
        if (o != RIGHT && o != TOO_LONG) told->outcome = o, told->names = launches.names[i];
    }
    return !told->names;
}

/* ---- the table ---- */

/* Counts of what was refused, as far as it got. */
static void counts_of_verified(const Program *p, int *counts)
{
    for (int i = 0; i < p->bars; i++)
        if (verified_count(p->bar[i].name)) counts[i] = verified_count(p->bar[i].name);
}

static void print_program(const char *what, uint64_t seed, const Told *told, const char *text)
{
    printf("// seed %llu %s", (unsigned long long)seed, what);
    if (told->names) printf(" with n=%lld m=%lld", (long long)told->names[N], (long long)told->names[M]);
    printf("\n%s\n", text);
}

static void print_table(void)
{
    printf("refused, of them right in all launches:\n");
    for (int i = 0; i < CODES && codes[i].all; i++) printf("  %-6s %6ld, %6ld\n", codes[i].word, codes[i].all, codes[i].right);
    printf("programs, of them accepted:\n");
    for (int i = 0; i < FORMS; i++) printf("  %6ld, %6ld: %s\n", forms[i], forms_accepted[i], FORM_WORD[i]);
}

int turns_roles(uint64_t seed, long count, long print, tile_device *d)
{
    long accepted = 0, wrong = 0, right = 0, checked = 0, too_much = 0, printed = 0;
    for (long k = 0; k < count; k++) {
        static Text t;
        static Program p;
        Told told = {0};
        t.n = 0;
        draw_program(&p, seed + (uint64_t)k);
        put_program(&t, &p);
        choose_launches(&p);
        verified_forget();
        tilecc_result *r = compile(t.s, TILECC_EMIT_IR);
        const bool ok = r->status == TILECC_OK;
        int counts[BARS];
        counts_as_meant(&p, counts);
        if (ok) {
            read_counts(&p, r->output, counts);
            tilecc_result *ptx = compile(t.s, TILECC_EMIT_PTX);
            if (ptx->status != TILECC_OK) abort();
            ask_launches(&p, t.s, d, ptx->output, ptx->output_size, counts, &told);
            tilecc_free(ptx);
        } else {
            Code *c = code_of(r->diagnostics);
            counts_of_verified(&p, counts);
            bool all = all_right(&p, counts, &told);
            c->all++, c->right += all;
            if (all && printed++ < print) print_program(r->diagnostics, seed + (uint64_t)k, &told, t.s);
        }
        tilecc_free(r);
        for (int i = 0; i < FORMS; i++) forms[i] += p.form[i], forms_accepted[i] += p.form[i] && ok;
        accepted += ok, wrong += told.wrong > 0;
        right += told.right, checked += told.refused_wrong, too_much += told.refused_right;
        if (told.wrong) print_program(OUTCOME_WORD[told.outcome], seed + (uint64_t)k, &told, t.s);
    }
    printf("%ld programs, %ld accepted, %ld of them in error; launches of those accepted: %ld right, %ld refused, %ld refused that are right\n", count,
           accepted, wrong, right, checked, too_much);
    print_table();
    return wrong != 0;
}
