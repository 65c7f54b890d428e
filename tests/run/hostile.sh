# hostile.sh DEVICE [BATCH BATCHES]: launches with hostile arguments. Each is refused with the code that is expected, guarded,
# or right; none hangs (60 seconds) or crashes. The cases: hostile/hostile.c (addresses, strides, overlaps, indices, extents
# beyond 2^31) and, below, every example with sizes of 0, 1 and one off each alignment, against the references of reference.c.
# Prints what went wrong, and a table last.
#
# MEMCHECK=compute-sanitizer: each case runs under `compute-sanitizer --tool memcheck` (the memory checker of the CUDA
# toolkit), and what that finds is a failure. Needs TILECC, REFERENCE and HOSTILE (the programs); exit code 77 with the
# reason where there is no such device.
set -u
: "${HOSTILE:?}"
device=$1 batch=${2:-0} batches=${3:-1}
cd "$(dirname "$0")/../.." || exit 3
# shellcheck source=/dev/null
. tests/run/lib.sh
need_device
[ -z "${MEMCHECK:-}" ] || tool="$MEMCHECK --tool memcheck --error-exitcode 86 --print-limit 3"
crashed=0 hung=0 reported=0 skipped=0
table=

# What a program's exit code says besides its own meaning.
note_status() {
    case $1 in
    124) hung=$((hung + 1)) ;;
    86) reported=$((reported + 1)) ;;
    70 | 99 | 1[2-9][0-9] | 2*) [ "$1" = 2 ] || crashed=$((crashed + 1)) ;;
    esac
}

# ---- hostile.c ----
for name in $("$HOSTILE" --list); do
    mine || continue
    # shellcheck disable=SC2086
    timeout "$limit" $tool "$HOSTILE" --device="$device" "$name" >"$work/said" 2>&1
    status=$?
    note_status $status
    lines=$(grep -c 'refused: ' "$work/said")
    case $status in
    0) passed=$((passed + 1)) said=passed ;;
    77) skipped=$((skipped + 1)) said="not run: $(sed -n 's/^SKIPPED: //p' "$work/said" | head -1)" ;;
    *)
        failed=$((failed + 1))
        said="FAILED, exit code $status"
        printf 'FAILED (exit code %s): hostile %s\n' $status "$name"
        sed 's/^/    /' "$work/said"
        ;;
    esac
    table="$table| $name | $said$([ "$lines" = 0 ] || printf ', %s launches or calls refused' "$lines") |
"
done

# ---- sizes of the examples ----
# expect_ LEGAL CODE PROGRAM ARGUMENTS..: right where LEGAL is 1, else refused with CODE. True: compare what came out.
expect_() {
    legal=$1 code=$2
    shift 2
    rm -f "$work/b.npy" "$work/c.npy"
    status=0
    if [ "$legal" = 1 ]; then
        case_ "$@"
        answer=$?
        [ $((turn % batches)) = $((batch % batches)) ] && legal_runs=$((legal_runs + 1))
        note_status $status
        return $answer
    fi
    refuse_ 2 "$code" "$@"
    note_status $status
    return 1
}
example() { # NAME FUNCTION: runs it, and makes a line of the table
    before=$passed bad=$failed legal_runs=0
    "$2"
    [ "$passed$failed" = "$before$bad" ] ||
        table="$table| sizes of $1 | $((passed - before)) passed, $((failed - bad)) failed; $legal_runs run, the others are refused |
"
}
rows='0 1 65' columns='0 1 7 8 9 255 257 264'
copies() {
    for program in copy two_kernels.tile:k1 two_kernels.tile:k2 hand_ring.tile:hand_ring hand_ring.tile:one_thread_ring; do
        case $program in *.tile*) ;; *) program=$program.tile ;; esac
        for m in $rows; do for n in $columns; do
            make u2 "$m,$n" a
            expect_ $((m == 0 || n % 8 == 0)) E1124 "examples/$program" src="$work/a.npy" dst="bf16[$m,$n]:$work/b.npy" && same a b
        done; done
    done
}
bulk() {
    for n in 0 1 15 16 17 16368 16383 16384 16385 16400 32768; do
        make u1 $n a
        expect_ $((n % 16 == 0)) E1101 examples/copy_bulk.tile src="$work/a.npy" dst="u8[$n]:$work/b.npy" && same a b
    done
}
transposes() {
    for m in 0 1 7 8 128 136; do for n in 0 1 8 9 128 136; do
        make u2 "$m,$n" a
        expect_ $((m * n == 0 || m % 8 == 0 && n % 8 == 0)) 'E1124|E0415' examples/transpose.tile src="$work/a.npy" dst="bf16[$n,$m]:$work/b.npy" &&
            map a b 0 0 "1,$n" "$n,$m"
    done; done
}
added() { if [ $v = 0 ]; then same "$3" "$4"; else scatter_add "$@"; fi; } # nowhere to add to
rows_by_index() {
    for v in 0 1 37; do for r in 0 1 3 5; do
        make u2 $v,4096 a
        index $v $r i
        expect_ 1 - examples/gather_rows.tile table="$work/a.npy" idx="$work/i.npy" out="bf16[$r,4096]:$work/b.npy" && gather a i b
        expect_ 1 - examples/moe.tile:permute x="$work/a.npy" src="$work/i.npy" out="bf16[$r,4096]:$work/b.npy" && gather a i b
        small f32 $r,1024 1000 a
        small f32 $v,1024 1000 d
        expect_ 1 - examples/scatter_add.tile x="$work/a.npy" idx="$work/i.npy" acc="$work/d.npy:$work/c.npy" && added a i d c
        small bf16 $r,4096 100 a
        small f32 $v,4096 1000 d
        expect_ 1 - examples/moe.tile:combine y="$work/a.npy" token="$work/i.npy" acc="$work/d.npy:$work/c.npy" && added a i d c
    done; done
    make u2 37,4096 a
    index 37 4 i
    expect_ 0 E1104 examples/gather_rows.tile table="$work/a.npy" idx="$work/i.npy" out="bf16[5,4096]:$work/b.npy"
    make u2 37,4095 a
    expect_ 0 E1104 examples/gather_rows.tile table="$work/a.npy" idx="$work/i.npy" out="bf16[4,4096]:$work/b.npy"
}
sums() {
    for s in 0 1 2; do for m in 0 1 33; do for n in 0 1 3 4 65 68; do
        small f32 $s,$m,$n 1000 a
        small f32 $m,$n 1000 d
        expect_ $((m == 0 || n % 4 == 0)) 'E1124|E0415' examples/split_k_sum.tile part="$work/a.npy" sum="$work/d.npy:$work/b.npy" && sum a d b
    done; done; done
}
heads() {
    for b in 0 1 2; do for s in 0 1 65; do for n in 0 1 3; do
        make u2 "$b,$s,$n,128" a
        expect_ 1 - examples/permute_heads.tile x="$work/a.npy" out="bf16[$b,$n,$s,128]:$work/b.npy" &&
            map a b 0 0 $((s * n * 128)),128,$((n * 128)),1 "$b,$n,$s,128"
    done; done; done
}
halos() {
    for m in 0 1 31 33; do for n in 0 1 3 4 63 65 68; do
        make f4 "$m,$n" a
        tiles=$(((m + 31) / 32)),$(((n + 63) / 64))
        expect_ $((m * n == 0 || n % 4 == 0)) E0415 examples/halo.tile x="$work/a.npy" y="f32[$tiles,34,72]:$work/b.npy" && patches a b 32,64 -1,-4
    done; done
}
conversions() {
    for m in 0 1 63; do for n in 0 1 4 8 65 72; do
        make u2 "$m,$n" a
        expect_ $((m == 0 || n % 8 == 0)) 'E1124|E0415' examples/convert.tile x="$work/a.npy" y="f32[$m,$n]:$work/b.npy" && convert bf16 f32 a b 0
    done; done
}
clusters() {
    for r in 0 1 3 4 8; do for n in 0 1 8 9 72; do
        make u2 "65,$n" a
        settle
        cp "$work/a.npy" "$work/f.npy"
        make f2 "65,$n" a
        expect_ $((r * n == 0 || r % 4 == 0 && n % 8 == 0)) 'E0905|E1101|E1124|E0415' examples/broadcast.tile w="$work/a.npy" out="f16[$r,65,$n]:$work/b.npy" &&
            { [ $((r * n)) = 0 ] || periodic a b; }
    done; done
    for n in 0 1 3 4 1023 1024 1025 1028; do
        make u4 "4,$n" a
        expect_ $((n % 4 == 0)) E1101 examples/ring.tile src="$work/a.npy" out="u32[4,$n]:$work/b.npy" && block a b 0,0 3,$n 1,0 && block a b 3,0 1,$n 0,0
    done
    make u4 3,8 a
    expect_ 0 E1104 examples/ring.tile src="$work/a.npy" out="u32[4,8]:$work/b.npy"
    for m in 0 1 129; do for n in 0 1 127; do for k in 0 1 7 8 65 72; do
        make u2 "$m,$k" a
        make u2 "$n,$k" d
        expect_ $((m * n == 0 || k % 8 == 0)) 'E1124|E0415' examples/gemm_io.tile A="$work/a.npy" B="$work/d.npy" oa="bf16[$(((n + 127) / 128)),$m,$k]:$work/b.npy" \
            ob="bf16[$(((m + 127) / 128)),$n,$k]:$work/c.npy" && periodic a b && periodic d c
    done; done; done
}
streams() {
    for m in $rows; do for n in 0 1 8 127 129 136; do
        make u2 "$m,$n" a
        make u2 "64,$n" d
        expect_ $((m == 0 || n % 8 == 0)) 'E1124|E0415' examples/prefetch.tile a="$work/a.npy" b="$work/d.npy" out="bf16[$m,$n]:$work/b.npy" out2="bf16[$m,$n]:$work/c.npy" &&
            same a b && periodic d c
    done; done
    for m in $rows; do for n in 0 1 8 264; do for n2 in 0 7 8; do
        make u2 "$m,$n" a
        make u2 "$m,$n2" d
        expect_ $((m == 0 || n + n2 == 0 || n % 8 == 0 && n2 % 8 == 0)) E1101 bench/tile/concat.tile a="$work/a.npy" b="$work/d.npy" out="bf16[$m,$((n + n2))]:$work/b.npy" &&
            block a b 0,0 "$m,$n" 0,0 && block d b 0,0 "$m,$n2" "0,$n"
    done; done; done
}
example copies copies
example copy_bulk bulk
example transpose transposes
example 'rows by index' rows_by_index
example split_k_sum sums
example permute_heads heads
example halo halos
example convert conversions
example 'broadcast, ring, gemm_io' clusters
example 'prefetch, concat' streams

printf '\nhostile arguments on %s%s\n| case | outcome |\n| --- | --- |\n%s' "$device" "${MEMCHECK:+ under $MEMCHECK --tool memcheck}" "$table"
printf '%s passed, %s failed (%s hung, %s crashed, %s found by the memory checker), %s not run\n' $passed $failed $hung $crashed $reported $skipped
[ $failed = 0 ]
