/* The same program in other words: numbers become constants, compile-time parameters and expressions of both wherever
 * a number may stand, names become words of the language that may be names, and statements become functions. What is
 * done to a number or a name depends on it and the program's seed alone, so that shrinking does not change it. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print.h"

enum { NUMBERS_MAX = 256 };

typedef struct Dress {
    Program *p;
    Out *out;
    bool parameters; /* the kernel's compile-time parameters are in scope */
    int64_t constant[NUMBERS_MAX], parameter[NUMBERS_MAX];
    int nconstants, nparameters;
} Dress;

static uint64_t mix(const Program *p, int64_t n, int what)
{
    Rng r = {p->dress * 0x9e3779b97f4a7c15u + (uint64_t)n * 0xd1342543de82ef95u + (uint64_t)what};
    return rng_bits(&r) >> 8;
}

uint64_t dress_odds(const Program *p, int64_t n, int what)
{
    return p->dress ? mix(p, n, what) % 100 : 99;
}

/* ---- numbers ---- */
static void use(int64_t *list, int *n, int64_t value)
{
    for (int i = 0; i < *n; i++)
        if (list[i] == value) return;
    if (*n == NUMBERS_MAX) abort();
    list[(*n)++] = value;
}

static void put_constant(Dress *d, int64_t n)
{
    put(d->out, "C%" PRId64, n);
    use(d->constant, &d->nconstants, n);
}

/* `n` where a primary expression stands. Large numbers are left alone: they would not fit what is made of them. */
static void put_number(Dress *d, int64_t n)
{
    uint64_t h = mix(d->p, n, d->parameters);
    int64_t part = (int64_t)(h >> 32) % 7;
    bool plain = !d->p->dress || h % 100 < 65 || n > INT64_C(1) << 40;
    switch (plain ? -1 : (int)(h / 100 % 10)) {
    case 0: put(d->out, "0x%" PRIx64, n); return;
    case 1:
        if (n >= 1000) put(d->out, "%" PRId64 "_%03d", n / 1000, (int)(n % 1000));
        else put(d->out, "(%" PRId64 " * 0b10 + 0b%d)", n / 2, (int)(n % 2));
        return;
    case 2:
    case 3: put_constant(d, n); return;
    case 4:
    case 5:
    case 6:
        if (!d->parameters) break;
        put(d->out, "P%" PRId64, n);
        use(d->parameter, &d->nparameters, n);
        return;
    case 7: put(d->out, "(%" PRId64 " - %" PRId64 ")", n + part, part); return;
    case 8:
        put(d->out, "(");
        put_constant(d, n / 2);
        put(d->out, " * 2 + %" PRId64 ")", n % 2);
        return;
    case 9: put(d->out, part < 3 ? "min(%" PRId64 ", 99999)" : "(%" PRId64 " << 1 >> 1)", n); return;
    default: break;
    }
    put(d->out, "%" PRId64, n);
}

/* ---- names ---- */
static const char *const WORDS[] = {"in",        "box",   "swizzle", "stride",    "offset", "halo",   "ahead",      "transpose", "convert",
                                    "overlap",   "reduce", "cache",  "bytes",     "multicast", "across", "stages", "lower",     "upper",
                                    "channels",  "pixels", "l2",     "interleave", "atom",  "flip",   "pair",       "free",      "trust",
                                    "reverse",   "sum"};
enum { NWORDS = sizeof WORDS / sizeof *WORDS };

/* What tile or variable k of all is called instead; NULL: its own name. Two never get the same word. */
static const char *word_of(const Program *p, int k)
{
    if (!p->dress) return NULL;
    int w = (k * 5 + (int)(p->dress % NWORDS)) % NWORDS;
    return k < NWORDS && dress_odds(p, k, 71) < 35 ? WORDS[w] : NULL;
}

static const char *name_instead(const Program *p, const char *name, size_t n)
{
    for (int i = 0; i < p->ntiles; i++)
        if (strlen(p->tile[i].name) == n && !memcmp(p->tile[i].name, name, n)) return word_of(p, 2 * i);
    for (int i = 0; i < p->nvars; i++)
        if (strlen(p->var[i].name) == n && !memcmp(p->var[i].name, name, n)) return word_of(p, 2 * i + 1);
    return NULL;
}

/* ---- the text, token by token ---- */
static void dress(Dress *d, const char *s)
{
    while (s && *s) {
        size_t n = 1;
        if (isalpha((unsigned char)*s) || *s == '_') {
            while (isalnum((unsigned char)s[n]) || s[n] == '_') n++;
            const char *word = name_instead(d->p, s, n);
            if (word) put(d->out, "%s", word);
            else put(d->out, "%.*s", (int)n, s);
        } else if (isdigit((unsigned char)*s)) {
            while (isdigit((unsigned char)s[n])) n++;
            bool fraction = isalnum((unsigned char)s[n]) || s[n] == '_' || (s[n] == '.' && isdigit((unsigned char)s[n + 1]));
            if (fraction)
                while (isalnum((unsigned char)s[n]) || s[n] == '_' || s[n] == '.' || (s[n] == '-' && s[n - 1] == 'e')) n++;
            if (fraction) put(d->out, "%.*s", (int)n, s);
            else put_number(d, strtoll(s, NULL, 10));
        } else {
            put(d->out, "%c", *s);
        }
        s += n;
    }
}

/* A constant's value: that of another one, a sum; -D replaces what stands here. */
static void declare_constant(Dress *d, int64_t n)
{
    Program *p = d->p;
    uint64_t h = mix(p, n, 5) % 10;
    if (h < 2 && p->ndefines < DEFINES_MAX) {
        p->define[p->ndefines][0] = keep_text(p, "C%" PRId64, n);
        p->define[p->ndefines++][1] = keep_text(p, "%" PRId64, n);
        put(d->out, "const C%" PRId64 " = %" PRId64 ";\n", n, n + 1);
    } else {
        put(d->out, h < 6 ? "const C%" PRId64 " = %" PRId64 ";\n" : "const C%" PRId64 " = (%" PRId64 " + 3) - 3;\n", n, n);
    }
}

/* A parameter's value: a default, a default that -D replaces, -D alone. */
static void declare_parameter(Dress *d, int64_t n)
{
    Program *p = d->p;
    uint64_t h = mix(p, n, 6) % 10;
    bool given = h < 4 && p->ndefines < DEFINES_MAX;
    if (given) {
        p->define[p->ndefines][0] = keep_text(p, "k.P%" PRId64, n);
        p->define[p->ndefines++][1] = keep_text(p, "%" PRId64, n);
    }
    put(d->out, "P%" PRId64, n);
    if (given && h < 2) return;
    int64_t wrong = given ? 1 : 0;
    static const char *const sums[] = {" = %" PRId64 " + %" PRId64, " = %" PRId64 " - -%" PRId64, " = %" PRId64 " * 1 + %" PRId64,
                                       " = %" PRId64 " / 1 + %" PRId64, " = %" PRId64 " + 7 %% 7 + %" PRId64,
                                       " = %" PRId64 " - ~-1 + %" PRId64};
    put(d->out, sums[mix(p, n, 7) % 6], n, wrong);
    if (!given && mix(p, 0, 8) % 10 < 3) put(d->out, " | %" PRId64, n); /* two schedules, of the same sizes: the second is dealt otherwise */
}

static void put_helpers(Out *o)
{
    static const char *const bodies[] = {[X_ADD] = "plus(a, b) = a + b", [X_SUB] = "less(a, b: s64) = a - b", [X_MUL] = "times(a: s64, b) = a * b",
                                         [X_MIN] = "least(a, b) = min(a, b)", [X_MOD] = "rest(a, b) = a - a / b * b"};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        if (o->helpers[i]) put(o, "fn %s;\n", bodies[i]);
}

char *dress_text(Program *p, Out *functions, Out *head, Out *body)
{
    Out out[4] = {{.p = p}, {.p = p}, {.p = p}, {.p = p}};
    Dress d = {.p = p, .out = &out[0]};
    p->ndefines = 0;
    put_helpers(functions);
    dress(&d, functions->text);
    d.parameters = true;
    d.out = &out[1];
    dress(&d, head->text);
    dress(&d, body->text);
    d.out = &out[2];
    for (int i = 0; i < d.nconstants; i++) declare_constant(&d, d.constant[i]);
    d.out = &out[3];
    for (int i = 0; i < d.nparameters; i++) {
        put(&out[3], i ? ", " : "<");
        declare_parameter(&d, d.parameter[i]);
    }
    Out whole = {.p = p};
    put(&whole, "%s%skernel k%s%s%s", out[2].text ? out[2].text : "", out[0].text ? out[0].text : "", out[3].text ? out[3].text : "",
        out[3].text ? ">" : "", out[1].text);
    for (int i = 0; i < 4; i++) free(out[i].text);
    return whole.text;
}

/* ---- functions ---- */
bool put_helper(Out *o, const Expr *e)
{
    static const char *const names[] = {[X_ADD] = "plus", [X_SUB] = "less", [X_MUL] = "times", [X_MIN] = "least", [X_MOD] = "rest"};
    if (e->kind > X_MIN || !names[e->kind] || dress_odds(o->p, e->kind, 31) >= 25) return false;
    if (e->b->kind == X_NUM && dress_odds(o->p, e->b->n, 32) >= 40) return false;
    (o->functions ? o->functions : o)->helpers[e->kind] = true;
    put(o, "%s(", names[e->kind]);
    put_expr(o, e->a, 0);
    put(o, ", ");
    put_expr(o, e->b, 0);
    put(o, ")");
    return true;
}

static bool plain_region(const Program *p, const Region *r)
{
    if (r->slot || r->peer || (!r->shared && p->tensor[r->ref].rank == 0)) return false;
    for (int d = 0; d < r->nsubs; d++)
        if (r->sub[d].kind == SUB_ROWS || r->sub[d].kind == SUB_LIST) return false;
    return !r->shared || !p->tile[r->ref].count;
}

static void put_parameter(Out *f, const Region *r, const char *name, bool typed)
{
    const Program *p = f->p;
    int rank = r->shared ? p->tile[r->ref].rank : p->tensor[r->ref].rank;
    put(f, "%s: %s %s", name, r->shared ? "shared" : "global",
        typed ? "T" : tile_type_name(r->shared ? p->tile[r->ref].type : p->tensor[r->ref].type));
    for (int d = 0; d < rank; d++) {
        if (!r->shared) put(f, "%s%c%d", d ? ", " : "[", (char)toupper(*name), d);
        else if (d == 0 && typed) put(f, "[N");
        else put(f, "%s%" PRId64, d ? ", " : "[", p->tile[r->ref].extent[d]);
    }
    put(f, "]");
    if (r->shared) put_swizzle(f, &p->tile[r->ref]);
}

/* The region inside the function, its starts as parameters; and the starts of the call. */
static void put_inside(Out *f, Out *starts, Out *names, const Region *r, const char *name)
{
    put(f, "%s", name);
    for (int d = 0; d < r->nsubs; d++) {
        const Sub *s = &r->sub[d];
        put(f, d ? ", " : "[");
        if (s->kind == SUB_ALL) {
            put(f, ":");
            continue;
        }
        put(f, "%s%d", name, d);
        put(names, d % 2 ? ", %s%d: s64" : ", %s%d", name, d);
        put(starts, ", ");
        put_expr(starts, s->at, 0);
        if (s->kind == SUB_SPAN) put(f, " +: %" PRId64, s->n);
        if (s->kind == SUB_SPAN && s->by > 1) put(f, " by %" PRId64, s->by);
    }
    if (r->nsubs) put(f, "]");
}

bool put_call_of(Out *o, const Stmt *s)
{
    const Program *p = o->p;
    const char *text = s->text ? s->text : "";
    if (!o->functions || !plain_region(p, &s->src) || !plain_region(p, &s->dst)) return false;
    if (dress_odds(p, 64 * s->src.ref + s->dst.ref, 41) >= 18) return false;
    bool map = !strncmp(text, " via m", 6);
    if (map ? strchr(text + 1, ' ') != strrchr(text, ' ') : *text && strcmp(text, " via bulk") && strcmp(text, " via threads"))
        return false;
    Out *f = o->functions, starts = {.p = p, .functions = f}, names = {.p = p}, inside = {.p = p};
    bool typed = !s->convert && (s->src.shared || s->dst.shared) && dress_odds(p, s->dst.ref, 42) < 50;
    const Region *tile = s->src.shared ? &s->src : &s->dst;
    put_inside(&inside, &starts, &names, &s->src, "a");
    put(&inside, " -> ");
    put_inside(&inside, &starts, &names, &s->dst, "b");
    put(f, "fn move%d%s(", o->nfunctions, typed ? "<N, T>" : "");
    put_parameter(f, &s->src, "a", typed && !(s->src.shared && s->dst.shared));
    put(f, ", ");
    put_parameter(f, &s->dst, "b", typed && !(s->src.shared && s->dst.shared));
    put(f, "%s%s)\n{\n    move %s", map ? ", m: map" : "", names.text ? names.text : "", inside.text);
    if (s->reduce) put(f, " reduce %s", REDUCE_NAMES[s->reduce]);
    put(f, "%s%s%s;\n}\n", s->convert ? s->sat ? " convert sat" : " convert" : "", s->transpose ? " transpose" : "", map ? " via m" : text);
    put(o, "move%d", o->nfunctions++);
    const Tile *t = &p->tile[tile->ref];
    if (typed) put(o, "<%" PRId64 ", %s>", t->extent[0], tile_type_name(t->type));
    put(o, "(%s, %s%s%s%s);\n", s->src.shared ? p->tile[s->src.ref].name : p->tensor[s->src.ref].name,
        s->dst.shared ? p->tile[s->dst.ref].name : p->tensor[s->dst.ref].name, map ? ", " : "", map ? text + 5 : "",
        starts.text ? starts.text : "");
    free(starts.text), free(names.text), free(inside.text);
    return true;
}
