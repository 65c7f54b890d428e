# find_package(tilecc): tile_add_kernels() and tile_add_test() by Ninja and by make, in C and in C++; what is built again when; what is refused.
# pkg-config.
. ./common.sh
root=$(cd .. && pwd)
prefix=$work/prefix
env -u DESTDIR cmake --install "$PLAIN" --prefix "$prefix" >"$work/log" 2>&1 || {
    fail "cmake --install: $(tail -3 "$work/log")"
    finish
}
export TILECC_NVJITLINK=/nonexistent TILECC_PTXAS=/nonexistent CUDA_HOME=/nonexistent # PTX will do
cp -r "$root/tests/install/kernels" "$work/project"

configure() { # folder, options ..
    folder=$1
    shift
    cmake -S "$work/project" -B "$work/$folder" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_FLAGS="-Wall -Wextra -Wpedantic -Werror" \
        -DCMAKE_CXX_FLAGS="-Wall -Wextra -Wpedantic -Werror" "$@" >"$work/log" 2>&1
}
build() { cmake --build "$work/$1" >"$work/log" 2>&1 || fail "building $1: $(tail -5 "$work/log")"; }
compiled() { grep -c 'tilecc two words.tile' "$work/log"; }

tries() { # folder, generator, language
    configure "$1" -G "$2" -DLANGUAGE="$3" || {
        fail "$2, $3: $(tail -5 "$work/log")"
        return
    }
    build "$1"
    [ "$(compiled)" = 1 ] || fail "$2: $(cat "$work/log")"
    (cd "$work/$1" && ctest >"$work/log" 2>&1) || fail "$2, $3: $(tail -20 "$work/log")"
    grep -q 'Passed' "$work/log" && grep -q '100% tests passed, 0 tests failed out of 2' "$work/log" || fail "$2: $(cat "$work/log")"
    build "$1"
    if grep 'tilecc' "$work/log"; then fail "$2: what is up to date is compiled again"; fi
    touch "$work/project/lib/mine.tile"
    build "$1"
    [ "$(compiled)" = 1 ] || fail "$2: a newer import is not noticed"
    touch "$(find "$prefix" -name 'libtilecc.*[0-9a]' -type f)"
    build "$1"
    [ "$(compiled)" = 1 ] || fail "$2: a newer compiler is not noticed"
    : >"$work/project/two words.tune"
    build "$1"
    [ "$(compiled)" = 1 ] || fail "$2: a tune file that was not there is not noticed"
    rm "$work/project/two words.tune"
    build "$1"
    [ "$(compiled)" = 1 ] || fail "$2: a tune file that is gone is not noticed"
}
if command -v ninja >/dev/null; then tries ninja Ninja C; fi
if command -v make >/dev/null; then
    if command -v c++ >/dev/null; then tries make 'Unix Makefiles' CXX; else tries make 'Unix Makefiles' C; fi
fi

mkdir "$work/project/below"
echo 'tile_add_kernels(TARGET app SOURCES ../tests/one.tile)' >"$work/project/below/CMakeLists.txt"
refused() { # pattern, call
    printf 'cmake_minimum_required(VERSION 3.20)\nproject(p LANGUAGES NONE)\nfind_package(tilecc REQUIRED)\nadd_library(app INTERFACE)\n%s\n' "$2" >"$work/project/CMakeLists.txt"
    rm -rf "$work/refused"
    if configure refused -G Ninja; then fail "$2 is accepted"; fi
    tr -s '\n ' ' ' <"$work/log" | grep -q "$1" || fail "$2: $(cat "$work/log")"
}
if command -v ninja >/dev/null; then
    refused 'there is no target .lib.' 'tile_add_kernels(TARGET lib SOURCES tests/one.tile)'
    refused 'SOURCES is missing' 'tile_add_kernels(TARGET app ARCH sm_90a)'
    refused 'there is no file .*/gone.tile' 'tile_add_kernels(TARGET app SOURCES gone.tile)'
    refused 'FROM;x. is no argument' 'tile_add_kernels(TARGET app FROM x SOURCES tests/one.tile)'
    refused 'two files whose functions begin with one_: add one of them with PREFIX' 'tile_add_kernels(TARGET app SOURCES tests/one.tile lib/../tests/one.tile)'
    refused 'target .app. compiles nothing' 'tile_add_kernels(TARGET app SOURCES tests/one.tile)'
    refused 'target .tilecc::tile. compiles nothing' 'add_library(a ALIAS tilecc::tile)
tile_add_kernels(TARGET a SOURCES tests/one.tile)'
    refused 'target .app. is of .*project., and gets its kernels there' 'add_subdirectory(below)'
    refused 'Property TILE_KERNELS_one on target .n. does not match' 'enable_language(C)
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/a.c "int a;")
add_library(n ${CMAKE_CURRENT_BINARY_DIR}/a.c)
add_library(b ${CMAKE_CURRENT_BINARY_DIR}/a.c)
tile_add_kernels(TARGET n SOURCES tests/one.tile)
tile_add_kernels(TARGET b SOURCES tests/one.tile DEFINES N=1)
target_link_libraries(n PRIVATE b)'
    refused 'NAME is missing' 'tile_add_test(FOLDER tests)'
    refused 'there is no .*/gone' 'tile_add_test(NAME t FOLDER gone)'
fi

# Archives ask who links them for no target that he hasn't found.
if cmake -S "$root" -B "$work/archives" -G Ninja -DBUILD_SHARED_LIBS=OFF -DTILECC_TESTS=OFF >"$work/log" 2>&1; then
    export=$(find "$work/archives/CMakeFiles/Export" -name tilecc-targets.cmake)
    grep -q 'add_library(tilecc::tile STATIC' "$export" || fail "no archives are exported: $export"
    links=$(grep LINK_LIBRARIES "$export" | grep -o '[A-Za-z_]*::[A-Za-z_]*' | grep -v '^tilecc::')
    [ -z "$links" ] || fail "archives need $links"
else
    fail "archives: $(tail -3 "$work/log")"
fi

# In a project around: the same names, and none of its choices are made for it. Nothing is built.
if command -v ninja >/dev/null; then
    mkdir "$work/around"
    cp "$root/tests/install/kernels/tests/one.tile" "$work/around"
    printf 'cmake_minimum_required(VERSION 3.25)\nproject(around LANGUAGES C)\nadd_subdirectory("%s" tilecc EXCLUDE_FROM_ALL)
enable_testing()\nfile(WRITE ${CMAKE_CURRENT_BINARY_DIR}/a.c "int a;")\nadd_library(app ${CMAKE_CURRENT_BINARY_DIR}/a.c)
target_link_libraries(app PRIVATE tilecc::tilecc tilecc::tile_source)\ntile_add_kernels(TARGET app SOURCES one.tile)\ntile_add_test(NAME one FILES one.tile)
' "$root" >"$work/around/CMakeLists.txt"
    cmake -S "$work/around" -B "$work/around/b" -G Ninja >"$work/log" 2>&1 && ninja -C "$work/around/b" -t commands app >"$work/log" 2>&1 ||
        fail "in a project around: $(tail -5 "$work/log")"
    grep -q 'tilecc --emit=c .*one.tile' "$work/log" || fail "in a project around nothing is compiled"
    [ ! -e "$work/around/b/CPackConfig.cmake" ] && [ "$(ninja -C "$work/around/b" -t targets all | grep -c '^libapp.a:')" = 1 ] ||
        fail 'the project around has options of this one'
fi

# The same by pkg-config, from a prefix that was moved.
if command -v pkg-config >/dev/null; then
    mv "$prefix" "$work/moved"
    pc=$(dirname "$(find "$work/moved" -name tile.pc)")
    lib=$(dirname "$pc")
    "$work/moved/bin/tilecc" --emit=c -I "$root/tests/install/kernels/lib" "$root/tests/install/kernels/two words.tile" -o "$work/two words.c" &&
        "$work/moved/bin/tilecc" --emit=c std.rows -o "$work/rows" || fail 'tilecc of a moved prefix'
    # shellcheck disable=SC2046,SC2086
    cc -std=c99 -I "$work" "$root/tests/install/kernels/app.c" "$work/two words.c" "$work/rows.c" \
        $(PKG_CONFIG_PATH=$pc pkg-config --cflags --libs tile) -Wl,-rpath,"$lib" -o "$work/app" && "$work/app" || fail 'pkg-config tile'
    printf '#include <tile_source.h>\n#include <tilecc.h>\nint main(void) { tile_use_compiler(NULL); return !tilecc_version(); }\n' >"$work/both.c"
    # shellcheck disable=SC2046,SC2086
    cc -std=c99 "$work/both.c" $(PKG_CONFIG_PATH=$pc pkg-config --cflags --libs tile_source) -Wl,-rpath,"$lib" -o "$work/both" && "$work/both" ||
        fail 'pkg-config tile_source'
    [ "$(PKG_CONFIG_PATH=$pc pkg-config --modversion tilecc)" = "$("$work/moved/bin/tilecc" --version | cut -d' ' -f2)" ] || fail 'the version of tilecc.pc'
fi
finish
