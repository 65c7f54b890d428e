#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "lang/lang.h"
#include "lower/ir/ops.h"

/* The names under which the objects of a kernel are printed: quoted where they are no identifiers, and numbered
 * where two objects of a kind have the same one, so that the text reads back. */
typedef struct Shown {
    const char **syms, **tensors, **scalars, **maps, **bufs, **bars, **pols, **vars, **plans, **rings;
    const char **values;
} Shown;

typedef struct Printer {
    Text *out;
    Arena *arena;
    const IrKernel *k;
    Sources *sources;
    bool tree;     /* the tree, not the roles' bodies */
    const char **hints; /* by value: of those that are defined, NULL: none */
    const char **begun; /* by variable: names of those that are declared */
    Shown names; /* all NULL when a single op is printed: names as they are */
} Printer;

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

static void put_string(Text *t, const char *s)
{
    put_quoted(t, s ? s : "");
}

static void put_name(Text *t, const char *s)
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
static const char **unique(Printer *p, const void *first, size_t stride, uint32_t n, bool anonymous)
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
static void find_used(Printer *p)
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
static const char **value_names(Printer *p)
{
    const IrKernel *k = p->k;
    const char **shown = unique(p, p->hints, sizeof *p->hints, k->value_names.n, true);
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
        put_name(p->out, p->k->value_names.v[v - 1]);
    } else {
        text_uint(p->out, v);
    }
}

static void put_lx(Printer *p, Lx x)
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
        else put_name((p)->out, (vec).v[id].name);                                                                     \
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
    case IRA_LX: put_lx(p, arg->id); break;
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

static void put_op(Printer *p, const IrOp *op)
{
    const IrOpInfo *info = ir_op_info(op->op);
    const IrSignature *sig = ir_signature(op->op);
    if (p->tree && op->agent) {
        put_name(p->out, p->k->roles.v[op->agent - 1].name);
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

/* ---- what surrounds the ops ---- */

static void put_lx_list(Printer *p, const Lx *x, unsigned n)
{
    text_char(p->out, '[');
    for (unsigned i = 0; i < n && i < MAP_RANK; i++) {
        if (i) text_lit(p->out, ", ");
        put_lx(p, x[i]);
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
    put_lx(p, m->offset);
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
            put_lx(p, x->index);
            text_char(t, '\n');
        }
    }
    for (uint32_t i = 0; i < mf->checks.n; i++) {
        const MfCheck *c = &mf->checks.v[i];
        text_printf(t, "  check %s ", c->code < ERROR_COUNT ? error_info(c->code)->code : "?");
        put_lx(p, c->cond);
        text_char(t, ' ');
        put_string(t, c->text);
        text_lit(t, " why ");
        put_string(t, c->why);
        text_lit(t, " at ");
        put_string(t, c->place);
        text_char(t, '\n');
    }
    for (uint32_t i = 0; i < mf->trusts.n; i++) {
        text_lit(t, "  trust ");
        put_string(t, mf->trusts.v[i]);
        text_char(t, '\n');
    }
    static const char *const DEALS[] = {[MF_DEAL_STATIC] = "static", [MF_DEAL_TICKET] = "ticket"};
    if (mf->deal) {
        text_printf(t, "  deal %s ", DEALS[mf->deal]);
        put_lx(p, mf->teams);
        text_printf(t, " per_sm %u\n", mf->per_sm);
    }
    if (mf->traffic) {
        text_lit(t, "  traffic ");
        put_lx(p, mf->traffic);
        text_char(t, '\n');
    }
    text_lit(t, "  grid ");
    for (int i = 0; i < 3; i++) {
        if (i) text_lit(t, ", ");
        put_lx(p, mf->grid[i]);
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
    text_printf(t, " %s %s", word, elem_name(s->type));
    put_pitches(t, "pitch", s->pitch, rank);
    if (s->span) text_printf(t, " span %u panel %u", s->span, s->panel);
    if (s->swizzle) text_printf(t, " swizzle %s", map_word(IRM_SWIZZLE, s->swizzle));
    if (s->align) text_printf(t, " align %u", s->align);
}

static void print_plan(Printer *p, uint32_t index)
{
    static const char *const XFORMS[] = {[IRX_COPY] = "copy", [IRX_TRANSPOSE] = "transpose", [IRX_FILL] = "fill"};
    const IrPlan *q = &p->k->plans.v[index];
    Text *t = p->out;
    text_printf(t, "  plan %s = %s", p->names.plans[index], q->xform <= IRX_FILL ? XFORMS[q->xform] : "?");
    put_pitches(t, "extent", q->extent, q->rank);
    if (q->xform == IRX_FILL) text_printf(t, " value %llu", (unsigned long long)q->value);
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
        put_op(p, op);
        text_char(t, '\n');
        if (ir_opens_block(op->op)) depth++;
    }
    text_lit(t, "  }\n");
}

static void print_role(Printer *p, const IrRole *r)
{
    text_lit(p->out, "  role ");
    put_name(p->out, r->name);
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
        put_name(t, k->roles.v[i].name);
        text_printf(t, " warps %u%s\n", k->roles.v[i].warps, k->roles.v[i].elect ? " elect" : "");
    }
    text_lit(t, "  tree");
    print_body(p, &k->tree);
}

static void print_kernel(Printer *p)
{
    const IrKernel *k = p->k;
    Text *t = p->out;
    find_used(p);
#define UNIQUE(vec) unique(p, (vec).v ? &(vec).v->name : NULL, sizeof *(vec).v, (vec).n, false)
    p->names = (Shown){UNIQUE(k->mf.syms), UNIQUE(k->mf.tensors), UNIQUE(k->mf.scalars),
                       UNIQUE(k->mf.maps), UNIQUE(k->bufs),       UNIQUE(k->bars),
                       UNIQUE(k->pols),    unique(p, p->begun, sizeof *p->begun, k->vars.n, true), UNIQUE(k->plans),
                       UNIQUE(k->rings),   value_names(p)};
#undef UNIQUE
    text_lit(t, "\nkernel ");
    put_name(t, k->mf.name);
    text_lit(t, " entry ");
    put_name(t, k->mf.entry);
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
    put_name(j->out, m->target);
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
    if (j->op) put_op(&(Printer){.out = j->out, .arena = &j->scratch, .k = j->k}, j->op);
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
