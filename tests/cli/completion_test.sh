# --completion: every option of every command is offered, words where an option takes no others; by bash, and read by zsh and fish where
# they are.
. cli/cli.sh
expect 2 'does not take .powershell.; it takes bash, zsh, fish' --completion=powershell
for shell in bash zsh fish; do
    expect 0 '' --completion=$shell
    mv out completion.$shell
    for word in $("$TILECC" --help | grep -oE '^  (-[a-zA-Z], )?--?[a-zA-Z-]+' | sed 's/.*-\([a-zA-Z][a-zA-Z-]*\)$/\1/; s/.* //' | grep -v '^Werror'); do
        grep -qE -e "-$word|-[lo] $word| ${word#-}\b" completion.$shell || fail "$shell is not told of $word"
    done
    for word in check-ptx tokens nvjitlink no-performance fuzz; do
        grep -q -e "$word" completion.$shell || fail "$shell is not told of $word"
    done
    ! command -v $shell >/dev/null 2>&1 || $shell -n completion.$shell || fail "$shell can't read it"
done
if command -v bash >/dev/null 2>&1; then
    offers() { # words as bash splits them; what must be offered, all of it
        want=$1
        shift
        # shellcheck disable=SC2016
        got=$(PATH=$(dirname "$TILECC"):$PATH bash -c '. ./completion.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tilecc; echo "${COMPREPLY[*]}"' bash "$@")
        [ "$got" = "$want" ] || fail "bash, $*: $got"
    }
    mkdir lib
    touch 'a b.tile'
    offers 'ir' tilecc --emit = i
    offers 'fast fuzz' tilecc run --sim = f
    offers '--sim --sim-steps --sim-bytes --sim-seconds' tilecc run --sim
    offers '' tilecc test --sim
    offers '--junit' tilecc test --ju
    offers 'run' tilecc ru
    offers 'sm_90 sm_90a' tilecc -arch = sm_90
    offers 'a b.tile' tilecc run a
    offers 'lib' tilecc -I l
    offers 'no-performance' tilecc -W no
fi
finish
