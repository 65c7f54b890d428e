/* Words of other languages, and what stands for them here. */
#include "frontend/parse/foreign.h"

#include <stddef.h>
#include <string.h>

typedef struct Foreign {
    const char *word, *fix;
} Foreign;

static const Foreign foreign[] = {
    {"while", "a loop has a known trip count: `for i in 0 .. n { .. }`"},
    {"do", "a loop has a known trip count: `for i in 0 .. n { .. }`"},
    {"loop", "`for i in 0 .. n { .. }`"},
    {"return", "a function with a value is one expression: `fn f(a, b) = a * b;`; put what is to be left out into an `if`"},
    {"break", "a loop runs its whole range: give it a shorter one, or use `if` inside"},
    {"continue", "put the rest of the body into an `if`"},
    {"range", "`for i in low .. high { .. }`"},
    {"cdiv", "write `ceil(a, b)`"},
    {"ceil_div", "write `ceil(a, b)`"},
    {"ceildiv", "write `ceil(a, b)`"},
    {"div_up", "write `ceil(a, b)`"},
    {"clamp", "write `min(max(x, low), high)`"},
    {"tma", "leave `via` out: a tensor copy is taken where one does it"},
    {"goto", "use `if` and `for`"},
    {"switch", "use `if .. { } else if .. { }`"},
    {"case", "use `if .. { } else if .. { }`"},
    {"elif", "write `else if`"},
    {"elsif", "write `else if`"},
    {"elseif", "write `else if`"},
    {"then", "a body stands in braces: `if cond { .. }`"},
    {"struct", "there are scalars, tiles and barriers only"},
    {"typedef", "an element type can be a kernel's parameter: `kernel k<T = bf16>(..)`"},
    {"include", "write `import std.tiles;`"},
    {"using", "write `import std.tiles;`"},
    {"from", "write `import std.tiles;`"},
    {"def", "write `fn name(params) { .. }` or `kernel name(params) { .. }`"},
    {"func", "write `fn`"},
    {"function", "write `fn`"},
    {"void", "write `fn name(params) { .. }` or `kernel name(params) { .. }`"},
    {"__global__", "write `kernel name(params) { .. }`"},
    {"__device__", "write `fn name(params) { .. }`"},
    {"__shared__", "write `shared name: bf16[64, 64];`"},
    {"__syncthreads", "the compiler places synchronisation; barriers are `barrier b;`, `arrive b;`, `wait b;`"},
    {"syncthreads", "the compiler places synchronisation; barriers are `barrier b;`, `arrive b;`, `wait b;`"},
    {"sync", "the compiler places synchronisation; barriers are `barrier b;`, `arrive b;`, `wait b;`"},
    {"blockIdx", "which CTA it is say `cta.x`, `cta.y`, `cta.z`"},
    {"gridDim", "how many CTAs there are say `grid.x`, `grid.y`, `grid.z`"},
    {"blockDim", "a program says what a CTA does: what its threads move is dealt to them by `via threads`"},
    {"threadIdx", "a program says what a CTA does: what its threads move is dealt to them by `via threads`"},
    {"assert", "what each launch checks stands in the kernel's head: `where M >= 3`"},
    {"printf", "nothing is printed: `tilecc run` writes arguments to files, and with `--trace=t.json` a timeline"},
    {"print", "nothing is printed: `tilecc run` writes arguments to files, and with `--trace=t.json` a timeline"},
};

const char *foreign_fix(const char *word)
{
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (strcmp(word, foreign[i].word) == 0) return foreign[i].fix;
    return NULL;
}
