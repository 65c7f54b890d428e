/* The programs of examples/ pass the checks, and the checked program says what they say. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frontend/prog.h"
#include "frontend/stdlib_embed.h"

typedef struct Fixture {
    Mem mem;
    jmp_buf fail;
    Arena arena, scratch;
    Sources sources;
    Diags diags;
    Compilation c;
    Checked *checked;
    PKernel *k; /* the last kernel; NULL after an error */
} Fixture;

static const char *read_module(void *user, const char *module, const char *from, size_t *size, const char **path,
                               const char **why)
{
    size_t n;
    const StdlibFile *files = stdlib_files(&n);
    (void)user;
    (void)from, (void)why;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(files[i].module, module) != 0) continue;
        *size = files[i].size;
        *path = files[i].path;
        return files[i].text;
    }
    return NULL;
}

static void check(Fixture *f, const char *name, const char *text)
{
    memset(f, 0, sizeof *f);
    f->mem.fail = &f->fail;
    arena_init(&f->arena, &f->mem);
    arena_init(&f->scratch, &f->mem);
    sources_init(&f->sources, &f->arena);
    diags_init(&f->diags, &f->arena, &f->sources);
    f->c = (Compilation){.arena = &f->arena,
                         .scratch = &f->scratch,
                         .names = names_new(&f->arena),
                         .sources = &f->sources,
                         .diags = &f->diags};
    if (setjmp(f->fail)) fail();
    ParseContext pc = {&f->arena, f->c.names, &f->diags, &f->sources};
    Unit *unit = parse_unit(&pc, sources_add(&f->sources, name, text, strlen(text)));
    ImportReader reader = {.read = read_module};
    f->checked = check_unit(&f->c, unit, NULL, 0, &reader, NULL);
    for (size_t i = 0; i < check_kernel_count(f->checked); i++) {
        f->k = check_kernel(f->checked, i);
        if (f->k) check_unused(&f->c, f->k);
    }
    if (f->diags.first == NULL) return;
    for (const Diag *g = f->diags.first; g; g = g->next) {
        const char *path;
        uint32_t line, col;
        source_place(&f->sources, g->span.lo, &path, &line, &col);
        fprintf(stderr, "%s:%u:%u: %s: %s\n", path, (unsigned)line, (unsigned)col, error_info(g->code)->code, g->text);
    }
    fail();
}

static void close_fixture(Fixture *f)
{
    arena_free(&f->scratch);
    arena_free(&f->arena);
}

static void folder(char *path, size_t n)
{
    const char *root = getenv("ROOT");
    snprintf(path, n, "%s/examples", root ? root : "..");
}

static char *read_file(const char *dir, const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    char *text = calloc(1, 1 << 16);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 16) - 1, in) > 0);
    fclose(in);
    return text;
}

static void all_programs(void **state)
{
    char dir[900];
    int n = 0;
    (void)state;
    folder(dir, sizeof dir);
    DIR *d = opendir(dir);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        Fixture f;
        if (!strstr(e->d_name, ".tile")) continue;
        char *text = read_file(dir, e->d_name);
        check(&f, e->d_name, text);
        close_fixture(&f);
        free(text);
        n++;
    }
    closedir(d);
    assert_true(n >= 18);
}

static void open_program(Fixture *f, const char *name)
{
    char dir[900];
    folder(dir, sizeof dir);
    char *text = read_file(dir, name);
    check(f, name, text);
    free(text);
    assert_non_null(f->k);
}

static const PStmt *nth(const PBlock *b, int n)
{
    const PStmt *s = b->first;
    while (n-- > 0 && s) s = s->next;
    assert_non_null(s);
    return s;
}

/* ---- pipelines ---- */

static void nested_pipelines(void **state)
{
    Fixture f;
    (void)state;
    open_program(&f, "gemm_io.tile");
    PStmt *outer = f.k->body.first;
    while (outer->kind == P_LET) outer = outer->next;
    assert_int_equal(outer->kind, P_PIPELINE);
    assert_int_equal(outer->pipe->n, 2);
    assert_int_equal(outer->pipe->deal, DEAL_ANY);
    assert_int_equal(outer->pipe->stages, 0);
    assert_true(f.k->across_span.hi != 0 && f.k->grid_span.hi == 0);
    const PStmt *inner = outer->body.first;
    while (inner->kind == P_LET) inner = inner->next;
    assert_int_equal(inner->kind, P_PIPELINE);
    assert_int_equal(inner->pipe->stages, 4);
    assert_int_equal(inner->pipe->deal, DEAL_NONE);
    const PMove *a = inner->body.first->move, *b = nth(&inner->body, 1)->move;
    assert_int_equal(a->cast, CAST_X);
    assert_int_equal(b->cast, CAST_Y);
    assert_ptr_equal(a->dst.tile->pipe, inner->pipe);
    close_fixture(&f);
}

static void pipeline_heads(void **state)
{
    Fixture f;
    (void)state;
    check(&f, "t.tile",
          "kernel k(x: global f32[M, 4], y: global f32[M, 4], n: s64) {\n"
          "  var v = 4;\n"
          "  pipeline (i, j) in (2 .. n, v) stages 3 threads 96 across grid by ticket {\n"
          "    let a = i + j;\n"
          "    shared t: f32[1, 4];\n"
          "    move x[a, 0] -> t;\n"
          "    move t -> y[a, 0];\n"
          "  }\n"
          "}\n");
    const PStmt *s = nth(&f.k->body, 2);
    assert_int_equal(nth(&f.k->body, 1)->kind, P_LET); /* v is read once */
    assert_int_equal(s->kind, P_PIPELINE);
    const PPipe *p = s->pipe;
    assert_int_equal(p->v[0].lo->k, 2);
    assert_int_equal(p->v[0].hi->op, SX_SYM);
    assert_int_equal(p->v[1].lo->k, 0);
    assert_int_equal(p->v[1].hi->op, SX_LET);
    assert_int_equal(p->stages, 3);
    assert_int_equal(p->threads, 96);
    assert_int_equal(p->deal, DEAL_TICKET);
    const Sx *a = s->body.first->value;
    assert_int_equal(a->a->op, SX_INDEX);
    assert_int_equal(a->a->k, p->v[0].loop);
    assert_int_equal(a->b->k, p->v[1].loop);
    close_fixture(&f);
}

/* ---- moves ---- */

static void rows(void **state)
{
    Fixture f;
    (void)state;
    check(&f, "t.tile",
          "kernel k(x: global f32[V, 64], idx: global s32[B, R], y: global f32[V, 64]) grid (R) {\n"
          "  shared t: f32[4, 64]; \n"
          "  move x[idx[cta.x, 8 +: 4], :] -> t;\n"
          "  move t -> y[{3, 1, cta.x, 7}, 0 +: 64] via bulk;\n"
          "}\n");
    const PDim *d = &f.k->body.first->move->src.dim[0];
    assert_true(d->marked && !d->whole);
    assert_int_equal(d->extent, 4);
    assert_int_equal(d->start->k, 0);
    assert_ptr_equal(d->rows->tensor, f.k->tensors.v[1]);
    assert_int_equal(d->rows->dim, 1);
    assert_int_equal(d->rows->at[0]->op, SX_CTA);
    assert_int_equal(d->rows->at[1]->k, 8);
    d = &nth(&f.k->body, 1)->move->dst.dim[0];
    assert_int_equal(d->extent, 4);
    assert_null(d->rows->tensor);
    assert_int_equal(d->rows->list[1]->k, 1);
    assert_int_equal(d->rows->list[2]->op, SX_CTA);
    close_fixture(&f);
}

static void work_by_threads(void **state)
{
    Fixture f;
    (void)state;
    check(&f, "t.tile",
          "kernel k(x: global f16[3, 64, 32], y: global f32[3, 32, 64]) {\n"
          "  shared a: f16[3, 64, 32]; shared b: f32[3, 32, 64];\n"
          "  move x -> a; fill b = 0;\n"
          "  move a -> b transpose convert sat reduce add via threads;\n"
          "  move a[0, 0 +: 8, :] -> b[1, 0 +: 8, 0 +: 32] convert via threads;\n"
          "  move b -> y;\n"
          "}\n");
    const PMove *m = nth(&f.k->body, 2)->move;
    assert_int_equal(m->kind, MOVE_SHARED);
    assert_int_equal(m->via, VIA_THREADS);
    assert_true(m->transpose && m->convert && m->sat);
    assert_int_equal(m->reduce, word_find(WORDS_REDUCE, "add"));
    m = nth(&f.k->body, 3)->move;
    assert_true(m->convert && !m->sat && !m->transpose);
    assert_int_equal(m->reduce, -1);
    close_fixture(&f);
}

static void peers(void **state)
{
    Fixture f;
    (void)state;
    check(&f, "t.tile",
          "kernel k(x: global u32[64], y: global u32[64]) cluster (2, 2) grid (2, 2) {\n"
          "  shared a: u32[2][64]; shared b: u32[64]; barrier full; barrier done[2] free;\n"
          "  let next = (cluster.rank + 1) % cluster.size;\n"
          "  fill b = 0;\n"
          "  move x[0] -> a[0] multicast (1 << (cluster.rank ^ 1));\n"
          "  move a[0] -> peer(b, next) reduce add commit peer(full, next);\n"
          "  wait full;\n"
          "  arrive peer(done[1], next);\n"
          "  fill peer(a[1], next) = cluster.rank;\n"
          "  move x[0] -> peer(b, next);\n"
          "  move b -> y[0] overlap any;\n"
          "}\n");
    const PStmt *s = f.k->body.first;
    assert_int_equal(s->kind, P_LET);
    const PMove *m = nth(&f.k->body, 2)->move;
    assert_int_equal(m->cast, CAST_MASK);
    assert_int_equal(m->mask->op, SX_SHL);
    m = nth(&f.k->body, 3)->move;
    assert_int_equal(m->kind, MOVE_PEER);
    assert_int_equal(m->dst.peer->op, SX_LET);
    assert_ptr_equal(m->barrier_peer, m->dst.peer);
    s = nth(&f.k->body, 5);
    assert_int_equal(s->kind, P_ARRIVE);
    assert_int_equal(s->value->k, 1);
    assert_int_equal(s->peer->op, SX_LET);
    assert_true(s->barrier->is_free);
    m = nth(&f.k->body, 6)->move;
    assert_int_equal(m->kind, MOVE_FILL);
    assert_int_equal(m->value_sx->op, SX_RANK);
    m = nth(&f.k->body, 7)->move;
    assert_int_equal(m->kind, MOVE_LOAD);
    assert_non_null(m->dst.peer);
    close_fixture(&f);
}

/* What arrives at a peer and the wait for it stand under different conditions of the rank. */
static void gathered(void **state)
{
    Fixture f;
    (void)state;
    check(&f, "t.tile",
          "kernel k(x: global u32[N], y: global u32[N], n: s64) cluster (4) grid (4) {\n"
          "  shared t: u32[64]; shared parts: u32[4][64]; barrier full; barrier done[2];\n"
          "  move x[0] -> t;\n"
          "  if cluster.rank != 0 { move t -> peer(parts[cluster.rank], 0) commit peer(full, 0); }\n"
          "  else { wait full; for i in 1 .. 4 { move parts[i] -> y[i * 64]; } }\n"
          "  for i in n { if i > 0 { wait done[i % 2]; } arrive done[(i + 1) % 2]; }\n"
          "}\n");
    assert_non_null(f.k);
    close_fixture(&f);
}

/* Tiles that others write in loops and under conditions of the rank. */
static void trees_and_rings(void **state)
{
    Fixture f;
    (void)state;
    check(&f, "t.tile",
          "kernel tree(x: global u32[N], y: global u32[N]) cluster (4) grid (4) {\n"
          "  shared acc: u32[64]; shared got: u32[64];\n"
          "  move x[cluster.rank * 64] -> acc;\n"
          "  if cluster.rank % 2 == 1 { move acc -> peer(got, cluster.rank - 1); }\n"
          "  if cluster.rank % 2 == 0 { move got -> acc reduce add via threads; move acc -> y[cluster.rank * 64]; }\n"
          "}\n"
          "kernel gather(x: global u32[N], y: global u32[N]) cluster (4) grid (4) {\n"
          "  shared mine: u32[64]; shared all: u32[4][64];\n"
          "  move x[cluster.rank * 64] -> mine;\n"
          "  for d in 1 .. 4 { move mine -> peer(all[cluster.rank], (cluster.rank + d) % 4); }\n"
          "  for d in 1 .. 4 { move all[(cluster.rank + d) % 4] -> y[(cluster.rank * 4 + d) * 64]; }\n"
          "}\n"
          "kernel alone<C = 1>(x: global u32[N], y: global u32[N]) cluster (C) grid (2) {\n"
          "  shared t: u32[64];\n"
          "  move x[0] -> t multicast x;\n"
          "  move t -> y[cta.x * 64];\n"
          "}\n");
    assert_non_null(f.k);
    assert_int_equal(f.k->body.first->move->cast, CAST_NONE); /* a set of one */
    close_fixture(&f);
}

static void prefetches(void **state)
{
    Fixture f;
    (void)state;
    check(&f, "t.tile",
          "kernel k(x: global f32[N, 64]) {\n"
          "  map m = x box [16, 64] stride [2, 1]; policy p = evict_last;\n"
          "  pipeline i in ceil(N, 64) across grid { prefetch x[i * 64 +: 32, :] cache p ahead 3; prefetch x[i, 0] via "
          "m; }\n"
          "}\n");
    const PMove *m = f.k->body.first->body.first->move;
    assert_int_equal(m->kind, MOVE_PREFETCH);
    assert_int_equal(m->ahead, 3);
    assert_int_equal(m->src.dim[1].extent, 64);
    m = f.k->body.first->body.first->next->move;
    assert_int_equal(m->src.dim[0].extent, 8); /* every second row of the box */
    assert_ptr_equal(m->map, f.k->maps.v[0]);
    close_fixture(&f);
}

static void roles_and_trust(void **state)
{
    Fixture f;
    (void)state;
    check(&f, "t.tile",
          "kernel k(x: global u32[N], idx: global u32[N], y: global u32[N]) trust distinct(idx) {\n"
          "  shared t: u32[64]; barrier full;\n"
          "  roles {\n"
          "    role load { expect full, 256; move x[0] -> t commit full; }\n"
          "    role store threads 128 { wait full; move t -> y[idx[0]] reduce max commit group; wait group; }\n"
          "  }\n"
          "}\n");
    const PKernel *k = f.k;
    assert_int_equal(k->trusts.n, 1);
    assert_ptr_equal(k->trusts.v[0].tensor, k->tensors.v[1]);
    assert_int_equal(k->threads, 160);
    const PStmt *s = k->body.first;
    assert_int_equal(s->kind, P_ROLES);
    assert_int_equal(s->roles.n, 2);
    assert_int_equal(s->roles.v[0].threads, 32);
    assert_int_equal(s->roles.v[1].threads, 128);
    assert_int_equal(s->roles.v[0].body.first->kind, P_EXPECT);
    assert_int_equal(s->roles.v[0].body.first->bytes->k, 256);
    assert_int_equal(nth(&s->roles.v[1].body, 1)->move->reduce, word_find(WORDS_REDUCE, "max"));
    close_fixture(&f);
}

/* ---- values ---- */

static uint64_t filled(const char *type, const char *value)
{
    char text[256];
    Fixture f;
    snprintf(text, sizeof text, "kernel k(y: global %s[64]) { shared t: %s[64]; fill t = %s; move t -> y[0]; }", type,
             type, value);
    check(&f, "t.tile", text);
    uint64_t bits = f.k->body.first->move->value;
    close_fixture(&f);
    return bits;
}

static void values(void **state)
{
    (void)state;
    static const struct {
        const char *type, *value;
        uint64_t bits;
    } rows[] = {{"u8", "255", 0xff},
                {"s8", "-128", 0x80},
                {"s64", "-1", UINT64_MAX},
                {"s16", "-2", 0xfffe},
                {"u64", "7", 7},
                {"f32", "1.0", 0x3f800000},
                {"f32", "-0.1", 0xbdcccccd},
                {"f32", "1", 0x3f800000},
                {"f32", "0", 0},
                {"f32", "1e-45", 1},
                {"f32", "1e-46", 0},
                {"f32", "3.4028234663852886e38", 0x7f7fffff},
                {"f32", "-0.0", 0x80000000},
                {"f64", "0.1", 0x3fb999999999999a},
                {"f64", "5e-324", 1},
                {"f64", "-2", 0xc000000000000000},
                {"f16", "1.0", 0x3c00},
                {"f16", "65504.0", 0x7bff},
                {"f16", "6e-8", 1},
                {"f16", "0.333251953125", 0x3555},
                {"f16", "2049", 0x6800},
                {"f16", "2051", 0x6802}, /* ties to even */
                {"bf16", "1.0", 0x3f80},
                {"bf16", "-3.140625", 0xc049},
                {"bf16", "1.00390625", 0x3f80},
                {"bf16", "1.01171875", 0x3f82},
                {"tf32", "1.0", 0x3f800000},
                {"tf32", "1.00048828125", 0x3f800000},
                {"tf32", "1.0009765625", 0x3f802000},
                {"e4m3", "1.0", 0x38},
                {"e4m3", "448.0", 0x7e},
                {"e4m3", "-0.001953125", 0x81},
                {"e4m3", "17", 0x58},
                {"e5m2", "1.0", 0x3c},
                {"e5m2", "57344.0", 0x7b},
                {"e5m2", "0.0000152587890625", 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t got = filled(rows[i].type, rows[i].value);
        if (got != rows[i].bits) print_error("%s %s\n", rows[i].type, rows[i].value);
        assert_true(got == rows[i].bits);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_programs),    cmocka_unit_test(nested_pipelines),
        cmocka_unit_test(pipeline_heads),  cmocka_unit_test(rows),
        cmocka_unit_test(work_by_threads), cmocka_unit_test(peers),
        cmocka_unit_test(gathered),        cmocka_unit_test(trees_and_rings),
        cmocka_unit_test(prefetches),      cmocka_unit_test(roles_and_trust),
        cmocka_unit_test(values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
