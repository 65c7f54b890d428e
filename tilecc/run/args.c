#include "tilecc/run/args.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tilecc/cli.h"
#include "tilecc/extent.h"

enum { POISON = 0xA5 }; /* what nothing has written shows */
enum { TYPES_MAX = 64 };

static const char LETTERS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";

int exit_code_of(tile_status s)
{
    switch (s) {
    case TILE_OK: return EXIT_OK;
    case TILE_ERROR_ARGUMENT:
    case TILE_ERROR_CHECK: return EXIT_USAGE;
    case TILE_ERROR_KERNEL:
    case TILE_ERROR_SOURCE: return EXIT_SOURCE;
    case TILE_ERROR_MODULE:
    case TILE_ERROR_NO_DEVICE:
    case TILE_ERROR_DRIVER:
    case TILE_ERROR_MEMORY:
    case TILE_ERROR_UNSUPPORTED: return EXIT_ENVIRONMENT;
    }
    return EXIT_INTERNAL;
}

static int failed(tile_status s, const tile_error *e)
{
    complain("%s", e->text);
    return exit_code_of(s);
}

/* ---- as typed ---- */

static bool is_number(const char *s)
{
    return s[0] >= '0' && s[0] <= '9';
}

/* "64", "M" or "ceil(M, 64) + 1", up to the comma or bracket behind it; from malloc, NULL if there is none. */
static char *take_extent(const char **at)
{
    const char *p = *at + strspn(*at, " "), *from = p;
    int depth = 0;
    for (; *p && *p != ']' && (*p != ',' || depth > 0); p++) depth += (*p == '(') - (*p == ')');
    *at = p;
    while (p > from && p[-1] == ' ') p--;
    return p > from && *from != '-' && **at ? copy_text(from, (size_t)(p - from)) : NULL;
}

static bool is_word(const char *s)
{
    return s[strspn(s, LETTERS)] == 0;
}

static int complain_extent(const RunArg *a)
{
    complain("%s: extents are numbers or sizes of the kernel, or what is worked out of them, as in %s=%s[M,64]:out.npy", a->text, a->name,
             tile_type_name(a->type));
    return EXIT_USAGE;
}

/* "bf16[M, 64]" with "~7" and ":out.npy" or nothing behind it. */
static int parse_typed(RunArg *a, const Program *program, const char *extents)
{
    const char *p = extents;
    do {
        p++; /* the bracket or comma */
        if (a->nextents == RUN_RANK) {
            complain("%s: a tensor has at most %d dimensions", a->text, RUN_RANK);
            return EXIT_USAGE;
        }
        a->extents[a->nextents] = take_extent(&p);
        if (!a->extents[a->nextents]) return complain_extent(a);
        const char *number = program_value(program, a->extents[a->nextents]);
        if (number && (is_number(number) || *number == '-')) {
            free(a->extents[a->nextents]);
            a->extents[a->nextents] = copy_text(number, strlen(number));
        }
        a->nextents++;
    } while (*p == ',');
    p++;
    if (*p == '~') {
        size_t n = strcspn(++p, ":");
        a->made = contents_parse(p, n, &a->contents);
        if (!a->made) {
            complain("%s: behind `~` stand the contents: a seed for any numbers (7), for whole numbers below 100 (7%%100), zeros, iota "
                     "or perm",
                     a->text);
            return EXIT_USAGE;
        }
        p += n;
    }
    if (*p == ':' && p[1]) {
        a->out = copy_text(p + 1, strlen(p + 1));
    } else if (*p) {
        complain("%s: after the extents come `~` and contents, or `:` and the output file", a->text);
        return EXIT_USAGE;
    }
    return EXIT_OK;
}

static void unknown_type(const char *text, const char *type)
{
    const char *names[TYPES_MAX];
    size_t n = 0;
    for (tile_type t; n < TYPES_MAX && tile_type_find(tile_type_name((tile_type)n), &t); n++) names[n] = tile_type_name(t);
    complain_word(type, names, n, "types are ", "%s: there is no type '%s'", text, type);
}

static int parse_one(RunArg *a, const Program *program, const char *text)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1]) {
        complain("'%s' is no argument: name=file.npy, name=type[extents]:out.npy, name=in.npy:out.npy or name=number",
                 text);
        return EXIT_USAGE;
    }
    *a = (RunArg){.text = text, .value = equals + 1, .name = copy_text(text, (size_t)(equals - text))};
    size_t word = strcspn(a->value, "[");
    if (a->value[word] == '[') {
        char *type = copy_text(a->value, word);
        const char *named = program_value(program, type); /* T of kernel copy<T = bf16> */
        a->typed = tile_type_find(named ? named : type, &a->type);
        if (a->typed) {
            free(type);
            return parse_typed(a, program, a->value + word);
        }
        bool meant = word && strspn(type, LETTERS) == word && strchr(a->value, ']'); /* a path may have brackets, too */
        if (meant && access(a->value, F_OK) != 0 && !strstr(a->value, ".npy")) {
            unknown_type(text, type);
            free(type);
            return EXIT_USAGE;
        }
        free(type);
    }
    const char *split = strstr(a->value, ".npy:");
    size_t in = split ? (size_t)(split - a->value) + 4 : strlen(a->value);
    a->in = copy_text(a->value, in);
    if (split && !split[5]) {
        complain("%s: the output file's name is missing behind `:`", text);
        return EXIT_USAGE;
    }
    if (split) a->out = copy_text(split + 5, strlen(split + 5));
    return EXIT_OK;
}

int run_args_parse(RunArgs *a, const Program *program, const char *const *texts, size_t n)
{
    *a = (RunArgs){.v = must_alloc(n * sizeof *a->v), .program = program};
    for (size_t i = 0; i < n; i++) {
        a->v[i] = (RunArg){0};
        int code = parse_one(&a->v[a->n++], program, texts[i]);
        if (code != EXIT_OK) return code;
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++) {
            if (strcmp(a->v[i].name, a->v[j].name) == 0) {
                complain("argument '%s' is given twice", a->v[i].name);
                return EXIT_USAGE;
            }
        }
    }
    return EXIT_OK;
}

/* ---- against the parameters ---- */

static int suit_scalar(RunArg *a)
{
    if (!a->typed && read_integer(a->value, strlen(a->value), &a->scalar)) return EXIT_OK;
    complain("%s: '%s' is a scalar (%s); it takes an integer of 64 bits", a->text, a->name, tile_type_name(a->param.type));
    return EXIT_USAGE;
}

static int suit_tensor(const RunArg *a, bool saved)
{
    const char *type = tile_type_name(a->param.type);
    const tile_param *p = &a->param;
    bool number = !a->typed && a->value[strspn(a->value, "+-.0123456789")] == 0 && access(a->value, F_OK) != 0;
    if (number)
        complain("%s: '%s' is a tensor (%s%s), not a number: %s=in.npy", a->text, a->name, type, p->extents, a->name);
    else if (a->out && !p->written && !a->made)
        complain("%s: the kernel does not write '%s', so there is no output: %s=in.npy", a->text, a->name, a->name);
    else if (!a->typed && p->written && !a->out && !saved)
        complain("%s: '%s' is written: %s=%s%s:out.npy makes a new one, %s=in.npy:out.npy starts from a file", a->text,
                 a->name, a->name, type, p->extents, a->name);
    else if (a->typed && a->type != p->type)
        complain("%s: '%s' has type %s in the kernel, not %s", a->text, a->name, type, tile_type_name(a->type));
    else if (a->typed && a->nextents != p->rank)
        complain("%s: '%s' has rank %d in the kernel: %s", a->text, a->name, p->rank, p->extents);
    else return EXIT_OK;
    return EXIT_USAGE;
}

/* In the extents of one of its tensors. */
static bool is_size(const tile_kernel *k, const char *name)
{
    size_t params = tile_param_count(k), n = strlen(name);
    for (size_t i = 0; i < params; i++) {
        tile_param p;
        tile_param_info(k, i, &p);
        for (const char *s = p.is_scalar ? "" : p.extents; *s; s += strspn(s, LETTERS)) {
            s += strcspn(s, LETTERS);
            if (strspn(s, LETTERS) == n && strncmp(s, name, n) == 0) return true;
        }
    }
    return false;
}

static int unknown_argument(const RunArg *a, const tile_kernel *k)
{
    if (is_size(k, a->name)) {
        complain("%s: '%s' is an extent of the tensors of '%s'; it takes a whole number, 0 or more", a->text, a->name, tile_kernel_name(k));
        return EXIT_USAGE;
    }
    size_t n = tile_param_count(k);
    const char **names = must_alloc((n + 1) * sizeof *names);
    tile_param p;
    for (size_t i = 0; i < n; i++) {
        tile_param_info(k, i, &p);
        names[i] = p.name;
    }
    complain_word(a->name, names, n, "it has ", "%s: kernel '%s' has no parameter '%s'", a->text, tile_kernel_name(k), a->name);
    free(names);
    return EXIT_USAGE;
}

/* Takes argument `i` out: its number stands for its name from now on. */
static void take_size(RunArgs *a, size_t i)
{
    RunArg size = a->v[i];
    memmove(&a->v[i], &a->v[i + 1], (a->n + a->sizes - i - 1) * sizeof *a->v);
    a->v[--a->n + a->sizes] = size;
    a->sizes++;
    for (size_t k = 0; k < a->n; k++) {
        for (int e = 0; e < a->v[k].nextents; e++) {
            char **extent = &a->v[k].extents[e];
            if (strcmp(*extent, size.name) != 0) continue;
            free(*extent);
            *extent = copy_text(size.value, strlen(size.value));
        }
    }
}

static void complain_missing(const tile_kernel *k, const tile_param *p)
{
    if (p->is_scalar)
        complain("argument '%s' of kernel '%s' is missing: %s=number (%s)", p->name, tile_kernel_name(k), p->name,
                 tile_type_name(p->type));
    else if (p->written)
        complain("argument '%s' of kernel '%s' is missing: %s=%s%s:out.npy", p->name, tile_kernel_name(k), p->name,
                 tile_type_name(p->type), p->extents);
    else
        complain("argument '%s' of kernel '%s' is missing: %s=in.npy (%s%s)", p->name, tile_kernel_name(k), p->name,
                 tile_type_name(p->type), p->extents);
}

int run_args_match(RunArgs *a, const tile_kernel *k, bool saved)
{
    size_t params = tile_param_count(k);
    int code = EXIT_OK;
    bool misnamed = false;
    for (size_t i = a->n; i-- > 0;) {
        RunArg *r = &a->v[i];
        bool number = !r->typed && read_integer(r->value, strlen(r->value), &r->scalar);
        for (size_t p = 0; p < params && number; p++) {
            tile_param_info(k, p, &r->param);
            number = strcmp(r->param.name, r->name) != 0;
        }
        if (number && r->scalar >= 0 && is_size(k, r->name)) take_size(a, i);
    }
    for (size_t i = 0; i < a->n; i++) {
        RunArg *r = &a->v[i];
        bool found = false;
        for (size_t p = 0; p < params && !found; p++) {
            tile_param_info(k, p, &r->param);
            found = strcmp(r->param.name, r->name) == 0;
        }
        int one = !found ? unknown_argument(r, k) : r->param.is_scalar ? suit_scalar(r) : suit_tensor(r, saved);
        if (one != EXIT_OK) code = one;
        misnamed |= !found;
    }
    for (size_t p = 0; p < params && !misnamed; p++) { /* what is missing may be what has the wrong name */
        tile_param info;
        bool given = false;
        tile_param_info(k, p, &info);
        for (size_t i = 0; i < a->n; i++) given |= strcmp(a->v[i].name, info.name) == 0;
        if (given) continue;
        complain_missing(k, &info);
        code = EXIT_USAGE;
    }
    return code;
}

void run_args_save(RunArgs *a, const char *folder)
{
    for (size_t i = 0; i < a->n; i++) {
        RunArg *r = &a->v[i];
        if (r->out || r->param.is_scalar || !r->param.written) continue;
        r->out = printed("%s/%s.npy", folder, r->name);
    }
}

/* ---- in memory ---- */

static int count_bytes(RunArg *a)
{
    uint64_t n = 1, bits = (uint64_t)tile_type_bits(a->param.type);
    for (int i = 0; i < a->param.rank; i++)
        if (a->shape[i] == 0) n = 0;
    for (int i = 0; n && i < a->param.rank; i++) {
        if ((uint64_t)a->shape[i] > (UINT64_C(1) << 56) / n) {
            complain("%s: the tensor is larger than memory can be", a->text);
            return EXIT_USAGE;
        }
        n *= (uint64_t)a->shape[i];
    }
    a->bytes = (size_t)((n * bits + 7) / 8);
    return EXIT_OK;
}

static int bind_memory(RunArg *a, tile_device *d, tile_args *args, const void *contents)
{
    tile_error e;
    tile_status s = tile_alloc(d, a->bytes, &a->address, &e);
    if (s != TILE_OK) return failed(s, &e);
    void *made = NULL;
    if (!contents && a->bytes) {
        bool zero = a->param.written && a->param.read;
        size_t elements = 1;
        for (int i = 0; i < a->param.rank; i++) elements *= (size_t)a->shape[i];
        contents = made = must_alloc(a->bytes);
        memset(made, zero ? 0 : POISON, a->bytes);
        if (a->made) contents_fill(&a->contents, a->param.type, made, elements, a->bytes);
        else if (zero)
            complain("'%s' starts at 0: the kernel adds to it, or reads it; %s=in.npy:%s starts from a file", a->name, a->name,
                     a->out ? a->out : "out.npy");
    }
    s = tile_write(d, a->address, contents, a->bytes, &e);
    free(made);
    if (s == TILE_OK)
        s = tile_bind(args, a->name, a->address, a->bytes, a->param.type, a->param.rank, a->shape, NULL, &e);
    return s == TILE_OK ? EXIT_OK : failed(s, &e);
}

/* Packed types have no array type in NumPy: their files count bytes in the innermost dimension. */
static bool is_packed(tile_type t)
{
    return tile_type_bits(t) % 8 != 0;
}

/* The file's array as the parameter's tensor. */
static int take_array(RunArg *a, const NpyArray *npy)
{
    const tile_param *p = &a->param;
    const char *want = tile_type_npy(p->type);
    bool foreign = p->type == TILE_BF16 || p->type == TILE_E4M3 || p->type == TILE_E5M2;
    if (!npy_dtype_fits(npy->descr, want, foreign)) {
        complain("%s: '%s' holds '%s', but '%s' is %s, which is '%s' in .npy files", a->text, a->in, npy->descr,
                 a->name, tile_type_name(p->type), want);
        return EXIT_USAGE;
    }
    if (npy->rank != p->rank) {
        complain("%s: '%s' has %d dimension%s, '%s' has %d: %s", a->text, a->in, npy->rank, npy->rank == 1 ? "" : "s", a->name, p->rank,
                 p->extents);
        return EXIT_USAGE;
    }
    for (int i = 0; i < p->rank; i++) a->shape[i] = npy->shape[i];
    if (is_packed(p->type)) {
        int64_t *inner = &a->shape[p->rank - 1], bits = tile_type_bits(p->type);
        if (*inner > INT64_MAX / 8 || *inner * 8 % bits != 0) {
            complain("%s: '%s' has rows of %" PRId64 " bytes, which are not whole %s values", a->text, a->in, *inner,
                     tile_type_name(p->type));
            return EXIT_USAGE;
        }
        *inner = *inner * 8 / bits;
    }
    return count_bytes(a);
}

/* The file's bytes, from malloc, and a->shape; NULL after a complaint, with its exit code. */
static char *open_array(RunArg *a, NpyArray *npy, int *code)
{
    size_t size;
    char why[NPY_WHY];
    char *file = read_file_as(a->in, &size, npy_needs);
    *code = EXIT_ENVIRONMENT;
    if (file && npy_read(file, size, npy, why)) *code = take_array(a, npy);
    else if (file) complain("'%s' %s", a->in, why);
    if (*code == EXIT_OK) return file;
    free(file);
    return NULL;
}

static int bind_file(RunArg *a, tile_device *d, tile_args *args)
{
    int code;
    NpyArray npy;
    char *file = open_array(a, &npy, &code);
    if (file) code = bind_memory(a, d, args, file + npy.offset);
    free(file);
    return code;
}

int run_arg_shape(const char *text, const Program *program, const tile_param *p, int64_t shape[RUN_RANK])
{
    RunArgs one = {0};
    NpyArray npy;
    int code = run_args_parse(&one, program, &text, 1);
    RunArg *a = one.v;
    a->param = *p;
    if (code == EXIT_OK) code = suit_tensor(a, true);
    if (code == EXIT_OK) free(open_array(a, &npy, &code));
    if (code == EXIT_OK) memcpy(shape, a->shape, sizeof a->shape);
    run_args_free(&one, NULL);
    return code;
}

/* The number that the kernel's own type has there, as text; empty: it has none. */
static const char *number_there(const RunArg *a, int i, char *out, size_t size)
{
    const char *p = a->param.extents + 1;
    for (int depth = 0; *p && (i > 0 || depth > 0); p++) {
        depth += (*p == '(') - (*p == ')');
        if (depth == 0 && *p == ',') i--;
    }
    p += strspn(p, " ");
    size_t n = strspn(p, "0123456789");
    bool whole = n > 0 && n < size && (p[n] == ',' || p[n] == ']');
    snprintf(out, size, "%.*s", whole ? (int)n : 0, p);
    return out;
}

typedef struct Names { /* what stands in an extent */
    const RunArgs *all;
    tile_args *args;
    tile_error e; /* of a name that stands for nothing yet */
} Names;

/* A size that was typed, one that follows from the tensors, or what the program calls a number. */
static bool value_of(void *user, const char *name, int64_t *v)
{
    Names *n = user;
    for (size_t i = n->all->n; i < n->all->n + n->all->sizes; i++) {
        if (strcmp(n->all->v[i].name, name) != 0) continue;
        *v = n->all->v[i].scalar;
        return true;
    }
    const char *number = program_value(n->all->program, name);
    return tile_symbol(n->args, name, v, &n->e) == TILE_OK || (number && read_integer(number, strlen(number), v));
}

static int resolve_expression(const RunArgs *all, const RunArg *a, tile_args *args, const char *s, int64_t *out)
{
    Names names = {.all = all, .args = args};
    const char *p = s;
    bool good = extent_value(&p, value_of, &names, out) && *p == 0;
    if (good && *out >= 0) return EXIT_OK;
    if (good) complain("%s: %s is %" PRId64, a->text, s, *out);
    else if (names.e.text[0]) complain("%s: %s; '%s' is %s%s: write a number there", a->text, names.e.text, a->name, tile_type_name(a->param.type), a->param.extents);
    else return complain_extent(a);
    return EXIT_USAGE;
}

static int resolve_extent(const RunArgs *all, const RunArg *a, tile_args *args, int i, int64_t *out)
{
    const char *s = a->extents[i];
    if (!is_word(s)) return resolve_expression(all, a, args, s, out);
    if (is_number(s)) {
        if (read_integer(s, strlen(s), out)) return EXIT_OK;
        complain("%s: '%s' is no extent", a->text, s);
        return EXIT_USAGE;
    }
    tile_error e;
    tile_status st = tile_symbol(args, s, out, &e);
    if (st == TILE_OK && *out >= 0) return EXIT_OK;
    char number[24];
    const char *type = tile_type_name(a->param.type), *extents = a->param.extents;
    if (st == TILE_OK) complain("%s: %s is %" PRId64, a->text, s, *out);
    else if (number_there(a, i, number, sizeof number)[0])
        complain("%s: %s; '%s' is %s%s: write %s there", a->text, e.text, a->name, type, extents, number);
    else complain("%s: %s; '%s' is %s%s: write a number there", a->text, e.text, a->name, type, extents);
    return EXIT_USAGE;
}

static bool has_symbols(const RunArg *a)
{
    for (int i = 0; i < a->nextents; i++)
        if (!is_number(a->extents[i]) || !is_word(a->extents[i])) return true;
    return false;
}

static int bind_typed(const RunArgs *all, RunArg *a, tile_device *d, tile_args *args)
{
    for (int i = 0; i < a->nextents; i++) {
        int code = resolve_extent(all, a, args, i, &a->shape[i]);
        if (code != EXIT_OK) return code;
    }
    int code = count_bytes(a);
    return code == EXIT_OK ? bind_memory(a, d, args, NULL) : code;
}

static int bind_scalar(const RunArg *a, tile_args *args)
{
    tile_error e;
    tile_status s = tile_bind_scalar(args, a->name, a->scalar, &e);
    return s == TILE_OK ? EXIT_OK : failed(s, &e);
}

int run_args_bind(RunArgs *a, tile_device *d, tile_args *args)
{
    int code = EXIT_OK;
    for (int pass = 0; pass < 2; pass++) { /* extents that are symbols need the other arguments' */
        for (size_t i = 0; i < a->n && code == EXIT_OK; i++) {
            RunArg *r = &a->v[i];
            if (has_symbols(r) != (pass == 1)) continue;
            code = r->param.is_scalar ? bind_scalar(r, args)
                   : r->typed         ? bind_typed(a, r, d, args)
                                      : bind_file(r, d, args);
        }
    }
    for (size_t i = a->n; i < a->n + a->sizes && code == EXIT_OK; i++) { /* a file, or a number, may say another one */
        tile_error e;
        int64_t value;
        tile_status s = tile_symbol(args, a->v[i].name, &value, &e);
        if (s == TILE_OK && value == a->v[i].scalar) continue;
        if (s == TILE_OK) complain("%s: %s is %" PRId64 " by the tensors", a->v[i].text, a->v[i].name, value);
        else complain("%s: %s", a->v[i].text, e.text);
        code = EXIT_USAGE;
    }
    return code;
}

int run_args_bind_again(const RunArgs *a, tile_args *args)
{
    tile_error e;
    tile_status s = TILE_OK;
    for (size_t i = 0; i < a->n && s == TILE_OK; i++) {
        const RunArg *r = &a->v[i];
        s = r->param.is_scalar ? tile_bind_scalar(args, r->name, r->scalar, &e)
                               : tile_bind(args, r->name, r->address, r->bytes, r->param.type, r->param.rank, r->shape, NULL, &e);
    }
    return s == TILE_OK ? EXIT_OK : failed(s, &e);
}

int run_args_fetch(RunArgs *a, tile_device *d)
{
    for (size_t i = 0; i < a->n; i++) {
        RunArg *r = &a->v[i];
        if (!r->out) continue;
        char header[NPY_HEADER_MAX];
        int64_t shape[RUN_RANK];
        memcpy(shape, r->shape, sizeof shape);
        if (is_packed(r->param.type)) {
            int64_t *inner = &shape[r->param.rank - 1];
            *inner = *inner / 8 * tile_type_bits(r->param.type) + *inner % 8 * tile_type_bits(r->param.type) / 8;
        }
        size_t n = npy_header(tile_type_npy(r->param.type), r->param.rank, shape, header);
        r->result = must_alloc(n + r->bytes);
        r->result_size = n + r->bytes;
        memcpy(r->result, header, n);
        tile_error e;
        tile_status s = tile_read(d, r->result + n, r->address, r->bytes, &e);
        if (s != TILE_OK) return failed(s, &e);
    }
    return EXIT_OK;
}

int run_args_write(const RunArgs *a)
{
    OutFile *files = must_alloc(a->n * sizeof *files);
    size_t n = 0;
    for (size_t i = 0; i < a->n; i++)
        if (a->v[i].result) files[n++] = (OutFile){a->v[i].out, a->v[i].result, a->v[i].result_size};
    bool ok = write_files(files, n);
    free(files);
    return ok ? EXIT_OK : EXIT_ENVIRONMENT;
}

double run_args_traffic(const RunArgs *a)
{
    double bytes = 0;
    for (size_t i = 0; i < a->n; i++) {
        const tile_param *p = &a->v[i].param;
        if (!p->is_scalar) bytes += (double)a->v[i].bytes * ((p->read != 0) + (p->written != 0));
    }
    return bytes;
}

void run_args_free(RunArgs *a, tile_device *d)
{
    for (size_t i = 0; i < a->n + a->sizes; i++) {
        RunArg *r = &a->v[i];
        if (d) tile_release(d, r->address, NULL);
        for (int e = 0; e < r->nextents; e++) free(r->extents[e]);
        free(r->name);
        free(r->in);
        free(r->out);
        free(r->result);
    }
    free(a->v);
    *a = (RunArgs){0};
}
