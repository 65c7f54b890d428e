# tilecc run: what it refuses, and what it says where there is no GPU.
. cli/cli.sh

expect 2 'no program to run' run
expect 2 "unknown option '--devise'; did you mean '--device'\?" run --devise=cuda good.tile
expect 2 "unknown option '--emit'" run --emit=ir good.tile
expect 2 '--repeats needs a number' run --time --repeats=none good.tile
expect 2 '--time is missing' run --repeats=5 good.tile
expect 2 "unknown option '-o': it goes without" run -o x.cubin good.tile
expect 2 "unknown option '-S': it goes without" run -S good.tile
expect 3 "can't read 'none.tile'" run none.tile
printf '// nothing\n' >made.ptx
expect 2 'is compiled already' run -D N=3 made.ptx
expect 2 'is compiled already: .*--hints' run --hints=on made.ptx
expect 2 "--hints does not take 'yes'; it takes auto, on, off" run --hints=yes good.tile
rm -f made.ptx
expect 2 "'good.txt' is no program" run good.txt
expect 2 '.' run good.tile nonsense
expect 0 '' run --help
contains out '--device'

# Sizes by name.
expect 0 '' run --device=sim good.tile 'src=bf16[M,N]~7' M=64 'dst=bf16[M,N]:sized.npy' N=256
expect 0 '' run --device=sim good.tile 'src=bf16[64,256]~7' 'dst=bf16[M,N]:same.npy'
cmp -s sized.npy same.npy || fail 'sizes by name'
expect 2 'M=63: M is 64 by the tensors' run --device=sim good.tile 'src=bf16[64,N]~7' 'dst=bf16[M,N]' M=63 N=256
expect 2 "kernel .* has no parameter 'Q'" run --device=sim good.tile 'src=bf16[64,256]~7' 'dst=bf16[M,N]' Q=63
for size in -1 -3 x 1.5 99999999999999999999 'bf16[2]'; do
    expect 2 "M=.*: 'M' is an extent of the tensors of 'copy'; it takes a whole number, 0 or more$" run --device=sim good.tile 'src=bf16[M,256]~7' 'dst=bf16[M,N]' "M=$size"
done
expect 2 "'M' is given twice" run --device=sim good.tile 'src=bf16[M,256]~7' 'dst=bf16[M,N]' M=1 M=2
rm sized.npy same.npy

"$TILECC" run good.tile src=bf16[64,256] dst=bf16[64,256]:out.npy >out 2>err
status=$?
if [ $status = 3 ]; then
    contains err 'driver|GPU|device'
    [ ! -e out.npy ] || fail "no GPU, but an output"
else
    [ $status = 0 ] || fail "tilecc run: exit code $status: $(cat err)"
    [ -s out.npy ] || fail "no output"
    expect 2 "dzt" run good.tile src=bf16[64,256] dzt=bf16[64,256]:out.npy
    expect 3 'none.npy' run good.tile src=none.npy dst=bf16[64,256]:out.npy
fi

# Arguments that name no type, or are no tensor, are said to be so; brackets may stand in a file's name.
expect 2 "src=bf17.200,512.: there is no type 'bf17'; did you mean 'bf16'" run --device=sim good.tile 'src=bf17[200,512]' 'dst=bf16[M,N]:out.npy'
expect 2 "there is no type 'quaternion'; types are u8, u16, .* bf16, .*b6a16$" run --device=sim good.tile 'src=quaternion[2,5]' 'dst=bf16[M,N]:out.npy'
expect 2 "src=5: 'src' is a tensor .bf16.M, N.., not a number: src=in.npy" run --device=sim good.tile src=5 'dst=bf16[M,N]:out.npy'
expect 3 "can't read 'x\[1\].npy'" run --device=sim good.tile 'src=x[1].npy' 'dst=bf16[M,N]:out.npy'
# What is made for a tensor that is only read goes to a file, too: this copy has it again.
expect 0 '' run --device=sim good.tile 'src=bf16[64,256]~7:from.npy' 'dst=bf16[M,N]:to.npy'
cmp from.npy to.npy || fail "what is read is not what was written to a file"
expect 2 "the kernel does not write 'src'" run --device=sim good.tile 'src=bf16[64,256]:from.npy' 'dst=bf16[M,N]:to.npy'
rm from.npy to.npy
# Numbers are written as in programs, and all of an argument is the number.
cat >at.tile <<'END'
kernel at(y: global u8[M, 64], n: s32) {
    shared t: u8[1, 64];
    fill t = 1;
    move t -> y[n, 0];
}
END
expect 0 '' run --device=sim at.tile 'y=u8[20,64]:want.npy' n=10
for n in 010 0xa 0XA 0b1010 1_0 0x0_a; do
    expect 0 '' run --device=sim at.tile 'y=u8[0x1_4,64]:got.npy' n=$n
    cmp -s want.npy got.npy || fail "n=$n is another number"
done
for n in ' 10' '10 ' +10 10u 1.5 1e1 0x 0b 0b2 0xg - -- 1__0 _10 10_ 9223372036854775808 -9223372036854775809 99999999999999999999; do
    expect 2 "'n' is a scalar .s32.; it takes an integer of 64 bits$" run --device=sim at.tile 'y=u8[20,64]:got.npy' "n=$n"
done
for n in 2147483648 -2147483649 9223372036854775807 -9223372036854775808; do
    expect 2 "E1109: .n. is $n, which does not fit s32" run --device=sim at.tile 'y=u8[20,64]:got.npy' "n=$n"
done
for n in 20x 0x 0b2 1__0 99999999999999999999; do
    expect 2 "'$n' is no extent$" run --device=sim at.tile "y=u8[$n,64]:got.npy" n=1
done
for n in '2 0' -20 +20 1.5 ''; do
    expect 2 "extents are numbers or sizes of the kernel" run --device=sim at.tile "y=u8[$n,64]:got.npy" n=1
done
rm -f at.tile want.npy got.npy

# Extents that are worked out, as signatures have them: what is suggested for a missing argument can be typed.
cat >ends.tile <<'END'
kernel ends(x: global s32[E], offs: global s32[ceil(E, 2) + 1]) grid (1) {
    shared t: s32[1];
    for e in ceil(E, 2) + 1 { fill t = e; move t -> offs[e +: 1] via threads; }
}
END
expect 2 "argument 'offs' of kernel 'ends' is missing: offs=s32.ceil.E, 2. . 1.:out.npy$" run --device=sim ends.tile 'x=s32[5]'
expect 0 '' run --device=sim ends.tile 'x=s32[5]' "$(sed -n 's/.*missing: //p' err)"
[ "$(od -A n -t d4 -j 128 out.npy | tr -s ' ')" = ' 0 1 2 3' ] || fail "an extent that is worked out: $(od -t d4 out.npy)"
expect 0 '' run --device=sim ends.tile E=5 'x=s32[E]' 'offs=s32[ (E+1) / 2 - -1 ]:out.npy'
expect 2 'offs=.*: E - 9 is -4$' run --device=sim ends.tile 'x=s32[5]' 'offs=s32[E - 9]'
expect 2 'offs=.*no size, stride or scalar named Q; .*: write a number there$' run --device=sim ends.tile 'x=s32[5]' 'offs=s32[2 * Q]'
expect 2 'E1104: .offs.: extent is 6, not 4' run --device=sim ends.tile 'x=s32[5]' 'offs=s32[E + 1]'
for extent in 'E +' 'E / 0' 'E E' '(E' 'E)' 'mean(E, 2)' "$(printf '%5000s' '' | tr ' ' '(')E" '4611686018427387904 * 4'; do
    expect 2 'extents are numbers or sizes of the kernel, or what is worked out of them' run --device=sim ends.tile 'x=s32[5]' "offs=s32[$extent]"
done
rm -f ends.tile out.npy

# Times on the simulator say that they are none.
expect 0 'the simulator: times are steps of simulated threads, and say nothing of a GPU$' run --device=sim:fast --time good.tile 'src=bf16[64,256]' 'dst=bf16[M,N]'

# No more is read of a file than its header says, and nothing behind a wrong magic.
expect 3 "'/dev/zero' is no .npy file" run --device=sim good.tile src=/dev/zero 'dst=bf16[M,N]:out.npy'
expect 0 '' run --device=sim good.tile 'src=bf16[64,256]' 'dst=bf16[M,N]:in.npy'
mkfifo pipe
cat in.npy /dev/zero >pipe 2>/dev/null &
expect 3 "'pipe' has bytes behind its data" run --device=sim good.tile src=pipe 'dst=bf16[M,N]:out.npy'
wait
cat in.npy >pipe &
expect 0 '' run --device=sim good.tile src=pipe 'dst=bf16[M,N]:out.npy'
wait
cmp -s in.npy out.npy || fail "an array from a pipe"
rm -f pipe in.npy out.npy

# What a new output holds: 0xA5 where it is only written, zeros where it is added to. Here no row has a place to go.
cat >add.tile <<'END'
kernel add(x: global u32[R, 64], idx: global s32[R], acc: global u32[V, 64]) {
    for r in R {
        shared row: u32[64];
        move x[r, :] -> row;
        move row -> acc[idx[r], :] reduce add;
    }
}
END
expect 0 "'acc' starts at 0: .*; acc=in.npy:out.npy starts from a file" run --device=sim add.tile x=u32[3,64] idx=s32[3] acc=u32[5,64]:out.npy
[ "$(tail -c 1280 out.npy | tr -d '\000' | wc -c)" = 0 ] || fail "the sum did not start at 0"
expect 0 '' run --device=sim good.tile src=bf16[0,256] dst=bf16[M,N]:out.npy

# Names that stand for numbers are no sizes of the kernel.
cat >named.tile <<'END'
kernel named<C = 4>(x: global u32[C, L], y: global u32[C, L], k: s64) where L % 4 == 0 {
    view from = x[:, k +: L - k];
    shared t: u32[C, 64];
    move from[0, 0] -> t;
    move t -> y[0, 0];
}
END
for define in -DC=4 -DC=8 -Dnamed.C=8 ''; do # what they stand for by -D, or by their default, in any order of the arguments
    expect 0 '' run --device=sim named.tile $define 'y=u32[C,L]:out.npy' 'x=u32[C,64]~iota' k=0
    [ "$(tail -c $((256 * $(echo "${define:-=4}" | cut -d= -f2))) out.npy | od -A n -t u4 -v -w4 | awk '$1 != NR - 1' | wc -l)" = 0 ] || fail "$define: other contents"
done
expect 2 "no size, stride or scalar named Q; 'y' is u32\[4, L\]: write 4 there$" run --device=sim named.tile x=u32[4,64] y=u32[Q,L]:out.npy k=0
expect 2 'no size, stride or scalar named C' run --device=sim named.tile -D C=8 x=u32[8,64] y=u32[CC,L]:out.npy k=0
expect 2 'no size, stride or scalar named Q' run --device=sim named.tile -D C=8 x=u32[8,64] y=u32[Q,L]:out.npy k=0
# A view may be empty at the tensor's end, too; then it reads as zeros.
expect 0 '' run --device=sim named.tile x=u32[4,64] y=u32[4,L]:out.npy k=60
[ "$(tail -c 1024 out.npy | tr -d '\000' | wc -c)" = 64 ] || fail "a view of 4 columns"
expect 0 '' run --device=sim named.tile x=u32[4,64] y=u32[4,L]:out.npy k=64
[ "$(tail -c 1024 out.npy | tr -d '\000' | wc -c)" = 0 ] || fail "an empty view does not read as zeros"
expect 2 'E1101: does not hold: 0 <= L - k' run --device=sim named.tile x=u32[4,64] y=u32[4,L]:out.npy k=68
# What follows from a fact that does not hold is not said beside it.
cat >facts.tile <<'END'
kernel k(x: global f32[M, N], y: global f32[M, P], n: s64) grid (ceil(N, 64)) where n % 4 == 0 || N % 4 == 0, n > 3 {
    shared t: f32[8, 64];
    move x[0, cta.x * 64] -> t;
    move t -> y[0, cta.x * 64];
}
END
expect 2 E1101 run --device=sim facts.tile x=f32[8,18] y=f32[8,64] n=2
[ "$(grep -c E1101 err)" = 2 ] && [ "$(wc -l <err)" = 2 ] || fail "what follows from facts: $(cat err)"
expect 2 E0415 run --device=sim facts.tile x=f32[8,18] y=f32[8,64] n=4
rm facts.tile
# Where im2col copies start, and their offsets, as far as the launch knows them.
cat >base.tile <<'END'
kernel base(x: global bf16[N, H, W, 64], y: global bf16[R, 32, 64], s: s32) grid (R) where N >= 1, H >= 1 {
    map patch = x im2col lower (0, -2) upper (0, 0) channels 64 pixels 32 swizzle 128;
    shared t: bf16[32, 64] swizzle 128;
    move x[0, 0, cta.x - 2, 0] -> t via patch offset (0, s);
    move t -> y[cta.x, :, :];
}
END
expect 2 'E1139: does not hold: -2 <= cta.x - 2 <= W - 1' run --device=sim base.tile x=bf16[1,4,40,64] y=bf16[43,32,64]:out.npy s=0
expect 2 'E1140: does not hold: 0 <= s <= 255' run --device=sim base.tile x=bf16[1,4,40,64] y=bf16[42,32,64]:out.npy s=256
# A kernel is compiled alone: what the others lack is no matter, and -D may say it. Of its own each that lacks a value is named, with what to type.
cat >several.tile <<'END'
const L = 64;
kernel bare<C, T, N = C * 2>(x: global T[C, L], y: global T[C, L]) {
    shared t: T[C, 64];
    move x[0, 0] -> t;
    move t -> y[0, 0];
}
kernel typed<T = u32, BM = 32 | 8>(x: global T[M, L], y: global T[M, L]) {
    pipeline i in ceil(M, BM) across grid {
        shared t: T[BM, 64];
        move x[i * BM, 0] -> t;
        move t -> y[i * BM, 0];
    }
}
END
expect 0 '' --emit=defines several.tile
printf '%s\n' L=64 kernel=bare bare.C= bare.T= kernel=typed typed.T=u32 'typed.BM=32|8' | cmp -s - out || fail "--emit=defines: $(cat out)"
expect 0 '' --emit=defines -D bare.C=8 -D bare.T=f32 -D 'BM=128|64|32' several.tile
printf '%s\n' L=64 kernel=bare bare.C=8 bare.T=f32 bare.N=16 kernel=typed typed.T=u32 'typed.BM=128|64|32' | cmp -s - out || fail "--emit=defines: $(cat out)"
expect 2 "has 2 kernels; say which one with several.tile:NAME; it has bare, typed$" run --device=sim several.tile
expect 2 "no kernel 'tped'; did you mean 'typed'" run --device=sim several.tile:tped
expect 2 "^tilecc: E0212: kernel 'bare' has compile-time parameters without a value: tilecc run -D bare.C=.. -D bare.T=.. several.tile:bare$" \
    run --device=sim several.tile:bare x=T[C,L] y=T[C,L]:out.npy
[ "$(wc -l <err)" = 1 ] || fail "one line: $(cat err)"
expect 0 '' run --device=sim several.tile:bare -D C=4 -D bare.T=f32 x=T[C,L] y=f32[C,64]:out.npy
for define in bare.C=4 T=f32 BM=16; do
    expect 0 '' run --device=sim several.tile:typed -D $define 'x=T[20,L]~iota' y=T[M,L]:out.npy
done
expect 2 'named BM; .*: write a number there' run --device=sim several.tile:typed x=T[BM,L] y=T[M,L]:out.npy
expect 1 'E0213.*-D bare.Q=4' run --device=sim several.tile:typed -D bare.Q=4 x=T[20,L] y=T[M,L]:out.npy
[ "$(grep -c E0213 err)" = 1 ] || fail "said once: $(cat err)"
rm -f out.npy add.tile named.tile base.tile several.tile
only_files
# A start that only the launch knows: what it has to be, and what takes any.
printf 'kernel pad(x: global f32[M, N], y: global f32[M, N], left: s64) grid (1) {\n    shared t: f32[32, 64];\n    move x[0, -left] -> t;\n    move t -> y[0, 0];\n}\n' >pad.tile
expect 0 '' run --device=sim pad.tile 'x=f32[8,16]~iota' 'y=f32[M,N]' left=4
expect 2 'E1121: .*left = 3' run --device=sim pad.tile 'x=f32[8,16]~iota' 'y=f32[M,N]' left=3
contains err '^fix: write `via threads` behind the move: threads begin at any place$'

# One cause, one error: rows that several maps can't take, a name that is wrong.
printf 'kernel copy(src: global bf16[M, N], dst: global bf16[M, N]) grid (ceil(N, 64), ceil(M, 8)) {\n    shared t: bf16[8, 64];\n    move src[cta.y * 8, cta.x * 64] -> t;\n    move t -> dst[cta.y * 8, cta.x * 64];\n}\n' >rows.tile
said() { [ "$(grep -c . err)" = "$1" ] || fail "$1 lines: $(cat err)"; }
expect 2 'E1124: .*N = 63' run --device=sim rows.tile 'src=bf16[8,63]' 'dst=bf16[M,N]'
contains err '^fix: pad the rows'
said 2
expect 2 "no parameter 'dts'; did you mean 'dst'" run --device=sim rows.tile 'src=bf16[8,64]' 'dts=bf16[M,N]'
said 1
expect 2 "argument 'dst' of kernel 'copy' is missing" run --device=sim rows.tile 'src=bf16[8,64]'
expect 0 '' run --device=sim good.tile 'src=bf16[64,256]' 'dst=bf16[64,256]:out.npy'
printf 'kernel one(x: global u16[N], y: global u16[N]) grid (1) {\n    shared t: u16[64];\n    move x[0] -> t;\n    move t -> y[0];\n}\n' >one.tile
expect 0 '' run --device=sim one.tile 'x=u16[64]' 'y=u16[N]:one.npy' -Wno-performance
expect 2 "'one.npy' has 1 dimension, 'src' has 2: " run --device=sim rows.tile src=one.npy 'dst=bf16[M,N]'

finish
