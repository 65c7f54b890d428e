# What tilecc check-ptx says of each instruction against what ptxas says. CHECK_PTX_DIFF: the program that compares.
# Without arguments: a pair of target and version of each class in depth, and a share of the variants for every pair
# that ptxas knows. FULL=1: every variant for every pair (an hour); PART=2/8 with it: an eighth of the pairs.
. ./common.sh
good_ptxas
cd "$work" || exit 3
diff() {
    "${CHECK_PTX_DIFF:?}" "$ptxas" "$@"
    case $? in
    0) ;;
    77) exit 77 ;;
    *) fail "the verdicts differ, or ptxas gave none" ;;
    esac
}
if [ $# -gt 0 ]; then
    diff "$@"
elif [ "${FULL:-}" = 1 ]; then
    diff 1 1 all "${PART:-1/1}"
else
    diff 1 20
    diff 40 800 all
fi
finish
