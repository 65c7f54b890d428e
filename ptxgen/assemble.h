/* Inside the assembler: two back ends and what they share. */
#ifndef PTXGEN_ASSEMBLE_H
#define PTXGEN_ASSEMBLE_H

#include "ptxgen/cache/cache.h"
#include "ptxgen/ptxgen.h"

typedef enum AsmOutcome {
    ASM_DONE,
    ASM_REFUSED, /* the PTX has errors: they are in log */
    ASM_TOO_OLD, /* there is an assembler, but it does not know the target or the PTX version */
    ASM_ABSENT,  /* none found: `tried` says where */
    ASM_BROKEN   /* found, but it could not be run: see message */
} AsmOutcome;

typedef struct AsmRun {
    Arena *arena;
    const AsmOptions *opt;
    const char *ptx;
    size_t size;
    /* results */
    const char *tried; /* places looked at, separated by ", " */
    const char *message, *log, *assembler;
    void *cubin;
    size_t cubin_size;
} AsmRun;

AsmOutcome asm_nvjitlink(AsmRun *r);
AsmOutcome asm_ptxas(AsmRun *r);
/* Which they would be; false: there is none. */
bool asm_nvjitlink_key(AsmRun *r, CacheKey *k);
bool asm_ptxas_key(AsmRun *r, CacheKey *k);

void asm_tried(AsmRun *r, const char *place);
/* dir + "/" + rest, or NULL where the environment has no such variable. */
const char *asm_env_path(Arena *a, const char *variable, const char *rest);
/* Whether the log says that the assembler is older than the PTX. */
bool asm_says_too_old(const char *log);

#endif
