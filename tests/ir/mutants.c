/* The kinds of mutants: mutants.h. Each function below is given one op and makes the mutants of a family. */
#include "tests/ir/mutants.h"

#include <string.h>

#include "lower/ir/ops.h"

enum { FAR = 3 }; /* an op moves past so many others */

typedef struct Maker {
    Arena *arena;
    const IrKernel *k;
    bool tree; /* its tree is changed, instead of its bodies */
    const MutantUser *user;
    uint32_t count;
    uint32_t body, at; /* the op at hand */
    const IrOp *op;
    ArenaMark mark;
    IrKernel *made; /* the mutant in the making */
    const char *kind;
    bool value;
} Maker;

/* ---- copies of the kernel ---- */

#define COPY_VEC(a, T, vec)                                                                                            \
    do {                                                                                                               \
        T *copy_ = arena_array((a), T, (vec).n + 1);                                                                   \
        if ((vec).n) memcpy(copy_, (vec).v, (vec).n * sizeof *copy_);                                                  \
        (vec).v = copy_;                                                                                               \
        (vec).cap = (vec).n + 1;                                                                                       \
    } while (0)

static IrRole *body_of(IrKernel *k, bool tree, uint32_t i)
{
    return tree ? &k->tree : i == 0 ? &k->init : i <= k->roles.n ? &k->roles.v[i - 1] : &k->exit;
}

static void copy_body(Arena *a, IrRole *r)
{
    COPY_VEC(a, IrOp, r->ops);
    for (uint32_t i = 0; i < r->ops.n; i++) {
        IrArg *args = arena_array(a, IrArg, IR_OPERANDS_MAX * 4);
        if (r->ops.v[i].nargs) memcpy(args, r->ops.v[i].args, r->ops.v[i].nargs * sizeof *args);
        r->ops.v[i].args = args;
    }
}

static uint32_t bodies(const IrKernel *k, bool tree)
{
    return tree ? 1 : ir_bodies(k);
}

static const IrRole *read_body(const IrKernel *k, bool tree, uint32_t i)
{
    return tree ? &k->tree : ir_body(k, i);
}

static IrKernel *copy_kernel(Arena *a, const IrKernel *k, bool tree)
{
    IrKernel *c = arena_new(a, IrKernel);
    *c = *k;
    COPY_VEC(a, IrBuf, c->bufs);
    COPY_VEC(a, IrBar, c->bars);
    COPY_VEC(a, IrRing, c->rings);
    COPY_VEC(a, IrVar, c->vars);
    COPY_VEC(a, uint8_t, c->value_types);
    COPY_VEC(a, const char *, c->value_names);
    COPY_VEC(a, IrRole, c->roles);
    for (uint32_t i = 0; i < bodies(c, tree); i++) copy_body(a, body_of(c, tree, i));
    if (tree) copy_body(a, &c->init);
    return c;
}

/* Begins a mutant; NULL if nobody wants it. Else its copy of the op at hand, and `done` ends it. */
static IrOp *begin(Maker *m, const char *kind, bool value)
{
    uint32_t number = m->count++;
    if (!m->user->wants(m->user->user, number, value)) return NULL;
    m->mark = arena_mark(m->arena);
    m->made = copy_kernel(m->arena, m->k, m->tree);
    m->kind = kind;
    m->value = value;
    return &body_of(m->made, m->tree, m->body)->ops.v[m->at];
}

static void done(Maker *m)
{
    const char *body = m->tree                   ? "tree"
                       : m->body == 0            ? "init"
                       : m->body > m->k->roles.n ? "exit"
                                                 : m->k->roles.v[m->body - 1].name;
    Mutant t = {.kernel = m->made,
                .number = m->count - 1,
                .kind = m->kind,
                .op = ir_op_info(m->op->op)->text,
                .body = body,
                .at = m->at,
                .value = m->value};
    m->user->takes(m->user->user, &t);
    arena_release(m->arena, m->mark);
}

/* ---- edits ---- */

static IrRole *made_body(Maker *m)
{
    return body_of(m->made, m->tree, m->body);
}

static void remove_op(IrRole *r, uint32_t at)
{
    memmove(&r->ops.v[at], &r->ops.v[at + 1], (r->ops.n - at - 1) * sizeof *r->ops.v);
    r->ops.n--;
}

static void insert_op(Arena *a, IrRole *r, uint32_t at, IrOp op)
{
    vec_add(a, &r->ops);
    memmove(&r->ops.v[at + 1], &r->ops.v[at], (r->ops.n - at - 1) * sizeof *r->ops.v);
    r->ops.v[at] = op;
}

/* `arg op imm`: of an immediate at once, of a value by an op in front of *at, which moves on. */
static void derive(Maker *m, uint32_t *at, IrOpcode opcode, int64_t imm, uint32_t key_at)
{
    IrRole *r = made_body(m);
    IrArg *arg = &r->ops.v[*at].args[key_at];
    if (arg->kind == IRA_IMM) {
        int64_t x = arg->imm;
        arg->imm = opcode == IR_ADD ? x + imm : opcode == IR_XOR ? x ^ imm : opcode == IR_MOD ? x % imm : x * imm;
        return;
    }
    if (arg->kind != IRA_VAL) return;
    IrType type = (IrType)m->made->value_types.v[arg->id - 1];
    IrOp op = {.op = (uint8_t)opcode, .type = (uint8_t)type, .dst = ir_value(m->arena, m->made, type, NULL)};
    ir_ref(m->arena, &op, IRK_A, IRA_VAL, arg->id);
    ir_imm(m->arena, &op, IRK_B, imm);
    arg->id = op.dst;
    insert_op(m->arena, r, (*at)++, op);
}

static uint32_t arg_index(const IrOp *op, const IrArg *arg)
{
    return (uint32_t)(arg - op->args);
}

static void remove_arg(IrOp *op, uint32_t i)
{
    memmove(&op->args[i], &op->args[i + 1], (op->nargs - i - 1u) * sizeof *op->args);
    op->nargs--;
}

static void insert_arg(IrOp *op, uint32_t i, IrArg arg)
{
    memmove(&op->args[i + 1], &op->args[i], (op->nargs - i) * sizeof *op->args);
    op->args[i] = arg;
    op->nargs++;
}

/* ---- what an op is ---- */

static bool is_scalar(const IrOp *op)
{
    uint8_t group = ir_op_info(op->op)->group;
    return (group == IRG_SCALAR && op->op != IR_TICKET) || op->op == IR_POL_CREATE;
}

static bool is_sync(const IrOp *op)
{
    uint8_t group = ir_op_info(op->op)->group;
    return group == IRG_BARRIER || group == IRG_SYNC || group == IRG_GROUP || group == IRG_FENCE;
}

static bool is_move(const IrOp *op)
{
    uint8_t group = ir_op_info(op->op)->group;
    return group == IRG_COPY || group == IRG_THREAD;
}

static uint32_t block_end(const IrRole *r, uint32_t at) /* of the block that `at` opens: its `end` */
{
    uint32_t depth = 0;
    for (uint32_t i = at; i < r->ops.n; i++) {
        uint8_t op = r->ops.v[i].op;
        if (ir_opens_block(op) && op != IR_ELSE) depth++;
        if (op == IR_END && --depth == 0) return i;
    }
    return at;
}

static uint32_t block_start(const IrRole *r, uint32_t end)
{
    uint32_t depth = 0;
    for (uint32_t i = end + 1; i-- > 0;) {
        uint8_t op = r->ops.v[i].op;
        if (op == IR_END) depth++;
        if (ir_opens_block(op) && op != IR_ELSE && --depth == 0) return i;
    }
    return end;
}

/* ---- moves ---- */

/* Where the op comes to stand when it passes n others (blocks as a whole; `into` them instead); 0: nowhere. */
static uint32_t below(const IrRole *r, uint32_t at, int n, bool into)
{
    uint32_t i = at;
    while (n-- > 0) {
        do i++;
        while (i < r->ops.n && is_scalar(&r->ops.v[i]));
        if (i >= r->ops.n || (ir_opens_block(r->ops.v[i].op) && r->ops.v[i].op == IR_ELSE)) return 0;
        if (r->ops.v[i].op == IR_END && n) return 0;
        if (ir_opens_block(r->ops.v[i].op) && (!into || n)) i = block_end(r, i);
    }
    return i;
}

static bool above(const IrRole *r, uint32_t at, int n, bool into, uint32_t *to)
{
    uint32_t i = at;
    while (n-- > 0) {
        do {
            if (i == 0) return false;
            i--;
        } while (is_scalar(&r->ops.v[i]));
        uint8_t op = r->ops.v[i].op;
        if (op == IR_ELSE || (ir_opens_block(op) && n)) return false;
        if (op == IR_END && into && n == 0) {
            *to = i;
            return true;
        }
        if (op == IR_END) i = block_start(r, i);
    }
    *to = i;
    return true;
}

static bool needs(const IrOp *op, IrVal v)
{
    if (op->guard.pred == v) return true;
    for (uint32_t i = 0; i < op->nargs; i++)
        if (op->args[i].kind == IRA_VAL && op->args[i].id == v) return true;
    return false;
}

/* The op and the scalars between `to` and it that it needs, to stand before `to`. */
static void lift(Maker *m, uint32_t to)
{
    IrRole *r = made_body(m);
    bool *taken = arena_array(m->arena, bool, r->ops.n);
    taken[m->at] = true;
    for (uint32_t i = m->at; i-- > to;)
        for (uint32_t j = i + 1; j <= m->at && r->ops.v[i].dst && is_scalar(&r->ops.v[i]); j++)
            if (taken[j] && needs(&r->ops.v[j], r->ops.v[i].dst)) taken[i] = true;
    for (uint32_t i = to; i <= m->at; i++) {
        if (!taken[i]) continue;
        IrOp op = r->ops.v[i];
        memmove(&r->ops.v[to + 1], &r->ops.v[to], (i - to) * sizeof op);
        r->ops.v[to++] = op;
    }
}

static void make_moves(Maker *m)
{
    static const char *const down[] = {"down", "down 2", "down 3"}, *const up[] = {"up", "up 2", "up 3"};
    const IrRole *r = read_body(m->k, m->tree, m->body);
    for (int n = 1; n <= FAR; n++) {
        for (int into = 0; into < 2; into++) {
            uint32_t to = below(r, m->at, n, into);
            bool value = into && is_move(m->op); /* done in each turn, or in none */
            IrOp *op = to && (!into || ir_opens_block(r->ops.v[to].op)) ? begin(m, down[n - 1], value) : NULL;
            if (op) {
                IrOp moved = *op;
                memmove(op, op + 1, (to - m->at) * sizeof *op);
                made_body(m)->ops.v[to] = moved;
                done(m);
            }
            if (!above(r, m->at, n, into, &to) || (into && r->ops.v[to].op != IR_END)) continue;
            if (begin(m, up[n - 1], value) == NULL) continue;
            lift(m, to);
            done(m);
        }
    }
}

static void make_drops(Maker *m)
{
    if (begin(m, "drop", is_move(m->op))) {
        remove_op(made_body(m), m->at);
        done(m);
    }
    if (m->op->dst == 0 && begin(m, "twice", is_move(m->op))) {
        insert_op(m->arena, made_body(m), m->at, made_body(m)->ops.v[m->at]);
        done(m);
    }
}

/* ---- objects: other barriers, buffers, slots ---- */

static void make_others(Maker *m, const IrArg *obj)
{
    bool is_bar = obj->kind == IRA_BAR;
    uint32_t n = is_bar ? m->k->bars.n : m->k->bufs.n;
    for (uint32_t i = 0; i < n; i++) {
        const IrBuf *a = &m->k->bufs.v[is_bar ? 0 : obj->id], *b = &m->k->bufs.v[is_bar ? 0 : i];
        if (i == obj->id || (!is_bar && b->bytes < a->bytes)) continue;
        IrOp *op = begin(m, is_bar ? "other barrier" : "other tile", !is_bar);
        if (op == NULL) continue;
        op->args[arg_index(m->op, obj)].id = i;
        done(m);
    }
}

static void make_slots(Maker *m, const IrArg *obj)
{
    bool is_bar = obj->kind == IRA_BAR;
    uint32_t slots = is_bar ? m->k->bars.v[obj->id].slots : m->k->bufs.v[obj->id].slots;
    const IrArg *slot = ir_part(m->op, obj, IRK_SLOT);
    if (slots < 2) return;
    for (uint32_t by = 1; by<slots; by += slots> 2 ? slots - 2 : 1) {
        IrOp *op = begin(m, by == 1 ? "slot + 1" : "slot - 1", !is_bar);
        uint32_t at = m->at, i = arg_index(m->op, slot ? slot : obj + 1);
        if (op == NULL) continue;
        if (slot == NULL) insert_arg(op, i, (IrArg){.key = IRK_SLOT, .kind = IRA_IMM, .imm = 0});
        derive(m, &at, IR_ADD, by, i);
        derive(m, &at, IR_MOD, slots, i);
        done(m);
    }
    if (slot && slot->kind == IRA_VAL && begin(m, "slot 0", !is_bar)) {
        IrOp *op = &made_body(m)->ops.v[m->at];
        op->args[arg_index(m->op, slot)] = (IrArg){.key = IRK_SLOT, .kind = IRA_IMM, .imm = 0};
        done(m);
    }
}

static void make_offsets(Maker *m, const IrArg *obj)
{
    static const int64_t by[] = {16, -128, 128, 1024};
    const IrArg *byte = ir_part(m->op, obj, IRK_OFFSET);
    uint32_t i = arg_index(m->op, byte ? byte : obj + 1 + (ir_part(m->op, obj, IRK_SLOT) ? 1 : 0));
    for (size_t n = 0; n < sizeof by / sizeof *by; n++) {
        IrOp *op = begin(m, "offset", true);
        uint32_t at = m->at;
        if (op == NULL) continue;
        if (byte == NULL) insert_arg(op, i, (IrArg){.key = IRK_OFFSET, .kind = IRA_IMM, .imm = 0});
        derive(m, &at, IR_ADD, by[n], i);
        done(m);
    }
    if (byte == NULL || begin(m, "offset", true) == NULL) return;
    remove_arg(&made_body(m)->ops.v[m->at], i);
    done(m);
}

static void make_objects(Maker *m)
{
    for (uint32_t i = 0; i < m->op->nargs; i++) {
        const IrArg *arg = &m->op->args[i];
        if (arg->kind != IRA_BAR && arg->kind != IRA_BUF) continue;
        make_others(m, arg);
        if (!m->tree) make_slots(m, arg);
        if (arg->kind == IRA_BUF) make_offsets(m, arg);
    }
}

/* ---- numbers ---- */

/* `kind` mutants by adding or xoring each of n numbers to the operand. */
static void make_numbers(Maker *m, IrKey key, const char *kind, IrOpcode opcode, const int64_t *by, size_t n,
                         bool value)
{
    const IrArg *arg = ir_find(m->op, key);
    for (size_t i = 0; i < n && arg; i++) {
        uint32_t at = m->at;
        if (begin(m, kind, value) == NULL) continue;
        derive(m, &at, opcode, by[i], arg_index(m->op, arg));
        done(m);
    }
}
#define NUMBERS(...) (const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)

/* The bytes of a copy and of what its barrier expects, changed alike: wrong only if the copy brings other bytes. */
static void make_lie(Maker *m)
{
    const IrArg *bytes = ir_find(m->op, IRK_BYTES), *bar = ir_find(m->op, IRK_BAR);
    if (m->op->op != IR_TMA_LOAD || bytes == NULL || bar == NULL) return;
    if (begin(m, "lie", false) == NULL) return;
    made_body(m)->ops.v[m->at].args[arg_index(m->op, bytes)].imm -= 128;
    for (uint32_t b = 0; b < bodies(m->made, m->tree); b++) {
        IrRole *r = body_of(m->made, m->tree, b);
        for (uint32_t i = 0; i < r->ops.n; i++) {
            IrOp *op = &r->ops.v[i];
            const IrArg *of = ir_find(op, IRK_BAR), *expected = ir_find(op, IRK_BYTES);
            if ((op->op != IR_BAR_EXPECT && op->op != IR_BAR_ARRIVE_EXPECT) || of->id != bar->id) continue;
            if (expected->kind == IRA_IMM) op->args[expected - op->args].imm -= 128;
        }
    }
    done(m);
}

static void make_all_numbers(Maker *m)
{
    uint8_t op = m->op->op;
    bool copy = is_move(m->op);
    make_numbers(m, IRK_COUNT_, "count", IR_ADD, NUMBERS(1, -1, 32), false);
    if (op != IR_TMA_LOAD && op != IR_TMA_STORE && op != IR_TMA_REDUCE) /* there the map says how many */
        make_numbers(m, IRK_BYTES, "bytes", IR_ADD, NUMBERS(16, -16), copy);
    make_numbers(m, IRK_PHASE, "parity", IR_XOR, NUMBERS(1), false);
    make_numbers(m, IRK_RANK, "rank", IR_XOR, NUMBERS(1, 2), copy);
    make_numbers(m, IRK_MASK, "mask", IR_XOR, NUMBERS(1, 2, 4), copy);
    make_numbers(m, IRK_BAR_RANK, "bar_rank", IR_XOR, NUMBERS(1, 2), copy);
    if (op == IR_GRP_WAIT) make_numbers(m, IRK_N, "group", IR_ADD, NUMBERS(1, -1, 2), false);
    if (op == IR_LANES) make_numbers(m, IRK_N, "lanes", IR_ADD, NUMBERS(1, -1), true);
    make_numbers(m, IRK_ALONG, "along", IR_ADD, NUMBERS(16, -16, 4), true);
    if (op == IR_TC_CP || op == IR_TC_SHIFT || op == IR_TC_DESC) {
        make_numbers(m, IRK_N, "instructions", IR_ADD, NUMBERS(1, -1), true);
        make_numbers(m, IRK_LEAD, "lead", IR_ADD, NUMBERS(16), true);
        make_numbers(m, IRK_STRIDE, "stride", IR_ADD, NUMBERS(16, -16), true);
        make_numbers(m, IRK_STEP, "step", IR_ADD, NUMBERS(16, -16), true);
    }
    if (op == IR_CTA_SYNC) {
        make_numbers(m, IRK_ID, "id", IR_ADD, NUMBERS(1, -1), false);
        make_numbers(m, IRK_THREADS, "threads", IR_ADD, NUMBERS(32, -32), false);
    }
    if (op == IR_LOOP) {
        make_numbers(m, IRK_A, "bound", IR_ADD, NUMBERS(1, -1), true);
        make_numbers(m, IRK_B, "bound", IR_ADD, NUMBERS(1, -1), true);
    }
    if (op == IR_TICKET) make_numbers(m, IRK_B, "tickets", IR_ADD, NUMBERS(1, -1), true);
    make_lie(m);
}

/* ---- words, ranks, guards, widths ---- */

static void make_words(Maker *m, IrKey key, bool value)
{
    const IrArg *arg = ir_find(m->op, key);
    uint32_t n;
    if (arg == NULL || key == IRK_SEM) n = 2;
    else ir_words(key, &n);
    for (uint32_t i = 0; i < n && arg; i++) {
        IrOp *op = i == arg->id ? NULL : begin(m, "word", value);
        if (op == NULL) continue;
        op->args[arg_index(m->op, arg)].id = i;
        done(m);
    }
}

static void make_optional(Maker *m)
{
    static const IrKey keys[] = {IRK_RANK, IRK_MASK, IRK_BAR_RANK, IRK_SCOPE};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const IrArg *arg = ir_find(m->op, keys[i]);
        if (arg == NULL || (keys[i] == IRK_SCOPE && m->op->op != IR_BAR_WAIT)) continue;
        IrOp *op = begin(m, keys[i] == IRK_SCOPE ? "scope" : "own", is_move(m->op));
        if (op == NULL) continue;
        remove_arg(op, arg_index(m->op, arg));
        done(m);
    }
    bool cluster = m->k->mf.cluster[0] * m->k->mf.cluster[1] * m->k->mf.cluster[2] > 1;
    for (int64_t rank = 0; rank < 2 && cluster && m->op->op == IR_BAR_ARRIVE && !ir_find(m->op, IRK_RANK); rank++) {
        IrOp *op = begin(m, "rank", false);
        if (op == NULL) continue;
        ir_imm(m->arena, op, IRK_RANK, rank);
        done(m);
    }
}

static void make_guards(Maker *m)
{
    IrOp *op;
    if (m->op->guard.pred && (op = begin(m, "no guard", true))) {
        op->guard = ir_if(0);
        done(m);
    }
    if (m->op->guard.pred && (op = begin(m, "other guard", true))) {
        IrOp inverse = {.op = IR_NOT, .type = IR_PRED, .dst = ir_value(m->arena, m->made, IR_PRED, NULL)};
        ir_ref(m->arena, &inverse, IRK_A, IRA_VAL, op->guard.pred);
        op->guard = ir_if(inverse.dst);
        insert_op(m->arena, made_body(m), m->at, inverse);
        done(m);
    }
    if ((op = begin(m, m->op->elect ? "no elect" : "elect", is_move(m->op)))) {
        op->elect = !op->elect;
        done(m);
    }
}

/* ---- scalars: the counters of rings, and what the rest is made of ---- */

static void make_scalars(Maker *m)
{
    const IrOp *o = m->op;
    IrOp *op;
    if (o->op == IR_SET && begin(m, "drop", true)) {
        remove_op(made_body(m), m->at);
        done(m);
    }
    for (uint32_t i = 0; i < o->nargs && o->type != IR_I64; i++) {
        if (o->args[i].kind != IRA_IMM) continue;
        for (int by = -1; by < 2; by += 2) {
            if ((op = begin(m, "scalar", true)) == NULL) continue;
            op->args[i].imm += by;
            done(m);
        }
    }
    if (o->op == IR_CMP)
        for (uint32_t i = 0; i <= IRL_GE; i++)
            if (i != o->args[0].id && (op = begin(m, "relation", true))) {
                op->args[0].id = i;
                done(m);
            }
    if (o->op == IR_BREAK && begin(m, "drop", true)) {
        remove_op(made_body(m), m->at);
        done(m);
    }
}

/* ---- trees: agents, rings, counts ---- */

static void make_agents(Maker *m)
{
    for (uint32_t a = 1; a <= m->k->roles.n && m->op->agent; a++) {
        IrOp *op = a == m->op->agent ? NULL : begin(m, "agent", is_move(m->op));
        if (op == NULL) continue;
        op->agent = (uint8_t)a;
        done(m);
    }
}

/* How many arrive, and what is initialised: alike. */
static void make_counts(Maker *m, uint32_t bar)
{
    for (int by = -1; by < 2; by += 2) {
        if (begin(m, "arrivals", false) == NULL) continue;
        m->made->bars.v[bar].count += (uint32_t)by;
        for (uint32_t i = 0; i < m->made->init.ops.n; i++) {
            IrOp *op = &m->made->init.ops.v[i];
            const IrArg *of = ir_find(op, IRK_BAR), *count = op->op == IR_BAR_INIT ? ir_find(op, IRK_COUNT_) : NULL;
            if (count && of->id == bar) op->args[count - op->args].imm += by;
        }
        done(m);
    }
}

static void make_rings(Maker *m)
{
    m->body = m->at = 0;
    m->op = &m->k->tree.ops.v[0];
    for (uint32_t i = 0; i < m->k->rings.n; i++) {
        const IrRing *r = &m->k->rings.v[i];
        if (r->free != IR_NO_BAR && r->lag + 1 < r->slots && begin(m, "lag", false)) {
            m->made->rings.v[i].lag++;
            m->made->bars.v[r->free].slots--;
            done(m);
        }
    }
    for (uint32_t b = 0; b < m->k->bars.n; b++) make_counts(m, b);
}

/* ---- buffers ---- */

static void make_layout(Maker *m)
{
    m->body = 0;
    m->at = 0;
    m->op = m->k->init.ops.n ? &m->k->init.ops.v[0] : NULL;
    for (uint32_t i = 0; i < m->k->bufs.n && m->op; i++) {
        if (m->k->bufs.v[i].slots < 2 || begin(m, "smaller ring", true) == NULL) continue;
        m->made->bufs.v[i].slots--;
        done(m);
    }
}

static void make_op(Maker *m)
{
    bool of_ring = ir_op_info(m->op->op)->group == IRG_RING;
    if (is_scalar(m->op) || m->op->op == IR_BREAK) {
        make_scalars(m);
        return;
    }
    make_all_numbers(m);
    bool allocates = m->op->op == IR_TC_ALLOC || m->op->op == IR_TC_KEEP || m->op->op == IR_TC_FREE;
    if (!is_sync(m->op) && !is_move(m->op) && !allocates && !of_ring) return;
    if (m->tree) make_agents(m);
    make_drops(m);
    make_moves(m);
    make_objects(m);
    make_words(m, IRK_HOW, false);
    make_words(m, IRK_SPACE, false);
    make_words(m, IRK_SEM, false);
    make_words(m, IRK_SCOPE, false);
    make_words(m, IRK_ORDER, false);
    make_words(m, IRK_SHAPE, true);
    make_words(m, IRK_FORMAT, true);
    make_words(m, IRK_LAYOUT, true);
    make_optional(m);
    make_guards(m);
}

static uint32_t make(Maker m)
{
    for (m.body = 0; m.body < bodies(m.k, m.tree); m.body++) {
        const IrRole *r = read_body(m.k, m.tree, m.body);
        for (m.at = 0; m.at < r->ops.n; m.at++) {
            m.op = &r->ops.v[m.at];
            make_op(&m);
        }
    }
    if (m.tree) make_rings(&m);
    else make_layout(&m);
    return m.count;
}

uint32_t mutants_make(Arena *a, const IrKernel *k, const MutantUser *u)
{
    return make((Maker){.arena = a, .k = k, .user = u});
}

uint32_t mutants_of_tree(Arena *a, const IrKernel *k, const MutantUser *u)
{
    return make((Maker){.arena = a, .k = k, .tree = true, .user = u});
}
