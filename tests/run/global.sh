# Threads between tensors and tiles, for run.sh in the terms of cases.sh: rows of any length, steps, parts outside.
g=tests/golden/threads/global.tile

for shape in 1,1 7,39 24,41 70,133 $(many '50,81 259,517' 49,79); do
    make u2 "$shape" a
    case_ $g:odd src="$work/a.npy" dst="bf16[$shape]:$work/b.npy" && same a b
done
for shape in 1,8 24,64 70,136 $(many 259,520 47,72); do
    make u2 "$shape" a
    case_ $g:wide src="$work/a.npy" dst="bf16[$shape]:$work/b.npy" && same a b
done
for shape in 1,1 3,128 4,129 7,260 $(many '50,515 61,1027' 5,387); do
    make u2 "$shape" a
    case_ $g:words src="$work/a.npy" dst="bf16[$shape]:$work/b.npy" && same a b
done
for shape in 1,3 4,227 6,230 9,470 $(many '50,1027 61,2049' 5,701); do
    make u1 "$shape" a
    case_ $g:cut src="$work/a.npy" dst="u8[$shape]:$work/b.npy" && affine a b 0 -1,-5 1,1
    case_ $g:cut_back src="$work/a.npy" dst="u8[$shape]:$work/b.npy" && affine a b 0 1,5 1,1
done
for n in 1 16 45 $(many 300 33); do
    make u1 "$n,24" a
    case_ $g:narrow src="$work/a.npy" dst="u8[$n,24]:$work/b.npy" && block a b 0,4 "$n,20" 0,0 && block a b 0,0 "$n,4" 0,20
    make i4 "$n,37" a
    case_ $g:again src="$work/a.npy" dst="s32[$n,37]:$work/b.npy" && same a b
    make f4 "$n,5" a
    make f4 "5,$n" b
    case_ $g:column src="$work/a.npy" dst="$work/b.npy:$work/c.npy" && {
        constant f4 "1,1" 0 zero
        block b c 0,0 "2,$n" 0,0 && block b c 3,0 "2,$n" 3,0
        i=0
        while [ $i -lt "$n" ] && [ $i -lt 3 ]; do
            block a c $i,3 1,1 2,$i
            i=$((i + 1))
        done
    }
done
for n in 2 8 $(many 62 30); do
    make u2 "$n,33" a
    case_ $g:teams src="$work/a.npy" dst="u16[$n,33]:$work/b.npy" && {
        i=0
        while [ $i -lt "$n" ] && [ $i -lt 8 ]; do
            block a b $i,0 1,33 $((i + 1)),0 && block a b $((i + 1)),0 1,33 $i,0
            i=$((i + 2))
        done
    }
done
for shape in 1,1 8,8 9,17 $(many 61,45 23,30); do
    make f8 "$shape" a
    case_ $g:steps src="$work/a.npy" dst="f64[$shape]:$work/b.npy" && affine a b 0 -1,-1 1,1
done
for n in 1 16 40 $(many 200 30); do
    make f4 "$n,32" a
    case_ $g:mixed src="$work/a.npy" dst="f32[$n,32]:$work/b.npy" back="f32[$n,32]:$work/c.npy" && same a b && same a c
done
