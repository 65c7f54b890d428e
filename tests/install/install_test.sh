# The installed tree: headers that compile alone, as C and as C++; programs against the libraries by find_package, one
# of them with the runtime and without the compiler.
. ./common.sh
root=$(cd .. && pwd)
prefix=$work/prefix

env -u DESTDIR cmake --install "$PLAIN" --prefix "$prefix" >"$work/log" 2>&1 || {
    cat "$work/log"
    fail "cmake --install"
    finish
}
for file in bin/tilecc include/tilecc.h include/tile.h share/man/man1/tilecc.1 share/bash-completion/completions/tilecc \
    share/zsh/site-functions/_tilecc share/fish/vendor_completions.d/tilecc.fish share/doc/tilecc/GUIDE.md share/doc/tilecc/SPEC.md share/doc/tilecc/TABLES.md share/doc/tilecc/stdlib/README.md \
    share/doc/tilecc/examples/copy.tile share/doc/tilecc/examples/embed/load.c; do
    [ -s "$prefix/$file" ] || fail "$file is not installed"
done

flags='-Wall -Wextra -Wpedantic -Wstrict-prototypes -Wconversion -Werror'
for header in "$prefix"/include/*.h; do
    name=$(basename "$header")
    printf '#include <%s>\n#include <%s>\nint used;\n' "$name" "$name" >"$work/one.c"
    for standard in c99 c11 c17; do
        # shellcheck disable=SC2086
        cc -std=$standard $flags -I "$prefix/include" -c "$work/one.c" -o "$work/one.o" || fail "$name as $standard"
    done
    for cxx in c++ g++ clang++; do
        command -v $cxx >/dev/null 2>&1 || continue
        for standard in c++11 c++17; do
            $cxx -x c++ -std=$standard -Wall -Wextra -Wpedantic -Werror -I "$prefix/include" -c "$work/one.c" -o "$work/one.o" ||
                fail "$name as $standard by $cxx"
        done
        break
    done
done
command -v c++ >/dev/null 2>&1 || command -v g++ >/dev/null 2>&1 || command -v clang++ >/dev/null 2>&1 ||
    echo "there is no C++ compiler: the headers were compiled as C only"

cmake -S "$root/tests/install" -B "$work/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_C_FLAGS="$flags" >"$work/log" 2>&1 && cmake --build "$work/build" >>"$work/log" 2>&1 || {
    cat "$work/log"
    fail "a project that uses find_package(tilecc)"
    finish
}
for program in "$work"/build/use_*; do
    "$program" || fail "$(basename "$program") exits $?"
done

# The example of an application.
cmake -S "$root/examples/embed" -B "$work/embed" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_C_FLAGS="$flags" >"$work/log" 2>&1 && cmake --build "$work/embed" >>"$work/log" 2>&1 || {
    cat "$work/log"
    fail "examples/embed"
    finish
}
"$work/embed/embed" "$root/examples/embed/copy.tile"
status=$?
[ $status = 0 ] || [ $status = 3 ] || fail "examples/embed exits $status" # 3: no GPU
"$prefix/bin/tilecc" -S "$root/examples/embed/copy.tile" -o "$work/copy.ptx" &&
    "$work/embed/load" "$work/copy.ptx" sim >"$work/log" 2>&1 && grep -q 'load: the same on' "$work/log" ||
    fail "examples/embed/load: $(cat "$work/log")"
# The simulator is loaded when it is wanted: without it there is an error, and what needs none goes on.
simulator=$(find "$prefix" -name 'libtile_sim.so*')
mv "$simulator" "$work/away"
if "$work/embed/load" "$work/copy.ptx" sim >"$work/log" 2>&1; then fail 'a simulator without its library'; fi
grep -q "the simulator, which belongs beside libtile, can't be loaded: $(basename "$simulator")" "$work/log" || fail "without libtile_sim: $(cat "$work/log")"
"$prefix/bin/tilecc" -S "$root/examples/embed/copy.tile" -o "$work/again.ptx" && cmp "$work/again.ptx" "$work/copy.ptx" || fail 'tilecc -S without libtile_sim'
if "$prefix/bin/tilecc" check-ptx "$work/copy.ptx" >"$work/log" 2>&1; then fail 'check-ptx without libtile_sim'; fi
mv "$work/away" "$simulator"
"$prefix/bin/tilecc" check-ptx "$work/copy.ptx" >"$work/log" 2>&1 || fail "check-ptx: $(cat "$work/log")"
"$prefix/bin/tilecc" --version || fail "the installed tilecc does not start"

if grep -q '^CMAKE_BUILD_TYPE:STRING=Release$' "$PLAIN/CMakeCache.txt"; then # libtile is small
    strip -o "$work/small" "$(find "$prefix" -name libtile.so)" && [ "$(wc -c <"$work/small")" -lt 160000 ] || fail "libtile has $(wc -c <"$work/small") bytes"
fi

# Only names with the libraries' prefixes leave them. Their files and their names are of this major and minor version.
interface=$("$prefix/bin/tilecc" --version | sed 's/^tilecc \([0-9]*\.[0-9]*\)\..*/\1/')
for library in "$prefix"/lib*/*.so "$prefix"/lib/*/*.so; do
    [ -e "$library" ] || continue
    names=$(nm -D --defined-only "$library" | awk '{ print $3 }' | grep -vE '^(tile_|tilecc_|TILE_'"$interface"'$|TILE_SOURCE_'"$interface"'$|TILECC_'"$interface"'$|TILE_SIM_'"$interface"'|sim_device_open$|__|_init$|_fini$)')
    [ -z "$names" ] || fail "$(basename "$library") exports $names"
    [ -e "$library.$interface" ] || fail "there is no $library.$interface"
done
finish
