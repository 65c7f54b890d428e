# Files that are compiled already, where source or PTX text is wanted: one line that says what they are.
. cli/cli.sh

one_line() { # status, pattern, arguments
    expect "$@"
    [ "$(wc -l <err)" = 1 ] || fail "more than one line: $(cat err)"
}
expect 0 '' -S good.tile -o copy.ptx
{ printf '/* by hand\n */\n// again\n'; cat copy.ptx; } >head.tile
printf '\177ELF and so on\n' >copy.cubin
one_line 2 "'copy.ptx' is PTX, compiled already: .tilecc run copy.ptx. runs it, .tilecc check-ptx copy.ptx. judges it" copy.ptx
one_line 2 "'head.tile' is PTX, compiled already" --emit=ir head.tile
one_line 2 "'-' is PTX" -S - -o x.ptx <copy.ptx
one_line 2 "'head.tile' is PTX, compiled already: name it .ptx" run --device=sim head.tile
one_line 2 "'copy.cubin' is a cubin, compiled already: .tilecc run copy.cubin. runs it on a GPU" -S copy.cubin
one_line 2 "'copy.cubin' is a cubin, which is binary" check-ptx copy.cubin
expect 0 '' check-ptx copy.ptx
# An entry that takes more than its manifest says, or wider ones, reads nothing that is not there.
for change in 's/^    \.param \(.*\)param_0\[128\]/    .param \1param_0[4096]/' 's/^    \.param.*param_0\[128\]/    .param .u64 other,\n&/'; do
    sed "$change" copy.ptx >other.ptx
    cmp -s copy.ptx other.ptx && fail "nothing is another: $change"
    expect 3 'E1112: entry `copy` takes other parameters than the manifest says' run --device=sim other.ptx src=bf16[64,256] 'dst=bf16[M,N]:out.npy'
done
# A comment alone, also one that does not end, is source.
printf '// .version 8.0\n' >note.tile
expect 1 'E0216' --emit=ir note.tile
printf '/* .version 8.0\n' >open.tile
expect 1 'open.tile:1:1' --emit=ir open.tile
finish
