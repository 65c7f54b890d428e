/* Operands: kinds, widths, ranges, numbers (PTX ISA, the sections of the instructions). */
#include <stdio.h>
#include <string.h>

#include "lang/limits.h"
#include "lang/maps/rules.h"
#include "runtime/ptx/forms_check.h"

/* ---- types ---- */

static int bits_of(PtxType t)
{
    return t == PTX_PRED ? 1 : 8 * ptx_type_bytes(t);
}

static bool is_float(PtxType t)
{
    return t >= PTX_F16 && t <= PTX_F64;
}

static bool is_untyped(PtxType t)
{
    return t >= PTX_B8 && t <= PTX_B128;
}

/* ".f32 register" */
static const char *type_name(PtxType t)
{
    static const char *const names[] = {
        [PTX_PRED] = ".pred",   [PTX_B8] = ".b8",     [PTX_B16] = ".b16",       [PTX_B32] = ".b32", [PTX_B64] = ".b64",
        [PTX_B128] = ".b128",   [PTX_U8] = ".u8",     [PTX_U16] = ".u16",       [PTX_U32] = ".u32", [PTX_U64] = ".u64",
        [PTX_S8] = ".s8",       [PTX_S16] = ".s16",   [PTX_S32] = ".s32",       [PTX_S64] = ".s64", [PTX_F16] = ".f16",
        [PTX_F16X2] = ".f16x2", [PTX_BF16] = ".bf16", [PTX_BF16X2] = ".bf16x2", [PTX_F32] = ".f32", [PTX_F64] = ".f64",
    };
    return (unsigned)t < PTX_NO_TYPE ? names[t] : "untyped";
}

static const char *space_name(PtxSpace s)
{
    static const char *const names[] = {
        [PTX_SPACE_REG] = "register", [PTX_SPACE_PARAM] = ".param",   [PTX_SPACE_GLOBAL] = ".global",
        [PTX_SPACE_CONST] = ".const", [PTX_SPACE_SHARED] = ".shared", [PTX_SPACE_LOCAL] = ".local",
    };
    return names[s];
}

/* ---- one value ---- */

typedef enum ValueClass { INTEGERS, ANY_CLASS, FLOATS_AND_BITS, PREDICATES } ValueClass;
typedef struct Want { /* what a place takes */
    int bits;
    ValueClass cls;
    bool no_constant;
    int64_t low, high; /* of constants; low > high: any */
    int64_t multiple;
} Want;
#define ANY_CONSTANT .low = 1, .high = 0

static void check_constant(FormCheck *c, const char *what, const Want *w, int64_t v)
{
    if (w->low <= w->high && (v < w->low || v > w->high))
        finding(c, E1411, "%s is %lld, but must be %lld .. %lld", what, (long long)v, (long long)w->low,
                (long long)w->high);
    else if (w->multiple && v % w->multiple != 0)
        finding(c, E1411, "%s is %lld, but must be a multiple of %lld", what, (long long)v, (long long)w->multiple);
}

static bool fits_class(const Want *w, PtxType t)
{
    switch (w->cls) {
    case INTEGERS: return !is_float(t) && t != PTX_PRED;
    case FLOATS_AND_BITS: return is_float(t) || is_untyped(t);
    case PREDICATES: return t == PTX_PRED;
    case ANY_CLASS: return t != PTX_PRED;
    }
    return false;
}

static const char *want_text(const Want *w)
{
    if (w->cls == PREDICATES) return "a predicate";
    switch (w->bits) {
    case 8: return "an 8-bit";
    case 16: return "a 16-bit";
    case 32: return w->cls == FLOATS_AND_BITS ? "a 32-bit floating-point" : "a 32-bit";
    case 64: return w->cls == FLOATS_AND_BITS ? "a 64-bit floating-point" : "a 64-bit";
    default: return "a 128-bit";
    }
}

static void check_value(FormCheck *c, const char *what, const Want *w, const PtxOperand *o)
{
    switch (o->kind) {
    case PTX_REG: {
        if (!o->var) return; /* not declared: reported as such */
        PtxType t = o->var->type;
        const char *noun = w->cls == PREDICATES ? "" : w->no_constant ? " register" : " register or a constant";
        if (o->negated || bits_of(t) != w->bits || !fits_class(w, t))
            finding(c, E1408, "%s is %s, a %s register, but must be %s%s", what, o->name, type_name(t), want_text(w),
                    noun);
        return;
    }
    case PTX_INT:
        if (w->no_constant || w->cls == FLOATS_AND_BITS)
            finding(c, E1408, "%s is a constant, but must be %s register", what, want_text(w));
        else check_constant(c, what, w, o->value);
        return;
    case PTX_F32_BITS:
    case PTX_F64_BITS:
        if (w->cls != FLOATS_AND_BITS)
            finding(c, E1408, "%s is a floating-point constant, but must be %s register or an integer", what,
                    want_text(w));
        return;
    case PTX_SINK: return; /* where the matcher lets it pass */
    default: finding(c, E1408, "%s must be %s register%s", what, want_text(w), w->no_constant ? "" : " or a constant");
    }
}

/* ---- addresses ---- */

static const char *space_wanted(PtxSpace want)
{
    return want == PTX_SPACE_SHARED ? ".shared" : want == PTX_SPACE_GLOBAL ? ".global" : space_name(want);
}

/* A name that is no variable is a label or a function; or unknown, which was reported. */
static void check_no_symbol(FormCheck *c, const char *what, PtxSpace want, const PtxOperand *o)
{
    if (c->i->unresolved || o->kind != PTX_SYMBOL) return;
    finding(c, E1408, "%s is %s, a label or a function, but must be in %s memory", what, o->name, space_wanted(want));
}

static void check_symbol(FormCheck *c, const char *what, PtxSpace want, const PtxVar *v)
{
    if (v->space == want) return;
    finding(c, E1408, "%s is %s, a %s variable, but must be in %s memory", what, v->name, space_name(v->space),
            space_wanted(want));
}

/* want: SHARED takes 32- and 64-bit registers, GLOBAL (and generic addresses) 64-bit ones. */
static void check_base(FormCheck *c, const char *what, PtxSpace want, bool generic, const PtxOperand *base)
{
    const PtxVar *v = base->var;
    if (!v) {
        check_no_symbol(c, what, want, base);
        return;
    }
    if (base->kind == PTX_SYMBOL) {
        check_symbol(c, what, want, v);
        return;
    }
    int bits = bits_of(v->type);
    bool narrow = want == PTX_SPACE_SHARED && !generic;
    if (is_float(v->type) || v->type == PTX_PRED || (bits != 64 && !(narrow && bits == 32)))
        finding(c, E1408, "%s is %s, a %s register, but %s address has %s bits", what, v->name, type_name(v->type),
                generic  ? "a generic"
                : narrow ? "a shared"
                         : "a global",
                narrow ? "32 (or 64)" : "64");
}

static PtxSpace address_space(const FormMatch *m, Placeholder ph)
{
    if (m->form == FORM_MAP_PREFETCH_PARAM) return PTX_SPACE_PARAM;
    if (m->form == FORM_MAP_PREFETCH_CONST) return PTX_SPACE_CONST;
    return ph == PH_GADDR || ph == PH_MAP ? PTX_SPACE_GLOBAL : PTX_SPACE_SHARED;
}

static void check_address(FormCheck *c, const Place *p)
{
    const PtxOperand *a = c->m->opd[p->ph];
    const PtxOperand *base = a->kind == PTX_ADDRESS ? &a->items[0] : a;
    const char *what = place_name(p);
    if (p->ph == PH_TADDR) {
        if (base->kind == PTX_SYMBOL) {
            finding(c, E1408, "%s must be a 32-bit register, not a name", what);
            return;
        }
        Want w = {.bits = 32, .no_constant = true, ANY_CONSTANT};
        check_value(c, what, &w, base);
        return;
    }
    bool generic = c->m->generic;
    if (c->m->form == FORM_ST_BULK && !generic && base->kind == PTX_SYMBOL) {
        finding(c, E1408, "%s must be a register here, not a name: ptxas takes names without .shared::cta only", what);
        return;
    }
    if (generic && base->kind == PTX_SYMBOL && base->var) { /* the linker makes the address of either generic */
        if (base->var->space != PTX_SPACE_GLOBAL || strncmp(c->i->opcode, "mbarrier", 8) == 0)
            check_symbol(c, what, PTX_SPACE_SHARED, base->var);
        return;
    }
    check_base(c, what, address_space(c->m, p->ph), generic, base);
}

/* ---- vectors ---- */

static void check_items(FormCheck *c, const char *what, const Want *w, const PtxOperand *v)
{
    for (uint32_t k = 0; k < v->nitems; k++) {
        if (v->items[k].kind == PTX_SINK) finding(c, E1408, "%s must not be `_`: only results are thrown away", what);
        else check_value(c, what, w, &v->items[k]);
    }
}

static void check_coordinates(FormCheck *c)
{
    const PtxOperand *v = c->m->opd[PH_COORDS];
    bool four = strstr(form_info(c->m->form)->ptx, "::gather4") || strstr(form_info(c->m->form)->ptx, "::scatter4");
    uint32_t n = four ? 5 : (uint32_t)c->m->dim;
    if (v->nitems != n)
        finding(c, E1417, "%u coordinate%s, but %s", (unsigned)v->nitems, v->nitems == 1 ? "" : "s",
                four     ? "gather4 and scatter4 have 5: a column and four rows"
                : n == 1 ? "a map of .1d has 1"
                : n == 2 ? "a map of .2d has 2"
                : n == 3 ? "a map of .3d has 3"
                : n == 4 ? "a map of .4d has 4"
                         : "a map of .5d has 5");
    Want w = {.bits = 32, ANY_CONSTANT};
    check_items(c, "a coordinate", &w, v);
}

/* That of a load or a prefetch. */
static const MapModeInfo *mode_of(InstrForm f)
{
    for (unsigned mode = 0; mode < MAP_MODE_COUNT; mode++) {
        const MapModeInfo *m = map_mode(mode);
        if (f == m->load[LOAD_CTA] || f == m->load[LOAD_CLUSTER] || f == m->load[LOAD_MULTICAST] || f == m->prefetch) return m;
    }
    return map_mode(MAP_TILED);
}

/* PTX ISA, Tensors, im2col modes: how many offsets, and their ranges. */
static void check_info(FormCheck *c)
{
    const PtxOperand *v = c->m->opd[PH_INFO];
    const MapModeInfo *mode = mode_of(c->m->form);
    bool wide = mode->halo_rows > 0;
    int dim = c->m->dim;
    uint32_t n = wide ? 2 : (uint32_t)(dim - 2);
    if (dim >= 3 && v->nitems != n) {
        if (wide) finding(c, E1417, "%u offsets, but im2col::w has 2: wHalo and wOffset", (unsigned)v->nitems);
        else finding(c, E1417, "%u offsets, but im2col of .%dd has %u", (unsigned)v->nitems, dim, (unsigned)n);
        return;
    }
    for (uint32_t k = 0; k < v->nitems; k++) {
        Want w = {.bits = 16, .low = 0, .high = map_offset_most(dim)};
        if (wide) w.high = k == 0 ? mode->halo_most : MAP_W_OFFSET_MOST;
        const char *what = wide ? k == 0 ? "wHalo" : "wOffset" : "an offset";
        if (v->items[k].kind == PTX_SINK) finding(c, E1408, "%s must not be `_`: only results are thrown away", what);
        else check_value(c, what, &w, &v->items[k]);
    }
}

static int number(const char *word)
{
    int n = 0;
    for (; word && *word >= '0' && *word <= '9' && n < 1000; word++) n = 10 * n + (*word - '0');
    return n;
}

/* Registers of a collective load or store; 0: any number. */
static uint32_t register_count(const FormMatch *m)
{
    uint32_t n = (uint32_t)number(m->word[PH_N]);
    const char *op = m->word[PH_OP];
    if (m->form == FORM_CLC_FIRST_CTA) return 4;
    if (m->form == FORM_LDMATRIX_B8 || m->form == FORM_LDMATRIX_B8_WIDEN) return 2 * n;
    if (op && strcmp(op, "16x128b") == 0) return 2 * n;
    if (op && strcmp(op, "16x256b") == 0) return 4 * n;
    return n;
}

static void check_registers(FormCheck *c)
{
    const PtxOperand *v = c->m->opd[PH_REGS];
    Want w = {.bits = 32, .cls = ANY_CLASS, .no_constant = true, ANY_CONSTANT};
    if (v->kind != PTX_VECTOR) {
        check_value(c, "the result", &w, v);
        return;
    }
    uint32_t n = register_count(c->m);
    if (v->nitems != n) {
        finding(c, E1407, "%u registers, but the form has %u", (unsigned)v->nitems, (unsigned)n);
        return;
    }
    bool tensor_memory = strncmp(c->i->opcode, "tcgen05", 7) == 0;
    bool needed = tensor_memory || strcmp(c->i->opcode, "stmatrix") == 0;
    if (tensor_memory && v->name) /* ptxas crashes */
        finding(c, E1408, "the registers must be in braces, not %s, a register of a vector type", v->name);
    uint32_t sinks = 0;
    for (uint32_t k = 0; k < n; k++) {
        sinks += v->items[k].kind == PTX_SINK;
        if (v->items[k].kind == PTX_SINK && needed) finding(c, E1408, "a register must be a 32-bit register, not `_`");
        else check_value(c, "a register", &w, &v->items[k]);
    }
    if (sinks == n && !needed) finding(c, E1408, "one of the registers at least must not be `_`");
}

/* ---- {value} ---- */

static Want typed(const char *type)
{
    Want w = {.bits = number(type + 1 + (type[0] == 'b' && type[1] == 'f')), .cls = INTEGERS, ANY_CONSTANT};
    if (type[0] == 'f') w.cls = FLOATS_AND_BITS;
    if (type[0] == 'b') w.cls = ANY_CLASS;
    return w;
}

/* The largest constants of tensormap.replace's fields (PTX ISA, tensormap.replace). */
static Want field_value(const FormMatch *m)
{
    static const struct {
        const char *field;
        int64_t most;
    } codes[] = {
        {"elemtype", 15}, {"interleave_layout", 2}, {"swizzle_mode", 4}, {"swizzle_atomicity", 3}, {"fill_mode", 1}};
    Want w = typed(m->word[PH_TYPE]);
    for (size_t k = 0; k < sizeof codes / sizeof codes[0]; k++) {
        if (strcmp(codes[k].field, m->word[PH_FIELD]) != 0) continue;
        w.low = 0;
        w.high = codes[k].most;
    }
    return w;
}

static bool needs_constant(const FormMatch *m)
{
    static const char *const fields[] = {"elemtype", "interleave_layout", "swizzle_mode", "swizzle_atomicity",
                                         "fill_mode"};
    switch (m->form) {
    case FORM_TC_LD_SPLIT:
    case FORM_TC_LD_SPLIT_PACK:
    case FORM_TC_ST_SPLIT:
    case FORM_TC_ST_SPLIT_UNPACK: return true;
    case FORM_MAP_REPLACE:
    case FORM_MAP_REPLACE_GLOBAL:
        for (size_t k = 0; k < sizeof fields / sizeof fields[0]; k++)
            if (strcmp(fields[k], m->word[PH_FIELD]) == 0) return true;
        return false;
    default: return false;
    }
}

static double float_of(const PtxOperand *o)
{
    double d;
    float f;
    uint32_t low = (uint32_t)o->value;
    memcpy(&f, &low, sizeof f);
    memcpy(&d, &o->value, sizeof d);
    return o->kind == PTX_F32_BITS ? (double)f : d;
}

static void check_fraction(FormCheck *c, const PtxOperand *o)
{
    if (o->kind == PTX_F32_BITS || o->kind == PTX_F64_BITS) {
        double f = float_of(o);
        if (!(f > 0 && f <= 1)) finding(c, E1411, "the fraction is %g, but must be above 0 and at most 1", f);
        return;
    }
    Want w = {.bits = 32, .cls = FLOATS_AND_BITS, ANY_CONSTANT};
    check_value(c, "the fraction", &w, o);
}

static void check_vector_value(FormCheck *c, const PtxOperand *v, const Want *w)
{
    uint32_t n = strcmp(c->m->word[PH_VEC], "v2") == 0 ? 2 : 4;
    if (n == 4 && w->bits == 64) finding(c, E1403, ".v4 does not go with .%s: at most 16 bytes", c->m->word[PH_TYPE]);
    else if (v->nitems != n)
        finding(c, E1407, "%u values, but .v%u has %u", (unsigned)v->nitems, (unsigned)n, (unsigned)n);
    else check_items(c, "a value", w, v);
}

static void check_operand_value(FormCheck *c)
{
    const FormMatch *m = c->m;
    const PtxOperand *o = m->opd[PH_VALUE];
    Want w = {.bits = 32, ANY_CONSTANT};
    if (needs_constant(m) && o->kind != PTX_INT) {
        finding(c, E1408, "the value must be a constant");
        return;
    }
    switch (m->form) {
    case FORM_POLICY_CREATE: check_fraction(c, o); return;
    case FORM_POLICY_CONVERT: w.bits = 64; break;
    case FORM_MAP_REPLACE:
    case FORM_MAP_REPLACE_GLOBAL: w = field_value(m); break;
    case FORM_ST_ASYNC:
    case FORM_ST_ASYNC_RELEASE:
    case FORM_ST_ASYNC_MMIO:
    case FORM_RED_ASYNC:
    case FORM_RED_ASYNC_RELEASE:
    case FORM_RED_ASYNC_MMIO: w = typed(m->word[PH_TYPE]); break;
    default: break;
    }
    if (m->word[PH_VEC]) check_vector_value(c, o, &w);
    else check_value(c, "the value", &w, o);
}

/* ---- the others ---- */

static bool is_copy(const FormCheck *c)
{
    return strcmp(c->i->opcode, "cp") == 0;
}

static Want want_size(const FormCheck *c)
{
    if (is_copy(c)) return (Want){.bits = 32, .low = 0, .high = 1048560, .multiple = 16};
    if (c->m->form == FORM_ST_BULK) return (Want){.bits = 64, .low = 0, .high = 16777216, .multiple = 8};
    return (Want){.bits = 32, ANY_CONSTANT};
}

static Want want_n(const FormMatch *m)
{
    switch (m->form) {
    case FORM_SETMAXNREG_INC:
    case FORM_SETMAXNREG_DEC: return (Want){.bits = 32, .low = 24, .high = 256, .multiple = 8};
    case FORM_TC_ALLOC: return (Want){.bits = 32, .low = 32, .high = 512, .multiple = 32};
    case FORM_TC_DEALLOC: return (Want){.bits = 32, .low = 32, .high = 512, .multiple = 32};
    default: return (Want){.bits = 32, .low = 0, .high = INT32_MAX};
    }
}

static Want want_register(const FormMatch *m)
{
    Want w = {.bits = 32, .no_constant = true, ANY_CONSTANT};
    switch (m->form) {
    case FORM_MAPA_64:
    case FORM_POLICY_CREATE:
    case FORM_POLICY_CREATE_ALL:
    case FORM_POLICY_RANGE:
    case FORM_POLICY_CONVERT: w.bits = 64; break;
    case FORM_MAPA_GENERIC: w.bits = strcmp(m->word[PH_TYPE], "u64") == 0 ? 64 : 32; break;
    case FORM_CLC_IS_CANCELED:
    case FORM_CLC_FIRST_CTA:
    case FORM_CLC_FIRST_CTA_DIM: w.bits = 128; break;
    default: break;
    }
    return w;
}

/* {src} of mapa and getctarank: an address that is no memory operand. */
static void check_mapped(FormCheck *c)
{
    const PtxOperand *o = c->m->opd[PH_SRC];
    InstrForm f = c->m->form;
    bool wide = f == FORM_MAPA_64 || f == FORM_GETCTARANK_64 ||
                (c->m->word[PH_TYPE] && strcmp(c->m->word[PH_TYPE], "u64") == 0);
    if (o->kind == PTX_SYMBOL) {
        if (o->var) check_symbol(c, "the source", PTX_SPACE_SHARED, o->var);
        else check_no_symbol(c, "the source", PTX_SPACE_SHARED, o);
        return;
    }
    Want w = {.bits = wide ? 64 : 32, .no_constant = true, ANY_CONSTANT};
    check_value(c, "the source", &w, o);
}

static void check_bare(FormCheck *c, const Place *p)
{
    const FormMatch *m = c->m;
    const PtxOperand *o = m->opd[p->ph];
    Want w;
    switch (p->ph) {
    case PH_INFO: check_info(c); return;
    case PH_REGS: check_registers(c); return;
    case PH_VALUE: check_operand_value(c); return;
    case PH_SRC: check_mapped(c); return;
    case PH_TADDR: check_address(c, p); return;
    case PH_SIZE: w = want_size(c); break;
    case PH_BYTES:
        w = (Want){.bits = 32, .low = 0, .high = MBARRIER_MOST};
        if (m->form == FORM_POLICY_RANGE) w = (Want){.bits = 32, ANY_CONSTANT};
        break;
    case PH_COUNT: w = (Want){.bits = 32, .low = 1, .high = MBARRIER_MOST}; break;
    case PH_N: w = want_n(m); break;
    case PH_PARITY: w = (Want){.bits = 32, .low = 0, .high = 1}; break;
    case PH_STATE: w = (Want){.bits = 64, .no_constant = true, ANY_CONSTANT}; break;
    case PH_PRED: w = (Want){.bits = 1, .cls = PREDICATES, .no_constant = true, ANY_CONSTANT}; break;
    case PH_REG: w = want_register(m); break;
    case PH_MASK: w = (Want){.bits = 16, .no_constant = m->form == FORM_TC_COMMIT_MULTICAST, .high = 65535}; break;
    case PH_POLICY:
    case PH_DESC: w = (Want){.bits = 64, ANY_CONSTANT}; break;
    case PH_ORDINAL: w = (Want){.bits = 32, .low = 0, .high = 4}; break;
    default: w = (Want){.bits = 32, ANY_CONSTANT}; break; /* rank */
    }
    check_value(c, place_name(p), &w, o);
    if (m->form == FORM_TC_ALLOC && p->ph == PH_N && o->kind == PTX_INT && (o->value & (o->value - 1)) != 0)
        finding(c, E1411, "the number of columns is %lld, but must be a power of 2", (long long)o->value);
}

/* PTX ISA, createpolicy: the primary part of a range is no larger than all of it. */
static void check_range(FormCheck *c)
{
    if (c->m->form != FORM_POLICY_RANGE) return;
    const PtxOperand *primary = c->m->opd[PH_SIZE], *total = c->m->opd[PH_BYTES];
    if (primary->kind == PTX_INT && total->kind == PTX_INT && (uint32_t)primary->value > (uint32_t)total->value)
        finding(c, E1411, "the primary size is %u, but must be at most the total size, %u", (unsigned)primary->value,
                (unsigned)total->value);
}

static void check_pair(FormCheck *c, const Place *p)
{
    static const Want pred = {.bits = 1, .cls = PREDICATES, .no_constant = true, ANY_CONSTANT};
    static const Want lane = {.bits = 32, .no_constant = true, ANY_CONSTANT};
    if (p->ph != PH_ALL) check_value(c, "the lane", &lane, c->m->opd[p->ph]);
    check_value(c, "the predicate", &pred, c->m->opd[p->ph2]);
}

void check_operands(FormCheck *c)
{
    check_range(c);
    Place places[MAX_PLACES];
    uint32_t n = form_places(c->m->form, c->m, places);
    for (uint32_t k = 0; k < n; k++) {
        const Place *p = &places[k];
        switch (p->kind) {
        case PLACE_ADDRESS: check_address(c, p); break;
        case PLACE_MAP:
            check_address(c, p);
            check_coordinates(c);
            break;
        case PLACE_BARE: check_bare(c, p); break;
        case PLACE_PAIR: check_pair(c, p); break;
        case PLACE_SINK:
        case PLACE_LITERAL: break;
        }
    }
}
