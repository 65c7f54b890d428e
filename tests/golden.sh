# golden.sh golden/NAME.tile: the program is accepted; its IR, its PTX and what is said on the way (NAME.err, mostly
# absent) are those beside it; for ../examples/NAME.tile they are golden/examples/NAME.*. A first line "// options: .."
# gives options; --variants=auto among them shows the schedules for few iterations, too.
. ./common.sh
examples=$PWD/golden/examples
cd "$(dirname "$1")" || exit 3
file=$(basename "$1")
name=${file%.tile}
case $1 in
../examples/*)
    name=$examples/${1#../examples/}
    name=${name%.tile}
    mkdir -p "${name%/*}"
    ;;
esac
options=$(options_of "$file")

for kind in ir ptx; do
    # shellcheck disable=SC2086
    "$TILECC" --variants=off $options --emit=$kind "$file" >"$work/$kind" 2>"$work/err"
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
