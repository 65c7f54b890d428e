# Which plain instructions the simulator reads against which ptxas takes. CHECK_PLAIN: the program that compares.
# A share of the variants; FULL=1: every one (half an hour). Arguments are passed on.
. ./common.sh
good_ptxas
cd "$work" || exit 3
share=80
[ "${FULL:-}" = 1 ] && share=1
"${CHECK_PLAIN:?}" "$ptxas" "${@:-$share}" || fail "the verdicts differ, or ptxas gave none"
finish
