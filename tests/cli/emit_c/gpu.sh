#!/bin/sh
# gpu.sh [TILECC]: --emit=c-driver on a machine with a GPU, once with cubins (where there is an assembler) and once with PTX alone. On demand;
# needs cc and no CUDA toolkit. The kernels may be made elsewhere: with KERNELS=folder, kernels.c and kernels.h of that folder are taken.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tilecc=${1:-$here/../../../build/release/bin/tilecc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
try() {
    cc -std=c99 -Wall -Wextra -Wpedantic -Werror -I "$1" "$here/gpu.c" "$1/kernels.c" -ldl -pthread -o "$work/gpu"
    "$work/gpu"
}
if [ -n "${KERNELS:-}" ]; then
    try "$KERNELS"
    exit
fi
"$tilecc" -v --emit=c-driver "$here/kernels.tile" -arch sm_90a,sm_100a -o "$work/kernels"
try "$work"
TILECC_PTXAS=/nonexistent TILECC_NVJITLINK=/nonexistent CUDA_HOME=/nonexistent "$tilecc" -v --emit=c-driver "$here/kernels.tile" -arch sm_90a,sm_100a -o "$work/kernels"
try "$work"
