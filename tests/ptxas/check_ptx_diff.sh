# What tilecc check-ptx says of each instruction against what ptxas says. CHECK_PTX_DIFF: the program that compares.
. ./common.sh
good_ptxas
cd "$work" || exit 3
"${CHECK_PTX_DIFF:?}" "$ptxas" "$@" || fail "the verdicts differ, or ptxas gave none"
finish
