# fixes_test.sh: every fix that a program of reject/ is advised to is tried. A fix that is an edit (fixes.awk) is made; what a
# person would have to write stands in NAME.fixed beside NAME.tile, with all fixes of NAME made (and options of its own, if any).
# Either way none of the errors that had a fix is left: the program is accepted, or has other errors. Fixes of one code that differ
# in names and numbers alone count as one.
. ./common.sh
TILECC=$QUICK
cd "$(dirname "$0")" || exit 3
tab=$(printf '\t')
: >"$work/tried"
: >"$work/all"

# left FILE: "code text" of its errors
left() { awk '/"class":"error"/' "$1" | sed 's/^{"code":"\([^"]*\)","class":"error","text":"\(\([^"\\]\|\\.\)*\)".*/\1 \2/'; }

compile() { # program, folder, options
    program=$1
    folder=$2
    shift 2
    (cd "$folder" && "$TILECC" "$@" -I . --error-format=json -S "$program" -o "$work/out" 2>"$work/new")
}

for file in $(find reject -name '*.tile' ! -path '*/lib/*' | LC_ALL=C sort); do
    folder=$(dirname "$file")
    options=$(options_of "$file" | sed 's/--emit=[a-z-]*//')
    rm -f "$work"/edit.*
    # shellcheck disable=SC2086
    (cd "$folder" && "$TILECC" $options --error-format=json -S "$(basename "$file")" -o "$work/out" 2>"$work/json")
    awk -f fixes.awk -v out="$work/edit" -v path="$(basename "$file")" "$file" "$work/json" >"$work/fixes"
    [ -s "$work/fixes" ] || continue
    cut -f2,5 "$work/fixes" >>"$work/all"
    if [ -e "${file%.tile}.fixed" ]; then
        cp "${file%.tile}.fixed" "$work/fixed.tile"
        [ -z "$(options_of "$work/fixed.tile")" ] || options=$(options_of "$work/fixed.tile")
        # shellcheck disable=SC2086
        compile "$work/fixed.tile" "$folder" $options
        left "$work/new" >"$work/left"
        while IFS=$tab read -r _ code _ _ key text; do
            printf '%s\t%s\n' "$code" "$key" >>"$work/tried"
            if grep -qxF "$code $text" "$work/left"; then fail "${file%.tile}.fixed has the error that its fixes mend: $code $text"; fi
        done <"$work/fixes"
        continue
    fi
    while IFS=$tab read -r n code _ literal key text; do
        case $literal in
        literal)
            cp "$work/edit.$n" "$work/fixed.tile"
            arch=
            ;;
        sm_*)
            sed 's/^target [^;]*;//' "$file" >"$work/fixed.tile"
            arch=-arch=$literal
            ;;
        *) continue ;;
        esac
        # shellcheck disable=SC2086
        compile "$work/fixed.tile" "$folder" $options $arch
        printf '%s\t%s\n' "$code" "$key" >>"$work/tried"
        before=$(left "$work/json" | grep -cxF "$code $text")
        after=$(left "$work/new" | grep -cxF "$code $text")
        if [ "$after" -ge "$before" ] || { grep -q '"code":"E01' "$work/new" && ! grep -q '"code":"E01' "$work/json"; }; then
            sed -n 's/.*"code":"\([^"]*\)".*"text":"\(.*\)","rule.*"line":\([0-9]*\).*/    \3: \1 \2/p' "$work/new"
            fail "$file: $code $text: the fix does not mend it: $key"
        fi
    done <"$work/fixes"
done

LC_ALL=C sort -u "$work/tried" -o "$work/tried"
LC_ALL=C sort -u "$work/all" | LC_ALL=C comm -23 - "$work/tried" >"$work/untried"
while IFS=$tab read -r code key; do
    fail "nobody has tried this fix (a NAME.fixed beside a program of reject/ that has it): $code $key"
done <"$work/untried"
echo "$(wc -l <"$work/tried") fixes tried"
finish
