# What is made does not depend on where tilecc is called: paths in it are relative to the source's folder, or as --path-map says.
. ./common.sh
dir=$work
mkdir -p "$dir/a/b" "$dir/lib/sub" "$dir/else"
cat >"$dir/lib/sub/half.tile" <<'END'
fn half(x: global f32[M, N], y: global f32[M, N], i: s64) { shared t: f32[16, 64]; move x[i * 16, 0] -> t; move t -> y[i * 16, 0]; }
END
cat >"$dir/a/b/k.tile" <<'END'
import sub.half;
kernel k(x: global f32[M, N], y: global f32[M, N], z: global f32[M, N]) grid (ceil(M, 16)) {
    sub.half.half(x, y, cta.x);
    shared t: f32[16, 64];
    move x[cta.x * 16, 0] -> t;
    move t -> z[cta.x * 16, 0];
}
END
ptx() { # FROM, SOURCE, LIBRARY, more
    from=$1 source=$2 library=$3
    shift 3
    (cd "$from" && "$TILECC" -S -lineinfo -I "$library" "$source" -o - "$@")
}
ptx "$dir/a/b" k.tile ../../lib >"$dir/1.ptx" || fail "no PTX"
ptx "$dir" a/b/k.tile lib >"$dir/2.ptx"
ptx "$dir/else" ../a/../a/b/./k.tile "$dir/lib" >"$dir/3.ptx"
ptx / "$dir/a/b/k.tile" "$dir/lib/" >"$dir/4.ptx"
for i in 2 3 4; do cmp "$dir/1.ptx" "$dir/$i.ptx" || fail "PTX depends on where tilecc is called ($i)"; done
grep -q '^\.file [0-9] "k.tile"' "$dir/1.ptx" || fail "the source is not relative to its folder"
grep -q '^\.file [0-9] "../../lib/sub/half.tile"' "$dir/1.ptx" || fail "the import is not relative to the source's folder"
head -1 "$dir/1.ptx" | grep -q 'from k.tile$' || fail "the first line has another path"
if grep -q "$dir" "$dir/1.ptx"; then fail "a path of this machine is in the PTX"; fi

ptx "$dir" a/b/k.tile lib --path-map=lib=/usr/share/lib --path-map a=/src >"$dir/5.ptx"
grep -q '^\.file [0-9] "/src/b/k.tile"' "$dir/5.ptx" || fail "--path-map of the source"
grep -q '^\.file [0-9] "/usr/share/lib/sub/half.tile"' "$dir/5.ptx" || fail "--path-map of the import"
ptx "$dir" a/b/k.tile lib --path-map=a=/x --path-map=a/b=/y/ --path-map=a/bc=/z >"$dir/6.ptx"
grep -q '^\.file [0-9] "/y//*k.tile"' "$dir/6.ptx" || fail "of several maps the last"
ptx "$dir" a/b/k.tile lib --path-map=a/b= >"$dir/7.ptx"
grep -q '^\.file [0-9] "k.tile"' "$dir/7.ptx" || fail "a map to nothing is relative to that folder"
ptx "$dir" a/b/k.tile lib --path-map=a=/x/ >"$dir/9.ptx"
grep -q '^\.file [0-9] "/x/b/k.tile"' "$dir/9.ptx" || fail "--path-map to a folder with a slash: $(grep '^\.file' "$dir/9.ptx")"
ptx / "$dir/a/b/k.tile" "$dir/lib" --path-map=/=z >"$dir/10.ptx"
grep -q "^\\.file [0-9] \"z$dir/a/b/k.tile\"" "$dir/10.ptx" || fail "--path-map of the root: $(grep '^\.file' "$dir/10.ptx")"
ptx "$dir" a/b/k.tile lib --path-map=a >"$dir/8.ptx" 2>"$dir/8.err" && fail "--path-map without = is taken"
grep -q 'OLD=NEW' "$dir/8.err" || fail "--path-map without = is not explained"

# A message shows the path as it was given.
echo 'kernel k() { move }' >"$dir/a/bad.tile"
(cd "$dir" && "$TILECC" -S a/bad.tile -o - 2>&1 | grep -q -- '--> a/bad.tile:1:') || fail "a message has another path"
finish
