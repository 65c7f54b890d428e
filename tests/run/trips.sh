# trips.sh DEVICE [BATCH BATCHES]: every loop of the example programs with 0, 1, depth - 1, depth, depth + 1 and many
# turns, for every ring of the loop (its depth is what --explain-plan prints), against the plain references of reference.c. Prints
# a table: program, loop, turns -> passed. The programs and what makes a number of iterations of them: trips_cases.sh.
#
# Of a loop across the grid a team takes turns of a batch of iterations. "per team": every team of the device gets as
# many turns; "in all": that many iterations are all there is. How many were dealt, and to how many teams, is compared
# with what the runtime says. On the simulator choose few teams: sim:fuzz,sms=1,schedules=200.
#
# IN_ALL=0: leave out the rows "in all". MANY: many turns are that many times the deepest ring (4), and 3 more. ONLY=WORDS: only
# rows that contain the words. LIMIT: seconds of a run (60).
# Needs TILECC and REFERENCE; exit code 77 with the reason where there is no such device.
set -u
device=$1 batch=${2:-0} batches=${3:-1}
cd "$(dirname "$0")/../.." || exit 3
# shellcheck source=/dev/null
. tests/run/lib.sh
need_device
verbose=-v variants=--variants=off
wrong=0 rows=0 least_dealt=0
most_teams=300 # more than any device has: 2 for each SM of an H200 are 264
case $device in sim*) most_teams=8 ;; esac

# The plan of PROGRAM:KERNEL.
plan_of() {
    options=$(sed -n '1s|^// options: *||p' "${1%%:*}")
    # shellcheck disable=SC2086
    "$TILECC" --explain-plan --variants=off ${options:-} ${defines:-} "${1%%:*}" | awk -v k="kernel ${1#*:}:" '/^kernel /{on = index($0, k) == 1} on'
}

# The depths of rings named in RINGS; =4 stands for a ring of 4 slots made by hand, 1 for none.
depths_of() {
    for ring in $1; do
        case $ring in
        =*) echo "${ring#=}" ;;
        *) sed -n "s/^    $ring: \([0-9]*\) slots*.*/\1/p" "$work/plan" | sort -u ;;
        esac
    done
}

trips_of() {
    deepest=$(depths_of "$1" | sort -n | tail -1)
    {
        echo 0
        echo 1
        depths_of "$1" | while read -r depth; do
            echo $((depth - 1))
            echo "$depth"
            echo $((depth + 1))
        done
        echo $((${MANY:-4} * deepest + 3))
    } | sort -nu
}

# Teams of the device: how many get work where there is enough.
count_teams() {
    teams=$(sed -n 's/.* iterations dealt [a-z ]* to \([0-9]*\) teams.*/\1/p' "$work/said")
    [ -n "$teams" ]
}

# dealt ITERATIONS: is that what was launched? Nothing is said of launches of nothing.
dealt() {
    want="$(most "$1" "$least_dealt") $(least "$(most "$1" "$least_dealt")" "$teams")"
    said=$(sed -n 's/.*: \([0-9]*\) iterations dealt [a-z ]* to \([0-9]*\) teams.*/\1 \2/p' "$work/said")
    if [ "$want" = '0 0' ]; then [ -z "$said" ]; else [ "$said" = "$want" ]; fi
    judge $? "dealt '$said' (iterations, teams), expected '$want'"
}

least() { echo $(($1 < $2 ? $1 : $2)); }
most() { echo $(($1 > $2 ? $1 : $2)); }

# one TURNS ITERATIONS DEALT: a cell of the table. DEALT: batches of them, - where none are dealt.
one() {
    mine || return 0
    before=$failed good=$passed kept=$turn all=$batches
    batches=1
    "$function" "$2"
    answer=$? turn=$kept batches=$all
    if [ $answer = 2 ]; then return 0; fi # there is no such number of iterations
    if [ "$3" != - ]; then dealt "$3"; fi
    if [ $failed = $before ] && [ $passed -gt "$good" ]; then
        cells="$cells $1"
    else
        cells="$cells $1:FAILED"
        wrong=$((wrong + 1))
    fi
}

print_row() { [ -z "$cells" ] || printf '| %s | %s | %s | %s |%s |\n' "$label" "$loop" "$1" "$depths" "$cells"; }

# What row and across have in common. False: ONLY leaves it out.
prepare() {
    label=$1 loop=$2 program=$4 function=$5
    case "$label $loop" in *"${ONLY:-}"*) ;; *) return 1 ;; esac
    plan_of "$program" >"$work/plan"
    trips=$(trips_of "$3")
    depths=$(for ring in $3; do printf '%s %s, ' "$ring" "$(depths_of "$ring" | tr '\n' ' ')"; done | sed 's/ *, $//; s/ ,/,/g; s/=[0-9]* //g')
    [ -n "$trips" ] && [ -s "$work/plan" ] || { echo "no plan of $program"; exit 3; }
    rows=$((rows + 1))
}

# row LABEL LOOP RINGS PROGRAM:KERNEL FUNCTION: a loop whose turns a team takes one after the other.
row() {
    prepare "$@" || return 0
    cells=
    for t in $trips; do one "$t" "$t" -; done
    print_row 'in turn'
}

# across LABEL LOOP RINGS PROGRAM:KERNEL FUNCTION: a loop across the grid.
across() {
    prepare "$@" || return 0
    together=$(sed -n 's/^    \([0-9]*\) iterations together.*/\1/p' "$work/plan" | head -1)
    together=${together:-1}
    kept_device=$device kept=$turn all=$batches cells=
    case $device in sim*) device=sim:fast,sms=1 ;; esac
    batches=1
    "$function" $((together * most_teams))
    device=$kept_device turn=$kept batches=$all
    count_teams || { printf '%s %s: no work was dealt\n' "$label" "$loop"; exit 3; }
    for t in $trips; do one "$t" $((t * teams * together)) $((t * teams)); done
    print_row "per team of $teams, batches of $together"
    [ "${IN_ALL:-1}" = 1 ] && [ $((teams * together)) -gt 1 ] || return 0
    cells=
    for t in $trips; do one "$t" "$t" $(((t + together - 1) / together)); done
    print_row 'in all'
}

printf 'first seed: %s\n| program | loop | turns | depths | turns that passed |\n| --- | --- | --- | --- | --- |\n' "$seed"
# shellcheck source=/dev/null
. tests/run/trips_cases.sh
printf '%s rows, %s passed, %s failed\n' $rows $passed $failed
[ $failed = 0 ] && [ $wrong = 0 ]
