/* The directives of a PTX module that stand before and between its parts: .version, .target, .address_size, .file, .loc. */
#include <string.h>

#include "lang/names.h"
#include "runtime/ptx/parse.h"

static int shown(const char *text)
{
    return ptx_shown(text, strlen(text));
}

static void head(PtxReader *r, const char *text)
{
    ptx_defect(r, PTX_HEAD, r->first_line, r->first_column, "%s", text);
}

void ptx_version(PtxReader *r, PtxConst c)
{
    double v = ptx_double(c);
    if (r->module->version_line) {
        head(r, "a second `.version`: a module has one");
        return;
    }
    if (r->phase != HEAD_START && r->early_target.line == 0) head(r, "`.version` is the first directive of a module");
    r->module->version_line = r->first_line;
    size_t n = (size_t)(r->prev.end - r->prev.start); /* END_OF_LINE was seen: prev is the number */
    const char *point = memchr(r->prev.start, '.', n);
    bool plain = point && point + 2 == r->prev.end && point[1] >= '0' && point[1] <= '9';
    if (plain && v >= 1 && v < 100) r->module->version = (unsigned)(v * 10 + 0.5);
    else head(r, "a version is a number with one digit behind the point, such as 8.6");
}

/* ptxas takes the same target once more right behind the first. */
void ptx_target(PtxReader *r, PtxWord w)
{
    if (r->module->target) {
        if (r->phase != HEAD_TARGET || strcmp(r->module->target, ptx_text(r, w)) != 0)
            head(r, "a second `.target`: a module has one");
        return;
    }
    if (r->phase == HEAD_START) r->early_target = w;
    else if (r->phase != HEAD_VERSION) head(r, "`.target` follows `.version`, before everything else");
    r->module->target = ptx_text(r, w);
    r->module->target_line = r->first_line;
}

/* PTX ISA, .target. Further architectures may be named too. */
void ptx_target_option(PtxReader *r, PtxWord w)
{
    static const char *const options[] = {"debug", "texmode_unified", "texmode_independent"};
    const char *text = ptx_text(r, w);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strcmp(text, options[i]) == 0) return;
    if (strncmp(text, "sm_", 3) == 0) return;
    const char *near = spelling_nearest(text, options, sizeof options / sizeof *options);
    ptx_defect(r, PTX_HEAD, w.line, w.column, "`%.*s` is no option of a target%s%s%s", shown(text), text,
               near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
}

void ptx_nothing(PtxReader *r)
{
    if (!r->recovered) ptx_problem(r, r->first_line, "this `;` ends nothing");
}

void ptx_address_size(PtxReader *r, PtxConst bits)
{
    if (r->module->address_size) head(r, "a second `.address_size`: a module has one");
    else if (r->phase == HEAD_OVER) head(r, "`.address_size` stands before everything but `.version` and `.target`");
    if (bits.value == 32 || bits.value == 64) r->module->address_size = (int)bits.value;
    else head(r, "addresses have 32 or 64 bits");
}

void ptx_file(PtxReader *r, PtxConst number, const char *path)
{
    uint64_t n = (uint64_t)number.value;
    if (n > FILES_MAX) {
        ptx_problem(r, r->first_line, "the number of a .file is at most %d", FILES_MAX);
        return;
    }
    while (r->module->files.n <= n) vec_add(r->arena, &r->module->files);
    r->module->files.v[n] = path;
}

uint32_t ptx_clipped(PtxConst c)
{
    return (uint64_t)c.value > UINT32_MAX ? UINT32_MAX : (uint32_t)c.value;
}

void ptx_loc(PtxReader *r, PtxConst file, PtxConst line, PtxConst column)
{
    r->place = (PtxPlace){ptx_clipped(file), ptx_clipped(line), ptx_clipped(column)};
}
