# Where output goes; that it appears whole or not at all.
. cli/cli.sh

# Text to standard output unless told.
for kind in tokens ast ir ptx plan tree schedules defines; do
    expect 0 '' --emit=$kind good.tile
    [ -s out ] || fail "--emit=$kind gave nothing"
    cp out "kept.$kind"
    expect 0 '' --emit=$kind good.tile -o "x.$kind"
    [ ! -s out ] || fail "-o still prints"
    cmp -s "kept.$kind" "x.$kind" || fail "--emit=$kind: -o FILE differs from standard output"
    expect 0 '' --emit=$kind good.tile -o -
    cmp -s "kept.$kind" out || fail "--emit=$kind: -o - differs"
done
expect 0 '' --explain-plan good.tile
cmp -s kept.plan out || fail "--explain-plan is not --emit=plan"
rm kept.* x.*
only_files

# One kernel of several.
printf 'kernel one(x: global f32[N]) {\n    shared t: f32[4];\n    move x[0] -> t;\n    move t -> x[4];\n}\n' >both.tile
printf 'kernel two<B = 4>(x: global f32[N]) {\n    shared t: f32[B];\n    move x[16] -> t;\n    move t -> x[32];\n}\n' >>both.tile
expect 0 '' -S --kernel=one both.tile -o -
contains out 'entry one'
! grep -q 'entry two' out || fail '--kernel=one makes two, too'
expect 0 '' -S --kernel=two -D B=8 both.tile -o -
contains out 'entry two'
! grep -q 'entry one' out || fail '--kernel=two makes one, too'
expect 0 '' -S --kernel=one -D two.B=8 both.tile -o -
expect 1 'no kernel has this compile-time parameter' -S --kernel=one -D C=8 both.tile -o -
rm -f both.tile
only_files

# -S: a file of the source's name in the current folder, wherever the source is.
mkdir sub
cp good.tile sub/there.tile
expect 0 '' -S sub/there.tile
only_files sub/there.tile there.ptx
contains there.ptx '^\.version'
rm -r sub there.ptx

# A file is not called what it is not.
expect 2 "'x.ptx' would be a cubin: -S makes PTX" good.tile -o x.ptx
expect 2 "'a.b/x.cubin' would be PTX: cubins are made without -S" -S good.tile -o a.b/x.cubin
expect 2 "'x.h' would be a cubin: --emit=c makes C" good.tile -o x.h
expect 2 "'x.c' would be PTX" --emit=ptx good.tile -o x.c
only_files

# Standard input.
expect 0 '' - --emit=ptx <good.tile
contains out '^\.version'
expect 1 '<stdin>:' - --emit=ptx <bad.tile
[ ! -s out ] || fail "a wrong program from standard input gave output"

# A file that stands is kept when the new one does not come, and replaced as a whole when it does.
echo old >x.ptx
chmod 640 x.ptx
expect 1 'bad.tile' -S bad.tile -o x.ptx
[ "$(cat x.ptx)" = old ] || fail "an error destroyed the old output"
ln -s x.ptx link.ptx
expect 0 '' -S good.tile -o link.ptx
[ -L link.ptx ] || fail "the link was replaced, not its file"
contains x.ptx '^\.version'
[ "$(stat -c %a x.ptx)" = 640 ] || fail "the mode was not kept"
(umask 027 && "$TILECC" -S good.tile -o new.ptx)
[ "$(stat -c %a new.ptx)" = 640 ] || fail "the umask was not kept: $(stat -c %a new.ptx)"
rm -f x.ptx link.ptx new.ptx
only_files

# Outputs that can't be written.
expect 3 "can't write '/nonexistent/x': No such file" -S good.tile -o /nonexistent/x
mkdir folder
expect 3 "can't write 'folder': Is a directory" -S good.tile -o folder
expect 0 '' -S good.tile -o /dev/null
if [ -w /dev/full ]; then
    expect 3 "can't write '/dev/full': No space" -S good.tile -o /dev/full
    "$TILECC" --emit=ptx good.tile >/dev/full 2>err
    [ $? = 3 ] || fail "a full standard output is not noticed"
fi
if [ "$(id -u)" != 0 ]; then
    chmod 555 folder
    expect 3 "can't write 'folder/x'" -S good.tile -o folder/x
    echo old >fixed.ptx
    chmod 444 fixed.ptx
    expect 3 "can't write 'fixed.ptx'" -S good.tile -o fixed.ptx
    chmod 644 fixed.ptx
    rm fixed.ptx
fi
rmdir folder
only_files

# Inputs that can't be read.
expect 3 "can't read 'none.tile': No such file" none.tile
expect 3 "can't read '.': Is a directory" .
: >empty.tile
"$TILECC" --emit=ir empty.tile >out 2>err
[ $? -le 1 ] || fail "an empty file: $(cat err)"
printf '\000\377kernel' >bytes.tile
expect 1 'bytes.tile:' --emit=ir bytes.tile
rm -f empty.tile bytes.tile
only_files
# What a signal ends leaves nothing beside the output: the second one is a pipe that nobody reads.
mkfifo pipe
for signal in TERM HUP; do # a shell without a terminal has INT ignored in what runs beside it
    "$TILECC" -S good.tile -MD -MF pipe -o x.ptx &
    pid=$! n=0
    while [ -z "$(find . -name 'x.ptx.*')" ] && [ $n -lt 100 ]; do
        sleep 0.1
        n=$((n + 1))
    done
    [ $n -lt 100 ] || fail "$signal: nothing was under construction"
    kill -$signal $pid
    wait $pid
    [ $? -gt 128 ] || fail "$signal did not end it"
    [ -z "$(find . -name 'x.ptx*')" ] || fail "$signal leaves $(find . -name 'x.ptx*')"
done
rm pipe

# So does what the kernel ends, for a limit or a reader that is gone; and `tilecc new`.
(
    ulimit -f 1
    exec "$TILECC" -S good.tile -o x.ptx
) >out 2>err
[ $? -gt 128 ] || fail "a limit of the size of files does not end it: $(cat err)"
"$TILECC" -S good.tile -MD -MF x.d -o - 2>err | :
(
    ulimit -f 1
    exec "$TILECC" new begun
) >out 2>err
[ $? -gt 128 ] || fail "a limit of the size of files does not end tilecc new: $(cat err)"
rm -f x.d
[ -z "$(find . -name 'x.*' -o -name 'begun*')" ] || fail "left: $(find . -name 'x.*' -o -name 'begun*')"

finish
