# A photograph as a large matrix goes through the copying examples on a GPU, and comes back the same to the bit; as a batch
# of images it becomes the columns of convolutions. REFERENCE: the program that knows what they are.
. ./common.sh
TILECC=$QUICK
photo=$PLAIN/bin/tile_photo
REFERENCE=${REFERENCE:-$PLAIN/bin/reference}
cd .. || exit 3

copies='examples/copy_explicit.tile examples/copy.tile'
shapes='1x8 64x256 63x264 4099x8200' # less than a tile, one tile, remainders both ways, many tiles
for shape in $shapes; do
    rows=${shape%x*}
    columns=${shape#*x}
    "$photo" make tests/data/photo.pgm "$rows" "$columns" "$work/in.npy" || exit 3
    for program in $copies; do
        [ -e "$program" ] || continue
        "$TILECC" run "$program" "src=$work/in.npy" "dst=bf16[$rows,$columns]:$work/out.npy" >"$work/log" 2>&1
        status=$?
        [ $status != 3 ] || skip "no GPU to run on: $(tail -1 "$work/log")"
        if [ $status != 0 ]; then
            cat "$work/log"
            fail "$program on $shape: exit code $status"
            continue
        fi
        "$photo" same "$work/in.npy" "$work/out.npy" || fail "$program on $shape: what came back differs"
        rm -f "$work/out.npy"
    done
done

[ -e examples/im2col.tile ] || finish
batch() { # name, N, H, W, C
    "$photo" make tests/data/photo.pgm $(($2 * $3)) $(($4 * $5)) "$work/in.npy" || exit 3
    "$REFERENCE" reshape "$work/in.npy" "$2,$3,$4,$5" "$work/$1.npy" || exit 3
}
columns() { # name, rows of the columns, their width, window, padding, stride, dilation, then sizes and options
    name=$1 rows=$2 width=$3
    window="$4 $5 $6 $7"
    shift 7
    "$TILECC" run "$@" "x=$work/$name.npy" "cols=bf16[$rows,$width]:$work/out.npy" >"$work/log" 2>&1
    status=$?
    if [ $status != 0 ]; then
        cat "$work/log"
        fail "columns of $name by $window: exit code $status"
        return
    fi
    # shellcheck disable=SC2086
    "$REFERENCE" columns "$work/$name.npy" "$work/out.npy" $window || fail "columns of $name by $window"
}
plane=tests/golden/run/im2col.tile:plane
batch batch 8 61 83 64
columns batch $((8 * 61 * 83)) 576 3,3 1,1 1,1 1,1 examples/im2col.tile
columns batch $((8 * 59 * 81)) 576 3,3 0,0 1,1 1,1 $plane -D plane.PH=0 -D plane.PW=0 p=59 q=81
columns batch $((8 * 31 * 42)) 576 3,3 1,1 2,2 1,1 $plane -D plane.SH=2 -D plane.SW=2 p=31 q=42
columns batch $((8 * 61 * 83)) 576 3,3 2,2 1,1 2,2 $plane -D plane.PH=2 -D plane.PW=2 -D plane.DH=2 -D plane.DW=2 p=61 q=83
columns batch $((8 * 61 * 83)) 448 1,7 0,3 1,1 1,1 $plane -D plane.R=1 -D plane.S=7 -D plane.PH=0 -D plane.PW=3 p=61 q=83
finish
