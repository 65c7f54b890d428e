/* ptxgen: async IR -> PTX text (with the launch manifest inside) -> cubin.
 *
 * emit*.c     one function per IR op, instructions from the templates of lang/instructions.def (see emit.h)
 * assemble.c  nvJitLink in process (asm_nvjitlink.c), else ptxas (asm_ptxas.c); messages mapped back to .tile lines
 * cache/      what was compiled before, on the disk
 * compile.c   the table of contents of the whole compiler (tilecc.h)
 */
#ifndef PTXGEN_PTXGEN_H
#define PTXGEN_PTXGEN_H

#include "lower/ir/ir.h"
#include "tilecc.h"

typedef struct PtxOptions {
    bool lineinfo;
    Sources *sources;    /* for a comment per statement, and .loc; NULL: without */
    const char *source_path;
    uint64_t source_hash;
} PtxOptions;

/* One PTX line that came from a source statement: to map the assembler's messages back. */
typedef struct PtxLine {
    uint32_t line; /* of the PTX text, 1-based: this and the following lines until the next entry */
    Span span;
} PtxLine;
typedef VEC(PtxLine) PtxLines;

/* In two steps so that a large module needs little memory at once: header, then each kernel as soon as it is lowered
 * (its IR may be dropped afterwards; its part of the manifest is already in words), then the end.
 * Kernels are as ir_check wants them. The text is deterministic to the byte. .version and .target are filled in at the end from what was used.
 * The writer's text and lines are the allocator's, not the arena's: after an allocation failed in any of these,
 * ptx_free is still the caller's to call. */
typedef struct PtxWriter PtxWriter;
PtxWriter *ptx_begin(Arena *a, Mem *mem, const IrModule *m, const PtxOptions *opt);
void ptx_kernel(PtxWriter *w, const IrKernel *k);
/* The first instruction so far that the target does not have, and its statement; false: there is none. */
bool ptx_illegal(const PtxWriter *w, InstrForm *form, Span *span);
/* The finished text stays owned by the writer. *version receives the .version chosen (86 = 8.6). */
const char *ptx_end(PtxWriter *w, size_t *size, PtxLines *lines, unsigned *version);
void ptx_free(PtxWriter *w);

/* Where the assembler is looked for, the first that is there:
 *   nvJitLink  `nvjitlink`, else TILECC_NVJITLINK, else libnvJitLink.so.13, .so.12, .so as the loader finds them,
 *              $CUDA_HOME/lib64, $CUDA_PATH/lib64, /usr/local/cuda/lib64
 *   ptxas      `ptxas`, else TILECC_PTXAS, else $CUDA_HOME/bin, $CUDA_PATH/bin, /usr/local/cuda/bin, PATH
 * A path that is given, by option or by TILECC_*, is the only one tried. TILECC_ASM_AUTO takes nvJitLink, and ptxas
 * where that is missing or too old for the target. */
typedef struct AsmOptions {
    const char *arch;    /* "sm_90a" */
    bool lineinfo;
    tilecc_assembler which;
    const char *ptxas, *nvjitlink; /* or NULL */
} AsmOptions;
typedef struct AsmResult {
    tilecc_status status;   /* OK, ERROR_TOOL (no assembler, or PTX refused) */
    const char *message;    /* one sentence; names everything that was tried if none was found */
    const char *log;        /* the assembler's own text, lines mapped to .tile places where known */
    void *cubin;            /* in the arena */
    size_t size;
    const char *assembler;  /* "nvJitLink 13.0", "ptxas (path)" */
} AsmResult;
AsmResult assemble(Arena *a, const AsmOptions *opt, const char *ptx, size_t size, const PtxLines *lines, Sources *sources);
typedef struct CacheKey CacheKey;
void assemble_key(Arena *a, const AsmOptions *opt, const char *ptx, size_t size, CacheKey *k); /* all that the cubin depends on */

#endif
