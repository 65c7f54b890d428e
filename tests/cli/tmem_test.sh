# Copies into tensor memory: what the plan says of descriptors, and how often they are made.
. cli/cli.sh

cat >scales.tile <<'TILE'
target sm_100a;
kernel scales(x: global u8[4, 32, 16], at: global s32[N], y: global u8[128, 64]) grid (1) threads 128 {
    shared s: u8[4, 32, 16];
    shared w: u8[128, 64] swizzle 64;
    tmem t: u8[128, 64];
    tmem h: u8[32, 32];
    fill w = 0;
    move w -> t;
    let k = min(max(at[0], 0), 2);
    move x[0, 0, 0] -> s;
    move s[2 +: 2, :, :] -> t[:, 16 * k +: 32] multicast warpx4;
    move s[1 +: 2, :, :] -> h;
    for i in 4 { move w[:, i * 16 +: 16] -> t[:, 48 - i * 16 +: 16]; }
    move h -> w[0 +: 32, 0 +: 32] via threads;
    move t -> w via threads;
    move w -> y[0, 0];
}
TILE
expect 0 '' --explain-plan scales.tile
contains out 'descriptor of s, made once: leading 16, stride 128 bytes, swizzle none; plus 1024 bytes; 512 more for each instruction$'
contains out 'descriptor of s, made once: leading 16, stride 128 bytes, swizzle none; plus 512 bytes; 512 more for each instruction$'
contains out '8 columns of 0 .. 15, from element 16 \* min\(max\(0, at\[0\]\), 2\) on$'
contains out 'columns 16 .. 23; lanes 32 .. 127 of them are no tile.s, and get copies$'
contains out 'descriptor of w, made once: leading 16, stride 512 bytes, swizzle 64; plus 16 \* i bytes$'
expect 0 '' --emit=ir scales.tile
[ "$(grep -c ' = tc.desc s,' out)" = 1 ] || fail "s has more than one descriptor, or none"
[ "$(grep -c ' = tc.desc w,' out)" = 1 ] || fail "w has more than one descriptor, or none"
