# The kernels of the library that is built in, for run.sh, in the terms of cases.sh and numbers.sh.
# around MODE: of each pixel of two padded images of 5 x 6 (two rows above, three pixels to the left, 9 x 13 in all) the one that it comes from; -1: none.
around() {
    awk -v mode="$1" 'function at(i, n) {
        if (mode == "zero") return i
        if (mode == "edge") return i < 0 ? 0 : i < n ? i : n - 1
        if (mode == "wrap") return (i + 10 * n) % n
        return i < 0 ? -i : i < n ? i : 2 * n - 2 - i
    }
    BEGIN {
        for (b = 0; b < 2; b++) for (p = 0; p < 9; p++) for (q = 0; q < 13; q++) {
            i = at(p - 2, 5); j = at(q - 3, 6)
            printf("%s%d", sep, i < 0 || i >= 5 || j < 0 || j >= 6 ? -1 : (b * 5 + i) * 6 + j)
            sep = ","
        }
    }'
}

for t in u8:u1 bf16:u2 f32:f4 s64:i8; do
    of=${t%:*} d=-DT=${t%:*}
    make "${t#*:}" 40000 a
    case_ std.copy:copy1 "$d" src="$work/a.npy" dst="$of[40000]:$work/b.npy" && same a b
    for shape in 1,16 130,528; do
        make "${t#*:}" $shape a
        case_ std.copy:copy2 "$d" src="$work/a.npy" dst="$of[$shape]:$work/b.npy" && same a b
        case_ std.copy:pad "$d" x="$work/a.npy" y="$of[200,560]:$work/b.npy" top=5 left=16 && affine a b 0 -5,-16 1,1
        case_ std.copy:pad "$d" x="$work/a.npy" y="$of[100,64]:$work/b.npy" top=-7 left=-32 && affine a b 0 7,32 1,1
        case_ std.rows:roll -D roll.T=$of x="$work/a.npy" out="$of[$shape]:$work/b.npy" first=0 && same a b
    done
    make "${t#*:}" 5,70,80 a
    case_ std.copy:copy3 "$d" src="$work/a.npy" dst="$of[5,70,80]:$work/b.npy" && same a b
    make "${t#*:}" 3,2,70,80 a
    case_ std.copy:copy4 "$d" src="$work/a.npy" dst="$of[3,2,70,80]:$work/b.npy" && same a b
    make "${t#*:}" 2,3,2,70,80 a
    case_ std.copy:copy5 "$d" src="$work/a.npy" dst="$of[2,3,2,70,80]:$work/b.npy" && same a b
    make "${t#*:}" 50,80 a
    case_ std.copy:repeat "$d" x="$work/a.npy" out="$of[3,50,80]:$work/b.npy" && map a b 0 0 0,80,1 3,50,80
    case $of in u8 | s64) v=3 ;; *) v=0 ;; esac
    case_ std.copy:constant "$d" y="$of[77,48]:$work/b.npy" -D constant.V=$v && constant "${t#*:}" 77,48 $v a && same a b
    case_ std.copy:constant1 "$d" y="$of[3696]:$work/b.npy" -D constant1.V=$v && constant "${t#*:}" 3696 $v a && same a b

    make "${t#*:}" 144,272 a
    case_ std.transpose:transpose2 "$d" src="$work/a.npy" dst="$of[272,144]:$work/b.npy" && map a b 0 0 1,272 272,144
    make "${t#*:}" 3,16,144 a
    case_ std.transpose:transpose3 "$d" src="$work/a.npy" dst="$of[3,144,16]:$work/b.npy" && map a b 0 0 2304,1,144 3,144,16
    make "${t#*:}" 2,3,16,144 a
    case_ std.transpose:transpose4 "$d" src="$work/a.npy" dst="$of[2,3,144,16]:$work/b.npy" && map a b 0 0 6912,2304,1,144 2,3,144,16
    make "${t#*:}" 2,1,3,16,48 a
    case_ std.transpose:transpose5 "$d" src="$work/a.npy" dst="$of[2,1,3,48,16]:$work/b.npy" && map a b 0 0 2304,2304,768,1,48 2,1,3,48,16

    for shape in 1,1,1,1 2,3,7,131; do
        make "${t#*:}" $shape a
        case_ std.odd:copy "$d" x="$work/a.npy" y="$of[$shape]:$work/b.npy" && same a b
        make "${t#*:}" $shape,1 a
        case_ std.odd:spread "$d" x="$work/a.npy" y="$of[$shape,1]:$work/b.npy" && same a b
    done
    for k in 2 3; do
        make "${t#*:}" 2,3,7,$((130 * k + 1)) a
        case_ std.odd:pick "$d" -D pick.K=$k x="$work/a.npy" y="$of[2,3,7,131]:$work/b.npy" && map a b 0 0 $((3 * 7 * (130 * k + 1))),$((7 * (130 * k + 1))),$((130 * k + 1)),$k 2,3,7,131
        make "${t#*:}" $k,7,131 a
        case_ std.odd:interleave "$d" -D interleave.K=$k x="$work/a.npy" y="$of[7,$((131 * k))]:$work/b.npy" &&
            reshape b 7,131,$k e && map a e 0 0 131,1,917 7,131,$k
    done
    make "${t#*:}" 3,67,131 a
    case_ std.odd:transpose "$d" x="$work/a.npy" y="$of[3,131,67]:$work/b.npy" && map a b 0 0 8777,1,131 3,131,67
    make "${t#*:}" 50,129 a
    index 50 77 i
    case_ std.odd:gather -D gather.T=$of table="$work/a.npy" idx="$work/i.npy" out="$of[77,129]:$work/b.npy" && gather a i b
    "$REFERENCE" distinct 90 50 $seed "$work/i.npy"
    make "${t#*:}" 90,129 c
    case_ std.odd:scatter -D scatter.T=$of x="$work/a.npy" idx="$work/i.npy" out="$work/c.npy:$work/b.npy" && scatter a i c b
    numbers_of i4 3,-1,0 i
    make "${t#*:}" 4,8,67 a
    reshape a 32,67 c
    case_ std.odd:pages "$d" cache="$work/a.npy" table="$work/i.npy" out="$of[21,67]:$work/b.npy" &&
        rows c b 24,25,26,27,28,29,30,31,-1,-1,-1,-1,-1,-1,-1,-1,0,1,2,3,4
    make "${t#*:}" 1,37,131 a
    reshape a 37,131 c
    while read -r top left shape; do # a pad, a crop
        case_ std.odd:windows "$d" x="$work/a.npy" y="$of[1,1,$shape]:$work/e.npy" D=0 H=$top W=$left I=1 J=1 SD=0 SH=0 SW=0 && reshape e $shape b && affine c b 0 $((-top)),$((-left)) 1,1
    done <<END
5 17 61,167
-7 -33 23,50
END
    make "${t#*:}" 4,6,41 a
    case_ std.odd:windows "$d" x="$work/a.npy" y="$of[16,4,7,19]:$work/b.npy" D=1 H=2 W=3 I=2 J=4 SD=2 SH=3 SW=13 && tiled a b 2,3,13 1,2,3
    make "${t#*:}" 5,3,7,131 a
    case_ std.odd:flip "$d" x="$work/a.npy" y="$of[5,3,7,131]:$work/b.npy" && map a b 0 11004 -2751,917,131,1 5,3,7,131
    make "${t#*:}" 2,3,7,131,1 a
    case_ std.odd:reverse "$d" x="$work/a.npy" y="$of[2,3,7,131,1]:$work/b.npy" && map a b 0 130 2751,917,131,-1,1 2,3,7,131,1
    case $of in u8 | s64) v=3 ;; *) v=0 ;; esac
    case_ std.odd:constant "$d" y="$of[3,5,7,131]:$work/b.npy" -D constant.V=$v && constant "${t#*:}" 3,5,7,131 $v a && same a b

    make "${t#*:}" 50,1040 a
    index 50 77 i
    case_ std.rows:gather -D gather.T=$of table="$work/a.npy" idx="$work/i.npy" out="$of[77,1040]:$work/b.npy" && gather a i b
    "$REFERENCE" distinct 90 50 $seed "$work/i.npy"
    make "${t#*:}" 90,1040 c
    case_ std.rows:scatter -D scatter.T=$of x="$work/a.npy" idx="$work/i.npy" out="$work/c.npy:$work/b.npy" && scatter a i c b
    case_ std.rows:roll -D roll.T=$of x="$work/a.npy" out="$of[50,1040]:$work/b.npy" first=13 &&
        rows a b 13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,0,1,2,3,4,5,6,7,8,9,10,11,12
    for by in 0 13 1040; do
        case $of in u8) unsigned=u8 ;; bf16) unsigned=u16 ;; f32) unsigned=u32 ;; *) unsigned=u64 ;; esac
        make "u$(echo "$t" | tail -c 2)" 50,1040 c
        case_ std.rows:roll_columns -D roll_columns.T=$unsigned x="$work/c.npy" out="$unsigned[50,1040]:$work/b.npy" right=$by &&
            block c b 0,0 50,$((1040 - by)) 0,$by && block c b 0,$((1040 - by)) 50,$by 0,0
    done
    make "${t#*:}" 5,1040 a
    case_ std.rows:roll -D roll.T=$of x="$work/a.npy" out="$of[5,1040]:$work/b.npy" first=5 && same a b
    case_ std.rows:flip -D flip.T=$of x="$work/a.npy" out="$of[5,1040]:$work/b.npy" && rows a b 4,3,2,1,0
    case_ std.rows:flip_columns -D flip_columns.T=$of x="$work/a.npy" out="$of[5,1040]:$work/b.npy" && map a b 0 1039 1040,-1 5,1040

    numbers_of i4 3,-1,0 i
    make "${t#*:}" 4,8,528 a
    reshape a 32,528 c
    case_ std.pages:gather "$d" cache="$work/a.npy" table="$work/i.npy" out="$of[21,528]:$work/b.npy" &&
        rows c b 24,25,26,27,28,29,30,31,-1,-1,-1,-1,-1,-1,-1,-1,0,1,2,3,4
    case_ std.pages:gather_whole "$d" cache="$work/a.npy" table="$work/i.npy" out="$of[3,8,528]:$work/e.npy" && reshape e 24,528 b &&
        rows c b 24,25,26,27,28,29,30,31,-1,-1,-1,-1,-1,-1,-1,-1,0,1,2,3,4,5,6,7
    make "${t#*:}" 5,528 a
    make "${t#*:}" 4,8,528 c
    numbers_of i4 31,-1,0,9,8 i
    if case_ std.pages:append "$d" x="$work/a.npy" slot="$work/i.npy" cache="$work/c.npy:$work/b.npy"; then
        reshape c 32,528 d && reshape b 32,528 e && scatter a i d e
    fi

    numbers_of i4 0,3,3,10 i
    make "${t#*:}" 10,144 a
    if case_ std.ragged:unpack "$d" x="$work/a.npy" offs="$work/i.npy" out="$of[3,5,144]:$work/b.npy"; then
        reshape b 15,144 c && rows a c 0,1,2,-1,-1,-1,-1,-1,-1,-1,3,4,5,6,7
    fi
    make "${t#*:}" 3,7,144 a
    reshape a 21,144 c
    case_ std.ragged:pack "$d" x="$work/a.npy" offs="$work/i.npy" out="$of[10,144]:$work/b.npy" && rows c b 0,1,2,14,15,16,17,18,19,20
    make "${t#*:}" 10,144 a
    make "${t#*:}" 12,144 c
    numbers_of i4 1,4,6,12 j
    numbers_of i4 1,2,3,6,7,8,9,10,11 k
    numbers_of i4 0,1,2,3,4,5,6,7,8 l
    case_ std.ragged:copy "$d" from="$work/a.npy" offs="$work/i.npy" to="$work/c.npy:$work/b.npy" at="$work/j.npy" && {
        "$REFERENCE" take "$work/a.npy" "$work/l.npy" 9 "$work/d.npy" && scatter d k c b
    }
    # rows of no group, behind the last one more than a group of the batch has; chunks that end inside rows
    numbers_of i4 2,5,5,9 i
    make "${t#*:}" 3,4,144 a
    reshape a 12,144 c
    for chunk in 16 2048; do
        case_ std.ragged:pack "$d" -D pack.C=$chunk x="$work/a.npy" offs="$work/i.npy" out="$of[22,144]:$work/b.npy" &&
            rows c b -1,-1,0,1,2,8,9,10,11,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1
    done
    numbers_of i4 0,7,7,9 i # a group that is longer than the batch, and one beyond the end
    case_ std.ragged:pack "$d" x="$work/a.npy" offs="$work/i.npy" out="$of[8,144]:$work/b.npy" && rows c b 0,1,2,3,-1,-1,-1,8
    numbers_of i4 1,4,4,9 i
    make "${t#*:}" 7,144 a
    if case_ std.ragged:unpack "$d" -D unpack.C=32 x="$work/a.npy" offs="$work/i.npy" out="$of[3,4,144]:$work/b.npy"; then
        reshape b 12,144 c && rows a c 1,2,3,-1,-1,-1,-1,-1,4,5,6,-1
    fi

    make "${t#*:}" 70,64 a
    make "${t#*:}" 70,272 c
    make "${t#*:}" 70,16 d
    case_ std.copy:concat2 "$d" a="$work/a.npy" b="$work/c.npy" out="$of[70,336]:$work/b.npy" && block a b 0,0 70,64 0,0
    case_ std.copy:concat2 "$d" a="$work/a.npy" b="$work/c.npy" out="$of[70,336]:$work/b.npy" && block c b 0,0 70,272 0,64
    case_ std.copy:concat3 "$d" a="$work/a.npy" b="$work/c.npy" c="$work/d.npy" out="$of[70,352]:$work/b.npy" && block c b 0,0 70,272 0,64
    case_ std.copy:concat3 "$d" a="$work/a.npy" b="$work/c.npy" c="$work/d.npy" out="$of[70,352]:$work/b.npy" && block d b 0,0 70,16 0,336

    make "${t#*:}" 4,4,1040 a
    case_ std.cluster:all_to_all "$d" x="$work/a.npy" out="$of[4,4,1040]:$work/b.npy" && map a b 0 0 1040,4160,1 4,4,1040
    make "${t#*:}" 50,80 a
    case_ std.cluster:broadcast "$d" w="$work/a.npy" out="$of[4,50,80]:$work/b.npy" && map a b 0 0 0,80,1 4,50,80
    make "${t#*:}" 4,1040 a
    case_ std.cluster:all_gather "$d" x="$work/a.npy" out="$of[4,4,1040]:$work/b.npy" && map a b 0 0 0,1040,1 4,4,1040
    case_ std.cluster:ring "$d" x="$work/a.npy" out="$of[4,1040]:$work/b.npy" && rows a b 3,0,1,2

    case $of in bf16 | s64) continue ;; esac # the rest is alike for all types
    make "${t#*:}" 70,272 c
    case_ std.copy:split2 "$d" x="$work/c.npy" a="$of[70,48]:$work/b.npy" b="$of[70,224]:$work/e.npy" && block c b 0,0 70,48 0,0 && block c e 0,48 70,224 0,0
    case_ std.copy:split3 "$d" x="$work/c.npy" a="$of[70,16]:$work/b.npy" b="$of[70,32]:$work/e.npy" c="$of[70,224]:$work/f.npy" &&
        block c b 0,0 70,16 0,0 && block c e 0,16 70,32 0,0 && block c f 0,48 70,224 0,0
    case_ std.copy:slide "$d" x="$work/c.npy" y="$of[70,464]:$work/b.npy" left=21 && affine c b 0 0,-21 1,1
    case_ std.copy:slide "$d" x="$work/c.npy" y="$of[70,224]:$work/b.npy" left=-3 && affine c b 0 0,3 1,1

    make "${t#*:}" 2,70,7,16 a
    case_ std.heads:split -Dsplit.T=$of -Dsplit.D=16 x="$work/a.npy" y="$of[2,7,70,16]:$work/b.npy" && map a b 0 0 7840,16,112,1 2,7,70,16
    case_ std.heads:split_qkv -Dsplit_qkv.T=$of -Dsplit_qkv.D=16 qkv="$work/a.npy" q="$of[2,3,70,16]:$work/q.npy" k="$of[2,2,70,16]:$work/k.npy" \
        v="$of[2,2,70,16]:$work/v.npy" && map a q 0 0 7840,16,112,1 2,3,70,16 && map a k 0 48 7840,16,112,1 2,2,70,16 && map a v 0 80 7840,16,112,1 2,2,70,16
    make "${t#*:}" 2,7,70,16 a
    case_ std.heads:merge -Dmerge.T=$of -Dmerge.D=16 x="$work/a.npy" y="$of[2,70,7,16]:$work/b.npy" && map a b 0 0 7840,16,1120,1 2,70,7,16
    make "${t#*:}" 2,3,70,16 q
    make "${t#*:}" 2,2,70,16 k
    make "${t#*:}" 2,2,70,16 v
    case_ std.heads:merge_qkv -Dmerge_qkv.T=$of -Dmerge_qkv.D=16 q="$work/q.npy" k="$work/k.npy" v="$work/v.npy" qkv="$of[2,70,7,16]:$work/b.npy" &&
        map b q 0 0 7840,16,112,1 2,3,70,16 && map b k 0 48 7840,16,112,1 2,2,70,16 && map b v 0 80 7840,16,112,1 2,2,70,16

    make "${t#*:}" 2,144,3,16 a
    case_ std.layout:nchw_to_nhwc "$d" x="$work/a.npy" y="$of[2,3,16,144]:$work/b.npy" && map a b 0 0 6912,16,1,48 2,3,16,144
    make "${t#*:}" 2,3,16,144 a
    case_ std.layout:nhwc_to_nchw "$d" x="$work/a.npy" y="$of[2,144,3,16]:$work/b.npy" && map a b 0 0 6912,1,2304,144 2,144,3,16
    for k in 2 3; do
        make "${t#*:}" $k,40,144 a
        case_ std.layout:interleave "$d" -D interleave.K=$k x="$work/a.npy" y="$of[40,$((144 * k))]:$work/b.npy" &&
            reshape b 40,144,$k c && map a c 0 0 144,1,5760 40,144,$k
        make "${t#*:}" 40,$((144 * k)) a
        case_ std.layout:deinterleave "$d" -D deinterleave.K=$k x="$work/a.npy" y="$of[$k,40,144]:$work/b.npy" && map a b 0 0 1,$((144 * k)),$k $k,40,144
    done

    make "${t#*:}" 2,5,6,48 a
    reshape a 60,48 c
    for mode in zero edge reflect wrap; do
        case_ std.pad:$mode "$d" x="$work/a.npy" y="$of[2,9,13,48]:$work/b.npy" top=2 left=3 && reshape b 234,48 e && rows c e "$(around $mode)"
    done
done

make f4 77,1040 a
index 50 77 i
make f4 50,1040 c
small f32 77,1040 100 a
small f32 50,1040 100 c
for a in 0 1; do case_ std.rows:scatter_add -D scatter_add.A=$a x="$work/a.npy" idx="$work/i.npy" sum="$work/c.npy:$work/b.npy" && scatter_add a i c b; done
small bf16 77,1040 100 a
if case_ std.convert:convert x="$work/a.npy" y="f32[77,1040]:$work/d.npy"; then
    convert bf16 f32 a d 0
    for a in 0 1; do case_ std.rows:combine -D combine.A=$a x="$work/a.npy" idx="$work/i.npy" sum="$work/c.npy:$work/b.npy" && scatter_add d i c b; done
fi
for t in f32:e4m3 f16:s8 s32:f64 f64:bf16; do
    edges "${t%:*}" 70,144 a
    case_ std.convert:convert "-Dconvert.T=${t%:*}" "-Dconvert.U=${t#*:}" x="$work/a.npy" y="${t#*:}[70,144]:$work/b.npy" && converted "${t%:*}" "${t#*:}" a b 0
    case_ std.convert:saturate "-Dsaturate.T=${t%:*}" "-Dsaturate.U=${t#*:}" x="$work/a.npy" y="${t#*:}[70,144]:$work/b.npy" && converted "${t%:*}" "${t#*:}" a b 1
    case_ std.odd:convert "-Dconvert.T=${t%:*}" "-Dconvert.U=${t#*:}" x="$work/a.npy" y="${t#*:}[70,144]:$work/b.npy" && converted "${t%:*}" "${t#*:}" a b 0
    case_ std.odd:saturate "-Dsaturate.T=${t%:*}" "-Dsaturate.U=${t#*:}" x="$work/a.npy" y="${t#*:}[70,144]:$work/b.npy" && converted "${t%:*}" "${t#*:}" a b 1
done

# Filters: size, padding, stride, dilation
while read -r size padding stride dilation; do
    p=$(((13 + 2 * ${padding%,*} - ${dilation%,*} * (${size%,*} - 1) - 1) / ${stride%,*} + 1))
    q=$(((11 + 2 * ${padding#*,} - ${dilation#*,} * (${size#*,} - 1) - 1) / ${stride#*,} + 1)) taps=$((${size%,*} * ${size#*,}))
    filter() {
        echo "-D $1.R=${size%,*} -D $1.S=${size#*,} -D $1.PH=${padding%,*} -D $1.PW=${padding#*,} -D $1.SH=${stride%,*} -D $1.SW=${stride#*,}" \
            "-D $1.DH=${dilation%,*} -D $1.DW=${dilation#*,}"
    }
    make u2 2,13,11,72 a
    # shellcheck disable=SC2046
    case_ std.conv:im2col2 $(filter im2col2) -D im2col2.BC=32 x="$work/a.npy" cols="bf16[2,$p,$q,$((taps * 72))]:$work/b.npy" &&
        reshape b $((2 * p * q)),$((taps * 72)) c && columns a c $size $padding $stride $dilation
    make u2 2,13,11,24 a
    reshape a 2,1,13,11,24 c
    # shellcheck disable=SC2046
    case_ std.conv:im2col_narrow -D im2col_narrow.F=1 -D im2col_narrow.PD=0 $(filter im2col_narrow) -D im2col_narrow.C=24 -D im2col_narrow.BH=3 -D im2col_narrow.BW=4 \
        x="$work/c.npy" cols="bf16[2,1,$p,$q,$((taps * 24))]:$work/b.npy" &&
        reshape b $((2 * p * q)),$((taps * 24)) c && columns a c $size $padding $stride $dilation
    small f32 $((2 * p * q)),$((taps * 16)) 100 a
    reshape a 2,$p,$q,$((taps * 16)) c
    # shellcheck disable=SC2046
    case_ std.conv:col2im2 -D col2im2.T=f32 $(filter col2im2) cols="$work/c.npy" y="f32[2,13,11,16]:$work/b.npy" && folded a b $size $padding $stride $dilation
done <<END
3,3 1,1 1,1 1,1
3,3 1,1 2,2 1,1
2,3 0,2 1,2 2,1
5,5 2,2 3,3 1,1
END
make f4 3,29,24 a
case_ std.conv:im2col1 -D im2col1.T=f32 -D im2col1.S=4 -D im2col1.SW=2 -D im2col1.PW=3 x="$work/a.npy" cols="f32[3,16,96]:$work/b.npy" &&
    reshape b 48,96 c && columns a c 4 3 2 1
make f4 2,5,7,6,24 a
case_ std.conv:im2col3 -D im2col3.T=f32 x="$work/a.npy" cols="f32[2,5,7,6,648]:$work/b.npy" && reshape b 420,648 c && columns a c 3,3,3 1,1,1 1,1,1 1,1,1
case_ std.conv:im2col_narrow -D im2col_narrow.T=f32 -D im2col_narrow.C=24 -D im2col_narrow.DD=2 -D im2col_narrow.PD=2 x="$work/a.npy" cols="f32[2,5,7,6,648]:$work/b.npy" &&
    reshape b 420,648 c && columns a c 3,3,3 2,1,1 1,1,1 2,1,1
for tile in 1:4 3:4; do
    case_ std.conv:im2col_deep -D im2col_deep.T=f32 -D im2col_deep.C=24 -D im2col_deep.DD=2 -D im2col_deep.PD=2 -D im2col_deep.BH=${tile%:*} -D im2col_deep.BW=${tile#*:} \
        x="$work/a.npy" cols="f32[2,5,7,6,648]:$work/b.npy" && reshape b 420,648 c && columns a c 3,3,3 2,1,1 1,1,1 2,1,1
done

make f4 50,72 a
for g in 1 2 8; do case_ std.halo:halo2 -D halo2.G=$g -D halo2.BH=16 -D halo2.BW=32 x="$work/a.npy" y="f32[4,3,18,40]:$work/b.npy" && tiled a b 16,32 1,4; done
make f4 9,10,40 a
for planes in 10:8 10:1 5:1 5:8; do
    case_ std.halo:halo3 -D halo3.P=${planes%:*} -D halo3.G=${planes#*:} -D halo3.BW=32 x="$work/a.npy" y="f32[8,10,10,40]:$work/b.npy" && tiled a b 8,8,32 1,1,4
done
make f4 2,9,17,24 a
case_ std.halo:halo_nhwc -D halo_nhwc.T=f32 -D halo_nhwc.BC=16 x="$work/a.npy" y="f32[12,10,10,24]:$work/b.npy" && tiled a b 1,8,8,24 0,1,1,0

small f32 5,40,144 100 a
constant f4 40,144 0 c
case_ std.sums:split_k part="$work/a.npy" out="f32[40,144]:$work/b.npy" && sum a c b
case_ std.sums:few -D few.S=5 -D few.T=f32 -D few.U=f32 part="$work/a.npy" out="f32[40,144]:$work/b.npy" && sum a c b
small f32 40,144 100 c
case_ std.sums:accumulate part="$work/a.npy" out="$work/c.npy:$work/b.npy" && sum a c b
# Tokens of three rows each: to the sums of the rows what gathering them and summing up gives.
small f32 50,144 100 a
index 50 63 i
reshape i 21,3 j
constant f4 21,144 0 c
"$REFERENCE" take "$work/a.npy" "$work/i.npy" 63 "$work/d.npy"
case_ std.sums:unpermute -D unpermute.K=3 -D unpermute.T=f32 -D unpermute.U=f32 y="$work/a.npy" row="$work/j.npy" out="f32[21,144]:$work/b.npy" && {
    numbers_of i4 0,0,0,1,1,1,2,2,2,3,3,3,4,4,4,5,5,5,6,6,6,7,7,7,8,8,8,9,9,9,10,10,10,11,11,11,12,12,12,13,13,13,14,14,14,15,15,15,16,16,16,17,17,17,18,18,18,19,19,19,20,20,20 k
    scatter_add d k c b
}
# Tokens to three rows each: what gathering tokens by the rows' numbers gives.
small f32 21,144 100 a
numbers_of i4 7,0,11,3,4,62,6,1,8,9,10,2,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56,57,58,59,60,61,5 i
numbers_of i4 0,2,3,1,1,20,2,0,2,3,3,0,4,4,4,5,5,5,6,6,6,7,7,7,8,8,8,9,9,9,10,10,10,11,11,11,12,12,12,13,13,13,14,14,14,15,15,15,16,16,16,17,17,17,18,18,18,19,19,19,20,20,1 k
reshape i 21,3 j
for c in '512|256' 64; do case_ std.rows:dispatch -D dispatch.K=3 -D dispatch.T=f32 -D "dispatch.C=$c" x="$work/a.npy" row="$work/j.npy" out="f32[63,144]:$work/b.npy" && gather a k b; done
small f32 4,4,1040 100 a
constant f4 4,1040 0 c
case_ std.cluster:reduce_scatter x="$work/a.npy" out="f32[4,1040]:$work/b.npy" && sum a c b

# Functions
g=tests/golden/std
make u2 200,136 a
make u2 72,136 c
case_ $g/gemm_roles.tile A="$work/a.npy" B="$work/c.npy" oa="bf16[2,200,136]:$work/b.npy" ob="bf16[2,72,136]:$work/d.npy" && map a b 0 0 0,136,1 2,200,136 && map c d 0 0 0,136,1 2,72,136
make f4 136,68 a
make f4 72,68 c
for k in shared_loads own_loads; do
    case_ $g/gemm_cluster.tile:$k A="$work/a.npy" B="$work/c.npy" oa="f32[2,136,68]:$work/b.npy" ob="f32[3,72,68]:$work/d.npy" && map a b 0 0 0,68,1 2,136,68 && map c d 0 0 0,68,1 3,72,68
done
case_ $g/gemm_cluster.tile:one A="$work/a.npy" out="f32[136,68]:$work/b.npy" && same a b
make u2 70,136 a
make u2 70,136 c
index 70 45 i
case_ $g/tiles.tile:copy x="$work/a.npy" y="bf16[70,136]:$work/b.npy" && same a b
case_ $g/tiles.tile:gather table="$work/a.npy" idx="$work/i.npy" y="bf16[45,136]:$work/b.npy" && gather a i b
edges f16 70,136 a
case_ $g/tiles.tile:convert x="$work/a.npy" y="f32[70,136]:$work/b.npy" && converted f16 f32 a b 0
make f4 70,136 a
make f4 136,72 c
case_ $g/tiles.tile:transpose x="$work/c.npy" y="f32[72,136]:$work/b.npy" && map c b 0 0 1,72 72,136
small f32 1,70,136 100 a
small f32 70,136 100 c
reshape a 70,136 d
case_ $g/tiles.tile:add x="$work/d.npy" y="$work/c.npy:$work/b.npy" && sum a c b
case_ $g/tiles.tile:filled y="s32[70,136]:$work/b.npy" && constant i4 70,136 7 a && same a b
