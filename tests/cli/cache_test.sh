# The disk cache of `tilecc run`: the same output with it and without it, whatever happened to the folder; and `tilecc cache`.
# tests/cache/torture.sh does it for long.
. cli/cli.sh
export TILECC_CACHE=on TILECC_CACHE_DIR="$work/c"
unset TILECC_CACHE_SIZE XDG_CACHE_HOME

mkdir lib other
echo 'const ROWS = 8;' >lib/part.tile
cat >k.tile <<'END'
import part;

kernel copy<N = 64>(x: global u32[M, N], y: global u32[M, N]) {
    pipeline i in ceil(M, part.ROWS) across grid {
        shared t: u32[part.ROWS, N];
        move x[i * part.ROWS, 0] -> t;
        move t -> y[i * part.ROWS, 0];
    }
}
END

# cached WHAT OPTION..: the kernel runs, writes what it should, and -v says this (grep -E) of the cache. In a file: a shell that
# sees other file systems needs it, too.
cat >functions <<'END'
failures=0
fail() {
    printf 'FAILED: %s\n' "$*"
    failures=$((failures + 1))
}
cached() {
    what=$1
    shift
    rm -f y.npy
    "$TILECC" run -v --device=sim:fast "$@" -I lib k.tile 'x=u32[16,64]~iota' 'y=u32[M,64]:y.npy' >out 2>err || fail "run $*: $(cat err)"
    grep -qE -e "$what" err || fail "run $*: expected /$what/, got: $(grep cache err)"
    [ -e want.npy ] || cp y.npy want.npy
    cmp -s y.npy want.npy || fail "run $*: another output"
}
END
. ./functions
entry() { # the newest
    # shellcheck disable=SC2012
    ls -t c | head -1
}
count() { # of entries, as --stats has it
    "$TILECC" cache --stats | sed -n 's/.*: \([0-9]*\) entr.*/\1/p'
}

# ---- what is taken, and what is not ----
TILECC_CACHE=off cached '^copy: for'
! grep -q 'cache:' err || fail "off, and said: $(cat err)"
TILECC_CACHE=off "$TILECC" cache --stats | grep -q "^TILECC_CACHE is 'off': nothing is kept, and nothing taken from there$" || fail 'cache --stats keeps quiet about off'
for on in on ''; do ! TILECC_CACHE=$on "$TILECC" cache --stats | grep TILECC_CACHE || fail "cache --stats: '$on' is taken for off"; done
TILECC_CACHE=1 "$TILECC" cache --stats | grep -q "TILECC_CACHE is '1', and neither on nor off: nothing is kept" || fail 'cache --stats keeps quiet about TILECC_CACHE'
TILECC_CACHE=no cached "cache: TILECC_CACHE is 'no', and neither on nor off"
[ ! -e c ] || fail 'off, and there is a folder'
cached 'cache: .*/c: PTX kept'
cached 'PTX taken'
[ "$(stat -c %a c)" = 700 ] || fail "the folder has mode $(stat -c %a c)"
[ "$(stat -c %a "c/$(entry)")" = 600 ] || fail "an entry has mode $(stat -c %a "c/$(entry)")"
cached 'PTX kept' -D N=64
cached 'PTX kept' -arch=sm_100a
cached 'PTX kept' --hints=off
cached 'PTX kept' --dependent-launch=off
cached 'PTX kept' --path-map=lib=there
cached 'PTX taken' -I other
cp lib/part.tile other/part.tile # the same text under another name
cached 'PTX kept' -I other
rm other/part.tile
cached 'PTX taken'
echo '// new' >>lib/part.tile
cached 'PTX kept'
echo '// new' >>k.tile
cached 'PTX kept'
echo 'const ROWS = 4;' >lib/part.tile
cached 'PTX kept'
cached 'PTX taken'

# What is said is said again, in the words that are asked for; what is refused is refused again, and not kept.
cat >warns.tile <<'END'
kernel copy(x: global u32[M, 64], y: global u32[M, 64]) grid (1) {
    for i in ceil(M, 8) {
        shared t: u32[8, 64];
        shared never: u32[8, 64];
        move x[i * 8, 0] -> t;
        move t -> y[i * 8, 0];
    }
}
END
for format in short json; do
    for how in off on on; do
        TILECC_CACHE=$how "$TILECC" run --error-format=$format --device=sim:fast warns.tile 'x=u32[16,64]' 'y=u32[M,64]:y.npy' >out 2>err.$how ||
            fail "$(cat err.$how)"
        [ -s err.off ] || fail 'the program has no warning'
        cmp -s err.off err.$how || fail "with the cache something else is said: $(cat err.$how)"
    done
done
n=$(count)
for i in 1 2; do
    expect 1 'warning' run -Werror --error-format=short --device=sim:fast warns.tile 'x=u32[16,64]' 'y=u32[M,64]:y.npy'
    expect 1 'error E0213' run --device=sim:fast -D none=3 -I lib k.tile 'x=u32[16,64]' 'y=u32[M,64]:y.npy'
done
[ "$(count)" = "$n" ] || fail 'what was refused is kept'

# ---- damage: found, removed, compiled anew ----
rm -r c
cached 'PTX kept' -arch=sm_100a
other=$(entry)
cached 'PTX kept'
one=$(ls c | grep -v "$other")
cp "c/$one" whole
size=$(wc -c <whole)
damaged() { # the entry was changed
    cached 'PTX kept'
    cmp -s whole "c/$one" || fail "$1: the entry is not what it was"
}
for at in 0 16 47 48 56 64 71 72 103 104 $((size / 2)) $((size - 1)); do
    byte=$(od -An -tu1 -j "$at" -N 1 whole | tr -d ' ')
    # shellcheck disable=SC2059
    printf "$(printf '\\%03o' $((byte ^ 1 << at % 8)))" | dd of="c/$one" bs=1 seek="$at" conv=notrunc 2>/dev/null
    damaged "byte $at"
done
for n in 0 1 103 104 $((size - 1)); do
    head -c "$n" whole >"c/$one"
    damaged "$n bytes"
done
cp "c/$other" "c/$one"
damaged 'another entry under its name'
cat whole k.tile >"c/$one"
damaged 'bytes behind it'
cp k.tile "c/$one"
damaged 'a foreign file'
truncate -s 1T "c/$one" 2>/dev/null && damaged 'a huge file'
ln -sf "$work/whole" "c/$one"
damaged 'a link'
rm "c/$one" && mkfifo "c/$one"
damaged 'a pipe'
rm "c/$one" && mkdir "c/$one"
damaged 'an empty folder'
rm "c/$one" && mkdir "c/$one" && touch "c/$one/mine"
cached 'PTX not kept: '
[ -e "c/$one/mine" ] || fail 'a file of somebody else is gone'
rm -r "c/$one"

# ---- tilecc cache ----
cached 'PTX kept'
touch c/mine "c/$one.old" "c/${one}0"
expect 0 '' cache --verify
contains out '^0 damaged entries removed$'
contains out "/c: 2 entries, [0-9]* of at most 268435456 bytes$"
echo x >>"c/$one"
touch -d '2 hours ago' "c/$one.1-2"
touch "c/$one.3-4" # somebody writes it now
expect 0 '' cache --verify
contains out '^2 damaged entries removed$'
contains out '/c: 1 entry, '
[ -e "c/$one.3-4" ] || fail 'what is being written is gone'
expect 0 '' cache --clear
contains out '^2 entries removed$'
contains out '/c: 0 entries, 0 of at most'
[ "$(ls c | sort | tr '\n' ' ')" = "$(printf '%s\n' "$one.old" "${one}0" mine | sort | tr '\n' ' ')" ] || fail "after --clear: $(ls c)"
expect 2 'say what to do: --stats, --verify or --clear' cache
expect 2 'one of --stats, --verify and --clear' cache --stats --clear
expect 2 "cache: 'x' can't stand here" cache --stats x
expect 2 'it goes only with .tilecc cache.' run --clear k.tile
expect 2 'it does not go with .tilecc cache.' cache --emit=ir
rm -r c
expect 0 '' cache --stats
contains out '/c: 0 entries'
[ ! -e c ] || fail '--stats made a folder'

# ---- where it lies ----
unset TILECC_CACHE_DIR
HOME=$work/home cached "the folder can't be opened: No such file"
[ ! -e home ] || fail 'a home was made'
mkdir home
HOME=$work/home cached "home/.cache/tilecc: PTX kept"
HOME=$work/home XDG_CACHE_HOME=$work/xdg cached "/xdg/tilecc: PTX kept"
HOME=$work/home XDG_CACHE_HOME=xdg cached "home/.cache/tilecc: PTX taken"
HOME='' cached 'there is no place for it'
long=$(printf '%5000s' '' | tr ' ' a)
TILECC_CACHE_DIR=/$long cached 'the name of its folder is too long'
TILECC_CACHE_DIR=/$long expect 3 'the name of its folder is too long' cache --stats
if [ "$(id -u)" != 0 ]; then
    mkdir -m 555 closed
    HOME=$work/closed cached "the folder can't be opened: Permission denied"
    rmdir closed
fi
export TILECC_CACHE_DIR="$work/c"
touch c
cached "cache: $work/c: the folder can't be opened: Not a directory"
expect 3 "can't be opened" cache --stats
rm c && mkdir c && chmod 770 c
cached 'others may write to the folder'
expect 3 'others may write' cache --clear
chmod 700 c
if [ "$(id -u)" = 0 ] && chown 1:1 c 2>/dev/null; then
    cached 'belongs to another user'
    chown 0:0 c
else
    echo 'SKIPPED: a folder of another user (this is not root)'
fi

# ---- how large it may be ----
TILECC_CACHE_SIZE=64X cached "TILECC_CACHE_SIZE is '64X', which is no size"
TILECC_CACHE_SIZE=64X expect 3 'which is no size' cache --stats
TILECC_CACHE_SIZE=0 cached 'PTX not kept: its [0-9]* bytes are more than the cache may hold'
(
    ulimit -f 5 # blocks of 512 bytes: of the array there are 4,224
    rm -f y.npy
    "$TILECC" run -v --device=sim:fast -I lib k.tile 'x=u32[1,64]' 'y=u32[M,64]:y.npy' >out 2>err
) || fail "with a limit of the size of files: $(cat err)"
contains err 'PTX not kept: its [0-9]* bytes are more than a file may have here'
rm -rf c
for n in 1 2 3 4 5 6; do
    TILECC_CACHE_SIZE=40K cached 'PTX kept' --path-map=lib=$n
    [ "$n" != 1 ] || first=$(entry)
    [ "$n" = 1 ] || TILECC_CACHE_SIZE=40K cached 'PTX taken' --path-map=lib=1
    bytes=$(cat c/* | wc -c)
    [ "$bytes" -le 40960 ] || fail "$bytes are more than 40K"
done
[ -e "c/$first" ] && [ "$bytes" -gt 20000 ] || fail "what was used is gone, or everything: $(ls -l c)"

# ---- a folder that can't be written to, a full disk ----
apart='unshare -m'
[ "$(id -u)" = 0 ] || apart='unshare -Urm'
mkdir disk
if $apart mount -t tmpfs none disk 2>/dev/null; then
    rm -rf c
    cached 'PTX kept'
    # shellcheck disable=SC2016
    TILECC_CACHE_DIR=$work/disk $apart sh -c '
        . ./functions
        mount -t tmpfs -o size=16k,mode=700 none disk || exit 1
        head -c 8192 /dev/zero >disk/other
        cached "PTX not kept: No space left"
        [ "$(ls disk)" = other ] || fail "a part of an entry stays: $(ls disk)"
        head -c 16384 /dev/zero >disk/other
        cached "PTX not kept: No space left"
        rm disk/*
        cp c/* disk
        mount -o remount,ro disk
        cached "PTX taken"
        cached "PTX not kept: Read-only file system" --hints=on
        "$TILECC" cache --clear >out 2>err && fail "a folder that is read-only was cleared"
        grep -q "not everything can be removed: Read-only" err || fail "cache --clear: $(cat err)"
        exit $failures' || failures=$((failures + 1))
else
    echo 'SKIPPED: a full disk, and one that is read-only: no file system can be mounted here'
fi

# ---- many at a time ----
rm -rf c
sixteen='1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16'
for n in $sixteen; do
    hints=on
    [ $((n % 2)) = 0 ] || hints=off
    "$TILECC" run --device=sim:fast -I lib --hints=$hints k.tile 'x=u32[16,64]~iota' "y=u32[M,64]:y$n.npy" >"said$n" 2>&1 &
done
wait
for n in $sixteen; do
    cmp -s "y$n.npy" want.npy || fail "one of 16 at a time has another output: $(cat "said$n")"
done
[ "$(find c -type f | wc -l)" = 2 ] || fail "16 processes made: $(ls c)"
finish
