# torture.sh [SECONDS] [FOLDER]: see README.md. TILECC: the program; SEED: of what is random.
set -u
: "${TILECC:?}"
seconds=${1:-120}
end=$(($(date +%s) + seconds))
work=$(mktemp -d)
cache=${2:-$work/cache}
mkdir -p "$work/want" "$work/bin" "$cache"
chmod 700 "$cache"
mounted=
if [ -z "${INSIDE:-}" ] && [ $# -lt 2 ]; then # once more, where file systems can be mounted and none is left behind
    apart='unshare -m'
    [ "$(id -u)" = 0 ] || apart='unshare -Urm'
    rm -rf "$work"
    if $apart true 2>/dev/null; then exec $apart env INSIDE=1 sh "$0" "$seconds"; fi
    echo 'SKIPPED: a full disk and one that is read-only: no file system can be mounted here'
    INSIDE=1 exec sh "$0" "$seconds"
fi
[ $# -ge 2 ] || mount -t tmpfs -o size=${ROOM:-100k},mode=700 none "$cache" 2>/dev/null && mounted=yes
clean() {
    # shellcheck disable=SC2046
    kill $(jobs -p) 2>/dev/null
    wait 2>/dev/null
    [ -z "$mounted" ] || umount "$cache"
    rm -rf "$work"
}
trap clean EXIT
trap 'exit 130' HUP INT TERM
cd "$work" || exit 3
unset TILECC_CACHE_DIR XDG_CACHE_HOME

kinds='1 2 3 4 5 6 7 8 9 10 11 12'
for n in $kinds; do # each writes other numbers
    cat >"k$n.tile" <<EOF
kernel copy<N = 64>(x: global u32[M, N], y: global u32[M, N]) {
    pipeline i in ceil(M, $n) across grid {
        shared t: u32[$n, N];
        move x[i * $n, 0] -> t;
        move t -> y[i * $n, 0];
    }
}
EOF
    TILECC_CACHE=off "$TILECC" run --device=sim:fast "k$n.tile" "x=u32[$((16 + n)),64]~$n" 'y=u32[M,64]:want/'"$n.npy" || exit 3
done
cp k1.tile foreign
export TILECC_CACHE=on TILECC_CACHE_DIR="$cache" TILECC_CACHE_SIZE="${LIMIT:-70K}"

random() { # below $1; of this shell
    state=$(((state * 1103515245 + 12345) % 2147483648))
    value=$((state / 65536 % $1))
}

# What a user sees is an output, the right one. Exit code 137: killed.
worker() {
    state=$((${SEED:-1} * 7919 + $1))
    mkdir "out$1"
    while [ "$(date +%s)" -lt "$end" ]; do
        random 12
        n=$((value + 1))
        out=out$1/y.npy
        rm -f "$out"
        "$TILECC" run -v --device=sim:fast "k$n.tile" "x=u32[$((16 + n)),64]~$n" "y=u32[M,64]:$out" >"out$1/said" 2>&1 &
        pid=$!
        random 8
        if [ $value = 0 ]; then
            random 20
            sleep "0.0$(printf %02d $value)"
            kill -9 $pid 2>/dev/null
        fi
        wait $pid 2>/dev/null
        status=$?
        if [ $status = 137 ]; then
            echo killed
        elif [ $status != 0 ] || ! cmp -s "$out" "want/$n.npy"; then
            echo "WRONG: k$n.tile, exit code $status: $(cat "out$1/said")"
        else
            sed -n 's/.*cache: [^ ]*: PTX \(taken\|kept\|not kept: [A-Z][^(]*\).*/\1/p; s/.*cache: others.*/no folder/p' "out$1/said"
        fi
    done >"log$1" 2>/dev/null
}

pick() { # a file of the folder into $file
    # shellcheck disable=SC2012
    ls "$cache" >"files$1" 2>/dev/null
    lines=$(wc -l <"files$1")
    [ "$lines" -gt 0 ] || return 1
    random "$lines"
    file=$cache/$(sed -n "$((value + 1))p" "files$1")
}

damage() {
    state=$((${SEED:-1} + $1))
    while [ "$(date +%s)" -lt "$end" ]; do
        sleep 0.02
        pick "$1" || continue
        size=$(stat -c %s "$file" 2>/dev/null || echo 1)
        [ ! -d "$file" ] || rm -rf "$file" 2>/dev/null # what would be copied into it nobody may remove
        random 12
        what=$value
        random $((size + 1))
        case $what in
        0 | 1 | 2) truncate -s "$value" "$file" ;;
        3 | 4 | 5) printf '\377' | dd of="$file" bs=1 seek="$value" conv=notrunc ;;
        6) cp foreign "$file" ;;
        7) one=$file && pick "$1" && cp "$one" "$file" ;;
        8) rm -f "$file" && mkdir "$file" ;;
        9) ln -sf "$work/foreign" "$file" ;;
        10) "$TILECC" cache --verify ;;
        11)
            random 10
            case $value in
            0) "$TILECC" cache --clear ;;
            1 | 2) [ -z "$mounted" ] || { mount -o remount,ro "$cache" && sleep 0.5; mount -o remount,rw "$cache"; } ;;
            3) chmod 770 "$cache" && sleep 0.3; until chmod 700 "$cache"; do sleep 0.1; done ;; # it may be read-only just now
            *) head -c 65536 /dev/zero >"$cache/foreign" && sleep 0.3; rm -f "$cache/foreign" ;;
            esac
            ;;
        esac >/dev/null 2>&1
        echo "$what"
    done >"damages$1"
}

workers='1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16'
for n in $workers; do worker "$n" & done
for n in 1 2 3 4; do damage $n & done
wait

cat log* | grep -xE 'killed|taken|kept|no folder|not kept: .*|WRONG.*' | sed 's/^WRONG:.*/WRONG/' | sort | uniq -c
echo "$(cat damages* | wc -l) damages"
failed=0
grep -h '^WRONG' log* >wrong && failed=1
head -5 wrong
"$TILECC" cache --verify || failed=1
"$TILECC" cache --verify | grep -q '^0 damaged' || { echo 'WRONG: damaged after --verify' && failed=1; }
"$TILECC" run --device=sim:fast k1.tile 'x=u32[17,64]~1' 'y=u32[M,64]:last.npy' && cmp last.npy want/1.npy || failed=1
"$TILECC" cache --stats || failed=1
most=$("$TILECC" cache --stats | sed 's/.*: //; s/.* entr[a-z]*, \([0-9]*\) of at most \([0-9]*\) .*/\1 \2/' | awk '{ print $1 <= $2 }')
[ "$most" = 1 ] || { echo 'WRONG: larger than the limit' && failed=1; }
grep -q taken log* && grep -q killed log* && [ -s damages1 ] || { echo 'WRONG: nothing was taken, killed or damaged: this test saw nothing' && failed=1; }
[ $failed = 0 ] && echo 'torture: all outputs are right'
exit $failed
