/* The options table (options.def) and what a command line says. */
#ifndef TILECC_OPTIONS_H
#define TILECC_OPTIONS_H

#include "tilecc/cli.h"

enum { COMPILE = 1, RUN = 2, CHECK = 4, TEST = 8, NEW = 16, CACHE = 32, TUNE = 64 }; /* commands that take an option */

typedef struct OptionInfo {
    const char *group; /* a heading: nothing else is set */
    int id;
    const char *name;
    char letter;         /* '-': the long name is usually written with one dash */
    const char *metavar; /* NULL: takes no argument */
    unsigned commands;
    const char *help;
} OptionInfo;
extern const OptionInfo option_table[];
extern const size_t option_count;

/* The values that an option takes, and a NULL behind them; NULL: others go, too, or none. */
const char *const *option_words(int id);

/* Is the word an option of `tilecc run` whose argument is the next word? */
bool option_wants_next(const char *word);

/* Reads the command line and runs what it asks for. Returns the exit code. */
int run_command_line(int argc, char **argv);

#endif
