/* Registers that are read although nothing has written them on any way to the instruction.
 *
 * A use counts where it can change what the kernel does. Compilers leave values open on purpose: what `mov`, `selp` and
 * `prmt` move or a plain store writes may be such a value. A register that is written on some of the ways only is taken
 * for written, and so is one that a guarded instruction may have written.
 */
#include "runtime/sim/decode/decode.h"

#include <string.h>

enum { REGISTERS_MAX = 256 }; /* of a function that are looked at closely: a way from each write is followed */

typedef struct Reads {
    Decoder *d;
    const uint32_t *op; /* by instruction: its first op */
    uint32_t *first;    /* by register: the first instruction that writes it */
    uint8_t **reached;  /* by register: instructions behind a write; NULL: not needed so far */
    uint32_t looked;
    VEC(SimUnwritten) found;
} Reads;

static bool is_one_of(const char *word, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(word, list[i]) == 0) return true;
    return false;
}
#define ONE_OF(word, list) is_one_of(word, list, sizeof(list) / sizeof(list)[0])

/* Its results are its first operand, unless that is an address or the instruction has none. */
static bool has_result(const PtxInstr *in)
{
    static const char *const none[] = {"bra", "brx", "call", "nanosleep", "setmaxnreg", "pmevent"};
    if (!in->nopd || in->opd[0].kind == PTX_ADDRESS || in->opd[0].kind == PTX_MAP) return false;
    if (!strcmp(in->opcode, "bar") || !strcmp(in->opcode, "barrier")) return ptx_has_mod(in, ".red");
    return !ONE_OF(in->opcode, none);
}

/* May operand i be anything? */
static bool moves_only(const PtxInstr *in, uint32_t i)
{
    static const char *const movers[] = {"mov", "selp", "prmt"};
    if (strcmp(in->opcode, "st") == 0) return i == 1;
    if (strcmp(in->opcode, "selp") == 0 && i == 3) return false;
    return ONE_OF(in->opcode, movers);
}

static void each_register(Reads *r, const PtxOperand *o, uint32_t at, void (*visit)(Reads *r, const PtxVar *v, uint32_t at))
{
    if (o->kind == PTX_REG && o->var && o->var->space == PTX_SPACE_REG && o->var->index < r->d->func->nregs)
        visit(r, o->var, at);
    for (uint32_t i = 0; i < o->nitems; i++) each_register(r, &o->items[i], at, visit);
}

static void note_write(Reads *r, const PtxVar *v, uint32_t at)
{
    if (at < r->first[v->index]) r->first[v->index] = at;
}

/* ---- ways ---- */
typedef struct Ways {
    uint8_t *seen;
    uint32_t *stack, n;
} Ways;

static void go_to(Ways *w, const PtxFunc *f, int64_t at)
{
    if (at < 0 || at >= f->instrs.n || w->seen[at]) return;
    w->seen[at] = 1;
    w->stack[w->n++] = (uint32_t)at;
}

static void go_on(Ways *w, const PtxFunc *f, uint32_t at)
{
    const PtxInstr *in = &f->instrs.v[at];
    bool branch = !strcmp(in->opcode, "bra"), ends = branch || !strcmp(in->opcode, "exit") || !strcmp(in->opcode, "ret");
    if (branch && in->nopd) go_to(w, f, ptx_find_label(f, in->scope, in->opd[0].name));
    if (!strcmp(in->opcode, "brx") && in->nopd > 1)
        for (uint32_t i = 0; i < in->opd[1].nitems; i++) go_to(w, f, ptx_find_label(f, in->scope, in->opd[1].items[i].name));
    if (!ends || in->guard) go_to(w, f, (int64_t)at + 1);
}

static bool writes(const PtxOperand *o, const PtxVar *v)
{
    bool found = o->kind == PTX_REG && o->var == v;
    for (uint32_t i = 0; i < o->nitems && !found; i++) found = writes(&o->items[i], v);
    return found;
}

static uint8_t *behind_writes(Reads *r, const PtxVar *v)
{
    const PtxFunc *f = r->d->func;
    Ways w = {arena_array(r->d->arena, uint8_t, f->instrs.n), arena_array(r->d->arena, uint32_t, f->instrs.n), 0};
    for (uint32_t i = r->first[v->index]; i < f->instrs.n; i++)
        if (has_result(&f->instrs.v[i]) && writes(&f->instrs.v[i].opd[0], v)) go_on(&w, f, i);
    while (w.n) go_on(&w, f, w.stack[--w.n]);
    return w.seen;
}

static void note_read(Reads *r, const PtxVar *v, uint32_t at)
{
    uint8_t **reached = &r->reached[v->index];
    if (at > r->first[v->index]) return;
    if (*reached == NULL) {
        if (r->looked++ >= REGISTERS_MAX) return;
        *reached = behind_writes(r, v);
    }
    if ((*reached)[at] || (r->found.n && r->found.v[r->found.n - 1].op == r->op[at])) return;
    vec_push(r->d->arena, &r->found, ((SimUnwritten){r->op[at], v->name, v == r->d->func->instrs.v[at].guard}));
}

/* ---- the whole ---- */
void decode_unwritten(Decoder *d, const uint32_t *op)
{
    const PtxFunc *f = d->func;
    Reads r = {.d = d, .op = op};
    r.first = arena_array(d->arena, uint32_t, (size_t)f->nregs + 1);
    r.reached = arena_array(d->arena, uint8_t *, (size_t)f->nregs + 1);
    for (uint32_t i = 0; i < f->nregs; i++) r.first[i] = f->instrs.n;
    for (uint32_t i = 0; i < f->instrs.n; i++)
        if (has_result(&f->instrs.v[i])) each_register(&r, &f->instrs.v[i].opd[0], i, note_write);
    for (uint32_t i = 0; i < f->instrs.n; i++) {
        const PtxInstr *in = &f->instrs.v[i];
        if (op[i] == op[i + 1]) continue;
        if (in->guard && in->guard->index < f->nregs) note_read(&r, in->guard, i);
        for (uint32_t k = has_result(in); k < in->nopd; k++)
            if (!moves_only(in, k)) each_register(&r, &in->opd[k], i, note_read);
    }
    d->program->unwritten = r.found.v;
    d->program->nunwritten = r.found.n;
}
