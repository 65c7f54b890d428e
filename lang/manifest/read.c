#include "lang/limits.h"
#include "lang/manifest/words.h"

#include <stdio.h>
#include <string.h>

/* The words come from a file that anybody can have made: every count is bounded by the words that are left, every
 * index by the list that it points into. After the first fault the reader stands at the end and gives zeros, so
 * that no caller has to check each word. */
typedef struct Reader {
    Arena *a;
    const uint64_t *w;
    size_t at, n;
    const char *text;
    size_t text_len;
    const char *fault; /* the first one; NULL: none */
    size_t fault_at;
} Reader;

static void fail(Reader *r, const char *what)
{
    if (r->fault == NULL) {
        r->fault = what;
        r->fault_at = r->at;
    }
    r->at = r->n;
}

static uint64_t next(Reader *r)
{
    if (r->at < r->n) return r->w[r->at++];
    fail(r, "it ends in the middle of an entry");
    return 0;
}

/* What must hold for the entry just read. */
static void demand(Reader *r, bool holds, const char *otherwise)
{
    if (!holds) fail(r, otherwise);
}

static uint32_t low32(uint64_t v)
{
    return (uint32_t)v;
}

static uint32_t high32(uint64_t v)
{
    return (uint32_t)(v >> 32);
}

static uint8_t byte_of(uint64_t v, unsigned i)
{
    return (uint8_t)(v >> 8 * i);
}

/* Every item takes at least one word. */
static uint32_t next_count(Reader *r)
{
    uint64_t n = next(r);
    if (n <= r->n - r->at && n <= UINT32_MAX) return (uint32_t)n;
    fail(r, "a list is longer than the manifest");
    return 0;
}

/* Strings are ended by a zero byte in the text, so they need no copies of their own (which many references to one
 * long string would make quadratic). */
static const char *next_text(Reader *r)
{
    uint64_t v = next(r);
    size_t at = high32(v), len = low32(v);
    if (r->fault) return "";
    if (at < r->text_len && len < r->text_len - at && r->text[at + len] == 0) return r->text + at;
    fail(r, "a string lies outside the text");
    return "";
}

/* A node number; 0 where `optional`. */
static Lx check_lx(Reader *r, const MfKernel *k, uint64_t x, bool optional)
{
    if (x <= k->lx.nodes.n && (x != 0 || optional)) return (Lx)x;
    fail(r, "a launch expression has no such node");
    return 0;
}

static void read_syms(Reader *r, MfKernel *k)
{
    for (uint32_t n = next_count(r); n && !r->fault; n--) {
        MfSym s = {.name = next_text(r)};
        uint64_t kind = next(r);
        demand(r, kind <= MF_SCALAR, "a symbol is of an unknown kind");
        s.kind = (uint8_t)kind;
        vec_push(r->a, &k->syms, s);
    }
}

static void read_node(Reader *r, MfKernel *k)
{
    uint64_t v = next(r);
    LxNode n = {.op = (uint8_t)v};
    if (n.op == LX_CONST || n.op == LX_SYM) {
        n.k = (int64_t)next(r);
        demand(r, v >> 8 == 0, "a leaf of a launch expression has operands");
        demand(r, n.op == LX_CONST || (uint64_t)n.k < k->syms.n, "a launch expression names no symbol");
    } else {
        uint32_t mask = (UINT32_C(1) << MF_OPERAND_BITS) - 1;
        n.a = (uint32_t)(v >> 8) & mask;
        n.b = (uint32_t)(v >> (8 + MF_OPERAND_BITS)) & mask;
        demand(r, n.op < LX_OP_COUNT, "a launch expression has an unknown operator");
        demand(r, n.a != 0 && n.a <= k->lx.nodes.n, "an operand of a launch expression does not come before its use");
        demand(r, n.op == LX_NOT ? n.b == 0 : n.b != 0 && n.b <= k->lx.nodes.n,
               "an operand of a launch expression does not come before its use");
    }
    vec_push(r->a, &k->lx.nodes, n);
}

static void read_tensor(Reader *r, MfKernel *k)
{
    MfTensor t = {.name = next_text(r)};
    uint64_t v = next(r);
    t.type = byte_of(v, 0);
    t.rank = byte_of(v, 1);
    t.read = v >> 16 & 1;
    t.written = v >> 17 & 1;
    t.strided = v >> 18 & 1;
    t.align = high32(v);
    demand(r, t.type < TYPE_COUNT, "a tensor has an unknown element type");
    demand(r, t.rank >= 1 && t.rank <= MAP_RANK, "the rank of a tensor is not 1 to 5");
    demand(r, t.align != 0 && (t.align & (t.align - 1)) == 0, "the alignment of a tensor is no power of two");
    for (unsigned d = 0; d < t.rank && !r->fault; d++) {
        v = next(r);
        t.extent[d] = check_lx(r, k, low32(v), false);
        t.stride[d] = check_lx(r, k, high32(v), !t.strided);
    }
    vec_push(r->a, &k->tensors, t);
}

static void read_scalar(Reader *r, MfKernel *k)
{
    MfScalar s = {.name = next_text(r)};
    uint64_t v = next(r);
    s.type = byte_of(v, 0);
    s.sym = high32(v);
    demand(r, s.type == TYPE_S32 || s.type == TYPE_U32 || s.type == TYPE_S64,
           "a scalar parameter is no s32, u32 or s64");
    demand(r, s.sym < k->syms.n, "a scalar parameter names no symbol");
    vec_push(r->a, &k->scalars, s);
}

static void read_arg(Reader *r, MfKernel *k)
{
    uint64_t v = next(r);
    struct MfArg arg = {.is_scalar = v & 1, .index = high32(v)};
    demand(r, arg.index < (arg.is_scalar ? k->scalars.n : k->tensors.n), "an argument names no parameter");
    vec_push(r->a, &k->args, arg);
}

static void read_map_fields(Reader *r, MfMap *m)
{
    uint64_t v = next(r);
    m->mode = byte_of(v, 0);
    m->interleave = byte_of(v, 1);
    m->swizzle = byte_of(v, 2);
    m->l2 = byte_of(v, 3);
    m->fill = byte_of(v, 4);
    m->rank = byte_of(v, 5);
    m->type = byte_of(v, 6);
    m->is_load = v >> 56 & 1;
    m->is_store = v >> 57 & 1;
    demand(r, m->mode < MAP_MODE_COUNT, "a map has an unknown mode");
    demand(r, m->interleave <= MAP_INTERLEAVE_32B, "a map has an unknown interleave");
    demand(r, m->swizzle <= MAP_SWIZZLE_128B_ATOM_64B, "a map has an unknown swizzle");
    demand(r, m->l2 <= MAP_L2_256B && m->fill <= MAP_FILL_NAN, "a map has an unknown hint or fill");
    demand(r, m->type < MAP_TYPE_COUNT, "a map has an unknown type");
    demand(r, m->rank >= 1 && m->rank <= MAP_RANK, "the rank of a map is not 1 to 5");
    v = next(r);
    m->channels = (uint16_t)low32(v);
    m->pixels = (uint16_t)high32(v);
}

static void read_map(Reader *r, MfKernel *k)
{
    MfMap m = {.name = next_text(r)};
    uint64_t v = next(r);
    m.tensor = low32(v);
    demand(r, m.tensor < k->tensors.n, "a map describes no tensor");
    m.offset = check_lx(r, k, high32(v), true);
    read_map_fields(r, &m);
    for (unsigned d = 0; d < m.rank && !r->fault; d++) {
        v = next(r);
        m.dim[d] = check_lx(r, k, low32(v), false);
        m.pitch[d] = check_lx(r, k, high32(v), d + 1u == m.rank); /* the innermost has none */
    }
    for (unsigned d = 0; d < m.rank && !r->fault; d++) {
        v = next(r);
        m.box[d] = (uint16_t)low32(v);
        m.elem_stride[d] = (uint8_t)high32(v);
    }
    for (unsigned i = 0; i < 3; i++) {
        v = next(r);
        m.lower[i] = (int16_t)(uint16_t)low32(v);
        m.upper[i] = (int16_t)(uint16_t)high32(v);
    }
    vec_push(r->a, &k->maps, m);
}

static void read_param(Reader *r, MfKernel *k)
{
    uint64_t v = next(r);
    uint32_t kind = low32(v), index = high32(v);
    demand(r, kind <= MF_PARAM_MAPS, "a kernel parameter is of an unknown kind");
    if (kind == MF_PARAM_MAP) demand(r, index < k->maps.n, "a kernel parameter names no map");
    else if (kind == MF_PARAM_ADDRESS) demand(r, index < k->tensors.n, "a kernel parameter names no tensor");
    else if (kind == MF_PARAM_VALUE) check_lx(r, k, index, false);
    else if (kind == MF_PARAM_MAPS) demand(r, index >= 128 && index % 128 == 0 && index <= MF_MAPS_MAX, "the room for maps has another size");
    vec_push(r->a, &k->params, ((MfParam){(uint8_t)kind, index}));
}

/* A code that this library does not know (made by a newer compiler) is still a failed launch check. */
static ErrorCode code_of(uint64_t v)
{
    char text[16];
    ErrorCode c;
    snprintf(text, sizeof text, "%c%04u", (int)(high32(v) & 127), (unsigned)(low32(v) % 10000));
    return error_find(text, &c) ? c : E1101;
}

static void read_check(Reader *r, MfKernel *k)
{
    MfCheck c = {.code = code_of(next(r))};
    c.cond = check_lx(r, k, next(r), false);
    c.text = next_text(r);
    c.why = next_text(r);
    c.place = next_text(r);
    vec_push(r->a, &k->checks, c);
}

#define READ_LIST(r, k, item)                                                                                          \
    do {                                                                                                               \
        for (uint32_t n_ = next_count(r); n_ && !(r)->fault; n_--) item((r), (k));                                     \
    } while (0)

static void read_trust(Reader *r, MfKernel *k)
{
    uint64_t v = next(r);
    demand(r, low32(v) < TRUST_COUNT && high32(v) < k->tensors.n, "what is trusted is an unknown fact, or of no tensor");
    vec_push(r->a, &k->trusts, ((MfTrust){(uint8_t)low32(v), high32(v)}));
}

static void check_counters(Reader *r, const MfKernel *k)
{
    uint32_t n = 0, maps = 0;
    for (uint32_t i = 0; i < k->params.n; i++) {
        n += k->params.v[i].kind == MF_PARAM_COUNTER;
        maps += k->params.v[i].kind == MF_PARAM_MAPS;
    }
    demand(r, n <= MF_COUNTERS, "a kernel has too many counters");
    demand(r, maps <= 1, "a kernel has room for maps twice");
}

static void read_pick(Reader *r, MfKernel *k)
{
    MfPick p = {.gpu = next_text(r)};
    uint64_t v = next(r);
    p.schedule = byte_of(v, 0);
    p.measure = byte_of(v, 1);
    p.least = (int64_t)next(r);
    demand(r, v >> 16 == 0 && p.schedule < k->schedules && p.measure < MF_MEASURES && p.least >= 0, "a kernel picks a schedule that it does not have");
    vec_push(r->a, &k->picks, p);
}

static void read_shape(Reader *r, MfKernel *k)
{
    uint64_t ctas = 1;
    for (unsigned i = 0; i < 3; i++) {
        uint64_t v = next(r);
        k->grid[i] = check_lx(r, k, low32(v), false);
        k->cluster[i] = high32(v);
        demand(r, k->cluster[i] >= 1 && k->cluster[i] <= CLUSTER_CTAS_MOST, "a cluster has no such shape");
        ctas *= k->cluster[i];
    }
    demand(r, ctas <= CLUSTER_CTAS_MOST, "a cluster has more than 16 CTAs");
    uint64_t v = next(r);
    k->threads = low32(v);
    k->smem = high32(v);
    demand(r, k->threads >= 1 && k->threads <= 1024, "a CTA does not have 1 to 1024 threads");
    v = next(r);
    demand(r, low32(v) >> 9 == 0 && (uint8_t)low32(v) <= MF_DEAL_TICKET, "the work is dealt in an unknown way");
    k->deal = (uint8_t)low32(v);
    k->dependent = low32(v) >> 8;
    *(k->deal == MF_DEAL_NONE ? &k->loads : &k->per_sm) = high32(v);
    demand(r, k->deal == MF_DEAL_NONE || (k->per_sm >= 1 && k->per_sm <= 32), "an SM does not run 1 to 32 CTAs");
    v = next(r);
    k->teams = check_lx(r, k, low32(v), k->deal == MF_DEAL_NONE);
    k->traffic = check_lx(r, k, high32(v), true);
    v = next(r);
    k->schedule = (uint8_t)v;
    k->schedules = (uint8_t)(v >> 8);
    bool one = k->schedules == 0 && k->schedule == 0;
    demand(r, low32(v) >> 16 == 0 && (one || (k->schedules >= 2 && k->schedules <= MF_SCHEDULES_MAX && k->schedule < k->schedules)), "a kernel has no such schedule");
    demand(r, high32(v) <= MF_PICKS_MAX && (high32(v) == 0 || (!one && k->schedule == 0)), "a kernel picks among no schedules");
    for (uint32_t n = high32(v); n && !r->fault; n--) read_pick(r, k);
}

static void read_kernel(Reader *r, MfKernel *k)
{
    k->name = next_text(r);
    k->entry = next_text(r);
    read_syms(r, k);
    READ_LIST(r, k, read_node);
    READ_LIST(r, k, read_tensor);
    READ_LIST(r, k, read_scalar);
    READ_LIST(r, k, read_arg);
    READ_LIST(r, k, read_map);
    READ_LIST(r, k, read_param);
    check_counters(r, k);
    READ_LIST(r, k, read_check);
    READ_LIST(r, k, read_trust);
    read_shape(r, k);
}

/* Those of one kernel are all there, in order. */
static bool schedules_whole(const Manifest *m)
{
    for (uint32_t i = 0, n; i < m->kernels.n; i += n) {
        const MfKernel *first = &m->kernels.v[i];
        n = first->schedules ? first->schedules : 1;
        if (first->schedule != 0 || m->kernels.n - i < n) return false;
        for (uint32_t s = 1; s < n; s++) {
            const MfKernel *k = &m->kernels.v[i + s];
            if (k->schedule != s || k->schedules != n || strcmp(k->name, first->name) != 0 || !manifest_same_signature(first, k)) return false;
        }
    }
    return true;
}

static void read_text(Reader *r)
{
    uint64_t len = next(r);
    if (len > (uint64_t)(r->n - r->at) * 8) {
        fail(r, "the text is longer than the manifest");
        return;
    }
    char *text = arena_alloc(r->a, (size_t)len);
    for (size_t i = 0; i < len; i++) text[i] = (char)(unsigned char)(r->w[r->at + i / 8] >> 8 * (i % 8));
    r->text = text;
    r->text_len = (size_t)len;
    r->at += (size_t)((len + 7) / 8);
}

static const char *check_head(const uint64_t *w, size_t n, Arena *a)
{
    if (n < MF_HEAD) return "the manifest is shorter than its head";
    if (w[0] != MANIFEST_MAGIC) return "the manifest does not begin with its magic number";
    if (w[1] != MANIFEST_VERSION)
        return arena_printf(a, "the manifest has version %llu, this library reads version %d", (unsigned long long)w[1],
                            MANIFEST_VERSION);
    if (w[2] < MF_HEAD || w[2] > n) return "the manifest is cut off";
    if (w[3] != manifest_checksum(w + MF_HEAD, (size_t)w[2] - MF_HEAD))
        return "the manifest is damaged: its checksum differs";
    return NULL;
}

const char *manifest_decode(const uint64_t *w, size_t n, Arena *a, Manifest *out)
{
    *out = (Manifest){.compiler = "", .target = "", .source = ""};
    const char *fault = check_head(w, n, a);
    if (fault) return fault;
    Reader r = {.a = a, .w = w, .at = MF_HEAD, .n = (size_t)w[2], .text = ""};
    read_text(&r);
    out->compiler = next_text(&r);
    out->target = next_text(&r);
    out->source = next_text(&r);
    out->source_hash = next(&r);
    for (uint32_t count = next_count(&r); count && !r.fault; count--) {
        MfKernel *k = vec_add(a, &out->kernels);
        read_kernel(&r, k);
    }
    if (r.fault == NULL && !schedules_whole(out)) fail(&r, "the schedules of a kernel are not together, or not alike");
    if (r.fault == NULL) return r.at == r.n ? NULL : "the manifest has words behind its last kernel";
    const char *text = arena_printf(a, "the manifest is damaged at word %zu: %s", r.fault_at, r.fault);
    *out = (Manifest){.compiler = "", .target = "", .source = ""};
    return text;
}
