/* Work that is drawn, from the launch's counter of tickets or from the grid's clusters: each loop that a draw ends does end, and the
 * counter is drawn from as often as ticket.next says.
 *
 * A team, which is a cluster, begins with its own number and goes on with what it draws, and the number of teams more; it leaves at
 * the first number that is not below a bound, in front of the draw. So the teams draw for each number below the bound once: as often
 * as ticket.next is told if that is the bound. Of clusters one is asked for in each turn, and the turn that gets none is the last. */
#include "lower/verify/tree/facts.h"

typedef struct Loop { /* a repeat: the one draw and the one break that stand in it, and in no block within */
    uint32_t at, draw, leave;
} Loop;

static bool draws(const IrOp *op)
{
    return op->op == IR_TICKET || op->op == IR_CLC_NEXT;
}

static const IrOp *made_by(const TreeFacts *f, const IrArg *arg, IrOpcode op)
{
    const IrOp *x = arg && arg->kind == IRA_VAL ? tree_definition(f, tree_uncast(f, arg->id)) : NULL;
    return x && x->op == op ? x : NULL;
}

static bool is_imm(const IrArg *arg, int64_t k)
{
    return arg->kind == IRA_IMM && arg->imm == k;
}

static bool same(const TreeFacts *f, const IrArg *a, const IrArg *b)
{
    if (a->kind != b->kind) return false;
    return a->kind == IRA_VAL ? tree_uncast(f, a->id) == tree_uncast(f, b->id) : a->kind == IRA_IMM && a->imm == b->imm;
}

/* The register over the CTAs of a cluster in a row: the number of the own team, or of teams. */
static bool of_teams(const TreeFacts *f, const IrArg *arg, IrReg reg)
{
    uint32_t ctas = f->k->mf.cluster[0];
    const IrOp *over = ctas > 1 ? made_by(f, arg, IR_DIV) : NULL;
    if (ctas > 1 && (over == NULL || !is_imm(ir_find(over, IRK_B), ctas))) return false;
    const IrOp *from = made_by(f, over ? ir_find(over, IRK_A) : arg, IR_SREG);
    return from && ir_find(from, IRK_REG)->id == reg;
}

static bool in_a_row(const MfKernel *mf)
{
    bool row = true;
    for (int d = 1; d < 3; d++) {
        const LxNode *n = &mf->lx.nodes.v[mf->grid[d] - 1];
        row = row && n->op == LX_CONST && n->k == mf->cluster[d];
    }
    return row;
}

/* By one thread of a team: an op that one thread does. */
static bool by_one_of_team(const TreeFacts *f, const IrOp *op)
{
    uint32_t ranks = 0;
    for (uint32_t s = 0; s < f->ctas; s++) {
        TreeWhen when = tree_when(f, op, s);
        ranks += when == WHEN_NEVER ? 0 : when == WHEN_ALWAYS ? 1 : 2;
    }
    return ranks == 1;
}

/* What is read from the ring in each turn: the number, the same that all writes to it have. NULL: not known. */
const IrArg *tree_handed(const TreeFacts *f, const IrOp *op)
{
    const IrArg *turn = ir_part(op, ir_find(op, IRK_SRC), IRK_SLOT), *number = NULL;
    const TreeRing *r = turn && turn->kind == IRA_TURN ? &f->ring[turn->id] : NULL;
    for (uint32_t i = 0; r && i < r->access.n; i++) {
        const TreeAccess *x = &f->access.v[r->access.v[i]];
        const IrOp *by = tree_op(f, x->op);
        if (!x->write) continue;
        const IrArg *a = by->op == IR_STS || by->op == IR_ST_ASYNC ? ir_find(by, IRK_A) : NULL;
        if (a == NULL || (number && !same(f, a, number))) return NULL;
        number = a;
    }
    return number;
}

/* What one agent has is what the others read from the ring: written in front, in the same turn. */
static bool hands(const TreeFacts *f, uint32_t at)
{
    const IrOp *op = tree_op(f, at);
    const IrArg *number = tree_handed(f, op);
    if (number == NULL || !same(f, ir_find(op, IRK_A), number)) return false;
    const TreeRing *r = &f->ring[ir_part(op, ir_find(op, IRK_SRC), IRK_SLOT)->id];
    for (uint32_t i = 0; i < r->access.n; i++) {
        const TreeAccess *x = &f->access.v[r->access.v[i]];
        if (x->write && (x->op > at || f->at[x->op].around != f->at[at].around || tree_op(f, x->op)->guard.pred)) return false;
    }
    return true;
}

/* The variable that a turn's number is, and -1 where that is not below what ticket.next is told. */
static bool is_number(const TreeFacts *f, const Loop *l, const IrArg *arg, uint32_t *var)
{
    const IrOp *pick = made_by(f, arg, IR_SEL), *below = pick ? made_by(f, ir_find(pick, IRK_COND), IR_CMP) : NULL;
    if (below == NULL || ir_find(below, IRK_REL)->id != IRL_LT || !is_imm(ir_find(pick, IRK_B), -1)) return false;
    const IrArg *number = ir_find(below, IRK_A);
    const IrOp *get = made_by(f, number, IR_GET);
    if (get == NULL || !same(f, number, ir_find(pick, IRK_A)) || !same(f, ir_find(below, IRK_B), ir_find(tree_op(f, l->draw), IRK_B))) return false;
    *var = ir_find(get, IRK_VAR)->id;
    uint32_t at = f->defined[get->dst - 1];
    return at && f->at[at - 1].around == l->at + 1;
}

/* Before the loop the team's own number, and behind each draw the next one. */
static bool goes_on(const TreeFacts *f, const Loop *l, uint32_t var)
{
    uint32_t sets = 0, begins = 0;
    for (uint32_t i = 0; i < f->tree->ops.n; i++) {
        const IrOp *op = tree_op(f, i);
        if ((op->op != IR_SET && op->op != IR_VAR) || ir_find(op, IRK_VAR)->id != var) continue;
        const IrOp *sum = op->op == IR_SET ? made_by(f, ir_find(op, IRK_A), IR_ADD) : NULL;
        if (op->guard.pred) return false;
        if (op->op == IR_VAR && i < l->at && of_teams(f, ir_find(op, IRK_A), IRR_CTAID_X)) begins++;
        else if (sum && f->at[i].around == l->at + 1 && made_by(f, ir_find(sum, IRK_A), IR_TICKET) && of_teams(f, ir_find(sum, IRK_B), IRR_NCTAID_X)) sets++;
        else return false;
    }
    return sets == 1 && begins == 1;
}

static bool ends_by_ticket(const TreeFacts *f, const Loop *l, const IrArg *answer)
{
    const IrOp *read = made_by(f, answer, IR_LDS), *own = made_by(f, answer, IR_HAND);
    uint32_t var = 0;
    if (own) read = own;
    const IrArg *number = read ? tree_handed(f, read) : answer;
    return number && l->leave < l->draw && in_a_row(&f->k->mf) && is_number(f, l, number, &var) && goes_on(f, l, var);
}

/* Nobody who has seen that there is none asks again: that is undefined (PTX ISA, clusterlaunchcontrol.try_cancel). */
static bool ends_by_answer(const TreeFacts *f, const Loop *l, const IrArg *answer)
{
    const IrOp *id = made_by(f, answer, IR_CLC_ID);
    const IrArg *src = id ? ir_find(id, IRK_SRC) : NULL, *turn = src ? ir_part(id, src, IRK_SLOT) : NULL;
    if (turn == NULL || turn->kind != IRA_TURN || l->leave < l->draw) return false;
    const TreeRing *r = &f->ring[turn->id];
    bool only = true;
    for (uint32_t i = 0; i < r->access.n; i++) only = only && (!f->access.v[r->access.v[i]].write || f->access.v[r->access.v[i]].op == l->draw);
    return only;
}

static bool ends(const TreeFacts *f, uint32_t at)
{
    Loop l = {.at = at};
    uint32_t left = 0;
    for (uint32_t i = at + 1; i < f->at[at].end; i++) {
        const IrOp *op = tree_op(f, i);
        if (f->at[i].around == at + 1 && op->op == IR_BREAK) l.leave = i, left++;
        if (f->at[i].around == at + 1 && draws(op)) l.draw = i;
    }
    if (left != 1 || l.draw == 0 || !by_one_of_team(f, tree_op(f, l.draw))) return false;
    const IrOp *cond = made_by(f, ir_find(tree_op(f, l.leave), IRK_COND), IR_CMP);
    if (cond == NULL || ir_find(cond, IRK_REL)->id != IRL_LT || !is_imm(ir_find(cond, IRK_B), 0)) return false;
    const IrArg *answer = ir_find(cond, IRK_A);
    return tree_op(f, l.draw)->op == IR_TICKET ? ends_by_ticket(f, &l, answer) : ends_by_answer(f, &l, answer);
}

uint32_t tree_draws(const TreeFacts *f)
{
    uint32_t drawn = 0;
    for (uint32_t i = 0; i < f->tree->ops.n; i++) {
        const IrOp *op = tree_op(f, i);
        uint32_t block = f->at[i].around;
        bool repeated = block && tree_op(f, block - 1)->op == IR_REPEAT;
        if (draws(op) && (!repeated || ++drawn > 1)) return i;
        if (op->op == IR_HAND && !hands(f, i)) return i;
        if (op->op == IR_REPEAT && (block || !ends(f, i))) return i; /* once: behind its end it would draw again */
    }
    return UINT32_MAX;
}
