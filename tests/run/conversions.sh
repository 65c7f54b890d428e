# Programs that convert every type to every other; for numbers.sh, which runs them, and assemble.sh.
types='u8 u16 u32 u64 s8 s16 s32 s64 f16 bf16 f32 tf32 f64 e4m3 e5m2'

# conversions FROM [sat]: a program that converts FROM to every other type.
conversions() {
    printf 'kernel all(x: global %s[N]' "$1"
    for to in $types; do [ "$to" = "$1" ] || printf ', y_%s: global %s[N]' "$to" "$to"; done
    printf ') {\n  pipeline i in ceil(N, 128) across grid {\n    shared s: %s[128];\n    move x[i * 128] -> s;\n' "$1"
    for to in $types; do
        [ "$to" = "$1" ] && continue
        printf "    shared t_%s: %s[128];\n    move s -> t_%s convert %s via threads;\n" "$to" "$to" "$to" "${2:-}"
        printf '    move t_%s -> y_%s[i * 128];\n' "$to" "$to"
    done
    printf '  }\n}\n'
}
