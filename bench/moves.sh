#!/bin/sh
# bench/moves.sh BIN [OPTIONS OF moves..]: the table of movements, with PyTorch's operations measured beside it in the
# same run (python3 with torch; without it the column is empty). BIN: build/release/bin. Needs a GPU.
set -eu
[ $# -ge 1 ] || { echo "usage: bench/moves.sh build/release/bin [OPTIONS]" >&2; exit 2; }
bin=$(cd "$1" && pwd)
shift
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM
if python3 -c 'import torch' 2>/dev/null; then
    python3 bench/peers.py "$work/peers" || echo "no peers: peers.py failed" >&2
else
    echo "no peers: python3 has no torch" >&2
fi
[ -e "$work/peers" ] || : >"$work/peers"
"$bin/moves" --peers="$work/peers" "$@"
