/* tilecc check-ptx: judges a PTX text, anyone's, without a GPU and without an assembler. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tile.h"
#include "tilecc/cli.h"
#include "tilecc/commands.h"

typedef struct Output {
    const char *file;
    bool json;
} Output;

static void put_json_text(const char *s)
{
    putchar('"');
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\') putchar('\\');
        if (c < 0x20) printf("\\u%04x", c);
        else if (c < 0x80) putchar(c);
        else fputs("\\ufffd", stdout); /* names and modifiers are ASCII; other bytes only stand in broken texts */
    }
    putchar('"');
}

static void put_plain_text(const char *s)
{
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        fputc(c < 0x20 || c == 0x7f ? ' ' : c, stderr);
    }
}

static void put_finding(void *user, const tile_ptx_finding *f)
{
    const Output *o = user;
    const char *verdict = f->is_error ? "error" : "warning";
    if (o->json) {
        printf("{\"line\": %u, \"column\": %u, \"verdict\": \"%s\", \"code\": \"%s\", \"text\": ", f->line, f->column,
               verdict, f->code);
        put_json_text(f->text);
        puts("}");
        return;
    }
    put_name(stderr, o->file);
    fprintf(stderr, ":%u:%u: %s: ", f->line, f->column, verdict);
    put_plain_text(f->text);
    fprintf(stderr, " [%s]\n", f->code);
}

static void put_count(size_t n, const char *noun)
{
    printf(", %zu %s%s", n, noun, n == 1 ? "" : "s");
}

static void put_summary(const Output *o, const tile_ptx_summary *s)
{
    if (o->json) {
        printf("{\"verdict\": \"summary\", \"instructions\": %zu, \"errors\": %zu, \"warnings\": %zu}\n",
               s->instructions, s->errors, s->warnings);
        return;
    }
    put_name(stdout, o->file);
    printf(": %zu instruction%s checked", s->instructions, s->instructions == 1 ? "" : "s");
    put_count(s->errors, "error");
    if (s->warnings) put_count(s->warnings, "warning");
    putchar('\n');
}

int command_check_ptx(const CheckPtxOptions *opt)
{
    size_t size;
    char *text = read_file(opt->input, &size);
    if (!text) return EXIT_ENVIRONMENT;
    const char *kind = compiled_kind(text, size);
    if (kind && strcmp(kind, "PTX") != 0) {
        complain("'%s' is %s, which is binary; check-ptx judges PTX text: `tilecc -S x.tile` writes it", opt->input, kind);
        free(text);
        return EXIT_USAGE;
    }
    Output o = {strcmp(opt->input, "-") == 0 ? "<stdin>" : opt->input, opt->json};
    char version[8];
    if (opt->ptx_version) snprintf(version, sizeof version, "%u.%u", opt->ptx_version / 10 % 10, opt->ptx_version % 10);
    tile_ptx_summary s;
    tile_error e;
    tile_status status = tile_check_ptx(text, size, opt->target, opt->ptx_version ? version : NULL, put_finding, &o, &s,
                                        &e);
    free(text);
    if (status != TILE_OK) {
        complain("%s", e.text);
        return status == TILE_ERROR_ARGUMENT ? EXIT_USAGE : EXIT_ENVIRONMENT;
    }
    put_summary(&o, &s);
    if (!finish_stdout()) return EXIT_ENVIRONMENT;
    return s.errors ? EXIT_SOURCE : EXIT_OK;
}
