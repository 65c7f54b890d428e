/* The reader's grammar: a kernel's manifest, its objects and bodies; read_ops.c has ops. */
#include <string.h>

#include "lang/lang.h"
#include "lower/ir/reader.h"
#include "lower/ir/tensor_memory.h"

enum { SLOTS_MAX = 1 << 16 };

static uint32_t expect_u32(Reader *r)
{
    return (uint32_t)reader_int(r, 0, UINT32_MAX);
}

uint8_t reader_word_of(Reader *r, const char *const *words, uint32_t n, const char *what)
{
    for (uint32_t i = 0; i < n && (r->tok.kind == TOK_WORD || r->tok.kind == TOK_NUMBER); i++) {
        if (strcmp(words[i], r->tok.text) != 0) continue;
        reader_next(r);
        return (uint8_t)i;
    }
    const char *near = spelling_nearest(r->tok.text, words, n);
    if (near) reader_error(r, E0690, "%s is no %s; did you mean `%s`?", ir_token_text(r), what, near);
    else reader_error(r, E0690, "%s is no %s", ir_token_text(r), what);
    return 0;
}

uint32_t reader_object(Reader *r, ScopeKind kind)
{
    const char *name = reader_name(r);
    return reader_look_up(r, kind, name);
}

/* [x, y, ..], at most MAP_RANK of them. */
static unsigned expect_lx_list(Reader *r, Lx *out)
{
    unsigned n = 0;
    reader_expect(r, "[");
    while (!reader_is(r, "]") && !r->failed) {
        if (n && !reader_accept(r, ",")) reader_expect(r, "]");
        if (n == MAP_RANK) reader_error(r, E0692, "more than %d dimensions", MAP_RANK);
        else out[n++] = reader_lx(r);
    }
    reader_expect(r, "]");
    return n;
}

static unsigned expect_int_list(Reader *r, int64_t *out, unsigned max, int64_t lo, int64_t hi)
{
    unsigned n = 0;
    reader_expect(r, "[");
    while (!reader_is(r, "]") && !r->failed) {
        if (n && !reader_accept(r, ",")) reader_expect(r, "]");
        if (n == max) reader_error(r, E0692, "more than %u numbers", max);
        else out[n++] = reader_int(r, lo, hi);
    }
    reader_expect(r, "]");
    return n;
}

static uint8_t expect_elem(Reader *r)
{
    ElemType t = 0;
    const char *name = reader_name(r);
    if (!elem_find(name, &t)) reader_error(r, E0690, "`%.40s` is no element type", name);
    return (uint8_t)t;
}

/* ---- the manifest's part ---- */

static void read_sym(Reader *r)
{
    static const char *const KINDS[] = {[MF_SIZE] = "size", [MF_STRIDE] = "stride", [MF_SCALAR] = "scalar"};
    MfSym s = {.name = reader_name(r)};
    s.kind = reader_word_of(r, KINDS, 3, "kind of symbol");
    reader_declare(r, SC_SYM, s.name, r->k->mf.syms.n);
    vec_push(r->arena, &r->k->mf.syms, s);
}

static void read_tensor(Reader *r)
{
    MfTensor t = {.name = reader_name(r)};
    t.type = expect_elem(r);
    t.rank = (uint8_t)expect_lx_list(r, t.extent);
    reader_expect(r, "stride");
    if (expect_lx_list(r, t.stride) != t.rank) reader_error(r, E0690, "a stride per extent is due");
    t.strided = reader_accept(r, "strided");
    t.read = reader_accept(r, "read");
    t.written = reader_accept(r, "written");
    reader_expect(r, "align");
    t.align = expect_u32(r);
    reader_declare(r, SC_TENSOR, t.name, r->k->mf.tensors.n);
    vec_push(r->arena, &r->k->mf.tensors, t);
}

static void read_scalar(Reader *r)
{
    MfScalar s = {.name = reader_name(r)};
    s.type = expect_elem(r);
    reader_expect(r, "sym");
    s.sym = reader_object(r, SC_SYM);
    reader_declare(r, SC_SCALAR, s.name, r->k->mf.scalars.n);
    vec_push(r->arena, &r->k->mf.scalars, s);
}

static void read_arg(Reader *r)
{
    bool scalar = reader_accept(r, "scalar");
    if (!scalar) reader_expect(r, "tensor");
    uint32_t index = reader_object(r, scalar ? SC_SCALAR : SC_TENSOR);
    *vec_add(r->arena, &r->k->mf.args) = (struct MfArg){scalar, index};
}

static uint8_t map_word(Reader *r, IrMapWord w, const char *what)
{
    uint32_t n;
    const char *const *words = ir_map_words(w, &n);
    return reader_word_of(r, words, n, what);
}

static void map_dims(Reader *r, MfMap *m)
{
    int64_t box[MAP_RANK] = {0}, stride[MAP_RANK] = {1, 1, 1, 1, 1};
    reader_expect(r, "dim");
    m->rank = (uint8_t)expect_lx_list(r, m->dim);
    reader_expect(r, "pitch");
    unsigned n = expect_lx_list(r, m->pitch);
    reader_expect(r, "box");
    n = expect_int_list(r, box, MAP_RANK, 0, UINT16_MAX) == m->rank ? n : 0;
    if (reader_accept(r, "elem_stride")) n = expect_int_list(r, stride, MAP_RANK, 0, UINT8_MAX) == m->rank ? n : 0;
    if (n != m->rank) reader_error(r, E0690, "a pitch, a box and a stride per dimension are due");
    for (unsigned i = 0; i < m->rank; i++) {
        m->box[i] = (uint16_t)box[i];
        m->elem_stride[i] = (uint8_t)stride[i];
    }
}

static void read_map(Reader *r)
{
    MfMap m = {.name = reader_name(r)};
    int64_t corner[3] = {0};
    reader_expect(r, "=");
    m.tensor = reader_object(r, SC_TENSOR);
    m.mode = map_word(r, IRM_MODE, "mode of a map");
    m.type = map_word(r, IRM_TYPE, "type of a map");
    reader_expect(r, "offset");
    m.offset = reader_lx(r);
    map_dims(r, &m);
    if (reader_accept(r, "interleave")) m.interleave = map_word(r, IRM_INTERLEAVE, "interleave");
    if (reader_accept(r, "swizzle")) m.swizzle = map_word(r, IRM_SWIZZLE, "swizzle");
    if (reader_accept(r, "l2")) m.l2 = map_word(r, IRM_L2, "l2 promotion");
    if (reader_accept(r, "fill")) m.fill = map_word(r, IRM_FILL, "fill");
    if (reader_accept(r, "lower")) {
        expect_int_list(r, corner, 3, INT16_MIN, INT16_MAX);
        for (int i = 0; i < 3; i++) m.lower[i] = (int16_t)corner[i];
        reader_expect(r, "upper");
        expect_int_list(r, corner, 3, INT16_MIN, INT16_MAX);
        for (int i = 0; i < 3; i++) m.upper[i] = (int16_t)corner[i];
    }
    if (reader_accept(r, "channels")) m.channels = (uint16_t)reader_int(r, 0, UINT16_MAX);
    if (reader_accept(r, "pixels")) m.pixels = (uint16_t)reader_int(r, 0, UINT16_MAX);
    m.is_load = reader_accept(r, "load");
    m.is_store = reader_accept(r, "store");
    reader_declare(r, SC_MAP, m.name, r->k->mf.maps.n);
    vec_push(r->arena, &r->k->mf.maps, m);
}

static void read_param(Reader *r)
{
    MfParam p = {.kind = MF_PARAM_VALUE};
    if (reader_accept(r, "map")) p = (MfParam){MF_PARAM_MAP, reader_object(r, SC_MAP)};
    else if (reader_accept(r, "counter")) p.kind = MF_PARAM_COUNTER;
    else if (reader_accept(r, "hints")) p.kind = MF_PARAM_HINTS;
    else if (reader_accept(r, "maps")) p = (MfParam){MF_PARAM_MAPS, expect_u32(r)};
    else if (reader_accept(r, "address")) p = (MfParam){MF_PARAM_ADDRESS, reader_object(r, SC_TENSOR)};
    else {
        reader_expect(r, "value");
        p.index = reader_lx(r);
    }
    vec_push(r->arena, &r->k->mf.params, p);
}

static void read_check(Reader *r)
{
    MfCheck c = {0};
    if (r->tok.kind != TOK_WORD || !error_find(r->tok.text, &c.code)) reader_error(r, E0690, "an error code is due");
    reader_next(r);
    c.cond = reader_lx(r);
    c.text = reader_string(r);
    reader_expect(r, "why");
    c.why = reader_string(r);
    reader_expect(r, "at");
    c.place = reader_string(r);
    vec_push(r->arena, &r->k->mf.checks, c);
}

static void read_deal(Reader *r)
{
    static const char *const DEALS[] = {[MF_DEAL_NONE] = "none", [MF_DEAL_STATIC] = "static", [MF_DEAL_TICKET] = "ticket"};
    r->k->mf.deal = reader_word_of(r, DEALS, 3, "way to deal");
    r->k->mf.teams = reader_lx(r);
    reader_expect(r, "per_sm");
    r->k->mf.per_sm = expect_u32(r);
}

static void read_traffic(Reader *r)
{
    r->k->mf.traffic = reader_lx(r);
}

static void read_schedule(Reader *r)
{
    MfKernel *mf = &r->k->mf;
    uint32_t number = expect_u32(r);
    reader_expect(r, "of");
    uint32_t count = expect_u32(r);
    reader_expect(r, "more_l2");
    uint32_t l2 = expect_u32(r);
    reader_expect(r, "more_ctas");
    uint32_t ctas = expect_u32(r);
    if (count < 2 || count > MF_SCHEDULES_MAX || number >= count || l2 > UINT8_MAX || ctas > UINT8_MAX) reader_error(r, E0690, "a kernel has no such schedule");
    mf->schedule = (uint8_t)number;
    mf->schedules = (uint8_t)count;
    mf->more_l2 = (uint8_t)l2;
    mf->more_ctas = (uint8_t)ctas;
}

static void read_dependent(Reader *r)
{
    r->k->mf.dependent = true;
}

static void read_grid(Reader *r)
{
    for (int i = 0; i < 3; i++) {
        if (i) reader_expect(r, ",");
        r->k->mf.grid[i] = reader_lx(r);
    }
}

static void read_cluster(Reader *r)
{
    for (int i = 0; i < 3; i++) {
        if (i) reader_expect(r, ",");
        r->k->mf.cluster[i] = expect_u32(r);
    }
}

/* ---- objects ---- */

static uint32_t expect_field(Reader *r, const char *word)
{
    reader_expect(r, word);
    return expect_u32(r);
}

static uint32_t expect_slots(Reader *r)
{
    reader_expect(r, "slots");
    return (uint32_t)reader_int(r, 1, SLOTS_MAX);
}

static uint16_t read_ring_of(Reader *r)
{
    return reader_accept(r, "ring") ? (uint16_t)(reader_object(r, SC_RING) + 1) : 0;
}

static void read_buf(Reader *r)
{
    Span start = r->tok.span;
    IrBuf b = {.name = reader_name(r)};
    b.bytes = expect_field(r, "bytes");
    b.align = expect_field(r, "align");
    b.slots = expect_slots(r);
    b.pitch = expect_field(r, "pitch");
    b.offset = expect_field(r, "at");
    b.maps = reader_accept(r, "maps");
    b.ring = read_ring_of(r);
    b.span = start;
    reader_declare(r, SC_BUF, b.name, r->k->bufs.n);
    vec_push(r->arena, &r->k->bufs, b);
}

static void read_tmem(Reader *r)
{
    Span start = r->tok.span;
    IrBuf b = {.name = reader_name(r), .align = 1, .span = start};
    reader_expect(r, "lanes");
    b.lanes = (uint16_t)reader_int(r, 1, TMEM_LANES);
    reader_expect(r, "columns");
    b.columns = (uint16_t)reader_int(r, 1, TMEM_COLUMNS);
    b.slots = expect_slots(r);
    reader_expect(r, "pitch");
    b.column_pitch = (uint16_t)reader_int(r, 1, TMEM_COLUMNS);
    reader_expect(r, "at");
    b.column = (uint16_t)reader_int(r, 0, TMEM_COLUMNS);
    b.bytes = b.pitch = 4u * b.lanes * b.columns;
    reader_declare(r, SC_BUF, b.name, r->k->bufs.n);
    vec_push(r->arena, &r->k->bufs, b);
}

static void read_bar(Reader *r)
{
    Span start = r->tok.span;
    IrBar b = {.name = reader_name(r)};
    b.slots = expect_slots(r);
    b.count = expect_field(r, "count");
    b.offset = expect_field(r, "at");
    b.derived = reader_accept(r, "derived");
    b.ring = read_ring_of(r);
    b.span = start;
    reader_declare(r, SC_BAR, b.name, r->k->bars.n);
    vec_push(r->arena, &r->k->bars, b);
}

static void read_policy(Reader *r)
{
    size_t n;
    const char *const *words = word_list(WORDS_CACHE, &n);
    Span start = r->tok.span;
    IrPolicy p = {.name = reader_name(r), .secondary = 255, .span = start};
    reader_expect(r, "=");
    p.primary = reader_word_of(r, words, (uint32_t)n, "cache word");
    reader_expect(r, "fraction");
    p.fraction = reader_fraction(r);
    if (reader_accept(r, "else")) p.secondary = reader_word_of(r, words, (uint32_t)n, "cache word");
    p.by_traffic = reader_accept(r, "by_traffic");
    reader_declare(r, SC_POL, p.name, r->k->pols.n);
    vec_push(r->arena, &r->k->pols, p);
}

IrType reader_type(const char *s)
{
    IrType t = IR_PRED;
    while (t != IR_NONE && strcmp(ir_type_text(t), s) != 0) t--;
    return t;
}

static void read_var(Reader *r)
{
    IrVar v = {.name = reader_name(r)};
    const char *type = reader_name(r);
    v.type = (uint8_t)reader_type(type);
    if (v.type == IR_NONE) reader_error(r, E0690, "`%.40s` is no type of a variable", type);
    reader_declare(r, SC_VAR, v.name, r->k->vars.n);
    vec_push(r->arena, &r->k->vars, v);
}

static unsigned expect_u32_list(Reader *r, const char *word, uint32_t *out)
{
    int64_t v[MAP_RANK];
    reader_expect(r, word);
    unsigned n = expect_int_list(r, v, MAP_RANK, 0, UINT32_MAX);
    for (unsigned i = 0; i < n; i++) out[i] = (uint32_t)v[i];
    return n;
}

static void read_side(Reader *r, const char *word, IrSide *s, unsigned rank)
{
    reader_expect(r, word);
    s->type = expect_elem(r);
    s->global = reader_accept(r, "global");
    if (expect_u32_list(r, "pitch", s->pitch) != rank) reader_error(r, E0690, "a pitch per dimension is due");
    if (reader_accept(r, "span")) {
        s->span = expect_u32(r);
        s->panel = expect_field(r, "panel");
    }
    if (reader_accept(r, "swizzle")) s->swizzle = map_word(r, IRM_SWIZZLE, "swizzle");
    if (reader_accept(r, "align")) s->align = (uint16_t)expect_u32(r);
}

static void read_plan(Reader *r)
{
    static const char *const XFORMS[] = {[IRX_COPY] = "copy", [IRX_TRANSPOSE] = "transpose", [IRX_FILL] = "fill", [IRX_REVERSE] = "reverse"};
    IrPlan q = {.name = reader_name(r)};
    reader_expect(r, "=");
    q.xform = reader_word_of(r, XFORMS, 4, "work of threads");
    q.rank = (uint8_t)expect_u32_list(r, "extent", q.extent);
    if (reader_accept(r, "value")) q.value = (uint64_t)reader_int(r, INT64_MIN, INT64_MAX);
    if (q.xform != IRX_FILL) read_side(r, "src", &q.src, q.rank);
    read_side(r, "dst", &q.dst, q.rank);
    q.add = reader_accept(r, "add");
    q.sat = reader_accept(r, "sat");
    q.threads = expect_field(r, "threads");
    q.vector = (uint8_t)expect_field(r, "vector");
    q.method = (uint8_t)expect_field(r, "method");
    if (reader_accept(r, "block")) {
        q.wide = (uint8_t)expect_u32(r);
        reader_expect(r, ",");
        q.tall = (uint8_t)expect_u32(r);
        q.deal = (uint8_t)expect_field(r, "deal");
    }
    q.read_ways = (uint16_t)expect_field(r, "ways");
    reader_expect(r, ",");
    q.write_ways = (uint16_t)expect_u32(r);
    reader_declare(r, SC_PLAN, q.name, r->k->plans.n);
    vec_push(r->arena, &r->k->plans, q);
}

/* ---- bodies ---- */

static void read_role(Reader *r)
{
    IrRole *role = vec_add(r->arena, &r->k->roles);
    *role = (IrRole){.name = reader_name(r)};
    role->warps = expect_field(r, "warps");
    role->elect = reader_accept(r, "elect");
    reader_body(r, role);
}

static void read_ring(Reader *r)
{
    IrRing x = {.name = reader_name(r), .free = IR_NO_BAR};
    x.slots = expect_slots(r);
    x.lag = expect_field(r, "lag");
    reader_declare(r, SC_RING, x.name, r->k->rings.n);
    vec_push(r->arena, &r->k->rings, x);
}

/* Behind the barriers, which name their rings. */
static void read_free(Reader *r)
{
    uint32_t ring = reader_object(r, SC_RING), bar = reader_object(r, SC_BAR);
    if (!r->failed) r->k->rings.v[ring].free = bar;
}

static void read_agent_line(Reader *r)
{
    IrRole *role = vec_add(r->arena, &r->k->roles);
    *role = (IrRole){.name = reader_name(r)};
    role->warps = expect_field(r, "warps");
    role->elect = reader_accept(r, "elect");
    reader_declare(r, SC_AGENT, role->name, r->k->roles.n - 1);
}

static void read_tree(Reader *r)
{
    reader_body(r, &r->k->tree);
}

static void read_init(Reader *r)
{
    if (r->k->roles.n || r->k->init.ops.n) reader_error(r, E0690, "init stands once, in front of the roles");
    reader_body(r, &r->k->init);
}

static void read_exit(Reader *r)
{
    if (r->k->exit.ops.n) reader_error(r, E0690, "exit stands once, behind the roles");
    reader_body(r, &r->k->exit);
}

/* ---- kernels ---- */

static void read_smem(Reader *r)
{
    r->k->mf.smem = expect_u32(r);
}
static void read_threads(Reader *r)
{
    r->k->mf.threads = expect_u32(r);
}
static void read_zeros(Reader *r)
{
    r->k->zero_bytes = expect_u32(r);
}
static void read_columns(Reader *r)
{
    r->k->tmem = expect_u32(r);
    r->k->pair = reader_accept(r, "pair");
}
static void read_trust(Reader *r)
{
    size_t n;
    const char *const *facts = word_list(WORDS_TRUST, &n);
    MfTrust t = {.fact = reader_word_of(r, facts, (uint32_t)n, "fact")};
    t.tensor = reader_object(r, SC_TENSOR);
    vec_push(r->arena, &r->k->mf.trusts, t);
}

static void read_part(Reader *r)
{
    static const struct {
        const char *word;
        void (*read)(Reader *r);
    } PARTS[] = {{"sym", read_sym},     {"tensor", read_tensor},   {"scalar", read_scalar},   {"arg", read_arg},
                 {"map", read_map},     {"param", read_param},     {"check", read_check},     {"trust", read_trust},
                 {"grid", read_grid},   {"cluster", read_cluster}, {"threads", read_threads}, {"smem", read_smem},
                 {"zeros", read_zeros}, {"buf", read_buf},         {"bar", read_bar},         {"policy", read_policy},
                 {"var", read_var},     {"role", read_role},       {"init", read_init},       {"exit", read_exit},
                 {"deal", read_deal},   {"traffic", read_traffic}, {"plan", read_plan},         {"dependent", read_dependent},
                 {"schedule", read_schedule},
                 {"tmem", read_tmem},   {"tmem_columns", read_columns}, {"ring", read_ring}, {"free", read_free},
                 {"agent", read_agent_line}, {"tree", read_tree}};
    for (size_t i = 0; i < sizeof PARTS / sizeof *PARTS; i++) {
        if (!reader_accept(r, PARTS[i].word)) continue;
        PARTS[i].read(r);
        return;
    }
    reader_error(r, E0690, "%s where a part of a kernel is due", ir_token_text(r));
}

static void read_kernel(Reader *r, IrModule *m)
{
    IrKernel *k = arena_new(r->arena, IrKernel);
    r->k = k;
    reader_clear(r);
    k->span = r->tok.span;
    reader_expect(r, "kernel");
    k->mf.name = reader_name(r);
    k->name = names_intern(r->names, k->mf.name, strlen(k->mf.name));
    reader_expect(r, "entry");
    k->mf.entry = reader_name(r);
    for (int i = 0; i < 3; i++) k->mf.cluster[i] = 1;
    reader_expect(r, "{");
    while (!reader_is(r, "}") && !r->failed) read_part(r);
    reader_expect(r, "}");
    vec_push(r->arena, &m->kernels, k);
    const char *wrong = r->failed ? NULL : ir_check(r->arena, k);
    if (wrong == NULL) return;
    r->tok.span = k->span;
    reader_error(r, E0662, "%s", wrong);
}

static unsigned expect_version(Reader *r)
{
    const char *s = r->tok.text;
    bool ok = r->tok.kind == TOK_NUMBER && s[0] >= '1' && s[1] == '.' && s[2] >= '0' && s[2] <= '9' && s[3] == 0;
    unsigned version = ok ? (unsigned)(s[0] - '0') * 10 + (unsigned)(s[2] - '0') : 0;
    if (!ok) reader_error(r, E0690, "a version such as 8.6 is due");
    reader_next(r);
    return version;
}

IrModule *ir_read(Arena *a, Names *names, Diags *d, Source *src)
{
    Reader *r = arena_new(a, Reader);
    IrModule *m = arena_new(a, IrModule);
    reader_init(r, a, names, d, src);
    reader_expect(r, "module");
    m->target = reader_name(r);
    if (reader_accept(r, "version")) m->version = expect_version(r);
    m->cluster_dst = reader_accept(r, "cluster_dst");
    while (r->tok.kind != TOK_END && !r->failed) read_kernel(r, m);
    return r->failed ? NULL : m;
}
