# --help, --man, --version, --list-targets, --explain.
. cli/cli.sh

expect 0 '' --help
for option in '-o FILE' '-S' '--emit=KIND' '-D ' '-I ' '-MD' '-lineinfo' '-arch=' '--explain-plan' '--assembler=' \
    '--error-format=' '--color=' '--ptx-version=' 'Exit status' 'TILECC_PTXAS'; do
    grep -qF -e "$option" out || fail "--help does not have $option"
done
[ "$(awk 'length > 100' out | wc -l)" = 0 ] || fail "--help has lines of more than 100 columns"
! grep -q ' $' out || fail "--help has spaces at the end of lines"
cp out help
expect 0 '' -h
cmp -s help out || fail "-h and --help differ"

for command in run tune test check-ptx new cache; do
    expect 0 '' $command --help
    contains out "^Usage: tilecc $command "
    [ "$(grep -c 'Usage:\|^       ' out)" -lt "$(grep -c 'Usage:\|^       ' help)" ] || fail "$command --help has all"
    cp out command
    expect 0 '' help $command
    cmp -s command out || fail "help $command and $command --help differ"
done
expect 0 '' test --help
contains out '^  -j N'
! grep -qe '--repeats' out || fail "test --help has options of run"
expect 2 "unknown command 'rum'; did you mean 'run'\?" help rum
[ ! -s out ] || fail "help rum: help all the same"
contains err '^try: tilecc --help$'
expect 2 "there is no command 'nonsense'" help nonsense
expect 2 "there is no command 'good.tile'" help good.tile
expect 0 '' help help
cmp -s help out || fail "help help is not all of it"
expect 0 '' help
cmp -s help out || fail "help and --help differ"

expect 0 '' --man
contains out '^\.TH TILECC 1'
contains out '^\.SH EXIT STATUS'
if command -v groff >/dev/null 2>&1; then
    groff -man -Tascii -ww -z out 2>roff || true
    [ ! -s roff ] || fail "the manual page: $(cat roff)"
fi

expect 0 '' --version
contains out '^tilecc [0-9]+\.[0-9]+\.[0-9]+$'

expect 0 '' --list-targets
for target in sm_90 sm_90a sm_100a sm_103a sm_120a; do
    grep -qx $target out || fail "--list-targets does not have $target"
done

expect 2 "'x' can't stand here" --list-targets x
expect 2 "'x' can't stand here" --list-library x
expect 0 '' --help x

code=$(sed -n 's/^ERROR(\(E[0-9]*\).*/\1/p' "$root/lang/errors.def" | head -1)
expect 0 '' --explain "$code"
contains out "^$code: "
cp out upper
expect 0 '' --explain="$(echo "$code" | tr E e)"
cmp -s upper out || fail "--explain minds capitals"
expect 2 "there is no error code 'E9999'" --explain E9999
expect 2 'there is no error code' --explain x

# Every code has a text to print.
for code in $(sed -n 's/^ERROR(\(E[0-9]*\).*/\1/p' "$root/lang/errors.def"); do
    "$QUICK" --explain "$code" >out 2>&1 || fail "--explain $code"
    [ "$(wc -c <out)" -gt 20 ] || fail "--explain $code says nothing"
done
rm -f help upper roff
finish
