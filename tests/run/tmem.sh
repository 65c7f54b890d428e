# Tensor memory, for run.sh in the terms of cases.sh; of sm_100a. More references:
#   lanes, slide     reference_tmem.c
t=tests/golden/tmem

make u1 32,16 a
case_ examples/scales_tmem.tile src="$work/a.npy" out="u8[128,16]:$work/b.npy" && lanes a b 32x128b 0 8
make u1 64,16 a
make u1 128,64 d
make u1 128,160 b
case_ examples/tcgen.tile sf="$work/a.npy" w4="$work/d.npy" out="$work/b.npy:$work/c.npy" && {
    said=$("$REFERENCE" tcgen "$work/a.npy" "$work/d.npy" "$work/b.npy" "$work/c.npy" 2>&1)
    judge $? "$said"
}

# Every shape, by one CTA and by pairs.
for ctas in 1 2; do
    file=$([ $ctas = 1 ] && echo cp || echo pair)
    while read -r kernel shape rows width; do
        make u1 $((ctas * rows)),"$width" a
        case_ $t/${file}_plain.tile:"$kernel" src="$work/a.npy" out="u8[$((ctas * 128)),$width]:$work/b.npy" && lanes a b "$shape" 31 8
    done <<EOF
cp_128x256b 128x256b 128 64
cp_4x256b 4x256b 4 64
cp_128x128b 128x128b 128 16
cp_64x128b_02_13 64x128b_02_13 64 64
cp_64x128b_01_23 64x128b_01_23 64 16
cp_32x128b 32x128b 32 64
EOF
    # Elements of 4 and 6 bits: rows of 128.
    grep -q 'packed types .*not simulated' runtime/sim/*.c && continue
    for bits in 4 6; do
        while read -r kernel shape rows width; do
            make u1 $((ctas * rows)),$((16 * bits)) a
            case_ $t/${file}_b$bits.tile:"$kernel" src="$work/a.npy" out="u8[$((ctas * 128)),$width]:$work/b.npy" && lanes a b "$shape" 31 $bits
        done <<EOF
cp_128x256b 128x256b 128 128
cp_4x256b 4x256b 4 128
cp_128x128b 128x128b 128 16
cp_64x128b_02_13 64x128b_02_13 64 128
cp_64x128b_01_23 64x128b_01_23 64 16
cp_32x128b 32x128b 32 128
EOF
    done
done

for n in 1 128 129 300 $(many 1000 500); do
    make u1 "$n",128 a
    case_ $t/roles.tile src="$work/a.npy" out="u8[$n,128]:$work/b.npy" && same a b
    case_ $t/pipeline.tile src="$work/a.npy" out="u8[$n,128]:$work/b.npy" && same a b
    case_ $t/pair_pipeline.tile:through src="$work/a.npy" out="u8[$n,128]:$work/b.npy" && same a b
done
make f4 128,64 a
case_ $t/threads.tile:words src="$work/a.npy" out="f32[128,64]:$work/b.npy" && same a b
make u2 64,40 a
case_ $t/threads.tile:halves src="$work/a.npy" out="bf16[64,40]:$work/b.npy" && same a b
make u1 4,32,32 a
case_ $t/threads.tile:parts src="$work/a.npy" out="u8[4,32,32]:$work/b.npy" && same a b
make u1 128,64 a
make u1 2,4,32 n
case_ $t/shift.tile src="$work/a.npy" next="$work/n.npy" out="u8[128,64]:$work/b.npy" && slide a n b
make u1 384,16 a
case_ $t/arrays.tile:copied src="$work/a.npy" out="u8[384,16]:$work/b.npy" && same a b
make u1 128,32 a
case_ $t/arrays.tile:slide src="$work/a.npy" next="$work/n.npy" out="u8[128,32]:$work/b.npy" && slide a n b
