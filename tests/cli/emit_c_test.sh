# --emit=c: what is made compiles as C99 and as C++17 and runs on the simulator; every example and every kernel of the library compiles.
. cli/cli.sh
TILECC=$QUICK
tests=$root/tests/cli/emit_c
strict='-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror'
includes="-I $root/runtime/include -I $work"
cxx=$(command -v c++ || command -v g++ || command -v clang++) || echo "there is no C++ compiler: C alone"
compiles() { # files without suffix
    # shellcheck disable=SC2086
    cc -std=c99 $strict -Wstrict-prototypes $includes -fsyntax-only "$1.c" >log 2>&1 || fail "$1.c as C99: $(head -5 log)"
    # shellcheck disable=SC2086
    [ -z "$cxx" ] || "$cxx" -x c++ -std=c++17 -Wold-style-cast $strict $includes -fsyntax-only "$1.c" >log 2>&1 || fail "$1.c as C++17: $(head -5 log)"
}

# Called.
cp "$tests/kernels.tile" kernels.tile
expect 0 '' --emit=c kernels.tile -arch sm_90a,sm_100a
only_files kernels.tile kernels.c kernels.h
compiles kernels
grep -qF ' *   int_strides[0] * 4 is a multiple of 16' kernels.h || fail 'kernels.h: what a map wants of rows is not said'
printf 'target sm_100a;
kernel six(x: global u8[M, N], y: global b6a16[M, N]) where N %% 128 == 0 {
    pipeline (i, j) in (ceil(M, 32), N / 128) across grid {
        shared t: u8[32, 128] swizzle 128 atom 32;
        move x[i * 32, j * 128] -> t;
        move t -> y[i * 32, j * 128] convert;
    }
}
' >six.tile
expect 0 '' --emit=c six.tile
grep -qF ' *   N * 6 / 8 is a multiple of 32' six.h && grep -q '  y: .* at a multiple of 32 bytes' six.h || fail "six.h: $(grep multiple six.h)"
rm six.*
# shellcheck disable=SC2086
runs() { # compiler ..
    for part in "$tests/calls.c" kernels.c; do "$@" $includes -c "$part" -o "$(basename "$part").o" >log 2>&1 || fail "$*: $(tail -5 log)"; done
    cc calls.c.o kernels.c.o -L "$PLAIN/lib" -Wl,-rpath,"$PLAIN/lib" -ltile -o calls >log 2>&1 && ./calls >>log 2>&1 || fail "$*: $(tail -5 log)"
    rm -f calls.c.o kernels.c.o
}
# shellcheck disable=SC2086
runs cc -std=c99 $strict
# shellcheck disable=SC2086
[ -z "$cxx" ] || runs "$cxx" -x c++ -std=c++17 -fno-exceptions $strict
[ "$(nm -g --defined-only calls | grep -c ' T kernels_')" = 6 ] || fail "names that leave the object: $(nm -g --defined-only calls | grep kernels)"

# Nothing but the driver: C99, what it is for to C++ is the header. Without a driver it says so; with one that prints what it gets, the launches
# are what libtile's are.
expect 0 '' --emit=c-driver kernels.tile -arch sm_90a,sm_100a
sed -n '/^#ifndef TILE_STATUS/,/^#endif/p' kernels.h | grep -oE '(TILE_|tile_)[A-Za-z_]+( = 0)?|char text.*' >status.made
sed -n '/^#ifndef TILE_STATUS/,/^#endif/p' "$root/runtime/include/tile.h" | sed 's|/\*.*||' | grep -oE '(TILE_|tile_)[A-Za-z_]+( = 0)?|char text.*' | sed 's/; *$/;/' >status
same status status.made
for standard in c99 c11; do
    # shellcheck disable=SC2086
    cc -std=$standard -Wall -Wextra -Wpedantic -Werror -c kernels.c -o kernels.o >log 2>&1 || fail "c-driver as $standard: $(head -5 log)"
done
[ "$(nm -g --defined-only kernels.o | grep -vc ' T kernels_')" = 0 ] || fail "names that leave the object: $(nm -g --defined-only kernels.o)"
if [ -n "$cxx" ]; then
    printf '#include "kernels.h"\n#include "tile.h"\n#include "kernels.h"\nint used;\n' >both.cpp
    # shellcheck disable=SC2086
    "$cxx" -std=c++17 $strict $includes -c both.cpp -o both.o >log 2>&1 || fail "the header beside tile.h: $(head -5 log)"
fi
cc -std=c99 -Wall -Wextra -Wpedantic -Werror "$tests/driver_calls.c" kernels.o -I . -ldl -pthread -o driver_calls && mkdir driver &&
    cc -std=c99 -shared -fPIC "$tests/fake_cuda.c" -o driver/libcuda.so.1 || fail 'linking'
[ -n "$(ldconfig -p 2>/dev/null | grep libcuda.so.1)" ] || { ./driver_calls >log && grep -q 'no NVIDIA driver' log; } || fail "without a driver: $(cat log)"
LD_LIBRARY_PATH=driver ./driver_calls >log || fail "with a driver that prints: $(cat log)"
sed -i 's/^load .*/load/' log
same "$tests/driver_calls.txt" log

# A tune file beside the source goes with it: the driver's device is called `fake`.
printf 'copy on "fake" from 0: by launch\ncopy on "fake" from 100000: by static\n' >kernels.tune
expect 0 '' --emit=c-driver kernels.tile -arch sm_90a
cc -std=c99 "$tests/driver_calls.c" kernels.c -I . -ldl -pthread -o driver_calls || fail 'linking with a tune file'
LD_LIBRARY_PATH=driver ./driver_calls | grep '^launch copy' >log
[ "$(head -1 log)" = 'launch copy$2 grid 4 1 1 threads 32 dependent 1' ] || fail "with a tune file: $(cat log)"
sed -i 's/launch/ticket/' kernels.tune
expect 0 '' --emit=c-driver kernels.tile -arch sm_90a
cc -std=c99 "$tests/driver_calls.c" kernels.c -I . -ldl -pthread -o driver_calls || fail 'linking with a tune file'
LD_LIBRARY_PATH=driver ./driver_calls | grep '^launch copy' >log
[ "$(head -1 log)" = 'launch copy$2 grid 1 1 1 threads 64 dependent 1' ] || fail "with another tune file: $(cat log)"
rm kernels.tune
rm -rf driver driver_calls kernels.o both.* status status.made

# The same text wherever it is made, and by whatever name of the two files it is asked for.
mkdir elsewhere
expect 0 '' --emit=c kernels.tile -arch sm_90a,sm_100a
(cd elsewhere && "$TILECC" --emit=c ../kernels.tile -arch=sm_90a,sm_100a -o kernels.h) || fail 'from another folder'
cmp kernels.c elsewhere/kernels.c && cmp kernels.h elsewhere/kernels.h || fail 'it depends on the folder'
rm -r elsewhere

# Headers of one name and other kernels in one file of C.
mkdir other
sed 's/f32/s32/g' kernels.tile >other/kernels.tile
(cd other && "$TILECC" --emit=c kernels.tile -arch=sm_90a) || fail 'other kernels'
printf '#include "kernels.h"\n#include "./kernels.h"\n' >both.c
cc -std=c99 -Wall -Wextra -Wpedantic -Werror -I . -I "$root/runtime/include" -c both.c || fail 'a header twice'
printf '#include "kernels.h"\n#include "other/kernels.h"\n' >both.c
cc -std=c99 -I . -I "$root/runtime/include" -c both.c 2>log && fail 'a second header of one name is left out'
grep -q 'another kernels.h was included before, of other kernels' log || fail "a second header of one name: $(cat log)"
rm -r other both.* log

# PTX alone where there is no assembler; a file whose name is no name in C; -MD.
expect 0 '' --emit=c good.tile -o 2-good.files.c
contains 2-good.files.h '_2_good_files_open'
compiles 2-good.files
mkdir none
# shellcheck disable=SC2016
CUDA_HOME=/nonexistent TILECC_NVJITLINK=/nonexistent TILECC_PTXAS=/nonexistent expect 0 'PTX alone' -v --emit=c -MD good.tile -o none/good
contains none/good.d '^none/good\.c: good\.tile'
[ "$(grep -c 'sizeof tileimage' none/good.c)" = 1 ] || fail "an image without an assembler: $(grep 'sizeof tileimage' none/good.c)"
rm -r none 2-good.files.*

# Names that C, its headers, libtile or the text itself take.
cat >names.tile <<'END'
kernel int(shape_: global f32[shape0, 64], extent_add: global f32[shape0 + extents_0, INT64_MIN], extents_0: s64, tile_bind: s64, uintptr_t: s32,
           TILE_OK: u32, tile_status: s64, INT64_MAX: s64, SIZE_MAX: s64, __LINE__: s64, _Bool: s64, names_module: s64, names_int__strided: s64,
           args_: s64, status_: s64, class: s64, snprintf: s64, MAP_RANK: s64, CALL: s64, REQUIRED: s64, EXIT_SUCCESS: s64,
           RAND_MAX: s64) {
    shared t: f32[4, 64];
    fill t = 0;
    move t -> shape_[0, 0];
}
END
expect 0 '' -Wno-performance --emit=c names.tile
compiles names
expect 0 '' -Wno-performance --emit=c-driver names.tile
cc -std=c99 -Wall -Wextra -Wpedantic -Werror -fsyntax-only names.c >log 2>&1 || fail "names in front of the driver: $(head -5 log)"
rm names.*

# Kernels and files may be called what the text is called inside; in front of libtile that is refused where it is so.
for pair in load:module extent:add size:t va:list static:assert; do
    file=${pair%:*}
    printf 'kernel %s(x: global f32[2 * N + 1], y: global f32[N]) { shared t: f32[64]; move x[0] -> t; move t -> y[0]; }\n' "${pair#*:}" >"$file.tile"
    expect 0 '' -Wno-performance --emit=c "$file.tile" -arch sm_90a
    compiles "$file"
    expect 0 '' -Wno-performance --emit=c-driver "$file.tile" -arch sm_90a
    cc -std=c99 -Wall -Wextra -Wpedantic -Werror -fsyntax-only "$file.c" >log 2>&1 || fail "$file in front of the driver: $(head -5 log)"
    rm "$file".*
done
for file in cuda map run counters mem FORM; do
    for kernel in check copy COUNT TMA_LOAD_1D; do
        printf 'kernel %s(x: global f32[N], y: global f32[N]) { shared t: f32[64]; move x[0] -> t; move t -> y[0]; }\n' $kernel >c.tile
        "$TILECC" -Wno-performance --emit=c-driver c.tile -arch sm_90a -o "$file" >out 2>err && {
            cc -std=c99 -Wall -Wextra -Wpedantic -Werror -fsyntax-only "$file.c" >log 2>&1 || fail "$file.c, kernel $kernel, in front of the driver: $(head -5 log)"
            continue
        }
        grep -q "\`${file}_.*\` is a name inside of libtile" err || fail "$file, kernel $kernel: $(cat err)"
        refused="${refused-} ${file}_$kernel"
    done
done
case $refused in *map_check*run_check*FORM_TMA_LOAD_1D*) ;; *) fail "refused are $refused" ;; esac
case $refused in *run_copy*) fail 'run_copy is refused' ;; esac
rm -f c.tile cuda.* map.* run.* counters.* mem.* FORM.*
expect 2 "or of C's" --emit=c-driver good.tile -o pthread

# What can't be.
expect 2 "sm_90a,sm_100a" -S good.tile -arch sm_90a,sm_100a
expect 2 'stands there twice' --emit=c good.tile -arch sm_90a,sm_90a
expect 2 'without a name' --emit=c good.tile -arch sm_90a,
expect 2 'unknown target .sm_9' --emit=c good.tile -arch sm_90a,sm_9
expect 2 'writes two files' --emit=c good.tile -o -
expect 2 'no name' --emit=c good.tile -o ./.c
expect 2 "'/dev/null' is a device" --emit=c good.tile -o /dev/null
expect 2 "a name of libtile's" --emit=c good.tile -o tile
expect 2 "or of C's" --emit=c good.tile -o stdio.h
expect 2 "can't stand in an #include" --emit=c good.tile -o 'a"b'
expect 1 'E0' --emit=c bad.tile
rm -f kernels.c kernels.h calls log
only_files kernels.tile

# Examples and modules of the library that have kernels; not assembled, which tests/assemble does.
export CUDA_HOME=/nonexistent TILECC_NVJITLINK=/nonexistent TILECC_PTXAS=/nonexistent
n=0
i=0
for program in "$root"/examples/*.tile $("$TILECC" --list-library); do # FULL=1: all, else every third
    i=$((i + 1))
    [ "${FULL:-}" = 1 ] || [ $((i % 3)) = 0 ] || continue
    # shellcheck disable=SC2046
    "$TILECC" $(options_of "$program") --emit=c "$program" -o kernels >log 2>&1 || {
        grep -q 'has no kernel' log || fail "$program: $(head -3 log)"
        continue
    }
    compiles kernels
    n=$((n + 1))
done
[ $n -ge 10 ] || fail "only $n programs were compiled"
finish
