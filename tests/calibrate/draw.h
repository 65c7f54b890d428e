/* What the files that draw cases share: cases.c, columns.c. */
#ifndef CALIBRATE_DRAW_H
#define CALIBRATE_DRAW_H

#include "tests/calibrate/calibrate.h"

typedef enum Values { VALUES_RAW, VALUES_F16, VALUES_BF16, VALUES_F32, VALUES_F64, VALUES_INT } Values;
typedef struct TypeWord {
    const char *name;
    int bytes;
    bool is_float;
} TypeWord;
typedef struct TensorReduction {
    const char *op;
    int type;
} TensorReduction;
enum { TYPE_WORDS = 13, TENSOR_REDUCTION_COUNT = 30 };
extern const TypeWord TYPES[TYPE_WORDS]; /* by MapType */
extern const TensorReduction TENSOR_REDUCTIONS[TENSOR_REDUCTION_COUNT];

int64_t between(Draw *d, int64_t lo, int64_t hi);
bool one_in(Draw *d, uint32_t n);
void fill_random(Draw *d, uint8_t *p, size_t n);
void fill_values(Draw *d, uint8_t *p, size_t n, Values kind, int bytes);
Values values_of_map(int type);
/* Bytes from the first to behind the last unit: an element, or a slice of an interleaved tensor. */
int64_t span_of(const MapDesc *m, int bytes);
void draw_pitches(Draw *d, MapDesc *m, int bytes, int unit);
void set_region(Case *c, uint32_t bytes);
const char *coords_of(int rank);

/* columns.c: the im2col mode */
void draw_im2col_load(Draw *d, Case *c, bool interleave, bool multicast);
void draw_im2col_store(Draw *d, Case *c, bool reduce);

#endif
