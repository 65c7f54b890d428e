#!/bin/sh
# What the programs of the tests reached, together: coverage_test.sh FOLDER FILE.. (of random --coverage, or of roles). Each row of the table
# is reached, or the folder's exceptions.txt says why not; the list of rows is rows.txt, where there is one (UPDATE=1 writes it anew: the diff
# says what the language, the IR or the instructions have got).
set -u
cd "$(dirname "$0")/../$1" || exit 3
shift
for file in "$@"; do
    [ -s "$file" ] || { echo "SKIPPED: $file is not there: the tests that make it come first"; exit 77; }
done
awk '
    FILENAME == "exceptions.txt" {
        if ($0 ~ /^(#|$)/) next
        if (!match($0, /   +/)) { print "exceptions.txt: no reason: " $0; bad = 1; next }
        row = substr($0, 1, RSTART - 1)
        if (row in why) { print "exceptions.txt: twice: " row; bad = 1 }
        why[row] = substr($0, RSTART + RLENGTH)
        next
    }
    {
        n = $1
        sub(/^ *([0-9]+ +)+/, "")
        if (!($0 in hits)) order[++rows] = $0
        hits[$0] += n
    }
    END {
        for (i = 1; i <= rows; i++) {
            row = order[i]
            if (!hits[row] && !(row in why)) { print "no program reaches: " row; bad = 1 }
            if (hits[row] && row in why) { print "reached, but exceptions.txt says that it is not: " row; bad = 1 }
            printf "%s%s\n", row in why ? "- " : "  ", row > OUT
        }
        for (row in why) if (!(row in hits)) { print "exceptions.txt: there is no such row: " row; bad = 1 }
        exit bad
    }' OUT="$1.rows" exceptions.txt "$@"
status=$?
if [ -e rows.txt ] && [ "${UPDATE:-}" ]; then cp "$1.rows" rows.txt; fi
[ ! -e rows.txt ] || diff -u rows.txt "$1.rows" || status=1
exit $status
