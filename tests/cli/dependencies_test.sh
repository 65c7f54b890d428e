# -MD and -I.
. cli/cli.sh

mkdir lib
cat >lib/mine.tile <<'END'
const ROWS = 64;
END
{
    echo 'import mine;'
    sed 's/bf16\[64, 256\]/bf16[mine.ROWS, 256]/' good.tile
} >'uses it.tile'
# `target` may have to come first.
grep -v '^import' 'uses it.tile' | sed 's/^target sm_90a;$/target sm_90a;\nimport mine;/' >t && mv t 'uses it.tile'

expect 0 '' -I lib -MD -S 'uses it.tile' -o 'out $1.ptx'
[ -e 'out $1.d' ] || fail "-MD wrote no out.d"
contains 'out $1.d' '^out\\ \$\$1\.ptx: uses\\ it\.tile'
contains 'out $1.d' 'lib/mine\.tile'
if command -v make >/dev/null 2>&1; then
    printf 'all: out\\ $$1.ptx\ninclude out\\ $$1.d\n' >Makefile
    make -n -f Makefile >made 2>&1 || fail "make does not read it: $(cat made)"
fi
expect 0 '' -I lib -MD -MF named.d -S 'uses it.tile' -o x.ptx
contains named.d '^x\.ptx: uses'
[ ! -e x.d ] || fail "-MF is not instead of x.d"
expect 0 '' -I lib -MD --emit=ptx 'uses it.tile'
contains 'uses it.d' '^uses\\ it\.ptx:'

rm -f ./*.d ./*.ptx
expect 1 'mine' -S -MD 'uses it.tile' -o x.ptx
[ ! -e x.d ] && [ ! -e x.ptx ] || fail "an error left output"
expect 3 "can't write '/nonexistent/x.d'" -I lib -MD -MF /nonexistent/x.d -S 'uses it.tile' -o x.ptx
[ ! -e x.ptx ] || fail "one of two outputs was written though the other could not be"
finish
