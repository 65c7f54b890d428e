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

# Names that make and ninja read in ways of their own: what is built is up to date, and no longer so when the source or the
# import is newer. `%` would make a pattern of the output's name, not of a dependency's.
expect 0 '' -MD - --emit=ptx -o in.ptx <good.tile
[ "$(cat in.d)" = in.ptx: ] || fail "standard input has no name: $(cat in.d)"
expect 0 '' -MD --emit=ptx std.rows -o in.ptx
[ "$(cat in.d)" = in.ptx: ] || fail "a module that is built in is no file: $(cat in.d)"
has() { command -v "$1" >/dev/null 2>&1; }
built() { # output, source, folder
    rm -rf tree && mkdir tree && cd tree || exit 3
    mkdir -p "$3" && cp ../lib/mine.tile "$3/mine.tile" && cp '../uses it.tile' "$2"
    expect 0 '' -I "$3" -MD -MF rule.d -S "$2" -o "$1"
    if has make; then
        printf 'include rule.d\n.DEFAULT:\n\t@echo "no rule for $@" >>log\n%s:\n\t@echo built >>log\n' "$(sed -n 's/^\(.*[^\\]\): .*/\1/p;q' rule.d)" >Makefile
        make -s -q "$1" >log 2>&1 || fail "make $1: not up to date: $(cat log rule.d)"
        for input in "$2" "$3/mine.tile"; do
            rm -f log
            touch -d '+1 hour' "$input"
            make -s "$1" >made 2>&1 || fail "make $1: $(cat made)"
            [ "$(cat log)" = built ] || fail "make $1: a newer $input is not noticed: $(cat log rule.d)"
            touch -d '-1 hour' "$input"
        done
        case $3 in *%*) ;; *) rm "$3/mine.tile"; make -s "$1" >made 2>&1 || fail "make $1 without the import: $(cat made)"; cp ../lib/mine.tile "$3/mine.tile" ;; esac
    fi
    if has ninja; then
        printf '%s\n' 'cp rule.d d' 'echo built >>log' 'touch "$(cat name)"' >step
        printf '%s' "$1" >name
        {
            printf 'rule r\n  command = sh step\n  depfile = d\n'
            printf 'build %s: r\n' "$(printf '%s' "$1" | sed 's/[$: ]/$&/g')"
        } >build.ninja
        ninja >made 2>&1 || fail "ninja, $1: $(cat made rule.d)"
        for input in "$2" "$3/mine.tile"; do
            rm -f log
            ninja >made 2>&1
            [ ! -e log ] || fail "ninja, $1: built again for nothing: $(cat rule.d)"
            touch -d '+1 hour' "$input"
            ninja >made 2>&1
            [ -e log ] || fail "ninja, $1: a newer $input is not noticed: $(cat made rule.d)"
            touch -d '-1 hour' "$input"
            ninja >made 2>&1
        done
    fi
    cd ..
}
built out.ptx in.tile lib
for c in ' ' '#' '$' ':' '\ ' '  ' '$$' '#$: ' '!' '(' ')' '+' ',' '@' '[' ']' '{' '}' '~' '\' 'é'; do
    built "o${c}ut.ptx" "i${c}n.tile" "l${c}ib"
done
for c in '%' '% $'; do built out.ptx "i${c}n.tile" "l${c}ib"; done
built '~out.ptx' '~in.tile' '~lib'
rm -rf tree

# What can't be written is refused, and nothing is.
cp 'uses it.tile' uses.tile
newline='
'
tab=$(printf '\t')
for c in "$newline" "$tab" ';' '=' '|'; do
    expect 2 "can't name 'o.ut.ptx'" -I lib -MD -MF rule.d -S uses.tile -o "o${c}ut.ptx"
    [ ! -e rule.d ] && [ ! -e "o${c}ut.ptx" ] || fail "a refused name left output"
    cp uses.tile "i${c}n.tile"
    expect 2 "can't name 'i.n.tile'" -I lib -MD -MF rule.d -S "i${c}n.tile" -o y.ptx
    cp -r lib "l${c}ib"
    expect 2 "can't name 'l.ib/mine.tile'" -I "l${c}ib" -MD -MF rule.d -S uses.tile -o y.ptx
    [ ! -e rule.d ] && [ ! -e y.ptx ] || fail "a refused name left output"
    expect 0 '' -I "l${c}ib" -S "i${c}n.tile" -o "o${c}ut.ptx"
    rm -r "i${c}n.tile" "l${c}ib" "o${c}ut.ptx"
done
for out in 'o%ut.ptx' 'out.ptx\' 'out(ptx)' 'out.ptx&'; do expect 2 "can't name" -I lib -MD -MF rule.d -S uses.tile -o "$out"; done
[ ! -e rule.d ] || fail "a refused name left a rule"
rm uses.tile

rm -f ./*.d ./*.ptx
expect 1 'mine' -S -MD 'uses it.tile' -o x.ptx
[ ! -e x.d ] && [ ! -e x.ptx ] || fail "an error left output"
expect 3 "can't write '/nonexistent/x.d'" -I lib -MD -MF /nonexistent/x.d -S 'uses it.tile' -o x.ptx
[ ! -e x.ptx ] || fail "one of two outputs was written though the other could not be"
finish
