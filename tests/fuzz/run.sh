#!/bin/sh
# run.sh BUILD SECONDS: shares the seconds among the fuzzers of a build folder configured with the preset `fuzz`. What
# is found on the way is kept in BUILD/corpus; a crash is left in BUILD, to be fixed and then added to fuzz/corpus.
set -u
tests=$(cd "$(dirname "$0")/.." && pwd)
build=$1
fuzzers=$(ls "$build"/bin/*_fuzz 2>/dev/null)
if [ -z "$fuzzers" ]; then
    echo "SKIPPED: no fuzzers in $build: ./dev test and ./dev fuzz build them where there is clang with libFuzzer"
    exit 77
fi
count=$(echo "$fuzzers" | wc -l)
seconds=$((($2 + count - 1) / count))
# Sources to start from: reading one takes the compiler a tenth of a second, so as many as half of the time is enough for.
seeds=$build/seeds
rm -rf "$seeds"
mkdir -p "$seeds"
find "$tests/golden" "$tests/reject" "$tests/run" "$tests/../examples" "$tests/../stdlib" -name '*.tile' | sort -R | head -n $((5 * seconds)) |
    while read -r source; do cp "$source" "$seeds/$(echo "${source#"$tests"/}" | tr / -)"; done
export ASAN_OPTIONS=exitcode=99 UBSAN_OPTIONS=exitcode=99:print_stacktrace=1
for fuzzer in $fuzzers; do
    name=$(basename "$fuzzer")
    corpus=$build/corpus/$name
    mkdir -p "$corpus"
    case $name in
    ptx_*) set -- -max_len=16384 -dict="$tests/fuzz/ptx.dict" "$corpus" "$tests/fuzz/ptx_corpus" "$tests/sim" \
        "$tests/golden/examples" ;;
    manifest_*) set -- -max_len=16384 "$corpus" "$tests/fuzz/manifest_corpus" ;;
    npy_*) set -- -max_len=1024 "$corpus" "$tests/fuzz/npy_corpus" ;;
    *) set -- -max_len=8192 -dict="$tests/fuzz/tile.dict" "$corpus" "$tests/fuzz/corpus" "$seeds" ;;
    esac
    "$fuzzer" -max_total_time=$seconds -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="$build/$name-" "$@" >"$build/$name.log" 2>&1
    status=$?
    if [ $status != 0 ]; then
        tail -60 "$build/$name.log"
        echo "FAILED: $name exits $status"
        exit 1
    fi
    grep -E 'number_of_executed_units|average_exec_per_sec' "$build/$name.log"
done
