# The floors: an include goes down, never up and never around by a path (.cmake/Floor.cmake makes the first sure when
# compiling; here the second), public headers include nothing of the repository, only tilecc/ prints or exits, each code
# stands in a message, and nothing is left lying at the top.
. ./common.sh
cd .. || exit 3

none() { # what, then files of lines that must not be
    [ ! -s "$work/found" ] || fail "$1:
$(cat "$work/found")"
}

grep -nE '#[[:space:]]*include[[:space:]]*"(\.|/)' -r lang frontend lower ptxgen runtime tilecc tests \
    --include='*.[chy]' --include='*.re' >"$work/found"
none 'includes by a path instead of from the repository root'

grep -n '#include "' ptxgen/include/*.h runtime/include/*.h | grep -v '"tile.h"' >"$work/found"
none 'public headers that need private ones'

grep -nE '(^|[^a-z_])(printf|puts|putchar|perror|exit|abort|fprintf\(std(out|err)|vprintf) *\(' -r \
    lang frontend lower ptxgen runtime --include='*.c' --include='*.[hy]' --include='*.re' |
    grep -vE 'format\(printf|gen_tables|(^|[^a-z])(_exit)|//|/\*|^[^:]*:[0-9]*: \*' >"$work/found"
none 'libraries that print or exit'

sed -n 's/^ERROR(\([EP][0-9]*\),.*/\1/p' lang/errors.def | sort >"$work/codes"
grep -ohwE '[EP][0-9]{4}' -r lang frontend lower ptxgen runtime tilecc --include='*.[chy]' --include='*.re' --include='*.def' --exclude=errors.def |
    sort -u | comm -13 - "$work/codes" >"$work/found"
none 'codes that no message has'

top='lang frontend lower ptxgen runtime stdlib tests examples tilecc bench CMakeLists.txt CMakePresets.json README.md dev'
git ls-files 2>/dev/null | sed 's|/.*||' | sort -u | while read -r there; do # of a copy without git nothing is said
    case " $top " in *" $there "*) ;; *) echo "$there" ;; esac
done | grep -v '^\.' >"$work/found"
none 'what has no place at the top'
finish
