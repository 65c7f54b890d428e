# tilecc run --check-trust: what a program trusts is looked at, and a place where two stores meet is named.
. cli/cli.sh

# numbers NAME A B ..: a .npy file of s32 below 128
numbers() {
    file=$1
    shift
    printf '\223NUMPY\001\000\166\000%-117s\n' "{'descr': '<i4', 'fortran_order': False, 'shape': ($#,), }" >"$file"
    for i; do
        if [ "$i" = -1 ]; then printf '\377\377\377\377'; else printf "\\$(printf %03o "$i")\\000\\000\\000"; fi
    done >>"$file"
}

cat >scatter.tile <<'TILE'
kernel scatter(x: global f32[R, 64], to: global s32[R], y: global f32[V, 64]) trust distinct(to) {
    pipeline r in R across grid {
        shared row: f32[64];
        move x[r, :] -> row via bulk;
        move row -> y[to[r], :] via bulk;
    }
}
TILE
sim='run --device=sim'
# shellcheck disable=SC2086
scatter() { # CODE WORDS OPTIONS..
    code=$1 words=$2
    shift 2
    expect "$code" "$words" $sim "$@" scatter.tile x=f32[6,64] to=to.npy y=f32[8,64]:out.npy
}
numbers to.npy 3 0 7 5 2 6
scatter 0 '' --check-trust
scatter 0 'trusted, checked here: distinct.to.$' --check-trust -v
scatter 0 'trusted, not checked: distinct.to.$' -v
numbers to.npy 3 -1 7 -1 100 100 # those are no rows
scatter 0 '' --check-trust
numbers to.npy 3 0 7 5 0 6
rm -f out.npy
scatter 2 'E1162: the kernel trusts distinct.to., but to.1. and to.4. are both 0$' --check-trust
[ ! -e out.npy ] || fail "an untrue trust, but an output"
expect 1 'trusted, not checked: distinct.to.' run --device=sim scatter.tile x=f32[6,64] to=to.npy y=f32[8,64]:out.npy

# Offsets are looked at before every launch here; what is to be distinct is not.
cat >groups.tile <<'TILE'
kernel groups(x: global f32[T, 4], offs: global s32[G], y: global f32[T, 4]) where G >= 1 trust sorted(offs) {
    pipeline g in G - 1 across grid {
        view from = x[offs[g] +: offs[g + 1] - offs[g], :];
        view to = y[offs[g] +: offs[g + 1] - offs[g], :];
        pipeline i in ceil(offs[g + 1] - offs[g], 4) { shared t: f32[4, 4]; move from[i * 4, 0] -> t; move t -> to[i * 4, 0]; }
    }
}
TILE
numbers to.npy -1 0 3 3 9
expect 0 'trusted, checked here: sorted.offs.$' $sim -v groups.tile x=f32[9,4] offs=to.npy y=f32[9,4]:out.npy
rm -f out.npy
numbers to.npy 0 3 -1 9
for how in '' --sim=fast --check-trust; do
    # shellcheck disable=SC2086
    expect 2 'E1162: the kernel trusts sorted.offs., but offs.1. is 3 and offs.2. is -1$' $sim $how groups.tile x=f32[9,4] offs=to.npy y=f32[9,4]:out.npy
    [ ! -e out.npy ] || fail "an untrue trust, but an output"
done

# A view of more rows than any dimension has; an index tensor of two dimensions.
cat >flat.tile <<'TILE'
kernel flat(x: global f32[2, 3, 16], to: global s32[2, 3], y: global f32[12, 10, 16]) trust distinct(to) {
    view rows = y : f32[120, 16];
    pipeline (b, r) in (2, 3) across grid {
        shared row: f32[16];
        move x[b, r, :] -> row via bulk;
        move row -> rows[to[b, r], :] via bulk;
    }
}
TILE
numbers to.npy 3 0 107 5 107 6
LC_ALL=C sed 's/(6,), }  /(2, 3), }/' to.npy >two.npy
expect 2 'E1162: the kernel trusts distinct.to., but to.0, 2. and to.1, 1. are both 107$' $sim --check-trust flat.tile x=f32[2,3,16] to=two.npy y=f32[12,10,16]:out.npy

cat >any.tile <<'TILE'
kernel any(x: global f32[4, 64], to: global s32[4], y: global f32[8, 64]) grid (4) {
    shared row: f32[64];
    move x[cta.x, :] -> row via bulk;
    move row -> y[to[cta.x], :] via bulk overlap any;
}
TILE
numbers to.npy 3 0 7 5
expect 0 '' run --check-trust any.tile x=f32[4,64] to=to.npy y=f32[8,64]:out.npy
numbers to.npy 3 0 7 3
expect 0 '' $sim any.tile x=f32[4,64] to=to.npy y=f32[8,64]:out.npy
rm -f out.npy
expect 1 'E1315' run --check-trust any.tile x=f32[4,64] to=to.npy y=f32[8,64]:out.npy
contains err 'bytes 768..1023 of the allocation of tensor .y.'
contains err 'at: the copy issued by CTA .[03],0,0..*any.tile:4:5'
contains err 'other: the copy issued by CTA .[03],0,0..*any.tile:4:5'
contains err 'overlap any. count as any other'
[ ! -e out.npy ] || fail "a finding, but an output"
expect 2 'has fast, check, fuzz, trust' $sim:distrust any.tile x=f32[4,64] to=to.npy y=f32[8,64]:out.npy

# A store of some bytes, one by threads, and rows of one scatter4: what meets there is in any order, too.
cat >order.tile <<'TILE'
target sm_100a;
kernel masked(x: global u8[1, 256], y: global u8[1, 256], m: s32) grid (2) {
    shared t: u8[1, 256];
    move x -> t;
    move t -> y[0, 0] via bulk bytes (m & 0xffff) overlap any;
}
kernel by_threads(x: global u8[1, 251], y: global u8[1, 251]) grid (2) {
    shared t: u8[1, 256];
    move x[0, 0] -> t via threads;
    move t -> y[0, 0] via threads overlap any;
}
kernel twice(x: global f32[4, 32], y: global f32[V, 32], a: s32) {
    map rows = y scatter4 box [4, 32] swizzle 128;
    shared t: f32[4, 32] swizzle 128;
    move x -> t;
    move t -> y[{a, 1, 2, V - 1}, 0 +: 32] via rows overlap any;
}
TILE
expect 0 '' $sim order.tile:masked x=u8[1,256] y=u8[1,256] m=255
expect 1 'E1315' $sim --check-trust order.tile:masked x=u8[1,256] y=u8[1,256] m=255
expect 0 '' $sim order.tile:by_threads x=u8[1,251] y=u8[1,251]
expect 1 'E1315' $sim --check-trust order.tile:by_threads x=u8[1,251] y=u8[1,251]
expect 0 '' $sim order.tile:twice x=f32[4,32] y=f32[9,32] a=2
expect 1 'E1315.*row 2 stands in a scatter4 twice' $sim --check-trust order.tile:twice x=f32[4,32] y=f32[9,32] a=2
finish
