# Wrong command lines: exit code 2, one clear sentence, nothing written.
. cli/cli.sh

expect 2 'no source file'
expect 2 "unknown option '--hlep'; did you mean '--help'\?" --hlep
expect 2 "unknown option '-ach'; did you mean '-arch'\?" -ach=sm_90a good.tile
expect 2 "unknown option '-x'" -x good.tile
contains err '^try: tilecc --help$'
expect 2 "unknown option '-x'" run -x good.tile
contains err '^try: tilecc run --help$'
expect 2 "unknown option '--time': it goes only with" --time good.tile
for words in 'run --device=sim good.tile' 'run good.tile src=x.npy' 'run --nonsense' run; do
    # shellcheck disable=SC2086
    expect 2 'a command comes first, in front of its options: tilecc run ..$' -Wno-performance $words
done
expect 2 'a command comes first, in front of its options: tilecc check-ptx ..$' --target=sm_90 check-ptx x.ptx
expect 2 "unknown option '--emitt'; did you mean '--emit'\?" --emitt=ir good.tile
expect 2 "--emit does not take 'irr'; did you mean 'ir'\?" --emit=irr good.tile
expect 2 "--emit does not take 'zzzzzzz'; it takes tokens, ast, ir, ptx, cubin, plan" --emit=zzzzzzz good.tile
expect 2 'needs an argument: KIND' --emit
expect 2 'needs an argument: FILE' good.tile -o
expect 2 'needs an argument: TARGET' good.tile -arch
expect 2 "'--help' takes no argument" --help=3
expect 2 '-D needs NAME=VALUE' -D x good.tile
expect 2 '-D needs NAME=VALUE' -D =3 good.tile
expect 2 '-D needs NAME=VALUE' -D x= good.tile
expect 2 "-W does not take 'eror'; did you mean 'error'\?" -Weror good.tile
expect 2 'needs a version like 8.0' --ptx-version=eight good.tile
expect 2 "--assembler does not take 'nvjitlnk'; did you mean 'nvjitlink'\?" --assembler=nvjitlnk good.tile
expect 2 "--error-format does not take 'xml'" --error-format=xml good.tile
expect 2 '--color does not take' --color=sometimes good.tile
expect 2 "one source file at a time, but there are 2: 'good.tile', 'bad.tile'" good.tile bad.tile
expect 2 'one source file at a time, but there are 3' good.tile bad.tile good.tile
expect 2 "unknown command 'rnu'; did you mean 'run'\?" rnu good.tile
expect 2 "there is no command and no file 'frobnicate'" frobnicate
expect 2 '-MD is missing' -MF x.d good.tile
expect 2 '.' -arch=sm_12 good.tile
expect 2 'there is no PTX for sm_80, which has none of the asynchronous copies; the least target is sm_90$' -arch=sm_80 good.tile
expect 2 'there is no PTX version 8.9; the newest is ' --ptx-version=8.9 good.tile
expect 2 'standard input has no name' - <good.tile
only_files
# Nothing is no argument; what is typed does not move the cursor.
for option in -o -D -I -arch --tune= --pin= --path-map= --kernel= --ptx-version= --explain=; do
    case $option in
    *=) expect 2 "^tilecc: ${option%=} needs an argument: " "$option" good.tile ;;
    *) expect 2 "^tilecc: $option needs an argument: " $option '' good.tile ;;
    esac
done
escape=$(printf '\033[2J')
for option in "--emit=$escape" "-arch=$escape" "--ptx-version=$escape" "--$escape" "-D$escape"; do
    expect 2 'x1b.2J' "$option" good.tile
    ! grep -q "$(printf '\033')" err || fail "$option: an escape sequence"
done
only_files
# Alternatives of compile-time parameters, of the source and by -D: one schedule each; what is wrong with them.
cat >alternatives.tile <<'END'
kernel copy<BM = 64 | 8, BN = 256>(src: global bf16[M, N], dst: global bf16[M, N]) {
    pipeline (i, j) in (ceil(M, BM), ceil(N, BN)) across grid {
        shared tile: bf16[BM, BN];
        move src[i * BM, j * BN] -> tile;
        move tile -> dst[i * BM, j * BN];
    }
}
END
schedules() { # how many, -D options ..
    wanted=$1
    shift
    expect 0 '' -Wno-performance --emit=ir "$@" alternatives.tile -o alternatives.ir
    [ "$(grep -c '^kernel copy' alternatives.ir)" = "$wanted" ] || fail "$*: $(grep -c '^kernel copy' alternatives.ir) schedules for $wanted"
}
schedules 2
schedules 1 -D BM=16
schedules 3 -D 'copy.BM=64 | 32|8'
schedules 2 -D BM=32 -D 'BN=256|128'
schedules 2 -D 'BN=256|128'
grep -q 'box \[8, 128\]' alternatives.ir || fail 'the second of each do not go together'
expect 1 E0220 -S -D 'BN=256|128|64' alternatives.tile
expect 1 'E0213.*`x`' -S -D 'BM=64|x' alternatives.tile
expect 1 E0213 -S -D 'BM=64|' alternatives.tile
expect 1 E0220 -S -D 'BM=9|8|7|6|5|4|3|2|1' alternatives.tile
rm -f alternatives.tile alternatives.ir
finish
