# reject.sh reject/NAME.tile: the program is refused with exactly the diagnostics in NAME.err, exit code 1, nothing on
# standard output and no output file. With a NAME.json beside it, also as JSON.
. ./common.sh
cd "$(dirname "$1")" || exit 3
file=$(basename "$1")
name=${file%.tile}
options=$(options_of "$file")

refuse() { # expected, options
    expected=$1
    shift
    "$TILECC" "$@" "$file" -o "$work/cubin" >"$work/out" 2>"$work/err"
    status=$?
    if [ $status != 1 ]; then
        cat "$work/err"
        fail "tilecc $* $file: exit code $status, expected 1"
        finish
    fi
    [ ! -s "$work/out" ] || fail "a refused program gave output"
    [ ! -e "$work/cubin" ] || fail "a refused program gave an output file"
    [ -s "$work/err" ] || fail "a refused program without a diagnostic"
    same "$expected" "$work/err"
}

# shellcheck disable=SC2086
refuse "$name.err" $options
if [ -e "$name.json" ]; then
    # shellcheck disable=SC2086
    refuse "$name.json" $options --error-format=json
fi
finish
