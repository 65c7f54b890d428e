# What tilecc writes does not depend on the C compiler that has made it: the one that clang has made beside the fuzzers gives the golden IR and PTX, too.
. cli/cli.sh
other=$BUILD/../fuzz/bin/tilecc
[ -x "$other" ] || { echo "SKIPPED: no tilecc in build/fuzz: ./dev test makes one where there is clang with libFuzzer"; exit 77; }
cp -r "$root/tests/golden" .
(cd golden/device && rm team.ir view_in_view.ir in_place.ir) # what the graph of events says of these three takes longer than all the rest
"$other" test -j 2 --variants=off --device=sim golden >log 2>&1 || fail "tilecc by clang: $(grep -A 20 FAILED log | head -40)"
[ "$(sed -n 's/^\([0-9]*\) files, .*/\1/p' log)" -gt 300 ] || fail "tilecc by clang: $(tail -1 log)"
finish
