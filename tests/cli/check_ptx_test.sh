# tilecc check-ptx: what it says, its exit codes, JSON.
. cli/cli.sh

module() { # version, target, instruction
    printf '.version %s\n.target %s\n.address_size 64\n.shared .align 128 .b8 buf[1024];\n.shared .align 8 .b64 bar;\n' "$1" "$2"
    printf '.visible .entry k()\n{\n.reg .pred %%p<2>;\n.reg .b16 %%h<2>;\n.reg .b32 %%r<4>;\n.reg .b64 %%d<4>;\n%s\nret;\n}\n' "$3"
}
load='cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [buf], [%d1, {%r1, %r2}], [bar];'
gather='cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes [buf], [%d1, {0, 1, 2, 3, 4}], [bar];'
multicast='cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [buf], [%d1, {%r1}], [bar], %h1;'

module 8.6 sm_90 "$load" >good.ptx
expect 0 '' check-ptx good.ptx
contains out '^good\.ptx: 1 instruction checked, 0 errors$'
expect 0 '' check-ptx - <good.ptx
contains out '^<stdin>: 1 instruction checked'

# The module's own target and version, or others.
expect 1 '^good\.ptx:12:1: error: .* needs \.version 8\.6.*shared::cluster.* \[E1410\]$' check-ptx --ptx-version 8.5 good.ptx
contains out '1 error$'
module 8.6 sm_100a "$gather" >gather.ptx
expect 0 '' check-ptx gather.ptx
for option in '--target=sm_100' '--target sm_100' '-arch=sm_100' '-arch sm_100'; do
    # shellcheck disable=SC2086
    expect 1 '^gather\.ptx:12:1: error: sm_100 does not have .*sm_100a \(PTX 8\.6\).*shared::cta.* \[E1409\]$' check-ptx $option gather.ptx
done
expect 1 'sm_100f needs \.version 8\.8.*E1415' check-ptx --target=sm_100f gather.ptx
expect 0 '' check-ptx --target=sm_101f --ptx-version=8.8 gather.ptx

# Warnings leave the exit code alone.
module 8.6 sm_90 "$multicast" >slow.ptx
expect 0 '^slow\.ptx:12:1: warning: .*sm_90a.* \[P0001\]$' check-ptx slow.ptx
contains out '0 errors, 1 warning$'

# Findings come in the order of the lines.
cat >many.ptx <<'END'
.version 8.7
.target sm_100a
.address_size 64
.visible .entry k()
{
.reg .b32 %r<4>;
.reg .b64 %d<4>;
cp.async.bulk.commit_group.nonsense;
cp.async.bulk.wait_group %r1;
ad.u32 %r1, %r2, %r3;
add.u32 %r1, %r2 %r3;
add.u32 %r1, %r2, %r9;
tcgen05.shift.cta_group::1.down [%r1];
tcgen05.shift.cta_group::2.down [%r1];
ret;
}
END
"$TILECC" check-ptx many.ptx >out 2>err
got=$(sed 's/^many.ptx:\([0-9]*\):.*\[\(.*\)\]$/\1 \2/' err | tr '\n' ';')
[ "$got" = '8 E1403;9 E1408;10 E1402;11 E1401;12 E1416;14 E1413;' ] || fail "findings: $got: $(cat err)"

"$TILECC" check-ptx --json many.ptx >out 2>err
[ $? = 1 ] || fail "--json: exit code"
[ ! -s err ] || fail "--json writes to standard error: $(cat err)"
contains out '^\{"line": 8, "column": 1, "verdict": "error", "code": "E1403", "text": "'
[ "$(tail -1 out)" = '{"verdict": "summary", "instructions": 4, "errors": 6, "warnings": 0}' ] || fail "summary: $(tail -1 out)"
if command -v python3 >/dev/null 2>&1; then
    python3 -c 'import json, sys; [json.loads(line) for line in sys.stdin]' <out || fail "not JSON: $(cat out)"
fi

# Without a target nothing can be said about legality.
grep -v '^\.target' good.ptx >aimless.ptx
expect 1 'E1415' check-ptx aimless.ptx
grep -q -- '--target' err || fail "E1415 does not name --target"
expect 0 '' check-ptx --target=sm_90 good.ptx

# Hostile input: an answer, not a crash.
printf '\0\1\2\377' >bytes.ptx
expect 1 'E1401' check-ptx bytes.ptx
: >empty.ptx
expect 1 'E1415' check-ptx empty.ptx

# A file's name can't move the cursor; findings of a line come in the order of their columns.
name="$(printf 'a\033b.ptx')"
module 8.6 sm_90 'fence.proxy.asynk; add.u32 %r1, u, v;' >"$name"
expect 1 '^a\\x1bb\.ptx:12:1: error: .*\[E1403\]$' check-ptx "$name"
got=$(sed 's/^[^:]*:\([0-9]*:[0-9]*\):.*/\1/' err | tr '\n' ';')
[ "$got" = '12:1;12:33;12:36;' ] || fail "columns: $got: $(cat err)"
rm -f "$name"

# Usage.
expect 2 'no PTX file' check-ptx
expect 2 'one PTX file' check-ptx good.ptx slow.ptx
expect 2 "no target 'sm_99'" check-ptx --target=sm_99 good.ptx
expect 2 "no PTX ISA version '8.9'" check-ptx --ptx-version=8.9 good.ptx
expect 2 'ptx-version' check-ptx --ptx-version=x good.ptx
expect 2 'only with `tilecc check-ptx`' --json good.tile
expect 2 'does not go with `tilecc check-ptx`' check-ptx -S good.ptx
expect 2 "did you mean 'check-ptx'" check-ptxx
expect 3 "can't read 'absent.ptx'" check-ptx absent.ptx
expect 0 '' check-ptx --help
contains out 'check-ptx'
rm -f good.ptx gather.ptx slow.ptx many.ptx aimless.ptx bytes.ptx empty.ptx
# What is no module at all is one error.
: >nothing.ptx
expect 1 'nothing.ptx:1:1: error: the module has neither .version nor .target; name them with --ptx-version and --target .E1415.$' check-ptx nothing.ptx
[ "$(grep -c error err)" = 1 ] || fail "more than one error: $(cat err)"
expect 1 'has no .target' check-ptx nothing.ptx --ptx-version=8.6
expect 1 'has no .version' check-ptx nothing.ptx --target=sm_90a
finish
