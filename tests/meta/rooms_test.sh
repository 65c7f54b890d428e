# The rooms of lower/ stay rooms: what one folder, header or file holds can be taken in. Which rooms a room sees the build
# enforces (.cmake/Floor.cmake).
. ./common.sh
cd ../lower || exit 3
files_most=25
header_most=300
file_most=650

find . -type d | while read -r folder; do
    n=$(find "$folder" -maxdepth 1 '(' -name '*.[ch]' -o -name '*.def' ')' | wc -l)
    [ "$n" -le $files_most ] || echo "$folder: $n files"
done >"$work/folders"
[ ! -s "$work/folders" ] || fail "folders with more than $files_most files:
$(cat "$work/folders")"

too_long() { # pattern, lines
    find . -name "$1" -exec wc -l {} \; | awk -v most="$2" '$1 > most'
}
too_long '*.h' $header_most >"$work/found"
[ ! -s "$work/found" ] || fail "headers of more than $header_most lines:
$(cat "$work/found")"
too_long '*.c' $file_most >"$work/found"
[ ! -s "$work/found" ] || fail "files of more than $file_most lines:
$(cat "$work/found")"

[ "$(find . -name '*.c' | wc -l)" -gt 50 ] || fail 'looked at the wrong folder'
finish
