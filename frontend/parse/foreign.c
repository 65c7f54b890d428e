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
    {"len", "an extent has a name in the type of its tensor: `M` of `x: global f32[M, N]`"},
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

static const char *const scalars[] = {"int",     "unsigned", "long",    "short",    "char",     "float",  "double",    "bool", "auto",
                                      "size_t",  "int32_t",  "int64_t", "uint32_t", "uint64_t", "static", "constexpr", NULL};
static const char *const copies[] = {"load", "store", "copy", "memcpy", "tma_load", "tma_store", "cp", NULL};

const char *foreign_fix(const char *word)
{
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (strcmp(word, foreign[i].word) == 0) return foreign[i].fix;
    return NULL;
}

static bool in_list(const char *word, const char *const *list)
{
    while (*list && strcmp(word, *list) != 0) list++;
    return *list != NULL;
}

bool foreign_type(const char *word)
{
    return in_list(word, scalars);
}

bool foreign_copy(const char *word)
{
    return in_list(word, copies);
}

/* Words may say the same of a value: what is divided by stands alone, and the code goes on behind it until the line ends. */
bool foreign_division(const char *comment)
{
    static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789.";
    const char *by = comment + 2 + strspn(comment + 2, " "), *behind = by + strspn(by, word);
    const char *end = comment + strcspn(comment, "\r\n");
    while (end[-1] == ' ') end--;
    behind += strspn(behind, " ");
    return behind > by && behind < end && strchr(";,)]{+-*/%", *behind) && strchr(";,)]{}", end[-1]);
}
