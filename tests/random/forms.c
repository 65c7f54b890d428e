/* Which form; what all of them share. */
#include <stdlib.h>
#include <string.h>

#include "forms.h"

static const struct Family {
    void (*draw)(Gen *g, int which);
    int forms;
    bool blackwell; /* sm_100a only */
    bool tree;      /* it is made of statements that mean what they say */
} FAMILIES[] = {{form_threads, 6, false, false}, {form_reduce, 4, false, false}, {form_cluster, 10, false, false},
                {form_maps, 8, false, false},    {form_modes, 5, false, false},  {form_words, 7, false, false},
                {form_conditions, 3, false, true}, {form_nest, 4, false, false}, {form_modes, 13, true, false}, {form_tmem, 15, true, false},
                {form_nest, 4, true, false}};
enum { NFAMILIES = sizeof FAMILIES / sizeof *FAMILIES };

int64_t draw(Gen *g, int64_t low, int64_t high)
{
    return rng_in(&g->rng, low, high);
}

int form_tensor(Gen *g, tile_type t, int rank, const int64_t *extent, bool small)
{
    int x = new_tensor(g, t, rank, small);
    for (int d = 0; d < rank; d++) { /* a constant is not 0 */
        g->p->tensor[x].extent[d] = extent[d] ? x_num(g, extent[d]) : x_ref(g, X_SIZE, new_size(g, 0, false));
    }
    fill_data(g, x);
    return x;
}

const char *tensor_name(const Gen *g, int tensor)
{
    return g->p->tensor[tensor].name;
}

const char *tensor_type(const Gen *g, int tensor)
{
    return tile_type_name(g->p->tensor[tensor].type);
}

Stmt *means(Gen *g, int src, int dst)
{
    Stmt **tail = g->tail;
    while (*g->meaning) g->meaning = &(*g->meaning)->next;
    g->tail = g->meaning;
    Stmt *s = emit(g, S_COPY);
    g->tail = tail;
    s->fixed = true;
    s->src.ref = src;
    s->dst.ref = dst;
    g->p->tensor[dst].written = true;
    return s;
}

void pair(Gen *g, Stmt *s, int64_t from, int64_t to)
{
    if (to < 0) return;
    if (s->n == s->room) {
        int64_t room = 2 * s->room + 256, (*list)[2] = keep(g->p, (size_t)room * sizeof *list);
        if (s->n) memcpy(list, s->pairs, (size_t)s->n * sizeof *list);
        s->pairs = list;
        s->room = room;
    }
    s->pairs[s->n][0] = from;
    s->pairs[s->n++][1] = to;
}

void form_kernel(Gen *g, int64_t turn)
{
    Program *p = g->p;
    bool blackwell = p->arch && !strcmp(p->arch, "sm_100a");
    int total = 0;
    for (int i = 0; i < NFAMILIES; i++) total += FAMILIES[i].blackwell == blackwell ? FAMILIES[i].forms : 0;
    int at = (int)(turn % total);
    g->variant = (int)(turn / total);
    const struct Family *f = FAMILIES;
    for (; f->blackwell != blackwell || at >= f->forms; f++)
        if (f->blackwell == blackwell) at -= f->forms;
    if (f->tree) {
        f->draw(g, at);
        return;
    }
    Stmt *twin = emit(g, S_TWIN);
    g->tail = &twin->body;
    g->meaning = &twin->other;
    f->draw(g, at);
}
