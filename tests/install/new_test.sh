# tilecc new, from a clean prefix: what it makes is tested, built and run by CMake, by make and by Python as it stands; what it refuses.
. ./common.sh
root=$(cd .. && pwd)
prefix=$work/prefix
env -u DESTDIR cmake --install "$PLAIN" --prefix "$prefix" >"$work/log" 2>&1 || {
    fail "cmake --install: $(tail -3 "$work/log")"
    finish
}
export TILECC_NVJITLINK=/nonexistent TILECC_PTXAS=/nonexistent CUDA_HOME=/nonexistent # PTX will do
PATH=$prefix/bin:$PATH
cd "$work" || exit 3
runs() { "$@" >log 2>&1 || fail "$*: $(tail -8 log)"; }

runs tilecc new ring
[ "$(cd ring && echo *)" = 'CMakeLists.txt Makefile README.md ring.tile use_ring.c use_ring.py' ] || fail "files: $(ls ring)"
! grep -rq '@' ring --include='*.c' --include='*.py' --include=CMakeLists.txt || fail "a name is not filled in: $(grep -r @ ring)"
cp -r ring kept
runs tilecc test ring
grep -q '1 passed\|1 of 1\|passed' log || fail "its test does not run: $(cat log)"
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name tile.pc)")
export PKG_CONFIG_PATH
if command -v make >/dev/null && command -v pkg-config >/dev/null; then
    runs make -C ring CFLAGS="-std=c99 -Wall -Wextra -Wpedantic -Werror" test
    grep -q 'the same on' log || fail "make test: $(cat log)"
    : >ring/ring.tune # one that was not there
    runs make -C ring
    grep -q 'tilecc --emit=c' log || fail "make: a tune file is not noticed: $(cat log)"
    rm ring/ring.tune
    runs make -C ring clean
    diff -r ring kept || fail 'make clean leaves something'
fi
command -v make >/dev/null || export CMAKE_GENERATOR=Ninja
runs cmake -S ring -B b -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_FLAGS="-Wall -Wextra -Wpedantic -Werror"
runs cmake --build b
runs ctest --test-dir b
grep -q '0 tests failed out of 2' log || fail "ctest: $(cat log)"
if python3 -c 'import numpy' 2>/dev/null; then
    libraries=$(dirname "$(find "$prefix" -name libtile.so)")
    runs env PYTHONPATH="$root/runtime/python" TILECC_LIBRARY_PATH="$libraries" PYTHONDONTWRITEBYTECODE=1 python3 ring/use_ring.py
fi

refused() { # status, pattern, arguments
    want=$1
    pattern=$2
    shift 2
    before=$(find . | sort)
    tilecc new "$@" >log 2>&1
    got=$?
    [ $got = "$want" ] && grep -qE "$pattern" log || fail "tilecc new $*: $got, $(cat log)"
    [ "$before" = "$(find . | sort)" ] || fail "tilecc new $* left something"
}
refused 3 "'ring' is there already" ring
refused 3 "'ring/' is there|'ring' is there" ring/
ln -s nowhere link
refused 3 'is there already' link
refused 2 'is no name' 2rings
refused 2 'is no name' two-rings
refused 2 'is no name' ''
refused 2 'is no name' ..
refused 2 'is no name' "$(printf '%065d' 0 | tr 0 a)"
refused 2 'libtile' tile
refused 2 "name of libtile's or of C's" errno
refused 2 'CMake or make' test
refused 2 'is missing'
refused 2 'one folder' a b
refused 2 'does not go with' -S a
refused 3 "can't make 'none/ring': No such file" none/ring
runs tilecc new ./ring/deep
[ -s ring/deep/deep.tile ] || fail 'a folder in a folder'
finish
