#include "ptxgen/assemble.h"

#include <stdlib.h>
#include <string.h>

void asm_tried(AsmRun *r, const char *place)
{
    r->tried = *r->tried ? arena_printf(r->arena, "%s, %s", r->tried, place) : place;
}

const char *asm_env_path(Arena *a, const char *variable, const char *rest)
{
    const char *dir = getenv(variable);
    return dir && *dir ? arena_printf(a, "%s/%s", dir, rest) : NULL;
}

bool asm_says_too_old(const char *log)
{
    return log && (strstr(log, "Unsupported .version") || strstr(log, "is not defined for option 'gpu-name'") ||
                   strstr(log, "does not support .target"));
}

/* ---- messages: lines of the PTX become places of the source ---- */

static Span span_of_line(const PtxLines *lines, uint32_t line)
{
    uint32_t lo = 0, hi = lines ? lines->n : 0;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (lines->v[mid].line <= line) lo = mid + 1;
        else hi = mid;
    }
    return lo ? lines->v[lo - 1].span : (Span){0, 0};
}

/* "ptxas FILE, line N; error   : TEXT" -> N and what follows the semicolon. The file's name may hold anything, so the
 * last such phrase counts that is followed by a class of message. */
static const char *find_line_number(const char *s, size_t n, uint32_t *line)
{
    static const char key[] = ", line ";
    const char *found = NULL;
    for (size_t i = 0; i + sizeof key - 1 < n; i++) {
        if (memcmp(s + i, key, sizeof key - 1) != 0) continue;
        const char *p = s + i + sizeof key - 1;
        uint64_t v = 0;
        while (p < s + n && *p >= '0' && *p <= '9' && v < UINT32_MAX) v = v * 10 + (uint64_t)(*p++ - '0');
        if (p + 2 > s + n || p[0] != ';' || p[1] != ' ' || v > UINT32_MAX) continue;
        *line = (uint32_t)v;
        found = p + 2;
        break;
    }
    return found;
}

static const char *map_line(Arena *a, const char *s, size_t n, const PtxLines *lines, Sources *sources)
{
    uint32_t line, src_line, col;
    const char *rest = find_line_number(s, n, &line), *path;
    if (rest == NULL) return arena_strdup(a, s, n);
    const char *end = s + n, *colon = memchr(rest, ':', (size_t)(end - rest)); /* "error   : TEXT" */
    const char *word = colon ? colon : rest;
    while (word > rest && word[-1] == ' ') word--;
    if (colon == NULL) colon = rest;
    Span span = span_of_line(lines, line);
    if (span.lo == 0 || sources == NULL || sources_file(sources, span.lo) == NULL)
        return arena_printf(a, "PTX line %u: %.*s%.*s", line, (int)(word - rest), rest, (int)(end - colon), colon);
    source_place(sources, span.lo, &path, &src_line, &col);
    return arena_printf(a, "%s:%u:%u: %.*s%.*s", path, src_line, col, (int)(word - rest), rest, (int)(end - colon),
                        colon);
}

static const char *map_log(Arena *a, const char *log, const PtxLines *lines, Sources *sources)
{
    VEC(const char *) mapped = {0};
    size_t total = 0;
    for (const char *p = log + strspn(log, "\r\n"); *p; p += strspn(p, "\r\n")) {
        size_t n = strcspn(p, "\r\n");
        const char *s = map_line(a, p, n < 4096 ? n : 4096, lines, sources);
        vec_push(a, &mapped, s);
        total += strlen(s) + 1;
        p += n;
    }
    char *out = arena_alloc(a, total + 1), *at = out;
    for (uint32_t i = 0; i < mapped.n; i++) {
        size_t n = strlen(mapped.v[i]);
        memcpy(at, mapped.v[i], n);
        at[n] = '\n';
        at += n + 1;
    }
    return out;
}

/* ---- choice ---- */

static AsmOutcome choose(AsmRun *r)
{
    if (r->opt->which == TILECC_ASM_PTXAS) return asm_ptxas(r);
    AsmOutcome linked = asm_nvjitlink(r);
    if (r->opt->which == TILECC_ASM_NVJITLINK || linked == ASM_DONE || linked == ASM_REFUSED) return linked;
    AsmRun first = *r;
    AsmOutcome o = asm_ptxas(r);
    if (o != ASM_ABSENT || linked == ASM_ABSENT) return o;
    first.tried = r->tried;
    *r = first; /* what nvJitLink said is worth more than that there is no ptxas */
    return linked;
}

AsmResult assemble(Arena *a, const AsmOptions *opt, const char *ptx, size_t size, const PtxLines *lines,
                   Sources *sources)
{
    AsmRun r = {
        .arena = a, .opt = opt, .ptx = ptx, .size = size, .tried = "", .message = "", .log = "", .assembler = ""};
    AsmOutcome o = choose(&r);
    const char *what = opt->which == TILECC_ASM_PTXAS       ? "ptxas"
                       : opt->which == TILECC_ASM_NVJITLINK ? "libnvJitLink"
                                                            : "neither libnvJitLink nor ptxas";
    AsmResult res = {.status = o == ASM_DONE ? TILECC_OK : TILECC_ERROR_TOOL, .message = "", .assembler = r.assembler};
    res.log = map_log(a, r.log, lines, sources);
    switch (o) {
    case ASM_DONE:
        res.cubin = r.cubin;
        res.size = r.cubin_size;
        break;
    case ASM_REFUSED: res.message = arena_printf(a, "%s refused the PTX", r.assembler); break;
    case ASM_TOO_OLD:
        res.message = arena_printf(a, "%s is too old for target %s or for this PTX version", r.assembler, opt->arch);
        break;
    case ASM_ABSENT:
        res.message = arena_printf(a, "%s was found%s; tried %s", what, opt->which == TILECC_ASM_AUTO ? "" : " nowhere",
                                   r.tried);
        break;
    case ASM_BROKEN: res.message = r.message; break;
    }
    return res;
}

/* With AUTO both: which one is taken depends on what the first one says to the target. */
void assemble_key(Arena *a, const AsmOptions *opt, const char *ptx, size_t size, CacheKey *k)
{
    AsmRun r = {.arena = a, .opt = opt, .tried = ""};
    key_begin(k, "cubin");
    key_text(k, opt->arch);
    key_number(k, opt->lineinfo);
    bool linked = opt->which != TILECC_ASM_PTXAS && asm_nvjitlink_key(&r, k);
    bool program = opt->which != TILECC_ASM_NVJITLINK && asm_ptxas_key(&r, k);
    key_number(k, linked);
    key_number(k, program);
    if (!linked && !program) k->unknown = "there is no assembler";
    key_bytes(k, ptx, size);
}
