/* Names and ops of the IR's text form. */
#include <ctype.h>
#include <string.h>

#include "lower/ir/printer.h"

static bool is_identifier(const char *s)
{
    if (!isalpha((unsigned char)*s) && *s != '_') return false;
    if (strcmp(s, "_") == 0) return false; /* stands for an absent expression */
    while (isalnum((unsigned char)*s) || *s == '_' || *s == '.') s++;
    return *s == 0;
}

static void put_quoted(Text *t, const char *s)
{
    text_char(t, '"');
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\') text_char(t, '\\');
        if (c < 0x20 || c == 0x7F) text_printf(t, "\\x%02x", c);
        else text_char(t, (char)c);
    }
    text_char(t, '"');
}

void print_string(Text *t, const char *s)
{
    put_quoted(t, s ? s : "");
}

void print_name(Text *t, const char *s)
{
    if (s && is_identifier(s)) text_str(t, s);
    else put_quoted(t, s ? s : "");
}

/* ---- unique names ---- */

static const char *quoted_copy(Printer *p, const char *s)
{
    if (is_identifier(s)) return s;
    size_t from = p->out->n; /* the output buffer serves as scratch */
    put_quoted(p->out, s);
    char *q = arena_strdup(p->arena, p->out->s + from, p->out->n - from);
    p->out->n = from;
    p->out->s[from] = 0;
    return q;
}

/* The i-th name is at `first + i * stride`; what is empty stays empty if `anonymous`. */
const char **print_unique(Printer *p, const void *first, size_t stride, uint32_t n, bool anonymous)
{
    const char **shown = arena_array(p->arena, const char *, n);
    Names *seen = names_new(p->arena);
    VEC(uint32_t) next = {0}; /* by name: number to try for the next one of that name, 0 before the first */
    for (uint32_t i = 0; i < n; i++) {
        const char *name;
        memcpy(&name, (const char *)first + i * stride, sizeof name);
        names_intern(seen, name ? name : "", name ? strlen(name) : 0);
    }
    for (uint32_t i = 0; i < names_count(seen); i++) vec_push(p->arena, &next, 0);
    for (uint32_t i = 0; i < n; i++) {
        const char *name;
        memcpy(&name, (const char *)first + i * stride, sizeof name);
        if (name == NULL) name = "";
        if (*name == 0 && anonymous) continue;
        Name id = names_find(seen, name, strlen(name));
        while (next.v[id - 1]) {
            const char *numbered = arena_printf(p->arena, "%s.%u", name, next.v[id - 1]++);
            if (names_find(seen, numbered, strlen(numbered))) continue;
            names_intern(seen, numbered, strlen(numbered));
            name = numbered;
            break;
        }
        if (next.v[id - 1] == 0) next.v[id - 1] = 2;
        shown[i] = quoted_copy(p, name);
    }
    return shown;
}

/* The bodies that are printed, in their order. */
static const IrRole *body_of(const Printer *p, uint32_t i)
{
    const IrKernel *k = p->k;
    if (!p->tree) return i < ir_bodies(k) ? ir_body(k, i) : NULL;
    return i == 0 ? &k->init : i == 1 ? &k->tree : i == 2 ? &k->exit : NULL;
}

/* Values and variables of the tree are none of the roles', and the other way round. */
void print_find_used(Printer *p)
{
    const IrRole *r;
    p->hints = arena_array(p->arena, const char *, p->k->value_names.n);
    p->begun = arena_array(p->arena, const char *, p->k->vars.n);
    for (uint32_t b = 0; (r = body_of(p, b)) != NULL; b++) {
        for (uint32_t i = 0; i < r->ops.n; i++) {
            const IrOp *op = &r->ops.v[i];
            const IrArg *var = op->op == IR_VAR ? ir_find(op, IRK_VAR) : NULL;
            if (op->dst && op->dst <= p->k->value_names.n) p->hints[op->dst - 1] = p->k->value_names.v[op->dst - 1];
            if (var && var->id < p->k->vars.n) p->begun[var->id] = p->k->vars.v[var->id].name ? p->k->vars.v[var->id].name : "";
        }
    }
}

/* Values without a hint are numbered in the order of their definitions, which reading back keeps. */
const char **print_values(Printer *p)
{
    const IrKernel *k = p->k;
    const char **shown = print_unique(p, p->hints, sizeof *p->hints, k->value_names.n, true);
    const IrRole *r;
    uint32_t count = 0;
    for (uint32_t b = 0; (r = body_of(p, b)) != NULL; b++) {
        for (uint32_t i = 0; i < r->ops.n; i++) {
            IrVal v = r->ops.v[i].dst;
            if (v == 0 || v > k->value_names.n) continue;
            count++;
            if (shown[v - 1] == NULL) shown[v - 1] = arena_printf(p->arena, "%u", count);
        }
    }
    return shown;
}

/* ---- operands ---- */

static void put_value(Printer *p, IrVal v)
{
    text_char(p->out, '%');
    if (v == 0 || v > p->k->value_names.n) {
        text_char(p->out, '?');
    } else if (p->names.values) {
        text_str(p->out, p->names.values[v - 1] ? p->names.values[v - 1] : "?");
    } else if (p->k->value_names.v[v - 1]) {
        print_name(p->out, p->k->value_names.v[v - 1]);
    } else {
        text_uint(p->out, v);
    }
}

void print_lx(Printer *p, Lx x)
{
    if (x == 0 || x > p->k->mf.lx.nodes.n) {
        text_char(p->out, '_');
        return;
    }
    const char **names = p->names.syms;
    if (names == NULL) { /* a single op is printed */
        names = arena_array(p->arena, const char *, p->k->mf.syms.n);
        for (uint32_t i = 0; i < p->k->mf.syms.n; i++) names[i] = p->k->mf.syms.v[i].name;
    }
    lx_print(p->out, &p->k->mf.lx, x, names);
}

#define PUT_OBJECT(p, vec, shown, id)                                                                                  \
    do {                                                                                                               \
        if ((id) >= (vec).n) text_char((p)->out, '?');                                                                 \
        else if (shown) text_str((p)->out, (shown)[id]);                                                               \
        else print_name((p)->out, (vec).v[id].name);                                                                     \
    } while (0)

static void put_arg(Printer *p, IrKey key, const IrArg *arg)
{
    const IrKernel *k = p->k;
    const char *const *words;
    uint32_t n;
    switch ((IrArgKind)arg->kind) {
    case IRA_IMM: text_int(p->out, arg->imm); break;
    case IRA_VAL: put_value(p, arg->id); break;
    case IRA_MAP: PUT_OBJECT(p, k->mf.maps, p->names.maps, arg->id); break;
    case IRA_BUF: PUT_OBJECT(p, k->bufs, p->names.bufs, arg->id); break;
    case IRA_BAR: PUT_OBJECT(p, k->bars, p->names.bars, arg->id); break;
    case IRA_TENSOR: PUT_OBJECT(p, k->mf.tensors, p->names.tensors, arg->id); break;
    case IRA_POL: PUT_OBJECT(p, k->pols, p->names.pols, arg->id); break;
    case IRA_VAR: PUT_OBJECT(p, k->vars, p->names.vars, arg->id); break;
    case IRA_LX: print_lx(p, arg->id); break;
    case IRA_PLAN: PUT_OBJECT(p, k->plans, p->names.plans, arg->id); break;
    case IRA_RING: PUT_OBJECT(p, k->rings, p->names.rings, arg->id); text_lit(p->out, "@n"); break;
    case IRA_TURN: text_char(p->out, 'n'); break;
    case IRA_WORD:
        words = ir_words(key, &n);
        text_str(p->out, arg->id < n ? words[arg->id] : "?");
        break;
    }
}

/* [slot] and +byte of a buffer or barrier; the first slot of a single one and byte 0 go without saying. */
static void put_parts(Printer *p, const IrOp *op, const IrArg *object, uint32_t slots)
{
    const IrArg *slot = ir_part(op, object, IRK_SLOT), *byte = ir_part(op, object, IRK_OFFSET);
    bool first = slot == NULL || (slot->kind == IRA_IMM && slot->imm == 0);
    if (slot && slot->kind == IRA_TURN) {
        text_lit(p->out, "@n");
    } else if (!first || slots > 1) {
        text_char(p->out, '[');
        if (slot) put_arg(p, IRK_SLOT, slot);
        else text_char(p->out, '0');
        text_char(p->out, ']');
    }
    const IrBuf *b = object->kind == IRA_BUF && object->id < p->k->bufs.n ? &p->k->bufs.v[object->id] : NULL;
    if (b && b->lanes && b->columns && byte && byte->kind == IRA_IMM) { /* lane and column */
        if (byte->imm) text_printf(p->out, "(%lld, %lld)", (long long)(byte->imm / (4 * b->columns)), (long long)(byte->imm % (4 * b->columns) / 4));
        return;
    }
    if (byte && (byte->kind != IRA_IMM || byte->imm != 0)) {
        text_char(p->out, '+');
        put_arg(p, IRK_OFFSET, byte);
    }
}

static void put_operand(Printer *p, const IrOp *op, const IrOperand *o)
{
    const IrKernel *k = p->k;
    if (o->list) {
        const IrArg *first;
        unsigned n = ir_list(op, o->key, &first);
        text_char(p->out, '[');
        for (unsigned i = 0; i < n; i++) {
            if (i) text_lit(p->out, ", ");
            put_arg(p, o->key, &first[i]);
        }
        text_char(p->out, ']');
        return;
    }
    const IrArg *arg = ir_find(op, o->key);
    if (arg == NULL) {
        text_char(p->out, '?');
        return;
    }
    put_arg(p, o->key, arg);
    if (arg->kind == IRA_BUF) put_parts(p, op, arg, arg->id < k->bufs.n ? k->bufs.v[arg->id].slots : 0);
    if (arg->kind == IRA_BAR) put_parts(p, op, arg, arg->id < k->bars.n ? k->bars.v[arg->id].slots : 0);
}

void print_op(Printer *p, const IrOp *op)
{
    const IrOpInfo *info = ir_op_info(op->op);
    const IrSignature *sig = ir_signature(op->op);
    if (p->tree && op->agent) {
        print_name(p->out, p->k->roles.v[op->agent - 1].name);
        text_lit(p->out, ": ");
    }
    if (op->guard.pred) {
        text_char(p->out, '@');
        put_value(p, op->guard.pred);
        text_char(p->out, ' ');
    }
    if (op->elect) text_lit(p->out, "elect ");
    if (op->dst) {
        put_value(p, op->dst);
        text_lit(p->out, " = ");
    }
    text_str(p->out, info->text);
    if (info->result == IR_RESULT_ANY) {
        text_char(p->out, '.');
        text_str(p->out, ir_type_text(op->type));
    }
    for (unsigned i = 0; i < sig->n; i++) {
        if (sig->v[i].optional && ir_find(op, sig->v[i].key) == NULL) continue;
        text_str(p->out, ir_separator(info, sig, i));
        put_operand(p, op, &sig->v[i]);
    }
    if (op->any_order) text_lit(p->out, " any_order");
}
