/* The disk cache under the compiler: its hash against published sums, cubins, assemblers that change, and what happens when memory
 * runs out. The program is its own assembler: called with -arch=.. it writes a cubin of sorts, or refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "ptxgen/cache/cache.h"
#include "tests/unit/scarce.h"

static char folder[] = "/tmp/cache_test.XXXXXX", self[4096];

/* ---- the assembler ---- */

static int assembler(char **argv)
{
    const char *log = getenv("REFUSES"), *out = NULL;
    if (log) {
        puts(log);
        return 1;
    }
    for (; *argv; argv++)
        if (strcmp(*argv, "-o") == 0) out = argv[1];
    FILE *f = out ? fopen(out, "wb") : NULL;
    if (!f) return 1;
    fputs("\177ELF", f);
    return fclose(f) != 0;
}

/* ---- the hash: the examples of FIPS 180-4 and what openssl says of lengths around a block ---- */

static void is_sum(const char *want, const void *text, size_t n, size_t step)
{
    Sha256 h;
    unsigned char sum[SHA256_BYTES];
    char hex[2 * SHA256_BYTES + 1];
    sha256_init(&h);
    for (size_t at = 0; at < n; at += step) sha256_put(&h, (const char *)text + at, n - at < step ? n - at : step);
    sha256_end(&h, sum);
    for (int i = 0; i < SHA256_BYTES; i++) snprintf(hex + 2 * i, 3, "%02x", sum[i]);
    assert_string_equal(hex, want);
}

static void sums(void **state)
{
    static const char two[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    static const struct {
        size_t n;
        const char *sum;
    } ROWS[] = {
        {1, "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"},
        {55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"},
        {56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"},
        {57, "f13b2d724659eb3bf47f2dd6af1accc87b81f09f59f2b75e5c0bed6589dfe8c6"},
        {63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"},
        {64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"},
        {65, "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0"},
        {119, "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb"},
        {120, "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c"},
        {127, "c57e9278af78fa3cab38667bef4ce29d783787a2f731d4e12200270f0c32320a"},
        {128, "6836cf13bac400e9105071cd6af47084dfacad4e5e302c94bfed24e013afb73e"},
    };
    (void)state;
    is_sum("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "", 0, 1);
    is_sum("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", "abc", 3, 3);
    is_sum("248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1", two, sizeof two - 1, 7);
    char *a = malloc(1000000);
    assert_non_null(a);
    memset(a, 'a', 1000000);
    is_sum("cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0", a, 1000000, 1000000);
    is_sum("cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0", a, 1000000, 63);
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        for (size_t step = 1; step <= ROWS[i].n; step += 13) is_sum(ROWS[i].sum, a, ROWS[i].n, step);
    free(a);
}

static void keys(void **state)
{
    (void)state;
    CacheKey k[4];
    unsigned char sum[4][SHA256_BYTES];
    for (int i = 0; i < 4; i++) key_begin(&k[i], "test");
    assert_null(k[0].unknown);
    key_text(&k[0], "ab"), key_text(&k[0], "");
    key_text(&k[1], "a"), key_text(&k[1], "b");
    key_text(&k[2], ""), key_text(&k[2], "ab");
    key_text(&k[3], "ab"), key_text(&k[3], NULL);
    for (int i = 0; i < 4; i++) sha256_end(&k[i].hash, sum[i]);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++) assert_memory_not_equal(sum[i], sum[j], SHA256_BYTES);
}

/* ---- cubins ---- */

static const char SOURCE[] = "kernel copy<N = 64>(x: global f32[M, N], y: global f32[M, N]) grid (ceil(M, 8)) {\n"
                             "    shared t: f32[8, N];\n"
                             "    move x[cta.x * 8, 0] -> t;\n"
                             "    move t -> y[cta.x * 8, 0];\n"
                             "}\n";

static tilecc_result *compiled(tilecc_options o, const char *n)
{
    const tilecc_define d = {"N", n};
    o.struct_size = sizeof o;
    o.defines = &d;
    o.ndefines = 1;
    o.assembler = TILECC_ASM_PTXAS;
    tilecc_result *r = tilecc_compile(&o, "k.tile", SOURCE, sizeof SOURCE - 1);
    assert_non_null(r);
    return r;
}

static void is(const tilecc_options o, const char *n, tilecc_status status, const char *cache)
{
    tilecc_result *r = compiled(o, n);
    assert_int_equal(r->status, status);
    if (!r->cache || !strstr(r->cache, cache)) fail_msg("expected \"%s\", got \"%s\"", cache, r->cache ? r->cache : "NULL");
    if (status == TILECC_OK) {
        assert_true(r->output_size == 4 && memcmp(r->output, "\177ELF", 5) == 0);
        assert_non_null(strstr(r->assembler, o.ptxas));
        assert_true(r->ptx_size > 1000 && strlen(r->ptx) == r->ptx_size);
    }
    tilecc_free(r);
}

static void cubins(void **state)
{
    (void)state;
    tilecc_options o = {.emit = TILECC_EMIT_CUBIN, .cache = 1, .ptxas = self};
    is(o, "64", TILECC_OK, "PTX kept, cubin kept");
    is(o, "64", TILECC_OK, "PTX taken, cubin taken");
    o.lineinfo = 1;
    is(o, "64", TILECC_OK, "PTX kept, cubin kept");
    o.lineinfo = 0;
    setenv("REFUSES", "never called", 1);
    is(o, "64", TILECC_OK, "PTX taken, cubin taken");
    unsetenv("REFUSES");
    tilecc_options none = o;
    none.ptxas = "/nonexistent/ptxas";
    is(none, "64", TILECC_ERROR_TOOL, "PTX taken");
    tilecc_options ptx = o;
    ptx.emit = TILECC_EMIT_PTX;
    tilecc_result *r = compiled(ptx, "64");
    assert_non_null(strstr(r->cache, "PTX taken"));
    ptx.cache = 0;
    tilecc_result *s = compiled(ptx, "64");
    assert_null(s->cache);
    assert_string_equal(r->output, s->output);
    tilecc_free(r);
    tilecc_free(s);
}

/* Another program, one that was written just now, a script: none is given the cubin of the first. */
static void assemblers(void **state)
{
    (void)state;
    char other[4200], command[9000];
    tilecc_options o = {.emit = TILECC_EMIT_CUBIN, .cache = 1, .ptxas = self};
    is(o, "32", TILECC_OK, "PTX kept, cubin kept");
    snprintf(other, sizeof other, "%s/ptxas", folder);
    snprintf(command, sizeof command, "cp '%s' '%s'", self, other);
    assert_int_equal(system(command), 0);
    o.ptxas = other;
    is(o, "32", TILECC_OK, "PTX taken, cubin not kept: the assembler was changed just now");
    snprintf(other, sizeof other, "%s/script", folder);
    FILE *f = fopen(other, "w");
    assert_non_null(f);
    fprintf(f, "#!/bin/sh\nexec '%s' \"$@\"\n", self);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(other, 0700), 0);
    is(o, "32", TILECC_OK, "PTX taken, cubin not kept: the assembler is no ELF file");
    o.ptxas = "/bin/false";
    is(o, "32", TILECC_ERROR_TOOL, "PTX taken");
}

/* What the assembler says names places of the source, also where its PTX is taken; and it is not kept. */
static void refusals(void **state)
{
    (void)state;
    char log[128];
    tilecc_options o = {.emit = TILECC_EMIT_PTX, .cache = 1, .ptxas = self};
    tilecc_result *r = compiled(o, "16");
    const char *at = strstr(r->ptx, "cp.async.bulk");
    assert_non_null(at);
    unsigned line = 1;
    for (const char *p = r->ptx; p < at; p++) line += *p == '\n';
    tilecc_free(r);
    snprintf(log, sizeof log, "ptxas tile.ptx, line %u; error   : no thanks", line);
    setenv("REFUSES", log, 1);
    o.emit = TILECC_EMIT_CUBIN;
    o.cache = 0;
    tilecc_result *want = compiled(o, "16");
    o.cache = 1;
    for (int i = 0; i < 2; i++) {
        r = compiled(o, "16");
        assert_int_equal(r->status, TILECC_ERROR_TOOL);
        assert_non_null(strstr(r->cache, "PTX taken"));
        assert_null(strstr(r->cache, "cubin"));
        assert_non_null(strstr(r->message, "k.tile:3:5"));
        assert_string_equal(r->message, want->message);
        assert_string_equal(r->diagnostics, want->diagnostics);
        tilecc_free(r);
    }
    unsetenv("REFUSES");
    tilecc_free(want);
}

/* ---- memory ---- */

static int open_files(void)
{
    int n = 0;
    for (int fd = 0; fd < 256; fd++) {
        struct stat st;
        n += fstat(fd, &st) == 0;
    }
    return n;
}

static void scarce(void **state)
{
    (void)state;
    Scarce s = {0};
    tilecc_options o = {.emit = TILECC_EMIT_CUBIN, .cache = 1, .ptxas = self, .realloc = scarce_realloc, .user = &s};
    int files = open_files();
    for (int taken = 0; taken < 2; taken++) { /* both with nothing there, where PTX and cubin are kept, and with both */
        tilecc_cache_facts facts = {.struct_size = sizeof facts};
        if (!taken) assert_int_equal(tilecc_cache(TILECC_CACHE_CLEAR, &facts), TILECC_OK);
        s = (Scarce){0};
        if (taken) tilecc_free(compiled(o, "64"));
        s.made = 0;
        is(o, "64", TILECC_OK, taken ? "PTX taken, cubin taken" : "PTX kept, cubin kept");
        assert_int_equal(s.live, 0);
        for (long n = 0, all = s.made; n < all; n++) {
            if (!taken && n % 7) continue; /* the assembler is started each time */
            if (!taken) assert_int_equal(tilecc_cache(TILECC_CACHE_CLEAR, &facts), TILECC_OK);
            s = (Scarce){.refused = n + 1, .behind = true};
            o.struct_size = sizeof o;
            const tilecc_define d = {"N", "64"};
            o.defines = &d;
            o.ndefines = 1;
            o.assembler = TILECC_ASM_PTXAS;
            tilecc_result *r = tilecc_compile(&o, "k.tile", SOURCE, sizeof SOURCE - 1);
            assert_true(r == NULL || r->status == TILECC_ERROR_ENVIRONMENT || r->status == TILECC_OK);
            if (r && r->status == TILECC_OK) assert_memory_equal(r->output, "\177ELF", 5);
            tilecc_free(r);
            assert_int_equal(s.live, 0);
            assert_int_equal(open_files(), files);
        }
    }
}

/* Never more than the limit, whatever the size of what comes, and the last ones are there. */
static void bounded(void **state)
{
    static char bytes[1 << 14];
    (void)state;
    setenv("TILECC_CACHE_SIZE", "256K", 1);
    for (uint64_t size = 128; size <= sizeof bytes; size *= 8) {
        Cache c;
        cache_open(&c, true);
        assert_true(c.folder >= 0);
        tilecc_cache_facts f = {.struct_size = sizeof f};
        for (uint64_t n = 0; n < 3 * (256 << 10) / (size + 128); n++) {
            CacheKey k;
            key_begin(&k, "bounded");
            key_number(&k, size);
            key_number(&k, n);
            const CacheKey again = k;
            assert_true(cache_put(&c, &k, &(CacheEntry){.output = bytes, .note = bytes, .output_size = size}));
            if (n % 64) continue;
            CacheEntry e;
            assert_int_equal(tilecc_cache(TILECC_CACHE_COUNT, &f), TILECC_OK);
            assert_true(f.bytes <= f.limit && f.limit == 256 << 10);
            Mem mem = {.realloc = scarce_realloc, .user = &(Scarce){0}};
            assert_true(cache_get(&c, &mem, &again, &e));
            mem_free(&mem, e.block);
        }
        assert_true(f.bytes > f.limit / 2);
        cache_close(&c);
    }
    unsetenv("TILECC_CACHE_SIZE");
}

static void facts(void **state)
{
    (void)state;
    tilecc_cache_facts f = {.struct_size = offsetof(tilecc_cache_facts, folder), .why = "untouched"};
    assert_int_equal(tilecc_cache(TILECC_CACHE_COUNT, &f), TILECC_OK);
    assert_true(f.entries > 0 && f.bytes > 0 && f.limit == 256 << 20);
    assert_int_equal(f.struct_size, offsetof(tilecc_cache_facts, folder));
    assert_string_equal(f.folder, "");
    assert_string_equal(f.why, "untouched");
    assert_int_equal(tilecc_cache(TILECC_CACHE_COUNT, NULL), TILECC_ERROR_USAGE);
    assert_int_equal(tilecc_cache((tilecc_cache_work)9, &f), TILECC_ERROR_USAGE);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strncmp(argv[1], "-arch=", 6) == 0) return assembler(argv);
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0 || !mkdtemp(folder)) return 3;
    struct stat st;
    if (stat(self, &st) == 0 && time(NULL) < st.st_ctim.tv_sec + 3) sleep(3); /* linked just now: an assembler that settles */
    unsetenv("TILECC_CACHE");
    unsetenv("TILECC_CACHE_SIZE");
    setenv("TILECC_CACHE_DIR", folder, 1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums),       cmocka_unit_test(keys),     cmocka_unit_test(cubins),
                                       cmocka_unit_test(assemblers), cmocka_unit_test(refusals), cmocka_unit_test(scarce),
                                       cmocka_unit_test(facts),      cmocka_unit_test(bounded)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command) != 0 || failed;
}
