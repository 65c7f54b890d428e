/* states [--derived] FILE ..: the states in which the verifier finds the kernels of .tile files with barriers of their own, as they come, and how they
 * go on (lower/verify/states/); --derived: those whose schedule is derived, too. For who wants to know why one is not followed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lower/verify/states/states.h"
#include "lower/verify/verify.h"
#include "tilecc.h"

static bool derived;

bool __real_ir_verify(Arena *a, Diags *d, const IrKernel *k, const Demands *to, Text *certificate);
bool __wrap_ir_verify(Arena *a, Diags *d, const IrKernel *k, const Demands *to, Text *certificate);
bool __wrap_ir_verify(Arena *a, Diags *d, const IrKernel *k, const Demands *to, Text *certificate)
{
    if (derived || !ir_has_tree_proof(k)) {
        Text trace;
        text_init(&trace, a->mem);
        Verdict v = states_check(a, k, &trace);
        if (trace.n) fwrite(trace.s, 1, trace.n, stdout);
        printf("%s: %s, %u states%s%s\n", k->mf.name, v.proved ? "proved" : v.refused ? "refused" : "open", v.states, v.why.text ? ": " : "", v.why.text ? v.why.text : "");
        text_free(&trace);
    }
    return __real_ir_verify(a, d, k, to, certificate);
}

int main(int argc, char **argv)
{
    static char text[1 << 18];
    derived = argc > 1 && strcmp(argv[1], "--derived") == 0;
    for (int i = 1 + derived; i < argc; i++) {
        FILE *f = fopen(argv[i], "rb");
        size_t n = f ? fread(text, 1, sizeof text, f) : 0;
        tilecc_options opt = {.struct_size = sizeof opt, .emit = TILECC_EMIT_PTX, .no_performance_warnings = 1, .no_variants = 1, .tune = "off"};
        if (f == NULL || n == sizeof text) {
            fprintf(stderr, "states: %s: cannot be read\n", argv[i]);
            return 2;
        }
        fclose(f);
        tilecc_result *r = tilecc_compile(&opt, argv[i], text, n);
        if (r == NULL) abort();
        tilecc_free(r);
    }
    return 0;
}
