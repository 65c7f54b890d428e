# The loops of the example programs, for trips.sh: each function makes n iterations of one loop, runs the program and compares.
#   row, across LABEL LOOP RINGS PROGRAM:KERNEL FUNCTION
# Sizes end in the middle of the last tile where n is odd. A function answers 2 where no sizes make n iterations.
h=tests/golden

# size N TILE CUT: N tiles; one that is CUT elements shorter where N is odd
size() { echo $(($1 * $2 - $1 % 2 * $3)); }

# ---- copies ----
copied() { # PROGRAM SHAPE [DEFINE]: bf16, from src to dst
    make u2 "$2" a
    # shellcheck disable=SC2086
    case_ "$1" ${3:-} src="$work/a.npy" dst="bf16[$2]:$work/b.npy" && same a b
}
copy_i() { copied examples/copy.tile "$(size "$1" 64 5),256"; }
copy_j() { copied examples/copy.tile "64,$(size "$1" 256 8)"; }
across copy i 'tile ids' examples/copy.tile:copy copy_i
across copy j 'tile ids' examples/copy.tile:copy copy_j
k1_i() { copied examples/two_kernels.tile:k1 "$(size "$1" 64 63),8"; }
k1_j() { copied examples/two_kernels.tile:k1 "64,$(size "$1" 256 248)"; }
across 'two_kernels k1' i 't ids' examples/two_kernels.tile:k1 k1_i
across 'two_kernels k1' j 't ids' examples/two_kernels.tile:k1 k1_j
k2_rows() { copied examples/two_kernels.tile:k2 "$(size "$1" 64 1),136"; }
row 'two_kernels k2' 'grid.y' =1 examples/two_kernels.tile:k2 k2_rows
hand_k() { copied examples/hand_ring.tile:hand_ring "$(size "$1" 64 7),264"; }
one_thread_k() { copied examples/hand_ring.tile:one_thread_ring "$(size "$1" 64 7),264"; }
row hand_ring k =4 examples/hand_ring.tile:hand_ring hand_k
row one_thread_ring k =4 examples/hand_ring.tile:one_thread_ring one_thread_k
tail_k() { copied $h/roles/rates.tile:tail "$(size "$1" 16 7),64"; }
four_k() { copied $h/roles/rates.tile:four "$(size "$1" 16 7),64"; }
take_turns_k() { copied $h/roles/rates.tile:take_turns "$(size "$1" 16 7),64"; }
row 'two by two' k =2 $h/roles/rates.tile:tail tail_k
row 'four by four' k =4 $h/roles/rates.tile:four four_k
row 'in turns' k =2 $h/roles/rates.tile:take_turns take_turns_k
for S in 1 2; do
    hand_s() { copied examples/hand_ring.tile:hand_ring "$(size "$1" 64 7),256" "-D hand_ring.S=$S"; }
    row "hand_ring S=$S" k "=$S" examples/hand_ring.tile:hand_ring hand_s
done
for S in 3 5; do
    one_thread_s() { copied examples/hand_ring.tile:one_thread_ring "$(size "$1" 64 7),256" "-D one_thread_ring.S=$S"; }
    row "one_thread_ring S=$S" k "=$S" examples/hand_ring.tile:one_thread_ring one_thread_s
done
defines=
bulk_i() {
    n=$(size "$1" 16384 16368)
    make u1 "$n" a
    case_ examples/copy_bulk.tile src="$work/a.npy" dst="u8[$n]:$work/b.npy" && same a b
}
across copy_bulk i 't ids' examples/copy_bulk.tile:copy_bulk bulk_i
rows_i() { copied bench/tile/copy_bulk.tile "$1,8192"; }
rows_j() { copied bench/tile/copy_bulk.tile "1,$(size "$1" 8192 8)"; }
across 'bench/copy_bulk' i 'part ids' bench/tile/copy_bulk.tile:copy_bulk rows_i
across 'bench/copy_bulk' j 'part ids' bench/tile/copy_bulk.tile:copy_bulk rows_j
sweep_i() { copied bench/tile/copy_sweep.tile "$(size "$1" 64 9),256"; }
across 'bench/copy_sweep' i 'tile ids' bench/tile/copy_sweep.tile:copy sweep_i
concat() { # ROWS COLUMNS COLUMNS
    make u2 "$1,$2" a
    make u2 "$1,$3" b
    case_ bench/tile/concat.tile a="$work/a.npy" b="$work/b.npy" out="bf16[$1,$(($2 + $3))]:$work/c.npy" &&
        block a c 0,0 "$1,$2" 0,0 && block b c 0,0 "$1,$3" "0,$2"
}
concat_i() { concat "$(size "$1" 64 5)" 256 8; }
concat_j1() { concat 64 "$(size "$1" 256 8)" 248; }
concat_j2() { concat 64 200 "$(size "$1" 256 8)"; }
across concat 'i of both' tile bench/tile/concat.tile:concat concat_i
least_dealt=1 # the other pipeline's
across concat 'j of the first' tile bench/tile/concat.tile:concat concat_j1
across concat 'j of the second' tile bench/tile/concat.tile:concat concat_j2
least_dealt=0
stream_j() {
    n=$(size "$1" 128 8)
    make u2 "70,$n" a
    make u2 "64,$n" b
    case_ examples/prefetch.tile a="$work/a.npy" b="$work/b.npy" out="bf16[70,$n]:$work/c.npy" out2="bf16[70,$n]:$work/d.npy" &&
        same a c && periodic b d
}
row prefetch j =1 examples/prefetch.tile:stream stream_j

# ---- rows by index ----
D=4096
gathered() { # ROWS
    make u2 37,$D a
    index 37 "$1" i
    case_ examples/gather_rows.tile -D gather_rows.D=$D table="$work/a.npy" idx="$work/i.npy" out="bf16[$1,$D]:$work/b.npy" && gather a i b
}
for D in 4096 64; do
    defines="-D gather_rows.D=$D"
    across "gather_rows D=$D" r 'row ids' examples/gather_rows.tile:gather_rows gathered
done
permuted() {
    r=$(size "$1" 4 3)
    make u2 37,$D a
    index 37 "$r" i
    case_ examples/moe.tile:permute -D permute.D=$D x="$work/a.npy" src="$work/i.npy" out="bf16[$r,$D]:$work/b.npy" && gather a i b
}
for D in 4096 512; do
    defines="-D permute.D=$D"
    across "moe permute D=$D" r 't ids' examples/moe.tile:permute permuted
done
combined() { # ROWS D
    [ "$2" -gt 0 ] || return 2
    small bf16 "$1,$2" 100 a
    small f32 "21,$2" 1000 b
    index 21 "$1" i
    case_ examples/moe.tile:combine -D "combine.D=$2" y="$work/a.npy" token="$work/i.npy" acc="$work/b.npy:$work/c.npy" && scatter_add a i b c
}
combined_r() { combined "$1" 2048; }
combined_c() { # in one row while a row can be so long, then in rows of 4
    if [ "$1" -le 64 ]; then combined 1 $(($1 * 2048)); elif [ $(($1 % 4)) = 0 ]; then combined $(($1 / 4)) 8192; else return 2; fi
}
defines='-D combine.D=2048'
across 'moe combine' r 'a b ids' examples/moe.tile:combine combined_r
defines='-D combine.D=8192'
across 'moe combine' c 'a b ids' examples/moe.tile:combine combined_c
defines=
added() {
    small f32 "$1,1024" 1000 a
    small f32 21,1024 1000 b
    index 21 "$1" i
    case_ examples/scatter_add.tile x="$work/a.npy" idx="$work/i.npy" acc="$work/b.npy:$work/c.npy" && scatter_add a i b c
}
across scatter_add r 'row ids' examples/scatter_add.tile:scatter_add added

# ---- tensors ----
summed() { # S M N
    small f32 "$1,$2,$3" 1000 a
    small f32 "$2,$3" 1000 b
    case_ examples/split_k_sum.tile part="$work/a.npy" sum="$work/b.npy:$work/c.npy" && sum a b c
}
summed_s() { summed "$1" 31 64; }
summed_i() { summed 1 "$(size "$1" 32 31)" 60; }
summed_j() { summed 1 32 "$(size "$1" 64 4)"; }
across split_k_sum s 'tile ids' examples/split_k_sum.tile:split_k_sum summed_s
across split_k_sum i 'tile ids' examples/split_k_sum.tile:split_k_sum summed_i
across split_k_sum j 'tile ids' examples/split_k_sum.tile:split_k_sum summed_j
heads() { # B S H
    make u2 "$1,$2,$3,128" a
    case_ examples/permute_heads.tile x="$work/a.npy" out="bf16[$1,$3,$2,128]:$work/b.npy" &&
        map a b 0 0 $(($2 * $3 * 128)),128,$(($3 * 128)),1 "$1,$3,$2,128"
}
heads_b() { heads "$1" 33 1; }
heads_s() { heads 1 "$(size "$1" 64 63)" 1; }
heads_h() { heads 1 33 "$1"; }
across permute_heads b 'tile ids' examples/permute_heads.tile:permute_heads heads_b
across permute_heads s 'tile ids' examples/permute_heads.tile:permute_heads heads_s
across permute_heads h 'tile ids' examples/permute_heads.tile:permute_heads heads_h
halo() { # H W
    make f4 "$1,$2" a
    tiles=$((($1 + 31) / 32)),$((($2 + 63) / 64))
    case_ examples/halo.tile x="$work/a.npy" y="f32[$tiles,34,72]:$work/b.npy" && patches a b 32,64 -1,-4
}
halo_i() { halo "$(size "$1" 32 31)" 64; }
halo_j() { halo 32 "$(size "$1" 64 60)"; }
across halo i 't ids' examples/halo.tile:halo halo_i
across halo j 't ids' examples/halo.tile:halo halo_j
widened() {
    make u2 "$1" a
    case_ examples/convert.tile x="$work/a.npy" y="f32[$1]:$work/b.npy" && convert bf16 f32 a b 0
}
widen_i() { widened "$(size "$1" 64 63),64"; }
widen_j() { widened "64,$(size "$1" 64 8)"; }
across convert i 'a b ids' examples/convert.tile:widen widen_i
across convert j 'a b ids' examples/convert.tile:widen widen_j
transposed() { # M N
    make "$np" "$1,$2" a
    case_ examples/transpose.tile -D "transpose.T=$T" -D "transpose.B=$B" src="$work/a.npy" dst="$T[$2,$1]:$work/b.npy" &&
        map a b 0 0 "1,$2" "$2,$1"
}
transposed_i() { transposed "$(size "$1" "$B" 16)" "$B"; }
transposed_j() { transposed "$B" "$(size "$1" "$B" 16)"; }
for type in bf16:u2:128 f32:f4:64; do
    T=${type%%:*} B=${type##*:} np=${type#*:}
    np=${np%:*}
    defines="-D transpose.T=$T -D transpose.B=$B"
    across "transpose $T" i 'a b ids' examples/transpose.tile:transpose transposed_i
    across "transpose $T" j 'a b ids' examples/transpose.tile:transpose transposed_j
done

# ---- clusters ----
gemm() { # M N K
    make u2 "$1,$3" a
    make u2 "$2,$3" b
    case_ examples/gemm_io.tile -D gemm_io.CX=$CX -D gemm_io.CY=$CY A="$work/a.npy" B="$work/b.npy" \
        oa="bf16[$((($2 + 127) / 128)),$1,$3]:$work/c.npy" ob="bf16[$((($1 + 127) / 128)),$2,$3]:$work/d.npy" && periodic a c && periodic b d
}
gemm_k() { gemm 130 8 "$(size "$1" 64 56)"; }
gemm_i() { gemm "$(size "$1" $((128 * CY)) 5)" 8 72; }
gemm_j() { gemm 8 "$(size "$1" $((128 * CX)) 5)" 72; }
for shape in 2,2 1,1 2,1; do
    CX=${shape%,*} CY=${shape#*,}
    defines="-D gemm_io.CX=$CX -D gemm_io.CY=$CY"
    row "gemm_io $CX x $CY" k 'a b' examples/gemm_io.tile:gemm_io gemm_k
    [ $shape = 2,1 ] && continue
    across "gemm_io $CX x $CY" i 'a b' examples/gemm_io.tile:gemm_io gemm_i
    across "gemm_io $CX x $CY" j 'a b' examples/gemm_io.tile:gemm_io gemm_j
done
defines=
spread() {
    make f2 65,72 a
    case_ examples/broadcast.tile w="$work/a.npy" out="f16[$((4 * $1)),65,72]:$work/b.npy" && periodic a b
}
row broadcast 'clusters along x' tile examples/broadcast.tile:broadcast spread
ringed() {
    n=$(size "$1" 1024 4)
    make u4 "4,$n" a
    case_ examples/ring.tile src="$work/a.npy" out="u32[4,$n]:$work/b.npy" && block a b 0,0 "3,$n" 1,0 && block a b 3,0 "1,$n" 0,0
}
row ring 'clusters along y' 'mine theirs' examples/ring.tile:ring ringed

# ---- im2col ----
tapped() { # 64 pixels, every second one of a row
    make f4 "$1,128,32" a
    case_ $h/modes/im2col_3d.tile x="$work/a.npy" out="f32[$(($1 * 64)),32]:$work/b.npy" first=1 &&
        im2col a b -1 -1 2 1 1 7ff77ff7
}
across im2col t 'tile ids' $h/modes/im2col_3d.tile:rows tapped
put_back() { # 64 pixels
    make u2 "$(($1 * 64)),64" a
    make u2 "$1,8,8,64" b
    case_ examples/im2col_store.tile cols="$work/a.npy" y="$work/b.npy:$work/c.npy" && col2im a b c 0,0 0,0 0
}
across 'im2col stores' t 'tile ids' examples/im2col_store.tile:col_store put_back
