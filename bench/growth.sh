#!/bin/sh
# Sources of many statements, and what compiling them takes: seconds of the user and megabytes at the peak. Time is to grow as n log n does,
# memory by less than 64 KiB a statement; with N = 1000 each takes below a second and 256 MB. tests/cli/growth_test.sh compiles some of them.
#
#   bench/growth.sh source NAME N      prints the program NAME with N statements or pairs of them
#   bench/growth.sh names              the names
#   bench/growth.sh BIN [N [NAME..]]   a row for each: seconds and MB of `BIN/tilecc -S`, with N (1000) and with 4 N
set -u

# A line, n times: AT is a statement's first element, NUMBER its number, ALL n widths.
repeat() { # n, width, text
    awk -v n="$1" -v width="$2" -v text="$3" 'BEGIN {
        for (i = 0; i < n; i++) {
            line = text
            gsub(/AT/, sprintf("%d", i * width), line)
            gsub(/NUMBER/, i, line)
            gsub(/ALL/, sprintf("%d", n * width), line)
            print line
        }
    }'
}
plain() { # n, width, head, text, foot
    printf 'kernel k(x: global f32[N], y: global f32[N]) {\n%s\n' "$3"
    repeat "$1" "$2" "$4"
    printf '%s\n}\n' "$5"
}
piped() { plain "$1" "$2" "pipeline q in 4 across grid { $3" "$4" "$5 }"; }

tile='shared t: f32[64];'
pair='move x[AT +: 64] -> t via bulk; move t -> y[AT +: 64] via bulk;'
piece='move x[q * ALL + AT +: 64] -> t via bulk; move t -> y[q * ALL + AT +: 64] via bulk;'
names='pairs piped_pairs tensor_pairs tiles piped_tiles small_tiles loops piped_loops loop_pairs loop_stores stores ifs piped_ifs else_ifs pipelines across functions calls arrays piped_array peers nest threads lets vars facts kernels waits roles role_loops sum_loops own_loops'

source_of() { # name, n
    case $1 in
    pairs) plain "$2" 64 "$tile" "$pair" '' ;;
    piped_pairs) piped "$2" 64 "$tile" "$piece" '' ;;
    tensor_pairs) plain "$2" 64 "$tile" 'move x[AT] -> t; move t -> y[AT];' '' ;;
    tiles) plain "$2" 4 '' 'shared tNUMBER: f32[4]; move x[AT +: 4] -> tNUMBER via bulk; move tNUMBER -> y[AT +: 4] via bulk;' '' ;;
    piped_tiles) piped "$2" 4 '' 'shared tNUMBER: f32[4]; move x[q * ALL + AT +: 4] -> tNUMBER via bulk; move tNUMBER -> y[q * ALL + AT +: 4] via bulk;' '' ;;
    small_tiles) plain "$2" 4 '' 'shared tNUMBER: f32[4];' "$tile move x[0 +: 64] -> t via bulk; move t -> y[0 +: 64] via bulk;" ;;
    loops) plain "$2" 64 "$tile" "for j in 4 { move x[j * ALL + AT +: 64] -> t via bulk; move t -> y[j * ALL + AT +: 64] via bulk; }" '' ;;
    piped_loops) piped "$2" 64 '' "for j in 4 { shared t: f32[64]; move x[(q * 4 + j) * ALL + AT +: 64] -> t via bulk; move t -> y[(q * 4 + j) * ALL + AT +: 64] via bulk; }" '' ;;
    loop_pairs) piped "$2" 64 "$tile for j in 1000 {" 'move x[(q * 1000 + j) * ALL + AT +: 64] -> t via bulk; move t -> y[(q * 1000 + j) * ALL + AT +: 64] via bulk;' '}' ;;
    loop_stores) piped "$2" 64 "$tile move x[q * 64 +: 64] -> t via bulk; for j in 1000 {" 'move t -> y[(q * 1000 + j) * ALL + AT +: 64] via bulk;' '}' ;;
    stores) plain "$2" 64 "$tile move x[0 +: 64] -> t via bulk; for j in 4 {" 'move t -> y[j * ALL + AT +: 64] via bulk;' '}' ;;
    ifs) plain "$2" 64 "$tile" "if N > NUMBER { $pair }" '' ;;
    piped_ifs) piped "$2" 64 "$tile" "if N > NUMBER { $piece }" '' ;;
    else_ifs) piped "$2" 64 "$tile" "if N > NUMBER { $piece } else { move x[q * ALL + AT +: 64] -> t via bulk; }" '' ;;
    pipelines) plain "$2" 64 '' 'pipeline j in 4 { shared t: f32[64]; move x[j * ALL + AT +: 64] -> t via bulk; move t -> y[j * ALL + AT +: 64] via bulk; }' '' ;;
    across) plain "$2" 64 '' 'pipeline j in 4 across grid { shared t: f32[64]; move x[j * ALL + AT +: 64] -> t via bulk; move t -> y[j * ALL + AT +: 64] via bulk; }' '' ;;
    functions)
        repeat "$2" 64 'fn copyNUMBER(x: global f32[N], y: global f32[N], t: shared f32[64], j: s64) { move x[j * ALL + AT +: 64] -> t via bulk; move t -> y[j * ALL + AT +: 64] via bulk; }'
        piped "$2" 64 "$tile" 'copyNUMBER(x, y, t, q);' '' ;;
    calls)
        printf 'fn f(x: global f32[N], y: global f32[N], t: shared f32[64], j: s64) {\n'
        repeat "$2" 64 'move x[j * ALL + AT +: 64] -> t via bulk; move t -> y[j * ALL + AT +: 64] via bulk;'
        printf '}\n'
        piped 1 64 "$tile" 'f(x, y, t, q);' '' ;;
    arrays) plain "$2" 64 "shared t: f32[8][64];" 'move x[AT +: 64] -> t[NUMBER % 8] via bulk; move t[NUMBER % 8] -> y[AT +: 64] via bulk;' '' ;;
    piped_array) piped "$2" 4 "shared t: f32[$2][4];" 'move x[q * ALL + AT +: 4] -> t[NUMBER] via bulk; move t[NUMBER] -> y[q * ALL + AT +: 4] via bulk;' '' ;;
    nest) plain "$2" 64 "$tile" 'for a in 4 { for b in 4 { move x[(a * 4 + b) * ALL + AT +: 64] -> t via bulk; move t -> y[(a * 4 + b) * ALL + AT +: 64] via bulk; } }' '' ;;
    threads) piped "$2" 64 "$tile shared u: f32[64];" 'move x[q * ALL + AT +: 64] -> t via bulk; move t -> u via threads; move u -> y[q * ALL + AT +: 64] via bulk;' '' ;;
    lets) plain "$2" 64 "$tile" "let aNUMBER = AT + N; move x[aNUMBER - N +: 64] -> t via bulk; move t -> y[aNUMBER - N +: 64] via bulk;" '' ;;
    vars) plain "$2" 64 "$tile var a = 0;" "a = a + 64; move x[AT +: 64] -> t via bulk; move t -> y[AT +: 64] via bulk;" '' ;;
    facts)
        printf 'kernel k(x: global f32[N], y: global f32[N], m: s64) where N >= 64\n'
        repeat "$2" 1 ', m != NUMBER'
        printf '{ %s move x[0 +: 64] -> t; move t -> y[0 +: 64]; }\n' "$tile" ;;
    kernels) repeat "$2" 64 'kernel kNUMBER(x: global f32[N], y: global f32[N]) { shared t: f32[64]; move x[0 +: 64] -> t via bulk; move t -> y[0 +: 64] via bulk; }' ;;
    waits) plain "$2" 64 "$tile barrier b;" 'move x[AT +: 64] -> t via bulk commit b; wait b; move t -> y[AT +: 64] via bulk commit group; wait group;' '' ;;
    peers) printf 'kernel k(x: global f32[N], y: global f32[N]) cluster (2, 1, 1) grid (2) {\nshared t: f32[64]; shared u: f32[64]; move x[0 +: 64] -> t via bulk;\n'
        repeat "$2" 64 'move t -> peer(u, (cluster.rank + 1) % 2); move u -> y[AT * 2 + cluster.rank * 64 +: 64] via bulk;'
        printf '}\n' ;;
    slots) # each number is made from the one before, twice; of more than some hundred it is not followed which slot it is
        printf 'kernel k(x: global f32[M, 64], y: global f32[M, 64]) {\nshared t: f32[3][16, 64]; barrier full[3]; var a = 0;\n'
        printf 'for i in M { a = (a + 1) %% 3; for j in 3 {\nlet s0 = a;\n'
        awk -v n="$2" 'BEGIN { for (i = 0; i < n; i++) printf "let s%d = s%d ^ (s%d >> 1);\n", i + 1, i, i }'
        printf 'move x[j * 16, 0] -> t[(s%s %% 3 + j) %% 3] commit full[j]; wait full[j]; move t[(s%s %% 3 + j) %% 3] -> y[j * 16, 0] commit group; wait group; } } }\n' "$2" "$2" ;;
    roles | role_loops | sum_loops)
        turns=4
        [ "$1" = role_loops ] && turns=m
        [ "$1" = sum_loops ] && turns='m + a + b + c'
        printf 'kernel k(x: global f32[N], y: global f32[N], m: s32, a: s32, b: s32, c: s32) {\nshared t: f32[64]; barrier full; barrier empty free;\nroles {\nrole a {\n'
        repeat "$2" 64 "for k in $turns { wait empty; move x[AT +: 64] -> t via bulk commit full; }"
        printf '}\nrole b {\n'
        repeat "$2" 64 "for k in $turns { wait full; move t -> y[AT +: 64] via bulk commit group; wait group; arrive empty; }"
        printf '} } }\n' ;;
    own_loops)
        printf 'kernel k(x: global f32[N], y: global f32[N], m: s32) {\n'
        repeat "$2" 4 'shared tNUMBER: f32[4]; barrier bNUMBER;'
        repeat "$2" 4 'for j in m { move x[j * ALL + AT +: 4] -> tNUMBER via bulk commit bNUMBER; wait bNUMBER; move tNUMBER -> y[j * ALL + AT +: 4] via bulk commit group; wait group; }'
        printf '}\n' ;;
    *) echo "no program $1" >&2; exit 2 ;;
    esac
}

measure() { # tilecc, name, n
    source_of "$2" "$3" >"$work/s.tile"
    timeout 100 /usr/bin/time -f '%U %M' "$1" -S "$work/s.tile" -o "$work/s.ptx" 2>"$work/err"
    awk '/^error/ && said == "" { said = $2 } /^(signal|terminated|Command)/ { next } { last = $0 } END { split(last, f, " "); printf "%6s s %5.0f MB %s", f[1], f[2] / 1024, said }' "$work/err"
}

case ${1-} in
names) echo "$names"; exit ;;
source) source_of "$2" "$3"; exit ;;
esac
bin=$(cd "$1" && pwd) || exit 3
n=${2-1000}
work=$(mktemp -d) || exit 3
trap 'rm -rf "$work"' EXIT
shift; [ $# -gt 0 ] && shift
for name in ${*:-$names}; do
    printf '%-14s %s | %s\n' "$name" "$(measure "$bin/tilecc" "$name" "$n")" "$(measure "$bin/tilecc" "$name" $((4 * n)))"
done
