/* Which statement stands in which construct: of programs as the compiler has checked them, so that what constants exclude does not
 * count, and calls are what they do. */
#include "cover.h"
#include "lower/lower.h"

typedef enum Around { IN_KERNEL, IN_FOR, IN_IF, IN_ELSE, IN_PIPELINE, IN_ACROSS, IN_GROUP, IN_ROLE, AROUND } Around;
static const char *const AROUNDS[AROUND] = {"kernel", "for", "if", "else", "pipeline", "pipeline across grid", "group", "role"};

static const char *const STATEMENTS[] = {[P_LET] = "let",           [P_VAR] = "var",       [P_SET] = "assignment", [P_FOR] = "for",
                                         [P_IF] = "if",             [P_GROUP] = "group",   [P_MOVE] = "",          [P_WAIT] = "wait",
                                         [P_WAIT_GROUP] = "wait group", [P_PIPELINE] = "pipeline", [P_ROLES] = "",   [P_ARRIVE] = "arrive",
                                         [P_EXPECT] = "expect",     [P_VIEW] = "view of the run"};
static const char *const MOVES[] = {
    [MOVE_LOAD] = "load",         [MOVE_STORE] = "store",     [MOVE_SHARED] = "move between tiles",       [MOVE_PEER] = "copy to a peer",
    [MOVE_PREFETCH] = "prefetch", [MOVE_FILL] = "fill",       [MOVE_TMEM_CP] = "copy into tensor memory", [MOVE_TMEM_LD] = "load of tensor memory",
    [MOVE_TMEM_ST] = "store into tensor memory", [MOVE_SHIFT] = "shift"};
enum { STATEMENT_KINDS = sizeof STATEMENTS / sizeof *STATEMENTS, MOVE_KINDS = sizeof MOVES / sizeof *MOVES };

/* Groups are of stores, pipelines in roles are loops; where the schedule is derived there is nothing explicit (SPEC.md, Its schedule, roles). */
static bool may_stand(Around a, int statement, int move)
{
    bool is_explicit = statement == P_WAIT || statement == P_WAIT_GROUP || statement == P_ARRIVE || statement == P_EXPECT || statement == P_GROUP;
    if (a == IN_GROUP) return statement == P_MOVE && move == MOVE_STORE;
    if (a == IN_ROLE && statement == P_PIPELINE) return false;
    return !is_explicit || (a != IN_PIPELINE && a != IN_ACROSS);
}

void nest_rows(void (*row)(const char *statement, const char *around))
{
    for (int a = 0; a < AROUND; a++) {
        for (int s = 0; s < STATEMENT_KINDS; s++)
            if (STATEMENTS[s][0] && may_stand((Around)a, s, 0)) row(STATEMENTS[s], AROUNDS[a]);
        for (int m = 0; m < MOVE_KINDS; m++)
            if (may_stand((Around)a, P_MOVE, m)) row(MOVES[m], AROUNDS[a]);
    }
}

static void count(const PBlock *b, Around a)
{
    for (const PStmt *s = b->first; s; s = s->next) {
        const char *name = s->kind == P_MOVE ? MOVES[s->move->kind] : STATEMENTS[s->kind];
        bool across = s->kind == P_PIPELINE && s->pipe->deal != DEAL_NONE;
        row_hit(ROW_NEST, "%s in %s", name, AROUNDS[a]);
        count(&s->body, s->kind == P_FOR ? IN_FOR : s->kind == P_IF ? IN_IF : s->kind == P_GROUP ? IN_GROUP : across ? IN_ACROSS : IN_PIPELINE);
        count(&s->other, IN_ELSE);
        for (uint32_t i = 0; i < s->roles.n; i++) count(&s->roles.v[i].body, IN_ROLE);
    }
}

IrKernel *__real_lower_kernel(Compilation *c, const PKernel *k, Text *plan);
IrKernel *__wrap_lower_kernel(Compilation *c, const PKernel *k, Text *plan);
IrKernel *__wrap_lower_kernel(Compilation *c, const PKernel *k, Text *plan)
{
    IrKernel *ir = __real_lower_kernel(c, k, plan);
    if (ir && covering()) count(&k->body, IN_KERNEL);
    return ir;
}
