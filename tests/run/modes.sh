# Load modes for run.sh, in the terms of cases.sh: im2col, rows of pixels, four rows by index, barriers of pairs.
m=$h/modes

# ---- im2col ----
for shape in 1,1,1 1,8,16 3,5,7 2,1,130 $(many 7,33,29 3,17,9); do
    pixels=$(($(echo "$shape" | tr , '*')))
    make u2 "$shape,64" a
    case_ examples/im2col.tile x="$work/a.npy" cols="bf16[$pixels,576]:$work/b.npy" && im2col3x3 a b
    case_ $m/multicast.tile x="$work/a.npy" cols="bf16[2,$pixels,64]:$work/b.npy" && periodic a b
    case_ $m/version_80.tile x="$work/a.npy" cols="bf16[$pixels,64]:$work/b.npy" && im2col a b -1,-1 -1,-1 1,1 0,2 1,1 0
    case_ $m/prefetch.tile x="$work/a.npy" cols="bf16[$pixels,64]:$work/b.npy" && im2col a b -1,-1 -1,-1 1,1 2,1 1,1 0
    make u2 "$pixels,64" a
    make u2 "$shape,64" b
    case_ examples/im2col_store.tile cols="$work/a.npy" y="$work/b.npy:$work/c.npy" && col2im a b c 0,0 0,0 0
done
for shape in 1,4,32 3,10,64 5,130,32; do # every second pixel, with NaN beside the rows
    n=${shape%%,*} wc=${shape#*,}
    w=${wc%,*} c=${wc#*,}
    make f4 "$shape" a
    for s in 0 1 2; do
        case_ $m/im2col_3d.tile x="$work/a.npy" out="f32[$((n * w / 2)),$c]:$work/b.npy" first=$s &&
            im2col a b -1 -1 2 $s 1 7ff77ff7
    done
done
for shape in 1,1,1,1,32 2,3,4,5,40 1,2,9,8,64; do
    make u2 "$shape" a
    pixels=$(($(echo "${shape%,*}" | tr , '*')))
    case_ $m/im2col_5d.tile x="$work/a.npy" out="bf16[$pixels,27,32]:$work/b.npy" && im2col a b -1,-1,-1 -1,-1,-1 1,1,1 0,0,0 3,3,3 0
done
for shape in 1,3,3 2,9,5 3,12,40; do # inside a border
    n=${shape%%,*} hw=${shape#*,}
    pixels=$((n * (${hw%,*} - 2) * (${hw#*,} - 2)))
    make u2 "$pixels,64" a
    make u2 "$shape,64" b
    case_ $m/im2col_crop.tile cols="$work/a.npy" y="$work/b.npy:$work/c.npy" && col2im a b c 1,1 -1,-1 0
done
for shape in 1,3,5 2,9,31; do
    small f32 "$(($(echo "$shape" | tr , '*'))),64" 1000 a
    small f32 "$shape,64" 1000 b
    case_ $m/im2col_add.tile cols="$work/a.npy" y="$work/b.npy:$work/c.npy" && col2im a b c 0,0 0,0 1
done
make u2 1,5,7,32 a
case_ $m/im2col_steps.tile x="$work/a.npy" cols="bf16[18,32]:$work/b.npy" && im2col a b 1,-1 0,1 2,1 0,0 1,1 0
make u2 1,9,40,64 a # a base pixel that the launch checks: cta.x - 2 < W
case_ $m/im2col_base.tile:corner x="$work/a.npy" out="bf16[40,32,64]:$work/b.npy"
refuse_ 2 'E1139.*cta.x - 2 <= W - 1' $m/im2col_base.tile:corner x="$work/a.npy" out="bf16[43,32,64]:$work/b.npy"
make u2 1,1,300,64 a
case_ $m/im2col_base.tile:shifted x="$work/a.npy" out="bf16[32,64]:$work/b.npy" s=255 && map a b 0 $((255 * 64)) 64,1 32,64
refuse_ 2 'E1140.*s <= 255' $m/im2col_base.tile:shifted x="$work/a.npy" out="bf16[32,64]:$work/b.npy" s=256
for shape in 0,4,4 3,0,4 3,4,0; do # no pixels
    make u2 "$shape,64" a
    case_ examples/im2col.tile x="$work/a.npy" cols="bf16[0,576]:$work/b.npy"
done

# ---- im2col of interleaved tensors ----
il=$m/im2col_slices.tile
for shape in 1,1,1,1 1,2,8,16 3,1,5,7 2,3,1,130 $(many 5,2,33,29 2,2,11,9); do # N, S, H, W
    rest=${shape#*,*,}
    pixels=$((${shape%%,*} * ${rest%,*} * ${rest#*,}))
    slices=${shape#*,}
    slices=${slices%%,*}
    make f2 "$shape,8" a
    case_ $il:taps x="$work/a.npy" cols="f16[9,$slices,$pixels,8]:$work/b.npy" && slices a b -1,-1 -1,-1 1,1 0,0 3,3 0
    make u2 "$shape,16" a
    case_ $il:slices32 x="$work/a.npy" out="bf16[2,$slices,$pixels,16]:$work/b.npy" && slices a b -1,-1 -1,-1 1,1 1,1 1,1 0
    make f2 "$shape,8" a
    case_ $il:ring x="$work/a.npy" y="f16[1,$slices,$pixels,8]:$work/b.npy" && slices a b -1,-1 -1,-1 1,1 1,1 1,1 0
done
for shape in 1,1,4 3,2,10 2,5,130; do # N, S, W
    n=${shape%%,*} rest=${shape#*,}
    make f4 "$shape,4" a
    for s in 0 1 2; do
        case_ $il:rows x="$work/a.npy" out="f32[1,${rest%,*},$((n * ${rest#*,} / 2)),4]:$work/b.npy" first=$s &&
            slices a b -1 -1 2 $s 1 7ff77ff7
    done
    small f32 "1,${rest%,*},$((n * ${rest#*,})),8" 1000 a
    small f32 "$shape,8" 1000 b
    case_ $il:add cols="$work/a.npy" y="$work/b.npy:$work/c.npy" && unslice a b c 0 0 1
done
for shape in 1,1,3,3 2,3,9,5 3,2,12,40; do
    rest=${shape#*,*,} slices=${shape#*,}
    slices=${slices%%,*}
    make f2 "1,$slices,$((${shape%%,*} * (${rest%,*} - 2) * (${rest#*,} - 2))),8" a
    make f2 "$shape,8" b
    case_ $il:inner cols="$work/a.npy" y="$work/b.npy:$work/c.npy" && unslice a b c 1,1 -1,-1 0
done
make u1 2,3,5,40,32 a
constant u1 1,1,32,32 0 z
for at in 0,0,0 1,2,4 1,0,3; do # image, slice, row
    rest=${at#*,}
    case_ $il:given x="$work/a.npy" out="u8[1,1,32,32]:$work/b.npy" n=${at%%,*} c=${rest%,*} h=${rest#*,} &&
        map a b 0 $((((${at%%,*} * 3 + ${rest%,*}) * 5 + ${rest#*,}) * 40 * 32)) 0,0,32,1 1,1,32,32
done
for at in 1,0,-1 0,2,5 2,0,0 -1,1,2 0,3,1 1,-1,0 0,2000000000,0; do # what is not there is the fill
    rest=${at#*,}
    case_ $il:given x="$work/a.npy" out="u8[1,1,32,32]:$work/b.npy" n=${at%%,*} c=${rest%,*} h=${rest#*,} && same z b
done
refuse_ 2 'E1139.*-1 <= h <= H' $il:given x="$work/a.npy" out="u8[1,1,32,32]:$work/b.npy" n=0 c=0 h=6
for shape in 0,2,4,7 3,0,4,8 3,2,0,5; do
    make u1 "$shape,32" a
    case_ $il:given x="$work/a.npy" out="u8[1,1,32,32]:$work/b.npy" n=0 c=0 h=0 && same z b
done
make u1 0,1,4,9,32 a
refuse_ 2 'E1108.*rows of 9 slices' $il:given x="$work/a.npy" out="u8[1,1,32,32]:$work/b.npy" n=0 c=0 h=0
for shape in 0,1,4,4 3,0,4,40 3,2,0,40 2,1,4,0; do # no pixels
    slices=${shape#*,}
    make f2 "$shape,8" a
    case_ $il:taps x="$work/a.npy" cols="f16[9,${slices%%,*},0,8]:$work/b.npy"
done

# ---- sm_100 ----
case $device in sim*)
    for shape in 1,1,133 2,3,150; do
        make u2 "$shape,64" a
        n=${shape%%,*} hw=${shape#*,}
        rows=$((n * ${hw%,*}))
        case_ $m/w_rows.tile x="$work/a.npy" out="bf16[$rows,130,64]:$work/b.npy" out8="bf16[$rows,136,64]:$work/c.npy" &&
            w_rows a b 128 2 0 && w_rows a c 32 2 1
    done
    g=$m/halo_given.tile
    for shape in 1,1,132 2,3,150; do
        make u2 "$shape,64" a
        n=${shape%%,*} hw=${shape#*,}
        rows=$((n * ${hw%,*}))
        case_ $g:steps x="$work/a.npy" out="bf16[3,$rows,130,64]:$work/b.npy" out8="bf16[3,$rows,136,64]:$work/c.npy" &&
            w_steps a b 128 2 0 0 1 && w_steps a c 32 2 0 0 2
        for at in 1,0 2,0 1,31 2,3; do
            case_ $g:given x="$work/a.npy" out="bf16[1,$rows,128,64]:$work/b.npy" out8="bf16[1,$rows,132,64]:$work/c.npy" h=${at%,*} o=${at#*,} &&
                w_steps a b 128 ${at%,*} 0 ${at#*,} 0 && w_steps a c 32 ${at%,*} 0 ${at#*,} 0
        done
        refuse_ 2 'E1141.*h <= 2' $g:given x="$work/a.npy" out="bf16[1,$rows,128,64]:$work/b.npy" out8="bf16[1,$rows,132,64]:$work/c.npy" h=3 o=0
        refuse_ 2 'E1141.*o <= 31' $g:given x="$work/a.npy" out="bf16[1,$rows,128,64]:$work/b.npy" out8="bf16[1,$rows,132,64]:$work/c.npy" h=1 o=32
        for at in 1 2; do
            case_ $g:shared_rows x="$work/a.npy" out="bf16[2,$rows,129,64]:$work/b.npy" h=$at && w_steps a b 128 $at 0 1 0
            case_ $g:exchanged x="$work/a.npy" out="bf16[2,$rows,129,64]:$work/b.npy" h=$at && w_steps a b 128 $at 0 0 1
        done
        make u2 "$shape,32" a
        case_ $g:cleared x="$work/a.npy" out="bf16[3,$rows,130,32]:$work/b.npy" out8="bf16[3,$rows,136,32]:$work/c.npy" &&
            w_steps a b 128 0 1 2 -1 && w_steps a c 32 0 1 0 0
    done
    for shape in 1,2,128 2,3,384; do # whole tiles of the rows: a halo reaches into the next one, at the end of the row into the fill
        make u2 "$shape,64" a
        rows=$(($(echo "$shape" | tr , '*') / 128))
        case_ examples/im2col_w.tile x="$work/a.npy" out="bf16[$rows,130,64]:$work/b.npy" out8="bf16[$rows,136,64]:$work/c.npy" &&
            w_rows a b 128 2 0 && w_rows a c 32 2 1
    done
    make u2 1,1,130,64 a
    refuse_ 2 'E1139.*w . 128 <= W - 128' examples/im2col_w.tile x="$work/a.npy" out="bf16[2,130,64]:$work/b.npy" out8="bf16[2,136,64]:$work/c.npy"
    for r in 1 4 63 64 65 300; do
        make u2 97,512 a
        index 97 $r i
        case_ examples/gather4.tile table="$work/a.npy" idx="$work/i.npy" out="bf16[$r,512]:$work/b.npy" && gather a i b
        make u2 97,64 a
        indices i8 97 $r i
        case_ $m/gather4.tile:many x="$work/a.npy" idx="$work/i.npy" out="bf16[$r,64]:$work/b.npy" && gather a i b
        index 97 $r i
        case_ $m/gather4.tile:few x="$work/a.npy" idx="$work/i.npy" out="bf16[$r,64]:$work/b.npy" && gather a i b
        "$REFERENCE" take "$work/a.npy" "$work/i.npy" $r "$work/c.npy"
        case_ $m/gather4.tile:shared_rows x="$work/a.npy" idx="$work/i.npy" out="bf16[2,$r,64]:$work/b.npy" && periodic c b
        make u2 $r,256 a
        make u2 350,256 b
        "$REFERENCE" distinct 350 $r $seed "$work/i.npy"
        case_ $m/scatter4.tile:scatter x="$work/a.npy" idx="$work/i.npy" out="$work/b.npy:$work/c.npy" && scatter a i b c
        make u2 $r,64 a
        make u2 350,64 b
        case_ $m/scatter4.tile:few x="$work/a.npy" idx="$work/i.npy" out="$work/b.npy:$work/c.npy" && scatter a i b c
    done
    make f4 9,32 a
    case_ $m/gather4.tile:listed x="$work/a.npy" out="f32[4,32]:$work/b.npy" && rows a b 3,0,7,8
    make u2 4,64 a
    make u2 9,64 b
    constant i4 4 0 i
    case_ $m/scatter4.tile:last x="$work/a.npy" out="$work/b.npy:$work/c.npy" a=-1 b=9 && block a c 2,0 1,64 0,0 && block a c 3,0 1,64 8,0 &&
        block b c 1,0 7,64 1,0
    make u2 5,1,200,64 a
    make u2 20,64 d
    index 20 9 i
    case_ $m/prefetches.tile x="$work/a.npy" table="$work/d.npy" idx="$work/i.npy" out="bf16[5,64]:$work/b.npy" &&
        map a b 0 0 12800,1 5,64
    make u2 1,1,200,64 a # from pixel 1 on by offsets, from pixel 0 on without
    make u2 20,64 d
    index 20 64 i
    "$REFERENCE" take "$work/d.npy" "$work/i.npy" 64 "$work/e.npy"
    for kernel in to_peer on_pair; do
        case_ $m/peers.tile:$kernel x="$work/a.npy" table="$work/d.npy" idx="$work/i.npy" out="bf16[3,2,64,64]:$work/b.npy" \
            got="bf16[2,64,64]:$work/c.npy" && periodic e c &&
            for r in 0 1; do
                block a b 0,0,1,0 1,1,64,64 0,$r,0,0 && block a b 0,0,1,0 1,1,64,64 1,$r,0,0 && block a b 0,0,0,0 1,1,64,64 2,$r,0,0
            done
    done
    case_ $m/peers.tile:to_all x="$work/a.npy" out="bf16[2,2,64,64]:$work/b.npy" &&
        for r in 0 1; do block a b 0,0,1,0 1,1,64,64 0,$r,0,0 && block a b 0,0,0,0 1,1,64,64 1,$r,0,0; done
    for r in 1 64 200 1000; do
        make u2 $r,64 a
        case_ $m/pair.tile:pair x="$work/a.npy" y="bf16[$r,64]:$work/b.npy" && same a b
        case_ $m/pair_peer.tile:swap x="$work/a.npy" y="bf16[$r,64]:$work/b.npy" && same a b
    done
    for n in 0 1 2 3 4 7 40; do
        make u2 $((n * 128)),64 a
        case_ $m/pair_ring.tile x="$work/a.npy" y="bf16[$((n * 128)),64]:$work/b.npy" n=$n && same a b
        case_ $m/pair_peer.tile:ring x="$work/a.npy" y="bf16[$((n * 128)),64]:$work/b.npy" && same a b
    done
    for shape in 1,1,7 3,9,40; do
        make u2 "$shape,64" a
        case_ $m/ahead.tile:pixels x="$work/a.npy" cols="bf16[$(($(echo "$shape" | tr , '*'))),64]:$work/b.npy" && periodic a b
    done
    for r in 1 200 2000; do
        make u2 97,64 a
        index 97 $r i
        case_ $m/ahead.tile:picked x="$work/a.npy" idx="$work/i.npy" out="bf16[$r,64]:$work/b.npy" && gather a i b
    done
    make u2 64,64 a
    case_ $m/pair.tile:four x="$work/a.npy" y="bf16[4,64,64]:$work/b.npy" && periodic a b
    make u2 4,64,64 a
    case_ $m/pair_peer.tile:far x="$work/a.npy" y="bf16[4,64,64]:$work/b.npy" && same a b ;;
esac
