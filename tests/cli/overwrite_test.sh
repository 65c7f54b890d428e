# An output never replaces an input of the same command, nor another output: files are compared, not names.
. cli/cli.sh

cp good.tile copy.tile
ln -s copy.tile link.tile
ln copy.tile hard.ptx
kept() { cmp -s good.tile copy.tile || fail "$1: the source is gone"; }

expect 2 "the output 'copy.tile' would replace the input 'copy.tile': give it another name" -S copy.tile -o copy.tile
kept -o
expect 2 'would replace the input' -S copy.tile -o ./copy.tile
expect 2 'would replace the input' -S copy.tile -o "$PWD/copy.tile"
expect 2 'would replace the input' -S link.tile -o copy.tile
expect 2 'would replace the input' -S copy.tile -o link.tile
expect 2 'would replace the input' -S copy.tile -o hard.ptx
expect 2 'would replace the input on standard input' -S - -o copy.tile <copy.tile
expect 2 "'copy.tile' would replace" -S copy.tile -MD -MF copy.tile -o x.ptx
[ ! -e x.ptx ] || fail "one of two outputs was written though the other may not be"
expect 2 "two outputs would be one file, 'x.ptx' and './x.ptx'" -S copy.tile -MD -MF ./x.ptx -o x.ptx
[ ! -e x.ptx ] || fail "two outputs in one file"
cp copy.tile same.ptx
expect 2 "'same.ptx' would replace" -S same.ptx
cmp -s same.ptx good.tile || fail "-S without -o: the source is gone"
kept -S

# Imports are inputs, too.
echo 'const ROWS = 64;' >mine.tile
sed 's/^kernel/import mine;\n&/; s/bf16\[64, 256\]/bf16[mine.ROWS, 256]/' good.tile >uses.tile
cp mine.tile mine.kept
expect 2 "'mine.tile' would replace" -S uses.tile -o mine.tile
cmp -s mine.tile mine.kept || fail "the import is gone"
expect 0 '' -S uses.tile -o /dev/null
expect 0 '' -S uses.tile -MD -MF /dev/null -o /dev/null

# run: the program, its imports, the arguments' files and the trace.
expect 0 '' run --device=sim copy.tile 'src=bf16[64,256]' 'dst=bf16[M,N]:in.npy'
cp in.npy in.kept
expect 0 '' -S copy.tile -o made.ptx
cp made.ptx made.kept
ran() { # pattern, arguments
    words=$1
    shift
    expect 2 "$words" run --device=sim "$@"
    kept "$*"
    cmp -s in.npy in.kept || fail "tilecc run $*: in.npy is gone"
    cmp -s made.ptx made.kept || fail "tilecc run $*: made.ptx is gone"
    cmp -s mine.tile mine.kept || fail "tilecc run $*: mine.tile is gone"
}
ran "'copy.tile' would replace" copy.tile src=in.npy 'dst=bf16[M,N]:copy.tile'
ran "'link.tile' would replace" copy.tile src=in.npy 'dst=bf16[M,N]:link.tile'
ran "'made.ptx' would replace" made.ptx src=in.npy 'dst=bf16[M,N]:made.ptx'
ran "'mine.tile' would replace" uses.tile src=in.npy 'dst=bf16[M,N]:mine.tile'
ran "'./in.npy' would replace the input 'in.npy'" copy.tile src=in.npy 'dst=bf16[M,N]:./in.npy'
ran "'copy.tile' would replace" copy.tile src=in.npy 'dst=bf16[M,N]:y.npy' --trace=copy.tile
ran "'mine.tile' would replace" uses.tile src=in.npy 'dst=bf16[M,N]:y.npy' --trace=mine.tile
ran "'in.npy' would replace" copy.tile src=in.npy 'dst=bf16[M,N]:y.npy' --trace=in.npy
ran "'copy.tile' would replace" --device=sim:check,trace=copy.tile copy.tile src=in.npy 'dst=bf16[M,N]:y.npy'
ran "two outputs would be one file, 'y' and './y'" copy.tile src=in.npy 'dst=bf16[M,N]:./y' --trace=y
[ ! -e y ] && [ ! -e y.npy ] || fail "a refused run left output"

# A file that one argument names twice is updated in place.
cat >add.tile <<'END'
kernel add(x: global u32[64], acc: global u32[64]) {
    shared t: u32[64];
    move x[0] -> t;
    move t -> acc[0] reduce add;
}
END
expect 0 "'acc' starts at 0" run --device=sim add.tile 'x=u32[64]' 'acc=u32[64]:acc.npy'
cp acc.npy acc.kept
expect 0 '' run --device=sim add.tile 'x=u32[64]' acc=acc.npy:acc.npy
cmp -s acc.npy acc.kept && fail "acc.npy was not updated"
finish
