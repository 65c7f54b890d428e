/* trees [--holes] FILE..: does the checker accept the trees of derived schedules (tilecc --emit=tree), read back from their text?
 *
 * --holes: of schedules each of which becomes one or more that fail: the hole NAME has none of the lines of its kernel that end in
 * `;- NAME`, and it alone has those behind `;+ NAME`. The checker accepts the schedules and refuses the holes. That agents say when they are
 * done with a generation is not asked for.
 *
 * Exit code: 0, 1 a verdict is not as it should be, or a file can't be read, 2 wrong use. */
#include <stdio.h>
#include <stdlib.h>

#include "lower/verify/tree/check.h"
#include "tests/unit/ir_fixture.h"

enum { NAME = 64 };

static bool check(Arena *a, const IrKernel *k, const char *path, const char *hole, bool done)
{
    TreeFault fault;
    bool ok = tree_check(a, k, done ? 0 : 1u << TREE_DONE, &fault);
    if (ok != (hole != NULL)) return true;
    if (ok) {
        printf("%s: %s is accepted\n", path, hole);
        return false;
    }
    Text t;
    text_init(&t, a->mem);
    text_printf(&t, "%s: %s: %d %s", path, k->mf.name, (int)fault.condition, fault.text);
    if (fault.op) {
        text_lit(&t, "\n    ");
        ir_print_op(&t, k, fault.op);
    }
    if (fault.other) {
        text_lit(&t, "\n    ");
        ir_print_op(&t, k, fault.other);
    }
    puts(t.s);
    text_free(&t);
    return false;
}

/* All kernels of the text are accepted, or, as that hole, refused. */
static bool judge(const char *path, const char *text, const char *hole, bool done, uint32_t *trees)
{
    Fixture x;
    begin(&x);
    Source *source = sources_add(&x.sources, path, text, (uint32_t)strlen(text));
    IrModule *m = ir_read(&x.arena, x.names, &x.diags, source);
    bool ok = m != NULL;
    if (m == NULL) {
        diags_render(&x.diags, DIAG_HUMAN, false, &x.out);
        puts(x.out.s);
    }
    for (uint32_t k = 0; m && k < m->kernels.n; k++) {
        ok &= check(&x.arena, m->kernels.v[k], path, hole, done);
        ++*trees;
    }
    finish(&x);
    return ok;
}

/* The next mark in the text, `-` or `+` behind `;`, and its name. */
static const char *next_mark(const char *text, char name[NAME])
{
    for (text = strchr(text, ';'); text; text = strchr(text + 1, ';'))
        if ((text[1] == '-' || text[1] == '+') && sscanf(text + 2, " %63[a-z0-9_]", name) == 1) return text;
    return NULL;
}

/* The kernel around the mark as the hole of that name, behind what stands in front of all kernels. */
static void make_hole(Text *out, const char *text, const char *mark, const char *hole)
{
    const char *first = strstr(text, "\nkernel ") + 1, *line = first;
    for (const char *k = first; k && k < mark; k = strstr(k + 1, "\nkernel ")) line = k;
    text_put(out, text, (size_t)(first - text));
    for (const char *end = line; *line && strncmp(line, "}\n", 2) != 0; line = end + 1) {
        char name[NAME], copy[1024];
        end = strchr(line + 1, '\n');
        snprintf(copy, sizeof copy, "%.*s", (int)(end - line), line);
        const char *at = next_mark(copy, name);
        while (at && strcmp(name, hole) != 0) at = next_mark(at + 1, name);
        if (at == NULL || at[1] == '+') text_printf(out, "%s\n", at ? strstr(at, hole) + strlen(hole) : copy);
    }
    text_lit(out, "}\n");
}

static bool judge_holes(const char *path, const char *text, uint32_t *trees)
{
    char name[NAME], earlier[NAME];
    bool ok = true;
    Fixture x;
    begin(&x);
    for (const char *mark = next_mark(text, name); mark; mark = next_mark(mark + 1, name)) {
        const char *same = next_mark(text, earlier);
        while (strcmp(earlier, name) != 0) same = next_mark(same + 1, earlier);
        if (same != mark) continue;
        Text t;
        text_init(&t, &x.mem);
        make_hole(&t, text, mark, name);
        ok &= judge(path, t.s, name, false, trees);
        text_free(&t);
    }
    finish(&x);
    return ok;
}

static char *contents(const char *path)
{
    long n;
    FILE *f = fopen(path, "rb");
    if (f == NULL || fseek(f, 0, SEEK_END) || (n = ftell(f)) < 0 || fseek(f, 0, SEEK_SET)) {
        perror(path);
        exit(2);
    }
    char *text = malloc((size_t)n + 1);
    if (text == NULL || fread(text, 1, (size_t)n, f) != (size_t)n) exit(2);
    text[n] = 0;
    fclose(f);
    return text;
}

int main(int argc, char **argv)
{
    bool ok = true;
    uint32_t trees = 0;
    bool holes = argc > 1 && strcmp(argv[1], "--holes") == 0;
    if (argc < 2 + holes) return 2;
    for (int i = 1 + holes; i < argc; i++) {
        char *text = contents(argv[i]);
        ok &= judge(argv[i], text, NULL, !holes, &trees);
        if (holes && ok) ok = judge_holes(argv[i], text, &trees);
        free(text);
    }
    printf("%u trees, %s\n", trees, ok ? "all judged as they should be" : "some judged wrongly");
    return !ok;
}
