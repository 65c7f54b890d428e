#!/bin/sh
# package.sh tilecc_VERSION_ARCH.deb [ROOT]
#
# Installs the package in a bare Debian and, there, compiles and runs an example, reads the manual page, and builds a program that calls a
# kernel. ROOT: see bare_root.sh. Needs root and a mirror of Debian. On demand: no test of the suite calls it.
set -eu
deb=$(readlink -f "${1:?a package: cpack -G DEB in the folder of the release build}")
. "$(dirname "$0")/bare_root.sh"
open_root "${2:-}"
cp "$deb" "$root/tmp/tilecc.deb"
cat >"$root/tmp/package.sh" <<'TRY'
set -eux
cd /tmp
apt-get update -qq
apt-get install -y -qq --no-install-recommends ./tilecc.deb >/dev/null
tilecc --version
doc=/usr/share/doc/tilecc
tilecc run $doc/examples/copy.tile 'src=bf16[200,512]~1' 'dst=bf16[M,N]:/tmp/out.npy' --device=sim
tilecc run $doc/examples/copy.tile src=/tmp/out.npy 'dst=bf16[M,N]:/tmp/again.npy' --device=sim
cmp out.npy again.npy
[ -s $doc/GUIDE.md ] && [ -s $doc/SPEC.md ] && [ -s /usr/share/bash-completion/completions/tilecc ] && [ -s /usr/share/man/man1/tilecc.1* ]
apt-get install -y -qq --no-install-recommends gcc libc6-dev pkg-config >/dev/null
tilecc -S $doc/examples/embed/copy.tile -o copy.ptx
gcc $doc/examples/embed/load.c $(pkg-config --cflags --libs tile) -o load
./load copy.ptx sim
tilecc --emit=c $doc/examples/copy.tile
gcc -std=c99 -Wall -Wextra -Wpedantic -Werror -c copy.c
apt-get purge -y -qq tilecc >/dev/null
[ ! -e /usr/bin/tilecc ] && [ ! -e $doc ]
TRY
in_root "$root/tmp/package.sh"
echo "package.sh: $(basename "$deb") works in a bare Debian"
