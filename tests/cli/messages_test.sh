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
finish
