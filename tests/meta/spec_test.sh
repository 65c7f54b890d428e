# The tables in SPEC.md are those that the compiler works by. UPDATE=1 writes them anew.
. ./common.sh
"$BUILD/bin/gen_tables" "$ROOT/lang/SPEC.md" >"$work/SPEC.md" || fail "gen_tables"
same "$ROOT/lang/SPEC.md" "$work/SPEC.md"
finish
