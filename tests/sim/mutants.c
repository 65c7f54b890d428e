/* The kinds of mutants: mutants.h. */
#include "tests/sim/mutants.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/case.h"

enum { KINDS = 80, OPERANDS = 10, EDITS = 4 };

typedef struct Line {
    const char *s;  /* as written, 0-terminated */
    const char *op; /* the instruction without its guard; NULL: none on this line */
    bool is_label, in_kernel;
} Line;

typedef struct Edit {
    int at;     /* line */
    char *text; /* instead of it; NULL: nothing. Freed by emit */
} Edit;

typedef struct Maker {
    Line *line;
    int n;
    char *copy;
    char *out; /* of one mutant */
    struct {
        char kind[32];
        int count;
    } kinds[KINDS];
    int nkinds;
    void (*each)(void *user, const Mutant *m);
    void *user;
} Maker;

/* ---- lines ---- */
static bool starts(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

static bool is_op(const Line *l, const char *prefix)
{
    return l->op && starts(l->op, prefix);
}

static bool op_has(const Line *l, const char *word) /* in the opcode */
{
    const char *end = strchr(l->op, ' '), *at = strstr(l->op, word);
    return at && (!end || at < end);
}

static const char *instruction(const char *s)
{
    while (*s == ' ' || *s == '\t') s++;
    if (*s == '@') {
        while (*s && *s != ' ' && *s != '\t') s++;
        while (*s == ' ' || *s == '\t') s++;
    }
    return islower((unsigned char)*s) && strchr(s, ';') ? s : NULL;
}

static bool names_kernel(const char *s, const char *const *kernels, int n)
{
    const char *entry = strstr(s, ".entry ");
    for (int i = 0; entry && i < n; i++) {
        size_t length = strlen(kernels[i]);
        if (strncmp(entry + 7, kernels[i], length) == 0 && !isalnum((unsigned char)entry[7 + length]) &&
            entry[7 + length] != '_')
            return true;
    }
    return false;
}

static void read_lines(Maker *m, const char *text, const char *const *kernels, int nkernels)
{
    size_t size = strlen(text);
    m->copy = must(malloc(size + 1));
    memcpy(m->copy, text, size + 1);
    int cap = 1;
    for (const char *s = text; *s; s++) cap += *s == '\n';
    m->line = must(calloc((size_t)cap, sizeof *m->line));
    bool in_kernel = false, in_body = false;
    for (char *s = m->copy; *s;) {
        Line *l = &m->line[m->n++];
        char *end = strchr(s, '\n');
        if (end) *end = 0;
        l->s = s;
        if (strstr(s, ".entry ")) in_kernel = names_kernel(s, kernels, nkernels);
        if (s[0] == '}') in_kernel = in_body = false;
        l->in_kernel = in_body;
        if (in_kernel && s[0] == '{') in_body = true;
        if (in_body) l->op = instruction(s);
        size_t length = strlen(s);
        l->is_label = in_body && s[0] == '$' && length && s[length - 1] == ':';
        s += length + (end != NULL);
    }
}

/* The operands' places in the line: split at commas outside brackets. */
typedef struct Operands {
    const char *s[OPERANDS];
    size_t size[OPERANDS];
    int n;
} Operands;

static Operands operands_of(const Line *l)
{
    Operands o = {.n = 0};
    const char *s = strchr(l->op, ' ');
    int depth = 0;
    while (s && *s && *s != ';' && o.n < OPERANDS) {
        while (*s == ' ') s++;
        o.s[o.n] = s;
        for (; *s && *s != ';' && (depth || *s != ','); s++)
            depth += (*s == '[' || *s == '{') - (*s == ']' || *s == '}');
        o.size[o.n] = (size_t)(s - o.s[o.n]);
        o.n++;
        if (*s == ',') s++;
    }
    return o;
}

/* ---- texts ---- */
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
static char *
make_text(const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *s = must(malloc((size_t)n + 1));
    vsnprintf(s, (size_t)n + 1, fmt, again);
    va_end(again);
    return s;
}

/* The line with `size` bytes at `at` replaced. */
static char *with(const Line *l, const char *at, size_t size, const char *by)
{
    return make_text("%.*s%s%s", (int)(at - l->s), l->s, by, at + size);
}

static char *with_word(const Line *l, const char *word, const char *by)
{
    const char *at = strstr(l->s, word);
    return at ? with(l, at, strlen(word), by) : NULL;
}

static bool integer(const char *s, size_t size, long *v)
{
    char *end;
    *v = strtol(s, &end, 0);
    return size && (size_t)(end - s) == size;
}

/* [register+offset] moved by some bytes; NULL: not of that form. */
static char *moved(const Line *l, const Operands *o, int i, long by)
{
    if (i >= o->n || o->s[i][0] != '[') return NULL;
    const char *s = o->s[i] + 1, *end = o->s[i] + o->size[i] - 1, *plus = s;
    while (plus < end && *plus != '+' && *plus != ',') plus++;
    if (*plus == ',') return NULL; /* a tensor map */
    long offset = *plus == '+' ? strtol(plus + 1, NULL, 0) : 0;
    if (offset + by < 0) return NULL;
    char address[120];
    snprintf(address, sizeof address, offset + by ? "[%.*s+%ld]" : "[%.*s]", (int)(plus - s), s, offset + by);
    return with(l, o->s[i], o->size[i], address);
}

/* ---- mutants ---- */
static int count_kind(Maker *m, const char *kind)
{
    int k = 0;
    while (k < m->nkinds && strcmp(m->kinds[k].kind, kind) != 0) k++;
    if (k == m->nkinds) {
        if (k == KINDS) give_up("more than %d kinds of mutants", (int)KINDS);
        snprintf(m->kinds[k].kind, sizeof m->kinds[k].kind, "%s", kind);
        m->nkinds++;
    }
    return ++m->kinds[k].count;
}

static void emit(Maker *m, const char *kind, int place, Edit *edit, int nedits)
{
    size_t size = 1, at = 0;
    for (int i = 0; i < m->n; i++) size += strlen(m->line[i].s) + 1;
    for (int k = 0; k < nedits; k++) size += edit[k].text ? strlen(edit[k].text) + 1 : 0;
    char *out = must(malloc(size));
    for (int i = 0; i < m->n; i++) {
        const char *s = m->line[i].s;
        for (int k = 0; k < nedits; k++)
            if (edit[k].at == i) s = edit[k].text;
        if (!s) continue;
        size_t n = strlen(s);
        memcpy(out + at, s, n);
        at += n;
        out[at++] = '\n';
    }
    out[at] = 0;
    Mutant mutant = {.line = place + 1, .was = m->line[place].s, .text = out, .size = at};
    snprintf(mutant.id, sizeof mutant.id, "%s:%d", kind, count_kind(m, kind));
    m->each(m->user, &mutant);
    free(out);
    for (int k = 0; k < nedits; k++) free(edit[k].text);
}

/* One line becomes `text` (freed; NULL: the kind does not apply here). */
static void emit_line(Maker *m, const char *kind, int i, char *text)
{
    if (!text) return;
    Edit e = {i, text};
    emit(m, kind, i, &e, 1);
}

static void emit_drop(Maker *m, const char *kind, int i)
{
    Edit e = {i, NULL};
    emit(m, kind, i, &e, 1);
}

/* ---- kinds: an instruction is dropped, or stands twice ---- */
static const struct {
    const char *kind, *op, *has; /* has: a word of the opcode, or "" */
} DROPS[] = {
    {"no_proxy_fence", "fence.proxy.async", ""},
    {"no_init_fence", "fence.mbarrier_init", ""},
    {"no_map_acquire", "fence.proxy.tensormap", ""},
    {"no_map_publish", "tensormap.cp_fenceproxy", ""},
    {"no_thread_fence", "fence.acq_rel", ""},
    {"no_thread_fence", "fence.sc", ""},
    {"no_thread_fence", "fence.acquire", ""},
    {"no_thread_fence", "fence.release", ""},
    {"no_thread_fence", "membar", ""},
    {"no_init", "mbarrier.init", ""},
    {"no_inval", "mbarrier.inval", ""},
    {"no_expect", "mbarrier.expect_tx", ""},
    {"no_arrive", "mbarrier.arrive", ""},
    {"no_commit", "cp.async.bulk.commit_group", ""},
    {"no_group_wait", "cp.async.bulk.wait_group", ""},
    {"no_sync", "bar.sync", ""},
    {"no_sync", "barrier.sync", ""},
    {"no_bar_arrive", "bar.arrive", ""},
    {"no_warp_sync", "bar.warp.sync", ""},
    {"no_cluster_arrive", "barrier.cluster.arrive", ""},
    {"no_cluster_wait", "barrier.cluster.wait", ""},
    {"no_load", "cp.async.bulk.", ".mbarrier::complete_tx::bytes"},
    {"no_load", "cp.reduce.async.bulk.", ".mbarrier::complete_tx::bytes"},
    {"no_async_store", "st.async", ""},
    {"no_async_store", "red.async", ""},
    {"no_tensor_wait", "tcgen05.wait", ""},
    {"no_tensor_fence", "tcgen05.fence", ""},
    {"no_tensor_copy", "tcgen05.cp", ""},
    {"no_tensor_commit", "tcgen05.commit", ""},
    {"no_dealloc", "tcgen05.dealloc", ""},
    {"no_launches_wait", "griddepcontrol.", "wait"},
};
static const struct {
    const char *kind, *op, *has;
} TWICE[] = {
    {"arrive_twice", "mbarrier.arrive", ""},
    {"init_twice", "mbarrier.init", ""},
    {"load_twice", "cp.async.bulk.", ".mbarrier::complete_tx::bytes"},
    {"sync_twice", "bar.arrive", ""},
};

/* ---- kinds: a word becomes another one ---- */
static const struct {
    const char *kind, *op, *word, *by;
} WORDS[] = {
    {"fence_global", "fence.proxy.async", "async;", "async.global;"},
    {"fence_global", "fence.proxy.async", "async.shared::cta;", "async.global;"},
    {"fence_global", "fence.proxy.async", "async.shared::cluster;", "async.global;"},
    {"fence_shared", "fence.proxy.async", "async.global;", "async.shared::cta;"},
    {"fence_own", "fence.proxy.async", "async.shared::cluster;", "async.shared::cta;"},
    {"wait_read", "cp.async.bulk.wait_group ", "wait_group ", "wait_group.read "},
    {"cluster_relaxed", "barrier.cluster.arrive", "arrive.release.", "arrive.relaxed."},
    {"arrive_cta", "mbarrier.arrive", ".release.cluster.", ".release.cta."},
    {"arrive_relaxed", "mbarrier.arrive", ".release.cluster.", ".relaxed.cluster."},
    {"arrive_relaxed", "mbarrier.arrive.shared::cta.b64", ".arrive.", ".arrive.relaxed.cta."},
    {"wait_cta", "mbarrier.t", ".acquire.cluster.", ".acquire.cta."},
    {"wait_relaxed", "mbarrier.t", ".acquire.", ".relaxed."},
    {"wait_relaxed", "mbarrier.try_wait.parity.shared", ".parity.", ".parity.relaxed.cta."},
    {"flag_relaxed", "ld.acquire", ".acquire.", ".relaxed."},
    {"flag_relaxed", "st.release", ".release.", ".relaxed."},
    {"flag_relaxed", "atom.acquire", ".acquire.", ".relaxed."},
    {"flag_cta", "atom.acquire.gpu", ".gpu.", ".cta."},
    {"fence_cta", "fence.acq_rel.gpu", ".gpu", ".cta"},
    {"fence_cta", "membar.gl", "membar.gl", "membar.cta"},
    {"flag_weak", "ld.acquire.gpu", ".acquire.gpu", ""},
    {"flag_weak", "st.release.gpu", ".release.gpu", ""},
    {"flag_cta", "ld.acquire.gpu", ".gpu.", ".cta."},
    {"flag_cta", "st.release.gpu", ".gpu.", ".cta."},
};

/* ---- kinds: a number changes; operand -1: the last ---- */
static const struct {
    const char *kind, *op, *has;
    int operand;
    long factor, plus;
} NUMBERS[] = {
    {"tx_less", "mbarrier.", "expect_tx", -1, 1, -16},
    {"tx_more", "mbarrier.", "expect_tx", -1, 1, 16},
    {"tx_twice", "mbarrier.", "expect_tx", -1, 2, 0},
    {"init_less", "mbarrier.init", "", -1, 1, -1},
    {"init_more", "mbarrier.init", "", -1, 1, 1},
    {"group_more", "cp.async.bulk.wait_group", "", -1, 1, 1},
    {"bytes_less", "cp.async.bulk.shared", ".mbarrier", 2, 1, -16},
    {"bytes_more", "cp.async.bulk.shared", ".mbarrier", 2, 1, 16},
    {"bar_fewer", "bar.", "sync", 1, 1, -32},
    {"bar_more", "bar.", "sync", 1, 1, 32},
    {"bar_other", "bar.", "sync", 0, 1, 1},
    {"rank_other", "mapa", "", 2, -1, 1},
};

/* ---- what stands around a line ---- */
static bool is_wait(const Line *l)
{
    return is_op(l, "mbarrier.try_wait") || is_op(l, "mbarrier.test_wait");
}

static bool is_branch(const Line *l)
{
    return is_op(l, "bra");
}

static bool touches_memory(const Line *l)
{
    return l->op && !is_op(l, "ld.param") &&
           (is_op(l, "cp.") || is_op(l, "ld.") || is_op(l, "st.") || is_op(l, "red.") || is_op(l, "atom.") ||
            is_op(l, "mbarrier.") || is_op(l, "bar"));
}

static bool only_counts(const Line *l) /* expects bytes, which orders nothing before the copy that brings them */
{
    return is_op(l, "mbarrier.") && op_has(l, "expect_tx");
}

/* The next (step 1) or last (step -1) line that touches memory, with no way in or out between and beyond
 * those that only count; -1: none. */
static int neighbour(const Maker *m, int i, int step)
{
    for (i += step; i >= 0 && i < m->n && m->line[i].in_kernel; i += step) {
        const Line *l = &m->line[i];
        if (l->is_label || is_branch(l) || is_wait(l) || is_op(l, "ret") || is_op(l, "exit")) return -1;
        if (touches_memory(l) && !only_counts(l)) return i;
    }
    return -1;
}

static bool memory_follows(const Maker *m, int i) /* anywhere later in the kernel */
{
    while (++i < m->n && m->line[i].in_kernel)
        if (touches_memory(&m->line[i])) return true;
    return false;
}

static bool meets_again(const Maker *m, int i) /* at a cluster barrier, whose arrivals order at least as much */
{
    int next = neighbour(m, i, 1);
    return next >= 0 && is_op(&m->line[next], "barrier.cluster.arrive");
}

static bool used_once(const Maker *m, const Line *label)
{
    int n = 0;
    size_t length = strlen(label->s) - 1;
    for (int i = 0; i < m->n; i++) {
        const char *at = m->line[i].op ? strstr(m->line[i].op, "$") : NULL;
        n += at && strncmp(at, label->s, length) == 0 && at[length] == ';';
    }
    return n == 1;
}

static void words_and_numbers(Maker *m, int i)
{
    const Line *l = &m->line[i];
    for (size_t k = 0; k < sizeof DROPS / sizeof DROPS[0]; k++)
        if (is_op(l, DROPS[k].op) && op_has(l, DROPS[k].has) && !(is_op(l, "bar.warp.sync") && meets_again(m, i)))
            emit_drop(m, DROPS[k].kind, i);
    for (size_t k = 0; k < sizeof TWICE / sizeof TWICE[0]; k++)
        if (is_op(l, TWICE[k].op) && op_has(l, TWICE[k].has))
            emit_line(m, TWICE[k].kind, i, make_text("%s\n%s", l->s, l->s));
    for (size_t k = 0; k < sizeof WORDS / sizeof WORDS[0]; k++)
        if (is_op(l, WORDS[k].op) && (strcmp(WORDS[k].kind, "wait_read") != 0 || memory_follows(m, i)))
            emit_line(m, WORDS[k].kind, i, with_word(l, WORDS[k].word, WORDS[k].by));
    Operands o = operands_of(l);
    for (size_t k = 0; k < sizeof NUMBERS / sizeof NUMBERS[0]; k++) {
        if (!is_op(l, NUMBERS[k].op) || !op_has(l, NUMBERS[k].has)) continue;
        int at = NUMBERS[k].operand < 0 ? o.n - 1 : NUMBERS[k].operand;
        long v;
        if (at < 0 || at >= o.n || !integer(o.s[at], o.size[at], &v)) continue;
        if (strcmp(NUMBERS[k].kind, "bar_other") == 0 && o.n < 2) continue; /* of all threads: any number does */
        long w = v * NUMBERS[k].factor + NUMBERS[k].plus;
        char by[24];
        snprintf(by, sizeof by, "%ld", w);
        if (w >= 0) emit_line(m, NUMBERS[k].kind, i, with(l, o.s[at], o.size[at], by));
    }
}

/* ---- kinds: waits ---- */
/* Lines first .. last go behind line `to`. */
static void emit_moved_down(Maker *m, const char *kind, int first, int last, int to)
{
    char *block = make_text("%s", m->line[to].s);
    Edit e[EDITS];
    int n = 0;
    for (int i = first; i <= last; i++) {
        char *longer = make_text("%s\n%s", block, m->line[i].s);
        free(block);
        block = longer;
        e[n++] = (Edit){i, NULL};
    }
    e[n++] = (Edit){to, block};
    emit(m, kind, last, e, n);
}

static void waits(Maker *m, int i)
{
    const Line *l = &m->line[i];
    if (!is_wait(l)) return;
    Operands o = operands_of(l);
    bool loops = i + 1 < m->n && is_branch(&m->line[i + 1]);
    bool labelled = i > 0 && m->line[i - 1].is_label;
    if (loops) {
        Edit both[2] = {{i, NULL}, {i + 1, NULL}};
        emit(m, "no_wait", i, both, 2);
        emit_drop(m, "wait_once", i + 1);
        int next = neighbour(m, i + 1, 1);
        if (labelled && used_once(m, &m->line[i - 1]) && next >= 0) emit_moved_down(m, "late_wait", i - 1, i + 1, next);
    }
    if (!op_has(l, ".parity") || o.n < 3) return;
    long v;
    if (integer(o.s[2], o.size[2], &v)) emit_line(m, "other_parity", i, with(l, o.s[2], o.size[2], v ? "0" : "1"));
    else
        emit_line(m, "other_parity", i,
                  make_text("    xor.b32 %.*s, %.*s, 1;\n%s\n    xor.b32 %.*s, %.*s, 1;", (int)o.size[2], o.s[2],
                            (int)o.size[2], o.s[2], l->s, (int)o.size[2], o.s[2], (int)o.size[2], o.s[2]));
}

/* ---- kinds: order ---- */
static void orders(Maker *m, int i)
{
    const Line *l = &m->line[i];
    static const struct {
        const char *kind, *op;
        int step;
    } MOVES[] = {
        {"late_fence", "fence.proxy.async", 1},
        {"late_group_wait", "cp.async.bulk.wait_group", 1},
        {"late_commit", "cp.async.bulk.commit_group", 1},
        {"late_sync", "bar.sync", 1},
        {"late_init_fence", "fence.mbarrier_init", 1},
        {"early_arrive", "mbarrier.arrive", -1},
        {"early_cluster", "barrier.cluster.arrive", -1},
        {"early_sync", "bar.sync", -1},
        {"early_flag", "st.release", -1},
    };
    for (size_t k = 0; k < sizeof MOVES / sizeof MOVES[0]; k++) {
        if (!is_op(l, MOVES[k].op)) continue;
        int to = neighbour(m, i, MOVES[k].step);
        if (to < 0 || only_counts(l) || is_op(&m->line[to], "bar.warp.sync")) continue;
        if (is_op(l, "cp.async.bulk.commit_group") && !is_op(&m->line[to], "cp.async.bulk.wait_group")) continue;
        if (MOVES[k].step > 0) emit_moved_down(m, MOVES[k].kind, i, i, to);
        else emit_moved_down(m, MOVES[k].kind, to, to, i);
    }
}

/* ---- kinds: addresses, barriers, masks ---- */
static int barrier_operand(const Line *l, const Operands *o)
{
    if (is_op(l, "cp.async.bulk.tensor") && op_has(l, "complete_tx")) return 2;
    if ((is_op(l, "cp.async.bulk.") || is_op(l, "cp.reduce.async.bulk.")) && op_has(l, "complete_tx")) return 3;
    if (is_op(l, "st.async") || is_op(l, "red.async")) return 2;
    for (int i = 0; is_op(l, "mbarrier.") && i < o->n; i++)
        if (o->s[i][0] == '[') return i;
    return -1;
}

static int shared_operand(const Line *l, const Operands *o) /* of a copy; -1: none */
{
    if (!is_op(l, "cp.async.bulk.") && !is_op(l, "cp.reduce.async.bulk.")) return -1;
    if (op_has(l, "complete_tx")) return 0;
    return op_has(l, ".bulk_group") && o->n > 1 ? 1 : -1;
}

static void addresses(Maker *m, int i)
{
    const Line *l = &m->line[i];
    Operands o = operands_of(l);
    int barrier = barrier_operand(l, &o), shared = shared_operand(l, &o);
    if (barrier >= 0) {
        emit_line(m, "barrier_up", i, moved(l, &o, barrier, 8));
        emit_line(m, "barrier_down", i, moved(l, &o, barrier, -8));
    }
    if (shared >= 0) {
        emit_line(m, "shift_16", i, moved(l, &o, shared, 16));
        emit_line(m, "shift_128", i, moved(l, &o, shared, 128));
        for (int k = i + 1; k < m->n && m->line[k].in_kernel; k++) { /* the slot of the next copy of that direction */
            if (!m->line[k].op) continue;
            Operands p = operands_of(&m->line[k]);
            if (shared_operand(&m->line[k], &p) != shared || p.size[shared] == 0) continue;
            if (p.size[shared] == o.size[shared] && memcmp(p.s[shared], o.s[shared], o.size[shared]) == 0) continue;
            char slot[120];
            snprintf(slot, sizeof slot, "%.*s", (int)p.size[shared], p.s[shared]);
            emit_line(m, "other_slot", i, with(l, o.s[shared], o.size[shared], slot));
            break;
        }
    }
    if (is_op(l, "ld.shared")) emit_line(m, "shift_read", i, moved(l, &o, 1, 16));
    if (is_op(l, "st.shared")) emit_line(m, "shift_write", i, moved(l, &o, 0, 16));
    if (is_op(l, "mapa") && o.n == 3 && o.s[2][0] == '%') emit_line(m, "rank_0", i, with(l, o.s[2], o.size[2], "0"));
    if (op_has(l, ".multicast::cluster") && o.n > 1) {
        emit_line(m, "mask_1", i, with(l, o.s[o.n - 1], o.size[o.n - 1], "1"));
        emit_line(m, "mask_2", i, with(l, o.s[o.n - 1], o.size[o.n - 1], "2"));
        emit_line(m, "mask_7", i, with(l, o.s[o.n - 1], o.size[o.n - 1], "7"));
        emit_line(m, "mask_high", i, with(l, o.s[o.n - 1], o.size[o.n - 1], "0x8001"));
    }
    if (is_op(l, "mbarrier.arrive.expect_tx.shared::cta.b64 _,")) {
        char *plain = with_word(l, ".expect_tx", "");
        char *comma = strrchr(plain, ',');
        memcpy(comma, ";", 2);
        emit_line(m, "no_bytes", i, plain);
    }
}

static void atomics(Maker *m, int i) /* an atomic addition in three steps */
{
    const Line *l = &m->line[i];
    Operands o = operands_of(l);
    if (!is_op(l, "atom.global.add.u32") || o.n != 3) return;
    int d = (int)o.size[0], a = (int)o.size[1], v = (int)o.size[2];
    emit_line(m, "plain_add", i,
              make_text("    ld.global.u32 %.*s, %.*s;\n    add.u32 %.*s, %.*s, %.*s;\n    st.global.u32 %.*s, %.*s;\n"
                        "    sub.u32 %.*s, %.*s, %.*s;",
                        d, o.s[0], a, o.s[1], d, o.s[0], d, o.s[0], v, o.s[2], a, o.s[1], d, o.s[0], d, o.s[0], d,
                        o.s[0], v, o.s[2]));
}

static void guards(Maker *m, int i) /* a thread, chosen to act alone */
{
    const Line *l = &m->line[i];
    bool alone = is_op(l, "elect.sync") || (is_op(l, "setp.ne.u32") && strstr(l->s, "%me, 0;"));
    if (alone && i + 1 < m->n && is_branch(&m->line[i + 1])) emit_drop(m, "all_threads", i + 1);
}

void mutants_make(const char *text, const char *const *kernels, int nkernels, void (*each)(void *user, const Mutant *m),
                  void *user)
{
    Maker m = {.each = each, .user = user};
    read_lines(&m, text, kernels, nkernels);
    for (int i = 0; i < m.n; i++) {
        if (!m.line[i].in_kernel || !m.line[i].op) continue;
        words_and_numbers(&m, i);
        waits(&m, i);
        orders(&m, i);
        addresses(&m, i);
        guards(&m, i);
        atomics(&m, i);
    }
    free(m.line);
    free(m.copy);
}
