/* Values as polynomials: see values.h. */
#include "lower/ir/ops.h"
#include "lower/verify/graph/values/values.h"

enum { DEPTH = 64, AWAY = INT32_MAX - INT16_MAX };

typedef struct Named { /* what has one value in the whole kernel */
    uint32_t kind, of, type;
    Poly x; /* what it is made from */
    Atom atom;
} Named;
enum { OF_EXPR, OF_REGISTER, OF_ELEMENT };
struct Polys {
    Domain *d;
    Atom *syms; /* by symbol; 0: not asked for */
    VEC(Named) named;
};

Polys *polys_new(Verifier *v)
{
    Polys *p = arena_new(v->arena, Polys);
    p->d = domain_new(v->arena);
    p->syms = arena_array(v->arena, Atom, v->k->mf.syms.n);
    return p;
}

Domain *polys_domain(const Polys *p)
{
    return p->d;
}

PolyPlace poly_place(Verifier *v, Polys *p, const Site *site)
{
    return (PolyPlace){.v = v, .p = p, .site = site, .turn = arena_array(&v->run, Poly, site->naround + 1)};
}

static Poly number(const PolyPlace *w, int64_t k)
{
    return poly_const(w->p->d, k);
}

static Poly anything(const PolyPlace *w)
{
    return poly_atom(w->p->d, domain_opaque(w->p->d, "a value", INT64_MIN, INT64_MAX, 1, 0, DEP_LOOP | DEP_DATA));
}

static Poly named(const PolyPlace *w, Named what, int64_t lo, int64_t hi, unsigned depends)
{
    Polys *p = w->p;
    for (uint32_t i = 0; i < p->named.n; i++) {
        const Named *n = &p->named.v[i];
        if (n->kind == what.kind && n->of == what.of && n->type == what.type && poly_same(n->x, what.x))
            return poly_atom(p->d, n->atom);
    }
    what.atom = domain_opaque(p->d, "a value", lo, hi, 1, 0, depends);
    vec_push(w->v->arena, &p->named, what);
    return poly_atom(p->d, what.atom);
}

/* ---- the launch ---- */

static Poly of_symbol(const PolyPlace *w, Lx x, uint32_t sym)
{
    Polys *p = w->p;
    Interval size = w->v->f.launch[x - 1];
    if (size.lo >= 1) size = (Interval){1, NO_HI};
    if (p->syms[sym] == 0) p->syms[sym] = domain_param(p->d, "a size", sym, size.lo, size.hi);
    return poly_atom(p->d, p->syms[sym]);
}

static Poly of_launch(const PolyPlace *w, Lx x, int depth)
{
    const LxNode *n = &w->v->k->mf.lx.nodes.v[x - 1];
    if (n->op == LX_CONST) return number(w, n->k);
    if (n->op == LX_SYM) return of_symbol(w, x, (uint32_t)n->k);
    if (depth > 0 && n->b) {
        Poly a = of_launch(w, n->a, depth - 1), both;
        if (poly_op(w->p->d, (LxOp)n->op, a, of_launch(w, n->b, depth - 1), &both)) return both;
    }
    return named(w, (Named){.kind = OF_EXPR, .of = x}, INT64_MIN, INT64_MAX, DEP_LAUNCH);
}

/* Both of two copies are of one cluster, so its place in the grid is one number. */
static Poly of_register(const PolyPlace *w, uint32_t reg)
{
    const FormData *f = form_data(&w->v->f, w->v->sreg[w->site->rank][reg]);
    Poly sum = number(w, f->k);
    for (uint32_t i = 0; i < f->n; i++) {
        const FormAtom *a = atom_data(&w->v->f, f->t[i].atom);
        Poly atom = named(w, (Named){.kind = OF_REGISTER, .of = f->t[i].atom}, a->lo, a->hi, DEP_LAUNCH);
        sum = poly_add(w->p->d, sum, poly_mul(w->p->d, number(w, f->t[i].c), atom));
    }
    return sum;
}

/* ---- ops ---- */

static Poly of_arg(PolyPlace *w, const IrArg *arg, int depth);

static Poly of_bounds(PolyPlace *w, const IrOp *op, int depth, Poly *count)
{
    Domain *d = w->p->d;
    if (op->op == IR_LANES) {
        *count = number(w, ir_find(op, IRK_N)->imm);
        return number(w, 0);
    }
    Poly lo = of_arg(w, ir_find(op, IRK_A), depth);
    *count = poly_sub(d, of_arg(w, ir_find(op, IRK_B), depth), lo);
    return lo;
}

Poly poly_turns(PolyPlace *w, uint32_t op)
{
    Poly count;
    of_bounds(w, w->v->ops[op], DEPTH, &count);
    return count;
}

/* Of a loop that is no turn of the run's, but passed once for all of its turns: any of them. */
static Poly of_index(PolyPlace *w, uint32_t loop, int depth)
{
    Poly count, lo = of_bounds(w, w->v->ops[loop], depth, &count);
    for (uint32_t i = 0; i < w->site->naround; i++)
        if (w->site->around[i].op == loop) return poly_add(w->p->d, lo, w->turn[i]);
    return poly_add(w->p->d, lo, poly_atom(w->p->d, domain_index(w->p->d, "an index", lo, count, DEP_LOOP)));
}

/* Of a tensor that no copy writes (E0706). Under a condition it may be another value. */
static Poly of_element(PolyPlace *w, const IrOp *op, int depth)
{
    if (op->guard.pred) return anything(w);
    Named what = {.kind = OF_ELEMENT, .of = ir_find(op, IRK_TENSOR)->id, .type = op->type};
    what.x = of_arg(w, ir_find(op, IRK_BYTE), depth);
    return named(w, what, INT64_MIN, INT64_MAX, DEP_LOOP | DEP_DATA);
}

/* x, or where there is nothing to load: coordinates from AWAY on name no place. */
static Poly of_choice(PolyPlace *w, const IrOp *op, int depth)
{
    int64_t k;
    Poly other = of_arg(w, ir_find(op, IRK_B), depth);
    bool away = poly_is_const(other, &k) && k >= AWAY && verify_arg(w->v, w->site->op, IRK_MAP);
    return away ? of_arg(w, ir_find(op, IRK_A), depth) : anything(w);
}

static Poly of_op(PolyPlace *w, uint32_t def, int depth)
{
    const IrOp *op = w->v->ops[def];
    const IrArg *a = ir_find(op, IRK_A);
    if (IR_LX_OPS[op->op] && op->type != IR_PRED) {
        Poly x = of_arg(w, a, depth), both;
        return poly_op(w->p->d, (LxOp)IR_LX_OPS[op->op], x, of_arg(w, ir_find(op, IRK_B), depth), &both) ? both : anything(w);
    }
    switch ((IrOpcode)op->op) {
    case IR_CONST: return number(w, a->imm);
    case IR_PARAM: return of_launch(w, ir_find(op, IRK_EXPR)->id, depth);
    case IR_SREG: return of_register(w, ir_find(op, IRK_REG)->id);
    case IR_CVT: return of_arg(w, a, depth);
    case IR_SEL: return of_choice(w, op, depth);
    case IR_LOOP:
    case IR_LANES: return of_index(w, def, depth);
    case IR_LOADS: return of_element(w, op, depth);
    default: return anything(w);
    }
}

static Poly of_arg(PolyPlace *w, const IrArg *arg, int depth)
{
    if (arg->kind != IRA_VAL) return number(w, arg->imm);
    for (uint32_t i = 0; i < w->values.n; i++)
        if (w->values.v[i].value == arg->id) return w->values.v[i].x;
    Poly x = depth > 0 ? of_op(w, w->v->def[arg->id - 1], depth - 1) : anything(w);
    vec_push(&w->v->run, &w->values, ((Valued){arg->id, x}));
    return x;
}

Poly poly_of(PolyPlace *w, const IrArg *arg)
{
    return of_arg(w, arg, DEPTH);
}
