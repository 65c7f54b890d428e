# lang/GUIDE.md does what it shows. Its blocks, in order: ```tile NAME, ```c NAME and ```python NAME are files; ```sh are commands; a ```text
# behind them is what they print, `..` for lines that are left out. Commands with nothing behind them print nothing.
# UPDATE=1 writes the text blocks that leave nothing out anew.
. cli/cli.sh
guide=$root/lang/GUIDE.md
mkdir guide guide/bin
cd guide || exit 3

# What its reader has installed: tilecc in the PATH, the libraries for pkg-config, the Python package.
env -u DESTDIR cmake --install "$PLAIN" --prefix "$PWD/prefix" >log 2>&1 || fail "cmake --install: $(cat log)"
printf '#!/bin/sh\nexec "%s" "$@"\n' "$QUICK" >bin/tilecc
chmod +x bin/*
PATH=$PWD/bin:$PATH
PKG_CONFIG_PATH=$(dirname "$(find "$PWD/prefix" -name tile.pc)")
PYTHONPATH=$root/runtime/python TILECC_LIBRARY_PATH=$PLAIN/lib PYTHONDONTWRITEBYTECODE=1
export PATH PKG_CONFIG_PATH PYTHONPATH TILECC_LIBRARY_PATH PYTHONDONTWRITEBYTECODE
mkdir at
cd at || exit 3

# blocks: ../N.kind, its name in ../N.name
awk '/^```/ && inside { inside = 0; close(to); next }
    /^```/ { inside = 1; to = sprintf("../%03d.%s", ++n, substr($1, 4)); printf "" > to; print $2 > sprintf("../%03d.name", n); next }
    inside { print > to }' "$guide"

missing() { # SHOWN REAL: the first line of SHOWN that is not in REAL, or not behind the one before
    awk -v real="$2" 'BEGIN { while ((getline line <real) > 0) lines[++n] = line }
        $0 == ".." { free = 1; next }
        { for (i = at + 1; free && i <= n && lines[i] != $0;) i++
          if (!free) i = at + 1
          if (lines[i] != $0) { print; found = 1; exit }
          at = i; free = 0 }
        END { if (!found && !free && at < n) print lines[at + 1] " (which is not shown)" }' "$1"
}
needs() { # what a command needs and this machine may lack
    case $1 in
    *pkg-config*) command -v pkg-config >/dev/null ;;
    *python3*) python3 -c 'import numpy' 2>/dev/null ;;
    esac
}
commands=0
for block in ../[0-9]*.tile ../[0-9]*.c ../[0-9]*.python ../[0-9]*.sh ../[0-9]*.text; do echo "$block"; done | sort >../order
while read -r block; do
    name=$(cat "${block%.*}.name")
    case $block in
    *.sh)
        ran=$block
        if needs "$(cat "$block")"; then
            sh "$block" >"$block.said" 2>&1 </dev/null
            status=$?
            commands=$((commands + 1))
        else
            echo "left out here: $(cat "$block")"
            rm -f "$block.said"
        fi
        next=$(grep -A 1 -Fx "$block" ../order | sed -n 2p)
        case $next in
        *.text) ;;
        *) [ ! -e "$block.said" ] || [ $status = 0 ] && [ ! -s "$block.said" ] || fail "GUIDE.md: $(cat "$block"): $(cat "$block.said")" ;;
        esac
        ;;
    *.text)
        [ -e "$ran.said" ] || continue
        if [ "${UPDATE:-}" = 1 ] && ! grep -qx '\.\.' "$block"; then
            cp "$ran.said" "$block"
        else
            lacks=$(missing "$block" "$ran.said")
            [ -z "$lacks" ] || fail "GUIDE.md shows for \`$(cat "$ran")\`: $lacks; it prints:
$(cat "$ran.said")"
        fi
        ;;
    *) cp "$block" "$name" ;;
    esac
done <../order
[ $commands -ge 18 ] || fail "GUIDE.md has $commands commands"
if [ "${UPDATE:-}" = 1 ]; then
    awk '/^```/ && inside { inside = 0; print; next }
        /^```/ { inside = 1; from = sprintf("../%03d.text", ++n); print
                 if ($1 == "```text") while ((getline line <from) > 0) print line
                 skip = $1 == "```text"; next }
        !inside || !skip' "$guide" >../guide.md && cp ../guide.md "$guide"
fi
cd ../.. && rm -rf guide
finish
