# More programs for run.sh, in the terms of cases.sh: numbers at the ends of their ranges.
#   quotients  A B D SIZE OUT     (reference_numbers.c)

# shellcheck source=/dev/null
. tests/run/conversions.sh

quotients() { said=$("$REFERENCE" quotients "$work/$1.npy" "$work/$2.npy" "$3" "$4" "$work/$5.npy" 2>&1); judge $? "$said"; }

# ---- every type to every other ----
for from in $types; do
    [ -z "${LIST:-}" ] || break # they are written here
    for sat in '' sat; do
        conversions $from $sat >"$work/convert_${from}_$sat.tile"
        edges $from 1040 a
        set --
        for to in $types; do [ $to = $from ] || set -- "$@" "y_$to=$to[1040]:$work/$to.npy"; done
        case_ "$work/convert_${from}_$sat.tile" x="$work/a.npy" "$@" || continue
        for to in $types; do [ $to = $from ] || converted $from $to a $to "${sat:+1}"; done
    done
done

# ---- quotients ----
edges s64 302 a
edges s64 302 b
for d in 1 2 -1 -2 7 -9223372036854775808 9223372036854775807 4294967297 -4294967296; do
    for size in 1 2 48 4112; do
        make u1 $size c
        case_ $h/scalars/ceil.tile a="$work/a.npy" b="$work/b.npy" like="$work/c.npy" y="s64[302,22]:$work/y.npy" d=$d &&
            quotients a b $d $size y
    done
done
