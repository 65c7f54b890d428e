/* --emit=c: the program compiled for each target, cubins where there is an assembler, and the text around them from the library. */
#include "tilecc/cli.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tilecc/embedded.h"

typedef struct Targets { /* one result each */
    char *names;          /* NULL: the program's own target; else each ends with a 0 */
    size_t n;
    tilecc_result **results;
    tilecc_image *images; /* at most two of each */
    size_t nimages;
} Targets;

/* "sm_90a,sm_100a" taken apart. False after a complaint. */
static bool read_targets(Targets *t, const char *arch)
{
    *t = (Targets){.n = 1};
    size_t size = arch ? strlen(arch) : 0;
    if (arch) {
        t->names = copy_text(arch, size);
    }
    for (size_t i = 0; i < size; i++) {
        if (arch[i] != ',') continue;
        t->names[i] = 0;
        t->n++;
    }
    t->results = must_alloc(t->n * sizeof(tilecc_result *));
    memset(t->results, 0, t->n * sizeof(tilecc_result *));
    t->images = must_alloc(2 * t->n * sizeof *t->images);
    const char *name = t->names;
    for (size_t i = 0; name && i < t->n; i++, name += strlen(name) + 1) {
        const char *other = t->names;
        while (other < name && strcmp(other, name) != 0) other += strlen(other) + 1;
        if (name[0] && other == name) continue;
        complain(name[0] ? "-arch: target '%s' stands there twice" : "-arch: '%s' has a target without a name", name[0] ? name : arch);
        return false;
    }
    return true;
}

static void free_targets(Targets *t)
{
    for (size_t i = 0; t->results && i < t->n; i++) tilecc_free(t->results[i]);
    free(t->results);
    free(t->images);
    free(t->names);
}

/* Without an assembler there is PTX all the same. */
static bool only_lacks_assembler(const tilecc_result *r)
{
    return r->status == TILECC_ERROR_TOOL && r->ptx && (!r->assembler || !r->assembler[0]);
}

static int compile_target(const CompileOptions *o, Targets *t, size_t i, const char *arch, const char *text, size_t size)
{
    tilecc_options lib = o->lib;
    lib.arch = arch;
    const char *name = strcmp(o->input, "-") == 0 ? "<stdin>" : program_name(o->input);
    tilecc_result *r = t->results[i] = tilecc_compile(&lib, name, text, size);
    if (!r) return say_result(r, false);
    bool ptx_alone = only_lacks_assembler(r) && lib.assembler == TILECC_ASM_AUTO;
    bool again = i > 0 && (r->status == TILECC_OK || ptx_alone) && strcmp(r->diagnostics, t->results[0]->diagnostics) == 0; /* the same warnings */
    if (ptx_alone) {
        if (!again) fwrite(r->diagnostics, 1, r->diagnostics_size, stderr);
        if (o->verbose) complain("%s: PTX alone, %s", arch ? arch : "no cubin", r->message);
        return EXIT_OK;
    }
    if (!again) say_result(r, lib.error_format == TILECC_JSON);
    if (o->verbose && r->status == TILECC_OK) complain("%s%sassembled by %s", arch ? arch : "", arch ? ": " : "", r->assembler);
    return (int)r->status;
}

/* Cubins first: PTX is for the GPUs and drivers that take none of them, and for the simulator. */
static void list_images(Targets *t)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->results[i]->status == TILECC_OK) t->images[t->nimages++] = (tilecc_image){t->results[i]->output, t->results[i]->output_size};
    for (size_t i = 0; i < t->n; i++) t->images[t->nimages++] = (tilecc_image){t->results[i]->ptx, t->results[i]->ptx_size};
}

static size_t word_at(const char *p)
{
    size_t n = 0;
    while (isalnum((unsigned char)p[n]) || p[n] == '_') n++;
    return n;
}

/* Has text this word outside of functions, or anywhere where it has capitals, as constants have? */
static bool has_outside(const char *text, const char *word, size_t n)
{
    bool constant = false;
    for (size_t i = 0; i < n; i++) constant |= isupper((unsigned char)word[i]) != 0;
    for (const char *line = text, *end; *line; line = *end ? end + 1 : end) {
        end = line + strcspn(line, "\n");
        if (*line == ' ' && !constant) continue;
        for (const char *p = line; p < end;) {
            size_t k = word_at(p);
            bool begins = k && p[k - 1] == '_' && strncmp(p + k, "##", 2) == 0; /* what a macro makes of it */
            if ((k == n || (begins && k < n)) && memcmp(p, word, k) == 0) return true;
            p += k ? k : 1;
        }
    }
    return false;
}

/* A function or struct of the kernels' text that libtile's, in front of it, has too; from malloc. NULL: there is none. */
static char *name_of_both(const char *libtile, const char *kernels)
{
    for (const char *line = kernels; *line; line += strcspn(line, "\n"), line += *line != 0) {
        const char *end = line + strcspn(line, "({\n"), *name;
        if (*line == ' ' || *end == 0 || *end == '\n') continue;
        end -= *end == '{' && end > line;
        for (name = end; name > line && word_at(name - 1); name--) {
        }
        size_t n = (size_t)(end - name);
        if (memchr(name, '_', n) && has_outside(libtile, name, n)) return copy_text(name, n); /* what is no name of kernels' has no _ */
    }
    return NULL;
}

/* libtile's text in front of the kernels'; from malloc. */
static char *with_libtile(const tilecc_result *kernels, size_t *size)
{
    const Embedded *e = embedded_find("driver.c");
    *size = e->size + kernels->output_size;
    char *text = must_alloc(*size);
    memcpy(text, e->text, e->size);
    memcpy(text + e->size, kernels->output, kernels->output_size);
    return text;
}

static int write_pair(const CompileOptions *o, const Targets *t, const char *source, const char *header)
{
    char *name = with_suffix(file_base_name(source), "");
    bool driver = o->c == C_FOR_DRIVER;
    tilecc_result *h = tilecc_write_c(name, t->images, t->nimages, driver, TILECC_C_HEADER);
    tilecc_result *c = tilecc_write_c(name, t->images, t->nimages, driver, TILECC_C_SOURCE);
    int code = EXIT_ENVIRONMENT;
    if (!h || !c) complain("out of memory");
    else if (h->status != TILECC_OK || c->status != TILECC_OK) {
        complain("%s", h->status != TILECC_OK ? h->message : c->message);
        code = (int)(h->status != TILECC_OK ? h->status : c->status);
    } else {
        OutFile files[2] = {{source, c->output, c->output_size}, {header, h->output, h->output_size}};
        char *whole = driver ? with_libtile(c, &files[0].size) : NULL, *both = driver ? name_of_both(embedded_find("driver.c")->text, c->output) : NULL;
        if (driver) files[0].data = whole;
        if (both) complain("`%s` is a name inside of libtile, too: say with -o another name for the pair of files", both);
        code = both ? EXIT_USAGE : write_compiled(o, t->results[0], files, 2, ".c");
        free(whole);
        free(both);
    }
    tilecc_free(h);
    tilecc_free(c);
    free(name);
    return code;
}

/* The name of the .c, from malloc: -o without its suffix .c or .h, else the source's in the current folder. NULL after a complaint. */
static char *source_path(const CompileOptions *o)
{
    const char *out = o->output;
    if (out && strcmp(out, "-") == 0) {
        complain("--emit=c writes two files, NAME.c and NAME.h: say with -o NAME where");
        return NULL;
    }
    struct stat st;
    if (out && stat(out, &st) == 0 && S_ISCHR(st.st_mode)) { /* /dev/null.c would be a file */
        complain("--emit=c writes two files, NAME.c and NAME.h: '%s' is a device", out);
        return NULL;
    }
    if (!out && strcmp(o->input, "-") == 0) {
        complain("standard input has no name to make the output's from: say where to write with -o");
        return NULL;
    }
    if (!out) return with_suffix(file_base_name(program_name(o->input)), ".c");
    size_t n = strlen(out);
    bool suffix = n > 2 && out[n - 2] == '.' && (out[n - 1] == 'c' || out[n - 1] == 'h');
    char *path = printed("%.*s.c", (int)(suffix ? n - 2 : n), out);
    if (file_base_name(path)[0] != '.') return path;
    complain("-o '%s' has no name for the files in it", out);
    free(path);
    return NULL;
}

int compile_to_c(const CompileOptions *o)
{
    Targets t;
    char *source = source_path(o), *header = NULL, *text = NULL;
    size_t size = 0;
    int code = EXIT_USAGE;
    if (!source) return code;
    if (read_targets(&t, o->lib.arch)) {
        text = read_program(o->input, &size);
        code = !text ? EXIT_ENVIRONMENT : is_source(o, text, size) ? EXIT_OK : EXIT_USAGE;
    }
    const char *arch = t.names;
    for (size_t i = 0; i < t.n && code == EXIT_OK; i++) {
        code = compile_target(o, &t, i, arch, text, size);
        if (arch) arch += strlen(arch) + 1;
    }
    if (code == EXIT_OK) {
        list_images(&t);
        header = with_suffix(source, ".h");
        code = write_pair(o, &t, source, header);
    }
    free_targets(&t);
    free(header);
    free(source);
    free(text);
    return code;
}
