# Views that are made at run time: what the plan says of the maps that the kernel makes for them, and what other targets do.
. cli/cli.sh

cat >grouped.tile <<'TILE'
kernel grouped(x: global bf16[T, K], offs: global s32[G1], y: global bf16[T, K]) where G1 >= 1 trust sorted(offs) {
    pipeline g in G1 - 1 across grid {
        let first = offs[g];
        let rows = offs[g + 1] - first;
        view xg = x[first +: rows, :];
        view yg = y[first +: rows, :];
        pipeline (i, k) in (ceil(rows, 64), ceil(K, 64)) stages 3 {
            shared t: bf16[64, 64];
            move xg[i * 64, k * 64] -> t;
            move t -> yg[i * 64, k * 64];
        }
    }
}
TILE
expect 0 '' -Wno-performance --explain-plan grouped.tile
contains out '^    load: 1 warp, a warp that makes tensor maps$'
contains out '^    work: 1 warp, a warp that makes tensor maps$'
contains out '^    xg.map: load of xg, box .64, 64., swizzle 0'
contains out 'made on the device by load: 3 for each CTA, a slot of `t` each; anew where a slot is used first after `view xg` .grouped.tile:5:14.'
contains out 'made on the device by work: 3 for each CTA'
contains out 'E1160 2 \* K is a multiple of 16: a view starts at a multiple of 16 bytes'
! grep -q 'xg.maps' out || fail 'maps are no shared memory'

# Each CTA that starts has room for its maps: teams are not as many as iterations.
expect 0 '' -Wno-performance -arch=sm_100a --explain-plan grouped.tile
contains out 'static: .*\(chosen\)|tickets: .*\(chosen\)'

# The base targets have no tensormap.replace.
expect 0 '' -Wno-performance -arch=sm_90 --explain-plan grouped.tile
contains out 'rejected: tensor copy, sm_90 can.t make tensor maps \(tensormap.replace\) for this view'
! grep -q 'made on the device' out || fail 'no maps are made on sm_90'
expect 0 '' -Wno-performance -arch=sm_90 -S grouped.tile -o -
! grep -q tensormap out || fail 'tensormap.replace on sm_90'

# What is trusted is in the manifest.
expect 0 '' -Wno-performance --emit=ir grouped.tile -o -
contains out '^  trust sorted offs$'
contains out '^  param maps 768$'
finish
