/* tilecc cache: what is kept of compilations at run time; how, says tilecc.h. */
#include <inttypes.h>
#include <stdio.h>

#include "tilecc/cli.h"
#include "tilecc/commands.h"

static const char *entries(uint64_t n) { return n == 1 ? "entry" : "entries"; }

int command_cache(tilecc_cache_work work)
{
    tilecc_cache_facts f = {.struct_size = sizeof f};
    tilecc_status s = tilecc_cache(work, &f);
    if (s == TILECC_OK || f.left) {
        if (work == TILECC_CACHE_VERIFY) printf("%" PRIu64 " damaged %s removed\n", f.removed, entries(f.removed));
        if (work == TILECC_CACHE_CLEAR) printf("%" PRIu64 " %s removed\n", f.removed, entries(f.removed));
        printf("%s: %" PRIu64 " %s, %" PRIu64 " of at most %" PRIu64 " bytes\n", f.folder, f.entries, entries(f.entries), f.bytes, f.limit);
        if (work == TILECC_CACHE_COUNT && f.off[0]) printf("%s: nothing is kept, and nothing taken from there\n", f.off);
    }
    if (s != TILECC_OK) complain("%s%s%s", f.folder, f.folder[0] ? ": " : "", f.why);
    return finish_stdout() ? (int)s : EXIT_ENVIRONMENT;
}
