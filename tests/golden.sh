# golden.sh golden/NAME.tile: the program is accepted; its IR, its PTX and what is said on the way (NAME.err, mostly
# absent) are those beside it. A first line "// options: .." gives options.
. ./common.sh
cd "$(dirname "$1")" || exit 3
file=$(basename "$1")
name=${file%.tile}
options=$(options_of "$file")

for kind in ir ptx; do
    # shellcheck disable=SC2086
    "$TILECC" $options --emit=$kind "$file" >"$work/$kind" 2>"$work/err"
    status=$?
    if [ $status != 0 ]; then
        cat "$work/err"
        fail "tilecc $options --emit=$kind $file: exit code $status, expected 0"
        finish
    fi
    same "$name.$kind" "$work/$kind"
done
same "$name.err" "$work/err"
finish
