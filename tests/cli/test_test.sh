# tilecc test: what is found, what passes, what fails and how that is shown, --update, the report, exit codes.
. ./common.sh
cd "$work" || exit 3
mkdir -p t/sub t/.hidden

cat >t/copy.tile <<'END'
// run: fast src=bf16[70,512]~1 dst=bf16[M,N] == simple
// run: fast src=bf16[70,512]~1 dst=bf16[M,N] dst==want.npy
// run: simple src=bf16[70,511]~1 dst=bf16[M,N] expect E1124
kernel simple(src: global bf16[M, N], dst: global bf16[M, N]) grid (ceil(N, 64), ceil(M, 32)) {
    shared t: bf16[32, 64];
    move src[cta.y * 32, cta.x * 64] -> t;
    move t -> dst[cta.y * 32, cta.x * 64];
}
kernel fast(src: global bf16[M, N], dst: global bf16[M, N]) {
    pipeline (i, j) in (ceil(M, 64), ceil(N, 256)) across grid {
        shared t: bf16[64, 256];
        move src[i * 64, j * 256] -> t;
        move t -> dst[i * 64, j * 256];
    }
}
END
cat >t/sub/bad.tile <<'END'
kernel k(x: global f32[N]) {
    fill zz = 1; // expect E0201
    // expect E0201
    fill yy = 2;
}
END
echo 'kernel nothing() { }' >t/library.tile
echo 'kernel k() { move }  // expect E9999' >t/.hidden/not.tile
mkfifo t/waits.tile && mkdir t/folder.tile && ln -s folder.tile t/link.tile # what is no file is no test
: >t/copy.ptx
: >t/copy.ir
: >t/sub/bad.err

code() { # expected exit code, then the words
    expected=$1
    shift
    "$TILECC" test "$@" >out 2>err
    got=$?
    [ $got = "$expected" ] || { cat out err; fail "tilecc test $*: exit code $got, expected $expected"; }
}
has() { grep -q -- "$1" out || { cat out; fail "the output does not say: $1"; }; }
hasnt() { if grep -q -- "$1" out; then cat out; fail "the output says: $1"; fi; }

code 3 nowhere
code 2 t/library.tile
grep -q 'expects nothing' err || fail "a file without expectations is not explained"
mkdir empty
code 2 empty
grep -q 'there is nothing to test' err || fail "an empty folder is not explained"

code 1 t -j 1
has '^2 files, 7 checks: 3 passed, 4 failed'
has '^    +.visible .entry simple('
has 'there is no want.npy yet'
has '^ok     t/sub/bad.tile: err (failed)\|^FAILED t/sub/bad.tile: err (failed), expect$'
hasnt hidden
[ ! -s t/copy.ptx ] || fail "written without --update"

code 0 --update t
has '4 written anew'
code 0 t
has '^2 files, 7 checks: 7 passed, 0 failed$'
sed -i "s/\$/$(printf '\r')/" t/copy.ptx
code 1 t/copy.tile
has 'copy.ptx differs in its line ends alone'
code 0 --update t
(cd t/sub && "$TILECC" test .. >"$work/out" 2>&1) || fail "from another folder"
has '7 passed'

# PTX that is another one; arrays that are others; an error that comes no more, one that is new.
sed -i 's/\[32, 64\]/[32, 32]/' t/copy.tile
code 1 t
has '^    -    cp.async.bulk.tensor.2d'
has 'elements of dst differ'
has '^    dst\[0, 32\] is 0x.*, expected 0xa5a5$'
cp t/copy.tile t/other.tile
sed -i 's/fill zz/let zz/; s/fill yy = 2;/&\n    fill vv = 3;/' t/sub/bad.tile
code 1 t/sub
has 'bad.tile:2: E0201 is expected, and not said'
has 'not expected: bad.tile:5:'

# What can't be read as a line; a kernel that there is not; the report.
cat >t/other.tile <<'END'
// run: k x=f32[64]~1 y=f32[64] y = 1
// run: nobody x=f32[64]~1 y=f32[64]
// run: k x=f32[64]~1%7 y=f32[64] expect E1124
// run: k x=f32[64]~1%7 y=f32[64] expect E9999
// run: k x=f32[64]~1%7 y=f32[64] expect E
// run: k x=f32[64]~1%7 y=f32[64] x==y.npy
// run: k x=f32[64]~1%7 y=f32[64]==y.npy
// run: x=f32[64]~1%7 y=f32[64] == k -D nobody.N=2 --sim check
// run: rows x=f32[4,63] y=f32[4,63] expect E0415
kernel rows(x: global f32[M, N], y: global f32[M, N]) { shared t: f32[4, 64]; move x[0, 0] -> t; move t -> y[0, 0]; }
kernel k(x: global f32[64], y: global f32[64]) { shared t: f32[64]; move x[0] -> t; move t -> y[0]; }
END
code 1 t/other.tile --junit=report.xml
has "\`y\` can't stand here"
has "no kernel 'nobody'"
has 'E1124 is expected, and nothing is wrong'
has 'E9999 is expected, and no message has this code'
has 'E is expected, and no message has this code'
has '^    x is not written'
has 'E0415 is expected; what is said is' # its fix names E0415
has 'y=f32\[64\]==y.npy. says two things: .*y==y.npy. what it is compared with'
has 'nobody.N' # the option's argument is no argument of the kernel
hasnt "not '-"
[ "$(grep -c '<testcase' report.xml)" = 9 ] || fail "not every check is in the report"
[ "$(grep -c '<failure' report.xml)" = 9 ] || fail "not every failure is in the report"
if command -v python3 >/dev/null; then
    python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' report.xml || fail "the report is no XML"
fi

# A line counts with any blanks, or none, behind the slashes, and options behind a licence; a comment in a comment doesn't.
mkdir lines
cat >lines/k.tile <<'END'
// Licence
//options: -arch=sm_100a
//	run:	k	x=f32[64]~1	y=f32[64]
//run: k x=f32[64]~1 y=f32[64]:y.npy y==y.npy
/// run: k x=f32[64]~1 y=f32[64] x==y.npy z==y.npy
// run: k x=f32[64]~1 y=f32[64] == k
// run: k x=f32[64]~1 y=f32[64] 'y==y.npy
// run: k x=f32[64]~1 y=f32[64] y==y.npy é
// // run: nobody
kernel k(x: global f32[64], y: global f32[64]) { shared t: f32[64]; move x[0] -> t; move t -> y[0]; fill zz = 1; } //expect	E0201
END
code 1 lines
has '^ok     lines/k.tile: expect$\|k.tile: expect, run, line 3 (failed), run, line 4 (failed), run, line 5 (failed), run, line 6 (failed), run, line 7 (failed), run, line 8 (failed)$'
sed -i 's| fill zz.*| } //|' lines/k.tile
: >lines/k.ptx
code 1 lines --junit=report.xml
has '1 file, 7 checks: 1 passed, 6 failed'
has 'target sm_100a'
has '^    y goes to a file of its own: .* y=f32\[64\]$'
has '^    no argument of the line is called z'
has '== k. compares a kernel with itself'
has '^    a quote is not closed: .y==y.npy.'
if command -v python3 >/dev/null; then
    python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' report.xml || fail "a report of what is no UTF-8 is no XML"
fi
cp lines/k.tile saved
code 2 --junit lines/k.tile
grep -q "the report would replace 'lines/k.tile'" err && cmp -s saved lines/k.tile || fail "a report in place of a source"
code 3 lines --junit=nowhere/report.xml
hasnt 'FAILED' # it is known before the tests

# One line of a file.
code 0 lines/k.tile:3
has '^ok     lines/k.tile: run, line 3$'
code 1 lines/k.tile:2
has 'line 2 has no .// run:.'
code 3 lines/k.tile:x
code 3 lines/gone.tile:3

# What is expected and can't be read is not met: a folder, a link that leads nowhere, a pipe.
mkdir unread
echo 'kernel k(x: global f32[64], y: global f32[64]) { shared t: f32[64]; move x[0] -> t; move t -> y[0]; }' >unread/k.tile
mkdir unread/k.err
code 1 unread
has "^    can't read k.err: it is no regular file"
code 1 --update unread
rmdir unread/k.err && mkfifo unread/k.err
code 1 unread
has "^    can't read k.err: it is no regular file"
rm unread/k.err && ln -s nowhere unread/k.ptx
code 1 unread
has "^    can't read k.ptx: No such file"
rm unread/k.ptx && mkfifo unread/y.npy
echo '// run: k x=f32[64]~1 y=f32[64] y==y.npy' >>unread/k.tile
code 1 unread
has "^    can't read y.npy: it is no regular file"

# What is no code is said; behind codes one may say why.
mkdir codes
cat >codes/k.tile <<'END'
kernel k() {
    fill zz = 1; // expect E0201 for it is not declared
    fill zy = 1; // expect E201
    fill zx = 1; // expect e0201
    fill zw = 1; // expect 0201
    fill zv = 1; // expect E0201,E0201
    fill zu = 1; // expect E0201 E02010
    // expect
}
END
code 1 codes
for no in E201 e0201 0201 E0201,E0201 E02010 ''; do has ": \`$no\` is no code: // expect E0610"; done
hasnt 'k.tile:2:'
[ "$(grep -c 'is no code' out)" = 6 ] || fail "not each is said once: $(cat out)"

# A comment that is meant as such a line and is none is said; prose is prose.
mkdir meant
cat >meant/k.tile <<'END'
// Run: k x=f32[64]~1 y=f32[64]
//run : k x=in.npy y=f32[64]
// runs k x=f32[64]~1
// Options: -arch=sm_90a
// option: --variants=off
// Run: for M=4 it takes a second.
// Options:- are none here, nor is x=f32[64]
// run the kernel twice, N=3
// Expected is E0201, and the rank: x=f32[64]
// // Run: k x=f32[64]~1
kernel k() {
    fill zz = 1; // expected E0201
    fill zy = 1; // Expect: e0201
    fill zx = 1; // expect:E0201
}
END
code 1 meant
has 'meant/k.tile: comments (failed)$'
for line in 1 2 3 4 5 12 13 14; do has "^    k.tile:$line: nothing is done with"; done
has 'k.tile:1: nothing is done with `// Run: k x=f32\[64\]~1 y=f32\[64\]`: `// run:` is meant$'
has 'k.tile:5: .*: `// options:` is meant$'
has 'k.tile:12: .*: `// expect` is meant$'
[ "$(grep -c 'nothing is done with' out)" = 8 ] || fail "prose is said: $(cat out)"
sed -i 's|// Run: k x.*|//|; /runs\|run :\|Options: -\|option:/d; /fill/s|// [eE]xpect.*|// expect E0201|' meant/k.tile
code 0 meant

# -I FOLDER is meant from where it is typed, of a file's own options from the file's.
mkdir -p imports/here imports/tests/own
echo 'const n = 64;' >imports/here/sizes.tile
echo 'const m = 64;' >imports/tests/own/more.tile
cat >imports/tests/k.tile <<'END'
// options: -I own
// run: x=f32[64]~1 y=f32[64]
import sizes;
import more;
kernel k(x: global f32[64], y: global f32[64]) { shared t: f32[sizes.n]; move x[0] -> t; move t -> y[more.m - 64]; }
END
(cd imports && "$TILECC" test -I here tests >../out 2>&1) || fail "-I of a relative folder: $(cat out)"
code 0 -I "$work/imports/here" imports

# A file may be called as options are.
mkdir minus
cat >minus/-x.tile <<'END'
// run: k x=f32[64]~1 y=f32[64]
kernel k(x: global f32[64], y: global f32[64]) { shared t: f32[64]; move x[0] -> t; move t -> y[0]; let a = 1; } // expect W0001
END
code 0 minus
has '^ok     minus/-x.tile: expect, run, line 1$'

# Contents are the same everywhere.
cat >t/contents.tile <<'END'
kernel k(x: global T[32], y: global T[32]) { shared t: T[32]; move x[0] -> t via bulk; move t -> y[0] via bulk; }
END
value() { # type, contents, offset, bytes
    sed "s/T\[/$1[/g" t/contents.tile >t/c.tile
    "$TILECC" run t/c.tile "x=$1[32]~$2" "y=$1[32]:y.npy" --device=sim 2>/dev/null || { fail "contents $2 of $1"; return; }
    tail -c $(((32 - $3) * $4)) y.npy | od -An -tx1 -N"$4" | tr -d ' \n'
}
[ "$(value s32 iota 5 4)" = 05000000 ] || fail "iota of s32"
[ "$(value f32 iota 5 4)" = 0000a040 ] || fail "iota of f32" # 5.0
[ "$(value bf16 iota 3 2)" = 4040 ] || fail "iota of bf16" # 3.0
[ "$(value f16 iota 3 2)" = 0042 ] || fail "iota of f16"
[ "$(value e4m3 iota 3 1)" = 44 ] || fail "iota of e4m3"
[ "$(value u8 zeros 3 1)" = 00 ] || fail "zeros"
[ "$(value u64 7 0 8)" = "$(value u64 7 0 8)" ] || fail "a seed is not a seed"
"$TILECC" run t/c.tile 'x=u64[32]~some' 'y=u64[32]:y.npy' 2>err
grep -q 'behind `~` stand the contents' err || fail "unknown contents"

# --update writes what is another file, and hides nothing else that is wrong.
mkdir both
cat >both/k.tile <<'END'
// run: two x=f32[64]~1 y=f32[64] == one y==y.npy
kernel one(x: global f32[64], y: global f32[64]) { shared t: f32[64]; move x[0] -> t; move t -> y[0]; }
kernel two(x: global f32[64], y: global f32[64]) { shared t: f32[64]; fill t = 0; move t -> y[0]; }
END
code 1 --update both
has 'elements of y differ'
hasnt 'there is no y.npy yet'
[ -s both/y.npy ] || fail "nothing is written"

# It writes a .npy that is not there, and leaves every one that is: one that comes from elsewhere, above all one that is an input.
mkdir oracle
cat >oracle/k.tile <<'END'
// run: one x=x.npy y=f32[64] y==x.npy
// run: two x=x.npy y=f32[64] y==new.npy
// run: one x=x.npy y=f32[64] y==new.npy
kernel one(x: global f32[64], y: global f32[64]) { shared t: f32[64]; fill t = 0; move t -> y[0]; }
kernel two(x: global f32[64], y: global f32[64]) { shared t: f32[64]; move x[0] -> t; move t -> y[0]; }
END
"$TILECC" run --device=sim oracle/k.tile:two 'x=f32[64]~1' y=f32[64]:oracle/x.npy || fail "an input"
cp oracle/x.npy saved
code 1 --update oracle
has '^  run, line 1$'
has '64 of 64 elements of y differ'
has '^    --update leaves x.npy as it is: remove it'
has 'run, line 2 (written), run, line 3 (failed)'
cmp -s saved oracle/x.npy || fail "--update writes over an input"
cmp -s oracle/new.npy oracle/x.npy || fail "a .npy that another line has written just now is written over"
rm oracle/new.npy
code 1 oracle
has 'there is no new.npy yet'
hasnt 'as it is: remove it'

# PTX with source lines, which nobody asks for here.
mkdir loc
cp oracle/k.tile loc/k.tile
sed -i '/run:/d' loc/k.tile
"$TILECC" -S -lineinfo loc/k.tile -o loc/k.ptx
code 1 loc
has '^    k.ptx has source lines, of -lineinfo, .* if it is no test it stands elsewhere$'
sed -i '1i // options: -lineinfo' loc/k.tile
"$TILECC" -S -lineinfo loc/k.tile -o loc/k.ptx
code 0 loc
sed -i 1d loc/k.tile
code 0 --update loc
code 0 loc

# What a line says of the simulator holds where the others run on a GPU.
mkdir sims
sed 's|^// run: .*|// run: one x=f32[64]~1 y=f32[64] --sim=fuzz --schedules=2|' both/k.tile >sims/k.tile
code 0 --device=cuda sims
rm -rf sims

# What ends the tests ends all that they have started, and leaves no folder.
mkdir tmp slow
sed 's|^// run: .*|// run: one x=f32[64]~1 y=f32[64] --sim=fuzz --schedules=1000000|' both/k.tile >slow/k.tile
TMPDIR=$work/tmp "$TILECC" test slow >out 2>&1 &
tests=$!
while [ ! -e tmp/*/0/run1 ]; do sleep 0.1; done
kill -TERM $tests
wait $tests
[ $? = 143 ] || fail "the tests don't end by the signal"
rmdir tmp || fail "their folder stays behind"
rm -rf slow both

# Long files are looked through once.
mkdir long
{ echo '// run: x=u64[32] y=u64[32]' && cat t/c.tile && yes '' | head -n 400000; } >long/c.tile
"$TILECC" test long >out 2>&1 || fail "a long file: $(cat out)"
# One that can't be read is said, and nothing is tested.
truncate -s 2G long/large.tile
"$TILECC" test long >out 2>&1
status=$?
[ "$status: $(cat out)" = "3: tilecc: can't read 'long/large.tile': it is larger than 1 GiB" ] || fail "a file too large: $status $(cat out)"
rm long/large.tile

# Where nothing can be written nothing passes.
(
    trap '' XFSZ
    ulimit -f 0
    "$TILECC" test long 2>&1
    echo "exit code $?"
) | cat >out
grep -q '^exit code [13]$' out || fail "no room: $(cat out)"
finish
