/* Completions for shells, from the rows of options.def. */
#include "tilecc/options.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    unsigned command;
    const char *text;
} COMMANDS[] = {
#define COMMAND(id, name, text) {name, id, text},
#include "tilecc/options.def"
#undef COMMAND
};
enum { NCOMMANDS = sizeof COMMANDS / sizeof COMMANDS[0] };

typedef enum Takes { TAKES_NOTHING, TAKES_WORD, TAKES_TARGET, TAKES_FILE, TAKES_FOLDER, TAKES_TEXT } Takes;

static Takes takes(const OptionInfo *o)
{
    if (!o->metavar) return TAKES_NOTHING;
    if (option_words(o->id)) return TAKES_WORD;
    if (strcmp(o->metavar, "TARGET") == 0) return TAKES_TARGET;
    if (strcmp(o->metavar, "FILE") == 0) return TAKES_FILE;
    return strcmp(o->metavar, "FOLDER") == 0 ? TAKES_FOLDER : TAKES_TEXT;
}

static const char *dashes(const OptionInfo *o) { return o->letter == '-' ? "-" : "--"; }
static bool has_letter(const OptionInfo *o) { return o->letter && o->letter != '-'; }

static void print_words(const char *const *words)
{
    for (size_t i = 0; words[i]; i++) printf("%s%s", i ? " " : "", words[i]);
}

static void print_commands(void)
{
    for (size_t i = 0; i < NCOMMANDS; i++)
        if (COMMANDS[i].command != COMPILE) printf(" %s", COMMANDS[i].name);
}

/* ---- bash ---- */

static void bash_pattern(const OptionInfo *o)
{
    printf("    -%s | --%s", o->name, o->name); /* getopt_long_only takes both */
    if (has_letter(o)) printf(" | -%c", o->letter);
    fputs(") ", stdout);
}

static void print_bash(void)
{
    puts("# bash completion for tilecc; made by tilecc --completion=bash.\n"
         "_tilecc()\n{\n"
         "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} words= kind=word\n"
         "    COMPREPLY=()\n"
         "    [[ $cur == = ]] && cur=\n"
         "    [[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
         "    case $prev in");
    for (size_t i = 0; i < option_count; i++) {
        const OptionInfo *o = &option_table[i];
        if (o->group || !o->metavar) continue;
        bash_pattern(o);
        switch (takes(o)) {
        case TAKES_WORD:
            fputs("words='", stdout);
            print_words(option_words(o->id));
            puts("' ;;");
            break;
        case TAKES_TARGET: puts("words=$(tilecc --list-targets 2>/dev/null | cut -d' ' -f1) ;;"); break;
        case TAKES_FILE: puts("kind=file ;;"); break;
        case TAKES_FOLDER: puts("kind=folder ;;"); break;
        default: puts("return ;;"); break;
        }
    }
    puts("    *)\n        kind=any\n"
         "        [[ $cur == -* ]] && case ${COMP_WORDS[1]} in");
    for (size_t i = 0; i < NCOMMANDS; i++) {
        printf("        %s) words='", COMMANDS[i].command == COMPILE ? "*" : COMMANDS[i].name);
        for (size_t k = 0; k < option_count; k++)
            if (option_table[k].commands & COMMANDS[i].command) printf("%s%s ", dashes(&option_table[k]), option_table[k].name);
        puts("' ;;");
    }
    fputs("        esac\n        [[ $COMP_CWORD == 1 && $cur != -* ]] && words='", stdout);
    print_commands();
    puts("'\n        ;;\n    esac\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\"\n"
         "        [[ $kind == file || ($kind == any && $cur != -*) ]] && compgen -f -- \"$cur\"\n"
         "        [[ $kind == folder ]] && compgen -d -- \"$cur\")\n"
         "}\ncomplete -o filenames -F _tilecc tilecc");
}

/* ---- zsh ---- */

static void quoted(const char *s, const char *special) /* inside '..': a quote ends them, \' and begins them again */
{
    for (; *s; s++) {
        if (*s == '\'') fputs("'\\''", stdout);
        else printf("%s%c", strchr(special, *s) ? "\\" : "", *s);
    }
}

static void zsh_option(const OptionInfo *o, const char *dash, const char *name, bool equals)
{
    printf("    '%s%s%s[", dash, name, o->metavar && equals ? "=" : "");
    quoted(o->help, "[]:\\");
    putchar(']');
    if (o->metavar) {
        putchar(':');
        quoted(o->metavar, "[]:\\");
        putchar(':');
    }
    switch (takes(o)) {
    case TAKES_WORD:
        putchar('(');
        print_words(option_words(o->id));
        putchar(')');
        break;
    case TAKES_TARGET: fputs("($(tilecc --list-targets 2>/dev/null | cut -d\" \" -f1))", stdout); break;
    case TAKES_FILE: fputs("_files", stdout); break;
    case TAKES_FOLDER: fputs("_files -/", stdout); break;
    default: fputs(o->metavar ? " " : "", stdout); break;
    }
    puts("' \\");
}

static void print_zsh(void)
{
    puts("#compdef tilecc\n# zsh completion for tilecc; made by tilecc --completion=zsh.\nlocal -a commands\ncommands=(");
    for (size_t i = 0; i < NCOMMANDS; i++) {
        if (COMMANDS[i].command == COMPILE) continue;
        printf("    '%s:", COMMANDS[i].name);
        quoted(COMMANDS[i].text, ":\\");
        puts("'");
    }
    puts(")\ncase $words[2] in");
    for (size_t i = 0; i < NCOMMANDS; i++) {
        bool command = COMMANDS[i].command != COMPILE;
        printf("%s)\n    _arguments -s \\\n", command ? COMMANDS[i].name : "*");
        if (command) printf("    '1:command:(%s)' \\\n", COMMANDS[i].name);
        for (size_t k = 0; k < option_count; k++) {
            const OptionInfo *o = &option_table[k];
            if (!(o->commands & COMMANDS[i].command)) continue;
            char letter[2] = {o->letter, 0};
            zsh_option(o, dashes(o), o->name, true);
            if (has_letter(o)) zsh_option(o, "-", letter, false);
        }
        puts(command ? "    '*:file:_files'\n    ;;" : "    '1:file or command:{ _describe command commands; _files }' \\\n    '*:file:_files'\n    ;;");
    }
    puts("esac");
}

/* ---- fish ---- */

static void print_fish(void)
{
    puts("# fish completion for tilecc; made by tilecc --completion=fish.");
    for (size_t i = 0; i < NCOMMANDS; i++) {
        if (COMMANDS[i].command == COMPILE) continue;
        printf("complete -c tilecc -n __fish_use_subcommand -a %s -d '", COMMANDS[i].name);
        quoted(COMMANDS[i].text, "\\");
        puts("'");
    }
    for (size_t i = 0; i < NCOMMANDS; i++)
        for (size_t k = 0; k < option_count; k++) {
            const OptionInfo *o = &option_table[k];
            if (!(o->commands & COMMANDS[i].command)) continue;
            fputs("complete -c tilecc -n '", stdout);
            if (COMMANDS[i].command == COMPILE) {
                fputs("not __fish_seen_subcommand_from", stdout);
                print_commands();
            } else {
                printf("__fish_seen_subcommand_from %s", COMMANDS[i].name);
            }
            printf("' -%c %s", o->letter == '-' ? 'o' : 'l', o->name);
            if (has_letter(o)) printf(" -s %c", o->letter);
            switch (takes(o)) {
            case TAKES_WORD:
                fputs(" -x -a '", stdout);
                print_words(option_words(o->id));
                putchar('\'');
                break;
            case TAKES_TARGET: fputs(" -x -a '(tilecc --list-targets | cut -d\" \" -f1)'", stdout); break;
            case TAKES_FILE: fputs(" -r", stdout); break;
            case TAKES_FOLDER: fputs(" -x -a '(__fish_complete_directories)'", stdout); break;
            case TAKES_TEXT: fputs(" -x", stdout); break;
            default: break;
            }
            fputs(" -d '", stdout);
            quoted(o->help, "\\");
            puts("'");
        }
}

void print_completion(const char *shell)
{
    if (strcmp(shell, "bash") == 0) print_bash();
    else if (strcmp(shell, "zsh") == 0) print_zsh();
    else print_fish();
}
