#include "ptxgen/emit/emit.h"

#include <string.h>

#include "lang/limits.h"

enum { HEADER_ROOM = 512 };

static void put_version(Text *t, unsigned version)
{
    text_uint(t, version / 10);
    text_char(t, '.');
    text_uint(t, version % 10);
}

/* ---- begin ---- */

PtxWriter *ptx_begin(Arena *a, Mem *mem, const IrModule *m, const PtxOptions *opt)
{
    PtxWriter *w = arena_new(a, PtxWriter);
    w->arena = a;
    w->mem = mem;
    w->m = m;
    w->opt = *opt;
    w->target = target_find(m->target);
    w->version = w->target ? w->target->min_version : 0;
    if (m->version > w->version) w->version = m->version;
    w->entries = names_new(a);
    w->source = arena_strdup(a, opt->source_path, strlen(opt->source_path));
    w->target_name = m->target;
    Manifest head = {.compiler = "tilecc " TILECC_VERSION,
                     .target = w->target_name,
                     .source = w->source,
                     .source_hash = opt->source_hash};
    manifest_begin(&w->manifest, a, &head);
    w->room = HEADER_ROOM + strlen(w->source) + strlen(w->target_name);
    text_init(&w->out, mem);
    text_init(&w->body, mem);
    char *blank = arena_alloc(a, w->room);
    memset(blank, ' ', w->room);
    text_put(&w->out, blank, w->room); /* the last that can fail: who got no writer can free none */
    return w;
}

void ptx_free(PtxWriter *w)
{
    if (w == NULL) return;
    text_free(&w->out);
    text_free(&w->body);
    mem_free(w->mem, w->lines.v);
    mem_free(w->mem, w->vals.v);
    mem_free(w->mem, w->vars.v);
    mem_free(w->mem, w->blocks.v);
    memset(&w->lines, 0, sizeof w->lines);
    memset(&w->vals, 0, sizeof w->vals);
    memset(&w->vars, 0, sizeof w->vars);
    memset(&w->blocks, 0, sizeof w->blocks);
}

/* ---- statements: comments, .loc, the map of lines ---- */

static void add_line(PtxWriter *w, uint32_t line, Span span)
{
    w->lines.v = mem_grow(w->mem, w->lines.v, &w->lines.cap, w->lines.n + 1, sizeof *w->lines.v);
    w->lines.v[w->lines.n++] = (PtxLine){.line = line, .span = span};
}

static uint32_t file_number(PtxWriter *w, const Source *f)
{
    for (uint32_t i = 0; i < w->files.n; i++)
        if (w->files.v[i] == f) return i + 1;
    vec_push(w->arena, &w->files, f);
    return w->files.n;
}

void ptx_statement(PtxWriter *w, Span span)
{
    if (span.lo == w->span.lo && span.hi == w->span.hi) return;
    w->span = span;
    add_line(w, w->body_line, span);
    if (span.lo == 0 || w->opt.sources == NULL) return;
    Source *f = sources_file(w->opt.sources, span.lo);
    const char *path;
    uint32_t line, col, len;
    source_place(w->opt.sources, span.lo, &path, &line, &col);
    if (f != w->shown || line != w->shown_line) {
        w->shown = f;
        w->shown_line = line;
        const char *s = source_line(w->opt.sources, f, line, &len);
        while (len && (*s == ' ' || *s == '\t')) s++, len--;
        while (len && (s[len - 1] == ' ' || s[len - 1] == '\t')) len--;
        text_lit(&w->body, "    // ");
        ptx_ascii(&w->body, s, len, false);
        ptx_line_end(w);
    }
    uint32_t file = w->opt.lineinfo ? file_number(w, f) : 0;
    if (file && (w->loc[0] != file || w->loc[1] != line || w->loc[2] != col)) {
        w->loc[0] = file;
        w->loc[1] = line;
        w->loc[2] = col;
        text_lit(&w->body, "    .loc ");
        text_uint(&w->body, file);
        text_char(&w->body, ' ');
        text_uint(&w->body, line);
        text_char(&w->body, ' ');
        text_uint(&w->body, col);
        ptx_line_end(w);
    }
}

/* ---- kernel ---- */

static void begin_body(PtxWriter *w, const IrKernel *k)
{
    w->k = k;
    text_clear(&w->body);
    w->body_line = 0;
    w->first_line_entry = w->lines.n;
    memset(w->regs, 0, sizeof w->regs);
    w->labels = 0;
    w->shown = NULL;
    memset(w->loc, 0, sizeof w->loc);
    w->span = (Span){0, 0};
    w->tmem = w->smem = w->counter = w->much = w->maps_room = w->warp = w->lane = w->elected = (Opnd){.kind = OPND_EMPTY};
    w->first_warp = w->role_warps = 0;
    w->divided = false;
    w->chains = ptx_has_chains(k);

    uint32_t n = k->value_types.n;
    w->vals.v = mem_grow(w->mem, w->vals.v, &w->vals.cap, n, sizeof *w->vals.v);
    w->vals.n = n;
    if (n) memset(w->vals.v, 0, n * sizeof *w->vals.v);

    n = k->vars.n + k->mf.maps.n + k->mf.tensors.n + k->pols.n;
    w->vars.v = mem_grow(w->mem, w->vars.v, &w->vars.cap, n + 1, sizeof *w->vars.v); /* never NULL */
    w->vars.n = n;
    memset(w->vars.v, 0, (n + 1) * sizeof *w->vars.v);
    w->maps = w->vars.v + k->vars.n;
    w->tensors = w->maps + k->mf.maps.n;
    w->pols = w->tensors + k->mf.tensors.n;
}

static void out_line(PtxWriter *w)
{
    text_char(&w->out, '\n');
    w->line++;
}

static const char *param_comment(const MfKernel *mf, const MfParam *p)
{
    if (p->kind == MF_PARAM_MAP) return mf->maps.v[p->index].name;
    if (p->kind == MF_PARAM_ADDRESS) return mf->tensors.v[p->index].name;
    if (p->kind == MF_PARAM_COUNTER) return "counter of tickets";
    if (p->kind == MF_PARAM_MAPS) return "room for maps";
    if (p->kind == MF_PARAM_HINTS) return "moves more than 8 x L2";
    return NULL;
}

static void put_params(PtxWriter *w, const MfKernel *mf)
{
    Text *t = &w->out;
    for (uint32_t i = 0; i < mf->params.n; i++) {
        const MfParam *p = &mf->params.v[i];
        bool map = p->kind == MF_PARAM_MAP;
        if (map) text_lit(t, "    .param .align 64 .b8 param_");
        else if (p->kind == MF_PARAM_ADDRESS || p->kind == MF_PARAM_COUNTER || p->kind == MF_PARAM_MAPS) text_lit(t, "    .param .u64 param_");
        else text_lit(t, "    .param .s64 param_");
        text_uint(t, i);
        if (map) text_lit(t, "[128]");
        if (i + 1 < mf->params.n) text_char(t, ',');
        const char *name = param_comment(mf, p);
        if (name) {
            text_str(t, map ? " // map " : " // ");
            ptx_ascii(t, name, strlen(name), false);
        }
        out_line(w);
    }
}

static void put_signature(PtxWriter *w, const MfKernel *mf)
{
    enum { PARAM_BYTES_VERSION = 81 };
    Text *t = &w->out;
    out_line(w);
    text_lit(t, ".visible .entry ");
    text_str(t, mf->entry);
    text_char(t, '(');
    out_line(w);
    put_params(w, mf);
    if (manifest_param_bytes(mf) > PARAM_BYTES_OLD && w->version < PARAM_BYTES_VERSION) w->version = PARAM_BYTES_VERSION;
    text_char(t, ')');
    out_line(w);
    text_lit(t, ".reqntid ");
    text_uint(t, mf->threads ? mf->threads : 32);
    out_line(w);
    if (mf->cluster[0] * mf->cluster[1] * mf->cluster[2] > 1) {
        text_lit(t, ".explicitcluster");
        out_line(w);
        text_lit(t, ".reqnctapercluster ");
        for (int i = 0; i < 3; i++) {
            if (i) text_lit(t, ", ");
            text_uint(t, mf->cluster[i]);
        }
        out_line(w);
    }
}

static void put_registers(PtxWriter *w)
{
    static const char *const decl[RC_COUNT] = {[RC_B32] = "    .reg .b32 %r<",
                                               [RC_B64] = "    .reg .b64 %rd<",
                                               [RC_PRED] = "    .reg .pred %p<",
                                               [RC_B16] = "    .reg .b16 %h<",
                                               [RC_B128] = "    .reg .b128 %rq<"};
    for (int c = RC_B32; c < RC_COUNT; c++) {
        if (w->regs[c] == 0) continue;
        text_str(&w->out, decl[c]);
        text_uint(&w->out, w->regs[c]);
        text_lit(&w->out, ">;");
        out_line(w);
    }
}

/* A body may be long, alone and behind little: the shorter one goes to the longer one. */
static void add_body(PtxWriter *w)
{
    Text out = w->out;
    if (w->body.n <= out.n) {
        text_put(&w->out, w->body.s, w->body.n);
        return;
    }
    text_put_front(&w->body, out.s, out.n);
    w->out = w->body;
    w->body = out;
}

void ptx_kernel(PtxWriter *w, const IrKernel *k)
{
    MfKernel mf = k->mf;
    mf.entry = ptx_entry(&w->body, w->entries, mf.entry ? mf.entry : mf.name);
    manifest_kernel(&w->manifest, &mf);
    w->shared = w->shared || mf.smem;
    if (k->zero_bytes > w->zero_bytes) w->zero_bytes = k->zero_bytes;

    begin_body(w, k);
    ptx_bodies(w);

    add_line(w, 0, k->span); /* its place among the others is found below */
    PtxLine *first = &w->lines.v[w->first_line_entry];
    memmove(first + 1, first, (w->lines.n - 1 - w->first_line_entry) * sizeof *first);
    *first = (PtxLine){.line = w->line + 1, .span = k->span};
    put_signature(w, &mf);
    text_char(&w->out, '{');
    out_line(w);
    put_registers(w);
    for (uint32_t i = w->first_line_entry + 1; i < w->lines.n; i++) w->lines.v[i].line += w->line + 1;
    add_body(w);
    w->line += w->body_line;
    text_lit(&w->out, "    ret;");
    out_line(w);
    text_char(&w->out, '}');
    out_line(w);
}

/* ---- end ---- */

static void put_header(PtxWriter *w, Text *t)
{
    text_lit(t, "// tilecc " TILECC_VERSION ", from ");
    ptx_ascii(t, w->source, strlen(w->source), false);
    text_lit(t, "\n.version ");
    put_version(t, w->version);
    text_lit(t, "\n.target ");
    text_str(t, w->target_name);
    text_lit(t, "\n.address_size 64\n");
    if (w->shared) text_lit(t, "\n.extern .shared .align 1024 .b8 " PTX_SMEM "[];\n");
    if (w->zero_bytes == 0) return;
    text_lit(t, "\n.global .align 128 .b8 " PTX_ZERO "[");
    text_uint(t, w->zero_bytes);
    text_lit(t, "];\n");
}

static void put_files(PtxWriter *w)
{
    for (uint32_t i = 0; i < w->files.n; i++) {
        const char *path = source_recorded(w->files.v[i]);
        text_lit(&w->out, ".file ");
        text_uint(&w->out, i + 1);
        text_lit(&w->out, " \"");
        ptx_ascii(&w->out, path, strlen(path), true);
        text_lit(&w->out, "\"\n");
    }
}

const char *ptx_end(PtxWriter *w, size_t *size, PtxLines *lines, unsigned *version)
{
    if (!w->ended) {
        ptx_manifest(w);
        put_files(w);
        text_clear(&w->body);
        put_header(w, &w->body);
        uint32_t header_lines = 0;
        for (size_t i = 0; i < w->body.n; i++) header_lines += w->body.s[i] == '\n';
        for (uint32_t i = 0; i < w->lines.n; i++) w->lines.v[i].line += header_lines;
        w->room -= w->body.n;
        memcpy(w->out.s + w->room, w->body.s, w->body.n);
        w->ended = true;
    }
    *size = w->out.n - w->room;
    if (lines) *lines = w->lines;
    if (version) *version = w->version;
    return w->out.s + w->room;
}
