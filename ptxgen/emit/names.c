#include <string.h>

#include "ptxgen/emit/emit.h"

/* Words that a kernel may not be called: those with a meaning of their own in PTX (PTX ISA, "Identifiers" and
 * "Reserved Instruction Keywords", "Constants"), and the symbols of the module. Sorted. */
/* clang-format off */
static const char *const RESERVED[] = {
    "WARP_SZ", "abs", "activemask", "add", "addc", "address_size", "alias", "align", "alloca", "and", "applypriority",
    "atom", "bar", "barrier", "bfe", "bfi", "bfind", "bmsk", "bra", "branchtargets", "brev", "brkpt", "brx", "call",
    "callprototype", "calltargets", "clusterlaunchcontrol", "clz", "cnot", "const", "copysign", "cos", "cp",
    "createpolicy", "cvt", "cvta", "discard", "div", "dp2a", "dp4a", "elect", "entry", "ex2", "exit", "extern", "fence",
    "file", "fma", "fns", "func", "getctarank", "global", "griddepcontrol", "isspacep", "istypep", "ld", "ldmatrix",
    "ldu", "lg2", "loc", "local", "lop3", "mad", "mad24", "madc", "mapa", "match", "max", "maxnreg", "maxntid",
    "mbarrier", "membar", "min", "minnctapersm", "mma", "mov", "movmatrix", "mul", "mul24", "multimem", "nanosleep",
    "neg", "not", "or", "param", "pmevent", "popc", "pragma", "prefetch", "prefetchu", "prmt", "rcp", "red", "redux",
    "reg", "rem", "reqnctapercluster", "reqntid", "ret", "rsqrt", "sad", "section", "selp", "set", "setmaxnreg", "setp",
    "shared", "shf", "shfl", "shl", "shr", "sin", "slct", PTX_SMEM, "sqrt", "sreg", "st", "stackrestore", "stacksave",
    "stmatrix", "sub", "subc", "suld", "suq", "sured", "sust", "szext", "tanh", "target", "tcgen05", "tensormap",
    "testp", "tex", MANIFEST_SYMBOL, PTX_ZERO, "tld4", "trap", "txq", "vabsdiff", "vadd", "version", "visible", "vmad",
    "vmax", "vmin", "vote", "vset", "vshl", "vshr", "vsub", "weak", "wgmma", "wmma", "xor",
};
/* clang-format on */

static bool is_reserved(const char *s)
{
    if (strncmp(s, "param_", 6) == 0) return true; /* the kernels' parameters */
    size_t lo = 0, hi = sizeof RESERVED / sizeof RESERVED[0];
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        int c = strcmp(RESERVED[mid], s);
        if (c == 0) return true;
        if (c < 0) lo = mid + 1;
        else hi = mid;
    }
    return false;
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Bytes that PTX takes in no identifier become $ and two hex digits, which .tile has in none. */
static void spell(Text *t, const char *wanted)
{
    bool letter = (wanted[0] >= 'a' && wanted[0] <= 'z') || (wanted[0] >= 'A' && wanted[0] <= 'Z');
    if (!letter && !(wanted[0] == '_' && wanted[1] != 0)) text_char(t, '$'); /* a first _ needs something behind it */
    for (const char *s = wanted; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (is_plain(*s)) {
            text_char(t, *s);
            continue;
        }
        text_char(t, '$');
        text_char(t, "0123456789abcdef"[c >> 4]);
        text_char(t, "0123456789abcdef"[c & 15]);
    }
    if (t->n == 1 && t->s[0] == '$') text_char(t, '_'); /* so does a $ */
}

const char *ptx_entry(Text *t, Names *taken, const char *wanted)
{
    text_clear(t);
    spell(t, wanted ? wanted : "");
    if (is_reserved(t->s)) text_char(t, '$');
    size_t base = t->n;
    /* Names that are taken get the number of their kernel: $2, $3 .. */
    for (uint32_t i = names_count(taken) + 1; names_find(taken, t->s, t->n); i++) {
        t->n = base;
        text_char(t, '$');
        text_uint(t, i);
    }
    return names_text(taken, names_intern(taken, t->s, t->n));
}
