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
    grep -q 'packed types .*not simulated' runtime/sim/*/*.c && continue
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
    case_ $t/pair_roles.tile:ring src="$work/a.npy" out="u8[$n,128]:$work/b.npy" && same a b
done

# Slices, parts and few lanes: TO:ROW:FROM:COUNT:FIRST of each piece.
make u1 128,128 a
case_ $t/slices.tile:by_16 src="$work/a.npy" out="u8[128,128]:$work/b.npy" &&
    pieces a b 128x128b 8 "112:0:0:16:0 96:0:16:16:0 80:0:32:16:0 64:0:48:16:0 48:0:64:16:0 32:0:80:16:0 16:0:96:16:0 0:0:112:16:0"
make u2 64,64 a
case_ $t/slices.tile:panels src="$work/a.npy" out="bf16[128,32]:$work/b.npy" &&
    pieces a b 64x128b_01_23 8 "0:0:8:8:0 8:0:24:8:0 16:0:40:8:0 24:0:56:8:0"
make u1 128,256 a
case_ $t/slices.tile:across src="$work/a.npy" out="u8[128,256]:$work/b.npy" && pieces a b 128x128b 8 "0:0:16:240:0 240:0:0:16:0"
make u2 128,64 a
case_ $t/slices.tile:wide src="$work/a.npy" out="bf16[128,48]:$work/b.npy" && pieces a b 128x256b 8 "0:0:8:48:0"
make u1 40,64 a
case_ $t/slices.tile:rows src="$work/a.npy" out="u8[128,32]:$work/b.npy" && pieces a b 32x128b 8 "0:5:16:32:0"
make u1 8,128 a
case_ $t/slices.tile:four src="$work/a.npy" out="u8[128,64]:$work/b.npy" && pieces a b 4x256b 8 "0:3:48:64:7"
make u1 128,64 a
case_ $t/slices.tile:packed src="$work/a.npy" out="u8[128,48]:$work/b.npy" && pieces a b 128x128b 4 "0:0:16:48:0"
make u1 256,128 a
case_ $t/pair_slices.tile:by_16 src="$work/a.npy" out="u8[256,128]:$work/b.npy" && same a b
make u1 128,64 a
case_ $t/pair_slices.tile:of_64 src="$work/a.npy" out="u8[128,64]:$work/b.npy" && same a b
make u1 2,2,32,16 a
case_ $t/parts.tile:scales src="$work/a.npy" out="u8[128,64]:$work/b.npy" &&
    pieces a b 32x128b 8 "0:0:0:16:0 16:32:0:16:0 32:64:0:16:0 48:96:0:16:0"
make u1 4,128,16 a
case_ $t/parts.tile:lead src="$work/a.npy" out="u8[128,64]:$work/b.npy" &&
    pieces a b 128x256b 8 "0:0:0:16:0 16:128:0:16:0 32:256:0:16:0 48:384:0:16:0"
make u1 2,4,16 a
case_ $t/parts.tile:lead_4 src="$work/a.npy" out="u8[128,32]:$work/b.npy" && pieces a b 4x256b 8 "0:0:0:16:9 16:4:0:16:9"
make u1 3,128,16 a
case_ $t/parts.tile:three src="$work/a.npy" out="u8[128,48]:$work/b.npy" &&
    pieces a b 128x128b 8 "0:0:0:16:0 16:128:0:16:0 32:256:0:16:0"
make u1 2,128,64 a
case_ $t/parts.tile:swizzled src="$work/a.npy" out="u8[128,64]:$work/b.npy" && pieces a b 128x256b 8 "0:0:16:32:0 32:128:16:32:0"
make u2 128,64 a
case_ $t/parts.tile:by_cta src="$work/a.npy" out="bf16[4,128,16]:$work/b.npy" && {
    said=$("$REFERENCE" map "$work/a.npy" "$work/b.npy" 0 0 16,64,1 4,128,16 2>&1)
    judge $? "$said"
}
make u1 2,32,16 a
for at in 1 2 3; do
    make u1 $at c
    case_ $t/parts.tile:at_launch src="$work/a.npy" at="$work/c.npy" out="u8[128,64]:$work/b.npy" &&
        pieces a b 32x128b 8 "$((16 * at - 16)):0:0:16:0 $((16 * at)):32:0:16:0"
done
make u1 4 c
refuse_ 2 'E1127.*0 <= 16 \* C - 16 <= 32' $t/parts.tile:at_launch src="$work/a.npy" at="$work/c.npy" out="u8[128,64]:$work/b.npy"
while read -r n value column; do
    constant i4 "$n" "$value" c
    case_ $t/parts.tile:by_data src="$work/a.npy" at="$work/c.npy" out="u8[$n,128,64]:$work/d.npy" && {
        "$REFERENCE" reshape "$work/d.npy" $((n * 128)),64 "$work/b.npy"
        pieces a b 32x128b 8 "$column:0:0:16:0 $((column + 16)):32:0:16:0"
    }
done <<EOF
1 -7 0
1 0 0
3 1 16
5 9 32
EOF
for n in 1 2 5 $(many 60 20); do
    make u1 "$n",64,16 a
    case_ $t/parts.tile:roles_by_turn src="$work/a.npy" out="u8[$n,128,16]:$work/c.npy" && {
        "$REFERENCE" reshape "$work/c.npy" $((n * 128)),16 "$work/b.npy"
        lanes a b 64x128b_02_13 0 8
    }
done
make u1 64,64 a
case_ $t/few_lanes.tile:of_64 src="$work/a.npy" out="u8[64,64]:$work/b.npy" && same a b
case_ $t/few_lanes.tile:fours src="$work/a.npy" out="u8[128,64]:$work/b.npy" &&
    pieces a b 4x256b 8 "$(for i in $(seq 0 15); do printf '%s ' "0:$((4 * i)):0:64:$i"; done)"
make u1 2,32,16 a
case_ $t/few_lanes.tile:of_32 src="$work/a.npy" out="u8[32,32]:$work/b.npy" && pieces a b 32x128b 8 "0:0:0:16:0 16:32:0:16:0"
make u1 2,16,16 a
case_ $t/few_lanes.tile:some_fours src="$work/a.npy" out="u8[128,32]:$work/b.npy" &&
    pieces a b 4x256b 8 "$(for i in $(seq 0 3); do printf '%s ' "0:$((4 * i)):0:16:$((28 + i))" "16:$((16 + 4 * i)):0:16:$((28 + i))"; done)"
make u1 128,64 a
case_ $t/shift_along.tile src="$work/a.npy" out="u8[128,64]:$work/b.npy" &&
    rows a b "$(seq -s, 0 63),$(seq -s, 65 95),$(seq -s, 95 127)"

make f4 128,64 a
case_ $t/threads.tile:words src="$work/a.npy" out="f32[128,64]:$work/b.npy" && same a b
make u2 64,40 a
case_ $t/threads.tile:halves src="$work/a.npy" out="bf16[64,40]:$work/b.npy" && same a b
make u1 4,32,32 a
case_ $t/threads.tile:parts src="$work/a.npy" out="u8[4,32,32]:$work/b.npy" && same a b
make u1 128,64 a
make u1 2,4,32 n
case_ $t/shift.tile src="$work/a.npy" next="$work/n.npy" out="u8[128,64]:$work/b.npy" && slide a n b
case_ $t/pair_roles.tile:slide src="$work/a.npy" next="$work/n.npy" out="u8[128,64]:$work/b.npy" && slide a n b
make u1 384,16 a
case_ $t/arrays.tile:copied src="$work/a.npy" out="u8[384,16]:$work/b.npy" && same a b
make u1 128,32 a
case_ $t/arrays.tile:slide src="$work/a.npy" next="$work/n.npy" out="u8[128,32]:$work/b.npy" && slide a n b

# The library's
make u2 50,264 a
index 50 77 i
case_ std.sm100:gather4 -arch=sm_100a table="$work/a.npy" idx="$work/i.npy" out="bf16[77,264]:$work/b.npy" && gather a i b
"$REFERENCE" distinct 90 50 $seed "$work/i.npy"
make u2 90,264 c
case_ std.sm100:scatter4 -arch=sm_100a x="$work/a.npy" idx="$work/i.npy" out="$work/c.npy:$work/b.npy" && scatter a i c b
make u1 1,32,16 a
if case_ std.sm100:scales -arch=sm_100a s="$work/a.npy" out="u8[1,128,16]:$work/b.npy"; then
    reshape a 32,16 c && reshape b 128,16 d && lanes c d 32x128b 0 8
fi
make u1 7,32,16 a
case_ std.sm100:scales -arch=sm_100a s="$work/a.npy" out="u8[7,128,16]:$work/b.npy" && reshape b 7,4,32,16 c && map a c 0 0 512,0,16,1 7,4,32,16
for bits in 4 6; do
    make u1 128,$((16 * bits)) a
    case_ std.sm100:decompress -arch=sm_100a -D decompress.T=b${bits}a16 w="$work/a.npy" out="u8[128,128]:$work/b.npy" && lanes a b 128x256b 31 $bits
done
