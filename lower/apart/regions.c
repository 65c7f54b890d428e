/* Two parts of a tensor, or of a tile, that one team touches. */
#include "lower/apart/apart.h"
#include "lower/plan/copies.h"

bool subtiles_disjoint(Lower *L, const MoveInfo *a, const MoveInfo *b)
{
    if (a->tile != b->tile) return true;
    if (a->slot_const >= 0 && b->slot_const >= 0 && a->slot_const != b->slot_const) return true;
    return domain_disjoint(L->d, &a->sbox, &b->sbox);
}

bool views_disjoint(Lower *L, const PTensor *a, const PTensor *b)
{
    if (a == b || (a->base && a->reshaped) || (b->base && b->reshaped) || a->run_time || b->run_time) return false;
    DomBox box[2];
    const PTensor *t[2] = {a, b};
    for (int v = 0; v < 2; v++) {
        const PTensor *base = t[v]->base ? t[v]->base : t[v];
        box[v].rank = base->rank;
        for (int i = 0; i < base->rank; i++) {
            box[v].start[i] = t[v]->base ? scalar_poly(L, t[v]->start[i]) : poly_const(L->d, 0);
            box[v].extent[i] = t[v]->base ? poly_const(L->d, 1) : scalar_poly(L, base->extent[i]);
        }
        for (int i = 0; t[v]->base && i < t[v]->rank; i++)
            box[v].extent[t[v]->dim_of[i]] = scalar_poly(L, t[v]->extent[i]);
    }
    return domain_disjoint(L->d, &box[0], &box[1]);
}

bool regions_disjoint(Lower *L, const MoveInfo *a, const MoveInfo *b)
{
    const PTensor *x = a->tensor->base ? a->tensor->base : a->tensor,
                  *y = b->tensor->base ? b->tensor->base : b->tensor;
    DomBox p, q;
    if (x != y || views_disjoint(L, a->tensor, b->tensor)) return true;
    if (im2col_boxes(L, a, b, &p, &q)) return domain_disjoint(L->d, &p, &q);
    return a->has_gbox && b->has_gbox && domain_disjoint(L->d, &a->gbox, &b->gbox);
}

/* The same with the loops' indices told apart as if they were teams. */
Poly poly_by_turn(Lower *L, Poly p, const OpenLoop *loops, uint32_t turns)
{
    Domain *d = L->d;
    Poly sum = poly_const(d, 0);
    for (uint32_t t = 0; t < p.n; t++) {
        Poly product = poly_const(d, p.terms[t].coef);
        for (unsigned i = 0; i < p.terms[t].natoms; i++) {
            Atom x = p.terms[t].atoms[i];
            for (uint32_t k = 0; k < turns; k++)
                if (loops[k].index == x) x = loops[k].turn;
            product = poly_mul(d, product, poly_atom(d, x));
        }
        sum = poly_add(d, sum, product);
    }
    sum.bad |= p.bad;
    return sum;
}
