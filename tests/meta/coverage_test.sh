# The cells of lang/coverage.def are true: the golden test has the form in its .ptx, the programs that run on the
# simulator and on GPUs have it in theirs. COVERAGE: the program that knows forms.
. ./common.sh
TILECC=$QUICK
coverage=${COVERAGE:-$BUILD/bin/coverage}
root=$PWD/..

find golden -name '*.ptx' ! -path '*/lib/*' | sed 's|^golden/\(.*\)\.ptx$|&\n\1|' | xargs -n 64 "$coverage" forms >"$work/golden"

# Programs that are run: compiled as the runs compile them.
mkdir "$work/ptx"
programs() { # device: those of run/run.sh
    (cd "$root" && LIST=1 REFERENCE=true sh tests/run/run.sh "$1" 2>/dev/null) | sed 's|\.tile:[^ ]*|.tile|' |
        grep '\.tile' | sort -u
}
cd "$root" || exit 3
for device in sim cuda; do
    programs $device >"$work/list.$device"
    [ -s "$work/list.$device" ] || fail "run/run.sh lists no program for $device"
    while read -r program options; do
        key=$(echo "$program $options" | tr -c 'A-Za-z0-9\n' _)
        name=${program%.tile}
        name=${name#tests/}
        name=${name#golden/}
        if [ ! -e "$work/ptx/$key" ]; then
            # shellcheck disable=SC2046,SC2086
            "$TILECC" -S -o "$work/k.ptx" $(options_of "$program") $options "$program" >"$work/said" 2>&1 ||
                fail "$program $options: $(head -1 "$work/said")"
            "$coverage" forms "$work/k.ptx" "$name" >"$work/ptx/$key"
        fi
        cat "$work/ptx/$key"
    done <"$work/list.$device" >"$work/$device"
done

# PTX that is run by ptx_run: all of it on the simulator, what is for sm_90 on GPUs, too.
cd tests || exit 3
forms() { sed 's|^\(.*\)\.ptx$|&\n\1|' | xargs -n 64 "$coverage" forms; }
ls sim/programs/*.ptx sim/cuda/*.ptx | forms >"$work/forms"
cat "$work/forms" >>"$work/golden"
cat "$work/forms" >>"$work/sim"
grep -l '^\.target sm_90' sim/programs/*.ptx sim/cuda/*.ptx | forms >>"$work/cuda"
"$coverage" check "$work/golden" "$work/sim" "$work/cuda" || fail "lang/coverage.def"
if [ -n "${KEEP:-}" ]; then cp "$work/golden" "$work/sim" "$work/cuda" "$KEEP"; fi
finish
