# Tiles that fit no ring, for run.sh in the terms of cases.sh: each copy into them is waited for at once. And programs that people wrote
# one statement after the other. Sizes end inside tiles.
#   topped, exchanged    reference_fills.c
k=tests/golden/kept

# ---- filled, used and filled again ----
for shape in 1,4 16,16 45,72 $(many 200,132 70,36); do
    make i4 "$shape" a
    case_ $k/filled_twice.tile x="$work/a.npy" y="s32[$shape]:$work/b.npy" z="s32[$shape]:$work/c.npy" && affine a b 0 0,8 1,1 && affine a c 0 -1,0 1,1
    case_ $k/copy_then_threads.tile x="$work/a.npy" y="s32[$shape]:$work/b.npy" z="s32[$shape]:$work/c.npy" &&
        of_fills topped "$work/a.npy" "$work/b.npy" 16 7 1 && of_fills topped "$work/a.npy" "$work/c.npy" 16 7 0
done
for n in 0 1 5 30; do
    make i4 $n,64 a
    for kernel in by_mask by_variable; do
        case_ $k/slot_by_mask.tile:$kernel x="$work/a.npy" y="s32[$n,64]:$work/b.npy" k=$((n * 3 - 40)) && same a b
    done
done
for n in 1 64 65 $(many 300 200); do
    make u2 "$n,128" a
    make u2 "$n,128" b
    constant u2 64,128 0 zero
    case_ $k/slots_and_uses.tile:again x="$work/a.npy" y="$work/b.npy:$work/c.npy" z="bf16[$n,128]:$work/d.npy" &&
        window a b c 0,0 "$n,64" && block a d 0,64 "$n,64" 0,0
    case_ $k/slots_and_uses.tile:kinds x="$work/a.npy" y="$work/b.npy:$work/c.npy" && {
        first=$((n < 64 ? n : 64))
        block zero c 0,0 $first,64 0,0
        block a c $first,0 $((n - first)),64 $first,0 && block b c 0,64 "$n,64" 0,64
    }
    case_ $k/slots_and_uses.tile:collect x="$work/a.npy" y="bf16[$n,128]:$work/c.npy" && block a c 0,64 "$n,64" 0,0
    case_ $k/slots_and_uses.tile:behind_threads x="$work/a.npy" y="bf16[$n,128]:$work/c.npy" &&
        block a c 0,64 "$n,64" 0,0 && block a c 0,0 "$n,64" 0,64
done
for n in 1 17 $(many 600 40); do
    make u1 "$n,8,128" a
    constant u1 "$n,8,128" 6 six
    case_ $k/filled_again.tile x="$work/a.npy" y="u8[$n,8,128]:$work/b.npy" z="u8[$n,8,128]:$work/c.npy" && same six b && same a c
done
for n in 1 5 $(many 60 20); do
    make f4 "$n,2,8,64" a
    case_ $k/array_in_loop.tile:k x="$work/a.npy" y="f32[$n,2,8,64]:$work/b.npy" && affine a b 0 0,1,0,0 1,-1,1,1
    make u4 "$n,7,3,20" b
    constant u4 "$n,7,1,20" 3 three
    case_ $k/array_in_loop.tile:swizzled y="$work/b.npy:$work/c.npy" && block three c 0,0,0,0 "$n,7,1,20" 0,0,0,0 && block b c 0,0,1,0 "$n,7,2,20" 0,0,1,0
done

# ---- sent on in a loop that may have no turn ----
for n in 1 16 45 $(many 700 70); do
    make f4 1,2,"$n",64 a
    for turns in 0 1 3; do
        case_ $k/sent_in_loop.tile:sent_in_loop x="$work/a.npy" y="f32[$turns,2,$n,64]:$work/b.npy" z="f32[1,2,$n,64]:$work/c.npy" && same a c &&
            for turn in $(seq 0 $((turns - 1))); do
                block a b 0,1,0,0 "1,1,$n,64" "$turn,0,0,0" && block a b 0,0,0,0 "1,1,$n,64" "$turn,1,0,0"
            done
    done
    case_ $k/sent_in_loop.tile:surely x="$work/a.npy" y="f32[3,2,$n,64]:$work/b.npy" && block a b 0,1,0,0 "1,1,$n,64" 2,0,0,0 && block a b 0,0,0,0 "1,1,$n,64" 0,1,0,0
done

# ---- loaded, and overwritten in any order ----
for n in 4 2052 4096 4100 $(many 40000 12288); do
    make f4 "$n" a
    case_ $k/stored_between_fills.tile x="$work/a.npy:$work/x.npy" y="f32[$n]:$work/y.npy" && same a y && constant f4 "$n" 1065353216 one && same one x
done
for n in 8 32 40; do
    make u2 5,17,$n a
    case_ $k/overlapping_store.tile:straight x="$work/a.npy:$work/b.npy" && {
        w=$((n < 32 ? n : 32))
        block a b 0,0,0 "1,16,$w" 1,0,0 && block a b 1,0,0 "1,16,$w" 2,0,0 && block a b 3,0,0 "2,17,$n" 3,0,0
    }
done
for n in 16 64 $(many 320 160); do
    make u2 5,$n,32 a
    case_ $k/overlapping_store.tile:turns x="$work/a.npy:$work/b.npy" && block a b 0,0,0 "1,$n,32" 1,0,0 && block a b 1,0,0 "1,$n,32" 2,0,0
done
make u2 3,17,32 a
for g in 1 2; do # a third team would load what the second one stores
    case_ $k/overlapping_store.tile:teams x="$work/a.npy:$work/b.npy" G=$g && {
        i=0
        while [ $i -lt $g ]; do
            block a b $i,0,0 1,16,32 $((2 * i)),1,0
            i=$((i + 1))
        done
        block a b 1,0,0 1,17,32 1,0,0
    }
done
make u2 1,34,32 a
for kernel in halves pairs; do
    case_ $k/overlapping_store.tile:$kernel x="$work/a.npy:$work/b.npy" $([ $kernel = halves ] || echo G=1) &&
        block a b 0,0,0 1,16,32 0,1,0 && block a b 0,17,0 1,16,32 0,18,0
done

# ---- stored, and loaded again ----
for n in 1 16 41 $(many '160 200' 70); do
    make f4 $n,32 a
    case_ $k/stored_and_loaded.tile:second x="$work/a.npy" y="f32[$n,32]:$work/b.npy" z="f32[$n,32]:$work/c.npy" && same a b && same a c
    case_ $k/stored_and_loaded.tile:one_turn x="$work/a.npy" y="f32[$n,32]:$work/b.npy" z="f32[$n,32]:$work/c.npy" && same a b && same a c
done
for n in 1 2 $(many '9 30' 5); do
    make i4 $((n * 8)),16 a
    case_ $k/stored_and_loaded.tile:next_turn y="$work/a.npy:$work/b.npy" && for i in $(seq 0 $((n - 1))); do block a b 0,0 8,16 $((i * 8)),0; done
done
for n in 0 1 $(many '5 20' 3); do
    constant i4 16,16 100 a
    constant i4 16,16 $((100 + 4 * n)) b
    case_ $k/stored_and_loaded.tile:counted x="$work/a.npy:$work/c.npy" y="s32[16,16]:$work/d.npy" n=$n && same b c && same b d
done
make i4 16,16 a
make i4 16,16 b
constant i4 8,16 8 eight
case_ $k/stored_and_loaded.tile:filled_behind x="$work/a.npy:$work/c.npy" y="$work/b.npy:$work/d.npy" && same b c &&
    block eight d 0,0 8,16 0,0 && block a d 12,0 4,16 8,0
make f4 100,32 a
constant i4 2 40 rows
case_ $k/stored_and_loaded.tile:window y="$work/a.npy:$work/c.npy" rows="$work/rows.npy" && {
    block a c 0,0 55,32 0,0 && block a c 40,0 15,32 55,0 && block a c 40,0 10,32 70,0 && block a c 80,0 20,32 80,0
}

# ---- between CTAs ----
for n in 4 600 1024; do
    make u4 2,$n a
    case_ $k/peer_filled.tile x="$work/a.npy" y="u32[2,$n]:$work/b.npy" && rows a b 1,0
done
make f4 2,64 a
constant u4 1,64 0x3f800000 one
"$REFERENCE" reshape "$work/one.npy" 1,64 "$work/one.npy"
for kernel in behind before; do
    make f4 2,2,64 b
    case_ $k/sent_and_filled.tile:$kernel x="$work/a.npy" y="$work/b.npy:$work/c.npy" && {
        "$REFERENCE" reshape "$work/c.npy" 4,64 "$work/d.npy"
        "$REFERENCE" reshape "$work/b.npy" 4,64 "$work/e.npy"
        for row in 0 2; do
            if [ $kernel = behind ]; then
                block one d 0,0 1,64 $row,0 && block a d 0,0 1,64 $((row + 1)),0
            else
                block e d $row,0 1,64 $row,0 && block one d 0,0 1,32 $((row + 1)),0 && block a d 0,32 1,32 $((row + 1)),32
            fi
        done
    }
done
for n in 4 64 300 $(many 3000 400); do
    make u4 4,$n a
    case_ $k/sent_on.tile x="$work/a.npy" y="u32[4,$n]:$work/b.npy" && rows a b 1,2,3,0
    make u4 2,$n a
    case_ $k/sums.tile:early x="$work/a.npy" y="u32[2,$n]:$work/b.npy" && of_fills exchanged "$work/a.npy" "$work/b.npy" 1
done
for n in 4 256; do
    make u4 2,$n a
    case_ $k/sums.tile:again x="$work/a.npy" y="u32[2,$n]:$work/b.npy" && of_fills exchanged "$work/a.npy" "$work/b.npy" 3
done

# ---- as people write them ----
for n in 0 1 30 $(many '299 300' 100); do
    make f4 "$n,64" a
    case_ $k/constant_multicast.tile x="$work/a.npy" y="f32[$n,16,64]:$work/b.npy" && map a b 0 0 64,0,1 "$n,16,64"
done
for n in 1 8 $(many 77 30); do
    make f4 40,"$n",32 a
    case_ $k/many_tiles.tile x="$work/a.npy" y="f32[40,$n,32]:$work/b.npy" && same a b
done
for times in 0 1 5; do
    for n in 16 40; do
        constant i4 2,$n,16 100 a
        constant i4 2,$n,16 5 five
        constant i4 2,$n,16 $((100 + 5 * times)) sum
        case_ $k/store_before_loop.tile y="$work/a.npy:$work/b.npy" L=$times && block five b 0,0,0 1,$n,16 0,0,0 && block sum b 1,0,0 1,$n,16 1,0,0
    done
done
for n in 0 1 4 7; do # from turn 4 on the window ends outside of x
    make i4 $n,4,4,24 a
    constant i4 $n,4,4,24 9 b
    constant i4 $n,4,4,24 0 zero
    case_ $k/two_guards.tile x="$work/a.npy" y="$work/b.npy:$work/c.npy" && {
        block b c 0,1,0,0 $n,3,4,24 0,1,0,0
        block b c 0,0,0,12 $n,1,4,12 0,0,0,12
        j=0
        while [ $j -lt $n ]; do
            inside=$((j < 3 ? 12 : 24 - 4 * j))
            inside=$((inside > 0 ? inside : 0))
            block a c $j,0,0,$((inside ? 4 * j : 0)) 1,1,4,$inside $j,0,0,0
            block zero c $j,0,0,0 1,1,4,$((12 - inside)) $j,0,0,$inside
            j=$((j + 1))
        done
    }
done
for box in 2,5,16 1,3,16 2,5,32; do
    for n in 1 3 $(many 200 30); do
        make u1 "$n,2,5,32" a
        make u1 "$n,$box" b
        case_ $k/batched_padding.tile x="$work/a.npy" y="$work/b.npy:$work/c.npy" && window a b c 0,0,0,-16 "$n,${box%,*},16"
    done
done
for n in 0 1 5 $(many 301 30); do
    make i4 "$n,64,20" a
    case_ $k/lanes.tile x="$work/a.npy" y="s32[$n,64,12]:$work/b.npy" z="s32[$n,64,12]:$work/c.npy" && {
        block a b 0,0,0 "$n,64,12" 0,0,0
        block a c 0,0,8 "$n,64,12" 0,0,0
    }
done
make u4 2,1024 a
case_ $k/under_condition.tile:k x="$work/a.npy" y="u32[2,1024]:$work/b.npy" n=5 && {
    block a b 1,0 1,1024 0,0
    block a b 0,0 1,1024 1,0
}
for n in 1 16 $(many 37 20); do # y[r, s] = x[s]
    make f4 4,"$n",64 a
    for kernel in all_to_all by_pipeline; do
        case_ $k/peers_in_loop.tile:$kernel x="$work/a.npy" y="f32[4,4,$n,64]:$work/b.npy" && map a b 0 0 0,$((n * 64)),64,1 "4,4,$n,64"
    done
done

# Kernels of several schedules: sizes at which each is taken, on the simulator's small machine and on a GPU.
g=tests/golden/pipeline/alternatives.tile
for shape in 1,8 8,264 70,136 $(many "259,520 515,1032 $large" 131,264); do
    make u2 "$shape" a
    case_ $g:copy src="$work/a.npy" dst="bf16[$shape]:$work/b.npy" && same a b
    case_ $g:copy -D copy.BM=24 src="$work/a.npy" dst="bf16[$shape]:$work/b.npy" && same a b
done
for n in 1 16 191 400 $(many 20000 900); do
    make u2 "$n,64" a
    case_ $g:each src="$work/a.npy" dst="bf16[$n,64]:$work/b.npy" && same a b
done
for n in 0 1 3; do # rows of a tile by lanes, in a loop
    make u1 4,16,128 a
    case_ $k/stored_by_lanes.tile x="$work/a.npy" y="u8[4,16,128]:$work/b.npy" n=$n && block a b 1,0,0 1,16,128 2,0,0 && block a b 3,0,0 1,16,128 3,0,0 &&
        [ $n -gt 0 ] && block a b 0,0,0 1,16,128 0,0,0 && block a b 2,0,0 1,16,128 1,0,0
done

# ---- tiles from outside, of which the iterations write a part, or none ----
v=tests/golden/versions/iterations.tile
for n in 8 16 $(many 64 40); do
    make i4 "$n,32" a
    constant i4 "8,32" 1 one
    case_ $v:slots x="$work/a.npy" y="s32[$n,32]:$work/b.npy" z="s32[8,32]:$work/z.npy" && same one z && block a b 0,0 8,32 0,0
    make i4 "$((2 * n)),32" b
    constant i4 "$n,32" 7 seven
    case_ $v:rows x="$work/a.npy" y="$work/b.npy:$work/c.npy" && block a c 0,0 4,32 0,0 && block a c $((n - 4)),0 4,32 $((2 * n - 8)),0 &&
        block seven c 0,0 4,32 4,0 && block seven c 0,0 4,32 $((2 * n - 4)),0
    constant i4 "$n,8,32" 1 before
    constant i4 "$n,8,32" 2 within
    case_ $v:no_turn y="s32[$n,8,32]:$work/b.npy" n=0 && same before b
    case_ $v:no_turn y="s32[$n,8,32]:$work/b.npy" n=3 && same within b
    case_ $v:under_condition y="s32[$n,8,32]:$work/b.npy" n=0 m=1 && same within b
    case_ $v:under_condition y="s32[$n,8,32]:$work/b.npy" n=1 m=1 && block before b 0,0,0 1,8,32 0,0,0
done

# ---- what a turn of a loop leaves to a later one ----
v=tests/golden/versions/carried.tile
constant u4 64 0 zero
for n in 1 2 3 5 $(many 40 9); do
    make u4 "$n,64" a
    case_ $v:by_turns x="$work/a.npy" y="u32[$n,64]:$work/b.npy" && same a b
    case_ $v:ahead x="$work/a.npy" y="u32[$n,64]:$work/b.npy" && same a b
    make u4 "$n,64" b
    case_ $v:behind x="$work/a.npy" y="$work/b.npy:$work/c.npy" && window a b c 1,0 "$n,64"
    case_ $v:two x="$work/a.npy" y="u32[$n,64]:$work/c.npy" && block a c $((n - 1)),0 1,64 0,0 && block a c 0,0 $((n - 1)),64 1,0
    make u4 "3,$n,64" a
    case_ $v:next x="$work/a.npy" y="u32[3,$n,64]:$work/b.npy" && same a b
    make u4 "1,$n,64" a
    reshape a "$n,64" parts
    case_ $v:sums x="$work/a.npy" y="u32[1,$n,64]:$work/b.npy" z="u32[1,64]:$work/z.npy" && same a b && reshape z 64 c && reduction add u32 parts zero c
done

# ---- long conditions; loops that name peers ----
for n in 0 8 72 $(many 400 16); do
    set --
    for i in 0 1 2 3 4 5 6 7 8; do
        make u4 "$n,64" "x$i"
        set -- "$@" "x$i=$work/x$i.npy"
    done
    case_ tests/golden/conditions/many.tile:concat "$@" y="u32[$((9 * n)),64]:$work/b.npy" && for i in 0 1 2 3 4 5 6 7 8; do
        block "x$i" b 0,0 "$n,64" $((i * n)),0
    done
    case_ tests/golden/conditions/many.tile:tenth x="$work/x0.npy" y="u32[$n,64]:$work/b.npy" z="u32[$n,64]:$work/c.npy" && same x0 b && same x0 c
    constant u4 "$n,64" 7 seven
    first=$((n < 72 ? n : 72))
    case_ tests/golden/conditions/many.tile:but x="$work/x0.npy" y="$work/seven.npy:$work/b.npy" a=-9 && same x0 b
    case_ tests/golden/conditions/many.tile:but x="$work/x0.npy" y="$work/seven.npy:$work/b.npy" a=0 &&
        block seven b 0,0 "$first,64" 0,0 && block x0 b "$first,0" "$((n - first)),64" "$first,0"
    constant i4 7 1 one
    case_ tests/golden/conditions/many.tile:either x="$work/x0.npy" y="$work/seven.npy:$work/b.npy" d="$work/one.npy" n=5 && same x0 b
done
make u4 4,64 a
case_ tests/golden/cluster/peers_in_turns.tile:beside x="$work/a.npy" y="u32[4,64]:$work/b.npy" &&
    block a b 2,0 1,64 0,0 && block a b 1,0 1,64 1,0 && block a b 0,0 1,64 2,0 && block a b 3,0 1,64 3,0
constant u4 4,64 3 three
constant u4 4,64 10 ten
constant u4 4,64 25 sum
case_ tests/golden/cluster/peers_in_turns.tile:loops x="$work/three.npy" y="$work/ten.npy:$work/b.npy" && same sum b
