# A pipelined kernel: its plan, its IR, its cache hints, and what `tilecc run -v` says of how its work is dealt.
. cli/cli.sh
TILECC=$QUICK

kernel() { # how it is dealt, and what comes after the parameters
    cat <<TILE
kernel copy(src: global bf16[M, N], dst: global bf16[M, N])$2 {
    pipeline (i, j) in (ceil(M, 64), ceil(N, 256)) across grid$1 {
        shared tile: bf16[64, 256];
        move src[i * 64, j * 256] -> tile;
        move tile -> dst[i * 64, j * 256];
    }
}
TILE
}
kernel '' '' >copy.tile

# ---- the plan ----
expect 0 '' --explain-plan --variants=off copy.tile
contains out '^kernel copy: 2 roles, 64 threads$'
contains out 'dealing of copy.tile:2:5'
contains out 'tickets: numbers from a counter, in order \(chosen\)'
contains out 'order, slowest first: i, j'
contains out 'at most 1 CTA per SM, 1 CTA in a team'
contains out '^    load: 1 warp, one elected thread$'
contains out '^    work: 1 warp, one elected thread$'
contains out '^    tile: [0-9]+ slots, filled by load, used by work; [0-9]+ turns ahead, given back [0-9]+ turns? late, while stores read it'
contains out 'tile: 32768 bytes x [0-9]+ slots, aligned to 128'
contains out 'barrier tile.full x [0-9]+ slots: 1 arrival per phase, derived'
contains out 'copy.tile:4:9  move src.i \* 64, j \* 256. -> tile$'
contains out '32768 bytes, role load, barrier tile.full$'
contains out '32768 bytes, role work, bulk group of the turn$'
contains out 'E1124 N \* 2 is a multiple of 16'
contains out 'E0410 map dst.map: its address in `dst` is a multiple of 16; E0412 extents M, N at most 2.31; E0415, E0416 pitches N \* 2 \(in bytes\) multiples of 16 below 2.40$'
! grep -q 'grid (\|one CTA' out || fail 'a grid is shown where work is dealt'

# A load through a map of tf32 rounds; a bulk copy and a store do not.
sed 's/bf16/tf32/g' copy.tile >tf32.tile
expect 0 '' --explain-plan --variants=off tf32.tile
[ "$(grep -c 'rounded to 10 bits of mantissa on the way: its map is of tf32' out)" = 1 ] || fail 'the plan does not say where a tf32 is rounded'
sed 's/> tile;/> tile via bulk;/' tf32.tile >bulk.tile
expect 0 '' --explain-plan bulk.tile
! grep -q rounded out || fail 'bulk copies round nothing'
rm -f tf32.tile bulk.tile

# Few rows of 2 KB are a turn together, each issued by a lane.
cat >rows.tile <<'TILE'
kernel gather(x: global bf16[V, 1024], idx: global s32[R], y: global bf16[R, 1024]) {
    pipeline r in R across grid {
        shared row: bf16[1024];
        move x[idx[r], :] -> row via bulk;
        move row -> y[r, :] via bulk;
    }
}
TILE
expect 0 '' --explain-plan rows.tile
contains out '^    [0-9]+ iterations together: one alone moves too few bytes$'
contains out 'load: 1 warp, copies dealt to the lanes of a warp'
rm -f rows.tile

# Without `grid` and `across grid` a kernel is one CTA, and the plan says so.
sed 's/ across grid//' copy.tile >one.tile
expect 0 'write `across grid` behind the range' --explain-plan one.tile
contains out '^  one CTA$'
rm -f one.tile
expect 0 '' --explain-plan good.tile
contains out '^  grid \(ceil\(N, 256\), ceil\(M, 64\), 1\)$'

# What CTAs of a cluster send each other, by mask and to peers, with reductions.
cp "$root/tests/golden/cluster/by_rank.tile" "$root/tests/golden/cluster/rank_sends.tile" "$root/tests/golden/cluster/rank_sums.tile" .
expect 0 '' -Wno-performance --explain-plan by_rank.tile
contains out '; multicast by mask, each load to 2 CTAs$'
contains out '; multicast by mask, each load to 4 CTAs$'
contains out '; each load to 1 CTA$'
expect 0 '' -Wno-performance --explain-plan rank_sends.tile
contains out '^    cp\.async\.bulk, shared -> shared of another CTA$'
contains out '^      1024 bytes, role send, barrier u\.full there$'
expect 0 '' -Wno-performance --explain-plan rank_sums.tile
[ "$(grep -c '^    cp\.reduce\.async\.bulk, shared -> shared of another CTA$' out)" = "$(grep -c 'role send, barrier .*\.sum there$' out)" ] ||
    fail "reductions into other CTAs in the plan"
contains out 'barrier u\.sum there'
rm -f by_rank.tile rank_sends.tile rank_sums.tile

# A part of a square, clipped by a size: what was chosen for that is no number of the program.
cat >rectangle.tile <<'TILE'
target sm_90a;
kernel rectangle(x: global f32[M, N], y: global f32[M, N]) {
    pipeline i in ceil(M, 64) across grid {
        pipeline j in min(i + 1, ceil(N, 64)) {
            shared t: f32[64, 64];
            move x[i * 64, j * 64] -> t;
            move t -> y[i * 64, j * 64];
        }
    }
}
TILE
expect 0 '' --emit=ptx -o rectangle.ptx rectangle.tile
contains rectangle.ptx '^\.visible \.entry rectangle\('
rm -f rectangle.tile rectangle.ptx

# What `by` and `stages` say stands in the plan.
kernel ' by static stages 5' '' >fixed.tile
expect 0 '' --explain-plan fixed.tile
contains out '^    static: '
contains out '^    tile: 5 slots'
cat >fixed.tile <<'TILE'
kernel deep(x: global u8[M, 64], y: global u8[M, 64], z: global u8[M, 64]) {
    pipeline i in ceil(M, 16) across grid stages 40 {
        shared tile: u8[16, 64];
        if i % 2 == 0 { move x[i * 16, 0] -> tile; }
        else { move y[i * 16, 0] -> tile; }
        move tile -> z[i * 16, 0];
    }
}
TILE
expect 0 '' --explain-plan fixed.tile
contains out '^    tile: 40 slots'
rm -f fixed.tile

# The example of the README, and the plan that is shown there.
sed -n '\|^    // fast.tile|,/^    }/s/^    //p' "$root/README.md" >fast.tile
sed -n '/^    dealing of fast.tile/,/^$/s/^    //p' "$root/README.md" >plan
expect 0 '' --explain-plan fast.tile
contains out '2 for all other launches$'
sed '/^  shared memory/,$d' out | sed -n '/dealing of/,$s/^  //p' | diff -u plan - || fail "the README shows another plan"
rm -f fast.tile plan

# ---- the IR: who waits for whom ----
expect 0 '' --emit=ir copy.tile
in_order() { # role, patterns of lines that follow one another in it
    sed -n "/^  role $1 /,/^  }/p" out >role
    shift
    for pattern; do
        line=$(grep -nE -e "$pattern" role | head -1 | cut -d: -f1)
        [ -n "$line" ] || { fail "not there, or not in this order: $pattern"; return; }
        tail -n "+$((line + 1))" role >rest
        mv rest role
    done
}
in_order load 'repeat' 'st.shared ids' 'bar.arrive ids.full' 'break' 'ticket.next' 'bar.wait tile.empty' \
    'bar.arrive_expect tile.full.*, 32768' 'tma.load src.map .* -> tile.*bytes 32768' 'end'
in_order work 'repeat' 'bar.wait ids.full' 'ld.shared ids' 'break' 'bar.wait tile.full' 'tma.store dst.map .*bytes 32768' \
    'grp.commit' 'grp.wait [0-9]+ read' 'bar.arrive tile.empty' 'bar.arrive ids.empty' 'end' 'grp.wait 0 read'
rm -f role
contains out '^  deal ticket ceil\(M, 64\) \* ceil\(N, 256\) per_sm 1$'
contains out '^  traffic .* \* 65536$'

# ---- cache hints ----
hinted() { # option, copies with a hint in the PTX
    expect 0 '' "$1" --variants=off --emit=ptx copy.tile
    n=$(grep -c 'cache_hint' out)
    [ "$n" = "$2" ] || fail "$1: $n copies have a cache hint, expected $2"
}
hinted --hints=auto 2
cp out auto.ptx
hinted --hints=on 2
cmp -s out auto.ptx && fail "hints that the launch decides are as hints that are always on"
hinted --hints=off 0
rm -f auto.ptx
for when in auto:'where the launch moves more than 8 times what L2 holds' on:'always: --hints=on' off:'never: --hints=off'; do
    expect 0 '' "--hints=${when%%:*}" --explain-plan copy.tile
    contains out "cache policy evict_last .derived., ${when#*:}"
    contains out "cache policy evict_first .derived., ${when#*:}"
done
sed -e 's/    pipeline/    policy keep = evict_last;\n&/' -e 's/-> tile;/-> tile cache keep;/' copy.tile >named.tile
expect 0 '' --hints=off --variants=off --emit=ptx named.tile
[ "$(grep -c cache_hint out)" = 1 ] || fail "--hints=off: a policy that the source names is gone"
rm -f named.tile
expect 2 "--hints does not take 'yes'" --hints=yes copy.tile

# ---- runs: the simulator has 3 SMs and an L2 of 64 KiB ----
dealt() { # rows, words of the report, options
    rows=$1 words=$2
    shift 2
    expect 0 "$words" run -v "$@" --device=sim "src=bf16[$rows,520]" "dst=bf16[$rows,520]:out.npy"
    [ -s out.npy ] || fail "no output"
    rm -f out.npy
}
dealt 200 '^grid of 3 x 1 x 1 CTAs: 12 iterations dealt by tickets to 3 teams, at most 1 CTA per SM, 1 counter$' copy.tile
contains err '^cache hints are on: 786432 bytes are read and written, the L2 has 65536$'
contains err 'nothing found'
dealt 200 'dealt by tickets' --hints=off copy.tile
grep -q 'cache hints' err && fail "--hints=off, but the launch decides"
dealt 1 '^grid of 3 x 1 x 1 CTAs: 3 iterations' --sim=fuzz --schedules=5 --variants=off copy.tile
# Few iterations have a CTA each: up to 8 times what the L2 holds.
dealt 1 '^schedule 2 of 2: for all other launches$' --sim=fuzz --schedules=5 copy.tile
contains err '^32 threads and 32776 bytes of shared memory per CTA$'
contains err '^grid of 3 x 1 x 1 CTAs$'
dealt 200 '^schedule 1 of 2: for launches that move more than 8 times what the L2 holds$' copy.tile
contains err '^64 threads and 98920 bytes of shared memory per CTA$'
dealt 100 '^schedule 2 of 2' copy.tile
dealt 0 '^nothing to launch$' copy.tile
kernel ' by static' '' >static.tile
dealt 200 '^grid of 3 x 1 x 1 CTAs: 12 iterations dealt static' static.tile
grep -q 'counter' err && fail "static dealing with a counter"
kernel ' by launch' '' >launch.tile
dealt 200 '^grid of 12 x 1 x 1 CTAs$' launch.tile
expect 0 '' --explain-plan launch.tile
contains out '^    launch: one team per iteration'
contains out '^    tile: 1 slot, filled by work'
rm -f copy.tile static.tile launch.tile out.npy
only_files

# One branch loads the tile and the other fills it: which of them comes first is the same.
branches() { # file, branches
    cat >"$1" <<END
kernel branches(x: global u32[R, 64], y: global u32[R, 64], c: s64) {
    pipeline r in R across grid {
        shared t: u32[64];
        $2
        move t -> y[r, :];
    }
}
END
}
branches load.tile 'if c == 0 { move x[r, :] -> t; } else { fill t = 7; }'
branches fill.tile 'if c != 0 { fill t = 7; } else { move x[r, :] -> t; }'
for c in 0 1; do
    for f in load fill; do
        expect 0 '' run -Wno-performance --device=sim --sim=fuzz --schedules=10 $f.tile 'x=u32[37,64]' "y=u32[37,64]:$f.npy" c=$c
    done
    cmp load.npy fill.npy || fail "if .. fill .. else .. move, c = $c"
done
[ "$(tail -c 9472 fill.npy | tr -d '\000' | tr -d '\007' | wc -c)" = 0 ] || fail "the branch that fills"
# Read behind the branch and loaded again: still two values of one tile, which no ring holds.
branches again.tile 'if c != 0 { fill t = 7; } else { move x[r, :] -> t; } move t -> y[r, :] overlap any; if c != 0 { move x[r, :] -> t; }'
expect 0 'P0004.*is filled again where it has been read' --emit=ir again.tile
expect 0 '' run -Wno-performance --device=sim --sim=fuzz --schedules=10 load.tile 'x=u32[37,64]' 'y=u32[37,64]:load.npy' c=0
for c in 0 1; do
    expect 0 P0004 run --device=sim --sim=fuzz --schedules=10 again.tile 'x=u32[37,64]' 'y=u32[37,64]:again.npy' c=$c
    cmp load.npy again.npy || fail "loaded again behind the branch, c = $c: what is stored last"
done
rm -f load.tile fill.tile again.tile ./*.npy
finish
