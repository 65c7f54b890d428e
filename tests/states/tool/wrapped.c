#include <stdio.h>
#include <string.h>

#include "lower/verify/verify.h"
#include "tests/states/tool/ask.h"

StatesSaid states_said[SAID_MOST];
bool states_accepted[SAID_MOST];
int states_nsaid;
bool (*states_skips)(const char *kernel);
static struct {
    char name[32];
    int count;
} bar[SAID_BARS];

static void keep_counts(const IrKernel *k)
{
    memset(bar, 0, sizeof bar);
    for (uint32_t i = 0; i < k->bars.n && i < SAID_BARS; i++) {
        snprintf(bar[i].name, sizeof bar[i].name, "%s", k->bars.v[i].name);
        bar[i].count = (int)k->bars.v[i].count;
    }
}

int states_count(const char *name)
{
    for (int i = 0; i < SAID_BARS; i++)
        if (!strcmp(bar[i].name, name)) return bar[i].count;
    return 0;
}

bool __real_ir_verify(Arena *a, Diags *d, const IrKernel *k, const Demands *to, Text *certificate);
bool __wrap_ir_verify(Arena *a, Diags *d, const IrKernel *k, const Demands *to, Text *certificate);
bool __wrap_ir_verify(Arena *a, Diags *d, const IrKernel *k, const Demands *to, Text *certificate)
{
    bool ok = __real_ir_verify(a, d, k, to, certificate); /* first: what is demanded of launches is among the kernel's checks then */
    if (states_concern(k) && states_nsaid < SAID_MOST && !(states_skips && states_skips(k->mf.name))) {
        keep_counts(k);
        const double seconds = states_seconds;
        states_accepted[states_nsaid] = ok;
        states_seconds = ok ? seconds : seconds < 4 ? seconds / 20 : 0.2; /* most of what is refused is seen to be wrong soon */
        states_ask(k, &states_said[states_nsaid++]);
        states_seconds = seconds;
    }
    return ok;
}
