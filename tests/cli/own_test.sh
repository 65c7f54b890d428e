# `tilecc test` on the project's own folders: it says of them what golden.sh and reject.sh say. Two compilers have made those that
# run here and there, where there are two (./dev test), and what they say does not depend on it.
. cli/cli.sh
TILECC=$QUICK
for folder in golden reject; do
    "$TILECC" test -j 2 --variants=off --device=sim --junit=own.xml "$root/tests/$folder" >log 2>&1 || fail "tilecc test $folder: $(grep -A 20 FAILED log | head -40)"
    files=$(find "$root/tests/$folder" -name '*.tile' | while read -r f; do [ ! -e "${f%.tile}.ptx" ] && [ ! -e "${f%.tile}.err" ] || echo; done | wc -l)
    grep -q "^$files files, " log || fail "tilecc test $folder: $(tail -1 log), of $files"
    [ "$(grep -c '<testcase' own.xml)" -ge "$files" ] || fail "$folder: own.xml has $(grep -c '<testcase' own.xml) cases"
done
finish
