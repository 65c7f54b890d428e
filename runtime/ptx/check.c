/* tile_check_ptx: a whole PTX text against the rows of lang/instructions.def, for any target and version. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang/names.h"
#include "runtime/report.h"
#include "runtime/ptx/forms.h"
#include "runtime/ptx/ptx.h"

typedef struct Found {
    uint32_t line, column, order;
    bool is_error;
    ErrorCode code;
    const char *text;
} Found;

typedef struct Checker {
    Arena arena;
    VEC(Found) found;
    const TargetInfo *target; /* NULL: unknown; no legality is judged then */
    TargetInfo other;         /* behind `target`, for those without the asynchronous families */
    unsigned version;
    const PtxInstr *at;
    size_t instructions;
} Checker;

static void add(Checker *c, uint32_t line, uint32_t column, ErrorCode code, const char *text)
{
    Found f = {line,       column,
               c->found.n, error_info(code)->cls == DIAG_ERROR,
               code,       arena_strdup(&c->arena, text, strlen(text))};
    vec_push(&c->arena, &c->found, f);
}

/* ---- targets and versions ---- */

static const TargetInfo *find_target(Checker *c, const char *name)
{
    const TargetInfo *t = target_find(name);
    const OlderTarget *older = older_target_find(name);
    if (!older) return t;
    c->other = t ? *t : (TargetInfo){.name = older->name, .sm = older->sm, .today = ""};
    c->other.min_version = older->min_version;
    return &c->other;
}

static bool read_version(const char *text, unsigned *out)
{
    if (text[0] < '0' || text[0] > '9' || text[1] != '.' || text[2] < '0' || text[2] > '9' || text[3]) return false;
    *out = (unsigned)(text[0] - '0') * 10 + (unsigned)(text[2] - '0');
    return ptx_version_exists(*out);
}

static void choose_version(Checker *c, const PtxModule *m)
{
    char text[160];
    if (!c->version) {
        c->version = m->version;
        if (m->version == 0 && m->version_line == 0)
            add(c, 1, 1, E1415, "the module has no .version; name one with --ptx-version");
        else if (m->version && !ptx_version_exists(m->version)) {
            snprintf(text, sizeof text, "there is no .version %u.%u; the newest is %u.%u", m->version / 10,
                     m->version % 10, ptx_version_newest() / 10, ptx_version_newest() % 10);
            add(c, m->version_line, 1, E1415, text);
        }
    }
    if (!ptx_version_exists(c->version)) c->version = ptx_version_newest();
}

static void choose_target(Checker *c, const PtxModule *m, const char *name)
{
    char text[160];
    uint32_t line = m->target_line ? m->target_line : 1;
    if (!name && !m->target) {
        add(c, line, 1, E1415, "the module has no .target; name one with --target");
        return;
    }
    c->target = find_target(c, name ? name : m->target);
    if (!c->target) {
        const char *near = target_nearest(m->target);
        snprintf(text, sizeof text, "there is no target %.40s%s%s", m->target, near ? "; did you mean " : "",
                 near ? near : "");
        add(c, line, 1, E1415, text);
        return;
    }
    const TargetInfo *t = c->target;
    if (c->version >= t->min_version) return;
    snprintf(text, sizeof text, "%s needs .version %u.%u, here it is %u.%u", t->name, t->min_version / 10u,
             t->min_version % 10u, c->version / 10, c->version % 10);
    add(c, m->version_line ? m->version_line : line, 1, E1415, text);
    c->version = t->min_version; /* said once */
}

/* ---- instructions ---- */

/* The first words of all instructions (PTX ISA, Instruction Set), sorted. */
static const char *const OPCODES[] = {
    "abs",          "activemask",    "add",       "addc",       "alloca",
    "and",          "applypriority", "atom",      "bar",        "barrier",
    "bfe",          "bfi",           "bfind",     "bmsk",       "bra",
    "brev",         "brkpt",         "brx",       "call",       "clusterlaunchcontrol",
    "clz",          "cnot",          "copysign",  "cos",        "cp",
    "createpolicy", "cvt",           "cvta",      "discard",    "div",
    "dp2a",         "dp4a",          "elect",     "ex2",        "exit",
    "fence",        "fma",           "fns",       "getctarank", "griddepcontrol",
    "isspacep",     "istypep",       "ld",        "ldmatrix",   "ldu",
    "lg2",          "lop3",          "mad",       "mad24",      "madc",
    "mapa",         "match",         "max",       "mbarrier",   "membar",
    "min",          "mma",           "mov",       "movmatrix",  "mul",
    "mul24",        "multimem",      "nanosleep", "neg",        "not",
    "or",           "pmevent",       "popc",      "prefetch",   "prefetchu",
    "prmt",         "rcp",           "red",       "redux",      "rem",
    "ret",          "rsqrt",         "sad",       "selp",       "set",
    "setmaxnreg",   "setp",          "shf",       "shfl",       "shl",
    "shr",          "sin",           "slct",      "sqrt",       "st",
    "stackrestore", "stacksave",     "stmatrix",  "sub",        "subc",
    "suld",         "suq",           "sured",     "sust",       "szext",
    "tanh",         "tcgen05",       "tensormap", "testp",      "tex",
    "tld4",         "trap",          "txq",       "vabsdiff",   "vabsdiff2",
    "vabsdiff4",    "vadd",          "vadd2",     "vadd4",      "vavrg2",
    "vavrg4",       "vmad",          "vmax",      "vmax2",      "vmax4",
    "vmin",         "vmin2",         "vmin4",     "vote",       "vset",
    "vset2",        "vset4",         "vshl",      "vshr",       "vsub",
    "vsub2",        "vsub4",         "wgmma",     "wmma",       "xor",
};
enum { NOPCODES = sizeof OPCODES / sizeof OPCODES[0] };

static int by_text(const void *a, const void *b)
{
    return strcmp(a, *(const char *const *)b);
}

static void report_form(void *user, const FormFinding *f)
{
    Checker *c = user;
    bool operands = f->code == E1407 || f->code == E1408;
    if (operands && c->at->unresolved) return; /* the name was reported */
    add(c, c->at->line, c->at->column, f->code, f->text);
}

static void check_instruction(Checker *c, const PtxInstr *i)
{
    c->at = i;
    if (form_is_matrix(i)) {
        form_check_matrix(i, c->target, c->version, report_form, c);
        return;
    }
    if (!form_family(i)) {
        if (bsearch(i->opcode, OPCODES, NOPCODES, sizeof OPCODES[0], by_text)) return;
        char text[128];
        const char *near = spelling_nearest(i->opcode, OPCODES, NOPCODES);
        snprintf(text, sizeof text, "`%.40s` is no instruction%s%s%s", i->opcode, near ? "; did you mean `" : "",
                 near ? near : "", near ? "`?" : "");
        add(c, i->line, i->column, E1402, text);
        return;
    }
    c->instructions++;
    FormMatch m;
    ErrorCode code;
    char why[640];
    if (form_match(i, &m, &code, why, sizeof why)) form_check(i, &m, c->target, c->version, report_form, c);
    else report_form(c, &(FormFinding){code, true, why});
}

/* PTX ISA, tcgen05: all instructions of a kernel that name a .cta_group name the same one. */
static void check_groups(Checker *c, const PtxFunc *f)
{
    const char *first = NULL;
    uint32_t line = 0;
    for (uint32_t k = 0; k < f->instrs.n; k++) {
        const PtxInstr *i = &f->instrs.v[k];
        if (strcmp(i->opcode, "tcgen05") != 0) continue;
        for (uint32_t j = 0; j < i->nmods; j++) {
            if (strncmp(i->mods[j], ".cta_group::", 12) != 0) continue;
            if (!first) {
                first = i->mods[j];
                line = i->line;
            } else if (strcmp(first, i->mods[j]) != 0) {
                char text[160];
                snprintf(text, sizeof text, "`%.20s` here, but `%.20s` in line %u of the same function", i->mods[j],
                         first, (unsigned)line);
                add(c, i->line, i->column, E1413, text);
                return;
            }
        }
    }
}

static void check_module(Checker *c, const PtxModule *m, const char *target)
{
    if (!c->version && !m->version && !m->version_line && !target && !m->target) {
        add(c, 1, 1, E1415, "the module has neither .version nor .target; name them with --ptx-version and --target");
        c->version = ptx_version_newest();
    } else {
        choose_version(c, m);
        choose_target(c, m, target);
    }
    for (uint32_t k = 0; k < m->funcs.n; k++) {
        const PtxFunc *f = m->funcs.v[k];
        for (uint32_t j = 0; j < f->instrs.n; j++) check_instruction(c, &f->instrs.v[j]);
        check_groups(c, f);
    }
}

/* ---- reading and reporting ---- */

static void report_defect(void *user, const PtxDefect *d)
{
    static const ErrorCode codes[] = {
        [PTX_SYNTAX] = E1401, [PTX_HEAD] = E1415, [PTX_UNDECLARED] = E1416, [PTX_GUARD] = E1408};
    add(user, d->line, d->column, codes[d->kind], d->text);
}

static int by_place(const void *a, const void *b)
{
    const Found *x = a, *y = b;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    if (x->column != y->column) return x->column < y->column ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static void report_all(Checker *c, void (*report)(void *user, const tile_ptx_finding *f), void *user,
                       tile_ptx_summary *out)
{
    if (c->found.n) qsort(c->found.v, c->found.n, sizeof c->found.v[0], by_place);
    for (uint32_t k = 0; k < c->found.n; k++) {
        const Found *f = &c->found.v[k];
        if (f->is_error) out->errors++;
        else out->warnings++;
        if (report)
            report(user, &(tile_ptx_finding){f->line, f->column, f->is_error, error_info(f->code)->code, f->text});
    }
    out->instructions = c->instructions;
}

typedef struct Input {
    const char *text, *target;
    size_t size;
} Input;

static bool judge(Checker *c, const Input *in, void (*report)(void *user, const tile_ptx_finding *f), void *user,
                  tile_ptx_summary *out)
{
    jmp_buf failed;
    Mem mem = {.fail = &failed};
    arena_init(&c->arena, &mem);
    if (setjmp(failed)) {
        arena_free(&c->arena);
        return false;
    }
    uint32_t problems = 0;
    const PtxModule *m = ptx_examine(&c->arena, in->text, in->size, report_defect, c, &problems);
    if (m) check_module(c, m, in->target);
    report_all(c, report, user, out);
    arena_free(&c->arena);
    return true;
}

tile_status tile_check_ptx(const char *text, size_t size, const char *target, const char *version,
                           void (*report)(void *user, const tile_ptx_finding *f), void *user, tile_ptx_summary *out,
                           tile_error *err)
{
    Checker c = {.target = NULL};
    tile_ptx_summary counts = {0, 0, 0};
    if (out) *out = counts;
    if (!text && size) return fail_null(err, "the text");
    if (target && !find_target(&c, target)) {
        const char *near = target_nearest(target);
        return fail(err, TILE_ERROR_ARGUMENT, "there is no target '%s'%s%s%s", target, near ? "; did you mean '" : "",
                    near ? near : "", near ? "'?" : "");
    }
    if (version && !read_version(version, &c.version))
        return fail(err, TILE_ERROR_ARGUMENT, "there is no PTX ISA version '%s'; versions are 1.0 .. %u.%u", version,
                    ptx_version_newest() / 10, ptx_version_newest() % 10);
    Input in = {text, target, size};
    if (!judge(&c, &in, report, user, &counts)) return fail(err, TILE_ERROR_MEMORY, "out of memory");
    if (out) *out = counts;
    return succeed(err);
}
