#!/bin/sh
# bench/gpu_check.sh BIN tests|bench|random: all that wants a GPU, on a machine that has one and need not be able to build: what was
# proved on the simulator, on hardware (tests), the figures of README.md (bench), or random programs against their meaning, each within about 9 minutes. A short
# table comes last; all that was said is in a few files in the folder OUT (default: build/gpu_check).
#
# BIN holds what a release build made: inst/ (`cmake --install build/release --prefix BIN/inst`), and from build/release/bin
# reference, hostile, unit_cuda_deal (tests), moves, hints_next (bench), random.
#
#   tests   every case of tests/run, every loop with 0, 1, depth - 1, depth, depth + 1 and many turns (trips.sh), hostile arguments
#           under compute-sanitizer --tool memcheck (MEMCHECK names the program; MEMCHECK=none runs them without)
#   bench   the table of movements with its peers (moves.sh), what clusters read from L2 (l2_reads.sh), what hints
#           leave to the next kernel (hints_next), a copy by shape, depth and dealing (copy_sweep.sh)
#   random  COUNT (5000) random programs from SEED (1) on: tests/random/README.md
#
# JOBS: processes at once (16). SECONDS_TESTS, SECONDS_MOVES, SECONDS_SWEEP: limits; what is cut off is said to be.
set -u
[ $# = 2 ] || { echo "usage: bench/gpu_check.sh BIN tests|bench|random" >&2; exit 2; }
bin=$(cd "$1" && pwd) || exit 2
cd "$(dirname "$0")/.." || exit 3
kept=${OUT:-build/gpu_check} out=$(mktemp -d)
mkdir -p "$kept"
trap 'cp "$out"/*.txt "$kept"; rm -rf "$out"' EXIT
trap 'exit 130' HUP INT TERM
export TILECC="$bin/inst/bin/tilecc" REFERENCE="$bin/reference" HOSTILE="$bin/hostile"
export LD_LIBRARY_PATH="$bin/inst/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
device=${DEVICE:-cuda} # for trying the script out
failures=0

# in_batches NAME BATCHES COMMAND..: starts them; what each says is in $out/NAME.BATCH
in_batches() {
    name=$1 n=$2 b=0
    shift 2
    while [ $b -lt "$n" ]; do
        timeout "${SECONDS_TESTS:-500}" sh "$@" "$device" $b "$n" >"$out/$name.$b" 2>&1 &
        b=$((b + 1))
    done
}

# sum_up NAME WHAT: the line of the table
sum_up() {
    cat "$out/$1".[0-9]* >"$out/$1.txt"
    passed=$(sed -n '/^|/d; s/.*[^0-9]\([0-9][0-9]*\) passed, [0-9]* failed.*/\1/p; s/^\([0-9][0-9]*\) passed, [0-9]* failed.*/\1/p' "$out/$1.txt" | awk '{ n += $1 } END { print n + 0 }')
    failed=$(sed -n '/^|/d; s/.* passed, \([0-9]*\) failed.*/\1/p' "$out/$1.txt" | awk '{ n += $1 } END { print n + 0 }')
    cut=$(grep -L '^[0-9].* passed, [0-9]* failed' "$out/$1".[0-9]* | wc -l)
    [ "$failed$cut" = 00 ] || failures=$((failures + 1))
    printf '| %s | %s passed, %s failed%s |\n' "$2" "$passed" "$failed" "$([ "$cut" = 0 ] || printf ', %s batches did not end' "$cut")"
}

# Rows of the tables of all batches, those of one loop in one row.
merge_trips() {
    grep -h '^| ' "$out/trips.txt" | grep -v '^| program\|^| ---' |
        awk -F'|' '{ k = $2 "|" $3 "|" $4 "|" $5; if (!(k in cells)) order[++n] = k; cells[k] = cells[k] $6 }
            END { for (i = 1; i <= n; i++) { m = split(cells[order[i]], c, " "); bad = ""; for (j = 1; j <= m; j++) if (c[j] ~ /FAILED/) bad = bad " " c[j];
                  printf "|%s| %d passed%s |\n", order[i], m - split(bad, c, " "), bad } }'
}

# The table of all batches: programs' sizes are summed.
merge_hostile() {
    grep -h '^| ' "$out"/hostile.[0-9]* | grep -v '^| case\|^| ---' | awk -F'|' '
        $2 !~ /^ sizes of/ { print; next }
        { split($3, w, " "); if (!($2 in p)) order[++n] = $2; p[$2] += w[1]; f[$2] += w[3]; r[$2] += w[5] }
        END { for (i = 1; i <= n; i++) { k = order[i]; printf "|%s| %d passed, %d failed; %d run, the others are refused |\n", k, p[k], f[k], r[k] } }'
}

tests() {
    memcheck=${MEMCHECK:-$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null)}
    [ "$memcheck" != none ] || memcheck=
    [ -n "$memcheck" ] || echo 'no compute-sanitizer: hostile arguments run without a memory checker'
    export MEMCHECK="$memcheck"
    jobs=${JOBS:-16}
    in_batches runs $(((jobs + 2) / 3)) tests/run/run.sh
    in_batches trips $(((jobs + 1) / 3)) tests/run/trips.sh
    in_batches hostile $(((jobs + 0) / 3)) tests/run/hostile.sh
    wait
    grep -h 'SKIPPED' "$out"/*.[0-9]* | sort -u | head -3
    grep -h -A4 '^FAILED\|^WRONG' "$out"/runs.[0-9]* "$out"/trips.[0-9]* "$out"/hostile.[0-9]* | head -40
    printf '\n| turns | | | |\n'
    sum_up trips 'loops by turns' >"$out/trips.sum"
    merge_trips
    printf '\n| hostile arguments | |\n'
    merge_hostile
    printf '\n| on %s | |\n| --- | --- |\n' "$device"
    sum_up runs 'cases of tests/run'
    cat "$out/trips.sum"
    sum_up hostile "hostile arguments${memcheck:+, memcheck}"
    if [ -x "$bin/unit_cuda_deal" ]; then
        timeout 60 "$bin/unit_cuda_deal" >"$out/deal" 2>&1
        printf '| tickets: unit_cuda_deal | exit code %s |\n' $?
    fi
}

ended() { # SCRIPT EXIT-CODE
    [ "$2" = 0 ] && return
    failures=$((failures + 1))
    printf '%s: exit code %s%s\n' "$1" "$2" "$([ "$2" != 124 ] || echo ', out of time')"
}

bench() {
    timeout "${SECONDS_MOVES:-330}" sh bench/moves.sh "$bin" --device="$device" ${MOVES:-} >"$out/moves.txt" 2>&1
    ended moves.sh $?
    grep -v '^| [^|]* | [^|]* | [0-9]' "$out/moves.txt" | grep -v '^$\|^| movement\|^| ---' | head -20
    TABLE="$out/copy_sweep.txt" timeout "${SECONDS_SWEEP:-200}" sh bench/copy_sweep.sh "$bin" --device="$device" ${MOVES:-} >"$out/sweep.txt" 2>&1
    ended copy_sweep.sh $?
    cat "$out/sweep.txt"
    timeout 60 sh bench/l2_reads.sh "$bin" >"$out/l2_reads.txt" 2>&1
    ended l2_reads.sh $?
    cat "$out/l2_reads.txt"
    timeout 60 "$bin/hints_next" >"$out/hints_next.txt" 2>&1
    ended hints_next $?
    cat "$out/hints_next.txt"
    printf '\n| movement | program | ms | TB/s | of cudaMemcpyAsync | times PyTorch |\n| --- | --- | --- | --- | --- | --- |\n'
    grep '^| [^|]* | [^|]* | [0-9]' "$out/moves.txt" | awk -F'|' '{ printf "|%s|%s|%s|%s|%s|%s|\n", $2, $3, $4, $5, $6, $8 }'
}

random() {
    timeout "${SECONDS_TESTS:-540}" "$bin/random" --device "$device" --seed "${SEED:-1}" --count "${COUNT:-5000}" --jobs "${JOBS:-16}" \
        >"$out/random.txt" 2>&1
    ended random $?
    tail -n 60 "$out/random.txt"
}

case $2 in
tests | bench | random) "$2" ;;
*) echo "gpu_check.sh: '$2' is none of tests, bench and random" >&2; exit 2 ;;
esac
[ $failures = 0 ]
