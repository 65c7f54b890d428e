# Each top-level folder and each room has a README.md of at most a page (without what it shows), and what it names is there: in `..`, files and folders (from
# the README's folder or from the root) and names of C or shell: `f()` is a function that is declared, `a_b` or `Ab` stands somewhere in the sources. So it is
# with what says why the verifiers may be believed, PROOF.md and STATES.md, where files may be named from lower/, too.
. ./common.sh
cd .. || exit 3
lines_most=60

# Words of all sources; functions: what a bracket follows in a line that begins with no blank, macros, methods of Python.
sources=$(find lang frontend lower ptxgen runtime tilecc tests bench stdlib -name '*.[chy]' -o -name '*.re' -o -name '*.def' -o -name '*.sh' -o -name '*.py' |
    grep -v readmes_test)
# shellcheck disable=SC2086
cat $sources | grep -oE '[A-Za-z_][A-Za-z0-9_]*' | sort -u >"$work/words"
# shellcheck disable=SC2086
cat $sources | sed -nE 's/^(#define| *def) ([A-Za-z_][A-Za-z0-9_]*\().*/\2/p; /^[A-Za-z_]/p' | grep -oE '[A-Za-z_][A-Za-z0-9_]*\(' | tr -d '(' | sort -u >"$work/functions"

there() { # file or folder, folders that it may be named from
    for folder in $2; do [ ! -e "$folder/$1" ] || return 0; done
    [ -e "$1" ] || [ -e "$1.c" ] # a program is named without its .c
}

names_of() { # README.md: what stands in `..`, without blocks of code
    sed '/^```/,/^```/d; /^    /d' "$1" | grep -oE '`[^`]+`' | tr -d '`' | sort -u
}

check() { # README.md, folders that files may be named from: a line for each thing that is not there
    names_of "$1" | while read -r name; do
        case $name in
        *' '* | -* | .[a-z]*) ;; # commands, options, suffixes
        *'()')
            grep -qx "${name%()}" "$work/functions" || echo "$1: no function $name"
            ;;
        */* | *.[chy] | *.re | *.def | *.md | *.py | *.sh | *.txt | *.tile | *.ir | *.ptx)
            there "$name" "$2" || there "include/$name" "$2" || there "ptxgen/include/$name" . || there "runtime/include/$name" . ||
                echo "$1: no file $name"
            ;;
        *_* | [A-Z]*[a-z]*)
            grep -qx "${name%_}" "$work/words" || grep -q "^$name" "$work/words" || echo "$1: nothing is called $name"
            ;;
        esac
    done
}

rooms() {
    for folder in */; do echo "${folder%/}"; done | grep -vx build
    find lower runtime -mindepth 1 -type d | grep -vE '^lower/verify/states/|^runtime/include$|^runtime/python/' # folders of one room
}

rooms | while read -r room; do
    if [ ! -e "$room/README.md" ]; then
        echo "$room has no README.md"
        continue
    fi
    [ "$(sed '/^```/,/^```/d' "$room/README.md" | wc -l)" -le $lines_most ] || [ "$room" = bench ] || echo "$room/README.md: more than a page"
    check "$room/README.md" "$room"
done >"$work/found"
check lower/verify/tree/PROOF.md 'lower/verify/tree lower' >>"$work/found"
check lower/verify/states/STATES.md 'lower/verify/states lower' >>"$work/found"
[ ! -s "$work/found" ] || fail "READMEs:
$(cat "$work/found")"

# It finds what is not there.
printf '# x\n\n`no_such.c`, `no_such_function()`, `longjmp()`, `NoSuchName`; `lang/arena.h`, `arena_init()`, `vec_push()`, `fail()`, `PKernel` are\n' >"$work/README.md"
[ "$(check "$work/README.md" . | wc -l)" = 4 ] || fail "of four wrong names it found: $(check "$work/README.md" .)"
[ "$(rooms | wc -l)" -ge 25 ] || fail 'looked at the wrong folders'
finish
