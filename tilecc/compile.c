#include "tilecc/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *file_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *with_suffix(const char *path, const char *suffix)
{
    const char *dot = strrchr(file_base_name(path), '.');
    size_t stem = dot && dot != file_base_name(path) ? (size_t)(dot - path) : strlen(path);
    return printed("%.*s%s", (int)stem, path, suffix);
}

/* What -o names would be something else than its suffix says. */
static bool misnamed(const CompileOptions *o)
{
    bool ptx = o->lib.emit == TILECC_EMIT_PTX, cubin = o->lib.emit == TILECC_EMIT_CUBIN;
    const char *dot = o->output ? strrchr(file_base_name(o->output), '.') : NULL, *needs = NULL;
    if (!dot || !(ptx || cubin)) return false;
    if (cubin && strcmp(dot, ".ptx") == 0) needs = "-S makes PTX";
    if (ptx && strcmp(dot, ".cubin") == 0) needs = "cubins are made without -S";
    if (strcmp(dot, ".c") == 0 || strcmp(dot, ".h") == 0) needs = "--emit=c makes C";
    if (needs) complain("'%s' would be %s: %s", o->output, ptx ? "PTX" : "a cubin", needs);
    return needs != NULL;
}

/* Where the output goes, from malloc; NULL after a complaint. */
static char *output_path(const CompileOptions *o)
{
    bool binary = o->lib.emit == TILECC_EMIT_CUBIN;
    const char *path = o->output;
    if (!path && (binary || o->to_file)) {
        if (strcmp(o->input, "-") == 0) {
            complain("standard input has no name to make the output's from: say where to write with -o");
            return NULL;
        }
        return with_suffix(file_base_name(program_name(o->input)), binary ? ".cubin" : ".ptx");
    }
    if (!path) path = "-";
    if (binary && strcmp(path, "-") == 0 && isatty(STDOUT_FILENO)) {
        complain("a cubin is binary and not for a terminal: say where to write with -o");
        return NULL;
    }
    return copy_text(path, strlen(path));
}

/* ---- the make rule of -MD ---- */

static void append(char *out, size_t *n, const char *s)
{
    size_t len = strlen(s);
    memcpy(out + *n, s, len);
    *n += len;
}

/* What neither quoting nor doubling gets through: make takes these for syntax, or, in targets, for a pattern. */
static bool nameable(const char *path, bool target)
{
    size_t n = strlen(path);
    for (const char *p = path; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 127 || strchr(";=|", *p) || (target && *p == '%')) return false;
    bool member = n && path[n - 1] == ')' && strchr(path, '('); /* of an archive */
    return n && path[n - 1] != '\\' && !member && !(target && path[n - 1] == '&');
}

/* As make and ninja both read it: a backslash before a space, # or :, where backslashes in front of it are doubled; $
 * twice; a ~ in front would be somebody's home. */
static void append_escaped(char *out, size_t *n, const char *path)
{
    size_t slashes = 0;
    if (*path == '~') append(out, n, "./");
    for (; *path; path++) {
        if (*path == ' ' || *path == '#' || *path == ':') {
            for (; slashes; slashes--) out[(*n)++] = '\\';
            out[(*n)++] = '\\';
        }
        if (*path == '$') out[(*n)++] = '$';
        slashes = *path == '\\' ? slashes + 1 : 0;
        out[(*n)++] = *path;
    }
}

static bool all_nameable(const tilecc_result *r, const char *target, size_t first)
{
    const char *bad = nameable(target, true) ? NULL : target;
    for (size_t i = first; i < r->ndependencies && !bad; i++)
        if (!nameable(r->dependencies[i], false)) bad = r->dependencies[i];
    if (!bad) return true;
    size_t n = strlen(bad);
    char *shown = must_alloc(n + 1);
    for (size_t i = 0; i <= n; i++) shown[i] = (unsigned char)bad[i] < ' ' && bad[i] ? '?' : bad[i];
    complain("-MD: a make rule can't name '%s': no line break, tab, `;`, `=` or `|` gets through, in an output's name no `%%`, "
             "at the end no backslash, nor `&` or `(..)`",
             shown);
    free(shown);
    return false;
}

/* "out: main.tile import.tile", and for each import an empty rule, so that make goes on when one was deleted (not for
 * names that would be patterns there). NULL after a complaint. first: 1 where the main source is no file. */
static char *make_rule(const tilecc_result *r, const char *target, size_t first, size_t *size)
{
    if (!all_nameable(r, target, first)) return NULL;
    size_t room = 2 * strlen(target) + 8;
    for (size_t i = 0; i < r->ndependencies; i++) room += 4 * strlen(r->dependencies[i]) + 16;
    char *out = must_alloc(room);
    size_t n = 0;
    append_escaped(out, &n, target);
    append(out, &n, ":");
    for (size_t i = first; i < r->ndependencies; i++) {
        append(out, &n, i == first ? " " : " \\\n ");
        append_escaped(out, &n, r->dependencies[i]);
    }
    append(out, &n, "\n");
    for (size_t i = 1; i < r->ndependencies; i++) {
        if (!nameable(r->dependencies[i], true)) continue;
        append(out, &n, "\n");
        append_escaped(out, &n, r->dependencies[i]);
        append(out, &n, ":\n");
    }
    *size = n;
    return out;
}

/* Imports are known only now. */
static bool may_write(const CompileOptions *o, const tilecc_result *r, const OutFile *files, size_t n)
{
    const char *outputs[3] = {files[0].path, n > 1 ? files[1].path : NULL, n > 2 ? files[2].path : NULL};
    if (strcmp(o->input, "-") == 0 && !outputs_are_apart(outputs, n, &o->input, 1)) return false;
    return outputs_are_apart(outputs, n, r->dependencies, r->ndependencies);
}

int write_compiled(const CompileOptions *o, const tilecc_result *r, const OutFile *made, size_t n, const char *suffix)
{
    OutFile files[3];
    memcpy(files, made, n * sizeof *made);
    char *rule = NULL, *rule_path = NULL;
    if (o->dependencies) {
        const char *path = files[0].path;
        bool standard = strcmp(o->input, "-") == 0, built_in = program_name(o->input) != o->input;
        const char *input = standard ? "stdin" : file_base_name(program_name(o->input));
        char *target = with_suffix(strcmp(path, "-") != 0 ? path : input, suffix);
        rule_path = with_suffix(target, ".d");
        files[n].path = o->dependency_file ? o->dependency_file : rule_path;
        files[n].data = rule = make_rule(r, strcmp(path, "-") != 0 ? path : target, standard || built_in, &files[n].size);
        free(target);
        n++;
        if (!rule) {
            free(rule_path);
            return EXIT_USAGE;
        }
    }
    int code = EXIT_USAGE;
    if (may_write(o, r, files, n)) code = write_files(files, n) ? EXIT_OK : EXIT_ENVIRONMENT;
    free(rule);
    free(rule_path);
    return code;
}

int say_result(const tilecc_result *r, bool json)
{
    if (!r) {
        complain("out of memory");
        return EXIT_ENVIRONMENT;
    }
    fwrite(r->diagnostics, 1, r->diagnostics_size, stderr);
    switch (r->status) {
    case TILECC_OK: break;
    case TILECC_ERROR_SOURCE:
        if (!json && (r->errors == 0 || r->diagnostics_size == 0)) complain("%s", r->message); /* -Werror: why it failed */
        break;
    case TILECC_ERROR_INTERNAL: complain("internal error: %s (please report this with the source)", r->message); break;
    default: complain("%s", r->message);
    }
    return (int)r->status;
}

bool is_source(const CompileOptions *o, const char *text, size_t size)
{
    const char *kind = compiled_kind(text, size);
    if (!kind) return true;
    bool cubin = strcmp(kind, "PTX") != 0;
    complain("'%s' is %s, compiled already: `tilecc run %s` runs it%s%s%s", o->input, kind, o->input, cubin ? " on a GPU" : ", `tilecc check-ptx ",
             cubin ? "" : o->input, cubin ? "" : "` judges it");
    return false;
}

static int compile_text(const CompileOptions *o, const char *text, size_t size, const char *path)
{
    if (!is_source(o, text, size)) return EXIT_USAGE;
    const char *name = strcmp(o->input, "-") == 0 ? "<stdin>" : program_name(o->input);
    tilecc_result *r = tilecc_compile(&o->lib, name, text, size);
    int code = say_result(r, o->lib.error_format == TILECC_JSON);
    if (code == EXIT_OK && o->verbose && r->assembler) complain("assembled by %s", r->assembler);
    if (code == EXIT_OK)
        code = write_compiled(o, r, &(OutFile){path, r->output, r->output_size}, 1, o->lib.emit == TILECC_EMIT_CUBIN ? ".cubin" : ".ptx");
    tilecc_free(r);
    return code;
}

int command_compile(const CompileOptions *o)
{
    if (o->c) return compile_to_c(o);
    if (o->lib.arch && strchr(o->lib.arch, ',')) {
        complain("several targets, '%s', go only into --emit=c and --emit=c-driver", o->lib.arch);
        return EXIT_USAGE;
    }
    char *path = misnamed(o) ? NULL : output_path(o);
    if (!path) return EXIT_USAGE;

    int code = EXIT_ENVIRONMENT;
    size_t size = 0;
    char *text = read_program(o->input, &size);
    if (text) code = compile_text(o, text, size, path);
    free(text);
    free(path);
    return code;
}
