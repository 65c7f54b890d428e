# Sources of thousands of statements (bench/growth.sh): time and memory grow as they do. Each takes well below a second; what grew with the
# square of the statements would take minutes, and gigabytes.
. cli/cli.sh
TILECC=$QUICK
n=2000

compiles() { # status, what is said, file
    timeout 200 "$TILECC" -S "$3" -o out.ptx >out 2>err
    got=$?
    [ $got = "$1" ] || fail "$3: exit code $got, expected $1: $(head -c 500 err)"
    [ -z "$2" ] || contains err "$2"
}
many() { # status, what is said, program, n
    sh "$root/bench/growth.sh" source "$3" "$4" >"$3.tile" || fail "no program $3"
    compiles "$1" "$2" "$3.tile"
}
for program in pairs piped_pairs loop_pairs loop_stores ifs piped_ifs loops nest peers threads; do many 0 '' $program $n; done
many 0 '' pairs 20000
for program in waits roles; do many 0 '' $program 5000; done
many 0 '' role_loops $n
# What is accepted is accepted with its certificate, too, which does not name the dependences of so many accesses.
timeout 200 "$TILECC" --emit=ir role_loops.tile -o out.ir || fail "role_loops.tile: refused with --emit=ir alone"
many 0 '' sum_loops $n
# What is made from one number twice, again and again, is looked at once.
many 0 '' slots 40
# Tiles of pipelines in sequence lie in the same slots; those of one pipeline find no room.
for program in pipelines across own_loops; do many 0 '' $program 1500; done
for program in piped_loops piped_tiles; do many 0 '' $program 700; done
many 1 'E0901' piped_tiles $n

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
