/* Launches with hostile arguments: each is refused with a code, guarded, or right; none hangs or crashes.
 *
 *     hostile --list                          names of the cases, a line each
 *     hostile [--device=cuda|sim:..] CASE..   runs them. From the repository's root.
 *
 * Exit code 0: as expected; 1: not; 77: no such device, or not so much memory.
 */
#include <stdio.h>
#include <string.h>

#include "world.h"

#define GIB (UINT64_C(1) << 30)
#define U8 TILE_U8

/* ---- far: offsets, extents and starts beyond 2^31 and 2^32 ---- */

enum { FLAT = 3 * 4096 }; /* bytes that `flat` moves */

static void flat_at(World *w, uint64_t length, int64_t at)
{
    uint64_t src = memory(w, length), dst = memory(w, length);
    uint64_t low = (uint64_t)at, n = low + FLAT <= length ? FLAT : length - low;
    fill(w, src + low, (size_t)n, 1);
    fill(w, dst + low - 64, 64, 2);
    use(w, "flat");
    bind_tensor(w, "src", src, U8, 1, SHAPE((int64_t)length), NULL);
    bind_tensor(w, "dst", dst, U8, 1, SHAPE((int64_t)length), NULL);
    bind_scalar(w, "at", at);
    launch(w);
    expect_pattern(w, dst + low, (size_t)n, 1, 0);
    expect_pattern(w, dst + low - 64, 64, 2, 0);
}

static void far_2_31(World *w) { flat_at(w, 2 * GIB + FLAT, (int64_t)(2 * GIB) - 4096); }
static void far_2_32(World *w) { flat_at(w, 4 * GIB + FLAT, (int64_t)(4 * GIB) - 4096); }
static void far_end(World *w) { flat_at(w, 5 * GIB, (int64_t)(5 * GIB) - 4096 - 16); }

/* Starts that no memory has: nothing is touched, whatever the sums come to. */
static void start_outside(World *w)
{
    static const int64_t at[] = {8192,      65536,          INT64_C(1) << 31,        INT64_C(1) << 32,
                                 -16,       -4096,          -16384,                  -(INT64_C(1) << 32),
                                 INT64_MIN, INT64_MIN + 16, INT64_MAX - 15 - 2 * 4096, INT64_MAX - 15 - 8 * 4096};
    uint64_t src = memory(w, 8192), dst = memory(w, 8192);
    for (size_t k = 0; k < sizeof at / sizeof *at; k++) {
        fill(w, src, 8192, 1);
        fill(w, dst, 8192, 2);
        use(w, "flat");
        bind_tensor(w, "src", src, U8, 1, SHAPE(8192), NULL);
        bind_tensor(w, "dst", dst, U8, 1, SHAPE(8192), NULL);
        bind_scalar(w, "at", at[k]);
        launch(w);
        int64_t from = at[k] < 0 && at[k] >= -FLAT ? 0 : at[k] < 0 ? 8192 : at[k];
        int64_t to = at[k] < 8192 && at[k] > -FLAT ? at[k] + FLAT : 0;
        if (to > 8192) to = 8192;
        if (from >= to) from = to = 0;
        expect_pattern(w, dst, (size_t)from, 2, 0);
        expect_pattern(w, dst + (uint64_t)from, (size_t)(to - from), 1, (uint64_t)from);
        expect_pattern(w, dst + (uint64_t)to, (size_t)(8192 - to), 2, (uint64_t)to);
    }
    use(w, "flat");
    bind_tensor(w, "src", src, U8, 1, SHAPE(8192), NULL);
    bind_tensor(w, "dst", dst, U8, 1, SHAPE(8192), NULL);
    bind_scalar(w, "at", INT64_MAX - 15); /* at + 2 * 4096 is no number of 64 bits */
    launch_refused(w, "E1117");
    bind_scalar(w, "at", 8);
    launch_refused(w, "E1101");
}

enum { ROWS = 80, ROW = 64 }; /* rows that `rows` moves, their bytes */

/* x has `extent` rows that are all the same one; y gets them at `to`. */
static void repeated(World *w, const char *kernel, int64_t extent, int64_t from, int64_t inside)
{
    uint64_t x = memory(w, ROW), y = memory(w, ROWS * ROW);
    fill(w, x, ROW, 1);
    fill(w, y, ROWS * ROW, 2);
    use(w, kernel);
    bind_tensor(w, "x", x, U8, 2, SHAPE(extent, ROW), SHAPE(0, 1));
    bind_tensor(w, "y", y, U8, 2, SHAPE(ROWS, ROW), SHAPE(ROW, 1));
    bind_scalar(w, "from", from);
    bind_scalar(w, "to", 0);
    launch(w);
    for (int64_t r = 0; r < inside; r++) expect_pattern(w, y + (uint64_t)(r * ROW), ROW, 1, 0);
    expect_zeros(w, y + (uint64_t)(inside * ROW), (size_t)((ROWS - inside) * ROW));
}

/* The last box crosses coordinate 2^31 - 1. */
static void extent_2_31(World *w)
{
    repeated(w, "rows", INT64_C(1) << 31, INT32_MAX - 64, 65);
    repeated(w, "rows", (INT64_C(1) << 31) - 1, INT32_MAX - 64, 64);
    repeated(w, "rows", (INT64_C(1) << 31) - 40, INT32_MAX - 64, 25);
}

static void extent_2_40(World *w) { repeated(w, "rows_bulk", INT64_C(1) << 40, (INT64_C(1) << 40) - 50, 50); }

static void extent_too_large(World *w)
{
    uint64_t x = memory(w, ROW), y = memory(w, ROWS * ROW);
    use(w, "rows");
    bind_tensor(w, "x", x, U8, 2, SHAPE((INT64_C(1) << 31) + 1, ROW), SHAPE(0, 1));
    bind_tensor(w, "y", y, U8, 2, SHAPE(ROWS, ROW), SHAPE(ROW, 1));
    bind_scalar(w, "from", 0);
    bind_scalar(w, "to", 0);
    launch_refused(w, "E0412");
    bind_tensor(w, "x", x, U8, 2, SHAPE(INT64_C(1) << 31, ROW), SHAPE(0, 1));
    bind_scalar(w, "from", INT32_MAX - 63);
    launch_refused(w, "E1122");
    bind_scalar(w, "from", (int64_t)INT32_MIN - 1);
    launch_refused(w, "E1122");
    bind_scalar(w, "from", INT64_MAX);
    launch_refused(w, "E11");
    bind_scalar(w, "from", 0);
    bind_scalar(w, "to", -1);
    launch_refused(w, "E1101");
    bind_scalar(w, "to", INT64_C(1) << 40);
    launch_refused(w, "E1122");
    tensor_refused(w, "E1104", "x", x, 0, U8, 2, SHAPE((INT64_C(1) << 40) + 1, ROW), SHAPE(0, 1));
    tensor_refused(w, "E1104", "x", x, 0, U8, 2, SHAPE(INT64_MAX, ROW), SHAPE(0, 1));
    tensor_refused(w, "E1104", "x", x, 0, U8, 2, SHAPE(-1, ROW), SHAPE(0, 1));
    tensor_refused(w, "E1104", "x", x, 0, U8, 2, SHAPE(INT64_MIN, ROW), SHAPE(0, 1));
    tensor_refused(w, "E1104", "x", x, 0, U8, 2, SHAPE(INT64_C(1) << 40, ROW), SHAPE(INT64_C(1) << 40, 1));
    tensor_refused(w, "E1104", "x", x, 1000, U8, 2, SHAPE(ROWS, ROW), SHAPE(ROW, 1)); /* more than its memory */
}

/* Starts that bulk copies guard: rows whose addresses would leave 64 bits. */
static void rows_outside(World *w)
{
    static const int64_t from[] = {-80, -(INT64_C(1) << 32), -(INT64_C(1) << 62), INT64_MIN, 80, INT64_C(1) << 32,
                                   INT64_C(1) << 58, INT64_MAX - 80};
    uint64_t x = memory(w, ROWS * ROW), y = memory(w, ROWS * ROW);
    fill(w, x, ROWS * ROW, 1);
    for (size_t k = 0; k < sizeof from / sizeof *from; k++) {
        fill(w, y, ROWS * ROW, 2);
        use(w, "rows_bulk");
        bind_tensor(w, "x", x, U8, 2, SHAPE(ROWS, ROW), SHAPE(ROW, 1));
        bind_tensor(w, "y", y, U8, 2, SHAPE(ROWS, ROW), SHAPE(ROW, 1));
        bind_scalar(w, "from", from[k]);
        bind_scalar(w, "to", 0);
        launch(w);
        expect_zeros(w, y, ROWS * ROW);
        if (from[k] < 0) continue;
        fill(w, y, ROWS * ROW, 2);
        bind_scalar(w, "from", 0);
        bind_scalar(w, "to", from[k]);
        launch(w);
        expect_pattern(w, y, ROWS * ROW, 2, 0);
    }
}

/* Rows that are 2 GiB apart. */
static void pitch_2_31(World *w)
{
    int64_t pitch = (int64_t)(2 * GIB);
    uint64_t x = memory(w, 4 * GIB + ROW), y = memory(w, ROWS * ROW);
    for (int r = 0; r < 3; r++) fill(w, x + (uint64_t)r * 2 * GIB, ROW, (uint32_t)r);
    static const char *const kernels[] = {"rows", "rows_bulk"};
    for (int k = 0; k < 2; k++) {
        fill(w, y, ROWS * ROW, 9);
        use(w, kernels[k]);
        bind_tensor(w, "x", x, U8, 2, SHAPE(3, ROW), SHAPE(pitch, 1));
        bind_tensor(w, "y", y, U8, 2, SHAPE(ROWS, ROW), SHAPE(ROW, 1));
        bind_scalar(w, "from", 0);
        bind_scalar(w, "to", 0);
        launch(w);
        for (uint32_t r = 0; r < 3; r++) expect_pattern(w, y + r * ROW, ROW, r, 0);
        expect_zeros(w, y + 3 * ROW, (ROWS - 3) * ROW);
    }
}

/* 2^31 rows: as many as a tensor copy can name. On a GPU with 64 GiB to spare. */
static void rows_2_31(World *w)
{
    int64_t n = INT64_C(1) << 31;
    if (tile_device_simulates(w->device)) {
        printf("SKIPPED: the simulator would take days\n");
        w->failures = -1;
        return;
    }
    uint64_t bytes = (uint64_t)n * 16, x = memory(w, bytes), y = memory(w, bytes);
    uint64_t at[] = {0, bytes / 2 - 4096, bytes - 8192};
    for (uint32_t i = 0; i < 3; i++) fill(w, x + at[i], 8192, i);
    for (uint32_t i = 0; i < 3; i++) fill(w, y + at[i], 8192, 9);
    use(w, "columns");
    bind_tensor(w, "x", x, U8, 2, SHAPE(n, 16), SHAPE(16, 1));
    bind_tensor(w, "y", y, U8, 2, SHAPE(n, 16), SHAPE(16, 1));
    launch(w);
    for (uint32_t i = 0; i < 3; i++) expect_pattern(w, y + at[i], 8192, i, 0);
    bind_tensor(w, "x", x, U8, 2, SHAPE(n + 16, 16), SHAPE(0, 1)); /* refused before memory matters */
    bind_tensor(w, "y", y, U8, 2, SHAPE(n + 16, 16), SHAPE(16, 1));
    launch_refused(w, "E1122");
}

/* ---- memory: overlaps, addresses, strides ---- */

static void columns_of(World *w, uint64_t x, int64_t xs, uint64_t y, int64_t ys, int64_t rows, int64_t columns)
{
    use(w, "columns");
    bind_tensor(w, "x", x, U8, 2, SHAPE(rows, columns), SHAPE(xs, 1));
    bind_tensor(w, "y", y, U8, 2, SHAPE(rows, columns), SHAPE(ys, 1));
}

static void overlap(World *w)
{
    uint64_t m = memory(w, 65536);
    fill(w, m, 65536, 1);
    static const int64_t shift[] = {0, 16, -16, 64, -64, 128, 128 * 63, -128 * 63, 128 * 32 + 48, -(128 * 32) - 48};
    for (size_t k = 0; k < sizeof shift / sizeof *shift; k++) { /* two blocks of 64 rows of 64 bytes, 128 apart */
        uint64_t x = m + 16384, y = (uint64_t)((int64_t)x + shift[k]);
        columns_of(w, x, 128, y, 128, 64, 64);
        int64_t apart = shift[k] % 128 < 0 ? shift[k] % 128 + 128 : shift[k] % 128;
        if (apart >= 64 && apart + 64 <= 128) {
            launch(w);
            for (uint64_t r = 0; r < 64; r++) expect_pattern(w, y + r * 128, 64, 1, 16384 + r * 128);
            fill(w, m, 65536, 1);
        } else {
            launch_refused(w, "E1107");
        }
    }
    columns_of(w, m, 64, m + 64 * 64, 64, 64, 64); /* side by side */
    launch(w);
    expect_pattern(w, m + 64 * 64, 64 * 64, 1, 0);
    columns_of(w, m, 128, m + 64, 192, 64, 64); /* other pitches */
    launch_refused(w, "E1107");
    expect_pattern(w, m + 8192, 4096, 1, 8192);
}

static void own_overlap(World *w)
{
    uint64_t x = memory(w, 65536), y = memory(w, 65536);
    static const int64_t ys[] = {0, 16, 32, 48};
    for (size_t k = 0; k < 4; k++) {
        columns_of(w, x, 64, y, ys[k], 64, 64);
        launch_refused(w, "E0418");
    }
    fill(w, x, 64, 1);
    columns_of(w, x, 0, y, 64, 64, 64); /* a row that is read again and again */
    launch(w);
    for (uint64_t r = 0; r < 64; r++) expect_pattern(w, y + r * 64, 64, 1, 0);
    columns_of(w, x, 16, y, 64, 64, 64); /* a window that slides: rows share bytes, and are only read */
    fill(w, x, 64 * 16 + 64, 1);
    launch(w);
    for (uint64_t r = 0; r < 64; r++) expect_pattern(w, y + r * 64, 64, 1, r * 16);
    columns_of(w, x, 64, y, 0, 1, 64); /* the stride of one row means nothing */
    launch(w);
    expect_pattern(w, y, 64, 1, 0);
}

static void addresses(World *w)
{
    uint64_t x = memory(w, 65536), y = memory(w, 65536);
    fill(w, x, 65536, 1);
    for (uint64_t k = 1; k < 16; k = k == 1 ? 2 : k == 8 ? 15 : k * 2) {
        columns_of(w, x + k, 64, y, 64, 64, 64);
        launch_refused(w, "E0410");
        columns_of(w, x, 64, y + k, 64, 64, 64);
        launch_refused(w, "E0410");
        use(w, "flat");
        bind_tensor(w, "src", x + k, U8, 1, SHAPE(8192), NULL);
        bind_tensor(w, "dst", y, U8, 1, SHAPE(8192), NULL);
        bind_scalar(w, "at", 0);
        launch_refused(w, "E1106");
        bind_tensor(w, "src", x, U8, 1, SHAPE(8192), NULL);
        bind_tensor(w, "dst", y + k, U8, 1, SHAPE(8192), NULL);
        launch_refused(w, "E1106");
    }
    columns_of(w, x + 16, 64, y + 48, 64, 64, 64);
    launch(w);
    expect_pattern(w, y + 48, 4096, 1, 16);
    use(w, "flat");
    tensor_refused(w, "E1106", "src", 0, 0, U8, 1, SHAPE(8192), NULL);
    tensor_refused(w, "E1106", "src", UINT64_MAX - 8191, 0, U8, 1, SHAPE(8208), NULL);
    bind_tensor(w, "src", 0, U8, 1, SHAPE(0), NULL); /* an empty tensor needs no memory */
    bind_tensor(w, "dst", 0, U8, 1, SHAPE(0), NULL);
    bind_scalar(w, "at", 0);
    launch(w);
}

static void strides(World *w)
{
    uint64_t x = memory(w, 65536), y = memory(w, 65536);
    for (int64_t s = 65; s < 80; s++) {
        columns_of(w, x, s, y, 64, 64, 64);
        launch_refused(w, "E0415");
        columns_of(w, x, 64, y, s, 64, 64);
        launch_refused(w, "E0415");
    }
    use(w, "columns");
    tensor_refused(w, "E1105", "x", x, 0, U8, 2, SHAPE(64, 64), SHAPE(-64, 1));
    tensor_refused(w, "E1105", "x", x, 0, U8, 2, SHAPE(64, 64), SHAPE(64, -1));
    tensor_refused(w, "E1105", "x", x, 0, U8, 2, SHAPE(64, 64), SHAPE(64, 0));
    tensor_refused(w, "E1105", "x", x, 0, U8, 2, SHAPE(64, 64), SHAPE(64, 2));
    tensor_refused(w, "E1105", "x", x, 0, U8, 2, SHAPE(64, 64), SHAPE(INT64_MIN, 1));
    tensor_refused(w, "E1105", "x", x, 0, U8, 2, SHAPE(64, 64), SHAPE((INT64_C(1) << 40) + 16, 1));
    columns_of(w, x, INT64_C(1) << 40, y, 64, 64, 64);
    launch_refused(w, "E0416");
    use(w, "rows_bulk");
    bind_tensor(w, "x", x, U8, 2, SHAPE(64, ROW), SHAPE(72, 1));
    bind_tensor(w, "y", y, U8, 2, SHAPE(64, ROW), SHAPE(64, 1));
    bind_scalar(w, "from", 0);
    bind_scalar(w, "to", 0);
    launch_refused(w, "E1101");
    use(w, "flat");
    tensor_refused(w, "E1105", "src", x, 0, U8, 1, SHAPE(8192), SHAPE(2));
    tensor_refused(w, "E1105", "src", x, 0, U8, 1, SHAPE(8192), SHAPE(0));
}

static void wrong_calls(World *w)
{
    uint64_t x = memory(w, 65536);
    use(w, "columns");
    launch_refused(w, "E1115"); /* nothing is bound */
    tensor_refused(w, "E1115", "z", x, 0, U8, 2, SHAPE(64, 64), NULL);
    tensor_refused(w, "name is NULL", NULL, x, 0, U8, 2, SHAPE(64, 64), NULL);
    tensor_refused(w, "E1102", "x", x, 0, TILE_S8, 2, SHAPE(64, 64), NULL);
    tensor_refused(w, "E1102", "x", x, 0, (tile_type)12345, 2, SHAPE(64, 64), NULL);
    tensor_refused(w, "E1103", "x", x, 0, U8, 1, SHAPE(64), NULL);
    tensor_refused(w, "E1103", "x", x, 0, U8, 3, SHAPE(64, 64, 64), NULL);
    tensor_refused(w, "E1103", "x", x, 0, U8, 0, NULL, NULL);
    tensor_refused(w, "E1103", "x", x, 0, U8, -7, SHAPE(64, 64), NULL);
    tensor_refused(w, "E1103", "x", x, 0, U8, 2, NULL, NULL);
    scalar_refused(w, "E1115", "x", 5);
    bind_tensor(w, "x", x, U8, 2, SHAPE(64, 64), SHAPE(64, 1));
    bind_tensor(w, "y", x + 8192, U8, 2, SHAPE(63, 64), SHAPE(64, 1));
    launch_refused(w, "E1104");
    use(w, "flat");
    tensor_refused(w, "E1115", "at", x, 0, U8, 1, SHAPE(64), NULL);
}

/* ---- indices ---- */

enum { TABLE = 37, LINE = 128, PICKS = 16 };

static const int64_t PICKED[PICKS] = {0,         36,        37,        -1,           -37,        38,
                                      INT64_MIN, INT64_MAX, INT32_MIN, (int64_t)1 << 32, ((int64_t)1 << 32) + 5, -((int64_t)1 << 32),
                                      INT64_MIN + 5, (int64_t)1 << 57, ((int64_t)1 << 57) + 3, 17};

static bool inside(int64_t row) { return row >= 0 && row < TABLE; }

static uint64_t indices(World *w)
{
    tile_error e;
    uint64_t i = memory(w, sizeof PICKED);
    expect(w, tile_write(w->device, i, PICKED, sizeof PICKED, &e) == TILE_OK, "the indices are written");
    return i;
}

static void gather(World *w)
{
    uint64_t x = memory(w, TABLE * LINE), y = memory(w, PICKS * LINE), i = indices(w);
    static const char *const kernels[] = {"picked", "unsigned_rows"};
    for (int k = 0; k < 2; k++) {
        fill(w, x, TABLE * LINE, 1);
        fill(w, y, PICKS * LINE, 2);
        use(w, kernels[k]);
        bind_tensor(w, "x", x, U8, 2, SHAPE(TABLE, LINE), NULL);
        bind_tensor(w, "idx", i, k ? TILE_U64 : TILE_S64, 1, SHAPE(PICKS), NULL);
        bind_tensor(w, "y", y, U8, 2, SHAPE(PICKS, LINE), NULL);
        launch(w);
        for (uint64_t r = 0; r < PICKS; r++) {
            if (inside(PICKED[r])) expect_pattern(w, y + r * LINE, LINE, 1, (uint64_t)PICKED[r] * LINE);
            else expect_zeros(w, y + r * LINE, LINE);
        }
    }
}

static void scatter(World *w)
{
    uint64_t x = memory(w, PICKS * LINE), y = memory(w, TABLE * LINE), i = indices(w);
    fill(w, x, PICKS * LINE, 1);
    fill(w, y, TABLE * LINE, 2);
    use(w, "put");
    bind_tensor(w, "x", x, U8, 2, SHAPE(PICKS, LINE), NULL);
    bind_tensor(w, "idx", i, TILE_S64, 1, SHAPE(PICKS), NULL);
    bind_tensor(w, "y", y, U8, 2, SHAPE(TABLE, LINE), NULL);
    launch(w);
    for (int64_t v = 0; v < TABLE; v++) {
        int hit = -1;
        for (int r = 0; r < PICKS; r++)
            if (PICKED[r] == v) hit = r;
        if (hit >= 0) expect_pattern(w, y + (uint64_t)(v * LINE), LINE, 1, (uint64_t)hit * LINE);
        else expect_pattern(w, y + (uint64_t)(v * LINE), LINE, 2, (uint64_t)(v * LINE));
    }
}

/* What `trust distinct` promises is not so: a finding of the simulator; on a GPU each byte is one that was sent there, and
 * nothing else is touched. */
static void duplicates(World *w)
{
    static const int64_t same[4] = {5, 5, 5, 5};
    tile_error e;
    uint64_t x = memory(w, 4 * LINE), y = memory(w, TABLE * LINE), i = memory(w, sizeof same);
    fill(w, x, 4 * LINE, 1);
    fill(w, y, TABLE * LINE, 2);
    expect(w, tile_write(w->device, i, same, sizeof same, &e) == TILE_OK, "the indices are written");
    use(w, "put");
    bind_tensor(w, "x", x, U8, 2, SHAPE(4, LINE), NULL);
    bind_tensor(w, "idx", i, TILE_S64, 1, SHAPE(4), NULL);
    bind_tensor(w, "y", y, U8, 2, SHAPE(TABLE, LINE), NULL);
    found(w, "E1315", "E1326");
    expect_pattern(w, y, 5 * LINE, 2, 0);
    expect_pattern(w, y + 6 * LINE, (TABLE - 6) * LINE, 2, 6 * LINE);
    if (tile_device_simulates(w->device)) return;
    unsigned char got[LINE];
    read_back(w, got, y + 5 * LINE, LINE);
    for (uint64_t b = 0; b < LINE; b++) {
        bool sent = false;
        for (uint64_t r = 0; r < 4; r++) sent = sent || got[b] == pattern(1, r * LINE + b);
        expect(w, sent, "a byte is none of those sent there");
    }
}

/* ---- nothing: extents 0 in every place ---- */

static void nothing(World *w)
{
    uint64_t x = memory(w, 4096), y = memory(w, 4096), i = memory(w, 4096);
    fill(w, x, 4096, 1);
    fill(w, y, 4096, 2);
    for (int k = 0; k < 3; k++) {
        columns_of(w, k == 1 ? 0 : x, 64, k == 1 ? 0 : y, 64, k == 0 ? 0 : 16, k == 0 ? 64 : 0);
        launch(w);
    }
    use(w, "put"); /* a row for a table that has none */
    bind_tensor(w, "x", x, U8, 2, SHAPE(4, LINE), NULL);
    bind_tensor(w, "idx", i, TILE_S64, 1, SHAPE(4), NULL);
    bind_tensor(w, "y", 0, U8, 2, SHAPE(0, LINE), NULL);
    launch(w);
    for (int bulk = 0; bulk < 2; bulk++) { /* rows of a tensor that has none */
        fill(w, y, 4096, 2);
        use(w, bulk ? "rows_bulk" : "rows");
        bind_tensor(w, "x", 0, U8, 2, SHAPE(0, ROW), SHAPE(ROW, 1));
        bind_tensor(w, "y", y, U8, 2, SHAPE(16, ROW), SHAPE(ROW, 1));
        bind_scalar(w, "from", 0);
        bind_scalar(w, "to", 0);
        launch(w);
        expect_zeros(w, y, 16 * ROW);
        expect_pattern(w, y + 16 * ROW, 4096 - 16 * ROW, 2, 16 * ROW);
    }
}

static const struct {
    const char *name;
    void (*run)(World *w);
} CASES[] = {
    {"far_2_31", far_2_31},         {"far_2_32", far_2_32},
    {"far_end", far_end},           {"start_outside", start_outside},
    {"extent_2_31", extent_2_31},   {"extent_2_40", extent_2_40},
    {"extent_too_large", extent_too_large},
    {"rows_outside", rows_outside}, {"pitch_2_31", pitch_2_31},
    {"rows_2_31", rows_2_31},       {"overlap", overlap},
    {"own_overlap", own_overlap},   {"addresses", addresses},
    {"strides", strides},           {"wrong_calls", wrong_calls},
    {"gather", gather},             {"scatter", scatter},
    {"duplicates", duplicates},     {"nothing", nothing},
};
enum { NCASES = sizeof CASES / sizeof *CASES };

static int run_case(const char *device, int i)
{
    World w;
    printf("%s on %s\n", CASES[i].name, device);
    world_open(&w, device, "tests/run/hostile/hostile.tile");
    CASES[i].run(&w);
    world_close(&w);
    return w.failures < 0 ? 77 : w.failures > 0;
}

int main(int argc, char **argv)
{
    const char *device = "cuda";
    int worst = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int a = 1; a < argc; a++) {
        int i = 0;
        if (strcmp(argv[a], "--list") == 0) {
            for (i = 0; i < NCASES; i++) puts(CASES[i].name);
            continue;
        }
        if (strncmp(argv[a], "--device=", 9) == 0) {
            device = argv[a] + 9;
            continue;
        }
        while (i < NCASES && strcmp(argv[a], CASES[i].name) != 0) i++;
        if (i == NCASES) {
            fprintf(stderr, "hostile: no case is named %s\n", argv[a]);
            return 2;
        }
        int code = run_case(device, i);
        if (code > worst && worst != 1) worst = code;
    }
    return worst;
}
