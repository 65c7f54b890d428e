# Rooms stay rooms: what one folder or file holds, and in lower/ one header, can be taken in. Which rooms a room sees the build
# enforces (.cmake/Floor.cmake).
. ./common.sh
cd .. || exit 3
floors="lang frontend lower ptxgen runtime tilecc"
files_most=25
header_most=300
file_most=650

find $floors -type d | while read -r folder; do
    n=$(find "$folder" -maxdepth 1 '(' -name '*.[ch]' -o -name '*.def' -o -name '*.re' -o -name '*.y' ')' | wc -l)
    [ "$n" -le $files_most ] || echo "$folder: $n files"
done >"$work/folders"
[ ! -s "$work/folders" ] || fail "folders with more than $files_most files:
$(cat "$work/folders")"

too_long() { # pattern, lines, folder ..
    pattern=$1 most=$2
    shift 2
    find "$@" -name "$pattern" -exec wc -l {} \; | awk -v most="$most" '$1 > most'
}
too_long '*.h' $header_most lower >"$work/found"
[ ! -s "$work/found" ] || fail "headers of more than $header_most lines:
$(cat "$work/found")"
too_long '*.c' $file_most $floors >"$work/found"
[ ! -s "$work/found" ] || fail "files of more than $file_most lines:
$(cat "$work/found")"

[ "$(find $floors -name '*.c' | wc -l)" -gt 300 ] || fail 'looked at the wrong folder'
finish
