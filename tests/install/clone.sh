#!/bin/sh
# clone.sh [ROOT]
#
# What the README promises whoever clones this, in a bare Debian: ./dev demo; `pip install` into a fresh environment and the package on the
# simulator; a project of its own that finds an installed prefix by CMake; the package for Debian (package.sh). What is committed is tried. ROOT:
# see bare_root.sh. Needs root, a mirror of Debian and one of Python's packages; half an hour and more. On demand: no test of the suite calls it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/bare_root.sh"
open_root "${1:-}"
rm -rf "$root/src"
git clone -q "$(cd "$here/../.." && pwd)" "$root/src"
cat >"$root/tmp/clone.sh" <<'TRY'
set -eux
apt-get update -qq
apt-get install -y -qq --no-install-recommends git ca-certificates >/dev/null
cd /src
./dev demo >/tmp/demo.log 2>&1 || { tail -40 /tmp/demo.log; exit 1; }
grep -q 'bytes came back the same' /tmp/demo.log

cmake --preset release >/dev/null && cmake --build --preset release >/dev/null
cmake --install build/release --prefix /opt/tilecc >/dev/null
apt-get install -y -qq --no-install-recommends g++ make pkg-config >/dev/null
cp -r tests/install/kernels /tmp/project
cmake -S /tmp/project -B /tmp/project/build -DCMAKE_PREFIX_PATH=/opt/tilecc -DLANGUAGE=CXX >/dev/null
cmake --build /tmp/project/build >/dev/null
(cd /tmp/project/build && ctest --output-on-failure)
apt-get install -y -qq --no-install-recommends file dpkg-dev >/dev/null
(cd build/release && cpack -G DEB >/dev/null && cp ./*.deb /tmp/)

apt-get install -y -qq --no-install-recommends python3-venv >/dev/null
python3 -m venv /tmp/venv
(cd runtime/python && /tmp/venv/bin/pip install -q . numpy)
cd /tmp
/tmp/venv/bin/tilecc new first
/tmp/venv/bin/tilecc test --device=sim first
/tmp/venv/bin/python first/use_first.py
/tmp/venv/bin/python - <<'END'
import numpy, tilecc
x = numpy.arange(64 * 32, dtype=numpy.float32).reshape(64, 32)
assert numpy.array_equal(tilecc.std.transpose(x), x.T)
END
TRY
in_root "$root/tmp/clone.sh"
cp "$root"/tmp/tilecc_*.deb "$root/.."
sh "$here/package.sh" "$(ls "$root"/../tilecc_*.deb)" "$root"
rm -f "$root"/../tilecc_*.deb
echo 'clone.sh: all of it works in a bare Debian'
