/* The IR's text form: a kernel and what its ops speak of. */
#include <stdio.h>

#include "lang/lang.h"
#include "lower/ir/printer.h"

/* ---- what surrounds the ops ---- */

static void put_lx_list(Printer *p, const Lx *x, unsigned n)
{
    text_char(p->out, '[');
    for (unsigned i = 0; i < n && i < MAP_RANK; i++) {
        if (i) text_lit(p->out, ", ");
        print_lx(p, x[i]);
    }
    text_char(p->out, ']');
}

static const char *map_word(IrMapWord w, uint32_t value)
{
    uint32_t n;
    const char *const *words = ir_map_words(w, &n);
    return value < n ? words[value] : "?";
}

static const char *elem_name(uint8_t type)
{
    return type < TYPE_COUNT ? elem_info((ElemType)type)->name : "?";
}

static void print_params(Printer *p)
{
    static const char *const SYM_KINDS[] = {[MF_SIZE] = "size", [MF_STRIDE] = "stride", [MF_SCALAR] = "scalar"};
    const MfKernel *mf = &p->k->mf;
    Text *t = p->out;
    for (uint32_t i = 0; i < mf->syms.n; i++)
        text_printf(t, "  sym %s %s\n", p->names.syms[i],
                    mf->syms.v[i].kind <= MF_SCALAR ? SYM_KINDS[mf->syms.v[i].kind] : "?");
    for (uint32_t i = 0; i < mf->tensors.n; i++) {
        const MfTensor *x = &mf->tensors.v[i];
        text_printf(t, "  tensor %s %s ", p->names.tensors[i], elem_name(x->type));
        put_lx_list(p, x->extent, x->rank);
        text_lit(t, " stride ");
        put_lx_list(p, x->stride, x->rank);
        if (x->strided) text_lit(t, " strided");
        if (x->read) text_lit(t, " read");
        if (x->written) text_lit(t, " written");
        text_printf(t, " align %u\n", x->align);
    }
    for (uint32_t i = 0; i < mf->scalars.n; i++) {
        const MfScalar *x = &mf->scalars.v[i];
        text_printf(t, "  scalar %s %s sym ", p->names.scalars[i], elem_name(x->type));
        text_str(t, x->sym < mf->syms.n ? p->names.syms[x->sym] : "?");
        text_char(t, '\n');
    }
    for (uint32_t i = 0; i < mf->args.n; i++) {
        bool scalar = mf->args.v[i].is_scalar;
        uint32_t x = mf->args.v[i].index;
        text_str(t, scalar ? "  arg scalar " : "  arg tensor ");
        if (x >= (scalar ? mf->scalars.n : mf->tensors.n)) text_char(t, '?');
        else text_str(t, scalar ? p->names.scalars[x] : p->names.tensors[x]);
        text_char(t, '\n');
    }
}

static void print_map(Printer *p, uint32_t index)
{
    const MfMap *m = &p->k->mf.maps.v[index];
    Text *t = p->out;
    unsigned rank = m->rank < MAP_RANK ? m->rank : MAP_RANK;
    bool strides = false, corners = false;
    text_printf(t, "  map %s = ", p->names.maps[index]);
    text_str(t, m->tensor < p->k->mf.tensors.n ? p->names.tensors[m->tensor] : "?");
    text_printf(t, " %s %s offset ", map_word(IRM_MODE, m->mode), map_word(IRM_TYPE, m->type));
    print_lx(p, m->offset);
    text_lit(t, " dim ");
    put_lx_list(p, m->dim, rank);
    text_lit(t, " pitch ");
    put_lx_list(p, m->pitch, rank);
    text_lit(t, " box [");
    for (unsigned i = 0; i < rank; i++) {
        text_printf(t, i ? ", %u" : "%u", m->box[i]);
        strides |= m->elem_stride[i] != 1;
    }
    text_char(t, ']');
    if (strides) {
        text_lit(t, " elem_stride [");
        for (unsigned i = 0; i < rank; i++) text_printf(t, i ? ", %u" : "%u", m->elem_stride[i]);
        text_char(t, ']');
    }
    if (m->interleave) text_printf(t, " interleave %s", map_word(IRM_INTERLEAVE, m->interleave));
    if (m->swizzle) text_printf(t, " swizzle %s", map_word(IRM_SWIZZLE, m->swizzle));
    if (m->l2) text_printf(t, " l2 %s", map_word(IRM_L2, m->l2));
    if (m->fill) text_printf(t, " fill %s", map_word(IRM_FILL, m->fill));
    for (unsigned i = 0; i < 3; i++) corners |= m->lower[i] || m->upper[i];
    if (corners)
        text_printf(t, " lower [%d, %d, %d] upper [%d, %d, %d]", m->lower[0], m->lower[1], m->lower[2], m->upper[0],
                    m->upper[1], m->upper[2]);
    if (m->channels) text_printf(t, " channels %u", m->channels);
    if (m->pixels) text_printf(t, " pixels %u", m->pixels);
    if (m->is_load) text_lit(t, " load");
    if (m->is_store) text_lit(t, " store");
    text_char(t, '\n');
}

static void print_launch(Printer *p)
{
    const MfKernel *mf = &p->k->mf;
    Text *t = p->out;
    for (uint32_t i = 0; i < mf->maps.n; i++) print_map(p, i);
    for (uint32_t i = 0; i < mf->params.n; i++) {
        const MfParam *x = &mf->params.v[i];
        if (x->kind == MF_PARAM_MAP) {
            text_printf(t, "  param map %s\n", x->index < mf->maps.n ? p->names.maps[x->index] : "?");
        } else if (x->kind == MF_PARAM_ADDRESS) {
            text_printf(t, "  param address %s\n", x->index < mf->tensors.n ? p->names.tensors[x->index] : "?");
        } else if (x->kind == MF_PARAM_COUNTER) {
            text_lit(t, "  param counter\n");
        } else if (x->kind == MF_PARAM_HINTS) {
            text_lit(t, "  param hints\n");
        } else if (x->kind == MF_PARAM_MAPS) {
            text_printf(t, "  param maps %u\n", x->index);
        } else {
            text_lit(t, "  param value ");
            print_lx(p, x->index);
            text_char(t, '\n');
        }
    }
    for (uint32_t i = 0; i < mf->checks.n; i++) {
        const MfCheck *c = &mf->checks.v[i];
        text_printf(t, "  check %s ", c->code < ERROR_COUNT ? error_info(c->code)->code : "?");
        print_lx(p, c->cond);
        text_char(t, ' ');
        print_string(t, c->text);
        text_lit(t, " why ");
        print_string(t, c->why);
        text_lit(t, " at ");
        print_string(t, c->place);
        text_char(t, '\n');
    }
    size_t nfacts;
    const char *const *facts = word_list(WORDS_TRUST, &nfacts);
    for (uint32_t i = 0; i < mf->trusts.n; i++) {
        const MfTrust *x = &mf->trusts.v[i];
        text_printf(t, "  trust %s %s\n", facts[x->fact], x->tensor < mf->tensors.n ? p->names.tensors[x->tensor] : "?");
    }
    static const char *const DEALS[] = {[MF_DEAL_STATIC] = "static", [MF_DEAL_TICKET] = "ticket"};
    if (mf->deal) {
        text_printf(t, "  deal %s ", DEALS[mf->deal]);
        print_lx(p, mf->teams);
        text_printf(t, " per_sm %u\n", mf->per_sm);
    }
    if (mf->traffic) {
        text_lit(t, "  traffic ");
        print_lx(p, mf->traffic);
        text_char(t, '\n');
    }
    if (mf->schedules) text_printf(t, "  schedule %u of %u more_l2 %u more_ctas %u\n", mf->schedule, mf->schedules, mf->more_l2, mf->more_ctas);
    if (mf->dependent) text_lit(t, "  dependent\n");
    text_lit(t, "  grid ");
    for (int i = 0; i < 3; i++) {
        if (i) text_lit(t, ", ");
        print_lx(p, mf->grid[i]);
    }
    text_printf(t, "\n  cluster %u, %u, %u\n", mf->cluster[0], mf->cluster[1], mf->cluster[2]);
    text_printf(t, "  threads %u\n  smem %u\n", mf->threads, mf->smem);
    if (p->k->zero_bytes) text_printf(t, "  zeros %u\n", p->k->zero_bytes);
    if (p->k->tmem) text_printf(t, "  tmem_columns %u%s\n", p->k->tmem, p->k->pair ? " pair" : "");
}

static void put_fraction(Text *t, double f)
{
    char digits[40];
    int n = snprintf(digits, sizeof digits, "%.9g", f); /* createpolicy takes an f32: nine digits say all of it */
    for (int i = 0; i < n; i++) text_char(t, digits[i] == ',' ? '.' : digits[i]); /* whatever the locale */
}

static void put_pitches(Text *t, const char *word, const uint32_t *v, unsigned n)
{
    text_printf(t, " %s [", word);
    for (unsigned i = 0; i < n && i < MAP_RANK; i++) text_printf(t, i ? ", %u" : "%u", v[i]);
    text_char(t, ']');
}

static void print_side(Printer *p, const char *word, const IrSide *s, unsigned rank)
{
    Text *t = p->out;
    text_printf(t, " %s %s%s", word, elem_name(s->type), s->global ? " global" : "");
    put_pitches(t, "pitch", s->pitch, rank);
    if (s->span) text_printf(t, " span %u panel %u", s->span, s->panel);
    if (s->swizzle) text_printf(t, " swizzle %s", map_word(IRM_SWIZZLE, s->swizzle));
    if (s->align) text_printf(t, " align %u", s->align);
}

static void print_plan(Printer *p, uint32_t index)
{
    static const char *const XFORMS[] = {[IRX_COPY] = "copy", [IRX_TRANSPOSE] = "transpose", [IRX_FILL] = "fill", [IRX_REVERSE] = "reverse"};
    const IrPlan *q = &p->k->plans.v[index];
    Text *t = p->out;
    text_printf(t, "  plan %s = %s", p->names.plans[index], q->xform <= IRX_REVERSE ? XFORMS[q->xform] : "?");
    put_pitches(t, "extent", q->extent, q->rank);
    if (q->xform == IRX_FILL) text_printf(t, " value %lld", (long long)q->value);
    else print_side(p, "src", &q->src, q->rank);
    print_side(p, "dst", &q->dst, q->rank);
    if (q->add) text_lit(t, " add");
    if (q->sat) text_lit(t, " sat");
    text_printf(t, " threads %u vector %u method %u", q->threads, q->vector, q->method);
    if (q->wide) text_printf(t, " block %u, %u deal %u", q->wide, q->tall, q->deal);
    text_printf(t, " ways %u, %u\n", q->read_ways, q->write_ways);
}

static void print_objects(Printer *p)
{
    const IrKernel *k = p->k;
    Text *t = p->out;
    size_t words;
    const char *const *cache = word_list(WORDS_CACHE, &words);
    for (uint32_t i = 0; i < k->bufs.n; i++) {
        const IrBuf *b = &k->bufs.v[i];
        if (b->lanes) {
            text_printf(t, "  tmem %s lanes %u columns %u slots %u pitch %u at %u\n", p->names.bufs[i], b->lanes, b->columns, b->slots,
                        b->column_pitch, b->column);
            continue;
        }
        text_printf(t, "  buf %s bytes %u align %u slots %u pitch %u at %u%s", p->names.bufs[i], b->bytes, b->align,
                    b->slots, b->pitch, b->offset, b->maps ? " maps" : "");
        if (p->tree && b->ring) text_printf(t, " ring %s", p->names.rings[b->ring - 1]);
        text_char(t, '\n');
    }
    for (uint32_t i = 0; i < k->bars.n; i++) {
        const IrBar *b = &k->bars.v[i];
        text_printf(t, "  bar %s slots %u count %u at %u%s", p->names.bars[i], b->slots, b->count, b->offset,
                    b->derived ? " derived" : "");
        if (p->tree && b->ring) text_printf(t, " ring %s", p->names.rings[b->ring - 1]);
        text_char(t, '\n');
    }
    for (uint32_t i = 0; i < k->pols.n; i++) {
        const IrPolicy *l = &k->pols.v[i];
        text_printf(t, "  policy %s = %s fraction ", p->names.pols[i], l->primary < words ? cache[l->primary] : "?");
        put_fraction(t, l->fraction);
        if (l->secondary != 255) text_printf(t, " else %s", l->secondary < words ? cache[l->secondary] : "?");
        text_str(t, l->by_traffic ? " by_traffic\n" : "\n");
    }
    for (uint32_t i = 0; i < k->plans.n; i++) print_plan(p, i);
    for (uint32_t i = 0; i < k->vars.n; i++)
        if (p->begun[i]) text_printf(t, "  var %s %s\n", p->names.vars[i], ir_type_text(k->vars.v[i].type & 3));
}

/* The line in which the op's statement begins, once per run of ops from it. */
static void put_source_line(Printer *p, const IrOp *op, uint32_t *last_line, const Source **last_file)
{
    if (p->sources == NULL || op->span.hi == 0) return;
    const char *path;
    uint32_t line, col, n;
    source_place(p->sources, op->span.lo, &path, &line, &col);
    Source *f = sources_file(p->sources, op->span.lo);
    if (f == NULL || (f == *last_file && line == *last_line)) return;
    *last_file = f;
    *last_line = line;
    const char *s = source_line(p->sources, f, line, &n);
    while (n && (*s == ' ' || *s == '\t')) s++, n--;
    text_printf(p->out, "    ; %u: ", line);
    for (uint32_t i = 0; i < n; i++) text_char(p->out, (unsigned char)s[i] < 0x20 ? ' ' : s[i]);
    text_char(p->out, '\n');
}

static void print_body(Printer *p, const IrRole *r)
{
    Text *t = p->out;
    uint32_t depth = 0, last_line = 0;
    const Source *last_file = NULL;
    text_lit(t, " {\n");
    for (uint32_t i = 0; i < r->ops.n; i++) {
        const IrOp *op = &r->ops.v[i];
        if ((op->op == IR_ELSE || op->op == IR_END) && depth) depth--;
        put_source_line(p, op, &last_line, &last_file);
        for (uint32_t j = 0; j < depth + 2; j++) text_lit(t, "  ");
        print_op(p, op);
        text_char(t, '\n');
        if (ir_opens_block(op->op)) depth++;
    }
    text_lit(t, "  }\n");
}

static void print_role(Printer *p, const IrRole *r)
{
    text_lit(p->out, "  role ");
    print_name(p->out, r->name);
    text_printf(p->out, " warps %u%s", r->warps, r->elect ? " elect" : "");
    print_body(p, r);
}

static void print_rings(Printer *p)
{
    for (uint32_t i = 0; i < p->k->rings.n; i++)
        text_printf(p->out, "  ring %s slots %u lag %u\n", p->names.rings[i], p->k->rings.v[i].slots, p->k->rings.v[i].lag);
}

static void print_tree(Printer *p)
{
    const IrKernel *k = p->k;
    Text *t = p->out;
    for (uint32_t i = 0; i < k->rings.n; i++)
        if (k->rings.v[i].free != IR_NO_BAR) text_printf(t, "  free %s %s\n", p->names.rings[i], p->names.bars[k->rings.v[i].free]);
    for (uint32_t i = 0; i < k->roles.n; i++) {
        text_lit(t, "  agent ");
        print_name(t, k->roles.v[i].name);
        text_printf(t, " warps %u%s\n", k->roles.v[i].warps, k->roles.v[i].elect ? " elect" : "");
    }
    text_lit(t, "  tree");
    print_body(p, &k->tree);
}

static void print_kernel(Printer *p)
{
    const IrKernel *k = p->k;
    Text *t = p->out;
    print_find_used(p);
#define UNIQUE(vec) print_unique(p, (vec).v ? &(vec).v->name : NULL, sizeof *(vec).v, (vec).n, false)
    p->names = (Shown){UNIQUE(k->mf.syms), UNIQUE(k->mf.tensors), UNIQUE(k->mf.scalars),
                       UNIQUE(k->mf.maps), UNIQUE(k->bufs),       UNIQUE(k->bars),
                       UNIQUE(k->pols),    print_unique(p, p->begun, sizeof *p->begun, k->vars.n, true), UNIQUE(k->plans),
                       UNIQUE(k->rings),   print_values(p)};
#undef UNIQUE
    text_lit(t, "\nkernel ");
    print_name(t, k->mf.name);
    text_lit(t, " entry ");
    print_name(t, k->mf.entry);
    text_lit(t, " {\n");
    print_params(p);
    print_launch(p);
    if (p->tree) print_rings(p);
    print_objects(p);
    if (k->init.ops.n) {
        text_lit(t, "  init");
        print_body(p, &k->init);
    }
    if (p->tree) print_tree(p);
    for (uint32_t i = 0; i < k->roles.n && !p->tree; i++) print_role(p, &k->roles.v[i]);
    if (k->exit.ops.n) {
        text_lit(t, "  exit");
        print_body(p, &k->exit);
    }
    text_lit(t, "}\n");
}

/* ---- scratch memory that is given back also when memory runs out ---- */

typedef struct Job {
    Text *out;
    bool tree;
    Sources *sources;
    const IrModule *m;
    const IrKernel *k;
    const IrOp *op; /* only this one, of k */
    Arena scratch;
    jmp_buf *outer, here;
} Job;

static void print_module(Job *j)
{
    const IrModule *m = j->m;
    text_lit(j->out, "module ");
    print_name(j->out, m->target);
    if (m->version) text_printf(j->out, " version %u.%u", m->version / 10, m->version % 10);
    if (m->cluster_dst) text_lit(j->out, " cluster_dst");
    text_char(j->out, '\n');
    for (uint32_t i = 0; i < m->kernels.n; i++) {
        if (j->tree && m->kernels.v[i]->tree.ops.n == 0) continue;
        Printer p = {.tree = j->tree, .out = j->out, .arena = &j->scratch, .k = m->kernels.v[i], .sources = j->sources};
        ArenaMark mark = arena_mark(&j->scratch);
        print_kernel(&p);
        arena_release(&j->scratch, mark);
    }
}

static void run(Job *j)
{
    j->outer = j->out->mem->fail;
    arena_init(&j->scratch, j->out->mem);
    if (setjmp(j->here)) {
        arena_free(&j->scratch);
        j->out->mem->fail = j->outer;
        if (j->outer) longjmp(*j->outer, 1);
        return;
    }
    j->out->mem->fail = &j->here;
    if (j->op) print_op(&(Printer){.out = j->out, .arena = &j->scratch, .k = j->k}, j->op);
    else print_module(j);
    j->out->mem->fail = j->outer;
    arena_free(&j->scratch);
}

void ir_print(Text *out, const IrModule *m, Sources *sources)
{
    Job j = {.out = out, .m = m, .sources = sources};
    run(&j);
}

void ir_print_tree(Text *out, const IrModule *m, Sources *sources)
{
    Job j = {.out = out, .m = m, .sources = sources, .tree = true};
    run(&j);
}

void ir_print_op(Text *out, const IrKernel *k, const IrOp *op)
{
    Job j = {.out = out, .k = k, .op = op};
    run(&j);
}
