/* The calls of functions that ops stand in: the verifier tells them, as other messages do (call_notes() in ../../frontend/check/calls.c). */
#include "lower/emit/values.h"
#include "lower/kernel/report.h"

static uint32_t number(Lower *L, const CallFrame *f)
{
    if (f == NULL) return 0;
    struct Values *s = L->values;
    uint32_t outer = number(L, f->outer);
    if (s->frames == NULL) s->frames = names_new(L->a);
    uint32_t n = names_intern(s->frames, (const char *)&f, sizeof f);
    if (n > L->ir->calls.n) vec_push(L->a, &L->ir->calls, ((IrCall){f->call, name_text(L, f->fn), outer}));
    return n;
}

uint32_t call_here(Lower *L)
{
    struct Values *s = L->values;
    const CallFrame *frame = L->stmt ? L->stmt->frame : NULL;
    if (s->frame != frame) s->call = number(L, frame);
    s->frame = frame;
    return s->call;
}
