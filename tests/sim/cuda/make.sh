#!/bin/sh
# Compiles the .cu files of this folder to the .ptx files beside them: nvcc's code for sm_90a, the `//!` lines of the source
# on top, folders of this machine taken out of the .file lines. NVCC names the compiler.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for source in *.cu; do
    ptx=${source%.cu}.ptx
    "${NVCC:-nvcc}" -ptx -std=c++17 -arch=sm_90a -O2 -lineinfo "$source" -o "$work/ptx"
    {
        sed -n '/^\/\/!/p' "$source"
        sed 's|^\([[:space:]]*\.file[[:space:]]*[0-9]*[[:space:]]*"\)[^"]*/|\1|' "$work/ptx"
    } >"$ptx"
    if grep -nE '"(/|[A-Za-z]:)[^"]*"' "$ptx"; then
        echo "$ptx names a folder of this machine" >&2
        exit 1
    fi
done
