/* Writes lang/TABLES.md to standard output, from the .def files, so that the text can't disagree with what the compiler does. */
#include <stdio.h>
#include <string.h>

#include "lang/diag/diag.h"
#include "lang/lang.h"
#include "lang/maps/rules.h"

/* A cell of a Markdown table: '|' would end it. */
static void cell(const char *s)
{
    for (; *s; s++) {
        if (*s == '|') putchar('\\');
        putchar(*s == '\n' ? ' ' : *s);
    }
}

static void types_table(void)
{
    static const char *const kinds[] = {"unsigned", "signed", "float", "packed"};
    puts("\n## Element types\n\n| type | kind | bits, global | bits, shared | tensor map type | .npy | register |");
    puts("| --- | --- | --- | --- | --- | --- | --- |");
    for (int t = 0; t < TYPE_COUNT; t++) {
        const ElemInfo *e = elem_info((ElemType)t);
        printf("| %s | %s | %d | %d | %d | ", e->name, kinds[e->kind], e->global_bits, e->shared_bits, e->map_type);
        cell(e->npy);
        printf(" | %s |\n", e->ptx);
    }
}

static void targets_table(void)
{
    puts("\n## Targets\n\nLeast PTX ISA of the target, shared memory per CTA, CTAs of a cluster: everywhere and where "
         "more fit, tensor memory.\n"
         "BLK is .cta_group, gather4 and im2col::w to .shared::cluster, im2col::w::128, scatter4, and tensor memory "
         "(tcgen05).\n");
    puts("| target | name since PTX 9.0 | PTX ISA | shared memory | cluster | tmem columns | has |");
    puts("| --- | --- | --- | --- | --- | --- | --- |");
    for (size_t i = 0; i < target_count(); i++) {
        const TargetInfo *t = target_at(i);
        printf("| %s | %s | %d.%d | %u | %d, %d | %d | ", t->name, t->today, t->min_version / 10, t->min_version % 10,
               (unsigned)t->smem_per_cta, t->max_cluster, t->widest_cluster, t->tmem_columns);
        const char *comma = "";
        for (int f = 0; f < FEAT_COUNT; f++) {
            if (!target_has(t, (Feature)f)) continue;
            printf("%s%s", comma, feature_name((Feature)f));
            comma = ", ";
        }
        puts(" |");
    }
}

/* "TRAP_NEGATIVE | TRAP_INNER_16" in words. */
static void traps(unsigned mask)
{
    static const char *const words[] = {"negative start",       "inner start % 16",     "im2col base",
                                        "shared address % 128", "address or size % 16", "range"};
    const char *comma = "";
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++) {
        if (!(mask >> i & 1u)) continue;
        printf("%s%s", comma, words[i]);
        comma = ", ";
    }
}

static void instructions_table(void)
{
    static const char *const completions[] = {"", "mbarrier", "bulk group", "tcgen05.commit"};
    static const char *const spaces[] = {"", "global", "shared::cta", "shared::cluster", "tmem"};
    static const char *const proxies[] = {"", "generic", "async"};
    puts("\n## Instruction forms\n\nEach form with what the target must have, the least PTX ISA, and how it behaves. "
         "Names in "
         "braces are\noperands and modifiers (instructions.def says which).\n");
    puts("| form | instruction | needs | PTX ISA | completion | from | to | proxy | traps | section |");
    puts("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for (int f = 0; f < FORM_COUNT; f++) {
        const FormInfo *i = form_info((InstrForm)f);
        printf("| %s | `", i->ident);
        cell(i->ptx);
        printf("` | %s | %d.%d | %s | %s | %s | %s | ", feature_name(i->feature), i->min_version / 10,
               i->min_version % 10, completions[i->completion], spaces[i->src_space], spaces[i->dst_space],
               proxies[i->proxy]);
        traps(i->traps);
        printf(" | %s |\n", i->section);
    }
}

static void coverage_table(void)
{
    puts("\n## Coverage\n\nWhat reaches each form, and tests that show it: in a golden file, run on the simulator, on "
         "a GPU.\n"
         "Names from tests/ on, without suffix; examples/ from the root.\n");
    puts("| form | statement | golden | simulator | GPU |\n| --- | --- | --- | --- | --- |");
    for (int f = 0; f < FORM_COUNT; f++) {
        const FormCover *c = form_cover((InstrForm)f);
        if (!c) continue;
        printf("| %s | ", form_info((InstrForm)f)->ident);
        cell(c->statement);
        printf(" | %s | %s | %s |\n", c->golden, c->sim, c->gpu[0] ? c->gpu : "no sm_90");
    }
}

static void errors_table(void)
{
    static const char *const classes[] = {"error", "warning", "performance"};
    puts("\n## Messages\n\n`tilecc --explain CODE` prints more. Of branches that constants exclude live errors and "
         "warnings\nare not reported (Control).\n\n| code | class | rule | source |\n| --- | --- | "
         "--- | --- |");
    for (int i = 0; i < ERROR_COUNT; i++) {
        const ErrorInfo *e = error_info((ErrorCode)i);
        printf("| %s | %s | ", e->code, e->cls == DIAG_ERROR && e->live ? "live error" : classes[e->cls]);
        cell(e->rule);
        printf(" | ");
        cell(e->source);
        puts(" |");
    }
}

static void not_yet_table(void)
{
    puts("\n## Refused for now\n\nWhat the language has and this compiler does not lower yet, and what does the same "
         "today.\n\n"
         "| code | refused for now | what does it |\n| --- | --- | --- |");
    for (int i = 0; i < NY_COUNT; i++) {
        const NotYetInfo *n = not_yet_info((NotYet)i);
        printf("| %s | ", error_info(n->code)->code);
        cell(n->what);
        printf(" | ");
        cell(n->instead);
        puts(" |");
    }
}

int main(void)
{
    puts("# Tables of the .tile language\n\n"
         "What the compiler works by, written by `./dev update` from the `.def` files of this folder. "
         "[SPEC.md](SPEC.md) is the text.\n\n"
         "- [Refused for now](#refused-for-now)\n- [Element types](#element-types)\n- [Targets](#targets)\n"
         "- [Instruction forms](#instruction-forms): what each copy needs and how it behaves\n"
         "- [Coverage](#coverage): which statement reaches which form, and the tests that show it\n"
         "- [Messages](#messages): every code and its rule");
    not_yet_table();
    types_table();
    targets_table();
    instructions_table();
    coverage_table();
    errors_table();
    return 0;
}
