# To be sourced: a bare Debian 12 to try things in. open_root [ROOT]: one that is there, or an absent folder to make one in with debootstrap (kept, for
# the next time); without it one that is removed afterwards. in_root SCRIPT: runs it there with what this machine reaches mirrors by. Needs root.
[ "$(id -u)" = 0 ] || { echo "$(basename "$0"): chroot needs root"; exit 2; }

close_root() {
    umount "$root/proc" 2>/dev/null || true
    # Never into something that is still mounted.
    [ -z "$made" ] || grep -q " $made/" /proc/mounts || rm -rf "$made"
}

open_root() {
    root=${1:-} made=
    if [ -z "$root" ]; then
        root=$(mktemp -d)/root
        made=$(dirname "$root")
    fi
    trap close_root EXIT
    trap 'exit 130' HUP INT TERM
    if [ ! -e "$root/etc/debian_version" ]; then
        command -v debootstrap >/dev/null || { echo "$(basename "$0"): apt-get install debootstrap"; exit 3; }
        mirror=$(cat /etc/apt/sources.list.d/*.sources 2>/dev/null | sed -n 's/^URIs: //p' | head -1)
        debootstrap --variant=minbase --include=ca-certificates bookworm "$root" ${mirror:+"$mirror"}
        # What this machine reaches the mirror by.
        cp -r /etc/apt/. "$root/etc/apt/"
        cp /etc/resolv.conf /etc/hosts "$root/etc/"
        cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
        [ ! -e /etc/pip.conf ] || cp /etc/pip.conf "$root/etc/"
    fi
    mountpoint -q "$root/proc" || mount -t proc proc "$root/proc" 2>/dev/null || true
}

in_root() {
    cp "$1" "$root/tmp/try.sh"
    cp -L /etc/ssl/certs/ca-certificates.crt "$root/tmp/ca.crt" # packages that are installed there may replace its own
    # shellcheck disable=SC2046
    chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb DEBIAN_FRONTEND=noninteractive \
        SSL_CERT_FILE=/tmp/ca.crt PIP_CERT=/tmp/ca.crt $(env | grep -iE '^(https?|no)_proxy=' || true) sh /tmp/try.sh
}
