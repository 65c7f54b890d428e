/* Kernels of several roles, threads and CTAs as IR text, for the tests of the verifier. All of them are correct. */
#ifndef TESTS_UNIT_IR_ROLE_TEXTS_H
#define TESTS_UNIT_IR_ROLE_TEXTS_H

#define R_HEAD_GRID(cluster, threads, grid)                                                                            \
    "module sm_90a version 8.6\n"                                                                                      \
    "kernel k entry k {\n"                                                                                             \
    "  sym M size\n  sym N size\n"                                                                                     \
    "  tensor src bf16 [M, N] stride [N, 1] read align 16\n"                                                           \
    "  tensor dst bf16 [M, N] stride [N, 1] written align 16\n"                                                        \
    "  arg tensor src\n  arg tensor dst\n"                                                                             \
    "  map in = src tiled bf16 offset 0 dim [M, N] pitch [N * 2, 2] box [64, 128] load\n"                              \
    "  map out = dst tiled bf16 offset 0 dim [M, N] pitch [N * 2, 2] box [64, 128] store\n"                            \
    "  map low = src tiled bf16 offset 0 dim [M, N] pitch [N * 2, 2] box [32, 128] load\n"                             \
    "  param map in\n  param map out\n  param map low\n  param address src\n  param address dst\n  param counter\n"  \
    "  grid " grid "\n  cluster " cluster "\n  threads " threads "\n  smem 230000\n"
#define R_HEAD(cluster, threads) R_HEAD_GRID(cluster, threads, "ceil(N, 128), ceil(M, 64), 1")
/* A ring's counters in a role: slot and parity, first parity p. */
#define R_VARS(a) "  var " a "slot i32\n  var " a "phase i32\n"
#define R_START(a, p) "    var " a "slot = 0\n    var " a "phase = " p "\n"
#define R_TURN(a) "      %" a "s = get.i32 " a "slot\n      %" a "p = get.i32 " a "phase\n"
#define R_NEXT(a, slots)                                                                                               \
    "      %" a "n = add.i32 %" a "s, 1\n      %" a "w = cmp eq %" a "n, " slots "\n"                                  \
    "      %" a "t = sel.i32 %" a "w, 0, %" a "n\n      set " a "slot = %" a "t\n"                                     \
    "      %" a "c = cvt.i32 %" a "w\n      %" a "q = xor.i32 %" a "p, %" a "c\n      set " a "phase = %" a "q\n"
#define R_LOOP(a)                                                                                                      \
    "    %" a "n0 = param.i64 ceil(M, 64)\n    %" a "k = loop.i64 0 .. %" a "n0\n      %" a "k32 = cvt.i32 %" a        \
    "k\n      %" a "at = mul.i32 %" a "k32, 64\n"
#define R_INIT3(b, n)                                                                                                  \
    "    elect bar.init " b "[0], " n "\n    elect bar.init " b "[1], " n "\n    elect bar.init " b "[2], " n "\n"
#define R_INIT2(b, n) "    elect bar.init " b "[0], " n "\n    elect bar.init " b "[1], " n "\n"
#define R_CLUSTER "    elect fence.mbar_init\n    cluster.arrive relaxed\n    cluster.wait\n  }\n"
#define R_EXIT "  exit {\n    cluster.arrive release\n    cluster.wait\n  }\n}\n"

typedef struct RoleText {
    const char *name, *text;
} RoleText;

static const RoleText ROLE_TEXTS[] = {
    {"two roles",
     R_HEAD("1, 1, 1",
            "64") "  buf tile bytes 16384 align 128 slots 3 pitch 16384 at 0\n"
                  "  bar full slots 3 count 1 at 200000\n  bar empty slots 3 count 1 at 200064\n" R_VARS("l")
                      R_VARS("s") "  init {\n" R_INIT3("full", "1") R_INIT3(
                          "empty",
                          "1") "    elect fence.mbar_init\n    cta.sync 0, 64\n  }\n"
                               "  role load warps 1 elect {\n" R_START("l", "1") R_LOOP("l") R_TURN(
                                   "l") "      bar.wait empty[%ls], %lp\n"
                                        "      bar.arrive_expect full[%ls], 16384\n"
                                        "      tma.load in [%lat, 0] -> tile[%ls], full[%ls], bytes 16384\n" R_NEXT(
                                            "l",
                                            "3") "    end\n  }\n"
                                                 "  role store warps 1 elect {\n" R_START("s", "0") R_LOOP("s") R_TURN(
                                                     "s") "      bar.wait full[%ss], %sp\n"
                                                          "      tma.store out [%sat, 0], tile[%ss], bytes 16384\n"
                                                          "      grp.commit\n"
                                                          "      grp.wait 0 read\n"
                                                          "      bar.arrive empty[%ss]\n" R_NEXT(
                                                              "s", "3") "    end\n  }\n}\n"},
    {"skewed",
     R_HEAD("1, 1, 1",
            "32") "  buf tile bytes 16384 align 128 slots 4 pitch 16384 at 0\n"
                  "  bar full slots 4 count 1 at 200000\n" R_VARS(
                      "s") "  var ahead i32\n"
                           "  init {\n    elect bar.init full[0], 1\n    elect bar.init full[1], 1\n    elect bar.init full[2], 1\n    elect bar.init "
                           "full[3], 1\n    elect fence.mbar_init\n  }\n"
                           "  role main warps 1 elect {\n" R_START(
                               "s",
                               "0") "    var ahead = 3\n"
                                    "    %n = param.i64 ceil(M, 64)\n"
                                    "    %first = min.i64 %n, 3\n"
                                    "    %j = loop.i64 0 .. %first\n"
                                    "      %j32 = cvt.i32 %j\n"
                                    "      %jat = mul.i32 %j32, 64\n"
                                    "      bar.arrive_expect full[%j], 16384\n"
                                    "      tma.load in [%jat, 0] -> tile[%j], full[%j], bytes 16384\n"
                                    "    end\n" R_LOOP("s") R_TURN(
                                        "s") "      bar.wait full[%ss], %sp\n"
                                             "      tma.store out [%sat, 0], tile[%ss], bytes 16384\n"
                                             "      grp.commit\n"
                                             "      %next = add.i64 %sk, 3\n"
                                             "      %more = cmp lt %next, %n\n"
                                             "      %a = get.i32 ahead\n"
                                             "      grp.wait 1 read\n"
                                             "      @%more bar.arrive_expect full[%a], 16384\n"
                                             "      @%more tma.load in [%sat, 0] -> tile[%a], full[%a], bytes 16384\n"
                                             "      %a1 = add.i32 %a, 1\n"
                                             "      %aw = and.i32 %a1, 3\n"
                                             "      set ahead = %aw\n" R_NEXT("s",
                                                                              "4") "    end\n"
                                                                                   "    grp.wait 0 read\n  }\n}\n"},
    {"mask of parities",
     R_HEAD("1, 1, 1", "64") "  buf tile bytes 16384 align 128 slots 3 pitch 16384 at 0\n"
                             "  bar full slots 3 count 1 at 200000\n  bar empty slots 3 count 1 at 200064\n  var lbits "
                             "i32\n  var sbits i32\n"
                             "  init {\n" R_INIT3("full", "1") R_INIT3(
                                 "empty",
                                 "1") "    elect fence.mbar_init\n    cta.sync 0, 64\n  }\n"
                                      "  role load warps 1 elect {\n"
                                      "    var lbits = 7\n" R_LOOP(
                                          "l") "      %lmod = mod.i64 %lk, 3\n      %ls = cvt.i32 %lmod\n"
                                               "      %lb = get.i32 lbits\n"
                                               "      %lr = shr.i32 %lb, %ls\n"
                                               "      %lp = and.i32 %lr, 1\n"
                                               "      bar.wait empty[%ls], %lp\n"
                                               "      %lbit = shl.i32 1, %ls\n"
                                               "      %lx = xor.i32 %lb, %lbit\n"
                                               "      set lbits = %lx\n"
                                               "      bar.arrive_expect full[%ls], 16384\n"
                                               "      tma.load in [%lat, 0] -> tile[%ls], full[%ls], bytes 16384\n"
                                               "    end\n  }\n"
                                               "  role store warps 1 elect {\n"
                                               "    var sbits = 0\n" R_LOOP(
                                                   "s") "      %smod = mod.i64 %sk, 3\n      %ss = cvt.i32 %smod\n"
                                                        "      %sb = get.i32 sbits\n"
                                                        "      %sr = shr.i32 %sb, %ss\n"
                                                        "      %sp = and.i32 %sr, 1\n"
                                                        "      bar.wait full[%ss], %sp\n"
                                                        "      %sbit = shl.i32 1, %ss\n"
                                                        "      %sx = xor.i32 %sb, %sbit\n"
                                                        "      set sbits = %sx\n"
                                                        "      tma.store out [%sat, 0], tile[%ss], bytes 16384\n"
                                                        "      grp.commit\n"
                                                        "      grp.wait 0 read\n"
                                                        "      bar.arrive empty[%ss]\n"
                                                        "    end\n  }\n}\n"},
    {"loops of data",
     R_HEAD(
         "1, 1, 1",
         "64") "  buf tile bytes 16384 align 128 slots 3 pitch 16384 at 0\n"
               "  bar full slots 3 count 1 at 200000\n  bar empty slots 3 count 1 at 200064\n" R_VARS("l")
                   R_VARS("s") "  init {\n" R_INIT3("full", "1") R_INIT3(
                       "empty",
                       "1") "    elect fence.mbar_init\n    cta.sync 0, 64\n  }\n"
                            "  role load warps 1 elect {\n" R_START("l", "1")
                                R_LOOP("l") "      %lb = mul.i64 %lk, 8\n      %lm = ld.scalar src, %lb\n      %lj = "
                                            "loop.i64 0 .. %lm\n" R_TURN(
                                                "l") "      bar.wait empty[%ls], %lp\n"
                                                     "      bar.arrive_expect full[%ls], 16384\n"
                                                     "      tma.load in [%lat, 0] -> tile[%ls], full[%ls], bytes "
                                                     "16384\n" R_NEXT(
                                                         "l",
                                                         "3") "      end\n    end\n  }\n"
                                                              "  role store warps 1 elect {\n" R_START("s", "0")
                                                                  R_LOOP("s") "      %sb = mul.i64 %sk, 8\n      %sm = "
                                                                              "ld.scalar src, %sb\n      %sj = "
                                                                              "loop.i64 0 .. %sm\n" R_TURN(
                                                                                  "s") "      bar.wait full[%ss], %sp\n"
                                                                                       "      tma.store out [%sat, 0], "
                                                                                       "tile[%ss], bytes 16384\n"
                                                                                       "      grp.commit\n"
                                                                                       "      grp.wait 0 read\n"
                                                                                       "      bar.arrive "
                                                                                       "empty[%ss]\n" R_NEXT(
                                                                                           "s", "3") "      end\n    "
                                                                                                     "end\n  }\n}\n"},
    {"multicast",
     R_HEAD("2, 2, 1", "64") "  buf a bytes 16384 align 128 slots 2 pitch 16384 at 0\n"
                             "  buf b bytes 16384 align 128 slots 2 pitch 16384 at 32768\n"
                             "  bar full slots 2 count 1 at 200000\n  bar empty slots 2 count 3 at 200064\n" R_VARS("l")
                                 R_VARS("s") "  init {\n" R_INIT2("full", "1") R_INIT2("empty", "3") R_CLUSTER
     "  role load warps 1 elect {\n"
     "    %x = sreg cluster_ctaid.x\n    %y = sreg cluster_ctaid.y\n"
     "    %y2 = mul.i32 %y, 2\n    %ma = shl.i32 3, %y2\n    %mb = shl.i32 5, %x\n"
     "    %oa = mul.i32 %x, 8192\n    %ob = mul.i32 %y, 8192\n" R_START("l", "1") R_LOOP("l")
         R_TURN("l") "      bar.wait empty[%ls], %lp, scope cluster\n"
                     "      bar.arrive_expect full[%ls], 32768\n"
                     "      tma.load low [%lat, 0] -> a[%ls]+%oa, full[%ls], bytes 8192, mask %ma\n"
                     "      tma.load low [0, %lat] -> b[%ls]+%ob, full[%ls], bytes 8192, mask %mb\n" R_NEXT(
                         "l", "2") "    end\n  }\n"
                                   "  role store warps 1 elect {\n"
                                   "    %me = sreg cluster_ctarank\n    %beside = xor.i32 %me, 1\n    %below = xor.i32 "
                                   "%me, 2\n" R_START("s", "0") R_LOOP("s")
                                       R_TURN("s") "      bar.wait full[%ss], %sp\n"
                                                   "      tma.store out [%sat, 0], a[%ss], bytes 16384\n"
                                                   "      tma.store out [0, %sat], b[%ss], bytes 16384\n"
                                                   "      grp.commit\n"
                                                   "      grp.wait 0 read\n"
                                                   "      bar.arrive empty[%ss], rank %me\n"
                                                   "      bar.arrive empty[%ss], rank %beside\n"
                                                   "      bar.arrive empty[%ss], rank %below\n" R_NEXT(
                                                       "s", "2") "    end\n  }\n" R_EXIT},
    {"ring of CTAs",
     R_HEAD("4, 1, 1", "96") "  buf mine bytes 16384 align 128 slots 2 pitch 16384 at 0\n"
                             "  buf theirs bytes 16384 align 128 slots 2 pitch 16384 at 32768\n"
                             "  bar mfull slots 2 count 1 at 200000\n  bar mempty slots 2 count 1 at 200064\n"
                             "  bar tfull slots 2 count 1 at 200128\n" R_VARS("l") R_VARS("d")
                                 R_VARS("s") "  init {\n" R_INIT2("mfull", "1") R_INIT2("mempty", "1")
                                     R_INIT2("tfull", "1") R_CLUSTER
     "  role load warps 1 elect {\n" R_START("l", "1") R_LOOP("l") R_TURN(
         "l") "      bar.wait mempty[%ls], %lp, scope cluster\n"
              "      bar.arrive_expect mfull[%ls], 16384\n"
              "      tma.load in [%lat, 0] -> mine[%ls], mfull[%ls], bytes 16384\n" R_NEXT(
                  "l", "2") "    end\n  }\n"
                            "  role send warps 1 elect {\n"
                            "    %me = sreg cluster_ctarank\n    %up = add.i32 %me, 1\n    %right = mod.i32 %up, "
                            "4\n" R_START("d", "0") R_LOOP("d") R_TURN(
                                "d") "      bar.wait mfull[%ds], %dp\n"
                                     "      blk.peer mine[%ds] -> theirs[%ds], bytes 16384, tfull[%ds], rank "
                                     "%right\n" R_NEXT(
                                         "d", "2") "    end\n  }\n"
                                                   "  role store warps 1 elect {\n"
                                                   "    %i = sreg cluster_ctarank\n    %down = add.i32 %i, 3\n    "
                                                   "%left = mod.i32 %down, 4\n" R_START("s", "0") R_LOOP("s") R_TURN(
                                                       "s") "      bar.arrive_expect tfull[%ss], 16384\n"
                                                            "      bar.wait tfull[%ss], %sp\n"
                                                            "      tma.store out [%sat, 0], theirs[%ss], bytes 16384\n"
                                                            "      grp.commit\n"
                                                            "      grp.wait 0 read\n"
                                                            "      bar.arrive mempty[%ss], rank %left\n" R_NEXT(
                                                                "s", "2") "    end\n  }\n" R_EXIT},
    {"threads",
     R_HEAD("1, 1, 1",
            "160") "  buf a bytes 16384 align 128 slots 3 pitch 16384 at 0\n"
                   "  buf b bytes 16384 align 128 slots 2 pitch 16384 at 65536\n"
                   "  bar full slots 3 count 1 at 200000\n  bar empty slots 3 count 1 at 200064\n"
                   "  plan turn = copy extent [64, 128] src bf16 pitch [256, 2] dst bf16 pitch [256, 2] threads 128 "
                   "vector 16 method 0 block 8, 1 deal 0 "
                   "ways 16, 16\n" R_VARS("l") R_VARS("s") R_VARS("b") "  init {\n" R_INIT3("full", "1") R_INIT3(
                       "empty",
                       "1") "    elect fence.mbar_init\n    cta.sync 0, 160\n  }\n"
                            "  role load warps 1 elect {\n" R_START("l", "1") R_LOOP("l") R_TURN(
                                "l") "      bar.wait empty[%ls], %lp\n"
                                     "      bar.arrive_expect full[%ls], 16384\n"
                                     "      tma.load in [%lat, 0] -> a[%ls], full[%ls], bytes 16384\n" R_NEXT(
                                         "l",
                                         "3") "    end\n  }\n"
                                              "  role work warps 4 {\n" R_START("s", "0") R_START("b", "0") R_LOOP(
                                                  "s") R_TURN("s")
                                                  R_TURN(
                                                      "b") "      bar.wait full[%ss], %sp\n"
                                                           "      elect grp.wait 1 read\n"
                                                           "      cta.sync 1, 128\n"
                                                           "      thr.copy turn, a[%ss] -> b[%bs]\n"
                                                           "      fence.async shared\n"
                                                           "      cta.sync 1, 128\n"
                                                           "      elect bar.arrive empty[%ss]\n"
                                                           "      elect tma.store out [%sat, 0], b[%bs], bytes 16384\n"
                                                           "      elect grp.commit\n" R_NEXT("s", "3")
                                                               R_NEXT("b", "2") "    end\n"
                                                                                "    elect grp.wait 0 read\n  }\n}\n"},
    {"lanes",
     R_HEAD(
         "1, 1, 1",
         "32") "  buf tile bytes 16384 align 128 slots 1 pitch 16384 at 0\n"
               "  bar full slots 1 count 1 at 200000\n  var ph i32\n"
               "  init {\n    elect bar.init full, 1\n    elect fence.mbar_init\n    cta.sync 0, 32\n  }\n"
               "  role main warps 1 {\n"
               "    %pitch = param.i64 N * 2\n    %from0 = gaddr src, 0\n    %to0 = gaddr dst, 0\n    %zero = zaddr\n"
               "    %rows = param.i64 M\n    %n = param.i64 ceil(M, 64)\n    var ph = 0\n"
               "    %k = loop.i64 0 .. %n\n"
               "      elect bar.arrive_expect full, 16384\n"
               "      %r = lanes 64\n"
               "        %off = mul.i32 %r, 256\n"
               "        %r64 = cvt.i64 %r\n"
               "        %g = mul.i64 %r64, %pitch\n"
               "        %from = add.i64 %from0, %g\n"
               "        %in = cmp lt %r64, %rows\n"
               "        %out = not.pred %in\n"
               "        @%in blk.load %from -> tile+%off, bytes 256, full\n"
               "        @%out blk.load %zero -> tile+%off, bytes 256, full\n"
               "      end\n"
               "      %p = get.i32 ph\n"
               "      bar.wait full, %p\n"
               "      %q = xor.i32 %p, 1\n"
               "      set ph = %q\n"
               "      %s = lanes 64\n"
               "        %off2 = mul.i32 %s, 256\n"
               "        %s64 = cvt.i64 %s\n"
               "        %g2 = mul.i64 %s64, %pitch\n"
               "        %to = add.i64 %to0, %g2\n"
               "        blk.store tile+%off2 -> %to, bytes 256\n"
               "      end\n"
               "      grp.commit\n"
               "      grp.wait 0 read\n"
               "      warp.sync\n"
               "    end\n  }\n}\n"},
    {"nested rings",
     R_HEAD("1, 1, 1",
            "64") "  buf big bytes 16384 align 128 slots 3 pitch 16384 at 0\n"
                  "  buf tile bytes 16384 align 128 slots 2 pitch 16384 at 65536\n"
                  "  bar bfull slots 3 count 1 at 200000\n  bar bempty slots 3 count 1 at 200064\n"
                  "  bar full slots 2 count 1 at 200128\n  bar empty slots 2 count 1 at 200192\n" R_VARS("o") R_VARS("l")
                      R_VARS("p") R_VARS("s") "  init {\n" R_INIT3("bfull", "1") R_INIT3("bempty", "1")
                          R_INIT2("full", "1") R_INIT2(
                              "empty", "1") "    elect fence.mbar_init\n    cta.sync 0, 64\n  }\n"
     "  role load warps 1 elect {\n    %lcols = param.i64 N / 128\n" R_START("o", "1") R_START("l", "1") R_LOOP("o")
         R_TURN("o") "      bar.wait bempty[%os], %op\n"
                     "      bar.arrive_expect bfull[%os], 16384\n"
                     "      tma.load in [%oat, 0] -> big[%os], bfull[%os], bytes 16384\n"
                     "      %li = loop.i64 0 .. %lcols\n" R_TURN(
                         "l") "        bar.wait empty[%ls], %lp\n"
                              "        bar.arrive_expect full[%ls], 16384\n"
                              "        tma.load in [%oat, 0] -> tile[%ls], full[%ls], bytes 16384\n" R_NEXT("l", "2")
                                  "      end\n" R_NEXT("o", "3") "    end\n  }\n"
     "  role store warps 1 elect {\n    %scols = param.i64 N / 128\n" R_START("p", "0") R_START("s", "0") R_LOOP("p")
         R_TURN("p") "      bar.wait bfull[%ps], %pp\n"
                     "      tma.store out [%pat, 0], big[%ps], bytes 16384\n"
                     "      grp.commit\n"
                     "      %si = loop.i64 0 .. %scols\n" R_TURN(
                         "s") "        bar.wait full[%ss], %sp\n"
                              "        tma.store out [%pat, 0], tile[%ss], bytes 16384\n"
                              "        grp.commit\n"
                              "        grp.wait 0 read\n"
                              "        bar.arrive empty[%ss]\n" R_NEXT("s", "2")
                                  "      end\n"
                                  "      grp.wait 0 read\n"
                                  "      bar.arrive bempty[%ps]\n" R_NEXT("p", "3") "    end\n  }\n}\n"},
};
enum { ROLE_TEXT_COUNT = sizeof ROLE_TEXTS / sizeof *ROLE_TEXTS };

#endif
