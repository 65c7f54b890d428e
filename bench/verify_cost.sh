#!/bin/bash
# bench/verify_cost.sh BIN [LIMIT]: what verification costs, for every program of examples/, bench/tile/ and tests/golden/, with
# the programs in BIN (build/release/bin): a row each, the longest first. Milliseconds of verification (the least of three
# passes over all programs, 31 in-process runs in each, since other machines on the same host slow this one down for seconds;
# "-": stage_bench can't compile it) and user milliseconds of `tilecc --emit=ptx` (the least of 5 processes). With a LIMIT the
# exit code is 1 if verification of a program takes longer.
set -u
bin=$(cd "$1" && pwd) || exit 3
limit=${2:-0}
cd "$(dirname "$0")/.." || exit 3

whole() {
    (
        cd "$(dirname "$1")" || exit 3
        options=$(sed -n '1s|^// options: *||p' "$(basename "$1")")
        TIMEFORMAT=%3U
        for _ in 1 2 3 4 5; do
            # shellcheck disable=SC2086
            { time "$bin/tilecc" $options --emit=ptx -o /dev/null "$(basename "$1")" 2>/dev/null; } 2>&1
        done | sort -n | awk 'NR == 1 { printf "%.0f", $1 * 1000 }'
    )
}

programs() { find examples bench/tile tests/golden -name '*.tile' | sort; }

verifications() { # a program and its milliseconds, three times for each
    for _ in 1 2 3; do
        programs | while read -r file; do
            echo "$file" "$("$bin/stage_bench" "$file" 2>/dev/null | awk -F'|' 'NR > 2 { gsub(/ /, "", $5); print $5 }')"
        done
    done
}

printf '| program | verification, ms | whole process, ms |\n| --- | --- | --- |\n'
verifications | sort -k 1,1 -k 2,2n | awk '$1 != last { print; last = $1 }' | while read -r file verify; do
    printf '| %s | %s | %s |\n' "$file" "${verify:--}" "$(whole "$file")"
done | sort -t '|' -k 3,3nr |
    awk -F'|' -v limit="$limit" '{ print; if (limit > 0 && $3 + 0 > limit) over = 1 } END { exit over }'
