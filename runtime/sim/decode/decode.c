/* Modules and functions: variables get addresses, operands get slots, instructions go to their handlers.
 *
 * Slots are given when a register, constant or temporary is first named, so a program has as many as it uses. Code
 * that cannot be reached is decoded like all other: it must be made of known instructions too.
 */
#include "runtime/sim/decode/decode.h"

#include <stdio.h>
#include <string.h>

enum {
    SLOTS_MAX = 1 << 20,
    OPS_MAX = 1 << 24,
    SHARED_MAX = (1 << 24) - 1024, /* a CTA's window (memory.h) */
    LOCAL_MAX = 512 << 10,         /* CUDA C++ Programming Guide, Technical Specifications: per thread */
    PARAM_MAX = 32764              /* PTX ISA, Kernel Function Parameters */
};

void decode_problem(Decoder *d, const char *fmt, ...)
{
    char text[600];
    va_list ap;
    if (d->bad) return;
    d->bad = true;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    d->problems++;
    uint32_t line = d->instr ? d->instr->line : d->func ? d->func->line : 0;
    if (d->problem) d->problem(d->user, line, text);
}

static void problem_at(Decoder *d, uint32_t line, const char *text)
{
    d->problems++;
    if (d->problem) d->problem(d->user, line, text);
}

uint32_t decode_bytes(int type)
{
    switch (type) {
    case ALU_U16X2:
    case ALU_S16X2:
    case ALU_TF32: return 4;
    case ALU_E4M3X2:
    case ALU_E5M2X2: return 2;
    default: return type < PTX_NO_TYPE ? (uint32_t)ptx_type_bytes((PtxType)type) : 0;
    }
}

const char *decode_type_name(int type)
{
    static const char *const names[ALU_TYPE_COUNT] = {
        [PTX_PRED] = ".pred",     [PTX_B8] = ".b8",         [PTX_B16] = ".b16",   [PTX_B32] = ".b32",
        [PTX_B64] = ".b64",       [PTX_B128] = ".b128",     [PTX_U8] = ".u8",     [PTX_U16] = ".u16",
        [PTX_U32] = ".u32",       [PTX_U64] = ".u64",       [PTX_S8] = ".s8",     [PTX_S16] = ".s16",
        [PTX_S32] = ".s32",       [PTX_S64] = ".s64",       [PTX_F16] = ".f16",   [PTX_F16X2] = ".f16x2",
        [PTX_BF16] = ".bf16",     [PTX_BF16X2] = ".bf16x2", [PTX_F32] = ".f32",   [PTX_F64] = ".f64",
        [ALU_U16X2] = ".u16x2",   [ALU_S16X2] = ".s16x2",   [ALU_TF32] = ".tf32", [ALU_E4M3X2] = ".e4m3x2",
        [ALU_E5M2X2] = ".e5m2x2",
    };
    return type >= 0 && type < ALU_TYPE_COUNT && names[type] ? names[type] : "this type";
}

/* ---- slots and constants ---- */
SimOp *decode_emit(Decoder *d, SimOpcode code)
{
    const PtxInstr *in = d->instr;
    if (d->ops.n >= OPS_MAX) {
        decode_problem(d, "a kernel has at most %d operations in the simulator", OPS_MAX);
        d->ops.n--;
        d->places.n--;
    }
    SimPlace *place = vec_add(d->arena, &d->places);
    if (in != NULL)
        *place = (SimPlace){.ptx_line = in->line,
                            .file = in->place.file,
                            .line = in->place.line,
                            .column = in->place.column,
                            .instr = d->text,
                            .any_order = d->any_order};
    Slot p = 0;
    if (in != NULL && in->guard != NULL) p = decode_reg(d, in->guard);
    SimOp *op = vec_add(d->arena, &d->ops);
    *op = (SimOp){.code = (uint16_t)code, .p = p, .d = NO_SLOT, .a = NO_SLOT, .b = NO_SLOT, .c = NO_SLOT};
    if (in != NULL && in->guard != NULL) op->guard = in->guard_not ? 2 : 1;
    return op;
}

static Slot new_slots(Decoder *d, uint32_t n)
{
    if (d->nslots > SLOTS_MAX - n) {
        decode_problem(d, "a thread has at most %d registers and constants in the simulator", SLOTS_MAX);
        return 0;
    }
    Slot s = d->nslots;
    d->nslots += n;
    return s;
}

Slot decode_temp(Decoder *d)
{
    return new_slots(d, 1);
}

Slot decode_sink(Decoder *d)
{
    if (d->sink == NO_SLOT) d->sink = new_slots(d, 2);
    return d->sink;
}

Slot decode_carry(Decoder *d)
{
    if (d->carry == NO_SLOT) d->carry = new_slots(d, 1);
    return d->carry;
}

Slot decode_reg(Decoder *d, const PtxVar *v)
{
    if (v == NULL || v->space != PTX_SPACE_REG || v->index >= d->func->nregs) {
        decode_problem(d, "a register belongs here");
        return decode_sink(d);
    }
    Slot *s = &d->reg_slot[v->index];
    if (*s == NO_SLOT) *s = new_slots(d, v->type == PTX_B128 ? 2 : 1);
    return *s;
}

static uint32_t hash(uint32_t kind, uint64_t value)
{
    uint64_t x = (value + kind) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(x >> 32);
}

static void grow_table(Decoder *d)
{
    uint32_t cap = d->const_cap ? d->const_cap * 2 : 64;
    d->const_table = arena_array(d->arena, uint32_t, cap);
    d->const_cap = cap;
    for (uint32_t i = 0; i < d->consts.n; i++) {
        uint32_t h = hash(d->consts.v[i].kind, d->consts.v[i].value) & (cap - 1);
        while (d->const_table[h]) h = (h + 1) & (cap - 1);
        d->const_table[h] = i + 1;
    }
}

Slot decode_const(Decoder *d, int kind, uint64_t value)
{
    if (2 * (d->consts.n + 1) > d->const_cap) grow_table(d);
    uint32_t h = hash((uint32_t)kind, value) & (d->const_cap - 1);
    for (; d->const_table[h]; h = (h + 1) & (d->const_cap - 1)) {
        const SimConst *c = &d->consts.v[d->const_table[h] - 1];
        if ((int)c->kind == kind && c->value == value) return c->slot;
    }
    Slot s = new_slots(d, 1);
    SimConst *c = vec_add(d->arena, &d->consts);
    c->slot = s;
    c->kind = (uint32_t)kind;
    c->value = value;
    d->const_table[h] = d->consts.n;
    return s;
}

Slot decode_value(Decoder *d, uint64_t value)
{
    return decode_const(d, CONST_VALUE, value);
}

/* ---- layout ---- */
static uint64_t align_up(uint64_t x, uint64_t to)
{
    return to > 1 ? (x + to - 1) / to * to : x;
}

/* Gives v the next address behind *at; false: beyond the limit. */
static bool place(PtxVar *v, uint64_t *at, uint64_t limit)
{
    uint64_t from = align_up(*at, v->align);
    if (v->align > limit || v->bytes > limit || from > limit - v->bytes) return false;
    v->user = from;
    v->index = 1;
    *at = from + v->bytes;
    return true;
}

static void mark(const PtxOperand *o, int depth)
{
    if (o->var != NULL && o->var->space == PTX_SPACE_SHARED) o->var->index = 1;
    for (uint32_t i = 0; depth && i < o->nitems; i++) mark(&o->items[i], depth - 1);
}

static bool is_extern_shared(const PtxVar *v)
{
    return v->space == PTX_SPACE_SHARED && v->is_extern;
}

static void place_shared(Decoder *d, PtxVar *v, uint64_t *at)
{
    if (v->space != PTX_SPACE_SHARED) return;
    if (v->is_extern) {
        if (v->index && v->align > d->extern_align) d->extern_align = v->align;
        return;
    }
    if (v->align > d->program->smem_align) d->program->smem_align = v->align;
    if (!place(v, at, SHARED_MAX)) decode_problem(d, "`%s` does not fit into shared memory", v->name);
}

/* PTX ISA, "Kernel Function Parameters": each at the next offset that its alignment allows. */
static void layout_params(Decoder *d)
{
    const PtxFunc *f = d->func;
    uint64_t at = 0;
    d->program->nparams = f->params.n;
    d->program->params = arena_array(d->arena, SimParam, f->params.n);
    for (uint32_t i = 0; i < f->params.n; i++) {
        PtxVar *v = f->params.v[i];
        if (!place(v, &at, PARAM_MAX)) decode_problem(d, "the parameters have more than %d bytes", PARAM_MAX);
        d->program->params[i] = (SimParam){(uint32_t)v->user, (uint32_t)v->bytes, v->name};
    }
    d->program->param_bytes = (uint32_t)at;
}

/* Shared variables of the module count where the kernel names them. */
static void layout(Decoder *d)
{
    const PtxFunc *f = d->func;
    const PtxModule *m = d->ptx;
    uint64_t shared = 0, local = 0;
    for (uint32_t i = 0; i < m->vars.n; i++)
        if (m->vars.v[i]->space == PTX_SPACE_SHARED) m->vars.v[i]->index = 0;
    for (uint32_t i = 0; i < f->vars.n; i++)
        if (is_extern_shared(f->vars.v[i])) f->vars.v[i]->index = 0;
    for (uint32_t i = 0; i < f->instrs.n; i++)
        for (uint32_t k = 0; k < f->instrs.v[i].nopd; k++) mark(&f->instrs.v[i].opd[k], 4);
    d->program->smem_align = 1;
    d->extern_align = 0;
    for (uint32_t i = 0; i < m->vars.n; i++)
        if (m->vars.v[i]->index) place_shared(d, m->vars.v[i], &shared);
    for (uint32_t i = 0; i < f->vars.n; i++) {
        PtxVar *v = f->vars.v[i];
        place_shared(d, v, &shared);
        if (v->space == PTX_SPACE_LOCAL && !place(v, &local, LOCAL_MAX))
            decode_problem(d, "`%s` does not fit into local memory", v->name);
    }
    if (d->extern_align) shared = align_up(shared, d->extern_align);
    if (shared > SHARED_MAX) decode_problem(d, "extern arrays begin behind the end of shared memory");
    for (uint32_t i = 0; i < m->vars.n; i++)
        if (is_extern_shared(m->vars.v[i])) m->vars.v[i]->user = shared;
    for (uint32_t i = 0; i < f->vars.n; i++)
        if (is_extern_shared(f->vars.v[i])) f->vars.v[i]->user = shared;
    if (d->extern_align > d->program->smem_align) d->program->smem_align = d->extern_align;
    d->program->static_smem = (uint32_t)shared;
    d->program->local_bytes = (uint32_t)align_up(local, 16);
}

/* ---- functions ---- */
/* "load" of "$role_load_3". */
static const char *role_of(Arena *a, const char *label)
{
    const char *name = label + strlen("$role_");
    size_t n = strlen(name), k = n;
    while (k && name[k - 1] >= '0' && name[k - 1] <= '9') k--;
    if (k > 1 && k < n && name[k - 1] == '_') n = k - 1;
    return arena_strdup(a, name, n);
}

static const char *text_of(Arena *a, const PtxInstr *in)
{
    size_t n = strlen(in->opcode);
    for (uint32_t i = 0; i < in->nmods; i++) n += strlen(in->mods[i]);
    char *text = arena_alloc(a, n + 1), *to = text;
    for (uint32_t i = 0; i <= in->nmods; i++) {
        const char *part = i ? in->mods[i - 1] : in->opcode;
        n = strlen(part);
        memcpy(to, part, n);
        to += n;
    }
    *to = 0;
    return text;
}

static bool names_cluster(const PtxInstr *in)
{
    if (!strcmp(in->opcode, "mapa") || !strcmp(in->opcode, "getctarank")) return true;
    for (uint32_t i = 0; i < in->nmods; i++)
        if (strstr(in->mods[i], "cluster")) return true;
    return false;
}

/* barrier.cluster is a form; bar and barrier{.cta} are plain, whatever table they stand in. */
static bool is_plain(const PtxInstr *in)
{
    if (!strcmp(in->opcode, "bar")) return true;
    if (!strcmp(in->opcode, "barrier")) return !ptx_has_mod(in, ".cluster");
    return !form_family(in);
}

static void decode_instr(Decoder *d)
{
    Mods m;
    if (is_plain(d->instr)) {
        const PlainRow *row = decode_row(d, &m);
        if (row != NULL) row->decode(d, &m, row);
    } else {
        decode_form(d);
    }
    if (names_cluster(d->instr)) d->program->uses_cluster = true;
}

static void decode_body(Decoder *d)
{
    const PtxFunc *f = d->func;
    uint32_t *first = arena_array(d->arena, uint32_t, (size_t)f->instrs.n + 1), label = 0;
    const char **mark = arena_array(d->arena, const char *, (size_t)f->instrs.n + 1);
    for (uint32_t i = 0; i < f->instrs.n; i++) {
        d->any_order = false;
        for (; label < f->labels.n && f->labels.v[label].instr <= i; label++) {
            const char *name = f->labels.v[label].name;
            if (!strncmp(name, "$role_", strlen("$role_"))) mark[i] = role_of(d->arena, name);
            if (!strncmp(name, "$any_order", strlen("$any_order"))) d->any_order = true;
        }
        first[i] = d->ops.n;
        d->instr = &f->instrs.v[i];
        d->text = text_of(d->arena, d->instr);
        d->bad = false;
        if (d->instr->guard != NULL && d->instr->guard->type != PTX_PRED)
            decode_problem(d, "the guard `%s` is no predicate", d->instr->guard->name);
        decode_instr(d);
    }
    d->instr = NULL;
    d->bad = false;
    first[f->instrs.n] = d->ops.n;
    decode_unwritten(d, first);
    decode_emit(d, SIM_EXIT);
    for (uint32_t i = 0; i < d->ops.n; i++) {
        SimOp *op = &d->ops.v[i];
        if (op->code == SIM_BRA && op->imm >= 0 && op->imm <= f->instrs.n) op->imm = first[op->imm];
    }
    const char **marks = arena_array(d->arena, const char *, (size_t)d->ops.n + 1);
    for (uint32_t i = 0; i < f->instrs.n; i++)
        if (mark[i]) marks[first[i]] = mark[i];
    decode_roles(d->arena, d->ops.v, d->ops.n, marks, d->places.v);
}

static SimProgram *decode_func(Decoder *d, const PtxFunc *f)
{
    SimProgram *p = arena_new(d->arena, SimProgram);
    *d = (Decoder){.arena = d->arena,
                   .ptx = d->ptx,
                   .module = d->module,
                   .problem = d->problem,
                   .user = d->user,
                   .problems = d->problems,
                   .func = f,
                   .program = p,
                   .carry = NO_SLOT,
                   .sink = NO_SLOT};
    p->name = f->name;
    for (int i = 0; i < 3; i++) {
        p->reqntid[i] = f->reqntid[i];
        p->maxntid[i] = f->maxntid[i];
        p->reqcluster[i] = f->reqnctapercluster[i];
    }
    d->reg_slot = arena_array(d->arena, Slot, f->nregs);
    for (uint32_t i = 0; i < f->nregs; i++) d->reg_slot[i] = NO_SLOT;
    layout_params(d);
    layout(d);
    decode_body(d);
    p->ops = d->ops.v;
    p->nops = d->ops.n;
    p->places = d->places.v;
    p->forms = d->forms.v;
    p->nforms = d->forms.n;
    p->consts = d->consts.v;
    p->nconsts = d->consts.n;
    p->nslots = d->nslots;
    return p;
}

/* ---- modules ---- */
static void globals(Decoder *d)
{
    const PtxModule *m = d->ptx;
    SimModule *out = d->module;
    out->globals = arena_array(d->arena, SimGlobal, m->vars.n);
    for (uint32_t i = 0; i < m->vars.n; i++) {
        PtxVar *v = m->vars.v[i];
        v->index = 0;
        if ((v->space != PTX_SPACE_GLOBAL && v->space != PTX_SPACE_CONST) || v->is_extern) continue;
        v->index = 1;
        v->user = out->nglobals;
        out->globals[out->nglobals++] = (SimGlobal){.name = v->name,
                                                    .bytes = v->bytes,
                                                    .align = v->align,
                                                    .init = v->init,
                                                    .is_const = v->space == PTX_SPACE_CONST};
    }
}

static void header(Decoder *d)
{
    const PtxModule *m = d->ptx;
    char text[200];
    d->module->version = m->version;
    d->module->target = m->target ? target_find(m->target) : NULL;
    if (!m->version) problem_at(d, m->version_line, "the module has no .version");
    if (m->target == NULL) {
        problem_at(d, m->target_line, "the module has no .target");
    } else if (d->module->target == NULL) {
        snprintf(text, sizeof text, "the simulator does not know the target `%.60s`", m->target);
        problem_at(d, m->target_line, text);
    }
    if (m->address_size == 32) problem_at(d, m->target_line, "addresses have 64 bits in the simulator");
}

SimModule *sim_decode(Arena *a, const PtxModule *ptx, PtxProblem problem, void *user, uint32_t *problems)
{
    SimModule *m = arena_new(a, SimModule);
    Decoder d = {.arena = a, .ptx = ptx, .module = m, .problem = problem, .user = user};
    m->files = ptx->files.v;
    m->nfiles = ptx->files.n;
    header(&d);
    globals(&d);
    m->programs = arena_array(a, SimProgram *, ptx->funcs.n);
    for (uint32_t i = 0; i < ptx->funcs.n; i++) {
        const PtxFunc *f = ptx->funcs.v[i];
        if (f->is_entry && f->has_body) m->programs[m->nprograms++] = decode_func(&d, f);
    }
    if (problems) *problems = d.problems;
    return d.problems ? NULL : m;
}

const SimProgram *sim_program(const SimModule *m, const char *name)
{
    for (uint32_t i = 0; i < m->nprograms; i++)
        if (!strcmp(m->programs[i]->name, name)) return m->programs[i];
    return NULL;
}
