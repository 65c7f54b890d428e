/* Two accesses: on the axes that they have in common the digit method separates them, or not. */
#include "lower/apart/apart.h"
#include "lower/plan/copies.h"

bool subtiles_disjoint(Lower *L, const MoveInfo *a, const MoveInfo *b)
{
    if (a->tile != b->tile) return true;
    if (a->slot_const >= 0 && b->slot_const >= 0 && a->slot_const != b->slot_const) return true;
    DomBox x, y;
    DomScratch scratch = domain_scratch(L->d);
    region_part(L, a, &x);
    region_part(L, b, &y);
    bool apart = domain_disjoint(L->d, &x, &y);
    domain_release(L->d, scratch);
    return apart;
}

typedef struct Compared {
    DomPair pair;
    DomAxis axis[DOM_AXES_MAX];
    Poly holds[2][KNOWN_MAX];
    Atom team[TEAM_MAX + TURNS_MAX];
    Renaming renaming[2]; /* of a and of b: the index by the turn, of the loops around both whose turns differ; behind those loops_matched */
    int nturns;           /* so many of the loops around both, in either */
    const TensorAccess *remainders[2]; /* whose conditions are put in: with_remainders */
} Compared;

bool axes_same(const Axis *x, const Axis *y)
{
    return x->kind == y->kind && x->space == y->space && x->of == y->of && x->dim == y->dim && poly_same(x->unit, y->unit) &&
           poly_same(x->from, y->from);
}

static void agree_of(Lower *L, const Compared *c, const Axis *x, const Axis *y, DomAxis *out)
{
    const Agree *of[2] = {x->agree, y->agree};
    Atom *all = x->agree || y->agree ? arena_array(L->a, Atom, 2 * AGREE_MAX) : NULL;
    for (int k = 0; k < 2; k++) {
        for (int i = 0; of[k] && i < of[k]->n; i++) {
            Atom a = of[k]->index[i];
            for (int t = 0; t < c->nturns; t++)
                if (c->renaming[k].from[t] == a) a = c->renaming[k].to[t];
            all[out->nagree++] = a;
        }
    }
    out->agree = all;
}

/* how: of those that are not of one turn, an axis that a variable moves means nothing, and one that indices move nothing to
 * different pipelines. */
static bool usable(const Axis *x, Apart how)
{
    return x->agree == NULL || how == APART_HERE || (how != APART_PIPELINES && !x->agree->unknown);
}

/* An index of which a condition says the remainder is that and its quotient: under `k % 2 == 1` k is 2 * (k / 2) + 1. NULL: none does. */
static Poly with_remainders(Lower *L, const TensorAccess *a, Poly p)
{
    for (uint32_t i = 0; a && i < a->known.n; i++) {
        const Known *c = &a->known.v[i];
        Poly coef, rest;
        int64_t k;
        Atom x = domain_moving(L->d, c->number, &coef, &rest);
        if (x == 0 || !poly_is_const(coef, &k) || k != 1 || !domain_mentions(L->d, rest, x)) continue;
        p = domain_with(L->d, p, x, poly_sub(L->d, c->value, rest));
    }
    return p;
}

uint32_t loops_around(const TensorAccess *a, const TensorAccess *b)
{
    uint32_t n = 0;
    while (n < a->loops.n && n < b->loops.n && a->loops.v[n].index == b->loops.v[n].index) n++;
    return n;
}

/* Turns of loops around one alone are any on either side: where one counts as far as the other, or further, its index says both. */
static void loops_matched(Lower *L, Compared *c, const TensorAccess *a, const TensorAccess *b)
{
    for (uint32_t i = loops_around(a, b); i < a->loops.n && i < b->loops.n && i < TURNS_MAX; i++) {
        Atom x = a->loops.v[i].index, y = b->loops.v[i].index;
        Poly from, p, q;
        if (!domain_range(L->d, x, &from, &p) || !domain_range(L->d, y, &from, &q)) continue;
        p = renamed(L, &c->renaming[0], p);
        q = renamed(L, &c->renaming[1], q);
        if (domain_le(L->d, q, p)) rename_index(&c->renaming[1], y, x);
        else if (domain_le(L->d, p, q)) rename_index(&c->renaming[0], x, y);
    }
}

static void put_axis(Lower *L, Compared *c, DomAxis x)
{
    if (c->pair.naxes == DOM_AXES_MAX) return;
    for (int k = 0; k < 2; k++) x.start[k] = with_remainders(L, c->remainders[k], x.start[k]);
    for (int k = 0; k < 2; k++) {
        x.start[k] = renamed(L, &c->renaming[k], x.start[k]);
        x.extent[k] = renamed(L, &c->renaming[k], x.extent[k]);
    }
    c->axis[c->pair.naxes++] = x;
}

static void axes_shared(Lower *L, Compared *c, const TensorAccess *a, const TensorAccess *b, Apart how, bool bounds)
{
    for (uint32_t i = 0; i < a->axes.n; i++) {
        for (uint32_t j = 0; j < b->axes.n; j++) {
            const Axis *x = &a->axes.v[i], *y = &b->axes.v[j];
            if ((x->bound || y->bound) != bounds || !axes_same(x, y) || !usable(x, how) || !usable(y, how)) continue;
            DomAxis both = {.name = x->name, .start = {x->start, y->start}, .extent = {x->extent, y->extent}, .size = x->size};
            both.quiet = bounds;
            if (how != APART_HERE) agree_of(L, c, x, y, &both);
            put_axis(L, c, both);
        }
    }
}

/* What conditions say: each is at its number's value, and where that is the same, their numbers are. */
static void conditions_shared(Lower *L, Compared *c, const TensorAccess *a, const TensorAccess *b)
{
    for (uint32_t i = 0; i < a->known.n; i++) {
        const Known *x = &a->known.v[i];
        put_axis(L, c, domain_number(L->d, x->number, x->value));
        for (uint32_t j = 0; j < b->known.n; j++) {
            const Known *y = &b->known.v[j];
            if (poly_same(x->number, y->number) && poly_same(x->value, y->value)) put_axis(L, c, domain_number(L->d, x->number, y->number));
        }
    }
    for (uint32_t j = 0; j < b->known.n; j++) put_axis(L, c, domain_number(L->d, b->known.v[j].value, b->known.v[j].number));
}

static void holds_of(Lower *L, Compared *c, const TensorAccess *a, int side)
{
    for (uint32_t i = 0; i < a->holds.n; i++) c->holds[side][i] = renamed(L, &c->renaming[side], a->holds.v[i]);
    c->pair.holds[side] = c->holds[side];
    c->pair.nholds[side] = (int)a->holds.n;
}

/* What tells CTAs from each other is the same in one, but for iterations, which are its turns: also where numbers are made of it
 * (domain/basis.c), and elements that are read by it. */
static void of_one_cta(Lower *L, Compared *c, const TensorAccess *a)
{
    for (int i = 0; i < a->nteam && c->pair.naxes < DOM_AXES_MAX; i++) {
        bool turns = false;
        for (int t = 0; t < c->nturns; t++) turns = turns || c->renaming[0].from[t] == a->team[i];
        Poly cta = poly_atom(L->d, a->team[i]);
        if (!turns) c->axis[c->pair.naxes++] = domain_number(L->d, cta, cta);
    }
    for (uint32_t k = 0; k < a->axes.n; k++) {
        const Sx *x;
        Atom read;
        if (!(domain_depends(L->d, a->axes.v[k].start) & DEP_DATA)) continue;
        for (uint32_t i = 0; (x = next_element(L, a->axes.v[k].start, &i, &read)) && c->pair.naxes < DOM_AXES_MAX;)
            if (scalar_uses(L, x) & USE_TEAM && !(scalar_uses(L, x) & USE_INDEX))
                c->axis[c->pair.naxes++] = domain_number(L->d, poly_atom(L->d, read), poly_atom(L->d, read));
    }
}

/* All that tells clusters from each other, and iterations. */
static void of_one_cluster(Lower *L, Compared *c, const TensorAccess *a)
{
    const struct Scalars *s = L->scalars;
    for (int i = 0; i < a->nteam; i++) {
        bool rank = false;
        Poly same = poly_atom(L->d, a->team[i]);
        for (int k = 0; k < 3; k++) {
            rank |= s->cluster_atom[k] == a->team[i];
            if (L->k->cluster[k] == 1 || s->cluster_atom[k] || !poly_same(s->cta[k], same)) continue;
            same = poly_div(L->d, same, poly_const(L->d, L->k->cluster[k]));
        }
        if (!rank) put_axis(L, c, domain_number(L->d, same, same));
    }
}

static bool apart(Lower *L, Compared *c, const TensorAccess *a, const TensorAccess *b, Apart how, const char **why)
{
    const char *unused;
    if (how == APART_TURNS || how == APART_ANY_TURN) {
        uint32_t common = loops_around(a, b);
        if (common > TURNS_MAX) return false;
        for (uint32_t i = 0; i < common; i++)
            for (int k = 0; k < 2; k++) rename_index(&c->renaming[k], a->loops.v[i].index, a->loops.v[i].turn);
        c->nturns = (int)common;
    }
    if (how != APART_HERE && how != APART_PIPELINES) loops_matched(L, c, a, b);
    for (int i = 0; i < a->nteam && (how == APART_TEAMS || how == APART_CTAS || how == APART_ANY_TURN); i++) c->team[c->pair.nteam++] = a->team[i];
    for (int i = 0; i < 3 && how == APART_PIPELINES; i++)
        if (L->scalars->cluster_atom[i]) c->team[c->pair.nteam++] = L->scalars->cluster_atom[i];
    for (int i = 0; i < c->nturns; i++) c->team[c->pair.nteam++] = c->renaming[0].to[i];
    c->pair.axis = c->axis;
    c->pair.team = c->team;
    axes_shared(L, c, a, b, how, false);
    axes_shared(L, c, a, b, how, true);
    uint32_t places = (uint32_t)c->pair.naxes;
    holds_of(L, c, a, 0);
    holds_of(L, c, b, 1);
    if (how != APART_HERE) conditions_shared(L, c, a, b);
    if (how == APART_CTAS) of_one_cluster(L, c, a);
    if (how == APART_TURNS) of_one_cta(L, c, a);
    if (why == NULL) why = &unused;
    if (how == APART_HERE) return domain_apart(L->d, &c->pair);
    if (places == 0) *why = "one of them goes through a reshaped view, whose elements can't be compared with the other's";
    if (how == APART_PIPELINES) {
        *why = "different pipelines run side by side";
        return domain_apart(L->d, &c->pair) && domain_apart_teams(L->d, L->a, &c->pair, &unused);
    }
    const char *told = NULL;
    if (domain_apart_teams(L->d, L->a, &c->pair, &told)) return true;
    if (places) *why = told;
    return false;
}

bool accesses_apart(Lower *L, const TensorAccess *a, const TensorAccess *b, Apart how, const char **why)
{
    Compared c = {0}, known = {.remainders = {a, b}};
    if (a->pipes || b->pipes) how = APART_PIPELINES; /* which asks most */
    if (a->never || b->never) return true;
    DomScratch scratch = domain_scratch(L->d);
    bool proved = apart(L, &c, a, b, how, why);
    proved = proved || (a->known.n + b->known.n && apart(L, &known, a, b, how, NULL));
    if (why == NULL || proved) domain_release(L->d, scratch);
    return proved;
}
