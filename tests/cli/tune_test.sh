# tilecc tune, on the simulator, and what compilation makes of its file. What times mean is no test's affair; there they are steps.
. cli/cli.sh
TILECC=$QUICK
cat >copy.tile <<'END'
kernel copy<BM = 16 | 8>(src: global bf16[M, N], dst: global bf16[M, N]) {
    pipeline (i, j) in (ceil(M, BM), ceil(N, 64)) across grid {
        shared tile: bf16[BM, 64];
        move src[i * BM, j * 64] -> tile;
        move tile -> dst[i * BM, j * 64];
    }
}
kernel gather(table: global f32[V, 32], idx: global s32[R], both: global f32[R + 2, 32], n: s32) {
    pipeline r in R across grid by static {
        shared row: f32[1, 32];
        move table[idx[r] + n, 0] -> row;
        move row -> both[r, 0];
    }
}
END
quietly='no GPU is found; on the simulator'

# Every schedule of the kernel, at the sizes that were named, in a table; the file and a plot.
expect 0 "$quietly" tune copy.tile:copy M=16..256 N=128 -Wno-performance
only_files copy.tile copy.tune copy.svg
contains out '^copy on simulator, [0-9]+ schedules( and [0-9]+ combinations? of what gains)?$'
contains out '^\| M=16 \| 8192 \|'
contains out '^\| M=64 \| .* BM='
contains out '^\| M=256 \|'
contains out '^copy.tune, copy.svg$'
[ "$(grep -c '^| M=' out)" = 3 ] || fail "sizes: $(cat out)"
contains copy.tune '^# '
contains copy.tune '^copy on "simulator" from 0: BM='
contains copy.svg '^<svg xmlns=.*viewBox'
contains copy.svg 'copy on simulator'
contains copy.svg 'thousands of simulated steps'
if command -v python3 >/dev/null 2>&1; then
    python3 -c 'import sys, xml.dom.minidom as m; d = m.parse(sys.argv[1]); assert len(d.getElementsByTagName("polyline")) > 5' copy.svg || fail 'the plot is no SVG'
fi

# The same again is the same; -v shows all; nothing that was there of others is lost.
cp copy.tune first
printf '# by hand\ncopy on "NVIDIA H200" from 0: BM=8\n' >>copy.tune
expect 0 "$quietly" tune copy.tile:copy M=16..256 N=128 -v -Wno-performance --plot=off
contains out '^\| as it is \|'
contains out '^\| BM=16 by static \|'
contains copy.tune '^# by hand$'
contains copy.tune '^copy on "NVIDIA H200" from 0: BM=8$'
[ "$(grep simulator copy.tune)" = "$(grep simulator first)" ] || fail "another choice: $(cat first copy.tune)"

# A line is known however it is spaced; what would leave the program without a schedule that can be made is not written.
printf '\357\273\277copy   on\t"simulator"from 0:BM=8\n  copy on  "simulator"  from  9 : BM=16\n' >copy.tune
expect 0 "$quietly" tune copy.tile:copy M=16..256 N=128 -Wno-performance --plot=off
grep '^copy on "simulator"' first >wanted
same wanted copy.tune
{ for i in 1 2 3 4 5 6; do echo "copy on \"gpu$i\" from 0: BM=64 stages $i"; done; } >copy.tune
cp copy.tune full
expect 1 'more than 8' tune copy.tile:copy M=16..256 N=128 -Wno-performance --plot=off
contains err "with what was found, the program can't be compiled: 'copy.tune' stays as it is, and would be"
contains err '^copy on "simulator" from 0: '
cmp copy.tune full || fail "written: $(cat copy.tune)"
rm wanted full

# What can't be worked out, and where nothing can be read again.
rm -f copy.tune copy.svg
deep=$(printf '%5000s' '' | tr ' ' '(')
for size in 'M*M*M*M*M*M*M*M*M*M*M' '99999999999999999999*M' "${deep}M" "-$(echo "$deep" | tr '(' '-')M" 'min(M' 'M*9223372036854775807' '0-M*4611686018427387904-M*4611686018427387904'; do
    expect 2 'a size is a number, a range, as in N=64..65536, or follows from sizes before it' tune --device=sim copy.tile:copy M=64 "N=$size" -Wno-performance
done
expect 2 "'M=-64': a size is 1 or more" tune --device=sim copy.tile:copy M=-64 -Wno-performance
expect 2 "'M=-64..64': a size is 1 or more" tune --device=sim copy.tile:copy M=-64..64 -Wno-performance
expect 2 "'n=-1': a scalar is 0 or more here" tune --device=sim copy.tile:gather n=-1 -Wno-performance
expect 2 'tune reads again what it has written' tune --device=sim copy.tile:copy -o -
expect 3 "^tilecc: can't write 'none/x.tune': No such file or directory$" tune --device=sim copy.tile:copy -o none/x.tune # before anything is measured
expect 3 "^tilecc: can't write 'copy.tile/x.svg': Not a directory$" tune --device=sim copy.tile:copy --plot=copy.tile/x.svg
expect 2 '--plot needs an argument: FILE' tune --plot= copy.tile:copy
expect 0 'the simulator' tune --device=sim:fast copy.tile:copy 'src=bf16[64,64]~7' 'dst=bf16[M,N]' -Wno-performance --plot=off -o given.tune # a tensor says sizes
expect 2 'M is 64 from .src. but 32 from .dst.' tune --device=sim:fast copy.tile:copy 'src=bf16[64,64]~7' M=32 -Wno-performance --plot=off -o given.tune
expect 2 "extents of 'src', .*don't follow" tune --device=sim copy.tile:copy 'src=bf16[M,none]~7' M=64 -Wno-performance
expect 0 'the simulator' tune --device=sim copy.tile:copy 'src=bf16[BM * 10,N]~7' M=80 N=64 -D BM=8 -Wno-performance --plot=off -o other.tune
rm -f other.tune

# Tensors from files fix the sizes that stand in their extents. Integers that nothing is said of are zeros, which is said.
cat >groups.tile <<'END'
kernel groups(x: global f32[T, 64], offs: global s32[G], y: global f32[T, 64]) where G >= 1 trust sorted(offs) {
    pipeline g in G - 1 across grid {
        view from = x[offs[g] +: offs[g + 1] - offs[g], :];
        view to = y[offs[g] +: offs[g + 1] - offs[g], :];
        pipeline i in ceil(offs[g + 1] - offs[g], 4) { shared t: f32[4, 64]; move from[i * 4, 0] -> t; move t -> to[i * 4, 0]; }
    }
}
kernel count(to: global s32[N]) { pipeline i in N across grid { shared t: s32[1]; fill t = i; move t -> to[i +: 1] via threads; } }
END
some="--device=sim:fast groups.tile:groups -Wno-performance --plot=off"
expect 0 '' run --device=sim groups.tile:count to=s32[9]:offs.npy
expect 0 '' run --device=sim -Wno-performance groups.tile:groups 'x=f32[20,64]~1' offs=offs.npy y=f32[T,64]:y.npy
# shellcheck disable=SC2086
{
    expect 0 "'offs' holds zeros, .* offs=in.npy or offs=s32.G.~iota says others" tune $some T=20 G=9
    grep '^| - |' out >zeros
    expect 0 'the simulator: times are steps' tune $some T=20 offs=offs.npy
    ! grep -q zeros err || fail "offsets of a file are no zeros: $(cat err)"
    grep '^| - |' out >some
    ! cmp -s zeros some || fail "a file's elements make no difference"
    cp some given
    expect 0 'the simulator: times are steps' tune $some offs=offs.npy x=y.npy
    grep '^| - |' out >some
    cmp some given || fail "a file's shape is not what sizes are: $(cat out)"
    expect 2 'T is 20 from .x. but 30 from .y.' tune $some T=30 offs=offs.npy x=y.npy
    expect 2 "'offs.npy' holds '<i4', but 'x' is f32" tune $some x=offs.npy
    expect 3 "can't read 'none.npy'" tune $some offs=none.npy
    expect 2 "'offs' is a tensor .s32.G.., not a number: offs=in.npy" tune $some offs=5
}
rm -f groups.tile groups.tune offs.npy y.npy zeros some given

# Compilation reads it, and -MD says so; --tune=FILE, --tune=off; --explain-plan and run -v say what it became.
printf 'copy on "simulator" from 0: BM=8 by launch\ncopy on "simulator" from 32768: BM=32 by static stages 3\n' >copy.tune
kernels() { # how many of `copy`, options
    wanted=$1
    shift
    expect 0 '' -Wno-performance -S copy.tile -o x.ptx "$@"
    [ "$(grep -c '\.entry copy' x.ptx)" = "$wanted" ] || fail "$*: $(grep '\.entry copy' x.ptx) for $wanted"
}
kernels 4 -MD
contains x.d 'copy\.tune'
kernels 2 --tune=off
printf 'copy on "simulator" from 0: BM=32\n' >other
kernels 3 --tune=other -MD
contains x.d 'other'
! grep -q 'copy\.tune' x.d || fail "-MD names a file that was not read: $(cat x.d)"
expect 1 'E0222.*absent is not there' -S copy.tile --tune=absent
expect 0 '' -Wno-performance --explain-plan copy.tile
contains out '^  4: BM=32 by static stages 3$'
contains out '4 for launches that move at least 32768 bytes on simulator \(measured\)'
contains out '2 for all other launches$'
expect 0 'schedule 3 of 4: for all other launches, as measured on this GPU' run -v copy.tile:copy 'src=bf16[64,64]~3' 'dst=bf16[M,N]:y.npy' --device=sim:fast -Wno-performance
expect 0 'schedule 4 of 4: for launches that move at least 32768 bytes, as measured' run -v copy.tile:copy 'src=bf16[200,64]~3' 'dst=bf16[M,N]:y.npy' --device=sim:fast -Wno-performance
printf 'copy on "simulator" from 32768: BM=8 by launch\n' >high # smaller launches choose as without it
expect 0 'schedule 2 of 3: for all other launches$' run -v copy.tile:copy 'src=bf16[16,64]~3' 'dst=bf16[M,N]:z.npy' --device=sim:fast --tune=high -Wno-performance
expect 0 'schedule 3 of 3: for launches that move at least 32768 bytes, as measured' run -v copy.tile:copy 'src=bf16[200,64]~3' 'dst=bf16[M,N]:z.npy' --device=sim:fast --tune=high -Wno-performance
expect 0 '' run copy.tile:copy 'src=bf16[200,64]~3' 'dst=bf16[M,N]:z.npy' --device=sim:fast --tune=off -Wno-performance
cmp y.npy z.npy || fail 'the result depends on the schedule'
expect 0 'schedule 2 of 2: for all other launches$' run -v copy.tile:copy 'src=bf16[16,64]~3' 'dst=bf16[M,N]:y.npy' --device=sim:fast --tune=off -Wno-performance

# The cache of run sees another file; -D pins against it; so does --pin, which takes what --emit=schedules lists.
sed -i 's/by launch/by ticket/' copy.tune
expect 0 'schedule 3 of 4' run -v copy.tile:copy 'src=bf16[64,64]~3' 'dst=bf16[M,N]:y.npy' --device=sim:fast -Wno-performance
contains err 'dealt by tickets'
kernels 1 -D copy.BM=64
kernels 2 -D 'copy.BM=64|8'
kernels 4 -D 'copy.BM=32|8'
expect 0 '' --emit=schedules copy.tile
contains out '^copy: BM=16$'
contains out '^copy: BM=8 by ticket$'
contains out '^gather: stages 1$'
[ "$(sort out | uniq -d)" = '' ] || fail "twice: $(sort out | uniq -d)"
sed -n 's/^\(copy: .*\)/\1/p' out >schedules
while read -r schedule; do kernels 1 --pin "$schedule"; done <schedules
kernels 4 # a pin of another kernel leaves this one with what it has without a file
kernels 2 --pin 'gather: stages 1'
expect 1 'E0221.*no kernel .cpoy' -S copy.tile --pin 'cpoy: BM=8'
expect 1 'E0221.*by best' -S copy.tile --pin 'copy: by best'
expect 1 'E0221.*no clusterlaunchcontrol' -S copy.tile --pin 'copy: by clc'
expect 1 'E0221.*BN. is no compile-time parameter' -S copy.tile --pin 'copy: BN=8'

# Damaged and foreign files: one error with its line, and nothing is written over.
printf 'copy on "simulator" from 0: BM=8\nPK\003\004\377\n' >copy.tune
cp copy.tune damaged
expect 1 'copy\.tune:2:' -S copy.tile
[ "$(grep -c '^error' err)" = 1 ] || fail "more than one error: $(cat err)"
expect 1 'copy\.tune:2:' tune copy.tile:copy M=16..64 N=64 -Wno-performance
cmp copy.tune damaged || fail 'a damaged file was written over'
refused() { # what is said, lines
    printf "$2" >copy.tune
    expect 1 "$1" -S copy.tile
    [ "$(grep -c '^error' err)" = 1 ] || fail "$2: more than one error: $(cat err)"
}
refused 'more than 8' "$(for i in 1 2 3 4 5 6 7; do printf 'copy on "H200" from %d: BM=8 stages %d\\n' $i $i; done)"
refused 'a second schedule of .copy. on "H200" from 4096' 'copy on "H200" from 4096: BM=8\ncopy on "H200" from 4096: BM=16\n'
refused 'a `:` and the schedule are due' '# a comment\ncopy on "H200" from 4 MB: BM=8\n'
refused 'the name of a GPU is due, in quotes' 'copy on H200 from 0: BM=8\n'
refused '.f33. is neither a 64-bit number nor an element type' 'copy on "H200" from 0: BM=f33\n'
refused 'the schedule is missing' 'copy on "H200" from 0:\n'
refused 'at most 64 stages' 'copy on "H200" from 0: stages 65\n'
refused '.BM. stands there twice' 'copy on "H200" from 0: BM=8 BM=16\n'
refused '.by. stands there twice' 'copy on "H200" from 0: by launch by ticket\n'
refused '.stages. stands there twice' 'copy on "H200" from 0: stages 3 stages 4\n'
refused '.hints. stands there twice' 'copy on "H200" from 0: hints on hints off\n'
refused '.l2. stands there twice' 'copy on "H200" from 0: l2 64 l2 128\n'
refused '.alternative. stands there twice' 'copy on "H200" from 0: alternative 1 alternative 2\n'
refused 'a comment has a line of its own' 'copy on "H200" from 0: BM=8 # good\n'
refused '.hints maybe. does not exist' 'copy on "H200" from 0: hints maybe\n'
refused '.l2 32. does not exist: 64, 128 or 256' 'copy on "H200" from 0: l2 32\n'
refused '.x. where a number of at least 0 is due' 'copy on "H200" from x: BM=8\n'
refused '.in. where .on. is due' 'copy in "H200" from 0: BM=8\n'
printf 'copy on "simulator" from 0: BM=8\nnone on "H200" from 0: BM=8\ncopy on "H200" from 0: BX=8\n' >copy.tune
expect 0 'W0002.*no kernel .none.' -S copy.tile -Wno-performance
contains err 'W0002.*BX. is no compile-time parameter of .copy.'
printf 'copy on "simulator" from 0: BM=8\n\000\000' >copy.tune
expect 1 'copy\.tune:2:.*|value 0' -S copy.tile
mkdir folder.tune && cp copy.tile folder.tile
expect 1 'E0222.*folder.tune is a folder|E0222.*folder.tune .*directory' -S folder.tile
rm -r folder.tune folder.tile copy.tune

# By its number an alternative has the values that it has, whatever types and -D make of them.
printf 'copy on "simulator" from 0: alternative 2\ncopy on "simulator" from 32768: alternative 1 by static\ncopy on "H200" from 0: alternative 2 by ticket\n' >copy.tune
kernels 4
expect 0 '' -Wno-performance --explain-plan copy.tile -D 'copy.BM=64|32'
contains out '^  3: BM=64 by static$'
contains out '2 for all other launches on simulator .measured.$'
kernels 1 -D copy.BM=64 # which leaves one
kernels 1 --pin 'copy: alternative 2'
expect 0 'schedule 3 of 3: for launches that move at least 32768 bytes, as measured' run -v copy.tile:copy 'src=bf16[200,64]~3' 'dst=bf16[M,N]:y.npy' --device=sim:fast -Wno-performance
expect 1 'E0221.*of .copy. -D leaves 1 alternative' -S copy.tile -D copy.BM=64 --pin 'copy: alternative 2'
expect 1 'E0221.*.copy. has 2 alternatives' -S copy.tile --pin 'copy: alternative 3'
refused 'an alternative by its number has the values that it has' 'copy on "H200" from 0: alternative 1 BM=8\n'
refused '.0. where a number of at least 1 is due' 'copy on "H200" from 0: alternative 0\n'
printf 'copy on "H200" from 0: alternative 3\n' >copy.tune
expect 0 'W0002.*.copy. has 2 alternatives' -S copy.tile -Wno-performance
rm -f copy.tune

# What was measured of the library is built in, for the GPU that it was measured on; a file of the same name is a file.
expect 0 '' -Wno-performance --explain-plan std.copy
contains out 'on NVIDIA H100 80GB HBM3 .measured.$'
expect 0 '' -Wno-performance --explain-plan std.copy --tune=off
! grep -q measured out || fail "--tune=off: $(grep measured out)"
printf 'copy1 on "simulator" from 0: alternative 1\n' >own.tune
expect 0 'schedule 1 of 3: for all other launches, as measured' run -v --tune=own.tune std.copy:copy1 'src=bf16[64]' 'dst=bf16[N]:y.npy' --device=sim:fast -Wno-performance
expect 0 'schedule 3 of 3: for all other launches$' run -v std.copy:copy1 'src=bf16[64]' 'dst=bf16[N]:y.npy' --device=sim:fast -Wno-performance
mkdir std
cp copy.tile std/copy.tile
cp own.tune std/copy.tune
expect 0 'std/copy.tune:1:1' -S std/copy.tile -o x.ptx -Wno-performance -MD
contains err 'W0002.*no kernel .copy1.'
contains x.d 'std/copy.tune'
rm -r std own.tune

# Sizes follow from what is said; extents may be computed; contents and scalars may be given; without a word the first size varies.
expect 0 "$quietly" tune copy.tile:gather V=64 R=4..64 n=0 'idx=s32[R]~7%64' -o found --plot=drawn -Wno-performance
contains found '^gather on "simulator" from 0: '
[ -s drawn ] || fail 'no plot'
expect 0 "$quietly" tune copy.tile:copy --most=16K -Wno-performance -o found --plot=off
contains out '^\| M='
[ "$(grep -c '^| M=' out)" -ge 2 ] || fail "sizes: $(cat out)"
expect 0 "$quietly" tune copy.tile:copy M=0x40..2_56 'N=M / 0b10 + 032' -Wno-performance -o found --plot=off
contains out '^\| M=256 \| 196608 \|'
expect 0 "$quietly" tune copy.tile:copy M=64 N=64 -Wno-performance -o found --plot=off
contains out '^\| - \|'
contains found '^gather on "simulator"'
expect 0 'the others need more than 65536 bytes' tune copy.tile:copy M=64..65536 N=64 --most=64K -Wno-performance -o found --plot=off

# Where the program as it is does as well nothing is written, and what an old file says of it goes.
cat >plain.tile <<'END'
kernel plain(x: global u8[N], y: global u8[N]) grid (ceil(N, 64)) {
    shared t: u8[64];
    move x[cta.x * 64 +: 64] -> t via bulk;
    move t -> y[cta.x * 64 +: 64] via bulk;
}
END
expect 0 "$quietly" tune plain.tile N=64..1024 -Wno-performance --plot=off
contains out '^plain on simulator, [0-9]+ schedules?$'
contains out '^nothing gains more than times scatter: no lines for plain on simulator$'
[ ! -e plain.tune ] || fail "written: $(cat plain.tune)"
printf '# by hand\nplain on "simulator" from 0: hints off\n' >plain.tune
expect 0 "$quietly" tune plain.tile N=64..1024 -Wno-performance --plot=off
[ "$(cat plain.tune)" = '# by hand' ] || fail "left: $(cat plain.tune)"
expect 0 "$quietly" tune plain.tile N=64..1024 -Wno-performance
[ -s plain.svg ] || fail 'no plot'
rm -f plain.*

# Two things that gain are tried together; what has hints is for launches of far more than the L2 holds.
expect 0 "$quietly" tune -v copy.tile:copy M=64..1024 N=64 -Wno-performance --plot=off -o found
contains out '^\| BM=16 by launch hints off \|'
contains out '^\| BM=16 hints on \| - \| -'

# A pinned depth is for CTAs of many iterations: few iterations have the schedule for them all the same, and the plan says how the two go together.
sed 's/<BM = 16 | 8>//; s/BM/16/g; s/across grid {/across grid stages 3 {/' copy.tile >deep.tile
expect 0 '' --explain-plan -Wno-performance deep.tile
contains out '^  2: by launch hints off; `stages` says nothing of it: a CTA has one iteration$'
contains out '^    1 for launches that move at least 98304 bytes per SM$' # tiles of 2 KB
expect 0 'schedule 2 of 2: for all other launches$' run -v deep.tile:copy 'src=bf16[64,64]~3' 'dst=bf16[M,N]:y.npy' --device=sim -Wno-performance
expect 0 'schedule 1 of 2: for launches that move at least 98304 bytes per SM$' run -v deep.tile:copy 'src=bf16[1600,64]~3' 'dst=bf16[M,N]:y.npy' --device=sim -Wno-performance
expect 0 '' --explain-plan -Wno-performance --variants=off deep.tile
! grep -q 'schedules of' out || fail "variants off: $(cat out)"
rm deep.tile

# What can't be.
echo 'kernel nothing(n: s32) {}' >nothing.tile
expect 2 "kernel 'nothing' has no tensor: it moves nothing that could be measured" tune nothing.tile
rm nothing.tile
expect 2 'no program to tune' tune
expect 2 'no program' tune x.txt
expect 3 "can't read" tune absent.tile
expect 2 'has 2 kernels' tune copy.tile M=64 -Wno-performance
expect 2 "neither a size of kernel 'copy'" tune copy.tile:copy K=64 -Wno-performance
expect 2 'a size is a number, a range' tune copy.tile:copy M=64..8 -Wno-performance
expect 2 "'M=0': a size is 1 or more" tune copy.tile:copy M=0 -Wno-performance
for size in N 64x 64..x 64.. ..64 64...128 +64 '64 ' 64..0x 1__6 99999999999999999999 1..99999999999999999999; do
    expect 2 'a size is a number, a range' tune copy.tile:copy "M=$size" -Wno-performance
done
for size in 1..99999999999999 99999999999999 1..1099511627777; do expect 2 "'M=$size' is too large: at most 2\^40" tune copy.tile:copy "M=$size" -Wno-performance; done
expect 2 '.most needs bytes' tune copy.tile:copy --most=64X
expect 2 ".most needs bytes, such as 64K or 256M, not 'x'" tune copy.tile:copy --most=64K --most=x
expect 2 'compiled already' tune x.ptx -o found
expect 2 'E1124' tune copy.tile:copy M=16..64 N=7 -o found --plot=off -Wno-performance
expect 2 'would replace the input' tune copy.tile:copy M=64 -o copy.tile
expect 1 E0 tune bad.tile
finish
