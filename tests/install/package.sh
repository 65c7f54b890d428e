#!/bin/sh
# package.sh tilecc_VERSION_ARCH.deb [ROOT]
#
# Installs the package in a bare Debian and, there, compiles and runs an example, reads the manual page, and builds a program that calls a
# kernel. ROOT: a bare Debian 12 that is there, or an absent folder to make one in with debootstrap (kept, for the next time); without it, one
# that is removed afterwards. Needs root and a mirror of Debian. On demand: no test of the suite calls it.
set -eu
deb=$(readlink -f "${1:?a package: cpack -G DEB in the folder of the release build}")
root=${2:-}
[ "$(id -u)" = 0 ] || { echo 'package.sh: chroot needs root'; exit 2; }
made=
if [ -z "$root" ]; then
    root=$(mktemp -d)/root
    made=$(dirname "$root")
fi
finish() {
    umount "$root/proc" 2>/dev/null || true
    [ -z "$made" ] || rm -rf "$made"
}
trap finish EXIT
trap 'exit 130' HUP INT TERM

if [ ! -e "$root/etc/debian_version" ]; then
    command -v debootstrap >/dev/null || { echo 'package.sh: apt-get install debootstrap'; exit 3; }
    mirror=$(cat /etc/apt/sources.list.d/*.sources 2>/dev/null | sed -n 's/^URIs: //p' | head -1)
    debootstrap --variant=minbase --include=ca-certificates bookworm "$root" ${mirror:+"$mirror"}
    # What this machine reaches the mirror by.
    cp -r /etc/apt/. "$root/etc/apt/"
    cp /etc/resolv.conf /etc/hosts "$root/etc/"
    cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
fi
mountpoint -q "$root/proc" || mount -t proc proc "$root/proc" 2>/dev/null || true
cp "$deb" "$root/tmp/tilecc.deb"
cat >"$root/tmp/try.sh" <<'TRY'
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
chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb DEBIAN_FRONTEND=noninteractive \
    $(env | grep -iE '^(https?|no)_proxy=' || true) sh /tmp/try.sh
echo "package.sh: $(basename "$deb") works in a bare Debian"
