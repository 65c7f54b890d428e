#include "runtime/sim/report.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "runtime/sim/machine.h"

/* The mnemonic of a row of instructions.def up to its operands, or to a modifier that is not the row's own. */
static void put_form(const FormOp *f, Text *out)
{
    const char *p = form_info(f->form)->ptx;
    size_t start = out->n;
    while (*p && *p != ' ' && *p != ';') {
        if (strncmp(p, "{dim}", 5) == 0) {
            text_uint(out, f->dim);
            p += 5;
        } else if (*p == '{') {
            break;
        } else {
            text_char(out, *p++);
        }
    }
    while (*p == '{' && out->n > start && (out->s[out->n - 1] == '.' || out->s[out->n - 1] == ':'))
        out->s[--out->n] = 0;
}

static const char *space_word(uint32_t space)
{
    switch (space) {
    case PTX_SPACE_PARAM: return ".param";
    case PTX_SPACE_GLOBAL: return ".global";
    case PTX_SPACE_CONST: return ".const";
    case PTX_SPACE_SHARED: return ".shared";
    case PTX_SPACE_LOCAL: return ".local";
    default: return "";
    }
}

void sim_describe_op(SimMachine *m, uint32_t pc, Text *out)
{
    const SimProgram *p = m->launch.program;
    static const char *const names[SIM_OPCODE_COUNT] = {
#define OP(id) #id,
#include "runtime/sim/decode/ops.def"
#undef OP
    };
    static const char *const bars[] = {"bar.sync", "bar.arrive", "bar.red.popc", "bar.red.and", "bar.red.or"};
    if (pc >= p->nops) return;
    if (p->places && p->places[pc].instr) {
        text_str(out, p->places[pc].instr);
        return;
    }
    const SimOp *op = &p->ops[pc];
    switch (op->code) {
    case SIM_FORM: put_form(&p->forms[op->imm], out); return;
    case SIM_BAR: text_str(out, op->n < 5 ? bars[op->n] : "bar"); return;
    case SIM_WARPSYNC: text_lit(out, "bar.warp.sync"); return;
    case SIM_MEMBAR: text_str(out, op->flags ? "fence.sc" : "fence.acq_rel"); return;
    case SIM_LD:
    case SIM_ST:
        text_str(out, op->code == SIM_LD ? "ld" : "st");
        text_str(out, space_word(op->extra));
        return;
    case SIM_ATOM:
        text_str(out, op->d == NO_SLOT ? "red" : "atom");
        text_str(out, space_word(op->extra));
        return;
    default: break;
    }
    for (const char *s = op->code < SIM_OPCODE_COUNT ? names[op->code] : "?"; *s; s++)
        text_char(out, *s == '_' ? '.' : (char)tolower((unsigned char)*s));
}

void sim_describe_place(SimMachine *m, uint32_t pc, Text *out)
{
    const SimProgram *p = m->launch.program;
    if (pc >= p->nops) return;
    if (p->places) {
        const SimPlace *at = &p->places[pc];
        const SimModule *mod = m->launch.module;
        const char *file = at->file < mod->nfiles ? mod->files[at->file] : NULL;
        if (at->line && file) text_printf(out, "%s:%" PRIu32 ":%" PRIu32 ", ", file, at->line, at->column);
        text_printf(out, "PTX line %" PRIu32 ": ", at->ptx_line);
    }
    sim_describe_op(m, pc, out);
}

SimThread *sim_thread(const SimMachine *m, SimWho who)
{
    for (uint32_t i = 0; i < m->nresident; i++) {
        SimCluster *c = m->resident[i];
        if (c->number != who.cluster) continue;
        if (who.rank >= c->nctas || c->ctas[who.rank] == NULL || who.thread >= c->ctas[who.rank]->nthreads) return NULL;
        return &c->ctas[who.rank]->threads[who.thread];
    }
    return NULL;
}

const char *sim_role(const SimMachine *m, SimWho who)
{
    const SimProgram *p = m->launch.program;
    if (p->places == NULL || who.pc >= p->nops) return NULL;
    const SimPlace *at = &p->places[who.pc];
    if (!at->joined) return at->role;
    const SimThread *t = sim_thread(m, who);
    return t ? t->role : NULL;
}

/* The parameter that leads to the block: a pointer into it, or a tensor map of an array in it. nparams: none. */
static uint32_t param_of(const SimMachine *m, const SimBlock *b)
{
    const SimProgram *p = m->launch.program;
    for (uint32_t i = 0; m->params && i < p->nparams; i++) {
        const SimParam *q = &p->params[i];
        uint64_t address = 0;
        MapDesc map;
        char why[200];
        if (q->name == NULL) continue;
        if (q->bytes == 8) memcpy(&address, m->params + q->offset, 8);
        else if (q->bytes == SIM_MAP_BYTES && sim_map_decode(m->params + q->offset, &map, why, sizeof why))
            address = (uint64_t)map.address;
        if (address >= b->address && address - b->address < b->bytes) return i;
    }
    return p->nparams;
}

/* The program's name for what parameter i leads to; NULL: it is no tensor, or there is no manifest. */
static const char *tensor_of(const MfKernel *k, uint32_t i)
{
    if (k == NULL || i >= k->params.n) return NULL;
    const MfParam *p = &k->params.v[i];
    if (p->kind == MF_PARAM_MAP) return k->tensors.v[k->maps.v[p->index].tensor].name;
    return p->kind == MF_PARAM_ADDRESS ? k->tensors.v[p->index].name : NULL;
}

const char *sim_kernel_name(const SimLaunch *l)
{
    return l->kernel ? l->kernel->name : l->program->name;
}

void sim_describe_block(SimMachine *m, const SimBlock *b, Text *out)
{
    const SimLaunch *l = &m->launch;
    for (uint32_t i = 0; l->globals && i < l->module->nglobals; i++) {
        if (l->globals[i] != b) continue;
        text_printf(out, "variable %s (%" PRIu64 " bytes)", l->module->globals[i].name, b->bytes);
        return;
    }
    uint32_t i = param_of(m, b);
    const char *tensor = tensor_of(l->kernel, i);
    if (tensor) text_printf(out, "the allocation of tensor `%s`", tensor);
    else if (i < l->program->nparams) text_printf(out, "the allocation of parameter %s", l->program->params[i].name);
    else text_printf(out, "the allocation at 0x%" PRIx64, b->address);
    text_printf(out, " (%" PRIu64 " bytes)", b->bytes);
}

void sim_describe(SimMachine *m, SimWho who, Text *out)
{
    uint32_t id[3];
    sim_cta_id(&m->launch, who.cluster, who.rank, id);
    text_printf(out, "%sCTA (%" PRIu32 ",%" PRIu32 ",%" PRIu32 ") thread %u", who.async ? "the copy issued by " : "",
                id[0], id[1], id[2], (unsigned)who.thread);
    const char *role = sim_role(m, who);
    if (role) text_printf(out, " (role %s)", role);
    else if (who.thread >= 32) text_printf(out, " (warp %d, lane %d)", who.thread / 32, who.thread % 32);
    text_lit(out, ", ");
    sim_describe_place(m, who.pc, out);
}

static bool file_finding(SimMachine *m, ErrorCode code, const SimWho *who, const SimWho *other, const char *notes,
                         const char *fmt, va_list ap)
{
    if (m->failed) return false;
    m->failed = true;
    m->code = code;
    m->found = who != NULL;
    if (who) m->finder = *who;
    Text *out = &m->finding;
    text_clear(out);
    text_printf(out, "kernel `%s`: ", sim_kernel_name(&m->launch));
    text_vprintf(out, fmt, ap);
    if (who) {
        text_lit(out, "\n    at: ");
        sim_describe(m, *who, out);
    }
    if (other) {
        text_lit(out, "\n    other: ");
        sim_describe(m, *other, out);
    }
    if (notes) text_str(out, notes);
    text_printf(out, "\n    rule: %s", error_info(code)->rule);
    return false;
}

bool sim_fail(SimMachine *m, ErrorCode code, SimThread *t, const char *fmt, ...)
{
    SimWho who = {0};
    if (t) who = sim_who(t);
    va_list ap;
    va_start(ap, fmt);
    file_finding(m, code, t ? &who : NULL, NULL, NULL, fmt, ap);
    va_end(ap);
    return false;
}

bool sim_fail_at(SimMachine *m, ErrorCode code, const SimWho *who, const SimWho *other, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    file_finding(m, code, who, other, NULL, fmt, ap);
    va_end(ap);
    return false;
}

bool sim_fail_notes(SimMachine *m, ErrorCode code, const SimWho *who, const SimWho *other, const char *notes,
                    const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    file_finding(m, code, who, other, notes, fmt, ap);
    va_end(ap);
    return false;
}
