/* Programs that are one form of the language each, with what is left open drawn: their text is written, and what it means
 * is given element by element (S_COPY), worked out from the ISA's description of the form. */
#ifndef FORMS_H
#define FORMS_H

#include "generate.h"

#define TEXT(g, ...) emit_text((g), keep_text((g)->p, __VA_ARGS__))

typedef struct Map { /* destination's element to[i] gets source's element from[i] */
    Stmt *s;
    int64_t n;
} Map;

int form_tensor(Gen *g, tile_type t, int rank, const int64_t *extent, bool small);
#define TENSOR(g, t, small, ...) \
    form_tensor((g), (t), (int)(sizeof((int64_t[]){__VA_ARGS__}) / 8), (int64_t[]){__VA_ARGS__}, (small))
const char *tensor_name(const Gen *g, int tensor);
const char *tensor_type(const Gen *g, int tensor);
Stmt *means(Gen *g, int src, int dst); /* a statement of the meaning: src -1 gives `value` */
void pair(Gen *g, Stmt *s, int64_t from, int64_t to);
int64_t draw(Gen *g, int64_t low, int64_t high);
/* One form after the other, as `turn` counts; when all have been, the next variant of each. */
void form_kernel(Gen *g, int64_t turn);

/* A family: `which` counts its forms from 0. */
void form_threads(Gen *g, int which);  /* forms_threads.c */
void form_reduce(Gen *g, int which);
void form_cluster(Gen *g, int which);  /* forms_cluster.c */
void form_maps(Gen *g, int which);     /* forms_maps.c */
void form_modes(Gen *g, int which);    /* forms_modes.c */
void form_tmem(Gen *g, int which);     /* forms_tmem.c */
void form_conditions(Gen *g, int which); /* forms_conditions.c */
void form_words(Gen *g, int which);    /* forms_words.c */
void form_nest(Gen *g, int which);     /* forms_nest.c */

#endif
