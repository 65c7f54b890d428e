# The version stands in tilecc.h; what must repeat its first two numbers does.
. ./common.sh
cd .. || exit 3
version=$(sed -n 's/^#define TILECC_VERSION "\([0-9]*\.[0-9]*\.[0-9]*\)".*/\1/p' ptxgen/include/tilecc.h)
interface=${version%.*}
[ -n "$version" ] || fail 'tilecc.h has no version'
grep -q "^INTERFACE = \"$interface\" " runtime/python/tilecc/_native.py || fail "runtime/python/tilecc/_native.py is not of $interface"
grep -q "^- \*\*$interface\*\*: " runtime/README.md || fail "runtime/README.md does not say what is new in $interface"
grep -q "^    {\"$interface\", " tilecc/help.c || fail "the manual page does not say what is new in $interface"
finish
