#include "ptxgen/c_interface.h"

#include <ctype.h>
#include <string.h>

#include "lang/names.h"

/* ---- names ---- */

/* Words that can't name a parameter in C or C++, or that are macros in headers that everybody includes; and the names that the
 * functions use themselves. */
static const char *const TAKEN[] = {
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch", "char", "char16_t", "char32_t",
    "char8_t", "class", "compl", "concept", "const", "const_cast", "consteval", "constexpr", "constinit", "continue", "co_await", "co_return",
    "co_yield", "decltype", "default", "delete", "do", "double", "dynamic_cast", "else", "enum", "explicit", "export", "extern", "false", "float",
    "for", "friend", "goto", "if", "inline", "int", "linux", "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr",
    "operator", "or", "or_eq", "private", "protected", "public", "register", "reinterpret_cast", "requires", "restrict", "return", "short",
    "signed", "sizeof", "static", "static_assert", "static_cast", "struct", "switch", "template", "this", "thread_local", "throw", "true", "try",
    "typedef", "typeid", "typename", "typeof", "union", "unix", "unsigned", "using", "virtual", "void", "volatile", "wchar_t", "while", "xor",
    "xor_eq", "NULL", "EOF", "BUFSIZ", "stdin", "stdout", "stderr", "errno", "assert", "RAND_MAX", "TMP_MAX",
    "FOPEN_MAX", "FILENAME_MAX", "MB_CUR_MAX", "L_tmpnam", "va_list", "va_start", "va_arg", "va_end", "va_copy", "module", "stream", "err", "args_", "status_",
};

/* How names begin that are libtile's or C's own, and macros of its headers, unless a _ ends them. */
static const char *const TAKEN_BEFORE[] = {"tile_", "TILE_", "extent", "INT", "UINT", "SIZE_", "PTRDIFF_", "WCHAR_", "SEEK_", "EXIT_"};

typedef struct NameSet {
    Arena *arena;
    VEC(const char *) names;
    const char *module; /* of parameters: what C takes is taken, and what begins with this */
} NameSet;

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

/* Types of C end in _t. */
static bool is_word(const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i < sizeof TAKEN / sizeof TAKEN[0]; i++)
        if (strcmp(TAKEN[i], name) == 0) return true;
    return n > 2 && strcmp(name + n - 2, "_t") == 0;
}

/* C's newer words begin with _ and a capital, predefined macros stand in two _ on each side. */
static bool is_reserved(const NameSet *s, const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; name[n - 1] != '_' && i < sizeof TAKEN_BEFORE / sizeof TAKEN_BEFORE[0]; i++)
        if (begins(name, TAKEN_BEFORE[i])) return true;
    if (name[0] == '_' && isupper((unsigned char)name[1]) && name[n - 1] != '_') return true;
    if (n > 4 && begins(name, "__") && strcmp(name + n - 2, "__") == 0 && name[n - 3] != '_') return true;
    return begins(name, s->module) && name[strlen(s->module)] == '_' && name[n - 1] != '_';
}

static bool is_taken(const NameSet *s, const char *name)
{
    if (is_word(name) || (s->module && is_reserved(s, name))) return true;
    for (uint32_t i = 0; i < s->names.n; i++)
        if (strcmp(s->names.v[i], name) == 0) return true;
    return false;
}

/* `name`, with so many _ behind it that nothing else is called that. */
static const char *new_name(NameSet *s, const char *name)
{
    char *own = arena_strdup(s->arena, name, strlen(name));
    for (char *p = own; *p; p++)
        if (!isalnum((unsigned char)*p) && *p != '_') *p = '_';
    while (is_taken(s, own)) own = arena_printf(s->arena, "%s_", own);
    vec_push(s->arena, &s->names, own);
    return own;
}

/* ---- what a function takes ---- */

typedef struct CTensor {
    const MfTensor *mf;
    const char *name, *strides; /* NULL: must be contiguous */
} CTensor;
typedef struct CParam { /* in the order of the function's parameters, strides left out */
    const CTensor *tensor;
    const MfScalar *scalar;
    const char *name; /* of a size or a scalar */
} CParam;
typedef struct CKernel {
    const MfKernel *mf;
    const char *name, *strided; /* of the functions; NULL: no tensor has a `stride` clause */
    const char **syms;          /* names of the symbols that are parameters; else NULL */
    CTensor *tensors;
    VEC(CParam) params;
} CKernel;

static void take_sizes(const CInterface *c, CKernel *k, NameSet *s, Lx x)
{
    const LxNode *n = x ? &k->mf->lx.nodes.v[x - 1] : NULL;
    if (!n || n->op == LX_CONST) return;
    if (n->op != LX_SYM) {
        take_sizes(c, k, s, n->a);
        take_sizes(c, k, s, n->b);
    } else if (!k->syms[n->k]) {
        k->syms[n->k] = new_name(s, k->mf->syms.v[n->k].name);
        vec_push(c->arena, &k->params, ((CParam){.name = k->syms[n->k]}));
    }
}

static CKernel kernel_of(const CInterface *c, const MfKernel *mf, NameSet *functions)
{
    CKernel k = {.mf = mf};
    NameSet s = {.arena = c->arena, .module = c->name};
    k.name = new_name(functions, arena_printf(c->arena, "%s_%s", c->name, mf->name));
    k.syms = arena_array(c->arena, const char *, mf->syms.n);
    k.tensors = arena_array(c->arena, CTensor, mf->tensors.n);
    for (uint32_t i = 0; i < mf->args.n; i++) { /* what the program names keeps its name */
        uint32_t index = mf->args.v[i].index;
        if (mf->args.v[i].is_scalar) k.syms[mf->scalars.v[index].sym] = new_name(&s, mf->scalars.v[index].name);
        else k.tensors[index] = (CTensor){&mf->tensors.v[index], new_name(&s, mf->tensors.v[index].name), NULL};
    }
    for (uint32_t i = 0; i < mf->args.n; i++) {
        uint32_t index = mf->args.v[i].index;
        if (mf->args.v[i].is_scalar) {
            const MfScalar *scalar = &mf->scalars.v[index];
            vec_push(c->arena, &k.params, ((CParam){.scalar = scalar, .name = k.syms[scalar->sym]}));
            continue;
        }
        CTensor *t = &k.tensors[index];
        vec_push(c->arena, &k.params, ((CParam){.tensor = t}));
        for (int d = 0; d < t->mf->rank; d++) take_sizes(c, &k, &s, t->mf->extent[d]);
    }
    bool strided = false;
    for (uint32_t i = 0; i < mf->tensors.n; i++) {
        if (!mf->tensors.v[i].strided) continue;
        k.tensors[i].strides = new_name(&s, arena_printf(c->arena, "%s_strides", mf->tensors.v[i].name));
        strided = true;
    }
    if (strided) k.strided = new_name(functions, arena_printf(c->arena, "%s_strided", k.name));
    return k;
}

static CKernel *kernels_of(const CInterface *c)
{
    const Manifest *m = &c->manifests[0];
    NameSet functions = {.arena = c->arena};
    new_name(&functions, arena_printf(c->arena, "%s_open", c->name));
    new_name(&functions, arena_printf(c->arena, "%s_close", c->name));
    new_name(&functions, arena_printf(c->arena, "%s_module", c->name));
    CKernel *all = arena_array(c->arena, CKernel, m->kernels.n);
    for (uint32_t i = 0; i < m->kernels.n; i++) all[i] = kernel_of(c, &m->kernels.v[i], &functions);
    return all;
}

/* What a caller of C sees of a kernel: targets must agree on it. */
static void print_signature(const CInterface *c, const MfKernel *mf, Text *t)
{
    const char **names = arena_array(c->arena, const char *, mf->syms.n);
    for (uint32_t i = 0; i < mf->syms.n; i++) names[i] = mf->syms.v[i].name;
    text_str(t, mf->name);
    for (uint32_t i = 0; i < mf->args.n; i++) {
        uint32_t index = mf->args.v[i].index;
        if (mf->args.v[i].is_scalar) {
            text_printf(t, "; %s %s", mf->scalars.v[index].name, elem_info((ElemType)mf->scalars.v[index].type)->name);
            continue;
        }
        const MfTensor *p = &mf->tensors.v[index];
        text_printf(t, "; %s %s %d%d%d", p->name, elem_info((ElemType)p->type)->name, p->strided, p->read, p->written);
        for (int d = 0; d < p->rank; d++) {
            text_str(t, ", ");
            lx_print(t, &mf->lx, p->extent[d], names);
        }
    }
}

const char *c_interface_differs(const CInterface *c)
{
    const Manifest *m = &c->manifests[0];
    Text a, b;
    text_init(&a, c->arena->mem);
    text_init(&b, c->arena->mem);
    const char *wrong = NULL;
    for (size_t i = 1; i < c->nimages && !wrong; i++) {
        const Manifest *o = &c->manifests[i];
        if (o->kernels.n != m->kernels.n)
            wrong = arena_printf(c->arena, "%s has other kernels for %s than for %s", m->source, o->target, m->target);
        for (uint32_t k = 0; k < m->kernels.n && !wrong; k++) {
            text_clear(&a);
            text_clear(&b);
            print_signature(c, &m->kernels.v[k], &a);
            print_signature(c, &o->kernels.v[k], &b);
            if (strcmp(a.s, b.s) != 0)
                wrong = arena_printf(c->arena, "kernel `%s` has other parameters for %s than for %s", m->kernels.v[k].name, o->target, m->target);
        }
    }
    text_free(&a);
    text_free(&b);
    return wrong;
}

/* ---- text ---- */

/* Standard C's type of an element; NULL: it has none. */
static const char *c_type(unsigned type)
{
    const ElemInfo *e = elem_info((ElemType)type);
    static const char *const UINTS[] = {"uint8_t", "uint16_t", "uint32_t", "uint64_t"};
    static const char *const SINTS[] = {"int8_t", "int16_t", "int32_t", "int64_t"};
    int size = e->global_bits == 64 ? 3 : e->global_bits == 32 ? 2 : e->global_bits == 16 ? 1 : 0;
    if (e->kind == ELEM_UINT) return UINTS[size];
    if (e->kind == ELEM_SINT) return SINTS[size];
    if (e->kind == ELEM_FLOAT && size >= 2) return size == 3 ? "double" : "float";
    return NULL;
}

static const char *tile_type_id(unsigned type)
{
    static const char *const IDS[] = {
#define TYPE(id, ...) "TILE_" #id,
#include "lang/types.def"
#undef TYPE
    };
    return IDS[type];
}

/* A text of the program's inside a comment. */
static void comment_text(Text *t, const char *s)
{
    for (; *s; s++) {
        text_char(t, *s == '\n' ? ' ' : *s);
        if ((s[0] == '*' && s[1] == '/') || (s[0] == '/' && s[1] == '*')) text_char(t, ' ');
    }
}

static void print_params(const CInterface *c, const CKernel *k, bool strided, Text *t)
{
    text_printf(t, "(%s_module *module, void *stream", c->name);
    for (uint32_t i = 0; i < k->params.n; i++) {
        const CParam *p = &k->params.v[i];
        if (p->tensor) {
            const char *type = c_type(p->tensor->mf->type);
            text_printf(t, ", %s%s *%s", p->tensor->mf->written ? "" : "const ", type ? type : "void", p->tensor->name);
        } else {
            text_printf(t, ", %s %s", p->scalar ? c_type(p->scalar->type) : "int64_t", p->name);
        }
        /* Behind the sizes of the tensor. */
        const CParam *next = i + 1 < k->params.n ? p + 1 : NULL;
        if (!strided || (next && !next->tensor && !next->scalar)) continue;
        const CParam *of = p;
        while (of > k->params.v && !of->tensor && !of->scalar) of--;
        if (of->tensor && of->tensor->strides) text_printf(t, ", const int64_t *%s", of->tensor->strides);
    }
    text_str(t, ", tile_error *err)");
}

static void print_extents(const CKernel *k, const MfTensor *p, Text *t)
{
    text_char(t, '[');
    for (int d = 0; d < p->rank; d++) {
        if (d) text_str(t, ", ");
        lx_print(t, &k->mf->lx, p->extent[d], k->syms);
    }
    text_char(t, ']');
}

/* Bytes that the address is a multiple of: what the kernel relies on, and what a map over it takes (maps/rules.h). */
static unsigned alignment_of(const MfKernel *mf, const MfTensor *p)
{
    unsigned align = p->align;
    for (uint32_t i = 0; i < mf->maps.n; i++) {
        const MfMap *m = &mf->maps.v[i];
        unsigned least = (unsigned)map_global_align(m->type, m->interleave);
        int64_t offset;
        if (&mf->tensors.v[m->tensor] == p && lx_is_const(&mf->lx, m->offset, &offset) && offset % least == 0 && align < least) align = least;
    }
    return align;
}

static void describe_tensor(const CKernel *k, const CTensor *t, Text *out)
{
    const MfTensor *p = t->mf;
    const char *name = elem_info((ElemType)p->type)->name;
    text_printf(out, " *   %s: ", t->name);
    print_extents(k, p, out);
    text_printf(out, " of %s, %s", name, !p->written ? "read" : p->read ? "read and written" : "written");
    if (alignment_of(k->mf, p) > 1) text_printf(out, "; at a multiple of %u bytes", alignment_of(k->mf, p));
    text_str(out, "\n");
}

/* Once for each text. */
static void refused_unless(Names *said, const char *text, Text *out)
{
    uint32_t before = names_count(said);
    if (names_intern(said, text, strlen(text)) <= before) return;
    text_str(out, before ? " *   " : " * Refused by TILE_ERROR_CHECK unless\n *   ");
    comment_text(out, text);
    text_str(out, "\n");
}

/* What the driver wants of rows, as far as sizes decide it (maps/rules.h). */
static void describe_pitches(const CInterface *c, const CKernel *k, const MfMap *m, Names *said, Text *out)
{
    const MfKernel *mf = k->mf;
    const char **names = arena_array(c->arena, const char *, mf->syms.n);
    memcpy(names, k->syms, mf->syms.n * sizeof *names);
    for (uint32_t i = 0; i < mf->tensors.n; i++)
        for (int d = 0; k->tensors[i].strides && d < mf->tensors.v[i].rank; d++) {
            const LxNode *n = &mf->lx.nodes.v[mf->tensors.v[i].stride[d] - 1];
            if (n->op == LX_SYM && !names[n->k]) names[n->k] = arena_printf(c->arena, "%s[%d]", k->tensors[i].strides, d);
        }
    for (uint32_t i = 0; i < mf->syms.n; i++)
        if (!names[i]) names[i] = mf->syms.v[i].name; /* only part of a stride */
    for (int d = 0; d + 1 < m->rank; d++) {
        int64_t bytes;
        if (m->pitch[d] == 0 || lx_is_const(&mf->lx, m->pitch[d], &bytes)) continue;
        Text t;
        text_in(&t, c->arena);
        lx_print(&t, &mf->lx, m->pitch[d], names);
        text_printf(&t, " is a multiple of %d", map_global_align(m->type, m->interleave));
        refused_unless(said, text_end(&t), out);
    }
}

static void describe(const CInterface *c, const CKernel *k, Text *out)
{
    static const char *const FACTS[] = {[TRUST_DISTINCT] = "no two elements are equal", [TRUST_SORTED] = "no element is less than the one before"};
    const MfKernel *mf = k->mf;
    text_printf(out, "\n/* Kernel `%s`.\n", mf->name);
    bool sizes = false;
    for (uint32_t i = 0; i < k->params.n; i++) {
        const CParam *p = &k->params.v[i];
        if (p->tensor) describe_tensor(k, p->tensor, out);
        else if (p->scalar) text_printf(out, " *   %s: %s\n", p->name, elem_info((ElemType)p->scalar->type)->name);
        else sizes = true;
    }
    if (sizes) {
        text_str(out, " * Sizes in elements:");
        for (uint32_t i = 0; i < k->params.n; i++)
            if (!k->params.v[i].tensor && !k->params.v[i].scalar) text_printf(out, " %s", k->params.v[i].name);
        text_str(out, "\n");
    }
    Names *said = names_new(c->arena);
    for (uint32_t i = 0; i < mf->checks.n; i++) refused_unless(said, mf->checks.v[i].text, out);
    for (uint32_t i = 0; i < mf->maps.n; i++) describe_pitches(c, k, &mf->maps.v[i], said, out);
    for (uint32_t i = 0; i < mf->trusts.n; i++)
        text_printf(out, " * Not checked, and must hold: of `%s`, %s.\n", k->tensors[mf->trusts.v[i].tensor].name, FACTS[mf->trusts.v[i].fact]);
    if (k->strided)
        text_printf(out, " * `%s` takes strides in elements, outermost first, one per dimension; NULL: without gaps, which is all that `%s` takes.\n",
                    k->strided, k->name);
    text_str(out, " */\n");
}

static void list_targets(const CInterface *c, Text *out)
{
    for (size_t i = 0; i < c->nimages; i++) {
        bool again = false;
        for (size_t j = 0; j < i && !again; j++) again = strcmp(c->manifests[j].target, c->manifests[i].target) == 0;
        if (!again) text_printf(out, "%s%s", i ? ", " : "", c->manifests[i].target);
    }
}

static void print_title(const CInterface *c, const char *suffix, Text *out)
{
    text_printf(out, "/* %s.%s - the kernels of ", c->file, suffix);
    comment_text(out, c->manifests[0].source);
    text_str(out, " for ");
    list_targets(c, out);
    text_printf(out, ", made by %s; changes are lost when it is made again.\n", c->manifests[0].compiler);
}

static void print_open(const CInterface *c, Text *out)
{
    text_printf(out, "tile_status %s_open(%s, %s_module **out, tile_error *err)", c->name, c->driver ? "int device" : "tile_device *device",
                c->name);
}

/* What a header needs of tile.h that can't include it; the same text, which ../tests/cli/emit_c_test.sh makes sure of. */
static const char STATUS[] =
    "\n#ifndef TILE_STATUS /* tile.h has the same two types */\n"
    "#define TILE_STATUS\n"
    "typedef enum tile_status {\n"
    "    TILE_OK = 0,\n"
    "    TILE_ERROR_ARGUMENT,\n"
    "    TILE_ERROR_CHECK,\n"
    "    TILE_ERROR_MODULE,\n"
    "    TILE_ERROR_SOURCE,\n"
    "    TILE_ERROR_NO_DEVICE,\n"
    "    TILE_ERROR_DRIVER,\n"
    "    TILE_ERROR_MEMORY,\n"
    "    TILE_ERROR_UNSUPPORTED,\n"
    "    TILE_ERROR_KERNEL\n"
    "} tile_status;\n"
    "typedef struct tile_error {\n"
    "    tile_status status;\n"
    "    char text[4096];\n"
    "} tile_error;\n"
    "#endif\n";

void c_interface_header(const CInterface *c, Text *out)
{
    const CKernel *kernels = kernels_of(c);
    uint32_t n = c->manifests[0].kernels.n;
    print_title(c, "h", out);
    text_printf(out,
                " *\n"
                " * %s\n"
                " *\n"
                " * `stream`: a CUstream or cudaStream_t, NULL for the default stream. A launch is asynchronous; the order of parameters is that of the\n"
                " * kernel, with each size behind the first tensor that has it. Tensors are addresses in the device's memory, outermost dimension first,\n"
                " * without gaps; the memory stays the caller's and must live until the launch has finished. A tensor with an extent 0 may be NULL.\n"
                " * `void` stands for elements that C has no type for: f16, bf16, 8-bit floats, packed ones. Addresses that are numbers, as those of\n"
                " * tile_alloc() or a CUdeviceptr, are cast: `(float *)(uintptr_t)x`.\n"
                " *\n"
                " * Every function that can fail returns TILE_OK or a code, and says in *err, which may be NULL, what was wrong, a line for each thing;\n"
                " * nothing was launched then. TILE_ERROR_CHECK: sizes, strides or addresses that the kernel can't take; TILE_ERROR_ARGUMENT: a negative\n"
                " * size; TILE_ERROR_MODULE: no target fits the device; TILE_ERROR_DRIVER: what the driver said.\n"
                " *\n"
                " * A %s_module is used by one thread at a time: open one for each.%s\n"
                " */\n"
                "#if defined %s_KERNELS_H && %s_KERNELS_H != 0x%08xu\n"
                "#error \"another %s.h was included before, of other kernels: make one of the two by another name, tilecc --emit=c -o NAME\"\n"
                "#endif\n"
                "#ifndef %s_KERNELS_H\n#define %s_KERNELS_H 0x%08xu\n\n#include <stdint.h>\n",
                c->driver ? arena_printf(c->arena, "Nothing but the CUDA driver is needed, which is loaded by %s_open: link with -ldl where the C library asks for it.", c->name)
                          : "Link with libtile (CMake: tilecc::tile; pkg-config tile).",
                c->name, c->driver ? "" : " It is closed before its device is.", c->name, c->name, c->hash, c->file, c->name, c->name, c->hash);
    text_str(out, c->driver ? STATUS : "\n#include \"tile.h\"\n");
    text_str(out, "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    text_printf(out, "typedef struct %s_module %s_module;\n", c->name, c->name);
    text_str(out, c->driver ? "/* device: its number; -1: that of the thread's current context, whose memory the tensors are in, else the first. */\n"
                            : "/* Loads what fits the device, and the simulator takes PTX. *out is NULL after an error. */\n");
    print_open(c, out);
    text_printf(out, ";\nvoid %s_close(%s_module *module); /* NULL: nothing. Launches have finished */\n", c->name, c->name);
    for (uint32_t i = 0; i < n; i++) {
        describe(c, &kernels[i], out);
        text_printf(out, "tile_status %s", kernels[i].name);
        print_params(c, &kernels[i], false, out);
        text_str(out, ";\n");
        if (!kernels[i].strided) continue;
        text_printf(out, "tile_status %s", kernels[i].strided);
        print_params(c, &kernels[i], true, out);
        text_str(out, ";\n");
    }
    text_str(out, "\n#ifdef __cplusplus\n}\n#endif\n#endif\n");
}

/* ---- the source ---- */

/* What an operation of a launch expression is in C, for all operands: what has no value is 0, and libtile refuses the launch. */
static const char *const LX_TEXTS[LX_OP_COUNT] = {
    [LX_ADD] = "(int64_t)((uint64_t)a + (uint64_t)b)",
    [LX_SUB] = "(int64_t)((uint64_t)a - (uint64_t)b)",
    [LX_MUL] = "(int64_t)((uint64_t)a * (uint64_t)b)",
    [LX_DIV] = "b == 0 || b == -1 ? 0 : a / b - (a % b != 0 && (a < 0) != (b < 0))",
    [LX_MOD] = "b == 0 || b == -1 ? 0 : a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0)",
    [LX_CEIL] = "b == 0 || b == -1 ? 0 : a / b + (a % b != 0 && (a < 0) == (b < 0))",
    [LX_MIN] = "a < b ? a : b",
    [LX_MAX] = "a > b ? a : b",
    [LX_SHL] = "b < 0 || b > 63 ? 0 : (int64_t)((uint64_t)a << b)",
    [LX_SHR] = "b < 0 || b > 63 ? 0 : a >> b",
    [LX_AND] = "a & b",
    [LX_OR] = "a | b",
    [LX_XOR] = "a ^ b",
    [LX_EQ] = "a == b",
    [LX_NE] = "a != b",
    [LX_LT] = "a < b",
    [LX_LE] = "a <= b",
    [LX_LAND] = "a && b",
    [LX_LOR] = "a || b",
    [LX_NOT] = "(void)b, !a",
};
/* What the text has outside of functions has no _ in it: functions of kernels have. */
static const char *const LX_NAMES[LX_OP_COUNT] = {
    [LX_ADD] = "add", [LX_SUB] = "sub", [LX_MUL] = "mul", [LX_DIV] = "div", [LX_MOD] = "mod", [LX_CEIL] = "ceil", [LX_MIN] = "min",
    [LX_MAX] = "max", [LX_SHL] = "shl", [LX_SHR] = "shr", [LX_AND] = "and", [LX_OR] = "or",   [LX_XOR] = "xor",   [LX_EQ] = "eq",
    [LX_NE] = "ne",   [LX_LT] = "lt",   [LX_LE] = "le",   [LX_LAND] = "land", [LX_LOR] = "lor", [LX_NOT] = "not",
};

static void mark_ops(const LxPool *p, Lx x, bool used[LX_OP_COUNT])
{
    const LxNode *n = x ? &p->nodes.v[x - 1] : NULL;
    if (!n || n->op == LX_CONST || n->op == LX_SYM) return;
    used[n->op] = true;
    mark_ops(p, n->a, used);
    mark_ops(p, n->b, used);
}

static void print_value(const CKernel *k, Lx x, Text *out)
{
    const LxNode *n = &k->mf->lx.nodes.v[x - 1];
    if (n->op == LX_CONST) {
        if (n->k == INT64_MIN) text_str(out, "INT64_MIN");
        else text_printf(out, "INT64_C(%lld)", (long long)n->k);
    } else if (n->op == LX_SYM) {
        text_str(out, k->syms[n->k]);
    } else {
        text_printf(out, "extent%s(", LX_NAMES[n->op]);
        print_value(k, n->a, out);
        text_str(out, ", ");
        if (n->b) print_value(k, n->b, out);
        else text_char(out, '0');
        text_char(out, ')');
    }
}

static void print_images(const CInterface *c, Text *out)
{
    for (size_t i = 0; i < c->nimages; i++) {
        const unsigned char *bytes = c->images[i].data;
        text_printf(out, "\nstatic const unsigned char tileimage%zu[] = {", i);
        for (size_t k = 0; k < c->images[i].size; k++) {
            if (k % 32 == 0) text_str(out, "\n    ");
            text_uint(out, bytes[k]);
            text_char(out, ',');
        }
        text_str(out, "\n};\n");
    }
    text_str(out, "\nstatic const struct {\n    const unsigned char *bytes;\n    size_t size;\n    const char *target;\n    int is_ptx;\n} IMAGES[] = {\n");
    for (size_t i = 0; i < c->nimages; i++) {
        bool elf = c->images[i].size > 4 && memcmp(c->images[i].data, "\177ELF", 4) == 0;
        text_printf(out, "    {tileimage%zu, sizeof tileimage%zu, \"%s\", %d},\n", i, i, c->manifests[i].target, !elf);
    }
    text_str(out, "};\n");
}

/* Opening and closing: they are the same for all modules but for names. */
static const char LOAD[] =
    "\n/* The images for the device's own target first; cubins before PTX. An image that the device refuses leaves the rest to be tried. */\n"
    "static tile_status tileload(tile_device *device, tile_module **out, tile_error *err)\n"
    "{\n"
    "    const size_t n = sizeof IMAGES / sizeof IMAGES[0];\n"
    "    const char *arch = tile_device_arch(device);\n"
    "    tile_status status = TILE_ERROR_MODULE;\n"
    "    if (err) snprintf(err->text, sizeof err->text, \"there is no PTX, and the simulator takes nothing else\");\n"
    "    if (err) err->status = status;\n"
    "    *out = NULL;\n"
    "    for (size_t k = 0; k < 2 * n; k++) {\n"
    "        const size_t i = k % n;\n"
    "        const int own = arch && strcmp(IMAGES[i].target, arch) == 0;\n"
    "        if (own != (k < n) || (tile_device_simulates(device) && !IMAGES[i].is_ptx)) continue;\n"
    "        status = tile_module_load(device, IMAGES[i].bytes, IMAGES[i].size, out, err);\n"
    "        if (status != TILE_ERROR_MODULE) return status;\n"
    "    }\n"
    "    return status;\n"
    "}\n";

static void print_module(const CInterface *c, const CKernel *kernels, Text *out)
{
    uint32_t n = c->manifests[0].kernels.n;
    const char *m = c->name;
    text_str(out, LOAD);
    text_printf(out, "\nstruct %s_module {\n", m);
    if (c->driver) text_str(out, "    tile_device *device;\n");
    text_printf(out, "    tile_module *module;\n    tile_args *args[%u];\n};\n", n);
    text_str(out, "\nstatic const char *const KERNELS[] = {\n");
    for (uint32_t i = 0; i < n; i++) text_printf(out, "    \"%s\",\n", kernels[i].mf->name);
    text_str(out, "};\n\n");
    text_printf(out, "void %s_close(%s_module *module)\n{\n    if (!module) return;\n", m, m);
    text_printf(out, "    for (size_t i = 0; i < %u; i++) tile_args_free(module->args[i]);\n    tile_module_free(module->module);\n", n);
    text_printf(out, "%s    free(module);\n}\n\n", c->driver ? "    tile_device_close(module->device);\n" : "");
    print_open(c, out);
    text_str(out, "\n{\n    if (!out) {\n"
                  "        if (err) snprintf(err->text, sizeof err->text, \"out is NULL\");\n"
                  "        if (err) err->status = TILE_ERROR_ARGUMENT;\n"
                  "        return TILE_ERROR_ARGUMENT;\n    }\n    *out = NULL;\n");
    text_printf(out, "    %s_module *module = (%s_module *)calloc(1, sizeof *module);\n", m, m);
    text_str(out, "    if (!module) {\n"
                  "        if (err) snprintf(err->text, sizeof err->text, \"out of memory\");\n"
                  "        if (err) err->status = TILE_ERROR_MEMORY;\n"
                  "        return TILE_ERROR_MEMORY;\n    }\n");
    if (c->driver)
        text_str(out, "    char name[32];\n    snprintf(name, sizeof name, device < 0 ? \"cuda\" : \"cuda:%d\", device);\n"
                      "    tile_status status = tile_device_open(name, &module->device, err);\n"
                      "    if (status == TILE_OK) status = tileload(module->device, &module->module, err);\n");
    else text_str(out, "    tile_status status = tileload(device, &module->module, err);\n");
    text_printf(out, "    for (size_t i = 0; i < %u && status == TILE_OK; i++)\n"
                     "        status = tile_args_new(tile_kernel_find(module->module, KERNELS[i]), &module->args[i], err);\n", n);
    text_printf(out, "    if (status == TILE_OK) *out = module;\n    else %s_close(module);\n    return status;\n}\n", m);
}

static void print_body(const CKernel *k, uint32_t number, Text *out)
{
    const MfKernel *mf = k->mf;
    for (uint32_t i = 0; i < mf->tensors.n; i++) {
        text_printf(out, "    const int64_t extents_%u[] = {", i);
        for (int d = 0; d < mf->tensors.v[i].rank; d++) {
            if (d) text_str(out, ", ");
            print_value(k, mf->tensors.v[i].extent[d], out);
        }
        text_str(out, "};\n");
    }
    text_printf(out, "    tile_args *args_ = module ? module->args[%u] : NULL;\n    tile_status status_ = TILE_OK;\n", number);
    for (uint32_t i = 0; i < mf->args.n; i++) {
        uint32_t index = mf->args.v[i].index;
        text_str(out, "    if (status_ == TILE_OK) status_ = ");
        if (mf->args.v[i].is_scalar) {
            const MfScalar *s = &mf->scalars.v[index];
            text_printf(out, "tile_bind_scalar(args_, \"%s\", (int64_t)%s, err);\n", s->name, k->syms[s->sym]);
            continue;
        }
        const CTensor *t = &k->tensors[index];
        text_printf(out, "tile_bind(args_, \"%s\", (uint64_t)(uintptr_t)%s, 0, %s, %d, extents_%u, %s, err);\n", t->mf->name, t->name,
                    tile_type_id(t->mf->type), t->mf->rank, index, t->strides ? t->strides : "NULL");
    }
    text_str(out, "    return status_ == TILE_OK ? tile_launch(args_, stream, err) : status_;\n}\n");
}

static void print_plain_call(const CKernel *k, Text *out)
{
    text_printf(out, "    return %s(module, stream", k->strided);
    for (uint32_t i = 0; i < k->params.n; i++) {
        const CParam *p = &k->params.v[i];
        text_printf(out, ", %s", p->tensor ? p->tensor->name : p->name);
        const CParam *next = i + 1 < k->params.n ? p + 1 : NULL;
        if (next && !next->tensor && !next->scalar) continue;
        while (p > k->params.v && !p->tensor && !p->scalar) p--;
        if (p->tensor && p->tensor->strides) text_str(out, ", NULL");
    }
    text_str(out, ", err);\n}\n");
}

void c_interface_source(const CInterface *c, Text *out)
{
    const CKernel *kernels = kernels_of(c);
    uint32_t n = c->manifests[0].kernels.n;
    bool used[LX_OP_COUNT] = {false};
    print_title(c, "c", out);
    text_printf(out, " * What it does stands in %s.h. */\n#include \"%s.h\"\n\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n", c->file, c->file);
    if (!c->driver) /* of C++ only */
        text_str(out, "\n#if defined(__cplusplus) && defined(__GNUC__)\n#pragma GCC diagnostic ignored \"-Wold-style-cast\" /* it is C, too */\n#endif\n");
    print_images(c, out);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t t = 0; t < kernels[i].mf->tensors.n; t++)
            for (int d = 0; d < kernels[i].mf->tensors.v[t].rank; d++)
                mark_ops(&kernels[i].mf->lx, kernels[i].mf->tensors.v[t].extent[d], used);
    for (int op = 0; op < LX_OP_COUNT; op++)
        if (used[op]) text_printf(out, "\nstatic int64_t extent%s(int64_t a, int64_t b)\n{\n    return %s;\n}\n", LX_NAMES[op], LX_TEXTS[op]);
    print_module(c, kernels, out);
    for (uint32_t i = 0; i < n; i++) {
        const CKernel *k = &kernels[i];
        text_printf(out, "\ntile_status %s", k->strided ? k->strided : k->name);
        print_params(c, k, k->strided != NULL, out);
        text_str(out, "\n{\n");
        print_body(k, i, out);
        if (!k->strided) continue;
        text_printf(out, "\ntile_status %s", k->name);
        print_params(c, k, false, out);
        text_str(out, "\n{\n");
        print_plain_call(k, out);
    }
}
