# Pipelines in which nothing, or hardly anything, is done, by every way of dealing; tensors of which there is nothing.
. ./common.sh
cd "$work" || exit 3
ptxas=$( (good_ptxas && echo "$ptxas") | grep -v SKIPPED)

ran() { # file:kernel, arguments
    "$TILECC" run --device=sim:fuzz,schedules=4 "$@" >log 2>&1 || fail "tilecc run $*: exit code $?: $(cat log)"
}

# What a body may do without a role that works, or without any.
bodies='
empty|
scalars|let q = i; var v = 0; v = v + q;
condition|if i > 2 { }
sizes|if N > 2 { let q = i; } else { }
loop|for j in i { }
inner|pipeline j in i { }
tile|shared t: f32[8, 4];
part_of|view v = z[i +: 4, :];
line|prefetch x[i * 64 +: 64];
tile_of|prefetch z[i * 8, 0] via m;
whole_map|prefetch m;
rows|prefetch z[{i, 0, 1, 2, 3, 4, 5, 6}, 0 +: 4];
listed|prefetch z[w[i +: 64], 0 +: 4];
some|if i > 1 { prefetch x[i * 64 +: 64]; }
load|shared t: f32[8, 4]; move z[i * 8, 0] -> t;
'
dealt() { # target, how, head
    echo "target $1;" >p.tile
    echo "$bodies" | while IFS='|' read -r name body; do
        [ "$name" ] || continue
        echo "kernel $name(x: global f32[N], z: global f32[N, 4], w: global s32[N]) where N >= 256 $3 {"
        echo "    map m = z box [8, 4]; pipeline i in 4 across grid $2 { $body }"
        echo "}"
    done >>p.tile
    echo "kernel nothing(x: global f32[N]) $3 { pipeline (i, j) in (N, 4) across grid $2 { } }" >>p.tile
    if ! "$TILECC" -S p.tile -o p.ptx >log 2>&1; then
        fail "$1 $2 $3: $(cat log)"
        return
    fi
    [ -z "$ptxas" ] || "$ptxas" -arch="$1" p.ptx -o p.cubin >log 2>&1 || fail "$1 $2 $3: $(cat log)"
    for name in $(echo "$bodies" | sed -n 's/^\([a-z_]*\)|.*$/\1/p'); do
        ran "p.ptx:$name" 'x=f32[256]' 'z=f32[256,4]' 'w=s32[256]'
    done
    ran p.ptx:nothing 'x=f32[300]'
    ran p.ptx:nothing 'x=f32[0]'
}
for head in '' 'cluster (2)'; do
    for how in '' 'by static' 'by ticket' 'by launch'; do dealt sm_90a "$how" "$head"; done
    for how in '' 'by ticket' 'by clc'; do dealt sm_100a "$how" "$head"; done
done

# Stores into several tensors of which some are empty: what stands in for them is nobody's.
cat >empty.tile <<'END'
kernel stores(x: global f32[M, 4], a: global f32[N, 4], b: global f32[N, 4], c: global f32[M, 4]) {
    pipeline i in ceil(M, 8) across grid {
        shared t: f32[8, 4];
        move x[i * 8, 0] -> t;
        move t -> a[i * 8, 0]; move t -> b[i * 8, 0]; move t -> c[i * 8, 0];
    }
}
kernel sums(x: global f32[M, 4], a: global f32[N, 4], b: global f32[N, 4], c: global f32[M, 4]) {
    pipeline i in ceil(M, 8) across grid {
        shared t: f32[8, 4];
        move x[i * 8, 0] -> t;
        move t -> a[0, 0] reduce add; move t -> b[0, 0] reduce add; move t -> c[i * 8, 0] reduce add;
    }
}
kernel halves(x: global f32[M, 8], a: global f32[N, 8], c: global f32[M, 8]) {
    view l = a[:, 0 +: 4];
    view r = a[:, 4 +: 4];
    pipeline i in ceil(M, 8) across grid {
        shared t: f32[8, 4];
        move x[i * 8, 0] -> t;
        move t -> l[i * 8, 0]; move t -> r[i * 8, 0]; move t -> c[i * 8, 0];
    }
}
END
for n in 0 32; do
    for kernel in stores sums; do
        ran "empty.tile:$kernel" 'x=f32[32,4]' "a=f32[$n,4]:a.npy" "b=f32[$n,4]:b.npy" 'c=f32[32,4]:c.npy'
    done
    ran empty.tile:halves 'x=f32[32,8]' "a=f32[$n,8]:a.npy" 'c=f32[32,8]:c.npy'
done
finish
