#!/bin/bash
# bench/verify_cost.sh BIN [LIMIT]: what verification costs, for every program of examples/, bench/tile/ and tests/golden/ that
# stage_bench compiles, with the programs in BIN (build/release/bin): a row each, the longest first. Milliseconds of verification and of
# `tilecc -S` as a process (the least of three passes over all programs, 31 runs or 15 processes in each, since other machines on the same host slow this
# one down for seconds), the share of the one in the other, and whether the program's schedules are derived (all its kernels have a tree). The
# last line sums up the derived ones. With a LIMIT the exit code is 1 if verification of a program takes longer.
set -u
bin=$(cd "$1" && pwd) || exit 3
limit=${2:-0}
cd "$(dirname "$0")/.." || exit 3

kernels() { # that --emit=$2 prints
    (
        cd "$(dirname "$1")" || exit 3
        # shellcheck disable=SC2046
        "$bin/tilecc" $(sed -n '1s|^// options: *||p' "$(basename "$1")") --emit="$2" "$(basename "$1")" 2>/dev/null | grep -c '^kernel '
    )
}

times() { # a program, its milliseconds, three times for each, and whether it is derived
    for pass in 1 2 3; do
        find examples bench/tile tests/golden -name '*.tile' | sort | while read -r file; do
            ms=$("$bin/stage_bench" "$file" 2>/dev/null | awk -F'|' 'NR > 2 && $7 > 0 { print $5, $7 }')
            [ -z "$ms" ] || echo "$file $ms" "$([ $pass = 1 ] && [ "$(kernels "$file" tree)" = "$(kernels "$file" ir)" ] && echo derived)"
        done
    done
}

table=$(times | awk '
    !($1 in v) || $2 < v[$1] { v[$1] = $2 }
    !($1 in p) || $3 < p[$1] { p[$1] = $3 }
    $4 { how[$1] = $4 }
    END { for (f in v) printf "| %s | %.4f | %.3f | %.3f | %s |\n", f, v[f], p[f], v[f] / p[f], how[f] }' | sort -t '|' -k 3,3nr)
printf '| program | verification, ms | tilecc -S, ms | share | |\n| --- | --- | --- | --- | --- |\n%s\n' "$table"
grep derived <<<"$table" | sort -t '|' -k 5,5n | awk -F'|' '
    { share[NR] = $5; over += $5 > 0.1; sum += $3; all += $4 }
    END { printf "%d derived programs: median share %.3f, %d above a tenth; %.1f ms of %.1f\n", NR, share[int((NR + 1) / 2)], over, sum, all }'
awk -F'|' -v limit="$limit" 'limit > 0 && $3 > limit { over = 1 } END { exit over }' <<<"$table"
