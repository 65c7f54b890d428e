#include <string.h>

#include "ptxgen/emit.h"

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
static char *spelt(Arena *a, const char *wanted, size_t room)
{
    char *s = arena_alloc(a, strlen(wanted) * 3 + room + 2), *p = s;
    bool letter = (wanted[0] >= 'a' && wanted[0] <= 'z') || (wanted[0] >= 'A' && wanted[0] <= 'Z');
    if (!letter && !(wanted[0] == '_' && wanted[1] != 0)) *p++ = '$'; /* a first _ needs something behind it */
    for (; *wanted; wanted++) {
        unsigned char c = (unsigned char)*wanted;
        if (is_plain(*wanted)) {
            *p++ = *wanted;
            continue;
        }
        *p++ = '$';
        *p++ = "0123456789abcdef"[c >> 4];
        *p++ = "0123456789abcdef"[c & 15];
    }
    if (p - s == 1 && s[0] == '$') *p++ = '_'; /* so does a $ */
    *p = 0;
    return s;
}

const char *ptx_entry(Arena *a, Names *taken, const char *wanted)
{
    enum { DIGITS = 12 };
    char *s = spelt(a, wanted ? wanted : "", DIGITS);
    size_t n = strlen(s);
    if (is_reserved(s)) s[n++] = '$', s[n] = 0;
    size_t base = n;
    /* Names that are taken get the number of their kernel: $2, $3 .. */
    for (uint32_t i = names_count(taken) + 1; names_find(taken, s, n); i++) {
        char digits[DIGITS];
        size_t k = 0;
        for (uint32_t v = i; v; v /= 10) digits[k++] = (char)('0' + v % 10);
        s[base] = '$';
        for (size_t d = 0; d < k; d++) s[base + 1 + d] = digits[k - 1 - d];
        n = base + 1 + k;
        s[n] = 0;
    }
    names_intern(taken, s, n);
    return s;
}
