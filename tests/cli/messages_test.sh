# Diagnostics: formats, colours, warnings as errors.
. cli/cli.sh
unset NO_COLOR CLICOLOR_FORCE
escape=$(printf '\033')

expect 1 '^bad\.tile:[0-9]+:[0-9]+' bad.tile --error-format=short
expect 1 'error' bad.tile
! grep -q "$escape" err || fail "colours into a pipe"
expect 1 "$escape" bad.tile --color=always
CLICOLOR_FORCE=1 expect 1 "$escape" bad.tile
export NO_COLOR=1
CLICOLOR_FORCE=1 expect 1 'error' bad.tile
! grep -q "$escape" err || fail "NO_COLOR is not minded"
expect 1 "$escape" bad.tile --color=always
unset NO_COLOR
CLICOLOR_FORCE=1 expect 1 'error' bad.tile --color=never
! grep -q "$escape" err || fail "--color=never is not minded"

expect 1 '"code"' bad.tile --error-format=json
if command -v python3 >/dev/null 2>&1; then
    python3 -c 'import json, sys; [json.loads(line) for line in sys.stdin]' <err || fail "not JSON: $(cat err)"
fi

# What is slow is said of programs that are accepted, and can be left out.
cat >slow.tile <<'TILE'
kernel k(x: global u32[N], y: global u32[N]) cluster (4) grid (4) where N >= 256 {
    shared t: u32[64];
    move x[0] -> t multicast x;
    move t -> y[cta.x * 64];
}
TILE
expect 0 '^performance P0001: multicast may be slow on sm_90$' -arch=sm_90 -S slow.tile -o -
expect 0 '' -arch=sm_90 -Wno-performance -S slow.tile -o -
sed 's/y\[/z[/' slow.tile >wrong.tile
expect 1 '^error ' -arch=sm_90 -S wrong.tile -o -
! grep -q P0001 err || fail "performance beside an error"
finish
