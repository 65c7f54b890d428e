/* Directives and runs: case.h. */
#include "tests/sim/case.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/sim/machine.h"

void give_up(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    exit(2);
}

void *must(void *p)
{
    if (!p) give_up("out of memory");
    return p;
}

uint64_t random_next(uint64_t *state)
{
    Rng r = {*state};
    uint64_t z = rng_next(&r);
    *state = r.s;
    return z;
}

char *read_text(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    if (!f) give_up("%s: %s", path, strerror(errno));
    char *s = NULL;
    size_t n = 0, cap = 0, got;
    do {
        cap = cap ? cap * 2 : 16384;
        s = must(realloc(s, cap + 1));
        got = fread(s + n, 1, cap - n, f);
        n += got;
    } while (n == cap);
    if (ferror(f)) give_up("%s: cannot be read", path);
    fclose(f);
    s[n] = 0;
    *size = n;
    return s;
}

int split_words(char *line, char **word)
{
    int n = 0;
    for (char *s = line;;) {
        while (isspace((unsigned char)*s)) *s++ = 0;
        if (!*s) return n;
        if (n == CASE_WORDS) give_up("more than %d words in a line", (int)CASE_WORDS);
        word[n++] = s;
        while (*s && !isspace((unsigned char)*s)) s++;
    }
}

/* ---- reading ---- */
typedef struct Reader {
    Case *c;
    const char *path;
    int line;
    char *word[CASE_WORDS];
    int n, at;
} Reader;

static void bad(const Reader *r, const char *what, const char *word)
{
    give_up("%s:%d: %s%s%s%s", r->path, r->line, what, word ? " `" : "", word ? word : "", word ? "`" : "");
}

static char *take(Reader *r, const char *what)
{
    if (r->at == r->n) bad(r, what, NULL);
    return r->word[r->at++];
}

static bool take_if(Reader *r, const char *word)
{
    if (r->at == r->n || strcmp(r->word[r->at], word) != 0) return false;
    r->at++;
    return true;
}

static int64_t number(const Reader *r, const char *s)
{
    char *end;
    errno = 0;
    long long v = strtoll(s, &end, 0);
    if (end == s || *end || errno) bad(r, "no number:", s);
    return v;
}

static int numbers(Reader *r, int64_t *out, int max) /* "1,2,3" */
{
    char *s = take(r, "numbers are missing");
    int n = 0;
    for (char *next; s; s = next) {
        next = strchr(s, ',');
        if (next) *next++ = 0;
        if (n == max) bad(r, "too many numbers at", s);
        out[n++] = number(r, s);
    }
    return n;
}

static uint32_t size_word(Reader *r, int64_t most)
{
    int64_t v = number(r, take(r, "a size is missing"));
    if (v < 0 || v > most) bad(r, "the size is out of range", NULL);
    return (uint32_t)v;
}

static void dimensions(Reader *r, uint32_t out[3])
{
    int64_t v[3] = {1, 1, 1};
    numbers(r, v, 3);
    for (int i = 0; i < 3; i++) {
        if (v[i] < 1 || v[i] > 65535) bad(r, "a dimension is out of range", NULL);
        out[i] = (uint32_t)v[i];
    }
}

static void name_word(Reader *r, char *out, size_t size)
{
    const char *s = take(r, "a name is missing");
    if (strlen(s) >= size) bad(r, "the name is too long:", s);
    memcpy(out, s, strlen(s) + 1);
}

static int find_buffer(const Case *c, const char *name)
{
    for (int i = 0; i < c->nbuffers; i++)
        if (strcmp(c->buffers[i].name, name) == 0) return i;
    return -1;
}

static int find_map(const Case *c, const char *name)
{
    for (int i = 0; i < c->nmaps; i++)
        if (strcmp(c->maps[i].name, name) == 0) return i;
    return -1;
}

static int buffer_word(Reader *r)
{
    const char *name = take(r, "a buffer's name is missing");
    int i = find_buffer(r->c, name);
    if (i < 0) bad(r, "there is no buffer", name);
    return i;
}

static void read_kernel(Reader *r)
{
    if (r->c->nlaunches == CASE_LAUNCHES) bad(r, "too many launches", NULL);
    CaseLaunch *l = &r->c->launches[r->c->nlaunches++];
    *l = (CaseLaunch){.grid = {1, 1, 1}, .cluster = {1, 1, 1}, .threads = 32};
    name_word(r, l->kernel, sizeof l->kernel);
    while (r->at < r->n) {
        if (take_if(r, "grid")) dimensions(r, l->grid);
        else if (take_if(r, "cluster")) dimensions(r, l->cluster);
        else if (take_if(r, "dependent")) l->dependent = true;
        else if (take_if(r, "threads")) l->threads = size_word(r, 1024);
        else if (take_if(r, "smem")) l->smem = size_word(r, 1 << 20);
        else bad(r, "unknown word", r->word[r->at]);
    }
}

static void read_buffer(Reader *r)
{
    if (r->c->nbuffers == CASE_BUFFERS) bad(r, "too many buffers", NULL);
    CaseBuffer *b = &r->c->buffers[r->c->nbuffers++];
    *b = (CaseBuffer){.count = 1};
    name_word(r, b->name, sizeof b->name);
    const char *type = take(r, "a type is missing");
    if (!tile_type_find(type, &b->type) || tile_type_bits(b->type) % 8) bad(r, "there is no type", type);
    b->rank = numbers(r, b->shape, MAP_RANK);
    for (int i = 0; i < b->rank; i++) {
        if (b->shape[i] < 1 || b->shape[i] > 1 << 22) bad(r, "an extent is out of range", NULL);
        b->count *= (size_t)b->shape[i];
        if (b->count > 1 << 24) bad(r, "the buffer is too large", NULL);
    }
    b->bytes = b->count * (size_t)tile_type_bits(b->type) / 8;
    static const char *const fills[] = {"random", "zero", "poison", "iota", "range", "permutation"};
    const char *fill = take(r, "random, zero, poison, iota, range or permutation is missing");
    int f = 0;
    while (f < 6 && strcmp(fills[f], fill) != 0) f++;
    if (f == 6) bad(r, "unknown contents", fill);
    b->fill = (Fill)f;
    if (b->fill == FILL_RANGE) {
        b->low = number(r, take(r, "the least value is missing"));
        b->high = number(r, take(r, "the greatest value is missing"));
        if (b->high < b->low || b->high - b->low > 1 << 30) bad(r, "the range is empty or too large", NULL);
    }
}

static int swizzle_word(Reader *r)
{
    const char *s = take(r, "32, 64, 128, 128:32 or 128:64 is missing");
    static const struct {
        const char *word;
        int swizzle;
    } words[] = {{"32", MAP_SWIZZLE_32B},
                 {"64", MAP_SWIZZLE_64B},
                 {"128", MAP_SWIZZLE_128B},
                 {"128:32", MAP_SWIZZLE_128B_ATOM_32B},
                 {"128:64", MAP_SWIZZLE_128B_ATOM_64B}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i].word, s) == 0) return words[i].swizzle;
    bad(r, "unknown swizzle", s);
    return 0;
}

static MapMode mode_word(Reader *r)
{
    size_t n;
    const char *s = take(r, "a mode is missing"), *const *words = word_list(WORDS_MODE, &n);
    for (size_t i = 0; i < n; i++)
        if (words[i] && strcmp(words[i], s) == 0) return (MapMode)i;
    bad(r, "unknown mode", s);
    return MAP_TILED;
}

/* Words of one number. */
static bool read_map_number(Reader *r, CaseMap *m)
{
    static const char *const words[] = {"offset", "channels", "pixels", "sm", "interleave"};
    int64_t *const at[] = {&m->offset, &m->desc.channels, &m->desc.pixels};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (!take_if(r, words[i])) continue;
        int64_t v = number(r, take(r, "a number is missing"));
        if (i < sizeof at / sizeof at[0]) *at[i] = v;
        else if (i == 3) m->desc.sm = (int)v;
        else m->desc.interleave = v == 16 ? MAP_INTERLEAVE_16B : MAP_INTERLEAVE_32B;
        return true;
    }
    return false;
}

static void read_map_words(Reader *r, CaseMap *m)
{
    MapDesc *d = &m->desc;
    while (r->at < r->n) {
        if (take_if(r, "dims")) d->rank = numbers(r, d->dim, MAP_RANK);
        else if (take_if(r, "box")) numbers(r, d->box, MAP_RANK);
        else if (take_if(r, "steps")) numbers(r, d->elem_stride, MAP_RANK);
        else if (take_if(r, "pitch")) numbers(r, d->pitch, MAP_RANK);
        else if (take_if(r, "lower")) numbers(r, d->lower, 3);
        else if (take_if(r, "upper")) numbers(r, d->upper, 3);
        else if (take_if(r, "mode")) d->mode = mode_word(r);
        else if (take_if(r, "load")) d->is_store = false;
        else if (take_if(r, "store")) d->is_load = false;
        else if (take_if(r, "fill") && take_if(r, "nan")) d->fill = MAP_FILL_NAN;
        else if (take_if(r, "swizzle")) d->swizzle = swizzle_word(r);
        else if (take_if(r, "type")) {
            ElemType t;
            const char *s = take(r, "a type is missing");
            if (!elem_find(s, &t)) bad(r, "there is no type", s);
            d->type = elem_info(t)->map_type;
        } else if (!read_map_number(r, m)) bad(r, "unknown word", r->word[r->at < r->n ? r->at : r->n - 1]);
    }
    int bits = map_global_bits(d->type);
    d->pitch[d->rank - 1] = bits / 8;
    for (int i = d->rank - 2; i >= 0; i--)
        if (d->pitch[i] == 0)
            d->pitch[i] = i == d->rank - 2 ? d->dim[i + 1] * bits / 8 : d->pitch[i + 1] * d->dim[i + 1];
}

static void report_breach(void *user, const MapBreach *b)
{
    const Reader *r = user;
    fprintf(stderr, "%s:%d: %s: %s\n", r->path, r->line, b->rule_id, b->text);
}

static void read_map(Reader *r)
{
    if (r->c->nmaps == CASE_MAPS) bad(r, "too many maps", NULL);
    CaseMap *m = &r->c->maps[r->c->nmaps];
    *m = (CaseMap){.desc = {.mode = MAP_TILED, .sm = 90, .is_load = true, .is_store = true}};
    name_word(r, m->name, sizeof m->name);
    r->c->nmaps++;
    if (!take_if(r, "of")) bad(r, "`of BUFFER` is missing", NULL);
    m->buffer = buffer_word(r);
    const CaseBuffer *b = &r->c->buffers[m->buffer];
    m->desc.type = elem_info((ElemType)b->type)->map_type;
    m->desc.rank = b->rank;
    for (int i = 0; i < MAP_RANK; i++) {
        m->desc.dim[i] = b->shape[i];
        m->desc.elem_stride[i] = 1;
    }
    read_map_words(r, m);
    if (map_check(&m->desc, report_breach, r)) bad(r, "the map breaks rules", NULL);
}

static void read_param(Reader *r)
{
    if (!r->c->nlaunches) bad(r, "a parameter without a kernel", NULL);
    CaseLaunch *l = &r->c->launches[r->c->nlaunches - 1];
    if (l->nparams == CASE_PARAMS) bad(r, "too many parameters", NULL);
    CaseParam *p = &l->params[l->nparams++];
    const char *word = take(r, "a buffer, map or value is missing");
    if ((p->index = find_buffer(r->c, word)) >= 0) p->kind = PARAM_BUFFER;
    else if ((p->index = find_map(r->c, word)) >= 0) p->kind = PARAM_MAP;
    else {
        const char *name = take(r, "the value's type is missing");
        tile_type type;
        if (!tile_type_find(name, &type)) bad(r, "there is no type", name);
        p->kind = PARAM_VALUE;
        p->value = elem_from_int(type, number(r, word));
    }
}

static void read_const(Reader *r)
{
    if (r->c->nconsts == CASE_MAPS) bad(r, "too many constants", NULL);
    CaseConst *k = &r->c->consts[r->c->nconsts++];
    name_word(r, k->variable, sizeof k->variable);
    const char *word = take(r, "a map is missing");
    if ((k->map = find_map(r->c, word)) < 0) bad(r, "there is no map", word);
}

static void read_expect(Reader *r)
{
    if (r->c->nexpects == CASE_EXPECTS) bad(r, "too many expectations", NULL);
    CaseExpect *e = &r->c->expects[r->c->nexpects++];
    *e = (CaseExpect){.buffer = buffer_word(r), .line = r->line};
    for (; r->at < r->n; r->at++) {
        size_t n = strlen(e->text), more = strlen(r->word[r->at]);
        if (n + more + 2 > sizeof e->text) bad(r, "the expectation is too long", NULL);
        if (n) e->text[n++] = ' ';
        memcpy(e->text + n, r->word[r->at], more + 1);
    }
}

static void read_directive(Reader *r)
{
    Case *c = r->c;
    const char *what = take(r, "a directive is empty");
    if (strcmp(what, "kernel") == 0) read_kernel(r);
    else if (strcmp(what, "buffer") == 0) read_buffer(r);
    else if (strcmp(what, "map") == 0) read_map(r);
    else if (strcmp(what, "param") == 0) read_param(r);
    else if (strcmp(what, "const") == 0) read_const(r);
    else if (strcmp(what, "expect") == 0) read_expect(r);
    else if (strcmp(what, "scalar") == 0 && c->nscalars < CASE_PARAMS) {
        CaseScalar *s = &c->scalars[c->nscalars++];
        name_word(r, s->name, sizeof s->name);
        s->value = number(r, take(r, "a value is missing"));
    } else if (strcmp(what, "fails") == 0) {
        while (r->at < r->n && c->nfails < CASE_CODES) name_word(r, c->fails[c->nfails++], sizeof c->fails[0]);
    } else if (strcmp(what, "golden") == 0) {
        name_word(r, c->golden, sizeof c->golden);
        read_kernel(r);
    } else bad(r, "unknown directive", what);
    if (r->at < r->n) bad(r, "one word too many:", r->word[r->at]);
}

bool case_read(Case *c, const char *path, const char **at, int *line)
{
    *c = (Case){0};
    snprintf(c->path, sizeof c->path, "%s", path);
    Reader r = {.c = c, .path = path};
    bool any = false;
    for (const char *s = *at; *s; (*line)++) {
        const char *end = strchr(s, '\n');
        if (!end) end = s + strlen(s);
        if (strncmp(s, "//!", 3) == 0) {
            char copy[600];
            size_t n = (size_t)(end - s) - 3;
            if (n >= sizeof copy) give_up("%s:%d: the line is too long", path, *line);
            memcpy(copy, s + 3, n);
            copy[n] = 0;
            r.line = *line;
            r.at = 0;
            r.n = split_words(copy, r.word);
            if (any && r.n && strcmp(r.word[0], "golden") == 0) break;
            any = true;
            read_directive(&r);
        }
        s = *end ? end + 1 : end;
        *at = s;
    }
    if (any && !c->nlaunches) give_up("%s: no `//! kernel` line", path);
    return any;
}

/* ---- contents ---- */
static void fill_buffer(const CaseBuffer *b, unsigned char *to, uint64_t seed)
{
    size_t size = b->bytes / b->count;
    uint64_t state = seed;
    for (size_t i = 0; i < b->count; i++) {
        uint64_t v = 0;
        switch (b->fill) {
        case FILL_RANDOM: v = random_next(&state); break;
        case FILL_ZERO: break;
        case FILL_POISON: v = UINT64_C(0xbadbadbadbadbad1) ^ i << 4; break;
        case FILL_IOTA:
        case FILL_PERMUTATION: v = elem_from_int(b->type, (int64_t)i); break;
        case FILL_RANGE: {
            uint64_t span = (uint64_t)(b->high - b->low) + 1;
            v = elem_from_int(b->type, b->low + (int64_t)(random_next(&state) % span));
            break;
        }
        }
        elem_store(b->type, to + i * size, v);
    }
    if (b->fill != FILL_PERMUTATION) return;
    for (size_t i = b->count - 1; i > 0; i--) { /* Fisher and Yates */
        size_t j = (size_t)(random_next(&state) % (i + 1));
        uint64_t x = elem_load(b->type, to + i * size);
        elem_store(b->type, to + i * size, elem_load(b->type, to + j * size));
        elem_store(b->type, to + j * size, x);
    }
}

/* ---- runs ---- */
typedef struct Run {
    const Case *c;
    tile_device *d;
    Verdict *v;
    uint64_t address[CASE_BUFFERS];
    unsigned char *before[CASE_BUFFERS], *after[CASE_BUFFERS];
} Run;

static bool said(Run *r, tile_status s, const tile_error *err)
{
    if (s == TILE_OK) return true;
    r->v->status = s;
    snprintf(r->v->said, sizeof r->v->said, "%s", err->text);
    return false;
}

static bool prepare(Run *r, uint64_t seed)
{
    tile_error err;
    for (int i = 0; i < r->c->nbuffers; i++) {
        const CaseBuffer *b = &r->c->buffers[i];
        r->before[i] = must(malloc(b->bytes));
        r->after[i] = must(malloc(b->bytes));
        fill_buffer(b, r->before[i], seed * 64 + (uint64_t)i);
        if (!said(r, tile_alloc(r->d, b->bytes, &r->address[i], &err), &err)) return false;
        if (!said(r, tile_write(r->d, r->address[i], r->before[i], b->bytes, &err), &err)) return false;
    }
    return true;
}

static bool encode(Run *r, int i, unsigned char *to)
{
    const CaseMap *m = &r->c->maps[i];
    MapDesc desc = m->desc;
    desc.address = (int64_t)r->address[m->buffer] + m->offset;
    MapMemory memory = {r->c->buffers[m->buffer].bytes, true};
    tile_error err;
    return said(r, r->d->ops->encode_map(r->d, &desc, &memory, to, &err), &err);
}

static bool write_consts(Run *r, void *module)
{
    tile_error err;
    for (int i = 0; i < r->c->nconsts; i++) {
        _Alignas(128) unsigned char map[MAP_BYTES];
        uint64_t at = 0;
        const CaseConst *k = &r->c->consts[i];
        if (!encode(r, k->map, map) ||
            !said(r, r->d->ops->variable(r->d, module, k->variable, MAP_BYTES, &at, &err), &err) ||
            !said(r, tile_write(r->d, at, map, MAP_BYTES, &err), &err))
            return false;
    }
    return true;
}

static bool launch(Run *r, void *module, const CaseLaunch *cl)
{
    _Alignas(128) unsigned char maps[CASE_MAPS][MAP_BYTES];
    uint64_t words[CASE_PARAMS];
    void *params[CASE_PARAMS + 1] = {NULL};
    for (int i = 0; i < cl->nparams; i++) {
        const CaseParam *p = &cl->params[i];
        if (p->kind == PARAM_MAP && !encode(r, p->index, maps[p->index])) return false;
        words[i] = p->kind == PARAM_BUFFER ? r->address[p->index] : p->value;
        params[i] = p->kind == PARAM_MAP ? (void *)maps[p->index] : (void *)&words[i];
    }
    tile_error err;
    Launch l = {.threads = cl->threads, .smem = cl->smem, .dependent = cl->dependent, .params = params};
    memcpy(l.grid, cl->grid, sizeof l.grid);
    memcpy(l.cluster, cl->cluster, sizeof l.cluster);
    uint32_t size = l.cluster[0] * l.cluster[1] * l.cluster[2];
    return said(r, r->d->ops->function(r->d, module, cl->kernel, cl->smem, size, &l.function, &err), &err) &&
           said(r, r->d->ops->launch(r->d, &l, NULL, &err), &err) &&
           said(r, r->d->ops->synchronize(r->d, NULL, &err), &err);
}

static bool run_launches(Run *r, const char *image)
{
    tile_error err;
    void *module = NULL;
    if (!said(r, r->d->ops->load(r->d, image, true, &module, &err), &err)) return false;
    bool ok = write_consts(r, module);
    for (int i = 0; i < r->c->nlaunches && ok; i++) ok = launch(r, module, &r->c->launches[i]);
    r->d->ops->unload(r->d, module);
    return ok;
}

static bool bind_all(Run *r, tile_args *a)
{
    tile_error err;
    for (int i = 0; i < r->c->nbuffers; i++) {
        const CaseBuffer *b = &r->c->buffers[i];
        if (!said(r, tile_bind(a, b->name, r->address[i], b->bytes, b->type, b->rank, b->shape, NULL, &err), &err))
            return false;
    }
    for (int i = 0; i < r->c->nscalars; i++)
        if (!said(r, tile_bind_scalar(a, r->c->scalars[i].name, r->c->scalars[i].value, &err), &err)) return false;
    return true;
}

static bool run_golden(Run *r, const char *image, size_t size)
{
    tile_error err;
    tile_module *module = NULL;
    tile_args *args = NULL;
    if (!said(r, tile_module_load(r->d, image, size, &module, &err), &err)) return false;
    tile_kernel *kernel = tile_kernel_find(module, r->c->launches[0].kernel);
    if (!kernel) give_up("%s: there is no kernel `%s`", r->c->path, r->c->launches[0].kernel);
    bool ok = said(r, tile_args_new(kernel, &args, &err), &err) && bind_all(r, args) &&
              said(r, tile_launch(args, NULL, &err), &err) && said(r, tile_synchronize(r->d, NULL, &err), &err);
    tile_args_free(args);
    tile_module_free(module);
    return ok;
}

static void compare(Run *r)
{
    Verdict *v = r->v;
    tile_error err;
    v->right = true;
    for (int i = 0; i < r->c->nbuffers && v->right; i++) {
        const CaseBuffer *b = &r->c->buffers[i];
        bool anything = false;
        for (int k = 0; k < r->c->nexpects; k++)
            anything |= r->c->expects[k].buffer == i && strcmp(r->c->expects[k].text, "anything") == 0;
        if (anything) continue;
        unsigned char *want = must(malloc(b->bytes));
        memcpy(want, r->before[i], b->bytes);
        char why[200];
        for (int k = 0; k < r->c->nexpects; k++) {
            const CaseExpect *e = &r->c->expects[k];
            if (e->buffer == i && !expect_apply(r->c, e, r->before, want, why, sizeof why))
                give_up("%s:%d: %s", r->c->path, e->line, why);
        }
        if (!said(r, tile_read(r->d, r->after[i], r->address[i], b->bytes, &err), &err)) v->right = v->ran = false;
        size_t size = b->bytes / b->count;
        for (size_t k = 0; k < b->count && v->right; k++) {
            if (memcmp(want + k * size, r->after[i] + k * size, size) == 0) continue;
            v->right = false;
            snprintf(v->said, sizeof v->said, "%s[%zu] is 0x%llx and should be 0x%llx", b->name, k,
                     (unsigned long long)elem_load(b->type, r->after[i] + k * size),
                     (unsigned long long)elem_load(b->type, want + k * size));
        }
        free(want);
    }
}

void case_run(const Case *c, tile_device *d, const char *image, size_t size, uint64_t seed, Verdict *v)
{
    *v = (Verdict){0};
    Run r = {.c = c, .d = d, .v = v};
    v->ran = prepare(&r, seed) && (c->golden[0] ? run_golden(&r, image, size) : run_launches(&r, image));
    if (v->ran) compare(&r);
    for (int i = 0; i < c->nbuffers; i++) {
        tile_release(d, r.address[i], NULL);
        free(r.before[i]);
        free(r.after[i]);
    }
}
