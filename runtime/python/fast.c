/* tilecc._fast: calls that come again, without interpreted code.
 *
 * In: the arguments of a call, and, once for each kind of arguments, what _remember.py found that the call does. Out: the result of the call, or
 * NotImplemented: then _remember.py, which does all that is done here and is the reference, makes the call.
 *
 * What is found by its key (key.h) is allocated and launched as _Call.again() and _Ready.again() do. Calls belongs to one thread, and is used under
 * the GIL; it is let go while a kernel is launched.
 *
 * Glossary: place - what an argument of a launch is: bytes from where the tensor of a slot begins, or a number.
 *
 * Of Python it takes the limited API of 3.10, so that one file serves all versions from there on; without a GIL, and in 3.9, it is not loaded.
 */
#include "runtime/python/key.h"

#include <string.h>

static _Thread_local int recording; /* a call is looked at that runs for the first time: nothing may go past _remember.py */

/* ---- what a call does ---- */

typedef struct Maker {
    Py_ssize_t slot;
    PyObject *general, *empty, *arguments, *current; /* empty: allocates on the device that is current, which has to have the number; or None */
    long number;
} Maker;

typedef struct Place {
    Py_ssize_t slot; /* -1: the number itself */
    long long more;
} Place;

typedef struct Launch {
    PyObject *ready; /* _Ready, whose the arguments are */
    int (*at)(void *args, const int64_t *where, size_t n, void *stream, void *error); /* tile_launch_at() */
    void *args, *error;
    Place places[SLOTS_MOST];
    size_t n;
} Launch;

typedef struct Entry {
    size_t references; /* of the table, and of each call that goes on: what is allocated may run code that calls others */
    PyObject *does;    /* what it was made of; all references are in there */
    uint64_t hash;
    size_t n, nslots, nmakers, nlaunches, nresults;
    int64_t *words;
    Maker *makers;
    Launch *launches;
    uint8_t results[SLOTS_MOST]; /* slots */
    Tag shape;                   /* of the result: LIST, TUPLE, TENSOR or NONE */
    int device;                  /* of the launches */
} Entry;

static void release(Entry *e)
{
    if (--e->references > 0) return;
    Py_XDECREF(e->does);
    PyMem_Free(e->words);
    PyMem_Free(e->makers);
    PyMem_Free(e->launches);
    PyMem_Free(e);
}

static void *zeros(size_t n, size_t size)
{
    void *p = PyMem_Calloc(n, size);
    if (!p) PyErr_NoMemory();
    return p;
}

static bool is_slot(size_t slot, size_t n)
{
    if (slot >= n) PyErr_SetString(PyExc_ValueError, "no such slot");
    return slot < n;
}

static bool take_makers(Entry *e, PyObject *list)
{
    Py_ssize_t n = PyList_Size(list);
    if (n < 0 || !(e->makers = zeros((size_t)n, sizeof *e->makers))) return false;
    for (; e->nmakers < (size_t)n; e->nmakers++) {
        Maker *m = &e->makers[e->nmakers];
        if (!PyArg_ParseTuple(PyList_GetItem(list, (Py_ssize_t)e->nmakers), "nOOOOl", &m->slot, &m->general, &m->empty, &m->arguments, &m->current,
                              &m->number) || !is_slot((size_t)m->slot, SLOTS_MOST))
            return false;
        if ((size_t)m->slot >= e->nslots) e->nslots = (size_t)m->slot + 1;
    }
    return true;
}

static bool take_places(const Entry *e, Launch *l, PyObject *places)
{
    Py_ssize_t n = PyList_Size(places);
    if (n < 0 || !is_slot((size_t)n, SLOTS_MOST)) return false;
    for (l->n = 0; l->n < (size_t)n; l->n++) {
        Place *p = &l->places[l->n];
        if (!PyArg_ParseTuple(PyList_GetItem(places, (Py_ssize_t)l->n), "nL", &p->slot, &p->more)) return false;
        if (p->slot != -1 && !is_slot((size_t)p->slot, e->nslots)) return false;
    }
    return true;
}

static bool take_launches(Entry *e, PyObject *list)
{
    Py_ssize_t n = PyList_Size(list);
    if (n < 0 || !(e->launches = zeros((size_t)n, sizeof *e->launches))) return false;
    for (; e->nlaunches < (size_t)n; e->nlaunches++) {
        Launch *l = &e->launches[e->nlaunches];
        PyObject *places;
        unsigned long long at, args, error;
        if (!PyArg_ParseTuple(PyList_GetItem(list, (Py_ssize_t)e->nlaunches), "OKKKO", &l->ready, &at, &args, &error, &places)) return false;
        memcpy(&l->at, &(uintptr_t){(uintptr_t)at}, sizeof l->at);
        l->args = (void *)(uintptr_t)args;
        l->error = (void *)(uintptr_t)error;
        if (!take_places(e, l, places)) return false;
    }
    return true;
}

static bool take_results(Entry *e, PyObject *list, PyObject *several)
{
    Py_ssize_t n = PyList_Size(list);
    if (n < 0 || !is_slot((size_t)n, SLOTS_MOST)) return false;
    e->shape = several == (PyObject *)&PyList_Type ? LIST : several == (PyObject *)&PyTuple_Type ? TUPLE : n > 0 ? TENSOR : NONE;
    for (; e->nresults < (size_t)n; e->nresults++) {
        Py_ssize_t slot = PyLong_AsSsize_t(PyList_GetItem(list, (Py_ssize_t)e->nresults));
        if (!is_slot((size_t)slot, e->nslots)) return false;
        e->results[e->nresults] = (uint8_t)slot;
    }
    return true;
}

/* What `remember` describes. NULL: an exception is set. */
static Entry *new_entry(const Key *k, PyObject *does)
{
    PyObject *launches, *makers, *results, *several;
    Entry *e = zeros(1, sizeof *e);
    if (!e) return NULL;
    *e = (Entry){.references = 1, .hash = key_hash(k), .n = k->n, .nslots = k->nslots, .does = Py_NewRef(does), .words = zeros(k->n, sizeof *e->words)};
    if (e->words) memcpy(e->words, k->words, k->n * sizeof *e->words);
    if (e->words && PyArg_ParseTuple(does, "iOOOO", &e->device, &launches, &makers, &results, &several) && take_makers(e, makers) &&
        take_launches(e, launches) && take_results(e, results, several))
        return e;
    release(e);
    return NULL;
}

/* ---- a call ---- */

static bool make(const State *s, const Entry *e, Key *k)
{
    PyObject *asked = NULL; /* .. which number is `current` */
    int64_t current = -1;
    for (; k->nslots < e->nslots; k->nslots++) k->slots[k->nslots] = (Slot){0};
    for (size_t i = 0; i < e->nmakers; i++) {
        const Maker *m = &e->makers[i];
        if (m->empty != Py_None && m->current != asked) {
            if (!to_number(PyObject_CallNoArgs(m->current), &current)) return false;
            asked = m->current;
        }
        bool bare = m->empty != Py_None && current == m->number;
        Slot *slot = &k->slots[m->slot];
        slot->x = bare ? PyObject_Call(m->empty, m->arguments, NULL) : PyObject_CallNoArgs(m->general);
        if (!slot->x || !address_of(s, slot->x, &slot->value)) return false;
    }
    return true;
}

static PyObject *result_of(const Entry *e, const Key *k)
{
    if (e->shape == NONE) return Py_NewRef(Py_None);
    if (e->shape == TENSOR) return Py_NewRef(k->slots[e->results[0]].x);
    PyObject *out = e->shape == LIST ? PyList_New((Py_ssize_t)e->nresults) : PyTuple_New((Py_ssize_t)e->nresults);
    for (size_t i = 0; out && i < e->nresults; i++) {
        PyObject *x = Py_NewRef(k->slots[e->results[i]].x);
        if (e->shape == LIST) PyList_SetItem(out, (Py_ssize_t)i, x);
        else PyTuple_SetItem(out, (Py_ssize_t)i, x);
    }
    return out;
}

/* false: an exception is set. */
static bool launch(const State *s, const Launch *l, const Key *k, void *stream)
{
    int64_t where[SLOTS_MOST];
    int status;
    for (size_t i = 0; i < l->n; i++) {
        Py_ssize_t slot = l->places[i].slot;
        where[i] = (int64_t)((uint64_t)l->places[i].more + (slot < 0 ? 0 : (uint64_t)k->slots[slot].value));
    }
    Py_BEGIN_ALLOW_THREADS
    status = l->at(l->args, where, l->n, stream, l->error);
    Py_END_ALLOW_THREADS
    if (status == 0) return true;
    PyObject *said = PyObject_CallMethodObjArgs(l->ready, s->names.fail, NULL);
    Py_XDECREF(said);
    if (said) PyErr_SetString(PyExc_RuntimeError, "a launch failed");
    return false;
}

/* given: None, or a stream as a number. false: it is something else, or an exception is set. */
static bool stream_of(const State *s, const Entry *e, PyObject *given, void **out)
{
    *out = NULL;
    if (e->nlaunches == 0) return true;
    if (given == Py_None && s->exchange) return s->exchange->stream(DL_CUDA, e->device, out) == 0;
    int64_t number;
    if (given == Py_None ? !to_number(PyObject_CallFunction(s->raw_stream, "i", e->device), &number)
                         : !PyLong_CheckExact(given) || !to_number(Py_NewRef(given), &number))
        return false;
    *out = (void *)(intptr_t)number;
    return true;
}

/* ---- Calls ---- */

typedef struct Calls {
    PyObject_HEAD
    PyObject *module;
    bool values;
    size_t most, count, size; /* size: of the table, a power of 2 above most */
    Entry **table;
} Calls;

static PyObject *calls_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    int values;
    Py_ssize_t most;
    if (keywords && PyDict_Size(keywords) > 0) return PyErr_Format(PyExc_TypeError, "Calls takes no keywords");
    if (!PyArg_ParseTuple(arguments, "pn", &values, &most)) return NULL;
    PyObject *module = PyType_GetModule(type);
    allocfunc alloc;
    if (!module) return NULL;
    memcpy(&alloc, &(void *){PyType_GetSlot(type, Py_tp_alloc)}, sizeof alloc);
    Calls *c = (Calls *)alloc(type, 0);
    if (!c) return NULL;
    c->module = Py_NewRef(module);
    c->values = values;
    c->most = most > 0 ? (size_t)most : 1;
    return (PyObject *)c;
}

static PyObject *calls_clear(PyObject *self, PyObject *none)
{
    Calls *c = (Calls *)self;
    Entry **table = c->table;
    size_t size = c->size;
    (void)none;
    c->table = NULL; /* first: what is let go may run code that calls */
    c->size = c->count = 0;
    for (size_t i = 0; i < size; i++)
        if (table[i]) release(table[i]);
    PyMem_Free(table);
    Py_RETURN_NONE;
}

static void calls_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc give;
    memcpy(&give, &(void *){PyType_GetSlot(type, Py_tp_free)}, sizeof give);
    Py_DECREF(calls_clear(self, NULL));
    Py_DECREF(((Calls *)self)->module);
    give(self);
    Py_DECREF(type);
}

static Py_ssize_t calls_length(PyObject *self)
{
    return (Py_ssize_t)((Calls *)self)->count;
}

/* Where such an entry is, or could be. */
static Entry **find(const Calls *c, uint64_t hash, const int64_t *words, size_t n)
{
    for (size_t i = hash & (c->size - 1);; i = (i + 1) & (c->size - 1)) {
        const Entry *e = c->table[i];
        if (!e || (e->hash == hash && e->n == n && memcmp(e->words, words, n * sizeof *words) == 0)) return &c->table[i];
    }
}

static bool is_call(PyObject *const *call)
{
    bool good = PyUnicode_Check(call[0]) && PyTuple_Check(call[1]) && PyDict_Check(call[2]);
    if (!good) PyErr_SetString(PyExc_TypeError, "a call is a name, a tuple and a dict");
    return good;
}

/* again(name, arguments, keywords, stream) */
static PyObject *calls_again(PyObject *self, PyObject *const *given, Py_ssize_t n)
{
    Calls *c = (Calls *)self;
    if (n != 4) return PyErr_Format(PyExc_TypeError, "again() takes 4 arguments");
    if (!is_call(given)) return NULL;
    if (recording || c->count == 0) return Py_NewRef(Py_NotImplemented);
    Key k;
    key_begin(&k, PyModule_GetState(c->module), c->values);
    Entry *e = key_add_call(&k, given) && c->count > 0 ? *find(c, key_hash(&k), k.words, k.n) : NULL;
    void *stream;
    PyObject *result = NULL;
    if (e) e->references++;
    if (e && stream_of(k.state, e, given[3], &stream)) {
        bool good = make(k.state, e, &k);
        for (size_t i = 0; good && i < e->nlaunches; i++) good = launch(k.state, &e->launches[i], &k, stream);
        if (good) result = result_of(e, &k);
    } else if (!PyErr_Occurred()) {
        result = Py_NewRef(Py_NotImplemented);
    }
    if (e) release(e);
    key_end(&k);
    return result;
}

static bool insert(Calls *c, Entry *e)
{
    if (c->count >= c->most) Py_DECREF(calls_clear((PyObject *)c, NULL));
    if (!c->table) {
        size_t size = 2;
        while (size < 2 * c->most) size *= 2;
        if (!(c->table = zeros(size, sizeof(Entry *)))) return false;
        c->size = size;
    }
    Entry **place = find(c, e->hash, e->words, e->n), *old = *place;
    *place = e;
    if (old) release(old);
    else c->count++;
    return true;
}

/* remember(name, arguments, keywords, (device, launches, makers, results, several)): launches [(_Ready, tile_launch_at, args, error, [(slot, bytes)])],
 * makers [(slot, general, empty or None, its arguments, current, number)], results [slot], several list, tuple or None. */
static PyObject *calls_remember(PyObject *self, PyObject *const *given, Py_ssize_t n)
{
    Calls *c = (Calls *)self;
    if (n != 4 || !is_call(given)) return n == 4 ? NULL : PyErr_Format(PyExc_TypeError, "remember() takes 4 arguments");
    Key k;
    key_begin(&k, PyModule_GetState(c->module), c->values);
    Entry *e = k.state->tensor && key_add_call(&k, given) ? new_entry(&k, given[3]) : NULL;
    key_end(&k);
    if (e && !insert(c, e)) release(e);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

/* ---- the module ---- */

/* The functions by which others read tensors; NULL: this torch has none. */
static const Exchange *exchange_of(PyObject *tensor)
{
    PyObject *x = PyObject_GetAttrString(tensor, "__dlpack_c_exchange_api__");
    const Exchange *e = x ? PyCapsule_GetPointer(x, "dlpack_exchange_api") : NULL;
    PyErr_Clear();
    Py_XDECREF(x);
    while (e && e->major != 1) e = e->older;
    return e && e->read && e->stream ? e : NULL;
}

/* The attribute of a name with dots. */
static bool take(PyObject **place, PyObject *from, const char *name)
{
    const char *dot = strchr(name, '.');
    PyObject *part = PyUnicode_FromStringAndSize(name, dot ? dot - name : (Py_ssize_t)strlen(name));
    PyObject *x = part ? PyObject_GetAttr(from, part) : NULL;
    Py_XDECREF(part);
    bool good = x && (!dot || take(place, x, dot + 1));
    if (good && !dot) {
        Py_XDECREF(*place);
        *place = Py_NewRef(x);
    }
    Py_XDECREF(x);
    return good;
}

/* use(torch, exchange): exchange False: tensors are read by their attributes. What was remembered before is of no use then. */
static PyObject *use(PyObject *module, PyObject *arguments)
{
    State *s = PyModule_GetState(module);
    PyObject *torch;
    int exchange;
    if (!PyArg_ParseTuple(arguments, "Op", &torch, &exchange)) return NULL;
    bool good = take(&s->type, torch, "dtype") && take(&s->empty, torch, "empty") && take(&s->zeros, torch, "zeros") &&
                take(&s->grad_enabled, torch, "is_grad_enabled") && take(&s->raw_stream, torch, "_C._cuda_getCurrentRawStream") &&
                take(&s->tensor, torch, "Tensor");
    if (!good) return NULL;
    s->exchange = exchange ? exchange_of(s->tensor) : NULL;
    return PyBool_FromLong(s->exchange != NULL);
}

static PyObject *record(PyObject *module, PyObject *on)
{
    (void)module;
    int truth = PyObject_IsTrue(on);
    if (truth < 0) return NULL;
    recording = truth;
    Py_RETURN_NONE;
}

static int module_exec(PyObject *module)
{
    __extension__ static PyMethodDef methods[] = {{"again", (PyCFunction)(void (*)(void))calls_again, METH_FASTCALL, NULL},
                                                  {"remember", (PyCFunction)(void (*)(void))calls_remember, METH_FASTCALL, NULL},
                                                  {"clear", calls_clear, METH_NOARGS, NULL},
                                                  {NULL, NULL, 0, NULL}};
    __extension__ static PyType_Slot slots[] = {{Py_tp_new, (void *)calls_new},
                                                {Py_tp_dealloc, (void *)calls_dealloc},
                                                {Py_mp_length, (void *)calls_length},
                                                {Py_tp_methods, methods},
                                                {0, NULL}};
    static PyType_Spec spec = {"tilecc._fast.Calls", sizeof(Calls), 0, Py_TPFLAGS_DEFAULT, slots};
    State *s = PyModule_GetState(module);
#define INTERN(name)                                                                                                   \
    if (!(s->names.name = PyUnicode_InternFromString(#name))) return -1;
    NAMES(INTERN)
#undef INTERN
    PyObject *type = PyType_FromModuleAndSpec(module, &spec, NULL);
    int status = type ? PyModule_AddObjectRef(module, "Calls", type) : -1;
    Py_XDECREF(type);
    return status;
}

PyMODINIT_FUNC PyInit__fast(void)
{
    static PyMethodDef functions[] = {{"use", use, METH_VARARGS, NULL}, {"record", record, METH_O, NULL}, {NULL, NULL, 0, NULL}};
    __extension__ static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)module_exec}, {0, NULL}};
    static PyModuleDef module = {PyModuleDef_HEAD_INIT, "_fast", NULL, sizeof(State), functions, slots, NULL, NULL, NULL};
    return PyModuleDef_Init(&module);
}
