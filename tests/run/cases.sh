# The programs that are run, their arguments and what they must give: for run.sh, which defines
#   case_ PROGRAM[:KERNEL] ARGUMENTS..     runs it; tells which program failed and how
#   make  DTYPE SHAPE NAME                 random bytes into NAME.npy, other ones at every call
#   same, affine, window, gather           the references of reference.c
# Paths are relative to the root; files lie in $work.

# ---- examples, in sizes that end inside tiles, and of one element more or less than a tile ----
for shape in 64,256 4099,8200 1,8 63,248 65,264 200,8; do
    make u2 "$shape" a
    case_ examples/copy_explicit.tile src="$work/a.npy" dst="bf16[$shape]:$work/b.npy" && same a b
done
for n in 4 252 256 260 100000; do
    make f4 "$n" a
    case_ examples/copy_1d.tile src="$work/a.npy" dst="f32[$n]:$work/b.npy" && same a b
done
for shape in 64,128 1,8 130,264 77,1000; do
    make f2 "$shape" a
    case_ examples/copy_2d.tile src="$work/a.npy" dst="f16[$shape]:$work/b.npy" && same a b
done
for shape in 3,32,32 5,33,36 1,1,4 2,100,68; do
    make f4 "$shape" a
    case_ examples/copy_3d.tile src="$work/a.npy" dst="f32[$shape]:$work/b.npy" && same a b
done
for shape in 2,4,8,32 3,5,9,40 1,1,1,8 2,17,30,72; do
    make u2 "$shape" a
    case_ examples/copy_4d.tile src="$work/a.npy" dst="bf16[$shape]:$work/b.npy" && same a b
done
for shape in 1,2,4,4,16 2,3,5,7,48 1,1,1,1,16 3,5,6,9,32; do
    make u1 "$shape" a
    case_ examples/copy_5d.tile src="$work/a.npy" dst="u8[$shape]:$work/b.npy" && same a b
done
for n in 16 16368 16384 16400 1000000; do
    make u1 "$n" a
    case_ examples/copy_bulk.tile src="$work/a.npy" dst="u8[$n]:$work/b.npy" && same a b
done
make u2 100,520 a
case_ examples/two_kernels.tile:k1 src="$work/a.npy" dst="bf16[100,520]:$work/b.npy" && same a b
case_ examples/two_kernels.tile:k2 src="$work/a.npy" dst="bf16[100,520]:$work/b.npy" && same a b

# ---- outside the tensor ----
g=tests/golden/run
for out in 70,136 32,64 7,8; do
    make u2 45,72 a
    case_ $g/pad.tile x="$work/a.npy" y="u16[$out]:$work/b.npy" && affine a b 0 0,0 1,1
    case_ $g/pad_bulk.tile x="$work/a.npy" y="u16[$out]:$work/b.npy" && affine a b 0 0,0 1,1
    make f4 45,72 a
    case_ $g/pad_bulk_rows.tile x="$work/a.npy" y="f32[$out]:$work/b.npy" && affine a b 0 0,0 1,1
    case_ $g/pad_nan.tile x="$work/a.npy" y="f32[$out]:$work/b.npy" && affine a b 7ff77ff7 0,0 1,1
    case_ $g/shifted.tile x="$work/a.npy" y="f32[$out]:$work/b.npy" && affine a b 0 -1,-4 1,1
done
for n in 16 4096 20000; do
    make u1 10000 a
    case_ $g/shift_bulk.tile x="$work/a.npy" y="u8[$n]:$work/b.npy" && affine a b 0 -48 1
done

# ---- steps, rows by index, views ----
make u2 133,200 a
case_ $g/every_second.tile x="$work/a.npy" y="bf16[67,200]:$work/b.npy" && affine a b 0 0,0 2,1
case_ $g/every_third.tile x="$work/a.npy" y="bf16[50,200]:$work/b.npy" && affine a b 0 0,0 3,1
make u2 97,512 a
index 97 300 i
case_ $g/gather.tile table="$work/a.npy" idx="$work/i.npy" out="bf16[300,512]:$work/b.npy" && gather a i b
make u2 97,128 a
case_ $g/gather_tensor.tile table="$work/a.npy" idx="$work/i.npy" out="bf16[300,128]:$work/b.npy" && gather a i b
make f4 64,128 a
make f4 90,200 b
case_ $g/window.tile x="$work/a.npy" out="$work/b.npy:$work/c.npy" r0=11 c0=36 && window a b c 11,36 51,108
case_ $g/window.tile x="$work/a.npy" out="$work/b.npy:$work/c.npy" r0=50 c0=128 && window a b c 50,128 90,200
make u1 101,400 a
case_ $g/flat.tile x="$work/a.npy" y="u8[101,400]:$work/b.npy" && same a b

# ---- control, barriers, groups, layouts ----
for shape in 130,200 1,8 64,64; do
    make u2 "$shape" a
    case_ $g/walk.tile x="$work/a.npy" y="bf16[$shape]:$work/b.npy" && same a b
    case_ $g/tile_array.tile x="$work/a.npy" y="bf16[$shape]:$work/b.npy" && same a b
    case_ $g/halves.tile x="$work/a.npy" y="bf16[$shape]:$work/b.npy" && same a b
    case_ $g/version_80.tile x="$work/a.npy" y="bf16[$shape]:$work/b.npy" && same a b
    make f2 "$shape" a
    case_ $g/branches.tile x="$work/a.npy" y="f16[$shape]:$work/b.npy" && same a b
    make i2 "$shape" a
    case_ $g/clusters.tile x="$work/a.npy" y="s16[$shape]:$work/b.npy" && same a b
done
make u4 100,128 a
case_ $g/groups.tile x="$work/a.npy" y="u32[100,128]:$work/b.npy" && same a b
make u2 100,320 a
case_ $g/phases.tile x="$work/a.npy" y="bf16[100,320]:$work/b.npy" && same a b
make u1 77,2064 a
case_ $g/wide.tile x="$work/a.npy" y="u8[77,2064]:$work/b.npy" && same a b
case_ $g/policies.tile x="$work/a.npy" y="u8[77,2064]:$work/b.npy" && same a b
make f4 700,72 a
case_ $g/tall.tile x="$work/a.npy" y="f32[700,72]:$work/b.npy" && same a b
make f8 100,32 a
make f8 100,32 b
case_ $g/limited.tile x="$work/a.npy" y="$work/b.npy:$work/c.npy" n=5 && window a b c 0,0 80,32
case_ $g/limited.tile x="$work/a.npy" y="$work/b.npy:$work/c.npy" n=7 && same a c
case_ $g/limited.tile x="$work/a.npy" y="$work/b.npy:$work/c.npy" n=0 && same b c
