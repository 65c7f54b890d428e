/* Kernels as IR text, shared by the tests of the reader and of the verifier. All of them are correct. */
#ifndef TESTS_UNIT_IR_TEXTS_H
#define TESTS_UNIT_IR_TEXTS_H

#define IR_HEAD \
    "module sm_90a version 8.6\n" \
    "kernel k entry k {\n" \
    "  sym M size\n  sym N size\n" \
    "  tensor src bf16 [M, N] stride [N, 1] read align 16\n" \
    "  tensor dst bf16 [M, N] stride [N, 1] written align 16\n" \
    "  arg tensor src\n  arg tensor dst\n" \
    "  map in = src tiled bf16 offset 0 dim [M, N] pitch [N * 2, 2] box [64, 128] swizzle none load\n" \
    "  map out = dst tiled bf16 offset 0 dim [M, N] pitch [N * 2, 2] box [64, 128] l2 128B store\n" \
    "  map low = src tiled bf16 offset 0 dim [M, N] pitch [N * 2, 2] box [32, 128] load\n" \
    "  param map in\n  param map out\n  param map low\n  param address src\n  param address dst\n" \
    "  grid ceil(N, 128), ceil(M, 64), 1\n  cluster 1, 1, 1\n  threads 32\n  smem 65536\n  zeros 16384\n"
#define IR_TILE "  buf tile bytes 16384 align 128 slots 1 pitch 16384 at 0\n"
#define IR_TWO_TILES IR_TILE "  buf other bytes 16384 align 128 slots 1 pitch 16384 at 16384\n"
#define IR_TILES2 "  buf tile bytes 16384 align 128 slots 2 pitch 16384 at 0\n"
#define IR_FULL "  bar full slots 1 count 1 at 65000 derived\n"
#define IR_MAIN "  role main warps 1 elect {\n"
#define IR_TAIL "  }\n}\n"
#define IR_INIT "    bar.init full, 1\n    fence.mbar_init\n"
#define IR_AT "    %x = sreg ctaid.x\n    %y = sreg ctaid.y\n    %row = mul.i32 %y, 64\n    %col = mul.i32 %x, 128\n"

typedef struct IrText {
    const char *name, *text;
} IrText;

static const IrText IR_TEXTS[] = {
    {"copy", IR_HEAD IR_TILE IR_FULL IR_MAIN IR_INIT IR_AT
     "    bar.arrive_expect full, 16384\n"
     "    tma.load in [%row, %col] -> tile, full, bytes 16384\n"
     "    bar.wait full, 0\n"
     "    tma.store out [%row, %col], tile, bytes 16384\n"
     "    grp.commit\n"
     "    grp.wait 0 read\n" IR_TAIL},
    {"two loads, one phase, policy", IR_HEAD IR_TILE IR_FULL
     "  policy once = evict_first fraction 0.5 else evict_unchanged\n" IR_MAIN IR_INIT IR_AT
     "    pol.create once\n"
     "    %down = add.i32 %row, 32\n"
     "    bar.arrive_expect full, 16384\n"
     "    tma.load low [%row, %col] -> tile, full, bytes 8192, pol once\n"
     "    tma.load low [%down, %col] -> tile+8192, full, bytes 8192, pol once\n"
     "    bar.wait full, 0\n"
     "    tma.store out [%row, %col], tile, bytes 16384, pol once\n"
     "    grp.commit\n"
     "    grp.wait 0 full\n" IR_TAIL},
    {"two arrivals", IR_HEAD IR_TWO_TILES "  bar full slots 1 count 2 at 65000\n" IR_MAIN
     "    bar.init full, 2\n    fence.mbar_init\n" IR_AT
     "    bar.arrive_expect full, 16384\n"
     "    tma.load in [%row, %col] -> tile, full, bytes 16384\n"
     "    bar.arrive_expect full, 16384\n"
     "    tma.load in [%row, %col] -> other, full, bytes 16384\n"
     "    bar.wait full, 0\n"
     "    tma.store out [%row, %col], tile, bytes 16384\n"
     "    grp.commit\n"
     "    tma.store out [%col, %row], other, bytes 16384\n"
     "    grp.commit\n"
     "    grp.wait 0 read\n" IR_TAIL},
    {"expect, then arrive", IR_HEAD IR_TILE IR_FULL IR_MAIN IR_INIT IR_AT
     "    bar.expect full, 16384\n"
     "    tma.load in [%row, %col] -> tile, full, bytes 16384\n"
     "    bar.arrive full\n"
     "    bar.wait full, 0\n"
     "    tma.store out [%row, %col], tile, bytes 16384\n"
     "    grp.commit\n"
     "    grp.wait 0 read\n" IR_TAIL},
    {"loop", IR_HEAD IR_TILE IR_FULL "  var ph i32\n" IR_MAIN IR_INIT IR_AT
     "    %n = param.i64 ceil(M, 64)\n"
     "    var ph = 0\n"
     "    %i = loop.i64 0 .. %n\n"
     "      %i32 = cvt.i32 %i\n"
     "      %at = mul.i32 %i32, 64\n"
     "      grp.wait 0 read\n"
     "      bar.arrive_expect full, 16384\n"
     "      tma.load in [%at, %col] -> tile, full, bytes 16384\n"
     "      %p = get.i32 ph\n"
     "      bar.wait full, %p\n"
     "      %q = xor.i32 %p, 1\n"
     "      set ph = %q\n"
     "      tma.store out [%at, %col], tile, bytes 16384\n"
     "      grp.commit\n"
     "    end\n"
     "    grp.wait 0 read\n" IR_TAIL},
    {"loop, next load before the store", IR_HEAD IR_TILES2 "  bar full slots 2 count 1 at 65000\n  var ph i32\n" IR_MAIN
     "    bar.init full[0], 1\n    bar.init full[1], 1\n    fence.mbar_init\n" IR_AT
     "    %n = param.i64 M / 64\n"
     "    var ph = 0\n"
     "    bar.arrive_expect full[0], 16384\n"
     "    tma.load in [0, %col] -> tile[0], full[0], bytes 16384\n"
     "    %i = loop.i64 0 .. %n\n"
     "      %p = get.i32 ph\n"
     "      grp.wait 0 read\n"
     "      bar.arrive_expect full[1], 16384\n"
     "      tma.load in [1, %col] -> tile[1], full[1], bytes 16384\n"
     "      bar.wait full[0], %p\n"
     "      tma.store out [0, %col], tile[0], bytes 16384\n"
     "      grp.commit\n"
     "      grp.wait 0 read\n"
     "      bar.arrive_expect full[0], 16384\n"
     "      tma.load in [2, %col] -> tile[0], full[0], bytes 16384\n"
     "      bar.wait full[1], %p\n"
     "      tma.store out [1, %col], tile[1], bytes 16384\n"
     "      grp.commit\n"
     "      %q = xor.i32 %p, 1\n"
     "      set ph = %q\n"
     "    end\n"
     "    %last = get.i32 ph\n"
     "    bar.wait full[0], %last\n"
     "    grp.wait 0 read\n" IR_TAIL},
    {"stores one group behind", IR_HEAD IR_TILES2 "  bar full slots 1 count 1 at 65000\n  var ph i32\n" IR_MAIN IR_INIT IR_AT
     "    %n = param.i64 M / 128\n"
     "    var ph = 0\n"
     "    %i = loop.i64 0 .. %n\n"
     "      grp.wait 1 read\n"
     "      bar.arrive_expect full, 16384\n"
     "      tma.load in [0, %col] -> tile[0], full, bytes 16384\n"
     "      %p = get.i32 ph\n"
     "      bar.wait full, %p\n"
     "      tma.store out [0, %col], tile[0], bytes 16384\n"
     "      grp.commit\n"
     "      grp.wait 1 read\n"
     "      bar.arrive_expect full, 16384\n"
     "      tma.load in [1, %col] -> tile[1], full, bytes 16384\n"
     "      %q = xor.i32 %p, 1\n"
     "      bar.wait full, %q\n"
     "      tma.store out [1, %col], tile[1], bytes 16384\n"
     "      grp.commit\n"
     "    end\n"
     "    grp.wait 0 read\n" IR_TAIL},
    {"condition", IR_HEAD IR_TILE IR_FULL "  var ph i32\n" IR_MAIN IR_INIT IR_AT
     "    %n = param.i64 N\n"
     "    %big = cmp gt %n, 4096\n"
     "    var ph = 0\n"
     "    if %big\n"
     "      bar.arrive_expect full, 16384\n"
     "      tma.load in [%row, %col] -> tile, full, bytes 16384\n"
     "      bar.wait full, 0\n"
     "      set ph = 1\n"
     "    else\n"
     "      bar.arrive full\n"
     "      bar.wait full, 0\n"
     "      set ph = 1\n"
     "      bar.arrive_expect full, 16384\n"
     "      tma.load in [%col, %row] -> tile, full, bytes 16384\n"
     "      bar.wait full, 1\n"
     "      set ph = 0\n"
     "    end\n"
     "    tma.store out [%row, %col], tile, bytes 16384\n"
     "    grp.commit\n"
     "    grp.wait 0 read\n"
     "    bar.arrive_expect full, 16384\n"
     "    tma.load in [%row, %col] -> tile, full, bytes 16384\n"
     "    %p = get.i32 ph\n"
     "    bar.wait full, %p\n" IR_TAIL},
    {"copies under a condition", IR_HEAD IR_TWO_TILES IR_FULL IR_MAIN IR_INIT IR_AT
     "    %n = param.i64 N\n"
     "    %big = cmp gt %n, 4096\n"
     "    %bytes = sel.i32 %big, 32768, 16384\n"
     "    bar.arrive_expect full, %bytes\n"
     "    tma.load in [%row, %col] -> tile, full, bytes 16384\n"
     "    @%big tma.load in [%row, %col] -> other, full, bytes 16384\n"
     "    bar.wait full, 0\n"
     "    tma.store out [%row, %col], tile, bytes 16384\n"
     "    if %big\n"
     "      tma.store out [%col, %row], other, bytes 16384\n"
     "    end\n"
     "    grp.commit\n"
     "    grp.wait 0 read\n" IR_TAIL},
    {"guarded bulk with zeros", IR_HEAD IR_TILE IR_FULL IR_MAIN IR_INIT IR_AT
     "    %n = param.i64 M * N * 2\n"
     "    %x64 = cvt.i64 %x\n"
     "    %start = mul.i64 %x64, 16384\n"
     "    %rest = sub.i64 %n, %start\n"
     "    %rest0 = max.i64 %rest, 0\n"
     "    %hi = min.i64 %rest0, 16384\n"
     "    %before = sub.i64 0, %start\n"
     "    %before0 = max.i64 %before, 0\n"
     "    %lo = min.i64 %before0, %hi\n"
     "    %len = sub.i64 %hi, %lo\n"
     "    %tail = sub.i64 16384, %hi\n"
     "    %some_lo = cmp gt %lo, 0\n"
     "    %some = cmp gt %len, 0\n"
     "    %some_tail = cmp gt %tail, 0\n"
     "    %from = gaddr src, %start\n"
     "    %to = gaddr dst, %start\n"
     "    %zero = zaddr\n"
     "    bar.arrive_expect full, 16384\n"
     "    @%some_lo blk.load %zero -> tile, bytes %lo, full\n"
     "    @%some blk.load %from -> tile+%lo, bytes %len, full\n"
     "    @%some_tail blk.load %zero -> tile+%hi, bytes %tail, full\n"
     "    bar.wait full, 0\n"
     "    @%some blk.store tile+%lo -> %to, bytes %len\n"
     "    grp.commit\n"
     "    grp.wait 0 read\n" IR_TAIL},
    {"rows in a loop, some of them zeros", IR_HEAD IR_TILE IR_FULL IR_MAIN IR_INIT IR_AT
     "    %pitch = param.i64 N * 2\n"
     "    %rows = param.i64 M\n"
     "    %from0 = gaddr src, 0\n"
     "    %to0 = gaddr dst, 0\n"
     "    %zero = zaddr\n"
     "    bar.arrive_expect full, 16384\n"
     "    %r = loop.i64 0 .. 64\n"
     "      %off = mul.i64 %r, 256\n"
     "      %g = mul.i64 %r, %pitch\n"
     "      %from = add.i64 %from0, %g\n"
     "      %in = cmp lt %r, %rows\n"
     "      %out = not.pred %in\n"
     "      @%in blk.load %from -> tile+%off, bytes 256, full\n"
     "      @%out blk.load %zero -> tile+%off, bytes 256, full\n"
     "    end\n"
     "    bar.wait full, 0\n"
     "    %s = loop.i64 0 .. 64\n"
     "      %off2 = mul.i64 %s, 256\n"
     "      %g2 = mul.i64 %s, %pitch\n"
     "      %to = add.i64 %to0, %g2\n"
     "      %in2 = cmp lt %s, %rows\n"
     "      @%in2 blk.store tile+%off2 -> %to, bytes 256\n"
     "    end\n"
     "    grp.commit\n"
     "    grp.wait 0 read\n" IR_TAIL},
    {"short loop over slots", IR_HEAD IR_TILES2 "  bar full slots 2 count 1 at 65000\n" IR_MAIN
     "    bar.init full[0], 1\n    bar.init full[1], 1\n    fence.mbar_init\n" IR_AT
     "    %i = loop.i32 0 .. 2\n"
     "      %at = mul.i32 %i, 64\n"
     "      bar.arrive_expect full[%i], 16384\n"
     "      tma.load in [%at, %col] -> tile[%i], full[%i], bytes 16384\n"
     "    end\n"
     "    %j = loop.i32 0 .. 2\n"
     "      %at2 = mul.i32 %j, 64\n"
     "      bar.wait full[%j], 0\n"
     "      tma.store out [%at2, %col], tile[%j], bytes 16384\n"
     "      grp.commit\n"
     "    end\n"
     "    grp.wait 0 read\n" IR_TAIL},
    {"through global memory", IR_HEAD
     "  tensor io bf16 [M, N] stride [N, 1] read written align 16\n"
     "  map io_in = io tiled bf16 offset 0 dim [M, N] pitch [N * 2, 2] box [64, 128] load\n"
     "  map io_out = io tiled bf16 offset 0 dim [M, N] pitch [N * 2, 2] box [64, 128] store\n"
     IR_TWO_TILES IR_FULL IR_MAIN IR_INIT IR_AT
     "    bar.arrive_expect full, 16384\n"
     "    tma.load in [%row, %col] -> tile, full, bytes 16384\n"
     "    bar.wait full, 0\n"
     "    tma.store io_out [%row, %col], tile, bytes 16384\n"
     "    grp.commit\n"
     "    grp.wait 0 full\n"
     "    fence.async global\n"
     "    bar.arrive_expect full, 16384\n"
     "    tma.load io_in [%row, %col] -> other, full, bytes 16384\n"
     "    bar.wait full, 1\n"
     "    tma.store out [%row, %col], other, bytes 16384\n"
     "    grp.commit\n"
     "    grp.wait 0 read\n" IR_TAIL},
    {"loop in a loop", IR_HEAD IR_TILE IR_FULL "  var ph i32\n" IR_MAIN IR_INIT IR_AT
     "    %n = param.i64 M / 64\n"
     "    %m = param.i64 N / 128\n"
     "    var ph = 0\n"
     "    %i = loop.i64 0 .. %n\n"
     "      %j = loop.i64 0 .. %m\n"
     "        %c = cvt.i32 %j\n"
     "        grp.wait 0 read\n"
     "        bar.arrive_expect full, 16384\n"
     "        tma.load in [%row, %c] -> tile, full, bytes 16384\n"
     "        %p = get.i32 ph\n"
     "        bar.wait full, %p\n"
     "        %q = xor.i32 %p, 1\n"
     "        set ph = %q\n"
     "      end\n"
     "      grp.wait 0 read\n"
     "      bar.arrive_expect full, 16384\n"
     "      tma.load in [%row, %col] -> tile, full, bytes 16384\n"
     "      %u = get.i32 ph\n"
     "      bar.wait full, %u\n"
     "      %w = xor.i32 %u, 1\n"
     "      set ph = %w\n"
     "      tma.store out [%row, %col], tile, bytes 16384\n"
     "      grp.commit\n"
     "    end\n"
     "    grp.wait 0 read\n" IR_TAIL},
};
enum { IR_TEXT_COUNT = sizeof IR_TEXTS / sizeof *IR_TEXTS };

#endif
