#include "tilecc/options.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { INDENT = 30, WIDTH = 100 };

static const struct {
    unsigned command;
    const char *text;
} SYNOPSIS[] = {
    {COMPILE, "tilecc [options] FILE.tile"},
    {RUN, "tilecc run [options] FILE[:KERNEL] NAME=ARGUMENT..."},
    {TUNE, "tilecc tune [options] FILE.tile[:KERNEL] [SIZE=NUMBER | SIZE=LEAST..MOST | NAME=ARGUMENT]..."},
    {TEST, "tilecc test [--update] [-j N] [--junit=FILE] [FOLDER | FILE.tile[:LINE]]..."},
    {NEW, "tilecc new NAME"},
    {CACHE, "tilecc cache --stats | --verify | --clear"},
    {CHECK, "tilecc check-ptx [--target=TARGET] [--ptx-version=N.N] [--json] FILE.ptx"},
    {COMPILE, "tilecc --explain CODE | --list-targets | --list-library | --man | --version | --help"},
    {COMPILE, "tilecc help COMMAND | tilecc COMMAND --help"},
};

static const struct {
    unsigned command;
    const char *does;
} COMMANDS[] = {
#define COMMAND(id, name, text) {id, text},
#include "tilecc/options.def"
};

typedef struct Row {
    const char *name, *text;
} Row;

static const Row ARGUMENTS[] = {
    {"FILE[:KERNEL]", "a .tile, .ptx or .cubin file, or a module of the library that is built in (std.rows); and which of its kernels where there are several"},
    {"a=in.npy", "a tensor from a file"},
    {"b=bf16[M,64]:out.npy", "a tensor of this type and shape (bytes 0xA5 at first; 0 where the kernel adds to it), written "
                             "to a file afterwards; sizes by name come from the other arguments, compile-time names from the program and -D; `E + 1`, `ceil(M, 64)` are worked out"},
    {"d=s32[64]~7%100", "a tensor made here: `~7` numbers by that seed, `~7%100` whole ones below 100, `~zeros`, `~iota` (0, 1, ..), `~perm` "
                        "(each of 0 to n - 1 once); `:out.npy` may follow, also where it is only read"},
    {"c=in.npy:out.npy", "from a file, and written to a file afterwards"},
    {"n=5", "a scalar"},
    {"M=64", "a size of the kernel, for the tensors in whose extents it stands"},
    {"M=64..65536", "with tune: the values that a size of the kernel has, a factor of 4 apart; without a range the first size that nothing is said of goes as "
                    "far as --most allows; tensors follow from sizes, or are given as above, those of files with the sizes that they fix; tune writes none"},
};

static const Row ENVIRONMENT[] = {
    {"TILECC_PTXAS", "the ptxas program to use; otherwise CUDA_HOME, CUDA_PATH, /usr/local/cuda and PATH are searched"},
    {"TILECC_NVJITLINK", "the libnvJitLink library to use; otherwise its usual names and the CUDA toolkit are tried"},
    {"TILECC_CACHE", "`off`: `tilecc run`, `tilecc test` and programs that compile when they run keep nothing on the disk, and take nothing from it"},
    {"TILECC_CACHE_DIR", "where they keep what they have compiled; otherwise $XDG_CACHE_HOME/tilecc, else ~/.cache/tilecc"},
    {"TILECC_CACHE_SIZE", "how much they keep, 64M or 2G, by default 256M; what was not used for longest goes first"},
    {"NO_COLOR, CLICOLOR_FORCE", "switch colours off or on where --color does not say"},
};

static const Row STATUS[] = {
    {"0", "the output was written"},
    {"1", "the program, or the PTX of check-ptx, has errors, the simulator found one, or a test failed"},
    {"2", "the command line is wrong, or its arguments fail a launch check"},
    {"3", "a file can't be read or written, or there is no such device"},
    {"4", "no assembler was found, or it refused the PTX"},
    {"70", "a fault of tilecc itself"},
};
static const Row VERSIONS[] = {
    {"0.2", "--emit=defines; arguments of run and tune name what the program calls a number or a type; run FILE:KERNEL compiles that kernel alone; tile_check_trusts(), which launches on the simulator ask. Libraries, "
            "programs that are linked with them, and images go together where the first two numbers are the same: link and compile those of 0.1 again"},
    {"0.1", "the first one"},
};
#define COUNT(a) (sizeof(a) / sizeof(a)[0])

/* -o FILE, --emit=KIND, -arch=TARGET, -MF FILE: as most people write it. */
static void option_text(const OptionInfo *o, char *out, size_t room)
{
    const char *dash = o->letter == '-' ? "-" : "--";
    if (o->letter == 'W') snprintf(out, room, "-W%s", o->metavar);
    else if (o->letter && o->letter != '-' && o->metavar) snprintf(out, room, "-%c %s", o->letter, o->metavar);
    else if (o->letter && o->letter != '-') snprintf(out, room, "-%c, --%s", o->letter, o->name);
    else if (o->metavar)
        snprintf(out, room, "%s%s%s%s", dash, o->name, strcmp(o->name, "MF") == 0 ? " " : "=", o->metavar);
    else snprintf(out, room, "%s%s", dash, o->name);
}

typedef void PrintRow(const char *left, const char *text);

static void print_rows(const Row *rows, size_t n, PrintRow *row)
{
    for (size_t i = 0; i < n; i++) row(rows[i].name, rows[i].text);
}

/* Those that one of the commands takes. before, behind: of a group's heading. */
static void print_options(unsigned commands, const char *before, const char *behind, PrintRow *row)
{
    const char *heading = NULL;
    for (size_t i = 0; i < option_count; i++) {
        const OptionInfo *o = &option_table[i];
        char left[128];
        if (o->group) {
            heading = o->group;
        } else if (o->commands & commands) {
            if (heading) printf("%s%s%s", before, heading, behind);
            heading = NULL;
            option_text(o, left, sizeof left);
            row(left, o->help);
        }
    }
}

static void wrap(const char *text, size_t column)
{
    for (bool first = true; *text; first = false) {
        size_t n = strcspn(text, " ");
        if (!first && column + 1 + n > WIDTH) {
            printf("\n%*s", INDENT, "");
            column = INDENT;
            first = true;
        }
        column += (size_t)printf("%s%.*s", first ? "" : " ", (int)n, text);
        text += n;
        text += strspn(text, " ");
    }
    putchar('\n');
}

static void help_row(const char *left, const char *text)
{
    int n = printf("  %s", left);
    if (n > INDENT - 2) {
        putchar('\n');
        n = 0;
    }
    printf("%*s", INDENT - n, "");
    wrap(text, INDENT);
}

void print_help(unsigned command)
{
    bool all = command == COMPILE, first = true;
    if (all) puts("tilecc compiles .tile programs (data movement with TMA and bulk copies) for NVIDIA GPUs.\n");
    for (size_t i = 0; i < COUNT(COMMANDS) && !all; i++)
        if (COMMANDS[i].command == command) printf("%c%s.\n\n", toupper((unsigned char)COMMANDS[i].does[0]), COMMANDS[i].does + 1);
    for (size_t i = 0; i < COUNT(SYNOPSIS); i++) {
        if (!all && SYNOPSIS[i].command != command) continue;
        printf("%s %s\n", first ? "Usage:" : "      ", SYNOPSIS[i].text);
        first = false;
    }
    print_options(all ? ~0u : command, "\n", ":\n", help_row);
    if (all || command == RUN || command == TUNE) {
        puts("\nArguments of run and tune: the program, then tensors and scalars by the names of its parameters:");
        print_rows(ARGUMENTS, COUNT(ARGUMENTS), help_row);
    }
    if (all) {
        puts("\nEnvironment:");
        print_rows(ENVIRONMENT, COUNT(ENVIRONMENT), help_row);
    }
    puts("\nExit status:");
    print_rows(STATUS, COUNT(STATUS), help_row);
}

/* ---- the manual page ---- */

static void roff(const char *s)
{
    for (; *s; s++) {
        if (*s == '-' || *s == '\\') putchar('\\');
        putchar(*s);
    }
}

static void man_row(const char *left, const char *text)
{
    fputs(".TP\n.B \"", stdout);
    roff(left);
    fputs("\"\n", stdout);
    roff(text);
    fputs(".\n", stdout);
}

void print_man(void)
{
    printf(".TH TILECC 1 \"\" \"tilecc %s\" \"User Commands\"\n", tilecc_version());
    puts(".SH NAME\ntilecc \\- compiler for .tile programs\n.SH SYNOPSIS");
    for (size_t i = 0; i < COUNT(SYNOPSIS); i++) {
        fputs(i == 0 ? ".B " : ".br\n.B ", stdout);
        roff(SYNOPSIS[i].text);
        putchar('\n');
    }
    puts(
        ".SH DESCRIPTION\ntilecc compiles programs that say which tile of which tensor moves where, one statement "
        "after the other, to PTX and\ncubins for NVIDIA GPUs, and runs them. tilecc check-ptx says whether the "
        "asynchronous "
        "copies, barriers, fences and\ntensor memory instructions of any PTX text are legal for a target and version.");
    puts(".SH OPTIONS");
    print_options(~0u, ".SS ", "\n", man_row);
    puts(".SH ARGUMENTS\nof tilecc run and tune: the program, then tensors and scalars by the names of its parameters:");
    print_rows(ARGUMENTS, COUNT(ARGUMENTS), man_row);
    puts(".SH ENVIRONMENT");
    print_rows(ENVIRONMENT, COUNT(ENVIRONMENT), man_row);
    puts(".SH EXIT STATUS");
    print_rows(STATUS, COUNT(STATUS), man_row);
    puts(".SH VERSIONS\nand what is new in them:");
    print_rows(VERSIONS, COUNT(VERSIONS), man_row);
}
