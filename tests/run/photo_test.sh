# A photograph as a large matrix goes through the copying examples on a GPU, and comes back the same to the bit.
. ./common.sh
photo=$BUILD/bin/tile_photo
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
finish
