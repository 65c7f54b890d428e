#include <string.h>

#include "ptxgen/emit/emit.h"

void ptx_line_end(PtxWriter *w)
{
    text_char(&w->body, '\n');
    w->body_line++;
}

/* ---- registers ---- */

RegClass ptx_class(IrType t)
{
    return t == IR_I32 ? RC_B32 : t == IR_PRED ? RC_PRED : RC_B64;
}

Opnd ptx_reg(PtxWriter *w, RegClass c)
{
    return (Opnd){.kind = OPND_REG, .cls = (uint8_t)c, .reg = w->regs[c]++};
}

/* ---- values ---- */

RegClass ptx_arg_class(const PtxWriter *w, const IrArg *arg)
{
    return arg->kind == IRA_VAL ? ptx_class(w->k->value_types.v[arg->id - 1]) : RC_NONE;
}

Opnd ptx_value(PtxWriter *w, const IrArg *arg)
{
    if (arg->kind == IRA_IMM) return opnd_int(arg->imm);
    const PtxVal *v = &w->vals.v[arg->id - 1];
    return v->kind == OPND_INT ? opnd_int(v->k) : (Opnd){.kind = OPND_REG, .cls = v->cls, .reg = v->reg};
}

Opnd ptx_value32(PtxWriter *w, const IrArg *arg)
{
    Opnd o = ptx_value(w, arg);
    if (o.kind == OPND_INT) return opnd_int((int32_t)(uint32_t)(uint64_t)o.u.k);
    if (o.kind != OPND_REG || o.cls == RC_B32) return o;
    Opnd r = ptx_reg(w, RC_B32);
    if (o.cls == RC_PRED) PTX_INS(w, "selp.b32", r, opnd_int(1), opnd_int(0), o);
    else PTX_INS(w, "cvt.u32.u64", r, o);
    return r;
}

Opnd ptx_value64(PtxWriter *w, const IrArg *arg)
{
    Opnd o = ptx_value(w, arg);
    if (o.kind != OPND_REG || o.cls == RC_B64) return o;
    Opnd r = ptx_reg(w, RC_B64);
    if (o.cls == RC_PRED) PTX_INS(w, "selp.b64", r, opnd_int(1), opnd_int(0), o);
    else PTX_INS(w, w->vals.v[arg->id - 1].k == 1 ? "cvt.u64.u32" : "cvt.s64.s32", r, o);
    return r;
}

Opnd ptx_valuep(PtxWriter *w, const IrArg *arg)
{
    return ptx_in_reg(w, ptx_value(w, arg), RC_PRED);
}

Opnd ptx_in_reg(PtxWriter *w, Opnd o, RegClass c)
{
    if (o.kind != OPND_INT) return o;
    Opnd r = ptx_reg(w, c);
    PTX_INS(w,
            c == RC_PRED  ? "mov.pred"
            : c == RC_B32 ? "mov.b32"
                          : "mov.b64",
            r, opnd_int(c == RC_PRED ? o.u.k != 0 : o.u.k));
    return r;
}

Opnd ptx_define(PtxWriter *w, const IrOp *op)
{
    Opnd r = ptx_reg(w, ptx_class(op->type));
    w->vals.v[op->dst - 1] = (PtxVal){.kind = OPND_REG, .cls = r.cls, .reg = r.reg};
    return r;
}

void ptx_is_times(PtxWriter *w, const IrOp *op, uint32_t of, int64_t k)
{
    PtxVal *v = &w->vals.v[op->dst - 1];
    v->of = of;
    v->k = k;
}

void ptx_define_int(PtxWriter *w, const IrOp *op, int64_t k)
{
    if (op->type == IR_I32) k = (int32_t)(uint32_t)(uint64_t)k;
    w->vals.v[op->dst - 1] = (PtxVal){.kind = OPND_INT, .k = k};
}

Opnd ptx_param_name(char *buf, uint32_t number, bool brackets)
{
    size_t n = 7;
    memcpy(buf, "[param_", n);
    for (uint32_t ten = 1000000000; ten; ten /= 10)
        if (number >= ten || ten == 1) buf[n++] = (char)('0' + number / ten % 10);
    buf[n++] = ']';
    return brackets ? opnd_textn(buf, n) : opnd_textn(buf + 1, n - 2);
}

/* What is constant in the address may stay behind: the CTAs of a cluster have the same layout. Where the guard does not hold
 * the rank may be none of the cluster, and mapa itself ends the kernel then. */
Opnd ptx_mapa(PtxWriter *w, Opnd guard, Opnd address, Opnd rank)
{
    Opnd there = ptx_reg(w, RC_B32);
    w->slots[SLOT_reg] = there;
    w->slots[SLOT_src] = (Opnd){.kind = OPND_REG, .cls = RC_B32, .reg = address.reg};
    w->slots[SLOT_rank] = rank;
    ptx_form(w, guard, FORM_MAPA);
    return opnd_addr(there, address.u.k);
}

/* ---- operands as text ---- */

static void put_reg(Text *t, uint8_t cls, uint32_t reg)
{
    char buf[16] = "%r";
    size_t n = 2;
    if (cls == RC_PRED) buf[1] = 'p';
    else if (cls == RC_B16) buf[1] = 'h';
    else if (cls == RC_B64) buf[n++] = 'd';
    else if (cls == RC_B128) buf[n++] = 'q';
    if (reg < 10) {
        buf[n++] = (char)('0' + reg);
        text_put(t, buf, n);
    } else if (reg < 100) {
        buf[n++] = (char)('0' + reg / 10);
        buf[n++] = (char)('0' + reg % 10);
        text_put(t, buf, n);
    } else {
        text_put(t, buf, n);
        text_uint(t, reg);
    }
}

static void put_sum(Text *t, const Opnd *o)
{
    put_reg(t, o->cls, o->reg);
    if (o->u.k == 0) return;
    text_char(t, '+'); /* in front of a minus, too */
    text_int(t, o->u.k);
}

static void put_opnd(PtxWriter *w, const Opnd *o);

static void put_list(PtxWriter *w, const Opnd *v, unsigned n)
{
    text_char(&w->body, '{');
    for (unsigned i = 0; i < n; i++) {
        if (i) text_lit(&w->body, ", ");
        put_opnd(w, &v[i]);
    }
    text_char(&w->body, '}');
}

static void put_opnd(PtxWriter *w, const Opnd *o)
{
    Text *t = &w->body;
    switch ((OpndKind)o->kind) {
    case OPND_EMPTY: break;
    case OPND_TEXT: text_put(t, o->u.s, o->n); break;
    case OPND_REG: put_reg(t, o->cls, o->reg); break;
    case OPND_INT: text_int(t, o->u.k); break;
    case OPND_ADDR: put_sum(t, o); break;
    case OPND_MEM:
        text_char(t, '[');
        put_sum(t, o);
        text_char(t, ']');
        break;
    case OPND_AFTER_COMMA:
        text_lit(t, ", ");
        put_reg(t, o->cls, o->reg);
        break;
    case OPND_COORDS: put_list(w, w->coords, w->ncoords); break;
    case OPND_INFO:
        text_lit(t, ", ");
        put_list(w, w->info, w->ninfo);
        break;
    }
}

static void put_guard(PtxWriter *w, Opnd guard)
{
    text_lit(&w->body, "    ");
    if (guard.kind != OPND_REG) return;
    text_char(&w->body, '@');
    put_opnd(w, &guard);
    text_char(&w->body, ' ');
}

void ptx_ins(PtxWriter *w, Opnd guard, const char *mnemonic, const Opnd *v, unsigned n)
{
    put_guard(w, guard);
    text_str(&w->body, mnemonic);
    for (unsigned i = 0; i < n; i++) {
        if (i) text_lit(&w->body, ", ");
        else text_char(&w->body, ' ');
        put_opnd(w, &v[i]);
    }
    text_char(&w->body, ';');
    ptx_line_end(w);
}

/* ---- templates ---- */

static uint8_t slot_of(const char *s, size_t n)
{
    static const struct {
        const char *name;
        size_t n;
    } names[] = {
#define X(name) {#name, sizeof #name - 1},
        PTX_SLOTS(X)
#undef X
    };
    for (uint8_t i = 0; i < SLOT_COUNT; i++)
        if (names[i].n == n && memcmp(names[i].name, s, n) == 0) return i;
    return SLOT_NONE;
}

static PtxForm *take_apart(PtxWriter *w, const char *text)
{
    uint32_t holes = 0;
    for (const char *p = text; (p = strchr(p, '{')) != NULL; p++) holes++;
    PtxForm *f = arena_alloc(w->arena, sizeof *f + (holes + 1) * sizeof(PtxPiece));
    f->text = text;
    const char *p = text;
    for (const char *open; (open = strchr(p, '{')) != NULL;) {
        const char *close = open + strcspn(open, "}");
        f->v[f->n++] = (PtxPiece){(uint16_t)(p - text), (uint16_t)(open - p),
                                  slot_of(open + 1, (size_t)(close - open - 1))};
        p = *close ? close + 1 : close;
    }
    f->v[f->n++] = (PtxPiece){(uint16_t)(p - text), (uint16_t)strlen(p), SLOT_NONE};
    return f;
}

/* Text of a row in front of a hole: a word that is left out takes its dot with it, and so does .aligned where it must go. */
static void put_piece(PtxWriter *w, const char *s, size_t n, bool left_out, bool aligned)
{
    static const char word[] = ".aligned";
    const char *at = aligned ? NULL : strstr(s, word);
    if (left_out && n && s[n - 1] == '.') n--;
    if (at && at + strlen(word) <= s + n) {
        text_put(&w->body, s, (size_t)(at - s));
        n -= (size_t)(at - s) + strlen(word);
        s = at + strlen(word);
    }
    text_put(&w->body, s, n);
}

static void put_form(PtxWriter *w, Opnd guard, InstrForm form, bool aligned)
{
    PtxForm *f = w->forms[form];
    if (f == NULL) {
        const FormInfo *info = form_info(form);
        f = w->forms[form] = take_apart(w, info->ptx);
        if (info->min_version > w->version) w->version = info->min_version;
    }
    if (w->target && !w->illegal && !target_has(w->target, form_info(form)->feature)) {
        w->illegal = true;
        w->illegal_form = form;
        w->illegal_span = w->span;
    }
    put_guard(w, guard);
    for (uint32_t i = 0; i < f->n; i++) {
        const Opnd *hole = f->v[i].slot != SLOT_NONE ? &w->slots[f->v[i].slot] : NULL;
        put_piece(w, f->text + f->v[i].at, f->v[i].len, hole && hole->kind == OPND_EMPTY, aligned);
        if (hole) put_opnd(w, hole);
    }
    for (uint32_t i = 0; i < f->n; i++)
        if (f->v[i].slot != SLOT_NONE) w->slots[f->v[i].slot].kind = OPND_EMPTY;
    ptx_line_end(w);
}

void ptx_form(PtxWriter *w, Opnd guard, InstrForm form) { put_form(w, guard, form, true); }
void ptx_form_unaligned(PtxWriter *w, Opnd guard, InstrForm form) { put_form(w, guard, form, false); }

bool ptx_illegal(const PtxWriter *w, InstrForm *form, Span *span)
{
    *form = w->illegal_form;
    *span = w->illegal_span;
    return w->illegal;
}

/* ---- labels, words ---- */

/* An identifier as part of a label. */
static void put_word(Text *t, const char *s)
{
    for (; *s; s++) {
        char c = *s;
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        text_char(t, plain ? c : '_');
    }
}

static void put_label(Text *t, const char *what, const char *name, uint32_t label)
{
    text_char(t, '$');
    text_str(t, what);
    text_char(t, '_');
    if (name && *name) {
        put_word(t, name);
        text_char(t, '_');
    }
    text_uint(t, label);
}

void ptx_branch(PtxWriter *w, Opnd cond, bool when, const char *what, const char *name, uint32_t label)
{
    Text *t = &w->body;
    text_lit(t, "    ");
    if (cond.kind != OPND_EMPTY) {
        text_str(t, when ? "@" : "@!");
        put_opnd(w, &cond);
        text_char(t, ' ');
    }
    text_lit(t, "bra ");
    put_label(t, what, name, label);
    text_char(t, ';');
    ptx_line_end(w);
}

void ptx_label(PtxWriter *w, const char *what, const char *name, uint32_t label)
{
    put_label(&w->body, what, name, label);
    text_char(&w->body, ':');
    ptx_line_end(w);
}

void ptx_ascii(Text *t, const char *s, size_t n, bool in_string)
{
    size_t from = 0;
    for (size_t i = 0; i <= n; i++) {
        char c = i < n ? s[i] : 0;
        bool plain = i < n && c >= 0x20 && c < 0x7F && !(in_string && (c == '"' || c == '\\'));
        if (plain) continue;
        text_put(t, s + from, i - from);
        from = i + 1;
        if (i < n) text_char(t, c == '\t' ? ' ' : in_string && c == '\\' ? '/' : in_string && c == '"' ? '\'' : '?');
    }
}
