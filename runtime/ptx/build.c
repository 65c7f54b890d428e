/* The actions of the PTX grammar: variables with their initial values, functions, instructions. */
#include <inttypes.h>
#include <string.h>

#include "runtime/ptx/parse.h"

static int shown(const char *text)
{
    return ptx_shown(text, strlen(text));
}

/* The function that has the name now, or NULL. */
static PtxFunc *named_func(PtxReader *r, Name id)
{
    uint32_t at = ptx_name(r, id)->func;
    return at ? r->module->funcs.v[at - 1] : NULL;
}

void ptx_alias(PtxReader *r, PtxWord name, PtxWord of)
{
    const char *text = ptx_text(r, of);
    if (!named_func(r, of.name))
        ptx_defect(r, PTX_SYNTAX, of.line, of.column, "the function `%.*s` is not declared", shown(text), text);
    else ptx_name(r, name.name)->func = ptx_name(r, of.name)->func;
}

/* ---- scopes, labels ---- */

void ptx_new_label(PtxReader *r, PtxWord w)
{
    PtxFunc *f = ptx_here(r);
    vec_push(r->arena, &f->labels, ((PtxLabel){ptx_text(r, w), f->instrs.n, ptx_scope(r), w.line}));
}

void ptx_targets(PtxReader *r, uint32_t list)
{
    PtxFunc *f = ptx_here(r);
    PtxOperand o = ptx_list(r, PTX_ARGS, list);
    if (f->labels.n == 0 || f->labels.v[f->labels.n - 1].instr != f->instrs.n) {
        ptx_problem(r, r->first_line, "a list of targets needs a label before it, by which it is named");
        return;
    }
    PtxTargets t = {f->labels.n - 1, o.items, o.nitems};
    if (f == r->bare) vec_push(r->arena, &r->bare_targets, t);
    else vec_push(r->arena, &r->targets, t);
}

void ptx_brace_open(PtxReader *r)
{
    ptx_scope_open(r, r->cur.line);
}

void ptx_brace_close(PtxReader *r)
{
    if (r->scopes.n == 0) ptx_problem(r, r->cur.line, "this `}` closes nothing");
    else if (r->func && r->scopes.n == 1) ptx_func_close(r);
    else ptx_scope_close(r);
}

/* ---- variables ---- */

void ptx_decl_begin(PtxReader *r, PtxSpace space)
{
    PtxDecl *d = &r->decl;
    d->space = space;
    d->type = PTX_NO_TYPE;
    d->has_type = d->pointee = false;
    d->vec = 1;
    d->align = 0;
    d->name = (PtxWord){0, 0, r->cur.line, r->cur.column};
    d->named = false;
    d->var = NULL;
}

void ptx_decl_space(PtxReader *r, PtxSpace space)
{
    (void)space;
    if (!r->decl.pointee) ptx_problem(r, r->cur.line, "a variable has one state space");
}

void ptx_decl_type(PtxReader *r, PtxType t)
{
    if (r->decl.has_type) ptx_problem(r, r->cur.line, "a variable has one type");
    r->decl.type = t;
    r->decl.has_type = true;
}

void ptx_decl_align(PtxReader *r, PtxConst c)
{
    uint64_t v = (uint64_t)c.value;
    if (v == 0 || v > UINT32_MAX || (v & (v - 1)) != 0) ptx_problem(r, r->cur.line, "an alignment is a power of two");
    else if (!r->decl.pointee) r->decl.align = (uint32_t)v;
}

void ptx_decl_name(PtxReader *r, PtxWord w)
{
    PtxDecl *d = &r->decl;
    d->name = w;
    d->named = true;
    d->ndims = 0;
    d->open_dim = false;
    d->var = NULL;
    if (d->has_type) return;
    ptx_defect(r, PTX_SYNTAX, w.line, w.column, "a type is missing before `%.*s`", shown(ptx_text(r, w)),
               ptx_text(r, w));
    d->has_type = true;
    d->type = PTX_B32;
}

void ptx_decl_dim(PtxReader *r, const PtxConst *c)
{
    PtxDecl *d = &r->decl;
    int64_t v = 0;
    if (d->ndims == DIMS_MAX) {
        ptx_defect(r, PTX_SYNTAX, d->name.line, d->name.column, "an array has at most %d dimensions", DIMS_MAX);
        return;
    }
    if (c == NULL && d->ndims > 0)
        ptx_defect(r, PTX_SYNTAX, d->name.line, d->name.column, "only the first dimension of an array may be open");
    else if (c == NULL) d->open_dim = true;
    else if (ptx_integer(r, *c, &v) && v < 0)
        ptx_defect(r, PTX_SYNTAX, d->name.line, d->name.column, "the size of an array is negative");
    d->dims[d->ndims++] = v < 0 ? 0 : (uint64_t)v;
}

static uint64_t type_bytes(PtxType t)
{
    return t == PTX_NO_TYPE ? 8 : (uint64_t)ptx_type_bytes(t); /* .texref and its like are 64-bit handles */
}

/* Bytes of what dimensions from `level` on span; UINT64_MAX: beyond 2^63. */
static uint64_t span(const PtxDecl *d, uint32_t level)
{
    uint64_t bytes = type_bytes(d->type) * d->vec;
    for (uint32_t i = level; i < d->ndims; i++) {
        if (bytes && d->dims[i] > (uint64_t)INT64_MAX / bytes) return UINT64_MAX;
        bytes *= d->dims[i];
    }
    return bytes;
}

/* The variable that is declared, not yet bound. */
static PtxVar *make_var(PtxReader *r)
{
    PtxDecl *d = &r->decl;
    uint64_t element = type_bytes(d->type) * d->vec, bytes = span(d, 0);
    if (bytes == UINT64_MAX || (d->open_dim && span(d, 1) == UINT64_MAX)) {
        ptx_defect(r, PTX_SYNTAX, d->name.line, d->name.column, "`%.*s` is larger than 64 bits can address",
                   shown(ptx_text(r, d->name)), ptx_text(r, d->name));
        bytes = 0;
        d->ndims = 0;
        d->open_dim = false;
    }
    PtxVar *v = arena_new(r->arena, PtxVar);
    *v = (PtxVar){.name = ptx_text(r, d->name),
                  .space = d->space,
                  .type = d->type,
                  .vec = (uint8_t)d->vec,
                  .is_array = d->ndims > 0,
                  .is_extern = d->is_extern,
                  .is_visible = d->is_visible,
                  .align = d->align ? d->align : (uint32_t)element,
                  .bytes = bytes,
                  .line = d->name.line};
    if (v->align == 0) v->align = 1;
    if (v->space == PTX_SPACE_REG && v->is_array) {
        ptx_problem(r, v->line, "registers form no arrays: `%.*s<10>` declares ten", shown(v->name), v->name);
        v->is_array = false;
        v->bytes = element;
    }
    return v;
}

/* Declarations that say less or the same may be repeated: those of other modules' variables. */
static bool again_extern(PtxReader *r, const PtxVar *v)
{
    PtxBinding b = ptx_name(r, r->decl.name.name)->now;
    if (b.var == NULL || b.var_owner || ptx_depth(r) > 0 || b.var->space != v->space) return false;
    if (!b.var->is_extern && !v->is_extern) return false;
    if (!v->is_extern) *b.var = *v;
    return true;
}

static void declare(PtxReader *r, PtxVar *v)
{
    PtxWord w = r->decl.name;
    r->decl.named = false;
    PtxFunc *f = v->space == PTX_SPACE_REG || ptx_depth(r) > 0 ? ptx_here(r) : NULL;
    if (again_extern(r, v) || !ptx_may_bind(r, w)) return;
    if (v->space == PTX_SPACE_REG) {
        r->any_reg = true;
        if (!ptx_new_regs(r, f, v->vec, v->line, &v->index)) return;
    }
    ptx_bind_var(r, v, w.name, f);
    if (v->space == PTX_SPACE_REG && v->vec > 1) return; /* its components will stand there */
    if (f) vec_push(r->arena, &f->vars, v);
    else vec_push(r->arena, &r->module->vars, v);
}

void ptx_decl_range(PtxReader *r, PtxConst count)
{
    PtxDecl *d = &r->decl;
    d->named = false;
    if (d->space != PTX_SPACE_REG) {
        ptx_defect(r, PTX_SYNTAX, d->name.line, d->name.column, "only registers are declared with `<..>`");
        return;
    }
    r->any_reg = true;
    uint64_t n = (uint64_t)count.value;
    ptx_bind_range(r, d->name, n > REGS_MAX ? REGS_MAX + 1 : (uint32_t)n, d->type, d->vec);
}

/* ---- initial values ---- */

void ptx_init_begin(PtxReader *r)
{
    PtxDecl *d = &r->decl;
    d->var = make_var(r);
    d->level = 0;
    d->at = 0;
    d->full = d->space == PTX_SPACE_REG;
    d->bytes.n = 0;
    d->relocs.n = 0;
    if (d->full) ptx_defect(r, PTX_SYNTAX, d->name.line, d->name.column, "a register has no initial value");
}

void ptx_init_open(PtxReader *r)
{
    PtxDecl *d = &r->decl;
    if (d->level < BRACKETS_MAX) d->starts[d->level] = d->at;
    d->level++;
}

static uint64_t add_to(uint64_t at, uint64_t n) { return n > UINT64_MAX - at ? UINT64_MAX : at + n; }

/* The next value begins the next row, whatever is missing in this one. */
void ptx_init_close(PtxReader *r)
{
    PtxDecl *d = &r->decl;
    if (--d->level == 0) return;
    if (d->level <= d->ndims && d->level < BRACKETS_MAX) {
        d->at = add_to(d->starts[d->level], span(d, d->level));
    } else if (!d->full) {
        ptx_problem(r, r->cur.line, "more braces than the array has dimensions");
        d->full = true;
    }
}

/* Zero bytes up to at + n; false: they are too many, which was reported. */
static bool room(PtxReader *r, uint64_t n)
{
    PtxDecl *d = &r->decl;
    if (d->full) return false;
    uint64_t end = add_to(d->at, n), more = end > d->bytes.n ? end - d->bytes.n : 0;
    if (!d->open_dim && end > d->var->bytes) {
        ptx_problem(r, r->cur.line, "more initial values than `%.*s` has elements", shown(d->var->name), d->var->name);
        d->full = true;
    } else if (end > INIT_MAX || r->init_bytes + more > INIT_MAX) {
        ptx_problem(r, r->cur.line, "the initial values of a module have at most %d bytes", INIT_MAX);
        d->full = true;
    } else {
        r->init_bytes += more;
        while (more--) vec_push(r->arena, &d->bytes, 0);
    }
    return !d->full;
}

/* Little endian. */
static void put(PtxReader *r, uint64_t v)
{
    PtxDecl *d = &r->decl;
    uint64_t n = type_bytes(d->type);
    if (!room(r, n)) return;
    for (uint64_t i = 0; i < n && i < 8; i++) d->bytes.v[d->at + i] = (uint8_t)(v >> (8 * i));
    d->at += n;
}

void ptx_init_value(PtxReader *r, PtxConst c)
{
    PtxDecl *d = &r->decl;
    uint64_t bytes = type_bytes(d->type), v = (uint64_t)c.value;
    if (d->type == PTX_NO_TYPE)
        ptx_problem(r, r->cur.line, "`%.*s` has attributes in braces, no value", shown(d->var->name), d->var->name);
    if (d->type == PTX_F64 || (d->type == PTX_F32 && c.kind != PTX_F32_BITS)) {
        double value = ptx_double(c);
        float f = (float)value;
        uint32_t bits;
        memcpy(&bits, &f, sizeof bits);
        memcpy(&v, &value, sizeof v);
        put(r, d->type == PTX_F64 ? v : bits);
        return;
    }
    if (c.kind != PTX_INT && bytes != (c.kind == PTX_F32_BITS ? 4u : 8u))
        ptx_problem(r, r->cur.line, "a floating-point constant does not fit the type of `%.*s`", shown(d->var->name),
                    d->var->name);
    put(r, v);
}

/* PTX ISA, Texture Sampler and Surface Types: what they say of a texture is of no use here. */
void ptx_init_attribute(PtxReader *r)
{
    if (r->decl.type != PTX_NO_TYPE || r->decl.level == 0)
        ptx_problem(r, r->cur.line, "only textures, samplers and surfaces have attributes");
}

PtxReloc ptx_reloc(PtxWord w, const char *name, bool generic)
{
    return (PtxReloc){.name = name, .line = w.line, .column = w.column, .generic = generic, .byte = WHOLE_ADDRESS};
}

void ptx_no_difference(PtxReader *r)
{
    ptx_problem(r, r->cur.line, "a name takes an offset by `+` alone: `name+-8` for `name-8`");
}

PtxReloc ptx_moved(PtxReader *r, PtxReloc reloc, PtxConst by, bool minus)
{
    int64_t v;
    ptx_integer(r, by, &v);
    reloc.addend = (int64_t)(minus ? (uint64_t)reloc.addend - (uint64_t)v : (uint64_t)reloc.addend + (uint64_t)v);
    return reloc;
}

/* PTX ISA, Initializers: 0xFF(name), 0xFF00(name), ..: one byte of the address. */
PtxReloc ptx_masked(PtxReader *r, PtxConst mask, PtxReloc reloc)
{
    for (reloc.byte = 0; reloc.byte < WHOLE_ADDRESS; reloc.byte++)
        if ((uint64_t)mask.value == UINT64_C(0xff) << 8 * reloc.byte) return reloc;
    ptx_problem(r, r->cur.line, "a mask of an address is one byte of ones: 0xFF, 0xFF00, ..");
    reloc.byte = 0;
    return reloc;
}

void ptx_init_address(PtxReader *r, const PtxReloc *given)
{
    PtxDecl *d = &r->decl;
    uint64_t bytes = type_bytes(d->type);
    bool fits = given->byte == WHOLE_ADDRESS ? bytes == 4 || bytes == 8 : bytes != 2;
    if (!fits || d->type == PTX_NO_TYPE)
        ptx_problem(r, r->cur.line, "an address does not fit the type of `%.*s`", shown(d->var->name), d->var->name);
    Name id = names_find(r->names, given->name, strlen(given->name));
    PtxReloc reloc = *given;
    reloc.offset = d->at;
    reloc.var = ptx_find_var(r, id);
    if (reloc.var == NULL && !named_func(r, id) && !ptx_name(r, id)->broken)
        ptx_defect(r, PTX_UNDECLARED, given->line, given->column, "the name `%.*s` is not declared", shown(given->name),
                   given->name);
    vec_push(r->arena, &d->relocs, reloc);
    put(r, 0);
}

static void keep_init(PtxReader *r)
{
    PtxDecl *d = &r->decl;
    PtxVar *v = d->var;
    if (d->open_dim) {
        uint64_t row = span(d, 1);
        v->bytes = row ? (d->bytes.n + row - 1) / row * row : 0;
    }
    uint64_t more = v->bytes > d->bytes.n ? v->bytes - d->bytes.n : 0;
    if (v->bytes == 0 || d->space == PTX_SPACE_REG) return;
    if (r->init_bytes > INIT_MAX || more > INIT_MAX - r->init_bytes) {
        if (!d->full) ptx_problem(r, v->line, "the initial values of a module have at most %d bytes", INIT_MAX);
        return;
    }
    r->init_bytes += more;
    uint8_t *init = arena_alloc(r->arena, v->bytes);
    if (d->bytes.n) memcpy(init, d->bytes.v, d->bytes.n);
    v->init = init;
    if (d->relocs.n == 0) return;
    PtxReloc *relocs = arena_array(r->arena, PtxReloc, d->relocs.n);
    memcpy(relocs, d->relocs.v, d->relocs.n * sizeof *relocs);
    v->relocs = relocs;
    v->nrelocs = d->relocs.n;
}

void ptx_decl_end(PtxReader *r, bool has_init)
{
    PtxDecl *d = &r->decl;
    if (has_init) keep_init(r);
    else d->var = make_var(r);
    declare(r, d->var);
}

void ptx_decl_param(PtxReader *r)
{
    PtxVar *v = make_var(r);
    r->decl.named = false;
    if (r->prototype || r->head == NULL) return;
    v->is_extern = v->is_visible = false;
    if (r->decl.name.name == 0) {
        v->name = "_";
    } else if (ptx_may_bind(r, r->decl.name)) {
        ptx_bind_var(r, v, r->decl.name.name, r->head);
        if (v->space == PTX_SPACE_REG) r->any_reg = true;
    }
    if (v->space == PTX_SPACE_REG && !ptx_new_regs(r, r->head, v->vec, v->line, &v->index)) return;
    if (r->head_results) vec_push(r->arena, &r->head->results, v);
    else vec_push(r->arena, &r->head->params, v);
}

/* ---- functions ---- */

void ptx_func_close(PtxReader *r)
{
    ptx_func_end(r, r->func, true);
    while (r->scopes.n) ptx_scope_close(r);
    r->func = NULL;
}

void ptx_func_begin(PtxReader *r, bool is_entry)
{
    if (r->func) {
        ptx_problem(r, r->first_line, "the body of `%.*s` (line %" PRIu32 ") is not closed before this",
                    shown(r->func->name), r->func->name, r->func->line);
        ptx_func_close(r);
    }
    if (r->scopes.n)
        ptx_problem(r, r->first_line, "a scope (line %" PRIu32 ") is not closed before this", r->scopes.v[0].line);
    while (r->scopes.n) ptx_scope_close(r);
    r->head = arena_new(r->arena, PtxFunc);
    r->head->name = "?";
    r->head->is_entry = is_entry;
    r->head->line = r->first_line;
    r->head_name = 0;
    r->head_results = false;
    ptx_scope_open(r, r->first_line);
}

void ptx_func_name(PtxReader *r, PtxWord w)
{
    PtxFunc *f = r->head;
    f->name = ptx_text(r, w);
    f->line = w.line;
    r->head_name = w.name;
    const PtxBinding *b = &ptx_name(r, w.name)->now;
    if (b->var && b->var_depth == 0)
        ptx_defect(r, PTX_SYNTAX, w.line, w.column, "`%.*s` is declared twice, first in line %" PRIu32, shown(f->name),
                   f->name, b->var->line);
}

void ptx_func_limit(PtxReader *r, PtxLimit which)
{
    uint32_t *to = which == LIMIT_REQNTID   ? r->head->reqntid
                   : which == LIMIT_MAXNTID ? r->head->maxntid
                   : which == LIMIT_CLUSTER ? r->head->reqnctapercluster
                                            : NULL;
    if (to == NULL) return;
    if (r->nnumbers == 0) ptx_problem(r, r->cur.line, "one to three sizes are missing");
    for (uint32_t i = 0; i < 3 && r->nnumbers; i++) to[i] = i < r->nnumbers ? r->numbers[i] : 1;
}

/* Puts the function into the module; a declaration gives way to what comes after it. */
static void keep_func(PtxReader *r, PtxFunc *f)
{
    PtxFunc *old = r->head_name ? named_func(r, r->head_name) : NULL;
    if (old && !f->has_body) return;
    if (old && !old->has_body) {
        r->module->funcs.v[ptx_name(r, r->head_name)->func - 1] = f;
        return;
    }
    if (old)
        ptx_problem(r, f->line, "`%.*s` is declared twice, first in line %" PRIu32, shown(f->name), f->name, old->line);
    vec_push(r->arena, &r->module->funcs, f);
    if (r->head_name && !old) ptx_name(r, r->head_name)->func = r->module->funcs.n;
}

void ptx_func_head_end(PtxReader *r, bool body)
{
    PtxFunc *f = r->head;
    f->has_body = body;
    keep_func(r, f);
    r->head = NULL;
    r->place = (PtxPlace){0};
    if (body) r->func = f;
    else ptx_scope_close(r);
}

/* ---- instructions ---- */

void ptx_push(PtxReader *r, PtxOperand o)
{
    vec_push(r->arena, &r->stack, o);
}

PtxOperand ptx_list(PtxReader *r, PtxOperandKind kind, uint32_t from)
{
    PtxOperand o = {.kind = kind, .nitems = r->stack.n - from};
    o.items = arena_array(r->arena, PtxOperand, o.nitems);
    if (o.nitems) memcpy(o.items, r->stack.v + from, o.nitems * sizeof *o.items);
    r->stack.n = from;
    return o;
}

PtxOperand ptx_address(PtxReader *r, uint32_t from)
{
    PtxOperand o = ptx_list(r, PTX_ADDRESS, from);
    PtxOperand *base = &o.items[0];
    if (base->kind != PTX_REG && base->kind != PTX_SYMBOL && base->kind != PTX_INT) {
        ptx_problem(r, r->cur.line, "an address is a register, a name or an integer");
        *base = (PtxOperand){.kind = PTX_INT};
    }
    if (o.nitems > 1) {
        o.kind = PTX_MAP;
    } else if (base->kind != PTX_INT) {
        o.value = base->value;
        base->value = 0;
    }
    return o;
}

PtxOperand ptx_offset(PtxReader *r, PtxOperand o, PtxConst by, bool minus)
{
    int64_t v;
    ptx_integer(r, by, &v);
    if (o.kind != PTX_REG && o.kind != PTX_SYMBOL)
        ptx_problem(r, r->cur.line, "only registers and addresses take an offset");
    o.offset = true;
    if (o.kind == PTX_REG || o.kind == PTX_SYMBOL)
        o.value = (int64_t)(minus ? (uint64_t)o.value - (uint64_t)v : (uint64_t)o.value + (uint64_t)v);
    return o;
}

PtxOperand ptx_element(PtxReader *r, PtxOperand o, PtxConst index)
{
    int64_t v;
    ptx_integer(r, index, &v);
    if (o.kind != PTX_SYMBOL || (o.var && !o.var->is_array)) {
        ptx_problem(r, r->cur.line, "only arrays have elements");
    } else if (o.var) {
        o.value = (int64_t)((uint64_t)v * type_bytes(o.var->type) * o.var->vec);
    }
    return o;
}

PtxOperand ptx_negated(PtxReader *r, PtxOperand o)
{
    if (o.kind != PTX_REG) ptx_problem(r, r->cur.line, "only registers are negated");
    o.negated = true;
    return o;
}

PtxOperand ptx_constant(PtxConst c)
{
    return (PtxOperand){.kind = c.kind, .value = c.value};
}

/* An undeclared guard gets a register of its own, so that the instruction is not one without a guard. */
static const PtxVar *guard(PtxReader *r, PtxFunc *f)
{
    if (r->guard.name == 0) return NULL;
    PtxOperand o = ptx_use(r, r->guard);
    if (o.kind == PTX_REG && o.var && o.var->type == PTX_PRED) return o.var;
    const char *text = ptx_text(r, r->guard);
    if (o.var || o.kind == PTX_SPECIAL || o.kind == PTX_VECTOR)
        ptx_defect(r, PTX_GUARD, r->guard.line, r->guard.column, "the guard `%.*s` is no predicate register",
                   shown(text), text);
    PtxVar *v = arena_new(r->arena, PtxVar);
    *v = (PtxVar){.name = text, .space = PTX_SPACE_REG, .type = PTX_PRED, .vec = 1, .align = 1, .line = r->guard.line};
    if (ptx_new_regs(r, f, 1, r->guard.line, &v->index)) vec_push(r->arena, &f->vars, v);
    return v;
}

void ptx_instr(PtxReader *r, PtxWord opcode)
{
    PtxFunc *f = ptx_here(r);
    PtxOperand operands = ptx_list(r, PTX_ARGS, 0);
    /* `shf.r`: what looks like a component of a name is the first modifier. */
    uint32_t first = opcode.base != 0;
    const char **mods = arena_array(r->arena, const char *, (size_t)r->mods.n + first);
    if (r->mods.n) memcpy(mods + first, r->mods.v, r->mods.n * sizeof *mods);
    if (first) {
        mods[0] = strrchr(ptx_text(r, opcode), '.');
        opcode.name = opcode.base;
    }
    PtxInstr in = {.guard = guard(r, f),
                   .guard_not = r->guard_not,
                   .opcode = ptx_text(r, opcode),
                   .mods = mods,
                   .nmods = r->mods.n + first,
                   .glued = r->glued + first,
                   .opd = operands.items,
                   .nopd = operands.nitems,
                   .line = r->first_line,
                   .column = r->first_column,
                   .scope = ptx_scope(r),
                   .place = r->place};
    vec_push(r->arena, &f->instrs, in);
}
