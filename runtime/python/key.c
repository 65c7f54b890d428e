/* Keys of calls: key.h. */
#include "runtime/python/key.h"

#include <string.h>

void key_begin(Key *k, const State *s, bool values)
{
    k->state = s;
    k->values = values;
    k->n = k->nslots = 0; /* the rest is large, and not read before it is written */
}

void key_end(Key *k)
{
    for (size_t i = 0; i < k->nslots; i++) Py_XDECREF(k->slots[i].x);
}

static bool put(Key *k, int64_t word)
{
    if (k->n == KEY_MOST) return false;
    k->words[k->n++] = word;
    return true;
}

static bool put_tag(Key *k, Tag tag, Py_ssize_t more)
{
    return put(k, (int64_t)tag | (int64_t)more << 8);
}

static bool put_bytes(Key *k, const void *bytes, size_t n)
{
    size_t words = (n + 7) / 8;
    if (words > KEY_MOST - k->n) return false;
    if (words > 0) k->words[k->n + words - 1] = 0;
    if (n > 0) memcpy(&k->words[k->n], bytes, n);
    k->n += words;
    return true;
}

static bool take_slot(Key *k, PyObject *x, int64_t value)
{
    if (k->nslots == SLOTS_MOST) return false;
    Py_XINCREF(x);
    k->slots[k->nslots++] = (Slot){x, value};
    return true;
}

int is_true(PyObject *x)
{
    if (!x) return -1;
    Py_DECREF(x);
    return x == Py_True;
}

bool to_number(PyObject *x, int64_t *out)
{
    if (!x) return false;
    *out = (int64_t)PyLong_AsUnsignedLongLongMask(x);
    Py_DECREF(x);
    return *out != -1 || !PyErr_Occurred();
}

static bool call_number(PyObject *x, PyObject *method, int64_t *out)
{
    return to_number(PyObject_CallMethodObjArgs(x, method, NULL), out);
}

bool address_of(const State *s, PyObject *x, int64_t *out)
{
    DLTensor t;
    if (!s->exchange) return call_number(x, s->names.data_ptr, out);
    if (s->exchange->read(x, &t) != 0) return false;
    *out = (int64_t)((uintptr_t)t.data + t.byte_offset);
    return true;
}

/* What may not be remembered, since it is refused, or is nothing but memory with a shape. */
static bool is_plain(const State *s, PyObject *x)
{
    int grad = is_true(PyObject_GetAttr(x, s->names.requires_grad));
    if (grad > 0) grad = is_true(PyObject_CallNoArgs(s->grad_enabled));
    return grad == 0 && is_true(PyObject_CallMethodObjArgs(x, s->names.is_neg, NULL)) == 0;
}

/* Types are objects of torch that live as long as it. Takes the reference away. */
static bool put_type(Key *k, PyObject *type)
{
    if (!type) return false;
    Py_DECREF(type);
    return put(k, (int64_t)(intptr_t)type);
}

static bool add_by_exchange(Key *k, PyObject *x)
{
    DLTensor t;
    if (k->state->exchange->read(x, &t) != 0 || t.ndim < 0 || t.ndim > 64 || (t.ndim > 0 && (!t.shape || !t.strides))) return false;
    size_t bytes = (size_t)t.ndim * sizeof *t.shape;
    int64_t dtype = (int64_t)t.dtype.code << 16 | (int64_t)t.dtype.bits << 24 | (int64_t)t.dtype.lanes << 32;
    if (!put(k, TENSOR | (int64_t)t.ndim << 8 | dtype) || !put(k, (int64_t)t.device.type << 32 | (uint32_t)t.device.id)) return false;
    if (!put_bytes(k, t.shape, bytes) || !put_bytes(k, t.strides, bytes)) return false;
    bool several = t.dtype.bits == 8 && (t.dtype.code == DL_INT || t.dtype.code == DL_UINT); /* torch.uint4 is one of them */
    if (several && !put_type(k, PyObject_GetAttr(x, k->state->names.dtype))) return false;
    int64_t address = (int64_t)((uintptr_t)t.data + t.byte_offset);
    return put(k, address % 16) && take_slot(k, x, address);
}

/* Takes the reference away. */
static bool put_numbers(Key *k, PyObject *tuple)
{
    bool good = tuple && PyTuple_Check(tuple) && put_tag(k, TUPLE, PyTuple_Size(tuple));
    for (Py_ssize_t i = 0; good && i < PyTuple_Size(tuple); i++) {
        PyObject *x = PyTuple_GetItem(tuple, i);
        int64_t n;
        good = x && PyLong_CheckExact(x) && to_number(Py_NewRef(x), &n) && put(k, n);
    }
    Py_XDECREF(tuple);
    return good;
}

static bool add_by_attributes(Key *k, PyObject *x)
{
    const State *s = k->state;
    int64_t device, address;
    return put_tag(k, TENSOR, 0) && put_type(k, PyObject_GetAttr(x, s->names.dtype)) && put_numbers(k, PyObject_GetAttr(x, s->names.shape)) &&
           put_numbers(k, PyObject_CallMethodObjArgs(x, s->names.stride, NULL)) && call_number(x, s->names.get_device, &device) &&
           put(k, device) && call_number(x, s->names.data_ptr, &address) && put(k, address % 16) && take_slot(k, x, address);
}

static bool add_text(Key *k, PyObject *x)
{
    Py_ssize_t n;
    const char *text = PyUnicode_AsUTF8AndSize(x, &n);
    return text && put_tag(k, TEXT, n) && put_bytes(k, text, (size_t)n);
}

static bool add(Key *k, PyObject *x);

static bool add_items(Key *k, PyObject *x, bool list)
{
    Py_ssize_t n = list ? PyList_Size(x) : PyTuple_Size(x);
    bool good = put_tag(k, list ? LIST : TUPLE, n);
    for (Py_ssize_t i = 0; good && i < n; i++) {
        PyObject *item = list ? PyList_GetItem(x, i) : PyTuple_GetItem(x, i);
        if (!item) return false;
        Py_INCREF(item); /* reading a tensor may run code that changes the list */
        good = add(k, item);
        Py_DECREF(item);
    }
    return good;
}

static bool add_integer(Key *k, PyObject *x)
{
    int overflow;
    int64_t value = PyLong_AsLongLongAndOverflow(x, &overflow);
    if (overflow || !put_tag(k, INTEGER, 0)) return false;
    return k->values ? put(k, value) : take_slot(k, NULL, value);
}

/* One argument. false: it is nothing that calls are remembered for, or an exception is set. */
static bool add(Key *k, PyObject *x)
{
    const State *s = k->state;
    PyObject *type = (PyObject *)Py_TYPE(x); /* no class derived from it */
    if (type == s->tensor) return is_plain(s, x) && (s->exchange ? add_by_exchange(k, x) : add_by_attributes(k, x));
    if (PyLong_CheckExact(x)) return add_integer(k, x);
    if (!k->values) return (x == s->empty || x == s->zeros) && put_tag(k, MAKER, x == s->zeros) && take_slot(k, NULL, 0);
    if (x == Py_None) return put_tag(k, NONE, 0);
    if (PyBool_Check(x)) return put_tag(k, FLAG, x == Py_True);
    if (PyFloat_CheckExact(x)) { /* 0.0 and -0.0 are equal */
        double value = PyFloat_AsDouble(x);
        return put_tag(k, REAL, 0) && put_bytes(k, &value, sizeof value);
    }
    if (PyUnicode_CheckExact(x)) return add_text(k, x);
    if (PyList_CheckExact(x) || PyTuple_CheckExact(x)) return add_items(k, x, PyList_CheckExact(x));
    return type == s->type && put_tag(k, TYPE, 0) && put_type(k, Py_NewRef(x));
}

bool key_add_call(Key *k, PyObject *const *call)
{
    Py_ssize_t n = PyTuple_Size(call[1]), at = 0;
    bool good = n >= 0 && put(k, n) && add_text(k, call[0]);
    for (Py_ssize_t i = 0; good && i < n; i++) good = add(k, PyTuple_GetItem(call[1], i));
    PyObject *name, *x;
    while (good && PyDict_Next(call[2], &at, &name, &x)) good = add_text(k, name) && add(k, x);
    if (!good && PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_Exception)) PyErr_Clear();
    return good;
}

uint64_t key_hash(const Key *k)
{
    uint64_t h = k->n;
    for (size_t i = 0; i < k->n; i++) {
        h = (h ^ (uint64_t)k->words[i]) * UINT64_C(0x9E3779B97F4A7C15);
        h ^= h >> 32;
    }
    return h;
}
