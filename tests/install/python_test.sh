# The Python package on the libraries of this build: with the standard library alone, with NumPy and PyTorch where they are.
. ./common.sh
command -v python3 >/dev/null || skip 'there is no python3'
root=$PWD/../runtime/python
export PYTHONPATH="$root" TILECC_LIBRARY_PATH="$PLAIN/lib" PYTHONDONTWRITEBYTECODE=1
runs() { # test, what it needs, an argument
    if [ "$2" ] && ! python3 -c "import $2" 2>/dev/null; then
        echo "no $2 here: $1 is left out"
        return
    fi
    python3 "$root/tests/$1" ${3:-} || fail "$1"
}
runs test_plain.py ''
runs test_fast.py ''
TILECC_FAST=off runs test_plain.py ''
# With the disk cache the same; the second time nothing is compiled anew.
TILECC_CACHE=on TILECC_CACHE_DIR="$work/c" runs test_plain.py ''
ls "$work/c" >"$work/first"
TILECC_CACHE=on TILECC_CACHE_DIR="$work/c" runs test_plain.py ''
ls "$work/c" >"$work/second"
[ -s "$work/first" ] && cmp -s "$work/first" "$work/second" || fail "with the cache: $(wc -l "$work/first" "$work/second")"
runs test_numpy.py numpy
runs test_std.py numpy
runs test_std_odd.py numpy
runs test_others.py numpy
runs test_torch.py torch
runs ../../../bench/library.py torch --small
runs test_devices.py torch
runs test_compile.py torch
runs test_again.py torch
TILECC_FAST=off runs test_again.py torch
runs test_std_torch.py torch
python3 -c 'import sys; import tilecc; sys.exit(not {"torch", "numpy"}.isdisjoint(sys.modules))' || fail "it imports what it need not"
finish
