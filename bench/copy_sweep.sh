#!/bin/sh
# bench/copy_sweep.sh BIN [OPTIONS OF moves..]: a copy of bf16 65536 x 16384 by shape of the tile, slots of the ring,
# dealing, swizzle and cache hints: what the figures in README.md come from. BIN: where moves is, build/release/bin. Needs
# a GPU. Rings that do not fit in shared memory are left out. The table goes to the file TABLE, where that is set, and in
# short (the fastest, the slowest, the best of each way of dealing) to the end of the output.
set -eu
[ $# -ge 1 ] || { echo "usage: bench/copy_sweep.sh build/release/bin [OPTIONS]" >&2; exit 2; }
bin=$(cd "$1" && pwd)
shift
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM
shared=232448 # bytes that a CTA can have on sm_90

# variant TILE STAGES DEALING SWIZZLE HINTS
variant() {
    rows=${1%x*} columns=${1#*x}
    bytes=$((rows * columns * 2))
    [ $((bytes * $2 + 1024)) -le $shared ] || return 0
    file=$work/$3_$4.tile
    if [ ! -e "$file" ]; then
        if [ "$4" = none ]; then swizzle=; else swizzle=" swizzle $4"; fi
        if [ "$3" = launch ]; then ring=; else ring=' stages S'; fi
        sed "s/ by ticket/ by $3/; s/ stages S/$ring/; s/ swizzle 128/$swizzle/" bench/tile/copy_sweep.tile >"$file"
    fi
    echo "$1,stages=$2,$3,swizzle=$4,hints=$5,$((bytes * $2 / 1024))KB $file copy $5 BM=$rows,BN=$columns,S=$2"
}

{
    # bytes in flight and shape, by the default way of dealing and by the static one
    for tile in 64x64 32x256 64x128 64x256 128x128 128x256; do
        for stages in 2 3 4 5 6 8; do
            for deal in ticket static; do variant $tile $stages $deal none on; done
        done
    done
    # dealing, with and without hints; a CTA that has one tile has no ring
    for tile in 16x256 32x256 64x128 64x256; do
        for hints in on off; do
            for deal in ticket static; do variant $tile 5 $deal none $hints; done
            variant $tile 1 launch none $hints
        done
    done
    # swizzle
    for swizzle in none 32 64 128; do variant 64x256 5 ticket $swizzle on; done
} | sort -u >"$work/variants"
table=${TABLE:-$work/table}
status=0
"$bin/moves" --variants="$work/variants" --quick --samples=4096 "$@" copy, >"$table" || status=$?
[ -n "${TABLE:-}" ] || cat "$table"

# "program: ms, TB/s" of table rows, by time
short() { awk -F'|' '{ printf "  %s:%sms,%sTB/s,%sof cudaMemcpyAsync\n", $3, $4, $5, $6 }'; }
grep '^| copy.*stages=' "$table" | grep -v WRONG | grep -v 'does not compile' | sort -t'|' -k4,4n >"$work/rows" || true
{
    printf '\ncopy_sweep: %s programs of %s, %s compiled and right\n' "$(wc -l <"$work/variants")" "$(head -1 "$table")" "$(wc -l <"$work/rows")"
    echo 'fastest'
    head -5 "$work/rows" | short
    echo 'the best of each dealing'
    for deal in ticket static launch; do grep ",$deal," "$work/rows" | head -1 | short; done
    echo 'slowest'
    tail -2 "$work/rows" | short
}
exit $status
