#include "tilecc/cli.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 80 };

/* Fills lines up to WIDTH; line breaks and indented lines of the text stay as they are. */
static void print_wrapped(const char *text)
{
    size_t column = 0;
    for (const char *p = text; *p;) {
        if (*p == '\n') {
            putchar('\n');
            column = 0;
            p++;
            continue;
        }
        size_t spaces = strspn(p, " ");
        size_t letters = strcspn(p + spaces, " \n");
        if (column > 0 && column + spaces + letters > WIDTH) {
            putchar('\n');
            column = 0;
            p += spaces;
            spaces = 0;
        }
        fwrite(p, 1, spaces + letters, stdout);
        column += spaces + letters;
        p += spaces + letters;
    }
    if (column > 0) putchar('\n');
}

int command_explain(const char *code)
{
    char upper[16];
    size_t n = strlen(code);
    if (n >= sizeof upper) n = sizeof upper - 1;
    for (size_t i = 0; i < n; i++) upper[i] = (char)toupper((unsigned char)code[i]);
    upper[n] = 0;

    const char *rule = NULL, *source = NULL;
    const char *more = strlen(code) == n ? tilecc_explain(upper, &rule, &source) : NULL;
    if (!more) {
        complain("there is no error code '%s'; codes look like E0412 and stand behind the word `error`", code);
        return EXIT_USAGE;
    }
    printf("%s: ", upper);
    print_wrapped(rule ? rule : "");
    if (source && source[0]) {
        fputs("From: ", stdout);
        print_wrapped(source);
    }
    if (more[0]) {
        putchar('\n');
        print_wrapped(more);
    }
    return finish_stdout() ? EXIT_OK : EXIT_ENVIRONMENT;
}

int command_list_library(void)
{
    const char *name;
    for (size_t i = 0; (name = tilecc_library_at(i)) != NULL; i++) puts(name);
    return finish_stdout() ? EXIT_OK : EXIT_ENVIRONMENT;
}

int command_list_targets(void)
{
    const char *name;
    for (size_t i = 0; (name = tilecc_target(i)) != NULL; i++) puts(name);
    return finish_stdout() ? EXIT_OK : EXIT_ENVIRONMENT;
}
