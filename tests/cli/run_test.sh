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
rm -f out.npy
only_files
finish
