# For the tests of the command line: `. cli/cli.sh` from tests/.
. ./common.sh
root=$(cd .. && pwd)
cd "$work" || exit 3

cat >good.tile <<'END'
target sm_90a;

kernel copy(src: global bf16[M, N], dst: global bf16[M, N])
    grid (ceil(N, 256), ceil(M, 64))
{
    shared tile: bf16[64, 256];
    barrier full;
    move src[cta.y * 64, cta.x * 256] -> tile commit full;
    wait full;
    move tile -> dst[cta.y * 64, cta.x * 256] commit group;
    wait group;
}
END
printf 'kernel broken(\n' >bad.tile

# expect STATUS PATTERN ARGUMENT...: exit code, and a pattern (grep -E) that standard error must match; "" for silence.
# What came out is in `out` and `err`.
expect() {
    status=$1
    pattern=$2
    shift 2
    "$TILECC" "$@" >"$work/out" 2>"$work/err"
    got=$?
    [ $got = "$status" ] || fail "tilecc $*: exit code $got, expected $status: $(cat "$work/err")"
    if [ -z "$pattern" ]; then
        [ ! -s "$work/err" ] || fail "tilecc $*: expected silence, got: $(cat "$work/err")"
    else
        grep -qE -e "$pattern" "$work/err" || fail "tilecc $*: expected /$pattern/, got: $(cat "$work/err")"
    fi
}

contains() { # file, pattern
    grep -qE -e "$2" "$1" || fail "$1 should contain /$2/: $(head -c 2000 "$1")"
}

# Only these files are in the working folder, besides those that every test has.
only_files() {
    got=$(cd "$work" && find . -type f ! -name good.tile ! -name bad.tile ! -name out ! -name err | sort | tr '\n' ' ')
    want=$(for f in "$@"; do echo "./$f"; done | sort | tr '\n' ' ')
    [ "$got" = "$want" ] || fail "files: $got, expected: $want"
}
