#include "tests/ir/mutate_open.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 100 };

typedef struct Line {
    char program[80], kind[24], op[24], code[8];
    int number, used;
} Line;

static Line lines[LINES];
static int nlines;

void open_read(const char *path)
{
    char text[400];
    FILE *f = fopen(path, "r");
    if (f == NULL) {
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(2);
    }
    for (int number = 1; fgets(text, sizeof text, f); number++) {
        int used = 0;
        Line *l = &lines[nlines];
        if (text[0] == '#' || text[0] == '\n') continue;
        if (nlines == LINES || sscanf(text, "%79s %23s %23s %7s %n", l->program, l->kind, l->op, l->code, &used) != 4 ||
            !text[used]) {
            fprintf(stderr, "%s:%d: expected PROGRAM KIND OP CODE REASON, and no more than %d lines\n", path, number,
                    (int)LINES);
            exit(2);
        }
        l->number = number;
        for (char *s = l->kind; *s; s++)
            if (*s == '_') *s = ' ';
        nlines++;
    }
    fclose(f);
}

static bool fits(const char *pattern, const char *word)
{
    return strcmp(pattern, "*") == 0 || strcmp(pattern, word) == 0;
}

bool open_has(const char *program, const char *kind, const char *op, const char *said)
{
    char code[8] = "data";
    if (strncmp(said, "E1", 2) == 0) snprintf(code, sizeof code, "%.5s", said);
    for (int i = 0; i < nlines; i++) {
        Line *l = &lines[i];
        if (strcmp(l->program, "*") != 0 && strstr(program, l->program) == NULL) continue;
        if (!fits(l->kind, kind) || !fits(l->op, op) || !fits(l->code, code)) continue;
        l->used++;
        return true;
    }
    return false;
}

int open_unused(void)
{
    int n = 0;
    for (int i = 0; i < nlines; i++) {
        if (lines[i].used) continue;
        printf("line %d of the known holes: there is no such hole any more\n", lines[i].number);
        n++;
    }
    return n;
}
