#!/bin/sh
# tsan.sh [BUILD]: builds with ThreadSanitizer into BUILD (build/tsan unless told) and runs the tests that have threads: launches in ten of them
# on the simulator and on a driver that does nothing, compilations with the disk cache between them. On demand: the build takes minutes.
set -eu
cd "$(dirname "$0")/../.."
build=${1:-build/tsan}
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG='-O1 -g1 -fsanitize=thread' -DCMAKE_EXE_LINKER_FLAGS=-fsanitize=thread \
    -DCMAKE_SHARED_LINKER_FLAGS=-fsanitize=thread --log-level=WARNING
cmake --build "$build" --target unit_threads_launch_test -j"${JOBS:-2}"
# What the driver of the tests counts for one test program is no part of libtile.
supp=$(mktemp)
trap 'rm -f "$supp"' EXIT
printf 'race_top:fake_driver.h\n' >"$supp"
TSAN_OPTIONS="suppressions=$supp:exitcode=99:halt_on_error=0" "$build/bin/unit_threads_launch_test"
