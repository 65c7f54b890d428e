# run.sh DEVICE [BATCH BATCHES]: every program of cases.sh, programs.sh and the rest (or every BATCHES-th) on the device, with fresh random data
# and poisoned outputs, against the plain references of reference.c. Prints a line per failure and a count. Needs TILECC and REFERENCE (the programs);
# exit code 77 with the reason where there is no such device.
set -u
# The largest matrix; on the simulator, where there are three SMs, and in many schedules a smaller one.
large=4099,8200
case $1 in sim:fuzz*) large=515,1032 ;; sim*) large=1031,2056 ;; esac
device=$1 batch=${2:-0} batches=${3:-1}
cd "$(dirname "$0")/../.." || exit 3
# shellcheck source=/dev/null
. tests/run/lib.sh
need_device
[ -n "${LIST:-}" ] || echo "first seed: $seed"
# shellcheck source=/dev/null
. tests/run/cases.sh
# shellcheck source=/dev/null
. tests/run/programs.sh
# shellcheck source=/dev/null
. tests/run/kept.sh
# shellcheck source=/dev/null
. tests/run/global.sh
# shellcheck source=/dev/null
. tests/run/numbers.sh
# shellcheck source=/dev/null
. tests/run/modes.sh
# shellcheck source=/dev/null
. tests/run/device_maps.sh
# shellcheck source=/dev/null
. tests/run/std.sh
# shellcheck source=/dev/null
case $device in sim*) . tests/run/tmem.sh ;; esac
[ -n "${LIST:-}" ] || printf '%s passed, %s failed\n' $passed $failed
[ $failed = 0 ]
