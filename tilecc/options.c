#include "tilecc/options.h"

#include <ctype.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tilecc/commands.h"

enum { NONE, NEEDED };

enum OptionId {
    FIRST_ID = 256, /* above all letters */
#define OPTION(id, name, letter, arg, metavar, commands, help) OPT_##id,
#include "tilecc/options.def"
    END_ID
};

const OptionInfo option_table[] = {
#define GROUP(title) {title, 0, NULL, 0, NULL, 0, NULL},
#define OPTION(id, name, letter, arg, metavar, commands, help)                                                         \
    {NULL, OPT_##id, name, letter, (arg) == NEEDED ? (metavar) : NULL, commands, help},
#include "tilecc/options.def"
};
const size_t option_count = sizeof option_table / sizeof option_table[0];

static const struct {
    int id;
    const char *words[12]; /* and a NULL */
} WORDS_TABLE[] = {
#define WORDS(id, ...) {OPT_##id, {__VA_ARGS__, NULL}},
#include "tilecc/options.def"
};

const char *const *option_words(int id)
{
    for (size_t i = 0; i < sizeof WORDS_TABLE / sizeof WORDS_TABLE[0]; i++)
        if (WORDS_TABLE[i].id == id) return WORDS_TABLE[i].words;
    return NULL;
}

static const struct {
    unsigned command;
    const char *name;
} COMMANDS[] = {
#define COMMAND(id, name, text) {id, name},
#include "tilecc/options.def"
};
enum { NCOMMANDS = sizeof COMMANDS / sizeof COMMANDS[0] - 1 }; /* without the last row, which has no name */

/* ---- what the options say ---- */

typedef struct CommandLine {
    CompileOptions o;
    RunOptions run;
    TestOptions test;
    TuneOptions tune;
    bool json;
    int cache; /* id of what `tilecc cache` does */
    tilecc_define *defines; /* room for one per argument */
    const char **import_dirs, **path_maps;
    const char *explain, *shell;
    const char *sim[OPT_SIM_SECONDS - OPT_SIM + 1]; /* values of --sim .. --sim-seconds */
    int information;                                /* id of --help, --man, ..: done instead of compiling */
} CommandLine;

static const char *asked; /* the command of the command line that is read; NULL: compile */

static int usage_error(void)
{
    fprintf(stderr, "try: tilecc %s%s--help\n", asked ? asked : "", asked ? " " : "");
    return EXIT_USAGE;
}

/* Says it, and ends so. */
#define usage(...) (complain(__VA_ARGS__), usage_error())

/* The place of `value` among the words of the option, or -1 after a complaint. */
static int choose(int id, const char *option, const char *value)
{
    const char *const *words = option_words(id);
    size_t n = 0;
    for (; words[n]; n++)
        if (strcmp(words[n], value) == 0) return (int)n;
    complain_word(value, words, n, "it takes ", "%s does not take '%s'", option, value);
    return -1;
}

static bool add_define(CommandLine *c, char *text)
{
    char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1]) {
        complain("-D needs NAME=VALUE or KERNEL.NAME=VALUE, not '%s'", text);
        return false;
    }
    *equals = 0;
    c->defines[c->o.lib.ndefines++] = (tilecc_define){text, equals + 1};
    return true;
}

static bool read_ptx_version(CommandLine *c, const char *text)
{
    if (isdigit((unsigned char)text[0]) && text[1] == '.' && isdigit((unsigned char)text[2]) && !text[3]) {
        c->o.lib.ptx_version = (unsigned)(text[0] - '0') * 10 + (unsigned)(text[2] - '0');
        return true;
    }
    complain("--ptx-version needs a version like 8.0, not '%s'", text);
    return false;
}

/* 1 to 999999. */
static bool read_count(const char *option, const char *text, int *out)
{
    size_t digits = strspn(text, "0123456789");
    *out = digits > 0 && digits < 7 && !text[digits] ? (int)strtol(text, NULL, 10) : 0;
    if (*out > 0) return true;
    complain("%s needs a number from 1 to 999999, not '%s'", option, text);
    return false;
}

/* 4096, or 64K, 256M, 2G. */
static bool read_bytes(const char *option, const char *text, double *out)
{
    size_t digits = strspn(text, "0123456789");
    const char *unit = strchr("KMG", text[digits]);
    int shift = text[digits] ? 10 * (int)(unit ? strcspn("KMG", unit) + 1 : 0) : 0;
    bool good = digits > 0 && digits < 13 && (!text[digits] || (unit && !text[digits + 1]));
    *out = good ? strtod(text, NULL) * (double)(1u << shift) : 0;
    if (*out > 0) return true;
    complain("%s needs bytes, such as 64K or 256M, not '%s'", option, text);
    return false;
}

static const OptionInfo *find_option(int c)
{
    for (size_t i = 0; i < option_count; i++)
        if (option_table[i].id && (option_table[i].id == c || (c < FIRST_ID && option_table[i].letter == c)))
            return &option_table[i];
    return NULL;
}

/* Of the simulator, which knows the ranges. */
static bool take_number(CommandLine *c, int id, const char *text)
{
    size_t digits = strspn(text, "0123456789");
    if (!digits || text[digits]) complain("--%s needs a number, not '%s'", find_option(id)->name, text);
    c->sim[id - OPT_SIM] = text;
    return digits && !text[digits];
}

static bool want_colour(int when)
{
    if (when != 0) return when == 1;
    const char *no = getenv("NO_COLOR"), *force = getenv("CLICOLOR_FORCE"), *term = getenv("TERM");
    if (no && no[0]) return false;
    if (force && force[0] && strcmp(force, "0") != 0) return true;
    return isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
}

/* Options that are kept as they were typed. */
static bool take_text(CommandLine *c, int id, const char *arg)
{
    const struct {
        int id;
        const char **to;
    } texts[] = {
        {OPT_OUTPUT, &c->o.output},   {OPT_DEPENDENCY_FILE, &c->o.dependency_file}, {OPT_TUNE_FILE, &c->o.lib.tune},
        {OPT_PIN, &c->o.lib.pin},     {OPT_ARCH, &c->o.lib.arch},                   {OPT_TARGET, &c->o.lib.arch},
        {OPT_DEVICE, &c->run.device}, {OPT_SAVE, &c->run.save},                     {OPT_TRACE, &c->sim[OPT_TRACE - OPT_SIM]},
        {OPT_PLOT, &c->tune.plot},    {OPT_JUNIT, &c->test.junit},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (texts[i].id != id) continue;
        *texts[i].to = arg;
        return true;
    }
    return false;
}

/* Those that have no argument and say yes. */
static bool take_flag(CommandLine *c, int id)
{
    const struct {
        int id;
        bool *to;
    } flags[] = {
        {OPT_DEPENDENCIES, &c->o.dependencies}, {OPT_VERBOSE, &c->o.verbose}, {OPT_CHECK_TRUST, &c->run.check_trust},
        {OPT_TIME, &c->run.time},               {OPT_UPDATE, &c->test.update}, {OPT_JSON, &c->json},
    };
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        if (flags[i].id != id) continue;
        *flags[i].to = true;
        return true;
    }
    return false;
}

/* What is written; to_file: under the source's name, where -o does not say. */
static bool take_emit(CommandLine *c, int kind, bool to_file)
{
    enum { C = TILECC_EMIT_DEFINES + 1, C_DRIVER }; /* in the order of WORDS(EMIT, ..) */
    if (kind < 0) return false;
    c->o.c = kind == C ? C_FOR_LIBTILE : kind == C_DRIVER ? C_FOR_DRIVER : NO_C;
    c->o.lib.emit = c->o.c ? TILECC_EMIT_CUBIN : (tilecc_emit)kind;
    c->o.to_file = to_file;
    return true;
}

/* Options that take one of a few words. */
static bool take_word(CommandLine *c, int id, const char *option, const char *arg)
{
    tilecc_options *lib = &c->o.lib;
    int k = choose(id, option, arg);
    if (k < 0) return false;
    switch (id) {
    case OPT_EMIT: return take_emit(c, k, false);
    case OPT_VARIANTS: lib->no_variants = k == 1; break;
    case OPT_ASSEMBLER: lib->assembler = (tilecc_assembler)k; break;
    case OPT_HINTS: lib->hints = k == 2 ? -1 : k; break;
    case OPT_DEPENDENT: lib->no_dependent_launch = k == 1; break;
    case OPT_WARN: *(k == 0 ? &lib->warnings_are_errors : &lib->no_performance_warnings) = 1; break;
    case OPT_ERROR_FORMAT: lib->error_format = (tilecc_error_format)k; break;
    case OPT_COLOR: lib->colour = want_colour(k); break;
    case OPT_SIM: c->sim[0] = arg; break;
    default: /* --completion */
        c->shell = arg;
        c->information = id;
    }
    return true;
}

static bool take_cache(CommandLine *c, int id)
{
    bool other = c->cache && c->cache != id;
    if (other) complain("cache: one of --stats, --verify and --clear at a time");
    c->cache = id;
    return !other;
}

static bool take(CommandLine *c, const OptionInfo *option, char *arg)
{
    CompileOptions *o = &c->o;
    int id = option->id;
    char name[64];
    snprintf(name, sizeof name, "%s%s", id == OPT_WARN ? "-" : "--", id == OPT_WARN ? "W" : option->name);
    if (option_words(id)) return take_word(c, id, name, arg);
    if (take_text(c, id, arg) || take_flag(c, id)) return true;
    switch (id) {
    case OPT_ASM_TEXT: return take_emit(c, TILECC_EMIT_PTX, true);
    case OPT_PLAN: return take_emit(c, TILECC_EMIT_PLAN, false);
    case OPT_LINEINFO: o->lib.lineinfo = 1; return true;
    case OPT_DEFINE: return add_define(c, arg);
    case OPT_KERNEL: c->defines[o->lib.ndefines++] = (tilecc_define){"kernel", arg}; return true;
    case OPT_IMPORT_DIR: c->import_dirs[o->lib.nimport_dirs++] = arg; return true;
    case OPT_PATH_MAP: c->path_maps[o->lib.npath_maps++] = arg; return true;
    case OPT_PTX_VERSION: return read_ptx_version(c, arg);
    case OPT_MOST: return read_bytes(name, arg, &c->tune.most);
    case OPT_SEED:
    case OPT_SCHEDULES:
    case OPT_SIM_STEPS:
    case OPT_SIM_BYTES:
    case OPT_SIM_SECONDS: return take_number(c, id, arg);
    case OPT_JOBS: return read_count(name, arg, &c->test.jobs);
    case OPT_REPEATS: return read_count(name, arg, &c->run.repeats);
    case OPT_CACHE_STATS:
    case OPT_CACHE_VERIFY:
    case OPT_CACHE_CLEAR: return take_cache(c, id);
    default:
        c->explain = arg; /* --explain alone has one */
        c->information = id;
        return true;
    }
}

bool option_wants_next(const char *word)
{
    const char *name = word + strspn(word, "-");
    for (size_t i = 0; name > word && i < option_count; i++) {
        const OptionInfo *o = &option_table[i];
        bool letter = name[0] == o->letter && !name[1];
        if ((o->commands & RUN) && o->name && (letter || strcmp(o->name, name) == 0)) return o->metavar != NULL;
    }
    return false;
}

/* ---- getopt_long from the table ---- */

typedef struct Parser {
    struct option *longs; /* those of the command */
    char letters[2 * (END_ID - FIRST_ID) + 2];
    const char *names[END_ID - FIRST_ID]; /* for did-you-mean */
    size_t n;
    unsigned command;
} Parser;

static void parser_init(Parser *p, unsigned command)
{
    p->command = command;
    size_t at = 0;
    p->letters[at++] = ':'; /* a missing argument is told from an unknown option */
    p->longs = must_alloc((option_count + 1) * sizeof *p->longs);
    for (size_t i = 0; i < option_count; i++) {
        const OptionInfo *o = &option_table[i];
        if (!(o->commands & command)) continue;
        p->longs[p->n] = (struct option){o->name, o->metavar ? required_argument : no_argument, NULL, o->id};
        p->names[p->n++] = o->name;
        if (!o->letter || o->letter == '-') continue;
        p->letters[at++] = o->letter;
        if (o->metavar) p->letters[at++] = ':';
    }
    p->letters[at] = 0;
    p->longs[p->n] = (struct option){NULL, 0, NULL, 0};
}

/* NULL: several, or none that has a name. */
static const char *command_name(unsigned command)
{
    for (size_t i = 0; i < NCOMMANDS; i++)
        if (COMMANDS[i].command == command) return COMMANDS[i].name;
    return NULL;
}

static void complain_argument(const OptionInfo *o)
{
    if (o->letter && o->letter != '-') complain("-%c needs an argument: %s", o->letter, o->metavar);
    else complain("%s%s needs an argument: %s", o->letter ? "-" : "--", o->name, o->metavar);
}

/* A command that does not stand first, and is no file; NULL: there is none. */
static const char *late_command(char *const *words)
{
    for (; *words; words++)
        for (size_t i = 0; i < NCOMMANDS; i++)
            if (strcmp(*words, COMMANDS[i].name) == 0 && access(*words, F_OK) != 0) return COMMANDS[i].name;
    return NULL;
}

/* getopt's '?' and ':' in words. */
static void complain_option(const Parser *p, const char *text, char *const *words)
{
    const char *late = p->command == COMPILE ? late_command(words) : NULL;
    if (late) {
        complain("a command comes first, in front of its options: tilecc %s ..", late);
        return;
    }
    const OptionInfo *known = optopt ? find_option(optopt) : NULL;
    if (known && known->metavar) {
        complain_argument(known);
        return;
    }
    size_t length = strcspn(text, "=");
    if (known) {
        complain("'%.*s' takes no argument", (int)length, text);
        return;
    }
    char name[64];
    size_t dashes = strspn(text, "-");
    snprintf(name, sizeof name, "%.*s", (int)(length - (dashes < length ? dashes : length)), text + dashes);
    for (size_t i = 0; i < option_count; i++) {
        const OptionInfo *o = &option_table[i];
        bool letter = name[0] && !name[1] && o->letter == name[0];
        if (!o->name || (strcmp(o->name, name) != 0 && !letter)) continue; /* one of the other command */
        const char *only = command_name(o->commands), *own = command_name(p->command);
        if (only && p->command != NEW) complain("unknown option '%.*s': it goes only with `tilecc %s`", (int)length, text, only);
        else if (own && p->command != RUN) complain("unknown option '%.*s': it does not go with `tilecc %s`", (int)length, text, own);
        else
            complain("unknown option '%.*s': it goes %s `tilecc run`", (int)length, text,
                     o->commands & RUN ? "only with" : "without");
        return;
    }
    const char *near = nearest_word(name, p->names, p->n);
    const OptionInfo *info = NULL;
    for (size_t i = 0; near && i < option_count; i++)
        if (option_table[i].name == near) info = &option_table[i];
    if (info)
        complain("unknown option '%.*s'; did you mean '%s%s'?", (int)length, text, info->letter == '-' ? "-" : "--",
                 near);
    else complain("unknown option '%.*s'", (int)length, text);
}

static int information(const CommandLine *c, unsigned command, int n, char **words)
{
    bool help = c->information == OPT_HELP || c->information == OPT_VERSION; /* may be asked for behind anything */
    if (n && !help) return usage("'%s' can't stand here", words[0]);
    switch (c->information) {
    case OPT_EXPLAIN: return command_explain(c->explain);
    case OPT_LIST_LIBRARY: return command_list_library();
    case OPT_LIST_TARGETS: return command_list_targets();
    case OPT_MAN: print_man(); break;
    case OPT_COMPLETION: print_completion(c->shell); break;
    case OPT_VERSION: printf("tilecc %s\n", tilecc_version()); break;
    default: print_help(command); break;
    }
    return finish_stdout() ? EXIT_OK : EXIT_ENVIRONMENT;
}

static void complain_command(const char *word, const char *no)
{
    const char *names[NCOMMANDS];
    for (size_t i = 0; i < NCOMMANDS; i++) names[i] = COMMANDS[i].name;
    const char *near = nearest_word(word, names, NCOMMANDS);
    if (near) complain("unknown command '%s'; did you mean '%s'?", word, near);
    else complain("there is no %s '%s'", no, word);
}

/* A lone word that is no file may be a command misspelt. */
static bool is_misspelt_command(const char *word)
{
    if (strpbrk(word, "./") || word[0] == '-' || access(word, F_OK) == 0) return false;
    complain_command(word, "command and no file");
    return true;
}

static int compile(CommandLine *c, int n, char **inputs)
{
    if (n == 0) return usage("no source file");
    if (late_command(inputs)) return usage("a command comes first, in front of its options: tilecc %s ..", late_command(inputs));
    if (is_misspelt_command(inputs[0])) return usage_error();
    if (n > 1) return usage("one source file at a time, but there are %d: '%s', '%s'%s", n, inputs[0], inputs[1], n > 2 ? ", .." : "");
    if (c->o.dependency_file && !c->o.dependencies) return usage("-MF says where to write what -MD asks for; -MD is missing");
    c->o.input = inputs[0];
    return command_compile(&c->o);
}

static bool names_simulator(const char *device)
{
    return !device || strncmp(device, "sim", 3) == 0;
}

/* Is what was said of the simulator meant for one, and of its mode? */
static bool suits_simulator(const CommandLine *c)
{
    const char *device = c->run.device, *schedules = c->sim[OPT_SCHEDULES - OPT_SIM], *mode = c->sim[0];
    bool any = false, fuzz = (mode && strcmp(mode, "fuzz") == 0) || (device && strstr(device, "fuzz"));
    for (size_t i = 0; i < sizeof c->sim / sizeof c->sim[0]; i++) any |= c->sim[i] != NULL;
    if (any && !names_simulator(device)) complain("--sim, --seed, --schedules, --trace and --sim-.. are for the simulator; --device=%s is none", device);
    else if (c->sim[OPT_TRACE - OPT_SIM] && trace_in_name(device)) complain("--trace=%s: --device=%s has a trace already", c->sim[OPT_TRACE - OPT_SIM], device);
    else if (schedules && !fuzz) complain("--schedules says how many interleavings --sim=fuzz runs; --sim=fuzz is missing");
    else return true;
    return false;
}

static void append(char **name, const char *word, const char *value)
{
    size_t n = strlen(*name);
    bool begun = n && ((*name)[n - 1] == ':' || (*name)[n - 1] == ',');
    char *longer = printed("%s%s%s%s", *name, begun ? "" : strchr(*name, ':') ? "," : ":", word, value);
    free(*name);
    *name = longer;
}

/* The simulator's options as it takes them, behind the device's name (tile.h): "sim:check,seed=7"; trace= takes the rest. From malloc; NULL: none
 * was given. */
static char *name_simulator(const CommandLine *c)
{
    static const char *const WORDS[] = {"", "seed=", "schedules=", "trace=", "steps=", "bytes=", "seconds="};
    static const int ORDER[] = {0, 1, 2, 4, 5, 6, 3};
    const char *device = c->run.device ? c->run.device : "sim", *trace = trace_in_name(device);
    bool any = c->run.check_trust && names_simulator(device);
    char *name = copy_text(device, trace ? (size_t)(trace - device) : strlen(device));
    if (any) append(&name, "trust", "");
    for (size_t k = 0; k < sizeof ORDER / sizeof ORDER[0]; k++) {
        const char *value = c->sim[ORDER[k]];
        if (value) append(&name, WORDS[ORDER[k]], value);
        any |= value != NULL;
    }
    if (any && trace) append(&name, trace, "");
    if (any) return name;
    free(name);
    return NULL;
}

static int run(CommandLine *c, int n, char **arguments)
{
    if (n == 0) return usage("no program to run");
    if (c->run.repeats && !c->run.time) return usage("--repeats says how often --time launches; --time is missing");
    if (!suits_simulator(c)) return usage_error();
    char *simulator = name_simulator(c);
    if (simulator) c->run.device = simulator;
    c->run.program = arguments[0];
    c->run.args = (const char *const *)(arguments + 1);
    c->run.nargs = (size_t)(n - 1);
    c->run.verbose = c->o.verbose;
    c->run.lib = c->o.lib;
    int code = command_run(&c->run);
    free(simulator);
    return code;
}

static int tune(CommandLine *c, int n, char **arguments)
{
    if (n == 0) return usage("no program to tune");
    c->tune.program = arguments[0];
    c->tune.args = (const char *const *)(arguments + 1);
    c->tune.nargs = (size_t)(n - 1);
    c->tune.device = c->run.device;
    c->tune.verbose = c->o.verbose;
    c->tune.output = c->o.output;
    c->tune.lib = c->o.lib;
    return command_tune(&c->tune);
}

static int check_ptx(const CommandLine *c, int n, char **inputs)
{
    if (n == 0) return usage("no PTX file to check; `-` is standard input");
    if (n > 1) return usage("one PTX file at a time, but there are %d: '%s', '%s'%s", n, inputs[0], inputs[1], n > 2 ? ", .." : "");
    return command_check_ptx(&(CheckPtxOptions){inputs[0], c->o.lib.arch, c->o.lib.ptx_version, c->json});
}

static int test(CommandLine *c, int n, char **paths)
{
    c->test.paths = (const char *const *)paths;
    c->test.npaths = (size_t)n;
    c->test.device = c->run.device;
    c->test.lib = c->o.lib;
    return command_test(&c->test);
}

static int make_new(int n, char **names)
{
    if (n == 1) return command_new(names[0]);
    return usage("new: %s", n == 0 ? "the name of the folder is missing" : "one folder at a time");
}

static int cache(const CommandLine *c, int n, char **words)
{
    if (n) return usage("cache: '%s' can't stand here", words[0]);
    switch (c->cache) {
    case OPT_CACHE_STATS: return command_cache(TILECC_CACHE_COUNT);
    case OPT_CACHE_VERIFY: return command_cache(TILECC_CACHE_VERIFY);
    case OPT_CACHE_CLEAR: return command_cache(TILECC_CACHE_CLEAR);
    default: return usage("cache: say what to do: --stats, --verify or --clear");
    }
}

static int parse_and_run(CommandLine *c, Parser *p, unsigned command, int argc, char **argv)
{
    opterr = 0;
    optind = 0; /* tests read command lines in processes that have read one */
    for (;;) {
        int result = getopt_long_only(argc, argv, p->letters, p->longs, NULL);
        if (result == -1) break;
        if (result == '?' || result == ':') {
            complain_option(p, argv[optind - 1], argv + 1);
            return usage_error();
        }
        const OptionInfo *o = find_option(result);
        if (o->metavar && !optarg[0] && !option_words(o->id)) {
            complain_argument(o);
            return usage_error();
        }
        if (!take(c, o, optarg)) return usage_error();
    }
    if (c->information) return information(c, command, argc - optind, argv + optind);
    if (command == RUN) return run(c, argc - optind, argv + optind);
    if (command == TUNE) return tune(c, argc - optind, argv + optind);
    if (command == TEST) return test(c, argc - optind, argv + optind);
    if (command == NEW) return make_new(argc - optind, argv + optind);
    if (command == CHECK) return check_ptx(c, argc - optind, argv + optind);
    if (command == CACHE) return cache(c, argc - optind, argv + optind);
    return compile(c, argc - optind, argv + optind);
}

int run_command_line(int argc, char **argv)
{
    unsigned command = COMPILE;
    bool help = argc > 1 && strcmp(argv[1], "help") == 0; /* help run: as run --help */
    argv += help;
    argc -= help;
    asked = NULL;
    for (size_t i = 0; i < NCOMMANDS && argc > 1; i++) {
        if (strcmp(argv[1], COMMANDS[i].name) != 0) continue;
        command = COMMANDS[i].command;
        asked = COMMANDS[i].name;
        argv++;
        argc--;
        break;
    }
    if (help && argc > 1 && !asked && argv[1][0] != '-' && strcmp(argv[1], "help") != 0) {
        complain_command(argv[1], "command");
        return usage_error();
    }
    CommandLine c = {.information = help ? OPT_HELP : 0, .o = {.lib = {.struct_size = sizeof(tilecc_options), .emit = TILECC_EMIT_CUBIN}}};
    c.defines = must_alloc((size_t)argc * sizeof *c.defines + 1);
    c.import_dirs = must_alloc((size_t)argc * sizeof *c.import_dirs + 1);
    c.path_maps = must_alloc((size_t)argc * sizeof *c.path_maps + 1);
    c.o.lib.defines = c.defines;
    c.o.lib.path_maps = c.path_maps;
    c.o.lib.import_dirs = c.import_dirs;
    c.o.lib.colour = want_colour(0);
    c.o.lib.ptxas = getenv("TILECC_PTXAS");
    c.o.lib.nvjitlink = getenv("TILECC_NVJITLINK");

    Parser p = {0};
    parser_init(&p, command);
    int code = parse_and_run(&c, &p, command, argc, argv);
    free(p.longs);
    free(c.defines);
    free(c.import_dirs);
    free(c.path_maps);
    return code;
}
