/* The plain reference of the run tests: makes .npy arrays and says what a program must have made of them. It shares
 * no code with the project, only the names of the types.
 *
 *   reference make DTYPE SHAPE SEED OUT.npy           random bytes; DTYPE u1 u2 i2 f2 u4 i4 f4 u8 i8 f8, SHAPE 3,5,16
 *   reference reshape IN.npy SHAPE OUT.npy            the same elements in another shape
 *   reference index ROWS COUNT SEED OUT.npy           i4: rows of a table, some of them outside (negative, too large)
 *   reference indices DTYPE ROWS SHAPE SEED OUT.npy   the same of any integer type
 *   reference offsets PARTS TOTAL SEED OUT.npy        i4: PARTS + 1 numbers from 0 to TOTAL, in order
 *   reference same A.npy B.npy                        equal type, shape and bytes
 *   reference affine IN.npy OUT.npy FILL OFFSETS STEPS
 *             OUT[i, j, ..] = IN[i * step + offset, ..] where that lies inside IN, elsewhere FILL (hex, per element)
 *   reference window IN.npy BEFORE.npy OUT.npy LOW HIGH
 *             OUT[i, ..] = IN[i - low, ..] for low <= i < high, BEFORE[i, ..] elsewhere
 *   reference gather TABLE.npy INDEX.npy OUT.npy      OUT[r, ..] = TABLE[INDEX[r], ..], zeros where that is outside
 *   reference scatter IN.npy INDEX.npy BEFORE.npy OUT.npy
 *             every element of OUT[v, ..] is that of some IN[r, ..] with INDEX[r] == v (rows sent to one place may
 *             mix), and that of BEFORE[v, ..] where there is none
 *   reference row TABLE.npy INDEX.npy K OUT.npy R [INDEX2.npy]
 *             OUT[R, ..] = TABLE[INDEX[K], ..] or TABLE[INDEX2[INDEX[K]], ..], zeros where one of them is outside
 *   reference rows TABLE.npy OUT.npy R0,R1,..         OUT[i, ..] = TABLE[Ri, ..], zeros where that is outside
 *   reference map IN.npy OUT.npy FILL OFFSET STRIDES LIMITS
 *             OUT[i, j, ..] = element OFFSET + i * stride + j * stride + .. of IN where i, j, .. are below the limits,
 *             elsewhere FILL; the two may have other ranks, and types of the same size
 *   reference block IN.npy OUT.npy FROM SIZE TO       OUT[i + to, ..] = IN[i + from, ..] for i, .. below SIZE
 *   reference blocks IN.npy OUT.npy N                 OUT[j * N + r, i * N + c] = IN[i * N + r, j * N + c]
 *   reference periodic IN.npy OUT.npy                 IN over and over again, of any rank
 *   reference patches IN.npy OUT.npy STEPS OFFSETS    OUT[i, j, r, c] = IN[i * step + r + offset, j * step + c + offset],
 *                                                     zeros where that is outside
 *   reference constant DTYPE SHAPE VALUE OUT.npy      the same whole number everywhere
 *   reference select IN.npy BEFORE.npy FLAGS.npy OUT.npy ROWS COLUMNS PARITY
 *             OUT[i, j] = IN[i, j] where FLAGS[i / ROWS] > 0 and j / COLUMNS % 2 is PARITY (2: whatever it is),
 *             elsewhere BEFORE[i, j]
 *   reference distinct ROWS COUNT SEED OUT.npy        i4: different rows of a table in any order, some of them outside
 *   reference turn IN.npy OUT.npy                     makes OUT[j, i] = IN[i, j]
 *   reference take TABLE.npy INDEX.npy ROWS OUT.npy   makes OUT[r, ..] = TABLE[INDEX[r], ..] of ROWS rows; zeros where that is
 *                                                     outside, or there is no INDEX[r]
 *   reference gather_scatter TABLE.npy INDEX.npy TO.npy BEFORE.npy OUT.npy
 *             OUT[TO[r], ..] = TABLE[INDEX[r], ..], zeros where that is outside; BEFORE where no TO[r] points
 * and what reference_sums.c, reference_fills.c, reference_columns.c, reference_im2col.c,
 * reference_groups.c, reference_numbers.c and reference_tmem.c say.
 * Exit code 0; 1 with the first difference; 3 for files that can't be used.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference.h"

void fail(const char *what, const char *path)
{
    fprintf(stderr, "reference: %s: %s\n", path, what);
    exit(3);
}

static void measure(Array *a)
{
    a->count = 1;
    for (int d = 0; d < a->rank; d++) a->count *= (size_t)a->shape[d];
}

Array load(const char *path)
{
    FILE *f = fopen(path, "rb");
    Array a = {.rank = 0};
    unsigned char head[10];
    char text[4096];
    if (!f || fread(head, 1, 10, f) != 10 || memcmp(head, "\x93NUMPY\x01", 7) != 0) fail("not a .npy file", path);
    size_t n = (size_t)head[8] + 256u * head[9];
    if (n >= sizeof text || fread(text, 1, n, f) != n) fail("header", path);
    text[n] = 0;
    char *t = strstr(text, "'descr': '"), *s = strstr(text, "'shape': (");
    if (!t || !s || strstr(text, "'fortran_order': True")) fail("header", path);
    sscanf(t + 10, "%7[^']", a.type);
    a.size = a.type[2] - '0';
    for (s += 10; *s && *s != ')';) {
        a.shape[a.rank++] = strtol(s, &s, 10);
        while (*s == ',' || *s == ' ') s++;
    }
    measure(&a);
    a.data = malloc(a.count * (size_t)a.size + 1);
    if (!a.data || fread(a.data, (size_t)a.size, a.count, f) != a.count) fail("shorter than its shape", path);
    fclose(f);
    return a;
}

void save(const Array *a, const char *path)
{
    char text[256], shape[160] = "";
    for (int d = 0; d < a->rank; d++) sprintf(shape + strlen(shape), "%ld,%s", a->shape[d], d + 1 < a->rank ? " " : "");
    int n = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", a->type, shape);
    FILE *f = fopen(path, "wb");
    if (!f) fail("can't be written", path);
    unsigned char head[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, 118, 0};
    fwrite(head, 1, 10, f);
    fprintf(f, "%-117s\n", n < 118 ? text : "");
    if (fwrite(a->data, (size_t)a->size, a->count, f) != a->count || fclose(f)) fail("can't be written", path);
}

uint64_t random_bits(uint64_t *state) /* splitmix64 */
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static int numbers(const char *s, long *out)
{
    int n = 0;
    char *end;
    for (; *s && n < RANK; s = *end ? end + 1 : end) out[n++] = strtol(s, &end, 10);
    return n;
}

Array new_array(const char *type, const char *shape, const char *path)
{
    Array a = {.size = type[1] - '0'};
    sprintf(a.type, "%s%s", a.size == 1 ? "|" : "<", type);
    a.rank = numbers(shape, a.shape);
    measure(&a);
    if (!(a.data = malloc(a.count * (size_t)a.size + 8))) fail("memory", path);
    return a;
}

static int reshape(char **v)
{
    Array a = load(v[0]), shaped = new_array(a.type + 1, v[1], v[2]);
    if (shaped.count != a.count) fail("another number of elements", v[2]);
    memcpy(shaped.data, a.data, a.count * (size_t)a.size);
    save(&shaped, v[2]);
    return 0;
}

static int make(char **v)
{
    Array a = new_array(v[0], v[1], v[3]);
    uint64_t seed = strtoull(v[2], NULL, 0);
    size_t bytes = a.count * (size_t)a.size;
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t x = random_bits(&seed);
        memcpy(a.data + i, &x, 8);
    }
    save(&a, v[3]);
    return 0;
}

static int make_indices(char **v)
{
    long rows = strtol(v[1], NULL, 10);
    Array a = new_array(v[0], v[2], v[4]);
    uint64_t seed = strtoull(v[3], NULL, 0);
    for (size_t i = 0; i < a.count; i++) { /* little endian: the low bytes of x are x in a smaller type */
        static const int32_t outside[] = {-1, -2, INT32_MIN, INT32_MAX};
        int64_t x = rows ? (int64_t)(random_bits(&seed) % (uint64_t)rows) : 0; /* outside, of a table without rows */
        if (i % 7 == 3) x = outside[i / 7 % 4];
        if (i % 11 == 5) x = rows;
        memcpy(a.data + i * (size_t)a.size, &x, (size_t)a.size);
    }
    save(&a, v[4]);
    return 0;
}

static int make_index(char **v)
{
    char *all[] = {"i4", v[0], v[1], v[2], v[3]};
    return make_indices(all);
}

static int make_offsets(char **v)
{
    long parts = strtol(v[0], NULL, 10), total = strtol(v[1], NULL, 10);
    Array a = {.type = "<i4", .size = 4, .rank = 1, .shape = {parts + 1}};
    measure(&a);
    uint64_t seed = strtoull(v[2], NULL, 0);
    if (!(a.data = calloc(a.count, 4))) fail("memory", v[3]);
    int32_t at = 0;
    for (long i = 1; i <= parts; i++) {
        long rest = total - at;
        at += (int32_t)(random_bits(&seed) % (uint64_t)(2 * rest / (parts - i + 1) + 1));
        if (at > total || i == parts) at = (int32_t)total;
        memcpy(a.data + 4 * i, &at, 4);
    }
    save(&a, v[3]);
    return 0;
}

/* ---- what is expected ---- */

int differ(const Array *out, size_t i, const unsigned char *want)
{
    const unsigned char *got = out->data + i * (size_t)out->size;
    if (memcmp(got, want, (size_t)out->size) == 0) return 0;
    size_t rest = i;
    long at[RANK];
    for (int d = out->rank - 1; d >= 0; d--) {
        at[d] = (long)(rest % (size_t)out->shape[d]);
        rest /= (size_t)out->shape[d];
    }
    printf("element [");
    for (int d = 0; d < out->rank; d++) printf("%s%ld", d ? ", " : "", at[d]);
    printf("] is ");
    for (int b = out->size - 1; b >= 0; b--) printf("%02x", got[b]);
    printf(", expected ");
    for (int b = out->size - 1; b >= 0; b--) printf("%02x", want[b]);
    printf("\n");
    return 1;
}

static void coordinates(const Array *a, size_t i, long *at)
{
    for (int d = a->rank - 1; d >= 0; d--) {
        at[d] = (long)(i % (size_t)a->shape[d]);
        i /= (size_t)a->shape[d];
    }
}

static const unsigned char *element(const Array *a, const long *at)
{
    size_t i = 0;
    for (int d = 0; d < a->rank; d++) {
        if (at[d] < 0 || at[d] >= a->shape[d]) return NULL;
        i = i * (size_t)a->shape[d] + (size_t)at[d];
    }
    return a->data + i * (size_t)a->size;
}

static int same(char **v)
{
    Array a = load(v[0]), b = load(v[1]);
    if (strcmp(a.type, b.type) != 0 || a.rank != b.rank || memcmp(a.shape, b.shape, sizeof a.shape) != 0) {
        printf("type or shape differ\n");
        return 1;
    }
    for (size_t i = 0; i < a.count; i++)
        if (differ(&b, i, a.data + i * (size_t)a.size)) return 1;
    return 0;
}

static int affine(char **v)
{
    Array in = load(v[0]), out = load(v[1]);
    uint64_t fill = strtoull(v[2], NULL, 16);
    long offset[RANK], step[RANK], at[RANK];
    if (numbers(v[3], offset) != in.rank || numbers(v[4], step) != in.rank || in.rank != out.rank) fail("ranks", v[1]);
    for (size_t i = 0; i < out.count; i++) {
        coordinates(&out, i, at);
        for (int d = 0; d < in.rank; d++) at[d] = at[d] * step[d] + offset[d];
        const unsigned char *want = element(&in, at);
        if (differ(&out, i, want ? want : (unsigned char *)&fill)) return 1;
    }
    return 0;
}

static int window(char **v)
{
    Array in = load(v[0]), before = load(v[1]), out = load(v[2]);
    long low[RANK], high[RANK], at[RANK];
    if (numbers(v[3], low) != out.rank || numbers(v[4], high) != out.rank || before.count != out.count) fail("ranks", v[2]);
    for (size_t i = 0; i < out.count; i++) {
        coordinates(&out, i, at);
        int inside = 1;
        for (int d = 0; d < out.rank; d++) {
            inside = inside && at[d] >= low[d] && at[d] < high[d];
            at[d] -= low[d];
        }
        const unsigned char *want = inside ? element(&in, at) : before.data + i * (size_t)before.size;
        if (!want) fail("the window is larger than the input", v[0]);
        if (differ(&out, i, want)) return 1;
    }
    return 0;
}

static int gather(char **v)
{
    Array table = load(v[0]), index = load(v[1]), out = load(v[2]);
    static const unsigned char zero[8];
    size_t width = out.shape[0] ? out.count / (size_t)out.shape[0] : 0;
    for (size_t r = 0; r < (size_t)out.shape[0]; r++) {
        int64_t row = integer(&index, r);
        int inside = row >= 0 && row < table.shape[0];
        for (size_t c = 0; c < width; c++)
            if (differ(&out, r * width + c,
                       inside ? table.data + ((size_t)row * width + c) * (size_t)table.size : zero))
                return 1;
    }
    return 0;
}

/* Element i of an integer array; what lies beyond 64-bit signed numbers is far outside of any table. */
int64_t integer(const Array *a, size_t i)
{
    int64_t x = 0;
    memcpy(&x, a->data + i * (size_t)a->size, (size_t)a->size);
    int unused = 64 - 8 * a->size;
    if (a->type[1] == 'i') x = (int64_t)((uint64_t)x << unused) >> unused;
    return x;
}

static int differ_row(const Array *out, long r, const Array *table, int64_t row)
{
    static const unsigned char zero[8];
    size_t width = out->count / (size_t)out->shape[0];
    int inside = row >= 0 && row < table->shape[0];
    for (size_t c = 0; c < width; c++)
        if (differ(out, (size_t)r * width + c,
                   inside ? table->data + ((size_t)row * width + c) * (size_t)table->size : zero))
            return 1;
    return 0;
}

static int row(char **v)
{
    Array table = load(v[0]), index = load(v[1]), out = load(v[3]);
    int64_t x = integer(&index, strtoull(v[2], NULL, 10));
    if (v[5]) {
        Array second = load(v[5]);
        x = x >= 0 && (uint64_t)x < second.count ? integer(&second, (size_t)x) : -1;
    }
    return differ_row(&out, strtol(v[4], NULL, 10), &table, x);
}

static int rows(char **v)
{
    Array table = load(v[0]), out = load(v[1]);
    char *s = v[2];
    for (long r = 0; *s; r++) {
        if (r >= out.shape[0]) fail("fewer rows than are expected", v[1]);
        if (differ_row(&out, r, &table, strtol(s, &s, 10))) return 1;
        s += *s == ',';
    }
    return 0;
}

static int scatter(char **v)
{
    Array in = load(v[0]), index = load(v[1]), before = load(v[2]), out = load(v[3]);
    size_t width = out.count / (size_t)out.shape[0], size = (size_t)out.size;
    for (size_t i = 0; i < out.count; i++) {
        int hit = 0, right = 0;
        for (size_t r = 0; r < index.count && !right; r++) {
            if (integer(&index, r) != (int64_t)(i / width)) continue;
            hit = 1;
            right = memcmp(in.data + (r * width + i % width) * size, out.data + i * size, size) == 0;
        }
        if (!hit) right = memcmp(before.data + i * size, out.data + i * size, size) == 0;
        if (right) continue;
        printf("element %zu of row %zu is %s\n", i % width, i / width, hit ? "none of those sent there" : "changed");
        return 1;
    }
    return 0;
}

static int map(char **v)
{
    Array in = load(v[0]), out = load(v[1]);
    uint64_t fill = strtoull(v[2], NULL, 16);
    long offset = strtol(v[3], NULL, 10), stride[RANK], limit[RANK], at[RANK];
    int fits = numbers(v[4], stride) == out.rank && numbers(v[5], limit) == out.rank && in.size == out.size;
    if (!fits) fail("ranks", v[1]);
    for (size_t i = 0; i < out.count; i++) {
        coordinates(&out, i, at);
        long from = offset;
        int inside = 1;
        for (int d = 0; d < out.rank; d++) {
            inside = inside && at[d] < limit[d];
            from += at[d] * stride[d];
        }
        if (inside && (from < 0 || (size_t)from >= in.count)) fail("the source is outside", v[0]);
        if (differ(&out, i, inside ? in.data + (size_t)from * (size_t)in.size : (unsigned char *)&fill)) return 1;
    }
    return 0;
}

static int block(char **v)
{
    Array in = load(v[0]), out = load(v[1]);
    long from[RANK], size[RANK], to[RANK], at[RANK];
    int fits = numbers(v[2], from) == out.rank && numbers(v[3], size) == out.rank && numbers(v[4], to) == out.rank;
    if (!fits || in.rank != out.rank) fail("ranks", v[1]);
    for (size_t i = 0; i < out.count; i++) {
        int inside = 1;
        coordinates(&out, i, at);
        for (int d = 0; d < out.rank; d++) {
            at[d] -= to[d];
            inside = inside && at[d] >= 0 && at[d] < size[d];
            at[d] += from[d];
        }
        const unsigned char *want = inside ? element(&in, at) : NULL;
        if (inside && !want) fail("the block is outside", v[0]);
        if (inside && differ(&out, i, want)) return 1;
    }
    return 0;
}

static int blocks(char **v)
{
    Array in = load(v[0]), out = load(v[1]);
    long n = strtol(v[2], NULL, 10), at[RANK];
    for (size_t i = 0; i < out.count; i++) {
        coordinates(&out, i, at);
        long from[2] = {at[1] / n * n + at[0] % n, at[0] / n * n + at[1] % n};
        const unsigned char *want = element(&in, from);
        if (!want) fail("the shapes are not transposed", v[1]);
        if (differ(&out, i, want)) return 1;
    }
    return 0;
}

static int periodic(char **v)
{
    Array in = load(v[0]), out = load(v[1]);
    if (in.size != out.size || (in.count == 0 && out.count > 0)) fail("shapes", v[1]);
    for (size_t i = 0; i < out.count; i++)
        if (differ(&out, i, in.data + i % in.count * (size_t)in.size)) return 1;
    return 0;
}

static int patches(char **v)
{
    Array in = load(v[0]), out = load(v[1]);
    static const unsigned char zero[8];
    long step[RANK], offset[RANK], at[RANK];
    int fits = numbers(v[2], step) == 2 && numbers(v[3], offset) == 2 && in.rank == 2 && out.rank == 4;
    if (!fits) fail("ranks", v[1]);
    for (size_t i = 0; i < out.count; i++) {
        coordinates(&out, i, at);
        long from[2] = {at[0] * step[0] + at[2] + offset[0], at[1] * step[1] + at[3] + offset[1]};
        const unsigned char *want = element(&in, from);
        if (differ(&out, i, want ? want : zero)) return 1;
    }
    return 0;
}

static int constant(char **v)
{
    Array a = new_array(v[0], v[1], v[3]);
    int64_t x = strtoll(v[2], NULL, 0);
    for (size_t i = 0; i < a.count; i++) memcpy(a.data + i * (size_t)a.size, &x, (size_t)a.size);
    save(&a, v[3]);
    return 0;
}

static int chosen(char **v)
{
    Array in = load(v[0]), before = load(v[1]), flags = load(v[2]), out = load(v[3]);
    long rows = strtol(v[4], NULL, 10), columns = strtol(v[5], NULL, 10), parity = strtol(v[6], NULL, 10), at[RANK];
    if (in.count != out.count || before.count != out.count || out.rank != 2) fail("shapes", v[3]);
    for (size_t i = 0; i < out.count; i++) {
        coordinates(&out, i, at);
        int taken = integer(&flags, (size_t)(at[0] / rows)) > 0 && (parity == 2 || at[1] / columns % 2 == parity);
        if (differ(&out, i, (taken ? in.data : before.data) + i * (size_t)out.size)) return 1;
    }
    return 0;
}

static int distinct(char **v)
{
    long rows = strtol(v[0], NULL, 10);
    uint64_t seed = strtoull(v[2], NULL, 0);
    Array a = new_array("i4", v[1], v[3]);
    int32_t *all = malloc((size_t)(rows + 20) * sizeof *all);
    if (!all || a.count > (size_t)rows + 20) fail("more than there are", v[3]);
    for (long i = 0; i < rows + 20; i++) all[i] = (int32_t)(i - 10);
    for (size_t i = 0; i < a.count; i++) {
        size_t k = i + random_bits(&seed) % ((size_t)rows + 20 - i);
        int32_t x = all[k];
        all[k] = all[i];
        all[i] = x;
    }
    memcpy(a.data, all, a.count * 4);
    free(all);
    save(&a, v[3]);
    return 0;
}

static int turn(char **v)
{
    Array in = load(v[0]), out = in;
    size_t size = (size_t)in.size, rows = (size_t)in.shape[0], columns = (size_t)in.shape[1];
    if (in.rank != 2 || !(out.data = malloc(in.count * size + 1))) fail("rank", v[0]);
    for (size_t i = 0; i < in.count; i++)
        memcpy(out.data + (i % columns * rows + i / columns) * size, in.data + i * size, size);
    out.shape[0] = in.shape[1];
    out.shape[1] = in.shape[0];
    save(&out, v[1]);
    return 0;
}

static int take(char **v)
{
    Array table = load(v[0]), index = load(v[1]), out = table;
    size_t width = table.shape[0] ? table.count / (size_t)table.shape[0] : 0, bytes = width * (size_t)table.size;
    out.shape[0] = atoll(v[2]);
    measure(&out);
    if (!(out.data = calloc(out.count * (size_t)out.size + 1, 1))) fail("memory", v[3]);
    for (size_t r = 0; r < index.count && r < (size_t)out.shape[0]; r++) {
        int32_t row;
        memcpy(&row, index.data + 4 * r, 4);
        if (row >= 0 && row < table.shape[0]) memcpy(out.data + r * bytes, table.data + (size_t)row * bytes, bytes);
    }
    save(&out, v[3]);
    return 0;
}

static int gather_scatter(char **v)
{
    Array table = load(v[0]), index = load(v[1]), to = load(v[2]), before = load(v[3]), out = load(v[4]);
    static const unsigned char zero[8];
    size_t width = out.count / (size_t)out.shape[0], size = (size_t)out.size;
    for (size_t i = 0; i < out.count; i++) {
        const unsigned char *want = before.data + i * size;
        for (size_t r = 0; r < to.count; r++) {
            int64_t row = integer(&index, r);
            if (integer(&to, r) != (int64_t)(i / width)) continue;
            want = row < 0 || row >= table.shape[0] ? zero : table.data + ((size_t)row * width + i % width) * size;
        }
        if (differ(&out, i, want)) return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int args;
        int (*run)(char **);
    } commands[] = {
        {"make", 4, make},           {"reshape", 3, reshape},
                 {"index", 4, make_index},    {"indices", 5, make_indices},
        {"same", 2, same},           {"affine", 5, affine},       {"offsets", 4, make_offsets},
        {"window", 5, window},       {"gather", 3, gather},       {"scatter", 4, scatter},
        {"row", 5, row},             {"row", 6, row},             {"rows", 3, rows},
        {"map", 6, map},             {"block", 5, block},         {"blocks", 3, blocks},
        {"periodic", 2, periodic},   {"patches", 4, patches},     {"constant", 4, constant},
        {"select", 7, chosen},       {"distinct", 4, distinct},    {"turn", 2, turn},
        {"take", 4, take},
        {"gather_scatter", 5, gather_scatter},       {"small", 5, small},         {"sum", 3, sum},
        {"scatter_add", 4, scatter_add}, {"convert", 5, convert}, {"reduction", 5, reduction},
        {"columns", 6, columns},     {"folded", 6, folded},       {"tiled", 4, tiled},
        {"floats", 4, floats},      {"scattered", 6, scattered},
        {"some_bytes", 4, some_bytes},
        {"six_bits", 2, six_bits},
        {"a_byte_each", 3, a_byte_each},
        {"masks", 4, masks},
        {"told", 2, told},
        {"spread", 2, spread},
        {"added", 3, added},
        {"turns", 2, turns},
        {"framed", 2, framed},
        {"first", 3, first},
        {"striped", 1, striped},
        {"bordered", 2, bordered},
        {"halves", 2, halves},
        {"biased", 3, biased},
        {"more", 3, more},
        {"topped", 5, topped},
        {"exchanged", 3, exchanged},
        {"im2col", 8, im2col},    {"col2im", 6, col2im},
        {"slices", 8, slices},    {"unslice", 6, unslice},
        {"by_mask", 4, by_mask},
        {"w_rows", 5, w_rows},
        {"w_steps", 7, w_steps},
        {"edges", 4, edges},      {"converted", 5, converted_all}, {"quotients", 5, quotients},
        {"lanes", 5, lanes},      {"pieces", 5, pieces},      {"slide", 3, slide},      {"tcgen", 4, tcgen},
        {"numbers", 3, make_numbers},     {"groups", 5, groups},       {"firsts", 5, firsts},
        {"matrices", 7, matrices},   {"turned", 5, turned},       {"bumped", 3, bumped},
    };
    for (size_t i = 0; argc > 1 && i < sizeof commands / sizeof *commands; i++)
        if (strcmp(argv[1], commands[i].name) == 0 && argc == commands[i].args + 2) return commands[i].run(argv + 2);
    fprintf(stderr, "reference: wrong call, see the head of reference.c\n");
    return 3;
}
