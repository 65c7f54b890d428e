# What is read must have an end: devices, folders, pipes and what is too large, in every place that names a file to read.
. cli/cli.sh
TILECC=$QUICK

mkdir folder folder/as.tile folder/as.ptx folder/as.cubin lib
mkfifo pipe lib/piped.tile
truncate -s 1073741825 large.tile # sparse
ln -s ../large.tile lib/large.tile
ln -s /dev/zero lib/endless.tile
ln -s /dev/zero endless.ptx
ln -s /dev/zero endless.cubin
ln -s ../large.tile folder/large.ptx
mkdir lib/folder.tile
expect 0 '' -S good.tile -o good.ptx
run() { # status, pattern, program
    expect "$1" "$2" run --device=sim "$3" 'src=bf16[64,256]' 'dst=bf16[M,N]'
}

# What is no text is said once.
sed 's/./&@/g' good.tile | tr '@' '\000' >wide.tile
expect 1 'bytes of value 0' -S wide.tile -o x.ptx
[ "$(grep -c '^error' err)" = 1 ] || fail "a text that is none has $(grep -c '^error' err) errors"

# The program.
for device in /dev/zero /dev/null; do
    expect 3 "can't read '$device': it is a device" -S "$device" -o x.ptx
    expect 3 "can't read '$device': it is a device" check-ptx "$device"
done
expect 3 "can't read 'folder/as.tile': Is a directory" -S folder/as.tile -o x.ptx
expect 3 "can't read 'large.tile': it is larger than 1 GiB" -S large.tile -o x.ptx
expect 3 "can't read 'large.tile': it is larger than 1 GiB" check-ptx large.tile
run 3 "can't read 'large.tile': it is larger than 1 GiB" large.tile
run 3 "can't read 'folder/as.tile': Is a directory" folder/as.tile
[ ! -e x.ptx ] || fail "an unreadable program gave output"

# PTX and cubins.
run 3 'E1201: endless.ptx is a device' endless.ptx
run 3 'E1201: endless.cubin is a device' endless.cubin
run 3 'E1201: folder/as.ptx is a directory' folder/as.ptx
run 3 'E1201: folder/as.cubin is a directory' folder/as.cubin
run 3 'E1201: folder/large.ptx is larger than 1 GiB' folder/large.ptx

# Imports.
for import in 'piped:is a pipe' 'endless:is a device' 'large:is larger than 1 GiB' 'folder:is a directory'; do
    name=${import%%:*}
    sed "s/^kernel/import $name;\n&/" good.tile >uses.tile
    expect 1 "E0203: the module \`$name\` can't be read: lib/$name.tile ${import#*:}" -I lib -S uses.tile -o x.ptx
done
if [ "$(id -u)" != 0 ]; then
    echo 'const A = 1;' >lib/secret.tile
    chmod 000 lib/secret.tile
    sed 's/^kernel/import secret;\n&/' good.tile >uses.tile
    expect 1 "E0203: the module .secret. can't be read: lib/secret.tile can't be opened: Permission" -I lib -S uses.tile -o x.ptx
fi
[ ! -e x.ptx ] || fail "an unreadable import gave output"

# Arrays: as much as their first bytes say.
expect 3 "'/dev/zero' is no .npy file" run --device=sim good.tile src=/dev/zero 'dst=bf16[M,N]'
expect 3 "'folder': Is a directory" run --device=sim good.tile src=folder 'dst=bf16[M,N]'

# Pipes are read to their end.
cat good.tile >pipe &
expect 0 '' -S pipe -o x.ptx
cmp -s x.ptx good.ptx || diff good.ptx x.ptx | grep -v source >/dev/null || fail "a program from a pipe"
cat good.ptx >pipe &
expect 0 '' check-ptx pipe
ln -s pipe piped.ptx
cat good.ptx >pipe &
run 0 '' piped.ptx
expect 0 '' -S - -o x.ptx <good.tile
expect 0 '' -S /dev/stdin -o x.ptx <good.tile

# And no further than a program may be long.
free=$(sed -n 's/^MemAvailable: *\([0-9]*\).*/\1/p' /proc/meminfo 2>/dev/null)
if [ "${free:-0}" -gt 6000000 ]; then
    expect 3 "can't read 'standard input': it is larger than 1 GiB" -S - -o x.ptx </dev/zero
    cat /dev/zero >pipe 2>/dev/null &
    run 3 'E1201: piped.ptx is larger than 1 GiB' piped.ptx
fi
finish
