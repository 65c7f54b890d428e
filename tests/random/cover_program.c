/* What is reached by programs that are right: of the generator's own tree types, conditions, loops; of what is proved the final IR. */
#include <string.h>

#include "cover.h"
#include "lower/verify/verify.h"
#include "program.h"

/* What decides it: of several the last one of the list. */
static int source_of(const Program *p, const Expr *e)
{
    int a = e->a ? source_of(p, e->a) : 0, b = e->b ? source_of(p, e->b) : 0, own = 0;
    char var = e->kind == X_VAR ? p->var[e->n].name[0] : 0;
    if (e->kind == X_SIZE) own = 1;
    else if (e->kind == X_VAR) own = var == 'i' || var == 'k' ? 2 : var == 'w' || var == 's' ? 6 : 5;
    else if (e->kind == X_CTA || e->kind == X_GRID) own = 3;
    else if (e->kind == X_RANK) own = 4;
    else if (e->kind == X_LOAD) own = 7;
    return a > b ? a > own ? a : own : b > own ? b : own;
}

static void count_range(const Program *p, const char *loop, const Expr *from, const Expr *turns)
{
    int source = from ? source_of(p, from) : 0;
    if (turns->kind == X_NUM && turns->n < 0) row_hit(ROW_LOOP, "%s, to below the first", loop);
    if (source) row_hit(ROW_LOOP, "%s, from %s", loop, SOURCE_NAMES[source]);
    else if (from) row_hit(ROW_LOOP, "%s, from %s", loop, from->n < 0 ? "below 0" : "a number");
}

static void count_block(const Program *p, const Stmt *s)
{
    static const char *const turns[] = {"0", "1", "more"};
    for (; s; s = s->next) {
        if (s->dead) continue;
        bool across = s->text && strstr(s->text, "across");
        if (s->kind == S_IF && (s->times[0] || s->times[1]))
            row_hit(ROW_CONDITION, "%s, %s%s", SOURCE_NAMES[source_of(p, s->e)],
                    !s->times[1] ? "never" : !s->times[0] ? "always" : "sometimes", s->other ? ", with else" : "");
        const char *loop = s->kind == S_FOR ? "for" : across ? "pipeline across grid" : "pipeline";
        for (int i = 0; i < s->ref && (s->kind == S_FOR || s->kind == S_PIPELINE); i++) count_range(p, loop, s->from[i], s->range[i]);
        for (int i = 0; i < 3 && (s->kind == S_FOR || s->kind == S_PIPELINE); i++)
            if (s->times[i]) row_hit(ROW_LOOP, "%s, %s turns", loop, turns[i]);
        count_block(p, s->body);
        count_block(p, s->other);
    }
}

void cover_program(const Program *p)
{
    if (!covering()) return;
    count_block(p, p->body);
}

bool __real_ir_verify(Arena *a, Diags *d, const IrKernel *k, const Demands *to, Text *certificate);
bool __wrap_ir_verify(Arena *a, Diags *d, const IrKernel *k, const Demands *to, Text *certificate);
bool __wrap_ir_verify(Arena *a, Diags *d, const IrKernel *k, const Demands *to, Text *certificate)
{
    bool ok = __real_ir_verify(a, d, k, to, certificate);
    if (ok) cover_kernel(k);
    return ok;
}
