/* The text form of a module, printed and read. */
#include <string.h>

#include "lower/ir/filter.h"

/* ---- printing ---- */

typedef struct Job {
    Filter form;
    const IrModule *m;
    const IrKernel *k;
    const IrOp *op; /* only this one, of k */
    Arena scratch;
} Job;

static void print_module(Job *j)
{
    const IrModule *m = j->m;
    Text *out = j->form.out;
    Filter f = j->form;
    f.tight = true;
    filter_word(&f, "module");
    filter_name(&f, m->target);
    if (m->version) text_printf(out, " version %u.%u", m->version / 10, m->version % 10);
    filter_maybe(&f, "cluster_dst", m->cluster_dst);
    text_char(out, '\n');
    for (uint32_t i = 0; i < m->kernels.n; i++) {
        IrKernel k = *m->kernels.v[i];
        if (f.tree && k.tree.ops.n == 0) continue;
        ArenaMark mark = arena_mark(&j->scratch);
        f.k = &k;
        filter_names(&f);
        text_char(out, '\n');
        filter_kernel(&f);
        text_char(out, '\n');
        arena_release(&j->scratch, mark);
    }
}

static void print_op(Job *j)
{
    IrKernel k = *j->k;
    IrOp op = *j->op;
    j->form.k = &k;
    j->form.tight = true;
    filter_op(&j->form, NULL, &op);
}

static void print_job(void *to)
{
    Job *j = to;
    j->form.arena = &j->scratch;
    (j->op ? print_op : print_module)(j);
}

static void print(Job *j)
{
    arena_init(&j->scratch, j->form.out->mem);
    arena_within(&j->scratch, print_job, j);
}

void ir_print(Text *out, const IrModule *m, Sources *sources)
{
    print(&(Job){.form = {.out = out, .sources = sources}, .m = m});
}

void ir_print_tree(Text *out, const IrModule *m, Sources *sources)
{
    print(&(Job){.form = {.out = out, .sources = sources, .tree = true}, .m = m});
}

void ir_print_op(Text *out, const IrKernel *k, const IrOp *op)
{
    print(&(Job){.form = {.out = out}, .k = k, .op = op});
}

/* ---- reading ---- */

static void read_kernel(Filter *f, IrModule *m)
{
    IrKernel *k = f->k = arena_new(f->arena, IrKernel);
    filter_read_names(f);
    for (int i = 0; i < 3; i++) k->mf.cluster[i] = 1;
    filter_kernel(f);
    k->name = names_intern(f->names, k->mf.name, strlen(k->mf.name));
    vec_push(f->arena, &m->kernels, k);
    const char *wrong = f->failed ? NULL : ir_check(f->arena, k);
    if (wrong == NULL) return;
    f->tok.span = k->span;
    filter_error(f, E0662, "%s", wrong);
}

static unsigned read_version(Filter *f)
{
    const char *s = f->tok.text;
    bool ok = f->tok.kind == TOK_NUMBER && s[0] >= '1' && s[0] <= '9' && s[1] == '.' && s[2] >= '0' && s[2] <= '9' && s[3] == 0;
    if (!ok) filter_error(f, E0690, "a version such as 8.6 is due");
    filter_next(f);
    return ok ? (unsigned)(s[0] - '0') * 10 + (unsigned)(s[2] - '0') : 0;
}

IrModule *ir_read(Arena *a, Names *names, Diags *d, Source *src)
{
    Filter f = {.reading = true, .arena = a, .names = names, .diags = d, .src = src, .cursor = src->text};
    IrModule *m = arena_new(a, IrModule);
    filter_next(&f);
    filter_word(&f, "module");
    m->target = filter_name(&f, NULL);
    if (filter_accept(&f, "version")) m->version = read_version(&f);
    m->cluster_dst = filter_accept(&f, "cluster_dst");
    while (f.tok.kind != TOK_END && !f.failed) read_kernel(&f, m);
    return f.failed ? NULL : m;
}
