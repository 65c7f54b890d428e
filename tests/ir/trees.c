/* trees [--holes] FILE..: does the checker accept the trees of derived schedules (tilecc --emit=tree), read back from their text?
 *
 * --holes: of schedules that fail, each followed by its repair, which is named .._mended: the checker refuses the one and accepts the
 * other. That agents say when they are done with a generation is not asked for.
 *
 * Exit code: 0, 1 a verdict is not as it should be, or a file can't be read, 2 wrong use. */
#include <stdio.h>
#include <stdlib.h>

#include "lower/verify/tree/check.h"
#include "tests/unit/ir_fixture.h"

static bool is_hole(const IrKernel *k, bool holes)
{
    static const char END[] = "_mended";
    size_t n = strlen(k->mf.name), m = sizeof END - 1;
    return holes && !(n > m && strcmp(k->mf.name + n - m, END) == 0);
}

static bool check(Arena *a, const IrKernel *k, const char *path, bool holes)
{
    TreeFault fault;
    bool ok = tree_check(a, k, holes ? 1u << TREE_DONE : 0, &fault);
    if (ok != is_hole(k, holes)) return true;
    if (ok) {
        printf("%s: %s is accepted\n", path, k->mf.name);
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

static char *contents(const char *path, long *n)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL || fseek(f, 0, SEEK_END) || (*n = ftell(f)) < 0 || fseek(f, 0, SEEK_SET)) {
        perror(path);
        exit(2);
    }
    char *text = malloc((size_t)*n + 1);
    if (text == NULL || fread(text, 1, (size_t)*n, f) != (size_t)*n) exit(2);
    text[*n] = 0;
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
        Fixture x;
        long n;
        char *text = contents(argv[i], &n);
        begin(&x);
        Source *source = sources_add(&x.sources, argv[i], text, (uint32_t)n);
        IrModule *m = ir_read(&x.arena, x.names, &x.diags, source);
        if (m == NULL) {
            diags_render(&x.diags, DIAG_HUMAN, false, &x.out);
            puts(x.out.s);
            ok = false;
        }
        for (uint32_t k = 0; m && k < m->kernels.n; k++) {
            ok &= check(&x.arena, m->kernels.v[k], argv[i], holes);
            trees++;
        }
        finish(&x);
        free(text);
    }
    printf("%u trees, %s\n", trees, ok ? "all judged as they should be" : "some judged wrongly");
    return !ok;
}
