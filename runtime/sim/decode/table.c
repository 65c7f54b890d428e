/* Plain instructions as rows, modifiers as words in groups.
 *
 * A word may be in several groups (`.and` combines predicates, reduces, and is a barrier's reduction); the row's
 * groups decide. Order of modifiers is not checked: only the order of types has a meaning.
 */
#include "runtime/sim/decode/decode.h"
#include "runtime/sim/decode/plain.h"

#include <inttypes.h>
#include <string.h>

/* ---- words ---- */
typedef struct Word {
    const char *word;
    uint8_t group, value;
} Word;

static const Word words[] = {
    {".rn", G_ROUND, FLAG_RN},
    {".rz", G_ROUND, FLAG_RZ},
    {".rm", G_ROUND, FLAG_RM},
    {".rp", G_ROUND, FLAG_RP},
    {".rna", G_ROUND, FLAG_RNA},
    {".rni", G_IROUND, FLAG_RN},
    {".rzi", G_IROUND, FLAG_RZ},
    {".rmi", G_IROUND, FLAG_RM},
    {".rpi", G_IROUND, FLAG_RP},
    {".ftz", G_FTZ, 0},
    {".sat", G_SAT, 0},
    {".satfinite", G_SATFINITE, 0},
    {".relu", G_RELU, 0},
    {".approx", G_APPROX, 0},
    {".full", G_APPROX, 1},
    {".cc", G_CC, 0},
    {".NaN", G_NAN, 0},
    {".xorsign", G_XORSIGN, 0},
    {".abs", G_ABS, 0},
    {".noftz", G_NOFTZ, 0},
    {".lo", G_PART, 0},
    {".hi", G_PART, 1},
    {".wide", G_PART, 2},
    {".eq", G_CMP, CMP_EQ},
    {".ne", G_CMP, CMP_NE},
    {".lt", G_CMP, CMP_LT},
    {".le", G_CMP, CMP_LE},
    {".gt", G_CMP, CMP_GT},
    {".ge", G_CMP, CMP_GE},
    {".equ", G_CMP, CMP_EQU},
    {".neu", G_CMP, CMP_NEU},
    {".ltu", G_CMP, CMP_LTU},
    {".leu", G_CMP, CMP_LEU},
    {".gtu", G_CMP, CMP_GTU},
    {".geu", G_CMP, CMP_GEU},
    {".num", G_CMP, CMP_NUM},
    {".nan", G_CMP, CMP_NAN},
    {".lo", G_CMP, CMP_LO},
    {".ls", G_CMP, CMP_LS},
    {".hi", G_CMP, CMP_HI},
    {".hs", G_CMP, CMP_HS},
    {".and", G_BOOL, 0},
    {".or", G_BOOL, 1},
    {".xor", G_BOOL, 2},
    {".l", G_SIDE, 0},
    {".r", G_SIDE, 1},
    {".clamp", G_WRAP, 0},
    {".wrap", G_WRAP, 1},
    {".f4e", G_PRMT, 0},
    {".b4e", G_PRMT, 1},
    {".rc8", G_PRMT, 2},
    {".ecl", G_PRMT, 3},
    {".ecr", G_PRMT, 4},
    {".rc16", G_PRMT, 5},
    {".shiftamt", G_AMOUNT, 0},
    {".global", G_SPACE, SPACE_GLOBAL},
    {".shared", G_SPACE, SPACE_SHARED},
    {".shared::cta", G_SPACE, SPACE_SHARED},
    {".shared::cluster", G_SPACE, SPACE_SHARED_CLUSTER},
    {".local", G_SPACE, SPACE_LOCAL},
    {".const", G_SPACE, SPACE_CONST},
    {".param", G_SPACE, SPACE_PARAM},
    {".param::entry", G_SPACE, SPACE_PARAM},
    {".nc", G_NC, 0},
    {".weak", G_SEM, 0},
    {".volatile", G_SEM, 1},
    {".relaxed", G_SEM, 2},
    {".acquire", G_SEM, 3},
    {".release", G_SEM, 4},
    {".acq_rel", G_SEM, 5},
    {".sc", G_SEM, 6},
    {".cta", G_SCOPE, 0},
    {".cluster", G_SCOPE, 1},
    {".gpu", G_SCOPE, 2},
    {".sys", G_SCOPE, 3},
    {".ca", G_CACHE, 0},
    {".cg", G_CACHE, 0},
    {".cs", G_CACHE, 0},
    {".lu", G_CACHE, 0},
    {".cv", G_CACHE, 0},
    {".wb", G_CACHE, 0},
    {".wt", G_CACHE, 0},
    {".L1::evict_normal", G_EVICT, 0},
    {".L1::evict_unchanged", G_EVICT, 0},
    {".L1::evict_first", G_EVICT, 0},
    {".L1::evict_last", G_EVICT, 0},
    {".L1::no_allocate", G_EVICT, 0},
    {".L2::evict_normal", G_EVICT, 0},
    {".L2::evict_first", G_EVICT, 0},
    {".L2::evict_last", G_EVICT, 0},
    {".L2::64B", G_EVICT, 0},
    {".L2::128B", G_EVICT, 0},
    {".L2::256B", G_EVICT, 0},
    {".L2::cache_hint", G_HINT, 0},
    {".v2", G_VEC, 2},
    {".v4", G_VEC, 4},
    {".v8", G_VEC, 8},
    {".sync", G_SYNC, 0},
    {".aligned", G_ALIGNED, 0},
    {".up", G_SHFL, 0},
    {".down", G_SHFL, 1},
    {".bfly", G_SHFL, 2},
    {".idx", G_SHFL, 3},
    {".all", G_VOTE, 0},
    {".any", G_VOTE, 1},
    {".uni", G_VOTE, 2},
    {".ballot", G_VOTE, 3},
    {".add", G_REDOP, RED_ADD},
    {".min", G_REDOP, RED_MIN},
    {".max", G_REDOP, RED_MAX},
    {".inc", G_REDOP, RED_INC},
    {".dec", G_REDOP, RED_DEC},
    {".and", G_REDOP, RED_AND},
    {".or", G_REDOP, RED_OR},
    {".xor", G_REDOP, RED_XOR},
    {".cas", G_REDOP, RED_CAS},
    {".exch", G_REDOP, RED_EXCH},
    {".to", G_TO, 0},
    {".uni", G_UNI, 0},
    {".idx", G_IDX, 0},
    {".finite", G_TESTP, 0},
    {".infinite", G_TESTP, 1},
    {".number", G_TESTP, 2},
    {".notanumber", G_TESTP, 3},
    {".normal", G_TESTP, 4},
    {".subnormal", G_TESTP, 5},
    {".mmio", G_MMIO, 0},
    {".cta", G_CTA, 0},
    {".sync", G_BAR, 0},
    {".arrive", G_BAR, 1},
    {".red", G_BAR, 2},
    {".popc", G_POPC, 0},
    {".unified", G_UNIFIED, 0},
    {".pack", G_PACK, 0},
    {".L1", G_LEVEL, 1},
    {".L2", G_LEVEL, 2},
    {".warp", G_WARP, 0},
    {".cta", G_MEMSCOPE, 0},
    {".gl", G_MEMSCOPE, 2},
    {".sys", G_MEMSCOPE, 3},
};

/* ---- rows ---- */
#define T(x) (1u << PTX_##x)
#define G(x) (UINT64_C(1) << G_##x)
#define T_INT (T(U16) | T(S16) | T(U32) | T(S32) | T(U64) | T(S64))
#define T_INT4 (T(U32) | T(S32) | T(U64) | T(S64))
#define T_SIGNED (T(S16) | T(S32) | T(S64))
#define T_BITS (T(B16) | T(B32) | T(B64))
#define T_HALF (T(F16) | T(F16X2) | T(BF16) | T(BF16X2))
#define T_FLOAT (T_HALF | T(F32) | T(F64))
#define T_16X2 (1u << ALU_U16X2 | 1u << ALU_S16X2)
#define T_MEMORY                                                                                                       \
    (T(B8) | T(U8) | T(S8) | T_BITS | T_INT | T(F16) | T(BF16) | T(F16X2) | T(BF16X2) | T(F32) | T(F64) | T(B128))
#define T_ALL (T_BITS | T_INT | T(U8) | T(S8) | T(B8) | T_HALF | T(F32) | T(F64))
#define T_CVT (T_ALL | 1u << ALU_TF32 | 1u << ALU_E4M3X2 | 1u << ALU_E5M2X2)
#define G_MEMORY (G(SPACE) | G(SEM) | G(SCOPE) | G(CACHE) | G(EVICT) | G(HINT) | G(VEC) | G(MMIO))
#define G_FLOATS (G(ROUND) | G(FTZ) | G(SAT) | G(RELU))

static const PlainRow rows[] = {
    /* integers */
    {"add", T_INT, G(SAT) | G(CC), 0, decode_add, SIM_ADD_U16, FAM_INT6, "ttt", 1},
    {"sub", T_INT, G(SAT) | G(CC), 0, decode_add, SIM_SUB_U16, FAM_INT6, "ttt", 1},
    {"addc", T_INT4, G(CC), 0, decode_add, SIM_ADDC, FAM_ONE, "ttt", 1},
    {"subc", T_INT4, G(CC), 0, decode_add, SIM_ADDC, FAM_ONE, "ttt", 1},
    {"add", T_16X2, 0, 0, decode_alu, SIM_ADD16X2, FAM_ONE, "ttt", 1},
    {"mul", T_INT, G(PART), G(PART), decode_mul, SIM_MULLO_U16, FAM_INT6, "ttt", 1},
    {"mad", T_INT, G(PART) | G(SAT) | G(CC), G(PART), decode_mul, SIM_MADLO_U16, FAM_INT6, "tttt", 1},
    {"madc", T_INT4, G(PART) | G(CC), G(PART), decode_mul, SIM_MADC, FAM_ONE, "tttt", 1},
    {"mul24", T(U32) | T(S32), G(PART), G(PART), decode_mul, SIM_MUL24, FAM_ONE, "ttt", 1},
    {"mad24", T(U32) | T(S32), G(PART) | G(SAT), G(PART), decode_mul, SIM_MAD24, FAM_ONE, "tttt", 1},
    {"sad", T_INT, 0, 0, decode_alu, SIM_SAD_U16, FAM_INT6, "tttt", 1},
    {"div", T_INT, 0, 0, decode_alu, SIM_DIV_U16, FAM_INT6, "ttt", 1},
    {"rem", T_INT, 0, 0, decode_alu, SIM_REM_U16, FAM_INT6, "ttt", 1},
    {"abs", T_SIGNED, 0, 0, decode_alu, SIM_ABS_S16, FAM_S3, "tt", 1},
    {"neg", T_SIGNED, 0, 0, decode_alu, SIM_NEG_S16, FAM_S3, "tt", 1},
    {"min", T_INT | T_16X2, G(RELU), 0, decode_minmax, SIM_MIN_U16, FAM_INT6, "ttt", 1},
    {"max", T_INT | T_16X2, G(RELU), 0, decode_minmax, SIM_MAX_U16, FAM_INT6, "ttt", 1},
    {"dp4a", T(U32) | T(S32), 0, 0, decode_dot, SIM_DP4A, FAM_ONE, "uuuu", 2},
    {"dp2a", T(U32) | T(S32), G(PART), G(PART), decode_dot, SIM_DP2A, FAM_ONE, "uuuu", 2},
    /* bits */
    {"and", T_BITS | T(PRED), 0, 0, decode_alu, SIM_AND_PRED, FAM_BITS4, "ttt", 1},
    {"or", T_BITS | T(PRED), 0, 0, decode_alu, SIM_OR_PRED, FAM_BITS4, "ttt", 1},
    {"xor", T_BITS | T(PRED), 0, 0, decode_alu, SIM_XOR_PRED, FAM_BITS4, "ttt", 1},
    {"not", T_BITS | T(PRED), 0, 0, decode_alu, SIM_NOT_PRED, FAM_BITS4, "tt", 1},
    {"cnot", T_BITS, 0, 0, decode_alu, SIM_CNOT_B16, FAM_BITS3, "tt", 1},
    {"shl", T_BITS, 0, 0, decode_alu, SIM_SHL_B16, FAM_BITS3, "ttu", 1},
    {"shr", T_BITS | T_INT, 0, 0, decode_alu, SIM_SHR_U16, FAM_INT6, "ttu", 1},
    {"shf", T(B32), G(SIDE) | G(WRAP), G(SIDE) | G(WRAP), decode_bits, SIM_SHF, FAM_ONE, "tttu", 1},
    {"popc", T(B32) | T(B64), 0, 0, decode_alu, SIM_POPC_B32, FAM_BITS2, "ut", 1},
    {"clz", T(B32) | T(B64), 0, 0, decode_alu, SIM_CLZ_B32, FAM_BITS2, "ut", 1},
    {"brev", T(B32) | T(B64), 0, 0, decode_alu, SIM_BREV_B32, FAM_BITS2, "tt", 1},
    {"bfind", T_INT4, G(AMOUNT), 0, decode_bits, SIM_BFIND_U32, FAM_INT4, "ut", 1},
    {"bfe", T_INT4, 0, 0, decode_alu, SIM_BFE_U32, FAM_INT4, "ttuu", 1},
    {"bfi", T(B32) | T(B64), 0, 0, decode_alu, SIM_BFI_B32, FAM_BITS2, "tttuu", 1},
    {"lop3", T(B32), 0, 0, decode_lop3, SIM_LOP3, FAM_ONE, "ttttu", 1},
    {"prmt", T(B32), G(PRMT), 0, decode_bits, SIM_PRMT, FAM_ONE, "tttt", 1},
    {"bmsk", T(B32), G(WRAP), G(WRAP), decode_bits, SIM_BMSK, FAM_ONE, "uuu", 1},
    {"szext", T(U32) | T(S32), G(WRAP), G(WRAP), decode_bits, SIM_SZEXT, FAM_ONE, "ttu", 1},
    /* comparison, selection */
    {"setp", T_BITS | T_INT | T_FLOAT, G(CMP) | G(BOOL) | G(FTZ), G(CMP), decode_setp, SIM_SETP, FAM_ONE, NULL, 1},
    {"set", T_BITS | T_INT | T_FLOAT, G(CMP) | G(BOOL) | G(FTZ), G(CMP), decode_set, SIM_SET, FAM_ONE, NULL, 2},
    {"selp", T_BITS | T_INT | T(F32) | T(F64), 0, 0, decode_alu, SIM_SELP, FAM_ONE, "tttp", 1},
    {"slct", T_BITS | T_INT | T(F32) | T(F64), G(FTZ), 0, decode_slct, SIM_SLCT_S32, FAM_ONE, "ttt", 2},
    /* floats */
    {"add", T_FLOAT, G_FLOATS, 0, decode_float, SIM_FADD, FAM_ONE, "ttt", 1},
    {"sub", T_FLOAT, G_FLOATS, 0, decode_float, SIM_FSUB, FAM_ONE, "ttt", 1},
    {"mul", T_FLOAT, G_FLOATS, 0, decode_float, SIM_FMUL, FAM_ONE, "ttt", 1},
    {"fma", T_FLOAT, G_FLOATS, G(ROUND), decode_float, SIM_FFMA, FAM_ONE, "tttt", 1},
    {"mad", T(F32) | T(F64), G_FLOATS, G(ROUND), decode_float, SIM_FFMA, FAM_ONE, "tttt", 1},
    {"div", T(F32) | T(F64), G(ROUND) | G(FTZ) | G(APPROX), G(ROUND) | G(APPROX), decode_float, SIM_FDIV, FAM_ONE,
     "ttt", 1},
    {"rcp", T(F32) | T(F64), G(ROUND) | G(FTZ) | G(APPROX), G(ROUND) | G(APPROX), decode_float, SIM_FRCP, FAM_ONE, "tt",
     1},
    {"sqrt", T(F32) | T(F64), G(ROUND) | G(FTZ) | G(APPROX), G(ROUND) | G(APPROX), decode_float, SIM_FSQRT, FAM_ONE,
     "tt", 1},
    {"rsqrt", T(F32) | T(F64), G(FTZ) | G(APPROX), G(APPROX), decode_float, SIM_FRSQRT, FAM_ONE, "tt", 1},
    {"sin", T(F32), G(FTZ) | G(APPROX), G(APPROX), decode_float, SIM_FSIN, FAM_ONE, "tt", 1},
    {"cos", T(F32), G(FTZ) | G(APPROX), G(APPROX), decode_float, SIM_FCOS, FAM_ONE, "tt", 1},
    {"lg2", T(F32), G(FTZ) | G(APPROX), G(APPROX), decode_float, SIM_FLG2, FAM_ONE, "tt", 1},
    {"ex2", T(F32) | T_HALF, G(FTZ) | G(APPROX), G(APPROX), decode_float, SIM_FEX2, FAM_ONE, "tt", 1},
    {"tanh", T(F32) | T_HALF, G(APPROX), G(APPROX), decode_float, SIM_FTANH, FAM_ONE, "tt", 1},
    {"min", T_FLOAT, G(FTZ) | G(NAN) | G(XORSIGN) | G(ABS), 0, decode_minmax, SIM_FMIN, FAM_ONE, "ttt", 1},
    {"max", T_FLOAT, G(FTZ) | G(NAN) | G(XORSIGN) | G(ABS), 0, decode_minmax, SIM_FMAX, FAM_ONE, "ttt", 1},
    {"abs", T_FLOAT, G(FTZ), 0, decode_float, SIM_FABS, FAM_ONE, "tt", 1},
    {"neg", T_FLOAT, G(FTZ), 0, decode_float, SIM_FNEG, FAM_ONE, "tt", 1},
    {"copysign", T(F32) | T(F64), 0, 0, decode_float, SIM_COPYSIGN, FAM_ONE, "ttt", 1},
    {"testp", T(F32) | T(F64), G(TESTP), G(TESTP), decode_bits, SIM_TESTP, FAM_ONE, "pt", 1},
    /* conversion, moves */
    {"cvt", T_CVT, G(ROUND) | G(IROUND) | G(FTZ) | G(SAT) | G(SATFINITE) | G(RELU) | G(PACK), 0, decode_cvt, SIM_CVT_FF,
     FAM_ONE, NULL, 3},
    {"mov", T_BITS | T_INT | T(PRED) | T(F16) | T(F16X2) | T(BF16) | T(BF16X2) | T(F32) | T(F64) | T(B128), 0, 0,
     decode_mov, SIM_MOV, FAM_ONE, NULL, 1},
    {"cvta", T(U32) | T(U64) | T(B64), G(SPACE) | G(TO), G(SPACE), decode_cvta, SIM_CVTA, FAM_ONE, NULL, 1},
    {"isspacep", 0, G(SPACE), G(SPACE), decode_isspacep, SIM_ISSPACEP, FAM_ONE, NULL, 0},
    /* control */
    {"ret", 0, G(UNI), 0, decode_exit, SIM_EXIT, FAM_ONE, NULL, 0},
    {"exit", 0, 0, 0, decode_exit, SIM_EXIT, FAM_ONE, NULL, 0},
    {"trap", 0, 0, 0, decode_exit, SIM_TRAP, FAM_ONE, NULL, 0},
    {"brkpt", 0, 0, 0, decode_exit, SIM_TRAP, FAM_ONE, NULL, 0},
    {"bra", 0, G(UNI), 0, decode_bra, SIM_BRA, FAM_ONE, NULL, 0},
    {"brx", 0, G(UNI) | G(IDX), G(IDX), decode_brx, SIM_BRX, FAM_ONE, NULL, 0},
    {"nanosleep", T(U32), 0, 0, decode_sleep, SIM_NOP, FAM_ONE, NULL, 1},
    {"pmevent", 0, 0, 0, decode_nop, SIM_NOP, FAM_ONE, NULL, 0},
    {"prefetch", 0, G(SPACE) | G(LEVEL) | G(EVICT), 0, decode_nop, SIM_NOP, FAM_ONE, NULL, 0},
    {"prefetchu", 0, G(LEVEL), G(LEVEL), decode_nop, SIM_NOP, FAM_ONE, NULL, 0},
    {"discard", 0, G(SPACE) | G(LEVEL), G(LEVEL), decode_nop, SIM_NOP, FAM_ONE, NULL, 0},
    {"applypriority", 0, G(SPACE) | G(EVICT), G(EVICT), decode_nop, SIM_NOP, FAM_ONE, NULL, 0},
    /* memory */
    {"ld", T_MEMORY, G_MEMORY | G(NC) | G(UNIFIED), 0, decode_ld, SIM_LD, FAM_ONE, NULL, 1},
    {"ldu", T_MEMORY, G(SPACE) | G(VEC), 0, decode_ld, SIM_LD, FAM_ONE, NULL, 1},
    {"st", T_MEMORY, G_MEMORY, 0, decode_st, SIM_ST, FAM_ONE, NULL, 1},
    {"atom", T_BITS | T_INT | T_FLOAT, G(SEM) | G(SCOPE) | G(SPACE) | G(REDOP) | G(NOFTZ) | G(HINT), G(REDOP),
     decode_atom, SIM_ATOM, FAM_ONE, NULL, 1},
    {"red", T_BITS | T_INT | T_FLOAT, G(SEM) | G(SCOPE) | G(SPACE) | G(REDOP) | G(NOFTZ) | G(HINT), G(REDOP),
     decode_atom, SIM_ATOM, FAM_ONE, NULL, 1},
    {"membar", 0, G(MEMSCOPE), G(MEMSCOPE), decode_membar, SIM_MEMBAR, FAM_ONE, NULL, 0},
    {"fence", 0, G(SEM) | G(SCOPE), G(SCOPE), decode_membar, SIM_MEMBAR, FAM_ONE, NULL, 0},
    /* warp and CTA */
    {"shfl", T(B32), G(SYNC) | G(SHFL), G(SYNC) | G(SHFL), decode_shfl, SIM_SHFL, FAM_ONE, NULL, 1},
    {"vote", T(PRED) | T(B32), G(SYNC) | G(VOTE), G(SYNC) | G(VOTE), decode_vote, SIM_VOTE, FAM_ONE, NULL, 1},
    {"match", T(B32) | T(B64), G(SYNC) | G(VOTE), G(SYNC) | G(VOTE), decode_match, SIM_MATCH, FAM_ONE, NULL, 1},
    {"redux", T(B32) | T(U32) | T(S32), G(SYNC) | G(REDOP), G(SYNC) | G(REDOP), decode_redux, SIM_REDUX, FAM_ONE, NULL,
     1},
    {"activemask", T(B32), 0, 0, decode_activemask, SIM_ACTIVEMASK, FAM_ONE, NULL, 1},
    {"bar", T(U32) | T(PRED), G(BAR) | G(BOOL) | G(POPC) | G(CTA) | G(ALIGNED), G(BAR), decode_bar, SIM_BAR, FAM_ONE,
     NULL, 1},
    {"barrier", T(U32) | T(PRED), G(BAR) | G(BOOL) | G(POPC) | G(CTA) | G(ALIGNED), G(BAR), decode_bar, SIM_BAR,
     FAM_ONE, NULL, 1},
    {"bar", 0, G(BAR) | G(CTA) | G(WARP), G(BAR), decode_bar, SIM_BAR, FAM_ONE, NULL, 0},
    {"barrier", 0, G(BAR) | G(CTA) | G(ALIGNED), G(BAR), decode_bar, SIM_BAR, FAM_ONE, NULL, 0},
};
enum { ROWS = sizeof rows / sizeof rows[0], WORDS = sizeof words / sizeof words[0] };

/* ---- look-up ---- */
static bool find_type(const char *word, uint8_t *out)
{
    static const struct {
        const char *word;
        uint8_t type;
    } more[] = {{".u16x2", ALU_U16X2},
                {".s16x2", ALU_S16X2},
                {".tf32", ALU_TF32},
                {".e4m3x2", ALU_E4M3X2},
                {".e5m2x2", ALU_E5M2X2}};
    PtxType t;
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) {
        if (!strcmp(word, more[i].word)) {
            *out = more[i].type;
            return true;
        }
    }
    if (!ptx_type_find(word, &t)) return false;
    *out = (uint8_t)t;
    return true;
}

/* The row of the opcode whose types have the first one written. */
static const PlainRow *find_row(Decoder *d, const Mods *m)
{
    const char *opcode = d->instr->opcode;
    bool known = false;
    for (size_t i = 0; i < ROWS; i++) {
        const PlainRow *r = &rows[i];
        if (strcmp(r->opcode, opcode)) continue;
        known = true;
        if (m->ntypes ? r->types >> m->type[0] & 1 : !r->types) return r;
    }
    if (!strcmp(opcode, "call")) decode_problem(d, "calls are not in the simulator");
    else if (!known) decode_problem(d, "the simulator does not know `%s`", opcode);
    else if (m->ntypes) decode_problem(d, "`%s` does not work on %s", opcode, decode_type_name(m->type[0]));
    else decode_problem(d, "`%s` lacks its type", opcode);
    return NULL;
}

static bool add_word(Decoder *d, Mods *m, const PlainRow *row, const char *word)
{
    const Word *w = NULL;
    for (size_t i = 0; i < WORDS && w == NULL; i++)
        if ((row->groups >> words[i].group & 1) && !strcmp(words[i].word, word)) w = &words[i];
    if (w == NULL) {
        decode_problem(d, "`%s` takes no `%s` in the simulator", row->opcode, word);
        return false;
    }
    if (m->got[w->group] && w->group != G_EVICT) {
        decode_problem(d, "`%s`: `%s` is one modifier too many of its kind", row->opcode, word);
        return false;
    }
    m->got[w->group] = (uint8_t)(w->value + 1);
    return true;
}

static const char *example(uint64_t missing)
{
    for (size_t i = 0; i < WORDS; i++)
        if (missing >> words[i].group & 1) return words[i].word;
    return "modifier";
}

/* ---- operands ---- */
/* Is the constant one that the row takes? */
static void constant(Decoder *d, const PtxOperand *o, uint32_t place, const PlainOperand *row)
{
    int64_t v = o->value;
    const char *name = d->instr->opcode;
    if (!row->multiple) decode_problem(d, "operand %u of `%s` is a register here, no constant", place + 1, name);
    if (row->low > row->high || o->kind != PTX_INT) return;
    if (v < row->low || v > row->high)
        decode_problem(d, "operand %u of `%s` is %" PRId64 ", not %" PRId64 " .. %" PRId64, place + 1, name, v,
                       row->low, row->high);
    else if (v % row->multiple)
        decode_problem(d, "operand %u of `%s` is %" PRId64 ", not a multiple of %" PRId64, place + 1, name, v,
                       row->multiple);
}

static void no_special(Decoder *d, const PtxOperand *o)
{
    decode_problem(d, "the special register `%s` does not belong here: `mov` and integer `cvt` read it", o->name);
}

/* Elements are registers, constants and, where `may` has them, special registers; `_` is one of several. */
static void elements(Decoder *d, const PtxOperand *o, int may)
{
    uint32_t sinks = 0;
    for (uint32_t i = 0; i < o->nitems; i++) {
        const PtxOperand *e = &o->items[i];
        sinks += e->kind == PTX_SINK;
        if (e->kind == PTX_SPECIAL && !(may & PLAIN_SPECIAL)) no_special(d, e);
        if (e->kind == PTX_SYMBOL) decode_problem(d, "an address does not belong into a vector");
    }
    if (sinks == o->nitems) decode_problem(d, "a vector of `_` alone does not belong here");
}

/* PTX ISA, the operands of each instruction; what none has a row for takes registers and constants. */
static void check_operand(Decoder *d, const PtxOperand *o, uint32_t place, const PlainOperand *row)
{
    int may = row ? row->may : 0;
    switch (o->kind) {
    case PTX_INT:
    case PTX_F32_BITS:
    case PTX_F64_BITS:
        if (row) constant(d, o, place, row);
        break;
    case PTX_SPECIAL:
        if (!(may & PLAIN_SPECIAL)) no_special(d, o);
        break;
    case PTX_SYMBOL:
        if (o->var && !(may & PLAIN_ADDRESS))
            decode_problem(d, "the address `%s` does not belong here: `mov` gives it to a register", o->name);
        break;
    case PTX_SINK:
        if (!(may & PLAIN_SINK)) decode_problem(d, "`_` does not belong here: this result cannot be dropped");
        break;
    case PTX_PAIR:
        if (!(may & PLAIN_PAIR)) decode_problem(d, "a pair with `|` does not belong here");
        else if (o->items[0].kind == PTX_SINK && (!(may & PLAIN_SINK_FIRST) || o->items[1].kind == PTX_SINK))
            decode_problem(d, "`_` does not belong here: this result cannot be dropped");
        break;
    case PTX_VECTOR: elements(d, o, may); break;
    default: break;
    }
}

/* Has PTX such an instruction, with such operands? (plain.def) */
static bool legal(Decoder *d)
{
    enum { MOST = 16 };
    const PtxInstr *in = d->instr;
    const char *word[MOST], *type[MOST];
    uint32_t nwords = 0, ntypes = 0, sm = d->module->target ? d->module->target->sm : UINT32_MAX;
    char why[160];
    for (uint32_t i = 0; i < in->nmods && nwords < MOST && ntypes < MOST; i++) {
        uint8_t t;
        if (find_type(in->mods[i], &t)) type[ntypes++] = in->mods[i];
        else word[nwords++] = in->mods[i];
    }
    if (!plain_legal(in->opcode, word, nwords, type, ntypes, d->module->version, sm, why, sizeof why)) {
        decode_problem(d, "PTX has no `%s`: %s", d->text, why);
        return false;
    }
    for (uint32_t i = 0; i < in->nopd; i++)
        check_operand(d, &in->opd[i], i, plain_operand(in->opcode, word, nwords, ntypes ? type[0] : NULL, i, in->nopd));
    return !d->bad;
}

const PlainRow *decode_row(Decoder *d, Mods *m)
{
    const PtxInstr *in = d->instr;
    *m = (Mods){0};
    for (uint32_t i = 0; i < in->nmods; i++) {
        uint8_t t;
        if (!find_type(in->mods[i], &t)) continue;
        if (m->ntypes < 4) m->type[m->ntypes] = t;
        m->ntypes++;
    }
    const PlainRow *row = find_row(d, m);
    if (row == NULL) return NULL;
    if (m->ntypes > row->ntypes) {
        decode_problem(d, "`%s` has too many types", row->opcode);
        return NULL;
    }
    uint64_t got = 0;
    for (uint32_t i = 0; i < in->nmods; i++) {
        uint8_t t;
        if (find_type(in->mods[i], &t)) continue;
        if (!add_word(d, m, row, in->mods[i])) return NULL;
    }
    for (int g = 0; g < G_COUNT; g++)
        if (m->got[g]) got |= UINT64_C(1) << g;
    /* div and its like: a rounding or .approx; everything else needs each */
    uint64_t either = G(ROUND) | G(APPROX), missing = row->needs & ~got;
    if ((row->needs & either) == either && (got & either)) missing &= ~either;
    if (missing) {
        decode_problem(d, "`%s` lacks a modifier such as `%s`", row->opcode, example(missing));
        return NULL;
    }
    return legal(d) ? row : NULL;
}

int decode_family(Family f, int type)
{
    bool sign = type >= PTX_S8 && type <= PTX_S64;
    uint32_t bytes = decode_bytes(type);
    int size = bytes <= 2 ? 0 : bytes == 4 ? 1 : 2;
    switch (f) {
    case FAM_INT6: return 2 * size + sign;
    case FAM_INT4: return (size == 2 ? 2 : 0) + sign;
    case FAM_S3:
    case FAM_BITS3: return size;
    case FAM_BITS4: return type == PTX_PRED ? 0 : size + 1;
    case FAM_BITS2: return size == 2;
    default: return 0;
    }
}
