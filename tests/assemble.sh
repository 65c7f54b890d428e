# assemble.sh BATCH BATCHES: every BATCHES-th program of golden/ and examples/ goes through ptxas, for each target that
# its `target` list claims and this ptxas knows. Without a list a program claims every target whose tables have its forms:
# there a target may be refused, with diagnostics, and each program takes the first that is not, beginning with another one than the program
# before it. FULL=1: all of them.
. ./common.sh
TILECC=$QUICK
good_ptxas

assemble() { # file, options
    file=$1
    shift
    # "-arch=" of the options line is one target of many here.
    options=
    for option in "$@"; do
        case $option in
        -arch=* | --arch=*) ;;
        *) options="$options $option" ;;
        esac
    done
    listed=$(sed -n 's/^target  *\(.*\);.*/\1/p' "$file" | tr ',' ' ')
    made=0
    most=1
    [ "${FULL:-}" != 1 ] && [ -z "$listed" ] || most=99
    # shellcheck disable=SC2086
    for_targets ${listed:-$(from_the $number $all_targets)}
    [ $made -gt 0 ] || {
        cat "$work/err"
        fail "$file: no target accepts it"
    }
}

from_the() { # N, words: them all, from the N-th on and round
    n=$(($1 % ($# - 1)))
    shift
    while [ $n -gt 0 ]; do
        first=$1
        shift
        set -- "$@" "$first"
        n=$((n - 1))
    done
    echo "$@"
}

for_targets() { # with what assemble() has set
    for target in "$@"; do
        [ $made -lt $most ] || break
        case $known in *"'$target'"*) ;; *) continue ;; esac
        # shellcheck disable=SC2086
        (cd "$(dirname "$file")" && exec "$TILECC" $options -arch="$target" --emit=ptx "$(basename "$file")" -o "$work/ptx") 2>"$work/err"
        status=$?
        [ $status = 1 ] && [ -z "$listed" ] && continue
        if [ $status != 0 ]; then
            cat "$work/err"
            fail "$file for $target: tilecc exits $status"
            continue
        fi
        made=$((made + 1))
        key=$(cksum <"$work/ptx")
        # Nothing to learn from the same text twice.
        case $seen in *"|$key|"*) continue ;; esac
        seen="$seen|$key|"
        "$ptxas" -arch="$target" "$work/ptx" -o "$work/cubin" >"$work/err" 2>&1 || {
            cat "$work/err"
            fail "$file for $target: ptxas refuses the PTX"
        }
        assembled=$((assembled + 1))
    done
}

all_targets=$("$TILECC" --list-targets) || exit 3
known=$("$ptxas" --help)
seen=
assembled=0
number=0
for file in $(find golden ../examples -name '*.tile' ! -path '*/lib/*' | sort); do
    number=$((number + 1))
    [ $((number % $2 + 1)) = "$1" ] || continue
    # shellcheck disable=SC2046
    assemble "$file" $(options_of "$file")
done
printf '%s cubins by %s\n' "$assembled" "$ptxas"
finish
