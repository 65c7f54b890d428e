# What tilecc check-ptx says of each instruction against what ptxas says. CHECK_PTX_DIFF: the program that compares.
# Without arguments: a pair of target and version of each class in depth, and a share of the variants for every pair
# that ptxas knows. FULL=1: every variant for every pair (an hour).
. ./common.sh
good_ptxas
cd "$work" || exit 3
diff() { "${CHECK_PTX_DIFF:?}" "$ptxas" "$@" || fail "the verdicts differ, or ptxas gave none"; }
if [ $# -gt 0 ]; then
    diff "$@"
elif [ "${FULL:-}" = 1 ]; then
    diff 1 1 all
else
    diff 1 20
    diff 40 800 all
fi
finish
