/* coverage forms FILE.ptx NAME          a line "NAME FORM" per form of lang/instructions.def that the PTX has
 * coverage check GOLDEN SIM GPU         are the cells of lang/coverage.def true? The files hold lines as above, of the
 *                                       golden tests, of what runs on the simulator, of what runs on a GPU (sm_90).
 *                                       Tells what would do for a cell that is not, which forms have no row, and which
 *                                       are said to be written by hand only and are not
 * Exit status: 0, 1 a cell is wrong, 2 wrong use, 3 a file can't be read.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang/lang.h"
#include "runtime/ptx/forms.h"

typedef struct Pair {
    char name[120], form[40];
} Pair;
typedef struct Pairs {
    Pair *v;
    size_t n;
} Pairs;

static Mem mem;

/* ---- forms of a PTX text ---- */

static char *read_file(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    size_t n = 0, room = 0;
    while (f && !feof(f) && !ferror(f)) {
        if (n + 65536 > room) text = realloc(text, room = 2 * (n + 65536));
        if (!text) exit(3);
        n += fread(text + n, 1, 65536, f);
    }
    if (!f || ferror(f)) {
        fprintf(stderr, "%s can't be read\n", path);
        exit(3);
    }
    fclose(f);
    *size = n;
    return text;
}

static void ignore(void *user, const PtxDefect *d)
{
    (void)user;
    (void)d;
}

/* Barriers of threads are plain instructions to the matcher. */
static int plain_form(const PtxInstr *i)
{
    if (strcmp(i->opcode, "barrier") == 0 && i->nmods && strcmp(i->mods[0], ".sync") == 0) return FORM_CTA_SYNC;
    if (strcmp(i->opcode, "bar") == 0 && i->nmods && strcmp(i->mods[0], ".warp") == 0) return FORM_WARP_SYNC;
    return -1;
}

static void print_forms(const char *path, const char *name)
{
    bool seen[FORM_COUNT] = {false};
    size_t size;
    char *text = read_file(path, &size);
    Arena a;
    uint32_t problems = 0;
    arena_init(&a, &mem);
    const PtxModule *m = ptx_examine(&a, text, size, ignore, NULL, &problems);
    for (uint32_t k = 0; m && k < m->funcs.n; k++)
        for (uint32_t j = 0; j < m->funcs.v[k]->instrs.n; j++) {
            FormMatch match;
            ErrorCode code;
            char why[640];
            const PtxInstr *i = &m->funcs.v[k]->instrs.v[j];
            if (plain_form(i) >= 0) seen[plain_form(i)] = true;
            else if (form_family(i) && form_match(i, &match, &code, why, sizeof why)) seen[match.form] = true;
        }
    for (int f = 0; f < FORM_COUNT; f++)
        if (seen[f]) printf("%s %s\n", name, form_info((InstrForm)f)->ident);
    arena_free(&a);
    free(text);
}

/* ---- rows ---- */

static Pairs read_pairs(const char *path)
{
    Pairs p = {NULL, 0};
    size_t room = 0;
    char line[256];
    FILE *f = fopen(path, "r");
    if (!f) exit(3);
    while (fgets(line, sizeof line, f)) {
        if (p.n == room) p.v = realloc(p.v, (room = 2 * room + 1024) * sizeof *p.v);
        if (!p.v) exit(3);
        if (sscanf(line, "%119s %39s", p.v[p.n].name, p.v[p.n].form) == 2) p.n++;
    }
    fclose(f);
    return p;
}

static bool has(const Pairs *p, const char *name, const char *form)
{
    for (size_t k = 0; k < p->n; k++)
        if (strcmp(p->v[k].form, form) == 0 && strcmp(p->v[k].name, name) == 0) return true;
    return false;
}

static bool cell(const Pairs *p, const char *form, const char *column, const char *name)
{
    if (name[0] && has(p, name, form)) return true;
    printf("%s, %s: `%s` does not have it", form, column, name);
    const char *between = "; these have: ";
    int told = 0;
    for (size_t k = 0; k < p->n && told < 6; k++) {
        if (strcmp(p->v[k].form, form) != 0) continue;
        printf("%s%s", between, p->v[k].name);
        between = ", ";
        told++;
    }
    putchar('\n');
    return false;
}

/* `PTX by hand` are the forms that no golden program has; the names of hand-written ones begin with sim/. */
static bool statement(const Pairs *golden, const char *form, const FormCover *c)
{
    const char *emitted = NULL;
    for (size_t k = 0; k < golden->n && !emitted; k++)
        if (strcmp(golden->v[k].form, form) == 0 && strncmp(golden->v[k].name, "sim/", 4) != 0)
            emitted = golden->v[k].name;
    if (c->statement[0] && (strcmp(c->statement, "PTX by hand") == 0) == (emitted == NULL)) return true;
    printf("%s, statement: `%s`, but ", form, c->statement);
    if (emitted) printf("%s has it\n", emitted);
    else puts("no golden test has it");
    return false;
}

static int check(char **path)
{
    Pairs golden = read_pairs(path[0]), sim = read_pairs(path[1]), gpu = read_pairs(path[2]);
    int wrong = 0, gpus = 0;
    const TargetInfo *hopper = target_find("sm_90a");
    for (int f = 0; f < FORM_COUNT; f++) {
        const char *form = form_info((InstrForm)f)->ident;
        const FormCover *c = form_cover((InstrForm)f);
        if (!c) {
            printf("%s has no row in lang/coverage.def\n", form);
            static const FormCover none = {"", "", "", ""};
            c = &none;
        }
        wrong += !cell(&golden, form, "golden", c->golden) + !cell(&sim, form, "simulator", c->sim);
        wrong += !statement(&golden, form, c);
        if (!form_legal((InstrForm)f, hopper, 90)) {
            if (c->gpu[0]) printf("%s, GPU: `%s`, but sm_90 does not have it\n", form, c->gpu);
            wrong += c->gpu[0] != '\0';
            continue;
        }
        gpus++;
        wrong += !cell(&gpu, form, "GPU", c->gpu);
    }
    printf("%d forms, %d of them on sm_90; %d cells wrong\n", FORM_COUNT, gpus, wrong);
    free(golden.v);
    free(sim.v);
    free(gpu.v);
    return wrong > 0;
}

int main(int argc, char **argv)
{
    jmp_buf failed;
    mem.fail = &failed;
    if (setjmp(failed)) return 3;
    if (argc > 2 && argc % 2 == 0 && strcmp(argv[1], "forms") == 0) {
        for (int k = 2; k < argc; k += 2) print_forms(argv[k], argv[k + 1]);
        return 0;
    }
    if (argc == 5 && strcmp(argv[1], "check") == 0) return check(argv + 2);
    fputs("usage: coverage forms [FILE.ptx NAME]... | coverage check GOLDEN SIM GPU\n", stderr);
    return 2;
}
