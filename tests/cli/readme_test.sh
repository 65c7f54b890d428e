# The first commands of the README work as they stand, on a machine without a GPU, too.
. cli/cli.sh
mkdir readme
cd readme || exit 3
sed -n '/^## A first program/,/^## A copy/p' "$root/README.md" | sed -n '/^    PATH=/d; s/^    //p' >commands
[ "$(grep -c '^tilecc ' commands)" -ge 6 ] || fail "the README has no commands"
mkdir bin
printf '#!/bin/sh\nexec "%s" "$@"\n' "$TILECC" >bin/tilecc
chmod +x bin/tilecc
PATH=$PWD/bin:$PATH sh -eu commands >said 2>&1 || fail "the README's commands: $(cat said)"
for file in copy.tile out.npy again.npy made/copy.ptx; do
    [ -s $file ] || fail "the README's commands leave no $file"
done
sed -n 's|^    \(tilecc [^#]* fast.tile .*\)|\1|p' "$root/README.md" >commands
sed -n '\|^    // fast.tile|,/^    }/s/^    //p' "$root/README.md" >fast.tile
[ "$(grep -c . commands)" = 2 ] || fail "the README has $(grep -c . commands) commands for fast.tile"
PATH=$PWD/bin:$PATH sh -eu commands >said 2>&1 || fail "the README's commands: $(cat said)"
cmp out.npy again.npy || fail "the README's fast copy"
cd .. && rm -rf readme
finish
