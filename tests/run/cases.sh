# The programs that are run, their arguments and what they must give: for run.sh, which defines
#   case_ PROGRAM[:KERNEL] ARGUMENTS..     runs it; tells which program failed and how
#   refuse_ EXIT-CODE WORDS PROGRAM ..     must be refused at launch, saying WORDS, and write nothing
#   make  DTYPE SHAPE NAME                 random bytes into NAME.npy, other ones at every call
#   index, indices, offsets                rows and starts that are data
#   same, affine, map, block, ..           the references of reference.c
# Paths are relative to the root; files lie in $work.

# ---- examples, in sizes that end inside tiles, and of one element more or less than a tile ----
for shape in 64,256 $large 1,8 63,248 65,264 200,8; do
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

# ---- conditions that are known when compiling: nothing under a false one happens ----
c=tests/golden/conditions
for k in decided:straight known:straight; do
    make i4 8,16 a
    case_ $c/${k%:*}.tile:${k#*:} x="$work/a.npy" y="s32[8,16]:$work/b.npy" && same a b
done
for k in decided:steps decided:overlapped decided:converted decided:by_hand known:steps known:overlapped known:by_hand; do
    for rows in 0 1 8 77; do
        make i4 $rows,16 a
        case_ $c/${k%:*}.tile:${k#*:} x="$work/a.npy" y="s32[$rows,16]:$work/b.npy" && same a b
    done
done

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
for n in 1 3 4 9; do
    make i4 $n,32 a
    case_ tests/golden/sync/counts_of_32_bits.tile:signed x="$work/a.npy" y="s32[$n,32]:$work/b.npy" n=$n && same a b
done
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

# ---- element types and layouts ----
h=tests/golden
for shape in 45,256 1,16 16,128; do
    for kernel in u8:u1 s8:i1 u16:u2 s16:i2 u32:u4 s32:i4 u64:u8 s64:i8; do
        make "${kernel#*:}" "$shape" a
        t=${kernel%:*}
        case_ $h/types/integers.tile:copy_$t x="$work/a.npy" y="$t[$shape]:$work/b.npy" && same a b
    done
    for kernel in f16:f2 bf16:u2 f32:f4 f64:f8 e4m3:u1 e5m2:u1; do
        make "${kernel#*:}" "$shape" a
        t=${kernel%:*}
        case_ $h/types/floats.tile:copy_$t x="$work/a.npy" y="$t[$shape]:$work/b.npy" && same a b
    done
    make u1 "$shape" a
    case_ $h/layouts/swizzle_32.tile x="$work/a.npy" y="u8[$shape]:$work/b.npy" && same a b
    case_ $h/layouts/small_tiles.tile x="$work/a.npy" y="u8[$shape]:$work/b.npy" && same a b
    make f4 "$shape" a
    case_ $h/layouts/swizzle_64.tile x="$work/a.npy" y="f32[$shape]:$work/b.npy" && same a b
    make u2 "$shape" a
    case_ $h/layouts/panel_parts.tile x="$work/a.npy" y="bf16[$shape]:$work/b.npy" && same a b
    make f8 "$shape" a
    case_ $h/types/type_parameter.tile x="$work/a.npy" y="f64[$shape]:$work/b.npy" && same a b
done
for shape in 5,33,200 1,1,8 4,16,128; do
    make u2 "$shape" a
    case_ $h/layouts/swizzle_128.tile x="$work/a.npy" y="bf16[$shape]:$work/b.npy" && same a b
done

# ---- maps ----
make f2 5,70,72 a
case_ $h/maps/clauses.tile x="$work/a.npy" y="f16[5,70,72]:$work/b.npy" && affine a b 7ff7 0,0,0 2,2,1
make u1 300,528 a
case_ $h/maps/largest.tile:rows x="$work/a.npy" y="u8[300,528]:$work/b.npy" && same a b
case_ $h/maps/largest.tile:steps x="$work/a.npy" y="u8[50,528]:$work/b.npy" && affine a b 0 0,0 8,1
case_ $h/maps/largest.tile:odd x="$work/a.npy" y="u8[107,528]:$work/b.npy" && affine a b 0 0,0 3,1
make i4 45,72 a
case_ $h/maps/one_for_both.tile x="$work/a.npy:$work/b.npy" && same a b
make u2 70,256 a
case_ $h/maps/shared_maps.tile x="$work/a.npy" y="bf16[70,256]:$work/b.npy" && same a b
case_ $h/maps/view_map.tile x="$work/a.npy" y="bf16[70,64]:$work/b.npy" && affine a b 0 0,128 1,1
make f2 45,72 a
case_ $h/maps/fill_nan.tile:pad_f16 x="$work/a.npy" y="f16[50,136]:$work/b.npy" && affine a b 7ff7 0,0 1,1
make u2 45,72 a
case_ $h/maps/fill_nan.tile:pad_bf16 x="$work/a.npy" y="bf16[50,136]:$work/b.npy" && affine a b 7ff7 0,0 1,1
make f8 45,72 a
case_ $h/maps/fill_nan.tile:pad_f64 x="$work/a.npy" y="f64[50,136]:$work/b.npy" && affine a b 7ff77ff77ff77ff7 0,0 1,1
make f4 45,72 a
case_ $h/maps/priorities.tile x="$work/a.npy" y="f32[45,72]:$work/b.npy" && same a b

# ---- views and strides ----
make u2 70,72 a
make u2 70,136 b
case_ $h/views/concat.tile a="$work/a.npy" b="$work/b.npy" out="bf16[70,208]:$work/c.npy" &&
    block a c 0,0 70,72 0,0 && block b c 0,0 70,136 0,72
make f4 3,45,5,36 a
case_ $h/views/dropped.tile x="$work/a.npy" y="f32[45,36]:$work/b.npy" b=2 g=3 && map a b 0 16308 180,1 45,36
make u2 100,200 a
case_ $h/views/nested.tile x="$work/a.npy" y="u16[64,128]:$work/b.npy" && map a b 0 3024 200,1 40,72
make u2 150,512 a
case_ $h/views/reshaped.tile x="$work/a.npy" y="bf16[8,150,64]:$work/b.npy" && map a b 0 0 64,512,1 8,150,64
make f8 37,30 a
case_ $h/views/other_type.tile x="$work/a.npy" y="u64[1000]:$work/b.npy" && map a b 0 0 1 1000
make f4 90,68 a
case_ $h/views/symbolic.tile x="$work/a.npy" y="f32[45,68]:$work/b.npy" && affine a b 0 45,0 1,1
make u1 5000 a
make u1 5008 b
case_ $h/views/bulk_view.tile x="$work/a.npy" y="$work/b.npy:$work/c.npy" &&
    block a c 160 4000 0 && block b c 4000 1008 4000
make u2 45,264 a
case_ $h/strides/pitch.tile:pitch x="$work/a.npy" y="bf16[45,264]:$work/b.npy" && same a b
case_ $h/strides/pitch.tile:pitch_bulk x="$work/a.npy" y="bf16[45,264]:$work/b.npy" && same a b

# ---- control, arrival and reuse ----
for shape in 130,200 16,64 70,136; do
    make f2 "$shape" a
    case_ $h/sync/else_if.tile x="$work/a.npy" y="f16[$shape]:$work/b.npy" && same a b
done
for shape in 130,200 16,64 70,136; do
    make u2 "$shape" a
    case_ $h/sync/two_loads.tile x="$work/a.npy" y="bf16[$shape]:$work/b.npy" && same a b
    case_ $h/sync/slots.tile x="$work/a.npy" y="bf16[$shape]:$work/b.npy" && same a b
    case_ $h/sync/if_in_loop.tile x="$work/a.npy" y="u16[$shape]:$work/b.npy" && same a b
    case_ $h/sync/inlined.tile x="$work/a.npy" y="bf16[$shape]:$work/b.npy" && same a b
    case_ $h/sync/threads_128.tile x="$work/a.npy" y="bf16[$shape]:$work/b.npy" && same a b
    case_ $h/movement/linear_grid.tile x="$work/a.npy" y="bf16[$shape]:$work/b.npy" && same a b
    case_ $h/movement/grid_chunks.tile x="$work/a.npy" y="bf16[$shape]:$work/b.npy" && same a b
    case_ $h/movement/grid_stride.tile:constant x="$work/a.npy" y="bf16[$shape]:$work/b.npy" && same a b
    case_ $h/movement/grid_stride.tile:two x="$work/a.npy" y="bf16[$shape]:$work/b.npy" && same a b
    case_ $h/targets/lineinfo.tile x="$work/a.npy" y="bf16[$shape]:$work/b.npy" && same a b
    case_ $h/targets/list_first.tile x="$work/a.npy" y="bf16[$shape]:$work/b.npy" && same a b
    make f4 "$shape" a
    make f4 "$shape" b
    case_ $h/sync/copy_chain.tile x="$work/a.npy" y="f32[$shape]:$work/c.npy" z="f32[$shape]:$work/d.npy" &&
        same a c && same a d
    case_ $h/names/soft_words.tile:free box="$work/a.npy" in="f32[$shape]:$work/c.npy" && same a c
    make u4 "$shape" a
    case_ $h/sync/store_twice.tile x="$work/a.npy" y="u32[$shape]:$work/c.npy" z="u32[$shape]:$work/d.npy" &&
        same a c && same a d
    make i4 "$shape" a
    make i4 "$shape" b
    case_ $h/sync/overwrite.tile x="$work/a.npy" y="$work/b.npy" z="s32[$shape]:$work/c.npy" && same b c
    make u8 "$shape" a
    make u8 "$shape" b
    case_ $h/sync/swap.tile x="$work/a.npy:$work/c.npy" y="$work/b.npy:$work/d.npy" && same a d && same b c
    make u1 "${shape%,*},192" a
    case_ $h/sync/tile_parameter.tile x="$work/a.npy" y="u8[${shape%,*},192]:$work/b.npy" && same a b
done
make u2 3,70,200 a
case_ $h/sync/nested_loops.tile x="$work/a.npy" y="bf16[3,70,200]:$work/b.npy" && same a b
make f4 20,100 a
make f4 100 b
case_ $h/sync/one_barrier.tile x="$work/a.npy" v="$work/b.npy" y="f32[20,100]:$work/c.npy" w="f32[100]:$work/d.npy" &&
    same a c && same b d
make u2 45,320 a
case_ $h/sync/phases_5.tile x="$work/a.npy" y="u16[45,320]:$work/b.npy" && same a b
make u1 45,128 a
case_ $h/sync/group_and_derived.tile x="$work/a.npy" y="u8[45,128]:$work/b.npy" z="u8[45,128]:$work/c.npy" &&
    same a b && same a c
make u2 45,256 a
make u2 45,256 b
case_ $h/sync/variables.tile x="$work/a.npy" y="$work/b.npy:$work/c.npy" &&
    block a c 0,16 45,64 0,0 && block a c 0,80 45,64 0,64 && block a c 0,88 45,64 0,128 && block b c 0,192 45,64 0,192
make u4 4010,36 a
make u4 4010,36 b
for range in 1,3 3,3 5,2 999,1000; do
    case_ $h/sync/counts.tile x="$work/a.npy" y="$work/b.npy:$work/c.npy" a="${range%,*}" b="${range#*,}" &&
        block a c 4000,0 1,36 4000,0 && block b c 4001,0 9,36 4001,0
done
case_ $h/sync/counts.tile x="$work/a.npy" y="$work/b.npy:$work/c.npy" a=1 b=3 &&
    block a c 4,0 8,36 4,0 && block b c 0,0 4,36 0,0 && block b c 12,0 3988,36 12,0
for kernel in mov:x:y smem:reg:param_0 tile_manifest:tile_zero:ret global_:r0:WARP_SZ; do
    make u1 1008 a
    names=${kernel#*:}
    case_ "$h/names/ptx_words.tile:${kernel%%:*}" "${names%:*}=$work/a.npy" "${names#*:}=u8[1008]:$work/b.npy" &&
        same a b
done

# ---- scalars ----
make f4 100,32 x
for t in a:u1 b:i1 c:u2 d:i2 e:u4 f:i4 g:u8 h:i8; do indices "${t#*:}" 100 1 "${t%:*}"; done
case_ $h/scalars/index_types.tile x="$work/x.npy" y="f32[8,32]:$work/y.npy" a="$work/a.npy" b="$work/b.npy" \
    c="$work/c.npy" d="$work/d.npy" e="$work/e.npy" f="$work/f.npy" g="$work/g.npy" h="$work/h.npy" &&
    row x a 0 y 0 && row x b 0 y 1 && row x c 0 y 2 && row x d 0 y 3 && row x e 0 y 4 && row x f 0 y 5 &&
    row x g 0 y 6 && row x h 0 y 7
index 12 12 i
indices i4 100 12,2 two
case_ $h/scalars/index_in_range.tile x="$work/x.npy" y="f32[48,32]:$work/y.npy" idx="$work/i.npy" \
    two="$work/two.npy" n=4 &&
    for r in 0 1 2 3 4 5 6 7 8 9 10 11; do
        row x i $r y $((4 * r)) && row x i 4 y $((4 * r + 1)) && row x i $r y $((4 * r + 2)) i &&
            row x two $((2 * r + 1)) y $((4 * r + 3))
    done
case_ $h/scalars/floor.tile x="$work/x.npy" y="f32[100,32]:$work/y.npy" d=3 &&
    rows x y 12,15,18,22,25,29,32,20,24,28,30,34,38,41,37,33
make f4 120,32 x
case_ $h/scalars/bits.tile:bits x="$work/x.npy" y="f32[120,32]:$work/y.npy" n=5 &&
    rows x y 12,15,23,26,34,37,44,46,69,71,78,80,88,90,98,100,76,78,86,88,96,98,106,108,132,134,142,144,152,154,162,164
indices i8 100 20 i
case_ $h/scalars/wide.tile x="$work/x.npy" y="f32[20,32]:$work/y.npy" far="$work/i.npy" n=7 && affine x y 0 0,0 1,1
make u2 70,200 a
make u2 70,200 b
case_ $h/scalars/parameters.tile x="$work/a.npy" y="$work/b.npy:$work/c.npy" row=3 count=2 delta=8 &&
    block a c 3,8 16,192 3,0 && block b c 0,0 3,200 0,0 && block b c 19,0 51,200 19,0
case_ $h/scalars/parameters.tile x="$work/a.npy" y="$work/b.npy:$work/c.npy" row=3 count=2 delta=0 && same b c
make u2 192,128 a
case_ $h/scalars/facts.tile x="$work/a.npy" y="bf16[192,128]:$work/b.npy" k=3 && same a b
make u2 500,136 a
for n in 1 7 60; do
    offsets $n 500 i
    case_ $h/scalars/ragged.tile x="$work/a.npy" y="bf16[500,136]:$work/b.npy" off="$work/i.npy" && same a b
done
make f4 72,32 a
case_ $h/scalars/grid_values.tile x="$work/a.npy" y="f32[72,32]:$work/b.npy" && same a b

# ---- grids that stride ----
make u2 1000,64 a
for teams in 1 3 132; do
    case_ $h/movement/grid_stride.tile:parameter x="$work/a.npy" y="bf16[1000,64]:$work/b.npy" G=$teams && same a b
done

# ---- what people move ----
make u2 2,70,3,64 a
case_ $h/movement/permute_heads.tile x="$work/a.npy" y="bf16[2,3,70,64]:$work/b.npy" &&
    map a b 0 0 13440,64,192,1 2,3,70,64
make u2 2,3,4,5,72 a
case_ $h/movement/permute_5d.tile x="$work/a.npy" y="u16[2,4,3,5,72]:$work/b.npy" &&
    map a b 0 0 4320,360,1440,72,1 2,4,3,5,72
make f4 96,160 a
case_ $h/movement/transposed_blocks.tile x="$work/a.npy" y="f32[160,96]:$work/b.npy" && blocks a b 32
make u2 90,200 a
case_ $h/movement/slice.tile x="$work/a.npy" y="bf16[45,72]:$work/b.npy" r=30 && affine a b 0 30,64 1,1
make f4 2,21,68 a
case_ $h/movement/halo.tile x="$work/a.npy" y="f32[2,21,68]:$work/b.npy" && same a b
make u2 70,384 a
case_ $h/movement/split_qkv.tile qkv="$work/a.npy" q="bf16[70,128]:$work/b.npy" k="bf16[70,128]:$work/c.npy" \
    v="bf16[70,128]:$work/d.npy" &&
    affine a b 0 0,0 1,1 && affine a c 0 0,128 1,1 && affine a d 0 0,256 1,1
make f4 77,68 a
for r in 1 30 76; do
    case_ $h/movement/roll.tile x="$work/a.npy" y="f32[77,68]:$work/b.npy" r=$r &&
        block a b $r,0 $((77 - r)),68 0,0 && block a b 0,0 $r,68 $((77 - r)),0
done
make i2 45,520 a
case_ $h/movement/reverse.tile x="$work/a.npy" y="s16[45,520]:$work/b.npy" && affine a b 0 44,0 -1,1
make u1 45,144 a
case_ $h/movement/upsample.tile x="$work/a.npy" y="u8[90,144]:$work/b.npy" &&
    affine b a 0 0,0 2,1 && affine b a 0 1,0 2,1
make u2 2,37,21,72 a
case_ $h/movement/downsample_2d.tile x="$work/a.npy" y="bf16[2,10,11,72]:$work/b.npy" && affine a b 0 0,0,0,0 1,4,2,1
make u2 60,256 a
make u2 41,256 b
index 41 60 i
case_ $h/movement/scatter_rows.tile:scatter_rows x="$work/a.npy" idx="$work/i.npy" out="$work/b.npy:$work/c.npy" &&
    scatter a i b c
indices i8 41 60 i
case_ $h/movement/scatter_rows.tile:scatter_bulk x="$work/a.npy" idx="$work/i.npy" out="$work/b.npy:$work/c.npy" &&
    scatter a i b c
make f8 45,18 a
case_ $h/movement/repeat.tile x="$work/a.npy" y="f64[3,45,18]:$work/b.npy" && map a b 0 0 0,18,1 3,45,18
make u2 7,16,24 a
case_ $h/movement/bulk_fold.tile x="$work/a.npy" y="u16[7,16,24]:$work/b.npy" && same a b
for columns in 8 40 200; do
    make u2 16,$columns a
    case_ $h/movement/bulk_cut_rows.tile:across x="$work/a.npy" y="u16[16,$columns]:$work/b.npy" && same a b
    make u4 11,$columns a
    case_ $h/movement/bulk_cut_rows.tile:part x="$work/a.npy" y="u32[11,$columns]:$work/b.npy" && same a b
    make u4 3,$columns a
    case_ $h/movement/bulk_cut_rows.tile:few x="$work/a.npy" y="u32[3,$columns]:$work/b.npy" && same a b
done
make f4 3,40,68 a
case_ $h/movement/bulk_rows_by.tile x="$work/a.npy" y="f32[3,19,68]:$work/b.npy" && affine a b 0 0,0,0 1,2,1
make f2 5000 a
case_ $h/movement/vector.tile x="$work/a.npy" y="f16[1,1,5000]:$work/b.npy" && map a b 0 0 0,0,1 1,1,5000

# ---- launches that are refused, and tensors without elements ----
c=examples/copy_explicit.tile
make u2 65,250 a
refuse_ 2 'N .*(multiple|%) ' $c src="$work/a.npy" dst="bf16[65,250]:$work/b.npy"
make u2 65,256 a
refuse_ 2 'E1104.*M ' $c src="$work/a.npy" dst="bf16[64,256]:$work/b.npy"
refuse_ 2 'E1103|rank' $c src="$work/a.npy" dst="bf16[65,256,1]:$work/b.npy"
refuse_ 2 'E1102|f16' $c src="$work/a.npy" dst="f16[65,256]:$work/b.npy"
refuse_ 2 'dts' $c src="$work/a.npy" dts="bf16[65,256]:$work/b.npy"
refuse_ 2 'src' $c dst="bf16[65,256]:$work/b.npy"
refuse_ 3 'absent.npy' $c src="$work/absent.npy" dst="bf16[65,256]:$work/b.npy"
refuse_ 2 'nothing' $c:nothing src="$work/a.npy" dst="bf16[65,256]:$work/b.npy"
make f4 64,128 a
make f4 90,200 d
refuse_ 2 'E1101.*r0 >= 0' $g/window.tile x="$work/a.npy" out="$work/d.npy:$work/b.npy" r0=-1 c0=36
refuse_ 2 'E1101.*c0 % 4' $g/window.tile x="$work/a.npy" out="$work/d.npy:$work/b.npy" r0=11 c0=37
refuse_ 2 'E1101' $g/window.tile x="$work/a.npy" out="$work/d.npy:$work/b.npy" r0=60 c0=0
refuse_ 2 'E1109|c0' $g/window.tile x="$work/a.npy" out="$work/d.npy:$work/b.npy" r0=0 c0=99999999999
if "$TILECC" -arch=sm_100a examples/copy_2d.tile -o "$work/other.cubin" 2>"$work/said"; then
    refuse_ 3 'sm_100a|the simulator runs PTX' "$work/other.cubin" src=f16[64,64] dst="f16[64,64]:$work/b.npy"
elif [ $? = 4 ] && grep -q 'neither libnvJitLink nor ptxas' "$work/said"; then
    [ "$batch" -gt 1 ] || echo 'left out without an assembler: a cubin for another target is refused'
else
    judge 1 "$(cat "$work/said")"
fi
"$TILECC" -S examples/copy_2d.tile -o "$work/good.ptx"
sed 's/tile_manifest/tile_manifesto/' "$work/good.ptx" >"$work/plain.ptx"
refuse_ 3 'manifest' "$work/plain.ptx" src=f16[64,64] dst="f16[64,64]:$work/b.npy"
head -c 1500 "$work/good.ptx" >"$work/cut.ptx"
refuse_ 3 '.' "$work/cut.ptx" src=f16[64,64] dst="f16[64,64]:$work/b.npy"
make f2 64,64 a
case_ "$work/good.ptx" src="$work/a.npy" dst="f16[64,64]:$work/b.npy" && same a b
make u2 0,72 a
case_ $g/pad.tile x="$work/a.npy" y="u16[40,136]:$work/b.npy" && affine a b 0 0,0 1,1
make u2 0,256 a
case_ $c src="$work/a.npy" dst="bf16[0,256]:$work/b.npy" && same a b
