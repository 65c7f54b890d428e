/* Counts what programs reach. The linker puts the functions __wrap_.. in front of those of the compiler (--wrap): so each
 * clause that is accepted and each kernel that is proved comes by here. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cover.h"
#include "frontend/check/check.h"
#include "lower/ir/ops.h"
#include "lower/verify/verify.h"
#include "runtime/ptx/forms.h"

static bool counting;

void cover_rules(void);

bool covering(void)
{
    return counting;
}

void cover_count(bool on)
{
    counting = on;
}

void cover_start(void)
{
    rows_make();
    cover_rules();
    counting = true;
}

/* ---- clauses ---- */
bool __real_clauses_fit(Env *e, const ClauseList *l, const PMove *m, MoveShape shape);
bool __wrap_clauses_fit(Env *e, const ClauseList *l, const PMove *m, MoveShape shape);
bool __wrap_clauses_fit(Env *e, const ClauseList *l, const PMove *m, MoveShape shape)
{
    bool ok = __real_clauses_fit(e, l, m, shape);
    for (const Clause *c = l->first; ok && counting && c; c = c->next)
        row_hit(ROW_CLAUSE, "%s: %s", clause_shape_text(shape), clause_text(c->kind));
    return ok;
}

/* ---- the final IR ---- */
static void count_reduction(const IrKernel *k, const IrOp *op)
{
    static const struct {
        IrOpcode op;
        const char *name;
    } list[] = {{IR_TMA_REDUCE, "memory"}, {IR_BLK_REDUCE, "memory"}, {IR_BLK_REDUCE_PEER, "peer"}, {IR_RED_ASYNC, "fill"}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        if (op->op != list[i].op) continue;
        uint32_t n;
        const char *rop = ir_words(IRK_ROP, &n)[ir_find(op, IRK_ROP)->id];
        const IrArg *elem = ir_find(op, IRK_ELEM);
        int map = elem ? -1 : k->mf.maps.v[ir_find(op, IRK_MAP)->id].type;
        for (int t = 0; t < TYPE_COUNT; t++)
            if (elem ? (uint32_t)t == elem->id : elem_info((ElemType)t)->map_type == map)
                row_hit(ROW_REDUCTION, "%s %s %s", list[i].name, rop, elem_info((ElemType)t)->name);
    }
}

static void count_plan(const IrPlan *p)
{
    const char *from = elem_info((ElemType)p->src.type)->name, *to = elem_info((ElemType)p->dst.type)->name;
    if (p->xform != IRX_FILL && p->src.type != p->dst.type) row_hit(p->sat ? ROW_CONVERT_SAT : ROW_CONVERT, "%s %s", from, to);
    row_hit(ROW_THREADS, "%s %s", p->xform == IRX_FILL ? "fill" : p->xform == IRX_TRANSPOSE ? "transpose" : p->xform == IRX_SUM ? "sum" : "copy", to);
    if (p->add) row_hit(ROW_THREADS, "add %s", to);
}

static void count_op(const IrKernel *k, const IrOp *op)
{
    const IrSignature *sig = ir_signature((IrOpcode)op->op);
    const char *text = ir_op_info((IrOpcode)op->op)->text;
    row_hit(ROW_OP, "%s", text);
    for (unsigned i = 0; i < sig->n; i++) {
        IrKey key = (IrKey)sig->v[i].key;
        const IrArg *a = ir_find(op, key);
        uint32_t n = 0;
        const char *const *words = sig->v[i].arg == IRA_WORD ? ir_words(key, &n) : NULL;
        if (sig->v[i].optional) row_hit(ROW_FORM, "%s %s %s", text, a ? "with" : "without", ir_key_text(key));
        if (a && words && a->id < n) row_hit(ROW_FORM, "%s %s=%s", text, ir_key_text(key), words[a->id]);
        if (a && sig->v[i].arg == IRA_PLAN && op->op != IR_TC_LD && op->op != IR_TC_ST) count_plan(&k->plans.v[a->id]);
    }
    count_reduction(k, op);
}

static void count_maps(const IrKernel *k)
{
    static const char *const names[] = {"mode", "type", "interleave", "swizzle", "l2", "fill"};
    size_t n;
    for (uint32_t i = 0; i < k->mf.maps.n; i++) {
        const MfMap *m = &k->mf.maps.v[i];
        uint8_t values[] = {m->mode, m->type, m->interleave, m->swizzle, m->l2, m->fill};
        for (int w = WORDS_MODE; w <= WORDS_FILL; w++) row_hit(ROW_MAP, "%s %s", names[w - WORDS_MODE], word_list((WordList)w, &n)[values[w - WORDS_MODE]]);
    }
}

void cover_kernel(const IrKernel *k)
{
    if (!counting) return;
    for (uint32_t b = 0; b < ir_bodies(k); b++)
        for (uint32_t i = 0; i < ir_body(k, b)->ops.n; i++) count_op(k, &ir_body(k, b)->ops.v[i]);
    for (uint32_t i = 0; i < k->tree.ops.n; i++)
        if (ir_op_info((IrOpcode)k->tree.ops.v[i].op)->group == IRG_RING) count_op(k, &k->tree.ops.v[i]);
    count_maps(k);
}

/* ---- the texts ---- */
static void ignore(void *user, const PtxDefect *d)
{
    (void)user;
    (void)d;
}

static void count_instruction(const PtxInstr *i)
{
    FormMatch match;
    ErrorCode code;
    char why[640];
    if (!strcmp(i->opcode, "barrier") && i->nmods && !strcmp(i->mods[0], ".sync")) row_hit(ROW_INSTRUCTION, "CTA_SYNC");
    if (!strcmp(i->opcode, "bar") && i->nmods && !strcmp(i->mods[0], ".warp")) row_hit(ROW_INSTRUCTION, "WARP_SYNC");
    if (form_family(i) && form_match(i, &match, &code, why, sizeof why)) row_hit(ROW_INSTRUCTION, "%s", form_info(match.form)->ident);
}

static void count_after(const char *text, const char *before, RowKind kind, const char *name)
{
    for (const char *s = text; (s = strstr(s, before)); s++) {
        const char *w = s + strlen(before);
        int n = (int)strspn(w, "abcdefghijklmnopqrstuvwxyz_0123456789");
        row_hit(kind, "%s%.*s", name, n, w);
    }
}

void cover_text(const char *text, const char *ptx, size_t size)
{
    if (!counting) return;
    static Mem mem;
    Arena a;
    uint32_t problems = 0;
    static const char *const before[] = {"= ", "else ", "multicast ", "by ", "grid.", "cta.", "cluster."};
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) count_after(text, before[i], ROW_WORD, before[i]);
    for (const char *s = text; (s = strstr(s, "shared ")); s++) {
        char type[16];
        if (sscanf(s, "shared %*[a-z0-9_]: %15[a-z0-9]", type) == 1) row_hit(ROW_TYPE, "shared %s", type);
    }
    count_after(text, ": global ", ROW_TYPE, "global ");
    arena_init(&a, &mem);
    const PtxModule *m = ptx_examine(&a, ptx, size, ignore, NULL, &problems);
    for (uint32_t k = 0; m && k < m->funcs.n; k++)
        for (uint32_t j = 0; j < m->funcs.v[k]->instrs.n; j++) count_instruction(&m->funcs.v[k]->instrs.v[j]);
    arena_free(&a);
}

void cover_print(const char *path)
{
    FILE *f = fopen(path, "w");
    if (!f) {
        perror(path);
        exit(3);
    }
    for (int i = 0; i < row_count(); i++) fprintf(f, "%8ld %s\n", row_hits[i], row_text(i));
    fclose(f);
}
