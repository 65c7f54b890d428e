/* Any bytes through lexer, parser and printers: nothing may crash, hang or leak, and reading the same text twice
 * gives the same tree.
 * Without libFuzzer replay.c runs it over files.
 */
#include <stdlib.h>
#include <string.h>

#include "frontend/parse/ast.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads, prints and renders into one text. */
static void read_all(ParseContext *cx, Source *src, Text *out)
{
    Unit *u = parse_unit(cx, src);
    print_unit(u, cx->names, cx->sources, out);
    diags_render(cx->diags, DIAG_HUMAN, false, out);
    diags_render(cx->diags, DIAG_JSON, false, out);
}

/* The text is copied to its exact size, so that a read beyond its end is seen. */
static char *run(const uint8_t *data, size_t size, Mem *mem)
{
    char *text = malloc(size + 1);
    if (text == NULL) abort();
    if (size) memcpy(text, data, size);
    text[size] = 0;

    Arena arena;
    Sources sources;
    Diags diags;
    Text out;
    arena_init(&arena, mem);
    sources_init(&sources, &arena);
    diags_init(&diags, &arena, &sources);
    text_init(&out, mem);
    ParseContext cx = {&arena, names_new(&arena), &diags, &sources};
    Source *src = sources_add(&sources, "fuzz.tile", text, size);
    if (src) read_all(&cx, src, &out);
    if (src) print_tokens(&cx, src, &out);
    text_char(&out, '\n');
    arena_free(&arena);
    free(text);
    return out.s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    jmp_buf fail;
    Mem mem = {.fail = &fail};
    if (setjmp(fail)) abort(); /* memory does not run out on inputs of this size */
    char *a = run(data, size, &mem);
    char *b = run(data, size, &mem);
    if (strcmp(a, b) != 0) abort();
    mem_free(&mem, a);
    mem_free(&mem, b);
    return 0;
}
