/* The ops of a body, as the columns of ops.def say. */
#include <string.h>

#include "lang/lang.h"
#include "lower/ir/reader.h"
#include "lower/ir/tensor_memory.h"

static void read_value(Reader *r, IrOp *op, IrKey key)
{
    if (r->tok.kind == TOK_VALUE) {
        const char *name = r->tok.text;
        uint32_t index = reader_look_up(r, SC_VALUE, name);
        reader_next(r);
        ir_ref(r->arena, op, key, IRA_VAL, index + 1);
    } else {
        ir_imm(r->arena, op, key, reader_int(r, INT64_MIN, INT64_MAX));
    }
}

/* (lane, column) of a tile in tensor memory. */
static void read_place(Reader *r, IrOp *op, const IrBuf *b)
{
    int64_t lane = 0, column = 0;
    if (reader_accept(r, "(")) {
        lane = reader_int(r, 0, b->lanes - 1);
        reader_expect(r, ",");
        column = reader_int(r, 0, b->columns - 1);
        reader_expect(r, ")");
    }
    ir_imm(r->arena, op, IRK_OFFSET, 4 * (lane * b->columns + column));
}

/* Of its ring's generation at hand. */
static void read_turn(Reader *r, IrOp *op, uint32_t ring)
{
    reader_expect(r, "n");
    if (ring == 0) reader_error(r, E0690, "what has generations belongs to a ring");
    else ir_ref(r->arena, op, IRK_SLOT, IRA_TURN, ring - 1);
}

static void read_parts(Reader *r, IrOp *op, bool is_buf)
{
    const IrKernel *k = r->k;
    uint32_t object = op->args[op->nargs - 1].id;
    if (reader_is(r, "@") && r->tok.span.lo == r->last) { /* not the guard of the next op */
        reader_next(r);
        read_turn(r, op, is_buf ? object < k->bufs.n ? k->bufs.v[object].ring : 0 : object < k->bars.n ? k->bars.v[object].ring : 0);
    } else if (reader_accept(r, "[")) {
        read_value(r, op, IRK_SLOT);
        reader_expect(r, "]");
    } else {
        ir_imm(r->arena, op, IRK_SLOT, 0);
    }
    if (!is_buf) return;
    const IrBuf *b = object < r->k->bufs.n ? &r->k->bufs.v[object] : NULL;
    if (b && b->lanes) {
        read_place(r, op, b);
        return;
    }
    if (reader_accept(r, "+")) read_value(r, op, IRK_OFFSET);
    else ir_imm(r->arena, op, IRK_OFFSET, 0);
}

static void read_list(Reader *r, IrOp *op, IrKey key)
{
    reader_expect(r, "[");
    for (unsigned n = 0; !reader_is(r, "]") && !r->failed; n++) {
        if (n && !reader_accept(r, ",")) reader_expect(r, "]");
        if (n == MAP_RANK) reader_error(r, E0692, "more than %d coordinates", MAP_RANK);
        read_value(r, op, key);
    }
    reader_expect(r, "]");
}

static void read_operand(Reader *r, IrOp *op, const IrOperand *o)
{
    static const struct {
        char kind;
        uint8_t arg, scope;
    } KINDS[] = {{'m', IRA_MAP, SC_MAP},       {'b', IRA_BUF, SC_BUF}, {'r', IRA_BAR, SC_BAR},
                 {'t', IRA_TENSOR, SC_TENSOR}, {'l', IRA_POL, SC_POL}, {'x', IRA_VAR, SC_VAR},
                 {'q', IRA_PLAN, SC_PLAN},     {'g', IRA_RING, SC_RING}};
    uint32_t n;
    const char *const *words;
    if (o->list) {
        read_list(r, op, o->key);
        return;
    }
    switch (o->kind) {
    case 'v':
    case 'p':
    case 'i': read_value(r, op, o->key); return;
    case 'L': {
        Lx x = reader_lx(r);
        if (x == 0) reader_error(r, E0690, "an expression is due");
        ir_ref(r->arena, op, o->key, IRA_LX, x);
        return;
    }
    case 'w':
        words = ir_words(o->key, &n);
        ir_ref(r->arena, op, o->key, IRA_WORD, reader_word_of(r, words, n, "word of this op"));
        return;
    default: break;
    }
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        if (KINDS[i].kind != o->kind) continue;
        ir_ref(r->arena, op, o->key, (IrArgKind)KINDS[i].arg, reader_object(r, (ScopeKind)KINDS[i].scope));
        if (o->kind == 'b' || o->kind == 'r') read_parts(r, op, o->kind == 'b');
        if (o->kind == 'g' && (reader_expect(r, "@"), true)) reader_expect(r, "n");
    }
}

/* The tokens of a separator such as ", bytes ". */
static void expect_separator(Reader *r, const char *s)
{
    while (*s) {
        size_t n = strcspn(s, " ");
        if (n) reader_expect(r, arena_strdup(r->arena, s, n));
        s += n;
        while (*s == ' ') s++;
    }
}

/* An operand that may be absent: whether it is there. Its separator is a comma and a word. */
static bool optional_follows(Reader *r, const char *separator)
{
    if (!r->comma) r->comma = reader_accept(r, ",");
    size_t n = strcspn(separator + 2, " ");
    return r->comma && reader_is(r, arena_strdup(r->arena, separator + 2, n));
}

/* add.i64 -> add and its type. */
static IrOpcode find_op(Reader *r, const char *text, IrType *type)
{
    const char *dot = strrchr(text, '.');
    for (int i = 0; i < IR_OP_COUNT; i++) {
        const IrOpInfo *info = ir_op_info((IrOpcode)i);
        size_t n = strlen(info->text);
        if (info->result != IR_RESULT_ANY) {
            *type = (IrType)info->result;
            if (strcmp(info->text, text) == 0) return (IrOpcode)i;
        } else if (dot && (size_t)(dot - text) == n && strncmp(text, info->text, n) == 0) {
            *type = reader_type(dot + 1);
            if (*type != IR_NONE) return (IrOpcode)i;
        }
    }
    reader_error(r, E0690, "`%.40s` is no op", text);
    return IR_END;
}

/* In the tree: `load:` in front of what that agent does. */
static uint8_t read_agent(Reader *r, const IrRole *role)
{
    if (role != &r->k->tree || r->tok.kind != TOK_WORD || !reader_followed(r, ':')) return 0;
    const char *name = reader_name(r);
    uint32_t agent = reader_look_up(r, SC_AGENT, name);
    reader_expect(r, ":");
    return (uint8_t)(agent + 1);
}

static void read_op(Reader *r, IrRole *role)
{
    Span start = r->tok.span;
    uint8_t agent = read_agent(r, role);
    IrVal guard = 0;
    const char *result = NULL;
    IrType type = IR_NONE;
    if (reader_accept(r, "@")) {
        guard = r->tok.kind == TOK_VALUE ? reader_look_up(r, SC_VALUE, r->tok.text) + 1 : 0;
        if (guard == 0) reader_error(r, E0690, "a guard is due after `@`");
        reader_next(r);
    }
    bool elect = reader_accept(r, "elect");
    if (r->tok.kind == TOK_VALUE) {
        result = r->tok.text;
        reader_next(r);
        reader_expect(r, "=");
    }
    if (r->tok.kind != TOK_WORD) reader_error(r, E0690, "%s where an op is due", ir_token_text(r));
    const char *text = r->tok.text;
    IrOpcode code = r->failed ? IR_END : find_op(r, text, &type);
    reader_next(r);
    if (r->failed) return;
    const IrOpInfo *info = ir_op_info(code);
    if ((result == NULL) != (info->result == IR_NONE))
        reader_error(r, E0690, result ? "`%s` defines no value" : "`%s` defines a value", text);
    IrOp *op = ir_op(r->arena, role, code, start);
    const IrSignature *sig = ir_signature(code);
    r->comma = false;
    for (unsigned i = 0; i < sig->n && !r->failed; i++) {
        const char *separator = ir_separator(info, sig, i);
        if (sig->v[i].optional && !optional_follows(r, separator)) continue;
        expect_separator(r, r->comma ? separator + 1 : separator);
        r->comma = false;
        read_operand(r, op, &sig->v[i]);
    }
    if (r->comma) reader_error(r, E0690, "%s where an operand is due", ir_token_text(r));
    op->guard = ir_if(guard);
    op->elect = elect;
    op->agent = agent;
    op->any_order = reader_accept(r, "any_order");
    op->span = span_join(start, (Span){start.lo, r->last});
    if (result == NULL || r->failed) return;
    bool numbered = *result >= '0' && *result <= '9';
    op->type = (uint8_t)type;
    op->dst = ir_value(r->arena, r->k, type, numbered ? NULL : result);
    reader_declare(r, SC_VALUE, result, op->dst - 1);
}

void reader_body(Reader *r, IrRole *role)
{
    reader_expect(r, "{");
    while (!reader_is(r, "}") && !r->failed) read_op(r, role);
    reader_expect(r, "}");
}
