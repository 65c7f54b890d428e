# The tree of every program of tests/golden and examples/ whose schedule is derived is read back and accepted. Needs TILECC, TREES.
. ./common.sh
TILECC=$QUICK
cd .. || exit 3
n=0
for file in tests/golden/*/*.tile examples/*.tile; do
    options=$(options_of "$file")
    # shellcheck disable=SC2086
    (cd "${file%/*}" && "$TILECC" --emit=tree $options "${file##*/}") >"$work/$n.ir" 2>"$work/err" || fail "$file: $(cat "$work/err")"
    grep -q '^  tree {' "$work/$n.ir" || continue
    "$TREES" "$work/$n.ir" >"$work/said" || fail "$file: $(cat "$work/said")"
    n=$((n + 1))
done
[ $n -gt 100 ] || fail "only $n trees"
finish
