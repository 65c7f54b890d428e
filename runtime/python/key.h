/* The key of a call: what decides what it does, in words, without an object of Python.
 *
 * It says of tensors their type, device, shape, strides and by how many bytes they lie behind a multiple of 16, and of other arguments what they are. No key is the beginning of another: each
 * argument begins with a tag and says how long it is.
 *
 * Glossary: slot - a tensor, an integer or what makes a tensor, in the order in which they are given; what a call makes has those behind them.
 */
#ifndef RUNTIME_PYTHON_KEY_H
#define RUNTIME_PYTHON_KEY_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030A0000
#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

enum { KEY_MOST = 256, SLOTS_MOST = 64 }; /* words, slots; calls that have more are not remembered */

/* ---- DLPack: what dmlc/dlpack, include/dlpack/dlpack.h, has since 1.3 ---- */

typedef struct DLTensor {
    void *data;
    struct {
        int32_t type, id;
    } device;
    int32_t ndim;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } dtype;
    int64_t *shape, *strides; /* strides: in elements */
    uint64_t byte_offset;
} DLTensor;

typedef struct Exchange Exchange;
struct Exchange {
    uint32_t major, minor;
    const Exchange *older;
    void (*allocate)(void), (*from_object)(void), (*to_object)(void);
    int (*read)(void *object, DLTensor *out); /* what it points to belongs to the object. Not 0: an exception is set */
    int (*stream)(int32_t device_type, int32_t device_id, void **out);
};

enum { DL_CUDA = 2, DL_INT = 0, DL_UINT = 1 }; /* of devices, of types */

/* ---- what is known of torch ---- */

#define NAMES(X) X(requires_grad) X(is_neg) X(dtype) X(shape) X(stride) X(get_device) X(data_ptr) X(fail)

typedef struct State {
    PyObject *tensor, *type, *empty, *zeros, *grad_enabled, *raw_stream; /* NULL: torch is not known yet */
    const Exchange *exchange;                                           /* how tensors are read; NULL: by their attributes */
#define MEMBER(name) PyObject *name;
    struct {
        NAMES(MEMBER)
    } names;
#undef MEMBER
} State;

typedef enum Tag { TENSOR = 1, INTEGER, FLAG, NONE, TEXT, REAL, TYPE, LIST, TUPLE, MAKER } Tag;

typedef struct Slot {
    PyObject *x; /* a reference to the tensor, or NULL */
    int64_t value;
} Slot;

typedef struct Key {
    const State *state;
    bool values; /* integers count by their value */
    size_t n, nslots;
    int64_t words[KEY_MOST];
    Slot slots[SLOTS_MOST];
} Key;

void key_begin(Key *k, const State *s, bool values);
/* call: the name of what is called, a tuple of arguments, a dict of keywords. false, with an exception only if it must go on: not remembered. */
bool key_add_call(Key *k, PyObject *const *call);
uint64_t key_hash(const Key *k);
/* Lets go of the tensors. */
void key_end(Key *k);

/* Both take the reference of x away. -1, false: an exception is set. */
int is_true(PyObject *x);
bool to_number(PyObject *x, int64_t *out);
/* Where a tensor lies. false: an exception is set. */
bool address_of(const State *s, PyObject *x, int64_t *out);

#endif
