# The tests themselves: no empty one, none without its expectation or the other way round, no two refused programs
# that differ only in numbers and comments. Says which error codes no test reaches.
. ./common.sh

# No test's name has a space. What lies in a folder `lib` is only imported.
list() { find "$@" -type f ! -path '*/lib/*' 2>/dev/null | sort; }

for file in $(list golden reject unit cli install fuzz -size 0 ! -path fuzz/corpus/empty); do
    fail "$file is empty"
done

need() { # file, why
    [ -e "$1" ] || fail "$1 is missing: $2"
}
for file in $(list golden ../examples -name '*.tile'); do
    expected=${file%.tile}
    case $file in ../examples/*) expected=golden/${expected#../} ;; esac
    need "$expected.ir" "./dev update writes it"
    need "$expected.ptx" "./dev update writes it"
done
for file in $(list reject -name '*.tile'); do
    need "${file%.tile}.err" "./dev update writes it"
done
for file in $(list golden reject ! -name '*.tile'); do
    program=${file%.*}.tile
    case $file in golden/examples/*) program=../${program#golden/} ;; esac
    need "$program" "$file belongs to no program"
done

# Comments, white space and digits go, and what is left is compared.
for file in $(list reject -name '*.tile'); do
    printf '%s %s\n' "$(sed 's|//.*||' "$file" | tr -d '[:space:][:digit:]' | cksum)" "$file"
done | sort >"$work/sums"
awk '{ key = $1 " " $2; if (key in seen) { print seen[key] " and " $3; } else { seen[key] = $3 } }' "$work/sums" >"$work/twins"
while read -r pair; do
    fail "the same program but for numbers: $pair"
done <"$work/twins"

sed -n 's/^ERROR(\(E[0-9]*\).*/\1/p' "$ROOT/lang/errors.def" | sort >"$work/codes"
list golden reject unit cli '(' -name '*.err' -o -name '*.c' -o -name '*_test.sh' ')' | xargs -r cat | grep -oE 'E[0-9]{4}' | sort -u >"$work/reached"
untested=$(comm -23 "$work/codes" "$work/reached")
unknown=$(list golden reject -name '*.err' | xargs -r cat | grep -oE '(error|warning|performance) E[0-9]{4}' |
    sed 's|.* ||' | sort -u |
    comm -13 "$work/codes" -)
[ -z "$unknown" ] || fail "codes that errors.def does not have: $unknown"
twice=$(uniq -d "$work/codes")
[ -z "$twice" ] || fail "codes that errors.def has twice: $twice"
count() { grep -c . || true; }
printf '%s of %s error codes have a test; not yet:\n%s\n' "$(comm -12 "$work/codes" "$work/reached" | count)" \
    "$(count <"$work/codes")" "$(echo "$untested" | tr '\n' ' ')"
finish
