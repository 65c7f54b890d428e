/* Clauses of moves: what each says, and which kinds of moves have a use for it. */
#include <string.h>

#include "frontend/check/check.h"

static bool one_of_each(Env *e, const ClauseList *l)
{
    bool ok = true;
    for (const Clause *c = l->first; c; c = c->next)
        for (const Clause *p = l->first; p != c; p = p->next) {
            bool commit = (c->kind == CL_COMMIT || c->kind == CL_COMMIT_GROUP) &&
                          (p->kind == CL_COMMIT || p->kind == CL_COMMIT_GROUP);
            bool via = (c->kind == CL_VIA || c->kind == CL_VIA_THREADS) &&
                       (p->kind == CL_VIA || p->kind == CL_VIA_THREADS);
            if (c->kind != p->kind && !commit && !via) continue;
            Diag *g = diag_at(e->c->diags, E0110, c->span, "a second clause of this kind");
            diag_label(e->c->diags, g, p->span, "the first one");
            ok = false;
        }
    return ok;
}

static bool via_clause(Env *e, const Clause *c, PMove *m)
{
    m->via_span = c->span;
    const Entity *ent = env_find(e, c->id.name);
    if (!ent && c->id.name == e->ch->n_bulk) {
        m->via = VIA_BULK;
        return true;
    }
    if (!ent) {
        unknown_map(e, c->id);
        return false;
    }
    if (ent->kind == ENT_BAD) return false;
    if (ent->kind != ENT_MAP) {
        Diag *g = diag_at(e->c->diags, E0506, c->id.span, "`%s` is not a map", name_of(e, c->id.name));
        if (ent->span.hi) diag_label(e->c->diags, g, ent->span, "declared here");
        diag_fix(e->c->diags, g, "via a map, `via bulk`, or no `via` at all");
        return false;
    }
    m->via = VIA_MAP;
    m->map = ent->map;
    return true;
}

static bool cache_clause(Env *e, const Clause *c, PMove *m)
{
    const Entity *ent = env_find(e, c->id.name);
    if (ent && ent->kind == ENT_POLICY) {
        m->cache = ent->policy;
        return true;
    }
    if (ent && ent->kind == ENT_BAD) return false;
    if (!ent) {
        unknown_policy(e, c->id);
    } else {
        Diag *g = diag_at(e->c->diags, E0306, c->id.span, "`%s` is not a policy", name_of(e, c->id.name));
        if (ent->span.hi) diag_label(e->c->diags, g, ent->span, "declared here");
    }
    return false;
}

static bool commit_clause(Env *e, const Clause *c, PMove *m)
{
    m->commit_span = c->span;
    if (e->in_group) {
        diag_at(e->c->diags, E0111, c->span, "a move inside `group { }` is committed by the block");
        return false;
    }
    if (c->kind == CL_COMMIT_GROUP) {
        m->commit = COMMIT_GROUP;
        return true;
    }
    m->commit = COMMIT_BARRIER;
    m->barrier = barrier_ref(e, c->expr, &m->barrier_slot, &m->barrier_peer);
    return m->barrier != NULL;
}

static void unknown_word(Env *e, const Clause *c, WordList list, const char *clause)
{
    size_t n;
    const char *const *words = word_list(list, &n), *w = name_of(e, c->id.name), *near = spelling_nearest(w, words, n);
    Diag *g = diag_at(e->c->diags, E0205, c->id.span, "`%s %s` does not exist", clause, w);
    Text t;
    text_in(&t, e->c->scratch);
    for (size_t i = 0; !near && i < n; i++) text_printf(&t, "%s%s", i ? i + 1 == n ? " or " : ", " : "", words[i]);
    diag_fix(e->c->diags, g, "%s %s", clause, near ? near : text_end(&t));
}

static bool overlap_clause(Env *e, const Clause *c, PMove *m)
{
    m->overlap_any = true;
    if (word_find(WORDS_OVERLAP, name_of(e, c->id.name)) >= 0) return true;
    unknown_word(e, c, WORDS_OVERLAP, "overlap");
    return false;
}

/* ---- multicast ---- */

static bool mask_clause(Env *e, const Clause *c, PMove *m)
{
    const PKernel *k = e->kernel;
    int64_t mask, size = k->cluster[0] * k->cluster[1] * k->cluster[2];
    m->cast = CAST_MASK;
    if (!(m->mask = scalar(e, c->expr))) return false;
    if (!sx_is_const(m->mask, &mask) || (mask >= 1 && mask < (int64_t)1 << size)) return true;
    Diag *g = diag_at(e->c->diags, E0532, c->expr->span, "the mask is %lld; of a cluster of %lld it is 1 to %lld",
                      (long long)mask, (long long)size, ((long long)1 << size) - 1);
    diag_label(e->c->diags, g, k->cluster_span, "the cluster");
    return false;
}

static bool multicast_clause(Env *e, const Clause *c, PMove *m)
{
    static const PCast casts[] = {CAST_X, CAST_Y, CAST_Z, CAST_ALL};
    const PKernel *k = e->kernel;
    m->cast_span = c->span;
    int i = c->expr ? 0 : word_find(WORDS_MULTICAST, name_of(e, c->id.name));
    if (i < 0) {
        unknown_word(e, c, WORDS_MULTICAST, "multicast");
        return false;
    }
    if (i > 3) { /* warpx4, warpx2_02_13, warpx2_01_23 */
        m->warps = (PWarps)(WARPS_X4 + i - 4);
        return true;
    }
    if (!k->cluster_span.hi) {
        Diag *g = diag_at(e->c->diags, E0533, c->span, "`multicast` in a kernel without a cluster");
        diag_fix(e->c->diags, g, "add `cluster (2)` to the kernel");
        return false;
    }
    if (c->expr) return mask_clause(e, c, m);
    m->cast = casts[i];
    int64_t set = i < 3 ? k->cluster[i] : k->cluster[0] * k->cluster[1] * k->cluster[2];
    if (set == 1) m->cast = CAST_NONE; /* the CTA alone */
    return true;
}

/* ---- reduce, convert, transpose ---- */

static void work(PMove *m, Span s)
{
    if (!m->work_span.hi || s.lo < m->work_span.lo) m->work_span = s;
}

static bool reduce_clause(Env *e, const Clause *c, PMove *m)
{
    work(m, c->span);
    m->reduce = word_find(WORDS_REDUCE, name_of(e, c->id.name));
    if (m->reduce >= 0) return true;
    unknown_word(e, c, WORDS_REDUCE, "reduce");
    return false;
}

static bool convert_clause(Env *e, const Clause *c, PMove *m)
{
    work(m, c->span);
    m->convert = true;
    m->sat = c->id.name != 0;
    if (!m->sat || word_find(WORDS_CONVERT, name_of(e, c->id.name)) >= 0) return true;
    unknown_word(e, c, WORDS_CONVERT, "convert");
    return false;
}

/* ---- byte masks ---- */

/* "sm_100, sm_100a, .." */
static bool bytes_clause(Env *e, const Clause *c, PMove *m)
{
    int64_t mask;
    m->bytes_span = c->span;
    const Expr *x = c->exprs.n == 1 ? c->exprs.first : NULL;
    if (x == NULL) {
        diag_at(e->c->diags, E0105, c->span, "`bytes` takes one mask");
        return false;
    }
    if (!(m->bytes = scalar(e, x))) return false;
    Feature f = form_info(FORM_BULK_STORE_MASK)->feature;
    if (!target_has(e->c->target, f)) {
        Diag *g = diag_at(e->c->diags, E0801, c->span, "%s has no byte masks (.cp_mask)", e->c->target->name);
        diag_fix(e->c->diags, g, "compile for a target that has them: %s", feature_targets(e->c->scratch, f));
        return false;
    }
    if (!sx_is_const(m->bytes, &mask) || (mask >= 0 && mask <= UINT16_MAX)) return true;
    diag_at(e->c->diags, E0580, x->span, "the mask is %lld; it is 0 to 65535", (long long)mask);
    return false;
}

/* Only plain bulk stores have a mask. */
static bool bytes_fit(Env *e, const PMove *m)
{
    if (m->bytes == NULL || (m->reduce < 0 && m->via != VIA_MAP)) return true;
    bool sum = m->reduce >= 0;
    Diag *g = diag_at(e->c->diags, E0581, m->bytes_span, "%s has no byte mask", sum ? "a reduction" : "a tensor copy");
    diag_label(e->c->diags, g, sum ? m->work_span : m->via_span, sum ? "the reduction" : "the map");
    diag_fix(e->c->diags, g, sum ? "leave `bytes` out: what is to stay gets an operand that changes nothing" : "via bulk");
    return false;
}

static bool ahead_clause(Env *e, const Clause *c, PMove *m)
{
    enum { AHEAD_MAX = 1024 };
    return constant(e, c->expr, 1, AHEAD_MAX, "how many turns ahead", &m->ahead);
}

bool clauses(Env *e, const ClauseList *l, PMove *m)
{
    bool ok = one_of_each(e, l);
    m->reduce = -1;
    m->in_group = e->in_group;
    for (const Clause *c = l->first; c; c = c->next) {
        switch (c->kind) {
        case CL_VIA: ok = via_clause(e, c, m) && ok; break;
        case CL_VIA_THREADS:
            m->via = VIA_THREADS;
            m->via_span = c->span;
            break;
        case CL_CACHE: ok = cache_clause(e, c, m) && ok; break;
        case CL_COMMIT:
        case CL_COMMIT_GROUP: ok = commit_clause(e, c, m) && ok; break;
        case CL_OVERLAP: ok = overlap_clause(e, c, m) && ok; break;
        case CL_MULTICAST: ok = multicast_clause(e, c, m) && ok; break;
        case CL_REDUCE: ok = reduce_clause(e, c, m) && ok; break;
        case CL_CONVERT: ok = convert_clause(e, c, m) && ok; break;
        case CL_TRANSPOSE:
            work(m, c->span);
            m->transpose = true;
            break;
        case CL_REVERSE:
            work(m, c->span);
            m->reverse = true;
            break;
        case CL_SUM:
            work(m, c->span);
            m->sum = true;
            break;
        case CL_AHEAD: ok = ahead_clause(e, c, m) && ok; break;
        case CL_BYTES: ok = bytes_clause(e, c, m) && ok; break;
        case CL_OFFSET: ok = offset_clause(e, c, m) && ok; break;
        case CL_HALO: ok = halo_clause(e, c, m) && ok; break;
        }
    }
    return ok;
}

/* ---- which kinds of moves take them ---- */

#define BIT(kind) (1u << (kind))
static const struct {
    unsigned takes;
    const char *text;
} SHAPES[] = {
    [SHAPE_LOAD] = {BIT(CL_VIA) | BIT(CL_MULTICAST) | BIT(CL_CACHE) | BIT(CL_COMMIT) | BIT(CL_OFFSET) | BIT(CL_HALO), "a load"},
    [SHAPE_LOAD_PEER] = {BIT(CL_VIA) | BIT(CL_CACHE) | BIT(CL_COMMIT) | BIT(CL_OFFSET) | BIT(CL_HALO),
                         "a load into a peer's tile"},
    [SHAPE_STORE] = {BIT(CL_VIA) | BIT(CL_REDUCE) | BIT(CL_CACHE) | BIT(CL_OVERLAP) | BIT(CL_CONVERT) | BIT(CL_BYTES) |
                         BIT(CL_COMMIT_GROUP), "a store"},
    [SHAPE_SHARED] = {BIT(CL_VIA_THREADS) | BIT(CL_REDUCE) | BIT(CL_CONVERT) | BIT(CL_TRANSPOSE) | BIT(CL_REVERSE) | BIT(CL_SUM),
                      "a move between tiles"},
    [SHAPE_PEER] = {BIT(CL_VIA) | BIT(CL_REDUCE) | BIT(CL_COMMIT), "a copy to a peer"},
    [SHAPE_PREFETCH] = {BIT(CL_VIA) | BIT(CL_CACHE) | BIT(CL_AHEAD) | BIT(CL_OFFSET) | BIT(CL_HALO), "`prefetch`"},
    [SHAPE_FILL] = {0, "`fill`"},
    [SHAPE_FILL_PEER] = {BIT(CL_REDUCE) | BIT(CL_COMMIT), "`fill` of a peer's tile"},
    [SHAPE_TMEM_CP] = {BIT(CL_MULTICAST) | BIT(CL_CONVERT) | BIT(CL_COMMIT), "a copy into tensor memory"},
    [SHAPE_TMEM_THREADS] = {BIT(CL_VIA_THREADS), "a move by threads into or out of tensor memory"},
    [SHAPE_THREADS] = {BIT(CL_VIA_THREADS) | BIT(CL_OVERLAP), "a move by threads between a tensor and a tile"},
    [SHAPE_SHIFT] = {BIT(CL_COMMIT), "`shift`"},
};

unsigned clauses_taken(MoveShape shape)
{
    return SHAPES[shape].takes;
}

const char *clause_shape_text(MoveShape shape)
{
    return SHAPES[shape].text;
}

/* Commits have messages of their own: they tell barriers and groups apart. */
static bool wrong_commit(Env *e, const Clause *c, MoveShape shape)
{
    Diag *g;
    bool tensor_core = shape == SHAPE_TMEM_CP || shape == SHAPE_SHIFT;
    if (shape == SHAPE_STORE && c->kind == CL_COMMIT) {
        g = diag_at(e->c->diags, E0111, c->span, "a store completes a bulk group, not a barrier");
        diag_fix(e->c->diags, g, "commit group, and later `wait group`");
    } else if ((tensor_core || (shape <= SHAPE_PEER && shape != SHAPE_SHARED)) && c->kind == CL_COMMIT_GROUP) {
        g = diag_at(e->c->diags, E0111, c->span, "%s completes a barrier, not a bulk group", SHAPES[shape].text);
        diag_fix(e->c->diags, g, "commit a barrier, and later wait for it");
    } else if (shape == SHAPE_SHARED || shape == SHAPE_FILL || shape == SHAPE_TMEM_THREADS || shape == SHAPE_THREADS) {
        g = diag_at(e->c->diags, E0111, c->span, "threads do this themselves: nothing completes later");
        diag_fix(e->c->diags, g, "leave `commit` out: what comes after finds it done");
    } else {
        return false;
    }
    return true;
}

static void no_use(Env *e, const Clause *c, MoveShape shape)
{
    Diag *g;
    bool in = shape == SHAPE_LOAD || shape == SHAPE_LOAD_PEER, out = shape == SHAPE_STORE || shape == SHAPE_PEER;
    if (c->kind == CL_OVERLAP && in) {
        diag_at(e->c->diags, E0111, c->span, "`overlap any` is about writes to global memory; this is a load");
    } else if (c->kind == CL_CONVERT && (in || out)) {
        g = diag_at(e->c->diags, E0314, c->span, "copies keep the element type; threads convert, from tile to tile");
        diag_fix(e->c->diags, g,
                 in ? "load into a tile of the tensor's type, then `move a -> b convert via threads;`"
                    : "`move a -> b convert via threads;`, then move `b`");
    } else if ((c->kind == CL_TRANSPOSE || c->kind == CL_REVERSE || c->kind == CL_SUM) && (in || out)) {
        const char *word = clause_text(c->kind);
        g = diag_at(e->c->diags, E0520, c->span, "no copy instruction %ss%s; threads do, from tile to tile", word, c->kind == CL_SUM ? " up" : "");
        diag_fix(e->c->diags, g, "%s",
                 in ? arena_printf(e->c->arena, "load into a tile, then `move a -> b %s via threads;`", word)
                    : arena_printf(e->c->arena, "`move a -> b %s via threads;`, then move `b`", word));
    } else if (c->kind == CL_VIA_THREADS && (in || out)) {
        g = diag_at(e->c->diags, E0506, c->span, "threads move between tiles of their CTA only");
        diag_fix(e->c->diags, g, "leave `via threads` out");
    } else {
        g = diag_at(e->c->diags, E0111, c->span, "%s has no use for `%s`", SHAPES[shape].text, clause_text(c->kind));
        if (c->kind == CL_REDUCE && shape == SHAPE_THREADS) diag_fix(e->c->diags, g, "leave `via threads` out: copies reduce into memory");
        if (c->kind == CL_AHEAD) diag_fix(e->c->diags, g, "`ahead n` belongs to `prefetch`");
    }
}

/* To CTAs of the cluster, or to lanes of tensor memory. */
static bool multicast_fits(Env *e, const PMove *m, MoveShape shape)
{
    bool lanes = shape == SHAPE_TMEM_CP;
    Diag *g;
    if (!(SHAPES[shape].takes & BIT(CL_MULTICAST)) || m->cast_span.hi == 0 || lanes == (m->warps != WARPS_ONE)) return true;
    g = diag_at(e->c->diags, E0111, m->cast_span, lanes ? "a copy into tensor memory is multicast to its lanes, not to other CTAs"
                                                         : "a multicast to lanes of tensor memory; this goes to shared memory");
    diag_fix(e->c->diags, g, lanes ? "multicast warpx4, warpx2_02_13 or warpx2_01_23" : "multicast x, y, z or all");
    return false;
}

/* Which accesses to global memory come before which is not followed there. */
static bool in_no_role(Env *e, const PMove *m)
{
    Diag *g = diag_at(e->c->diags, E0506, m->via_span, "in `roles` threads move between tiles only, not from or to tensors");
    diag_fix(e->c->diags, g, "leave `via threads` out where a copy does it, or leave out `roles`: then the schedule is derived");
    return false;
}

bool clauses_fit(Env *e, const ClauseList *l, const PMove *m, MoveShape shape)
{
    MoveShape copied = shape;
    if (shape == SHAPE_STORE && !bytes_fit(e, m)) return false;
    if (m->in_group && shape != SHAPE_STORE) {
        Diag *g = diag_at(e->c->diags, E0111, m->src.span, "%s completes %s, not a bulk group", SHAPES[shape].text,
                          shape == SHAPE_SHARED || shape == SHAPE_TMEM_THREADS ? "at once" : "a barrier");
        diag_fix(e->c->diags, g, "move it out of `group { }`");
        return false;
    }
    if (m->via == VIA_THREADS && (shape == SHAPE_LOAD || shape == SHAPE_STORE)) {
        shape = SHAPE_THREADS;
        if (e->role) return in_no_role(e, m);
    }
    if (!multicast_fits(e, m, shape)) return false;
    for (const Clause *c = l->first; c; c = c->next) {
        if (SHAPES[shape].takes & BIT(c->kind)) continue;
        if ((c->kind != CL_COMMIT && c->kind != CL_COMMIT_GROUP) || !wrong_commit(e, c, shape))
            no_use(e, c, c->kind == CL_CONVERT || c->kind == CL_TRANSPOSE || c->kind == CL_REVERSE || c->kind == CL_SUM ? copied : shape);
        return false;
    }
    return true;
}

/* ---- commits and reductions ---- */

static const char *barrier_text(Env *e, const PMove *m)
{
    const char *name = name_of(e, m->barrier->name);
    return m->barrier->is_array ? arena_printf(e->c->scratch, "%s[..]", name) : name;
}

bool commit_fits(Env *e, const PMove *m)
{
    const Sx *to = m->dst.peer;
    if (m->commit != COMMIT_BARRIER) return true;
    Diag *g;
    bool apart = to ? !m->barrier_peer || !sx_same(to, m->barrier_peer) : m->barrier_peer != NULL;
    if (apart && m->kind == MOVE_LOAD && e->role) {
        if (m->via != VIA_BULK) return true; /* which ranks these are: lower/schedule/written/pairs.c */
        g = diag_at(e->c->diags, E0541, m->commit_span, "bulk copies have no .cta_group: they complete on a barrier of the CTA "
                                                        "that they write to");
        diag_fix(e->c->diags, g, to ? "commit peer(%s, ..) with the rank of the destination, or leave `via bulk` out" : "commit %s, or leave `via bulk` out",
                 barrier_text(e, m));
    } else if (!to && m->barrier_peer) {
        g = diag_at(e->c->diags, E0530, m->commit_span, "the bytes arrive in this CTA, the barrier is another one's");
        diag_fix(e->c->diags, g, "commit %s", barrier_text(e, m));
    } else if (to && !m->barrier_peer) {
        g = diag_at(e->c->diags, E0530, m->commit_span, "the bytes arrive in another CTA, the barrier is the own one");
        diag_fix(e->c->diags, g, "commit peer(%s, ..) with the rank of the destination", barrier_text(e, m));
    } else if (to && !sx_same(to, m->barrier_peer)) {
        g = diag_at(e->c->diags, E0530, m->commit_span, "the bytes arrive in one CTA, the barrier is of another");
        diag_fix(e->c->diags, g, "give both the same rank");
    } else {
        return true;
    }
    diag_label(e->c->diags, g, m->dst.span, "the destination");
    return false;
}

bool reduce_fits(Env *e, const PMove *m, ElemType type, InstrForm form, const char *where)
{
    size_t n;
    if (m->reduce < 0) return true;
    const char *op = word_list(WORDS_REDUCE, &n)[m->reduce], *ptx_op, *ptx_type;
    if (m->map && form == FORM_TMA_REDUCE_TILE && type == TYPE_S64 && !reduction_of_map(op, elem_info(type)->map_type)) {
        Diag *g = diag_at(e->c->diags, E0517, m->work_span, "`%s` does not work through a map of s64", op);
        diag_fix(e->c->diags, g, "leave `via` out: the inferred map moves the same bits as u64");
        return false;
    }
    if (reduction_of(form, op, type, &ptx_op, &ptx_type)) return true;
    Text t;
    text_in(&t, e->c->scratch);
    for (int i = 0; i < TYPE_COUNT; i++)
        if (reduction_of(form, op, (ElemType)i, &ptx_op, &ptx_type))
            text_printf(&t, "%s%s", t.n ? " " : "", elem_info((ElemType)i)->name);
    Diag *g = diag_at(e->c->diags, E0517, m->work_span, "`%s` does not work on %s %s; its types there: %s", op,
                      elem_info(type)->name, where, text_end(&t));
    if (form == FORM_BULK_REDUCE_PEER && elem_info(type)->kind == ELEM_FLOAT)
        diag_fix(e->c->diags, g,
                 "copy to a second tile of the peer, and there `move b -> sum reduce add via threads;`");
    return false;
}
