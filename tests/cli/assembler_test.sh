# Cubins: which assembler is used and what is said when there is none.
. cli/cli.sh

(
    unset TILECC_PTXAS TILECC_NVJITLINK CUDA_HOME CUDA_PATH
    expect 4 'ptxas' --assembler=ptxas good.tile -o x.cubin
    exit $failures
) >/dev/null 2>&1 || { [ -x /usr/local/cuda/bin/ptxas ] || command -v ptxas >/dev/null; } || fail "no ptxas: not said"
rm -f x.cubin

TILECC_PTXAS=/nonexistent/ptxas expect 4 '/nonexistent/ptxas' --assembler=ptxas good.tile -o x.cubin
TILECC_NVJITLINK=/nonexistent/lib.so expect 4 '/nonexistent/lib.so' --assembler=nvjitlink good.tile -o x.cubin
only_files

good_ptxas
export TILECC_PTXAS="$ptxas"
expect 0 'assembled by .*ptxas' -v --assembler=ptxas good.tile
only_files good.cubin
[ "$(head -c 4 good.cubin | tail -c 3)" = ELF ] || fail "the cubin is not an ELF file"
expect 0 '' --assembler=ptxas -lineinfo good.tile -o lines.cubin
[ "$(wc -c <lines.cubin)" -gt "$(wc -c <good.cubin)" ] || fail "-lineinfo adds nothing"
rm -f good.cubin lines.cubin

# The older name of a target: the assembler has it under that of today.
expect 0 '' -arch=sm_101a --assembler=ptxas "$root/tests/golden/targets/sm_101a.tile" -o older.cubin
rm -f older.cubin

# An assembler that fails is exit code 4, and leaves nothing.
printf '#!/bin/sh\necho no thanks >&2\nexit 9\n' >refuses
chmod +x refuses
TILECC_PTXAS="$work/refuses" expect 4 'no thanks' -v --assembler=ptxas good.tile -o x.cubin
! grep -q 'assembled by' err || fail "-v: assembled, though the assembler refused"
rm -f refuses
only_files

# One that can't be started.
: >empty
chmod +x empty
TILECC_PTXAS="$work/empty" expect 4 "/empty can't be started: Exec format error$" --assembler=ptxas good.tile -o x.cubin
rm -f empty
only_files

# What ends the compiler while its assembler runs leaves nothing either; nor where its files must have names (sandbox.c).
mkdir tmp
: >kills
chmod +x kills
nothing_left() { # the second process that removes may take a moment longer than the compiler
    for wait in 0 0.1 1 5; do
        sleep $wait
        rmdir tmp 2>/dev/null && mkdir tmp && return
    done
    fail "$1: the assembler's files stay behind: $(ls -R tmp)"
}
sandbox=$BUILD/bin/sandbox
ended() { # what runs the compiler
    for signal in KILL TERM INT; do
        printf '#!/bin/sh\nls "$TMPDIR" >names\nkill -%s $PPID\n' $signal >kills
        (TMPDIR="$work/tmp" TILECC_PTXAS="$work/kills" "$@" "$TILECC" --assembler=ptxas good.tile -o x.cubin) >/dev/null 2>&1
        [ $? -gt 128 ] || fail "$signal: the assembler does not end the compiler"
        nothing_left "$signal"
    done
}
ended env
[ ! -s names ] || fail "files of the assembler have names"
"$sandbox" "$TILECC" --version >/dev/null
if [ $? != 77 ]; then
    ended "$sandbox"
    grep -q '^tilecc\.' names || fail "the sandbox has files in memory"
    boxed() {
        TMPDIR="$work/tmp" "$sandbox" "$@" -arch=sm_90a --assembler=ptxas good.tile -o x.cubin >out 2>err ||
            fail "$*: $(cat err)"
        [ ! -s err ] || fail "$*: $(cat err)"
        cmp good.cubin x.cubin || fail "$*: another cubin"
        rm x.cubin
        nothing_left "$*"
    }
    "$TILECC" -arch=sm_90a --assembler=ptxas good.tile -o good.cubin || fail "no cubin"
    boxed "$TILECC"
    boxed sealed "$TILECC"
    TMPDIR=/nonexistent "$sandbox" "$TILECC" --assembler=ptxas good.tile -o x.cubin 2>err
    [ $? = 4 ] || fail "no folder: another exit code"
    contains err '^tilecc: no folder for ptxas in /nonexistent: No such file or directory$'
    rm good.cubin
fi
rm -rf kills tmp names
only_files

if [ -n "${TILECC_NVJITLINK:-}" ]; then
    expect 0 'assembled by nvJitLink' -v --assembler=nvjitlink good.tile -o x.cubin
fi
finish
