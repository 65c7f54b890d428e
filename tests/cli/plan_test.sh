# The plan where two tiles have one name: in loops of their own, and of a function that is called twice.
. cli/cli.sh

cat >twice.tile <<'TILE'
fn through(x: global f32[M, 64], y: global f32[M, 64], i) {
    shared t: f32[32, 64];
    move x[i * 32, 0] -> t;
    move t -> y[i * 32, 0];
}
kernel twice(x: global f32[M, 64], y: global f32[M, 64], z: global f32[M, 64]) {
    pipeline i in ceil(M, 32) across grid by static {
        through(x, y, i);
        through(x, z, i);
    }
}
TILE
expect 0 '' -Wno-performance --variants=off --explain-plan twice.tile
for name in t t.2; do
    contains out "^    $name: [0-9]* slots, filled by load"
    contains out "^ *[0-9]*  $name: 8192 bytes x"
done
contains out '^ *[0-9]*  barrier t.full.2 x'
contains out 'role load, barrier t.full.2$'
[ "$(grep -c '^    in `through`, called at twice.tile:8:9$' out)" = 2 ] || fail 'where the first call is, of both moves'
[ "$(grep -A1 '^    in `through`, called at twice.tile:9:9$' out | grep -c '^    `t` is t.2$')" = 2 ] || fail 'which tile it is, of both moves'
finish
