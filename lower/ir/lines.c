/* The lines of a kernel: its manifest, what its ops speak of, its bodies. */
#include "lang/lang.h"
#include "lower/ir/filter.h"
#include "lower/ir/tensor_memory.h"

enum { SLOTS_MAX = 1 << 16 };

static unsigned lx_list(Filter *f, Lx *x, unsigned count)
{
    unsigned n;
    for (n = 0; filter_list(f, n, count, MAP_RANK); n++) x[n] = filter_lx(f, x[n]);
    return n;
}

static unsigned u32_list(Filter *f, const char *word, uint32_t *x, unsigned count)
{
    unsigned n;
    filter_word(f, word);
    for (n = 0; filter_list(f, n, count, MAP_RANK); n++) x[n] = filter_u32(f, x[n]);
    return n;
}

static void corner(Filter *f, const char *word, int16_t *x)
{
    filter_word(f, word);
    for (unsigned n = 0; filter_list(f, n, 3, 3); n++) x[n] = (int16_t)filter_int(f, x[n], INT16_MIN, INT16_MAX);
}

static uint8_t listed_word(Filter *f, WordList list, uint8_t value, const char *what)
{
    size_t n;
    const char *const *words = word_list(list, &n);
    return filter_word_of(f, words, (uint32_t)n, value, what);
}

#define WORD_OF(f, words, value, what) filter_word_of(f, words, sizeof(words) / sizeof *(words), value, what)

/* ---- the manifest's part ---- */

static void sym(Filter *f, MfSym *s, uint32_t at)
{
    static const char *const KINDS[] = {[MF_SIZE] = "size", [MF_STRIDE] = "stride", [MF_SCALAR] = "scalar"};
    s->name = filter_declare(f, NAME_SYM, s->name, at);
    s->kind = WORD_OF(f, KINDS, s->kind, "kind of symbol");
}

static void tensor(Filter *f, MfTensor *t, uint32_t at)
{
    t->name = filter_declare(f, IRA_TENSOR, t->name, at);
    t->type = listed_word(f, WORDS_TYPE, t->type, "element type");
    t->rank = (uint8_t)lx_list(f, t->extent, t->rank);
    filter_word(f, "stride");
    if (lx_list(f, t->stride, t->rank) != t->rank) filter_error(f, E0690, "a stride per extent is due");
    t->strided = filter_maybe(f, "strided", t->strided);
    t->read = filter_maybe(f, "read", t->read);
    t->written = filter_maybe(f, "written", t->written);
    t->align = filter_field(f, "align", t->align);
}

static void scalar(Filter *f, MfScalar *s, uint32_t at)
{
    s->name = filter_declare(f, NAME_SCALAR, s->name, at);
    s->type = listed_word(f, WORDS_TYPE, s->type, "element type");
    filter_word(f, "sym");
    s->sym = filter_object(f, NAME_SYM, s->sym);
}

static void arg(Filter *f, struct MfArg *x, uint32_t at)
{
    (void)at;
    x->is_scalar = filter_maybe(f, "scalar", x->is_scalar);
    if (!x->is_scalar) filter_word(f, "tensor");
    x->index = filter_object(f, x->is_scalar ? NAME_SCALAR : IRA_TENSOR, x->index);
}

static void map_dims(Filter *f, MfMap *m)
{
    unsigned n, strides = 0, boxes;
    filter_word(f, "dim");
    m->rank = (uint8_t)lx_list(f, m->dim, m->rank);
    filter_word(f, "pitch");
    n = lx_list(f, m->pitch, m->rank);
    filter_word(f, "box");
    for (boxes = 0; filter_list(f, boxes, m->rank, MAP_RANK); boxes++) m->box[boxes] = (uint16_t)filter_int(f, m->box[boxes], 0, UINT16_MAX);
    bool any = false;
    for (unsigned i = 0; i < m->rank; i++) any |= m->elem_stride[i] != 1;
    if (filter_maybe(f, "elem_stride", any))
        for (; filter_list(f, strides, m->rank, MAP_RANK); strides++) m->elem_stride[strides] = (uint8_t)filter_int(f, m->elem_stride[strides], 0, UINT8_MAX);
    else
        for (; strides < m->rank; strides++) m->elem_stride[strides] = 1;
    if (n != m->rank || boxes != m->rank || strides != m->rank) filter_error(f, E0690, "a pitch, a box and a stride per dimension are due");
}

static void map(Filter *f, MfMap *m, uint32_t at)
{
    bool corners = false;
    m->name = filter_declare(f, IRA_MAP, m->name, at);
    filter_word(f, "=");
    m->tensor = filter_object(f, IRA_TENSOR, m->tensor);
    m->mode = listed_word(f, WORDS_MODE, m->mode, "mode of a map");
    m->type = listed_word(f, WORDS_MAP_TYPE, m->type, "type of a map");
    filter_word(f, "offset");
    m->offset = filter_lx(f, m->offset);
    map_dims(f, m);
    if (filter_maybe(f, "interleave", m->interleave)) m->interleave = listed_word(f, WORDS_INTERLEAVE, m->interleave, "interleave");
    if (filter_maybe(f, "swizzle", m->swizzle)) m->swizzle = listed_word(f, WORDS_SWIZZLE, m->swizzle, "swizzle");
    if (filter_maybe(f, "l2", m->l2)) m->l2 = listed_word(f, WORDS_L2, m->l2, "l2 promotion");
    if (filter_maybe(f, "fill", m->fill)) m->fill = listed_word(f, WORDS_FILL, m->fill, "fill");
    for (int i = 0; i < 3; i++) corners |= m->lower[i] || m->upper[i];
    if (f->reading ? filter_is(f, "lower") : corners) {
        corner(f, "lower", m->lower);
        corner(f, "upper", m->upper);
    }
    if (filter_maybe(f, "channels", m->channels)) m->channels = (uint16_t)filter_int(f, m->channels, 0, UINT16_MAX);
    if (filter_maybe(f, "pixels", m->pixels)) m->pixels = (uint16_t)filter_int(f, m->pixels, 0, UINT16_MAX);
    m->is_load = filter_maybe(f, "load", m->is_load);
    m->is_store = filter_maybe(f, "store", m->is_store);
}

static void param(Filter *f, MfParam *p, uint32_t at)
{
    static const char *const KINDS[] = {[MF_PARAM_MAP] = "map",         [MF_PARAM_ADDRESS] = "address", [MF_PARAM_VALUE] = "value",
                                        [MF_PARAM_COUNTER] = "counter", [MF_PARAM_HINTS] = "hints",     [MF_PARAM_MAPS] = "maps"};
    (void)at;
    p->kind = WORD_OF(f, KINDS, p->kind, "kind of parameter");
    switch ((MfParamKind)p->kind) {
    case MF_PARAM_MAP: p->index = filter_object(f, IRA_MAP, p->index); break;
    case MF_PARAM_ADDRESS: p->index = filter_object(f, IRA_TENSOR, p->index); break;
    case MF_PARAM_VALUE: p->index = filter_lx(f, p->index); break;
    case MF_PARAM_MAPS: p->index = filter_u32(f, p->index); break;
    default: break;
    }
}

static void check(Filter *f, MfCheck *c, uint32_t at)
{
    (void)at;
    if (!f->reading) filter_put(f, c->code < ERROR_COUNT ? error_info(c->code)->code : "?");
    else if (f->tok.kind == TOK_WORD && error_find(f->tok.text, &c->code)) filter_next(f);
    else filter_error(f, E0690, "an error code is due");
    c->cond = filter_lx(f, c->cond);
    c->text = filter_string(f, c->text);
    filter_word(f, "why");
    c->why = filter_string(f, c->why);
    filter_word(f, "at");
    c->place = filter_string(f, c->place);
}

static void trust(Filter *f, MfTrust *t, uint32_t at)
{
    (void)at;
    t->fact = listed_word(f, WORDS_TRUST, t->fact, "fact");
    t->tensor = filter_object(f, IRA_TENSOR, t->tensor);
}

static void deal(Filter *f, MfKernel *mf)
{
    static const char *const DEALS[] = {[MF_DEAL_NONE] = "none", [MF_DEAL_STATIC] = "static", [MF_DEAL_TICKET] = "ticket"};
    mf->deal = WORD_OF(f, DEALS, mf->deal, "way to deal");
    mf->teams = filter_lx(f, mf->teams);
    mf->per_sm = filter_field(f, "per_sm", mf->per_sm);
}

static void schedule(Filter *f, MfKernel *mf)
{
    mf->schedule = (uint8_t)filter_int(f, mf->schedule, 0, MF_SCHEDULES_MAX);
    filter_word(f, "of");
    mf->schedules = (uint8_t)filter_int(f, mf->schedules, 2, MF_SCHEDULES_MAX);
    if (mf->schedule >= mf->schedules) filter_error(f, E0690, "a kernel has no such schedule");
}

static void pick(Filter *f, MfPick *p, uint32_t at)
{
    static const char *const MEASURES[] = {[MF_BYTES] = "bytes", [MF_L2] = "l2", [MF_CTAS] = "ctas", [MF_SM_BYTES] = "sm_bytes"};
    (void)at;
    p->schedule = (uint8_t)filter_int(f, p->schedule, 0, MF_SCHEDULES_MAX - 1);
    p->measure = WORD_OF(f, MEASURES, p->measure, "measure");
    p->least = filter_int(f, p->least, 0, INT64_MAX);
    filter_word(f, "gpu");
    p->gpu = filter_string(f, p->gpu);
    if (f->k->mf.schedule || p->schedule >= f->k->mf.schedules) filter_error(f, E0690, "a kernel picks a schedule that it does not have");
}

static void dependent(Filter *f, MfKernel *mf)
{
    (void)f;
    mf->dependent = true;
}

static void grid(Filter *f, MfKernel *mf)
{
    for (int i = 0; i < 3; i++) {
        if (i) filter_comma(f);
        mf->grid[i] = filter_lx(f, mf->grid[i]);
    }
}

static void cluster(Filter *f, MfKernel *mf)
{
    for (int i = 0; i < 3; i++) {
        if (i) filter_comma(f);
        mf->cluster[i] = filter_u32(f, mf->cluster[i]);
    }
}

/* ---- what ops speak of ---- */

static uint32_t slots(Filter *f, uint32_t n)
{
    filter_word(f, "slots");
    return (uint32_t)filter_int(f, n, 1, SLOTS_MAX);
}

static uint16_t ring_of(Filter *f, uint16_t ring)
{
    return filter_maybe(f, "ring", f->tree && ring) ? (uint16_t)(filter_object(f, IRA_RING, ring - 1u) + 1) : 0;
}

static void columns(Filter *f, IrKernel *k)
{
    k->tmem = filter_u32(f, k->tmem);
    k->pair = filter_maybe(f, "pair", k->pair);
}

static void ring(Filter *f, IrRing *r, uint32_t at)
{
    r->name = filter_declare(f, IRA_RING, r->name, at);
    r->slots = slots(f, r->slots);
    r->lag = filter_field(f, "lag", r->lag);
    if (f->reading) r->free = IR_NO_BAR;
}

static uint16_t tmem_field(Filter *f, const char *word, uint16_t k, int64_t lo, int64_t hi)
{
    filter_word(f, word);
    return (uint16_t)filter_int(f, k, lo, hi);
}

static void tmem(Filter *f, IrBuf *b, uint32_t at)
{
    b->span = f->tok.span;
    b->name = filter_declare(f, IRA_BUF, b->name, at);
    b->lanes = tmem_field(f, "lanes", b->lanes, 1, TMEM_LANES);
    b->columns = tmem_field(f, "columns", b->columns, 1, TMEM_COLUMNS);
    b->slots = slots(f, b->slots);
    b->column_pitch = tmem_field(f, "pitch", b->column_pitch, 1, TMEM_COLUMNS);
    b->column = tmem_field(f, "at", b->column, 0, TMEM_COLUMNS);
    b->bytes = b->pitch = 4u * b->lanes * b->columns;
    b->align = 1;
}

static void buf(Filter *f, IrBuf *b, uint32_t at)
{
    if (b->lanes) {
        tmem(f, b, at);
        return;
    }
    b->span = f->tok.span;
    b->name = filter_declare(f, IRA_BUF, b->name, at);
    b->bytes = filter_field(f, "bytes", b->bytes);
    b->align = filter_field(f, "align", b->align);
    b->slots = slots(f, b->slots);
    b->pitch = filter_field(f, "pitch", b->pitch);
    b->offset = filter_field(f, "at", b->offset);
    b->maps = filter_maybe(f, "maps", b->maps);
    b->ring = ring_of(f, b->ring);
}

static void bar(Filter *f, IrBar *b, uint32_t at)
{
    b->span = f->tok.span;
    b->name = filter_declare(f, IRA_BAR, b->name, at);
    b->slots = slots(f, b->slots);
    b->count = filter_field(f, "count", b->count);
    b->offset = filter_field(f, "at", b->offset);
    b->derived = filter_maybe(f, "derived", b->derived);
    b->ring = ring_of(f, b->ring);
}

static void policy(Filter *f, IrPolicy *p, uint32_t at)
{
    p->span = f->tok.span;
    p->name = filter_declare(f, IRA_POL, p->name, at);
    filter_word(f, "=");
    p->primary = listed_word(f, WORDS_CACHE, p->primary, "cache word");
    filter_word(f, "fraction");
    p->fraction = filter_fraction(f, p->fraction);
    p->secondary = filter_maybe(f, "else", p->secondary != 255) ? listed_word(f, WORDS_CACHE, p->secondary, "cache word") : 255;
    p->by_traffic = filter_maybe(f, "by_traffic", p->by_traffic);
}

static void side(Filter *f, const char *word, IrSide *s, unsigned rank)
{
    filter_word(f, word);
    s->type = listed_word(f, WORDS_TYPE, s->type, "element type");
    s->global = filter_maybe(f, "global", s->global);
    s->rows = filter_maybe(f, "rows", s->rows);
    if (u32_list(f, "pitch", s->pitch, rank) != rank) filter_error(f, E0690, "a pitch per dimension is due");
    if (filter_maybe(f, "span", s->span)) {
        s->span = filter_u32(f, s->span);
        s->panel = filter_field(f, "panel", s->panel);
    }
    if (filter_maybe(f, "swizzle", s->swizzle)) s->swizzle = listed_word(f, WORDS_SWIZZLE, s->swizzle, "swizzle");
    if (filter_maybe(f, "align", s->align)) s->align = (uint16_t)filter_u32(f, s->align);
}

static void plan(Filter *f, IrPlan *q, uint32_t at)
{
    static const char *const XFORMS[] = {[IRX_COPY] = "copy", [IRX_TRANSPOSE] = "transpose", [IRX_FILL] = "fill", [IRX_REVERSE] = "reverse", [IRX_SUM] = "sum"};
    q->name = filter_declare(f, IRA_PLAN, q->name, at);
    filter_word(f, "=");
    q->xform = WORD_OF(f, XFORMS, q->xform, "work of threads");
    q->rank = (uint8_t)u32_list(f, "extent", q->extent, q->rank);
    if (filter_maybe(f, "value", q->xform == IRX_FILL)) q->value = (uint64_t)filter_int(f, (int64_t)q->value, INT64_MIN, INT64_MAX);
    if (q->xform == IRX_SUM) {
        q->parts = filter_field(f, "parts", q->parts);
        q->apart = filter_field(f, "apart", q->apart);
    }
    if (q->xform != IRX_FILL) side(f, "src", &q->src, q->rank);
    side(f, "dst", &q->dst, q->rank);
    q->add = filter_maybe(f, "add", q->add);
    q->sat = filter_maybe(f, "sat", q->sat);
    q->threads = filter_field(f, "threads", q->threads);
    q->vector = (uint8_t)filter_field(f, "vector", q->vector);
    q->method = (uint8_t)filter_field(f, "method", q->method);
    if (filter_maybe(f, "block", q->wide)) {
        q->wide = (uint8_t)filter_u32(f, q->wide);
        filter_comma(f);
        q->tall = (uint8_t)filter_u32(f, q->tall);
        q->deal = (uint8_t)filter_field(f, "deal", q->deal);
    }
    q->read_ways = (uint16_t)filter_field(f, "ways", q->read_ways);
    filter_comma(f);
    q->write_ways = (uint16_t)filter_u32(f, q->write_ways);
}

static void var(Filter *f, IrVar *v, uint32_t at)
{
    v->name = filter_declare(f, IRA_VAR, v->name, at);
    v->type = (uint8_t)filter_type(f, (IrType)(v->type & 3));
}

/* ---- bodies ---- */

static void agent(Filter *f, IrRole *r, uint32_t at)
{
    r->name = filter_declare(f, NAME_AGENT, r->name, at);
    r->warps = filter_field(f, "warps", r->warps);
    r->elect = filter_maybe(f, "elect", r->elect);
}

static void role(Filter *f, IrRole *r, uint32_t at)
{
    (void)at;
    r->name = filter_name(f, r->name);
    r->warps = filter_field(f, "warps", r->warps);
    r->elect = filter_maybe(f, "elect", r->elect);
    filter_body(f, r);
}

static void init(Filter *f, IrKernel *k)
{
    if (f->reading && (k->roles.n || k->init.ops.n)) filter_error(f, E0690, "init stands once, in front of the roles");
    filter_body(f, &k->init);
}

static void exit_body(Filter *f, IrKernel *k)
{
    if (f->reading && k->exit.ops.n) filter_error(f, E0690, "exit stands once, behind the roles");
    filter_body(f, &k->exit);
}

/* Behind the barriers, which name their rings. */
static void freed(Filter *f, uint32_t ring)
{
    IrKernel *k = f->k;
    ring = filter_object(f, IRA_RING, ring);
    uint32_t free = filter_object(f, IRA_BAR, f->reading ? 0 : k->rings.v[ring].free);
    if (!f->failed) k->rings.v[ring].free = free;
}

/* The word of a line, if there is one. */
static bool line(Filter *f, const char *word, bool there)
{
    if (!f->reading && there) text_lit(f->out, " ");
    return filter_maybe(f, word, there);
}

static void end_line(Filter *f)
{
    if (!f->reading) text_char(f->out, '\n');
}

/* Each item x, the i-th, that is printed `when`. */
#define ROWS(word, type, array, piece, when)                                                                           \
    for (uint32_t i = f->reading ? k->array.n : 0; f->reading || i < k->array.n; i++) {                                \
        type x = {0};                                                                                                  \
        if (!f->reading) x = k->array.v[i];                                                                            \
        if (!line(f, word, f->reading || (when))) {                                                                    \
            if (f->reading) break;                                                                                     \
            continue;                                                                                                  \
        }                                                                                                              \
        piece(f, &x, i);                                                                                               \
        end_line(f);                                                                                                   \
        if (f->reading) vec_push(f->arena, &k->array, x);                                                              \
    }
/* What is there once. */
#define ONE(word, piece, of, when)                                                                                     \
    if (line(f, word, when)) {                                                                                         \
        piece(f, of);                                                                                                  \
        end_line(f);                                                                                                   \
    }
#define NUMBER(word, piece, of, when)                                                                                  \
    if (line(f, word, when)) {                                                                                         \
        of = piece(f, of);                                                                                             \
        end_line(f);                                                                                                   \
    }

/* In the order in which they are printed; read in any. */
static void lines(Filter *f)
{
    IrKernel *k = f->k;
    ROWS("sym", MfSym, mf.syms, sym, true)
    ROWS("tensor", MfTensor, mf.tensors, tensor, true)
    ROWS("scalar", MfScalar, mf.scalars, scalar, true)
    ROWS("arg", struct MfArg, mf.args, arg, true)
    ROWS("map", MfMap, mf.maps, map, true)
    ROWS("param", MfParam, mf.params, param, true)
    ROWS("check", MfCheck, mf.checks, check, true)
    ROWS("trust", MfTrust, mf.trusts, trust, true)
    ONE("deal", deal, &k->mf, k->mf.deal)
    NUMBER("loads", filter_u32, k->mf.loads, k->mf.deal == MF_DEAL_NONE && k->mf.loads)
    NUMBER("traffic", filter_lx, k->mf.traffic, k->mf.traffic)
    ONE("schedule", schedule, &k->mf, k->mf.schedules)
    ROWS("pick", MfPick, mf.picks, pick, true)
    ONE("dependent", dependent, &k->mf, k->mf.dependent)
    ONE("grid", grid, &k->mf, true)
    ONE("cluster", cluster, &k->mf, true)
    NUMBER("threads", filter_u32, k->mf.threads, true)
    NUMBER("smem", filter_u32, k->mf.smem, true)
    NUMBER("zeros", filter_u32, k->zero_bytes, k->zero_bytes)
    ONE("tmem_columns", columns, k, k->tmem)
    ROWS("ring", IrRing, rings, ring, f->tree)
    ROWS("tmem", IrBuf, bufs, tmem, false) /* printed by the next */
    ROWS(x.lanes ? "tmem" : "buf", IrBuf, bufs, buf, true)
    ROWS("bar", IrBar, bars, bar, true)
    ROWS("policy", IrPolicy, pols, policy, true)
    ROWS("plan", IrPlan, plans, plan, true)
    ROWS("var", IrVar, vars, var, f->shown[IRA_VAR][i])
    ONE("init", init, k, k->init.ops.n)
    for (uint32_t i = 0; i < k->rings.n; i++) ONE("free", freed, i, f->tree && k->rings.v[i].free != IR_NO_BAR)
    ROWS("agent", IrRole, roles, agent, f->tree)
    ONE("tree", filter_body, &k->tree, f->tree)
    ROWS("role", IrRole, roles, role, !f->tree)
    ONE("exit", exit_body, k, k->exit.ops.n)
}

void filter_kernel(Filter *f)
{
    IrKernel *k = f->k;
    k->span = f->tok.span;
    f->tight = true;
    filter_word(f, "kernel");
    k->mf.name = filter_name(f, k->mf.name);
    filter_word(f, "entry");
    k->mf.entry = filter_name(f, k->mf.entry);
    filter_word(f, "{");
    end_line(f);
    while (!f->failed && !filter_is(f, "}")) {
        uint32_t from = f->tok.span.lo;
        lines(f);
        if (!f->reading) break;
        if (f->tok.span.lo == from) filter_error(f, E0690, "%s where a part of a kernel is due", filter_token(f));
    }
    f->tight = true;
    filter_word(f, "}");
}
