/* The simulator's reader against ptxas: plain instructions, one kernel each, verdicts compared.
 *
 *   check_plain PTXAS SHARE [TARGET:VERSION ..]
 *
 * Variants (plain_variants.c) are every row of runtime/sim/decode/plain.def with all its words and types, near misses of them,
 * operands in registers of every other type, and operands that are none: constants, special registers, addresses, pairs,
 * vectors, `_`. Every SHARE-th is judged, another share for each pair of target and version; 1 is everything. The reader
 * may be stricter for a reason, which is a row of STRICTER, never laxer; where ptxas crashes on an instruction by itself there is
 * nothing to compare. Exit status: 0 agreed, 1 not, 3 ptxas does not
 * run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "lang/arena.h"
#include "lang/text.h"
#include "runtime/ptx/ptx.h"
#include "runtime/sim/decode/program.h"
#include "tests/ptxas/plain_variants.h"

enum { CHUNK = 400 };

typedef struct Case {
    const PlainVariant *v;
    bool refused, error; /* by ptxas; here */
    bool crashed;        /* ptxas did, which is no verdict */
    char said[120], why[200];
} Case;

static Mem mem;

/* ---- what may differ ---- */

/* ptxas accepts, the reader refuses: a part of the instruction (NULL: any) and of the reader's text, and why. */
static const struct Stricter {
    const char *instruction, *text, *reason;
} STRICTER[] = {
    {".pred ", "does not take these types", "ptxas drops a .pred behind the types"},
    {".pred ", "too many types", "the same"},
    {NULL, "one modifier too many", "ptxas drops some words that stand twice"},
    {".finite", "takes no", "ptxas drops the words of testp elsewhere"},
    {".infinite", "takes no", "the same"},
    {".number", "takes no", "the same"},
    {".notanumber", "takes no", "the same"},
    {".normal", "takes no", "the same"},
    {".subnormal", "takes no", "the same"},
    {"testp.f", "lacks a modifier", "ptxas takes testp without its word"},
    {"cvta.", "does not take these types", "addresses of 32 bits are not in the simulator"},
    {"addc.", "does not work on", "the PTX ISA has .cc and carries for 32 and 64 bits"},
    {"subc.", "does not work on", "the same"},
    {"madc.", "does not work on", "the same"},
    {"subc.sat", "takes no", "the PTX ISA has no saturation with a carry"},
    {"addc.sat", "takes no", "the same"},
    {"fma.r", "does not go with", "the PTX ISA rounds bf16 to nearest only"},
    {"rcp.r", ".ftz.f64`", "the PTX ISA has .ftz.f64 with .approx only"},
    {"prefetch.L2::", "lacks a modifier", "the PTX ISA has it with .global only"},
    {".v8", "does not go with", "the PTX ISA has .v8 for 32-bit types"},
    {"fence.", "needs .version 8.6", "the PTX ISA has .acquire and .release since 8.6"},
    {"cvt", "where .", "the upper bits of a wider register are open where the type is a float"},
    {"isspacep", "where .", "addresses of 32 bits are not in the simulator"},
    {"cvt.pack", "%f4", "ptxas takes the bits that are shifted as a float, too"},
    {"pmevent.mask", "takes no", "not in the simulator"},
    {"redux.sync", ".f32", "the same"},
    {"st.param", "PTX has no", "what a call is given: calls are not in the simulator"},
    {"atom.", "does not work on .b128", "not in the simulator"},
    {"%ff", ".f16x2", "ptxas takes a register of .f16x2 for one of .b32"},
    {"bf16", "%", "ptxas does not mind the registers of some bf16 and bf16x2"},
    {"smem+4", "the address `smem`", "ptxas takes an address with an offset wherever a constant may stand"},
    {"mov.b128", "does not fit .b128", "ptxas notices when it generates code"},
    {"glob", "does not fit", "ptxas minds an address of 32 bits once in a module"},
    {"lop3", "0 .. 255", "the PTX ISA has a table of 8 bits"},
    {"cvt.rna", "no constant", "ptxas takes constants of 32 bits, and fails at those of 64"},
    {"{", "the special register", "the PTX ISA has them in mov and cvt; ptxas takes some in other vectors"},
    {"pp,", "into a vector", "ptxas takes a parameter in some vectors"},
    {"{", "belongs ", "ptxas takes some vectors for their first element, and all kinds of elements behind it"},
    {"{", "this constant", "the same"},
    {".b128", "this constant", "constants of 128 bits are not in the simulator"},
    {".v", "go with", "ptxas minds the kind of the first register of some vectors only"},
};

static const char *stricter(const Case *c)
{
    for (size_t k = 0; k < sizeof STRICTER / sizeof STRICTER[0]; k++) {
        const struct Stricter *s = &STRICTER[k];
        if ((!s->instruction || strstr(c->v->text, s->instruction)) && strstr(c->why, s->text)) return s->reason;
    }
    return NULL;
}

/* ---- the module: instruction k stands in line *first + 3 * k ---- */

static unsigned make_module(Text *t, const PlainClass *class, const Case *cases, size_t n, bool wrong_end)
{
    text_clear(t);
    text_printf(t, ".version %s\n.target %s\n.address_size 64 .global .align 16 .b8 glob[64];\n", class->version, class->target);
    for (size_t k = 0; k < n + wrong_end; k++)
        text_printf(t, ".visible .entry k%zu(.param .u64 pp) { %s\n%s\nret; }\n", k, plain_registers(class),
                    k < n ? cases[k].v->text : "add.bogus;");
    return 5;
}

/* ---- ptxas ---- */

/* Runs it once; marks what is refused. Returns the index behind the last that was judged: a syntax error ends it. */
static size_t run_ptxas(const char *ptxas, const char *path, const PlainClass *class, Case *cases, size_t n, Text *t)
{
    unsigned first = make_module(t, class, cases, n, true);
    char line[1000], command[600];
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(t->s, 1, t->n, f) != t->n || fclose(f) != 0) exit(3);
    snprintf(command, sizeof command, "'%s' -arch=%s '%s' -o /dev/null 2>&1", ptxas, class->target, path);
    FILE *p = popen(command, "r");
    if (!p) exit(3);
    size_t fatal = n;
    bool saw_end = false;
    while (fgets(line, sizeof line, p)) {
        char *at = strstr(line, ", line ");
        if (!at || !strstr(line, path)) continue;
        unsigned number = (unsigned)strtoul(at + 7, &at, 10);
        bool is_fatal = strstr(at, "; fatal") != NULL;
        if ((!is_fatal && !strstr(at, "; error")) || number < first) continue;
        size_t k = (number - first) / 3;
        if (k == n) saw_end = true;
        if (k >= n) continue;
        cases[k].refused = true;
        char *said = strchr(at + 2, ':');
        snprintf(cases[k].said, sizeof cases[k].said, "%.110s", said ? said + 2 : at);
        cases[k].said[strcspn(cases[k].said, "\n")] = 0;
        if (is_fatal) fatal = k;
    }
    int status = pclose(p);
    bool crashed = !WIFEXITED(status) || (WEXITSTATUS(status) > 127 && WEXITSTATUS(status) != 255);
    if (saw_end && !crashed) return n;
    if (fatal < n) return fatal + 1;
    if (n > 1) return run_ptxas(ptxas, path, class, cases, n / 2, t);
    cases[0].refused = !crashed;
    cases[0].crashed = crashed;
    return 1;
}

static void judge_by_ptxas(const char *ptxas, const char *path, const PlainClass *class, Case *cases, size_t n, Text *t)
{
    for (size_t at = 0; at < n;) {
        size_t m = n - at < CHUNK ? n - at : CHUNK;
        at += run_ptxas(ptxas, path, class, cases + at, m, t);
    }
}

/* ---- the simulator's reader ---- */

typedef struct Judging {
    Case *cases;
    size_t n;
    unsigned first;
} Judging;

static void note(void *user, uint32_t line, const char *text)
{
    Judging *j = user;
    size_t k = line < j->first ? j->n : (line - j->first) / 3;
    if (k >= j->n || j->cases[k].error) return;
    j->cases[k].error = true;
    snprintf(j->cases[k].why, sizeof j->cases[k].why, "%.190s", text);
}

static void judge_here(const PlainClass *class, Case *cases, size_t n, Text *t)
{
    for (size_t at = 0; at < n; at += CHUNK) {
        Judging j = {cases + at, n - at < CHUNK ? n - at : CHUNK, 0};
        Arena a;
        arena_init(&a, &mem);
        j.first = make_module(t, class, j.cases, j.n, false);
        uint32_t problems;
        PtxModule *m = ptx_read(&a, t->s, t->n, note, &j, &problems);
        if (m) sim_decode(&a, m, note, &j, &problems);
        arena_free(&a);
    }
}

/* ---- comparing ---- */

static size_t compare(const PlainClass *class, const Case *cases, size_t n, size_t *excused)
{
    size_t bad = 0;
    for (size_t k = 0; k < n; k++) {
        const Case *c = &cases[k];
        if (c->crashed || c->refused == c->error) continue;
        if (c->error && stricter(c)) {
            ++*excused;
            continue;
        }
        bad++;
        printf("%s %s: %s\n    ptxas: %s\n    here:  %s\n", class->target, class->version, c->v->text,
               c->refused ? c->said : "ok", c->error ? c->why : "ok");
    }
    return bad;
}

typedef struct Totals {
    size_t judged, excused, bad;
} Totals;

static void judge_class(const char *ptxas, const char *path, const PlainClass *class, const PlainVariants *all, size_t first,
                        size_t share, Case *cases, Totals *r)
{
    Text t;
    text_init(&t, &mem);
    size_t n = 0;
    for (size_t i = first; i < all->n; i += share)
        if (plain_fits(&all->v[i], class)) cases[n++] = (Case){.v = &all->v[i]};
    judge_by_ptxas(ptxas, path, class, cases, n, &t);
    judge_here(class, cases, n, &t);
    r->bad += compare(class, cases, n, &r->excused);
    r->judged += n;
    text_free(&t);
}

static void judge_all(const char *ptxas, const char *path, const PlainClass *class, size_t n, const PlainVariants *all,
                      size_t share, Case *cases, Totals *r)
{
    for (size_t k = 0; k < n; k++) judge_class(ptxas, path, &class[k], all, k * 7 % share, share, cases, r);
}

static size_t named_classes(char **argv, size_t n, PlainClass *out, size_t room)
{
    for (size_t k = 0; k < n; k++)
        if (k == room || sscanf(argv[k], "%15[^:]:%7s", out[k].target, out[k].version) != 2) return 0;
    return n;
}

int main(int argc, char **argv)
{
    static const PlainClass standard[] = {{"sm_90", "8.0"}, {"sm_90a", "8.6"}, {"sm_100a", "9.0"}, {"sm_120", "8.7"}};
    enum { CLASSES = 16, STANDARD = sizeof standard / sizeof *standard };
    static PlainClass named[CLASSES];
    static Totals r;
    const size_t share = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    const PlainClass *class = argc > 3 ? named : standard;
    static size_t n;
    n = argc > 3 ? named_classes(argv + 3, (size_t)argc - 3, named, CLASSES) : STANDARD;
    if (!share || !n) {
        fputs("usage: check_plain PTXAS SHARE [TARGET:VERSION ..]\n", stderr);
        return 2;
    }
    jmp_buf failed;
    mem.fail = &failed;
    if (setjmp(failed)) return 3;
    char path[] = "check_plain.XXXXXX";
    if (mkstemp(path) < 0) return 3;
    PlainVariants all = {0};
    plain_variants(&all);
    Case *cases = malloc(all.n * sizeof *cases);
    if (!cases) return 3;
    judge_all(argv[1], path, class, n, &all, share, cases, &r);
    printf("%zu variants, %zu pairs of target and version: %zu verdicts, %zu stricter for a reason, %zu disagree\n", all.n, n,
           r.judged, r.excused, r.bad);
    free(cases);
    free(all.v);
    remove(path);
    return r.bad ? 1 : 0;
}
