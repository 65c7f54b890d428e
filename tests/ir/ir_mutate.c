/* ir_mutate [options]: does the verifier refuse what the simulator can break, and only that?
 *
 * Every program of mutate_world.c is lowered to its final IR (or read), must be accepted and runs clean. Of its
 * mechanical mutants (mutants.h) the ill-formed ones are left out; the verifier accepts or refuses the others; the accepted
 * and a sample of the refused ones run on the simulator, in check mode and fuzzed schedules, for several trip counts.
 *
 *   accepted, and the simulator reports a hang, a race or a wrong order, or that bytes are wrong though only
 *             synchronisation was changed: a hole of the verifier, printed; the exit code is 1
 *   accepted, and only other bytes come out of a change of what is moved ("data"): well ordered, another program
 *   refused, and the simulator finds nothing ("harmless"): counted
 *
 *   --all            all mutants; else --count of them (default 400), spread evenly
 *   --count N
 *   --refused N      runs every N-th of the refused ones (default 4; with --all 1)
 *   --random N       instead N random programs changed in one to three places
 *   --seed N         of data, schedules and choices (default 1)
 *   --only WORD      programs whose path or kernel contains WORD
 *   --number N       that mutant only, its IR printed
 *   --list           a line per mutant that was run
 *   --classes        a table by kind of change
 *   --trees          the trees of derived schedules are changed, the checker of trees judges; what it accepts becomes roles and runs
 *   --conditions     nothing runs: each condition of the checker of trees refuses mutants that no other one refuses
 *   --verdicts       only a line per mutant: what the verifier says; none runs (for comparing two verifiers)
 *   --by-hand        only programs with barriers that stand in them
 *   --no-verify      all count as refused: how many can be broken at all?
 *   --open FILE      holes that are known (mutate_open.h); with --all they must be there
 *
 * Exit code: 0, 1 a hole, a correct program refused or broken, 2 wrong use.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/prog.h"
#include "lower/emit/roles.h"
#include "lower/lower.h"
#include "lower/verify/tree/check.h"
#include "lower/verify/verify.h"
#include "tests/ir/mutants.h"
#include "tests/ir/mutate_open.h"
#include "tests/ir/mutate_run.h"

enum { CLASSES = 1024, HASHES = 1 << 16 };

typedef enum Count {
    ILL,
    SAME,
    REFUSED,
    ACCEPTED,
    BROKEN,
    HARMLESS,
    DATA,
    OTHER, /* refused ones that ran */
    CLEAN,
    MOVED,
    BEYOND,
    OPEN,
    HOLES, /* accepted ones; MOVED: other bytes */
    COUNTS
} Count;
typedef struct Tally {
    const char *kind, *op;
    uint32_t n[COUNTS];
} Tally;

typedef struct Judge {
    bool all, list, classes, verdicts, no_verify, trees, conditions, by_hand;
    uint32_t count, refused_every, random;
    int64_t number; /* -1: any */
    uint64_t seed;
    const char *only;

    Mem mem;
    jmp_buf fail;
    Arena arena, program_arena;
    Bench bench;
    Sources sources;
    Diags diags;
    Names *names;
    IrModule module;

    /* the program at hand */
    const Program *program;
    const IrKernel *kernel;
    char name[200];
    uint64_t *seen;         /* hashes of the mutants made so far */
    uint32_t total;         /* its mutants */
    uint64_t every;         /* one of so many is taken, times 2^32 */
    uint32_t depth, chosen; /* of random changes: still to make; which */

    uint32_t programs, wrong;
    uint64_t state; /* of random choices */
    Tally tally[CLASSES];
    uint32_t ntally;
    uint32_t by_condition[TREE_CONDITIONS], by_it_alone[TREE_CONDITIONS]; /* refused trees */
} Judge;

static void give_up(const char *path, const char *what)
{
    fprintf(stderr, "ir_mutate: %s: %s\n", path, what);
    exit(2);
}

static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static uint64_t hash_text(const char *s, size_t n)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < n; i++) h = (h ^ (unsigned char)s[i]) * UINT64_C(0x100000001b3);
    return h ? h : 1;
}

/* ---- programs ---- */

static char *read_file(Judge *j, const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL || fseek(f, 0, SEEK_END) != 0) give_up(path, "cannot be read");
    *size = (size_t)ftell(f);
    rewind(f);
    char *s = arena_alloc(&j->program_arena, *size + 1);
    if (fread(s, 1, *size, f) != *size) give_up(path, "cannot be read");
    fclose(f);
    s[*size] = 0;
    return s;
}

static void show_diags(Judge *j)
{
    Text t;
    text_init(&t, &j->mem);
    diags_render(&j->diags, DIAG_HUMAN, false, &t);
    printf("%s\n", t.s ? t.s : "");
    text_free(&t);
}

static const char *no_module(void *user, const char *module, const char *from, size_t *size, const char **path,
                             const char **why)
{
    (void)user, (void)module, (void)from, (void)size, (void)path, (void)why;
    return NULL;
}

static IrKernel *lower_file(Judge *j, const Program *p, Source *src)
{
    static Compilation c; /* as long as the kernel: it borrows from it */
    Define defines[DEFINES];
    size_t n = 0;
    Arena *a = &j->program_arena;
    c = (Compilation){.arena = a, .scratch = a, .names = j->names, .sources = &j->sources, .diags = &j->diags};
    ParseContext pc = {.arena = a, .names = j->names, .diags = &j->diags, .sources = &j->sources};
    for (; n < DEFINES && p->defines[n]; n++) {
        const char *eq = strchr(p->defines[n], '=');
        defines[n] = (Define){.name = arena_strdup(a, p->defines[n], (size_t)(eq - p->defines[n])), .value = eq + 1};
    }
    ImportReader reader = {.read = no_module};
    Checked *ch = check_unit(&c, parse_unit(&pc, src), defines, n, &reader, j->bench.target);
    for (size_t i = 0; ch && i < check_kernel_count(ch); i++) {
        PKernel *k = check_kernel(ch, i);
        IrKernel *ir = k ? lower_kernel(&c, k, NULL) : NULL;
        if (ir && (p->kernel == NULL || strcmp(ir->mf.name, p->kernel) == 0)) return ir;
    }
    return NULL;
}

static const char *stem_of(Judge *j, const char *path)
{
    const char *slash = strrchr(path, '/'), *stem = slash ? slash + 1 : path;
    return arena_strdup(&j->program_arena, stem, strcspn(stem, "."));
}

static void make_worlds(Judge *j, const Program *p, const IrKernel *k)
{
    const Case *c = strstr(p->path, ".ir") ? case_find(stem_of(j, p->path)) : NULL;
    j->bench.worlds = arena_array(&j->program_arena, World, VARIANTS);
    j->bench.nworlds = 0;
    for (int i = 0; i < (c ? c->nvariants : RUNS); i++) {
        World *x = &j->bench.worlds[i];
        x->seed = mix(j->seed + (uint64_t)i);
        if (c == NULL && p->runs[i] == NULL) break;
        if (c) c->make(x, c->variants[i]);
        else if (!world_make(x, &j->program_arena, &k->mf, p->runs[i])) give_up(p->path, "a size has no value");
        j->bench.nworlds++;
    }
}

/* The first that a line `target ..;` of the program names. */
static const char *target_of(Judge *j, const char *text)
{
    static const char LINE[] = "\ntarget ";
    const char *at = strstr(text, LINE);
    if (at == NULL) return "sm_90a";
    at += sizeof LINE - 1;
    return arena_strdup(&j->program_arena, at, strcspn(at, ",; "));
}

static IrKernel *load(Judge *j, const Program *p)
{
    size_t size;
    const char *text = read_file(j, p->path, &size);
    bool is_ir = strstr(p->path, ".ir") != NULL;
    j->bench.target = is_ir ? "sm_90a" : target_of(j, text);
    sources_init(&j->sources, &j->program_arena);
    diags_init(&j->diags, &j->program_arena, &j->sources);
    j->names = names_new(&j->program_arena);
    Source *src = sources_add(&j->sources, p->path, text, size);
    IrModule *m = is_ir ? ir_read(&j->program_arena, j->names, &j->diags, src) : NULL;
    IrKernel *k = is_ir ? m ? m->kernels.v[0] : NULL : lower_file(j, p, src);
    if (k) return k;
    show_diags(j);
    give_up(p->path, "does not compile");
    return NULL;
}

/* ---- one mutant ---- */

static Tally *tally_of(Judge *j, const Mutant *m)
{
    for (uint32_t i = 0; i < j->ntally; i++)
        if (j->tally[i].kind == m->kind && strcmp(j->tally[i].op, m->op) == 0) return &j->tally[i];
    if (j->ntally == CLASSES) give_up(j->name, "too many kinds of mutants");
    j->tally[j->ntally] = (Tally){.kind = m->kind, .op = m->op};
    return &j->tally[j->ntally++];
}

/* Was there one with the same text? The first is the program itself. */
static bool seen_before(Judge *j, const IrKernel *k)
{
    Text t;
    IrModule m = {.target = j->bench.target};
    text_init(&t, &j->mem);
    vec_push(&j->arena, &m.kernels, (IrKernel *)(uintptr_t)k);
    if (j->trees) ir_print_tree(&t, &m, NULL);
    else ir_print(&t, &m, NULL);
    uint64_t h = hash_text(t.s, t.n);
    text_free(&t);
    for (uint64_t i = h % HASHES;; i = (i + 1) % HASHES) {
        if (j->seen[i] == h) return true;
        if (j->seen[i]) continue;
        j->seen[i] = h;
        return false;
    }
}

static bool tree_verifies(Judge *j, const IrKernel *k, const char **why)
{
    TreeFault fault;
    bool ok = tree_check(&j->arena, k, 0, &fault);
    *why = ok ? "" : arena_strdup(&j->arena, fault.text, strlen(fault.text));
    if (ok) return true;
    TreeFault other;
    j->by_condition[fault.condition]++;
    if (j->conditions && tree_check(&j->arena, k, 1u << fault.condition, &other)) j->by_it_alone[fault.condition]++;
    return ok;
}

/* Roles are made of the changed tree. */
static void make_roles(Judge *j, const IrKernel *made)
{
    IrKernel *k = (IrKernel *)(uintptr_t)made;
    for (uint32_t i = 0; i < k->roles.n; i++) {
        k->roles.v[i].ops.n = k->roles.v[i].ops.cap = 0;
        k->roles.v[i].ops.v = NULL;
        project(&j->arena, k, i + 1, &k->roles.v[i]);
        count_turns(&j->arena, k, &k->roles.v[i]);
    }
}

static bool roles_verify(Judge *j, const IrKernel *k, const char **why)
{
    Diags d;
    diags_init(&d, &j->arena, &j->sources);
    bool ok = ir_verify_states(&j->arena, &d, k, NULL, NULL);
    *why = ok ? "" : d.first ? d.first->text : "no reason is given";
    return ok;
}

static bool verifies(Judge *j, const IrKernel *k, const char **why)
{
    if (j->no_verify) return false;
    return j->trees ? tree_verifies(j, k, why) : roles_verify(j, k, why);
}

static void show(const Judge *j, const char *verdict, const Mutant *m, const char *why)
{
    const IrRole *r = NULL;
    printf("%-9s %s #%u: %s %s in %s, op %u\n", verdict, j->name, m->number, m->kind, m->op, m->body, m->at);
    if (j->bench.said[0]) printf("          simulator: %s\n", j->bench.said);
    if (why && why[0]) printf("          verifier: %s\n", why);
    for (uint32_t b = 0; b < ir_bodies(j->kernel) && j->random == 0; b++)
        if (strcmp(b == 0 ? "init" : b > j->kernel->roles.n ? "exit" : j->kernel->roles.v[b - 1].name, m->body) == 0)
            r = ir_body(j->kernel, b);
    if (j->trees) r = &j->kernel->tree;
    if (r == NULL || m->at >= r->ops.n) return;
    Text t;
    text_init(&t, (Mem *)(uintptr_t)&j->mem);
    ir_print_op(&t, j->kernel, &r->ops.v[m->at]);
    printf("          %s\n", t.s);
    text_free(&t);
}

/* Of a tree: that what is read was written (E1362: in tensor memory), and that loops end, others see to (PROOF.md); that a phase for which nobody waits is
 * over at the end nobody promises. So is what meets in global memory: where copies go the program says, and what waits for what there the
 * second opinion on the roles has to see. */
static bool is_trusted(Judge *j, const Mutant *m)
{
    const char *said = j->bench.said, *why;
    if (strstr(said, " of the allocation of tensor ")) return m->value || !roles_verify(j, m->kernel, &why);
    bool read = strncmp(said, "E1305", 5) == 0, ends = strncmp(said, "E1319", 5) == 0 || strncmp(said, "E1318", 5) == 0;
    return ((read || ends) && m->value) || strncmp(said, "E1309", 5) == 0 || strncmp(said, "E1362", 5) == 0;
}

static void judge_accepted(Judge *j, const Mutant *m, Tally *t)
{
    if (j->trees) make_roles(j, m->kernel);
    const char *ill = j->trees ? ir_check(&j->arena, m->kernel) : NULL;
    if (ill && ir_check_tree(&j->arena, m->kernel)) { /* what only the roles show */
        t->n[REFUSED]++;
        return;
    }
    if (ill) { /* .. and who looks at the tree has not asked for */
        t->n[HOLES]++;
        show(j, "HOLE", m, ill);
        return;
    }
    Outcome out = bench_run(&j->bench, m->kernel, true);
    if (out == OUT_BROKEN && j->trees && is_trusted(j, m)) out = OUT_BEYOND;
    bool endless = !j->trees && j->kernel->tree.ops.n && strncmp(j->bench.said, "E1319", 5) == 0; /* that what is drawn ends loops, the tree shows */
    if (out == OUT_BROKEN && endless) out = OUT_BEYOND;
    bool hole = out == OUT_BROKEN || (out == OUT_DATA && !m->value);
    t->n[ACCEPTED]++;
    bool known = hole && open_has(j->name, m->kind, m->op, j->bench.said);
    if (known) t->n[OPEN]++;
    else if (hole) t->n[HOLES]++;
    else if (out == OUT_CLEAN) t->n[CLEAN]++;
    else if (out == OUT_DATA) t->n[MOVED]++;
    else t->n[BEYOND]++;
    if (known && !j->list) return;
    if (hole) show(j, known ? "open" : "HOLE", m, NULL);
    else if (j->list) show(j, out == OUT_CLEAN ? "accepted" : out == OUT_DATA ? "data" : "beyond", m, NULL);
}

static void judge_refused(Judge *j, const Mutant *m, Tally *t, const char *why)
{
    if (t->n[REFUSED]++ % j->refused_every || j->trees) return;
    Outcome out = bench_run(&j->bench, m->kernel, true);
    if (out == OUT_BROKEN) t->n[BROKEN]++;
    else if (out == OUT_CLEAN) t->n[HARMLESS]++;
    else if (out == OUT_DATA) t->n[DATA]++;
    else t->n[OTHER]++;
    if (j->list)
        show(j,
             out == OUT_BROKEN  ? "broken"
             : out == OUT_CLEAN ? "harmless"
             : out == OUT_DATA  ? "refused/d"
                                : "refused/o",
             m, why);
}

static void print_ir(const Judge *j, const IrKernel *k)
{
    Text t;
    IrModule m = {.target = j->bench.target};
    Arena *a = (Arena *)(uintptr_t)&j->arena;
    text_init(&t, a->mem);
    vec_push(a, &m.kernels, (IrKernel *)(uintptr_t)k);
    if (j->trees) ir_print_tree(&t, &m, NULL);
    else ir_print(&t, &m, NULL);
    printf("%s", t.s);
    text_free(&t);
}

static void print_verdict(Judge *j, const Mutant *m, Tally *t)
{
    const char *why;
    bool ok = verifies(j, m->kernel, &why);
    t->n[ok ? ACCEPTED : REFUSED]++;
    printf("%s %s #%u: %s %s in %s, op %u: %s\n", ok ? "accepted" : "refused", j->name, m->number, m->kind, m->op,
           m->body, m->at, why);
}

static void judge(Judge *j, const Mutant *m)
{
    ArenaMark mark = arena_mark(&j->arena);
    Tally *t = tally_of(j, m);
    const char *why = "";
    if (j->number >= 0) print_ir(j, m->kernel);
    const char *ill = ir_check(&j->arena, m->kernel);
    j->bench.said[0] = 0;
    if (ill) {
        t->n[ILL]++;
        if (j->number >= 0) printf("ill-formed: %s\n", ill);
    } else if (seen_before(j, m->kernel)) t->n[SAME]++;
    else if (j->conditions) t->n[verifies(j, m->kernel, &why) ? ACCEPTED : REFUSED]++;
    else if (j->verdicts) print_verdict(j, m, t);
    else if (verifies(j, m->kernel, &why)) judge_accepted(j, m, t);
    else judge_refused(j, m, t, why);
    arena_release(&j->arena, mark);
}

/* ---- which mutants ---- */

static bool wants_none(void *user, uint32_t number, bool value)
{
    (void)user, (void)number, (void)value;
    return false;
}

/* Those that change the bytes that are moved are many, and tell less: a quarter of their share. */
static bool wants(void *user, uint32_t number, bool value)
{
    const Judge *j = user;
    if (j->number >= 0) return number == j->number;
    uint64_t h = mix(hash_text(j->name, strlen(j->name)) ^ mix(number + (j->seed << 32))) & UINT32_MAX;
    return j->all || h * (value ? 4 : 1) < j->every;
}

static void takes(void *user, const Mutant *m)
{
    judge(user, m);
}

static uint32_t make_mutants(Judge *j, const IrKernel *k, const MutantUser *user)
{
    return j->trees ? mutants_of_tree(&j->arena, k, user) : mutants_make(&j->arena, k, user);
}

static uint32_t count_mutants(Judge *j, const IrKernel *k)
{
    return make_mutants(j, k, &(MutantUser){.wants = wants_none});
}

static bool wants_chosen(void *user, uint32_t number, bool value)
{
    (void)value;
    const Judge *j = user;
    return j->depth > 0 && number == j->chosen;
}

static uint32_t draw(Judge *j, uint32_t below)
{
    j->state = mix(j->state);
    return (uint32_t)(j->state % below);
}

/* Goes on from one change to the next; what is ill-formed in between ends it. */
static void takes_change(void *user, const Mutant *m)
{
    Judge *j = user;
    Mutant last = *m;
    ArenaMark mark = arena_mark(&j->arena);
    bool more = --j->depth > 0 && ir_check(&j->arena, m->kernel) == NULL;
    last.value = true; /* several changes may well move other bytes */
    if (more) {
        j->chosen = draw(j, count_mutants(j, m->kernel));
        make_mutants(j, m->kernel, &(MutantUser){.wants = wants_chosen, .takes = takes_change, .user = j});
    } else {
        judge(j, &last);
    }
    arena_release(&j->arena, mark);
}

static void make_random(Judge *j, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        j->depth = 1 + draw(j, 3);
        j->chosen = draw(j, j->total);
        make_mutants(j, j->kernel, &(MutantUser){.wants = wants_chosen, .takes = takes_change, .user = j});
    }
}

/* ---- one program ---- */

static bool is_right(Judge *j)
{
    const char *why = "";
    bool learns = strstr(j->program->path, ".ir") == NULL;
    bool ok = j->no_verify || verifies(j, j->kernel, &why), known = !ok && (j->program->refused || (!j->trees && ir_has_tree_proof(j->kernel))); /* the tree proves it; here too much is open */
    if (!ok && !known) printf("REFUSED   %s: %s\n", j->name, why);
    if (ok && !j->no_verify && j->program->refused) {
        printf("ACCEPTED  %s: it is listed as refused: %s\n", j->name, j->program->refused);
        ok = false;
    }
    if (j->verdicts || j->conditions) return ok;
    Outcome out = learns ? bench_learn(&j->bench, j->kernel) : OUT_CLEAN;
    if (out <= OUT_DATA) out = bench_run(&j->bench, j->kernel, true);
    if (out != OUT_CLEAN) printf("BROKEN    %s: %s\n", j->name, j->bench.said);
    if ((!ok && !known) || out != OUT_CLEAN) j->wrong++;
    return out == OUT_CLEAN && !known;
}

static bool is_meant(const Judge *j, const Program *p)
{
    return j->only == NULL || strstr(p->path, j->only) || (p->kernel && strstr(p->kernel, j->only));
}

static void run_program(Judge *j, const Program *p, uint32_t share)
{
    ArenaMark mark = arena_mark(&j->program_arena);
    j->program = p;
    snprintf(j->name, sizeof j->name, "%s%s%s", p->path, p->kernel ? ":" : "", p->kernel ? p->kernel : "");
    j->kernel = load(j, p);
    bool nothing = j->trees && j->kernel->tree.ops.n == 0; /* that the checker of trees proves */
    if (nothing || (j->by_hand && j->kernel->tree.ops.n)) {
        arena_release(&j->program_arena, mark);
        return;
    }
    make_worlds(j, p, j->kernel);
    j->programs++;
    memset(j->seen, 0, HASHES * sizeof *j->seen);
    seen_before(j, j->kernel);
    if (is_right(j)) {
        j->total = count_mutants(j, j->kernel);
        j->every = ((uint64_t)share << 33) / (j->total + 1);
        if (j->random) make_random(j, share);
        else if (j->trees)
            mutants_of_tree(&j->arena, j->kernel, &(MutantUser){.wants = wants, .takes = takes, .user = j});
        else mutants_make(&j->arena, j->kernel, &(MutantUser){.wants = wants, .takes = takes, .user = j});
    }
    for (int i = 0; i < j->bench.nworlds; i++) world_free(&j->bench.worlds[i]);
    fflush(stdout);
    arena_release(&j->program_arena, mark);
}

/* ---- the whole ---- */

static Tally sum_up(const Judge *j)
{
    Tally s = {.kind = "", .op = "all"};
    for (uint32_t i = 0; i < j->ntally; i++)
        for (int c = 0; c < COUNTS; c++) s.n[c] += j->tally[i].n[c];
    return s;
}

static void print_classes(const Judge *j)
{
    printf("%-28s %6s %6s | refused, run: %6s %6s %6s %6s | accepted: %6s %6s %6s %6s %6s\n", "change", "ill", "same",
           "broken", "harml.", "data", "other", "clean", "data", "beyond", "open", "HOLES");
    for (uint32_t i = 0; i < j->ntally; i++) {
        const Tally *t = &j->tally[i];
        char name[64];
        snprintf(name, sizeof name, "%s %s", t->kind, t->op);
        printf("%-28s %6u %6u | %6u       %6u %6u %6u %6u |", name, t->n[ILL], t->n[SAME], t->n[REFUSED], t->n[BROKEN],
               t->n[HARMLESS], t->n[DATA], t->n[OTHER]);
        printf(" %6u    %6u %6u %6u %6u %6u\n", t->n[ACCEPTED], t->n[CLEAN], t->n[MOVED], t->n[BEYOND], t->n[OPEN],
               t->n[HOLES]);
    }
}

/* Does each refuse something that no other one does? What a tree is is asked first: without it there is no more to ask. */
static bool print_conditions(const Judge *j)
{
    static const char *const NAMES[] = {
        [TREE_FORM] = "form",           [TREE_BEGUN] = "begun", [TREE_FREE] = "free",       [TREE_OVER] = "over",
        [TREE_PUBLISHED] = "published", [TREE_ONCE] = "once",   [TREE_BYTES] = "bytes",     [TREE_PHASES] = "phases",
        [TREE_BESIDE] = "beside",       [TREE_FENCE] = "fence", [TREE_THREADS] = "threads", [TREE_INSIDE] = "inside",
        [TREE_EXIT] = "exit",           [TREE_DONE] = "done",   [TREE_ENDS] = "ends",
        [TREE_COUNT] = "count"};
    bool all = true;
    for (int c = 0; c < TREE_CONDITIONS; c++) {
        printf("%-10s %6u refused by it, %6u by it alone\n", NAMES[c], j->by_condition[c], j->by_it_alone[c]);
        all = all && (c == TREE_FORM || j->by_it_alone[c]);
    }
    return all;
}

static uint32_t number_option(const char *option, const char *value)
{
    char *end;
    unsigned long v = strtoul(value, &end, 10);
    if (*end || v > 1000000000) give_up(option, "a number");
    return (uint32_t)v;
}

static void read_options(Judge *j, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *o = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(o, "--all") == 0) j->all = true;
        else if (strcmp(o, "--list") == 0) j->list = true;
        else if (strcmp(o, "--classes") == 0) j->classes = true;
        else if (strcmp(o, "--trees") == 0) j->trees = true;
        else if (strcmp(o, "--conditions") == 0) j->trees = j->conditions = j->all = true;
        else if (strcmp(o, "--verdicts") == 0) j->verdicts = true;
        else if (strcmp(o, "--by-hand") == 0) j->by_hand = true;
        else if (strcmp(o, "--no-verify") == 0) j->no_verify = true;
        else if (value == NULL) give_up(o, "there is no such option, or it lacks its value");
        else if (strcmp(o, "--count") == 0) j->count = number_option(o, value), i++;
        else if (strcmp(o, "--refused") == 0) j->refused_every = number_option(o, value), i++;
        else if (strcmp(o, "--random") == 0) j->random = number_option(o, value), i++;
        else if (strcmp(o, "--seed") == 0) j->seed = number_option(o, value), i++;
        else if (strcmp(o, "--number") == 0) j->number = number_option(o, value), i++;
        else if (strcmp(o, "--only") == 0) j->only = value, i++;
        else if (strcmp(o, "--open") == 0) open_read(value), i++;
        else give_up(o, "there is no such option");
    }
    if (j->refused_every == 0) j->refused_every = j->all || j->number >= 0 ? 1 : 4;
}

static int run(Judge *j)
{
    uint32_t n = 0;
    for (size_t i = 0; i < NPROGRAMS; i++) n += is_meant(j, &PROGRAMS[i]);
    if (n == 0) give_up(j->only ? j->only : "", "no such program");
    uint32_t share = (j->random ? j->random : j->count) / n + 1;
    bench_open(&j->bench, &j->arena, j->seed);
    for (size_t i = 0; i < NPROGRAMS; i++)
        if (is_meant(j, &PROGRAMS[i])) run_program(j, &PROGRAMS[i], share);
    bench_close(&j->bench);
    if (j->classes) print_classes(j);
    Tally s = sum_up(j);
    uint32_t ran = s.n[BROKEN] + s.n[HARMLESS] + s.n[DATA] + s.n[OTHER];
    printf("%u mutants of %u programs (%u more are ill-formed, %u the same as others): ", s.n[REFUSED] + s.n[ACCEPTED],
           j->programs, s.n[ILL], s.n[SAME]);
    printf("%u refused, of %u that ran %u broken, %u harmless, %u other data, %u other; ", s.n[REFUSED], ran,
           s.n[BROKEN], s.n[HARMLESS], s.n[DATA], s.n[OTHER]);
    printf("%u accepted: %u clean, %u other data, %u beyond, %u open (listed), %u HOLES; ", s.n[ACCEPTED], s.n[CLEAN],
           s.n[MOVED], s.n[BEYOND], s.n[OPEN], s.n[HOLES]);
    printf("%u correct programs refused or broken\n", j->wrong);
    bool whole = j->all && !j->random && !j->only && j->number < 0;
    if (j->trees && !print_conditions(j) && j->conditions && whole) return 1;
    return (whole && !j->trees && open_unused()) || s.n[HOLES] || j->wrong;
}

int main(int argc, char **argv)
{
    Judge *j = calloc(1, sizeof *j);
    if (j == NULL || (j->seen = calloc(HASHES, sizeof *j->seen)) == NULL) abort();
    j->count = 400;
    j->number = -1;
    j->seed = 1;
    read_options(j, argc, argv);
    j->state = j->seed;
    j->mem.fail = &j->fail;
    if (setjmp(j->fail)) give_up("", "out of memory");
    arena_init(&j->arena, &j->mem);
    arena_init(&j->program_arena, &j->mem);
    int status = run(j);
    arena_free(&j->arena);
    arena_free(&j->program_arena);
    free(j->seen);
    free(j);
    return status;
}
