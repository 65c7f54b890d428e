# The tables in TABLES.md are those that the compiler works by. UPDATE=1 writes them anew.
. ./common.sh
"$BUILD/bin/gen_tables" >"$work/tables" || fail "gen_tables"
same "$ROOT/lang/TABLES.md" "$work/tables"

# SPEC.md can be read beside a program, and has each section that a message names.
long=$(awk 'length > 140 { print FNR ": " length " characters" }' "$ROOT/lang/SPEC.md")
[ -z "$long" ] || fail "lines of SPEC.md have at most 140 characters: $long"
sed -nE 's/^#+ (.*)$/\1/p; s/^\*\*(Meaning [0-9]+)\.\*\*.*/\1/p' "$ROOT/lang/SPEC.md" >"$work/sections"
grep -oE '"SPEC\.md, [^"]*"' "$ROOT/lang/errors.def" | sed 's/^"SPEC\.md, //; s/"$//' | sort -u >"$work/named"
absent=$(grep -vxFf "$work/sections" "$work/named")
[ -s "$work/named" ] && [ -z "$absent" ] || fail "errors.def names sections that SPEC.md has not: $absent"

# The whole kernels that SPEC.md shows compile as they stand.
awk -v to="$work/shown" '/^```/ { inside = !inside; whole = 0; next }
    inside && /^kernel / { whole = 1; n++ }
    inside && whole { print > (to n ".tile") }' "$ROOT/lang/SPEC.md"
for shown in "$work"/shown*.tile; do
    "$TILECC" --emit=ptx "$shown" >"$work/ptx" 2>"$work/said" || fail "a kernel of SPEC.md does not compile: $(cat "$shown" "$work/said")"
done
[ "$(find "$work" -name 'shown*.tile' | wc -l)" -ge 2 ] || fail "SPEC.md shows no whole kernels"

# What is refused for now: each row has a test that shows its message, and there is no such message without a row.
sed -n 's/^NOTYET([A-Z_]*, \(E[0-9]*\), "\([^"]*\)", "\([a-z]*\)".*/\1 \2 \3/p' "$ROOT/lang/notyet.def" >"$work/rows"
[ "$(grep -c '^NOTYET' "$ROOT/lang/notyet.def")" = "$(wc -l <"$work/rows")" ] || fail "a row of notyet.def is not read here"
cat "$ROOT"/tests/reject/*/*.err >"$work/messages"
while read -r code words; do
    message=": "
    [ "$code" != E1001 ] || message=": $words not supported yet"
    grep -qF "error $code$message" "$work/messages" || fail "no test of tests/reject shows $code: $words"
done <"$work/rows"
stray=$(grep -rnE 'E1001|(supported|implemented) yet' "$ROOT"/frontend "$ROOT"/lower "$ROOT"/ptxgen --include='*.c' --include='*.h' |
    grep -v '"%s %s not supported yet"')
[ -z "$stray" ] || fail "refused without a row of notyet.def: $stray"
finish
