# For the test scripts: `. ./common.sh` from tests/. Needs TILECC, the program under test.
set -u
: "${TILECC:?}"
: "${QUICK:=$TILECC}" # the same without sanitizers: scripts that start it hundreds of times take that
: "${PLAIN:=${BUILD:-}}" # the folder of that build: what users install
[ -x "$TILECC" ] || { echo "there is no $TILECC"; exit 3; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM
failures=0

fail() {
    printf 'FAILED: %s\n' "$*"
    failures=$((failures + 1))
}

finish() { [ "$failures" = 0 ]; exit; }

skip() {
    printf 'SKIPPED: %s\n' "$*"
    exit 77
}

# The options in a program's first line: "// options: -arch=sm_90a -D k.N=3".
options_of() { [ ! -e "$1" ] || sed -n '1s|^// options: *||p' "$1"; }

# same EXPECTED ACTUAL: byte for byte; UPDATE=1 writes what came out. An expected file that is absent stands for an
# empty one.
same() {
    if [ "${UPDATE:-}" = 1 ]; then
        if [ -s "$2" ]; then
            cmp -s "$1" "$2" || cp "$2" "$1"
        else
            rm -f "$1"
        fi
        return
    fi
    if [ -e "$1" ]; then expected=$1; else expected=/dev/null; fi
    cmp -s "$expected" "$2" && return
    diff -u "$expected" "$2"
    fail "$1 is not what came out ('-': expected, '+': came out)"
}

# good_ptxas: sets ptxas to one that knows all targets (13.0 or newer), or skips.
good_ptxas() {
    for ptxas in "${TILECC_PTXAS:-}" "${CUDA_HOME:-/nonexistent}/bin/ptxas" "${CUDA_PATH:-/nonexistent}/bin/ptxas" \
        /usr/local/cuda/bin/ptxas "$(command -v ptxas)"; do
        [ -x "$ptxas" ] || continue
        major=$("$ptxas" --version | sed -n 's/.*release \([0-9]*\)\..*/\1/p')
        [ "${major:-0}" -ge 13 ] && return
    done
    skip "no ptxas 13.0 or newer: not in TILECC_PTXAS, CUDA_HOME, CUDA_PATH, /usr/local/cuda or PATH"
}
