/* Sizes at each point, and the arguments with them: tensors of those sizes, unless the command line says what they are. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tilecc/cli.h"
#include "tilecc/extent.h"
#include "tilecc/tune/tune.h"

enum { STEP = 4, LEAST_BYTES = 4096, USUAL = 1024, USUAL_SIMULATED = 64 };

/* ---- extents ---- */

static size_t find_size(const TuneSizes *s, const char *name, size_t n)
{
    size_t i = 0;
    while (i < s->n && (strlen(s->v[i].name) != n || memcmp(s->v[i].name, name, n) != 0)) i++;
    return i;
}

typedef struct Names { /* what a name stands for, at a point */
    const TuneSizes *s;
    size_t point;
} Names;

/* A size, or what the program calls a number. */
static bool value_of(void *user, const char *name, int64_t *v)
{
    const Names *names = user;
    size_t i = find_size(names->s, name, strlen(name));
    const char *number = i < names->s->n ? NULL : program_value(names->s->program, name);
    if (i < names->s->n) *v = tune_value(names->s, i, names->point);
    return i < names->s->n || (number && read_integer(number, strlen(number), v));
}

static bool worked_out(const TuneSizes *s, const char **p, size_t point, int64_t *v)
{
    return extent_value(p, value_of, &(Names){s, point}, v);
}

/* ---- tensors ---- */

/* "[M, 2 * N]" or what was typed for it, as numbers: "[64,128]". *bytes: of the tensor. false: some extent is not to be worked out. */
static bool numbers(const TuneSizes *s, const char *extents, size_t point, tile_type type, char *out, size_t room, double *bytes)
{
    const char *p = extents;
    size_t n = 0;
    *bytes = (double)tile_type_bits(type) / 8;
    if (*p != '[') return false;
    do {
        int64_t v;
        p++;
        if (!worked_out(s, &p, point, &v) || v < 0) return false;
        *bytes *= (double)v;
        n += (size_t)snprintf(out + n, room - n, "%s%" PRId64, n ? "," : "[", v);
        if (n + 24 > room) return false;
    } while (*p == ',');
    if (*p != ']') return false;
    snprintf(out + n, room - n, "]");
    return true;
}

/* What was typed for a parameter, behind its `=`; NULL: nothing. */
static const char *typed_for(const TuneSizes *s, const char *param)
{
    size_t n = strlen(param);
    for (size_t i = 0; i < s->nargs; i++)
        if (strncmp(s->args[i], param, n) == 0 && s->args[i][n] == '=') return s->args[i] + n + 1;
    return NULL;
}

/* Numbers are zeros where nothing is said of them: as indices they are in range. */
static const char *contents(const tile_param *p)
{
    bool number = p->type <= TILE_S64;
    return number || (p->read && p->written) ? "~zeros" : "";
}

/* "src=bf16[64,128]~7", or a file's name as it was typed; false: its extents can't be worked out. */
static bool argument(const TuneSizes *s, const tile_param *p, size_t point, char *out, size_t room, double *bytes)
{
    char shape[256];
    const char *typed = typed_for(s, p->name), *open = typed ? strchr(typed, '[') : p->extents, *close = open ? strchr(open, ']') : NULL;
    *bytes = 0;
    for (size_t i = 0; typed && i < s->nfiles; i++) {
        if (strcmp(s->files[i].param, p->name) != 0) continue;
        *bytes = s->files[i].bytes;
        snprintf(out, room, "%s=%s", p->name, typed);
        return true;
    }
    if (p->is_scalar) {
        size_t i = find_size(s, p->name, strlen(p->name));
        if (i == s->n) return false;
        snprintf(out, room, "%s=%" PRId64, p->name, tune_value(s, i, point));
        return true;
    }
    if (!close || !numbers(s, open, point, p->type, shape, sizeof shape, bytes)) return false;
    if (typed) snprintf(out, room, "%s=%.*s%s%s", p->name, (int)(open - typed), typed, shape, close + 1);
    else snprintf(out, room, "%s=%s%s%s", p->name, tile_type_name(p->type), shape, contents(p));
    return true;
}

static double bytes_at(const TuneSizes *s, const tile_kernel *k, size_t point)
{
    double all = 0, one;
    char text[1024];
    tile_param p;
    for (size_t i = 0; tile_param_info(k, i, &p) == TILE_OK; i++)
        if (argument(s, &p, point, text, sizeof text, &one)) all += one;
    return all;
}

char **tune_arguments(const TuneSizes *s, const tile_kernel *k, size_t point, size_t *n)
{
    *n = tile_param_count(k);
    char **texts = must_alloc((*n + 1) * sizeof *texts);
    double bytes;
    for (size_t i = 0; i < *n; i++) {
        tile_param p;
        tile_param_info(k, i, &p);
        size_t room = 1024 + strlen(p.name) + (typed_for(s, p.name) ? strlen(typed_for(s, p.name)) : 0);
        texts[i] = must_alloc(room);
        if (argument(s, &p, point, texts[i], room, &bytes)) continue;
        complain("the extents of '%s', %s%s, don't follow from sizes: say them, as in %s=%s[64,128]", p.name, tile_type_name(p.type), p.extents, p.name,
                 tile_type_name(p.type));
        tune_arguments_free(texts, i + 1);
        return NULL;
    }
    return texts;
}

void tune_arguments_free(char **texts, size_t n)
{
    for (size_t i = 0; i < n; i++) free(texts[i]);
    free(texts);
}

/* ---- sizes ---- */

/* Powers of STEP between the ends, so that ranges of several sizes go together; the last point is the end itself. */
int64_t tune_value(const TuneSizes *s, size_t size, size_t point)
{
    const TuneSize *z = &s->v[size];
    int64_t v = z->lo;
    if (z->of) {
        TuneSizes before = *s; /* so that nothing depends on itself */
        before.n = size;
        const char *p = z->of;
        if (!worked_out(&before, &p, point, &v)) return INT64_MAX; /* of a size there can't be, so that those who use it are wrong, too */
        return v < 0 ? 0 : v;
    }
    if (point + 1 == s->npoints) return z->hi;
    for (size_t i = 0; i < point && v < z->hi; i++) v *= STEP;
    return v < z->hi ? v : z->hi;
}

static bool add_size(TuneSizes *s, const char *name, size_t n)
{
    if (find_size(s, name, n) < s->n) return true;
    if (s->n == TUNE_SIZES || n >= sizeof s->v[0].name) return false;
    TuneSize *z = &s->v[s->n++];
    memcpy(z->name, name, n);
    z->name[n] = 0;
    return true;
}

static bool is_function(const char *name, size_t n)
{
    return (n == 4 && memcmp(name, "ceil", 4) == 0) || (n == 3 && (memcmp(name, "min", 3) == 0 || memcmp(name, "max", 3) == 0));
}

/* Names in the extents of its tensors, in their order, and scalars. */
static bool find_sizes(TuneSizes *s, const tile_kernel *k)
{
    tile_param p;
    bool room = true;
    for (size_t i = 0; tile_param_info(k, i, &p) == TILE_OK; i++) {
        if (p.is_scalar) room = room && add_size(s, p.name, strlen(p.name));
        if (p.is_scalar && room) s->v[find_size(s, p.name, strlen(p.name))].scalar = true;
        for (const char *at = p.extents; room && *at;) {
            size_t n = 0;
            while (isalnum((unsigned char)at[n]) || at[n] == '_') n++;
            if (n && !isdigit((unsigned char)*at) && !is_function(at, n)) room = add_size(s, at, n);
            at += n ? n : 1;
        }
    }
    if (!room) complain("kernel '%s' has more sizes than %d", tile_kernel_name(k), TUNE_SIZES);
    return room;
}

typedef enum Reading { NO_RANGE, TOO_LOW /* a number to begin with, but no size */, TOO_LARGE, IN_RANGE } Reading;

/* "4096" or "64..65536". */
static Reading read_range(const char *text, TuneSize *z)
{
    const char *dots = strstr(text, "..");
    if (!read_integer(text, dots ? (size_t)(dots - text) : strlen(text), &z->lo)) return NO_RANGE;
    if (z->lo < !z->scalar) return TOO_LOW;
    z->hi = z->lo;
    if (dots && !read_integer(dots + 2, strlen(dots + 2), &z->hi)) return NO_RANGE;
    return z->hi < z->lo ? NO_RANGE : z->hi > INT64_C(1) << 40 ? TOO_LARGE : IN_RANGE;
}

/* "ceil(H, 32)", of sizes that the kernel's signature names before this one. */
static bool read_expression(const char *text, TuneSizes *s, size_t size)
{
    TuneSizes before = *s;
    before.n = size;
    const char *p = text;
    int64_t v;
    if (!worked_out(&before, &p, 0, &v) || *p || isdigit((unsigned char)*text)) return false;
    s->v[size].of = text;
    return true;
}

static bool has_tensors(const tile_kernel *k)
{
    tile_param p;
    for (size_t i = 0; tile_param_info(k, i, &p) == TILE_OK; i++)
        if (!p.is_scalar) return true;
    return false;
}

static bool find_tensor(const tile_kernel *k, const char *name, size_t n, tile_param *p)
{
    for (size_t i = 0; tile_param_info(k, i, p) == TILE_OK; i++)
        if (strlen(p->name) == n && memcmp(p->name, name, n) == 0) return !p->is_scalar;
    return false;
}

/* Behind the comma that ends an extent, or NULL: it was the last one. */
static const char *next_extent(const char *p)
{
    for (int depth = 0; *p && *p != ']'; p++) {
        depth += (*p == '(') - (*p == ')');
        if (*p == ',' && depth == 0) return p + 1;
    }
    return NULL;
}

/* Where the extent is one word its length, else 0. */
static size_t lone_word(const char *p)
{
    size_t n = 0;
    while (isalnum((unsigned char)p[n]) || p[n] == '_') n++;
    const char *end = p + n + strspn(p + n, " ");
    return *end == ',' || *end == ']' ? n : 0;
}

/* A size of the kernel that stands alone in an extent is what the tensor has there. */
static void give_size(TuneSizes *s, const char *extent, int64_t v)
{
    size_t i = find_size(s, extent, lone_word(extent));
    if (i == s->n || s->v[i].given || v < 1) return;
    s->v[i].lo = s->v[i].hi = v;
    s->v[i].given = true;
}

/* The same from a file, whose shape is fixed. */
static int sizes_of_file(TuneSizes *s, const char *text, const tile_param *p)
{
    int64_t shape[RUN_RANK];
    int code = run_arg_shape(text, s->program, p, shape), d = 0;
    if (code != EXIT_OK) return code;
    if (s->nfiles == TUNE_SIZES) {
        complain("more than %d tensors from files", TUNE_SIZES);
        return EXIT_USAGE;
    }
    TuneFile *f = &s->files[s->nfiles++];
    *f = (TuneFile){p->name, (double)tile_type_bits(p->type) / 8};
    for (const char *a = p->extents + 1; a && d < p->rank; a = next_extent(a), d++) {
        a += strspn(a, " ");
        f->bytes *= (double)shape[d];
        give_size(s, a, shape[d]);
    }
    return EXIT_OK;
}

/* Numbers in what was typed for a tensor are what the kernel's sizes there are. */
static void sizes_of(TuneSizes *s, const char *extents, const char *typed)
{
    for (const char *a = extents + 1, *b = typed + 1; a && b; a = next_extent(a), b = next_extent(b)) {
        a += strspn(a, " ");
        b += strspn(b, " ");
        int64_t v;
        if (lone_word(b) && read_integer(b, lone_word(b), &v)) give_size(s, a, v);
    }
}

static int take_args(TuneSizes *s, const TuneOptions *opt, const tile_kernel *k)
{
    s->args = opt->args;
    s->nargs = opt->nargs;
    for (size_t i = 0; i < opt->nargs; i++) {
        const char *text = opt->args[i], *equals = strchr(text, '=');
        tile_param p;
        size_t n = equals ? (size_t)(equals - text) : 0, size = find_size(s, text, n);
        Reading range = size < s->n ? read_range(equals + 1, &s->v[size]) : NO_RANGE;
        if (range == TOO_LOW) {
            complain("'%s': %s", text, s->v[size].scalar ? "a scalar is 0 or more here" : "a size is 1 or more");
            return EXIT_USAGE;
        }
        if (range == TOO_LARGE) {
            complain("'%s' is too large: at most 2^40", text);
            return EXIT_USAGE;
        }
        if (range == IN_RANGE || (size < s->n && read_expression(equals + 1, s, size))) {
            s->v[size].given = true;
        } else if (size < s->n) {
            complain("'%s': a size is a number, a range, as in %s=64..65536, or follows from sizes before it", text, s->v[size].name);
            return EXIT_USAGE;
        } else if (n && find_tensor(k, text, n, &p)) {
            bool typed = strchr(equals, '[') && !strstr(equals, ".npy");
            int code = EXIT_OK;
            if (typed) sizes_of(s, p.extents, strchr(equals, '['));
            else code = sizes_of_file(s, text, &p);
            if (code != EXIT_OK) return code;
        } else {
            complain("'%s' is neither a size of kernel '%s', as in M=64..65536, nor one of its tensors, as in x=bf16[M,64]~7 or x=in.npy", text, tile_kernel_name(k));
            return EXIT_USAGE;
        }
    }
    return EXIT_OK;
}

/* What a kernel takes from integers, places or lengths, is not what it will be: so it moves other things, or nothing. */
static void say_zeros(const TuneSizes *s, const tile_kernel *k)
{
    tile_param p;
    for (size_t i = 0; tile_param_info(k, i, &p) == TILE_OK; i++) {
        bool number = p.type <= TILE_S64 && tile_type_bits(p.type) >= 32;
        if (p.is_scalar || !p.read || p.written || !number || typed_for(s, p.name)) continue;
        complain("'%s' holds zeros, as nothing is said of it: if they are places or lengths, what is measured is not what the kernel will do, maybe nothing; "
                 "%s=in.npy or %s=%s%s~iota says others", p.name, p.name, p.name, tile_type_name(p.type), p.extents);
    }
}

/* The first size that nothing is said of goes from few bytes to as many as there may be. */
static void vary_first(TuneSizes *s, const tile_kernel *k, double most)
{
    size_t first = s->n;
    bool any = false;
    for (size_t i = 0; i < s->n; i++) any |= s->v[i].lo < s->v[i].hi;
    for (size_t i = 0; i < s->n && first == s->n; i++)
        if (!s->v[i].given && !s->v[i].scalar) first = i;
    for (size_t i = 0; i < s->n; i++)
        if (!s->v[i].given) s->v[i].lo = s->v[i].hi = s->v[i].scalar ? 1 : USUAL;
    if (any || first == s->n) return;
    TuneSize *z = &s->v[first];
    s->npoints = 1;
    if (most < USUAL * LEAST_BYTES) /* the simulator: small in all directions */
        for (size_t i = 0; i < s->n; i++)
            if (!s->v[i].given && s->v[i].hi == USUAL) s->v[i].lo = s->v[i].hi = USUAL_SIMULATED;
    z->lo = z->hi = STEP;
    while (bytes_at(s, k, 0) < LEAST_BYTES && z->lo < INT64_C(1) << 30) z->lo = z->hi = z->lo * STEP;
    while (z->hi < INT64_C(1) << 30) {
        z->hi *= STEP; /* of the one point that there is so far */
        if (bytes_at(s, k, 0) <= most) continue;
        z->hi /= STEP;
        break;
    }
}

static size_t points_of(const TuneSizes *s)
{
    size_t most = 1;
    for (size_t i = 0; i < s->n; i++) {
        size_t n = 1;
        for (int64_t v = s->v[i].lo; v > 0 && v < s->v[i].hi; v *= STEP) n++;
        if (n > most) most = n;
    }
    return most < TUNE_POINTS ? most : TUNE_POINTS;
}

int tune_sizes(TuneSizes *s, const TuneOptions *opt, const Program *program, const tile_kernel *k, double most)
{
    *s = (TuneSizes){.npoints = 1, .program = program};
    if (!has_tensors(k)) {
        complain("kernel '%s' has no tensor: it moves nothing that could be measured", tile_kernel_name(k));
        return EXIT_USAGE;
    }
    if (!find_sizes(s, k)) return EXIT_USAGE;
    int code = take_args(s, opt, k);
    if (code != EXIT_OK) return code;
    say_zeros(s, k);
    vary_first(s, k, most);
    size_t wanted = s->npoints = points_of(s);
    while (s->npoints > 1 && bytes_at(s, k, s->npoints - 1) > most) { /* ends are as far as memory goes */
        s->npoints--;
        for (size_t i = 0; i < s->n; i++) {
            int64_t before = s->v[i].lo;
            for (size_t p = 1; p < s->npoints && before < s->v[i].hi; p++) before *= STEP;
            if (before < s->v[i].hi) s->v[i].hi = before;
        }
    }
    if (s->npoints < wanted) complain("%zu of %zu sizes: the others need more than %.0f bytes (--most)", s->npoints, wanted, most);
    return EXIT_OK;
}
