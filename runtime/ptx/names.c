/* What names of a PTX text stand for: scopes, variables, ranges of registers, special registers, labels.
 *
 * A name's binding is that of the innermost scope; an undo list gives back the outer one when the scope ends, so that
 * looking a name up takes the same time at any depth. Registers of a range are made when they are used: `%r<1000000>`
 * is a short text.
 */
#include "runtime/ptx/parse.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

PtxName *ptx_name(PtxReader *r, Name id)
{
    while (r->table.n <= id) vec_add(r->arena, &r->table);
    return &r->table.v[id];
}

const char *ptx_text(const PtxReader *r, PtxWord w)
{
    return names_text(r->names, w.name);
}

/* ---- scopes ---- */

PtxFunc *ptx_here(PtxReader *r)
{
    if (r->head) return r->head;
    if (r->func) return r->func;
    if (r->bare == NULL) {
        r->bare = arena_new(r->arena, PtxFunc);
        *r->bare = (PtxFunc){.name = "", .has_body = true, .line = r->cur.line};
        vec_push(r->arena, &r->bare->scope_parent, 0);
        vec_push(r->arena, &r->module->funcs, r->bare);
    }
    return r->bare;
}

uint32_t ptx_depth(const PtxReader *r)
{
    return r->scopes.n;
}

uint32_t ptx_scope(const PtxReader *r)
{
    return r->scopes.n ? r->scopes.v[r->scopes.n - 1].id : 0;
}

void ptx_scope_open(PtxReader *r, uint32_t line)
{
    PtxFunc *f = ptx_here(r);
    if (r->scopes.n >= SCOPES_MAX) {
        ptx_problem(r, line, "more than %d scopes are open; nothing behind this line is read", SCOPES_MAX);
        r->stopped = true;
        return;
    }
    uint32_t parent = ptx_scope(r), id = f->scope_parent.n;
    vec_push(r->arena, &f->scope_parent, parent);
    vec_push(r->arena, &r->scopes, ((PtxScope){id, r->undo.n, line}));
}

void ptx_scope_close(PtxReader *r)
{
    uint32_t to = r->scopes.v[--r->scopes.n].undo;
    while (r->undo.n > to) {
        PtxUndo *u = &r->undo.v[--r->undo.n];
        ptx_name(r, u->name)->now = u->was;
    }
}

/* The binding, to be changed in the current scope. */
static PtxBinding *rebind(PtxReader *r, Name id)
{
    PtxName *n = ptx_name(r, id);
    if (ptx_depth(r) > 0) vec_push(r->arena, &r->undo, ((PtxUndo){id, n->now}));
    return &n->now;
}

/* ---- registers of ranges and vectors ---- */

/* "%r12" -> "%r", 12. */
static bool numbered(PtxReader *r, Name id, Name *prefix, uint32_t *number)
{
    PtxName *n = ptx_name(r, id);
    if (n->prefix == 0) {
        const char *s = names_text(r->names, id);
        size_t end = strlen(s), at = end;
        uint32_t v = 0;
        while (at > 0 && s[at - 1] >= '0' && s[at - 1] <= '9') at--;
        bool fits = at > 0 && at < end && end - at <= 7 && (s[at] != '0' || end - at == 1);
        for (size_t i = at; fits && i < end; i++) v = v * 10 + (uint32_t)(s[i] - '0');
        n->number = v;
        n->prefix = fits ? names_intern(r->names, s, at) : NO_PREFIX;
    }
    *prefix = n->prefix;
    *number = n->number;
    return n->prefix != NO_PREFIX;
}

/* A register made once for a name and what it is a part of. */
static PtxVar *made(PtxReader *r, PtxFunc *f, Name id, const void *of, const PtxVar *like)
{
    PtxName *n = ptx_name(r, id);
    if (n->made_of == of) return n->made;
    PtxVar *v = arena_new(r->arena, PtxVar);
    *v = *like;
    v->name = names_text(r->names, id);
    n->made = v;
    n->made_of = of;
    if (v->vec == 1) vec_push(r->arena, &f->vars, v);
    return v;
}

static PtxVar *component(PtxReader *r, const PtxVar *vector, uint32_t i)
{
    const char *text = arena_printf(r->arena, "%s.%c", vector->name, "xyzw"[i]);
    PtxVar like = *vector;
    like.vec = 1;
    like.index += i;
    like.bytes = like.align = (uint32_t)ptx_type_bytes(like.type);
    return made(r, ptx_here(r), names_intern(r->names, text, strlen(text)), vector, &like);
}

PtxVar *ptx_find_var(PtxReader *r, Name id)
{
    const PtxFunc *here = r->head ? r->head : r->func ? r->func : r->bare;
    Name prefix;
    uint32_t number;
    bool in_range = numbered(r, id, &prefix, &number);
    PtxBinding b = ptx_name(r, id)->now;
    if (b.var_owner != NULL && b.var_owner != here) b.var = NULL;
    if (!in_range) return b.var;
    const PtxRange *range = ptx_name(r, prefix)->now.range;
    while (range && (range->owner != here || number >= range->count)) range = range->outer;
    if (range == NULL || (b.var && b.var_depth >= range->depth)) return b.var;
    PtxVar like = {.space = PTX_SPACE_REG,
                   .type = range->type,
                   .vec = (uint8_t)range->vec,
                   .bytes = (uint64_t)ptx_type_bytes(range->type) * range->vec,
                   .line = range->line,
                   .index = range->base + number * range->vec};
    like.align = like.bytes ? (uint32_t)like.bytes : 1;
    return made(r, range->owner, id, range, &like);
}

bool ptx_new_regs(PtxReader *r, PtxFunc *f, uint64_t n, uint32_t line, uint32_t *first)
{
    *first = f->nregs;
    if (n > REGS_MAX || f->nregs + n > REGS_MAX) {
        ptx_problem(r, line, "a function has more than %d registers", REGS_MAX);
        return false;
    }
    f->nregs += (uint32_t)n;
    return true;
}

/* ---- declarations ---- */

static bool twice(PtxReader *r, PtxWord w, uint32_t line)
{
    const char *text = ptx_text(r, w);
    int shown = ptx_shown(text, strlen(text));
    if (line)
        ptx_defect(r, PTX_SYNTAX, w.line, w.column, "`%.*s` is declared twice, first in line %u", shown, text,
                   (unsigned)line);
    else ptx_defect(r, PTX_SYNTAX, w.line, w.column, "`%.*s` is declared twice", shown, text);
    return false;
}

bool ptx_may_bind(PtxReader *r, PtxWord w)
{
    uint32_t depth = ptx_depth(r);
    const PtxName *n = ptx_name(r, w.name);
    if (n->now.var && n->now.var_depth == depth) return twice(r, w, n->now.var->line);
    if (depth == 0 && n->func) return twice(r, w, r->module->funcs.v[n->func - 1]->line);
    Name prefix;
    uint32_t number;
    if (!numbered(r, w.name, &prefix, &number)) return true;
    const PtxBinding *b = &ptx_name(r, prefix)->now;
    if (b->range && b->range->depth == depth && number < b->range->count) return twice(r, w, b->range->line);
    return true;
}

void ptx_bind_var(PtxReader *r, PtxVar *v, Name id, PtxFunc *owner)
{
    uint32_t depth = ptx_depth(r), number;
    PtxBinding *b = rebind(r, id);
    b->var = v;
    b->var_owner = owner;
    b->var_depth = depth;
    Name prefix;
    if (v->space != PTX_SPACE_REG || !numbered(r, id, &prefix, &number)) return;
    b = rebind(r, prefix);
    if (b->single == 0 || b->single_depth != depth || number < b->single) b->single = number + 1;
    b->single_depth = depth;
}

void ptx_bind_range(PtxReader *r, PtxWord prefix, uint32_t count, PtxType type, uint32_t vec)
{
    uint32_t depth = ptx_depth(r), first;
    PtxFunc *f = ptx_here(r);
    PtxBinding now = ptx_name(r, prefix.name)->now;
    if (now.range && now.range->depth == depth) {
        twice(r, prefix, now.range->line);
        return;
    }
    if (now.single && now.single_depth == depth && now.single <= count) twice(r, prefix, 0);
    if (!ptx_new_regs(r, f, (uint64_t)count * vec, prefix.line, &first)) return;
    PtxRange *range = arena_new(r->arena, PtxRange);
    *range = (PtxRange){first, count, vec, depth, prefix.line, type, f, now.range};
    rebind(r, prefix.name)->range = range;
}

/* ---- uses ---- */

/* "%envreg12" after "%envreg": a number below `limit`. */
static bool number_below(const char *s, unsigned limit)
{
    unsigned v = 0;
    if (*s == 0 || strlen(s) > 2 || (*s == '0' && s[1])) return false;
    for (; *s; s++) {
        if (*s < '0' || *s > '9') return false;
        v = v * 10 + (unsigned)(*s - '0');
    }
    return v < limit;
}

/* PTX ISA, "Special Registers". */
static bool is_special(const char *s, bool component)
{
    static const char *const vectors[] = {"tid",       "ntid",       "ctaid",         "nctaid",
                                          "clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid"};
    static const char *const scalars[] = {"laneid",
                                          "warpid",
                                          "nwarpid",
                                          "smid",
                                          "nsmid",
                                          "gridid",
                                          "lanemask_eq",
                                          "lanemask_le",
                                          "lanemask_lt",
                                          "lanemask_ge",
                                          "lanemask_gt",
                                          "clock",
                                          "clock_hi",
                                          "clock64",
                                          "globaltimer",
                                          "globaltimer_lo",
                                          "globaltimer_hi",
                                          "is_explicit_cluster",
                                          "total_smem_size",
                                          "aggr_smem_size",
                                          "dynamic_smem_size",
                                          "cluster_ctarank",
                                          "cluster_nctarank",
                                          "current_graph_exec",
                                          "reserved_smem_offset_begin",
                                          "reserved_smem_offset_end",
                                          "reserved_smem_offset_cap",
                                          "reserved_smem_offset_0",
                                          "reserved_smem_offset_1"};
    if (*s++ != '%') return false;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        if (strcmp(s, vectors[i]) == 0) return true;
    if (component) return false;
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++)
        if (strcmp(s, scalars[i]) == 0) return true;
    if (strncmp(s, "envreg", 6) == 0) return number_below(s + 6, 32);
    if (s[0] != 'p' || s[1] != 'm' || s[2] < '0' || s[2] > '7') return false;
    return s[3] == 0 || strcmp(s + 3, "_64") == 0;
}

static PtxOperand of_var(PtxReader *r, PtxVar *v)
{
    if (v->space != PTX_SPACE_REG) return (PtxOperand){.kind = PTX_SYMBOL, .name = v->name, .var = v};
    if (v->vec == 1) return (PtxOperand){.kind = PTX_REG, .name = v->name, .var = v};
    PtxOperand o = {
        .kind = PTX_VECTOR, .name = v->name, .nitems = v->vec, .items = arena_array(r->arena, PtxOperand, v->vec)};
    for (uint32_t i = 0; i < v->vec; i++) o.items[i] = of_var(r, component(r, v, i));
    return o;
}

PtxOperand ptx_use(PtxReader *r, PtxWord w)
{
    const char *text = ptx_text(r, w);
    PtxVar *v = ptx_find_var(r, w.name);
    if (v) return of_var(r, v);
    if (w.base && (v = ptx_find_var(r, w.base)) != NULL && v->space == PTX_SPACE_REG) {
        static const char letters[] = "xyzwrgba";
        const char *suffix = text + strlen(names_text(r->names, w.base)) + 1;
        const char *at = suffix[1] ? NULL : strchr(letters, *suffix);
        if (v->vec > 1 && at && (uint32_t)(at - letters) % 4 < v->vec)
            return of_var(r, component(r, v, (uint32_t)(at - letters) % 4));
        if (v->vec == 1 && suffix[1]) return (PtxOperand){.kind = PTX_REG, .name = text, .var = v}; /* a.b0, a.h1 */
    }
    const char *base = w.base ? names_text(r->names, w.base) : text;
    const char *dot = w.base ? text + strlen(base) + 1 : "x";
    if (strchr("xyzw", *dot) && is_special(base, w.base != 0)) return (PtxOperand){.kind = PTX_SPECIAL, .name = text};
    bool bare = ptx_here(r) == r->bare;
    PtxPending p = {w.name, w.line, w.column, ptx_scope(r), ptx_here(r)->instrs.n};
    if (bare) vec_push(r->arena, &r->bare_pending, p);
    else vec_push(r->arena, &r->pending, p);
    return (PtxOperand){.kind = *text == '%' ? PTX_REG : PTX_SYMBOL, .name = text};
}

/* ---- labels ---- */

static uint32_t label_hash(const char *name, size_t n, uint32_t scope)
{
    return (uint32_t)XXH3_64bits_withSeed(name, n, scope);
}

/* The slot of the label in this very scope, or the free one where it belongs. */
static uint32_t *label_slot(const PtxFunc *f, const char *name, size_t n, uint32_t scope)
{
    for (uint32_t i = label_hash(name, n, scope) & f->label_mask;; i = (i + 1) & f->label_mask) {
        uint32_t *slot = &f->label_table[i];
        if (*slot == 0) return slot;
        const PtxLabel *l = &f->labels.v[*slot - 1];
        if (l->scope == scope && strcmp(l->name, name) == 0) return slot;
    }
}

/* Its number + 1, or 0. */
static uint32_t label_seen_from(const PtxFunc *f, uint32_t scope, const char *name)
{
    size_t n = strlen(name);
    if (f->label_table == NULL) return 0;
    while (scope < f->scope_parent.n) {
        uint32_t found = *label_slot(f, name, n, scope), parent = f->scope_parent.v[scope];
        if (found || parent == scope) return found;
        scope = parent;
    }
    return 0;
}

int64_t ptx_find_label(const PtxFunc *f, uint32_t scope, const char *name)
{
    uint32_t found = label_seen_from(f, scope, name);
    return found ? (int64_t)f->labels.v[found - 1].instr : -1;
}

static void index_labels(PtxReader *r, PtxFunc *f)
{
    uint32_t slots = 2;
    while (slots / 2 < f->labels.n) slots *= 2;
    f->label_table = arena_array(r->arena, uint32_t, slots);
    f->label_mask = slots - 1;
    for (uint32_t i = 0; i < f->labels.n; i++) {
        const PtxLabel *l = &f->labels.v[i];
        uint32_t *slot = label_slot(f, l->name, strlen(l->name), l->scope);
        if (*slot == 0) *slot = i + 1;
        else
            ptx_problem(r, l->line, "the label `%.*s` stands twice in this scope, first in line %u",
                        ptx_shown(l->name, strlen(l->name)), l->name, (unsigned)f->labels.v[*slot - 1].line);
    }
}

/* Of a register of a range whose declaration is wrong too. */
static bool is_broken(PtxReader *r, Name id)
{
    Name prefix;
    uint32_t number;
    if (ptx_name(r, id)->broken) return true;
    return numbered(r, id, &prefix, &number) && ptx_name(r, prefix)->broken;
}

static void resolve(PtxReader *r, PtxFunc *f, const PtxPending *p, bool report)
{
    const char *text = names_text(r->names, p->name);
    if (ptx_name(r, p->name)->func || label_seen_from(f, p->scope, text)) return;
    if (p->instr < f->instrs.n) f->instrs.v[p->instr].unresolved = true;
    bool known = is_broken(r, p->name);
    PtxName *n = ptx_name(r, p->name);
    if (!report || known || n->reported == p->line) return;
    n->reported = p->line;
    ptx_defect(r, PTX_UNDECLARED, p->line, p->column, "the %s `%.*s` is not declared",
               *text == '%' ? "register" : "name", ptx_shown(text, strlen(text)), text);
}

static const PtxTargets *targets_of(const PtxTargets *v, uint32_t n, uint32_t label)
{
    uint32_t lo = 0;
    while (n > 0) { /* lists stand in the order of their labels */
        uint32_t half = n / 2;
        if (v[lo + half].label == label) return &v[lo + half];
        if (v[lo + half].label < label) lo += half + 1, n -= half + 1;
        else n = half;
    }
    return NULL;
}

static void give_targets(PtxFunc *f, const PtxTargets *v, uint32_t n)
{
    for (uint32_t i = 0; n > 0 && i < f->instrs.n; i++) {
        PtxInstr *in = &f->instrs.v[i];
        if (in->nopd == 0 || (strcmp(in->opcode, "brx") != 0 && strcmp(in->opcode, "call") != 0)) continue;
        PtxOperand *last = &in->opd[in->nopd - 1];
        uint32_t label = last->kind == PTX_SYMBOL && !last->var ? label_seen_from(f, in->scope, last->name) : 0;
        const PtxTargets *t = label ? targets_of(v, n, label - 1) : NULL;
        if (t == NULL) continue;
        last->items = t->items;
        last->nitems = t->nitems;
    }
}

void ptx_func_end(PtxReader *r, PtxFunc *f, bool report)
{
    bool bare = f == r->bare;
    index_labels(r, f);
    uint32_t n = bare ? r->bare_pending.n : r->pending.n;
    const PtxPending *p = bare ? r->bare_pending.v : r->pending.v;
    for (uint32_t i = 0; i < n; i++) resolve(r, f, &p[i], report);
    if (bare) give_targets(f, r->bare_targets.v, r->bare_targets.n);
    else give_targets(f, r->targets.v, r->targets.n);
    if (!bare) r->pending.n = r->targets.n = 0;
}
