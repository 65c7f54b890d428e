# Modules of the library that is built in are programs, too: by their names, where no file has them.
. cli/cli.sh
expect 0 '' --list-library
cp out modules
contains modules '^std\.copy$'
for module in $(cat modules); do
    file=$root/stdlib/$(echo "$module" | tr . /).tile
    [ -e "$file" ] || fail "there is no $file"
    grep -q '^kernel' "$file" || continue
    expect 0 '' -S "$module" -o "$work/made.ptx"
    expect 0 '' -S "$file" -o "$work/same.ptx"
    cmp -s made.ptx same.ptx || fail "$module is not $file"
done
rm -f made.ptx same.ptx

expect 0 '' -S std.transpose
only_files modules transpose.ptx
contains transpose.ptx 'entry transpose2'
rm transpose.ptx
expect 0 '' run --device=sim std.transpose:transpose2 -D transpose2.T=f32 'src=f32[8,12]~iota' 'dst=f32[12,8]:t.npy'
[ "$(od -A n -t f4 -j 128 -N 8 t.npy | tr -s ' ')" = ' 0 12' ] || fail "std.transpose: $(od -A n -t f4 -j 128 t.npy)"
rm t.npy
expect 2 'std.transpose.*kernels; say which one with std.transpose:NAME' run --device=sim std.transpose src=f32[8,12]
expect 3 "the library has no module 'std.something': .tilecc --list-library" -S std.something
expect 3 "'std.rows:gather': one kernel of it is .std.rows --kernel=gather" -S std.rows:gather
expect 3 "can't read 'std.nope.tile'" -S std.nope.tile
expect 2 "the library has no module 'std.transposed'; did you mean 'std.transpose'\?" run --device=sim std.transposed src=f32[8,12]
expect 3 "the library has no module 'std.transposed'; did you mean 'std.transpose'\?" -S std.transposed
expect 1 'E0216' -S std.tiles

cp good.tile std.transpose # a file comes first
expect 0 '' -S std.transpose -o made.ptx
contains made.ptx 'entry copy'
finish
