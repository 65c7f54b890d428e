/* Makes large bf16 matrices from a recorded photograph, and compares matrices. See README.md. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *what, const char *path)
{
    fprintf(stderr, "tile_photo: %s: %s\n", path, what);
    exit(3);
}

static unsigned char *read_file(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    if (!f) fail(strerror(errno), path);
    size_t room = 1 << 20, n = 0, got;
    unsigned char *data = malloc(room);
    while (data && (got = fread(data + n, 1, room - n, f)) > 0) {
        n += got;
        if (n == room) data = realloc(data, room *= 2);
    }
    if (!data || ferror(f)) fail("can't be read", path);
    fclose(f);
    *size = n;
    return data;
}

static uint16_t bf16_bits(float value) /* exact for what is made here */
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (uint16_t)(bits >> 16);
}

static uint16_t element(const unsigned char *pixels, long w, long h, long row, long col)
{
    long k = (7 * (row / h) + 13 * (col / w)) % 61 - 30;
    float value = (float)pixels[(row % h) * w + col % w] + 1.0f;
    for (; k > 0; k--) value *= 2.0f;
    for (; k < 0; k++) value *= 0.5f;
    return bf16_bits(value);
}

static int make(const char *photo, long rows, long cols, const char *out)
{
    size_t size;
    unsigned char *pgm = read_file(photo, &size);
    long w = 0, h = 0;
    int head = 0;
    char start[64] = {0};
    memcpy(start, pgm, size < sizeof start ? size : sizeof start - 1);
    if (sscanf(start, "P5 %ld %ld 255%n", &w, &h, &head) != 2 || head == 0 || w < 1 || h < 1 ||
        size != (size_t)head + 1 + (size_t)w * (size_t)h)
        fail("not a PGM of 8 bits", photo);

    FILE *f = fopen(out, "wb");
    if (!f) fail(strerror(errno), out);
    /* Format 1.0: magic, version, size of the header, header padded so that the data start at 128. */
    char dict[100];
    snprintf(dict, sizeof dict, "{'descr': '<u2', 'fortran_order': False, 'shape': (%ld, %ld), }", rows, cols);
    fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, f);
    fprintf(f, "%-117s\n", dict);
    unsigned char *line = malloc((size_t)cols * 2);
    if (!line) fail("out of memory", out);
    for (long r = 0; r < rows; r++) {
        for (long c = 0; c < cols; c++) {
            uint16_t e = element(pgm + head + 1, w, h, r, c);
            line[2 * c] = (unsigned char)(e & 255);
            line[2 * c + 1] = (unsigned char)(e >> 8);
        }
        fwrite(line, 2, (size_t)cols, f);
    }
    if (fflush(f) != 0 || ferror(f)) fail("can't be written", out);
    fclose(f);
    free(line);
    free(pgm);
    return 0;
}

typedef struct Matrix {
    unsigned char *file;
    const unsigned char *data;
    size_t bytes, element;
    char shape[128];
} Matrix;

static Matrix read_npy(const char *path)
{
    Matrix m = {0};
    size_t size;
    m.file = read_file(path, &size);
    if (size < 10 || memcmp(m.file, "\x93NUMPY\x01", 7) != 0) fail("not an .npy file of format 1.0", path);
    size_t head = 10 + (size_t)m.file[8] + 256u * m.file[9];
    if (head > size) fail("cut short", path);
    char text[1024] = {0};
    memcpy(text, m.file + 10, head - 10 < sizeof text ? head - 10 : sizeof text - 1);
    const char *type = strstr(text, "'descr': '"), *shape = strstr(text, "'shape': (");
    if (!type || !shape || !strstr(text, "'fortran_order': False")) fail("not a row-major array", path);
    m.element = (size_t)strtoul(type + sizeof "'descr': '" + 1, NULL, 10);
    sscanf(shape + sizeof "'shape': (" - 1, "%127[^)]", m.shape);
    m.data = m.file + head;
    m.bytes = size - head;
    if (m.element == 0 || m.bytes % m.element != 0) fail("cut short", path);
    return m;
}

static int same(const char *path_a, const char *path_b)
{
    Matrix a = read_npy(path_a), b = read_npy(path_b);
    int code = 1;
    if (strcmp(a.shape, b.shape) != 0 || a.element != b.element || a.bytes != b.bytes) {
        printf("(%s) of %zu bytes each, and (%s) of %zu\n", a.shape, a.element, b.shape, b.element);
    } else if (memcmp(a.data, b.data, a.bytes) == 0) {
        code = 0;
    } else {
        size_t i = 0, wrong = 0, n = a.bytes / a.element;
        for (size_t k = n; k-- > 0;)
            if (memcmp(a.data + k * a.element, b.data + k * a.element, a.element) != 0) {
                i = k;
                wrong++;
            }
        printf("%zu of %zu elements differ, first number %zu of shape (%s): 0x", wrong, n, i, a.shape);
        for (size_t k = a.element; k-- > 0;) printf("%02x", a.data[i * a.element + k]);
        printf(" and 0x");
        for (size_t k = a.element; k-- > 0;) printf("%02x", b.data[i * a.element + k]);
        printf("\n");
    }
    free(a.file);
    free(b.file);
    return code;
}

int main(int argc, char **argv)
{
    if (argc == 6 && strcmp(argv[1], "make") == 0) {
        long rows = strtol(argv[3], NULL, 10), cols = strtol(argv[4], NULL, 10);
        if (rows > 0 && cols > 0) return make(argv[2], rows, cols, argv[5]);
    }
    if (argc == 4 && strcmp(argv[1], "same") == 0) return same(argv[2], argv[3]);
    fputs("usage: tile_photo make PHOTO.pgm ROWS COLUMNS OUT.npy | tile_photo same A.npy B.npy\n", stderr);
    return 2;
}
