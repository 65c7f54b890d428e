# Sources of thousands of statements: time and memory grow as they do. Each takes well below a second; what grew with the square of the
# statements would take minutes, and gigabytes.
. cli/cli.sh
n=3000

kernel() { # body: "q" is the pipeline's index, %d a statement's first element; a line per statement
    printf 'kernel k(x: global f32[N], y: global f32[N]) {\n    pipeline q in 4 across grid {\n%s\n' "$1"
    awk -v n=$n -v width="$3" -v text="$2" 'BEGIN {
        for (i = 0; i < n; i++) {
            line = text
            gsub(/AT/, sprintf("%d", i * width), line)
            gsub(/NUMBER/, i, line)
            gsub(/ALL/, sprintf("%d", n * width), line)
            print line
        }
    }'
    printf '%s}\n}\n' "$4"
}
compiles() { # status, what is said, file
    timeout 200 "$TILECC" -S "$3" -o out.ptx >out 2>err
    got=$?
    [ $got = "$1" ] || fail "$3: exit code $got, expected $1: $(head -c 500 err)"
    [ -z "$2" ] || contains err "$2"
}
tile='shared t: f32[64];'
both='move x[q * ALL + AT +: 64] -> t via bulk; move t -> y[q * ALL + AT +: 64] via bulk;'
kernel "$tile" "$both" 64 '' >pairs.tile
kernel "$tile for j in 1000 {" 'move x[(q * 1000 + j) * ALL + AT +: 64] -> t via bulk; move t -> y[(q * 1000 + j) * ALL + AT +: 64] via bulk;' 64 '}' >pairs_in_loop.tile
kernel "$tile move x[q * 64 +: 64] -> t via bulk; for j in 1000 {" 'move t -> y[(q * 1000 + j) * ALL + AT +: 64] via bulk;' 64 '}' >stores_in_loop.tile
kernel "$tile" "if N > NUMBER { $both }" 64 '' >branches.tile
kernel '' 'shared tNUMBER: f32[64]; move x[q * ALL + AT +: 64] -> tNUMBER via bulk; move tNUMBER -> y[q * ALL + AT +: 64] via bulk;' 64 '' >tiles.tile
for file in pairs pairs_in_loop stores_in_loop branches; do compiles 0 '' $file.tile; done
compiles 1 'E0901' tiles.tile
n=700
kernel '' 'shared tNUMBER: f32[4]; move x[q * ALL + AT +: 4] -> tNUMBER via bulk; move tNUMBER -> y[q * ALL + AT +: 4] via bulk;' 4 '' >tiles.tile
compiles 0 '' tiles.tile

# Constant trip counts are no harder than others.
printf 'kernel k(x: global f32[N], y: global f32[N]) {
    pipeline q in 4 across grid {
        for (a, b, c) in (100, 100, 100) {
            shared t: f32[4];
            move x[(((q * 100 + a) * 100 + b) * 100 + c) * 4 +: 4] -> t via bulk;
            move t -> y[(((q * 100 + a) * 100 + b) * 100 + c) * 4 +: 4] via bulk;
        }
    }
}\n' >trips.tile
compiles 0 '' trips.tile
finish
