#include <stdarg.h>

#include "lower/kernel/report.h"

enum { SHOWN_TEXT = 120 };

const char *source_text(Lower *L, Span s)
{
    Source *f = s.hi ? sources_file(L->c->sources, s.lo) : NULL;
    if (f == NULL || s.hi <= s.lo || s.hi - f->base > f->len) return "";
    const char *p = f->text + (s.lo - f->base);
    uint32_t n = s.hi - s.lo, w = 0;
    char *out = arena_alloc(L->a, (size_t)(n > SHOWN_TEXT ? SHOWN_TEXT : n) + 4);
    for (uint32_t i = 0; i < n; i++) {
        bool space = p[i] == ' ' || p[i] == '\n' || p[i] == '\r' || p[i] == '\t';
        if (space && w > 0 && out[w - 1] == ' ') continue;
        if (w == SHOWN_TEXT) {
            memcpy(out + w, "...", 3);
            w += 3;
            break;
        }
        out[w++] = space ? ' ' : p[i];
    }
    out[w] = 0;
    return out;
}

const char *place_text(Lower *L, Span s)
{
    return source_place_text(L->c->sources, L->a, s, false);
}

const char *name_text(Lower *L, Name n)
{
    return names_text(L->c->names, n);
}

const char *poly_text(Lower *L, Poly p)
{
    return domain_text(L->d, L->a, p);
}

const char *bytes_text(Lower *L, Poly elements, int bits)
{
    const char *p = poly_text(L, elements);
    int64_t k;
    if (bits == 8) return p;
    if (poly_is_const(elements, &k) && k < INT32_MAX && k > INT32_MIN && k * bits % 8 == 0)
        return arena_printf(L->a, "%lld", (long long)(k * bits / 8));
    const char *open = elements.n > 1 ? "(" : "", *close = elements.n > 1 ? ")" : "";
    if (bits % 8) return arena_printf(L->a, "%s%s%s * %d / 8", open, p, close, bits);
    return arena_printf(L->a, "%s%s%s * %d", open, p, close, bits / 8);
}

/* Certain where all that varies is a multiple and the rest is none. */
const char *unproved_multiple(Poly x, int64_t m)
{
    int64_t rest = poly_constant_term(x);
    bool never = !x.bad && rest % m != 0;
    for (uint32_t i = 0; i < x.n && never; i++) never = x.terms[i].natoms == 0 || x.terms[i].coef % m == 0;
    return never ? "is not" : "is not proved to be";
}

const char *lx_text(Lower *L, Lx x)
{
    const MfKernel *mf = &L->ir->mf;
    const char **names = arena_array(L->a, const char *, L->k->syms.n);
    for (uint32_t i = 0; i < L->k->syms.n; i++) names[i] = name_text(L, L->k->syms.v[i].name);
    Text t;
    text_in(&t, L->a);
    lx_print(&t, &mf->lx, x, names);
    return text_end(&t);
}

Diag *lower_error(Lower *L, ErrorCode code, Span span, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    Diag *g = diag_vat(L->c->diags, code, span, fmt, ap);
    va_end(ap);
    L->failed = true;
    if (L->stmt) call_notes(L->c, g, L->stmt);
    return g;
}

bool cannot(Lower *L, Refusal *why, ErrorCode code, Span at, Span cause, const char *label, const char *fix, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    Refusal r = {.code = code, .span = at, .text = arena_vprintf(L->a, fmt, ap), .label_span = cause, .label = label, .fix = fix};
    va_end(ap);
    if (why) *why = r;
    else lower_refuse(L, &r);
    return false;
}

void lower_refuse(Lower *L, const Refusal *r)
{
    Diag *g = lower_error(L, r->code, r->span, "%s", r->text);
    if (r->label) diag_label(L->c->diags, g, r->label_span, "%s", r->label);
    if (r->fix) diag_fix(L->c->diags, g, "%s%s", r->fix, r->by_bulk ? ", or `via bulk`" : "");
    else if (r->by_bulk) diag_fix(L->c->diags, g, "via bulk");
}

bool launch_checked(Lower *L, ErrorCode code, Lx cond)
{
    const struct Checks *c = L->checks;
    uint32_t i = cond < c->last.n ? c->last.v[cond] : 0;
    while (i && L->ir->mf.checks.v[i - 1].code != code) i = c->before.v[i - 1];
    return i > 0;
}

void launch_drop(Lower *L, uint32_t n)
{
    struct Checks *c = L->checks;
    for (MfKernel *mf = &L->ir->mf; mf->checks.n > n; mf->checks.n--) {
        uint32_t last = mf->checks.n - 1;
        c->last.v[mf->checks.v[last].cond] = c->before.v[last];
        c->before.n--;
    }
}

bool launch_check(Lower *L, ErrorCode code, Lx cond, Span span, const char *text, const char *why)
{
    MfKernel *mf = &L->ir->mf;
    int64_t k;
    if (lx_is_const(&mf->lx, cond, &k)) return k != 0;
    if (launch_checked(L, code, cond)) return true;
    struct Checks *c = L->checks;
    while (c->last.n <= cond) vec_push(L->a, &c->last, 0);
    vec_push(L->a, &c->before, c->last.v[cond]);
    c->last.v[cond] = mf->checks.n + 1;
    MfCheck *check = vec_add(L->a, &mf->checks);
    check->code = code;
    check->cond = cond;
    check->text = text;
    check->why = why;
    check->place = source_place_text(L->c->sources, L->a, span, true);
    return true;
}

void explain_move(Lower *L, const PStmt *st, const char *lines)
{
    MoveLines *m = vec_add(L->a, &L->explained->moves);
    *m = (MoveLines){st, lines};
}
