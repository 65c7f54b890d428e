# More programs for run.sh, in the terms of cases.sh: pipelines, roles, clusters, work by threads, reductions. Trip counts
# are 0, 1, around the depth of the rings, and many; sizes are odd, and one off tiles and alignments.
#   small  TYPE SHAPE LIMIT NAME           whole numbers, which any order of additions sums to the same bits
#   sum, scatter_add, convert, reduction   the references of reference_sums.c

# many LIST LIST-IN-MANY-SCHEDULES: the sizes of a case
many() { case $device in sim:fuzz*) echo "$2" ;; *) echo "$1" ;; esac; }
few() { case $device in sim*) echo "$2" ;; *) echo "$1" ;; esac; } # where the simulator takes seconds

# ---- copies ----
for shape in 0,256 1,8 64,256 63,264 129,264 256,256 257,520 1000,1288 $large; do
    make u2 "$shape" a
    case_ examples/copy.tile src="$work/a.npy" dst="bf16[$shape]:$work/b.npy" && same a b
    case_ examples/two_kernels.tile:k1 src="$work/a.npy" dst="bf16[$shape]:$work/b.npy" && same a b
    case_ examples/two_kernels.tile:k2 src="$work/a.npy" dst="bf16[$shape]:$work/b.npy" && same a b
    case_ examples/hand_ring.tile:hand_ring src="$work/a.npy" dst="bf16[$shape]:$work/b.npy" && same a b
    case_ examples/hand_ring.tile:one_thread_ring src="$work/a.npy" dst="bf16[$shape]:$work/b.npy" && same a b
done
for n in 0 16 16368 16384 16400 32752 32784 131072 $(many 3000016 200016); do
    make u1 "$n" a
    case_ examples/copy_bulk.tile src="$work/a.npy" dst="u8[$n]:$work/b.npy" && same a b
    case_ $h/movement/bulk_chunks.tile src="$work/a.npy" dst="u8[$n]:$work/b.npy" && same a b
    case_ $h/movement/bulk_prefetch.tile x="$work/a.npy" y="u8[$n]:$work/b.npy" && same a b
done
for shape in 0,64 1,16 16,64 17,48 127,80 $(many 1000,1040 150,144); do
    make u1 "$shape" a
    for kernel in by_static by_ticket by_launch; do
        case_ $h/pipeline/dealing.tile:$kernel x="$work/a.npy" y="u8[$shape]:$work/b.npy" && same a b
    done
    case_ $h/cluster/tickets.tile:lanes x="$work/a.npy" y="u8[$shape]:$work/b.npy" && same a b
    case $device in sim*) # for sm_100a
        case_ $h/pipeline/clc.tile:alone x="$work/a.npy" y="u8[$shape]:$work/b.npy" && same a b
        case_ $h/pipeline/clc.tile:together x="$work/a.npy" y="u8[$shape]:$work/b.npy" && same a b
        for kernel in copied together; do
            case_ $h/pipeline/clc_chosen.tile:$kernel x="$work/a.npy" y="u8[$shape]:$work/b.npy" && same a b
        done ;;
    esac
done
for shape in 1,8 129,136 $(many 3000,1032 300,264); do
    make u2 "$shape" a
    case_ $h/cluster/tickets.tile:one x="$work/a.npy" y="bf16[$shape]:$work/b.npy" && same a b
done
for shape in 1,4 7,16 5,48 2,72; do
    make u4 ${shape%,*},4,${shape#*,} a
    case_ $h/pipeline/slot_of_index.tile:turn x="$work/a.npy" y="u32[${shape%,*},4,${shape#*,}]:$work/b.npy" && same a b
done
for n in 2 37; do
    make u4 $n,4,16 a
    constant u4 1,4,16 $(((n - 1) % 4)) last
    case_ $h/threads/slot_picked.tile x="$work/a.npy" y="u32[$n,4,16]:$work/b.npy" z="u32[$n,4,16]:$work/c.npy" && same a b && block last c 0,0,0 1,4,16 $((n - 1)),0,0
done
for n in 1 6; do
    make u4 $n,2,64 a
    case_ $h/pipeline/slot_of_index.tile:rest x="$work/a.npy" y="u32[$n,3,64]:$work/b.npy" n=3 && block a b 0,0,0 $n,2,64 0,0,0 && block a b 0,0,0 $n,1,64 0,2,0
done
for n in 0 1 7 8; do
    make u4 $n,5,8 a
    case_ $h/cluster/last_rows.tile x="$work/a.npy" y="u32[$n,5,8]:$work/b.npy" n=$(((n + 3) / 4)) && same a b
done
for k in 0 1 7 40 1000; do # under a condition: never, sometimes, always
    n=$(many 4099 300)
    make u4 $n,16 a
    case_ $h/cluster/guarded_multicast.tile x="$work/a.npy" y="u32[4,$n,16]:$work/b.npy" n=$k && periodic a b
done
for n in 1 65 $(many 3000 300); do
    make u2 $n,64 a
    case_ $h/cluster/tickets_threads.tile:by_threads x="$work/a.npy" y="bf16[4,$n,64]:$work/b.npy" && periodic a b
    case $device in sim*)
        small bf16 $n,64 100 a
        case_ $h/pipeline/clc.tile:by_threads x="$work/a.npy" y="f32[$n,64]:$work/b.npy" && convert bf16 f32 a b 0 ;;
    esac
done
for shape in 1,8 200,136 $(many 1000,1032 130,136); do
    make u2 "$shape" a
    case_ $h/pipeline/default_depth.tile x="$work/a.npy" y="u16[$shape]:$work/b.npy" && same a b
    case_ $h/pipeline/parts.tile x="$work/a.npy" y="u16[$shape]:$work/b.npy" && same a b
    make f2 "$shape" a
    case_ $h/pipeline/prefetch_ahead.tile:prefetch_ahead x="$work/a.npy" y="f16[$shape]:$work/b.npy" && same a b
done
for depth in 1 2 3 5 40; do # slots against trips: none, one, one off the depth, and many
    for n in 0 1 2 3 4 5 6 50; do
        make u4 $((16 * n)),32 a
        case_ $h/pipeline/stages.tile -D stages.S=$depth x="$work/a.npy" y="u32[$((16 * n)),32]:$work/b.npy" n=$n && same a b
    done
done
for n in 0 1 5 64 $(many 4096 200); do
    make f4 "$n,256" a
    case_ $h/pipeline/short_rows.tile x="$work/a.npy" y="f32[$n,256]:$work/b.npy" && affine a b 0 $((n - 1)),0 -1,1
done

# ---- several pipelines, tiles and views ----
for shape in 1,4 33,100 $(many 500,516 66,100); do
    rows=${shape%,*} columns=${shape#*,}
    make f4 "$shape" a
    make f4 "$shape" b
    case_ $h/pipeline/consecutive.tile:inside a="$work/a.npy" b="$work/b.npy" y="f32[$shape]:$work/c.npy" z="f32[$shape]:$work/d.npy" &&
        same a c && same b d
    for other in 0 1 70; do
        make f4 "$other,$columns" b
        case_ $h/pipeline/consecutive.tile:across a="$work/a.npy" b="$work/b.npy" y="f32[$shape]:$work/c.npy" \
            z="f32[$other,$columns]:$work/d.npy" && same a c && same b d
    done
    make u2 "$other,$((columns / 4 * 8))" e
    case_ $h/pipeline/shared_slots.tile:passes a="$work/e.npy" b="bf16[$other,$((columns / 4 * 8))]:$work/f.npy" c="$work/a.npy" \
        d="f32[$shape]:$work/c.npy" e="f32[$shape]:$work/d.npy" && same e f && same a c && same a d
    make u4 "$shape" a
    make u4 "$shape" b
    case_ $h/pipeline/two_tiles.tile:two_tiles a="$work/a.npy" b="$work/b.npy" y="u32[$shape]:$work/c.npy" z="u32[$shape]:$work/d.npy" \
        w="u32[$shape]:$work/e.npy" && same b c && same a d && same b e
    case_ $h/pipeline/two_tiles.tile:array a="$work/a.npy" b="$work/b.npy" y="u32[$shape]:$work/c.npy" z="u32[$shape]:$work/d.npy" &&
        same b c && same a d
done
for shape in 1,8,8 33,72,64 $(many 300,264,1032 70,136,72); do
    rows=${shape%%,*} left=${shape#*,} right=${shape##*,}
    left=${left%,*}
    make u2 "$rows,$left" a
    make u2 "$rows,$right" b
    for program in bench/tile/concat.tile:a:b:out:bf16 $h/pipeline/views.tile:a:b:y:u16; do
        names=${program#*:*:*:}
        case_ "${program%%:*}" a="$work/a.npy" b="$work/b.npy" \
            "${names%:*}=${names#*:}[$rows,$((left + right))]:$work/c.npy" &&
            block a c 0,0 "$rows,$left" 0,0 && block b c 0,0 "$rows,$right" "0,$left"
    done
done
for rows in 1 64 65 $(many 1000 260); do
    make f4 "$rows,512" a
    case_ $h/pipeline/shared_slots.tile:loops x="$work/a.npy" y="f32[$rows,512]:$work/b.npy" z="f32[$rows,512]:$work/c.npy" n=1 && same a b && same a c
    case_ $h/pipeline/shared_slots.tile:loops x="$work/a.npy" y="f32[$rows,512]:$work/b.npy" z="f32[$rows,512]:$work/c.npy" n=0 && same a b
    make u2 64,64 a
    make u2 "$rows,64" b
    k=$(((rows + 63) / 64))
    case_ $h/pipeline/outer_tile.tile w="$work/a.npy" x="$work/b.npy" y="bf16[$rows,64]:$work/c.npy" z="bf16[$k,64,64]:$work/d.npy" &&
        same b c && periodic a d
done
make u1 5,70,208 a
make u1 5,70,208 b
for n in 0 3 9 4000000000; do
    used=$((n < 9 ? 8 * n : 70))
    constant u4 1 $n n
    case_ $h/pipeline/indices.tile x="$work/a.npy" y="$work/b.npy:$work/c.npy" n="$work/n.npy" &&
        block a c 1,0,0 4,$used,208 1,0,0 && block b c 0,0,0 1,70,208 0,0,0 && block b c 0,$used,0 5,$((70 - used)),208 0,$used,0
done
for shape in 128,64 128,128 129,256 $(many 700,712 160,264); do # rows of block i begin at column tile i % 4
    rows=${shape%,*} columns=${shape#*,}
    make u2 "$shape" a
    make u2 "$shape" b
    make u2 "$rows,64" c
    case_ $h/pipeline/nested.tile x="$work/a.npy" w="$work/c.npy" y="$work/b.npy:$work/d.npy" v="u16[$rows,64]:$work/e.npy" &&
        same c e && for i in $(seq 0 $(((rows - 1) / 32))); do
            from=$((i % 4 * 64 < columns ? i % 4 * 64 : columns)) high=$((rows - i * 32 < 32 ? rows - i * 32 : 32))
            block a d $((i * 32)),$from $high,$((columns - from)) $((i * 32)),$from
            block b d $((i * 32)),0 $high,$from $((i * 32)),0
        done
done
for shape in 1,4 50,100 $(many 400,516 100,260); do
    blocks_=$(((${shape%,*} + 15) / 16))
    make f4 "$shape" a
    make f4 "$shape" b
    make f4 "$shape" c
    indices i4 2 $blocks_ i
    case_ $h/pipeline/conditions.tile:conditions x="$work/a.npy" flag="$work/i.npy" y="$work/b.npy:$work/d.npy" z="$work/c.npy:$work/e.npy" &&
        select_ a b i d 16 32 0 && select_ a c i e 16 32 1
    case_ $h/pipeline/conditions.tile:either x="$work/a.npy" w="$work/b.npy" flag="$work/i.npy" y="f32[$shape]:$work/d.npy" &&
        select_ a b i d 16 32 2
done

for n in 0 1 2 3; do # in no iteration, in some, in all
    make u4 1,40,64 a
    make u4 2,16,64 w
    make u4 7,40,64 b
    case_ $h/pipeline/loop_in_branch.tile x="$work/a.npy" w="$work/w.npy" y="$work/b.npy:$work/c.npy" z="u32[7,16,64]:$work/d.npy" n=$n &&
        for i in 0 1 2 5 6; do
            if [ $((i % 3)) -lt $n ]; then block a c 0,0,0 1,40,64 $i,0,0 && block w d 0,0,0 1,16,64 $i,0,0
            else block b c $i,0,0 1,40,64 $i,0,0 && block w d 1,0,0 1,16,64 $i,0,0; fi
        done
done
for n in 64 68 200 260; do
    make f4 $n,$n a
    for kernel in square causal window sliding; do
        make f4 $n,$n b
        case $kernel in window) more=w=2 ;; *) more= ;; esac
        case $kernel in window | sliding) file=$kernel ;; *) file=square ;; esac
        # shellcheck disable=SC2086
        case_ $h/pipeline/$file.tile:$kernel x="$work/a.npy" y="$work/b.npy:$work/c.npy" $more &&
            for i in $(seq 0 $(((n - 1) / 64))); do
                high=$((n - i * 64 < 64 ? n - i * 64 : 64)) from=0 to=$n
                [ $kernel = square ] || to=$(((i + 1) * 64 < n ? (i + 1) * 64 : n))
                [ $file != square ] && [ $i -gt 2 ] && from=$(((i - 2) * 64))
                block a c $((i * 64)),$from $high,$((to - from)) $((i * 64)),$from && block b c $((i * 64)),$to $high,$((n - to)) $((i * 64)),$to
                [ $from = 0 ] || block b c $((i * 64)),0 $high,$from $((i * 64)),0
            done
    done
done

for n in 0 1 2 5 $(many 40 14); do
    make i4 $n,32 a
    for y in b e; do make i4 $n,$((n * 32)) $y; done
    case_ $h/pipeline/stored_in_turns.tile:causal x="$work/a.npy" y="$work/b.npy:$work/c.npy" &&
        for i in $(seq 0 $((n - 1))); do
            for j in $(seq 0 $i); do block a c $i,0 1,32 $i,$((j * 32)); done
            block b c $i,$((i * 32 + 32)) 1,$((n * 32 - i * 32 - 32)) $i,$((i * 32 + 32))
        done
    case_ $h/pipeline/stored_in_turns.tile:seldom x="$work/a.npy" y="$work/b.npy:$work/c.npy" z="$work/e.npy:$work/d.npy" &&
        for i in $(seq 0 $((n - 1))); do
            for j in $(seq 0 $((i / 2 - 1))); do block a c $j,0 1,32 $i,$((j * 32)) && block a d $i,0 1,32 $i,$((j * 32)); done
            block b c $i,$((i / 2 * 32)) 1,$((n * 32 - i / 2 * 32)) $i,$((i / 2 * 32)) && block e d $i,$((i / 2 * 32)) 1,$((n * 32 - i / 2 * 32)) $i,$((i / 2 * 32))
        done
done

# ---- rows by index ----
for d in 4096 2048 1024 512 64; do # 8 KiB to 128 bytes
    for r in 0 1 7 $(many 300 60); do
        make u2 37,$d a
        index 37 $r i
        case_ examples/gather_rows.tile -D gather_rows.D=$d table="$work/a.npy" idx="$work/i.npy" out="bf16[$r,$d]:$work/b.npy" && gather a i b
        case_ examples/moe.tile:permute -D permute.D=$d x="$work/a.npy" src="$work/i.npy" out="bf16[$r,$d]:$work/b.npy" && gather a i b
    done
done
make f4 37,64 a
index 37 8 i
for n in 0 1 8 16 60; do # indices from place 8 on are not there: zeros
    "$REFERENCE" take "$work/a.npy" "$work/i.npy" $n "$work/c.npy"
    case_ $h/pipeline/stepped.tile:rows x="$work/a.npy" idx="$work/i.npy" y="f32[$n,64]:$work/b.npy" n=$n && same c b
done
make f4 80,64 a
for n in 5 90; do # blocks from behind, and then below the tensor's start
    case_ $h/pipeline/stepped.tile:backwards x="$work/a.npy" y="f32[80,64]:$work/b.npy" n=$n &&
        for k in 0 1 4 9; do block a b $((8 * k)),0 8,64 $((72 - 8 * k)),0; done
done
for r in 1 9 70; do
    make f4 45,64 a
    make f4 120,64 b
    indices i4 45 $r i
    "$REFERENCE" distinct 120 $r $seed "$work/j.npy"
    case_ $h/rows/listed.tile:twice table="$work/a.npy" idx="$work/i.npy" to="$work/j.npy" out="$work/b.npy:$work/c.npy" &&
        gather_scatter a i j b c
done
for m in 8 5; do # rows that are there, and such that are 0
    make u1 4,$m,64 a
    constant u1 32,$((8 - m + 1)),64 0 zero
    case_ $h/cluster/multicast_array.tile x="$work/a.npy" y="u8[32,8,64]:$work/b.npy" G=2 && {
        for g in 0 1 2 3 4 5 6 7; do block a b 0,0,0 4,$m,64 $((4 * g)),0,0; done
        [ $m = 8 ] || block zero b 0,0,0 32,$((8 - m)),64 0,$m,0
    }
done
for r in 1 7 8 9 $(many 500 70); do # shares of a multicast
    m=$h/cluster/multicast_rows
    make u4 37,64 a
    index 37 $r i
    "$REFERENCE" take "$work/a.npy" "$work/i.npy" $r "$work/c.npy"
    case_ ${m}_loops.tile:variables x="$work/a.npy" idx="$work/i.npy" y="u32[2,$r,64]:$work/b.npy" z="u32[$r,64]:$work/d.npy" &&
        same c d && periodic c b
    case_ $m.tile:by_index x="$work/a.npy" idx="$work/i.npy" y="u32[2,$r,64]:$work/b.npy" && periodic c b
    case_ ${m}_loops.tile:branches x="$work/a.npy" idx="$work/i.npy" y="u32[2,$r,64]:$work/b.npy" && periodic c b
    case_ $m.tile:few x="$work/a.npy" idx="$work/i.npy" y="u32[4,$r,64]:$work/b.npy" && periodic c b
    for n in -2 1 29 36 99; do
        l=3,$n,7,$((n + 1)),0,$((n - 1))
        case_ $m.tile:listed x="$work/a.npy" y="u32[12,64]:$work/b.npy" n=$n && rows a b $l,$l
        case_ ${m}_loops.tile:in_roles x="$work/a.npy" idx="$work/i.npy" y="u32[2,$r,64]:$work/b.npy" w="u32[12,64]:$work/d.npy" n=$n &&
            periodic c b && rows a d $l,$l
    done
done
make u2 30,200 a
make u2 30,200 b
case_ $h/rows/listed.tile:listed x="$work/a.npy" y="$work/b.npy:$work/c.npy" a=29 b=7 &&
    block a c 29,0 1,200 0,0 && block a c 3,0 1,200 1,0 && block a c 7,0 1,200 2,0 && block a c 0,0 1,200 3,0 && block b c 4,0 26,200 4,0

for r in 0 1 9 70 $(many 800 200); do
    constant f4 $r,64 0x3f800000 a # 1.0
    small f32 $((r + 90)),64 1000 b
    "$REFERENCE" distinct $((r + 90)) $r $seed "$work/j.npy"
    for kernel in bump one_by_one dealt pairs; do
        case_ $h/rows/in_place.tile:$kernel x="$work/b.npy:$work/c.npy" idx="$work/j.npy" && scatter_add a j b c
    done
done

# ---- work by threads in batches ----
for m in 1 3 150 152 $(many 9000 700); do
    make u4 $m,12 a
    make u4 $m,12 b
    make u4 1,12 c
    case_ $h/threads/batched.tile:in_between x="$work/a.npy" w="$work/b.npy" y="u32[$m,12]:$work/d.npy" z="u32[$m,12]:$work/e.npy" &&
        same a d && same b e
    case_ $h/threads/batched.tile:one_of_all c="$work/c.npy" x="$work/a.npy" y="u32[$m,12]:$work/d.npy" z="u32[$m,12]:$work/e.npy" &&
        same a d && periodic c e
    case_ $h/threads/batched.tile:a_variable x="$work/a.npy" y="u32[$m,12]:$work/d.npy" &&
        block a d 0,0 $((m < 3 ? m : 3)),12 0,0 && [ $m -gt 3 ] && block a d 2,0 $((m - 3)),12 3,0
done
for m in 1 22 23 $(many 2000 100); do
    make u1 $m,16,48 a
    case_ $h/threads/batched.tile:turned x="$work/a.npy" y="u8[$m,48,16]:$work/b.npy" && map a b 0 0 768,1,48 "$m,48,16"
done
for m in 16 64 80 $(many 8000 400); do
    make u4 $m,64 a
    case_ $h/threads/batched.tile:halves x="$work/a.npy" y="u32[$((m / 2)),64]:$work/b.npy" &&
        for i in 0 $((m / 16 / 2)) $((m / 16 - 1)); do block a b $((i * 16)),0 8,64 $((i * 8)),0; done
done

# ---- reductions ----
for r in 0 1 7 8 9 $(many 500 90); do
    small f32 $r,64 1000 a
    small f32 21,64 1000 b
    index 21 $r i
    for kernel in bulk_add tensor_add eight_rows; do
        case_ $h/reduce/scatter.tile:$kernel x="$work/a.npy" idx="$work/i.npy" acc="$work/b.npy:$work/c.npy" && scatter_add a i b c
    done
    small f32 $r,1024 1000 a
    small f32 21,1024 1000 b
    case_ examples/scatter_add.tile x="$work/a.npy" idx="$work/i.npy" acc="$work/b.npy:$work/c.npy" && scatter_add a i b c
    small bf16 $r,4096 100 a
    small f32 21,4096 1000 b
    case_ examples/moe.tile:combine y="$work/a.npy" token="$work/i.npy" acc="$work/b.npy:$work/c.npy" && scatter_add a i b c
done
for shape in 0,5,4 1,1,4 3,33,68 7,64,64 $(many 20,100,200 9,65,132); do
    small f32 "$shape" 1000 a
    small f32 "${shape#*,}" 1000 b
    case_ examples/split_k_sum.tile part="$work/a.npy" sum="$work/b.npy:$work/c.npy" && sum a b c
done
for s in 0 1 2 3 40; do
    make u4 $s,16,32 a
    make u4 16,32 b
    out=
    for op in low high both any odd sum; do out="$out $op=$work/b.npy:$work/$op.npy"; done
    # shellcheck disable=SC2086
    case_ $h/reduce/operations.tile:operations x="$work/a.npy" $out && reduction min u32 a b low && reduction max u32 a b high &&
        reduction and u32 a b both && reduction or u32 a b any && reduction xor u32 a b odd && reduction add u32 a b sum
    make i4 $s,64 a
    make i4 64 b
    case_ $h/reduce/operations.tile:signed_rows x="$work/a.npy" low="$work/b.npy:$work/c.npy" high="$work/b.npy:$work/d.npy" &&
        reduction min s32 a b c && reduction max s32 a b d
done

# Every operation with every type that it works on, by bulk and tensor reductions; floats within rounding.
t=$h/reduce/table.tile
npy() { case $1 in u*) echo "u$((${1#u} / 8))" ;; s*) echo "i$((${1#s} / 8))" ;; f*) echo "f$((${1#f} / 8))" ;; bf16) echo u2 ;; esac; }
some() { # type, shape, name: any integers, or floats with all their digits
    case $1 in *f*) floats "$1" "$2" "$3" ;; *) make "$(npy "$1")" "$2" "$3" ;; esac
}
for type in u32 s32 u64 f32 f64 f16 bf16; do
    for r in 1 $(many 300 40); do
        some $type $r,64 a
        some $type 21,64 b
        index 21 $r i
        case_ $t:add_rows -D add_rows.T=$type x="$work/a.npy" idx="$work/i.npy" acc="$work/b.npy:$work/c.npy" && scattered add $type a i b c
    done
    for shape in 2,5,16 $(many 7,100,200 3,40,64); do
        some $type "$shape" a
        some $type "${shape#*,}" b
        case_ $t:add_parts -D add_parts.T=$type part="$work/a.npy" sum="$work/b.npy:$work/c.npy" && reduction add $type a b c
    done
done
# combined OPERATION TURNS TYPE..
combined() {
    op=$1 turns=$2
    shift 2
    for type; do
        some "$type" "$turns,64" a
        some "$type" 64 b
        for way in bulk map; do
            case_ $t:${way}_$op -D "${way}_$op.T=$type" x="$work/a.npy" y="$work/b.npy:$work/c.npy" && reduction $op "$type" a b c
        done
    done
}
for turns in 1 30; do
    combined min $turns u32 s32 u64 s64 f16 bf16
    combined max $turns u32 s32 u64 s64 f16 bf16
    for op in and or xor; do combined $op $turns u32 s32 u64 s64; done
done
combined inc 1 u32 # each depends on the one before
combined dec 1 u32

# ---- what people move ----
# conv KERNEL WINDOW PADDING STRIDE DILATION SHAPE [OPTION..]: a kernel of im2col.tile against the reference; numbers per
# dimension of space, outermost first
conv() {
    conv_kernel=$1 conv_window=$2 conv_padding=$3 conv_stride=$4 conv_dilation=$5 conv_shape=$6
    shift 6
    case $conv_kernel in
    line) conv_names='S PAD STEP DIL q' ;;
    plane) conv_names='R PH SH DH p S PW SW DW q' ;;
    space) conv_names='T PD SD DD o R PH SH DH p S PW SW DW q' ;;
    esac
    # shellcheck disable=SC2086
    set -- $conv_names "$@"
    rows=${conv_shape%%,*} taps=1 channels=${conv_shape##*,} i=0 conv_options= conv_sizes=
    for of in $(echo "${conv_shape#*,}" | tr , ' '); do
        i=$((i + 1))
        k=$(echo "$conv_window," | cut -d, -f$i) pad=$(echo "$conv_padding," | cut -d, -f$i)
        step=$(echo "$conv_stride," | cut -d, -f$i) dil=$(echo "$conv_dilation," | cut -d, -f$i)
        [ -n "$k" ] || break
        conv_options="$conv_options -D $conv_kernel.$1=$k -D $conv_kernel.$2=$pad -D $conv_kernel.$3=$step -D $conv_kernel.$4=$dil"
        to=$(((of + 2 * pad - dil * (k - 1) - 1) / step + 1))
        conv_sizes="$conv_sizes $5=$to"
        rows=$((rows * to)) taps=$((taps * k))
        shift 5
    done
    # shellcheck disable=SC2086
    case_ $g/im2col.tile:$conv_kernel $conv_options "$@" x="$work/a.npy" cols="bf16[$rows,$((taps * channels))]:$work/b.npy" $conv_sizes &&
        columns a b "$conv_window" "$conv_padding" "$conv_stride" "$conv_dilation"
}
if [ -e $g/im2col.tile ]; then
for shape in 1,4,4,64 3,9,10,64 2,7,13,128; do
    make u2 $shape a
    conv plane 3,3 1,1 1,1 1,1 $shape
    conv plane 3,3 0,0 1,1 1,1 $shape
    conv plane 3,3 1,1 2,2 1,1 $shape
    conv plane 1,3 0,1 1,1 1,1 $shape
done
for shape in 2,8,9,64 1,17,21,64; do
    make u2 $shape a
    conv plane 1,7 0,3 1,1 1,1 $shape
    conv plane 7,1 3,0 1,2 1,1 $shape -D plane.PX=32
    conv plane 3,3 2,2 1,1 2,2 $shape
    conv plane 3,3 0,0 2,2 2,2 $shape
    conv plane 3,3 1,1 2,1 1,1 $shape -D plane.PX=128
    conv plane 2,2 0,0 2,2 1,1 $shape
done
for shape in 1,5,64 2,40,64 3,33,128 5,100,64; do
    make u2 $shape a
    conv line 3 1 1 1 $shape
    conv line 3 0 1 1 $shape
    conv line 3 2 2 2 $shape
    conv line 5 2 3 1 $shape
done
for shape in 1,3,4,5,64 2,5,6,7,64; do
    make u2 $shape a
    conv space 3,3,3 1,1,1 1,1,1 1,1,1 $shape
    conv space 3,3,3 0,0,0 1,1,1 1,1,1 $shape
    conv space 3,3,3 1,1,1 2,2,2 1,1,1 $shape
    conv space 1,3,3 0,2,2 1,2,1 1,2,2 $shape
done
fi
for shape in 1,1,1 2,63,3 1,64,5 3,130,2; do
    b=${shape%%,*} n=${shape##*,} s=${shape#*,}
    s=${s%,*}
    make u2 "$b,$s,$n,128" a
    case_ examples/permute_heads.tile x="$work/a.npy" out="bf16[$b,$n,$s,128]:$work/b.npy" &&
        map a b 0 0 $((s * n * 128)),128,$((n * 128)),1 "$b,$n,$s,128"
done
for shape in 1,4 32,64 33,68 $(many 300,516 70,196); do
    tiles=$(((${shape%,*} + 31) / 32)),$(((${shape#*,} + 63) / 64))
    make f4 "$shape" a
    case_ examples/halo.tile x="$work/a.npy" y="f32[$tiles,34,72]:$work/b.npy" && patches a b 32,64 -1,-4
done
# Pages of three sequences of 5, 0 and 33 rows; a page is 16.
make u2 4,16,128 a
"$REFERENCE" reshape "$work/a.npy" 64,128 "$work/c.npy"
"$REFERENCE" numbers i4 3,0,0,0,0,0,2,1,-1 "$work/i.npy"
"$REFERENCE" reshape "$work/i.npy" 3,3 "$work/j.npy"
"$REFERENCE" numbers i4 0,5,5,38 "$work/k.npy"
case_ examples/paged.tile cache="$work/a.npy" table="$work/j.npy" offs="$work/k.npy" out="bf16[38,128]:$work/b.npy" &&
    rows c b "$(seq -s , 48 52),$(seq -s , 32 47),$(seq -s , 16 31),-1"
for widths in 4,8,12 68,4,200 64,128,64; do
    a=${widths%%,*} b=${widths#*,} c=${widths##*,}
    b=${b%,*}
    make f4 "70,$a" a
    make f4 "70,$b" b
    make f4 "70,$c" c
    case_ examples/concat.tile a="$work/a.npy" b="$work/b.npy" c="$work/c.npy" out="f32[70,$((a + b + c))]:$work/d.npy" &&
        block a d 0,0 "70,$a" 0,0 && block b d 0,0 "70,$b" "0,$a" && block c d 0,0 "70,$c" "0,$((a + b))"
done
# An image of 9 x 33 with its halo of 2, reflected, and tiles of that.
make f4 9,33 a
"$REFERENCE" numbers i4 "2,1,$(seq -s , 0 8),7,6" "$work/i.npy"
"$REFERENCE" numbers i4 "2,1,$(seq -s , 0 32),31,30" "$work/j.npy"
"$REFERENCE" take "$work/a.npy" "$work/i.npy" 13 "$work/b.npy" && "$REFERENCE" turn "$work/b.npy" "$work/c.npy" &&
    "$REFERENCE" take "$work/c.npy" "$work/j.npy" 37 "$work/b.npy" && "$REFERENCE" turn "$work/b.npy" "$work/c.npy"
case_ examples/reflect.tile -D R=2 img="$work/a.npy" out="f32[2,2,12,36]:$work/b.npy" && patches c b 8,32 0,0
for n in 4,20 2,1024 8,3000; do
    make u4 "$n" a
    case_ examples/all_gather.tile -D "C=${n%,*}" x="$work/a.npy" out="u32[${n%,*},$n]:$work/b.npy" &&
        map a b 0 0 "0,${n#*,},1" "${n%,*},$n"
done
for shape in 1,8 64,128 130,264 $(many 500,1032 130,264); do
    rows=${shape%,*} columns=${shape#*,}
    make u2 "$shape" a
    make u2 "64,$columns" b
    case_ examples/prefetch.tile a="$work/a.npy" b="$work/b.npy" out="bf16[$shape]:$work/c.npy" out2="bf16[$shape]:$work/d.npy" &&
        same a c && periodic b d
done
for shape in 1,8 64,64 65,72 130,200; do
    for c in 1 2 4 8 16; do
        make f2 "$shape" a
        case_ examples/broadcast.tile -D broadcast.C=$c w="$work/a.npy" out="f16[16,$shape]:$work/b.npy" && periodic a b
    done
done
for shape in 4,4 4,1020 4,1024 4,1028 2,5000 8,300 16,2052; do
    c=${shape%,*} n=${shape#*,}
    make u4 "$shape" a
    for program in examples/ring.tile:src:out:ring $h/cluster/peer_ring.tile:x:y:peer_ring; do
        names=${program#*:}
        names=${names%:*}
        case_ "${program%%:*}:${program##*:}" -D "${program##*:}.C=$c" "${names%:*}=$work/a.npy" "${names#*:}=u32[$shape]:$work/b.npy" &&
            block a b 0,0 $((c - 1)),$n 1,0 && block a b $((c - 1)),0 1,$n 0,0
    done
done
for n in 4 64 68 200; do
    make u4 "32,$n" a
    case_ $h/cluster/neighbours.tile x="$work/a.npy" y="u32[32,$n]:$work/b.npy" z="u32[32,$n]:$work/c.npy" &&
        block a b 0,0 31,$n 1,0 && block a c 1,0 31,$n 0,0
done
make f4 4,1,1024 a
case_ $h/cluster/own_turns.tile:sent x="$work/a.npy" y="f32[4,4,1024]:$work/b.npy" &&
    for r in 1,0,3 2,0,0 2,1,0 3,0,1 3,2,1; do block a b ${r##*,},0,0 1,1,1024 ${r%,*},0; done
for n in 4 256 1028 5000; do
    make u4 "2,$n" a
    case_ $h/cluster/peer_ring.tile:exchange x="$work/a.npy" y="u32[2,$n]:$work/b.npy" &&
        block a b 0,0 1,$n 1,0 && block a b 1,0 1,$n 0,0
done
for n in 0 3 8 $(many 4000 90); do
    make f4 "1,$n,32" a
    case_ $h/cluster/mask_in_step.tile x="$work/a.npy" y="f32[4,$n,32]:$work/b.npy" && rows a b 0,0,0,0
done
for n in 1 2 $(few 300 20); do
    make f4 "$n,2,8,64" a
    case_ $h/cluster/known.tile:known x="$work/a.npy" y="f32[$n,2,8,64]:$work/b.npy" n="$n" && affine a b 0 0,1,0,0 1,-1,1,1
    constant f4 "$n,1,8,64" 1077936128 three
    for turns in 0 1 3; do
        case_ $h/cluster/known.tile:alone x="$work/a.npy" y="f32[$n,2,8,64]:$work/b.npy" n="$turns" && block a b 0,1,0,0 "$n,1,8,64" 0,1,0,0 &&
            if [ $turns = 0 ]; then same a b; else block three b 0,0,0,0 "$n,1,8,64" 0,0,0,0; fi
    done
done
for n in 100 $(many 40000 1100); do
    make f4 "4,$n,64" a
    case_ $h/cluster/sent_fits.tile x="$work/a.npy" y="f32[4,$n,64]:$work/b.npy" && block a b 0,0,0 "1,$n,64" 1,0,0 && block a b 3,0,0 "1,$n,64" 2,0,0
done
for n in 0 4 256 300 $(few 5000 600); do
    make u4 "2,$n" a
    case_ $h/cluster/by_rank.tile:swap x="$work/a.npy" y="u32[2,$n]:$work/b.npy" && rows a b 1,0
    make u4 "1,$n" a
    case_ $h/cluster/rank_sends.tile:one_way x="$work/a.npy" y="u32[1,$n]:$work/b.npy" && same a b
    make u4 "4,$n" a
    if case_ $h/cluster/rank_shifts.tile:shifts x="$work/a.npy" y="u32[12,$n]:$work/b.npy"; then
        for r in 0 1 2 3; do
            for j in 0 1 2; do block a b $(((r + 3 - j) % 4)),0 1,$n $((3 * r + j)),0; done
        done
    fi
    case_ $h/cluster/rank_sends.tile:collect x="$work/a.npy" y="u32[3,$n]:$work/b.npy" && block a b 1,0 3,$n 0,0
    small u32 $n 0 z
    case_ $h/cluster/rank_greatest.tile:greatest x="$work/a.npy" y="u32[$n]:$work/b.npy" && reduction max u32 a z b
    case_ $h/cluster/rank_sums.tile:of_nobody x="$work/a.npy" y="u32[1,$n]:$work/b.npy" && block a b 2,0 1,$n 0,0
    for rank in 0 3; do
        case_ $h/cluster/rank_sums.tile:sums x="$work/a.npy" y="u32[$n]:$work/b.npy" n=$rank && reduction add u32 a z b
    done
    make f4 "1,1,$n,64" a
    constant i4 4 4 four
    case_ $h/cluster/own_turns.tile:stored x="$work/a.npy" y="f32[4,4,$n,64]:$work/b.npy" &&
        for r in 1,0 2,0 2,1 3,0 3,1 3,2; do block a b 0,0,0,0 "1,1,$n,64" $r,0,0; done
    case_ $h/cluster/own_turns.tile:counted x="$work/a.npy" n="$work/four.npy" y="f32[4,4,$n,64]:$work/b.npy" &&
        for r in 0 5 10 15; do block a b 0,0,0,0 "1,1,$n,64" $((r / 4)),$((r % 4)),0,0; done
    make f4 "4,$n,64" a
    case_ $h/cluster/own_turns.tile:scattered x="$work/a.npy" y="f32[4,$n,64]:$work/b.npy" && same a b
    make f4 "$n,64" a
    for kernel in halves gathered; do
        case_ $h/cluster/by_rank.tile:$kernel x="$work/a.npy" y="f32[4,$n,64]:$work/b.npy" && periodic a b
    done
done
for shape in 1,8 32,64 33,72 $(many 300,520 100,200); do
    make u2 "$shape" a
    for kernel in along_x:2 along_y:2 all:4; do
        case_ $h/cluster/multicast.tile:${kernel%:*} x="$work/a.npy" y="u16[${kernel#*:},$shape]:$work/b.npy" && periodic a b
    done
    make u2 "${shape%,*},512" a
    case_ $h/cluster/multicast.tile:rows x="$work/a.npy" y="u16[2,${shape%,*},512]:$work/b.npy" && periodic a b
done
for sizes in 1,1,8 128,128,64 129,127,72 $(many 600,500,520 260,130,200); do
    m=${sizes%%,*} k=${sizes##*,} n=${sizes#*,}
    n=${n%,*}
    make u2 "$m,$k" a
    make u2 "$n,$k" b
    for c in 1,1 2,1 1,2 2,2 4,1; do
        case_ examples/gemm_io.tile -D gemm_io.CX=${c%,*} -D gemm_io.CY=${c#*,} A="$work/a.npy" B="$work/b.npy" \
            oa="bf16[$(((n + 127) / 128)),$m,$k]:$work/c.npy" ob="bf16[$(((m + 127) / 128)),$n,$k]:$work/d.npy" &&
            periodic a c && periodic b d
    done
done

# ---- work by threads ----
for shape in 16,16 128,128 144,112 $(many 528,272 208,144); do
    rows=${shape%,*} columns=${shape#*,}
    for type in bf16:u2:128 f32:f4:64 u8:u1:128 f64:f8:64 u8:u1:64 bf16:u2:64; do
        t=${type%%:*} b=${type##*:} np=${type#*:}
        [ $t$b = u864 ] && continue # 64 bytes do not fill the span
        make "${np%:*}" "$shape" a
        case_ examples/transpose.tile -D transpose.T=$t -D transpose.B=$b src="$work/a.npy" dst="$t[$columns,$rows]:$work/b.npy" &&
            map a b 0 0 1,$columns $columns,$rows
    done
    make f4 "$shape" a
    case_ $h/threads/transpose.tile:words x="$work/a.npy" y="f32[$columns,$rows]:$work/b.npy" && map a b 0 0 1,$columns $columns,$rows
    for type in u16:u2 u8:u1 f32:f4 u64:u8; do
        make "${type#*:}" "$shape" a
        case_ $h/threads/transpose.tile:plain -D plain.T=${type%:*} x="$work/a.npy" y="${type%:*}[$columns,$rows]:$work/b.npy" &&
            map a b 0 0 1,$columns $columns,$rows
    done
    for type in bf16:u2:32 bf16:u2:64 f32:f4:32 u8:u1:64 f64:f8:16; do
        t=${type%%:*} np=${type#*:}
        make "${np%:*}" "$shape" a
        case_ $h/threads/one_warp.tile:once -D once.T=$t -D once.B=${type##*:} x="$work/a.npy" y="$t[$columns,$rows]:$work/b.npy" &&
            map a b 0 0 1,$columns $columns,$rows
    done
done
for shape in 0,16 1,16 16,64 17,48 65,80 $(many 300,528 50,144); do
    make u2 "$shape" a
    case_ examples/convert.tile x="$work/a.npy" y="f32[$shape]:$work/b.npy" && convert bf16 f32 a b 0
    small f32 "$shape" 200 w
    case_ $h/threads/one_warp.tile:two_sides x="$work/a.npy" w="$work/w.npy" y="f32[$shape]:$work/b.npy" z="bf16[$shape]:$work/c.npy" &&
        convert bf16 f32 a b 0 && convert f32 bf16 w c 0
    small s32 "$shape" 100000 a
    case_ $h/threads/convert_sat.tile:wrap x="$work/a.npy" y="s8[$shape]:$work/b.npy" && convert s32 s8 a b 0
    case_ $h/threads/convert_sat.tile:clamp x="$work/a.npy" y="u8[$shape]:$work/b.npy" && convert s32 u8 a b 1
    small f32 "$shape" 100000 a
    case_ $h/threads/convert_sat.tile:to_integer x="$work/a.npy" y="s16[$shape]:$work/b.npy" && convert f32 s16 a b 0
    small f32 "$shape" 1000 b
    case_ $h/threads/add.tile:pair a="$work/a.npy" b="$work/b.npy" y="f32[$shape]:$work/c.npy" && sum a b c
    make f4 "$shape" a
    constant u4 "$shape" 0x40200000 b
    case_ $h/threads/fill.tile:constant y="$work/a.npy:$work/c.npy" && reduction and u32 b b c
    small f32 "$shape" 256 a
    rows=${shape%,*} columns=${shape#*,}
    if [ $((rows % 8)) = 0 ]; then
        case_ $h/threads/two_steps.tile x="$work/a.npy" y="bf16[$columns,$rows]:$work/b.npy" &&
            "$REFERENCE" turn "$work/b.npy" "$work/c.npy" && convert f32 bf16 a c 0
    fi
done
for s in 0 1 2 3 20; do
    small f32 $s,37,68 1000 a
    constant f4 37,68 0 b
    case_ $h/threads/add.tile:along x="$work/a.npy" y="f32[37,68]:$work/c.npy" && sum a b c
done
for s in 0 1 3 10; do
    small f32 $s,50,32 1000 a
    small f32 50,32 1000 b
    case_ $h/threads/accumulate.tile x="$work/a.npy" w="$work/b.npy" y="f32[50,32]:$work/c.npy" z="f32[50,32]:$work/d.npy" &&
        sum a b c && sum a b d
done
for rows in 1 16 100; do
    make u4 $rows,32 a
    constant u4 $rows,64 7 b
    case_ $h/threads/fill.tile:border x="$work/a.npy" y="u32[$rows,64]:$work/c.npy" && block a c 0,0 $rows,32 0,16 &&
        block b c 0,0 $rows,16 0,0 && constant u4 $rows,64 9 b && block b c 0,0 $rows,16 0,48
done

# ---- tiles that are written again ----
for rows in 1 16 50 $(many 700 120); do
    small f32 $rows,32 1000 a
    small f32 $rows,32 1000 b
    case_ $h/pipeline/written_again.tile:counted x="$work/a.npy" y="f32[$rows,32]:$work/d.npy" && same a d
    constant u4 $rows,32 0x40400000 b
    case_ $h/pipeline/written_again.tile:again y="f32[$rows,32]:$work/c.npy" z="f32[$rows,32]:$work/d.npy" && reduction and u32 b b d &&
        if [ $rows -gt 16 ]; then block d c 16,0 $((rows - 16)),32 16,0; fi
done

# ---- roles by hand ----
for depth in 1 2 3 4; do
    for rows in 1 8 9 17 33 $(many 1000 100); do
        make f4 $rows,64 a
        make f4 $rows,64 b
        case_ $h/roles/halves.tile -D halves.S=$depth a="$work/a.npy" b="$work/b.npy" y="f32[$rows,128]:$work/c.npy" &&
            block a c 0,0 $rows,64 0,0 && block b c 0,0 $rows,64 0,64
        make u4 $rows,64 a
        if [ $depth -gt 1 ]; then
            case_ $h/roles/late.tile -D late.S=$depth x="$work/a.npy" y="u32[$rows,64]:$work/b.npy" && same a b
        fi
    done
done
for first in 0 1 2 5 9; do # slots are counted from there
    for rows in 150 $((first * 16 + 16)) $(many 1000 400); do
        make f4 $rows,64 a
        from=$((first * 16)) left=$((rows - first * 16))
        [ $left -gt 0 ] || continue
        case_ $h/roles/begun.tile:index x="$work/a.npy" y="f32[$rows,64]:$work/b.npy" first=$first && block a b $from,0 $left,64 $from,0
        case_ $h/roles/begun.tile:counter x="$work/a.npy" y="f32[$rows,64]:$work/b.npy" first=$first last=$(((rows + 15) / 16)) && block a b $from,0 $left,64 $from,0
        case_ $h/roles/begun.tile:running x="$work/a.npy" y="f32[$rows,64]:$work/b.npy" first=$first last=$(((rows + 15) / 16)) && block a b $from,0 $left,64 $from,0
        "$REFERENCE" numbers i4 $((2 * first - 1)),$((2 * ((rows + 15) / 16))) "$work/n.npy"
        case_ $h/roles/begun.tile:data x="$work/a.npy" rows="$work/n.npy" y="f32[$rows,64]:$work/b.npy" && block a b $from,0 $left,64 $from,0
    done
done
for rows in 0 16 37 200; do
    make f4 $rows,64 a
    for m in 0 1 5 13; do
        case_ $h/roles/split.tile:least x="$work/a.npy" y="f32[$rows,64]:$work/b.npy" m=$m && same a b
        n=$(((rows + 15) / 16))
        [ $m -le $n ] && case_ $h/roles/split.tile:given x="$work/a.npy" y="f32[$rows,64]:$work/b.npy" n=$n m=$m && same a b
    done
done
for rows in 7 8 50; do
    make f4 $rows,64 a
    case_ $h/roles/split.tile:ahead x="$work/a.npy" y="f32[$rows,64]:$work/b.npy" && same a b
done
make f4 96,64 a
refuse_ 2 'E1101.*n >= m' $h/roles/split.tile:given x="$work/a.npy" y="f32[96,64]:$work/b.npy" n=5 m=6
case_ $h/roles/split.tile:checked x="$work/a.npy" y="f32[96,64]:$work/b.npy" n=6 && block a b 80,0 16,64 80,0
refuse_ 2 'E1101.*n % 14 != 13' $h/roles/split.tile:checked x="$work/a.npy" y="f32[96,64]:$work/b.npy" n=13
for k in turned once behind beside far; do
    m=
    [ $k = once ] && m=m=1
    refuse_ 2 'E1143.*n < 1000001' $h/roles/uses.tile:$k $m n=1000003
    case_ $h/roles/uses.tile:$k $m n=5
done
make f4 256,64 a
case_ $h/roles/constant_pairs.tile x="$work/a.npy" y="f32[256,64]:$work/b.npy" && same a b
for shape in 0,3 1,1 7,2 $(many 50,3 9,3); do
    make f4 $shape,16,64 a
    case_ $h/roles/slot_of_index.tile:turns x="$work/a.npy" y="f32[$shape,16,64]:$work/b.npy" && same a b
done
make u4 8,64 a
case_ $h/roles/one_warp.tile x="$work/a.npy" y="u32[8,64]:$work/b.npy" && same a b

for rows in 0 1 16 17 33 49 $(many 1000 100); do
    make f4 $rows,64 a
    for kernel in every_other ends; do
        case_ $h/roles/conditions.tile:$kernel x="$work/a.npy" y="f32[$rows,64]:$work/b.npy" && same a b
    done
    for kernel in last beyond tiles alone; do
        case_ $h/roles/wrapped.tile:$kernel x="$work/a.npy" y="f32[$rows,64]:$work/b.npy" && same a b
    done
    for kernel in last counted two nest; do
        case_ $h/roles/remembered.tile:$kernel x="$work/a.npy" y="f32[$rows,64]:$work/b.npy" && same a b
    done
    [ $rows -le 80 ] && case_ $h/roles/slot_of_index.tile:once x="$work/a.npy" y="f32[$rows,64]:$work/b.npy" && same a b
    for kernel in one pairs; do
        case_ $h/roles/twice.tile:$kernel x="$work/a.npy" y="f32[$rows,64]:$work/b.npy" && same a b
    done
    for kernel in ping_pong three loads; do
        case_ $h/roles/in_turns.tile:$kernel x="$work/a.npy" y="f32[$rows,64]:$work/b.npy" && same a b
    done
    case_ $h/roles/cluster.tile:cast x="$work/a.npy" y="f32[2,$rows,64]:$work/b.npy" && periodic a b
    case_ $h/roles/masks.tile:masks x="$work/a.npy" y="f32[4,$rows,64]:$work/b.npy" && periodic a b
    make f4 2,$rows,64 a
    case_ $h/roles/masks.tile:swap x="$work/a.npy" y="f32[2,$rows,64]:$work/b.npy" && rows a b 1,0
done
make f4 16,64 a
make f4 4,16,64 b
for mask in 0 1 2 4 8 5 10 13 15; do
    constant i4 1 $mask m
    case_ $h/roles/masks_given.tile:given x="$work/a.npy" y="$work/b.npy:$work/c.npy" m=$mask && by_mask a m b c
done
for mask in -1 16; do
    refuse_ 2 "E1142.*m <= 15" $h/roles/masks_given.tile:given x="$work/a.npy" y="f32[4,16,64]:$work/b.npy" m=$mask
done
make f4 64 a
for n in 3 4; do
    case_ $h/roles/conditions.tile:uniform x="$work/a.npy" y="f32[64]:$work/b.npy" n=$n && { [ $n = 3 ] || same a b; }
done
for n in 4 256 1028 5000; do
    make u4 2,$n a
    for kernel in exchange into_peer; do
        case_ $h/roles/cluster.tile:$kernel x="$work/a.npy" y="u32[2,$n]:$work/b.npy" && rows a b 1,0
    done
    make u4 4,$n a
    case_ $h/roles/to_first.tile:collect x="$work/a.npy" y="u32[3,$n]:$work/b.npy" && block a b 1,0 3,$n 0,0
    make u4 3,$n a
    small u32 $n 0 z
    case_ $h/roles/to_first.tile:sums x="$work/a.npy" y="u32[$n]:$work/b.npy" && reduction add u32 a z b
done
for rows in 64 128 192 $(many 1024 256); do
    make f2 $rows,64 a
    case_ $h/roles/threads.tile:turned x="$work/a.npy" y="f16[64,$rows]:$work/b.npy" && map a b 0 0 1,64 64,$rows
    make u2 $rows,64 a
    case_ $h/roles/pipeline.tile src="$work/a.npy" dst="bf16[$rows,64]:$work/b.npy" && same a b
    "$REFERENCE" small f32 "1,$rows,64" 9 "$rows" "$work/p.npy"
    "$REFERENCE" small f32 "$rows,64" 9 "$rows" "$work/q.npy" # the same numbers: each of them twice
    case_ $h/roles/threads.tile:three x="$work/q.npy" y="f32[$rows,64]:$work/b.npy" && sum p q b
done
make f4 64,64 a
small s32 64 1 i
small f32 64,64 0 z
case_ $h/roles/data.tile x="$work/a.npy" y="$work/z.npy:$work/b.npy" idx="$work/i.npy" && select_ a z i b 16 64 2

for n in 1 127 300; do
    make f2 $n,64 a
    case_ $h/cluster/sixteen.tile:shared_out w="$work/a.npy" y="f16[32,$n,64]:$work/b.npy" && periodic a b
    make u4 16,$((n * 4)) a
    case_ $h/cluster/sixteen.tile:ring x="$work/a.npy" y="u32[16,$((n * 4))]:$work/b.npy" &&
        rows a b 15,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14
done

for n in 1 8 17 100; do
    make u4 4,$n,64 a
    case_ $h/cluster/peer_phases.tile x="$work/a.npy" y="u32[4,$n,64]:$work/b.npy" z="u32[4,$n,64]:$work/c.npy" &&
        rows a b 3,0,1,2 && same a c
done

# ---- small fills, tiles of zeros, slices, descriptors ----
f=$h/cluster/peer_fills.tile
for n in 192 $(many 1920 384); do
    case_ $f:spread y="s32[$n,64]:$work/b.npy" v=-5 && of_fills spread "$work/b.npy" -5
    make u4 $n,64 a
    case_ $f:sums x="$work/a.npy" y="u32[$n,64]:$work/b.npy" v=4000000000 && of_fills added "$work/a.npy" "$work/b.npy" 4000000000
done
case_ $f:told y="f64[8,4,16]:$work/b.npy" && of_fills told "$work/b.npy" 8
constant u8 1,16 0 z
case_ $f:by_hand y="u64[4,16]:$work/b.npy" z="u64[4,16]:$work/c.npy" v=0 && periodic z c
for n in 0 1 2 3 9; do
    case_ $f:ring_by_hand y="s32[4,9,32]:$work/b.npy" n=$n && of_fills turns "$work/b.npy" $n
done
case $device in sim*) # for sm_100a
    make f4 16,64 v
    for n in 1 32 100 $(many 1000 200); do
        case_ $h/fill/zeros.tile:border v="$work/v.npy" y="f32[$n,64]:$work/b.npy" && of_fills framed "$work/v.npy" "$work/b.npy"
    done
    for n in 0 1 2 9; do
        make u2 130,64 a
        case_ $h/fill/zeros.tile:some x="$work/a.npy" y="u16[130,64]:$work/b.npy" n=$n && of_fills first "$work/a.npy" "$work/b.npy" $((n * 64))
    done
    case_ $h/fill/zeros.tile:parts y="u32[96,64]:$work/b.npy" && of_fills striped "$work/b.npy"
    for n in 16 4096 10000 $(many 1000000 30000); do
        make u1 $n a
        make u1 $n z
        case_ examples/cp_mask.tile src="$work/a.npy" dst="$work/z.npy:$work/b.npy" &&
            of_fills some_bytes "$work/a.npy" "$work/z.npy" "$work/b.npy" 0x3333
    done
    m=$h/movement/bytes_mask.tile
    for shape in 1,8 45,72 64,128; do
        make u2 $shape a
        make u2 $shape z
        case_ $m:rows x="$work/a.npy" y="$work/z.npy:$work/b.npy" && of_fills some_bytes "$work/a.npy" "$work/z.npy" "$work/b.npy" 0x00ff
    done
    make u4 50,64 a
    make u4 50,64 z
    for mask in 0 65535 0x8421; do
        case_ $m:argument x="$work/a.npy" y="$work/z.npy:$work/b.npy" m=$((mask)) &&
            of_fills some_bytes "$work/a.npy" "$work/z.npy" "$work/b.npy" $mask
    done
    refuse_ 2 'E1150.*0 <= m <= 65535' $m:argument x="$work/a.npy" y="$work/z.npy:$work/b.npy" m=65536
    make u1 16,256 a
    make u1 16,256 z
    make i4 16 i
    case_ $m:by_index x="$work/a.npy" y="$work/z.npy:$work/b.npy" && of_fills a_byte_each "$work/a.npy" "$work/z.npy" "$work/b.npy"
    case_ $m:by_data x="$work/a.npy" which="$work/i.npy" y="$work/z.npy:$work/b.npy" &&
        of_fills masks "$work/a.npy" "$work/z.npy" "$work/b.npy" "$work/i.npy"
    p=$h/types/packed_moves.tile # as bytes: two elements of 4 bits in each, four of 6 bits in three
    for kernel in nibbles_panels:b4a8:45,1024:45,512 nibbles_rows:b4a8:33,96:33,48; do
        rest=${kernel#*:}
        shape=${rest#*:}
        make u1 "${shape#*:}" a
        case_ $p:"${kernel%%:*}" x="$work/a.npy" y="${rest%%:*}[${shape%:*}]:$work/b.npy" && same a b
    done
    for kernel in six_bits_atom:40,256 six_bits_panels:65,512 six_bits_rows:33,128; do
        shape=${kernel#*:}
        make u1 "$shape" a
        case_ $p:"${kernel%:*}" x="$work/a.npy" y="b6a16[$shape]:$work/b.npy" && of_fills six_bits "$work/a.npy" "$work/b.npy"
    done ;;
esac
s=$h/layouts/interleave.tile
for shape in 2,3,5,20,8 1,1,4,16,8 1,2,9,1,8; do
    make f2 $shape a
    case_ $s:copy8 x="$work/a.npy" y="f16[$shape]:$work/b.npy" && same a b
done
for shape in 2,1,3,33,16 1,2,4,32,16; do
    make u1 $shape a
    case_ $s:strided x="$work/a.npy" y="u8[$shape]:$work/b.npy" && same a b
done
for shape in 1,2,6,5 2,1,14,20; do
    make u2 $shape,16 a
    rest=${shape#*,*,}
    case_ $s:halo16 x="$work/a.npy" y="bf16[${shape%,*,*},$((${rest%,*} + 2)),$((${rest#*,} + 3)),16]:$work/b.npy" &&
        of_fills bordered "$work/a.npy" "$work/b.npy"
done
for shape in 1,2,40 2,1,16; do
    make u1 $shape,32 a
    case_ $s:twice x="$work/a.npy" y="u8[$shape,32]:$work/b.npy" z="u8[0,${shape#*,},32]:$work/c.npy" && same a b
    case_ $s:twice x="$work/a.npy" y="u8[$shape,32]:$work/c.npy" z="u8[$shape,32]:$work/b.npy" && same a b
done
for shape in 1,1,1,1 2,3,33,40; do
    make f4 $shape,4 a
    rest=${shape#*,*,}
    case_ $s:halve x="$work/a.npy" y="f32[${shape%,*,*},$(((${rest%,*} + 1) / 2)),$(((${rest#*,} + 1) / 2)),4]:$work/b.npy" &&
        of_fills halves "$work/a.npy" "$work/b.npy"
done
for shape in 1,1,16 2,3,33; do
    small f32 $shape,8 100 a
    small f32 16,8 100 v
    case_ $s:add_bias x="$work/a.npy" b="$work/v.npy" y="f32[$shape,8]:$work/b.npy" && of_fills biased "$work/a.npy" "$work/v.npy" "$work/b.npy"
    case_ $s:from_zero x="$work/a.npy" y="$work/a.npy:$work/b.npy" && of_fills more "$work/a.npy" 1.5 "$work/b.npy"
done
for shape in 1,8 100,520; do
    make u2 $shape a
    case_ $h/maps/descriptors.tile:copy src="$work/a.npy" dst="bf16[$shape]:$work/b.npy" && same a b
done
make u1 100,528 a
case_ $h/maps/descriptors.tile:turns src="$work/a.npy" dst="u8[100,528]:$work/b.npy" && same a b

# ---- refused launches, and sizes that leave nothing to do ----
make u2 65,250 a
refuse_ 2 'E1124.*N = 250' examples/copy.tile src="$work/a.npy" dst="bf16[65,250]:$work/b.npy"
make u2 64,256 a
refuse_ 2 'E1104.*M is 64' examples/copy.tile src="$work/a.npy" dst="bf16[65,256]:$work/b.npy"
make u1 1000 a
refuse_ 2 'E1101.*L % 16 == 0 .L = 1000' examples/copy_bulk.tile src="$work/a.npy" dst="u8[1000]:$work/b.npy"
make u2 130,129 a
refuse_ 2 'E1124.*M = 130' examples/transpose.tile src="$work/a.npy" dst="bf16[129,130]:$work/b.npy"
make f4 5,3 a
refuse_ 2 'E0415.*pitch 12 ' examples/halo.tile x="$work/a.npy" y="f32[1,1,34,72]:$work/b.npy"
refuse_ 2 'E1101.*TY = 2' examples/halo.tile x="$work/a.npy" y="f32[2,1,34,72]:$work/b.npy"
make u4 4,6 a
refuse_ 2 'E1101.*L = 6' examples/ring.tile src="$work/a.npy" out="u32[4,6]:$work/b.npy"
make f2 9,8 a
refuse_ 2 'E0905.*grid.x is 6' examples/broadcast.tile w="$work/a.npy" out="f16[6,9,8]:$work/b.npy"
make u2 9,8 a
make u2 9,8 d
refuse_ 2 'E1101.*TN = 2' examples/gemm_io.tile A="$work/a.npy" B="$work/d.npy" oa="bf16[2,9,8]:$work/b.npy" ob="bf16[1,9,8]:$work/c.npy"
make u4 32,32 a
refuse_ 2 'E1101.*n >= 0' $h/pipeline/stages.tile x="$work/a.npy" y="u32[32,32]:$work/b.npy" n=-1
refuse_ 2 'E1101.*n <= 1000' $h/pipeline/stages.tile x="$work/a.npy" y="u32[32,32]:$work/b.npy" n=99999999999
for shape in 0,3000000000 3000000000,0; do # beyond 2^31, of nothing
    make u2 $shape a
    case_ examples/copy.tile src="$work/a.npy" dst="bf16[$shape]:$work/b.npy" && same a b
    case_ examples/hand_ring.tile:hand_ring src="$work/a.npy" dst="bf16[$shape]:$work/b.npy" && same a b
done
make u2 128,0 a
case_ examples/transpose.tile src="$work/a.npy" dst="bf16[0,128]:$work/b.npy"
make u2 0,4096 a # a table without rows: every row is outside
index 5 9 i
case_ examples/gather_rows.tile table="$work/a.npy" idx="$work/i.npy" out="bf16[9,4096]:$work/b.npy" && gather a i b
small f32 4,64 10 a # nowhere to add to
index 5 4 i
small f32 0,64 10 b
case_ $h/reduce/scatter.tile:bulk_add x="$work/a.npy" idx="$work/i.npy" acc="$work/b.npy:$work/c.npy" && same b c
make f4 12,64 a # what is trusted is not so: the simulator sees the two stores meet
make f4 20,64 d
constant i4 12 3 i
case $device in
sim*) refuse_ 1 'E13(15|26)' $h/rows/listed.tile:twice table="$work/a.npy" idx="$work/i.npy" to="$work/i.npy" out="$work/d.npy:$work/b.npy" ;;
esac

# ---- what is apart by conditions, facts and steps; stores that wait for loads ----
d=$h/independence
numbers_of i4 5,2,0,3,1,4 o
reshape o 3,2 i
make u2 3,1024 a
case_ $d/distinct_places.tile:dispatch x="$work/a.npy" slot="$work/i.npy" out="bf16[6,1024]:$work/b.npy" && rows a b 1,2,0,1,2,0
numbers_of i4 7,2,0,3,1,4,6,5 o
reshape o 2,4 i
make f4 8,64 a
reshape a 2,4,64 c
case_ $d/distinct_places.tile:by_four x="$work/c.npy" slot="$work/i.npy" out="f32[8,64]:$work/b.npy" && rows a b 2,4,1,3,5,7,6,0
for n in 2 10 $(many '64 130' 24); do
    list=$(c= i=0; while [ $i -lt "$n" ]; do printf '%s%d,%d' "$c" $((i + 1)) $i; c=,; i=$((i + 2)); done)
    make f4 "$n,1024" a
    case_ $d/swapped.tile:rows x="$work/a.npy:$work/b.npy" && rows a b "$list"
    halves=$(c=; for first in 0 1; do i=$first; while [ $i -lt "$n" ]; do printf '%s%d' "$c" $i; c=,; i=$((i + 2)); done; done)
    make f4 "$n,64" a
    case_ $d/conditions.tile:halves x="$work/a.npy" y="f32[$n,64]:$work/b.npy" && rows a b "$halves"
    case_ $d/conditions.tile:last_stores x="$work/a.npy" y="f32[$n,64]:$work/b.npy" && same a b
    for groups in 1 2; do
        make f4 "$((n / groups)),64" k
        for kernel in heads in_turn; do
            case_ $d/tied.tile:$kernel x="$work/a.npy" k="$work/k.npy" y="f32[$n,64]:$work/b.npy" R=$groups && same a b
        done
    done
done
for n in 1 64 $(many '65 1000' 200); do
    make f4 "$n,64" a
    make f4 "$n,64" b
    case_ $d/swapped.tile:used_later x="$work/a.npy:$work/c.npy" y="$work/b.npy" z="f32[$n,64]:$work/e.npy" && same b c && same a e
    case_ $d/swapped.tile:sometimes x="$work/a.npy:$work/c.npy" y="$work/b.npy" z="f32[$n,64]:$work/e.npy" n=0 && same b c && same a e
    case_ $d/swapped.tile:sometimes x="$work/a.npy:$work/c.npy" y="$work/b.npy" z="f32[$n,64]:$work/e.npy" n=9999 && same a c && same a e
    make u8 "$n,16" f
    make u8 "$n,16" g
    for kernel in to_peer to_mask; do
        case_ $d/sent.tile:$kernel x="$work/f.npy" y="$work/g.npy:$work/b.npy" z="u64[$n,16]:$work/c.npy" && same f b && same g c
    done
    case_ $d/conditions.tile:first_iteration x="$work/a.npy" y="f32[$n,64]:$work/b.npy" z="f32[64,64]:$work/c.npy" &&
        same a b && affine a c 0 0,0 1,1
    make f4 "$n,16" a
    for kernel in teams turns; do
        case_ $d/stepped.tile:$kernel x="$work/a.npy" y="f32[$((2 * n)),16]:$work/b.npy" && affine b a 0 0,0 2,1 && affine b a 0 1,0 2,1
    done
    case_ $d/stepped.tile:thirds x="$work/a.npy" y="f32[$((3 * n)),16]:$work/b.npy" &&
        affine b a 0 0,0 3,1 && affine b a 0 1,0 3,1 && affine b a 0 2,0 3,1
done
constant i4 4,5,256 3 a
constant i4 5,256 12 b
case_ $d/conditions.tile:sums x="$work/a.npy" y="s32[5,256]:$work/c.npy" && same b c

# ---- steps in shared tiles ----
steps=tests/golden/threads/steps.tile
for shape in 1,4 16,64 33,68 $(many 130,260 40,132); do
    tall=${shape%,*} half=${shape#*,}
    make f4 "$tall,$((2 * half))" a
    case_ $steps:split x="$work/a.npy" re="f32[$shape]:$work/b.npy" im="f32[$shape]:$work/c.npy" && affine a b 0 0,0 1,2 && affine a c 0 0,1 1,2
    make f4 "$shape" b
    make f4 "$shape" c
    case_ $steps:join x="f32[$tall,$((2 * half))]:$work/a.npy" re="$work/b.npy" im="$work/c.npy" && affine a b 0 0,0 1,2 && affine a c 0 0,1 1,2
done
for third in 1 8 19 $(many 300 60); do
    make u1 $((3 * third)),48 a
    constant u1 "$third",16 9 nine
    case_ $steps:thirds x="$work/a.npy" y="u8[$third,16]:$work/b.npy" z="u8[$third,16]:$work/c.npy" && affine a b 0 2,1 3,3 && same nine c
done
make i4 64,64 a
case_ $steps:turned x="$work/a.npy" y="s32[64,64]:$work/b.npy" && map a b 0 0 1,64 64,64

# ---- parts that the launch places ----
for n in 0 2 3 9; do
    at=$(((n < 3 ? n : 3) * 2))
    make i4 16,16 a
    constant i4 2,16 7 seven
    case_ tests/golden/fill/by_launch.tile:parts x="$work/a.npy" y="s32[16,16]:$work/b.npy" n=$n && {
        block seven b 0,0 2,16 $at,0 && block seven b 0,0 2,16 $((at + 8)),0
        block a b 0,0 $at,16 0,0 && block a b $((at + 2)),0 6,16 $((at + 2)),0
    }
done
make i4 16,16 a
constant i4 1,8 7 seven
case_ tests/golden/fill/by_launch.tile:checked x="$work/a.npy" y="s32[16,16]:$work/b.npy" n=5 && block seven b 0,0 1,8 5,3 && block seven b 0,0 1,8 13,3 && block a b 0,0 5,16 0,0 && block a b 6,0 7,16 6,0
make u1 1,8,32 a
constant u1 8,32 1 one
case_ tests/golden/fill/by_launch.tile:never x="$work/a.npy" y="u8[8,32]:$work/b.npy" n=2 && same one b

# ---- fills by scalars ----
f=tests/golden/fill/scalars.tile
for n in 0 1 7 $(many 130 70); do
    for kind in bytes:u1:u8:16 halves:i2:s16:24 words:i4:s32: wide:i8:s64:6; do
        IFS=: read -r kernel dtype type width <<END
$kind
END
        make "$dtype" "$n" x
        case_ $f:"$kernel" x="$work/x.npy" y="$type[$n${width:+,$width}]:$work/y.npy" && map x y 0 0 "1${width:+,0}" "$n${width:+,$width}"
    done
done
numbers_of i4 3,-7,0,40,1 x
numbers_of i4 0,3,-4,-4,36,37 want
case_ $f:offsets counts="$work/x.npy" offs="s32[6]:$work/y.npy" && same want y
want=
for i in 0 1 2 3 4 5 6 7 8 9; do want=$want,$i,$i,$i,$i,$((3 * i - 5)),$((3 * i - 5)),9,9; done
numbers_of i4 "${want#,}" flat
reshape flat 10,8 want
constant i4 10,8 9 z
case_ $f:batched z="$work/z.npy" y="s32[10,8]:$work/y.npy" && same want y

# ---- branches that fill one tile ----
f=tests/golden/pipeline/filled_in_branches.tile
for rows in 1 33 $(many 1000 65); do
    for widths in 64,64,64 128,64,8 64,128,132; do
        IFS=, read -r left middle right <<END
$widths
END
        all=$((left + middle + right))
        make f4 "$rows,$left" a
        make f4 "$rows,$middle" b
        make f4 "$rows,$right" c
        for kernel in concat behind; do
            case_ $f:$kernel a="$work/a.npy" b="$work/b.npy" c="$work/c.npy" out="f32[$rows,$all]:$work/y.npy" && {
                block a y 0,0 "$rows,$left" 0,0 && block b y 0,0 "$rows,$middle" "0,$left" && block c y 0,0 "$rows,$right" "0,$((left + middle))"
            }
        done
    done
    make f4 "$rows,4" a
    case_ $f:concat a="$work/a.npy" b="$work/a.npy" c="$work/a.npy" out="f32[$rows,12]:$work/y.npy" && {
        block a y 0,0 "$rows,4" 0,0 && block a y 0,0 "$rows,4" 0,4 && block a y 0,0 "$rows,4" 0,8
    }
done
for n in 1 16 33 $(many 1000 97); do
    make f4 "$n,64" a
    for c in 0 1 100; do
        case_ tests/golden/kept/filled_in_either_branch.tile:either x="$work/a.npy" y="f32[$n,64]:$work/y.npy" c=$c && {
            past=$((c * 16 < n ? c * 16 : n))
            constant f4 "$n,64" 1073741824 two
            [ $past = 0 ] || block two y 0,0 "$past,64" 0,0
            [ $past = "$n" ] || block a y $past,0 "$((n - past)),64" $past,0
        }
    done
done
make u4 240,64 a
make u4 240,64 b
constant u4 32,64 7 seven
make u4 240,64 before
case_ $f:worked a="$work/a.npy" b="$work/b.npy" out="$work/before.npy:$work/y.npy" && {
    for i in 0 4; do
        block a y $((i * 32)),0 32,64 $((i * 32)),0 && block b y $((i * 32 + 32)),0 32,64 $((i * 32 + 32)),0
        block seven y 0,0 32,64 $((i * 32 + 64)),0
    done
    block before y 96,0 32,64 96,0 && block before y 224,0 16,64 224,0
}
make u4 100,200 x
make u4 100,200 z
case_ $f:crossed a="$work/x.npy" b="$work/z.npy" out="u32[100,200]:$work/y.npy" && {
    block x y 0,0 32,200 0,0 && block z y 32,0 32,200 32,0 && block x y 64,0 32,200 64,0 && block z y 96,0 4,200 96,0
}
case_ $f:counted a="$work/a.npy" b="$work/b.npy" out="u32[240,64]:$work/y.npy" && {
    block a y 0,0 64,64 0,0 && block b y 64,0 32,64 64,0 && block a y 96,0 64,64 96,0 && block b y 160,0 32,64 160,0 && block a y 192,0 48,64 192,0
}

# ---- a loop runs where its index is used ----
tied=tests/golden/independence/tied.tile
make f4 8,64 x
make f4 120,64 y
for n in 0 1 4; do
    case_ $tied:beyond x="$work/x.npy" y="$work/y.npy:$work/b.npy" z="f32[8,64]:$work/c.npy" k="u8[$n]" && {
        block y c 0,0 8,64 0,0 && block y b 0,0 $((8 * n)),64 0,0
        i=$n
        while [ $i -lt $((3 * n)) ]; do
            block x b 0,0 8,64 $((8 * i)),0
            i=$((i + 1))
        done
    }
done
constant f4 7,64 1065353216 one
for m in 1 3; do
    case_ $tied:beside_another x="$work/x.npy" z="f32[8,64]:$work/c.npy" y="f32[$((2 * m)),64]:$work/b.npy" m=$m n=2 && same x c && block one b 0,0 $((2 * m)),64 0,0
    case_ $tied:one_value x="$work/x.npy" y="f32[20,64]:$work/b.npy" n=$m && {
        i=0
        while [ $i -lt $m ]; do
            block x b $i,0 1,64 $((2 * m + 2 * i)),0
            i=$((i + 1))
        done
    }
done

# ---- what parts that meet say of the indices ----
meeting=tests/golden/independence/meeting.tile
make u4 80,16 a
case_ $meeting:all_digits x="$work/a.npy" y="u32[80,16]:$work/b.npy" && for i in 0 1 2 3 4 5 6 7 8 9; do block a b $((i * 8)),0 8,16 $(((i + 3) % 10 * 8)),0; done
make f4 64,64 a
case_ $meeting:pairs x="$work/a.npy:$work/c.npy" y="f32[64,64]:$work/b.npy" && same a c && for i in 0 1 2 3 4 5 6 7; do block a b $(((i ^ 1) * 8)),0 8,64 $((i * 8)),0; done
case_ $meeting:fours x="$work/a.npy" y="f32[64,64]:$work/b.npy" && for i in 0 1 2 3 4 5 6 7; do block a b $(((i ^ 3) * 8)),0 8,64 $((i * 8)),0; done
make f4 24,64 a
case_ $meeting:rotated x="$work/a.npy:$work/c.npy" y="f32[24,64]:$work/b.npy" T=3 && same a c && for i in 0 1 2; do block a b $(((i + 2) % 3 * 8)),0 8,64 $(((i + 2) % 3 * 8)),0; done
make f4 16,16 a
case_ $meeting:corner x="$work/a.npy" y="f32[48,48]:$work/b.npy" G=3 && for i in 0 16 32; do block a b 0,0 16,16 $i,0 && block a b 0,0 16,16 0,$i; done
for n in 2 3 5; do
    make i4 $n,4,24 a
    constant i4 4,24 9 nine
    constant i4 1,4,24 9 plane
    case_ $meeting:comes_round x="$work/a.npy" z="$work/nine.npy" y="s32[$n,$((4 * n)),24]:$work/b.npy" && {
        i=0
        while [ $i -lt $n ]; do
            block a b $i,0,0 1,4,24 $(((i + 1) % n)),0,0
            [ $i = 0 ] || block plane b 0,0,0 1,4,24 1,$((4 * i)),0
            i=$((i + 1))
        done
    }
done
make f4 5,60 a
case_ $meeting:first_row x="$work/a.npy" y="f32[5,60]:$work/b.npy" && same a b

# ---- numbers that several indices make; what conditions say of both ----
split=tests/golden/independence/numbers.tile
make u2 200,320 a
constant u4 1 1 count
case_ $split:rows x="$work/a.npy" y="bf16[200,320]:$work/b.npy" n=5 && same a b
case_ $split:groups x="$work/a.npy" y="bf16[200,320]:$work/b.npy" n=5 g=3 && same a b
case_ $split:pairs x="$work/a.npy" y="bf16[200,320]:$work/b.npy" n=5 && same a b
case_ $split:chunks x="$work/a.npy" y="bf16[200,320]:$work/b.npy" && same a b
case_ $split:roles_of_a_queue x="$work/a.npy" y="bf16[200,320]:$work/b.npy" && same a b
case_ $split:data x="$work/a.npy" y="bf16[200,320]:$work/b.npy" n=5 first=0 count="$work/count.npy" && same a b
make u2 200,1024 a
case_ $split:constant x="$work/a.npy" y="bf16[200,1024]:$work/b.npy" && same a b
case_ $split:backwards x="$work/a.npy" y="bf16[200,1024]:$work/b.npy" G=7 && for i in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do block a b 0,$((64 * i)) 200,64 0,$((64 * (15 - i))); done
for shape in 1,4 63,32 64,200 1000,92 $(many 2000,1000 523,300); do
    make f4 $shape a
    for kernel in in_grid dealt; do case_ tests/golden/independence/groups.tile:$kernel x="$work/a.npy" y="f32[$shape]:$work/b.npy" && same a b; done
done
chunk=tests/golden/independence/chunks.tile
for m in 0 1 5 78 $(many 300 133); do
    make f4 $m,64 a
    for g in 1 5 $(many 132 9); do case_ $chunk:balanced x="$work/a.npy" y="f32[$m,64]:$work/b.npy" G=$g && same a b; done
    case_ $chunk:steps_by_number x="$work/a.npy" y="f32[$m,64]:$work/b.npy" C=7 G=43 && same a b
    [ $m = 78 ] || continue
    case_ $chunk:triangle x="$work/a.npy" y="f32[78,64]:$work/b.npy" && same a b
    case_ $chunk:from_behind x="$work/a.npy" y="f32[78,64]:$work/b.npy" && same a b
done
make f4 57,200 a
case_ $chunk:columns x="$work/a.npy" y="f32[57,200]:$work/b.npy" && same a b
make f4 134,64 a
case_ $chunk:spread x="$work/a.npy" y="f32[134,64]:$work/b.npy" && for t in 0 1 2 3 4; do block a b $((8 * t * t + 1)),0 5,64 $((8 * t * t + 1)),0; done
tie=tests/golden/independence/ties.tile
make u2 192,192 a
for kernel in from_there by_ctas; do
    case_ $tie:$kernel x="$work/a.npy" y="bf16[192,192]:$work/b.npy" && for to in 0,64 0,128 64,128; do
        block a b $to 64,64 $to && block a b $to 64,64 ${to#*,},${to%,*}
    done
done
settle
[ -n "${LIST:-}" ] || "$TILECC" run --device=sim:fast examples/transpose.tile src="$work/a.npy" dst="bf16[192,192]:$work/c.npy" >/dev/null || failed=$((failed + 1))
for kernel in symmetric in_place; do
    case $kernel in symmetric) y="y=bf16[192,192]:$work/b.npy" out= ;; *) y= out=":$work/b.npy" ;; esac
    # shellcheck disable=SC2086
    case_ $tie:$kernel x="$work/a.npy$out" $y && for from in 0,64 0,128 64,128; do
        block a b $from 64,64 $from && block c b ${from#*,},${from%,*} 64,64 ${from#*,},${from%,*}
    done
done

# ---- barriers of one thread under conditions ----
under=tests/golden/sync/conditions.tile
for shape in 1,256 3,1040 2,768; do
    make u1 $shape a
    case_ $under:ahead x="$work/a.npy" y="u8[$shape]:$work/b.npy" && same a b
done
make u1 3,1024 a
case_ $under:four x="$work/a.npy" y="u8[3,1024]:$work/b.npy" && same a b
make u1 1040 a
make u1 1040 z
make u4 5 k
case_ $under:branches x="$work/a.npy" z="$work/z.npy" y="u8[1040]:$work/b.npy" && block a b 0 256 0 && block z b 256 256 256 && block a b 1024 16 1024
case_ $under:launch x="$work/a.npy" z="$work/z.npy" y="u8[1040]:$work/b.npy" f=3 && block z b 256 256 256
case_ $under:launch x="$work/a.npy" z="$work/z.npy" y="u8[1040]:$work/b.npy" f=4 && block z b 256 256 256 && block a b 0 256 0
case_ $under:data x="$work/a.npy" z="$work/k.npy" y="u8[1040]:$work/b.npy" && block a b 768 272 768
