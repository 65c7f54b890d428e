/* Bodies and their ops, as the columns of ops.def say. */
#include <string.h>

#include "lower/ir/filter.h"

/* ---- operands ---- */

static void argument(Filter *f, IrArg *x)
{
    uint32_t n;
    const char *const *words;
    if (f->reading && x->kind == IRA_IMM && f->tok.kind == TOK_VALUE) x->kind = IRA_VAL;
    switch ((IrArgKind)x->kind) {
    case IRA_IMM: x->imm = filter_int(f, x->imm, INT64_MIN, INT64_MAX); return;
    case IRA_VAL: x->id = filter_value(f, x->id); return;
    case IRA_LX:
        x->id = filter_lx(f, x->id);
        if (x->id == 0) filter_error(f, E0690, "an expression is due");
        return;
    case IRA_TURN: filter_word(f, "n"); return;
    case IRA_WORD:
        words = ir_words((IrKey)x->key, &n);
        x->id = filter_word_of(f, words, n, (uint8_t)x->id, "word of this op");
        return;
    default: x->id = filter_object(f, x->kind, x->id);
    }
    if (x->kind != IRA_RING) return;
    filter_glued(f, "@", true);
    filter_word(f, "n");
}

/* (lane, column) of a tile in tensor memory. */
static void place(Filter *f, const IrBuf *b, IrArg *byte)
{
    int64_t lane = byte->imm / (4 * b->columns), column = byte->imm % (4 * b->columns) / 4;
    if (!filter_glued(f, "(", byte->imm)) return;
    lane = filter_int(f, lane, 0, b->lanes - 1);
    filter_comma(f);
    column = filter_int(f, column, 0, b->columns - 1);
    filter_close(f, ")");
    byte->imm = 4 * (lane * b->columns + column);
}

/* Which slot, and where in it: [slot], or @n of the ring's generation at hand; +byte. The first slot of a single one and byte 0 go without saying. */
static void parts(Filter *f, IrOp *op, const IrArg *object, bool is_buf)
{
    const IrKernel *k = f->k;
    uint32_t id = object->id;
    const IrBuf *b = is_buf && id < k->bufs.n ? &k->bufs.v[id] : NULL;
    const IrBar *r = !is_buf && id < k->bars.n ? &k->bars.v[id] : NULL;
    const IrArg *had = f->reading ? NULL : ir_part(op, object, IRK_SLOT), *at = f->reading ? NULL : ir_part(op, object, IRK_OFFSET);
    IrArg slot = had ? *had : (IrArg){.key = IRK_SLOT, .kind = IRA_IMM}, byte = at ? *at : (IrArg){.key = IRK_OFFSET, .kind = IRA_IMM};
    bool turn = f->reading ? filter_is(f, "@") && f->tok.span.lo == f->last /* not the guard of the next op */ : slot.kind == IRA_TURN;
    if (turn) {
        uint32_t ring = b ? b->ring : r ? r->ring : 0;
        if (f->reading) slot = (IrArg){.key = IRK_SLOT, .kind = IRA_TURN, .id = ring - 1};
        if (ring == 0) filter_error(f, E0690, "what has generations belongs to a ring");
        filter_glued(f, "@", true);
        argument(f, &slot);
    } else if (filter_glued(f, "[", slot.kind != IRA_IMM || slot.imm || (b ? b->slots : r ? r->slots : 0) > 1)) {
        argument(f, &slot);
        filter_close(f, "]");
    }
    if (f->reading) ir_put(f->arena, op, slot);
    if (b && b->lanes && byte.kind == IRA_IMM) {
        place(f, b, &byte);
    } else if (is_buf && filter_glued(f, "+", byte.kind != IRA_IMM || byte.imm)) {
        argument(f, &byte);
    }
    if (f->reading && is_buf) ir_put(f->arena, op, byte);
}

static void one(Filter *f, IrOp *op, const IrOperand *o, const IrArg *was)
{
    IrArg x = was ? *was : (IrArg){.key = o->key, .kind = o->arg == IRA_VAL ? IRA_IMM : o->arg};
    argument(f, &x);
    if (f->reading) ir_put(f->arena, op, x);
    if (x.kind == IRA_BUF || x.kind == IRA_BAR) parts(f, op, was ? was : &x, x.kind == IRA_BUF);
}

static void operand(Filter *f, IrOp *op, const IrOperand *o)
{
    const IrArg *was = NULL;
    unsigned count = f->reading ? 0 : ir_list(op, (IrKey)o->key, &was);
    if (o->list)
        for (unsigned n = 0; filter_list(f, n, count, MAP_RANK); n++) one(f, op, o, was ? &was[n] : NULL);
    else if (f->reading || was) one(f, op, o, was);
    else filter_put(f, "?");
}

/* What stands in front of an operand, such as ", bytes ". */
static void before(Filter *f, const char *s)
{
    if (!f->reading) {
        text_str(f->out, s);
        f->tight = true;
        return;
    }
    if (f->comma) s++;
    f->comma = false;
    while (*s) {
        size_t n = strcspn(s, " ");
        if (n) filter_word(f, arena_strdup(f->arena, s, n));
        s += n;
        while (*s == ' ') s++;
    }
}

/* Of an operand that may be absent: a comma and a word stand in front of it. */
static bool is_there(Filter *f, const IrOp *op, const IrOperand *o, const char *text)
{
    if (!f->reading) return ir_find(op, (IrKey)o->key) != NULL;
    if (!f->comma) f->comma = filter_accept(f, ",");
    return f->comma && filter_is(f, arena_strdup(f->arena, text + 2, strcspn(text + 2, " ")));
}

static void operands(Filter *f, IrOp *op)
{
    const IrSignature *sig = ir_signature((IrOpcode)op->op);
    f->comma = false;
    for (unsigned i = 0; i < sig->n && !f->failed; i++) {
        const char *text = ir_before(sig, i);
        if (sig->v[i].optional && !is_there(f, op, &sig->v[i], text)) continue;
        before(f, text);
        operand(f, op, &sig->v[i]);
    }
    if (f->comma) filter_error(f, E0690, "%s where an operand is due", filter_token(f));
    f->tight = false;
}

/* ---- ops ---- */

IrType filter_type(Filter *f, IrType t)
{
    if (!f->reading) {
        filter_put(f, ir_type_text(t));
        return t;
    }
    const char *name = filter_name(f, NULL);
    t = ir_type_named(name);
    if (t == IR_NONE) filter_error(f, E0690, "`%.40s` is no type of a variable", name);
    return t;
}

/* add.i64 -> add and its type. */
static void find_op(Filter *f, const char *text, IrOp *op)
{
    const char *dot = strrchr(text, '.');
    for (uint8_t i = 0; i < IR_OP_COUNT; i++) {
        const IrOpInfo *info = ir_op_info((IrOpcode)i);
        bool any = info->result >= IR_RESULT_NUM;
        size_t n = any && dot ? (size_t)(dot - text) : strlen(text);
        if (strlen(info->text) != n || strncmp(info->text, text, n) != 0) continue;
        op->op = i;
        op->type = (uint8_t)(any ? dot ? ir_type_named(dot + 1) : IR_NONE : (IrType)info->result);
        if (!any || op->type != IR_NONE) return;
    }
    filter_error(f, E0690, "`%.40s` is no op", text);
}

static void opcode(Filter *f, IrOp *op, bool result)
{
    if (!f->reading) {
        filter_put(f, ir_op_info((IrOpcode)op->op)->text);
        if (ir_op_info((IrOpcode)op->op)->result < IR_RESULT_NUM) return;
        text_char(f->out, '.');
        text_str(f->out, ir_type_text((IrType)op->type));
        return;
    }
    if (f->tok.kind != TOK_WORD) filter_error(f, E0690, "%s where an op is due", filter_token(f));
    const char *text = f->tok.text;
    if (!f->failed) find_op(f, text, op);
    filter_next(f);
    if (result != (op->type != IR_NONE)) filter_error(f, E0690, result ? "`%s` defines no value" : "`%s` defines a value", text);
}

void filter_op(Filter *f, const IrRole *role, IrOp *op)
{
    Span start = f->tok.span;
    const char *result = f->reading ? NULL : "";
    bool agent = f->reading ? role == &f->k->tree && f->tok.kind == TOK_WORD && *f->cursor == ':' : f->tree && op->agent;
    if (agent) { /* in the tree: what that agent does */
        op->agent = (uint8_t)(filter_object(f, NAME_AGENT, op->agent - 1u) + 1);
        filter_close(f, ":");
        f->tight = false;
    }
    if (filter_maybe(f, "@", op->guard.pred)) {
        f->tight = true;
        op->guard = ir_if(filter_value(f, op->guard.pred));
    }
    op->elect = filter_maybe(f, "elect", op->elect);
    if (f->reading ? f->tok.kind == TOK_VALUE : op->dst != 0) {
        result = f->tok.text;
        if (f->reading) filter_next(f);
        else filter_value(f, op->dst);
        filter_word(f, "=");
    }
    opcode(f, op, result != NULL);
    operands(f, op);
    op->any_order = filter_maybe(f, "any_order", op->any_order);
    if (!f->reading || f->failed) return;
    op->span = (Span){start.lo, f->last};
    if (result == NULL) return;
    op->dst = ir_value(f->arena, f->k, (IrType)op->type, *result >= '0' && *result <= '9' ? NULL : result);
    filter_enter(f, IRA_VAL, result, op->dst - 1);
}

/* ---- bodies ---- */

/* The line in which the op's statement begins, once per run of ops from it. */
static void put_source_line(Filter *f, const IrOp *op, uint32_t *last_line, const Source **last_file)
{
    if (f->sources == NULL || op->span.hi == 0) return;
    const char *path;
    uint32_t line, col, n;
    source_place(f->sources, op->span.lo, &path, &line, &col);
    Source *src = sources_file(f->sources, op->span.lo);
    if (src == NULL || (src == *last_file && line == *last_line)) return;
    *last_file = src;
    *last_line = line;
    const char *s = source_line(f->sources, src, line, &n);
    while (n && (*s == ' ' || *s == '\t')) s++, n--;
    text_printf(f->out, "    ; %u: ", line);
    for (uint32_t i = 0; i < n; i++) text_char(f->out, (unsigned char)s[i] < 0x20 ? ' ' : s[i]);
    text_char(f->out, '\n');
}

static void print_ops(Filter *f, const IrRole *r)
{
    uint32_t depth = 2, last_line = 0;
    const Source *last_file = NULL;
    text_char(f->out, '\n');
    for (uint32_t i = 0; i < r->ops.n; i++) {
        IrOp op = r->ops.v[i];
        if ((op.op == IR_ELSE || op.op == IR_END) && depth > 2) depth--;
        put_source_line(f, &op, &last_line, &last_file);
        for (uint32_t j = 0; j < depth; j++) text_lit(f->out, "  ");
        f->tight = true;
        filter_op(f, r, &op);
        text_char(f->out, '\n');
        if (ir_opens_block((IrOpcode)op.op)) depth++;
    }
    text_char(f->out, ' ');
}

void filter_body(Filter *f, IrRole *r)
{
    filter_word(f, "{");
    if (!f->reading) print_ops(f, r);
    while (f->reading && !f->failed && !filter_is(f, "}")) filter_op(f, r, vec_add(f->arena, &r->ops));
    filter_word(f, "}");
}
