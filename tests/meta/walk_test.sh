# The excerpts of lower/README.md are what `tilecc --emit=KIND` prints for the program that it shows: a block of KIND has lines that follow
# one another there; `..` stands for lines that are left out.
. ./common.sh
text=$ROOT/lower/README.md

awk -v to="$work/" '/^```/ { kind = inside ? "" : substr($0, 4); inside = !inside; next }
    inside { print > (to kind) }' "$text"
cp "$work/tile" "$work/walk.tile" || exit 3
for kind in ast plan tree ir ptx; do
    (cd "$work" && "$TILECC" --emit=$kind walk.tile >"$kind.real" 2>&1) || fail "the program of lower/README.md: $(cat "$work/$kind.real")"
    awk -v real="$work/$kind.real" 'BEGIN { while ((getline line <real) > 0) lines[++n] = line }
        $0 == ".." { free = 1; next }
        {
            for (next_ = at + 1; free && next_ <= n && lines[next_] != $0;) next_++
            if (lines[next_] != $0) { print; exit }
            at = next_
            free = 0
        }
        BEGIN { free = 1 }' "$work/$kind" >"$work/missing"
    [ -s "$work/$kind" ] || fail "lower/README.md shows nothing of --emit=$kind"
    [ ! -s "$work/missing" ] || fail "lower/README.md, --emit=$kind: this line is not there, or not behind the one before: $(cat "$work/missing")"
done
finish
