/* Instructions of lang/instructions.def: matched, checked against the module's target, their operands in slots.
 *
 * program.h lists what stands in FormOp.value[] of each form; the tables here are that list. Addresses are a slot and
 * an offset; a symbol's slot is a constant.
 */
#include "runtime/sim/decode/decode.h"

#include <string.h>

#include "runtime/sim/copies/maps.h"

/* ---- value[] ---- */
typedef enum Read {
    READ_END,
    READ_RESULT, /* a result; `_`: NO_SLOT */
    READ_VALUE,
    READ_ADDRESS, /* the slot of {src} again */
    READ_NONE     /* NO_SLOT: this form has no such operand */
} Read;
typedef struct Want {
    uint8_t read, ph, type;
} Want;
enum { WANTS = 6 };
typedef struct ValueRow {
    InstrForm form;
    Want want[WANTS];
} ValueRow;

#define RESULT(ph, type)                                                                                               \
    {                                                                                                                  \
        READ_RESULT, PH_##ph, PTX_##type                                                                               \
    }
#define VALUE(ph, type)                                                                                                \
    {                                                                                                                  \
        READ_VALUE, PH_##ph, PTX_##type                                                                                \
    }
#define NONE                                                                                                           \
    {                                                                                                                  \
        READ_NONE, 0, 0                                                                                                \
    }
#define ADDRESS                                                                                                        \
    {                                                                                                                  \
        READ_ADDRESS, 0, 0                                                                                             \
    }
#define ARRIVE                                                                                                         \
    {                                                                                                                  \
        RESULT(STATE, B64), VALUE(COUNT, U32)                                                                          \
    }
#define ARRIVE_EXPECT                                                                                                  \
    {                                                                                                                  \
        RESULT(STATE, B64), VALUE(BYTES, U32)                                                                          \
    }
#define WAIT                                                                                                           \
    {                                                                                                                  \
        RESULT(PRED, PRED), VALUE(PARITY, U32), VALUE(STATE, B64)                                                      \
    }

static const ValueRow value_rows[] = {
    {FORM_GROUP_WAIT, {VALUE(N, U32)}},
    {FORM_GROUP_WAIT_READ, {VALUE(N, U32)}},
    {FORM_MBAR_INIT, {VALUE(COUNT, U32)}},
    {FORM_MBAR_ARRIVE, ARRIVE},
    {FORM_MBAR_ARRIVE_PEER, ARRIVE},
    {FORM_MBAR_ARRIVE_STATE, ARRIVE},
    {FORM_MBAR_ARRIVE_COUNT, ARRIVE},
    {FORM_MBAR_ARRIVE_PEER_ANY, ARRIVE},
    {FORM_MBAR_ARRIVE_PEER_COUNT, ARRIVE},
    {FORM_MBAR_ARRIVE_NOCOMPLETE, ARRIVE},
    {FORM_MBAR_DROP, ARRIVE},
    {FORM_MBAR_DROP_COUNT, ARRIVE},
    {FORM_MBAR_DROP_PEER, ARRIVE},
    {FORM_MBAR_DROP_PEER_COUNT, ARRIVE},
    {FORM_MBAR_DROP_NOCOMPLETE, ARRIVE},
    {FORM_MBAR_ARRIVE_EXPECT, ARRIVE_EXPECT},
    {FORM_MBAR_ARRIVE_EXPECT_PEER, ARRIVE_EXPECT},
    {FORM_MBAR_ARRIVE_EXPECT_STATE, ARRIVE_EXPECT},
    {FORM_MBAR_ARRIVE_EXPECT_PEER_ANY, ARRIVE_EXPECT},
    {FORM_MBAR_DROP_EXPECT, ARRIVE_EXPECT},
    {FORM_MBAR_DROP_EXPECT_PEER, ARRIVE_EXPECT},
    {FORM_MBAR_EXPECT, {VALUE(BYTES, U32)}},
    {FORM_MBAR_EXPECT_ANY, {VALUE(BYTES, U32)}},
    {FORM_MBAR_EXPECT_PEER_ANY, {VALUE(BYTES, U32)}},
    {FORM_MBAR_COMPLETE, {VALUE(BYTES, U32)}},
    {FORM_MBAR_COMPLETE_PEER, {VALUE(BYTES, U32)}},
    {FORM_MBAR_COMPLETE_ANY, {VALUE(BYTES, U32)}},
    {FORM_MBAR_COMPLETE_PEER_ANY, {VALUE(BYTES, U32)}},
    {FORM_MBAR_TRY_WAIT, WAIT},
    {FORM_MBAR_TRY_WAIT_HINT, WAIT},
    {FORM_MBAR_TRY_WAIT_STATE, WAIT},
    {FORM_MBAR_TRY_WAIT_STATE_HINT, WAIT},
    {FORM_MBAR_TEST_WAIT, WAIT},
    {FORM_MBAR_TEST_WAIT_STATE, WAIT},
    {FORM_MBAR_PENDING_COUNT, {RESULT(REG, U32), VALUE(STATE, B64)}},
    {FORM_MAP_REPLACE, {VALUE(VALUE, NO_TYPE), VALUE(ORDINAL, U32)}},
    {FORM_MAP_REPLACE_GLOBAL, {VALUE(VALUE, NO_TYPE), VALUE(ORDINAL, U32)}},
    {FORM_MAPA, {RESULT(REG, NO_TYPE), ADDRESS}},
    {FORM_MAPA_64, {RESULT(REG, NO_TYPE), ADDRESS}},
    {FORM_MAPA_GENERIC, {RESULT(REG, NO_TYPE), ADDRESS}},
    {FORM_GETCTARANK, {RESULT(REG, U32), ADDRESS}},
    {FORM_GETCTARANK_64, {RESULT(REG, U32), ADDRESS}},
    {FORM_GETCTARANK_GENERIC, {RESULT(REG, U32), ADDRESS}},
    {FORM_SETMAXNREG_INC, {VALUE(N, U32)}},
    {FORM_SETMAXNREG_DEC, {VALUE(N, U32)}},
    {FORM_POLICY_CREATE, {RESULT(REG, B64), VALUE(VALUE, F32)}},
    {FORM_POLICY_CREATE_ALL, {RESULT(REG, B64), NONE}},
    {FORM_POLICY_RANGE, {RESULT(REG, B64), VALUE(BYTES, U32)}},
    {FORM_POLICY_CONVERT, {RESULT(REG, B64), VALUE(VALUE, B64)}},
    {FORM_CLC_IS_CANCELED, {RESULT(PRED, PRED), VALUE(REG, B128)}},
    {FORM_CLC_FIRST_CTA_DIM, {RESULT(REGS, B32), VALUE(REG, B128)}},
    {FORM_TC_ALLOC, {VALUE(N, U32)}},
    {FORM_TC_DEALLOC, {VALUE(N, U32)}},
};

static void add_value(Decoder *d, FormOp *f, Slot s)
{
    if (f->nvalues < FORM_VALUES_MAX) d->value[f->nvalues++] = s;
}

static Slot result(Decoder *d, const PtxOperand *o, int type)
{
    return o == NULL || o->kind == PTX_SINK ? NO_SLOT : decode_result(d, o, type, false);
}

static Slot source(Decoder *d, const PtxOperand *o, int type)
{
    return o == NULL ? NO_SLOT : decode_source(d, o, type, false);
}

/* One operand, or the elements of a vector. */
static void add_list(Decoder *d, FormOp *f, const PtxOperand *o, int type, bool is_result)
{
    if (o == NULL) return;
    uint32_t n = o->kind == PTX_VECTOR ? o->nitems : 1;
    for (uint32_t i = 0; i < n && i < FORM_VALUES_MAX; i++) {
        const PtxOperand *x = o->kind == PTX_VECTOR ? &o->items[i] : o;
        add_value(d, f, is_result ? result(d, x, type) : source(d, x, type));
    }
}

static void values(Decoder *d, FormOp *f, const FormMatch *m)
{
    for (size_t r = 0; r < sizeof value_rows / sizeof value_rows[0]; r++) {
        if (value_rows[r].form != f->form) continue;
        for (const Want *w = value_rows[r].want; w < value_rows[r].want + WANTS && w->read != READ_END; w++) {
            int type = w->type == PTX_NO_TYPE ? (int)f->type : w->type;
            switch (w->read) {
            case READ_RESULT: add_value(d, f, result(d, m->opd[w->ph], type)); break;
            case READ_VALUE: add_value(d, f, source(d, m->opd[w->ph], type)); break;
            case READ_ADDRESS: add_value(d, f, f->src); break;
            default: add_value(d, f, NO_SLOT); break;
            }
        }
        return;
    }
}

/* elect.sync lane|p, mask */
static void elect(Decoder *d, FormOp *f)
{
    const PtxInstr *in = d->instr;
    const PtxOperand *pair = in->nopd == 2 ? &in->opd[0] : NULL;
    if (pair == NULL || pair->kind != PTX_PAIR || pair->nitems != 2) {
        decode_problem(d, "`elect.sync` has a pair of results and a mask");
        return;
    }
    f->mask = decode_source(d, &in->opd[1], PTX_B32, false);
    add_value(d, f, result(d, &pair->items[1], PTX_PRED));
    add_value(d, f, f->mask);
    add_value(d, f, result(d, &pair->items[0], PTX_B32));
}

static void all_values(Decoder *d, FormOp *f, const FormMatch *m)
{
    const PtxOperand *regs = m->opd[PH_REGS];
    switch (f->form) {
    case FORM_ST_ASYNC:
    case FORM_ST_ASYNC_RELEASE:
    case FORM_ST_ASYNC_MMIO:
    case FORM_RED_ASYNC:
    case FORM_RED_ASYNC_RELEASE:
    case FORM_RED_ASYNC_MMIO: add_list(d, f, m->opd[PH_VALUE], (int)f->type, false); break;
    case FORM_ELECT:
    case FORM_ELECT_ANY: elect(d, f); break;
    case FORM_CLC_FIRST_CTA:
        add_list(d, f, regs, PTX_B32, true);
        add_value(d, f, source(d, m->opd[PH_REG], PTX_B128));
        break;
    case FORM_LDMATRIX:
    case FORM_LDMATRIX_TRANS:
    case FORM_LDMATRIX_B8:
    case FORM_LDMATRIX_B8_WIDEN:
    case FORM_LDMATRIX_ROWS_WIDEN:
    case FORM_TC_LD:
    case FORM_TC_LD_PACK:
    case FORM_TC_LD_SPLIT:
    case FORM_TC_LD_SPLIT_PACK: add_list(d, f, regs, PTX_B32, true); break;
    case FORM_STMATRIX:
    case FORM_STMATRIX_TRANS:
    case FORM_STMATRIX_B8:
    case FORM_TC_ST:
    case FORM_TC_ST_UNPACK:
    case FORM_TC_ST_SPLIT:
    case FORM_TC_ST_SPLIT_UNPACK: add_list(d, f, regs, PTX_B32, false); break;
    default: values(d, f, m); break;
    }
}

/* ---- the other operands ---- */
static Slot address(Decoder *d, const PtxOperand *o, PtxSpace space, int64_t *offset)
{
    return o == NULL ? NO_SLOT : decode_address(d, o, space, space == PTX_SPACE_SHARED, offset);
}

static void addresses(Decoder *d, FormOp *f, const FormMatch *m)
{
    PtxSpace shared = m->generic ? PTX_SPACE_REG : PTX_SPACE_SHARED, map = PTX_SPACE_REG;
    if (f->form == FORM_MAP_PREFETCH_PARAM) map = PTX_SPACE_PARAM;
    if (f->form == FORM_MAP_PREFETCH_CONST) map = PTX_SPACE_CONST;
    f->dst = address(d, m->opd[PH_DST], shared, &f->dst_off);
    f->src = address(d, m->opd[PH_SRC], shared, &f->src_off);
    f->mbar = address(d, m->opd[PH_MBAR], shared, &f->mbar_off);
    f->map = address(d, m->opd[PH_MAP], map, &f->map_off);
    f->gaddr = address(d, m->opd[PH_GADDR], m->generic ? PTX_SPACE_REG : PTX_SPACE_GLOBAL, &f->gaddr_off);
    f->taddr = address(d, m->opd[PH_TADDR], PTX_SPACE_SHARED, &f->taddr_off);
}

static uint8_t list(Decoder *d, const PtxOperand *o, int type, Slot *out, uint32_t most)
{
    if (o == NULL) return 0;
    if (o->kind != PTX_VECTOR || o->nitems > most) {
        decode_problem(d, "a vector of at most %u elements belongs here", most);
        return 0;
    }
    for (uint32_t i = 0; i < o->nitems; i++) out[i] = decode_source(d, &o->items[i], type, false);
    return (uint8_t)o->nitems;
}

static bool is_split(InstrForm f)
{
    return f == FORM_TC_LD_SPLIT || f == FORM_TC_LD_SPLIT_PACK || f == FORM_TC_ST_SPLIT || f == FORM_TC_ST_SPLIT_UNPACK;
}

static void other_operands(Decoder *d, FormOp *f, const FormMatch *m)
{
    f->ncoords = list(d, m->opd[PH_COORDS], PTX_S32, f->coords, 5);
    f->ninfo = list(d, m->opd[PH_INFO], PTX_B16, f->info, 3);
    f->size = source(d, m->opd[PH_SIZE], f->form == FORM_ST_BULK ? PTX_U64 : PTX_U32);
    f->mask = source(d, m->opd[PH_MASK], PTX_B16);
    f->policy = source(d, m->opd[PH_POLICY], PTX_B64);
    f->rank = source(d, m->opd[PH_RANK], PTX_U32);
    f->desc = source(d, m->opd[PH_DESC], PTX_B64);
    f->half = is_split(f->form) ? source(d, m->opd[PH_VALUE], PTX_U32) : NO_SLOT;
}

/* ---- modifiers ---- */
static bool is_word(const FormMatch *m, Placeholder ph, const char *word)
{
    return m->word[ph] != NULL && !strcmp(m->word[ph], word);
}

static PtxType type_of(const FormMatch *m, InstrForm form)
{
    char dotted[16];
    PtxType t = PTX_NO_TYPE;
    const char *word = m->word[PH_TYPE];
    if (form == FORM_MAPA || form == FORM_GETCTARANK) return PTX_U32;
    if (form == FORM_MAPA_64 || form == FORM_GETCTARANK_64) return PTX_U64;
    if (word == NULL || strlen(word) + 2 > sizeof dotted) return PTX_NO_TYPE;
    dotted[0] = '.';
    strcpy(dotted + 1, word);
    return ptx_type_find(dotted, &t) ? t : PTX_NO_TYPE;
}

static uint8_t operation(const FormMatch *m)
{
    static const char *const names[RED_OP_COUNT] = {
        [RED_ADD] = "add", [RED_MIN] = "min", [RED_MAX] = "max", [RED_INC] = "inc", [RED_DEC] = "dec",
        [RED_AND] = "and", [RED_OR] = "or",   [RED_XOR] = "xor", [RED_CAS] = "cas", [RED_EXCH] = "exch"};
    const char *word = m->word[PH_OP];
    for (int i = 0; word != NULL && i < RED_OP_COUNT; i++)
        if (!strncmp(word, names[i], strlen(names[i]))) return (uint8_t)i;
    return RED_ADD;
}

static uint8_t tmem_shape(const FormMatch *m)
{
    static const char *const names[] = {
        [TMEM_32X32B] = "32x32b", [TMEM_16X64B] = "16x64b", [TMEM_16X128B] = "16x128b", [TMEM_16X256B] = "16x256b"};
    if (is_split(m->form)) return TMEM_16X32BX2;
    for (uint8_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (is_word(m, PH_OP, names[i])) return i;
    return TMEM_32X32B;
}

static void modifiers(const PtxInstr *in, FormOp *f, const FormMatch *m)
{
    static const char *const scopes[] = {"cta", "cluster", "gpu", "sys"};
    static const char *const fields[REPLACE_COUNT] = {
        [REPLACE_ADDRESS] = "global_address", [REPLACE_RANK] = "rank",
        [REPLACE_BOX] = "box_dim",            [REPLACE_DIM] = "global_dim",
        [REPLACE_STRIDE] = "global_stride",   [REPLACE_STEP] = "element_stride",
        [REPLACE_TYPE] = "elemtype",          [REPLACE_INTERLEAVE] = "interleave_layout",
        [REPLACE_SWIZZLE] = "swizzle_mode",   [REPLACE_ATOM] = "swizzle_atomicity",
        [REPLACE_FILL] = "fill_mode"};
    const char *fmt = m->word[PH_FMT];
    f->dim = (uint8_t)m->dim;
    if (!f->dim && m->opd[PH_COORDS]) f->dim = 2; /* gather4, scatter4 */
    f->type = type_of(m, m->form);
    f->op = operation(m);
    f->noftz = ptx_has_mod(in, ".noftz");
    /* mbarrier operations without a scope: .cta says the PTX ISA, but libraries hand data between CTAs by them. */
    f->cluster = is_word(m, PH_SCOPE, "cluster") || !ptx_has_mod(in, ".cta");
    if (strcmp(in->opcode, "mapa") == 0 || strcmp(in->opcode, "getctarank") == 0)
        f->cluster = ptx_has_mod(in, ".shared::cluster");
    f->aligned = ptx_has_mod(in, ".aligned");
    f->relaxed = is_word(m, PH_SEM, "relaxed") || ptx_has_mod(in, ".relaxed");
    f->group2 = ptx_has_mod(in, ".cta_group::2");
    f->hint = m->word[PH_HINT] != NULL;
    f->shape = tmem_shape(m);
    f->axis = is_word(m, PH_OP, "y") ? 1 : is_word(m, PH_OP, "z") ? 2 : 0;
    if (fmt != NULL) f->fmt = strstr(fmt, "b6x16_p32") ? 1 : strstr(fmt, "b4x16_p64") ? 2 : 0;
    for (uint8_t i = 0; i < 4; i++)
        if (is_word(m, PH_SCOPE, scopes[i])) f->fence = i;
    for (uint8_t i = 0; i < REPLACE_COUNT; i++)
        if (is_word(m, PH_FIELD, fields[i])) f->field = i;
}

/* ---- the whole ---- */
static void report(void *user, const FormFinding *f)
{
    if (f->is_error) decode_problem(user, "%s", f->text);
}

void decode_form(Decoder *d)
{
    FormMatch m;
    ErrorCode code;
    char why[400];
    if (!form_match(d->instr, &m, &code, why, sizeof why)) {
        decode_problem(d, "%s", why);
        return;
    }
    if (d->module->target != NULL && form_check(d->instr, &m, d->module->target, d->module->version, report, d)) return;
    FormOp f = {.form = m.form,
                .dst = NO_SLOT,
                .src = NO_SLOT,
                .map = NO_SLOT,
                .mbar = NO_SLOT,
                .gaddr = NO_SLOT,
                .size = NO_SLOT};
    modifiers(d->instr, &f, &m);
    addresses(d, &f, &m);
    other_operands(d, &f, &m);
    all_values(d, &f, &m);
    SimOp *op = decode_emit(d, SIM_FORM);
    op->imm = d->forms.n;
    if (f.nvalues) {
        Slot *v = arena_array(d->arena, Slot, f.nvalues);
        memcpy(v, d->value, f.nvalues * sizeof *v);
        f.value = v;
    }
    vec_push(d->arena, &d->forms, f);
}
