# tilecc run on the simulator: where it runs by default, its options, what a finding looks like, the trace.
. cli/cli.sh

cat >copy.tile <<'TILE'
kernel copy(src: global bf16[M, N], dst: global bf16[M, N]) grid (ceil(N, 64), ceil(M, 32)) {
    shared t: bf16[32, 64];
    move src[cta.y * 32, cta.x * 64] -> t;
    move t -> dst[cta.y * 32, cta.x * 64];
}
TILE
arguments='src=bf16[70,136] dst=bf16[70,136]:out.npy'

# shellcheck disable=SC2086
sim() { # CODE WORDS OPTIONS..
    code=$1 words=$2
    shift 2
    expect "$code" "$words" run "$@" $arguments
}
sim 0 '' copy.tile --device=sim
[ -s out.npy ] || fail "no output"
sim 0 'on simulator \(fast' -v copy.tile --sim=fast
sim 0 'on simulator \(check, seed 7' -v copy.tile --sim=check --seed=7
sim 0 'on simulator \(fuzz, 3 schedules from seed 1' -v copy.tile --sim=fuzz --schedules=3
contains err 'nothing found'
contains err '^grid of 3 x 3 x 1 CTAs$'
sim 0 'on simulator \(fast' -v copy.tile --device=sim:fast,steps=100000
sim 2 "does not take 'chek'; did you mean 'check'" copy.tile --sim=chek
sim 2 "does not take ''" copy.tile --sim=
sim 2 "--seed needs a number, not 'x'" copy.tile --seed=x
sim 2 "from 1 to 1000000" copy.tile --sim=fuzz --schedules=0
sim 2 '--sim=fuzz is missing' copy.tile --schedules=5
sim 2 'no option .slow.' copy.tile --device=sim:slow
sim 2 'takes a number from 1' copy.tile --device=sim:steps=0
sim 2 'for the simulator' copy.tile --device=cuda --sim=check
sim 2 'no device .simulator.' copy.tile --device=simulator
sim 1 'E1319' copy.tile --sim=check --sim-steps=50
sim 3 'E1321' copy.tile --sim=check --sim-bytes=1000
rm -f out.npy

# The wait is taken out of the PTX: found, with both places, and replayed by the seed that is printed.
"$TILECC" -S -lineinfo copy.tile -o good.ptx || fail "tilecc -S"
awk '/wait_t_full_[0-9]*:/ { skip = 3 } skip > 0 { skip--; next } { print }' good.ptx >hasty.ptx
sim 0 '' good.ptx --device=sim
rm -f out.npy
sim 1 'E1303: kernel .copy.' hasty.ptx --device=sim
contains err 'copy.tile:4:5'
contains err 'copy.tile:3:5'
contains err 'replay: --sim=check --seed=1'
[ ! -e out.npy ] || fail "a finding, but an output"
sim 1 'E1303' hasty.ptx --sim=fuzz --seed=20 --schedules=5
contains err '--seed=20'
sim 1 'E1303' hasty.ptx --sim=check --seed=20
sed 's/, 4096;/, 4080;/' good.ptx >bytes.ptx
sim 1 'E1302|E1301|E1309' bytes.ptx --device=sim
sed 's/mul.lo.s32/mull.lo.s32/' good.ptx >word.ptx
sim 3 "E1418.*mull" word.ptx --device=sim

# A wait for the wrong parity returns at once: the finding says so.
sed 's/\(try_wait.*, \)0;/\11;/' good.ptx >parity.ptx
sim 1 'E1303' parity.ptx --sim=check
contains err 'last wait there: copy.tile:4:5, PTX line [0-9]*: mbarrier.try_wait.* for parity 1, which names the phase before'
# A deadlock names the phase, its parity and what it needs.
sed 's/\(expect_tx.*\), 4096;/\1, 4112;/' good.ptx >more.ptx
sim 1 'E1301' more.ptx --sim=check --trace=t.json
contains err 'phase 0 .parity 0. of the barrier at smem.4096 .*needs 16 of 4112 bytes'
contains t.json 'phase 0, never ends'
contains t.json '"name":"E1301"'

# The timeline is one JSON value, all of it or nothing.
sim 0 '' copy.tile --sim=check --trace=t.json
contains t.json '"traceEvents"'
contains t.json '"name":"load 2d tile","args":.*"coordinates":.0,64.*"source":"copy.tile:3:5"'
contains t.json 'copy [0-9]* is done'
contains t.json 'group 1 seen'
if command -v python3 >/dev/null 2>&1; then
    python3 -c 'import json; json.load(open("t.json"))' || fail "the trace is no JSON"
fi
# The device's name may have one, which takes the rest of it.
rm -f t.json out.npy
sim 0 '' copy.tile --device=sim:trace=t.json --seed=3 --sim=check
contains t.json '"traceEvents"'
sim 2 '.-trace=u.json: --device=sim:trace=t.json has a trace already' copy.tile --device=sim:trace=t.json --trace=u.json
rm -f t.json out.npy
sim 3 "E1202: can't write the trace /dev/full: No space" copy.tile --sim=check --trace=/dev/full
[ -c /dev/full ] || fail '/dev/full was replaced'
rm -f out.npy
sim 3 "can't write 'none/t.json': No such file" copy.tile --sim=check --trace=none/t.json

# Findings name what the program names: the kernel (`cp` is a word of PTX), the tensor, and what was trusted of data.
cat >trust.tile <<'TILE'
kernel zero(z: global s32[64]) {
    shared t: s32[64];
    fill t = 0;
    move t -> z[0];
}
kernel cp(x: global u32[R, 64], idx: global s32[R], y: global u32[V, 64]) trust distinct(idx) {
    pipeline r in R across grid {
        shared t: u32[64];
        move x[r, :] -> t;
        move t -> y[idx[r], :];
    }
}
TILE
expect 0 '' run --device=sim trust.tile:zero 'z=s32[64]:zero.npy'
expect 1 'E1315: kernel `cp`: .* of the allocation of tensor `y` \(2304 bytes\)' run --device=sim trust.tile:cp 'x=u32[64,64]' idx=zero.npy 'y=u32[9,64]:out.npy'
contains err '^    trusted, not checked: distinct\(idx\); this may be because it is untrue$'
expect 1 'E1319: kernel `cp`: the limit of 100 steps' run --device=sim --sim-steps=100 trust.tile:cp 'x=u32[64,64]' idx=zero.npy 'y=u32[9,64]:out.npy'
rm -f trust.tile zero.npy out.npy

# CTAs that go on together, by hand: each arrives at the other's barrier, which waits at the scope of the cluster. Two
# slots, because one of them may be a turn ahead.
cat >meet.tile <<'TILE'
kernel meet(src: global u32[2, L], dst: global u32[2, L]) cluster (2) grid (2) where L % 4 == 0 {
    shared t: u32[256];
    barrier full;
    barrier met[2];
    roles {
        role copy {
            for k in ceil(L, 256) {
                move src[cluster.rank, k * 256 +: 256] -> t via bulk commit full;
                wait full;
                move t -> dst[cluster.rank, k * 256 +: 256] via bulk commit group;
                wait group read;
                arrive peer(met[k % 2], 1 - cluster.rank);
                wait met[k % 2];
            }
        }
    }
}
TILE
expect 0 '' run meet.tile --device=sim 'src=u32[2,1100]' dst=u32[2,1100]:zeros.npy
{ head -c 128 zeros.npy && seq 10000 | head -c 8800; } >in.npy
expect 0 '' run meet.tile --sim=fuzz --schedules=20 src=in.npy dst=u32[2,1100]:out.npy
cmp -s in.npy out.npy || fail "meet: the copy differs"
cmp -s in.npy zeros.npy && fail "meet: there was nothing to copy"
rm -f copy.tile meet.tile ./*.ptx zeros.npy in.npy out.npy
only_files
finish
