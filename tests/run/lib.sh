# For scripts that run programs and compare what they give with reference.c: source it from the root, with `device` set.
# Needs TILECC and REFERENCE (the programs). Defines what cases.sh is written in; files lie in $work, `passed` and
# `failed` count. `batch` of `batches` picks every batches-th case.
: "${TILECC:?}" "${REFERENCE:?}" "${device:?}"
batch=${batch:-0} batches=${batches:-1} turn=0
limit=60 # seconds of a run; on the simulator it may share its core with others
case $device in sim*) limit=240 ;; esac
limit=${LIMIT:-$limit}
tool= # what runs the programs, e.g. a memory checker
verbose=
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'echo "stopped: $passed passed, $failed failed before"; exit 130' HUP INT TERM
seed=${SEED:-$(date +%s)}
passed=0 failed=0

# Data are made when a case of this batch is to read them, not for those of the others: what a file would be is known by the file's name until then.
program_of_reference=$REFERENCE unmade=
REFERENCE=referring
referring() {
    case $1 in
    make | small | floats | edges | constant | index | indices | offsets | numbers | distinct)
        for unmade_name in "$@"; do :; done
        unmade_name=${unmade_name##*/}
        unmade_name=${unmade_name%.npy}
        case "$unmade " in *" $unmade_name "*) ;; *) unmade="$unmade $unmade_name" ;; esac
        eval "unmade_$unmade_name=\$*"
        ;;
    *)
        settle
        "$program_of_reference" "$@"
        ;;
    esac
}
settle() {
    for unmade_name in $unmade; do
        eval "\"\$program_of_reference\" \$unmade_$unmade_name" || failed=$((failed + 1))
    done
    unmade=
}

make() {
    seed=$((seed + 1))
    "$REFERENCE" make "$1" "$2" $seed "$work/$3.npy"
}
small() {
    seed=$((seed + 1))
    "$REFERENCE" small "$1" "$2" "$3" $seed "$work/$4.npy"
}
floats() {
    seed=$((seed + 1))
    "$REFERENCE" floats "$1" "$2" $seed "$work/$3.npy"
}
edges() {
    seed=$((seed + 1))
    "$REFERENCE" edges "$1" "$2" $seed "$work/$3.npy"
}
constant() { "$REFERENCE" constant "$1" "$2" "$3" "$work/$4.npy"; }
index() {
    seed=$((seed + 1))
    "$REFERENCE" index "$1" "$2" $seed "$work/$3.npy"
}
indices() {
    seed=$((seed + 1))
    "$REFERENCE" indices "$1" "$2" "$3" $seed "$work/$4.npy"
}
offsets() {
    seed=$((seed + 1))
    "$REFERENCE" offsets "$1" "$2" $seed "$work/$3.npy"
}

numbers_of() { "$REFERENCE" numbers "$1" "$2" "$work/$3.npy"; }
reshape() { "$REFERENCE" reshape "$work/$1.npy" "$2" "$work/$3.npy"; }

# What the launch picks is tried with every rule checked; interleavings are for the schedule that has more in it. On a GPU the cases take one and the other in
# turn, and with the next seed the other way round.
case $device in sim:fuzz*) variants=--variants=off ;; *) variants= ;; esac
first_seed=$seed
alternate() {
    case $device in cuda*) [ $(((first_seed + turn) % 2)) = 0 ] || echo --variants=off ;; esac
}

# Is it the turn of this batch?
mine() {
    turn=$((turn + 1))
    [ $((turn % batches)) = $((batch % batches)) ]
}

case_() {
    current="$*"
    mine || return 1
    settle
    # shellcheck disable=SC2086
    options=$([ ! -e "${1%%:*}" ] || sed -n '1s|^// options: *||p' "${1%%:*}")
    # shellcheck disable=SC2086
    timeout "$limit" ${tool:-} "$TILECC" run $verbose --device="$device" $(case ${1%:*} in *.ptx | *.cubin) ;; *) echo "${variants:-$(alternate)}" ;; esac) ${options:-} "$@" >"$work/said" 2>&1
    status=$?
    [ $status = 0 ] && return
    failed=$((failed + 1))
    printf 'FAILED (exit code %s, schedule %s): %s\n' $status "${variants:-$(alternate)}" "$current"
    sed 's/^/    /' "$work/said"
    return 1
}

# refuse_ CODE WORDS PROGRAM ARGUMENTS..: the launch is refused, with this code and these words, and writes nothing.
refuse_() {
    current="$*"
    code=$1 words=$2
    mine || return 0
    settle
    shift 2
    rm -f "$work/b.npy"
    timeout "$limit" ${tool:-} "$TILECC" run --device="$device" "$@" >"$work/said" 2>&1
    status=$?
    said=
    [ $status = "$code" ] || said="exit code $status, expected $code"
    grep -qE -e "$words" "$work/said" || said="$said; '$words' is not in: $(head -3 "$work/said")"
    [ ! -e "$work/b.npy" ] || said="$said; an output was written"
    [ -z "$said" ]
    judge $? "$said"
}

judge() {
    if [ "$1" = 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'WRONG: %s\n    %s\n' "$current" "$2"
    fi
}
same() { said=$("$REFERENCE" same "$work/$1.npy" "$work/$2.npy" 2>&1); judge $? "$said"; }
affine() { said=$("$REFERENCE" affine "$work/$1.npy" "$work/$2.npy" "$3" "$4" "$5" 2>&1); judge $? "$said"; }
window() { said=$("$REFERENCE" window "$work/$1.npy" "$work/$2.npy" "$work/$3.npy" "$4" "$5" 2>&1); judge $? "$said"; }
gather() { said=$("$REFERENCE" gather "$work/$1.npy" "$work/$2.npy" "$work/$3.npy" 2>&1); judge $? "$said"; }
scatter() { said=$("$REFERENCE" scatter "$work/$1.npy" "$work/$2.npy" "$work/$3.npy" "$work/$4.npy" 2>&1); judge $? "$said"; }
row() { said=$("$REFERENCE" row "$work/$1.npy" "$work/$2.npy" "$3" "$work/$4.npy" "$5" ${6:+"$work/$6.npy"} 2>&1); judge $? "$said"; }
rows() { said=$("$REFERENCE" rows "$work/$1.npy" "$work/$2.npy" "$3" 2>&1); judge $? "$said"; }
map() { said=$("$REFERENCE" map "$work/$1.npy" "$work/$2.npy" "$3" "$4" "$5" "$6" 2>&1); judge $? "$said"; }
block() { said=$("$REFERENCE" block "$work/$1.npy" "$work/$2.npy" "$3" "$4" "$5" 2>&1); judge $? "$said"; }
periodic() { said=$("$REFERENCE" periodic "$work/$1.npy" "$work/$2.npy" 2>&1); judge $? "$said"; }
patches() { said=$("$REFERENCE" patches "$work/$1.npy" "$work/$2.npy" "$3" "$4" 2>&1); judge $? "$said"; }
sum() { said=$("$REFERENCE" sum "$work/$1.npy" "$work/$2.npy" "$work/$3.npy" 2>&1); judge $? "$said"; }
scatter_add() { said=$("$REFERENCE" scatter_add "$work/$1.npy" "$work/$2.npy" "$work/$3.npy" "$work/$4.npy" 2>&1); judge $? "$said"; }
reduction() { said=$("$REFERENCE" reduction "$1" "$2" "$work/$3.npy" "$work/$4.npy" "$work/$5.npy" 2>&1); judge $? "$said"; }
scattered() {
    said=$("$REFERENCE" scattered "$1" "$2" "$work/$3.npy" "$work/$4.npy" "$work/$5.npy" "$work/$6.npy" 2>&1)
    judge $? "$said"
}
select_() { said=$("$REFERENCE" select "$work/$1.npy" "$work/$2.npy" "$work/$3.npy" "$work/$4.npy" "$5" "$6" "$7" 2>&1); judge $? "$said"; }
gather_scatter() {
    said=$("$REFERENCE" gather_scatter "$work/$1.npy" "$work/$2.npy" "$work/$3.npy" "$work/$4.npy" "$work/$5.npy" 2>&1)
    judge $? "$said"
}
convert() { said=$("$REFERENCE" convert "$1" "$2" "$work/$3.npy" "$work/$4.npy" "$5" 2>&1); judge $? "$said"; }
converted() { said=$("$REFERENCE" converted "$1" "$2" "$work/$3.npy" "$work/$4.npy" "$5" 2>&1); judge $? "$said"; }
blocks() { said=$("$REFERENCE" blocks "$work/$1.npy" "$work/$2.npy" "$3" 2>&1); judge $? "$said"; }
columns() { said=$("$REFERENCE" columns "$work/$1.npy" "$work/$2.npy" "$3" "$4" "$5" "$6" 2>&1); judge $? "$said"; }
folded() { said=$("$REFERENCE" folded "$work/$1.npy" "$work/$2.npy" "$3" "$4" "$5" "$6" 2>&1); judge $? "$said"; }
tiled() { said=$("$REFERENCE" tiled "$work/$1.npy" "$work/$2.npy" "$3" "$4" 2>&1); judge $? "$said"; }
im2col3x3() { columns "$1" "$2" 3,3 1,1 1,1 1,1; }
of_fills() { # COMMAND ARGUMENTS..: of reference_fills.c, with names of files in $work
    said=$("$REFERENCE" "$@" 2>&1)
    judge $? "$said"
}
im2col() { said=$("$REFERENCE" im2col "$work/$1.npy" "$work/$2.npy" "$3" "$4" "$5" "$6" "$7" "$8" 2>&1); judge $? "$said"; }
col2im() { said=$("$REFERENCE" col2im "$work/$1.npy" "$work/$2.npy" "$work/$3.npy" "$4" "$5" "$6" 2>&1); judge $? "$said"; }
slices() { said=$("$REFERENCE" slices "$work/$1.npy" "$work/$2.npy" "$3" "$4" "$5" "$6" "$7" "$8" 2>&1); judge $? "$said"; }
unslice() { said=$("$REFERENCE" unslice "$work/$1.npy" "$work/$2.npy" "$work/$3.npy" "$4" "$5" "$6" 2>&1); judge $? "$said"; }
w_rows() { said=$("$REFERENCE" w_rows "$work/$1.npy" "$work/$2.npy" "$3" "$4" "$5" 2>&1); judge $? "$said"; }
by_mask() { said=$("$REFERENCE" by_mask "$work/$1.npy" "$work/$2.npy" "$work/$3.npy" "$work/$4.npy" 2>&1); judge $? "$said"; }
w_steps() { said=$("$REFERENCE" w_steps "$work/$1.npy" "$work/$2.npy" "$3" "$4" "$5" "$6" "$7" 2>&1); judge $? "$said"; }
lanes() { said=$("$REFERENCE" lanes "$work/$1.npy" "$work/$2.npy" "$3" "$4" "$5" 2>&1); judge $? "$said"; }
pieces() { said=$("$REFERENCE" pieces "$work/$1.npy" "$work/$2.npy" "$3" "$4" "$5" 2>&1); judge $? "$said"; }
slide() { said=$("$REFERENCE" slide "$work/$1.npy" "$work/$2.npy" "$work/$3.npy" 2>&1); judge $? "$said"; }

# Exit code 77 with the reason where there is no such device.
need_device() {
    "$program_of_reference" make u2 64,256 1 "$work/a.npy" || exit 3
    "$TILECC" run --device="$device" examples/copy_explicit.tile src="$work/a.npy" dst="bf16[64,256]:$work/b.npy" \
        >"$work/said" 2>&1
    [ $? = 3 ] || return 0
    printf 'SKIPPED: %s\n' "$(cat "$work/said")"
    exit 77
}

# LIST=1: nothing is run; a line per case: the program and the options of the compiler.
if [ -n "${LIST:-}" ]; then
    REFERENCE=:
    need_device() { :; }
    refuse_() { :; }
    case_() {
        line=$1
        shift
        while [ $# -gt 0 ]; do
            case $1 in
            -D) line="$line -D $2" && shift ;;
            -*) line="$line $1" ;;
            esac
            shift
        done
        echo "$line"
        return 1
    }
fi
