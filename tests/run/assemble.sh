# assemble.sh BATCH BATCHES: every BATCHES-th program that run.sh runs with options of their own, and the
# programs that it writes, go through ptxas (FULL=1: all conversions, else a half). What they run as it stands is in golden/ and examples/: ../assemble.sh.
# shellcheck source=/dev/null
. ./common.sh
TILECC=$QUICK
good_ptxas
cd .. || exit 3
# shellcheck source=/dev/null
. tests/run/conversions.sh

assembled=0
number=0
assemble() { # FILE, options
    number=$((number + 1))
    [ $((number % batches + 1)) = "$batch" ] || return 0
    # shellcheck disable=SC2046
    "$TILECC" -S "$@" $(options_of "$1") -o "$work/ptx" 2>"$work/err" || {
        cat "$work/err"
        fail "$*: tilecc refuses it"
        return
    }
    target=$(sed -n 's/^\.target  *\([a-z0-9_]*\).*/\1/p' "$work/ptx")
    "$ptxas" -arch="$target" "$work/ptx" -o "$work/cubin" >"$work/err" 2>&1 || {
        cat "$work/err"
        fail "$*: ptxas refuses the PTX"
    }
    assembled=$((assembled + 1))
}

batch=$1 batches=$2
LIST=1 sh tests/run/run.sh sim:check 2>"$work/err" | grep -e ' -' | sed 's/:[a-z_0-9]*//' | sort -u >"$work/list"
[ -s "$work/list" ] || fail "there are no programs with options: $(cat "$work/err")"
while read -r file options; do
    # shellcheck disable=SC2086
    assemble "$file" $options
done <"$work/list"
way=0
for from in $types; do # FULL=1: all; else plain of one type, saturated of the next
    for sat in '' sat; do
        way=$((way + 1))
        case ${FULL:-}$((way % 4)) in 2 | 3) continue ;; esac
        conversions "$from" $sat >"$work/convert_${from}_$sat.tile"
        assemble "$work/convert_${from}_$sat.tile"
    done
done
printf '%s cubins by %s\n' $assembled "$ptxas"
finish
